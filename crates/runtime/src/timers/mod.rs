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
pub(crate) mod iterations;
mod posix;

use crate::clock::{self, SyncClock};
use crate::schedule::{EndsBy, Waiting, now, point, set_deadline, wait_until};
use crate::signals::send::{self, Origin};
use crate::sync::threads;
use crate::thread::{INTERNAL, LIVE, State, Thread, current, every_thread, thread};
use crate::world::cells;
use crate::{Global, log, outcome, time};
use racehunter_abi::control::{OUTCOME_TOO_MANY_OBJECTS, OUTCOME_TOO_MANY_THREADS};
use racehunter_abi::{Cause, Kind, ThreadId, Touched, Wait, detail};
use racehunter_machine::{self as machine, Clock, Deadline, Owner, TimerSetting};

/// What a timer does when it expires.
#[derive(Clone, Copy)]
enum Notice {
    Nothing,
    /// Sends a signal to the process, or to a thread.
    Signal {
        signal: u32,
        to: Option<ThreadId>,
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
    /// Its thread, if it has one. A timer that replaces an old one takes over its thread.
    thread: Owner,
    /// When it expires.
    state: machine::Timer,
    /// The clock of absolute times.
    time_clock: Clock,
    /// Number of expirations that the last notification covers, beyond the first.
    missed: u32,
    /// Number of expirations before it was set.
    owed: u64,
    /// The setting that it gets when the body of an in-process loop begins, unless it is set before.
    resumes: TimerSetting,
    /// Number of expirations in its file that the program may not have read yet.
    unread: u64,
    /// The clock of the threads that have set it.
    clock: SyncClock,
}

const MOST: usize = 1024;

static TIMERS: Global<[core::mem::MaybeUninit<Timer>; MOST]> =
    Global::new([const { core::mem::MaybeUninit::zeroed() }; MOST]);
/// Number of timers ever used: the rest of the table is zero.
static USED: Global<usize> = Global::new(0);

/// The timer of the process comes first.
const OF_PROCESS: usize = 0;

unsafe fn timer(index: usize) -> *mut Timer {
    (TIMERS.ptr() as *mut Timer).add(index)
}

/// Returns the timer with this number, if the program has created one.
unsafe fn existing(index: usize) -> Option<*mut Timer> {
    (index < USED.get() && (*timer(index)).in_use).then(|| timer(index))
}

/// Threads share the timers: the result of a call depends on what others did before. A thread that is alone with its timers
/// is not interrupted for that.
unsafe fn touch(changes: bool, code: usize) {
    const TIMERS: u64 = 0x71b_3e75;
    if LIVE.get() <= INTERNAL.get() + 1 {
        return;
    }
    let mut touched = Touched::default();
    touched.add(cells::of(TIMERS), changes);
    cells::touch_apart(touched, code);
}

/// Creates a timer.
unsafe fn make(first: usize, notice: Notice) -> usize {
    let Some(index) = (first..MOST).find(|&index| !(*timer(index)).in_use) else {
        outcome::finish(OUTCOME_TOO_MANY_OBJECTS)
    };
    USED.set(USED.get().max(index + 1));
    let t = timer(index);
    (*t).in_use = true;
    (*t).notice = notice;
    (*t).state = machine::Timer::STOPPED;
    (*t).missed = 0;
    (*t).owed = 0;
    (*t).resumes = TimerSetting::STOPPED;
    (*t).unread = 0;
    index
}

/// Returns whether a timer is set that can expire.
pub(crate) unsafe fn is_any_set() -> bool {
    (0..USED.get()).any(|index| {
        let it = timer(index);
        (*it).in_use && (*it).thread.thread().is_some_and(|number| (*thread(number)).state == State::Suspended)
    })
}

/// Returns its thread, which is created when the timer is first set.
unsafe fn thread_of(index: usize, code: usize) -> *mut Thread {
    let it = timer(index);
    if let Some(own) = (*it).thread.thread()
        && (*thread(own)).state != State::Done
    {
        return thread(own);
    }
    let n = point(code);
    let Ok(t) = threads::make(core::ptr::null(), run as *const () as usize, index) else {
        outcome::finish(OUTCOME_TOO_MANY_THREADS)
    };
    let n = if now() == n { n } else { point(code) };
    (*it).thread = Owner::of((*t).number);
    (*t).internal = true;
    (*t).detached = true;
    (*t).signal_mask = !0;
    INTERNAL.set(INTERNAL.get() + 1);
    let start = if let Notice::Call { function, .. } = (*it).notice { log::relative(function).0 } else { 0 };
    log::event(Kind::Create, n, (*t).number.index(), start, detail::CREATE_TIMER);
    (*t).pending = Wait::Timer;
    (*t).object = 0;
    set_deadline(t, Deadline::NEVER);
    t
}

/// Sets a timer, or stops it.
unsafe fn set(index: usize, deadline: Deadline, interval: u64, code: usize) {
    let it = timer(index);
    (*it).resumes = TimerSetting::STOPPED;
    if deadline.is_never() && (*it).state.deadline.is_never() {
        (*it).state.interval = interval;
        return;
    }
    let t = thread_of(index, code);
    let n = point(code);
    let state = machine::Timer { deadline, interval };
    log::event(Kind::Timer, n, (*t).number.index(), state.left(&time::state()), 0);
    clock::release(&mut (*it).clock);
    (*it).state = state;
    if (*t).pending == Wait::Timer && matches!((*t).state, State::Blocked | State::Suspended) {
        set_deadline(t, deadline);
    }
}

/// Returns the number of nanoseconds until it expires, 0 if it is not set.
unsafe fn left(index: usize) -> u64 {
    (*timer(index)).state.left(&time::state())
}

/// Deletes the timer. Its thread waits for another one.
unsafe fn delete(index: usize, code: usize) {
    set(index, Deadline::NEVER, 0, code);
    (*timer(index)).in_use = false;
}

/// The body of a timer's thread, from its first expiration on.
unsafe extern "C" fn run(index: usize) -> usize {
    let it = timer(index);
    (*current()).pending = Wait::Nothing;
    loop {
        expire(index);
        let deadline = Some((*it).state.deadline).filter(|deadline| !deadline.is_never());
        wait_until(Waiting { wait: Wait::Timer, object: 0, deadline, ends_by: EndsBy::NOTHING }, Cause::Blocked);
    }
}

/// Returns whether a thread of the program waits for a later time.
unsafe fn anybody_sleeps_beyond(due: Deadline) -> bool {
    every_thread().any(|t| {
        let waits_for_time =
            !matches!((*t).pending, Wait::Timer | Wait::Outside) && (due..Deadline::NEVER).contains(&(*t).deadline);
        (*t).state == State::Suspended && waits_for_time
    })
}

unsafe fn expire(index: usize) {
    let it = timer(index);
    let due = (*it).state.deadline;
    let missed = (*it).state.expire(&time::state()) + core::mem::take(&mut (*it).owed);
    clock::acquire(&(*it).clock);
    match (*it).notice {
        // A timer that guards against a hanging program never expires. Threads that wait for ever are then a deadlock, which
        // is more informative than the end of the program. But if a thread sleeps for longer, the program ends.
        Notice::Signal { signal, to, .. } if send::would_end(signal, to) && !anybody_sleeps_beyond(due) => {
            (*it).state.deadline = Deadline::NEVER;
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
                (*it).state.deadline = Deadline::NEVER;
            }
        }
        Notice::Nothing => note_expiration(it),
    }
}

unsafe fn note_expiration(it: *const Timer) {
    let n = point(0);
    log::event(Kind::Timer, n, (*it).thread.thread().map_or(0, ThreadId::index), 0, detail::TIMER_EXPIRED);
}

/// Forgets all timers, in a new process.
pub(crate) unsafe fn reset() {
    core::ptr::write_bytes(timer(0), 0, USED.get());
    USED.set(0);
}

/// Returns the current setting of a timer.
unsafe fn setting_of(index: usize) -> TimerSetting {
    TimerSetting::of(&(*timer(index)).state, &time::state())
}

/// Applies a setting to a timer: relative to now, or as a time of a clock.
unsafe fn apply(setting: TimerSetting, index: usize, clock: Option<Clock>, code: usize) {
    let (deadline, owed) = setting.start(&time::state(), clock);
    set(index, deadline, setting.interval, code);
    (*timer(index)).owed = owed;
}
