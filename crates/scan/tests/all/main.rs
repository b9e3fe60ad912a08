//! Tests of the whole analysis against the truth.

mod lower;
mod machine;
mod mutants;
mod random;
mod source;
mod truth;
