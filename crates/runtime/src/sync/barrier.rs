//! Barriers.

use super::objects::{self, Object};
use super::{EBUSY, EINVAL, interpose};
use crate::schedule::{point, refresh, wait_after};
use crate::thread::{COUNT, Thread, current, thread};
use crate::{clock, log};
use racehunter_event::{Cause, Kind, Wait};

interpose! {
    pthread_barrier_init => init, "rcx";
    pthread_barrier_destroy => destroy, "rsi";
    pthread_barrier_wait => wait, "rsi";
}

unsafe fn object(at: usize) -> *mut Object {
    objects::get(Wait::Barrier, at)
}

pub(crate) unsafe fn available(at: usize, t: *const Thread) -> bool {
    (*object(at)).round as usize != (*t).second
}

/// A signal handler kept the thread from seeing that its round is over.
pub(crate) unsafe fn catch_up(t: *mut Thread) {
    if available((*t).object, t) {
        clock::acquire(&(*object((*t).object)).clock);
    }
}

unsafe extern "C" fn init(at: usize, _attributes: usize, count: u32, _code: usize) -> i32 {
    if count == 0 {
        return EINVAL;
    }
    objects::forget(at);
    (*object(at)).count = count;
    0
}

unsafe extern "C" fn destroy(at: usize, code: usize) -> i32 {
    let n = point(code);
    if (*object(at)).value != 0 {
        log::event(Kind::Misuse, n, at, 0, EBUSY as u8);
        return EBUSY;
    }
    objects::forget(at);
    0
}

unsafe extern "C" fn wait(at: usize, code: usize) -> i32 {
    const SERIAL_THREAD: i32 = -1;
    let n = point(code);
    let o = object(at);
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
        // Now and not when they go on: by then others may have arrived for later rounds.
        for t in (0..COUNT.get()).map(|n| thread(n)) {
            if (*t).pending == Wait::Barrier && (*t).object == at && (*t).second == round as usize {
                clock::acquire_for(t, &(*o).clock);
            }
        }
        refresh(Wait::Barrier, at);
        return SERIAL_THREAD;
    }
    (*current()).second = round as usize;
    wait_after(Wait::Barrier, at, None, Cause::Blocked);
    0
}
