//! Loops that wait for another thread without saying so.
//!
//! What a thread knows by itself is in its registers and on its stack; at a hook both lie in one piece of memory, from
//! [`RH_CALLER`] to the frame of its first function. When a thread comes back to an access in the state in which it was
//! there before, and everything that it has accessed since has the contents that it had then, the next round can only be
//! like the last one: it waits for somebody else to change what it has accessed. So it is blocked ([`Wait::Change`])
//! until that is changed, as at a lock. It does not matter whether the loop spins, yields or sleeps.
//!
//! Nothing else ends such a wait, except that nobody else can go on. A loop that counts its rounds, looks at a clock, or
//! uses objects of synchronisation is never in the same state again, and is not found here: see
//! [`super::due`] for what becomes of it.
//!
//! The anchor, to which a later access is compared, moves on after 1, 2, 4, ... accesses, so that it gets into any loop.

use super::{PLAN, arm, decide_and_switch, log_state, now, running};
use crate::thread::{COUNT, CURRENT, READY_COUNT, SUSPENDED, State, Thread, current, make_ready, make_unready, thread};
use crate::{Global, hold};
use core::arch::global_asm;
use racehunter_event::{Cause, Kind, Wait};

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
/// Bytes of stack that are looked at; deeper loops are not found.
const DEEPEST: usize = 64 << 10;
/// Words that are compared first, because they are most likely to differ.
const FIRST: usize = 48;
/// Places that a loop may access.
const PLACES: usize = 12;
/// Accesses of a round, where only some accesses come by here, and where all of them do.
const ROUND: u32 = 64;
const LONG_ROUND: u32 = 4096;

/// What a thread does is like what it did a moment ago.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Spin {
    /// The anchor; no code, no anchor.
    code: usize,
    address: usize,
    /// The state there, once the thread has come by a second time; empty before.
    state: Snapshot,
    /// Accesses since the anchor, and after how many of them it moves on.
    steps: u32,
    window: u32,
    /// Number of the last event of this thread that came by here, as if no other thread had done anything since.
    last: u64,
    /// It has performed events since the anchor that did not come by here.
    unseen: bool,
    /// Every access comes by here, until the event with this number.
    watched_until: u64,
    /// What it has accessed since the anchor, with the contents before the first access.
    places: [Place; PLACES],
    place_count: usize,
    /// It has accessed more than that.
    overflow: bool,
    /// It has changed something, went through much memory, or did what did not come by here, since it is watched.
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

/// The registers and the stack of a thread. Without words there is none.
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

/// What is at a place; some number where nothing is. The access that is about to happen may be the one that crashes, and
/// what was accessed before may be gone.
unsafe fn contents(address: usize, size: usize) -> u64 {
    rh_peek(address, size)
}

/// The code at `at` has caused a fault. If it was that of [`contents`], tells where to go on.
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

    /// The thread has come to an access. Whether it was there before in this state.
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
                // So it seems, but some of its accesses did not come by here. They do in the next round.
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

/// The running thread is about to perform an operation that is no access and does not change anything for anybody: a
/// yield, a sleep, a fence.
pub(super) unsafe fn passes() {
    let spin = &raw mut (*current()).spin;
    (*spin).unseen |= (*spin).last != now();
    (*spin).last = now() + 1;
}

/// The running thread has gone through a round of a loop in which nothing is announced, and which is counted already. What the
/// functions do that it calls there, they announce themselves.
pub(crate) unsafe fn goes_round() {
    let spin = &raw mut (*current()).spin;
    (*spin).unseen |= (*spin).last + 1 != now();
    (*spin).last = now();
}

/// The running thread does something of which nobody knows whether it does the same again.
#[inline(always)]
pub(crate) unsafe fn moves_on() {
    let spin = &raw mut (*current()).spin;
    (*spin).code = 0;
    (*spin).window = 1;
    (*spin).busy = true;
}

/// Others have performed so many events while the running thread waited.
pub(super) unsafe fn others_went_on(events: u64) {
    (*current()).spin.last += events;
}

/// The running thread, at a point, is about to make an access, which is not counted yet. Comes back when it makes it.
#[inline(always)]
pub(super) unsafe fn before(address: usize, size: usize, code: usize) {
    let t = current();
    let spin = &raw mut (*t).spin;
    (*spin).unseen |= (*spin).last != now();
    if (*spin).comes(t, address, size, code) {
        wait(t, address, code);
    }
    (*spin).last = now() + 1;
    keep_watching(spin);
}

/// What the running thread is about to do touches this memory too.
pub(crate) unsafe fn also(address: usize, size: usize) {
    (*current()).spin.note(address, size);
}

/// The running thread is about to make an access that is no point and is counted already: it comes by here since the
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
    keep_watching(spin);
}

unsafe fn keep_watching(spin: *mut Spin) {
    if now() < (*spin).watched_until {
        arm();
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

/// Whether the next event of the running thread is looked at here, whatever it is.
pub(super) unsafe fn is_watching() -> bool {
    now() < (*current()).spin.watched_until
}

/// From now on, up to the event that is returned, every event of the running thread comes by here.
pub(super) unsafe fn watch() -> u64 {
    let watched_until = now() + 4 * u64::from(LONG_ROUND);
    (*current()).spin = Spin { watched_until, last: now(), ..Spin::NEW };
    watched_until
}

/// The running thread waits until what it has read is changed.
#[cold]
unsafe fn wait(t: *mut Thread, address: usize, code: usize) {
    let n = now() + 1;
    let others = READY_COUNT.get() > 1 || SUSPENDED.get() > 0 || hold::is_active();
    // Where the plan goes on with it, it goes on.
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

/// The running thread, in a call that returns to `code`, is about to wait on a condition variable. Whether it did so before in
/// the same state, was woken up without a reason, and has done nothing since but look: then everything is as if it had not
/// been woken up.
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

/// The running thread was woken up without a reason, and has its mutex again. There were so many switches when it was.
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

/// Looks, before event `n`, whose wait is over.
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

/// Nobody can go on but those who wait here: one of them does, for nothing comes of waiting.
pub(super) unsafe fn give_up(after: u32) -> Option<u32> {
    let count = COUNT.get();
    if !is_awaited() {
        return None;
    }
    (1..=count).map(|step| (after + step) % count).find(|&number| waits(thread(number)))
}
