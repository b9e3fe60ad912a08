//! The interface for debuggers.
//!
//! Under `FLAG_DEBUG` every event passes here, just before it happens. The debugger has a breakpoint in each of the two
//! functions below, and writes the number of the wanted event to `RH_STOP_AT`. The comparison is made here, because in
//! the debugger it would take a million times as long.

use crate::Global;
use crate::thread::CURRENT;
use racehunter_abi::EventNumber;

/// The event to stop at, or the first one after it at which stopping is possible.
#[unsafe(no_mangle)]
#[unsafe(link_section = ".data.racehunter")]
pub(crate) static RH_STOP_AT: Global<u64> = Global::new(u64::MAX);

/// Notes that event `n` of the running thread is about to happen.
#[inline(always)]
pub(crate) unsafe fn reached(n: EventNumber) -> EventNumber {
    if n.0 >= RH_STOP_AT.get() {
        RH_STOP_AT.set(u64::MAX);
        rh_debug_stop(n.0, CURRENT.get().0);
    }
    n
}

/// Notes that the execution is about to be ended.
pub(crate) unsafe fn ends(outcome: u32) {
    if crate::schedule::flags() & racehunter_abi::control::FLAG_DEBUG != 0 {
        rh_debug_end(outcome, CURRENT.get().0);
    }
}

/// A breakpoint of the debugger at the wanted event.
#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn rh_debug_stop(event: u64, thread: u32) {
    core::hint::black_box((event, thread));
}

/// A breakpoint of the debugger at the end.
#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn rh_debug_end(outcome: u32, thread: u32) {
    core::hint::black_box((outcome, thread));
}
