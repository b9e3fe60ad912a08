//! The service of a worker: takes part in the hunts of an engine until it is interrupted, or there is no work.

use super::{Announcement, Call, Desk, EngineError, Lease, Part, Refusal, Role, Worked, Worker, WorkerStatus};
use crate::{Clock, Error, Hunt, Setup, Subject};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Time that a worker waits for a part of one hunt before it looks at the next hunt.
const WAIT: Duration = Duration::from_millis(500);
/// Time between two looks for hunts, when there are none.
const LOOK: Duration = Duration::from_millis(500);
/// Time between two reports of a worker to the engine.
const REPORT: Duration = Duration::from_secs(5);

/// Returns the name of this machine.
#[must_use]
pub fn machine() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name = name.trim();
    if name.is_empty() { "machine".to_owned() } else { name.to_owned() }
}

/// Returns a name as subjects of the engine may have it.
#[must_use]
pub fn plain_name(name: &str) -> String {
    let plain = |letter: char| if letter.is_ascii_alphanumeric() || letter == '-' { letter } else { '-' };
    name.chars().map(plain).collect()
}

/// The command that a worker's service is part of: it knows the options of hunts, the machine, and its user.
pub trait Host {
    /// The options of a hunt.
    type Options;

    /// Returns the options of a hunt.
    ///
    /// # Errors
    /// If the announcement has no such options.
    fn options(&self, announcement: &Announcement) -> Result<Self::Options, Refusal>;

    /// Returns how the program of a hunt is run.
    fn setup(&self, options: &Self::Options) -> Setup;

    /// Returns the parameters of a hunt.
    fn hunt<'a>(&'a self, options: &'a Self::Options, program: &'a Path) -> Hunt<'a>;

    /// Returns true if the user wants the worker to stop.
    fn is_interrupted(&self) -> bool;

    /// Says that the worker takes part in a hunt.
    fn joins(&self, announcement: &Announcement);

    /// Says that the worker takes no part in a hunt, and why.
    fn refuses(&self, announcement: &Announcement, why: &str);
}

/// How a service ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Served {
    /// It was interrupted.
    Interrupted,
    /// There was no work for long enough.
    Idle,
}

/// What a service works with.
pub struct Post<'a, H, D> {
    /// The command.
    pub host: &'a H,
    /// The engine.
    pub desk: D,
    /// The name of the worker.
    pub name: String,
    /// The version of RaceHunter. Workers and coordinators of different versions may explore differently.
    pub version: &'a str,
    /// Run only programs with these SHA-256 digests, or beginnings of them.
    pub only_hash: &'a [String],
    /// Directory for the programs.
    pub cache: PathBuf,
    /// End when there was no work for this long.
    pub until_idle: Option<Duration>,
    /// Where libraries are looked for: the environment's `LD_LIBRARY_PATH`.
    pub libraries: Option<OsString>,
    /// The time.
    pub clock: Clock,
    /// Returns the seconds since 1970.
    pub seconds: fn() -> u64,
}

/// A hunt that the worker takes part in.
struct Session<O> {
    options: O,
    worker: Worker,
}

/// The state of the service.
struct Service<'a, H: Host, D> {
    post: Post<'a, H, D>,
    sessions: BTreeMap<String, Session<H::Options>>,
    status: WorkerStatus,
    reported: Option<Instant>,
}

impl<H: Host, D: Desk> Post<'_, H, D> {
    /// Explores parts until the worker is interrupted, or has been idle for long enough.
    ///
    /// # Errors
    /// If the engine fails, or files cannot be written.
    pub fn serve(self) -> Result<Served, Error> {
        let status = WorkerStatus { worker: self.name.clone(), ..WorkerStatus::default() };
        Service { post: self, sessions: BTreeMap::new(), status, reported: None }.run()
    }
}

impl<H: Host, D: Desk> Service<'_, H, D> {
    fn run(&mut self) -> Result<Served, Error> {
        let mut busy = self.post.clock.now();
        let (mut hunts, mut looked) = (Vec::new(), None::<Instant>);
        loop {
            if self.post.host.is_interrupted() {
                return Ok(Served::Interrupted);
            }
            // What was refused is reported even if that took so long that there is no more time.
            self.report()?;
            if self.post.until_idle.is_some_and(|idle| self.post.clock.since(busy) >= idle) {
                return Ok(Served::Idle);
            }
            if looked.is_none_or(|last| self.post.clock.since(last) >= LOOK) {
                hunts = self.post.desk.hunts()?;
                looked = Some(self.post.clock.now());
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
                let began = self.post.clock.now();
                let lease = self.post.desk.take(&announcement.hunt, WAIT)?;
                self.status.taking_us += self.microseconds(began);
                let Some(lease) = lease else { continue };
                self.explore(announcement, lease)?;
                busy = self.post.clock.now();
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

    fn microseconds(&self, since: Instant) -> u64 {
        u64::try_from(self.post.clock.since(since).as_micros()).unwrap_or(u64::MAX)
    }

    /// Reports what this worker does, if a report is due.
    fn report(&mut self) -> Result<(), Error> {
        if self.reported.is_some_and(|last| self.post.clock.since(last) < REPORT) {
            return Ok(());
        }
        self.reported = Some(self.post.clock.now());
        self.status.at = (self.post.seconds)();
        Ok(self.post.desk.report(&self.status)?)
    }

    /// Joins a hunt. False if this worker takes no part in it.
    fn join(&mut self, announcement: &Announcement) -> Result<bool, Error> {
        if self.sessions.contains_key(&announcement.hunt) {
            return Ok(true);
        }
        let opened = match announcement.check(self.post.version, self.post.only_hash) {
            Ok(()) => self.open(announcement)?,
            Err(refusal) => Err(refusal),
        };
        match opened {
            Ok(session) => {
                self.post.host.joins(announcement);
                self.sessions.insert(announcement.hunt.clone(), session);
                self.status.hunt = Some(announcement.hunt.clone());
                Ok(true)
            }
            Err(refusal) => {
                self.refuse(announcement, refusal.to_string());
                Ok(false)
            }
        }
    }

    fn refuse(&mut self, announcement: &Announcement, why: String) {
        self.post.host.refuses(announcement, &why);
        self.status.refused.insert(announcement.hunt.clone(), why);
        self.reported = None;
    }

    /// Fetches the program of a hunt, starts it, and checks that it behaves as it does at the coordinator.
    fn open(&mut self, announcement: &Announcement) -> Result<Result<Session<H::Options>, Refusal>, Error> {
        let Post { host, desk, cache, libraries, .. } = &mut self.post;
        let options = match host.options(announcement) {
            Ok(options) => options,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let directory = cache.join(&announcement.hunt);
        std::fs::create_dir_all(&directory).map_err(Error::file("create", &directory))?;
        let mut subject = Subject {
            path: PathBuf::new(),
            arguments: announcement.arguments.clone(),
            input: None,
            client: None,
            libraries: None,
        };
        for file in &announcement.files {
            let path = directory.join(&file.name);
            match desk.fetch(file, &path) {
                Ok(()) => {}
                // Other hunts may be in order.
                Err(error @ EngineError::Damaged { .. }) => return Ok(Err(Refusal::Damaged(error.to_string()))),
                Err(error) => return Err(error.into()),
            }
            match file.role {
                Role::Program => {
                    let permissions = std::fs::Permissions::from_mode(0o700);
                    std::fs::set_permissions(&path, permissions).map_err(Error::file("make executable", &path))?;
                    subject.path = path;
                }
                Role::Library => subject.libraries = Some(library_path(&directory, libraries.as_deref())),
                Role::Input => subject.input = Some(path),
            }
        }
        let (setup, program) = (host.setup(&options), subject.path.clone());
        let worker = match Worker::open(announcement, subject, setup, &host.hunt(&options, &program)) {
            Ok(Ok(worker)) => worker,
            Ok(Err(refusal)) => return Ok(Err(refusal)),
            // A program that cannot be started here is no reason to end the work for others.
            Err(error) => return Ok(Err(Refusal::Start(error.chain()))),
        };
        Ok(Ok(Session { options, worker }))
    }

    /// Explores one part and hands in what came of it.
    fn explore(&mut self, announcement: &Announcement, lease: Box<dyn Lease>) -> Result<(), Error> {
        let host = self.post.host;
        let Some(session) = self.sessions.get_mut(&announcement.hunt) else { return Ok(()) };
        let Some(part) = Part::decode(lease.part()) else {
            // No worker can use it: the coordinator makes another one when it is restarted.
            return Ok(());
        };
        let mut call = || match host.is_interrupted() {
            true => Call::GiveBack,
            false => lease.call(part.epoch),
        };
        let bytes = lease.part().to_vec();
        let began = self.post.clock.now();
        let hunt = host.hunt(&session.options, Path::new(&announcement.name));
        let worked = session.worker.explore(&hunt, &self.post.name, &bytes, &mut call);
        self.status.exploring_us += self.microseconds(began);
        match worked {
            Ok(Worked::Done(result, executions)) => {
                let began = self.post.clock.now();
                lease.hand_in(&result.encode())?;
                self.status.handing_in_us += self.microseconds(began);
                self.status.parts += 1;
                self.status.executions += executions;
            }
            Ok(Worked::Stopped(Call::Discard)) => lease.discard(),
            Ok(Worked::Stopped(_)) => lease.give_back(),
            Err(error) => {
                lease.give_back();
                self.sessions.remove(&announcement.hunt);
                self.refuse(announcement, error.chain());
            }
        }
        Ok(())
    }
}

/// Returns where libraries are looked for: in this directory, then where they are looked for anyway.
fn library_path(directory: &Path, others: Option<&OsStr>) -> OsString {
    let mut path = directory.as_os_str().to_owned();
    if let Some(others) = others.filter(|others| !others.is_empty()) {
        path.push(":");
        path.push(others);
    }
    path
}
