//! A client of the program (`racehunter hunt --with`): another program, started when this one listens for the first time.
//!
//! The client is outside control, and the execution is noted as such. What it sends is input from outside, which is noticed only when
//! nothing else can continue, so that a client that sends the same gives the same executions. It is in the network of the execution and
//! sees its files. When it has ended and no thread can continue without more input, the execution is over: servers have no end of their
//! own. A client that fails makes the execution fail, with its status.
//!
//! A helper starts the client and waits for its end. The helper is a copy of this process whose end no signal announces, so that the
//! program's own waits for its children see neither.

mod idle;

use super::{MOMENT, arrives, channels, is_stopped, wait_for, waits_here};
use crate::thread::every_thread;
use crate::world::{files, network};
use crate::{Global, constructors, log, outcome, server, sys};
use core::ffi::{CStr, c_char};
use core::ptr::null;
use racehunter_abi::control::{NOTE_FILES, OUTCOME_EXITED};
use racehunter_abi::{Escape, FileKind};

/// The command of the client, for a shell.
const CLIENT: &CStr = c"RACEHUNTER_CLIENT";

/// The helper; 0 if none was started.
static HELPER: Global<i32> = Global::new(0);
/// The status of the client, and when its end was noticed.
static ENDED: Global<Option<(i32, u64)>> = Global::new(None);
/// Where the program listened.
static LISTENED: Global<usize> = Global::new(0);
/// How often virtual time has passed since the client ended.
static TURNS: Global<u32> = Global::new(0);

/// A socket listens. The first time, the client is started.
pub(crate) unsafe fn server_listens(fd: i32, channel: usize, code: usize) {
    if !server::has_controller() {
        return;
    }
    let Some(command) = constructors::value_of(CLIENT) else { return };
    channels::set_outside(channel);
    if HELPER.get() != 0 {
        return;
    }
    files::before_child();
    log::escape(Escape::Client, code, 0, 0);
    // The client is no part of a copy of this process.
    log::note(NOTE_FILES);
    let pid = sys::call(sys::CLONE, 0, 0, 0, 0);
    if pid == 0 {
        help(command, network::port_of(fd));
    }
    LISTENED.set(code);
    HELPER.set(pid.max(0) as i32);
}

/// Whether what comes from outside comes from a client.
pub(crate) fn is_there() -> bool {
    HELPER.get() != 0
}

/// In a new process that was forked: the client belongs to the old one.
pub(crate) fn leave() {
    HELPER.set(0);
}

/// Waits until the client waits, or something has come that is looked for; returns what was found. A client that waits sends nothing
/// more before it gets something: what has not come by then comes later, in every execution.
pub(crate) unsafe fn settles<T>(mut look: impl FnMut() -> Option<T>) -> Option<T> {
    /// A client that computes is not waited for.
    const PATIENCE: u64 = 60_000_000;
    /// Where the kernel shows nothing of processes.
    const BLIND: u64 = 1_500_000;
    let began = sys::monotonic();
    let mut waits = 0;
    let settled = wait_for(PATIENCE, || {
        if let Some(found) = look() {
            return Some(Some(found));
        }
        let waited = sys::monotonic() - began;
        // Between two processes of a client there may be a moment in which none runs.
        waits = match ENDED.get().map_or_else(|| idle::is_idle(HELPER.get() as u32), |_| Some(true)) {
            Some(true) => waits + 1,
            Some(false) => 0,
            None => waits + u32::from(waited > BLIND) * 2,
        };
        (waits > 1).then_some(None)
    });
    // What came in the last moment has come before the client waited.
    settled.flatten().or_else(look)
}

/// A thread is held back, and no other can continue: whether what a client has sent lets another one continue after all.
pub(crate) unsafe fn lets_another_continue() -> bool {
    let stopped = || every_thread().filter(|&t| waits_here(t) && is_stopped(t));
    is_there() && wait_for(MOMENT, || stopped().find(|&t| arrives(t))).is_some()
}

/// Whether the client has ended, and what it sent before has arrived.
pub(crate) unsafe fn is_gone() -> bool {
    /// The kernel delivers what goes over the loopback device at once, but does not promise to.
    const DELIVERY: u64 = 4_000_000;
    match look() {
        Some((_, at)) => sys::monotonic() - at > DELIVERY,
        None => false,
    }
}

/// No thread can continue, unless virtual time passes. If the client is gone, the execution is over.
pub(crate) unsafe fn nothing_is_ready(timed: bool) {
    /// What threads do after a while is part of the execution; that of a server that wakes up periodically has no end.
    const MOST_TURNS: u32 = 16;
    if !is_gone() {
        return;
    }
    TURNS.set(TURNS.get() + 1);
    if !timed || TURNS.get() > MOST_TURNS {
        let status = failure().unwrap_or(0);
        outcome::publish(OUTCOME_EXITED);
        sys::exit_group(status);
    }
}

/// The program ends by itself with this status. The client sees that its connections are closed, and has a moment to end; returns the
/// status of the execution.
pub(crate) unsafe fn program_ends(status: i32) -> i32 {
    const PATIENCE: u64 = 2_000_000_000;
    if !is_there() {
        return status;
    }
    channels::of_kind(FileKind::Socket).for_each(|fd| _ = sys::call(sys::CLOSE, fd as usize, 0, 0, 0));
    wait_for(PATIENCE, || look());
    if status == 0 { failure().unwrap_or(0) } else { status }
}

/// The status of a client that failed, which is noted.
unsafe fn failure() -> Option<i32> {
    let (status, _) = look().filter(|&(status, _)| status != 0)?;
    log::escape(Escape::Client, LISTENED.get(), status as usize, 0);
    Some(status)
}

/// Looks whether the client has ended.
unsafe fn look() -> Option<(i32, u64)> {
    const NO_WAIT: usize = 1;
    const ALL_CHILDREN: usize = 0x4000_0000;
    if ENDED.get().is_none() && is_there() {
        let mut status = 0_i32;
        let pid = HELPER.get() as usize;
        if sys::call(sys::WAIT4, pid, &raw mut status as usize, NO_WAIT | ALL_CHILDREN, 0) == pid as isize {
            ENDED.set(Some((status >> 8 & 0xff, sys::monotonic())));
        }
    }
    ENDED.get()
}

/// In the helper: runs the client, and ends as it does.
unsafe fn help(command: *const c_char, port: u16) -> ! {
    const CLOSE_RANGE: usize = 436;
    const OPEN: usize = 2;
    const EXECVE: usize = 59;
    const SIGPIPE: usize = 13;
    const SIGCHLD: usize = 17;
    const NOT_FOUND: i32 = 127;
    const EINTR: isize = -4;
    network::enter();
    // What the program has open is not the client's: a port would stay taken when the program closes it.
    sys::call(CLOSE_RANGE, 3, u32::MAX as usize, 0, 0);
    sys::call(sys::CLOSE, 0, 0, 0, 0);
    sys::call(OPEN, c"/dev/null".as_ptr() as usize, 0, 0, 0);
    // What the program ignores, its client would ignore too.
    for signal in [SIGPIPE, SIGCHLD] {
        outcome::set_action(signal, 0, 0);
    }
    let none = 0_u64;
    sys::call(sys::SIGPROCMASK, sys::SET_MASK, &raw const none as usize, 0, size_of::<u64>());
    let child = sys::call(sys::CLONE, SIGCHLD, 0, 0, 0);
    if child == 0 {
        let mut variable = *b"RACEHUNTER_PORT=\0\0\0\0\0\0";
        let mut rest = port;
        let digits = port.checked_ilog10().unwrap_or(0) as usize + 1;
        for digit in variable[16..16 + digits].iter_mut().rev() {
            *digit = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
        let environment = environment(variable.as_ptr().cast());
        let argv = [c"sh".as_ptr(), c"-c".as_ptr(), command, null()];
        sys::call(EXECVE, c"/bin/sh".as_ptr() as usize, argv.as_ptr() as usize, environment.as_ptr() as usize, 0);
        sys::exit_group(NOT_FOUND);
    }
    let mut status = 0_i32;
    while sys::call(sys::WAIT4, child as usize, &raw mut status as usize, 0, 0) == EINTR {}
    let signal = status & 0x7f;
    sys::exit_group(if signal == 0 { status >> 8 & 0xff } else { 128 + signal })
}

/// Variables of the client, at most.
const VARIABLES: usize = 1024;

/// Those of the program, without the one that makes a program ask for its controller, and with the port.
unsafe fn environment(port: *const c_char) -> [*const c_char; VARIABLES] {
    let mut all = [null(); VARIABLES];
    let own = |variable: &*const c_char| {
        let text = CStr::from_ptr(*variable).to_bytes();
        !text.starts_with(constructors::SERVER.to_bytes()) && !text.starts_with(CLIENT.to_bytes())
    };
    let variables = constructors::variables().filter(own).take(VARIABLES - 2).chain(core::iter::once(port));
    for (place, variable) in all.iter_mut().zip(variables) {
        *place = variable;
    }
    all
}
