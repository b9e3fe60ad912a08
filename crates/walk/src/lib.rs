//! Randomised schedulers: who goes on at a point, when the plan leaves it open.
//!
//! Such a scheduler has to decide at every point, so it runs inside the target; the controller only says which one, and
//! gives the seed. The in-memory model of the explore crate uses the same code, which is how it is tested. It knows
//! nothing of processes, logs or plans, and is `no_std` because the runtime is.
//!
//! Start at [`Walk::choose`].
#![no_std]
#![forbid(unsafe_code)]

/// How a walk chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Style {
    /// Any thread, each with the same chance.
    Even,
    /// Probabilistic concurrency testing (Burckhardt et al., 2010): the thread with the highest priority. Priorities
    /// are drawn once per thread, and at `depth - 1` of the first `length` choices the running thread gets a lower one.
    /// Any bug of that depth shows with a chance of at least 1 / (n * length^(depth - 1)) for n threads.
    Pct {
        /// Ordering constraints that a bug needs.
        depth: u32,
        /// Choices that an execution has.
        length: u64,
    },
    /// Partial order sampling (Yuan et al., 2018): the next operation with the highest priority. A thread's priority
    /// is drawn anew after each of its operations, and whenever another thread's operation conflicts with its next one.
    Pos,
}

/// The next operation of a thread that can run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Next {
    /// The thread.
    pub thread: u32,
    /// What it will touch: an address, 0 when that is not known.
    pub object: u64,
    /// Whether it changes that.
    pub changes: bool,
}

/// Most changes of priority in one walk.
pub const MOST_CHANGES: usize = 15;

/// One walk, for at most `THREADS` threads.
pub struct Walk<const THREADS: usize> {
    random: u64,
    style: Style,
    /// Choices so far.
    choices: u64,
    /// The choices at which priorities change.
    changes: [u64; MOST_CHANGES],
    /// How often a thread had to give way.
    given_way: u64,
    /// Threads whose entries are in use.
    used: usize,
    /// 0 until it is drawn.
    priorities: [u64; THREADS],
}

/// Priorities that are drawn are above this; those given at a change are below, but above [`LAST`].
const DRAWN: u64 = 1 << 62;
/// Threads that gave way come after all others, the latest last.
const LAST: u64 = 1 << 31;

impl<const THREADS: usize> Walk<THREADS> {
    /// A walk that has not begun.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            random: 0,
            style: Style::Even,
            choices: 0,
            changes: [0; MOST_CHANGES],
            given_way: 0,
            used: 0,
            priorities: [0; THREADS],
        }
    }

    /// Starts over. Equal seeds give equal walks.
    pub fn begin(&mut self, style: Style, seed: u64) {
        self.random = seed;
        self.style = style;
        self.choices = 0;
        self.given_way = 0;
        self.priorities[..self.used].fill(0);
        self.used = 0;
        self.changes = [0; MOST_CHANGES];
        if let Style::Pct { depth, length } = style {
            let count = (depth.saturating_sub(1) as usize).min(MOST_CHANGES);
            for i in 0..count {
                self.changes[i] = 1 + self.below(length.max(1));
            }
        }
    }

    /// A number below `limit`, which is not 0. splitmix64: small, even, and the same everywhere.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.draw() % limit
    }

    fn draw(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.random;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Who goes on, of the threads that can run; `None` when there is none. `running` is who did so far.
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
                self.choices += 1;
                for i in 0..MOST_CHANGES {
                    if self.changes[i] == self.choices {
                        self.set(running, 2 * LAST + i as u64);
                    }
                }
                self.highest(candidates).map(|next| next.thread)
            }
            Style::Pos => {
                let chosen = self.highest(candidates.clone())?;
                self.set(chosen.thread, 0);
                let conflicts =
                    |next: &Next| next.object == chosen.object && next.object != 0 && (next.changes || chosen.changes);
                for next in candidates.filter(conflicts) {
                    self.set(next.thread, 0);
                }
                Some(chosen.thread)
            }
        }
    }

    /// The thread yields, or had its turn for too long: others come first from now on.
    pub fn gives_way(&mut self, thread: u32) {
        self.given_way += 1;
        self.set(thread, LAST.saturating_sub(self.given_way).max(1));
    }

    fn highest(&mut self, candidates: impl Iterator<Item = Next>) -> Option<Next> {
        let mut best: Option<(u64, Next)> = None;
        for next in candidates {
            let priority = self.priority(next.thread);
            if best.is_none_or(|(highest, _)| priority > highest) {
                best = Some((priority, next));
            }
        }
        best.map(|(_, next)| next)
    }

    fn priority(&mut self, thread: u32) -> u64 {
        let known = self.priorities.get(thread as usize).copied().unwrap_or(1);
        if known != 0 {
            return known;
        }
        let drawn = DRAWN | self.draw() >> 2;
        self.set(thread, drawn);
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
mod tests {
    use super::*;

    fn ready(threads: &[u32]) -> impl Iterator<Item = Next> + Clone + use<> {
        let mut all = [Next { thread: 0, object: 0, changes: false }; 8];
        for (next, &thread) in all.iter_mut().zip(threads) {
            next.thread = thread;
        }
        let count = threads.len();
        (0..count).map(move |i| all[i])
    }

    #[test]
    fn nobody_to_choose() {
        for style in [Style::Even, Style::Pct { depth: 3, length: 10 }, Style::Pos] {
            let mut walk = Walk::<8>::new();
            walk.begin(style, 1);
            assert_eq!(walk.choose(0, ready(&[])), None);
        }
    }

    #[test]
    fn without_changes_the_highest_priority_stays() {
        for seed in 0..100 {
            let mut walk = Walk::<8>::new();
            walk.begin(Style::Pct { depth: 1, length: 10 }, seed);
            let first = walk.choose(0, ready(&[0, 1, 2]));
            for _ in 0..20 {
                assert_eq!(walk.choose(0, ready(&[2, 1, 0])), first);
            }
        }
    }

    #[test]
    fn a_change_lowers_the_running_thread_below_all_others() {
        for seed in 0..100 {
            let mut walk = Walk::<8>::new();
            walk.begin(Style::Pct { depth: 2, length: 5 }, seed);
            let mut running = walk.choose(0, ready(&[0, 1])).unwrap();
            let mut seen = [running, running];
            for _ in 1..6 {
                running = walk.choose(running, ready(&[0, 1])).unwrap();
                seen[1] = running;
            }
            // The change is among the first five choices; it may fall on the first, before anybody ran.
            assert!(seen[0] != seen[1] || walk.changes[0] == 1, "{seed}");
        }
    }

    #[test]
    fn who_gives_way_is_chosen_last_whatever_the_style() {
        for style in [Style::Pct { depth: 3, length: 100 }, Style::Pos] {
            let mut walk = Walk::<8>::new();
            walk.begin(style, 5);
            walk.gives_way(1);
            walk.gives_way(2);
            assert_eq!(walk.choose(2, ready(&[1, 2])), Some(1));
            assert_eq!(walk.choose(2, ready(&[0, 2])), Some(0));
        }
    }

    #[test]
    fn equal_seeds_give_equal_walks_and_begin_forgets_everything() {
        for style in [Style::Even, Style::Pct { depth: 4, length: 20 }, Style::Pos] {
            let mut used = Walk::<8>::new();
            used.begin(style, 99);
            for _ in 0..50 {
                let _ = used.choose(0, ready(&[0, 1, 2, 3]));
            }
            let mut fresh = Walk::<8>::new();
            used.begin(style, 7);
            fresh.begin(style, 7);
            for _ in 0..50 {
                assert_eq!(used.choose(1, ready(&[0, 1, 2, 3])), fresh.choose(1, ready(&[0, 1, 2, 3])));
            }
        }
    }

    #[test]
    fn sampling_draws_again_for_operations_that_conflict() {
        let writes = |thread| Next { thread, object: 64, changes: true };
        let elsewhere = Next { thread: 2, object: 128, changes: true };
        for seed in 0..50 {
            let mut walk = Walk::<8>::new();
            walk.begin(Style::Pos, seed);
            let candidates = [writes(0), writes(1), elsewhere];
            let chosen = walk.choose(0, candidates.into_iter()).unwrap() as usize;
            let drawn = |thread: usize| walk.priorities[thread] != 0;
            match chosen {
                2 => assert!(drawn(0) && drawn(1) && !drawn(2)),
                _ => assert!(!drawn(0) && !drawn(1) && drawn(2)),
            }
        }
    }
}
