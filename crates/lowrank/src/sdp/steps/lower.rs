//! The lower ends of a bracket: at a vertex and at a feasible point of the relaxation.

use crate::linalg::operator::Operator;
use crate::linalg::unit_rows::UnitRows;
use crate::sdp::problem::Problem;
use crate::sdp::steps::reduce::ReducedProblem;
use crate::sdp::vertex::best_vertex;
use gambeson_checker::{CheckError, RelaxationValue, VertexValue, vertex_value};
use rand_chacha::ChaCha8Rng;

/// A good vertex of the whole problem, rounded from a point in so many trials. `operator` is that of the reduced one; `stop`
/// ends the search.
pub(crate) fn rounded(
    problem: &Problem,
    reduced: &ReducedProblem,
    operator: &Operator<'_>,
    point: &UnitRows,
    trials: usize,
    rng: &mut ChaCha8Rng,
    stop: &dyn Fn() -> bool,
) -> Vec<f64> {
    if !reduced.drops_entries {
        let vertex = best_vertex(operator, &reduced.part_of(point), trials, rng, stop);
        return reduced.whole(vertex, 1.0);
    }
    // The solver did not see all entries, and the vertex should.
    let all = ReducedProblem::without_zero_rows(problem);
    let operator = Operator::new(all.problem(problem).quadratic(), problem.domain);
    all.whole(best_vertex(&operator, &all.part_of(point), trials, rng, stop), 1.0)
}

/// The lower ends at a vertex and at a feasible point, in the units of the norm, for all entries within their error.
pub(crate) fn lower_ends(
    problem: &Problem,
    vertex: &[f64],
    sdp_lower: RelaxationValue,
    threads: usize,
) -> Result<(VertexValue, RelaxationValue), CheckError> {
    let matrix = problem.quadratic();
    let lower = vertex_value(matrix, vertex, threads)?;
    // A vertex is a feasible point too.
    let at_vertex = RelaxationValue::from(lower);
    let mut sdp_lower = if at_vertex.value() > sdp_lower.value() { at_vertex } else { sdp_lower };
    if let Some(rows) = problem.dilated_rows() {
        sdp_lower = sdp_lower.of_dilation(rows)?;
    }
    let error = problem.error();
    let sdp_lower =
        if problem.is_factor() { sdp_lower.widened_factor(error) } else { sdp_lower.widened(error) };
    Ok((in_units(problem, lower)?, sdp_lower))
}

/// What a vertex proves about a problem from below, in units of its norm (the square for ∞→2), whatever its entries are
/// within their error. `vertex` has an entry of 1 or −1 for every row of the quadratic form; for ∞→1 these are the signs a
/// of the rows of A, then the signs b of its columns, and the norm is at least aᵀAb.
pub fn prove_vertex(problem: &Problem, vertex: &[f64], threads: usize) -> Result<VertexValue, CheckError> {
    in_units(problem, vertex_value(problem.quadratic(), vertex, threads)?)
}

/// A value of the quadratic form as one of the norm, for all entries within their error.
fn in_units(problem: &Problem, value: VertexValue) -> Result<VertexValue, CheckError> {
    let value = match problem.dilated_rows() {
        Some(rows) => value.of_dilation(rows)?,
        None => value,
    };
    let error = problem.error();
    Ok(if problem.is_factor() { value.widened_factor(error) } else { value.widened(error) })
}
