//! What was recorded, and what is in a trace.

use crate::text::count;
use racehunter_trace::{Ending, Op, Subject, Summary, Trace, Via};
use serde::Serialize;
use std::io::{self, Write};
use std::time::Duration;

/// How a recorded execution ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// With an exit status.
    Exited(i32),
    /// In a deadlock.
    Deadlock,
    /// By a signal.
    Killed(u32),
    /// By a failed assertion.
    Asserted(String),
    /// It left its schedule at this event.
    Diverged(u64),
    /// By a limit.
    Limit(String),
    /// It was lost.
    Lost(String),
}

impl Ended {
    /// Returns true if the program failed, where `allowed` says which exit statuses are no failures.
    #[must_use]
    pub fn is_failure(&self, allowed: impl Fn(i32) -> bool) -> bool {
        match self {
            Self::Exited(status) => !allowed(*status),
            Self::Deadlock | Self::Killed(_) | Self::Asserted(_) | Self::Lost(_) => true,
            Self::Diverged(_) | Self::Limit(_) => false,
        }
    }
}

impl std::fmt::Display for Ended {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Exited(status) => write!(out, "ended with status {status}"),
            Self::Deadlock => write!(out, "ended in a deadlock"),
            Self::Killed(signal) => write!(out, "was killed by signal {signal}"),
            Self::Asserted(message) => write!(out, "failed the assertion `{message}`"),
            Self::Diverged(at) => write!(out, "left its schedule at event {at}"),
            Self::Limit(limit) => write!(out, "was stopped by its limit of {limit}"),
            Self::Lost(how) => write!(out, "was lost: {how}"),
        }
    }
}

/// What was recorded.
#[derive(Serialize)]
pub struct Recording {
    reason: &'static str,
    file: String,
    events: u64,
    trace_events: u64,
    threads: u32,
    bytes: u64,
    outcome: String,
    /// Everything that happened is in the trace.
    whole: bool,
    /// The program failed.
    failed: bool,
    /// What the execution reached that is not in the trace.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unseen: Vec<String>,
    /// How long the program ran.
    run_seconds: f64,
    /// Size of its log, which was on disk until the trace was complete.
    log_bytes: u64,
}

impl Recording {
    /// Returns a recording in a file, and the size of the file; the events are those of the execution and those of the
    /// trace.
    #[must_use]
    pub fn new(
        (file, bytes): (String, u64),
        [events, trace_events]: [u64; 2],
        threads: u32,
        ending: &Ending,
        (ran, log_bytes): (Duration, u64),
    ) -> Self {
        let Ending { outcome, is_failure: failed, is_whole: whole, unseen } = ending.clone();
        let (reason, run_seconds) = ("recording", ran.as_secs_f64());
        Self {
            reason,
            file,
            events,
            trace_events,
            threads,
            bytes,
            outcome,
            whole,
            failed,
            unseen,
            run_seconds,
            log_bytes,
        }
    }

    /// Returns one line of JSON.
    ///
    /// # Errors
    /// Never: these fields can be written.
    pub fn json(&self) -> io::Result<String> {
        Ok(serde_json::to_string(self)? + "\n")
    }

    /// Returns the same for people.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = format!(
            "   Recorded {} of {} in `{}`: {} of the trace, {:.1} bytes each\n   Outcome  the execution {}\n",
            count(self.events, "event"),
            count(self.threads.into(), "thread"),
            self.file,
            count(self.trace_events, "event"),
            self.bytes as f64 / self.trace_events.max(1) as f64,
            self.outcome,
        );
        for what in &self.unseen {
            text += &format!("   Unseen   {what}\n");
        }
        if self.events == 0 && !self.whole {
            text += "   Nothing  to predict: nothing was recorded\n";
        } else if self.threads < 2 {
            text += "   Nothing  to predict: there is only one thread\n";
        } else {
            text += &format!("   Next     racehunter predict {}\n", self.file);
        }
        text
    }

    /// Returns a warning, when something is missing from the trace.
    #[must_use]
    pub fn warning(&self) -> Option<String> {
        if !self.whole {
            return Some(format!("not all that happened is in the trace: the execution {}", self.outcome));
        }
        let failed =
            || format!("the recorded execution failed: it {}; `racehunter hunt` looks for the reason", self.outcome);
        self.failed.then(failed)
    }
}

/// Returns what is in a trace, for people.
#[must_use]
pub fn describe(summary: &Summary) -> String {
    let mut text =
        format!("{} events of {} threads at {} sites\n", summary.events, summary.by_thread.len(), summary.sites);
    for (name, events) in &summary.by_thread {
        text += &format!("  {name:<12} {events:>12} events\n");
    }
    for subject in Subject::ALL.into_iter().filter(|subject| subject.has_object()) {
        let count = summary.objects_of(subject);
        if count > 0 {
            text += &format!("  {:<12} {count:>12} objects", subject.name());
            if subject == Subject::Memory {
                text += &format!(", {} of them shared and written", summary.shared);
            }
            text += "\n";
        }
    }
    for op in Op::ALL {
        let count = summary.by_op[op as usize];
        if count > 0 {
            text += &format!("  {:<12} {count:>12} events\n", op.word());
        }
    }
    let known = |known: bool| if known { "recorded" } else { "not recorded" };
    text + &format!("branches {}, dependences {}\n", known(summary.branches), known(summary.dependences))
}

/// Returns what is in a trace, as one line of JSON.
///
/// # Errors
/// Never: these fields can be written.
pub fn json(summary: &Summary) -> io::Result<String> {
    Ok(serde_json::to_string(&SummaryLine::new(summary))? + "\n")
}

#[derive(Serialize)]
struct SummaryLine<'a> {
    reason: &'static str,
    events: u64,
    threads: usize,
    sites: u64,
    locations: u64,
    shared: u64,
    locks: u64,
    conditions: u64,
    semaphores: u64,
    barriers: u64,
    branches: bool,
    dependences: bool,
    by_thread: Vec<ThreadFields<'a>>,
    by_operation: Vec<OperationFields>,
}

#[derive(Serialize)]
struct ThreadFields<'a> {
    thread: &'a str,
    events: u64,
}

#[derive(Serialize)]
struct OperationFields {
    operation: &'static str,
    events: u64,
}

impl<'a> SummaryLine<'a> {
    fn new(summary: &'a Summary) -> Self {
        let by_operation =
            Op::ALL.into_iter().map(|op| OperationFields { operation: op.word(), events: summary.by_op[op as usize] });
        Self {
            reason: "trace",
            events: summary.events,
            threads: summary.by_thread.len(),
            sites: summary.sites,
            locations: summary.objects_of(Subject::Memory),
            shared: summary.shared,
            locks: summary.objects_of(Subject::Lock),
            conditions: summary.objects_of(Subject::Condition),
            semaphores: summary.objects_of(Subject::Semaphore),
            barriers: summary.objects_of(Subject::Barrier),
            branches: summary.branches,
            dependences: summary.dependences,
            by_thread: summary
                .by_thread
                .iter()
                .map(|(thread, events)| ThreadFields { thread, events: *events })
                .collect(),
            by_operation: by_operation.filter(|fields| fields.events > 0).collect(),
        }
    }
}

#[derive(Serialize)]
struct EventLine<'a> {
    event: u32,
    thread: &'a str,
    operation: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    object: Option<&'a str>,
    site: &'a str,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    part: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    values: Vec<u32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    decisions: Vec<u32>,
}

/// Writes a trace as one JSON object per event and line.
///
/// # Errors
/// When writing fails.
pub fn write_json(trace: &Trace, mut out: impl Write) -> io::Result<()> {
    for (id, event) in (0..).zip(trace.events()) {
        let object = match event.op.subject() {
            Subject::Nothing => None,
            Subject::Thread => Some(trace.threads()[event.object as usize].as_str()),
            _ => Some(trace.objects()[event.object as usize].name.as_str()),
        };
        let dependences = trace.dependences().map_or(&[][..], |dependences| dependences.of(id));
        let reads = |via: Via| dependences.iter().filter(|entry| entry.via == via).map(|entry| entry.read).collect();
        let line = EventLine {
            event: id,
            thread: &trace.threads()[usize::from(event.thread)],
            operation: event.op.word(),
            object,
            site: &trace.sites()[event.site as usize],
            part: event.part,
            values: reads(Via::Value),
            decisions: reads(Via::Decision),
        };
        serde_json::to_writer(&mut out, &line)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}
