//! Loops without announcements.
//!
//! A thread in such a loop looks like one that is stuck. If it waits there for another thread, through a variable that
//! the compiler assumes never changes, it waits for ever. These loops therefore count their iterations: an iteration is
//! an event like any other, at which the turn of a thread can end.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::llvm::{Block, Value, llvm};
use crate::sys::core::*;

/// Returns ends of blocks such that every cycle of a loop passes one of them, or a block that is not quiet.
pub fn rounds(function: Value, announced: &FxHashSet<Block>) -> Vec<Value> {
    let mut states: FxHashMap<Block, State> = FxHashMap::default();
    let mut ends = Vec::new();
    for start in function.blocks().filter(|block| !announced.contains(block)) {
        if states.contains_key(&start) {
            continue;
        }
        // Depth first, without recursion: generated functions can have thousands of blocks.
        let mut path = vec![(start, successors(start))];
        states.insert(start, State::OnPath);
        while let Some((block, rest)) = path.last_mut() {
            let block = *block;
            let Some(next) = rest.pop() else {
                states.insert(block, State::Done);
                path.pop();
                continue;
            };
            if announced.contains(&next) {
                continue;
            }
            match states.get(&next) {
                None => {
                    states.insert(next, State::OnPath);
                    path.push((next, successors(next)));
                }
                Some(State::OnPath) => ends.extend(block.terminator()),
                Some(State::Done) => {}
            }
        }
    }
    let mut seen = FxHashSet::default();
    ends.retain(|&end| seen.insert(end));
    ends
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    OnPath,
    Done,
}

/// Returns where control can go from a block.
pub fn successors(block: Block) -> Vec<Block> {
    let Some(end) = block.terminator() else { return Vec::new() };
    let count = llvm!(LLVMGetNumSuccessors(end.0));
    (0..count).map(|index| Block(llvm!(LLVMGetSuccessor(end.0, index)))).collect()
}
