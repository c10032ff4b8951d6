//! Pictures beside what became of them: adversarial examples, perturbations of more and more coefficients.

use super::parts::paragraphs;
use super::picture::PictureUri;
use crate::figure::FigureError;
use crate::figure::gallery::{Gallery, Picture};
use crate::markup::escape;
use std::fmt::Write;

/// Rows of pictures, the original first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PictureGallery {
    /// Paragraphs before everything.
    pub notes: Vec<String>,
    /// What the columns differ in, such as `k, the number of coefficients changed`: then a slider chooses one of them.
    /// `None` where they are of different kinds.
    pub slider: Option<String>,
    /// What the columns are, the originals first.
    pub columns: Vec<String>,
    /// Pictures of each row, in columns; `None` where one is missing.
    pub rows: Vec<Vec<Option<CaptionedPicture>>>,
}

/// A picture and what is written below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaptionedPicture {
    /// The picture.
    pub picture: PictureUri,
    /// What it shows, for those who do not see it too.
    pub caption: String,
}

impl PictureGallery {
    /// A gallery of a figure: its first column are the originals.
    pub fn of(gallery: &Gallery, slider: Option<String>) -> Result<Self, FigureError> {
        let picture = |picture: &Picture| {
            let caption = picture.caption.clone();
            Ok(Some(CaptionedPicture { picture: PictureUri::new(&picture.pixels)?, caption }))
        };
        let row = |row: &Vec<Picture>| row.iter().map(picture).collect::<Result<Vec<_>, FigureError>>();
        Ok(Self {
            notes: gallery.note.iter().cloned().collect(),
            slider,
            columns: gallery.headings.clone(),
            rows: gallery.rows.iter().map(row).collect::<Result<_, _>>()?,
        })
    }

    /// Everything below the heading of the section with this name.
    pub(super) fn html(&self, key: &str) -> String {
        let mut html = paragraphs(&self.notes);
        let _ = writeln!(html, "<div class=\"gallery\" data-part=\"gallery\" data-key=\"{key}\">");
        let changed = self.columns.len().saturating_sub(1);
        if let Some(what) = self.slider.as_ref().filter(|_| changed > 1) {
            let _ = writeln!(
                html,
                "<form class=\"controls\" hidden><label><input type=\"checkbox\" class=\"all\" checked> all side by \
                 side</label> <label class=\"choose\">{} <input type=\"range\" min=\"1\" max=\"{changed}\" value=\"1\"> \
                 <output></output></label></form>",
                escape(what)
            );
        }
        html.push_str("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Pictures\">\n<table>\n<thead><tr>");
        for (at, column) in self.columns.iter().enumerate() {
            let _ = write!(html, "<th scope=\"col\" data-column=\"{at}\">{}</th>", escape(column));
        }
        html.push_str("</tr></thead>\n<tbody>\n");
        for row in &self.rows {
            html.push_str("<tr>");
            for (at, (picture, column)) in row.iter().zip(&self.columns).enumerate() {
                let cell = picture.as_ref().map(|CaptionedPicture { picture, caption }| {
                    let alt =
                        if caption.is_empty() { column.clone() } else { format!("{column}: {caption}") };
                    format!("{}<span>{}</span>", picture.img(&alt, "picture"), escape(caption))
                });
                let _ = write!(html, "<td data-column=\"{at}\">{}</td>", cell.unwrap_or_default());
            }
            html.push_str("</tr>\n");
        }
        html + "</tbody>\n</table>\n</div>\n</div>\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::Pixels;

    #[test]
    fn galleries_of_figures_become_tables_of_pictures() {
        let picture = |shade: u8| Picture {
            pixels: Pixels { width: 2, height: 1, rgb: vec![shade; 6] },
            caption: format!("<{shade}>"),
        };
        let gallery = Gallery {
            headings: ["original", "k = 1", "k = 2"].map(str::to_owned).to_vec(),
            rows: vec![[1, 2, 3].map(picture).to_vec()],
            note: Some("A & B".to_owned()),
        };
        let gallery = PictureGallery::of(&gallery, Some("k".to_owned())).expect("encoded");
        let html = gallery.html("pictures");
        assert_eq!(html.matches("<img ").count(), 3);
        assert!(html.contains("alt=\"k = 2: &lt;3&gt;\"") && html.contains("<p>A &amp; B</p>"), "{html}");
        assert!(html.contains("max=\"2\""), "{html}");
        let plain = PictureGallery { slider: None, ..gallery };
        assert!(!plain.html("pictures").contains("range"));
    }
}
