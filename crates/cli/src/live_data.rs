//! The live line of long work with data: what is being read, fetched or added up, how much of it, how fast.

use crate::progress::{duration, interrupted, live_line, note, set_template};
use crate::screen;
use gambeson::{Context, Event};
use gambeson_data::progress::{LoadProgress, Stage};
use gambeson_lowrank::observe::Observer;
use indicatif::ProgressBar;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

/// Ctrl-C stops the work.
pub(crate) struct LiveData {
    bar: ProgressBar,
    /// What the work is about; may be empty.
    name: String,
    /// The stage on the line, and where data come from.
    shown: Option<(Stage, Option<Arc<str>>)>,
}

impl LiveData {
    /// Does long work behind the line and clears it.
    pub(crate) fn watch<T>(work: impl FnOnce(&mut dyn Observer<LoadProgress>) -> T) -> T {
        Self::named("", work)
    }

    /// Does work in a context whose data are seen on the line.
    pub(crate) fn observed<T>(context: &Context, work: impl FnOnce(&Context) -> T) -> T {
        Self::watch_shared(|live| {
            let live = live.clone();
            let observed = context.clone().with_observer(move |event| {
                note(event);
                match event {
                    Event::Load(step) => live.lock().unwrap_or_else(PoisonError::into_inner).observe(step),
                    _ => ControlFlow::Continue(()),
                }
            });
            work(&observed)
        })
    }

    fn watch_shared<T>(work: impl FnOnce(&Arc<Mutex<Self>>) -> T) -> T {
        let bar = live_line(None, "{spinner} {elapsed}");
        let live = Arc::new(Mutex::new(Self { bar: bar.clone(), name: String::new(), shown: None }));
        let result = work(&live);
        bar.finish_and_clear();
        result
    }

    /// The same, with a name on the line.
    pub(crate) fn named<T>(name: &str, work: impl FnOnce(&mut dyn Observer<LoadProgress>) -> T) -> T {
        let bar = live_line(None, "{spinner} {elapsed}");
        let mut live = Self { bar, name: name.to_owned(), shown: None };
        let result = work(&mut live);
        live.bar.finish_and_clear();
        result
    }
}

impl Observer<LoadProgress> for LiveData {
    fn observe(&mut self, step: &LoadProgress) -> ControlFlow<()> {
        let shown = Some((step.stage, step.provider.clone()));
        if self.shown != shown {
            self.shown = shown;
            let (words, counts) = match step.stage {
                Stage::Read => ("reading", "[{bar:20}]"),
                Stage::Decode => ("decoding", "[{bar:20}] {pos} of {len} files"),
                Stage::Wait => ("waiting for", ""),
                Stage::Download => ("", ""),
                Stage::Unpack => ("unpacking", "[{bar:20}]"),
                Stage::Convert => ("converting", "[{bar:20}] {pos} of {len} files"),
                Stage::Write => ("writing", "[{bar:20}]"),
                Stage::Sum => ("computing moments", "[{bar:20}] {pos} of {len} samples"),
            };
            set_template(&self.bar, &format!("{{spinner}} {{elapsed}} {words} {{prefix}} {counts} {{msg}}"));
            let from = step.provider.as_deref().map_or(String::new(), |provider| format!(" from {provider}"));
            self.bar.set_prefix(screen::shown(&format!("{}{from}", self.name)));
            self.bar.set_message("");
        }
        if let Some(total) = step.total {
            self.bar.set_length(total);
            self.bar.set_position(step.done);
        }
        if step.stage == Stage::Download {
            self.bar.set_message(download(step.done, step.total, step.rate.unwrap_or(0.0)));
        }
        if interrupted() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// `57 of 139 MB  4.1 MB/s  20 s left`; the rate is in bytes per second.
fn download(done: u64, total: Option<u64>, rate: f64) -> String {
    let mega = |bytes: f64| bytes / 1e6;
    let size = total.map_or(String::new(), |total| format!(" of {:.0}", mega(total as f64)));
    let left = total.filter(|_| rate > 0.0).map_or(String::new(), |total| {
        format!("  {} left", duration(total.saturating_sub(done) as f64 / rate))
    });
    format!("{:.0}{size} MB  {:.1} MB/s{left}", mega(done as f64), mega(rate))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_download_shows_size_rate_and_time_left() {
        let line = download(57_000_000, Some(139_000_000), 4.1e6);
        assert_eq!(line, "57 of 139 MB  4.1 MB/s  20 s left");
        assert_eq!(download(57_000_000, None, 0.0), "57 MB  0.0 MB/s");
    }
}
