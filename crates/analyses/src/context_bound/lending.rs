//! A search whose targets other campaigns explore.

use super::{ContextBound, Reduction, Seen, Tried};
use crate::trie::PrefixId;
use crate::visited::Visited;

impl ContextBound {
    /// A search of its own with these targets, which this one holds no longer.
    ///
    /// It does not know where the others have been: with [`Reduction::Caching`], several parts may explore what is behind
    /// the same state. What a part leaves out is behind a state that the same part has explored, or in a schedule that
    /// another target stands for; so the parts together leave out nothing that one search would not.
    pub(super) fn lend_targets(&mut self, targets: &[PrefixId]) -> (Self, Vec<PrefixId>) {
        let (trie, lent) = self.trie.lend(targets, &mut self.seen.dropped);
        let part = Self {
            kind: self.kind,
            strategy: self.strategy,
            seed: self.seed,
            first_bound: self.first_bound,
            last_bound: self.last_bound,
            part: self.part,
            reduction: self.reduction,
            visited: (self.reduction == Some(Reduction::Caching)).then(Visited::new),
            tried: Tried::default(),
            bound: self.bound,
            trie,
            later: Vec::new(),
            postponed: Vec::new(),
            seen: Seen::default(),
            long: self.long,
            spins: self.spins,
            again: false,
            done: (0, 0.0),
            left_out: 0,
        };
        (part, lent)
    }

    /// Takes over what a part has seen, and the targets that it has not explored. Returns those of this stage.
    pub(super) fn take_back_targets(&mut self, part: &Self, waiting: &[PrefixId]) -> Vec<PrefixId> {
        let Seen { cut_off, dropped, unfair, spurious } = part.seen;
        self.seen.cut_off |= cut_off;
        self.seen.dropped |= dropped;
        self.seen.unfair |= unfair;
        self.seen.spurious |= spurious;
        self.spins |= part.spins;
        self.done = (self.done.0 + part.done.0, self.done.1 + part.done.1);
        self.left_out += part.left_out;
        let later: Vec<PrefixId> = part.later.iter().flatten().copied().collect();
        let mut now = self.adopt(part, waiting);
        for target in self.adopt(part, &later) {
            self.add(target, &mut now);
        }
        let postponed = self.adopt(part, &part.postponed);
        self.postponed.extend(postponed);
        now
    }

    fn adopt(&mut self, part: &Self, targets: &[PrefixId]) -> Vec<PrefixId> {
        self.trie.adopt_or_drop(&part.trie, targets, &mut self.seen.dropped)
    }
}
