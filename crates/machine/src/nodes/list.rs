//! Doubly linked lists with a header: `_List_node_base`, the next node and then the previous one.

use super::{Memory, Nodes, Unknown};

const NEXT: usize = 0;
const PREVIOUS: usize = 8;

impl<M: Memory> Nodes<M> {
    fn link(&mut self, node: usize, side: usize) -> Result<usize, Unknown> {
        self.load(node + side, 8)
    }

    fn set_link(&mut self, node: usize, side: usize, to: usize) -> Result<(), Unknown> {
        self.store(node + side, 8, to)
    }

    pub(super) fn hook(&mut self, node: usize, position: usize) -> Result<(), Unknown> {
        let previous = self.link(position, PREVIOUS)?;
        self.set_link(node, NEXT, position)?;
        self.set_link(node, PREVIOUS, previous)?;
        self.set_link(previous, NEXT, node)?;
        self.set_link(position, PREVIOUS, node)
    }

    pub(super) fn unhook(&mut self, node: usize) -> Result<(), Unknown> {
        let (next, previous) = (self.link(node, NEXT)?, self.link(node, PREVIOUS)?);
        self.set_link(previous, NEXT, next)?;
        self.set_link(next, PREVIOUS, previous)
    }

    pub(super) fn transfer(&mut self, position: usize, first: usize, last: usize) -> Result<(), Unknown> {
        if position == last {
            return Ok(());
        }
        let (before, end) = (self.link(position, PREVIOUS)?, self.link(last, PREVIOUS)?);
        let left = self.link(first, PREVIOUS)?;
        self.set_link(end, NEXT, position)?;
        self.set_link(left, NEXT, last)?;
        self.set_link(before, NEXT, first)?;
        self.set_link(position, PREVIOUS, end)?;
        self.set_link(last, PREVIOUS, left)?;
        self.set_link(first, PREVIOUS, before)
    }

    pub(super) fn reverse(&mut self, list: usize) -> Result<(), Unknown> {
        let mut node = list;
        loop {
            let (next, previous) = (self.link(node, NEXT)?, self.link(node, PREVIOUS)?);
            self.set_link(node, NEXT, previous)?;
            self.set_link(node, PREVIOUS, next)?;
            node = next;
            if node == list {
                return Ok(());
            }
        }
    }

    pub(super) fn swap(&mut self, one: usize, other: usize) -> Result<(), Unknown> {
        let (first, second) = (self.link(one, NEXT)? != one, self.link(other, NEXT)? != other);
        match (first, second) {
            (false, false) => Ok(()),
            (true, true) => {
                for side in [NEXT, PREVIOUS] {
                    let (of_one, of_other) = (self.link(one, side)?, self.link(other, side)?);
                    self.set_link(one, side, of_other)?;
                    self.set_link(other, side, of_one)?;
                }
                self.adopt(one)?;
                self.adopt(other)
            }
            (true, false) => self.move_list(one, other),
            (false, true) => self.move_list(other, one),
        }
    }

    /// Makes the first and the last node of a list point to its header.
    fn adopt(&mut self, list: usize) -> Result<(), Unknown> {
        let (first, last) = (self.link(list, NEXT)?, self.link(list, PREVIOUS)?);
        self.set_link(last, NEXT, list)?;
        self.set_link(first, PREVIOUS, list)
    }

    /// Gives all nodes of a list to another one, which is empty.
    fn move_list(&mut self, from: usize, to: usize) -> Result<(), Unknown> {
        for side in [NEXT, PREVIOUS] {
            let link = self.link(from, side)?;
            self.set_link(to, side, link)?;
        }
        self.adopt(to)?;
        self.set_link(from, NEXT, from)?;
        self.set_link(from, PREVIOUS, from)
    }
}
