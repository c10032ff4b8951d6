//! Points of the low-rank factorisation with their products, dual weights and gradients.
//!
//! A product with M is nearly all a step costs. So it is done in single precision, on the difference to the last
//! point whose product is known in double (see `rough.rs`); now and then a point is computed in double precision.

use crate::operator::Operator;
use crate::primal::UnitRows;
use crate::rough::Rough;
use crate::sphere::{add, combination, inner, project, row_products};

/// Below this dimension there is nothing to gain from single precision.
const ROUGH_FROM: usize = 256;

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
}

impl State {
    fn new(v: Vec<f64>, image: Vec<f64>, columns: usize) -> Self {
        let dual = row_products(&v, &image, columns);
        let mut gradient = image.clone();
        project(&v, &mut gradient, columns);
        let value = dual.iter().sum();
        Self { point: UnitRows { entries: v, columns }, image, dual, gradient, value }
    }

    /// |gradient|/value·√n: how far from critical, without units.
    pub(crate) fn criticality(&self) -> f64 {
        let n = self.dual.len() as f64;
        (inner(&self.gradient, &self.gradient) * n).sqrt() / self.value.abs().max(f64::MIN_POSITIVE)
    }
}

/// Points with their images, and what that costs.
pub(crate) struct Evaluator<'a> {
    pub(crate) operator: &'a Operator<'a>,
    /// None where only double precision is used.
    pub(crate) rough: Option<Rough>,
    /// The last point whose image was computed in double precision, with it.
    reference: Option<(Vec<f64>, Vec<f64>)>,
    /// Products with M so far, a block of columns counted as one.
    pub(crate) products: usize,
}

impl<'a> Evaluator<'a> {
    pub(crate) fn new(operator: &'a Operator<'a>) -> Self {
        let rough = if operator.dim() < ROUGH_FROM { None } else { Rough::new(operator) };
        Self { operator, rough, reference: None, products: 0 }
    }

    /// M·U, as good as a direction needs.
    pub(crate) fn product(&self, u: &[f64], columns: usize) -> Vec<f64> {
        match &self.rough {
            Some(rough) => {
                let mut image = vec![0.0; u.len()];
                rough.add_block(u, columns, &mut image);
                image
            }
            None => self.operator.apply_block(u, columns),
        }
    }

    /// A point near the reference: only the way from there goes through single precision.
    pub(crate) fn near(&mut self, v: Vec<f64>, columns: usize) -> State {
        match (&self.rough, &self.reference) {
            (Some(rough), Some((from, exact))) if from.len() == v.len() => {
                let way = combination(&[(1.0, &v), (-1.0, from)]);
                let mut moved = vec![0.0; v.len()];
                rough.add_block(&way, columns, &mut moved);
                self.products += 1;
                // ⟨M, VVᵀ⟩ from three terms of which only the one of second order is rough: line searches compare
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
        if self.rough.is_some() {
            self.reference = Some((v.clone(), image.clone()));
        }
        State::new(v, image, columns)
    }

    /// True where the point is the reference, or there is nothing but double precision.
    pub(crate) fn is_exact(&self, state: &State) -> bool {
        self.rough.is_none() || self.reference.as_ref().is_some_and(|(v, _)| *v == state.point.entries)
    }
}
