//! Abstract domains: the possible values.
//!
//! Every domain is a [`lattice::Lattice`]: where paths meet, or several writers store, values are joined, and a join
//! never loses a possibility. [`congruence`] has offsets by residue, [`interval`] numbers between bounds, [`affine`]
//! multiples of a thread's number plus an interval, [`constants`] a few values, [`linear`] the symbolic form of an
//! address.
//!
//! Start at [`lattice`].

pub mod affine;
pub mod congruence;
pub mod constants;
pub mod interval;
pub mod lattice;
pub mod linear;
