//! Objects that executions share with others and that cannot be private to one: existing FIFOs, and kernel messages about the
//! whole machine. Failures of such executions are not confirmed, unless they are races.

use super::{channels, finish};
use crate::sync::interpose;
use crate::world::view;
use crate::{log, schedule, sys};
use racehunter_abi::{Escape, TRACES_OF_FIFOS, TRACES_OF_KERNEL};

const INOTIFY_INIT1: usize = 294;
const FANOTIFY_INIT: usize = 300;
const NETLINK: i32 = 16;

interpose! {
    inotify_init => watch_names, "rdi";
    inotify_init1 => watch_names_with, "rsi";
    fanotify_init => watch_files, "rdx";
}

unsafe fn note(what: u64, code: usize) {
    if schedule::running() {
        log::escape(Escape::Traces, code, what as usize, 0);
    }
}

/// Notes that a FIFO is about to be opened. FIFOs in a directory of which the execution has its own view are separate pipes.
pub(super) unsafe fn fifo(directory: i32, path: usize, code: usize) {
    if !view::has(directory, path) {
        note(TRACES_OF_FIFOS, code);
    }
}

/// Notes that a socket is about to be created.
pub(super) unsafe fn socket(family: i32, code: usize) {
    if family == NETLINK {
        note(TRACES_OF_KERNEL, code);
    }
}

unsafe fn opened(fd: isize) -> i32 {
    if fd >= 0 {
        channels::forget(fd as i32);
    }
    finish(fd) as i32
}

unsafe extern "C" fn watch_names(code: usize) -> i32 {
    watch_names_with(0, code)
}

unsafe extern "C" fn watch_names_with(flags: i32, code: usize) -> i32 {
    note(TRACES_OF_KERNEL, code);
    opened(sys::call(INOTIFY_INIT1, flags as usize, 0, 0, 0))
}

unsafe extern "C" fn watch_files(flags: u32, event_flags: u32, code: usize) -> i32 {
    note(TRACES_OF_KERNEL, code);
    opened(sys::call(FANOTIFY_INIT, flags as usize, event_flags as usize, 0, 0))
}
