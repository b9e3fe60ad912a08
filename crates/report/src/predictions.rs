//! Predictions, for scripts and for people, and the results of trying them.

use crate::text::count;
use crate::two_runs::TwoRuns;
use crate::{Format, Reporter, messages};
use racehunter_finding::{Finding, Site};
use racehunter_trace::Ending;
use serde::Serialize;
use std::io::{self, Write};
use std::time::Duration;

/// Why a program did not show a prediction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotShown {
    /// It left the schedule.
    Diverged {
        /// The event at which it did.
        at: u64,
        /// The thread that should have acted there, and its operation; nothing if that is after the last event.
        instead_of: Option<(String, String)>,
    },
    /// It followed the schedule, but the accesses were different ones.
    OtherAccesses,
    /// It followed the schedule, and showed these findings instead.
    SomethingElse(Vec<String>),
    /// It followed the schedule, and showed only what was reported before.
    Known,
    /// A limit stopped it.
    Limit(String),
    /// The execution was lost.
    Lost(String),
    /// It followed the schedule to the end, and nothing was wrong.
    Nothing,
    /// There was no time left to try it.
    NoTime,
}

impl std::fmt::Display for NotShown {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Diverged { at, instead_of: None } => {
                write!(to, "the program left the schedule at event {at}, after its last event")
            }
            Self::Diverged { at, instead_of: Some((thread, what)) } => {
                write!(to, "the program left the schedule at event {at}, where {thread} was to {what}")
            }
            Self::OtherAccesses => write!(to, "its schedule was followed, and the accesses were not those"),
            Self::SomethingElse(ids) => {
                write!(to, "its schedule was followed, and showed something else: {}", ids.join(", "))
            }
            Self::Known => write!(to, "its schedule was followed, and showed only what was reported before"),
            Self::Limit(limit) => write!(to, "its schedule was followed, and then stopped by the limit of {limit}"),
            Self::Lost(how) => write!(to, "its execution was lost: {how}"),
            Self::Nothing => write!(to, "its schedule was followed to the end, and nothing was wrong"),
            Self::NoTime => write!(to, "there was no time left to try it"),
        }
    }
}

/// What scripts need to know about a prediction, besides the finding.
#[derive(Clone, Debug)]
pub struct Prediction {
    /// The policy: which reorderings are allowed.
    pub policy: &'static str,
    /// The stage that found it.
    pub stage: &'static str,
    /// Numbers of the events it consists of.
    pub events: Vec<u64>,
    /// The reordering: the length of the unchanged prefix of the trace,
    pub frozen: u64,
    /// then the events after it.
    pub tail: Vec<u64>,
    /// The trace beside it.
    pub runs: TwoRuns,
}

impl<W: Write> Reporter<W> {
    /// Writes a prediction that the program has not shown, and why not if it was tried.
    ///
    /// # Errors
    /// When writing fails.
    pub fn prediction(
        &mut self,
        mut finding: Finding,
        about: &Prediction,
        unconfirmed: Option<&str>,
    ) -> io::Result<()> {
        if self.format == Format::Json {
            let line = serde_json::to_string(&FindingLine::new(&finding, about, unconfirmed))?;
            return self.write(&(line + "\n"));
        }
        finding.notes.extend(unconfirmed.map(messages::tried));
        self.finding(&finding)?;
        self.two_runs(&about.runs)
    }

    /// Writes two runs side by side, for people.
    ///
    /// # Errors
    /// When writing fails.
    pub fn two_runs(&mut self, runs: &TwoRuns) -> io::Result<()> {
        if self.format == Format::Human { self.write(&(runs.text() + "\n")) } else { Ok(()) }
    }

    /// Writes the summary of the predictions from a trace, which is the last thing to write.
    ///
    /// # Errors
    /// When writing fails.
    pub fn predicted(&mut self, summary: &Summary) -> io::Result<()> {
        match self.format {
            Format::Json => self.write(&summary.json()?),
            Format::Sarif | Format::Junit => Ok(()),
            Format::Human | Format::Short | Format::Github => self.write(&summary.text()),
        }
    }
}

/// A finding for scripts: the fields of all findings, then those of predictions.
#[derive(Serialize)]
struct FindingLine<'a> {
    reason: &'static str,
    id: &'a str,
    kind: &'static str,
    confirmed: bool,
    replayed: [u32; 2],
    execution: u64,
    preemptions: u32,
    message: &'a str,
    sites: &'a [Site],
    replay: &'static str,
    predicted: bool,
    policy: &'static str,
    stage: &'static str,
    /// Numbers of the events it consists of.
    events: &'a [u64],
    /// The reordering: the length of the unchanged prefix of the trace, then these events.
    frozen: u64,
    tail: &'a [u64],
    /// The recorded run beside the predicted one.
    runs: &'a TwoRuns,
    /// Why the program did not show it, if it was tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    unconfirmed: Option<&'a str>,
}

impl<'a> FindingLine<'a> {
    fn new(finding: &'a Finding, prediction: &'a Prediction, unconfirmed: Option<&'a str>) -> Self {
        Self {
            reason: "finding",
            id: &finding.id,
            kind: finding.kind.name(),
            confirmed: finding.confirmed,
            replayed: finding.replayed,
            execution: finding.execution,
            preemptions: finding.preemptions,
            message: &finding.message,
            sites: &finding.sites,
            replay: "",
            predicted: true,
            policy: prediction.policy,
            stage: prediction.stage,
            events: &prediction.events,
            frozen: prediction.frozen,
            tail: &prediction.tail,
            runs: &prediction.runs,
            unconfirmed,
        }
    }
}

/// What a prediction rests on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Assumption {
    /// The recorded dependences.
    Dependences,
    /// Every read sees the same write as in the trace.
    #[default]
    SameReads,
    /// The recorded branches and dependences.
    BranchesAndDependences,
    /// The recorded branches.
    Branches,
}

/// The last line.
#[derive(Debug, Serialize)]
pub struct Summary {
    /// Always `summary`.
    pub reason: &'static str,
    /// Executions in which predictions were tried.
    pub executions: u64,
    /// Number of these executions that did not follow their schedule.
    pub diverged: u64,
    /// Always 0.
    pub timed_out: u64,
    /// Every case was tried to the end.
    pub complete: bool,
    /// What holds for every prediction.
    pub guarantee: &'static str,
    /// Number of predictions or, if they were tried, of those that the program showed.
    pub findings: usize,
    /// Sites of the trace.
    pub points: usize,
    /// Threads of the trace.
    pub threads: usize,
    /// The time it took.
    pub elapsed_ms: u64,
    /// Events of the trace.
    pub events: u64,
    /// The policy: which reorderings are allowed.
    pub policy: &'static str,
    /// Cases that were considered.
    pub cases: usize,
    /// Questions about reorderings that were answered for them.
    pub questions: usize,
    /// Cases that were not tried to the end.
    pub unfinished: usize,
    /// Why, and how many for each reason.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<Missed>,
    /// If the trace was read in segments: how many there were, and how many events two of them have in common.
    /// Accesses that are farther apart may not have been compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub segments: Option<[u64; 2]>,
    /// Predictions.
    pub predictions: usize,
    /// Predictions that were tried, but that the program did not show.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unconfirmed: Option<usize>,
    /// Why the recording ended before the program did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut: Option<String>,
    /// How the recorded execution failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
    /// What the recorded execution reached that its trace does not have.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unseen: Vec<String>,
    /// What they rest on.
    #[serde(skip)]
    pub assumes: Assumption,
}

/// Cases that were not tried to the end for one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Missed {
    /// The reason.
    pub why: Why,
    /// How many.
    pub cases: usize,
    /// What would finish them.
    pub option: &'static str,
    /// The first few: the sites of one question of each.
    pub examples: Vec<Vec<String>>,
}

/// Why a case was not tried to the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Why {
    /// What happened before the window stayed as it was.
    Window,
    /// A witness would have too many events.
    Length,
    /// The search for a sequence gave up.
    Search,
    /// Not all pairs were tried.
    Attempts,
    /// There was no time.
    Time,
}

impl Why {
    /// Returns the option that would finish such a case, with a value that is not known to be enough.
    #[must_use]
    pub const fn option(self) -> &'static str {
        match self {
            Self::Window | Self::Length => "--window all",
            Self::Search => "--search 1000000",
            Self::Attempts => "--attempts 1000000",
            Self::Time => "--time",
        }
    }

    /// Returns the reason, to follow a number of cases.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Window => "because the trace was reordered only within a window",
            Self::Length => "because a reordering would have too many events for the window",
            Self::Search => "because the search for a reordering gave up",
            Self::Attempts => "because not all their pairs of accesses were tried",
            Self::Time => "because the time was over",
        }
    }
}

/// Returns how many of some cases were, as the subject of a sentence.
fn were(number: usize, of: usize) -> String {
    match number {
        _ if number == of => "any case was".to_owned(),
        1 => format!("1 of {of} cases was"),
        _ => format!("{number} of {of} cases were"),
    }
}

/// What is guaranteed about every prediction.
pub const GUARANTEE: &str = "each prediction has a reordering of the trace that a separate validator accepts";

/// The last line, with what it means.
#[derive(Serialize)]
struct SummaryLine<'a> {
    #[serde(flatten)]
    summary: &'a Summary,
    /// Always false: predictions prove nothing about other executions.
    proof: bool,
    /// What finding this, or nothing, says about the program.
    means: String,
    /// Why finding nothing means nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unclear: Vec<String>,
}

impl Summary {
    /// Returns one line of JSON.
    ///
    /// # Errors
    /// Never: these fields can be written.
    pub fn json(&self) -> io::Result<String> {
        let line = SummaryLine { summary: self, proof: false, means: self.means(), unclear: self.unclear() };
        Ok(serde_json::to_string(&line)? + "\n")
    }

    /// Adds what the trace says about the execution that was recorded.
    pub fn add_ending(&mut self, ending: &Ending) {
        self.failed = ending.is_failure.then(|| ending.outcome.clone());
        self.cut = (!ending.is_whole).then(|| ending.outcome.clone());
        self.unseen.clone_from(&ending.unseen);
        self.complete &= self.unseen.is_empty() && ending.is_whole;
    }

    /// Returns true if predictions may be false and were not tried: the program may depend on something that the trace lacks.
    #[must_use]
    pub fn is_doubtful(&self) -> bool {
        self.unconfirmed.is_none() && self.findings > 0 && !self.unseen.is_empty()
    }

    /// Returns why the result is no answer, if so: predicting was cut short, the recorded execution failed, or predictions
    /// may be false.
    #[must_use]
    pub fn unclear(&self) -> Vec<String> {
        if self.is_doubtful() {
            let what = self.unseen.join("; ");
            return vec![format!(
                "predictions may be false, because the trace lacks something: {what}; try them with --confirm"
            )];
        }
        if self.findings > 0 {
            return Vec::new();
        }
        if let Some(how) = &self.failed {
            return vec![format!("the recorded execution {how}: `racehunter hunt` looks for the reason")];
        }
        if self.threads < 2 {
            return Vec::new();
        }
        let out_of_time = self.reasons.iter().find(|missed| missed.why == Why::Time);
        let out_of_time = out_of_time
            .map(|missed| format!("the time was over before {} tried: raise --time", were(missed.cases, self.cases)));
        let cut = self.cut.as_ref().map(|how| format!("not all of the recorded execution is in the trace: it {how}"));
        out_of_time.into_iter().chain(cut).collect()
    }

    /// Returns what the result says about the program.
    #[must_use]
    pub fn means(&self) -> String {
        if self.threads < 2 {
            return "nothing: the trace has only one thread".to_owned();
        }
        let others = "other inputs, and other paths through the code, have other traces";
        match (self.predictions, self.complete) {
            (0, _) if let Some(how) = &self.failed => {
                format!("the recorded execution {how}; nothing else was predicted from the trace: this is no proof")
            }
            (0, _) if self.findings > 0 => {
                "the recorded execution shows the finding; nothing else was predicted from the trace: this is no proof"
                    .to_owned()
            }
            (0, true) => {
                format!(
                    "no reordering of this one trace has a race, a deadlock or a broken block; {others}: this is no proof"
                )
            }
            (0, false) => format!(
                "none was found among the reorderings of this one trace that were tried; others may have one, and {others}: this is no proof"
            ),
            (_, true) => format!("these are all that this one trace shows; {others}"),
            (_, false) => format!("this one trace may show more than these; {others}"),
        }
    }

    /// Sets the time it took.
    pub fn took(&mut self, elapsed: Duration) {
        self.elapsed_ms = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
    }

    /// Returns the same for people.
    #[must_use]
    pub fn text(&self) -> String {
        let number = |number: usize, noun: &str| count(number as u64, noun);
        let findings = match (self.predictions, self.unconfirmed) {
            (0, _) if self.findings > 0 => {
                format!("nothing predicted from this trace; {}", number(self.findings, "finding"))
            }
            (0, _) => "nothing predicted from this trace".to_owned(),
            (predictions, None) => number(predictions, "prediction"),
            (predictions, Some(unconfirmed)) => format!(
                "{}: {} shown by the program, {unconfirmed} not; {}",
                number(predictions, "prediction"),
                predictions - unconfirmed,
                number(self.findings, "finding"),
            ),
        };
        let mut text = format!(
            "   Summary [{:.1}s] {findings}\n   Looked   at {} of {} under `{}`: {}, {}\n",
            self.elapsed_ms as f64 / 1000.0,
            count(self.events, "event"),
            number(self.threads, "thread"),
            self.policy,
            number(self.cases, "case"),
            number(self.questions, "question"),
        );
        let assumes = match self.assumes {
            Assumption::Dependences => "the dependences in the trace",
            Assumption::SameReads => "this input; sequential consistency",
            Assumption::BranchesAndDependences => "the branches and the dependences in the trace",
            Assumption::Branches => "the branches in the trace; addresses that no read decides",
        };
        text += &format!("   Assumes  {assumes}\n");
        if let Some([segments, overlap]) = self.segments {
            let (segments, overlap) = (count(segments, "segment"), count(overlap, "event"));
            text += &format!("   Missed   what is more than {overlap} apart, in {segments}: try --segment all\n");
        }
        if self.unfinished > 0 {
            text += &format!("   Missed   {} not tried to the end\n", number(self.unfinished, "case"));
        }
        for missed in &self.reasons {
            let (why, cases) = (missed.why.words(), number(missed.cases, "case"));
            text += &format!("            {cases} {why}: try {}\n", missed.option);
            for sites in &missed.examples {
                text += &format!("              {}\n", sites.join(" and "));
            }
        }
        if let Some(how) = &self.failed {
            text += &format!("   Failed   the recorded execution {how}\n");
        }
        for what in &self.unseen {
            text += &format!("   Unseen   {what}\n");
        }
        for why in self.unclear() {
            text += &format!("   Unclear  {why}\n");
        }
        text += &format!("   Means    {}\n", self.means());
        text
    }
}
