//! Predictions, converted to findings.

use racehunter_finding::{Finding, Kind, Object, Site, Step, Thread, fingerprint};
use racehunter_predict::{Gap, Index, Policy, Prediction, Reason, Report};
use racehunter_report::messages;
use racehunter_report::predictions::{self as words, Assumption, GUARANTEE, Missed, Summary, Why};
use racehunter_report::two_runs::{Turn, TwoRuns};
use racehunter_trace::{EventId, Op, Subject, Trace};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashSet};

/// Maximum number of steps of a witness in a report.
const STEPS: usize = 40;

/// Returns a prediction as an unconfirmed finding.
#[must_use]
pub fn finding(index: &Index<'_>, prediction: &Prediction) -> Finding {
    let trace = index.trace();
    let kind = match prediction.kind {
        racehunter_predict::Kind::Race => Kind::DataRace,
        racehunter_predict::Kind::Deadlock => Kind::Deadlock,
        racehunter_predict::Kind::Atomicity => Kind::Atomicity,
    };
    let first = prediction.events[0];
    let name = object_name(trace, first);
    let message = match prediction.kind {
        racehunter_predict::Kind::Race => messages::predicted_race(name),
        racehunter_predict::Kind::Deadlock => {
            let locks: Vec<&str> = prediction.events.iter().map(|&event| object_name(trace, event)).collect();
            messages::predicted_deadlock(&locks)
        }
        racehunter_predict::Kind::Atomicity => messages::predicted_access(name),
    };
    let sites: Vec<Site> = prediction.events.iter().map(|&event| site(index, event)).collect();
    let places: Vec<String> = prediction.events.iter().map(|&event| place_name(trace, event).to_owned()).collect();
    let object = (prediction.kind != racehunter_predict::Kind::Deadlock).then(|| Object {
        name: name.to_owned(),
        size: 0,
        region: "unknown".to_owned(),
        allocated: Vec::new(),
        element: None,
    });
    let witness = &prediction.witness;
    Finding {
        id: fingerprint(kind, &places),
        message,
        sites,
        preemptions: preemptions(trace, &witness.tail.iter().collect::<Vec<_>>()),
        steps: steps(trace, prediction),
        object,
        threads: trace.threads().iter().enumerate().map(thread).collect(),
        notes: vec![messages::reordering(witness.len())],
        ..Finding::new(kind)
    }
}

/// Returns a thread, by its name in the trace. Paths in the family tree and plain numbers add nothing.
fn thread((number, name): (usize, &String)) -> Thread {
    let is_plain = *name == format!("T{number}") || name == "main" || name.starts_with("main/");
    let entry = if is_plain { String::new() } else { name.clone() };
    Thread { path: name.clone(), entry }
}

/// Counts switches away from threads that continue later, in the part of a witness that differs from the trace.
fn preemptions(trace: &Trace, witness: &[EventId]) -> u32 {
    let mut last = vec![None; trace.threads().len()];
    for (at, &event) in witness.iter().enumerate() {
        last[usize::from(trace.thread(event))] = Some(at);
    }
    let switches = witness.windows(2).enumerate().filter(|(at, pair)| {
        let (from, to) = (trace.thread(pair[0]), trace.thread(pair[1]));
        from != to && last[usize::from(from)].is_some_and(|last| last > *at)
    });
    switches.count() as u32
}

/// Returns the last steps of the witness, and those that are about to happen then.
fn steps(trace: &Trace, prediction: &Prediction) -> Vec<Step> {
    let witness = &prediction.witness;
    let shown = witness.tail.len().min(STEPS);
    let tail = witness.tail.iter().skip(witness.tail.len() - shown);
    let frozen = witness.frozen.saturating_sub((STEPS - shown) as u32)..witness.frozen;
    let events = frozen.chain(tail).chain(prediction.question.next.iter().copied());
    let mut before = None;
    events
        .map(|event| {
            let thread = trace.thread(event);
            let preempted = before.replace(thread).is_some_and(|before| before != thread);
            let Place { file, line, .. } = place(trace, event);
            Step {
                thread: thread.into(),
                path: trace.threads()[usize::from(thread)].clone(),
                what: in_words(trace, event),
                file,
                line,
                preempted,
                culprit: prediction.events.contains(&event),
                event: 0,
                value: None,
                number: 0,
                matters: false,
            }
        })
        .collect()
}

fn site(index: &Index<'_>, event: EventId) -> Site {
    let trace = index.trace();
    let Place { file, line, column, function } = place(trace, event);
    let locks = index.locks_at(event).map(|lock| trace.objects()[lock as usize].name.clone()).collect();
    Site {
        file,
        line,
        column,
        function,
        thread: trace.threads()[usize::from(trace.thread(event))].clone(),
        entry: String::new(),
        access: operation(trace.op(event)).to_owned(),
        size: 0,
        locks,
        stack: Vec::new(),
        waits_for: None,
        event: 0,
        value: None,
    }
}

/// The place of an event, as far as the name of its site shows it.
struct Place {
    file: String,
    line: u32,
    column: u32,
    function: String,
}

/// Returns the name of an event's site, without the address that recordings add to it.
fn place_name(trace: &Trace, event: EventId) -> &str {
    let name = &trace.sites()[trace.site(event) as usize];
    name.rsplit_once("@0x").map_or(name, |(place, _)| place)
}

/// Takes `file:line` and `file:line:column` apart; anything else is a name.
fn place(trace: &Trace, event: EventId) -> Place {
    let name = place_name(trace, event);
    let unknown = || Place { file: String::new(), line: 0, column: 0, function: format!("site {name}") };
    let Some((rest, last)) = name.rsplit_once(':') else { return unknown() };
    let Ok(last) = last.parse::<u32>() else { return unknown() };
    match rest.rsplit_once(':').map(|(file, line)| (file, line.parse::<u32>())) {
        Some((file, Ok(line))) => Place { file: file.to_owned(), line, column: last, function: String::new() },
        _ => Place { file: rest.to_owned(), line: last, column: 0, function: String::new() },
    }
}

fn object_name(trace: &Trace, event: EventId) -> &str {
    match trace.op(event).subject() {
        Subject::Nothing => "",
        Subject::Thread => &trace.threads()[trace.object(event) as usize],
        _ => &trace.objects()[trace.object(event) as usize].name,
    }
}

/// Returns what an event does.
pub(crate) fn in_words(trace: &Trace, event: EventId) -> String {
    format!("{} {}", operation(trace.op(event)), object_name(trace, event)).trim_end().to_owned()
}

/// Returns what an operation is called in reports.
fn operation(op: Op) -> &'static str {
    match op {
        Op::Read => "read",
        Op::Write => "write",
        Op::AtomicRead => "atomic-read",
        Op::AtomicWrite => "atomic-write",
        Op::Update => "atomic-update",
        Op::Acquire | Op::TryAcquire => "lock",
        Op::Release => "unlock",
        Op::AcquireShared | Op::TryAcquireShared => "read-lock",
        Op::ReleaseShared => "read-unlock",
        Op::TryFailed => "failed try-lock",
        Op::Fork => "create",
        Op::Join | Op::TryJoin => "join",
        Op::Branch => "branch",
        other => other.word(),
    }
}

/// Returns the summary before anything was tried.
#[must_use]
pub fn summary(trace: &Trace, report: &Report, policy: Policy) -> Summary {
    let assumes = match (policy, trace.has_branches(), trace.dependences().is_some()) {
        (Policy::Nre, _, true) => Assumption::Dependences,
        (Policy::M2, ..) | (_, false, _) => Assumption::SameReads,
        (_, true, true) => Assumption::BranchesAndDependences,
        _ => Assumption::Branches,
    };
    let mut summary = Summary {
        reason: "summary",
        executions: 0,
        diverged: 0,
        timed_out: 0,
        complete: report.unfinished.is_empty(),
        guarantee: GUARANTEE,
        findings: report.predictions.len(),
        points: trace.sites().len(),
        threads: trace.threads().len(),
        elapsed_ms: 0,
        events: trace.len() as u64,
        segments: None,
        policy: policy.name(),
        cases: report.cases,
        questions: report.questions,
        unfinished: report.unfinished.len(),
        reasons: missed(trace, report),
        predictions: report.predictions.len(),
        unconfirmed: None,
        cut: None,
        failed: None,
        unseen: Vec::new(),
        assumes,
    };
    if let Some(ending) = trace.ending() {
        summary.add_ending(ending);
    }
    summary
}

/// Maximum number of unfinished cases that are named for each reason.
const NAMED: usize = 3;

/// Returns why cases are unfinished.
fn missed(trace: &Trace, report: &Report) -> Vec<Missed> {
    let mut reasons: BTreeMap<Why, Missed> = BTreeMap::new();
    for case in &report.unfinished {
        let why = match case.reason {
            Reason::Gap(Gap::Window) => Why::Window,
            Reason::Gap(Gap::Length) => Why::Length,
            Reason::Gap(Gap::Search) => Why::Search,
            Reason::Attempts => Why::Attempts,
            Reason::Time => Why::Time,
        };
        let new = || Missed { why, cases: 0, option: why.option(), examples: Vec::new() };
        let missed = reasons.entry(why).or_insert_with(new);
        missed.cases += 1;
        if missed.examples.len() < NAMED && !case.events.is_empty() {
            let named = |&event: &EventId| format!("{} at {}", in_words(trace, event), place_name(trace, event));
            missed.examples.push(case.events.iter().map(named).collect());
        }
    }
    reasons.into_values().collect()
}

/// Returns what scripts need to know about a prediction. `number` returns the number of an event in the whole trace.
#[must_use]
pub fn about(
    trace: &Trace,
    prediction: &Prediction,
    policy: Policy,
    number: &dyn Fn(EventId) -> u64,
) -> words::Prediction {
    words::Prediction {
        policy: policy.name(),
        stage: prediction.stage.name(),
        events: prediction.events.iter().copied().map(number).collect(),
        frozen: number(prediction.witness.frozen),
        tail: prediction.witness.tail.iter().map(number).collect(),
        runs: two_runs(trace, prediction, number),
    }
}

/// Maximum number of turns of a run in a report.
const TURNS: usize = 12;

/// Returns the trace beside the reordering, from where they part. `number` returns the number of an event in the whole
/// trace.
#[must_use]
pub fn two_runs(trace: &Trace, prediction: &Prediction, number: &dyn Fn(EventId) -> u64) -> TwoRuns {
    let Prediction { events, question, witness, .. } = prediction;
    let same = (witness.frozen..).zip(witness.tail.iter()).take_while(|(one, other)| one == other).count();
    let parts = witness.frozen + same as EventId;
    let last = events.iter().copied().max().unwrap_or(parts).min(trace.len() as EventId - 1);
    let happened = turns(trace, events, parts..=last);
    let mut could_have = turns(trace, events, witness.tail.iter().skip(same));
    let about_to = |&event: &EventId| Turn { about_to: true, ..turn(trace, events, event, 1) };
    could_have.extend(question.next.iter().map(about_to));
    TwoRuns { common: number(parts), happened, could_have }
}

/// Returns the turns of a run; if there are many, the first and the last ones.
fn turns(trace: &Trace, culprits: &[EventId], run: impl Iterator<Item = EventId>) -> Vec<Turn> {
    // The last event of each turn, and the number of its events.
    let mut ends: Vec<(EventId, u64)> = Vec::new();
    for event in run {
        // An event of the bug has a turn of its own.
        let continues = |last: EventId| {
            trace.thread(last) == trace.thread(event) && !culprits.contains(&event) && !culprits.contains(&last)
        };
        match ends.last_mut() {
            Some((last, count)) if continues(*last) => (*last, *count) = (event, *count + 1),
            _ => ends.push((event, 1)),
        }
    }
    let shown = |&(event, count): &(EventId, u64)| turn(trace, culprits, event, count);
    if ends.len() <= TURNS {
        return ends.iter().map(shown).collect();
    }
    let (first, last) = (&ends[..TURNS / 2], &ends[ends.len() - TURNS / 2..]);
    let left_out = Turn { events: (ends.len() - TURNS / 2 * 2) as u64, ..Turn::default() };
    first.iter().map(shown).chain([left_out]).chain(last.iter().map(shown)).collect()
}

fn turn(trace: &Trace, culprits: &[EventId], event: EventId, events: u64) -> Turn {
    Turn {
        thread: trace.threads()[usize::from(trace.thread(event))].clone(),
        events,
        what: in_words(trace, event),
        place: short_place(trace, event),
        culprit: culprits.contains(&event),
        about_to: false,
    }
}

/// Returns the place of an event as `file:line`, or the name of its site.
fn short_place(trace: &Trace, event: EventId) -> String {
    let Place { file, line, function, .. } = place(trace, event);
    if file.is_empty() { function } else { format!("{file}:{line}") }
}

/// The predictions from a trace that is read in segments.
#[derive(Default)]
pub struct Segmented {
    summary: Option<Summary>,
    segments: u64,
    known: HashSet<String>,
    missed: BTreeMap<Why, Missed>,
}

impl Segmented {
    /// Adds what one segment has shown. Returns the findings that are new, with their predictions.
    pub fn add<'r>(&mut self, index: &Index<'_>, report: &'r Report, policy: Policy) -> Vec<(Finding, &'r Prediction)> {
        let mut part = summary(index.trace(), report, policy);
        self.segments += 1;
        for missed in std::mem::take(&mut part.reasons) {
            match self.missed.entry(missed.why) {
                Entry::Vacant(entry) => drop(entry.insert(missed)),
                Entry::Occupied(mut entry) => {
                    let all = entry.get_mut();
                    all.cases += missed.cases;
                    all.examples.extend(missed.examples);
                    all.examples.truncate(NAMED);
                }
            }
        }
        let mut new = Vec::new();
        for prediction in &report.predictions {
            let finding = finding(index, prediction);
            if self.known.insert(finding.id.clone()) {
                new.push((finding, prediction));
            }
        }
        let all = self.summary.get_or_insert(Summary { cases: 0, questions: 0, unfinished: 0, ..part });
        all.cases += report.cases;
        all.questions += report.questions;
        all.unfinished += report.unfinished.len();
        all.points = index.trace().sites().len();
        all.threads = index.trace().threads().len();
        new
    }

    /// Returns the summary of all segments, each of which repeats some events of the previous one.
    #[must_use]
    pub fn finish(self, events: u64, overlap: u64) -> Option<Summary> {
        let several = self.segments > 1;
        let summary = self.summary?;
        Some(Summary {
            complete: summary.unfinished == 0 && !several && summary.unseen.is_empty() && summary.cut.is_none(),
            findings: self.known.len(),
            predictions: self.known.len(),
            events,
            segments: several.then_some([self.segments, overlap]),
            reasons: self.missed.into_values().collect(),
            ..summary
        })
    }
}
