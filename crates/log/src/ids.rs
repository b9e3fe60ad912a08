//! What the numbers of a log are: one type for each meaning.

use std::fmt;

macro_rules! number {
    ($(#[$doc:meta])* $name:ident($inner:ty)) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub $inner);

        impl From<$inner> for $name {
            fn from(number: $inner) -> Self {
                Self(number)
            }
        }
    };
}

number! {
    /// A thread of one execution: its number in order of creation, 0 is `main`. In another schedule the same thread may have
    /// another number; see [`ThreadPath`].
    ThreadId(u32)
}

number! {
    /// A thread by its place in the family tree, which no schedule changes. See `racehunter_abi::path_of`.
    ThreadPath(u64)
}

number! {
    /// The number of an event in its execution, from 1. Entries that are not operations have the number of the event that
    /// comes next, or at which they were noticed; entries from before the first event have 0.
    EventNumber(u64)
}

number! {
    /// Where in the code: a return address, relative to the load address inside of the executable. 0 when not known.
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

impl ThreadId {
    /// The main thread.
    pub const MAIN: Self = Self(0);

    /// As an index into an array with an entry for each thread.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl ThreadPath {
    /// The path of the main thread.
    pub const MAIN: Self = Self(racehunter_abi::MAIN_PATH);
}

impl CodeAddress {
    /// Whether the place is known.
    #[must_use]
    pub const fn is_known(self) -> bool {
        self.0 != 0
    }
}

impl SiteId {
    /// As site flags and records number sites: from 1, because 0 stands for no site.
    #[must_use]
    pub const fn logged(self) -> u32 {
        self.0 + 1
    }
}

impl fmt::Display for ThreadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}
