//! The effect of each instruction on pointers.

use super::{InstanceId, MAX_STEPS, POINTER, PointsTo, Precision, grow};
use crate::domain::congruence::Congruence;
use crate::pointer::address::{Addresses, Base, Origin};
use racehunter_ir::{BinaryOperator, CastOperator, Instruction, Operand, Operation, Type};

impl PointsTo<'_> {
    /// Visits an instruction, and schedules the users of its result; returns true if the result has grown.
    pub(super) fn visit(&mut self, id: InstanceId, at: u32) -> bool {
        let program = self.program;
        let function = self.instances[id].function;
        let instruction = &program.function(function).0.instructions[at as usize];
        let mut value = self.value(id, at, instruction);
        if self.from_numbers.contains(&(id, at)) {
            value.add_all(&self.exposed(id, at));
        } else if matches!(instruction.ty, Type::Integer(_) | Type::Float(_)) {
            // Its bytes may come back as a pointer; until then, a number from anywhere is a number.
            let mut out = value.clone();
            if let (Operation::Load { .. }, [address]) = (&instruction.operation, &instruction.operands[..])
                && self.operand(id, address).iter().any(|(base, _)| self.describe(base).is_unknown())
            {
                // To read unknown memory is a gap itself.
                out.0.retain(|&base, _| !self.describe(base).is_unknown());
            }
            self.expose(id, at, &out);
            value.0.retain(|&base, _| !self.describe(base).is_unknown());
        }
        self.steps += 1 + value.0.len() as u64;
        self.exhausted |= self.steps > MAX_STEPS;
        let too_many = self.too_many();
        if !grow(self.most_targets, too_many, &mut self.instances[id].values[at as usize], &value) {
            return false;
        }
        let users = self.users(function);
        self.work.extend(users.of_instructions[at as usize].iter().map(|&user| (id, user)));
        true
    }

    pub(super) fn read(&mut self, id: InstanceId, at: u32, addresses: &Addresses, bytes: u64) -> Addresses {
        if self.is_anywhere(addresses) {
            return self.unknown(Origin::TooMany);
        }
        for (base, _) in addresses.iter() {
            self.readers.entry(base).or_default().insert((id, at));
        }
        let (content, looked_at) = self.get(addresses, bytes);
        self.steps += looked_at;
        content
    }

    pub(super) fn write(&mut self, id: InstanceId, at: u32, addresses: &Addresses, content: &Addresses) {
        if self.is_anywhere(addresses) {
            return;
        }
        self.steps += (addresses.0.len() * (1 + content.0.len())) as u64;
        for (base, offset) in addresses.iter() {
            self.put(base, offset, content, Some((id, at)));
        }
    }

    /// Returns the result of an instruction, after applying its effect on memory.
    fn value(&mut self, id: InstanceId, at: u32, instruction: &Instruction) -> Addresses {
        for operand in &instruction.operands {
            self.declare(id, operand);
        }
        let operand = |this: &Self, index: usize| {
            instruction.operands.get(index).map_or_else(Addresses::default, |operand| this.operand(id, operand))
        };
        let all = |this: &Self| {
            instruction.operands.iter().fold(Addresses::default(), |mut all, operand| {
                all.add_all(&this.operand(id, operand));
                all
            })
        };
        match &instruction.operation {
            Operation::Load { bytes, .. } => {
                let address = operand(self, 0);
                if self.precision == Precision::Names {
                    Addresses::default()
                } else {
                    self.read(id, at, &address, *bytes)
                }
            }
            Operation::Store { bytes, .. } => {
                let (value, address) = (operand(self, 0), operand(self, 1));
                // A value of several words may contain pointers in any of them.
                for word in 0..bytes.div_ceil(POINTER).clamp(1, 64) {
                    self.write(id, at, &address.map(|offset| offset.plus((word * POINTER) as i64)), &value);
                }
                if *bytes > 64 * POINTER {
                    self.write(id, at, &address.map(|_| Congruence::ANY), &value);
                }
                Addresses::default()
            }
            Operation::Update { bytes, .. } => {
                let (address, value) = (operand(self, 0), operand(self, 1));
                self.write(id, at, &address, &value.map(|_| Congruence::ANY));
                self.write(id, at, &address, &value);
                self.read(id, at, &address, *bytes)
            }
            Operation::CompareExchange { bytes, .. } => {
                let (address, value) = (operand(self, 0), operand(self, 2));
                self.write(id, at, &address, &value);
                self.read(id, at, &address, *bytes)
            }
            Operation::Local { .. } => Addresses::one(self.base(Base::Local(id, at)), Congruence::exact(0)),
            Operation::Offset { constant, scales } => {
                let base = operand(self, 0);
                let mut moved = base.map(|offset| {
                    scales.iter().fold(offset.plus(*constant), |offset, &scale| offset.plus_multiples(scale))
                });
                // Addresses can be computed from the distance between others.
                for index in 1..instruction.operands.len() {
                    moved.add_all(&operand(self, index).map(|_| Congruence::ANY));
                }
                moved
            }
            Operation::Phi | Operation::Freeze | Operation::Extract(_) | Operation::Insert(_) => all(self),
            Operation::ExtractLane | Operation::InsertLane | Operation::Shuffle => all(self),
            Operation::Cast(CastOperator::Float) => Addresses::default(),
            Operation::Cast(_) => operand(self, 0),
            Operation::Select => {
                let mut both = operand(self, 1);
                both.add_all(&operand(self, 2));
                both
            }
            Operation::Binary(BinaryOperator::Float) => Addresses::default(),
            Operation::Binary(operator) => {
                self.arithmetic(*operator, instruction, &operand(self, 0), &operand(self, 1))
            }
            Operation::Return => {
                let value = operand(self, 0);
                self.add_result(id, &value);
                Addresses::default()
            }
            Operation::Call | Operation::Invoke { .. } => self.call(id, at, instruction),
            Operation::VariableArgument => self.unknown(Origin::VariableArgument),
            Operation::LandingPad => self.received(id, at, instruction),
            Operation::Other(_) => self.unknown(Origin::Instruction),
            _ => Addresses::default(),
        }
    }

    /// Adds to the result of an instance, for its callers and for threads that join it.
    pub(super) fn add_result(&mut self, id: InstanceId, value: &Addresses) {
        let too_many = self.too_many();
        let instance = &mut self.instances[id];
        if grow(self.most_targets, too_many, &mut instance.result, value) {
            self.work.extend(instance.callers.iter().copied());
            self.work.extend(self.joiners.iter().copied());
        }
    }

    fn arithmetic(
        &self,
        operator: BinaryOperator,
        instruction: &Instruction,
        left: &Addresses,
        right: &Addresses,
    ) -> Addresses {
        match (operator, &instruction.operands[..]) {
            (BinaryOperator::Add, [_, Operand::Integer(bytes)]) => left.map(|offset| offset.plus(*bytes)),
            (BinaryOperator::Add, [Operand::Integer(bytes), _]) => right.map(|offset| offset.plus(*bytes)),
            (BinaryOperator::Subtract, [_, Operand::Integer(bytes)]) => {
                left.map(|offset| offset.plus(bytes.wrapping_neg()))
            }
            _ => {
                let mut all = left.map(|_| Congruence::ANY);
                all.add_all(&right.map(|_| Congruence::ANY));
                all
            }
        }
    }
}
