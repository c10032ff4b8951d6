//! One call: the missing runs of an experiment are made, then its table and figure.

use crate::error::ReproduceError;
use crate::event::{ReproduceEvent, Watch};
use crate::family::{Act, with_plan};
use crate::params::ReproduceParams;
use crate::plan::{End, Limits, Planned, RecordOf, Runs};
use crate::program::Caller;
use crate::record::{OWN, Setup, Store, read};
use crate::rendered::{ObjectReport, Rendered, certified_networks};
use crate::report::page::{ReportSection, SectionContent};
use gambeson::Context;

/// How an experiment ended.
#[derive(Clone, Debug)]
pub enum Reproduced {
    /// It was interrupted; the same call goes on.
    Interrupted,
    /// All runs there was time for were tried.
    Done(Box<ObjectReport>),
}

/// Makes the missing runs of an experiment, each in a process of its own, and its tables and figure from all records.
///
/// A record is on the disk before the next run begins, so that the same call goes on where an earlier one was stopped.
pub fn reproduce(
    context: &Context,
    params: &ReproduceParams,
    watch: &dyn Fn(&ReproduceEvent<'_>),
) -> Result<Reproduced, ReproduceError> {
    with_plan(context, params, watch, Session { context, params, watch })
}

/// One call.
struct Session<'a> {
    context: &'a Context,
    params: &'a ReproduceParams,
    watch: &'a Watch<'a>,
}

impl Act for Session<'_> {
    type Outcome = Reproduced;

    /// Makes the missing runs of the plan, then shows all records.
    fn act<P: Planned>(
        self,
        plan: Vec<P>,
        render: impl FnOnce(&Runs<P>) -> Rendered,
    ) -> Result<Reproduced, ReproduceError> {
        let (params, memory) = (self.params, self.context.memory_limit());
        let path = params.records();
        let (mut store, mut records): (_, Vec<RecordOf<P>>) = if params.render_only {
            if !path.exists() {
                return Err(ReproduceError::NoRecords { path });
            }
            (None, read(&path, OWN, memory, self.watch)?)
        } else {
            std::fs::create_dir_all(&params.results)
                .map_err(|reason| ReproduceError::File { path: params.results.clone(), reason })?;
            let (store, records) = Store::open(&path, memory, self.watch)?;
            (Some(store), records)
        };
        // Means over two machines or versions would be of neither: a report is of one setup, this one if runs are made.
        let latest = records.last().filter(|_| params.render_only).map(|record| record.setup.clone());
        let setup = latest.unwrap_or_else(|| Setup::here(self.context.threads()));
        let all = records.len();
        records.retain(|record| record.setup.goes_with(&setup, P::TIMES));
        if records.len() < all {
            let records = all - records.len();
            (self.watch)(&ReproduceEvent::OtherSetup { path, records, setup: setup.to_string() });
        }
        let mut runs = Runs::new(plan, records);
        let mut failed = 0;
        if let Some(store) = &mut store {
            let interrupted = || self.context.is_interrupted();
            let caller =
                Caller { program: &params.program, threads: setup.threads, interrupted: &interrupted };
            let limits = Limits { time: params.time_limit, watch: self.watch };
            match runs.make_missing(params.name.name(), store, &setup, &caller, &limits)? {
                End::Done { failed: count } => failed = count,
                End::Interrupted => return Ok(Reproduced::Interrupted),
            }
        }
        let (networks, left_out) = certified_networks(&runs, &params.runs, memory);
        let rendered = render(&runs);
        let files = rendered.write(&params.stem())?;
        let lines: Result<Vec<String>, _> = runs.records().map(gambeson_report::json::line).collect();
        let section = ReportSection {
            heading: params.name.about().to_owned(),
            content: SectionContent::Parts(rendered.parts()),
        };
        Ok(Reproduced::Done(Box::new(ObjectReport {
            name: params.name,
            section,
            networks,
            left_out,
            records: lines?,
            tables: rendered.tables,
            files,
            missing: runs.missing(),
            fell_short: runs.short().count(),
            failed,
        })))
    }
}
