//! The interface to whatever runs plans.

use crate::{Execution, Plan};
use std::path::PathBuf;

/// Runs a program under plans.
///
/// Deterministic: the same plan gives the same execution, except for external input of the program.
pub trait Executor {
    /// Runs every plan from the program's start to its end, and returns the executions in the same order.
    ///
    /// A program that crashes, hangs or kills itself is an execution like any other. An error means that nothing more can be run.
    fn run(&mut self, plans: &[Plan]) -> Result<Vec<Execution>, ExecutorError>;

    /// Runs every plan, and passes the executions on one by one, in the order of the plans. The next plans may run meanwhile, and
    /// an execution that was passed on need not stay in memory. Returns the executions that were run and not passed on: see
    /// [`Flow`].
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

    /// Makes the accesses at these sites (numbers as in `Record::site`) points from now on. Returns how many of them were not
    /// points before.
    fn add_points(&mut self, sites: &[u32]) -> usize;

    /// Returns whether the program runs its test without a plan first, and more than once in a process. An execution without
    /// preemptions repeats what that did, unless something of it was left behind.
    fn repeats_test(&self) -> bool {
        false
    }

    /// Returns the libraries that the program has loaded so far: load address and file. Later executions may contain their code
    /// addresses.
    fn libraries(&self) -> Vec<(u64, PathBuf)> {
        Vec::new()
    }
}

/// How [`Executor::run_each`] continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// Pass on the next execution.
    Next,
    /// Return the executions that were already run, and start no others: the executor is needed for something else first.
    Pause,
    /// Discard the rest.
    Stop,
}

/// Why nothing more can be run.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ExecutorError(pub String);
