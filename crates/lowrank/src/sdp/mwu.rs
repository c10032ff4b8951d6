//! Algorithm 2, CertifySDP: multiplicative weights for max xᵀMx over the cube.
//!
//! **Problem.** The relaxation max ⟨M, X⟩ over X ⪰ 0, X_ii ≤ 1, for symmetric M with M_ii ≥ 0 (equations 12–15 of the
//! paper, appendix C), and its dual min Σ y over Diag(y) ⪰ M.
//!
//! **Reference.** Awasthi, Jain, Rawat, Vijayaraghavan, NeurIPS 2020, Algorithm 2, Theorems 3.1 and C.2, and the
//! stall stop of appendix E.
//!
//! **Guarantee.** Any weights prove an upper bound once their eigenvalue is bounded from above (Proposition C.1),
//! which is the checker's work; here are only estimates. With [`Width::Theorem`] and
//! T = ρ·ln n/((1 − δ)δ²) rounds, ρ = n/δ, the primal candidate has X_ii ≤ 1 + 8δ and ⟨M, X⟩ = Σ y ≥ the optimum.
//!
//! **Deviations**, with reasons in PAPER.md, section 3: the value and the weights offered belong together (D1); the
//! weights are the smoothed ones (D2); the best value is recorded before a stop (D3); both early stops compare
//! squares with 1 + δ (D3); three duals compete for the certificate, the best iterate, the running average of the
//! box, and the average over the later half of the run, which forgets the poor start.

use crate::linalg::lanczos::TopEigenspace;
use crate::linalg::operator::Operator;
use crate::linalg::unit_rows::UnitRows;
use crate::observe::Observer;
use crate::parameter::ParameterError;
use crate::sdp::primal::PrimalCandidate;
use crate::sdp::progress::{Progress, StopReason};
use rand::Rng;
use rand_distr::{Distribution, StandardNormal};
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// Residual at which the eigenvalues that are compared are accepted, relative to them.
const SHARP: f64 = 3e-4;
/// Products with M for one such eigenvalue at most.
const LOOK_PRODUCTS: usize = 30;
/// The same for the last eigenvalue of a run.
const LAST_SHARP: f64 = 1e-4;
const LAST_PRODUCTS: usize = 120;
/// Products with M in an ordinary round at most.
const ROUND_PRODUCTS: usize = 60;

/// The damping ρ: weights move by exp(δ/ρ·(v_i² − 1)) per round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Width {
    /// n/δ, for which the theorem holds; far too careful in practice.
    Theorem,
    /// δ·√t·max(1, max v_i² − 1) in round t = 1, 2, …: the fastest weight grows by e^{1/√t}. The default: the paper notes
    /// that a ρ smaller than the theorem's is justified while v_i²/ρ stays small, and this keeps it so.
    Aggressive,
    /// A constant.
    Fixed(f64),
}

impl fmt::Display for Width {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Theorem => formatter.write_str("theorem"),
            Self::Aggressive => formatter.write_str("aggressive"),
            Self::Fixed(width) => width.fmt(formatter),
        }
    }
}

/// A text that is no [`Width`].
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("expected theorem, aggressive or a number")]
pub struct ParseWidthError {
    /// The text.
    pub text: String,
}

impl FromStr for Width {
    type Err = ParseWidthError;

    fn from_str(text: &str) -> Result<Self, ParseWidthError> {
        match text {
            "theorem" => Ok(Self::Theorem),
            "aggressive" => Ok(Self::Aggressive),
            number => {
                number.parse().map(Self::Fixed).map_err(|_| ParseWidthError { text: number.to_owned() })
            }
        }
    }
}

/// Parameters of Algorithm 2.
#[derive(Clone, Debug, PartialEq)]
pub struct MwuParams {
    /// δ in (0, 1/2): the smoothing of the weights, and the slack of the early stops. Smoothing can keep the bound
    /// a factor 1/(1 − δ) above the optimum (PAPER.md, D4).
    pub accuracy: f64,
    /// ρ.
    pub width: Width,
    /// Rounds at most, T.
    pub max_iterations: usize,
    /// Residual at which an eigenpair is accepted, relative to the eigenvalue. The eigenvalue errs by its square over
    /// the spectral gap; the proof notices, so this is a question of speed alone.
    pub eigen_tolerance: f64,
    /// Rounds between two looks at the averaged duals and the primal value.
    pub look_every: usize,
    /// Stop when the best bound improved by less than this, relatively, over the last eight looks (appendix E).
    /// Zero never stops.
    pub stall: f64,
    /// Whether the two early stops of the box apply. Off, the run goes on refining the bound.
    pub early_stop: bool,
    /// Whether the whole factor of X̂ is kept, n numbers per round. Its diagonal and value are known either way.
    pub keep_primal: bool,
}

impl Default for MwuParams {
    fn default() -> Self {
        Self {
            accuracy: 0.005,
            width: Width::Aggressive,
            max_iterations: 2000,
            eigen_tolerance: 3e-3,
            look_every: 10,
            stall: 1e-5,
            early_stop: true,
            keep_primal: true,
        }
    }
}

impl MwuParams {
    /// Checks every parameter once.
    pub fn validate(&self) -> Result<(), ParameterError> {
        let checks = [
            ("accuracy", self.accuracy, self.accuracy > 0.0 && self.accuracy < 0.5, "in (0, 1/2)"),
            ("eigen_tolerance", self.eigen_tolerance, self.eigen_tolerance > 0.0, "positive"),
            ("stall", self.stall, self.stall >= 0.0, "zero or positive"),
            ("max_iterations", self.max_iterations as f64, self.max_iterations > 0, "positive"),
            ("look_every", self.look_every as f64, self.look_every > 0, "positive"),
        ];
        let width = match self.width {
            Width::Fixed(width) => ("width", width, width > 0.0 && width.is_finite(), "positive"),
            Width::Theorem | Width::Aggressive => ("width", 1.0, true, ""),
        };
        match checks.into_iter().chain([width]).find(|(_, _, good, _)| !good) {
            Some((name, value, _, range)) => Err(ParameterError { name, value, range }),
            None => Ok(()),
        }
    }

    /// Tolerance and most products of the eigenvalue of a round. The first value is what equal weights give, against which
    /// the result is judged: worth some care.
    fn eigen_precision(&self, round: usize) -> (f64, usize) {
        if round == 0 {
            (self.eigen_tolerance.min(LAST_SHARP), LAST_PRODUCTS)
        } else {
            (self.eigen_tolerance, ROUND_PRODUCTS)
        }
    }

    /// δ/ρ for round t, given max(v_i² − 1).
    fn step(&self, n: usize, round: usize, largest: f64) -> f64 {
        match self.width {
            Width::Theorem => self.accuracy * self.accuracy / n as f64,
            Width::Aggressive => 1.0 / (((round + 1) as f64).sqrt() * largest.max(1.0)),
            Width::Fixed(width) => self.accuracy / width,
        }
    }
}

/// Which dual a certificate was taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DualChoice {
    /// λα̃ of the best round.
    Iterate,
    /// The running average of λα̃, the y of the box.
    Average,
    /// The average over the later half of the rounds.
    LateAverage,
    /// Equal weights, the start of the box: nothing did better.
    Equal,
}

/// Result of a run. Nothing in it is proven.
pub struct MwuSolution {
    /// Weights for the checker: the best dual found.
    pub weights: Vec<f64>,
    /// Where they come from.
    pub choice: DualChoice,
    /// Their estimated bound, (Σ y)·λ_max(D^−½MD^−½) with a Ritz value for λ_max: slightly low.
    pub estimate: f64,
    /// By how much the weights, scaled to their estimate, may miss being feasible, relatively: the residual of the
    /// eigenvalue.
    pub uncertainty: f64,
    /// ŷ: the averaged dual of the box at the end.
    pub averaged_dual: Vec<f64>,
    /// X̂: the averaged primal of the box at the end.
    pub primal: PrimalCandidate,
    /// A feasible point of the relaxation made from the late iterates: the best seen.
    pub point: UnitRows,
    /// Rounds done.
    pub iterations: usize,
    /// Products with M.
    pub products: usize,
    /// Why it ended.
    pub stop: StopReason,
}

/// Best dual so far.
struct Best {
    estimate: f64,
    weights: Vec<f64>,
    choice: DualChoice,
}

impl Best {
    fn offer(&mut self, estimate: f64, choice: DualChoice, weights: &[f64]) {
        if estimate < self.estimate {
            *self = Best { estimate, choice, weights: weights.to_vec() };
        }
    }
}

/// Runs Algorithm 2. The operator must have a non-negative diagonal and not be zero.
pub fn multiplicative_weights(
    operator: &Operator<'_>,
    params: &MwuParams,
    rng: &mut impl Rng,
    observer: &mut dyn Observer<Progress>,
) -> Result<MwuSolution, ParameterError> {
    params.validate()?;
    let n = operator.dim();
    let delta = params.accuracy;
    let mut weights = vec![1.0; n]; // α
    let mut dual_sum = vec![0.0; n]; // (t + 1)·y
    let mut primal = PrimalCandidate::new(n, params.keep_primal);
    let mut best = Best { estimate: f64::INFINITY, weights: vec![1.0; n], choice: DualChoice::Equal };
    let mut judge = Judge::default();
    let (mut lower, mut point) = (f64::NEG_INFINITY, None);
    let mut eigenspace = TopEigenspace::new(operator, random_vector(n, rng));
    let mut stop = StopReason::IterationLimit;
    for round in 0..params.max_iterations {
        let smoothed: Vec<f64> = weights.iter().map(|alpha| (1.0 - delta) * alpha + delta).collect(); // α̃
        let (tolerance, most) = params.eigen_precision(round);
        let drops = || observer.drops_step() || observer.is_late();
        let top = eigenspace.solve_until(operator, &smoothed, tolerance, most, &drops);
        let eigenvalue = top.value; // λ
        let v: Vec<f64> = top.vector.iter().map(|x| x * (n as f64).sqrt()).collect();
        let squares: Vec<f64> = v.iter().map(|v| v * v).collect();
        let dual: Vec<f64> = smoothed.iter().map(|alpha| eigenvalue * alpha).collect();
        let value: f64 = dual.iter().sum(); // nλ
        dual_sum.iter_mut().zip(&dual).for_each(|(sum, y)| *sum += y);
        primal.push(v, value);
        if round == 0 {
            best.offer(value, DualChoice::Equal, &dual);
        }
        judge.iterate(value, dual);
        let largest = squares.iter().copied().fold(0.0, f64::max);
        if params.early_stop && largest <= 1.0 + delta {
            stop = StopReason::IterateFeasible;
            break;
        }
        if params.early_stop && primal.largest_diagonal() <= 1.0 + delta {
            stop = StopReason::AverageFeasible;
            break;
        }
        update(&mut weights, &squares, params.step(n, round, largest - 1.0));
        let looking = (round + 1) % params.look_every == 0;
        if looking {
            judge.look(operator, &mut eigenspace, &dual_sum, round + 1, rng, &mut best, &drops);
            let (value, rows) = primal.quick_point(operator, &best.weights, &drops);
            if value > lower {
                (lower, point) = (value, Some(rows));
            }
        }
        let progress = Progress { iteration: round + 1, upper: best.estimate, lower };
        if observer.observe(&progress).is_break() {
            stop = StopReason::Interrupted;
            break;
        }
        if looking && judge.stalled(best.estimate, params.stall) {
            stop = StopReason::Stalled;
            break;
        }
    }
    let iterations = primal.len();
    let drops = || observer.drops_step() || observer.is_late();
    judge.look(operator, &mut eigenspace, &dual_sum, iterations, rng, &mut best, &drops);
    // The value of the winner once more, and sharply: it decides at which scale the proof is attempted.
    let warm = eigenspace.solve_until(operator, &best.weights, LAST_SHARP, LAST_PRODUCTS, &drops);
    let uncertainty = warm.residual / warm.value.abs().max(f64::MIN_POSITIVE);
    let start = random_vector(n, rng);
    let fresh = eigenspace.solve_afresh(operator, &best.weights, LAST_SHARP, LAST_PRODUCTS, start, &drops);
    best.estimate = warm.value.max(fresh) * best.weights.iter().sum::<f64>();
    let (value, rows) = primal.quick_point(operator, &best.weights, &drops);
    let point = point.filter(|_| value < lower).unwrap_or(rows);
    let averaged_dual = dual_sum.iter().map(|sum| sum / iterations as f64).collect();
    let products = eigenspace.products;
    let Best { estimate, weights, choice } = best;
    Ok(MwuSolution {
        weights,
        choice,
        estimate,
        uncertainty,
        averaged_dual,
        primal,
        point,
        iterations,
        products,
        stop,
    })
}

/// A start vector with standard normal entries.
pub(crate) fn random_vector(n: usize, rng: &mut impl Rng) -> Vec<f64> {
    (0..n).map(|_| StandardNormal.sample(rng)).collect()
}

/// α_i ← α_i·exp(step·(v_i² − 1)), then Σα = n. The largest exponent is taken out first: it cancels in the
/// normalisation, and nothing overflows.
fn update(weights: &mut [f64], squares: &[f64], step: f64) {
    let largest = squares.iter().copied().fold(0.0, f64::max);
    for (alpha, square) in weights.iter_mut().zip(squares) {
        *alpha *= (step * (square - largest)).exp();
    }
    let scale = weights.len() as f64 / weights.iter().sum::<f64>();
    weights.iter_mut().for_each(|alpha| *alpha *= scale);
}

/// Compares the duals at the looks. Values met in the rounds come from one warm space, which may have missed an
/// eigenvector, and a value that is too low would win unjustly: so the winner of a look is valued again from a fresh
/// random start, and what that finds is added to the warm space.
#[derive(Default)]
struct Judge {
    /// λα̃ with the least value since the last look.
    iterate: Option<(f64, Vec<f64>)>,
    /// (rounds, sum of duals) at each look.
    sums: Vec<(usize, Vec<f64>)>,
    /// The best estimate at each look.
    bests: Vec<f64>,
}

impl Judge {
    fn iterate(&mut self, value: f64, dual: Vec<f64>) {
        if self.iterate.as_ref().is_none_or(|(least, _)| value < *least) {
            self.iterate = Some((value, dual));
        }
    }

    #[allow(clippy::too_many_arguments)] // one call site in the loop, one after it
    fn look(
        &mut self,
        operator: &Operator<'_>,
        eigenspace: &mut TopEigenspace,
        dual_sum: &[f64],
        rounds: usize,
        rng: &mut impl Rng,
        best: &mut Best,
        drops: &dyn Fn() -> bool,
    ) {
        let mut duals = vec![(DualChoice::Average, dual_sum.iter().map(|sum| sum / rounds as f64).collect())];
        if let Some((from, early)) = self.sums.iter().rfind(|(from, _)| 2 * from <= rounds) {
            let late = (rounds - from) as f64;
            let dual = dual_sum.iter().zip(early).map(|(sum, early)| (sum - early) / late);
            duals.push((DualChoice::LateAverage, dual.collect()));
        }
        let averages = duals.into_iter().map(|(choice, dual): (_, Vec<f64>)| {
            // Weights must stay positive; late sums may cancel to zero.
            let dual: Vec<f64> = dual.into_iter().map(|y| y.max(f64::MIN_POSITIVE)).collect();
            let top = eigenspace.solve_until(operator, &dual, SHARP, LOOK_PRODUCTS, drops);
            (top.value * dual.iter().sum::<f64>(), choice, dual)
        });
        let averages: Vec<_> = averages.collect();
        let iterate = self.iterate.take().map(|(value, dual)| (value, DualChoice::Iterate, dual));
        let valued = averages.into_iter().chain(iterate);
        if let Some((value, choice, dual)) = valued.min_by(|a, b| a.0.total_cmp(&b.0))
            && value < best.estimate
        {
            let fresh = eigenspace.solve_afresh(
                operator,
                &dual,
                SHARP,
                LOOK_PRODUCTS,
                random_vector(dual.len(), rng),
                drops,
            );
            best.offer(value.max(fresh * dual.iter().sum::<f64>()), choice, &dual);
        }
        self.sums.push((rounds, dual_sum.to_vec()));
        // No later half begins before half of the rounds so far: forget all but the last of those.
        let needed = self.sums.iter().rposition(|(from, _)| 2 * from <= rounds).unwrap_or(0);
        self.sums.drain(..needed);
    }

    fn stalled(&mut self, best: f64, improvement: f64) -> bool {
        self.bests.push(best);
        let earlier = self.bests.len().checked_sub(9).map(|at| self.bests[at]);
        improvement > 0.0 && earlier.is_some_and(|earlier| earlier - best < improvement * best.abs())
    }
}
