//! What happens while the hunter works.

use crate::Error;
use racehunter_finding::{Figures, Finding};
use racehunter_ir::IrError;
use racehunter_report::Bound;
use std::path::Path;
use std::time::Duration;

/// Gets what happens, in order.
pub trait Observer {
    /// Something has happened.
    fn notice(&mut self, event: Event<'_>);
}

/// What can happen.
#[derive(Debug)]
pub enum Event<'a> {
    /// The program is known, and has been started.
    Program(&'a Path),
    /// An execution was monitored, for the techniques that provoke pairs of accesses.
    Monitored(&'a Figures),
    /// The search begins.
    Searching,
    /// An execution was looked at.
    Execution {
        /// Its number, from 1.
        number: u64,
        /// Targets that wait.
        waiting: usize,
        /// Executions that are probably left in the current stage.
        remaining: Option<u64>,
        /// Findings so far.
        findings: usize,
    },
    /// A stage is finished: what it claims holds from now on, if it is complete.
    Stage(&'a Bound),
    /// More places are points where threads can be switched.
    Points {
        /// How many.
        added: usize,
    },
    /// A finding that was not reported before, minimised and replayed; or one that a resumed hunt reports again.
    Finding {
        /// The finding.
        finding: &'a Finding,
        /// Whether an earlier run of the same campaign has found it.
        is_old: bool,
    },
    /// A replay is about to begin.
    Replaying {
        /// Its number, from 1.
        number: u32,
        /// How many there will be.
        of: u32,
    },
    /// A replay is done.
    Replayed {
        /// Its number, from 1.
        number: u32,
        /// How many there will be.
        of: u32,
        /// Whether it showed the finding.
        shown: bool,
    },
    /// The schedule that is about to be replayed.
    Schedule {
        /// Its decisions.
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
    /// The code of the program will be followed along the recording, or cannot be.
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
        /// The inputs of this round; empty when there are none.
        inputs: &'a str,
        /// Whether it showed a race.
        race: bool,
    },
    /// Something is not as it should be, and the work goes on.
    Warning(Warning<'a>),
}

/// What is not as it should be.
#[derive(Debug)]
pub enum Warning<'a> {
    /// Findings cannot be stored. Said once.
    FindingsNotKept(&'a Error),
    /// A finding cannot be stored.
    FindingNotKept {
        /// Its id.
        id: &'a str,
        /// Why not.
        error: &'a Error,
    },
    /// The state of the hunt cannot be stored. Said once.
    CampaignNotKept(&'a Error),
    /// A finding of the campaign cannot be read again. It counts all the same.
    FindingLost {
        /// Its id.
        id: &'a str,
        /// Why not.
        error: &'a Error,
    },
}
