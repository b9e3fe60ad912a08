//! Coverage-guided search: schedules that showed something new become prefixes of others.
//!
//! The 2025 RaceHunter framework paper names this variant as future work; the form here follows reads-from fuzzing (D. Wolff
//! and others, "Greybox Fuzzing for Concurrency Testing", 2024). The coverage consists of pairs of accesses (which write a
//! read sees, which write a write replaces, who held a lock before) and of chains: each pair together with the preceding one, and with
//! the two preceding ones, in the same thread. Chains lead towards bugs that need several switches: a thread sees something rare
//! *after* it has seen something rare. An execution with a new pair or chain is kept. Targets are walks; most follow a kept
//! execution up to some point and then diverge from it at random.

use racehunter_explore::{
    Analysis, Execution, Loader, Outcome, Part, Plan, Saver, Share, Style, Switch, Tail, Unusable, path_priority,
};
use racehunter_log::{Address, CodeAddress, Entry, Event, EventNumber, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// The analysis.
pub struct Coverage {
    seed: u64,
    next: u64,
    /// Executions of other analyses still to wait for.
    patience: u64,
    /// Hashes of the pairs and chains seen so far.
    covered: FxHashSet<u64>,
    /// Executions that covered something new, the latest last.
    kept: Vec<Rc<Kept>>,
    /// Walks since the last one that covered something new.
    fruitless: u64,
}

/// An execution that later walks start from.
#[derive(Debug)]
struct Kept {
    switches: Vec<Switch>,
    /// Events before which another thread could be chosen; a sample if there are many.
    points: Vec<EventNumber>,
}

/// One walk.
#[derive(Clone, Debug)]
pub struct Target {
    number: u64,
    /// The kept execution that it follows, and up to which event.
    beginning: Option<(Rc<Kept>, EventNumber)>,
}

/// Number of waiting targets, enough to fill a batch.
const AHEAD: u64 = 16;
/// Maximum number of kept executions; the oldest is dropped first.
const MOST: usize = 512;
/// Maximum number of pairs remembered. A program with more has enough kept executions.
const MOST_COVERED: usize = 1 << 20;
/// Number of walks after which this analysis gets more executions than others: a bug not found by then is rare.
const RARE_AFTER: u64 = 1000;
/// Its weight from then on.
const RARE_WEIGHT: u32 = 4;
/// Number of walks after which a bug is rarer still: the other techniques would need many times as long.
const VERY_RARE_AFTER: u64 = 4000;
/// Its weight from then on.
const VERY_RARE_WEIGHT: u32 = 12;
/// Maximum number of points remembered per execution.
const POINTS: usize = 256;
/// One walk in this many follows no kept execution.
const FRESH: u64 = 4;
/// Number of walks without anything new after which the search starts again with other walks. Which executions are kept decides
/// which bugs are near; a search that has kept the wrong ones would not find out.
const STUCK_AFTER: u64 = 1000;

impl Coverage {
    /// Creates an analysis whose walks all derive from one seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { seed, next: 0, patience: 0, covered: FxHashSet::default(), kept: Vec::new(), fruitless: 0 }
    }

    /// Creates an analysis that starts after other analyses have run this many executions: rare bugs are worth looking for
    /// once the common ones are found.
    #[must_use]
    pub fn after_others(seed: u64, executions: u64) -> Self {
        Self { patience: executions, ..Self::new(seed) }
    }

    /// Returns the number of pairs and chains seen so far.
    #[must_use]
    pub fn covered(&self) -> usize {
        self.covered.len()
    }

    fn target(&mut self) -> Target {
        let number = self.next;
        self.next += 1;
        let mut random = self.seed ^ number.wrapping_mul(0xD134_2543_DE82_EF95);
        let mut below = |limit: usize| {
            random = random.rotate_left(32).wrapping_mul(0xD6E8_FEB8_6659_FD93) ^ 0x5851_F42D_4C95_7F2D;
            (path_priority(random, 1) % limit as u64) as usize
        };
        let beginning = if self.kept.is_empty() || number.is_multiple_of(FRESH) {
            None
        } else {
            // The larger of two draws, because recent executions are more promising.
            let kept = &self.kept[below(self.kept.len()).max(below(self.kept.len()))];
            kept.points.get(below(kept.points.len().max(1))).map(|&at| (kept.clone(), at))
        };
        Target { number, beginning }
    }

    fn targets(&mut self, count: u64) -> Vec<Target> {
        (0..count).map(|_| self.target()).collect()
    }

    /// Takes in an execution. Returns whether it covered something new.
    fn learn(&mut self, execution: &Execution) -> bool {
        let mut writers: FxHashMap<Address, CodeAddress> = FxHashMap::default();
        // The last two pairs of each thread, the later one first.
        let mut before: FxHashMap<ThreadId, [Option<u64>; 2]> = FxHashMap::default();
        let known = self.covered.len();
        for entry in execution.entries() {
            let Some(object) = entry.variable() else { continue };
            let code = entry.code();
            if let Some(&writer) = writers.get(&object) {
                let pair = hash(writer.0, code.0);
                self.cover(pair);
                let chain = before.entry(entry.thread()).or_default();
                let [last, earlier] = *chain;
                if let Some(last) = last {
                    self.cover(hash(last, pair));
                    if let Some(earlier) = earlier {
                        self.cover(hash(hash(earlier, last), pair));
                    }
                }
                *chain = [Some(pair), last];
            }
            if changes(&entry.event()) {
                writers.insert(object, code);
            }
        }
        self.covered.len() > known
    }

    fn cover(&mut self, what: u64) {
        if self.covered.len() < MOST_COVERED {
            self.covered.insert(what);
        }
    }
}

/// Returns whether the event can influence later ones.
fn changes(event: &Event) -> bool {
    event.access().is_some_and(|access| access.mode.writes()) || event.synchronisation().is_some()
}

/// Mixes two numbers: code addresses, or results of this function. It is computed for every access of a log, and saved with
/// campaigns, so it is quick, and the same whatever compiler built this.
const fn hash(before: u64, after: u64) -> u64 {
    let mixed = (before.rotate_left(23) ^ after).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed ^ mixed >> 29
}

impl Kept {
    fn new(execution: &Execution) -> Self {
        let mut points: Vec<EventNumber> =
            execution.entries().filter(|entry| entry.variable().is_some()).map(Entry::number).collect();
        let step = points.len().div_ceil(POINTS).max(1);
        points = points.into_iter().step_by(step).collect();
        Self { switches: execution.switches(), points }
    }
}

impl Analysis for Coverage {
    type Target = Target;

    fn initial_targets(&mut self) -> Vec<Target> {
        if self.patience == 0 { self.targets(AHEAD) } else { Vec::new() }
    }

    fn other_targets(&mut self, _: &Execution) -> Vec<Target> {
        if self.patience == 0 {
            return Vec::new();
        }
        self.patience -= 1;
        self.initial_targets()
    }

    fn reads_other_log(&self, _: u64) -> bool {
        false
    }

    fn weight(&self) -> u32 {
        match self.next {
            VERY_RARE_AFTER.. => VERY_RARE_WEIGHT,
            RARE_AFTER.. => RARE_WEIGHT,
            _ => 1,
        }
    }

    fn plan(&self, target: &Target) -> Plan {
        let seed = self.seed.wrapping_add(target.number.wrapping_mul(0xD134_2543_DE82_EF95));
        let tail = Tail::Walk { style: Style::Pos, seed };
        match &target.beginning {
            None => Plan { tail, ..Plan::default() },
            Some((kept, at)) => {
                let switches = kept.switches.iter().copied().filter(|switch| switch.at < *at).collect();
                Plan { switches, tail_from: *at, tail, ..Plan::default() }
            }
        }
    }

    fn new_targets(&mut self, _target: &Target, execution: &Execution) -> Vec<Target> {
        let is_whole = !matches!(execution.outcome, Outcome::Diverged(_) | Outcome::Lost(_));
        if is_whole && self.learn(execution) {
            if self.kept.len() == MOST {
                self.kept.remove(0);
            }
            self.kept.push(Rc::new(Kept::new(execution)));
            self.fruitless = 0;
        } else {
            self.fruitless += 1;
        }
        if self.fruitless == STUCK_AFTER {
            self.covered.clear();
            self.kept.clear();
            self.fruitless = 0;
        }
        self.targets(1)
    }

    /// Each part makes its own walks.
    fn split(&mut self, part: Part) -> bool {
        self.seed = self.seed.wrapping_add(u64::from(part.number() - 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        true
    }

    fn lends(&self) -> bool {
        true
    }

    /// Walks whose numbers are those of no other part, with all that was covered so far.
    fn lend(&mut self, _: &mut Vec<Target>, share: Share) -> Option<(Self, Vec<Target>)> {
        let (covered, kept) = (self.covered.clone(), self.kept.clone());
        let mut part =
            Self { seed: self.seed, next: share.first_number(), patience: self.patience, covered, kept, fruitless: 0 };
        let targets = part.initial_targets();
        Some((part, targets))
    }

    /// What a part has covered is nothing new in those that are lent from now on.
    fn take_back(&mut self, part: Self, _: Vec<Target>) -> Vec<Target> {
        self.patience = self.patience.min(part.patience);
        let known = self.covered.len();
        part.covered.into_iter().for_each(|what| self.cover(what));
        if self.covered.len() > known {
            self.kept.extend(part.kept);
            let too_many = self.kept.len().saturating_sub(MOST);
            self.kept.drain(..too_many);
        }
        Vec::new()
    }

    const SAVES: bool = true;

    fn save(&self, targets: &mut dyn Iterator<Item = &Target>, out: &mut Saver<'_>) {
        out.number(self.next);
        out.number(self.patience);
        out.number(self.fruitless);
        let mut covered: Vec<u64> = self.covered.iter().copied().collect();
        covered.sort_unstable();
        out.numbers(covered.into_iter());
        out.count(self.kept.len());
        for kept in &self.kept {
            out.switches(&kept.switches);
            out.numbers(kept.points.iter().copied());
        }
        let targets: Vec<&Target> = targets.collect();
        out.count(targets.len());
        for Target { number, beginning } in targets {
            out.number(*number);
            out.optional(beginning.as_ref().map(|(_, at)| at.0));
            if let Some((kept, _)) = beginning {
                out.switches(&kept.switches);
            }
        }
    }

    fn load(&mut self, input: &mut Loader<'_>) -> Result<Vec<Target>, Unusable> {
        (self.next, self.patience, self.fruitless) = (input.number()?, input.number()?, input.number()?);
        self.covered = input.numbers()?.into_iter().collect();
        for _ in 0..input.number()? {
            self.kept.push(Rc::new(Kept { switches: input.switches()?, points: input.numbers()? }));
        }
        let mut targets = Vec::new();
        for _ in 0..input.number()? {
            let number = input.number()?;
            let beginning = match input.optional()? {
                // A target already has its point.
                Some(at) => Some((Rc::new(Kept { switches: input.switches()?, points: Vec::new() }), EventNumber(at))),
                None => None,
            };
            targets.push(Target { number, beginning });
        }
        Ok(targets)
    }
}
