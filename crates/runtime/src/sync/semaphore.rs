//! Semaphores. Their value is in the program's memory, as the C library has it: other processes may have it too.

use super::objects::{self, Object};
use super::{EAGAIN, EINVAL, EOVERFLOW, ETIMEDOUT, fail, interpose, is_clock, is_time, misuse, shared};
use crate::schedule::{acquire_point, point, refresh};
use crate::thread::current;
use crate::{clock, log, time};
use core::sync::atomic::Ordering;
use racehunter_event::{Kind, Misuse, Wait};

interpose! {
    sem_init => init, "rcx";
    sem_destroy => destroy, "rsi";
    sem_wait => wait, "rsi";
    sem_trywait => try_wait, "rsi";
    sem_timedwait => timed_wait, "rdx";
    sem_clockwait => clock_wait, "rcx";
    sem_post => post, "rsi";
    sem_getvalue => get_value, "rdx";
}

unsafe fn object(at: usize) -> *mut Object {
    objects::get(Wait::Semaphore, at)
}

unsafe fn value(at: usize) -> u32 {
    shared::word(at).load(Ordering::Relaxed)
}

pub(crate) unsafe fn available(at: usize) -> bool {
    value(at) > 0
}

/// Where the C library has the number of threads that wait in other processes, and whether there may be any.
const WAITING: usize = 4;
const SHARED: usize = 8;
const IS_SHARED: u32 = 128;

pub(super) unsafe fn is_shared(at: usize) -> bool {
    shared::word(at + SHARED).load(Ordering::Relaxed) != 0
}

/// Initialises the C library's structure.
pub(super) unsafe fn set(at: usize, is_shared: bool, value: u32) {
    *(at as *mut u64) = u64::from(value);
    *((at + SHARED) as *mut u32) = if is_shared { IS_SHARED } else { 0 };
}

/// `SEM_VALUE_MAX`
pub(super) const LARGEST: u32 = i32::MAX as u32;

unsafe extern "C" fn init(at: usize, shared: i32, value: u32, _code: usize) -> i32 {
    if value > LARGEST {
        return fail(EINVAL);
    }
    objects::forget(at);
    set(at, shared != 0, value);
    0
}

unsafe extern "C" fn destroy(at: usize, code: usize) -> i32 {
    point(code);
    misuse::used(at, Kind::Lifetime);
    let waiter = misuse::waiter(Wait::Semaphore, at);
    if waiter != 0 {
        misuse::report(Misuse::DestroyAwaited, at, waiter);
        return 0;
    }
    misuse::destroy(at);
    0
}

/// Decrements it, unless another process was faster.
unsafe fn take(at: usize, kind: Kind) -> bool {
    // What was destroyed has no value.
    if !misuse::used(at, kind) {
        let less = |value: u32| value.checked_sub(1);
        if shared::word(at).fetch_update(Ordering::Acquire, Ordering::Relaxed, less).is_err() {
            return false;
        }
    }
    clock::acquire(&(*object(at)).clock);
    refresh(Wait::Semaphore, at);
    true
}

unsafe extern "C" fn wait(at: usize, code: usize) -> i32 {
    loop {
        let n = acquire_point(code, Wait::Semaphore, at, None);
        let taken = take(at, Kind::SemWait);
        log::event(Kind::SemWait, n, at, 0, u8::from(taken));
        if taken {
            return 0;
        }
    }
}

unsafe fn wait_until(at: usize, deadline: u64, code: usize) -> i32 {
    loop {
        let n = acquire_point(code, Wait::Semaphore, at, Some(deadline));
        let timed_out = (*current()).timed_out;
        let taken = !timed_out && take(at, Kind::SemTryWait);
        log::event(Kind::SemTryWait, n, at, 0, u8::from(taken));
        if timed_out {
            return fail(ETIMEDOUT);
        }
        if taken {
            return 0;
        }
    }
}

unsafe extern "C" fn timed_wait(at: usize, until: *const [i64; 2], code: usize) -> i32 {
    clock_wait(at, time::REALTIME, until, code)
}

unsafe extern "C" fn clock_wait(at: usize, clock: i32, until: *const [i64; 2], code: usize) -> i32 {
    if !is_clock(clock) || !is_time(until) {
        return fail(EINVAL);
    }
    wait_until(at, time::deadline(clock, until), code)
}

unsafe extern "C" fn try_wait(at: usize, code: usize) -> i32 {
    let n = point(code);
    let free = available(at) && take(at, Kind::SemTryWait);
    log::event(Kind::SemTryWait, n, at, 0, u8::from(free));
    if free { 0 } else { fail(EAGAIN) }
}

unsafe extern "C" fn post(at: usize, code: usize) -> i32 {
    let n = point(code);
    misuse::used(at, Kind::SemPost);
    log::event(Kind::SemPost, n, at, 0, 0);
    if value(at) >= LARGEST {
        return fail(EOVERFLOW);
    }
    clock::release(&mut (*object(at)).clock);
    shared::word(at).fetch_add(1, Ordering::Release);
    if is_shared(at) && shared::word(at + WAITING).load(Ordering::Relaxed) > 0 {
        shared::wake_others(shared::word(at));
    }
    refresh(Wait::Semaphore, at);
    0
}

unsafe extern "C" fn get_value(at: usize, into: *mut i32, _code: usize) -> i32 {
    *into = value(at) as i32;
    0
}
