//! Hunts on many machines: one coordinator, any number of workers, and an engine between them.
//!
//! The coordinator owns the campaign. It lends waiting targets as [`Part`]s; a worker explores a part and returns its
//! state; the coordinator takes that back (`Campaign::take_back`). The engine only moves bytes and remembers them. It is
//! behind two traits, [`Board`] for the coordinator and [`Desk`] for workers, so nothing here knows which engine it is.
//!
//! What makes the result that of one machine:
//! - A part is a function of the results before it, in the order in which the engine keeps them. A coordinator that was
//!   killed reads them again from the beginning, and makes the same parts again.
//! - A result names its part by number and digest. The first one that matches a part which is lent counts; all others are
//!   ignored. So it does not matter how often a part is delivered, done, or handed in.
//! - Parts of an earlier [epoch](Part::epoch) are void: the search started again with more points. Of their results, only
//!   the bugs are looked at.
//!
//! The coordinator trusts no result: it checks each one, and reports a bug only after it has replayed the bug itself.
//!
//! Start at [`Part`], then `coordinate` in `coordinator.rs`, then [`Worker`] and the service around it, [`Post::serve`].

mod coordinator;
mod lead;
mod message;
mod service;
mod worker;

pub(crate) use coordinator::Notice;
pub use lead::Fleet;
pub(crate) use lead::Leader;
pub use message::{Announcement, FileRef, Part, PartResult, Reference, Role, Status, WorkerStatus};
pub use service::{Host, Post, Served, machine, plain_name};
pub use worker::{Refusal, Worked, Worker};

use std::path::Path;
use std::time::Duration;

/// Why the engine cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// Nothing answers.
    #[error("cannot reach the engine at {url}: {why}")]
    Unreachable {
        /// Its address.
        url: String,
        /// The reason.
        why: String,
    },
    /// It does not let us in.
    #[error("the engine at {url} refuses these credentials: {why}")]
    Refused {
        /// Its address.
        url: String,
        /// The reason.
        why: String,
    },
    /// The connection cannot be encrypted, or the certificates do not suffice.
    #[error("no encrypted connection to the engine at {url}: {why}")]
    Insecure {
        /// Its address.
        url: String,
        /// The reason.
        why: String,
    },
    /// It cannot keep anything.
    #[error("the engine at {url} has no JetStream")]
    NoStorage {
        /// Its address.
        url: String,
    },
    /// It has no room.
    #[error("the engine has no room left: {0}")]
    Full(String),
    /// There is no such hunt to continue.
    #[error("the engine has no unfinished hunt of this program with these options")]
    NoSuchHunt,
    /// The file is not what its digest says.
    #[error("`{name}` from the engine is damaged: its SHA-256 is not {digest}")]
    Damaged {
        /// The name of the file.
        name: String,
        /// What it should be.
        digest: String,
    },
    /// Anything else.
    #[error("the engine does not answer as expected: {0}")]
    Other(String),
}

impl EngineError {
    /// Returns what to do about it, if there is any advice.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        let help = match self {
            Self::Unreachable { .. } => "start a server with `nats-server -js`, or correct --engine",
            Self::Refused { .. } => "name the file of your credentials with --engine-creds",
            Self::Insecure { .. } => {
                "name the certificate of its authority with --engine-ca, and your own with --engine-cert and --engine-key if it asks \
                 for one"
            }
            Self::NoStorage { .. } => "start the server with `nats-server -js -sd DIRECTORY`",
            Self::Full(_) => {
                "give the server more room (max_file_store), or delete finished hunts: `racehunter status --delete`"
            }
            Self::NoSuchHunt => "hunt without --resume, or with the options of the hunt that was interrupted",
            Self::Damaged { .. } | Self::Other(_) => return None,
        };
        Some(help.to_owned())
    }
}

/// A result as the engine delivers it, not checked yet.
#[derive(Clone, Debug)]
pub struct Delivered {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// The worker that the engine has it from.
    pub worker: String,
}

/// What a coordinator finds when it opens its hunt.
#[derive(Clone, Copy, Debug, Default)]
pub struct Opened {
    /// Executions of a part, at most.
    pub part_runs: u64,
    /// Results that are there from before. They are delivered first.
    pub results: u64,
}

/// Where the parts are that were offered, and how many workers have none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Queue {
    /// Parts that no worker has.
    pub waiting: u64,
    /// Parts that workers have.
    pub taken: u64,
    /// Workers that ask for a part and get none.
    pub idle: u64,
}

impl Queue {
    /// No part waits for a worker, and no worker has one.
    pub(crate) fn has_no_part(self) -> bool {
        self.waiting == 0 && self.taken == 0
    }
}

/// What a worker should do with its part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Call {
    /// Explore it.
    #[default]
    Explore,
    /// Hand in what it has done so far: others have nothing to do.
    HandIn,
    /// Give it back: the worker or the hunt stops.
    GiveBack,
    /// Drop it: the search has started again without it.
    Discard,
}

/// How a hunt ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Its result is final: nothing of it is needed any more.
    Finished,
    /// It can be continued.
    Paused,
}

/// The engine, as the coordinator of one hunt sees it.
pub trait Board {
    /// Publishes a hunt, or finds one with the same identity that is not finished.
    ///
    /// # Errors
    /// If the engine fails, or there is nothing to continue.
    fn open(
        &mut self,
        announcement: &Announcement,
        read: &mut dyn FnMut(&FileRef) -> std::io::Result<Vec<u8>>,
        resume: bool,
    ) -> Result<Opened, EngineError>;

    /// Offers a part to the workers. Parts with the same number are the same.
    ///
    /// # Errors
    /// If the engine fails.
    fn offer(&mut self, number: u64, part: &[u8]) -> Result<(), EngineError>;

    /// Withdraws all parts that no worker has taken.
    ///
    /// # Errors
    /// If the engine fails.
    fn withdraw(&mut self) -> Result<(), EngineError>;

    /// Returns the next result, if one arrives in time. They come in the order in which the engine has them, each at least
    /// once.
    ///
    /// # Errors
    /// If the engine fails.
    fn next(&mut self, patience: Duration) -> Result<Option<Delivered>, EngineError>;

    /// Returns where the parts are that were offered.
    ///
    /// # Errors
    /// If the engine fails.
    fn queue(&mut self) -> Result<Queue, EngineError>;

    /// Makes up for what the engine may have lost: publishes the hunt again, and delivers all results again, from the first
    /// one.
    ///
    /// # Errors
    /// If the engine fails.
    fn restore(&mut self) -> Result<(), EngineError>;

    /// Publishes how far the hunt is. Workers give up parts of earlier epochs.
    ///
    /// # Errors
    /// If the engine fails.
    fn publish(&mut self, status: &Status) -> Result<(), EngineError>;

    /// Ends the hunt.
    ///
    /// # Errors
    /// If the engine fails.
    fn close(&mut self, end: End) -> Result<(), EngineError>;
}

/// The engine, as a worker sees it.
pub trait Desk {
    /// Returns the hunts that have work.
    ///
    /// # Errors
    /// If the engine fails.
    fn hunts(&mut self) -> Result<Vec<Announcement>, EngineError>;

    /// Writes a file of a hunt.
    ///
    /// # Errors
    /// If the engine fails, the file is not what its digest says, or it cannot be written.
    fn fetch(&mut self, file: &FileRef, path: &Path) -> Result<(), EngineError>;

    /// Takes a part of a hunt, if there is one in time.
    ///
    /// # Errors
    /// If the engine fails.
    fn take(&mut self, hunt: &str, patience: Duration) -> Result<Option<Box<dyn Lease>>, EngineError>;

    /// Reports what the worker does.
    ///
    /// # Errors
    /// If the engine fails.
    fn report(&mut self, status: &WorkerStatus) -> Result<(), EngineError>;
}

/// A part that a worker has taken. No other worker gets it as long as the lease is renewed, which the engine does until the
/// lease is dropped.
pub trait Lease {
    /// The bytes of the part.
    fn part(&self) -> &[u8];

    /// Returns what the worker should do with the part, which is of this epoch.
    fn call(&self, epoch: u64) -> Call;

    /// Hands in the result. Returns only when the engine has it.
    ///
    /// # Errors
    /// If the engine fails.
    fn hand_in(self: Box<Self>, result: &[u8]) -> Result<(), EngineError>;

    /// Gives the part back, so that another worker gets it at once.
    fn give_back(self: Box<Self>);

    /// Drops the part: no worker needs to do it.
    fn discard(self: Box<Self>);
}
