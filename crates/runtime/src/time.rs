//! Virtual time.
//!
//! Time passes only when the schedule says so: when a thread that sleeps or waits with a time-out is chosen, the clock
//! advances to its deadline. A sleeping thread can be chosen at any time, since no sleep orders anything.

use crate::schedule::{End, EndsBy, Waiting, idle_point, spin, wait_until};
use crate::signals::cancel;
use crate::sync::{EFAULT, EINTR, EINVAL, EOPNOTSUPP, fail, interpose, interpose_cancellable};
use crate::thread::current;
use crate::{Global, escapes, hooks, log};
use racehunter_abi::{Cause, Kind, Wait};
use racehunter_machine::{Clock, Deadline, SECOND, Timespec, VirtualTime};

pub(crate) const REALTIME: i32 = Clock::REALTIME.0;

#[unsafe(link_section = ".data.racehunter")]
static TIME: Global<VirtualTime> = Global::new(VirtualTime::START);

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

/// Changes the clock of the execution.
fn change<R>(how: impl FnOnce(&mut VirtualTime) -> R) -> R {
    let mut time = TIME.get();
    let result = how(&mut time);
    TIME.set(time);
    result
}

/// Returns the current clock of the execution.
pub(crate) fn state() -> VirtualTime {
    TIME.get()
}

/// Starts the clock of an execution.
pub(crate) fn reset() {
    TIME.set(VirtualTime::START);
}

/// Advances the clock to a deadline.
pub(crate) fn reach(deadline: Deadline) {
    change(|time| time.reach(deadline));
}

/// Returns whether a wait with this deadline would be over now.
pub(crate) fn has_passed(deadline: Deadline) -> bool {
    state().until(deadline) == 0
}

/// Returns the deadline of a wait that begins now: see [`VirtualTime::not_before_now`].
pub(crate) fn not_before_now(deadline: Deadline) -> Deadline {
    change(|time| time.not_before_now(deadline))
}

/// Returns whether the kernel accepts it as a time.
pub(crate) unsafe fn is_valid(time: *const [i64; 2]) -> bool {
    Timespec(*time).is_valid()
}

/// Returns whether there is such a clock.
pub(crate) const fn is_clock(clock: i32) -> bool {
    Clock(clock).exists()
}

/// Converts an absolute time of a clock to virtual time.
pub(crate) unsafe fn deadline(clock: i32, until: *const [i64; 2]) -> Deadline {
    of_clock(clock, Timespec(*until).nanoseconds())
}

/// Converts a duration from now to virtual time.
pub(crate) unsafe fn after(duration: *const [i64; 2]) -> Deadline {
    in_future(Timespec(*duration).nanoseconds())
}

/// Sleeps. Returns false if a signal handler ended it too early.
unsafe fn sleep_until(deadline: Deadline, code: usize) -> bool {
    let n = idle_point(code);
    log::event(Kind::Sleep, n, 0, 0, 0);
    if cancel::acts() {
        return true;
    }
    let waiting = Waiting {
        wait: Wait::Sleep,
        object: 0,
        deadline: Some(deadline),
        ends_by: EndsBy::ANY_SIGNAL.or(EndsBy::CANCEL),
    };
    match wait_until(waiting, Cause::Yield) {
        End::Interrupted => return false,
        End::Cancelled => cancel::act(),
        End::Done | End::TimedOut => {}
    }
    true
}

/// Returns the number of nanoseconds until the deadline.
pub(crate) fn until(deadline: Deadline) -> u64 {
    TIME.get().until(deadline)
}

/// Returns the time of the realtime clock.
pub(crate) fn realtime() -> u64 {
    TIME.get().shown(Clock::REALTIME)
}

/// Returns this many nanoseconds from now, as virtual time.
pub(crate) fn in_future(nanoseconds: u64) -> Deadline {
    TIME.get().after(nanoseconds)
}

/// Converts a time of a clock in nanoseconds to virtual time.
pub(crate) fn of_clock(clock: i32, nanoseconds: u64) -> Deadline {
    Clock(clock).deadline(nanoseconds)
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
        *left = Timespec::from_nanoseconds(until(deadline)).0;
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
    if Clock(clock) == Clock::THREAD_CPU || !is_clock(clock) {
        return EINVAL;
    }
    if !Clock(clock).can_sleep() {
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
        *left = Timespec::from_nanoseconds(until(deadline)).0;
    }
    EINTR
}

unsafe extern "C" fn micro_sleep(microseconds: u32, code: usize) -> i32 {
    if sleep_until(in_future(u64::from(microseconds) * 1000), code) { 0 } else { fail(EINTR) }
}

unsafe extern "C" fn second_sleep(seconds: u32, code: usize) -> u32 {
    let deadline = in_future(u64::from(seconds) * SECOND);
    if sleep_until(deadline, code) { 0 } else { (until(deadline) / SECOND) as u32 }
}

/// Notes that the program reads a clock. Returns its time.
unsafe fn look(clock: Clock) -> u64 {
    escapes::looked_at_clock();
    spin::moves_on();
    (*current()).used += change(VirtualTime::look);
    TIME.get().shown(clock)
}

pub(crate) unsafe extern "C" fn get_clock(clock: i32, time: *mut [i64; 2], code: usize) -> i32 {
    if !is_clock(clock) {
        return fail(EINVAL);
    }
    let now = look(Clock(clock));
    let shown = match Clock(clock) {
        Clock::THREAD_CPU => (*current()).used,
        Clock::PROCESS_CPU | Clock(..0) => TIME.get().used(),
        _ => now,
    };
    *time = Timespec::from_nanoseconds(shown).0;
    hooks::wrote(time as usize, size_of::<[i64; 2]>(), code);
    0
}

unsafe extern "C" fn get_time_of_day(time: *mut [i64; 2], _zone: usize, code: usize) -> i32 {
    let now = look(Clock::REALTIME);
    if time.is_null() {
        return 0;
    }
    *time = [(now / SECOND) as i64, (now % SECOND) as i64 / 1000];
    hooks::wrote(time as usize, size_of::<[i64; 2]>(), code);
    0
}

unsafe extern "C" fn get_time(time: *mut i64, code: usize) -> i64 {
    let seconds = (look(Clock::REALTIME) / SECOND) as i64;
    if !time.is_null() {
        *time = seconds;
        hooks::wrote(time as usize, size_of::<i64>(), code);
    }
    seconds
}

/// C11's clock: base 1 is universal time, and the only one that must exist.
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
    look(Clock::MONOTONIC);
    (TIME.get().used() / 1000) as i64
}

/// The same in hundredths of a second; all of it is user time.
unsafe extern "C" fn get_process_times(times: *mut [i64; 4], _code: usize) -> i64 {
    const TICK: u64 = SECOND / 100;
    let now = look(Clock::MONOTONIC);
    if !times.is_null() {
        *times = [(TIME.get().used() / TICK) as i64, 0, 0, 0];
    }
    (now / TICK) as i64
}
