//! The memory that the controller shares with this process, and its parts.

use super::{early, sites, start};
use crate::Global;
use racehunter_abi::control::{
    FLAG_SELECTIVE, Header, LIBRARIES_OFFSET, LOG_OFFSET, Library, REGION_SIZE, SELECTED, SELECTED_OFFSET,
    SITES_OFFSET, SLOTS_OFFSET, STACKS_OFFSET, SWITCHES_OFFSET, Slot,
};
use racehunter_abi::{Record, Switch};

/// Its start; null without a controller.
#[unsafe(link_section = ".data.racehunter")]
pub(super) static REGION: Global<*mut u8> = Global::new(core::ptr::null_mut());
/// The slot of the current execution.
#[unsafe(link_section = ".data.racehunter")]
pub(super) static SLOT: Global<u32> = Global::new(0);
/// Stands in for the slot of a program that runs without a controller.
static NO_SLOT: Global<core::mem::MaybeUninit<Slot>> = Global::new(core::mem::MaybeUninit::zeroed());

pub(crate) fn header() -> *mut Header {
    REGION.get() as *mut Header
}

pub(crate) fn slot() -> *mut Slot {
    if REGION.get().is_null() {
        return NO_SLOT.ptr() as *mut Slot;
    }
    slot_at(SLOT.get())
}

pub(crate) fn slot_at(index: u32) -> *mut Slot {
    (REGION.get().wrapping_add(SLOTS_OFFSET) as *mut Slot).wrapping_add(index as usize)
}

/// Returns whether an address is in the memory that the controller and executions share.
pub(crate) fn is_own_memory(address: usize) -> bool {
    let region = REGION.get() as usize;
    (region..region + REGION_SIZE).contains(&address)
        || early::is_own_memory(address)
        || start::is_own_memory(address)
        || sites::is_own_memory(address)
}

pub(crate) fn switch_area() -> *const Switch {
    REGION.get().wrapping_add(SWITCHES_OFFSET) as *const Switch
}

pub(crate) fn stack_area() -> *mut u64 {
    REGION.get().wrapping_add(STACKS_OFFSET) as *mut u64
}

/// Returns the flags of sites, as the controller requests.
pub(crate) fn site_flags() -> *const u8 {
    REGION.get().wrapping_add(SITES_OFFSET)
}

/// Returns the sites that the plan of the current slot tracks.
pub(crate) unsafe fn selected_sites() -> &'static [u32] {
    let area = REGION.get().wrapping_add(SELECTED_OFFSET) as *const u32;
    let (first, count) = ((*slot()).selected as usize, (*slot()).selected_count as usize);
    core::slice::from_raw_parts(area.add(first.min(SELECTED)), count.min(SELECTED - first.min(SELECTED)))
}

/// Returns whether the plan tracks few sites only.
pub(crate) unsafe fn is_selective() -> bool {
    (*slot()).flags & FLAG_SELECTIVE != 0
}

/// Returns an entry of the table of libraries that were loaded late.
pub(crate) fn library(index: usize) -> *mut Library {
    (REGION.get().wrapping_add(LIBRARIES_OFFSET) as *mut Library).wrapping_add(index)
}

pub(crate) fn log_area() -> *mut Record {
    REGION.get().wrapping_add(LOG_OFFSET) as *mut Record
}
