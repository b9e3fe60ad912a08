//! Reader-writer locks. Readers and writers have equal chances: the thread that is chosen while the lock is free gets
//! it. Only a lock that prefers writers keeps readers out while a writer waits.

use super::objects::{self, Object};
use super::{EBUSY, EDEADLK, EINVAL, EPERM, ETIMEDOUT, interpose, is_clock, is_time, misuse, shared};
use crate::schedule::{acquire_point, point, refresh};
use crate::thread::{current, hold, holds, me, unhold};
use crate::{clock, escapes, log, time};
use racehunter_abi::{EventNumber, Kind, Misuse, Wait, detail};
use racehunter_machine::sync::{Mode, RwUnlocked};
use racehunter_machine::{Deadline, Owner};

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

/// The offset of the preference in the C library's structure. The other kinds all let readers in.
const FLAGS: usize = 48;
const PREFER_WRITERS: u32 = 2;

unsafe fn prefers_writers(at: usize) -> bool {
    *((at + FLAGS) as *const u32) == PREFER_WRITERS
}

pub(crate) unsafe fn available(at: usize, mode: Mode) -> bool {
    (*object(at)).state.rwlock().is_available(mode, mode == Mode::Read && prefers_writers(at))
}

unsafe extern "C" fn init(at: usize, attributes: *const u32, code: usize) -> i32 {
    misuse::will_begin(at, code);
    misuse::begins_again(Wait::ReadLock, at);
    misuse::begins(at, code);
    // The contents that a static initialiser would leave; only code that copies or prints them reads them.
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
    if !available(at, Mode::Write) {
        log::event(Kind::Lifetime, n, at, 0, 0);
        misuse::report(Misuse::DestroyHeld, at, (*object(at)).state.owner());
        return EBUSY;
    }
    misuse::destroy(at);
    0
}

/// The word in the C library's structure that is 0 while the lock is free.
const fn word(at: usize) -> *mut u32 {
    at as *mut u32
}

const HELD: u32 = 1;

/// Returns whether a thread holds the lock, although its memory says that it is free.
pub(super) unsafe fn looks_free(at: usize) -> bool {
    !(*object(at)).state.rwlock().is_available(Mode::Write, false) && *word(at) == 0
}

/// Checks whether an initialiser has overwritten a held lock. It is then a new one.
unsafe fn notice_new(at: usize) {
    if looks_free(at) {
        misuse::begins_again(Wait::ReadLock, at);
    }
}

unsafe fn take(at: usize, mode: Mode) {
    let o = object(at);
    clock::acquire(&(*o).clock);
    if mode == Mode::Write {
        clock::acquire(&(*o).shared_clock);
    }
    let lock = (*o).state.as_rwlock();
    if lock.readers() == 0 && *word(at) != 0 {
        misuse::note_copy();
    }
    lock.take(me(), mode);
    *word(at) = HELD;
    hold(current(), at);
    refresh(Wait::ReadLock, at);
}

/// Takes the lock and logs that.
unsafe fn take_and_log(at: usize, mode: Mode, kind: Kind, n: EventNumber) {
    misuse::used(at, kind);
    take(at, mode);
    log::event(kind, n, at, 0, detail::SUCCEEDED);
}

unsafe fn acquire(at: usize, mode: Mode, deadline: Option<Deadline>, kind: Kind, code: usize) -> i32 {
    shared::is_apart(at);
    notice_new(at);
    if (*object(at)).state.owner().is(me()) {
        let n = point(code);
        log::event(kind, n, at, 0, 0);
        return EDEADLK;
    }
    if mode == Mode::Read && holds(current(), at) != Some(false) && !prefers_writers(at) {
        escapes::reads_again();
    }
    let wait = if mode == Mode::Write { Wait::WriteLock } else { Wait::ReadLock };
    if mode == Mode::Write && prefers_writers(at) {
        // Its wait keeps readers out, and so is an effect.
        let n = point(code);
        if available(at, mode) {
            take_and_log(at, mode, kind, n);
            return 0;
        }
        log::event(Kind::TryWriteLock, n, at, 0, 0);
    }
    if !available(at, mode) {
        misuse::waits_for(at, kind, code);
    }
    let queued = (*object(at)).state.as_rwlock().queue(mode);
    let n = acquire_point(code, wait, at, deadline);
    if queued {
        (*object(at)).state.as_rwlock().unqueue();
    }
    if (*current()).timed_out {
        misuse::looked_at(at, kind);
        log::event(kind, n, at, 0, 0);
        refresh(Wait::ReadLock, at);
        return ETIMEDOUT;
    }
    take_and_log(at, mode, kind, n);
    0
}

unsafe fn acquire_until(at: usize, mode: Mode, clock: i32, until: *const [i64; 2], code: usize) -> i32 {
    if !is_clock(clock) || !is_time(until) {
        return EINVAL;
    }
    let kind = if mode == Mode::Write { Kind::TryWriteLock } else { Kind::TryReadLock };
    acquire(at, mode, Some(time::deadline(clock, until)), kind, code)
}

unsafe fn attempt(at: usize, mode: Mode, kind: Kind, code: usize) -> i32 {
    let n = point(code);
    shared::is_apart(at);
    notice_new(at);
    if available(at, mode) {
        take_and_log(at, mode, kind, n);
        return 0;
    }
    log::event(kind, n, at, 0, 0);
    misuse::looked_at(at, kind);
    EBUSY
}

unsafe extern "C" fn read_lock(at: usize, code: usize) -> i32 {
    acquire(at, Mode::Read, None, Kind::ReadLock, code)
}

unsafe extern "C" fn write_lock(at: usize, code: usize) -> i32 {
    acquire(at, Mode::Write, None, Kind::WriteLock, code)
}

unsafe extern "C" fn try_read_lock(at: usize, code: usize) -> i32 {
    attempt(at, Mode::Read, Kind::TryReadLock, code)
}

unsafe extern "C" fn try_write_lock(at: usize, code: usize) -> i32 {
    attempt(at, Mode::Write, Kind::TryWriteLock, code)
}

unsafe extern "C" fn timed_read_lock(at: usize, until: *const [i64; 2], code: usize) -> i32 {
    acquire_until(at, Mode::Read, time::REALTIME, until, code)
}

unsafe extern "C" fn timed_write_lock(at: usize, until: *const [i64; 2], code: usize) -> i32 {
    acquire_until(at, Mode::Write, time::REALTIME, until, code)
}

unsafe extern "C" fn clock_read_lock(at: usize, clock: i32, until: *const [i64; 2], code: usize) -> i32 {
    acquire_until(at, Mode::Read, clock, until, code)
}

unsafe extern "C" fn clock_write_lock(at: usize, clock: i32, until: *const [i64; 2], code: usize) -> i32 {
    acquire_until(at, Mode::Write, clock, until, code)
}

unsafe extern "C" fn unlock(at: usize, code: usize) -> i32 {
    let n = point(code);
    log::event(Kind::RwUnlock, n, at, 0, 0);
    misuse::used(at, Kind::RwUnlock);
    let o = object(at);
    match (*o).state.as_rwlock().unlock(me()) {
        RwUnlocked::Writer => clock::release(&mut (*o).clock),
        RwUnlocked::Reader => {
            if misuse::lacks(at) {
                misuse::unlock(at, Owner::NONE, true);
            }
            clock::release(&mut (*o).shared_clock);
        }
        RwUnlocked::NotHeld => {
            let owner = (*o).state.owner();
            misuse::unlock(at, owner, !owner.is_none());
            return EPERM;
        }
    }
    if *word(at) != HELD {
        misuse::note_overwritten();
    }
    *word(at) = if (*o).state.rwlock().readers() != 0 { HELD } else { 0 };
    unhold(current(), at);
    refresh(Wait::ReadLock, at);
    0
}
