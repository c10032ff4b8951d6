//! What noise is added to, against exact arithmetic: no bound on its distance from the input is too small, in any unit.

use super::params::SmoothingParams;
use super::plan::{Errors, SmoothingPlan};
use crate::classifier::ClassifierSpec;
use crate::noise::{Centre, Quantum};
use crate::space::Space;
use gambeson_checker::NoiseLevel;
use gambeson_lowrank::linalg::matrix::DenseMatrix;
use gambeson_lowrank::projection::certificate::ProjectionCertificate;
use gambeson_lowrank::projection::kappa::CertifiedBasis;
use gambeson_lowrank::projection::proven::ProvenProjection;
use gambeson_lowrank::projection::representation::Representation;
use gambeson_lowrank::projection::{Channel, Origin, Projection};
use gambeson_lowrank::sdp::bracket::BoundParams;
use gambeson_lowrank::shape::Shape;
use num_bigint::BigInt;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const UNITS: [Quantum; 3] = [Quantum::One, Quantum::Byte, Quantum::Sample];
/// Exact numbers are whole multiples of 2⁻⁴⁰⁰/255.
const DIGITS: u32 = 400;
const SIGMA: f64 = 0.25;

/// A number in units of a quantum, times 255·2⁴⁰⁰.
fn exact(number: f64, unit: Quantum) -> BigInt {
    let bits = number.to_bits();
    let biased = u32::try_from(bits >> 52 & 0x7ff).expect("eleven bits");
    let mantissa = BigInt::from(bits & ((1 << 52) - 1) | u64::from(biased > 0) << 52);
    let shift = biased.max(1) + DIGITS;
    let whole = (mantissa * 255_u32) << shift;
    let divisor = BigInt::from(unit.per_one().get()) << 1075;
    assert_eq!(&whole % &divisor, BigInt::ZERO, "{number} has more digits");
    let size: BigInt = whole / divisor;
    if number < 0.0 { -size } else { size }
}

/// Whether the length of a difference is at most a bound.
fn within(difference: impl IntoIterator<Item = BigInt>, bound: &BigInt) -> bool {
    let square: BigInt = difference.into_iter().map(|part| &part * &part).sum();
    square <= bound * bound
}

/// Whether what noise is added to without a projection is within a bound of numbers in a unit.
fn near(plan: &SmoothingPlan, centre: &Centre, (numbers, unit): (&[f64], Quantum), bound: f64) -> bool {
    let off = stored(plan, centre).into_iter().zip(numbers).map(|(stored, &it)| stored - exact(it, unit));
    within(off, &exact(bound, Quantum::One))
}

/// What noise is added to, coordinate by coordinate.
fn stored(plan: &SmoothingPlan, centre: &Centre) -> Vec<BigInt> {
    let (whole, fraction) = centre.parts();
    let grid = plan.grid();
    let scale = 2_f64.powi(grid.exponent);
    let part = |number: f32| exact(f64::from(number) * scale, grid.quantum); // a power of two
    whole.iter().zip(fraction).map(|(&whole, &fraction)| part(whole) + part(fraction)).collect()
}

fn plan(space: Space) -> SmoothingPlan {
    let classifier = ClassifierSpec { classes: 2, dim: space.output_dim(), input_map: None };
    let noise = NoiseLevel::new(SIGMA).expect("a level");
    SmoothingPlan::new(classifier, space, SmoothingParams::new(noise).expect("a level")).expect("it fits")
}

/// An input in this unit: bytes, samples, real numbers.
fn input(dim: usize, unit: Quantum, rng: &mut ChaCha8Rng) -> Vec<f64> {
    let mut number = || match unit {
        Quantum::One => rng.random_range(-1.5..1.5),
        Quantum::Byte => rng.random_range(0..256_u32).into(),
        Quantum::Sample => rng.random_range(-32_768..32_768_i32).into(),
    };
    (0..dim).map(|_| number()).collect()
}

#[test]
fn errors_of_encoding_are_no_smaller_than_the_distance_in_any_unit() {
    let rng = &mut ChaCha8Rng::seed_from_u64(28);
    for (grid, unit) in UNITS.into_iter().flat_map(|grid| UNITS.map(|unit| (grid, unit))) {
        for dim in [1, 2, 48] {
            let plan = plan(Space::identity(dim).with_quantum(grid).stored_in(unit));
            let mut largest = 0.0_f64;
            for _ in 0..300 {
                let numbers = input(dim, unit, rng);
                let (centre, errors) = plan.encode(&numbers).expect("encoded");
                let covered = near(&plan, &centre, (&numbers, unit), errors.encoding);
                assert!(covered, "{unit:?} on {grid:?}: {numbers:?} {errors:?}");
                assert!(errors.encoding <= errors.perturbed, "{unit:?} on {grid:?}: {errors:?}");
                largest = largest.max(errors.encoding);
            }
            // Bytes lose nothing on a grid of bytes, short numbers of sound on any.
            let lies = unit == Quantum::Sample || unit == Quantum::Byte && grid == Quantum::Byte;
            assert_eq!(largest == 0.0, lies, "{unit:?} on {grid:?}: {largest}");
        }
    }
}

/// Other inputs, bytes and real numbers, as far away as a radius reaches.
#[test]
fn errors_of_perturbed_inputs_are_no_smaller_than_the_distance_in_any_unit() {
    let (rng, dim) = (&mut ChaCha8Rng::seed_from_u64(29), 48);
    for (grid, unit) in UNITS.into_iter().flat_map(|grid| UNITS.map(|unit| (grid, unit))) {
        let plan = plan(Space::identity(dim).with_quantum(grid).stored_in(unit));
        let (_, errors) = plan.encode(&input(dim, unit, rng)).expect("encoded");
        for _ in 0..200 {
            let values: Vec<f64> = (0..dim).map(|_| rng.random_range(-0.8..0.8)).collect();
            let (centre, _) = plan.encode(&plan.space().numbers(&values)).expect("encoded");
            let covered = near(&plan, &centre, (&values, Quantum::One), errors.perturbed);
            assert!(covered, "{unit:?} on {grid:?}: {values:?} {errors:?}");
            let numbers = input(dim, unit, rng);
            let (centre, _) = plan.encode(&numbers).expect("encoded");
            let covered = near(&plan, &centre, (&numbers, unit), errors.perturbed);
            assert!(covered, "{unit:?} on {grid:?}: {numbers:?} {errors:?}");
        }
    }
}

/// z = Uᵀu of values that were divided first.
#[test]
fn errors_of_projected_inputs_are_no_smaller_than_the_distance_in_any_unit() {
    let (rng, dim, rank) = (&mut ChaCha8Rng::seed_from_u64(30), 12, 3);
    let entries: Vec<f64> = (0..dim * rank).map(|_| rng.random_range(-1.0..1.0)).collect();
    let basis = DenseMatrix { rows: dim, columns: rank, entries: entries.clone() };
    let certified = CertifiedBasis::new(basis.clone(), &BoundParams::default(), &mut ()).expect("a bound");
    let shape = Shape { channels: 1, height: 1, width: dim };
    let channel = Channel { basis, mean: None, error: 0.0 };
    let projection = Projection::new(Representation::Pixel, shape, vec![channel], Origin::default());
    let projection = projection.expect("a projection");
    let certificate = ProjectionCertificate::new(&projection, vec![certified.certificate]);
    let proven = ProvenProjection::new(projection, &certificate, None, 1).expect("proven");
    for (quantum, unit) in UNITS.into_iter().flat_map(|quantum| UNITS.map(|unit| (quantum, unit))) {
        let space = Space::projected(&proven, None).expect("a space").with_quantum(quantum).stored_in(unit);
        let plan = plan(space);
        let one = exact(1.0, Quantum::One);
        let near = |(numbers, unit): (&[f64], Quantum), centre: &Centre, bound: f64| {
            let off = stored(&plan, centre).into_iter().enumerate().map(|(column, stored)| {
                let column = entries.iter().skip(column).step_by(rank);
                let products = numbers
                    .iter()
                    .zip(column)
                    .map(|(&number, &entry)| exact(number, unit) * exact(entry, Quantum::One));
                stored * &one - products.sum::<BigInt>()
            });
            within(off, &(exact(bound, Quantum::One) * &one))
        };
        let (_, Errors { perturbed, .. }) = plan.encode(&input(dim, unit, rng)).expect("encoded");
        for _ in 0..100 {
            let numbers = input(dim, unit, rng);
            let (centre, Errors { encoding, .. }) = plan.encode(&numbers).expect("encoded");
            assert!(near((&numbers, unit), &centre, encoding), "{unit:?}: {numbers:?} {encoding}");
            let values: Vec<f64> = (0..dim).map(|_| rng.random_range(-0.8..0.8)).collect();
            let (centre, _) = plan.encode(&plan.space().numbers(&values)).expect("encoded");
            assert!(near((&values, Quantum::One), &centre, perturbed), "{unit:?}: {values:?} {perturbed}");
        }
    }
}
