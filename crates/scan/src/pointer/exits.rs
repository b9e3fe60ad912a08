//! Functions that run when the program ends: destructors of global objects and static locals, and what `atexit` was given.
//!
//! They run in the thread in which `main` returns or `exit` is called. That another thread than the main one calls `exit`,
//! or that the main thread ends by itself, is a gap if there are such functions ([`crate::solver`]), so the main thread
//! runs them. Each place that registers one has an instance of it, with the argument that is registered there.
//!
//! They run in the opposite order of registration. For [`Exits::in_order`] it is known: these are registered by code
//! that runs before `main` or in it, at places that are executed at most once, and of any two of which one always comes
//! before the other. If that is true only for those from before `main`, and the main thread registers all others, these
//! ([`Exits::late`]) run before them, in any order and any number of times. If another thread registers one, or one of
//! the functions does so when the program ends already, nothing is known about the order of any.

use super::{InstanceId, MAIN, PointsTo};
use crate::cfg::loops::Loops;
use crate::models::AtExit;
use crate::pointer::address::{Addresses, Base};
use racehunter_ir::Instruction;
use std::cmp::Ordering;

/// The calls that lead to an instruction, the outermost first.
type Calls = Vec<(InstanceId, u32)>;

/// A function that runs when the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ExitFunction {
    /// Its instance.
    pub instance: InstanceId,
    /// The call that registers it.
    pub registered: (InstanceId, u32),
}

/// All functions that run when the program ends.
#[derive(Clone, Debug, Default)]
pub struct Exits {
    pub(super) all: Vec<ExitFunction>,
    /// Those whose order is known, in this order.
    pub in_order: Vec<InstanceId>,
    /// Those that run before them, in any order, any number of times.
    pub late: Vec<InstanceId>,
}

impl Exits {
    /// Returns true if nothing runs.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Returns all instances.
    pub fn instances(&self) -> impl Iterator<Item = InstanceId> + '_ {
        self.all.iter().map(|function| function.instance)
    }

    /// Returns the instances that a call registers.
    pub fn of_call(&self, call: (InstanceId, u32)) -> impl Iterator<Item = InstanceId> + '_ {
        self.all.iter().filter(move |function| function.registered == call).map(|function| function.instance)
    }
}

impl PointsTo<'_> {
    /// Handles a call that registers a function.
    pub(super) fn at_exit(&mut self, id: InstanceId, at: u32, call: &Instruction, model: &AtExit) {
        let argument = |this: &Self, index: usize| {
            call.operands.get(index + 1).map_or_else(Addresses::default, |operand| this.operand(id, operand))
        };
        let passed = model.argument.map(|index| argument(self, index)).unwrap_or_default();
        // The main thread gets it.
        self.passed.add_all(&passed);
        for (base, _) in argument(self, model.entry).iter() {
            let Base::Function(function) = *self.describe(base) else { continue };
            let known = self
                .exits
                .all
                .iter()
                .find(|known| known.registered == (id, at) && self.instances[known.instance].function == function);
            let instance = match known.map(|known| known.instance) {
                Some(instance) => instance,
                None => {
                    let instance = self.instance(function, MAIN, None);
                    self.exits.all.push(ExitFunction { instance, registered: (id, at) });
                    instance
                }
            };
            if let Some(parameter) = self.instances[instance].parameters.first_mut()
                && parameter.add_all(&passed)
            {
                self.parameter_changed(instance, 0);
            }
        }
    }

    /// Determines the order of all functions that run when the program ends.
    pub(super) fn order_exits(&mut self) {
        let all = self.exits.all.clone();
        for function in &all {
            let (id, at) = function.registered;
            // What is registered several times runs several times.
            if !self.is_place_once(id, at) {
                self.instances[function.instance].shared = true;
            }
        }
        let chains: Vec<(ExitFunction, Calls)> =
            all.iter().map(|function| (*function, self.chain(function.registered))).collect();
        // All in one order; or at least those from before `main`, if the main thread registers the others later.
        let in_order = self.in_order(chains.clone()).or_else(|| {
            // A function with several callers may also be called elsewhere.
            let is_later = |(_, chain): &(ExitFunction, Calls)| {
                chain.first().is_some_and(|(root, _)| *root == self.threads[MAIN].root)
                    && chain.iter().all(|(id, _)| !self.instances[*id].shared)
            };
            self.in_order(chains.into_iter().filter(|entry| !is_later(entry)).collect())
        });
        self.exits.in_order = in_order.unwrap_or_default();
        let is_late = |id: &InstanceId| !self.exits.in_order.contains(id);
        self.exits.late = all.iter().map(|function| function.instance).filter(is_late).collect();
    }

    /// Returns functions in the order in which they run, the opposite of that of registration; nothing if it is not known.
    fn in_order(&self, mut all: Vec<(ExitFunction, Calls)>) -> Option<Vec<InstanceId>> {
        for (index, (function, chain)) in all.iter().enumerate() {
            let (id, at) = function.registered;
            self.beginning(chain.first()?.0).filter(|_| self.is_place_once(id, at))?;
            for (_, other) in &all[index + 1..] {
                self.earlier(chain, other)?;
            }
        }
        all.sort_by(|(_, one), (_, other)| self.earlier(other, one).unwrap_or(Ordering::Equal));
        Some(all.into_iter().map(|(function, _)| function.instance).collect())
    }

    /// Returns the position of a function among those that the program begins with; `main` is the last of them.
    fn beginning(&self, root: InstanceId) -> Option<usize> {
        let early = self.before_main.iter().position(|early| *early == root);
        early.or_else(|| (root == self.threads[MAIN].root).then_some(self.before_main.len()))
    }

    /// Returns the calls that lead to an instruction, the outermost first.
    fn chain(&self, place: (InstanceId, u32)) -> Calls {
        let outer = |(id, _): &(InstanceId, u32)| self.instances[*id].caller;
        let mut chain: Vec<_> = std::iter::successors(Some(place), outer).take(self.instances.len()).collect();
        chain.reverse();
        chain
    }

    /// Returns which of two places in the main thread is always executed first, if both are. Each is executed at most
    /// once.
    fn earlier(&self, one: &[(InstanceId, u32)], other: &[(InstanceId, u32)]) -> Option<Ordering> {
        let (left, right) = one.iter().zip(other).find(|(left, right)| left != right)?;
        if left.0 != right.0 {
            return Some(self.beginning(left.0)?.cmp(&self.beginning(right.0)?));
        }
        let blocks = self.blocks_of(left.0);
        let (first, second) = (blocks.block_of[left.1 as usize], blocks.block_of[right.1 as usize]);
        if first == second {
            return Some(left.1.cmp(&right.1));
        }
        // Neither is in a cycle.
        let loops = Loops::of(blocks);
        match (loops.dominates(first, second), loops.dominates(second, first)) {
            (true, false) => Some(Ordering::Less),
            (false, true) => Some(Ordering::Greater),
            _ => None,
        }
    }
}
