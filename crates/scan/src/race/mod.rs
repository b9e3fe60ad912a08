//! Races: from accesses to candidates, the most convincing first.
//!
//! [`access`] collects what threads touch ([`touch`], [`lifetime`]), [`candidates`] drops pairs that something keeps apart, [`ranking`] orders the
//! rest, and [`description`] and [`explanation`] say what they are.
//!
//! Start at [`candidates::candidates`].

pub mod access;
pub mod candidates;
pub mod description;
pub mod explanation;
mod format;
pub mod lifetime;
pub mod ranking;
pub(crate) mod touch;
