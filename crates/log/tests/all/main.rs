//! Tests of the typed log, in one program.

mod clocks;
mod dependence;
mod families;
mod records;
