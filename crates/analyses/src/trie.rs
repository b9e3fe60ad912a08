//! Schedule prefixes that share their beginnings.

use racehunter_explore::{Execution, Kind, Plan, Switch};

/// The empty prefix.
pub(crate) const ROOT: u32 = 0;

/// A set of schedule prefixes. Each is one [`Node`], the last switch of it; the rest is that of its parent. A node is
/// given back when nobody holds it and no longer prefix stands on it, so memory is that of the prefixes in use.
pub(crate) struct Trie {
    /// Full chunks never move, so growing does not copy.
    chunks: Vec<Vec<Node>>,
    /// First node that was given back; the others follow by their `parent`. `ROOT` when there is none.
    free: u32,
}

/// One switch of a prefix. Who was running before it is the `to` of the parent.
#[derive(Clone, Copy)]
struct Node {
    at: u64,
    code: u64,
    to: u32,
    parent: u32,
    cost: u32,
    holders: u32,
}

const _: () = assert!(size_of::<Node>() <= 32);

const CHUNK: usize = 1 << 16;

impl Trie {
    /// The trie with the empty prefix alone.
    pub fn new() -> Self {
        let root = Node { at: 0, code: 0, to: 0, parent: ROOT, cost: 0, holders: 1 };
        Self { chunks: vec![vec![root]], free: ROOT }
    }

    fn node(&self, index: u32) -> &Node {
        &self.chunks[index as usize / CHUNK][index as usize % CHUNK]
    }

    fn node_mut(&mut self, index: u32) -> &mut Node {
        &mut self.chunks[index as usize / CHUNK][index as usize % CHUNK]
    }

    /// The prefix that goes on from `parent` with thread `to` at event `at`. The caller holds it. `None` when there are
    /// more prefixes than can be numbered.
    pub fn child(&mut self, parent: u32, at: u64, to: u32, code: u64, cost: u32) -> Option<u32> {
        let node = Node { at, code, to, parent, cost, holders: 1 };
        let index = if self.free == ROOT {
            let chunk = self.chunks.len() - 1;
            let position = self.chunks[chunk].len();
            let index = u32::try_from(chunk * CHUNK + position).ok()?;
            self.chunks[chunk].push(node);
            if position + 1 == CHUNK {
                self.chunks.push(Vec::with_capacity(CHUNK));
            }
            index
        } else {
            let index = self.free;
            self.free = self.node(index).parent;
            *self.node_mut(index) = node;
            index
        };
        self.node_mut(parent).holders += 1;
        Some(index)
    }

    /// Somebody else holds this prefix, too.
    pub fn hold(&mut self, index: u32) {
        if index != ROOT {
            self.node_mut(index).holders += 1;
        }
    }

    /// The caller no longer holds this prefix.
    pub fn release(&mut self, mut index: u32) {
        while index != ROOT {
            let free = self.free;
            let node = self.node_mut(index);
            node.holders -= 1;
            if node.holders > 0 {
                return;
            }
            let parent = std::mem::replace(&mut node.parent, free);
            self.free = index;
            index = parent;
        }
    }

    /// Number of the event that the last switch is about.
    pub fn at(&self, index: u32) -> u64 {
        self.node(index).at
    }

    /// The thread that the last switch chooses.
    pub fn to(&self, index: u32) -> u32 {
        self.node(index).to
    }

    /// What the prefix costs.
    pub fn cost(&self, index: u32) -> u32 {
        self.node(index).cost
    }

    /// The switches of a prefix, in order.
    pub fn switches(&self, mut index: u32) -> Vec<Switch> {
        let mut switches = Vec::new();
        while index != ROOT {
            let node = self.node(index);
            switches.push(Switch { at: node.at, to: node.to, from: self.to(node.parent), code: node.code });
            index = node.parent;
        }
        switches.reverse();
        switches
    }

    /// The plan that forces a prefix and leaves the rest open.
    pub fn plan(&self, index: u32) -> Plan {
        let switches = self.switches(index);
        let tail_from = switches.last().map_or(0, |last| last.at + 1);
        Plan { switches, tail_from, ..Plan::default() }
    }

    /// The last choice of a prefix, which the caller holds no longer, fell on a thread that turned out to wait. Where a
    /// time-out can end that, the same choice once more is a prefix.
    pub fn after_time_out(&mut self, index: u32, execution: &Execution) -> Option<u32> {
        let mut waits =
            execution.records.iter().rev().filter(|record| matches!(record.kind, Kind::Blocked | Kind::Suspended));
        let waits = waits.next().filter(|record| record.kind == Kind::Suspended);
        let (at, to, cost) = (self.at(index), self.to(index), self.cost(index));
        let again = waits.and_then(|record| self.child(index, at, to, record.code, cost));
        self.release(index);
        again
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_share_and_are_reused() {
        let mut trie = Trie::new();
        let a = trie.child(ROOT, 3, 1, 10, 1).unwrap();
        let b = trie.child(a, 5, 2, 20, 1).unwrap();
        let c = trie.child(a, 6, 0, 30, 2).unwrap();
        let switch = |at, to, from, code| Switch { at, to, from, code };
        assert_eq!(trie.switches(b), [switch(3, 1, 0, 10), switch(5, 2, 1, 20)]);
        assert_eq!(trie.switches(c), [switch(3, 1, 0, 10), switch(6, 0, 1, 30)]);
        assert_eq!((trie.at(c), trie.to(c), trie.cost(c)), (6, 0, 2));
        trie.release(a);
        trie.release(b);
        assert_eq!(trie.switches(c), [switch(3, 1, 0, 10), switch(6, 0, 1, 30)], "still stands on its parent");
        trie.release(c);
        let reused: Vec<u32> = (0..3).map(|n| trie.child(ROOT, n, 1, 0, 0).unwrap()).collect();
        let mut sorted = reused.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, [a, b, c]);
        assert_eq!(trie.child(ROOT, 9, 1, 0, 0), Some(4));
    }

    #[test]
    fn more_nodes_than_one_chunk_holds() {
        let mut trie = Trie::new();
        let mut last = ROOT;
        for at in 1..=(2 * CHUNK as u64) {
            last = trie.child(last, at, 1, 0, 0).unwrap();
        }
        let switches = trie.switches(last);
        assert_eq!(switches.len(), 2 * CHUNK);
        assert!(switches.windows(2).all(|pair| pair[0].at + 1 == pair[1].at));
    }
}
