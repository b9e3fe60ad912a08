//! The timer of the process: `alarm` and `setitimer`.

use super::{Notice, OF_PROCESS, apply, existing, left, make, set, setting_of, touch};
use crate::signals::SIGALRM;
use crate::sync::{EINVAL, fail, interpose};
use crate::{log, sys, time};
use racehunter_abi::Escape;
use racehunter_machine::{Deadline, SECOND, TimerSetting, seconds_left};

interpose! {
    alarm => set_alarm, "rsi";
    ualarm => set_short_alarm, "rdx";
    setitimer => set_timer, "rcx";
    getitimer => get_timer, "rdx";
}

const MICROSECOND: u64 = 1000;

unsafe fn ensure() {
    if existing(OF_PROCESS).is_none() {
        make(OF_PROCESS, Notice::Signal { signal: SIGALRM, to: None, value: 0 });
    }
}

/// Sets it, or stops it. Returns the nanoseconds that were left.
unsafe fn replace(first: u64, interval: u64, code: usize) -> u64 {
    ensure();
    touch(true, code);
    let before = left(OF_PROCESS);
    set(OF_PROCESS, if first == 0 { Deadline::NEVER } else { time::in_future(first) }, interval, code);
    before
}

unsafe extern "C" fn set_alarm(seconds: u32, code: usize) -> u32 {
    seconds_left(replace(u64::from(seconds) * SECOND, 0, code)) as u32
}

unsafe extern "C" fn set_short_alarm(microseconds: u32, interval: u32, code: usize) -> u32 {
    if microseconds.max(interval) >= 1_000_000 {
        return fail(EINVAL) as u32;
    }
    let interval = u64::from(interval) * MICROSECOND;
    replace(u64::from(microseconds) * MICROSECOND, interval, code).div_ceil(MICROSECOND) as u32
}

const REAL: i32 = 0;

/// Timers of processor time go to the kernel.
unsafe fn pass(number: usize, which: i32, a: usize, b: usize, code: usize) -> i32 {
    log::escape(Escape::Unmodelled, code, number, 0);
    let result = sys::call(number, which as usize, a, b, 0);
    if result < 0 { fail(-result as i32) } else { 0 }
}

unsafe extern "C" fn set_timer(which: i32, new: *const [[i64; 2]; 2], old: *mut [[i64; 2]; 2], code: usize) -> i32 {
    const SETITIMER: usize = 38;
    if which != REAL {
        return pass(SETITIMER, which, new as usize, old as usize, code);
    }
    let Some(setting) = TimerSetting::read(*new, MICROSECOND) else { return fail(EINVAL) };
    ensure();
    touch(true, code);
    let before = setting_of(OF_PROCESS);
    apply(setting, OF_PROCESS, None, code);
    if !old.is_null() {
        *old = before.write(MICROSECOND);
    }
    0
}

unsafe extern "C" fn get_timer(which: i32, current: *mut [[i64; 2]; 2], code: usize) -> i32 {
    const GETITIMER: usize = 36;
    if which != REAL {
        return pass(GETITIMER, which, current as usize, 0, code);
    }
    ensure();
    touch(false, code);
    *current = setting_of(OF_PROCESS).write(MICROSECOND);
    0
}
