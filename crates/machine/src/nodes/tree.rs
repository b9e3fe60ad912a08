//! Red-black trees with a header: `_Rb_tree_node_base`. A node has its colour, its parent and its two children; the header has
//! the root as its parent, and the first and the last node as its children.

use super::{Memory, Nodes, Unknown};

const COLOUR: usize = 0;
const PARENT: usize = 8;

const RED: usize = 0;
const BLACK: usize = 1;

/// A child of a node, by the position of its pointer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Left = 16,
    Right = 24,
}

use Side::{Left, Right};

impl Side {
    const fn other(self) -> Self {
        match self {
            Left => Right,
            Right => Left,
        }
    }
}

impl<M: Memory> Nodes<M> {
    fn colour(&mut self, node: usize) -> Result<usize, Unknown> {
        self.load(node + COLOUR, 4)
    }

    fn paint(&mut self, node: usize, colour: usize) -> Result<(), Unknown> {
        self.store(node + COLOUR, 4, colour)
    }

    /// Returns whether a node is there and red.
    fn is_red(&mut self, node: usize) -> Result<bool, Unknown> {
        Ok(node != 0 && self.colour(node)? == RED)
    }

    fn parent(&mut self, node: usize) -> Result<usize, Unknown> {
        self.load(node + PARENT, 8)
    }

    fn set_parent(&mut self, node: usize, parent: usize) -> Result<(), Unknown> {
        self.store(node + PARENT, 8, parent)
    }

    fn child(&mut self, node: usize, side: Side) -> Result<usize, Unknown> {
        self.load(node + side as usize, 8)
    }

    fn set_child(&mut self, node: usize, side: Side, child: usize) -> Result<(), Unknown> {
        self.store(node + side as usize, 8, child)
    }

    /// Returns the last node on a side of a subtree.
    fn outermost(&mut self, mut node: usize, side: Side) -> Result<usize, Unknown> {
        loop {
            match self.child(node, side)? {
                0 => return Ok(node),
                child => node = child,
            }
        }
    }

    /// Returns the first node above of which a node is not below on a side, and the child through which it was reached.
    fn above(&mut self, mut node: usize, side: Side) -> Result<(usize, usize), Unknown> {
        let mut parent = self.parent(node)?;
        while node == self.child(parent, side)? {
            (node, parent) = (parent, self.parent(parent)?);
        }
        Ok((parent, node))
    }

    pub(super) fn next(&mut self, node: usize) -> Result<usize, Unknown> {
        let right = self.child(node, Right)?;
        if right != 0 {
            return self.outermost(right, Left);
        }
        let (parent, below) = self.above(node, Right)?;
        // The header, if the node was the last one and the root.
        Ok(if self.child(below, Right)? == parent { below } else { parent })
    }

    pub(super) fn previous(&mut self, node: usize) -> Result<usize, Unknown> {
        if self.colour(node)? == RED {
            let parent = self.parent(node)?;
            if self.parent(parent)? == node {
                // The header.
                return self.child(node, Right);
            }
        }
        let left = self.child(node, Left)?;
        if left != 0 {
            return self.outermost(left, Right);
        }
        Ok(self.above(node, Left)?.0)
    }

    /// Puts a node in the place of another one, below the parent of the latter. `side` is looked at first.
    fn replace(&mut self, node: usize, by: usize, header: usize, side: Side) -> Result<(), Unknown> {
        if self.parent(header)? == node {
            return self.set_parent(header, by);
        }
        let parent = self.parent(node)?;
        let side = if self.child(parent, side)? == node { side } else { side.other() };
        self.set_child(parent, side, by)
    }

    /// Moves a node down to a side.
    fn rotate(&mut self, node: usize, side: Side, header: usize) -> Result<(), Unknown> {
        let child = self.child(node, side.other())?;
        let inner = self.child(child, side)?;
        self.set_child(node, side.other(), inner)?;
        if inner != 0 {
            self.set_parent(inner, node)?;
        }
        let parent = self.parent(node)?;
        self.set_parent(child, parent)?;
        self.replace(node, child, header, side)?;
        self.set_child(child, side, node)?;
        self.set_parent(node, child)
    }

    pub(super) fn insert(&mut self, is_left: bool, node: usize, parent: usize, header: usize) -> Result<(), Unknown> {
        self.set_parent(node, parent)?;
        self.set_child(node, Left, 0)?;
        self.set_child(node, Right, 0)?;
        self.paint(node, RED)?;
        let side = if is_left { Left } else { Right };
        self.set_child(parent, side, node)?;
        if is_left && parent == header {
            self.set_parent(header, node)?;
            self.set_child(header, Right, node)?;
        } else if self.child(header, side)? == parent {
            self.set_child(header, side, node)?;
        }
        self.repair_insertion(node, header)
    }

    fn repair_insertion(&mut self, mut node: usize, header: usize) -> Result<(), Unknown> {
        while node != self.parent(header)? {
            let parent = self.parent(node)?;
            if self.colour(parent)? != RED {
                break;
            }
            let above = self.parent(parent)?;
            let side = if self.child(above, Left)? == parent { Left } else { Right };
            let uncle = self.child(above, side.other())?;
            if self.is_red(uncle)? {
                self.paint(parent, BLACK)?;
                self.paint(uncle, BLACK)?;
                self.paint(above, RED)?;
                node = above;
            } else {
                if self.child(parent, side.other())? == node {
                    node = parent;
                    self.rotate(node, side, header)?;
                }
                let parent = self.parent(node)?;
                self.paint(parent, BLACK)?;
                self.paint(above, RED)?;
                self.rotate(above, side.other(), header)?;
            }
        }
        let root = self.parent(header)?;
        self.paint(root, BLACK)
    }

    pub(super) fn erase(&mut self, node: usize, header: usize) -> Result<(), Unknown> {
        let (left, right) = (self.child(node, Left)?, self.child(node, Right)?);
        // What takes the place of the node that leaves its position in the tree, and the parent there.
        let (child, parent, colour);
        if left != 0 && right != 0 {
            let next = self.outermost(right, Left)?;
            child = self.child(next, Right)?;
            parent = self.move_up(node, next, child)?;
            self.replace(node, next, header, Left)?;
            let above = self.parent(node)?;
            self.set_parent(next, above)?;
            colour = self.colour(next)?;
            let own = self.colour(node)?;
            self.paint(next, own)?;
            self.paint(node, colour)?;
        } else {
            child = if left == 0 { right } else { left };
            parent = self.parent(node)?;
            if child != 0 {
                self.set_parent(child, parent)?;
            }
            self.replace(node, child, header, Left)?;
            for (side, inner) in [(Left, right), (Right, left)] {
                if self.child(header, side)? == node {
                    let outermost = if inner == 0 { parent } else { self.outermost(child, side)? };
                    self.set_child(header, side, outermost)?;
                }
            }
            colour = self.colour(node)?;
        }
        if colour == BLACK { self.repair_removal(child, parent, header) } else { Ok(()) }
    }

    /// Gives the children of a node to the next one, which leaves its own child in its place. Returns the parent of that child.
    fn move_up(&mut self, node: usize, next: usize, child: usize) -> Result<usize, Unknown> {
        let left = self.child(node, Left)?;
        self.set_parent(left, next)?;
        self.set_child(next, Left, left)?;
        let right = self.child(node, Right)?;
        if next == right {
            return Ok(next);
        }
        let parent = self.parent(next)?;
        if child != 0 {
            self.set_parent(child, parent)?;
        }
        self.set_child(parent, Left, child)?;
        self.set_child(next, Right, right)?;
        self.set_parent(right, next)?;
        Ok(parent)
    }

    /// Repairs a tree with one black node too few on the paths through `node`, which may be missing.
    fn repair_removal(&mut self, mut node: usize, mut parent: usize, header: usize) -> Result<(), Unknown> {
        while node != self.parent(header)? && !self.is_red(node)? {
            let side = if self.child(parent, Left)? == node { Left } else { Right };
            let mut sibling = self.child(parent, side.other())?;
            if self.colour(sibling)? == RED {
                self.paint(sibling, BLACK)?;
                self.paint(parent, RED)?;
                self.rotate(parent, side, header)?;
                sibling = self.child(parent, side.other())?;
            }
            let near = self.child(sibling, side)?;
            let is_near_red = self.is_red(near)?;
            // Looked at only if it matters.
            let far = self.child(sibling, side.other())?;
            if !is_near_red && !self.is_red(far)? {
                self.paint(sibling, RED)?;
                (node, parent) = (parent, self.parent(parent)?);
                continue;
            }
            if !self.is_red(far)? {
                self.paint(near, BLACK)?;
                self.paint(sibling, RED)?;
                self.rotate(sibling, side.other(), header)?;
                sibling = self.child(parent, side.other())?;
            }
            let colour = self.colour(parent)?;
            self.paint(sibling, colour)?;
            self.paint(parent, BLACK)?;
            let far = self.child(sibling, side.other())?;
            if far != 0 {
                self.paint(far, BLACK)?;
            }
            self.rotate(parent, side, header)?;
            break;
        }
        if node != 0 { self.paint(node, BLACK) } else { Ok(()) }
    }
}
