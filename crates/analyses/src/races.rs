//! Computes backtrack sets for bounded partial-order reduction (K. Coons, M. Musuvathi, K. McKinley, "Bounded partial-order
//! reduction", OOPSLA 2013; without a bound: C. Flanagan, P. Godefroid, "Dynamic partial-order reduction for model checking
//! software", POPL 2005).
//!
//! If an operation conflicts with an earlier one of another thread, and happens-before does not order the two, the other order
//! must be tried: the thread of the later operation joins the backtrack set at the earlier one. Preempting there, in the middle
//! of a turn, may exceed the bound, while running the thread before that turn began may cost nothing. The thread therefore also
//! joins the backtrack set at the beginning of the turn.

use racehunter_explore::{Decision, Execution, Going, Outcome, Record, Step, decisions};
use racehunter_log::{Address, Attempt, Entry, Event, EventNumber, Footprint, ObjectHasher, ThreadId, VectorClock};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::BuildHasherDefault;
use std::rc::Rc;

/// The alternatives to try at a decision, besides the thread that the execution chose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Backtrack {
    /// These threads; if one of them cannot be chosen, all threads.
    Threads(Vec<ThreadId>),
    /// All threads.
    All,
}

/// The backtrack sets, by the event of their decisions.
pub(crate) type BacktrackSets = BTreeMap<EventNumber, Backtrack>;

/// Returns the backtrack sets of an execution. `bounded`: schedules have a cost. Events from `end` on are not explored.
pub(crate) fn backtrack_sets(execution: &Execution, bounded: bool, end: EventNumber) -> BacktrackSets {
    let mut races = Races { bounded, ..Races::default() };
    let mut decisions = decisions(execution);
    let mut next = 0;
    let mut moment: Moment = (EventNumber::START, [EventNumber::START; 2]);
    // Threads whose next event, which lies after the end, is known.
    let mut pending = BTreeSet::new();
    let mut running = None;
    while let Some(decision) = decisions.next() {
        next = races.read_before(&execution.records, next, decision.at.min(end));
        running = Some(decision.to);
        if decision.at >= end {
            if pending.insert(decision.to) {
                races.time_passes = decisions.time_passes();
                races.is_next(&execution.records[next..], &decision);
            }
            continue;
        }
        moment.0 = decision.at;
        if decision.to != decision.from {
            moment.1 = [decision.at; 2];
        } else if decision.step != Step::Stay || decision.going != Going::Ready {
            moment.1[1] = decision.at;
        }
        races.moment = Some(moment);
        races.time_passes = decisions.time_passes();
        if !races.waiting.is_empty() {
            // There may be no event that wakes these threads, so no conflict would add them.
            races.add_backtrack(moment, None);
        }
        let later = racehunter_log::entries(&execution.records[next..]);
        let mut now = later.take_while(|entry| entry.number() <= decision.at);
        if !now.any(|entry| entry.is_operation()) {
            // The operation concerns no other thread and is not in the log, but the program may end before it.
            races.happens(decision.at, decision.to, &Event::Fence { annotation: Address(0) });
        }
    }
    races.read_before(&execution.records, next, end);
    let ends = matches!(
        execution.outcome,
        Outcome::Exited(_) | Outcome::Crashed { .. } | Outcome::Asserted { .. } | Outcome::Lost(_)
    );
    // The program ended while one thread was running; others may be in the middle of something.
    if let (true, Some(running)) = (ends, running) {
        if pending.is_empty() {
            races.add_backtrack(moment, None);
        }
        races.conflict(running, &Footprint::everything(), false);
    }
    races.backtrack_sets
}

/// A decision, and the two at which the turn of its thread began: when the thread was switched to, and the last decision after
/// that at which leaving it cost nothing.
type Moment = (EventNumber, [EventNumber; 2]);

/// An operation that others may conflict with.
#[derive(Clone)]
struct Seen {
    /// Its number among the events of its thread, from 1, and among all events.
    count: u32,
    number: EventNumber,
    /// Its decision; none before the first decision.
    moment: Option<Moment>,
    /// What happens before it, itself included.
    clock: Rc<VectorClock>,
}

/// The last events of one thread at an object.
#[derive(Clone, Default)]
struct Touched {
    read: Option<Seen>,
    changed: Option<Seen>,
    /// The last release: threads that wait for the object are ordered after it.
    released: Option<Seen>,
}

#[derive(Default)]
struct Races {
    bounded: bool,
    /// What happens before the next event of each thread.
    clocks: Vec<VectorClock>,
    /// The last event of each thread, and the last one that conflicts with everything.
    last: Vec<Option<Seen>>,
    wide: Vec<Option<Seen>>,
    /// What each thread has done to an object.
    objects: HashMap<u64, Vec<Touched>, BuildHasherDefault<ObjectHasher>>,
    /// Threads that can wake up spuriously.
    waiting: BTreeSet<ThreadId>,
    /// Threads that wait, and can continue when time passes.
    suspended: BTreeSet<ThreadId>,
    /// The last decision.
    moment: Option<Moment>,
    time_passes: bool,
    backtrack_sets: BacktrackSets,
}

impl Races {
    /// Reads the records before event `at`, starting at `next`. Returns the position of the first record not read.
    fn read_before(&mut self, records: &[Record], mut next: usize, at: EventNumber) -> usize {
        while let Some(first) = records.get(next).map(Entry::of).filter(|entry| entry.number() < at) {
            // Entries that are neither decisions nor operations have their own numbers.
            let is_same =
                |entry: &Entry<'_>| entry.number() == first.number() || !entry.is_operation() && !entry.is_scheduling();
            let len = racehunter_log::entries(&records[next..]).take_while(is_same).count().max(1);
            self.read_event(&records[next..next + len]);
            next += len;
        }
        next
    }

    /// Reads the records of one event.
    ///
    /// The runtime logs the effects of an operation on waiting threads before the operation itself. For such a thread the
    /// operation has already happened: it may have taken what the thread waits for. Only a thread that was left because it has to
    /// wait does so before the operation of the thread chosen instead.
    fn read_event(&mut self, records: &[Record]) {
        let is_switch = |record: &Record| matches!(Entry::of(record).event(), Event::Switch { .. });
        // Several threads in turn may have turned out to be blocked.
        let switch = records.iter().rposition(is_switch).unwrap_or(0);
        let (earlier, later) = records.split_at(switch);
        racehunter_log::entries(earlier).for_each(|entry| self.read(entry));
        let (operations, states): (Vec<_>, Vec<_>) =
            racehunter_log::entries(later).partition(|entry| entry.is_operation());
        operations.iter().for_each(|&entry| self.read(entry));
        for entry in states {
            if let Event::BlockedSet(threads) = entry.event() {
                // The log does not say what they wait for, but it contains the operation that made them wait.
                let by = operations.last();
                let awaited = by.map_or_else(Footprint::everything, |&by| Footprint::of(by, false));
                threads.iter().for_each(|thread| self.waits_for(thread, &awaited));
            } else {
                self.read(entry);
            }
        }
    }

    fn read(&mut self, entry: Entry<'_>) {
        let thread = entry.thread();
        match entry.event() {
            event if entry.is_operation() => self.happens(entry.number(), thread, &event),
            Event::Blocked { on, may_wake } => {
                self.waits_for(thread, &Footprint::awaited(&on));
                if may_wake {
                    self.waiting.insert(thread);
                    // A thread wakes up spuriously only while another thread can continue, so it must be tried before all others.
                    self.conflict(thread, &Footprint::everything(), false);
                }
            }
            Event::Suspended { on } => {
                self.waits_for(thread, &Footprint::awaited(&on));
                self.suspended.insert(thread);
            }
            Event::Woken => self.wakes(entry.number(), thread),
            Event::WokenSet(threads) => threads.iter().for_each(|thread| self.wakes(entry.number(), thread)),
            _ => {}
        }
    }

    fn wakes(&mut self, number: EventNumber, thread: ThreadId) {
        self.waiting.remove(&thread);
        let waker = self.moment.filter(|&(at, _)| at == number);
        if let (true, Some(moment)) = (self.suspended.remove(&thread), waker) {
            // It would have continued by a time-out, had it come before the thread that wakes it.
            self.add_backtrack(moment, Some(thread));
        }
    }

    /// A thread begins to wait. Had it come before others, it would not have to wait, and leaving it would not be free.
    fn waits_for(&mut self, thread: ThreadId, awaited: &Footprint) {
        let mut awaited = awaited.clone();
        awaited.change_all();
        self.conflict(thread, &awaited, true);
    }

    /// A decision after the explored part: it shows the next operation of its thread.
    fn is_next(&mut self, records: &[Record], decision: &Decision) {
        let thread = decision.to;
        let mut entries = racehunter_log::entries(records);
        let Some(entry) = entries.find(|entry| entry.is_operation() && entry.thread() == thread) else { return };
        let event = entry.event();
        let footprint = self.footprint(thread, &event, self.time_passes || entry.number() != decision.at);
        self.conflict(thread, &footprint, takes(&event));
    }

    fn know(&mut self, thread: ThreadId) {
        let count = self.clocks.len().max(thread.index() + 1);
        self.clocks.resize_with(count, VectorClock::default);
        self.last.resize(count, None);
        self.wide.resize(count, None);
    }

    fn footprint(&self, thread: ThreadId, event: &Event, time_passes: bool) -> Footprint {
        // The cost of continuing after a yield depends on which other threads can run.
        let yields = self.bounded && *event == Event::Yield;
        Footprint::of_event(thread, event, time_passes || yields)
    }

    fn happens(&mut self, number: EventNumber, thread: ThreadId, event: &Event) {
        self.waiting.remove(&thread);
        self.suspended.remove(&thread);
        let decided = self.moment.filter(|&(at, _)| at == number);
        let footprint = self.footprint(thread, event, decided.is_some() && self.time_passes);
        let mut clock = self.conflict(thread, &footprint, takes(event));
        let count = clock.increment(thread);
        let seen = Seen { count, number, moment: decided, clock: Rc::new(clock.clone()) };
        if let Event::Create { child, .. } = *event {
            self.know(child);
            self.clocks[child.index()].clone_from(&clock);
        }
        self.clocks[thread.index()] = clock;
        for touch in footprint.touches() {
            let all = self.objects.entry(touch.object).or_default();
            all.resize(all.len().max(thread.index() + 1), Touched::default());
            let touched = &mut all[thread.index()];
            let which = if gives(event) {
                &mut touched.released
            } else if touch.changes {
                &mut touched.changed
            } else {
                &mut touched.read
            };
            *which = Some(seen.clone());
        }
        if footprint.is_everything() {
            self.wide[thread.index()] = Some(seen.clone());
        }
        self.last[thread.index()] = Some(seen);
    }

    /// Adds the other order of everything that conflicts with the operation that a thread makes now. Returns what happens before
    /// the operation. `takes`: the operation blocks until others release the object.
    fn conflict(&mut self, thread: ThreadId, footprint: &Footprint, takes: bool) -> VectorClock {
        self.know(thread);
        let known = self.clocks[thread.index()].clone();
        let mut clock = known.clone();
        // The thread cannot acquire the object before its release. But it could have run until it blocks on the object, where
        // leaving it is free; unless it was already there.
        let before = self.last[thread.index()].as_ref().map_or(EventNumber::START, |last| last.number);
        let mut races = Vec::new();
        for other in (0..self.clocks.len()).filter(|&other| other != thread.index()) {
            let last = self.last[other].as_ref().filter(|_| footprint.is_everything());
            let wide = [last, self.wide[other].as_ref()].into_iter().flatten();
            let touched = footprint.touches().filter_map(|touch| {
                let touched = self.objects.get(&touch.object)?.get(other)?;
                Some((touched, touch.changes))
            });
            let events = touched.clone().flat_map(|(touched, changes)| {
                [touched.changed.as_ref(), touched.read.as_ref().filter(|_| changes)].into_iter().flatten()
            });
            let releases = touched.filter_map(|(touched, _)| touched.released.as_ref());
            let reversible = wide.chain(events);
            let latest = [
                reversible.clone().max_by_key(|event| event.count),
                releases
                    .clone()
                    .filter(|event| !takes || self.bounded && event.number < before)
                    .max_by_key(|event| event.count),
            ];
            let races_with =
                latest.into_iter().flatten().filter(|latest| latest.count > known.get(ThreadId(other as u32)));
            races.extend(races_with.filter_map(|latest| latest.moment));
            for event in reversible.chain(releases) {
                clock.join(&event.clock);
            }
        }
        races.into_iter().for_each(|moment| self.add_backtrack(moment, Some(thread)));
        clock
    }

    /// Adds a thread, or all threads, to the backtrack set at a decision and, with a bound, at the beginnings of its turn.
    fn add_backtrack(&mut self, (at, turn): Moment, thread: Option<ThreadId>) {
        let turn = turn.into_iter().filter(|_| self.bounded);
        for at in turn.chain([at]) {
            let backtrack = self.backtrack_sets.entry(at).or_insert_with(|| Backtrack::Threads(Vec::new()));
            match (thread, &mut *backtrack) {
                (Some(thread), Backtrack::Threads(threads)) if !threads.contains(&thread) => threads.push(thread),
                (Some(_), _) => {}
                (None, _) => *backtrack = Backtrack::All,
            }
        }
    }
}

/// Returns whether the operation blocks until others release the object.
const fn takes(event: &Event) -> bool {
    matches!(event, Event::Acquire { attempt: Attempt::Blocking, .. } | Event::WaitEnd { .. } | Event::Join { .. })
}

const fn gives(event: &Event) -> bool {
    matches!(event, Event::Release { is_refused: false, .. } | Event::Exit)
}
