//! All correct reorderings of a small trace, one by one. Written from the definition, it shares nothing with the code
//! that it judges, not even the demands of a policy.

use racehunter_predict::Policy;
use racehunter_trace::{EventId, Op, Trace, Via};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// A policy in its simplest form.
pub struct Rules {
    /// For each read, the position from which on it is necessary.
    pub boundary: Vec<usize>,
    /// For each write, the reads that flow into it.
    pub flow: Vec<Vec<EventId>>,
}

impl Rules {
    pub fn new(trace: &Trace, policy: Policy) -> Self {
        let ids = || 0..trace.len() as EventId;
        let position = positions(trace);
        let earlier = |id: EventId| (0..id).filter(move |&other| trace.thread(other) == trace.thread(id));
        let later = |id: EventId| ids().filter(move |&other| other > id && trace.thread(other) == trace.thread(id));
        let dependences = |id: EventId| trace.dependences().map_or(&[][..], |all| all.of(id));
        let decides = |id: EventId, read: Option<EventId>| {
            dependences(id).iter().any(|entry| entry.via == Via::Decision && read.is_none_or(|read| entry.read == read))
        };
        let policy = match policy {
            Policy::Nre if trace.dependences().is_none() => Policy::SeqCheck,
            policy => policy,
        };
        let policy = if policy == Policy::SeqCheck && !trace.has_branches() { Policy::M2 } else { policy };
        let boundary = ids().map(|id| match policy {
            Policy::M2 => position[id as usize] + 1,
            Policy::SeqCheck | Policy::PublishedSeqCheck => later(id)
                .find(|&other| trace.follows_choice(other) || policy == Policy::SeqCheck && decides(other, None))
                .map_or(usize::MAX, |other| position[other as usize]),
            Policy::Nre => {
                later(id).find(|&other| decides(other, Some(id))).map_or(usize::MAX, |other| position[other as usize])
            }
        });
        let flow = ids().map(|id| {
            let mut reads: Vec<EventId> = match policy {
                Policy::M2 => Vec::new(),
                Policy::SeqCheck | Policy::PublishedSeqCheck => {
                    earlier(id).filter(|&read| trace.op(read).reads()).collect()
                }
                Policy::Nre => {
                    let values = dependences(id).iter().filter(|entry| entry.via == Via::Value);
                    values.map(|entry| entry.read).collect()
                }
            };
            if trace.op(id).reads() {
                reads.push(id);
            }
            reads
        });
        Self { boundary: boundary.collect(), flow: flow.collect() }
    }
}

pub fn positions(trace: &Trace) -> Vec<usize> {
    let mut count = vec![0; trace.threads().len()];
    trace
        .events()
        .map(|event| {
            count[usize::from(event.thread)] += 1;
            count[usize::from(event.thread)] - 1
        })
        .collect()
}

/// A point within a reordering.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct State {
    /// Events of each thread that have happened.
    pub done: Vec<usize>,
    /// The last write to each location.
    written: BTreeMap<u32, EventId>,
    /// Reads that saw a different write, as bits.
    astray: u64,
    /// Pairs whose order the caller wants to know, as bits: set if the first one happened before the second one.
    pub ordered: u64,
}

pub struct Oracle<'t> {
    pub trace: &'t Trace,
    pub position: Vec<usize>,
    pub threads: Vec<Vec<EventId>>,
    /// The write that each read saw.
    read_from: Vec<Option<EventId>>,
    /// Pairs whose order is tracked.
    pub pairs: Vec<(EventId, EventId)>,
}

impl<'t> Oracle<'t> {
    pub fn new(trace: &'t Trace) -> Self {
        let mut threads = vec![Vec::new(); trace.threads().len()];
        let mut written = BTreeMap::new();
        let mut read_from = Vec::new();
        for (id, event) in (0..).zip(trace.events()) {
            threads[usize::from(event.thread)].push(id);
            read_from.push(if event.op.reads() { written.get(&event.object).copied() } else { None });
            if event.op.writes() {
                written.insert(event.object, id);
            }
        }
        Self { trace, position: positions(trace), threads, read_from, pairs: Vec::new() }
    }

    /// Calls `at` at every point of every reordering.
    pub fn visit(&self, mut at: impl FnMut(&State)) {
        let first = State { done: vec![0; self.threads.len()], written: BTreeMap::new(), astray: 0, ordered: 0 };
        let mut seen = HashSet::new();
        let mut left = vec![first];
        while let Some(state) = left.pop() {
            if !seen.insert(state.clone()) {
                continue;
            }
            at(&state);
            for thread in 0..self.threads.len() {
                if let Some(&id) = self.threads[thread].get(state.done[thread])
                    && self.can(&state, id)
                {
                    left.push(self.step(&state, id));
                }
            }
        }
    }

    pub fn happened(&self, state: &State, id: EventId) -> bool {
        state.done[usize::from(self.trace.thread(id))] > self.position[id as usize]
    }

    /// Returns true if an event is the next of a thread that exists.
    pub fn is_next(&self, state: &State, id: EventId) -> bool {
        let thread = self.trace.thread(id);
        let fork = (0..self.trace.len() as EventId)
            .find(|&other| self.trace.op(other) == Op::Fork && self.trace.object(other) == u32::from(thread));
        state.done[usize::from(thread)] == self.position[id as usize]
            && fork.is_none_or(|fork| self.happened(state, fork))
    }

    /// Returns the outermost acquisitions of a lock that are not yet released.
    pub fn holders(&self, state: &State, lock: u32) -> Vec<EventId> {
        let mut holders = Vec::new();
        for (thread, events) in self.threads.iter().enumerate() {
            let mut depth = 0;
            let mut outermost = None;
            for &id in &events[..state.done[thread]] {
                let event = self.trace.event(id);
                if event.object != lock {
                    continue;
                }
                if event.op.acquires() {
                    depth += 1;
                    if depth == 1 {
                        outermost = Some(id);
                    }
                } else if event.op.releases() {
                    depth -= 1;
                }
            }
            if depth > 0 {
                holders.extend(outermost);
            }
        }
        holders
    }

    fn can(&self, state: &State, id: EventId) -> bool {
        let trace = self.trace;
        if !self.is_next(state, id) {
            return false;
        }
        let event = trace.event(id);
        let before = |ops: fn(Op) -> bool| {
            (0..id).filter(move |&other| trace.object(other) == event.object && ops(trace.op(other)))
        };
        match event.op {
            op if op.acquires() => self
                .holders(state, event.object)
                .into_iter()
                .all(|holder| trace.thread(holder) == event.thread || (event.op.shares() && trace.op(holder).shares())),
            Op::TryFailed => {
                // The threads that held it in the trace.
                let then = State {
                    done: self
                        .threads
                        .iter()
                        .map(|events| events.iter().filter(|&&other| other < id).count())
                        .collect(),
                    ..state.clone()
                };
                let others = |state: &State| {
                    let holders = self.holders(state, event.object);
                    holders.into_iter().filter(|&holder| trace.thread(holder) != event.thread).collect::<Vec<_>>()
                };
                // The thread that was there (the last of several readers) is there again.
                others(&then).into_iter().max().is_none_or(|holder| others(state).contains(&holder))
            }
            Op::Join | Op::TryJoin => {
                let child = event.object as usize;
                state.done[child] == self.threads[child].len() && self.forked(state, event.object)
            }
            Op::Order => before(|op| op == Op::Order).all(|other| self.happened(state, other)),
            Op::Arrive | Op::Depart => before(|op| op == Op::Arrive).all(|other| self.happened(state, other)),
            _ => true,
        }
    }

    fn forked(&self, state: &State, thread: u32) -> bool {
        (0..self.trace.len() as EventId)
            .filter(|&id| self.trace.op(id) == Op::Fork && self.trace.object(id) == thread)
            .all(|id| self.happened(state, id))
    }

    fn step(&self, state: &State, id: EventId) -> State {
        let mut next = state.clone();
        let event = self.trace.event(id);
        if event.op.reads() && state.written.get(&event.object).copied() != self.read_from[id as usize] {
            next.astray |= 1 << id;
        }
        if event.op.writes() {
            next.written.insert(event.object, id);
        }
        for (bit, &(first, second)) in self.pairs.iter().enumerate() {
            if second == id && self.happened(state, first) {
                next.ordered |= 1 << bit;
            }
        }
        next.done[usize::from(event.thread)] += 1;
        next
    }

    /// Returns true if every necessary read has seen its old write, with some events about to happen.
    pub fn is_correct(&self, state: &State, rules: &Rules, next: &[EventId]) -> bool {
        let mut reach = state.done.clone();
        for &id in next {
            reach[usize::from(self.trace.thread(id))] = self.position[id as usize] + 1;
        }
        let mut left: Vec<EventId> = Vec::new();
        for (thread, events) in self.threads.iter().enumerate() {
            left.extend(
                events[..state.done[thread]]
                    .iter()
                    .filter(|&&id| self.trace.op(id).reads() && rules.boundary[id as usize] < reach[thread]),
            );
        }
        let mut necessary = BTreeSet::new();
        while let Some(read) = left.pop() {
            if necessary.insert(read)
                && let Some(write) = self.read_from[read as usize]
            {
                left.extend(&rules.flow[write as usize]);
            }
        }
        necessary.into_iter().all(|read| state.astray >> read & 1 == 0)
    }

    /// Returns true if a sequence is a correct reordering after which these events are about to happen.
    pub fn accepts(&self, rules: &Rules, next: &[EventId], sequence: &[EventId]) -> bool {
        let mut state = State { done: vec![0; self.threads.len()], written: BTreeMap::new(), astray: 0, ordered: 0 };
        for &id in sequence {
            if id as usize >= self.trace.len() || !self.can(&state, id) {
                return false;
            }
            state = self.step(&state, id);
        }
        next.iter().all(|&id| self.is_next(&state, id)) && self.is_correct(&state, rules, next)
    }

    /// Returns the pairs of accesses that some correct reordering leaves about to happen together.
    pub fn races(&self, rules: &Rules) -> BTreeSet<(EventId, EventId)> {
        let conflicts = super::conflicts(self.trace);
        let mut races = BTreeSet::new();
        self.visit(|state| {
            for &(first, second) in &conflicts {
                if self.is_next(state, first)
                    && self.is_next(state, second)
                    && !races.contains(&(first, second))
                    && self.is_correct(state, rules, &[first, second])
                {
                    races.insert((first, second));
                }
            }
        });
        races
    }
}

/// Deadlocks: minimal sets of acquisitions that some correct reordering leaves about to happen, each waiting for the
/// next.
impl Oracle<'_> {
    pub fn deadlocks(&self, rules: &Rules) -> BTreeSet<Vec<EventId>> {
        let mut found = BTreeSet::new();
        self.visit(|state| {
            let next: Vec<EventId> = self
                .threads
                .iter()
                .enumerate()
                .filter_map(|(thread, events)| events.get(state.done[thread]).copied())
                .filter(|&id| self.trace.op(id).insists() || self.trace.op(id) == Op::Join)
                .filter(|&id| self.is_next(state, id))
                .collect();
            for mask in 1_u32..1 << next.len() {
                let set: Vec<EventId> =
                    (0..next.len()).filter(|bit| mask >> bit & 1 == 1).map(|bit| next[bit]).collect();
                if set.len() < 2 || found.contains(&set) || !self.is_cycle(state, &set) {
                    continue;
                }
                let smaller = (1..mask).any(|part| {
                    let part: Vec<EventId> = (0..next.len())
                        .filter(|bit| part & mask == part && part >> bit & 1 == 1)
                        .map(|bit| next[bit])
                        .collect();
                    part.len() > 1 && self.is_cycle(state, &part)
                });
                if !smaller && self.is_correct(state, rules, &set) {
                    let mut set = set;
                    set.sort_unstable();
                    found.insert(set);
                }
            }
        });
        found
    }

    /// Returns true if each waits for one of the others, and following that leads through all of them.
    fn is_cycle(&self, state: &State, set: &[EventId]) -> bool {
        let waits = |one: EventId, other: EventId| {
            if self.trace.op(one) == Op::Join {
                return self.trace.object(one) == u32::from(self.trace.thread(other));
            }
            self.holders(state, self.trace.object(one)).into_iter().any(|holder| {
                self.trace.thread(holder) == self.trace.thread(other)
                    && self.trace.thread(one) != self.trace.thread(other)
                    && (self.trace.op(holder).excludes() || self.trace.op(one).excludes())
            })
        };
        fn through(path: &mut Vec<EventId>, set: &[EventId], waits: &dyn Fn(EventId, EventId) -> bool) -> bool {
            let (first, last) = (path[0], path[path.len() - 1]);
            if path.len() == set.len() {
                return waits(last, first);
            }
            set.iter().any(|&next| {
                !path.contains(&next) && waits(last, next) && {
                    path.push(next);
                    let closes = through(path, set, waits);
                    path.pop();
                    closes
                }
            })
        }
        through(&mut vec![set[0]], set, &waits)
    }

    /// Returns the triples for which some correct reordering has the second event between the first and the third.
    pub fn between(&mut self, rules: &Rules, triples: &[[EventId; 3]]) -> BTreeSet<[EventId; 3]> {
        let mut found = BTreeSet::new();
        self.pairs = triples.iter().map(|&[first, other, _]| (first, other)).collect();
        assert!(self.pairs.len() <= 64);
        self.visit(|state| {
            for (bit, &triple) in triples.iter().enumerate() {
                if state.ordered >> bit & 1 == 1
                    && self.is_next(state, triple[2])
                    && !found.contains(&triple)
                    && self.is_correct(state, rules, &[triple[2]])
                {
                    found.insert(triple);
                }
            }
        });
        found
    }
}
