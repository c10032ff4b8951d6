//! `gambeson bound --demo`: a proof, its check, and a forgery, on a matrix made here.

use crate::commands::check::print_matrix;
use crate::ended::Ended;
use crate::report::decimal::{down, up};
use gambeson::{BoundParams, CheckParams, Context, Method, RandomKind, bound, check, random_matrix};
use gambeson_lowrank::sdp::certificate::CertificateFile;
use std::io::Write;

pub(crate) fn run(stdout: &mut impl Write, context: &Context) -> anyhow::Result<Ended> {
    let matrix = random_matrix(context, RandomKind::PositiveSemidefinite, 300, 1)?;
    writeln!(stdout, "1. A random positive semidefinite matrix (appendix E), 300 x 300, trace 1.")?;
    // A tour of the paper.
    let found =
        bound(context, matrix.clone(), &BoundParams { method: Method::Mwu, ..BoundParams::default() })?;
    let (record, bracket) = (found.record(), &found.bracket);
    writeln!(
        stdout,
        "2. Algorithm 2 ran {} iterations. Proven in floating point, rounded outward:",
        bracket.iterations
    )?;
    let upper = up(record.upper, 8);
    writeln!(stdout, "     {} <= max x'Mx over the cube <= {upper}", down(record.lower, 8))?;
    let (lower, gap) = (down(record.sdp_lower, 8), up(bracket.gap(), 2));
    writeln!(stdout, "     {lower} <= its relaxation        <= the same; gap {gap}")?;
    let Some(file) = found.certificate else { return Ok(Ended::FellShort) };
    let asked = CheckParams { at_most: Some(record.upper), ..CheckParams::default() };
    writeln!(stdout, "3. Anybody can check the certificate ({} weights) without the solver:", file.n)?;
    let honest = check(context, matrix.clone(), file.clone(), &asked)?;
    print_matrix(&honest, 5, stdout)?;
    writeln!(stdout, "4. A forged one, with all weights 1 % smaller, does not pass:")?;
    let scale = record.upper / file.weights.iter().sum::<f64>() * 0.99;
    let weights = file.weights.iter().map(|weight| weight * scale).collect();
    let forged = CertificateFile { weights, shift: Some(0.0), ..file };
    let caught = check(context, matrix, forged, &asked)?;
    print_matrix(&caught, 5, stdout)?;
    writeln!(stdout, "Next: gambeson bound MATRIX.npy --certificate c.json")?;
    stdout.flush()?;
    Ok(if honest.proven() && !caught.proven() { Ended::AsAsked } else { Ended::FellShort })
}
