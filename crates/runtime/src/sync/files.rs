//! Locks of streams: `flockfile` and related functions.
//!
//! Every stream has a recursive lock, which the C library's functions take while they run. Nothing can happen in
//! between, so only explicit locking by the program needs a model. The C library's own lock is never held here, because
//! another thread that wants it would stop all threads. Instead, while a thread has locked a stream, the functions on
//! it make others wait first (see [`crate::io::streams`], which knows them all).

use super::objects::{self, Object};
use super::{interpose, misuse};
use crate::schedule::{acquire_point, point, refresh};
use crate::thread::{current, hold, me, unhold};
use crate::{Global, clock, fiber, free, log};
use racehunter_abi::{Kind, Wait, detail};
use racehunter_machine::sync::{LockForm, MutexKind, Taken, Unlocked};

interpose! {
    flockfile => lock, "rsi";
    ftrylockfile => try_lock, "rsi";
    funlockfile => unlock, "rsi";
}

/// Number of locked streams. As long as it is 0, nothing else is checked.
#[unsafe(link_section = ".data.racehunter")]
static LOCKED: Global<u32> = Global::new(0);

unsafe fn object(at: usize) -> *mut Object {
    objects::get(Wait::Mutex, at)
}

unsafe fn take(at: usize) {
    let o = object(at);
    (*o).state.as_mutex().set_kind(MutexKind::RECURSIVE);
    if (*o).state.as_mutex().take(me(), LockForm::File) != Taken::Newly {
        return;
    }
    LOCKED.set(LOCKED.get() + 1);
    hold(current(), at);
    clock::acquire(&(*o).clock);
    // The stream is used from here to the end of the section, by functions without a lock of their own too.
    misuse::used_unmarked(at, Kind::Lock);
    refresh(Wait::Mutex, at);
}

unsafe extern "C" fn lock(at: usize, code: usize) {
    let n = acquire_point(code, Wait::Mutex, at, None);
    take(at);
    log::event(Kind::Lock, n, at, 0, detail::SUCCEEDED);
}

unsafe extern "C" fn try_lock(at: usize, code: usize) -> i32 {
    let n = point(code);
    let free = super::mutex::available(at, current());
    if free {
        take(at);
    } else {
        misuse::looks_at_end(at, Kind::TryLock);
    }
    log::event(Kind::TryLock, n, at, 0, u8::from(free));
    i32::from(!free)
}

unsafe extern "C" fn unlock(at: usize, code: usize) {
    let n = point(code);
    let o = object(at);
    log::event(Kind::Unlock, n, at, 0, 0);
    if (*o).state.owner().is(me()) {
        misuse::used_unmarked(at, Kind::Unlock);
    }
    if (*o).state.owner().is(me()) && (*o).state.as_mutex().unlock() == Unlocked::Last {
        (*o).state.as_mutex().release();
        LOCKED.set(LOCKED.get() - 1);
        unhold(current(), at);
        clock::release(&mut (*o).clock);
        refresh(Wait::Mutex, at);
    }
}

/// Forgets the locks of the last iteration of an in-process loop.
pub(crate) fn reset() {
    LOCKED.set(0);
}

/// The start of the C library's lock of a stream.
#[repr(C)]
struct LibraryLock {
    word: i32,
    depth: i32,
    /// The control block of the thread that holds it.
    owner: usize,
}

/// The position of the pointer to it in `FILE`, whose layout is compiled into programs.
const LIBRARY_LOCK: usize = 136;

/// Returns whether the running thread has locked the stream.
pub(crate) unsafe fn is_held(at: usize) -> bool {
    if free::is_on() {
        let lock = *((at + LIBRARY_LOCK) as *const *const LibraryLock);
        return !lock.is_null() && (&raw const (*lock).owner).read_volatile() == fiber::fs_base();
    }
    LOCKED.get() != 0 && (*object(at)).state.owner().is(me())
}

/// Waits until no other thread has locked the stream, which a C library function is about to use.
pub(crate) unsafe fn enter(at: usize, code: usize) {
    if LOCKED.get() != 0 && !super::mutex::available(at, current()) && !(*object(at)).state.owner().is(me()) {
        let n = acquire_point(code, Wait::Mutex, at, None);
        clock::acquire(&(*object(at)).clock);
        log::event(Kind::TryLock, n, at, 0, 0);
    }
}
