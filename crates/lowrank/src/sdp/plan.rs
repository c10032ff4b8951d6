//! How an upper bound will be proven, and what that costs, known before anything is solved.
//!
//! **Problem.** The factorisation that proves Diag(d) ⪰ M takes n³/3 operations for a dense matrix, and for a sparse one as
//! much as it fills in. Where that fits neither the time nor the memory there is, find what can be proven within them.
//!
//! **Method.** An entry m_ij may be left out of the factorisation if d_i and d_j are larger by |m_ij| each (the checker's
//! `definite.rs` has the reason). A spanning forest of the largest entries always stays, since it fills in nothing; then as
//! many of the others, large ones first, as the factorisation can afford, by bisection over orders of elimination. At the
//! end of that road all are paid for, and the bound is the sum of all absolute values.
//!
//! **Guarantee.** None of its own: a plan is a proposal to the checker.

use crate::linalg::matrix::SparseMatrix;
use crate::linalg::ordering::{Ordering, minimum_degree};
use crate::sdp::problem::Problem;
use crate::sdp::speed::{Speed, Timer};
/// Of a factor the lengths of its rows are all that counts where all entries are dropped, and no weights are needed.
pub use gambeson_checker::DroppedEntries;
use gambeson_checker::rounding::add_up;
use gambeson_checker::{CheckError, EliminationOrder, PreparedForm, Quadratic, Rejected};

/// What a proof takes, about.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ProofCost {
    /// Wall-clock seconds on this machine where nothing else runs.
    pub seconds: f64,
    /// Bytes beyond the matrix itself.
    pub bytes: u64,
}

impl ProofCost {
    fn fits(&self, limits: &ProofLimits) -> bool {
        limits.seconds.is_none_or(|most| self.seconds <= most)
            && limits.bytes.is_none_or(|most| self.bytes <= most)
    }
}

/// What a proof may take.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct ProofLimits {
    /// Seconds where nothing else runs: what takes longer is reduced until it does not.
    pub(crate) seconds: Option<f64>,
    /// The same for what cannot be reduced, only given up: a proof that ends too late costs nothing that would be of use
    /// without it.
    pub(crate) most_seconds: Option<f64>,
    /// Bytes beyond the matrix itself.
    pub(crate) bytes: Option<u64>,
}

/// How a bound is to be proven.
#[derive(Clone, Debug, Default)]
pub struct ProofPlan {
    /// What is given up.
    pub paid: DroppedEntries,
    /// What the proof takes as planned.
    pub cost: ProofCost,
    /// What it would take with nothing given up.
    pub full: ProofCost,
    /// For sparse matrices.
    pub(crate) order: Option<EliminationOrder>,
}

/// Multiplications per second in the sparse part of a factorisation, where every one goes to another place in memory.
const SPARSE_RATE: f64 = 2.5e8;
/// Rows from which on the machine is measured: fewer are factorised in a fraction of a second in any case.
const MEASURED_FROM: usize = 2000;
/// Orders of elimination tried at most.
const TRIALS: usize = 7;

impl ProofPlan {
    /// For the whole matrix, whatever it takes.
    pub fn full(problem: &Problem, threads: usize) -> Result<Self, CheckError> {
        Self::paying(problem, DroppedEntries::Nothing, threads, &|| false)
    }

    /// For what is left when these entries are paid for. `stop` ends the search for a good order.
    pub fn paying(
        problem: &Problem,
        paid: DroppedEntries,
        threads: usize,
        stop: &dyn Fn() -> bool,
    ) -> Result<Self, CheckError> {
        let speed = || speed_for(problem, &Timer::of_machine());
        match (&paid, problem.quadratic()) {
            (DroppedEntries::Pairs(_), matrix @ Quadratic::Sparse { .. }) => {
                let form = PreparedForm::without(matrix, problem.domain, &paid, threads)?;
                let rows = Rows::of(&form);
                let (order, cost) = rows.ordered(&speed(), threads, stop);
                Ok(Self { paid, cost, full: cost, order: Some(order) })
            }
            // Only a sparse matrix has single entries to pay for.
            (DroppedEntries::Pairs(_), _) => Err(Rejected::BadProposal { index: 0 }.into()),
            (DroppedEntries::Nothing, _) => {
                Self::within(problem, &ProofLimits::default(), &speed(), threads, stop)
            }
            (DroppedEntries::All, _) => Ok(Self { paid, ..Self::default() }),
        }
    }

    /// The best plan that fits. `stop` ends the search for a good order.
    pub(crate) fn within(
        problem: &Problem,
        limits: &ProofLimits,
        speed: &Speed,
        threads: usize,
        stop: &dyn Fn() -> bool,
    ) -> Result<Self, CheckError> {
        match problem.quadratic() {
            Quadratic::Gram { dim, rank, .. } => {
                Ok(Self::all_or_nothing(gram_cost(dim, rank, speed, threads), limits))
            }
            Quadratic::Dense { dim, .. } => Ok(Self::all_or_nothing(dense_cost(dim, speed, threads), limits)),
            matrix @ Quadratic::Sparse { .. } => {
                let form = PreparedForm::new(matrix, problem.domain, threads)?;
                let rows = Rows::of(&form);
                let (order, full) = rows.ordered(speed, threads, stop);
                if full.fits(limits) {
                    return Ok(Self { paid: DroppedEntries::Nothing, cost: full, full, order: Some(order) });
                }
                Ok(rows.reduced(limits, speed, threads, stop).map_or(
                    Self { paid: DroppedEntries::All, cost: ProofCost::default(), full, order: None },
                    |(paid, order, cost)| Self { paid, cost, full, order: Some(order) },
                ))
            }
        }
    }

    /// Where single entries cannot be given up.
    fn all_or_nothing(full: ProofCost, limits: &ProofLimits) -> Self {
        let limits = ProofLimits { seconds: limits.most_seconds, ..*limits };
        let (paid, cost) = if full.fits(&limits) {
            (DroppedEntries::Nothing, full)
        } else {
            (DroppedEntries::All, ProofCost::default())
        };
        Self { paid, cost, full, order: None }
    }

    /// Whether a failed proof is worth avoiding by a long look at the spectrum: from some 10¹¹ operations on. Not a question
    /// of seconds, which would make results depend on the machine.
    pub(crate) fn is_long(&self) -> bool {
        const ROWS: usize = 6000;
        self.order.as_ref().is_some_and(|order| order.dense >= ROWS)
    }

    /// What is paid in each row of the matrix, rounded up; none where nothing is.
    pub(crate) fn payments(&self, problem: &Problem) -> Option<Vec<f64>> {
        let Quadratic::Sparse { dim, offsets, indices, values } = problem.quadratic() else { return None };
        let DroppedEntries::Pairs(pairs) = &self.paid else { return None };
        let mut payments = vec![0.0; dim];
        for &(i, j) in pairs {
            for (row, column) in [(i as usize, j as usize), (j as usize, i as usize)] {
                let range = offsets[row]..offsets[row + 1];
                if let Ok(at) = indices[range.clone()].binary_search(&column) {
                    payments[row] = add_up(payments[row], values[range.start + at].abs());
                }
            }
        }
        Some(payments)
    }

    /// The problem without the entries that are paid for, for a solver; none where nothing is, or all.
    pub(crate) fn reduced(&self, problem: &Problem) -> Option<Problem> {
        let Quadratic::Sparse { dim, offsets, indices, values } = problem.quadratic() else { return None };
        let DroppedEntries::Pairs(pairs) = &self.paid else { return None };
        let mut values = values.to_vec();
        for &(i, j) in pairs {
            for (row, column) in [(i as usize, j as usize), (j as usize, i as usize)] {
                let range = offsets[row]..offsets[row + 1];
                if let Ok(at) = indices[range.clone()].binary_search(&column) {
                    values[range.start + at] = 0.0;
                }
            }
        }
        let (offsets, indices) = (offsets.to_vec(), indices.to_vec());
        Some(problem.with_entries(SparseMatrix { rows: dim, columns: dim, offsets, indices, values }))
    }
}

/// The entries beside the diagonal of the rows that are kept.
struct Rows {
    /// Numbers of the rows in the matrix.
    kept: Vec<u32>,
    /// By kept row: kept rows beside it and |m_ij|.
    entries: Vec<Vec<(u32, f64)>>,
}

impl Rows {
    fn of(form: &PreparedForm<'_>) -> Self {
        let kept: Vec<u32> = form.kept().iter().map(|&i| index(i)).collect();
        let Quadratic::Sparse { dim, offsets, indices, values } = form.stored() else {
            return Self { kept, entries: Vec::new() };
        };
        let mut place = vec![u32::MAX; dim];
        (0..).zip(&kept).for_each(|(k, &i)| place[i as usize] = k);
        let row = |&i: &u32| {
            let range = offsets[i as usize]..offsets[i as usize + 1];
            let entries = indices[range.clone()].iter().zip(&values[range]);
            let beside = entries.filter(|&(&j, &value)| value != 0.0 && j != i as usize);
            beside.map(|(&j, value)| (place[j], value.abs())).collect()
        };
        Self { entries: kept.iter().map(row).collect(), kept }
    }

    /// As many entries as fit, and an order for them; none where not even a forest does.
    fn reduced(
        &self,
        limits: &ProofLimits,
        speed: &Speed,
        threads: usize,
        stop: &dyn Fn() -> bool,
    ) -> Option<(DroppedEntries, EliminationOrder, ProofCost)> {
        let mut edges: Vec<(u32, u32, f64)> = Vec::new();
        for (i, row) in (0..).zip(&self.entries) {
            edges.extend(row.iter().filter(|&&(j, _)| i < j).map(|&(j, size)| (i, j, size)));
        }
        // Of equal ones, any: by a number without pattern, so that what is left is thinned out evenly.
        let mixed = |i: u32, j: u32| {
            (u64::from(i) << 32 | u64::from(j)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
        };
        edges.sort_by(|a, b| b.2.total_cmp(&a.2).then_with(|| mixed(a.0, a.1).cmp(&mixed(b.0, b.1))));
        let mut forest = Forest::new(self.entries.len());
        let (tree, others): (Vec<_>, Vec<_>) = edges.into_iter().partition(|&(i, j, _)| forest.joins(i, j));
        let attempt = |count: usize| {
            let mut entries = vec![Vec::new(); self.entries.len()];
            for &(i, j, size) in tree.iter().chain(&others[..count]) {
                entries[i as usize].push((j, size));
                entries[j as usize].push((i, size));
            }
            Self { kept: Vec::new(), entries }.ordered(speed, threads, stop)
        };
        let (mut fits, mut too_many): (Option<(usize, EliminationOrder, ProofCost)>, usize) =
            (None, others.len());
        let (order, cost) = attempt(0);
        if cost.fits(limits) {
            fits = Some((0, order, cost));
        }
        for _ in 0..TRIALS {
            let Some(least) = fits.as_ref().map(|(count, ..)| *count) else { break };
            let middle = least.midpoint(too_many);
            if middle == least || stop() {
                break;
            }
            let (order, cost) = attempt(middle);
            if cost.fits(limits) { fits = Some((middle, order, cost)) } else { too_many = middle }
        }
        fits.map(|(count, order, cost)| {
            let pair = |&(i, j, _): &(u32, u32, f64)| (self.kept[i as usize], self.kept[j as usize]);
            (DroppedEntries::Pairs(others[count..].iter().map(pair).collect()), order, cost)
        })
    }

    /// A good order with the best place to go over to a dense block, and what it takes.
    fn ordered(
        &self,
        speed: &Speed,
        threads: usize,
        stop: &dyn Fn() -> bool,
    ) -> (EliminationOrder, ProofCost) {
        let neighbours: Vec<Vec<u32>> =
            self.entries.iter().map(|row| row.iter().map(|&(j, _)| j).collect()).collect();
        let Ordering { order, counts } = minimum_degree(&neighbours, stop);
        let n = order.len();
        let seconds = |sparse: f64, dense: usize| sparse / SPARSE_RATE + speed.dense_seconds(dense, threads);
        let bytes = |entries: u64, dense: usize| 12 * entries + 4 * (dense as u64) * (dense as u64 + 400);
        let (mut sparse, mut entries) = (0.0, 0_u64);
        let mut best = (seconds(0.0, n), n, bytes(0, n));
        for (k, &count) in counts.iter().enumerate() {
            sparse += f64::from(count).powi(2) / 2.0;
            entries += u64::from(count);
            let dense = n - k - 1;
            let time = seconds(sparse, dense);
            if time <= best.0 {
                best = (time, dense, bytes(entries, dense));
            }
        }
        let (seconds, dense, bytes) = best;
        // Rows of the matrix in the order of elimination, besides.
        let bytes = bytes + 40 * self.entries.iter().map(|row| row.len() as u64 + 1).sum::<u64>();
        (EliminationOrder { order, dense }, ProofCost { seconds, bytes })
    }
}

/// Which trees rows are in.
struct Forest(Vec<u32>);

impl Forest {
    fn new(n: usize) -> Self {
        Self((0..).take(n).collect())
    }

    fn root(&mut self, mut i: u32) -> u32 {
        while self.0[i as usize] != i {
            self.0[i as usize] = self.0[self.0[i as usize] as usize];
            i = self.0[i as usize];
        }
        i
    }

    /// Joins the trees of two rows; false where they are one already.
    fn joins(&mut self, i: u32, j: u32) -> bool {
        let (i, j) = (self.root(i), self.root(j));
        self.0[i as usize] = j;
        i != j
    }
}

fn dense_cost(n: usize, speed: &Speed, threads: usize) -> ProofCost {
    let bytes = 4 * (n as u64) * (n as u64 + 400);
    ProofCost { seconds: speed.dense_seconds(n, threads), bytes }
}

/// Of the smaller of UᵀU and UUᵀ: multiplied out, and factorised twice.
fn gram_cost(dim: usize, rank: usize, speed: &Speed, threads: usize) -> ProofCost {
    let (small, long) = (rank.min(dim), rank.max(dim));
    let one = dense_cost(small, speed, threads);
    let product = speed.product_seconds((small as f64).powi(2) * long as f64 / 2.0, long, threads);
    ProofCost { seconds: product + 2.0 * one.seconds, bytes: one.bytes + 8 * (small as u64).pow(2) }
}

/// How fast the machine is, measured in some ten milliseconds where a proof may take long.
pub(crate) fn speed_for(problem: &Problem, timer: &Timer) -> Speed {
    let rows = match problem.quadratic() {
        Quadratic::Gram { dim, rank, .. } => rank.min(dim),
        Quadratic::Dense { dim, .. } | Quadratic::Sparse { dim, .. } => dim,
    };
    if rows < MEASURED_FROM { Speed::default() } else { Speed::measured(timer, 0.1) }
}

/// Rows are counted in 32 bits.
fn index(i: usize) -> u32 {
    u32::try_from(i).unwrap_or(u32::MAX)
}
