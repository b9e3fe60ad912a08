//! Busy-waiting loops: the rules are those of [`racehunter_machine::spin`].
//!
//! The state of a thread is in its registers and on its stack; at a hook both are in one piece of memory, from [`RH_CALLER`] to
//! the frame of its first function. A thread that would only repeat its last iteration is blocked ([`Wait::Change`]) until what
//! it has accessed changes, as at a lock.
//!
//! Nothing else ends such a wait, except when no other thread can continue. For loops that are not found here, see
//! [`super::due`].

use super::{PLAN, arm, decide_and_switch, log_state, now, running};
use crate::thread::{
    COUNT, SUSPENDED, State, Thread, current, make_ready, make_unready, me, ready_count, thread, threads,
};
use crate::{Global, float, hold};
use core::arch::global_asm;
use racehunter_abi::{Cause, EventNumber, Kind, Wait};
use racehunter_machine::ready::cyclic_after;
use racehunter_machine::spin::{Access, Memory, Snapshot};
use racehunter_machine::{Deadline, ThreadId};

pub(crate) use racehunter_machine::spin::Spin;

/// The address of the running thread's caller-saved registers, which the last hook has saved below its frame.
#[unsafe(no_mangle)]
#[unsafe(link_section = ".data.racehunter")]
pub(crate) static RH_CALLER: Global<usize> = Global::new(0);

/// Whether hooks wipe what they leave on the stack: numbers of events, say. Functions of the program that are called next have it
/// in the unused parts of their frames, and would never return to the same state.
#[unsafe(no_mangle)]
#[unsafe(link_section = ".data.racehunter")]
pub(crate) static RH_WIPES: Global<bool> = Global::new(false);

/// Number of bytes wiped: no hook needs more.
pub(crate) const WIPED: usize = 4096;

/// The distance from there to the return address: at a hook, and at a call of a function that the runtime replaces.
const AT_HOOK: usize = 120;
pub(crate) const AT_CALL: usize = 56;
/// Maximum number of stack bytes compared; deeper loops are not found.
const DEEPEST: usize = 64 << 10;

/// A wait on a condition variable that may end spuriously.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Wakeup {
    /// The state in which the thread began to wait.
    state: Snapshot,
    condition: usize,
    mutex: usize,
    /// Whether it was woken spuriously.
    woken: bool,
    /// The number of switches at that time.
    switches: u64,
}

impl Wakeup {
    pub(crate) const NEW: Self = Self { state: Snapshot::NONE, condition: 0, mutex: 0, woken: false, switches: 0 };
}

/// Returns the state of the running thread, which is at a hook, or in a call, that returns to `code`.
unsafe fn snapshot(t: *const Thread, code: usize, saved: usize) -> Snapshot {
    let begin = RH_CALLER.get();
    let here = &raw const begin as usize;
    // The hook must be the one that brought the thread here, not an earlier one, or one on another stack.
    if (*t).stack_is_empty() || begin <= here {
        return Snapshot::NONE;
    }
    let end = (*(*t).stack).slot as usize;
    if end < begin + saved || end - begin > DEEPEST || *((begin + saved) as *const usize) != code {
        return Snapshot::NONE;
    }
    Snapshot::of(core::slice::from_raw_parts(begin as *const usize, (end - begin) / 8)).with(float::modes())
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

/// The memory of the program. The access that is about to happen may be the one that crashes, and memory accessed before may no
/// longer exist.
struct ProgramMemory;

impl Memory for ProgramMemory {
    fn contents(&self, address: usize, size: usize) -> u64 {
        // SAFETY: a fault of this function is recognised by its address, see `forgives`.
        unsafe { rh_peek(address, size) }
    }
}

/// Returns where to continue if the code that caused a fault at `at` is that of [`ProgramMemory`].
pub(crate) fn forgives(at: usize) -> Option<usize> {
    let fails = rh_peek_fails as *const () as usize;
    (rh_peek as *const () as usize..fails).contains(&at).then_some(fails)
}

/// Notes that the running thread is about to perform an operation that is not an access and changes nothing for other threads: a
/// yield, a sleep, a fence.
pub(super) unsafe fn passes() {
    let spin = &raw mut (*current()).spin;
    (*spin).reports_next(now());
    (*spin).reported_next(now());
}

/// Notes that the running thread has completed an iteration of a loop in which nothing is announced, and which is already
/// counted. Functions that it calls there announce their own effects.
pub(crate) unsafe fn goes_round() {
    let spin = &raw mut (*current()).spin;
    (*spin).reports_counted(now());
    (*spin).reported_counted(now());
}

/// Notes that the running thread does something that may not repeat.
#[inline(always)]
pub(crate) unsafe fn moves_on() {
    (*current()).spin.moves_on();
}

/// Notes that others have performed this many events while the running thread waited.
pub(super) unsafe fn others_went_on(events: u64) {
    (*current()).spin.others_went_on(events);
}

/// Notes that the running thread has reached an access. Returns whether it was there before in this state.
#[inline(always)]
unsafe fn comes(t: *mut Thread, address: usize, size: usize, code: usize) -> bool {
    let access = Access { code, address, size };
    (*t).spin.comes(&access, now(), &ProgramMemory, || snapshot(t, code, AT_HOOK))
}

/// Handles an access that the running thread, at a point, is about to make, and that is not counted yet. Returns when it makes
/// it.
#[inline(always)]
pub(super) unsafe fn before(address: usize, size: usize, code: usize) {
    let t = current();
    let spin = &raw mut (*t).spin;
    (*spin).reports_next(now());
    if comes(t, address, size, code) {
        wait(t, address, code);
    }
    (*spin).reported_next(now());
    (*spin).stop_watching_busy();
    if (*spin).is_watched(now()) {
        arm();
    }
}

/// Notes that the next operation of the running thread touches this memory too.
pub(crate) unsafe fn also(address: usize, size: usize) {
    (*current()).spin.note(address, size, &ProgramMemory);
}

/// Handles an access that is not a point and is already counted, because the budget was used up.
pub(crate) unsafe fn looks(address: usize, size: usize, code: usize) {
    let t = current();
    let spin = &raw mut (*t).spin;
    if now() > (*spin).watched_until() {
        return;
    }
    (*spin).reports_counted(now());
    if comes(t, address, size, code) {
        super::uncount();
        wait(t, address, code);
        super::count();
    }
    (*spin).reported_counted(now());
    (*spin).stop_watching_busy();
}

/// Returns whether the running thread, which was watched, does more than wait.
pub(super) unsafe fn is_busy() -> bool {
    (*current()).spin.is_busy(&ProgramMemory)
}

/// Returns whether hooks wipe what they leave behind: if the running thread is watched, and is on its own stack, with room below.
/// Stacks that programs create themselves, for coroutines or handlers, may end anywhere.
pub(super) unsafe fn wipes() -> bool {
    /// `main` has megabytes.
    const OF_MAIN: usize = 1 << 20;
    let t = current();
    let here = &raw const t as usize;
    if !is_watching() || !(*t).handler.is_null() || (*t).stack_is_empty() {
        return false;
    }
    match (*t).number {
        ThreadId::MAIN => ((*(*t).stack).slot as usize).checked_sub(here).is_some_and(|depth| depth < OF_MAIN),
        _ => {
            let end = (*t).fs.saturating_sub((*t).stack_size) + 4 * WIPED;
            !(*t).foreign_stack && (end..(*t).fs).contains(&here)
        }
    }
}

/// Returns whether the next event of the running thread is examined here, whatever it is.
pub(super) unsafe fn is_watching() -> bool {
    (*current()).spin.is_watched(now())
}

/// Makes every event of the running thread reach this module from now on, up to the returned event, unless it is busy before.
pub(super) unsafe fn watch() -> EventNumber {
    (*current()).spin = Spin::watched_from(now());
    (*current()).spin.watched_until()
}

/// Makes the running thread wait until what it has read changes.
#[cold]
unsafe fn wait(t: *mut Thread, address: usize, code: usize) {
    let n = now().next();
    let others = ready_count() > 1 || SUSPENDED.get() > 0 || hold::is_active();
    // If the plan continues with it, it continues.
    let planned = (*PLAN.ptr()).tail_from <= n || (*PLAN.ptr()).switches.speaks_of_thread(n, me());
    if others && planned && running() {
        (*t).code = code;
        (*t).pending = Wait::Change;
        (*t).object = address;
        (*t).deadline = Deadline::NEVER;
        make_unready(t, State::Blocked);
        log_state(t, Kind::Blocked, n);
        AWAITING.set(AWAITING.get() + 1);
        decide_and_switch(n, false, Cause::Blocked);
        AWAITING.set(AWAITING.get() - 1);
        (*t).pending = Wait::Nothing;
    }
    (*t).spin = Spin::anew(now());
}

/// Called when the running thread, in a call that returns to `code`, is about to wait on a condition variable. Returns whether it
/// did so before in the same state, was woken up spuriously, and has only read since: then everything is as if it had not been
/// woken up.
pub(crate) unsafe fn waits_again(condition: usize, mutex: usize, code: usize) -> bool {
    let t = current();
    let before = (*t).wakeup;
    let state = snapshot(t, code, AT_CALL);
    (*t).wakeup = Wakeup { state, condition, mutex, woken: false, switches: 0 };
    before.woken
        && before.switches == super::switches()
        && (before.condition, before.mutex) == (condition, mutex)
        && before.state.is_same(&state)
        && (*t).spin.is_current(now())
        && !(*t).spin.is_busy(&ProgramMemory)
}

/// Notes that the running thread was woken up spuriously, and has its mutex again. The argument is the number of switches at that
/// time.
pub(crate) unsafe fn woken_for_nothing(switches: u64) {
    watch();
    arm();
    let wakeup = &raw mut (*current()).wakeup;
    (*wakeup).woken = true;
    (*wakeup).switches = switches;
}

/// Number of threads that wait here.
#[unsafe(link_section = ".data.racehunter")]
static AWAITING: Global<u32> = Global::new(0);

/// Starts an execution.
pub(super) fn begin() {
    AWAITING.set(0);
}

/// Returns whether what the thread has read was changed.
pub(crate) unsafe fn available(t: *const Thread) -> bool {
    (*t).spin.is_changed(&ProgramMemory)
}

#[inline(always)]
pub(super) fn is_awaited() -> bool {
    AWAITING.get() > 0
}

/// Checks, before event `n`, which waits have ended.
#[cold]
pub(super) unsafe fn review(n: EventNumber) {
    for number in threads() {
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

/// Returns a thread that waits here, because no other can continue and waiting is pointless.
pub(super) unsafe fn give_up(after: ThreadId) -> Option<ThreadId> {
    if !is_awaited() {
        return None;
    }
    cyclic_after(after, COUNT.get()).find(|&number| waits(thread(number)))
}
