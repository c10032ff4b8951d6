//! An experiment as layers: an included file, the file itself, the changes of a scale.
//!
//! A layer is merged over the one below: tables key by key, while lists and values replace what was there. A table that
//! names another `kind` or `family` describes something else and replaces the old table whole.

use crate::error::{Invalid, require};
use crate::name::Scale;
use toml::{Table, Value};

/// Names a file whose contents lie below.
const INCLUDE: &str = "include";
/// Holds one table per scale.
const SCALE: &str = "scale";
/// Keys that tell kinds of tables apart.
const TAGS: [&str; 2] = ["kind", "family"];

/// Merges `above` over `below`.
pub(crate) fn merge(below: &mut Table, above: Table) {
    let differs = |tag: &str| above.get(tag).is_some_and(|new| below.get(tag).is_some_and(|old| old != new));
    if TAGS.into_iter().any(differs) {
        below.clear();
    }
    for (key, value) in above {
        match (below.get_mut(&key), value) {
            (Some(Value::Table(old)), Value::Table(new)) => merge(old, new),
            (_, value) => {
                below.insert(key, value);
            }
        }
    }
}

/// Removes the name of the included file and returns it.
pub(super) fn included(table: &mut Table) -> Result<Option<String>, Invalid> {
    match table.remove(INCLUDE) {
        None => Ok(None),
        Some(Value::String(name)) => {
            let plain = !name.is_empty()
                && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-');
            require!(plain, "{INCLUDE}: {name:?} is not the name of an experiment");
            Ok(Some(name))
        }
        Some(other) => Err(Invalid::new(format!("{INCLUDE}: {other} is not the name of an experiment"))),
    }
}

/// The scales that an experiment mentions.
pub(super) fn scales(table: &Table) -> Result<Vec<Scale>, Invalid> {
    let Some(value) = table.get(SCALE) else { return Ok(Vec::new()) };
    let Some(scales) = value.as_table() else {
        return Err(Invalid::new(format!("{SCALE}: not a table of scales")));
    };
    let known = |name: &String| {
        Scale::from_name(name).ok_or_else(|| Invalid::new(format!("{SCALE}: `{name}` is not a scale")))
    };
    scales.keys().map(known).collect()
}

/// The experiment at one scale.
pub(super) fn at_scale(mut table: Table, scale: Scale) -> Result<Table, Invalid> {
    let layer = table.remove(SCALE).and_then(|mut all| all.as_table_mut()?.remove(scale.name()));
    match layer {
        None => {}
        Some(Value::Table(layer)) => merge(&mut table, layer),
        Some(_) => return Err(Invalid::new(format!("{SCALE}.{}: not a table", scale.name()))),
    }
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merged(below: &str, above: &str) -> Table {
        let [mut below, above] = [below, above].map(|text| text.parse::<Table>().expect("TOML"));
        merge(&mut below, above);
        below
    }

    #[test]
    fn tables_are_merged_and_lists_replaced() {
        let found = merged("a = 1\nl = [1, 2]\n[t]\nx = 1\ny = 2", "l = [3]\n[t]\ny = 5\nz = 6");
        assert_eq!(found, "a = 1\nl = [3]\n[t]\nx = 1\ny = 5\nz = 6".parse().expect("TOML"));
    }

    #[test]
    fn another_kind_replaces_the_table() {
        let found = merged("s = { kind = \"step\", every = 5 }", "s = { kind = \"cycle\", warm = 1 }");
        assert_eq!(found, "s = { kind = \"cycle\", warm = 1 }".parse().expect("TOML"));
        let found = merged("s = { kind = \"step\", every = 5 }", "s = { kind = \"step\", factor = 2 }");
        assert_eq!(found, "s = { kind = \"step\", every = 5, factor = 2 }".parse().expect("TOML"));
    }

    #[test]
    fn a_scale_changes_what_it_names() {
        let table: Table = "n = 1\nm = 2\n[scale.desk]\nn = 3\n[scale.paper]\nm = 4".parse().expect("TOML");
        assert_eq!(scales(&table), Ok(vec![Scale::Desk, Scale::Paper]));
        let at = |scale| at_scale(table.clone(), scale).expect("a table");
        assert_eq!(at(Scale::Desk), "n = 3\nm = 2".parse().expect("TOML"));
        assert_eq!(at(Scale::Smoke), "n = 1\nm = 2".parse().expect("TOML"));
        assert!(scales(&"[scale.galaxy]".parse().expect("TOML")).is_err());
    }
}
