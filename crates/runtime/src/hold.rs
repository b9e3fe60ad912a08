//! Watchpoints: a thread is held just before an access until another one is about to make a conflicting one.
//!
//! The plan describes up to two accesses ([`Hold`]), or has some sampled at random. The first thread that reaches one
//! of them waits there, and others run. When another thread is about to make a conflicting access to the same memory,
//! both threads are at their accesses: that is a race, whatever the program does to synchronise. A held thread without
//! a partner continues when no other thread can run, or when the others have performed as many events as the plan says:
//! they may be waiting for it.

use crate::hooks::SITE_WATCHED;
use crate::schedule::{self, decide_and_switch, now};
use crate::thread::{__rh_stack, CURRENT, Frame, State, Thread, current, make_ready, make_unready, thread, threads};
use crate::{Global, annotations, escapes, log, modules, reports, server};
use racehunter_abi::control::Hold;
use racehunter_abi::{Cause, EventNumber, Kind, Record, ThreadId, Wait, callers_hash};
use racehunter_machine::memory::{Block, overlap};
use racehunter_walk::Sampler;

/// An access that is about to happen.
#[derive(Clone, Copy)]
struct Access {
    thread: ThreadId,
    code: usize,
    address: usize,
    size: usize,
    kind: Kind,
    site: u32,
}

impl Access {
    const fn block(&self) -> Block {
        Block { start: self.address, size: self.size }
    }
}

struct Watch {
    /// Whether the plan describes accesses at all; also in [`ACTIVE`].
    holds: [Hold; 2],
    /// Maximum number of events for which a thread is held.
    patience: u64,
    sampler: Sampler,
    held: Option<Access>,
    since: EventNumber,
}

/// Whether accesses must be checked.
#[unsafe(link_section = ".data.racehunter")]
static ACTIVE: Global<bool> = Global::new(false);
static WATCH: Global<Watch> = Global::new(Watch {
    holds: [Hold::NONE; 2],
    patience: 0,
    sampler: Sampler::NONE,
    held: None,
    since: EventNumber::START,
});

/// Takes the holds of the plan.
pub(crate) unsafe fn begin() {
    let slot = server::slot();
    let (holds, sampler) = ((*slot).holds, Sampler::new((*slot).seed, (*slot).sample));
    let active = sampler.is_active() || holds.iter().any(|hold| hold.code != 0);
    ACTIVE.set(active);
    if active {
        *WATCH.ptr() = Watch { holds, patience: (*slot).patience, sampler, held: None, since: EventNumber::START };
        // A conflicting access may be at a place that is not known to be shared.
        modules::flag_all(SITE_WATCHED);
        for number in threads() {
            (*thread(number)).described = [0; 2];
        }
    }
}

#[inline(always)]
pub(crate) fn is_active() -> bool {
    ACTIVE.get()
}

/// Handles an access that the running thread is about to make; only accesses at points are sampled.
#[cold]
pub(crate) unsafe fn before(address: usize, size: usize, kind: Kind, site: u32, code: usize, is_point: bool) {
    if annotations::is_excused(address) {
        return escapes::excused();
    }
    let watch = WATCH.ptr();
    let access = Access { thread: CURRENT.get(), code, address, size, kind, site };
    if let Some(held) = (*watch).held
        && conflict(&held, &access)
    {
        tell(&held, &access);
        release();
        // The two accesses come directly one after the other, so nothing can hide the first: an execution that repeats
        // the switches shows the race too.
        schedule::goes_after_next(held.thread);
        // The pair has met: nothing more is provoked, unless further accesses are sampled.
        ACTIVE.set((*watch).sampler.is_active());
        return;
    }
    let drawn = is_point && (*watch).sampler.draws();
    let described = described(&access);
    if (*watch).held.is_none() && (described || drawn) {
        (*watch).held = Some(access);
        (*watch).since = now();
        schedule::arm();
        hold(current(), address);
    }
}

unsafe fn hold(t: *mut Thread, address: usize) {
    let n = now().next();
    (*t).pending = Wait::Partner;
    (*t).object = address;
    make_unready(t, State::Blocked);
    schedule::log_state(t, Kind::Blocked, n);
    decide_and_switch(n, false, Cause::Blocked);
    (*t).pending = Wait::Nothing;
    if (*WATCH.ptr()).held.is_some_and(|held| held.thread == (*t).number) {
        // A signal handler has to run; the access comes now.
        (*WATCH.ptr()).held = None;
    }
}

/// Returns the held thread, if there is one, because no other thread can run, or only by letting time pass. It waits
/// through sleeps and time-outs, but not for ever.
pub(crate) unsafe fn give_up(time_can_pass: bool) -> Option<ThreadId> {
    let watch = WATCH.ptr();
    let held = (*watch).held.filter(|_| !time_can_pass || now() >= until())?;
    release();
    Some(held.thread)
}

/// Returns the event before which the held thread continues, if there is one.
pub(crate) unsafe fn until() -> EventNumber {
    let watch = WATCH.ptr();
    if !is_holding() {
        return EventNumber::NEVER;
    }
    EventNumber((*watch).since.0.saturating_add((*watch).patience).saturating_add(1))
}

/// Returns the held thread if it continues before event `n`, because the others have used up their events.
pub(crate) unsafe fn expires(n: EventNumber) -> Option<ThreadId> {
    let held = (*WATCH.ptr()).held.filter(|_| is_active() && n >= until())?;
    release();
    Some(held.thread)
}

/// Lets the held thread continue, because the running thread is blocked or busy where nothing is counted, perhaps
/// because of something that the held thread holds. Returns whether there was one.
pub(crate) unsafe fn abandon() -> bool {
    let is_holding = is_holding();
    if is_holding {
        release();
    }
    is_holding
}

/// Returns whether a thread is held.
pub(crate) unsafe fn is_holding() -> bool {
    is_active() && (*WATCH.ptr()).held.is_some()
}

/// Releases a thread that the plan chooses. If it is held here, it had no partner in the repeated execution either.
pub(crate) unsafe fn let_go(number: ThreadId) -> bool {
    let is_held = is_active() && (*WATCH.ptr()).held.is_some_and(|held| held.thread == number);
    if is_held {
        release();
    }
    is_held
}

unsafe fn release() {
    if let Some(held) = (*WATCH.ptr()).held.take() {
        let t = thread(held.thread);
        if (*t).state == State::Blocked && (*t).pending == Wait::Partner {
            make_ready(t);
            schedule::log_state(t, Kind::Woken, now());
        }
    }
}

fn conflict(a: &Access, b: &Access) -> bool {
    a.thread != b.thread
        && (a.kind.is_write() || b.kind.is_write())
        && !(a.kind.is_atomic() && b.kind.is_atomic())
        && overlap(a.block(), b.block())
}

/// Logs two accesses that are about to happen as a race.
unsafe fn tell(first: &Access, second: &Access) {
    for (access, kind) in [(first, Kind::RaceFirst), (second, Kind::RaceSecond)] {
        let t = thread(access.thread);
        log::put(Record {
            index: now().next(),
            code: log::relative(access.code),
            object: first.address.max(second.address) as u64,
            thread: access.thread,
            stack: log::stack_of(t),
            site: access.site,
            kind,
            size: access.size.min(255) as u8,
            detail: access.kind as u8,
            ..Record::default()
        });
    }
    // Only after both, because they are read as a pair.
    for access in [first, second].into_iter().filter(|access| access.site != 0) {
        reports::shared(access.address, access.site as usize - 1);
    }
}

/// Returns whether the plan describes this access. Each thread counts its own.
unsafe fn described(access: &Access) -> bool {
    let watch = WATCH.ptr();
    let code = log::relative(access.code);
    let t = current();
    let mut found = false;
    for i in 0..2 {
        let hold = (*watch).holds[i];
        if hold.code == code.0 && (hold.path == 0 || hold.path == (*t).path) && called_from(&hold) {
            (*t).described[i] += 1;
            found |= (*t).described[i] == hold.nth;
        }
    }
    found
}

/// Returns whether the running thread has these innermost callers.
unsafe fn called_from(hold: &Hold) -> bool {
    if hold.depth == 0 {
        return true;
    }
    let (top, bottom) = (__rh_stack.get(), (*current()).stack);
    let mut frame = top;
    let callers = core::iter::from_fn(|| {
        (frame > bottom).then(|| {
            // SAFETY: `frame` is above the bottom of the thread's shadow call stack, so one below it is in use.
            let Frame { code, .. } = unsafe {
                frame = frame.sub(1);
                *frame
            };
            log::relative(code).0
        })
    });
    let hash = callers_hash(callers.take(hold.depth as usize));
    top.offset_from(bottom) as u64 >= hold.depth && hash == hold.callers
}
