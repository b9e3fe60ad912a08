//! Leaving out schedules that show nothing new, without leaving out anything that a bound allows.
//!
//! Two rules, both exact for a bound on preemptions and for one on switches:
//!
//! *Where another path has been.* Two beginnings with the same [`Past`], the same running thread, the same threads that
//! can run, and as many events of each thread that no other thread can notice go on alike. So the second one is not explored
//! further, unless it is cheaper. This is happens-before caching (M. Musuvathi, S. Qadeer, "Iterative context bounding", 2007).
//!
//! *A preemption that came too early.* Where a thread is preempted before an operation, and goes on with it before
//! anything happened that conflicts with it, it could as well have been preempted after it: that is the same but for the
//! order of what does not conflict, and costs no more. So a thread that was preempted sleeps until something conflicts
//! with its next operation. To find that one has to wait for an object counts as something that happened: after the
//! operation one might not have to wait there, and to leave a thread that could go on has a price. It must be known that the
//! operation would not have ended the program, which is so where the preemption was found in an execution that made none
//! there. These are sleep sets (P. Godefroid, 1996) for the running thread alone, since only for it the price never rises:
//! the problem, and another answer, is in K. Coons, M. Musuvathi, K. McKinley, "Bounded partial-order reduction", 2013.
//!
//! Together they are exact because a moment counts as visited only when no more threads slept there than do now.

use racehunter_explore::{Decision, Decisions, Execution, Going, Outcome, Record, Step};
use racehunter_log::{Entry, Event, EventNumber, Footprint, Past, ThreadId, mix};

/// The path of an execution through its moments, as far as its decisions were read.
pub(crate) struct Way<'e> {
    records: &'e [Record],
    /// First record that was not read.
    next: usize,
    /// The event that ended the program, if one did. It comes after everything else.
    end: Option<usize>,
    past: Past,
    /// The thread that is running, and the first event that is not accounted for.
    running: (ThreadId, EventNumber),
    /// Events of each thread since its last one in the log. (Accesses to what no other thread uses are not in it.)
    own: Vec<u64>,
    /// The event that happens because time passes.
    timed: Option<EventNumber>,
    /// Events before which there was a preemption that may have come too early.
    early: Vec<EventNumber>,
    /// Threads that were preempted too early so far, and what they will do.
    sleepers: Vec<(ThreadId, Footprint)>,
}

/// Threads whose sleep is known to others: one bit each.
const SLEEPERS: u32 = 64;

impl<'e> Way<'e> {
    /// The beginning of an execution. `early`: events before which a thread was preempted that would have gone on.
    pub fn new(execution: &'e Execution, early: Vec<EventNumber>) -> Self {
        let ends = matches!(
            execution.outcome,
            Outcome::Exited(_) | Outcome::Crashed { .. } | Outcome::Asserted { .. } | Outcome::Lost(_)
        );
        let records = &execution.records[..];
        let end = execution.entries().rposition(|entry| entry.is_operation()).filter(|_| ends);
        let (past, running, own) = (Past::default(), (ThreadId::MAIN, EventNumber::START.next()), Vec::new());
        Self { records, next: 0, end, past, running, own, timed: None, early, sleepers: Vec::new() }
    }

    /// What happened before event `at`, and is not in the log, was done by the running thread.
    fn account(&mut self, at: EventNumber) {
        let (thread, from) = (self.running.0.index(), self.running.1);
        if self.own.len() <= thread {
            self.own.resize(thread + 1, 0);
        }
        self.own[thread] += at.since(from);
        self.running.1 = from.max(at);
    }

    fn footprint(&self, position: usize, time_passes: bool) -> Footprint {
        Footprint::of(Entry::of(&self.records[position]), time_passes || self.end == Some(position))
    }

    /// Goes on to the moment before event `at`.
    pub fn reach(&mut self, at: EventNumber) {
        while let Some(entry) = self.records.get(self.next).map(Entry::of) {
            let number = entry.number();
            // The event itself need not be in the log: then what follows it must not be taken for what comes before.
            if number > at || entry.is_operation() && number == at {
                break;
            }
            let event = entry.event();
            if entry.is_operation() {
                let current = entry.thread();
                let time_passes = self.timed == Some(number) || self.end == Some(self.next);
                let footprint = Footprint::of_event(current, &event, time_passes);
                self.account(number);
                self.running = (current, number.next());
                if let Some(own) = self.own.get_mut(current.index()) {
                    *own = 0;
                }
                self.past.note(entry, &footprint);
                // Whether a yield lets others run depends on whether any can, and a thread that sleeps might not any more.
                let wakes = |wants: &Footprint| event == Event::Yield || wants.conflicts(&footprint);
                self.sleepers.retain(|(thread, wants)| *thread != current && !wakes(wants));
            } else {
                match event {
                    Event::Blocked { on, .. } | Event::Suspended { on } => {
                        let awaited = Footprint::awaited(&on);
                        self.sleepers.retain(|(_, wants)| !wants.conflicts(&awaited));
                    }
                    Event::Switch { to, .. } => {
                        self.account(number);
                        self.running.0 = to;
                    }
                    _ => {}
                }
            }
            self.next += 1;
        }
        self.account(at);
    }

    /// What tells this moment, at which a decision was made, from all others. `who`: it matters which thread is running.
    pub fn key(&self, decision: &Decision, decisions: &Decisions<'_>, who: bool) -> u128 {
        let mut key = mix(self.past.number(), 1);
        if who {
            let yields = u128::from(decision.going == Going::Yielding);
            key = mix(key, u128::from(decision.from.0) << 1 | yields);
        }
        for known in decisions.situation() {
            key = mix(key, u128::from(known));
        }
        // A thread that was just created, yielded or slept may have gone on to its next point, or not.
        for (thread, &own) in self.own.iter().enumerate().filter(|&(_, &own)| own > 0) {
            key = mix(key, (thread as u128) << 64 | u128::from(own));
        }
        key
    }

    /// Whether a thread sleeps.
    pub fn is_asleep(&self, thread: ThreadId) -> bool {
        self.sleepers.iter().any(|(sleeper, _)| *sleeper == thread)
    }

    /// The threads that sleep, one bit each.
    pub fn asleep(&self) -> u64 {
        self.sleepers.iter().fold(0, |asleep, (thread, _)| asleep | 1 << thread.0)
    }

    /// The decision was made as it was.
    pub fn decide(&mut self, decision: &Decision, time_passes: bool) {
        if time_passes {
            self.timed = Some(decision.at);
        }
        if decision.step == Step::Preemption && decision.from.0 < SLEEPERS && self.early.contains(&decision.at) {
            self.sleep(decision.from);
        }
    }

    /// A thread that is ready sleeps from here on: what begins with its next operation is explored elsewhere.
    pub fn sleep(&mut self, thread: ThreadId) {
        let later = racehunter_log::entries(&self.records[self.next..]);
        let wanted = later.enumerate().find(|(_, entry)| entry.is_operation() && entry.thread() == thread);
        // What it will do is seen when it does it. A thread that never gets there does not sleep.
        if let Some((offset, entry)) = wanted {
            let mut footprint = self.footprint(self.next + offset, false);
            // Whether an atomic operation changes anything can depend on when it is made.
            if entry.access().is_some_and(|access| access.mode.is_atomic()) {
                footprint.change_all();
            }
            self.sleepers.push((thread, footprint));
        }
    }

    /// Whether the running thread made the event that was decided about, and the program went on.
    pub fn went_on(&self, decision: &Decision) -> bool {
        decision.step == Step::Stay && self.happens(decision)
    }

    /// Whether the thread that was chosen made the event that was decided about, and the program went on.
    pub fn happens(&self, decision: &Decision) -> bool {
        let event = self.records.get(self.next).map(Entry::of).filter(|entry| entry.number() == decision.at);
        self.end != Some(self.next) && event.is_some_and(|entry| entry.thread() == decision.to)
    }
}
