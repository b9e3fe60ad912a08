//! Threads: which of them may happen in parallel ([`parallel`]), groups of threads that a loop creates and what each member has for itself
//! ([`groups`]), and loops that join all members of a group ([`joins`]).
//!
//! A thread of the analysis stands for all threads that one place creates. It is active from the call that creates it
//! until it is definitely joined; a thread that is created while an earlier one of the same place may be active is
//! parallel to itself.
//!
//! Start at [`parallel::ThreadTree`].

pub mod groups;
pub mod joins;
pub mod parallel;
