//! Condition variables. A signal wakes the thread that has waited longest; which one the C library would wake is not
//! specified, and order of arrival is what it does in practice.

use super::{EPERM, ETIMEDOUT, interpose, interpose_cancellable, mutex, objects, real};
use crate::schedule::{self, BY_CANCEL, End, Waiting, acquire_point, point, redirect, refresh};
use crate::signals::{self, cancel};
use crate::thread::{COUNT, State, Thread, current, make_unready, next_ticket, thread};
use crate::{log, time};
use racehunter_event::{Cause, Kind, Wait};

interpose! {
    pthread_cond_init => init, "rdx";
    pthread_cond_destroy => destroy, "rsi";
    pthread_cond_signal => signal, "rsi";
    pthread_cond_broadcast => broadcast, "rsi";
}

interpose_cancellable! {
    pthread_cond_wait => wait, "rdx";
    pthread_cond_timedwait => timed_wait, "rcx";
    pthread_cond_clockwait => clock_wait, "r8";
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

pub(super) unsafe extern "C" fn destroy(at: usize, _code: usize) -> i32 {
    objects::forget(at);
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
        log::event(Kind::Misuse, n, mutex, 0, EPERM as u8);
        return EPERM;
    }
    if cancel::acts() {
        return 0;
    }
    log::event(Kind::Wait, n, at, mutex as u64, 0);
    let t = current();
    (*t).signalled = false;
    (*t).second = mutex;
    (*t).ticket = next_ticket();
    let depth = mutex::give_up(mutex);
    let waiting = Waiting { wait: Wait::Condition, object: at, deadline, ends_by: BY_CANCEL };
    let end = schedule::wait_until(waiting, Cause::Blocked);
    let woken = end == End::Done && (*t).second == WOKEN;
    if !woken {
        let n = point(code);
        let how = match end {
            End::TimedOut => TIMED_OUT,
            End::Cancelled => CANCELLED,
            End::Done | End::Interrupted => SPURIOUS,
        };
        log::event(Kind::WaitEnd, n, at, mutex as u64, how);
    }
    // A thread that was woken has had the mutex as its pending object since, and it is free: this is the event that
    // takes it.
    acquire_point(code, Wait::Mutex, mutex, None);
    mutex::take_again(mutex, depth);
    if end == End::Cancelled {
        cancel::act();
    }
    if end == End::TimedOut { ETIMEDOUT } else { 0 }
}

/// In place of the mutex of a waiter: it was woken, and waits for the mutex alone.
const WOKEN: usize = 0;
/// How a wait ended that no signal ended.
const TIMED_OUT: u8 = 1;
const SPURIOUS: u8 = 2;
const CANCELLED: u8 = 3;

/// A waiter that was signalled goes on as soon as it can have its mutex.
unsafe fn wake(t: *mut Thread) {
    (*t).signalled = true;
    // From here on nothing but the mutex holds it up, and neither a time-out nor cancellation counts.
    (*t).deadline = u64::MAX;
    (*t).ends_by = 0;
    let mutex = core::mem::replace(&mut (*t).second, WOKEN);
    make_unready(t, State::Blocked);
    redirect(t, Wait::Mutex, mutex);
    refresh(Wait::Mutex, mutex);
    if (*t).state == State::Blocked && signals::deliverable(t) {
        schedule::wake(t);
    }
}

/// The thread that has waited longest. One that is ready is about to run a signal handler, and waits all the same.
unsafe fn waiter(at: usize) -> Option<*mut Thread> {
    (0..COUNT.get())
        .map(|n| thread(n))
        .filter(|&t| {
            (*t).pending == Wait::Condition
                && (*t).object == at
                && matches!((*t).state, State::Blocked | State::Suspended | State::Ready)
                && !signals::cancel::ends_wait(t)
        })
        .min_by_key(|&t| (*t).ticket)
}

/// Signals and broadcasts so far, as far as there is somebody to count them for.
pub(crate) unsafe fn wakeups(at: usize) -> u32 {
    (*objects::get(Wait::Condition, at)).round
}

unsafe fn count_wakeup(at: usize) {
    let object = objects::known(Wait::Condition, at);
    if !object.is_null() {
        (*object).round = (*object).round.wrapping_add(1);
    }
}

pub(super) unsafe extern "C" fn signal(at: usize, code: usize) -> i32 {
    let n = point(code);
    log::event(Kind::Signal, n, at, 0, 0);
    count_wakeup(at);
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
    count_wakeup(at);
    if objects::has_waiters(Wait::Condition, at) {
        while let Some(t) = waiter(at) {
            wake(t);
        }
    }
    0
}
