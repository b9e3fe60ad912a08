//! `timer_create` and similar functions.

use super::{Notice, OF_PROCESS, apply, delete, existing, make, setting_of, touch};
use crate::signals::SIGALRM;
use crate::sync::{EINVAL, fail, interpose};
use crate::{log, reach, sys, time};
use racehunter_abi::{Escape, ThreadId};
use racehunter_machine::{Clock, TimerSetting};

interpose! {
    timer_create => create, "rcx";
    timer_settime => set_time, "r8";
    timer_gettime => get_time, "rdx";
    timer_getoverrun => get_overrun, "rsi";
    timer_delete => remove, "rsi";
}

/// `struct sigevent`
#[repr(C)]
struct Event {
    value: usize,
    signal: u32,
    notify: i32,
    /// A function, or the id of a thread.
    receiver: usize,
}

const BY_SIGNAL: i32 = 0;
const BY_NOTHING: i32 = 1;
const BY_THREAD: i32 = 2;
const BY_SIGNAL_TO_THREAD: i32 = 4;

unsafe extern "C" fn create(clock: i32, event: *const Event, id: *mut usize, code: usize) -> i32 {
    const PROCESS_CPU: i32 = 2;
    const THREAD_CPU: i32 = 3;
    const TIMER_CREATE: usize = 222;
    if !time::is_clock(clock) {
        return fail(EINVAL);
    }
    if clock == PROCESS_CPU || clock == THREAD_CPU || clock < 0 {
        // Processor time has no virtual form, so the timer counts virtual time.
        log::escape(Escape::Unmodelled, code, TIMER_CREATE, clock as u64);
    }
    let index = make(OF_PROCESS + 1, Notice::Nothing);
    let notice = if event.is_null() {
        Notice::Signal { signal: SIGALRM, to: None, value: index }
    } else {
        let Event { value, signal, notify, receiver } = core::ptr::read(event);
        let is_signal = (1..=64).contains(&signal);
        match notify {
            BY_SIGNAL if is_signal => Notice::Signal { signal, to: None, value },
            BY_SIGNAL_TO_THREAD if is_signal => {
                let process = sys::call(sys::GETPID, 0, 0, 0, 0) as i32;
                Notice::Signal { signal, to: Some(ThreadId((receiver as i32).wrapping_sub(process) as u32)), value }
            }
            BY_THREAD => {
                reach::handed(receiver, code);
                Notice::Call { function: receiver, value }
            }
            BY_NOTHING => Notice::Nothing,
            _ => {
                delete(index, code);
                return fail(EINVAL);
            }
        }
    };
    (*super::timer(index)).notice = notice;
    (*super::timer(index)).time_clock = Clock(clock);
    *id = index;
    0
}

unsafe extern "C" fn set_time(
    id: usize,
    flags: i32,
    new: *const [[i64; 2]; 2],
    old: *mut [[i64; 2]; 2],
    code: usize,
) -> i32 {
    const ABSOLUTE: i32 = 1;
    touch(true, code);
    let Some(timer) = existing(id) else { return fail(EINVAL) };
    let Some(setting) = TimerSetting::read(*new, 1) else { return fail(EINVAL) };
    let before = setting_of(id);
    apply(setting, id, (flags & ABSOLUTE != 0).then_some((*timer).time_clock), code);
    if !old.is_null() {
        *old = before.write(1);
    }
    0
}

unsafe extern "C" fn get_time(id: usize, current: *mut [[i64; 2]; 2], code: usize) -> i32 {
    touch(false, code);
    if existing(id).is_none() {
        return fail(EINVAL);
    }
    *current = setting_of(id).write(1);
    0
}

unsafe extern "C" fn get_overrun(id: usize, _code: usize) -> i32 {
    match existing(id) {
        Some(timer) => (*timer).missed as i32,
        None => fail(EINVAL),
    }
}

unsafe extern "C" fn remove(id: usize, code: usize) -> i32 {
    touch(true, code);
    if existing(id).is_none() {
        return fail(EINVAL);
    }
    delete(id, code);
    0
}
