//! Creates, copies and closes file descriptors.

use super::channels::{self, Descriptor};
use super::{EINTR, POLLIN, PollFd, Probe, Request, Watch, changed, finish, locks, log_event, touch};
use super::{elsewhere, sockets};
use crate::schedule::{self, point, spin};
use crate::signals::cancel;
use crate::sync::{interpose, interpose_cancellable};
use crate::thread::COUNT;
use crate::world::{changes, files};
use crate::{Global, escapes, hooks, shadow, sys, timers};
use racehunter_abi::{File, FileKind, FileOperation, Kind, descriptor_cell};

const PIPE2: usize = 293;
const DUP: usize = 32;
const DUP3: usize = 292;
const OPENAT: usize = 257;
const NEWFSTATAT: usize = 262;
const EVENTFD2: usize = 290;
const EPOLL_CREATE1: usize = 291;
const CLOSE_RANGE: usize = 436;
const EINVAL: isize = -22;

interpose_cancellable! {
    open => open_file, "rcx";
    open64 => open_file, "rcx";
    __open_2 => open_file, "rcx";
    __open64_2 => open_file, "rcx";
    openat => open_at, "r8";
    openat64 => open_at, "r8";
    __openat_2 => open_at, "r8";
    __openat64_2 => open_at, "r8";
    creat => create_file, "rdx";
    creat64 => create_file, "rdx";
    close => close_one, "rsi";
    __interceptor_close => close_one, "rsi";
    fcntl => control, "rcx";
    fcntl64 => control, "rcx";
}

interpose! {
    close_range => close_several, "rcx";
    closefrom => close_from, "rsi";
    dup => copy, "rsi";
    dup2 => copy_to, "rdx";
    dup3 => copy_to_with, "rcx";
    pipe => make_pipe, "rsi";
    pipe2 => make_pipe_with, "rdx";
    eventfd => make_event, "rdx";
    epoll_create => make_set, "rsi";
    epoll_create1 => make_set_with, "rsi";
    memfd_create => make_memory_file, "rdx";
}

/// Notes the use of a descriptor, as a read of its cell: if another thread closes it at the same time, either call may
/// affect another file.
pub(super) unsafe fn used(fd: i32, code: usize) {
    if let Some(cell) = descriptor_cell(fd) {
        touch(cell as usize, CELL_SIZE, Kind::Read, code);
    }
}

/// Returns the channel of a descriptor, for a call on it. If another thread can give the number to another file, the
/// lookup is a scheduling point.
pub(super) unsafe fn look_up(fd: i32, code: usize) -> Option<Descriptor> {
    if COUNT.get() > 1 && channels::is_contested(fd) {
        files::touch_number(fd, false, code);
    }
    channels::of(fd)
}

/// The direction of a transfer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    In,
    Out,
}

/// Returns whether bytes can go this way at all. A pipe has two ends, and the wrong one is an error at once.
pub(super) unsafe fn is_open_for(d: &Descriptor, way: Way) -> bool {
    const GET_FLAGS: usize = 3;
    if d.kind != FileKind::Pipe {
        return true;
    }
    let flags = sys::call(sys::FCNTL, d.fd as usize, GET_FLAGS, 0, 0);
    flags < 0 || flags as i32 & ACCESS != if way == Way::In { WRITE_ONLY } else { 0 }
}

/// Notes that a descriptor is about to be closed, as a write of its cell.
unsafe fn ends(fd: i32, code: usize) {
    if let Some(cell) = descriptor_cell(fd) {
        touch(cell as usize, CELL_SIZE, Kind::Write, code);
    }
}

/// Notes that a descriptor was opened or closed: earlier uses of its number were of another descriptor.
pub(super) unsafe fn renewed(fd: i32) {
    escapes::renumbered();
    if schedule::running() {
        // A loop that leaves descriptors open changes its state with every iteration; one that closes what it has
        // opened does not.
        spin::also(OPEN.ptr() as usize, size_of::<u64>());
        *OPEN.ptr() ^= channels::key(&[fd as u64]);
    }
    if let Some(cell) = descriptor_cell(fd) {
        shadow::clear(cell as usize, CELL_SIZE as usize);
    }
}

const CELL_SIZE: isize = 8;

/// Represents the set of open descriptors: the xor of a key for each that was opened or closed.
#[unsafe(link_section = ".data.racehunter")]
static OPEN: Global<u64> = Global::new(0);

/// Relative paths start at the working directory.
const HERE: i32 = -100;
const WRITE_ONLY: i32 = 1;
const ACCESS: i32 = 3;
const NONBLOCK: i32 = 0o4000;

unsafe extern "C" fn open_file(path: usize, flags: i32, mode: u32, code: usize) -> i32 {
    open_at(HERE, path, flags, mode, code)
}

unsafe extern "C" fn create_file(path: usize, mode: u32, code: usize) -> i32 {
    const CREATE_TRUNCATE: i32 = 0o1100;
    open_at(HERE, path, CREATE_TRUNCATE | WRITE_ONLY, mode, code)
}

unsafe extern "C" fn open_at(directory: i32, path: usize, flags: i32, mode: u32, code: usize) -> i32 {
    if cancel::acts_at(code) {
        return -1;
    }
    const CHANGES: i32 = 0o1103;
    if flags & CHANGES != 0 {
        changes::announce(directory, path);
    }
    let call = |flags: i32| sys::call(OPENAT, directory as isize as usize, path, flags as usize, mode as usize);
    let waits = matches!(flags & ACCESS, 0 | WRITE_ONLY) && flags & NONBLOCK == 0;
    let is_fifo = is_fifo(directory, path);
    if is_fifo {
        elsewhere::fifo(directory, path, code);
    }
    let fd = match is_fifo {
        true if waits => open_fifo(flags & ACCESS == WRITE_ONLY, code, || call(flags | NONBLOCK)),
        true => open_fifo_at_once(code, || call(flags)),
        false => call(flags),
    };
    if fd >= 0 {
        channels::forget(fd as i32);
    }
    finish(fd) as i32
}

pub(super) unsafe fn is_fifo(directory: i32, path: usize) -> bool {
    let mut stat = [0_u64; 18];
    sys::call(NEWFSTATAT, directory as isize as usize, path, stat.as_mut_ptr() as usize, 0) >= 0
        && stat[3] as u32 & 0o170_000 == 0o010_000
}

/// Whether a FIFO can be opened without waiting depends on what others have opened.
unsafe fn open_fifo_at_once(code: usize, call: impl FnOnce() -> isize) -> isize {
    let n = point(code);
    let fd = call();
    log_event(n, File { descriptor: -1, kind: FileKind::Pipe, operation: FileOperation::Open }, channels::ALL, fd >= 0);
    changed(channels::ALL);
    fd
}

/// Opening one end of a FIFO waits for a process at the other. `call` opens it without waiting.
unsafe fn open_fifo(writes: bool, code: usize, mut call: impl FnMut() -> isize) -> isize {
    const NOBODY_READS: isize = -6;
    let mut n = point(code);
    let mut fd = call();
    // Only an open FIFO reveals its channel; a lone writer cannot open it.
    let mut request = Request {
        d: Descriptor { fd: -1, kind: FileKind::Pipe, channel: channels::ALL },
        operation: FileOperation::Open,
        code,
        waits: true,
        deadline: None,
        cancels: true,
    };
    while writes && fd == NOBODY_READS {
        request.log(n, false);
        let mut watch = Watch::new(Probe::Attempt, channels::ALL);
        watch.outside = true;
        n = match request.begin(&raw mut watch) {
            Ok(n) => n,
            Err(error) => return -(error as isize),
        };
        fd = call();
    }
    if fd < 0 {
        return fd;
    }
    channels::forget(fd as i32);
    if let Some(d) = channels::of(fd as i32) {
        request.d = d;
    }
    request.log(n, true);
    changed(channels::ALL);
    if !writes {
        let mut entry = PollFd { fd: fd as i32, events: POLLIN, revents: 0 };
        let mut watch = Watch::new(Probe::Writer(&raw mut entry), channels::ALL);
        watch.outside = true;
        if request.begin(&raw mut watch).is_err() {
            sys::call(sys::CLOSE, fd as usize, 0, 0, 0);
            channels::forget(fd as i32);
            return -(EINTR as isize);
        }
    }
    const GET_FLAGS: usize = 3;
    const SET_FLAGS: usize = 4;
    let flags = sys::call(sys::FCNTL, fd as usize, GET_FLAGS, 0, 0);
    sys::call(sys::FCNTL, fd as usize, SET_FLAGS, flags as usize & !(NONBLOCK as usize), 0);
    fd
}

/// Returns whether a FIFO that was opened for reading has, or had, a writer.
pub(super) unsafe fn has_writer(entry: *mut PollFd) -> bool {
    const POLL: usize = 7;
    const EAGAIN: isize = -11;
    let mut byte = 0_u8;
    // Without data and without writers this is the end of the file; with a writer it would have to wait.
    sys::call(POLL, entry as usize, 1, 0, 0) != 0
        || sys::call(sys::READ, (*entry).fd as usize, &raw mut byte as usize, 1, 0) == EAGAIN
}

pub(crate) unsafe extern "C" fn close_one(fd: i32, code: usize) -> i32 {
    if cancel::acts_at(code) {
        return -1;
    }
    let call = || sys::call(sys::CLOSE, fd as usize, 0, 0, 0);
    if COUNT.get() > 1 && channels::is_contested(fd) {
        files::touch_number(fd, true, code);
    }
    ends(fd, code);
    let locked = locks::closes(fd, code);
    timers::file::forget(fd, code);
    let Some(d) = channels::of(fd) else {
        let result = call();
        channels::forget(fd);
        locks::closed(locked);
        return finish(result) as i32;
    };
    if d.kind == FileKind::Socket {
        sockets::closes(fd, code);
    }
    let n = point(code);
    // The end of the stream is an event for the other end.
    channels::tell(d.channel);
    let result = call();
    channels::forget(fd);
    log_event(n, File { descriptor: fd, kind: d.kind, operation: FileOperation::Close }, d.channel, result >= 0);
    changed(d.channel);
    finish(result) as i32
}

unsafe extern "C" fn close_several(first: u32, last: u32, flags: i32, code: usize) -> i32 {
    const CLOSE_ON_EXEC: i32 = 4;
    point(code);
    let result = sys::call(CLOSE_RANGE, first as usize, last as usize, flags as usize, 0);
    if result >= 0 && flags & CLOSE_ON_EXEC == 0 {
        channels::forget_range(first, last);
        changed(channels::ALL);
    }
    finish(result) as i32
}

unsafe extern "C" fn close_from(first: i32, code: usize) {
    close_several(first.max(0) as u32, u32::MAX, 0, code);
}

unsafe extern "C" fn copy(fd: i32, code: usize) -> i32 {
    used(fd, code);
    let result = sys::call(DUP, fd as usize, 0, 0, 0);
    copied(fd, result)
}

unsafe extern "C" fn copy_to(fd: i32, to: i32, code: usize) -> i32 {
    if fd == to {
        const GET_DESCRIPTOR_FLAGS: usize = 1;
        let result = sys::call(sys::FCNTL, fd as usize, GET_DESCRIPTOR_FLAGS, 0, 0);
        return finish(if result < 0 { result } else { to as isize }) as i32;
    }
    copy_to_with(fd, to, 0, code)
}

unsafe extern "C" fn copy_to_with(fd: i32, to: i32, flags: i32, code: usize) -> i32 {
    used(fd, code);
    files::becomes_standard(fd, to, code);
    // Whatever was open there is closed.
    let closed = channels::of(to);
    if let Some(d) = closed {
        let n = point(code);
        channels::tell(d.channel);
        log_event(n, File { descriptor: to, kind: d.kind, operation: FileOperation::Close }, d.channel, true);
    }
    files::touch_descriptor(to, true, code);
    let result = sys::call(DUP3, fd as usize, to as usize, flags as usize, 0);
    let result = copied(fd, result);
    if result >= 0 && COUNT.get() > 1 {
        channels::choose(to);
    }
    // A thread that uses it at the same time gets the old file or the new one, so it does not count as closed.
    used(to, code);
    if let Some(d) = closed {
        changed(d.channel);
    }
    result
}

unsafe fn copied(from: i32, result: isize) -> i32 {
    if result >= 0 {
        channels::copy(from, result as i32);
    }
    finish(result) as i32
}

unsafe extern "C" fn make_pipe(ends: *mut [i32; 2], code: usize) -> i32 {
    make_pipe_with(ends, 0, code)
}

pub(super) unsafe extern "C" fn make_pipe_with(ends: *mut [i32; 2], flags: i32, code: usize) -> i32 {
    let result = sys::call(PIPE2, ends as usize, flags as usize, 0, 0);
    if result >= 0 {
        let channel = channels::find_or_make(channels::identity((*ends)[0]), false);
        (*ends).iter().for_each(|&fd| channels::made(fd, FileKind::Pipe, channel));
        hooks::wrote(ends as usize, size_of::<[i32; 2]>(), code);
    }
    finish(result) as i32
}

unsafe extern "C" fn make_event(initial: u32, flags: i32, _code: usize) -> i32 {
    made(sys::call(EVENTFD2, initial as usize, flags as usize, 0, 0), FileKind::Event)
}

unsafe extern "C" fn make_set(size: i32, code: usize) -> i32 {
    if size <= 0 {
        return finish(EINVAL) as i32;
    }
    make_set_with(0, code)
}

unsafe extern "C" fn make_set_with(flags: i32, _code: usize) -> i32 {
    made(sys::call(EPOLL_CREATE1, flags as usize, 0, 0, 0), FileKind::Set)
}

unsafe extern "C" fn make_memory_file(name: usize, flags: u32, _code: usize) -> i32 {
    const MEMFD_CREATE: usize = 319;
    let fd = sys::call(MEMFD_CREATE, name, flags as usize, 0, 0);
    if fd >= 0 {
        channels::forget(fd as i32);
    }
    finish(fd) as i32
}

unsafe fn made(fd: isize, kind: FileKind) -> i32 {
    if fd >= 0 {
        channels::made(fd as i32, kind, channels::find_or_make(0, false));
    }
    finish(fd) as i32
}

unsafe extern "C" fn control(fd: i32, command: i32, argument: usize, code: usize) -> i32 {
    const COPY: i32 = 0;
    const COPY_CLOSE_ON_EXEC: i32 = 1030;
    if locks::is_lock(command) {
        return locks::record_lock(fd, command, argument, code);
    }
    let result = sys::call(sys::FCNTL, fd as usize, command as usize, argument, 0);
    if matches!(command, COPY | COPY_CLOSE_ON_EXEC) { copied(fd, result) } else { finish(result) as i32 }
}

/// Redirects standard input, output and error to nowhere.
pub(super) unsafe fn silence() {
    const READ_WRITE: usize = 2;
    let nothing = sys::call(OPENAT, HERE as isize as usize, c"/dev/null".as_ptr() as usize, READ_WRITE, 0);
    if nothing >= 0 {
        for fd in 0..3 {
            sys::call(DUP3, nothing as usize, fd, 0, 0);
            channels::forget(fd as i32);
        }
        sys::call(sys::CLOSE, nothing as usize, 0, 0, 0);
    }
}
