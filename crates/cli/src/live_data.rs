//! The live line of long work with data: what is being read, fetched or added up, how much of it, how fast.

use crate::progress::{duration, interrupted, live_line, set_template};
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
    /// Does work in a context whose data are seen on the line.
    pub(crate) fn observed<T>(context: &Context, work: impl FnOnce(&Context) -> T) -> T {
        Self::named("", context, work)
    }

    /// The same, with a name on the line.
    pub(crate) fn named<T>(name: &str, context: &Context, work: impl FnOnce(&Context) -> T) -> T {
        let live = Self::new(name);
        let bar = live.bar.clone();
        let live = Mutex::new(live);
        let result = work(&context.clone().with_observer(move |event| {
            let mut live = live.lock().unwrap_or_else(PoisonError::into_inner);
            match event {
                Event::Load(step) => return live.observe(step),
                Event::Fit(_) => live.fits(),
                _ => {}
            }
            ControlFlow::Continue(())
        }));
        bar.finish_and_clear();
        result
    }

    fn new(name: &str) -> Self {
        let bar = live_line(None, "{spinner} {elapsed}");
        Self { bar, name: name.to_owned(), shown: None }
    }

    /// A projection is fitted to what was read.
    fn fits(&mut self) {
        if self.shown.take().is_some() {
            set_template(&self.bar, "{spinner} {elapsed} fitting a projection");
        }
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
