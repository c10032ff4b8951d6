//! `gambeson check`: what a certificate proves about a matrix or a projection, by the checker alone; and records of a run,
//! drawn again.

mod replay;

use crate::args::CheckArguments;
use crate::commands::matrix;
use crate::ended::Ended;
use crate::json::{self, CheckRecord, domain_name};
use crate::machine::Resources;
use crate::machine::peak_memory;
use crate::progress::{catch_interrupts, duration, interrupted};
use crate::report::decimal::up;
use crate::screen::{proven, rejected, shown, wrapped};
use anyhow::{Context, bail};
use gambeson_checker::{CheckError, Domain};
use gambeson_lowrank::MemoryLimit;
use gambeson_lowrank::linalg::matrix::Matrix;
use gambeson_lowrank::matrix_file::{Input, InputKind};
use gambeson_lowrank::projection::Projection;
use gambeson_lowrank::projection::certificate::{ProjectionBound, ProjectionCertificate};
use gambeson_lowrank::safetensors::looks_like;
use gambeson_lowrank::sdp::bracket::{ProofPlan, Upper, prove_as_planned};
use gambeson_lowrank::sdp::certificate::CertificateFile;
use gambeson_lowrank::sdp::problem::{Norm, Problem, Reading};
use serde::Serialize;
use std::io::{Read, Write};
use std::path::Path;
use std::time::{Duration, Instant};

pub(crate) fn run(
    arguments: &CheckArguments,
    stdout: &mut impl Write,
    resources: Resources,
) -> anyhow::Result<Ended> {
    if let Some(bound) = arguments.at_most.filter(|bound| bound.is_nan()) {
        bail!("--at-most {bound} is not a number");
    }
    if arguments.replay.model.is_some() {
        return replay::run(arguments, stdout, resources);
    }
    let Some(certificate) = arguments.certificate.as_deref() else {
        bail!("a certificate is missing"); // clap asks for it
    };
    let of_projection = || ProjectionCertificate::read(certificate, resources.memory).is_ok();
    if let Some(path) = arguments.input.as_deref().filter(|path| is_projection(path) || of_projection()) {
        return check_projection(path, certificate, arguments, stdout, resources);
    }
    if let Some(path) = arguments.input.as_deref().filter(|path| is_records(path, resources.memory)) {
        bail!("{}: records of a run; give the --model and the --data that they are about", path.display());
    }
    let file = CertificateFile::read(certificate, resources.memory)?;
    let given = matrix::load(arguments.input.as_deref(), arguments.random, resources)?;
    let asked = Asked {
        domain: arguments.domain.map(Domain::from),
        norm: arguments.norm.map(Norm::from),
        gram: arguments.gram,
        at_most: arguments.at_most,
    };
    catch_interrupts("stopping (press Ctrl-C again to quit)");
    let verdict = verdict_of(given.input, file, &asked, arguments.time_limit, resources)
        .with_context(|| given.name.clone())?;
    if arguments.json {
        let record = CheckRecord {
            proven: verdict.reason.is_none(),
            norm: verdict.question.norm,
            gram: verdict.question.reading == Reading::Gram,
            domain: domain_name(verdict.question.domain).to_owned(),
            bound: verdict.upper.map(Upper::value),
            kappa: verdict.upper.and_then(Upper::kappa).map(gambeson_checker::InfToTwoBound::value),
            reason: verdict.reason.clone(),
            seconds_read: given.seconds,
            seconds_check: verdict.seconds,
            peak_memory: peak_memory(),
        };
        writeln!(stdout, "{}", json::line(&record)?)?;
    } else {
        verdict.print(0, stdout)?;
    }
    stdout.flush()?;
    Ok(if verdict.reason.is_none() { Ended::AsAsked } else { Ended::FellShort })
}

/// By content: whether a file can be a projection. What cannot be read is left to the reader.
fn is_projection(path: &Path) -> bool {
    let mut head = [0; 9];
    let read = std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut head));
    read.is_ok() && looks_like(&head)
}

/// By content: whether a file can be records.
fn is_records(path: &Path, memory: MemoryLimit) -> bool {
    let mut head = [0; 11];
    let read = std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut head));
    read.is_ok() && head.starts_with(b"{\"version\":") && recorded_runs(path, memory)
}

/// A certificate begins like a record, but has no counts.
fn recorded_runs(path: &Path, memory: MemoryLimit) -> bool {
    gambeson_smooth::record::read_numbered_records(path, memory).is_ok_and(|records| !records.is_empty())
}

/// What `check --json` prints about a projection.
#[derive(Serialize)]
struct ProjectionCheck {
    proven: bool,
    norm: Norm,
    gram: bool,
    domain: &'static str,
    /// κ² of all channels together.
    bound: Option<f64>,
    kappa: Option<f64>,
    /// κ of each channel.
    channels: Vec<f64>,
    /// The largest singular value of each channel's basis is at most this.
    spectral: Vec<f64>,
    reason: Option<String>,
    seconds_check: f64,
    peak_memory: Option<u64>,
}

fn check_projection(
    path: &Path,
    certificate: &Path,
    arguments: &CheckArguments,
    stdout: &mut impl Write,
    resources: Resources,
) -> anyhow::Result<Ended> {
    if arguments.domain.is_some() || arguments.norm.is_some() || arguments.gram {
        bail!(
            "--domain, --norm and --gram do not apply to a projection: the question is the inf->2 norm of its bases"
        );
    }
    let projection = Projection::read(path, resources.memory)?;
    let certificate = ProjectionCertificate::read_for(&projection, certificate, resources.memory)?;
    let started = Instant::now();
    let checked = certificate.check(&projection, resources.threads);
    let seconds_check = started.elapsed().as_secs_f64();
    let square = |bound: &ProjectionBound| bound.kappa.square().value();
    let too_large = |bound: &ProjectionBound| {
        arguments
            .at_most
            .filter(|&most| square(bound) > most)
            .map(|most| format!("the proven bound {} is larger than {}", up(square(bound), 17), up(most, 17)))
    };
    let reason = match &checked {
        Ok(bound) => too_large(bound),
        Err(rejected) => Some(rejected.to_string()),
    };
    let bound = checked.as_ref().ok();
    if arguments.json {
        let record = ProjectionCheck {
            proven: reason.is_none(),
            norm: Norm::InfToTwo,
            gram: true,
            domain: domain_name(Domain::Cube),
            bound: bound.map(square),
            kappa: bound.map(|bound| bound.kappa.value()),
            channels: bound.map_or(Vec::new(), |bound| {
                bound.squares.iter().map(|square| square.sqrt().value()).collect()
            }),
            spectral: bound
                .map_or(Vec::new(), |bound| bound.spectral.iter().map(|spectral| spectral.value()).collect()),
            reason: reason.clone(),
            seconds_check,
            peak_memory: peak_memory(),
        };
        writeln!(stdout, "{}", json::line(&record)?)?;
    } else if let Some(reason) = &reason {
        writeln!(stdout, "{}", wrapped(&format!("{}: {}", rejected(), shown(reason)), 2))?;
    } else if let Some(bound) = bound {
        let (kappa, basis) = (up(bound.kappa.value(), 17), projection.representation().name());
        let text = format!(
            "{}: |U'|_{{inf->2}} <= {kappa} for the bases as stored, in {basis} coordinates",
            proven()
        );
        writeln!(stdout, "{}", wrapped(&text, 2))?;
        for (c, (square, spectral)) in bound.squares.iter().zip(&bound.spectral).enumerate() {
            let (kappa, spectral) = (up(square.sqrt().value(), 17), up(spectral.value(), 17));
            writeln!(stdout, "  channel {c}: kappa <= {kappa}, singular values <= {spectral}")?;
        }
    }
    stdout.flush()?;
    Ok(if reason.is_none() { Ended::AsAsked } else { Ended::FellShort })
}

/// What the caller asks.
pub(crate) struct Asked {
    pub(crate) domain: Option<Domain>,
    pub(crate) norm: Option<Norm>,
    pub(crate) gram: bool,
    pub(crate) at_most: Option<f64>,
}

/// The question a certificate has to answer.
#[derive(Clone, Copy)]
struct Question {
    norm: Norm,
    reading: Reading,
    domain: Domain,
}

impl Question {
    /// A certificate is not trusted to say what it proves. A symmetric matrix is a quadratic form unless the caller
    /// says otherwise. For any other matrix, the certificate decides what the caller left open.
    fn new(asked: &Asked, file: &CertificateFile, matrix: &Matrix, kind: InputKind) -> Self {
        let symmetric = matrix.is_symmetric();
        let norm = asked.norm.unwrap_or(if symmetric { Norm::Quadratic } else { file.norm });
        // A norm asked for by name is that of the matrix itself: A and its transpose have different ones.
        let open = !symmetric && asked.norm.is_none_or(|norm| norm == Norm::Quadratic);
        let gram = asked.gram || open && file.gram;
        let reading = if gram { Reading::Gram } else { Reading::Plain };
        let graph = kind == InputKind::MaxCut && norm == Norm::Quadratic && !gram;
        let natural = if graph { Domain::Vertices } else { Domain::Cube };
        Self { norm, reading, domain: asked.domain.unwrap_or(natural) }
    }

    /// Why a certificate is about something else, if it is.
    fn mismatch(self, file: &CertificateFile) -> Option<String> {
        if self.norm != file.norm {
            let (theirs, ours) = (norm_name(file.norm), norm_name(self.norm));
            return Some(format!(
                "the certificate is about {theirs}, the question about {ours}; to ask about {theirs}, say --norm {theirs}"
            ));
        }
        if self.reading != file.reading() {
            return Some(match self.reading {
                Reading::Plain => {
                    "the certificate reads the matrix as a factor; to ask about that, say --gram".into()
                }
                Reading::Gram => "the certificate reads the matrix as M, the question as a factor".into(),
            });
        }
        if self.domain != file.domain {
            let (theirs, ours) = (domain_name(file.domain), domain_name(self.domain));
            return Some(format!(
                "the certificate is for the {theirs}, the question about the {ours}; to ask about the {theirs}, say \
                 --domain {theirs}"
            ));
        }
        None
    }

    /// The statement that some number bounds the quantity.
    fn statement(self, bound: &str) -> String {
        let domain = domain_name(self.domain);
        match (self.norm, self.reading) {
            (Norm::Quadratic, Reading::Plain) => format!("x'Mx <= {bound} on the {domain}"),
            (Norm::Quadratic, Reading::Gram) => {
                format!("x'UU'x <= {bound} on the {domain}, U the matrix given")
            }
            (Norm::InfToOne, _) => format!("|A|_{{inf->1}} <= {bound}"),
            (Norm::InfToTwo, Reading::Plain) => format!("|A|_{{inf->2}}^2 <= {bound}"),
            (Norm::InfToTwo, Reading::Gram) => format!("|U'|_{{inf->2}}^2 <= {bound}, U the matrix given"),
        }
    }
}

/// As on the command line and in certificates.
fn norm_name(norm: Norm) -> &'static str {
    match norm {
        Norm::Quadratic => "quadratic",
        Norm::InfToOne => "inf-to-one",
        Norm::InfToTwo => "inf-to-two",
    }
}

/// Proven, or rejected with a reason; a bound may be proven and still be larger than asked for.
pub(crate) struct Verdict {
    pub(crate) upper: Option<Upper>,
    pub(crate) reason: Option<String>,
    question: Question,
    seconds: f64,
}

impl Verdict {
    /// With `indent` spaces before each line.
    pub(crate) fn print(&self, indent: usize, stdout: &mut impl Write) -> std::io::Result<()> {
        let before = " ".repeat(indent);
        if let Some(reason) = &self.reason {
            let text = format!("{before}{}: {}", rejected(), shown(reason));
            return writeln!(stdout, "{}", wrapped(&text, indent + 2));
        }
        let bound = up(self.upper.map_or(f64::INFINITY, Upper::value), 17);
        writeln!(stdout, "{before}{}: {}", proven(), self.question.statement(&bound))?;
        match self.upper.and_then(Upper::kappa) {
            Some(kappa) => writeln!(stdout, "{before}  kappa <= {}", up(kappa.value(), 17)),
            None => Ok(()),
        }
    }
}

/// The check itself. Errors are about the matrix; anything wrong with the certificate is a rejection.
pub(crate) fn verdict(
    matrix: Matrix,
    kind: InputKind,
    file: CertificateFile,
    asked: &Asked,
    resources: Resources,
) -> anyhow::Result<Verdict> {
    verdict_of(Input { kind, ..Input::from(matrix) }, file, asked, None, resources)
}

/// The same for what a file says.
fn verdict_of(
    input: Input,
    file: CertificateFile,
    asked: &Asked,
    time_limit: Option<Duration>,
    resources: Resources,
) -> anyhow::Result<Verdict> {
    let Input { matrix, kind, error } = input;
    let question = Question::new(asked, &file, &matrix, kind);
    let verdict = |upper: Option<Upper>, reason: Option<String>, started: Instant| {
        Ok(Verdict { upper, reason, question, seconds: started.elapsed().as_secs_f64() })
    };
    let rejected = |reason: String| verdict(None, Some(reason), Instant::now());
    if let Some(reason) = question.mismatch(&file) {
        return rejected(reason);
    }
    let hash = matrix.sha256();
    if hash != file.matrix_sha256 {
        return rejected(format!("the certificate is for another matrix (sha256 {hash} here)"));
    }
    if file.n != file.weights.len() {
        return rejected(format!(
            "the certificate says n = {} but has {} weights",
            file.n,
            file.weights.len()
        ));
    }
    let Question { norm, reading, domain } = question;
    let Resources { threads, memory } = resources;
    let problem = Problem::enclosing(matrix, error, norm, reading, domain, memory, threads)?;
    let started = Instant::now();
    let late = || time_limit.is_some_and(|limit| started.elapsed() > limit);
    let stop = || late() || interrupted();
    let plan = ProofPlan::paying(&problem, file.paid.clone(), threads, &stop);
    let planned = match plan {
        Ok(plan) => plan,
        Err(CheckError::Rejected(reason)) => return verdict(None, Some(reason.to_string()), started),
        Err(error) => return Err(error.into()),
    };
    let needs = planned.cost.bytes.saturating_add(problem.bytes());
    if !memory.allows(needs) {
        let (needs, has) = (up(needs as f64 / 1e9, 2), up(memory.gigabytes(), 2));
        return rejected(format!("the proof takes about {needs} GB, more than the memory limit of {has} GB"));
    }
    // A factor is multiplied out before anything could be stopped.
    if let Some(limit) = time_limit.filter(|_| problem.is_factor())
        && planned.cost.seconds > limit.as_secs_f64()
    {
        let needs = duration(planned.cost.seconds);
        return rejected(format!("the proof takes about {needs}, more than the time limit"));
    }
    match prove_as_planned(&problem, &file.into_certificate(), &planned, threads, &stop) {
        Ok(upper) => {
            let reason = asked.at_most.filter(|&most| upper.value() > most).map(|most| {
                format!("the proven bound {} is larger than {}", up(upper.value(), 17), up(most, 17))
            });
            verdict(Some(upper), reason, started)
        }
        Err(CheckError::Rejected(reason)) => verdict(None, Some(reason.to_string()), started),
        Err(error) => Err(error.into()),
    }
}
