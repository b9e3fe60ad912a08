//! Files with unique names: `mkstemp` and similar functions.
//!
//! In a private view of files ([`super::view`]) the names are the same in every execution; elsewhere they must not be, since other
//! executions may have left theirs.

use super::paths::{self, HERE};
use super::view;
use super::{files, random};
use crate::io::{channels, finish, touch};
use crate::signals::cancel;
use crate::sync::{interpose, interpose_cancellable};
use crate::sys;
use core::ffi::{CStr, c_char};
use racehunter_abi::Kind;

interpose_cancellable! {
    mkstemp => make_file, "rsi";
    mkstemp64 => make_file, "rsi";
    mkostemp => make_file_with, "rdx";
    mkostemp64 => make_file_with, "rdx";
    mkstemps => make_file_before, "rdx";
    mkstemps64 => make_file_before, "rdx";
    mkostemps => make_file_before_with, "rcx";
    mkostemps64 => make_file_before_with, "rcx";
}

interpose! {
    mkdtemp => make_directory, "rsi";
    mktemp => find_name, "rsi";
}

/// The part of a template that is replaced.
const PLACE: usize = 6;
const EINVAL: isize = -22;
const EEXIST: isize = -17;
/// Number of names tried before giving up.
const TRIES: u32 = 10_000;

/// Tries names until one does not exist yet. `attempt` creates something with a name, and returns a result of the kernel.
unsafe fn make(template: *mut c_char, behind: usize, code: usize, attempt: impl Fn(usize) -> isize) -> isize {
    let len = CStr::from_ptr(template).to_bytes().len();
    let is_right = len >= PLACE + behind && (0..PLACE).all(|at| *template.add(len - behind - PLACE + at) as u8 == b'X');
    if !is_right {
        return EINVAL;
    }
    touch(template as usize, len as isize, Kind::WriteRange, code);
    files::changes(template);
    let place = template.add(len - behind - PLACE);
    for _ in 0..TRIES {
        let mut number = if view::is_active() { random::next() } else { random::any() };
        for at in 0..PLACE {
            const LETTERS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
            *place.add(at) = LETTERS[(number % 62) as usize] as c_char;
            number /= 62;
        }
        let result = attempt(template as usize);
        if result != EEXIST {
            return result;
        }
    }
    EEXIST
}

unsafe extern "C" fn make_file_before_with(template: *mut c_char, behind: i32, flags: i32, code: usize) -> i32 {
    const OPENAT: usize = 257;
    const ACCESS: usize = 3;
    const CREATE_READ_WRITE: usize = 0o302;
    if cancel::acts_at(code) {
        return -1;
    }
    let flags = flags as usize & !ACCESS | CREATE_READ_WRITE;
    let open = |path: usize| sys::call(OPENAT, HERE as isize as usize, path, flags, 0o600);
    let fd = make(template, behind.max(0) as usize, code, open);
    if fd >= 0 {
        channels::forget(fd as i32);
    }
    finish(fd) as i32
}

unsafe extern "C" fn make_file(template: *mut c_char, code: usize) -> i32 {
    make_file_before_with(template, 0, 0, code)
}

unsafe extern "C" fn make_file_with(template: *mut c_char, flags: i32, code: usize) -> i32 {
    make_file_before_with(template, 0, flags, code)
}

unsafe extern "C" fn make_file_before(template: *mut c_char, behind: i32, code: usize) -> i32 {
    make_file_before_with(template, behind, 0, code)
}

unsafe extern "C" fn make_directory(template: *mut c_char, code: usize) -> *mut c_char {
    const MKDIR: usize = 83;
    let made = make(template, 0, code, |path| sys::call(MKDIR, path, 0o700, 0, 0));
    if finish(made) < 0 { core::ptr::null_mut() } else { template }
}

/// Finds a free name; it may be taken by the time it is used.
unsafe extern "C" fn find_name(template: *mut c_char, code: usize) -> *mut c_char {
    let result = make(template, 0, code, |path| if paths::status(HERE, path, 0).is_some() { EEXIST } else { 0 });
    if finish(result) < 0 {
        *template = 0;
    }
    template
}
