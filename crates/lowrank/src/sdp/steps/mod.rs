//! The steps of a bracket: a problem made smaller for the solver (`compact`), one run of it (`attempt`), weights mended
//! where a failed proof would take long (`repair`), and the proof of the upper end (`upper`).

pub(super) mod attempt;
pub(super) mod compact;
pub(super) mod repair;
pub(super) mod upper;
