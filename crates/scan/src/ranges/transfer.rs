//! The effect of each instruction on ranges, and what it passes on to memory, functions and threads.

use super::{Ranges, Spot, any, bits, memory};
use crate::domain::affine::Affine;
use crate::domain::interval::Interval;
use crate::models::Model;
use crate::pointer::InstanceId;
use racehunter_ir::{BinaryOperator, CastOperator, Instruction, InstructionId, Operand, Operation, Type};

impl Ranges<'_, '_> {
    /// Returns the result of an instruction, after applying its effect on others.
    pub(super) fn value(&mut self, id: InstanceId, block: u32, at: u32, instruction: &Instruction) -> Option<Affine> {
        let span = self.span(self.thread(id));
        let ty = instruction.ty;
        let width = bits(ty).unwrap_or(64);
        let operand = |this: &Self, index: usize| match instruction.operands.get(index) {
            Some(operand) => this.at(id, block, operand),
            None => Some(Affine::any(64)),
        };
        let from = instruction.operands.first().and_then(|operand| self.type_of(id, operand));
        match &instruction.operation {
            Operation::Binary(BinaryOperator::Float) => Some(any(ty)),
            Operation::Binary(operator) if bits(ty).is_some() => {
                Some(operand(self, 0)?.compute(*operator, operand(self, 1)?, span, width))
            }
            Operation::Cast(operator) => {
                let value = operand(self, 0)?;
                let Some(from) = from.map_or(Some(64), bits).filter(|_| bits(ty).is_some()) else {
                    return Some(any(ty));
                };
                Some(match operator {
                    CastOperator::ZeroExtend => value.zero_extended(span, from, width),
                    CastOperator::Float => any(ty),
                    CastOperator::Reinterpret if from != width => any(ty),
                    _ => value.truncated(span, width),
                })
            }
            Operation::Compare(_) => {
                let this = InstructionId(at);
                let can = |holds: bool| match self.comparison(id, this, holds) {
                    Some((predicate, left, right)) => {
                        let (left, right) = (self.at(id, block, left)?, self.at(id, block, right)?);
                        Some(self.compared(id, left, predicate, right).is_some())
                    }
                    None => Some(true),
                };
                Some(match (can(true)?, can(false)?) {
                    (true, false) => Affine::exact(-1),
                    (false, true) => Affine::exact(0),
                    _ => Affine::any(1),
                })
            }
            Operation::Phi => {
                let mut all: Option<Affine> = None;
                for pair in instruction.operands.chunks_exact(2) {
                    let [value, Operand::Block(from)] = pair else { return Some(any(ty)) };
                    let Some(value) = self.on_edge(id, from.0, block, value).filter(|_| !self.is_dead(id, from.0))
                    else {
                        continue;
                    };
                    all = Some(all.map_or(value, |all| all.union(value, span)));
                }
                all
            }
            Operation::Select => {
                let [one, other] = [operand(self, 1)?, operand(self, 2)?];
                Some(one.union(other, span))
            }
            Operation::Freeze => operand(self, 0),
            Operation::Load { bytes, .. } => self.load(id, at, &instruction.operands[0], *bytes, ty),
            Operation::Store { bytes, .. } => {
                let value = operand(self, 0)?;
                let is_whole = from.is_none_or(|ty| bits(ty).is_some_and(|bits| u64::from(bits) == 8 * bytes));
                let value = if is_whole { value } else { Affine::any(64) };
                self.store(id, &instruction.operands[1], *bytes, value, span);
                None
            }
            Operation::Update { bytes, .. } | Operation::CompareExchange { bytes, .. } => {
                self.store(id, &instruction.operands[0], *bytes, Affine::any(64), span);
                Some(any(ty))
            }
            Operation::Call | Operation::Invoke { .. } => self.call(id, block, at, instruction),
            Operation::Return => {
                if let Some(value) = operand(self, 0)
                    && self.grow(Spot::Result(id), value, from.unwrap_or(Type::Integer(64)))
                    && self.next.is_none()
                {
                    self.work.extend(self.points_to.callers(id));
                }
                None
            }
            _ => Some(any(ty)),
        }
    }

    fn load(&mut self, id: InstanceId, at: u32, address: &Operand, bytes: u64, ty: Type) -> Option<Affine> {
        let Some(width) = bits(ty).filter(|&bits| u64::from(bits) == 8 * bytes) else { return Some(any(ty)) };
        if let Some(found) = self.field(id, address, bytes) {
            return Some(found.truncated(self.span(self.thread(id)), width));
        }
        let addresses = self.points_to.operand(id, address);
        // The memory is unknown.
        if addresses.is_empty() {
            return Some(any(ty));
        }
        let mut all: Option<Affine> = None;
        for (base, offset) in addresses.iter() {
            let Some(place) = offset.only().map(|at| (base, at, bytes)).filter(|&place| self.writes.is_place(place))
            else {
                return Some(any(ty));
            };
            self.readers.entry(base).or_default().insert(id);
            let first = self.writes.first(self.points_to, &self.conditions, place, (id, at));
            let written = self.shared.memory.get(&place).copied();
            for value in [first, written].into_iter().flatten() {
                all = Some(all.map_or(value, |all| all.union(value, Interval::exact(0))));
            }
        }
        // A range that was definitely set has no value until the store is visited.
        all.map(|all| all.truncated(Interval::exact(0), width))
    }

    fn store(&mut self, id: InstanceId, address: &Operand, bytes: u64, value: Affine, span: Interval) {
        let value = memory::kept(value, span);
        for (base, offset) in self.points_to.operand(id, address).iter() {
            let Some(at) = offset.only() else { continue };
            if self.grow(Spot::Memory((base, at, bytes)), value, Type::Integer(64)) && self.next.is_none() {
                self.work.extend(self.readers.get(&base).into_iter().flatten().copied());
            }
        }
    }

    fn call(&mut self, id: InstanceId, block: u32, at: u32, call: &Instruction) -> Option<Affine> {
        let points_to = self.points_to;
        let instance = &points_to.instances[id];
        let is_outside = instance.outside.contains_key(&at);
        let callees: Vec<InstanceId> = instance.callees.get(&at).into_iter().flatten().copied().collect();
        let mut all = (is_outside || callees.is_empty()).then(|| any(call.ty));
        let own = self.span(instance.thread);
        for callee in callees {
            let code = points_to.code(callee);
            for (index, &ty) in code.parameters.iter().enumerate() {
                // A function that another function calls back gets that function's arguments.
                let argument = call.operands.get(index + 1).filter(|_| !is_outside);
                let value = argument.map_or(Some(any(ty)), |argument| self.at(id, block, argument));
                let Some(value) = value else { continue };
                if self.grow(Spot::Parameter(callee, index as u32), value, ty) && self.next.is_none() {
                    self.work.insert(callee);
                }
            }
            if let Some(result) = self.shared.results[callee] {
                all = Some(all.map_or(result, |all| all.union(result, own)));
            }
        }
        for &thread in instance.creates.get(&at).into_iter().flatten() {
            let argument = match self.given.contains(&thread) {
                true => Some(Affine::OWN),
                false => self.argument(id, block, at, call).map(|value| memory::kept(value, own)),
            };
            let root = points_to.threads[thread].root;
            if let Some(argument) = argument
                && self.grow(Spot::Parameter(root, 0), argument, Type::Pointer)
                && self.next.is_none()
            {
                self.work.insert(root);
            }
        }
        all
    }

    /// Returns the argument of a thread, from the call that creates it.
    fn argument(&self, id: InstanceId, block: u32, at: u32, call: &Instruction) -> Option<Affine> {
        let outside = self.points_to.instances[id].outside.get(&at).into_iter().flatten();
        let mut all: Option<Affine> = None;
        for name in outside {
            let Some(Model::Create(create)) = self.points_to.models.of(name) else { continue };
            let operand = call.operands.get(create.argument + 1);
            let value = operand.map_or(Some(Affine::any(64)), |operand| self.at(id, block, operand))?;
            all = Some(all.map_or(value, |all| all.union(value, self.span(self.thread(id)))));
        }
        all
    }
}
