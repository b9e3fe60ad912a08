//! Loops of a function, and the variables that count their iterations.

use crate::cfg::blocks::{Blocks, range};
use petgraph::algo::dominators::{Dominators, simple_fast};
use petgraph::graph::{DiGraph, NodeIndex};
use racehunter_ir::{BinaryOperator, Function, InstructionId, Operand, Operation, Predicate};
use std::collections::BTreeSet;

/// A natural loop: it has one entry.
#[derive(Clone, Debug)]
pub struct Loop {
    /// The block in which every iteration begins.
    pub header: u32,
    /// All of its blocks.
    pub body: BTreeSet<u32>,
    /// Blocks that lead back to the header.
    pub latches: Vec<u32>,
}

/// A variable with a different value in each iteration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counter {
    /// The phi with its value in an iteration.
    pub phi: u32,
    /// Its first value.
    pub start: Operand,
    /// What each iteration adds.
    pub step: i64,
    /// Bits of its type.
    pub bits: u32,
    /// The header enters the loop only while the variable is below this, as a signed or unsigned number.
    pub below: Option<(Predicate, Operand)>,
}

/// The loops of a function.
pub struct Loops {
    /// All loops.
    pub all: Vec<Loop>,
    dominators: Dominators<NodeIndex>,
}

impl Loops {
    /// Finds the loops of a function.
    pub fn of(blocks: &Blocks) -> Self {
        let mut graph = DiGraph::<(), ()>::new();
        let nodes: Vec<NodeIndex> = blocks.successors.iter().map(|_| graph.add_node(())).collect();
        for (from, list) in blocks.successors.iter().enumerate() {
            for &to in list {
                graph.add_edge(nodes[from], nodes[to as usize], ());
            }
        }
        let dominators = simple_fast(&graph, NodeIndex::new(0));
        let mut found = Self { all: Vec::new(), dominators };
        for header in 0..blocks.successors.len() as u32 {
            let leads_back =
                |from: &u32| blocks.successors[*from as usize].contains(&header) && found.dominates(header, *from);
            let latches: Vec<u32> = (0..blocks.successors.len() as u32).filter(leads_back).collect();
            if latches.is_empty() {
                continue;
            }
            let mut body = BTreeSet::from([header]);
            let mut work = latches.clone();
            while let Some(block) = work.pop() {
                if body.insert(block) {
                    work.extend(
                        graph
                            .neighbors_directed(nodes[block as usize], petgraph::Incoming)
                            .map(|node| node.index() as u32),
                    );
                }
            }
            found.all.push(Loop { header, body, latches });
        }
        found
    }

    /// Returns true if control must pass the first block before it can reach the second.
    pub fn dominates(&self, first: u32, second: u32) -> bool {
        self.dominators
            .dominators(NodeIndex::new(second as usize))
            .is_some_and(|mut above| above.any(|node| node.index() == first as usize))
    }

    /// Returns the smallest loop around a block.
    pub fn innermost(&self, block: u32) -> Option<&Loop> {
        self.all.iter().filter(|found| found.body.contains(&block)).min_by_key(|found| found.body.len())
    }

    /// Returns true if control never returns to a loop that it has left: no cycle surrounds it.
    pub fn is_outermost(&self, blocks: &Blocks, inner: &Loop) -> bool {
        let cycle = blocks.cycle[inner.header as usize];
        (0..).zip(&blocks.cycle).all(|(block, other)| *other != cycle || inner.body.contains(&block))
    }
}

/// Bits of a number of iterations that no loop which creates threads reaches, nor any counter: an assumption that
/// docs/static.md states.
const MOST_ROUNDS: u32 = 24;

/// Returns true if a number of this many bits, changed by a step each time, does not repeat within any realistic
/// program run.
pub fn never_wraps(bits: u32, step: u64) -> bool {
    bits >= KEPT_BITS && step <= 1 << (bits - MOST_ROUNDS)
}

/// Number of bits that conversions between functions must keep for values to stay distinct.
pub const KEPT_BITS: u32 = 32;

impl Counter {
    /// Returns the maximum number of iterations, if it is known and the variable never wraps around in them.
    pub fn rounds(&self) -> Option<u64> {
        let (Operand::Integer(start), Some((predicate, Operand::Integer(end)))) = (&self.start, &self.below) else {
            return None;
        };
        let (start, end, step) = (i128::from(*start), i128::from(*end), i128::from(self.step));
        let limit = match predicate {
            Predicate::Less => 1_i128 << (self.bits - 1),
            _ => 1_i128 << self.bits,
        };
        // The last compared value is less than one step below or above the end.
        let fits = start >= 0 && end >= 0 && step > 0 && end - 1 + step < limit;
        fits.then(|| ((end - start).max(0) + step - 1) / step).and_then(|rounds| u64::try_from(rounds).ok())
    }

    /// Returns true if it has a different value in each iteration, as far as its kept bits show.
    pub fn is_distinct(&self) -> bool {
        let end = match &self.below {
            Some((_, Operand::Integer(end))) => Some(*end),
            _ => None,
        };
        let is_bounded = self.rounds().is_some() && end.is_some_and(|end| end <= 1 << KEPT_BITS);
        // A value that is below a bound, in steps of one, does not wrap around.
        let is_below = self.step == 1 && self.below.is_some() && self.bits <= KEPT_BITS;
        is_bounded || is_below || never_wraps(self.bits.min(KEPT_BITS), self.step.unsigned_abs())
    }
}

impl Loop {
    /// Returns the variables that count its iterations.
    pub fn counters(&self, function: &Function) -> Vec<Counter> {
        let (first, end) = range(function, self.header as usize);
        let mut found = Vec::new();
        for at in first..end {
            let instruction = &function.instructions[at];
            let (Operation::Phi, [a, Operand::Block(from_a), b, Operand::Block(from_b)]) =
                (&instruction.operation, &instruction.operands[..])
            else {
                continue;
            };
            let inside = |block: &racehunter_ir::BlockId| self.body.contains(&block.0);
            let (start, next) = match (inside(from_a), inside(from_b)) {
                (false, true) => (a, b),
                (true, false) => (b, a),
                _ => continue,
            };
            let Operand::Instruction(next) = next else { continue };
            let next = function.instruction(*next);
            let this = Operand::Instruction(InstructionId(at as u32));
            let step = match (&next.operation, &next.operands[..]) {
                (Operation::Binary(BinaryOperator::Add), [value, Operand::Integer(step)])
                | (Operation::Binary(BinaryOperator::Add), [Operand::Integer(step), value])
                    if *value == this && *step != 0 =>
                {
                    *step
                }
                _ => continue,
            };
            let below = self.below(function, &this);
            let racehunter_ir::Type::Integer(bits @ 1..=64) = instruction.ty else { continue };
            found.push(Counter { phi: at as u32, start: start.clone(), step, bits, below });
        }
        found
    }

    /// Returns the bound that the header compares a value with before it enters the loop.
    fn below(&self, function: &Function, value: &Operand) -> Option<(Predicate, Operand)> {
        match self.condition(function, value)? {
            (predicate @ (Predicate::Less | Predicate::UnsignedLess), bound) => Some((predicate, bound.clone())),
            _ => None,
        }
    }

    /// Returns the number that a value which counts down has to be above for the header to enter the loop.
    pub fn while_above(&self, function: &Function, value: &Operand) -> Option<i64> {
        match self.condition(function, value)? {
            (Predicate::Greater | Predicate::NotEqual, &Operand::Integer(bound)) => Some(bound),
            (Predicate::UnsignedGreater, &Operand::Integer(bound)) if bound >= 0 => Some(bound),
            (Predicate::GreaterEqual, &Operand::Integer(bound)) => bound.checked_sub(1),
            _ => None,
        }
    }

    /// Returns what the header compares a value with before it enters the loop.
    fn condition<'a>(&self, function: &'a Function, value: &Operand) -> Option<(Predicate, &'a Operand)> {
        let (first, end) = range(function, self.header as usize);
        let last = function.instructions[first..end].last()?;
        let (Operation::Branch, [Operand::Instruction(condition), Operand::Block(yes), Operand::Block(no)]) =
            (&last.operation, &last.operands[..])
        else {
            return None;
        };
        if !self.body.contains(&yes.0) || self.body.contains(&no.0) {
            return None;
        }
        let compare = function.instruction(*condition);
        match (&compare.operation, &compare.operands[..]) {
            (Operation::Compare(predicate), [left, right]) if left == value => Some((*predicate, right)),
            _ => None,
        }
    }

    /// Returns true if a value is the same in all iterations.
    pub fn is_outside(&self, blocks: &Blocks, operand: &Operand) -> bool {
        match operand {
            Operand::Instruction(at) => !self.body.contains(&blocks.block_of[at.0 as usize]),
            Operand::Parameter(_) | Operand::Symbol(..) | Operand::Integer(_) | Operand::Null => true,
            _ => false,
        }
    }

    /// Returns true if a block is passed at most once in each iteration.
    pub fn is_once_a_round(&self, blocks: &Blocks, block: u32) -> bool {
        let mut seen: BTreeSet<u32> = BTreeSet::new();
        let mut work = vec![block];
        while let Some(from) = work.pop() {
            for &next in &blocks.successors[from as usize] {
                if next == block && block != self.header {
                    return false;
                }
                if next != self.header && self.body.contains(&next) && seen.insert(next) {
                    work.push(next);
                }
            }
        }
        true
    }

    /// Returns true if the header is the only exit.
    pub fn ends_at_header(&self, blocks: &Blocks) -> bool {
        self.body
            .iter()
            .filter(|&&block| block != self.header)
            .all(|&block| blocks.successors[block as usize].iter().all(|next| self.body.contains(next)))
    }
}
