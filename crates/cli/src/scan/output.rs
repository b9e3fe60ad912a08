//! What the user sees.

use crate::arguments::{MessageFormat, Scan};
use crate::hunt::reporter;
use anyhow::{Context as _, Result};
use racehunter_finding::Finding;
use racehunter_scan::Report;
use racehunter_scan::verdict::{Pair, Side};
use serde_json::json;
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
    if let Some(finding) = &verdict.finding
        && !arguments.svcomp
    {
        reporter(arguments.message_format, arguments.color.into())
            .finding(finding)
            .context("cannot write the results")?;
    }
    let word = match verdict.word {
        Word::RaceFree => "race-free",
        Word::Race => "race",
        Word::Unknown => "unknown",
    };
    if arguments.message_format == MessageFormat::Json {
        for pair in &report.pairs {
            println!("{}", candidate(pair));
        }
        for gap in &report.gaps {
            let (file, line) = gap.place.as_ref().map_or(("", 0), |place| (place.file.as_str(), place.line));
            println!("{}", json!({"reason": "gap", "message": gap.what, "file": file, "line": line}));
        }
        let tier = verdict.tier.map(Tier::name);
        let milliseconds = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
        println!(
            "{}",
            json!({"reason": "verdict", "verdict": word, "tier": tier, "why": verdict.why,
                "candidates": report.pairs.len(), "gaps": report.gaps.len(), "threads": report.threads,
                "elapsed_ms": milliseconds})
        );
    } else {
        if verdict.word == Word::Unknown {
            for pair in report.pairs.iter().take(SHOWN) {
                print_candidate(pair);
            }
            if report.pairs.len() > SHOWN {
                println!("... and {} more", report.pairs.len() - SHOWN);
            }
            for gap in &report.gaps {
                match &gap.place {
                    Some(place) => println!("not modelled: {} ({place})", gap.what),
                    None => println!("not modelled: {}", gap.what),
                }
            }
        }
        let tier = verdict.tier.map_or_else(String::new, |tier| format!(" (tier {})", tier.name()));
        println!("   Verdict {word}{tier} [{:.1}s]", elapsed.as_secs_f64());
        println!("   Because {}", verdict.why);
    }
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

fn access(side: &Side) -> &'static str {
    match (side.write, side.atomic) {
        (true, false) => "write",
        (false, false) => "read",
        (true, true) => "atomic write",
        (false, true) => "atomic read",
    }
}

fn candidate(pair: &Pair) -> serde_json::Value {
    let sides: Vec<_> = (pair.sides.iter())
        .map(|side| {
            json!({"file": side.place.file, "line": side.place.line, "column": side.place.column,
                "function": side.place.function, "access": access(side), "thread": side.thread,
                "stack": side.stack, "locks": side.locks})
        })
        .collect();
    json!({"reason": "candidate", "variable": pair.what, "sites": sides})
}

fn print_candidate(pair: &Pair) {
    println!("suspected: data race on `{}`", pair.what);
    for side in &pair.sides {
        let locks = if side.locks.is_empty() { "no lock".to_owned() } else { format!("`{}`", side.locks.join("`, `")) };
        println!("  --> {}: {} in thread `{}`, holding {locks}", side.place, access(side), side.thread);
        println!("      by {}", side.stack.join(" > "));
    }
}
