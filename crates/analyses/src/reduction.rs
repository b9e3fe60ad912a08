//! Leaves out redundant schedules, and nothing else that the bound allows.
//!
//! Two rules, both exact for a bound on preemptions and for one on switches:
//!
//! - *Happens-before caching* (M. Musuvathi, S. Qadeer, "Iterative context bounding", 2007). Two prefixes lead to the same
//!   continuations if they agree in their [`Past`], the running thread, the threads that can run, and the number of
//!   unobservable events of each thread. The second prefix is not explored further, unless it costs less.
//! - *Sleep sets* (P. Godefroid, 1996), for the running thread alone. If a thread is preempted before an operation and makes it
//!   before anything conflicting happens, it could have been preempted after the operation: the two schedules differ only in
//!   the order of independent operations, and the second costs no more. A preempted thread therefore sleeps until something
//!   conflicts with its next operation. Blocking on an object counts as conflicting: after the operation the other thread might
//!   not block, and leaving a thread that can continue costs something. The rule requires that the operation would not have
//!   ended the program, which is known if the preemption was found in an execution that made no preemption there. For threads
//!   other than the running one the cost could rise; K. Coons, M. Musuvathi, K. McKinley, "Bounded partial-order reduction",
//!   2013, describe the problem and another solution.
//!
//! The combination is exact because a state counts as visited only if no more threads slept there than do now.

use racehunter_explore::{Decision, Decisions, Execution, Going, Outcome, Record, Step};
use racehunter_log::{Entry, Event, EventNumber, Footprint, Past, ThreadId, mix};

/// The states along the path of an execution, up to the last decision read.
pub(crate) struct Traversal<'e> {
    records: &'e [Record],
    /// The first record not read.
    next: usize,
    /// The position of the event that ended the program, if one did. It conflicts with everything.
    end: Option<usize>,
    past: Past,
    /// The running thread, and the first event not counted yet.
    running: (ThreadId, EventNumber),
    /// Events of each thread since its last one in the log, which contains no accesses to unshared memory.
    own: Vec<u64>,
    /// The event that happens because time passes.
    timed: Option<EventNumber>,
    /// Events before which there was a preemption that may have come too early.
    early: Vec<EventNumber>,
    /// The sleeping threads, and the footprints of their next operations.
    sleepers: Vec<(ThreadId, Footprint)>,
}

/// Number of threads whose sleep is recorded in a state, one bit each.
const MOST_SLEEPERS: u32 = 64;

impl<'e> Traversal<'e> {
    /// Starts at the beginning of an execution. `early`: events before which a thread was preempted that would have continued.
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

    /// Attributes the events before `at` that are not in the log to the running thread.
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

    /// Advances to the state before event `at`.
    pub fn reach(&mut self, at: EventNumber) {
        while let Some(entry) = self.records.get(self.next).map(Entry::of) {
            let number = entry.number();
            // The event itself need not be in the log, so records after it must not be taken for earlier ones.
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
                // Whether a yield gives way depends on whether other threads can run, and the operation of a sleeping thread
                // might change that.
                let wakes = |next: &Footprint| event == Event::Yield || next.conflicts(&footprint);
                self.sleepers.retain(|(thread, next)| *thread != current && !wakes(next));
            } else {
                match event {
                    Event::Blocked { on, .. } | Event::Suspended { on } => {
                        let awaited = Footprint::awaited(&on);
                        self.sleepers.retain(|(_, next)| !next.conflicts(&awaited));
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

    /// Returns the key of the state at a decision. `who`: the running thread is part of the state.
    pub fn key(&self, decision: &Decision, decisions: &Decisions<'_>, who: bool) -> u128 {
        let mut key = mix(self.past.number(), 1);
        if who {
            let yields = u128::from(decision.going == Going::Yielding);
            key = mix(key, u128::from(decision.from.0) << 1 | yields);
        }
        for known in decisions.situation() {
            key = mix(key, u128::from(known));
        }
        // A thread that was just created, yielded or slept may or may not have continued to its next point.
        for (thread, &own) in self.own.iter().enumerate().filter(|&(_, &own)| own > 0) {
            key = mix(key, (thread as u128) << 64 | u128::from(own));
        }
        key
    }

    /// Returns whether a thread sleeps.
    pub fn is_asleep(&self, thread: ThreadId) -> bool {
        self.sleepers.iter().any(|(sleeper, _)| *sleeper == thread)
    }

    /// Returns the sleeping threads, one bit each.
    pub fn asleep(&self) -> u64 {
        self.sleepers.iter().fold(0, |asleep, (thread, _)| asleep | 1 << thread.0)
    }

    /// Advances past a decision.
    pub fn decide(&mut self, decision: &Decision, time_passes: bool) {
        if time_passes {
            self.timed = Some(decision.at);
        }
        if decision.step == Step::Preemption && decision.from.0 < MOST_SLEEPERS && self.early.contains(&decision.at) {
            self.sleep(decision.from);
        }
    }

    /// Puts a ready thread to sleep: schedules that begin with its next operation are explored elsewhere.
    pub fn sleep(&mut self, thread: ThreadId) {
        let is_handler = |entry: &Entry<'_>| matches!(entry.event(), Event::Handler { is_entry: true, .. });
        let later = racehunter_log::entries(&self.records[self.next..]).enumerate();
        let operation = later
            .filter(|(_, entry)| entry.thread() == thread)
            .find(|(_, entry)| entry.is_operation() || is_handler(entry));
        // The footprint of its next operation is read from later in the log. A thread that never makes it does not sleep. Nor
        // does one that a signal interrupts before: what it would have done without the signal is not known.
        if let Some((offset, entry)) = operation.filter(|(_, entry)| entry.is_operation()) {
            let mut footprint = self.footprint(self.next + offset, false);
            // Whether an atomic operation changes anything can depend on when it is made.
            if entry.access().is_some_and(|access| access.mode.is_atomic()) {
                footprint.change_all();
            }
            self.sleepers.push((thread, footprint));
        }
    }

    /// Returns whether the running thread performed the event of the decision, and the program continued.
    pub fn went_on(&self, decision: &Decision) -> bool {
        decision.step == Step::Stay && self.happens(decision)
    }

    /// Returns whether the chosen thread performed the event of the decision, and the program continued.
    pub fn happens(&self, decision: &Decision) -> bool {
        let event = self.records.get(self.next).map(Entry::of).filter(|entry| entry.number() == decision.at);
        self.end != Some(self.next) && event.is_some_and(|entry| entry.thread() == decision.to)
    }
}
