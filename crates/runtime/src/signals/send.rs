//! Sends signals, and keeps those that are pending.

use super::actions::{self, RESERVED};
use super::{Info, SIGABRT, SIGKILL, SIGSTOP, bit, deliver};
use crate::clock::{self, SyncClock};
use crate::schedule::{point, wake};
use crate::sync::{EINVAL, ESRCH, fail, handles, interpose, real};
use crate::thread::{COUNT, CURRENT, State, Thread, any_by_handle, current, every_thread, thread, threads};
use crate::{Global, arena, constructors, log, outcome, server, sys};
use core::arch::global_asm;
use racehunter_abi::{Escape, Kind, ThreadId, Wait, detail};
use racehunter_machine::Owner;

interpose! {
    kill => to_process_id, "rdx";
    raise => to_self, "rsi";
    gsignal => to_self, "rsi";
    pthread_kill => to_handle, "rdx";
    tgkill => to_thread_id, "rcx";
    sigqueue => queue_to_process_id, "rcx";
    pthread_sigqueue => queue_to_handle, "rcx";
}

const BY_USER: i32 = 0;
const BY_QUEUE: i32 = -1;
/// `si_code` of `raise`, `pthread_kill` and `abort`.
pub(super) const BY_THREAD: i32 = -6;

/// The origin of a signal, as in `siginfo_t`.
#[derive(Clone, Copy)]
pub(crate) struct Origin {
    pub code: i32,
    /// The sender, or the number of the timer.
    pub pid: u32,
    /// The sender's user, or the number of missed expirations of the timer.
    pub uid: u32,
    pub value: usize,
}

impl Origin {
    unsafe fn of_this_process(code: i32, value: usize) -> Self {
        const GETUID: usize = 102;
        Self { code, pid: process_id() as u32, uid: sys::call(GETUID, 0, 0, 0, 0) as u32, value }
    }
}

/// A pending signal.
#[derive(Clone, Copy)]
pub(crate) struct Sent {
    pub signal: u32,
    /// The receiving thread. Without one the signal stays pending, for the first thread that unblocks it.
    to: Owner,
    /// Whether it was sent to the process, and `to` is only the thread that was chosen.
    for_process: bool,
    /// The thread that was running when it was sent.
    from: ThreadId,
    origin: Origin,
    clock: SyncClock,
    next: *mut Sent,
}

impl Sent {
    /// Returns whether this thread sent it, by a call that returns when it was handled.
    pub(super) unsafe fn is_from(&self, t: *const Thread) -> bool {
        const BY_PROCESS: i32 = 0;
        self.from == (*t).number && matches!(self.origin.code, BY_PROCESS | BY_QUEUE | BY_THREAD)
    }

    /// Returns the information that the program gets.
    pub(super) fn info(&self) -> Info {
        let Origin { code, pid, uid, value } = self.origin;
        let mut words = [0; 32];
        words[0] = self.signal;
        words[2] = code as u32;
        words[4] = pid;
        words[5] = uid;
        words[6] = value as u32;
        words[7] = (value >> 32) as u32;
        Info(words)
    }
}

/// Pending signals, in the order in which they were sent.
static FIRST: Global<*mut Sent> = Global::new(core::ptr::null_mut());
static SPARE: Global<*mut Sent> = Global::new(core::ptr::null_mut());
/// Those of them that no thread takes at present.
#[unsafe(link_section = ".data.racehunter")]
static UNCLAIMED: Global<u64> = Global::new(0);

pub(crate) unsafe fn process_id() -> i32 {
    sys::call(sys::GETPID, 0, 0, 0, 0) as i32
}

/// Returns the signals pending for the thread or for any thread.
pub(crate) unsafe fn pending(t: *const Thread) -> u64 {
    (*t).signals | UNCLAIMED.get()
}

/// Returns whether the thread would react to the signal, at once or in `sigwait`.
pub(super) unsafe fn takes(t: *const Thread, signal: u32) -> bool {
    let lives = !matches!((*t).state, State::Free | State::Done) && !(*t).internal;
    lives && ((*t).signal_mask & bit(signal) == 0 || awaits(t, signal))
}

unsafe fn awaits(t: *const Thread, signal: u32) -> bool {
    (*t).pending == Wait::Signal && (*t).awaits.signals() & bit(signal) != 0
}

/// Returns the thread that gets a signal to the process: `main` if it does not block it, otherwise the first that does
/// not.
unsafe fn taker(signal: u32) -> *mut Thread {
    every_thread().find(|&t| takes(t, signal)).unwrap_or(core::ptr::null_mut())
}

/// Sends a signal to the process. The event is already logged.
pub(crate) unsafe fn to_process(signal: u32, origin: Origin) {
    let takers = threads().filter(|&number| takes(thread(number), signal)).count();
    if takers > 1 && actions::of(signal).has_handler() {
        // POSIX leaves open which of them it is, and Linux does not always choose the first.
        log::escape(Escape::Taker, 0, signal as usize, 0);
    }
    put(signal, taker(signal), true, origin);
}

unsafe fn put(signal: u32, to: *mut Thread, for_process: bool, origin: Origin) {
    let action = actions::of(signal);
    let is_free = to.is_null() || (*to).signal_mask & bit(signal) != 0;
    if !is_free && !awaits(to, signal) && !action.has_handler() {
        default_action(signal);
        return;
    }
    const FIRST_REALTIME: u32 = 34;
    let receiver = if to.is_null() { Owner::NONE } else { Owner::of((*to).number) };
    let known = if signal < FIRST_REALTIME { find(|sent| sent.signal == signal && sent.to == receiver) } else { None };
    if let Some(known) = known {
        // It is already pending, and is handled once. The handler is then ordered after this sender too.
        clock::release(&mut (*known).clock);
        return;
    }
    let mut sent = SPARE.get();
    if sent.is_null() {
        sent = arena::take(size_of::<Sent>()) as *mut Sent;
    } else {
        SPARE.set((*sent).next);
        clock::clear(&mut (*sent).clock);
    }
    (*sent).signal = signal;
    (*sent).for_process = for_process;
    (*sent).from = CURRENT.get();
    (*sent).origin = origin;
    (*sent).next = core::ptr::null_mut();
    clock::release(&mut (*sent).clock);
    let mut link = FIRST.ptr();
    while !(*link).is_null() {
        link = &raw mut (**link).next;
    }
    *link = sent;
    assign(sent, to);
}

/// Assigns the signal to this thread, or to no thread yet.
unsafe fn assign(sent: *mut Sent, to: *mut Thread) {
    let signal = bit((*sent).signal);
    if to.is_null() {
        (*sent).to = Owner::NONE;
        UNCLAIMED.set(UNCLAIMED.get() | signal);
        return;
    }
    (*sent).to = Owner::of((*to).number);
    (*to).signals |= signal;
    let can_go = super::deliverable(to) || super::awaited(to) != 0;
    if can_go && matches!((*to).state, State::Blocked | State::Suspended) {
        wake(to);
    }
}

unsafe fn find(wanted: impl Fn(&Sent) -> bool) -> Option<*mut Sent> {
    let mut sent = FIRST.get();
    while !sent.is_null() {
        if wanted(&*sent) {
            return Some(sent);
        }
        sent = (*sent).next;
    }
    None
}

/// Takes the signal of the set to be handled first; the running thread is ordered after its sender.
pub(super) unsafe fn take(t: *mut Thread, set: u64) -> Option<Sent> {
    let ready = pending(t) & set;
    if ready == 0 {
        return None;
    }
    let signal = ready.trailing_zeros() + 1;
    let own = (*t).number;
    let is_it = |sent: &Sent| sent.signal == signal && (sent.to.is(own) || sent.to.is_none());
    let sent = find(is_it)?;
    let copy = *sent;
    unlink(sent);
    clock::acquire(&copy.clock);
    Some(copy)
}

/// Removes a signal from the list, and from the sets if it was the last of its kind.
unsafe fn unlink(sent: *mut Sent) {
    let mut link = FIRST.ptr();
    while *link != sent {
        link = &raw mut (**link).next;
    }
    *link = (*sent).next;
    let Sent { signal, to, .. } = *sent;
    if find(|other| other.signal == signal && other.to == to).is_none() {
        match to.thread() {
            None => UNCLAIMED.set(UNCLAIMED.get() & !bit(signal)),
            Some(to) => (*thread(to)).signals &= !bit(signal),
        }
    }
    (*sent).next = SPARE.get();
    SPARE.set(sent);
}

/// Drops the pending signals that the program ignores from now on.
pub(super) unsafe fn discard(signal: u32) {
    while let Some(sent) = find(|sent| sent.signal == signal) {
        unlink(sent);
    }
}

/// Returns signals to the process that the thread no longer takes to others.
pub(super) unsafe fn give_back(t: *mut Thread, signals: u64) {
    let own = Owner::of((*t).number);
    while let Some(sent) = find(|sent| sent.to == own && sent.for_process && signals & bit(sent.signal) != 0) {
        let signal = (*sent).signal;
        let other = taker(signal);
        if other == t {
            break;
        }
        (*sent).to = Owner::NONE;
        if find(|other| other.signal == signal && other.to == own).is_none() {
            (*t).signals &= !bit(signal);
        }
        assign(sent, other);
    }
}

/// Drops the signals of a thread that has ended, except those for the process.
pub(crate) unsafe fn thread_ends(t: *mut Thread) {
    if (*t).signals != 0 {
        give_back(t, !0);
        while let Some(sent) = find(|sent| sent.to.is((*t).number)) {
            unlink(sent);
        }
    }
}

/// Signals that do nothing by default.
const IGNORED: u64 = bit(17) | bit(18) | bit(23) | bit(28);

/// Returns whether a signal to the process, or to a thread, would end the program at once.
pub(crate) unsafe fn would_end(signal: u32, to: Option<ThreadId>) -> bool {
    let action = actions::of(signal);
    let t = to.map_or_else(|| taker(signal), |number| thread(number));
    let does_something = IGNORED & bit(signal) == 0 && !action.is_ignored();
    does_something && !action.has_handler() && !t.is_null() && (*t).signal_mask & bit(signal) == 0
}

/// Takes the default action of a signal.
pub(super) unsafe fn default_action(signal: u32) {
    // The kernel handles stopping, and signals that cannot be caught.
    const KERNEL: u64 = bit(SIGKILL) | bit(SIGSTOP) | bit(20) | bit(21) | bit(22);
    if actions::of(signal).is_ignored() || IGNORED & bit(signal) != 0 {
        return;
    }
    if KERNEL & bit(signal) != 0 {
        sys::call(sys::KILL, process_id() as usize, signal as usize, 0, 0);
        return;
    }
    outcome::die(signal, 0);
}

pub(super) unsafe fn reset() {
    FIRST.set(core::ptr::null_mut());
    SPARE.set(core::ptr::null_mut());
    UNCLAIMED.set(0);
}

/// Performs the event of sending. The running thread handles its own signal at once.
unsafe fn send(signal: u32, to: Option<*mut Thread>, origin: Origin, code: usize) {
    let n = point(code);
    let receiver = to.map_or(0, |t| u64::from((*t).number) + 1);
    log::event(Kind::Kill, n, signal as usize, receiver, 0);
    match to {
        // It may have ended meanwhile.
        Some(t) if (*t).state == State::Done => {}
        Some(t) => put(signal, t, false, origin),
        None => to_process(signal, origin),
    }
    deliver();
}

/// As [`send`], for a timer, which has no place in the program. To a thread by its number, or to the process.
pub(crate) unsafe fn from_timer(signal: u32, to: Option<ThreadId>, origin: Origin) {
    let n = point(0);
    log::event(
        Kind::Kill,
        n,
        signal as usize,
        u64::from(to.map_or(Owner::NONE, Owner::of).logged()),
        detail::KILL_FROM_TIMER,
    );
    match to {
        None => to_process(signal, origin),
        Some(number) if number.0 < COUNT.get() && (*thread(number)).state != State::Done => {
            put(signal, thread(number), false, origin);
        }
        Some(_) => {}
    }
}

/// Returns whether the last signal of this timer was not taken yet.
pub(crate) unsafe fn is_pending_from_timer(signal: u32, timer: u32) -> bool {
    find(|sent| sent.signal == signal && sent.origin.code != BY_USER && sent.origin.pid == timer).is_some()
}

/// Notes that the pending signal of this timer also covers this number of later expirations.
pub(crate) unsafe fn set_overrun(signal: u32, timer: u32, missed: u32) {
    if let Some(sent) = find(|sent| sent.signal == signal && sent.origin.code != BY_USER && sent.origin.pid == timer) {
        (*sent).origin.uid = missed;
    }
}

fn is_valid(signal: i32) -> bool {
    (1..=64).contains(&signal) && RESERVED & bit(signal as u32) == 0
}

/// Refuses to stop or end the controller, which would end the hunt.
unsafe fn refuse(code: usize) -> i32 {
    const EPERM: i32 = 1;
    log::escape(Escape::Unmodelled, code, sys::KILL, 0);
    fail(EPERM)
}

unsafe fn to_id(id: i32, signal: i32, origin: Origin, code: usize) -> i32 {
    if id != process_id() {
        if signal != 0 && server::is_controller(id) {
            return refuse(code);
        }
        let result = sys::call(sys::KILL, id as usize, signal as usize, 0, 0);
        return if result < 0 { fail(-result as i32) } else { 0 };
    }
    match signal {
        0 => 0,
        _ if !is_valid(signal) => fail(EINVAL),
        _ => {
            send(signal as u32, None, origin, code);
            0
        }
    }
}

pub(crate) unsafe extern "C" fn to_process_id(id: i32, signal: i32, code: usize) -> i32 {
    to_id(id, signal, Origin::of_this_process(BY_USER, 0), code)
}

unsafe extern "C" fn queue_to_process_id(id: i32, signal: i32, value: usize, code: usize) -> i32 {
    to_id(id, signal, Origin::of_this_process(BY_QUEUE, value), code)
}

/// Returns an errno.
unsafe fn to_thread(t: Option<*mut Thread>, signal: i32, origin: Origin, code: usize) -> i32 {
    let Some(t) = t else { return ESRCH };
    match signal {
        0 => 0,
        _ if !is_valid(signal) => EINVAL,
        _ => {
            send(signal as u32, Some(t), origin, code);
            0
        }
    }
}

/// The same for a thread by its handle.
unsafe fn to_holder(handle: usize, signal: i32, origin: Origin, code: usize) -> i32 {
    let Some(t) = any_by_handle(handle) else { return ESRCH };
    if signal == 0 || (*t).joined {
        point(code);
        handles::uses(t);
        return if (*t).joined { ESRCH } else { 0 };
    }
    let result = to_thread(Some(t), signal, origin, code);
    handles::uses(t);
    result
}

unsafe extern "C" fn to_handle(handle: usize, signal: i32, code: usize) -> i32 {
    to_holder(handle, signal, Origin::of_this_process(BY_THREAD, 0), code)
}

unsafe extern "C" fn queue_to_handle(handle: usize, signal: i32, value: usize, code: usize) -> i32 {
    to_holder(handle, signal, Origin::of_this_process(BY_QUEUE, value), code)
}

pub(crate) unsafe extern "C" fn to_self(signal: i32, code: usize) -> i32 {
    match to_thread(Some(current()), signal, Origin::of_this_process(BY_THREAD, 0), code) {
        0 => 0,
        error => fail(error),
    }
}

/// The ids are those of `gettid`.
pub(crate) unsafe extern "C" fn to_thread_id(process: i32, id: i32, signal: i32, code: usize) -> i32 {
    if process != process_id() && process != 0 {
        const TGKILL: usize = 234;
        if signal != 0 && (server::is_controller(process) || server::is_controller(id)) {
            return refuse(code);
        }
        let result = sys::call(TGKILL, process as usize, id as usize, signal as usize, 0);
        return if result < 0 { fail(-result as i32) } else { 0 };
    }
    let number = ThreadId(id.wrapping_sub(process_id()) as u32);
    let known = number.0 < COUNT.get() && !matches!((*thread(number)).state, State::Free | State::Done);
    let t = known.then(|| thread(number));
    match to_thread(t, signal, Origin::of_this_process(BY_THREAD, 0), code) {
        0 => 0,
        error => fail(error),
    }
}

/// Whether `abort` was called, and not left since by a jump out of the handler.
#[unsafe(link_section = ".data.racehunter")]
pub(super) static ABORTING: Global<bool> = Global::new(false);

/// `abort`: the program's own handler comes first; then the C library ends the process. A handler that ends it itself
/// with success does not make it a success.
#[unsafe(no_mangle)]
unsafe extern "C" fn rh_abort(code: usize, stack_pointer: usize) -> usize {
    constructors::before_main();
    outcome::aborts_at(stack_pointer);
    if actions::of(SIGABRT).has_handler() {
        let t = thread(CURRENT.get());
        super::masks::set(t, (*t).signal_mask & !bit(SIGABRT));
        ABORTING.set(true);
        to_self(SIGABRT as i32, code);
        actions::install(SIGABRT, actions::Action { handler: 0, flags: 0, mask: 0 });
    }
    real::abort()
}

global_asm!(
    r#"
    .globl abort
    .type abort,@function
abort:
    .cfi_startproc
    mov rdi, [rsp]
    mov rsi, rsp
    sub rsp, 8
    .cfi_adjust_cfa_offset 8
    call rh_abort
    add rsp, 8
    .cfi_adjust_cfa_offset -8
    jmp rax
    .cfi_endproc
    .size abort, . - abort
    "#
);
