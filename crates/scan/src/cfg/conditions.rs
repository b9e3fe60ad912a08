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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use racehunter_ir::{BlockId, Instruction, SymbolId};

    /// Turns bytes into choices.
    struct Draw<'a>(std::slice::Iter<'a, u8>);

    impl Draw<'_> {
        fn below(&mut self, bound: usize) -> usize {
            usize::from(*self.0.next().unwrap_or(&0)) % bound
        }
    }

    fn compute(operation: Operation, ty: Type, operands: Vec<Operand>) -> Instruction {
        Instruction { operation, ty, operands, location: None, site: None }
    }

    /// How many values each block computes before it ends.
    const VALUES: u32 = 4;

    fn at(block: u32, value: u32) -> InstructionId {
        InstructionId(block * (VALUES + 1) + value)
    }

    /// Returns a function in which each use is below its definition. All values are 0 or 1, and some are drawn when they are
    /// computed.
    fn function(draw: &mut Draw<'_>) -> Function {
        let count = 3 + draw.below(5) as u32;
        let ends: Vec<Vec<u32>> = (0..count)
            .map(|block| match draw.below(6) {
                0 => vec![1 + draw.below(count as usize - 1) as u32],
                1 if block > 0 => Vec::new(),
                _ => vec![1 + draw.below(count as usize - 1) as u32, 1 + draw.below(count as usize - 1) as u32],
            })
            .collect();
        let mut graph = DiGraph::<(), ()>::new();
        let nodes: Vec<NodeIndex> = (0..count).map(|_| graph.add_node(())).collect();
        for (from, list) in ends.iter().enumerate() {
            for &to in list {
                graph.update_edge(nodes[from], nodes[to as usize], ());
            }
        }
        let dominators = simple_fast(&graph, nodes[0]);
        let above = |block: u32| -> Vec<u32> {
            let above = dominators.dominators(nodes[block as usize]).into_iter().flatten();
            above.map(|node| node.index() as u32).collect()
        };
        // A value that is known at the end of a block, or at a position in it.
        let value = |draw: &mut Draw<'_>, block: u32, before: u32| {
            let above = above(block);
            match draw.below(8) {
                bit @ 0..2 => Operand::Integer(bit as i64),
                _ if above.is_empty() => Operand::Integer(0),
                _ => {
                    let definition = above[draw.below(above.len())];
                    let most = if definition == block { before } else { VALUES };
                    match most {
                        0 => Operand::Integer(1),
                        _ => Operand::Instruction(at(definition, draw.below(most as usize) as u32)),
                    }
                }
            }
        };
        let mut instructions = Vec::new();
        for block in 0..count {
            let before: Vec<u32> = (0..count).filter(|&from| ends[from as usize].contains(&block)).collect();
            for position in 0..VALUES {
                let kind = draw.below(if position == 0 { 2 } else { 8 });
                let ty = Type::Integer(1);
                let operand = |draw: &mut Draw<'_>| value(draw, block, position);
                instructions.push(match kind {
                    _ if position < 2 && !before.is_empty() => {
                        let pairs = before.iter().flat_map(|&from| {
                            let constant = draw.below(2) == 0;
                            let given = match constant {
                                true => Operand::Integer(draw.below(2) as i64),
                                false => value(draw, from, VALUES),
                            };
                            [given, Operand::Block(BlockId(from))]
                        });
                        compute(Operation::Phi, ty, pairs.collect())
                    }
                    2 => compute(Operation::Binary(BinaryOperator::And), ty, vec![operand(draw), operand(draw)]),
                    3 => compute(Operation::Binary(BinaryOperator::Or), ty, vec![operand(draw), operand(draw)]),
                    4 => compute(Operation::Select, ty, vec![operand(draw), operand(draw), operand(draw)]),
                    5 => compute(
                        Operation::Compare(if draw.below(2) == 0 { Predicate::Equal } else { Predicate::NotEqual }),
                        ty,
                        vec![operand(draw), Operand::Integer(0)],
                    ),
                    6 => compute(Operation::Cast(CastOperator::ZeroExtend), Type::Integer(32), vec![operand(draw)]),
                    // Stands for a load: something new each time.
                    _ => compute(Operation::Load { bytes: 1, order: None, volatile: false }, ty, Vec::new()),
                });
            }
            let targets = ends[block as usize].iter().map(|&to| Operand::Block(BlockId(to)));
            instructions.push(match ends[block as usize].len() {
                0 => compute(Operation::Return, Type::Void, Vec::new()),
                1 => compute(Operation::Jump, Type::Void, targets.collect()),
                _ => {
                    let condition = Operand::Instruction(at(block, draw.below(VALUES as usize) as u32));
                    compute(Operation::Branch, Type::Void, [condition].into_iter().chain(targets).collect())
                }
            });
        }
        Function {
            symbol: SymbolId(0),
            parameters: Vec::new(),
            returns: Type::Void,
            entry_site: None,
            location: None,
            blocks: (0..count).map(|block| at(block, 0)).collect(),
            instructions,
            variables: Vec::new(),
        }
    }

    /// Runs a function, and calls back at the start of each block, before its phis, with the current values.
    fn run(code: &Function, draw: &mut Draw<'_>, mut reached: impl FnMut(u32, &[Option<i64>])) {
        let mut values: Vec<Option<i64>> = vec![None; code.instructions.len()];
        let (mut block, mut from) = (0, u32::MAX);
        for _ in 0..60 {
            // The phis of a block are computed at the same time.
            let old = values.clone();
            let get = |values: &[Option<i64>], operand: &Operand| match operand {
                Operand::Integer(value) => *value,
                Operand::Instruction(at) => values[at.0 as usize].expect("computed above"),
                other => panic!("{other:?} is no value"),
            };
            reached(block, &values);
            for position in at(block, 0).0..at(block, VALUES).0 {
                let instruction = &code.instructions[position as usize];
                let operand = |index: usize| get(&values, &instruction.operands[index]);
                let value = match &instruction.operation {
                    Operation::Phi => {
                        let pair = instruction.operands.chunks_exact(2);
                        let mut pair = pair.filter(|pair| pair[1] == Operand::Block(BlockId(from)));
                        get(&old, &pair.next().expect("an edge")[0])
                    }
                    Operation::Binary(BinaryOperator::And) => operand(0) & operand(1),
                    Operation::Binary(_) => operand(0) | operand(1),
                    Operation::Select => operand(if operand(0) != 0 { 1 } else { 2 }),
                    Operation::Compare(Predicate::Equal) => i64::from(operand(0) == operand(1)),
                    Operation::Compare(_) => i64::from(operand(0) != operand(1)),
                    Operation::Cast(_) => operand(0),
                    _ => draw.below(2) as i64,
                };
                values[position as usize] = Some(value);
            }
            let end = &code.instructions[at(block, VALUES).0 as usize];
            let to = match (&end.operation, &end.operands[..]) {
                (Operation::Jump, [to]) => to,
                (Operation::Branch, [condition, yes, no]) => {
                    if get(&values, condition) != 0 {
                        yes
                    } else {
                        no
                    }
                }
                _ => return,
            };
            let Operand::Block(BlockId(to)) = to else { panic!("{to:?} is no block") };
            (block, from) = (*to, block);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3000))]
        #[test]
        fn conditions_hold_where_they_are_said_to(bytes in prop::collection::vec(any::<u8>(), 40..400)) {
            let mut draw = Draw(bytes.iter());
            let code = function(&mut draw);
            let conditions = Conditions::of(&code, &Blocks::of(&code));
            let runs = draw.0.as_slice().to_vec();
            for start in 0..8 {
                let mut draw = Draw(runs[(start * 7).min(runs.len())..].iter());
                run(&code, &mut draw, |block, values| {
                    for condition in conditions.at(block) {
                        if let Condition::Holds(at, holds) = condition {
                            assert_eq!(values[at.0 as usize].map(|value| value != 0), Some(*holds), "{at:?} at {block}");
                        }
                    }
                });
            }
        }
    }
}
