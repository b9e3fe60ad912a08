//! How a hunt on many machines begins: the pilot on the coordinator, the announcement, the files.

use super::coordinator::{Coordinator, Notice, Pilot};
use super::message::sha256;
use super::{Announcement, Board, FileRef, Reference, Role};
use crate::world::readable_variables;
use crate::{Clock, Error, Hunt, Hunter, digest, files};
use racehunter_explore::{Budget, Campaign, Execution, Executor, Portfolio, Stop};
use std::path::Path;
use std::time::Duration;

/// The fleet of a hunt.
pub struct Fleet<'a> {
    /// Its engine.
    pub board: &'a mut dyn Board,
    /// The version of RaceHunter.
    pub version: String,
    /// Who starts the hunt, and where.
    pub owner: String,
    /// The options of the hunt, as on its command line.
    pub words: Vec<String>,
    /// Executions of a part, at most, if the user says so.
    pub part_runs: Option<u64>,
}

/// Time that a part should take. The engine costs a few milliseconds for each.
const PART: Duration = Duration::from_secs(4);
/// Executions of a part.
const PART_RUNS: std::ops::RangeInclusive<u64> = 16..=200_000;

/// Leads a hunt on many machines.
pub(crate) struct Leader<'a> {
    pub announcement: Announcement,
    pub clock: &'a Clock,
    pub resume: bool,
    pub budget: Budget,
    pub portfolio: &'a dyn Fn() -> Portfolio,
}

impl Leader<'_> {
    /// Explores alone at first, then with workers. Returns why it ended.
    pub(crate) fn run(
        mut self,
        campaign: &mut Campaign<'_>,
        fleet: &mut Fleet<'_>,
        executor: &mut dyn Executor,
        should_stop: &mut dyn FnMut() -> bool,
        notice: &mut dyn FnMut(Notice<'_>),
    ) -> Result<Stop, Error> {
        let began = self.clock.now();
        while !Pilot::is_over(campaign) {
            if let Some(stop) = campaign.advance(executor, should_stop) {
                return Ok(stop);
            }
        }
        let each = self.clock.since(began) / u32::try_from(campaign.executions().max(1)).unwrap_or(u32::MAX);
        let runs = PART.as_micros() / each.as_micros().max(1);
        let runs = u64::try_from(runs).unwrap_or(u64::MAX).clamp(*PART_RUNS.start(), *PART_RUNS.end());
        self.announcement.part_runs = fleet.part_runs.unwrap_or(runs);
        let mut read = |file: &FileRef| std::fs::read(&file.path);
        let opened = fleet.board.open(&self.announcement, &mut read, self.resume)?;
        let program = self.announcement.program().map(|file| file.digest.clone()).unwrap_or_default();
        let runs = (opened.part_runs, opened.results);
        let time = (self.clock.clone(), began);
        let mut coordinator =
            Coordinator::new(&mut *fleet.board, program, runs, time, self.budget, self.portfolio, notice);
        Ok(coordinator.run(campaign, executor, should_stop)?)
    }
}

impl Hunter {
    /// Returns the announcement of a hunt.
    pub(crate) fn announcement(
        &self,
        hunt: &Hunt<'_>,
        fleet: &Fleet<'_>,
        first: Option<&Execution>,
    ) -> Result<Announcement, Error> {
        let subject = self.subject();
        let mut files = vec![file_ref(&subject.path, Role::Program)?];
        files.extend(subject.input.as_deref().map(|input| file_ref(input, Role::Input)).transpose()?);
        let mut libraries = std::collections::BTreeMap::new();
        for (path, identity) in self.libraries() {
            if is_instrumented(&path) {
                files.push(file_ref(&path, Role::Library)?);
            } else {
                libraries.insert(name(&path), identity);
            }
        }
        let own = files.iter().filter(|file| file.role != Role::Input).map(|file| file.path.as_path());
        let environment = readable_variables(&hunt.surroundings, own);
        let count = [subject.arguments.len() as u64, files.len() as u64].map(u64::to_le_bytes);
        let digests = files.iter().map(|file| file.digest.as_bytes());
        let words = subject.arguments.iter().chain(&hunt.settings).map(String::as_bytes);
        let identity = digest::number(count.iter().map(|count| &count[..]).chain(digests).chain(words));
        Ok(Announcement {
            hunt: String::new(),
            identity: format!("{identity:016x}"),
            version: fleet.version.clone(),
            owner: fleet.owner.clone(),
            name: name(hunt.name),
            words: fleet.words.clone(),
            arguments: subject.arguments.clone(),
            files,
            libraries,
            environment,
            reference: first.map(Reference::of).unwrap_or_default(),
            part_runs: 0,
        })
    }
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn file_ref(path: &Path, role: Role) -> Result<FileRef, Error> {
    let bytes = files::read(path).map_err(Error::file("read", path))?;
    let (digest, size) = (sha256(&bytes), bytes.len() as u64);
    Ok(FileRef { name: name(path), role, digest, size, path: path.to_path_buf() })
}

/// Returns true if a library has code that was compiled for RaceHunter: the section of its sites says so.
fn is_instrumented(path: &Path) -> bool {
    std::fs::read(path).is_ok_and(|bytes| memchr::memmem::find(&bytes, b"rh_sites").is_some())
}
