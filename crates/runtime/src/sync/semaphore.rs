//! Unnamed semaphores.

use super::objects::{self, Object};
use super::{EAGAIN, EINTR, ETIMEDOUT, fail, interpose, interpose_cancellable};
use crate::schedule::{BY_ANY_SIGNAL, BY_CANCEL, BY_SIGNAL, End, Waiting, acquire, point, refresh};
use crate::signals::cancel;
use crate::{clock, log, time};
use racehunter_event::{Kind, Wait};

interpose! {
    sem_init => init, "rcx";
    sem_destroy => destroy, "rsi";
    sem_trywait => try_wait, "rsi";
    sem_post => post, "rsi";
    sem_getvalue => get_value, "rdx";
}

interpose_cancellable! {
    sem_wait => wait, "rsi";
    sem_timedwait => timed_wait, "rdx";
    sem_clockwait => clock_wait, "rcx";
}

/// The semaphore; one that was initialised before the runtime saw it has its value in the program's memory.
unsafe fn object(at: usize) -> *mut Object {
    let o = objects::get(Wait::Semaphore, at);
    if (*o).known == 0 {
        (*o).known = 1;
        (*o).count = *(at as *const u32);
    }
    o
}

pub(crate) unsafe fn available(at: usize) -> bool {
    (*object(at)).count > 0
}

unsafe extern "C" fn init(at: usize, _shared: i32, value: u32, _code: usize) -> i32 {
    objects::forget(at);
    *(at as *mut u64) = u64::from(value);
    0
}

unsafe extern "C" fn destroy(at: usize, _code: usize) -> i32 {
    objects::forget(at);
    0
}

unsafe fn take(at: usize) {
    let o = object(at);
    (*o).count -= 1;
    clock::acquire(&(*o).clock);
    refresh(Wait::Semaphore, at);
}

unsafe extern "C" fn wait(at: usize, code: usize) -> i32 {
    wait_until(at, None, BY_SIGNAL, Kind::SemWait, code)
}

unsafe fn wait_until(at: usize, deadline: Option<u64>, by_signal: u8, logged: Kind, code: usize) -> i32 {
    let waiting = Waiting { wait: Wait::Semaphore, object: at, deadline, ends_by: by_signal | BY_CANCEL };
    let (n, end) = acquire(code, waiting);
    if end == End::Done {
        take(at);
    }
    log::event(logged, n, at, 0, u8::from(end == End::Done));
    match end {
        End::Done => 0,
        End::TimedOut => fail(ETIMEDOUT),
        End::Interrupted => fail(EINTR),
        End::Cancelled => {
            cancel::act();
            0
        }
    }
}

unsafe extern "C" fn timed_wait(at: usize, until: *const [i64; 2], code: usize) -> i32 {
    wait_until(at, Some(time::deadline(time::REALTIME, until)), BY_ANY_SIGNAL, Kind::SemTryWait, code)
}

unsafe extern "C" fn clock_wait(at: usize, clock: i32, until: *const [i64; 2], code: usize) -> i32 {
    wait_until(at, Some(time::deadline(clock, until)), BY_ANY_SIGNAL, Kind::SemTryWait, code)
}

unsafe extern "C" fn try_wait(at: usize, code: usize) -> i32 {
    let n = point(code);
    let free = available(at);
    if free {
        take(at);
    }
    log::event(Kind::SemTryWait, n, at, 0, u8::from(free));
    if free { 0 } else { fail(EAGAIN) }
}

unsafe extern "C" fn post(at: usize, code: usize) -> i32 {
    let n = point(code);
    let o = object(at);
    clock::release(&mut (*o).clock);
    (*o).count += 1;
    log::event(Kind::SemPost, n, at, 0, 0);
    refresh(Wait::Semaphore, at);
    0
}

unsafe extern "C" fn get_value(at: usize, value: *mut i32, _code: usize) -> i32 {
    *value = (*object(at)).count as i32;
    0
}
