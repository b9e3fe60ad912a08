//! The variables whose accesses a walk counts: fixed addresses, and blocks from an allocator call. Also the events of
//! its read constraints.
//!
//! If a plan tracks few variables, each of their bytes has a mark, and the hooks of plain accesses count accesses of
//! marked memory themselves: see [`RH_LEFT`].

use crate::{Global, arena, log, schedule, server, start, sys, thread};
use racehunter_abi::control::{MOST_TRACKED, Tracked};
use racehunter_abi::{Kind, Record, ThreadId};
use racehunter_machine::memory::{self, Block, extended};

struct Tracking {
    variables: [Tracked; MOST_TRACKED],
    /// Variables without marks, in the order of their addresses.
    blocks: *mut Block,
    count: usize,
    room: usize,
}

/// Whether there are any.
#[unsafe(link_section = ".data.racehunter")]
static ACTIVE: Global<bool> = Global::new(false);
static TRACKING: Global<Tracking> = Global::new(Tracking {
    variables: [Tracked { object: 0, allocated_at: 0 }; MOST_TRACKED],
    blocks: core::ptr::null_mut(),
    count: 0,
    room: 0,
});

/// Whether the walk has read constraints.
static CONSTRAINED: Global<bool> = Global::new(false);

/// Sites with a flag check only accesses from this address on, within this many bytes. If the plan tracks few sites,
/// the range covers its variables; otherwise everything.
#[unsafe(no_mangle)]
#[unsafe(link_section = ".data.racehunter")]
pub(crate) static __rh_look_from: Global<usize> = Global::new(0);
#[unsafe(no_mangle)]
#[unsafe(link_section = ".data.racehunter")]
pub(crate) static __rh_look_bytes: Global<usize> = Global::new(usize::MAX);

/// The mark of an address is at `base + address mod 2^44`. Null if there are none.
#[unsafe(link_section = ".data.racehunter")]
pub(crate) static RH_MARKS: Global<*mut u8> = Global::new(core::ptr::null_mut());
const MARKS: usize = 1 << 44;
/// Larger blocks have no marks, which take as much memory again.
const LARGE: usize = 1 << 20;

/// Whether there are also variables without marks.
#[unsafe(link_section = ".data.racehunter")]
pub(crate) static RH_UNMARKED: Global<u8> = Global::new(0);

/// Number of accesses of marked memory up to the one that needs attention, because priorities change there. 0: all do.
#[unsafe(link_section = ".data.racehunter")]
pub(crate) static RH_LEFT: Global<u64> = Global::new(0);
/// Its value when the walk was last updated.
#[unsafe(link_section = ".data.racehunter")]
static LEFT_BEFORE: Global<u64> = Global::new(0);

/// Adds this memory to the range that is checked.
fn look_at(start: usize, end: usize) {
    let whole = extended(Block { start: __rh_look_from.get(), size: __rh_look_bytes.get() }, start, end);
    __rh_look_from.set(whole.start);
    __rh_look_bytes.set(whole.size);
}

/// Takes the variables of the plan.
pub(crate) unsafe fn begin() {
    let variables = (*server::slot()).tracked;
    CONSTRAINED.set((*server::slot()).constraints[0].reader != 0);
    ACTIVE
        .set(CONSTRAINED.get() || variables.iter().any(|variable| variable.object != 0 || variable.allocated_at != 0));
    *TRACKING.ptr() = Tracking { variables, blocks: core::ptr::null_mut(), count: 0, room: 0 };
    RH_LEFT.set(0);
    LEFT_BEFORE.set(0);
    RH_UNMARKED.set(0);
    if server::is_selective() {
        __rh_look_bytes.set(0);
        RH_MARKS.set(sys::reserve(0, MARKS));
        for object in variables.iter().map(|variable| variable.object as usize).filter(|&object| object != 0) {
            look_at(object, object + 1);
            mark(object, 1, 1);
        }
    }
}

#[inline(always)]
pub(crate) fn is_active() -> bool {
    ACTIVE.get()
}

/// Whether the walk has read constraints.
pub(crate) fn has_constraints() -> bool {
    CONSTRAINED.get()
}

/// Whether blocks of memory are variables.
pub(crate) unsafe fn has_blocks() -> bool {
    (*TRACKING.ptr()).variables.iter().any(|variable| variable.allocated_at != 0)
}

/// Returns the other variables.
pub(crate) unsafe fn fixed() -> impl Iterator<Item = usize> {
    let variables = (*TRACKING.ptr()).variables;
    variables.into_iter().map(|variable| variable.object as usize).filter(|&object| object != 0)
}

unsafe fn mark_of(address: usize) -> *mut u8 {
    RH_MARKS.get().add(address % MARKS)
}

/// Marks memory, or removes the marks. Returns false if there can be none.
unsafe fn mark(start: usize, size: usize, with: u8) -> bool {
    let possible = !RH_MARKS.get().is_null() && size <= LARGE;
    if possible {
        core::ptr::write_bytes(mark_of(start), with, size);
    }
    possible
}

/// Returns how many accesses of the variables the hooks have counted since the last call, and resets the count.
pub(crate) fn take_counted() -> u64 {
    let counted = LEFT_BEFORE.get() - RH_LEFT.get();
    LEFT_BEFORE.set(0);
    RH_LEFT.set(0);
    counted
}

/// Lets the hooks count this many accesses of the variables by themselves, except the last.
pub(crate) fn let_count(left: u64) {
    RH_LEFT.set(left);
    LEFT_BEFORE.set(left);
}

/// Handles a logged event. Before there is a second thread, nothing can come between two accesses. The start of a
/// thread counts as an access by it: others may have to come before its first one.
pub(crate) unsafe fn note(record: &Record) {
    if CONSTRAINED.get() {
        schedule::performed(record);
        return;
    }
    if record.kind == Kind::Create {
        schedule::created(record.thread, ThreadId(record.object as u32));
        return;
    }
    let Some(object) = record.variable() else { return };
    if thread::COUNT.get() <= 1 {
        return;
    }
    if has(object as usize) {
        schedule::accessed(record.thread);
    }
}

/// Returns whether the object is one of the variables, or inside one.
pub(crate) unsafe fn has(object: usize) -> bool {
    // All variables are within the range that sites with a flag check.
    if object.wrapping_sub(__rh_look_from.get()) >= __rh_look_bytes.get() {
        return false;
    }
    if !RH_MARKS.get().is_null() && *mark_of(object) != 0 {
        return true;
    }
    let tracking = TRACKING.ptr();
    let fixed = (*tracking).variables.iter().any(|variable| variable.object == object as u64 && object != 0);
    fixed || memory::contains(blocks(), object)
}

unsafe fn blocks() -> &'static [Block] {
    let tracking = TRACKING.ptr();
    if (*tracking).count == 0 { &[] } else { core::slice::from_raw_parts((*tracking).blocks, (*tracking).count) }
}

/// Handles an allocated block. Returns whether it is one of the variables.
pub(crate) unsafe fn begins(start: usize, size: usize, code: usize) -> bool {
    let tracking = TRACKING.ptr();
    if !is_active() {
        return false;
    }
    let code = log::relative(code);
    if !(*tracking).variables.iter().any(|variable| variable.allocated_at == code.0 && code.is_known()) {
        return false;
    }
    if !mark(start, size, 1) {
        add_block(start, size);
    }
    if server::is_selective() {
        look_at(start, start + size.max(1));
    }
    true
}

unsafe fn add_block(start: usize, size: usize) {
    let tracking = TRACKING.ptr();
    RH_UNMARKED.set(1);
    if (*tracking).count == (*tracking).room {
        let room = ((*tracking).room * 2).max(64);
        let larger = arena::take(room * size_of::<Block>()) as *mut Block;
        if (*tracking).count > 0 {
            core::ptr::copy_nonoverlapping((*tracking).blocks, larger, (*tracking).count);
        }
        ((*tracking).blocks, (*tracking).room) = (larger, room);
    }
    let position = memory::position(blocks(), start);
    let place = (*tracking).blocks.add(position);
    core::ptr::copy(place, place.add(1), (*tracking).count - position);
    *place = Block { start, size };
    (*tracking).count += 1;
}

/// Handles a freed block with this capacity.
pub(crate) unsafe fn ends(start: usize, room: usize) {
    start::freed(start, room);
    if !is_active() {
        return;
    }
    let tracking = TRACKING.ptr();
    if !RH_MARKS.get().is_null() && *mark_of(start) != 0 {
        mark(start, room.min(LARGE), 0);
        // A fixed address is a variable, whatever the memory is used for.
        let fixed = (*tracking).variables.iter().map(|variable| variable.object as usize);
        for object in fixed.filter(|&object| object.wrapping_sub(start) < room && object != 0) {
            mark(object, 1, 1);
        }
        return;
    }
    if let Some(position) = memory::find(blocks(), start) {
        (*tracking).count -= 1;
        let place = (*tracking).blocks.add(position);
        core::ptr::copy(place.add(1), place, (*tracking).count - position);
    }
}
