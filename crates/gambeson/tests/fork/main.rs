//! A forked child: the parent's context refuses, a new one works. In a program without the test harness, whose threads
//! would not exist in the child.
#![allow(unsafe_code)] // fork

#[cfg(not(unix))]
fn main() {}

#[cfg(unix)]
fn main() {
    use gambeson::{BoundParams, Context, ContextParams, Error, RandomKind, bound, random_matrix};
    use std::time::{Duration, Instant};

    let solve = |context: &Context| -> Result<f64, Error> {
        let matrix = random_matrix(context, RandomKind::QuadraticProgram, 80, 1)?;
        Ok(bound(context, matrix, &BoundParams::default())?.bracket.upper.value())
    };
    let parent = Context::new(ContextParams::default()).expect("threads");
    let before = solve(&parent).expect("a bound");
    // SAFETY: there is no other thread of ours that holds a lock; the pool's threads wait.
    let child = unsafe { libc::fork() };
    assert!(child >= 0, "forked");
    if child == 0 {
        let refused = matches!(solve(&parent), Err(Error::Forked));
        let own = Context::new(ContextParams::default()).and_then(|own| solve(&own));
        let good = refused && own.is_ok_and(|own| own.to_bits() == before.to_bits());
        // SAFETY: ends the child without running what the parent registered.
        unsafe { libc::_exit(i32::from(!good)) }
    }
    let started = Instant::now();
    let mut status = 0;
    // SAFETY: a child of ours, and a place for its status.
    while unsafe { libc::waitpid(child, &raw mut status, libc::WNOHANG) } == 0 {
        assert!(started.elapsed() < Duration::from_secs(30), "the child hangs");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(status, 0, "the child's context works and the parent's refuses");
    assert_eq!(solve(&parent).expect("a bound").to_bits(), before.to_bits());
}
