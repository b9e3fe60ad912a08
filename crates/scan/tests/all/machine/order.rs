//! What happens before what, where atomic operations are not sequentially consistent.

use super::{Holder, Next, PIPE, State, TOKENS};
use crate::lower::BLOCK;
use racehunter_ir::Operation;

impl State {
    /// Applies what a thread has done since an earlier state; returns true if that is a race.
    pub(super) fn order(&mut self, before: &Self, thread: usize, next: &Next<'_>, operation: &Operation) -> bool {
        let Some(mut clocks) = self.clocks.take() else { return false };
        if self.threads.len() > before.threads.len() {
            clocks.create(thread);
        }
        for (other, child) in self.threads.iter().enumerate() {
            if child.joined && !before.threads[other].joined {
                clocks.acquire_all_of(thread, other);
            }
        }
        let keys = self.locks.keys().chain(before.locks.keys()).copied();
        for lock in keys.collect::<std::collections::BTreeSet<i64>>() {
            let count = |holder: Option<&Holder>| match holder {
                None => 0,
                Some(Holder::Writer(_)) => 1,
                Some(Holder::Readers(readers)) => *readers,
            };
            let (old, new) = (count(before.locks.get(&lock)), count(self.locks.get(&lock)));
            if new > old {
                clocks.acquire(thread, lock);
            } else if new < old {
                clocks.release(thread, lock);
            }
        }
        for (sync, old, new) in
            [(TOKENS, before.tokens, self.tokens), (PIPE, before.pipe.len() as i64, self.pipe.len() as i64)]
        {
            if new > old {
                clocks.release(thread, sync);
            } else if new < old {
                clocks.acquire(thread, sync);
            }
        }
        let is_race = match *next {
            Next::Access { address, write, atomic, .. } => {
                let is_race = clocks.access(thread, address, write, atomic);
                match *operation {
                    Operation::Load { order: Some(order), .. } => clocks.load(thread, address, order),
                    Operation::Store { order: Some(order), .. } => clocks.store(thread, address, order),
                    Operation::Update { order, .. } => clocks.update(thread, address, order),
                    // It replaces zero by another number.
                    Operation::CompareExchange { success, failure, .. } => {
                        let of = |state: &Self| state.memory.get(&address).copied().unwrap_or(0);
                        match of(self) == of(before) {
                            true => clocks.load(thread, address, failure),
                            false => clocks.update(thread, address, success),
                        }
                    }
                    _ => {}
                }
                is_race
            }
            Next::Call("free", ref arguments) if arguments[0] != 0 => {
                let mut words = (0..BLOCK as i64).step_by(8);
                words.any(|word| clocks.access(thread, arguments[0] + word, true, false))
            }
            Next::Fence(order) => {
                clocks.fence(thread, order);
                false
            }
            _ => false,
        };
        self.clocks = Some(clocks);
        is_race
    }
}
