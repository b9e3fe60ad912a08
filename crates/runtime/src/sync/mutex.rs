//! Mutexes of every type, and spin locks.

use super::objects::{self, Object};
use super::{
    EAGAIN, EBUSY, EDEADLK, EINVAL, ENOTRECOVERABLE, EOWNERDEAD, EPERM, ETIMEDOUT, interpose, is_clock, is_time,
    misuse, real, shared,
};
use crate::schedule::{acquire_point, now, pass, point, refresh_known};
use crate::thread::{Thread, current, hold, me, thread, unhold};
use crate::{clock, escapes, log, time};
use core::sync::atomic::Ordering;
use racehunter_abi::{EventNumber, Kind, Misuse, Wait, detail};
use racehunter_machine::sync::{LockForm, Mutex, MutexKind, State, Taken, Unlocked};
use racehunter_machine::{Deadline, Owner};

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

/// The offset of the type, and of other attributes, in the C library's structure.
const KIND: usize = 16;

/// Returns whether the structure contains values that no initialiser leaves. The C library refuses it, and so do models.
unsafe fn is_garbage(at: usize) -> bool {
    MutexKind::is_garbage(*((at + KIND) as *const u32))
}

/// Returns the kind that the program's initialiser left in the C library's structure.
unsafe fn kind_of(at: usize) -> MutexKind {
    MutexKind::from_word(*((at + KIND) as *const u32))
}

/// Returns whether other processes may share the mutex, with a lock word that is understood here.
pub(super) unsafe fn is_shared(at: usize) -> bool {
    kind_of(at).is_shared()
}

/// Sets the type of a mutex that is not created through POSIX attributes.
pub(super) unsafe fn set_type(at: usize, kind: i32) {
    *((at + KIND) as *mut i32) = kind;
}

/// Returns whether every misuse of the mutex has a defined error.
pub(super) unsafe fn is_checked_at(at: usize) -> bool {
    kind_of(at).is_checked()
}

#[inline]
unsafe fn mine(o: *const Object) -> bool {
    matches!(&(*o).state, State::Mutex(mutex) if mutex.owner().is(me()))
}

/// The mutex, to be changed.
#[inline]
unsafe fn change<'a>(o: *mut Object) -> &'a mut Mutex {
    (*o).state.as_mutex()
}

pub(crate) unsafe fn available(at: usize, t: *const Thread) -> bool {
    let mutex = (*object(at)).state.mutex();
    let is_free_elsewhere =
        || !mutex.kind().is_shared() || shared::word(at).load(Ordering::Relaxed) == 0 || misuse::is_destroyed(at);
    mutex.is_available((*t).number) && (!mutex.owner().is_none() || is_free_elsewhere())
}

pub(super) unsafe extern "C" fn init(at: usize, attributes: *const u8, code: usize) -> i32 {
    misuse::will_begin(at, code);
    misuse::begins_again(Wait::Mutex, at);
    misuse::begins(at, code);
    let init: extern "C" fn(usize, *const u8) -> i32 = core::mem::transmute(real::mutex_init());
    init(at, attributes)
}

pub(super) unsafe extern "C" fn destroy(at: usize, code: usize) -> i32 {
    point(code);
    if misuse::used(at, Kind::Lifetime) {
        return EINVAL;
    }
    let owner = (*object(at)).state.owner();
    if !owner.is_none() {
        log::event(Kind::Lifetime, now(), at, 0, 0);
        misuse::report(Misuse::DestroyHeld, at, owner);
        return EBUSY;
    }
    misuse::destroy(at);
    0
}

/// Takes the mutex, which is free, lost, or already held by a recursive owner. Returns an error number: of these, only that of a
/// dead owner means that it was taken. It is busy only if another process was faster.
unsafe fn take(at: usize, form: LockForm) -> i32 {
    let o = object(at);
    let mutex = change(o);
    if mutex.needs_word(me()) && !shared::take_word(at) {
        return EBUSY;
    }
    let taken = mutex.take(me(), form);
    let is_own = mutex.has_own_word() && !mutex.kind().is_robust();
    if matches!(taken, Taken::Newly) && is_own && *word(at) != 0 {
        misuse::note_copy();
    }
    if form == LockForm::Mutex && MutexKind::has_ceiling(*((at + KIND) as *const u32)) {
        misuse::note_ceiling();
    }
    match taken {
        Taken::Lost => return ENOTRECOVERABLE,
        Taken::TooDeep => return EAGAIN,
        Taken::Again => return 0,
        Taken::Newly | Taken::FromDead => {}
    }
    match form {
        LockForm::Spin => *word(at) = HELD_SPIN_LOCK,
        LockForm::Mutex if mutex.has_own_word() => *word(at) = HELD_MUTEX,
        LockForm::Mutex | LockForm::File | LockForm::None => {}
    }
    hold(current(), at);
    clock::acquire(&(*o).clock);
    refresh_known(o, at);
    if taken == Taken::FromDead { EOWNERDEAD } else { 0 }
}

/// The word in the C library's structure that is 0 while the mutex is free.
const fn word(at: usize) -> *mut u32 {
    at as *mut u32
}

/// Returns whether the memory of a held lock is not what taking it left there.
unsafe fn is_overwritten(at: usize) -> bool {
    let mutex = (*object(at)).state.mutex();
    mutex.has_own_word() && *word(at) != HELD_MUTEX || mutex.is_spin_lock() && *word(at) != HELD_SPIN_LOCK
}

/// Returns whether a thread holds the lock, although its memory says that it is free.
pub(super) unsafe fn looks_free(at: usize) -> bool {
    let mutex = (*object(at)).state.mutex();
    !mutex.owner().is_none()
        && (mutex.has_own_word() && *word(at) == 0 || mutex.is_spin_lock() && *word(at) == FREE_SPIN_LOCK)
}

/// Checks whether an initialiser has overwritten a held lock: a local variable of a function that was left and called again, say.
/// It is then a new lock.
unsafe fn notice_new(at: usize) {
    if looks_free(at) {
        misuse::begins_again(Wait::Mutex, at);
    }
}

/// Takes the mutex and logs the result.
unsafe fn take_and_log(at: usize, form: LockForm, logged: Kind, n: EventNumber) -> i32 {
    let is_gone = match form {
        LockForm::Mutex => misuse::used(at, logged),
        LockForm::Spin => misuse::used_unmarked(at, logged),
        LockForm::File | LockForm::None => false,
    };
    if is_gone {
        log::event(logged, n, at, 0, 0);
        change(object(at)).excuse(Owner::of(me()));
        return EINVAL;
    }
    if change(object(at)).kind().is_robust() {
        shared::is_apart(at);
    }
    let error = take(at, form);
    log::event(logged, n, at, 0, u8::from(matches!(error, 0 | EOWNERDEAD)));
    error
}

pub(super) unsafe extern "C" fn lock(at: usize, code: usize) -> i32 {
    if is_garbage(at) && !misuse::is_destroyed(at) {
        escapes::touches(at, code);
        return EINVAL;
    }
    let kind = kind_of(at);
    if kind.is_plain()
        && let Some(error) = take_at_once(at, kind, LockForm::Mutex, code)
    {
        return error;
    }
    acquire(at, kind, None, Kind::Lock, code)
}

/// Takes the mutex without announcing the operation first, if no thread holds it or waits for it, and the running thread
/// certainly continues. This is the usual case.
unsafe fn take_at_once(at: usize, kind: MutexKind, form: LockForm, code: usize) -> Option<i32> {
    let o = object(at);
    if !(*o).state.owner().is_none() || (*o).waiters != 0 {
        return None;
    }
    let n = pass(code, at, true)?;
    change(o).set_kind(kind);
    Some(take_and_log(at, form, Kind::Lock, n))
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
        let error = attempt(at, kind_of(at), LockForm::Mutex, code);
        return if error == EBUSY { EINVAL } else { error };
    }
    acquire(at, kind_of(at), Some(time::deadline(clock, until)), Kind::TryLock, code)
}

unsafe fn acquire(at: usize, kind: MutexKind, deadline: Option<Deadline>, logged: Kind, code: usize) -> i32 {
    notice_new(at);
    let o = object(at);
    if (*o).state.mutex().refuses_again(me(), kind) {
        let n = point(code);
        log::event(Kind::TryLock, n, at, 0, 0);
        return EDEADLK;
    }
    change(o).set_kind(kind);
    if !available(at, current()) {
        misuse::waits_for(at, logged, code);
    }
    loop {
        let n = acquire_point(code, Wait::Mutex, at, deadline);
        if (*current()).timed_out {
            misuse::looked_at(at, logged);
            log::event(logged, n, at, 0, 0);
            return ETIMEDOUT;
        }
        let error = take_and_log(at, LockForm::Mutex, logged, n);
        if error != EBUSY {
            return error;
        }
    }
}

pub(super) unsafe extern "C" fn try_lock(at: usize, code: usize) -> i32 {
    if is_garbage(at) && !misuse::is_destroyed(at) {
        escapes::touches(at, code);
        return EINVAL;
    }
    attempt(at, kind_of(at), LockForm::Mutex, code)
}

unsafe fn attempt(at: usize, kind: MutexKind, form: LockForm, code: usize) -> i32 {
    let n = point(code);
    notice_new(at);
    change(object(at)).set_kind(kind);
    if available(at, current()) {
        return take_and_log(at, form, Kind::TryLock, n);
    }
    log::event(Kind::TryLock, n, at, 0, 0);
    match form {
        LockForm::Spin => misuse::used_unmarked(at, Kind::TryLock),
        _ => misuse::looked_at(at, Kind::TryLock),
    };
    // The C library's fast path for plain mutexes does not check the owner.
    let has_owner = MutexKind::has_owner(*((at + KIND) as *const u32));
    let is_own = form == LockForm::Mutex && has_owner && (*object(at)).state.mutex().refuses_again(me(), kind);
    if is_own { EDEADLK } else { EBUSY }
}

pub(super) unsafe extern "C" fn unlock(at: usize, code: usize) -> i32 {
    if is_garbage(at) && !misuse::is_destroyed(at) {
        escapes::touches(at, code);
        return EINVAL;
    }
    let n = point(code);
    if misuse::used(at, Kind::Unlock) {
        log::event(Kind::Unlock, n, at, 0, detail::UNLOCK_REFUSED);
        return EINVAL;
    }
    let o = object(at);
    if !mine(o) {
        if is_checked_at(at) {
            log::event(Kind::Unlock, n, at, 0, detail::UNLOCK_REFUSED);
            return EPERM;
        }
        return unlock_anyway(at, n);
    }
    if change(o).unlock() == Unlocked::Last {
        drop_ownership(at);
    }
    log::event(Kind::Unlock, n, at, 0, 0);
    0
}

/// Releases the mutex to wait on a condition variable; returns how often it was held. A recursive mutex is released only once, as
/// in the C library: a thread that holds it twice keeps it.
pub(crate) unsafe fn give_up(at: usize) -> u32 {
    let o = object(at);
    match change(o).give_up() {
        Unlocked::Still => change(o).depth() + 1,
        Unlocked::Last => drop_ownership(at),
    }
}

/// Unlocks a mutex that the running thread does not hold, as the C library does.
unsafe fn unlock_anyway(at: usize, n: EventNumber) -> i32 {
    let o = object(at);
    let owner = change(o).owner();
    log::event(Kind::Unlock, n, at, 0, 0);
    if !owner.is_none() {
        misuse::unlock(at, owner, true);
        drop_ownership(at);
        change(o).excuse(owner);
    } else if !change(o).excuses(me()) {
        misuse::unlock(at, Owner::NONE, false);
    }
    0
}

/// Releases the mutex completely; returns how often it was held.
unsafe fn drop_ownership(at: usize) -> u32 {
    let o = object(at);
    if is_overwritten(at) {
        misuse::note_overwritten();
    }
    let mutex = change(o);
    let (owner, depth) = mutex.release();
    if mutex.kind().is_shared() {
        shared::give_word(at);
    } else if mutex.has_own_word() {
        *word(at) = 0;
    } else if mutex.is_spin_lock() {
        *word(at) = FREE_SPIN_LOCK;
    }
    if let Some(owner) = owner.thread() {
        unhold(thread(owner), at);
    }
    clock::release(&mut (*o).clock);
    refresh_known(o, at);
    depth
}

/// Takes the mutex again after waiting on a condition variable, with its previous depth. Returns an error number as [`take`]
/// does: the owner of a robust mutex may have ended during the wait.
pub(crate) unsafe fn take_again(at: usize, depth: u32) -> i32 {
    let error = loop {
        match take(at, LockForm::Mutex) {
            EBUSY => acquire_point((*current()).code, Wait::Mutex, at, None),
            error => break error,
        };
    };
    let is_taken = matches!(error, 0 | EOWNERDEAD);
    if is_taken {
        change(object(at)).restore_depth(depth);
    }
    log::event(Kind::Lock, now(), at, 0, u8::from(is_taken));
    error
}

/// Returns whether the running thread holds it.
pub(crate) unsafe fn is_held(at: usize) -> bool {
    mine(object(at))
}

/// Handles a mutex that the running thread, which has ended, has held since `code`: the next owner of a robust one is notified.
pub(super) unsafe fn abandon(at: usize, code: usize) {
    let o = object(at);
    if !change(o).kind().is_robust() {
        return misuse::end_holding(at, code);
    }
    change(o).abandon();
    drop_ownership(at);
}

unsafe extern "C" fn make_consistent(at: usize, code: usize) -> i32 {
    point(code);
    if misuse::looked_at(at, Kind::TryLock) {
        return EINVAL;
    }
    if change(object(at)).make_consistent(me(), kind_of(at)) { 0 } else { EINVAL }
}

/// The value of the lock word of a held mutex. The C library's value for one without waiters.
const HELD_MUTEX: u32 = 1;
/// The C library's value of a free spin lock.
const FREE_SPIN_LOCK: u32 = 1;
const HELD_SPIN_LOCK: u32 = !FREE_SPIN_LOCK;

unsafe extern "C" fn spin_init(at: usize, _shared: i32, code: usize) -> i32 {
    misuse::will_begin(at, code);
    misuse::begins_again(Wait::Mutex, at);
    misuse::begins(at, code);
    *word(at) = FREE_SPIN_LOCK;
    0
}

/// Checks that a spin lock was initialised; there is no initialiser but the function. With this C library an uninitialised one is
/// a held lock, with others anything.
unsafe fn expect_spin_lock(at: usize, code: usize) {
    if *word(at) != FREE_SPIN_LOCK && (*object(at)).state.owner().is_none() {
        point(code);
        misuse::report(Misuse::NeverInitialised, at, Owner::NONE);
        // One report is enough.
        *word(at) = FREE_SPIN_LOCK;
    }
}

unsafe extern "C" fn spin_destroy(at: usize, code: usize) -> i32 {
    let n = point(code);
    let owner = (*object(at)).state.owner();
    log::event(Kind::Lifetime, n, at, 0, detail::LIFETIME_DESTROYED);
    if !owner.is_none() {
        misuse::report(Misuse::DestroyHeld, at, owner);
        return EBUSY;
    }
    objects::forget(at);
    0
}

unsafe extern "C" fn spin_lock(at: usize, code: usize) -> i32 {
    expect_spin_lock(at, code);
    if let Some(error) = take_at_once(at, MutexKind::NORMAL, LockForm::Spin, code) {
        return error;
    }
    notice_new(at);
    change(object(at)).set_kind(MutexKind::NORMAL);
    if !available(at, current()) {
        misuse::waits_for(at, Kind::Lock, code);
    }
    let n = acquire_point(code, Wait::Mutex, at, None);
    take_and_log(at, LockForm::Spin, Kind::Lock, n)
}

unsafe extern "C" fn spin_try_lock(at: usize, code: usize) -> i32 {
    expect_spin_lock(at, code);
    attempt(at, MutexKind::NORMAL, LockForm::Spin, code)
}

unsafe extern "C" fn spin_unlock(at: usize, code: usize) -> i32 {
    let n = point(code);
    if misuse::used_unmarked(at, Kind::Unlock) {
        log::event(Kind::Unlock, n, at, 0, detail::UNLOCK_REFUSED);
        return EINVAL;
    }
    if !mine(object(at)) {
        return unlock_anyway(at, n);
    }
    drop_ownership(at);
    log::event(Kind::Unlock, n, at, 0, 0);
    0
}
