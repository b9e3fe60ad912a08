//! Mutexes of every type, and spin locks.

use super::objects::{self, Lock, Object};
use super::{
    EAGAIN, EBUSY, EDEADLK, EINVAL, ENOTRECOVERABLE, EOWNERDEAD, EPERM, ETIMEDOUT, interpose, is_clock, is_time,
    misuse, real, shared,
};
use crate::schedule::{acquire_point, now, pass, point, refresh_known};
use crate::thread::{CURRENT, Thread, current, hold, thread, unhold};
use crate::{clock, log, time};
use core::sync::atomic::Ordering;
use racehunter_abi::{Kind, Misuse, Wait};

interpose! {
    pthread_mutex_init => init, "rdx";
    pthread_mutex_destroy => destroy, "rsi";
    pthread_mutex_lock => lock, "rsi";
    __interceptor_pthread_mutex_lock => lock, "rsi";
    pthread_mutex_trylock => try_lock, "rsi";
    __interceptor_pthread_mutex_trylock => try_lock, "rsi";
    pthread_mutex_timedlock => timed_lock, "rdx";
    pthread_mutex_clocklock => clock_lock, "rcx";
    pthread_mutex_unlock => unlock, "rsi";
    __interceptor_pthread_mutex_unlock => unlock, "rsi";
    pthread_mutex_consistent => make_consistent, "rsi";
    pthread_mutex_consistent_np => make_consistent, "rsi";
    pthread_spin_init => spin_init, "rdx";
    pthread_spin_destroy => spin_destroy, "rsi";
    pthread_spin_lock => spin_lock, "rsi";
    pthread_spin_trylock => spin_try_lock, "rsi";
    pthread_spin_unlock => spin_unlock, "rsi";
}

unsafe fn object(at: usize) -> *mut Object {
    objects::get(Wait::Mutex, at)
}

/// Where the C library's structure has the type, and more by which mutexes differ.
const KIND: usize = 16;
const TYPE: u32 = 3;
const NORMAL: u32 = 0;
const RECURSIVE: u32 = 1;
const ERROR_CHECK: u32 = 2;
const ADAPTIVE: u32 = 3;
const ROBUST: u32 = 16;
/// The lock word has the number of a kernel thread: robust, or with a protocol for priorities.
const OWNED_WORD: u32 = 16 | 32 | 64;
const SHARED: u32 = 128;

/// Whether the structure has what no initialiser leaves there. The C library refuses it, and so do models.
unsafe fn is_garbage(at: usize) -> bool {
    const KNOWN: u32 = 0x3ff;
    *((at + KIND) as *const u32) & !KNOWN != 0
}

/// What the program's initialiser left in the C library's structure.
unsafe fn kind_of(at: usize) -> u32 {
    let kind = *((at + KIND) as *const u32);
    if kind & OWNED_WORD == 0 { kind & (TYPE | SHARED) } else { kind & (TYPE | ROBUST) }
}

/// Whether other processes may have the mutex too, with a lock word that is understood here.
pub(super) unsafe fn is_shared(at: usize) -> bool {
    *((at + KIND) as *const u32) & (SHARED | OWNED_WORD) == SHARED
}

/// For mutexes that are not made through POSIX attributes.
pub(super) unsafe fn set_type(at: usize, kind: i32) {
    *((at + KIND) as *mut i32) = kind;
}

/// Whether every wrong use of the mutex has a defined error. An adaptive mutex is a normal one.
const fn is_checked(kind: u32) -> bool {
    kind & ROBUST != 0 || matches!(kind & TYPE, RECURSIVE | ERROR_CHECK)
}

pub(super) unsafe fn is_checked_at(at: usize) -> bool {
    is_checked(kind_of(at))
}

/// `round` of a robust mutex: what the end of an owner has done to it.
const SOUND: u32 = 0;
/// Its owner ended: the next one is notified.
const ABANDONED: u32 = 1;
/// The owner was notified, and has to declare the protected state consistent again.
const INCONSISTENT: u32 = 2;
/// It did not say so: the mutex is of no use any more.
const LOST: u32 = 3;

unsafe fn mine(o: *const Object) -> bool {
    (*o).owner == CURRENT.get() + 1
}

pub(crate) unsafe fn available(at: usize, t: *const Thread) -> bool {
    let o = object(at);
    match (*o).owner {
        0 => (*o).value & SHARED == 0 || shared::word(at).load(Ordering::Relaxed) == 0 || misuse::is_destroyed(at),
        owner => owner == (*t).number + 1 && (*o).value & TYPE == RECURSIVE,
    }
}

pub(super) unsafe extern "C" fn init(at: usize, attributes: *const u8, code: usize) -> i32 {
    objects::forget(at);
    misuse::begins(at, code);
    let init: extern "C" fn(usize, *const u8) -> i32 = core::mem::transmute(real::mutex_init());
    init(at, attributes)
}

pub(super) unsafe extern "C" fn destroy(at: usize, code: usize) -> i32 {
    point(code);
    if misuse::used(at, Kind::Lifetime) {
        return EINVAL;
    }
    let owner = (*object(at)).owner;
    if owner != 0 {
        log::event(Kind::Lifetime, now(), at, 0, 0);
        misuse::report(Misuse::DestroyHeld, at, owner);
        return EBUSY;
    }
    misuse::destroy(at);
    0
}

/// Takes the mutex, which is free, lost, or already held by a recursive owner. Returns an error: of these, only a dead
/// owner means that it was taken. It is busy only when another process was faster.
unsafe fn take(at: usize, lock: Lock) -> i32 {
    let o = object(at);
    if (*o).round == LOST {
        return ENOTRECOVERABLE;
    }
    if mine(o) {
        if (*o).count == u32::MAX {
            return EAGAIN;
        }
        (*o).count += 1;
        return 0;
    }
    if (*o).value & SHARED != 0 && !shared::take_word(at) {
        return EBUSY;
    }
    (*o).owner = CURRENT.get() + 1;
    if lock == Lock::Mutex && (*o).value & SHARED == 0 {
        *word(at) = 1;
    }
    (*o).count = 1;
    (*o).known = 0;
    (*o).lock = lock;
    hold(current(), at);
    clock::acquire(&(*o).clock);
    refresh_known(o, at);
    if (*o).round == ABANDONED {
        (*o).round = INCONSISTENT;
        return EOWNERDEAD;
    }
    0
}

/// The word in the C library's structure that is 0 while the mutex is free.
const fn word(at: usize) -> *mut u32 {
    at as *mut u32
}

/// An initialiser may have overwritten a held mutex: a local variable whose function was left, and called again, say.
/// Then it is another mutex.
unsafe fn notice_new(at: usize) {
    let o = object(at);
    if (*o).owner != 0 && (*o).lock == Lock::Mutex && (*o).value & SHARED == 0 && *word(at) == 0 {
        unhold(thread((*o).owner - 1), at);
        objects::forget(at);
    }
}

/// Takes the mutex and logs how that went.
unsafe fn take_and_log(at: usize, lock: Lock, logged: Kind, n: u64) -> i32 {
    if lock == Lock::Mutex && misuse::used(at, logged) {
        log::event(logged, n, at, 0, 0);
        (*object(at)).known = CURRENT.get() + 1;
        return EINVAL;
    }
    if (*object(at)).value & ROBUST != 0 {
        shared::is_apart(at);
    }
    let error = take(at, lock);
    log::event(logged, n, at, 0, u8::from(matches!(error, 0 | EOWNERDEAD)));
    error
}

pub(super) unsafe extern "C" fn lock(at: usize, code: usize) -> i32 {
    if is_garbage(at) && !misuse::is_destroyed(at) {
        return EINVAL;
    }
    let kind = kind_of(at);
    if matches!(kind, NORMAL | ADAPTIVE)
        && let Some(error) = take_at_once(at, kind, Lock::Mutex, code)
    {
        return error;
    }
    acquire(at, kind, None, Kind::Lock, code)
}

/// Most of the time no thread holds a mutex or waits for it, and it is known that the running thread continues: then
/// it need not announce the operation first.
unsafe fn take_at_once(at: usize, kind: u32, lock: Lock, code: usize) -> Option<i32> {
    let o = object(at);
    if (*o).owner != 0 || (*o).waiters != 0 {
        return None;
    }
    let n = pass(code, at, true)?;
    (*o).value = kind;
    Some(take_and_log(at, lock, Kind::Lock, n))
}

pub(super) unsafe extern "C" fn timed_lock(at: usize, until: *const [i64; 2], code: usize) -> i32 {
    lock_until(at, time::REALTIME, until, code)
}

unsafe extern "C" fn clock_lock(at: usize, clock: i32, until: *const [i64; 2], code: usize) -> i32 {
    if is_clock(clock) { lock_until(at, clock, until, code) } else { EINVAL }
}

unsafe fn lock_until(at: usize, clock: i32, until: *const [i64; 2], code: usize) -> i32 {
    if !is_time(until) {
        // The time is checked only if the mutex is held.
        let error = attempt(at, kind_of(at), Lock::Mutex, code);
        return if error == EBUSY { EINVAL } else { error };
    }
    acquire(at, kind_of(at), Some(time::deadline(clock, until)), Kind::TryLock, code)
}

unsafe fn acquire(at: usize, kind: u32, deadline: Option<u64>, logged: Kind, code: usize) -> i32 {
    notice_new(at);
    let o = object(at);
    if mine(o) && kind & TYPE == ERROR_CHECK {
        let n = point(code);
        log::event(Kind::TryLock, n, at, 0, 0);
        return EDEADLK;
    }
    (*o).value = kind;
    loop {
        let n = acquire_point(code, Wait::Mutex, at, deadline);
        if (*current()).timed_out {
            log::event(logged, n, at, 0, 0);
            return ETIMEDOUT;
        }
        let error = take_and_log(at, Lock::Mutex, logged, n);
        if error != EBUSY {
            return error;
        }
    }
}

pub(super) unsafe extern "C" fn try_lock(at: usize, code: usize) -> i32 {
    if is_garbage(at) && !misuse::is_destroyed(at) {
        return EINVAL;
    }
    attempt(at, kind_of(at), Lock::Mutex, code)
}

unsafe fn attempt(at: usize, kind: u32, lock: Lock, code: usize) -> i32 {
    let n = point(code);
    notice_new(at);
    (*object(at)).value = kind;
    if available(at, current()) {
        return take_and_log(at, lock, Kind::TryLock, n);
    }
    log::event(Kind::TryLock, n, at, 0, 0);
    // The C library's fast path for plain mutexes does not look at who holds them.
    let has_owner = *((at + KIND) as *const u32) & OWNED_WORD != 0;
    let is_own = lock == Lock::Mutex && has_owner && mine(object(at)) && kind & TYPE == ERROR_CHECK;
    if is_own { EDEADLK } else { EBUSY }
}

pub(super) unsafe extern "C" fn unlock(at: usize, code: usize) -> i32 {
    if is_garbage(at) && !misuse::is_destroyed(at) {
        return EINVAL;
    }
    let n = point(code);
    if misuse::used(at, Kind::Unlock) {
        log::event(Kind::Unlock, n, at, 0, 1);
        return EINVAL;
    }
    let o = object(at);
    if !mine(o) {
        if is_checked(kind_of(at)) {
            log::event(Kind::Unlock, n, at, 0, 1);
            return EPERM;
        }
        return unlock_anyway(at, n);
    }
    if (*o).count > 1 {
        (*o).count -= 1;
    } else {
        if (*o).round == INCONSISTENT {
            (*o).round = LOST;
        }
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

/// Unlocks what the running thread does not hold: the C library does so too.
unsafe fn unlock_anyway(at: usize, n: u64) -> i32 {
    let owner = (*object(at)).owner;
    log::event(Kind::Unlock, n, at, 0, 0);
    let o = object(at);
    // `known` is the thread that could have it by now but for an earlier misuse, number + 1: that it unlocks is not
    // another one.
    if owner != 0 {
        misuse::unlock(at, owner, true);
        drop_ownership(at);
        (*o).known = owner;
    } else if (*o).known != CURRENT.get() + 1 {
        misuse::unlock(at, 0, false);
    }
    0
}

/// Gives the mutex up altogether; returns how often it was held.
unsafe fn drop_ownership(at: usize) -> u32 {
    let o = object(at);
    let depth = (*o).count;
    unhold(thread((*o).owner.saturating_sub(1)), at);
    if (*o).value & SHARED != 0 {
        shared::give_word(at);
    }
    if (*o).lock == Lock::Mutex && (*o).value & SHARED == 0 {
        *word(at) = 0;
    }
    (*o).owner = 0;
    (*o).count = 0;
    clock::release(&mut (*o).clock);
    refresh_known(o, at);
    depth
}

/// Takes the mutex again after waiting on a condition variable, with the depth it had before. Returns an error as [`take`] does: the
/// owner of a robust mutex may have ended during the wait.
pub(crate) unsafe fn take_again(at: usize, depth: u32) -> i32 {
    let error = loop {
        match take(at, Lock::Mutex) {
            EBUSY => acquire_point((*current()).code, Wait::Mutex, at, None),
            error => break error,
        };
    };
    let is_taken = matches!(error, 0 | EOWNERDEAD);
    if is_taken {
        (*object(at)).count = depth;
    }
    log::event(Kind::Lock, now(), at, 0, u8::from(is_taken));
    error
}

/// Whether the running thread holds it.
pub(crate) unsafe fn is_held(at: usize) -> bool {
    mine(object(at))
}

/// The running thread has ended and holds the mutex, since `code`: the next owner of a robust one is notified.
pub(super) unsafe fn abandon(at: usize, code: usize) {
    let o = object(at);
    if (*o).value & ROBUST == 0 {
        return misuse::end_holding(at, code);
    }
    (*o).round = ABANDONED;
    drop_ownership(at);
}

unsafe extern "C" fn make_consistent(at: usize, code: usize) -> i32 {
    point(code);
    let o = object(at);
    if kind_of(at) & ROBUST == 0 || (*o).round != INCONSISTENT || !mine(o) {
        return EINVAL;
    }
    (*o).round = SOUND;
    0
}

/// The C library's value of a free spin lock.
const FREE_SPIN_LOCK: u32 = 1;

unsafe extern "C" fn spin_init(at: usize, _shared: i32, _code: usize) -> i32 {
    objects::forget(at);
    *word(at) = FREE_SPIN_LOCK;
    0
}

/// A spin lock has no initialiser but the function. One that nothing has initialised is a lock that is held, with this C library,
/// and anything with others.
unsafe fn expect_spin_lock(at: usize, code: usize) {
    if *word(at) != FREE_SPIN_LOCK {
        point(code);
        misuse::report(Misuse::NeverInitialised, at, 0);
        // One report is enough.
        *word(at) = FREE_SPIN_LOCK;
    }
}

unsafe extern "C" fn spin_destroy(at: usize, code: usize) -> i32 {
    let n = point(code);
    let owner = (*object(at)).owner;
    log::event(Kind::Lifetime, n, at, 0, 1);
    if owner != 0 {
        misuse::report(Misuse::DestroyHeld, at, owner);
        return EBUSY;
    }
    objects::forget(at);
    0
}

unsafe extern "C" fn spin_lock(at: usize, code: usize) -> i32 {
    expect_spin_lock(at, code);
    if let Some(error) = take_at_once(at, NORMAL, Lock::Spin, code) {
        return error;
    }
    (*object(at)).value = 0;
    let n = acquire_point(code, Wait::Mutex, at, None);
    take_and_log(at, Lock::Spin, Kind::Lock, n)
}

unsafe extern "C" fn spin_try_lock(at: usize, code: usize) -> i32 {
    expect_spin_lock(at, code);
    attempt(at, 0, Lock::Spin, code)
}

unsafe extern "C" fn spin_unlock(at: usize, code: usize) -> i32 {
    let n = point(code);
    if !mine(object(at)) {
        return unlock_anyway(at, n);
    }
    drop_ownership(at);
    log::event(Kind::Unlock, n, at, 0, 0);
    0
}
