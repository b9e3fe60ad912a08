//! Functions of the C++ library that link and unlink the nodes of its containers, and the growth of its hash tables.

use super::Call;
use racehunter_abi::UNMODELLED_NODES;
use racehunter_machine::nodes::{Memory, Nodes, Operation, Word};

/// The memory of the program.
struct Program;

impl Memory for Program {
    fn read(&self, at: usize, bytes: usize) -> usize {
        // SAFETY: the function that is about to be called reads the same word.
        unsafe {
            match bytes {
                4 => *(at as *const u32) as usize,
                _ => *(at as *const usize),
            }
        }
    }
}

impl Call {
    /// Announces what such a function accesses. Returns false if it is another function.
    pub(super) unsafe fn containers(&self, name: &str, number: u8) -> bool {
        let argument = |at: u8| self.argument(at);
        let operation = match name {
            "hook" => Operation::Hook(argument(0), argument(1)),
            "unhook" => Operation::Unhook(argument(0)),
            "transfer" => Operation::Transfer(argument(0), argument(1), argument(2)),
            "reverse" => Operation::Reverse(argument(0)),
            "swap" => Operation::Swap(argument(0), argument(1)),
            "next" => Operation::Next(argument(0)),
            "previous" => Operation::Previous(argument(0)),
            "insert" => Operation::Insert {
                is_left: argument(0) & 1 != 0,
                node: argument(1),
                parent: argument(2),
                header: argument(3),
            },
            "erase" => Operation::Erase(argument(0), argument(1)),
            "primes" => {
                self.primes(number != 0);
                return true;
            }
            _ => return false,
        };
        if !self.has_returned {
            self.nodes(operation);
        }
        true
    }

    unsafe fn nodes(&self, operation: Operation) {
        let mut nodes = Nodes::new(Program);
        let is_known = nodes.follow(operation).is_ok();
        for &Word { at, bytes, is_read, is_written, .. } in nodes.words() {
            if is_read {
                self.reads(at, bytes);
            }
            if is_written {
                self.writes(at, bytes);
            }
        }
        if !is_known {
            self.note(UNMODELLED_NODES);
        }
    }

    /// `_Prime_rehash_policy`: the load factor, a `float`, and the number of elements from which the table grows. A table that
    /// asks whether it has to grow has both numbers changed only if it has reached the latter.
    unsafe fn primes(&self, asks: bool) {
        if self.has_returned {
            return;
        }
        let (factor, limit) = (self.argument(0), self.argument(0) + 8);
        let changes = if asks {
            self.reads(limit, 8);
            self.argument(2).wrapping_add(self.argument(3)) > *(limit as *const usize)
        } else {
            self.argument(1) != 0
        };
        if changes {
            self.reads(factor, 4);
            self.writes(limit, 8);
        }
    }
}
