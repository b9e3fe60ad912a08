//! Findings with the same cause: one bug can show at many places.

use racehunter_finding::{Finding, Frame, Kind, Object, Site, Step};
use std::collections::HashMap;

/// The findings of a hunt by their causes.
#[derive(Default)]
pub(crate) struct Causes {
    /// What findings with one cause have in common, and the id of the first of them.
    known: HashMap<Vec<String>, String>,
    races: Vec<Race>,
}

/// A data race that was found earlier.
struct Race {
    /// The id of the first finding with its cause.
    id: String,
    variable: String,
    places: Vec<(String, u32)>,
}

impl Causes {
    /// Adds a finding. If an earlier one has the same cause, it becomes a variant of that one.
    pub(crate) fn add(&mut self, finding: &mut Finding) {
        finding.variant_of = None;
        // A suppressed finding has no variants: they would be overlooked.
        if !finding.counts() {
            return;
        }
        let traits = traits(finding);
        let known = traits.iter().find_map(|cause| self.known.get(cause)).cloned();
        let first = known.or_else(|| self.race_behind(finding));
        let id = first.as_ref().unwrap_or(&finding.id).clone();
        for cause in traits {
            self.known.entry(cause).or_insert_with(|| id.clone());
        }
        if let (Kind::DataRace, Some(object)) = (finding.kind, &finding.object) {
            self.races.push(Race { id, variable: variable(&object.name), places: places(finding) });
        }
        finding.variant_of = first;
    }

    /// Returns the race of which a finding is the consequence: the steps that the failure's cause names are at the two
    /// places of the race, or the memory is freed and used there.
    fn race_behind(&self, finding: &Finding) -> Option<String> {
        let is_behind = |race: &&Race| match finding.kind {
            Kind::UseAfterFree | Kind::DoubleFree => {
                let own = places(finding);
                own.iter().any(|(file, _)| !file.is_empty()) && own.iter().all(|place| race.places.contains(place))
            }
            // Two statements that race on a pointer also race on what it points to.
            Kind::DataRace => {
                let object = finding.object.as_ref().filter(|object| object.region == "heap");
                object.is_some_and(|object| variable(&object.name) == race.variable) && places(finding) == race.places
            }
            Kind::Assertion | Kind::Crash | Kind::ExitStatus | Kind::Output => is_at_the_places_of(finding, race),
            _ => false,
        };
        self.races.iter().find(is_behind).map(|race| race.id.clone())
    }
}

/// Returns true if two of the steps that the cause of a failure names are the accesses of a race.
fn is_at_the_places_of(finding: &Finding, race: &Race) -> bool {
    let [first, second] = race.places.as_slice() else { return false };
    let named: Vec<&Step> = finding.steps.iter().filter(|step| finding.cause_steps.contains(&step.number)).collect();
    let is_at = |step: &Step, (file, line): &(String, u32)| step.file == *file && step.line == *line;
    let is_about = |step: &Step| step.what.split(' ').any(|word| variable(word) == race.variable);
    named.iter().any(|one| {
        is_at(one, first)
            && is_about(one)
            && named.iter().any(|other| is_at(other, second) && other.thread != one.thread)
    })
}

/// Returns what findings with the same cause have in common, each of which is enough: the memory and where it is freed,
/// the variable of a race, the locks of a cycle. Returns nothing if too little is known.
fn traits(finding: &Finding) -> Vec<Vec<String>> {
    let kind = || finding.kind.name().to_owned();
    match finding.kind {
        Kind::UseAfterFree | Kind::DoubleFree => {
            let freed = finding.sites.iter().find(|site| site.access == "free");
            freed.map(|freed| vec!["freed".to_owned(), place(freed)]).into_iter().collect()
        }
        Kind::DataRace => finding.object.as_ref().map_or_else(Vec::new, |object| race(finding, object)),
        Kind::Deadlock => {
            let locks = finding.sites.iter().filter(|site| site.access.ends_with("lock"));
            let locks = locks.filter_map(|site| site.waits_for.as_ref()).filter(|waiting| waiting.owner.is_some());
            let mut locks: Vec<String> = locks.map(|waiting| variable(&waiting.object)).collect();
            locks.sort();
            locks.dedup();
            if locks.len() < 2 {
                return signal(finding).into_iter().collect();
            }
            locks.insert(0, kind());
            vec![locks]
        }
        Kind::LostWakeup => signal(finding).into_iter().collect(),
        // A pointer that another thread changes may crash the program wherever it is used next.
        Kind::Crash if finding.cause_steps.len() > 1 => {
            let is_write = |step: &&Step| finding.cause_steps.contains(&step.number) && step.what.contains("write ");
            let written = finding.steps.iter().find(is_write);
            let cause = |step: &Step| vec![kind(), step.what.clone(), format!("{}:{}", step.file, step.line)];
            written.map(cause).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// Returns what threads that one signal should have woken have in common: the signal, and where they wait. Which of several threads
/// is left depends on the schedule.
fn signal(finding: &Finding) -> Option<Vec<String>> {
    let is_signal = |step: &&Step| {
        let signals = ["signal ", "broadcast "].iter().any(|does| step.what.starts_with(does));
        signals && finding.cause_steps.contains(&step.number)
    };
    let signal = finding.steps.iter().find(is_signal)?;
    let waits = finding.sites.first().filter(|site| site.access == "wait")?;
    Some(vec![finding.kind.name().to_owned(), format!("{}:{}", signal.file, signal.line), place(waits)])
}

/// Returns what races with the same cause have in common: the variable, or the block of the heap, the functions and the
/// locks.
fn race(finding: &Finding, object: &Object) -> Vec<Vec<String>> {
    let kind = finding.kind.name().to_owned();
    let is_heap = object.region == "heap";
    let is_named = !object.name.starts_with("byte ");
    let allocated = object.allocated.first().map(allocation).unwrap_or_default();
    let mut traits = Vec::new();
    if is_named && (is_heap || object.region == "global") {
        traits.push(vec![kind.clone(), variable(&object.name), allocated.clone()]);
    }
    if is_named && object.region == "stack" {
        let files = finding.sites.iter().map(|site| site.file.clone());
        traits.push([kind.clone(), variable(&object.name)].into_iter().chain(files).collect());
    }
    if is_heap && !allocated.is_empty() {
        let mut sides: Vec<String> =
            finding.sites.iter().map(|site| format!("{} {}", site.function, site.locks.join(" "))).collect();
        sides.sort();
        sides.insert(0, allocated);
        sides.insert(0, kind);
        traits.push(sides);
    }
    traits
}

/// Returns the places of a finding, sorted.
fn places(finding: &Finding) -> Vec<(String, u32)> {
    let mut places: Vec<(String, u32)> = finding.sites.iter().map(|site| (site.file.clone(), site.line)).collect();
    places.sort();
    places
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
    fn races_on_parts_of_a_block_are_one_bug() {
        let mut causes = Causes::default();
        let mut add = |id: &str, name: &str, line: u32, lock: &str| {
            let frame = serde_json::json!({ "function": "f", "file": "a.c", "line": line, "column": 1 });
            let object = serde_json::json!({ "name": name, "size": 4, "region": "heap", "allocated": [frame] });
            let mut finding = finding(id, "data-race", object, 1);
            finding.sites[0].locks.push(lock.to_owned());
            causes.add(&mut finding);
            finding.variant_of
        };
        assert_eq!(add("1", "s->x", 7, "m"), None);
        assert_eq!(add("2", "s->y", 7, "m").as_deref(), Some("1"));
        assert_eq!(add("3", "s->z", 8, "m"), None, "another block");
        assert_eq!(add("4", "s->w", 7, "other"), None, "another lock");
    }

    /// Returns a failure with a cause that names two steps, of different threads.
    fn failure(id: &str, kind: &str, lines: [u32; 2], name: &str) -> Finding {
        let mut finding = finding(id, kind, serde_json::Value::Null, 1);
        let step = |thread: u32, line: u32, what: &str| Step {
            thread,
            file: "a.c".to_owned(),
            line,
            what: format!("{what} {name}"),
            number: u64::from(thread) + 1,
            ..Step::default()
        };
        finding.steps = vec![step(0, lines[0], "read"), step(1, lines[1], "atomic write")];
        finding.cause_steps = vec![1, 2];
        finding
    }

    #[test]
    fn a_failure_at_the_accesses_of_a_race_is_its_consequence() {
        let mut causes = Causes::default();
        causes.add(&mut finding("1", "data-race", variable_of("n", "global"), 5));
        let mut add = |mut failure: Finding| {
            causes.add(&mut failure);
            failure.variant_of
        };
        assert_eq!(add(failure("2", "assertion", [1, 5], "n")).as_deref(), Some("1"));
        assert_eq!(add(failure("3", "exit-status", [5, 1], "n")).as_deref(), Some("1"));
        assert_eq!(add(failure("4", "assertion", [1, 5], "m")), None, "another variable");
        assert_eq!(add(failure("5", "assertion", [1, 6], "n")), None, "another place");
        assert_eq!(add(finding("6", "double-free", serde_json::Value::Null, 5)).as_deref(), Some("1"));
    }

    #[test]
    fn crashes_because_of_one_write_are_one_bug() {
        let mut causes = Causes::default();
        let mut add = |mut failure: Finding| {
            causes.add(&mut failure);
            failure.variant_of
        };
        assert_eq!(add(failure("1", "crash", [1, 5], "p")), None);
        assert_eq!(add(failure("2", "crash", [2, 5], "p")).as_deref(), Some("1"));
        assert_eq!(add(failure("3", "crash", [2, 6], "p")), None);
    }

    #[test]
    fn a_signal_that_wakes_the_wrong_thread_is_one_bug() {
        let mut causes = Causes::default();
        let mut add = |id: &str, signal: u32, wait: u32| {
            let mut lost = failure(id, "lost-wakeup", [signal, 9], "ready");
            lost.steps[0].what = "signal ready".to_owned();
            (lost.sites[0].line, lost.sites[0].access) = (wait, "wait".to_owned());
            causes.add(&mut lost);
            lost.variant_of
        };
        assert_eq!(add("1", 3, 7), None);
        assert_eq!(add("2", 3, 7).as_deref(), Some("1"));
        assert_eq!(add("3", 4, 7), None, "another signal");
        assert_eq!(add("4", 3, 8), None, "another wait");
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
