//! All predictions of a trace.

use crate::candidates::Candidates;
use crate::check::{Answer, Checker, Effort, Gap, Stage};
use crate::index::Index;
use crate::policy::Policy;
use crate::{Question, Witness, atomicity, deadlocks};
use racehunter_trace::EventId;
use rustc_hash::FxHashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What to predict, and how hard to try.
#[derive(Clone, Debug)]
pub struct Options {
    /// Which reorderings are allowed.
    pub policy: Policy,
    /// The effort for one question.
    pub effort: Effort,
    /// Maximum number of questions for the same sites; for the same later event, if each is wanted.
    pub attempts: usize,
    /// How many races to report.
    pub each: Each,
    /// Number of worker threads.
    pub workers: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { policy: Policy::Nre, effort: Effort::default(), attempts: 1_000, each: Each::Sites, workers: 1 }
    }
}

/// How many races to report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Each {
    /// One for each pair of sites.
    Sites,
    /// One for each pair of sites and each later event, as analyses of single events count them.
    Event,
    /// One for each pair of events.
    Pair,
}

/// What was predicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// Two conflicting accesses are about to happen together.
    Race,
    /// Threads are about to acquire locks that the others hold.
    Deadlock,
    /// An access of another thread comes between two accesses of a block that is meant to be atomic, and no order of
    /// whole blocks gives the same result.
    Atomicity,
}

/// One prediction, with its witness.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prediction {
    /// What it is.
    pub kind: Kind,
    /// The events it consists of. For a race, the two accesses; for a deadlock, the acquisitions, each of a lock that
    /// the thread of the next one holds; for an atomicity violation, the first access of the block, the other thread's,
    /// the second of the block.
    pub events: Vec<EventId>,
    /// The question that the witness answers.
    pub question: Question,
    /// A correct reordering that shows it.
    pub witness: Witness,
    /// How the witness was found.
    pub stage: Stage,
}

/// The results.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The predictions: races, deadlocks, atomicity violations, each in the order of their sites.
    pub predictions: Vec<Prediction>,
    /// Pairs of sites, lock cycles and patterns that were examined: those that neither locks nor cones exclude.
    pub cases: usize,
    /// Questions that were asked.
    pub questions: usize,
    /// Cases without a prediction whose questions were not all asked, or not all answered.
    pub unfinished: Vec<Unfinished>,
}

/// A case that may hide something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfinished {
    /// What it would be.
    pub kind: Kind,
    /// The events of one question without an answer, or of the first one; none if there was no time to look.
    pub events: Vec<EventId>,
    /// What kept it from being finished.
    pub reason: Reason,
}

/// Why a case is unfinished.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reason {
    /// A question was not answered.
    Gap(Gap),
    /// Not all questions were asked.
    Attempts,
    /// There was no time.
    Time,
}

/// Something to predict, with the questions that would show it, the most promising first.
pub(crate) struct Case {
    pub(crate) kind: Kind,
    pub(crate) tries: Vec<(Vec<EventId>, Question)>,
    /// True if there are no other questions.
    pub(crate) complete: bool,
}

/// Predicts everything. Workers call `stop` from time to time; once it returns true, the rest is unfinished.
#[must_use]
pub fn predict(index: &Index<'_>, options: &Options, stop: &(dyn Fn() -> bool + Sync)) -> Report {
    let checker = Checker::new(index, options.policy);
    let candidates = Candidates::new(index, &checker.cones);
    let mut others = deadlocks::cases(index, options.attempts);
    others.extend(atomicity::cases(index, &checker, options.attempts));
    let races = candidates.cases.len();
    let cases = races + others.len();

    let answer = |number: usize| -> Told {
        let kind = others.get(number.wrapping_sub(races)).map_or(Kind::Race, |case| case.kind);
        if stop() {
            let unfinished = Some(Unfinished { kind, events: Vec::new(), reason: Reason::Time });
            return Told { unfinished, ..Told::default() };
        }
        if number >= races {
            return answer(&checker, &others[number - races], options);
        }
        let case = &candidates.cases[number];
        let (pairs, complete) = match options.each {
            Each::Event => candidates.pairs_by_event(index, &checker.cones, case, options.attempts),
            Each::Sites | Each::Pair => candidates.pairs(index, &checker.cones, case, options.attempts),
        };
        let tries = pairs.into_iter().map(|(a, b)| (vec![a, b], Question::together(vec![a, b]))).collect();
        answer(&checker, &Case { kind, tries, complete }, options)
    };

    // Cases are independent, so the assignment of cases to workers does not affect the result.
    let next = AtomicUsize::new(0);
    let all = Mutex::new((Vec::new(), 0, Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..options.workers.clamp(1, cases.max(1)) {
            scope.spawn(|| {
                let mut own = (Vec::new(), 0, Vec::new());
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= cases {
                        break;
                    }
                    let answer = answer(number);
                    own.1 += answer.questions;
                    if answer.predictions.is_empty() {
                        own.2.extend(answer.unfinished.map(|unfinished| (number, unfinished)));
                    }
                    // Most cases have no prediction.
                    own.0.extend(answer.predictions.into_iter().map(|prediction| (number, prediction)));
                }
                let mut all = all.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                all.0.extend(own.0);
                all.1 += own.1;
                all.2.extend(own.2);
            });
        }
    });
    let (mut predictions, questions, mut unfinished) =
        all.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    predictions.sort_by_key(|&(number, _)| number);
    unfinished.sort_by_key(|&(number, _)| number);
    let predictions = predictions.into_iter().map(|(_, prediction)| prediction).collect();
    let unfinished = unfinished.into_iter().map(|(_, unfinished)| unfinished).collect();
    Report { predictions, cases, questions, unfinished }
}

/// The result of one case.
#[derive(Default)]
struct Told {
    predictions: Vec<Prediction>,
    questions: usize,
    unfinished: Option<Unfinished>,
}

fn answer(checker: &Checker<'_, '_>, case: &Case, options: &Options) -> Told {
    let mut told = Told::default();
    let mut later: FxHashSet<EventId> = FxHashSet::default();
    let kind = case.kind;
    for (events, question) in &case.tries {
        let last = events.iter().copied().max().unwrap_or(0);
        if options.each == Each::Event && later.contains(&last) {
            continue;
        }
        told.questions += 1;
        match checker.answer(question, &options.effort) {
            Answer::Yes(witness, stage) => {
                let (events, question) = (events.clone(), question.clone());
                told.predictions.push(Prediction { kind, events, question, witness, stage });
                if options.each == Each::Sites {
                    break;
                }
                later.insert(last);
            }
            Answer::No => {}
            Answer::Unknown(gap) => {
                let unfinished = || Unfinished { kind, events: events.clone(), reason: Reason::Gap(gap) };
                told.unfinished.get_or_insert_with(unfinished);
            }
        }
    }
    if !case.complete {
        let events = case.tries.first().map_or_else(Vec::new, |(events, _)| events.clone());
        told.unfinished.get_or_insert(Unfinished { kind, events, reason: Reason::Attempts });
    }
    told
}
