//! Vector clocks: what each thread knows of the others.
//!
//! A thread's clock has an entry for every thread. Clocks of synchronisation objects are only as long as the number
//! of threads that existed when they were last written.
//!
//! A thread also has a *family clock*, which records only the creation and joining of threads. What it orders has the
//! same order in every schedule, and is not worth a scheduling point.

use crate::thread::{COUNT, CURRENT, Thread, current, thread};
use crate::{Global, annotations, arena, shadow};

/// Clock of the running thread, in the form in which the shadow stores it (see [`crate::shadow`]).
#[unsafe(no_mangle)]
#[unsafe(link_section = ".data.racehunter")]
pub(crate) static RH_EPOCH: Global<u64> = Global::new(shadow::epoch(STEP, 0));
/// What a release adds to a clock. Odd clocks are those of signal handlers: see [`enter_handler`].
pub(crate) const STEP: u32 = 2;

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

/// Turns the detector on or off.
pub(crate) unsafe fn detect(on: bool) {
    DETECTS.set(on);
    RH_DETECT.set(u8::from(on && annotations::looks_at(current())));
}

/// Sets [`RH_EPOCH`] from the running thread's own entry, and what else the hooks know of it.
pub(crate) unsafe fn load_epoch() {
    let number = CURRENT.get();
    let own = *(*thread(number)).clock.add(number as usize);
    RH_EPOCH.set(shadow::epoch(own, number));
    RH_FAMILY.set((*thread(number)).family);
    RH_DETECT.set(u8::from(DETECTS.get() && annotations::looks_at(thread(number))));
}

/// The running thread's next accesses are not covered by what it has released so far.
pub(crate) unsafe fn tick() {
    let number = CURRENT.get();
    let own = (*thread(number)).clock.add(number as usize);
    *own = advanced(*own);
    load_epoch();
}

/// The clock after a release. One that is used up stays as it is.
const fn advanced(clock: u32) -> u32 {
    if clock + STEP <= shadow::LAST_CLOCK { clock + STEP } else { clock }
}

/// The running thread starts a signal handler. What it does there can come between any two of its own steps, so
/// memory that both use is shared. Its clock is odd until [`leave_handler`].
pub(crate) unsafe fn enter_handler() {
    let number = CURRENT.get() as usize;
    let t = current();
    // From now on the thread's own past is checked too.
    *(*t).family.add(number) = 0;
    move_to(advanced(*(*t).clock.add(number)) | 1);
}

/// The running thread is out of its handlers.
pub(crate) unsafe fn leave_handler() {
    move_to(advanced(*(*current()).clock.add(CURRENT.get() as usize)) & !1);
}

unsafe fn move_to(clock: u32) {
    *(*current()).clock.add(CURRENT.get() as usize) = clock.min(shadow::LAST_CLOCK);
    load_epoch();
}

unsafe fn join(into: *mut u32, from: *const u32, len: u32) {
    for i in 0..len as usize {
        if *from.add(i) > *into.add(i) {
            *into.add(i) = *from.add(i);
        }
    }
}

/// The running thread learns what the object carries.
pub(crate) unsafe fn acquire(clock: &SyncClock) {
    acquire_for(current(), clock);
}

/// A thread learns what the object carries.
pub(crate) unsafe fn acquire_for(t: *mut Thread, clock: &SyncClock) {
    if DETECTS.get() && (*t).ignores_order == 0 {
        join((*t).clock, clock.entries, clock.len);
    }
}

/// The running thread learns what all others have done.
pub(crate) unsafe fn acquire_everything() {
    for number in 0..COUNT.get() {
        join((*current()).clock, (*thread(number)).clock, COUNT.get());
    }
}

/// The running thread's entry in its own clock.
pub(crate) unsafe fn own() -> u32 {
    *(*current()).clock.add(CURRENT.get() as usize)
}

/// Whether the running thread is ordered after what another thread, or it itself, did when that thread's own entry
/// had this value.
pub(crate) unsafe fn knows(number: u32, entry: u32) -> bool {
    number == CURRENT.get() || *(*current()).clock.add(number as usize) >= entry
}

/// What a relaxed load has seen takes effect at the next acquire fence.
pub(crate) unsafe fn acquire_at_fence(clock: &SyncClock) {
    if DETECTS.get() && clock.len > 0 {
        let t = current();
        if (*t).acquire_fence.is_null() {
            (*t).acquire_fence = crate::thread::new_clock();
        }
        join((*t).acquire_fence, clock.entries, clock.len);
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
        ensure(clock, COUNT.get());
        join(clock.entries, (*current()).clock, COUNT.get());
        tick();
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
        ensure(clock, COUNT.get());
        join(clock.entries, fence, COUNT.get());
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
        join((*t).clock, (*t).acquire_fence, COUNT.get());
    }
    if releases {
        if (*t).release_fence.is_null() {
            (*t).release_fence = crate::thread::new_clock();
        }
        core::ptr::copy_nonoverlapping((*t).clock, (*t).release_fence, COUNT.get() as usize);
        tick();
    }
}

/// A new thread knows what its creator knows.
pub(crate) unsafe fn inherit(child: *mut Thread) {
    let (number, own) = ((*child).number as usize, *(*child).clock.add((*child).number as usize));
    // All entries, not only those of the threads that exist: an earlier iteration may have had more.
    let entries = (*child).clock_entries as usize;
    core::ptr::copy_nonoverlapping((*current()).clock, (*child).clock, entries);
    // Clocks of an earlier iteration of an in-process loop stay behind: continue from where this entry was.
    *(*child).clock.add(number) = advanced(own & !1);
    // Also if the detector does not run yet: a static constructor may create a thread, and what the creator does from
    // now on is not ordered before the thread.
    let creator = CURRENT.get() as usize;
    core::ptr::copy_nonoverlapping((*current()).family, (*child).family, entries);
    *(*child).family.add(creator) = *(*current()).clock.add(creator);
    *(*child).family.add(number) = u32::MAX;
    tick();
}

/// The running thread has waited for the end of `t`.
pub(crate) unsafe fn join_thread(t: *mut Thread) {
    if DETECTS.get() {
        join((*current()).clock, (*t).clock, COUNT.get());
        join((*current()).family, (*t).family, COUNT.get());
        let number = (*t).number as usize;
        *(*current()).family.add(number) = *(*t).clock.add(number);
    }
}

/// Everything so far happened before everything that follows. Between iterations of an in-process loop.
pub(crate) unsafe fn settle(threads: u32) {
    let (clock, family) = ((*thread(0)).clock, (*thread(0)).family);
    for n in 0..threads as usize {
        *clock.add(n) = *(*thread(n as u32)).clock.add(n);
        *family.add(n) = *clock.add(n);
    }
    *family = u32::MAX;
    tick();
}
