//! Points at which nothing happens, handled by the fast paths of the hooks ([`crate::fast`]).
//!
//! Most accesses at points are made by a thread that certainly continues, at a place that is already in a brief log. Nothing about such
//! an access is left to do but to count it and to check it for races, as for any other access. So the hooks do only that, up to a number
//! of accesses that [`allow`] sets. Everything that could change one of the conditions calls [`end`] first, which makes up for what the
//! hooks have counted.
//!
//! A waiting loop is recognised from the accesses at its points, which are then not looked at. Such a loop is found when the turn of its
//! thread ends. Short executions are therefore not affected.

use crate::schedule::minds;
use crate::thread::{COUNT, CURRENT, thread, threads};
use crate::{Global, afterlife, hold, in_process, log, schedule, server, signals, sites, track};
use racehunter_abi::{EventNumber, ThreadId};

/// Number of further accesses that the hooks may handle, plus 1; 0: none.
#[unsafe(link_section = ".data.racehunter")]
pub(crate) static RH_SWIFT: Global<u64> = Global::new(0);
/// Its value when it was set.
#[unsafe(link_section = ".data.racehunter")]
static AT_FIRST: Global<u64> = Global::new(0);
/// The budget before the last such access.
#[unsafe(link_section = ".data.racehunter")]
pub(crate) static RH_SWIFT_AT: Global<u64> = Global::new(0);
/// The memory from the lowest stack of a thread to the highest: accesses there are looked at more closely.
#[unsafe(link_section = ".data.racehunter")]
pub(crate) static RH_STACKS_FROM: Global<usize> = Global::new(0);
#[unsafe(link_section = ".data.racehunter")]
pub(crate) static RH_STACKS_BYTES: Global<usize> = Global::new(usize::MAX);
/// Whether that is known of all threads.
#[unsafe(link_section = ".data.racehunter")]
static KNOWS_STACKS: Global<bool> = Global::new(false);

/// Bit of the flag byte of a site that is a point, in this process only: a brief log has an access there.
pub(crate) const SITE_SEEN: u8 = 0x10;

/// Whether some site has this bit.
#[unsafe(link_section = ".data.racehunter")]
static IS_USED: Global<bool> = Global::new(false);

/// Whether hooks handle no points.
#[unsafe(link_section = ".data.racehunter")]
static IS_FORBIDDEN: Global<bool> = Global::new(false);

/// The first event from which on points are handled in this way.
const FIRST: EventNumber = EventNumber(100_000);

/// Called when an access at a point, event `n`, was left out of a brief log. The log has its place, `code`.
#[inline(always)]
pub(crate) unsafe fn allow(n: EventNumber, site: *mut u8, code: usize) {
    // The processes of a loop in one process use the same flag bytes for many logs.
    if n < FIRST || site.is_null() || in_process::is_on() || minds::may_mind_code(code) {
        return;
    }
    *site |= SITE_SEEN | sites::NOTED;
    IS_USED.set(true);
    if RH_SWIFT.get() == 0 {
        begin();
    }
}

unsafe fn begin() {
    let is_tracked = track::is_active() && !minds::knows_tracked();
    let is_watched = hold::is_active() || is_tracked || server::is_hushed() || signals::has_outside();
    let certain = schedule::certain_points();
    if certain == 0 || is_watched || IS_FORBIDDEN.get() || COUNT.get() < 2 {
        return;
    }
    if !KNOWS_STACKS.get() {
        find_stacks();
    }
    RH_SWIFT.set(certain.saturating_add(1));
    AT_FIRST.set(RH_SWIFT.get());
}

/// Notes that the walk minds some places. This process may have gone on from one that was part of another walk: then some of them
/// may have the bit.
pub(crate) fn minds_places() {
    IS_FORBIDDEN.set(IS_USED.get());
}

/// Notes that there is a new thread.
pub(crate) fn has_new_thread() {
    KNOWS_STACKS.set(false);
}

/// Finds the memory in which the stacks of threads are.
unsafe fn find_stacks() {
    KNOWS_STACKS.set(true);
    let main = afterlife::stack_of_main();
    let (mut from, mut to) = (main.start, main.end);
    for t in threads().filter(|&number| number != ThreadId::MAIN).map(|number| thread(number)) {
        from = from.min((*t).fs.saturating_sub((*t).stack_size));
        to = to.max((*t).fs);
    }
    RH_STACKS_FROM.set(from);
    RH_STACKS_BYTES.set(to - from);
}

/// Lets the hooks handle no more points, and makes up for those that they have handled.
#[inline(always)]
pub(crate) unsafe fn end() {
    if RH_SWIFT.get() != 0 {
        make_up();
    }
}

unsafe fn make_up() {
    let count = AT_FIRST.get() - RH_SWIFT.get();
    RH_SWIFT.set(0);
    if count > 0 {
        let last = schedule::event_at(RH_SWIFT_AT.get() - 1);
        schedule::passed_certain(count, last);
        log::brief::has_passed(count, last, CURRENT.get());
    }
}
