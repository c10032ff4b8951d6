//! `gambeson check`: what a certificate proves about a matrix or a projection, by the checker alone; and records of a run,
//! drawn again, by themselves or in a bundle.

mod bundle;
mod records;
mod records_text;

use crate::args::CheckArguments;
use crate::commands::matrix;
use crate::ended::Ended;
use crate::json;
use crate::progress::catch_interrupts;
use crate::report::decimal::up;
use crate::screen::{proven, rejected, shown, wrapped};
use anyhow::bail;
use gambeson::bound::domain_name;
use gambeson::check::{Question, Refusal, norm_name};
use gambeson::{Check, CheckParams, Context, ProjectionCheck};
use gambeson_checker::Domain;
use gambeson_lowrank::projection::Projection;
use gambeson_lowrank::projection::certificate::ProjectionCertificate;
use gambeson_lowrank::safetensors::looks_like;
use gambeson_lowrank::sdp::bracket::Upper;
use gambeson_lowrank::sdp::certificate::CertificateFile;
use gambeson_lowrank::sdp::problem::{MatrixRole, OperatorNorm};
use gambeson_smooth::record::is_certification;
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;

pub(crate) fn run(
    arguments: &CheckArguments,
    stdout: &mut impl Write,
    context: &Context,
) -> anyhow::Result<Ended> {
    if let Some(bound) = arguments.at_most.filter(|bound| bound.is_nan()) {
        bail!("--at-most {bound} is not a number");
    }
    let memory = context.memory_limit();
    if let [path] = &arguments.files[..]
        && arguments.random.is_none()
        && is_bundle(path)
    {
        return bundle::run(path, arguments, stdout, context);
    }
    if arguments.replay.model.is_some() {
        return records::run(arguments, stdout, context);
    }
    if let Some(path) = arguments.files.iter().find(|path| is_certification(path)) {
        bail!("{}: records of a run; give the --model and the --data that they are about", path.display());
    }
    if let Some(option) = arguments.replay.given() {
        bail!("{option} goes with the records of a run and their --model, or with a bundle");
    }
    let (input, certificate) = match (&arguments.files[..], arguments.random) {
        ([certificate], Some(_)) => (None, certificate),
        ([input, certificate], None) => (Some(&**input), certificate),
        ([path], None) => bail!("{}: its certificate is missing; give both", path.display()),
        (_, Some(_)) => bail!("--random replaces the matrix: give its certificate and no other file"),
        (_, None) => bail!("give a matrix or a projection, and one certificate"),
    };
    let of_projection = || ProjectionCertificate::read(certificate, memory).is_ok();
    if let Some(path) = input.filter(|path| is_projection(path) || of_projection()) {
        return check_projection(path, certificate, arguments, stdout, context);
    }
    let file = CertificateFile::read(certificate, memory)?;
    let matrix = matrix::load(input, arguments.random, context)?;
    let params = CheckParams {
        domain: arguments.domain.map(Domain::from),
        norm: arguments.norm.map(OperatorNorm::from),
        gram: arguments.gram,
        at_most: arguments.at_most,
        time_limit: arguments.time_limit,
    };
    catch_interrupts("stopping (press Ctrl-C again to quit)");
    let check = gambeson::check(context, matrix, file, &params)?;
    json::print_or(arguments.json, &check, stdout, |stdout| print_matrix(&check, 0, stdout))?;
    Ok(if check.proven() { Ended::AsAsked } else { Ended::FellShort })
}

/// A folder, or a zip archive by its first bytes.
fn is_bundle(path: &Path) -> bool {
    let mut head = [0; 2];
    let read = path.is_file() && File::open(path).is_ok_and(|mut file| file.read_exact(&mut head).is_ok());
    path.is_dir() || read && &head == b"PK"
}

/// By content: whether a file can be a projection. What cannot be read is left to the reader.
fn is_projection(path: &Path) -> bool {
    let mut head = [0; 9];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut head));
    read.is_ok() && looks_like(&head)
}

fn check_projection(
    path: &Path,
    certificate: &Path,
    arguments: &CheckArguments,
    stdout: &mut impl Write,
    context: &Context,
) -> anyhow::Result<Ended> {
    if arguments.domain.is_some() || arguments.norm.is_some() || arguments.gram {
        bail!(
            "--domain, --norm and --gram do not apply to a projection: the question is the inf->2 norm of its bases"
        );
    }
    let projection = Projection::read(path, context.memory_limit())?;
    let certificate = ProjectionCertificate::read_for(&projection, certificate, context.memory_limit())?;
    let check = gambeson::check_projection(context, &projection, &certificate, arguments.at_most)?;
    json::print_or(arguments.json, &check, stdout, |stdout| print_projection(&check, &projection, stdout))?;
    Ok(if check.proven() { Ended::AsAsked } else { Ended::FellShort })
}

fn print_projection(
    check: &ProjectionCheck,
    projection: &Projection,
    stdout: &mut impl Write,
) -> std::io::Result<()> {
    if let Some(reason) = &check.reason {
        return writeln!(stdout, "{}", wrapped(&format!("{}: {}", rejected(), shown(reason)), 2));
    }
    let Some(bound) = &check.bound else { return Ok(()) };
    let (kappa, basis) = (up(bound.kappa.value(), 17), projection.representation().name());
    let text =
        format!("{}: |U'|_{{inf->2}} <= {kappa} for the bases as stored, in {basis} coordinates", proven());
    writeln!(stdout, "{}", wrapped(&text, 2))?;
    for (c, (square, spectral)) in bound.squares.iter().zip(&bound.spectral).enumerate() {
        let (kappa, spectral) = (up(square.sqrt().value(), 17), up(spectral.value(), 17));
        writeln!(stdout, "  channel {c}: kappa <= {kappa}, singular values <= {spectral}")?;
    }
    Ok(())
}

/// A verdict with `indent` spaces before each line.
pub(crate) fn print_matrix(check: &Check, indent: usize, stdout: &mut impl Write) -> std::io::Result<()> {
    let before = " ".repeat(indent);
    if let Some(refusal) = &check.refusal {
        let text = format!("{before}{}: {}{}", rejected(), shown(&refusal.to_string()), way_out(refusal));
        return writeln!(stdout, "{}", wrapped(&text, indent + 2));
    }
    let bound = up(check.upper.map_or(f64::INFINITY, Upper::value), 17);
    writeln!(stdout, "{before}{}: {}", proven(), statement(check.question, &bound))?;
    match check.upper.and_then(Upper::kappa) {
        Some(kappa) => writeln!(stdout, "{before}  kappa <= {}", up(kappa.value(), 17)),
        None => Ok(()),
    }
}

/// The statement that some number bounds the quantity.
fn statement(question: Question, bound: &str) -> String {
    let domain = domain_name(question.domain);
    match (question.norm, question.reading) {
        (OperatorNorm::Quadratic, MatrixRole::Plain) => format!("x'Mx <= {bound} on the {domain}"),
        (OperatorNorm::Quadratic, MatrixRole::Gram) => {
            format!("x'UU'x <= {bound} on the {domain}, U the matrix given")
        }
        (OperatorNorm::InfToOne, _) => format!("|A|_{{inf->1}} <= {bound}"),
        (OperatorNorm::InfToTwo, MatrixRole::Plain) => format!("|A|_{{inf->2}}^2 <= {bound}"),
        (OperatorNorm::InfToTwo, MatrixRole::Gram) => {
            format!("|U'|_{{inf->2}}^2 <= {bound}, U the matrix given")
        }
    }
}

/// The option that asks the certificate's own question.
fn way_out(refusal: &Refusal) -> String {
    match refusal {
        Refusal::OperatorNorm { certificate, .. } => {
            let theirs = norm_name(*certificate);
            format!("; to ask about {theirs}, say --norm {theirs}")
        }
        Refusal::MatrixRole { certificate: MatrixRole::Gram } => "; to ask about that, say --gram".to_owned(),
        Refusal::Domain { certificate, .. } => {
            let theirs = domain_name(*certificate);
            format!("; to ask about the {theirs}, say --domain {theirs}")
        }
        _ => String::new(),
    }
}
