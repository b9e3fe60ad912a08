//! Exit codes and error messages: the one place that maps what happened to what the shell sees.

use std::fmt::Write as _;
use std::process::{ExitCode, ExitStatus};

/// How the command ended. Documented in the user guide, tested end to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Nothing was found, or a replay showed its finding every time.
    Clean,
    /// There are findings, or a replay did not show its finding.
    Findings,
    /// Usage or internal error.
    Error,
    /// Nothing was found, but that is inconclusive; or the hunt was incomplete under `--require-complete`.
    Incomplete,
    /// The program has nothing to explore.
    Nothing,
    /// A signal ended it early.
    Interrupted(Signal),
    /// The status of another program, passed through.
    Status(u8),
}

impl Exit {
    /// Returns the status of another program, passed through.
    pub fn of(status: ExitStatus) -> Self {
        Self::Status(u8::try_from(status.code().unwrap_or(1)).unwrap_or(1))
    }
}

/// The signals with which users and scripts end commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// Ctrl-C.
    Interrupt,
    /// As `kill` and `timeout` do.
    Terminate,
}

impl Signal {
    /// Returns the exit code of a command that the signal ended, as shells report it.
    pub const fn status(self) -> u8 {
        match self {
            Self::Interrupt => 130,
            Self::Terminate => 143,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Clean => 0,
            Exit::Findings => 1,
            Exit::Error => 2,
            Exit::Incomplete => 3,
            Exit::Nothing => 4,
            Exit::Interrupted(signal) => signal.status(),
            Exit::Status(status) => status,
        })
    }
}

/// An error with advice.
#[derive(Debug)]
pub struct Advice {
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub help: String,
}

impl std::fmt::Display for Advice {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.message)
    }
}

impl std::error::Error for Advice {}

/// Returns an error with one line of advice.
pub fn advise(message: impl Into<String>, help: impl Into<String>) -> anyhow::Error {
    Advice { message: message.into(), help: help.into() }.into()
}

/// Returns true if the reader of the results has closed the pipe.
pub fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let is_it = |error: &std::io::Error| error.kind() == std::io::ErrorKind::BrokenPipe;
    error.chain().filter_map(|cause| cause.downcast_ref()).any(is_it)
}

/// Returns the text of an error: the message, then its causes, then what to do.
pub fn render(error: &anyhow::Error) -> String {
    // It may quote output of the program.
    let clean = |text: String| text.lines().map(racehunter_report::clean).collect::<Vec<_>>().join("\n");
    let mut text = format!("error: {}\n", clean(error.to_string()));
    for cause in error.chain().skip(1) {
        let _ = writeln!(text, "  = because: {}", clean(cause.to_string()));
    }
    let advice = error.downcast_ref::<Advice>().map(|advice| advice.help.clone());
    let help = advice.or_else(|| error.downcast_ref::<racehunter_hunter::Error>()?.help());
    if let Some(help) = help {
        let _ = writeln!(text, "  = help: {}", clean(help));
    }
    text
}
