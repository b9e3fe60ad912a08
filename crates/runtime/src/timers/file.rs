//! Timers that are read from a file descriptor. Underneath is a kernel timer that is never set: the runtime counts its
//! expirations, and reading, polling, copying and closing go to the kernel. If the kernel does not let a process do that, an
//! event counter is used instead.

use super::{Notice, OF_PROCESS, USED, apply, delete, existing, make, setting_of, timer};
use crate::io::{self, channels};
use crate::sync::{EINVAL, fail, interpose};
use crate::sys;
use racehunter_abi::FileKind;
use racehunter_machine::text::PathText;
use racehunter_machine::{Clock, TimerSetting};

interpose! {
    timerfd_create => create, "rdx";
    timerfd_settime => set_time, "r8";
    timerfd_gettime => get_time, "rdx";
}

/// Returns the timer behind a descriptor. Copies of a descriptor refer to the same one.
unsafe fn find(fd: i32) -> Option<usize> {
    let known = channels::of(fd).filter(|d| d.kind == FileKind::Event)?.channel;
    (0..USED.get()).find(|&index| {
        existing(index).is_some_and(|timer| matches!((*timer).notice, Notice::File { channel } if channel == known))
    })
}

/// Forgets a descriptor that is closed, or refers to something else from now on. A timer without a descriptor is deleted.
pub(crate) unsafe fn forget(fd: i32, code: usize) {
    if let Some(index) = find(fd)
        && let Notice::File { channel } = (*timer(index)).notice
        && channels::descriptors(channel).all(|other| other == fd)
    {
        delete(index, code);
    }
}

unsafe extern "C" fn create(clock: i32, flags: i32, code: usize) -> i32 {
    const TIMERFD: usize = 283;
    const EVENTFD: usize = 290;
    // Clocks of processor time have no timers here.
    const CLOCKS: [i32; 5] = [0, 1, 7, 8, 9];
    if !CLOCKS.contains(&clock) {
        return fail(EINVAL);
    }
    const ENOTTY: isize = -25;
    const MONOTONIC: usize = 1;
    let mut fd = sys::call(TIMERFD, MONOTONIC, flags as usize, 0, 0);
    // No timer has expired zero times, so the kernel refuses; if it does not support the request, the error differs.
    if fd >= 0 && set_ticks(fd as i32, 0) == ENOTTY {
        sys::call(sys::CLOSE, fd as usize, 0, 0, 0);
        fd = sys::call(EVENTFD, 0, flags as usize, 0, 0);
    }
    if fd < 0 {
        return fail(-fd as i32);
    }
    let fd = fd as i32;
    forget(fd, code);
    let channel = channels::find_or_make(0, false);
    channels::made(fd, FileKind::Event, channel);
    let index = make(OF_PROCESS + 1, Notice::File { channel });
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
    const CANCELLED_BY_CHANGES: i32 = 2;
    if flags & !(ABSOLUTE | CANCELLED_BY_CHANGES) != 0 {
        return fail(EINVAL);
    }
    let Some(setting) = TimerSetting::read(*new, 1) else { return fail(EINVAL) };
    let Some(index) = find(fd) else { return refuse(fd) };
    let before = setting_of(index);
    apply(setting, index, (flags & ABSOLUTE != 0).then_some((*timer(index)).time_clock), code);
    drain(fd);
    if !old.is_null() {
        *old = before.write(1);
    }
    0
}

unsafe extern "C" fn get_time(fd: i32, current: *mut [[i64; 2]; 2], _code: usize) -> i32 {
    let Some(index) = find(fd) else { return refuse(fd) };
    *current = setting_of(index).write(1);
    0
}

/// Returns the error for a descriptor without a timer, or for no such descriptor.
unsafe fn refuse(fd: i32) -> i32 {
    const EBADF: i32 = 9;
    const GET_FLAGS: usize = 1;
    let is_open = sys::call(sys::FCNTL, fd as usize, GET_FLAGS, 0, 0) >= 0;
    fail(if is_open { EINVAL } else { EBADF })
}

unsafe fn is_readable(fd: i32) -> bool {
    const POLL: usize = 7;
    const READABLE: u64 = 1 << 32;
    let mut entry = fd as u32 as u64 | READABLE;
    sys::call(POLL, &raw mut entry as usize, 1, 0, 0) == 1
}

/// Drops earlier expirations, which do not count for a new setting.
unsafe fn drain(fd: i32) {
    if is_readable(fd) {
        let mut count = 0_u64;
        sys::call(sys::READ, fd as usize, &raw mut count as usize, 8, 0);
    }
}

/// Makes a kernel timer have expired this number of times. Returns the kernel's result.
unsafe fn set_ticks(fd: i32, ticks: u64) -> isize {
    const IOCTL: usize = 16;
    const SET_TICKS: usize = 0x4008_5400;
    sys::call(IOCTL, fd as usize, SET_TICKS, &raw const ticks as usize, 0)
}

/// Adds expirations to those that the program has not read. Returns false if the program has closed the file.
pub(super) unsafe fn count(index: usize, expirations: u64) -> bool {
    let Notice::File { channel } = (*timer(index)).notice else { return false };
    let Some(fd) = channels::descriptors(channel).find(|&fd| is_timer(fd)) else { return false };
    let unread = &raw mut (*timer(index)).unread;
    *unread = if is_readable(fd) { *unread + expirations } else { expirations };
    let counted =
        set_ticks(fd, *unread) >= 0 || sys::call(sys::WRITE, fd as usize, &raw const expirations as usize, 8, 0) == 8;
    channels::tell(channel);
    io::changed(channel);
    counted
}

/// Returns whether the descriptor still refers to a timer, or to its substitute.
unsafe fn is_timer(fd: i32) -> bool {
    const READLINK: usize = 89;
    const NAMES: [&[u8]; 2] = [b"anon_inode:[timerfd]", b"anon_inode:[eventfd]"];
    let mut path = PathText::of(&[b"/proc/self/fd/"]);
    path.push_number(fd as u32 as usize);
    let mut target = [0_u8; 32];
    let length = sys::call(READLINK, path.pointer(), target.as_mut_ptr() as usize, target.len(), 0);
    NAMES.iter().any(|name| length == name.len() as isize && target.starts_with(name))
}
