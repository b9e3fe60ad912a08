//! What only Rust programs need.

use crate::sync::futex;
use crate::thread::{COUNT, CURRENT, current, thread};
use crate::{Global, annotations, constructors, log, reach, schedule, signals};
use core::ffi::{CStr, c_char};
use racehunter_abi::control::FLAG_STACKS;
use racehunter_abi::{Escape, Kind, Record, UNMODELLED_EXIT, UNMODELLED_FUNCTION};

// Rust programs, and Rust test programs, define these symbols at link time. In others the addresses are 0.
core::arch::global_asm!(".weak __rh_rust", ".weak __rh_libtest");

/// Returns whether the program is in Rust, with an instrumented standard library.
pub(crate) unsafe fn is_rust() -> bool {
    let symbol: usize;
    core::arch::asm!("mov {}, qword ptr [rip + __rh_rust@GOTPCREL]", out(reg) symbol, options(nostack, readonly));
    symbol != 0
}

/// Returns whether the program is a test program with Rust's harness.
unsafe fn has_harness() -> bool {
    let symbol: usize;
    core::arch::asm!("mov {}, qword ptr [rip + __rh_libtest@GOTPCREL]", out(reg) symbol, options(nostack, readonly));
    symbol != 0
}

/// The harness reads the description of the terminal if there is a name of one, which takes more events than most tests.
/// Executions have no terminal: takes the name out of the environment.
pub(crate) unsafe fn leave_terminal(mut variables: *mut *const c_char) {
    const TERM: &[u8] = b"TERM=";
    if !has_harness() {
        return;
    }
    while !(*variables).is_null() {
        if CStr::from_ptr(*variables).to_bytes().starts_with(TERM) {
            let mut rest = variables;
            while !(*rest).is_null() {
                *rest = *rest.add(1);
                rest = rest.add(1);
            }
        } else {
            variables = variables.add(1);
        }
    }
}

/// Whether the thread to be created is the one in which the harness runs a test. If the system has no thread left,
/// the harness runs the test in `main`; all other threads then belong to the test. Otherwise the harness's own use of
/// two threads would be explored in every test.
pub(crate) unsafe fn refuses_thread() -> bool {
    has_harness()
        && constructors::is_past()
        && COUNT.get() == 1
        && (*current()).children == 0
        && !WAS_REFUSED.get()
        && {
            WAS_REFUSED.set(true);
            schedule::running()
        }
}

/// Whether the harness has asked for its thread.
#[unsafe(link_section = ".data.racehunter")]
static WAS_REFUSED: Global<bool> = Global::new(false);

/// Called when a thread ends the program. The harness does so only if a test has failed; with success it returns from `main`. A
/// test that ends the program with success has not finished, and its remaining checks are unknown.
pub(crate) unsafe fn exits(status: i32, code: usize) {
    if status == 0 && WAS_REFUSED.get() && has_harness() {
        log::escape(Escape::Unmodelled, code, (UNMODELLED_FUNCTION + UNMODELLED_EXIT) as usize, 0);
    }
}

/// Whether the standard library's start asks for the handler of a fault. Without one it would install its own, which
/// recognises an overflow of the stack, and then give each thread a stack for it and a place in a table with a lock. The
/// runtime catches these faults anyway, and reports an overflow where it happens.
pub(crate) unsafe fn asks_for_fault_handler(signal: u32) -> bool {
    let bit = signals::bit(signal);
    let asks = signals::OVERFLOWS & bit & !ASKED.get() != 0
        && schedule::running()
        && is_rust()
        && constructors::is_past()
        && COUNT.get() == 1;
    if asks {
        ASKED.set(ASKED.get() | bit);
    }
    asks
}

/// Signals for which it has asked.
#[unsafe(link_section = ".data.racehunter")]
static ASKED: Global<u64> = Global::new(0);

/// Threads may meet in code that is taken as a whole, by what is not in the log.
#[inline(always)]
pub(crate) unsafe fn meets() {
    if !MET.get() && schedule::running() && reach::others_are_there() {
        MET.set(true);
        annotations::tell();
        log::escape(Escape::Whole, 0, 0, 0);
    }
}

/// Whether that was noted.
#[unsafe(link_section = ".data.racehunter")]
static MET: Global<bool> = Global::new(false);

/// Notes that the standard library draws keys for hash maps.
pub(crate) unsafe fn draws() {
    if !DREW.get() && is_rust() && schedule::running() {
        DREW.set(true);
        log::escape(Escape::Keys, 0, 0, 0);
    }
}

/// Whether that was noted.
#[unsafe(link_section = ".data.racehunter")]
static DREW: Global<bool> = Global::new(false);

/// Resets the module between iterations of an in-process loop.
pub(crate) unsafe fn reset() {
    MET.set(false);
    DREW.set(false);
}

/// Notes that the running thread is about to unwind because of a panic. The end of the program decides whether that is a bug.
#[unsafe(no_mangle)]
unsafe extern "C" fn __rh_panics() {
    if !schedule::running() {
        return;
    }
    let number = CURRENT.get();
    let t = thread(number);
    let mut stack = 0;
    if schedule::flags() & FLAG_STACKS != 0 {
        // The innermost frame belongs to the standard library, so the last noted place does not apply.
        let code = core::mem::replace(&mut (*t).code, 0);
        stack = log::stack_of(t);
        (*t).code = code;
    }
    // The message of the panic has this number too.
    let object = futex::thread_id() as u64;
    log::put(Record { index: schedule::now(), thread: number, stack, object, kind: Kind::Panic, ..Record::default() });
}

/// Takes the place of `_Unwind_Backtrace` where the standard library prints the backtrace of a panic: it has no frames.
#[unsafe(no_mangle)]
unsafe extern "C" fn __rh_no_backtrace(_: usize, _: usize) -> i32 {
    const END_OF_STACK: i32 = 5;
    END_OF_STACK
}
