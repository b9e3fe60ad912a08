//! Long executions are explored twice: first with a brief log, for the alternatives that cost nothing, and again with a whole log in
//! the stage of the others.

use super::ContextBound;
use crate::trie::{Last, PrefixId, ROOT};
use racehunter_explore::Execution;

/// Which alternatives of an execution become targets.
pub(super) enum Alternatives {
    /// All.
    All,
    /// Those within the bound of the stage, because the log is brief. Some of the others may have been left out already.
    Cheap { left_out: bool },
    /// Those that cost more than this. The others have become targets before.
    Above(u32),
}

impl Alternatives {
    pub fn of(start: &Last, execution: &Execution) -> Self {
        match start.again {
            true => Self::Above(start.cost),
            false if execution.is_outline() => Self::Cheap { left_out: false },
            false => Self::All,
        }
    }

    pub fn retain(&mut self, choices: &mut Vec<Last>, bound: u32) {
        match self {
            Self::All => {}
            Self::Cheap { left_out } => {
                let all = choices.len();
                choices.retain(|choice| choice.cost <= bound);
                *left_out |= choices.len() < all;
            }
            Self::Above(cost) => choices.retain(|choice| choice.cost > *cost),
        }
    }
}

impl ContextBound {
    /// Explores a program whose executions are known to be long, with brief logs from the start.
    #[must_use]
    pub fn of_long_executions(self) -> Self {
        Self { long: true, ..self }
    }

    /// Returns whether a brief log is enough in this stage. It shows every alternative that costs nothing, and all others concern a later
    /// stage: then the target is explored again, with a whole log.
    ///
    /// A long execution has hundreds of thousands of alternatives that cost something. Most hunts end before their stage, and to note
    /// them takes longer than to run the program.
    pub(super) fn can_be_brief(&self, target: PrefixId) -> bool {
        let last = self.trie.last(target);
        self.long && self.reads_tails_only() && target != ROOT && !last.again && last.cost == self.bound
    }

    /// Queues a target that was explored with a brief log for the next stage, if there is one.
    pub(super) fn explore_again(&mut self, target: PrefixId) {
        if self.bound >= self.last_bound {
            self.seen.cut_off = true;
            return;
        }
        let stage = self.bound as usize + 1;
        if self.later.len() <= stage {
            self.later.resize_with(stage + 1, Vec::new);
        }
        match self.trie.again(target) {
            Some(again) => self.later[stage].push(again),
            None => self.seen.dropped = true,
        }
    }
}
