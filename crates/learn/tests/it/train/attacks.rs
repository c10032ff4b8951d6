//! Attacks: gradients of the objective against differences in double precision, balls, and plain PGD as a special case.

use super::{IMAGE, low_block};
use crate::net::reference::{Wide, scores};
use gambeson_learn::attack::ball::BallNorm;
use gambeson_learn::attack::inputs::{PerturbError, PerturbParams, Victim, perturb_inputs};
use gambeson_learn::attack::noisy::Noisy;
use gambeson_learn::attack::perturbation_basis::PerturbationBasis;
use gambeson_learn::attack::pgd::{AttackedNetwork, Perturbed, PgdParams, PgdParamsError, Victims, pgd};
use gambeson_learn::input_codec::InputCodec;
use gambeson_learn::net::architecture::Architecture;
use gambeson_learn::net::kernel::Isa;
use gambeson_learn::net::loss::{Loss, Targets};
use gambeson_learn::net::models::Model;
use gambeson_learn::net::parameters::{ParameterLayout, Weights};
use gambeson_learn::net::pass::{Mode, Pass, Wanted};
use gambeson_learn::net::plan::Choice;
use gambeson_learn::weights::network::Network;
use gambeson_lowrank::MemoryLimit;
use gambeson_smooth::noise::{Draw, Noise};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

const SIGMA: f64 = 0.3;
const SEED: u64 = 11;

struct AttackScene {
    codec: InputCodec,
    architecture: Architecture,
    weights: Weights,
    codes: Vec<f32>,
    labels: Vec<u16>,
    draws: usize,
}

impl AttackScene {
    fn new(projected: bool, draws: usize) -> Self {
        let own = (vec![0.4, 0.5], vec![0.25, 0.3]);
        let codec = if projected {
            InputCodec::projected(&low_block(), (4, 4), Some(&own)).expect("a view")
        } else {
            InputCodec::values(IMAGE, Some(&own)).expect("a view")
        };
        let architecture =
            Model::ResNet { depth: 8, width: 4 }.architecture(codec.output(), 3).expect("a model");
        let places = ParameterLayout::new(&architecture).expect("a model");
        let mut weights = Weights::initial(&places, &mut ChaCha8Rng::seed_from_u64(4));
        for (at, x) in weights.statistics.iter_mut().enumerate() {
            *x += 0.02 * (at % 7) as f32; // running statistics that are not those of any batch
        }
        let images: Vec<f32> = (0..4 * IMAGE.len()).map(|i| (i * 7919 % 1009) as f32 / 1009.0).collect();
        let mut codes = vec![0.0; 4 * codec.rank()];
        codec.encode(&images, &mut codes);
        Self { codec, architecture, weights, codes, labels: vec![0, 1, 2, 1], draws }
    }

    fn pass(&self) -> Pass {
        let mut pass =
            Pass::new(&self.architecture, 4 * self.draws, Choice::ByShape, Isa::detect(), MemoryLimit::NONE)
                .expect("a network");
        pass.load(&self.weights);
        pass
    }

    fn noisy(&self) -> Noisy {
        let mut noisy = Noisy::default();
        noisy.draw(SEED, &[0, 1, 2, 3], SIGMA, self.draws, self.codec.rank());
        noisy
    }

    /// The mean over the inputs of −log of the mean softmax at the label, in double precision but for the decoder.
    fn exact(&self, weights: &Wide, codes: &[f64], mode: Mode) -> f64 {
        let rank = self.codec.rank();
        let mut noisy = Vec::new();
        for (input, code) in codes.chunks_exact(rank).enumerate() {
            for draw in 0..self.draws {
                let mut noise = vec![0.0; rank];
                Noise::new(SEED, input as u64).standard(Draw::Estimation(draw as u64), &mut noise);
                noisy.extend(code.iter().zip(&noise).map(|(z, x)| z + SIGMA * f64::from(*x)));
            }
        }
        let rows = self.decoded(&noisy);
        let all = scores(&self.architecture, weights, &rows, mode);
        let classes = self.architecture.classes;
        let each = all.chunks_exact(self.draws * classes).zip(&self.labels).map(|(scores, &label)| {
            let p = |row: &[f64]| row[usize::from(label)].exp() / row.iter().map(|s| s.exp()).sum::<f64>();
            -(scores.chunks_exact(classes).map(p).sum::<f64>() / self.draws as f64).ln()
        });
        each.sum::<f64>() / self.labels.len() as f64
    }

    /// Decoding is affine: its matrix from the codec's answers to unit codes, applied in double precision.
    fn decoded(&self, codes: &[f64]) -> Vec<f64> {
        let (rank, width) = (self.codec.rank(), self.codec.output().len());
        let mut units = vec![0.0; (rank + 1) * rank];
        (0..rank).for_each(|a| units[(a + 1) * rank + a] = 1.0);
        let mut rows = vec![0.0; (rank + 1) * width];
        self.codec.decode(&units, &mut rows);
        let rows: Vec<f64> = rows.iter().map(|&x| f64::from(x)).collect();
        let (zero, columns) = rows.split_at(width);
        let mut out = Vec::new();
        for code in codes.chunks_exact(rank) {
            let mut row = zero.to_vec();
            for (z, column) in code.iter().zip(columns.chunks_exact(width)) {
                row.iter_mut().zip(column).zip(zero).for_each(|((row, c), zero)| *row += z * (c - zero));
            }
            out.extend(row);
        }
        out
    }
}

#[test]
fn gradients_of_the_smoothed_objective_are_its_slopes() {
    for projected in [false, true] {
        for draws in [1, 3] {
            let scene = AttackScene::new(projected, draws);
            let (mut pass, mut noisy) = (scene.pass(), scene.noisy());
            let mut by_codes = vec![0.0; scene.codes.len()];
            let loss = Loss::SoftCrossEntropy;
            let value =
                noisy.gradient(&mut pass, &scene.codec, loss, (&scene.codes, &scene.labels), &mut by_codes);
            let wide = Wide::from(&scene.weights);
            let codes: Vec<f64> = scene.codes.iter().map(|&z| f64::from(z)).collect();
            let exact = scene.exact(&wide, &codes, Mode::Evaluation);
            assert!((value.sum / 4.0 - exact).abs() < 1e-4, "{} {exact}", value.sum / 4.0);
            let largest = by_codes.iter().fold(0.0_f64, |most, g| most.max(f64::from(g.abs())));
            for at in (0..codes.len()).step_by(codes.len() / 12) {
                let moved = |step: f64| {
                    let mut moved = codes.clone();
                    moved[at] += step;
                    scene.exact(&wide, &moved, Mode::Evaluation)
                };
                let slope = (moved(1e-5) - moved(-1e-5)) / 2e-5;
                let own = f64::from(by_codes[at]);
                assert!(
                    (slope - own).abs() < 2e-3 * largest,
                    "{projected} {draws} {at}: {slope} {own} of {largest}"
                );
            }
            // By the weights, as a training step computes it.
            let rows = noisy.rows(&scene.codec, &scene.codes).to_vec();
            let scored = pass.forward(&rows, Mode::Training);
            let mut by_scores = vec![0.0; scored.len()];
            let targets = Targets { labels: &scene.labels, draws, classes: 3, smoothing: 0.0 };
            loss.of(scored, targets, &mut by_scores);
            pass.backward(&by_scores, Wanted { weights: true, input: false });
            let own = pass.parameter_gradient();
            let largest = own.iter().fold(0.0_f64, |most, g| most.max(f64::from(g.abs())));
            for at in (0..own.len()).step_by(own.len() / 12) {
                let moved = |step: f64| {
                    let mut moved = wide.clone();
                    moved.parameters[at] += step;
                    scene.exact(&moved, &codes, Mode::Training)
                };
                let slope = (moved(1e-6) - moved(-1e-6)) / 2e-6;
                assert!(
                    (slope - f64::from(own[at])).abs() < 2e-3 * largest,
                    "{at}: {slope} {} of {largest}",
                    own[at]
                );
            }
        }
    }
}

fn attack(
    scene: &AttackScene,
    params: &PgdParams,
    basis: &PerturbationBasis,
    sigma: f64,
    epsilons: &[f64],
) -> Perturbed {
    let (mut pass, mut noisy, mut to) = (scene.pass(), Noisy::default(), Perturbed::default());
    noisy.draw(SEED, &[0, 1, 2, 3], sigma, scene.draws, scene.codec.rank());
    let values = vec![0.5; 4 * IMAGE.len()];
    let victims = Victims {
        values: &values,
        codes: &scene.codes,
        labels: &scene.labels,
        epsilons,
        numbers: &[7, 8, 9, 10],
    };
    let mut attacked = AttackedNetwork {
        pass: &mut pass,
        codec: &scene.codec,
        noisy: &mut noisy,
        loss: Loss::SoftCrossEntropy,
    };
    pgd(params, basis, victims, &mut attacked, 3, &mut to);
    to
}

#[test]
fn every_attack_stays_in_its_ball_and_raises_the_loss() {
    for projected in [false, true] {
        let scene = AttackScene::new(projected, 2);
        let bases = [
            PerturbationBasis::Code,
            PerturbationBasis::Values,
            PerturbationBasis::cosines(&scene.codec).expect("a basis"),
        ];
        for basis in &bases {
            for (norm, size) in [(BallNorm::L2, 1.0), (BallNorm::Linf, 0.05)] {
                let epsilons = [0.25, 0.5, 1.0, 2.0].map(|x| x * size);
                let params = PgdParams::new(norm, 6);
                let to = attack(&scene, &params, basis, SIGMA, &epsilons);
                let dim = basis.dim(&scene.codec);
                for (d, epsilon) in to.d.chunks_exact(dim).zip(epsilons) {
                    let length = norm.length(d);
                    assert!(length <= epsilon * (1.0 + 1e-6) && length > 0.5 * epsilon, "{length} {epsilon}");
                }
                // In ℓ2 a change of values changes an orthonormal code by no more.
                if norm == BallNorm::L2 {
                    let rank = scene.codec.rank();
                    let rows = to.codes.chunks_exact(rank).zip(scene.codes.chunks_exact(rank));
                    for ((moved, code), epsilon) in rows.zip(epsilons) {
                        let change: Vec<f32> = moved.iter().zip(code).map(|(a, b)| a - b).collect();
                        assert!(BallNorm::L2.length(&change) <= epsilon * (1.0 + 1e-5));
                    }
                }
                let (mut pass, mut noisy) = (scene.pass(), scene.noisy());
                let mut loss = |codes: &[f32]| {
                    let mut unused = vec![0.0; codes.len()];
                    let both = (codes, &scene.labels[..]);
                    noisy.gradient(&mut pass, &scene.codec, Loss::SoftCrossEntropy, both, &mut unused).sum
                };
                let (before, after) = (loss(&scene.codes), loss(&to.codes));
                assert!(after > before + 1e-3, "{norm:?} {before} {after}");
            }
        }
    }
}

#[test]
fn without_noise_it_is_plain_pgd() {
    let scene = AttackScene::new(false, 1);
    let (epsilon, steps) = (0.4, 3);
    let params = PgdParams { random_start: false, range: None, ..PgdParams::new(BallNorm::L2, steps) };
    let to = attack(&scene, &params, &PerturbationBasis::Values, 0.0, &[epsilon; 4]);
    // By hand: the network alone, cross-entropy, normalised steps, projection.
    let (mut pass, dim) = (scene.pass(), IMAGE.len());
    let std = [0.25_f32, 0.3];
    let mean = [0.4_f32, 0.5];
    let mut x = scene.codes.clone();
    for _ in 0..steps {
        let rows: Vec<f32> =
            x.iter().enumerate().map(|(at, x)| (x - mean[at % dim / 64]) / std[at % dim / 64]).collect();
        let scored = pass.forward(&rows, Mode::Evaluation).to_vec();
        let mut by_scores = vec![0.0; scored.len()];
        for (at, (out, scores)) in by_scores.chunks_exact_mut(3).zip(scored.chunks_exact(3)).enumerate() {
            let sum: f32 = scores.iter().map(|s| s.exp()).sum();
            for (class, out) in out.iter_mut().enumerate() {
                *out =
                    scores[class].exp() / sum - f32::from(u8::from(class == usize::from(scene.labels[at])));
            }
        }
        pass.backward(&by_scores, Wanted { weights: false, input: true });
        let mut by_rows = vec![0.0; rows.len()];
        pass.input_gradient(&mut by_rows);
        for (image, (x, g)) in x.chunks_exact_mut(dim).zip(by_rows.chunks_exact(dim)).enumerate() {
            let g: Vec<f32> = g.iter().enumerate().map(|(at, g)| g / std[at / 64]).collect();
            let length = g.iter().map(|g| f64::from(*g).powi(2)).sum::<f64>().sqrt();
            let start = &scene.codes[image * dim..][..dim];
            let mut d: Vec<f64> = x.iter().zip(start).map(|(x, s)| f64::from(*x) - f64::from(*s)).collect();
            let step = 2.0 * epsilon / steps as f64;
            d.iter_mut().zip(&g).for_each(|(d, g)| *d += step * f64::from(*g) / length);
            let length = d.iter().map(|d| d * d).sum::<f64>().sqrt();
            let scale = (epsilon / length).min(1.0);
            #[allow(clippy::cast_possible_truncation)]
            x.iter_mut().zip(start).zip(&d).for_each(|((x, s), d)| *x = s + (scale * d) as f32);
        }
    }
    for (own, x) in to.codes.iter().zip(&x) {
        assert!((own - x).abs() < 2e-4, "{own} {x}");
    }
}

#[test]
fn values_stay_in_their_range_and_fgsm_is_one_step() {
    let scene = AttackScene::new(false, 1);
    let params = PgdParams { range: Some((0.45, 0.6)), ..PgdParams::new(BallNorm::Linf, 3) };
    let to = attack(&scene, &params, &PerturbationBasis::Values, 0.0, &[0.2; 4]);
    assert!(to.d.iter().all(|d| (0.449_99..=0.600_01).contains(&(0.5 + d))));
    let to = attack(&scene, &PgdParams::fgsm(), &PerturbationBasis::Values, 0.0, &[0.03; 4]);
    assert!(to.d.iter().all(|d| d.abs() == 0.0 || (d.abs() - 0.03).abs() < 1e-6));
    for (params, error) in [
        (PgdParams::new(BallNorm::L2, 0), PgdParamsError::NoSteps),
        (PgdParams { factor: 0.0, ..PgdParams::fgsm() }, PgdParamsError::Factor { factor: 0.0 }),
        (
            PgdParams { range: Some((1.0, 1.0)), ..PgdParams::fgsm() },
            PgdParamsError::Range { from: 1.0, to: 1.0 },
        ),
    ] {
        assert_eq!(params.validate(), Err(error));
    }
    assert_eq!(PgdParams::fgsm().validate(), Ok(()));
}

#[test]
fn inputs_that_cannot_be_attacked_are_refused() {
    let scene = AttackScene::new(false, 1);
    let network = Network {
        architecture: scene.architecture.clone(),
        weights: scene.weights.clone(),
        normalisation: None,
        training: None,
    };
    let params = |sigma, draws, steps| PerturbParams {
        pgd: PgdParams::new(BallNorm::L2, steps),
        basis: PerturbationBasis::Values,
        sigma,
        draws,
        seed: 0,
        memory: MemoryLimit::NONE,
    };
    let victim = |epsilon, class, values| Victim { index: 3, values: vec![0.5; values], class, epsilon };
    let attack = |params: PerturbParams, victim: Victim| {
        perturb_inputs(&network, &scene.codec, &params, &[victim], &mut ())
    };
    let good = attack(params(0.1, 2, 2), victim(0.5, 1, IMAGE.len())).expect("attacked");
    assert!(good.len() == 1 && good[0].length <= 0.5 && good[0].index == 3);
    for (epsilon, class, values) in [(f64::NAN, 1, 128), (-1.0, 1, 128), (0.5, 3, 128), (0.5, 1, 127)] {
        let refused = attack(params(0.1, 2, 2), victim(epsilon, class, values)).expect_err("refused");
        assert!(matches!(refused, PerturbError::Victim { index: 3, .. }), "{refused}");
    }
    for (sigma, draws) in [(-0.1, 1), (f64::NAN, 1), (0.1, 0), (0.1, 1 << 20)] {
        let refused = attack(params(sigma, draws, 2), victim(0.5, 1, 128)).expect_err("refused");
        assert!(matches!(refused, PerturbError::Noise { .. }), "{refused}");
    }
    assert!(matches!(attack(params(0.1, 1, 0), victim(0.5, 1, 128)), Err(PerturbError::Params(_))));
    let code = PerturbParams { basis: PerturbationBasis::Code, ..params(0.1, 1, 1) };
    assert!(matches!(attack(code, victim(0.5, 1, 128)), Err(PerturbError::PerturbationBasis)));
}
