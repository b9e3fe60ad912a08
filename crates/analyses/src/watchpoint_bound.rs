//! Context bound x watchpoint: provokes each pair of conflicting accesses in all schedules with few preemptions.
//!
//! V. P. Rudenchik, P. S. Andrianov, V. S. Mutilin, "Bounding Thread Switches in Dynamic Analysis of Multithreaded Programs",
//! 2025, call it the most promising direction. A pair that does not meet in the schedule tried by [`crate::Watchpoint`] may meet
//! in another: one in which a thread reaches its access at all, or does so without a lock that keeps the partner away. Each pair
//! therefore has its own search, over schedules in which the first thread that reaches one of its accesses is held there. The
//! search ends when the pair meets. All pairs finish one bound before any continues with the next.

use crate::context_bound::{BoundKind, ContextBound, Strategy};
use crate::trie::PrefixId;
use crate::watchpoint::{Known, patience};
use racehunter_explore::{Analysis, Execution, Loader, Outcome, PATIENCE, Pair, Plan, Saver, Unusable, all_conflicts};

/// The analysis.
pub struct WatchpointBound {
    last: u32,
    kind: BoundKind,
    strategy: Strategy,
    seed: u64,
    bound: u32,
    known: Known,
    /// Number of accesses that are not targets, because there are too many.
    left_out: u64,
    /// Events of other threads for which a thread is held.
    patience: u64,
    searches: Vec<Search>,
}

/// The search for a schedule in which a pair meets.
struct Search {
    pair: Pair,
    /// `None` once the pair has met.
    schedules: Option<ContextBound>,
    /// Waiting schedule prefixes, the next one last.
    waiting: Vec<PrefixId>,
    /// Number of targets handed out and not finished.
    running: usize,
}

/// The purpose of an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Observe which accesses conflict.
    Monitor,
    /// Make a pair meet.
    Provoke {
        /// The pair.
        pair: usize,
        /// The schedule prefix.
        beginning: PrefixId,
    },
}

/// Maximum number of targets of a pair that run at once: those still running when it meets are wasted.
const AHEAD: usize = 4;

impl WatchpointBound {
    /// Explores up to this many preemptions or switches.
    #[must_use]
    pub fn new(bound: u32, kind: BoundKind, strategy: Strategy, seed: u64) -> Self {
        Self {
            last: bound,
            kind,
            strategy,
            seed,
            bound: 0,
            known: Known::default(),
            left_out: 0,
            patience: 0,
            searches: Vec::new(),
        }
    }

    /// Creates the search for a pair, starting at the current bound.
    fn schedules(&self) -> ContextBound {
        ContextBound::iterative(self.last, self.kind, self.strategy, self.seed).starting_at(self.bound)
    }

    /// Starts the search for a pair.
    fn begin(&mut self, pair: Pair) {
        let mut schedules = self.schedules();
        let waiting = schedules.initial_targets();
        self.searches.push(Search { pair, schedules: Some(schedules), waiting, running: 0 });
    }

    /// Hands out the targets that may run now.
    fn give_out(&mut self) -> Vec<Target> {
        let mut targets = Vec::new();
        for (pair, search) in self.searches.iter_mut().enumerate() {
            let count = AHEAD.saturating_sub(search.running).min(search.waiting.len());
            search.running += count;
            let beginnings = search.waiting.drain(search.waiting.len() - count..);
            targets.extend(beginnings.map(|beginning| Target::Provoke { pair, beginning }));
        }
        targets
    }
}

impl Analysis for WatchpointBound {
    type Target = Target;

    fn initial_targets(&mut self) -> Vec<Target> {
        self.bound = 0;
        (self.known, self.left_out, self.patience) = (Known::default(), 0, 0);
        self.searches.clear();
        vec![Target::Monitor]
    }

    fn plan(&self, target: &Target) -> Plan {
        let Target::Provoke { pair, beginning } = *target else { return Plan { stacks: true, ..Plan::default() } };
        let search = &self.searches[pair];
        let plan = search.schedules.as_ref().map(|schedules| schedules.plan(&beginning)).unwrap_or_default();
        let patience = self.patience.max(PATIENCE);
        Plan { stacks: true, provoke: Some(Box::new(search.pair.clone())), patience, ..plan }
    }

    fn new_targets(&mut self, target: &Target, execution: &Execution) -> Vec<Target> {
        if let Target::Provoke { pair, beginning } = *target {
            let search = &mut self.searches[pair];
            search.running -= 1;
            if let Some(schedules) = &mut search.schedules {
                let new = schedules.new_targets(&beginning, execution);
                search.waiting.extend(new);
            }
            if search.meets(execution) {
                search.schedules = None;
                search.waiting = Vec::new();
            }
        }
        if !matches!(execution.outcome, Outcome::Diverged(_)) {
            let conflicts = all_conflicts(execution);
            self.left_out += conflicts.left_out;
            if *target == Target::Monitor {
                self.patience = patience(execution.events);
            }
            for conflict in self.known.take_new(conflicts.targets, false) {
                self.begin(conflict.pair);
            }
        }
        self.give_out()
    }

    fn give_up(&mut self, target: &Target) -> Vec<Target> {
        if let Target::Provoke { pair, .. } = *target {
            self.searches[pair].running -= 1;
        }
        self.give_out()
    }

    fn next_stage(&mut self) -> Option<Vec<Target>> {
        if self.bound == self.last {
            return None;
        }
        self.bound += 1;
        for search in &mut self.searches {
            if let Some(schedules) = &mut search.schedules {
                search.waiting = schedules.next_stage().unwrap_or_default();
            }
        }
        Some(self.give_out())
    }

    /// A pair that did not meet may do so in other schedules, and this analysis looks for no other bugs.
    fn proves(&self) -> bool {
        false
    }

    fn guarantee(&self) -> Option<String> {
        let pairs = self.searches.len();
        let (bound, plural) = (self.bound, if pairs == 1 { "pair" } else { "pairs" });
        let what = match (self.kind, bound) {
            (BoundKind::Preemptions, 1) => "preemption",
            (BoundKind::Preemptions, _) => "preemptions",
            (BoundKind::Switches, 1) => "switch",
            (BoundKind::Switches, _) => "switches",
        };
        let within = format!("all schedules with <= {bound} {what}");
        let words = format!("{pairs} {plural} of conflicting accesses seen, each met or provoked in {within},");
        (self.left_out == 0).then_some(words)
    }

    fn bound(&self) -> Option<u32> {
        Some(self.bound)
    }

    const SAVES: bool = true;

    fn save(&self, targets: &mut dyn Iterator<Item = &Target>, out: &mut Saver<'_>) {
        let targets: Vec<&Target> = targets.collect();
        out.number(self.bound);
        out.number(self.left_out);
        out.number(self.patience);
        self.known.save(out);
        out.count(self.searches.len());
        for (number, search) in self.searches.iter().enumerate() {
            out.pair(&search.pair);
            out.number(search.schedules.is_some());
            if let Some(schedules) = &search.schedules {
                out.count(search.waiting.len());
                let given = targets.iter().filter_map(|target| target.of(number));
                schedules.save(&mut search.waiting.iter().chain(given), out);
            }
        }
        out.count(targets.len());
        for target in targets {
            match *target {
                Target::Monitor => out.number(0_u8),
                Target::Provoke { pair, beginning } => {
                    out.count(pair + 1);
                    out.number(beginning);
                }
            }
        }
    }

    fn load(&mut self, input: &mut Loader<'_>) -> Result<Vec<Target>, Unusable> {
        self.bound = input.small()?;
        self.left_out = input.number()?;
        self.patience = input.number()?;
        self.known.load(input)?;
        self.searches = Vec::new();
        for _ in 0..input.number()? {
            let (pair, searches) = (input.pair()?, input.flag()?);
            let mut search = Search { pair, schedules: None, waiting: Vec::new(), running: 0 };
            if searches {
                let count: usize = input.small()?;
                let mut schedules = self.schedules();
                search.waiting = schedules.load(input)?;
                search.waiting.truncate(count);
                search.schedules = Some(schedules);
            }
            self.searches.push(search);
        }
        let mut targets = Vec::new();
        for _ in 0..input.number()? {
            targets.push(match input.small::<usize>()?.checked_sub(1) {
                None => Target::Monitor,
                Some(pair) => {
                    self.searches.get_mut(pair).ok_or(Unusable::Damaged)?.running += 1;
                    Target::Provoke { pair, beginning: input.small()? }
                }
            });
        }
        Ok(targets)
    }
}

impl Target {
    /// Returns the schedule prefix, if the target is of this pair.
    fn of(&self, number: usize) -> Option<&PrefixId> {
        match self {
            Self::Provoke { pair, beginning } if *pair == number => Some(beginning),
            Self::Provoke { .. } | Self::Monitor => None,
        }
    }
}

impl Search {
    /// Returns whether the two accesses have met.
    fn meets(&self, execution: &Execution) -> bool {
        let [first, second] = &self.pair;
        let wanted = (first.code.min(second.code), first.code.max(second.code));
        execution.races().iter().any(|race| {
            let (a, b) = (race.first.code, race.second.code);
            (a.min(b), a.max(b)) == wanted
        })
    }
}
