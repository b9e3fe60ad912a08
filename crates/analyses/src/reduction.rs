//! Leaving out schedules that show nothing new, without leaving out anything that a bound allows.
//!
//! Two rules, both exact for a bound on preemptions and for one on switches:
//!
//! *Where another path has been.* Two beginnings with the same [`Past`], the same running thread and the same threads that
//! can run go on alike. So the second one is not explored further, unless it is cheaper. This is happens-before caching
//! (M. Musuvathi, S. Qadeer, "Iterative context bounding", 2007).
//!
//! *A preemption that came too early.* Where a thread is preempted before an operation, and goes on with it before
//! anything happened that conflicts with it, it could as well have been preempted after it: that is the same but for the
//! order of what does not conflict, and costs no more. So a thread that was preempted sleeps until something conflicts
//! with its next operation. It must be known that the operation would not have ended the program, which is so where the
//! preemption was found in an execution that made none there. These are sleep sets (P. Godefroid, 1996) for the running thread alone, since only for it
//! the price never rises: the problem, and another answer, is in K. Coons, M. Musuvathi, K. McKinley, "Bounded
//! partial-order reduction", 2013.
//!
//! Together they are exact because a moment counts as visited only when no more threads slept there than do now.

use crate::past::{Footprint, Past, mix};
use racehunter_explore::{Decision, Decisions, Execution, Going, Outcome, Record, Step};

/// The way of an execution through its moments, as far as its decisions were looked at.
pub(crate) struct Way<'e> {
    records: &'e [Record],
    /// First record that was not looked at.
    next: usize,
    /// The event that ended the program, if one did. It comes after everything else.
    end: Option<usize>,
    past: Past,
    /// The event that happens because time passes.
    timed: Option<u64>,
    /// Events before which there was a preemption that may have come too early.
    early: Vec<u64>,
    /// Threads that were preempted too early so far, and what they will do.
    sleepers: Vec<(u32, Footprint)>,
}

/// Threads whose sleep is known to others: one bit each.
const SLEEPERS: u32 = 64;

impl<'e> Way<'e> {
    /// The beginning of an execution. `early`: events before which a thread was preempted that would have gone on.
    pub fn new(execution: &'e Execution, early: Vec<u64>) -> Self {
        let ends = matches!(
            execution.outcome,
            Outcome::Exited(_) | Outcome::Crashed { .. } | Outcome::Asserted { .. } | Outcome::Lost(_)
        );
        let records = &execution.records[..];
        let end = records.iter().rposition(|record| record.kind.is_event()).filter(|_| ends);
        Self { records, next: 0, end, past: Past::default(), timed: None, early, sleepers: Vec::new() }
    }

    fn footprint(&self, position: usize, time_passes: bool) -> Footprint {
        Footprint::of(&self.records[position], time_passes || self.end == Some(position))
    }

    /// Goes on to the moment before event `at`.
    pub fn reach(&mut self, at: u64) {
        while let Some(record) = self.records.get(self.next) {
            if record.kind.is_event() {
                if record.index >= at {
                    break;
                }
                let footprint = self.footprint(self.next, self.timed == Some(record.index));
                self.past.note(record, &footprint);
                self.sleepers.retain(|(thread, wants)| *thread != record.thread && !wants.conflicts(&footprint));
            }
            self.next += 1;
        }
    }

    /// What tells this moment, at which a decision was made, from all others. `who`: it matters who is running.
    pub fn key(&self, decision: &Decision, decisions: &Decisions<'_>, who: bool) -> u128 {
        let mut key = mix(self.past.number(), 1);
        if who {
            let yields = u128::from(decision.going == Going::Yielding);
            key = mix(key, u128::from(decision.from) << 1 | yields);
        }
        for known in decisions.situation() {
            key = mix(key, u128::from(known));
        }
        key
    }

    /// Whether a thread sleeps.
    pub fn is_asleep(&self, thread: u32) -> bool {
        self.sleepers.iter().any(|(sleeper, _)| *sleeper == thread)
    }

    /// The threads that sleep, one bit each.
    pub fn asleep(&self) -> u64 {
        self.sleepers.iter().fold(0, |asleep, (thread, _)| asleep | 1 << thread)
    }

    /// The decision was made as it was.
    pub fn decide(&mut self, decision: &Decision, time_passes: bool) {
        if time_passes {
            self.timed = Some(decision.at);
        }
        if decision.step == Step::Preemption && decision.from < SLEEPERS && self.early.contains(&decision.at) {
            let later = self.records[self.next..].iter();
            let wanted = later.enumerate().find(|(_, record)| record.kind.is_event() && record.thread == decision.from);
            // What it will do is seen when it does it. A thread that never gets there does not sleep.
            if let Some((offset, record)) = wanted {
                let mut footprint = self.footprint(self.next + offset, false);
                // Whether an atomic operation changes anything can depend on when it is made.
                footprint.changes_all(record.kind.is_atomic());
                self.sleepers.push((decision.from, footprint));
            }
        }
    }

    /// Whether the running thread made the event that was decided about, and the program went on.
    pub fn went_on(&self, decision: &Decision) -> bool {
        let event = self.records.get(self.next).filter(|record| record.index == decision.at);
        decision.step == Step::Stay
            && self.end != Some(self.next)
            && event.is_some_and(|event| event.thread == decision.from)
    }
}
