//! Once-only initialisation: `pthread_once` and C++'s function-local statics.
//!
//! `pthread_once` itself is in `once.c`: C++ exceptions may pass through it.

use super::{interpose, misuse, objects};
use crate::schedule::{acquire_point, now, point, refresh, uncount};
use crate::thread::{CURRENT, me};
use crate::{clock, log};
use racehunter_abi::{Kind, Record, Wait, detail};
use racehunter_machine::Owner;

interpose! {
    __cxa_guard_acquire => guard_acquire, "rsi";
    __cxa_guard_release => guard_release, "rsi";
    __cxa_guard_abort => guard_abort, "rsi";
}

/// Returns whether no thread is in the middle of it.
pub(crate) unsafe fn available(at: usize) -> bool {
    (*objects::get(Wait::Once, at)).state.once().runner.is_none()
}

/// Returns whether the caller must run the initialisation. `quiet`: finding it done is not an event.
unsafe fn begin(at: usize, code: usize, quiet: bool, done: impl Fn() -> bool) -> bool {
    let n = acquire_point(code, Wait::Once, at, None);
    if !quiet {
        misuse::used_unmarked(at, Kind::Once);
    }
    let o = objects::get(Wait::Once, at);
    // An attempt that failed by an exception has ended too: its effects come before the next one.
    clock::acquire(&(*o).clock);
    if done() {
        if quiet {
            uncount();
            let (index, thread) = (now(), CURRENT.get());
            let code = log::relative(code);
            log::put(Record { index, code, object: at as u64, thread, kind: Kind::Found, ..Record::default() });
        } else {
            log::event(Kind::Once, n, at, 0, detail::ONCE_FOUND);
        }
        return false;
    }
    (*o).state.as_once().runner = Owner::of(me());
    refresh(Wait::Once, at);
    log::event(Kind::Once, n, at, 0, detail::ONCE_BEGINS);
    true
}

/// Ends the initialisation; `mark` sets the flag that it is done. Nothing can happen between the flag and its effects.
unsafe fn end(at: usize, code: usize, mark: impl FnOnce()) {
    let n = point(code);
    mark();
    let o = objects::get(Wait::Once, at);
    (*o).state.as_once().runner = Owner::NONE;
    clock::release(&mut (*o).clock);
    log::event(Kind::Once, n, at, 0, detail::ONCE_DONE);
    refresh(Wait::Once, at);
}

/// The C library's value of a `pthread_once_t` that is done.
const ONCE_DONE: i32 = 2;

#[unsafe(no_mangle)]
unsafe extern "C" fn rh_once_begin(at: *mut i32, code: usize) -> i32 {
    i32::from(begin(at as usize, code, false, || *at == ONCE_DONE))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn rh_once_end(at: *mut i32, code: usize, done: i32) {
    end(at as usize, code, || {
        misuse::used_unmarked(at as usize, Kind::Once);
        if done != 0 {
            *at = ONCE_DONE;
        }
    });
}

unsafe extern "C" fn guard_acquire(at: *mut u8, code: usize) -> i32 {
    // A thread that comes when it is done does not call this at all, and in an uninstrumented library nothing shows
    // that it has checked. Threads that waited must therefore not count for more than those that come late.
    i32::from(begin(at as usize, code, true, || *at != 0))
}

unsafe extern "C" fn guard_release(at: *mut u8, code: usize) {
    end(at as usize, code, || {
        *at = 1;
        // Later callers read the flag by an inlined atomic load, which uses the clock of atomics.
        clock::release(&mut (*objects::atomic(at as usize)).clock);
    });
}

unsafe extern "C" fn guard_abort(at: *mut u8, code: usize) {
    end(at as usize, code, || {});
}
