//! Barriers.

use super::objects::{self, Object};
use super::{EBUSY, EINVAL, interpose, misuse, shared};
use crate::schedule::{point, refresh, wait_after};
use crate::thread::{Awaits, Thread, current, every_thread};
use crate::{clock, log};
use racehunter_abi::{Cause, Kind, Misuse, Wait};
use racehunter_machine::Owner;
use racehunter_machine::sync::{Arrival, Barrier, State};

interpose! {
    pthread_barrier_init => init, "rcx";
    pthread_barrier_destroy => destroy, "rsi";
    pthread_barrier_wait => wait, "rsi";
}

unsafe fn object(at: usize) -> *mut Object {
    objects::get(Wait::Barrier, at)
}

pub(crate) unsafe fn available(at: usize, t: *const Thread) -> bool {
    (*t).awaits == Awaits::RoundEnded || (*t).awaits != Awaits::Round((*object(at)).state.barrier().round())
}

/// Lets a thread notice that its round has ended, which a signal handler prevented.
pub(crate) unsafe fn catch_up(t: *mut Thread) {
    if available((*t).object, t) {
        clock::acquire(&(*object((*t).object)).clock);
    }
}

unsafe extern "C" fn init(at: usize, _attributes: usize, count: u32, code: usize) -> i32 {
    if !Barrier::is_size(count) {
        return EINVAL;
    }
    misuse::will_begin(at, code);
    let before = (*object(at)).state.barrier();
    objects::forget(at);
    (*object(at)).state = State::Barrier(before.again(count));
    misuse::begins(at, code);
    *(at as *mut u64) = 0;
    0
}

unsafe extern "C" fn destroy(at: usize, code: usize) -> i32 {
    point(code);
    misuse::used(at, Kind::Lifetime);
    let before = (*object(at)).state.barrier();
    if before.is_awaited() {
        misuse::report(Misuse::DestroyAwaited, at, misuse::waiter(Wait::Barrier, at));
        return EBUSY;
    }
    misuse::destroy(at);
    (*object(at)).state = State::Barrier(before.again(0));
    0
}

unsafe extern "C" fn wait(at: usize, code: usize) -> i32 {
    const SERIAL_THREAD: i32 = -1;
    let n = point(code);
    let o = object(at);
    shared::is_apart(at);
    if misuse::used(at, Kind::BarrierWait) {
        // It has no size any more.
        log::event(Kind::BarrierWait, n, at, 0, 0);
        return EINVAL;
    }
    if !(*o).state.barrier().is_initialised() {
        misuse::report(Misuse::NeverInitialised, at, Owner::NONE);
        log::event(Kind::BarrierWait, n, at, 0, 0);
        return EINVAL;
    }
    if !(*o).state.barrier().is_awaited() {
        clock::clear(&mut (*o).clock);
    }
    let arrived = (*o).state.as_barrier().arrive();
    clock::release(&mut (*o).clock);
    log::event(Kind::BarrierWait, n, at, u64::from(arrived), 0);
    match (*o).state.as_barrier().settle() {
        Arrival::Waits(round) => {
            (*current()).awaits = Awaits::Round(round);
            wait_after(Wait::Barrier, at, None, Cause::Blocked);
            0
        }
        Arrival::Ends(round) => {
            clock::acquire(&(*o).clock);
            // Now, and not when they continue: by then others may have arrived for later rounds.
            for t in every_thread() {
                if (*t).pending == Wait::Barrier && (*t).object == at && (*t).awaits == Awaits::Round(round) {
                    clock::acquire_for(t, &(*o).clock);
                    (*t).awaits = Awaits::RoundEnded;
                }
            }
            refresh(Wait::Barrier, at);
            SERIAL_THREAD
        }
    }
}
