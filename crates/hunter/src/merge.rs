//! `racehunter merge`: joins the parts of a divided campaign.

mod ranked;

use crate::campaign::{self, Kept};
use crate::causes::Causes;
use crate::store::{self, Stored};
use crate::{Error, Suppressions};
use racehunter_explore::Claim;
use racehunter_finding::{Assumption, Coverage, Uncontrolled};
use racehunter_report::messages;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

/// The parts of a campaign.
pub struct Parts {
    /// The parts by number, each with its directory.
    pub parts: BTreeMap<u32, (PathBuf, Kept)>,
    /// The number of parts there should be.
    pub of: u32,
}

/// The results of all parts together.
pub struct Merged {
    /// The findings, in the order in which they were found.
    pub findings: Vec<Stored>,
    /// What was explored.
    pub coverage: Coverage,
    /// Duration of the longest part.
    pub elapsed: Duration,
}

impl Merged {
    /// Returns the number of findings that count: confirmed and not suppressed.
    #[must_use]
    pub fn counted(&self) -> usize {
        self.findings.iter().filter(|stored| stored.finding.counts()).count()
    }
}

impl Parts {
    /// Joins the parts: findings by their identity, counts, and guarantees.
    ///
    /// # Errors
    /// If a finding cannot be read.
    pub fn join(&self, suppressions: &Suppressions) -> Result<Merged, Error> {
        let mut findings: BTreeMap<String, Stored> = BTreeMap::new();
        for (directory, kept) in self.parts.values() {
            for id in &kept.findings {
                join(&mut findings, store::load(directory, id)?);
            }
            for finding in &kept.unconfirmed {
                let subject = kept.identity.subject();
                join(&mut findings, subject.stored(kept.build.clone(), false, finding.clone()));
            }
        }
        let mut findings: Vec<Stored> = findings.into_values().collect();
        findings.sort_by_key(|stored| stored.finding.execution);
        let mut causes = Causes::default();
        for stored in &mut findings {
            suppressions.apply(&mut stored.finding);
            causes.add(&mut stored.finding);
        }
        let kept: Vec<&Kept> = self.parts.values().map(|(_, kept)| kept).collect();
        let elapsed = kept.iter().map(|kept| kept.elapsed).max().unwrap_or_default();
        Ok(Merged { findings, coverage: coverage(&kept, self.of), elapsed })
    }
}

/// Joins two findings of the same bug: a confirmed one replaces an unconfirmed one, then an earlier one a later one.
fn join(findings: &mut BTreeMap<String, Stored>, new: Stored) {
    let rank = |stored: &Stored| (!stored.finding.confirmed, stored.finding.execution);
    let known = findings.entry(new.finding.id.clone());
    known
        .and_modify(|known| {
            if rank(&new) < rank(known) {
                known.clone_from(&new)
            }
        })
        .or_insert(new);
}

/// Reads the parts in these directories.
///
/// # Errors
/// If there are none, or they do not belong together.
pub fn read(directories: &[PathBuf]) -> Result<Parts, Error> {
    let mut parts: BTreeMap<u32, (PathBuf, Kept)> = BTreeMap::new();
    let mut first: Option<Kept> = None;
    for directory in directories {
        let paths = campaign::all(directory)?;
        if paths.is_empty() {
            return Err(Error::EmptyCampaigns(directory.clone()));
        }
        for path in paths {
            let (kept, _) = campaign::read(&path)?;
            let first = first.get_or_insert_with(|| kept.clone());
            if let Some(what) = difference(first, &kept) {
                return Err(Error::OtherCampaign { path, what });
            }
            // If the same part occurs twice, the one that got further counts.
            let further = parts.get(&kept.part().number()).is_none_or(|(_, known)| {
                (known.coverage.complete, known.coverage.executions)
                    < (kept.coverage.complete, kept.coverage.executions)
            });
            if further {
                parts.insert(kept.part().number(), (directory.clone(), kept));
            }
        }
    }
    let of = first.map_or(1, |first| first.part().of());
    Ok(Parts { parts, of })
}

/// Returns why two campaigns are different. The location of the program does not matter if it is the same.
fn difference(one: &Kept, other: &Kept) -> Option<String> {
    let (a, b) = (&one.identity, &other.identity);
    let options = a.options.iter().zip(&b.options).find(|(a, b)| a != b);
    if one.build != other.build {
        Some("the programs differ".to_owned())
    } else if a.arguments != b.arguments {
        Some("the arguments of the program differ".to_owned())
    } else if a.input != b.input {
        Some("the inputs differ".to_owned())
    } else if a.client != b.client {
        Some("the clients differ".to_owned())
    } else if let Some((a, b)) = options {
        Some(format!("`{}` there, `{}` here", a.to_lowercase(), b.to_lowercase()))
    } else if one.part().of() != other.part().of() {
        Some(format!("part {} there, part {} here", one.part, other.part))
    } else {
        one.world_differs(other)
    }
}

/// Returns what the parts have explored together.
fn coverage(parts: &[&Kept], of: u32) -> Coverage {
    let sum = |number: fn(&Coverage) -> u64| parts.iter().map(|part| number(&part.coverage)).sum();
    let most = |number: fn(&Coverage) -> u64| parts.iter().map(|part| number(&part.coverage)).max().unwrap_or(0);
    let common = parts.iter().map(|part| part.common).max().unwrap_or(0);
    let own: u64 = parts.iter().map(|part| part.coverage.executions - part.common.min(part.coverage.executions)).sum();
    let points = parts.iter().flat_map(|part| &part.places).collect::<BTreeSet<_>>().len() as u64;
    let missing: Vec<u32> =
        (1..=of).filter(|number| parts.iter().all(|part| part.part().number() != *number)).collect();
    let sites: BTreeSet<&Vec<u32>> = parts.iter().map(|part| &part.sites).collect();
    let claim = if missing.is_empty() && sites.len() == 1 { claim(parts) } else { None };
    let mut missed: Vec<String> = missing.iter().map(|&number| messages::missing_part(number, of)).collect();
    if sites.len() > 1 {
        missed.push(messages::different_points());
    }
    for part in parts {
        let number = part.part().number();
        missed.extend(part.coverage.missed.iter().map(|line| messages::of_part(number, of, line)));
    }
    Coverage {
        executions: common + own,
        diverged: sum(|coverage| coverage.diverged),
        timed_out: sum(|coverage| coverage.timed_out),
        completed: sum(|coverage| coverage.completed),
        unclear: unclear(parts, of),
        complete: claim.is_some() && parts.iter().all(|part| part.coverage.complete),
        finished: claim.is_some() && parts.iter().all(|part| part.coverage.finished),
        guarantee: match claim {
            Some(words) => messages::claim_over(&words, points),
            None => messages::no_claim(),
        },
        // The probabilities of the parts do not simply add up.
        chance: None,
        assumes: assumptions(parts),
        missed,
        points,
        threads: most(|coverage| coverage.threads),
        events: most(|coverage| coverage.events),
        left_out: sum(|coverage| coverage.left_out),
        uncontrolled: uncontrolled(parts),
        figures: parts.iter().find_map(|part| part.coverage.figures.clone()),
    }
}

/// Returns everything that is unclear in any part.
fn unclear(parts: &[&Kept], of: u32) -> Vec<String> {
    let of_part = |part: &&Kept| {
        let number = part.part().number();
        let line = move |line: &String| if of == 1 { line.clone() } else { messages::of_part(number, of, line) };
        part.coverage.unclear.iter().map(line).collect::<Vec<_>>()
    };
    parts.iter().flat_map(of_part).collect()
}

/// Returns what all parts together guarantee: the last bound that each of them has finished.
fn claim(parts: &[&Kept]) -> Option<String> {
    let claims: Vec<Vec<Claim>> = parts.iter().map(|part| part.claims()).collect();
    if parts.iter().any(|part| part.bounds.iter().any(|bound| bound.variables.is_some())) {
        let finished: Vec<bool> = parts.iter().map(|part| part.coverage.finished).collect();
        return ranked::claim(&claims, &finished);
    }
    // A part in which nothing is left has finished every bound.
    let last = |claims: &Vec<Claim>| match claims.last() {
        Some(claim) if claim.everything => Some(u32::MAX),
        Some(claim) => Some(claim.bound.unwrap_or(u32::MAX)),
        None => None,
    };
    let bound = claims.iter().map(last).collect::<Option<Vec<u32>>>()?.into_iter().min()?;
    let at = |claims: &Vec<Claim>| {
        let here = |claim: &&Claim| claim.everything || claim.bound.is_none_or(|of| of == bound);
        claims.iter().rev().find(here).filter(|claim| bound == u32::MAX || !claim.everything).cloned()
    };
    let mut words: Vec<String> = claims.iter().filter_map(at).map(|claim| claim.words).collect();
    words.sort_by_key(|words| std::cmp::Reverse(words.len()));
    words.dedup();
    if words.iter().all(|words| words.starts_with("all ")) {
        // They differ in their limits, and the longest text says most about these.
        words.truncate(1);
    }
    (!words.is_empty()).then(|| words.join(" and "))
}

/// Returns what the claims of all parts rest on.
fn assumptions(parts: &[&Kept]) -> Vec<Assumption> {
    let mut assumes: Vec<Assumption> = Vec::new();
    for assumption in parts.iter().flat_map(|part| &part.coverage.assumes) {
        // The number of executions with the same points in one part is not a property of the whole.
        let assumption = match assumption {
            Assumption::SharedPoints { .. } => Assumption::SharedPoints { stable_for: None },
            other => other.clone(),
        };
        if !assumes.contains(&assumption) {
            assumes.push(assumption);
        }
    }
    if parts.len() > 1 && !assumes.contains(&Assumption::SameFiles) {
        assumes.push(Assumption::SameFiles);
    }
    assumes
}

fn uncontrolled(parts: &[&Kept]) -> Vec<Uncontrolled> {
    let mut all: Vec<Uncontrolled> = Vec::new();
    for new in parts.iter().flat_map(|part| &part.coverage.uncontrolled) {
        let same = |known: &&mut Uncontrolled| {
            let executions = known.executions;
            **known == Uncontrolled { executions, ..new.clone() }
        };
        match all.iter_mut().find(same) {
            Some(known) => known.executions += new.executions,
            None => all.push(new.clone()),
        }
    }
    all
}
