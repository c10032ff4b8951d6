//! Tests of the trusted kernel from outside, through its public functions only. The searches that find scales, limits and
//! quantiles are those of `gambeson-lowrank` and `gambeson-smooth`.
//!
//! * [`rational`]: exact arithmetic on stored numbers; the judge of everything below.
//! * [`cases`]: random and adversarial matrices with certificates, good, wild and tampered; case i from seed i.
//! * [`soundness`]: whatever is accepted is true, checked exactly.
//! * [`completeness`]: what ought to be accepted is, the bounds are tight, the refusals say why.
//! * [`blocks`]: the factorisations across the sizes of their blocks, dense, sparse and Gram.
//! * [`oracles`]: optima known by enumeration, and the theorems that relate them to the bounds.
//! * [`binomial_exact`]: binomial tails between big integers; the judge of [`limits`], the confidence limits.
//! * [`candidates`]: the prepared questions, with true and false answers put to them directly.
//! * [`compositions`]: public calls in any order, again and again, with values that do not belong together.
//! * [`radii`]: quantiles, radii and the error of encoding; [`units`]: that of converting stored numbers.

mod binomial_exact;
mod blocks;
/// Candidates, true and false.
mod candidates;
mod cases;
mod completeness;
/// Public calls in any order.
mod compositions;
mod cosines;
mod limits;
mod oracles;
mod radii;
mod rational;
mod soundness;
mod units;
