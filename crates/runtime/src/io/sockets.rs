//! Sockets: connections, messages, and the channel of a socket.

use super::channels::{self, Descriptor, key};
use super::transfer::{Piece, transfer};
use super::{
    EAGAIN, POLLIN, POLLOUT, PollFd, Request, Watch, changed, client, descriptors, elsewhere, finish, log_event,
    never_waits, touch, without_waiting,
};
use crate::schedule::point;
use crate::sync::{interpose, interpose_cancellable};
use crate::world::network::{self, Reach};
use crate::world::{cells, files};
use crate::{Global, sys, time};
use racehunter_abi::{File, FileKind, FileOperation, Kind, Touched};
use racehunter_machine::Deadline;
use racehunter_machine::socket::{INET, INET6, LONGEST, SocketAddress as Address, UNIX};

const SOCKET: usize = 41;
const CONNECT: usize = 42;
const SENDTO: usize = 44;
const RECVFROM: usize = 45;
const SENDMSG: usize = 46;
const RECVMSG: usize = 47;
const SHUTDOWN: usize = 48;
const BIND: usize = 49;
const LISTEN: usize = 50;
const GETSOCKNAME: usize = 51;
const GETPEERNAME: usize = 52;
const SOCKETPAIR: usize = 53;
const GETSOCKOPT: usize = 55;
const ACCEPT4: usize = 288;
const RECVMMSG: usize = 299;
const SENDMMSG: usize = 307;

const DONT_WAIT: i32 = 0x40;
/// The kernel never waits for urgent data.
const OUT_OF_BAND: i32 = 1;
const WAIT_ALL: i32 = 0x100;
const PEEK: i32 = 2;
const ERROR_QUEUE: i32 = 0x2000;

const DATAGRAM: i32 = 2;

interpose_cancellable! {
    connect => connect_to, "rcx";
    accept => accept_plain, "rcx";
    accept4 => accept_with, "r8";
    recv => receive, "r8";
    __recv_chk => receive_checked, "r9";
    send => send_bytes, "r8";
    recvmsg => receive_message, "rcx";
    sendmsg => send_message, "rcx";
    recvmmsg => receive_messages, "r9";
    sendmmsg => send_messages, "r8";
}

interpose! {
    socket => make, "rcx";
    socketpair => make_pair, "r8";
    bind => bind_address, "rcx";
    listen => listen_at, "rdx";
    shutdown => shut_down, "rdx";
}

super::interpose_six! {
    recvfrom => receive_from;
    sendto => send_to;
}

super::interpose_six! {
    __recvfrom_chk => receive_from_checked;
}

/// Returns the address of an end of a socket, from the kernel.
unsafe fn address_of(fd: i32, call: usize) -> Option<Address> {
    let (mut bytes, mut len) = ([0; LONGEST], LONGEST as u32);
    let (at, len_at) = (bytes.as_mut_ptr() as usize, &raw mut len as usize);
    (sys::call(call, fd as usize, at, len_at, 0) >= 0).then(|| Address::new(bytes, len as usize))
}

/// Returns an address given by the program.
unsafe fn given(at: *const u8, len: u32) -> Address {
    let len = if super::is_in_first_page(at as usize) { 0 } else { (len as usize).min(LONGEST) };
    let mut bytes = [0; LONGEST];
    core::ptr::copy_nonoverlapping(at, bytes.as_mut_ptr(), len);
    Address::new(bytes, len)
}

/// Returns the cell of an address, unless the kernel chooses the address.
fn cell_of(address: &Address) -> Option<u16> {
    address.state().map(cells::of)
}

/// Returns the cell of what was sent to an address. Senders learn nothing from each other.
fn mailbox_at(address: &Address) -> Option<u16> {
    const MAIL: u64 = 9;
    cell_of(address).map(|cell| cells::of(key(&[MAIL, u64::from(cell)])))
}

/// Notes that the running thread is about to use an address, or to change what is bound there.
unsafe fn touch_address(address: &Address, changes: bool, code: usize) {
    if let Some(cell) = cell_of(address) {
        let mut touched = Touched::default();
        touched.add(cell, changes);
        cells::touch(touched, code);
    }
}

unsafe fn option(fd: i32, name: usize) -> i32 {
    const SOCKET_LEVEL: usize = 1;
    let (mut value, mut len) = (0_i32, 4_u32);
    let (at, len) = (&raw mut value as usize, &raw mut len as usize);
    sys::call6(GETSOCKOPT, fd as usize, SOCKET_LEVEL, name, at, len, 0);
    value
}

unsafe fn type_of(fd: i32) -> i32 {
    const TYPE: usize = 3;
    option(fd, TYPE)
}

/// Returns the channel of a socket, and whether it stays the same from now on. `own` is the key of the socket itself.
pub(super) unsafe fn channel_of(fd: i32, own: u64) -> (usize, bool) {
    const DATAGRAMS: u64 = 4;
    const LISTENS: usize = 30;
    let Some(local) = address_of(fd, GETSOCKNAME) else { return (channels::find_or_make(own, true), true) };
    let family = local.family();
    if !matches!(family, UNIX | INET | INET6) {
        return (channels::find_or_make(own, true), true);
    }
    if type_of(fd) == DATAGRAM {
        // Any socket can send to any other.
        let family = if family == UNIX { UNIX } else { INET };
        let channel = channels::find_or_make(key(&[DATAGRAMS, u64::from(family)]), false);
        if family == INET {
            channels::set_delayed(channel);
        }
        return (channel, true);
    }
    if let Some(peer) = address_of(fd, GETPEERNAME) {
        return (connected(&local, &peer, own), true);
    }
    if option(fd, LISTENS) != 0 {
        return (channels::find_or_make(local.listener(), true), true);
    }
    (channels::find_or_make(own, false), false)
}

/// Returns the channel of a connection. A connection made here is already known, so a new one comes from outside.
unsafe fn connected(local: &Address, peer: &Address, own: u64) -> usize {
    const PAIR: u64 = 1;
    if local.family() == UNIX {
        // The other end has no name: all connections to a path are one channel.
        return match (peer.is_named(), local.is_named()) {
            (true, _) => channels::find_or_make(peer.name_key(), true),
            (_, true) => channels::find_or_make(local.name_key(), true),
            _ => channels::find_or_make(own, true),
        };
    }
    let (a, b) = (local.word(), peer.word());
    let channel = channels::find_or_make(key(&[PAIR, a.min(b), a.max(b)]), true);
    channels::set_delayed(channel);
    channel
}

unsafe extern "C" fn make(family: i32, kind: i32, protocol: i32, code: usize) -> i32 {
    elsewhere::socket(family, code);
    let fd = sys::call(SOCKET, family as usize, kind as usize, protocol as usize, 0);
    if fd >= 0 {
        channels::made_socket(fd as i32);
    }
    finish(fd) as i32
}

unsafe extern "C" fn make_pair(family: i32, kind: i32, protocol: i32, pair: *mut [i32; 2], _code: usize) -> i32 {
    let result = sys::call(SOCKETPAIR, family as usize, kind as usize, protocol as usize, pair as usize);
    if result >= 0 {
        let channel = channels::find_or_make(0, false);
        (*pair).iter().for_each(|&fd| channels::made(fd, FileKind::Socket, channel));
    }
    finish(result) as i32
}

/// An address that the program chooses can be known outside; one that the kernel chooses cannot.
unsafe extern "C" fn bind_address(fd: i32, address: *const u8, len: u32, code: usize) -> i32 {
    let wanted = given(address, len);
    touch_address(&wanted, true, code);
    if let Some(path) = wanted.path() {
        files::changes(path.as_ptr().cast());
    }
    if network::binds(fd, wanted.reach()) {
        replaced(fd);
    }
    let bind = || sys::call(BIND, fd as usize, address as usize, len as usize, 0);
    let is_free = wanted.has_port() && wanted.port() == 0;
    let result = if is_free { network::with_port(fd, &bind) } else { bind() };
    if result >= 0 {
        note_bound(fd);
        let chosen = wanted.is_chosen();
        if type_of(fd) == DATAGRAM {
            if chosen && let Some(d) = channels::of(fd) {
                channels::set_outside(d.channel);
            }
        } else if let Some(local) = address_of(fd, GETSOCKNAME) {
            let channel = channels::find_or_make(local.listener(), false);
            if chosen {
                channels::set_outside(channel);
            }
            mark_delayed(&local, channel);
        }
    }
    finish(result) as i32
}

/// Notes that a socket has an address, its own or one chosen by the kernel.
unsafe fn note_bound(fd: i32) {
    if let Some(local) = address_of(fd, GETSOCKNAME) {
        network::bound(local.reach());
    }
}

/// Notes that a descriptor refers to another, new socket.
unsafe fn replaced(fd: i32) {
    channels::forget(fd);
    channels::made_socket(fd);
}

unsafe fn mark_delayed(address: &Address, channel: usize) {
    if address.family() != UNIX {
        channels::set_delayed(channel);
    }
}

unsafe extern "C" fn listen_at(fd: i32, backlog: i32, code: usize) -> i32 {
    const ANY_PORT: Reach = Reach::Port(0);
    if let Some(local) = address_of(fd, GETSOCKNAME) {
        touch_address(&local, true, code);
    }
    // A socket without an address gets one now.
    if network::binds(fd, ANY_PORT) {
        replaced(fd);
    }
    let result = network::with_port(fd, || sys::call(LISTEN, fd as usize, backlog as usize, 0, 0));
    if result >= 0
        && let Some(local) = address_of(fd, GETSOCKNAME)
    {
        let channel = channels::find_or_make(local.listener(), false);
        mark_delayed(&local, channel);
        channels::settle(fd, channel);
        network::bound(local.reach());
        client::server_listens(fd, channel, code);
    }
    finish(result) as i32
}

unsafe fn has_peer(fd: i32) -> bool {
    const GETPEERNAME: usize = 52;
    let (mut address, mut len) = ([0_u8; 128], 128_u32);
    sys::call(GETPEERNAME, fd as usize, address.as_mut_ptr() as usize, &raw mut len as usize, 0) >= 0
}

/// A family and at least one more byte.
const LEAST_ADDRESS: u32 = 3;

unsafe extern "C" fn connect_to(fd: i32, address: *const u8, len: u32, code: usize) -> i32 {
    const EINPROGRESS: isize = -115;
    const REFUSED: isize = -111;
    if crate::signals::cancel::acts_at(code) {
        return -1;
    }
    approach_peer(fd, address as usize, len as usize, code);
    let call = || finish(sys::call(CONNECT, fd as usize, address as usize, len as usize, 0)) as i32;
    let Some(d) = descriptors::look_up(fd, code) else { return call() };
    if type_of(fd) != DATAGRAM && (has_peer(fd) || len < LEAST_ADDRESS) {
        // The kernel reports the error.
        point(code);
        return call();
    }
    let waits = !never_waits(fd);
    let listener = given(address, len);
    let known = channels::find(listener.listener());
    let door = known.unwrap_or(d.channel);
    let request = Request {
        d: Descriptor { channel: door, ..d },
        operation: FileOperation::Connect,
        code,
        waits,
        deadline: None,
        cancels: true,
    };
    let mut n = point(code);
    let mut result;
    loop {
        channels::tell(door);
        let connect = || network::with_port(fd, || sys::call(CONNECT, fd as usize, address as usize, len as usize, 0));
        result = without_waiting(fd, connect);
        request.log(n, result >= 0);
        changed(door);
        if result != -(EAGAIN as isize) || !waits || type_of(fd) == DATAGRAM {
            break;
        }
        // The queue of connections is full: another attempt is worthwhile when one has been accepted.
        let mut watch = Watch::new(super::Probe::Attempt, door);
        watch.outside = channels::is_outside(door);
        n = match request.begin(&raw mut watch) {
            Ok(n) => n,
            Err(error) => return finish(-(error as isize)) as i32,
        };
    }
    if result == REFUSED {
        network::refused(listener.reach());
    }
    if matches!(result, 0 | EINPROGRESS)
        && let Some(cell) = cell_of(&listener)
    {
        // The listener comes before.
        cells::learn(cell);
    }
    if matches!(result, 0 | EINPROGRESS) && type_of(fd) != DATAGRAM {
        settle_connection(fd, &listener, known.is_some_and(|door| !channels::is_outside(door)));
    }
    if result == EINPROGRESS && waits {
        result = await_connection(fd, &request);
        if result == 0 || result == REFUSED {
            // The first call after a finished attempt only acknowledges it: further calls are errors, or begin a new attempt.
            // That first call was the program's.
            without_waiting(fd, || sys::call(CONNECT, fd as usize, address as usize, len as usize, 0));
        }
        if result == REFUSED {
            network::refused(listener.reach());
        }
    }
    finish(result) as i32
}

/// Notes that a socket is about to be connected to an address, or to send something there.
unsafe fn approach_peer(fd: i32, address: usize, len: usize, code: usize) {
    if address == 0 {
        return;
    }
    let peer = given(address as *const u8, len as u32);
    touch_address(&peer, false, code);
    if type_of(fd) == DATAGRAM {
        DESTINATION.set(mailbox_at(&peer).unwrap_or(0));
    }
    if network::reaches(fd, peer.reach(), type_of(fd) == DATAGRAM) {
        replaced(fd);
    }
}

/// Returns what orders datagrams: all of them are one channel for waiting threads, but only what was sent to an address comes
/// before what is received there. 0 for other channels, and for addresses chosen by the kernel.
unsafe fn mailbox(d: &Descriptor, call: usize) -> u16 {
    if d.kind != FileKind::Socket || type_of(d.fd) != DATAGRAM {
        return 0;
    }
    address_of(d.fd, call).and_then(|address| mailbox_at(&address)).unwrap_or(0)
}

/// The destination of a datagram that the running thread is about to send, if its socket is not connected there.
static DESTINATION: Global<u16> = Global::new(0);

/// Releases the running thread's clock through a descriptor.
pub(super) unsafe fn tell(d: &Descriptor) {
    let named = core::mem::replace(&mut *DESTINATION.ptr(), 0);
    match if named != 0 { named } else { mailbox(d, GETPEERNAME) } {
        0 => channels::tell(d.channel),
        cell => {
            channels::feed(d.channel);
            cells::pass_on(cell);
        }
    }
}

/// Orders the running thread after what came through a descriptor.
pub(super) unsafe fn learn(d: &Descriptor) {
    match mailbox(d, GETSOCKNAME) {
        0 => channels::learn(d.channel),
        cell => cells::learn(cell),
    }
}

/// Notes that a socket is about to be closed: nothing is bound to its address any more.
pub(super) unsafe fn closes(fd: i32, code: usize) {
    let is_connected = || address_of(fd, GETPEERNAME).is_some();
    if let Some(local) = address_of(fd, GETSOCKNAME).filter(|_| !is_connected()) {
        touch_address(&local, true, code);
    }
}

/// Gives a socket that was connected to a listener the channel of that connection.
unsafe fn settle_connection(fd: i32, peer: &Address, inside: bool) {
    let Some(local) = address_of(fd, GETSOCKNAME) else { return };
    // From the other end, it is the local address: the one that connects to port p of any address of this machine.
    let reached = address_of(fd, GETPEERNAME);
    let channel = connected(&local, reached.as_ref().unwrap_or(peer), channels::identity(fd));
    if inside {
        channels::set_inside(channel);
    }
    channels::settle(fd, channel);
}

/// Waits for the other machine, or for this one to process its queue.
unsafe fn await_connection(fd: i32, request: &Request) -> isize {
    const ERROR: usize = 4;
    const POLL: usize = 7;
    /// Within this machine the answer is already on its way.
    const MILLISECONDS: usize = 50;
    let mut entry = PollFd { fd, events: POLLOUT, revents: 0 };
    if sys::call(POLL, &raw mut entry as usize, 1, MILLISECONDS, 0) == 0 {
        let mut watch = Watch::on(&raw mut entry, &request.d);
        watch.doubtful = false;
        watch.outside = true;
        if let Err(error) = request.begin(&raw mut watch) {
            return -(error as isize);
        }
    }
    -(option(fd, ERROR) as isize)
}

unsafe extern "C" fn accept_plain(fd: i32, address: usize, len: usize, code: usize) -> i32 {
    accept_with(fd, address, len, 0, code)
}

unsafe extern "C" fn accept_with(fd: i32, address: usize, len: usize, flags: i32, code: usize) -> i32 {
    let call = || sys::call(ACCEPT4, fd as usize, address, len, flags as usize);
    let result = match descriptors::look_up(fd, code) {
        None => call(),
        Some(d) => {
            let waits = !never_waits(fd);
            let deadline = if waits { deadline(&d, FileOperation::Accept) } else { None };
            Request { d, operation: FileOperation::Accept, code, waits, deadline, cancels: true }.perform(POLLIN, call)
        }
    };
    if result >= 0 {
        channels::made_socket(result as i32);
    }
    finish(result) as i32
}

unsafe extern "C" fn shut_down(fd: i32, how: i32, code: usize) -> i32 {
    let call = || sys::call(SHUTDOWN, fd as usize, how as usize, 0, 0);
    let Some(d) = descriptors::look_up(fd, code) else { return finish(call()) as i32 };
    let n = point(code);
    channels::tell(d.channel);
    let result = call();
    log_event(n, File { descriptor: fd, kind: d.kind, operation: FileOperation::Shutdown }, d.channel, result >= 0);
    changed(d.channel);
    finish(result) as i32
}

/// Returns whether no more input can come, because the socket was shut down.
pub(super) unsafe fn is_shut_for_input(d: &Descriptor) -> bool {
    const POLL: usize = 7;
    const SHUT: i16 = 0x2000;
    let mut entry = PollFd { fd: d.fd, events: SHUT, revents: 0 };
    d.kind == FileKind::Socket && sys::call(POLL, &raw mut entry as usize, 1, 0, 0) == 1 && entry.revents & SHUT != 0
}

/// Returns the time-out of operations on the socket (`SO_RCVTIMEO`, `SO_SNDTIMEO`).
pub(super) unsafe fn deadline(d: &Descriptor, operation: FileOperation) -> Option<Deadline> {
    const SOCKET_LEVEL: usize = 1;
    const RECEIVE_TIMEOUT: usize = 20;
    const SEND_TIMEOUT: usize = 21;
    if d.kind != FileKind::Socket {
        return None;
    }
    let name = if operation == FileOperation::Write { SEND_TIMEOUT } else { RECEIVE_TIMEOUT };
    let (mut value, mut len) = ([0_i64; 2], 16_u32);
    let (at, len) = (&raw mut value as usize, &raw mut len as usize);
    let failed = sys::call6(GETSOCKOPT, d.fd as usize, SOCKET_LEVEL, name, at, len, 0) < 0;
    (!failed && value != [0, 0]).then(|| time::after(&[value[0], value[1] * 1000]))
}

unsafe fn request(d: Descriptor, operation: FileOperation, flags: i32, code: usize) -> Request {
    let waits = flags & (DONT_WAIT | ERROR_QUEUE | OUT_OF_BAND) == 0 && !never_waits(d.fd);
    let deadline = if waits { deadline(&d, operation) } else { None };
    Request { d, operation, code, waits, deadline, cancels: true }
}

unsafe extern "C" fn receive(fd: i32, buffer: usize, len: usize, flags: i32, code: usize) -> isize {
    receive_at(fd, buffer, len, flags, 0, 0, code)
}

unsafe extern "C" fn receive_checked(
    fd: i32,
    buffer: usize,
    len: usize,
    _room: usize,
    flags: i32,
    code: usize,
) -> isize {
    receive(fd, buffer, len, flags, code)
}

unsafe extern "C" fn receive_from(fd: i32, buffer: usize, len: usize, flags: i32, from: usize, size: usize) -> isize {
    receive_at(fd, buffer, len, flags, from, size, super::code_of_six())
}

unsafe extern "C" fn receive_from_checked(
    fd: i32,
    buffer: usize,
    len: usize,
    _room: usize,
    flags: i32,
    from: usize,
    size: usize,
) -> isize {
    receive_at(fd, buffer, len, flags, from, size, super::code_of_six())
}

unsafe fn receive_at(fd: i32, buffer: usize, len: usize, flags: i32, from: usize, size: usize, code: usize) -> isize {
    let Some(d) = descriptors::look_up(fd, code) else {
        return finish(sys::call6(RECVFROM, fd as usize, buffer, len, flags as usize, from, size));
    };
    let request = request(d, FileOperation::Read, flags, code);
    let whole = request.waits && flags & WAIT_ALL != 0 && flags & PEEK == 0 && type_of(fd) != DATAGRAM;
    let mut total = 0;
    loop {
        let flags = (flags | DONT_WAIT) as usize;
        let call = || sys::call6(RECVFROM, fd as usize, buffer + total, len - total, flags, from, size);
        let result = request.perform(POLLIN, call);
        touch(buffer + total, result, Kind::WriteRange, code);
        if result <= 0 {
            return if total > 0 { total as isize } else { finish(result) };
        }
        total += result as usize;
        if !whole || total >= len {
            return total as isize;
        }
    }
}

unsafe extern "C" fn receive_message(fd: i32, message: usize, flags: i32, code: usize) -> isize {
    let call = |flags: i32| sys::call(RECVMSG, fd as usize, message, flags as usize, 0);
    finish(match descriptors::look_up(fd, code) {
        None => call(flags),
        Some(d) => request(d, FileOperation::Read, flags, code).perform(POLLIN, || call(flags | DONT_WAIT)),
    })
}

/// Receives as many messages as there are, but at least one.
unsafe extern "C" fn receive_messages(
    fd: i32,
    messages: usize,
    count: u32,
    flags: i32,
    _timeout: usize,
    code: usize,
) -> i32 {
    let call = |flags: i32| sys::call6(RECVMMSG, fd as usize, messages, count as usize, flags as usize, 0, 0);
    finish(match descriptors::look_up(fd, code) {
        None => call(flags),
        Some(d) => request(d, FileOperation::Read, flags, code).perform(POLLIN, || call(flags | DONT_WAIT)),
    }) as i32
}

unsafe extern "C" fn send_bytes(fd: i32, buffer: usize, len: usize, flags: i32, code: usize) -> isize {
    send_at(fd, buffer, len, flags, 0, 0, code)
}

unsafe extern "C" fn send_to(fd: i32, buffer: usize, len: usize, flags: i32, to: usize, size: usize) -> isize {
    send_at(fd, buffer, len, flags, to, size, super::code_of_six())
}

unsafe fn send_at(fd: i32, buffer: usize, len: usize, flags: i32, to: usize, size: usize, code: usize) -> isize {
    touch(buffer, len as isize, Kind::ReadRange, code);
    approach_peer(fd, to, size, code);
    let Some(d) = descriptors::look_up(fd, code) else {
        return finish(sys::call6(SENDTO, fd as usize, buffer, len, flags as usize, to, size));
    };
    let request = request(d, FileOperation::Write, flags, code);
    let mut sent = 0;
    finish(transfer(&request, |_| {
        let flags = (flags | DONT_WAIT) as usize;
        let result = sys::call6(SENDTO, fd as usize, buffer + sent, len - sent, flags, to, size);
        sent += result.max(0) as usize;
        (result, sent >= len)
    }))
}

/// `struct msghdr`
#[repr(C)]
#[derive(Clone, Copy)]
struct Message {
    name: usize,
    name_len: usize,
    pieces: *mut Piece,
    count: usize,
    control: usize,
    control_len: usize,
    flags: usize,
}

unsafe extern "C" fn send_message(fd: i32, message: *const Message, flags: i32, code: usize) -> isize {
    let call =
        |message: *const Message| sys::call(SENDMSG, fd as usize, message as usize, (flags | DONT_WAIT) as usize, 0);
    const MOST_PIECES: usize = 1024;
    if super::is_in_first_page(message as usize) || (*message).count > MOST_PIECES {
        return finish(call(message));
    }
    approach_peer(fd, (*message).name, (*message).name_len as u32 as usize, code);
    let Some(d) = descriptors::look_up(fd, code) else {
        return finish(sys::call(SENDMSG, fd as usize, message as usize, flags as usize, 0));
    };
    let request = request(d, FileOperation::Write, flags, code);
    let mut skipped = 0;
    finish(transfer(&request, |_| {
        let all = core::slice::from_raw_parts((*message).pieces, (*message).count);
        let len: usize = all.iter().map(|piece| piece.len).sum();
        let result = if skipped == 0 {
            call(message)
        } else {
            // A stream took the first part, including control data; the rest follows piece by piece.
            let mut before = skipped;
            let next = all.iter().find(|piece| {
                let here = before < piece.len;
                before -= if here { 0 } else { piece.len };
                here
            });
            let mut rest = next.map_or(Piece { start: 0, len: 0 }, |piece| Piece {
                start: piece.start + before,
                len: piece.len - before,
            });
            call(&Message { pieces: &raw mut rest, count: 1, control: 0, control_len: 0, ..*message })
        };
        skipped += result.max(0) as usize;
        (result, skipped >= len)
    }))
}

unsafe extern "C" fn send_messages(fd: i32, messages: *const Message, count: u32, flags: i32, code: usize) -> i32 {
    if count > 0 && !super::is_in_first_page(messages as usize) {
        approach_peer(fd, (*messages).name, (*messages).name_len as u32 as usize, code);
    }
    let call = |flags: i32| sys::call(SENDMMSG, fd as usize, messages as usize, count as usize, flags as usize);
    finish(match descriptors::look_up(fd, code) {
        None => call(flags),
        Some(d) => {
            request(d, FileOperation::Write, flags, code).perform_when_ready(POLLOUT, || call(flags | DONT_WAIT))
        }
    }) as i32
}
