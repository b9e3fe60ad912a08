//! Programs for which the right answer is known; the convention is in `probes/README.md`.
//!
//! For a program below `targets/`, everything must be right. A probe demands less, of more programs: everything the
//! command says about it must be true, but it may say nothing.

use crate::tool::root;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The command to ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Asked {
    /// `racehunter hunt`
    Hunt,
    /// `racehunter scan`
    Scan,
}

impl Asked {
    /// Returns its name.
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
    /// It does not matter: the program tests how the command copes with it.
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
    /// How it is used.
    pub form: Form,
}

/// How foreign code is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// An object that is linked.
    Object,
    /// A shared library that is linked.
    Shared,
    /// A shared library that the program loads: `{dir}/NAME.so`.
    Loaded,
}

/// The best possible answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    /// The bug is found.
    Found,
    /// Nothing is claimed: more cannot be known.
    NoClaim,
    /// The program is proved correct.
    Proved,
}

/// A program with its annotations.
#[derive(Clone, Debug)]
pub struct Probe {
    /// Class and file, and revision if there are several.
    pub name: String,
    /// Its directory.
    pub class: String,
    /// The file.
    pub source: PathBuf,
    /// The command that is asked about it.
    pub asked: Asked,
    /// What is true about it.
    pub truth: Truth,
    /// Lines at which races may be reported; all, if none is marked.
    pub lines: BTreeSet<u32>,
    /// Text that the message of a true finding contains; empty for any.
    pub says: String,
    /// The number of preemptions that is enough to see the bug, if known.
    pub preemptions: Option<u32>,
    /// Options for the compiler.
    pub flags: Vec<String>,
    /// Arguments of the program.
    pub args: Vec<String>,
    /// Options of the command.
    pub options: Vec<String>,
    /// What the command must not do.
    pub must_not: BTreeSet<Ban>,
    /// A claim is true if one of these words is among its assumptions.
    pub unless_assumes: Vec<String>,
    /// True if the command may refuse the program (exit code 2).
    pub may_refuse: bool,
    /// True if the program may kill the command.
    pub may_die: bool,
    /// The best answer, where it is not the obvious one.
    pub want: Want,
    /// Uninstrumented code.
    pub with: Vec<Foreign>,
    /// True if the race is on memory, so that `scan` can be asked too.
    pub cross: bool,
    /// True if it is dangerous outside its own PID namespace.
    pub isolate: bool,
}

/// Keys and values, as in a program or in the table of external ones.
type Words = Vec<(String, String)>;

impl Probe {
    /// Returns the kinds that are true; nothing for a correct program.
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
            cross: true,
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
                ("cross", "no") => probe.cross = false,
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

    /// `scan` looks only for races: a program with another kind of bug is correct for it.
    fn only_races(&mut self) {
        if let Truth::Bug(kinds) = &mut self.truth {
            // A use of freed memory by another thread is a race between `free` and the access.
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

/// Returns all probes of the project.
pub fn probes() -> Result<Vec<Probe>, String> {
    below(&root().join("probes"))
}

/// Returns all probes below a directory whose subdirectories are classes.
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

pub(crate) fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Returns the probes of a source: one for each of its revisions and commands.
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

/// Returns the probes of the table that are in this directory, and the sources there that the table does not have.
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
