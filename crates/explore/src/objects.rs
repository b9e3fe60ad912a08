//! Objects that count as one variable, whichever part of them is accessed.

use crate::Variable;
use racehunter_log::Address;
use std::ops::Range;
use std::sync::Arc;

/// Globals and heap blocks as wholes: an array is one variable, and so is a structure.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Objects {
    /// The address ranges of the program's globals, in order and disjoint.
    globals: Arc<[Range<u64>]>,
}

impl Objects {
    /// Creates objects from globals at these addresses of the running program.
    #[must_use]
    pub fn new(globals: impl IntoIterator<Item = Range<u64>>) -> Self {
        let mut all: Vec<Range<u64>> = globals.into_iter().filter(|global| !global.is_empty()).collect();
        // Of two names for the same memory the longer comes first, and the other is a part of it.
        all.sort_by_key(|global| (global.start, std::cmp::Reverse(global.end)));
        let mut end = 0;
        all.retain(|global| {
            let is_new = global.start >= end;
            end = end.max(global.end);
            is_new
        });
        Self { globals: all.into() }
    }

    /// Returns the object that a variable is a part of, by its start. A variable in no larger object, or on a stack, is
    /// itself.
    #[must_use]
    pub fn whole(&self, variable: Variable) -> Variable {
        match variable {
            Variable::Heap { code, caller, iteration, .. } => Variable::Heap { code, caller, iteration, offset: 0 },
            Variable::Fixed(address) => {
                let after = self.globals.partition_point(|global| global.start <= address.0);
                let global = after.checked_sub(1).map(|index| &self.globals[index]);
                let global = global.filter(|global| global.contains(&address.0));
                Variable::Fixed(global.map_or(address, |global| Address(global.start)))
            }
            Variable::Stack { .. } | Variable::File(_) => variable,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use racehunter_log::{CodeAddress, ThreadPath};

    #[test]
    fn parts_belong_to_the_largest_global_around_them() {
        let objects = Objects::new([40..48, 100..132, 100..104, 108..112, 132..132]);
        let whole = |address| match objects.whole(Variable::Fixed(Address(address))) {
            Variable::Fixed(Address(address)) => address,
            other => panic!("{other:?}"),
        };
        let expected = [(39, 39), (40, 40), (47, 40), (48, 48), (100, 100), (111, 100), (131, 100), (132, 132)];
        for (address, start) in expected {
            assert_eq!(whole(address), start, "{address}");
        }
    }

    #[test]
    fn heap_blocks_are_distinguished_but_not_their_parts() {
        let part = |iteration, offset| Variable::Heap { code: CodeAddress(1), caller: 2, iteration, offset };
        let objects = Objects::default();
        assert_eq!(objects.whole(part(0, 8)), objects.whole(part(0, 64)));
        assert_ne!(objects.whole(part(0, 8)), objects.whole(part(1, 8)));
        let local = Variable::Stack { path: ThreadPath(1), offset: 8 };
        assert_eq!(objects.whole(local), local);
    }
}
