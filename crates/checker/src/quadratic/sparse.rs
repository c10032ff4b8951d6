//! Cholesky factorisation of a sparse matrix in a given order: the first rows one by one, the last ones as a dense block.
//!
//! The order of elimination is a permutation of rows and columns and changes nothing about definiteness, so it needs no
//! trust: others look for a good one, and what is computed here is what it costs and whether the factorisation runs to
//! completion. Row k of the factor has entries at the ancestors of its stored entries in the elimination tree (Liu, *The
//! role of elimination trees in sparse factorization*, 1990), found by walking up from each of them. Row by row (up-looking,
//! as in Davis, *Direct methods for sparse linear systems*, section 4.7), each entry is still b_ij minus products
//! l_ik·l_jk, then one division or root, as [`definite`](crate::quadratic::definite) asks. What is left of the last rows is
//! updated by all columns before them and goes to the blocked factorisation.

use crate::Rejected;
use crate::quadratic::cholesky::LowerTriangle;
use crate::threads::{Stop, worthwhile};

const NONE: u32 = u32::MAX;
/// Multiplications between two questions whether to go on, about.
const LOOK: usize = 1 << 22;

/// In which order rows are eliminated. A proposal: any order proves the same, at another price.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EliminationOrder {
    /// All kept rows, by their number among these, the first to be eliminated first.
    pub order: Vec<u32>,
    /// How many of the last ones are treated as a dense block.
    pub dense: usize,
}

/// What a factorisation takes, known before it begins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FactorisationCost {
    /// Entries of the sparse part of the factor.
    pub entries: u64,
    /// Multiplications in it, about.
    pub sparse_operations: f64,
    /// Rows of the dense block.
    pub dense: usize,
}

impl FactorisationCost {
    /// Bytes for the factor and what it is made from, about.
    pub fn bytes(&self) -> u64 {
        let dense = self.dense as u64;
        self.entries.saturating_mul(12).saturating_add(dense.saturating_mul(dense + 400).saturating_mul(4))
    }

    /// Multiplications in the dense block.
    pub fn dense_operations(&self) -> f64 {
        (self.dense as f64).powi(3) / 6.0
    }
}

/// The lower triangle of a matrix without its diagonal, in the order of elimination: of row k the columns before k, rising.
pub(crate) struct OrderedRows {
    pub(crate) offsets: Vec<usize>,
    pub(crate) columns: Vec<u32>,
    pub(crate) values: Vec<f64>,
}

/// Where the factor has entries.
pub(crate) struct Structure {
    /// The first row of the dense block.
    split: usize,
    parent: Vec<u32>,
    /// Entries of each sparse column below the diagonal.
    counts: Vec<usize>,
    /// Entries of each row left of the diagonal, in the dense block all of them: as many products at most are
    /// subtracted from an entry of the row.
    pub(crate) products: Vec<usize>,
}

impl OrderedRows {
    fn row(&self, k: usize) -> std::ops::Range<usize> {
        self.offsets[k]..self.offsets[k + 1]
    }

    /// The structure of the factor, with the last `dense` rows a block. Stops early where asked.
    pub(crate) fn structure(&self, dense: usize, stop: Stop<'_>) -> Result<Structure, Rejected> {
        let n = self.offsets.len() - 1;
        let split = n - dense.min(n);
        let mut parent = vec![NONE; n];
        let mut ancestor = vec![NONE; n];
        for k in 0..n {
            for at in self.row(k) {
                let mut node = self.columns[at];
                // Up to the root of the tree so far, which gets k for its parent; the way is cut short for the next.
                while node != NONE && (node as usize) < k {
                    let above = ancestor[node as usize];
                    ancestor[node as usize] = index(k);
                    if above == NONE {
                        parent[node as usize] = index(k);
                    }
                    node = above;
                }
            }
        }
        let mut structure = Structure { split, parent, counts: vec![0; split], products: vec![0; n] };
        let mut marks = vec![NONE; n];
        for k in 0..n {
            if k % 1024 == 0 && stop() {
                return Err(Rejected::Stopped);
            }
            let mut found = 0;
            for at in self.row(k) {
                let mut node = self.columns[at] as usize;
                while node < split && node != k && marks[node] != index(k) {
                    marks[node] = index(k);
                    structure.counts[node] += 1;
                    found += 1;
                    node = structure.parent[node] as usize;
                }
            }
            structure.products[k] = found + k.saturating_sub(split);
        }
        Ok(structure)
    }

    /// True if the factorisation runs to completion; `diagonal` are the pivots in the order of elimination.
    pub(crate) fn factorises(
        &self,
        structure: &Structure,
        diagonal: &[f64],
        threads: usize,
        stop: Stop<'_>,
    ) -> Result<bool, Rejected> {
        let n = diagonal.len();
        let split = structure.split;
        let mut starts = Vec::with_capacity(split + 1);
        starts.push(0);
        structure.counts.iter().for_each(|&count| starts.push(starts[starts.len() - 1] + count));
        // The entries of column j fill up row by row: from starts[j] to ends[j] so far, up to inner[j] in sparse rows.
        let mut ends = starts.clone();
        let mut rows = vec![0_u32; starts[split]];
        let mut values = vec![0.0; starts[split]];
        let mut inner = Vec::new();
        let mut pivots = vec![0.0; split];
        let mut left = Vec::with_capacity(n - split);
        let mut x = vec![0.0; n];
        let (mut marks, mut pattern) = (vec![NONE; n], Vec::new());
        let mut work = 0;
        for k in 0..n {
            if work > LOOK && stop() {
                return Err(Rejected::Stopped);
            }
            work = if work > LOOK { 0 } else { work + 1 };
            if k == split {
                inner.clone_from(&ends);
            }
            pattern.clear();
            for at in self.row(k) {
                let column = self.columns[at] as usize;
                if column >= split {
                    continue; // within the dense block
                }
                x[column] = self.values[at];
                let mut node = column;
                while node < split && node != k && marks[node] != index(k) {
                    marks[node] = index(k);
                    pattern.push(index(node));
                    node = structure.parent[node] as usize;
                }
            }
            pattern.sort_unstable(); // children before parents
            let mut pivot = diagonal[k];
            for &j in &pattern {
                let j = j as usize;
                let entry = x[j] / pivots[j];
                x[j] = 0.0;
                let end = if k < split { ends[j] } else { inner[j] };
                work += end - starts[j];
                for (&row, &value) in rows[starts[j]..end].iter().zip(&values[starts[j]..end]) {
                    x[row as usize] -= value * entry;
                }
                pivot -= entry * entry;
                (rows[ends[j]], values[ends[j]]) = (index(k), entry);
                ends[j] += 1;
            }
            if k >= split {
                left.push(pivot);
            } else if pivot > 0.0 && pivot.is_finite() {
                pivots[k] = pivot.sqrt();
            } else {
                return Ok(false);
            }
        }
        if split == n {
            return Ok(true);
        }
        let inner = if inner.is_empty() { &starts } else { &inner };
        let dense = n - split;
        let mut block = LowerTriangle::zeros(dense, worthwhile(threads, dense * dense * dense));
        for k in split..n {
            *block.entry(k - split, k - split) = left[k - split];
            for at in self.row(k) {
                if let Some(column) = (self.columns[at] as usize).checked_sub(split) {
                    *block.entry(k - split, column) = self.values[at];
                }
            }
        }
        for j in 0..split {
            // The pivots of the block have had their products subtracted above.
            let (rows, values) = (&rows[inner[j]..ends[j]], &values[inner[j]..ends[j]]);
            work += rows.len() * rows.len();
            if work > LOOK {
                work = 0;
                if stop() {
                    return Err(Rejected::Stopped);
                }
            }
            for (b, (&column, &other)) in rows.iter().zip(values).enumerate() {
                let column = column as usize - split;
                for (&row, &value) in rows[b + 1..].iter().zip(&values[b + 1..]) {
                    *block.entry(row as usize - split, column) -= value * other;
                }
            }
        }
        drop((rows, values)); // much memory, and no more use for it
        block.factorises(stop)
    }

    /// What that will take.
    pub(crate) fn cost(structure: &Structure) -> FactorisationCost {
        let n = structure.products.len();
        let entries = structure.counts.iter().map(|&count| count as u64).sum();
        let sparse_operations =
            structure.counts.iter().map(|&count| (count as f64).powi(2)).sum::<f64>() / 2.0;
        FactorisationCost { entries, sparse_operations, dense: n - structure.split }
    }
}

/// Rows are counted in 32 bits: a matrix of more does not come this far.
#[allow(clippy::cast_possible_truncation)]
fn index(k: usize) -> u32 {
    debug_assert!(k < NONE as usize);
    k as u32
}
