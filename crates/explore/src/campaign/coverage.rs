//! What a campaign may say about what it explored.

use super::{Campaign, Claim, Counts, Member, Stop};
use crate::{Escape, Execution, Part, Points};
use racehunter_finding::Coverage;

impl Campaign<'_> {
    /// Nothing happened that takes schedules out of the hands of the campaign.
    pub(super) fn is_clean(&self) -> bool {
        let Counts { diverged, limited, lost, partial, .. } = self.counts;
        let notices_sharing = self.budget.detect_races || self.budget.points != Points::Shared;
        let is_controlled = self.escaped.keys().all(|(what, ..)| what.is_unseen() || what.is_assumption());
        notices_sharing && diverged == 0 && limited == 0 && lost == 0 && partial == 0 && is_controlled
    }

    /// Nothing was reached that could hide what it does.
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
            // Chances count only where nothing is certain.
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

    /// The members of the portfolio that claim something when they are done.
    fn claiming(&self) -> impl Iterator<Item = &Member> {
        let members = self.members.iter().enumerate();
        members.filter(|(index, _)| self.portfolio.guarantee(*index).is_some()).map(|(_, member)| member)
    }

    /// What may be claimed so far. With several members that claim something, the first one is what the portfolio is
    /// built around.
    pub(super) fn claims(&self) -> Vec<Claim> {
        let first = self.claiming().find(|member| !member.claims.is_empty()).filter(|_| self.is_clean());
        first.map(|member| member.claims.clone()).unwrap_or_default()
    }

    /// Whether the first member that claims something claims it about the bugs of the program.
    fn proves(&self) -> bool {
        let claims =
            |&index: &usize| self.portfolio.guarantee(index).is_some() && !self.members[index].claims.is_empty();
        (0..self.members.len()).find(claims).is_some_and(|index| self.portfolio.proves(index))
    }

    fn assumptions(&self) -> Vec<String> {
        let points = match self.budget.points {
            Points::Sync => "points = synchronisation and atomics only".to_owned(),
            Points::Shared => {
                let stable = self.counts.stable_for;
                format!("points = shared accesses, stable for {stable} {}", plural(stable, "execution"))
            }
            Points::All => "points = every access".to_owned(),
        };
        let mut assumes = vec!["this input".to_owned(), "sequential consistency".to_owned(), points];
        if !self.budget.spurious {
            assumes.push("no spurious wake-ups; a signal wakes the thread that has waited longest".to_owned());
        }
        if !self.budget.detect_races {
            assumes.push("no detector of races".to_owned());
        } else if !self.budget.infer_races {
            assumes.push("a race is what two threads are about to do at the same time".to_owned());
        }
        if self.budget.check_output && self.reference.as_ref().is_some_and(Execution::is_output_cut) {
            assumes.push("output that differs does so in its length or in its last 64 MiB".to_owned());
        }
        if self.portfolio.left_out() > 0 {
            assumes.push("the order of operations on different objects does not matter".to_owned());
        }
        let has = |what: Escape| self.escaped.keys().any(|(known, ..)| *known == what);
        if has(Escape::Clock) {
            assumes.push("time passes only as the schedule says".to_owned());
        }
        if has(Escape::TimedWait) {
            assumes.push("waits with a deadline end by a signal or a time-out".to_owned());
        }
        if has(Escape::FutexWait) {
            assumes.push("waits on a futex with a deadline end by a wake-up or a time-out".to_owned());
        }
        if has(Escape::WeakExchange) {
            assumes.push("a weak compare-exchange fails only if the value differs".to_owned());
        }
        if has(Escape::Excused) {
            assumes.push("races on the standard streams, and those that annotations excuse, do not count".to_owned());
        }
        if has(Escape::SmallStack) {
            assumes.push("stacks are large enough".to_owned());
        }
        if has(Escape::Stays) {
            assumes.push("large blocks stay where they are when resized, if they fit".to_owned());
        }
        if has(Escape::ReadsAgain) {
            assumes.push(
                "a thread that reads under a lock gets it again for reading, also while a writer waits".to_owned(),
            );
        }
        if has(Escape::Descriptors) {
            assumes.push("the numbers of descriptors do not matter".to_owned());
        }
        if has(Escape::Freed) {
            assumes.push("freed memory is not handed out again at once".to_owned());
        }
        if has(Escape::LetGo) {
            assumes.push(
                "blocks that were freed long before, at least 1 MiB or 1,024 blocks ago, are not used".to_owned(),
            );
        }
        if has(Escape::Whole) {
            assumes.push("no preemption at the reads inside of Rust's standard library".to_owned());
        }
        if has(Escape::Keys) {
            assumes.push("the keys of hash maps that were drawn".to_owned());
        }
        if has(Escape::Iteration) {
            assumes.push("a failure shows inside of the loop, and not in what `main` returns after it".to_owned());
        }
        if has(Escape::Reused) {
            assumes.push("no reuse of handles: a new thread has none of a thread that is over".to_owned());
        }
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
        say(self.unreported, "finding", "seen and not looked into: there was no time left");
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
    /// In words, for this part of the search.
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
