//! Saves and loads a search.

use super::{Place, Seen, VariableBound};
use crate::trie::{PrefixId, Trie};
use crate::visited::Visited;
use racehunter_explore::{Loader, Saver, Unusable};

impl VariableBound {
    pub(super) fn write(&self, targets: Vec<PrefixId>, out: &mut Saver<'_>) {
        self.place.save(out);
        let Seen { cut_off, late_iterations, dropped, unfair, last_stage, skipped } = self.seen;
        let flags = [cut_off, late_iterations, dropped, unfair, last_stage, skipped, self.reduces];
        flags.into_iter().for_each(|flag| out.number(flag));
        out.number(self.left_out);
        self.trie.save(out);
        out.count(self.later.len());
        for (place, targets) in &self.later {
            place.save(out);
            out.numbers(targets.iter().copied());
        }
        out.numbers(self.postponed.iter().copied());
        out.number(self.visited.is_some());
        self.visited.iter().for_each(|visited| visited.save(out));
        out.numbers(targets.into_iter());
    }

    pub(super) fn read(&mut self, input: &mut Loader<'_>) -> Result<Vec<PrefixId>, Unusable> {
        self.place = Place::load(input)?;
        let (cut_off, late_iterations, dropped) = (input.flag()?, input.flag()?, input.flag()?);
        let (unfair, last_stage, skipped) = (input.flag()?, input.flag()?, input.flag()?);
        self.seen = Seen { cut_off, late_iterations, dropped, unfair, last_stage, skipped };
        self.reduces = input.flag()?;
        self.left_out = input.number()?;
        self.trie = Trie::load(input)?;
        for _ in 0..input.number()? {
            let (place, targets) = (Place::load(input)?, input.numbers()?);
            self.later.insert(place, targets);
        }
        self.postponed = input.numbers()?;
        self.visited = if input.flag()? { Some(Visited::load(input)?) } else { None };
        let targets: Vec<PrefixId> = input.numbers()?;
        let waiting = self.later.values().flatten().chain(&self.postponed).chain(&targets);
        // A prefix that cannot be held belongs to a target that was dropped.
        let held = waiting.copied().collect::<Vec<PrefixId>>().into_iter().all(|target| self.trie.hold(target));
        if held { Ok(targets) } else { Err(Unusable::Damaged) }
    }
}
