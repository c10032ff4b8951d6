//! The page of one table or figure, or of several in the order of the paper: each with its figure and numbers, then the
//! networks they show.
//!
//! A network that several figures show is on the page once. Its certification records are the copies in the folder of results,
//! so a page can be made without the networks; with them, it has lines that check its numbers again.

use crate::rendered::{CertifiedNetwork, ObjectReport};
use gambeson::report::RunName;
use gambeson::{Context, Report, ReportParams};
use gambeson_learn::train::run::{NETWORK, SPEC};
use gambeson_learn::train::setup::PROJECTION;
use std::path::{Path, PathBuf};

/// Makes the page of what calls of [`reproduce`](crate::reproduce()) came to. `params` say where it goes and what it is called;
/// runs, their names and the sections of the objects are added here.
pub fn page(
    context: &Context,
    objects: &[ObjectReport],
    params: ReportParams,
) -> Result<Report, gambeson::Error> {
    let mut objects: Vec<&ObjectReport> = objects.iter().collect();
    objects.sort_by_key(|object| object.name);
    let mut networks: Vec<&CertifiedNetwork> = Vec::new();
    for network in objects.iter().flat_map(|object| &object.networks) {
        if !networks.iter().any(|known| known.records == network.records) {
            networks.push(network);
        }
    }
    let one_set = networks.iter().all(|network| network.data == networks[0].data);
    let label = |network: &&CertifiedNetwork| {
        if one_set { network.title.clone() } else { format!("{}, {}", network.data, network.title) }
    };
    let files = |name: &str| -> Vec<PathBuf> {
        networks.iter().map(|network| network.run.join(name)).filter(|path| path.exists()).collect()
    };
    let beside =
        |network: &CertifiedNetwork, name: &str| network.records.parent().unwrap_or(Path::new("")).join(name);
    let name = |network: &&CertifiedNetwork| RunName {
        paths: vec![network.records.clone(), network.records.parent().unwrap_or(Path::new("")).to_path_buf()],
        label: label(network),
    };
    let runs = networks.iter().flat_map(|network| [network.records.clone(), beside(network, SPEC)]);
    let runs: Vec<PathBuf> = runs.filter(|path| path.exists()).collect();
    let params = ReportParams {
        names: networks.iter().map(name).collect(),
        problems: objects.iter().flat_map(|object| object.left_out.clone()).collect(),
        networks: files(NETWORK),
        projections: files(PROJECTION),
        opening: objects.iter().map(|object| object.section.clone()).collect(),
        ..params
    };
    gambeson::report(context, &runs, params)
}
