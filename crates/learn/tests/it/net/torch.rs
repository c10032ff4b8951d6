//! Scores, losses, gradients and running statistics against PyTorch's, in double precision.
//! `fixtures/net/torch_gradients.py` writes them and says what the arrays are.
//!
//! Bounds are relative to the largest number of each list. Single precision alone loses some 1e-7 to 1e-6 in a layer,
//! Winograd's transforms 3 to 5 times as much; gradients of a whole network are sums that cancel, which costs another
//! digit.

use gambeson_learn::net::architecture::Architecture;
use gambeson_learn::net::kernel::Isa;
use gambeson_learn::net::parameters::{ParameterLayout, Weights};
use gambeson_learn::net::pass::{Mode, Pass, Wanted};
use gambeson_learn::net::plan::Choice;
use gambeson_lowrank::MemoryLimit;
use gambeson_lowrank::safetensors::Tensors;
use serde::Deserialize;
use std::collections::HashSet;

const FIXTURE: &[u8] = include_bytes!("../../fixtures/net/torch_gradients.safetensors");
const SAMPLES: usize = 24;
const PROJECTION: u64 = 99;

/// Of a layer's list of gradients, in a network of one or two layers.
const LAYER: f64 = 6e-6;
/// The same in a ResNet-8.
const DEEP: f64 = 1.5e-5;
/// Of scores and loss.
const SCORES: f64 = 4e-6;

/// What the metadata say of a case.
#[derive(Deserialize)]
struct Case {
    architecture: Architecture,
    images: usize,
    seed: u64,
}

/// Numbers in [−1, 1), as the script has them.
fn uniform(seed: u64, count: usize) -> Vec<f64> {
    let mut state = 2_654_435_761_u64.wrapping_mul(seed + 1) % (1 << 32);
    let mut next = || {
        state = (1_664_525 * state + 1_013_904_223) % (1 << 32);
        (state >> 8) as f64 / f64::from(1 << 23) - 1.0
    };
    (0..count).map(|_| next()).collect()
}

#[allow(clippy::cast_possible_truncation)] // networks are f32
fn line(seed: u64, count: usize, centre: f64, scale: f64) -> Vec<f32> {
    uniform(seed, count).into_iter().map(|u| (centre + scale * u) as f32).collect()
}

/// Images and weights by the script's formula.
fn numbers(case: &Case, places: &ParameterLayout) -> (Vec<f32>, Weights) {
    let mut seed = 1000 * case.seed;
    let x = line(seed, case.images * case.architecture.input.len(), 0.0, 3_f64.sqrt());
    let mut weights =
        Weights { parameters: vec![0.0; places.parameters], statistics: vec![0.0; places.statistics] };
    for place in &places.layers {
        seed += 10;
        let spread = (6.0 / place.fan_in.max(1) as f64).sqrt();
        for (range, number, centre, scale) in
            [(&place.weight, 0, 0.0, spread), (&place.gamma, 1, 1.0, 0.5), (&place.bias, 2, 0.0, 0.5)]
        {
            let values = line(seed + number, range.len(), centre, scale);
            weights.parameters[range.clone()].copy_from_slice(&values);
        }
        for (range, number, centre, scale) in [(&place.mean, 3, 0.0, 0.3), (&place.variance, 4, 1.0, 0.5)] {
            let values = line(seed + number, range.len(), centre, scale);
            weights.statistics[range.clone()].copy_from_slice(&values);
        }
    }
    (x, weights)
}

/// Cross-entropy, the mean over images, and its gradient by the scores, in double precision.
fn cross_entropy(scores: &[f32], classes: usize) -> (f64, Vec<f64>) {
    let images = (scores.len() / classes) as f64;
    let (mut loss, mut by_scores) = (0.0, Vec::new());
    for (image, row) in scores.chunks_exact(classes).enumerate() {
        let label = (3 * image + 1) % classes;
        let exponentials: Vec<f64> = row.iter().map(|&score| f64::from(score).exp()).collect();
        let sum: f64 = exponentials.iter().sum();
        loss += (sum.ln() - f64::from(row[label])) / images;
        by_scores.extend(
            exponentials
                .iter()
                .enumerate()
                .map(|(class, e)| (e / sum - f64::from(u8::from(class == label))) / images),
        );
    }
    (loss, by_scores)
}

/// The largest difference of two lists, relative to the largest number of the second.
fn difference(ours: impl IntoIterator<Item = f64>, theirs: &[f64], largest: f64) -> f64 {
    let ours: Vec<f64> = ours.into_iter().collect();
    assert_eq!(ours.len(), theirs.len());
    ours.iter().zip(theirs).fold(0.0, |most, (a, b)| (a - b).abs().max(most)) / largest
}

fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |most, value| value.abs().max(most))
}

/// A list of gradients against what is stored of PyTorch's.
fn gradient(what: &str, ours: &[f32], stored: &[f64], bound: f64) {
    let (&[projection, most], sample) = stored.split_first_chunk().expect("a projection and the largest");
    assert!(most > 1e-4, "{what}: there is a gradient, {most}");
    let every = ours.len().div_ceil(SAMPLES);
    let sampled = difference(ours.iter().step_by(every).map(|&x| x.into()), sample, most);
    assert!(sampled <= bound, "{what}: {sampled:.1e}");
    // All of them: a sum of errors that do not conspire grows with the root of their number.
    let own: f64 = ours.iter().zip(uniform(PROJECTION, ours.len())).map(|(g, u)| f64::from(*g) * u).sum();
    let allowed = bound * most * (ours.len() as f64).sqrt();
    assert!((own - projection).abs() <= allowed, "{what}: {own} {projection}, {allowed:.1e}");
}

fn agree(name: &str, case: &Case, arrays: &Tensors, choice: Choice) {
    let Case { architecture, images, .. } = case;
    let mut pass =
        Pass::new(architecture, *images, choice, Isa::detect(), MemoryLimit::NONE).expect("a network");
    let places = pass.places().clone();
    let (x, weights) = numbers(case, &places);
    let bound = if architecture.layers.len() > 3 { DEEP } else { LAYER };
    for (mode, mode_name) in [(Mode::Evaluation, "evaluation"), (Mode::Training, "training")] {
        let stored = |list: &str| -> &[f64] {
            let key = format!("{name}.{mode_name}.{list}");
            &arrays.tensors.get(&key).unwrap_or_else(|| panic!("{key} is not stored")).values
        };
        let what = |list: &str| format!("{name}, {mode_name}, {choice:?}, {list}");
        pass.load(&weights);
        let scores = pass.forward(&x, mode).to_vec();
        let exact = stored("scores");
        let off = difference(scores.iter().map(|&score| score.into()), exact, largest(exact));
        assert!(off <= SCORES, "{}: {off:.1e}", what("scores"));
        let (loss, by_scores) = cross_entropy(&scores, architecture.classes);
        let off = difference([loss], stored("loss"), 1.0);
        assert!(off <= SCORES, "{}: {off:.1e}", what("loss"));
        let off = difference(by_scores.iter().copied(), stored("by_scores"), largest(stored("by_scores")));
        assert!(off <= SCORES, "{}: {off:.1e}", what("by_scores"));
        #[allow(clippy::cast_possible_truncation)]
        let by_scores: Vec<f32> = by_scores.iter().map(|&x| x as f32).collect();
        pass.backward(&by_scores, Wanted { weights: true, input: true });
        let mut by_input = vec![0.0; x.len()];
        pass.input_gradient(&mut by_input);
        gradient(&what("input"), &by_input, stored("input"), bound);
        for (at, place) in places.layers.iter().enumerate() {
            for (list, range) in [("weight", &place.weight), ("bias", &place.bias), ("gamma", &place.gamma)] {
                if !range.is_empty() {
                    let list = format!("{at}.{list}");
                    gradient(&what(&list), &pass.parameter_gradient()[range.clone()], stored(&list), bound);
                }
            }
        }
        let mut statistics = weights.statistics.clone();
        pass.update_statistics(0.1, &mut statistics);
        if mode == Mode::Evaluation {
            assert_eq!(statistics, weights.statistics, "an evaluation pass moves no statistics");
            continue;
        }
        for (at, place) in places.layers.iter().enumerate() {
            for (list, range) in [("mean", &place.mean), ("variance", &place.variance)] {
                if !range.is_empty() {
                    let exact = stored(&format!("{at}.{list}"));
                    let off = difference(
                        statistics[range.clone()].iter().map(|&x| x.into()),
                        exact,
                        largest(exact),
                    );
                    assert!(off <= SCORES, "{}: {off:.1e}", what(list));
                }
            }
        }
    }
}

#[test]
fn layers_and_a_network_have_the_gradients_of_pytorch() {
    let arrays = Tensors::<f64>::parse(FIXTURE).expect("arrays");
    let mut kinds = HashSet::new();
    for (name, text) in &arrays.metadata {
        let case: Case = serde_json::from_str(text).expect("a case");
        kinds.extend(case.architecture.layers.iter().map(|layer| std::mem::discriminant(&layer.kind)));
        for choice in [Choice::ByShape, Choice::Direct] {
            agree(name, &case, &arrays, choice);
        }
    }
    assert_eq!((arrays.metadata.len(), kinds.len()), (12, 5), "all cases, all kinds of layers");
}
