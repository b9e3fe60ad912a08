//! `racehunter worker`, `racehunter status`, and `racehunter hunt --engine`.

use crate::arguments::{Arguments, Command, Hunt, Status, Worker};
use crate::exit::Exit;
use crate::hunt;
use crate::interrupts::Interrupts;
use anyhow::{Context as _, Result};
use clap::Parser as _;
use racehunter_fleet::{Engine, NatsBoard, NatsDesk};
use racehunter_hunter::fleet::{
    Announcement, Call, Desk as _, EngineError, Fleet, Lease, Part, Refusal, Role, Worked, Worker as Explorer,
    WorkerStatus,
};
use racehunter_hunter::{Error, Subject, Suppressions, jobs};
use racehunter_report::fleet as words;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Workers and coordinators of different versions may explore differently.
const VERSION: &str = env!("CARGO_PKG_VERSION");
/// Time that a worker waits for a part of one hunt before it looks at the next hunt.
const WAIT: Duration = Duration::from_millis(500);
/// Time between two looks for hunts, when there are none.
const LOOK: Duration = Duration::from_millis(500);
/// Time between two reports of a worker to the engine.
const REPORT: Duration = Duration::from_secs(5);

/// Connects to the engine of a hunt, if it has one.
pub fn board(arguments: &Hunt) -> Result<Option<NatsBoard>> {
    let Some(url) = &arguments.engine else { return Ok(None) };
    let engine = Engine::connect(arguments.entry.access(url)).map_err(Error::from)?;
    Ok(Some(NatsBoard::new(engine)))
}

/// Returns the fleet of a hunt.
pub fn fleet<'a>(arguments: &Hunt, board: &'a mut NatsBoard) -> Fleet<'a> {
    let user =
        std::env::var("USER").or_else(|_| std::env::var("LOGNAME")).unwrap_or_else(|_| "an unnamed user".to_owned());
    Fleet {
        board,
        version: VERSION.to_owned(),
        owner: format!("{user}@{}", machine()),
        words: arguments.words_for_workers(),
        part_runs: arguments.part_runs,
    }
}

/// Returns the name of this machine.
fn machine() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name = name.trim();
    if name.is_empty() { "machine".to_owned() } else { name.to_owned() }
}

/// A hunt that this worker takes part in.
struct Session {
    arguments: Hunt,
    explorer: Explorer,
}

/// The state of `racehunter worker`.
struct Work<'a> {
    arguments: &'a Worker,
    interrupts: Interrupts,
    name: String,
    desk: NatsDesk,
    cache: PathBuf,
    sessions: BTreeMap<String, Session>,
    status: WorkerStatus,
    reported: Option<Instant>,
    suppressions: Suppressions,
}

/// `racehunter worker`: explores parts until it is interrupted or has been idle for long enough.
pub fn work(arguments: &Worker) -> Result<Exit> {
    let interrupts = Interrupts::catch()?;
    let access = arguments.entry.access(&arguments.engine);
    let address = access.shown();
    let engine = Engine::connect(access).map_err(Error::from)?;
    let name = plain(&arguments.name.clone().unwrap_or_else(|| format!("{}-{}", machine(), std::process::id())));
    let temporary = tempfile::tempdir().context("cannot create a temporary directory")?;
    let cache = arguments.cache.clone().unwrap_or_else(|| temporary.path().to_path_buf());
    let desk = NatsDesk::new(engine, name.clone());
    let status = WorkerStatus { worker: name.clone(), ..WorkerStatus::default() };
    if !arguments.quiet {
        eprintln!("{}", words::worker_begins(&name, &address, &arguments.only_hash));
    }
    let sessions = BTreeMap::new();
    let suppressions = Suppressions::default();
    let mut work = Work { arguments, interrupts, name, desk, cache, sessions, status, reported: None, suppressions };
    work.run()
}

/// Returns a name as subjects of the engine may have it.
fn plain(name: &str) -> String {
    let plain = |letter: char| if letter.is_ascii_alphanumeric() || letter == '-' { letter } else { '-' };
    name.chars().map(plain).collect()
}

impl Work<'_> {
    fn run(&mut self) -> Result<Exit> {
        let mut busy = Instant::now();
        let (mut hunts, mut looked) = (Vec::new(), None::<Instant>);
        loop {
            if let Some(signal) = self.interrupts.signal() {
                return Ok(Exit::Interrupted(signal));
            }
            if self.arguments.until_idle.is_some_and(|idle| busy.elapsed() >= idle) {
                return Ok(Exit::Clean);
            }
            self.report()?;
            if looked.is_none_or(|last| last.elapsed() >= LOOK) {
                hunts = self.desk.hunts().map_err(Error::from)?;
                looked = Some(Instant::now());
                self.sessions.retain(|hunt, _| hunts.iter().any(|announcement| announcement.hunt == *hunt));
            }
            let mut waits = hunts.is_empty();
            let mut works = false;
            for announcement in &hunts {
                if self.status.refused.contains_key(&announcement.hunt) {
                    waits = true;
                    continue;
                }
                if !self.join(announcement)? {
                    continue;
                }
                let began = Instant::now();
                let lease = self.desk.take(&announcement.hunt, WAIT).map_err(Error::from)?;
                self.status.taking_us += microseconds(began);
                let Some(lease) = lease else { continue };
                self.explore(announcement, lease)?;
                busy = Instant::now();
                works = true;
            }
            if !works {
                // Perhaps there are other hunts by now, or these are over.
                looked = None;
            }
            if waits {
                std::thread::sleep(LOOK);
            }
        }
    }

    /// Reports what this worker does, if a report is due.
    fn report(&mut self) -> Result<()> {
        if self.reported.is_some_and(|last| last.elapsed() < REPORT) {
            return Ok(());
        }
        self.reported = Some(Instant::now());
        self.status.at = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        Ok(self.desk.report(&self.status).map_err(Error::from)?)
    }

    /// Joins a hunt. False if this worker takes no part in it.
    fn join(&mut self, announcement: &Announcement) -> Result<bool> {
        if self.sessions.contains_key(&announcement.hunt) {
            return Ok(true);
        }
        let opened = match announcement.check(VERSION, &self.arguments.only_hash) {
            Ok(()) => self.open(announcement)?,
            Err(refusal) => Err(refusal),
        };
        let (hunt, name) = (announcement.hunt.clone(), &announcement.name);
        match opened {
            Ok(session) => {
                if !self.arguments.quiet {
                    let program = announcement.program().map(|file| file.digest.as_str()).unwrap_or_default();
                    eprintln!("{}", words::joins(&hunt, name, &announcement.owner, program));
                }
                self.sessions.insert(hunt.clone(), session);
                self.status.hunt = Some(hunt);
                Ok(true)
            }
            Err(refusal) => {
                eprintln!("{}", words::refuses(&hunt, name, &announcement.owner, &refusal.to_string()));
                self.status.refused.insert(hunt, refusal.to_string());
                self.reported = None;
                Ok(false)
            }
        }
    }

    /// Fetches the program of a hunt, starts it, and checks that it behaves as it does at the coordinator.
    fn open(&mut self, announcement: &Announcement) -> Result<Result<Session, Refusal>> {
        let damaged =
            |error: clap::Error| Refusal::Damaged(error.to_string().lines().next().unwrap_or_default().to_owned());
        let words = ["racehunter".to_owned(), "hunt".to_owned()].into_iter().chain(announcement.words.clone());
        let words = words.chain([announcement.name.clone()]);
        let arguments = match Arguments::try_parse_from(words).map(|arguments| arguments.command) {
            Ok(Command::Hunt(arguments)) => arguments,
            Ok(_) => return Ok(Err(Refusal::Damaged("its options are not those of a hunt".to_owned()))),
            Err(error) => return Ok(Err(damaged(error))),
        };
        let directory = self.cache.join(&announcement.hunt);
        std::fs::create_dir_all(&directory).context("cannot create the directory of a program")?;
        let mut subject = Subject {
            path: PathBuf::new(),
            arguments: announcement.arguments.clone(),
            input: None,
            client: None,
            libraries: None,
        };
        for file in &announcement.files {
            let path = directory.join(&file.name);
            match self.desk.fetch(file, &path) {
                Ok(()) => {}
                // Other hunts may be in order.
                Err(error @ EngineError::Damaged { .. }) => return Ok(Err(Refusal::Damaged(error.to_string()))),
                Err(error) => return Err(Error::from(error).into()),
            }
            match file.role {
                Role::Program => {
                    make_executable(&path)?;
                    subject.path = path;
                }
                Role::Library => subject.libraries = Some(library_path(&directory)),
                Role::Input => subject.input = Some(path),
            }
        }
        let setup = hunt::setup(&arguments, jobs(self.arguments.jobs), &self.interrupts);
        let named = subject.path.clone();
        let settings = hunt::settings(&arguments, &named, Instant::now(), &self.suppressions);
        let explorer = match Explorer::open(announcement, subject, setup, &settings) {
            Ok(Ok(explorer)) => explorer,
            Ok(Err(refusal)) => return Ok(Err(refusal)),
            // A program that cannot be started here is no reason to end the work for others.
            Err(error) => return Ok(Err(Refusal::Start(error.chain()))),
        };
        Ok(Ok(Session { arguments: *arguments, explorer }))
    }

    /// Explores one part and hands in what came of it.
    fn explore(&mut self, announcement: &Announcement, lease: Box<dyn Lease>) -> Result<()> {
        let Some(session) = self.sessions.get_mut(&announcement.hunt) else { return Ok(()) };
        let Some(part) = Part::decode(lease.part()) else {
            // No worker can use it: the coordinator makes another one when it is restarted.
            return Ok(());
        };
        let named = PathBuf::from(&announcement.name);
        let settings = hunt::settings(&session.arguments, &named, Instant::now(), &self.suppressions);
        let mut call = || match self.interrupts.signal() {
            Some(_) => Call::GiveBack,
            None => lease.call(part.epoch),
        };
        let bytes = lease.part().to_vec();
        let began = Instant::now();
        let worked = session.explorer.explore(&settings, &self.name, &bytes, &mut call);
        self.status.exploring_us += microseconds(began);
        match worked {
            Ok(Worked::Done(result, executions)) => {
                let began = Instant::now();
                lease.hand_in(&result.encode()).map_err(Error::from)?;
                self.status.handing_in_us += microseconds(began);
                self.status.parts += 1;
                self.status.executions += executions;
            }
            Ok(Worked::Stopped(Call::Discard)) => lease.discard(),
            Ok(Worked::Stopped(_)) => lease.give_back(),
            Err(error) => {
                lease.give_back();
                self.sessions.remove(&announcement.hunt);
                self.status.refused.insert(announcement.hunt.clone(), error.chain());
                self.reported = None;
                eprintln!(
                    "{}",
                    words::refuses(&announcement.hunt, &announcement.name, &announcement.owner, &error.chain())
                );
            }
        }
        Ok(())
    }
}

fn microseconds(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_micros()).unwrap_or(u64::MAX)
}

/// Returns where libraries are looked for: in this directory, then where they are looked for anyway.
fn library_path(directory: &Path) -> OsString {
    let mut path = directory.as_os_str().to_owned();
    if let Some(others) = std::env::var_os("LD_LIBRARY_PATH").filter(|others| !others.is_empty()) {
        path.push(":");
        path.push(others);
    }
    path
}

fn make_executable(path: &Path) -> Result<()> {
    let permissions = std::fs::Permissions::from_mode(0o700);
    std::fs::set_permissions(path, permissions).context("cannot make a program executable")
}

/// `racehunter status`: the hunts and workers of an engine.
pub fn status(arguments: &Status) -> Result<Exit> {
    let engine = Engine::connect(arguments.entry.access(&arguments.engine)).map_err(Error::from)?;
    let mut out = std::io::stdout().lock();
    if let Some(hunt) = &arguments.delete {
        engine.delete(hunt).map_err(Error::from)?;
    }
    let survey = engine.survey().map_err(Error::from)?;
    if arguments.is_json() {
        for line in survey.json_lines() {
            writeln!(out, "{line}").context("cannot write")?;
        }
        return Ok(Exit::Clean);
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let hunts: Vec<words::HuntLine> = survey.hunts.iter().map(|hunt| hunt_line(hunt, now)).collect();
    let workers: Vec<words::WorkerLine> = survey.workers.iter().map(|worker| worker_line(worker, now)).collect();
    out.write_all(words::status(&hunts, &workers).as_bytes()).context("cannot write")?;
    Ok(Exit::Clean)
}

fn hunt_line(hunt: &racehunter_fleet::HuntSurvey, now: u64) -> words::HuntLine {
    let status = &hunt.status;
    words::HuntLine {
        hunt: hunt.hunt.clone(),
        name: hunt.name.clone(),
        owner: hunt.owner.clone(),
        state: status.state.clone(),
        silent_s: if status.state == "exploring" { now.saturating_sub(status.at) } else { 0 },
        done: status.parts_done,
        running: hunt.parts_running,
        waiting: hunt.parts_waiting,
        targets: status.waiting,
        executions: status.executions,
        rate: if status.elapsed_s > 0.0 { status.executions as f64 / status.elapsed_s } else { 0.0 },
        findings: status.findings,
        shut_out: status.shut_out.clone(),
    }
}

fn worker_line(worker: &WorkerStatus, now: u64) -> words::WorkerLine {
    words::WorkerLine {
        worker: worker.worker.clone(),
        hunt: worker.hunt.clone(),
        parts: worker.parts,
        executions: worker.executions,
        silent_s: now.saturating_sub(worker.at),
        refused: worker.refused.clone(),
    }
}
