//! Mutexes of every type, and spin locks.

use super::objects::{self, Object};
use super::{EBUSY, EDEADLK, EPERM, ETIMEDOUT, interpose, real};
use crate::schedule::{acquire_point, now, point, refresh};
use crate::thread::{CURRENT, Thread, current, hold, unhold};
use crate::{clock, log, time};
use racehunter_event::{Kind, Wait};

const NORMAL: i32 = 0;
const RECURSIVE: i32 = 1;
const ERROR_CHECK: i32 = 2;

interpose! {
    pthread_mutex_init => init, "rdx";
    pthread_mutex_destroy => destroy, "rsi";
    pthread_mutex_lock => lock, "rsi";
    pthread_mutex_trylock => try_lock, "rsi";
    pthread_mutex_timedlock => timed_lock, "rdx";
    pthread_mutex_clocklock => clock_lock, "rcx";
    pthread_mutex_unlock => unlock, "rsi";
    pthread_spin_init => spin_init, "rdx";
    pthread_spin_destroy => destroy, "rsi";
    pthread_spin_lock => spin_lock, "rsi";
    pthread_spin_trylock => spin_try_lock, "rsi";
    pthread_spin_unlock => unlock, "rsi";
}

unsafe fn object(at: usize) -> *mut Object {
    objects::get(Wait::Mutex, at)
}

/// Where the C library's structure has the type.
const KIND: usize = 16;

/// The type that the program's initialiser left in the C library's structure.
unsafe fn type_of(at: usize) -> i32 {
    *((at + KIND) as *const i32) & 3
}

/// For mutexes that are not made through POSIX attributes.
pub(super) unsafe fn set_type(at: usize, kind: i32) {
    *((at + KIND) as *mut i32) = kind;
}

unsafe fn mine(o: *const Object) -> bool {
    (*o).owner == CURRENT.get() + 1
}

pub(crate) unsafe fn available(at: usize, t: *const Thread) -> bool {
    let o = object(at);
    (*o).owner == 0 || ((*o).owner == (*t).number + 1 && (*o).value as i32 == RECURSIVE)
}

pub(super) unsafe extern "C" fn init(at: usize, attributes: *const u8, _code: usize) -> i32 {
    objects::forget(at);
    let init: extern "C" fn(usize, *const u8) -> i32 = core::mem::transmute(real::mutex_init());
    init(at, attributes)
}

unsafe extern "C" fn spin_init(at: usize, _shared: i32, _code: usize) -> i32 {
    objects::forget(at);
    0
}

pub(super) unsafe extern "C" fn destroy(at: usize, code: usize) -> i32 {
    let n = point(code);
    if (*object(at)).owner != 0 {
        log::event(Kind::Misuse, n, at, 0, EBUSY as u8);
        return EBUSY;
    }
    log::event(Kind::Lifetime, n, at, 0, 1);
    objects::forget(at);
    0
}

/// Takes the mutex, which is free or already held by a recursive owner.
unsafe fn take(at: usize) {
    let o = object(at);
    if mine(o) {
        (*o).count += 1;
        return;
    }
    (*o).owner = CURRENT.get() + 1;
    (*o).count = 1;
    hold(current(), at);
    clock::acquire(&(*o).clock);
    refresh(Wait::Mutex, at);
}

pub(super) unsafe extern "C" fn lock(at: usize, code: usize) -> i32 {
    acquire(at, type_of(at), None, Kind::Lock, code)
}

unsafe extern "C" fn spin_lock(at: usize, code: usize) -> i32 {
    acquire(at, NORMAL, None, Kind::Lock, code)
}

pub(super) unsafe extern "C" fn timed_lock(at: usize, until: *const [i64; 2], code: usize) -> i32 {
    acquire(at, type_of(at), Some(time::deadline(time::REALTIME, until)), Kind::TryLock, code)
}

unsafe extern "C" fn clock_lock(at: usize, clock: i32, until: *const [i64; 2], code: usize) -> i32 {
    acquire(at, type_of(at), Some(time::deadline(clock, until)), Kind::TryLock, code)
}

unsafe fn acquire(at: usize, kind: i32, deadline: Option<u64>, logged: Kind, code: usize) -> i32 {
    let o = object(at);
    if mine(o) && kind == ERROR_CHECK {
        let n = point(code);
        log::event(Kind::Misuse, n, at, 0, EDEADLK as u8);
        return EDEADLK;
    }
    (*o).value = kind as u32;
    let n = acquire_point(code, Wait::Mutex, at, deadline);
    if (*current()).timed_out {
        log::event(logged, n, at, 0, 0);
        return ETIMEDOUT;
    }
    take(at);
    log::event(logged, n, at, 0, 1);
    0
}

pub(super) unsafe extern "C" fn try_lock(at: usize, code: usize) -> i32 {
    attempt(at, type_of(at), code)
}

unsafe extern "C" fn spin_try_lock(at: usize, code: usize) -> i32 {
    attempt(at, NORMAL, code)
}

unsafe fn attempt(at: usize, kind: i32, code: usize) -> i32 {
    let n = point(code);
    (*object(at)).value = kind as u32;
    let free = available(at, current());
    if free {
        take(at);
    }
    log::event(Kind::TryLock, n, at, 0, u8::from(free));
    if free { 0 } else { EBUSY }
}

pub(super) unsafe extern "C" fn unlock(at: usize, code: usize) -> i32 {
    let n = point(code);
    let o = object(at);
    if !mine(o) {
        log::event(Kind::Misuse, n, at, u64::from((*o).owner), EPERM as u8);
        // A normal mutex is unlocked by whoever says so: that is undefined, and what the C library does.
        if (*o).value as i32 != NORMAL || (*o).owner == 0 {
            return EPERM;
        }
    }
    if (*o).count > 1 {
        (*o).count -= 1;
    } else {
        drop_ownership(at);
    }
    log::event(Kind::Unlock, n, at, 0, 0);
    0
}

/// Gives the mutex up to wait on a condition variable; returns how often it was held. A recursive mutex is given up
/// only once, as in the C library: the thread that holds it twice keeps it.
pub(crate) unsafe fn give_up(at: usize) -> u32 {
    let o = object(at);
    if (*o).count > 1 {
        (*o).count -= 1;
        return (*o).count + 1;
    }
    drop_ownership(at)
}

/// Gives the mutex up altogether; returns how often it was held.
unsafe fn drop_ownership(at: usize) -> u32 {
    let o = object(at);
    let depth = (*o).count;
    (*o).owner = 0;
    (*o).count = 0;
    unhold(current(), at);
    clock::release(&mut (*o).clock);
    refresh(Wait::Mutex, at);
    depth
}

/// Takes the mutex again after waiting on a condition variable, with the depth it had before.
pub(crate) unsafe fn take_again(at: usize, depth: u32) {
    take(at);
    (*object(at)).count = depth;
    log::event(Kind::Lock, now(), at, 0, 1);
}

/// Whether the running thread holds it.
pub(crate) unsafe fn is_held(at: usize) -> bool {
    mine(object(at))
}
