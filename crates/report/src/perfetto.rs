//! The timelines of findings as trace events, which Perfetto (ui.perfetto.dev) and Chrome's tracing page show.
//!
//! Each finding is a process, and each of its threads a thread. Schedules have an order but no time: step n begins at n
//! microseconds and takes one microsecond. Locks that are held are separate spans, and arrows lead from a step to the
//! step that it unblocks.

use serde_json::{Value, json};

use racehunter_finding::Finding;

use crate::interleaving::{class, held, object, wakeups};
use crate::short::{location, severity};
use crate::text::clean;
use crate::threads::Threads;
use crate::values;

/// Returns the file, for all findings.
#[must_use]
pub fn file(findings: &[&Finding]) -> String {
    let mut events = Vec::new();
    for (process, finding) in (1_u32..).zip(findings) {
        one(&mut events, process, finding);
    }
    let trace = json!({ "displayTimeUnit": "ns", "traceEvents": events });
    format!("{trace}\n")
}

fn one(events: &mut Vec<Value>, process: u32, finding: &Finding) {
    let threads = Threads::of(finding);
    let name =
        format!("{} {}[{}] {}", clean(&finding.id), severity(finding), finding.kind.name(), clean(&finding.message));
    events.push(json!({ "ph": "M", "name": "process_name", "pid": process, "args": { "name": name } }));
    let mut known: Vec<u32> = finding.steps.iter().map(|step| step.thread).collect();
    known.sort_unstable();
    known.dedup();
    for thread in known {
        let name = threads.heading(thread);
        let of = json!({ "ph": "M", "pid": process, "tid": thread });
        let with = |more: Value| merge(&of, &more);
        events.push(with(json!({ "name": "thread_name", "args": { "name": name } })));
        events.push(with(json!({ "name": "thread_sort_index", "args": { "sort_index": thread } })));
    }
    let time = |number: usize| crate::human::number(&finding.steps, number);
    for (number, step) in finding.steps.iter().enumerate() {
        let mut args = json!({ "step": time(number) });
        let mut add = |name: &str, value: Option<String>| {
            if let Some(value) = value {
                args[name] = Value::String(value);
            }
        };
        add("place", location(&step.file, step.line, 0));
        add("object", object(step).map(clean));
        add("value", Some(values::whole(step).trim().to_owned()).filter(|value| !value.is_empty()));
        if step.preempted {
            args["preempted"] = Value::Bool(true);
        }
        if step.culprit {
            args["culprit"] = Value::Bool(true);
        }
        events.push(json!({
            "ph": "X", "name": clean(step.what.trim()), "cat": class(step), "pid": process, "tid": step.thread,
            "ts": time(number), "dur": 1, "args": args,
        }));
    }
    for (number, held) in held(&finding.steps).into_iter().enumerate() {
        let name = format!("{} holds {}", threads.heading(held.thread), clean(held.lock));
        let id = format!("{process}.{number}");
        for (phase, at) in [("b", held.from), ("e", held.to)] {
            events.push(json!({
                "ph": phase, "name": name, "cat": "held", "id": id, "pid": process, "tid": held.thread, "ts": time(at),
            }));
        }
    }
    for (number, (from, to)) in wakeups(&finding.steps).into_iter().enumerate() {
        let id = format!("{process}.{number}");
        for (phase, at) in [("s", from), ("f", to)] {
            events.push(json!({
                "ph": phase, "bp": "e", "name": "lets continue", "cat": "wake", "id": id, "pid": process,
                "tid": finding.steps[at].thread, "ts": time(at),
            }));
        }
    }
}

/// Returns both objects as one.
fn merge(one: &Value, other: &Value) -> Value {
    let mut all = one.clone();
    if let (Some(all), Some(other)) = (all.as_object_mut(), other.as_object()) {
        all.extend(other.clone());
    }
    all
}
