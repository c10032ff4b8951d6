//! The matrix a command works on, from a file or a generator.

use crate::args::{RandomInstance, RandomKind};
use crate::machine::Resources;
use crate::screen::shown_path;
use gambeson_lowrank::linalg::matrix::Matrix;
use gambeson_lowrank::matrix_file::{self, Input};
use gambeson_lowrank::sdp::instance;
use std::path::Path;
use std::time::Instant;

/// A matrix and what to call it.
pub(super) struct NamedMatrix {
    pub(super) input: Input,
    pub(super) name: String,
    /// Seconds to read or generate it.
    pub(super) seconds: f64,
}

pub(super) fn load(
    path: Option<&Path>,
    instance: Option<RandomInstance>,
    resources: Resources,
) -> anyhow::Result<NamedMatrix> {
    let Resources { threads, memory } = resources;
    let started = Instant::now();
    let (input, name) = match (path, instance) {
        (_, Some(RandomInstance { kind, n, seed })) => {
            let matrix = match kind {
                RandomKind::PositiveSemidefinite => {
                    instance::positive_semidefinite(n, seed, memory, threads)?
                }
                RandomKind::QuadraticProgram => instance::quadratic_program(n, seed, memory)?,
            };
            let input = Input::from(Matrix::Dense(matrix));
            (input, format!("random {}, seed {seed}", kind.name()))
        }
        (path, None) => {
            let path = path.unwrap_or(Path::new("")); // clap requires one of the two
            (matrix_file::read(path, memory)?, shown_path(path))
        }
    };
    Ok(NamedMatrix { input, name, seconds: started.elapsed().as_secs_f64() })
}
