//! Choices that are known in advance: the running thread is chosen again, and again. A walk need not be asked about these.

use crate::{DRAWN, GOLDEN, Next, Style, Walk, mix};

/// Maximum number of choices for which a walk looks ahead at the numbers that it will draw.
const AHEAD: u64 = 128;

impl<const THREADS: usize> Walk<THREADS> {
    /// Returns the number of choices that follow at which the thread is certainly chosen again. `candidates` are the threads that can
    /// run, as at the last choice; `luck` says that [`Walk::rarely`] draws a number before each choice.
    ///
    /// That holds as long as the same threads can run, the thread performs no operation that the walk [minds](Walk::minds) or, with
    /// [`Walk::minds_objects`], that touches the object of another candidate's next operation; and if there are chosen variables that
    /// still [count](Walk::counts_accesses), none that accesses one of these.
    #[must_use]
    pub fn certain_choices(
        &mut self,
        running: u32,
        candidates: impl Iterator<Item = Next> + Clone,
        luck: bool,
    ) -> Option<u64> {
        match self.style {
            Style::Pct { .. } if self.next_change == 0 => Some(u64::MAX),
            Style::Pct { .. } => Some(self.next_change - self.choices - 1),
            Style::Pos => self.draws_above_others(running, candidates, luck),
            Style::Guided => {
                let own = candidates.clone().find(|next| next.thread == running)?;
                if self.constraints.holds_back_anywhere(own.path) {
                    return None;
                }
                let constraints = self.constraints;
                let free = candidates.clone().filter(|next| next.thread == running || !constraints.hold_back(next));
                self.some_wait = free.clone().count() < candidates.count();
                let most = if self.some_wait { self.constraints.patience_left() } else { u64::MAX };
                Some(self.draws_above_others(running, free, luck)?.min(most))
            }
            Style::Uniform => Some(self.stays_for),
            Style::Even | Style::PctVariables { .. } | Style::Order { .. } => None,
        }
    }

    /// Returns how many of the next priorities that the thread draws are higher than those of the other candidates.
    fn draws_above_others(&self, running: u32, candidates: impl Iterator<Item = Next>, luck: bool) -> Option<u64> {
        let priority = |thread: u32| self.priorities.get(thread as usize).copied().unwrap_or(1);
        let mut highest = 0;
        for next in candidates.filter(|next| next.thread != running) {
            match priority(next.thread) {
                // It draws one too.
                0 => return None,
                known => highest = highest.max(known),
            }
        }
        if priority(running) != 0 {
            return None;
        }
        let step = GOLDEN.wrapping_mul(numbers_per_choice(luck));
        let mut state = self.random.wrapping_add(if luck { GOLDEN } else { 0 });
        for choice in 0..AHEAD {
            // With equal priorities, the order of the threads decides.
            if DRAWN | mix(state) >> 2 <= highest {
                return Some(choice);
            }
            state = state.wrapping_add(step);
        }
        Some(AHEAD)
    }

    /// Makes up for this many certain choices that it was not asked about.
    pub fn make_up_for(&mut self, choices: u64, luck: bool) {
        let drawn = match self.style {
            Style::Pct { .. } => {
                self.choices += choices;
                luck.into()
            }
            Style::Pos => numbers_per_choice(luck),
            Style::Guided => {
                if self.some_wait {
                    self.constraints.lose_patience(u32::try_from(choices).unwrap_or(u32::MAX));
                }
                numbers_per_choice(luck)
            }
            Style::Uniform => {
                self.choices += choices;
                self.stays_for = self.stays_for.saturating_sub(choices);
                luck.into()
            }
            _ => luck.into(),
        };
        self.random = self.random.wrapping_add(GOLDEN.wrapping_mul(choices.wrapping_mul(drawn)));
    }

    /// Returns whether choices depend on whether threads touch the same object.
    pub fn minds_objects(&self) -> bool {
        matches!(self.style, Style::Pos | Style::Guided)
    }

    /// Returns whether an operation may concern a read constraint.
    pub fn minds(&self, code: u64, object: u64) -> bool {
        self.style == Style::Guided && self.constraints.mind(code, object)
    }

    /// Returns whether any operation may concern a read constraint.
    pub fn has_open_constraints(&self) -> bool {
        self.style == Style::Guided && self.constraints.are_open()
    }

    /// Returns whether the walk counts accesses of chosen variables at each choice.
    pub fn is_counting(&self) -> bool {
        self.style == Style::Uniform
    }

    /// Returns whether choices among these threads depend on accesses of the chosen variables.
    pub fn counts_accesses(&mut self, candidates: impl Iterator<Item = Next>) -> bool {
        self.style == Style::Uniform && !(self.is_long() && self.all_left(candidates) == 0)
    }
}

/// A priority; and a number that decides whether something rare happens.
const fn numbers_per_choice(luck: bool) -> u64 {
    if luck { 2 } else { 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{GatedPlace, MOST_RIVALS, ReadConstraint, SHORT};
    extern crate std;
    use std::vec::Vec;

    const THREADS: usize = 4;
    const CHOICES: usize = 400;
    /// The object that a walk counts accesses of, and the places of the constrained read and the write that it should see.
    const CHOSEN: u64 = 3;
    const READ: u64 = 5;
    const WRITE: u64 = 6;

    fn begin(style: Style, seed: u64) -> Walk<THREADS> {
        let mut walk = Walk::new();
        walk.begin(style, seed);
        if style == Style::Uniform {
            // What only happens after many choices.
            walk.choices = SHORT - 20;
            (0..THREADS as u64).for_each(|thread| walk.weigh(2 * thread + 1, seed % 7 * thread));
        }
        if style == Style::Guided && !seed.is_multiple_of(3) {
            let place = |code| GatedPlace { code, gate: code };
            let object = if seed.is_multiple_of(2) { 1 } else { 0 };
            let rivals = [GatedPlace::default(); MOST_RIVALS];
            let (read, skip) = (place(READ), (seed % 5) as u32);
            walk.constrain(ReadConstraint { reader: 1, read, object, skip, write: WRITE, rivals });
            if seed.is_multiple_of(5) {
                // All but little of the patience with them.
                walk.constraints.lose_patience(19_970);
            }
            if seed.is_multiple_of(4) {
                walk.constrain(ReadConstraint { reader: 3, read, object: 2, skip: 0, write: 0, rivals });
            }
        }
        walk
    }

    /// Makes the choices of a program whose threads perform random operations. Every choice is asked for, or only those that are not
    /// certain. Returns the chosen threads, the numbers drawn next, and the number of choices asked for.
    fn run(style: Style, seed: u64, leaves_out: bool) -> (Vec<u32>, u64, usize) {
        let (mut walk, mut program) = (begin(style, seed), seed ^ 99);
        let mut below = |limit: u64| {
            program = program.wrapping_add(GOLDEN);
            mix(program) % limit
        };
        let mut operation = |thread: u32| {
            let object = if below(4) == 0 { 1 + below(3) } else { 10 + below(90) };
            let (path, changes) = (2 * u64::from(thread) + 1, below(2) == 0);
            Next { thread, path, object, changes, chosen: object == CHOSEN, code: 1 + below(12) }
        };
        let mut next: Vec<Next> = (0..THREADS as u32).map(&mut operation).collect();
        let (mut running, mut certain, mut asked, mut chosen) = (0, None, 0, Vec::new());
        for choice in 0..CHOICES {
            // One thread more can run now and then, and others wait for time then.
            let count = if choice / 50 % 2 == 0 { THREADS - 1 } else { THREADS };
            let luck = count < THREADS;
            if running as usize >= count {
                running = 0;
            }
            let candidates = next[..count].iter().copied();
            let reconsiders = choice % 50 == 0;
            let own = next[running as usize];
            let others = || candidates.clone().filter(|other| other.thread != own.thread);
            let conflicts = walk.minds_objects() && others().any(|other| other.object == own.object);
            let is_minded =
                conflicts || walk.minds(own.code, own.object) || own.chosen && walk.counts_accesses(candidates.clone());
            match certain {
                Some(left) if left > 0 && !is_minded && !reconsiders => {
                    certain = Some(left - 1);
                    walk.make_up_for(1, luck);
                }
                _ => {
                    asked += 1;
                    if luck {
                        _ = walk.rarely(16);
                    }
                    running = walk.choose(running, candidates.clone()).expect("some thread can run");
                    certain = walk.certain_choices(running, candidates.clone(), luck).filter(|_| leaves_out);
                }
            }
            chosen.push(running);
            let Next { path, code, object, changes, .. } = next[running as usize];
            if walk.minds(code, object) {
                certain = None;
            }
            walk.performed(crate::Done { path, code, object, changes });
            if object == CHOSEN {
                walk.accessed(running);
            }
            next[running as usize] = operation(running);
        }
        (chosen, walk.draw(), asked)
    }

    /// Certain choices that are left out leave the walk as if it had made them.
    #[test]
    fn certain_choices_can_be_left_out() {
        for style in [Style::Pct { depth: 4, length: 200 }, Style::Pos, Style::Guided, Style::Uniform] {
            let mut left_out = 0;
            for seed in 0..300 {
                let (whole, draws, all) = run(style, seed, false);
                let (short, same, asked) = run(style, seed, true);
                assert_eq!((whole, draws), (short, same), "{style:?} {seed}");
                left_out += all - asked;
            }
            assert!(left_out > 300 * CHOICES / 8, "{style:?}: {left_out} of {} were certain", 300 * CHOICES);
        }
    }

    #[test]
    fn a_long_uniform_walk_lets_threads_continue() {
        let switches = |choices: u64| {
            let mut walk = Walk::<THREADS>::new();
            walk.begin(Style::Uniform, 5);
            walk.choices = choices;
            let ready = (0..3).map(|thread| Next::unknown(thread, 2 * u64::from(thread) + 1));
            let (mut running, mut switches) = (0, 0);
            for _ in 0..10_000 {
                let chosen = walk.choose(running, ready.clone()).expect("some thread can run");
                switches += u32::from(chosen != running);
                running = chosen;
            }
            switches
        };
        assert!((6_400..6_900).contains(&switches(0)), "two of three");
        assert!((50..400).contains(&switches(SHORT)), "two of three, every 50 choices");
    }
}
