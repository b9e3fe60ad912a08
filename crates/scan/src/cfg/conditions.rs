//! Conditions that hold at a block: those of edges that control must have passed.
//!
//! A condition is about values that were computed before its edge. If one of them is computed again, control passes the
//! edge again before it can reach the block: otherwise there would be a path to the block that avoids the edge. So the
//! condition holds for the current values.

use crate::cfg::blocks::{Blocks, range};
use petgraph::algo::dominators::{Dominators, simple_fast};
use petgraph::graph::{DiGraph, NodeIndex};
use racehunter_ir::{Function, InstructionId, Operand, Operation, Predicate};

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
        let mut found = Self { blocks: vec![Vec::new(); count], dominators };
        for block in 0..count {
            let above = found.dominators.dominators(NodeIndex::new(block));
            let above: Vec<usize> = above.into_iter().flatten().map(NodeIndex::index).collect();
            for target in above {
                // Control passes the only edge to a block on every path there.
                if let [from] = before[target][..]
                    && let Some(condition) = edge(code, from, target as u32)
                {
                    found.blocks[block].push(condition);
                }
            }
        }
        found
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
        let above = self.dominators.dominators(NodeIndex::new(other as usize));
        above.is_some_and(|mut above| above.any(|node| node.index() == one as usize))
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
