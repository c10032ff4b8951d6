//! What a classifier answers without noise.

use super::params::ClassifyParams;
use super::run::input;
use crate::context::Context;
use crate::error::Error;
use crate::event::Event;
use gambeson_data::dataset::Dataset;
use gambeson_learn::runtime::Runtime;
use gambeson_learn::smoothed::SmoothedModel;
use gambeson_smooth::classifier::{Classifier, NONE};
use gambeson_smooth::clean::{Classified, classify_inputs};
use serde::Serialize;
use std::ops::ControlFlow;
use std::time::Instant;

/// Answers without noise.
#[derive(Clone, Debug)]
pub struct CleanAnswers {
    /// The inputs asked about.
    pub indices: Vec<u64>,
    /// The class of each; none where the classifier computes no number.
    pub classes: Vec<Option<u32>>,
    summary: ClassifyRecord,
}

impl CleanAnswers {
    /// What it says, as data.
    pub fn record(&self) -> &ClassifyRecord {
        &self.summary
    }
}

impl Serialize for CleanAnswers {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.summary.serialize(serializer)
    }
}

/// What `predict --clean --json` prints. Keys are only ever added.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassifyRecord {
    /// Inputs asked about.
    pub images: usize,
    /// Answers that are the label; null without labels.
    pub correct: Option<usize>,
    /// Their share of all inputs.
    pub accuracy: Option<f64>,
    /// Inputs by the class answered; those without a class are in none.
    pub answers: Vec<usize>,
    /// What computed the network; null for other classifiers.
    pub runtime: Option<&'static str>,
    /// Wall-clock seconds.
    pub seconds: f64,
    /// Inputs per second.
    pub rate: f64,
}

/// Asks the classifier itself, once per input and without noise; `None` if an interrupt or the time limit ended it.
pub fn classify<C: Classifier>(
    context: &Context,
    model: &SmoothedModel<C>,
    data: &Dataset,
    params: &ClassifyParams,
) -> Result<Option<CleanAnswers>, Error> {
    context.run(|| {
        let indices: Vec<u64> = params.inputs.of(data.len() as u64)?.indices().collect();
        let (started, total) = (Instant::now(), indices.len());
        let mut observer = |classified: &Classified| {
            let told = context.tell(&Event::Classify { inputs: total, classified: classified.inputs });
            let late = params.time_limit.is_some_and(|limit| started.elapsed() >= limit);
            if late { ControlFlow::Break(()) } else { told }
        };
        let (space, values) = (model.space_for(data), |index: u64| input(data, index).values);
        let answers =
            classify_inputs(&model.classifier, &space, params.batch, &indices, values, &mut observer)
                .map_err(|reason| Error::Classify(Box::new(reason)))?;
        let seconds = started.elapsed().as_secs_f64();
        Ok(answers.map(|answers| CleanAnswers::new(model, data, indices, &answers, seconds)))
    })
}

impl CleanAnswers {
    fn new<C: Classifier>(
        model: &SmoothedModel<C>,
        data: &Dataset,
        indices: Vec<u64>,
        answers: &[u32],
        seconds: f64,
    ) -> Self {
        let mut by_class = vec![0; model.classifier.classes()];
        for answer in answers {
            by_class.get_mut(*answer as usize).into_iter().for_each(|count| *count += 1);
        }
        let correct = data.labels().map(|labels| {
            let label = |index: u64| usize::try_from(index).ok().and_then(|index| labels.get(index));
            let right = |(index, answer): &(&u64, &u32)| {
                label(**index).is_some_and(|label| u32::from(*label) == **answer)
            };
            indices.iter().zip(answers).filter(right).count()
        });
        let summary = ClassifyRecord {
            images: answers.len(),
            correct,
            accuracy: correct.map(|correct| correct as f64 / answers.len() as f64),
            answers: by_class,
            runtime: model.runtime.map(Runtime::name),
            seconds,
            rate: answers.len() as f64 / seconds.max(1e-9),
        };
        let classes = answers.iter().map(|&answer| (answer != NONE).then_some(answer)).collect();
        Self { indices, classes, summary }
    }
}
