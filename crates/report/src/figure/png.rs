//! A drawing as PNG, with letters from the font built in.

use super::error::FigureError;
use super::style::{BLACK, Colour};
use super::{Anchor, Drawing, Pixels, Position, Primitive, font};
use crate::mark::marked;
use tiny_skia::{
    ColorU8, FillRule, FilterQuality, LineJoin, Paint, Path, PathBuilder, Pixmap, PixmapPaint, Stroke,
    StrokeDash, Transform,
};
use ttf_parser::{Face, OutlineBuilder};

/// Pixels for each unit of the drawing: fine enough for print.
const FINENESS: f32 = 2.0;

pub(super) fn write(drawing: &Drawing) -> Result<Vec<u8>, FigureError> {
    let face = font::face().ok_or(FigureError::Font)?;
    let mut canvas = Pixmap::new(pixels(drawing.width), pixels(drawing.height)).ok_or(FigureError::Size)?;
    canvas.fill(tiny_skia::Color::WHITE);
    for shape in &drawing.shapes {
        match shape {
            Primitive::Line { places, stroke } => outline(&mut canvas, path(places, false).as_ref(), *stroke),
            Primitive::Polygon { places, fill, stroke } => {
                let path = path(places, true);
                self::fill(&mut canvas, path.as_ref(), *fill, scaled());
                outline(&mut canvas, path.as_ref(), *stroke);
            }
            Primitive::Circle { centre: (x, y), radius, fill, stroke } => {
                let path = PathBuilder::from_circle(single(*x), single(*y), single(*radius));
                self::fill(&mut canvas, path.as_ref(), *fill, scaled());
                outline(&mut canvas, path.as_ref(), *stroke);
            }
            Primitive::Picture { place: (x, y), side, pixels } => {
                let picture = pixmap(pixels)?;
                let paint = PixmapPaint { quality: FilterQuality::Nearest, ..PixmapPaint::default() };
                let (across, down) = (side / pixels.width as f64, side / pixels.height as f64);
                let place = Transform::from_scale(single(across), single(down))
                    .post_translate(single(*x), single(*y))
                    .post_concat(scaled());
                canvas.draw_pixmap(0, 0, picture.as_ref(), &paint, place, None);
            }
            Primitive::Text { place, size, anchor, turned, text } => {
                let before = font::width(text, *size)
                    * match anchor {
                        Anchor::Start => 0.0,
                        Anchor::Middle => 0.5,
                        Anchor::End => 1.0,
                    };
                let (x, y) = (single(place.0), single(place.1));
                let turn =
                    if *turned { Transform::from_rotate_at(-90.0, x, y) } else { Transform::identity() };
                let scale = single(*size / f64::from(face.units_per_em()));
                let place = Transform::from_translate(x - single(before), y).post_concat(turn);
                let letters = letters(&face, text);
                let transform = Transform::from_scale(scale, -scale).post_concat(place).post_concat(scaled());
                fill(&mut canvas, letters.as_ref(), BLACK, transform);
            }
        }
    }
    let bytes = canvas.encode_png().map_err(|error| FigureError::Encoding(error.to_string()))?;
    Ok(marked(bytes))
}

/// A picture as the rasteriser has it.
pub(super) fn pixmap(pixels: &Pixels) -> Result<Pixmap, FigureError> {
    let size = |length: usize| u32::try_from(length).unwrap_or(0);
    let mut picture = Pixmap::new(size(pixels.width), size(pixels.height)).ok_or(FigureError::Size)?;
    for (out, rgb) in picture.pixels_mut().iter_mut().zip(pixels.rgb.as_chunks::<3>().0) {
        *out = ColorU8::from_rgba(rgb[0], rgb[1], rgb[2], 255).premultiply();
    }
    Ok(picture)
}

#[allow(clippy::cast_possible_truncation)] // the rasteriser works in single precision
fn single(value: f64) -> f32 {
    value as f32
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // saturates; an empty canvas is an error
fn pixels(length: f64) -> u32 {
    (length * f64::from(FINENESS)).ceil() as u32
}

fn scaled() -> Transform {
    Transform::from_scale(FINENESS, FINENESS)
}

fn paint(Colour(red, green, blue): Colour) -> Paint<'static> {
    let mut paint = Paint { anti_alias: true, ..Paint::default() };
    paint.set_color_rgba8(red, green, blue, 255);
    paint
}

fn fill(canvas: &mut Pixmap, path: Option<&Path>, colour: Colour, transform: Transform) {
    if let Some(path) = path {
        canvas.fill_path(path, &paint(colour), FillRule::Winding, transform, None);
    }
}

fn outline(canvas: &mut Pixmap, path: Option<&Path>, stroke: super::Stroke) {
    let dash = if stroke.dashed { StrokeDash::new(vec![6.0, 4.0], 0.0) } else { None };
    let style = Stroke { width: single(stroke.width), line_join: LineJoin::Round, dash, ..Stroke::default() };
    if let Some(path) = path {
        canvas.stroke_path(path, &paint(stroke.colour), &style, scaled(), None);
    }
}

fn path(places: &[Position], closed: bool) -> Option<Path> {
    let mut builder = PathBuilder::new();
    for (at, &(x, y)) in places.iter().enumerate() {
        if at == 0 {
            builder.move_to(single(x), single(y));
        } else {
            builder.line_to(single(x), single(y));
        }
    }
    if closed {
        builder.close();
    }
    builder.finish()
}

/// The outlines of a line of text in units of the font, y upwards.
fn letters(face: &Face, text: &str) -> Option<Path> {
    let mut pen = Pen { builder: PathBuilder::new(), x: 0.0 };
    for glyph in text.chars().filter_map(|letter| face.glyph_index(letter)) {
        face.outline_glyph(glyph, &mut pen);
        pen.x += f32::from(face.glyph_hor_advance(glyph).unwrap_or(0));
    }
    pen.builder.finish()
}

struct Pen {
    builder: PathBuilder,
    /// Where the glyph begins.
    x: f32,
}

impl OutlineBuilder for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        self.builder.move_to(self.x + x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.builder.line_to(self.x + x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        self.builder.quad_to(self.x + x1, y1, self.x + x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        self.builder.cubic_to(self.x + x1, y1, self.x + x2, y2, self.x + x, y);
    }

    fn close(&mut self) {
        self.builder.close();
    }
}
