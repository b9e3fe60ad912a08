//! Reader-writer locks. Readers and writers have equal chances: whoever is chosen when it is free gets it.

use super::objects::{self, Object};
use super::{EBUSY, EDEADLK, EPERM, ETIMEDOUT, interpose};
use crate::schedule::{acquire_point, point, refresh};
use crate::thread::{CURRENT, current, hold, unhold};
use crate::{clock, log, time};
use racehunter_event::{Kind, Wait};

interpose! {
    pthread_rwlock_init => init, "rdx";
    pthread_rwlock_destroy => destroy, "rsi";
    pthread_rwlock_rdlock => read_lock, "rsi";
    pthread_rwlock_wrlock => write_lock, "rsi";
    pthread_rwlock_tryrdlock => try_read_lock, "rsi";
    pthread_rwlock_trywrlock => try_write_lock, "rsi";
    pthread_rwlock_timedrdlock => timed_read_lock, "rdx";
    pthread_rwlock_timedwrlock => timed_write_lock, "rdx";
    pthread_rwlock_clockrdlock => clock_read_lock, "rcx";
    pthread_rwlock_clockwrlock => clock_write_lock, "rcx";
    pthread_rwlock_unlock => unlock, "rsi";
}

unsafe fn object(at: usize) -> *mut Object {
    objects::get(Wait::ReadLock, at)
}

pub(crate) unsafe fn read_available(at: usize) -> bool {
    (*object(at)).owner == 0
}

pub(crate) unsafe fn write_available(at: usize) -> bool {
    (*object(at)).owner == 0 && (*object(at)).count == 0
}

unsafe extern "C" fn init(at: usize, _attributes: usize, _code: usize) -> i32 {
    objects::forget(at);
    // What a static initialiser would leave; nothing reads it but code that copies or prints it.
    const SIZE: usize = 56;
    core::ptr::write_bytes(at as *mut u8, 0, SIZE);
    0
}

unsafe extern "C" fn destroy(at: usize, code: usize) -> i32 {
    let n = point(code);
    if !write_available(at) {
        log::event(Kind::Misuse, n, at, 0, EBUSY as u8);
        return EBUSY;
    }
    objects::forget(at);
    0
}

unsafe fn take(at: usize, write: bool) {
    let o = object(at);
    clock::acquire(&(*o).clock);
    if write {
        clock::acquire(&(*o).shared_clock);
        (*o).owner = CURRENT.get() + 1;
    } else {
        (*o).count += 1;
    }
    hold(current(), at);
    refresh(Wait::ReadLock, at);
}

unsafe fn acquire(at: usize, write: bool, deadline: Option<u64>, kind: Kind, code: usize) -> i32 {
    if (*object(at)).owner == CURRENT.get() + 1 {
        let n = point(code);
        log::event(Kind::Misuse, n, at, 0, EDEADLK as u8);
        return EDEADLK;
    }
    let wait = if write { Wait::WriteLock } else { Wait::ReadLock };
    let n = acquire_point(code, wait, at, deadline);
    if (*current()).timed_out {
        log::event(kind, n, at, 0, 0);
        return ETIMEDOUT;
    }
    take(at, write);
    log::event(kind, n, at, 0, 1);
    0
}

unsafe fn attempt(at: usize, write: bool, kind: Kind, code: usize) -> i32 {
    let n = point(code);
    let free = if write { write_available(at) } else { read_available(at) };
    if free {
        take(at, write);
    }
    log::event(kind, n, at, 0, u8::from(free));
    if free { 0 } else { EBUSY }
}

unsafe extern "C" fn read_lock(at: usize, code: usize) -> i32 {
    acquire(at, false, None, Kind::ReadLock, code)
}

unsafe extern "C" fn write_lock(at: usize, code: usize) -> i32 {
    acquire(at, true, None, Kind::WriteLock, code)
}

unsafe extern "C" fn try_read_lock(at: usize, code: usize) -> i32 {
    attempt(at, false, Kind::TryReadLock, code)
}

unsafe extern "C" fn try_write_lock(at: usize, code: usize) -> i32 {
    attempt(at, true, Kind::TryWriteLock, code)
}

unsafe extern "C" fn timed_read_lock(at: usize, until: *const [i64; 2], code: usize) -> i32 {
    acquire(at, false, Some(time::deadline(time::REALTIME, until)), Kind::TryReadLock, code)
}

unsafe extern "C" fn timed_write_lock(at: usize, until: *const [i64; 2], code: usize) -> i32 {
    acquire(at, true, Some(time::deadline(time::REALTIME, until)), Kind::TryWriteLock, code)
}

unsafe extern "C" fn clock_read_lock(at: usize, clock: i32, until: *const [i64; 2], code: usize) -> i32 {
    acquire(at, false, Some(time::deadline(clock, until)), Kind::TryReadLock, code)
}

unsafe extern "C" fn clock_write_lock(at: usize, clock: i32, until: *const [i64; 2], code: usize) -> i32 {
    acquire(at, true, Some(time::deadline(clock, until)), Kind::TryWriteLock, code)
}

unsafe extern "C" fn unlock(at: usize, code: usize) -> i32 {
    let n = point(code);
    let o = object(at);
    if (*o).owner == CURRENT.get() + 1 {
        (*o).owner = 0;
        clock::release(&mut (*o).clock);
    } else if (*o).owner == 0 && (*o).count > 0 {
        (*o).count -= 1;
        clock::release(&mut (*o).shared_clock);
    } else {
        log::event(Kind::Misuse, n, at, u64::from((*o).owner), EPERM as u8);
        return EPERM;
    }
    unhold(current(), at);
    log::event(Kind::RwUnlock, n, at, 0, 0);
    refresh(Wait::ReadLock, at);
    0
}
