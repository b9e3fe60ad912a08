//! Announces events: each comes here before it happens, and gets its number.

use super::{PLAN, RH_BUDGET, RH_STAYS, arm, count, decide_before, is_chosen_again, is_decided, now, settle, spin};
use crate::thread::current;
use crate::{debug, hold, log, modules, signals};
use racehunter_abi::control::FLAG_SELECTIVE;
use racehunter_abi::{EventNumber, Kind};

/// Announces an event that any thread can perform at any time. Returns its number.
pub(crate) unsafe fn point(code: usize) -> EventNumber {
    spin::moves_on();
    log::expect(point_at(code, 0, false))
}

/// As [`point`], for an event that changes nothing for other threads. A thread that does nothing else may be waiting
/// for something.
pub(crate) unsafe fn idle_point(code: usize) -> EventNumber {
    spin::passes();
    log::expect(point_at(code, 0, false))
}

/// As [`point`], for an access to memory.
pub(crate) unsafe fn access_point(
    code: usize,
    address: usize,
    size: usize,
    kind: Kind,
    site: *const u8,
) -> EventNumber {
    if hold::is_active() {
        (*current()).code = code;
        hold::before(address, size, kind, modules::site_number(site), code, true);
    }
    spin::before(address, size, code);
    point_at(code, address, kind.is_write())
}

/// As [`point`], for an event that reads or changes state other than memory, represented by the cells at these
/// addresses; the first of them matters most.
pub(crate) unsafe fn state_point(code: usize, mut at: impl Iterator<Item = usize>, changes: bool) -> EventNumber {
    let first = at.next().unwrap_or(0);
    if changes {
        spin::moves_on();
    } else {
        spin::before(first, size_of::<u64>(), code);
        at.for_each(|address| spin::also(address, size_of::<u64>()));
    }
    point_at(code, first, changes)
}

/// As [`point`], for an event that touches `object`.
unsafe fn point_at(code: usize, object: usize, changes: bool) -> EventNumber {
    if spin::is_awaited() {
        spin::review(now());
    }
    if let Some(n) = pass(code, object, changes) {
        return n;
    }
    let t = current();
    (*t).code = code;
    (*t).next_object = object;
    (*t).next_changes = changes;
    let n = count();
    let n = if is_decided(n) { settle(n) } else { decide_before(n, true) };
    passed_point(n);
    debug::reached(n)
}

/// If it is certain that the running thread performs its next event, a point that nothing prevents, counts it and
/// returns its number.
#[inline(always)]
pub(crate) unsafe fn pass(code: usize, object: usize, changes: bool) -> Option<EventNumber> {
    if !RH_STAYS.get() || RH_BUDGET.get() == 1 || signals::has_outside() || !is_chosen_again(code, object) {
        return None;
    }
    let t = current();
    (*t).code = code;
    (*t).next_object = object;
    (*t).next_changes = changes;
    Some(count())
}

/// Returns whether the running thread certainly performs its next event, and no thread waits for what that changes.
#[inline(always)]
pub(crate) unsafe fn continues() -> bool {
    RH_STAYS.get() && RH_BUDGET.get() > 1 && !spin::is_awaited() && !hold::is_active() && !signals::has_outside()
}

/// Notes that event `n`, which is about to happen, is a point. If the choice is partly random, and few accesses are
/// points, a decision follows each of them.
pub(super) unsafe fn passed_point(n: EventNumber) {
    let plan = PLAN.ptr();
    if (*plan).flags & FLAG_SELECTIVE != 0 && !RH_STAYS.get() {
        (*plan).behind_point = n.next();
        arm();
    }
}

/// Notes that the counted event is an iteration of a loop, which is never a point; the next event may be.
pub(crate) unsafe fn passed_round() {
    let plan = PLAN.ptr();
    if (*plan).behind_point == now() {
        (*plan).behind_point = now().next();
    }
}

/// Handles an access that is not a point, is already counted, and has used up the budget.
#[cold]
pub(crate) unsafe fn attention(code: usize) -> EventNumber {
    let t = current();
    (*t).code = code;
    // What the walk knows of its operations is about points.
    (*t).next_object = 0;
    let n = now();
    let n = if is_decided(n) { settle(n) } else { decide_before(n, false) };
    debug::reached(n)
}
