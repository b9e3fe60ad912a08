//! Campaigns on disk: `.racehunter/campaigns/NAME-HASH.rhc`, from which a hunt goes on, and which `merge` reads.
//!
//! A file is one line of JSON, which says what campaign it is and what came of it so far, and then the state of the
//! search. It is written beside its place and moved there, so that at any moment there is a whole one.

use crate::arguments::{Hunt, World};
use crate::exit::advise;
use crate::files;
use anyhow::{Context as _, Result};
use racehunter_explore::{Campaign, Claim, Part, Summary};
use racehunter_finding::{Coverage, Finding};
use racehunter_report::Bound;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{BufRead as _, BufReader, BufWriter, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Bytes of the line that says what campaign it is, at most.
const MOST: u64 = 1 << 30;
/// Version of these files. Version 2 divides searches by [`racehunter_log::History`]: parts of different versions would not add up to
/// the whole.
const VERSION: u32 = 2;

/// What campaign it is: everything that decides which schedules are run.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Identity {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Its standard input.
    pub input: Option<PathBuf>,
    /// Options of the hunt, as they would be written.
    pub options: Vec<String>,
}

impl Identity {
    /// The campaign that these arguments ask for.
    pub fn new(program: &Path, arguments: &Hunt) -> Self {
        let Hunt { analysis, bound, bound_kind, depth, strategy, points, no_spurious, seed, .. } = arguments;
        let Hunt {
            variables,
            threads,
            confidence,
            iterations,
            whole_objects,
            selective,
            reduction,
            check_output,
            allow_exit_status,
            free_running,
            no_iterate,
            preparatory,
            world: World { shared_files, shared_network },
            ..
        } = arguments;
        let options = vec![
            format!("--analysis {analysis:?}"),
            format!("--bound {bound}"),
            format!("--bound-kind {bound_kind:?}"),
            format!("--variables {variables}"),
            format!("--threads {threads:?}"),
            format!("--confidence {confidence}"),
            format!("--iterations {iterations:?}"),
            format!("--whole-objects {whole_objects}"),
            format!("--depth {depth}"),
            format!("--strategy {strategy:?}"),
            format!("--points {points:?}"),
            format!("--no-spurious {no_spurious}"),
            format!("--seed {seed}"),
            format!("--selective {selective}"),
            format!("--reduction {reduction:?}"),
            format!("--check-output {check_output}"),
            format!("--allow-exit-status={allow_exit_status}"),
            format!("--free-running {free_running}"),
            format!("--detector {:?}", arguments.detector()),
            format!("--shared-files {shared_files}"),
            format!("--no-iterate {no_iterate}"),
            format!("--preparatory {preparatory}"),
            format!("--shared-network {shared_network}"),
        ];
        let (program, input) = (program.to_path_buf(), arguments.input.clone());
        Self { program, arguments: arguments.arguments.clone(), input, options }
    }
}

/// The first line of a file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Kept {
    version: u32,
    /// What campaign it is.
    pub identity: Identity,
    /// What the program was when it began: one that was built again is another one.
    pub build: String,
    /// Which part of the campaign, as `K/N`.
    pub part: String,
    /// The words of the command line, after `hunt`.
    pub words: Vec<String>,
    /// Time that it took so far.
    pub elapsed: Duration,
    /// The ids of the findings so far, in order.
    pub findings: Vec<String>,
    /// Findings that no replay has confirmed so far.
    pub unconfirmed: Vec<Finding>,
    /// The bounds that are finished.
    pub bounds: Vec<Bound>,
    /// What was explored.
    pub coverage: Coverage,
    /// What finished stages guarantee: bound, words, whether nothing is left, whether it is for the part alone.
    pub claims: Vec<(Option<u32>, String, bool, bool)>,
    /// Sites that are points because memory is shared there.
    pub sites: Vec<u32>,
    /// Places in the code at which a decision was possible.
    pub places: Vec<u64>,
    /// Executions that every part makes.
    pub common: u64,
}

impl Kept {
    /// What finished stages guarantee.
    pub fn claims(&self) -> Vec<Claim> {
        let claim = |(bound, words, everything, divided): &(Option<u32>, String, bool, bool)| Claim {
            bound: *bound,
            words: words.clone(),
            everything: *everything,
            divided: *divided,
        };
        self.claims.iter().map(claim).collect()
    }

    /// Which part of the campaign.
    pub fn part(&self) -> Part {
        self.part.parse().unwrap_or_default()
    }
}

/// What a hunt has told so far.
#[derive(Clone, Debug, Default)]
pub struct Told {
    /// The ids of confirmed findings, in order.
    pub findings: Vec<String>,
    /// Findings that no replay has confirmed so far.
    pub unconfirmed: Vec<Finding>,
    /// The bounds that are finished.
    pub bounds: Vec<Bound>,
}

/// The directory of the campaigns.
pub fn directory(out: &Path) -> PathBuf {
    out.join("campaigns")
}

/// Writes the state of a hunt every now and then.
pub struct Keeper {
    path: PathBuf,
    identity: Identity,
    build: String,
    part: Part,
    words: Vec<String>,
    /// When this run of the command began, and how long earlier ones took.
    began: Instant,
    before: Duration,
    /// When it was last written, and how long that took.
    last: Instant,
    took: Duration,
    /// That it cannot be written was told.
    complained: bool,
}

/// Between two writings, at least. Whoever is killed loses no more than that.
const EVERY: Duration = Duration::from_secs(2);
/// Writing may take this part of the time.
const SHARE: u32 = 10;

impl Keeper {
    /// The keeper of a campaign that begins now, or went on for a while `before`.
    pub fn new(out: &Path, identity: Identity, build: &str, part: Part, began: Instant) -> Self {
        let mut hasher = DefaultHasher::new();
        (&identity, part.to_string()).hash(&mut hasher);
        let name = identity.program.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let path = directory(out).join(format!("{name}-{:016x}.rhc", hasher.finish()));
        let words = words();
        let (before, last, took) = (Duration::ZERO, Instant::now(), Duration::ZERO);
        Self { path, identity, build: build.to_owned(), part, words, began, before, last, took, complained: false }
    }

    /// Time that the campaign took so far.
    pub fn elapsed(&self) -> Duration {
        self.before + self.began.elapsed()
    }

    /// What is kept of this campaign, and the state of its search behind it.
    pub fn open(&mut self) -> Result<(Kept, BufReader<File>)> {
        let name = self.identity.program.display().to_string();
        if !self.path.exists() {
            return Err(advise(
                format!("there is no campaign of `{name}` with these options in `{}`", self.path.display()),
                "start it without --resume; `racehunter hunt --resume` alone goes on with the last one",
            ));
        }
        let (kept, state) = read(&self.path)?;
        if kept.build != self.build {
            return Err(advise(
                format!("`{name}` is not the program that the campaign began with"),
                "it was built again since; hunt it without --resume",
            ));
        }
        self.before = kept.elapsed;
        self.tidy();
        Ok((kept, state))
    }

    /// Removes what a run of the command left behind that was killed while it wrote.
    fn tidy(&self) {
        let (Some(directory), Some(stem)) = (self.path.parent(), self.path.file_stem()) else { return };
        let stem = stem.to_string_lossy();
        for path in std::fs::read_dir(directory).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path())) {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if name.starts_with(&*stem) && name.ends_with(".unfinished") {
                // Best effort: it is in nobody's way.
                let _ = std::fs::remove_file(&path);
            }
        }
    }

    /// When it is time to write again.
    pub fn due(&self) -> Instant {
        self.last + EVERY.max(self.took * SHARE)
    }

    /// Writes the campaign. That it cannot be written is told once, and no reason to stop.
    pub fn save(&mut self, campaign: &Campaign<'_>, summary: &Summary, coverage: Coverage, told: &Told) {
        self.last = Instant::now();
        let result = self.write(campaign, summary, coverage, told);
        self.took = self.last.elapsed();
        self.last = Instant::now();
        if let Err(error) = result
            && !std::mem::replace(&mut self.complained, true)
        {
            eprintln!("warning: the campaign cannot be kept, so it cannot be resumed: {error:#}");
        }
    }

    fn write(&self, campaign: &Campaign<'_>, summary: &Summary, coverage: Coverage, told: &Told) -> Result<()> {
        let Claimed { claims, sites, places, common } = claimed(summary);
        let kept = Kept {
            version: VERSION,
            identity: self.identity.clone(),
            build: self.build.clone(),
            part: self.part.to_string(),
            words: self.words.clone(),
            elapsed: self.elapsed(),
            findings: told.findings.clone(),
            unconfirmed: told.unconfirmed.clone(),
            bounds: told.bounds.clone(),
            coverage,
            claims,
            sites,
            places,
            common,
        };
        if let Some(directory) = self.path.parent() {
            if let Some(out) = directory.parent() {
                files::check_out(out)?;
            }
            files::directory(directory)?;
        }
        let unfinished = self.path.with_extension(format!("{}.unfinished", std::process::id()));
        let put = || -> std::io::Result<()> {
            let mut out = BufWriter::new(files::create(&unfinished)?);
            serde_json::to_writer(&mut out, &kept)?;
            out.write_all(b"\n")?;
            campaign.save(&mut out)?;
            let file = out.into_inner().map_err(std::io::IntoInnerError::into_error)?;
            // Moved only when it is whole on the disk, so that not even a loss of power leaves half of it.
            file.sync_data()?;
            std::fs::rename(&unfinished, &self.path)
        };
        put().with_context(|| format!("cannot write `{}`", self.path.display())).inspect_err(|_| {
            // Best effort: it is of no use to anybody.
            let _ = std::fs::remove_file(&unfinished);
        })
    }
}

/// The parts of a summary that `merge` needs.
struct Claimed {
    claims: Vec<(Option<u32>, String, bool, bool)>,
    sites: Vec<u32>,
    places: Vec<u64>,
    common: u64,
}

fn claimed(summary: &Summary) -> Claimed {
    let claim = |claim: &Claim| (claim.bound, claim.words.clone(), claim.everything, claim.divided);
    Claimed {
        claims: summary.claims.iter().map(claim).collect(),
        sites: summary.sites.clone(),
        places: summary.places.clone(),
        common: summary.counts.common,
    }
}

/// Reads a file up to the state of the search.
pub fn read(path: &Path) -> Result<(Kept, BufReader<File>)> {
    let name = path.display();
    let file = files::open(path).with_context(|| format!("cannot read `{name}`"))?;
    let mut file = BufReader::new(file);
    let mut line = Vec::new();
    (&mut file).take(MOST).read_until(b'\n', &mut line).with_context(|| format!("cannot read `{name}`"))?;
    let version = |value: &serde_json::Value| value.get("version").and_then(serde_json::Value::as_u64);
    let value: serde_json::Value =
        serde_json::from_slice(&line).with_context(|| format!("`{name}` is not a campaign"))?;
    if version(&value).is_some_and(|version| version != u64::from(VERSION)) {
        return Err(advise(format!("`{name}` was written by another version of RaceHunter"), "hunt without --resume"));
    }
    let kept = serde_json::from_value(value).with_context(|| format!("`{name}` is not a campaign"))?;
    Ok((kept, file))
}

/// The campaigns in a directory, the one that was written last at the end.
pub fn all(out: &Path) -> Result<Vec<PathBuf>> {
    files::check_out(out)?;
    let directory = directory(out);
    let entries = std::fs::read_dir(&directory)
        .with_context(|| format!("there are no campaigns in `{}`", out.display()))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "rhc"));
    let mut paths: Vec<_> = entries.map(|path| (path.metadata().and_then(|of| of.modified()).ok(), path)).collect();
    paths.sort();
    Ok(paths.into_iter().map(|(_, path)| path).collect())
}

/// The words of this command line after `hunt`, without the one that asks to resume.
pub fn words() -> Vec<String> {
    let words = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
    let mut options = true;
    words
        .skip(2)
        .filter(|word| {
            options &= word != "--";
            !(options && word == "--resume")
        })
        .collect()
}

/// The words of the last campaign, with those of this command line added: what comes later counts.
pub fn recall(out: &Path) -> Result<Vec<String>> {
    let last = all(out)?.pop().ok_or_else(|| {
        advise(format!("there is no campaign in `{}`", out.display()), "start one: racehunter hunt PROGRAM")
    })?;
    let (kept, _) = read(&last)?;
    let end = kept.words.iter().position(|word| word == "--").unwrap_or(kept.words.len());
    let (options, arguments) = kept.words.split_at(end);
    let all = options.iter().cloned().chain(["--resume".to_owned()]).chain(words());
    Ok(all.chain(arguments.iter().cloned()).collect())
}
