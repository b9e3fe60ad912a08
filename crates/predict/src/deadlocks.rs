//! Lock cycles: threads that each hold what the next one wants.
//!
//! Each acquisition while other locks are held is a request. So is a join, as if the joined thread held something until
//! its end; acquisitions of a thread that another thread joins count even if it holds nothing else. Requests are
//! grouped by thread, the locks held, the lock requested and the site. A cycle of groups of different threads, each
//! requesting what the next one holds, is a case, unless two of them hold a common lock: then they cannot be there
//! together.
//!
//! Most programs take nested locks in some order. The search therefore first considers the locks alone: only if a lock
//! can be reached from itself, by going from held to requested locks, is there anything to combine. Then a path of
//! groups is extended only by groups from which it can return to its start soon enough. There can still be very many
//! paths; after a fixed number of steps the search ends and reports that it is incomplete.

use crate::Question;
use crate::candidates::LockSets;
use crate::index::Index;
use crate::predict::{Case, Kind};
use racehunter_trace::{EventId, Op};
use rustc_hash::{FxHashMap, FxHashSet};

/// Maximum length of a cycle.
const LONGEST: usize = 16;

/// Maximum number of groups put onto a path, in the whole search.
const STEPS: usize = 1_000_000;

/// Maximum number of cycles to report.
const MOST: usize = 10_000;

struct Group {
    thread: u16,
    held: u32,
    wanted: Thing,
    shared: bool,
    site: u32,
    wishes: Vec<EventId>,
}

/// Something that one thread can request and another one hold.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Thing {
    Lock(u32),
    /// The end of a thread, which only that thread holds.
    End(u16),
}

impl Group {
    /// Returns what its thread holds: its end, and its locks.
    fn has<'l>(&self, locks: &'l LockSets) -> impl Iterator<Item = Thing> + use<'l> {
        let held = locks.get(self.held).iter().map(|&(lock, _)| Thing::Lock(lock));
        std::iter::once(Thing::End(self.thread)).chain(held)
    }
}

/// Returns the cycles of a trace.
pub(crate) fn cases(index: &Index<'_>, attempts: usize) -> Vec<Case> {
    let trace = index.trace;
    let mut locks = LockSets::default();
    let mut groups: Vec<Group> = Vec::new();
    let mut numbers: FxHashMap<(u16, u32, Thing, bool, u32), usize> = FxHashMap::default();
    let awaited = awaited(index);
    let mut held = vec![locks.empty(); index.threads()];
    for event in (0..trace.len() as EventId).filter(|&event| !trace.op(event).is_access()) {
        let op = trace.op(event);
        let thread = trace.thread(event);
        let now = &mut held[usize::from(thread)];
        let before = std::mem::replace(now, locks.after(index, *now, event));
        let wanted = match op {
            _ if event < trace.opening() => continue,
            Op::Join => Thing::End(trace.object(event) as u16),
            op if op.insists() && index.is_outermost(event) => Thing::Lock(trace.object(event)),
            _ => continue,
        };
        if locks.get(before).is_empty() && !awaited[usize::from(thread)] {
            continue;
        }
        let (shared, site) = (op.shares(), trace.site(event));
        let number = *numbers.entry((thread, before, wanted, shared, site)).or_insert_with(|| {
            groups.push(Group { thread, held: before, wanted, shared, site, wishes: Vec::new() });
            groups.len() - 1
        });
        groups[number].wishes.push(event);
    }
    drop_ordered(&mut groups, &locks);
    let mut holding: FxHashMap<Thing, Vec<usize>> = FxHashMap::default();
    for (number, group) in groups.iter().enumerate() {
        group.has(&locks).for_each(|thing| holding.entry(thing).or_default().push(number));
    }
    let mut finder = Finder {
        locks: &locks,
        groups: &groups,
        holding: &holding,
        path: Vec::new(),
        steps: STEPS,
        sites: FxHashSet::default(),
        cycles: Vec::new(),
    };
    for first in 0..groups.len() {
        let back = finder.ways_back(first);
        finder.path.push(first);
        finder.extend(&back);
        finder.path.pop();
    }
    let mut cases: Vec<Case> = finder.cycles.iter().map(|cycle| case(&groups, cycle, attempts)).collect();
    if finder.steps == 0 {
        // Everything else was not examined.
        cases.push(Case { kind: Kind::Deadlock, tries: Vec::new(), complete: false });
    }
    cases
}

/// Returns the threads that are joined by a thread that holds a lock or is itself joined.
fn awaited(index: &Index<'_>) -> Vec<bool> {
    let trace = index.trace;
    let mut awaited = vec![false; index.threads()];
    // A joined thread has done everything before its end, so go from the last join to the first.
    for event in (0..trace.len() as EventId).rev().filter(|&event| trace.op(event) == Op::Join) {
        if awaited[usize::from(trace.thread(event))] || index.locks_at(event).next().is_some() {
            awaited[trace.object(event) as usize] = true;
        }
    }
    awaited
}

/// Removes requests that are part of no cycle: repeatedly those for a lock whose holders request nothing, and those of
/// threads that hold only what no thread requests.
fn drop_ordered(groups: &mut Vec<Group>, locks: &LockSets) {
    loop {
        let before = groups.len();
        let wanted: FxHashSet<Thing> = groups.iter().map(|group| group.wanted).collect();
        let held: FxHashSet<Thing> = groups.iter().flat_map(|group| group.has(locks)).collect();
        groups.retain(|group| held.contains(&group.wanted) && group.has(locks).any(|thing| wanted.contains(&thing)));
        if groups.len() == before {
            return;
        }
    }
}

struct Finder<'a> {
    locks: &'a LockSets,
    groups: &'a [Group],
    /// Groups by what they hold.
    holding: &'a FxHashMap<Thing, Vec<usize>>,
    path: Vec<usize>,
    /// Number of groups that may still be put onto a path.
    steps: usize,
    /// Sites of the cycles so far: a reader of a report sees other threads at the same sites as the same deadlock.
    sites: FxHashSet<Vec<u32>>,
    cycles: Vec<Vec<usize>>,
}

impl Finder<'_> {
    /// Returns true if a thread of the second group holds what one of the first requests.
    fn waits(&self, first: usize, second: usize) -> bool {
        let (first, second) = (&self.groups[first], &self.groups[second]);
        match first.wanted {
            Thing::End(thread) => thread == second.thread,
            Thing::Lock(wanted) => {
                let held = self.locks.get(second.held);
                held.iter().any(|&(lock, shared)| lock == wanted && !(shared && first.shared))
            }
        }
    }

    /// Returns, for each group, how many groups including itself a path needs to return to the first one, using only
    /// groups with larger numbers; 0 if there is no such path.
    fn ways_back(&self, first: usize) -> Vec<usize> {
        let mut wanting: FxHashMap<Thing, Vec<usize>> = FxHashMap::default();
        for (number, group) in self.groups.iter().enumerate().skip(first + 1) {
            wanting.entry(group.wanted).or_default().push(number);
        }
        let mut back = vec![0; self.groups.len()];
        let mut reached = vec![first];
        for length in 1..LONGEST {
            let mut before = Vec::new();
            for second in reached {
                for thing in self.groups[second].has(self.locks) {
                    for &group in wanting.get(&thing).into_iter().flatten() {
                        if back[group] == 0 && self.waits(group, second) {
                            back[group] = length;
                            before.push(group);
                        }
                    }
                }
            }
            reached = before;
        }
        back
    }

    /// Extends the path so far. Each cycle is found from its group with the smallest number.
    fn extend(&mut self, back: &[usize]) {
        let (first, last) = (self.path[0], self.path[self.path.len() - 1]);
        if self.path.len() > 1 && self.waits(last, first) {
            let mut sites: Vec<u32> = self.path.iter().map(|&group| self.groups[group].site).collect();
            sites.sort_unstable();
            if self.sites.insert(sites) {
                self.cycles.push(self.path.clone());
            }
            if self.cycles.len() == MOST {
                self.steps = 0;
            }
            return;
        }
        let holding = self.holding;
        for &next in holding.get(&self.groups[last].wanted).into_iter().flatten() {
            let returns = next > first && back[next] > 0 && self.path.len() + back[next] <= LONGEST;
            if !returns || !self.waits(last, next) {
                continue;
            }
            let together = self.path.iter().all(|&group| {
                let (one, other) = (&self.groups[group], &self.groups[next]);
                one.thread != other.thread && !self.locks.exclude(one.held, other.held)
            });
            if together {
                if self.steps == 0 {
                    return;
                }
                self.steps -= 1;
                self.path.push(next);
                self.extend(back);
                self.path.pop();
            }
        }
    }
}

/// Returns the questions of a cycle: all combinations of requests if they are few, otherwise those that lie near each
/// other.
fn case(groups: &[Group], cycle: &[usize], attempts: usize) -> Case {
    let wishes: Vec<&[EventId]> = cycle.iter().map(|&group| &groups[group].wishes[..]).collect();
    let all = wishes.iter().map(|wishes| wishes.len()).try_fold(1, usize::checked_mul);
    let complete = all.is_some_and(|all| all <= attempts);
    let mut tries: Vec<Vec<EventId>> = Vec::new();
    for &wish in wishes[0] {
        let others = wishes[1..].iter().map(|wishes| {
            let next = wishes.partition_point(|&other| other < wish);
            if complete { wishes } else { &wishes[next.saturating_sub(1)..wishes.len().min(next + 1)] }
        });
        tries.extend(others.fold(vec![vec![wish]], |begun, wishes| {
            // In a long cycle even two choices for each thread are too many: then only the first is used.
            let wishes = if complete || begun.len() * wishes.len() <= attempts { wishes } else { &wishes[..1] };
            let longer = |events: &Vec<EventId>, &wish: &EventId| events.iter().copied().chain([wish]).collect();
            begun.iter().flat_map(|events| wishes.iter().map(move |wish| longer(events, wish))).collect()
        }));
    }
    tries.sort_by_key(|events| events.iter().max().zip(events.iter().min()).map(|(last, first)| last - first));
    tries.truncate(attempts);
    let tries = tries.into_iter().map(|events| (events.clone(), Question::together(events))).collect();
    Case { kind: Kind::Deadlock, tries, complete }
}
