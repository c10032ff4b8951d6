//! Abbreviated networks: a common spec for all, and named parts for some.
//!
//! ```toml
//! [spec]                     # beneath all networks
//! data = { name = "cifar10" }
//!
//! [part.ours]                # beneath networks that name it
//! objective = { kind = "algorithm-1" }
//!
//! [[network]]
//! label = "Algorithm 1, epsilon 1"
//! as = ["ours"]              # parts, each over the one before
//! spec = { objective = { epsilon = 1.0 } }
//! only = ["desk", "paper"]   # scales; all without it
//!
//! [override]                 # above all networks: for scales
//! optimiser = { epochs = 1 }
//! ```

use crate::error::{Invalid, require};
use crate::experiment::layers::merge;
use crate::name::Scale;
use toml::{Table, Value};

/// Completes the spec of every network, and removes networks of other scales wherever they are named.
pub(super) fn expand(table: &mut Table, scale: Scale) -> Result<(), Invalid> {
    let common = taken(table, "spec")?;
    let above = taken(table, "override")?;
    let parts = taken(table, "part")?;
    let mut removed: Vec<String> = Vec::new();
    match table.get_mut("network") {
        Some(Value::Array(all)) => {
            let mut kept = Vec::new();
            for network in std::mem::take(all) {
                let Value::Table(mut network) = network else {
                    return Err(Invalid::new("network: not a list of tables"));
                };
                let name = name(&network);
                let within = |problem: Invalid| problem.within(format!("network `{name}`"));
                if is_at(&mut network, scale).map_err(within)? {
                    whole(&mut network, &common, &parts, &above).map_err(within)?;
                    kept.push(Value::Table(network));
                } else {
                    removed.push(name);
                }
            }
            *all = kept;
        }
        Some(Value::Table(network)) => whole(network, &common, &parts, &above)?,
        _ => {}
    }
    let gone = |value: &Value| value.as_str().is_some_and(|name| removed.iter().any(|other| other == name));
    for (list, key) in [("panel", "curves"), ("claim", "rows")] {
        for one in tables(table, list) {
            for names in lists(one, key) {
                names.retain(|name| !gone(name));
            }
        }
    }
    if let Some(Value::Array(panels)) = table.get_mut("panel") {
        let is_empty =
            |panel: &Value| panel.get("curves").and_then(Value::as_array).is_some_and(Vec::is_empty);
        panels.retain(|panel| !is_empty(panel));
    }
    if let Some(Value::Array(pairs)) = table.get_mut("compare") {
        pairs.retain(|pair| !["first", "second"].iter().any(|key| pair.get(key).is_some_and(gone)));
    }
    Ok(())
}

/// Removes a table and returns it; empty if there is none.
fn taken(table: &mut Table, key: &str) -> Result<Table, Invalid> {
    match table.remove(key) {
        None => Ok(Table::new()),
        Some(Value::Table(table)) => Ok(table),
        Some(_) => Err(Invalid::new(format!("{key}: not a table"))),
    }
}

fn name(network: &Table) -> String {
    let name = network.get("name").or_else(|| network.get("label"));
    name.and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// Whether a network belongs to a scale.
fn is_at(network: &mut Table, scale: Scale) -> Result<bool, Invalid> {
    let Some(only) = network.remove("only") else { return Ok(true) };
    let names: Option<Vec<&str>> = only.as_array().and_then(|all| all.iter().map(Value::as_str).collect());
    let Some(names) = names else { return Err(Invalid::new("only: not a list of scales")) };
    if let Some(name) = names.iter().find(|name| Scale::from_name(name).is_none()) {
        return Err(Invalid::new(format!("only: `{name}` is not a scale")));
    }
    Ok(names.contains(&scale.name()))
}

/// Merges the spec of a network: common, its parts, its own, override.
fn whole(network: &mut Table, common: &Table, parts: &Table, above: &Table) -> Result<(), Invalid> {
    let mut spec = common.clone();
    let names = match network.remove("as") {
        None => Vec::new(),
        Some(Value::Array(names)) => names,
        Some(_) => return Err(Invalid::new("as: not a list of parts")),
    };
    for name in names {
        let part = name.as_str().and_then(|name| parts.get(name));
        let Some(Value::Table(part)) = part else {
            return Err(Invalid::new(format!("as: there is no part {name}")));
        };
        merge(&mut spec, part.clone());
    }
    merge(&mut spec, taken(network, "spec")?);
    merge(&mut spec, above.clone());
    require!(!spec.is_empty(), "spec: missing");
    network.insert("spec".to_owned(), Value::Table(spec));
    Ok(())
}

/// The tables of a list.
fn tables<'a>(table: &'a mut Table, key: &str) -> impl Iterator<Item = &'a mut Table> {
    let all = table.get_mut(key).and_then(Value::as_array_mut);
    all.into_iter().flatten().filter_map(Value::as_table_mut)
}

/// Lists of names under a key: the list itself, or those called `networks` in a list of tables.
fn lists<'a>(table: &'a mut Table, key: &str) -> Vec<&'a mut Vec<Value>> {
    let Some(Value::Array(all)) = table.get_mut(key) else { return Vec::new() };
    if all.iter().all(Value::is_str) {
        return vec![all];
    }
    all.iter_mut().filter_map(|row| row.as_table_mut()?.get_mut("networks")?.as_array_mut()).collect()
}
