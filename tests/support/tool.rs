//! Runs the command, and others.

use crate::processes::eventually;
use rustix::process::{Pid, Signal, kill_process};
use std::ffi::OsStr;
use std::io::Read;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How a command ended.
#[derive(Clone, Debug)]
pub struct Ended {
    /// Its exit code; nothing if a signal ended it.
    pub status: Option<i32>,
    /// What it wrote to standard output.
    pub stdout: String,
    /// What it wrote to standard error.
    pub stderr: String,
}

impl Ended {
    /// Fails unless it ended with this status; the message includes its output.
    #[track_caller]
    pub fn expect(self, status: i32) -> Self {
        assert_eq!(self.status, Some(status), "wrong exit code\n{}{}", self.stdout, self.stderr);
        self
    }

    /// Fails unless standard error contains this text.
    #[track_caller]
    pub fn says(self, text: &str) -> Self {
        assert!(self.stderr.contains(text), "standard error does not contain `{text}`:\n{}", self.stderr);
        self
    }
}

/// No command of the tests takes this long; one that does would never end.
const NEVER: Duration = Duration::from_secs(200);

/// Returns the root of the project.
#[must_use]
pub fn root() -> PathBuf {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    here.parent().map_or_else(|| PathBuf::from("."), PathBuf::from)
}

/// Returns the path of the command, or what to do if it is unknown.
pub fn find() -> Result<PathBuf, &'static str> {
    let path = std::env::var_os("RACEHUNTER").ok_or("RACEHUNTER is not set: run through `cargo xtask test`")?;
    // Relative to the root, where cargo was started.
    Ok(root().join(path))
}

/// Returns the path of the command.
#[must_use]
pub fn path() -> PathBuf {
    find().unwrap_or_else(|what| panic!("{what}"))
}

/// Returns `racehunter` with these words, to run at the root of the project in a fixed environment.
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
    Started::new(command).finish()
}

/// A running command. It is killed when this value is dropped.
pub struct Started {
    child: Child,
    name: String,
    stdout: Reader,
    stderr: Reader,
}

impl Started {
    /// Starts a command, with nothing on standard input.
    #[track_caller]
    pub fn new(command: &mut Command) -> Self {
        let name = format!("{command:?}");
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut child = child.unwrap_or_else(|error| panic!("cannot run {name}: {error}"));
        let stdout = Reader::new(child.stdout.take().expect("a pipe was asked for"));
        let stderr = Reader::new(child.stderr.take().expect("a pipe was asked for"));
        Self { child, name, stdout, stderr }
    }

    /// Sends it a signal.
    #[track_caller]
    pub fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw).expect("a process has a number");
        kill_process(pid, signal).expect("the process exists until it is waited for");
    }

    /// Returns true if it has not ended.
    #[track_caller]
    #[must_use]
    pub fn is_running(&mut self) -> bool {
        self.child.try_wait().expect("a child can be waited for").is_none()
    }

    /// Waits until it has written this to standard output.
    #[track_caller]
    pub fn wait_for(&self, text: &str) {
        eventually(&format!("{} never writes `{text}`", self.name), || self.stdout.text().contains(text));
    }

    /// Waits until it has written this to standard error.
    #[track_caller]
    pub fn wait_until_it_says(&self, text: &str) {
        eventually(&format!("{} never says `{text}`", self.name), || self.stderr.text().contains(text));
    }

    /// Waits for its end.
    #[track_caller]
    #[must_use]
    pub fn finish(mut self) -> Ended {
        let began = Instant::now();
        let status = loop {
            match self.child.try_wait().expect("a child can be waited for") {
                Some(status) => break status,
                None if began.elapsed() > NEVER => panic!("{} does not end on its own", self.name),
                None => thread::sleep(Duration::from_millis(5)),
            }
        };
        Ended { status: status.code(), stdout: self.stdout.finish(), stderr: self.stderr.finish() }
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        // An error means that it has already ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads a pipe as fast as it is filled.
struct Reader {
    bytes: Arc<Mutex<Vec<u8>>>,
    thread: Option<JoinHandle<()>>,
}

impl Reader {
    fn new(mut pipe: impl Read + Send + 'static) -> Self {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&bytes);
        let thread = thread::spawn(move || {
            let mut some = [0; 1 << 16];
            while let Ok(count @ 1..) = pipe.read(&mut some) {
                sink.lock().expect("no reader panics").extend_from_slice(&some[..count]);
            }
        });
        Self { bytes, thread: Some(thread) }
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes.lock().expect("no reader panics")).into_owned()
    }

    fn finish(&mut self) -> String {
        if let Some(thread) = self.thread.take() {
            thread.join().expect("no reader panics");
        }
        self.text()
    }
}
