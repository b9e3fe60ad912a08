//! Control flow of one function: successors, and which blocks are in a cycle.

use petgraph::algo::tarjan_scc;
use petgraph::graph::DiGraph;
use racehunter_ir::{BlockId, Function, Operand, Operation};

/// The blocks of a function.
#[derive(Clone, Debug)]
pub struct Blocks {
    /// The successors of each block.
    pub successors: Vec<Vec<u32>>,
    /// The block of each instruction.
    pub block_of: Vec<u32>,
    /// True if control can return to a block.
    pub in_cycle: Vec<bool>,
    /// The number of the cycle that contains it.
    pub cycle: Vec<Option<u32>>,
}

impl Blocks {
    /// Analyses a function.
    pub fn of(function: &Function) -> Self {
        let count = function.blocks.len();
        let mut successors = vec![Vec::new(); count];
        let mut block_of = vec![0; function.instructions.len()];
        for (index, list) in successors.iter_mut().enumerate() {
            let (first, end) = range(function, index);
            block_of[first..end].fill(index as u32);
            let Some(last) = function.instructions[first..end].last() else { continue };
            match &last.operation {
                Operation::Invoke { normal, unwind } => list.extend([normal.0, unwind.0]),
                Operation::Jump | Operation::Branch | Operation::Switch | Operation::IndirectJump => {
                    for operand in &last.operands {
                        if let Operand::Block(BlockId(block)) = operand
                            && !list.contains(block)
                        {
                            list.push(*block);
                        }
                    }
                }
                _ => {}
            }
        }
        let mut graph = DiGraph::<(), ()>::new();
        let nodes: Vec<_> = (0..count).map(|_| graph.add_node(())).collect();
        for (from, list) in successors.iter().enumerate() {
            for &to in list {
                graph.add_edge(nodes[from], nodes[to as usize], ());
            }
        }
        let mut cycle = vec![None; count];
        for (number, component) in tarjan_scc(&graph).into_iter().enumerate() {
            if component.len() > 1 || component.iter().any(|&node| graph.contains_edge(node, node)) {
                for node in component {
                    cycle[node.index()] = Some(number as u32);
                }
            }
        }
        let in_cycle = cycle.iter().map(Option::is_some).collect();
        Self { successors, block_of, in_cycle, cycle }
    }

    /// Returns true if an instruction can be executed more than once in one call.
    pub fn repeats(&self, instruction: u32) -> bool {
        self.in_cycle[self.block_of[instruction as usize] as usize]
    }
}

/// First instruction of a block, and the one after its last.
pub fn range(function: &Function, block: usize) -> (usize, usize) {
    let first = function.blocks[block].0 as usize;
    let end = function.blocks.get(block + 1).map_or(function.instructions.len(), |next| next.0 as usize);
    (first, end)
}
