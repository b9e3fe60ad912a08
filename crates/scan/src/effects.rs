//! What a call does all in all, whatever it calls included: locks that it may give back or take, threads that it may wait for.
//!
//! A function that many places call is looked at once, with what is known at all of them. Its end would tell each caller only
//! what holds for all; but a lock that the caller holds, and that nothing in the call can give back, is still held.

use crate::address::{Addresses, Base, BaseId, Offset};
use crate::flow::Key;
use crate::models::{Does, Model};
use crate::points_to::{InstanceId, PointsTo, ThreadId};
use std::collections::BTreeSet;

/// A lock that may be held: what it is in, or that this is not known.
pub type Lock = Option<BaseId>;

/// Locks of more than so many bases are as good as any.
const MOST_LOCKS: usize = 3;

/// What calls do all in all.
pub struct Effects {
    of: Vec<Effect>,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Effect {
    /// Locks that may be given back.
    gives: Addresses,
    /// Whether an atomic section may end.
    ends_atomic: bool,
    /// Locks that may be taken.
    takes: BTreeSet<Lock>,
    /// Threads that may be waited for; none stands for any.
    waits: BTreeSet<Option<ThreadId>>,
}

impl Effect {
    fn add(&mut self, other: &Self) -> bool {
        let size = |effect: &Self| (effect.ends_atomic, effect.takes.len(), effect.waits.len());
        let before = size(self);
        self.ends_atomic |= other.ends_atomic;
        self.takes.extend(&other.takes);
        self.waits.extend(&other.waits);
        self.gives.add_all(&other.gives) | (before != size(self))
    }
}

impl Effects {
    /// Goes from whoever does something to all who call that, and on to their callers.
    pub fn of(points_to: &PointsTo<'_>) -> Self {
        let mut of: Vec<Effect> =
            (0..points_to.instances.len() as u32).map(|index| own(points_to, InstanceId(index))).collect();
        let mut callers = vec![BTreeSet::new(); of.len()];
        for (index, instance) in points_to.instances.iter().enumerate() {
            for callee in instance.callees.values().flatten() {
                callers[callee.0 as usize].insert(index);
            }
        }
        let mut work: BTreeSet<usize> = (0..of.len()).filter(|&index| of[index] != Effect::default()).collect();
        while let Some(index) = work.pop_last() {
            let effect = of[index].clone();
            work.extend(callers[index].iter().copied().filter(|&caller| of[caller].add(&effect)));
        }
        Self { of }
    }

    /// Whether a lock that is held before a call is surely held after it.
    pub fn keeps(&self, points_to: &PointsTo<'_>, callee: InstanceId, key: &Key) -> bool {
        let effect = &self.of[callee.0 as usize];
        match *key {
            Key::At(base, at) => !effect.gives.iter().any(|(other, offset)| {
                *points_to.describe(other) == Base::Unknown
                    || (base == other && offset.overlaps(1, Offset::exact(at), 1))
            }),
            Key::Relative(_) => effect.gives.is_empty(),
            Key::Atomic => !effect.ends_atomic,
            // Any store may give it back.
            Key::Flag(..) => false,
        }
    }

    /// Whether a lock may be held after a call because of the call.
    pub fn takes(&self, callee: InstanceId, lock: &Lock) -> bool {
        self.of[callee.0 as usize].takes.contains(lock)
    }

    /// Whether a thread may have been waited for after a call.
    pub fn waits_for(&self, callee: InstanceId, thread: ThreadId) -> bool {
        let waits = &self.of[callee.0 as usize].waits;
        waits.contains(&None) || waits.contains(&Some(thread))
    }
}

/// What an instance does by itself.
fn own(points_to: &PointsTo<'_>, id: InstanceId) -> Effect {
    let instance = &points_to.instances[id.0 as usize];
    let code = points_to.program.function(instance.function).0;
    let mut effect = Effect {
        ends_atomic: points_to.models.is_atomic(points_to.program.function_name(instance.function)),
        ..Effect::default()
    };
    for (&at, names) in &instance.outside {
        let operand = |index: usize| {
            let operand = code.instructions[at as usize].operands.get(index + 1);
            operand.map(|operand| points_to.operand(id, operand)).unwrap_or_default()
        };
        for name in names {
            match points_to.models.of(name) {
                Some(Model::Lock(lock)) => effect.takes.extend(locks(points_to, &operand(lock.lock))),
                Some(Model::Unlock(unlock)) => {
                    effect.gives.add_all(&operand(unlock.lock));
                }
                Some(Model::Semaphore(semaphore)) => {
                    let addresses = operand(semaphore.semaphore);
                    if semaphore.does == Does::Lower {
                        effect.takes.extend(locks(points_to, &addresses));
                    } else {
                        effect.gives.add_all(&addresses);
                    }
                }
                Some(Model::AtomicEnd) => effect.ends_atomic = true,
                Some(Model::Join(join)) => effect.waits.extend(waited_for(points_to, &operand(join.handle))),
                _ => {}
            }
        }
    }
    effect
}

/// The locks that addresses stand for.
pub fn locks(points_to: &PointsTo<'_>, addresses: &Addresses) -> BTreeSet<Lock> {
    let is_known = |base: BaseId| *points_to.describe(base) != Base::Unknown;
    if (1..=MOST_LOCKS).contains(&addresses.0.len()) && addresses.iter().all(|(base, _)| is_known(base)) {
        addresses.iter().map(|(base, _)| Some(base)).collect()
    } else {
        BTreeSet::from([None])
    }
}

/// Threads that a handle may stand for.
pub fn waited_for(points_to: &PointsTo<'_>, handle: &Addresses) -> BTreeSet<Option<ThreadId>> {
    let thread = |(base, _): (BaseId, Offset)| match *points_to.describe(base) {
        Base::Handle(thread) => Some(thread),
        _ => None,
    };
    if handle.is_empty() { BTreeSet::from([None]) } else { handle.iter().map(thread).collect() }
}
