//! What is known about the executions of a program: the numbers that the hit probabilities of walks depend on.

use crate::Aliases;
use racehunter_explore::{
    Execution, Going, Loader, MOST_TRACKED, MOST_WEIGHTS, Saver, Tracked, Unusable, Variable, Variables, decisions,
};
use racehunter_log::{Entry, Event, ThreadId, ThreadPath};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of accesses per variable and thread that a weight counts: a spinning loop makes any number of them.
const MOST_ACCESSES: u64 = 1000;

/// The maxima over all executions so far.
#[derive(Clone, Default, PartialEq)]
pub(crate) struct Profile {
    threads: u64,
    choices: u64,
    /// Some thread could continue by a time-out or a spurious wake-up, which walks choose at random.
    random_wakeups: bool,
    /// Accesses of each variable after the creation of the first thread.
    accesses: BTreeMap<Tracked, Accesses>,
    /// The variables that more than one thread accesses, with their accesses: walks draw from these.
    shared: Vec<(Tracked, u64)>,
    /// The creator of each thread; both by their paths.
    parents: BTreeMap<ThreadPath, ThreadPath>,
}

#[derive(Clone, Default, PartialEq)]
struct Accesses {
    most: u64,
    /// The thread that accesses it, and whether others do too in the same execution.
    thread: ThreadId,
    shared: bool,
    /// Accesses by each thread, by its path.
    of_threads: BTreeMap<ThreadPath, u64>,
    /// The sites of plain accesses.
    sites: BTreeSet<u32>,
}

/// The accesses of a variable in one execution.
struct Accessed {
    /// The thread that accessed it first, and whether others did too.
    thread: ThreadId,
    shared: bool,
    /// Accesses by each thread, by its path.
    of_threads: FxHashMap<ThreadPath, u64>,
    /// The sites of plain accesses.
    sites: FxHashSet<u32>,
}

impl Accessed {
    fn by(thread: ThreadId) -> Self {
        Self { thread, shared: false, of_threads: FxHashMap::default(), sites: FxHashSet::default() }
    }
}

impl Profile {
    /// Returns the number of threads of an execution.
    pub fn threads(&self) -> u64 {
        self.threads.max(1)
    }

    /// Returns whether walks choose anything at random besides priorities.
    pub fn has_random_wakeups(&self) -> bool {
        self.random_wakeups
    }

    /// Returns the number of decisions with more than one enabled thread.
    pub fn choices(&self) -> u64 {
        self.choices.max(1)
    }

    /// Returns the number of variables that more than one thread accesses.
    pub fn variables(&self) -> u64 {
        self.shared.len() as u64
    }

    /// Returns the number of sets of this many variables, or 1 if there are fewer variables.
    pub fn sets(&self, variables: u32) -> f64 {
        let (all, of) = (self.shared.len() as u64, u64::from(variables).min(self.shared.len() as u64));
        (0..of).map(|i| (all - i) as f64 / (i + 1) as f64).product()
    }

    /// Returns the number of accesses of the most accessed variables, this many of them.
    pub fn most_accesses(&self, variables: u32) -> u64 {
        let mut accesses: Vec<u64> = self.shared.iter().map(|&(_, most)| most).collect();
        accesses.sort_unstable_by(|a, b| b.cmp(a));
        accesses.iter().take(variables as usize).sum::<u64>().max(1)
    }

    /// Returns the number of threads that begin while the program runs.
    pub fn begins(&self) -> u64 {
        self.threads().saturating_sub(1)
    }

    /// Draws a set of this many variables uniformly. Returns it with the number of its accesses plus that of threads that
    /// begin.
    pub fn draw(&self, variables: u32, seed: u64) -> (Vec<Tracked>, u64) {
        let mut left = self.shared.clone();
        let mut random = seed;
        let mut drawn = Vec::new();
        let mut length = self.begins();
        while drawn.len() < (variables as usize).min(MOST_TRACKED) && !left.is_empty() {
            // The walk uses the same seed, and its random numbers must be independent of these.
            random = random.rotate_left(32).wrapping_mul(0xD6E8_FEB8_6659_FD93) ^ 0x5851_F42D_4C95_7F2D;
            let number = racehunter_explore::path_priority(random, 1) % left.len() as u64;
            let (variable, accesses) = left.swap_remove(number as usize);
            drawn.push(variable);
            length += accesses;
        }
        (drawn, length)
    }

    /// Returns the sites at which these variables were accessed, and those that may access them.
    pub fn sites(&self, variables: &[Tracked], aliases: Option<&Aliases>) -> Vec<u32> {
        let known = variables.iter().filter_map(|variable| Some((*variable, self.accesses.get(variable)?)));
        let sites = known.flat_map(|(variable, Accesses { sites, .. })| match aliases {
            Some(aliases) => aliases.of(variable, sites),
            None => sites.clone(),
        });
        sites.collect::<BTreeSet<u32>>().into_iter().collect()
    }

    /// Draws one variable. Returns for each thread how often the thread and its descendants access it.
    pub fn draw_weighed(&self, seed: u64) -> (Vec<Tracked>, Vec<(ThreadPath, u64)>) {
        let (track, _) = self.draw(1, seed);
        let mut weights: BTreeMap<ThreadPath, u64> = BTreeMap::new();
        for (&path, &most) in
            track.iter().filter_map(|variable| self.accesses.get(variable)).flat_map(|a| &a.of_threads)
        {
            let mut thread = Some(path);
            while let Some(path) = thread {
                *weights.entry(path).or_default() += most.min(MOST_ACCESSES);
                thread = self.parents.get(&path).copied();
            }
        }
        let mut weights: Vec<(ThreadPath, u64)> = weights.into_iter().collect();
        // There may be more threads than a plan has room for; those with the fewest accesses are dropped.
        weights.sort_by_key(|&(_, accesses)| std::cmp::Reverse(accesses));
        weights.truncate(MOST_WEIGHTS);
        (track, weights)
    }

    /// Takes in the threads and choices of an execution. Returns whether one of the numbers grew.
    pub fn note_choices(&mut self, execution: &Execution) -> bool {
        let mut decisions = decisions(execution);
        let mut choices = 0;
        while let Some(decision) = decisions.next() {
            choices += u64::from(decision.going != Going::Over && decisions.has_others());
        }
        choices += decisions.passed_choices();
        let grew = choices > self.choices;
        self.choices = self.choices.max(choices);
        self.note_threads(execution) || grew
    }

    /// Takes in the threads of an execution. Returns whether their number grew.
    pub fn note_threads(&mut self, execution: &Execution) -> bool {
        let by_luck = |event: Event| matches!(event, Event::Suspended { .. } | Event::Blocked { may_wake: true, .. });
        let may_be = |entry: &Entry<'_>| entry.is_scheduling() && !entry.is_switch();
        self.random_wakeups =
            self.random_wakeups || execution.entries().filter(may_be).any(|entry| by_luck(entry.event()));
        let threads = u64::from(execution.threads);
        let grew = threads > self.threads;
        self.threads = self.threads.max(threads);
        grew
    }

    /// Takes in an execution that observed only these variables. Returns whether one of the numbers grew. Its log leaves
    /// out most accesses, so it cannot name unknown variables.
    pub fn note_selected(&mut self, execution: &Execution, selected: &[Tracked]) -> bool {
        let counted = execution.entries().find_map(|entry| match entry.event() {
            Event::Counted { accesses } => Some(accesses),
            _ => None,
        });
        let begun = u64::from(execution.threads).saturating_sub(1);
        let accesses = counted.map_or(0, |counted| counted.saturating_sub(begun));
        let known = |variable| self.accesses.get(variable).map_or(0, |known: &Accesses| known.most);
        let more = accesses.saturating_sub(selected.iter().map(known).sum());
        // The log does not say which of the variables was accessed there. Attributing the count to the first keeps the
        // total for the set correct.
        if let Some(known) = selected.first().and_then(|variable| self.accesses.get_mut(variable)) {
            known.most += more;
        }
        self.find_shared();
        self.note_threads(execution) || more > 0
    }

    /// Takes in the threads and variables of an execution. Returns whether one of the numbers grew.
    pub fn note_variables(&mut self, execution: &Execution) -> bool {
        let mut variables = Variables::default();
        let mut accessed: FxHashMap<Tracked, Accessed> = FxHashMap::default();
        let mut alone = true;
        for entry in execution.entries() {
            let variable = variables.note(execution, entry);
            let thread = entry.thread();
            // As in the target: before the first thread is created, nothing can come between two accesses.
            if let Some(variable) = variable.filter(|_| !alone) {
                let tracked = match variable {
                    Variable::Heap { code, .. } => Tracked::AllocatedAt(code),
                    _ => Tracked::At(entry.variable().unwrap_or_default()),
                };
                let now = accessed.entry(tracked).or_insert_with(|| Accessed::by(thread));
                now.shared |= now.thread != thread;
                *now.of_threads.entry(variables.path(thread)).or_default() += 1;
                let is_atomic = entry.access().is_some_and(|access| access.mode.is_atomic());
                if let Some(site) = entry.site().filter(|_| !is_atomic) {
                    now.sites.insert(site.logged());
                }
            }
            if let (false, Event::Create { child, .. }) = (entry.is_access(), entry.event()) {
                alone = false;
                self.parents.insert(variables.path(child), variables.path(thread));
            }
        }
        let new_sites = accessed.into_iter().fold(false, |new, (tracked, now)| self.merge(tracked, now) || new);
        let before = std::mem::take(&mut self.shared);
        self.find_shared();
        let grew = before != self.shared;
        self.note_threads(execution) || grew || new_sites
    }

    /// Takes in the accesses of a variable in one execution. Returns whether a site was new.
    fn merge(&mut self, tracked: Tracked, now: Accessed) -> bool {
        let known = self.accesses.entry(tracked).or_default();
        if !known.shared {
            known.thread = now.thread;
        }
        known.shared |= now.shared;
        known.most = known.most.max(now.of_threads.values().sum());
        for (path, accesses) in now.of_threads {
            let most = known.of_threads.entry(path).or_default();
            *most = (*most).max(accesses);
        }
        let before = known.sites.len();
        known.sites.extend(now.sites);
        known.sites.len() > before
    }

    /// Takes in what is known elsewhere. True when one of the numbers grew.
    pub fn learn_from(&mut self, other: &Self) -> bool {
        let before = self.clone();
        self.threads = self.threads.max(other.threads);
        self.choices = self.choices.max(other.choices);
        self.random_wakeups |= other.random_wakeups;
        for (&variable, Accesses { most, thread, shared, of_threads, sites }) in &other.accesses {
            let known = self.accesses.entry(variable).or_default();
            if !known.shared {
                known.thread = *thread;
            }
            known.shared |= shared;
            known.most = known.most.max(*most);
            for (&path, &accesses) in of_threads {
                let most = known.of_threads.entry(path).or_default();
                *most = (*most).max(accesses);
            }
            known.sites.extend(sites);
        }
        self.parents.extend(&other.parents);
        self.find_shared();
        *self != before
    }

    fn find_shared(&mut self) {
        let shared = self.accesses.iter().filter(|(_, known)| known.shared);
        self.shared = shared.map(|(&variable, known)| (variable, known.most)).collect();
    }

    pub fn save(&self, out: &mut Saver<'_>) {
        out.number(self.threads);
        out.number(self.choices);
        out.number(self.random_wakeups);
        out.count(self.accesses.len());
        for (&variable, Accesses { most, thread, shared, of_threads, sites }) in &self.accesses {
            out.tracked(variable);
            out.number(*most);
            out.number(*thread);
            out.number(*shared);
            out.count(of_threads.len());
            for (&path, &most) in of_threads {
                out.number(path);
                out.number(most);
            }
            out.numbers(sites.iter().copied());
        }
        out.count(self.parents.len());
        for (&child, &parent) in &self.parents {
            out.number(child);
            out.number(parent);
        }
    }

    pub fn load(input: &mut Loader<'_>) -> Result<Self, Unusable> {
        let (threads, choices, random_wakeups) = (input.number()?, input.number()?, input.flag()?);
        let mut profile = Self { threads, choices, random_wakeups, ..Self::default() };
        for _ in 0..input.number()? {
            let variable = input.tracked()?;
            let (most, thread, shared) = (input.number()?, input.small()?, input.flag()?);
            let mut of_threads = BTreeMap::new();
            for _ in 0..input.number()? {
                of_threads.insert(input.small()?, input.number()?);
            }
            let sites = input.numbers::<u32>()?.into_iter().collect();
            profile.accesses.insert(variable, Accesses { most, thread, shared, of_threads, sites });
        }
        for _ in 0..input.number()? {
            profile.parents.insert(input.small()?, input.small()?);
        }
        profile.find_shared();
        Ok(profile)
    }
}
