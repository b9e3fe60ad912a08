//! Errors, and what to do about them.

use crate::fleet::EngineError;
use racehunter_analyses::Technique;
use racehunter_compile::CompileError;
use racehunter_explore::{ExecutorError, Unusable};
use racehunter_ir::IrError;
use racehunter_launch::LaunchError;
use racehunter_symbols::SymbolsError;
use std::io;
use std::path::{Path, PathBuf};

/// Why something failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file or directory could not be used.
    #[error("cannot {action} `{}`", path.display())]
    File {
        /// The operation: `read`, `write`, `create`.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// The default directory belongs to another user.
    #[error("`{}` {what}, and is not used", path.display())]
    Untrusted {
        /// The directory.
        path: PathBuf,
        /// What is wrong with it.
        what: &'static str,
    },
    /// A directory is a symbolic link.
    #[error("`{}` is a symbolic link, and nothing is written there", .0.display())]
    LinkedDirectory(PathBuf),
    /// A file to be written is a symbolic link.
    #[error("`{}` is a symbolic link, and nothing is written through one", .0.display())]
    LinkedFile(PathBuf),
    /// A file does not have the format that its name suggests.
    #[error("`{}` is not a {what}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What it should be.
        what: &'static str,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// A finding of another version.
    #[error("`{}` was written by another version of RaceHunter", .0.display())]
    FindingVersion(PathBuf),
    /// A campaign of another version.
    #[error("`{}` was written by another version of RaceHunter", .0.display())]
    CampaignVersion(PathBuf),
    /// A finding under the name of another one.
    #[error("`{}` is the finding `{id}`", path.display())]
    OtherFinding {
        /// The file.
        path: PathBuf,
        /// The id in it.
        id: String,
    },
    /// There is no directory of findings.
    #[error("there are no findings in `{}`", out.display())]
    NoFindings {
        /// Where they were looked for.
        out: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// No finding has an id that begins like this.
    #[error("there is no finding `{id}` in `{}`", out.display())]
    NoSuchFinding {
        /// The beginning of the id.
        id: String,
        /// Where it was looked for.
        out: PathBuf,
    },
    /// Several findings have ids that begin like this.
    #[error("`{id}` can be {}", ids.join(" or "))]
    Ambiguous {
        /// The beginning of the id.
        id: String,
        /// The ids.
        ids: Vec<String>,
    },
    /// There is no directory of campaigns.
    #[error("there are no campaigns in `{}`", out.display())]
    NoCampaigns {
        /// Where they were looked for.
        out: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// The directory of campaigns is empty.
    #[error("there are no campaigns in `{}`", .0.display())]
    EmptyCampaigns(PathBuf),
    /// There is no last campaign to resume.
    #[error("there is no campaign in `{}`", .0.display())]
    NoLastCampaign(PathBuf),
    /// There is no such campaign to resume.
    #[error("there is no campaign of `{}` with these options in `{}`", program.display(), path.display())]
    NoSuchCampaign {
        /// The program.
        program: PathBuf,
        /// The file that it would have.
        path: PathBuf,
    },
    /// The program of a campaign was rebuilt.
    #[error("`{}` is not the program that the campaign began with", .0.display())]
    CampaignRebuilt(PathBuf),
    /// The program of a campaign is the same, but its environment is not.
    #[error("`{}` cannot continue where it stopped: {what}", program.display())]
    WorldChanged {
        /// The program.
        program: PathBuf,
        /// What has changed.
        what: String,
    },
    /// The program of a finding was rebuilt.
    #[error("`{}` is not the program in which `{id}` was found", program.display())]
    FindingRebuilt {
        /// The program.
        program: PathBuf,
        /// The finding.
        id: String,
    },
    /// The program of a finding cannot be found.
    #[error("`{}`, in which `{id}` was found, no longer exists", program.display())]
    ProgramGone {
        /// The program.
        program: PathBuf,
        /// The finding.
        id: String,
    },
    /// The program's input is not the one with which a finding was made.
    #[error("`{}` has changed since the finding was made", .0.display())]
    InputChanged(PathBuf),
    /// A file cannot be used as a bundle here.
    #[error("`{}` cannot be used as a bundle: {why}", path.display())]
    Bundle {
        /// The file.
        path: PathBuf,
        /// The reason.
        why: String,
    },
    /// The state of a campaign cannot be used.
    #[error("the campaign cannot be resumed")]
    Resume(#[source] Unusable),
    /// The parts of a merge do not belong together.
    #[error("`{}` is not a part of the same campaign: {what}", path.display())]
    OtherCampaign {
        /// The file of the other campaign.
        path: PathBuf,
        /// What differs.
        what: String,
    },
    /// The file does not exist.
    #[error("`{}` does not exist", .0.display())]
    Missing(PathBuf),
    /// A directory was given instead of a program.
    #[error("`{}` is a directory, not a program or source file", .0.display())]
    Directory(PathBuf),
    /// A directory was given instead of sources.
    #[error("`{}` is a directory; name the sources of a program, or the program", .0.display())]
    DirectoryOfSources(PathBuf),
    /// Compiler options were given for something that is not compiled.
    #[error("--cflags is for source files, and `{}` is not one", .0.display())]
    NotASource(PathBuf),
    /// Compiler options with unbalanced quotes.
    #[error("--cflags `{0}` has a quotation mark or backslash without its counterpart")]
    Quotation(String),
    /// A program that cannot be hunted.
    #[error("{message}")]
    NotHuntable {
        /// The reason.
        message: String,
        /// What to do.
        help: Option<String>,
    },
    /// A source that the compiler rejects; the compiler has printed the reason.
    #[error("`{}` does not compile", .0.display())]
    DoesNotCompile(PathBuf),
    /// A scan could not create something it needs.
    #[error("{0}")]
    Scan(String),
    /// A technique whose work cannot be divided.
    #[error("the work of `--analysis {}` cannot be divided", .0.name())]
    Undividable(Technique),
    /// A technique that needs control.
    #[error("`--analysis {}` needs control over the threads", .0.name())]
    NeedsControl(Technique),
    /// Free-running executions in parts.
    #[error("executions that run freely cannot be divided")]
    FreeAndDivided,
    /// A technique whose work other machines cannot do.
    #[error("the work of `--analysis {}` with these options cannot be done on other machines", .0.name())]
    NotForFleets(Technique),
    /// The engine of a hunt on many machines.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// A part that a worker got is not one.
    #[error("the engine has delivered a part that is damaged, or of another program")]
    PartDamaged,
    /// A free-running execution was lost.
    #[error("`{}`: {why}", program.display())]
    LostFreely {
        /// The program.
        program: PathBuf,
        /// The reason.
        why: String,
    },
    /// The schedule of a finding no longer shows it.
    #[error("the schedule of `{0}` does not show it")]
    NotShown(String),
    /// Descriptions of library functions that cannot be used.
    #[error("`{}` does not describe functions", path.display())]
    Models {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: racehunter_scan::models::ModelError,
    },
    /// Settings that cannot be used.
    #[error(transparent)]
    Settings(#[from] crate::settings::SettingsError),
    /// Suppressions that cannot be read.
    #[error(
        "`{file}`: each [[suppress]] has a `reason`, and an `id`, or some of `kind`, `function` and `file`; all of them are \
         text"
    )]
    SuppressionForm {
        /// The file.
        file: String,
        /// What is wrong with it.
        source: toml::de::Error,
    },
    /// A suppression that would hide too much, or nothing.
    #[error("{message}")]
    Suppression {
        /// What is wrong with it.
        message: String,
        /// What to do.
        help: &'static str,
    },
    /// The program cannot be started.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// The cases of a test suite are not known.
    #[error(transparent)]
    Suite(#[from] crate::suites::SuiteError),
    /// The installation cannot be tried.
    #[error("{0}")]
    Trial(&'static str, #[source] io::Error),
    /// The installation does not work; with what the command has said.
    #[error("a program with a race was hunted, and the race was not found: {0}")]
    TrialFailed(String),
    /// The debugger cannot be started.
    #[error("{0}")]
    Debugger(LaunchError),
    /// Nothing more can be executed.
    #[error(transparent)]
    Executor(#[from] ExecutorError),
    /// The program cannot be read.
    #[error(transparent)]
    Symbols(#[from] SymbolsError),
    /// The compiler cannot be run.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// The code of the program cannot be read.
    #[error(transparent)]
    Ir(#[from] IrError),
    /// A trace cannot be written or read.
    #[error(transparent)]
    Trace(#[from] racehunter_trace::Error),
    /// A trace in a file cannot be read.
    #[error("cannot read the trace `{}`", path.display())]
    TraceFile {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: racehunter_trace::Error,
    },
    /// A trace that no execution can have.
    #[error("`{}` is not the trace of an execution", path.display())]
    NoExecution {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: racehunter_predict::Error,
    },
    /// A directory was given instead of a trace.
    #[error("`{}` is a directory", .0.display())]
    DirectoryOfTraces(PathBuf),
    /// A program is to be recorded, and another one was named to try the predictions on.
    #[error("`{}` is a program: it is recorded, and tried, without --confirm", .0.display())]
    ConfirmsProgram(PathBuf),
    /// Arguments were given for a trace.
    #[error("arguments are for a program: name it with --confirm")]
    ArgumentsOfTrace,
    /// A trace that was not recorded by RaceHunter.
    #[error("`{}` does not say what it was recorded from", .0.display())]
    NoOrigin(PathBuf),
    /// A trace of another program.
    #[error("`{}` is not the program that `{}` was recorded from", program.display(), trace.display())]
    OtherOrigin {
        /// The program.
        program: PathBuf,
        /// The trace.
        trace: PathBuf,
    },
    /// There are neither findings nor campaigns.
    #[error("there is nothing to report in `{}`", .0.display())]
    NothingToReport(PathBuf),
    /// A finding is to be suppressed for no reason.
    #[error("a suppression needs a reason")]
    NoReason,
    /// There is no such kind of finding.
    #[error("there is no kind of finding `{name}`")]
    NoSuchKind {
        /// The name.
        name: String,
        /// The names of all kinds.
        names: String,
    },
    /// Signals cannot be caught.
    #[error("cannot catch interrupts")]
    Interrupts(#[source] io::Error),
    /// The results cannot be written.
    #[error("cannot write the results")]
    Results(#[source] io::Error),
    /// Data cannot be written as JSON.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}

impl Error {
    /// Returns an error about a file.
    pub(crate) fn file(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Self::File { action, path, source }
    }

    /// Returns an error about a trace in a file.
    pub(crate) fn trace(path: &Path) -> impl FnOnce(racehunter_trace::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Self::TraceFile { path, source }
    }

    /// Returns an error about a trace that no execution can have.
    pub(crate) fn no_execution(path: &Path) -> impl FnOnce(racehunter_predict::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Self::NoExecution { path, source }
    }

    /// Returns the error with its causes, in one line.
    #[must_use]
    pub fn chain(&self) -> String {
        chain(self)
    }

    /// Returns what to do about it, if there is any advice.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        let help = match self {
            Self::Untrusted { .. } => "name a directory of your own: --out DIR",
            Self::CampaignVersion(_) => "hunt without --resume",
            Self::NoLastCampaign(_) => "start one: racehunter hunt PROGRAM",
            Self::NoSuchCampaign { .. } => {
                "start it without --resume; `racehunter hunt --resume` alone continues the last one"
            }
            Self::CampaignRebuilt(_) => "it was rebuilt since; hunt it without --resume",
            Self::WorldChanged { .. } => "restore it as it was when the hunt began, or hunt without --resume",
            Self::FindingRebuilt { .. } => {
                "it was rebuilt since; hunt it again, or name the old program: --program PATH"
            }
            Self::ProgramGone { .. } => "name it: --program PATH",
            Self::InputChanged(_) => "with another input the schedule may not show it; restore the file, or hunt again",
            Self::Bundle { .. } => "a bundle is made by `racehunter bundle ID`, for machines of the same kind",
            Self::OtherCampaign { .. } => "give each campaign its own directory with --out",
            Self::Undividable(_) => "hunt without --partition, or divide another analysis, such as context-bound",
            Self::NeedsControl(_) => return Some(format!("with --free-running there are {}", free_names())),
            Self::FreeAndDivided => "hunt without --partition",
            Self::NotForFleets(_) => {
                "hunt without --engine, or with another analysis, such as context-bound or auto, and without \
                 --reduction=dynamic"
            }
            Self::Engine(error) => return error.help(),
            Self::Settings(error) => return error.help(),
            Self::DirectoryOfTraces(_) => "name a trace, FILE.rht or FILE.std",
            Self::NoOrigin(_) => "--confirm is for traces that `racehunter record` has made",
            Self::OtherOrigin { .. } => "it was rebuilt since; record it again",
            Self::NothingToReport(_) => {
                "hunt first: racehunter hunt PROGRAM; if the hunt had --out DIR, give DIR to report too"
            }
            Self::NoReason => "say why the finding does not matter: --reason TEXT",
            Self::NoSuchKind { names, .. } => return Some(format!("the kinds are {names}")),
            Self::LostFreely { .. } => "hunt it without --free-running",
            Self::Suppression { help, .. } => help,
            Self::Debugger(_) => "install gdb: `apt-get install gdb`, or your system's package of that name",
            Self::NotHuntable { help, .. } => return help.clone(),
            _ => return None,
        };
        Some(help.to_owned())
    }
}

/// Returns an error with its causes, in one line.
fn chain(error: &dyn std::error::Error) -> String {
    let causes = error.source().map_or_else(String::new, |cause| format!(": {}", chain(cause)));
    format!("{error}{causes}")
}

/// Returns the techniques that need no control, besides `auto`, which then stands for one of them.
fn free_names() -> String {
    let free = |technique: &Technique| technique.runs_freely() && *technique != Technique::Auto;
    Technique::ALL.into_iter().filter(free).map(Technique::name).collect::<Vec<_>>().join(" and ")
}
