//! `gambeson bound`: solve, prove, print the bracket, write the certificate.

use crate::args::{BoundArguments, SolverName};
use crate::commands::matrix::{self, NamedMatrix};
use crate::ended::Ended;
use crate::json::{self, BoundRecord, domain_name, stop_name};
use crate::machine::Resources;
use crate::machine::peak_memory;
use crate::progress::{LiveBracket, catch_interrupts, duration, interrupted};
use crate::report::decimal::{down, up};
use crate::screen::{shown_path, wrapped};
use anyhow::Context;
use gambeson_checker::Domain;
use gambeson_lowrank::observe::Interrupt;
use gambeson_lowrank::sdp::bracket::{BoundParams, Bracket, Paid, Solver, Stop, bracket};
use gambeson_lowrank::sdp::certificate::CertificateFile;
use gambeson_lowrank::sdp::problem::{Norm, Problem, Reading};
use gambeson_lowrank::sdp::progress::StopReason;
use std::io::Write;
use std::time::Duration;

/// Significant digits in text; JSON has all of them.
const DIGITS: usize = 8;
/// How long a proof goes on after Ctrl-C: a person who waited for a bound rather waits a little longer for a good one.
const GRACE: Duration = Duration::from_secs(10);

pub(crate) fn run(
    arguments: &BoundArguments,
    stdout: &mut impl Write,
    resources: Resources,
) -> anyhow::Result<Ended> {
    let given = matrix::load(arguments.matrix.input.as_deref(), arguments.matrix.random, resources)?;
    let reading = if arguments.matrix.gram { Reading::Gram } else { Reading::Plain };
    let norm = Norm::from(arguments.norm);
    // The hash is of the matrix as given, so it is taken before the matrix becomes a problem.
    let hash = arguments.certificate.as_ref().map(|_| given.input.matrix.sha256());
    let NamedMatrix { input, name, seconds } = given;
    let (natural, error) = (input.kind.natural_domain(norm, reading), input.error);
    let domain = arguments.matrix.domain.map_or(natural, Domain::from);
    let problem =
        Problem::enclosing(input.matrix, error, norm, reading, domain, resources.memory, resources.threads)
            .with_context(|| name.clone())?;
    let (solver, method) = match arguments.method {
        SolverName::Mwu => (Solver::MultiplicativeWeights, "mwu"),
        // Faster than Algorithm 2 on every matrix tried, so `auto` has nothing to decide.
        SolverName::Auto | SolverName::BurerMonteiro => (Solver::BurerMonteiro, "burer-monteiro"),
    };
    let mut params = BoundParams {
        time_limit: arguments.time_limit,
        memory_limit: resources.memory,
        interrupt: Interrupt::new(interrupted),
        grace: GRACE,
        seed: arguments.seed,
        threads: resources.threads,
        ..BoundParams::for_solver(solver, arguments.gap)
    };
    params.mwu.width = arguments.width;
    params.mwu.early_stop = arguments.early_stop;
    params.mwu.accuracy = arguments.accuracy.unwrap_or(params.mwu.accuracy);
    if let Some(iterations) = arguments.iterations {
        params.mwu.max_iterations = iterations as usize;
        params.burer_monteiro.max_iterations = iterations as usize;
    }
    catch_interrupts("stopping; proving the best bound found so far (press Ctrl-C again to quit)");
    let mut live = LiveBracket::new();
    live.message("starting");
    let found = bracket(&problem, &params, &mut live);
    live.finish();
    let found = found.with_context(|| name.clone())?;
    // If the result cannot be printed, the certificate is still written, and the other way round.
    let printed = report(arguments, &name, seconds, &problem, method, &found, stdout);
    // The default gap is a wish, but a run that was stopped before reaching it fell short.
    let cut_short =
        matches!(found.stop, Stop::TimeLimit | Stop::Interrupted | Stop::Solver(StopReason::Interrupted));
    let short =
        !(found.gap() <= params.gap) && (arguments.gap.is_some() || cut_short || !found.paid.is_nothing());
    if let (Some(path), Some(hash)) = (&arguments.certificate, hash) {
        CertificateFile::new(found.certificate, norm, reading, hash).paying(found.paid).write(path)?;
        if !arguments.json {
            writeln!(stdout, "certificate  {}", shown_path(path))?;
        }
    }
    printed?;
    stdout.flush()?;
    Ok(if short { Ended::FellShort } else { Ended::AsAsked })
}

/// What of the matrix the proof bounds by absolute values alone, if it does.
fn given_up(found: &Bracket) -> Option<String> {
    match &found.paid {
        Paid::Nothing => None,
        Paid::Pairs(pairs) => Some(pairs.len().to_string()),
        Paid::All => Some("all".to_owned()),
    }
}

/// Prints the bracket as text or JSON.
fn report(
    arguments: &BoundArguments,
    name: &str,
    seconds_read: f64,
    problem: &Problem,
    method: &'static str,
    found: &Bracket,
    stdout: &mut impl Write,
) -> anyhow::Result<()> {
    if arguments.json {
        let record = BoundRecord {
            n: found.certificate.weights.len(),
            norm: problem.norm,
            domain: domain_name(problem.domain).to_owned(),
            method: method.to_owned(),
            upper: found.upper.value(),
            lower: found.lower.value(),
            sdp_lower: found.sdp_lower.value(),
            gap: Some(found.gap()).filter(|gap| gap.is_finite()),
            kappa: found.upper.kappa().map(gambeson_checker::InfToTwoBound::value),
            iterations: found.iterations,
            seconds_read,
            seconds_solve: found.seconds_solve,
            seconds_check: found.seconds_check,
            peak_memory: peak_memory(),
            stop: stop_name(found.stop).to_owned(),
            trivial: found.trivial,
            entry_error: problem.error(),
            given_up: given_up(found),
            full_proof_seconds: found.full_proof.seconds,
            full_proof_bytes: found.full_proof.bytes,
        };
        writeln!(stdout, "{}", json::line(&record)?)?;
    } else {
        print(name, seconds_read, problem, method, found, stdout)?;
    }
    Ok(stdout.flush()?)
}

fn print(
    name: &str,
    seconds_read: f64,
    problem: &Problem,
    method: &str,
    found: &Bracket,
    stdout: &mut impl Write,
) -> std::io::Result<()> {
    let n = found.certificate.weights.len();
    let what = match problem.norm {
        Norm::Quadratic => "max x'Mx",
        Norm::InfToOne => "inf->1 norm",
        Norm::InfToTwo => "inf->2 norm squared",
    };
    let (upper, gap) = (up(found.upper.value(), DIGITS), found.gap());
    writeln!(
        stdout,
        "{}",
        wrapped(
            &format!(
                "matrix       {name}, n = {n}, {}; ready in {seconds_read:.2} s",
                domain_name(problem.domain)
            ),
            13
        )
    )?;
    writeln!(stdout, "{what}: proven bracket")?;
    writeln!(stdout, "  maximum    {} .. {upper}", down(found.lower.value(), DIGITS))?;
    let gap = if gap.is_finite() { up(gap, 3) } else { "unknown".to_owned() };
    writeln!(stdout, "  relaxation {} .. {upper}   gap {gap}", down(found.sdp_lower.value(), DIGITS))?;
    if let Some(kappa) = found.upper.kappa() {
        writeln!(stdout, "  kappa      {}", up(kappa.value(), DIGITS))?;
    }
    if problem.error() > 0.0 {
        let error = up(problem.error(), 3);
        let text = format!(
            "entries      not all are binary64 numbers: off by at most {error} together, which both ends allow for"
        );
        writeln!(stdout, "{}", wrapped(&text, 13))?;
    }
    if found.trivial {
        writeln!(
            stdout,
            "  This is only the trivial bound n * lambda_max(M) (n for a projection): no\n  weights were better than equal ones."
        )?;
    }
    writeln!(
        stdout,
        "{}",
        wrapped(
            &format!(
                "solver       {method}, {} iterations, {} products, {:.2} s; stopped: {}",
                found.iterations,
                found.products,
                found.seconds_solve,
                stop_name(found.stop)
            ),
            13
        )
    )?;
    writeln!(stdout, "proof        {:.2} s", found.seconds_check)?;
    if let Some(count) = given_up(found) {
        let why = if found.affordable {
            "these prove more than the weights found".to_owned()
        } else {
            let (seconds, bytes) = (found.full_proof.seconds, found.full_proof.bytes as f64);
            format!("the whole proof would take about {} and {} GB", duration(seconds), up(bytes / 1e9, 2))
        };
        let text = format!(
            "given up     {count} entries beside the diagonal, bounded by their absolute values: {why}"
        );
        writeln!(stdout, "{}", wrapped(&text, 13))?;
    }
    match peak_memory() {
        Some(bytes) => writeln!(stdout, "memory       {} GB at the peak", up(bytes as f64 / 1e9, 3)),
        None => Ok(()),
    }
}
