//! Networks compared with each other and with statements of the paper.

use super::certified::{Claim, ClaimRow, Comparison, NetworkResults};
use super::stage::Entry;
use crate::report::decimal::{down_to_places, percent_down, up_to_places};
use crate::report::spread::NOTHING;
use crate::report::table::Table;
use gambeson_learn::attack::BallNorm;

/// Certified accuracy below which curves are not compared.
const LOW: f64 = 0.1;

/// Differences of certified accuracy in percentage points, with intervals; `None` without comparisons in this norm.
pub(super) fn differences(results: &NetworkResults, norm: BallNorm) -> Option<Table> {
    let experiment = results.experiment;
    let pairs: Vec<&Comparison> = experiment.compare.iter().filter(|pair| pair.norm == norm).collect();
    if pairs.is_empty() {
        return None;
    }
    let caption = format!(
        "Difference in certified accuracy, first network minus second, in percentage points, at {} radii, with Tango's 95 % \
         score interval. Both networks are certified on the same inputs.",
        symbol(norm)
    );
    let mut table = Table::new(caption, pairs.iter().filter_map(|pair| order(results, pair)).collect());
    let labels = |pair: &Comparison| [&pair.first, &pair.second].map(|name| label(results, name));
    table.words("first", &pairs, |pair| labels(pair)[0].clone());
    table.words("second", &pairs, |pair| labels(pair)[1].clone());
    for &radius in experiment.table_radii(norm) {
        table.column(symbol(norm), &radius.to_string(), &pairs, |pair| {
            difference(results, pair, radius).unwrap_or_else(|| NOTHING.to_owned())
        });
    }
    Some(table)
}

fn symbol(norm: BallNorm) -> &'static str {
    match norm {
        BallNorm::L2 => "l2",
        BallNorm::Linf => "l_inf",
    }
}

/// A network's label, with its data where there are others.
fn label(results: &NetworkResults, name: &str) -> String {
    let Some(entry) = results.experiment.entry(name) else { return name.to_owned() };
    if results.experiment.data().len() > 1 {
        format!("{}, {}", entry.data(), entry.label)
    } else {
        entry.label.clone()
    }
}

/// A number with its sign, but for zero.
fn signed(text: String) -> String {
    let size = text.trim_start_matches('-');
    match size.bytes().all(|byte| matches!(byte, b'0' | b'.')) {
        true => size.to_owned(),
        false if text.starts_with('-') => text,
        false => format!("+{text}"),
    }
}

/// Difference, rounded to nearest, and interval, rounded outwards; `–` where neither network certifies anything.
fn difference(results: &NetworkResults, pair: &Comparison, radius: f64) -> Option<String> {
    let found = results.compared(pair)?;
    let at = found.radii.iter().position(|other| *other == radius)?;
    let seen =
        [&found.both, &found.only_first, &found.only_second].map(|all| all.get(at).copied().unwrap_or(0));
    if seen == [0; 3] {
        return None; // neither reaches so far
    }
    let [mean, low, high] =
        [&found.difference, &found.low, &found.high].map(|all| all.get(at).map(|x| 100.0 * x));
    Some(format!(
        "{} [{}, {}]",
        signed(format!("{:.1}", mean?)),
        signed(down_to_places(low?, 1)),
        signed(up_to_places(high?, 1))
    ))
}

/// The number of radii at which the first curve is above the second, among those where either reaches [`LOW`].
fn order(results: &NetworkResults, pair: &Comparison) -> Option<String> {
    let entries = [&pair.first, &pair.second].map(|name| results.experiment.entry(name));
    let [Some(first), Some(second)] = entries else { return None };
    let (mut looked, mut above, mut rest) = (0, 0, Vec::new());
    for radius in results.experiment.radii(pair.norm) {
        let one = results.accuracy(first, pair.norm, radius)?;
        let other = results.accuracy(second, pair.norm, radius)?;
        if one.max(other) < LOW {
            continue;
        }
        looked += 1;
        if one > other {
            above += 1;
        } else {
            rest.push(radius);
        }
    }
    let ends = rest.first().zip(rest.last());
    let rest = ends.map_or(String::new(), |(from, to)| format!("; the others are between {from} and {to}"));
    Some(format!(
        "{} is above {} at {above} of the {looked} {} radii of the figure at which either certifies {:.0} %{rest}.",
        label(results, &pair.first),
        label(results, &pair.second),
        symbol(pair.norm),
        100.0 * LOW
    ))
}

/// The paper's natural accuracies beside ours; one table per statement.
pub(super) fn claims(results: &NetworkResults) -> Vec<Table> {
    results.experiment.claim.iter().map(|claim| table(results, claim)).collect()
}

fn table(results: &NetworkResults, claim: &Claim) -> Table {
    let caption = format!(
        "{}: the best natural accuracy (%) of a network that certifies at least {:.0} % at l2 radius {}. The paper's numbers \
         are of CIFAR-10 and ResNet-32.",
        results.experiment.data().join(", "),
        100.0 * claim.certified,
        claim.radius
    );
    let mut table = Table::new(caption, Vec::new());
    let rows: Vec<&ClaimRow> = claim.rows.iter().collect();
    table.words("method", &rows, |row| row.label.clone());
    table.quoted("", "the paper", &rows, |row| format!("about {:.0}", 100.0 * row.paper));
    let certified = |entry: &Entry| results.accuracy(entry, BallNorm::L2, claim.radius);
    let networks = |row: &ClaimRow| -> Vec<(f64, f64)> {
        let entries = row.networks.iter().filter_map(|name| results.experiment.entry(name));
        entries
            .filter_map(|entry| Some((certified(entry)?, results.accuracy(entry, BallNorm::L2, 0.0)?)))
            .collect()
    };
    table.column("", "here", &rows, |row| {
        let enough = networks(row).into_iter().filter(|(certified, _)| *certified >= claim.certified);
        enough.map(|(_, natural)| natural).reduce(f64::max).map_or_else(|| NOTHING.to_owned(), percent_down)
    });
    table.column("", &format!("most certified at {}", claim.radius), &rows, |row| {
        let most = networks(row).into_iter().map(|(certified, _)| certified).reduce(f64::max);
        most.map_or_else(|| NOTHING.to_owned(), percent_down)
    });
    table
}
