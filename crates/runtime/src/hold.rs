//! Watchpoints: a thread is held just before an access until another one is about to make a conflicting one.
//!
//! The plan describes up to two accesses ([`Hold`]), or has some drawn at random. Whoever comes to one of them first waits there, and others run. When
//! some thread is about to touch the same memory, and it matters, both stand before their accesses: that is a race,
//! whatever the program does to synchronise. A thread that waits in vain goes on when nobody else can run.

use crate::schedule::{self, decide_and_switch, now};
use crate::thread::{__rh_stack, CURRENT, Frame, State, Thread, current, make_ready, make_unready, thread};
use crate::{Global, log, server};
use racehunter_event::control::{HOLD_CALLERS, Hold};
use racehunter_event::{Cause, Kind, Record, Wait};
use racehunter_walk::Sampler;

/// An access that is about to happen.
#[derive(Clone, Copy)]
struct Access {
    thread: u32,
    code: usize,
    address: usize,
    size: usize,
    kind: Kind,
    site: u32,
}

struct Watch {
    /// Whether the plan describes accesses at all; in [`ACTIVE`] too.
    holds: [Hold; 2],
    seen: [u64; 2],
    sampler: Sampler,
    held: Option<Access>,
    since: u64,
}

/// Whether accesses must be looked at.
#[unsafe(link_section = ".data.racehunter")]
static ACTIVE: Global<bool> = Global::new(false);
static WATCH: Global<Watch> = Global::new(Watch {
    holds: [Hold { code: 0, path: 0, callers: [0; HOLD_CALLERS], nth: 0 }; 2],
    seen: [0; 2],
    sampler: Sampler::NONE,
    held: None,
    since: 0,
});

/// Events for which a thread is held, at most: others may go on for ever, waiting for it.
const PATIENCE: u64 = 200_000;

/// Takes what the plan describes.
pub(crate) unsafe fn begin() {
    let slot = server::slot();
    let (holds, sampler) = ((*slot).holds, Sampler::new((*slot).seed, (*slot).sample));
    let active = sampler.is_active() || holds.iter().any(|hold| hold.code != 0);
    ACTIVE.set(active);
    if active {
        *WATCH.ptr() = Watch { holds, seen: [0; 2], sampler, held: None, since: 0 };
    }
}

#[inline(always)]
pub(crate) fn is_active() -> bool {
    ACTIVE.get()
}

/// The running thread is about to make an access, at a point.
#[cold]
pub(crate) unsafe fn before(address: usize, size: usize, kind: Kind, site: u32, code: usize) {
    let watch = WATCH.ptr();
    let access = Access { thread: CURRENT.get(), code, address, size, kind, site };
    if let Some(held) = (*watch).held
        && conflict(&held, &access)
    {
        tell(&held, &access);
        release();
        // The two accesses come one after the other, with nothing between them that could hide the first: whoever repeats
        // the switches sees the race too.
        schedule::goes_after_next(held.thread);
        // The pair has met: nothing more is to be provoked, unless further accesses are drawn.
        ACTIVE.set((*watch).sampler.is_active());
        return;
    }
    let drawn = (*watch).sampler.draws();
    if (*watch).held.is_none() && (described(&access) || drawn) {
        (*watch).held = Some(access);
        (*watch).since = now();
        hold(current(), address);
    }
}

unsafe fn hold(t: *mut Thread, address: usize) {
    let n = now() + 1;
    (*t).pending = Wait::Partner;
    (*t).object = address;
    make_unready(t, State::Blocked);
    schedule::log_state(t, Kind::Blocked, n);
    decide_and_switch(n, false, Cause::Blocked);
    (*t).pending = Wait::Nothing;
    if (*WATCH.ptr()).held.is_some_and(|held| held.thread == (*t).number) {
        // A signal handler was to run; the access comes now.
        (*WATCH.ptr()).held = None;
    }
}

/// Nobody else can run, or only by letting time pass: the thread that is held goes on, if there is one. It waits through
/// sleeps and time-outs, but not for ever.
pub(crate) unsafe fn give_up(time_can_pass: bool) -> Option<u32> {
    let watch = WATCH.ptr();
    let held = (*watch).held.filter(|_| !time_can_pass || now() > (*watch).since + PATIENCE)?;
    release();
    Some(held.thread)
}

/// The running thread is blocked or busy where nothing is counted, perhaps because of what the held thread has: that one
/// goes on. Returns whether there was one.
pub(crate) unsafe fn abandon() -> bool {
    let is_holding = is_holding();
    if is_holding {
        release();
    }
    is_holding
}

/// Whether a thread is held.
pub(crate) unsafe fn is_holding() -> bool {
    is_active() && (*WATCH.ptr()).held.is_some()
}

/// The plan chooses this thread. If it is held here, it waited in vain in the execution that the plan repeats, too.
pub(crate) unsafe fn let_go(number: u32) -> bool {
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
        && a.address < b.address + b.size
        && b.address < a.address + a.size
}

/// Both accesses are about to happen.
unsafe fn tell(first: &Access, second: &Access) {
    for (access, kind) in [(first, Kind::RaceFirst), (second, Kind::RaceSecond)] {
        let t = thread(access.thread);
        log::put(Record {
            index: now() + 1,
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
}

/// Whether the plan describes this access.
unsafe fn described(access: &Access) -> bool {
    let watch = WATCH.ptr();
    let code = log::relative(access.code);
    let mut found = false;
    for i in 0..2 {
        let hold = (*watch).holds[i];
        if hold.code == code && (hold.path == 0 || hold.path == (*current()).path) && called_from(&hold.callers) {
            (*watch).seen[i] += 1;
            found |= (*watch).seen[i] == hold.nth;
        }
    }
    found
}

/// Whether the running thread's innermost callers are these.
unsafe fn called_from(callers: &[u64; HOLD_CALLERS]) -> bool {
    let mut frame = __rh_stack.get();
    for &caller in callers.iter().take_while(|&&caller| caller != 0) {
        if frame <= (*current()).stack {
            return false;
        }
        frame = frame.sub(1);
        let Frame { code, .. } = *frame;
        if log::relative(code) != caller {
            return false;
        }
    }
    true
}
