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

    /// Run every plan, and pass the executions on one by one, in the order of the plans. The next plans may run meanwhile, and an
    /// execution that was passed on need not stay in memory. Returns the next ones that were run and not passed on: see [`Flow`].
    fn run_each(
        &mut self,
        plans: &[Plan],
        each: &mut dyn FnMut(&Execution) -> Flow,
    ) -> Result<Vec<Execution>, ExecutorError> {
        let mut executions = self.run(plans)?.into_iter();
        for execution in &mut executions {
            match each(&execution) {
                Flow::Next => {}
                Flow::Pause => return Ok(executions.collect()),
                Flow::Stop => return Ok(Vec::new()),
            }
        }
        Ok(Vec::new())
    }

    /// Make the accesses at these sites (numbers as in `Record::site`) points from now on. Returns how many of them
    /// were not points before.
    fn add_points(&mut self, sites: &[u32]) -> usize;

    /// Libraries that the program has loaded on its way so far: load address and file. Their code addresses can be in
    /// any execution from then on.
    fn libraries(&self) -> Vec<(u64, PathBuf)> {
        Vec::new()
    }
}

/// What is to become of the other executions of [`Executor::run_each`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// The next one is passed on.
    Next,
    /// Those that were run are returned, and no others are begun: the executor is needed for something else first.
    Pause,
    /// They are not wanted.
    Stop,
}

/// Why nothing more can be run.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ExecutorError(pub String);
