//! How an execution ends.

use crate::io::client;
use crate::signals::{self, fault};
use crate::sync::{interpose, owner};
use crate::thread::{COUNT, CURRENT, INTERNAL, LIVE, State, current, me, thread, threads};
use crate::{
    Global, constructors, debug, endings, escapes, in_process, log, rust, schedule, server, start, sys, timers, values,
};
use core::ffi::{CStr, c_char};
use racehunter_abi::control::{
    FLAG_SELECTIVE, MESSAGE, NOTE_LOCK_HELD, OUTCOME_ASSERTION, OUTCOME_CRASH, OUTCOME_DEADLOCK, OUTCOME_DIVERGED,
    OUTCOME_EXITED, OUTCOME_SNAPSHOT, OUTCOME_UNKNOWN, OUTCOME_UNMODELLED, STATE_DONE, STATE_RUNNING,
};
use racehunter_abi::{
    Cause, Escape, EventNumber, Kind, Record, UNMODELLED_FUNCTION, UNMODELLED_SECOND_EXIT, Wait, detail,
};
use racehunter_machine::Owner;

/// Exit status of a process that the runtime ended itself; the controller reads the slot instead.
const ENDED_BY_RUNTIME: i32 = 77;

/// Writes the result of the execution into its slot.
pub(crate) unsafe fn publish(outcome: u32) {
    if schedule::running() {
        write(outcome);
        schedule::end();
    }
}

/// Notes that the program is about to replace itself with another one, which ends the execution.
pub(crate) unsafe fn before_exec() {
    if schedule::running() {
        write(OUTCOME_EXITED);
    }
}

/// Notes that the replacement failed.
pub(crate) unsafe fn after_exec() {
    if schedule::running() {
        (*server::slot()).outcome = OUTCOME_UNKNOWN;
        (*server::slot()).state = STATE_RUNNING;
    }
}

unsafe fn write(outcome: u32) {
    start::is_over();
    let slot = server::slot();
    (*slot).outcome = outcome;
    (*slot).events = schedule::now().0;
    (*slot).switch_total = schedule::switches();
    (*slot).threads = COUNT.get();
    (*slot).current = CURRENT.get().0;
    if !(*current()).held.is_empty() {
        (*slot).notes |= NOTE_LOCK_HELD;
    }
    if outcome != OUTCOME_SNAPSHOT {
        escapes::look();
    }
    if matches!(outcome, OUTCOME_DEADLOCK | OUTCOME_CRASH | OUTCOME_ASSERTION) {
        thread_states(outcome);
    }
    if schedule::flags() & FLAG_SELECTIVE != 0 {
        // Not all of them are in the log.
        let (index, object) = (schedule::now(), schedule::counted());
        log::put(Record { index, object, thread: CURRENT.get(), kind: Kind::Counted, ..Record::default() });
    }
    log::flush();
    (*slot).seal = (*slot).seal_of();
    (*slot).state = STATE_DONE;
}

/// Logs the state of every thread, the running one first. In a deadlock only threads that wait for ever are reported as
/// waiting.
unsafe fn thread_states(outcome: u32) {
    let running = CURRENT.get();
    let others = threads().filter(|&n| n != running);
    for number in core::iter::once(running).chain(others) {
        let t = thread(number);
        // A timer that waits for its time is not involved in anything.
        if matches!((*t).state, State::Done | State::Free) || (*t).pending == Wait::Timer {
            continue;
        }
        let waits = (*t).state == State::Blocked || (*t).state == State::Suspended && outcome != OUTCOME_DEADLOCK;
        let wait = if waits { (*t).pending } else { Wait::Nothing };
        log::put(Record {
            index: schedule::now(),
            code: log::relative((*t).code),
            object: (*t).object as u64,
            extra: if waits { u64::from(owner(wait, (*t).object).logged()) } else { 0 },
            thread: number,
            stack: log::stack_of(t),
            kind: Kind::ThreadState,
            detail: wait as u8,
            ..Record::default()
        });
    }
}

/// Ends the execution, and the process with it.
pub(crate) unsafe fn finish(outcome: u32) -> ! {
    if !schedule::running() && outcome == OUTCOME_DEADLOCK {
        sys::complain(&["racehunter: deadlock: no thread can go on"], None);
        if server::has_left() {
            // Without the runtime, a process that locks what another thread held when it was forked waits for ever too, and so does
            // a parent that waits for it.
            sys::stand_still();
        }
    }
    debug::ends(outcome);
    publish(outcome);
    sys::exit_group(ENDED_BY_RUNTIME)
}

/// Ends the execution, because the program does something that has no model.
pub(crate) unsafe fn end_unmodelled(what: &CStr) -> ! {
    copy_text(what.as_ptr(), &raw mut (*server::slot()).message);
    finish(OUTCOME_UNMODELLED)
}

/// Ends the execution, because the plan cannot be followed.
pub(crate) unsafe fn diverged(n: EventNumber) -> ! {
    (*server::slot()).diverged_at = n.0;
    finish(OUTCOME_DIVERGED)
}

/// The exit status of the program.
#[unsafe(link_section = ".data.racehunter")]
pub(crate) static STATUS: Global<i32> = Global::new(0);

unsafe extern "C" {
    fn fflush(stream: *mut u8) -> i32;
    fn on_exit(function: unsafe extern "C" fn(i32, *mut u8), argument: *mut u8) -> i32;
}

/// Returns whether the end of the program cuts off threads that could continue, or timers that could expire before.
pub(crate) unsafe fn cuts_off() -> bool {
    schedule::running() && (LIVE.get() > INTERNAL.get() + 1 || timers::is_any_set())
}

/// The thread that ends the program: it runs the `atexit` functions and destructors.
#[unsafe(link_section = ".data.racehunter")]
static ENDING: Global<Owner> = Global::new(Owner::NONE);

/// Called when `main` has returned, or `exit` was called. Only one thread runs the `atexit` functions.
pub(crate) unsafe fn before_end(code: usize) {
    if !cuts_off() {
        return;
    }
    others_first(code);
    let first = ENDING.get().thread().unwrap_or(me());
    ENDING.set(Owner::of(first));
    if first != me() && endings::are_there() {
        log::escape(Escape::Unmodelled, code, (UNMODELLED_FUNCTION + UNMODELLED_SECOND_EXIT) as usize, 0);
    }
    while first != me() {
        schedule::wait_after(Wait::Join, first.index(), None, Cause::Blocked);
    }
}

/// Lets the other threads run before the program ends: what they still do may matter, and after the end of the process
/// it would be unknown.
unsafe fn others_first(code: usize) {
    if !cuts_off() {
        return;
    }
    endings::begin(code);
    let n = schedule::point(code);
    log::event(Kind::End, n, 0, 0, 0);
    schedule::yield_after();
}

/// The last point at which another thread can be chosen.
unsafe fn last_moment(code: usize) {
    if cuts_off() {
        let n = schedule::point(code);
        log::event(Kind::End, n, 0, 0, detail::END_FINAL);
    }
}

/// Runs after the `atexit` functions and destructors of a program that ends on its own.
unsafe extern "C" fn at_end() {
    if !schedule::running() {
        return;
    }
    last_moment(0);
    in_process::exits(STATUS.get(), 0);
    if client::is_there() {
        // Buffered data belongs to the connections that are closed now.
        fflush(core::ptr::null_mut());
    }
    let status = client::program_ends(STATUS.get());
    publish(OUTCOME_EXITED);
    if status != STATUS.get() {
        sys::exit_group(status);
    }
    // Only destructors of libraries are left. Unless some belong to the program, they have no visible effect.
    if !crate::modules::has_libraries() {
        fflush(core::ptr::null_mut());
        sys::exit_group(STATUS.get());
    }
}

interpose! {
    exit => end_program, "rsi";
    quick_exit => end_quickly, "rsi";
    _exit => end_process, "rsi";
    _Exit => end_process, "rsi";
}

/// Reports an `abort` whose handler ends the process with success, which would hide the call. Any other status shows
/// it.
unsafe fn tell_abort(status: i32) {
    if status == 0 && signals::is_aborting() {
        die(signals::SIGABRT, 0);
    }
}

pub(crate) unsafe extern "C" fn end_program(status: i32, code: usize) -> ! {
    constructors::before_main();
    tell_abort(status);
    rust::exits(status, code);
    before_end(code);
    STATUS.set(status);
    let exit: extern "C" fn(i32) -> ! = core::mem::transmute(crate::sync::real::exit());
    exit(status)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn rh_exit(status: i32, code: usize) -> ! {
    end_program(status, code)
}

unsafe extern "C" fn end_quickly(status: i32, code: usize) -> ! {
    tell_abort(status);
    rust::exits(status, code);
    before_end(code);
    in_process::exits(status, code);
    let quick_exit: extern "C" fn(i32) -> ! = core::mem::transmute(crate::sync::real::quick_exit());
    quick_exit(status)
}

/// Runs after the functions that a program has registered for `quick_exit`.
unsafe extern "C" fn at_quick_end(_: *mut u8) {
    if schedule::running() {
        last_moment(0);
        publish(OUTCOME_EXITED);
    }
}

/// Notes the status of a program that some function of the C library ends: its own calls of `exit` cannot be intercepted.
unsafe extern "C" fn note_status(status: i32, _: *mut u8) {
    STATUS.set(status);
}

/// Registers [`at_quick_end`] and [`note_status`] first, so that they run last.
pub(crate) unsafe fn watch_ends() {
    on_exit(note_status, core::ptr::null_mut());
    type Register = unsafe extern "C" fn(unsafe extern "C" fn(*mut u8), *mut u8) -> i32;
    let register: Register = core::mem::transmute(crate::sync::real::at_quick_exit());
    register(at_quick_end, core::ptr::null_mut());
}

// The first entry of the array runs last.
#[used]
#[unsafe(link_section = ".fini_array.00000")]
static AT_END: unsafe extern "C" fn() = at_end;

pub(crate) unsafe extern "C" fn end_process(status: i32, code: usize) -> ! {
    constructors::before_main();
    tell_abort(status);
    rust::exits(status, code);
    others_first(code);
    last_moment(code);
    in_process::exits(status, code);
    let status = client::program_ends(status);
    publish(OUTCOME_EXITED);
    sys::exit_group(status)
}

unsafe fn copy_text(from: *const c_char, to: *mut [u8; MESSAGE]) {
    let text = if from.is_null() { &[][..] } else { CStr::from_ptr(from).to_bytes() };
    let len = text.len().min(MESSAGE - 1);
    core::ptr::copy_nonoverlapping(text.as_ptr(), to as *mut u8, len);
    (*to)[len] = 0;
}

#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn __assert_fail() {
    core::arch::naked_asm!("mov r8, [rsp]", "jmp {}", sym assertion)
}

unsafe extern "C" fn assertion(
    expression: *const c_char,
    file: *const c_char,
    line: u32,
    function: *const c_char,
    code: usize,
) -> ! {
    (*current()).code = code;
    values::settle();
    constructors::before_main();
    if !schedule::running() {
        let real: extern "C" fn(*const c_char, *const c_char, u32, *const c_char) -> ! =
            core::mem::transmute(crate::sync::real::assert_fail());
        real(expression, file, line, function);
    }
    let slot = server::slot();
    copy_text(expression, &raw mut (*slot).message);
    copy_text(file, &raw mut (*slot).file);
    (*slot).line = line;
    finish(OUTCOME_ASSERTION)
}

#[repr(C)]
struct SignalAction {
    handler: usize,
    flags: usize,
    restorer: usize,
    mask: u64,
}

core::arch::global_asm!(".local rh_restore", "rh_restore:", "mov eax, {}", "syscall", const sys::SIGRETURN);

unsafe extern "C" {
    fn rh_restore();
}

const FATAL_SIGNALS: [usize; 6] = [4, 5, 6, 7, 8, 11];

/// Installs the handler for fatal signals, on a separate stack.
pub(crate) unsafe fn init() {
    for signal in FATAL_SIGNALS {
        catch(signal);
    }
}

/// Leaves fatal signals to the kernel.
pub(crate) unsafe fn leave_signals() {
    for signal in FATAL_SIGNALS {
        set_action(signal, 0, 0);
    }
}

/// Whether there is a stack for signal handlers.
static HAS_STACK: Global<bool> = Global::new(false);

/// Installs the handler for a fatal signal.
pub(crate) unsafe fn catch(signal: usize) {
    const ALTERNATE_STACK: usize = 256 << 10;
    const SIGINFO_ONSTACK: usize = 4 | 0x0800_0000;
    if !HAS_STACK.get() {
        HAS_STACK.set(true);
        let stack = [sys::reserve(0, ALTERNATE_STACK) as usize, 0, ALTERNATE_STACK];
        sys::call(sys::SIGALTSTACK, stack.as_ptr() as usize, 0, 0, 0);
    }
    set_action(signal, fault_handler(), SIGINFO_ONSTACK);
}

/// Sets the kernel's action for a signal.
pub(crate) unsafe fn set_action(signal: usize, handler: usize, flags: usize) {
    const RESTORER: usize = 0x0400_0000;
    let action = SignalAction { handler, flags: flags | RESTORER, restorer: rh_restore as *const () as usize, mask: 0 };
    sys::call(sys::SIGACTION, signal, &raw const action as usize, 0, 8);
}

pub(crate) fn in_executable(address: usize) -> bool {
    let (start, end) = server::executable();
    (start..end).contains(&address)
}

/// Returns the place in the program that called a library in which it crashed (`abort`, `strlen` of a bad pointer). The
/// shadow stack has the function, but not the place in it: that is the first return address below its frame that
/// follows a call instruction.
pub(crate) unsafe fn innermost_call(rsp: usize) -> usize {
    const SEARCHED: usize = 64 << 10;
    let t = current();
    let top = crate::thread::__rh_stack.get();
    let end = if top > (*t).stack { (*top.sub(1)).slot as usize } else { 0 };
    if end <= rsp || end - rsp > SEARCHED {
        return 0;
    }
    (rsp & !7..end).step_by(8).map(|at| *(at as *const usize)).find(|&word| returns_to(word)).unwrap_or(0)
}

/// Returns whether a word may be a return address in the program.
unsafe fn returns_to(word: usize) -> bool {
    in_executable(word.wrapping_sub(8)) && in_executable(word) && {
        let before = |distance: usize| *((word - distance) as *const u8);
        before(5) == 0xe8 || before(6) == 0xff || before(2) == 0xff || before(3) == 0xff
    }
}

/// Returns where on its stack a thread that is not running called the runtime: its frames are above.
pub(crate) unsafe fn left_program_at(t: *const crate::thread::Thread) -> Option<usize> {
    const SEARCHED: usize = 64 << 10;
    let top = (*t).stack_top;
    let end = if top > (*t).stack { (*top.sub(1)).slot as usize & !7 } else { return None };
    // Remains of earlier calls, further down, may look the same.
    let from = (*t).rsp.max(end.saturating_sub(SEARCHED)) & !7;
    (from..end).step_by(8).rev().find(|&at| *(at as *const usize) == (*t).code)
}

/// Returns the place at which a signal has interrupted the program. Stacks hold return addresses; one past the
/// interrupted instruction serves as one.
pub(crate) unsafe fn place(rip: usize, rsp: usize) -> usize {
    if in_executable(rip) { rip + 1 } else { innermost_call(rsp) }
}

/// Where the program called `abort`: the position of its return address.
static ABORTED: Global<usize> = Global::new(0);

/// Notes that the program calls `abort`. The stack below does not belong to it.
pub(crate) fn aborts_at(stack_pointer: usize) {
    ABORTED.set(stack_pointer);
}

/// What the kernel calls for a fault.
pub(crate) fn fault_handler() -> usize {
    on_signal as *const () as usize
}

unsafe extern "C" fn on_signal(signal: i32, info: *const usize, context: *mut usize) {
    // `siginfo_t.si_addr`
    const FAULT: usize = 2;
    if let Some(further) = schedule::spin::forgives(*context.add(fault::RIP)) {
        *context.add(fault::RIP) = further;
        return;
    }
    if fault::begin(signal as u32, info.cast(), context) {
        return;
    }
    let rsp = *context.add(fault::RSP);
    let from = if signal == 6 && ABORTED.get() > rsp { ABORTED.get() } else { rsp };
    (*current()).code = place(*context.add(fault::RIP), from);
    die(signal as u32, if signal == 6 { 0 } else { *info.add(FAULT) as u64 })
}

/// Ends the execution by a signal, and the process by the same signal, so that the waiting process sees it.
pub(crate) unsafe fn die(signal: u32, fault: u64) -> ! {
    if schedule::running() {
        let slot = server::slot();
        (*slot).signal = signal;
        (*slot).fault = fault;
        publish(OUTCOME_CRASH);
    }
    const SIGPROCMASK: usize = 14;
    set_action(signal as usize, 0, 0);
    let none = 0_u64;
    sys::call(SIGPROCMASK, 2, &raw const none as usize, 0, 8);
    sys::call(sys::KILL, sys::call(sys::GETPID, 0, 0, 0, 0) as usize, signal as usize, 0, 0);
    sys::exit_group(128 + signal as i32)
}
