//! The results of a scan.

use crate::{Format, Reporter};
use racehunter_finding::Finding;
use racehunter_scan::Report;
use racehunter_scan::program::SourceLocation;
use racehunter_scan::report::{Gap, Pair, Side};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::{self, Write};
use std::time::Duration;

/// The verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// There is no race.
    RaceFree,
    /// There is one.
    Race,
    /// It is not known.
    Unknown,
}

/// The tier that decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tier {
    /// Pointers, locks and threads.
    A,
    /// The same for each path through the program.
    B,
    /// An execution.
    C,
    /// All executions.
    D,
}

impl Tier {
    fn name(self) -> &'static str {
        match self {
            Self::A => "A",
            Self::B => "B",
            Self::C => "C",
            Self::D => "D",
        }
    }
}

/// The result of a scan.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// The verdict.
    pub word: Word,
    /// Which tier decided; absent if the verdict is `unknown`.
    pub tier: Option<Tier>,
    /// The reason.
    pub why: String,
    /// The race.
    pub finding: Option<Finding>,
}

impl Verdict {
    /// Returns a verdict without a finding.
    #[must_use]
    pub fn new(word: Word, tier: Option<Tier>, why: String) -> Self {
        Self { word, tier, why, finding: None }
    }
}

/// Candidates that are shown to people.
const SHOWN: usize = 10;

/// The results besides the verdict.
pub struct Results<'a> {
    /// The analysis of the code.
    pub report: &'a Report,
    /// The final verdict.
    pub verdict: &'a Verdict,
    /// The pairs of the analysis, as unconfirmed findings.
    pub suspected: Vec<Finding>,
    /// True if the last line is that of the competition on software verification.
    pub is_task: bool,
}

impl<W: Write> Reporter<W> {
    /// Writes all results of a scan, which is the last thing to write.
    ///
    /// # Errors
    /// When writing fails.
    pub fn scan(&mut self, results: &Results<'_>, elapsed: Duration) -> io::Result<()> {
        let Results { report, verdict, suspected, is_task } = results;
        if let Some(finding) = verdict.finding.as_ref().filter(|_| !is_task) {
            self.finding(finding)?;
        }
        match self.format {
            Format::Json => {
                for pair in &report.pairs {
                    self.write(&format!("{}\n", candidate(pair)))?;
                }
                for gap in &report.gaps {
                    let (file, line) = gap.place.as_ref().map_or(("", 0), |place| (place.file.as_str(), place.line));
                    let json = json!({"reason": "gap", "message": gap.what, "file": file, "line": line});
                    self.write(&format!("{json}\n"))?;
                }
            }
            // After a proof or a race, no pair is suspected.
            _ if verdict.word != Word::Unknown => {}
            Format::Human => self.write(&open(report))?,
            Format::Short | Format::Github | Format::Sarif | Format::Junit => {
                // Readers do not distinguish accesses on the same lines.
                let mut known = BTreeSet::new();
                for finding in suspected.iter().filter(|finding| known.insert(finding.id.clone())) {
                    self.finding(finding)?;
                }
            }
        }
        let open = verdict.word == Word::Unknown || self.format == Format::Json;
        let said = crate::Verdict {
            word: match verdict.word {
                Word::RaceFree => "race-free",
                Word::Race => "race",
                Word::Unknown => "unknown",
            },
            tier: verdict.tier.map(Tier::name),
            why: verdict.why.clone(),
            candidates: if open { report.suspected } else { 0 },
            gaps: if open { report.gaps.iter().map(gap).collect() } else { Vec::new() },
            threads: report.threads,
        };
        self.verdict(&said, elapsed)?;
        if *is_task {
            self.write(match verdict.word {
                Word::RaceFree => "TRUE\n",
                Word::Race => "FALSE(no-data-race)\n",
                Word::Unknown => "UNKNOWN\n",
            })?;
        }
        Ok(())
    }
}

/// Returns what keeps the program from being proved, for people: the most convincing pairs, and what is not modelled.
fn open(report: &Report) -> String {
    let mut text = String::new();
    // One pair for each piece of memory is enough, the most convincing one.
    let mut memory = BTreeSet::new();
    let mut shown = 0;
    for pair in report.pairs.iter().filter(|pair| memory.insert(pair.memory)).take(SHOWN) {
        text += &suspicion(pair);
        shown += pair.alike;
    }
    if report.suspected > shown {
        let (pairs, memory) = (report.suspected - shown, report.memory.saturating_sub(SHOWN));
        let _ = writeln!(text, "... and {pairs} more, about {memory} other pieces of memory");
    }
    // Report a gap that occurs at many places once.
    let mut kinds: BTreeMap<&str, Vec<&Gap>> = BTreeMap::new();
    for gap in &report.gaps {
        kinds.entry(&gap.what).or_default().push(gap);
    }
    for gaps in kinds.values() {
        match gaps.len() {
            0..=3 => gaps.iter().for_each(|one| text += &format!("not modelled: {}\n", gap(one))),
            more => text += &format!("not modelled: {}, and at {} other places\n", gap(gaps[0]), more - 1),
        }
    }
    text
}

fn gap(gap: &Gap) -> String {
    match &gap.place {
        Some(place) => format!("{} ({place})", gap.what),
        None => gap.what.clone(),
    }
}

fn candidate(pair: &Pair) -> serde_json::Value {
    let sides: Vec<_> = (pair.sides.iter())
        .map(|side| {
            json!({"file": side.place.file, "line": side.place.line, "column": side.place.column,
                "function": side.place.function, "access": access(side), "thread": side.thread,
                "stack": side.stack, "calls": calls(side), "locks": side.locks, "may_hold": side.may_hold})
        })
        .collect();
    json!({"reason": "candidate", "variable": pair.what, "sites": sides, "parallel": pair.parallel, "alike": pair.alike,
        "certainty": if pair.sure { "must" } else { "may" }})
}

fn calls(side: &Side) -> Vec<serde_json::Value> {
    let frame = |place: &SourceLocation| json!({"function": place.function, "file": place.file, "line": place.line});
    side.calls.iter().map(frame).collect()
}

/// Returns the locks that are held, and those that may be.
fn locks(side: &Side) -> String {
    let quoted = |names: &[String]| format!("`{}`", names.join("`, `"));
    match (&side.locks[..], &side.may_hold[..]) {
        ([], []) => "no lock".to_owned(),
        (surely, []) => quoted(surely),
        ([], maybe) => format!("perhaps {}", quoted(maybe)),
        (surely, maybe) => format!("{}, perhaps {}", quoted(surely), quoted(maybe)),
    }
}

/// Returns a suspected pair, for people.
fn suspicion(pair: &Pair) -> String {
    let mut text = format!("suspected: data race on `{}`\n", pair.what);
    for side in &pair.sides {
        let (place, locks) = (&side.place, locks(side));
        let _ = writeln!(text, "  --> {place}: {} in thread `{}`, holding {locks}", access(side), side.thread);
        let calls: Vec<String> = (side.stack.iter().zip(&side.calls))
            .map(|(function, place)| format!("{function} :{}", place.line))
            .collect();
        let _ = writeln!(text, "      by {}", calls.join(" > "));
    }
    let _ = writeln!(text, "  = {}", pair.parallel);
    if pair.sure {
        text += " = nothing known about the code speaks against it\n";
    }
    if pair.alike > 1 {
        let _ = writeln!(text, "  = one of {} pairs of accesses to the same memory", pair.alike);
    }
    text
}

/// Returns what an access does.
#[must_use]
pub fn access(side: &Side) -> &'static str {
    match (side.write, side.atomic) {
        (true, false) => "write",
        (false, false) => "read",
        (true, true) => "atomic write",
        (false, true) => "atomic read",
    }
}

/// Returns the first gap of an analysis, or else its first pair: what keeps it from a proof.
#[must_use]
pub fn obstacle(report: &Report) -> String {
    match (report.gaps.first(), report.pairs.first()) {
        (Some(first), _) => format!("not modelled: {}", gap(first)),
        (None, Some(pair)) => {
            format!("{} and {} may race on `{}`", pair.sides[0].place, pair.sides[1].place, pair.what)
        }
        (None, None) => String::new(),
    }
}

/// Returns why the code has no race.
#[must_use]
pub fn proof(threads: usize) -> String {
    match threads {
        1 => "the program creates no threads".to_owned(),
        threads => format!("no two accesses of {threads} kinds of threads can meet without a common lock or order"),
    }
}

/// Returns what to say if the time was up before the code was analysed.
#[must_use]
pub fn no_time() -> (String, String) {
    let what = "the program as a whole: the time was up before its code had been looked at".to_owned();
    let why = format!("not modelled: {what}; give it more time with --time");
    (what, why)
}

/// Returns the result of executions, after what rules out a proof from the code.
#[must_use]
pub fn executed(obstacle: &str, executions: u64, no_proof: Option<&str>) -> String {
    let why = no_proof.map_or_else(String::new, |why| format!(", which is not a proof: {why}"));
    format!("{obstacle}; {executions} executions showed no race{why}")
}

/// Returns the reason for `race`: an execution has shown it.
#[must_use]
pub fn shown(message: &str) -> String {
    format!("{message}, shown by an execution that can be replayed")
}

/// Returns the reason for a proof by all executions.
#[must_use]
pub fn exhausted(guarantee: &str, executions: u64) -> String {
    format!("{guarantee}: {executions} executions, none with a race")
}

/// Returns the reason if the program could not be executed.
#[must_use]
pub fn not_executed(obstacle: &str, why: &str) -> String {
    format!("{obstacle}; the program could not be executed: {why}")
}

/// Returns why executions prove nothing about a program that calls functions described by code.
#[must_use]
pub fn described_by_code() -> String {
    "it calls library functions whose accesses executions do not see".to_owned()
}

/// Returns the gap that results from a linker option which changes the meaning of symbols.
#[must_use]
pub fn changes_symbols(option: &str) -> String {
    format!("`{option}`, which changes the meaning of symbols for the linker")
}

/// Returns the message of a suspected pair.
#[must_use]
pub fn suspected(name: &str) -> String {
    format!("suspected data race on `{name}`")
}
