//! The program's signal actions, and those of the kernel.

use super::{SIGABRT, SIGALRM, SIGCHLD, SIGKILL, SIGSTOP, bit, masks, send};
use crate::schedule::{self, point};
use crate::sync::{EINVAL, fail, interpose};
use crate::thread::{State, every_thread};
use crate::{Global, log, outcome, reach, rust, sys};
use core::sync::atomic::{AtomicU64, Ordering};
use racehunter_abi::{Escape, Kind, Wait};
use racehunter_machine::SignalSet;

interpose! {
    signal => set_restarting, "rdx";
    bsd_signal => set_restarting, "rdx";
    ssignal => set_restarting, "rdx";
    sysv_signal => set_once, "rdx";
    __sysv_signal => set_once, "rdx";
    sigset => set_disposition, "rdx";
    sigignore => ignore, "rsi";
    sigaction => set_action, "rcx";
    __sigaction => set_action, "rcx";
    siginterrupt => set_interrupting, "rdx";
}

pub(super) const RESTART: u32 = 0x1000_0000;
pub(super) const ON_STACK: u32 = 0x0800_0000;
pub(super) const NO_DEFER: u32 = 0x4000_0000;
const RESET_HANDLER: u32 = 0x8000_0000;
const WITH_INFO: u32 = 4;

const DEFAULT: usize = 0;
const IGNORE: usize = 1;

/// The action for a signal.
#[derive(Clone, Copy)]
pub(super) struct Action {
    pub handler: usize,
    pub flags: u32,
    /// Signals that are blocked while the handler runs.
    pub mask: u64,
}

impl Action {
    pub(super) const fn has_handler(self) -> bool {
        self.handler > IGNORE
    }

    pub(super) const fn is_ignored(self) -> bool {
        self.handler == IGNORE
    }
}

const SIGNALS: usize = 65;
static ACTIONS: Global<[Action; SIGNALS]> = Global::new([Action { handler: DEFAULT, flags: 0, mask: 0 }; SIGNALS]);
/// Signals that the runtime catches for the program.
static CAUGHT: Global<u64> = Global::new(0);
/// Signals that the program blocks somewhere, so that their default actions must not be taken.
static WATCHED: Global<u64> = Global::new(0);
/// Signals that the kernel has delivered, and no thread has received yet.
#[unsafe(link_section = ".data.racehunter")]
static OUTSIDE: AtomicU64 = AtomicU64::new(0);
static OUTSIDE_INFO: Global<[[u32; 4]; SIGNALS]> = Global::new([[0; 4]; SIGNALS]);

/// Signals by which the kernel reports a fault. The runtime catches them anyway, see [`super::fault`].
const FAULTS: u64 = bit(4) | bit(5) | bit(SIGABRT) | bit(7) | bit(8) | bit(11);
/// Those that an overflow of the stack can cause.
pub(crate) const OVERFLOWS: u64 = bit(7) | bit(11);
/// Signals that cannot be caught.
pub(super) const STUBBORN: u64 = SignalSet::STUBBORN.0;
const _: () = assert!(STUBBORN == bit(SIGKILL) | bit(SIGSTOP));
/// Signals of the C library itself.
pub(super) const RESERVED: u64 = SignalSet::RESERVED.0;

/// `struct sigaction` of the C library.
#[repr(C)]
struct UserAction {
    handler: usize,
    mask: [u64; 16],
    flags: u32,
    restorer: usize,
}

pub(super) unsafe fn of(signal: u32) -> Action {
    (*ACTIONS.ptr())[signal as usize]
}

/// Returns the action of a signal whose handler is about to run.
pub(super) unsafe fn begin(signal: u32) -> Action {
    let action = of(signal);
    if action.flags & RESET_HANDLER != 0 {
        install(signal, Action { handler: DEFAULT, flags: action.flags & !WITH_INFO, ..action });
    }
    action
}

/// Whether the program has, or had, a handler of some signal.
#[unsafe(link_section = ".data.racehunter")]
static HANDLED: Global<bool> = Global::new(false);

/// Returns the signals that have a handler.
pub(super) unsafe fn with_handlers() -> u64 {
    (1..SIGNALS as u32).filter(|&signal| of(signal).has_handler()).fold(0, |all, signal| all | super::bit(signal))
}

/// Returns whether a handler can have interrupted a thread.
pub(crate) fn are_handled() -> bool {
    HANDLED.get()
}

pub(super) unsafe fn install(signal: u32, action: Action) {
    (*ACTIONS.ptr())[signal as usize] = action;
    if action.has_handler() {
        HANDLED.set(true);
    }
    if action.is_ignored() {
        send::discard(signal);
    }
    tell_kernel(signal);
}

/// Watches signals that the program blocks, because it wants to know that they came.
pub(super) unsafe fn watch(signals: u64) {
    let mut new = signals & !(WATCHED.get() | FAULTS | STUBBORN | RESERVED);
    WATCHED.set(WATCHED.get() | new);
    while new != 0 {
        tell_kernel(new.trailing_zeros() + 1);
        new &= new - 1;
    }
}

/// Sets the kernel's action for a signal from outside, so that the program's action is taken through [`caught`].
unsafe fn tell_kernel(signal: u32) {
    let action = of(signal);
    if FAULTS & bit(signal) != 0 {
        if action.has_handler() {
            outcome::catch(signal as usize);
        }
        return;
    }
    // The alarms of the program are virtual; the kernel's belong to the runtime.
    if signal == SIGALRM {
        return;
    }
    let catch = action.has_handler() || (action.handler == DEFAULT && WATCHED.get() & bit(signal) != 0);
    if catch {
        let flags = WITH_INFO | ON_STACK | (action.flags & RESTART);
        outcome::set_action(signal as usize, caught as *const () as usize, flags as usize);
        CAUGHT.set(CAUGHT.get() | bit(signal));
    } else if action.is_ignored() || CAUGHT.get() & bit(signal) != 0 || action.handler == DEFAULT {
        outcome::set_action(signal as usize, action.handler, 0);
        CAUGHT.set(CAUGHT.get() & !bit(signal));
    }
}

/// A signal that the kernel delivers can interrupt anything, so it is only noted.
unsafe extern "C" fn caught(signal: u32, info: *const u32, _context: usize) {
    let words = &raw mut (*OUTSIDE_INFO.ptr())[signal as usize];
    *words = [*info.add(2), *info.add(4), *info.add(5), *info.add(6)];
    OUTSIDE.fetch_or(bit(signal), Ordering::Relaxed);
}

/// Returns whether signals came from outside the process.
#[inline(always)]
pub(crate) fn has_outside() -> bool {
    OUTSIDE.load(Ordering::Relaxed) != 0
}

/// Passes on the signals that came from outside the process.
pub(super) unsafe fn take_outside() {
    if !has_outside() {
        return;
    }
    let mut came = OUTSIDE.swap(0, Ordering::Relaxed);
    while came != 0 {
        let signal = came.trailing_zeros() + 1;
        came &= came - 1;
        log::escape(Escape::Signal, (*crate::thread::current()).code, signal as usize, 0);
        let [code, pid, uid, status] = (*OUTSIDE_INFO.ptr())[signal as usize];
        send::to_process(signal, send::Origin { code: code as i32, pid, uid, value: status as usize });
    }
}

/// Called when no thread can continue. If some thread would be notified of the end of a child, and there are children, waits for
/// that.
pub(crate) unsafe fn from_children() -> bool {
    const WAITID: usize = 247;
    const EXITED_NO_HANG_NO_WAIT: usize = 4 | 1 | 0x0100_0000;
    let waits = every_thread().any(|t| (*t).state == State::Blocked && send::takes(t, SIGCHLD));
    if CAUGHT.get() & bit(SIGCHLD) == 0 || !waits {
        return false;
    }
    let mut info = [0_u32; 32];
    let result = sys::call6(WAITID, 0, 0, info.as_mut_ptr() as usize, EXITED_NO_HANG_NO_WAIT, 0, 0);
    const PID: usize = 4;
    if !has_outside() && (result < 0 || info[PID] != 0) {
        return false;
    }
    await_outside();
    true
}

/// The same in a process that is not an execution, such as one that the program has forked, if some thread waits for a signal:
/// any other process may send it.
pub(crate) unsafe fn from_anywhere() -> bool {
    let waits = || every_thread().any(|t| (*t).state == State::Blocked && (*t).pending == Wait::Signal);
    let may_come = !schedule::running() && waits();
    if may_come {
        await_outside();
    }
    may_come
}

/// Waits for a signal from outside the process.
unsafe fn await_outside() {
    const PPOLL: usize = 271;
    const SIGPROCMASK: usize = 14;
    let (all, none, mut before) = (!0_u64, 0_u64, 0_u64);
    sys::call(SIGPROCMASK, 2, &raw const all as usize, &raw mut before as usize, 8);
    while !has_outside() {
        sys::call6(PPOLL, 0, 0, 0, &raw const none as usize, 8, 0);
    }
    sys::call(SIGPROCMASK, 2, &raw const before as usize, 0, 8);
    take_outside();
}

const ERROR: usize = usize::MAX;

fn is_settable(signal: u32) -> bool {
    (1..SIGNALS as u32).contains(&signal) && (STUBBORN | RESERVED) & bit(signal) == 0
}

/// As `signal` and its variants: returns the previous handler.
unsafe fn set_handler(signal: u32, handler: usize, flags: u32, code: usize) -> usize {
    if !is_settable(signal) || handler == ERROR {
        fail(EINVAL);
        return ERROR;
    }
    reach::handed(handler, code);
    let n = point(code);
    log::event(Kind::SignalSetup, n, signal as usize, 0, 0);
    let old = of(signal).handler;
    install(signal, Action { handler, flags, mask: if flags & NO_DEFER != 0 { 0 } else { bit(signal) } });
    old
}

unsafe extern "C" fn set_restarting(signal: u32, handler: usize, code: usize) -> usize {
    set_handler(signal, handler, RESTART, code)
}

unsafe extern "C" fn set_once(signal: u32, handler: usize, code: usize) -> usize {
    set_handler(signal, handler, RESET_HANDLER | NO_DEFER, code)
}

/// `sigset`, of System V: also blocks or unblocks the signal.
unsafe extern "C" fn set_disposition(signal: u32, disposition: usize, code: usize) -> usize {
    const HOLD: usize = 2;
    if !is_settable(signal) || disposition == ERROR {
        fail(EINVAL);
        return ERROR;
    }
    let before = of(signal).handler;
    let was_blocked = (*crate::thread::current()).signal_mask & bit(signal) != 0;
    if disposition == HOLD {
        masks::hold(signal, code);
    } else {
        set_handler(signal, disposition, NO_DEFER, code);
        let action = of(signal);
        install(signal, Action { flags: 0, ..action });
        masks::release(signal, code);
    }
    if was_blocked { HOLD } else { before }
}

/// `sigignore`, of System V.
unsafe extern "C" fn ignore(signal: u32, code: usize) -> i32 {
    if set_handler(signal, IGNORE, 0, code) == ERROR { -1 } else { 0 }
}

unsafe extern "C" fn set_action(signal: u32, new: *const UserAction, old: *mut UserAction, code: usize) -> i32 {
    let may_ask = (1..SIGNALS as u32).contains(&signal) && RESERVED & bit(signal) == 0;
    if !may_ask || !new.is_null() && !is_settable(signal) {
        return fail(EINVAL);
    }
    let known = of(signal);
    // The two may be the same structure.
    let wanted = (!new.is_null()).then(|| Action {
        handler: (*new).handler,
        flags: (*new).flags,
        mask: (*new).mask[0] & !(STUBBORN | RESERVED),
    });
    if let Some(action) = wanted {
        reach::handed(action.handler, code);
        let n = point(code);
        log::event(Kind::SignalSetup, n, signal as usize, 0, 0);
        install(signal, action);
    }
    if !old.is_null() {
        let is_answered = wanted.is_none() && known.handler == DEFAULT && rust::asks_for_fault_handler(signal);
        (*old).handler = if is_answered { outcome::fault_handler() } else { known.handler };
        (*old).mask = [0; 16];
        (*old).mask[0] = known.mask;
        (*old).flags = known.flags;
    }
    0
}

unsafe extern "C" fn set_interrupting(signal: u32, interrupts: i32, _code: usize) -> i32 {
    if !is_settable(signal) {
        return fail(EINVAL);
    }
    let action = of(signal);
    let flags = if interrupts != 0 { action.flags & !RESTART } else { action.flags | RESTART };
    install(signal, Action { flags, ..action });
    0
}
