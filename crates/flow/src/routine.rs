//! A function in the form in which it is followed: for each instruction, only its effect on the reads that values
//! depend on.
//!
//! Instructions of the IR carry all information, and have their operands elsewhere in memory. Following visits millions
//! of them, so the relevant facts are looked up once for each instruction, when its function is first entered.

use crate::code::{Callee, Code, Place, local_of};
use racehunter_ir::{BinaryOperator, BlockId, Function, Instruction, InstructionId, Operand, Operation};

/// A function that can be followed.
pub(crate) struct Routine {
    /// Its number among all routines.
    pub(crate) number: usize,
    /// One step for each instruction.
    pub(crate) steps: Vec<Step>,
    blocks: Vec<Block>,
    sources: Vec<Source>,
    ways: Vec<Way>,
    moves: Vec<Move>,
    /// Number of parameters with a name.
    parameters: usize,
    /// Functions of the program that it calls.
    callees: Vec<Place>,
    /// See [`Known`](crate::code::Known).
    pub(crate) opaque: bool,
    pub(crate) leaks: bool,
    pub(crate) quiet: bool,
}

/// An instruction.
pub(crate) struct Step {
    pub(crate) action: Action,
    /// Its block.
    block: u32,
    /// It has a site number, so the log contains it.
    pub(crate) sited: bool,
}

impl Step {
    /// Returns true if it calls unknown code, which would have been announced.
    pub(crate) fn is_outside(&self) -> bool {
        self.sited && matches!(self.action, Action::Call { callee, .. } if !callee.is_own())
    }
}

/// A value of an activation: the result of an instruction, or a parameter, which come after these. Or something that
/// depends on no read: constants, and addresses of locals.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Source(u32);

impl Source {
    const NOTHING: Self = Self(u32::MAX);

    /// Returns the number of the value.
    pub(crate) fn value(self) -> usize {
        self.0 as usize
    }
}

/// Some of the sources of a routine.
#[derive(Clone, Copy)]
pub(crate) struct Sources {
    begin: u32,
    end: u32,
}

/// The effect of an instruction on reads.
#[derive(Clone, Copy)]
pub(crate) enum Action {
    /// Its result depends on everything that its operands depend on.
    Unite(Sources),
    /// The reads that its operands depend on decide.
    Decide(Sources),
    /// It got its value when its block was entered.
    Phi,
    /// An event that reads this many bytes.
    Read { address: Source, bytes: u32 },
    /// An event that writes.
    Write { value: Source, address: Source },
    /// An event that reads and writes this many bytes.
    Update { address: Source, value: Source, bytes: u32 },
    /// An event that may write.
    CompareExchange { address: Source, expected: Source, new: Source },
    /// Reads memory without an event: from this local, if only this activation writes it.
    Load { address: Source, local: Option<u32> },
    /// Writes memory without an event: to this local, possibly to all of it.
    Store { value: Source, address: Source, local: u32, whole: bool },
    /// Writes memory without an event, anywhere.
    Leak { value: Source, address: Source },
    /// Continues at a block.
    Jump(u32),
    /// Continues at one of two blocks.
    Branch { condition: Source, yes: u32, no: u32 },
    /// Returns.
    Return(Source),
    /// Continues elsewhere in another way, or ends.
    End(Sources),
    /// Calls a function: for functions of the program each argument is a source. Continues at a block, or with the
    /// [`NEXT`] instruction.
    Call { callee: Called, operands: Sources, then: u32 },
}

/// Stands for the instruction after a call, instead of a block.
pub(crate) const NEXT: u32 = u32::MAX;

/// The callee of a call.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Called {
    /// One of several functions of the program, starting at a position in `callees`.
    Own {
        first: u32,
        count: u16,
    },
    Compiler,
    Computes,
    Copies,
    Other,
}

impl Called {
    pub(crate) fn is_own(self) -> bool {
        matches!(self, Self::Own { .. })
    }
}

struct Block {
    first: u32,
    /// Where its phis take their values from, if it has any: positions in `ways`.
    ways: (u32, u32),
    has_phis: bool,
}

/// The phis of a block, when it is entered from another.
struct Way {
    from: u32,
    /// Positions in `moves`.
    moves: (u32, u32),
    /// A phi takes its value from an earlier phi of the same block.
    twisted: bool,
}

#[derive(Clone, Copy)]
pub(crate) struct Move {
    pub(crate) to: u32,
    pub(crate) from: Source,
}

impl Action {
    /// Returns the operands of an instruction that may be an event without being one of the accesses above.
    pub(crate) fn operands(self) -> Option<Sources> {
        match self {
            Self::Unite(operands) | Self::Decide(operands) | Self::Call { operands, .. } => Some(operands),
            _ => None,
        }
    }
}

impl Routine {
    /// Analyses a function of a program.
    pub(crate) fn new(code: &Code, place: Place, number: usize) -> Self {
        let function = code.function(place);
        let mut routine = Self {
            number,
            steps: Vec::with_capacity(function.instructions.len()),
            blocks: Vec::with_capacity(function.blocks.len()),
            sources: Vec::new(),
            ways: Vec::new(),
            moves: Vec::new(),
            parameters: function.parameters.len(),
            callees: Vec::new(),
            opaque: code.known(place).opaque,
            leaks: code.known(place).leaks(),
            quiet: code.known(place).is_quiet(),
        };
        let mut block = 0;
        for (at, instruction) in (0..).zip(&function.instructions) {
            while function.blocks.get(block as usize + 1).is_some_and(|first| first.0 <= at) {
                block += 1;
            }
            let action = routine.action(code, place, instruction);
            routine.steps.push(Step { action, block, sited: instruction.site.is_some() });
        }
        for block in &function.blocks {
            routine.add_block(function, block.0);
        }
        routine
    }

    /// Returns the values of an activation: results of instructions, and parameters.
    pub(crate) fn values(&self) -> usize {
        self.steps.len() + self.parameters
    }

    pub(crate) fn sources(&self, Sources { begin, end }: Sources) -> &[Source] {
        &self.sources[begin as usize..end as usize]
    }

    fn source(&self, function: &Function, operand: &Operand) -> Source {
        match *operand {
            Operand::Instruction(InstructionId(id)) => match function.instructions.get(id as usize) {
                Some(instruction) if !matches!(instruction.operation, Operation::Local { .. }) => Source(id),
                _ => Source::NOTHING,
            },
            Operand::Parameter(number) if (number as usize) < self.parameters => {
                Source(function.instructions.len() as u32 + number)
            }
            _ => Source::NOTHING,
        }
    }

    /// Returns the operands that can depend on reads.
    fn collect(&mut self, function: &Function, operands: &[Operand]) -> Sources {
        let begin = self.sources.len() as u32;
        for operand in operands {
            let source = self.source(function, operand);
            if source != Source::NOTHING {
                self.sources.push(source);
            }
        }
        Sources { begin, end: self.sources.len() as u32 }
    }

    fn action(&mut self, code: &Code, place: Place, instruction: &Instruction) -> Action {
        use BinaryOperator::{Divide, Remainder, UnsignedDivide, UnsignedRemainder};
        let function = code.function(place);
        let source = |operand| self.source(function, operand);
        let size = |bytes: u64| u32::try_from(bytes).unwrap_or(0);
        let simple = |address| local_of(function, address).filter(|&local| code.known(place).is_simple(local));
        let sited = instruction.site.is_some();
        match (&instruction.operation, &instruction.operands[..]) {
            (&Operation::Load { bytes, .. }, [address]) if sited => {
                Action::Read { address: source(address), bytes: size(bytes) }
            }
            (Operation::Load { .. }, [address]) => Action::Load { address: source(address), local: simple(address) },
            (Operation::Store { .. }, [value, address]) if sited => {
                Action::Write { value: source(value), address: source(address) }
            }
            (&Operation::Store { bytes, .. }, [value, address]) => {
                let (value, to) = (source(value), source(address));
                match simple(address) {
                    Some(local) => {
                        let is_local = *address == Operand::Instruction(InstructionId(local));
                        let whole = is_local && is_whole(&function.instructions[local as usize], bytes);
                        Action::Store { value, address: to, local, whole }
                    }
                    None => Action::Leak { value, address: to },
                }
            }
            (&Operation::Update { bytes, .. }, [address, value]) if sited => {
                Action::Update { address: source(address), value: source(value), bytes: size(bytes) }
            }
            (Operation::CompareExchange { .. }, [address, expected, new]) if sited => {
                Action::CompareExchange { address: source(address), expected: source(expected), new: source(new) }
            }
            (Operation::Jump, &[Operand::Block(BlockId(block))]) => Action::Jump(block),
            (Operation::Branch, &[ref condition, Operand::Block(yes), Operand::Block(no)]) => {
                Action::Branch { condition: source(condition), yes: yes.0, no: no.0 }
            }
            (Operation::Return, []) => Action::Return(Source::NOTHING),
            (Operation::Return, [value]) => Action::Return(source(value)),
            (
                Operation::Jump
                | Operation::Branch
                | Operation::Switch
                | Operation::IndirectJump
                | Operation::Return
                | Operation::Resume
                | Operation::Unreachable,
                operands,
            ) => Action::End(self.collect(function, operands)),
            (Operation::Call | Operation::Invoke { .. }, operands) => self.call(code, place, instruction, operands),
            (Operation::Phi, _) => Action::Phi,
            (Operation::Binary(Divide | UnsignedDivide | Remainder | UnsignedRemainder), operands) => {
                Action::Decide(self.collect(function, operands))
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
                operands,
            ) => Action::Unite(self.collect(function, operands)),
            (_, operands) => Action::Decide(self.collect(function, operands)),
        }
    }

    fn call(&mut self, code: &Code, place: Place, call: &Instruction, operands: &[Operand]) -> Action {
        let function = code.function(place);
        let callee = match code.callee(place, call) {
            // No program has this many functions of one name: it must be some other function.
            Callee::Own(places) if places.len() > usize::from(u16::MAX) => Called::Other,
            Callee::Own(places) => {
                let first = self.callees.len() as u32;
                self.callees.extend(places);
                Called::Own { first, count: places.len() as u16 }
            }
            Callee::Compiler => Called::Compiler,
            Callee::Computes => Called::Computes,
            Callee::Copies => Called::Copies,
            Callee::Other => Called::Other,
        };
        let operands = if callee.is_own() {
            let begin = self.sources.len() as u32;
            for argument in operands.iter().skip(1) {
                self.sources.push(self.source(function, argument));
            }
            Sources { begin, end: self.sources.len() as u32 }
        } else {
            self.collect(function, operands)
        };
        let then = if let Operation::Invoke { normal, .. } = call.operation { normal.0 } else { NEXT };
        Action::Call { callee, operands, then }
    }

    /// Analyses the phis of a block.
    fn add_block(&mut self, function: &Function, first: u32) {
        let phis = || {
            let all = (first..).zip(function.instructions.iter().skip(first as usize));
            all.take_while(|(_, instruction)| matches!(instruction.operation, Operation::Phi))
        };
        let begin = self.ways.len() as u32;
        let entries = phis().next().map_or(&[][..], |(_, phi)| &phi.operands[..]);
        for (at, entry) in entries.chunks(2).enumerate() {
            let Some(from @ &Operand::Block(BlockId(number))) = entry.get(1) else { continue };
            let is_known = entries.chunks(2).take(at).any(|earlier| earlier.get(1) == Some(from));
            let source = |phi: &Instruction| {
                let entry = phi.operands.chunks(2).find(|entry| entry.get(1) == Some(from))?;
                Some(self.source(function, &entry[0]))
            };
            let moves: Option<Vec<Move>> = phis().map(|(to, phi)| Some(Move { to, from: source(phi)? })).collect();
            let Some(moves) = moves.filter(|_| !is_known) else { continue };
            let twisted =
                (1..moves.len()).any(|at| moves[..at].iter().any(|earlier| moves[at].from == Source(earlier.to)));
            let start = self.moves.len() as u32;
            self.moves.extend(moves);
            self.ways.push(Way { from: number, moves: (start, self.moves.len() as u32), twisted });
        }
        let ways = (begin, self.ways.len() as u32);
        self.blocks.push(Block { first, ways, has_phis: phis().next().is_some() });
    }

    /// Returns true if a call can be one of this function.
    pub(crate) fn calls(&self, called: Called, place: Place) -> bool {
        let Called::Own { first, count } = called else { return false };
        self.callees[first as usize..][..usize::from(count)].contains(&place)
    }

    /// Returns the first instruction of a block.
    pub(crate) fn first(&self, block: u32) -> Option<u32> {
        self.blocks.get(block as usize).map(|block| block.first)
    }

    /// Returns where the phis of a block take their values from when it is entered from an instruction, and whether all
    /// must be read before any of them changes. `None` if it cannot be entered from there.
    pub(crate) fn moves(&self, block: u32, from: u32) -> Option<(&[Move], bool)> {
        let block = self.blocks.get(block as usize)?;
        if !block.has_phis {
            return Some((&[], false));
        }
        let from = self.steps.get(from as usize)?.block;
        let way = self.ways[block.ways.0 as usize..block.ways.1 as usize].iter().find(|way| way.from == from)?;
        Some((&self.moves[way.moves.0 as usize..way.moves.1 as usize], way.twisted))
    }
}

/// Returns true if this many bytes are all of a local.
fn is_whole(local: &Instruction, bytes: u64) -> bool {
    let one = [Operand::Integer(1)];
    matches!(local.operation, Operation::Local { bytes: all } if all == bytes) && local.operands[..] == one
}
