//! How a basis was found.

use std::fmt;

/// What the directions of a basis are made of, and how many there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BasisConstruction {
    /// Coordinates of largest energy.
    Coordinates(usize),
    /// Principal components.
    PrincipalComponents(usize),
    /// Sparse components.
    SparseComponents(usize),
    /// Algorithm 3 of the paper.
    PrincipalAndSparse {
        /// Principal components, r.
        principal: usize,
        /// Sparse components, k − r.
        sparse: usize,
    },
    /// Coordinates tilted towards others.
    TiltedCoordinates(usize),
    /// The same, by the prices that the gradient of the relaxation gives to entries.
    TiltedByGradient(usize),
    /// Coordinates, and directions inside pairs of them.
    Pairs(usize),
    /// So many coordinates, with fewer directions inside groups of them.
    Groups(usize),
    /// Principal components, and coordinates for the rest.
    PrincipalAndCoordinates {
        /// Principal components.
        principal: usize,
        /// All directions.
        rank: usize,
    },
}

impl BasisConstruction {
    /// In words, without numbers.
    pub fn kind(self) -> &'static str {
        match self {
            Self::Coordinates(_) => "coordinates",
            Self::PrincipalComponents(_) => "principal components",
            Self::SparseComponents(_) => "sparse components",
            Self::PrincipalAndSparse { .. } => "principal and sparse components",
            Self::TiltedCoordinates(_) => "tilted coordinates",
            Self::TiltedByGradient(_) => "tilted coordinates, by the gradient of the relaxation",
            Self::Pairs(_) => "directions, coordinates or in pairs of them",
            Self::Groups(_) => "coordinates, some of them in groups",
            Self::PrincipalAndCoordinates { .. } => "principal components and coordinates",
        }
    }

    /// How many of the first [`kind`](Self::kind).
    pub fn count(self) -> usize {
        match self {
            Self::Coordinates(count)
            | Self::PrincipalComponents(count)
            | Self::SparseComponents(count)
            | Self::PrincipalAndSparse { principal: count, .. }
            | Self::TiltedCoordinates(count)
            | Self::TiltedByGradient(count)
            | Self::Pairs(count)
            | Self::Groups(count)
            | Self::PrincipalAndCoordinates { principal: count, .. } => count,
        }
    }

    /// The r of Algorithm 3.
    pub fn split(self) -> Option<usize> {
        match self {
            Self::PrincipalAndSparse { principal, .. } => Some(principal),
            _ => None,
        }
    }
}

/// As in the metadata of projection files. Their hashes depend on it.
impl fmt::Display for BasisConstruction {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PrincipalAndSparse { principal, sparse } => {
                write!(formatter, "{principal} principal and {sparse} sparse components")
            }
            Self::PrincipalAndCoordinates { rank, .. } => {
                write!(formatter, "{} {}, rank {rank}", self.count(), self.kind())
            }
            _ => write!(formatter, "{} {}", self.count(), self.kind()),
        }
    }
}
