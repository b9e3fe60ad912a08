//! Saves and loads a search.

use super::{Candidate, Place, Target, ThreadBound};
use crate::trie::Trie;
use racehunter_explore::{Loader, MOST_CHANGED, Saver, Unusable};
use racehunter_log::ThreadId;
use std::collections::BTreeMap;
use std::rc::Rc;

impl ThreadBound {
    /// Writes the state and the waiting targets.
    pub(super) fn write(&self, targets: &[&Target], out: &mut Saver<'_>) {
        self.place.save(out);
        self.trie.save(out);
        out.count(self.later.len());
        for (place, targets) in &self.later {
            place.save(out);
            save_all(&targets.iter().collect::<Vec<_>>(), out);
        }
        out.numbers(self.paths.iter().copied());
        [self.orders, self.drawn.count, self.drawn.distinct, self.pruned]
            .into_iter()
            .for_each(|number| out.number(number));
        out.number(self.annotated);
        out.number(self.skipped);
        let flags =
            [self.more_paths, self.late_iterations, self.dropped, self.unpredicted, self.unfair, self.exhausted];
        flags.into_iter().for_each(|flag| out.number(flag));
        out.numbers(self.drawn.known.iter().copied());
        out.numbers(self.begun.iter().copied());
        save_all(targets, out);
    }

    pub(super) fn read(&mut self, input: &mut Loader<'_>) -> Result<Vec<Target>, Unusable> {
        self.place = Place::load(input)?;
        self.trie = Trie::load(input)?;
        self.later = BTreeMap::new();
        for _ in 0..input.number()? {
            let place = Place::load(input)?;
            self.later.insert(place, load_all(input)?);
        }
        self.paths = input.numbers()?;
        for number in [&mut self.orders, &mut self.drawn.count, &mut self.drawn.distinct, &mut self.pruned] {
            *number = input.number()?;
        }
        self.annotated = input.flag()?;
        self.skipped = input.flag()?;
        (self.more_paths, self.late_iterations, self.dropped) = (input.flag()?, input.flag()?, input.flag()?);
        (self.unpredicted, self.unfair, self.exhausted) = (input.flag()?, input.flag()?, input.flag()?);
        self.drawn.known = input.numbers()?;
        self.begun = input.numbers()?.into_iter().collect();
        let targets = load_all(input)?;
        let held = self.later.values().flatten().chain(&targets).all(|target| self.trie.hold(target.prefix));
        self.candidates = self.later.values().flatten().chain(&targets).map(|target| target.candidates.len()).sum();
        // A prefix that cannot be held belongs to a target that was dropped.
        if held { Ok(targets) } else { Err(Unusable::Damaged) }
    }
}

impl Place {
    fn save(self, out: &mut Saver<'_>) {
        [self.variables, self.iterations, self.preemptions].into_iter().for_each(|number| out.number(number));
    }

    fn load(input: &mut Loader<'_>) -> Result<Self, Unusable> {
        Ok(Self { variables: input.small()?, iterations: input.small()?, preemptions: input.small()? })
    }
}

impl Candidate {
    fn save(&self, out: &mut Saver<'_>) {
        out.number(self.seed);
        out.numbers(self.preempted().iter().copied());
        out.count(self.variables.len());
        self.variables.iter().for_each(|&variable| out.variable(variable));
    }

    fn load(input: &mut Loader<'_>) -> Result<Self, Unusable> {
        let (seed, threads): (u64, Vec<ThreadId>) = (input.number()?, input.numbers()?);
        let variables = (0..input.number()?).map(|_| input.variable()).collect::<Result<_, _>>()?;
        let mut preempted = [ThreadId::MAIN; MOST_CHANGED];
        // A plan has room for no more.
        let room = preempted.get_mut(..threads.len()).ok_or(Unusable::Damaged)?;
        room.copy_from_slice(&threads);
        Ok(Self { seed, preempted, count: threads.len() as u32, variables: Rc::new(variables) })
    }
}

fn save_all(targets: &[&Target], out: &mut Saver<'_>) {
    out.count(targets.len());
    for Target { prefix, at, candidates } in targets {
        out.number(*prefix);
        out.number(*at);
        out.count(candidates.len());
        candidates.iter().for_each(|candidate| candidate.save(out));
    }
}

fn load_all(input: &mut Loader<'_>) -> Result<Vec<Target>, Unusable> {
    let mut targets = Vec::new();
    for _ in 0..input.number()? {
        let (prefix, at) = (input.small()?, input.small()?);
        let candidates = (0..input.number()?).map(|_| Candidate::load(input)).collect::<Result<Vec<_>, _>>()?;
        if candidates.is_empty() {
            // One of them must be the leader.
            return Err(Unusable::Damaged);
        }
        targets.push(Target { prefix, at, candidates: Rc::new(candidates) });
    }
    Ok(targets)
}
