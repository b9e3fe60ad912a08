//! What the model of linked nodes says, compared with what the C++ library does.
//!
//! The library is called a second time with every word replaced that it does not read according to the model. If it reads one of
//! them all the same, it crashes or does something else.

use proptest::prelude::*;
use racehunter_machine::nodes::{Memory, Nodes, Operation};
use std::collections::BTreeMap;

type Pointer = *mut [usize; 4];

#[link(name = "stdc++")]
unsafe extern "C" {
    #[link_name = "_ZNSt8__detail15_List_node_base7_M_hookEPS0_"]
    fn hook(node: usize, position: usize);
    #[link_name = "_ZNSt8__detail15_List_node_base9_M_unhookEv"]
    fn unhook(node: usize);
    #[link_name = "_ZNSt8__detail15_List_node_base11_M_transferEPS0_S1_"]
    fn transfer(position: usize, first: usize, last: usize);
    #[link_name = "_ZNSt8__detail15_List_node_base10_M_reverseEv"]
    fn reverse(list: usize);
    #[link_name = "_ZNSt8__detail15_List_node_base4swapERS0_S1_"]
    fn swap(one: usize, other: usize);
    #[link_name = "_ZSt18_Rb_tree_incrementPSt18_Rb_tree_node_base"]
    fn next(node: usize) -> usize;
    #[link_name = "_ZSt18_Rb_tree_decrementPSt18_Rb_tree_node_base"]
    fn previous(node: usize) -> usize;
    #[link_name = "_ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_"]
    fn insert(is_left: bool, node: usize, parent: usize, header: usize);
    #[link_name = "_ZSt28_Rb_tree_rebalance_for_erasePSt18_Rb_tree_node_baseRS_"]
    fn erase(node: usize, header: usize) -> usize;
}

/// Reads the memory of this process.
struct Here;

impl Memory for Here {
    fn read(&self, at: usize, bytes: usize) -> usize {
        // SAFETY: the tests pass addresses of nodes that live as long as the test.
        unsafe {
            match bytes {
                4 => *(at as *const u32) as usize,
                _ => *(at as *const usize),
            }
        }
    }
}

/// Nodes of four words each.
struct Arena(Vec<Pointer>);

impl Arena {
    fn new(count: usize) -> Self {
        Self((0..count).map(|_| Box::into_raw(Box::new([0; 4]))).collect())
    }

    fn at(&self, node: usize) -> usize {
        self.0[node] as usize
    }

    /// All words, by address. The colour is the lower half of the first word; the upper half is padding.
    fn words(&self) -> BTreeMap<usize, usize> {
        let of = |node: &Pointer| (0..4).map(|word| *node as usize + word * 8).collect::<Vec<_>>();
        // SAFETY: the nodes belong to the arena.
        self.0.iter().flat_map(of).map(|at| (at, unsafe { *(at as *const usize) })).collect()
    }

    fn set(words: &BTreeMap<usize, usize>) {
        for (&at, &value) in words {
            // SAFETY: the addresses are those of `words`.
            unsafe { *(at as *mut usize) = value };
        }
    }

    /// Calls the library twice, and compares: with the nodes as they are, and with all words replaced that it does not read
    /// according to the model.
    fn check(&self, operation: Operation) {
        const REPLACED: usize = 0x5a5a_5a5a_5a5a_5a50;
        let mut nodes = Nodes::new(Here);
        assert_eq!(nodes.follow(operation), Ok(()), "{operation:?}");
        let of = |at: usize| nodes.words().iter().find(|word| word.at == at);
        let before = self.words();
        let result = call(operation);
        let after = self.words();
        for (&at, &value) in &before {
            let expected = match of(at) {
                Some(word) if word.bytes == 4 => value >> 32 << 32 | word.value,
                Some(word) => word.value,
                None => value,
            };
            assert_eq!(after[&at], expected, "{operation:?}");
        }
        let is_read = |at: usize| of(at).is_some_and(|word| word.is_read);
        let hidden = before.iter().map(|(&at, &value)| (at, if is_read(at) { value } else { REPLACED }));
        Self::set(&hidden.collect());
        assert_eq!(call(operation), result, "{operation:?}");
        for (at, value) in self.words() {
            match of(at) {
                Some(word) if word.bytes == 4 => assert_eq!(value as u32, after[&at] as u32, "{operation:?}"),
                Some(_) => assert_eq!(value, after[&at], "{operation:?}"),
                None => assert_eq!(value, REPLACED, "{operation:?}"),
            }
        }
        Self::set(&after);
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        for &node in &self.0 {
            // SAFETY: `new` has made the boxes.
            drop(unsafe { Box::from_raw(node) });
        }
    }
}

/// Calls the library. Returns what it returns, if that is part of its contract.
fn call(operation: Operation) -> usize {
    // SAFETY: the nodes are those of one list or tree.
    unsafe {
        match operation {
            Operation::Hook(node, position) => hook(node, position),
            Operation::Unhook(node) => unhook(node),
            Operation::Transfer(position, first, last) => transfer(position, first, last),
            Operation::Reverse(list) => reverse(list),
            Operation::Swap(one, other) => swap(one, other),
            Operation::Next(node) => return next(node),
            Operation::Previous(node) => return previous(node),
            Operation::Insert { is_left, node, parent, header } => insert(is_left, node, parent, header),
            Operation::Erase(node, header) => return erase(node, header),
        }
    }
    0
}

/// A tree of the numbers of its nodes. Node 0 is the header.
fn tree(steps: &[(bool, u8)]) {
    const COUNT: usize = 64;
    let arena = Arena::new(COUNT);
    let header = arena.at(0);
    let number = |address: usize| (0..COUNT).find(|&node| arena.at(node) == address).expect("a node");
    let read = |at: usize| Here.read(at, 8);
    Arena::set(&BTreeMap::from([(header, 0), (header + 8, 0), (header + 16, header), (header + 24, header)]));
    let mut present = Vec::new();
    for &(erases, choice) in steps {
        if erases && !present.is_empty() {
            let node: usize = present.remove(usize::from(choice) % present.len());
            arena.check(Operation::Erase(arena.at(node), header));
        } else if let Some(node) = (1..COUNT).filter(|node| !present.contains(node)).nth(usize::from(choice) % 16) {
            let (mut parent, mut side, mut below) = (header, 16, read(header + 8));
            while below != 0 {
                (parent, side) = (below, if node < number(below) { 16 } else { 24 });
                below = read(below + side);
            }
            arena.check(Operation::Insert { is_left: side == 16, node: arena.at(node), parent, header });
            present.push(node);
        }
        present.sort_unstable();
        for (position, &node) in present.iter().enumerate() {
            let following = present.get(position + 1).map_or(header, |&next| arena.at(next));
            // SAFETY: the nodes are those of the tree.
            assert_eq!(unsafe { next(arena.at(node)) }, following);
        }
        if let Some(&node) = present.get(usize::from(choice) % present.len().max(1)) {
            arena.check(Operation::Next(arena.at(node)));
            if node != present[0] {
                arena.check(Operation::Previous(arena.at(node)));
            }
            arena.check(Operation::Previous(header));
        }
    }
}

/// Two lists, with the nodes 0 and 1 as headers.
fn lists(steps: &[(u8, u8, u8)]) {
    const COUNT: usize = 16;
    let arena = Arena::new(COUNT);
    let empty = |list: usize| [(list, list), (list + 8, list)];
    Arena::set(&[empty(arena.at(0)), empty(arena.at(1))].concat().into_iter().collect());
    let of = |list: usize| {
        let mut nodes = Vec::new();
        let mut at = Here.read(arena.at(list), 8);
        while at != arena.at(list) {
            nodes.push(at);
            at = Here.read(at, 8);
        }
        nodes
    };
    for &(what, choice, other) in steps {
        let list = usize::from(choice) % 2;
        let (nodes, others) = (of(list), of(1 - list));
        let position = |nodes: &[usize], header: usize, number: u8| {
            let number = usize::from(number) % (nodes.len() + 1);
            nodes.get(number).copied().unwrap_or(arena.at(header))
        };
        let free = (2..COUNT).map(|node| arena.at(node)).find(|node| !nodes.contains(node) && !others.contains(node));
        match (what % 6, free) {
            (0 | 1, Some(node)) => arena.check(Operation::Hook(node, position(&nodes, list, other))),
            (2, _) if !nodes.is_empty() => {
                arena.check(Operation::Unhook(nodes[usize::from(other) % nodes.len()]));
            }
            (3, _) if !others.is_empty() => {
                let first = usize::from(other) % others.len();
                let last = position(&others[first + 1..], 1 - list, other / 16);
                arena.check(Operation::Transfer(position(&nodes, list, choice / 16), others[first], last));
            }
            (4, _) => arena.check(Operation::Reverse(arena.at(list))),
            (5, _) => arena.check(Operation::Swap(arena.at(0), arena.at(1))),
            _ => {}
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn trees_change_as_in_the_library(steps in prop::collection::vec(any::<(bool, u8)>(), 1..80)) {
        tree(&steps);
    }

    #[test]
    fn lists_change_as_in_the_library(steps in prop::collection::vec(any::<(u8, u8, u8)>(), 1..60)) {
        lists(&steps);
    }
}
