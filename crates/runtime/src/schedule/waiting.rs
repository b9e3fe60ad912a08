//! Threads that cannot continue, and what lets them.
//!
//! An operation that others can make impossible is announced ([`acquire`]); one after which a thread waits is followed
//! by [`wait_until`]. Code that changes an object calls [`refresh`], so that the set of ready threads is exact at every
//! decision.

use super::{count, decide_and_switch, due, is_decided, may_wake, now, pass, passed_point, settle, spin, uncount};
use crate::thread::{CURRENT, State, Thread, current, make_ready, make_unready, thread, threads};
use crate::{debug, log, signals, sync, time};
use racehunter_abi::{Cause, EventNumber, Kind, Record, ThreadId, Wait};
pub(crate) use racehunter_machine::wait::{End, EndsBy};
use racehunter_machine::{Deadline, Neighbours};

/// What a thread waits for, and what else can end the wait.
#[derive(Clone, Copy)]
pub(crate) struct Waiting {
    pub wait: Wait,
    pub object: usize,
    pub deadline: Option<Deadline>,
    pub ends_by: EndsBy,
}

/// Waits until an operation of the running thread is possible, which depends on `object`, and counts the event. With a
/// deadline it may return without: see `timed_out`. Returns the event's number.
pub(crate) unsafe fn acquire_point(code: usize, wait: Wait, object: usize, deadline: Option<Deadline>) -> EventNumber {
    acquire(code, Waiting { wait, object, deadline, ends_by: EndsBy::NOTHING }).0
}

/// As [`acquire_point`], for operations that signals or cancellation can end. The event is counted however it ends.
pub(crate) unsafe fn acquire(code: usize, waiting: Waiting) -> (EventNumber, End) {
    let t = current();
    if spin::is_awaited() {
        spin::review(now());
    }
    spin::moves_on();
    (*t).code = code;
    (*t).next_object = waiting.object;
    (*t).next_changes = true;
    // With a deadline that has passed the thread can always go on. Whether the operation is possible counts only then: other
    // threads may have run since it was announced.
    let at_once = waiting.deadline.is_some_and(time::has_passed);
    begin_wait(t, waiting);
    (*t).timed_out = at_once;
    let n = loop {
        // Handlers that run meanwhile can make the operation impossible again, so nothing is counted before it is
        // certain.
        if goes_on(t) {
            if let Some(n) = pass(code, waiting.object, true) {
                break n;
            }
            let n = count();
            if is_decided(n) {
                break settle(n);
            }
            let Some(cause) = due(n, true) else { break n };
            uncount();
            decide_and_switch(n, true, cause);
        } else {
            let n = now().next();
            suspend(t, n);
            decide_and_switch(n, false, Cause::Blocked);
        }
    };
    passed_point(n);
    debug::reached(n);
    log::expect(n);
    if at_once {
        (*t).timed_out = false;
        (*t).timed_out = !goes_on(t);
    }
    // A request that was already pending comes before the effects of the operation.
    if signals::cancel::ends_wait(t) {
        end_wait(t);
        return (n, End::Cancelled);
    }
    (n, end_wait(t))
}

/// Waits after an operation that the running thread has performed; the decision that follows is for the next event.
/// Returns when the thread was chosen to continue.
pub(crate) unsafe fn wait_after(wait: Wait, object: usize, deadline: Option<Deadline>, cause: Cause) {
    wait_until(Waiting { wait, object, deadline, ends_by: EndsBy::NOTHING }, cause);
}

/// As [`wait_after`], for waits that signals or cancellation can end.
pub(crate) unsafe fn wait_until(waiting: Waiting, cause: Cause) -> End {
    let t = current();
    begin_wait(t, waiting);
    loop {
        let n = now().next();
        suspend(t, n);
        decide_and_switch(n, false, cause);
        if goes_on(t) {
            return end_wait(t);
        }
    }
}

unsafe fn begin_wait(t: *mut Thread, waiting: Waiting) {
    (*t).timed_out = false;
    (*t).interrupted = false;
    (*t).broken_off = false;
    (*t).for_nothing = false;
    (*t).restarts = false;
    (*t).ends_by = waiting.ends_by;
    (*t).deadline = waiting.deadline.map_or(Deadline::NEVER, time::not_before_now);
    await_object(t, waiting.wait, waiting.object);
}

unsafe fn end_wait(t: *mut Thread) -> End {
    let end = End::of((*t).timed_out, (*t).broken_off, || sync::available(t), || signals::cancel::ends_wait(t));
    stop_awaiting(t);
    (*t).ends_by = EndsBy::NOTHING;
    end
}

/// Returns whether a waiting thread can stop waiting.
unsafe fn goes_on(t: *mut Thread) -> bool {
    (*t).timed_out || (*t).interrupted || sync::available(t) || signals::cancel::ends_wait(t)
}

pub(crate) unsafe fn await_object(t: *mut Thread, wait: Wait, object: usize) {
    (*t).pending = wait;
    (*t).object = object;
    sync::objects::add_waiter(wait, object);
}

pub(crate) unsafe fn stop_awaiting(t: *mut Thread) {
    sync::objects::remove_waiter((*t).pending, (*t).object);
    (*t).pending = Wait::Nothing;
}

/// Changes what a blocked thread waits for: a signalled waiter now waits for its mutex.
pub(crate) unsafe fn redirect(t: *mut Thread, wait: Wait, object: usize) {
    sync::objects::remove_waiter((*t).pending, (*t).object);
    await_object(t, wait, object);
    log_state(t, Kind::Blocked, now());
}

/// Removes a thread from the ready ones, before event `n`.
unsafe fn suspend(t: *mut Thread, n: EventNumber) {
    let timed = !(*t).deadline.is_never();
    make_unready(t, if timed { State::Suspended } else { State::Blocked });
    log_state(t, if timed { Kind::Suspended } else { Kind::Blocked }, n);
}

/// Changes when the waiting thread of a timer continues.
pub(crate) unsafe fn set_deadline(t: *mut Thread, deadline: Deadline) {
    (*t).deadline = deadline;
    suspend(t, now());
}

/// Updates the threads that are about to use `object`, which has changed.
pub(crate) unsafe fn refresh(wait_class: Wait, object: usize) {
    if sync::objects::has_waiters(wait_class, object) {
        refresh_waiters(object);
    }
}

/// As [`refresh`], for an object that was already looked up.
#[inline(always)]
pub(crate) unsafe fn refresh_known(known: *const sync::objects::Object, object: usize) {
    if (*known).waiters > 0 {
        refresh_waiters(object);
    }
}

unsafe fn refresh_waiters(object: usize) {
    let n = now();
    // With a thousand threads that contend for one mutex, a record for each of them at each of its operations would be
    // most of the log.
    let mut changes = Neighbours::default();
    for number in threads() {
        let t = thread(number);
        if (*t).object != object || (*t).pending == Wait::Nothing || number == CURRENT.get() {
            continue;
        }
        match (*t).state {
            State::Ready if !goes_on(t) && !signals::deliverable(t) => {
                if (*t).deadline.is_never() && (*t).pending != Wait::Condition {
                    make_unready(t, State::Blocked);
                    add(&mut changes, number, Kind::Blocked, n);
                } else {
                    suspend(t, n);
                }
            }
            State::Blocked | State::Suspended if sync::available(t) => {
                make_ready(t);
                add(&mut changes, number, Kind::Woken, n);
            }
            _ => {}
        }
    }
    log_changes(changes, n);
}

/// Adds a thread whose state has changed to those that are logged together.
unsafe fn add(changes: &mut Neighbours, number: ThreadId, kind: Kind, n: EventNumber) {
    if !changes.include(number.0) {
        log_changes(*changes, n);
        *changes = Neighbours::around(number.0);
    }
    if kind == Kind::Blocked { changes.block(number.0) } else { changes.wake(number.0) }
}

/// Logs a few changes one by one, and many together.
unsafe fn log_changes(changes: Neighbours, n: EventNumber) {
    const FEW: u32 = 4;
    for (threads, one, many) in
        [(changes.blocked, Kind::Blocked, Kind::BlockedSet), (changes.woken, Kind::Woken, Kind::WokenSet)]
    {
        if threads.count_ones() > FEW {
            let (object, extra) = (u64::from(changes.first), threads);
            log::put(Record { index: n, object, extra, thread: CURRENT.get(), kind: many, ..Record::default() });
        } else {
            changes.numbers(threads).for_each(|number| log_state(thread(ThreadId(number)), one, n));
        }
    }
}

/// Updates a thread after a change of what it waits for, or is about to use.
pub(crate) unsafe fn review(t: *mut Thread) {
    match (*t).state {
        State::Ready if !goes_on(t) && !signals::deliverable(t) => suspend(t, now()),
        State::Blocked | State::Suspended if sync::available(t) => wake(t),
        _ => {}
    }
}

/// Lets a blocked or suspended thread check whether it can continue.
pub(crate) unsafe fn wake(t: *mut Thread) {
    make_ready(t);
    log_state(t, Kind::Woken, now());
}

pub(crate) unsafe fn log_state(t: *mut Thread, kind: Kind, n: EventNumber) {
    if kind == Kind::Suspended {
        let (object, thread) = ((*t).deadline.nanoseconds(), (*t).number);
        log::put(Record { index: n, object, thread, kind: Kind::Deadline, ..Record::default() });
    }
    log::put(Record {
        index: n,
        code: log::relative((*t).code),
        object: (*t).object as u64,
        extra: u64::from(sync::owner((*t).pending, (*t).object).logged()),
        thread: (*t).number,
        kind,
        size: u8::from(kind == Kind::Blocked && may_wake(t)),
        detail: (*t).pending as u8,
        ..Record::default()
    });
}
