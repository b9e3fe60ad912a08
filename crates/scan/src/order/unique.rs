//! Unique counter values: a counter is read and increased atomically, or under a lock that all writers hold.
//!
//! Such a counter never repeats a value, so two threads that each took a value have different ones, at least the
//! smallest step apart. The array elements from a thread's value up to the next value are its own.

use crate::cfg::loops::{KEPT_BITS, never_wraps};
use crate::domain::linear::{Linear, linear, number};
use crate::pointer::{InstanceId, MAIN};
use crate::race::access::Access;
use crate::solver::cells::CellId;
use crate::solver::{Solver, State, ValueName};
use racehunter_ir::{BinaryOperator, CastOperator, Instruction, InstructionId, Operand, Operation, UpdateOperator};

/// Maximum depth to which a number is followed.
const MOST: u32 = 20;

/// An array element whose index was taken from a counter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UniqueRow {
    counter: CellId,
    bytes: u64,
    /// The offset in the row.
    at: i64,
}

impl Solver<'_, '_> {
    /// Handles a read of a cell that no other thread can change now.
    pub(crate) fn read_counter(&self, name: ValueName, cell: CellId, state: &mut State) {
        state.current.insert(cell, name);
    }

    /// Handles a write to a cell that may be a counter.
    pub(crate) fn write_counter(
        &mut self,
        id: InstanceId,
        at: u32,
        write: &Instruction,
        cell: CellId,
        state: &mut State,
    ) {
        let current = state.current.forget(cell);
        let step = match (&write.operation, &write.operands[..]) {
            (Operation::Update { operator: UpdateOperator::Add, .. }, [_, Operand::Integer(step)]) => {
                if self.can_know(id) {
                    state.unique_values.insert((id, at), cell);
                }
                Some(*step)
            }
            (Operation::Store { .. }, [Operand::Instruction(sum), _]) => {
                let code = self.points_to.code(id);
                let sum = code.instruction(*sum);
                match (&sum.operation, &sum.operands[..]) {
                    (Operation::Binary(BinaryOperator::Add), [Operand::Instruction(read), Operand::Integer(step)])
                        if current.contains(&(id, read.0)) =>
                    {
                        state.unique_values.extend(current.into_iter().map(|name| (name, cell)));
                        Some(*step)
                    }
                    _ => None,
                }
            }
            _ => None,
        };
        // A value that repeats is not unique.
        let bits = 8 * self.cells.get(cell).bytes as u32;
        let lasts = |step: &i64| u64::try_from(*step).is_ok_and(|step| never_wraps(bits.min(KEPT_BITS), step));
        self.write_count(id, write, cell, step, state);
        let step = step.filter(lasts);
        let thread = self.points_to.instances[id].thread;
        if !self.is_alone(thread, state) {
            self.invariants.increased(cell, step.and_then(|step| u64::try_from(step).ok()).unwrap_or(0));
        }
    }

    /// Returns the counter from which a value was taken.
    pub(crate) fn unique_value(&self, id: InstanceId, operand: &Operand, state: &State) -> Option<CellId> {
        let Operand::Instruction(InstructionId(at)) = operand else { return None };
        state.unique_values.get(&(id, *at)).copied()
    }

    /// Handles a new value; conversions to a larger type keep its origin.
    pub(crate) fn name_unique_value(&self, id: InstanceId, at: u32, instruction: &Instruction, state: &mut State) {
        if matches!(instruction.operation, Operation::Phi) {
            return;
        }
        let kept = match (&instruction.operation, &instruction.operands[..]) {
            (Operation::Cast(CastOperator::SignExtend | CastOperator::ZeroExtend), [value]) => {
                self.unique_value(id, value, state)
            }
            _ => None,
        };
        match kept.filter(|_| self.can_know(id)) {
            Some(cell) => state.unique_values.insert((id, at), cell),
            None => state.unique_values.remove(&(id, at)),
        };
        state.current.rename((id, at));
    }

    /// Returns the array element whose index was taken from a counter.
    pub fn row(&self, id: InstanceId, address: &Operand, state: &State) -> Option<UniqueRow> {
        if state.unique_values.is_empty() || self.points_to.instances[id].thread == MAIN {
            return None;
        }
        let Linear { root, terms, constant } = linear(self.points_to, id, address);
        let [(bytes, (owner, index))] = &terms[..] else { return None };
        // All possible targets of the array have the same start.
        let (_, begin) = self.points_to.operand(root.0, &root.1).only()?;
        begin.only().filter(|&begin| begin == 0)?;
        let mut value = (*owner, index.clone());
        let mut at = constant;
        for _ in 0..MOST {
            if let Some(counter) = self.unique_value(value.0, &value.1, state) {
                return Some(UniqueRow { counter, bytes: *bytes, at });
            }
            let next = number(self.points_to, value.0, &value.1);
            if next != value {
                value = next;
                continue;
            }
            let Operand::Instruction(sum) = value.1 else { return None };
            let code = self.points_to.code(value.0);
            let sum = code.instruction(sum);
            let (Operation::Binary(BinaryOperator::Add), [base, Operand::Integer(more)]) =
                (&sum.operation, &sum.operands[..])
            else {
                return None;
            };
            at = more.checked_mul(i64::try_from(*bytes).ok()?).and_then(|more| at.checked_add(more))?;
            value.1 = base.clone();
        }
        None
    }
}

/// Returns true if two accesses are to elements with different indices that are far enough apart.
pub fn are_apart(invariants: &crate::solver::invariants::Invariants, first: &Access, second: &Access) -> bool {
    let (Some(one), Some(other)) = (&first.row, &second.row) else { return false };
    let step = invariants.step(one.counter);
    let fits = |row: &UniqueRow, bytes: u64| {
        let room = step.checked_mul(row.bytes);
        let end = u64::try_from(row.at).ok().and_then(|at| at.checked_add(bytes));
        end.zip(room).is_some_and(|(end, room)| end <= room)
    };
    one.counter == other.counter && one.bytes == other.bytes && fits(one, first.bytes) && fits(other, second.bytes)
}
