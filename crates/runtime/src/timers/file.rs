//! Timers that are read from a file descriptor. Underneath is a counter of events, which is read, polled and closed in
//! the same way.

use super::{Notice, OF_PROCESS, USED, apply, delete, existing, make, setting_of, timer};
use crate::io::{self, channels};
use crate::sync::{EINVAL, ENOMEM, fail, interpose};
use crate::sys;
use racehunter_machine::text::PathText;
use racehunter_machine::{Clock, TimerSetting};

interpose! {
    timerfd_create => create, "rdx";
    timerfd_settime => set_time, "r8";
    timerfd_gettime => get_time, "rdx";
}

unsafe fn find(fd: i32) -> Option<usize> {
    (0..USED.get()).find(|&index| {
        existing(index).is_some_and(|timer| matches!((*timer).notice, Notice::File { fd: own } if own == fd))
    })
}

/// The descriptor is closed, or leads somewhere else from now on.
pub(crate) unsafe fn forget(fd: i32, code: usize) {
    if let Some(index) = find(fd) {
        delete(index, code);
    }
}

unsafe extern "C" fn create(clock: i32, flags: i32, code: usize) -> i32 {
    const EVENTFD: usize = 290;
    // Those of processor time have no timers here.
    const CLOCKS: [i32; 5] = [0, 1, 7, 8, 9];
    if !CLOCKS.contains(&clock) {
        return fail(EINVAL);
    }
    let fd = sys::call(EVENTFD, 0, flags as usize, 0, 0);
    if fd < 0 {
        return fail(-fd as i32);
    }
    let fd = fd as i32;
    forget(fd, code);
    let Some(index) = make(OF_PROCESS + 1, Notice::File { fd }) else {
        sys::call(sys::CLOSE, fd as usize, 0, 0, 0);
        return fail(ENOMEM);
    };
    (*timer(index)).time_clock = Clock(clock);
    fd
}

unsafe extern "C" fn set_time(
    fd: i32,
    flags: i32,
    new: *const [[i64; 2]; 2],
    old: *mut [[i64; 2]; 2],
    code: usize,
) -> i32 {
    const ABSOLUTE: i32 = 1;
    let Some(index) = find(fd) else { return fail(EINVAL) };
    let Some(setting) = TimerSetting::read(*new, 1) else { return fail(EINVAL) };
    let before = setting_of(index);
    apply(setting, index, (flags & ABSOLUTE != 0).then_some((*timer(index)).time_clock), code);
    drain(fd);
    if !old.is_null() {
        *old = before.write(1);
    }
    0
}

unsafe extern "C" fn get_time(fd: i32, current: *mut [[i64; 2]; 2], _code: usize) -> i32 {
    let Some(index) = find(fd) else { return fail(EINVAL) };
    *current = setting_of(index).write(1);
    0
}

/// Expirations so far do not count for a new setting.
unsafe fn drain(fd: i32) {
    const POLL: usize = 7;
    const READABLE: u64 = 1 << 32;
    let mut entry = fd as u32 as u64 | READABLE;
    if sys::call(POLL, &raw mut entry as usize, 1, 0, 0) == 1 {
        let mut count = 0_u64;
        sys::call(sys::READ, fd as usize, &raw mut count as usize, 8, 0);
    }
}

/// Adds expirations to the counter. False when the program has closed the file.
pub(super) unsafe fn count(fd: i32, expirations: u64) -> bool {
    if !is_counter(fd) {
        return false;
    }
    let written = sys::call(sys::WRITE, fd as usize, &raw const expirations as usize, 8, 0) == 8;
    if let Some(d) = channels::of(fd) {
        channels::tell(d.channel);
        io::changed(d.channel);
    }
    written
}

/// Whether the descriptor still refers to an event counter.
unsafe fn is_counter(fd: i32) -> bool {
    const READLINK: usize = 89;
    const COUNTER: &[u8] = b"anon_inode:[eventfd]";
    let mut path = PathText::of(&[b"/proc/self/fd/"]);
    path.push_number(fd as u32 as usize);
    let mut target = [0_u8; 32];
    let length = sys::call(READLINK, path.pointer(), target.as_mut_ptr() as usize, target.len(), 0);
    length == COUNTER.len() as isize && target.starts_with(COUNTER)
}
