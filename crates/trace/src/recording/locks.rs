//! Which thread holds which lock, as far as a log shows.

use crate::Op;
use rustc_hash::FxHashMap;

/// The locks that are held.
#[derive(Default)]
pub(super) struct Locks {
    holders: FxHashMap<u64, Vec<Holder>>,
}

struct Holder {
    thread: u32,
    shared: bool,
    depth: u32,
}

impl Locks {
    /// Acquires a lock for a thread. Returns how, and whether it counts as another lock than before, because its owner
    /// never released it.
    pub(super) fn acquire(&mut self, lock: u64, thread: u32, op: Op) -> (Op, bool) {
        let holders = self.holders.entry(lock).or_default();
        if let Some(own) = holders.iter_mut().find(|holder| holder.thread == thread) {
            own.depth += 1;
            // Inner acquisitions count like the outermost one.
            return (if own.shared { Op::AcquireShared } else { Op::Acquire }, false);
        }
        let compatible = holders.iter().all(|holder| holder.shared && op.shares());
        if !compatible {
            holders.clear();
        }
        holders.push(Holder { thread, shared: op.shares(), depth: 1 });
        (op, !compatible)
    }

    /// Releases a lock for a thread. Returns how, or nothing if the thread does not hold it.
    pub(super) fn release(&mut self, lock: u64, thread: u32) -> Option<Op> {
        let holders = self.holders.get_mut(&lock)?;
        let at = holders.iter().position(|holder| holder.thread == thread)?;
        let own = &mut holders[at];
        own.depth -= 1;
        let op = if own.shared { Op::ReleaseShared } else { Op::Release };
        if own.depth == 0 {
            holders.swap_remove(at);
        }
        Some(op)
    }

    /// Returns the locks that an ended thread holds.
    pub(super) fn left_by(&self, thread: u32) -> Vec<u64> {
        let held = |holders: &Vec<Holder>| holders.iter().any(|holder| holder.thread == thread);
        let mut locks: Vec<u64> =
            self.holders.iter().filter(|(_, holders)| held(holders)).map(|(&lock, _)| lock).collect();
        locks.sort_unstable();
        locks
    }
}
