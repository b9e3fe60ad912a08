//! What an analysis says: gaps, pairs that may be a race, and the report that has both.
//!
//! Wording for people is the business of other crates; here are the facts that they word. Start at [`Report`].

use crate::pointer::{InstanceId, PointsTo};
use crate::program::SourceLocation;
use std::collections::BTreeSet;

/// Something that could not be modelled. A program that has any is not called free of races.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Gap {
    /// What it is.
    pub what: String,
    /// Where it is, if it is at one place.
    pub place: Option<SourceLocation>,
}

/// All gaps that were met.
#[derive(Clone, Debug, Default)]
pub struct Gaps(pub(crate) BTreeSet<Gap>);

impl Gaps {
    /// Notes a gap at an instruction.
    pub fn add(&mut self, points_to: &PointsTo<'_>, id: InstanceId, at: u32, what: &str) {
        let place = points_to.program.place(points_to.instances[id].function, at);
        self.0.insert(Gap { what: what.to_owned(), place: Some(place) });
    }
}

/// One side of a pair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Side {
    /// Where.
    pub place: SourceLocation,
    /// Whether it writes.
    pub write: bool,
    /// Whether it is atomic.
    pub atomic: bool,
    /// The function that its thread begins with.
    pub thread: String,
    /// Functions from the thread's first to the one of the access.
    pub stack: Vec<String>,
    /// Where each of them calls the next, and, last, the access.
    pub calls: Vec<SourceLocation>,
    /// Locks that are held.
    pub locks: Vec<String>,
    /// Others that may be held.
    pub may_hold: Vec<String>,
    /// Whether it is an instruction of the program, and not a library that accesses memory.
    pub is_instruction: bool,
    /// The number that executions know the instruction by, if they hear of it.
    pub site: Option<u32>,
}

/// Two accesses that may be a race.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    /// What they touch.
    pub what: String,
    /// Both.
    pub sides: [Side; 2],
    /// Why they may happen at the same time.
    pub parallel: String,
    /// Whether nothing that is known speaks against it.
    pub sure: bool,
    /// How many pairs there are about the same memory, this one included.
    pub alike: usize,
    /// Number of that memory, in no particular order.
    pub memory: usize,
    /// The element of an array that one of them touches, where the other may touch any.
    pub element: Option<i64>,
}

/// What the analysis found out.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Pairs that nothing keeps apart, the most convincing first; if there are very many, not all of them.
    pub pairs: Vec<Pair>,
    /// How many there are; a million may be more.
    pub suspected: usize,
    /// How many pieces of memory they are about: variables, fields, arrays, what is allocated at a place.
    pub memory: usize,
    /// What could not be modelled.
    pub gaps: Vec<Gap>,
    /// Threads, by the places that create them, the main thread included.
    pub threads: usize,
    /// Instances of functions, by call site.
    pub instances: usize,
    /// Whether functions were looked at once in each thread only, because there are too many call sites.
    pub merged: bool,
    /// Whether paths to the same point were told apart.
    pub by_paths: bool,
    /// Why executions do not show all that it can do; nothing if they do, once all schedules were run.
    pub open: Option<String>,
    /// Whether it waits for conditions, so that there can be wake-ups for no reason.
    pub waits: bool,
}

impl Report {
    /// Returns true if the program is proved to have no race.
    pub fn is_race_free(&self) -> bool {
        self.pairs.is_empty() && self.gaps.is_empty()
    }
}
