//! `racehunter worker`, `racehunter status`, and `racehunter hunt --engine`.

use crate::arguments::{Arguments, Command, Hunt, Status, Worker};
use crate::exit::Exit;
use crate::hunt;
use anyhow::{Context as _, Result};
use clap::Parser as _;
use racehunter_fleet::{Engine, NatsBoard, NatsDesk};
use racehunter_hunter::fleet::{Announcement, Fleet, Host, Post, Refusal, Served, machine, plain_name};
use racehunter_hunter::{Clock, Error, Hunt as Settings, Interrupts, Setup, Suppressions, jobs};
use racehunter_report::{Format, fleet as words};
use std::io::Write as _;
use std::path::Path;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// Workers and coordinators of different versions may explore differently.
const VERSION: &str = env!("CARGO_PKG_VERSION");

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

/// `racehunter worker`, as its service sees it.
struct Service<'a> {
    arguments: &'a Worker,
    interrupts: Interrupts,
    suppressions: Suppressions,
}

/// `racehunter worker`: explores parts until it is interrupted or has been idle for long enough.
pub fn work(arguments: &Worker) -> Result<Exit> {
    let interrupts = Interrupts::catch()?;
    let access = arguments.entry.access(&arguments.engine);
    let address = access.shown();
    let engine = Engine::connect(access).map_err(Error::from)?;
    let name = plain_name(&arguments.name.clone().unwrap_or_else(|| format!("{}-{}", machine(), std::process::id())));
    let temporary = tempfile::tempdir().context("cannot create a temporary directory")?;
    if !arguments.quiet {
        eprintln!("{}", words::worker_begins(&name, &address, &arguments.only_hash));
    }
    let host = Service { arguments, interrupts, suppressions: Suppressions::default() };
    let post = Post {
        host: &host,
        desk: NatsDesk::new(engine, name.clone()),
        name,
        version: VERSION,
        only_hash: &arguments.only_hash,
        cache: arguments.cache.clone().unwrap_or_else(|| temporary.path().to_path_buf()),
        until_idle: arguments.until_idle,
        libraries: std::env::var_os("LD_LIBRARY_PATH"),
        clock: Clock::new(Instant::now),
        seconds,
    };
    Ok(match (post.serve()?, host.interrupts.signal()) {
        (Served::Interrupted, Some(signal)) => Exit::Interrupted(signal),
        _ => Exit::Clean,
    })
}

impl Host for Service<'_> {
    type Options = Hunt;

    fn options(&self, announcement: &Announcement) -> Result<Hunt, Refusal> {
        let words = ["racehunter".to_owned(), "hunt".to_owned()].into_iter().chain(announcement.words.clone());
        let words = words.chain([announcement.name.clone()]);
        match Arguments::try_parse_from(words).map(|arguments| arguments.command) {
            Ok(Command::Hunt(arguments)) => Ok(*arguments),
            Ok(_) => Err(Refusal::Damaged("its options are not those of a hunt".to_owned())),
            Err(error) => Err(Refusal::Damaged(error.to_string().lines().next().unwrap_or_default().to_owned())),
        }
    }

    fn setup(&self, options: &Hunt) -> Setup {
        hunt::setup(options, jobs(self.arguments.jobs), &self.interrupts)
    }

    fn hunt<'a>(&'a self, options: &'a Hunt, program: &'a Path) -> Settings<'a> {
        hunt::settings(options, program, Instant::now(), &self.suppressions)
    }

    fn is_interrupted(&self) -> bool {
        self.interrupts.signal().is_some()
    }

    fn joins(&self, announcement: &Announcement) {
        if !self.arguments.quiet {
            let program = announcement.program().map(|file| file.digest.as_str()).unwrap_or_default();
            eprintln!("{}", words::joins(&announcement.hunt, &announcement.name, &announcement.owner, program));
        }
    }

    fn refuses(&self, Announcement { hunt, name, owner, .. }: &Announcement, why: &str) {
        eprintln!("{}", words::refuses(hunt, name, owner, why));
    }
}

/// Returns the seconds since 1970.
fn seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// `racehunter status`: the hunts and workers of an engine.
pub fn status(arguments: &Status) -> Result<Exit> {
    let engine = Engine::connect(arguments.entry.access(&arguments.engine)).map_err(Error::from)?;
    let mut out = std::io::stdout().lock();
    if let Some(hunt) = &arguments.delete {
        engine.delete(hunt).map_err(Error::from)?;
    }
    let survey = engine.survey().map_err(Error::from)?;
    if arguments.message_format == Format::Json.name() {
        for line in survey.json_lines() {
            writeln!(out, "{line}").context("cannot write")?;
        }
        return Ok(Exit::Clean);
    }
    let (hunts, workers) = survey.lines(seconds());
    out.write_all(words::status(&hunts, &workers).as_bytes()).context("cannot write")?;
    Ok(Exit::Clean)
}
