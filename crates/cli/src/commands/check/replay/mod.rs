//! `gambeson check RUN.jsonl --model M --data D`: the records of a run, drawn again or certified afresh.
//!
//! What can be checked without drawing (labels, classes, errors, whether counts prove radii) is checked of every record; draws
//! are made again for some or all of them. There are two good ends: PROVEN, where draws made again have the recorded counts, or
//! prove as much; NOT REFUTED, where fresh draws do not contradict the records; and two bad ones: REJECTED, where something
//! is wrong, and NOT REPRODUCED, where a few near-ties fell otherwise here and what is left proves less.

mod outcome;

use crate::args::{CheckArguments, ReplayArguments};
use crate::commands::certify::{Setup, Sources, interruptible};
use crate::ended::Ended;
use crate::json;
use crate::machine::Resources;
use crate::progress::{interrupted, live_line};
use anyhow::{Context, bail};
use gambeson_checker::{FailureProbability, NoiseLevel};
use gambeson_learn::runtime::Runtime;
use gambeson_lowrank::MemoryLimit;
use gambeson_lowrank::observe::Observer;
use gambeson_smooth::noise::Grid;
use gambeson_smooth::record::{ONNX_RUNTIME, Record, RecordError, Run, read_numbered_records};
use gambeson_smooth::replay::{Finding, compare, examine, replay, tolerated};
use gambeson_smooth::smoother::{Drawn, Smoother, SmoothingParams};
use outcome::{Comparison, Outcome, Place, Verdict};
use std::collections::BTreeSet;
use std::hash::{BuildHasher, RandomState};
use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// Records drawn again unless told otherwise.
const SAMPLE: u64 = 10;
/// Draws per call of the model.
const BATCH: usize = 64;
/// Of the draws of a record computed by ONNX Runtime, how many may differ as those of another version do.
const NEAR_TIES: f64 = 1e-3;

pub(super) fn run(
    arguments: &CheckArguments,
    stdout: &mut impl Write,
    resources: Resources,
) -> anyhow::Result<Ended> {
    interruptible(|| check(arguments, stdout, resources))
}

fn check(arguments: &CheckArguments, stdout: &mut impl Write, resources: Resources) -> anyhow::Result<Ended> {
    if arguments.domain.is_some() || arguments.norm.is_some() || arguments.gram || arguments.at_most.is_some()
    {
        bail!("--domain, --norm, --gram and --at-most do not apply to records");
    }
    // A single position may be taken for either.
    let ((Some(path), None) | (None, Some(path))) = (&arguments.input, &arguments.certificate) else {
        bail!("give the records of one run, and --model and --data instead of a certificate");
    };
    let started = Instant::now();
    let (checked, stopped) = checked(path, &arguments.replay, resources)?;
    let checked = Outcome { seconds: started.elapsed().as_secs_f64(), ..checked };
    json::print_or(arguments.json, &checked, stdout, |stdout| checked.print(stdout))?;
    if stopped {
        crate::progress::say("stopped before all records were drawn again");
    }
    Ok(if matches!(checked.verdict, Verdict::Proven | Verdict::NotRefuted) && !stopped {
        Ended::AsAsked
    } else {
        Ended::FellShort
    })
}

fn checked(
    path: &Path,
    arguments: &ReplayArguments,
    resources: Resources,
) -> anyhow::Result<(Outcome, bool)> {
    let mut checked = Outcome::default();
    let Some(records) = read(path, resources.memory, &mut checked)? else { return Ok((checked, false)) };
    let run = &records[0].1.run;
    let setup = Setup::open(&sources(path, run, arguments)?, resources, |_| Ok(Vec::new()))?;
    checked.inputs = setup.data.len();
    compare_run(run, &setup, &mut checked)?;
    if run.dimension != setup.smoothed.space.input_dim() as u64 {
        return Ok((checked, false)); // nothing that could be drawn
    }
    let chosen = chosen(&records, arguments, &mut checked);
    let fresh = arguments.nonce.filter(|&nonce| Some(nonce) != run.common.nonce || !checked.seed_derived);
    let smoother = Smoother::new(
        &setup.smoothed.classifier,
        Arc::clone(&setup.smoothed.space),
        params(run, &setup, fresh)?,
    )?;
    let mut live = Live::new(chosen.len());
    let examined = examine_all(&smoother, &setup, &records, &mut checked)?;
    let chosen: Vec<_> = chosen.into_iter().filter(|(_, record)| examined.contains(&record.index)).collect();
    let stopped = match fresh {
        None => draw_again(&smoother, &setup, &chosen, &mut checked, &mut live)?,
        Some(nonce) => certify_afresh(&smoother, &setup, (&chosen, nonce), &mut checked, &mut live)?,
    };
    live.bar.finish_and_clear();
    checked.draws = live.draws;
    checked.decide();
    Ok((checked, stopped))
}

/// The records of a file, at least one; none where one contradicts itself or the others, which is evidence against the
/// run, not a mistake of whoever asks.
fn read(
    path: &Path,
    memory: MemoryLimit,
    checked: &mut Outcome,
) -> anyhow::Result<Option<Vec<(usize, Record)>>> {
    let records = match read_numbered_records(path, memory) {
        Ok(records) => records,
        Err(
            error @ (RecordError::Invalid { .. }
            | RecordError::OtherRun { .. }
            | RecordError::Conflict { .. }),
        ) => {
            checked.findings.push(Place::whole_run(error.to_string()));
            return Ok(None);
        }
        Err(error) => return Err(error.into()),
    };
    let Some((_, first)) = records.first() else { bail!("{}: holds no records", path.display()) };
    let indices = || records.iter().map(|(_, record)| record.index);
    checked.records = records.len();
    checked.first = indices().min().unwrap_or(0);
    checked.last = indices().max().unwrap_or(0);
    checked.nonce = first.run.common.nonce;
    Ok(Some(records))
}

/// The run itself: what it was made with, and whether its seed is the one that its nonce gives.
fn compare_run(run: &Run, setup: &Setup, checked: &mut Outcome) -> anyhow::Result<()> {
    checked.findings.extend(mismatches(run, setup).into_iter().map(Place::whole_run));
    let Some(nonce) = run.common.nonce else { return Ok(()) };
    let derived = derived_seed(run, setup, nonce)?;
    checked.seed_derived = derived == run.common.seed;
    if !checked.seed_derived {
        checked.findings.push(Place::whole_run(format!(
            "its seed is {}, but network, projection, data, sigma and grid give {derived} with its nonce",
            run.common.seed
        )));
    }
    Ok(())
}

fn derived_seed(run: &Run, setup: &Setup, nonce: u64) -> anyhow::Result<u64> {
    setup.derived_seed(NoiseLevel::new(run.common.sigma)?, Some(run.common.grid.exponent), nonce)
}

/// As the run was made, or with the seed of another nonce.
fn params(run: &Run, setup: &Setup, fresh: Option<u64>) -> anyhow::Result<SmoothingParams> {
    let common = &run.common;
    Ok(SmoothingParams {
        selection: run.n0,
        estimation: common.n,
        failure: FailureProbability::new(common.alpha)?,
        batch: BATCH,
        seed: fresh.map_or(Ok(common.seed), |nonce| derived_seed(run, setup, nonce))?,
        grid_exponent: Some(common.grid.exponent),
        ..SmoothingParams::new(NoiseLevel::new(common.sigma)?)?
    })
}

/// What the run is to be made again from.
fn sources<'a>(path: &Path, run: &Run, arguments: &'a ReplayArguments) -> anyhow::Result<Sources<'a>> {
    let (Some(model), Some(data)) = (&arguments.model, &arguments.data) else {
        bail!("--model and --data are missing"); // clap asks for them
    };
    Ok(Sources {
        projection: arguments.projection.as_deref(),
        certificate: arguments.projection_certificate.as_deref(),
        noise_levels: arguments.noise_levels.as_deref(),
        quantum: run.common.projection.is_none().then_some(run.common.grid.quantum),
        ..Sources::new((model, data), &arguments.reading, Some(path))
    })
}

/// In what a run differs from what was given.
fn mismatches(run: &Run, setup: &Setup) -> Vec<String> {
    let common = &run.common;
    let names = setup.names(common.nonce);
    let mut found = Vec::new();
    let mut differ = |what: &str, recorded: &str, given: &str| {
        if recorded != given {
            found.push(format!("its {what} is {recorded}, but that given is {given}"));
        }
    };
    let hash = |data: &str| data.rsplit("sha256:").next().unwrap_or_default().to_owned();
    differ("model", &common.model, &names.model);
    differ("data", &hash(&common.data), &hash(&names.data));
    let grid = |grid: Grid| format!("{} * 2^{}", grid.quantum.name(), grid.exponent);
    let given = Grid::new(common.sigma, setup.smoothed.space.unit(), Some(common.grid.exponent));
    differ("grid", &grid(common.grid), &given.map_or_else(|_| "none".to_owned(), grid));
    differ(
        "number of coordinates",
        &run.dimension.to_string(),
        &setup.smoothed.space.input_dim().to_string(),
    );
    // Both runtimes compute the network, but not to the same last place.
    let runtime = |name: Option<&str>| name.unwrap_or("none").to_owned();
    differ(
        "runtime",
        &runtime(common.runtime.as_deref()),
        &runtime(setup.smoothed.runtime.map(Runtime::name)),
    );
    match (&common.projection, &setup.smoothed.projection) {
        (None, None) => {}
        (Some(_), None) => found.push("it was made with a projection: give it with --projection".to_owned()),
        (_, Some(proven)) => found.extend(run.check_projection(proven).err().map(|error| error.to_string())),
    }
    found
}

/// The records to draw again: all, or some at random.
fn chosen<'a>(
    records: &'a [(usize, Record)],
    arguments: &ReplayArguments,
    checked: &mut Outcome,
) -> Vec<&'a (usize, Record)> {
    let wanted = usize::try_from(arguments.sample.unwrap_or(SAMPLE)).unwrap_or(usize::MAX);
    if arguments.all || wanted >= records.len() {
        return records.iter().collect();
    }
    // Hashed by the system's randomness: nobody could know which lines would be looked at.
    let seed = arguments.sample_seed.unwrap_or_else(|| RandomState::new().hash_one("sample"));
    checked.sample_seed = Some(seed);
    let mut places = BTreeSet::new();
    let mut state = seed;
    while places.len() < wanted {
        // SplitMix64 (Steele, Lea and Flood 2014).
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        let place = (mixed ^ mixed >> 31) % records.len() as u64;
        places.insert(usize::try_from(place).unwrap_or(0));
    }
    places.into_iter().map(|place| &records[place]).collect()
}

/// Everything that needs no draws, of every record. The inputs that are there to be drawn.
fn examine_all(
    smoother: &Smoother<impl gambeson_smooth::Classifier>,
    setup: &Setup,
    records: &[(usize, Record)],
    checked: &mut Outcome,
) -> anyhow::Result<BTreeSet<u64>> {
    let mut there = BTreeSet::new();
    for (line, record) in records {
        if record.index >= setup.data.len() as u64 {
            let reason = format!("the data have only {} inputs", setup.data.len());
            checked.findings.push(Place::of(*line, record, reason));
            continue;
        }
        let findings = examine(smoother.plan(), record, &setup.row(record.index), setup.data.classes().len())
            .with_context(|| format!("input {}", record.index))?;
        checked.findings.extend(findings.iter().map(|it| Place::of(*line, record, it.to_string())));
        there.insert(record.index);
    }
    Ok(there)
}

/// Whether it was stopped.
fn draw_again(
    smoother: &Smoother<impl gambeson_smooth::Classifier>,
    setup: &Setup,
    chosen: &[&(usize, Record)],
    checked: &mut Outcome,
    live: &mut Live,
) -> anyhow::Result<bool> {
    for (line, record) in chosen {
        let row = setup.row(record.index);
        let found = replay(smoother, record, &row, setup.data.classes().len(), live)
            .with_context(|| format!("input {}", record.index))?;
        let Some(replayed) = found else { return Ok(true) };
        checked.checked += 1;
        checked.differing += replayed.differing;
        let radius = |record: &Record| record.derived.latent.unwrap_or(0.0);
        checked.smaller_by = checked.smaller_by.max(radius(record) - radius(&replayed.again));
        // Another version of ONNX Runtime rounds otherwise, so that near-ties may fall otherwise: no lie, but what is claimed
        // must follow from the draws as they fell here.
        let near_ties = record.run.common.runtime.as_deref() == Some(ONNX_RUNTIME)
            && replayed.differing as f64 <= (NEAR_TIES * record.draws() as f64).max(3.0);
        let counts = replayed.findings.iter().filter(|finding| matches!(finding, Finding::Counts { .. }));
        for finding in counts {
            let place = Place::of(*line, record, finding.to_string());
            if !near_ties {
                checked.findings.push(place);
            } else if !replayed.proves(record) {
                checked.not_reproduced.push(place);
            }
        }
        live.bar.inc(1);
    }
    Ok(false)
}

/// Whether it was stopped.
fn certify_afresh(
    smoother: &Smoother<impl gambeson_smooth::Classifier>,
    setup: &Setup,
    (chosen, nonce): (&[&(usize, Record)], u64),
    checked: &mut Outcome,
    live: &mut Live,
) -> anyhow::Result<bool> {
    let (mut refuted, mut right, mut right_afresh) = (Vec::new(), 0_usize, 0_usize);
    let mut stopped = false;
    for (line, record) in chosen {
        let row = setup.row(record.index);
        let found = compare(smoother, record, &row, chosen.len() as u64, live)
            .with_context(|| format!("input {}", record.index))?;
        let Some(compared) = found else {
            stopped = true;
            break;
        };
        checked.checked += 1;
        let correct = |record: &Record| {
            record.derived.class.is_some() && (row.label.is_none() || record.derived.class == row.label)
        };
        right += usize::from(correct(record));
        right_afresh += usize::from(correct(&compared.fresh));
        let (claimed, at_most) = (compared.claimed.unwrap_or(0.0), compared.at_most.unwrap_or(0.0));
        let reason = format!(
            "it claims a probability of at least {claimed:.5}, but fresh draws prove at most {at_most:.5}"
        );
        if compared.impossible {
            let chance = "; honest draws differ so much once in a million runs";
            checked.findings.push(Place::of(*line, record, reason.clone() + chance));
        }
        if compared.refuted() {
            refuted.push(Place::of(*line, record, reason));
        }
        live.bar.inc(1);
    }
    let done = checked.checked.max(1);
    let alpha = chosen.first().map_or(0.001, |(_, record)| record.run.common.alpha);
    let tolerated = tolerated(done as u64, FailureProbability::new(alpha)?)?;
    if refuted.len() as u64 > tolerated && checked.findings.is_empty() {
        checked.findings.extend(refuted.iter().cloned());
    }
    checked.fresh = Some(Comparison {
        nonce,
        refuted,
        tolerated,
        recorded_accuracy: right as f64 / done as f64,
        fresh_accuracy: right_afresh as f64 / done as f64,
    });
    Ok(stopped)
}

/// The progress line; Ctrl-C ends it.
struct Live {
    bar: indicatif::ProgressBar,
    draws: u64,
}

impl Live {
    fn new(records: usize) -> Self {
        let bar = live_line(Some(records as u64), "{spinner} {elapsed} [{bar:20}] {pos} of {len} records");
        Self { bar, draws: 0 }
    }
}

impl Observer<Drawn> for Live {
    fn observe(&mut self, drawn: &Drawn) -> ControlFlow<()> {
        self.draws += drawn.draws;
        if interrupted() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}
