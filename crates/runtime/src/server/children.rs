//! The processes that the server and its executions fork: how they end, and slots that run in copies of a process.

use super::{
    _Fork, SLOT, checks_output, enter_slot, has_room, header, input_position, output_position, set_input, slot, slot_at,
};
use crate::world::{copies, view};
use crate::{kernel, log, outcome, sites, sys, watchdog};
use racehunter_abi::control::{NOTE_FILES, OUTCOME_SNAPSHOT, SLOTS, STATE_NO_ROOM};

/// How a process ended.
pub(crate) struct Status {
    status: i32,
    /// `struct rusage`: user and system time as (seconds, microseconds), then the peak memory in KiB.
    usage: [u64; 18],
}

/// Waits until a child has ended, or has stopped if that matters.
pub(crate) unsafe fn wait_for(pid: i32, or_stopped: bool) -> Status {
    const EINTR: isize = -4;
    const UNTRACED: usize = 2;
    let options = if or_stopped { UNTRACED } else { 0 };
    let mut ended = Status { status: 0, usage: [0; 18] };
    let (status, usage) = (&raw mut ended.status as usize, &raw mut ended.usage as usize);
    while sys::call(sys::WAIT4, pid as usize, status, options, usage) == EINTR {}
    ended
}

impl Status {
    pub(crate) fn has_ended(&self) -> bool {
        self.status & 0xff != 0x7f
    }

    pub(crate) fn is_success(&self) -> bool {
        self.status == 0
    }

    /// Stores it in the slot that ran last.
    pub(crate) unsafe fn note(&self) {
        let slot = slot_at((*header()).running.min(SLOTS as u32 - 1));
        (*slot).status = self.status;
        (*slot).end_seal = (*slot).end_seal_of();
        (*slot).cpu_us = (self.usage[0] + self.usage[2]) * 1_000_000 + self.usage[1] + self.usage[3];
        (*slot).max_rss_kib = self.usage[4];
    }
}

/// Returns whether the execution that ran last has asked to begin again. If so, its slot is the next one.
pub(crate) unsafe fn asks_again(index: u32) -> bool {
    let header = header();
    let asks = (*slot_at(index)).state == STATE_NO_ROOM && (*header).next == index + 1;
    if asks {
        (*header).next = index;
    }
    asks
}

/// Takes back the slot that this process was forked for, so that it runs in a copy.
pub(crate) unsafe fn take_back() {
    (*slot()).notes = 0;
    (*header()).next = SLOT.get();
}

/// Returns whether a slot can run now.
pub(crate) unsafe fn has_slot(index: u32) -> bool {
    index < (*header()).requested.min(SLOTS as u32) && has_room()
}

/// Runs a slot in a copy of this process. Returns true in the copy, and false when the copy has ended.
pub(crate) unsafe fn run_in_copy(index: u32) -> bool {
    enter_slot(index);
    sites::learn();
    let pid = _Fork();
    if pid == 0 {
        begin_copy();
        return true;
    }
    (*header()).child = pid as u32;
    wait_for(pid, false).note();
    (*header()).child = 0;
    false
}

/// First steps of a process that continues where another one is.
unsafe fn begin_copy() {
    const SET_PARENT_DEATH_SIGNAL: usize = 1;
    const SIGKILL: usize = 9;
    sys::call(sys::PRCTL, SET_PARENT_DEATH_SIGNAL, SIGKILL, 0, 0);
    sys::call(sys::SETPGID, 0, 0, 0, 0);
    kernel::forked();
    watchdog::start();
}

/// Runs the slots that continue from here, each in a copy of this process. Returns true in the copies; the original
/// ends.
pub(crate) unsafe fn fan_out() -> bool {
    log::flush();
    let index = SLOT.get();
    let (first, count) = log::extent();
    let copies = (*slot()).snapshot_slots.min(SLOTS as u32 - 1 - index);
    let input = input_position();
    // Only later output of a copy is its own; if output is compared, all of it counts.
    let is_possible = !view::is_active() && !copies::have_something() && !checks_output();
    if !is_possible {
        log::note(NOTE_FILES);
    }
    let copies = if is_possible { copies } else { leave_out(index, copies) };
    for copy in 1..=copies {
        set_input(input);
        (*slot_at(index + copy)).output = output_position();
        enter_slot(index + copy);
        let pid = _Fork();
        if pid == 0 {
            begin_copy();
            log::fork_from(first, count);
            if (*header()).begun != 0 {
                (*header()).begun = index + copy + 1;
            }
            return true;
        }
        (*header()).child = pid as u32;
        wait_for(pid, false).note();
    }
    SLOT.set(index);
    // The server's notes about this process must not apply to the last copy.
    (*header()).running = index;
    // The log of the first copy begins where this one ended.
    log::stop();
    outcome::publish(OUTCOME_SNAPSHOT);
    sys::exit_group(0)
}

/// Skips the copies, because all of them would change this process's view of files, or read from the same pipes; the
/// controller runs their plans from the start. Returns how many copies are left.
unsafe fn leave_out(index: u32, copies: u32) -> u32 {
    (index + 1..=index + copies).for_each(|left_out| (*slot_at(left_out)).state = STATE_NO_ROOM);
    (*header()).next = index + copies + 1;
    0
}
