//! From counts to radii. To be read in this order: `sampling` (counts and rules), `limit` and `tail` (confidence limits),
//! `quantile` (of the normal distribution), `radius` and `counted` (from counts to a radius in one question); below them
//! `special` (ln and exp) and `double` (106 bits).

pub(crate) mod counted;
mod double;
pub(crate) mod limit;
pub(crate) mod quantile;
pub(crate) mod radius;
pub(crate) mod sampling;
pub(crate) mod special;
mod tail;
