//! Chooses the thread that continues when the plan does not say.

use super::{PLAN, WALK, close, close_for, flags, minds, partner_at, spin};
use crate::thread::{
    CURRENT, LIVE, SUSPENDED, State, Thread, next_ready, next_suspended, ready_count, ready_thread, thread, threads,
};
use crate::{hold, in_process, io, log, outcome, signals, sync, track, watchdog};
use racehunter_abi::control::{FLAG_SPURIOUS, OUTCOME_DEADLOCK, TAIL_MIN_SWITCHES};
use racehunter_abi::{Cause, EventNumber, ThreadId, Wait};
use racehunter_walk::Next;

/// Returns whether the plan may choose this thread.
pub(super) unsafe fn possible(number: ThreadId) -> bool {
    number.0 < crate::thread::COUNT.get()
        && (matches!((*thread(number)).state, State::Ready | State::Suspended)
            || may_wake(thread(number))
            || spin::waits(thread(number))
            || hold::let_go(number)
            || number == ThreadId::MAIN && in_process::ends_drain()
            || sync::shared::bring(thread(number)))
}

/// Returns whether wake-ups are choices of the schedule.
pub(crate) fn chooses_wakeups() -> bool {
    flags() & FLAG_SPURIOUS != 0
}

/// Returns whether the thread waits on a condition variable or a futex, and may wake up spuriously.
pub(super) unsafe fn may_wake(t: *const Thread) -> bool {
    chooses_wakeups() && (*t).state == State::Blocked && matches!((*t).pending, Wait::Condition | Wait::Futex)
}

/// Draws a thread that wakes up spuriously, which is as rare as a time-out.
unsafe fn spurious_wakeup() -> Option<ThreadId> {
    const ONE_IN: u64 = 16;
    let walk = WALK.ptr();
    if !is_any_wakeup() || !(*walk).rarely(ONE_IN) {
        return None;
    }
    let count = wakeups().count() as u64;
    wakeups().nth((*walk).below(count) as usize)
}

/// Returns the threads that may wake up spuriously.
unsafe fn wakeups() -> impl Iterator<Item = ThreadId> {
    threads().filter(|&number| may_wake(thread(number)))
}

unsafe fn is_any_wakeup() -> bool {
    chooses_wakeups() && LIVE.get() > ready_count() && wakeups().next().is_some()
}

/// Returns whether a thread that the plan chooses waits for input that arrives once it is requested.
pub(super) unsafe fn waits_outside(number: ThreadId) -> bool {
    number.0 < crate::thread::COUNT.get() && io::bring(thread(number))
}

/// Returns the next operation of a thread that can run.
unsafe fn next(number: ThreadId) -> Next {
    let t = thread(number);
    let (object, changes) = ((*t).next_object as u64, (*t).next_changes);
    let chosen = track::is_active() && track::has(object as usize);
    // A thread that has just begun, or comes out of a wait, has not announced its next operation.
    let code = if object == 0 { 0 } else { log::relative((*t).code).0 };
    Next { thread: (*t).number.0, path: (*t).path, object, changes, chosen, code }
}

/// Returns whether the running thread is the only one that can run, others wait for time, and a read constraint would
/// make it wait for them.
pub(super) unsafe fn is_held_back_alone() -> bool {
    track::has_constraints()
        && LIVE.get() > ready_count()
        && (*WALK.ptr()).holds_all_back(core::iter::once(next(CURRENT.get())))
}

/// Returns whether the running thread, the only one that can run, continues at every point until another one can.
pub(super) unsafe fn is_certain_alone() -> bool {
    let walk = WALK.ptr();
    (*PLAN.ptr()).tail != TAIL_MIN_SWITCHES
        && ((*walk).follows_priorities() || !(*walk).has_open_constraints() && minds::alone())
}

/// Number of threads whose next operations are found out only once per choice.
const FEW: usize = 8;

/// Returns the thread that continues when the plan does not say.
pub(super) unsafe fn choose(n: EventNumber, from: ThreadId, able: bool, cause: Cause) -> ThreadId {
    let plan = PLAN.ptr();
    if let Some(partner) = partner_at(n) {
        return partner;
    }
    if let Some(left) = watchdog::overdue(n) {
        return left;
    }
    let ready = ready_count();
    if (*plan).tail != TAIL_MIN_SWITCHES && ready > 0 && (*plan).running {
        let walk = WALK.ptr();
        match cause {
            Cause::Fair => (*walk).gives_way(from.0),
            Cause::Yield if !able => (*walk).sleeps(from.0),
            _ => {}
        }
        let next = |position: u32| next(ready_thread(position));
        if LIVE.get() > ready
            && (*walk).holds_all_back((0..ready).map(next))
            && let Some(late) = next_suspended()
        {
            return late;
        }
        // A time-out is a possible choice too, but a rare one: most programs set them generously.
        const ONE_IN: u64 = 16;
        if LIVE.get() > ready
            && (*walk).rarely(ONE_IN)
            && let Some(late) = next_suspended()
        {
            return late;
        }
        if let Some(woken) = spurious_wakeup() {
            return woken;
        }
        // A thread whose turn was too long must give way.
        let must_go = cause == Cause::Fair && ready > 1;
        let stays = |next: &Next| !(must_go && next.thread == from.0);
        let chosen = if (*walk).goes_by_priority() {
            let next = |number: ThreadId| Next::unknown(number.0, (*thread(number)).path);
            (*walk).choose(from.0, (0..ready).map(|position| next(ready_thread(position))).filter(stays))
        } else if ready as usize <= FEW {
            // A walk looks at them several times.
            let mut all = [Next::unknown(0, 0); FEW];
            let all = &mut all[..ready as usize];
            (0..ready).zip(&mut *all).for_each(|(position, place)| *place = next(position));
            (*walk).choose(from.0, all.iter().copied().filter(stays))
        } else {
            (*walk).choose(from.0, (0..ready).map(next).filter(stays))
        };
        if SUSPENDED.get() == 0 && !is_any_wakeup() {
            if (*walk).follows_priorities() {
                close();
            } else if able
                && ready > 1
                && cause == Cause::Strategy
                && let Some(chosen) = chosen
            {
                let luck = LIVE.get() > ready;
                let certain = (*walk).certain_choices(chosen, (0..ready).map(next), luck);
                if let Some(choices) = certain.filter(|&choices| choices > 0)
                    && minds::choice(chosen, (0..ready).map(next))
                {
                    close_for(choices, luck);
                }
            }
        }
        return chosen.map_or(from, ThreadId);
    }
    if able && cause == Cause::Strategy {
        return from;
    }
    // A thread whose turn was too long, and has no other to give way to, lets time pass.
    if cause == Cause::Fair
        && ready == 1
        && let Some(late) = next_suspended()
    {
        return late;
    }
    // `next_ready` reaches the running thread last, so a yielding thread continues only if it is alone.
    if let Some(next) = next_ready(from) {
        return next;
    }
    if in_process::ends_drain() {
        return ThreadId::MAIN;
    }
    let late = next_suspended();
    // A thread that was blocked outside may be able to continue by now, and meet the held one. If not, the watchdog
    // releases it.
    if let (true, None, Some(left)) = (hold::is_holding(), late, watchdog::left()) {
        return left;
    }
    if hold::is_holding()
        && io::client::lets_another_continue()
        && let Some(next) = next_ready(from)
    {
        return next;
    }
    if let Some(held) = hold::give_up(late.is_some()) {
        return held;
    }
    if (io::nothing_is_ready() || sync::shared::await_others())
        && let Some(next) = next_ready(from)
    {
        return next;
    }
    if sync::lets_overwritten_go()
        && let Some(next) = next_ready(from)
    {
        return next;
    }
    // Time changes nothing for a cycle of locks, and a periodic timer would hide it.
    if late.is_some() && sync::holds_a_cycle() {
        outcome::finish(OUTCOME_DEADLOCK)
    }
    if let Some(next) = late.or_else(|| watchdog::left()) {
        return next;
    }
    if (signals::from_children() || signals::from_anywhere())
        && let Some(next) = next_ready(from)
    {
        return next;
    }
    if let Some(spinning) = spin::give_up(from) {
        return spinning;
    }
    outcome::finish(OUTCOME_DEADLOCK)
}
