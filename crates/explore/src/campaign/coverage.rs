//! What a campaign may claim about what it explored.

use super::{Campaign, Claim, Counts, Member, Stop};
use crate::{Escape, Execution, Part, Points};
use racehunter_finding::{Assumption, Coverage};

/// The assumption for each escape, in the order of reports.
const ASSUMED: [(Escape, Assumption); 16] = [
    (Escape::Clock, Assumption::Time),
    (Escape::TimedWait, Assumption::TimedWaits),
    (Escape::FutexWait, Assumption::FutexWaits),
    (Escape::WeakExchange, Assumption::WeakExchange),
    (Escape::OwnSequence, Assumption::OwnSequence),
    (Escape::Excused, Assumption::Excused),
    (Escape::SmallStack, Assumption::StackSize),
    (Escape::Stays, Assumption::BlocksStay),
    (Escape::ReadsAgain, Assumption::ReadsAgain),
    (Escape::Descriptors, Assumption::DescriptorNumbers),
    (Escape::Freed, Assumption::FreedMemory),
    (Escape::LetGo, Assumption::LongFreed),
    (Escape::Whole, Assumption::StandardLibrary),
    (Escape::Keys, Assumption::HashKeys),
    (Escape::Iteration, Assumption::InsideLoop),
    (Escape::Reused, Assumption::Handles),
];

impl Campaign<'_> {
    /// Returns whether nothing happened that takes schedules out of the campaign's control.
    pub(super) fn is_clean(&self) -> bool {
        let Counts { diverged, limited, lost, partial, .. } = self.counts;
        let notices_sharing = self.budget.detect_races || self.budget.points != Points::Shared;
        let is_controlled = self.escaped.keys().all(|(what, ..)| what.is_unseen() || what.is_assumption());
        notices_sharing && diverged == 0 && limited == 0 && lost == 0 && partial == 0 && is_controlled
    }

    /// Returns whether nothing was reached that could hide its effects.
    fn sees_everything(&self) -> bool {
        !self.escaped.keys().any(|(what, ..)| what.is_unseen())
    }

    pub(super) fn coverage(&self, stop: &Stop) -> Coverage {
        let counts = self.counts;
        let points = self.places.len() as u64;
        let finished = self.claiming().next().is_some() && self.claiming().all(|member| member.finished);
        let guarantee = self.claims().pop();
        let finished = finished && guarantee.is_some();
        let complete = finished && self.sees_everything() && self.proves();
        Coverage {
            executions: counts.executions,
            diverged: counts.diverged,
            timed_out: counts.limited,
            completed: self.endings.completed,
            unclear: Vec::new(),
            complete,
            finished,
            guarantee: match guarantee {
                Some(claim) => {
                    let what = claim.of_part(self.budget.part);
                    format!("{what} over {points} {}", plural(points, "point"))
                }
                None => "some schedules; no claim about the others".to_owned(),
            },
            // Probabilities count only if nothing is certain.
            chance: if complete {
                None
            } else {
                self.portfolio.chance().filter(|_| self.is_clean() && self.sees_everything())
            },
            assumes: self.assumptions(),
            missed: self.missed(stop, finished),
            points,
            threads: u64::from(self.threads),
            events: self.events,
            left_out: self.portfolio.left_out(),
            uncontrolled: Vec::new(),
            figures: None,
        }
    }

    /// Returns the members of the portfolio that claim something when they are finished.
    fn claiming(&self) -> impl Iterator<Item = &Member> {
        let members = self.members.iter().enumerate();
        members.filter(|(index, _)| self.portfolio.guarantee(*index).is_some()).map(|(_, member)| member)
    }

    /// Returns what may be claimed so far. If several members claim something, the portfolio is built around the first.
    pub(super) fn claims(&self) -> Vec<Claim> {
        let first = self.claiming().find(|member| !member.claims.is_empty()).filter(|_| self.is_clean());
        first.map(|member| member.claims.clone()).unwrap_or_default()
    }

    /// Returns whether the claim of the first member that claims something covers the bugs of the program.
    fn proves(&self) -> bool {
        let claims =
            |&index: &usize| self.portfolio.guarantee(index).is_some() && !self.members[index].claims.is_empty();
        (0..self.members.len()).find(claims).is_some_and(|index| self.portfolio.proves(index))
    }

    fn assumptions(&self) -> Vec<Assumption> {
        let points = match self.budget.points {
            Points::Sync => Assumption::SyncPoints,
            Points::Shared => Assumption::SharedPoints { stable_for: Some(self.counts.stable_for) },
            Points::All => Assumption::AllPoints,
        };
        let mut assumes = vec![Assumption::ThisInput, Assumption::SequentialConsistency, points];
        if !self.budget.spurious {
            assumes.push(Assumption::NoSpuriousWakeups);
        }
        if !self.budget.detect_races {
            assumes.push(Assumption::NoDetector);
        } else if !self.budget.infer_races {
            assumes.push(Assumption::RacesMeet);
        }
        if self.budget.check_output && self.reference.as_ref().is_some_and(Execution::is_output_cut) {
            assumes.push(Assumption::EndOfOutput);
        }
        if self.portfolio.left_out() > 0 {
            assumes.push(Assumption::IndependentOperations);
        }
        let has = |what: Escape| self.escaped.keys().any(|(known, ..)| *known == what);
        assumes.extend(ASSUMED.iter().filter(|(what, _)| has(*what)).map(|(_, assumption)| assumption.clone()));
        assumes
    }

    fn missed(&self, stop: &Stop, finished: bool) -> Vec<String> {
        let counts = self.counts;
        let waiting = self.portfolio.waiting() as u64;
        let mut missed = Vec::new();
        let mut say = |count: u64, what: &str, why: &str| {
            if count > 0 {
                missed.push(format!("{count} {} {why}", plural(count, what)));
            }
        };
        if !finished {
            say(waiting, "target", "still waiting");
            if let Some(remaining) = self.portfolio.remaining().filter(|&remaining| remaining > waiting) {
                say(remaining, "execution", "to go in this stage, by estimate");
            }
        }
        say(self.postponed.len() as u64, "finding", "seen and not looked into: there was no time left");
        say(counts.diverged, "execution", "diverged from the plan");
        say(counts.given_up, "target", "given up after diverging again");
        say(counts.limited, "execution", "stopped by a limit");
        say(counts.lost, "execution", "killed from outside");
        say(counts.partial, "execution", "not wholly under control");
        match stop {
            Stop::Failed(error) => missed.push(format!("the campaign broke off: {error}")),
            Stop::FirstBug => missed.push("the campaign stopped at its first finding".to_owned()),
            Stop::Exhausted | Stop::Runs | Stop::Asked => {}
        }
        missed
    }
}

impl Claim {
    /// Returns the claim in words, for this part of the search.
    #[must_use]
    pub fn of_part(&self, part: Part) -> String {
        let (words, number, of) = (&self.words, part.number(), part.of());
        match words.strip_prefix("all ") {
            _ if part.is_whole() || !self.divided => words.clone(),
            Some(_) => format!("part {number} of {of} of {words}"),
            None => format!("{words} as part {number} of {of}"),
        }
    }
}

fn plural(count: u64, noun: &str) -> String {
    if count == 1 { noun.to_owned() } else { format!("{noun}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_escape_that_is_an_assumption_says_which() {
        for what in (0..=u8::MAX).filter_map(Escape::from_byte) {
            let named = ASSUMED.iter().filter(|(known, _)| *known == what).count();
            assert_eq!(named, usize::from(what.is_assumption()), "{what:?}");
        }
    }
}
