//! Answers one question: stages from cheap to thorough, and a validator that decides.

use crate::cones::Cones;
use crate::cut::{Closing, cut, necessary};
use crate::index::{Index, NONE};
use crate::policy::{Demands, Policy};
use crate::reversal::{self, Successors};
use crate::search::{Outcome, linearise};
use crate::validate::Validator;
use crate::{Question, Witness, closure, sync_preserving};
use racehunter_trace::EventId;
use std::sync::OnceLock;

/// How a witness was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Stage {
    /// Critical sections keep their order.
    SyncPreserving,
    /// Critical sections that stay open come after all others of their lock, and everything else keeps its order.
    Reversal,
    /// The closure of the order leaves a sequence that is found at once.
    Closure,
    /// It needed a search.
    Search,
}

impl Stage {
    /// Returns a name for reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::SyncPreserving => "sync-preserving",
            Self::Reversal => "reversal",
            Self::Closure => "closure",
            Self::Search => "search",
        }
    }
}

/// How hard to try.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effort {
    /// True if the stages without a window come first. Without them, fewer predictions are cheap.
    pub cheap: bool,
    /// Numbers of events that may be reordered before the first event that a question is about, ascending. A number
    /// larger than the trace means all of it.
    pub windows: Vec<u32>,
    /// Maximum number of times that the search backtracks.
    pub retries: usize,
    /// Maximum number of events after the frozen part of a reordering.
    pub longest: usize,
}

impl Default for Effort {
    fn default() -> Self {
        Self { cheap: true, windows: vec![5_000, 50_000, 1_000_000], retries: 2_000, longest: 4_000_000 }
    }
}

impl Effort {
    /// Tries everything, on the whole trace.
    #[must_use]
    pub fn exhaustive() -> Self {
        Self { cheap: true, windows: vec![u32::MAX], retries: usize::MAX, longest: usize::MAX }
    }
}

/// The answer to a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// There is such a reordering.
    Yes(Witness, Stage),
    /// None was found in the whole trace, and no search gave up.
    No,
    /// None was found with this effort.
    Unknown(Gap),
}

/// Why a question is not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Gap {
    /// Events before the window stayed as they were.
    Window,
    /// A witness would have too many events.
    Length,
    /// The search for a sequence gave up.
    Search,
}

/// Why a question has no answer, and what kept it from being a "no".
#[derive(Clone, Copy)]
enum Failed {
    /// With this choice of critical sections to complete.
    Closing(Option<Gap>),
    /// With this frozen part of the trace.
    Frozen(Option<Gap>),
}

/// Answers questions about one trace under one policy.
pub struct Checker<'a, 't> {
    pub(crate) index: &'a Index<'t>,
    pub(crate) demands: Demands,
    pub(crate) cones: Cones,
    validator: Validator<'a, 't>,
    successors: OnceLock<Successors>,
}

impl<'a, 't> Checker<'a, 't> {
    /// Prepares a trace: one linear pass.
    #[must_use]
    pub fn new(index: &'a Index<'t>, policy: Policy) -> Self {
        Self::with_demands(index, Demands::new(policy, index))
    }

    /// As `new`, for demands other than those of a policy.
    #[must_use]
    pub fn with_demands(index: &'a Index<'t>, demands: Demands) -> Self {
        let cones = Cones::new(index, &demands);
        Self { index, demands, cones, validator: Validator::new(index), successors: OnceLock::new() }
    }

    /// Returns the demands.
    #[must_use]
    pub fn demands(&self) -> &Demands {
        &self.demands
    }

    /// Returns a reordering that ends as the question asks, found with some effort.
    #[must_use]
    pub fn check(&self, question: &Question, effort: &Effort) -> Option<(Witness, Stage)> {
        match self.answer(question, effort) {
            Answer::Yes(witness, stage) => Some((witness, stage)),
            Answer::No | Answer::Unknown(_) => None,
        }
    }

    /// As `check`, and says whether more effort could find what was not found.
    #[must_use]
    pub fn answer(&self, question: &Question, effort: &Effort) -> Answer {
        if question.events().next().is_none() || !self.cones_allow(question) {
            return Answer::No;
        }
        // A cone says what a join needs to happen, but here it is only about to.
        let joins = question.next.iter().any(|&event| self.index.trace.op(event).joins());
        let cheap = if effort.cheap && !joins { self.without_window(question, effort.longest) } else { None };
        cheap.unwrap_or_else(|| self.within_windows(question, effort))
    }

    /// Answers by the stages that do not depend on a window, if they can.
    fn without_window(&self, question: &Question, longest: usize) -> Option<Answer> {
        let (index, cones) = (self.index, &self.cones);
        if let Some(witness) = sync_preserving::witness(index, cones, question, longest)
            && self.accepts(question, &witness)
        {
            return Some(Answer::Yes(witness, Stage::SyncPreserving));
        }
        if reversal::is_refuted(index, cones, question) {
            return Some(Answer::No);
        }
        let successors = self.successors.get_or_init(|| Successors::new(index));
        let witness = reversal::witness(index, cones, successors, question, longest)?;
        self.accepts(question, &witness).then_some(Answer::Yes(witness, Stage::Reversal))
    }

    /// Answers by the closure of the order within windows.
    fn within_windows(&self, question: &Question, effort: &Effort) -> Answer {
        let (anchor, opening) = (reversal::anchor(self.index, question), self.index.trace.opening());
        let mut tried = None;
        let mut gap = None;
        for &window in &effort.windows {
            let frozen = anchor.saturating_sub(window).max(opening);
            if tried.replace(frozen) == Some(frozen) {
                continue;
            }
            gap = None;
            let mut chosen = true;
            for closing in [Closing::All, Closing::Earlier, Closing::Later] {
                match self.reorder(question, frozen, closing, effort) {
                    Ok((witness, stage)) => return Answer::Yes(witness, stage),
                    Err(Failed::Closing(found)) => gap = gap.or(found),
                    Err(Failed::Frozen(found)) => {
                        gap = gap.or(found);
                        chosen = false;
                        break;
                    }
                }
            }
            // There may be other choices of critical sections to complete.
            if chosen && frozen == opening && gap.is_none() && !self.is_impossible(question, opening, effort) {
                gap = Some(Gap::Search);
            }
        }
        if tried == Some(opening) && gap.is_none() { Answer::No } else { Answer::Unknown(gap.unwrap_or(Gap::Window)) }
    }

    /// Returns true unless one of the events needs another one to have happened.
    pub(crate) fn cones_allow(&self, question: &Question) -> bool {
        question.next.iter().all(|&event| {
            let (thread, position) = self.index.place(event);
            // What a join waits for need not have happened when it is only about to join; what precedes it must have.
            let position = if self.index.trace.op(event).joins() { position.checked_sub(1) } else { Some(position) };
            let Some(position) = position else { return true };
            let cone = self.cones.of(thread, position);
            question.next.iter().all(|&other| {
                let (other_thread, position) = self.index.place(other);
                other == event || (other_thread != thread && cone[other_thread] <= position)
            })
        })
    }

    fn reorder(
        &self,
        question: &Question,
        frozen: EventId,
        closing: Closing,
        effort: &Effort,
    ) -> Result<(Witness, Stage), Failed> {
        let cut = cut(self.index, &self.demands, question, frozen, closing, effort.longest).map_err(|none| {
            let gap = none.too_large.then_some(Gap::Length);
            if none.at_all { Failed::Frozen(gap) } else { Failed::Closing(gap) }
        })?;
        let failed = |gap| if cut.closed { Failed::Closing(gap) } else { Failed::Frozen(gap) };
        let order = closure::order(self.index, &cut, question).map_err(|_| failed(None))?;
        let (tail, searched) = match linearise(self.index, &cut, &order, effort.retries) {
            Outcome::Found(tail, searched) => (tail, searched),
            Outcome::Impossible => return Err(failed(None)),
            Outcome::GaveUp => return Err(failed(Some(Gap::Search))),
        };
        let witness = Witness { frozen, tail: tail.into_iter().collect() };
        let stage = if searched { Stage::Search } else { Stage::Closure };
        if self.accepts(question, &witness) { Ok((witness, stage)) } else { Err(failed(Some(Gap::Search))) }
    }

    /// Returns true if what every reordering contains cannot be ordered, or cannot be sequenced.
    fn is_impossible(&self, question: &Question, opening: EventId, effort: &Effort) -> bool {
        let possible = match cut(self.index, &self.demands, question, opening, Closing::Forced, effort.longest) {
            Ok(cut) => closure::order(self.index, &cut, question).is_ok_and(|order| {
                // Without a choice, what cannot be sequenced here is not part of any sequence.
                cut.closed || !matches!(linearise(self.index, &cut, &order, effort.retries), Outcome::Impossible)
            }),
            Err(none) => none.too_large,
        };
        !possible
    }

    fn accepts(&self, question: &Question, witness: &Witness) -> bool {
        let valid = self.validator.validate(&self.demands, question, witness);
        debug_assert_eq!(valid, Ok(()), "{question:?} {witness:?}");
        valid.is_ok()
    }

    /// Returns the reads of shared locations that must see their old writes for a question, with these writes (none:
    /// the initial value): the constraints on a reordering, before locks. They are complete even if they contradict the
    /// question.
    #[must_use]
    pub fn constraints(&self, question: &Question) -> Vec<(Option<EventId>, EventId)> {
        let write = |read| Some(self.index.read_from(read)).filter(|&write| write != NONE);
        let mut reads = necessary(self.index, &self.demands, question);
        reads.sort_unstable();
        reads.into_iter().map(|read| (write(read), read)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{Answer, Checker, Effort, Gap, Stage};
    use crate::cut::{Closing, cut};
    use crate::index::Index;
    use crate::policy::Policy;
    use crate::search::{Outcome, linearise};
    use crate::{Question, closure};
    use racehunter_trace::{EventId, Trace, text};
    use std::fmt::Write as _;

    /// Accesses, each in its own thread, in the order of the trace. A read sees the write with its first letter: `u`,
    /// `s`, `c`, `h` and `k` are seen by `v`, `t`, `d`, `r` and `l`.
    const ACCESSES: [(&str, &str); 16] = [
        ("s", "w(y)"),
        ("p", "w(x)"),
        ("u", "w(x)"),
        ("h", "w(m)"),
        ("r", "r(m)"),
        ("o", "w(n)"),
        ("t", "r(y)"),
        ("f", "w(i)"),
        ("k", "w(i)"),
        ("l", "r(i)"),
        ("q", "w(y)"),
        ("c", "w(n)"),
        ("d", "r(n)"),
        ("g", "w(m)"),
        ("v", "r(x)"),
        ("end", "w(race)"),
    ];

    /// The required order of events.
    const ORDER: &str = "uq uo sp qd ot pr pl hf kg gv fv";

    /// Returns a question whose order has no cycle, but that still has no answer.
    ///
    /// Each write that no read sees (`p`, `q`, `o`, `g`, `f`) comes before another write to the same location, or
    /// after the read that sees that one. If `p` comes before `u`, then `q` comes after `t` (otherwise `p u q s p` is
    /// a cycle), so `o` before `c` (`t q d o t`), and then `c p u o c` is a cycle, because `c` is in a critical
    /// section that must end before that of `p` begins. If `p` comes after `v`, then `g` comes before `h` (`p r g v
    /// p`), so `f` after `l` (`h f k g h`), and then `p l f v p` is a cycle. No two of these orders contradict each
    /// other directly, so neither is known.
    fn gadget(locked: bool) -> Trace {
        let ends = ["v", "t", "d", "r", "l"];
        let pairs = ORDER.split(' ').map(|pair| pair.split_at(1)).chain(ends.map(|end| (end, "end")));
        let pairs: Vec<(&str, &str)> = pairs.collect();
        let mut text = String::new();
        for (name, access) in ACCESSES {
            let mut line = |what: &str| writeln!(text, "{name}|{what}|{name}").unwrap();
            let has_lock = name == "p" || (locked && name == "c");
            if has_lock {
                line("acq(L)");
            }
            pairs.iter().filter(|pair| pair.1 == name).for_each(|(one, _)| line(&format!("order({one}{name})")));
            line(access);
            pairs.iter().filter(|pair| pair.0 == name).for_each(|(_, other)| line(&format!("order({name}{other})")));
            if name == "p" {
                writeln!(text, "p|w(race)|race").unwrap();
            }
            if has_lock {
                writeln!(text, "{name}|rel(L)|{name}").unwrap();
            }
        }
        text::read(text.as_bytes()).unwrap()
    }

    fn races(trace: &Trace) -> Question {
        let race = trace.objects().iter().position(|object| object.name == "race").unwrap() as u32;
        let is_race = |&event: &EventId| trace.op(event).is_access() && trace.object(event) == race;
        Question::together((0..trace.len() as EventId).filter(is_race).collect())
    }

    #[test]
    fn no_cycle_does_not_mean_that_there_is_a_witness() {
        let trace = gadget(true);
        let index = Index::new(&trace).unwrap();
        let checker = Checker::new(&index, Policy::M2);
        let question = races(&trace);
        assert_eq!(question.next.len(), 2);
        assert!(checker.cones_allow(&question));
        let cut = cut(&index, &checker.demands, &question, 0, Closing::All, usize::MAX).ok().unwrap();
        let order = closure::order(&index, &cut, &question).unwrap();
        assert!(matches!(linearise(&index, &cut, &order, usize::MAX), Outcome::Impossible));
        assert_eq!(checker.answer(&question, &Effort::exhaustive()), Answer::No);
        // Giving up is not a "no".
        let hasty = Effort { retries: 10, ..Effort::exhaustive() };
        assert_eq!(checker.answer(&question, &hasty), Answer::Unknown(Gap::Search));
    }

    #[test]
    fn without_the_lock_of_one_access_there_is_a_witness() {
        let trace = gadget(false);
        let index = Index::new(&trace).unwrap();
        let checker = Checker::new(&index, Policy::M2);
        let Answer::Yes(_, stage) = checker.answer(&races(&trace), &Effort::exhaustive()) else { panic!("no witness") };
        assert_eq!(stage, Stage::SyncPreserving);
        let thorough = Effort { cheap: false, ..Effort::exhaustive() };
        assert!(matches!(checker.answer(&races(&trace), &thorough), Answer::Yes(..)));
    }

    /// Everything before the window stays as it was, so finding nothing there means nothing.
    #[test]
    fn a_window_is_not_the_whole_trace() {
        let trace = gadget(true);
        let index = Index::new(&trace).unwrap();
        let checker = Checker::new(&index, Policy::M2);
        let near = Effort { windows: vec![1], ..Effort::exhaustive() };
        assert_eq!(checker.answer(&races(&trace), &near), Answer::Unknown(Gap::Window));
    }
}
