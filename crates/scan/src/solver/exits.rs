//! The end of the program: the functions that were registered for it run in the main thread ([`crate::pointer::exits`]).

use super::{Node, Solution, Solver, State, leave_thread};
use crate::models::Model;
use crate::order::SyncEvent;
use crate::pointer::address::{Addresses, Base};
use crate::pointer::{InstanceId, MAIN};
use std::collections::BTreeSet;

/// What is said about a program that does not end in its main thread.
const ELSEWHERE: &str = "functions that run at the end of the program, perhaps in another thread than the main one";

impl Solver<'_, '_> {
    /// Follows control from the end of `main`, or of a function that runs after it.
    pub(super) fn after_main(
        &mut self,
        id: InstanceId,
        state: &State,
        solution: &mut Solution,
        work: &mut BTreeSet<Node>,
    ) {
        let in_order = &self.points_to.exits.in_order;
        let next = in_order.iter().position(|other| *other == id).map(|index| index + 1);
        self.run_from(next, state, solution, work);
    }

    /// Notes a gap if a function that will run at the end of the program is not known. Of those outside the program, it is
    /// enough to know that they do not touch its memory.
    pub(super) fn register(&mut self, id: InstanceId, at: u32, entry: &Addresses) {
        let is_quiet = |name: &str| self.points_to.models.of(name) == Some(Model::Access(Box::default()));
        let is_known = |(base, _)| match self.points_to.describe(base) {
            Base::Function(_) => true,
            Base::Outside(name) => is_quiet(name),
            _ => false,
        };
        if entry.is_empty() || !entry.iter().all(is_known) {
            self.gaps.add(self.points_to, id, at, "a function that is called at the end of the program, and not known");
        }
    }

    /// Handles a call that ends the program.
    pub(super) fn exit(
        &mut self,
        id: InstanceId,
        at: u32,
        state: &State,
        solution: &mut Solution,
        work: &mut BTreeSet<Node>,
    ) {
        self.ends_in(id, at);
        if self.points_to.instances[id].thread == MAIN {
            let points_to = self.points_to;
            let outer = |id: &InstanceId| points_to.instances[*id].caller.map(|(outer, _)| outer);
            let mut within = std::iter::successors(Some(id), outer).take(points_to.instances.len());
            let ends = |id| points_to.instances[id].shared || points_to.exits.instances().any(|exit| exit == id);
            // One of the functions may call it: then those that have not begun yet are next, whichever they are.
            if within.any(ends) {
                for id in points_to.exits.instances() {
                    self.go_to(id, state, solution, work);
                }
            }
            self.run_from(None, state, solution, work);
        }
    }

    /// Notes a gap if another thread than the main one ends the program, or the main thread ends before it.
    pub(super) fn ends_in(&mut self, id: InstanceId, at: u32) {
        let is_main = self.points_to.instances[id].thread == MAIN;
        let mut names = self.points_to.instances[id].outside.get(&at).into_iter().flatten();
        let leaves = names.any(|name| self.points_to.models.of(name) == Some(Model::Leave));
        if !self.points_to.exits.is_empty() && is_main == leaves {
            self.gaps.add(self.points_to, id, at, ELSEWHERE);
        }
    }

    /// Follows control to the functions from a position on; none stands for the end of `main`. A function that was
    /// definitely registered runs before all that follow it.
    fn run_from(&mut self, position: Option<usize>, state: &State, solution: &mut Solution, work: &mut BTreeSet<Node>) {
        let points_to = self.points_to;
        let late = points_to.exits.late.iter().filter(|_| position.is_none());
        for &id in late {
            self.go_to(id, state, solution, work);
        }
        for &id in points_to.exits.in_order.iter().skip(position.unwrap_or(0)) {
            self.go_to(id, state, solution, work);
            if state.seen.contains(&SyncEvent::Registered(id)) {
                return;
            }
        }
        leave_thread(MAIN, state, solution);
    }

    fn go_to(&mut self, id: InstanceId, state: &State, solution: &mut Solution, work: &mut BTreeSet<Node>) {
        for state in self.enter(id, state.clone()) {
            self.arrive((id, 0), &state, solution, work);
        }
    }
}
