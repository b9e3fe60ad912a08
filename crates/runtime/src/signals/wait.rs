//! Waiting for signals.

use super::send::{self, Sent};
use super::{Info, actions, bit, cancel, deliver, deliverable, masks};
use crate::schedule::{End, EndsBy, Waiting, acquire, point, wait_until};
use crate::sync::{EAGAIN, EINTR, EINVAL, fail, interpose, interpose_cancellable};
use crate::thread::{Awaits, current};
use crate::{log, sys, time};
use racehunter_abi::{Cause, Escape, Kind, Wait};
use racehunter_machine::Deadline;

interpose_cancellable! {
    pause => pause_now, "rdi";
    sigsuspend => suspend, "rsi";
    __sigsuspend => suspend, "rsi";
    sigpause => pause_with_word, "rsi";
    __sigpause => pause_with_either, "rdx";
    __xpg_sigpause => pause_without, "rsi";
    sigwait => wait_for, "rdx";
    sigwaitinfo => wait_for_info, "rdx";
    sigtimedwait => timed_wait, "rcx";
    __sigtimedwait => timed_wait, "rcx";
}

interpose! {
    signalfd => signal_file, "rcx";
}

const BEGINS: u8 = 0;
const TAKEN: u8 = 1;
const NOT_TAKEN: u8 = 2;

/// Waits until a handler has run.
unsafe fn wait_for_handler() {
    (*current()).awaits = Awaits::Nothing;
    let waiting =
        Waiting { wait: Wait::Signal, object: 0, deadline: None, ends_by: EndsBy::ANY_SIGNAL.or(EndsBy::CANCEL) };
    if wait_until(waiting, Cause::Blocked) == End::Cancelled {
        cancel::act();
    }
}

unsafe extern "C" fn pause_now(code: usize) -> i32 {
    let n = point(code);
    log::event(Kind::SignalWait, n, 0, 0, BEGINS);
    if !cancel::acts() {
        wait_for_handler();
    }
    fail(EINTR)
}

unsafe extern "C" fn suspend(mask: *const u64, code: usize) -> i32 {
    let wanted = *mask;
    let n = point(code);
    log::event(Kind::SignalWait, n, 0, wanted, BEGINS);
    if cancel::acts() {
        return fail(EINTR);
    }
    let t = current();
    let before = (*t).signal_mask;
    actions::watch(wanted);
    masks::set(t, wanted);
    if deliverable(t) {
        deliver();
    } else {
        wait_for_handler();
    }
    masks::set(t, before);
    // Handles signals that came together with the awaited one.
    deliver();
    fail(EINTR)
}

/// `sigpause` of BSD: blocks these of the first 32 signals meanwhile.
unsafe extern "C" fn pause_with_word(mask: u32, code: usize) -> i32 {
    suspend(&u64::from(mask), code)
}

/// `sigpause` of System V: does not block this signal meanwhile.
unsafe extern "C" fn pause_without(signal: i32, code: usize) -> i32 {
    if !(1..=64).contains(&signal) {
        return fail(EINVAL);
    }
    suspend(&((*current()).signal_mask & !bit(signal as u32)), code)
}

unsafe extern "C" fn pause_with_either(mask_or_signal: i32, is_signal: i32, code: usize) -> i32 {
    if is_signal != 0 { pause_without(mask_or_signal, code) } else { pause_with_word(mask_or_signal as u32, code) }
}

/// Takes a signal of the set, as soon as there is one.
unsafe fn await_signal(set: u64, deadline: Option<Deadline>, code: usize) -> (End, Option<Sent>) {
    actions::watch(set);
    let t = current();
    (*t).awaits = Awaits::Signals(set);
    let waiting = Waiting { wait: Wait::Signal, object: 0, deadline, ends_by: EndsBy::ANY_SIGNAL.or(EndsBy::CANCEL) };
    let (n, end) = acquire(code, waiting);
    let sent = if end == End::Done { send::take(t, set) } else { None };
    match &sent {
        Some(sent) => log::event(Kind::SignalWait, n, sent.signal as usize, 0, TAKEN),
        None => log::event(Kind::SignalWait, n, 0, 0, NOT_TAKEN),
    }
    if end == End::Cancelled {
        cancel::act();
    }
    (end, sent)
}

/// Returns the result of the functions with a `siginfo_t`.
unsafe fn tell(end: End, sent: Option<Sent>, info: *mut Info) -> i32 {
    match sent {
        Some(sent) => {
            if !info.is_null() {
                *info = sent.info();
                // The C library does not show that a single thread was meant.
                const CODE: usize = 2;
                if (*info).0[CODE] as i32 == send::BY_THREAD {
                    (*info).0[CODE] = 0;
                }
            }
            sent.signal as i32
        }
        None => fail(if end == End::TimedOut { EAGAIN } else { EINTR }),
    }
}

unsafe extern "C" fn wait_for(set: *const u64, signal: *mut u32, code: usize) -> i32 {
    loop {
        match await_signal(*set, None, code) {
            (_, Some(sent)) => {
                *signal = sent.signal;
                return 0;
            }
            (End::Cancelled, _) => return 0,
            // A handler of another signal ran: this function does not report that.
            _ => {}
        }
    }
}

unsafe extern "C" fn wait_for_info(set: *const u64, info: *mut Info, code: usize) -> i32 {
    let (end, sent) = await_signal(*set, None, code);
    tell(end, sent, info)
}

unsafe extern "C" fn timed_wait(set: *const u64, info: *mut Info, timeout: *const [i64; 2], code: usize) -> i32 {
    if timeout.is_null() {
        return wait_for_info(set, info, code);
    }
    const SECOND: i64 = 1_000_000_000;
    let [seconds, nanoseconds] = *timeout;
    if seconds < 0 || !(0..SECOND).contains(&nanoseconds) {
        return fail(EINVAL);
    }
    if [seconds, nanoseconds] == [0, 0] {
        let n = point(code);
        if cancel::acts() {
            log::event(Kind::SignalWait, n, 0, 0, NOT_TAKEN);
            return fail(EINTR);
        }
        let sent = send::take(current(), *set);
        log::event(Kind::SignalWait, n, 0, 0, if sent.is_some() { TAKEN } else { NOT_TAKEN });
        return tell(End::TimedOut, sent, info);
    }
    let (end, sent) = await_signal(*set, Some(time::after(timeout)), code);
    tell(end, sent, info)
}

/// Signals through a file descriptor are those of the kernel; the program's own do not reach it.
unsafe extern "C" fn signal_file(fd: i32, set: *const u64, flags: i32, code: usize) -> i32 {
    const SIGNALFD4: usize = 289;
    log::escape(Escape::Unmodelled, code, SIGNALFD4, 0);
    let result = sys::call(SIGNALFD4, fd as usize, set as usize, 8, flags as usize);
    if result < 0 { fail(-result as i32) } else { result as i32 }
}
