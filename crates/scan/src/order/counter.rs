//! Completion counters: each thread adds one, once, and code that finds the count equal to the number of threads comes
//! after everything that they did before.
//!
//! The counter is zero when the second thread starts. If only such additions change it, it never exceeds the number of
//! threads that have added theirs; so once it reaches the maximum number of threads, all have. It must be read under a
//! lock that all writers hold, or by an atomic load that acquires what atomic additions release.

use super::SyncEvent;
use crate::pointer::InstanceId;
use crate::solver::cells::CellId;
use crate::solver::memory::{acquires, releases};
use crate::solver::{Solver, State};
use racehunter_ir::{Instruction, InstructionId, Operand, Operation, Predicate};

impl Solver<'_, '_> {
    /// Handles a write to a cell that may be a completion counter; `step` is the increment, if it is known.
    pub(crate) fn write_count(
        &mut self,
        id: InstanceId,
        write: &Instruction,
        cell: CellId,
        step: Option<i64>,
        state: &mut State,
    ) {
        let thread = self.points_to.instances[id].thread;
        if self.is_alone(thread, state) {
            state.seen.retain(|event| !matches!(event, SyncEvent::Counted(counter, _) if *counter == cell));
            return;
        }
        let event = SyncEvent::Adds(cell);
        if step != Some(1) || state.done.contains(&event) {
            self.invariants.refute(cell, |invariant| &mut invariant.counts);
        }
        if !matches!(write.operation, Operation::Update { order, .. } if releases(order)) {
            self.invariants.refute(cell, |invariant| &mut invariant.is_added_in_one_step);
        }
        self.invariants.made(event.clone(), thread);
        state.done.insert(event);
    }

    /// Handles what a condition on a counter implies, if it holds, or if it does not.
    pub(crate) fn count(&self, id: InstanceId, condition: InstructionId, holds: bool, state: &mut State) {
        if !self.can_know(id) || self.cells.all.is_empty() {
            return;
        }
        let code = self.points_to.code(id);
        let compare = code.instruction(condition);
        let (Operation::Compare(predicate), [Operand::Instruction(read), limit]) =
            (&compare.operation, &compare.operands[..])
        else {
            return;
        };
        let Some(limit) = self.known(id, limit, state) else { return };
        // The minimum value of the counter; unsigned comparisons are the same, because it is never that large.
        let least = match (predicate, holds) {
            (Predicate::Equal, true) | (Predicate::NotEqual, false) => limit,
            (Predicate::GreaterEqual | Predicate::UnsignedGreaterEqual, true)
            | (Predicate::Less | Predicate::UnsignedLess, false) => limit,
            (Predicate::Greater | Predicate::UnsignedGreater, true)
            | (Predicate::LessEqual | Predicate::UnsignedLessEqual, false) => limit.saturating_add(1),
            _ => return,
        };
        let load = code.instruction(*read);
        let (Operation::Load { order, .. }, [address]) = (&load.operation, &load.operands[..]) else { return };
        let Some(cell) = self.cells.find(self.points_to, id, address) else { return };
        let is_current = state.current.contains(cell, (id, read.0));
        let acquired = order.is_some_and(acquires) && self.invariants.cell(cell).is_added_in_one_step;
        if least > 0 && (acquired || (is_current && self.is_guarded(cell, state))) {
            state.seen.insert(SyncEvent::Counted(cell, least));
        }
    }
}
