//! The results of an analysis: gaps, pairs that may race, and the report that contains both.
//!
//! Other crates put these facts into words. Start at [`Report`].

use crate::pointer::{InstanceId, PointsTo};
use crate::program::SourceLocation;
use std::collections::BTreeSet;

/// Something that could not be modelled. A program with gaps is never called race-free.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Gap {
    /// What it is.
    pub what: String,
    /// Its place, if there is one.
    pub place: Option<SourceLocation>,
}

/// All gaps.
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
    /// Its place.
    pub place: SourceLocation,
    /// True if it writes.
    pub write: bool,
    /// True if it is atomic.
    pub atomic: bool,
    /// The entry function of its thread.
    pub thread: String,
    /// The functions from the thread's entry to that of the access.
    pub stack: Vec<String>,
    /// The call sites between them, followed by the access.
    pub calls: Vec<SourceLocation>,
    /// Locks that are held.
    pub locks: Vec<String>,
    /// Other locks that may be held.
    pub may_hold: Vec<String>,
    /// True if it is an instruction of the program rather than an access by a library.
    pub is_instruction: bool,
    /// The number by which executions know the instruction, if it is instrumented.
    pub site: Option<u32>,
}

/// Two accesses that may race.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The memory that they touch.
    pub what: String,
    /// Both accesses.
    pub sides: [Side; 2],
    /// Why they may happen at the same time.
    pub parallel: String,
    /// True if nothing known speaks against it.
    pub sure: bool,
    /// The number of pairs on the same memory, including this one.
    pub alike: usize,
    /// The number of that memory, in no particular order.
    pub memory: usize,
    /// The array element that one of them touches, if the other may touch any.
    pub element: Option<i64>,
}

/// The results of the analysis.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Pairs that nothing excludes, the most convincing first; not all of them if there are very many.
    pub pairs: Vec<Pair>,
    /// The number of such pairs; a million means at least a million.
    pub suspected: usize,
    /// The number of pieces of memory involved: variables, fields, arrays, allocation sites.
    pub memory: usize,
    /// Everything that could not be modelled.
    pub gaps: Vec<Gap>,
    /// Threads, by the places that create them, including the main thread.
    pub threads: usize,
    /// Instances of functions, by call site.
    pub instances: usize,
    /// True if functions were analysed only once per thread, because there are too many call sites.
    pub merged: bool,
    /// True if paths to the same point were distinguished.
    pub by_paths: bool,
    /// Why executions do not show everything that it can do; nothing if running all schedules would.
    pub open: Option<String>,
    /// True if it waits on condition variables, so that spurious wake-ups can occur.
    pub waits: bool,
}

impl Report {
    /// Returns true if the program is proved to have no race.
    pub fn is_race_free(&self) -> bool {
        self.pairs.is_empty() && self.gaps.is_empty()
    }
}
