//! Ports that are private to an execution.
//!
//! A port that one execution has bound must not be in use for the next one, nor for a parallel one: the kernel keeps
//! ports of closed connections for a minute, and a server that cannot bind its port fails in all schedules. Sockets
//! that get a local address are therefore in a network namespace that is made for the execution, with only a loopback
//! device.
//!
//! An execution that is about to bind a port begins again, and its process has a private network from the
//! [start](super::early). It cannot reach anything outside then. An execution that binds nothing stays where it is.
//!
//! If it cannot begin again (in a debugger, or in a loop of executions), the process also stays where it is: a helper
//! that shares memory and descriptors with it, but not namespaces, makes a second socket, which replaces the one that
//! the program has made. That needs no privilege: without it, the helper has its own user namespace. Connections to a
//! port that the execution has not bound go outside, to whatever listens there.

use super::early;
use super::view::out_of_the_way;
use crate::{Global, log, server, sys};
use core::arch::asm;
use core::ffi::CStr;
use racehunter_abi::Escape;
use racehunter_abi::control::NOTE_FILES;
use racehunter_machine::BitSet;
pub(crate) use racehunter_machine::file::Reach;

const SOCKET: usize = 41;
const GETSOCKOPT: usize = 55;
const SETSOCKOPT: usize = 54;
const IOCTL: usize = 16;
const EXIT: usize = 60;
const UNSHARE: usize = 272;
const DUP3: usize = 292;
const SETNS: usize = 308;
const OPENAT: usize = 257;
const NEW_NETWORK: usize = 0x4000_0000;
const NEW_USER: usize = 0x1000_0000;
const CLOSE_ON_EXEC: usize = 0o200_0000;
const NONE: i32 = -1;

/// Where sockets with local addresses are created.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// With all other sockets of the machine: nothing has been bound so far.
    Common,
    /// In a private network. The descriptors refer to its namespace, and to that of its user if there is one.
    Own { network: i32, user: i32 },
    /// The whole process has a private network.
    Whole,
    /// The kernel refused a private network.
    Refused,
}

static STATE: Global<State> = Global::new(State::Common);
/// The ports that were bound in the network of the execution.
static PORTS: Global<BitSet<1024>> = Global::new(BitSet::EMPTY);

/// Handles a socket that is about to be bound to an address. Returns whether it was replaced, so that everything known concerns
/// the old one.
pub(crate) unsafe fn binds(fd: i32, reach: Reach) -> bool {
    reach != Reach::Elsewhere && is_wanted() && moves(fd, reach)
}

/// Notes that a socket was bound in this way, or listens without having been: others reach it now.
pub(crate) unsafe fn bound(reach: Reach) {
    if let (State::Own { .. } | State::Whole, Reach::Port(port)) = (STATE.get(), reach) {
        (*PORTS.ptr()).insert(port.into());
        early::remember_port(port);
    }
}

/// Handles a socket that is about to be connected to an address, or to send something there. `is_datagram`: it may send before
/// anything is bound there, and then something else later.
pub(crate) unsafe fn reaches(fd: i32, reach: Reach, is_datagram: bool) -> bool {
    let is_inside = match reach {
        Reach::Port(port) => is_datagram || (*PORTS.ptr()).contains(port.into()),
        Reach::Name => matches!(STATE.get(), State::Own { .. }),
        Reach::Elsewhere => false,
    };
    is_inside && is_wanted() && moves(fd, reach)
}

unsafe fn is_wanted() -> bool {
    server::has_controller() && !server::shares_network()
}

/// Prepares for another program, which does not find the ports that this one has bound.
pub(crate) unsafe fn before_program() {
    if matches!(STATE.get(), State::Own { .. }) {
        told();
    }
}

/// Enters the same network in a newly forked process.
pub(crate) unsafe fn enter() {
    if let State::Own { network, user } = STATE.get() {
        if user != NONE {
            sys::call(SETNS, user as usize, NEW_USER, 0, 0);
        }
        sys::call(SETNS, network as usize, NEW_NETWORK, 0, 0);
    }
}

/// Notes that later failures may be due to a port that another execution has bound.
unsafe fn told() {
    static IS_TOLD: Global<bool> = Global::new(false);
    if !IS_TOLD.get() {
        IS_TOLD.set(true);
        log::escape(Escape::Traces, 0, PORTS_OF_OTHERS, 0);
    }
}

/// What an escape of traces is about, if not about files.
const PORTS_OF_OTHERS: usize = racehunter_abi::TRACES_OF_PORTS as usize;

/// Starts an execution with a private network. It has the privileges to create one.
pub(super) unsafe fn begin_early() {
    let is_made = sys::call(UNSHARE, NEW_NETWORK, 0, 0, 0) == 0 && start_loopback();
    STATE.set(if is_made { State::Whole } else { State::Refused });
    if is_made {
        // Kernel state is not copied with a process.
        log::note(NOTE_FILES);
    }
}

/// Notes a refused connection to a port. If no execution binds it, something outside may have it, which was out of reach.
pub(crate) unsafe fn refused(reach: Reach) {
    static IS_TOLD: Global<bool> = Global::new(false);
    let Reach::Port(port) = reach else { return };
    if STATE.get() == State::Whole && !early::has_port(port) && !IS_TOLD.get() {
        IS_TOLD.set(true);
        log::escape(Escape::Traces, 0, racehunter_abi::TRACES_OF_NETWORK as usize, 0);
    }
}

/// Makes a descriptor refer to a socket of the same kind in the network of the execution.
unsafe fn moves(fd: i32, reach: Reach) -> bool {
    const DOMAIN: usize = 39;
    const TYPE: usize = 3;
    const PROTOCOL: usize = 38;
    const FIRST_FREE_PORT: u16 = 1024;
    if matches!(STATE.get(), State::Refused | State::Whole) || has_address(fd) {
        return false;
    }
    if STATE.get() == State::Common && early::remember_network() {
        if let Reach::Port(port) = reach {
            early::remember_port(port);
        }
        server::begin_earlier();
    }
    // An unprivileged user has all privileges in a namespace of its own, and would get a port that is normally refused.
    if let (State::Own { user, .. }, Reach::Port(1..FIRST_FREE_PORT)) = (STATE.get(), reach)
        && user != NONE
    {
        return false;
    }
    let option = |name: usize| {
        let (mut value, mut len) = (0_i32, 4_u32);
        let (at, len) = (&raw mut value as usize, &raw mut len as usize);
        let result = sys::call6(GETSOCKOPT, fd as usize, SOCKET_LEVEL, name, at, len, 0);
        (result == 0).then_some(value)
    };
    let (Some(domain), Some(kind), Some(protocol)) = (option(DOMAIN), option(TYPE), option(PROTOCOL)) else {
        return false;
    };
    let was_common = STATE.get() == State::Common;
    let mut job = Job { wanted: [domain, kind, protocol], state: STATE.get(), made: -1 };
    run_apart(&raw mut job);
    STATE.set(job.state);
    if job.made < 0 {
        told();
        return false;
    }
    if was_common {
        // Kernel state is not copied with a process.
        log::note(NOTE_FILES);
    }
    take_place(job.made as i32, fd);
    true
}

const GETSOCKNAME: usize = 51;

/// Returns the first bytes of a socket's address: family and port.
unsafe fn name_of(fd: i32) -> [u8; 4] {
    let (mut address, mut len) = ([0_u8; 4], 4_u32);
    sys::call(GETSOCKNAME, fd as usize, address.as_mut_ptr() as usize, &raw mut len as usize, 0);
    address
}

/// Returns whether a socket is already bound, to anything.
unsafe fn has_address(fd: i32) -> bool {
    const FAMILY_ONLY: u32 = 2;
    let (mut address, mut len) = ([0_u8; 128], 128_u32);
    let result = sys::call(GETSOCKNAME, fd as usize, address.as_mut_ptr() as usize, &raw mut len as usize, 0);
    let is_unix = address[0] == 1;
    result < 0 || if is_unix { len > FAMILY_ONLY } else { address[2..4] != [0; 2] }
}

/// The first port for sockets that do not choose one. Few programs choose one in this range.
const FIRST_PORT: u16 = 57_321;
/// The next one.
static NEXT_PORT: Global<u16> = Global::new(FIRST_PORT);

/// Makes a call in which the kernel may choose a port for a socket. The kernel would choose at random; in its own network an
/// execution gets consecutive ports, so that they repeat.
pub(crate) unsafe fn with_port(fd: i32, mut call: impl FnMut() -> isize) -> isize {
    const IN_USE: isize = -98;
    const NOT_AVAILABLE: isize = -99;
    const LAST_PORT: u16 = 60_999;
    if !matches!(STATE.get(), State::Own { .. } | State::Whole) || has_address(fd) {
        return call();
    }
    while NEXT_PORT.get() <= LAST_PORT {
        let port = u32::from(NEXT_PORT.get());
        if !set_ports(fd, port << 16 | port) {
            break;
        }
        let result = call();
        set_ports(fd, 0);
        let is_taken = matches!(result, IN_USE | NOT_AVAILABLE);
        if is_taken || has_port(fd, port) {
            NEXT_PORT.set(NEXT_PORT.get() + 1);
        }
        if !is_taken {
            return result;
        }
    }
    call()
}

/// Sets the ports that the kernel chooses from: the lowest, and the highest in the upper half; all of them for 0. Older kernels
/// do not support it.
unsafe fn set_ports(fd: i32, range: u32) -> bool {
    const IP: usize = 0;
    const LOCAL_PORT_RANGE: usize = 51;
    sys::call6(SETSOCKOPT, fd as usize, IP, LOCAL_PORT_RANGE, &raw const range as usize, 4, 0) == 0
}

/// Returns whether an internet socket has this port.
unsafe fn has_port(fd: i32, port: u32) -> bool {
    u32::from(port_of(fd)) == port
}

/// Returns the port of an internet socket.
pub(crate) unsafe fn port_of(fd: i32) -> u16 {
    let address = name_of(fd);
    u16::from_be_bytes([address[2], address[3]])
}

/// The task of the helper.
struct Job {
    /// Family, type and protocol of a socket.
    wanted: [i32; 3],
    state: State,
    /// The socket, or an error.
    made: isize,
}

const STACK: usize = 32 << 10;
static HELPER: Global<[u128; STACK / 16]> = Global::new([0; STACK / 16]);

/// Runs the helper: a process that shares memory and descriptors, and has ended when this returns.
unsafe fn run_apart(job: *mut Job) {
    const SHARE_MEMORY: usize = 0x100;
    const SHARE_DESCRIPTORS: usize = 0x400;
    const PARENT_WAITS: usize = 0x4000;
    const ALL_CHILDREN: usize = 0x4000_0000;
    let child: isize;
    asm!(
        "syscall",
        "test rax, rax",
        "jnz 2f",
        "xor ebp, ebp",
        "mov rdi, r12",
        "call r13",
        "ud2",
        "2:",
        inlateout("rax") sys::CLONE as isize => child,
        in("rdi") SHARE_MEMORY | SHARE_DESCRIPTORS | PARENT_WAITS,
        in("rsi") HELPER.ptr() as usize + STACK,
        in("rdx") 0,
        in("r10") 0,
        in("r8") 0,
        in("r12") job,
        in("r13") help as extern "C" fn(*mut Job) -> ! as usize,
        out("rcx") _,
        out("r11") _,
    );
    if child > 0 {
        // No signal announces its end, and the program's waits for its children do not see it.
        sys::call(sys::WAIT4, child as usize, 0, ALL_CHILDREN, 0);
    }
}

extern "C" fn help(job: *mut Job) -> ! {
    // SAFETY: the process that has started this one waits until it ends; the job is valid until then.
    unsafe {
        if (*job).state == State::Common {
            (*job).state = make_network();
        } else if let State::Own { network, user } = (*job).state {
            let enter = |fd: i32, kind: usize| fd == NONE || sys::call(SETNS, fd as usize, kind, 0, 0) == 0;
            if !enter(user, NEW_USER) || !enter(network, NEW_NETWORK) {
                (*job).state = State::Refused;
            }
        }
        if (*job).state != State::Refused {
            let [domain, kind, protocol] = (*job).wanted;
            (*job).made = sys::call(SOCKET, domain as usize, kind as usize | CLOSE_ON_EXEC, protocol as usize, 0);
        }
        sys::call(EXIT, 0, 0, 0, 0);
    }
    unreachable!("it has ended")
}

/// Leaves the network in which the helper was created.
unsafe fn make_network() -> State {
    let mut user = NONE;
    if sys::call(UNSHARE, NEW_NETWORK, 0, 0, 0) < 0 {
        if sys::call(UNSHARE, NEW_NETWORK | NEW_USER, 0, 0, 0) < 0 {
            return State::Refused;
        }
        user = namespace(c"/proc/self/ns/user");
    }
    let network = namespace(c"/proc/self/ns/net");
    if network < 0 || !start_loopback() {
        return State::Refused;
    }
    State::Own { network, user }
}

/// Opens a descriptor for a namespace, with a number out of the program's way.
unsafe fn namespace(path: &CStr) -> i32 {
    const HERE: usize = -100_isize as usize;
    let fd = sys::call(OPENAT, HERE, path.as_ptr() as usize, CLOSE_ON_EXEC, 0);
    if fd < 0 {
        return NONE;
    }
    let copy = out_of_the_way(fd as i32);
    sys::call(sys::CLOSE, fd as usize, 0, 0, 0);
    copy
}

/// Starts the loopback device, which is down in a new network.
unsafe fn start_loopback() -> bool {
    const INET: usize = 2;
    const DATAGRAM: usize = 2;
    const SET_FLAGS: usize = 0x8914;
    const UP_AND_RUNNING: u16 = 0x41;
    let fd = sys::call(SOCKET, INET, DATAGRAM | CLOSE_ON_EXEC, 0, 0);
    // `struct ifreq`: the name of a device, and its flags.
    let mut request = [0_u8; 40];
    request[..2].copy_from_slice(b"lo");
    request[16..18].copy_from_slice(&UP_AND_RUNNING.to_le_bytes());
    let result = sys::call(IOCTL, fd as usize, SET_FLAGS, request.as_ptr() as usize, 0);
    sys::call(sys::CLOSE, fd as usize, 0, 0, 0);
    result == 0
}

const SOCKET_LEVEL: usize = 1;

/// Gives a new socket the settings and the number of the old one.
unsafe fn take_place(new: i32, old: i32) {
    const TCP_LEVEL: usize = 6;
    const IPV6_LEVEL: usize = 41;
    /// Reuse of addresses and ports, broadcasts, keepalive, urgent data inline, lingering, credentials, limits of time; no delay; only IPv6.
    const OPTIONS: [(usize, usize); 11] = [
        (SOCKET_LEVEL, 2),
        (SOCKET_LEVEL, 15),
        (SOCKET_LEVEL, 6),
        (SOCKET_LEVEL, 9),
        (SOCKET_LEVEL, 10),
        (SOCKET_LEVEL, 13),
        (SOCKET_LEVEL, 16),
        (SOCKET_LEVEL, 20),
        (SOCKET_LEVEL, 21),
        (TCP_LEVEL, 1),
        (IPV6_LEVEL, 26),
    ];
    /// Sizes of the buffers: the kernel doubles the requested values.
    const BUFFERS: [usize; 2] = [7, 8];
    const GET_DESCRIPTOR_FLAGS: usize = 1;
    const GET_FLAGS: usize = 3;
    const SET_FLAGS: usize = 4;
    let read = |fd: i32, level: usize, name: usize| {
        let (mut value, mut len) = ([0_u64; 2], 16_u32);
        let at = value.as_mut_ptr() as usize;
        let result = sys::call6(GETSOCKOPT, fd as usize, level, name, at, &raw mut len as usize, 0);
        (result == 0).then_some((value, len))
    };
    let write = |level: usize, name: usize, value: [u64; 2], len: u32| {
        sys::call6(SETSOCKOPT, new as usize, level, name, value.as_ptr() as usize, len as usize, 0);
    };
    for (level, name) in OPTIONS {
        if let Some((value, len)) = read(old, level, name)
            && read(new, level, name) != Some((value, len))
        {
            write(level, name, value, len);
        }
    }
    for name in BUFFERS {
        if let Some((value, len)) = read(old, SOCKET_LEVEL, name)
            && read(new, SOCKET_LEVEL, name) != Some((value, len))
        {
            write(SOCKET_LEVEL, name, [value[0] / 2, 0], len);
        }
    }
    let flags = sys::call(sys::FCNTL, old as usize, GET_FLAGS, 0, 0);
    sys::call(sys::FCNTL, new as usize, SET_FLAGS, flags as usize, 0);
    let closes = sys::call(sys::FCNTL, old as usize, GET_DESCRIPTOR_FLAGS, 0, 0) & 1;
    sys::call(DUP3, new as usize, old as usize, if closes != 0 { CLOSE_ON_EXEC } else { 0 }, 0);
    sys::call(sys::CLOSE, new as usize, 0, 0, 0);
}
