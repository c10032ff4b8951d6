//! The live line of an attack: inputs perturbed, then predicted.

use crate::progress::live_line;
use gambeson::progress::{AttackProgress, AttackStage};
use gambeson::{Context, Event};
use indicatif::ProgressBar;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

/// One line per stage.
#[derive(Clone, Default)]
pub(crate) struct LiveAttack(Arc<Mutex<Option<(AttackStage, ProgressBar)>>>);

impl LiveAttack {
    /// Attacks in a context that is seen on the line.
    pub(crate) fn observed<T>(context: &Context, work: impl FnOnce(&Context) -> T) -> T {
        let live = Self::default();
        let seen = live.clone();
        let attacked = work(&context.clone().with_observer(move |event| {
            if let Event::Attack(progress) = event {
                seen.update(**progress);
            }
            ControlFlow::Continue(())
        }));
        if let Some((_, bar)) = &*live.0.lock().unwrap_or_else(PoisonError::into_inner) {
            bar.finish_and_clear();
        }
        attacked
    }

    fn update(&self, AttackProgress { stage, done, total }: AttackProgress) {
        let mut line = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let bar = match line.take() {
            Some((shown, bar)) if shown == stage => bar,
            _ => {
                let what = if stage == AttackStage::Perturb { "attacked" } else { "predicted" };
                let template = format!("{{spinner}} {{elapsed}} [{{bar:20}}] {{pos}} of {{len}} {what}");
                live_line(Some(total as u64), &template)
            }
        };
        bar.set_position(done as u64);
        *line = Some((stage, bar));
    }
}
