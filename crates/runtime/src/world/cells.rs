//! Cells for state that is not memory.
//!
//! A cell counts how often its state was changed. That makes it memory like any other for a thread that polls until
//! something has changed, see [`crate::schedule::spin`].

use crate::thread::COUNT;
use crate::{Global, free, io, log, rust, schedule, signals, time};
use racehunter_abi::{Kind, Touched};
use racehunter_machine::BitSet;

/// Number of cells. States that share a cell by accident count as the same state, which costs schedules and hides none.
const CELLS: usize = 2048;
static VERSIONS: Global<[u64; CELLS]> = Global::new([0; CELLS]);
/// Cells whose state was changed in this execution.
static CHANGED: Global<BitSet<{ CELLS / 64 }>> = Global::new(BitSet::EMPTY);

/// When each state was last changed, by the realtime clock.
static CHANGED_AT: Global<[u64; CELLS]> = Global::new([0; CELLS]);

/// Cells of files whose times do not all result from the last change.
static HAS_TIMES: Global<BitSet<{ CELLS / 64 }>> = Global::new(BitSet::EMPTY);

/// Cells whose state is mapped as memory.
static MAPPED: Global<BitSet<{ CELLS / 64 }>> = Global::new(BitSet::EMPTY);

/// The tree of directories, and kernel state of the process: working directory, file mode mask, limits.
pub(crate) const TREE: u16 = 1;
/// Other state of the kernel and the C library for the process: signal actions, mappings and their protection, keys.
pub(crate) const SETTINGS: u16 = 2;
/// The output.
pub(crate) const OUTPUT: u16 = 3;
/// Cells before this one cover too many things: the order of two threads there orders nothing else.
const FIRST: u64 = 4;

/// Returns the cell for a hash.
pub(crate) const fn of(hash: u64) -> u16 {
    let mixed = hash.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
    (FIRST + mixed % (CELLS as u64 - FIRST)) as u16
}

/// Returns whether the state was changed in this execution.
pub(crate) unsafe fn is_changed(cell: u16) -> bool {
    (*CHANGED.ptr()).contains(cell.into())
}

/// Returns when the state was last changed in this execution, if it was.
pub(crate) unsafe fn changed_at(cell: u16) -> Option<u64> {
    is_changed(cell).then(|| (*CHANGED_AT.ptr())[cell as usize])
}

/// Returns whether the file has times that its last change does not determine.
pub(crate) unsafe fn has_times(cell: u16) -> bool {
    (*HAS_TIMES.ptr()).contains(cell.into())
}

/// Notes that some of the times of a file are changed.
pub(crate) unsafe fn give_times(cell: u16) {
    (*HAS_TIMES.ptr()).insert(cell.into());
}

/// Returns whether the state is also mapped as memory.
pub(crate) unsafe fn is_mapped(cell: u16) -> bool {
    (*MAPPED.ptr()).contains(cell.into())
}

/// Notes that the state is mapped as memory: later changes to that memory are not seen.
pub(crate) unsafe fn map(cell: u16) {
    (*MAPPED.ptr()).insert(cell.into());
}

unsafe fn version(cell: u16) -> *mut u64 {
    (VERSIONS.ptr() as *mut u64).add(cell as usize % CELLS)
}

/// In the names of objects with a clock: above every address, distinct from files and channels.
const OBJECTS: usize = 1 << 59;

/// Releases the running thread's clock to threads that find the state.
pub(crate) unsafe fn pass_on(cell: u16) {
    io::release(OBJECTS | cell as usize);
}

/// Orders the running thread after the thread that left the state.
pub(crate) unsafe fn learn(cell: u16) {
    io::learn(OBJECTS | cell as usize);
}

/// Announces that the running thread is about to read or change state. While there has never been another thread, nor a handler
/// that could interrupt it, this is ordered anyway, and not an event.
pub(crate) unsafe fn touch(touched: Touched, code: usize) {
    touch_and(true, touched, code);
}

/// As [`touch`], for a call that tells its caller nothing about what other threads did to the state: two threads that write to one
/// log are not ordered by it.
pub(crate) unsafe fn touch_blindly(touched: Touched, code: usize) {
    touch_and(false, touched, code);
}

unsafe fn touch_and(learns: bool, touched: Touched, code: usize) {
    for (cell, _) in touched.parts().filter(|&(_, changes)| changes) {
        (*CHANGED.ptr()).insert(cell.into());
        (*CHANGED_AT.ptr())[cell as usize] = time::realtime();
    }
    if !touch_apart(touched, code) {
        return;
    }
    for (cell, changes) in touched.parts() {
        // A program may synchronise its threads by the contents of files.
        if learns && u64::from(cell) >= FIRST {
            learn(cell);
        }
        if changes {
            pass_on(cell);
        }
    }
}

/// Announces that the running thread is about to use or change state of the kernel or the C library for the process, in a
/// function that may be called from anywhere.
///
/// Rust's standard library calls such functions itself, for each thread or once per process. As events they would interfere with
/// every test, and make the iterations of an in-process loop differ.
pub(crate) unsafe fn touch_settings(code: usize) {
    if schedule::running() && !free::is_on() && !rust::is_rust() {
        let mut touched = Touched::default();
        touched.add(SETTINGS, true);
        touch(touched, code);
    }
}

/// As [`touch`], for state that does not order threads. Returns whether it was an event.
pub(crate) unsafe fn touch_apart(touched: Touched, code: usize) -> bool {
    if COUNT.get() <= 1 && !signals::are_handled() {
        return false;
    }
    let Some((first, _)) = touched.parts().next() else { return false };
    let changes = touched.changes();
    let addresses = touched.parts().map(|(cell, _)| version(cell) as usize);
    let n = schedule::state_point(code, addresses, changes);
    log::event(Kind::State, n, first as usize, touched.pack(), u8::from(changes));
    for (cell, _) in touched.parts().filter(|&(_, changes)| changes) {
        *version(cell) += 1;
    }
    true
}
