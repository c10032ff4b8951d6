//! The head of records compared with what is given: whether the run is of this model and these data.

use super::outcome::{RecordFinding, RecordsCheck};
use crate::error::Error;
use gambeson_checker::{FailureProbability, NoiseLevel};
use gambeson_data::dataset::Dataset;
use gambeson_learn::inputs::data_parts;
use gambeson_learn::runtime::Runtime;
use gambeson_learn::smoothed::SmoothedModel;
use gambeson_smooth::noise::Grid;
use gambeson_smooth::record::{Head, Run};
use gambeson_smooth::smoother::SmoothingParams;

/// The finding where a run was made with a projection and the model has none.
pub const NO_PROJECTION: &str = "it was made with a projection, but none was given";

/// Numbers given to the classifier at once, at most: a head may name batches of any size.
const MOST_AT_ONCE: usize = 1 << 26;

/// The head itself: what the run was made with, of which data inputs were selected, and whether the seed is the one that
/// the nonce gives.
pub(super) fn compare_run<C>(
    head: &Head<Run>,
    model: &SmoothedModel<C>,
    data: &Dataset,
    checked: &mut RecordsCheck,
) -> Result<(), Error> {
    let run: &Run = &head.run;
    checked.findings.extend(mismatches(run, model, data).into_iter().map(RecordFinding::whole_run));
    let (recorded, own) = (head.selection.inputs, data.len() as u64);
    if recorded != own {
        let reason = format!("its inputs were selected of {recorded}, but the data have {own}");
        checked.findings.push(RecordFinding::whole_run(reason));
    }
    let (recorded, _) = data_parts(&run.common.data);
    if recorded != data.name() {
        checked.other_name = Some(recorded.to_owned());
    }
    let Some(nonce) = run.common.nonce else { return Ok(()) };
    let derived = derived_seed(run, (model, data), nonce)?;
    checked.seed_derived = derived == run.common.seed;
    if !checked.seed_derived {
        checked.findings.push(RecordFinding::whole_run(format!(
            "its seed is {}, but network, projection, data, sigma, grid and numbers of draws give {derived} with its nonce",
            run.common.seed
        )));
    }
    Ok(())
}

fn derived_seed<C>(
    run: &Run,
    (model, data): (&SmoothedModel<C>, &Dataset),
    nonce: u64,
) -> Result<u64, Error> {
    let noise = NoiseLevel::new(run.common.sigma).map_err(|reason| Error::field_of("sigma", reason))?;
    Ok(model.seed(data, noise, Some(run.common.grid.exponent), run.planned_draws(), nonce)?)
}

/// As the run was made, or with the seed of another nonce.
pub(super) fn smoothing<C>(
    run: &Run,
    made_with: (&SmoothedModel<C>, &Dataset),
    fresh: Option<u64>,
    batch: Option<usize>,
) -> Result<SmoothingParams, Error> {
    let common = &run.common;
    let noise = NoiseLevel::new(common.sigma).map_err(|reason| Error::field_of("sigma", reason))?;
    let seed = fresh.map_or(Ok(common.seed), |nonce| derived_seed(run, made_with, nonce))?;
    let (model, _) = made_with;
    let most = (MOST_AT_ONCE / model.space.output_dim().max(1)).max(1);
    let own = usize::try_from(common.batch).unwrap_or(usize::MAX).min(most);
    Ok(SmoothingParams {
        selection: run.n0,
        estimation: common.n,
        failure: FailureProbability::new(common.alpha).map_err(|reason| Error::field_of("alpha", reason))?,
        batch: batch.unwrap_or(own),
        seed,
        grid_exponent: Some(common.grid.exponent),
        ..SmoothingParams::new(noise).map_err(|reason| Error::field_of("sigma", reason))?
    })
}

/// In what a run differs from what was given.
fn mismatches<C>(run: &Run, model: &SmoothedModel<C>, data: &Dataset) -> Vec<String> {
    let common = &run.common;
    let names = model.names(data, common.nonce);
    let mut found = Vec::new();
    let mut differ = |what: &str, recorded: &str, given: &str| {
        if recorded != given {
            found.push(format!("its {what} is {recorded}, but that given is {given}"));
        }
    };
    differ("model", &common.model, &names.model);
    differ("data", data_parts(&common.data).1, data.sha256()); // two names of the same data are no contradiction
    let grid = |grid: Grid| format!("{} * 2^{}", grid.quantum.name(), grid.exponent);
    let given = Grid::new(common.sigma, model.space.unit(), Some(common.grid.exponent));
    differ("grid", &grid(common.grid), &given.map_or_else(|_| "none".to_owned(), grid));
    let dimension = model.space.input_dim();
    differ("number of coordinates", &run.dimension.to_string(), &dimension.to_string());
    // Both runtimes compute the network, but not to the same last place.
    let runtime = |name: Option<&str>| name.unwrap_or("none").to_owned();
    differ("runtime", &runtime(common.runtime.as_deref()), &runtime(model.runtime.map(Runtime::name)));
    match (&common.projection, &model.projection) {
        (None, None) => {}
        (Some(_), None) => found.push(NO_PROJECTION.to_owned()),
        (_, Some(proven)) => found.extend(run.check_projection(proven).err().map(|error| error.to_string())),
    }
    found
}
