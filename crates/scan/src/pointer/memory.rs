//! The contents of a base's memory, by offset.

use super::{POINTER, ProgramPoint};
use crate::domain::congruence::Congruence;
use crate::pointer::address::Addresses;
use std::collections::{BTreeMap, BTreeSet};

/// The possible contents of memory at an offset, and their writers.
#[derive(Clone, Debug, Default)]
pub(super) struct Slot {
    pub(super) content: Addresses,
    pub(super) writers: BTreeSet<ProgramPoint>,
    /// True if a number that was not derived from a pointer was stored there.
    pub(super) numbers: bool,
}

/// Pointers in the memory of a base. Most are at exact offsets, and most reads need one offset, so they are looked up
/// directly.
#[derive(Clone, Debug, Default)]
pub(super) struct Slots {
    exact: BTreeMap<i64, Slot>,
    strided: BTreeMap<Congruence, Slot>,
}

impl Slots {
    pub(super) fn len(&self) -> usize {
        self.exact.len() + self.strided.len()
    }

    pub(super) fn contains(&self, at: Congruence) -> bool {
        at.only().map_or_else(|| self.strided.contains_key(&at), |at| self.exact.contains_key(&at))
    }

    /// Returns the slot at an offset, and creates it if necessary.
    pub(super) fn at(&mut self, at: Congruence) -> &mut Slot {
        match at.only() {
            Some(at) => self.exact.entry(at).or_default(),
            None => self.strided.entry(at).or_default(),
        }
    }

    /// Returns the slots that may overlap with this many bytes at an offset.
    pub(super) fn overlapping(&self, at: Congruence, bytes: u64) -> impl Iterator<Item = &Slot> {
        let width = i64::try_from(bytes).unwrap_or(i64::MAX);
        let (first, end) = match at.only() {
            Some(at) => (at.saturating_sub(POINTER as i64), at.saturating_add(width)),
            None => (i64::MIN, i64::MAX),
        };
        let exact = self.exact.range(first..=end).map(|(&at, cell)| (Congruence::exact(at), cell));
        let strided = self.strided.iter().map(|(&at, cell)| (at, cell));
        exact.chain(strided).filter(move |(cell, _)| cell.overlaps(POINTER, at, bytes)).map(|(_, cell)| cell)
    }

    /// Notes that numbers are stored at an offset; returns true if that is new.
    pub(super) fn mark(&mut self, at: Congruence) -> bool {
        !std::mem::replace(&mut self.at(at).numbers, true)
    }

    /// Returns true if numbers may be found in this many bytes at an offset.
    pub(super) fn has_numbers(&self, at: Congruence, bytes: u64) -> bool {
        self.overlapping(at, bytes).any(|cell| cell.numbers)
    }

    /// Returns about how many slots a look-up at an offset has to visit.
    pub(super) fn searched(&self, at: Congruence) -> usize {
        self.strided.len() + if at.only().is_some() { 1 } else { self.exact.len() }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (Congruence, &Slot)> {
        let exact = self.exact.iter().map(|(&at, cell)| (Congruence::exact(at), cell));
        exact.chain(self.strided.iter().map(|(&at, cell)| (at, cell)))
    }

    pub(super) fn values_mut(&mut self) -> impl Iterator<Item = &mut Slot> {
        self.exact.values_mut().chain(self.strided.values_mut())
    }
}
