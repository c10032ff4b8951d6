//! Numbers for people: digits rounded to the safe side, tables, figures.

pub(crate) mod decimal;
pub(crate) mod figure;
pub(crate) mod spread;
pub(crate) mod table;
