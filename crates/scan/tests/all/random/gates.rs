//! Threads that are created under a lock.

use super::{FIRST, Generator};
use crate::source::Statement;

impl Generator<'_> {
    /// Lets threads be created while their creator holds a lock, which they may take too.
    pub(super) fn gate(&mut self, main: &mut Vec<Statement>, bodies: &mut [Vec<Statement>; 2]) {
        let creator = if self.random.one_in(4) { &mut bodies[0] } else { main };
        let creates = |statement: &Statement| match statement {
            Statement::Create(..) => true,
            Statement::Repeat(_, _, inside) => inside.iter().any(|one| matches!(one, Statement::Create(..))),
            _ => false,
        };
        let Some(first) = creator.iter().position(creates) else { return };
        // The section may end before the threads do, end twice, or not end at all.
        let end = first + 1 + self.random.below(creator.len() - first);
        if !self.random.one_in(8) {
            creator.insert(end, Statement::Unlock(FIRST));
        }
        if self.random.one_in(6) {
            let between = first + 1 + self.random.below(end - first);
            creator.splice(between..between, [Statement::Unlock(FIRST), Statement::Lock(FIRST)]);
        }
        let begin = if self.random.one_in(4) { first } else { self.random.below(first + 1) };
        creator.insert(begin, Statement::Lock(FIRST));
        for body in bodies {
            if self.random.one_in(2) {
                let at = if self.random.one_in(3) { self.random.below(body.len() + 1) } else { 0 };
                body.splice(at..at, [Statement::Lock(FIRST), Statement::Unlock(FIRST)]);
            }
        }
    }
}
