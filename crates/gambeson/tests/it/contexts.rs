use crate::support::{context, interruptible};
use gambeson::{
    BoundParams, Context, DataParams, Error, Event, FitParams, MemoryLimit, RandomKind, Target, bound, fit,
    open_data, open_matrix, random_matrix,
};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};

/// Two at once: one refuses what the other reads, and neither sees the threads of the other.
#[test]
fn contexts_know_nothing_of_each_other() {
    let home = tempfile::tempdir().expect("a folder");
    let path = home.path().join("m.mtx");
    let entries = (1..=2000).map(|i| format!("{i} {i} 1.5\n")).collect::<Vec<_>>().concat();
    let text = format!("%%MatrixMarket matrix coordinate real symmetric\n2000 2000 2000\n{entries}");
    std::fs::write(&path, text).expect("written");
    let (small, large) = (context(1, MemoryLimit::bytes(10_000)), context(3, MemoryLimit::NONE));
    std::thread::scope(|scope| {
        let refused = scope.spawn(|| open_matrix(&small, &path).map(|_| ()));
        let read = scope.spawn(|| open_matrix(&large, &path).map(|_| ()));
        let refused = refused.join().expect("no panic").expect_err("too large").to_string();
        assert!(refused.contains("memory limit"), "{refused}");
        read.join().expect("no panic").expect("read");
    });
    // Both at work at the same time, each on the threads of its own.
    let both = Arc::new(Barrier::new(2));
    let seen = [1, 3].map(|threads| {
        let (both, inside) = (Arc::clone(&both), Arc::new(AtomicUsize::new(0)));
        let count = Arc::clone(&inside);
        let context = context(threads, MemoryLimit::NONE).with_observer(move |event| {
            if let Event::Solve(_) = event
                && inside.swap(rayon::current_num_threads(), Ordering::SeqCst) == 0
            {
                both.wait();
            }
            ControlFlow::Continue(())
        });
        let work = std::thread::spawn(move || {
            let matrix = random_matrix(&context, RandomKind::QuadraticProgram, 20, 1).expect("a matrix");
            bound(&context, matrix, &BoundParams::default()).expect("a bound").bracket.upper.value()
        });
        (work, count)
    });
    let found = seen.map(|(work, count)| (work.join().expect("no panic"), count.load(Ordering::SeqCst)));
    assert_eq!((found[0].1, found[1].1), (1, 3));
    assert_eq!(found[0].0.to_bits(), found[1].0.to_bits(), "results do not depend on the number of threads");
}

/// A context whose interrupt another thread sets after a while, and how long after that the work still takes.
pub(crate) fn interrupted(after: Duration, work: impl FnOnce(&Context)) -> Duration {
    let (stop, context) = interruptible(context(2, MemoryLimit::NONE));
    std::thread::scope(|scope| {
        let timer = scope.spawn(|| {
            std::thread::sleep(after);
            stop.store(true, Ordering::SeqCst);
            Instant::now()
        });
        work(&context);
        timer.join().expect("no panic").elapsed()
    })
}

/// Generous, for loaded machines; [`Context::with_interrupt`] has figures of an idle one.
pub(crate) const SOON: Duration = Duration::from_secs(10);

#[test]
fn an_interrupt_ends_a_bound_with_what_is_proven() {
    let spent = interrupted(Duration::from_millis(300), |context| {
        let matrix = random_matrix(context, RandomKind::QuadraticProgram, 1500, 1).expect("a matrix");
        let params = BoundParams { gap: Some(1e-12), ..BoundParams::default() };
        let found = bound(context, matrix, &params).expect("a bound");
        assert!(found.fell_short && found.bracket.upper.value() >= found.bracket.lower.value());
    });
    assert!(spent < SOON, "{spent:?}");
}

#[test]
fn an_interrupt_ends_a_fit_with_what_is_proven() {
    let data = open_data(&context(2, MemoryLimit::NONE), "fashion", &DataParams::train()).expect("built in");
    let spent = interrupted(Duration::from_millis(1500), |context| {
        match fit(context, &data, &FitParams::new(Target::Error(0.004))) {
            Ok(found) => assert!(found.stopped && found.record().kappa >= 1.0),
            Err(error) => assert!(error.is_stopped(), "{error}"), // while moments were added up
        }
    });
    assert!(spent < SOON, "{spent:?}");
}

#[test]
fn errors_name_fields() {
    let context = context(1, MemoryLimit::NONE);
    let matrix = random_matrix(&context, RandomKind::QuadraticProgram, 5, 1).expect("a matrix");
    let params = BoundParams { gap: Some(-1.0), ..BoundParams::default() };
    let error = bound(&context, matrix, &params).expect_err("no gap");
    assert_eq!(error.field(), Some("gap"));
    assert!(matches!(error, Error::Bound { .. }), "{error:?}");
}
