//! Coverage-guided search: schedules that showed something new are the beginnings of others.
//!
//! The variant that the RaceHunter framework (2025) names as future work, in the way of reads-from fuzzing (D. Wolff and
//! others, "Greybox Fuzzing for Concurrency Testing", 2024). What is covered are pairs of accesses: which write a read sees,
//! which write a write replaces, and who had a lock before; and each of them together with the one before it in the same
//! thread. Bugs that take several switches are passed by steps of that kind: a thread that sees what is rare *after* it has
//! seen something rare. An execution with something that no other had is kept. Targets are walks: most follow one of these
//! executions up to some point, and go their own way from there.

use racehunter_explore::{
    Analysis, Execution, Loader, Outcome, Part, Plan, Saver, Share, Style, Switch, Tail, Unusable, path_priority,
};
use racehunter_log::{Address, CodeAddress, Entry, Event, EventNumber, ThreadId};
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::rc::Rc;

/// The analysis.
pub struct Coverage {
    seed: u64,
    next: u64,
    /// Executions of others that it waits for, still.
    patience: u64,
    /// Hashes of the pairs so far, and of pairs in a row.
    covered: HashSet<u64>,
    /// Executions with something new, the latest last.
    kept: Vec<Rc<Kept>>,
}

/// An execution that others begin like.
#[derive(Debug)]
struct Kept {
    switches: Vec<Switch>,
    /// Events before which another thread could be chosen; a sample, when there are many.
    points: Vec<EventNumber>,
}

/// One walk.
#[derive(Clone, Debug)]
pub struct Target {
    number: u64,
    /// The execution that it begins like, and up to which event.
    beginning: Option<(Rc<Kept>, EventNumber)>,
}

/// Targets that wait at any time, so that a batch can be filled.
const AHEAD: u64 = 16;
/// Executions that are kept, at most; the oldest goes.
const MOST: usize = 512;
/// Pairs that are remembered, at most. A program with more has enough that is kept.
const MOST_COVERED: usize = 1 << 20;
/// Walks after which it gets more executions than others do: what was not found by then is rare indeed.
const PATIENT: u64 = 1000;
/// That share.
const WORTH: u32 = 4;
/// Points of an execution that are remembered, at most.
const POINTS: usize = 256;
/// One walk in this many begins at the beginning.
const FRESH: u64 = 4;

impl Coverage {
    /// An analysis whose walks all derive from one seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { seed, next: 0, patience: 0, covered: HashSet::new(), kept: Vec::new() }
    }

    /// An analysis that begins when others have run this many executions: what is rare is worth looking for when what is not
    /// has been found.
    #[must_use]
    pub fn after_others(seed: u64, executions: u64) -> Self {
        Self { patience: executions, ..Self::new(seed) }
    }

    /// Pairs of accesses, and pairs in a row, that were seen so far.
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
            // The larger of two: what is new is more promising than what has had its chances.
            let kept = &self.kept[below(self.kept.len()).max(below(self.kept.len()))];
            kept.points.get(below(kept.points.len().max(1))).map(|&at| (kept.clone(), at))
        };
        Target { number, beginning }
    }

    fn targets(&mut self, count: u64) -> Vec<Target> {
        (0..count).map(|_| self.target()).collect()
    }

    /// Takes in an execution; true when it had something new.
    fn learn(&mut self, execution: &Execution) -> bool {
        let mut writers: HashMap<Address, CodeAddress> = HashMap::new();
        let mut before: HashMap<ThreadId, u64> = HashMap::new();
        let known = self.covered.len();
        for entry in execution.entries() {
            let Some(object) = entry.variable() else { continue };
            let code = entry.code();
            if let Some(&writer) = writers.get(&object) {
                let pair = hash(writer.0, code.0);
                self.cover(pair);
                if let Some(before) = before.insert(entry.thread(), pair) {
                    self.cover(hash(before, pair));
                }
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

/// Whether what comes after can tell that it happened.
fn changes(event: &Event) -> bool {
    event.access().is_some_and(|access| access.mode.writes()) || event.synchronisation().is_some()
}

fn hash(before: u64, after: u64) -> u64 {
    let mut hasher = DefaultHasher::new();
    (before, after).hash(&mut hasher);
    hasher.finish()
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

    fn weight(&self) -> u32 {
        if self.next > PATIENT { WORTH } else { 1 }
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
        }
        self.targets(1)
    }

    /// Each part makes walks of its own.
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
        let mut part = Self { seed: self.seed, next: share.first_number(), patience: self.patience, covered, kept };
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
        (self.next, self.patience) = (input.number()?, input.number()?);
        self.covered = input.numbers()?.into_iter().collect();
        for _ in 0..input.number()? {
            self.kept.push(Rc::new(Kept { switches: input.switches()?, points: input.numbers()? }));
        }
        let mut targets = Vec::new();
        for _ in 0..input.number()? {
            let number = input.number()?;
            let beginning = match input.optional()? {
                // A target has its point already.
                Some(at) => Some((Rc::new(Kept { switches: input.switches()?, points: Vec::new() }), EventNumber(at))),
                None => None,
            };
            targets.push(Target { number, beginning });
        }
        Ok(targets)
    }
}
