//! `gambeson check`: what a certificate proves about a matrix, by the checker alone.

use crate::Outcome;
use crate::args::CheckArguments;
use crate::commands::bound::domain_name;
use crate::decimal::up;
use crate::source;
use anyhow::{Context, bail};
use gambeson_checker::{CheckError, Domain};
use gambeson_lowrank::bound::{Upper, prove};
use gambeson_lowrank::certificate::CertificateFile;
use gambeson_lowrank::input::InputKind;
use gambeson_lowrank::matrix::Matrix;
use gambeson_lowrank::problem::{Norm, Problem, Reading};
use serde::Serialize;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

#[derive(Serialize)]
struct Record {
    proven: bool,
    /// The proven bound (the square for inf-to-two), whether or not it is as small as asked for.
    bound: Option<f64>,
    kappa: Option<f64>,
    /// Why the certificate was rejected.
    reason: Option<String>,
    /// Time for the proof, without reading and hashing the matrix.
    seconds_check: f64,
}

pub(crate) fn run(
    arguments: &CheckArguments,
    stdout: &mut impl Write,
    threads: usize,
) -> anyhow::Result<Outcome> {
    let (input, certificate): (Option<&Path>, &Path) = match (&arguments.files[..], arguments.random) {
        ([input, certificate], None) => (Some(input), certificate),
        ([certificate], Some(_)) => (None, certificate),
        ([_, _], Some(_)) => bail!("give either a matrix file or --random, not both"),
        _ => bail!("give a matrix file (or --random) and a certificate"),
    };
    if let Some(bound) = arguments.at_most.filter(|bound| bound.is_nan()) {
        bail!("--at-most {bound} is not a number");
    }
    let file = CertificateFile::read(certificate)?;
    let source = source::load(input, arguments.random, threads)?;
    let kind = source.input.kind;
    let asked = Asked {
        domain: arguments.domain.map(Domain::from),
        norm: arguments.norm.map(Norm::from),
        at_most: arguments.at_most,
    };
    let verdict =
        verdict(source.input.matrix, kind, file, &asked, threads).with_context(|| source.name.clone())?;
    if arguments.json {
        let record = Record {
            proven: verdict.reason.is_none(),
            bound: verdict.upper.map(Upper::value),
            kappa: verdict.upper.and_then(Upper::kappa).map(gambeson_checker::InfToTwoBound::value),
            reason: verdict.reason.clone(),
            seconds_check: verdict.seconds,
        };
        writeln!(stdout, "{}", serde_json::to_string(&record)?)?;
    } else {
        verdict.print(stdout)?;
    }
    stdout.flush()?;
    Ok(if verdict.reason.is_none() { Outcome::Success } else { Outcome::FellShort })
}

/// What the caller wants to know.
pub(crate) struct Asked {
    pub(crate) domain: Option<Domain>,
    pub(crate) norm: Option<Norm>,
    pub(crate) at_most: Option<f64>,
}

/// Proven, or rejected with a reason; a bound may be proven and still be larger than asked for.
pub(crate) struct Verdict {
    pub(crate) upper: Option<Upper>,
    pub(crate) reason: Option<String>,
    norm: Norm,
    domain: Domain,
    seconds: f64,
}

impl Verdict {
    pub(crate) fn print(&self, stdout: &mut impl Write) -> std::io::Result<()> {
        match (&self.reason, self.upper) {
            (Some(reason), _) => writeln!(stdout, "REJECTED: {reason}"),
            (None, upper) => {
                let what = match self.norm {
                    Norm::Quadratic => "x'Mx",
                    Norm::InfToOne => "inf->1 norm",
                    Norm::InfToTwo => "inf->2 norm squared",
                };
                let bound = upper.map_or(f64::INFINITY, Upper::value);
                writeln!(stdout, "PROVEN: {what} <= {} on the {}", up(bound, 17), domain_name(self.domain))?;
                match upper.and_then(Upper::kappa) {
                    Some(kappa) => writeln!(stdout, "        kappa <= {}", up(kappa.value(), 17)),
                    None => Ok(()),
                }
            }
        }
    }
}

/// The check itself. Errors are about the matrix; anything wrong with the certificate is a rejection.
pub(crate) fn verdict(
    matrix: Matrix,
    kind: InputKind,
    file: CertificateFile,
    asked: &Asked,
    threads: usize,
) -> anyhow::Result<Verdict> {
    let (norm, domain) = (file.norm, file.domain);
    let verdict = |upper: Option<Upper>, reason: Option<String>, started: Instant| {
        Ok(Verdict { upper, reason, norm, domain, seconds: started.elapsed().as_secs_f64() })
    };
    let rejected = |reason: String| verdict(None, Some(reason), Instant::now());
    if let Some(wanted) = asked.norm.filter(|wanted| *wanted != norm) {
        return rejected(format!("the certificate is about {norm:?}, the question about {wanted:?}"));
    }
    let graph = kind == InputKind::MaxCut && norm == Norm::Quadratic && file.reading() == Reading::Plain;
    let natural = if graph { Domain::Vertices } else { Domain::Cube };
    let wanted = asked.domain.unwrap_or(natural);
    if wanted != domain {
        let (domain, wanted) = (domain_name(domain), domain_name(wanted));
        return rejected(format!("the certificate is for the {domain}, the question about the {wanted}"));
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
    let problem = Problem::new(matrix, kind, norm, file.reading(), Some(domain), threads)?;
    let started = Instant::now();
    match prove(&problem, &file.into_certificate(), threads) {
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
