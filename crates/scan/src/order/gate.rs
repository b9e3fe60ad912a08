//! Gates: threads that start while their creator holds a lock.
//!
//! If a thread holds a lock from before it creates another one until that one has ended, everything that the other
//! thread does lies *within* that section: a third thread that holds the same lock is never there at the same time.
//!
//! If the created thread takes the lock itself, it passes a *gate*: it gets the lock only after its creator has released
//! it. What the creator did since, without a release, comes before everything that the thread does afterwards, and so does
//! what threads did that lived within the same section.
//!
//! Both need that the creator exists once, so that it is one thread that holds the lock, and that the lock has one
//! address. A release counts wherever the lock may be released. Start at [`Gates`].

use crate::index::IndexVec;
use crate::locks::lockset::{LockId, held};
use crate::locks::summary::{self, LockBase};
use crate::models::{Does, Model};
use crate::order::SyncEvent;
use crate::pointer::{InstanceId, PointsTo, ThreadId};
use crate::race::access::Access;
use crate::solver::{Solution, State};
use std::collections::{BTreeMap, BTreeSet};

/// Locks that a thread may have released, each with the threads that may have been running then.
pub type Releases = BTreeMap<(ThreadId, LockBase), BTreeSet<ThreadId>>;

/// Returns the locks that a call may release, by all that it does outside the program.
pub fn released(points_to: &PointsTo<'_>, id: InstanceId, at: u32) -> BTreeSet<LockBase> {
    let mut found = BTreeSet::new();
    let Some(names) = points_to.instances[id].outside.get(&at) else { return found };
    let call = points_to.instruction(id, at);
    for name in names {
        let lock = match points_to.models.of(name) {
            Some(Model::Unlock(unlock)) => unlock.lock,
            Some(Model::Wait(wait)) => wait.lock,
            Some(Model::Semaphore(semaphore)) if semaphore.does != Does::Lower => semaphore.semaphore,
            _ => continue,
        };
        let lock = call.operands.get(lock + 1).map(|lock| points_to.operand(id, lock)).unwrap_or_default();
        found.extend(summary::locks(points_to, &lock));
    }
    found
}

/// How a thread begins.
#[derive(Clone, Debug, Default)]
struct Birth {
    /// Locks that its creator, which exists once, holds wherever it creates it.
    held: BTreeSet<LockId>,
    /// Its creator, and all for which the same is true through threads in between: they, and the locks that they hold
    /// when the first of these threads is created.
    sections: BTreeSet<(ThreadId, LockId)>,
    /// Threads and locks that their creator may have released before, as [`State::released`]; by creator.
    released: BTreeMap<ThreadId, BTreeSet<(ThreadId, LockBase)>>,
    /// Events that its creator has definitely seen, and gates that threads above it have passed.
    seen: BTreeSet<SyncEvent>,
}

/// Which threads live within a section of another thread, and which begin at a gate.
#[derive(Debug, Default)]
pub struct Gates {
    births: IndexVec<ThreadId, Birth>,
    /// The sections that a thread is created in and that do not end before it does: the holder and its lock.
    within: IndexVec<ThreadId, BTreeSet<(ThreadId, LockId)>>,
}

impl Gates {
    /// Collects what is known where threads are created and where locks are released.
    pub fn of(points_to: &PointsTo<'_>, solution: &Solution, releases: &Releases) -> Self {
        let mut births: IndexVec<ThreadId, Birth> = IndexVec::default();
        // A thread comes after its creator in the list.
        for (id, thread) in points_to.threads.entries() {
            let birth = match thread.creator {
                Some((creator, _)) if !thread.recursive && points_to.instances[creator].thread.0 < id.0 => {
                    birth(points_to, solution, &births, id, creator)
                }
                _ => Birth::default(),
            };
            births.push(birth);
        }
        let is_within = |id: ThreadId, (holder, lock): &(ThreadId, LockId)| {
            let LockId::At(base, _) = *lock else { return false };
            let mut ends = [Some(base), None].into_iter().filter_map(|lock| releases.get(&(*holder, lock)));
            !ends.any(|running| running.contains(&id))
        };
        let within = births
            .entries()
            .map(|(id, birth)| birth.sections.iter().filter(|section| is_within(id, section)).cloned().collect());
        Self { within: within.collect(), births }
    }

    /// Returns true if one access is made by a thread that holds a lock, and the other one within a section of a third
    /// thread that holds it.
    pub fn excludes(&self, first: &Access, second: &Access) -> bool {
        self.is_outside(first, second) || self.is_outside(second, first) || {
            let (one, other) = (&self.within[first.thread], &self.within[second.thread]);
            one.iter().any(|(holder, lock)| other.iter().any(|(another, same)| lock == same && holder != another))
        }
    }

    /// Returns true if the second access lies within a section of another thread than that of the first one, which
    /// holds the same lock.
    fn is_outside(&self, first: &Access, second: &Access) -> bool {
        self.within[second.thread]
            .iter()
            .any(|(holder, lock)| *holder != first.thread && held(&first.state).any(|held| held.id == *lock))
    }

    /// Returns true if the second access comes after a gate that the first one comes before.
    pub fn are_ordered(&self, points_to: &PointsTo<'_>, first: &Access, second: &Access) -> bool {
        let passed = passed(second.thread, &second.state);
        passed.iter().chain(&self.births[second.thread].seen).any(|event| {
            let SyncEvent::Passed(thread, lock) = event else { return false };
            let Some((creator, _)) = points_to.threads[*thread].creator else { return false };
            let LockId::At(base, _) = *lock else { return false };
            let holder = points_to.instances[creator].thread;
            let is_closed = |released: &BTreeSet<(ThreadId, LockBase)>| {
                !released.contains(&(*thread, Some(base))) && !released.contains(&(*thread, None))
            };
            let section = (holder, lock.clone());
            self.births[*thread].held.contains(lock)
                && if first.thread == holder {
                    is_closed(&first.state.released)
                } else {
                    self.within[first.thread].contains(&section)
                        && self.births[first.thread].released.get(&holder).is_some_and(is_closed)
                }
        })
    }

    /// Returns the events that a thread has definitely seen when it begins.
    pub fn seen(&self, thread: ThreadId) -> &BTreeSet<SyncEvent> {
        &self.births[thread].seen
    }
}

/// Returns the gates that a thread has passed: the locks that it has taken.
fn passed(thread: ThreadId, state: &State) -> BTreeSet<SyncEvent> {
    let holds = held(state).map(|held| &held.id);
    let locks = state.taken.iter().chain(holds).filter(|lock| matches!(lock, LockId::At(..)));
    locks.map(|lock| SyncEvent::Passed(thread, lock.clone())).collect()
}

fn birth(
    points_to: &PointsTo<'_>,
    solution: &Solution,
    births: &IndexVec<ThreadId, Birth>,
    id: ThreadId,
    creator: InstanceId,
) -> Birth {
    let parent = points_to.instances[creator].thread;
    let above = &births[parent];
    // A place that control does not reach creates no thread.
    let creations = points_to.instances[creator].creates.iter().filter(|(_, threads)| threads.contains(&id));
    let states: Vec<&State> = creations.filter_map(|(&at, _)| solution.before_create.get(&(creator, at))).collect();
    let mut found = Birth { released: above.released.clone(), ..Birth::default() };
    if points_to.is_once(points_to.threads[parent].root) {
        let alone = |state: &State| -> BTreeSet<LockId> {
            let alone = held(state).filter(|held| !held.shared && matches!(held.id, LockId::At(..)));
            alone.map(|held| held.id.clone()).collect()
        };
        found.held = states.iter().map(|state| alone(state)).reduce(|one, other| &one & &other).unwrap_or_default();
        found.sections.extend(found.held.iter().map(|lock| (parent, lock.clone())));
        let released = states.iter().flat_map(|state| state.released.iter().cloned());
        found.released.insert(parent, released.collect());
    }
    found.sections.extend(above.sections.iter().cloned());
    let seen = states.iter().map(|state| {
        let mut seen = passed(parent, state);
        seen.extend(state.seen.iter().cloned());
        seen
    });
    found.seen = seen.reduce(|one, other| &one & &other).unwrap_or_default();
    found.seen.extend(above.seen.iter().cloned());
    found
}
