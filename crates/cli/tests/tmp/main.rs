#[path = "../it/report/mod.rs"]
mod report;
#[path = "../it/support.rs"]
mod support;
