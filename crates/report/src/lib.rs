//! What users read: findings and coverage as text for people, and as lines for programs.
//!
//! A [`Reporter`] writes [`Finding`]s and the [`Coverage`] of a campaign to any [`Write`] in one [`Format`]. The
//! wording lives here too: [`messages`] has the sentence for each kind of bug, so that everything that is said to a
//! user is in one crate. It decides nothing: what is a finding, whether it is confirmed and what is proved is in the
//! data. It reads source files to quote them, and does without when they are gone.
//!
//! Start at [`Reporter`]; each format is a module with one function per thing to report.
#![forbid(unsafe_code)]

pub mod causes;
mod color;
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

/// How to write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// Reports in the manner of a good compiler.
    #[default]
    Human,
    /// One line per finding, as editors and `grep` like it.
    Short,
    /// One JSON object per line.
    Json,
    /// Workflow commands that GitHub shows at the changed lines.
    Github,
    /// One SARIF log, for code scanning services. It is written at the end.
    Sarif,
    /// JUnit's XML, for the test reports of CI systems. It is written at the end.
    Junit,
}

impl Format {
    /// All of them, in the order of the documentation.
    pub const ALL: [Self; 6] = [Self::Human, Self::Short, Self::Json, Self::Github, Self::Sarif, Self::Junit];

    /// As written after `--message-format`.
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
    /// Variables at which threads are preempted, where that is bounded too.
    pub variables: Option<u32>,
    /// Threads that take part in preemptions, where that is bounded too.
    pub threads: Option<u32>,
    /// Iterations of a loop that have allocated the variables, where schedules are ranked by them too.
    #[serde(default)]
    pub iterations: Option<u32>,
    /// Executions that it took.
    pub executions: u64,
    /// Everything within the bound was explored.
    pub complete: bool,
}

/// How many findings a campaign has reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Told {
    /// Those that count.
    pub(crate) findings: u64,
    /// Those that the user suppresses.
    pub(crate) suppressed: u64,
    /// Those that were seen, and not confirmed by replay.
    pub(crate) unconfirmed: u64,
    /// Those that count, and have the same cause as another one.
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

/// Columns when nothing else is known.
const WIDTH: usize = 80;

/// Writes results in one format, and counts the findings for the summary.
pub struct Reporter<W> {
    out: W,
    format: Format,
    color: bool,
    width: usize,
    root: PathBuf,
    sources: Sources,
    /// What comes after the id in the command that replays a finding.
    replay_options: String,
    told: Told,
    /// The kinds of those that count.
    kinds: BTreeSet<Kind>,
    /// Findings that are written at the end, all at once.
    kept: Vec<Finding>,
    /// Why the command does not succeed, although nothing was found.
    failure: Option<String>,
}

impl<W: Write> Reporter<W> {
    /// Writes to `out`, 80 columns wide and without colours.
    pub fn new(out: W, format: Format) -> Self {
        let (root, sources) = (PathBuf::new(), Sources::default());
        let (kinds, kept) = (BTreeSet::new(), Vec::new());
        let (told, replay_options) = (Told::default(), String::new());
        let failure = None;
        Self { out, format, color: false, width: WIDTH, root, sources, replay_options, told, kinds, kept, failure }
    }

    /// With colours or without; see [`ColorChoice::resolve`].
    #[must_use]
    pub fn color(mut self, color: bool) -> Self {
        self.color = color;
        self
    }

    /// For a terminal with this many columns. Less than 40 is taken as 40.
    #[must_use]
    pub fn width(mut self, width: usize) -> Self {
        self.width = width.max(40);
        self
    }

    /// Looks for source files below this directory instead of the working directory. Where paths are best relative,
    /// they are relative to it.
    #[must_use]
    pub fn source_root(mut self, root: impl Into<PathBuf>) -> Self {
        self.root = root.into();
        self.sources = Sources::below(self.root.clone());
        self
    }

    /// Copies of source files, for those that are not where they were: the name of a file, and where the copy is.
    #[must_use]
    pub fn source_copies(mut self, copies: Vec<(String, PathBuf)>) -> Self {
        self.sources.add_copies(copies);
        self
    }

    /// Options that `racehunter replay` needs to find what is reported, as a shell reads them: ` --out DIR`.
    #[must_use]
    pub fn replay_options(mut self, options: impl Into<String>) -> Self {
        self.replay_options = options.into();
        self
    }

    /// The command does not succeed even if nothing was found, for this reason: formats that have a word for success do
    /// not use it.
    #[must_use]
    pub fn failure(mut self, why: Option<String>) -> Self {
        self.failure = why;
        self
    }

    /// Findings written so far, without those that are suppressed or not confirmed.
    #[must_use]
    pub fn findings(&self) -> u64 {
        self.told.findings
    }

    /// Gives back what it writes to.
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
            Format::Human => human::finding(finding, &mut self.sources, &self.replay_options, self.width),
            Format::Short => short::finding(finding),
            // Programs want it as it is.
            Format::Json => json::finding(finding)?,
            Format::Github => github::finding(&cleaned(finding)),
            Format::Sarif | Format::Junit => {
                self.kept.push(cleaned(finding));
                return Ok(());
            }
        };
        self.write(&text)
    }

    /// Writes what formats hold back for the end, where there is no summary to come.
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

    /// Writes that an iterative bound is finished. Only programs want to read that; people see it in the progress.
    ///
    /// # Errors
    /// When writing fails.
    pub fn bound(&mut self, bound: &Bound) -> io::Result<()> {
        match self.format {
            Format::Json => self.write(&json::bound(bound)?),
            Format::Human | Format::Short | Format::Github | Format::Sarif | Format::Junit => Ok(()),
        }
    }

    /// Writes the sum of the campaign; the last thing to be written.
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

    /// Writes that there was nothing to hunt in, and why: the program has no threads, or it `failed` before it had any. For
    /// people that belongs on standard error; files for other programs are whole in any case.
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

    /// Writes the verdict of a scan; the last thing to be written.
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

    /// Writes that something is wrong with the use of the tool, and what to do about it. Belongs on standard error;
    /// in JSON and SARIF nothing is written, because the exit status and standard error tell it.
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

    /// Text for people is rendered with styles; here they are taken away when they are not wanted.
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
