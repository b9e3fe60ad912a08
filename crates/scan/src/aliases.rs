//! Which instructions may access the same memory, for an execution that observes a part of it.
//!
//! S. Bindal, S. Bansal, A. Lal, "Variable and Thread Bounding for Systematic Testing of Multithreaded Programs", 2013, section 2:
//! a static alias analysis says where a variable may be accessed, and only those places are instrumented. Start at [`aliases`].

use crate::domain::congruence::Congruence;
use crate::models::Models;
use crate::pointer::address::{Base, BaseId};
use crate::pointer::{PointsTo, Precision};
use crate::program::Program;
use crate::race::touch::touched;
use std::collections::{BTreeMap, BTreeSet};

/// Instructions of a program that is looked at, at most: the answer must not take longer than what it saves.
const MOST_INSTRUCTIONS: usize = 30_000;
/// Pairs of sites, at most.
const MOST_PAIRS: usize = 4_000_000;

/// For each site, by the number that executions know it by, the sites that may access the same memory. Only plain accesses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Aliases {
    /// A byte that it may access.
    pub places: BTreeMap<u32, BTreeSet<u32>>,
    /// Any part of a variable or block that it may access a part of.
    pub objects: BTreeMap<u32, BTreeSet<u32>>,
}

/// An access: its site, where in an object it may be, and how many bytes it has.
type Access = (u32, Congruence, u64);

/// Looks where pointers lead. None when that is not known, or the program is too large.
///
/// A place of which it is not known where it leads is in no pair.
#[must_use]
pub fn aliases(program: &Program, models: &Models) -> Option<Aliases> {
    let main = program.find("main")?;
    let size: usize = program.functions().map(|function| program.function(function).0.instructions.len()).sum();
    if size > MOST_INSTRUCTIONS {
        return None;
    }
    let points_to = PointsTo::solve(program, models, main, Precision::Functions);
    if points_to.is_given_up() {
        return None;
    }
    let mut accesses: BTreeMap<BaseId, BTreeSet<Access>> = BTreeMap::new();
    for id in points_to.instances.ids() {
        let function = points_to.instances[id].function;
        for at in 0..program.function(function).0.instructions.len() as u32 {
            let Some(site) = program.site(function, at) else { continue };
            for touch in touched(&points_to, id, at).into_iter().filter(|touch| !touch.mode.is_atomic()) {
                for (base, offset) in touch.addresses.iter() {
                    if is_memory(points_to.describe(base)) {
                        accesses.entry(base).or_default().insert((site, offset, touch.bytes));
                    }
                }
            }
        }
    }
    let pairs: usize = accesses.values().map(|accesses| accesses.len().saturating_mul(accesses.len())).sum();
    if pairs > MOST_PAIRS {
        return None;
    }
    let mut found = Aliases::default();
    for accesses in accesses.values() {
        for &(site, offset, bytes) in accesses {
            let same = accesses.iter().filter(|(_, other, size)| offset.overlaps(bytes, *other, *size));
            found.places.entry(site).or_default().extend(same.map(|&(other, ..)| other));
            found.objects.entry(site).or_default().extend(accesses.iter().map(|&(other, ..)| other));
        }
    }
    Some(found)
}

/// Whether it is memory of which it is known what it is.
fn is_memory(base: &Base) -> bool {
    !matches!(base, Base::Unknown(_) | Base::Function(_) | Base::Outside(_) | Base::Handle(_))
}
