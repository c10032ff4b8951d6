//! Average radius and accuracy on public votes, by each rule of limits.

use gambeson_checker::{FailureProbability, LatentRadius, NoiseLevel, ProvenRadius, SamplingRule};
use gambeson_smooth::limit::{ClassDraws, LimitChoice, LimitRule, Sample};
use gambeson_smooth::noise::limit_share;
use gambeson_testing::reference_data;
use rand::SeedableRng;
use rand::seq::index::sample;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use std::fmt::Write;

/// Selection votes of the data.
const VOTED: usize = 1000;
/// Subsamples of the selection votes, and shares of randomised limits: by this many seeds.
const SEEDS: u64 = 5;
const RADII: [f64; 4] = [0.0, 0.25, 0.5, 0.75];

/// The votes of one image.
struct Image {
    index: u64,
    label: u32,
    selection: Vec<u64>,
    estimation: Vec<u64>,
}

fn images(text: &str) -> Vec<Image> {
    let image = |line: &str| {
        let numbers: Vec<u64> = line.split(',').map(|number| number.parse().expect("a number")).collect();
        let label = u32::try_from(numbers[1]).expect("a class");
        Image {
            index: numbers[0],
            label,
            selection: numbers[2..12].to_vec(),
            estimation: numbers[12..22].to_vec(),
        }
    };
    text.lines().skip(1).map(image).collect()
}

/// n₀ of the selection votes of an image, drawn without replacement.
fn subsampled(image: &Image, n0: usize, seed: u64) -> Vec<u64> {
    if n0 == VOTED {
        return image.selection.clone();
    }
    let rng = &mut ChaCha8Rng::seed_from_u64(image.index * SEEDS + seed);
    let ends: Vec<u64> =
        image.selection.iter().scan(0, |sum, &count| Some(*sum + count).inspect(|s| *sum = *s)).collect();
    let mut counts = vec![0; ends.len()];
    for vote in sample(rng, VOTED, n0) {
        counts[ends.partition_point(|&end| end <= vote as u64)] += 1;
    }
    counts
}

/// What a rule comes to: the average radius of correct certificates, wrong ones and abstentions counted as 0, and certified
/// accuracy at [`RADII`].
#[derive(Clone, Copy, Debug, Default)]
struct Score {
    acr: f64,
    accuracy: [f64; RADII.len()],
}

fn score(images: &[Image], (limits, how): (LimitRule, &[LimitChoice]), n0: usize) -> Score {
    let failure = FailureProbability::new(0.001).expect("a probability");
    let noise = NoiseLevel::new(0.25).expect("a level");
    let all: Vec<(u64, &Image)> =
        (0..SEEDS).flat_map(|seed| images.iter().map(move |image| (seed, image))).collect();
    let radius = |&(seed, image): &(u64, &Image)| -> Option<f64> {
        let selection = subsampled(image, n0, seed);
        let draws = |classes| ClassDraws { classes, none: 0, undecided: 0 };
        let sample = Sample {
            selection: draws(&selection),
            estimation: draws(&image.estimation),
            rule: SamplingRule::Fixed,
            planned: image.estimation.iter().sum(),
            limits,
            share: limit_share(seed, image.index),
            noise,
        };
        let radius = |&how: &LimitChoice| {
            let proven = sample.prove(failure, how).expect("valid")?;
            ProvenRadius::radius(proven).map(LatentRadius::value)
        };
        let best = how.iter().filter_map(radius).reduce(f64::max)?;
        (sample.selected() == Some(image.label)).then_some(best)
    };
    let radii: Vec<Option<f64>> = all.par_iter().map(radius).collect();
    let share = |count: usize| count as f64 / radii.len() as f64;
    let at = |least: f64| share(radii.iter().flatten().filter(|&&radius| radius >= least).count());
    Score { acr: radii.iter().flatten().sum::<f64>() / radii.len() as f64, accuracy: RADII.map(at) }
}

const NATURAL: &[LimitChoice] = &[LimitChoice::Natural];
/// The larger radius of the two, which is no rule: it depends on the counts that are to prove it.
const BEST: &[LimitChoice] = &[LimitChoice::OneSided, LimitChoice::TwoSided];
const HEAD: &str = "\n## Limits by rule\n";

/// The section of `results/votes2023.md` on limits; `GAMBESON_WRITE_RESULTS=1` writes it anew.
#[test]
fn on_public_votes_chosen_limits_prove_more() {
    let Some(path) = reference_data("logs/votes2023/cifar10_resnet50_votes.csv") else { return };
    let images = images(&std::fs::read_to_string(path).expect("the votes"));
    let mut section = format!(
        "{HEAD}\nThe same votes, n = 10,000, σ = 0.25, α = 0.001: average certified radius (ACR) and certified accuracy at \
         radii r. The first n₀ selection votes of a random order choose the class and, where limits are chosen, their \
         number: averages over {SEEDS} orders, and over {SEEDS} seeds of randomised limits. The last row is no rule: it takes \
         the larger radius of one limit and of two, whichever the counts themselves prefer.\n\n\
         | limits | n₀ | ACR | r = 0 | r = 0.25 | r = 0.5 | r = 0.75 |\n\
         | :--- | ---: | ---: | ---: | ---: | ---: | ---: |\n",
    );
    let mut row = |name: &str, n0: usize, rule| -> Score {
        let found = score(&images, rule, n0);
        let cells: Vec<String> = found.accuracy.iter().map(|share| format!("{share:.4}")).collect();
        writeln!(section, "| {name} | {n0} | {:.4} | {} |", found.acr, cells.join(" | ")).expect("a string");
        found
    };
    let one_sided = row("one-sided", VOTED, (LimitRule::OneSided, NATURAL));
    row("two-sided", VOTED, (LimitRule::OneSided, &[LimitChoice::TwoSided]));
    for (rule, least) in [(LimitRule::Chosen, 0.5915), (LimitRule::Randomised, 0.5955)] {
        for n0 in [100, 200, 500, VOTED] {
            let found = row(rule.name(), n0, (rule, NATURAL));
            assert!(
                found.acr >= least && found.accuracy[0] >= one_sided.accuracy[0] + 0.003,
                "{n0}: {found:?}"
            );
        }
    }
    let best = row("the larger radius", VOTED, (LimitRule::OneSided, BEST));
    assert!((one_sided.acr - 0.5898).abs() < 5e-5 && best.acr < 0.593, "{one_sided:?} {best:?}");
    section.push_str(
        "\nMade by `GAMBESON_WRITE_RESULTS=1 cargo test --release -p gambeson-smooth --test it on_public_votes_chosen` with \
         `GAMBESON_REFERENCE_DATA` set.\n",
    );
    let kept = concat!(env!("CARGO_MANIFEST_DIR"), "/../../results/votes2023.md");
    let committed = std::fs::read_to_string(kept).expect("the table");
    let before = committed.split(HEAD).next().unwrap_or_default();
    let whole = format!("{before}{section}");
    if std::env::var_os("GAMBESON_WRITE_RESULTS").is_some() {
        std::fs::write(kept, &whole).expect("written");
    } else {
        assert_eq!(committed, whole, "results/ is out of date");
    }
}
