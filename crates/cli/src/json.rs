//! The JSON objects that commands print with `--json` and `reproduce` reads back. Keys are only ever added.

pub(crate) use gambeson_report::json::line;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What a command found: as one JSON object, or as a text for people.
pub(crate) fn print_or<W: std::io::Write>(
    json: bool,
    object: &impl Serialize,
    stdout: &mut W,
    text: impl FnOnce(&mut W) -> std::io::Result<()>,
) -> anyhow::Result<()> {
    if json {
        writeln!(stdout, "{}", line(object)?)?;
    } else {
        text(stdout)?;
    }
    Ok(stdout.flush()?)
}

/// A path as text, with a mark for what is no UTF-8.
#[allow(clippy::ref_option)] // serde passes it so
pub(crate) fn lossy<S: serde::Serializer>(path: &Option<PathBuf>, serializer: S) -> Result<S::Ok, S::Error> {
    path.as_ref().map(|path| path.to_string_lossy()).serialize(serializer)
}

/// What `project fit` and `project spectrum` work from: the second moments of data in coordinates.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct MomentsRecord {
    pub(crate) centred: bool,
    /// pixel, dct1 or dct2.
    pub(crate) basis: String,
    /// Low block of frequencies used, if not all.
    pub(crate) grid: Option<usize>,
    pub(crate) data: String,
    pub(crate) data_sha256: String,
    pub(crate) samples: usize,
    /// channels, height, width.
    pub(crate) shape: [usize; 3],
}

/// What `project fit --json` prints.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct FitRecord {
    pub(crate) channels: Vec<ChannelRecord>,
    /// Proven, of all channels together.
    pub(crate) kappa: f64,
    /// Lost of the energy of all channels together.
    pub(crate) error: f64,
    /// √ of the sum of the ranks PCA needs for the channels' errors: the least kappa of a projection that treats each
    /// channel by itself and loses that much of each. Rounded down.
    pub(crate) limit: f64,
    /// kappa / limit.
    pub(crate) ratio: f64,
    pub(crate) method: String,
    #[serde(flatten)]
    pub(crate) moments: MomentsRecord,
    /// Whether Ctrl-C or the time limit cut it short.
    pub(crate) stopped: bool,
    /// Reading the data and adding up their moments.
    pub(crate) seconds_read: f64,
    pub(crate) seconds_fit: f64,
    #[serde(serialize_with = "lossy")]
    pub(crate) projection: Option<PathBuf>,
    #[serde(serialize_with = "lossy")]
    pub(crate) certificate: Option<PathBuf>,
}

/// One channel of a [`FitRecord`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ChannelRecord {
    pub(crate) rank: usize,
    /// Proven.
    pub(crate) kappa: f64,
    pub(crate) error: f64,
    /// √ of the rank PCA needs for that error, rounded down.
    pub(crate) limit: f64,
    /// How it was found, for people.
    pub(crate) how: String,
    /// Algorithm 3: the r it chose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) split: Option<usize>,
    /// kappa is no better than √n, which needs no proof.
    pub(crate) trivial: bool,
}

/// What `project spectrum --json` prints.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SpectrumRecord {
    pub(crate) channels: Vec<ChannelSpectrum>,
    #[serde(flatten)]
    pub(crate) moments: MomentsRecord,
    /// Reading the data and adding up their moments.
    pub(crate) seconds_read: f64,
    pub(crate) seconds_eigen: f64,
}

/// Fraction of the energy lost, by rank from 0 to the number of coordinates.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ChannelSpectrum {
    /// By principal components; no orthogonal projection of that rank loses less.
    pub(crate) pca: Vec<f64>,
    /// By the coordinates of largest energy.
    pub(crate) coordinates: Vec<f64>,
}

/// One point of the frontier.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct SweepPoint {
    pub(crate) method: &'static str,
    /// Asked for.
    pub(crate) budget: f64,
    pub(crate) error: f64,
    pub(crate) rank: usize,
    /// Proven.
    pub(crate) kappa: f64,
    pub(crate) limit: f64,
    pub(crate) how: String,
}
