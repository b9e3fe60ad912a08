//! Handles of threads. A `pthread_t` becomes invalid when its thread is joined, or has ended detached; the C library may
//! have given its memory to another thread by then.
//!
//! A use of a handle must be ordered before that, whichever comes first in an execution.

use super::misuse;
use crate::thread::{State, Thread, current, me};
use crate::{Global, clock, free, schedule};
use racehunter_abi::Misuse;
use racehunter_abi::control::MAX_THREADS;
use racehunter_machine::{ClockValue, Owner};

/// A use of a thread's handle by another thread, when that thread's own clock had this value.
#[derive(Clone, Copy)]
struct Use {
    by: Owner,
    at: ClockValue,
}

const NOTHING: Use = Use { by: Owner::NONE, at: ClockValue(0) };

/// Maximum number of threads whose last use of a handle is known.
const MOST: usize = 4;
static USES: Global<[[Use; MOST]; MAX_THREADS]> = Global::new([[NOTHING; MOST]; MAX_THREADS]);

unsafe fn of(t: *const Thread) -> &'static mut [Use; MOST] {
    &mut (*USES.ptr())[(*t).number.index() % MAX_THREADS]
}

/// Returns whether the handle of a thread is invalid.
unsafe fn is_over(t: *const Thread) -> bool {
    (*t).joined || (*t).detached && (*t).state == State::Done
}

/// The thread gets its handle.
pub(super) unsafe fn begin(t: *const Thread) {
    let uses = of(t);
    if uses.iter().any(|used| !used.by.is_none()) {
        *uses = [NOTHING; MOST];
    }
}

/// Notes that the running thread uses a handle, in its current event.
pub(crate) unsafe fn uses(t: *mut Thread) {
    if !schedule::running() || free::is_on() || t == current() {
        return;
    }
    if is_over(t) {
        return misuse::report(Misuse::HandleOver, (*t).number.index(), Owner::NONE);
    }
    if clock::DETECTS.get() {
        let uses = of(t);
        let place = uses.iter().position(|used| used.by.is(me()) || used.by.is_none()).unwrap_or(0);
        uses[place] = Use { by: Owner::of(me()), at: clock::own() };
    }
}

/// Notes that the thread is detached: from now on its handle is valid as long as it runs.
pub(super) unsafe fn detach(t: *mut Thread) {
    for used in of(t).iter_mut().filter(|used| is_ordered(used)) {
        *used = NOTHING;
    }
    if (*t).state == State::Done {
        end(t);
    }
}

/// Ends the handle: the running thread has joined the thread, or is itself that thread.
pub(super) unsafe fn end(t: *mut Thread) {
    let uses = of(t);
    let late = uses.iter().find(|used| !is_ordered(used)).map(|used| used.by);
    begin(t);
    if let Some(by) = late {
        misuse::report(Misuse::HandleUsed, (*t).number.index(), by);
    }
}

/// Returns whether the running thread is ordered after the use.
unsafe fn is_ordered(used: &Use) -> bool {
    used.by.thread().is_none_or(|thread| clock::knows(thread, used.at))
}
