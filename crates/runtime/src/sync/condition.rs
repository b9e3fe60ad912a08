//! Condition variables. A signal wakes the thread that has waited longest; which one the C library would wake is not
//! specified, and order of arrival is what it does in practice.

use super::{EPERM, ETIMEDOUT, interpose, misuse, mutex, objects, real};
use crate::schedule::{acquire_point, point, redirect, refresh, wait_after};
use crate::thread::{COUNT, State, Thread, current, next_ticket, thread};
use crate::{log, time};
use racehunter_event::{Cause, Kind, Misuse, Wait};

interpose! {
    pthread_cond_init => init, "rdx";
    pthread_cond_destroy => destroy, "rsi";
    pthread_cond_wait => wait, "rdx";
    pthread_cond_timedwait => timed_wait, "rcx";
    pthread_cond_clockwait => clock_wait, "r8";
    pthread_cond_signal => signal, "rsi";
    pthread_cond_broadcast => broadcast, "rsi";
}

pub(super) unsafe extern "C" fn init(at: usize, attributes: *const u32, _code: usize) -> i32 {
    objects::forget(at);
    // The clock that timed waits use is kept in the attributes; remember it for `timed_wait`.
    const CLOCK_SHIFT: u32 = 1;
    let clock = if attributes.is_null() { 0 } else { (*attributes >> CLOCK_SHIFT) & 1 };
    (*objects::get(Wait::Condition, at)).value = clock;
    let init: extern "C" fn(usize, *const u32) -> i32 = core::mem::transmute(real::cond_init());
    init(at, attributes)
}

pub(super) unsafe extern "C" fn destroy(at: usize, code: usize) -> i32 {
    point(code);
    misuse::used(at, Kind::Lifetime);
    let waiter = misuse::waiter(Wait::Condition, at);
    if waiter != 0 {
        misuse::report(Misuse::DestroyAwaited, at, waiter);
        return 0;
    }
    misuse::destroy(at);
    0
}

pub(super) unsafe extern "C" fn wait(at: usize, mutex: usize, code: usize) -> i32 {
    wait_until(at, mutex, None, code)
}

pub(super) unsafe extern "C" fn timed_wait(at: usize, mutex: usize, until: *const [i64; 2], code: usize) -> i32 {
    let clock = (*objects::get(Wait::Condition, at)).value as i32;
    wait_until(at, mutex, Some(time::deadline(clock, until)), code)
}

unsafe extern "C" fn clock_wait(at: usize, mutex: usize, clock: i32, until: *const [i64; 2], code: usize) -> i32 {
    wait_until(at, mutex, Some(time::deadline(clock, until)), code)
}

unsafe fn wait_until(at: usize, mutex: usize, deadline: Option<u64>, code: usize) -> i32 {
    let n = point(code);
    if !mutex::is_held(mutex) {
        misuse::wait_unlocked(mutex);
        return EPERM;
    }
    log::event(Kind::Wait, n, at, mutex as u64, 0);
    misuse::used(at, Kind::Wait);
    misuse::one_mutex(at, mutex);
    let t = current();
    (*t).signalled = false;
    (*t).second = mutex;
    (*t).ticket = next_ticket();
    let depth = mutex::drop_ownership(mutex);
    wait_after(Wait::Condition, at, deadline, Cause::Blocked);
    let timed_out = (*t).timed_out;
    if timed_out {
        let n = point(code);
        log::event(Kind::WaitEnd, n, at, mutex as u64, 1);
        acquire_point(code, Wait::Mutex, mutex, None);
    } else if (*t).interrupted {
        acquire_point(code, Wait::Mutex, mutex, None);
    } else {
        // The signal made the mutex the pending object, and it is free: see `wake`. This is the event that takes it.
        point(code);
    }
    mutex::take_again(mutex, depth);
    if timed_out { ETIMEDOUT } else { 0 }
}

/// A waiter that was signalled goes on as soon as it can have its mutex.
unsafe fn wake(t: *mut Thread) {
    (*t).signalled = true;
    // From here on nothing but the mutex holds it up, and a time-out no longer counts.
    (*t).deadline = u64::MAX;
    (*t).state = State::Blocked;
    let mutex = (*t).second;
    redirect(t, Wait::Mutex, mutex);
    refresh(Wait::Mutex, mutex);
}

/// A wait on a condition variable that other processes have too ends: what it waits for may be the case by now.
pub(super) unsafe fn end_without_signal(t: *mut Thread) {
    (*t).interrupted = true;
}

unsafe fn waiter(at: usize) -> Option<*mut Thread> {
    (0..COUNT.get())
        .map(|n| thread(n))
        .filter(|&t| {
            (*t).pending == Wait::Condition
                && (*t).object == at
                && matches!((*t).state, State::Blocked | State::Suspended)
        })
        .min_by_key(|&t| (*t).ticket)
}

pub(super) unsafe extern "C" fn signal(at: usize, code: usize) -> i32 {
    let n = point(code);
    log::event(Kind::Signal, n, at, 0, 0);
    misuse::used(at, Kind::Signal);
    if objects::has_waiters(Wait::Condition, at)
        && let Some(t) = waiter(at)
    {
        wake(t);
    }
    0
}

pub(super) unsafe extern "C" fn broadcast(at: usize, code: usize) -> i32 {
    let n = point(code);
    log::event(Kind::Broadcast, n, at, 0, 0);
    misuse::used(at, Kind::Broadcast);
    if objects::has_waiters(Wait::Condition, at) {
        while let Some(t) = waiter(at) {
            wake(t);
        }
    }
    0
}
