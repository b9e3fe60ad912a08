//! Selects the pairs of accesses that are worth a question.
//!
//! A location that many threads access often has far too many pairs. Accesses are therefore grouped by everything that
//! matters before the order does: location, thread, site, kind, and the locks held. Two groups conflict or not as a
//! whole. For the rest, the cones of an access leave an interval of the other group in which partners can lie, since
//! cones grow along a thread; within it, near partners come first. Pairs of groups with the same two sites are one
//! case, because a reader of a report sees them as one race.

use crate::cones::Cones;
use crate::index::{Index, NONE};
use crate::location::Location;
use racehunter_trace::{EventId, Op};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::ops::Range;

/// Two sites with accesses that neither locks nor cones exclude.
pub(crate) struct Case {
    /// Pairs of groups.
    groups: Vec<(Group, Group)>,
}

/// All cases of a trace.
pub(crate) struct Candidates {
    /// Accesses to the locations of all cases, by group, each in order.
    events: Vec<EventId>,
    pub(crate) cases: Vec<Case>,
}

/// Accesses that differ only in when they happen, by their position.
#[derive(Clone, Copy)]
struct Group {
    begin: u32,
    end: u32,
}

/// An access to a shared location.
#[derive(Clone, Copy)]
struct Access {
    event: EventId,
    locks: u32,
}

/// What the accesses of a group to one location have in common.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    pub(crate) thread: u16,
    pub(crate) op: Op,
    pub(crate) locks: u32,
    pub(crate) site: u32,
}

/// Sets of locks that threads hold, each stored once.
#[derive(Default)]
pub(crate) struct LockSets {
    /// Each lock, and whether it is shared, sorted.
    sets: Vec<Vec<(u32, bool)>>,
    numbers: FxHashMap<Vec<(u32, bool)>, u32>,
    /// The set that results from an acquisition or release: threads keep repeating the same few transitions.
    steps: FxHashMap<(u32, u32, Op), u32>,
}

impl LockSets {
    /// Returns the empty set.
    pub(crate) fn empty(&mut self) -> u32 {
        self.number(Vec::new())
    }

    /// Returns the set that a thread holds after an event.
    pub(crate) fn after(&mut self, index: &Index<'_>, held: u32, event: EventId) -> u32 {
        let op = index.trace.op(event);
        if !(op.acquires() || op.releases()) || !index.is_outermost(event) {
            return held;
        }
        let lock = index.trace.object(event);
        if let Some(&after) = self.steps.get(&(held, lock, op)) {
            return after;
        }
        let mut set = self.get(held).to_vec();
        set.retain(|&(other, _)| other != lock);
        if op.acquires() {
            set.push((lock, op.shares()));
        }
        set.sort_unstable();
        let after = self.number(set);
        self.steps.insert((held, lock, op), after);
        after
    }

    fn number(&mut self, set: Vec<(u32, bool)>) -> u32 {
        if let Some(&number) = self.numbers.get(&set) {
            return number;
        }
        let number = self.sets.len() as u32;
        self.sets.push(set.clone());
        self.numbers.insert(set, number);
        number
    }

    pub(crate) fn get(&self, number: u32) -> &[(u32, bool)] {
        &self.sets[number as usize]
    }

    /// Returns true if two threads cannot hold these at the same time.
    pub(crate) fn exclude(&self, one: u32, other: u32) -> bool {
        let other = self.get(other);
        self.get(one).iter().any(|&(lock, shared)| other.iter().any(|&(also, with)| also == lock && !(shared && with)))
    }
}

impl Candidates {
    /// Collects the cases of a trace: two linear passes, and pairs of groups that the cones allow.
    pub(crate) fn new(index: &Index<'_>, cones: &Cones) -> Self {
        let mut locks = LockSets::default();
        let (mut accesses, starts) = shared_accesses(index, &mut locks);
        let trace = index.trace;
        let key = |access: &Access| {
            let (thread, op) = (trace.thread(access.event), trace.op(access.event));
            Key { thread, op, locks: access.locks, site: trace.site(access.event) }
        };
        let mut events: Vec<EventId> = Vec::new();
        let mut cases: BTreeMap<(u32, u32), Case> = BTreeMap::new();
        let mut location = Location::default();
        let mut places: Vec<Group> = Vec::new();
        let mut partners: Vec<usize> = Vec::new();
        for bounds in starts.windows(2) {
            let all = &mut accesses[bounds[0] as usize..bounds[1] as usize];
            // Usually a lock is held at all of them.
            let Some(first) = all.first() else { continue };
            let common = |&(lock, shared): &(u32, bool)| {
                !shared && all.iter().all(|access| locks.get(access.locks).contains(&(lock, false)))
            };
            if locks.get(first.locks).iter().any(common) {
                continue;
            }
            all.sort_by_key(key);
            location.fill(index, cones, all.iter().map(|access| (key(access), access.event)));
            let before = events.len();
            places.clear();
            for (_, group) in location.groups() {
                let begin = events.len() as u32;
                events.extend(group);
                places.push(Group { begin, end: events.len() as u32 });
            }
            let mut candidates = false;
            for group in 0..places.len() {
                location.partners(cones, group, &mut partners);
                let one = location.key(group);
                for &partner in &partners {
                    let other = location.key(partner);
                    if !locks.exclude(one.locks, other.locks) {
                        candidates = true;
                        let sites = (one.site.min(other.site), one.site.max(other.site));
                        let case = cases.entry(sites).or_insert(Case { groups: Vec::new() });
                        case.groups.push((places[group], places[partner]));
                    }
                }
            }
            if !candidates {
                events.truncate(before);
            }
        }
        Self { events, cases: cases.into_values().collect() }
    }

    fn events(&self, group: Group) -> &[EventId] {
        &self.events[group.begin as usize..group.end as usize]
    }

    /// Collects the pairs of a case that the cones allow, near ones first, up to a limit. Returns true if these are
    /// all.
    pub(crate) fn pairs(
        &self,
        index: &Index<'_>,
        cones: &Cones,
        case: &Case,
        limit: usize,
    ) -> (Vec<(EventId, EventId)>, bool) {
        // Each access of the smaller group has a cursor into the larger one; all cursors advance in turns.
        let mut cursors: Vec<Cursor> = Vec::new();
        for &(one, other) in &case.groups {
            let (one, other) = (self.events(one), self.events(other));
            let (few, many) = if one.len() <= other.len() { (one, other) } else { (other, one) };
            // The interval of an access never begins before that of the previous one.
            let mut interval = 0..0;
            for &event in few {
                interval = partners(index, cones, event, many, interval);
                cursors.extend(many.get(interval.clone()).and_then(|allowed| Cursor::new(event, allowed)));
            }
        }
        cursors.sort_by_key(|cursor| (cursor.distance(), cursor.event));
        let mut complete = cursors.len() <= limit;
        cursors.truncate(limit);
        let mut pairs = Vec::new();
        while !cursors.is_empty() {
            if pairs.len() >= limit {
                complete = false;
                break;
            }
            cursors.retain_mut(|cursor| match cursor.next() {
                Some(partner) => {
                    pairs.push((cursor.event.min(partner), cursor.event.max(partner)));
                    true
                }
                None => false,
            });
        }
        pairs.truncate(limit);
        (pairs, complete)
    }
}

impl Candidates {
    /// As `pairs`, with a limit for each later event: its earlier partners, near ones first. Pairs with the same later
    /// event follow each other.
    pub(crate) fn pairs_by_event(
        &self,
        index: &Index<'_>,
        cones: &Cones,
        case: &Case,
        limit: usize,
    ) -> (Vec<(EventId, EventId)>, bool) {
        let (mut pairs, mut complete) = (Vec::new(), true);
        for &(one, other) in &case.groups {
            let (one, other) = (self.events(one), self.events(other));
            for (later, earlier) in [(one, other), (other, one)] {
                let mut interval = 0..0;
                for &event in later {
                    interval = partners(index, cones, event, earlier, interval);
                    let allowed = earlier.get(interval.clone()).unwrap_or_default();
                    let before = &allowed[..allowed.partition_point(|&partner| partner < event)];
                    complete &= before.len() <= limit;
                    pairs.extend(before.iter().rev().take(limit).map(|&partner| (partner, event)));
                }
            }
        }
        pairs.sort_by_key(|&(_, later)| later);
        (pairs, complete)
    }
}

/// Returns all accesses to shared locations, by location, each in order; and where those of each object begin.
fn shared_accesses(index: &Index<'_>, locks: &mut LockSets) -> (Vec<Access>, Vec<u32>) {
    let trace = index.trace;
    let is_wanted = |event: EventId| trace.op(event).is_access() && index.is_shared(trace.object(event));
    let mut starts = vec![0_u32; trace.objects().len() + 1];
    for event in (0..trace.len() as EventId).filter(|&event| is_wanted(event)) {
        starts[trace.object(event) as usize + 1] += 1;
    }
    for object in 1..starts.len() {
        starts[object] += starts[object - 1];
    }
    let mut next = starts.clone();
    let count = starts.last().copied().unwrap_or(0);
    let mut accesses = vec![Access { event: NONE, locks: 0 }; count as usize];
    let mut held = vec![locks.empty(); index.threads()];
    for event in 0..trace.len() as EventId {
        let held = &mut held[usize::from(trace.thread(event))];
        if !trace.op(event).is_access() {
            *held = locks.after(index, *held, event);
        } else if is_wanted(event) {
            let slot = &mut next[trace.object(event) as usize];
            accesses[*slot as usize] = Access { event, locks: *held };
            *slot += 1;
        }
    }
    (accesses, starts)
}

/// The possible partners of an access, from the nearest outwards.
struct Cursor<'a> {
    event: EventId,
    /// Remaining partners before it.
    before: &'a [EventId],
    /// Remaining partners after it.
    after: &'a [EventId],
}

/// Returns the interval of an access's possible partners in another group: both bounds grow along the access's thread,
/// and are at least these. The end can be before the start if there are none.
fn partners(
    index: &Index<'_>,
    cones: &Cones,
    event: EventId,
    others: &[EventId],
    before: Range<usize>,
) -> Range<usize> {
    let (thread, position) = index.place(event);
    let (other, _) = index.place(others[0]);
    // The access must not need its partner, nor the partner the access.
    let needed = cones.of(thread, position)[other];
    let begin = first_without(others, before.start, |&partner| index.position[partner as usize] < needed);
    let has_no_need = |&partner: &EventId| cones.of(other, index.position[partner as usize])[thread] <= position;
    begin..first_without(others, before.end, has_no_need)
}

/// As `partition_point`, for a result that is known to be at or after a position, and usually near it.
pub(crate) fn first_without<T>(all: &[T], from: usize, is_before: impl Fn(&T) -> bool) -> usize {
    let (mut low, mut step) = (from, 1);
    while all.get(low + step - 1).is_some_and(&is_before) {
        low += step;
        step *= 2;
    }
    let high = (low + step).min(all.len());
    low + all[low..high].partition_point(is_before)
}

impl<'a> Cursor<'a> {
    fn new(event: EventId, allowed: &'a [EventId]) -> Option<Self> {
        let (before, after) = allowed.split_at(allowed.partition_point(|&partner| partner < event));
        (!allowed.is_empty()).then_some(Self { event, before, after })
    }

    fn distance(&self) -> u32 {
        let before = self.before.last().map(|&partner| self.event - partner);
        let after = self.after.first().map(|&partner| partner - self.event);
        before.into_iter().chain(after).min().unwrap_or(NONE)
    }

    fn next(&mut self) -> Option<EventId> {
        let before = self.before.last().map(|&partner| self.event - partner);
        let after = self.after.first().map(|&partner| partner - self.event);
        if before.unwrap_or(NONE) <= after.unwrap_or(NONE) {
            let (&partner, rest) = self.before.split_last()?;
            self.before = rest;
            Some(partner)
        } else {
            let (&partner, rest) = self.after.split_first()?;
            self.after = rest;
            Some(partner)
        }
    }
}
