//! The variables whose accesses a walk counts: fixed addresses, and whatever a call of the allocator returns. And events that
//! its wishes are about.

use crate::{Global, arena, log, schedule, server, thread};
use racehunter_event::control::{MOST_TRACKED, Tracked};
use racehunter_event::{Kind, Record};

/// A block that one of the tracked calls has allocated.
#[derive(Clone, Copy)]
struct Block {
    start: usize,
    size: usize,
}

struct Tracking {
    variables: [Tracked; MOST_TRACKED],
    /// In the order of their addresses.
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

/// Whether the walk has wishes.
static WISHES: Global<bool> = Global::new(false);

/// Sites with a flag look closer only at accesses from this address on, and no further than so many bytes behind it. Where
/// the plan cares for few sites that is what its variables lie in; otherwise everything.
#[unsafe(no_mangle)]
#[unsafe(link_section = ".data.racehunter")]
pub(crate) static __rh_look_from: Global<usize> = Global::new(0);
#[unsafe(no_mangle)]
#[unsafe(link_section = ".data.racehunter")]
pub(crate) static __rh_look_bytes: Global<usize> = Global::new(usize::MAX);

/// Has accesses to this memory looked at, besides those that are.
fn look_at(start: usize, end: usize) {
    let (from, bytes) = (__rh_look_from.get(), __rh_look_bytes.get());
    let (first, last) = if bytes == 0 { (start, end) } else { (from.min(start), (from + bytes).max(end)) };
    __rh_look_from.set(first);
    __rh_look_bytes.set(last - first);
}

/// Takes the variables of the plan.
pub(crate) unsafe fn begin() {
    let variables = (*server::slot()).tracked;
    WISHES.set((*server::slot()).wishes[0].reader != 0);
    if server::is_selective() {
        __rh_look_bytes.set(0);
        for object in variables.iter().map(|variable| variable.object as usize).filter(|&object| object != 0) {
            look_at(object, object + 1);
        }
    }
    ACTIVE.set(WISHES.get() || variables.iter().any(|variable| variable.object != 0 || variable.allocated_at != 0));
    *TRACKING.ptr() = Tracking { variables, blocks: core::ptr::null_mut(), count: 0, room: 0 };
}

#[inline(always)]
pub(crate) fn is_active() -> bool {
    ACTIVE.get()
}

/// Whether the walk has wishes.
pub(crate) fn has_wishes() -> bool {
    WISHES.get()
}

/// An event was logged. Before there is a second thread nothing can come between two accesses. That a thread begins counts
/// as an access of it: others may have to come before its first one.
pub(crate) unsafe fn note(record: &Record) {
    if WISHES.get() {
        schedule::performed(record);
        return;
    }
    if record.kind == Kind::Create {
        schedule::created(record.thread, record.object as u32);
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

/// Whether that is one of the variables, or inside.
pub(crate) unsafe fn has(object: usize) -> bool {
    let tracking = TRACKING.ptr();
    let fixed = (*tracking).variables.iter().any(|variable| variable.object == object as u64 && object != 0);
    let after = blocks().partition_point(|block| block.start <= object);
    fixed || after > 0 && object - blocks()[after - 1].start < blocks()[after - 1].size
}

unsafe fn blocks() -> &'static [Block] {
    let tracking = TRACKING.ptr();
    if (*tracking).count == 0 { &[] } else { core::slice::from_raw_parts((*tracking).blocks, (*tracking).count) }
}

/// A block was allocated.
pub(crate) unsafe fn begins(start: usize, size: usize, code: usize) {
    let tracking = TRACKING.ptr();
    if !is_active() {
        return;
    }
    let code = log::relative(code);
    if !(*tracking).variables.iter().any(|variable| variable.allocated_at == code && code != 0) {
        return;
    }
    if (*tracking).count == (*tracking).room {
        let room = ((*tracking).room * 2).max(64);
        let larger = arena::take(room * size_of::<Block>()) as *mut Block;
        if (*tracking).count > 0 {
            core::ptr::copy_nonoverlapping((*tracking).blocks, larger, (*tracking).count);
        }
        ((*tracking).blocks, (*tracking).room) = (larger, room);
    }
    let position = blocks().partition_point(|block| block.start < start);
    let place = (*tracking).blocks.add(position);
    core::ptr::copy(place, place.add(1), (*tracking).count - position);
    *place = Block { start, size };
    (*tracking).count += 1;
    if server::is_selective() {
        look_at(start, start + size.max(1));
    }
}

/// A block was freed.
pub(crate) unsafe fn ends(start: usize) {
    if !is_active() {
        return;
    }
    let tracking = TRACKING.ptr();
    if let Ok(position) = blocks().binary_search_by_key(&start, |block| block.start) {
        (*tracking).count -= 1;
        let place = (*tracking).blocks.add(position);
        core::ptr::copy(place.add(1), place, (*tracking).count - position);
    }
}
