//! In-process loops: `racehunter.h`.
//!
//! A program that can reset itself runs many executions in one process, without a fork for each. The body of the loop
//! is the execution; what the program does around it is not. The first iterations are preparatory: they run without a
//! plan and absorb lazy initialisation.

use crate::sync::interpose;
use crate::thread::{
    COUNT, CURRENT, INTERNAL, LIVE, State, every_thread, make_ready, me, next_ready, ready_count, thread,
};
use crate::{
    Global, afterlife, arena, clock, escapes, io, outcome, reports, schedule, server, signals, start, storage, sync,
    sys, time, timers,
};
use racehunter_abi::control::OUTCOME_EXITED;
use racehunter_abi::{Cause, Kind, ThreadId, Wait};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Outside,
    Preparing(u32),
    Running,
}

interpose! {
    racehunter_on_start => begin, "rdi";
    racehunter_on_restart => end, "rdi";
}

#[unsafe(link_section = ".data.racehunter")]
static STAGE: Global<Stage> = Global::new(Stage::Outside);
#[unsafe(link_section = ".data.racehunter")]
static MARK: Global<usize> = Global::new(0);
/// The loop has ended. What comes after it is not explored.
#[unsafe(link_section = ".data.racehunter")]
static IS_OVER: Global<bool> = Global::new(false);

/// Whether this process runs a loop, or prepares to.
pub(crate) fn is_on() -> bool {
    STAGE.get() != Stage::Outside
}

/// Resets everything as if no thread but `main` had ever existed.
unsafe fn reset() {
    if MARK.get() != 0 {
        let threads = COUNT.get();
        sync::condition::reset();
        signals::reset();
        io::reset();
        sync::files::reset();
        storage::look_at_libraries();
        crate::thread::reset();
        reports::reset();
        crate::world::random::reset();
        afterlife::empty_quarantine();
        arena::rewind(MARK.get());
        clock::settle(threads);
    }
    MARK.set(arena::mark());
    time::reset();
}

/// Called when the program creates a thread.
pub(crate) unsafe fn creates_thread() {
    if IS_OVER.get() && server::has_controller() {
        (*server::header()).outside = 1;
    }
}

/// The body of the loop begins.
unsafe extern "C" fn begin(_code: usize) {
    if !server::has_controller() {
        return;
    }
    if IS_OVER.get() {
        (*server::header()).outside = 1;
        return;
    }
    if CURRENT.get() != ThreadId::MAIN {
        outcome::end_unmodelled(c"a loop in one process that another thread than main runs");
    }
    let first = STAGE.get() == Stage::Outside;
    if first {
        start::is_over();
        (*server::header()).loops = 1;
        if every_thread().any(|t| (*t).number != ThreadId::MAIN && !(*t).internal) {
            (*server::header()).outside = 1;
        }
        schedule::end();
        STAGE.set(Stage::Preparing((*server::header()).preparatory));
    }
    // Objects that were initialised before stay valid. They are recreated in every iteration, and no lock can be held here.
    sync::objects::keep_settings();
    timers::iterations::keep();
    sync::objects::reset();
    reset();
    sync::objects::restore_settings();
    timers::iterations::restore();
    let header = server::header();
    match STAGE.get() {
        Stage::Preparing(0) => {
            STAGE.set(Stage::Running);
            (*header).preparing = 0;
            server::begin_again();
        }
        Stage::Running => server::begin_next(),
        Stage::Preparing(left) => {
            (*header).preparing = (*header).preparatory.saturating_sub(left) + 1;
            schedule::begin_without_plan();
        }
        Stage::Outside => schedule::begin_without_plan(),
    }
    timers::iterations::resume();
}

/// Called when a thread ends the program. What follows the loop then decides whether the test has passed, and it does not run
/// after the iterations that reach their end: a test that should panic fails if one does not.
pub(crate) unsafe fn exits(status: i32, code: usize) {
    if status == 0 && matches!(STAGE.get(), Stage::Running) && !IS_OVER.get() {
        escapes::leaves_loop(code);
    }
}

/// Undoes what the body has changed of objects and timers that existed before it.
unsafe fn roll_back() {
    sync::objects::roll_settings_back();
    timers::iterations::roll_back();
}

/// Ends the body of the loop. Returns whether to run it again.
unsafe extern "C" fn end(code: usize) -> i32 {
    match STAGE.get() {
        Stage::Outside => 0,
        Stage::Running if IS_OVER.get() => 0,
        Stage::Preparing(left) => {
            drain();
            roll_back();
            STAGE.set(Stage::Preparing(left - 1));
            1
        }
        Stage::Running => {
            drain();
            storage::look_at_libraries();
            let reusable = LIVE.get() == 1 + INTERNAL.get() && !clock::has_used_much() && storage::is_known();
            escapes::is_iteration();
            if (*server::header()).outside != 0 {
                escapes::others_are_outside(code);
            }
            outcome::publish(OUTCOME_EXITED);
            if !reusable {
                // A thread is still blocked somewhere, or something cannot be reset: the next execution gets a new process.
                sys::exit_group(0);
            }
            roll_back();
            IS_OVER.set((*server::header()).once != 0 || !server::has_next());
            i32::from(!IS_OVER.get())
        }
    }
}

/// `main` waits in [`drain`].
#[unsafe(link_section = ".data.racehunter")]
static DRAINS: Global<bool> = Global::new(false);

/// Threads that were not joined run to their end, or as far as they get: `main` waits for them. It does not choose to go on before
/// them, and is not preempted by them.
unsafe fn drain() {
    while let Some(other) = next_ready(me()).filter(|&other| other != me()) {
        DRAINS.set(true);
        schedule::wait_after(Wait::Join, other.index(), None, Cause::Blocked);
        DRAINS.set(false);
    }
}

/// No thread can run. If `main` only waits for the others to get no further, it continues; returns whether it does.
pub(crate) unsafe fn ends_drain() -> bool {
    let main = thread(ThreadId::MAIN);
    let ends = DRAINS.get() && ready_count() == 0 && (*main).state == State::Blocked;
    if ends {
        (*main).interrupted = true;
        make_ready(main);
        schedule::log_state(main, Kind::Woken, schedule::now().next());
    }
    ends
}
