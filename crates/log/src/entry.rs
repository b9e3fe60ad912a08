//! Log entries, read in place.

use crate::access::Access;
use crate::event::Event;
use racehunter_abi::{Address, CodeAddress, EventNumber, Kind, Record, SiteId, ThreadId};

/// One entry of a log: a record, read in place. [`Entry::event`] gives the meaning of its fields.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entry<'l>(pub(crate) &'l Record);

/// Returns the entries of a log, in order.
pub fn entries(records: &[Record]) -> impl DoubleEndedIterator<Item = Entry<'_>> + ExactSizeIterator + Clone {
    records.iter().map(Entry)
}

impl<'l> Entry<'l> {
    /// Creates the entry of a record.
    #[must_use]
    pub const fn of(record: &'l Record) -> Self {
        Self(record)
    }

    /// Returns the number of the event, or of the event that is decided about.
    #[must_use]
    pub const fn number(self) -> EventNumber {
        self.0.index
    }

    /// Returns the thread.
    #[must_use]
    pub const fn thread(self) -> ThreadId {
        self.0.thread
    }

    /// Returns the place in the code.
    #[must_use]
    pub const fn code(self) -> CodeAddress {
        self.0.code
    }

    /// Returns the instrumented instruction, if there is one.
    #[must_use]
    pub const fn site(self) -> Option<SiteId> {
        match self.0.site.checked_sub(1) {
            Some(site) => Some(SiteId(site)),
            None => None,
        }
    }

    /// Returns the offset of the call stack among those of the execution; 0 if none was recorded.
    #[must_use]
    pub const fn stack(self) -> usize {
        self.0.stack as usize
    }

    /// Returns whether it is an operation of the program, with its own number. Cheaper than [`Entry::event`].
    #[must_use]
    pub const fn is_operation(self) -> bool {
        self.0.kind.is_event()
    }

    /// Returns whether it is an access. Cheaper than [`Entry::event`].
    #[must_use]
    pub const fn is_access(self) -> bool {
        self.0.kind.is_access()
    }

    /// Returns whether it says which threads can run, or which one does. These entries and operations are in the order of their
    /// numbers; the numbers of all other entries may lie in the past.
    #[must_use]
    pub const fn is_scheduling(self) -> bool {
        matches!(
            self.0.kind,
            Kind::Blocked
                | Kind::Deadline
                | Kind::Suspended
                | Kind::Woken
                | Kind::BlockedSet
                | Kind::WokenSet
                | Kind::Switch
        )
    }

    /// Returns whether it is a decision. Cheaper than [`Entry::event`].
    #[must_use]
    pub const fn is_switch(self) -> bool {
        matches!(self.0.kind, Kind::Switch)
    }

    /// Returns whether it reports something that the runtime noticed: a race, a misuse, sharing, something outside of control, or
    /// the final state of a thread. A long log has few of these. Cheaper than [`Entry::event`].
    #[must_use]
    #[inline]
    pub const fn is_report(self) -> bool {
        matches!(
            self.0.kind,
            Kind::RaceFirst | Kind::RaceSecond | Kind::Misuse | Kind::Shared | Kind::Escape | Kind::ThreadState
        )
    }

    /// Returns whether accesses were left out here. Cheaper than [`Entry::event`].
    #[must_use]
    #[inline]
    pub const fn leaves_out(self) -> bool {
        matches!(self.0.kind, Kind::Passed)
    }

    /// Returns the access, if it is one.
    #[must_use]
    #[inline]
    pub fn access(self) -> Option<Access> {
        self.is_access().then(|| self.decode_access())
    }

    /// Returns the [`Event::RaceFirst`] or [`Event::RaceSecond`], if it is one. Cheaper than [`Entry::event`].
    #[must_use]
    #[inline]
    pub fn race_side(self) -> Option<Event> {
        matches!(self.0.kind, Kind::RaceFirst | Kind::RaceSecond).then(|| self.event())
    }

    /// Returns the [`Event::variable`] of its event. Cheaper than [`Entry::event`].
    #[must_use]
    #[inline]
    pub fn variable(self) -> Option<Address> {
        self.0.variable().map(Address)
    }
}
