//! A search whose targets other campaigns explore, as in context bounding.

use super::{Seen, VariableBound};
use crate::trie::PrefixId;
use crate::visited::Visited;
use std::collections::BTreeMap;

impl VariableBound {
    /// A search of its own with these targets, which this one holds no longer. It does not know where the others have been.
    pub(super) fn lend_targets(&mut self, targets: &[PrefixId]) -> (Self, Vec<PrefixId>) {
        let (trie, lent) = self.trie.lend(targets, &mut self.seen.dropped);
        let part = Self {
            bounds: self.bounds,
            strategy: self.strategy,
            seed: self.seed,
            objects: self.objects.clone(),
            part: self.part,
            selective: self.selective,
            reduces: self.reduces,
            visited: self.reduces.then(Visited::new),
            place: self.place,
            trie,
            later: BTreeMap::new(),
            postponed: Vec::new(),
            // Whether ranks still come in order decides how targets are run.
            seen: Seen { last_stage: self.seen.last_stage, ..Seen::default() },
            again: false,
            left_out: 0,
        };
        (part, lent)
    }

    /// Takes over what a part has seen, and the targets that it has not explored. Returns those of this stage.
    pub(super) fn take_back_targets(&mut self, part: &Self, waiting: &[PrefixId]) -> Vec<PrefixId> {
        let Seen { cut_off, late_iterations, dropped, unfair, last_stage, skipped } = part.seen;
        self.seen.cut_off |= cut_off;
        self.seen.late_iterations |= late_iterations;
        self.seen.dropped |= dropped;
        self.seen.unfair |= unfair;
        self.seen.last_stage |= last_stage;
        self.seen.skipped |= skipped;
        self.left_out += part.left_out;
        let now = self.adopt(part, waiting);
        for (place, targets) in &part.later {
            let targets = self.adopt(part, targets);
            self.later.entry(*place).or_default().extend(targets);
        }
        let postponed = self.adopt(part, &part.postponed);
        self.postponed.extend(postponed);
        now
    }

    fn adopt(&mut self, part: &Self, targets: &[PrefixId]) -> Vec<PrefixId> {
        self.trie.adopt_or_drop(&part.trie, targets, &mut self.seen.dropped)
    }
}
