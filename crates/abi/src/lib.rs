//! What the target and the controller agree on.
//!
//! The in-target runtime and the controller are two programs that share one memory region. This crate is the
//! contract between them: the [`Record`] that the runtime logs, the [`Switch`] that the controller asks for, and the
//! [`control`] region that carries both. It knows nothing about analyses, findings or processes, and is `no_std`
//! because the runtime is.
//!
//! # Numbering of events
//!
//! Everything in RaceHunter that names a position in an execution relies on these rules:
//!
//! * Every instrumented memory access and every synchronisation operation is an *event*. The events of an execution
//!   are numbered 1, 2, 3, ... in the order in which they happen, over all threads. Events are counted whether or not
//!   they are logged, so a number means the same whatever is logged.
//! * Before event `n` happens there may be a *decision*: which thread performs event `n`. A [`Switch`] `{ at: n, to }`
//!   says that it is `to`. The thread that would otherwise have performed event `n` stays where it is, just before
//!   its own operation.
//! * Once `to` was chosen for `n`, its next event is event `n`. Only when `to` has not yet said what it does next (it is
//!   new, or comes out of a wait) can it turn out to be blocked after all; then another decision for `n` follows.
//! * A thread whose next operation cannot complete (a mutex that is held) is not enabled. When it arrives at such an
//!   operation it is [`Kind::Blocked`], and a decision for that number follows; the operation gets its number when it
//!   completes.
//! * Operations that complete and *then* suspend the thread (the end of a thread, a sleep, the waiting part of a
//!   condition variable) have number `n`, and the decision that follows is for `n + 1`.
//!
//! Start reading at [`Record`], then [`control::Header`].
#![no_std]
#![forbid(unsafe_code)]

pub mod control;
pub mod detail;
mod escape;
mod file;
mod ids;
mod record;
mod state;
mod unmodelled;

pub use escape::{
    Escape, TRACES_OF_FIFOS, TRACES_OF_KERNEL, TRACES_OF_KEYS, TRACES_OF_LINKS, TRACES_OF_NETWORK, TRACES_OF_PORTS,
    TRACES_OF_PROCESSES,
};
pub use file::{File, FileKind, FileOperation, descriptor_at, descriptor_cell};
pub use ids::{Address, CodeAddress, EventNumber, SiteId, ThreadId, ThreadPath};
pub use record::{Cause, Kind, Misuse, RawRecord, Record, Wait};
pub use state::{Touched, state_object};
pub use unmodelled::{
    UNMODELLED, UNMODELLED_BUFFER, UNMODELLED_CANCELLATION, UNMODELLED_CEILING, UNMODELLED_CLOCK, UNMODELLED_COPY,
    UNMODELLED_EXIT, UNMODELLED_FORMAT, UNMODELLED_FUNCTION, UNMODELLED_HALF, UNMODELLED_LEFT, UNMODELLED_NODES,
    UNMODELLED_OUTSIDE, UNMODELLED_OVERWRITTEN, UNMODELLED_REENTRY, UNMODELLED_SECOND_EXIT, UNMODELLED_SEQUENCE,
    may_order,
};

/// Version of everything in this crate. The controller refuses a target that was built with another one.
pub const FORMAT_VERSION: u32 = 16;

/// Returns the identity of a thread, which does not depend on the schedule: a hash of its parent's identity and its
/// number among its siblings, from 1. `main` has 1.
#[must_use]
pub const fn path_of(parent: u64, sibling: u32) -> u64 {
    // The upper half, because `main` is 1, and so is its first child among its siblings.
    let mixed = (parent ^ ((sibling as u64) << 32)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed ^ (mixed >> 29)) | 1
}

/// Returns the identity of a thread that the program itself has numbered, by `racehunter_thread_id`. It replaces
/// [`path_of`] the thread, also for the threads that it creates from then on.
#[must_use]
pub const fn path_of_id(id: u64) -> u64 {
    // Cannot collide with family paths: there the lower half of the mixed value is a path, which is odd.
    let mixed = (id.rotate_left(17) ^ 0xD1B5_4A32_D192_ED02).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed ^ (mixed >> 31)) | 1
}

/// Returns a hash of the innermost callers of an access, the innermost first, for recognising it in another execution.
#[must_use]
pub fn callers_hash(callers: impl Iterator<Item = u64>) -> u64 {
    callers.fold(0x51_7CC1_B727_220A, |hash: u64, caller| {
        (hash.rotate_left(23) ^ caller).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    })
}

/// [`path_of`] the main thread.
pub const MAIN_PATH: u64 = 1;

/// One decision of a schedule: before event `at`, let thread `to` run.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Switch {
    /// The event that `to` performs.
    pub at: EventNumber,
    /// The thread that performs it.
    pub to: ThreadId,
    /// The thread that was running when the decision was made. A plan that finds another one has diverged.
    pub from: ThreadId,
    /// Where `from` was (see [`Record::code`]), if known. Another place means divergence.
    pub code: CodeAddress,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_a_family_are_unique() {
        extern crate std;
        let mut paths = std::collections::HashSet::from([MAIN_PATH]);
        for child in 1..=40 {
            let child = path_of(MAIN_PATH, child);
            assert!(paths.insert(child));
            for grandchild in 1..=40 {
                let grandchild = path_of(child, grandchild);
                assert!(paths.insert(grandchild));
                assert!((1..=40).all(|last| paths.insert(path_of(grandchild, last))));
            }
        }
        assert!((0..10_000).all(|id| paths.insert(path_of_id(id))));
        assert!(!paths.contains(&0));
    }
}
