//! A matrix made ready for proofs: validated, without the rows that are zero, multiplied out where it must be.
//!
//! Preparing is done once, however many candidates are then tried. A row of zeros leaves x_i free and costs nothing. On
//! [`Domain::Vertices`] the diagonal of a stored matrix is left out as well: it adds tr M, whatever x is.
//!
//! Which entries are dropped is said when a form is made and never again: what is left of the matrix and what is paid for
//! the rest are one value ([`Reduction`]), so that no later call can change one of them alone.

use crate::kernel::self_product::self_product;
use crate::quadratic::form::DilationRows;
use crate::quadratic::sparse::{EliminationOrder, FactorisationCost, OrderedRows};
use crate::rounding::{add_up, ensure_ieee, gamma, mul_up, sum_up};
use crate::threads::Stop;
use crate::{CheckError, Domain, Quadratic, Rejected};

/// Entries beside the diagonal that are left out of a factorisation, each paid for with |m_ij| on the diagonal at i and at
/// j. A proposal: whatever is dropped, what is proven is about the whole matrix.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum DroppedEntries {
    /// None: the whole matrix is factorised.
    #[default]
    Nothing,
    /// These (i, j), i ≠ j, of a sparse matrix, and their mirror images.
    Pairs(Vec<(u32, u32)>),
    /// All beside the diagonal: what is left needs no factorisation.
    All,
}

impl DroppedEntries {
    /// Whether every entry stays.
    pub fn is_nothing(&self) -> bool {
        *self == Self::Nothing
    }
}

/// What is factorised, and what is paid on the diagonal for the rest, rounded up, by kept row.
pub(crate) enum Reduction {
    /// The whole matrix.
    Whole,
    /// The values of a sparse matrix without the pairs dropped.
    Pairs { values: Vec<f64>, payments: Vec<f64> },
    /// The diagonal alone.
    Diagonal { payments: Vec<f64> },
}

impl Reduction {
    pub(crate) fn payments(&self) -> Option<&[f64]> {
        match self {
            Self::Whole => None,
            Self::Pairs { payments, .. } | Self::Diagonal { payments } => Some(payments),
        }
    }
}

/// A form that numbers d can be tried on: see [`PreparedForm::bound`].
pub struct PreparedForm<'a> {
    matrix: Quadratic<'a>,
    /// UUᵀ, where the matrix is given by its factor U.
    product: Option<Vec<f64>>,
    kept: Vec<usize>,
    has_diagonal: bool,
    /// Where the stored numbers were computed: e_i such that |M − stored|_ij ≤ √(e_i·e_j) for kept rows.
    pub(crate) error: Option<Vec<f64>>,
    /// What the diagonal left out adds to every value, rounded up.
    pub(crate) constant: f64,
    pub(crate) threads: usize,
    pub(crate) reduction: Reduction,
    pub(crate) dilation: DilationRows,
    order: Option<EliminationOrder>,
    pub(crate) stop: Stop<'a>,
}

impl<'a> PreparedForm<'a> {
    /// Validates a matrix and prepares it, with up to `threads` threads. Factors are multiplied out.
    pub fn new(matrix: Quadratic<'a>, domain: Domain, threads: usize) -> Result<Self, CheckError> {
        Self::without(matrix, domain, &DroppedEntries::Nothing, threads)
    }

    /// The same without the entries that are dropped. Refuses single entries of a matrix that is not sparse.
    pub fn without(
        matrix: Quadratic<'a>,
        domain: Domain,
        dropped: &DroppedEntries,
        threads: usize,
    ) -> Result<Self, CheckError> {
        ensure_ieee()?;
        matrix.validate(domain, threads)?;
        let kept: Vec<usize> = (0..matrix.dim()).filter(|&i| !matrix.is_zero_row(i, domain)).collect();
        let has_diagonal = domain == Domain::Cube || matches!(matrix, Quadratic::Gram { .. });
        let constant = if has_diagonal { 0.0 } else { sum_up(matrix.trace_terms()) };
        let (mut product, mut error) = (None, None);
        if let Quadratic::Gram { factor, dim, rank } = matrix {
            let row = |i: usize| &factor[i * rank..][..rank];
            let fill = |i: usize, range, out: &mut [f64]| out.copy_from_slice(&row(i)[range]);
            product = Some(self_product(dim, rank, threads, fill));
            // An entry is a sum of `rank` products in some order: |error| ≤ γ·|u_i|·|u_j| + underflow.
            let scale = gamma(rank + 2);
            let lost = mul_up(rank as f64, f64::from_bits(4)); // four times the least positive number
            let of_row = |&i: &usize| {
                let square = sum_up(row(i).iter().map(|&u| mul_up(u, u)));
                add_up(mul_up(scale, square), lost)
            };
            error = Some(kept.iter().map(of_row).collect());
        }
        let whole =
            product.as_ref().map_or(matrix, |entries| Quadratic::Dense { entries, dim: matrix.dim() });
        let reduction = match dropped {
            DroppedEntries::Nothing => Reduction::Whole,
            DroppedEntries::Pairs(pairs) => without_pairs(whole, &kept, pairs)?,
            DroppedEntries::All => diagonal_alone(whole, &kept),
        };
        let dilation = DilationRows::of(&matrix);
        let (order, stop): (_, Stop<'a>) = (None, &|| false);
        Ok(Self {
            matrix,
            product,
            kept,
            has_diagonal,
            error,
            constant,
            threads,
            reduction,
            dilation,
            order,
            stop,
        })
    }

    /// Asks `stop` now and then during a factorisation, which it ends with [`Rejected::Stopped`].
    #[must_use]
    pub fn stopped_by(self, stop: &'a (dyn Fn() -> bool + Sync)) -> Self {
        Self { stop, ..self }
    }

    /// Eliminates the rows of a sparse matrix in this order. Without one, rows with few entries come first.
    pub fn ordered(self, order: EliminationOrder) -> Result<Self, Rejected> {
        let n = self.kept.len();
        let mut seen = vec![false; n];
        for (index, &row) in order.order.iter().enumerate() {
            match seen.get_mut(row as usize) {
                Some(seen) if !*seen => *seen = true,
                _ => return Err(Rejected::BadProposal { index }),
            }
        }
        if order.order.len() != n || order.dense > n {
            return Err(Rejected::BadProposal { index: order.order.len() });
        }
        Ok(Self { order: Some(order), ..self })
    }

    /// What the factorisation of a sparse matrix will take; none for a dense one, which takes n³/3 operations.
    pub fn cost(&self) -> Result<Option<FactorisationCost>, Rejected> {
        if !matches!(self.stored(), Quadratic::Sparse { .. }) || self.is_diagonal() {
            return Ok(None);
        }
        let order = self.order();
        let rows = self.ordered_rows(&order, |value, _, _| value);
        Ok(Some(OrderedRows::cost(&rows.structure(order.dense, self.stop)?)))
    }

    /// The order given, or rows with few entries first.
    pub(crate) fn order(&self) -> EliminationOrder {
        self.order.clone().unwrap_or_else(|| {
            let stored = self.stored();
            let mut order: Vec<u32> = (0..).take(self.kept.len()).collect();
            order.sort_by_cached_key(|&k| {
                stored.row(self.kept[k as usize]).filter(|&(_, value)| value != 0.0).count()
            });
            EliminationOrder { order, dense: 0 }
        })
    }

    /// The entries of a sparse matrix beside the diagonal, in an order of elimination; `change` gets an entry and the
    /// numbers of its two kept rows.
    pub(crate) fn ordered_rows(
        &self,
        order: &EliminationOrder,
        change: impl Fn(f64, usize, usize) -> f64,
    ) -> OrderedRows {
        let stored = self.stored();
        let mut place = vec![u32::MAX; stored.dim()];
        for (k, &row) in (0..).zip(&order.order) {
            place[self.kept[row as usize]] = k;
        }
        let mut rows = OrderedRows { offsets: vec![0], columns: Vec::new(), values: Vec::new() };
        let mut own: Vec<(u32, f64)> = Vec::new();
        for (k, &row) in (0..).zip(&order.order) {
            let row = row as usize;
            own.clear();
            for (j, value) in stored.row(self.kept[row]) {
                let column = place[j];
                if value != 0.0 && column < k {
                    own.push((column, change(value, row, order.order[column as usize] as usize)));
                }
            }
            own.sort_unstable_by_key(|&(column, _)| column);
            rows.columns.extend(own.iter().map(|&(column, _)| column));
            rows.values.extend(own.iter().map(|&(_, value)| value));
            rows.offsets.push(rows.columns.len());
        }
        rows
    }

    /// The rows that are not zero, rising.
    pub fn kept(&self) -> &[usize] {
        &self.kept
    }

    /// Whether the diagonal of [`stored`](Self::stored) counts.
    pub fn has_diagonal(&self) -> bool {
        self.has_diagonal
    }

    /// The numbers a proof works on, zero rows and diagonal included, but for pairs that were dropped: a dense or a sparse
    /// matrix, a computed one where a factor was given.
    pub fn stored(&self) -> Quadratic<'_> {
        match &self.product {
            Some(entries) => Quadratic::Dense { entries, dim: self.matrix.dim() },
            None => match (self.matrix, &self.reduction) {
                (Quadratic::Sparse { dim, offsets, indices, .. }, Reduction::Pairs { values, .. }) => {
                    Quadratic::Sparse { dim, offsets, indices, values }
                }
                (matrix, _) => matrix,
            },
        }
    }

    /// Whether every entry beside the diagonal is dropped.
    pub(crate) fn is_diagonal(&self) -> bool {
        matches!(self.reduction, Reduction::Diagonal { .. })
    }

    /// The diagonal entry of kept row k.
    pub(crate) fn diagonal(&self, k: usize) -> f64 {
        if self.has_diagonal { self.stored().stored_diagonal(self.kept[k]) } else { 0.0 }
    }
}

/// A sparse matrix without these pairs, both triangles. One that is named again is zero by then, and costs nothing.
fn without_pairs(matrix: Quadratic<'_>, kept: &[usize], pairs: &[(u32, u32)]) -> Result<Reduction, Rejected> {
    let Quadratic::Sparse { dim, offsets, indices, values } = matrix else {
        return Err(Rejected::BadProposal { index: 0 });
    };
    let mut values = values.to_vec();
    let mut payments = vec![0.0; dim];
    for (index, &(i, j)) in pairs.iter().enumerate() {
        let (i, j) = (i as usize, j as usize);
        if i == j || i >= dim || j >= dim {
            return Err(Rejected::BadProposal { index });
        }
        for (row, column) in [(i, j), (j, i)] {
            let range = offsets[row]..offsets[row + 1];
            let Ok(at) = indices[range.clone()].binary_search(&column) else {
                return Err(Rejected::BadProposal { index });
            };
            let entry = std::mem::replace(&mut values[range.start + at], 0.0);
            payments[row] = add_up(payments[row], entry.abs());
        }
    }
    Ok(Reduction::Pairs { values, payments: kept.iter().map(|&i| payments[i]).collect() })
}

/// The diagonal of a dense or sparse matrix.
fn diagonal_alone(matrix: Quadratic<'_>, kept: &[usize]) -> Reduction {
    let beside = |i: usize| sum_up(matrix.row(i).filter(|&(j, _)| j != i).map(|(_, value)| value.abs()));
    Reduction::Diagonal { payments: kept.iter().map(|&i| beside(i)).collect() }
}
