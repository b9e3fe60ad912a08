//! Objects in memory shared with other processes.
//!
//! The state of a process-shared mutex or semaphore that other processes must see is in its memory, in the C library's
//! format; models change it together with their own state. Other processes cannot be waited for as long as a thread of
//! this one can run. When none can, the memory is polled in real time. A wait on a process-shared condition variable
//! may then end without a signal, as it always may.

use super::{available, condition, mutex, semaphore};
use crate::schedule::wake;
use crate::thread::{State, Thread, every_thread};
use crate::{Global, log, mappings, sys};
use core::sync::atomic::{AtomicU32, Ordering};
use racehunter_abi::{Escape, TRACES_OF_PROCESSES, Wait};

/// The process that forked first, 0 if none did.
#[unsafe(link_section = ".data.racehunter")]
static FIRST: Global<usize> = Global::new(0);

/// Prepares for a fork.
pub(crate) unsafe fn before_fork() {
    super::named::share();
    if FIRST.get() == 0 {
        FIRST.set(sys::call(sys::GETPID, 0, 0, 0, 0) as usize);
    }
}

/// Notes the use of an object whose state is not shared with other processes. If they may use it too, the results are
/// not reliable.
pub(super) unsafe fn is_apart(at: usize) {
    static IS_TOLD: Global<bool> = Global::new(false);
    if FIRST.get() != 0 && !IS_TOLD.get() && mappings::is_shared_memory(at) {
        IS_TOLD.set(true);
        log::escape(Escape::Traces, 0, TRACES_OF_PROCESSES as usize, 0);
    }
}

/// Returns whether there are other processes that could change something.
unsafe fn has_others() -> bool {
    const EXITED_NO_HANG_NO_WAIT: usize = 4 | 1 | 0x0100_0000;
    const NO_CHILD: isize = -10;
    let first = FIRST.get();
    if first == 0 {
        return false;
    }
    let mut information = [0_u64; 16];
    let into = information.as_mut_ptr() as usize;
    sys::call(sys::GETPPID, 0, 0, 0, 0) as usize == first
        || sys::call6(sys::WAITID, 0, 0, into, EXITED_NO_HANG_NO_WAIT, 0, 0) != NO_CHILD
}

/// Returns whether the thread waits for something that another process can do.
unsafe fn waits_for_others(t: *const Thread) -> bool {
    let at = (*t).object;
    matches!((*t).state, State::Blocked | State::Suspended)
        && match (*t).pending {
            Wait::Mutex => mutex::is_shared(at),
            Wait::Semaphore => semaphore::is_shared(at),
            Wait::Condition => condition_is_shared(at),
            _ => false,
        }
}

/// The C library keeps this in a bit of the structure.
unsafe fn condition_is_shared(at: usize) -> bool {
    const REFERENCES: usize = 36;
    *((at + REFERENCES) as *const u32) & 1 != 0
}

unsafe fn pause() {
    const NANOSLEEP: usize = 35;
    let moment = [0_i64, 1_000_000];
    sys::call(NANOSLEEP, moment.as_ptr() as usize, 0, 0, 0);
}

/// Lets a thread that waits for other processes continue if it can. A waiter on a condition variable always can.
unsafe fn look(t: *mut Thread) -> bool {
    if !waits_for_others(t) {
        return false;
    }
    if (*t).pending == Wait::Condition {
        condition::end_without_signal(t);
    }
    if !available(t) && !(*t).interrupted {
        return false;
    }
    wake(t);
    true
}

/// Waits for other processes, because no thread of this process can continue. Returns false if there are none to wait
/// for, or if it took too long and there is a time-out instead.
pub(crate) unsafe fn await_others() -> bool {
    const TRIES_BEFORE_TIME_OUT: u32 = 100;
    if FIRST.get() == 0 {
        return false;
    }
    let threads = || every_thread();
    let timed = threads().any(|t| (*t).state == State::Suspended);
    let mut tries = 0;
    while threads().any(|t| waits_for_others(t)) && has_others() && !(timed && tries > TRIES_BEFORE_TIME_OUT) {
        pause();
        tries += 1;
        if arrived().is_some() {
            return true;
        }
    }
    false
}

/// Lets threads continue for which other processes have done something. Returns one of them, if there are any.
pub(crate) unsafe fn arrived() -> Option<*mut Thread> {
    if FIRST.get() == 0 {
        return None;
    }
    every_thread().fold(None, |found, t| if look(t) { Some(t) } else { found })
}

/// Called when the plan continues a thread that waits for other processes: waits until it can.
pub(crate) unsafe fn bring(t: *mut Thread) -> bool {
    while FIRST.get() != 0 && waits_for_others(t) && has_others() {
        if look(t) {
            return true;
        }
        pause();
    }
    false
}

/// A word of the C library's structure.
pub(crate) unsafe fn word(at: usize) -> &'static AtomicU32 {
    AtomicU32::from_ptr(at as *mut u32)
}

/// Wakes a waiter for the word in another process.
pub(crate) unsafe fn wake_others(word: &AtomicU32) {
    const WAKE: usize = 1;
    sys::call(sys::FUTEX, word.as_ptr() as usize, WAKE, 1, 0);
}

/// Takes the lock word of a free mutex. Returns false if another process was faster.
pub(crate) unsafe fn take_word(at: usize) -> bool {
    word(at).compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok()
}

/// Releases the lock word of a mutex.
pub(crate) unsafe fn give_word(at: usize) {
    const LOCKED_AND_WAITED_FOR: u32 = 2;
    if word(at).swap(0, Ordering::Release) == LOCKED_AND_WAITED_FOR {
        wake_others(word(at));
    }
}
