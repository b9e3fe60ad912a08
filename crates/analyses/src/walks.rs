//! Techniques that consist of walks: every execution is a walk with its own seed.
//!
//! - *Random walk*: at every point any thread that can run. The baseline of every comparison.
//! - *PCT* (S. Burckhardt, P. Kothari, M. Musuvathi, S. Nagarakatte, "A Randomized Scheduler with Probabilistic Guarantees of
//!   Finding Bugs", 2010): priorities that change at few points. It guarantees a hit probability: see [`Walks::chance`].
//! - *PCT with variable bounding* (S. Bindal, S. Bansal, A. Lal, "Variable and Thread Bounding for Systematic Testing of
//!   Multithreaded Programs", 2013): priorities change at accesses of few variables, which are drawn for every walk.
//! - *POS* (X. Yuan, J. Yang, R. Gu, "Partial Order Aware Concurrency Sampling", 2018): each operation has a random priority,
//!   drawn again when a conflicting operation is performed.
//! - *SURW* (H. Zhao et al., "Selectively Uniform Concurrency Testing", 2025): all orders of the accesses of one variable,
//!   which is drawn for every walk, have about the same probability.
//!
//! None covers anything for certain, but all reach remote states of large programs early.

use crate::Aliases;
use crate::profile::Profile;
use racehunter_explore::{Analysis, Execution, Loader, Part, Plan, Saver, Share, Style, Tail, Tracked, Unusable};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

/// The kind of walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Random,
    Pct { depth: u32 },
    PctVariables { depth: u32, variables: u32 },
    Pos,
    Uniform,
}

/// The analysis: an endless supply of seeds.
pub struct Walks {
    kind: Kind,
    seed: u64,
    part: Part,
    next: u64,
    /// What is known about executions of the program.
    profile: Profile,
    /// Incremented when the profile changes.
    generation: u64,
    /// Number of walks made with the current profile.
    made: u64,
    /// Most walks observe only the variables that they have drawn.
    selective: bool,
    /// The sites that may access the same memory, if known.
    aliases: Option<Aliases>,
    /// Number of walks that observed everything.
    whole: u64,
    /// A whole log was [long](crate::LONG).
    long: bool,
    /// How many of [`Walks::made`] drew each set of variables, and how many accesses the set has.
    drawn: BTreeMap<Vec<Tracked>, (u64, u64)>,
}

/// One walk.
#[derive(Clone, Debug)]
pub struct Target {
    number: u64,
    /// The generation of the profile when the walk was planned.
    generation: Cell<u64>,
    /// The drawn variables, if the walk observes only these.
    selected: RefCell<Option<Vec<Tracked>>>,
    /// The drawn variables, and the number of their accesses.
    drawn: RefCell<(Vec<Tracked>, u64)>,
}

impl Target {
    fn new(number: u64) -> Self {
        Self { number, generation: Cell::new(0), selected: RefCell::default(), drawn: RefCell::default() }
    }
}

/// One in this many selective walks observes everything: it looks for data races, and for further sites that access the
/// variables.
const WHOLE_EVERY: u64 = 32;

/// Number of waiting walks, enough to fill a batch.
const AHEAD: u64 = 64;

impl Walks {
    fn new(kind: Kind, seed: u64) -> Self {
        let (part, profile) = (Part::WHOLE, Profile::default());
        let drawn = BTreeMap::new();
        let (selective, aliases, long) = (false, None, false);
        Self { kind, seed, part, next: 0, profile, generation: 0, made: 0, selective, aliases, whole: 0, long, drawn }
    }

    /// Makes most walks of [`Walks::pct_variables`] observe only the sites that were seen to access the drawn variables. Such
    /// walks are nearly as fast as the program alone, and look for no data races. Other kinds of walks depend on more than
    /// variables, and are not affected.
    #[must_use]
    pub fn selective(mut self, selective: bool) -> Self {
        self.selective = selective && matches!(self.kind, Kind::PctVariables { .. });
        self
    }

    /// Observes these sites too, besides those that were seen to access the variables.
    #[must_use]
    pub fn with_aliases(self, aliases: Option<Aliases>) -> Self {
        Self { aliases, ..self }
    }

    /// Returns whether the walk with this number observes only its variables.
    fn is_selective(&self, number: u64) -> bool {
        self.selective && !number.is_multiple_of(WHOLE_EVERY) && self.profile.variables() > 0
    }

    /// Random walks that all derive from one seed.
    #[must_use]
    pub fn random(seed: u64) -> Self {
        Self::new(Kind::Random, seed)
    }

    /// Probabilistic concurrency testing for bugs of this depth, the number of ordering constraints that trigger them.
    #[must_use]
    pub fn pct(depth: u32, seed: u64) -> Self {
        Self::new(Kind::Pct { depth: depth.max(1) }, seed)
    }

    /// The same for bugs whose preemptions are at accesses of this many variables.
    #[must_use]
    pub fn pct_variables(depth: u32, variables: u32, seed: u64) -> Self {
        let (depth, most) = (depth.max(1), racehunter_explore::MOST_TRACKED as u32);
        // There are at most as many variables as preemptions.
        Self::new(Kind::PctVariables { depth, variables: variables.clamp(1, most).min(depth - 1) }, seed)
    }

    /// Partial order sampling.
    #[must_use]
    pub fn pos(seed: u64) -> Self {
        Self::new(Kind::Pos, seed)
    }

    /// Selectively uniform random walks.
    #[must_use]
    pub fn uniform(seed: u64) -> Self {
        Self::new(Kind::Uniform, seed)
    }

    fn targets(&mut self, until: u64) -> Vec<Target> {
        let first = std::mem::replace(&mut self.next, until);
        (first..until).rev().map(Target::new).collect()
    }

    /// Returns the minimum probability that one walk shows a given bug, for walks that guarantee one.
    #[must_use]
    pub fn chance_of_one(&self) -> Option<f64> {
        let threads = self.profile.threads() as f64;
        match self.kind {
            Kind::Random | Kind::Pos | Kind::Uniform => None,
            Kind::Pct { depth } => Some(1.0 / (threads * (self.profile.choices() as f64).powi(depth as i32 - 1))),
            // Nothing is known before any variable is.
            Kind::PctVariables { depth: 2.., .. } if self.profile.variables() == 0 => None,
            Kind::PctVariables { depth, variables } => {
                let (sets, accesses) = (self.profile.sets(variables), self.profile.most_accesses(variables));
                let changes = (accesses + self.profile.begins()) as f64;
                Some(1.0 / (sets * threads * changes.powi(depth as i32 - 1)))
            }
        }
    }
}

impl Walks {
    /// Returns the probability that the walks so far have shown a bug, on average over all sets of variables that the bug may
    /// involve. Only for walks that draw variables. A walk shows a bug at its variables with probability 1 / (n k^(d - 1)),
    /// with k for these variables, and never a bug at others. Bugs at variables with few accesses, which plain PCT hardly
    /// reaches, therefore have a far better chance than the guaranteed minimum.
    #[must_use]
    pub fn chance_on_average(&self) -> Option<f64> {
        let Kind::PctVariables { depth: depth @ 2.., variables } = self.kind else { return None };
        let (threads, sets) = (self.profile.threads() as f64, self.profile.sets(variables));
        let chance = |&(walks, accesses): &(u64, u64)| {
            let each = 1.0 / (threads * (accesses.max(1) as f64).powi(depth as i32 - 1));
            1.0 - (1.0 - each).powf(walks as f64)
        };
        (self.profile.variables() > 0).then(|| self.drawn.values().map(chance).sum::<f64>() / sets)
    }
}

impl Analysis for Walks {
    type Target = Target;

    fn initial_targets(&mut self) -> Vec<Target> {
        self.next = 0;
        // The first walk of PCT shows how long executions are; without that the others would change priorities too late.
        self.targets(if matches!(self.kind, Kind::Random | Kind::Pos) { AHEAD } else { 1 })
    }

    fn plan(&self, target: &Target) -> Plan {
        target.generation.set(self.generation);
        // The factor is odd, so that no two walks have the same seed.
        let number =
            target.number.wrapping_mul(u64::from(self.part.of())).wrapping_add(u64::from(self.part.number() - 1));
        let seed = self.seed.wrapping_add(number.wrapping_mul(0xD134_2543_DE82_EF95));
        // Chances depend on how many choices there are, which a brief log tells too, or on the accesses of each variable.
        let brief = matches!(self.kind, Kind::Random | Kind::Pct { .. } | Kind::Pos);
        let walk = |style| Plan { tail: Tail::Walk { style, seed }, brief, ..Plan::default() };
        match self.kind {
            Kind::Random => walk(Style::Even),
            Kind::Pct { depth } => walk(Style::Pct { depth, length: self.profile.choices() }),
            Kind::PctVariables { depth, variables } => {
                let (track, length) = self.profile.draw(variables, seed);
                let mut drawn = track.clone();
                drawn.sort_unstable();
                *target.drawn.borrow_mut() = (drawn, length);
                let select = self.is_selective(target.number);
                let select = select.then(|| self.profile.sites(&track, self.aliases.as_ref()));
                *target.selected.borrow_mut() = select.is_some().then(|| track.clone());
                Plan { track, select, allocations: true, ..walk(Style::PctVariables { depth, length }) }
            }
            Kind::Pos => walk(Style::Pos),
            Kind::Uniform => {
                let (track, weights) = self.profile.draw_weighed(seed);
                // Executions of one program resemble each other, so accesses of long ones are counted less and less often.
                let brief = self.long && !target.number.is_power_of_two();
                Plan { track, weights, brief, allocations: true, ..walk(Style::Uniform) }
            }
        }
    }

    fn new_targets(&mut self, target: &Target, execution: &Execution) -> Vec<Target> {
        let selected = target.selected.borrow();
        self.long |= execution.records.len() > crate::LONG;
        let grew = match self.kind {
            Kind::Random | Kind::Pos => false,
            Kind::Pct { .. } => self.profile.note_choices(execution),
            Kind::Uniform if execution.is_outline() => self.profile.note_threads(execution),
            Kind::PctVariables { .. } | Kind::Uniform => match &*selected {
                Some(selected) => self.profile.note_selected(execution, selected),
                None => self.profile.note_variables(execution),
            },
        };
        if grew {
            // Earlier walks may have had a smaller hit probability.
            self.generation += 1;
            self.made = 0;
            self.drawn.clear();
        }
        if target.generation.get() == self.generation {
            self.made += 1;
            let (drawn, accesses) = &*target.drawn.borrow();
            if !drawn.is_empty() {
                self.drawn.entry(drawn.clone()).or_insert((0, *accesses)).0 += 1;
            }
        }
        self.whole += u64::from(selected.is_none());
        self.targets((self.next + 1).max(AHEAD))
    }

    fn reads_other_log(&self, _: u64) -> bool {
        false
    }

    /// For PCT: the probability that the walks so far have shown any given bug of the depth. It is 1 / (n k^(d - 1)) for each
    /// walk, with n threads and k choices. With variable bounding, k is the number of accesses of the variables and of threads
    /// that begin, and the walk must also have drawn the right variables.
    fn chance(&self) -> Option<String> {
        // A thread that waits for time sometimes continues early, which the formula does not include.
        let each = self.chance_of_one().filter(|_| !self.profile.has_random_wakeups())?;
        let all = 1.0 - (1.0 - each).powf(self.made as f64);
        let count = |number: u64, noun: &str| format!("{number} {noun}{}", if number == 1 { "" } else { "s" });
        let (walks, threads) = (count(self.made, "walk"), count(self.profile.threads(), "thread"));
        Some(match self.kind {
            Kind::PctVariables { depth, variables } => {
                let (known, accesses) = (self.profile.variables(), self.profile.most_accesses(variables));
                let at = count(u64::from(variables), "variable");
                let accesses = if accesses == 1 { "1 access".to_owned() } else { format!("{accesses} accesses") };
                let known = count(known, "variable");
                // Accesses at other sites were not observed, nor were other variables.
                let places = match self.selective {
                    true => format!(
                        ", at places that {}{} found, which alone looked for races",
                        if self.aliases.is_some() { "a static analysis or " } else { "" },
                        count(self.whole, "whole walk")
                    ),
                    false => String::new(),
                };
                let mean = self.chance_on_average().unwrap_or(all).max(all);
                format!(
                    "a bug of depth {depth} at <= {at} had a chance of at least {all:.2} ({walks}, {threads}, {known}, \
                     <= {accesses} of {variables}{places}), {mean:.2} on average over the variables",
                )
            }
            _ => {
                let depth = if let Kind::Pct { depth } = self.kind { depth } else { 1 };
                let choices = count(self.profile.choices(), "choice");
                format!("a bug of depth {depth} had a chance of at least {all:.2} ({walks}, {threads}, {choices})")
            }
        })
    }

    /// Each part makes the walks with its own numbers.
    fn split(&mut self, part: Part) -> bool {
        self.part = part;
        true
    }

    fn lends(&self) -> bool {
        true
    }

    /// Walks whose numbers are those of no other part, with all that is known about executions.
    fn lend(&mut self, _: &mut Vec<Target>, share: Share) -> Option<(Self, Vec<Target>)> {
        let mut part = Self::new(self.kind, self.seed);
        (part.selective, part.aliases, part.long) = (self.selective, self.aliases.clone(), self.long);
        (part.profile, part.generation) = (self.profile.clone(), self.generation);
        part.next = share.first_number();
        let targets = part.targets(part.next + AHEAD);
        Some((part, targets))
    }

    fn take_back(&mut self, part: Self, _: Vec<Target>) -> Vec<Target> {
        self.whole += part.whole;
        if self.profile.learn_from(&part.profile) {
            // Walks that knew less may have had less of a chance, those of other parts too.
            self.generation += 1;
            self.made = 0;
            self.drawn.clear();
        }
        if self.profile == part.profile {
            self.made += part.made;
            for (variables, (walks, accesses)) in part.drawn {
                self.drawn.entry(variables).or_insert((0, accesses)).0 += walks;
            }
        }
        Vec::new()
    }

    const SAVES: bool = true;

    fn save(&self, targets: &mut dyn Iterator<Item = &Target>, out: &mut Saver<'_>) {
        [self.next, self.made, self.generation, self.whole].into_iter().for_each(|number| out.number(number));
        out.number(self.long);
        self.profile.save(out);
        out.count(self.drawn.len());
        for (variables, &(walks, accesses)) in &self.drawn {
            out.count(variables.len());
            variables.iter().for_each(|&variable| out.tracked(variable));
            out.number(walks);
            out.number(accesses);
        }
        // The rest of a target is computed when it is planned.
        let numbers: Vec<u64> = targets.map(|target| target.number).collect();
        out.numbers(numbers.into_iter());
    }

    fn load(&mut self, input: &mut Loader<'_>) -> Result<Vec<Target>, Unusable> {
        for number in [&mut self.next, &mut self.made, &mut self.generation, &mut self.whole] {
            *number = input.number()?;
        }
        self.long = input.flag()?;
        self.profile = Profile::load(input)?;
        self.drawn = BTreeMap::new();
        for _ in 0..input.number()? {
            let variables = (0..input.number()?).map(|_| input.tracked()).collect::<Result<_, _>>()?;
            self.drawn.insert(variables, (input.number()?, input.number()?));
        }
        let numbers: Vec<u64> = input.numbers()?;
        Ok(numbers.into_iter().map(Target::new).collect())
    }
}
