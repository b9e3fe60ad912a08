//! `read`, `write` and similar functions.

use super::channels::{self, Descriptor};
use super::descriptors::Way;
use super::{
    EAGAIN, POLLIN, POLLOUT, PollFd, Request, Watch, descriptors, finish, never_waits, sockets, touch, without_waiting,
};
use crate::signals::cancel;
use crate::sync::interpose_cancellable;
use crate::sys;
use crate::world::{files, random, view};
use racehunter_abi::{FileKind, FileOperation, Kind};

const READV: usize = 19;
const WRITEV: usize = 20;
const SENDFILE: usize = 40;
const SPLICE: usize = 275;
/// The amount that a pipe accepts atomically, and has room for when it is ready at all.
const PIPE_BUF: usize = 4096;

interpose_cancellable! {
    read => read_bytes, "rcx";
    __interceptor_read => read_bytes, "rcx";
    __read_chk => read_checked, "r8";
    readv => read_pieces, "rcx";
    write => write_bytes, "rcx";
    __interceptor_write => write_bytes, "rcx";
    writev => write_pieces, "rcx";
    eventfd_read => event_read, "rdx";
    eventfd_write => event_write, "rdx";
}

interpose_cancellable! {
    sendfile => send_file, "r8";
    sendfile64 => send_file, "r8";
}

// The compiler plugin has announced their effects on memory and files. Here they are cancellation points.
interpose_cancellable! {
    pread => read_at, "r8";
    pread64 => read_at, "r8";
    pwrite => write_at, "r8";
    pwrite64 => write_at, "r8";
    preadv => read_pieces_at, "r8";
    preadv64 => read_pieces_at, "r8";
    pwritev => write_pieces_at, "r8";
    pwritev64 => write_pieces_at, "r8";
    fallocate => reserve, "r8";
    fallocate64 => reserve, "r8";
    fsync => write_back, "rsi";
    fdatasync => write_back_data, "rsi";
    msync => write_back_memory, "rcx";
}

unsafe extern "C" fn write_back_memory(start: usize, len: usize, flags: i32, code: usize) -> i32 {
    const MSYNC: usize = 26;
    if cancel::acts_at(code) { -1 } else { finish(sys::call(MSYNC, start, len, flags as usize, 0)) as i32 }
}

super::interpose_six! {
    copy_file_range => copy_range;
}

/// Between an overlay and its lower file system the kernel refuses this, as between any two file systems. The program must
/// not notice.
unsafe extern "C" fn copy_range(
    from: i32,
    from_at: *mut i64,
    to: i32,
    to_at: *mut i64,
    len: usize,
    flags: u32,
) -> isize {
    const COPY_FILE_RANGE: usize = 326;
    const OTHER_FILE_SYSTEM: isize = -18;
    const MOST: usize = 4096;
    if cancel::acts_at(super::code_of_six()) {
        return -1;
    }
    let [source, target] = [from_at as usize, to_at as usize];
    let result = sys::call6(COPY_FILE_RANGE, from as usize, source, to as usize, target, len, flags as usize);
    if result != OTHER_FILE_SYSTEM || !view::is_active() {
        return finish(result);
    }
    let mut buffer = [0_u8; MOST];
    let mut done = 0;
    while done < len {
        let wanted = (len - done).min(MOST);
        let read = transfer_at(sys::READ, PREAD, from, buffer.as_mut_ptr() as usize, wanted, from_at);
        if read <= 0 {
            return if done > 0 { done as isize } else { finish(read) };
        }
        let written = transfer_at(sys::WRITE, PWRITE, to, buffer.as_ptr() as usize, read as usize, to_at);
        if written <= 0 {
            return if done > 0 { done as isize } else { finish(written) };
        }
        done += written as usize;
    }
    done as isize
}

/// Reads or writes at a given position, or at that of the file. The position moves.
unsafe fn transfer_at(plain: usize, positioned: usize, fd: i32, buffer: usize, len: usize, at: *mut i64) -> isize {
    if at.is_null() {
        return sys::call(plain, fd as usize, buffer, len, 0);
    }
    let result = sys::call(positioned, fd as usize, buffer, len, *at as usize);
    *at += result.max(0) as i64;
    result
}

const PREAD: usize = 17;
const PWRITE: usize = 18;

unsafe extern "C" fn read_at(fd: i32, buffer: usize, len: usize, at: usize, code: usize) -> isize {
    if cancel::acts_at(code) { -1 } else { finish(sys::call(PREAD, fd as usize, buffer, len, at)) }
}

unsafe extern "C" fn write_at(fd: i32, buffer: usize, len: usize, at: usize, code: usize) -> isize {
    if cancel::acts_at(code) { -1 } else { finish(sys::call(PWRITE, fd as usize, buffer, len, at)) }
}

unsafe extern "C" fn read_pieces_at(fd: i32, pieces: usize, count: i32, at: usize, code: usize) -> isize {
    const PREADV: usize = 295;
    if cancel::acts_at(code) { -1 } else { finish(sys::call(PREADV, fd as usize, pieces, count as usize, at)) }
}

unsafe extern "C" fn write_pieces_at(fd: i32, pieces: usize, count: i32, at: usize, code: usize) -> isize {
    const PWRITEV: usize = 296;
    if cancel::acts_at(code) { -1 } else { finish(sys::call(PWRITEV, fd as usize, pieces, count as usize, at)) }
}

unsafe extern "C" fn reserve(fd: i32, mode: i32, at: usize, len: usize, code: usize) -> i32 {
    const FALLOCATE: usize = 285;
    if cancel::acts_at(code) { -1 } else { finish(sys::call(FALLOCATE, fd as usize, mode as usize, at, len)) as i32 }
}

unsafe extern "C" fn write_back(fd: i32, code: usize) -> i32 {
    const FSYNC: usize = 74;
    if cancel::acts_at(code) { -1 } else { finish(sys::call(FSYNC, fd as usize, 0, 0, 0)) as i32 }
}

unsafe extern "C" fn write_back_data(fd: i32, code: usize) -> i32 {
    const FDATASYNC: usize = 75;
    if cancel::acts_at(code) { -1 } else { finish(sys::call(FDATASYNC, fd as usize, 0, 0, 0)) as i32 }
}

/// The kernel takes no more pieces in one call.
const MOST_PIECES: usize = 1024;

/// `struct iovec`
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Piece {
    pub start: usize,
    pub len: usize,
}

unsafe fn request(d: Descriptor, operation: FileOperation, code: usize) -> Request {
    let waits = !never_waits(d.fd);
    let deadline = if waits { sockets::deadline(&d, operation) } else { None };
    Request { d, operation, code, waits, deadline, cancels: true }
}

/// Reads input by a call that returns as soon as some is available.
unsafe fn input(fd: i32, len: usize, code: usize, call: impl FnMut() -> isize) -> isize {
    let mut call = call;
    let result = match descriptors::look_up(fd, code) {
        // A read of zero bytes from a pipe returns at once.
        Some(d) if d.kind == FileKind::Pipe && len == 0 || !descriptors::is_open_for(&d, Way::In) => {
            files::looked_up(fd, code);
            descriptors::used(fd, code);
            call()
        }
        None => {
            files::looked_up(fd, code);
            descriptors::used(fd, code);
            call()
        }
        Some(d) => request(d, FileOperation::Read, code).perform(POLLIN, call),
    };
    finish(result)
}

pub(crate) unsafe extern "C" fn read_bytes(fd: i32, buffer: usize, len: usize, code: usize) -> isize {
    if cancel::acts_at(code) {
        return -1;
    }
    let result = read_into(fd, buffer, len, code);
    touch(buffer, result, Kind::WriteRange, code);
    result
}

unsafe fn read_into(fd: i32, buffer: usize, len: usize, code: usize) -> isize {
    if channels::is_random(fd) {
        descriptors::used(fd, code);
        random::fill(buffer as *mut u8, len);
        return len as isize;
    }
    let call = || sys::call(sys::READ, fd as usize, buffer, len, 0);
    input(fd, len, code, call)
}

unsafe extern "C" fn read_checked(fd: i32, buffer: usize, len: usize, _room: usize, code: usize) -> isize {
    read_bytes(fd, buffer, len, code)
}

unsafe extern "C" fn read_pieces(fd: i32, pieces: *const Piece, count: usize, code: usize) -> isize {
    if cancel::acts_at(code) {
        return -1;
    }
    let has_list = count <= MOST_PIECES && !super::is_in_first_page(pieces as usize);
    let len = if has_list { (0..count).map(|piece| (*pieces.add(piece)).len).sum() } else { 0 };
    let result = input(fd, len, code, || sys::call(READV, fd as usize, pieces as usize, count, 0));
    let mut left = result.max(0) as usize;
    for piece in 0..if left > 0 { count } else { 0 } {
        let Piece { start, len } = *pieces.add(piece);
        touch(start, left.min(len) as isize, Kind::WriteRange, code);
        left -= left.min(len);
    }
    result
}

unsafe extern "C" fn event_read(fd: i32, value: usize, code: usize) -> i32 {
    if read_into(fd, value, 8, code) == 8 { 0 } else { -1 }
}

unsafe extern "C" fn event_write(fd: i32, value: u64, code: usize) -> i32 {
    if write_from(fd, &raw const value as usize, 8, code) == 8 { 0 } else { -1 }
}

pub(crate) unsafe extern "C" fn write_bytes(fd: i32, buffer: usize, len: usize, code: usize) -> isize {
    if cancel::acts_at(code) {
        return -1;
    }
    if descriptors::look_up(fd, code).is_some() {
        // The reader may change the memory, so it is accessed before.
        touch(buffer, len as isize, Kind::ReadRange, code);
        return write_from(fd, buffer, len, code);
    }
    let result = write_from(fd, buffer, len, code);
    touch(buffer, result, Kind::ReadRange, code);
    result
}

unsafe fn write_from(fd: i32, buffer: usize, len: usize, code: usize) -> isize {
    let open = descriptors::look_up(fd, code).filter(|d| descriptors::is_open_for(d, Way::Out));
    let Some(d) = open else {
        files::looked_up(fd, code);
        descriptors::used(fd, code);
        return finish(sys::call(sys::WRITE, fd as usize, buffer, len, 0));
    };
    finish(output(d, &[Piece { start: buffer, len }], code))
}

unsafe extern "C" fn write_pieces(fd: i32, pieces: *const Piece, count: i32, code: usize) -> isize {
    if cancel::acts_at(code) {
        return -1;
    }
    const MOST: i32 = MOST_PIECES as i32;
    // The kernel refuses a list that is too long before it reads any of it.
    let has_list = (1..=MOST).contains(&count) && !super::is_in_first_page(pieces as usize);
    for piece in 0..if has_list { count as usize } else { 0 } {
        let Piece { start, len } = *pieces.add(piece);
        touch(start, len as isize, Kind::ReadRange, code);
    }
    match descriptors::look_up(fd, code) {
        Some(d) if has_list && descriptors::is_open_for(&d, Way::Out) => {
            finish(output(d, core::slice::from_raw_parts(pieces, count as usize), code))
        }
        _ => {
            files::looked_up(fd, code);
            descriptors::used(fd, code);
            finish(sys::call(WRITEV, fd as usize, pieces as usize, count as usize, 0))
        }
    }
}

/// Writes all the pieces, in as many steps as necessary: a waiting writer writes everything, or gets an error.
unsafe fn output(d: Descriptor, pieces: &[Piece], code: usize) -> isize {
    let request = request(d, FileOperation::Write, code);
    let mut rest = Rest { pieces, taken: 0 };
    transfer(&request, |forced| {
        let result = rest.write(&request, forced);
        if result > 0 {
            rest.advance(result as usize);
        }
        (result, rest.is_empty())
    })
}

/// Repeats a partial output operation until everything is written. `step` gets whether the kernel has not reported room,
/// and returns the result of an attempt and whether that was all.
pub(super) unsafe fn transfer(request: &Request, mut step: impl FnMut(bool) -> (isize, bool)) -> isize {
    descriptors::used(request.d.fd, request.code);
    let mut total = 0;
    let mut entry = PollFd { fd: request.d.fd, events: POLLOUT, revents: 0 };
    let mut watch = Watch::on(&raw mut entry, &request.d);
    loop {
        let n = match request.begin(&raw mut watch) {
            Ok(n) => n,
            Err(error) => return if total > 0 { total } else { -(error as isize) },
        };
        sockets::tell(&request.d);
        let (result, done) = request.with_pipe_signal(|| step(watch.tried));
        request.end(n, result);
        if result > 0 {
            total += result;
            watch.tried = false;
        }
        let again = request.waits && (result == -(EAGAIN as isize) || (result > 0 && !done));
        if !again {
            return if total > 0 { total } else { result };
        }
    }
}

/// What is left to write.
struct Rest<'a> {
    pieces: &'a [Piece],
    /// Number of written bytes of the first piece.
    taken: usize,
}

impl Rest<'_> {
    fn is_empty(&self) -> bool {
        self.pieces.iter().map(|piece| piece.len).sum::<usize>() == self.taken
    }

    fn advance(&mut self, bytes: usize) {
        self.taken += bytes;
        while let Some(first) = self.pieces.first()
            && self.taken >= first.len
            && self.pieces.len() > 1
        {
            self.taken -= first.len;
            self.pieces = &self.pieces[1..];
        }
    }

    /// Makes one attempt, which writes as much as there is room for.
    unsafe fn write(&self, request: &Request, forced: bool) -> isize {
        let fd = request.d.fd;
        let left = self.pieces.iter().map(|piece| piece.len).sum::<usize>() - self.taken;
        let call = || match self.pieces {
            [only] => sys::call(sys::WRITE, fd as usize, only.start + self.taken, only.len - self.taken, 0),
            [first, ..] if self.taken > 0 => {
                sys::call(sys::WRITE, fd as usize, first.start + self.taken, first.len - self.taken, 0)
            }
            pieces => sys::call(WRITEV, fd as usize, pieces.as_ptr() as usize, pieces.len(), 0),
        };
        let small = request.d.kind == FileKind::Event || (request.d.kind == FileKind::Pipe && left <= PIPE_BUF);
        if request.waits && (forced || !small) { without_waiting(fd, call) } else { call() }
    }
}

/// From a file to a pipe or socket: as `write`, but the data comes from the kernel.
unsafe extern "C" fn send_file(to: i32, from: i32, offset: usize, count: usize, code: usize) -> isize {
    files::looked_up(from, code);
    let Some(d) = descriptors::look_up(to, code) else {
        files::looked_up(to, code);
        return finish(sys::call(SENDFILE, to as usize, from as usize, offset, count));
    };
    // It is not a cancellation point, even while it waits.
    let request = Request { cancels: false, ..request(d, FileOperation::Write, code) };
    let mut left = count;
    finish(transfer(&request, |_| {
        let result = without_waiting(to, || sys::call(SENDFILE, to as usize, from as usize, offset, left));
        left -= result.max(0) as usize;
        (result, left == 0 || result == 0)
    }))
}

super::interpose_six! {
    splice => splice_between;
}

/// Between a pipe and anything: waits for input at one end, then for room at the other, and moves what is available.
unsafe extern "C" fn splice_between(from: i32, at: usize, to: i32, to_at: usize, len: usize, flags: usize) -> isize {
    const NONBLOCK: usize = 2;
    let code = super::code_of_six();
    if cancel::acts_at(code) {
        return -1;
    }
    let call = |flags: usize| sys::call6(SPLICE, from as usize, at, to as usize, to_at, len, flags);
    let (source, sink) = (descriptors::look_up(from, code), descriptors::look_up(to, code));
    let is_pipe = |d: Option<Descriptor>| d.is_some_and(|d| d.kind == FileKind::Pipe);
    let has_wrong_offset = is_pipe(source) && at != 0 || is_pipe(sink) && to_at != 0;
    let is_itself = is_pipe(source) && channels::identity(from) == channels::identity(to);
    let is_refused = has_wrong_offset || is_itself || len == 0 || !is_pipe(source) && !is_pipe(sink);
    if source.is_none() && sink.is_none() || flags & NONBLOCK != 0 || is_refused {
        return finish(call(flags));
    }
    loop {
        if let Some(d) = source {
            let waited = request(d, FileOperation::Read, code).perform_when_ready(POLLIN, || 0);
            if waited < 0 {
                return finish(waited);
            }
        }
        let result = match sink {
            Some(d) => request(d, FileOperation::Write, code).perform_when_ready(POLLOUT, || call(flags | NONBLOCK)),
            None => call(flags | NONBLOCK),
        };
        if let Some(d) = source {
            super::changed(d.channel);
        }
        if result != -(EAGAIN as isize) {
            return finish(result);
        }
    }
}
