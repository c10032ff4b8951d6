//! A seed that nobody chose: hashed from what is certified.
//!
//! **Problem.** Certificates hold with probability 1 − α over random words, if the words were not known to whoever chose
//! network and inputs. A seed that everybody uses is known to everybody: a network might, by accident or by will, be one
//! that does well on just these draws.
//!
//! **Method.** SHA-256 of all that the maker of a run might tune to a seed, the network, the projection and its levels, the
//! data, σ and the grid, of the numbers of draws planned, and of a *nonce*; the first eight bytes are the seed. A run of
//! other numbers of draws, or of another kind of sampling, has other draws: a pilot shares none with the main run, and
//! nobody looks for the n at which one sequence of draws does best. Not hashed are α, the limits, the goal of a sequential
//! run, the inputs selected and the size of batches; an extended run keeps the seed of the run that it extends. What is hashed: the
//! text `gambeson seed 2\n`, then each part as its length in bytes (little-endian u64) and its bytes, numbers as
//! little-endian bytes.
//!
//! **What it does and does not do.** Nobody tunes a network to such a seed by accident: another network has another seed.
//! But trying again remains possible: whoever makes M variants (a bit of metadata, another n, another nonce) and shows the
//! best has a failure probability of up to M·α. Only a nonce that the verifier chooses, after seeing network and data,
//! excludes that: `gambeson check --nonce`; and a plan whose digest was published beforehand (`check --plan`) shows that it
//! was one of those planned.

use crate::noise::{Grid, GridError};
use crate::space::Space;
use gambeson_checker::NoiseLevel;
use gambeson_lowrank::file::sha256;

/// What a seed is made from.
#[derive(Clone, Copy, Debug)]
pub struct SeedParts<'a> {
    /// What records call the classifier: its hash, and all else that says what it computes.
    pub model: &'a str,
    /// Hash of the projection; none where noise is added to the input itself.
    pub projection: Option<&'a str>,
    /// Hash of the noise levels, where they differ.
    pub levels: Option<&'a str>,
    /// Hash of the data.
    pub data: &'a str,
    /// σ.
    pub sigma: f64,
    /// What noisy inputs are rounded to.
    pub grid: Grid,
    /// What the draws are for, and how many are planned.
    pub draws: PlannedDraws,
    /// A number that the maker leaves at 0, or that a verifier chooses.
    pub nonce: u64,
}

/// What draws are for, and how many are planned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlannedDraws {
    /// CERTIFY.
    Certify {
        /// Draws that choose the class.
        selection: u64,
        /// Draws that are counted; for a sequential run those at its last look, which extensions keep.
        estimation: u64,
        /// Whether the counts are looked at on the way.
        sequential: bool,
    },
    /// PREDICT.
    Predict {
        /// All draws.
        draws: u64,
    },
}

impl PlannedDraws {
    /// As they are hashed.
    fn bytes(self) -> Vec<u8> {
        let (kind, numbers) = match self {
            Self::Certify { selection, estimation, sequential: false } => {
                ("fixed", vec![selection, estimation])
            }
            Self::Certify { selection, estimation, sequential: true } => {
                ("sequential", vec![selection, estimation])
            }
            Self::Predict { draws } => ("predict", vec![draws]),
        };
        let mut bytes = kind.as_bytes().to_vec();
        bytes.extend(numbers.into_iter().flat_map(u64::to_le_bytes));
        bytes
    }
}

/// The seed for noise of a level in a space, on the grid of an exponent or the default one.
pub fn seed_in(
    space: &Space,
    (model, data): (&str, &str),
    noise: NoiseLevel,
    grid_exponent: Option<i32>,
    draws: PlannedDraws,
    nonce: u64,
) -> Result<u64, GridError> {
    let sigma = noise.value();
    let grid = Grid::new(sigma, space.unit(), grid_exponent)?;
    let (projection, levels) = (space.projection_sha256(), space.levels_sha256());
    Ok(derived_seed(&SeedParts { model, projection, levels, data, sigma, grid, draws, nonce }))
}

/// The seed of these parts.
pub fn derived_seed(parts: &SeedParts<'_>) -> u64 {
    let SeedParts { model, projection, levels, data, sigma, grid, draws, nonce } = *parts;
    let mut bytes = b"gambeson seed 2\n".to_vec();
    let mut add = |part: &[u8]| {
        bytes.extend((part.len() as u64).to_le_bytes());
        bytes.extend(part);
    };
    add(model.as_bytes());
    add(projection.unwrap_or_default().as_bytes());
    add(levels.unwrap_or_default().as_bytes());
    add(data.as_bytes());
    add(&sigma.to_le_bytes());
    add(grid.quantum.name().as_bytes());
    add(&grid.exponent.to_le_bytes());
    add(&draws.bytes());
    add(&nonce.to_le_bytes());
    let digits = sha256(&bytes);
    // Eight bytes as sixteen digits, the first byte lowest.
    let byte = |k: usize| u64::from_str_radix(&digits[2 * k..2 * k + 2], 16).unwrap_or(0);
    (0..8).fold(0, |seed, k| seed | byte(k) << (8 * k))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::Quantum;

    #[test]
    fn every_part_counts() {
        let grid = Grid { quantum: Quantum::Byte, exponent: -2 };
        let draws = PlannedDraws::Certify { selection: 10, estimation: 100, sequential: false };
        let parts = SeedParts {
            model: "m",
            projection: None,
            levels: None,
            data: "d",
            sigma: 0.25,
            grid,
            draws,
            nonce: 0,
        };
        let certify = |selection, estimation, sequential| SeedParts {
            draws: PlannedDraws::Certify { selection, estimation, sequential },
            ..parts
        };
        let all = [
            parts,
            SeedParts { model: "md", data: "", ..parts },
            SeedParts { projection: Some("p"), ..parts },
            SeedParts { levels: Some("p"), ..parts },
            SeedParts { data: "e", ..parts },
            SeedParts { sigma: 0.5, ..parts },
            SeedParts { grid: Grid { exponent: -1, ..grid }, ..parts },
            SeedParts { grid: Grid { quantum: Quantum::One, ..grid }, ..parts },
            certify(11, 100, false),
            certify(10, 101, false),
            certify(10, 100, true),
            SeedParts { draws: PlannedDraws::Predict { draws: 100 }, ..parts },
            SeedParts { nonce: 1, ..parts },
        ]
        .map(|parts| derived_seed(&parts));
        assert!((0..all.len()).all(|i| (0..i).all(|j| all[i] != all[j])), "{all:?}");
        assert_eq!(all[0], derived_seed(&parts), "a function");
    }
}
