//! Randomised schedulers: which thread continues at a point where the plan leaves it open.
//!
//! Such a scheduler decides at every point, so it runs inside the target; the controller only selects one and passes the seed.
//! The in-memory model of the explore crate uses the same code, which is how it is tested. The crate knows nothing about
//! processes, logs or plans, and is `no_std` because the runtime is.
//!
//! Start at [`Walk::choose`].
#![no_std]
#![forbid(unsafe_code)]

mod certain;
mod constraint;
mod sample;

pub use constraint::{Done, GatedPlace, MOST_CONSTRAINTS, MOST_RIVALS, ReadConstraint};
pub use sample::Sampler;

use constraint::ReadConstraints;

/// The kind of walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Style {
    /// Any thread, each with the same probability.
    Even,
    /// Probabilistic concurrency testing (Burckhardt et al., 2010): the thread with the highest priority runs. Each thread draws
    /// a priority once, and at `depth - 1` of the first `length` choices the running thread gets a lower one. Any bug of that
    /// depth shows with a probability of at least 1 / (n * length^(depth - 1)) for n threads.
    Pct {
        /// Number of ordering constraints that a bug needs.
        depth: u32,
        /// Number of choices in an execution.
        length: u64,
    },
    /// The same with variable bounding (Bindal, Bansal, Lal, 2013): priorities change right after accesses of chosen variables,
    /// or before a thread begins, at `depth - 1` of the first `length` that [`Walk::accessed`] reports.
    PctVariables {
        /// Number of ordering constraints that a bug needs.
        depth: u32,
        /// Number of accesses of the variables in an execution, plus threads that begin.
        length: u64,
    },
    /// Thread bounding (same authors): the thread that comes first in an order, a function of the seed, runs: [`path_priority`].
    /// Nothing is random. A thread that was preempted gets another place in the order, [`part_priority`]. A thread that yields
    /// keeps its place, unless it yields repeatedly.
    Order {
        /// The threads whose priorities have changed, in order; the first `count` entries are valid.
        changed: [u32; MOST_CHANGED],
        /// See `changed`.
        count: u32,
    },
    /// Partial order sampling (Yuan et al., 2018): the next operation with the highest priority runs. A thread draws a new
    /// priority after each of its operations, and whenever another thread's operation conflicts with its next one.
    Pos,
    /// Selectively uniform random walk (Zhao et al., 2025): every order of the accesses of chosen variables is about equally
    /// likely. The thread that makes the next of these accesses is drawn by how many each thread has left ([`Walk::weigh`]);
    /// between them any thread may run.
    Uniform,
    /// Reads-from guidance (after Wolff et al., 2024): as [`Style::Pos`], but threads are held back so that reads see the
    /// intended writes: [`Walk::constrain`].
    Guided,
}

/// The next operation of a thread that can run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Next {
    /// The thread.
    pub thread: u32,
    /// Its identity, which does not depend on the schedule.
    pub path: u64,
    /// The address that it accesses, 0 if unknown.
    pub object: u64,
    /// Whether it changes the memory or object.
    pub changes: bool,
    /// Whether it accesses one of the chosen variables.
    pub chosen: bool,
    /// Its place in the code, for [`Style::Guided`]; 0 if unknown.
    pub code: u64,
}

impl Next {
    /// Creates the entry of a thread about which nothing else is known, or needed.
    #[must_use]
    pub const fn unknown(thread: u32, path: u64) -> Self {
        Self { thread, path, object: 0, changes: false, chosen: false, code: 0 }
    }
}

/// Maximum number of priority changes of a [`Style::Order`].
pub const MOST_CHANGED: usize = 6;
/// Number of yields after which a thread comes last in a [`Style::Order`].
pub const PATIENCE_WITH_YIELDS: u32 = 100;

/// Returns the priority of a thread in the order of this seed. Either order of any two threads is equally likely.
#[must_use]
pub const fn path_priority(seed: u64, path: u64) -> u64 {
    DRAWN | mix(mix(seed) ^ path) >> 2
}

/// Returns the priority, in the order of this seed, of the part of a thread that begins with the `number`-th preemption, from 0.
#[must_use]
pub const fn part_priority(seed: u64, number: u32) -> u64 {
    // Paths are odd, so these numbers are not paths.
    path_priority(seed, (number as u64 + 1) << 1)
}

const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

const fn mix(state: u64) -> u64 {
    let z = state.wrapping_add(GOLDEN);
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// Maximum number of threads whose accesses a [`Style::Uniform`] knows.
pub const MOST_WEIGHTS: usize = 64;

/// Number of choices of a [`Style::Uniform`] after which a thread that is chosen continues for a while.
const SHORT: u64 = 50_000;
/// For fewer choices than a power of two below two to this power; each of these powers has the same probability. So the walk has
/// preemptions that follow each other closely, and threads that get far in between.
const LENGTHS: u64 = 10;

/// Maximum number of priority changes in one walk.
pub const MOST_CHANGES: usize = 15;

/// One walk, for at most `THREADS` threads.
pub struct Walk<const THREADS: usize> {
    random: u64,
    /// The random state of [`Walk::rarely`], if separate from `random`.
    luck: u64,
    style: Style,
    seed: u64,
    /// Number of choices so far, or of accesses of the chosen variables.
    choices: u64,
    /// The choices at which priorities change.
    changes: [u64; MOST_CHANGES],
    /// The next of them, 0 for none.
    next_change: u64,
    /// How often a thread had to give way.
    given_way: u64,
    /// Number of thread entries in use.
    used: usize,
    /// 0 until drawn.
    priorities: [u64; THREADS],
    yields: [u32; THREADS],
    /// Accesses of the chosen variables by each thread and its descendants, by its path.
    weights: [(u64, u64); MOST_WEIGHTS],
    weighed: usize,
    /// How many of them are left, plus 1; 0 until the thread is seen.
    left: [u64; THREADS],
    /// The thread that makes the next one.
    intended: Option<u32>,
    constraints: ReadConstraints,
    /// They held some thread back when [`Walk::certain_choices`] was called.
    some_wait: bool,
    /// For [`Style::Uniform`]: number of choices at which the running thread simply continues.
    stays_for: u64,
}

/// Drawn priorities are above this; those given at a change are below, but above [`LAST`].
const DRAWN: u64 = 1 << 62;
/// Threads that gave way come after all others, the latest last.
const LAST: u64 = 1 << 31;

impl<const THREADS: usize> Walk<THREADS> {
    /// Creates a walk that has not begun.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            random: 0,
            luck: 0,
            seed: 0,
            style: Style::Even,
            choices: 0,
            changes: [0; MOST_CHANGES],
            next_change: 0,
            given_way: 0,
            used: 0,
            priorities: [0; THREADS],
            yields: [0; THREADS],
            weights: [(0, 0); MOST_WEIGHTS],
            weighed: 0,
            left: [0; THREADS],
            intended: None,
            constraints: ReadConstraints::NONE,
            some_wait: false,
            stays_for: 0,
        }
    }

    /// Starts over. Equal seeds give equal walks.
    pub fn begin(&mut self, style: Style, seed: u64) {
        self.random = seed;
        self.luck = mix(!seed);
        self.seed = seed;
        self.style = style;
        self.choices = 0;
        self.given_way = 0;
        self.priorities[..self.used].fill(0);
        self.yields[..self.used].fill(0);
        self.left[..self.used].fill(0);
        self.weighed = 0;
        self.intended = None;
        self.constraints = ReadConstraints::NONE;
        self.stays_for = 0;
        self.used = 0;
        self.changes = [0; MOST_CHANGES];
        if let Style::Pct { depth, length } | Style::PctVariables { depth, length } = style {
            let count = (depth.saturating_sub(1) as usize).min(MOST_CHANGES);
            for i in 0..count {
                self.changes[i] = 1 + self.below(length.max(1));
            }
        }
        self.find_next_change();
        if let Style::Order { changed, count } = style {
            for (number, &thread) in changed.iter().take(count as usize).enumerate() {
                self.set(thread, part_priority(seed, number as u32));
            }
        }
    }

    /// For [`Style::Uniform`], after [`Walk::begin`]: sets how many accesses of the chosen variables this thread and its
    /// descendants make.
    pub fn weigh(&mut self, path: u64, accesses: u64) {
        if let Some(entry) = self.weights.get_mut(self.weighed) {
            *entry = (path, accesses);
            self.weighed += 1;
        }
    }

    /// For [`Style::Guided`], after [`Walk::begin`]: adds a read, and the write that it should see.
    pub fn constrain(&mut self, constraint: ReadConstraint) {
        self.constraints.add(constraint);
    }

    /// Returns a number below `limit`, which is not 0. splitmix64: small, uniform, and the same everywhere.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.draw() % limit
    }

    fn draw(&mut self) -> u64 {
        let drawn = mix(self.random);
        self.random = self.random.wrapping_add(GOLDEN);
        drawn
    }

    /// Returns whether a rare event happens now, such as an early time-out: once in `of` times, and never with [`Style::Order`].
    pub fn rarely(&mut self, of: u64) -> bool {
        match self.style {
            Style::Order { .. } => false,
            // The number of calls depends on how many accesses are points, and priorities must not depend on that.
            Style::PctVariables { .. } => {
                self.luck = self.luck.wrapping_add(GOLDEN);
                mix(self.luck).is_multiple_of(of)
            }
            _ => self.below(of) == 0,
        }
    }

    /// Returns the thread that continues among those that can run; `None` if none can. `running` is the thread that ran so far.
    pub fn choose(&mut self, running: u32, candidates: impl Iterator<Item = Next> + Clone) -> Option<u32> {
        match self.style {
            Style::Even => {
                let count = candidates.clone().count() as u64;
                if count == 0 {
                    return None;
                }
                let nth = self.below(count) as usize;
                let mut candidates = candidates;
                candidates.nth(nth).map(|next| next.thread)
            }
            Style::Pct { .. } => {
                self.count(running);
                self.highest(candidates).map(|next| next.thread)
            }
            Style::PctVariables { .. } | Style::Order { .. } => self.highest(candidates).map(|next| next.thread),
            Style::Pos => self.sample(candidates.clone(), candidates),
            Style::Guided => {
                let constraints = self.constraints;
                let free = candidates.clone().filter(|next| !constraints.hold_back(next));
                if free.clone().count() < candidates.clone().count() {
                    self.constraints.waited();
                }
                if free.clone().next().is_some() {
                    return self.sample(free, candidates);
                }
                let chosen = self.highest(candidates.clone())?;
                self.constraints.give_up(&chosen);
                self.sample(core::iter::once(chosen), candidates)
            }
            Style::Uniform => self.choose_evenly(running, candidates),
        }
    }

    /// Returns whether the choice does not depend on the next operations of threads.
    pub fn goes_by_priority(&self) -> bool {
        matches!(self.style, Style::Pct { .. } | Style::PctVariables { .. } | Style::Order { .. })
    }

    /// Returns whether, in addition, choices change no priorities: until another thread becomes runnable, or [`Walk::accessed`]
    /// or a similar call reports a change, the same thread would be chosen again.
    pub fn follows_priorities(&self) -> bool {
        matches!(self.style, Style::PctVariables { .. } | Style::Order { .. })
    }

    /// Partial order sampling among some of the candidates.
    fn sample(&mut self, some: impl Iterator<Item = Next>, candidates: impl Iterator<Item = Next>) -> Option<u32> {
        let chosen = self.highest(some)?;
        self.set(chosen.thread, 0);
        let conflicts =
            |next: &Next| next.object == chosen.object && next.object != 0 && (next.changes || chosen.changes);
        for next in candidates.filter(conflicts) {
            self.set(next.thread, 0);
        }
        Some(chosen.thread)
    }

    /// Returns whether constraints hold back every thread that can run.
    pub fn holds_all_back(&self, mut candidates: impl Iterator<Item = Next>) -> bool {
        self.style == Style::Guided && candidates.all(|next| self.constraints.hold_back(&next))
    }

    /// For [`Style::Guided`]: notes an event that has happened.
    pub fn performed(&mut self, done: Done) {
        self.constraints.performed(done);
    }

    fn choose_evenly(&mut self, running: u32, candidates: impl Iterator<Item = Next> + Clone) -> Option<u32> {
        self.choices += 1;
        let is_over = self.is_long() && self.all_left(candidates.clone()) == 0;
        if is_over {
            self.intended = None;
        }
        if self.stays_for > 0 && candidates.clone().any(|next| next.thread == running && (!next.chosen || is_over)) {
            self.stays_for -= 1;
            return Some(running);
        }
        let intended_is_here = |intended| candidates.clone().any(|next| next.thread == intended);
        let free = |next: &Next| !next.chosen || is_over;
        // A drawn thread that cannot run stays drawn as long as others have something else to do.
        if !is_over
            && self
                .intended
                .is_none_or(|intended| !intended_is_here(intended) && !candidates.clone().any(|next| free(&next)))
        {
            self.intended = self.draw_by_weight(candidates.clone());
        }
        let intended = self.intended;
        let allowed = candidates.filter(|next| free(next) || Some(next.thread) == intended);
        let count = allowed.clone().count() as u64;
        if count == 0 {
            return None;
        }
        let nth = self.below(count) as usize;
        if self.is_long() {
            let length = self.below(LENGTHS);
            self.stays_for = self.below(1 << length);
        }
        let mut allowed = allowed;
        allowed.nth(nth).map(|next| next.thread)
    }

    /// For [`Style::Uniform`]: returns whether there were enough choices for a thread that is chosen to continue for a while.
    const fn is_long(&self) -> bool {
        self.choices > SHORT
    }

    /// Returns the number of accesses that these threads have left.
    fn all_left(&mut self, candidates: impl Iterator<Item = Next>) -> u64 {
        candidates.fold(0, |sum, next| sum + self.left_of(next.thread, next.path))
    }

    /// Draws a thread by the number of accesses that it has left; any thread, if none has any.
    fn draw_by_weight(&mut self, candidates: impl Iterator<Item = Next> + Clone) -> Option<u32> {
        let mut sum = 0;
        let mut count = 0;
        for next in candidates.clone() {
            sum += self.left_of(next.thread, next.path);
            count += 1;
        }
        if count == 0 {
            return None;
        }
        let mut drawn = self.below(if sum == 0 { count } else { sum });
        for next in candidates {
            let weight = if sum == 0 { 1 } else { self.left_of(next.thread, next.path) };
            if drawn < weight {
                return Some(next.thread);
            }
            drawn -= weight;
        }
        None
    }

    fn left_of(&mut self, thread: u32, path: u64) -> u64 {
        let known = self.left.get(thread as usize).copied().unwrap_or(1);
        if known != 0 {
            return known - 1;
        }
        let weighed = self.weights[..self.weighed].iter().find(|(weighed, _)| *weighed == path);
        let accesses = weighed.map_or(0, |&(_, accesses)| accesses);
        self.set_left(thread, accesses);
        accesses
    }

    fn set_left(&mut self, thread: u32, accesses: u64) {
        if let Some(entry) = self.left.get_mut(thread as usize) {
            *entry = accesses.saturating_add(1);
            self.used = self.used.max(thread as usize + 1);
        }
    }

    /// Notes that a thread has created another, and moves the child's accesses from the parent to the child.
    pub fn created(&mut self, parent: u32, parent_path: u64, child: u32, child_path: u64) {
        if self.style == Style::Uniform {
            let (own, given) = (self.left_of(parent, parent_path), self.left_of(child, child_path));
            self.set_left(parent, own.saturating_sub(given));
            // The access that the parent was drawn for may belong to the child.
            if self.intended == Some(parent) && own > 0 && self.below(own) < given {
                self.intended = Some(child);
            }
        }
    }

    /// Notes an access of one of the chosen variables. Returns whether it changed the priority of the thread.
    pub fn accessed(&mut self, thread: u32) -> bool {
        match self.style {
            Style::PctVariables { .. } => self.count(thread),
            Style::Uniform => {
                let left = self.left.get(thread as usize).copied().unwrap_or(1).saturating_sub(1);
                self.set_left(thread, left.saturating_sub(1));
                self.intended = None;
                false
            }
            _ => false,
        }
    }

    /// For [`Style::PctVariables`]: returns the number of accesses of the chosen variables up to and including the next one that
    /// changes a priority. 0: each must be reported.
    #[must_use]
    pub fn until_change(&self) -> u64 {
        match self.style {
            Style::PctVariables { .. } if self.next_change == 0 => u64::MAX,
            Style::PctVariables { .. } => self.next_change - self.choices,
            _ => 0,
        }
    }

    /// Counts accesses of the chosen variables that changed nothing, fewer than [`Walk::until_change`]. Returns the total number,
    /// including threads that have begun.
    pub fn skip(&mut self, accesses: u64) -> u64 {
        self.choices += accesses;
        self.choices
    }

    /// Notes that the thread is about to begin; for PCT that counts as an access.
    pub fn begins(&mut self, thread: u32) {
        if matches!(self.style, Style::PctVariables { .. }) {
            self.count(thread);
        }
    }

    /// Counts an access, and lowers the priority of the thread if a change is due. Returns whether it was.
    fn count(&mut self, thread: u32) -> bool {
        self.choices += 1;
        if self.choices != self.next_change {
            return false;
        }
        for i in 0..MOST_CHANGES {
            if self.changes[i] == self.choices {
                self.set(thread, 2 * LAST + i as u64);
            }
        }
        self.find_next_change();
        true
    }

    fn find_next_change(&mut self) {
        let later = self.changes.iter().filter(|&&change| change > self.choices);
        self.next_change = later.min().copied().unwrap_or(0);
    }

    /// Notes that the thread yields.
    pub fn yields(&mut self, thread: u32) {
        if matches!(self.style, Style::Order { .. }) {
            let Some(yields) = self.yields.get_mut(thread as usize) else { return };
            *yields += 1;
            self.used = self.used.max(thread as usize + 1);
            if *yields <= PATIENCE_WITH_YIELDS {
                return;
            }
        }
        self.gives_way(thread);
    }

    /// Notes that the thread goes to sleep.
    pub fn sleeps(&mut self, thread: u32) {
        if !matches!(self.style, Style::Order { .. }) {
            self.gives_way(thread);
        }
    }

    /// Notes that the thread's turn was too long: others come first from now on.
    pub fn gives_way(&mut self, thread: u32) {
        if self.style == Style::Uniform {
            self.set_left(thread, 0);
            self.stays_for = 0;
            // The drawn thread may wait for one that is kept waiting here.
            self.intended = None;
        }
        self.constraints.gives_way();
        self.given_way += 1;
        self.set(thread, LAST.saturating_sub(self.given_way).max(1));
    }

    fn highest(&mut self, candidates: impl Iterator<Item = Next>) -> Option<Next> {
        let mut best: Option<(u64, Next)> = None;
        for next in candidates {
            let priority = self.priority(next);
            if best.is_none_or(|(highest, _)| priority > highest) {
                best = Some((priority, next));
            }
        }
        best.map(|(_, next)| next)
    }

    fn priority(&mut self, next: Next) -> u64 {
        let known = self.priorities.get(next.thread as usize).copied().unwrap_or(1);
        if known != 0 {
            return known;
        }
        let drawn = match self.style {
            Style::Order { .. } => path_priority(self.seed, next.path),
            _ => DRAWN | self.draw() >> 2,
        };
        self.set(next.thread, drawn);
        drawn
    }

    fn set(&mut self, thread: u32, priority: u64) {
        if let Some(entry) = self.priorities.get_mut(thread as usize) {
            *entry = priority;
            self.used = self.used.max(thread as usize + 1);
        }
    }
}

impl<const THREADS: usize> Default for Walk<THREADS> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests;
