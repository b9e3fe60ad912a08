//! Lifetimes of local variables whose address escapes their function.
//!
//! Instrumented code announces where the block of such a variable begins and ends ([`begin`], [`end`]). Another thread may
//! still have the address after the end. It uses the variable too late if it does so after the end, or without being ordered
//! before the end.

use crate::thread::{__rh_stack, Frame, Thread, current};
use crate::{escapes, free, schedule, shadow};
use racehunter_machine::memory::{Block, overlap};
use racehunter_machine::scope::{Call, EndedScope, EndedScopes};

/// Maximum number of variables of a thread that can be known to have ended while their functions run.
const MOST: usize = 512;
/// Number of bytes that a thread needs for them, after its shadow call stack.
pub(crate) const SIZE: usize = MOST * size_of::<EndedScope>();

unsafe fn of<'a>(t: *mut Thread) -> EndedScopes<'a> {
    // SAFETY: the memory is reserved with the shadow call stack, and zeroes are a valid list. Only one thread runs at a time.
    let list = unsafe { core::slice::from_raw_parts_mut((*t).scopes, MOST) };
    EndedScopes::new(list, &mut (*t).scopes_in_use)
}

unsafe fn call_of(frame: *const Frame) -> Call {
    Call { frame: frame as usize, returns_to: (*frame).code, slot: (*frame).slot as usize }
}

/// Begins the lifetime of a variable of the running function.
pub(crate) unsafe extern "C" fn begin(address: usize, size: usize) {
    if schedule::running() && !free::is_on() {
        of(current()).begin(Block { start: address, size }, call_of(__rh_stack.get().sub(1)));
    }
}

/// Ends the lifetime of a variable of the running function.
pub(crate) unsafe extern "C" fn end(address: usize, size: usize, code: usize) {
    if !schedule::running() || free::is_on() {
        return;
    }
    let (t, memory) = (current(), Block { start: address, size });
    if overlap((*t).used_by_others, memory) && shadow::is_used_beside(address, size) {
        escapes::used_too_late(code);
    }
    of(t).end(memory, call_of(__rh_stack.get().sub(1)));
}

/// Returns whether the address is in a variable of a thread, which does not run now, after the variable's lifetime.
pub(crate) unsafe fn has_ended(t: *mut Thread, address: usize) -> bool {
    let (first, top) = ((*t).stack as usize, (*t).stack_top as usize);
    let is_there = |call: &Call| (first..top).contains(&call.frame) && call_of(call.frame as *const Frame) == *call;
    of(t).has(address, is_there)
}
