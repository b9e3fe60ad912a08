//! Which choices an execution shows to be needed: where to branch, in bounded partial-order reduction (K. Coons, M.
//! Musuvathi, K. McKinley, "Bounded partial-order reduction", OOPSLA 2013; without a bound: C. Flanagan, P. Godefroid,
//! "Dynamic partial-order reduction for model checking software", POPL 2005).
//!
//! Where an operation conflicts with an earlier one of another thread, and nothing else says which of them comes first, the
//! other order is to be tried: the thread of the later one is *wanted* before the earlier one. To go there from the middle
//! of a turn costs a preemption, which the bound may not allow; to let the thread run before that turn began may cost
//! nothing. So it is wanted at the beginning of the turn as well.

use crate::past::{Footprint, Spread};
use racehunter_explore::{Decision, Execution, Going, Kind, Outcome, Record, Step, decisions};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::BuildHasherDefault;
use std::rc::Rc;

/// Who is wanted at a decision besides whom it has chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// These threads, and if one of them cannot be chosen, everybody.
    Threads(Vec<u32>),
    /// Everybody.
    All,
}

/// By the number of the event that is decided about.
pub(crate) type Wants = BTreeMap<u64, Wanted>;

/// What an execution wants. `bounded`: a bound counts what schedules cost. From event `end` on it is not explored.
pub(crate) fn wants(execution: &Execution, bounded: bool, end: u64) -> Wants {
    let mut races = Races { bounded, ..Races::default() };
    let mut decisions = decisions(execution);
    let mut next = 0;
    let mut moment: Moment = (0, [0; 2]);
    // Threads whose next event, which comes after the end, is known.
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
            // Nobody need ever do anything that wakes them up, so no conflict tells that they are wanted.
            races.want(moment, None);
        }
        let mut now = execution.records[next..].iter().take_while(|record| record.index <= decision.at);
        if !now.any(|record| record.kind.is_event()) {
            // What it does concerns nobody else, and is not in the log; but the program may end before it.
            races.happens(&Record { index: decision.at, thread: decision.to, kind: Kind::Fence, ..Record::default() });
        }
    }
    races.read_before(&execution.records, next, end);
    let ends = matches!(
        execution.outcome,
        Outcome::Exited(_) | Outcome::Crashed { .. } | Outcome::Asserted { .. } | Outcome::Lost(_)
    );
    // The program ends while a thread runs, and others may be in the middle of something.
    if let (true, Some(running)) = (ends, running) {
        if pending.is_empty() {
            races.want(moment, None);
        }
        races.conflict(running, &Footprint::everything(), false);
    }
    races.wants
}

/// The decision about an event, and those at which the thread's turn began: when it was switched to, and when it could have
/// been left for nothing after that.
type Moment = (u64, [u64; 2]);

/// Events of each thread that are known to come before something.
type Clock = Vec<u32>;

/// An event that others may conflict with.
#[derive(Clone)]
struct Event {
    /// Its number among those of its thread, from 1, and among all.
    count: u32,
    index: u64,
    /// When it was decided about; there is none before the first decision.
    moment: Option<Moment>,
    /// What comes before it, itself included.
    clock: Rc<Clock>,
}

/// The last events of one thread at an object.
#[derive(Clone, Default)]
struct Touched {
    looked: Option<Event>,
    changed: Option<Event>,
    /// Gave the object back: who waits for it comes after that.
    released: Option<Event>,
}

#[derive(Default)]
struct Races {
    bounded: bool,
    /// What comes before the next event of each thread.
    clocks: Vec<Clock>,
    /// The last event of each thread, and the last one that has to do with everything.
    last: Vec<Option<Event>>,
    wide: Vec<Option<Event>>,
    /// What each thread has done to an object.
    objects: HashMap<u64, Vec<Touched>, BuildHasherDefault<Spread>>,
    /// Threads that could go on at any time, without a reason.
    waiting: BTreeSet<u32>,
    /// Threads that wait, and can go on when time passes.
    suspended: BTreeSet<u32>,
    /// The decision that came last.
    moment: Option<Moment>,
    time_passes: bool,
    wants: Wants,
}

impl Races {
    /// Reads the records before event `at`, from `next` on. What is left begins where it says.
    fn read_before(&mut self, records: &[Record], mut next: usize, at: u64) -> usize {
        while let Some(record) = records.get(next).filter(|record| record.index < at) {
            if record.kind.is_event() {
                self.happens(record);
            } else if matches!(record.kind, Kind::Blocked | Kind::Suspended) {
                // It would not have to wait, and would not be left for nothing, had it come before others.
                let mut awaited = Footprint::awaited(record);
                awaited.changes_all(true);
                self.conflict(record.thread, &awaited, true);
                if record.kind == Kind::Suspended {
                    self.suspended.insert(record.thread);
                } else if record.size != 0 {
                    self.waiting.insert(record.thread);
                    // It wakes up without a reason only while somebody else can go on: so it is wanted before all others.
                    self.conflict(record.thread, &Footprint::everything(), false);
                }
            } else if record.kind == Kind::Woken {
                self.waiting.remove(&record.thread);
                let waker = self.moment.filter(|&(at, _)| at == record.index);
                if let (true, Some(moment)) = (self.suspended.remove(&record.thread), waker) {
                    // It would have gone on by a time-out, had it come before who wakes it.
                    self.want(moment, Some(record.thread));
                }
            }
            next += 1;
        }
        next
    }

    /// A decision after the end of what is explored: what the thread does there is what it would have done next.
    fn is_next(&mut self, records: &[Record], decision: &Decision) {
        let event = records.iter().find(|record| record.kind.is_event() && record.thread == decision.to);
        let Some(event) = event else { return };
        let footprint = self.footprint(event, self.time_passes || event.index != decision.at);
        self.conflict(decision.to, &footprint, takes(event.kind));
    }

    fn know(&mut self, thread: u32) {
        let count = self.clocks.len().max(thread as usize + 1);
        self.clocks.resize_with(count, Clock::new);
        self.last.resize(count, None);
        self.wide.resize(count, None);
    }

    fn footprint(&self, record: &Record, time_passes: bool) -> Footprint {
        // What it costs to go on after a yield depends on who else can.
        let yields = self.bounded && record.kind == Kind::Yield;
        Footprint::of(record, time_passes || yields)
    }

    fn happens(&mut self, record: &Record) {
        let thread = record.thread as usize;
        self.waiting.remove(&record.thread);
        self.suspended.remove(&record.thread);
        let decided = self.moment.filter(|&(at, _)| at == record.index);
        let footprint = self.footprint(record, decided.is_some() && self.time_passes);
        let mut clock = self.conflict(record.thread, &footprint, takes(record.kind));
        clock[thread] += 1;
        let event = Event { count: clock[thread], index: record.index, moment: decided, clock: Rc::new(clock.clone()) };
        if record.kind == Kind::Create {
            self.know(record.object as u32);
            self.clocks[record.object as usize].clone_from(&clock);
        }
        self.clocks[thread] = clock;
        for &(object, changes) in footprint.objects() {
            let all = self.objects.entry(object).or_default();
            all.resize(all.len().max(thread + 1), Touched::default());
            let touched = &mut all[thread];
            let which = if gives(record.kind) {
                &mut touched.released
            } else if changes {
                &mut touched.changed
            } else {
                &mut touched.looked
            };
            *which = Some(event.clone());
        }
        if footprint.is_everything() {
            self.wide[thread] = Some(event.clone());
        }
        self.last[thread] = Some(event);
    }

    /// Wants the other order of what conflicts with what a thread does now. Returns what comes before that.
    /// `takes`: it has to wait for others to give back what it takes.
    fn conflict(&mut self, thread: u32, footprint: &Footprint, takes: bool) -> Clock {
        self.know(thread);
        let mut clock = self.clocks[thread as usize].clone();
        clock.resize(self.clocks.len(), 0);
        let known = clock.clone();
        // It cannot take what was not given back. But before that it may have come as far as to wait for it, and be left
        // there for nothing; unless that is where it was.
        let before = self.last[thread as usize].as_ref().map_or(0, |last| last.index);
        let mut races = Vec::new();
        for other in (0..self.clocks.len()).filter(|&other| other != thread as usize) {
            let last = self.last[other].as_ref().filter(|_| footprint.is_everything());
            let wide = [last, self.wide[other].as_ref()].into_iter().flatten();
            let touched = footprint.objects().iter().filter_map(|(object, changes)| {
                let touched = self.objects.get(object)?.get(other)?;
                Some((touched, *changes))
            });
            let events = touched.clone().flat_map(|(touched, changes)| {
                [touched.changed.as_ref(), touched.looked.as_ref().filter(|_| changes)].into_iter().flatten()
            });
            let releases = touched.filter_map(|(touched, _)| touched.released.as_ref());
            let reversible = wide.chain(events);
            let latest = [
                reversible.clone().max_by_key(|event| event.count),
                releases
                    .clone()
                    .filter(|event| !takes || self.bounded && event.index < before)
                    .max_by_key(|event| event.count),
            ];
            let races_with = latest.into_iter().flatten().filter(|latest| latest.count > known[other]);
            races.extend(races_with.filter_map(|latest| latest.moment));
            for event in reversible.chain(releases) {
                clock.iter_mut().zip(event.clock.iter()).for_each(|(known, &count)| *known = count.max(*known));
            }
        }
        races.into_iter().for_each(|moment| self.want(moment, Some(thread)));
        clock
    }

    /// Wants a thread, or everybody, at a moment and, if there are prices, at the beginnings of its turn.
    fn want(&mut self, (at, turn): Moment, thread: Option<u32>) {
        let turn = turn.into_iter().filter(|_| self.bounded);
        for at in turn.chain([at]) {
            let wanted = self.wants.entry(at).or_insert_with(|| Wanted::Threads(Vec::new()));
            match (thread, &mut *wanted) {
                (Some(thread), Wanted::Threads(threads)) if !threads.contains(&thread) => threads.push(thread),
                (Some(_), _) => {}
                (None, _) => *wanted = Wanted::All,
            }
        }
    }
}

/// Whether an operation cannot come before others gave back what it takes.
const fn takes(kind: Kind) -> bool {
    matches!(kind, Kind::Lock | Kind::ReadLock | Kind::WriteLock | Kind::WaitEnd | Kind::Join)
}

const fn gives(kind: Kind) -> bool {
    matches!(kind, Kind::Unlock | Kind::RwUnlock | Kind::Exit)
}
