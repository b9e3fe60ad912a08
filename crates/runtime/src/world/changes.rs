//! Calls that change files, wherever they come from.
//!
//! The compiler plugin announces the changes that instrumented code makes. Uninstrumented libraries make changes too:
//! those of `std::filesystem` are covered here, so that nothing is left behind.

use super::files;
use super::paths::HERE;
use crate::io::{self, finish};
use crate::sync::interpose;
use crate::{constructors, schedule, sys};
use core::ffi::c_char;

const TRUNCATE: usize = 76;
const RENAME: usize = 82;
const MKDIR: usize = 83;
const RMDIR: usize = 84;
const LINK: usize = 86;
const UNLINK: usize = 87;
const SYMLINK: usize = 88;
const CHMOD: usize = 90;
const MKDIRAT: usize = 258;
const UNLINKAT: usize = 263;
const RENAMEAT: usize = 264;

interpose! {
    mkdir => make_directory, "rdx";
    rmdir => remove_directory, "rsi";
    unlink => remove_name, "rsi";
    remove => remove_any, "rsi";
    rename => rename_file, "rdx";
    link => link_file, "rdx";
    symlink => link_path, "rdx";
    truncate => cut, "rdx";
    truncate64 => cut, "rdx";
    chmod => change_mode, "rdx";
    mkdirat => make_directory_at, "rcx";
    unlinkat => remove_name_at, "rcx";
    renameat => rename_file_at, "r8";
}

/// Announces that a path is about to be changed.
pub(crate) unsafe fn announce(directory: i32, path: usize) {
    constructors::before_main();
    if !io::is_in_first_page(path) && schedule::running() {
        files::changes_at(directory, path as *const c_char);
    }
}

unsafe extern "C" fn make_directory(path: usize, mode: usize, _code: usize) -> i32 {
    announce(HERE, path);
    finish(sys::call(MKDIR, path, mode, 0, 0)) as i32
}

unsafe extern "C" fn remove_directory(path: usize, _code: usize) -> i32 {
    announce(HERE, path);
    finish(sys::call(RMDIR, path, 0, 0, 0)) as i32
}

unsafe extern "C" fn remove_name(path: usize, _code: usize) -> i32 {
    announce(HERE, path);
    finish(sys::call(UNLINK, path, 0, 0, 0)) as i32
}

unsafe extern "C" fn remove_any(path: usize, _code: usize) -> i32 {
    const IS_DIRECTORY: isize = -21;
    announce(HERE, path);
    let result = sys::call(UNLINK, path, 0, 0, 0);
    finish(if result == IS_DIRECTORY { sys::call(RMDIR, path, 0, 0, 0) } else { result }) as i32
}

unsafe extern "C" fn rename_file(from: usize, to: usize, _code: usize) -> i32 {
    announce(HERE, from);
    announce(HERE, to);
    finish(sys::call(RENAME, from, to, 0, 0)) as i32
}

unsafe extern "C" fn link_file(from: usize, to: usize, _code: usize) -> i32 {
    announce(HERE, from);
    announce(HERE, to);
    finish(sys::call(LINK, from, to, 0, 0)) as i32
}

unsafe extern "C" fn link_path(target: usize, path: usize, _code: usize) -> i32 {
    announce(HERE, path);
    finish(sys::call(SYMLINK, target, path, 0, 0)) as i32
}

unsafe extern "C" fn cut(path: usize, len: usize, _code: usize) -> i32 {
    announce(HERE, path);
    finish(sys::call(TRUNCATE, path, len, 0, 0)) as i32
}

unsafe extern "C" fn change_mode(path: usize, mode: usize, _code: usize) -> i32 {
    announce(HERE, path);
    finish(sys::call(CHMOD, path, mode, 0, 0)) as i32
}

unsafe extern "C" fn make_directory_at(directory: i32, path: usize, mode: usize, _code: usize) -> i32 {
    announce(directory, path);
    finish(sys::call(MKDIRAT, directory as isize as usize, path, mode, 0)) as i32
}

unsafe extern "C" fn remove_name_at(directory: i32, path: usize, flags: usize, _code: usize) -> i32 {
    announce(directory, path);
    finish(sys::call(UNLINKAT, directory as isize as usize, path, flags, 0)) as i32
}

unsafe extern "C" fn rename_file_at(old: i32, from: usize, new: i32, to: usize, _code: usize) -> i32 {
    announce(old, from);
    announce(new, to);
    finish(sys::call(RENAMEAT, old as isize as usize, from, new as isize as usize, to)) as i32
}
