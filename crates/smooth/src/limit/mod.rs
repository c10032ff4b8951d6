//! From counts to radii: searches for confidence limits and normal quantiles, what runs decide beforehand about limits, and
//! the one place where counts become a radius.
//!
//! The checker proves what is found here. [`confidence`] proposes limits and [`quantile`] quantiles until one is proven;
//! [`radius_of_counts`] joins them, in [`radius`]. [`rule`] has the rules of runs, [`sample`] what follows by them from the counts of an
//! input.

pub mod confidence;
pub mod quantile;
pub mod radius;
pub mod rule;
pub mod sample;

pub use confidence::{lower_limit, upper_limit};
pub use quantile::{normal_quantile_above, normal_quantile_below};
pub use radius::radius_of_counts;
pub use rule::{LimitRule, SelectionCounts, chosen_sides};
pub use sample::{ClassDraws, LimitChoice, Sample};
