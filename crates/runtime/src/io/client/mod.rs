//! A client of the program (`racehunter hunt --with`): another program, started when this one listens for the first time.
//!
//! The client is not under control, and the execution is noted as such. Its data is input from outside, which is noticed only
//! when nothing else can continue, so that a client that sends the same data gives the same executions. It runs in the network of
//! the execution and sees its files. When it has ended and no thread can continue without more input, the execution is over:
//! servers do not end on their own. A client that fails makes the execution fail, with its status.
//!
//! A helper starts the client and waits for its end. The helper is a copy of this process whose end no signal announces, so that
//! the program's own waits for its children see neither.

mod idle;

use super::{MOMENT, arrives, channels, is_stopped, wait_for, waits_here};
use crate::thread::every_thread;
use crate::world::{files, network};
use crate::{Global, constructors, log, outcome, server, sys};
use core::ffi::{CStr, c_char};
use core::ptr::null;
use racehunter_abi::control::{NOTE_FILES, OUTCOME_EXITED};
use racehunter_abi::{Escape, FileKind};

/// The shell command of the client.
const CLIENT: &CStr = c"RACEHUNTER_CLIENT";

/// The helper; 0 if none was started.
static HELPER: Global<i32> = Global::new(0);
/// The status of the client, and when its end was noticed.
static ENDED: Global<Option<(i32, u64)>> = Global::new(None);
/// Where the program listened.
static LISTENED: Global<usize> = Global::new(0);
/// How often virtual time has passed since the client ended.
static TURNS: Global<u32> = Global::new(0);

/// Notes that a socket listens. The first time, starts the client.
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
    // A copy of this process has no client.
    log::note(NOTE_FILES);
    let pid = sys::call(sys::CLONE, 0, 0, 0, 0);
    if pid == 0 {
        help(command, network::port_of(fd));
    }
    LISTENED.set(code);
    HELPER.set(pid.max(0) as i32);
}

/// Returns whether input from outside comes from a client.
pub(crate) fn is_there() -> bool {
    HELPER.get() != 0
}

/// Forgets the client in a newly forked process: it belongs to the old one.
pub(crate) fn leave() {
    HELPER.set(0);
}

/// Waits until the client waits, or `look` finds something; returns what it found. A waiting client sends nothing more before it
/// gets something: data that has not arrived by then arrives later, in every execution.
pub(crate) unsafe fn settles<T>(mut look: impl FnMut() -> Option<T>) -> Option<T> {
    /// A computing client is not waited for any longer.
    const PATIENCE: u64 = 60_000_000;
    /// If the kernel shows nothing about processes.
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
    // Data that arrived at the last moment was sent before the client waited.
    settled.flatten().or_else(look)
}

/// Returns whether data from a client lets another thread continue, when a thread is held and no other can run.
pub(crate) unsafe fn lets_another_continue() -> bool {
    let stopped = || every_thread().filter(|&t| waits_here(t) && is_stopped(t));
    is_there() && wait_for(MOMENT, || stopped().find(|&t| arrives(t))).is_some()
}

/// Returns whether the client has ended, and its data has arrived.
pub(crate) unsafe fn is_gone() -> bool {
    /// The kernel delivers data over the loopback device at once, but does not guarantee it.
    const DELIVERY: u64 = 4_000_000;
    match look() {
        Some((_, at)) => sys::monotonic() - at > DELIVERY,
        None => false,
    }
}

/// Ends the execution if the client is gone, because no thread can continue unless virtual time passes.
pub(crate) unsafe fn nothing_is_ready(timed: bool) {
    /// Delayed actions of threads are part of the execution, but a server that wakes up periodically would never end.
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

/// Handles the end of the program with this status. The client sees that its connections are closed, and gets a moment to end.
/// Returns the status of the execution.
pub(crate) unsafe fn program_ends(status: i32) -> i32 {
    const PATIENCE: u64 = 2_000_000_000;
    if !is_there() {
        return status;
    }
    channels::of_kind(FileKind::Socket).for_each(|fd| _ = sys::call(sys::CLOSE, fd as usize, 0, 0, 0));
    wait_for(PATIENCE, || look());
    if status == 0 { failure().unwrap_or(0) } else { status }
}

/// Returns the status of a client that failed, and notes it.
unsafe fn failure() -> Option<i32> {
    let (status, _) = look().filter(|&(status, _)| status != 0)?;
    log::escape(Escape::Client, LISTENED.get(), status as usize, 0);
    Some(status)
}

/// Checks whether the client has ended.
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

/// Runs the client in the helper, and ends as it does.
unsafe fn help(command: *const c_char, port: u16) -> ! {
    const CLOSE_RANGE: usize = 436;
    const OPEN: usize = 2;
    const EXECVE: usize = 59;
    const SIGPIPE: usize = 13;
    const SIGCHLD: usize = 17;
    const NOT_FOUND: i32 = 127;
    const EINTR: isize = -4;
    network::enter();
    // The client must not inherit the program's descriptors: a port would stay bound when the program closes it.
    sys::call(CLOSE_RANGE, 3, u32::MAX as usize, 0, 0);
    sys::call(sys::CLOSE, 0, 0, 0, 0);
    sys::call(OPEN, c"/dev/null".as_ptr() as usize, 0, 0, 0);
    // The client would inherit the program's ignored signals.
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

/// Maximum number of environment variables of the client.
const VARIABLES: usize = 1024;

/// Returns the program's variables, without the one that makes a program look for its controller, and with the port.
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
