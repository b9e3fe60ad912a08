//! Functions of the C library that a handler must not call if it may have interrupted one of them.
//!
//! `malloc`, `free` and the stream functions hold locks of the C library. A signal that arrives inside them, from
//! another thread or a timer, finds these locks taken. Here signals arrive at points, and there are none in the library,
//! so this case is not explored, and is noted instead. A program is safe if it blocks the signal around its own calls,
//! or if its handlers do not use such functions.

use super::{actions, bit};
use crate::thread::current;
use crate::{Global, free, log, schedule};
use racehunter_abi::{Escape, UNMODELLED_FUNCTION, UNMODELLED_REENTRY};

/// Signals that could have interrupted such a function.
static INTERRUPTING: Global<u64> = Global::new(0);
/// Signals whose handlers have called one, and which the interrupted thread did not send itself.
static CALLING: Global<u64> = Global::new(0);

/// Notes that the running thread calls one of these functions.
pub(crate) unsafe fn enters_library(code: usize) {
    if !actions::are_handled() || !schedule::running() || free::is_on() {
        return;
    }
    let t = current();
    let running = (*t).handler;
    if !running.is_null() && !(*running).is_own {
        CALLING.set(CALLING.get() | bit((*running).signal));
    }
    INTERRUPTING.set(INTERRUPTING.get() | actions::with_handlers() & !(*t).signal_mask);
    if CALLING.get() & INTERRUPTING.get() != 0 {
        log::escape(Escape::Unmodelled, code, (UNMODELLED_FUNCTION + UNMODELLED_REENTRY) as usize, 0);
    }
}
