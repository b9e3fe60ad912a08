//! One activation of a function, and what its instructions do with values.

use crate::code::{Callee, Code, Place, local_of};
use crate::set::{Decided, Set};
use racehunter_ir::{BinaryOperator, BlockId, Function, Instruction, InstructionId, Operand, Operation, Type};

/// An activation that has come to an instruction, which is not done yet.
pub(crate) struct Frame {
    pub(crate) place: Place,
    /// The instruction.
    pub(crate) at: u32,
    /// What the values of all instructions are made of; for a local what its content is made of.
    pub(crate) values: Vec<Set>,
    pub(crate) parameters: Vec<Set>,
    /// What the instruction has read so far.
    pub(crate) read: Set,
    /// It was called by the instruction that the frame below has come to.
    pub(crate) has_caller: bool,
    /// Its instructions are followed.
    pub(crate) followed: bool,
}

/// The log and the code do not fit together.
pub(crate) struct Lost;

/// Instructions between two records, at most.
const FURTHEST: u32 = 1_000_000;

impl Frame {
    pub(crate) fn function<'c>(&self, code: &'c Code) -> &'c Function {
        code.function(self.place)
    }

    fn instruction<'c>(&self, code: &'c Code) -> Result<&'c Instruction, Lost> {
        self.function(code).instructions.get(self.at as usize).ok_or(Lost)
    }

    /// What an operand is made of.
    pub(crate) fn set(&self, code: &Code, operand: &Operand) -> Set {
        self.held(code, operand).clone()
    }

    fn held(&self, code: &Code, operand: &Operand) -> &Set {
        match *operand {
            Operand::Instruction(InstructionId(id)) => {
                let is_address = match self.function(code).instructions.get(id as usize) {
                    Some(instruction) => matches!(instruction.operation, Operation::Local { .. }),
                    None => true,
                };
                if is_address { &Set::Empty } else { &self.values[id as usize] }
            }
            Operand::Parameter(number) => self.parameters.get(number as usize).unwrap_or(&Set::Empty),
            _ => &Set::Empty,
        }
    }

    pub(crate) fn decide(&self, code: &Code, operand: &Operand, decided: &mut Decided) {
        self.held(code, operand).decide(decided);
    }

    fn decide_all(&self, code: &Code, operands: &[Operand], decided: &mut Decided) {
        operands.iter().for_each(|operand| self.decide(code, operand, decided));
    }

    /// Goes on to an instruction, by what leads there without a choice.
    pub(crate) fn go_to(&mut self, code: &Code, target: u32, decided: &mut Decided) -> Result<(), Lost> {
        for _ in 0..FURTHEST {
            if self.at == target {
                return Ok(());
            }
            self.step(code, decided)?;
        }
        Err(Lost)
    }

    /// Goes on to the call of a function of the program that is entered now. Says no when it is called by somebody else,
    /// whom this activation has called.
    pub(crate) fn go_to_call(
        &mut self,
        code: &Code,
        callee: Place,
        returns_here: bool,
        decided: &mut Decided,
    ) -> Result<bool, Lost> {
        if !self.leads_to_call(code, callee) {
            // Only who was called can call back.
            let calls = matches!(self.instruction(code)?.operation, Operation::Call | Operation::Invoke { .. });
            return if calls { Ok(false) } else { Err(Lost) };
        }
        let is_outside = self.is_outside(code, self.instruction(code)?);
        if is_outside && !returns_here && !code.known(callee).is_quiet() {
            return Ok(false);
        }
        for number in 0..FURTHEST {
            let instruction = self.instruction(code)?;
            let is_call = matches!(instruction.operation, Operation::Call | Operation::Invoke { .. });
            if is_call && matches!(code.callee(self.place, instruction), Callee::Own(_)) {
                return Ok(true);
            }
            if number > 0 && self.is_outside(code, instruction) {
                return Err(Lost);
            }
            self.step(code, decided)?;
        }
        Err(Lost)
    }

    /// Whether an instruction calls code that is not known, which would have been said.
    fn is_outside(&self, code: &Code, instruction: &Instruction) -> bool {
        matches!(instruction.operation, Operation::Call | Operation::Invoke { .. })
            && instruction.site.is_some()
            && !matches!(code.callee(self.place, instruction), Callee::Own(_))
    }

    /// Whether the next thing that the activation does is a call of this function, once the instruction is done.
    fn leads_to_call(&self, code: &Code, callee: Place) -> bool {
        let function = self.function(code);
        let mut at = self.at;
        for number in 0..FURTHEST {
            let Some(instruction) = function.instructions.get(at as usize) else { return false };
            let begins = |block: BlockId| function.blocks.get(block.0 as usize).map(|first| first.0);
            let next = match instruction.operation {
                Operation::Call | Operation::Invoke { .. } => match code.callee(self.place, instruction) {
                    Callee::Own(places) => return places.contains(&callee),
                    _ if number > 0 && self.is_outside(code, instruction) => return false,
                    _ => match instruction.operation {
                        Operation::Invoke { normal, .. } => begins(normal),
                        _ => Some(at + 1),
                    },
                },
                Operation::Jump => match instruction.operands.first() {
                    Some(&Operand::Block(block)) => begins(block),
                    _ => None,
                },
                Operation::Branch
                | Operation::Switch
                | Operation::IndirectJump
                | Operation::Return
                | Operation::Resume
                | Operation::Unreachable => None,
                // Its event would have been there.
                _ if number > 0 && instruction.site.is_some() => None,
                _ => Some(at + 1),
            };
            let Some(next) = next else { return false };
            at = next;
        }
        false
    }

    /// Does the instruction, which makes no choice and calls no function of the program.
    fn step(&mut self, code: &Code, decided: &mut Decided) -> Result<(), Lost> {
        let instruction = self.instruction(code)?;
        match instruction.operation {
            Operation::Jump => {
                let Some(&Operand::Block(block)) = instruction.operands.first() else { return Err(Lost) };
                self.enter(code, block)
            }
            Operation::Branch
            | Operation::Switch
            | Operation::IndirectJump
            | Operation::Return
            | Operation::Resume
            | Operation::Unreachable => Err(Lost),
            Operation::Call | Operation::Invoke { .. } => {
                let result = match code.callee(self.place, instruction) {
                    Callee::Own(_) => return Err(Lost),
                    Callee::Compiler => Set::Empty,
                    Callee::Computes => self.union(code, &instruction.operands[1..], decided),
                    Callee::Copies | Callee::Other => {
                        self.decide_all(code, &instruction.operands, decided);
                        Set::Empty
                    }
                };
                self.go_past_call(code, result)
            }
            _ => {
                let result = self.compute(code, instruction, decided);
                self.values[self.at as usize] = result;
                self.read = Set::Empty;
                self.at += 1;
                Ok(())
            }
        }
    }

    /// The call is over and has this result.
    pub(crate) fn go_past_call(&mut self, code: &Code, result: Set) -> Result<(), Lost> {
        let instruction = self.instruction(code)?;
        self.values[self.at as usize] = result;
        self.read = Set::Empty;
        match instruction.operation {
            Operation::Invoke { normal, .. } => return self.enter(code, normal),
            _ => self.at += 1,
        }
        Ok(())
    }

    /// What the result of an instruction is made of.
    fn compute(&mut self, code: &Code, instruction: &Instruction, decided: &mut Decided) -> Set {
        use BinaryOperator::{Divide, Remainder, UnsignedDivide, UnsignedRemainder};
        let operands = &instruction.operands[..];
        match (&instruction.operation, operands) {
            (Operation::Load { .. }, [_]) if instruction.site.is_some() => std::mem::take(&mut self.read),
            (Operation::Load { .. }, [address]) => {
                self.decide(code, address, decided);
                self.simple_local(code, address).map_or(Set::Empty, |local| self.values[local as usize].clone())
            }
            (Operation::Store { .. }, [..]) if instruction.site.is_some() => Set::Empty,
            (Operation::Store { bytes, .. }, [value, address]) => {
                self.decide(code, address, decided);
                let value = self.set(code, value);
                match self.simple_local(code, address) {
                    Some(local) => {
                        let whole = *address == Operand::Instruction(InstructionId(local))
                            && self.is_whole(code, local, *bytes);
                        let content = &mut self.values[local as usize];
                        *content = if whole { value } else { std::mem::take(content).and(&value, decided) };
                    }
                    None => value.decide(decided),
                }
                Set::Empty
            }
            (Operation::Update { .. }, [..]) if instruction.site.is_some() => std::mem::take(&mut self.read),
            (Operation::Local { .. }, _) => {
                self.decide_all(code, operands, decided);
                Set::Empty
            }
            (Operation::Binary(Divide | UnsignedDivide | Remainder | UnsignedRemainder), _) => {
                self.decide_all(code, operands, decided);
                Set::Empty
            }
            (
                Operation::Binary(_)
                | Operation::Negate
                | Operation::Cast(_)
                | Operation::Compare(_)
                | Operation::CompareFloat
                | Operation::Select
                | Operation::Offset { .. }
                | Operation::Extract(_)
                | Operation::Insert(_)
                | Operation::ExtractLane
                | Operation::InsertLane
                | Operation::Shuffle
                | Operation::Freeze,
                _,
            ) => self.union(code, operands, decided),
            // Its value was given to it when its block was entered.
            (Operation::Phi, _) => self.values[self.at as usize].clone(),
            _ => {
                self.decide_all(code, operands, decided);
                Set::Empty
            }
        }
    }

    fn union(&self, code: &Code, operands: &[Operand], decided: &mut Decided) -> Set {
        operands.iter().fold(Set::Empty, |set, operand| set.and(self.held(code, operand), decided))
    }

    fn simple_local(&self, code: &Code, address: &Operand) -> Option<u32> {
        local_of(self.function(code), address).filter(|&local| code.known(self.place).is_simple(local))
    }

    /// Whether so many bytes are all of a local.
    fn is_whole(&self, code: &Code, local: u32, bytes: u64) -> bool {
        let local = &self.function(code).instructions[local as usize];
        let one = [Operand::Integer(1)];
        matches!(local.operation, Operation::Local { bytes: all } if all == bytes) && local.operands[..] == one
    }

    /// Chooses where to go on, by the value that the choice depends on.
    pub(crate) fn branch(&mut self, code: &Code, value: u64, decided: &mut Decided) -> Result<(), Lost> {
        let instruction = self.instruction(code)?;
        let operands = &instruction.operands[..];
        let block = match (&instruction.operation, operands) {
            (Operation::Branch, [_, Operand::Block(yes), Operand::Block(no)]) => {
                if value == 0 {
                    *no
                } else {
                    *yes
                }
            }
            (Operation::Switch, [of, Operand::Block(default), cases @ ..]) => {
                let bits = self.bits(code, of).ok_or(Lost)?;
                let same = |case: i64| (case as u64 ^ value) & (u64::MAX >> (64 - bits)) == 0;
                let mut chosen = *default;
                for case in cases.chunks(2) {
                    match case {
                        [Operand::Integer(case), Operand::Block(block)] if same(*case) => chosen = *block,
                        [Operand::Integer(_), Operand::Block(_)] => {}
                        _ => return Err(Lost),
                    }
                }
                chosen
            }
            _ => return Err(Lost),
        };
        self.decide(code, &operands[0], decided);
        self.enter(code, block)
    }

    /// Bits of an integer operand, if they are at most 64.
    fn bits(&self, code: &Code, operand: &Operand) -> Option<u32> {
        let function = self.function(code);
        let ty = match operand {
            Operand::Instruction(InstructionId(id)) => function.instructions.get(*id as usize)?.ty,
            Operand::Parameter(number) => *function.parameters.get(*number as usize)?,
            _ => Type::Integer(64),
        };
        match ty {
            Type::Integer(bits @ 1..=64) => Some(bits),
            _ => None,
        }
    }

    /// Goes on at the beginning of a block.
    pub(crate) fn enter(&mut self, code: &Code, block: BlockId) -> Result<(), Lost> {
        let function = self.function(code);
        let first = function.blocks.get(block.0 as usize).ok_or(Lost)?.0;
        let is_phi = |id: u32| {
            function
                .instructions
                .get(id as usize)
                .filter(|it| matches!(it.operation, Operation::Phi))
                .map(|it| (id, it))
        };
        if is_phi(first).is_some() {
            let from = function.block_of(InstructionId(self.at)).ok_or(Lost)?;
            // All phis of a block take their values at once.
            let mut values = Vec::new();
            for (id, phi) in (first..).map_while(is_phi) {
                let way = phi.operands.chunks(2).find(|way| way.get(1) == Some(&Operand::Block(from)));
                values.push((id, self.set(code, &way.ok_or(Lost)?[0])));
            }
            for (id, value) in values {
                self.values[id as usize] = value;
            }
        }
        self.at = first;
        self.read = Set::Empty;
        Ok(())
    }

    /// Goes on where an exception is received, if the call says where.
    pub(crate) fn unwind(&mut self, code: &Code) -> Result<bool, Lost> {
        match self.instruction(code)?.operation {
            Operation::Invoke { unwind, .. } => self.enter(code, unwind).map(|()| true),
            _ => Ok(false),
        }
    }
}
