//! Events that the hunter reports while it works.

use crate::{Error, Tried};
use racehunter_finding::{Figures, Finding};
use racehunter_ir::IrError;
use racehunter_report::Bound;
use racehunter_report::notes::{self, Note};
use std::path::Path;
use std::time::Duration;

/// Receives events, in order.
pub trait Observer {
    /// Handles an event.
    fn notice(&mut self, event: Event<'_>);
}

/// The events.
#[derive(Debug)]
pub enum Event<'a> {
    /// The program is known, and has been started.
    Program(&'a Path),
    /// An execution was monitored, for the techniques that provoke pairs of accesses.
    Monitored(&'a Figures),
    /// The search begins.
    Searching,
    /// An execution was processed.
    Execution {
        /// Its number, from 1.
        number: u64,
        /// Number of waiting targets.
        waiting: usize,
        /// Estimated number of executions left in the current stage.
        remaining: Option<u64>,
        /// Findings so far.
        findings: usize,
    },
    /// A stage is finished: its claim holds from now on, if it is complete.
    Stage(&'a Bound),
    /// More places have become points.
    Points {
        /// How many.
        added: usize,
    },
    /// A finding that was not reported before, minimised and replayed; or one that a resumed hunt reports again.
    Finding {
        /// The finding.
        finding: &'a Finding,
        /// True if an earlier run of the same campaign found it.
        is_old: bool,
    },
    /// A replay is about to begin.
    Replaying {
        /// Its number, from 1.
        number: u32,
        /// The number of replays.
        of: u32,
    },
    /// A replay is done.
    Replayed {
        /// Its number, from 1.
        number: u32,
        /// The number of replays.
        of: u32,
        /// True if it showed the finding.
        shown: bool,
    },
    /// The schedule that is about to be replayed.
    Schedule {
        /// The number of its decisions.
        decisions: u64,
        /// The event of the last one.
        last: u64,
    },
    /// An execution was recorded.
    Recorded {
        /// Its events.
        events: u64,
        /// Its threads.
        threads: u32,
    },
    /// The code of the program will be followed along the recording, or why it cannot be.
    Following(Result<(), &'a IrError>),
    /// A scan has read the program.
    Reading {
        /// Its modules.
        modules: u64,
        /// How pointers are followed.
        backend: &'a str,
    },
    /// A scan has analysed the program.
    Analysed {
        /// The analysis.
        report: &'a racehunter_scan::Report,
        /// Time since the scan began.
        elapsed: Duration,
    },
    /// A scan has executed the program for a while.
    Executed {
        /// Executions of this round.
        executions: u64,
        /// Executions of all rounds.
        total: u64,
        /// The inputs of this round; empty if there are none.
        inputs: &'a str,
        /// True if it showed a race.
        race: bool,
    },
    /// Another segment of a long trace was read.
    Segment {
        /// Events before it.
        before: u64,
        /// Events of the trace.
        of: u64,
    },
    /// Predicting begins.
    Predicting {
        /// Events of the trace.
        events: usize,
        /// Which reorderings are allowed.
        policy: &'static str,
    },
    /// Predicting is done.
    Predicted {
        /// How many predictions there are.
        predictions: usize,
        /// How many cases were looked at.
        cases: usize,
        /// How many reorderings were searched.
        questions: usize,
    },
    /// A prediction is about to be tried, or reported.
    Trying {
        /// Its number, from 1.
        number: usize,
        /// The number of predictions.
        of: usize,
    },
    /// A prediction was tried.
    Tried {
        /// Its number, from 1.
        number: usize,
        /// The number of predictions.
        of: usize,
        /// The result.
        tried: &'a Tried,
    },
    /// Something is wrong, but the work continues.
    Warning(Warning<'a>),
}

/// What is wrong.
#[derive(Debug)]
pub enum Warning<'a> {
    /// Findings cannot be stored. Reported once.
    FindingsNotKept(&'a Error),
    /// A finding cannot be stored.
    FindingNotKept {
        /// Its id.
        id: &'a str,
        /// The reason.
        error: &'a Error,
    },
    /// The state of the hunt cannot be stored. Reported once.
    CampaignNotKept(&'a Error),
    /// A worker of a hunt on many machines has returned something that is no result. Nothing that it did counts.
    WorkerShutOut {
        /// The worker.
        worker: &'a str,
        /// The reason.
        why: &'a str,
    },
    /// A finding of the campaign can no longer be read. It still counts.
    FindingLost {
        /// Its id.
        id: &'a str,
        /// The reason.
        error: &'a Error,
    },
}

/// How much a note matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Importance {
    /// It says how far the work is. Those who watch it want one every few seconds.
    Progress,
    /// It is a step of the work.
    Detail,
}

impl Event<'_> {
    /// Returns the note about an event, if the event alone says enough for one.
    #[must_use]
    pub fn note(&self) -> Option<(Note, Importance)> {
        let note = match *self {
            Self::Program(path) => notes::program(path),
            Self::Monitored(figures) => notes::monitored(figures),
            Self::Points { added } => notes::points(added),
            Self::Schedule { decisions, last } => notes::schedule(decisions, last),
            Self::Replaying { number, of } => return Some((notes::replaying(number, of), Importance::Progress)),
            Self::Replayed { number, of, shown } => notes::replayed(number, of, shown),
            Self::Recorded { events, threads } => notes::recorded(events, threads),
            Self::Following(result) => notes::following(result.map_err(|error| error as &dyn std::fmt::Display)),
            Self::Analysed { report, elapsed } => notes::analysed(report, elapsed),
            Self::Executed { executions, inputs, race, .. } => notes::executed(executions, inputs, race),
            Self::Reading { modules, backend } => notes::reading(modules, backend),
            Self::Segment { before, of } => return Some((notes::segment(before, of), Importance::Progress)),
            Self::Trying { number, of } => return Some((notes::trying(number, of), Importance::Progress)),
            Self::Predicting { events, policy } => notes::predicting(events, policy),
            Self::Predicted { predictions, cases, questions } => notes::predicted(predictions, cases, questions),
            Self::Tried { number, of, tried: Tried::Shown(findings) } => {
                let ids: Vec<&str> = findings.iter().map(|finding| finding.id.as_str()).collect();
                notes::tried(number, of, Ok(&ids))
            }
            Self::Tried { number, of, tried: Tried::NotShown(reason, _) } => notes::tried(number, of, Err(reason)),
            Self::Execution { .. } | Self::Searching | Self::Stage(_) | Self::Finding { .. } | Self::Warning(_) => {
                return None;
            }
        };
        Some((note, Importance::Detail))
    }
}

impl Warning<'_> {
    /// Returns the warning in words.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::FindingsNotKept(error) => notes::findings_not_kept(&error.chain()),
            Self::FindingNotKept { id, error } => notes::finding_not_kept(id, &error.chain()),
            Self::CampaignNotKept(error) => notes::campaign_not_kept(&error.chain()),
            Self::WorkerShutOut { worker, why } => notes::worker_shut_out(worker, why),
            Self::FindingLost { id, error } => notes::finding_lost(id, &error.chain()),
        }
    }
}
