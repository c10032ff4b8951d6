//! Values changed in one place, whatever they are: a forger knows no more of a field than its type.

use serde_json::{Value, json};

/// A change in one place of a value.
pub(super) struct Change {
    /// Where, with dots between keys, and how.
    pub(super) name: String,
    /// The whole value, changed there.
    pub(super) value: Value,
}

/// All changes of all places of a value.
pub(super) fn changes(value: &Value) -> Vec<Change> {
    let mut found = Vec::new();
    match value {
        Value::Object(object) => {
            for (key, own) in object {
                for Change { name, value: changed } in changes(own) {
                    let mut all = value.clone();
                    all[key] = changed;
                    found.push(Change { name: format!("{key}.{name}"), value: all });
                }
                let mut without = object.clone();
                without.remove(key);
                found.push(Change { name: format!("{key} left out"), value: without.into() });
            }
            let mut more = object.clone();
            more.insert("note".to_owned(), 1.into());
            found.push(Change { name: "a key more".to_owned(), value: more.into() });
        }
        Value::Array(array) => {
            for (at, own) in array.iter().enumerate() {
                for Change { name, value: changed } in changes(own) {
                    let mut all = value.clone();
                    all[at] = changed;
                    found.push(Change { name: format!("{at}.{name}"), value: all });
                }
            }
            let list = |name: &str, value: Vec<Value>| Change { name: name.to_owned(), value: value.into() };
            let mut turned = array.clone();
            turned.reverse();
            let more = [&array[..], &array[array.len().saturating_sub(1)..]].concat();
            found.extend([list("reversed", turned), list("one more", more), list("emptied", Vec::new())]);
            found.push(list("one less", array[..array.len().saturating_sub(1)].to_vec()));
            found.extend(moved(array));
        }
        scalar => {
            for (at, changed) in
                scalars(scalar).into_iter().enumerate().filter(|(_, changed)| changed != scalar)
            {
                found.push(Change { name: format!("way {at}"), value: changed });
            }
        }
    }
    found
}

/// Counts with some taken from one class and given to another, their sum kept.
fn moved(counts: &[Value]) -> Vec<Change> {
    let mut found = Vec::new();
    for from in 0..counts.len() {
        for to in (0..counts.len()).filter(|&to| to != from) {
            for by in [1, u64::MAX] {
                let (Some(giver), Some(taker)) = (counts[from].as_u64(), counts[to].as_u64()) else {
                    continue;
                };
                let mut value = counts.to_vec();
                value[from] = (giver - giver.min(by)).into();
                value[to] = (taker + giver.min(by)).into();
                found.push(Change {
                    name: format!("{} from {from} to {to}", giver.min(by)),
                    value: value.into(),
                });
            }
        }
    }
    found
}

/// What a value that has no parts is changed to, in an order that depends on its type only.
fn scalars(value: &Value) -> Vec<Value> {
    if let Some(number) = value.as_u64() {
        let all = [
            number.saturating_add(1),
            number.saturating_sub(1),
            number.saturating_mul(2),
            number / 2,
            0,
            1,
            1_000_000,
        ];
        let other = [json!(u64::MAX), json!(-1), json!(number as f64 + 0.5), json!("1"), Value::Null];
        return all.into_iter().map(Value::from).chain(other).collect();
    }
    if let Some(number) = value.as_f64() {
        let all = [
            number * 0.9,
            number * 1.1,
            number * 2.0,
            number.next_up(),
            number.next_down(),
            number * (1.0 - 1e-10),
            -number,
            0.0,
            1.0,
            1e300,
            1e-300,
        ];
        return all.into_iter().map(Value::from).chain([json!("1"), Value::Null]).collect();
    }
    match value {
        Value::String(text) => {
            let renamed = text
                .split_once(" sha256:")
                .map_or_else(|| format!("{text}x"), |(_, hash)| format!("x sha256:{hash}"));
            let shorter = text.chars().skip(1).collect::<String>();
            let words = [
                "",
                "x",
                "onnxruntime",
                "gambeson 3",
                "fixed",
                "anytime",
                "one-sided",
                "chosen",
                "randomised",
                "1",
                "1/255",
                "pixel",
                "dct1",
                "linf",
            ];
            let words = words.into_iter().map(ToOwned::to_owned);
            [renamed, shorter]
                .into_iter()
                .chain(words)
                .map(Value::from)
                .chain([json!(1), Value::Null])
                .collect()
        }
        Value::Null => vec![json!(0), json!(1), json!(0.5), json!("x"), json!([]), json!({})],
        _ => Vec::new(),
    }
}
