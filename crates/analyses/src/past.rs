//! What operations have to do with each other, and the past of an execution up to a moment.
//!
//! Two operations *conflict* when they touch the same object and at least one of them changes it, or when one of them is
//! of a kind whose effects are not known that well. The order of operations that do not conflict does not matter: it is
//! no part of the past.

use racehunter_explore::{Kind, Record, Touched, Wait, state_object};
use std::collections::HashMap;
use std::hash::BuildHasherDefault;

/// What an operation touches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Footprint {
    /// Objects, and whether they are changed.
    objects: Vec<(u64, bool)>,
    /// It may have to do with anything.
    everything: bool,
}

/// Objects that are no memory: threads, and the making of threads. No address of a program is that high.
const THREADS: u64 = 1 << 63;
const CREATION: u64 = THREADS - 1;

/// Words of memory that an operation may touch before it is taken to touch everything.
const WIDE: u64 = 4096;

impl Footprint {
    /// That of an event. `time_passes`: it happens because the clock moves on, which anybody could notice.
    pub fn of(record: &Record, time_passes: bool) -> Self {
        let mut footprint = Self { objects: Vec::new(), everything: time_passes };
        let thread = |number: u64| (THREADS | number, true);
        match record.kind {
            kind if kind.is_access() => {
                let bytes = match kind {
                    Kind::ReadRange | Kind::WriteRange | Kind::Free => record.extra,
                    _ => u64::from(record.size),
                };
                let first = record.object >> 3;
                let last = record.object.saturating_add(bytes.max(1) - 1) >> 3;
                footprint.everything |= last - first >= WIDE;
                if !footprint.everything {
                    footprint.objects.extend((first..=last).map(|word| (word, kind.is_write())));
                }
            }
            // The numbers of threads are those of their creation.
            Kind::Create => footprint.objects.extend([thread(record.object), (CREATION, true)]),
            Kind::Join | Kind::Detach => footprint.objects.push(thread(record.object)),
            Kind::Exit => footprint.objects.push(thread(u64::from(record.thread))),
            Kind::Lock
            | Kind::Unlock
            | Kind::TryLock
            | Kind::ReadLock
            | Kind::WriteLock
            | Kind::TryReadLock
            | Kind::TryWriteLock
            | Kind::RwUnlock
            | Kind::Signal
            | Kind::Broadcast
            | Kind::SemWait
            | Kind::SemPost
            | Kind::SemTryWait
            | Kind::BarrierWait
            | Kind::BarrierPass
            | Kind::Once
            | Kind::FutexWait
            | Kind::FutexWake
            | Kind::Lifetime => footprint.objects.push((record.object >> 3, true)),
            Kind::Wait | Kind::WaitEnd => {
                footprint.objects.extend([(record.object >> 3, true), (record.extra >> 3, true)]);
            }
            Kind::State => footprint
                .objects
                .extend(Touched::unpack(record.extra).parts().map(|(cell, changes)| (state_object(cell), changes))),
            // They do nothing to anybody. (An end of the program does, to all: it cuts them off.)
            Kind::Fence | Kind::Yield | Kind::Sleep => {}
            _ => footprint.everything = true,
        }
        footprint
    }

    /// What a thread has touched that waits from now on, as a [`Kind::Blocked`] or [`Kind::Suspended`] says. It did
    /// nothing to it, but it would not wait had somebody else changed that before.
    pub fn awaited(record: &Record) -> Self {
        let object = match Wait::from_byte(record.detail) {
            Some(Wait::Sleep | Wait::Timer) => return Self::default(),
            Some(Wait::Join) => THREADS | record.object,
            Some(
                Wait::Mutex
                | Wait::Condition
                | Wait::Semaphore
                | Wait::ReadLock
                | Wait::WriteLock
                | Wait::Futex
                | Wait::Once
                | Wait::Barrier,
            ) => record.object >> 3,
            _ => return Self::everything(),
        };
        Self { objects: vec![(object, false)], everything: false }
    }

    /// That of something of which nothing is known.
    pub fn everything() -> Self {
        Self { objects: Vec::new(), everything: true }
    }

    /// Whether it may have to do with anything.
    pub fn is_everything(&self) -> bool {
        self.everything
    }

    /// The objects that are touched, and whether they are changed.
    pub fn objects(&self) -> &[(u64, bool)] {
        &self.objects
    }

    /// Takes whatever it touches to be changed, if so.
    pub fn changes_all(&mut self, so: bool) {
        self.objects.iter_mut().for_each(|(_, changes)| *changes |= so);
    }

    /// Whether the order of the two matters.
    pub fn conflicts(&self, other: &Self) -> bool {
        let meets = |&(object, changes): &(u64, bool)| {
            other.objects.iter().any(|&(also, too)| also == object && (changes || too))
        };
        self.everything || other.everything || self.objects.iter().any(meets)
    }
}

/// The past of an execution, as a number: equal for equal pasts, and different for different ones but for a chance of
/// one in 2^128. Every event is known by its thread, its place, and its own past.
#[derive(Default)]
pub(crate) struct Past {
    /// The sum of all events, whatever their order.
    sum: u128,
    /// The last event of each thread.
    threads: Vec<u128>,
    /// The last change of each object, and the sum of what looked at it since.
    objects: HashMap<u64, (u128, u128), BuildHasherDefault<Spread>>,
    /// The last event that had to do with everything.
    barrier: u128,
}

impl Past {
    /// An event happens.
    pub fn note(&mut self, record: &Record, footprint: &Footprint) {
        let index = record.thread as usize;
        if self.threads.len() <= index {
            self.threads.resize(index + 1, 0);
        }
        let mut event = mix(self.threads[index], u128::from(record.thread) << 64 | u128::from(record.code));
        event = mix(event, u128::from(record.kind as u8) << 8 | u128::from(record.detail));
        event = mix(event, if footprint.everything { self.sum } else { self.barrier });
        for &(object, changes) in &footprint.objects {
            let (changed, seen) = self.objects.get(&object).copied().unwrap_or_default();
            event = mix(event, changed.wrapping_add(if changes { seen } else { 0 }));
        }
        for &(object, changes) in &footprint.objects {
            let known = self.objects.entry(object).or_default();
            *known = if changes { (event, 0) } else { (known.0, known.1.wrapping_add(event)) };
        }
        if footprint.everything {
            self.barrier = event;
        }
        self.threads[index] = event;
        self.sum = self.sum.wrapping_add(event);
    }

    /// The number.
    pub fn number(&self) -> u128 {
        self.sum
    }
}

/// One more word of a hash.
pub(crate) const fn mix(state: u128, word: u128) -> u128 {
    let mixed = (state.rotate_left(41) ^ word).wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835);
    mixed ^ (mixed >> 67)
}

/// Object numbers differ in their lower bits, and that is all that a hash table needs.
#[derive(Default)]
pub(crate) struct Spread(u64);

impl std::hash::Hasher for Spread {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(u64::from(byte)));
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0 ^ number).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(26);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn past(records: &[(u32, Kind, u64)]) -> u128 {
        let mut past = Past::default();
        for &(thread, kind, object) in records {
            let code = u64::from(thread) * 100 + kind as u64;
            let record = Record { thread, kind, object, size: 4, code, ..Record::default() };
            past.note(&record, &Footprint::of(&record, false));
        }
        past.number()
    }

    #[test]
    fn only_the_order_of_what_conflicts_counts() {
        use Kind::{Lock, Read, Write, Yield};
        assert_eq!(past(&[(0, Write, 8), (1, Write, 16)]), past(&[(1, Write, 16), (0, Write, 8)]));
        assert_eq!(past(&[(0, Read, 8), (1, Read, 8)]), past(&[(1, Read, 8), (0, Read, 8)]));
        assert_ne!(past(&[(0, Write, 8), (1, Read, 8)]), past(&[(1, Read, 8), (0, Write, 8)]));
        assert_ne!(past(&[(0, Write, 8), (1, Write, 8)]), past(&[(1, Write, 8), (0, Write, 8)]));
        assert_ne!(past(&[(0, Lock, 64), (1, Lock, 64)]), past(&[(1, Lock, 64), (0, Lock, 64)]));
        assert_ne!(past(&[(0, Kind::Io, 1), (1, Write, 8)]), past(&[(1, Write, 8), (0, Kind::Io, 1)]));
        assert_ne!(past(&[(0, Kind::End, 0), (1, Write, 8)]), past(&[(1, Write, 8), (0, Kind::End, 0)]));
        assert_eq!(past(&[(0, Yield, 0), (1, Write, 8)]), past(&[(1, Write, 8), (0, Yield, 0)]));
        // Two readers between two writers, in either order; but not after them.
        let readers = [(1, Read, 8), (2, Read, 8)];
        let swapped = [(2, Read, 8), (1, Read, 8)];
        let with = |readers: [(u32, Kind, u64); 2]| past(&[(0, Write, 8), readers[0], readers[1], (3, Write, 8)]);
        assert_eq!(with(readers), with(swapped));
        assert_ne!(with(readers), past(&[(0, Write, 8), (1, Read, 8), (3, Write, 8), (2, Read, 8)]));
    }
}
