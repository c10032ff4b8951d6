//! Points of the low-rank factorisation with their products, dual weights and gradients.
//!
//! Nearly all the cost of a step is its product with M. So it is done in single precision, on the difference from the
//! last point whose product is known in double (see `linalg/single.rs`); now and then a point is computed in double precision.

use crate::linalg::operator::{Operator, dot};
use crate::linalg::single::SinglePrecision;
use crate::linalg::sphere::{add, combination, inner, normalise, project, row_products};
use crate::linalg::unit_rows::UnitRows;
use rand::Rng;
use rand_distr::{Distribution, StandardNormal};

/// Below this dimension there is nothing to gain from single precision.
const SINGLE_FROM: usize = 256;

/// V with everything known there.
pub(crate) struct State {
    pub(crate) point: UnitRows,
    /// M·V.
    pub(crate) image: Vec<f64>,
    /// y_i = ⟨v_i, (MV)_i⟩.
    pub(crate) dual: Vec<f64>,
    /// M·V − Diag(y)·V, half the Riemannian gradient of ⟨M, VVᵀ⟩.
    pub(crate) gradient: Vec<f64>,
    /// ⟨M, VVᵀ⟩, in exact arithmetic Σ y.
    pub(crate) value: f64,
    /// Σ |(MV)_i|: near a maximum Σ |y|, and never zero by cancellation.
    pub(crate) size: f64,
}

impl State {
    fn new(v: Vec<f64>, image: Vec<f64>, columns: usize) -> Self {
        let dual = row_products(&v, &image, columns);
        let mut gradient = image.clone();
        project(&v, &mut gradient, columns);
        let value = dual.iter().sum();
        let size = row_products(&image, &image, columns).iter().map(|square| square.sqrt()).sum();
        Self { point: UnitRows { entries: v, columns }, image, dual, gradient, value, size }
    }

    /// |gradient|/size·√n: how far from critical, without units.
    pub(crate) fn criticality(&self) -> f64 {
        let n = self.dual.len() as f64;
        (inner(&self.gradient, &self.gradient) * n).sqrt() / self.size.max(f64::MIN_POSITIVE)
    }
}

/// Points with their images, and what that costs.
pub(crate) struct Evaluator<'a> {
    pub(crate) operator: &'a Operator<'a>,
    /// None where only double precision is used.
    pub(crate) single: Option<SinglePrecision>,
    /// The last point whose image was computed in double precision, with it.
    reference: Option<(Vec<f64>, Vec<f64>)>,
    /// Products with M so far, a block of columns counted as one.
    pub(crate) products: usize,
}

impl<'a> Evaluator<'a> {
    pub(crate) fn new(operator: &'a Operator<'a>) -> Self {
        let single = if operator.dim() < SINGLE_FROM { None } else { SinglePrecision::new(operator) };
        Self { operator, single, reference: None, products: 0 }
    }

    /// A point given by the caller, its rows brought to length one.
    pub(crate) fn given(&mut self, rows: &UnitRows) -> State {
        let mut v = rows.entries.clone();
        normalise(&mut v, rows.columns);
        self.exact(v, rows.columns)
    }

    /// Random rows after a few steps of V ← rows of M·V, fewer where `stop` says so.
    pub(crate) fn random(
        &mut self,
        columns: usize,
        rng: &mut impl Rng,
        stop: &mut dyn FnMut() -> bool,
    ) -> State {
        let n = self.operator.dim();
        let mut v: Vec<f64> = (0..n * columns).map(|_| StandardNormal.sample(rng)).collect();
        normalise(&mut v, columns);
        for _ in 0..5 {
            if stop() {
                break;
            }
            let mut image = self.product(&v, columns);
            self.products += 1;
            // Half of the present row keeps the step from overshooting where M is indefinite.
            for (image, v) in image.chunks_exact_mut(columns).zip(v.chunks_exact(columns)) {
                let half = 0.5 * dot(image, image).sqrt();
                image.iter_mut().zip(v).for_each(|(image, v)| *image += half * v);
            }
            normalise(&mut image, columns);
            v = image;
        }
        self.exact(v, columns)
    }

    /// M·U, accurate enough for a direction.
    pub(crate) fn product(&self, u: &[f64], columns: usize) -> Vec<f64> {
        match &self.single {
            Some(single) => {
                let mut image = vec![0.0; u.len()];
                single.add_block(u, columns, &mut image);
                image
            }
            None => self.operator.apply_block(u, columns),
        }
    }

    /// A point near the reference: only the difference goes through single precision.
    pub(crate) fn near(&mut self, v: Vec<f64>, columns: usize) -> State {
        match (&self.single, &self.reference) {
            (Some(single), Some((from, exact))) if from.len() == v.len() => {
                let way = combination(&[(1.0, &v), (-1.0, from)]);
                let mut moved = vec![0.0; v.len()];
                single.add_block(&way, columns, &mut moved);
                self.products += 1;
                // ⟨M, VVᵀ⟩ from three terms, of which only the one of second order is in single precision: line searches compare
                // values, and ⟨V, image⟩ would be off by the length of the way.
                let value = inner(from, exact) + (2.0 * inner(&way, exact) + inner(&way, &moved));
                add(&mut moved, 1.0, exact);
                State { value, ..State::new(v, moved, columns) }
            }
            _ => self.exact(v, columns),
        }
    }

    /// A point in double precision: the new reference.
    pub(crate) fn exact(&mut self, v: Vec<f64>, columns: usize) -> State {
        let image = self.operator.apply_block(&v, columns);
        self.products += 1;
        if self.single.is_some() {
            self.reference = Some((v.clone(), image.clone()));
        }
        State::new(v, image, columns)
    }

    /// True where the point is the reference, or only double precision is used.
    pub(crate) fn is_exact(&self, state: &State) -> bool {
        self.single.is_none() || self.reference.as_ref().is_some_and(|(v, _)| *v == state.point.entries)
    }
}
