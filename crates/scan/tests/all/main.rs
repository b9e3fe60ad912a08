//! Tests of the whole analysis against the truth.

mod clocks;
mod library;
mod lower;
mod machine;
mod mutants;
mod publication;
mod random;
mod source;
mod truth;
