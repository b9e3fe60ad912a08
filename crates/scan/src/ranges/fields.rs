//! The structures that members of a thread group are given, one array element each: bounds of their share, as multiples
//! of their number.
//!
//! The loop stores to a field of an iteration's structure before it creates the thread of that iteration. If nothing
//! else stores there, the thread finds that value, which is computed from the number of the iteration like any other.

use super::{Ranges, bits};
use crate::domain::affine::Affine;
use crate::domain::interval::Interval;
use crate::domain::linear::linear;
use crate::pointer::{InstanceId, ThreadId};
use crate::threads::groups::{Member, ThreadGroups};
use racehunter_ir::{CastOperator, Operand, Operation};
use rustc_hash::FxHashMap;

/// For each thread: an offset from its argument, and the number of bytes there.
pub type Fields = FxHashMap<(ThreadId, i64, u64), Affine>;

/// Maximum depth of expressions.
const DEPTH: u32 = 12;

impl Ranges<'_, '_> {
    /// Finds the fields of all threads whose numbers are known.
    pub(super) fn fields(&self, groups: &ThreadGroups, numbers: &FxHashMap<ThreadId, (Interval, u64)>) -> Fields {
        let mut found = Fields::default();
        for (&thread, &(span, _)) in numbers {
            if let Some(member) = groups.member(thread) {
                self.fields_of(thread, &member, span, &mut found);
            }
        }
        found
    }

    fn fields_of(&self, thread: ThreadId, member: &Member, span: Interval, found: &mut Fields) {
        let Some((address, element)) = &member.element else { return };
        let points_to = self.points_to;
        let argument = points_to.operand(points_to.threads[thread].root, &Operand::Parameter(0));
        let Some((base, _)) = argument.only() else { return };
        let id = member.creator;
        let function = points_to.instances[id].function;
        let blocks = &points_to.blocks[function];
        for (at, bytes) in self.writes.only_stores(base, id) {
            let store = self.instruction(id, at);
            let (Operation::Store { .. }, [value, to]) = (&store.operation, &store.operands[..]) else { continue };
            let Some(behind) = linear(points_to, id, to).behind(address) else { continue };
            let fits = u64::try_from(behind).is_ok_and(|behind| behind.saturating_add(bytes) <= *element);
            let is_whole =
                self.type_of(id, value).is_none_or(|ty| bits(ty).is_some_and(|bits| u64::from(bits) == 8 * bytes));
            if fits && is_whole && self.conditions[function].is_before(blocks, at, member.at) {
                let number = self.in_terms_of(id, blocks.block_of[at as usize], value, &member.number, span, DEPTH);
                found.extend(number.map(|number| ((thread, behind, bytes), number)));
            }
        }
    }

    /// Returns a value of an iteration, in terms of the iteration's number.
    fn in_terms_of(
        &self,
        id: InstanceId,
        block: u32,
        value: &Operand,
        number: &Operand,
        span: Interval,
        depth: u32,
    ) -> Option<Affine> {
        if value == number {
            return Some(Affine::OWN);
        }
        // All other parts have one of these values, in any iteration.
        let flat = || self.at(id, block, value).map(|value| Affine::of(value.flat(self.span(self.thread(id)))));
        let (Operand::Instruction(at), Some(depth)) = (value, depth.checked_sub(1)) else { return flat() };
        let instruction = self.instruction(id, at.0);
        let Some(width) = bits(instruction.ty) else { return flat() };
        let part = |index: usize| self.in_terms_of(id, block, instruction.operands.get(index)?, number, span, depth);
        match &instruction.operation {
            Operation::Binary(operator) => Some(part(0)?.compute(*operator, part(1)?, span, width)),
            Operation::Cast(CastOperator::SignExtend | CastOperator::Truncate) => Some(part(0)?.truncated(span, width)),
            Operation::Cast(CastOperator::ZeroExtend) => {
                let from = self.type_of(id, &instruction.operands[0]).and_then(bits)?;
                Some(part(0)?.zero_extended(span, from, width))
            }
            _ => flat(),
        }
    }

    /// Returns what a thread of a loop finds at an address, if that is a field of the structure it was given.
    pub(super) fn field(&self, id: InstanceId, address: &Operand, bytes: u64) -> Option<Affine> {
        if self.fields.is_empty() {
            return None;
        }
        let thread = self.thread(id);
        let sum = linear(self.points_to, id, address);
        let root = self.points_to.threads[thread].root;
        let is_given = sum.root == (root, Operand::Parameter(0)) && sum.terms.is_empty();
        // A thread's entry function that is also called directly has other arguments too.
        let is_only = !self.points_to.instances[root].shared;
        self.fields.get(&(thread, sum.constant, bytes)).copied().filter(|_| is_given && is_only)
    }
}
