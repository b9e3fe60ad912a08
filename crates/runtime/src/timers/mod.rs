//! Timers, in virtual time.
//!
//! A timer is a thread of the runtime: blocked while the timer is not set, suspended while it is, and when the
//! schedule chooses it, the timer expires. The expiry of a timer is therefore a choice like that of any time-out, and
//! is logged and repeated in the same way. The thread also runs the function of a timer that calls one.
//!
//! [`interval`] has the timer of the process (`alarm`, `setitimer`), [`posix`] those of `timer_create`, [`mod@file`] those of
//! `timerfd_create`.

pub(crate) mod file;
mod interval;
mod posix;

use crate::clock::{self, SyncClock};
use crate::schedule::{Waiting, now, point, set_deadline, wait_until};
use crate::signals::send::{self, Origin};
use crate::sync::threads;
use crate::thread::{COUNT, INTERNAL, State, Thread, current, thread};
use crate::{Global, log, outcome, time};
use racehunter_abi::control::OUTCOME_TOO_MANY_THREADS;
use racehunter_abi::{Cause, Kind, Wait};

/// What a timer does when it expires.
#[derive(Clone, Copy)]
enum Notice {
    Nothing,
    /// Sends a signal to the process, or to a thread.
    Signal {
        signal: u32,
        to: Option<u32>,
        value: usize,
    },
    /// Calls a function on its own thread.
    Call {
        function: usize,
        value: usize,
    },
    /// Counts in a file.
    File {
        channel: usize,
    },
}

struct Timer {
    in_use: bool,
    notice: Notice,
    /// Number of its thread, 0 if it has none. A timer that replaces an old one takes over its thread.
    thread: u32,
    /// When it expires, [`NEVER`] when it is not set.
    deadline: u64,
    /// Nanoseconds from one expiry to the next, 0 if there is only one.
    interval: u64,
    /// The clock by which absolute times are meant.
    time_clock: i32,
    /// Expiries that the last notification covers, beyond the first.
    missed: u32,
    /// Expiries that were over when it was set.
    owed: u64,
    /// Expiries in its file that the program may not have read yet.
    unread: u64,
    /// What those who have set it knew.
    clock: SyncClock,
}

const NEVER: u64 = u64::MAX;
const MOST: usize = 128;

static TIMERS: Global<[core::mem::MaybeUninit<Timer>; MOST]> =
    Global::new([const { core::mem::MaybeUninit::zeroed() }; MOST]);
/// Timers that were ever used: the rest of the table is zero.
static USED: Global<usize> = Global::new(0);

/// The timer of the process comes first.
const OF_PROCESS: usize = 0;

unsafe fn timer(index: usize) -> *mut Timer {
    (TIMERS.ptr() as *mut Timer).add(index)
}

/// The timer with this number, if the program has made one.
unsafe fn existing(index: usize) -> Option<*mut Timer> {
    (index < USED.get() && (*timer(index)).in_use).then(|| timer(index))
}

/// A new timer; nothing when there are too many.
unsafe fn make(first: usize, notice: Notice) -> Option<usize> {
    let index = (first..MOST).find(|&index| !(*timer(index)).in_use)?;
    USED.set(USED.get().max(index + 1));
    let t = timer(index);
    (*t).in_use = true;
    (*t).notice = notice;
    (*t).deadline = NEVER;
    (*t).interval = 0;
    (*t).missed = 0;
    (*t).owed = 0;
    (*t).unread = 0;
    Some(index)
}

/// Whether a timer is set that can expire.
pub(crate) unsafe fn is_any_set() -> bool {
    (0..USED.get()).any(|index| {
        let it = timer(index);
        (*it).in_use && (*it).thread != 0 && (*thread((*it).thread)).state == State::Suspended
    })
}

/// Its thread, which is made when the timer is first set.
unsafe fn thread_of(index: usize, code: usize) -> *mut Thread {
    let it = timer(index);
    if (*it).thread != 0 && (*thread((*it).thread)).state != State::Done {
        return thread((*it).thread);
    }
    let n = point(code);
    let Ok(t) = threads::make(core::ptr::null(), run as *const () as usize, index) else {
        outcome::finish(OUTCOME_TOO_MANY_THREADS)
    };
    let n = if now() == n { n } else { point(code) };
    (*it).thread = (*t).number;
    (*t).internal = true;
    (*t).detached = true;
    (*t).signal_mask = !0;
    INTERNAL.set(INTERNAL.get() + 1);
    let start = if let Notice::Call { function, .. } = (*it).notice { log::relative(function) } else { 0 };
    log::event(Kind::Create, n, (*t).number as usize, start, 1);
    (*t).pending = Wait::Timer;
    (*t).object = 0;
    set_deadline(t, NEVER);
    t
}

/// Sets a timer, or stops it.
unsafe fn set(index: usize, deadline: u64, interval: u64, code: usize) {
    let it = timer(index);
    if deadline == NEVER && (*it).deadline == NEVER {
        (*it).interval = interval;
        return;
    }
    let t = thread_of(index, code);
    let n = point(code);
    let left = if deadline == NEVER { 0 } else { time::until(deadline).max(1) };
    log::event(Kind::Timer, n, (*t).number as usize, left, 0);
    clock::release(&mut (*it).clock);
    (*it).deadline = deadline;
    (*it).interval = interval;
    if (*t).pending == Wait::Timer && matches!((*t).state, State::Blocked | State::Suspended) {
        set_deadline(t, deadline);
    }
}

/// Nanoseconds until it expires, 0 when it is not set.
unsafe fn left(index: usize) -> u64 {
    let deadline = (*timer(index)).deadline;
    if deadline == NEVER { 0 } else { time::until(deadline).max(1) }
}

/// The program has deleted the timer. Its thread waits for another one.
unsafe fn delete(index: usize, code: usize) {
    set(index, NEVER, 0, code);
    (*timer(index)).in_use = false;
}

/// What the thread of a timer does, from its first expiration on.
unsafe extern "C" fn run(index: usize) -> usize {
    let it = timer(index);
    (*current()).pending = Wait::Nothing;
    loop {
        expire(index);
        let deadline = ((*it).deadline != NEVER).then_some((*it).deadline);
        wait_until(Waiting { wait: Wait::Timer, object: 0, deadline, ends_by: 0 }, Cause::Blocked);
    }
}

/// Whether a thread of the program waits for a later time.
unsafe fn anybody_sleeps_beyond(due: u64) -> bool {
    (0..COUNT.get()).map(|number| thread(number)).any(|t| {
        let waits_for_time =
            !matches!((*t).pending, Wait::Timer | Wait::Outside) && (due..NEVER).contains(&(*t).deadline);
        (*t).state == State::Suspended && waits_for_time
    })
}

unsafe fn expire(index: usize) {
    let it = timer(index);
    let due = (*it).deadline;
    let periods = time::since((*it).deadline).checked_div((*it).interval);
    (*it).deadline = periods.map_or(NEVER, |periods| (*it).deadline + (periods + 1) * (*it).interval);
    let missed = periods.unwrap_or(0) + core::mem::take(&mut (*it).owed);
    clock::acquire(&(*it).clock);
    match (*it).notice {
        // It guards against a program that hangs: it never expires. Threads that wait for ever are then a deadlock,
        // which is more informative than the end of the program. But if a thread sleeps for longer, the program ends.
        Notice::Signal { signal, to, .. } if send::would_end(signal, to) && !anybody_sleeps_beyond(due) => {
            (*it).deadline = NEVER;
            note_expiration(it);
        }
        Notice::Signal { signal, to, value } => {
            if send::is_pending_from_timer(signal, index as u32) {
                (*it).missed = (*it).missed.saturating_add(missed as u32 + 1);
                send::set_overrun(signal, index as u32, (*it).missed);
                note_expiration(it);
                return;
            }
            (*it).missed = missed as u32;
            const BY_TIMER: i32 = -2;
            const BY_KERNEL: i32 = 0x80;
            let code = if index == OF_PROCESS { BY_KERNEL } else { BY_TIMER };
            send::from_timer(signal, to, Origin { code, pid: index as u32, uid: missed as u32, value });
        }
        Notice::Call { function, value } => {
            (*it).missed = missed as u32;
            note_expiration(it);
            let function: extern "C" fn(usize) = core::mem::transmute(function);
            function(value);
        }
        Notice::File { .. } => {
            note_expiration(it);
            if !file::count(index, missed + 1) {
                (*it).deadline = NEVER;
            }
        }
        Notice::Nothing => note_expiration(it),
    }
}

unsafe fn note_expiration(it: *const Timer) {
    let n = point(0);
    log::event(Kind::Timer, n, (*it).thread as usize, 0, 1);
}

/// Forgets all timers: between the iterations of an in-process loop, and in a new process.
pub(crate) unsafe fn reset() {
    core::ptr::write_bytes(timer(0), 0, USED.get());
    USED.set(0);
}

/// Times as the program writes them: seconds and a part of a second, first the interval, then until the first time.
struct Setting {
    interval: u64,
    first: u64,
}

impl Setting {
    /// In which `unit` nanoseconds the smaller part counts; nothing when that part is not one.
    unsafe fn read(from: *const [[i64; 2]; 2], unit: u64) -> Option<Self> {
        let [interval, first] = *from;
        let nanoseconds = |[seconds, part]: [i64; 2]| {
            let valid = seconds >= 0 && part >= 0 && (part as u64) < time::SECOND / unit;
            valid.then(|| (seconds as u64).saturating_mul(time::SECOND).saturating_add(part as u64 * unit))
        };
        Some(Self { interval: nanoseconds(interval)?, first: nanoseconds(first)? })
    }

    unsafe fn of(index: usize) -> Self {
        Self { interval: (*timer(index)).interval, first: left(index) }
    }

    unsafe fn write(&self, to: *mut [[i64; 2]; 2], unit: u64) {
        let parts = |nanoseconds: u64| {
            let [seconds, rest] = time::parts(nanoseconds.div_ceil(unit) * unit);
            [seconds, rest / unit as i64]
        };
        *to = [parts(self.interval), parts(self.first)];
    }

    /// Applies it to a timer: relative to now, or as a time of a clock.
    unsafe fn apply(&self, index: usize, clock: Option<i32>, code: usize) {
        let over = clock.map_or(0, |clock| time::shown_by(clock).saturating_sub(self.first));
        let owed = if self.first == 0 { 0 } else { over.checked_div(self.interval).unwrap_or(0) };
        let deadline = match (self.first, clock) {
            (0, _) => NEVER,
            (first, None) => time::in_future(first),
            (first, Some(clock)) => time::of_clock(clock, first + owed * self.interval),
        };
        set(index, deadline, self.interval, code);
        (*timer(index)).owed = owed;
    }
}
