//! Estimates of a call: number of runs, networks to train and certify, and their time on this machine.
//!
//! One training step is timed per shape of network. The time of a draw in certification is derived from it.

use crate::error::ReproduceError;
use crate::event::{ReproduceEvent, Watch};
use crate::family::{Act, with_plan};
use crate::name::ObjectName;
use crate::params::ReproduceParams;
use crate::plan::{CertifyWork, Planned, RecordOf, Runs};
use crate::record::{OWN, Setup, read};
use crate::rendered::Rendered;
use gambeson::{Context, TrainParams};
use gambeson_learn::train::TrainSpec;
use gambeson_learn::train::run::NETWORK;
use gambeson_learn::train::spec::{FitMethodName, NoiseSpec, Objective};
use serde::Serialize;
use std::collections::BTreeMap;

/// Time of a draw over the time of an input in training with noise alone. The records of table-networks have 0.19 to 0.42.
const FORWARD: f64 = 0.42;

/// Draws that select a class, by the default of `certify`.
const SELECTION: u64 = 100;

/// Estimate of a call of [`reproduce`](crate::reproduce()).
#[derive(Clone, Debug, Serialize)]
pub struct Estimate {
    /// The table or figure.
    #[serde(serialize_with = "by_name")]
    pub name: ObjectName,
    /// Runs of the plan.
    pub runs: usize,
    /// Runs without a record.
    pub missing: usize,
    /// Networks that lack a record of training or certification.
    pub networks: Vec<NetworkEstimate>,
}

/// A network to train or certify.
#[derive(Clone, Debug, Serialize)]
pub struct NetworkEstimate {
    /// Its folder within the folder of runs.
    pub run: String,
    /// Its name in the experiment.
    pub network: String,
    /// Whether a finished run exists, made for this or another figure.
    pub trained: bool,
    /// Seconds of training; `None` if they could not be measured.
    pub training_seconds: Option<f64>,
    /// Seconds of certification; `None` if they could not be measured.
    pub certification_seconds: Option<f64>,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde's signature
fn by_name<S: serde::Serializer>(name: &ObjectName, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(name.name())
}

/// Measured times, shared by several calls so that nothing is measured twice.
#[derive(Debug, Default)]
pub struct Timings {
    measured: BTreeMap<String, Option<Timing>>,
}

/// Times of networks of one shape.
#[derive(Clone, Copy, Debug)]
struct Timing {
    seconds_epoch: f64,
    /// Time of one input in training.
    seconds_input: f64,
    test_inputs: usize,
}

/// Estimates a call without running it. Finished networks are looked up in the folder of runs.
pub fn estimate(
    context: &Context,
    params: &ReproduceParams,
    timings: &mut Timings,
    watch: &dyn Fn(&ReproduceEvent<'_>),
) -> Result<Estimate, ReproduceError> {
    with_plan(context, params, watch, Look { context, params, timings, watch })
}

struct Look<'a> {
    context: &'a Context,
    params: &'a ReproduceParams,
    timings: &'a mut Timings,
    watch: &'a Watch<'a>,
}

impl Act for Look<'_> {
    type Outcome = Estimate;

    fn act<P: Planned>(
        mut self,
        plan: Vec<P>,
        _: impl FnOnce(&Runs<P>) -> Rendered,
    ) -> Result<Estimate, ReproduceError> {
        let path = self.params.records();
        let mut records: Vec<RecordOf<P>> = Vec::new();
        if path.exists() {
            records = read(&path, OWN, self.context.memory_limit(), self.watch)?;
            let setup = Setup::here(self.context.threads());
            records.retain(|record| record.setup.goes_with(&setup, P::TIMES));
        }
        let runs = Runs::new(plan, records);
        let mut networks: Vec<NetworkEstimate> = Vec::new();
        for (planned, _) in runs.iter().filter(|(_, record)| record.is_none()) {
            let Some(work) = planned.network_work() else { continue };
            let at = networks.iter().position(|network| network.run == work.run).unwrap_or_else(|| {
                networks.push(NetworkEstimate {
                    run: work.run.clone(),
                    network: planned.label().to_owned(),
                    trained: self.params.runs.join(&work.run).join(NETWORK).exists(),
                    training_seconds: Some(0.0),
                    certification_seconds: Some(0.0),
                });
                networks.len() - 1
            });
            let network = &mut networks[at];
            match work.certified {
                None if network.trained => {}
                None => network.training_seconds = self.training(work.spec),
                Some(certified) if certified.kept.exists() => {}
                Some(certified) => {
                    network.certification_seconds = self.certification(work.spec, &certified);
                }
            }
        }
        let (runs, missing) = (runs.iter().count(), runs.missing());
        Ok(Estimate { name: self.params.name, runs, missing, networks })
    }
}

impl Look<'_> {
    fn training(&mut self, spec: &TrainSpec) -> Option<f64> {
        let timing = self.timing(&shape(spec))?;
        Some(timing.seconds_epoch * spec.optimiser.epochs as f64)
    }

    fn certification(&mut self, spec: &TrainSpec, work: &CertifyWork) -> Option<f64> {
        let mut plain = shape(spec);
        plain.objective = Objective::Gaussian { draws: 1 };
        let timing = self.timing(&plain)?;
        let draws = timing.test_inputs.div_ceil(work.every) as f64 * (work.n + SELECTION) as f64;
        Some(draws * timing.seconds_input * FORWARD)
    }

    /// The times of a shape, measured on first use. A failure is reported once.
    fn timing(&mut self, shape: &TrainSpec) -> Option<Timing> {
        let key = shape.to_toml();
        if let Some(known) = self.timings.measured.get(&key) {
            return *known;
        }
        let measured = self.measure(shape);
        if let Err(reason) = &measured {
            (self.watch)(&ReproduceEvent::NotTimed { data: &shape.data.name, reason });
        }
        let timing = measured.ok();
        self.timings.measured.insert(key, timing);
        timing
    }

    fn measure(&self, shape: &TrainSpec) -> Result<Timing, gambeson::Error> {
        let setup = gambeson::train::prepare(self.context, shape, &TrainParams::default())?;
        let (inputs, test) = (setup.train.len(), setup.test.as_ref().map_or(0, gambeson::Dataset::len));
        let cost = gambeson::train::cost(self.context, setup)?;
        let seconds_epoch = cost.record().seconds_epoch;
        Ok(Timing { seconds_epoch, seconds_input: seconds_epoch / inputs as f64, test_inputs: test })
    }
}

/// The spec reduced to what its times depend on.
fn shape(spec: &TrainSpec) -> TrainSpec {
    let mut shape = TrainSpec { seed: 0, ..spec.clone() };
    shape.optimiser.epochs = 1;
    if let Some(noise) = &mut shape.noise {
        *noise = NoiseSpec { sigma: Some(1.0), base: None, lambda: None };
    }
    // Algorithm 3 takes minutes and yields as many components.
    if let Some(fit) = shape.projection.as_mut().and_then(|projection| projection.fit.as_mut())
        && fit.method == FitMethodName::Algorithm3
    {
        fit.method = FitMethodName::Pca;
    }
    if let Objective::SmoothAdv(own) | Objective::Algorithm1(own) = &mut shape.objective {
        own.epsilon = 1.0;
        own.warm_up = 0.0;
    }
    shape
}
