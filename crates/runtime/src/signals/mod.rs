//! Signals: what reaches a thread from outside its own code.
//!
//! The kernel knows one thread, so the runtime keeps the program's handlers, masks and pending signals itself. A
//! signal that the program sends to itself never passes through the kernel: [`send`] notes it, and the handler runs
//! as an ordinary call when the receiving thread is next switched to ([`deliver`]), before its next operation. The
//! schedule therefore decides when a handler runs. Faults come from the kernel ([`fault`]), and so do signals from
//! other processes ([`actions`]).

mod actions;
pub(crate) mod cancel;
pub(crate) mod fault;
mod jump;
mod masks;
pub(crate) mod reentry;
pub(crate) mod send;
mod wait;

use crate::schedule::{EndsBy, await_object, stop_awaiting};
use crate::sync::{self, __errno_location, barrier, condition};
use crate::thread::{Awaits, CURRENT, Thread, current};
use crate::{clock, free, hooks, log, reach, schedule, tsan};
use actions::{NO_DEFER, RESTART};
pub(crate) use actions::{OVERFLOWS, are_handled, from_anywhere, from_children, has_outside};
use racehunter_abi::{Kind, Record, Wait, detail};
use racehunter_machine::sync::Ticket;
use racehunter_machine::{Deadline, SignalSet};

pub(crate) const SIGABRT: u32 = 6;
pub(crate) const SIGKILL: u32 = 9;
pub(crate) const SIGALRM: u32 = 14;
const SIGCHLD: u32 = 17;
const SIGSTOP: u32 = 19;

/// The signal as a member of a set.
pub(crate) const fn bit(signal: u32) -> u64 {
    SignalSet::of(signal).0
}

/// A running handler of a thread. It is in the frame that called the handler, so its address shows whether a `longjmp` leaves
/// it.
#[repr(C)]
pub(crate) struct Running {
    outer: *const Running,
    signal: u32,
    /// Whether the interrupted thread sent it itself.
    is_own: bool,
}

/// Returns whether the running thread is in the handler that its call of `abort` has led to.
pub(crate) unsafe fn is_aborting() -> bool {
    let mut running = (*crate::thread::current()).handler;
    while !running.is_null() {
        if (*running).signal == SIGABRT {
            return send::ABORTING.get();
        }
        running = (*running).outer;
    }
    false
}

/// Returns the signals of the set that the thread waits for in `sigwait`, and that have been sent.
pub(crate) unsafe fn awaited(t: *const Thread) -> u64 {
    if (*t).pending == Wait::Signal { send::pending(t) & (*t).awaits.signals() } else { 0 }
}

/// Returns the signals for which the thread runs no handler now: those that it blocks, and those that `sigwait` will take.
unsafe fn refused(t: *const Thread) -> u64 {
    (*t).signal_mask | if (*t).pending == Wait::Signal { (*t).awaits.signals() } else { 0 }
}

/// Returns whether a handler has to run before the thread does anything else.
pub(crate) unsafe fn deliverable(t: *const Thread) -> bool {
    send::pending(t) & !refused(t) != 0
}

/// Runs the handlers of the running thread's pending signals.
pub(crate) unsafe fn deliver() {
    actions::take_outside();
    let t = current();
    cancel::act_asynchronously(t);
    if !deliverable(t) {
        return;
    }
    let wait = InterruptedWait::leave(t);
    let awaited = refused(t) & !(*t).signal_mask;
    let first = run_all(t, awaited);
    wait.resume(t, first.is_some(), first.is_none_or(|action| action.flags & RESTART != 0));
}

/// Runs the handlers of the thread's pending signals, except those that it blocks or awaits. Returns the action of the first
/// that was taken: whether the interrupted call is restarted depends on that one alone.
unsafe fn run_all(t: *mut Thread, awaited: u64) -> Option<actions::Action> {
    let mut first = None;
    while let Some(sent) = send::take(t, !(awaited | (*t).signal_mask)) {
        let action = actions::of(sent.signal);
        if action.has_handler() {
            let (mut info, mut context) = (sent.info(), Context([0; CONTEXT_WORDS]));
            run(t, (sent.signal, sent.is_from(t)), info.0.as_mut_ptr().cast(), context.0.as_mut_ptr(), awaited);
            first.get_or_insert(action);
        } else {
            // The program has changed the action since the signal was sent.
            send::default_action(sent.signal);
        }
    }
    first
}

/// `siginfo_t`
#[repr(C, align(8))]
pub(crate) struct Info(pub [u32; 32]);

/// Words of a `ucontext_t`.
const CONTEXT_WORDS: usize = 128;
/// The index of the mask to return to.
const CONTEXT_MASK: usize = 37;

#[repr(C, align(16))]
struct Context([u64; CONTEXT_WORDS]);

/// Runs the program's handler of a signal, in the running thread. As without the runtime, a handler that changes `errno` changes
/// it for the code that it interrupts.
unsafe fn run(t: *mut Thread, (signal, is_own): (u32, bool), info: *mut u8, context: *mut u64, awaited: u64) {
    let action = actions::begin(signal);
    let code = (*t).code;
    *context.add(CONTEXT_MASK) = (*t).signal_mask;
    let own = if action.flags & NO_DEFER != 0 { 0 } else { bit(signal) };
    masks::set(t, (*t).signal_mask | action.mask | own);
    // Linux builds a frame for each signal that the thread does not block, and then returns to the last: of several signals that
    // come together, the handler of the highest runs first.
    run_all(t, awaited);
    reach::handed(action.handler, code);
    log_handler(signal, code, detail::HANDLER_BEGINS);
    let running = Running { outer: (*t).handler, signal, is_own };
    if running.outer.is_null() {
        clock::enter_handler();
    }
    (*t).handler = &raw const running;
    let handler: extern "C" fn(u32, *mut u8, *mut u64) = core::mem::transmute(action.handler);
    let errno = __errno_location();
    let before = *errno;
    handler(signal, info, context);
    if *errno != before && schedule::running() && !free::is_on() {
        // The C library wrote it. What the thread reads there depends on when the handler ran.
        let code = action.handler + 1;
        hooks::approach(errno as usize, size_of::<i32>(), tsan::site_of(code), Kind::Write, code);
    }
    (*t).handler = running.outer;
    log_handler(signal, code, detail::HANDLER_ENDS);
    if running.outer.is_null() {
        clock::leave_handler();
    }
    masks::set(t, *context.add(CONTEXT_MASK));
    (*t).code = code;
}

unsafe fn log_handler(signal: u32, code: usize, detail: u8) {
    log::put(Record {
        index: schedule::now(),
        code: log::relative(code),
        object: u64::from(signal),
        thread: CURRENT.get(),
        kind: Kind::Handler,
        detail,
        ..Record::default()
    });
}

/// Leaves the handlers below a frame at this address, which a `longjmp` goes to.
unsafe fn leave_handlers(t: *mut Thread, stack_pointer: usize) {
    if (*t).handler.is_null() {
        return;
    }
    while !(*t).handler.is_null() && ((*t).handler as usize) < stack_pointer {
        log_handler((*(*t).handler).signal, (*t).code, detail::HANDLER_ENDS);
        (*t).handler = (*(*t).handler).outer;
    }
    if (*t).handler.is_null() {
        send::ABORTING.set(false);
        clock::leave_handler();
    }
}

/// What a thread waited for when a handler interrupted it: handlers can wait themselves.
struct InterruptedWait {
    pending: Wait,
    object: usize,
    awaits: Awaits,
    deadline: Deadline,
    ticket: Ticket,
    signalled: bool,
    timed_out: bool,
    interrupted: bool,
    broken_off: bool,
    /// What it waits for is not there yet.
    waits: bool,
    ends_by: EndsBy,
    /// Number of signals and broadcasts of the condition variable so far.
    wakeups: u32,
}

impl InterruptedWait {
    /// Ends the wait of the thread, so that a handler that leaves by `longjmp` leaves nothing behind.
    unsafe fn leave(t: *mut Thread) -> Self {
        let wait = Self {
            pending: (*t).pending,
            object: (*t).object,
            awaits: (*t).awaits,
            deadline: (*t).deadline,
            ticket: (*t).ticket,
            signalled: (*t).signalled,
            timed_out: (*t).timed_out,
            interrupted: (*t).interrupted,
            broken_off: (*t).broken_off,
            waits: (*t).pending != Wait::Nothing && !sync::available(t),
            ends_by: (*t).ends_by,
            wakeups: if (*t).pending == Wait::Condition { condition::wakeups((*t).object) } else { 0 },
        };
        if wait.pending != Wait::Nothing {
            stop_awaiting(t);
        }
        (*t).ends_by = EndsBy::NOTHING;
        wait
    }

    unsafe fn resume(self, t: *mut Thread, ran: bool, restarts: bool) {
        (*t).awaits = self.awaits;
        (*t).deadline = self.deadline;
        (*t).ticket = self.ticket;
        (*t).signalled = self.signalled;
        (*t).timed_out = self.timed_out;
        (*t).ends_by = self.ends_by;
        let ends = self.ends_by.by_handler(restarts);
        (*t).interrupted = self.interrupted || ran && ends;
        // The kernel decides that a call is over before the handler runs, which may provide what the call waits for.
        (*t).broken_off = self.broken_off || self.waits && ran && ends;
        (*t).restarts = restarts;
        if self.pending == Wait::Nothing {
            return;
        }
        await_object(t, self.pending, self.object);
        match self.pending {
            // A wake-up during the handler may have been for this thread: an extra wake-up is allowed, a missing one is not.
            Wait::Condition if condition::wakeups(self.object) != self.wakeups => (*t).signalled = true,
            Wait::Barrier => barrier::catch_up(t),
            _ => {}
        }
    }
}

/// Forgets sent signals, for the next iteration of an in-process loop. Handlers and the mask of `main` stay: resetting them is
/// up to the program.
pub(crate) unsafe fn reset() {
    send::reset();
}
