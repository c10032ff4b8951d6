//! Evidence to hand over: a run with everything that is needed to check it, in one folder or archive.
//!
//! A bundle has the records with their head, the projection with its certificate, the network unless only its hash is wanted,
//! the data if wanted, a page for people, and a manifest: the hash of each file, the claim, and what was left out. It is a
//! function of the run and of nothing else: the same run gives the same bytes, whenever and wherever it is bundled.
//!
//! [`bundle()`] examines a run before it hands it over; [`open_bundle`] reads what a stranger sends, with nothing believed
//! and nothing written; [`check_bundle`] does for it what [`check_records`](crate::check_records()) does for files, and
//! compares manifest and page with what follows from the records: so a page that says more than is proven is rejected, if it
//! is of this version of the program.
//!
//! In the order to read: [`manifest`], `archive` (zip and folders), [`Bundle`], `make`, `parts` and `check`, `page`.

mod archive;
mod check;
mod content;
mod make;
pub mod manifest;
mod outcome;
mod page;
mod parts;

pub use check::check_bundle;
pub use content::{Bundle, BundleRecord, is_archive_name, open_bundle, possible_files};
pub use make::{BundleParams, bundle};
pub use manifest::Manifest;
pub use outcome::{BundleCheck, CheckedBundle, NotChecked, PageCheck, PartOrigin};
pub use parts::CheckBundleParams;
