//! A classifier that reads the last places of its input contradicts certificates made with noise that is only nearly
//! Gaussian: a point inside a certified ball is answered otherwise, always. With the exact noise no claim is contradicted.
//!
//! After Voráček and Hein, *Sound randomized smoothing in floating-point arithmetics* (ICLR 2023).

use super::params;
use crate::support::one_sided_radius;
use gambeson_smooth::classifier::Classifier;
use gambeson_smooth::input_map::InputMap;
use gambeson_smooth::noise::{Draw, Noise, Quantum};
use gambeson_smooth::smoother::{Counts, Smoother, SmoothingParams};
use gambeson_smooth::space::Space;
use std::convert::Infallible;

const DIM: usize = 3072;
const DRAWS: u64 = 1000;
const SIGMA: f64 = 0.25;

/// Among coordinates x in (−¼, 0), the parity of ⌊x·unit⌋: class 0 if fewer than half are odd, else 1.
struct LastPlace {
    unit: f64,
}

impl LastPlace {
    fn class(&self, row: &[f32]) -> u32 {
        let some =
            row.iter().filter(|x| **x > -0.25 && **x < 0.0).map(|x| (f64::from(*x) * self.unit).floor());
        let (mut odd, mut all) = (0_u32, 0_u32);
        for x in some {
            all += 1;
            odd += u32::from(x.rem_euclid(2.0) == 1.0);
        }
        u32::from(2 * odd >= all)
    }
}

impl Classifier for LastPlace {
    type Error = Infallible;

    fn classes(&self) -> usize {
        2
    }

    fn dim(&self) -> usize {
        DIM
    }

    fn input_map(&self) -> Option<&InputMap> {
        None
    }

    fn classify(&self, batch: &[f32], _: usize, out: &mut [u32]) -> Result<(), Infallible> {
        out.iter_mut().zip(batch.chunks_exact(DIM)).for_each(|(out, row)| *out = self.class(row));
        Ok(())
    }
}

/// The noise of before: a normal of single precision, times σ, plus what rounding left of the centre, plus the centre.
fn earlier_counts(classifier: &LastPlace, centre: f64) -> [u64; 2] {
    #[allow(clippy::cast_possible_truncation)] // rounding is what is looked at
    let (high, low, level) = (centre as f32, (centre - f64::from(centre as f32)) as f32, SIGMA as f32);
    let mut counts = [0; 2];
    let mut row = vec![0.0; DIM];
    for draw in 0..DRAWS {
        Noise::new(1, 0).standard(Draw::Estimation(draw), &mut row);
        row.iter_mut().for_each(|x| *x = level.mul_add(*x, low) + high);
        counts[classifier.class(&row) as usize] += 1;
    }
    counts
}

fn claimed(count: u64) -> Option<f64> {
    one_sided_radius(count, DRAWS, 0.001, SIGMA).map(gambeson_checker::LatentRadius::value)
}

/// All coordinates are the same number: three points on a line.
fn centres() -> [f64; 3] {
    [64.0 / 255.0, 0.25, 0.25 - 2_f64.powi(-26)]
}

#[test]
fn nearly_gaussian_noise_makes_false_certificates() {
    let classifier = LastPlace { unit: 2_f64.powi(26) };
    let counts = centres().map(|centre| earlier_counts(&classifier, centre));
    // The first point is certified within .6, the third lies .054 away and is always answered otherwise.
    assert_eq!((counts[0], counts[1], counts[2]), ([DRAWS, 0], [DRAWS, 0], [0, DRAWS]));
    let radius = claimed(counts[0][0]).expect("certified");
    let distance = (centres()[0] - centres()[2]) * (DIM as f64).sqrt();
    assert!(radius > 0.6 && distance < 0.06 && claimed(counts[2][1]).is_some(), "{radius} {distance}");
}

/// Whatever parity is read, of the grid's own numbers or of others, whatever grid, no two claims contradict each other.
///
/// σ = 1/4 has a grid of 1/1020 for bytes and of 2⁻⁹ for other numbers.
#[test]
fn exact_noise_makes_none() {
    let cases = [
        // The parity of the grid's own numbers.
        (Quantum::Byte, None, 1020.0),
        (Quantum::Byte, Some(-6), 255.0 * 64.0),
        (Quantum::One, None, 512.0),
        (Quantum::One, Some(-12), 4096.0),
        // That of the counterexample, and of what is coarser than the grid.
        (Quantum::Byte, None, 67_108_864.0),
        (Quantum::Byte, Some(-6), 67_108_864.0),
        (Quantum::Byte, None, 510.0),
        (Quantum::One, Some(-12), 1024.0),
    ];
    for (at, (quantum, exponent, unit)) in cases.into_iter().enumerate() {
        let space = Space::identity(DIM).with_quantum(quantum);
        let classifier = LastPlace { unit };
        let params =
            SmoothingParams { selection: 100, grid_exponent: exponent, ..params(SIGMA, DRAWS, 0.001) };
        let smoother = Smoother::new(&classifier, space.clone(), params).expect("it fits");
        let found = centres().map(|centre| {
            let input = space.numbers(&vec![centre; DIM]);
            smoother.certify(0, &input, &mut ()).expect("drawn").expect("not stopped")
        });
        // The classifier must have something to read: a constant would be certified everywhere, and rightly.
        let both = |counts: &Counts| counts.of(0) > DRAWS / 10 && counts.of(1) > DRAWS / 10;
        assert!(at >= 4 || found.iter().all(|found| both(&found.estimation)), "{unit}: {found:?}");
        for (i, a) in found.iter().enumerate() {
            for (j, b) in found.iter().enumerate() {
                let distance = (centres()[i] - centres()[j]).abs() * (DIM as f64).sqrt();
                let (Some(a), Some(b)) = (a.certified, b.certified) else { continue };
                let apart = a.class == b.class || a.l2.value() <= distance;
                assert!(apart, "{unit}, grid {exponent:?}: {a:?} at {distance} from {b:?}");
            }
            // Nor do counts: no point inside a ball is answered otherwise most of the time.
            let Some(a) = a.certified else { continue };
            for (j, b) in found.iter().enumerate() {
                let distance = (centres()[i] - centres()[j]).abs() * (DIM as f64).sqrt();
                assert!(a.l2.value() <= distance || b.estimation.of(a.class) > DRAWS / 2, "{a:?} {b:?}");
            }
        }
    }
}
