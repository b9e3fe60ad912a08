//! The times of files.
//!
//! A file that an execution changes has the time of the [execution's](crate::time) clock; the kernel's clock would
//! differ in every execution, and is years behind that clock.

use super::files;
use crate::io::channels::key;
use crate::sync::fail;
use crate::{escapes, free, schedule, sys};
use racehunter_machine::SECOND;

const STAT: usize = 4;
const FSTAT: usize = 5;
const LSTAT: usize = 6;
const NEWFSTATAT: usize = 262;
const STATX: usize = 332;

/// `struct stat`: device and inode come first.
#[repr(C)]
struct Status {
    device: u64,
    node: u64,
    before: [u64; 7],
    /// Of the last access, the last change of the contents, and the last change of any kind.
    times: [Moment; 3],
}

/// `struct timespec`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Moment {
    seconds: i64,
    nanoseconds: i64,
}

/// `struct statx`, as far as it is used here.
#[repr(C)]
struct Extended {
    before: [u32; 8],
    node: u64,
    between: [u64; 3],
    /// Access, birth, any change, contents.
    times: [Precise; 4],
    device_of_special: [u32; 2],
    device: [u32; 2],
}

/// `struct statx_timestamp`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Precise {
    seconds: i64,
    nanoseconds: u32,
    unused: i32,
}

/// Returns when a file was last changed in this execution, in seconds and nanoseconds.
unsafe fn changed_at(device: u64, node: u64) -> Option<(i64, i64)> {
    if !schedule::running() || free::is_on() {
        return None;
    }
    let moment = files::changed_at(key(&[device, node]))?;
    escapes::looked_at_clock();
    Some(((moment / SECOND) as i64, (moment % SECOND) as i64))
}

/// Returns whether the kernel took a time from its own clock, which is behind that of executions. A later time, or one
/// long ago, was set by the program.
unsafe fn is_of_kernel(seconds: i64) -> bool {
    /// Executions take no longer.
    const RECENT: i64 = 24 * 60 * 60;
    let mut now = Moment { seconds: 0, nanoseconds: 0 };
    const CLOCK_GETTIME: usize = 228;
    sys::call(CLOCK_GETTIME, 0, &raw mut now as usize, 0, 0);
    (now.seconds - RECENT..=now.seconds).contains(&seconds)
}

unsafe fn finish(result: isize, status: *mut Status) -> i32 {
    if result < 0 {
        return fail(-result as i32);
    }
    if let Some((seconds, nanoseconds)) = changed_at((*status).device, (*status).node) {
        for time in &mut (*status).times {
            if is_of_kernel(time.seconds) {
                *time = Moment { seconds, nanoseconds };
            }
        }
    }
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn stat(path: usize, status: *mut Status) -> i32 {
    finish(sys::call(STAT, path, status as usize, 0, 0), status)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn lstat(path: usize, status: *mut Status) -> i32 {
    finish(sys::call(LSTAT, path, status as usize, 0, 0), status)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fstat(fd: i32, status: *mut Status) -> i32 {
    finish(sys::call(FSTAT, fd as usize, status as usize, 0, 0), status)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fstatat(directory: i32, path: usize, status: *mut Status, flags: i32) -> i32 {
    let result = sys::call(NEWFSTATAT, directory as isize as usize, path, status as usize, flags as usize);
    finish(result, status)
}

/// The names under which older programs call them. `version` is that of the structure.
#[unsafe(no_mangle)]
unsafe extern "C" fn __xstat(_version: i32, path: usize, status: *mut Status) -> i32 {
    stat(path, status)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __lxstat(_version: i32, path: usize, status: *mut Status) -> i32 {
    lstat(path, status)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __fxstat(_version: i32, fd: i32, status: *mut Status) -> i32 {
    fstat(fd, status)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __fxstatat(_version: i32, directory: i32, path: usize, status: *mut Status, flags: i32) -> i32 {
    fstatat(directory, path, status, flags)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn statx(directory: i32, path: usize, flags: i32, mask: u32, status: *mut Extended) -> i32 {
    let (flags, mask) = (flags as usize, mask as usize);
    let result = sys::call6(STATX, directory as isize as usize, path, flags, mask, status as usize, 0);
    if result < 0 {
        return fail(-result as i32);
    }
    let [major, minor] = (*status).device.map(u64::from);
    // As `makedev` does it.
    let device = (minor & 0xff) | (major & 0xfff) << 8 | (minor & !0xff) << 12 | (major & !0xfff) << 32;
    if let Some((seconds, nanoseconds)) = changed_at(device, (*status).node) {
        for time in &mut (*status).times {
            if is_of_kernel(time.seconds) {
                (time.seconds, time.nanoseconds) = (seconds, nanoseconds as u32);
            }
        }
    }
    0
}

core::arch::global_asm!(
    ".macro rh_alias name, to",
    ".globl \\name",
    ".type \\name,@function",
    ".set \\name, \\to",
    ".endm",
    "rh_alias stat64, stat",
    "rh_alias lstat64, lstat",
    "rh_alias fstat64, fstat",
    "rh_alias fstatat64, fstatat",
    "rh_alias __xstat64, __xstat",
    "rh_alias __lxstat64, __lxstat",
    "rh_alias __fxstat64, __fxstat",
    "rh_alias __fxstatat64, __fxstatat",
    ".purgem rh_alias",
);

const _: () = {
    assert!(size_of::<Status>() <= 144);
    assert!(core::mem::offset_of!(Status, times) == 72);
    assert!(core::mem::offset_of!(Extended, node) == 32);
    assert!(core::mem::offset_of!(Extended, times) == 64);
    assert!(core::mem::offset_of!(Extended, device) == 136);
};
