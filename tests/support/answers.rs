//! The command's answer about a probe, and whether it is true.

use crate::probes::{Asked, Ban, Probe, Truth, file_name};
use crate::results::{Finding, Site};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;

/// The command's answer.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// Its exit code; nothing if a signal ended it.
    pub status: Option<i32>,
    /// It had to be killed.
    pub hung: bool,
    /// Processes that it left behind.
    pub left: usize,
    /// Its findings.
    pub findings: Vec<Finding>,
    /// The last line of a hunt.
    pub summary: Option<Value>,
    /// The last line of a scan.
    pub verdict: Option<Value>,
    /// The first line that violates the contract.
    pub garbage: Option<String>,
    /// What it wrote to standard error.
    pub stderr: String,
}

impl Answer {
    /// Parses the command's output.
    #[must_use]
    pub fn read(status: Option<i32>, stdout: &str, stderr: String) -> Self {
        let mut answer = Self { status, stderr, ..Self::default() };
        for line in stdout.lines() {
            let value: Option<Value> = serde_json::from_str(line).ok();
            let reason = value.as_ref().and_then(|value| value["reason"].as_str().map(str::to_owned));
            match (reason.as_deref(), value) {
                (Some("finding"), Some(value)) if Finding::deserialize(&value).is_ok() => {
                    answer.findings.extend(Finding::deserialize(&value).ok());
                }
                (Some("summary"), value) => answer.summary = value,
                (Some("verdict"), value) => answer.verdict = value,
                (Some(reason), _) if reason != "finding" => (),
                _ => answer.garbage = answer.garbage.or_else(|| Some(line.chars().take(200).collect())),
            }
        }
        answer
    }

    fn confirmed(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|finding| finding.confirmed)
    }

    fn says_complete(&self) -> bool {
        self.summary.as_ref().is_some_and(|summary| summary["complete"] == true)
    }

    fn says_race_free(&self) -> bool {
        self.verdict.as_ref().is_some_and(|verdict| verdict["verdict"] == "race-free")
    }

    /// Returns the essential line of the answer, shortened.
    #[must_use]
    pub fn line(&self) -> String {
        let mut parts: Vec<String> = self
            .findings
            .iter()
            .map(|f| format!("{}{}: {}", if f.confirmed { "" } else { "? " }, f.kind, f.message))
            .collect();
        parts.truncate(3);
        if let Some(summary) = &self.summary {
            let claim = if self.says_complete() { "complete" } else { "incomplete" };
            parts.push(format!(
                "{claim}: {}, {} executions, {} findings, {} diverged, {} stopped",
                summary["guarantee"].as_str().unwrap_or("?"),
                summary["executions"],
                summary["findings"],
                summary["diverged"],
                summary["timed_out"]
            ));
        }
        if let Some(verdict) = &self.verdict {
            let word = |key: &str| verdict[key].as_str().unwrap_or("-").to_owned();
            parts.push(format!("{} by {}: {}", word("verdict"), word("tier"), word("why")));
        }
        let status = self.status.map_or_else(|| "a signal".to_owned(), |status| format!("exit {status}"));
        parts.push(status);
        if parts.len() == 1 {
            parts.extend(self.stderr.lines().last().map(str::to_owned));
        }
        parts.join("; ")
    }
}

/// How an answer compares with the truth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The bug was reported.
    Found,
    /// A correct program was proved correct.
    Proved,
    /// Nothing false, but nothing useful either.
    NoClaim,
    /// Something false, in words.
    Wrong(Vec<String>),
}

impl Outcome {
    /// Returns a word for it.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Found => "found",
            Self::Proved => "proved",
            Self::NoClaim => "no claim",
            Self::Wrong(_) => "WRONG",
        }
    }
}

/// Compares an answer with the truth.
#[must_use]
pub fn judge(probe: &Probe, answer: &Answer) -> Outcome {
    let mut wrong = how_it_ended(probe, answer);
    let found = answer.confirmed().any(|finding| is_true(probe, finding));
    for finding in answer.confirmed() {
        wrong.extend(is_false(probe, finding));
    }
    let silent = answer.confirmed().next().is_none();
    let claims = match probe.asked {
        Asked::Hunt => silent && answer.says_complete(),
        Asked::Scan => answer.says_race_free(),
    };
    let has_bug = matches!(probe.truth, Truth::Bug(_));
    if claims && (has_bug || probe.must_not.contains(&Ban::Proved)) && !is_assumed(probe, answer) {
        wrong.push(match probe.asked {
            Asked::Hunt => "claims to have explored everything, and found nothing".to_owned(),
            Asked::Scan => "race-free, which it is not".to_owned(),
        });
    }
    if has_bug && silent && !claims {
        wrong.extend(partial_claim(probe, answer));
    }
    if silent && answer.status == Some(0) && probe.must_not.contains(&Ban::ExitZero) {
        wrong.push("exit 0 and no finding, where a failure must have been seen".to_owned());
    }
    if !wrong.is_empty() {
        return Outcome::Wrong(wrong);
    }
    match (found, claims) {
        (true, _) => Outcome::Found,
        (false, true) => Outcome::Proved,
        (false, false) => Outcome::NoClaim,
    }
}

fn how_it_ended(probe: &Probe, answer: &Answer) -> Vec<String> {
    let mut wrong = Vec::new();
    if probe.may_die && !matches!(answer.status, Some(0..=9)) {
        return wrong;
    }
    if answer.hung {
        wrong.push("does not end".to_owned());
    } else {
        match answer.status {
            None => wrong.push("is ended by a signal".to_owned()),
            Some(2) if probe.may_refuse => (),
            // The contract may grow.
            Some(0 | 1 | 3..=9) => (),
            Some(other) => {
                let last = answer.stderr.lines().rfind(|line| line.contains("error")).unwrap_or_default();
                wrong.push(format!("exit {other}: {last}"));
            }
        }
    }
    if answer.left > 0 {
        wrong.push(format!("leaves {} processes behind", answer.left));
    }
    wrong.extend(answer.garbage.iter().map(|line| format!("not as in the contract: {line}")));
    if probe.truth == Truth::Clean && answer.status == Some(1) && answer.confirmed().next().is_none() {
        wrong.push("exit 1 about a correct program".to_owned());
    }
    wrong
}

/// Returns true if two kinds mean the same: kinds with which a test fails by itself have more than one name.
fn same_kind(truth: &str, kind: &str) -> bool {
    truth == kind || (truth == "exit-status" && kind.starts_with("exit"))
}

fn is_true(probe: &Probe, finding: &Finding) -> bool {
    finding.message.contains(&probe.says) && probe.kinds().iter().any(|truth| same_kind(truth, &finding.kind))
}

fn is_false(probe: &Probe, finding: &Finding) -> Option<String> {
    let Finding { kind, message, .. } = finding;
    match &probe.truth {
        Truth::Any => None,
        Truth::Clean => Some(format!("a false report: {kind}: {message}")),
        Truth::Bug(kinds) if !is_true(probe, finding) => {
            Some(format!("a false report: {kind}: {message}, where only {kinds:?} is true {}", probe.says))
        }
        Truth::Bug(_) => {
            let name = file_name(&probe.source);
            let lines: BTreeSet<u32> = finding.sites.iter().filter_map(|site| line_in(site, &name)).collect();
            let elsewhere = kind == "data-race" && !probe.lines.is_empty() && !lines.is_subset(&probe.lines);
            elsewhere.then(|| format!("{message} at lines {lines:?}, where only {:?} race", probe.lines))
        }
    }
}

/// Returns the innermost line of a site in a file with this name.
fn line_in(site: &Site, name: &str) -> Option<u32> {
    let here = |file: &str| Path::new(file).file_name().is_some_and(|file| file == name);
    let own = here(&site.file).then_some(site.line);
    own.or_else(|| site.stack.iter().find(|frame| here(&frame.file)).map(|frame| frame.line))
}

fn is_assumed(probe: &Probe, answer: &Answer) -> bool {
    let Some(summary) = &answer.summary else { return false };
    let assumes = summary["assumes"].to_string();
    probe.unless_assumes.iter().any(|word| assumes.contains(word.as_str()))
}

/// Checks a partial claim: "all schedules with <= 1 preemption" is a claim too, unless something is named that was not
/// under control.
fn partial_claim(probe: &Probe, answer: &Answer) -> Option<String> {
    let (least, summary) = (probe.preemptions?, answer.summary.as_ref()?);
    let under_control = summary["uncontrolled"].as_array().is_none_or(Vec::is_empty);
    let guarantee = summary["guarantee"].as_str()?;
    let bound = match guarantee.split_once("<= ") {
        Some((_, rest)) => rest.split(' ').next()?.parse::<u32>().ok()?,
        None if guarantee.starts_with("all schedules") => u32::MAX,
        None => return None,
    };
    (under_control && bound >= least && !is_assumed(probe, answer))
        .then(|| format!("says `{guarantee}`, where {least} preemptions show the bug"))
}
