//! Lock striping: `lock(&locks[i]); table[i].x++`, and hash tables with a lock for each bucket.
//!
//! Both addresses are computed from the same index, and the lock's from nothing else. Two overlapping accesses are to
//! the same row of the table, if neither leaves its row. So both indices are equal, and so are the locks, if table and
//! locks are one piece of memory each. The index may be computed twice: equal operations on equal values have equal
//! results.

use crate::domain::linear::{InstanceValue, Linear, linear, passed};
use crate::locks::lockset::LockId;
use crate::pointer::address::BaseId;
use crate::pointer::{InstanceId, PointsTo};
use crate::race::access::Access;
use crate::ranges::LazyRanges;
use crate::solver::{Solver, State};
use crate::threads::groups::one_place;
use racehunter_ir::{BinaryOperator, CastOperator, Operand, Operation};

/// Maximum depth to which computations are compared.
const DEPTH: u32 = 8;

/// A lock that is held at an access, identified by the row that is accessed.
#[derive(Clone, Debug)]
pub struct StripedLock {
    /// The start of the table, and the distance between rows in bytes.
    table: (BaseId, i64, u64),
    /// The same for the locks.
    locks: (BaseId, i64, u64),
    shared: bool,
    /// The offset in the row: a constant, and multiples of other values.
    constant: i64,
    others: Vec<(u64, InstanceValue)>,
}

/// Returns the locks held at an access that are identified by its row.
pub fn held(
    points_to: &PointsTo<'_>,
    solver: &Solver<'_, '_>,
    id: InstanceId,
    address: &Operand,
    state: &State,
) -> Vec<StripedLock> {
    let mut found = Vec::new();
    for lock in state.lockset.iter().filter(|lock| lock.if_zero.is_none()) {
        let LockId::Relative(index) = lock.id else { continue };
        let form = &solver.sums[index as usize].0;
        let access = linear(points_to, id, address);
        found.extend(striped_lock(points_to, form, &access, lock.shared));
    }
    found
}

fn striped_lock(points_to: &PointsTo<'_>, lock: &Linear, access: &Linear, shared: bool) -> Option<StripedLock> {
    let [(lock_scale, number)] = &lock.terms[..] else { return None };
    let (locks, lock_begin) = one_place(points_to, &lock.root)?;
    let (table, table_begin) = one_place(points_to, &access.root)?;
    let at = access.terms.iter().position(|(_, value)| is_same(points_to, value, number, DEPTH))?;
    let scale = access.terms[at].0;
    let mut others = access.terms.clone();
    others.remove(at);
    Some(StripedLock {
        table: (table, table_begin, scale),
        locks: (locks, lock_begin.wrapping_add(lock.constant), *lock_scale),
        shared,
        constant: access.constant,
        others,
    })
}

/// Returns true if two values are computed by the same operations from the same values.
pub fn is_same(points_to: &PointsTo<'_>, one: &InstanceValue, other: &InstanceValue, depth: u32) -> bool {
    if one == other {
        return !matches!(one.1, Operand::Undefined);
    }
    let Some(depth) = depth.checked_sub(1) else { return false };
    for (from, to) in [(one, other), (other, one)] {
        if let Some(argument) = passed(points_to, from.0, &from.1) {
            return is_same(points_to, &argument, to, depth);
        }
    }
    let (Operand::Instruction(left), Operand::Instruction(right)) = (&one.1, &other.1) else {
        return matches!((&one.1, &other.1), (Operand::Integer(left), Operand::Integer(right)) if left == right);
    };
    let code = |id: InstanceId| points_to.code(id);
    let (left, right) = (code(one.0).instruction(*left), code(other.0).instruction(*right));
    let is_pure = match left.operation {
        // Floating-point operations are not distinguished.
        Operation::Binary(operator) => operator != BinaryOperator::Float,
        Operation::Compare(_) | Operation::Select => true,
        Operation::Cast(operator) => operator != CastOperator::Float,
        _ => false,
    };
    is_pure
        && left.operation == right.operation
        && left.ty == right.ty
        && left.operands.len() == right.operands.len()
        && left
            .operands
            .iter()
            .zip(&right.operands)
            .all(|(left, right)| is_same(points_to, &(one.0, left.clone()), &(other.0, right.clone()), depth))
}

/// Returns true if both accesses hold the lock of their row, which is the same if they overlap.
pub fn are_excluded(ranges: &LazyRanges<'_, '_>, first: &Access, second: &Access) -> bool {
    first.striped_locks.iter().any(|one| {
        second.striped_locks.iter().any(|other| {
            one.table == other.table
                && one.locks == other.locks
                && !(one.shared && other.shared)
                && are_in_rows(ranges, (one, first.bytes), (other, second.bytes))
        })
    })
}

/// Returns true if two accesses to different rows are disjoint: both stay within the same part of their rows.
fn are_in_rows(ranges: &LazyRanges<'_, '_>, first: (&StripedLock, u64), second: (&StripedLock, u64)) -> bool {
    let reach = |(row, bytes): (&StripedLock, u64)| reach(ranges, row.constant, &row.others, bytes);
    let (Some((low, high)), Some((other_low, other_high))) = (reach(first), reach(second)) else { return false };
    high.max(other_high) - low.min(other_low) <= i128::from(first.0.table.2)
}

/// Returns the touched bytes: a constant offset from a root, and multiples of other values.
fn reach(
    ranges: &LazyRanges<'_, '_>,
    constant: i64,
    others: &[(u64, InstanceValue)],
    bytes: u64,
) -> Option<(i128, i128)> {
    let (mut low, mut high) = (i128::from(constant), i128::from(constant) + i128::from(bytes));
    for (scale, value) in others {
        let (least, most) = ranges.get()?.bounds(value)?;
        low += i128::from(*scale) * i128::from(least);
        high += i128::from(*scale) * i128::from(most);
    }
    Some((low, high))
}

/// Returns true if two accesses are to different parts of the rows of a table, whichever rows these are: a lock in each
/// row, and the data after it.
pub fn are_in_different_parts(
    points_to: &PointsTo<'_>,
    ranges: &LazyRanges<'_, '_>,
    first: &Access,
    second: &Access,
) -> bool {
    let forms = [first, second].map(|access| linear(points_to, access.instance, &access.address));
    let [Some((table, begin)), Some((other, other_begin))] =
        forms.each_ref().map(|form| one_place(points_to, &form.root))
    else {
        return false;
    };
    let part = |form: &Linear, begin: i64, row: u64, bytes: u64| {
        let at = form.terms.iter().position(|(scale, _)| *scale == row)?;
        let mut others = form.terms.clone();
        others.remove(at);
        reach(ranges, form.constant.checked_add(begin)?, &others, bytes)
    };
    let [one, two] = &forms;
    table == other
        && one.terms.iter().any(|&(row, _)| {
            let parts = (part(one, begin, row, first.bytes), part(two, other_begin, row, second.bytes));
            let (Some((low, high)), Some((other_low, other_high))) = parts else { return false };
            let is_apart = high <= other_low || other_high <= low;
            is_apart && high.max(other_high) - low.min(other_low) <= i128::from(row)
        })
}
