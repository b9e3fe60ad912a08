//! JSON lines: the contract with scripts. Fields are added at the end, never changed.

use std::io;
use std::time::Duration;

use racehunter_finding::{
    Assumption, Coverage, Figures, Finding, Frame, Object, Site, Step, Thread, Uncontrolled, Value, Waiting,
};
use serde::Serialize;

use crate::{Bound, Told};

#[derive(Serialize)]
struct FindingLine<'a> {
    reason: &'static str,
    id: &'a str,
    kind: &'static str,
    confirmed: bool,
    replayed: [u32; 2],
    execution: u64,
    preemptions: u32,
    message: &'a str,
    sites: Vec<SiteFields<'a>>,
    replay: String,
    object: Option<&'a Object>,
    threads: &'a [Thread],
    steps: &'a [Step],
    notes: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    suppressed: Option<&'a str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    met: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    variant_of: Option<&'a str>,
    #[serde(skip_serializing_if = "<[u64]>::is_empty")]
    cause_steps: &'a [u64],
}

#[derive(Serialize)]
struct SiteFields<'a> {
    file: &'a str,
    line: u32,
    column: u32,
    function: &'a str,
    thread: &'a str,
    access: &'a str,
    size: u32,
    locks: &'a [String],
    entry: &'a str,
    stack: &'a [Frame],
    waits_for: Option<&'a Waiting>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<&'a Value>,
}

#[derive(Serialize)]
struct BoundLine {
    reason: &'static str,
    bound: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    variables: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    threads: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    iterations: Option<u32>,
    executions: u64,
    complete: bool,
}

#[derive(Serialize)]
struct SummaryLine<'a> {
    reason: &'static str,
    executions: u64,
    diverged: u64,
    timed_out: u64,
    complete: bool,
    guarantee: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    chance: Option<&'a str>,
    findings: u64,
    points: u64,
    threads: u64,
    elapsed_ms: u64,
    assumes: &'a [Assumption],
    missed: &'a [String],
    events: u64,
    uncontrolled: Vec<UncontrolledFields<'a>>,
    left_out: u64,
    finished: bool,
    #[serde(skip_serializing_if = "is_zero")]
    suppressed: u64,
    completed: u64,
    #[serde(skip_serializing_if = "is_zero")]
    unconfirmed: u64,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    unclear: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    figures: Option<&'a Figures>,
    #[serde(skip_serializing_if = "is_zero")]
    variants: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

#[derive(Serialize)]
struct UncontrolledFields<'a> {
    what: &'a str,
    file: &'a str,
    line: u32,
    executions: u64,
    detail: &'a str,
}

pub(crate) fn finding(finding: &Finding) -> io::Result<String> {
    line(&FindingLine {
        reason: "finding",
        id: &finding.id,
        kind: finding.kind.name(),
        confirmed: finding.confirmed,
        replayed: finding.replayed,
        execution: finding.execution,
        preemptions: finding.preemptions,
        message: &finding.message,
        sites: finding.sites.iter().map(site).collect(),
        replay: format!("racehunter replay {}", finding.id),
        object: finding.object.as_ref(),
        threads: &finding.threads,
        steps: &finding.steps,
        notes: &finding.notes,
        suppressed: finding.suppressed.as_deref(),
        met: finding.met,
        cause: finding.cause.as_deref(),
        variant_of: finding.variant_of.as_deref(),
        cause_steps: &finding.cause_steps,
    })
}

fn site(site: &Site) -> SiteFields<'_> {
    SiteFields {
        file: &site.file,
        line: site.line,
        column: site.column,
        function: &site.function,
        thread: &site.thread,
        access: &site.access,
        size: site.size,
        locks: &site.locks,
        entry: &site.entry,
        stack: &site.stack,
        waits_for: site.waits_for.as_ref(),
        value: site.value.as_ref(),
    }
}

pub(crate) fn bound(bound: &Bound) -> io::Result<String> {
    let &Bound { bound, variables, threads, iterations, executions, complete } = bound;
    line(&BoundLine { reason: "bound", bound, variables, threads, iterations, executions, complete })
}

pub(crate) fn summary(coverage: &Coverage, told: Told, elapsed: Duration) -> io::Result<String> {
    line(&SummaryLine {
        reason: "summary",
        executions: coverage.executions,
        diverged: coverage.diverged,
        timed_out: coverage.timed_out,
        complete: coverage.complete,
        guarantee: &coverage.guarantee,
        chance: coverage.chance.as_deref(),
        findings: told.findings,
        points: coverage.points,
        threads: coverage.threads,
        elapsed_ms: u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX),
        assumes: &coverage.assumes,
        missed: &coverage.missed,
        events: coverage.events,
        uncontrolled: coverage.uncontrolled.iter().map(uncontrolled).collect(),
        left_out: coverage.left_out,
        finished: coverage.finished,
        suppressed: told.suppressed,
        completed: coverage.completed,
        unconfirmed: told.unconfirmed,
        unclear: &coverage.unclear,
        figures: coverage.figures.as_ref(),
        variants: told.variants,
    })
}

fn uncontrolled(what: &Uncontrolled) -> UncontrolledFields<'_> {
    let Uncontrolled { what, detail, file, line, executions } = what;
    UncontrolledFields { what: what.name(), file, line: *line, executions: *executions, detail }
}

fn line(value: &impl Serialize) -> io::Result<String> {
    Ok(serde_json::to_string(value)? + "\n")
}
