//! Controls what is logged.

use super::region::{REGION, SLOT, header, is_selective, slot};
use crate::{Global, hooks, modules};
use racehunter_abi::control::{
    FLAG_BRIEF, FLAG_SELECTIVE, FLAG_STACKS, FLAG_VALUES, OBSERVE_ALL, OBSERVE_CODE, OBSERVE_POINTS, SITE_POINT,
};

/// The memory that the plan watches.
#[unsafe(link_section = ".data.racehunter")]
static WATCH: Global<(usize, usize)> = Global::new((0, 0));

/// Takes what the plan of the current slot asks for.
pub(super) unsafe fn begin() {
    let slot = slot();
    let (start, size) = ((*slot).watch as usize, (*slot).watch_size as usize);
    OBSERVES.set((*slot).observe != OBSERVE_POINTS);
    if OBSERVES.get() {
        modules::flag_all(SITE_POINT);
    }
    let special = FLAG_BRIEF | FLAG_SELECTIVE | FLAG_STACKS | FLAG_VALUES;
    RECORDS.set((*slot).observe == OBSERVE_CODE && (*slot).flags & special == 0 && size == 0);
    if (*slot).observe == OBSERVE_CODE {
        hooks::__rh_tracing.set(1);
    }
    WATCH.set((start, start + size));
    // Values are read at the next access, so every access is checked.
    if size != 0 || (*slot).flags & FLAG_VALUES != 0 {
        modules::flag_all(hooks::SITE_WATCHED);
    }
    if is_selective() {
        modules::select_sites();
    }
    HUSHED.set(false);
}

/// Returns whether the plan watches any of these bytes.
#[inline]
pub(crate) fn watches(address: usize, size: usize) -> bool {
    let (start, end) = WATCH.get();
    address < end && start < address + size
}

/// Whether plain accesses are only counted at present.
#[unsafe(link_section = ".data.racehunter")]
static HUSHED: Global<bool> = Global::new(false);

pub(crate) fn is_hushed() -> bool {
    HUSHED.get()
}

/// Only counts plain accesses up to the event that the plan says, if that is worthwhile. Returns whether it is.
pub(crate) unsafe fn hush() -> bool {
    /// For fewer events it takes longer to set all flags twice.
    const WORTH: u64 = 2000;
    let slot = slot();
    let looks = (*slot).watch_size != 0 || (*slot).flags & (FLAG_VALUES | FLAG_SELECTIVE) != 0;
    HUSHED.set((*slot).log_from > WORTH && !looks && (*slot).observe != OBSERVE_CODE);
    if HUSHED.get() {
        modules::hush();
    }
    HUSHED.get()
}

/// Makes them points again.
pub(crate) unsafe fn speak() {
    HUSHED.set(false);
    modules::speak();
}

/// Whether the execution is recorded, and no more is asked for: every access is logged, and the way through the code.
#[unsafe(link_section = ".data.racehunter")]
static RECORDS: Global<bool> = Global::new(false);

#[inline(always)]
pub(crate) fn records() -> bool {
    RECORDS.get()
}

/// Whether accesses that are not points are logged.
#[unsafe(link_section = ".data.racehunter")]
static OBSERVES: Global<bool> = Global::new(false);

pub(crate) fn observes() -> bool {
    OBSERVES.get()
}

/// Until the first thread is created, logs only accesses at points: those of a single thread are not shared. Returns
/// false if the plan asks for all of them.
pub(crate) unsafe fn stop_observing() -> bool {
    let plain = (*slot()).watch_size == 0 && (*slot()).flags & (FLAG_VALUES | FLAG_SELECTIVE) == 0;
    if (*slot()).observe != OBSERVE_ALL || !plain {
        return false;
    }
    OBSERVES.set(false);
    modules::unflag_all();
    true
}

/// Notes that the first thread is about to be created.
pub(crate) unsafe fn has_begun() {
    if REGION.get().is_null() {
        return;
    }
    (*header()).begun = SLOT.get() + 1;
    if (*slot()).observe == OBSERVE_ALL && !OBSERVES.get() {
        OBSERVES.set(true);
        modules::flag_all(SITE_POINT);
    }
}
