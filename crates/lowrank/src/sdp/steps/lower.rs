//! The lower ends of a bracket: at a vertex and at a feasible point of the relaxation.

use crate::linalg::operator::Operator;
use crate::linalg::unit_rows::UnitRows;
use crate::sdp::problem::Problem;
use crate::sdp::steps::reduce::ReducedProblem;
use crate::sdp::vertex::best_vertex;
use gambeson_checker::{CheckError, RelaxationValue, VertexValue, vertex_value};
use rand_chacha::ChaCha8Rng;

/// A good vertex of the whole problem, rounded from a point in so many trials. `operator` is that of the reduced one.
pub(crate) fn rounded(
    problem: &Problem,
    reduced: &ReducedProblem,
    operator: &Operator<'_>,
    point: &UnitRows,
    trials: usize,
    rng: &mut ChaCha8Rng,
) -> Vec<f64> {
    if !reduced.drops_entries {
        let vertex = best_vertex(operator, &reduced.part_of(point), trials, rng);
        return reduced.whole(vertex, 1.0);
    }
    // The solver did not see all entries, and the vertex should.
    let all = ReducedProblem::without_zero_rows(problem);
    let operator = Operator::new(all.problem(problem).quadratic(), problem.domain);
    all.whole(best_vertex(&operator, &all.part_of(point), trials, rng), 1.0)
}

/// The lower ends at a vertex and at a feasible point, in the units of the norm, for all entries within their error.
pub(crate) fn lower_ends(
    problem: &Problem,
    vertex: &[f64],
    sdp_lower: RelaxationValue,
    threads: usize,
) -> Result<(VertexValue, RelaxationValue), CheckError> {
    let matrix = problem.quadratic();
    let mut lower = vertex_value(matrix, vertex, threads)?;
    // A vertex is a feasible point too.
    let at_vertex = RelaxationValue::from(lower);
    let mut sdp_lower = if at_vertex.value() > sdp_lower.value() { at_vertex } else { sdp_lower };
    if let Some(rows) = problem.dilated_rows() {
        lower = lower.of_dilation(rows)?;
        sdp_lower = sdp_lower.of_dilation(rows)?;
    }
    let error = problem.error();
    Ok(if problem.is_factor() {
        (lower.widened_factor(error), sdp_lower.widened_factor(error))
    } else {
        (lower.widened(error), sdp_lower.widened(error))
    })
}
