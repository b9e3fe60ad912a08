//! Hunts on many machines.

use super::{BACKENDS, BOUND_KINDS, DETECTORS, LONG_HUNTS, POINTS, name_of};
use clap::Args;
use racehunter_fleet::Access;
use std::path::PathBuf;
use std::time::Duration;

/// How to get into the engine.
#[derive(Args, Clone, Debug)]
pub struct Entry {
    /// Credentials for the engine, as its administrator has issued them
    #[arg(hide_short_help = true, help_heading = LONG_HUNTS, long, value_name = "FILE", requires = "engine")]
    pub engine_creds: Option<PathBuf>,
    /// Certificates of authorities to trust, besides those of the system; for tls://
    #[arg(hide_short_help = true, help_heading = LONG_HUNTS, long, value_name = "FILE", requires = "engine")]
    pub engine_ca: Option<PathBuf>,
    /// Certificate of this client, if the engine asks for one
    #[arg(hide_short_help = true, help_heading = LONG_HUNTS, long, value_name = "FILE", requires = "engine_key")]
    pub engine_cert: Option<PathBuf>,
    /// Key of this client
    #[arg(hide_short_help = true, help_heading = LONG_HUNTS, long, value_name = "FILE", requires = "engine_cert")]
    pub engine_key: Option<PathBuf>,
    /// How long to wait for an engine that does not answer, before giving up
    #[arg(hide_short_help = true, help_heading = LONG_HUNTS, long, value_name = "TIME", default_value = "2m", value_parser = humantime::parse_duration)]
    pub engine_patience: Duration,
    /// How long a part stays with a worker that gives no sign of life
    #[arg(hide_short_help = true, help_heading = LONG_HUNTS, long, value_name = "TIME", default_value = "30s", value_parser = humantime::parse_duration)]
    pub engine_lease: Duration,
}

impl Entry {
    /// Returns how to get into the engine at an address.
    pub fn access(&self, url: &str) -> Access {
        Access {
            url: url.to_owned(),
            credentials: self.engine_creds.clone(),
            authorities: self.engine_ca.clone(),
            certificate: self.engine_cert.clone().zip(self.engine_key.clone()),
            patience: self.engine_patience,
            lease: self.engine_lease.max(Duration::from_millis(500)),
        }
    }
}

/// Arguments of `worker`.
#[derive(Args, Debug)]
pub struct Worker {
    /// The engine: nats://HOST:PORT, or tls://HOST:PORT
    #[arg(long, value_name = "URL")]
    pub engine: String,
    #[command(flatten)]
    pub entry: Entry,
    /// Name of this worker [default: the machine's name and a number]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Run only programs with these SHA-256 digests, or beginnings of them (at least 8 digits)
    #[arg(long, value_name = "HASH", value_delimiter = ',')]
    pub only_hash: Vec<String>,
    /// Executions at the same time [default: number of processors]
    #[arg(long, short, value_name = "N")]
    pub jobs: Option<usize>,
    /// End when there was no work for this long [default: wait for ever]
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    pub until_idle: Option<Duration>,
    /// Directory for the programs [default: a temporary one]
    #[arg(long, value_name = "DIR")]
    pub cache: Option<PathBuf>,
    /// Print no progress
    #[arg(long, short)]
    pub quiet: bool,
}

/// Arguments of `status`.
#[derive(Args, Debug)]
pub struct Status {
    /// The engine: nats://HOST:PORT, or tls://HOST:PORT
    #[arg(long, value_name = "URL")]
    pub engine: String,
    #[command(flatten)]
    pub entry: Entry,
    /// Output format: human or json
    #[arg(long, value_name = "FORMAT", default_value = "human", value_parser = ["human", "json"])]
    pub message_format: String,
    /// Delete a hunt, with everything that the engine has of it
    #[arg(long, value_name = "HUNT")]
    pub delete: Option<String>,
}

impl super::Hunt {
    /// Returns the options from which a worker makes the same analyses, as words of a command line.
    pub fn words_for_workers(&self) -> Vec<String> {
        let mut words = vec![
            format!("--analysis={}", self.analysis.name()),
            format!("--bound={}", self.bound),
            format!("--bound-kind={}", name_of(BOUND_KINDS, &self.bound_kind)),
            format!("--variables={}", self.variables),
            format!("--confidence={}", self.confidence),
            format!("--depth={}", self.depth),
            format!("--strategy={}", self.strategy),
            format!("--points={}", name_of(POINTS, &self.points)),
            format!("--detector={}", name_of(DETECTORS, &self.detector())),
            format!("--allow-exit-status={}", self.allow_exit_status),
            format!("--seed={}", self.seed),
            format!("--timeout={}", humantime::format_duration(self.timeout())),
            format!("--memory={}", self.memory),
            format!("--backend={}", name_of(BACKENDS, &self.backend)),
            format!("--preparatory={}", self.preparatory),
        ];
        words.extend(self.threads.map(|threads| format!("--threads={threads}")));
        words.extend(self.iterations.map(|iterations| format!("--iterations={iterations}")));
        words.extend(self.reduction.map(|reduction| format!("--reduction={reduction}")));
        let flags = [
            ("--no-iterate", self.no_iterate),
            ("--whole-objects", self.whole_objects),
            ("--selective", self.selective),
            ("--no-spurious", self.no_spurious),
            ("--check-output", self.check_output),
            ("--stop-on-first", self.stop_on_first),
            ("--shared-network", self.world.shared_network),
        ];
        words.extend(flags.into_iter().filter(|(_, is_set)| *is_set).map(|(flag, _)| flag.to_owned()));
        words
    }
}
