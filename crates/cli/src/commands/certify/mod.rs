//! `gambeson certify`: counts and radii for the inputs of a data set, one record each.

mod live;
pub(super) mod predict;
mod print;
mod setup;

use crate::args::CertifyArguments;
use crate::ended::Ended;
use crate::json;
use crate::progress::noted;
use anyhow::bail;
use gambeson::{CertifyParams, Context, plan_certification};
use gambeson_lowrank::file::write_file;
use gambeson_smooth::limit::LimitRule;
use gambeson_smooth::sequential::Goal;
pub(crate) use live::{Draws, LiveInputs};
use setup::CertifySetup;
pub(crate) use setup::{data_params, interruptible, noise_levels, open_for_check, reading_params};
use std::io::Write;
use std::path::Path;

pub(crate) fn run(
    arguments: &CertifyArguments,
    stdout: &mut impl Write,
    context: &Context,
) -> anyhow::Result<Ended> {
    interruptible(|| {
        let smooth = &arguments.smooth;
        let setup = open(smooth, context)?;
        let params = CertifyParams {
            draws: setup::draw_params(smooth),
            n0: arguments.n0,
            n: arguments.n,
            limits: arguments.limits.map(LimitRule::from),
            sequential: arguments.sequential.then(|| Goal {
                targets: arguments.target.clone(),
                tolerance: arguments.tolerance,
                norm: arguments.norm.into(),
            }),
            extend: arguments.extend.clone(),
        };
        if arguments.plan_only {
            let plan = plan_certification(&noted(context), &setup.model, &setup.data, &params)?;
            json::print_or(smooth.json, &plan, stdout, |stdout| print::planned(&plan, &setup, stdout))?;
            return Ok(Ended::AsAsked);
        }
        let draws = Draws { count: params.n0 + params.n, at_most: arguments.sequential };
        let live = LiveInputs::new(draws);
        let run = gambeson::certify(&live.observed(context), &setup.model, &setup.data, &params);
        live.finish();
        let run = run?;
        if let Some(path) = &smooth.tsv {
            write_table(path, &run.tsv())?;
        }
        json::print_or(smooth.json, &run, stdout, |stdout| print::certified(run.record(), &setup, stdout))?;
        Ok(setup::ended(run.stopped))
    })
}

/// The model and the data; cheap and likely mistakes first.
fn open(smooth: &crate::args::SmoothArguments, context: &Context) -> anyhow::Result<CertifySetup> {
    CertifySetup::open(smooth, context, |data| {
        if smooth.tsv.is_some() && data.labels().is_none() {
            bail!("{}: the data have no labels, which --tsv needs; leave it out", data.name());
        }
        setup::selection(smooth).of(data.len() as u64).map_err(gambeson::Error::from)?;
        Ok(())
    })
}

fn write_table(path: &Path, text: &str) -> anyhow::Result<()> {
    write_file(path, text.as_bytes()).map_err(|error| anyhow::anyhow!("{}: {error}", path.display()))
}
