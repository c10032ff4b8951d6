//! The live line on stderr, messages beside it, and Ctrl-C.
//!
//! There is one live line at a time. It ends before column 80, is never wrapped, and is cleared when its work
//! ends, on an error and on Ctrl-C; messages are printed above it.

mod line;

use crate::hints::{explained, hint};
use crate::screen;
use gambeson::{Context, Event, Note};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::Write;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// Set by the first Ctrl-C; a second one ends the program.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);
/// Signals this close together are one: `timeout` signals its child and then the group the child is in.
const ONE_SIGNAL: Duration = Duration::from_millis(500);
/// The line on the screen, if any.
static LIVE: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// From now on the first Ctrl-C prints `message` and is reported by [`interrupted`].
pub(crate) fn catch_interrupts(message: &'static str) {
    // Without a handler Ctrl-C ends the program as usual: not worth an error.
    let mut first: Option<Instant> = None;
    let _ = ctrlc::set_handler(move || match first {
        None => {
            first = Some(Instant::now());
            INTERRUPTED.store(true, Ordering::SeqCst);
            say(message);
        }
        Some(first) if first.elapsed() < ONE_SIGNAL => {}
        #[allow(clippy::exit)] // asked twice
        Some(_) => {
            clear();
            std::process::exit(130);
        }
    });
}

/// Whether Ctrl-C was pressed.
pub(crate) fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::SeqCst)
}

/// Prints what is worth saying; observers hand every event on to it.
pub(crate) fn note(event: &Event<'_>) {
    if let Event::Note(note) = event {
        say(&note.to_string());
    }
}

/// A message on stderr, above the live line.
pub(crate) fn say(message: &str) {
    above(|| print(&screen::message(&screen::shown_lines(message))));
}

/// A context whose notes are printed.
pub(crate) fn noted(context: &Context) -> Context {
    context.clone().with_observer(|event| {
        if let Event::Note(note) = event {
            let hint = match note {
                Note::LogSkipped { reason } => hint(&**reason),
                _ => None,
            };
            say(&hint.map_or_else(|| note.to_string(), |hint| format!("{note}; {hint}")));
        }
        ControlFlow::Continue(())
    })
}

/// Takes the live line off the screen and prints the error that ends the program.
pub(crate) fn fail(error: &anyhow::Error) {
    clear();
    let text = screen::shown_lines(&explained(error));
    print(&screen::message(&format!("{} {text}", screen::error())));
}

/// Prints what is wrong with the command line.
pub(crate) fn complain(text: &clap::builder::StyledStr) {
    let text = if screen::coloured(&std::io::stderr()) { text.ansi().to_string() } else { text.to_string() };
    print(&screen::message(text.trim_end()));
}

/// A stderr that is full or closed loses the message, and nothing else.
fn print(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// Prints something while the live line is off the screen.
pub(crate) fn above<T>(print: impl FnOnce() -> T) -> T {
    let line = live().clone();
    match line {
        Some(line) if !line.is_finished() => line.suspend(print),
        _ => print(),
    }
}

/// Takes the live line off the screen for good.
fn clear() {
    if let Some(line) = live().take() {
        line.finish_and_clear();
    }
}

fn live() -> std::sync::MutexGuard<'static, Option<ProgressBar>> {
    LIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A live line, hidden if stderr is not a terminal. Messages that may be long are set with [`show`].
pub(crate) fn live_line(length: Option<u64>, template: &str) -> ProgressBar {
    clear();
    let target = if screen::draws(&std::io::stderr()) {
        ProgressDrawTarget::term_like_with_hz(Box::new(line::Line::default()), 8)
    } else {
        ProgressDrawTarget::hidden()
    };
    let bar = ProgressBar::with_draw_target(length, target);
    set_template(&bar, template);
    bar.enable_steady_tick(Duration::from_millis(200));
    *live() = Some(bar.clone());
    bar
}

/// Shows a message, cut so that the line ends before the edge of 80 columns.
pub(crate) fn show(bar: &ProgressBar, message: &str) {
    const MOST: usize = 66;
    let cut: String = screen::shown(message).chars().take(MOST).collect();
    bar.set_message(cut);
}

/// Another template for the line.
pub(crate) fn set_template(bar: &ProgressBar, template: &str) {
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style.progress_chars("=> "));
    }
}

/// A time for people: `45 s`, `3 min`, `2.5 h`, `4 days`.
pub(crate) fn duration(seconds: f64) -> String {
    match seconds {
        seconds if seconds < 1.0 => "less than 1 s".to_owned(),
        seconds if seconds < 100.0 => format!("{seconds:.0} s"),
        seconds if seconds < 100.0 * 60.0 => format!("{:.0} min", seconds / 60.0),
        seconds if seconds < 48.0 * 3600.0 => format!("{:.1} h", seconds / 3600.0),
        seconds => format!("{:.0} days", seconds / 86400.0),
    }
}

/// A bracket that is being narrowed, on a line that begins with the solver: a matrix that is refused has none.
#[derive(Clone, Default)]
pub(crate) struct LiveBracket {
    bar: Arc<OnceLock<ProgressBar>>,
}

impl LiveBracket {
    fn message(&self, message: &str) {
        show(self.bar.get_or_init(|| live_line(None, "{spinner} {elapsed} {msg}")), message);
    }

    pub(crate) fn finish(&self) {
        self.bar.get().into_iter().for_each(ProgressBar::finish_and_clear);
    }

    /// A context whose solver is seen on the line.
    pub(crate) fn observed(&self, context: &Context) -> Context {
        let (live, ends) = (self.clone(), Mutex::new((f64::NEG_INFINITY, f64::INFINITY)));
        context.clone().with_observer(move |event| {
            if let Event::Solve(progress) = event {
                // What is shown never widens.
                let mut ends = ends.lock().unwrap_or_else(PoisonError::into_inner);
                *ends = (ends.0.max(progress.lower), ends.1.min(progress.upper));
                let (lower, upper) = *ends;
                let bracket = if lower > 0.0 {
                    format!("[{lower:.7}, {upper:.7}] gap {:.1e}", (upper / lower - 1.0).max(0.0))
                } else {
                    format!("at most {upper:.7}")
                };
                live.message(&format!("iteration {}, estimate {bracket}", progress.iteration));
            }
            ControlFlow::Continue(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_short() {
        let times = [0.2, 45.4, 150.0, 9000.0, 400_000.0].map(duration);
        assert_eq!(times, ["less than 1 s", "45 s", "2 min", "2.5 h", "5 days"]);
    }
}
