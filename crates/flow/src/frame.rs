//! One activation of a function, which follows its instructions.

use crate::code::{Code, Place};
use crate::routine::{Action, Called, NEXT, Routine, Source, Sources, Step};
use crate::set::{Decided, Set};
use racehunter_ir::{BlockId, Function, InstructionId, Operand, Operation, Type};
use std::rc::Rc;

/// An activation that has reached an instruction but not executed it yet.
pub(crate) struct Frame {
    pub(crate) place: Place,
    pub(crate) routine: Rc<Routine>,
    /// The instruction.
    pub(crate) at: u32,
    /// The reads that the values of all instructions depend on (for a local, those of its contents), followed by the
    /// parameters.
    pub(crate) values: Vec<Set>,
    /// The reads of the instruction so far.
    pub(crate) read: Set,
    /// The instruction has written, as an event that depends on them.
    pub(crate) wrote: bool,
    /// The instruction that the frame below has reached called it.
    pub(crate) has_caller: bool,
    /// Its instructions are followed.
    pub(crate) followed: bool,
}

/// The log and the code do not match.
pub(crate) struct Lost;

/// Maximum number of instructions between two records.
const FURTHEST: u32 = 1_000_000;

impl Frame {
    /// Returns the instruction. (The routine is that of the frame; callers that use it repeatedly pass it in.)
    fn now<'r>(&self, routine: &'r Routine) -> Result<&'r Step, Lost> {
        routine.steps.get(self.at as usize).ok_or(Lost)
    }

    /// Returns what the instruction does.
    pub(crate) fn action(&self) -> Result<Action, Lost> {
        self.now(&self.routine).map(|step| step.action)
    }

    /// Returns the reads that a value depends on.
    pub(crate) fn held(&self, source: Source) -> &Set {
        self.values.get(source.value()).unwrap_or(&Set::Empty)
    }

    pub(crate) fn decide(&self, source: Source, decided: &mut Decided) {
        self.held(source).decide(decided);
    }

    pub(crate) fn decide_all(&self, sources: Sources, decided: &mut Decided) {
        self.routine.sources(sources).iter().for_each(|&source| self.decide(source, decided));
    }

    fn union(&self, sources: Sources, decided: &mut Decided) -> Set {
        self.routine.sources(sources).iter().fold(Set::Empty, |set, &source| set.and(self.held(source), decided))
    }

    /// Returns the arguments of the call of a program function that it has reached.
    pub(crate) fn arguments(&self) -> &[Source] {
        match self.action() {
            Ok(Action::Call { operands, .. }) => self.routine.sources(operands),
            _ => &[],
        }
    }

    /// Advances to an instruction that can be reached without a branch.
    pub(crate) fn go_to(&mut self, target: u32, decided: &mut Decided) -> Result<(), Lost> {
        let routine = &*Rc::clone(&self.routine);
        for _ in 0..FURTHEST {
            if self.at == target {
                return Ok(());
            }
            self.step(routine, decided)?;
        }
        Err(Lost)
    }

    /// Continues to the call of a program function that is entered now. Returns false if another function, which this
    /// activation has called, calls it.
    pub(crate) fn go_to_call(
        &mut self,
        place: Place,
        callee: &Routine,
        returns_here: bool,
        decided: &mut Decided,
    ) -> Result<bool, Lost> {
        let routine = &*Rc::clone(&self.routine);
        if !self.leads_to_call(routine, place) {
            // Only a called function can call back.
            let calls = matches!(self.now(routine)?.action, Action::Call { .. });
            return if calls { Ok(false) } else { Err(Lost) };
        }
        if self.now(routine)?.is_outside() && !returns_here && !callee.quiet {
            return Ok(false);
        }
        for number in 0..FURTHEST {
            let step = self.now(routine)?;
            if matches!(step.action, Action::Call { callee, .. } if callee.is_own()) {
                return Ok(true);
            }
            if number > 0 && step.is_outside() {
                return Err(Lost);
            }
            self.step(routine, decided)?;
        }
        Err(Lost)
    }

    /// Returns true if the activation will call this function next, once the instruction is done.
    fn leads_to_call(&self, routine: &Routine, place: Place) -> bool {
        let mut at = self.at;
        for number in 0..FURTHEST {
            let Some(step) = routine.steps.get(at as usize) else { return false };
            let next = match step.action {
                Action::Call { callee, .. } if callee.is_own() => return routine.calls(callee, place),
                Action::Call { .. } if number > 0 && step.is_outside() => return false,
                Action::Call { then: NEXT, .. } => Some(at + 1),
                Action::Call { then: block, .. } | Action::Jump(block) => routine.first(block),
                Action::Branch { .. } | Action::Return(_) | Action::End(_) => None,
                // Its event would be in the log.
                _ if number > 0 && step.sited => None,
                _ => Some(at + 1),
            };
            let Some(next) = next else { return false };
            at = next;
        }
        false
    }

    /// Executes the instruction, which is neither a branch nor a call of a program function.
    fn step(&mut self, routine: &Routine, decided: &mut Decided) -> Result<(), Lost> {
        let result = match self.now(routine)?.action {
            Action::Unite(operands) => self.union(operands, decided),
            Action::Decide(operands) => {
                self.decide_all(operands, decided);
                Set::Empty
            }
            Action::Phi => {
                self.go_on();
                return Ok(());
            }
            Action::Read { .. } | Action::Update { .. } => std::mem::take(&mut self.read),
            Action::Write { .. } => Set::Empty,
            Action::CompareExchange { address, expected, new } => {
                [address, expected, new].into_iter().for_each(|operand| self.decide(operand, decided));
                Set::Empty
            }
            Action::Load { address, local } => {
                self.decide(address, decided);
                local.map_or(Set::Empty, |local| self.values[local as usize].clone())
            }
            Action::Store { value, address, local, whole } => {
                self.decide(address, decided);
                let value = self.held(value).clone();
                let content = &mut self.values[local as usize];
                *content = if whole { value } else { std::mem::take(content).and(&value, decided) };
                Set::Empty
            }
            Action::Leak { value, address } => {
                self.decide(address, decided);
                self.decide(value, decided);
                Set::Empty
            }
            Action::Jump(block) => return self.enter(routine, block),
            Action::Branch { .. } | Action::Return(_) | Action::End(_) => return Err(Lost),
            Action::Call { callee, operands, .. } => {
                let result = match callee {
                    Called::Own { .. } => return Err(Lost),
                    Called::Compiler => Set::Empty,
                    Called::Computes => self.union(operands, decided),
                    Called::Copies | Called::Other => {
                        self.decide_all(operands, decided);
                        if !self.wrote {
                            // It went to memory that is read without events.
                            self.read.decide(decided);
                        }
                        Set::Empty
                    }
                };
                return self.go_past_call(routine, result);
            }
        };
        self.values[self.at as usize] = result;
        self.go_on();
        Ok(())
    }

    fn go_on(&mut self) {
        (self.read, self.wrote) = (Set::Empty, false);
        self.at += 1;
    }

    /// Handles the end of a call, with its result.
    pub(crate) fn go_past_call(&mut self, routine: &Routine, result: Set) -> Result<(), Lost> {
        let then = match self.now(routine)?.action {
            Action::Call { then, .. } => then,
            _ => NEXT,
        };
        self.values[self.at as usize] = result;
        if then == NEXT {
            self.go_on();
            Ok(())
        } else {
            self.enter(routine, then)
        }
    }

    /// Takes a branch, by the value it depends on.
    pub(crate) fn branch(&mut self, code: &Code, value: u64, decided: &mut Decided) -> Result<(), Lost> {
        let block = match self.action()? {
            Action::Branch { condition, yes, no } => {
                self.decide(condition, decided);
                if value == 0 { no } else { yes }
            }
            Action::End(operands) => {
                let BlockId(block) = case(code.function(self.place), self.at, value)?;
                self.decide_all(operands, decided);
                block
            }
            _ => return Err(Lost),
        };
        let routine = Rc::clone(&self.routine);
        self.enter(&routine, block)
    }

    /// Continues at the start of a block.
    fn enter(&mut self, routine: &Routine, block: u32) -> Result<(), Lost> {
        let first = routine.first(block).ok_or(Lost)?;
        let (moves, twisted) = routine.moves(block, self.at).ok_or(Lost)?;
        if twisted {
            // All phis of a block take their values at once.
            let values: Vec<Set> = moves.iter().map(|phi| self.held(phi.from).clone()).collect();
            for (phi, value) in moves.iter().zip(values) {
                self.values[phi.to as usize] = value;
            }
        } else {
            for phi in moves {
                self.values[phi.to as usize] = self.held(phi.from).clone();
            }
        }
        self.at = first;
        (self.read, self.wrote) = (Set::Empty, false);
        Ok(())
    }

    /// Continues where an exception is received, if the call says where.
    pub(crate) fn unwind(&mut self, code: &Code) -> Result<bool, Lost> {
        let instruction = code.function(self.place).instructions.get(self.at as usize).ok_or(Lost)?;
        match instruction.operation {
            Operation::Invoke { unwind, .. } => {
                let routine = Rc::clone(&self.routine);
                self.enter(&routine, unwind.0).map(|()| true)
            }
            _ => Ok(false),
        }
    }
}

/// Returns where a switch continues with a value.
fn case(function: &Function, at: u32, value: u64) -> Result<BlockId, Lost> {
    let instruction = function.instructions.get(at as usize).ok_or(Lost)?;
    let (Operation::Switch, [of, Operand::Block(default), cases @ ..]) =
        (&instruction.operation, &instruction.operands[..])
    else {
        return Err(Lost);
    };
    let bits = bits(function, of).ok_or(Lost)?;
    let same = |case: i64| (case as u64 ^ value) & (u64::MAX >> (64 - bits)) == 0;
    let mut chosen = *default;
    for case in cases.chunks(2) {
        match case {
            [Operand::Integer(case), Operand::Block(block)] if same(*case) => chosen = *block,
            [Operand::Integer(_), Operand::Block(_)] => {}
            _ => return Err(Lost),
        }
    }
    Ok(chosen)
}

/// Returns the bits of an integer operand, if they are at most 64.
fn bits(function: &Function, operand: &Operand) -> Option<u32> {
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
