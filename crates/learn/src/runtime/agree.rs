//! Whether our engine computes what ONNX Runtime does.

use super::error::RuntimeError;
use super::own::OwnModel;
use crate::onnx::OnnxModel;
use gambeson_smooth::classifier::Classifier;
use gambeson_smooth::input_map::{Affine, Layout};
use std::path::Path;

/// Rows that both are asked about.
const ROWS: usize = 8;

/// Differences of scores that are rounding, relative to the largest score of the probe. Single precision loses some 1e-6
/// over a deep network, Winograd's transforms some 1e-5.
const ROUNDING: f32 = 1e-3;

/// Compares the two on a few rows of noise: an error where scores differ beyond rounding. `inner` is what the graph does to
/// each channel first, and whoever makes rows for the engine does to them.
#[allow(clippy::cast_possible_truncation)] // rows are f32
pub(super) fn compare(
    path: &Path,
    own: &OwnModel,
    inner: Option<&[Affine]>,
    other: &OnnxModel,
) -> Result<(), RuntimeError> {
    let classes = own.classes();
    if classes != other.classes() {
        return Err(RuntimeError::Classes { path: path.to_path_buf(), own: classes, onnx: other.classes() });
    }
    let theirs = other.probe_scores(ROWS)?;
    let mut rows = other.probe(ROWS);
    if let Some(maps) = inner {
        let (channels, plane) = (maps.len(), own.shape().height * own.shape().width);
        for (at, x) in rows.iter_mut().enumerate() {
            let channel = match other.layout() {
                Layout::ChannelsFirst => at / plane % channels,
                Layout::ChannelsLast => at % channels,
            };
            let Affine { scale, shift } = maps[channel];
            *x = (f64::from(*x) * scale + shift) as f32;
        }
    }
    let mut ours = vec![0.0; ROWS * classes];
    own.scores(&rows, &mut ours);
    let worst = [Ending::Scores, Ending::Softmax, Ending::LogSoftmax]
        .map(|ending| difference(&ending.of(&ours, classes), &theirs))
        .into_iter()
        .fold(f32::INFINITY, f32::min);
    if worst <= ROUNDING {
        return Ok(());
    }
    Err(RuntimeError::Disagree { path: path.to_path_buf(), difference: worst, allowed: ROUNDING })
}

/// What a graph makes of its scores last. The engine leaves it out: it changes no answer.
#[derive(Clone, Copy)]
enum Ending {
    Scores,
    Softmax,
    LogSoftmax,
}

impl Ending {
    fn of(self, scores: &[f32], classes: usize) -> Vec<f32> {
        let row = |row: &[f32]| -> Vec<f32> {
            let highest = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let sum: f32 = row.iter().map(|score| (score - highest).exp()).sum();
            let one = |score: &f32| match self {
                Self::Scores => *score,
                Self::Softmax => (score - highest).exp() / sum,
                Self::LogSoftmax => score - highest - sum.ln(),
            };
            row.iter().map(one).collect()
        };
        scores.chunks_exact(classes).flat_map(row).collect()
    }
}

/// The largest difference, relative to the largest finite score; infinite where a score that is not finite is another in
/// the other.
fn difference(ours: &[f32], theirs: &[f32]) -> f32 {
    let finite = theirs.iter().filter(|score| score.is_finite());
    let largest = finite.fold(f32::MIN_POSITIVE, |most, score| most.max(score.abs()));
    let one = |(&a, &b): (&f32, &f32)| match (a.is_finite(), b.is_finite()) {
        (true, true) => (a - b).abs() / largest,
        _ if a == b || (a.is_nan() && b.is_nan()) => 0.0,
        _ => f32::INFINITY,
    };
    if ours.len() != theirs.len() {
        return f32::INFINITY;
    }
    ours.iter().zip(theirs).map(one).fold(0.0, f32::max)
}

#[cfg(test)]
mod tests {
    use super::difference;

    #[test]
    fn an_infinite_score_hides_no_difference() {
        let inf = f32::INFINITY;
        assert!(difference(&[inf, 1.0], &[inf, 2.0]) == 0.5);
        assert!(difference(&[inf, 2.0, f32::NAN], &[inf, 2.0, f32::NAN]) == 0.0);
        for (ours, theirs) in [(inf, -inf), (inf, 1.0), (1.0, -inf), (f32::NAN, 1.0), (inf, f32::NAN)] {
            assert!(difference(&[ours, 1.0], &[theirs, 1.0]) == inf, "{ours} {theirs}");
        }
        assert!(difference(&[1.0], &[1.0, 2.0]) == inf);
    }
}
