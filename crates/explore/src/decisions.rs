//! Reads the log of an execution as a sequence of decisions.

mod threads;

use crate::Execution;
use racehunter_log::{CodeAddress, Entry, Event, EventNumber, Record, ThreadId};
use threads::{Status, Threads};

/// One decision of an execution: which thread performed event `at`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The event.
    pub at: EventNumber,
    /// The thread that was running before.
    pub from: ThreadId,
    /// Where it was, if known; suitable for [`crate::Switch::code`].
    pub code: CodeAddress,
    /// Whether `from` could have continued.
    pub going: Going,
    /// The chosen thread.
    pub to: ThreadId,
    /// The kind of choice.
    pub step: Step,
    /// The log contains a switch for it, possibly from a thread to itself. Otherwise `from` simply continued.
    pub logged: bool,
    /// Preemptions so far, this decision included.
    pub preemptions: u64,
    /// Switches of any kind so far, this decision included.
    pub switches: u64,
    /// [`Step::Unfair`] choices so far, this decision included.
    pub unfair: u64,
}

/// Whether the running thread could continue at a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Going {
    /// Yes.
    Ready,
    /// Yes, but it has just yielded.
    Yielding,
    /// Its turn was too long; it must give way if another thread can run.
    Exhausted,
    /// Only by letting time pass.
    Suspended,
    /// No.
    Blocked,
    /// It has ended.
    Over,
}

/// What a choice means at a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The running thread continues.
    Stay,
    /// Another thread runs because the running one is blocked, has ended, or yielded.
    Free,
    /// Another thread runs although the running one could have continued.
    Preemption,
    /// The choice lets time pass while some thread is ready, even a yielding one; or ignores a yield while another thread is
    /// ready; or lets time pass for one thread although the deadline of another comes first; or is a spurious wake-up. A polling
    /// program could do this for ever, so a bounded search has to count it.
    Unfair,
}

/// Returns the decisions of an execution.
#[must_use]
pub fn decisions(execution: &Execution) -> Decisions<'_> {
    Decisions::new(&execution.records)
}

/// The decisions of a log, in order, and the alternatives at each. See [`decisions`].
///
/// Takes constant time per record, except that [`Decisions::others`] iterates over the threads.
pub struct Decisions<'a> {
    records: &'a [Record],
    /// The first record not read.
    next: usize,
    /// Records up to here are consequences of the decision returned last, and not yet applied.
    consequences_end: usize,
    threads: Threads,
    current: ThreadId,
    /// The thread that yielded, and the decision at which that counts.
    yielded: Option<(ThreadId, EventNumber)>,
    decision: Option<Decision>,
    preemptions: u64,
    switches: u64,
    unfair: u64,
    passed_choices: u64,
}

impl<'a> Decisions<'a> {
    fn new(records: &'a [Record]) -> Self {
        let mut threads = Threads::default();
        threads.set(ThreadId::MAIN, Status::Ready);
        Self {
            records,
            next: 0,
            consequences_end: 0,
            threads,
            current: ThreadId::MAIN,
            yielded: None,
            decision: None,
            preemptions: 0,
            switches: 0,
            unfair: 0,
            passed_choices: 0,
        }
    }

    /// Returns the number of decisions so far that a brief log has left out ([`Event::Passed`]) and at which another thread could
    /// have been chosen. The running thread continued at all of them.
    #[must_use]
    pub const fn passed_choices(&self) -> u64 {
        self.passed_choices
    }

    /// Returns the other threads that could have been chosen at the last decision, in order of their numbers, with the kind of
    /// choice.
    pub fn others(&self) -> impl Iterator<Item = (ThreadId, Step)> + '_ {
        let decision = self.decision;
        self.threads.possible().filter_map(move |thread| {
            let decision = decision?;
            let must_go = decision.going == Going::Exhausted && thread == decision.from;
            (thread != decision.to && !must_go).then(|| (thread, self.step(decision.from, decision.going, thread)))
        })
    }

    /// Returns whether the running thread had to give way at the last decision although it could have continued. It is not one of
    /// the others: a strategy that always continued such threads would never end.
    #[must_use]
    pub fn could_go_on(&self) -> bool {
        self.decision.is_some_and(|decision| decision.going == Going::Exhausted && decision.to != decision.from)
    }

    /// Returns the threads that were ready at the last decision, in order of their numbers. A thread that had to give way is not
    /// among them.
    pub fn ready(&self) -> impl Iterator<Item = ThreadId> + '_ {
        let gives_way =
            self.decision.filter(|decision| decision.going == Going::Exhausted).map(|decision| decision.from);
        self.threads.possible().filter(move |&thread| self.threads.is_ready(thread) && Some(thread) != gives_way)
    }

    /// Returns whether choosing this thread at the last decision would be a spurious wake-up.
    #[must_use]
    pub fn is_spurious(&self, thread: ThreadId) -> bool {
        self.threads.status(thread) == Status::Waiting
    }

    /// Returns the threads that could have been chosen at the last decision by a spurious wake-up.
    pub fn spurious(&self) -> impl Iterator<Item = ThreadId> + '_ {
        let possible = if self.threads.suspended_count == 0 { None } else { Some(self.threads.possible()) };
        possible.into_iter().flatten().filter(|&thread| self.is_spurious(thread))
    }

    /// Returns whether [`Decisions::others`] is not empty; cheaper than calling it.
    #[must_use]
    pub fn has_others(&self) -> bool {
        self.decision.is_some_and(|decision| match self.threads.possible_count() {
            0 => false,
            1 => !self.threads.is_possible(decision.to),
            2 if decision.going == Going::Exhausted => self.others().next().is_some(),
            _ => true,
        })
    }

    /// Returns whether the thread chosen at the last decision continues by a time-out: the clock advances.
    #[must_use]
    pub fn time_passes(&self) -> bool {
        self.decision.is_some_and(|decision| self.threads.status(decision.to) == Status::Suspended)
    }

    /// Returns what was known about each thread at the last decision, in order of their numbers, as opaque codes.
    pub fn situation(&self) -> impl Iterator<Item = u8> + '_ {
        self.threads.status.iter().map(|&status| status as u8)
    }

    fn step(&self, from: ThreadId, going: Going, to: ThreadId) -> Step {
        let others_ready = self.threads.ready_besides(from);
        match going {
            Going::Ready if to == from => Step::Stay,
            Going::Ready => Step::Preemption,
            Going::Exhausted if to == from => Step::Stay,
            // A spurious wake-up: no program needs one.
            _ if self.threads.status(to) == Status::Waiting => Step::Unfair,
            _ if others_ready && (to == from || !self.threads.is_ready(to)) => Step::Unfair,
            // The yielding thread is ready itself. The log need not show a decision here, so the choice must not be free.
            Going::Yielding if !self.threads.is_ready(to) => Step::Unfair,
            // Time passes, but the deadline of another thread comes first.
            _ if self.threads.status(to) == Status::Suspended && self.threads.first_in_time() != Some(to) => {
                Step::Unfair
            }
            _ if to == from => Step::Stay,
            _ => Step::Free,
        }
    }

    /// Applies what an entry says about threads.
    fn apply(&mut self, entry: Entry<'_>) {
        if entry.is_access() {
            return;
        }
        let thread = entry.thread();
        match entry.event() {
            Event::Create { child, .. } => self.threads.set(child, Status::Ready),
            Event::Exit => self.threads.set(thread, Status::Over),
            Event::Blocked { may_wake: true, .. } => self.threads.set(thread, Status::Waiting),
            Event::Blocked { .. } => self.threads.set(thread, Status::Blocked),
            Event::Deadline { time } => self.threads.set_deadline(thread, time),
            Event::Suspended { .. } => self.threads.set(thread, Status::Suspended),
            Event::Woken => self.threads.set(thread, Status::Ready),
            Event::BlockedSet(set) => self.threads.set_all(set, Status::Blocked),
            Event::WokenSet(set) => self.threads.set_all(set, Status::Ready),
            Event::Passed { accesses } => {
                let has_others = match self.threads.possible_count() {
                    0 => false,
                    1 => !self.threads.is_possible(thread),
                    _ => true,
                };
                self.passed_choices += if has_others { accesses } else { 0 };
            }
            Event::Yield | Event::End { is_final: false } => self.yielded = Some((thread, entry.number().next())),
            _ => {}
        }
    }

    /// Returns the switch at a position of the log: the entry, the chosen thread, and whether the running one had to give way.
    fn switch(&self, position: usize) -> Option<(Entry<'a>, ThreadId, bool)> {
        let entry = Entry::of(self.records.get(position)?);
        match entry.event() {
            Event::Switch { to, is_exhausted, .. } => Some((entry, to, is_exhausted)),
            _ => None,
        }
    }

    fn apply_up_to(&mut self, end: usize) {
        for at in self.next..end {
            self.apply(Entry::of(&self.records[at]));
        }
        self.next = end;
    }

    /// Returns whether the running thread could continue at event `at`, given whether it had to give way.
    fn going(&self, at: EventNumber, gives_way: bool) -> Going {
        match self.threads.status(self.current) {
            Status::Over => Going::Over,
            Status::Blocked | Status::Waiting => Going::Blocked,
            Status::Suspended => Going::Suspended,
            Status::Ready if self.yielded == Some((self.current, at)) => Going::Yielding,
            Status::Ready if gives_way => Going::Exhausted,
            Status::Ready => Going::Ready,
        }
    }

    /// Returns the decision about the event that a group of records share. Records before the last switch of the group were known
    /// when it was made; records after it are consequences.
    fn decide(&mut self, group_end: usize) -> Option<Decision> {
        let group = &self.records[self.next..group_end];
        let at = group.first().map(Entry::of)?.number();
        let is_switch = |record: &Record| Entry::of(record).is_switch();
        let (going, code, to, logged);
        if let Some(first) = group.iter().position(is_switch) {
            let last = group.iter().rposition(is_switch).unwrap_or(first);
            let start = self.next;
            self.apply_up_to(start + first);
            let (entry, _, gives_way) = self.switch(start + first)?;
            self.current = entry.thread();
            going = self.going(at, gives_way);
            code = entry.code();
            logged = true;
            // A chosen thread may turn out to be blocked, and another is chosen for the same event. That is one decision, since
            // nothing happened in between.
            self.apply_up_to(start + last + 1);
            to = self.switch(start + last)?.1;
        } else {
            let event = group.iter().map(Entry::of).find(|entry| entry.is_operation())?;
            // Threads created before the first event made no decision.
            if at == EventNumber::START {
                return None;
            }
            self.current = event.thread();
            going = self.going(at, false);
            code = if going == Going::Ready { event.code() } else { CodeAddress::UNKNOWN };
            to = event.thread();
            logged = false;
        }
        let from = self.current;
        let step = self.step(from, going, to);
        self.preemptions += u64::from(step == Step::Preemption);
        self.unfair += u64::from(step == Step::Unfair);
        self.switches += u64::from(to != from);
        let (preemptions, switches, unfair) = (self.preemptions, self.switches, self.unfair);
        Some(Decision { at, from, code, going, to, step, logged, preemptions, switches, unfair })
    }
}

impl Iterator for Decisions<'_> {
    type Item = Decision;

    fn next(&mut self) -> Option<Decision> {
        if let Some(decision) = self.decision.take() {
            // The chosen thread performs the event, by a time-out if necessary.
            self.current = decision.to;
            if matches!(self.threads.status(decision.to), Status::Suspended | Status::Waiting) {
                self.threads.set(decision.to, Status::Ready);
            }
            self.apply_up_to(self.consequences_end);
        }
        while let Some(first) = self.records.get(self.next) {
            let is_in_order = |entry: Entry<'_>| entry.is_operation() || entry.is_scheduling();
            let first = Entry::of(first);
            if !is_in_order(first) {
                self.apply_up_to(self.next + 1);
                continue;
            }
            let rest = &self.records[self.next + 1..];
            let is_next = |entry: Entry<'_>| entry.number() != first.number() && is_in_order(entry);
            let more = rest.iter().position(|record| is_next(Entry::of(record)));
            let end = self.next + 1 + more.unwrap_or(rest.len());
            if let Some(decision) = self.decide(end) {
                self.consequences_end = end;
                self.decision = Some(decision);
                return Some(decision);
            }
            self.apply_up_to(end);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cause, Outcome};
    use racehunter_abi::Kind;

    fn record(index: u64, thread: u32, kind: Kind, object: u64, detail: u8) -> Record {
        let (code, index, thread) = (CodeAddress(100 + index), EventNumber(index), ThreadId(thread));
        Record { index, thread, kind, object, detail, code, ..Record::default() }
    }

    fn execution(records: Vec<Record>) -> Execution {
        Execution {
            records,
            stacks: Vec::new(),
            outcome: Outcome::Exited(0),
            events: 0,
            threads: 0,
            partial: false,
            output: Vec::new(),
        }
    }

    /// Returns every decision with its alternatives.
    fn fold(records: Vec<Record>) -> Vec<(Decision, Vec<(u32, Step)>)> {
        let execution = execution(records);
        let mut decisions = decisions(&execution);
        let mut all = Vec::new();
        while let Some(decision) = decisions.next() {
            let others: Vec<_> = decisions.others().map(|(thread, step)| (thread.0, step)).collect();
            assert_eq!(decisions.has_others(), !others.is_empty(), "{decision:?}");
            all.push((decision, others));
        }
        all
    }

    #[test]
    fn a_spurious_wakeup_is_a_choice_that_counts() {
        let waiting = |index: u64| Record { size: 1, ..record(index, 1, Kind::Blocked, 64, 2) };
        let all = fold(vec![
            record(1, 0, Kind::Create, 1, 0),
            record(2, 0, Kind::Switch, 1, Cause::Strategy as u8),
            record(2, 1, Kind::Wait, 64, 0),
            waiting(3),
            record(3, 1, Kind::Switch, 0, Cause::Blocked as u8),
            record(3, 0, Kind::Write, 72, 0),
            record(4, 0, Kind::Switch, 1, Cause::Plan as u8),
            record(4, 1, Kind::WaitEnd, 64, 2),
        ]);
        let steps: Vec<_> = all.iter().map(|(d, _)| (d.at.0, d.from.0, d.to.0, d.step)).collect();
        assert_eq!(
            steps,
            [(1, 0, 0, Step::Stay), (2, 0, 1, Step::Preemption), (3, 1, 0, Step::Free), (4, 0, 1, Step::Preemption)]
        );
        // A thread that has just begun to wait can also continue at once, but never for free.
        assert_eq!(all[2].1, [(1, Step::Unfair)]);
        assert_eq!(all[3].1, [(0, Step::Stay)]);
    }

    #[test]
    fn a_preemption_is_a_switch_away_from_a_ready_thread() {
        let all = fold(vec![
            record(1, 0, Kind::Create, 1, 0),
            record(2, 0, Kind::Switch, 1, Cause::Strategy as u8),
            record(2, 1, Kind::Write, 64, 0),
            record(3, 1, Kind::Exit, 0, 0),
            record(4, 1, Kind::Switch, 0, Cause::Exit as u8),
            record(4, 0, Kind::Exit, 0, 0),
        ]);
        let steps: Vec<_> = all.iter().map(|(d, _)| (d.at.0, d.from.0, d.to.0, d.going, d.step)).collect();
        assert_eq!(
            steps,
            [
                (1, 0, 0, Going::Ready, Step::Stay),
                (2, 0, 1, Going::Ready, Step::Preemption),
                (3, 1, 1, Going::Ready, Step::Stay),
                (4, 1, 0, Going::Over, Step::Free),
            ]
        );
        let last = all[3].0;
        assert_eq!((last.preemptions, last.switches, last.unfair), (1, 2, 0));
        assert_eq!(all[0].1, []);
        assert_eq!(all[1].1, [(0, Step::Stay)]);
        assert_eq!(all[2].1, [(0, Step::Preemption)]);
        assert_eq!(all[3].1, []);
    }

    #[test]
    fn consequences_of_an_event_are_unknown_at_its_decision_even_when_logged_before_it() {
        let all = fold(vec![
            record(1, 0, Kind::Create, 1, 0),
            record(2, 1, Kind::Blocked, 64, 1),
            record(2, 0, Kind::Lock, 64, 1),
            record(3, 1, Kind::Woken, 64, 1),
            record(3, 0, Kind::Unlock, 64, 0),
            record(4, 0, Kind::Exit, 0, 0),
        ]);
        let choices: Vec<_> = all.iter().map(|(d, others)| (d.at.0, others.clone())).collect();
        assert_eq!(
            choices,
            [(1, vec![]), (2, vec![(1, Step::Preemption)]), (3, vec![]), (4, vec![(1, Step::Preemption)]),]
        );
    }

    #[test]
    fn what_a_brief_log_leaves_out_is_a_choice_where_others_could_run() {
        let choices = |records: Vec<Record>| {
            let execution = execution(records);
            let mut decisions = decisions(&execution);
            let mut choices = 0;
            while let Some(decision) = decisions.next() {
                choices += u64::from(decision.going != Going::Over && decisions.has_others());
            }
            choices + decisions.passed_choices()
        };
        let log = |parts: [Vec<Record>; 3]| {
            let [alone, together, blocked] = parts;
            let mut records = alone;
            records.push(record(4, 0, Kind::Create, 1, 0));
            records.extend(together);
            records.push(record(8, 1, Kind::Blocked, 64, 1));
            records.push(record(8, 0, Kind::Lock, 64, 1));
            records.extend(blocked);
            records
        };
        let accesses = |from: u64| (from..from + 3).map(|n| record(n, 0, Kind::Read, 8, 0)).collect::<Vec<_>>();
        let passed = |last: u64| vec![record(last, 0, Kind::Passed, 3, 0)];
        let whole = choices(log([accesses(1), accesses(5), accesses(9)]));
        // Those between the creation and the lock, and the lock itself.
        assert_eq!(whole, 4);
        assert_eq!(choices(log([passed(3), passed(7), passed(11)])), whole);
        assert_eq!(choices(log([passed(3), accesses(5), passed(11)])), whole);
    }

    #[test]
    fn a_chosen_thread_that_is_blocked_is_part_of_the_same_decision() {
        let all = fold(vec![
            record(1, 0, Kind::Create, 1, 0),
            record(2, 0, Kind::Create, 2, 0),
            record(3, 0, Kind::Blocked, 7, 3),
            record(3, 0, Kind::Switch, 1, Cause::Blocked as u8),
            record(3, 1, Kind::Blocked, 64, 1),
            record(3, 1, Kind::Switch, 2, Cause::Blocked as u8),
            record(3, 2, Kind::Exit, 0, 0),
        ]);
        let (decision, others) = &all[2];
        assert_eq!((decision.at.0, decision.from.0, decision.to.0, decision.code.0), (3, 0, 2, 103));
        assert_eq!((decision.going, decision.step, decision.switches), (Going::Blocked, Step::Free, 1));
        assert_eq!(*others, []);
        assert_eq!(all.len(), 3);
    }

    #[test]
    fn ignored_yields_and_early_time_outs_are_unfair() {
        let all = fold(vec![
            record(1, 0, Kind::Create, 1, 0),
            record(2, 0, Kind::Create, 2, 0),
            record(3, 0, Kind::Yield, 0, 0),
            record(4, 0, Kind::Switch, 1, Cause::Yield as u8),
            record(4, 1, Kind::Sleep, 0, 0),
            record(5, 1, Kind::Suspended, 0, 8),
            record(5, 1, Kind::Switch, 1, Cause::Plan as u8),
            record(5, 1, Kind::Yield, 0, 0),
            record(6, 1, Kind::Write, 64, 0),
        ]);
        let (at_yield, others) = &all[3];
        assert_eq!((at_yield.going, at_yield.step), (Going::Yielding, Step::Free));
        assert_eq!(*others, [(0, Step::Unfair), (2, Step::Free)]);
        let (at_sleep, others) = &all[4];
        assert_eq!((at_sleep.going, at_sleep.step, at_sleep.unfair), (Going::Suspended, Step::Unfair, 1));
        assert_eq!(*others, [(0, Step::Free), (2, Step::Free)]);
        let (ignored, others) = &all[5];
        assert_eq!((ignored.going, ignored.step, ignored.unfair), (Going::Yielding, Step::Unfair, 2));
        assert_eq!(ignored.code, CodeAddress(0), "the thread may have been elsewhere when the decision was made");
        assert_eq!(*others, [(0, Step::Free), (2, Step::Free)]);
        assert_eq!(all.last().map(|(d, _)| d.preemptions), Some(0));
    }

    #[test]
    fn a_thread_that_must_give_way_is_not_preempted() {
        let turn = |cause: Cause| {
            vec![
                record(1, 0, Kind::Create, 1, 0),
                record(11, 0, Kind::Switch, 1, cause as u8),
                record(11, 1, Kind::Exit, 0, 0),
            ]
        };
        for mut records in [turn(Cause::Fair), turn(Cause::Plan)] {
            records[1].size = 1;
            let all = fold(records);
            assert_eq!((all[1].0.going, all[1].0.step), (Going::Exhausted, Step::Free));
            assert_eq!(all[1].1, []);
        }
        assert_eq!(fold(turn(Cause::Plan))[1].0.step, Step::Preemption);
    }
}
