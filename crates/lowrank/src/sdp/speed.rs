//! How fast this machine factorises, and how busy it is: learned from small factorisations, all of them the same.
//!
//! **Problem.** What a proof takes has to be known before it is begun, on machines that others use at the same time. One
//! measurement of a few milliseconds says little: another process may have had the processor in between.
//!
//! **Method.** The same factorisation several times, on one thread. The fastest was not disturbed, so it shows what the
//! machine can do. The mean of the latest ones shows what is left of that at present: their ratio is the slowdown.
//!
//! **Guarantee.** None: predictions, which steer and prove nothing.

use gambeson_checker::{Domain, PreparedForm, Quadratic};
use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

/// Rows of the matrix that is factorised: less than a millisecond's work, so that some of it is left undisturbed.
const ROWS: usize = 384;
/// How many times faster large matrices are factorised, whose blocks are larger and whose memory costs less in comparison.
const LARGE: f64 = 1.6;
/// Measurements at first.
const FIRST: usize = 12;
/// Measurements at a later moment.
const AGAIN: usize = 6;
/// Measurements that tell how busy the machine is at present.
const PRESENT: usize = 24;
/// Multiplications per second of a thread that are assumed where nothing was measured.
const ASSUMED: f64 = 1e10;
/// Rows from which on a factorisation keeps all threads busy; smaller ones leave some of them waiting.
const WIDE: f64 = 4000.0;

/// Clock and yardstick of a run: those of the machine, or of a test.
#[derive(Clone)]
pub(crate) struct Timer {
    /// Seconds since some moment.
    pub(crate) now: Arc<dyn Fn() -> f64 + Send + Sync>,
    /// Seconds that the small factorisation takes now.
    pub(crate) probe: Arc<dyn Fn() -> f64 + Send + Sync>,
}

impl Timer {
    /// Those of the machine.
    pub(crate) fn of_machine() -> Self {
        let started = Instant::now();
        let entries = OnceLock::new();
        let probe = move || {
            let entries: &Vec<f64> = entries.get_or_init(|| {
                let mut entries = vec![1e-6; ROWS * ROWS];
                entries.iter_mut().step_by(ROWS + 1).for_each(|diagonal| *diagonal = 1.0);
                entries
            });
            let matrix = Quadratic::Dense { entries, dim: ROWS };
            let Ok(form) = PreparedForm::new(matrix, Domain::Cube, 1) else { return f64::INFINITY };
            let started = Instant::now();
            match form.bound(&[2.0; ROWS]) {
                Ok(_) => started.elapsed().as_secs_f64(),
                Err(_) => f64::INFINITY,
            }
        };
        Self { now: Arc::new(move || started.elapsed().as_secs_f64()), probe: Arc::new(probe) }
    }
}

/// What is known of the machine.
#[derive(Clone, Debug, Default)]
pub(crate) struct Speed {
    /// Seconds of the fastest measurement.
    best: Option<f64>,
    /// Seconds of the latest ones.
    latest: VecDeque<f64>,
}

impl Speed {
    /// Measured a few times, but once only where that takes more than `most` seconds.
    pub(crate) fn measured(timer: &Timer, most: f64) -> Self {
        let mut speed = Self::default();
        speed.measure(timer, FIRST, most);
        speed
    }

    /// Measures a few more times, within about so many seconds.
    pub(crate) fn refresh(&mut self, timer: &Timer, most: f64) {
        self.measure(timer, AGAIN, most);
    }

    fn measure(&mut self, timer: &Timer, times: usize, most: f64) {
        let started = (timer.now)();
        for time in 0..times {
            if time > 0 && (timer.now)() - started > most {
                break;
            }
            let seconds = (timer.probe)();
            if !(seconds > 0.0 && seconds.is_finite()) {
                continue; // a clock that stands still, or no proof: nothing is learned
            }
            self.best = Some(self.best.map_or(seconds, |best| best.min(seconds)));
            self.latest.push_back(seconds);
            if self.latest.len() > PRESENT {
                self.latest.pop_front();
            }
        }
    }

    /// Seconds of a dense factorisation of so many rows on so many threads where nothing else runs.
    pub(crate) fn dense_seconds(&self, rows: usize, threads: usize) -> f64 {
        self.product_seconds((rows as f64).powi(3) / 6.0, rows, threads)
    }

    /// The same for so many multiplications in blocks that go over so many rows.
    pub(crate) fn product_seconds(&self, multiplications: f64, rows: usize, threads: usize) -> f64 {
        let own = (ROWS as f64).powi(3) / 6.0;
        let rate = self.best.map_or(ASSUMED, |seconds| LARGE * own / seconds);
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let others = threads.clamp(1, processors) as f64 - 1.0;
        multiplications / (rate * (1.0 + others * (rows as f64 / WIDE).min(1.0)))
    }

    /// How many times longer work takes at present than where nothing else runs; at least 1.
    pub(crate) fn slowdown(&self) -> f64 {
        match self.best {
            Some(best) => self.latest.iter().sum::<f64>() / self.latest.len() as f64 / best,
            None => 1.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// A timer whose measurements are these, over and over.
    fn timer(seconds: &'static [f64]) -> Timer {
        let next = AtomicUsize::new(0);
        let probe = move || seconds[next.fetch_add(1, Ordering::Relaxed) % seconds.len()];
        Timer { now: Arc::new(|| 0.0), probe: Arc::new(probe) }
    }

    #[test]
    fn the_best_measurement_is_the_speed_and_the_mean_the_slowdown() {
        let (quiet, busy) = (timer(&[0.001]), timer(&[0.030, 0.001, 0.004, 0.005]));
        let [quiet, busy] = [quiet, busy].map(|timer| Speed::measured(&timer, 1.0));
        for threads in [1, 2] {
            assert_eq!(quiet.dense_seconds(4000, threads), busy.dense_seconds(4000, threads));
        }
        let one = quiet.dense_seconds(10 * ROWS, 1);
        assert!((LARGE * one - 1.0).abs() < 1e-12, "a thousand times the work: {one}");
        assert!((quiet.slowdown() - 1.0).abs() < 1e-9, "{}", quiet.slowdown());
        assert!((busy.slowdown() - 10.0).abs() < 1e-9, "{}", busy.slowdown());
    }

    #[test]
    fn the_present_counts() {
        let mut speed = Speed::measured(&timer(&[0.001]), 1.0);
        let busy = timer(&[0.003]);
        (0..4).for_each(|_| speed.refresh(&busy, 1.0));
        assert!((speed.slowdown() - 3.0).abs() < 1e-9, "{}", speed.slowdown());
        (0..4).for_each(|_| speed.refresh(&timer(&[0.001]), 1.0));
        assert!((speed.slowdown() - 1.0).abs() < 1e-9, "{}", speed.slowdown());
        assert!((LARGE * speed.dense_seconds(10 * ROWS, 1) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn measuring_ends_where_it_takes_long() {
        let clock = Arc::new(AtomicUsize::new(0));
        let (own, other) = (Arc::clone(&clock), Arc::clone(&clock));
        let now = Arc::new(move || own.load(Ordering::Relaxed) as f64);
        let probe = Arc::new(move || other.fetch_add(1, Ordering::Relaxed) as f64 + 1.0);
        let timer = Timer { now, probe };
        let mut speed = Speed::measured(&timer, 2.5);
        assert_eq!(clock.load(Ordering::Relaxed), 3, "until more than 2.5 s have passed");
        speed.refresh(&timer, 0.0);
        assert_eq!(clock.load(Ordering::Relaxed), 4, "once in any case");
    }

    #[test]
    fn clocks_that_stand_still_teach_nothing() {
        let speed = Speed::measured(&timer(&[0.0, f64::INFINITY, f64::NAN]), 1.0);
        assert_eq!((speed.slowdown(), speed.best), (1.0, None));
        assert!(speed.dense_seconds(1000, 1) > 0.0);
    }

    #[test]
    fn a_machine_has_a_speed() {
        let timer = Timer::of_machine();
        let speed = Speed::measured(&timer, 1.0);
        assert!(speed.best.is_some() && speed.slowdown() >= 1.0, "{speed:?}");
        let before = (timer.now)();
        assert!(speed.dense_seconds(4000, 2) <= speed.dense_seconds(4000, 1) && (timer.now)() >= before);
    }
}
