//! Vector clocks: what each thread knows about the others. The rules are those of [`racehunter_machine::ThreadClocks`].

use crate::thread::{COUNT, CURRENT, Thread, current, thread, threads};
use crate::{Global, annotations, arena, log, schedule, shadow};
use racehunter_abi::{Escape, UNMODELLED_CLOCK, UNMODELLED_FUNCTION};
use racehunter_machine::{ClockValue, ThreadClocks, ThreadId, join};

/// Clock of the running thread, in the form in which the shadow stores it (see [`crate::shadow`]).
#[unsafe(no_mangle)]
#[unsafe(link_section = ".data.racehunter")]
pub(crate) static RH_EPOCH: Global<u64> = Global::new(shadow::epoch(ClockValue::FIRST, ThreadId::MAIN));

const _: () = assert!(ClockValue::LAST.0 == shadow::LAST_CLOCK, "shadow words can express every clock");

/// Whether the detector runs.
#[unsafe(link_section = ".data.racehunter")]
pub(crate) static DETECTS: Global<bool> = Global::new(false);

/// Whether it checks the accesses of the running thread.
#[unsafe(no_mangle)]
#[unsafe(link_section = ".data.racehunter")]
pub(crate) static RH_DETECT: Global<u8> = Global::new(0);

/// Family clock of the running thread. Its own entry is `u32::MAX`: what a thread did itself is always in its past.
#[unsafe(no_mangle)]
#[unsafe(link_section = ".data.racehunter")]
pub(crate) static RH_FAMILY: Global<*mut u32> = Global::new(core::ptr::null_mut());

/// The clock of a synchronisation object.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct SyncClock {
    entries: *mut u32,
    len: u32,
    capacity: u32,
}

impl SyncClock {
    /// Returns its entries.
    #[inline]
    unsafe fn entries(&self) -> &[u32] {
        // An object that nothing was released to has no entries, and no memory for them.
        if self.len == 0 { &[] } else { core::slice::from_raw_parts(self.entries, self.len as usize) }
    }

    /// Makes room for an entry of every thread.
    #[inline]
    unsafe fn entries_of_all(&mut self) -> &mut [u32] {
        ensure(self, COUNT.get());
        core::slice::from_raw_parts_mut(self.entries, self.len as usize)
    }
}

/// Returns the clocks of a thread. No two of the same thread may be in use.
#[inline(always)]
unsafe fn clocks<'a>(t: *mut Thread) -> ThreadClocks<'a> {
    let entries = (*t).clock_entries as usize;
    ThreadClocks {
        thread: (*t).number,
        clock: core::slice::from_raw_parts_mut((*t).clock, entries),
        family: core::slice::from_raw_parts_mut((*t).family, entries),
    }
}

/// Returns a clock of the running thread that has an entry for every thread.
#[inline]
unsafe fn entries<'a>(clock: *mut u32) -> &'a mut [u32] {
    core::slice::from_raw_parts_mut(clock, COUNT.get() as usize)
}

/// Turns the detector on or off.
pub(crate) unsafe fn detect(on: bool) {
    DETECTS.set(on);
    RH_DETECT.set(u8::from(on && annotations::looks_at(current())));
}

/// From this value on a clock may not advance any more. Handlers take more than one step.
const NEARLY_LAST: u32 = ClockValue::LAST.0 - 8;

/// Clocks go on from one execution of a loop to the next. From this value on the process is replaced, so that each execution has
/// nearly as many values as one in a process of its own.
const MUCH: u32 = ClockValue::LAST.0 / 16;

/// Returns whether the clock of any thread has got so far that another execution should begin in a new process.
pub(crate) unsafe fn has_used_much() -> bool {
    threads().any(|number| *(*thread(number)).clock.add(number.index()) >= MUCH)
}

/// Handles a clock that can no longer advance: from now on, the running thread's actions look ordered with what others
/// know about it.
#[cold]
unsafe fn run_out() {
    #[unsafe(link_section = ".data.racehunter")]
    static LOGGED: Global<bool> = Global::new(false);
    if DETECTS.get() && schedule::running() && !LOGGED.get() {
        LOGGED.set(true);
        log::escape(Escape::Unmodelled, (*current()).code, (UNMODELLED_FUNCTION + UNMODELLED_CLOCK) as usize, 0);
    }
}

/// Sets [`RH_EPOCH`] from the running thread's own entry, and the other values that the hooks use.
pub(crate) unsafe fn load_epoch() {
    let number = CURRENT.get();
    let own = *(*thread(number)).clock.add(number.index());
    RH_EPOCH.set(shadow::epoch(ClockValue(own), number));
    if own >= NEARLY_LAST {
        run_out();
    }
    RH_FAMILY.set((*thread(number)).family);
    RH_DETECT.set(u8::from(DETECTS.get() && annotations::looks_at(thread(number))));
}

/// Advances the clock: the running thread's next accesses are not covered by what it has released so far.
pub(crate) unsafe fn tick() {
    clocks(current()).tick();
    load_epoch();
}

/// Notes that the running thread starts a signal handler. Its actions there can come between any two of its own steps, so
/// memory that both use is shared. Its clock is odd until [`leave_handler`].
pub(crate) unsafe fn enter_handler() {
    clocks(current()).enter_handler();
    load_epoch();
}

/// Notes that the running thread has left its handlers.
pub(crate) unsafe fn leave_handler() {
    clocks(current()).leave_handler();
    load_epoch();
}

/// Orders the running thread after what the object carries.
pub(crate) unsafe fn acquire(clock: &SyncClock) {
    acquire_for(current(), clock);
}

/// Orders a thread after what the object carries.
pub(crate) unsafe fn acquire_for(t: *mut Thread, clock: &SyncClock) {
    if DETECTS.get() && (*t).ignores_order == 0 {
        clocks(t).acquire(clock.entries());
    }
}

/// Orders the running thread after everything that all others have done.
pub(crate) unsafe fn acquire_everything() {
    for number in threads().filter(|&number| number != CURRENT.get()) {
        clocks(current()).acquire(entries((*thread(number)).clock));
    }
}

/// Returns the running thread's entry in its own clock.
pub(crate) unsafe fn own() -> ClockValue {
    clocks(current()).own()
}

/// Returns whether the running thread is ordered after what a thread (possibly itself) did when that thread's own entry
/// had this value.
pub(crate) unsafe fn knows(thread: ThreadId, value: ClockValue) -> bool {
    clocks(current()).knows(thread, value)
}

/// Stores what a relaxed load has seen until the next acquire fence.
pub(crate) unsafe fn acquire_at_fence(clock: &SyncClock) {
    if DETECTS.get() && clock.len > 0 {
        let t = current();
        if (*t).acquire_fence.is_null() {
            (*t).acquire_fence = crate::thread::new_clock(t);
        }
        join(entries((*t).acquire_fence), clock.entries());
    }
}

unsafe fn ensure(clock: &mut SyncClock, len: u32) {
    if clock.capacity < len {
        let capacity = len.next_power_of_two().max(16);
        let entries = arena::take(capacity as usize * 4) as *mut u32;
        core::ptr::copy_nonoverlapping(clock.entries, entries, clock.len as usize);
        clock.entries = entries;
        clock.capacity = capacity;
    }
    clock.len = clock.len.max(len);
}

/// Adds what the running thread knows to what the object carries.
pub(crate) unsafe fn release(clock: &mut SyncClock) {
    if DETECTS.get() && (*current()).ignores_order == 0 {
        clocks(current()).release(clock.entries_of_all());
        load_epoch();
    }
}

/// Replaces what the object carries with what the running thread knows: a release store starts a new sequence.
pub(crate) unsafe fn release_anew(clock: &mut SyncClock) {
    clear(clock);
    release(clock);
}

/// Makes the object carry what the thread knew at its last release fence, for a relaxed store after it.
pub(crate) unsafe fn release_from_fence(clock: &mut SyncClock, keep: bool) {
    if !keep {
        clear(clock);
    }
    let fence = (*current()).release_fence;
    if DETECTS.get() && !fence.is_null() {
        join(clock.entries_of_all(), entries(fence));
    }
}

pub(crate) unsafe fn clear(clock: &mut SyncClock) {
    if clock.len > 0 {
        core::ptr::write_bytes(clock.entries, 0, clock.len as usize);
        clock.len = 0;
    }
}

/// Performs a fence of the running thread.
pub(crate) unsafe fn fence(acquires: bool, releases: bool) {
    if !DETECTS.get() {
        return;
    }
    let t = current();
    if acquires && !(*t).acquire_fence.is_null() {
        clocks(t).acquire(entries((*t).acquire_fence));
    }
    if releases {
        if (*t).release_fence.is_null() {
            (*t).release_fence = crate::thread::new_clock(t);
        }
        core::ptr::copy_nonoverlapping((*t).clock, (*t).release_fence, COUNT.get() as usize);
        tick();
    }
}

/// Gives a new thread the knowledge of its creator, even if the detector does not run yet: a static constructor may create
/// a thread, and what the creator does from now on is not ordered before the thread.
pub(crate) unsafe fn inherit(child: *mut Thread) {
    clocks(current()).create(&mut clocks(child));
    load_epoch();
}

/// Orders the running thread after the end of `t`, which is another thread.
pub(crate) unsafe fn join_thread(t: *mut Thread) {
    if DETECTS.get() {
        clocks(current()).join_thread(&clocks(t));
    }
}

/// Orders everything so far before everything that follows. Called by `main` between iterations of an in-process loop.
pub(crate) unsafe fn settle(threads: u32) {
    let own = |number: ThreadId| ClockValue(*(*thread(number)).clock.add(number.index()));
    let of_main = own(ThreadId::MAIN);
    let last = |number| if number == ThreadId::MAIN { of_main } else { own(number) };
    clocks(thread(ThreadId::MAIN)).settle((0..threads).map(ThreadId).map(last));
    load_epoch();
}
