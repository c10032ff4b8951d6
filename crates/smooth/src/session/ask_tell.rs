//! One input, classified batch by batch.

use super::buffer::{Batch, Buffer};
use super::params::SessionParams;
use super::pipeline::{Pipeline, Shared};
use crate::classifier::NONE;
use crate::smoother::{
    Certification, Counts, DrawPurpose, InputError, Prediction, Procedure, SessionError, SmoothingPlan,
};
use gambeson_checker::StatisticsError;
use std::sync::Arc;

/// Makes the sessions of one plan, which share their memory.
#[derive(Clone, Debug)]
pub struct SessionFactory {
    shared: Arc<Shared>,
}

impl SessionFactory {
    /// For the classifier of a plan.
    pub fn new(plan: impl Into<Arc<SmoothingPlan>>, params: SessionParams) -> Self {
        Self { shared: Arc::new(Shared::new(plan.into(), params)) }
    }

    /// How the classifier is smoothed.
    pub fn plan(&self) -> &Arc<SmoothingPlan> {
        &self.shared.plan
    }

    /// CERTIFY for input `index`, given by its numbers.
    ///
    /// Panics unless there are as many numbers as the space takes.
    pub fn certify(&self, index: u64, input: &[f64]) -> Result<Session<Certification>, InputError> {
        Ok(self.start(Procedure::certify(self.plan(), index, input)?))
    }

    /// The same, going on from the counts of an earlier run: see [`Smoother::extend`](crate::smoother::Smoother::extend).
    ///
    /// Panics unless there are as many numbers as the space takes.
    pub fn extend(
        &self,
        index: u64,
        input: &[f64],
        counts: (Counts, Counts),
    ) -> Result<Session<Certification>, InputError> {
        Ok(self.start(Procedure::extend(self.plan(), index, input, counts)?))
    }

    /// PREDICT for input `index`, given by its numbers.
    ///
    /// Panics unless there are as many numbers as the space takes.
    pub fn predict(&self, index: u64, input: &[f64]) -> Result<Session<Prediction>, InputError> {
        Ok(self.start(Procedure::predict(self.plan(), index, input)?))
    }

    /// The counts of all selection draws and of `trials` estimation draws, whatever the rule.
    ///
    /// Panics unless there are as many numbers as the space takes.
    pub fn draws(
        &self,
        index: u64,
        input: &[f64],
        trials: u64,
    ) -> Result<Session<(Counts, Counts)>, InputError> {
        Ok(self.start(Procedure::draws(self.plan(), index, input, trials)?))
    }

    pub(super) fn start<T>(&self, procedure: Procedure<T>) -> Session<T> {
        let counts = Counts::new(self.plan().classifier().classes);
        let pipeline = Pipeline::new(&self.shared, &procedure);
        Session { procedure, pipeline, asked: None, counts, failed: None }
    }
}

/// One input, with its draws classified batch by batch: [`ask`](Self::ask) for a batch, [`tell`](Self::tell) the classes,
/// until there is none; then [`finish`](Self::finish). A session that is dropped before has no result.
pub struct Session<T> {
    procedure: Procedure<T>,
    pipeline: Pipeline,
    /// The batch that the caller has.
    asked: Option<Buffer>,
    /// Counts since the last look.
    counts: Counts,
    /// Why draws are missing from the counts: then there is no result any more.
    failed: Option<SessionError>,
}

impl<T> Session<T> {
    /// The next batch to be classified, or the same again while it is not. `None`: there are enough.
    pub fn ask(&mut self) -> Result<Option<Batch<'_>>, SessionError> {
        self.not_failed()?;
        if self.procedure.next().is_none() {
            self.pipeline.stop();
            return Ok(None);
        }
        let Some(buffer) = self.asked.take().or_else(|| self.pipeline.next()) else {
            self.failed = Some(SessionError::NoiseLost);
            return Err(SessionError::NoiseLost);
        };
        let (index, selection) = (self.procedure.index(), self.selection(buffer.decided().len()));
        Ok(Some(self.asked.insert(buffer).batch(index, selection)))
    }

    /// How many of the next draws choose the class.
    fn selection(&self, count: usize) -> usize {
        match self.procedure.next() {
            Some((DrawPurpose::Selection, _)) => {
                let left = self.procedure.most().0 - self.counts.draws();
                usize::try_from(left).map_or(count, |left| left.min(count))
            }
            _ => 0,
        }
    }

    /// The classes of all rows of the batch, padding left out: below the number of classes, or [`NONE`].
    pub fn tell(&mut self, classes: &[u32]) -> Result<(), SessionError> {
        let Some(buffer) = &self.asked else { return Err(SessionError::NoBatch) };
        let rows = buffer.decided().len();
        if classes.len() != rows {
            return Err(SessionError::Length { rows, answers: classes.len() });
        }
        let most = self.procedure.plan().classifier().classes;
        let unknown = |&class: &u32| class != NONE && class as usize >= most;
        if let Some(row) = classes.iter().position(unknown) {
            return Err(SessionError::Class { row, class: classes[row], classes: most });
        }
        let Some(buffer) = self.asked.take() else { return Err(SessionError::NoBatch) };
        let counted = self.count(classes, buffer.decided());
        self.pipeline.give(buffer);
        counted.map_err(|error| {
            let error = SessionError::Statistics(error);
            self.failed = Some(error.clone());
            error
        })
    }

    fn not_failed(&self) -> Result<(), SessionError> {
        self.failed.clone().map_or(Ok(()), Err)
    }

    /// Look by look: what was drawn beyond the one that settles it is left out.
    fn count(&mut self, classes: &[u32], decided: &[bool]) -> Result<(), StatisticsError> {
        let mut answers = classes.iter().zip(decided);
        while let (Some(look), Some((_, done))) = (self.procedure.next_look(), self.procedure.next()) {
            let left = look - done - self.counts.draws();
            let part = answers.by_ref().take(usize::try_from(left).unwrap_or(usize::MAX));
            part.for_each(|(&class, &decided)| self.counts.count(class, decided));
            if self.counts.draws() < look - done {
                break;
            }
            self.procedure.add(&self.counts)?;
            self.counts = Counts::new(self.counts.classes.len());
        }
        Ok(())
    }

    /// What follows from the counts.
    pub fn finish(self) -> Result<T, SessionError> {
        self.not_failed()?;
        if self.procedure.next().is_some() {
            return Err(SessionError::Unfinished);
        }
        Ok(self.procedure.conclude()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classifier::ClassifierSpec;
    use crate::smoother::SmoothingParams;
    use crate::space::Space;
    use gambeson_checker::NoiseLevel;

    /// Whatever is answered: one of each kind is left open, and one has no class.
    #[test]
    fn undecided_draws_count_for_no_class() {
        let noise = NoiseLevel::new(1.0).expect("a level");
        let params = SmoothingParams {
            selection: 10,
            estimation: 90,
            ..SmoothingParams::new(noise).expect("parameters")
        };
        let spec = ClassifierSpec { classes: 2, dim: 3, input_map: None };
        let plan = SmoothingPlan::new(spec, Space::identity(3), params).expect("it fits");
        let sessions = SessionFactory::new(plan, SessionParams::default());
        let mut session = sessions.certify(0, &[0.0; 3]).expect("an input");
        let mut first = true;
        while session.ask().expect("a batch").is_some() {
            let buffer = session.asked.as_mut().expect("asked");
            let mut classes = vec![1; buffer.decided().len()];
            if std::mem::take(&mut first) {
                buffer.leave_open(2);
                buffer.leave_open(30);
                (classes[2], classes[31]) = (0, NONE);
            }
            session.tell(&classes).expect("one class per row");
        }
        let Certification { selection, estimation, .. } = session.finish().expect("a result");
        let counts =
            |classes: [u64; 2], none, undecided| Counts { classes: classes.to_vec(), none, undecided };
        assert_eq!(selection, counts([0, 9], 0, 1));
        assert_eq!(estimation, counts([0, 88], 1, 1));
    }
}
