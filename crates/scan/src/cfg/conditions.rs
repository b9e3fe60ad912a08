//! Conditions that hold at a block: those of edges that control must have passed.
//!
//! A condition is about values that were computed before its edge. If one of them is computed again, control passes the
//! edge again before it can reach the block: otherwise there would be a path to the block that avoids the edge. So the
//! condition holds for the current values.
//!
//! A condition may say more than its own value. `a && b` is `b` where control came past `a`, and otherwise false: such a
//! phi has the conditions of the one predecessor from which it can be true.

use crate::cfg::blocks::{Blocks, range};
use petgraph::algo::dominators::{Dominators, simple_fast};
use petgraph::graph::{DiGraph, NodeIndex};
use racehunter_ir::{BinaryOperator, CastOperator, Function, InstructionId, Operand, Operation, Predicate, Type};

/// How many phis within phis are followed.
const MOST_PHIS: usize = 4;

/// A fact that is true after an edge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// A condition holds, or it does not.
    Holds(InstructionId, bool),
    /// A value is this number.
    Is(Operand, i64),
}

/// The conditions of a function.
pub struct Conditions {
    blocks: Vec<Vec<Condition>>,
    dominators: Dominators<NodeIndex>,
}

/// The control flow of a function.
struct Flow<'a> {
    code: &'a Function,
    blocks: &'a Blocks,
    /// The predecessors of each block.
    before: &'a [Vec<u32>],
}

impl Conditions {
    /// Finds the conditions of a function.
    pub fn of(code: &Function, blocks: &Blocks) -> Self {
        let count = blocks.successors.len();
        let mut graph = DiGraph::<(), ()>::new();
        let nodes: Vec<NodeIndex> = (0..count).map(|_| graph.add_node(())).collect();
        let mut before: Vec<Vec<u32>> = vec![Vec::new(); count];
        for (from, list) in blocks.successors.iter().enumerate() {
            for &to in list {
                graph.add_edge(nodes[from], nodes[to as usize], ());
                before[to as usize].push(from as u32);
            }
        }
        let dominators = simple_fast(&graph, NodeIndex::new(0));
        let mut found = Self { blocks: Vec::new(), dominators };
        let flow = Flow { code, blocks, before: &before };
        found.blocks = (0..count as u32)
            .map(|block| {
                let mut facts = Vec::new();
                found.collect(&flow, block, &[], &mut facts);
                facts
            })
            .collect();
        found
    }

    /// Adds the facts that are true at a block. `later` are the blocks of phis through which control has come from there.
    fn collect(&self, flow: &Flow<'_>, block: u32, later: &[u32], facts: &mut Vec<Condition>) {
        let above = self.dominators.dominators(NodeIndex::new(block as usize)).into_iter().flatten();
        // The facts of blocks above a phi are not due to it.
        let is_new = |target: &NodeIndex| later.last().is_none_or(|&phi| !self.is_above(target.index() as u32, phi));
        for target in above.take_while(is_new) {
            // Control passes the only edge to a block on every path there.
            if let [from] = flow.before[target.index()][..] {
                self.collect_edge(flow, from, target.index() as u32, later, facts);
            }
        }
    }

    /// Adds the facts that are true after an edge because of its condition.
    fn collect_edge(&self, flow: &Flow<'_>, from: u32, to: u32, later: &[u32], facts: &mut Vec<Condition>) {
        let Some(condition) = edge(flow.code, from, to) else { return };
        match condition {
            Condition::Holds(at, holds) => self.collect_value(flow, from, (at, holds), later, facts),
            Condition::Is(..) => facts.push(condition),
        }
    }

    /// Adds what follows from the value of a condition on which the last instruction of a block depends.
    fn collect_parts(
        &self,
        flow: &Flow<'_>,
        block: u32,
        (at, holds): (InstructionId, bool),
        later: &[u32],
        facts: &mut Vec<Condition>,
    ) {
        let instruction = flow.code.instruction(at);
        if !matches!(instruction.ty, Type::Integer(_)) {
            return;
        }
        let parts = match (&instruction.operation, &instruction.operands[..]) {
            (Operation::Binary(BinaryOperator::And), [left, right]) if holds => [left, right],
            (Operation::Binary(BinaryOperator::Or), [left, right]) if !holds => [left, right],
            (Operation::Select, [left, right, Operand::Integer(0)]) if holds => [left, right],
            (Operation::Select, [left, Operand::Integer(1 | -1), right]) if !holds => [left, right],
            (Operation::Cast(CastOperator::ZeroExtend | CastOperator::SignExtend), [Operand::Instruction(value)]) => {
                return self.collect_value(flow, block, (*value, holds), later, facts);
            }
            (Operation::Compare(Predicate::NotEqual), [Operand::Instruction(value), Operand::Integer(0)]) => {
                return self.collect_value(flow, block, (*value, holds), later, facts);
            }
            (Operation::Compare(Predicate::Equal), [Operand::Instruction(value), Operand::Integer(0)]) => {
                return self.collect_value(flow, block, (*value, !holds), later, facts);
            }
            (Operation::Phi, values) if flow.blocks.block_of[at.0 as usize] == block => {
                return self.collect_phi(flow, block, (values, holds), later, facts);
            }
            _ => return,
        };
        for part in parts {
            if let Operand::Instruction(part) = part {
                self.collect_value(flow, block, (*part, holds), later, facts);
            }
        }
    }

    /// Adds that a value is not zero, or that it is, and what follows.
    fn collect_value(
        &self,
        flow: &Flow<'_>,
        block: u32,
        (at, holds): (InstructionId, bool),
        later: &[u32],
        facts: &mut Vec<Condition>,
    ) {
        self.collect_parts(flow, block, (at, holds), later, facts);
        facts.push(Condition::Holds(at, holds));
    }

    /// Adds what follows from the value of a phi that has just been computed: what was true at its predecessor, if there is
    /// only one from which it can be.
    ///
    /// That is still true unless the block of the phi, or one through which control has come later, computes one of the values.
    /// Then this block is above the predecessor.
    fn collect_phi(
        &self,
        flow: &Flow<'_>,
        block: u32,
        (values, holds): (&[Operand], bool),
        later: &[u32],
        facts: &mut Vec<Condition>,
    ) {
        let mut possible = values.chunks_exact(2).filter(|pair| match pair[0] {
            Operand::Integer(value) => (value != 0) == holds,
            _ => true,
        });
        let (Some([value, Operand::Block(from)]), None) = (possible.next(), possible.next()) else { return };
        let later = [later, &[block]].concat();
        if later.len() > MOST_PHIS || later.iter().any(|&block| self.is_above(block, from.0)) {
            return;
        }
        if let Operand::Instruction(value) = value {
            self.collect_value(flow, from.0, (*value, holds), &later, facts);
        }
        self.collect_edge(flow, from.0, block, &later, facts);
        self.collect(flow, from.0, &later, facts);
    }

    /// Returns true if control must have reached one block when it reaches another.
    fn is_above(&self, block: u32, other: u32) -> bool {
        let mut above = self.dominators.dominators(NodeIndex::new(other as usize)).into_iter().flatten();
        above.any(|node| node.index() == block as usize)
    }

    /// Returns the facts that are true at a block.
    pub fn at(&self, block: u32) -> &[Condition] {
        &self.blocks[block as usize]
    }

    /// Returns true if an instruction must have been executed when control reaches another, in the same call.
    pub fn is_before(&self, blocks: &Blocks, first: u32, second: u32) -> bool {
        let (one, other) = (blocks.block_of[first as usize], blocks.block_of[second as usize]);
        if one == other {
            return first < second;
        }
        self.is_above(one, other)
    }
}

/// Returns the condition of an edge.
pub fn edge(code: &Function, from: u32, to: u32) -> Option<Condition> {
    let (first, end) = range(code, from as usize);
    let last = code.instructions[first..end].last()?;
    match (&last.operation, &last.operands[..]) {
        (Operation::Branch, [Operand::Instruction(condition), Operand::Block(yes), Operand::Block(no)])
            if yes != no =>
        {
            Some(Condition::Holds(*condition, yes.0 == to))
        }
        (Operation::Switch, [value, Operand::Block(default), cases @ ..]) if default.0 != to => {
            let mut paths = cases.chunks_exact(2).filter_map(|case| match case {
                [Operand::Integer(case), Operand::Block(block)] if block.0 == to => Some(*case),
                _ => None,
            });
            let case = paths.next()?;
            paths.next().is_none().then(|| Condition::Is(value.clone(), case))
        }
        _ => None,
    }
}

/// Returns the negation of a comparison.
pub fn opposite(predicate: Predicate) -> Predicate {
    match predicate {
        Predicate::Equal => Predicate::NotEqual,
        Predicate::NotEqual => Predicate::Equal,
        Predicate::Less => Predicate::GreaterEqual,
        Predicate::LessEqual => Predicate::Greater,
        Predicate::Greater => Predicate::LessEqual,
        Predicate::GreaterEqual => Predicate::Less,
        Predicate::UnsignedLess => Predicate::UnsignedGreaterEqual,
        Predicate::UnsignedLessEqual => Predicate::UnsignedGreater,
        Predicate::UnsignedGreater => Predicate::UnsignedLessEqual,
        Predicate::UnsignedGreaterEqual => Predicate::UnsignedLess,
    }
}

/// Returns the comparison with its sides exchanged.
pub fn mirrored(predicate: Predicate) -> Predicate {
    match predicate {
        Predicate::Equal | Predicate::NotEqual => predicate,
        Predicate::Less => Predicate::Greater,
        Predicate::LessEqual => Predicate::GreaterEqual,
        Predicate::Greater => Predicate::Less,
        Predicate::GreaterEqual => Predicate::LessEqual,
        Predicate::UnsignedLess => Predicate::UnsignedGreater,
        Predicate::UnsignedLessEqual => Predicate::UnsignedGreaterEqual,
        Predicate::UnsignedGreater => Predicate::UnsignedLess,
        Predicate::UnsignedGreaterEqual => Predicate::UnsignedLessEqual,
    }
}
