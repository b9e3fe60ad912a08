//! The answer to one question: stages from cheap to thorough, and a validator that has the last word.

use crate::cones::Cones;
use crate::cut::{Closing, cut, necessary};
use crate::index::{Index, NONE};
use crate::policy::{Demands, Policy};
use crate::search::{Outcome, linearise};
use crate::validate::Validator;
use crate::{Question, Witness, closure, sync_preserving};
use racehunter_trace::EventId;

/// How a witness was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Stage {
    /// Critical sections keep their order.
    SyncPreserving,
    /// The closure of the order leaves a sequence that is found at once.
    Closure,
    /// It took a search.
    Search,
}

impl Stage {
    /// A name for reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::SyncPreserving => "sync-preserving",
            Self::Closure => "closure",
            Self::Search => "search",
        }
    }
}

/// How much is tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effort {
    /// Whether the cheap stage comes first. Without it only fewer predictions are cheap.
    pub sync_preserving: bool,
    /// Numbers of events before the later event of a question that may be put into another order, ascending. Larger ones
    /// than the trace mean all of it.
    pub windows: Vec<u32>,
    /// How often the search goes back.
    pub retries: usize,
    /// Events after the frozen part that a reordering may have.
    pub longest: usize,
}

impl Default for Effort {
    fn default() -> Self {
        Self { sync_preserving: true, windows: vec![5_000, 16_000, 50_000], retries: 2_000, longest: 1_000_000 }
    }
}

impl Effort {
    /// Everything is tried, on the whole trace.
    #[must_use]
    pub fn exhaustive() -> Self {
        Self { sync_preserving: true, windows: vec![u32::MAX], retries: usize::MAX, longest: usize::MAX }
    }
}

/// What a question has no answer with.
#[derive(Clone, Copy)]
enum Failed {
    /// This choice of critical sections that are gone through.
    Closing,
    /// So much of the trace that stays as it was.
    Frozen,
}

/// Answers questions about one trace under one policy.
pub struct Checker<'a, 't> {
    pub(crate) index: &'a Index<'t>,
    pub(crate) demands: Demands,
    pub(crate) cones: Cones,
    validator: Validator<'a, 't>,
}

impl<'a, 't> Checker<'a, 't> {
    /// Prepares a trace: one linear pass.
    #[must_use]
    pub fn new(index: &'a Index<'t>, policy: Policy) -> Self {
        Self::with_demands(index, Demands::new(policy, index))
    }

    /// The same, for other demands than those of a policy.
    #[must_use]
    pub fn with_demands(index: &'a Index<'t>, demands: Demands) -> Self {
        let cones = Cones::new(index, &demands);
        Self { index, demands, cones, validator: Validator::new(index) }
    }

    /// What is demanded.
    #[must_use]
    pub fn demands(&self) -> &Demands {
        &self.demands
    }

    /// A reordering that ends as the question wants it, found within some effort.
    #[must_use]
    pub fn check(&self, question: &Question, effort: &Effort) -> Option<(Witness, Stage)> {
        if !self.cones_allow(question) {
            return None;
        }
        if effort.sync_preserving
            && let Some(witness) = sync_preserving::witness(self.index, &self.cones, question, effort.longest)
            && self.accepts(question, &witness)
        {
            return Some((witness, Stage::SyncPreserving));
        }
        let first = question.events().min()?;
        let last = question.events().max()?;
        let mut tried = None;
        for &window in &effort.windows {
            let frozen = first.min(last.saturating_sub(window));
            if tried.replace(frozen) == Some(frozen) {
                continue;
            }
            for closing in [Closing::All, Closing::Earlier, Closing::Later] {
                match self.reorder(question, frozen, closing, effort) {
                    Ok(found) => return Some(found),
                    Err(Failed::Closing) => {}
                    Err(Failed::Frozen) => break,
                }
            }
        }
        None
    }

    /// True unless one of the events needs another one to have happened.
    pub(crate) fn cones_allow(&self, question: &Question) -> bool {
        question.next.iter().all(|&event| {
            let (thread, position) = self.index.place(event);
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
        let cut = cut(self.index, &self.demands, question, frozen, closing, effort.longest)
            .map_err(|none| if none.at_all { Failed::Frozen } else { Failed::Closing })?;
        let failed = if cut.closed { Failed::Closing } else { Failed::Frozen };
        let order = closure::order(self.index, &cut, question).map_err(|_| failed)?;
        let Outcome::Found(tail, searched) = linearise(self.index, &cut, &order, effort.retries) else {
            return Err(failed);
        };
        let witness = Witness { frozen, tail: tail.into_iter().collect() };
        let stage = if searched { Stage::Search } else { Stage::Closure };
        if self.accepts(question, &witness) { Ok((witness, stage)) } else { Err(failed) }
    }

    fn accepts(&self, question: &Question, witness: &Witness) -> bool {
        let valid = self.validator.validate(&self.demands, question, witness);
        debug_assert_eq!(valid, Ok(()), "{question:?} {witness:?}");
        valid.is_ok()
    }

    /// The reads of shared locations that must see their old writes for a question, with these writes (none: the initial
    /// value): the constraints on a reordering, before locks. They are all there even if they contradict the question.
    #[must_use]
    pub fn constraints(&self, question: &Question) -> Vec<(Option<EventId>, EventId)> {
        let write = |read| Some(self.index.read_from(read)).filter(|&write| write != NONE);
        let mut reads = necessary(self.index, &self.demands, question);
        reads.sort_unstable();
        reads.into_iter().map(|read| (write(read), read)).collect()
    }
}
