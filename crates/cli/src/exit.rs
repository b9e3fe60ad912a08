//! Exit codes and error messages: the one place that maps what happened to what the shell sees.

use racehunter_hunter::Signal;
use racehunter_report::notes;
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

/// Returns true if the reader of the results has closed the pipe.
pub fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let is_it = |error: &std::io::Error| error.kind() == std::io::ErrorKind::BrokenPipe;
    error.chain().filter_map(|cause| cause.downcast_ref()).any(is_it)
}

/// Returns the text of an error: the message, then its causes, then what to do.
pub fn render(error: &anyhow::Error) -> String {
    let causes: Vec<String> = error.chain().skip(1).map(ToString::to_string).collect();
    let help = error.downcast_ref::<racehunter_hunter::Error>().and_then(racehunter_hunter::Error::help);
    notes::error(&error.to_string(), &causes, help.as_deref())
}
