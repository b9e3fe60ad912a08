//! Tests of the analysis as a whole, against truth.

mod lower;
mod machine;
mod mutants;
mod random;
mod source;
mod truth;
