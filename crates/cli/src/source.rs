//! The matrix a command works on, from a file or a generator.

use crate::args::{RandomInstance, RandomKind};
use gambeson_lowrank::input::{self, Input, InputKind};
use gambeson_lowrank::matrix::Matrix;
use gambeson_lowrank::random;
use std::path::Path;

/// A matrix with a name for people.
pub(crate) struct Source {
    pub(crate) input: Input,
    pub(crate) name: String,
}

pub(crate) fn load(
    path: Option<&Path>,
    instance: Option<RandomInstance>,
    threads: usize,
) -> anyhow::Result<Source> {
    match (path, instance) {
        (_, Some(RandomInstance { kind, n, seed })) => {
            let (matrix, kind) = match kind {
                RandomKind::PositiveSemidefinite => (random::positive_semidefinite(n, seed, threads)?, "psd"),
                RandomKind::QuadraticProgram => (random::quadratic_program(n, seed)?, "qp"),
            };
            let name = format!("random {kind}, seed {seed}");
            let input = Input { matrix: Matrix::Dense(matrix), kind: InputKind::Matrix };
            Ok(Source { input, name })
        }
        (path, None) => {
            let path = path.unwrap_or(Path::new("")); // clap asks for one of the two
            Ok(Source { input: input::read(path)?, name: path.display().to_string() })
        }
    }
}
