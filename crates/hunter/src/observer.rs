//! Events that the hunter reports while it works.

use crate::Error;
use racehunter_finding::{Figures, Finding};
use racehunter_ir::IrError;
use racehunter_report::Bound;
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
