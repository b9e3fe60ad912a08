//! Running the command, and others.

use std::ffi::OsStr;
use std::io::Read;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// How a command ended.
#[derive(Clone, Debug)]
pub struct Ended {
    /// Its exit code; nothing when a signal ended it.
    pub status: Option<i32>,
    /// What it wrote to standard output.
    pub stdout: String,
    /// What it wrote to standard error.
    pub stderr: String,
}

impl Ended {
    /// Fails unless it ended with this status; the message has what it wrote.
    #[track_caller]
    pub fn expect(self, status: i32) -> Self {
        assert_eq!(self.status, Some(status), "wrong exit code\n{}{}", self.stdout, self.stderr);
        self
    }

    /// Fails unless standard error has this text.
    #[track_caller]
    pub fn says(self, text: &str) -> Self {
        assert!(self.stderr.contains(text), "it should say `{text}`, but says:\n{}", self.stderr);
        self
    }
}

/// No command of the tests takes so long; one that does would never end.
const NEVER: Duration = Duration::from_secs(240);

/// The root of the project.
#[must_use]
pub fn root() -> PathBuf {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    here.parent().map_or_else(|| PathBuf::from("."), PathBuf::from)
}

/// The path of the command, or what to do when it is not known.
pub fn find() -> Result<PathBuf, &'static str> {
    let path = std::env::var_os("RACEHUNTER").ok_or("RACEHUNTER is not set: run through `cargo xtask test`")?;
    // Relative to where cargo was started, which is the root.
    Ok(root().join(path))
}

/// The path of the command.
#[must_use]
pub fn path() -> PathBuf {
    find().unwrap_or_else(|what| panic!("{what}"))
}

/// `racehunter` with these words, to be run at the root of the project in an environment that is always the same.
pub fn racehunter<W: AsRef<OsStr>>(words: impl IntoIterator<Item = W>) -> Command {
    let mut command = Command::new(path());
    command.args(words).current_dir(root());
    for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "RUST_BACKTRACE", "RUST_LOG"] {
        command.env_remove(name);
    }
    command.env("COLUMNS", "80");
    command
}

/// Runs a command to its end, with nothing on standard input.
#[track_caller]
pub fn run(command: &mut Command) -> Ended {
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let child = child.unwrap_or_else(|error| panic!("cannot run {command:?}: {error}"));
    let name = format!("{command:?}");
    finish(child, &name)
}

/// Waits for the end of a command that was started with pipes.
#[track_caller]
pub fn finish(mut child: Child, name: &str) -> Ended {
    let stdout = child.stdout.take().map(|pipe| thread::spawn(move || read(pipe)));
    let stderr = child.stderr.take().map(|pipe| thread::spawn(move || read(pipe)));
    let began = Instant::now();
    let status = loop {
        match child.try_wait().expect("a child can be waited for") {
            Some(status) => break status,
            None if began.elapsed() > NEVER => {
                let _ = child.kill();
                let _ = child.wait();
                panic!("{name} does not end by itself");
            }
            None => thread::sleep(Duration::from_millis(5)),
        }
    };
    let text = |reader: Option<thread::JoinHandle<String>>| {
        reader.map_or_else(String::new, |reader| reader.join().expect("the reader does not panic"))
    };
    Ended { status: status.code(), stdout: text(stdout), stderr: text(stderr) }
}

fn read(mut pipe: impl Read) -> String {
    let mut bytes = Vec::new();
    // What came before an error still tells something.
    let _ = pipe.read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}
