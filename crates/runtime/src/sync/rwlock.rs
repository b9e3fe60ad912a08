//! Reader-writer locks. Readers and writers have equal chances: the thread that is chosen while the lock is free gets
//! it. Only a lock that was made to prefer writers keeps readers out while a writer waits.

use super::objects::{self, Lock, Object};
use super::{EBUSY, EDEADLK, EINVAL, EPERM, ETIMEDOUT, interpose, is_clock, is_time, misuse, shared};
use crate::schedule::{acquire_point, point, refresh};
use crate::thread::{CURRENT, current, hold, holds, unhold};
use crate::{clock, escapes, log, time};
use racehunter_abi::{Kind, Misuse, Wait};

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

/// Where the C library's structure says whom the lock prefers. The other kinds all let readers in.
const FLAGS: usize = 48;
const PREFER_WRITERS: u32 = 2;

unsafe fn prefers_writers(at: usize) -> bool {
    *((at + FLAGS) as *const u32) == PREFER_WRITERS
}

pub(crate) unsafe fn read_available(at: usize) -> bool {
    // `value` is the number of writers that had to wait.
    let o = object(at);
    (*o).owner == 0 && ((*o).value == 0 || !prefers_writers(at))
}

pub(crate) unsafe fn write_available(at: usize) -> bool {
    (*object(at)).owner == 0 && (*object(at)).count == 0
}

unsafe extern "C" fn init(at: usize, attributes: *const u32, code: usize) -> i32 {
    objects::forget(at);
    misuse::begins(at, code);
    // What a static initialiser would leave; nothing else reads it but code that copies or prints it.
    const SIZE: usize = 56;
    core::ptr::write_bytes(at as *mut u8, 0, SIZE);
    if !attributes.is_null() {
        *((at + FLAGS) as *mut u32) = *attributes;
    }
    0
}

unsafe extern "C" fn destroy(at: usize, code: usize) -> i32 {
    let n = point(code);
    misuse::used(at, Kind::Lifetime);
    if !write_available(at) {
        log::event(Kind::Lifetime, n, at, 0, 0);
        misuse::report(Misuse::DestroyHeld, at, (*object(at)).owner);
        return EBUSY;
    }
    misuse::destroy(at);
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
    (*o).lock = Lock::Rwlock;
    hold(current(), at);
    refresh(Wait::ReadLock, at);
}

/// Takes the lock and logs that.
unsafe fn take_and_log(at: usize, write: bool, kind: Kind, n: u64) {
    misuse::used(at, kind);
    take(at, write);
    log::event(kind, n, at, 0, 1);
}

unsafe fn acquire(at: usize, write: bool, deadline: Option<u64>, kind: Kind, code: usize) -> i32 {
    shared::is_apart(at);
    if (*object(at)).owner == CURRENT.get() + 1 {
        let n = point(code);
        log::event(kind, n, at, 0, 0);
        return EDEADLK;
    }
    if !write && holds(current(), at) != Some(false) && !prefers_writers(at) {
        escapes::reads_again();
    }
    let wait = if write { Wait::WriteLock } else { Wait::ReadLock };
    let queued = u32::from(write && !write_available(at));
    (*object(at)).value += queued;
    let n = acquire_point(code, wait, at, deadline);
    (*object(at)).value -= queued;
    if (*current()).timed_out {
        log::event(kind, n, at, 0, 0);
        refresh(Wait::ReadLock, at);
        return ETIMEDOUT;
    }
    take_and_log(at, write, kind, n);
    0
}

unsafe fn acquire_until(at: usize, write: bool, clock: i32, until: *const [i64; 2], code: usize) -> i32 {
    if !is_clock(clock) || !is_time(until) {
        return EINVAL;
    }
    let kind = if write { Kind::TryWriteLock } else { Kind::TryReadLock };
    acquire(at, write, Some(time::deadline(clock, until)), kind, code)
}

unsafe fn attempt(at: usize, write: bool, kind: Kind, code: usize) -> i32 {
    let n = point(code);
    shared::is_apart(at);
    if if write { write_available(at) } else { read_available(at) } {
        take_and_log(at, write, kind, n);
        return 0;
    }
    log::event(kind, n, at, 0, 0);
    EBUSY
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
    acquire_until(at, false, time::REALTIME, until, code)
}

unsafe extern "C" fn timed_write_lock(at: usize, until: *const [i64; 2], code: usize) -> i32 {
    acquire_until(at, true, time::REALTIME, until, code)
}

unsafe extern "C" fn clock_read_lock(at: usize, clock: i32, until: *const [i64; 2], code: usize) -> i32 {
    acquire_until(at, false, clock, until, code)
}

unsafe extern "C" fn clock_write_lock(at: usize, clock: i32, until: *const [i64; 2], code: usize) -> i32 {
    acquire_until(at, true, clock, until, code)
}

unsafe extern "C" fn unlock(at: usize, code: usize) -> i32 {
    let n = point(code);
    log::event(Kind::RwUnlock, n, at, 0, 0);
    misuse::used(at, Kind::RwUnlock);
    let o = object(at);
    if (*o).owner == CURRENT.get() + 1 {
        (*o).owner = 0;
        clock::release(&mut (*o).clock);
    } else if (*o).owner == 0 && (*o).count > 0 {
        if misuse::lacks(at) {
            misuse::unlock(at, 0, true);
        }
        (*o).count -= 1;
        clock::release(&mut (*o).shared_clock);
    } else {
        misuse::unlock(at, (*o).owner, (*o).owner != 0);
        return EPERM;
    }
    unhold(current(), at);
    refresh(Wait::ReadLock, at);
    0
}
