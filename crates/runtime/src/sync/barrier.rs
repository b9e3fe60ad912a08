//! Barriers.

use super::objects::{self, Object};
use super::{EBUSY, EINVAL, interpose, misuse, shared};
use crate::schedule::{point, refresh, wait_after};
use crate::thread::{COUNT, Thread, current, thread};
use crate::{clock, log};
use racehunter_abi::{Cause, Kind, Misuse, Wait};

interpose! {
    pthread_barrier_init => init, "rcx";
    pthread_barrier_destroy => destroy, "rsi";
    pthread_barrier_wait => wait, "rsi";
}

unsafe fn object(at: usize) -> *mut Object {
    objects::get(Wait::Barrier, at)
}

/// In place of the round of a thread: it has ended. Other threads of the round may destroy and free the barrier
/// before this thread continues.
const PASSED: usize = usize::MAX;

pub(crate) unsafe fn available(at: usize, t: *const Thread) -> bool {
    (*t).second == PASSED || (*object(at)).round as usize != (*t).second
}

/// A signal handler kept the thread from seeing that its round has ended.
pub(crate) unsafe fn catch_up(t: *mut Thread) {
    if available((*t).object, t) {
        clock::acquire(&(*object((*t).object)).clock);
    }
}

unsafe extern "C" fn init(at: usize, _attributes: usize, count: u32, code: usize) -> i32 {
    const MOST: u32 = u32::MAX / 2;
    if count == 0 || count >= MOST {
        return EINVAL;
    }
    // Threads that have passed an earlier round may not have left it yet: what they wait for stays as it is.
    let round = (*object(at)).round;
    objects::forget(at);
    (*object(at)).round = round;
    misuse::begins(at, code);
    *(at as *mut u64) = 0;
    (*object(at)).count = count;
    0
}

unsafe extern "C" fn destroy(at: usize, code: usize) -> i32 {
    point(code);
    misuse::used(at, Kind::Lifetime);
    if (*object(at)).value != 0 {
        misuse::report(Misuse::DestroyAwaited, at, misuse::waiter(Wait::Barrier, at));
        return EBUSY;
    }
    let round = (*object(at)).round;
    misuse::destroy(at);
    (*object(at)).round = round;
    0
}

unsafe extern "C" fn wait(at: usize, code: usize) -> i32 {
    const SERIAL_THREAD: i32 = -1;
    let n = point(code);
    let o = object(at);
    shared::is_apart(at);
    if misuse::used(at, Kind::BarrierWait) {
        // It has no size any more.
        log::event(Kind::BarrierWait, n, at, 0, 0);
        return EINVAL;
    }
    if (*o).count == 0 {
        misuse::report(Misuse::NeverInitialised, at, 0);
        log::event(Kind::BarrierWait, n, at, 0, 0);
        return EINVAL;
    }
    let round = (*o).round;
    if (*o).value == 0 {
        clock::clear(&mut (*o).clock);
    }
    (*o).value += 1;
    clock::release(&mut (*o).clock);
    log::event(Kind::BarrierWait, n, at, u64::from((*o).value), 0);
    if (*o).value >= (*o).count {
        (*o).value = 0;
        (*o).round += 1;
        clock::acquire(&(*o).clock);
        // Now, and not when they continue: by then others may have arrived for later rounds.
        for t in (0..COUNT.get()).map(|n| thread(n)) {
            if (*t).pending == Wait::Barrier && (*t).object == at && (*t).second == round as usize {
                clock::acquire_for(t, &(*o).clock);
                (*t).second = PASSED;
            }
        }
        refresh(Wait::Barrier, at);
        return SERIAL_THREAD;
    }
    (*current()).second = round as usize;
    wait_after(Wait::Barrier, at, None, Cause::Blocked);
    0
}
