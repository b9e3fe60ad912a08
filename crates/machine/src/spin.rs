//! Loops that wait for another thread by reading memory.
//!
//! Suppose a thread returns to an access in the same state as before, and everything that it has accessed since then
//! still has the same contents. The next iteration can then only repeat the last one: the thread waits for another one
//! to change what it has accessed. It does not matter whether the loop spins, yields or sleeps.
//!
//! A loop that counts its iterations, reads a clock, or uses synchronisation objects is never in the same state again,
//! and is not found here.
//!
//! The anchor, with which a later access is compared, moves on after 1, 2, 4, ... accesses, so that it gets into any
//! loop.

use crate::EventNumber;

/// Number of words that are compared first, because they are most likely to differ.
const FIRST: usize = 48;
/// Maximum number of places that a loop may access.
const PLACES: usize = 12;
/// Maximum number of accesses in an iteration, if only some accesses are reported.
const ROUND: u32 = 64;
/// The same, if all of them are.
const LONG_ROUND: u32 = 4096;

/// The registers and the stack of a thread. Without words there is no state.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Snapshot {
    words: usize,
    first: [usize; FIRST],
    /// A hash of the remaining words.
    rest: u64,
}

impl Snapshot {
    /// An unknown state, which is never equal to another.
    pub const NONE: Self = Self { words: 0, first: [0; FIRST], rest: 0 };

    /// Creates a snapshot from registers and stack.
    #[must_use]
    pub fn of(words: &[usize]) -> Self {
        let mut first = [0; FIRST];
        let compared = words.len().min(FIRST);
        first[..compared].copy_from_slice(&words[..compared]);
        let mix = |hash: u64, &word: &usize| (hash.rotate_left(29) ^ word as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        Self { words: words.len(), first, rest: words[compared..].iter().fold(0, mix) }
    }

    /// Adds state that is in special registers: how numbers are rounded, say.
    #[must_use]
    pub const fn with(mut self, modes: u64) -> Self {
        self.rest ^= modes.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self
    }

    /// Returns true if a thread in both states continues in the same way.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        self.words != 0 && self.words == other.words && self.first == other.first && self.rest == other.rest
    }
}

/// Memory that a thread has accessed, with its previous contents.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct Place {
    address: usize,
    size: usize,
    was: u64,
}

/// Reads memory: 1, 2, 4 or 8 bytes.
pub trait Memory {
    /// Returns the contents; an arbitrary number if nothing is mapped there.
    fn contents(&self, address: usize, size: usize) -> u64;
}

/// An access that is about to happen.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// Return address of the hook.
    pub code: usize,
    /// First byte.
    pub address: usize,
    /// Bytes.
    pub size: usize,
}

/// Detects whether a thread repeats what it did a moment ago.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Spin {
    /// The anchor; 0 means none.
    code: usize,
    address: usize,
    /// The state at the anchor, once the thread has been there a second time.
    state: Snapshot,
    /// Accesses since the anchor, and after how many of them it moves on.
    steps: u32,
    window: u32,
    /// Number of the last reported event of this thread, adjusted as if no other thread had done anything since.
    last: EventNumber,
    /// It has performed events since the anchor that were not reported.
    unseen: bool,
    /// Every access is reported, until the event with this number.
    watched_until: EventNumber,
    /// It is watched only to find out whether it is busy.
    until_busy: bool,
    /// What it has accessed since the anchor, with the contents before the first access.
    places: [Place; PLACES],
    place_count: usize,
    /// It has accessed more than fits.
    overflow: bool,
    /// It has changed something, used much memory, or done something that was not reported, since it is being watched.
    busy: bool,
}

impl Spin {
    /// The state of a new thread.
    pub const NEW: Self = Self {
        code: 0,
        address: 0,
        state: Snapshot::NONE,
        steps: 0,
        window: 1,
        last: EventNumber::START,
        unseen: false,
        watched_until: EventNumber::START,
        until_busy: false,
        places: [Place { address: 0, size: 0, was: 0 }; PLACES],
        place_count: 0,
        overflow: false,
        busy: false,
    };

    /// The state of a thread that has just waited, after `now` events.
    #[must_use]
    pub const fn anew(now: EventNumber) -> Self {
        Self { last: now, ..Self::NEW }
    }

    /// Starts to watch a thread: every event is reported, up to the event of [`Self::watched_until`], unless it is busy
    /// before.
    #[must_use]
    pub const fn watched_from(now: EventNumber) -> Self {
        Self { watched_until: EventNumber(now.0 + 4 * LONG_ROUND as u64), until_busy: true, last: now, ..Self::NEW }
    }

    /// Stops watching a thread that turned out to be busy: a watched event costs as much as fifty others.
    #[inline]
    pub const fn stop_watching_busy(&mut self) {
        if self.until_busy && self.busy {
            self.until_busy = false;
            self.watched_until = EventNumber::START;
        }
    }

    /// Returns the event up to which every access is to be reported.
    #[inline]
    #[must_use]
    pub const fn watched_until(&self) -> EventNumber {
        self.watched_until
    }

    /// Returns true if the next event must be reported, whatever it is.
    #[inline]
    #[must_use]
    pub const fn is_watched(&self, now: EventNumber) -> bool {
        now.0 < self.watched_until.0
    }

    /// Returns true if all events up to `now` were reported.
    #[must_use]
    pub const fn is_current(&self, now: EventNumber) -> bool {
        self.last.0 == now.0
    }

    fn drop_anchor(&mut self, access: &Access, memory: &impl Memory) {
        self.code = access.code;
        self.address = access.address;
        self.state = Snapshot::NONE;
        self.renew(memory);
    }

    /// Places the thread at the anchor, and forgets what it has done before.
    fn renew(&mut self, memory: &impl Memory) {
        self.busy |= self.is_busy(memory);
        self.steps = 0;
        self.unseen = false;
        self.place_count = 0;
        self.overflow = false;
    }

    /// Notes that the thread is about to touch this memory.
    pub fn note(&mut self, address: usize, size: usize, memory: &impl Memory) {
        self.steps += 1;
        let known =
            || self.places[..self.place_count].iter().any(|place| place.address == address && place.size >= size);
        if self.overflow || known() {
            return;
        }
        if !matches!(size, 1 | 2 | 4 | 8) || self.place_count == PLACES {
            self.overflow = true;
            return;
        }
        self.places[self.place_count] = Place { address, size, was: memory.contents(address, size) };
        self.place_count += 1;
    }

    /// Returns true if a watched thread does more than wait.
    #[must_use]
    pub fn is_busy(&self, memory: &impl Memory) -> bool {
        self.busy || self.overflow || self.unseen || self.is_changed(memory)
    }

    /// Returns true if the memory that it has accessed has changed.
    #[must_use]
    pub fn is_changed(&self, memory: &impl Memory) -> bool {
        self.places[..self.place_count].iter().any(|place| memory.contents(place.address, place.size) != place.was)
    }

    /// Handles an access that the thread has reached, after `now` events. Returns true if it was there before in this
    /// state.
    #[inline]
    pub fn comes(
        &mut self,
        access: &Access,
        now: EventNumber,
        memory: &impl Memory,
        snapshot: impl FnOnce() -> Snapshot,
    ) -> bool {
        let is_anchor = self.code == access.code && self.address == access.address;
        let is_watched = self.is_watched(now);
        if is_anchor && !self.overflow && !self.is_changed(memory) {
            let state = snapshot();
            let is_same = self.state.is_same(&state);
            if is_same && !self.unseen {
                return true;
            }
            if is_same && !is_watched {
                // It seems to repeat, but some of its accesses were not reported. The next iteration will contain them.
                self.watched_until = now + u64::from(LONG_ROUND);
            }
            self.state = state;
            self.renew(memory);
        } else if is_anchor {
            self.drop_anchor(access, memory);
        } else if self.code == 0 || self.steps >= self.window {
            self.drop_anchor(access, memory);
            self.window = (self.window * 2).min(if is_watched { LONG_ROUND } else { ROUND });
        }
        self.note(access.address, access.size, memory);
        false
    }

    /// Prepares to report an event that is not counted yet: all events before it must have been reported too.
    #[inline]
    pub const fn reports_next(&mut self, now: EventNumber) {
        self.unseen |= self.last.0 != now.0;
    }

    /// Notes that the reported event is the next one.
    #[inline]
    pub const fn reported_next(&mut self, now: EventNumber) {
        self.last = now.next();
    }

    /// Prepares to report an event that is already counted.
    #[inline]
    pub const fn reports_counted(&mut self, now: EventNumber) {
        self.unseen |= self.last.next().0 != now.0;
    }

    /// Notes that the reported event is the one counted last.
    #[inline]
    pub const fn reported_counted(&mut self, now: EventNumber) {
        self.last = now;
    }

    /// Notes that the thread does something that may not repeat.
    #[inline]
    pub const fn moves_on(&mut self) {
        self.code = 0;
        self.window = 1;
        self.busy = true;
    }

    /// Notes that others have performed this many events while the thread waited.
    #[inline]
    pub const fn others_went_on(&mut self, events: u64) {
        self.last = EventNumber(self.last.0 + events);
    }
}

#[cfg(test)]
mod tests;
