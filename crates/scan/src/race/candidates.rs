//! Candidates: pairs of accesses that nothing excludes, neither locks nor threads nor an order.
//!
//! A pair is dropped only by a rule that proves that its accesses cannot race; [`candidates`] lists the rules, the
//! cheapest first. A program without candidates and without gaps has no data race.

use super::access::Access;
use super::ranking::rank;
use crate::domain::congruence::Congruence;
use crate::locks::{lockset, striping};
use crate::order::gate::Gates;
use crate::order::{is_ordered, unique};
use crate::pointer::address::{Base, BaseId};
use crate::pointer::{InstanceId, PointsTo, ThreadId};
use crate::ranges::LazyRanges;
use crate::solver::invariants::Invariants;
use crate::threads::groups::ThreadGroups;
use crate::threads::parallel::ThreadTree;
use racehunter_ir::Operand;
use rustc_hash::{FxHashMap, FxHashSet};

/// Two accesses that may race.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    /// The memory that they touch.
    pub base: BaseId,
    /// One.
    pub first: &'a Access,
    /// The other.
    pub second: &'a Access,
    /// True if nothing known speaks against it.
    pub sure: bool,
}

/// Memory that two accesses share: a base, and the offset of each access.
pub type CommonMemory = (BaseId, Congruence, Congruence);

impl Candidate<'_> {
    /// Returns what both touch.
    pub fn common(&self) -> CommonMemory {
        let (one, other) = (self.first.offset, self.second.offset);
        (self.base, one.min(other), one.max(other))
    }
}

/// Pairs that nothing excludes.
#[derive(Debug, Default)]
pub struct Candidates<'a> {
    /// The most convincing ones, in order.
    pub best: Vec<Candidate<'a>>,
    /// Their number, up to a limit.
    pub total: usize,
    /// The number of pairs on the same memory.
    pub alike: FxHashMap<CommonMemory, usize>,
    /// Calls that may close a file descriptor while another thread uses it. Which numbers are the same descriptor is not known
    /// well enough to suspect a pair.
    pub closing: Vec<(InstanceId, u32)>,
}

/// Maximum number of pairs to keep; a longer report would be useless.
const MOST_KEPT: usize = 2000;
/// Maximum number of pairs to look for: a program with more is far from a proof.
const MOST_FOUND: usize = 1_000_000;
/// The same for one piece of memory, so that others are considered too.
const MOST_OF_ONE: usize = 20_000;

/// What proves that two accesses cannot race.
pub struct Rules<'a, 'r, 'p> {
    /// The points-to sets.
    pub points_to: &'a PointsTo<'p>,
    /// The threads that may be running at each point.
    pub tree: &'a ThreadTree,
    /// Threads that loops create.
    pub groups: &'a ThreadGroups,
    /// Facts about the whole program.
    pub invariants: &'a Invariants,
    /// The ranges of numbers.
    pub ranges: &'a LazyRanges<'r, 'p>,
    /// Locks that are held from the creation of a thread until it ends.
    pub gates: &'a Gates,
}

impl Rules<'_, '_, '_> {
    /// Returns true if two accesses to a base are ordered, or touch different memory.
    pub fn exclude(&self, base: BaseId, first: &Access, second: &Access) -> bool {
        let Self { points_to, tree, groups, invariants, ranges, gates } = *self;
        !first.offset.overlaps(first.bytes, second.offset, second.bytes)
            || !tree.may_happen_in_parallel((first.thread, &first.state), (second.thread, &second.state))
            || lockset::excludes(&first.state.lockset, &second.state.lockset)
            || lockset::excludes_by_distance(first, second)
            || striping::are_excluded(ranges, first, second)
            || is_own(points_to, groups, first, second)
            || unique::are_apart(invariants, first, second)
            || gates.excludes(first, second)
            || is_ordered(points_to, groups, invariants, gates, first, second)
            || ranges.get().is_some_and(|ranges| ranges.are_apart(base, first, second))
            || striping::are_in_different_parts(points_to, ranges, first, second)
    }
}

/// Finds all pairs that nothing excludes.
pub fn candidates<'a>(rules: &Rules<'_, '_, '_>, accesses: &'a FxHashMap<BaseId, Vec<Access>>) -> Candidates<'a> {
    let Rules { points_to, tree, .. } = *rules;
    let mut found = Candidates::default();
    let mut bases: Vec<&BaseId> = accesses.keys().collect();
    bases.sort();
    'search: for &base in bases {
        if let Base::Variable(variable) = points_to.describe(base)
            && points_to.program.variable_flags(*variable).0
        {
            continue;
        }
        let list = &accesses[&base];
        // Users do not distinguish instances of an instruction.
        let mut told: FxHashSet<_> = FxHashSet::default();
        'base: for (index, first) in list.iter().enumerate() {
            for second in &list[index..] {
                if !(first.write || second.write) || (first.atomic && second.atomic) {
                    continue;
                }
                if rules.exclude(base, first, second) {
                    continue;
                }
                if base == points_to.descriptors {
                    let closing = if first.write { first } else { second };
                    found.closing.push((closing.instance, closing.at));
                    continue;
                }
                let function = |access: &Access| points_to.instances[access.instance].function;
                if told.insert((function(first), first.at, function(second), second.at)) {
                    let sure = is_sure(points_to, tree, base, first, second);
                    let candidate = Candidate { base, first, second, sure };
                    found.total += 1;
                    *found.alike.entry(candidate.common()).or_default() += 1;
                    found.best.push(candidate);
                    if found.best.len() >= 4 * MOST_KEPT {
                        found.choose(points_to);
                    }
                    if found.total == MOST_FOUND {
                        break 'search;
                    }
                    if told.len() == MOST_OF_ONE {
                        break 'base;
                    }
                }
            }
        }
    }
    found.choose(points_to);
    found
}

impl Candidates<'_> {
    /// Sorts the most convincing pairs first. If there are too many, the best one of each piece of memory comes before
    /// all others.
    fn choose(&mut self, points_to: &PointsTo<'_>) {
        rank(points_to, &mut self.best);
        if self.best.len() > MOST_KEPT {
            let mut told = FxHashSet::default();
            let (mut first, others): (Vec<_>, Vec<_>) =
                self.best.drain(..).partition(|candidate| told.insert(candidate.common()));
            first.extend(others);
            first.truncate(MOST_KEPT);
            self.best = first;
            rank(points_to, &mut self.best);
        }
    }
}

/// Returns true if a possible race must be one, as far as the analysis can tell: it is one piece of memory, nothing
/// else is touched there, no lock may be held at both, and both threads definitely exist. Values that decide whether
/// control reaches the accesses are not considered, so even this is only a suspicion.
fn is_sure(points_to: &PointsTo<'_>, tree: &ThreadTree, base: BaseId, first: &Access, second: &Access) -> bool {
    let is_exact = |access: &Access| {
        let addresses = points_to.operand(access.instance, &access.address);
        access.offset.only().is_some() && addresses.only().is_some() && !access.atomic
    };
    points_to.is_strong(base)
        && is_exact(first)
        && is_exact(second)
        && !lockset::may_exclude(first, second)
        && tree.must_happen_in_parallel((first.thread, &first.state), (second.thread, &second.state))
}

/// Returns true if both accesses are to memory that threads have for themselves: two members of a thread group, or a
/// member and its creator, before it has created the member or after it has joined it.
fn is_own(points_to: &PointsTo<'_>, groups: &ThreadGroups, first: &Access, second: &Access) -> bool {
    let (one, other) = (&first.address, &second.address);
    let of_creator = |thread: ThreadId, access: &Access, address: &Operand| {
        let place = (access.instance, access.at);
        let next = groups.of_next(points_to, thread, place, address, access.bytes);
        next.or_else(|| groups.of_joined(points_to, thread, place, address, access.bytes))
    };
    let (left, right) = if first.thread == second.thread {
        let own = |groups: &ThreadGroups, access: &Access, address: &Operand| {
            groups.own(points_to, access.thread, access.instance, address, access.bytes)
        };
        (own(groups, first, one), own(groups, second, other))
    } else if let Some(theirs) = of_creator(second.thread, first, one) {
        (Some(theirs), groups.own(points_to, second.thread, second.instance, other, second.bytes))
    } else if let Some(next) = of_creator(first.thread, second, other) {
        (groups.own(points_to, first.thread, first.instance, one, first.bytes), Some(next))
    } else {
        return false;
    };
    left.is_some() && left == right
}
