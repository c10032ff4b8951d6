//! A drawing as SVG.

use super::error::FigureError;
use super::style::{BLACK, Colour};
use super::{Anchor, Drawing, Position, Primitive, Stroke, font, png};
use crate::base64;
use crate::mark::MARKUP;
use crate::text::shown;

pub(super) fn write(drawing: &Drawing) -> Result<String, FigureError> {
    let Drawing { width, height, shapes } = drawing;
    let mut lines = vec![
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" font-family=\"{}\">",
            font::FAMILY
        ),
        MARKUP.to_owned(),
        "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>".to_owned(),
    ];
    for shape in shapes {
        lines.push(element(shape)?);
    }
    lines.push("</svg>\n".to_owned());
    Ok(lines.join("\n"))
}

fn element(shape: &Primitive) -> Result<String, FigureError> {
    Ok(match shape {
        Primitive::Picture { place: (x, y), side, pixels } => {
            let data = base64::encode(
                &png::pixmap(pixels)?
                    .encode_png()
                    .map_err(|error| FigureError::Encoding(error.to_string()))?,
            );
            format!(
                "<image x=\"{x:.2}\" y=\"{y:.2}\" width=\"{side}\" height=\"{side}\" style=\"image-rendering: pixelated\" \
                 href=\"data:image/png;base64,{data}\"/>"
            )
        }
        Primitive::Line { places, stroke } => {
            format!("<polyline points=\"{}\" fill=\"none\" {}/>", list(places), outline(*stroke))
        }
        Primitive::Polygon { places, fill, stroke } => {
            let (places, fill, stroke) = (list(places), hex(*fill), outline(*stroke));
            format!("<polygon points=\"{places}\" fill=\"{fill}\" {stroke}/>")
        }
        Primitive::Circle { centre: (x, y), radius, fill, stroke } => {
            let (fill, stroke) = (hex(*fill), outline(*stroke));
            format!("<circle cx=\"{x:.2}\" cy=\"{y:.2}\" r=\"{radius}\" fill=\"{fill}\" {stroke}/>")
        }
        Primitive::Text { place: (x, y), size, anchor, turned, text } => {
            let anchor = match anchor {
                Anchor::Start => "start",
                Anchor::Middle => "middle",
                Anchor::End => "end",
            };
            let turn =
                if *turned { format!(" transform=\"rotate(-90 {x:.2} {y:.2})\"") } else { String::new() };
            let (fill, text) = (hex(BLACK), escape(text));
            format!(
                "<text x=\"{x:.2}\" y=\"{y:.2}\" font-size=\"{size}\" text-anchor=\"{anchor}\" \
                 fill=\"{fill}\"{turn}>{text}</text>"
            )
        }
    })
}

fn hex(Colour(red, green, blue): Colour) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

fn list(places: &[Position]) -> String {
    places.iter().map(|(x, y)| format!("{x:.2},{y:.2}")).collect::<Vec<_>>().join(" ")
}

fn outline(Stroke { colour, width, dashed }: Stroke) -> String {
    let dashes = if dashed { " stroke-dasharray=\"6 4\"" } else { "" };
    format!("stroke=\"{}\" stroke-width=\"{width}\" stroke-linejoin=\"round\"{dashes}", hex(colour))
}

/// Text between tags; XML has no control characters, whatever the names of files have.
fn escape(text: &str) -> String {
    shown(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
