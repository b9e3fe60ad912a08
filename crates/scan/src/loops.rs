//! Loops of a function, and the variables that count their rounds.

use crate::cycles::{Blocks, range};
use petgraph::algo::dominators::{Dominators, simple_fast};
use petgraph::graph::{DiGraph, NodeIndex};
use racehunter_ir::{BinaryOperator, Function, InstructionId, Operand, Operation, Predicate};
use std::collections::BTreeSet;

/// A loop with one way in.
#[derive(Clone, Debug)]
pub struct Loop {
    /// The block that every round begins with.
    pub header: u32,
    /// All of its blocks.
    pub body: BTreeSet<u32>,
    /// Blocks that lead back to the header.
    pub latches: Vec<u32>,
}

/// A variable that is different in each round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counter {
    /// Its value in the round.
    pub phi: u32,
    /// Its first value.
    pub start: Operand,
    /// What is added after each round.
    pub step: i64,
    /// The header lets control into the loop only while the variable is below this, as a signed number or not.
    pub below: Option<(Predicate, Operand)>,
}

/// The loops of a function.
pub struct Loops {
    /// All of them.
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

    /// Whether control passes one block before it can be at another.
    pub fn dominates(&self, first: u32, second: u32) -> bool {
        self.dominators
            .dominators(NodeIndex::new(second as usize))
            .is_some_and(|mut above| above.any(|node| node.index() == first as usize))
    }

    /// The smallest loop around a block.
    pub fn innermost(&self, block: u32) -> Option<&Loop> {
        self.all.iter().filter(|found| found.body.contains(&block)).min_by_key(|found| found.body.len())
    }

    /// Whether no other loop is around a loop.
    pub fn is_outermost(&self, inner: &Loop) -> bool {
        !self.all.iter().any(|outer| outer.header != inner.header && outer.body.contains(&inner.header))
    }
}

impl Loop {
    /// The variables that count its rounds.
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
            let next = &function.instructions[next.0 as usize];
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
            found.push(Counter { phi: at as u32, start: start.clone(), step, below });
        }
        found
    }

    /// What the header compares a value with, before it lets control into the loop.
    fn below(&self, function: &Function, value: &Operand) -> Option<(Predicate, Operand)> {
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
        let compare = &function.instructions[condition.0 as usize];
        match (&compare.operation, &compare.operands[..]) {
            (Operation::Compare(predicate @ (Predicate::Less | Predicate::UnsignedLess)), [left, right])
                if left == value =>
            {
                Some((*predicate, right.clone()))
            }
            _ => None,
        }
    }

    /// Whether a value is the same in all rounds.
    pub fn is_outside(&self, blocks: &Blocks, operand: &Operand) -> bool {
        match operand {
            Operand::Instruction(at) => !self.body.contains(&blocks.block_of[at.0 as usize]),
            Operand::Parameter(_) | Operand::Symbol(..) | Operand::Integer(_) | Operand::Null => true,
            _ => false,
        }
    }

    /// Whether the header is the only way out.
    pub fn ends_at_header(&self, blocks: &Blocks) -> bool {
        self.body
            .iter()
            .filter(|&&block| block != self.header)
            .all(|&block| blocks.successors[block as usize].iter().all(|next| self.body.contains(next)))
    }
}
