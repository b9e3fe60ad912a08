//! A worker: explores parts of hunts that others have started.

use super::message::sha256;
use super::{Announcement, Call, Part, PartResult, Reference, Role};
use crate::world::readable_variables;
use crate::{Error, Hunt, Hunter, Setup, Subject, digest};
use racehunter_explore::{Budget, Campaign, Points, Progress, Stop};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Why a worker takes no part of a hunt.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// The versions of RaceHunter differ.
    #[error("it was started by RaceHunter {theirs}, and this is {ours}")]
    Version {
        /// Theirs.
        theirs: String,
        /// Ours.
        ours: String,
    },
    /// A library is missing or different.
    #[error("its library `{0}` is another one here")]
    Library(String),
    /// A variable of the environment is missing, additional, or different.
    #[error("the variable `{0}` of the environment, which the program may read, is different here")]
    Variable(String),
    /// The program behaves differently.
    #[error("the program behaves differently here: {theirs} there, {ours} here")]
    Behaviour {
        /// Theirs.
        theirs: String,
        /// Ours.
        ours: String,
    },
    /// Its hash is not one of those that the user wants.
    #[error("its program {0} is not one of those that --only-hash names")]
    NotWanted(String),
    /// The program cannot be started here.
    #[error("its program cannot be run here: {0}")]
    Start(String),
    /// The announcement makes no sense.
    #[error("its announcement is damaged: {0}")]
    Damaged(String),
}

/// What a worker has done with a part.
#[derive(Debug)]
pub enum Worked {
    /// The result, and its executions.
    Done(PartResult, u64),
    /// It was called to do something else with the part.
    Stopped(Call),
}

/// A program that a worker explores.
pub struct Worker {
    hunter: Hunter,
    subject: Subject,
    setup: Setup,
    program: String,
    /// Sites that are points of the executor.
    points: BTreeSet<u32>,
}

impl Worker {
    /// Starts the program of a hunt, and compares its behaviour with that at the coordinator.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn open(
        announcement: &Announcement,
        subject: Subject,
        setup: Setup,
        hunt: &Hunt<'_>,
    ) -> Result<Result<Self, Refusal>, Error> {
        let damaged = || Refusal::Damaged("it names no program".to_owned());
        let Some(program) = announcement.program() else { return Ok(Err(damaged())) };
        let mut hunter = Hunter::open(subject.clone(), setup.clone())?;
        if let Some(library) = hunter.other_library(announcement) {
            return Ok(Err(Refusal::Library(library)));
        }
        let (ours, theirs) = (hunter.reference(hunt)?, &announcement.reference);
        if ours != *theirs {
            let (theirs, ours) = theirs.in_words(&ours);
            return Ok(Err(Refusal::Behaviour { theirs, ours }));
        }
        // It may depend on them in other schedules only.
        if let Some(variable) = hunter.other_variable(announcement, hunt) {
            return Ok(Err(Refusal::Variable(variable)));
        }
        let program = program.digest.clone();
        Ok(Ok(Self { hunter, subject, setup, program, points: BTreeSet::new() }))
    }

    /// Explores a part as long as `call` says so.
    ///
    /// # Errors
    /// If the part cannot be used, or nothing more can be executed.
    pub fn explore(
        &mut self,
        hunt: &Hunt<'_>,
        worker: &str,
        bytes: &[u8],
        call: &mut dyn FnMut() -> Call,
    ) -> Result<Worked, Error> {
        let part = Part::decode(bytes).ok_or(Error::PartDamaged)?;
        if part.program != self.program {
            return Err(Error::PartDamaged);
        }
        let began = self.hunter.clock.now();
        let budget = Budget { runs: Some(part.runs), ..hunt.budget };
        let mut silent = |_: Progress| {};
        let mut campaign = Campaign::new(self.hunter.portfolio(hunt), budget, &mut silent);
        campaign.borrow(&part.state).map_err(|_| Error::PartDamaged)?;
        let sites: BTreeSet<u32> = campaign.points().into_iter().collect();
        if !self.points.is_subset(&sites) {
            // Points cannot be taken away. With more of them than the part knows, it would not see that they are new.
            self.hunter = Hunter::open(self.subject.clone(), self.setup.clone())?;
        }
        if budget.points == Points::All {
            self.hunter.processes.make_all_points();
        }
        let executor = &mut self.hunter.processes;
        campaign.use_points(executor);
        let mut called = Call::Explore;
        let mut should_stop = || {
            called = call();
            called != Call::Explore
        };
        let stop = loop {
            if let Some(stop) = campaign.advance(executor, &mut should_stop) {
                break stop;
            }
        };
        self.points = campaign.points().into_iter().collect();
        match stop {
            Stop::Failed(error) => return Err(error.into()),
            Stop::Asked if called != Call::HandIn => return Ok(Worked::Stopped(called)),
            Stop::Asked | Stop::Exhausted | Stop::Runs | Stop::FirstBug => {}
        }
        let mut state = Vec::new();
        campaign.save(&mut state).map_err(|error| Error::Resume(error.into()))?;
        let (executions, restarted) = (campaign.executions(), campaign.has_restarted());
        let elapsed = self.hunter.clock.since(began);
        let result = PartResult {
            number: part.number,
            part: sha256(bytes),
            program: self.program.clone(),
            worker: worker.to_owned(),
            restarted,
            elapsed_us: u64::try_from(elapsed.as_micros()).unwrap_or(u64::MAX),
            state,
        };
        Ok(Worked::Done(result, executions))
    }
}

impl Hunter {
    /// Returns what the program does when nothing is preempted.
    pub(crate) fn reference(&mut self, hunt: &Hunt<'_>) -> Result<Reference, Error> {
        let first = self.first_execution(hunt)?;
        Ok(first.as_ref().map(Reference::of).unwrap_or_default())
    }

    /// Returns a library of the announcement that is another one here.
    fn other_library(&self, announcement: &Announcement) -> Option<String> {
        let ours = self.libraries();
        let is_other = |(name, identity): &(&String, &String)| {
            ours.iter().any(|(path, ours)| is_named(path, name) && ours != *identity)
        };
        announcement.libraries.iter().find(is_other).map(|(name, _)| name.clone())
    }

    /// Returns a variable of the environment that the program may read, and that is another one here.
    fn other_variable(&self, announcement: &Announcement, hunt: &Hunt<'_>) -> Option<String> {
        let libraries = self.libraries();
        let is_sent = |path: &PathBuf| {
            let is_it = |file: &&super::FileRef| file.role == Role::Library && is_named(path, &file.name);
            announcement.files.iter().any(|file| is_it(&file))
        };
        let sent = libraries.iter().map(|(path, _)| path).filter(|path| is_sent(path));
        let own = std::iter::once(&self.subject.path).chain(sent).map(PathBuf::as_path);
        let ours = readable_variables(&hunt.surroundings, own);
        let theirs = &announcement.environment;
        ours.keys().chain(theirs.keys()).find(|&name| ours.get(name) != theirs.get(name)).cloned()
    }

    /// Returns the libraries that are mapped when the program starts, and their identities.
    pub(crate) fn libraries(&self) -> Vec<(PathBuf, String)> {
        let mappings = self.processes.mappings();
        let mut paths: Vec<PathBuf> = mappings.into_iter().map(|mapping| mapping.path).collect();
        paths.retain(|path| *path != self.subject.path);
        paths.sort();
        paths.dedup();
        let identity = |path: PathBuf| {
            let identity = racehunter_symbols::inspect(&path).ok()?.identity;
            Some((path, identity))
        };
        paths.into_iter().filter_map(identity).collect()
    }
}

fn is_named(path: &std::path::Path, name: &str) -> bool {
    path.file_name().is_some_and(|file| file.to_string_lossy() == name)
}

impl Reference {
    /// What an execution is compared by.
    pub(crate) fn of(execution: &racehunter_explore::Execution) -> Self {
        Self {
            events: execution.events,
            threads: execution.threads,
            outcome: format!("{:?}", execution.outcome),
            output: digest::sha256(&execution.output),
        }
    }

    /// Returns in words how two executions differ.
    fn in_words(&self, other: &Self) -> (String, String) {
        if self.outcome != other.outcome {
            return (self.outcome.clone(), other.outcome.clone());
        }
        if self.threads != other.threads {
            return (format!("{} threads", self.threads), format!("{} threads", other.threads));
        }
        if self.events != other.events {
            return (format!("{} events", self.events), format!("{} events", other.events));
        }
        ("one output".to_owned(), "another output".to_owned())
    }
}

/// Checks that a file name of an announcement is only a name.
pub(super) fn is_plain(name: &str) -> bool {
    !name.is_empty() && name != "." && name != ".." && !name.contains('/') && !name.contains('\0')
}

impl Announcement {
    /// Checks what cannot be left to chance before anything is run.
    ///
    /// # Errors
    /// If this worker should not take part.
    pub fn check(&self, version: &str, only: &[String]) -> Result<(), Refusal> {
        if self.version != version {
            return Err(Refusal::Version { theirs: self.version.clone(), ours: version.to_owned() });
        }
        if let Some(file) = self.files.iter().find(|file| !is_plain(&file.name)) {
            return Err(Refusal::Damaged(format!("`{}` is no file name", file.name.escape_default())));
        }
        let is_digest = |digest: &str| digest.len() == 64 && digest.bytes().all(|byte| byte.is_ascii_hexdigit());
        if let Some(file) = self.files.iter().find(|file| !is_digest(&file.digest)) {
            return Err(Refusal::Damaged(format!("`{}` has no SHA-256", file.name)));
        }
        let programs: Vec<&str> =
            self.files.iter().filter(|file| file.role == Role::Program).map(|file| file.digest.as_str()).collect();
        let [program] = programs[..] else {
            return Err(Refusal::Damaged(format!("it names {} programs", programs.len())));
        };
        if !only.is_empty() && !only.iter().any(|hash| hash.len() >= 8 && program.starts_with(hash.as_str())) {
            return Err(Refusal::NotWanted(program.to_owned()));
        }
        Ok(())
    }
}
