//! Condition variables. A signal wakes the thread that has waited longest. The standard does not specify which one; in
//! practice the C library wakes in the order of arrival.
//!
//! If wake-ups are choices of the schedule, a signal is a [`Permit`] instead, which any thread that waited before it
//! can take: all of them are ready, until one has taken it.

use super::{
    EINVAL, EPERM, ETIMEDOUT, interpose, interpose_cancellable, is_clock, is_time, misuse, mutex, objects, real,
};
use crate::schedule::{self, End, EndsBy, Waiting, acquire_point, point, redirect, refresh, spin};
use crate::signals::{self, cancel};
use crate::thread::{Awaits, State, Thread, current, every_thread, make_unready, next_ticket};
use crate::{Global, arena, escapes, log, time};
use racehunter_abi::{Cause, Kind, Misuse, Wait, detail};
use racehunter_machine::Deadline;
use racehunter_machine::sync::{self as machine, Grant, Ticket};

interpose! {
    pthread_cond_init => init, "rdx";
    pthread_cond_destroy => destroy, "rsi";
    pthread_cond_signal => signal, "rsi";
    __interceptor_pthread_cond_signal => signal, "rsi";
    pthread_cond_broadcast => broadcast, "rsi";
    __interceptor_pthread_cond_broadcast => broadcast, "rsi";
}

interpose_cancellable! {
    pthread_cond_wait => wait, "rdx";
    __interceptor_pthread_cond_wait => wait, "rdx";
    pthread_cond_timedwait => timed_wait, "rcx";
    pthread_cond_clockwait => clock_wait, "r8";
}

/// A signal that any thread that waited before it may take.
struct Permit {
    object: usize,
    ticket: Ticket,
    next: *mut Permit,
}

/// The oldest first.
static PERMITS: Global<*mut Permit> = Global::new(core::ptr::null_mut());

/// Forgets all permits, for the next iteration of an in-process loop.
pub(crate) fn reset() {
    PERMITS.set(core::ptr::null_mut());
}

/// Returns the link to the oldest permit that this waiter may take; null without one.
unsafe fn permit_for(at: usize, ticket: Ticket) -> *mut *mut Permit {
    let mut link = PERMITS.ptr();
    while !(*link).is_null() {
        if (**link).object == at && (**link).ticket.is_after(ticket) {
            return link;
        }
        link = &raw mut (**link).next;
    }
    core::ptr::null_mut()
}

pub(crate) unsafe fn available(t: *const Thread) -> bool {
    (*t).signalled || !permit_for((*t).object, (*t).ticket).is_null()
}

unsafe fn permits() -> impl Iterator<Item = *mut Permit> {
    let mut next = PERMITS.get();
    core::iter::from_fn(move || {
        let permit = next;
        // SAFETY: permits live in the arena as long as they are linked.
        (!permit.is_null()).then(|| next = unsafe { (*permit).next })?;
        Some(permit)
    })
}

/// Returns where the next permit goes.
unsafe fn last_link() -> *mut *mut Permit {
    permits().last().map_or(PERMITS.ptr(), |last| &raw mut (*last).next)
}

/// Takes the permit that lets the running thread continue.
unsafe fn take_permit(at: usize, ticket: Ticket) {
    let link = permit_for(at, ticket);
    if !link.is_null() {
        *link = (**link).next;
    }
}

/// Makes a signal that any of several waiters can take. With a single waiter it is an ordinary one.
unsafe fn grant(at: usize) -> bool {
    let waiters = every_thread().filter(|&t| waits(t, at)).map(|t| (*t).ticket);
    let permits = permits().filter(|&permit| (*permit).object == at).map(|permit| (*permit).ticket);
    let grant = machine::grant(waiters, permits);
    if grant == Grant::Permit {
        let permit = arena::take(size_of::<Permit>()) as *mut Permit;
        *permit = Permit { object: at, ticket: next_ticket(), next: core::ptr::null_mut() };
        *last_link() = permit;
        refresh(Wait::Condition, at);
    }
    grant != Grant::Wake
}

unsafe fn drop_permits(at: usize) {
    let mut link = PERMITS.ptr();
    while !(*link).is_null() {
        if (**link).object == at {
            *link = (**link).next;
        } else {
            link = &raw mut (**link).next;
        }
    }
}

unsafe fn forget(at: usize) {
    objects::forget(at);
    drop_permits(at);
}

pub(super) unsafe extern "C" fn init(at: usize, attributes: *const u32, code: usize) -> i32 {
    misuse::will_begin(at, code);
    forget(at);
    misuse::begins(at, code);
    // The attributes contain the clock of timed waits, which `timed_wait` needs.
    const CLOCK_SHIFT: u32 = 1;
    let clock = if attributes.is_null() { 0 } else { (*attributes >> CLOCK_SHIFT) & 1 };
    (*objects::get(Wait::Condition, at)).state.as_condition().clock = clock;
    let init: extern "C" fn(usize, *const u32) -> i32 = core::mem::transmute(real::cond_init());
    init(at, attributes)
}

pub(super) unsafe extern "C" fn destroy(at: usize, code: usize) -> i32 {
    point(code);
    misuse::used(at, Kind::Lifetime);
    let waiter = misuse::waiter(Wait::Condition, at);
    if !waiter.is_none() {
        misuse::report(Misuse::DestroyAwaited, at, waiter);
        return 0;
    }
    drop_permits(at);
    misuse::destroy(at);
    0
}

pub(super) unsafe extern "C" fn wait(at: usize, mutex: usize, code: usize) -> i32 {
    wait_until(at, mutex, None, code)
}

pub(super) unsafe extern "C" fn timed_wait(at: usize, mutex: usize, until: *const [i64; 2], code: usize) -> i32 {
    clock_wait(at, mutex, (*objects::get(Wait::Condition, at)).state.condition().clock as i32, until, code)
}

unsafe extern "C" fn clock_wait(at: usize, mutex: usize, clock: i32, until: *const [i64; 2], code: usize) -> i32 {
    if !is_clock(clock) || !is_time(until) {
        return EINVAL;
    }
    wait_until(at, mutex, Some(time::deadline(clock, until)), code)
}

unsafe fn wait_until(at: usize, mutex: usize, deadline: Option<Deadline>, code: usize) -> i32 {
    let (again, before) = (schedule::chooses_wakeups() && spin::waits_again(at, mutex, code), schedule::switches());
    let n = point(code);
    if !mutex::is_held(mutex) {
        misuse::wait_unlocked(mutex);
        return EPERM;
    }
    if cancel::acts() {
        return 0;
    }
    // Others may have run first.
    let again = again && schedule::switches() == before;
    log::event(Kind::Wait, n, at, mutex as u64, if again { detail::WAIT_REPEATED } else { 0 });
    misuse::used(at, Kind::Wait);
    misuse::one_mutex(at, mutex);
    let t = current();
    if deadline.is_some() {
        escapes::timed_wait();
    }
    (*t).signalled = false;
    (*t).awaits = Awaits::Mutex(mutex);
    (*t).ticket = next_ticket();
    let depth = mutex::give_up(mutex);
    let waiting = Waiting { wait: Wait::Condition, object: at, deadline, ends_by: EndsBy::CANCEL };
    let end = schedule::wait_until(waiting, Cause::Blocked);
    let switches = schedule::switches();
    let woken = end == End::Done && (*t).awaits == Awaits::MutexAlone;
    if !woken {
        let by_permit = end == End::Done && !(*t).signalled;
        if by_permit {
            take_permit(at, (*t).ticket);
        }
        let n = point(code);
        let how = match end {
            End::TimedOut => detail::WAIT_TIMED_OUT,
            End::Cancelled => detail::WAIT_CANCELLED,
            End::Done if by_permit => detail::WAIT_SIGNALLED,
            End::Done | End::Interrupted => detail::WAIT_SPURIOUS,
        };
        log::event(Kind::WaitEnd, n, at, mutex as u64, how);
        if by_permit {
            // Waiters for which no permit is left continue to wait.
            refresh(Wait::Condition, at);
        }
    }
    // A woken thread has had the mutex as its pending object since, and it is free: this is the event that takes it.
    acquire_point(code, Wait::Mutex, mutex, None);
    let error = mutex::take_again(mutex, depth);
    if end == End::Interrupted && schedule::chooses_wakeups() {
        spin::woken_for_nothing(switches);
    }
    if end == End::Cancelled {
        cancel::act();
    }
    match error {
        0 if end == End::TimedOut => ETIMEDOUT,
        error => error,
    }
}

/// Lets a signalled waiter continue as soon as it can have its mutex.
unsafe fn wake(t: *mut Thread) {
    (*t).signalled = true;
    // From here on only the mutex delays it, and neither a time-out nor cancellation counts.
    (*t).deadline = Deadline::NEVER;
    (*t).ends_by = EndsBy::NOTHING;
    let Awaits::Mutex(mutex) = core::mem::replace(&mut (*t).awaits, Awaits::MutexAlone) else { unreachable!() };
    make_unready(t, State::Blocked);
    redirect(t, Wait::Mutex, mutex);
    refresh(Wait::Mutex, mutex);
    if (*t).state == State::Blocked && signals::deliverable(t) {
        schedule::wake(t);
    }
}

/// Ends a wait on a condition variable that other processes share: its condition may hold by now.
pub(super) unsafe fn end_without_signal(t: *mut Thread) {
    (*t).interrupted = true;
}

/// Returns the thread that has waited longest. A ready one is about to run a signal handler, and still waits.
unsafe fn waiter(at: usize) -> Option<*mut Thread> {
    every_thread().filter(|&t| waits(t, at)).min_by_key(|&t| (*t).ticket)
}

unsafe fn waits(t: *const Thread, at: usize) -> bool {
    (*t).pending == Wait::Condition
        && (*t).object == at
        && matches!((*t).state, State::Blocked | State::Suspended | State::Ready)
        && !cancel::ends_wait(t)
}

/// Returns the number of signals and broadcasts so far, if there is a thread to count them for.
pub(crate) unsafe fn wakeups(at: usize) -> u32 {
    (*objects::get(Wait::Condition, at)).state.condition().wakeups
}

unsafe fn count_wakeup(at: usize) {
    let object = objects::known(Wait::Condition, at);
    if !object.is_null() {
        let condition = (*object).state.as_condition();
        condition.wakeups = condition.wakeups.wrapping_add(1);
    }
}

pub(super) unsafe extern "C" fn signal(at: usize, code: usize) -> i32 {
    let n = point(code);
    log::event(Kind::Signal, n, at, 0, 0);
    count_wakeup(at);
    misuse::used(at, Kind::Signal);
    if objects::has_waiters(Wait::Condition, at)
        && !(schedule::chooses_wakeups() && grant(at))
        && let Some(t) = waiter(at)
    {
        wake(t);
    }
    0
}

pub(super) unsafe extern "C" fn broadcast(at: usize, code: usize) -> i32 {
    let n = point(code);
    log::event(Kind::Broadcast, n, at, 0, 0);
    count_wakeup(at);
    misuse::used(at, Kind::Broadcast);
    if objects::has_waiters(Wait::Condition, at) {
        drop_permits(at);
        while let Some(t) = waiter(at) {
            wake(t);
        }
    }
    0
}
