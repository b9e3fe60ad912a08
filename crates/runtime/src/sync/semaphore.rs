//! Semaphores. Their value is in the program's memory, in the C library's format: other processes may share it.

use super::objects::{self, Object};
use super::{
    EAGAIN, EINTR, EINVAL, EOVERFLOW, ETIMEDOUT, fail, interpose, interpose_cancellable, is_clock, is_time, misuse,
    shared,
};
use crate::schedule::{End, EndsBy, Waiting, acquire, point, refresh};
use crate::signals::cancel;
use crate::{clock, log, time};
use core::sync::atomic::Ordering;
use racehunter_abi::{Kind, Misuse, Wait, detail};
use racehunter_machine::Deadline;

interpose! {
    sem_init => init, "rcx";
    sem_destroy => destroy, "rsi";
    sem_trywait => try_wait, "rsi";
    sem_post => post, "rsi";
    sem_getvalue => get_value, "rdx";
}

interpose_cancellable! {
    sem_wait => wait, "rsi";
    sem_timedwait => timed_wait, "rdx";
    sem_clockwait => clock_wait, "rcx";
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

/// The offsets of the number of waiting threads in other processes, and of whether there may be any.
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

unsafe extern "C" fn init(at: usize, shared: i32, value: u32, code: usize) -> i32 {
    if value > LARGEST {
        return fail(EINVAL);
    }
    misuse::will_begin(at, code);
    objects::forget(at);
    misuse::begins(at, code);
    set(at, shared != 0, value);
    0
}

unsafe extern "C" fn destroy(at: usize, code: usize) -> i32 {
    point(code);
    misuse::used(at, Kind::Lifetime);
    let waiter = misuse::waiter(Wait::Semaphore, at);
    if !waiter.is_none() {
        misuse::report(Misuse::DestroyAwaited, at, waiter);
        return 0;
    }
    misuse::destroy(at);
    0
}

/// Decrements it, unless another process was faster.
unsafe fn take(at: usize, kind: Kind) -> bool {
    // A destroyed semaphore has no value.
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
    wait_until(at, None, EndsBy::SIGNAL, Kind::SemWait, code)
}

unsafe fn wait_until(at: usize, deadline: Option<Deadline>, by_signal: EndsBy, logged: Kind, code: usize) -> i32 {
    if !available(at) {
        misuse::waits_for(at, logged, code);
    }
    loop {
        let waiting = Waiting { wait: Wait::Semaphore, object: at, deadline, ends_by: by_signal.or(EndsBy::CANCEL) };
        let (n, end) = acquire(code, waiting);
        let taken = end == End::Done && take(at, logged);
        if end != End::Done {
            misuse::looked_at(at, logged);
        }
        log::event(logged, n, at, 0, u8::from(taken));
        match end {
            End::Done if taken => return 0,
            // Another process was faster.
            End::Done => {}
            End::TimedOut => return fail(ETIMEDOUT),
            End::Interrupted => return fail(EINTR),
            End::Cancelled => {
                cancel::act();
                return 0;
            }
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
    wait_until(at, Some(time::deadline(clock, until)), EndsBy::ANY_SIGNAL, Kind::SemTryWait, code)
}

unsafe extern "C" fn try_wait(at: usize, code: usize) -> i32 {
    let n = point(code);
    let may_take = available(at);
    let free = may_take && take(at, Kind::SemTryWait);
    if !may_take {
        misuse::looked_at(at, Kind::SemTryWait);
    }
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

/// Like a failing attempt: its result depends on which threads came before.
unsafe extern "C" fn get_value(at: usize, into: *mut i32, code: usize) -> i32 {
    let n = point(code);
    misuse::looked_at(at, Kind::SemTryWait);
    log::event(Kind::SemTryWait, n, at, 0, detail::SEMAPHORE_INSPECTED);
    *into = value(at) as i32;
    0
}
