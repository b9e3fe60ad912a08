//! Escapes that have to be looked for: foreign kernel threads, and uninstrumented code.
//!
//! Calls into the runtime (`fork`, input from outside) are logged where they happen; [`crate::reach`] handles uninstrumented
//! code that the program calls.

use crate::thread::{COUNT, CURRENT, LIVE, State, Thread, thread, threads};
use crate::{Global, afterlife, fiber, kernel, log, outcome, schedule, scopes, server, sys};
use racehunter_abi::{Escape, ThreadId, UNMODELLED_FUNCTION, UNMODELLED_LEFT, UNMODELLED_OUTSIDE};
use racehunter_machine::memory;

/// One bit per [`Escape`] already logged: each is logged once per execution.
#[unsafe(link_section = ".data.racehunter")]
static LOGGED: Global<u64> = Global::new(0);
/// The thread + 1 that was the first to open or close a descriptor while there were others.
#[unsafe(link_section = ".data.racehunter")]
static OPENS_FILES: Global<u32> = Global::new(0);

/// Logs that the result of an operation here is one of several permitted ones: a claim assumes that result.
unsafe fn assume(what: Escape) {
    let bit = 1 << what as u64;
    if LOGGED.get() & bit == 0 {
        LOGGED.set(LOGGED.get() | bit);
        log::escape(what, 0, 0, 0);
    }
}

/// Notes a weak compare-exchange. The language allows it to fail spuriously; here it does not.
pub(crate) unsafe fn weak_exchange() {
    if LIVE.get() > 1 {
        assume(Escape::WeakExchange);
    }
}

/// Notes that a race was left out, or accesses are not checked: an annotation of the program asks for that, or they are on one
/// of the standard streams of C++.
pub(crate) unsafe fn excused() {
    if LIVE.get() > 1 {
        assume(Escape::Excused);
    }
}

/// Notes a freed block. Without the quarantine, the allocator could reuse its address at once; a claim assumes that this does
/// not matter.
#[inline]
pub(crate) unsafe fn freed() {
    if LIVE.get() > 1 {
        assume(Escape::Freed);
    }
}

/// Notes that a freed block leaves the quarantine: later uses or frees of it are not noticed.
pub(crate) unsafe fn let_go() {
    if schedule::running() && COUNT.get() > 1 {
        assume(Escape::LetGo);
    }
}

/// Notes a timed wait on a condition variable. POSIX also lets it end spuriously before its deadline.
pub(crate) unsafe fn timed_wait() {
    assume(Escape::TimedWait);
}

/// Notes a relaxed store that continues the release sequence of its own thread, which depends on the version of the language.
pub(crate) unsafe fn own_sequence() {
    if LIVE.get() > 1 {
        assume(Escape::OwnSequence);
    }
}

/// Notes that the execution was one iteration of a loop in a process that continues.
pub(crate) unsafe fn is_iteration() {
    assume(Escape::Iteration);
}

/// Notes that the program has threads outside of the loop, or another loop.
pub(crate) unsafe fn others_are_outside(code: usize) {
    log::escape(Escape::Unmodelled, code, (UNMODELLED_FUNCTION + UNMODELLED_OUTSIDE) as usize, 0);
}

/// Notes that the program has left the loop in the middle of an iteration, and ends with success.
pub(crate) unsafe fn leaves_loop(code: usize) {
    log::escape(Escape::Unmodelled, code, (UNMODELLED_FUNCTION + UNMODELLED_LEFT) as usize, 0);
}

/// Notes a thread with a smaller stack than usual, which here has more room.
pub(crate) unsafe fn small_stack() {
    assume(Escape::SmallStack);
}

/// Notes a thread on a stack of the program, which can use the memory for other things.
pub(crate) unsafe fn own_stack() {
    assume(Escape::OwnStack);
}

/// Notes that a large block may have been resized in place.
pub(crate) unsafe fn stays() {
    if LIVE.get() > 1 {
        assume(Escape::Stays);
    }
}

/// Notes that a thread takes a reader-writer lock for reading that it already holds for reading. POSIX lets it wait for a writer
/// that waits for it.
pub(crate) unsafe fn reads_again() {
    assume(Escape::ReadsAgain);
}

/// Notes a futex wait that here does not end spuriously, as the kernel allows.
pub(crate) unsafe fn futex_wait() {
    assume(Escape::FutexWait);
}

/// Notes that a descriptor was opened or closed. Which numbers are free depends on what other threads have open, and the
/// schedule does not order their calls for that.
pub(crate) unsafe fn renumbered() {
    if COUNT.get() <= 1 {
        return;
    }
    let running = CURRENT.get().0 + 1;
    match OPENS_FILES.get() {
        0 => OPENS_FILES.set(running),
        only if only != running => assume(Escape::Descriptors),
        _ => {}
    }
}

/// Notes a created thread. The C library would give it the handle, the stack and the thread-local variables of an ended one;
/// here each thread has its own.
pub(crate) unsafe fn created() {
    let is_over = |number: ThreadId| {
        let t = thread(number);
        (*t).state == State::Done && !(*t).internal && ((*t).joined || (*t).detached)
    };
    if threads().skip(1).any(is_over) {
        assume(Escape::Reused);
    }
}

unsafe extern "C" {
    /// The end of the executable's global variables. Stacks are above.
    static _end: u8;
}

#[unsafe(link_section = ".data.racehunter")]
static HAS_RETURNED: Global<bool> = Global::new(false);

/// Checks a memory access of the running thread. On the stack of another thread, everything below the point where that thread
/// left the program belongs to functions that have returned, and memory above may belong to blocks that have ended.
pub(crate) unsafe fn touches(address: usize, code: usize) {
    if COUNT.get() < 2 || HAS_RETURNED.get() || address < &raw const _end as usize {
        return;
    }
    let main = afterlife::stack_of_main();
    let of = |number: ThreadId| {
        let t = thread(number);
        if number == ThreadId::MAIN { main.clone() } else { (*t).fs.saturating_sub((*t).stack_size)..(*t).fs }
    };
    if of(CURRENT.get()).contains(&address) {
        return;
    }
    let Some(owner) = threads().find(|&number| of(number).contains(&address)) else { return };
    let t = thread(owner);
    (*t).used_by_others = memory::extended((*t).used_by_others, address, address + 1);
    let left = !(*t).foreign_stack && !matches!((*t).state, State::Done | State::Free) && fiber::was_left(t);
    // Between there and its last frame in the program there are only frames of the runtime and of libraries.
    let has_returned = || address < (*t).rsp || outcome::left_program_at(t).is_some_and(|at| address < at);
    if left && (has_returned() || scopes::has_ended(t, address)) {
        used_too_late(code);
    }
}

/// Notes that a thread uses a local variable of another one after its lifetime, or without being ordered before its end.
pub(crate) unsafe fn used_too_late(code: usize) {
    if !HAS_RETURNED.get() {
        HAS_RETURNED.set(true);
        log::escape(Escape::Returned, code, 0, 0);
    }
}

/// Notes that the program reads a clock.
pub(crate) unsafe fn looked_at_clock() {
    assume(Escape::Clock);
}

/// Looks for escapes at the end of the execution.
pub(crate) unsafe fn look() {
    let cut_short = |&number: &ThreadId| {
        let t = thread(number);
        !matches!((*t).state, State::Done | State::Free) && (number == CURRENT.get() || fiber::was_left(t))
    };
    threads().skip(1).filter(cut_short).for_each(|number| look_at(thread(number)));
    if server::is_worth_a_look() && kernel_threads_of_others() {
        log::escape(Escape::Threads, 0, 0, 0);
    }
}

/// Checks whether a thread that is about to end, or will not continue, ran only uninstrumented code.
///
/// An instrumented function that accesses memory or calls another one leaves a frame. A thread without any has run functions of
/// other code, or instrumented ones that do nothing. Code of libraries does something, because otherwise no thread would be
/// started for it. For code of the executable itself, a call of the runtime decides.
pub(crate) unsafe fn look_at(t: *mut Thread) {
    let did_something = (*t).code != 0 || !outcome::in_executable((*t).start);
    if did_something && (*(*t).stack).code == 0 {
        log::escape(Escape::Uninstrumented, (*t).created_at, log::relative((*t).start).0 as usize, 0);
    }
}

/// Returns whether there are kernel threads unknown to the runtime.
unsafe fn kernel_threads_of_others() -> bool {
    const STAT: usize = 4;
    const NANOSLEEP: usize = 35;
    /// The directory itself and its parent count too.
    const LINKS: u64 = 2;
    // The kernel takes a moment to clean up the kernel thread that a new fiber leaves.
    const TRIES: u32 = 20;
    const MOMENT: [u64; 2] = [0, 500_000];
    for _ in 0..TRIES {
        // `struct stat`; the number of links is its third word.
        let mut status = [0_u64; 18];
        let failed = sys::call(STAT, c"/proc/self/task".as_ptr() as usize, status.as_mut_ptr() as usize, 0, 0) != 0;
        if failed || status[2] <= u64::from(kernel::known()) + LINKS {
            return false;
        }
        sys::call(NANOSLEEP, MOMENT.as_ptr() as usize, 0, 0, 0);
    }
    true
}
