//! What users read: findings and coverage as text for people, and as lines for programs.
//!
//! A [`Reporter`] writes [`Finding`]s and the [`Coverage`] of a campaign to any [`Write`] in one [`Format`].
//! [`messages`] has the sentence for each kind of bug, so that the wording is in one crate. This crate decides nothing:
//! the data says what is a finding, whether it is confirmed, and what is proved. It reads source files to quote them,
//! and works without them if they are gone.
//!
//! Start at [`Reporter`]; each format is a module with one function per thing to report.
#![forbid(unsafe_code)]

pub mod causes;
mod color;
pub mod fleet;
mod github;
pub mod html;
mod human;
mod interleaving;
mod json;
pub mod junit;
pub mod kinds;
pub mod lessons;
pub mod list;
pub mod messages;
pub mod notes;
pub mod perfetto;
pub mod predictions;
pub mod recording;
mod sarif;
pub mod scan;
mod seen;
mod short;
mod sources;
pub mod tests;
mod text;
mod threads;
pub mod two_runs;
mod unclear;
mod values;
mod verdict;
pub mod witness;

pub use color::ColorChoice;
pub use seen::seen;
pub use text::{clean, cleaned};
pub use unclear::unclear;
pub use verdict::Verdict;

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use racehunter_finding::{Coverage, Finding, Kind};

use sources::Sources;

/// The output format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// Reports in the style of a good compiler.
    #[default]
    Human,
    /// One line per finding, for editors and `grep`.
    Short,
    /// One JSON object per line.
    Json,
    /// Workflow commands, which GitHub shows at the changed lines.
    Github,
    /// One SARIF log, for code scanning services. It is written at the end.
    Sarif,
    /// JUnit XML, for the test reports of CI systems. It is written at the end.
    Junit,
}

impl Format {
    /// All formats, in the order of the documentation.
    pub const ALL: [Self; 6] = [Self::Human, Self::Short, Self::Json, Self::Github, Self::Sarif, Self::Junit];

    /// Returns the name for `--message-format`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Human => "human",
            Self::Short => "short",
            Self::Json => "json",
            Self::Github => "github",
            Self::Sarif => "sarif",
            Self::Junit => "junit",
        }
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|format| format.name() == name);
        known.ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            format!("there is no message format `{name}`; choose one of {names}")
        })
    }
}

/// One iterative bound that was finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Bound {
    /// The bound.
    pub bound: u32,
    /// Maximum number of variables at which threads are preempted, if that is bounded too.
    pub variables: Option<u32>,
    /// Maximum number of threads that take part in preemptions, if that is bounded too.
    pub threads: Option<u32>,
    /// Maximum number of loop iterations that allocate the variables, if schedules are ranked by them too.
    #[serde(default)]
    pub iterations: Option<u32>,
    /// Number of executions.
    pub executions: u64,
    /// Everything within the bound was explored.
    pub complete: bool,
}

/// Numbers of findings that a campaign has reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Told {
    /// Findings that count.
    pub(crate) findings: u64,
    /// Findings that the user suppresses.
    pub(crate) suppressed: u64,
    /// Findings that were seen but not confirmed by replay.
    pub(crate) unconfirmed: u64,
    /// Findings that count and have the same cause as another one.
    pub(crate) variants: u64,
}

impl Told {
    /// Counts findings.
    pub(crate) fn of<'f>(findings: impl Iterator<Item = &'f Finding>) -> Self {
        let mut told = Self::default();
        findings.for_each(|finding| told.add(finding));
        told
    }

    fn add(&mut self, finding: &Finding) {
        self.variants += u64::from(finding.counts() && finding.variant_of.is_some());
        *(match (&finding.suppressed, finding.confirmed) {
            (Some(_), _) => &mut self.suppressed,
            (None, true) => &mut self.findings,
            (None, false) => &mut self.unconfirmed,
        }) += 1;
    }
}

/// Width if nothing else is known.
const WIDTH: usize = 80;

/// What `racehunter replay` needs to find a finding.
#[derive(Default)]
struct Replay {
    /// A file that stands for the id.
    file: Option<String>,
    /// Options after that.
    options: String,
}

impl Replay {
    fn command(&self, finding: &Finding) -> String {
        let what = self.file.as_ref().unwrap_or(&finding.id);
        clean(&format!("racehunter replay {what}{}", self.options))
    }
}

/// Writes results in one format, and counts the findings for the summary.
pub struct Reporter<W> {
    out: W,
    format: Format,
    color: bool,
    width: usize,
    root: PathBuf,
    sources: Sources,
    replay: Replay,
    told: Told,
    /// The kinds of findings that count.
    kinds: BTreeSet<Kind>,
    /// Findings that are written together at the end.
    kept: Vec<Finding>,
    /// Why the command fails although nothing was found.
    failure: Option<String>,
}

impl<W: Write> Reporter<W> {
    /// Creates a reporter that writes to `out`, 80 columns wide and without colours.
    pub fn new(out: W, format: Format) -> Self {
        let (root, sources) = (PathBuf::new(), Sources::default());
        let (kinds, kept) = (BTreeSet::new(), Vec::new());
        let (told, replay) = (Told::default(), Replay::default());
        let failure = None;
        Self { out, format, color: false, width: WIDTH, root, sources, replay, told, kinds, kept, failure }
    }

    /// Turns colours on or off; see [`ColorChoice::resolve`].
    #[must_use]
    pub fn color(mut self, color: bool) -> Self {
        self.color = color;
        self
    }

    /// Sets the width of the terminal, at least 40 columns.
    #[must_use]
    pub fn width(mut self, width: usize) -> Self {
        self.width = width.max(40);
        self
    }

    /// Looks for source files below this directory instead of the working directory. Relative paths in the output are
    /// relative to it.
    #[must_use]
    pub fn source_root(mut self, root: impl Into<PathBuf>) -> Self {
        self.root = root.into();
        self.sources = Sources::below(self.root.clone());
        self
    }

    /// Adds copies of source files that are no longer where they were: the name of a file, and where the copy is.
    #[must_use]
    pub fn source_copies(mut self, copies: Vec<(String, PathBuf)>) -> Self {
        self.sources.add_copies(copies);
        self
    }

    /// Sets the options that `racehunter replay` needs to find what is reported, quoted for a shell: ` --out DIR`.
    #[must_use]
    pub fn replay_options(mut self, options: impl Into<String>) -> Self {
        self.replay.options = options.into();
        self
    }

    /// Sets the file that holds the finding, quoted for a shell, if it is not in a directory of findings.
    #[must_use]
    pub fn replay_file(mut self, file: Option<String>) -> Self {
        self.replay.file = file;
        self
    }

    /// Sets why the command fails even if nothing was found. Formats with a word for success then do not use it.
    #[must_use]
    pub fn failure(mut self, why: Option<String>) -> Self {
        self.failure = why;
        self
    }

    /// Returns the number of findings written so far, without those that are suppressed or not confirmed.
    #[must_use]
    pub fn findings(&self) -> u64 {
        self.told.findings
    }

    /// Returns the underlying writer.
    pub fn into_inner(self) -> W {
        self.out
    }

    /// Writes one finding.
    ///
    /// # Errors
    /// When writing fails.
    pub fn finding(&mut self, finding: &Finding) -> io::Result<()> {
        self.told.add(finding);
        if finding.suppressed.is_none() {
            self.kinds.insert(finding.kind);
        }
        let text = match self.format {
            Format::Human => human::finding(finding, &mut self.sources, &self.replay, self.width),
            Format::Short => short::finding(finding),
            // Programs get the unmodified text.
            Format::Json => json::finding(finding)?,
            Format::Github => github::finding(&cleaned(finding)),
            Format::Sarif | Format::Junit => {
                self.kept.push(cleaned(finding));
                return Ok(());
            }
        };
        self.write(&text)
    }

    /// Writes what a format holds back for the end, if no summary follows.
    ///
    /// # Errors
    /// When writing fails.
    pub fn finish(&mut self) -> io::Result<()> {
        match self.format {
            Format::Sarif => self.write(&sarif::log(&self.kept, None, None, &self.root)),
            Format::Junit => self.write(&junit::hunt(&self.kept, None, None)),
            Format::Human | Format::Short | Format::Json | Format::Github => Ok(()),
        }
    }

    /// Writes that an iterative bound is finished. Only the formats for programs contain this; people see it in the
    /// progress.
    ///
    /// # Errors
    /// When writing fails.
    pub fn bound(&mut self, bound: &Bound) -> io::Result<()> {
        match self.format {
            Format::Json => self.write(&json::bound(bound)?),
            Format::Human | Format::Short | Format::Github | Format::Sarif | Format::Junit => Ok(()),
        }
    }

    /// Writes the summary of the campaign, which is the last thing to write.
    ///
    /// # Errors
    /// When writing fails.
    pub fn summary(&mut self, coverage: &Coverage, elapsed: Duration) -> io::Result<()> {
        let told = self.told;
        let text = match self.format {
            Format::Human => {
                human::summary(coverage, told, elapsed, self.width) + &human::lessons(&self.kinds, self.width)
            }
            Format::Short => short::summary(coverage, told),
            Format::Json => json::summary(coverage, told, elapsed)?,
            Format::Github => github::summary(coverage, told),
            Format::Sarif => sarif::log(&self.kept, Some((coverage, elapsed)), self.failure.as_deref(), &self.root),
            Format::Junit => junit::hunt(&self.kept, Some((coverage, elapsed)), self.failure.as_deref()),
        };
        self.write(&text)
    }

    /// Writes that there was nothing to hunt, and why: the program has no threads, or it `failed` before it created
    /// any. For people this belongs on standard error; files for other programs are complete in any case.
    ///
    /// # Errors
    /// When writing fails.
    pub fn nothing(&mut self, why: &str, failed: bool) -> io::Result<()> {
        match self.format {
            Format::Sarif => self.write(&sarif::nothing(why, failed, &self.root)),
            Format::Junit => self.write(&junit::nothing(why, failed)),
            Format::Human | Format::Short | Format::Json | Format::Github => Ok(()),
        }
    }

    /// Writes the verdict of a scan, which is the last thing to write.
    ///
    /// # Errors
    /// When writing fails.
    pub fn verdict(&mut self, verdict: &Verdict, elapsed: Duration) -> io::Result<()> {
        let text = match self.format {
            Format::Human => verdict::human(verdict, elapsed),
            Format::Short => verdict::short(verdict),
            Format::Json => verdict::json(verdict, elapsed)?,
            Format::Github => github::verdict(verdict),
            Format::Sarif => sarif::scan(&self.kept, verdict, elapsed, &self.root),
            Format::Junit => junit::scan(&self.kept, verdict, elapsed),
        };
        self.write(&text)
    }

    /// Writes what is wrong with the use of the tool, and what to do about it. This belongs on standard error; JSON and
    /// SARIF contain nothing, because the exit status and standard error say it.
    ///
    /// # Errors
    /// When writing fails.
    pub fn problem(&mut self, message: &str, help: &[&str]) -> io::Result<()> {
        match self.format {
            Format::Human | Format::Short => self.write(&human::problem(message, help)),
            Format::Github => self.write(&github::problem(message, help)),
            Format::Json | Format::Sarif | Format::Junit => Ok(()),
        }
    }

    /// Text for people always has styles; removes them if they are not wanted.
    fn write(&mut self, text: &str) -> io::Result<()> {
        let is_styled = matches!(self.format, Format::Human | Format::Short);
        if is_styled && !self.color {
            write!(self.out, "{}", anstream::adapter::strip_str(text))?;
        } else {
            self.out.write_all(text.as_bytes())?;
        }
        self.out.flush()
    }
}

#[cfg(test)]
mod unit {
    use super::Format;

    #[test]
    fn formats_have_names() {
        for format in Format::ALL {
            assert_eq!(format.name().parse(), Ok(format));
        }
        assert!("xml".parse::<Format>().is_err_and(|error| error.contains("human, short, json, github, sarif")));
    }
}
