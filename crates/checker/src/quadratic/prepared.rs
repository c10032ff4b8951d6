//! A matrix made ready for proofs: validated, without the rows that are zero, multiplied out where it must be.
//!
//! Preparing is done once, however many candidates are then tried. A row of zeros leaves x_i free and costs nothing. On
//! [`Domain::Vertices`] the diagonal of a stored matrix is left out as well: it adds tr M, whatever x is.

use crate::kernel::self_product::self_product;
use crate::quadratic::sparse::{EliminationOrder, FactorisationCost, OrderedRows};
use crate::rounding::{add_up, ensure_ieee, gamma, mul_up, sum_up};
use crate::threads::Stop;
use crate::{CheckError, Domain, Quadratic, Rejected};

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
    /// The values of a sparse matrix without the entries that are paid for.
    values: Option<Vec<f64>>,
    /// What is paid on the diagonal, by kept row.
    pub(crate) payments: Option<Vec<f64>>,
    pub(crate) all_paid: bool,
    order: Option<EliminationOrder>,
    pub(crate) stop: Stop<'a>,
}

impl<'a> PreparedForm<'a> {
    /// Validates a matrix and prepares it, with up to `threads` threads. Factors are multiplied out.
    pub fn new(matrix: Quadratic<'a>, domain: Domain, threads: usize) -> Result<Self, CheckError> {
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
        Ok(Self {
            matrix,
            product,
            kept,
            has_diagonal,
            error,
            constant,
            threads,
            values: None,
            payments: None,
            all_paid: false,
            order: None,
            stop: &|| false,
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

    /// Leaves these entries (i, j), i ≠ j, of a sparse matrix out of the factorisation, both triangles, and pays for each
    /// with |m_ij| on the diagonal at i and at j.
    pub fn paying(mut self, pairs: &[(u32, u32)]) -> Result<Self, Rejected> {
        let Quadratic::Sparse { dim, offsets, indices, values } = self.matrix else {
            return Err(Rejected::BadProposal { index: 0 });
        };
        let mut left = values.to_vec();
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
                let entry = std::mem::replace(&mut left[range.start + at], 0.0);
                payments[row] = add_up(payments[row], entry.abs());
            }
        }
        self.payments = Some(self.kept.iter().map(|&i| payments[i]).collect());
        self.values = Some(left);
        Ok(self)
    }

    /// Pays for every entry beside the diagonal: what is left needs no factorisation.
    #[must_use]
    pub fn paying_all(mut self) -> Self {
        let stored = self.stored();
        let beside = |i: usize| sum_up(stored.row(i).filter(|&(j, _)| j != i).map(|(_, value)| value.abs()));
        self.payments = Some(self.kept.iter().map(|&i| beside(i)).collect());
        self.all_paid = true;
        self
    }

    /// What the factorisation of a sparse matrix will take; none for a dense one, which takes n³/3 operations.
    pub fn cost(&self) -> Result<Option<FactorisationCost>, Rejected> {
        if !matches!(self.stored(), Quadratic::Sparse { .. }) || self.all_paid {
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

    /// The numbers a proof works on, zero rows and diagonal included: a dense or a sparse matrix, a computed one where
    /// a factor was given.
    pub fn stored(&self) -> Quadratic<'_> {
        match &self.product {
            Some(entries) => Quadratic::Dense { entries, dim: self.matrix.dim() },
            None => match (self.matrix, &self.values) {
                (Quadratic::Sparse { dim, offsets, indices, .. }, Some(values)) => {
                    Quadratic::Sparse { dim, offsets, indices, values }
                }
                (matrix, _) => matrix,
            },
        }
    }

    /// The diagonal entry of kept row k.
    pub(crate) fn diagonal(&self, k: usize) -> f64 {
        if self.has_diagonal { self.stored().stored_diagonal(self.kept[k]) } else { 0.0 }
    }
}
