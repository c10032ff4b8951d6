//! What callers set for themselves: two of them in one process have limits and interrupts of their own.

use crate::support::quadratic;
use gambeson_lowrank::MemoryLimit;
use gambeson_lowrank::matrix_file::{self, ParseError};
use gambeson_lowrank::observe::Interrupt;
use gambeson_lowrank::safetensors::Element;
use gambeson_lowrank::sdp::bracket::{BoundParams, Solver, Stop, bracket};
use gambeson_lowrank::sdp::instance;
use gambeson_lowrank::sdp::progress::Progress;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

#[test]
fn one_caller_reads_what_another_refuses() {
    fn array<T: Element>(shape: &[usize], values: &[T]) -> Vec<u8> {
        matrix_file::npy::to_bytes(shape, values)
    }
    let bytes = array(&[100, 100], &vec![1.0; 10_000]);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let refused =
                    matrix_file::parse(&bytes, MemoryLimit::bytes(79_999)).expect_err("80,000 bytes");
                let told = matches!(refused, ParseError::OutOfMemory { entries: 10_000, .. });
                assert!(told, "{refused}");
                assert!(matrix_file::parse(&bytes, MemoryLimit::bytes(80_000)).is_ok());
                assert!(matrix_file::parse(&bytes, MemoryLimit::NONE).is_ok());
            });
        }
    });
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("x.npy");
    std::fs::write(&path, &bytes).expect("written");
    let length = bytes.len() as u64;
    assert_eq!(MemoryLimit::bytes(length).read_file(&path).expect("within the limit"), bytes);
    let refused = MemoryLimit::bytes(length - 1).read_file(&path).expect_err("a byte too much");
    assert_eq!(refused.kind(), std::io::ErrorKind::FileTooLarge);
}

/// A flag that another thread sets ends the run, and what is returned is proven.
#[test]
fn an_interrupt_ends_search_and_proof() {
    let problem = quadratic(&instance::quadratic_program(300, 1, MemoryLimit::NONE).expect("it fits"));
    for solver in [Solver::BurerMonteiro, Solver::MultiplicativeWeights] {
        let flag = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&flag);
        let params = BoundParams {
            threads: 1,
            solver,
            gap: 1e-14, // never reached
            interrupt: Interrupt::new(move || seen.load(Ordering::Relaxed)),
            ..BoundParams::default()
        };
        // Set by another thread, once the solver is under way.
        let (begun, waiting) = std::sync::mpsc::channel();
        let setter = std::thread::spawn(move || {
            waiting.recv().expect("the solver begins");
            flag.store(true, Ordering::Relaxed);
        });
        let mut observer = move |progress: &Progress| {
            if progress.iteration >= 3 {
                let _ = begun.send(()); // nobody waits any more after the first
            }
            ControlFlow::Continue(())
        };
        let found = bracket(&problem, &params, &mut observer).expect("a bracket");
        setter.join().expect("it was set");
        assert_eq!(found.stop, Stop::Interrupted);
        assert!(found.lower.value() <= found.upper.value() && found.gap().is_finite());
    }
}

/// With enough of it the best weights found are proven.
#[test]
fn grace_lets_a_proof_end() {
    let problem = quadratic(&instance::quadratic_program(200, 1, MemoryLimit::NONE).expect("it fits"));
    let flag = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&flag);
    let interrupt = Interrupt::new(move || seen.load(Ordering::Relaxed));
    let grace = Duration::from_secs(600);
    let params = BoundParams { threads: 1, gap: 1e-14, interrupt, grace, ..BoundParams::default() };
    let mut observer = |progress: &Progress| {
        if progress.iteration >= 40 {
            flag.store(true, Ordering::Relaxed);
        }
        ControlFlow::Continue(())
    };
    let found = bracket(&problem, &params, &mut observer).expect("a bracket");
    assert!(found.stop == Stop::Interrupted && found.gap() < 0.3, "{}", found.gap());
}

/// Without any grace the bound that needs no factorisation is what is left, and it is proven too.
#[test]
fn without_grace_a_proof_is_dropped_at_once() {
    let problem = quadratic(&instance::quadratic_program(300, 2, MemoryLimit::NONE).expect("it fits"));
    let flag = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&flag);
    let interrupt = Interrupt::new(move || seen.load(Ordering::Relaxed));
    let params =
        BoundParams { threads: 1, gap: 1e-14, interrupt, grace: Duration::ZERO, ..BoundParams::default() };
    let mut observer = |progress: &Progress| {
        if progress.iteration >= 3 {
            flag.store(true, Ordering::Relaxed);
        }
        ControlFlow::Continue(())
    };
    let dropped = bracket(&problem, &params, &mut observer).expect("a bracket");
    assert_eq!(dropped.stop, Stop::Interrupted);
    let whole = bracket(&problem, &BoundParams { threads: 1, gap: 1e-4, ..BoundParams::default() }, &mut ());
    let whole = whole.expect("a bracket");
    assert!(
        dropped.upper.value() >= whole.sdp_lower.value() && dropped.upper.value() > 1.5 * whole.upper.value()
    );
}
