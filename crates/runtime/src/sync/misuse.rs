//! Invalid uses of locks and threads.
//!
//! The misuses reported here are undefined behaviour by POSIX. Misuses with a defined error (unlocking an error-checking mutex
//! that another thread holds, say) are not reported: programs may rely on the error.

use super::objects::{self, Origin};
use crate::schedule::{self, now};
use crate::shadow::{self, Access};
use crate::thread::{Awaits, Thread, current, every_thread, holds, me, thread, threads, unhold};
use crate::{afterlife, annotations, clock, escapes, log, memory};
use racehunter_abi::{
    Escape, Kind, Misuse, Record, ThreadId, UNMODELLED_CEILING, UNMODELLED_COPY, UNMODELLED_FUNCTION,
    UNMODELLED_OVERWRITTEN, Wait, detail,
};
use racehunter_machine::Owner;

/// Logs a misuse by the running thread, in its current event.
#[cold]
pub(crate) unsafe fn report(what: Misuse, object: usize, other: Owner) {
    log::event(Kind::Misuse, now(), object, u64::from(other.logged()), what as u8);
}

/// Notes that a lock is taken that is held according to its memory: a copy of a held one, say. With the C library the thread
/// would wait for ever.
#[cold]
pub(crate) unsafe fn note_copy() {
    log::escape(Escape::Unmodelled, (*current()).code, (UNMODELLED_FUNCTION + UNMODELLED_COPY) as usize, 0);
}

/// Notes that a lock is held, but its memory does not say so any more: the program has initialised or copied something over
/// it. The models use their own state; what the C library would do depends on which threads wait, and how.
#[cold]
pub(crate) unsafe fn note_overwritten() {
    log::escape(Escape::Unmodelled, (*current()).code, (UNMODELLED_FUNCTION + UNMODELLED_OVERWRITTEN) as usize, 0);
}

/// Notes that a mutex with a priority ceiling is taken. The C library refuses it to most threads.
#[cold]
pub(crate) unsafe fn note_ceiling() {
    log::escape(Escape::Unmodelled, (*current()).code, (UNMODELLED_FUNCTION + UNMODELLED_CEILING) as usize, 0);
}

/// The first word of a destroyed object. An initialiser of any kind, and any other use of the memory, replaces it.
const DESTROYED: u64 = 0xdead_10cc_dead_10cc;

/// Destroys an object: in the log, in the table of objects, and by a mark in its memory. For the detector its memory is
/// written.
pub(crate) unsafe fn destroy(at: usize) {
    log::event(Kind::Lifetime, now(), at, 0, detail::LIFETIME_DESTROYED);
    touch(at, Kind::Write);
    objects::forget(at);
    (at as *mut u64).write_unaligned(DESTROYED);
}

/// Notes that a lock is initialised, or its memory is found to be that of a new one. The earlier lock at this address has
/// ended; if a thread held it, no model knows what happens then. Only a lock in a local variable of a function that was left
/// has simply ended.
pub(crate) unsafe fn begins_again(wait: Wait, at: usize) {
    let object = objects::known(wait, at);
    let owner = if object.is_null() { Owner::NONE } else { (*object).state.owner() };
    let is_held = !object.is_null() && (*object).state.is_held();
    if let Some(owner) = owner.thread() {
        unhold(thread(owner), at);
    }
    if is_held && !(owner.is(me()) && is_on_own_stack(at)) {
        note_overwritten();
    }
    objects::forget(at);
    if is_held {
        schedule::refresh(wait, at);
    }
}

unsafe fn is_on_own_stack(at: usize) -> bool {
    let t = current();
    if (*t).number == ThreadId::MAIN {
        return afterlife::stack_of_main().contains(&at);
    }
    ((*t).fs.saturating_sub((*t).stack_size)..(*t).fs).contains(&at)
}

/// Notes that the running thread has read the memory of an object in an event of this kind, and will not change it: it was
/// refused a lock, or waited in vain. Returns true if the object does not exist.
pub(crate) unsafe fn looked_at(at: usize, kind: Kind) -> bool {
    let is_gone = used(at, kind);
    if !is_gone && !ends_use(kind) {
        touch(at, Kind::AtomicRead);
    }
    is_gone
}

/// Checks that the memory of an object exists, for a thread that does not touch it otherwise.
pub(crate) unsafe fn looks_at_end(at: usize, kind: Kind) {
    afterlife::object_used(at, kind, (*current()).code);
}

/// Notes that the running thread is about to wait for an object. It may do so for ever, and has read its memory before.
pub(crate) unsafe fn waits_for(at: usize, kind: Kind, code: usize) {
    if !afterlife::object_used(at, kind, code) {
        touch_at(at, Kind::AtomicRead, code);
    }
}

/// Notes that the running thread is about to initialise an object. Its earlier initialisation, if there was one, must be ordered
/// before.
pub(crate) unsafe fn will_begin(at: usize, code: usize) {
    let t = current();
    let before = core::mem::replace(&mut (*t).code, code);
    is_initialised(at);
    (*t).code = before;
}

/// Notes that the running thread has just initialised an object. For the detector that is an atomic write: what uses the object
/// without order is reported as misuse, and not as a race too.
pub(crate) unsafe fn begins(at: usize, code: usize) {
    touch_at(at, Kind::AtomicWrite, code);
    if clock::DETECTS.get() {
        (*objects::get(Wait::Mutex, at)).origin =
            Origin { thread: Owner::of(me()), clock: clock::own(), code: log::relative(code), index: now() };
    }
}

/// Checks that the initialisation of a used object is ordered before the use. Reported once.
unsafe fn is_initialised(at: usize) {
    if !clock::DETECTS.get() {
        return;
    }
    let object = objects::known(Wait::Mutex, at);
    if object.is_null() {
        return;
    }
    let Origin { thread: owner, clock, code, index } = (*object).origin;
    let Some(thread) = owner.thread() else { return };
    if !clock::knows(thread, clock) {
        (*object).origin = Origin::UNKNOWN;
        let kind = Kind::Initialised;
        log::put(Record { index, code, object: at as u64, thread, kind, ..Record::default() });
        report(Misuse::NotInitialised, at, owner);
    }
}

/// Notes the use of an object, which for the detector is a read of its memory by a thread that synchronises: a thread that
/// frees or destroys it must be ordered after that. Of several related uses it is enough to note the last: a locked section
/// ends with unlocking. Libraries order their uses in ways that are not seen.
unsafe fn touch(at: usize, kind: Kind) {
    touch_at(at, kind, (*current()).code);
}

unsafe fn touch_at(at: usize, kind: Kind, code: usize) {
    if clock::DETECTS.get() && annotations::looks_at(current()) && memory::in_program(code) {
        shadow::check(at & !3, 4, Access { kind, code, site: core::ptr::null_mut() });
    }
}

pub(crate) unsafe fn is_destroyed(at: usize) -> bool {
    (at as *const u64).read_unaligned() == DESTROYED
}

/// Checks an object that is used by `kind` of event: its memory must exist, and it must not have been destroyed. Returns true
/// if that is not so; a destroyed object is then treated as newly initialised.
pub(crate) unsafe fn used(at: usize, kind: Kind) -> bool {
    if has_ended(at, kind) {
        return true;
    }
    if !is_destroyed(at) {
        if ends_use(kind) {
            touch(at, Kind::AtomicRead);
        }
        return false;
    }
    report(Misuse::Destroyed, at, Owner::NONE);
    (at as *mut u64).write_unaligned(0);
    true
}

/// As [`used`], for objects that leave no mark when they are destroyed: spin locks and the flags of `pthread_once`.
pub(crate) unsafe fn used_unmarked(at: usize, kind: Kind) -> bool {
    let has_ended = has_ended(at, kind);
    if !has_ended {
        touch(at, Kind::AtomicRead);
    }
    has_ended
}

/// Checks that the memory of a used object exists, and that its initialisation is ordered before. Returns whether the memory has
/// ended.
unsafe fn has_ended(at: usize, kind: Kind) -> bool {
    if afterlife::object_used(at, kind, (*current()).code) {
        return true;
    }
    escapes::touches(at, (*current()).code);
    is_initialised(at);
    false
}

/// Returns whether such an event may be the thread's last use of the object.
fn ends_use(kind: Kind) -> bool {
    use Kind::{BarrierWait, Broadcast, RwUnlock, SemPost, Signal, Unlock, Wait};
    matches!(kind, Unlock | RwUnlock | Wait | Signal | Broadcast | SemPost | BarrierWait)
}

/// Returns a thread that waits for the object, if there is one.
pub(crate) unsafe fn waiter(wait: Wait, at: usize) -> Owner {
    let waits = |t: *mut Thread| (*t).pending == wait && (*t).object == at && t != current();
    if !objects::has_waiters(wait, at) {
        return Owner::NONE;
    }
    threads().find(|&n| waits(thread(n))).map_or(Owner::NONE, Owner::of)
}

/// Checks that all waiters on a condition variable use the same mutex, when a thread starts to wait.
pub(crate) unsafe fn one_mutex(condition: usize, mutex: usize) {
    if !objects::has_waiters(Wait::Condition, condition) {
        return;
    }
    for t in every_thread().filter(|&t| t != current()) {
        if (*t).pending == Wait::Condition && (*t).object == condition && (*t).awaits != Awaits::Mutex(mutex) {
            return report(Misuse::TwoMutexes, condition, Owner::of((*t).number));
        }
    }
}

/// Reports that a thread is about to wait on a condition variable with a mutex that it does not hold.
pub(crate) unsafe fn wait_unlocked(mutex: usize) {
    if !super::mutex::is_checked_at(mutex) {
        report(Misuse::WaitUnlocked, mutex, Owner::NONE);
    }
}

/// Reports that the running thread has ended and still holds a lock that it took at `code`.
pub(crate) unsafe fn end_holding(lock: usize, code: usize) {
    let t = current();
    // A lock in a local variable has ended with it. One in freed memory has been reported for its use.
    if is_on_own_stack(lock) || clock::DETECTS.get() && shadow::ended(lock).is_some() {
        return;
    }
    (*t).code = code;
    report(Misuse::EndHolding, lock, Owner::NONE);
    (*t).code = 0;
}

/// Reports that the running thread releases a lock that it does not hold.
pub(crate) unsafe fn unlock(lock: usize, owner: Owner, is_held: bool) {
    report(if is_held { Misuse::UnlockOther } else { Misuse::UnlockFree }, lock, owner);
}

/// Returns whether the running thread certainly does not hold the lock.
pub(crate) unsafe fn lacks(lock: usize) -> bool {
    holds(current(), lock) == Some(false)
}
