//! Views, attacks and training.

/// Attacks: their objective's gradients, their balls.
mod attacks;
/// Runs: the same on any number of threads, resumed anywhere; what is refused.
mod runs;
/// How a network sees an input.
mod views;

use gambeson_data::dataset::{Dataset, DatasetParts, Shape, Values};
use gambeson_learn::train::TrainSpec;
use gambeson_learn::train::setup::{self, SetupObservers, TrainSetup};
use gambeson_lowrank::MemoryLimit;
use gambeson_lowrank::linalg::matrix::DenseMatrix;
use gambeson_lowrank::projection::representation::Representation;
use gambeson_lowrank::projection::{Channel, Origin, Projection};

pub(crate) const IMAGE: Shape = Shape { channels: 2, height: 8, width: 8 };

/// Images of three classes: a bright bar at another place, with some texture.
pub(crate) fn images(count: usize) -> Dataset {
    let label = |i: usize| i * 7 % 3;
    let pixel = |i: usize, c: usize, row: usize, column: usize| {
        let bar = if row / 2 == label(i) + c { 150 } else { 20 };
        u8::try_from(bar + (i * 31 + row * 17 + column * 53 + c * 71) % 100).expect("a byte")
    };
    let mut values = Vec::new();
    for i in 0..count {
        for c in 0..IMAGE.channels {
            for row in 0..IMAGE.height {
                values.extend((0..IMAGE.width).map(|column| pixel(i, c, row, column)));
            }
        }
    }
    let labels = (0..count).map(|i| u16::try_from(label(i)).expect("small")).collect();
    let parts = DatasetParts {
        name: "bars".into(),
        shape: IMAGE,
        values: Values::U8(values),
        labels: Some(labels),
        classes: ["a", "b", "c"].map(String::from).to_vec(),
        sources: Vec::new(),
    };
    Dataset::new(parts).expect("data")
}

/// The coordinates of the low block of 4 × 4 frequencies in both channels, the second with a mean.
pub(crate) fn low_block() -> Projection {
    let low: Vec<usize> = (0..64).filter(|index| index / 8 < 4 && index % 8 < 4).collect();
    let mut entries = vec![0.0; 64 * low.len()];
    low.iter().enumerate().for_each(|(a, &index)| entries[index * low.len() + a] = 1.0);
    let basis = DenseMatrix { rows: 64, columns: low.len(), entries };
    let mean: Vec<f64> = (0..64).map(|k| 0.1 + 0.01 * f64::from(k)).collect();
    let channel = |mean| Channel { basis: basis.clone(), mean, error: 0.0 };
    let channels = vec![channel(None), channel(Some(mean))];
    Projection::new(Representation::Dct2, IMAGE, channels, Origin::default()).expect("a projection")
}

/// A spec for such images; `rest` are its tables after the model.
pub(crate) fn spec(rest: &str) -> TrainSpec {
    let text = format!(
        "seed = 5\n[data]\nname = \"bars\"\ncrop = 1\nflip = true\nevaluate = 40\n[model]\nfamily = \"cnn\"\nwidth = 4\n{rest}"
    );
    TrainSpec::parse(&text, &[]).expect("a spec")
}

pub(crate) fn prepared(spec: &TrainSpec) -> TrainSetup {
    let train = setup::samples(spec, images(240));
    let observers = &mut SetupObservers { load: &mut (), fit: &mut () };
    let projection = setup::projection(spec, &train, MemoryLimit::NONE, 1, observers).expect("a projection");
    TrainSetup::new(spec, train, Some(images(60)), projection).expect("a setup")
}
