//! SARIF 2.1.0: one log for the whole campaign, with a flow per thread.
//!
//! Code scanning services compare the fingerprints of two logs to find out what is new, and show the steps of the flows
//! at the lines of the source. Nothing in a result therefore depends on addresses, the machine, or the location of the
//! project: files below the root are named relative to it.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use racehunter_finding::{Coverage, Finding, Frame, Kind, Site, Step};
use serde_json::{Value, json};

use crate::kinds::lesson;
use crate::short::{explored, found, sentence};
use crate::text::clean;
use crate::threads::Threads;
use crate::values;
use crate::{Told, Verdict};

const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// The base of relative paths, which the reader resolves.
const ROOT: &str = "SRCROOT";

/// Returns the log of a campaign.
pub(crate) fn log(
    findings: &[Finding],
    coverage: Option<(&Coverage, Duration)>,
    failure: Option<&str>,
    root: &Path,
) -> String {
    let told = Told::of(findings.iter());
    let Some((coverage, elapsed)) = coverage else { return whole(findings, true, None, None, root) };
    let failure = failure.map(str::to_owned);
    let lines = coverage.unclear.iter().chain(&failure).chain(&coverage.missed).map(|line| clean(line));
    let outside = coverage.uncontrolled.iter().map(sentence).chain(lines);
    let summary = format!("{}; {}", found(told), explored(coverage, told));
    let notices = notices(summary, outside);
    let properties = json!({
        "executions": coverage.executions,
        "complete": coverage.complete,
        "guarantee": coverage.guarantee,
        "assumes": coverage.assumes,
        "elapsedMs": milliseconds(elapsed),
    });
    let is_clear = coverage.unclear.is_empty() && failure.is_none();
    whole(findings, is_clear, Some(notices), Some(properties), root)
}

/// Returns the log of a hunt that had nothing to hunt in.
pub(crate) fn nothing(why: &str, failed: bool, root: &Path) -> String {
    whole(&[], !failed, Some(notices(clean(why), std::iter::empty())), None, root)
}

/// Returns the log of a scan.
pub(crate) fn scan(findings: &[Finding], verdict: &Verdict, elapsed: Duration, root: &Path) -> String {
    let gaps = verdict.gaps.iter().map(|gap| format!("not modelled: {}", clean(gap)));
    let mut properties = json!({
        "verdict": verdict.word,
        "why": clean(&verdict.why),
        "candidates": verdict.candidates,
        "threads": verdict.threads,
        "elapsedMs": milliseconds(elapsed),
    });
    if let Some(tier) = verdict.tier {
        properties["tier"] = json!(tier);
    }
    whole(findings, true, Some(notices(verdict.sentence(), gaps)), Some(properties), root)
}

/// Returns the notifications beside the results: a summary, and what limits it.
fn notices(summary: String, limits: impl Iterator<Item = String>) -> Vec<Value> {
    let notice = |level: &str, text: String| json!({ "level": level, "message": { "text": text } });
    std::iter::once(notice("note", summary)).chain(limits.map(|line| notice("warning", line))).collect()
}

fn milliseconds(elapsed: Duration) -> u64 {
    u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX)
}

fn whole(
    findings: &[Finding],
    is_success: bool,
    notices: Option<Vec<Value>>,
    properties: Option<Value>,
    root: &Path,
) -> String {
    let paths = Paths { root };
    let mut invocation = json!({ "executionSuccessful": is_success });
    if let Some(notices) = notices {
        invocation["toolExecutionNotifications"] = json!(notices);
    }
    let mut run = json!({
        "tool": { "driver": {
            "name": "RaceHunter",
            "semanticVersion": env!("CARGO_PKG_VERSION"),
            "rules": Kind::ALL.map(rule),
        }},
        "invocations": [invocation],
        "originalUriBaseIds": { ROOT: { "description": { "text": "The directory in which racehunter was run." } } },
        "results": findings.iter().map(|finding| result(finding, &paths)).collect::<Vec<_>>(),
    });
    if let Some(properties) = properties {
        run["properties"] = properties;
    }
    let log = json!({ "$schema": SCHEMA, "version": "2.1.0", "runs": [run] });
    format!("{log:#}\n")
}

fn rule(kind: Kind) -> Value {
    let lesson = lesson(kind);
    json!({
        "id": kind.name(),
        "shortDescription": { "text": lesson.title },
        "fullDescription": { "text": lesson.meaning },
        "help": {
            "text": format!("{}\n\nFor example:\n{}", lesson.repair, lesson.example),
            "markdown": format!("{}\n\nFor example:\n\n```c\n{}\n```", lesson.repair, lesson.example),
        },
        "defaultConfiguration": { "level": "error" },
    })
}

fn result(finding: &Finding, paths: &Paths<'_>) -> Value {
    let threads = Threads::of(finding);
    let mut text = clean(&finding.message);
    for site in &finding.sites {
        let _ = write!(text, "; {}", label(site, &threads));
    }
    let mut result = json!({
        "ruleId": finding.kind.name(),
        "ruleIndex": Kind::ALL.iter().position(|kind| *kind == finding.kind),
        "level": if finding.confirmed { "error" } else { "warning" },
        "message": { "text": text },
        "partialFingerprints": { "racehunter/v1": finding.id },
        "properties": properties(finding),
    });
    let places: Vec<(usize, Value)> = (0..)
        .zip(&finding.sites)
        .filter_map(|(number, site)| {
            let place = physical(paths, &site.file, site.line, site.column)?;
            let logical = json!([{ "name": clean(&site.function), "kind": "function" }]);
            let message = json!({ "text": label(site, &threads) });
            Some((number, json!({ "physicalLocation": place, "logicalLocations": logical, "message": message })))
        })
        .collect();
    if let Some((_, first)) = places.first() {
        result["locations"] = json!([first]);
    }
    let related: Vec<Value> = places
        .into_iter()
        .skip(1)
        .map(|(number, mut place)| {
            place["id"] = json!(number);
            place
        })
        .collect();
    if !related.is_empty() {
        result["relatedLocations"] = json!(related);
    }
    let stacks: Vec<Value> =
        finding.sites.iter().filter(|site| !site.stack.is_empty()).map(|site| stack(site, &threads, paths)).collect();
    if !stacks.is_empty() {
        result["stacks"] = json!(stacks);
    }
    if !finding.steps.is_empty() {
        let message = json!({ "text": "The interleaving that shows it, one flow per thread." });
        result["codeFlows"] = json!([{ "message": message, "threadFlows": flows(finding, &threads, paths) }]);
    }
    if let Some(reason) = &finding.suppressed {
        result["suppressions"] = json!([{ "kind": "external", "status": "accepted", "justification": clean(reason) }]);
    }
    result
}

/// Returns its other properties; a suspected race has none that come from an execution.
fn properties(finding: &Finding) -> Value {
    let notes: Vec<String> = finding.notes.iter().map(|note| clean(note)).collect();
    if !finding.was_executed() {
        return json!({ "confirmed": false, "suspected": true, "notes": notes });
    }
    json!({
        "confirmed": finding.confirmed,
        "replayed": finding.replayed,
        "execution": finding.execution,
        "preemptions": finding.preemptions,
        "replay": format!("racehunter replay {}", finding.id),
        "notes": notes,
    })
}

/// Returns what a thread does at a place, in words.
fn label(site: &Site, threads: &Threads) -> String {
    let thread = threads.sentence(&site.thread);
    let mut text = match &site.waits_for {
        Some(waiting) => format!("{thread} waits for `{}`", clean(&waiting.object)),
        None if site.access.is_empty() => thread,
        None => format!("{} by {thread}", clean(&site.access).replace('-', " ")),
    };
    if !site.locks.is_empty() {
        let locks: Vec<String> = site.locks.iter().map(|lock| format!("`{}`", clean(lock))).collect();
        let _ = write!(text, ", holding {}", locks.join(", "));
    }
    text
}

/// Returns the steps of each thread, numbered over all of them.
fn flows(finding: &Finding, threads: &Threads, paths: &Paths<'_>) -> Vec<Value> {
    let mut order: Vec<u32> = finding.steps.iter().map(|step| step.thread).collect();
    order.sort_unstable();
    order.dedup();
    let flow = |&thread: &u32| {
        let steps = (1..).zip(&finding.steps).filter(|(_, step)| step.thread == thread);
        let locations: Vec<Value> = steps.map(|(number, step): (u64, _)| flow_step(number, step, paths)).collect();
        json!({ "id": format!("T{thread}"), "message": { "text": threads.heading(thread) }, "locations": locations })
    };
    order.iter().map(flow).collect()
}

fn flow_step(number: u64, step: &Step, paths: &Paths<'_>) -> Value {
    let what = if step.preempted {
        format!("{}{} (the thread before was preempted)", clean(&step.what), values::whole(step))
    } else {
        format!("{}{}", clean(&step.what), values::whole(step))
    };
    let mut location = json!({ "message": { "text": what } });
    if let Some(place) = physical(paths, &step.file, step.line, 0) {
        location["physicalLocation"] = place;
    }
    let importance = match (step.culprit, step.preempted) {
        (true, _) => "essential",
        (false, true) => "important",
        (false, false) => "unimportant",
    };
    json!({ "executionOrder": number, "importance": importance, "location": location })
}

fn stack(site: &Site, threads: &Threads, paths: &Paths<'_>) -> Value {
    let frame = |frame: &Frame| {
        let mut location = json!({ "logicalLocations": [{ "name": clean(&frame.function), "kind": "function" }] });
        if let Some(place) = physical(paths, &frame.file, frame.line, frame.column) {
            location["physicalLocation"] = place;
        }
        json!({ "location": location })
    };
    json!({
        "message": { "text": threads.sentence(&site.thread) },
        "frames": site.stack.iter().map(frame).collect::<Vec<_>>(),
    })
}

/// Returns a place in a file, as far as it is known.
fn physical(paths: &Paths<'_>, file: &str, line: u32, column: u32) -> Option<Value> {
    let mut place = json!({ "artifactLocation": paths.artifact(file)? });
    if line > 0 {
        place["region"] =
            if column > 0 { json!({ "startLine": line, "startColumn": column }) } else { json!({ "startLine": line }) };
    }
    Some(place)
}

/// How files are named.
struct Paths<'a> {
    root: &'a Path,
}

impl Paths<'_> {
    fn artifact(&self, file: &str) -> Option<Value> {
        if file.is_empty() {
            return None;
        }
        let path = Path::new(file);
        let below = if self.root.as_os_str().is_empty() { None } else { path.strip_prefix(self.root).ok() };
        let path = below.unwrap_or(path);
        let plain: Vec<&str> = path.to_str()?.split('/').filter(|part| *part != ".").collect();
        let text = encode(&plain.join("/"));
        Some(if path.is_absolute() {
            json!({ "uri": format!("file://{text}") })
        } else {
            json!({ "uri": text, "uriBaseId": ROOT })
        })
    }
}

/// Returns a path as part of a URI, with reserved characters escaped.
fn encode(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' | b'+' => {
                out.push(char::from(byte));
            }
            _ => {
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_below_the_root_are_relative() {
        let paths = Paths { root: Path::new("/home/me/project") };
        let uri = |file: &str| paths.artifact(file).map(|artifact| artifact["uri"].as_str().map(str::to_owned));
        assert_eq!(uri("/home/me/project/src/a.c"), Some(Some("src/a.c".to_owned())));
        assert_eq!(uri("./src/a b.c"), Some(Some("src/a%20b.c".to_owned())));
        assert_eq!(uri("/usr/include/c++/12/vector"), Some(Some("file:///usr/include/c++/12/vector".to_owned())));
        assert_eq!(uri("/home/me/projects/a.c"), Some(Some("file:///home/me/projects/a.c".to_owned())));
        assert_eq!(uri(""), None);
        assert!(Paths { root: Path::new("") }.artifact("a.c").is_some_and(|place| place["uriBaseId"] == ROOT));
    }
}
