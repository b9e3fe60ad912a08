//! Findings with the same cause: one bug can show at many places.

use racehunter_finding::{Finding, Frame, Kind, Site};
use std::collections::HashMap;

/// The findings of a hunt by their causes.
#[derive(Default)]
pub(crate) struct Causes(HashMap<Vec<String>, String>);

impl Causes {
    /// Adds a finding. If an earlier one has the same cause, it becomes a variant of that one.
    pub(crate) fn add(&mut self, finding: &mut Finding) {
        finding.variant_of = None;
        // A suppressed finding has no variants: they would be overlooked.
        let Some(cause) = cause(finding).filter(|_| finding.counts()) else { return };
        match self.0.get(&cause) {
            Some(first) => finding.variant_of = Some(first.clone()),
            None => drop(self.0.insert(cause, finding.id.clone())),
        }
    }
}

/// Returns what findings with the same cause have in common: the memory and where it is freed, the variable of a race,
/// the locks of a cycle. Returns nothing if too little is known.
fn cause(finding: &Finding) -> Option<Vec<String>> {
    let kind = finding.kind.name().to_owned();
    let object = finding.object.as_ref();
    let mut parts = match finding.kind {
        Kind::UseAfterFree => {
            let freed = finding.sites.iter().find(|site| site.access == "free")?;
            vec![place(freed)]
        }
        Kind::DataRace => {
            let object = object.filter(|object| matches!(object.region.as_str(), "global" | "heap"))?;
            if object.name.starts_with("byte ") {
                return None;
            }
            let allocated = object.allocated.first().map(allocation).unwrap_or_default();
            vec![variable(&object.name), allocated]
        }
        Kind::Deadlock => {
            let locks = finding.sites.iter().filter(|site| site.access.ends_with("lock"));
            let locks = locks.filter_map(|site| site.waits_for.as_ref()).filter(|waiting| waiting.owner.is_some());
            let mut locks: Vec<String> = locks.map(|waiting| variable(&waiting.object)).collect();
            locks.sort();
            locks.dedup();
            if locks.len() < 2 {
                return None;
            }
            locks
        }
        _ => return None,
    };
    parts.insert(0, kind);
    Some(parts)
}

fn place(site: &Site) -> String {
    format!("{}:{}:{}", site.file, site.line, site.function)
}

fn allocation(frame: &Frame) -> String {
    format!("{}:{}", frame.file, frame.line)
}

/// Returns the name of a variable without array indices.
fn variable(name: &str) -> String {
    let mut out = String::new();
    let mut is_inside = false;
    for letter in name.chars() {
        is_inside = letter == '[' || is_inside && letter.is_ascii_digit();
        if !is_inside || letter == '[' {
            out.push(letter);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(id: &str, kind: &str, object: serde_json::Value, freed_at: u32) -> Finding {
        let site = |line: u32, access: &str| {
            serde_json::json!({ "file": "a.c", "line": line, "column": 1, "function": "f", "thread": "main",
                "entry": "main", "access": access, "size": 4, "locks": [], "stack": [] })
        };
        serde_json::from_value(serde_json::json!({ "id": id, "kind": kind, "message": "",
            "sites": [site(freed_at, "free"), site(1, "read")], "replayed": [5, 5], "confirmed": true, "execution": 1,
            "preemptions": 0, "schedule": { "switches": [] }, "steps": [], "object": object, "notes": [] }))
        .expect("a finding")
    }

    fn variable_of(name: &str, region: &str) -> serde_json::Value {
        serde_json::json!({ "name": name, "size": 4, "region": region, "allocated": [] })
    }

    #[test]
    fn uses_of_what_is_freed_at_one_place_are_one_bug() {
        let mut causes = Causes::default();
        let mut add = |id: &str, line: u32| {
            let mut finding = finding(id, "use-after-free", serde_json::Value::Null, line);
            causes.add(&mut finding);
            finding.variant_of
        };
        assert_eq!(add("1", 3), None);
        assert_eq!(add("2", 3).as_deref(), Some("1"));
        assert_eq!(add("3", 4), None);
    }

    #[test]
    fn races_on_one_variable_are_one_bug() {
        let mut causes = Causes::default();
        let mut add = |id: &str, name: &str, region: &str| {
            let mut finding = finding(id, "data-race", variable_of(name, region), 1);
            causes.add(&mut finding);
            finding.variant_of
        };
        assert_eq!(add("1", "table[3].next", "global"), None);
        assert_eq!(add("2", "table[12].next", "global").as_deref(), Some("1"));
        assert_eq!(add("3", "table[3].last", "global"), None);
        assert_eq!(add("4", "x", "unknown"), None);
        assert_eq!(add("5", "x", "unknown"), None);
    }

    #[test]
    fn what_is_suppressed_has_no_variants() {
        let mut causes = Causes::default();
        let mut known = finding("1", "data-race", variable_of("n", "global"), 1);
        known.suppressed = Some("known".to_owned());
        causes.add(&mut known);
        let mut other = finding("2", "data-race", variable_of("n", "global"), 1);
        causes.add(&mut other);
        assert_eq!(other.variant_of, None);
    }
}
