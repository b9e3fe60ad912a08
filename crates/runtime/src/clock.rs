//! Vector clocks: what each thread knows of the others. The rules are those of [`racehunter_machine::ThreadClocks`].

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
    /// What it carries.
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

/// The clocks of a thread. No two of the same thread may be in use.
#[inline(always)]
unsafe fn clocks<'a>(t: *mut Thread) -> ThreadClocks<'a> {
    let entries = (*t).clock_entries as usize;
    ThreadClocks {
        thread: (*t).number,
        clock: core::slice::from_raw_parts_mut((*t).clock, entries),
        family: core::slice::from_raw_parts_mut((*t).family, entries),
    }
}

/// A clock of the running thread that has an entry of every thread.
#[inline]
unsafe fn entries<'a>(clock: *mut u32) -> &'a mut [u32] {
    core::slice::from_raw_parts_mut(clock, COUNT.get() as usize)
}

/// Turns the detector on or off.
pub(crate) unsafe fn detect(on: bool) {
    DETECTS.set(on);
    RH_DETECT.set(u8::from(on && annotations::looks_at(current())));
}

/// From here on a clock may not advance any more. Handlers take more than one step.
const NEARLY_LAST: u32 = ClockValue::LAST.0 - 8;

/// The clock of the running thread does not advance any more: what it does from now on looks ordered with what others know
/// of it.
#[cold]
unsafe fn run_out() {
    #[unsafe(link_section = ".data.racehunter")]
    static LOGGED: Global<bool> = Global::new(false);
    if DETECTS.get() && schedule::running() && !LOGGED.get() {
        LOGGED.set(true);
        log::escape(Escape::Unmodelled, (*current()).code, (UNMODELLED_FUNCTION + UNMODELLED_CLOCK) as usize, 0);
    }
}

/// Sets [`RH_EPOCH`] from the running thread's own entry, and what else the hooks know of it.
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

/// The running thread's next accesses are not covered by what it has released so far.
pub(crate) unsafe fn tick() {
    clocks(current()).tick();
    load_epoch();
}

/// The running thread starts a signal handler. What it does there can come between any two of its own steps, so
/// memory that both use is shared. Its clock is odd until [`leave_handler`].
pub(crate) unsafe fn enter_handler() {
    clocks(current()).enter_handler();
    load_epoch();
}

/// The running thread is out of its handlers.
pub(crate) unsafe fn leave_handler() {
    clocks(current()).leave_handler();
    load_epoch();
}

/// The running thread learns what the object carries.
pub(crate) unsafe fn acquire(clock: &SyncClock) {
    acquire_for(current(), clock);
}

/// A thread learns what the object carries.
pub(crate) unsafe fn acquire_for(t: *mut Thread, clock: &SyncClock) {
    if DETECTS.get() && (*t).ignores_order == 0 {
        clocks(t).acquire(clock.entries());
    }
}

/// The running thread learns what all others have done.
pub(crate) unsafe fn acquire_everything() {
    for number in threads().filter(|&number| number != CURRENT.get()) {
        clocks(current()).acquire(entries((*thread(number)).clock));
    }
}

/// The running thread's entry in its own clock.
pub(crate) unsafe fn own() -> ClockValue {
    clocks(current()).own()
}

/// Whether the running thread is ordered after what another thread, or it itself, did when that thread's own entry
/// had this value.
pub(crate) unsafe fn knows(thread: ThreadId, value: ClockValue) -> bool {
    clocks(current()).knows(thread, value)
}

/// What a relaxed load has seen takes effect at the next acquire fence.
pub(crate) unsafe fn acquire_at_fence(clock: &SyncClock) {
    if DETECTS.get() && clock.len > 0 {
        let t = current();
        if (*t).acquire_fence.is_null() {
            (*t).acquire_fence = crate::thread::new_clock();
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

/// The object carries what the running thread knows, in addition to what it carried.
pub(crate) unsafe fn release(clock: &mut SyncClock) {
    if DETECTS.get() && (*current()).ignores_order == 0 {
        clocks(current()).release(clock.entries_of_all());
        load_epoch();
    }
}

/// The object carries what the running thread knows, and nothing else: a release store starts a new sequence.
pub(crate) unsafe fn release_anew(clock: &mut SyncClock) {
    clear(clock);
    release(clock);
}

/// The object carries what the thread knew at its last release fence: a relaxed store after it.
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

/// A fence of the running thread.
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
            (*t).release_fence = crate::thread::new_clock();
        }
        core::ptr::copy_nonoverlapping((*t).clock, (*t).release_fence, COUNT.get() as usize);
        tick();
    }
}

/// A new thread knows what its creator knows. Also if the detector does not run yet: a static constructor may create
/// a thread, and what the creator does from now on is not ordered before the thread.
pub(crate) unsafe fn inherit(child: *mut Thread) {
    clocks(current()).create(&mut clocks(child));
    load_epoch();
}

/// The running thread has waited for the end of `t`, which is another one.
pub(crate) unsafe fn join_thread(t: *mut Thread) {
    if DETECTS.get() {
        clocks(current()).join_thread(&clocks(t));
    }
}

/// Everything so far happened before everything that follows. Between iterations of an in-process loop, by `main`.
pub(crate) unsafe fn settle(threads: u32) {
    let own = |number: ThreadId| ClockValue(*(*thread(number)).clock.add(number.index()));
    let of_main = own(ThreadId::MAIN);
    let last = |number| if number == ThreadId::MAIN { of_main } else { own(number) };
    clocks(thread(ThreadId::MAIN)).settle((0..threads).map(ThreadId).map(last));
    load_epoch();
}
