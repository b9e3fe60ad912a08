//! Locks: which are definitely held, and which pairs of accesses they exclude.
//!
//! [`lockset`] defines locks, and when two locksets exclude each other. [`recursion`] counts recursive mutexes,
//! [`flags`] follows variables that are used as locks, [`striping`] identifies locks in arrays by their index,
//! [`condition`] releases a mutex while a thread waits, and [`summary`] describes the effect of whole calls on locks.
//!
//! Start at [`lockset`].

pub mod condition;
pub mod flags;
pub mod lockset;
pub mod recursion;
pub mod striping;
pub mod summary;
