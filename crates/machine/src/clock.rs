//! Vector clocks: what each thread knows about the others.
//!
//! A thread's clock has an entry for every thread. Clocks of synchronisation objects are only as long as the number of
//! threads that existed when they were last written; missing entries are 0.
//!
//! A thread also has a *family clock*, which records only the creation and joining of threads. Accesses that it orders
//! have the same order in every schedule, and need no scheduling point.

use crate::ThreadId;

/// A thread's entry in its own clock. It grows with each release, so that accesses before and after the release
/// differ. Odd values are those of signal handlers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(transparent)]
pub struct ClockValue(pub u32);

impl ClockValue {
    /// The increment of a release.
    pub const STEP: u32 = 2;
    /// The first value of a thread.
    pub const FIRST: Self = Self(Self::STEP);
    /// The last value that a shadow word can express for a thread. A clock that has reached it stays there.
    pub const LAST: Self = Self(0xff_fffe);

    /// Returns the value after a release.
    #[inline]
    #[must_use]
    pub const fn advanced(self) -> Self {
        if self.0 + Self::STEP <= Self::LAST.0 { Self(self.0 + Self::STEP) } else { self }
    }

    /// Returns the value when a signal handler starts.
    #[must_use]
    pub const fn in_handler(self) -> Self {
        let odd = self.advanced().0 | 1;
        if odd <= Self::LAST.0 { Self(odd) } else { Self::LAST }
    }

    /// Returns the value when the last signal handler has returned.
    #[must_use]
    pub const fn out_of_handler(self) -> Self {
        Self(self.advanced().0 & !1)
    }
}

/// Joins another clock into this one: each entry becomes the larger of the two.
#[inline]
pub fn join(into: &mut [u32], from: &[u32]) {
    for (into, &from) in into.iter_mut().zip(from) {
        if from > *into {
            *into = from;
        }
    }
}

/// The clocks of one thread, with an entry for every thread.
#[derive(Debug)]
pub struct ThreadClocks<'a> {
    /// The thread they belong to.
    pub thread: ThreadId,
    /// Vector clock.
    pub clock: &'a mut [u32],
    /// The part of it that is due to the creation and joining of threads alone. Its own entry is the largest number:
    /// what a thread did itself is always in its past.
    pub family: &'a mut [u32],
}

impl ThreadClocks<'_> {
    const fn index(&self) -> usize {
        self.thread.0 as usize
    }

    /// Returns the thread's own entry.
    #[inline]
    #[must_use]
    pub const fn own(&self) -> ClockValue {
        ClockValue(self.clock[self.index()])
    }

    #[inline]
    fn set_own(&mut self, value: ClockValue) {
        self.clock[self.index()] = value.0;
    }

    /// Advances the clock: the next accesses are not covered by what the thread has released so far.
    #[inline]
    pub fn tick(&mut self) {
        self.set_own(self.own().advanced());
    }

    /// Enters a signal handler. Its accesses can come between any two steps of the thread, so the thread's own past is
    /// checked too from now on.
    pub fn enter_handler(&mut self) {
        self.family[self.index()] = 0;
        self.set_own(self.own().in_handler());
    }

    /// Leaves the last signal handler.
    pub fn leave_handler(&mut self) {
        self.set_own(self.own().out_of_handler());
    }

    /// Returns true if the thread is ordered after what another thread, or it itself, did when that thread's own entry
    /// had this value.
    #[must_use]
    pub fn knows(&self, thread: ThreadId, value: ClockValue) -> bool {
        thread == self.thread || self.clock[thread.0 as usize] >= value.0
    }

    /// Returns the same, by creation and joining of threads alone.
    #[must_use]
    pub fn knows_as_family(&self, thread: ThreadId, value: ClockValue) -> bool {
        self.family[thread.0 as usize] >= value.0
    }

    /// Acquires the clock of an object.
    #[inline]
    pub fn acquire(&mut self, carried: &[u32]) {
        join(self.clock, carried);
    }

    /// Releases the thread's clock into an object, in addition to what it carries.
    #[inline]
    pub fn release(&mut self, carried: &mut [u32]) {
        join(carried, self.clock);
        self.tick();
    }

    /// Creates a thread, which knows what its creator knows. All entries are copied, not only those of existing
    /// threads: an earlier iteration of an in-process loop may have had more threads.
    pub fn create(&mut self, child: &mut ThreadClocks<'_>) {
        let before = child.own().0;
        child.clock.copy_from_slice(&self.clock[..child.clock.len()]);
        // Clocks of an earlier iteration remain: continue from this entry's old value.
        child.set_own(ClockValue(before & !1).advanced());
        child.family.copy_from_slice(&self.family[..child.family.len()]);
        child.family[self.index()] = self.own().0;
        child.family[child.index()] = u32::MAX;
        self.tick();
    }

    /// Joins another thread.
    pub fn join_thread(&mut self, ended: &ThreadClocks<'_>) {
        join(self.clock, ended.clock);
        join(self.family, ended.family);
        self.family[ended.index()] = ended.own().0;
    }

    /// Orders everything that threads 0, 1, ... did before everything that follows; `owns` are their own entries.
    pub fn settle(&mut self, owns: impl Iterator<Item = ClockValue>) {
        for (number, own) in owns.enumerate() {
            self.clock[number] = own.0;
            self.family[number] = own.0;
        }
        self.family[self.index()] = u32::MAX;
        self.tick();
    }
}

#[cfg(test)]
mod tests;
