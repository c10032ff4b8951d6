//! The stages of a bracket: the time each may take (`budget`, with what `pace` learns of the solver), the problem made smaller for the solver (`reduce`), one run
//! of the solver (`attempt`) and who watches it (`monitor`), weights mended where a failed proof would take long (`repair`), the proof of the upper end
//! (`upper`), whether equal weights prove as much (`trivial`), and the lower ends (`lower`).

pub(super) mod attempt;
pub(super) mod budget;
pub(super) mod lower;
pub(super) mod monitor;
pub(super) mod pace;
pub(super) mod reduce;
pub(super) mod repair;
pub(super) mod trivial;
pub(super) mod upper;

#[cfg(test)]
mod tests;
