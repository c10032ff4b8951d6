//! Honest runs, and what is made of files that pretend to be theirs.

use gambeson::replay::RecordsVerdict;
use gambeson::{
    CertifyParams, CheckRecordsParams, Context, ContextParams, DrawParams, FitParams, Model, ModelParams,
    RecordSample, RecordsCheck, Seed, certify, check_records, fit, open_model, open_records,
};
use gambeson_checker::{FailureProbability, NoiseLevel};
use gambeson_data::dataset::{Dataset, DatasetParts, Shape, Values};
use gambeson_lowrank::MemoryLimit;
use gambeson_lowrank::projection::fit::Target;
use gambeson_smooth::analysis::false_certificates;
use gambeson_smooth::claim::{CLAIM_RHO, CertifiedShare, Claim};
use gambeson_smooth::limit::LimitRule;
use gambeson_smooth::record::{Derived, DigestedRun, LimitChoice, Record, Run, read_records};
use gambeson_smooth::sequential::{Goal, RadiusNorm};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Of which kind a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Fixed,
    OneSided,
    Randomised,
    Sequential,
    ByHand,
    Projected,
    Levelled,
    Extended,
}

/// What becomes of a forged file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Outcome {
    /// It is no file of records: an error, exit 2.
    Unreadable,
    /// REJECTED, exit 1.
    Rejected,
    /// INCOMPLETE, exit 1.
    Incomplete,
    /// NOT REPRODUCED, exit 1.
    NotReproduced,
    /// REDRAWN, and the claim is the honest one.
    Same,
    /// REDRAWN, and the claim is smaller.
    Smaller,
    /// REDRAWN, and the claim is what an honest run of another plan claims, whose draws are the same; REJECTED where the
    /// plan was published.
    OtherPlan,
}

/// An honest run of a few inputs, and another one with the next nonce or seed.
pub(super) struct Honest {
    context: Context,
    data: Dataset,
    params: ModelParams,
    folder: tempfile::TempDir,
    pub(super) text: String,
    pub(super) head: Value,
    pub(super) records: Vec<Value>,
    pub(super) other_text: String,
    pub(super) other_head: Value,
    pub(super) other_records: Vec<Value>,
    /// The records of the first run.
    drawn: Vec<Record>,
    claim: Claim,
}

const TOY: &str = "toy:half-space,offset=0.45";
/// Images of 2 x 3 pixels.
const IMAGES: usize = 20;

/// Images of several brightnesses; most of the bright ones are of class 1.
fn images() -> Dataset {
    let pixel = |at: usize| u8::try_from((at / 6 * 53 + at % 6 * 29) % 251).expect("a byte");
    let values: Vec<u8> = (0..IMAGES * 6).map(pixel).collect();
    let bright = |image: &[u8]| image.iter().map(|&pixel| u32::from(pixel)).sum::<u32>() > 6 * 115;
    let label = |(at, image): (usize, &[u8])| u16::from(bright(image) != (at % 7 == 4));
    let parts = DatasetParts {
        name: "images".to_owned(),
        shape: Shape { channels: 1, height: 2, width: 3 },
        labels: Some(values.chunks(6).enumerate().map(label).collect()),
        values: Values::U8(values),
        classes: ["dark", "bright", "other"].map(str::to_owned).to_vec(),
        sources: Vec::new(),
    };
    Dataset::new(parts).expect("images")
}

/// A file, its head, and its records.
fn parts(path: &Path) -> (String, Value, Vec<Value>) {
    let text = std::fs::read_to_string(path).expect("a file");
    let mut lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let head = lines.remove(0);
    (text, head, lines)
}

impl Honest {
    pub(super) fn new(kind: Kind) -> Self {
        let context = Context::new(ContextParams {
            threads: std::num::NonZeroUsize::new(1),
            memory_limit: MemoryLimit::NONE,
        })
        .expect("a thread");
        let (data, folder) = (images(), tempfile::tempdir().expect("a folder"));
        let mut params = ModelParams::default();
        if matches!(kind, Kind::Projected | Kind::Levelled) {
            let projection = folder.path().join("p.safetensors");
            let mut found = fit(&context, &data, &FitParams::new(Target::Rank(3))).expect("a projection");
            found.save(&context, &projection, None).expect("saved");
            params.projection = Some(projection);
            params.noise_levels = (kind == Kind::Levelled).then(|| vec![0.3, 0.2, 0.4]);
        }
        let model = open_model(&context, TOY, &data, &params).expect("a toy");
        let run = |nonce, out: &str| {
            let out = folder.path().join(out);
            let certify = |params: &CertifyParams| certify(&context, &model, &data, params).expect("a run");
            let params = certify_params(kind, nonce, out.clone());
            if kind == Kind::Extended {
                let short = CertifyParams { extend: None, n: 150, ..params.clone() };
                let earlier = params.extend.clone().expect("an earlier run");
                certify(&CertifyParams {
                    draws: DrawParams { out: Some(earlier), ..short.draws.clone() },
                    ..short
                });
            }
            certify(&params);
            out
        };
        let (own, other) = (run(0, "run.jsonl"), run(1, "other.jsonl"));
        let (text, head, records) = parts(&own);
        let (other_text, other_head, other_records) = parts(&other);
        let drawn =
            read_records(&own, MemoryLimit::NONE).expect("records").into_entries().into_values().collect();
        let claim = check(&context, &data, &params, &own, None).expect("checked").claim.expect("a claim");
        let all = claim.l2[0].certified;
        assert!(all >= 2 && all + 2 <= records.len() as u64, "some fail, some do not: {claim:?}");
        Self {
            context,
            data,
            params,
            folder,
            text,
            head,
            records,
            other_text,
            other_head,
            other_records,
            drawn,
            claim,
        }
    }

    /// The seed that follows from the nonce of a head and from all that it names.
    pub(super) fn seed_of(&self, head: &Value) -> Option<u64> {
        let run: Run = serde_json::from_value(head["run"].clone()).ok()?;
        let model = self.model(&run)?;
        let (noise, exponent) = (NoiseLevel::new(run.common.sigma).ok()?, Some(run.common.grid.exponent));
        model.seed(&self.data, noise, exponent, run.planned_draws(), run.common.nonce?).ok()
    }

    fn model(&self, run: &Run) -> Option<Model> {
        open_model(&self.context, TOY, &self.data, &self.params.clone().replaying(run)).ok()
    }

    /// What becomes of a file; what is wrong if it is more than the honest run claims.
    pub(super) fn judged(&self, text: &str) -> Result<Outcome, String> {
        let path = self.folder.path().join("forged.jsonl");
        std::fs::write(&path, text).expect("written");
        let Some(checked) = check(&self.context, &self.data, &self.params, &path, None) else {
            return Ok(Outcome::Unreadable);
        };
        let limits = limits_of(text);
        let claim = match checked.verdict {
            RecordsVerdict::Rejected if checked.claim.is_none() && !checked.findings.is_empty() => {
                return Ok(Outcome::Rejected);
            }
            RecordsVerdict::Incomplete if checked.missing > 0 => {
                // As far as it goes, it is no more either.
                self.supported(&checked.claim.ok_or("no claim")?, limits)?;
                return Ok(Outcome::Incomplete);
            }
            RecordsVerdict::NotReproduced => return Ok(Outcome::NotReproduced),
            RecordsVerdict::Redrawn if checked.passed() => checked.claim.ok_or("no claim")?,
            other => return Err(format!("an odd end: {other:?}")),
        };
        if claim.missing > 0 || claim.records != claim.selection.count {
            return Err(format!("{} of {} records", claim.records, claim.selection.count));
        }
        self.supported(&claim, limits)?;
        if claim.plan != self.claim.plan {
            let demanded =
                check(&self.context, &self.data, &self.params, &path, Some(self.claim.plan.clone()));
            if demanded.is_none_or(|checked| checked.verdict != RecordsVerdict::Rejected) {
                return Err("another plan passes for the one published".to_owned());
            }
        }
        let own = &self.claim;
        let numbers = |claim: &Claim| (claim.l2.clone(), claim.linf.clone(), claim.kappa, claim.selection);
        let errors =
            |claim: &Claim| (claim.alpha, claim.sigma, claim.n, claim.sequential, claim.assumed.clone());
        Ok(if errors(&claim) != errors(own) || limits != limits_of(&self.text) {
            Outcome::OtherPlan
        } else if numbers(&claim) == numbers(own) {
            Outcome::Same
        } else {
            Outcome::Smaller
        })
    }

    /// Whether honest counts support a claim, by what they prove at the α that it names and by the limits of its plan.
    fn supported(&self, claim: &Claim, limits: LimitRule) -> Result<(), String> {
        let own = &self.claim;
        let alpha = FailureProbability::new(claim.alpha).map_err(|error| error.to_string())?;
        let mut run = Run::clone(&self.drawn[0].run);
        (run.common.sigma, run.limits) = (claim.sigma, limits);
        let run = DigestedRun::new(run).expect("JSON");
        let derived = |record: &Record| {
            let mut record = record.clone();
            record.run = Arc::clone(&run);
            record.derive(alpha, LimitChoice::Natural).expect("valid").derived
        };
        let planned: Vec<(&Record, Derived)> = self
            .drawn
            .iter()
            .filter(|record| claim.selection.contains(record.index))
            .map(|record| (record, derived(record)))
            .collect();
        if claim.records > planned.len() as u64 {
            return Err(format!("{} records, but {} inputs were drawn", claim.records, planned.len()));
        }
        let shares = |shares: &[CertifiedShare], radius: fn(&Derived) -> Option<f64>| {
            shares.iter().try_for_each(|share| {
                let honest = planned.iter().filter(|(record, derived)| {
                    derived.class == record.label && radius(derived).is_some_and(|own| own >= share.radius)
                });
                let honest = honest.count() as u64;
                let m = claim.selection.count as f64;
                if share.certified > honest
                    || share.accuracy > honest as f64 / m
                    || share.at_least > share.accuracy
                {
                    return Err(format!("{share:?}, but {honest} are"));
                }
                Ok(())
            })
        };
        shares(&claim.l2, |derived| derived.l2)?;
        shares(&claim.linf, |derived| derived.linf)?;
        let rho = FailureProbability::new(CLAIM_RHO).expect("a probability");
        let most = false_certificates(claim.selection.count, claim.alpha, rho).expect("a number");
        let same = claim.network == own.network
            && claim.data == own.data
            && claim.projection == own.projection
            // Of a seed that is given, noise that differs in its last places has the same draws.
            && claim.sigma <= own.sigma * (1.0 + 1e-15)
            && claim.sigma >= own.sigma * (1.0 - 1e-9)
            // A seed said to be given is assumed to be the only one tried; none is said to be derived that is not.
            && (claim.assumed == own.assumed || claim.assumed.concat().contains("was given by hand"))
            && claim.kappa.is_none_or(|kappa| own.kappa.is_some_and(|own| kappa >= own))
            && claim.kappa.is_some() == own.kappa.is_some()
            && (claim.n0, claim.dimension) == (own.n0, own.dimension)
            // Limits that hold at every moment hold at the last one too.
            && (claim.sequential || !own.sequential)
            && claim.labelled == (claim.records > 0)
            && claim.selection.inputs == own.selection.inputs
            && claim.most_false >= most
            && claim.expected_false >= claim.alpha * claim.records as f64
            && claim.abstained <= claim.records;
        if same { Ok(()) } else { Err(format!("another claim: {claim:?}")) }
    }
}

fn certify_params(kind: Kind, nonce: u64, out: PathBuf) -> CertifyParams {
    let sigma = if kind == Kind::Levelled { 1.0 } else { 0.3 };
    let mut draws = DrawParams::new(sigma);
    draws.seed = if kind == Kind::ByHand { Seed::Given(5 + nonce) } else { Seed::Derived { nonce } };
    draws.inputs.start = 2;
    draws.inputs.every = 2;
    let earlier = (kind == Kind::Extended).then(|| out.with_extension("earlier.jsonl"));
    draws.out = Some(out);
    let goal = Goal { targets: vec![0.0, 0.2], tolerance: None, norm: RadiusNorm::L2 };
    let sequential = matches!(kind, Kind::Sequential | Kind::Extended).then_some(goal);
    let limits = match kind {
        Kind::OneSided => Some(LimitRule::OneSided),
        Kind::Randomised => Some(LimitRule::Randomised),
        _ => None,
    };
    CertifyParams { draws, n0: 20, n: 300, limits, sequential, extend: earlier }
}

/// The limits that the first head of a file names.
fn limits_of(text: &str) -> LimitRule {
    let head: Value =
        text.lines().next().and_then(|line| serde_json::from_str(line).ok()).unwrap_or_default();
    serde_json::from_value(head["run"]["limits"].clone()).unwrap_or_default()
}

/// As `gambeson check --all` does it; none where that ends with an error, because the file is none of records.
///
/// # Panics
/// If it ends with an error after the file was read.
fn check(
    context: &Context,
    data: &Dataset,
    params: &ModelParams,
    path: &Path,
    plan: Option<String>,
) -> Option<RecordsCheck> {
    let file = open_records(context, &[path.to_path_buf()]).ok()?;
    let (None, Some(head)) = (file.rejected(), file.head()) else { return file.rejected() };
    let model = open_model(context, TOY, data, &params.clone().replaying(&head.run)).expect("a toy");
    let params = CheckRecordsParams { sample: RecordSample::All, plan, ..CheckRecordsParams::default() };
    let checked = check_records(context, &file, &model, data, &params);
    Some(checked.unwrap_or_else(|error| panic!("what was read cannot be checked: {error}")))
}
