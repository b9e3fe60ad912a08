//! Types for the numbers of an execution: one for each meaning, on both sides of the region.

use core::fmt;
use core::num::TryFromIntError;
use core::ops::{Add, Sub};

macro_rules! number {
    ($(#[$doc:meta])* $name:ident($inner:ty)) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(transparent)]
        pub struct $name(pub $inner);

        impl From<$inner> for $name {
            fn from(number: $inner) -> Self {
                Self(number)
            }
        }
    };
}

/// 64-bit numbers are stored unchanged.
macro_rules! wide {
    ($($name:ident),*) => {$(
        impl From<$name> for u64 {
            fn from(number: $name) -> Self {
                number.0
            }
        }
    )*};
}

/// 32-bit numbers are stored as 64 bits, and checked when read.
macro_rules! narrow {
    ($($name:ident),*) => {$(
        impl From<$name> for u64 {
            fn from(number: $name) -> Self {
                Self::from(number.0)
            }
        }

        impl TryFrom<u64> for $name {
            type Error = TryFromIntError;

            fn try_from(number: u64) -> Result<Self, Self::Error> {
                number.try_into().map(Self)
            }
        }
    )*};
}

number! {
    /// A thread of one execution: its number in order of creation, 0 is `main`. In another schedule the same thread may have
    /// another number; see [`ThreadPath`].
    ThreadId(u32)
}

number! {
    /// A thread by its place in the family tree, which is the same in all schedules. See [`crate::path_of`].
    ThreadPath(u64)
}

number! {
    /// The number of an event in its execution, from 1. Log entries that are not operations have the number of the next
    /// event, or of the event at which they were noticed; entries before the first event have 0.
    EventNumber(u64)
}

number! {
    /// A place in the code: a return address, relative to the load address inside the executable. 0 if unknown.
    CodeAddress(u64)
}

number! {
    /// The address of memory, or of a synchronisation object.
    Address(u64)
}

number! {
    /// The number of an instrumented instruction, from 0.
    SiteId(u32)
}

wide!(ThreadPath, EventNumber, CodeAddress, Address);
narrow!(ThreadId, SiteId);

impl ThreadId {
    /// The main thread.
    pub const MAIN: Self = Self(0);

    /// Returns the index into an array with an entry for each thread.
    #[must_use]
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for ThreadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl ThreadPath {
    /// The path of the main thread.
    pub const MAIN: Self = Self(crate::MAIN_PATH);
}

impl EventNumber {
    /// Before the first event.
    pub const START: Self = Self(0);
    /// After the last event of any execution.
    pub const NEVER: Self = Self(u64::MAX);

    /// Returns how many events it comes after another one; 0 if it comes before.
    #[must_use]
    pub const fn since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }

    /// Returns the next event.
    #[must_use]
    #[inline]
    pub const fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

/// The event this many events later.
impl Add<u64> for EventNumber {
    type Output = Self;

    #[inline]
    fn add(self, events: u64) -> Self {
        Self(self.0 + events)
    }
}

/// How many events later this one comes.
impl Sub for EventNumber {
    type Output = u64;

    #[inline]
    fn sub(self, earlier: Self) -> u64 {
        self.0 - earlier.0
    }
}

impl CodeAddress {
    /// An unknown place.
    pub const UNKNOWN: Self = Self(0);

    /// Returns whether the place is known.
    #[must_use]
    #[inline]
    pub const fn is_known(self) -> bool {
        self.0 != 0
    }
}

impl SiteId {
    /// Returns the number used in site flags and records: from 1, because 0 means no site.
    #[must_use]
    pub const fn logged(self) -> u32 {
        self.0 + 1
    }
}
