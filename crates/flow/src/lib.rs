//! What becomes of the values that a program reads, by its code.
//!
//! A read matters to its thread only through what is done with its value. [`Flows`] follows the values of all loads along
//! def-use chains, through the arguments of calls too, to their uses, and says for each access of the program:
//!
//! * whether its value is **decisive**: it may decide at once what the thread does next (the condition of a branch, a
//!   divisor, an argument of code that is not known), or goes where it is not followed (a phi, the result of a function,
//!   memory that is not instrumented);
//! * which loads decide its **address**, and which flow into the **value** that it writes. What is meant is always the
//!   latest execution of that load by the thread.
//!
//! The latest one is the right one, because: a use is dominated by the instructions that its value comes from, so when it
//! is executed, the latest execution of each of them in this activation of the function is what it is made of; an
//! activation that passes a value as an argument waits until the callee is done; and a function that can be entered again
//! before it is done ([`reentrance`]) has only decisive loads. Phis and results of functions are not followed because for
//! them this does not hold.
//!
//! What is said is more than what is the case, never less: it is for predictors that keep what a read saw wherever it may
//! matter. The crate knows nothing of executions and traces. Start at [`Flows::of_program`].
#![forbid(unsafe_code)]

mod reentrance;
mod uses;

use racehunter_ir::{Module, Operation};
use uses::Uses;

/// What an access of the program is, and depends on. Sites are numbered over all modules.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flow {
    /// It takes a value from memory, and puts one there.
    pub reads: bool,
    /// See `reads`.
    pub writes: bool,
    /// Size of the access in bytes.
    pub bytes: u64,
    /// What it reads may decide at once what the thread does.
    pub decisive: bool,
    /// Loads that decide its address.
    pub address: Vec<u32>,
    /// Loads that flow into the value that it writes.
    pub value: Vec<u32>,
}

/// What is known about all sites of a program.
#[derive(Clone, Debug, Default)]
pub struct Flows {
    sites: Vec<Option<Flow>>,
}

impl Flows {
    /// Follows all values of a program: its modules, in the order in which they were linked.
    #[must_use]
    pub fn of_program(modules: &[Module]) -> Self {
        let mut sites: Vec<Option<Flow>> = Vec::new();
        let mut firsts = Vec::new();
        for module in modules {
            firsts.push(sites.len() as u32);
            sites.resize(sites.len() + module.site_count as usize, None);
        }
        let uses = Uses::of(modules, &firsts);
        for (module, &first) in modules.iter().zip(&firsts) {
            for function in &module.functions {
                for instruction in &function.instructions {
                    let Some(site) = instruction.site.map(|site| first + site) else { continue };
                    if let Some(entry) = sites.get_mut(site as usize) {
                        *entry = access(&instruction.operation);
                    }
                }
            }
        }
        let mut flows = Self { sites };
        for &load in &uses.decisive {
            flows.change(load, |flow| flow.decisive = true);
        }
        for &(site, load) in &uses.addresses {
            flows.change(site, |flow| flow.address.push(load));
        }
        for &(site, load) in &uses.values {
            flows.change(site, |flow| flow.value.push(load));
        }
        for flow in flows.sites.iter_mut().flatten() {
            for list in [&mut flow.address, &mut flow.value] {
                list.sort_unstable();
                list.dedup();
            }
        }
        flows
    }

    fn change(&mut self, site: u32, change: impl FnOnce(&mut Flow)) {
        if let Some(Some(flow)) = self.sites.get_mut(site as usize) {
            change(flow);
        }
    }

    /// What is known about a site; nothing when it is no simple access.
    #[must_use]
    pub fn of(&self, site: u32) -> Option<&Flow> {
        self.sites.get(site as usize)?.as_ref()
    }

    /// Accesses that are known, and how many of their reads are not decisive.
    #[must_use]
    pub fn counts(&self) -> (usize, usize) {
        let known = self.sites.iter().flatten();
        (known.clone().count(), known.filter(|flow| flow.reads && !flow.decisive).count())
    }
}

/// What kind of access an operation is, if it is a simple one.
fn access(operation: &Operation) -> Option<Flow> {
    let (reads, writes, bytes) = match *operation {
        Operation::Load { bytes, .. } => (true, false, bytes),
        Operation::Store { bytes, .. } => (false, true, bytes),
        Operation::Update { bytes, .. } => (true, true, bytes),
        _ => return None,
    };
    Some(Flow { reads, writes, bytes, ..Flow::default() })
}
