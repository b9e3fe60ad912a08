//! All predictions of a trace.

use crate::candidates::Candidates;
use crate::check::{Answer, Checker, Effort, Stage};
use crate::index::Index;
use crate::policy::Policy;
use crate::{Question, Witness, atomicity, deadlocks};
use racehunter_trace::EventId;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What to predict, and how hard to try.
#[derive(Clone, Debug)]
pub struct Options {
    /// Which reorderings are allowed.
    pub policy: Policy,
    /// The effort for one question.
    pub effort: Effort,
    /// Maximum number of questions for the same sites.
    pub attempts: usize,
    /// Report every pair of events instead of one for each pair of sites.
    pub every_pair: bool,
    /// Number of worker threads.
    pub workers: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { policy: Policy::Nre, effort: Effort::default(), attempts: 100, every_pair: false, workers: 1 }
    }
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
    pub unfinished: usize,
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
        if stop() {
            return Told { predictions: Vec::new(), questions: 0, unfinished: true };
        }
        if number >= races {
            return answer(&checker, &others[number - races], options);
        }
        let (pairs, complete) = candidates.pairs(index, &checker.cones, &candidates.cases[number], options.attempts);
        let tries = pairs.into_iter().map(|(a, b)| (vec![a, b], Question::together(vec![a, b]))).collect();
        answer(&checker, &Case { kind: Kind::Race, tries, complete }, options)
    };

    // Cases are independent, so the assignment of cases to workers does not affect the result.
    let next = AtomicUsize::new(0);
    let report = Mutex::new((Vec::new(), Report { cases, ..Report::default() }));
    std::thread::scope(|scope| {
        for _ in 0..options.workers.clamp(1, cases.max(1)) {
            scope.spawn(|| {
                let mut own = (Vec::new(), 0, 0);
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= cases {
                        break;
                    }
                    let answer = answer(number);
                    own.1 += answer.questions;
                    own.2 += usize::from(answer.unfinished && answer.predictions.is_empty());
                    // Most cases have no prediction.
                    own.0.extend(answer.predictions.into_iter().map(|prediction| (number, prediction)));
                }
                let mut report = report.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                report.0.extend(own.0);
                report.1.questions += own.1;
                report.1.unfinished += own.2;
            });
        }
    });
    let (mut predictions, report) = report.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    predictions.sort_by_key(|&(number, _)| number);
    Report { predictions: predictions.into_iter().map(|(_, prediction)| prediction).collect(), ..report }
}

/// The result of one case.
struct Told {
    predictions: Vec<Prediction>,
    questions: usize,
    unfinished: bool,
}

fn answer(checker: &Checker<'_, '_>, case: &Case, options: &Options) -> Told {
    let mut told = Told { predictions: Vec::new(), questions: 0, unfinished: !case.complete };
    for (events, question) in &case.tries {
        told.questions += 1;
        match checker.answer(question, &options.effort) {
            Answer::Yes(witness, stage) => {
                let (events, question) = (events.clone(), question.clone());
                told.predictions.push(Prediction { kind: case.kind, events, question, witness, stage });
                if !options.every_pair {
                    break;
                }
            }
            Answer::No => {}
            Answer::Unknown => told.unfinished = true,
        }
    }
    told
}
