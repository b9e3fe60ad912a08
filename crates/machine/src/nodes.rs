//! Nodes of linked containers, and what functions of the C++ library do to them: `std::list`, `std::map` and their
//! relatives.
//!
//! The library links and unlinks nodes in functions of its own, which are not instrumented. What such a call reads and writes
//! depends on the nodes, so it is computed here, before the call: the function is carried out on a copy of the words that it
//! accesses.

mod list;
mod tree;

/// Maximum number of words that are followed in one call.
pub const MOST: usize = 128;

/// A word of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    /// Where it is.
    pub at: usize,
    /// Its size in bytes.
    pub bytes: usize,
    /// Whether the call reads it before it writes it.
    pub is_read: bool,
    /// Whether the call writes it.
    pub is_written: bool,
    /// Its value after the call.
    pub value: usize,
}

/// The words that a call accesses, in the order of their first accesses.
pub struct Nodes<M> {
    memory: M,
    words: [Word; MOST],
    count: usize,
}

/// Why the accesses of a call are not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unknown {
    /// There are too many.
    TooMany,
    /// A node is missing: the call will crash, or is not made with nodes of a container.
    Broken,
}

/// A function of the library, with its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Links a node into a list, before another one.
    Hook(usize, usize),
    /// Takes a node out of its list.
    Unhook(usize),
    /// Moves the nodes from the second on, up to the third, before the first.
    Transfer(usize, usize, usize),
    /// Reverses a list.
    Reverse(usize),
    /// Exchanges two lists.
    Swap(usize, usize),
    /// Goes to the next node of a tree.
    Next(usize),
    /// Goes to the previous node of a tree.
    Previous(usize),
    /// Inserts a node into a tree.
    Insert {
        /// Whether it becomes the left child.
        is_left: bool,
        /// The new node.
        node: usize,
        /// Its parent.
        parent: usize,
        /// The header of the tree.
        header: usize,
    },
    /// Takes a node out of a tree with this header.
    Erase(usize, usize),
}

/// Reads a word of this many bytes.
pub trait Memory {
    /// Returns its value.
    fn read(&self, at: usize, bytes: usize) -> usize;
}

impl<M: Memory> Nodes<M> {
    /// Starts with no accesses.
    pub fn new(memory: M) -> Self {
        let none = Word { at: 0, bytes: 0, is_read: false, is_written: false, value: 0 };
        Self { memory, words: [none; MOST], count: 0 }
    }

    /// Finds the accesses of a call. Those before an error are known all the same.
    ///
    /// # Errors
    ///
    /// If the nodes are not those of a container, or if there are too many accesses.
    pub fn follow(&mut self, operation: Operation) -> Result<(), Unknown> {
        match operation {
            Operation::Hook(node, position) => self.hook(node, position),
            Operation::Unhook(node) => self.unhook(node),
            Operation::Transfer(position, first, last) => self.transfer(position, first, last),
            Operation::Reverse(list) => self.reverse(list),
            Operation::Swap(one, other) => self.swap(one, other),
            Operation::Next(node) => self.next(node).map(drop),
            Operation::Previous(node) => self.previous(node).map(drop),
            Operation::Insert { is_left, node, parent, header } => self.insert(is_left, node, parent, header),
            Operation::Erase(node, header) => self.erase(node, header),
        }
    }

    /// Returns the accesses.
    pub fn words(&self) -> &[Word] {
        &self.words[..self.count]
    }

    fn word(&mut self, at: usize, bytes: usize) -> Result<&mut Word, Unknown> {
        /// No node is in the first page.
        const PAGE: usize = 4096;
        if at < PAGE {
            return Err(Unknown::Broken);
        }
        let position = match self.words().iter().position(|word| word.at == at) {
            Some(position) => position,
            None if self.count == MOST => return Err(Unknown::TooMany),
            None => {
                self.words[self.count] = Word { at, bytes, is_read: false, is_written: false, value: 0 };
                self.count += 1;
                self.count - 1
            }
        };
        Ok(&mut self.words[position])
    }

    fn load(&mut self, at: usize, bytes: usize) -> Result<usize, Unknown> {
        let word = self.word(at, bytes)?;
        if word.is_read || word.is_written {
            return Ok(word.value);
        }
        word.is_read = true;
        let value = self.memory.read(at, bytes);
        self.word(at, bytes)?.value = value;
        Ok(value)
    }

    fn store(&mut self, at: usize, bytes: usize, value: usize) -> Result<(), Unknown> {
        let word = self.word(at, bytes)?;
        (word.is_written, word.value) = (true, value);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    impl Memory for &BTreeMap<usize, usize> {
        fn read(&self, at: usize, _bytes: usize) -> usize {
            self[&at]
        }
    }

    #[test]
    fn a_word_that_is_written_first_is_not_read() {
        let memory = BTreeMap::from([(4096, 1), (4104, 2)]);
        let mut nodes = Nodes::new(&memory);
        nodes.store(4096, 8, 7).unwrap();
        assert_eq!(nodes.load(4096, 8), Ok(7));
        assert_eq!(nodes.load(4104, 8), Ok(2));
        nodes.store(4104, 8, 3).unwrap();
        let uses: std::vec::Vec<(bool, bool)> =
            nodes.words().iter().map(|word| (word.is_read, word.is_written)).collect();
        assert_eq!(uses, [(false, true), (true, true)]);
    }

    #[test]
    fn null_is_no_node_and_there_is_a_limit() {
        let memory = BTreeMap::new();
        let mut nodes = Nodes::new(&memory);
        assert_eq!(nodes.follow(Operation::Hook(0, 0)), Err(Unknown::Broken));
        for at in 0..MOST {
            nodes.store(8192 + at * 8, 8, 0).unwrap();
        }
        assert_eq!(nodes.store(4096, 8, 0), Err(Unknown::TooMany));
    }
}
