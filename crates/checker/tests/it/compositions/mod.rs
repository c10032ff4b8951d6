//! The public types of the checker composed at random, as no caller would: in any order, again and again, with values of
//! other matrices and other counts. Whatever comes out as proven is judged in exact arithmetic.
//!
//! Every case is a session with a few matrices, questions or inputs. Calls are drawn from a list; each has a judge.
//! `GAMBESON_EXACT_CASES=200000` runs more sessions than the default of 2000 for each of the three subjects.

/// Errors of encoding.
mod errors;
/// Forms, factors and bases, and the numbers that follow from their bounds.
mod forms;
/// Limits and radii.
mod radii;

use std::sync::atomic::{AtomicU64, Ordering};

/// How often something happened, by name: calls and proofs that were judged.
#[derive(Default)]
struct Counts(std::sync::Mutex<std::collections::BTreeMap<&'static str, u64>>);

impl Counts {
    fn add(&self, name: &'static str) {
        *self.0.lock().expect("no judge panics while it counts").entry(name).or_default() += 1;
    }

    /// Prints all and asks that each of these was judged at least so often.
    #[allow(clippy::print_stdout)] // the counts are half of the result: proofs of nothing would be sound, too
    fn expect(self, sessions: u64, names: &[&str], least: u64) {
        let counts = self.0.into_inner().expect("all are done");
        let total: u64 = counts.values().sum();
        println!("{sessions} sessions, {total} results judged: {counts:?}");
        for name in names {
            let found = counts.get(name).copied().unwrap_or(0);
            assert!(found >= least, "{name}: {found} only, of {sessions} sessions");
        }
    }
}

/// Says which session panicked.
struct Named(u64);

impl Drop for Named {
    #[allow(clippy::print_stderr)] // what a failure is repeated by
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("session {}", self.0);
        }
    }
}

/// Runs the sessions on all threads; seed i is session i.
fn sessions(run: impl Fn(u64, &Counts) + Sync) -> (u64, Counts) {
    let sessions: u64 =
        std::env::var("GAMBESON_EXACT_CASES").map_or(2000, |count| count.parse().expect("a number"));
    let (counts, next) = (Counts::default(), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= sessions {
                        break;
                    }
                    let _named = Named(seed);
                    run(seed, &counts);
                }
            });
        }
    });
    (sessions, counts)
}
