//! Loops that wait for another thread without saying so.
//!
//! The state of a thread is in its registers and on its stack; at a hook both lie in one piece of memory, from
//! [`RH_CALLER`] to the frame of its first function. Suppose a thread returns to an access in the same state as
//! before, and everything that it has accessed since then still has the same contents. The next iteration can then
//! only repeat the last one: the thread waits for another one to change what it has accessed. It is therefore blocked
//! ([`Wait::Change`]) until that changes, as at a lock. It does not matter whether the loop spins, yields or sleeps.
//!
//! Nothing else ends such a wait, except when no other thread can continue. A loop that counts its iterations, reads
//! a clock, or uses synchronisation objects is never in the same state again, and is not found here: see
//! [`super::due`] for what happens to it.
//!
//! The anchor, to which a later access is compared, moves on after 1, 2, 4, ... accesses, so that it gets into any loop.

use super::{PLAN, arm, decide_and_switch, log_state, now, running};
use crate::thread::{COUNT, CURRENT, READY_COUNT, SUSPENDED, State, Thread, current, make_ready, make_unready, thread};
use crate::{Global, hold};
use core::arch::global_asm;
use racehunter_abi::{Cause, Kind, Wait};

/// Where the registers of the running thread's caller are, as the last hook has saved them, below its frame.
#[unsafe(no_mangle)]
#[unsafe(link_section = ".data.racehunter")]
pub(crate) static RH_CALLER: Global<usize> = Global::new(0);

/// Whether hooks wipe what they have left on the stack: numbers of events, say. Functions of the program that are called next have it
/// in the parts of their frames that they do not use, and would never be in the same state again.
#[unsafe(no_mangle)]
#[unsafe(link_section = ".data.racehunter")]
pub(crate) static RH_WIPES: Global<bool> = Global::new(false);

/// Bytes that are wiped: no hook needs more.
pub(crate) const WIPED: usize = 4096;

/// From there to the return address: at a hook, and at a call of a function that this library has in place of another.
const AT_HOOK: usize = 120;
const AT_CALL: usize = 56;
/// Bytes of stack that are compared; deeper loops are not found.
const DEEPEST: usize = 64 << 10;
/// Words that are compared first, because they are most likely to differ.
const FIRST: usize = 48;
/// Places that a loop may access.
const PLACES: usize = 12;
/// Accesses of an iteration, if only some accesses reach this module, and if all of them do.
const ROUND: u32 = 64;
const LONG_ROUND: u32 = 4096;

/// What a thread does repeats what it did a moment ago.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Spin {
    /// The anchor; no code, no anchor.
    code: usize,
    address: usize,
    /// The state there, once the thread has been there a second time; empty before.
    state: Snapshot,
    /// Accesses since the anchor, and after how many of them it moves on.
    steps: u32,
    window: u32,
    /// Number of the last event of this thread that came by here, as if no other thread had done anything since.
    last: u64,
    /// It has performed events since the anchor that did not reach this module.
    unseen: bool,
    /// Every access reaches this module, until the event with this number.
    watched_until: u64,
    /// It is watched only to see whether it is busy.
    until_busy: bool,
    /// What it has accessed since the anchor, with the contents before the first access.
    places: [Place; PLACES],
    place_count: usize,
    /// It has accessed more than that.
    overflow: bool,
    /// It has changed something, used much memory, or done something that did not reach this module, since it is
    /// watched.
    busy: bool,
}

/// A wait on a condition variable that may end without a reason.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Wakeup {
    /// The state in which the thread began to wait.
    state: Snapshot,
    condition: usize,
    mutex: usize,
    /// It was woken without a reason.
    woken: bool,
    /// How many switches there had been when it was.
    switches: u64,
}

impl Wakeup {
    pub(crate) const NEW: Self = Self { state: Snapshot::NONE, condition: 0, mutex: 0, woken: false, switches: 0 };
}

impl Spin {
    pub(crate) const NEW: Self = Self {
        code: 0,
        address: 0,
        state: Snapshot::NONE,
        steps: 0,
        window: 1,
        last: 0,
        unseen: false,
        watched_until: 0,
        until_busy: false,
        places: [Place { address: 0, size: 0, was: 0 }; PLACES],
        place_count: 0,
        overflow: false,
        busy: false,
    };
}

/// Some memory that a thread has accessed, with what was there before.
#[derive(Clone, Copy)]
#[repr(C)]
struct Place {
    address: usize,
    size: usize,
    was: u64,
}

impl Place {
    unsafe fn is_changed(&self) -> bool {
        contents(self.address, self.size) != self.was
    }
}

/// The registers and the stack of a thread. Without words there is no state.
#[derive(Clone, Copy)]
#[repr(C)]
struct Snapshot {
    words: usize,
    first: [usize; FIRST],
    rest: u64,
}

impl Snapshot {
    const NONE: Self = Self { words: 0, first: [0; FIRST], rest: 0 };

    /// The state of the running thread, which is at a hook, or in a call, that returns to `code`.
    unsafe fn take(t: *const Thread, code: usize, saved: usize) -> Self {
        let begin = RH_CALLER.get();
        let here = &raw const begin as usize;
        // The hook that brought the thread here, and not one before it, or on another stack.
        if (*t).stack_is_empty() || begin <= here {
            return Self::NONE;
        }
        let end = (*(*t).stack).slot as usize;
        if end < begin + saved || end - begin > DEEPEST || *((begin + saved) as *const usize) != code {
            return Self::NONE;
        }
        let (words, from) = ((end - begin) / 8, begin as *const usize);
        let mut first = [0; FIRST];
        core::ptr::copy_nonoverlapping(from, &raw mut first as *mut usize, words.min(FIRST));
        let mix =
            |hash: u64, at: usize| (hash.rotate_left(29) ^ *from.add(at) as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        Self { words, first, rest: (FIRST..words).fold(0, mix) }
    }

    fn is_same(&self, other: &Self) -> bool {
        self.words != 0 && self.words == other.words && self.first == other.first && self.rest == other.rest
    }
}

global_asm!(
    r#"
    .type rh_peek,@function
rh_peek:                            # rdi = address, esi = 1, 2, 4 or 8 bytes; uses no stack, see `forgives`
    cmp esi, 4
    je 4f
    cmp esi, 8
    je 8f
    cmp esi, 2
    je 2f
    movzx eax, byte ptr [rdi]
    ret
2:  movzx eax, word ptr [rdi]
    ret
4:  mov eax, [rdi]
    ret
8:  mov rax, [rdi]
    ret
rh_peek_fails:
    movabs rax, 0x6e6f7468696e6721
    ret
    .size rh_peek, . - rh_peek
    "#
);

unsafe extern "C" {
    fn rh_peek(address: usize, size: usize) -> u64;
    fn rh_peek_fails();
}

/// The content of a place; an arbitrary number if nothing is there. The access that is about to happen may be the one
/// that crashes, and what was accessed before may no longer exist.
unsafe fn contents(address: usize, size: usize) -> u64 {
    rh_peek(address, size)
}

/// The code at `at` has caused a fault. If it was that of [`contents`], returns where to continue.
pub(crate) fn forgives(at: usize) -> Option<usize> {
    let fails = rh_peek_fails as *const () as usize;
    (rh_peek as *const () as usize..fails).contains(&at).then_some(fails)
}

impl Spin {
    unsafe fn drop_anchor(&mut self, code: usize, address: usize) {
        self.code = code;
        self.address = address;
        self.state = Snapshot::NONE;
        self.renew();
    }

    /// The thread is at the anchor, and what it has done before does not count.
    unsafe fn renew(&mut self) {
        self.busy |= self.is_busy();
        self.steps = 0;
        self.unseen = false;
        self.place_count = 0;
        self.overflow = false;
    }

    unsafe fn note(&mut self, address: usize, size: usize) {
        self.steps += 1;
        let known =
            || self.places[..self.place_count].iter().any(|place| place.address == address && place.size >= size);
        if self.overflow || known() {
            return;
        }
        if !matches!(size, 1 | 2 | 4 | 8) || self.place_count == PLACES {
            self.overflow = true;
            return;
        }
        self.places[self.place_count] = Place { address, size, was: contents(address, size) };
        self.place_count += 1;
    }

    unsafe fn is_busy(&self) -> bool {
        self.busy || self.overflow || self.unseen || self.is_changed()
    }

    unsafe fn is_changed(&self) -> bool {
        self.places[..self.place_count].iter().any(|place| place.is_changed())
    }

    /// The thread has reached an access. Returns whether it was there before in this state.
    unsafe fn comes(&mut self, t: *const Thread, address: usize, size: usize, code: usize) -> bool {
        let is_anchor = self.code == code && self.address == address;
        let is_watched = now() < self.watched_until;
        if is_anchor && !self.overflow && !self.is_changed() {
            let state = Snapshot::take(t, code, AT_HOOK);
            let is_same = self.state.is_same(&state);
            if is_same && !self.unseen {
                return true;
            }
            if is_same && !is_watched {
                // So it seems, but some of its accesses did not reach this module. They do in the next iteration.
                self.watched_until = now() + u64::from(LONG_ROUND);
            }
            self.state = state;
            self.renew();
        } else if is_anchor {
            self.drop_anchor(code, address);
        } else if self.code == 0 || self.steps >= self.window {
            self.drop_anchor(code, address);
            self.window = (self.window * 2).min(if is_watched { LONG_ROUND } else { ROUND });
        }
        self.note(address, size);
        false
    }
}

/// The running thread is about to perform an operation that is not an access and changes nothing for other threads: a
/// yield, a sleep, a fence.
pub(super) unsafe fn passes() {
    let spin = &raw mut (*current()).spin;
    (*spin).unseen |= (*spin).last != now();
    (*spin).last = now() + 1;
}

/// The running thread has completed an iteration of a loop in which nothing is announced, and which is already
/// counted. Functions that it calls there announce their own effects.
pub(crate) unsafe fn goes_round() {
    let spin = &raw mut (*current()).spin;
    (*spin).unseen |= (*spin).last + 1 != now();
    (*spin).last = now();
}

/// The running thread does something that may not repeat.
#[inline(always)]
pub(crate) unsafe fn moves_on() {
    let spin = &raw mut (*current()).spin;
    (*spin).code = 0;
    (*spin).window = 1;
    (*spin).busy = true;
}

/// Others have performed this many events while the running thread waited.
pub(super) unsafe fn others_went_on(events: u64) {
    (*current()).spin.last += events;
}

/// The running thread, at a point, is about to make an access, which is not counted yet. Returns when it makes it.
#[inline(always)]
pub(super) unsafe fn before(address: usize, size: usize, code: usize) {
    let t = current();
    let spin = &raw mut (*t).spin;
    (*spin).unseen |= (*spin).last != now();
    if (*spin).comes(t, address, size, code) {
        wait(t, address, code);
    }
    (*spin).last = now() + 1;
    stop_watching_busy(spin);
    if now() < (*spin).watched_until {
        arm();
    }
}

/// What the running thread is about to do touches this memory too.
pub(crate) unsafe fn also(address: usize, size: usize) {
    (*current()).spin.note(address, size);
}

/// The running thread is about to make an access that is not a point and is already counted: it gets here because the
/// budget was used up.
pub(crate) unsafe fn looks(address: usize, size: usize, code: usize) {
    let t = current();
    let spin = &raw mut (*t).spin;
    if now() > (*spin).watched_until {
        return;
    }
    (*spin).unseen |= (*spin).last + 1 != now();
    if (*spin).comes(t, address, size, code) {
        super::uncount();
        wait(t, address, code);
        super::count();
    }
    (*spin).last = now();
    stop_watching_busy(spin);
}

/// A thread that is watched for being busy, and is, need not be watched any longer: every watched event costs as much as
/// fifty others. Nor do its next events count: nothing is asked about them that is not known.
unsafe fn stop_watching_busy(spin: *mut Spin) {
    if (*spin).until_busy && (*spin).busy {
        (*spin).until_busy = false;
        (*spin).watched_until = 0;
    }
}

/// Whether the running thread, which was watched, does more than wait.
pub(super) unsafe fn is_busy() -> bool {
    (*current()).spin.is_busy()
}

/// Whether hooks wipe what they leave behind: where the running thread is watched, and stands on its own stack, with room below. The
/// stacks that programs make themselves, for coroutines or handlers, may end anywhere.
pub(super) unsafe fn wipes() -> bool {
    /// `main` has megabytes.
    const OF_MAIN: usize = 1 << 20;
    let t = current();
    let here = &raw const t as usize;
    if !is_watching() || !(*t).handler.is_null() || (*t).stack_is_empty() {
        return false;
    }
    match (*t).number {
        0 => ((*(*t).stack).slot as usize).checked_sub(here).is_some_and(|depth| depth < OF_MAIN),
        _ => {
            let end = (*t).fs.saturating_sub((*t).stack_size) + 4 * WIPED;
            !(*t).foreign_stack && (end..(*t).fs).contains(&here)
        }
    }
}

/// Whether the next event of the running thread is examined here, whatever it is.
pub(super) unsafe fn is_watching() -> bool {
    now() < (*current()).spin.watched_until
}

/// From now on, up to the returned event, every event of the running thread reaches this module, unless it is busy before.
pub(super) unsafe fn watch() -> u64 {
    let watched_until = now() + 4 * u64::from(LONG_ROUND);
    (*current()).spin = Spin { watched_until, until_busy: true, last: now(), ..Spin::NEW };
    watched_until
}

/// The running thread waits until what it has read is changed.
#[cold]
unsafe fn wait(t: *mut Thread, address: usize, code: usize) {
    let n = now() + 1;
    let others = READY_COUNT.get() > 1 || SUSPENDED.get() > 0 || hold::is_active();
    // If the plan continues with it, it continues.
    let planned = (*PLAN.ptr()).tail_from <= n || {
        let next = (*PLAN.ptr()).next;
        next < (*PLAN.ptr()).end && (*next).at == n && (*next).from == CURRENT.get()
    };
    if others && planned && running() {
        (*t).code = code;
        (*t).pending = Wait::Change;
        (*t).object = address;
        (*t).deadline = u64::MAX;
        make_unready(t, State::Blocked);
        log_state(t, Kind::Blocked, n);
        AWAITING.set(AWAITING.get() + 1);
        decide_and_switch(n, false, Cause::Blocked);
        AWAITING.set(AWAITING.get() - 1);
        (*t).pending = Wait::Nothing;
    }
    (*t).spin = Spin { watched_until: 0, last: now(), ..Spin::NEW };
}

/// The running thread, in a call that returns to `code`, is about to wait on a condition variable. Returns whether it
/// did so before in the same state, was woken up spuriously, and has only read since: then everything is as if it had
/// not been woken up.
pub(crate) unsafe fn waits_again(condition: usize, mutex: usize, code: usize) -> bool {
    let t = current();
    let before = (*t).wakeup;
    let state = Snapshot::take(t, code, AT_CALL);
    (*t).wakeup = Wakeup { state, condition, mutex, woken: false, switches: 0 };
    before.woken
        && before.switches == super::switches()
        && (before.condition, before.mutex) == (condition, mutex)
        && before.state.is_same(&state)
        && (*t).spin.last == now()
        && !(*t).spin.is_busy()
}

/// The running thread was woken up spuriously, and has its mutex again. The argument is the number of switches at
/// that moment.
pub(crate) unsafe fn woken_for_nothing(switches: u64) {
    watch();
    arm();
    let wakeup = &raw mut (*current()).wakeup;
    (*wakeup).woken = true;
    (*wakeup).switches = switches;
}

/// Threads that wait here.
#[unsafe(link_section = ".data.racehunter")]
static AWAITING: Global<u32> = Global::new(0);

/// An execution begins.
pub(super) fn begin() {
    AWAITING.set(0);
}

/// Whether what the thread has read was changed.
pub(crate) unsafe fn available(t: *const Thread) -> bool {
    (*t).spin.is_changed()
}

#[inline(always)]
pub(super) fn is_awaited() -> bool {
    AWAITING.get() > 0
}

/// Checks, before event `n`, which waits have ended.
#[cold]
pub(super) unsafe fn review(n: u64) {
    for number in 0..COUNT.get() {
        let t = thread(number);
        if waits(t) && available(t) {
            make_ready(t);
            log_state(t, Kind::Woken, n);
        }
    }
}

pub(super) unsafe fn waits(t: *const Thread) -> bool {
    (*t).state == State::Blocked && (*t).pending == Wait::Change
}

/// Only threads that wait here could continue: one of them does, because waiting is pointless.
pub(super) unsafe fn give_up(after: u32) -> Option<u32> {
    let count = COUNT.get();
    if !is_awaited() {
        return None;
    }
    (1..=count).map(|step| (after + step) % count).find(|&number| waits(thread(number)))
}
