//! How long training took: by the clock, and in seconds of all processors together, which other work on the machine changes
//! little.

use serde::{Deserialize, Serialize};
use std::time::Instant;

/// Ticks per second in `/proc`, on every Linux.
const TICKS: f64 = 100.0;

/// Time spent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spent {
    /// Seconds by the clock.
    pub seconds: f64,
    /// Seconds of all processors; none where the system did not say, at least for a part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processor_seconds: Option<f64>,
}

impl Default for Spent {
    fn default() -> Self {
        Self { seconds: 0.0, processor_seconds: Some(0.0) }
    }
}

/// Measures what is spent from now on.
pub(super) struct Clock {
    started: Instant,
    processor: Option<f64>,
}

impl Clock {
    pub(super) fn start() -> Self {
        Self { started: Instant::now(), processor: processor_seconds() }
    }

    /// Adds what was spent since the start, and starts again.
    pub(super) fn add_to(&mut self, spent: &mut Spent) {
        let now = Self::start();
        spent.seconds += (now.started - self.started).as_secs_f64();
        let passed = now.processor.zip(self.processor).map(|(now, then)| now - then);
        spent.processor_seconds = spent.processor_seconds.zip(passed).map(|(before, passed)| before + passed);
        *self = now;
    }
}

/// Of this process so far: user and system time, the fourteenth and fifteenth field after the name.
fn processor_seconds() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name may hold anything, parentheses too.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_ascii_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<u64>().ok();
    Some((ticks()? + ticks()?) as f64 / TICKS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn work_takes_processor_time() {
        let mut clock = Clock::start();
        let mut spent = Spent::default();
        let mut sum = 0_u64;
        while spent.processor_seconds.is_some_and(|seconds| seconds < 0.05) {
            sum = (0..1_000_000).fold(sum, |sum, i| std::hint::black_box(sum ^ i));
            clock.add_to(&mut spent);
        }
        assert!(spent.seconds > 0.0, "{spent:?}");
    }
}
