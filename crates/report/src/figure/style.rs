//! Colours, markers and lines of series.

/// Radius of a marker.
const MARKER: f64 = 5.0;
/// Width of a line, and of one that accompanies another.
const LINE: f64 = 1.8;
const THIN: f64 = 1.1;

pub(super) const BLACK: Colour = Colour(0x22, 0x22, 0x22);
pub(super) const GRID: Colour = Colour(0xe6, 0xe6, 0xe6);
pub(super) const WHITE: Colour = Colour(0xff, 0xff, 0xff);
/// Okabe and Ito's colours, which the colour-blind can tell apart.
pub(super) const PALETTE: [Colour; 7] = [
    Colour(0xd5, 0x5e, 0x00),
    Colour(0x00, 0x72, 0xb2),
    Colour(0x00, 0x9e, 0x73),
    Colour(0xcc, 0x79, 0xa7),
    Colour(0xe6, 0x9f, 0x00),
    Colour(0x56, 0xb4, 0xe9),
    BLACK,
];
/// For numbers quoted from elsewhere.
const GREYS: [Colour; 2] = [Colour(0x77, 0x77, 0x77), Colour(0x44, 0x44, 0x44)];
/// Channels of pictures.
const RED: Colour = Colour(0xd6, 0x1f, 0x26);
const GREEN: Colour = Colour(0x1a, 0x94, 0x3b);
const BLUE: Colour = Colour(0x1f, 0x5f, 0xc4);

/// Colour and marker, so that a series is known by either.
#[derive(Clone, Copy)]
pub struct Style {
    pub(super) colour: Colour,
    pub(super) marker: Marker,
    /// Numbers quoted from elsewhere: dashed.
    pub(super) dashed: bool,
    pub(super) hollow: bool,
    /// Radius of the marker.
    pub(super) radius: f64,
    /// Width of the line.
    pub(super) width: f64,
}

impl Style {
    /// The style of the series `at` measured here.
    pub fn ours(at: usize) -> Self {
        let markers = [Marker::Circle, Marker::Square, Marker::Triangle, Marker::Diamond];
        Self {
            colour: PALETTE[at % PALETTE.len()],
            marker: markers[at % markers.len()],
            dashed: false,
            hollow: false,
            radius: MARKER,
            width: LINE,
        }
    }

    /// The style of the series `at` quoted from elsewhere.
    pub fn quoted(at: usize) -> Self {
        let markers = [Marker::Triangle, Marker::Diamond, Marker::Circle, Marker::Square];
        Self {
            colour: GREYS[at % GREYS.len()],
            marker: markers[at % markers.len()],
            dashed: true,
            hollow: true,
            radius: MARKER,
            width: LINE,
        }
    }

    /// A plain dashed line, without markers: a limit.
    pub fn line(at: usize) -> Self {
        Self { radius: 0.0, ..Self::quoted(at) }
    }

    /// The line of the series `at` without markers, for numbers that lie close.
    pub fn curve(at: usize) -> Self {
        Self { radius: 0.0, ..Self::ours(at) }
    }

    /// The same with a dashed line.
    #[must_use]
    pub fn dashed(self) -> Self {
        Self { dashed: true, ..self }
    }

    /// The curve of a channel of pictures in its own colour; of any other channel, that of the series `at`.
    pub fn channel(name: &str, at: usize) -> Self {
        let colour = match name {
            "R" => RED,
            "G" => GREEN,
            "B" => BLUE,
            _ => return Self::curve(at),
        };
        Self { colour, ..Self::curve(at) }
    }

    /// The same line, thin and dashed, for what accompanies it.
    #[must_use]
    pub fn thin(self) -> Self {
        Self { dashed: true, width: THIN, ..self }
    }

    /// With a marker that shows from under one of another series in the same place.
    #[must_use]
    pub fn underneath(self) -> Self {
        Self { radius: self.radius * 1.45, ..self }
    }
}

#[derive(Clone, Copy)]
pub(super) enum Marker {
    Circle,
    Square,
    Triangle,
    Diamond,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Colour(pub(super) u8, pub(super) u8, pub(super) u8);
