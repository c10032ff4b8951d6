//! Numbers for people: decimals rounded to the safe side, tables, figures. Knows nothing of verbs and experiments.

pub(crate) mod base64;
pub(crate) mod decimal;
pub(crate) mod figure;
pub(crate) mod mark;
pub(crate) mod spread;
pub(crate) mod table;
