//! Virtual time.
//!
//! Time passes only when the schedule says so: when a thread that sleeps or waits with a time-out is chosen, the
//! clock moves on to its deadline. A thread that sleeps can be chosen at any time, since no sleep orders anything.

use crate::schedule::{BY_ANY_SIGNAL, BY_CANCEL, End, Waiting, idle_point, spin, wait_until};
use crate::signals::cancel;
use crate::sync::{EFAULT, EINTR, EINVAL, EOPNOTSUPP, fail, interpose, interpose_cancellable};
use crate::thread::current;
use crate::{Global, escapes, hooks, log};
use racehunter_abi::{Cause, Kind, Wait};

pub(crate) const REALTIME: i32 = 0;
pub(crate) const MONOTONIC: i32 = 1;
const PROCESS_CPU: i32 = 2;
const THREAD_CPU: i32 = 3;
/// Clocks that can only be read: raw, and the two coarse ones.
const SLEEPLESS: [i32; 3] = [4, 5, 6];

pub(crate) const SECOND: u64 = 1_000_000_000;
/// The same moment for every execution: a realtime clock starts here. Files that were there before are not from the future.
const REALTIME_BASE: u64 = 2_000_000_000 * SECOND;
/// Where the other clocks start.
const UPTIME_BASE: u64 = 100_000 * SECOND;
/// What reading a clock once takes, so that polling a clock makes progress.
const LOOK: u64 = 1_000;

/// The deadline of waits without one.
pub(crate) const NEVER: u64 = u64::MAX;

/// Nanoseconds since the execution began.
#[unsafe(link_section = ".data.racehunter")]
static NOW: Global<u64> = Global::new(0);

interpose_cancellable! {
    nanosleep => nano_sleep, "rdx";
    clock_nanosleep => clock_nano_sleep, "r8";
    usleep => micro_sleep, "rsi";
    sleep => second_sleep, "rsi";
}

interpose! {
    clock_gettime => get_clock, "rdx";
    gettimeofday => get_time_of_day, "rdx";
    time => get_time, "rsi";
    timespec_get => get_timespec, "rdx";
    clock => get_processor_time, "rdi";
    times => get_process_times, "rsi";
}

/// How much of this time the processor was busy: reading a clock takes time, and waiting takes none.
#[unsafe(link_section = ".data.racehunter")]
static USED: Global<u64> = Global::new(0);

/// Waits since time has last advanced whose deadlines had passed when they began.
#[unsafe(link_section = ".data.racehunter")]
static IN_VAIN: Global<u32> = Global::new(0);

/// Starts the clock of an execution.
pub(crate) fn reset() {
    NOW.set(0);
    USED.set(0);
    IN_VAIN.set(0);
}

/// Time has come this far.
pub(crate) fn reach(deadline: u64) {
    if deadline != u64::MAX && deadline > NOW.get() {
        NOW.set(deadline);
        IN_VAIN.set(0);
    }
}

/// The deadline of a wait that begins now. One that has passed ends the wait as soon as possible. Finding that out
/// takes time, more of it with every wait, so that a loop of such waits makes progress while others sleep.
pub(crate) fn not_before_now(deadline: u64) -> u64 {
    const MOST: u32 = 24;
    if deadline > NOW.get() {
        return deadline;
    }
    NOW.set(NOW.get() + (LOOK << IN_VAIN.get()));
    IN_VAIN.set((IN_VAIN.get() + 1).min(MOST));
    NOW.get()
}

fn base(clock: i32) -> u64 {
    if clock == REALTIME || clock == 5 || clock == 8 { REALTIME_BASE } else { UPTIME_BASE }
}

unsafe fn nanoseconds(time: *const [i64; 2]) -> u64 {
    let [seconds, nanoseconds] = *time;
    if seconds < 0 { 0 } else { (seconds as u64).saturating_mul(SECOND).saturating_add(nanoseconds as u64) }
}

/// Whether the kernel takes it for a time.
pub(crate) unsafe fn is_valid(time: *const [i64; 2]) -> bool {
    let [seconds, nanoseconds] = *time;
    seconds >= 0 && (0..SECOND as i64).contains(&nanoseconds)
}

/// Whether there is such a clock. Negative numbers are clocks of other processes and threads.
pub(crate) const fn is_clock(clock: i32) -> bool {
    const LAST: i32 = 11;
    const NONE: i32 = 10;
    const OF_FILE: i32 = 3;
    clock <= LAST && clock != NONE && (clock >= 0 || clock & OF_FILE != OF_FILE)
}

/// An absolute time of a clock as virtual time. Never `u64::MAX`, which means "no deadline".
pub(crate) unsafe fn deadline(clock: i32, until: *const [i64; 2]) -> u64 {
    of_clock(clock, nanoseconds(until))
}

/// A duration from now as virtual time.
pub(crate) unsafe fn after(duration: *const [i64; 2]) -> u64 {
    in_future(nanoseconds(duration))
}

/// Sleeps. False when a signal handler ended it too early.
unsafe fn sleep_until(deadline: u64, code: usize) -> bool {
    let n = idle_point(code);
    log::event(Kind::Sleep, n, 0, 0, 0);
    if cancel::acts() {
        return true;
    }
    let waiting =
        Waiting { wait: Wait::Sleep, object: 0, deadline: Some(deadline), ends_by: BY_ANY_SIGNAL | BY_CANCEL };
    match wait_until(waiting, Cause::Yield) {
        End::Interrupted => return false,
        End::Cancelled => cancel::act(),
        End::Done | End::TimedOut => {}
    }
    true
}

/// Nanoseconds until the deadline.
pub(crate) fn until(deadline: u64) -> u64 {
    deadline.saturating_sub(NOW.get())
}

/// What a clock shows, without taking the time to read it.
pub(crate) fn shown_by(clock: i32) -> u64 {
    base(clock) + NOW.get()
}

/// What the realtime clock shows.
pub(crate) fn realtime() -> u64 {
    REALTIME_BASE + NOW.get()
}

/// Nanoseconds since that time.
pub(crate) fn since(moment: u64) -> u64 {
    NOW.get().saturating_sub(moment)
}

/// So many nanoseconds from now, as virtual time.
pub(crate) fn in_future(nanoseconds: u64) -> u64 {
    NOW.get().saturating_add(nanoseconds).min(u64::MAX - 1)
}

/// A time of a clock in nanoseconds as virtual time.
pub(crate) fn of_clock(clock: i32, nanoseconds: u64) -> u64 {
    nanoseconds.saturating_sub(base(clock)).min(u64::MAX - 1)
}

pub(crate) const fn parts(nanoseconds: u64) -> [i64; 2] {
    [(nanoseconds / SECOND) as i64, (nanoseconds % SECOND) as i64]
}

pub(crate) unsafe extern "C" fn nano_sleep(duration: *const [i64; 2], left: *mut [i64; 2], code: usize) -> i32 {
    if duration.is_null() {
        return fail(EFAULT);
    }
    if !is_valid(duration) {
        return fail(EINVAL);
    }
    let deadline = after(duration);
    if sleep_until(deadline, code) {
        return 0;
    }
    if !left.is_null() {
        *left = parts(until(deadline));
    }
    fail(EINTR)
}

unsafe extern "C" fn clock_nano_sleep(
    clock: i32,
    flags: i32,
    time: *const [i64; 2],
    left: *mut [i64; 2],
    code: usize,
) -> i32 {
    const ABSOLUTE: i32 = 1;
    if clock == THREAD_CPU || !is_clock(clock) {
        return EINVAL;
    }
    if SLEEPLESS.contains(&clock) {
        return EOPNOTSUPP;
    }
    if time.is_null() {
        return EFAULT;
    }
    if !is_valid(time) {
        return EINVAL;
    }
    let absolute = flags & ABSOLUTE != 0;
    let deadline = if absolute { deadline(clock, time) } else { after(time) };
    if sleep_until(deadline, code) {
        return 0;
    }
    if !absolute && !left.is_null() {
        *left = parts(until(deadline));
    }
    EINTR
}

unsafe extern "C" fn micro_sleep(microseconds: u32, code: usize) -> i32 {
    if sleep_until(NOW.get() + u64::from(microseconds) * 1000, code) { 0 } else { fail(EINTR) }
}

unsafe extern "C" fn second_sleep(seconds: u32, code: usize) -> u32 {
    let deadline = NOW.get() + u64::from(seconds) * SECOND;
    if sleep_until(deadline, code) { 0 } else { (until(deadline) / SECOND) as u32 }
}

unsafe fn look(clock: i32) -> u64 {
    escapes::looked_at_clock();
    spin::moves_on();
    NOW.set(NOW.get() + LOOK);
    USED.set(USED.get() + LOOK);
    (*current()).used += LOOK;
    base(clock) + NOW.get()
}

pub(crate) unsafe extern "C" fn get_clock(clock: i32, time: *mut [i64; 2], code: usize) -> i32 {
    if !is_clock(clock) {
        return fail(EINVAL);
    }
    let now = look(clock);
    *time = parts(match clock {
        THREAD_CPU => (*current()).used,
        PROCESS_CPU | ..0 => USED.get(),
        _ => now,
    });
    hooks::wrote(time as usize, size_of::<[i64; 2]>(), code);
    0
}

unsafe extern "C" fn get_time_of_day(time: *mut [i64; 2], _zone: usize, code: usize) -> i32 {
    let now = look(REALTIME);
    if time.is_null() {
        return 0;
    }
    *time = [(now / SECOND) as i64, (now % SECOND) as i64 / 1000];
    hooks::wrote(time as usize, size_of::<[i64; 2]>(), code);
    0
}

unsafe extern "C" fn get_time(time: *mut i64, code: usize) -> i64 {
    let seconds = (look(REALTIME) / SECOND) as i64;
    if !time.is_null() {
        *time = seconds;
        hooks::wrote(time as usize, size_of::<i64>(), code);
    }
    seconds
}

/// C11's clock: base 1 is universal time, and the only one that must be there.
unsafe extern "C" fn get_timespec(time: *mut [i64; 2], base: i32, code: usize) -> i32 {
    const UTC: i32 = 1;
    if base != UTC {
        return 0;
    }
    get_clock(REALTIME, time, code);
    base
}

/// Processor time, in microseconds.
unsafe extern "C" fn get_processor_time(_code: usize) -> i64 {
    look(MONOTONIC);
    (USED.get() / 1000) as i64
}

/// The same in hundredths of a second; all of it is the program's own.
unsafe extern "C" fn get_process_times(times: *mut [i64; 4], _code: usize) -> i64 {
    const TICK: u64 = SECOND / 100;
    let now = look(MONOTONIC);
    if !times.is_null() {
        *times = [(USED.get() / TICK) as i64, 0, 0, 0];
    }
    (now / TICK) as i64
}
