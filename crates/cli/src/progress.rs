//! The live line on stderr, and the ways to stop a run.

use gambeson_lowrank::observe::Observer;
use gambeson_lowrank::sdp::progress::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Set by the first Ctrl-C; a second one ends the program.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);
/// Signals this close together are one: `timeout` signals its child and then the group the child is in.
const ONE_SIGNAL: Duration = Duration::from_millis(500);

/// From now on the first Ctrl-C says `message` and is told by [`interrupted`].
pub(crate) fn catch_interrupts(message: &'static str) {
    // Without a handler Ctrl-C ends the program as ever: not worth an error.
    let mut first: Option<Instant> = None;
    let _ = ctrlc::set_handler(move || match first {
        None => {
            first = Some(Instant::now());
            INTERRUPTED.store(true, Ordering::SeqCst);
            say(message);
        }
        Some(first) if first.elapsed() < ONE_SIGNAL => {}
        #[allow(clippy::exit)] // asked twice
        Some(_) => std::process::exit(130),
    });
}

/// Whether Ctrl-C was pressed.
pub(crate) fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::SeqCst)
}

/// One line on stderr.
pub(crate) fn say(line: &str) {
    #[allow(clippy::print_stderr)]
    {
        eprintln!("{line}");
    }
}

/// A live line, hidden where stderr is no terminal.
pub(crate) fn live_line(length: Option<u64>, template: &str) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(length, ProgressDrawTarget::stderr_with_hz(8));
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// A bracket that is being narrowed.
pub(crate) struct LiveBracket {
    bar: ProgressBar,
    /// Best estimates so far: what is shown never widens.
    upper: f64,
    lower: f64,
}

impl LiveBracket {
    pub(crate) fn new() -> Self {
        let bar = live_line(None, "{spinner} {elapsed} {msg}");
        Self { bar, upper: f64::INFINITY, lower: f64::NEG_INFINITY }
    }

    pub(crate) fn message(&self, message: &str) {
        self.bar.set_message(message.to_owned());
    }

    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Observer<Progress> for LiveBracket {
    fn observe(&mut self, progress: &Progress) -> ControlFlow<()> {
        self.upper = self.upper.min(progress.upper);
        self.lower = self.lower.max(progress.lower);
        let (lower, upper) = (self.lower, self.upper);
        let bracket = if lower > 0.0 {
            format!("[{lower:.7}, {upper:.7}] gap {:.1e}", (upper / lower - 1.0).max(0.0))
        } else {
            format!("at most {upper:.7}")
        };
        self.bar.set_message(format!("iteration {}: {bracket} (estimates)", progress.iteration));
        if interrupted() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}
