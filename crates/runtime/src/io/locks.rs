//! File locks: `flock`, `lockf`, `fcntl`.
//!
//! A lock of `flock` belongs to the open file description, so two threads that each opened a file exclude one another.
//! The kernel decides; this module only records through which descriptors this process holds one, since nothing outside
//! releases a lock that the process itself holds. Record locks belong to the process and never exclude its own threads,
//! except for those of open file descriptions (`F_OFD_SETLKW`).

use super::channels::{self, Descriptor, key};
use super::{EAGAIN, Probe, Request, Watch, changed, finish};
use crate::schedule::point;
use crate::signals::cancel;
use crate::sync::{interpose, interpose_cancellable, real};
use crate::world::view;
use crate::{Global, sys};
use racehunter_abi::{FileKind, FileOperation};

const FLOCK: usize = 73;
const EXCLUSIVE: i32 = 2;
const WITHOUT_WAITING: i32 = 4;
const UNLOCK: i32 = 8;

const SET: i32 = 6;
const SET_AND_WAIT: i32 = 7;
const OPEN_FILE_GET: i32 = 36;
const OPEN_FILE_SET: i32 = 37;
const OPEN_FILE_SET_AND_WAIT: i32 = 38;

interpose_cancellable! {
    lockf => lock_section, "rcx";
    lockf64 => lock_section, "rcx";
}

interpose! {
    flock => lock_file, "rdx";
}

/// `struct flock`
#[repr(C)]
#[derive(Clone, Copy)]
struct Record {
    kind: i16,
    whence: i16,
    start: i64,
    len: i64,
    pid: i32,
}

const READ_LOCK: i16 = 0;
const WRITE_LOCK: i16 = 1;
const NO_LOCK: i16 = 2;

/// A lock that a thread waits for.
#[derive(Clone, Copy)]
pub(crate) enum Wanted {
    /// `flock` with this operation.
    Whole(i32, i32),
    /// `fcntl`: descriptor, command that queries, and the lock.
    Section(i32, i32, usize),
}

/// Returns whether it is available. For `flock` the only way to find out is to take it and release it; a waiting thread
/// has lost every lock that it held on the file.
pub(super) unsafe fn is_free(wanted: Wanted) -> bool {
    match wanted {
        Wanted::Whole(fd, operation) => {
            let free = sys::call(FLOCK, fd as usize, (operation | WITHOUT_WAITING) as usize, 0, 0);
            if free >= 0 {
                sys::call(FLOCK, fd as usize, UNLOCK as usize, 0, 0);
            }
            free != -(EAGAIN as isize)
        }
        Wanted::Section(fd, get, lock) => {
            let mut record = *(lock as *const Record);
            sys::call(sys::FCNTL, fd as usize, get as usize, &raw mut record as usize, 0) < 0 || record.kind == NO_LOCK
        }
    }
}

/// Descriptors through which this process holds a lock: the descriptor + 1, and the channel of the file.
const MOST_HELD: usize = 64;
static HELD: Global<[(i32, usize); MOST_HELD]> = Global::new([(0, 0); MOST_HELD]);

unsafe fn held(fd: i32) -> Option<*mut (i32, usize)> {
    (*HELD.ptr()).iter_mut().find(|held| held.0 == fd + 1).map(core::ptr::from_mut)
}

/// Returns whether this process holds a lock on the file: nothing outside can release it.
pub(super) unsafe fn is_held_here(channel: usize) -> bool {
    (*HELD.ptr()).iter().any(|held| held.0 != 0 && held.1 == channel)
}

unsafe fn hold(fd: i32, channel: usize) {
    if held(fd).is_none()
        && let Some(free) = (*HELD.ptr()).iter_mut().find(|held| held.0 == 0)
    {
        *free = (fd + 1, channel);
    }
}

unsafe fn drop_hold(fd: i32) {
    if let Some(held) = held(fd) {
        *held = (0, 0);
    }
}

/// Makes a file private before it is locked. Other executions must not notice, even if they only read the file.
unsafe fn make_private(fd: i32) {
    view::cover_descriptor(fd);
}

/// Returns the descriptor of a file lock for the scheduler.
unsafe fn descriptor(fd: i32) -> Descriptor {
    const LOCK: u64 = 5;
    Descriptor { fd, kind: FileKind::Lock, channel: channels::find_or_make(key(&[LOCK, channels::identity(fd)]), true) }
}

unsafe fn acquire(
    d: Descriptor,
    wanted: Wanted,
    waits: bool,
    code: usize,
    mut attempt: impl FnMut() -> isize,
) -> isize {
    let request = Request { d, operation: FileOperation::Lock, code, waits, deadline: None, cancels: false };
    loop {
        let mut watch = Watch::new(Probe::Lock(wanted), d.channel);
        watch.outside = true;
        // A thread that already holds another kind of lock must not be probed: probing takes and releases the lock.
        let n = if held(d.fd).is_some() {
            point(code)
        } else {
            match request.begin(&raw mut watch) {
                Ok(n) => n,
                Err(error) => return -(error as isize),
            }
        };
        let result = attempt();
        let refused = result == -(EAGAIN as isize);
        if refused {
            drop_hold(d.fd);
        } else if result >= 0 {
            hold(d.fd, d.channel);
        }
        request.end(n, result);
        if !refused || !waits {
            return result;
        }
    }
}

unsafe fn release(d: Descriptor, code: usize, call: impl FnOnce() -> isize) -> isize {
    let request = Request { d, operation: FileOperation::Unlock, code, waits: false, deadline: None, cancels: false };
    let n = point(code);
    channels::tell(d.channel);
    let result = call();
    drop_hold(d.fd);
    request.end(n, result);
    result
}

unsafe extern "C" fn lock_file(fd: i32, operation: i32, code: usize) -> i32 {
    let call = |operation: i32| sys::call(FLOCK, fd as usize, operation as usize, 0, 0);
    finish(match operation & !WITHOUT_WAITING {
        UNLOCK => release(descriptor(fd), code, || call(operation)),
        1 | EXCLUSIVE => {
            make_private(fd);
            let waits = operation & WITHOUT_WAITING == 0;
            acquire(descriptor(fd), Wanted::Whole(fd, operation), waits, code, || call(operation | WITHOUT_WAITING))
        }
        _ => call(operation),
    }) as i32
}

/// Returns whether a command of `fcntl` concerns locks.
pub(super) fn is_lock(command: i32) -> bool {
    matches!(command, SET | SET_AND_WAIT | OPEN_FILE_SET | OPEN_FILE_SET_AND_WAIT)
}

pub(super) unsafe fn record_lock(fd: i32, command: i32, argument: usize, code: usize) -> i32 {
    let (get, set) = match command {
        SET | SET_AND_WAIT => (SET - 1, SET),
        _ => (OPEN_FILE_GET, OPEN_FILE_SET),
    };
    let call = || sys::call(sys::FCNTL, fd as usize, set as usize, argument, 0);
    if super::is_in_first_page(argument) {
        return finish(call()) as i32;
    }
    finish(match (*(argument as *const Record)).kind {
        NO_LOCK => release(descriptor(fd), code, call),
        READ_LOCK | WRITE_LOCK => {
            let waits = matches!(command, SET_AND_WAIT | OPEN_FILE_SET_AND_WAIT);
            if waits && cancel::acts_at(code) {
                return -1;
            }
            make_private(fd);
            acquire(descriptor(fd), Wanted::Section(fd, get, argument), waits, code, call)
        }
        _ => call(),
    }) as i32
}

unsafe extern "C" fn lock_section(fd: i32, command: i32, len: i64, code: usize) -> i32 {
    const LOCK: i32 = 1;
    const CURRENT_POSITION: i16 = 1;
    if command == LOCK {
        let record = Record { kind: WRITE_LOCK, whence: CURRENT_POSITION, start: 0, len, pid: 0 };
        return record_lock(fd, SET_AND_WAIT, &raw const record as usize, code);
    }
    let lockf: extern "C" fn(i32, i32, i64) -> i32 = core::mem::transmute(real::lock_section());
    lockf(fd, command, len)
}

/// Notes that a descriptor is about to be closed. Returns the channel of the file on which it holds a lock.
pub(super) unsafe fn closes(fd: i32, code: usize) -> Option<usize> {
    let channel = (*held(fd)?).1;
    point(code);
    channels::tell(channel);
    drop_hold(fd);
    Some(channel)
}

/// Notes that it was closed.
pub(super) unsafe fn closed(channel: Option<usize>) {
    if let Some(channel) = channel {
        changed(channel);
    }
}
