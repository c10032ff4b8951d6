//! Heads and records changed field by field: as they are, with digests that fit, with radii that follow, with a seed that
//! follows.

use super::changes::{Change, changes};
use super::honest::Honest;
use crate::records::{try_derived, try_sealed};
use serde_json::Value;

/// A forged file, and what was done to it.
pub(super) type Forgery = (String, String);

/// A line as JSON, with the key first by which heads are known.
fn line_of(line: &Value) -> String {
    let mut rest = line.clone();
    match rest.as_object_mut().and_then(|object| object.remove("gambeson")) {
        Some(kind) => format!("{{\"gambeson\":{kind},{}\n", &rest.to_string()[1..]),
        None => format!("{line}\n"),
    }
}

/// Records with the class and radii that their counts prove by the run of a head.
fn all_derived(head: &Value, records: &[Value]) -> Option<Vec<Value>> {
    records.iter().map(|record| try_derived(head, record)).collect()
}

/// Every field of the head changed.
pub(super) fn of_heads(honest: &Honest) -> impl Iterator<Item = Forgery> + '_ {
    let records: String = honest.text.split_inclusive('\n').skip(1).collect();
    changes(&honest.head).into_iter().flat_map(move |Change { name, value: head }| {
        let mut found = vec![(format!("head {name}"), line_of(&head) + &records)];
        let mut add = |how: &str, text: Option<String>| {
            found.extend(text.map(|text| (format!("head {name}, {how}"), text)));
        };
        add("sealed", try_sealed(&head, &honest.records));
        let derived = |head: &Value| try_sealed(head, &all_derived(head, &honest.records)?);
        add("with radii", derived(&head));
        let seed = || {
            let mut head = head.clone();
            head["run"]["seed"] = honest.seed_of(&head)?.into();
            derived(&head)
        };
        add("with radii and seed", seed());
        found
    })
}

/// Every field of one record that certifies, of one that does not, and of all of them changed.
pub(super) fn of_records(honest: &Honest) -> impl Iterator<Item = Forgery> + '_ {
    let right = |record: &Value| !record["class"].is_null() && record["class"] == record["label"];
    let (good, bad): (Vec<usize>, Vec<usize>) =
        (0..honest.records.len()).partition(|&at| right(&honest.records[at]));
    let targets = [good[..1].to_vec(), bad[..1].to_vec(), (0..honest.records.len()).collect()];
    let lists: Vec<Vec<Change>> = honest.records.iter().map(changes).collect();
    let head = honest.text.lines().next().unwrap_or_default().to_owned() + "\n";
    targets.into_iter().flat_map(move |target| {
        let mut found = Vec::new();
        for Change { name, .. } in &lists[target[0]] {
            let mut records = honest.records.clone();
            for &at in &target {
                // The same field changed in the same way, if it is of the same type there.
                if let Some(change) = lists[at].iter().find(|change| change.name == *name) {
                    records[at] = change.value.clone();
                }
            }
            let place = format!("{} records, {name}", target.len());
            let lines: String = records.iter().map(line_of).collect();
            found.push((place.clone(), head.clone() + &lines));
            let sealed = try_sealed(&honest.head, &records);
            found.extend(sealed.map(|text| (format!("{place}, sealed"), text)));
            let derived = all_derived(&honest.head, &records);
            let derived = derived.and_then(|records| try_sealed(&honest.head, &records));
            found.extend(derived.map(|text| (format!("{place}, with radii"), text)));
        }
        found
    })
}
