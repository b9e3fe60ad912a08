//! Timers of a program that loops in one process. Those that exist when the body of the loop begins are made anew for each iteration,
//! and those that are set by then are set again, with as much time left.

use super::{MOST, Notice, USED, apply, existing, reset, setting_of, timer};
use crate::Global;
use crate::schedule::set_deadline;
use crate::thread::{State, thread};
use core::mem::MaybeUninit;
use racehunter_abi::Wait;
use racehunter_machine::{self as machine, Clock, Deadline, Owner, TimerSetting};

/// A timer when the body began.
#[derive(Clone, Copy)]
struct Kept {
    index: usize,
    notice: Notice,
    time_clock: Clock,
    setting: TimerSetting,
}

static KEPT: Global<[MaybeUninit<Kept>; MOST]> = Global::new([const { MaybeUninit::zeroed() }; MOST]);
#[unsafe(link_section = ".data.racehunter")]
static COUNT: Global<usize> = Global::new(0);

unsafe fn kept() -> impl Iterator<Item = Kept> {
    (0..COUNT.get()).map(|at| *(KEPT.ptr() as *const Kept).add(at))
}

/// Notes which timers there are: the body of a loop begins.
pub(crate) unsafe fn keep() {
    COUNT.set(0);
    for index in 0..USED.get() {
        let Some(it) = existing(index) else { continue };
        let setting = if (*it).state.deadline.is_never() { (*it).resumes } else { setting_of(index) };
        let kept = Kept { index, notice: (*it).notice, time_clock: (*it).time_clock, setting };
        *(KEPT.ptr() as *mut Kept).add(COUNT.get()) = kept;
        COUNT.set(COUNT.get() + 1);
    }
}

/// Makes these timers anew, and forgets all others: everything of the last iteration is forgotten.
pub(crate) unsafe fn restore() {
    reset();
    for Kept { index, notice, time_clock, setting } in kept() {
        USED.set(USED.get().max(index + 1));
        let it = timer(index);
        (*it).in_use = true;
        (*it).notice = notice;
        (*it).thread = Owner::NONE;
        (*it).state = machine::Timer::STOPPED;
        (*it).time_clock = time_clock;
        (*it).resumes = setting;
    }
}

/// The same at the end of the body. Threads of timers that are set wait for ever.
pub(crate) unsafe fn roll_back() {
    for index in 0..USED.get() {
        let own = existing(index).and_then(|it| (*it).thread.thread());
        if let Some(t) = own.map(|number| thread(number))
            && (*t).pending == Wait::Timer
            && (*t).state == State::Suspended
        {
            set_deadline(t, Deadline::NEVER);
        }
    }
    restore();
}

/// Sets the timers that were set before: the first action of the body.
pub(crate) unsafe fn resume() {
    /// No place of the program.
    const CODE: usize = 0;
    for Kept { index, setting, .. } in kept() {
        if setting.first != 0 {
            apply(setting, index, None, CODE);
        }
    }
}
