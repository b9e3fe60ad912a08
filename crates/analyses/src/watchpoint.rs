//! Watchpoints: finds pairs of conflicting accesses, then provokes each pair.
//!
//! After E. A. Gerlits, "RaceHunter: dynamic detection of data races by provoking conflicting accesses", 2023. One execution is
//! monitored; its conflicting pairs are the targets. For a target, the first thread that reaches one of the two accesses is held
//! there until the other access is about to happen. Since one thread runs at a time, waiting needs no clock: it ends when the
//! partner arrives, when no other thread can run, or when the other threads have performed somewhat more events than the whole
//! monitored execution. Pairs discovered while provoking are targets too.
//!
//! The first accesses of every two places in the code come first, then all others, those without a common lock before the rest.
//! This only orders the targets, and leaves none out.
//!
//! Two accesses that meet are a race, whatever the program uses for synchronisation. Pairs that do not meet may still race in
//! other schedules.

use racehunter_explore::{
    Analysis, Conflict, Execution, Loader, Outcome, PATIENCE, Pair, Part, Plan, Portion, Saver, StableHasher, Unusable,
    all_conflicts, conflicts_of,
};
use std::collections::HashSet;
use std::hash::{Hash as _, Hasher as _};

/// The analysis.
#[derive(Default)]
pub struct Watchpoint {
    part: Part,
    known: Known,
    /// Further accesses of places that are already targets, the most promising last. They run when nothing else is left.
    later: Vec<(bool, Pair)>,
    provoked: u64,
    /// Which targets of the monitored execution are taken next. The execution is monitored again for each portion.
    portion: Portion,
    /// Number of targets of the monitored execution in later portions.
    left_out: u64,
    /// Number of targets of other executions that were dropped because there are too many.
    dropped: u64,
    /// Events of other threads for which a thread is held.
    patience: u64,
}

/// The purpose of an execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// Observe which accesses conflict.
    Monitor,
    /// Make two accesses meet.
    Provoke(Box<Pair>),
}

/// The targets seen so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Known {
    pairs: HashSet<Pair>,
    places: HashSet<Pair>,
}

/// Maximum number, per access, of repeated accesses that any execution can add. A loop that waits may iterate more often in each
/// execution than before.
const MOST_ROUNDS: u64 = 16;

impl Known {
    /// Takes in conflicts, and returns the new ones. The first execution that shows two places determines which of their accesses
    /// are targets, and so does a monitored one.
    pub fn take_new(&mut self, conflicts: Vec<Conflict>, is_monitored: bool) -> Vec<Conflict> {
        let fresh: HashSet<Pair> =
            conflicts.iter().map(Conflict::places).filter(|places| !self.places.contains(places)).collect();
        let is_wanted =
            |conflict: &Conflict| is_monitored || conflict.nth() <= MOST_ROUNDS || fresh.contains(&conflict.places());
        let news =
            conflicts.into_iter().filter(|conflict| is_wanted(conflict) && self.pairs.insert(conflict.pair.clone()));
        let news = news.collect();
        self.places.extend(fresh);
        news
    }

    pub fn save(&self, out: &mut Saver<'_>) {
        for pairs in [&self.pairs, &self.places] {
            out.count(pairs.len());
            pairs.iter().for_each(|pair| out.pair(pair));
        }
    }

    pub fn load(&mut self, input: &mut Loader<'_>) -> Result<(), Unusable> {
        for pairs in [&mut self.pairs, &mut self.places] {
            *pairs = (0..input.number()?).map(|_| input.pair()).collect::<Result<_, _>>()?;
        }
        Ok(())
    }
}

/// Returns for how many events a thread is held, given the length of the monitored execution: the paper's rule, with events in
/// place of time.
pub(crate) fn patience(monitored: u64) -> u64 {
    PATIENCE.max(monitored.saturating_add(monitored / 10))
}

impl Watchpoint {
    /// Creates an analysis that knows no pairs yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes this many further targets at a time from the monitored execution.
    #[must_use]
    pub fn in_portions_of(most: u64) -> Self {
        Self { portion: Portion { from: 0, most: most.max(1) }, ..Self::default() }
    }
}

impl Analysis for Watchpoint {
    type Target = Target;

    fn initial_targets(&mut self) -> Vec<Target> {
        let portion = Portion { from: 0, ..self.portion };
        *self = Self { part: self.part, portion, ..Self::default() };
        vec![Target::Monitor]
    }

    fn plan(&self, target: &Target) -> Plan {
        let provoke = match target {
            Target::Monitor => None,
            Target::Provoke(pair) => Some(pair.clone()),
        };
        Plan { stacks: true, provoke, patience: self.patience.max(PATIENCE), ..Plan::default() }
    }

    fn new_targets(&mut self, target: &Target, execution: &Execution) -> Vec<Target> {
        let is_monitored = *target == Target::Monitor;
        self.provoked += u64::from(!is_monitored);
        if matches!(execution.outcome, Outcome::Diverged(_)) {
            return Vec::new();
        }
        let conflicts = if is_monitored {
            let conflicts = conflicts_of(execution, self.portion);
            self.portion = self.portion.next();
            self.patience = patience(execution.events);
            self.left_out = conflicts.left_out;
            conflicts
        } else {
            let conflicts = all_conflicts(execution);
            self.dropped += conflicts.left_out;
            conflicts
        };
        // Pairs seen while provoking belong to the part that owns the provoked pair.
        let is_own = |pair: &Pair| !is_monitored || self.part.owns(hash(pair));
        let news = self.known.take_new(conflicts.targets, is_monitored);
        let news = news.into_iter().filter(|conflict| is_own(&conflict.pair));
        let (firsts, others): (Vec<_>, Vec<_>) = news.partition(|conflict| conflict.is_first);
        self.later.extend(others.into_iter().map(|conflict| (conflict.guarded, conflict.pair)));
        // The campaign runs the last one first.
        firsts.into_iter().rev().map(|conflict| Target::Provoke(Box::new(conflict.pair))).collect()
    }

    fn next_stage(&mut self) -> Option<Vec<Target>> {
        if self.later.is_empty() {
            return (self.left_out > 0).then(|| vec![Target::Monitor]);
        }
        let mut later = std::mem::take(&mut self.later);
        let nth = |pair: &Pair| pair.iter().map(|access| access.nth).max();
        later.sort_by(|(a_guarded, a), (b_guarded, b)| (a_guarded, nth(a), a).cmp(&(b_guarded, nth(b), b)));
        Some(later.into_iter().rev().map(|(_, pair)| Target::Provoke(Box::new(pair))).collect())
    }

    /// A pair that did not meet may do so in other schedules, and this analysis looks for no other bugs.
    fn proves(&self) -> bool {
        false
    }

    fn guarantee(&self) -> Option<String> {
        let pairs = self.provoked;
        let plural = if pairs == 1 { "pair" } else { "pairs" };
        if !self.later.is_empty() {
            return Some(format!("{pairs} {plural} of conflicting places seen, each provoked where it comes first,"));
        }
        (self.left_out == 0 && self.dropped == 0)
            .then(|| format!("{pairs} {plural} of conflicting accesses seen, each provoked,"))
    }

    fn remaining(&self, waiting: usize) -> Option<u64> {
        Some(waiting as u64 + self.later.len() as u64 + self.left_out)
    }

    fn split(&mut self, part: Part) -> bool {
        self.part = part;
        true
    }

    fn is_common(&self, target: &Target) -> bool {
        *target == Target::Monitor
    }

    const SAVES: bool = true;

    fn save(&self, targets: &mut dyn Iterator<Item = &Target>, out: &mut Saver<'_>) {
        out.number(self.provoked);
        [self.portion.from, self.portion.most, self.left_out, self.dropped]
            .into_iter()
            .for_each(|number| out.number(number));
        out.number(self.patience);
        self.known.save(out);
        out.count(self.later.len());
        for (guarded, pair) in &self.later {
            out.number(*guarded);
            out.pair(pair);
        }
        let targets: Vec<&Target> = targets.collect();
        out.count(targets.len());
        for target in targets {
            out.number(matches!(target, Target::Provoke(_)));
            if let Target::Provoke(pair) = target {
                out.pair(pair);
            }
        }
    }

    fn load(&mut self, input: &mut Loader<'_>) -> Result<Vec<Target>, Unusable> {
        self.provoked = input.number()?;
        self.portion = Portion { from: input.number()?, most: input.number()? };
        (self.left_out, self.dropped) = (input.number()?, input.number()?);
        self.patience = input.number()?;
        self.known.load(input)?;
        self.later =
            (0..input.number()?).map(|_| Ok((input.flag()?, input.pair()?))).collect::<Result<_, Unusable>>()?;
        let mut targets = Vec::new();
        for _ in 0..input.number()? {
            let provoke = input.flag()?;
            targets.push(if provoke { Target::Provoke(Box::new(input.pair()?)) } else { Target::Monitor });
        }
        Ok(targets)
    }
}

/// Stable across runs and compilers, because it divides the work.
fn hash(pair: &Pair) -> u64 {
    let mut hasher = StableHasher::default();
    pair.hash(&mut hasher);
    hasher.finish()
}
