//! What the user sees.

use super::suspects::{access, suspected};
use crate::arguments::{MessageFormat, Scan};
use crate::hunt::reporter;
use anyhow::{Context as _, Result};
use racehunter_finding::Finding;
use racehunter_report as report;
use racehunter_scan::Report;
use racehunter_scan::program::SourceLocation;
use racehunter_scan::report::{Gap, Pair, Side};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// What is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// There is no race.
    RaceFree,
    /// There is one.
    Race,
    /// It is not known.
    Unknown,
}

/// Who says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tier {
    /// Pointers, locks and threads.
    A,
    /// The same for each way through the program.
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

/// The result.
pub struct Verdict {
    /// What is said.
    pub word: Word,
    /// Who says it; nobody says that it is not known.
    pub tier: Option<Tier>,
    /// Why.
    pub why: String,
    /// The race.
    pub finding: Option<Finding>,
}

impl Verdict {
    /// A verdict without a finding.
    pub fn new(word: Word, tier: Option<Tier>, why: String) -> Self {
        Self { word, tier, why, finding: None }
    }
}

/// Candidates that are shown to people.
const SHOWN: usize = 10;

/// Prints all there is to say.
pub fn print(arguments: &Scan, report: &Report, verdict: &Verdict, elapsed: Duration) -> Result<()> {
    let mut reporter = reporter(arguments.message_format, arguments.color.into());
    if let Some(finding) = &verdict.finding
        && !arguments.svcomp
    {
        reporter.finding(finding).context("cannot write the results")?;
    }
    match arguments.message_format {
        MessageFormat::Json => {
            for pair in &report.pairs {
                println!("{}", candidate(pair));
            }
            for gap in &report.gaps {
                let (file, line) = gap.place.as_ref().map_or(("", 0), |place| (place.file.as_str(), place.line));
                println!("{}", json!({"reason": "gap", "message": gap.what, "file": file, "line": line}));
            }
        }
        // What is proved or shown leaves nothing to suspect.
        _ if verdict.word != Word::Unknown => {}
        MessageFormat::Human => print_open(report),
        MessageFormat::Short | MessageFormat::Github | MessageFormat::Sarif => {
            // Accesses of the same lines are one thing to the reader.
            let mut told = BTreeSet::new();
            for finding in report.pairs.iter().map(suspected) {
                if told.insert(finding.id.clone()) {
                    reporter.finding(&finding).context("cannot write the results")?;
                }
            }
        }
    }
    let open = verdict.word == Word::Unknown || arguments.message_format == MessageFormat::Json;
    let said = report::Verdict {
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
    reporter.verdict(&said, elapsed).context("cannot write the results")?;
    if arguments.svcomp {
        println!(
            "{}",
            match verdict.word {
                Word::RaceFree => "TRUE",
                Word::Race => "FALSE(no-data-race)",
                Word::Unknown => "UNKNOWN",
            }
        );
    }
    Ok(())
}

/// What keeps the program from being proved, for people: the most convincing pairs, and what is not modelled.
fn print_open(report: &Report) {
    // Of all that is about the same memory the most convincing is enough.
    let mut told = BTreeSet::new();
    let mut shown = 0;
    for pair in report.pairs.iter().filter(|pair| told.insert(pair.memory)).take(SHOWN) {
        print_candidate(pair);
        shown += pair.alike;
    }
    if report.suspected > shown {
        let (pairs, memory) = (report.suspected - shown, report.memory.saturating_sub(SHOWN));
        println!("... and {pairs} more, about {memory} other pieces of memory");
    }
    // The same thing at many places is said once.
    let mut kinds: BTreeMap<&str, Vec<&Gap>> = BTreeMap::new();
    for gap in &report.gaps {
        kinds.entry(&gap.what).or_default().push(gap);
    }
    for gaps in kinds.values() {
        match gaps.len() {
            0..=3 => gaps.iter().for_each(|one| println!("not modelled: {}", gap(one))),
            more => println!("not modelled: {}, and at {} other places", gap(gaps[0]), more - 1),
        }
    }
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

/// The locks that are held, and those that may be.
fn locks(side: &Side) -> String {
    let quoted = |names: &[String]| format!("`{}`", names.join("`, `"));
    match (&side.locks[..], &side.may_hold[..]) {
        ([], []) => "no lock".to_owned(),
        (surely, []) => quoted(surely),
        ([], maybe) => format!("perhaps {}", quoted(maybe)),
        (surely, maybe) => format!("{}, perhaps {}", quoted(surely), quoted(maybe)),
    }
}

fn print_candidate(pair: &Pair) {
    println!("suspected: data race on `{}`", pair.what);
    for side in &pair.sides {
        println!("  --> {}: {} in thread `{}`, holding {}", side.place, access(side), side.thread, locks(side));
        let calls: Vec<String> = (side.stack.iter().zip(&side.calls))
            .map(|(function, place)| format!("{function} :{}", place.line))
            .collect();
        println!("      by {}", calls.join(" > "));
    }
    println!("  = {}", pair.parallel);
    if pair.sure {
        println!("  = nothing that is known of the code speaks against it");
    }
    if pair.alike > 1 {
        println!("  = one of {} pairs of accesses to the same memory", pair.alike);
    }
}
