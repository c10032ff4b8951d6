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
        let (n, split) = (diagonal.len(), structure.split);
        let mut columns = SparseColumns::new(structure);
        let mut row = WorkRow::new(n);
        let mut pivots = Vec::with_capacity(split);
        let mut left = Vec::with_capacity(n - split);
        let mut work = Work(0);
        for (k, &pivot) in diagonal.iter().enumerate() {
            work.ask(stop)?;
            row.scatter(self, structure, k);
            let pivot = columns.append(k, &mut row, &pivots, pivot, &mut work);
            if k >= split {
                left.push(pivot);
            } else if pivot > 0.0 && pivot.is_finite() {
                pivots.push(pivot.sqrt());
            } else {
                return Ok(false);
            }
        }
        if split == n {
            return Ok(true);
        }
        let mut block = self.block(split, &left, threads);
        columns.subtract_products(&mut block, split, &mut work, stop)?;
        drop(columns); // much memory, and no more use for it
        block.factorises(stop)
    }

    /// The last rows as they are stored, with what is left of their pivots.
    fn block(&self, split: usize, left: &[f64], threads: usize) -> LowerTriangle {
        let dense = left.len();
        let mut block = LowerTriangle::zeros(dense, worthwhile(threads, dense * dense * dense));
        for (k, &pivot) in left.iter().enumerate() {
            *block.entry(k, k) = pivot;
            for at in self.row(split + k) {
                if let Some(column) = (self.columns[at] as usize).checked_sub(split) {
                    *block.entry(k, column) = self.values[at];
                }
            }
        }
        block
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

/// Multiplications since somebody was asked whether to go on.
struct Work(usize);

impl Work {
    /// Asks whether to go on, if there were many.
    fn ask(&mut self, stop: Stop<'_>) -> Result<(), Rejected> {
        self.0 += 1;
        if self.0 <= LOOK {
            return Ok(());
        }
        self.0 = 0;
        if stop() { Err(Rejected::Stopped) } else { Ok(()) }
    }
}

/// One row on its way into the factor.
struct WorkRow {
    /// Entries by column; zero between two rows.
    x: Vec<f64>,
    /// The last row in whose pattern a column was.
    marks: Vec<u32>,
    /// The sparse columns in which the row of the factor has entries, rising.
    pattern: Vec<u32>,
}

impl WorkRow {
    fn new(n: usize) -> Self {
        Self { x: vec![0.0; n], marks: vec![NONE; n], pattern: Vec::new() }
    }

    /// Row k as it is stored, but for the dense block, and its pattern.
    fn scatter(&mut self, rows: &OrderedRows, structure: &Structure, k: usize) {
        self.pattern.clear();
        for at in rows.row(k) {
            let column = rows.columns[at] as usize;
            if column >= structure.split {
                continue; // within the dense block
            }
            self.x[column] = rows.values[at];
            let mut node = column;
            while node < structure.split && node != k && self.marks[node] != index(k) {
                self.marks[node] = index(k);
                self.pattern.push(index(node));
                node = structure.parent[node] as usize;
            }
        }
        self.pattern.sort_unstable(); // children before parents
    }
}

/// The sparse columns of the factor, which fill up row by row.
struct SparseColumns {
    /// Where each column begins, and where its entries so far end.
    starts: Vec<usize>,
    ends: Vec<usize>,
    /// Where its entries in sparse rows end, once these are done.
    inner: Vec<usize>,
    rows: Vec<u32>,
    values: Vec<f64>,
}

impl SparseColumns {
    fn new(structure: &Structure) -> Self {
        let mut starts = Vec::with_capacity(structure.split + 1);
        starts.push(0);
        structure.counts.iter().for_each(|&count| starts.push(starts[starts.len() - 1] + count));
        let entries = starts[structure.split];
        let (ends, rows, values) = (starts.clone(), vec![0; entries], vec![0.0; entries]);
        Self { starts, ends, inner: Vec::new(), rows, values }
    }

    /// Computes row k of the factor, but for its pivot, and appends it to the columns. Returns the pivot less the squares
    /// of the row.
    fn append(
        &mut self,
        k: usize,
        WorkRow { x, pattern, .. }: &mut WorkRow,
        pivots: &[f64],
        mut pivot: f64,
        work: &mut Work,
    ) -> f64 {
        let split = self.starts.len() - 1;
        if k == split {
            self.inner.clone_from(&self.ends);
        }
        for &j in pattern.iter() {
            let j = j as usize;
            let entry = x[j] / pivots[j];
            x[j] = 0.0;
            let (start, end) = (self.starts[j], if k < split { self.ends[j] } else { self.inner[j] });
            work.0 += end - start;
            for (&row, &value) in self.rows[start..end].iter().zip(&self.values[start..end]) {
                x[row as usize] -= value * entry;
            }
            pivot -= entry * entry;
            let at = self.ends[j];
            (self.rows[at], self.values[at]) = (index(k), entry);
            self.ends[j] += 1;
        }
        pivot
    }

    /// Subtracts from the dense block the products of its rows, but for those in its pivots, which are done.
    fn subtract_products(
        &self,
        block: &mut LowerTriangle,
        split: usize,
        work: &mut Work,
        stop: Stop<'_>,
    ) -> Result<(), Rejected> {
        for (&start, &end) in self.inner.iter().zip(&self.ends).take(split) {
            let (rows, values) = (&self.rows[start..end], &self.values[start..end]);
            work.0 += rows.len() * rows.len();
            work.ask(stop)?;
            for (b, (&column, &other)) in rows.iter().zip(values).enumerate() {
                let column = column as usize - split;
                for (&row, &value) in rows[b + 1..].iter().zip(&values[b + 1..]) {
                    *block.entry(row as usize - split, column) -= value * other;
                }
            }
        }
        Ok(())
    }
}

/// Rows are counted in 32 bits: a matrix of more does not come this far.
#[allow(clippy::cast_possible_truncation)]
fn index(k: usize) -> u32 {
    debug_assert!(k < NONE as usize);
    k as u32
}
