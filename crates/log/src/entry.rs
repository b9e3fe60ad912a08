//! Records, read in place.

use crate::access::Access;
use crate::event::Event;
use racehunter_abi::{Address, CodeAddress, EventNumber, Kind, Record, SiteId, ThreadId};

/// One entry of a log: a record, read where it is. What the fields of the record mean, [`Entry::event`] says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entry<'l>(pub(crate) &'l Record);

/// The entries of a log, in order.
pub fn entries(records: &[Record]) -> impl DoubleEndedIterator<Item = Entry<'_>> + ExactSizeIterator + Clone {
    records.iter().map(Entry)
}

impl<'l> Entry<'l> {
    /// A record as an entry.
    #[must_use]
    pub const fn of(record: &'l Record) -> Self {
        Self(record)
    }

    /// The number of the event, or of the event that is decided about.
    #[must_use]
    pub const fn number(self) -> EventNumber {
        self.0.index
    }

    /// The thread.
    #[must_use]
    pub const fn thread(self) -> ThreadId {
        self.0.thread
    }

    /// Where in the code.
    #[must_use]
    pub const fn code(self) -> CodeAddress {
        self.0.code
    }

    /// The instrumented instruction, if it was one.
    #[must_use]
    pub const fn site(self) -> Option<SiteId> {
        match self.0.site.checked_sub(1) {
            Some(site) => Some(SiteId(site)),
            None => None,
        }
    }

    /// Where the call stack is among those of the execution; 0 when none was taken.
    #[must_use]
    pub const fn stack(self) -> usize {
        self.0.stack as usize
    }

    /// Whether it is an operation of the program, with a number of its own. Cheaper than [`Entry::event`].
    #[must_use]
    pub const fn is_operation(self) -> bool {
        self.0.kind.is_event()
    }

    /// Whether it is an access. Cheaper than [`Entry::event`].
    #[must_use]
    pub const fn is_access(self) -> bool {
        self.0.kind.is_access()
    }

    /// Whether it is about which threads can run, or which one does. Operations and these are in the order of their numbers;
    /// the numbers of all other entries may lie in the past.
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

    /// Whether it is a decision. Cheaper than [`Entry::event`].
    #[must_use]
    pub const fn is_switch(self) -> bool {
        matches!(self.0.kind, Kind::Switch)
    }

    /// Whether it says what the runtime noticed: a race, a misuse, sharing, something outside of control, or where a thread is at the
    /// end. There are few of these in a long log. Cheaper than [`Entry::event`].
    #[must_use]
    #[inline]
    pub const fn is_report(self) -> bool {
        matches!(
            self.0.kind,
            Kind::RaceFirst | Kind::RaceSecond | Kind::Misuse | Kind::Shared | Kind::Escape | Kind::ThreadState
        )
    }

    /// The access, if it is one.
    #[must_use]
    #[inline]
    pub fn access(self) -> Option<Access> {
        self.is_access().then(|| self.decode_access())
    }

    /// The [`Event::RaceFirst`] or [`Event::RaceSecond`], if it is one. Cheaper than [`Entry::event`].
    #[must_use]
    #[inline]
    pub fn race_side(self) -> Option<Event> {
        matches!(self.0.kind, Kind::RaceFirst | Kind::RaceSecond).then(|| self.event())
    }

    /// [`Event::variable`] of what happened. Cheaper than [`Entry::event`].
    #[must_use]
    #[inline]
    pub fn variable(self) -> Option<Address> {
        self.0.variable().map(Address)
    }
}
