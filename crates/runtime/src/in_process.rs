//! In-process loops: `racehunter.h`.
//!
//! A program that can reset itself runs many executions in one process, without a fork for each. The body of the loop
//! is the execution; what the program does around it is not. The first iterations are preparatory: they run without a
//! plan and absorb lazy initialisation.

use crate::thread::{COUNT, INTERNAL, LIVE, ready_count};
use crate::{
    Global, afterlife, arena, clock, escapes, io, outcome, reports, schedule, server, signals, start, sync, sys,
    thread, time, timers,
};
use racehunter_abi::control::OUTCOME_EXITED;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Outside,
    Preparing(u32),
    Running,
}

#[unsafe(link_section = ".data.racehunter")]
static STAGE: Global<Stage> = Global::new(Stage::Outside);
#[unsafe(link_section = ".data.racehunter")]
static MARK: Global<usize> = Global::new(0);

/// Resets everything as if no thread but `main` had ever existed.
unsafe fn reset() {
    if MARK.get() != 0 {
        let threads = COUNT.get();
        sync::objects::reset();
        sync::condition::reset();
        signals::reset();
        timers::reset();
        io::reset();
        sync::files::reset();
        thread::reset();
        reports::reset();
        crate::world::random::reset();
        afterlife::empty_quarantine();
        arena::rewind(MARK.get());
        clock::settle(threads);
    }
    MARK.set(arena::mark());
    time::reset();
}

/// The body of the loop begins.
#[unsafe(no_mangle)]
unsafe extern "C" fn racehunter_on_start() {
    if !server::has_controller() {
        return;
    }
    let first = STAGE.get() == Stage::Outside;
    if first {
        start::is_over();
        (*server::header()).loops = 1;
        schedule::end();
        STAGE.set(Stage::Preparing((*server::header()).preparatory));
        // Synchronisation before the loop stays valid: objects are recreated in every iteration, and no lock can be
        // held here.
        sync::objects::reset();
    }
    reset();
    match STAGE.get() {
        Stage::Preparing(0) => {
            STAGE.set(Stage::Running);
            server::begin_again();
        }
        Stage::Running => server::begin_next(),
        Stage::Preparing(_) | Stage::Outside => schedule::begin_without_plan(),
    }
}

/// Ends the body of the loop. Returns whether to run it again.
#[unsafe(no_mangle)]
unsafe extern "C" fn racehunter_on_restart() -> i32 {
    match STAGE.get() {
        Stage::Outside => 0,
        Stage::Preparing(left) => {
            drain();
            STAGE.set(Stage::Preparing(left - 1));
            1
        }
        Stage::Running => {
            drain();
            let reusable = LIVE.get() == 1 + INTERNAL.get();
            escapes::is_iteration();
            outcome::publish(OUTCOME_EXITED);
            if !reusable {
                // A thread is still blocked somewhere: the next execution gets a new process.
                sys::exit_group(0);
            }
            i32::from(server::has_next())
        }
    }
}

/// Lets threads that were not joined run to their end.
unsafe fn drain() {
    // A plan with further switches for this execution, which has ended, does not fit: no thread would ever be chosen.
    const MOST: u32 = 10_000;
    let (mut left, mut seen) = (MOST, schedule::switches());
    while ready_count() > 1 {
        schedule::yield_after();
        left = if schedule::switches() == seen { left - 1 } else { MOST };
        seen = schedule::switches();
        if left == 0 {
            outcome::diverged(schedule::now().next());
        }
    }
}

/// The loop as one call.
#[unsafe(no_mangle)]
unsafe extern "C" fn racehunter_loop(test: extern "C" fn(), reset: Option<extern "C" fn()>) -> i32 {
    loop {
        if let Some(reset) = reset {
            reset();
        }
        racehunter_on_start();
        test();
        if racehunter_on_restart() == 0 {
            return 0;
        }
    }
}
