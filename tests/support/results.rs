//! The JSON lines of a hunt, as a script would read them.

use crate::tool::Ended;
use serde::Deserialize;
use serde_json::Value;

/// A finding. Fields as in the contract of `--message-format json`.
#[derive(Clone, Debug, Deserialize)]
#[expect(missing_docs, reason = "the contract documents them")]
pub struct Finding {
    pub id: String,
    pub kind: String,
    pub confirmed: bool,
    pub replayed: [u32; 2],
    pub execution: u64,
    pub preemptions: u32,
    pub message: String,
    pub sites: Vec<Site>,
    pub replay: String,
    #[serde(default)]
    pub notes: Vec<String>,
    #[serde(default)]
    pub met: bool,
    #[serde(default)]
    pub cause: Option<String>,
    #[serde(default)]
    pub variant_of: Option<String>,
    #[serde(default)]
    pub steps: Vec<Step>,
}

/// A step of the interleaving.
#[derive(Clone, Debug, Deserialize)]
#[expect(missing_docs, reason = "the contract documents them")]
pub struct Step {
    pub thread: u32,
    pub what: String,
    #[serde(default)]
    pub number: u64,
    #[serde(default)]
    pub matters: bool,
}

/// A place in the source that takes part in a finding.
#[derive(Clone, Debug, Deserialize)]
#[expect(missing_docs, reason = "the contract documents them")]
pub struct Site {
    pub file: String,
    pub line: u32,
    pub function: String,
    pub thread: String,
    pub access: String,
    pub size: u64,
    pub stack: Vec<Frame>,
}

/// A function on the stack of a site, innermost first.
#[derive(Clone, Debug, Deserialize)]
#[expect(missing_docs, reason = "the contract documents them")]
pub struct Frame {
    pub function: String,
    pub file: String,
    pub line: u32,
}

/// A finished bound.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[expect(missing_docs, reason = "the contract documents them")]
pub struct Bound {
    pub bound: u32,
    #[serde(default)]
    pub variables: Option<u32>,
    #[serde(default)]
    pub threads: Option<u32>,
    pub executions: u64,
    pub complete: bool,
}

/// The last line.
#[derive(Clone, Debug, Deserialize)]
#[expect(missing_docs, reason = "the contract documents them")]
pub struct Summary {
    pub executions: u64,
    pub diverged: u64,
    pub timed_out: u64,
    pub complete: bool,
    pub guarantee: String,
    #[serde(default)]
    pub chance: Option<String>,
    pub findings: u64,
    pub points: u64,
    pub threads: u64,
    pub events: u64,
    pub left_out: u64,
    pub finished: bool,
    pub assumes: Vec<String>,
    pub missed: Vec<String>,
    pub completed: u64,
    #[serde(default)]
    pub unconfirmed: u64,
    #[serde(default)]
    pub unclear: Vec<String>,
    pub uncontrolled: Vec<Uncontrolled>,
    #[serde(default)]
    pub figures: Option<Figures>,
}

/// What was monitored.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[expect(missing_docs, reason = "the contract documents them")]
pub struct Figures {
    pub threads: u64,
    pub accesses: u64,
    pub calls: u64,
    pub conflicting_pairs: u64,
    pub targets: u64,
    pub trace_bits: u64,
    pub trace_bytes: u64,
    pub memory_kib: u64,
    pub plain_us: u64,
    pub verified_us: u64,
}

/// Something that was not under control.
#[derive(Clone, Debug, Deserialize)]
#[expect(missing_docs, reason = "the contract documents them")]
pub struct Uncontrolled {
    pub what: String,
    pub file: String,
    pub line: u32,
    pub executions: u64,
    pub detail: String,
}

/// A hunt with `--message-format json`.
#[derive(Clone, Debug)]
pub struct Hunted {
    /// How the command ended.
    pub ended: Ended,
    /// The findings, in order.
    pub findings: Vec<Finding>,
    /// The bounds, in order.
    pub bounds: Vec<Bound>,
    /// The summary, if there is one.
    pub summary: Option<Summary>,
    /// All lines without the fields that may differ between runs.
    pub repeatable: Vec<Value>,
}

impl Hunted {
    /// Parses the output of a hunt.
    #[track_caller]
    #[must_use]
    pub fn new(ended: Ended) -> Self {
        let (mut findings, mut bounds, mut summary, mut repeatable) = (Vec::new(), Vec::new(), None, Vec::new());
        for line in ended.stdout.lines() {
            assert!(summary.is_none(), "the summary should be the last line, but there is: {line}");
            let mut value: Value =
                serde_json::from_str(line).unwrap_or_else(|error| panic!("not JSON ({error}): {line}"));
            match value["reason"].as_str() {
                Some("finding") => findings.push(typed(&value)),
                Some("bound") => bounds.push(typed(&value)),
                Some("summary") => summary = Some(typed(&value)),
                _ => panic!("a line without a known reason: {line}"),
            }
            if let Some(object) = value.as_object_mut() {
                object.remove("elapsed_ms");
            }
            repeatable.push(value);
        }
        Self { ended, findings, bounds, summary, repeatable }
    }

    /// Fails unless the hunt ended with this status.
    #[track_caller]
    #[must_use]
    pub fn expect(self, status: i32) -> Self {
        assert_eq!(self.ended.status, Some(status), "wrong exit code\n{}{}", self.ended.stdout, self.ended.stderr);
        self
    }

    /// Returns the summary, which must be there.
    #[track_caller]
    #[must_use]
    pub fn summary(&self) -> &Summary {
        let summary = self.summary.as_ref();
        summary.unwrap_or_else(|| panic!("no summary\n{}{}", self.ended.stdout, self.ended.stderr))
    }

    /// Returns the findings as `kind at file:line, file:line`, for comparison and for messages.
    #[must_use]
    pub fn overview(&self) -> Vec<String> {
        let place = |site: &Site| format!("{}:{}", site.file, site.line);
        self.findings
            .iter()
            .map(|finding| {
                let places: Vec<String> = finding.sites.iter().map(place).collect();
                format!("{} at {}", finding.kind, places.join(", "))
            })
            .collect()
    }

    /// Returns the finding of a kind with a site at this line of a file with this name.
    #[must_use]
    pub fn at(&self, kind: &str, file: &str, line: u32) -> Option<&Finding> {
        let here = |site: &Site| site.file.ends_with(file) && site.line == line;
        self.findings.iter().find(|finding| finding.kind == kind && finding.sites.iter().any(here))
    }
}

#[track_caller]
fn typed<T: for<'a> Deserialize<'a>>(value: &Value) -> T {
    T::deserialize(value).unwrap_or_else(|error| panic!("not as in the contract ({error}): {value}"))
}

impl Site {
    /// Returns the innermost line of the site in a file: the access itself may be in a header of the library.
    #[must_use]
    pub fn line_in(&self, file: &str) -> Option<u32> {
        let own = (self.file == file).then_some(self.line);
        own.or_else(|| self.stack.iter().find(|frame| frame.file == file).map(|frame| frame.line))
    }
}
