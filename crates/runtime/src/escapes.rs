//! What is not under control and has to be looked for: foreign kernel threads, and uninstrumented code.
//!
//! What calls the runtime (`fork`, input from outside) is logged where it happens; [`crate::reach`] handles
//! uninstrumented code that the program calls.

use crate::thread::{COUNT, CURRENT, LIVE, State, Thread, thread, threads};
use crate::{Global, afterlife, fiber, kernel, log, outcome, schedule, scopes, server, sys};
use racehunter_abi::{Escape, ThreadId};
use racehunter_machine::memory;

/// Bit per [`Escape`] that was logged already: each is logged once in an execution.
#[unsafe(link_section = ".data.racehunter")]
static LOGGED: Global<u64> = Global::new(0);
/// The thread + 1 that was the first to open or close a descriptor beside others.
#[unsafe(link_section = ".data.racehunter")]
static OPENS_FILES: Global<u32> = Global::new(0);

/// The execution did something whose result here is one of several permitted ones: a claim assumes that result.
unsafe fn assume(what: Escape) {
    let bit = 1 << what as u64;
    if LOGGED.get() & bit == 0 {
        LOGGED.set(LOGGED.get() | bit);
        log::escape(what, 0, 0, 0);
    }
}

/// A weak compare-exchange is about to be made. The language allows it to fail spuriously; here it does not.
pub(crate) unsafe fn weak_exchange() {
    if LIVE.get() > 1 {
        assume(Escape::WeakExchange);
    }
}

/// A race was left out, or accesses are not checked: an annotation of the program asks for that, or they are on one of the
/// standard streams of C++.
pub(crate) unsafe fn excused() {
    if LIVE.get() > 1 {
        assume(Escape::Excused);
    }
}

/// Memory is given back to the allocator. Where it would come back at once without the quarantine, others might meet it
/// again at the same address; a claim rests on that.
#[inline]
pub(crate) unsafe fn freed() {
    if LIVE.get() > 1 {
        assume(Escape::Freed);
    }
}

/// A freed block leaves the quarantine: whether it is used or freed once more is not noticed from here on.
pub(crate) unsafe fn let_go() {
    if schedule::running() && COUNT.get() > 1 {
        assume(Escape::LetGo);
    }
}

/// A wait on a condition variable has a deadline. POSIX lets it end without reason too, before that.
pub(crate) unsafe fn timed_wait() {
    assume(Escape::TimedWait);
}

/// The execution was one iteration of a loop in a process that goes on.
pub(crate) unsafe fn is_iteration() {
    assume(Escape::Iteration);
}

/// A thread has a smaller stack than others, which here it has not.
pub(crate) unsafe fn small_stack() {
    assume(Escape::SmallStack);
}

/// A thread gets a stack from the program, which can do other things with the memory.
pub(crate) unsafe fn own_stack() {
    assume(Escape::OwnStack);
}

/// A large block may have been resized where it is.
pub(crate) unsafe fn stays() {
    if LIVE.get() > 1 {
        assume(Escape::Stays);
    }
}

/// A thread takes a reader-writer lock for reading that it has for reading already. POSIX lets it wait for a writer that waits
/// for it.
pub(crate) unsafe fn reads_again() {
    assume(Escape::ReadsAgain);
}

/// A thread waits on a futex in such a way that the schedule does not let it go for no reason, as the kernel may.
pub(crate) unsafe fn futex_wait() {
    assume(Escape::FutexWait);
}

/// A descriptor was made or closed. Which numbers are free then depends on what other threads have open, and their calls are not
/// ordered by the schedule for the sake of that.
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

/// A thread is created. The C library would give it the handle, the stack and the thread-local variables of an ended
/// one; here each thread has its own.
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

/// The running thread is about to access memory. On the stack of another thread, everything below where that thread
/// has left the program belongs to functions that have returned, and what is above may belong to blocks that have ended.
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
    // Between where it was left and its last frame in the program there are only frames of the runtime and of libraries.
    let has_returned = || address < (*t).rsp || outcome::left_program_at(t).is_some_and(|at| address < at);
    if left && (has_returned() || scopes::has_ended(t, address)) {
        used_too_late(code);
    }
}

/// A thread uses a local variable of another one after the end of its life, or without being ordered before that.
pub(crate) unsafe fn used_too_late(code: usize) {
    if !HAS_RETURNED.get() {
        HAS_RETURNED.set(true);
        log::escape(Escape::Returned, code, 0, 0);
    }
}

/// The program reads a clock.
pub(crate) unsafe fn looked_at_clock() {
    assume(Escape::Clock);
}

/// The execution is about to end.
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

/// A thread that has run is about to end, or will not continue: did it run only uninstrumented code?
///
/// An instrumented function that accesses memory or calls another one leaves a frame. A thread without any has run
/// functions of other code, or instrumented ones that do nothing. Code of libraries does something, because otherwise
/// no thread would be started for it. For code of the executable itself, a call of the runtime decides.
pub(crate) unsafe fn look_at(t: *mut Thread) {
    let did_something = (*t).code != 0 || !outcome::in_executable((*t).start);
    if did_something && (*(*t).stack).code == 0 {
        log::escape(Escape::Uninstrumented, (*t).created_at, log::relative((*t).start).0 as usize, 0);
    }
}

/// Whether there are kernel threads that the runtime does not know of.
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
