//! Programs whose truth is known, and whether an answer of the command is true; the convention is in `probes/README.md`.
//!
//! A program below `targets/` is one that a hunt must understand in full. A probe asks for less, and of more programs: whatever the
//! command says about it must be true, and to say nothing is always allowed.

use crate::results::{Finding, Site};
use crate::tool::root;
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The command that is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Asked {
    /// `racehunter hunt`
    Hunt,
    /// `racehunter scan`
    Scan,
}

impl Asked {
    /// As it is typed.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Hunt => "hunt",
            Self::Scan => "scan",
        }
    }
}

/// What is true about a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Truth {
    /// No schedule shows anything wrong.
    Clean,
    /// Some schedule does, as a finding of one of these kinds.
    Bug(BTreeSet<String>),
    /// It does not matter: the program is there for what it does to the command.
    Any,
}

/// What the command must not do, beyond what the truth forbids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ban {
    /// Claim to have explored everything.
    Proved,
    /// End with status 0.
    ExitZero,
}

/// Code that an ordinary compiler builds, and that RaceHunter does not see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Foreign {
    /// The file, beside the program.
    pub file: PathBuf,
    /// What becomes of it.
    pub form: Form,
}

/// What becomes of foreign code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// An object that is linked.
    Object,
    /// A shared library that is linked.
    Shared,
    /// A shared library that the program loads: `{dir}/NAME.so`.
    Loaded,
}

/// The best answer there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    /// The bug.
    Found,
    /// Nothing: more cannot be known.
    NoClaim,
    /// That there is none.
    Proved,
}

/// A program, and what there is to know about it.
#[derive(Clone, Debug)]
pub struct Probe {
    /// Class, file, and revision if it has some.
    pub name: String,
    /// The directory that it is in.
    pub class: String,
    /// The file.
    pub source: PathBuf,
    /// The command that is asked about it.
    pub asked: Asked,
    /// What is true about it.
    pub truth: Truth,
    /// Lines at which races may be reported; all, if none is marked.
    pub lines: BTreeSet<u32>,
    /// What the message of a true finding has in it; anything, if this is empty.
    pub says: String,
    /// Preemptions that are enough to see the bug, if that is known.
    pub preemptions: Option<u32>,
    /// Options for the compiler.
    pub flags: Vec<String>,
    /// Arguments of the program.
    pub args: Vec<String>,
    /// Options of the command.
    pub options: Vec<String>,
    /// What it must not do.
    pub must_not: BTreeSet<Ban>,
    /// A claim is true if one of these words is among its assumptions.
    pub unless_assumes: Vec<String>,
    /// Whether the command may refuse the program (exit code 2).
    pub may_refuse: bool,
    /// Whether the command may be killed by the program.
    pub may_die: bool,
    /// The best answer, where it is not the obvious one.
    pub want: Want,
    /// Code without instrumentation.
    pub with: Vec<Foreign>,
    /// Whether it is dangerous outside of a PID namespace of its own.
    pub isolate: bool,
}

/// Keys and values, as a program or the table of external ones has them.
type Words = Vec<(String, String)>;

impl Probe {
    /// Kinds that are true; nothing for a correct program.
    #[must_use]
    pub fn kinds(&self) -> Vec<&str> {
        match &self.truth {
            Truth::Bug(kinds) => kinds.iter().map(String::as_str).collect(),
            Truth::Clean | Truth::Any => Vec::new(),
        }
    }

    fn new(name: &str, source: &Path, words: &Words, lines: BTreeSet<u32>) -> Result<Vec<Self>, String> {
        let class = name.split('/').next().unwrap_or_default().to_owned();
        let asked = if class == "scan" { Asked::Scan } else { Asked::Hunt };
        let mut probe = Self {
            name: name.to_owned(),
            class,
            source: source.to_owned(),
            asked,
            truth: Truth::Any,
            lines,
            says: String::new(),
            preemptions: None,
            flags: Vec::new(),
            args: Vec::new(),
            options: Vec::new(),
            must_not: BTreeSet::new(),
            unless_assumes: Vec::new(),
            may_refuse: false,
            may_die: false,
            want: Want::Found,
            with: Vec::new(),
            isolate: false,
        };
        let (mut commands, mut truth, mut want) = (vec![asked], None, None);
        for (key, value) in words {
            let list = || value.split_whitespace().map(str::to_owned);
            match (key.as_str(), value.as_str()) {
                ("truth", value) => truth = Some(truth_of(value)?),
                ("command", value) => {
                    let parse = |word: &str| match word {
                        "hunt" => Ok(Asked::Hunt),
                        "scan" => Ok(Asked::Scan),
                        other => Err(format!("{name}: there is no command {other}")),
                    };
                    commands = value.split_whitespace().map(parse).collect::<Result<_, _>>()?;
                }
                ("flags", _) => probe.flags.extend(list()),
                ("args", _) => probe.args.extend(list()),
                ("options", _) => probe.options.extend(list()),
                ("unless-assumes", _) => probe.unless_assumes.extend(list()),
                ("preemptions", value) => {
                    probe.preemptions = Some(value.parse().map_err(|_| format!("{name}: {value} is no number"))?);
                }
                ("must-not", value) => {
                    for word in value.split_whitespace() {
                        probe.must_not.insert(match word {
                            "proved" => Ban::Proved,
                            "exit-0" => Ban::ExitZero,
                            other => return Err(format!("{name}: must-not {other}?")),
                        });
                    }
                }
                ("says", value) => probe.says = value.to_owned(),
                ("may", "refuse") => probe.may_refuse = true,
                ("may", "die") => probe.may_die = true,
                ("want", "found") => want = Some(Want::Found),
                ("want", "no-claim") => want = Some(Want::NoClaim),
                ("want", "proved") => want = Some(Want::Proved),
                ("with", value) => probe.with.push(foreign(source, value)?),
                ("isolate", "pid") => probe.isolate = true,
                ("about", _) => (),
                (key, value) => return Err(format!("{name}: `{key}: {value}` means nothing")),
            }
        }
        probe.truth = truth.ok_or_else(|| format!("{name} does not say what is true about it"))?;
        let usual = if probe.truth == Truth::Clean { Want::Proved } else { Want::Found };
        probe.want = want.unwrap_or(usual);
        let several = commands.len() > 1;
        let each = commands.into_iter().map(|asked| {
            let mut one = Self { asked, ..probe.clone() };
            if several {
                one.name += &format!(" ({})", asked.word());
            }
            if asked == Asked::Scan {
                one.only_races();
            }
            one
        });
        Ok(each.collect())
    }

    /// `scan` looks for nothing but races: a program whose bug is another one is correct for it.
    fn only_races(&mut self) {
        if let Truth::Bug(kinds) = &mut self.truth {
            // Freed memory that another thread uses is a race of `free` and the access.
            kinds.retain(|kind| matches!(kind.as_str(), "data-race" | "use-after-free"));
            if kinds.is_empty() {
                self.truth = Truth::Clean;
            }
        }
    }
}

fn truth_of(value: &str) -> Result<Truth, String> {
    Ok(match value {
        "clean" => Truth::Clean,
        "any" => Truth::Any,
        "" => return Err("an empty truth".to_owned()),
        kinds => {
            let kind = |word: &str| if word == "race" { "data-race".to_owned() } else { word.to_owned() };
            Truth::Bug(kinds.split_whitespace().map(kind).collect())
        }
    })
}

fn foreign(source: &Path, value: &str) -> Result<Foreign, String> {
    let (file, form) = value.rsplit_once(' ').ok_or_else(|| format!("with {value}: FILE FORM"))?;
    let form = match form {
        "gcc-object" => Form::Object,
        "gcc-shared" => Form::Shared,
        "gcc-loaded" => Form::Loaded,
        other => return Err(format!("with {value}: there is no form {other}")),
    };
    let beside = source.parent().unwrap_or(source);
    Ok(Foreign { file: beside.join(file.trim()), form })
}

/// All probes of the project.
pub fn probes() -> Result<Vec<Probe>, String> {
    below(&root().join("probes"))
}

/// All probes below a directory whose subdirectories are classes.
pub fn below(directory: &Path) -> Result<Vec<Probe>, String> {
    let mut probes = Vec::new();
    for class in entries(directory)? {
        if !class.is_dir() {
            continue;
        }
        for source in entries(&class)? {
            if is_source(&source) {
                let text = fs::read_to_string(&source).map_err(|error| format!("{}: {error}", source.display()))?;
                let name = format!("{}/{}", file_name(&class), file_name(&source));
                probes.extend(annotated(&name, &source, &text)?);
            }
        }
    }
    Ok(probes)
}

fn entries(directory: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = fs::read_dir(directory).map_err(|error| format!("{}: {error}", directory.display()))?;
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    Ok(paths)
}

fn is_source(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "c" || extension == "cpp")
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The probes that a source is: one for each of its revisions and commands.
pub fn annotated(name: &str, source: &Path, text: &str) -> Result<Vec<Probe>, String> {
    let (mut revisions, mut words, mut marks) = (Vec::new(), Vec::new(), Vec::new());
    for (number, line) in (1..).zip(text.lines()) {
        let Some((code, note)) = line.split_once("//~") else { continue };
        let (only, note) = match note.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((only, rest)) => (Some(only.to_owned()), rest.trim()),
            None => (None, note.trim()),
        };
        if !code.trim().is_empty() {
            if note != "bug" {
                return Err(format!("{name}:{number}: behind code there can only be `//~ bug`"));
            }
            marks.push((only, number));
            continue;
        }
        let (key, value) = note.split_once(':').ok_or_else(|| format!("{name}:{number}: `//~ KEY: VALUE`"))?;
        let value = value.trim();
        if key == "revisions" {
            revisions = value.split_whitespace().map(str::to_owned).collect();
        } else {
            words.push((only, (key.to_owned(), value.to_owned())));
        }
    }
    if revisions.is_empty() {
        let words = words.into_iter().map(|(_, word)| word).collect();
        return Probe::new(name, source, &words, marks.into_iter().map(|(_, line)| line).collect());
    }
    let mut probes = Vec::new();
    for revision in &revisions {
        let here = |only: &Option<String>| only.as_ref().is_none_or(|only| only == revision);
        let mut own: Words = words.iter().filter(|(only, _)| here(only)).map(|(_, word)| word.clone()).collect();
        own.push(("flags".to_owned(), format!("-D{}", revision.to_uppercase())));
        let lines = marks.iter().filter(|(only, _)| here(only)).map(|(_, line)| *line).collect();
        probes.extend(Probe::new(&format!("{name} [{revision}]"), source, &own, lines)?);
    }
    Ok(probes)
}

/// The table of external probes.
#[derive(Deserialize)]
struct External {
    probe: Vec<BTreeMap<String, String>>,
}

/// The probes of the table that are in this directory, and the sources there that the table does not have.
pub fn external(directory: &Path) -> Result<(Vec<Probe>, Vec<String>), String> {
    let table = root().join("probes/external.toml");
    let text = fs::read_to_string(&table).map_err(|error| format!("{}: {error}", table.display()))?;
    let table: External = toml::from_str(&text).map_err(|error| format!("{}: {error}", table.display()))?;
    let (mut probes, mut known) = (Vec::new(), BTreeSet::new());
    for entry in table.probe {
        let path = entry.get("path").ok_or("an external probe without a path")?;
        let source = directory.join(path);
        known.insert(source.clone());
        if !source.exists() {
            continue;
        }
        let revision = entry.get("revision").map(|name| format!(" [{name}]")).unwrap_or_default();
        let own = |(key, _): &(&String, &String)| !matches!(key.as_str(), "path" | "revision");
        let words = entry.iter().filter(own).map(|(key, value)| (key.clone(), value.clone())).collect();
        probes.extend(Probe::new(&format!("{path}{revision}"), &source, &words, BTreeSet::new())?);
    }
    for probe in &probes {
        known.extend(probe.with.iter().map(|foreign| foreign.file.clone()));
    }
    Ok((probes, strangers(directory, &known)?))
}

fn strangers(directory: &Path, known: &BTreeSet<PathBuf>) -> Result<Vec<String>, String> {
    let mut strangers = Vec::new();
    for path in entries(directory)? {
        if path.is_dir() {
            strangers.extend(strangers_below(&path, known)?);
        }
    }
    Ok(strangers)
}

fn strangers_below(class: &Path, known: &BTreeSet<PathBuf>) -> Result<Vec<String>, String> {
    let sources = entries(class)?.into_iter().filter(|path| is_source(path) && !known.contains(path));
    Ok(sources.map(|path| format!("{}/{}", file_name(class), file_name(&path))).collect())
}

/// What the command answered.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// Its exit code; nothing when a signal ended it.
    pub status: Option<i32>,
    /// It had to be ended.
    pub hung: bool,
    /// Processes that it left behind.
    pub left: usize,
    /// Its findings.
    pub findings: Vec<Finding>,
    /// The last line of a hunt.
    pub summary: Option<Value>,
    /// The last line of a scan.
    pub verdict: Option<Value>,
    /// The first line that is not as in the contract.
    pub garbage: Option<String>,
    /// What it wrote to standard error.
    pub stderr: String,
}

impl Answer {
    /// Reads what the command wrote.
    #[must_use]
    pub fn read(status: Option<i32>, stdout: &str, stderr: String) -> Self {
        let mut answer = Self { status, stderr, ..Self::default() };
        for line in stdout.lines() {
            let value: Option<Value> = serde_json::from_str(line).ok();
            let reason = value.as_ref().and_then(|value| value["reason"].as_str().map(str::to_owned));
            match (reason.as_deref(), value) {
                (Some("finding"), Some(value)) if Finding::deserialize(&value).is_ok() => {
                    answer.findings.extend(Finding::deserialize(&value).ok());
                }
                (Some("summary"), value) => answer.summary = value,
                (Some("verdict"), value) => answer.verdict = value,
                (Some(reason), _) if reason != "finding" => (),
                _ => answer.garbage = answer.garbage.or_else(|| Some(line.chars().take(200).collect())),
            }
        }
        answer
    }

    fn confirmed(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|finding| finding.confirmed)
    }

    fn says_complete(&self) -> bool {
        self.summary.as_ref().is_some_and(|summary| summary["complete"] == true)
    }

    fn says_race_free(&self) -> bool {
        self.verdict.as_ref().is_some_and(|verdict| verdict["verdict"] == "race-free")
    }

    /// The line of the answer that matters, in few words.
    #[must_use]
    pub fn line(&self) -> String {
        let mut parts: Vec<String> = self
            .findings
            .iter()
            .map(|f| format!("{}{}: {}", if f.confirmed { "" } else { "? " }, f.kind, f.message))
            .collect();
        parts.truncate(3);
        if let Some(summary) = &self.summary {
            let claim = if self.says_complete() { "complete" } else { "incomplete" };
            parts.push(format!(
                "{claim}: {}, {} executions, {} findings, {} diverged, {} stopped",
                summary["guarantee"].as_str().unwrap_or("?"),
                summary["executions"],
                summary["findings"],
                summary["diverged"],
                summary["timed_out"]
            ));
        }
        if let Some(verdict) = &self.verdict {
            let word = |key: &str| verdict[key].as_str().unwrap_or("-").to_owned();
            parts.push(format!("{} by {}: {}", word("verdict"), word("tier"), word("why")));
        }
        let status = self.status.map_or_else(|| "a signal".to_owned(), |status| format!("exit {status}"));
        parts.push(status);
        if parts.len() == 1 {
            parts.extend(self.stderr.lines().last().map(str::to_owned));
        }
        parts.join("; ")
    }
}

/// How an answer compares with the truth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The bug was reported.
    Found,
    /// A correct program was proved to be so.
    Proved,
    /// Nothing false, and nothing that helps.
    NoClaim,
    /// Something that is not true, in words.
    Wrong(Vec<String>),
}

impl Outcome {
    /// One word.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Found => "found",
            Self::Proved => "proved",
            Self::NoClaim => "no claim",
            Self::Wrong(_) => "WRONG",
        }
    }
}

/// Compares an answer with the truth.
#[must_use]
pub fn judge(probe: &Probe, answer: &Answer) -> Outcome {
    let mut wrong = how_it_ended(probe, answer);
    let found = answer.confirmed().any(|finding| is_true(probe, finding));
    for finding in answer.confirmed() {
        wrong.extend(is_false(probe, finding));
    }
    let silent = answer.confirmed().next().is_none();
    let claims = match probe.asked {
        Asked::Hunt => silent && answer.says_complete(),
        Asked::Scan => answer.says_race_free(),
    };
    let has_bug = matches!(probe.truth, Truth::Bug(_));
    if claims && (has_bug || probe.must_not.contains(&Ban::Proved)) && !is_assumed(probe, answer) {
        wrong.push(match probe.asked {
            Asked::Hunt => "claims to have explored everything, and found nothing".to_owned(),
            Asked::Scan => "race-free, which it is not".to_owned(),
        });
    }
    if has_bug && silent && !claims {
        wrong.extend(partial_claim(probe, answer));
    }
    if silent && answer.status == Some(0) && probe.must_not.contains(&Ban::ExitZero) {
        wrong.push("exit 0 and no finding, where a failure must have been seen".to_owned());
    }
    if !wrong.is_empty() {
        return Outcome::Wrong(wrong);
    }
    match (found, claims) {
        (true, _) => Outcome::Found,
        (false, true) => Outcome::Proved,
        (false, false) => Outcome::NoClaim,
    }
}

fn how_it_ended(probe: &Probe, answer: &Answer) -> Vec<String> {
    let mut wrong = Vec::new();
    if probe.may_die && !matches!(answer.status, Some(0..=4)) {
        return wrong;
    }
    if answer.hung {
        wrong.push("does not end".to_owned());
    } else {
        match answer.status {
            None => wrong.push("is ended by a signal".to_owned()),
            Some(0 | 1 | 3 | 4) => (),
            Some(2) if probe.may_refuse => (),
            Some(other) => {
                let last = answer.stderr.lines().rfind(|line| line.contains("error")).unwrap_or_default();
                wrong.push(format!("exit {other}: {last}"));
            }
        }
    }
    if answer.left > 0 {
        wrong.push(format!("leaves {} processes behind", answer.left));
    }
    wrong.extend(answer.garbage.iter().map(|line| format!("not as in the contract: {line}")));
    if probe.truth == Truth::Clean && answer.status == Some(1) && answer.confirmed().next().is_none() {
        wrong.push("exit 1 about a correct program".to_owned());
    }
    wrong
}

/// The kinds that a test fails with by itself have more than one name.
fn same_kind(truth: &str, kind: &str) -> bool {
    truth == kind || (truth == "exit-status" && kind.starts_with("exit"))
}

fn is_true(probe: &Probe, finding: &Finding) -> bool {
    finding.message.contains(&probe.says) && probe.kinds().iter().any(|truth| same_kind(truth, &finding.kind))
}

fn is_false(probe: &Probe, finding: &Finding) -> Option<String> {
    let Finding { kind, message, .. } = finding;
    match &probe.truth {
        Truth::Any => None,
        Truth::Clean => Some(format!("a false report: {kind}: {message}")),
        Truth::Bug(kinds) if !is_true(probe, finding) => {
            Some(format!("a false report: {kind}: {message}, where only {kinds:?} is true {}", probe.says))
        }
        Truth::Bug(_) => {
            let name = file_name(&probe.source);
            let lines: BTreeSet<u32> = finding.sites.iter().filter_map(|site| line_in(site, &name)).collect();
            let elsewhere = kind == "data-race" && !probe.lines.is_empty() && !lines.is_subset(&probe.lines);
            elsewhere.then(|| format!("{message} at lines {lines:?}, where only {:?} race", probe.lines))
        }
    }
}

/// The innermost line of a site in a file with this name.
fn line_in(site: &Site, name: &str) -> Option<u32> {
    let here = |file: &str| Path::new(file).file_name().is_some_and(|file| file == name);
    let own = here(&site.file).then_some(site.line);
    own.or_else(|| site.stack.iter().find(|frame| here(&frame.file)).map(|frame| frame.line))
}

fn is_assumed(probe: &Probe, answer: &Answer) -> bool {
    let Some(summary) = &answer.summary else { return false };
    let assumes = summary["assumes"].to_string();
    probe.unless_assumes.iter().any(|word| assumes.contains(word.as_str()))
}

/// "All schedules with <= 1 preemption" is a claim too, unless something is named that was not under control.
fn partial_claim(probe: &Probe, answer: &Answer) -> Option<String> {
    let (least, summary) = (probe.preemptions?, answer.summary.as_ref()?);
    let under_control = summary["uncontrolled"].as_array().is_none_or(Vec::is_empty);
    let guarantee = summary["guarantee"].as_str()?;
    let bound = match guarantee.split_once("<= ") {
        Some((_, rest)) => rest.split(' ').next()?.parse::<u32>().ok()?,
        None if guarantee.starts_with("all schedules") => u32::MAX,
        None => return None,
    };
    (under_control && bound >= least && !is_assumed(probe, answer))
        .then(|| format!("says `{guarantee}`, where {least} preemptions show the bug"))
}
