//! Which operations depend on each other.
//!
//! Two operations *conflict* if they touch the same object and at least one of them changes it, or if one of them is of a
//! kind whose effects are not known precisely. The order of operations that do not conflict does not matter. This is the
//! dependence relation of partial-order reduction; every analysis uses this one.

use crate::entry::Entry;
use crate::event::Event;
use crate::operands::Blockage;
use racehunter_abi::{ThreadId, Wait, state_object};
use std::ops::Range;

/// Something that an operation touches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Touch {
    /// The object: a word of memory by an eighth of its address, or a number that is not an address.
    pub object: u64,
    /// Whether it is changed.
    pub changes: bool,
}

/// What an operation touches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Footprint {
    /// Words of memory.
    words: Range<u64>,
    /// Whether they are changed.
    changes_words: bool,
    /// Single objects; the first `few_count` entries are valid.
    few: [Touch; MOST_FEW],
    few_count: usize,
    /// It may conflict with anything.
    everything: bool,
}

/// No operation touches more single objects.
const MOST_FEW: usize = 4;

/// Objects that are not memory: threads, and thread creation. No address of a program is that high.
const THREADS: u64 = 1 << 63;
const CREATION: u64 = THREADS - 1;

/// Number of words above which an operation counts as touching everything.
const WIDE: u64 = 4096;

const fn thread_object(thread: ThreadId) -> u64 {
    THREADS | thread.0 as u64
}

impl Footprint {
    /// Returns the footprint of an operation. `time_passes`: it happens because the clock advances, which any thread
    /// could notice.
    #[must_use]
    pub fn of(entry: Entry<'_>, time_passes: bool) -> Self {
        Self::of_event(entry.thread(), &entry.event(), time_passes)
    }

    /// The same for an entry that is already decoded.
    #[must_use]
    pub fn of_event(thread: ThreadId, event: &Event, time_passes: bool) -> Self {
        let mut footprint = Self { everything: time_passes, ..Self::default() };
        match *event {
            Event::Access(access) => {
                let first = access.address.0 >> 3;
                let last = access.address.0.saturating_add(access.size.max(1) - 1) >> 3;
                footprint.everything |= last - first >= WIDE;
                if !footprint.everything {
                    footprint.words = first..last + 1;
                    footprint.changes_words = access.mode.writes();
                }
            }
            // Threads are numbered in the order of creation.
            Event::Create { child, .. } => {
                footprint.change(thread_object(child));
                footprint.change(CREATION);
            }
            Event::Join { target, .. } | Event::Detach { target } => footprint.change(thread_object(target)),
            Event::Exit => footprint.change(thread_object(thread)),
            Event::Wait { condition, mutex, .. } | Event::WaitEnd { condition, mutex, .. } => {
                footprint.change(condition.0 >> 3);
                footprint.change(mutex.0 >> 3);
            }
            Event::State { touched, .. } => {
                touched.parts().for_each(|(cell, changes)| footprint.touch(state_object(cell), changes));
            }
            // These do not affect other threads. (The end of the program does: it ends them all.)
            Event::Fence { .. } | Event::Yield | Event::Sleep => {}
            ref other => match other.synchronisation() {
                Some(object) => footprint.change(object.0 >> 3),
                None => footprint.everything = true,
            },
        }
        footprint
    }

    /// Returns the footprint of a thread that begins to wait. It changed nothing, but would not wait if another thread
    /// had changed the object before.
    #[must_use]
    pub fn awaited(on: &Blockage) -> Self {
        let object = match on.wait {
            Wait::Sleep | Wait::Timer => return Self::default(),
            Wait::Join => thread_object(on.target()),
            Wait::Mutex
            | Wait::Condition
            | Wait::Semaphore
            | Wait::ReadLock
            | Wait::WriteLock
            | Wait::Futex
            | Wait::Once
            | Wait::Barrier => on.object >> 3,
            _ => return Self::everything(),
        };
        let mut footprint = Self::default();
        footprint.touch(object, false);
        footprint
    }

    /// Returns the footprint of an operation about which nothing is known.
    #[must_use]
    pub fn everything() -> Self {
        Self { everything: true, ..Self::default() }
    }

    fn touch(&mut self, object: u64, changes: bool) {
        match self.few.get_mut(self.few_count) {
            Some(few) => {
                *few = Touch { object, changes };
                self.few_count += 1;
            }
            None => self.everything = true,
        }
    }

    fn change(&mut self, object: u64) {
        self.touch(object, true);
    }

    /// Returns whether it may conflict with anything.
    #[must_use]
    pub const fn is_everything(&self) -> bool {
        self.everything
    }

    /// Returns the objects that are touched.
    pub fn touches(&self) -> impl Iterator<Item = Touch> + Clone + '_ {
        let words = self.words.clone().map(|object| Touch { object, changes: self.changes_words });
        words.chain(self.few[..self.few_count].iter().copied())
    }

    /// Marks everything that it touches as changed.
    pub fn change_all(&mut self) {
        self.changes_words = true;
        self.few.iter_mut().for_each(|touch| touch.changes = true);
    }

    /// Returns whether the order of the two matters.
    #[must_use]
    pub fn conflicts(&self, other: &Self) -> bool {
        if self.everything || other.everything {
            return true;
        }
        let words_meet = self.words.start < other.words.end && other.words.start < self.words.end;
        words_meet && (self.changes_words || other.changes_words)
            || self.few[..self.few_count].iter().any(|touch| other.meets(touch))
            || other.few[..other.few_count].iter().any(|touch| self.meets_word(touch))
    }

    fn meets_word(&self, touch: &Touch) -> bool {
        self.words.contains(&touch.object) && (self.changes_words || touch.changes)
    }

    fn meets(&self, touch: &Touch) -> bool {
        let same = |own: &Touch| own.object == touch.object && (own.changes || touch.changes);
        self.meets_word(touch) || self.few[..self.few_count].iter().any(same)
    }
}
