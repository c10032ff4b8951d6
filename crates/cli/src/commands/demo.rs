//! `gambeson bound --demo`: a proof, its check, and a forgery, on a matrix made here.

use crate::commands::check::{Asked, verdict};
use crate::ended::Ended;
use crate::machine::Resources;
use crate::report::decimal::{down, up};
use gambeson_checker::Domain;
use gambeson_lowrank::linalg::matrix::Matrix;
use gambeson_lowrank::matrix_file::InputKind;
use gambeson_lowrank::sdp::bracket::{BoundParams, Solver, bracket};
use gambeson_lowrank::sdp::certificate::CertificateFile;
use gambeson_lowrank::sdp::instance;
use gambeson_lowrank::sdp::problem::{Norm, Problem, Reading};
use std::io::Write;

pub(crate) fn run(stdout: &mut impl Write, resources: Resources) -> anyhow::Result<Ended> {
    let matrix = Matrix::Dense(instance::positive_semidefinite(300, 1, resources.memory, resources.threads)?);
    let hash = matrix.sha256();
    writeln!(stdout, "1. A random positive semidefinite matrix (appendix E), 300 x 300, trace 1.")?;
    let problem =
        Problem::new(matrix.clone(), Norm::Quadratic, Reading::Plain, Domain::Cube, resources.threads)?;
    let solver = Solver::MultiplicativeWeights; // a tour of the paper
    let params = BoundParams { threads: resources.threads, ..BoundParams::for_solver(solver, None) };
    let found = bracket(&problem, &params, &mut ())?;
    writeln!(
        stdout,
        "2. Algorithm 2 ran {} iterations. Proven in floating point, rounded outward:",
        found.iterations
    )?;
    writeln!(
        stdout,
        "     {} <= max x'Mx over the cube <= {}",
        down(found.lower.value(), 8),
        up(found.upper.value(), 8)
    )?;
    writeln!(
        stdout,
        "     {} <= its relaxation        <= the same; gap {}",
        down(found.sdp_lower.value(), 8),
        up(found.gap(), 2)
    )?;
    let file = CertificateFile::new(found.certificate, Norm::Quadratic, Reading::Plain, hash);
    let asked = Asked { domain: None, norm: None, gram: false, at_most: Some(found.upper.value()) };
    writeln!(stdout, "3. Anybody can check the certificate ({} weights) without the solver:", file.n)?;
    let honest = verdict(matrix.clone(), InputKind::Matrix, file.clone(), &asked, resources)?;
    honest.print(5, stdout)?;
    writeln!(stdout, "4. A forged one, with all weights 1 % smaller, does not pass:")?;
    let scale = found.upper.value() / file.weights.iter().sum::<f64>() * 0.99;
    let weights = file.weights.iter().map(|weight| weight * scale).collect();
    let forged = CertificateFile { weights, shift: Some(0.0), ..file };
    let caught = verdict(matrix, InputKind::Matrix, forged, &asked, resources)?;
    caught.print(5, stdout)?;
    writeln!(stdout, "Next: gambeson bound MATRIX.npy --certificate c.json")?;
    stdout.flush()?;
    let good = honest.reason.is_none() && caught.reason.is_some();
    Ok(if good { Ended::AsAsked } else { Ended::FellShort })
}
