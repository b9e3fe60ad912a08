//! Locks: which are surely held, and which pairs of accesses they keep apart.
//!
//! [`lockset`] says what a lock is and when two locksets exclude each other. [`recursion`] counts recursive mutexes, [`flags`] follows variables
//! that are used as locks, [`striping`] tells locks of arrays by their index, [`condition`] releases a mutex while a thread waits, and [`summary`] says what a
//! call does to locks as a whole.
//!
//! Start at [`lockset`].

pub mod condition;
pub mod flags;
pub mod lockset;
pub mod recursion;
pub mod striping;
pub mod summary;
