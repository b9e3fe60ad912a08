//! Local variables whose block has ended while their function still runs.

use crate::memory::{Block, overlap};

/// A call of a function, as on the shadow call stack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Call {
    /// The address of its frame on the shadow call stack, which grows upwards.
    pub frame: usize,
    /// Its return address.
    pub returns_to: usize,
    /// The address of the return address on the real stack.
    pub slot: usize,
}

/// A variable whose lifetime has ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct EndedScope {
    /// Its memory.
    pub memory: Block,
    /// The call that it belongs to.
    pub call: Call,
}

/// How much of a thread's list is in use. All zeroes for a new thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct InUse {
    count: usize,
    /// A variable did not fit: any variable of the thread may have ended.
    is_incomplete: bool,
}

/// The ended variables of one thread, those of outer calls first.
///
/// The list is not notified when a call returns. It drops returned calls when a call that still exists changes
/// something, and [`Self::has`] asks which calls still exist.
#[derive(Debug)]
pub struct EndedScopes<'a> {
    list: &'a mut [EndedScope],
    in_use: &'a mut InUse,
}

impl<'a> EndedScopes<'a> {
    /// Returns the list of a thread.
    pub const fn new(list: &'a mut [EndedScope], in_use: &'a mut InUse) -> Self {
        Self { list, in_use }
    }

    /// Starts the lifetime of a variable of the innermost `call`.
    #[inline]
    pub fn begin(&mut self, memory: Block, call: Call) {
        while let Some(last) = self.in_use.count.checked_sub(1)
            && self.list[last].call.frame >= call.frame
            && self.list[last].call != call
        {
            self.in_use.count = last;
        }
        let mut at = self.in_use.count;
        while at > 0 && self.list[at - 1].call == call {
            at -= 1;
            let Block { start, size } = self.list[at].memory;
            if overlap(self.list[at].memory, memory) {
                self.in_use.count -= 1;
                self.list[at] = self.list[self.in_use.count];
                // The compiler gives the same memory to variables of different sizes.
                let (end, behind) = (start + size, memory.start + memory.size);
                if start < memory.start {
                    self.add(Block { start, size: memory.start - start }, call);
                }
                if behind < end {
                    self.add(Block { start: behind, size: end - behind }, call);
                }
            }
        }
    }

    /// Ends the lifetime of a variable of the innermost `call`.
    #[inline]
    pub fn end(&mut self, memory: Block, call: Call) {
        self.begin(memory, call);
        self.add(memory, call);
    }

    fn add(&mut self, memory: Block, call: Call) {
        match self.list.get_mut(self.in_use.count) {
            Some(free) => {
                *free = EndedScope { memory, call };
                self.in_use.count += 1;
            }
            None => self.in_use.is_incomplete = true,
        }
    }

    /// Returns true if the address may belong to an ended variable of a call that `is_there`.
    pub fn has(&self, address: usize, is_there: impl Fn(&Call) -> bool) -> bool {
        let at = Block { start: address, size: 1 };
        let is_hit = |scope: &EndedScope| overlap(scope.memory, at) && is_there(&scope.call);
        self.in_use.is_incomplete || self.list[..self.in_use.count].iter().any(is_hit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use std::collections::BTreeSet;
    use std::vec::Vec;

    /// One step of a thread. Variables have fixed offsets in their frame.
    #[derive(Clone, Copy, Debug)]
    enum Step {
        Call,
        /// Returns, or leaves several calls at once as `longjmp` does.
        Return(usize),
        Begin(Block),
        End(Block),
    }

    const FRAME: usize = 64;

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            Just(Step::Call),
            (1..4_usize).prop_map(Step::Return),
            variable().prop_map(Step::Begin),
            variable().prop_map(Step::End),
        ]
    }

    /// Returns the position of a variable in its frame.
    fn variable() -> impl Strategy<Value = Block> {
        (0..12_usize, 1..5_usize).prop_map(|(start, size)| Block { start, size })
    }

    fn call(depth: usize, from: usize) -> Call {
        Call { frame: depth, returns_to: from, slot: 1 << 20 }
    }

    fn in_frame(depth: usize, Block { start, size }: Block) -> Block {
        Block { start: (100 - depth) * FRAME + start, size }
    }

    proptest! {
        /// The model knows every ended address, for each call on the stack.
        #[test]
        fn agrees_with_a_set_per_call(steps in vec(step(), 0..60)) {
            let (mut list, mut in_use) = ([EndedScope::default(); 64], InUse::default());
            let mut scopes = EndedScopes::new(&mut list, &mut in_use);
            let mut stack: Vec<(Call, BTreeSet<usize>)> = std::vec![(call(0, 0), BTreeSet::new())];
            for (number, step) in steps.into_iter().enumerate() {
                let depth = stack.len() - 1;
                let addresses = |memory: Block| memory.start..memory.start + memory.size;
                match step {
                    Step::Call => stack.push((call(depth + 1, number + 1), BTreeSet::new())),
                    Step::Return(calls) => stack.truncate(stack.len().saturating_sub(calls).max(1)),
                    Step::Begin(variable) => {
                        let memory = in_frame(depth, variable);
                        scopes.begin(memory, stack[depth].0);
                        stack[depth].1.retain(|address| !addresses(memory).contains(address));
                    }
                    Step::End(variable) => {
                        let memory = in_frame(depth, variable);
                        scopes.end(memory, stack[depth].0);
                        stack[depth].1.extend(addresses(memory));
                    }
                }
                for address in (100 - stack.len()) * FRAME..101 * FRAME {
                    let expected = stack.iter().any(|(_, ended)| ended.contains(&address));
                    let is_there = |call: &Call| stack.iter().any(|(other, _)| other == call);
                    prop_assert_eq!(scopes.has(address, is_there), expected, "{} after {:?}", address, step);
                }
            }
        }
    }

    #[test]
    fn a_full_list_may_have_anything() {
        let (mut list, mut in_use) = ([EndedScope::default(); 2], InUse::default());
        let mut scopes = EndedScopes::new(&mut list, &mut in_use);
        [8, 16].iter().for_each(|&start| scopes.end(Block { start, size: 8 }, call(0, 1)));
        assert!(!scopes.has(7, |_| true));
        scopes.end(Block { start: 24, size: 8 }, call(0, 1));
        assert!(scopes.has(7, |_| true));
    }
}
