//! From a reordering back to decisions.

use super::{Recording, may_suspend};
use crate::{Event, EventId, Op};
use racehunter_abi::{CodeAddress, EventNumber, Switch, ThreadId};

/// The decisions that execute a reordering.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// The decisions, in the order of their events.
    pub switches: Vec<Switch>,
    /// The number of events they cover: the next one is open.
    pub events: u64,
    /// The operations that happen, with their numbers.
    operations: Vec<(u64, EventId)>,
}

impl Schedule {
    /// Returns the event of the trace that event number `n` of the execution is, or leads up to.
    #[must_use]
    pub fn event_at(&self, n: u64) -> Option<EventId> {
        let at = self.operations.partition_point(|&(number, _)| number < n);
        self.operations.get(at).map(|&(_, event)| event)
    }

    /// Returns the number, in the execution, of the operation to which an event of the trace belongs, if it happens.
    #[must_use]
    pub fn number_of(&self, recording: &Recording, event: EventId) -> Option<u64> {
        let trace = &recording.trace;
        let thread = trace.thread(event);
        let mut own = (0..=event).rev().filter(|&id| trace.thread(id) == thread);
        let operation = own.find(|&id| !trace.event(id).part)?;
        // The last event of a schedule can be a part whose operation is incomplete.
        let is_it = |&&(_, id): &&(u64, EventId)| id == event || id == operation;
        self.operations.iter().rev().find(is_it).map(|&(number, _)| number)
    }

    /// Returns the thread that performs each event, the first event first.
    #[must_use]
    pub fn threads(&self) -> Vec<u32> {
        let mut running = 0;
        let mut switches = self.switches.iter().peekable();
        let thread = |n: u64| {
            while let Some(switch) = switches.next_if(|switch| switch.at <= EventNumber(n)) {
                running = switch.to.0;
            }
            running
        };
        (1..=self.events).map(thread).collect()
    }
}

impl Recording {
    /// Returns the schedule of a reordering, followed by the events `then`, which come next in their threads.
    ///
    /// An operation of several parts happens as a whole where its first part does. An access with missing parts, as at
    /// the end of a reordering that leads up to one of them, does not happen.
    #[must_use]
    pub fn schedule(&self, reordering: impl IntoIterator<Item = EventId>, then: &[EventId]) -> Schedule {
        let trace = &self.trace;
        let threads = trace.threads().len();
        let mut done = vec![0_usize; threads];
        let mut operations: Vec<Option<EventId>> = Vec::new();
        // The position of each thread's last operation.
        let mut last = vec![None; threads];
        for event in reordering {
            let Event { thread, part, .. } = trace.event(event);
            done[usize::from(thread)] += 1;
            if !part {
                last[usize::from(thread)] = Some(operations.len());
                operations.push(Some(event));
            }
        }
        // A thread that has done this many events is inside an operation if its next event is a part.
        let mut seen = vec![0; threads];
        for event in trace.events() {
            let thread = usize::from(event.thread);
            if seen[thread] == done[thread]
                && event.part
                && event.op.is_access()
                && let Some(at) = last[thread]
            {
                operations[at] = None;
            }
            seen[thread] += 1;
        }
        let mut schedule = Decider::new(self);
        for event in operations.into_iter().flatten().chain(then.iter().copied()) {
            schedule.perform(event);
        }
        schedule.finished
    }
}

struct Decider<'a> {
    recording: &'a Recording,
    finished: Schedule,
    /// The running thread, and whether it may have been suspended after its last operation.
    running: u16,
    suspended: bool,
    /// Threads are numbered in order of creation, which may now differ.
    numbers: Vec<u32>,
    next_number: u32,
}

impl<'a> Decider<'a> {
    fn new(recording: &'a Recording) -> Self {
        let trace = &recording.trace;
        let mut forked = vec![false; trace.threads().len()];
        for event in trace.events().filter(|event| event.op == Op::Fork) {
            forked[event.object as usize] = true;
        }
        let there = forked.iter().take_while(|&&forked| !forked).count() as u32;
        Self {
            recording,
            finished: Schedule { switches: Vec::new(), events: 0, operations: Vec::new() },
            running: 0,
            suspended: false,
            numbers: (0..trace.threads().len() as u32).collect(),
            next_number: there,
        }
    }

    fn perform(&mut self, id: EventId) {
        let event = self.recording.trace.event(id);
        let at = EventNumber(self.finished.events).next();
        // A thread that may have been suspended must be chosen even if it simply continues.
        if event.thread != self.running || self.suspended {
            let [from, to] = [self.running, event.thread].map(|thread| ThreadId(self.numbers[usize::from(thread)]));
            self.finished.switches.push(Switch { at, to, from, code: CodeAddress::UNKNOWN });
        }
        self.running = event.thread;
        // A wait begins with the release of its mutex.
        let trace = &self.recording.trace;
        let next = (id + 1 < trace.len() as EventId).then(|| trace.event(id + 1));
        let waits = |next: Event| next.part && next.thread == event.thread && may_suspend(next.op);
        self.suspended = may_suspend(event.op) || next.is_some_and(waits);
        self.finished.events += self.recording.skipped(id) + 1;
        self.finished.operations.push((self.finished.events, id));
        if event.op == Op::Fork {
            self.numbers[event.object as usize] = self.next_number;
            self.next_number += 1;
        }
    }
}
