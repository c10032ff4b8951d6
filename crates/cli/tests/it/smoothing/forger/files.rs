//! Files taken apart and put together otherwise: lines left out, repeated, in another order, of other runs; bytes changed,
//! and ends cut off.

use super::fields::Forgery;
use super::honest::Honest;
use crate::records::{derived, sealed};
use serde_json::{Value, json};

fn named(name: &str, text: String) -> Forgery {
    (name.to_owned(), text)
}

fn selected(head: &Value, start: u64, stop: u64, every: u64) -> Value {
    let mut head = head.clone();
    let count = stop.saturating_sub(start).div_ceil(every);
    let inputs = head["selection"]["inputs"].clone();
    head["selection"] = json!({
        "start": start, "stop": stop, "every": every, "count": count, "inputs": inputs,
        "shard": { "index": 0, "count": 1 }
    });
    head
}

fn index(record: &Value) -> u64 {
    record["index"].as_u64().unwrap_or_default()
}

fn right(record: &Value) -> bool {
    !record["class"].is_null() && record["class"] == record["label"]
}

/// Lines left out, repeated, in another order, and of other runs.
pub(super) fn rearranged(honest: &Honest) -> impl Iterator<Item = Forgery> {
    let mut found = left_out(honest);
    found.extend(other_selections(honest));
    found.extend(repeated(honest));
    found.extend(swapped(honest));
    found.extend(mixed(honest));
    found.into_iter()
}

fn left_out(honest: &Honest) -> Vec<Forgery> {
    let Honest { head, records, .. } = honest;
    let mut found = Vec::new();
    for at in 0..records.len() {
        let rest: Vec<Value> = [&records[..at], &records[at + 1..]].concat();
        found.push((format!("record {at} left out"), sealed(head, &rest)));
        found.push((format!("only record {at}"), sealed(head, &records[at..=at])));
    }
    let kept: Vec<Value> = records.iter().filter(|record| right(record)).cloned().collect();
    found.push(named("only what is right", sealed(head, &kept)));
    found.push(named("none", sealed(head, &[])));
    let lines: String = honest.text.split_inclusive('\n').skip(1).collect();
    found.push(named("without a head", lines));
    found
}

/// What was left out is not asked for either.
fn other_selections(honest: &Honest) -> Vec<Forgery> {
    let Honest { head, records, .. } = honest;
    let every = head["selection"]["every"].as_u64().unwrap_or(1);
    let mut found = Vec::new();
    for from in 0..records.len() {
        for to in from + 1..=records.len() {
            let (start, stop) = (index(&records[from]), index(&records[to - 1]) + 1);
            let head = selected(head, start, stop, every);
            found.push((format!("inputs {start} to {stop}"), sealed(&head, &records[from..to])));
        }
        for step in 2..4 {
            let (start, stop) = (index(&records[from]), index(&records[records.len() - 1]) + 1);
            let head = selected(head, start, stop, step * every);
            let kept: Vec<Value> =
                records[from..].iter().step_by(usize::try_from(step).unwrap_or(1)).cloned().collect();
            found.push((format!("each {step}th record from {start}"), sealed(&head, &kept)));
        }
    }
    // More than there is.
    let (start, stop) = (index(&records[0]), index(&records[records.len() - 1]) + 1);
    let inputs = head["selection"]["inputs"].as_u64().unwrap_or_default();
    for (start, stop, every) in [(0, inputs, 1), (0, stop, every), (start, inputs, every), (start, stop, 1)] {
        found.push((
            format!("asked for {start} to {stop}, {every}"),
            sealed(&selected(head, start, stop, every), records),
        ));
    }
    for (index, count) in [(0, 2), (1, 2), (2, 3)] {
        let mut head = head.clone();
        head["selection"]["shard"] = json!({ "index": index, "count": count });
        found.push((format!("shard {index} of {count}"), sealed(&head, records)));
    }
    found
}

fn repeated(honest: &Honest) -> Vec<Forgery> {
    let Honest { head, records, text, .. } = honest;
    let mut found = Vec::new();
    for (at, record) in records.iter().enumerate() {
        let often = vec![record.clone(); 50];
        found.push((format!("record {at} often"), sealed(head, &[&records[..], &often].concat())));
        found.push((format!("record {at} often, alone"), sealed(head, &often)));
        // An input twice, with other counts.
        let mut better = record.clone();
        let counts = better["estimation"].as_array().map_or(0, Vec::len);
        let n: u64 = better["estimation"].as_array().into_iter().flatten().filter_map(Value::as_u64).sum();
        let class = usize::try_from(better["label"].as_u64().unwrap_or(0)).unwrap_or(0);
        let all =
            |total: u64| (0..counts).map(|it| if it == class { total } else { 0 }).collect::<Vec<u64>>();
        (better["selection"], better["estimation"]) = (json!(all(20)), json!(all(n)));
        let better = derived(head, &better);
        found.push((
            format!("record {at} and a better one"),
            sealed(head, &[&records[..], std::slice::from_ref(&better)].concat()),
        ));
        let mut replaced = records.clone();
        replaced[at] = better;
        found.push((format!("a better record {at}"), sealed(head, &replaced)));
    }
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    found.push(named("twice", text.repeat(2)));
    found.push(named("two heads", lines[0].to_owned() + text));
    let backwards: String = lines.iter().rev().copied().collect();
    found.push(named("backwards", backwards));
    let records_backwards: String = lines[1..].iter().rev().copied().collect();
    found.push(named("records backwards", lines[0].to_owned() + &records_backwards));
    found.push(named("the head in the middle", lines[1].to_owned() + lines[0] + &lines[2..].concat()));
    found
}

/// What belongs to one input said of another.
fn swapped(honest: &Honest) -> Vec<Forgery> {
    let Honest { head, records, .. } = honest;
    let keys: [&[&str]; 5] = [
        &["index"],
        &["index", "label"],
        &["label"],
        &["selection", "estimation"],
        &["selection", "estimation", "encoding_error", "perturbed_error"],
    ];
    let mut found = Vec::new();
    for (a, b) in (0..records.len()).flat_map(|a| (0..a).map(move |b| (a, b))) {
        for keys in keys {
            let mut both = records.clone();
            for key in keys.iter().filter(|key| records[a].get(**key).is_some()) {
                (both[a][*key], both[b][*key]) = (records[b][*key].clone(), records[a][*key].clone());
            }
            let both: Vec<Value> = both.iter().map(|record| derived(head, record)).collect();
            found.push((format!("{keys:?} of {a} and {b} swapped"), sealed(head, &both)));
        }
    }
    // The surest record for all inputs.
    if let Some(sure) = records.iter().find(|record| right(record)) {
        let all: Vec<Value> = records
            .iter()
            .map(|record| {
                let mut copy = sure.clone();
                (copy["index"], copy["label"]) = (record["index"].clone(), record["label"].clone());
                copy
            })
            .collect();
        found.push(named("one record for all inputs", sealed(head, &all)));
    }
    found
}

/// Lines of a run with another nonce among those of this one.
fn mixed(honest: &Honest) -> Vec<Forgery> {
    let (own, other) = ((&honest.head, &honest.records), (&honest.other_head, &honest.other_records));
    let (text, other_text) = (&honest.text, &honest.other_text);
    let lines = |text: &str| text.split_inclusive('\n').skip(1).collect::<String>();
    let first = |text: &str| text.split_inclusive('\n').take(1).collect::<String>();
    let mut found = vec![
        named("heads swapped", first(other_text) + &lines(text)),
        named("heads swapped and sealed", sealed(other.0, own.1)),
        named("records of another run", first(text) + &lines(other_text)),
        named("records of another run, sealed", sealed(own.0, other.1)),
        named("two runs joined", text.clone() + other_text),
        named("two heads, then one run", first(other_text) + text),
    ];
    let radius = |record: &Value| if right(record) { record["latent"].as_f64().unwrap_or(0.0) } else { -1.0 };
    let best: Vec<Value> = own
        .1
        .iter()
        .zip(other.1)
        .map(|(a, b)| if radius(b) > radius(a) { b.clone() } else { a.clone() })
        .collect();
    for head in [own.0, other.0] {
        found.push(named("the best of two runs", sealed(head, &best)));
        for at in 0..best.len() {
            let (mut mine, mut theirs) = (own.1.clone(), other.1.clone());
            std::mem::swap(&mut mine[at], &mut theirs[at]);
            found.push((format!("record {at} of another run"), sealed(head, &mine)));
        }
    }
    // Half of the inputs by one run, half by the other: each head plans its own shard.
    let half = |head: &Value, records: &[Value], index: usize| {
        let mut head = head.clone();
        head["selection"]["shard"] = json!({ "index": index, "count": 2 });
        sealed(&head, &records.iter().skip(index).step_by(2).cloned().collect::<Vec<_>>())
    };
    found.push(named("shards of two runs", half(own.0, own.1, 0) + &half(other.0, other.1, 1)));
    found.push(named("shards of one run", half(own.0, own.1, 0) + &half(own.0, own.1, 1)));
    found.push(named("a shard", half(own.0, own.1, 1)));
    let mut prediction = own.0.clone();
    prediction["gambeson"] = "prediction".into();
    found.push(named("a head of predictions", sealed(&prediction, &[]) + &lines(text)));
    found
}

/// Bytes changed, and the end cut off.
pub(super) fn damaged(honest: &Honest) -> impl Iterator<Item = Forgery> + '_ {
    let text = honest.text.as_bytes();
    let flipped = (0..text.len()).step_by(11).flat_map(move |at| {
        [1_u8, 2, 16].into_iter().filter_map(move |bit| {
            let mut bytes = text.to_vec();
            bytes[at] ^= bit;
            Some((format!("bit {bit} of byte {at}"), String::from_utf8(bytes).ok()?))
        })
    });
    let cut =
        (0..text.len()).step_by(17).map(move |at| (format!("cut off at {at}"), honest.text[..at].to_owned()));
    flipped.chain(cut)
}
