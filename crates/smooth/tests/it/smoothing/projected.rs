//! Noise in the coordinates of a projection.

use super::{cumulative, params};
use crate::support::normal;
use crate::support::one_sided_radius;
use gambeson_checker::NoiseLevel;
use gambeson_lowrank::linalg::matrix::DenseMatrix;
use gambeson_lowrank::projection::certificate::ProjectionCertificate;
use gambeson_lowrank::projection::kappa::CertifiedBasis;
use gambeson_lowrank::projection::proven::{ProveError, ProvenProjection};
use gambeson_lowrank::projection::representation::{Representation, Transform};
use gambeson_lowrank::projection::{Channel, Origin, Projection};
use gambeson_lowrank::sdp::bracket::BoundParams;
use gambeson_lowrank::shape::Shape;
use gambeson_smooth::classifier::Classifier;
use gambeson_smooth::decoder::DecodeError;
use gambeson_smooth::input_map::{Affine, InputMap, Layout};
use gambeson_smooth::noise::{CentreError, Grid, GridError, Quantum};
use gambeson_smooth::smoother::{Smoother, SmoothingError, SmoothingParams, SmoothingParamsError};
use gambeson_smooth::space::{Space, SpaceError};
use gambeson_smooth::toys::{Ball, HalfSpace};
use proptest::prelude::*;
use std::convert::Infallible;

/// A projection with its certificate, from one basis per channel.
fn certified(
    representation: Representation,
    shape: Shape,
    bases: Vec<DenseMatrix>,
    mean: Option<&[f64]>,
) -> (Projection, ProjectionCertificate) {
    let certificate = |basis: &DenseMatrix| {
        let proven = CertifiedBasis::new(basis.clone(), &BoundParams::default(), &mut ());
        proven.expect("a bound").certificate
    };
    let certificates = bases.iter().map(certificate).collect();
    let channel = |basis| Channel { basis, mean: mean.map(<[f64]>::to_vec), error: 0.0 };
    let channels = bases.into_iter().map(channel).collect();
    let projection =
        Projection::new(representation, shape, channels, Origin::default()).expect("a projection");
    let certificate = ProjectionCertificate::new(&projection, certificates);
    (projection, certificate)
}

/// The same, proven.
fn proven(
    representation: Representation,
    shape: Shape,
    bases: Vec<DenseMatrix>,
    mean: Option<&[f64]>,
) -> ProvenProjection {
    let (projection, certificate) = certified(representation, shape, bases, mean);
    ProvenProjection::new(projection, &certificate, None, 1).expect("proven")
}

/// Rank 3 in frames of 12 numbers, with these noise levels.
pub(crate) fn example_projection(levels: Option<&[f64]>) -> ProvenProjection {
    let shape = Shape { channels: 1, height: 1, width: 12 };
    let (projection, certificate) =
        certified(Representation::Pixel, shape, vec![orthonormal(12, 3, 5)], None);
    ProvenProjection::new(projection, &certificate, levels, 1).expect("proven")
}

/// UUᵀ(u − mean) + mean of every channel, in double precision.
fn projected(projection: &Projection, coordinates: &[f64]) -> Vec<f64> {
    let channels = coordinates.chunks_exact(projection.shape().plane()).zip(projection.channels());
    let one = |(u, Channel { basis, mean, .. }): (&[f64], &Channel)| {
        let zeros = vec![0.0; u.len()];
        let mean = mean.as_ref().unwrap_or(&zeros);
        let centred: Vec<f64> = u.iter().zip(mean).map(|(u, mean)| u - mean).collect();
        let back = times(basis, &transposed_times(basis, &centred));
        back.iter().zip(mean).map(|(x, mean)| x + mean).collect::<Vec<f64>>()
    };
    channels.flat_map(one).collect()
}

/// Columns made orthonormal by Gram and Schmidt, twice.
fn orthonormal(rows: usize, columns: usize, seed: u64) -> DenseMatrix {
    let mut entries = normal(rows * columns, seed);
    for _ in 0..2 {
        for a in 0..columns {
            for b in 0..a {
                let product: f64 =
                    (0..rows).map(|i| entries[i * columns + a] * entries[i * columns + b]).sum();
                (0..rows).for_each(|i| entries[i * columns + a] -= product * entries[i * columns + b]);
            }
            let length = (0..rows).map(|i| entries[i * columns + a].powi(2)).sum::<f64>().sqrt();
            (0..rows).for_each(|i| entries[i * columns + a] /= length);
        }
    }
    DenseMatrix { rows, columns, entries }
}

/// Uᵀv.
fn transposed_times(basis: &DenseMatrix, v: &[f64]) -> Vec<f64> {
    let column = |a: usize| v.iter().enumerate().map(|(i, v)| basis.entries[i * basis.columns + a] * v).sum();
    (0..basis.columns).map(column).collect()
}

/// Uz.
fn times(basis: &DenseMatrix, z: &[f64]) -> Vec<f64> {
    basis.entries.chunks_exact(basis.columns).map(|row| row.iter().zip(z).map(|(u, z)| u * z).sum()).collect()
}

/// Keeps what it is asked about: decoded codes, with the noise so small that it does not show.
struct Recorder {
    dim: usize,
    map: Option<InputMap>,
    seen: std::sync::Mutex<Vec<f32>>,
}

impl Classifier for Recorder {
    type Error = Infallible;

    fn classes(&self) -> usize {
        2
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn input_map(&self) -> Option<&InputMap> {
        self.map.as_ref()
    }

    fn classify(&self, batch: &[f32], rows: usize, out: &mut [u32]) -> Result<(), Infallible> {
        *self.seen.lock().expect("no panic") = batch[..batch.len() / rows].to_vec();
        out.fill(0);
        Ok(())
    }
}

/// A level of noise that hardly shows.
const SMALL: f64 = 1e-6;

fn decoded(space: &Space, input: &[f64]) -> Vec<f32> {
    seen(space, input, None, SMALL)
}

/// What a classifier is given that takes its rows by a map.
fn seen(space: &Space, input: &[f64], map: Option<&InputMap>, sigma: f64) -> Vec<f32> {
    let recorder = Recorder { dim: space.output_dim(), map: map.cloned(), seen: std::sync::Mutex::default() };
    // The coarsest grid, which has room for the largest numbers.
    let grid_exponent = (sigma == SMALL).then_some(-20);
    let params = SmoothingParams { batch: 6, grid_exponent, ..params(sigma, 13, 0.1) };
    let smoother = Smoother::new(&recorder, space.clone(), params).expect("it fits");
    smoother.certify(0, input, &mut ()).expect("drawn").expect("not stopped");
    recorder.seen.into_inner().expect("no panic")
}

#[test]
fn what_the_classifier_sees_is_the_projected_input() {
    let shape = Shape { channels: 2, height: 9, width: 8 };
    let n = shape.height * shape.width;
    let input: Vec<f64> = normal(2 * n, 3);
    let mean = normal(n, 4);
    for representation in [Representation::Pixel, Representation::Dct1, Representation::Dct2] {
        let bases = vec![orthonormal(n, 5, 1), orthonormal(n, 71, 2)];
        for mean in [None, Some(&mean[..])] {
            let proven = proven(representation, shape, bases.clone(), mean);
            let space = Space::projected(&proven, None).expect("a space");
            assert_eq!((space.rank(), space.input_dim(), space.output_dim()), (76, 2 * n, 2 * n));
            let transform = Transform::new(representation, shape.height, shape.width).expect("a transform");
            let mut coordinates = input.clone();
            coordinates.chunks_exact_mut(n).for_each(|channel| transform.forward(channel));
            let mut expected = projected(proven.projection(), &coordinates);
            expected.chunks_exact_mut(n).for_each(|channel| transform.inverse(channel));
            for (seen, expected) in decoded(&space, &input).iter().zip(&expected) {
                assert!((f64::from(*seen) - expected).abs() < 1e-5, "{seen} against {expected}");
            }
            let encoded = space.encode(&input).expect("encoded");
            assert!(encoded.error > 0.0 && encoded.error < 5e-12, "{}", encoded.error);
        }
    }
}

/// Normalisation and order of channels, where noise is added to the input and where it is decoded first.
#[test]
fn rows_are_fed_as_the_classifier_takes_them() {
    let maps = || [(4.0, -1.5), (0.25, 3.0)].map(|(scale, shift)| Affine { scale, shift }).to_vec();
    let shape = Shape { channels: 2, height: 9, width: 8 };
    let n = shape.height * shape.width;
    let input = normal(2 * n, 13);
    let bases = vec![orthonormal(n, 5, 1), orthonormal(n, 40, 2)];
    let proven = proven(Representation::Dct2, shape, bases, None);
    let projected = Space::projected(&proven, None).expect("a space");
    // Frequencies that a smaller image has.
    let low: Vec<usize> = (0..n).filter(|index| index / 8 < 4 && index % 8 < 4).collect();
    let few = |count: usize| {
        let mut entries = vec![0.0; n * count];
        low.iter().take(count).enumerate().for_each(|(a, &index)| entries[index * count + a] = 1.0);
        DenseMatrix { rows: n, columns: count, entries }
    };
    let proven = self::proven(Representation::Dct2, shape, vec![few(5), few(16)], None);
    let smaller = Space::projected(&proven, Some((4, 4))).expect("a space");
    for layout in [Layout::ChannelsFirst, Layout::ChannelsLast] {
        for (space, plane) in [(&Space::identity(2 * n), n), (&projected, n), (&smaller, 16)] {
            let map = InputMap::new(maps(), plane, layout).expect("a map");
            let plain = decoded(space, &input);
            let mut expected = vec![0.0; plain.len()];
            map.apply(&plain, &mut expected);
            assert_ne!(plain, expected);
            for (seen, expected) in seen(space, &input, Some(&map), SMALL).iter().zip(&expected) {
                assert!((seen - expected).abs() < 5e-5, "{seen} against {expected}");
            }
        }
        // Noise is added before the normalisation: σ is on the scale of the input.
        let map = InputMap::new(maps(), n, layout).expect("a map");
        let mapped = seen(&Space::identity(2 * n), &input, Some(&map), 0.5);
        for channel in 0..2 {
            let noise = (channel * n..(channel + 1) * n).map(|index| {
                let (place, Affine { scale, shift }) = map.place(index);
                (f64::from(mapped[place]) - shift) / scale - input[index]
            });
            let variance = noise.map(|noise| noise * noise).sum::<f64>() / n as f64;
            // χ² with 72 degrees of freedom: its deviation is a sixth.
            assert!((variance / 0.25 - 1.0).abs() < 5.0 / 6.0, "{variance}");
        }
    }
    // What does not fit is no smoother.
    let map = InputMap::new(maps(), n - 1, Layout::ChannelsFirst).expect("a map");
    let recorder = Recorder { dim: 2 * n, map: Some(map), seen: std::sync::Mutex::default() };
    let refused = Smoother::new(&recorder, projected.clone(), params(1.0, 10, 0.1)).err();
    assert_eq!(refused, Some(SmoothingParamsError::InputMap { classifier: 144, map: 142 }));
    let map = InputMap::new(maps(), n, Layout::ChannelsFirst).expect("a map");
    let recorder = Recorder { dim: 2 * n, map: Some(map), seen: std::sync::Mutex::default() };
    let identity = Space::identity(2 * n);
    let level = |space: &Space, sigma: f64| {
        let refused = Smoother::new(&recorder, space.clone(), params(sigma, 10, 0.1)).err();
        matches!(refused, Some(SmoothingParamsError::Grid(GridError::Level { .. })))
    };
    assert!(!level(&projected, 1e28) && level(&projected, 1e38) && level(&identity, 1e38));
    // Nor has single precision numbers as small as these, or as large.
    assert!(level(&identity, 4e-38) && !level(&identity, 1e-20));
    let smoother = Smoother::new(&recorder, identity.clone(), params(1.0, 10, 0.1)).expect("it fits");
    let mut huge = input.clone();
    huge[7] = 1e39;
    let too_far = |error| matches!(error, SmoothingError::Centre(CentreError::TooFar { index: 7, .. }));
    assert!(smoother.certify(0, &huge, &mut ()).is_err_and(too_far));
    assert!(smoother.predict(0, &huge, &mut ()).is_err_and(too_far));
    let errors = smoother.errors(&input).expect("finite");
    // h·√144·2⁻²⁶, and less than that at the input itself.
    let most = 2_f64.powi(-7 - 26) * 12.0;
    assert!(errors.encoding > 0.0 && errors.encoding <= errors.perturbed, "{errors:?}");
    assert!(errors.perturbed >= most && errors.perturbed < 1.000_001 * most, "{errors:?}");
}

/// What is taken off for perturbed inputs is no less than the error at any of them, and is small.
#[test]
fn errors_of_perturbed_inputs_are_covered() {
    let shape = Shape { channels: 2, height: 6, width: 8 };
    let (n, noise) = (48, NoiseLevel::new(0.25).expect("a level"));
    for representation in [Representation::Pixel, Representation::Dct1, Representation::Dct2] {
        for quantum in [Quantum::One, Quantum::Byte, Quantum::Sample] {
            let bases = vec![orthonormal(n, 5, 1), orthonormal(n, 11, 2)];
            let proven = proven(representation, shape, bases, None);
            let space = Space::projected(&proven, None).expect("a space").with_quantum(quantum);
            let grid = Grid::new(0.25, Quantum::One, None).expect("a grid");
            let unit = quantum.inverse();
            let input: Vec<f64> = normal(2 * n, 3).iter().map(|x| (x * unit).round()).collect();
            let bound = space.perturbed_error(&input, noise, grid).expect("finite");
            assert!(bound > 0.0 && bound < 1e-9, "{representation:?} {quantum:?}: {bound}");
            for seed in 0..20 {
                // In a random direction, by as much as any radius can be about.
                let away = normal(2 * n, 100 + seed);
                let length = away.iter().map(|x| x * x).sum::<f64>().sqrt();
                let reach = 40.0 * 0.25 / space.spectral().expect("proven").value();
                let moved: Vec<f64> =
                    input.iter().zip(&away).map(|(x, d)| x + d * reach / length * unit).collect();
                let encoded = space.encode(&moved).expect("encoded");
                let stored = 2_f64.powi(-26) * grid.step() * 4.0; // of 16 coordinates
                assert!(encoded.error + stored <= bound, "{} of {bound}", encoded.error);
            }
        }
    }
    // Without a projection: bytes lie on the grid, but their neighbours do not. What is lost on the way from a value to the
    // centre of its noise, in parts that are exact in double precision.
    for quantum in [Quantum::One, Quantum::Byte, Quantum::Sample] {
        let grid = Grid::new(0.25, quantum, None).expect("a grid");
        let (space, unit) = (Space::identity(48).with_quantum(quantum), quantum.inverse());
        let input: Vec<f64> = normal(48, 3).iter().map(|x| (x * unit).round()).collect();
        let bound = space.perturbed_error(&input, noise, grid).expect("finite");
        assert!(bound > 0.0 && bound < 1e-9, "{quantum:?}: {bound}");
        let mut largest = 0.0_f64;
        for seed in 0..200 {
            let values: Vec<f64> =
                input.iter().zip(normal(48, 100 + seed)).map(|(x, d)| x / unit + 1.4 * d).collect();
            let lost = values.iter().zip(space.numbers(&values)).map(|(value, number)| {
                let counting = value.mul_add(unit, -number); // in the units of numbers
                let scaled = number * 2_f64.powi(-grid.exponent);
                let rest = scaled - scaled.round_ties_even();
                #[allow(clippy::cast_possible_truncation)] // what is lost is looked at
                let fraction = rest - f64::from(rest as f32);
                (counting / unit).abs() + (fraction * grid.step()).abs()
            });
            largest = largest.max(lost.map(|lost| lost * lost).sum::<f64>().sqrt());
        }
        assert!(largest <= bound && largest > 0.1 * bound, "{quantum:?}: {largest} of {bound}");
    }
}

#[test]
fn images_may_be_decoded_onto_a_smaller_grid() {
    let shape = Shape { channels: 1, height: 8, width: 8 };
    let low: Vec<usize> = (0..64).filter(|index| index / 8 < 4 && index % 8 < 4).collect();
    let mut entries = vec![0.0; 64 * low.len()];
    low.iter().enumerate().for_each(|(a, &index)| entries[index * low.len() + a] = 1.0);
    let basis = DenseMatrix { rows: 64, columns: low.len(), entries };
    let proven = proven(Representation::Dct2, shape, vec![basis], None);
    let space = Space::projected(&proven, Some((4, 4))).expect("a space");
    assert_eq!(space.output_dim(), 16);
    // Constant images stay what they are, whatever their size.
    let seen = decoded(&space, &[0.7; 64]);
    assert!(seen.iter().all(|x| (x - 0.7).abs() < 1e-5), "{seen:?}");
    assert!((space.kappa().expect("proven").value() - 4.0).abs() < 1e-6, "16 coordinates");
    assert_eq!(proven.projection().native_grid(), (4, 4));
    let onto = |size| match Space::projected(&proven, Some((size, size))) {
        Err(SpaceError::Onto(error)) => Some(error),
        _ => None,
    };
    assert!(matches!(onto(16), Some(DecodeError::Size { .. })));
    assert!(matches!(onto(3), Some(DecodeError::Outside { row: 0, column: 3, component: 3, .. })));
    assert!(onto(8).is_none() && onto(5).is_none());
}

#[test]
fn levels_are_noise_of_one_in_divided_coordinates() {
    let shape = Shape { channels: 1, height: 1, width: 12 };
    let basis = orthonormal(12, 3, 5);
    let levels = [0.5, 1.0, 2.0];
    let (projection, certificate) = certified(Representation::Pixel, shape, vec![basis.clone()], None);
    let proven = |levels: &[f64]| ProvenProjection::new(projection.clone(), &certificate, Some(levels), 1);
    let space = Space::projected(&proven(&levels).expect("proven"), None).expect("a space");
    let input = normal(12, 6);
    let z = transposed_times(&basis, &input);
    let encoded = space.encode(&input).expect("encoded");
    for ((code, z), level) in encoded.code.iter().zip(&z).zip(levels) {
        assert!((code - z / level).abs() < 1e-14);
    }
    let spectral = space.spectral().expect("proven").value();
    assert!((spectral - 2.0).abs() < 1e-6, "1/.5, as U is orthonormal: {spectral}");
    // A half-space of decoded inputs: w'U(z + s∘g) has the deviation |s∘U'w|.
    let w = normal(12, 7);
    let latent = transposed_times(&basis, &w);
    let deviation = latent.iter().zip(levels).map(|(w, s)| (w * s).powi(2)).sum::<f64>().sqrt();
    let offset = latent.iter().zip(&z).map(|(w, z)| w * z).sum::<f64>() - 0.8 * deviation;
    let toy = HalfSpace::new(w, offset).expect("a half-space");
    let smoother = Smoother::new(&toy, space.clone(), params(1.0, 40_000, 0.001)).expect("it fits");
    let found = smoother.certify(0, &input, &mut ()).expect("drawn").expect("not stopped");
    let p = cumulative(0.8);
    let off = (found.estimation.of(1) as f64 - 40_000.0 * p) / (40_000.0 * p * (1.0 - p)).sqrt();
    assert!(off.abs() < 5.0, "{off} deviations");
    let few = proven(&levels[..2]);
    assert!(matches!(few, Err(ProveError::LevelCount { expected: 3, found: 2 })));
    assert!(matches!(proven(&[1.0, 0.0, 1.0]), Err(ProveError::Level { index: 1, .. })));
}

/// For a half-space of decoded inputs everything is known: at distance t in z the best change in ℓ∞ is
/// ε = t·|w̃|/|Uw̃|₁, w̃ = Uᵀw, by the signs of Uw̃, and in ℓ2 it is t·|w̃|/|Uw̃|₂.
#[test]
fn no_attack_beats_a_certificate() {
    let shape = Shape { channels: 1, height: 1, width: 40 };
    let mut tightest: f64 = 0.0;
    for seed in 0..12 {
        // Not orthonormal, and of different scales.
        let scale = [0.1, 1.0, 3.0][usize::try_from(seed % 3).unwrap_or(0)];
        let entries = normal(40 * 6, 100 + seed).into_iter().map(|x| x * scale).collect();
        let basis = DenseMatrix { rows: 40, columns: 6, entries };
        let proven = proven(Representation::Pixel, shape, vec![basis.clone()], None);
        let space = Space::projected(&proven, None).expect("a space");
        // Half-spaces at random, and the one whose attack uses κ's own vertex as nearly as a vector can.
        let w = normal(40, 200 + seed);
        let latent = transposed_times(&basis, &w);
        let length = latent.iter().map(|w| w * w).sum::<f64>().sqrt();
        let direction = times(&basis, &latent);
        let (one, two) = (
            direction.iter().map(|x| x.abs()).sum::<f64>(),
            direction.iter().map(|x| x * x).sum::<f64>().sqrt(),
        );
        let sigma = 0.5;
        for margin in [0.05, 0.4, 1.5] {
            let (linf, l2) = (margin * length / one, margin * length / two);
            // True p_A as nearly as a tally can tell it, from below.
            let trials = 10_000_000;
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            let count = (cumulative(margin / sigma) * trials as f64) as u64;
            let latent = one_sided_radius(count, trials, 0.4, sigma).expect("above ½");
            assert!((latent.value() / margin - 1.0).abs() < 2e-3, "{} for {margin}", latent.value());
            let radii = space.radii(latent);
            assert!(radii.1.value() <= linf, "{} against {linf}", radii.1.value());
            assert!(radii.0.value() <= l2, "{} against {l2}", radii.0.value());
            tightest = tightest.max(radii.1.value() / linf);
        }
    }
    assert!(tightest > 0.5, "the certificate is not idle: {tightest}");
}

/// Projects what it is given, then asks a ball: noise in the whole space.
struct Ambient {
    basis: DenseMatrix,
    ball: Ball,
}

impl Classifier for Ambient {
    type Error = Infallible;

    fn classes(&self) -> usize {
        2
    }

    fn dim(&self) -> usize {
        self.basis.rows
    }

    fn input_map(&self) -> Option<&InputMap> {
        None
    }

    fn classify(&self, batch: &[f32], rows: usize, out: &mut [u32]) -> Result<(), Infallible> {
        #[allow(clippy::cast_possible_truncation)]
        let project = |row: &[f32]| {
            let row: Vec<f64> = row.iter().map(|&x| x.into()).collect();
            times(&self.basis, &transposed_times(&self.basis, &row))
                .into_iter()
                .map(|x| x as f32)
                .collect::<Vec<f32>>()
        };
        let projected: Vec<f32> = batch.chunks_exact(self.dim()).flat_map(project).collect();
        self.ball.classify(&projected, rows, out)
    }
}

/// Prop. 2.2: for an orthonormal basis, noise in the space and then projected is noise in the subspace.
#[test]
fn ambient_and_subspace_noise_give_the_same_probabilities() {
    let (n, rank, draws, sigma) = (20, 4, 20_000, 0.5);
    let basis = orthonormal(n, rank, 8);
    let shape = Shape { channels: 1, height: 1, width: n };
    let proven = proven(Representation::Pixel, shape, vec![basis.clone()], None);
    let input = normal(n, 9);
    let ball = Ball::new(times(&basis, &transposed_times(&basis, &input)), 0.9).expect("a ball");
    let subspace = Space::projected(&proven, None).expect("a space");
    let ambient = Space::identity(n);
    let count = |counts: gambeson_smooth::smoother::Certification| counts.estimation.of(1) as f64;
    let low = Smoother::new(&ball, subspace.clone(), params(sigma, draws, 0.01)).expect("it fits");
    let low = count(low.certify(0, &input, &mut ()).expect("drawn").expect("not stopped"));
    let model = Ambient { basis, ball };
    let high = Smoother::new(&model, ambient.clone(), params(sigma, draws, 0.01)).expect("it fits");
    let high = count(high.certify(1, &input, &mut ()).expect("drawn").expect("not stopped"));
    let pooled = (low + high) / (2.0 * draws as f64);
    assert!((0.1..0.9).contains(&pooled), "{pooled}");
    let z = (low - high) / (2.0 * draws as f64 * pooled * (1.0 - pooled)).sqrt();
    assert!(z.abs() < 4.9, "two-sample test at level 1e-6: {z}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Decoding keeps the code, and what was decoded is decoded to itself: with a mean or without, a space projects.
    #[test]
    fn codes_come_back(seed in 0_u64..1000, centred: bool) {
        let shape = Shape { channels: 2, height: 3, width: 4 };
        let bases = vec![orthonormal(12, 2, seed), orthonormal(12, 5, seed + 1)];
        let mean = centred.then(|| normal(12, seed + 100));
        let proven = proven(Representation::Dct2, shape, bases, mean.as_deref());
        let space = Space::projected(&proven, None).expect("a space");
        let values = |row: Vec<f32>| row.into_iter().map(f64::from).collect::<Vec<f64>>();
        let input = normal(24, seed + 2);
        let code = |values: &[f64]| space.encode(values).expect("encoded").code;
        // In double precision, from code to code.
        let transform = Transform::new(Representation::Dct2, 3, 4).expect("a transform");
        let mut exact = input.clone();
        exact.chunks_exact_mut(12).for_each(|channel| transform.forward(channel));
        exact = projected(proven.projection(), &exact);
        exact.chunks_exact_mut(12).for_each(|channel| transform.inverse(channel));
        prop_assert!(code(&input).iter().zip(&code(&exact)).all(|(a, b)| (a - b).abs() < 1e-12));
        // As the classifier sees it, in single precision.
        let once = values(decoded(&space, &input));
        prop_assert!(code(&input).iter().zip(&code(&once)).all(|(a, b)| (a - b).abs() < 1e-5));
        let twice = values(decoded(&space, &once));
        prop_assert!(once.iter().zip(&twice).all(|(a, b)| (a - b).abs() < 1e-5));
    }
}
