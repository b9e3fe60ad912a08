//! Dependencies between crates: the code map of ARCHITECTURE.md, compared with the manifests.
//!
//! An entry of the map is a line that begins with ``**`crates/NAME`** (on `A`, `B`)``. A crate may depend only on
//! crates that come before it and that its entry names.

use super::{crates, read};
use crate::shell::root;
use anyhow::Result;
use std::collections::BTreeSet;

/// One crate of the map.
#[derive(Debug, PartialEq, Eq)]
struct Entry {
    name: String,
    on: BTreeSet<String>,
}

pub(super) fn check() -> Result<Vec<String>> {
    let map = entries(&read(&root().join("ARCHITECTURE.md"))?);
    let mut wrong = order(&map);
    for name in crates()? {
        let manifest = read(&root().join("crates").join(&name).join("Cargo.toml"))?;
        let real = dependencies(&manifest);
        let Some(entry) = map.iter().find(|entry| entry.name == name) else {
            wrong.push(format!("ARCHITECTURE.md: the code map has no crates/{name}"));
            continue;
        };
        let list = |names: BTreeSet<&String>| names.into_iter().cloned().collect::<Vec<_>>().join(", ");
        let surplus = list(real.difference(&entry.on).collect());
        let missing = list(entry.on.difference(&real).collect());
        if !surplus.is_empty() {
            wrong.push(format!("ARCHITECTURE.md: crates/{name} also depends on {surplus}"));
        }
        if !missing.is_empty() {
            wrong.push(format!("ARCHITECTURE.md: crates/{name} does not depend on {missing}"));
        }
    }
    Ok(wrong)
}

/// Returns the dependencies that do not point to an earlier entry.
fn order(map: &[Entry]) -> Vec<String> {
    let mut wrong = Vec::new();
    for (at, Entry { name, on }) in map.iter().enumerate() {
        for other in on.iter().filter(|other| !map[..at].iter().any(|entry| entry.name == **other)) {
            wrong.push(format!(
                "ARCHITECTURE.md: crates/{name} depends on crates/{other}, which does not come before it"
            ));
        }
    }
    wrong
}

fn entries(text: &str) -> Vec<Entry> {
    let entry = |line: &str| {
        let (name, rest) = line.strip_prefix("**`crates/")?.split_once("`**")?;
        let on = rest.trim_start().strip_prefix("(on ").and_then(|rest| rest.split(')').next()).unwrap_or_default();
        let on = on.split('`').skip(1).step_by(2).map(str::to_owned).collect();
        Some(Entry { name: name.to_owned(), on })
    };
    text.lines().filter_map(entry).collect()
}

/// Returns the crates of this project that a manifest depends on, outside of tests.
fn dependencies(manifest: &str) -> BTreeSet<String> {
    let mut section = "";
    let mut names = BTreeSet::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            section = line;
        } else if section == "[dependencies]"
            && let Some(name) = line.strip_prefix("racehunter-").and_then(|rest| rest.split(['.', ' ', '=']).next())
        {
            names.insert(name.to_owned());
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_map_and_the_manifests_are_read() {
        let map = entries("**`crates/a`**: alone.\ntext\n**`crates/b`** (on `a`, `c`): more (on `d`).\n");
        assert_eq!(map.len(), 2);
        assert_eq!(map[1].on, BTreeSet::from(["a".to_owned(), "c".to_owned()]));
        assert_eq!(order(&map).len(), 1, "c is not in the map");
        let manifest = "[package]\nname = \"racehunter-b\"\n[dependencies]\nracehunter-a.workspace = true\nserde = \"1\"\n\
                        [dev-dependencies]\nracehunter-d.workspace = true\n";
        assert_eq!(dependencies(manifest), BTreeSet::from(["a".to_owned()]));
    }
}
