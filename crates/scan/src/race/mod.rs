//! Races: from accesses to candidates, the most convincing first.
//!
//! [`access`] collects what threads touch ([`touch`], [`lifetime`]), [`candidates`] drops pairs that something
//! excludes, [`publication`] decides which accesses to fresh memory count, [`ranking`] sorts the rest, and [`description`] and [`explanation`] put them into words.
//!
//! Start at [`candidates::candidates`].

pub mod access;
pub mod candidates;
pub mod description;
pub mod explanation;
pub(crate) mod format;
pub mod lifetime;
mod nothing;
pub mod publication;
pub mod ranking;
pub(crate) mod touch;
