//! Unnamed semaphores.

use super::objects::{self, Object};
use super::{EAGAIN, EINVAL, EOVERFLOW, ETIMEDOUT, fail, interpose, is_clock, is_time, misuse};
use crate::schedule::{acquire_point, point, refresh};
use crate::thread::current;
use crate::{clock, log, time};
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

/// The semaphore; one that was initialised before the runtime saw it has its value in the program's memory.
unsafe fn object(at: usize) -> *mut Object {
    let o = objects::get(Wait::Semaphore, at);
    if (*o).known == 0 {
        (*o).known = 1;
        (*o).count = *(at as *const u32);
    }
    o
}

pub(crate) unsafe fn available(at: usize) -> bool {
    (*object(at)).count > 0
}

/// `SEM_VALUE_MAX`
pub(super) const LARGEST: u32 = i32::MAX as u32;

unsafe extern "C" fn init(at: usize, _shared: i32, value: u32, _code: usize) -> i32 {
    if value > LARGEST {
        return fail(EINVAL);
    }
    objects::forget(at);
    *(at as *mut u64) = u64::from(value);
    0
}

unsafe extern "C" fn destroy(at: usize, code: usize) -> i32 {
    point(code);
    used(at, Kind::Lifetime);
    let waiter = misuse::waiter(Wait::Semaphore, at);
    if waiter != 0 {
        misuse::report(Misuse::DestroyAwaited, at, waiter);
        return 0;
    }
    misuse::destroy(at);
    0
}

/// The semaphore is used; what was destroyed has no value.
unsafe fn used(at: usize, kind: Kind) {
    if misuse::used(at, kind) {
        objects::forget(at);
    }
}

unsafe fn take(at: usize, kind: Kind) {
    misuse::used(at, kind);
    let o = object(at);
    (*o).count -= 1;
    clock::acquire(&(*o).clock);
    refresh(Wait::Semaphore, at);
}

unsafe extern "C" fn wait(at: usize, code: usize) -> i32 {
    let n = acquire_point(code, Wait::Semaphore, at, None);
    take(at, Kind::SemWait);
    log::event(Kind::SemWait, n, at, 0, 1);
    0
}

unsafe fn wait_until(at: usize, deadline: u64, code: usize) -> i32 {
    let n = acquire_point(code, Wait::Semaphore, at, Some(deadline));
    let timed_out = (*current()).timed_out;
    if !timed_out {
        take(at, Kind::SemTryWait);
    }
    log::event(Kind::SemTryWait, n, at, 0, u8::from(!timed_out));
    if timed_out { fail(ETIMEDOUT) } else { 0 }
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
    let free = available(at);
    if free {
        take(at, Kind::SemTryWait);
    }
    log::event(Kind::SemTryWait, n, at, 0, u8::from(free));
    if free { 0 } else { fail(EAGAIN) }
}

unsafe extern "C" fn post(at: usize, code: usize) -> i32 {
    let n = point(code);
    used(at, Kind::SemPost);
    let o = object(at);
    log::event(Kind::SemPost, n, at, 0, 0);
    if (*o).count >= LARGEST {
        return fail(EOVERFLOW);
    }
    clock::release(&mut (*o).clock);
    (*o).count += 1;
    refresh(Wait::Semaphore, at);
    0
}

unsafe extern "C" fn get_value(at: usize, value: *mut i32, _code: usize) -> i32 {
    *value = (*object(at)).count as i32;
    0
}
