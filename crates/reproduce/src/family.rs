//! From the name of a table or figure to its plan, for every family.

use crate::error::ReproduceError;
use crate::event::Watch;
use crate::experiment::{Source, load};
use crate::network::stage::Folders;
use crate::network::{NetworkExperiment, NetworkResults, PictureExperiment, PictureResults};
use crate::objects::{Family, included_text, object};
use crate::params::ReproduceParams;
use crate::plan::{Planned, Runs};
use crate::projection::spectrum::{SpectrumExperiment, SpectrumResults};
use crate::projection::{FitExperiment, FitResults, SoundFolders};
use crate::record::{PEERS, read};
use crate::rendered::Rendered;
use crate::sdp::SdpExperiment;
use crate::sdp::results::Results;
use gambeson::Context;

/// An action on a plan: running it, or estimating it.
pub(crate) trait Act {
    type Outcome;

    /// `render` makes tables and figure from all records.
    fn act<P: Planned>(
        self,
        plan: Vec<P>,
        render: impl FnOnce(&Runs<P>) -> Rendered,
    ) -> Result<Self::Outcome, ReproduceError>;
}

/// Reads the experiment of a call, plans it, and acts on the plan.
pub(crate) fn with_plan<A: Act>(
    context: &Context,
    params: &ReproduceParams,
    watch: &Watch<'_>,
    act: A,
) -> Result<A::Outcome, ReproduceError> {
    let (memory, name, scale) = (context.memory_limit(), params.name.name(), params.scale);
    let object = object(params.name);
    let source = Source { folder: params.experiments.as_deref(), included: included_text, memory };
    let folders = Folders { runs: params.runs.clone(), results: params.results.clone() };
    match object.family {
        Family::Sdp(render) => {
            reads_no_sound(params)?;
            let experiment: SdpExperiment = load(name, object.toml, scale, source)?;
            let peers = params.results.join("peers-sdp.jsonl");
            let peers = if peers.exists() { read(&peers, PEERS, memory, watch)? } else { Vec::new() };
            let plan = experiment.plan();
            act.act(plan, |runs| render(&Results::new(&experiment, runs, peers)))
        }
        Family::Fit(render) => {
            let experiment: FitExperiment = load(name, object.toml, scale, source)?;
            if !experiment.has_sound() {
                reads_no_sound(params)?;
            }
            let sound = SoundFolders {
                given: params.data.clone(),
                reference: params.reference_data.clone(),
                made: params.runs.clone(),
            };
            let plan = experiment.plan(&sound);
            act.act(plan, |runs| render(&FitResults { experiment: &experiment, runs }))
        }
        Family::Spectrum(render) => {
            reads_no_sound(params)?;
            let experiment: SpectrumExperiment = load(name, object.toml, scale, source)?;
            act.act(experiment.plan(), |runs| render(&SpectrumResults { experiment: &experiment, runs }))
        }
        Family::Networks(render) => {
            reads_no_sound(params)?;
            let experiment: NetworkExperiment = load(name, object.toml, scale, source)?;
            let plan = experiment.plan(&folders);
            act.act(plan, |runs| render(&NetworkResults { experiment: &experiment, runs }))
        }
        Family::Pictures(render) => {
            reads_no_sound(params)?;
            let experiment: PictureExperiment = load(name, object.toml, scale, source)?;
            let plan = experiment.plan(&folders);
            act.act(plan, |runs| render(&PictureResults { experiment: &experiment, runs }))
        }
    }
}

/// Refuses a folder that would not be read.
fn reads_no_sound(params: &ReproduceParams) -> Result<(), ReproduceError> {
    match params.data {
        Some(_) => Err(ReproduceError::NoSound { name: params.name.name() }),
        None => Ok(()),
    }
}
