//! Who runs plans.

use crate::{Execution, Plan};
use std::path::PathBuf;

/// Runs a program under plans.
///
/// Deterministic: the same plan gives the same execution, up to what the program itself draws from outside.
pub trait Executor {
    /// Run every plan, from the program's start to its end each, and return the executions in the same order.
    ///
    /// A program that crashes, hangs or kills itself is an execution like any other. An error means that nothing
    /// more can be run.
    fn run(&mut self, plans: &[Plan]) -> Result<Vec<Execution>, ExecutorError>;

    /// Make the accesses at these sites (numbers as in `Record::site`) points from now on. Returns how many of them
    /// were not points before.
    fn add_points(&mut self, sites: &[u32]) -> usize;

    /// Libraries that the program has loaded on its way so far: load address and file. Their code addresses can be in
    /// any execution from then on.
    fn libraries(&self) -> Vec<(u64, PathBuf)> {
        Vec::new()
    }
}

/// Why nothing more can be run.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ExecutorError(pub String);
