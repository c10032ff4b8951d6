//! Runs by a clock of their own: what happens does not depend on the machine.

use super::budget::TimeBudget;
use super::upper::FeasibleWeights;
use crate::linalg::matrix::Matrix;
use crate::memory::MemoryLimit;
use crate::observe::Interrupt;
use crate::sdp::bracket::{BoundParams, Bracket, DroppedEntries, Solver, Stop, solve_and_prove};
use crate::sdp::instance;
use crate::sdp::problem::{MatrixRole, OperatorNorm, Problem};
use crate::sdp::progress::Progress;
use crate::sdp::speed::{Speed, Timer};
use gambeson_checker::Domain;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A clock that is set by hand, and measurements that say what they are told to.
#[derive(Clone, Default)]
struct Hand {
    microseconds: Arc<AtomicU64>,
    /// What passes with every look at the clock.
    tick: u64,
}

impl Hand {
    fn ticking(tick: f64) -> Self {
        Self { tick: microseconds(tick), ..Self::default() }
    }

    fn pass(&self, seconds: f64) {
        self.microseconds.fetch_add(microseconds(seconds), Ordering::Relaxed);
    }

    fn now(&self) -> f64 {
        self.microseconds.load(Ordering::Relaxed) as f64 / 1e6
    }

    /// With measurements of these seconds, depending on the time.
    fn timer(&self, probe: impl Fn(f64) -> f64 + Send + Sync + 'static) -> Timer {
        let (own, other) = (self.clone(), self.clone());
        let now = move || {
            own.pass(own.tick as f64 / 1e6);
            own.now()
        };
        Timer { now: Arc::new(now), probe: Arc::new(move || probe(other.now())) }
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a few seconds
fn microseconds(seconds: f64) -> u64 {
    (1e6 * seconds).round() as u64
}

fn limited(seconds: f64) -> BoundParams {
    let time_limit = Some(Duration::from_secs_f64(seconds));
    BoundParams { threads: 1, gap: 1e-13, time_limit, ..BoundParams::default() } // a gap that is never reached
}

/// Seconds of the small factorisation on a machine where one of so many rows takes `seconds`.
fn probe_of(seconds: f64, rows: usize) -> f64 {
    let hand = Hand::default();
    let unit = Speed::measured(&hand.timer(|_| 1.0), 1.0);
    seconds / unit.dense_seconds(rows, 1)
}

const LIMIT: f64 = 8.0;
const ROWS: usize = 300;

fn matrix() -> Problem {
    let matrix = instance::quadratic_program(ROWS, 1, MemoryLimit::NONE).expect("it fits");
    let (norm, reading) = (OperatorNorm::Quadratic, MatrixRole::Plain);
    Problem::new(Matrix::Dense(matrix), norm, reading, Domain::Cube, 1).expect("a form")
}

/// A run in which a look at the clock takes ten milliseconds, and how long it took.
fn run(params: &BoundParams, probe: impl Fn(f64) -> f64 + Send + Sync + 'static) -> (Bracket, f64) {
    let hand = Hand::ticking(0.01);
    let found = solve_and_prove(&matrix(), params, hand.timer(probe), &mut ()).expect("a bracket");
    (found, hand.now())
}

/// The bound without a limit, to seven digits.
fn truth() -> f64 {
    let params = BoundParams { threads: 1, gap: 1e-7, ..BoundParams::default() };
    run(&params, |_| 0.001).0.upper.value()
}

/// Whatever a machine says of itself, the proof is tried, and a proof that is quick is followed by better ones.
#[test]
fn a_prediction_does_not_cost_the_bound() {
    let truth = truth();
    for seconds in [1e-6, 0.5, 2.5, 10.0] {
        let probe = probe_of(seconds, ROWS);
        let (found, took) = run(&limited(LIMIT), move |_| probe);
        assert_eq!((found.stop, &found.paid), (Stop::TimeLimit, &DroppedEntries::Nothing), "{seconds}");
        let excess = found.upper.value() / truth - 1.0;
        assert!(excess < 1e-3, "predicted {seconds} s: {excess} above the bound");
        assert!(took <= 1.1 * LIMIT, "predicted {seconds} s: {took} s");
    }
}

/// A proof that too much time was kept for is a beginning: its bound is kept, and improved with what is left.
#[test]
fn a_bound_proven_early_is_improved() {
    let truth = truth();
    let (limit, probe) = (3.0, probe_of(2.0, ROWS));
    let (found, took) = run(&limited(limit), move |_| probe);
    let excess = found.upper.value() / truth - 1.0;
    assert!(excess < 1e-3 && took <= 1.1 * limit, "{excess} above the bound after {took} s");
}

/// A machine that looks fifty times slower at first, as under a load that goes away, or comes.
#[test]
fn a_load_that_comes_or_goes_does_not_cost_the_bound() {
    let truth = truth();
    let (quiet, busy) = (probe_of(0.05, ROWS), probe_of(2.5, ROWS));
    for (before, after) in [(busy, quiet), (quiet, busy)] {
        let (found, took) = run(&limited(LIMIT), move |now| if now < 2.0 { before } else { after });
        let excess = found.upper.value() / truth - 1.0;
        assert!(excess < 1e-3 && took <= 1.1 * LIMIT, "{excess} above the bound after {took} s");
    }
}

/// Algorithm 2 is told in time as well, and its weights are proven.
#[test]
fn multiplicative_weights_end_in_time() {
    let truth = truth();
    for seconds in [0.5, 10.0] {
        let probe = probe_of(seconds, ROWS);
        let params = BoundParams { solver: Solver::MultiplicativeWeights, ..limited(LIMIT) };
        let (found, took) = run(&params, move |_| probe);
        let excess = found.upper.value() / truth - 1.0;
        assert!(excess < 0.1 && took <= 1.1 * LIMIT, "{excess} above the bound after {took} s");
    }
}

/// Where no proof fits the row sums are left, and they come soon after the limit.
#[test]
fn row_sums_are_the_last_resort() {
    let hand = Hand::ticking(0.01);
    // A step takes as long as the whole limit, and nothing is left for a proof.
    let slow = hand.clone();
    let mut observer = move |_: &Progress| {
        slow.pass(LIMIT);
        ControlFlow::Continue(())
    };
    let timer = hand.timer(|_| 0.001);
    let found = solve_and_prove(&matrix(), &limited(LIMIT), timer, &mut observer).expect("a bracket");
    assert_eq!((found.stop, &found.paid), (Stop::TimeLimit, &DroppedEntries::All));
    assert!(found.upper.value() >= found.lower.value());
}

/// Without a limit nothing is measured, and nothing asks what time it is in order to stop.
#[test]
fn without_a_limit_no_time_counts() {
    let params = BoundParams { threads: 1, gap: 1e-6, ..BoundParams::default() };
    let bits = |tick: f64, probe: f64| {
        let hand = Hand::ticking(tick);
        let found =
            solve_and_prove(&matrix(), &params, hand.timer(move |_| probe), &mut ()).expect("a bracket");
        (found.upper.value().to_bits(), found.lower.value().to_bits(), found.sdp_lower.value().to_bits())
    };
    assert_eq!(bits(0.0, 0.001), bits(1e4, 1e4));
}

/// A limit that is far away changes no bit.
#[test]
fn a_limit_far_away_changes_no_bit() {
    let params = |time_limit| BoundParams { threads: 1, gap: 1e-6, time_limit, ..BoundParams::default() };
    let bits = |time_limit, probe: f64| {
        let (found, _) = run(&params(time_limit), move |_| probe);
        (found.stop, found.upper.value().to_bits(), found.sdp_lower.value().to_bits(), found.iterations)
    };
    let limit = Some(Duration::from_secs(10_000));
    assert_eq!(bits(limit, 0.001), bits(None, 0.001));
    assert_eq!(bits(limit, 0.1), bits(None, 0.001));
}

/// A budget of ten seconds whose clock is set by hand.
fn budget(hand: &Hand, probe: impl Fn(f64) -> f64 + Send + Sync + 'static) -> TimeBudget {
    let budget = TimeBudget::start(&limited(10.0), hand.timer(probe));
    budget.speed(|_| Speed::default());
    budget.begin_solving();
    budget
}

/// The reserve follows the machine: it grows as the machine slows down.
#[test]
fn the_solver_ends_earlier_on_a_busy_machine() {
    let ends_at = |slowdown: f64| {
        let hand = Hand::default();
        let budget = budget(&hand, move |now| if now < 0.5 { 1e-6 } else { 1e-6 * slowdown });
        budget.expect_proof(1.0);
        while !budget.ends_solver() {
            hand.pass(0.01);
            budget.step();
        }
        assert!(!budget.is_late(), "there is time for a last look");
        hand.now()
    };
    let ends = [1.0, 2.0, 4.0, 40.0].map(ends_at);
    // 9 s, less 1.25 or 1.5 times the time of the proof, less twenty steps; not before a fifth of the limit.
    for (end, expected) in ends.into_iter().zip([7.55, 5.8, 2.8, 1.8]) {
        assert!((end - expected).abs() < 0.1, "{ends:?}");
    }
}

/// What a proof took is what the next one is expected to take, whatever was predicted.
#[test]
fn a_proof_that_was_made_is_the_measure_of_the_next() {
    for (took, another) in [(0.5, true), (4.0, false)] {
        let hand = Hand::default();
        let budget = budget(&hand, |_| 1e-6);
        budget.expect_proof(100.0);
        while !budget.ends_solver() {
            hand.pass(0.01);
            budget.step();
        }
        assert!(hand.now() < 2.1, "a fifth of the limit: {}", hand.now());
        hand.pass(took);
        budget.proof_took(took);
        assert_eq!(budget.allows_another_round(), another, "after {took} s");
        // 10 s, less 1.25 · 0.5 s, less sixteen steps for the lower ends.
        if another {
            hand.pass(9.215 - 0.01 - hand.now());
            assert!(!budget.is_late() && budget.allows_proof());
            hand.pass(0.02);
            assert!(budget.is_late() && !budget.ends_proof());
            hand.pass(0.72); // sixteen steps and a tenth of a second
            assert!(budget.ends_proof() && !budget.allows_proof() && !budget.ends_search());
            hand.pass(0.16);
            assert!(budget.ends_search());
        }
    }
}

/// Whoever interrupts waits for a proof, and for no look at the dual or value of a point that leaves no time for it.
#[test]
fn after_an_interrupt_the_proof_comes_first() {
    for (proof, late) in [(0.2, false), (0.3, true)] {
        let hand = Hand::default();
        let params = BoundParams { interrupt: Interrupt::new(|| true), ..BoundParams::default() };
        let budget = TimeBudget::start(&params, hand.timer(|_| 1e-6));
        budget.begin_solving();
        budget.expect_proof(proof);
        for _ in 0..9 {
            hand.pass(0.005);
            budget.step();
        }
        assert!(budget.is_interrupted() && !budget.excludes_proof());
        // Of 0.35 s a look takes twenty steps, the value of a point sixteen.
        assert_eq!(budget.is_late(), late, "a proof of {proof} s");
        assert!(budget.allows_proof() && !budget.excludes_point());
        hand.pass(0.29);
        assert!(budget.is_late() && !budget.allows_proof() && budget.excludes_point());
        assert!(!budget.ends_proof());
        hand.pass(0.07);
        assert!(budget.ends_proof());
    }
}

/// In a hurry the first proof is to pass: it is as careful as the weights are uncertain.
#[test]
fn margins_cover_what_is_uncertain_in_a_hurry() {
    let margins = |gap, uncertainty| FeasibleWeights { weights: vec![1.0; 10], gap, uncertainty }.margins();
    assert_eq!(margins(1e-3, None), [0.05e-3, 0.2e-3, 1e-3, 1e-2]);
    assert_eq!(margins(1e-3, Some(0.0)), [5e-5, 5e-4, 5e-3]);
    assert_eq!(margins(1e-3, Some(0.01)), [0.01, 0.1, 1.0]);
}
