//! Campaigns on disk: `.racehunter/campaigns/NAME-HASH.rhc`. `hunt --resume` continues from such a file, and `merge` joins several.
//!
//! A file is one line of JSON, which identifies the campaign and has its results so far, followed by the state of the
//! search. Each new version is written to a temporary file that then replaces the old one, so a complete file exists at
//! any moment.

use crate::world::World;
use crate::{Clock, Error, Hunt, Subject, digest, files};
use racehunter_explore::{Campaign, Claim, Part, Summary};
use racehunter_finding::{Coverage, Finding};
use racehunter_report::Bound;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{BufRead as _, BufReader, BufWriter, Read as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Maximum length of the first line in bytes.
const MOST: u64 = 1 << 30;
/// The ending of file names that are being written.
const UNFINISHED: &str = ".unfinished";
/// Version of these files. Version 2 divides searches by `racehunter_log::History`: parts of different versions would
/// not add up to the whole. Version 3 contains the world of a campaign, and a checksum.
const VERSION: u32 = 3;

/// The identity of a campaign: everything that decides which schedules are run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Its standard input.
    pub input: Option<PathBuf>,
    /// The command that is started when it listens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// Options of the hunt, as on the command line.
    pub options: Vec<String>,
}

impl Identity {
    /// Returns the campaign of a program with these options.
    pub(crate) fn new(subject: &Subject, options: Vec<String>) -> Self {
        let Subject { path, arguments, input, client, .. } = subject.clone();
        Self { program: path, arguments, input, client, options }
    }

    /// Returns the program to run.
    pub(crate) fn subject(&self) -> Subject {
        let Self { program, arguments, input, client, .. } = self.clone();
        Subject { path: program, arguments, input, client, libraries: None }
    }

    /// Returns a hash of the campaign and one of its parts.
    fn number(&self, part: Part) -> u64 {
        let part = part.to_string();
        let input = self.input.as_deref().map_or(&b""[..], |input| input.as_os_str().as_bytes());
        let counts = [self.arguments.len() as u64, u64::from(self.input.is_some())].map(u64::to_le_bytes);
        let fixed = [self.program.as_os_str().as_bytes(), &counts[0], &counts[1], input, part.as_bytes()];
        let words = self.arguments.iter().chain(&self.options).chain(&self.client);
        digest::number(fixed.into_iter().chain(words.map(String::as_bytes)))
    }
}

/// The first line of a file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Kept {
    version: u32,
    /// Its identity.
    pub identity: Identity,
    /// The identity of the program when the campaign began: a rebuilt program is a different one.
    pub build: String,
    /// What else the program depends on: environment, input, libraries.
    world: World,
    /// Which part of the campaign, as `K/N`.
    pub part: String,
    /// The words of the command line, after `hunt`.
    pub words: Vec<String>,
    /// The time it took so far.
    pub elapsed: Duration,
    /// The ids of the findings so far, in order.
    pub findings: Vec<String>,
    /// Findings that no replay has confirmed so far.
    pub unconfirmed: Vec<Finding>,
    /// The bounds that are finished.
    pub bounds: Vec<Bound>,
    /// What was explored.
    pub coverage: Coverage,
    /// Guarantees of finished stages: bound, words, whether nothing is left, whether it covers only this part.
    pub claims: Vec<(Option<u32>, String, bool, bool)>,
    /// Sites that are points because memory is shared there.
    pub sites: Vec<u32>,
    /// Places in the code at which a decision was possible.
    pub places: Vec<u64>,
    /// Executions that every part makes.
    pub common: u64,
}

impl Kept {
    /// Returns what differs between the worlds of two parts.
    pub(crate) fn world_differs(&self, other: &Self) -> Option<String> {
        self.world.difference(&other.world)
    }

    /// Returns the guarantees of finished stages.
    pub fn claims(&self) -> Vec<Claim> {
        let claim = |(bound, words, everything, divided): &(Option<u32>, String, bool, bool)| Claim {
            bound: *bound,
            words: words.clone(),
            everything: *everything,
            divided: *divided,
        };
        self.claims.iter().map(claim).collect()
    }

    /// Returns the part of the campaign.
    pub fn part(&self) -> Part {
        self.part.parse().unwrap_or_default()
    }
}

/// What a hunt has reported so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reported {
    /// The ids of confirmed findings, in order.
    pub findings: Vec<String>,
    /// Findings that no replay has confirmed so far.
    pub unconfirmed: Vec<Finding>,
    /// The bounds that are finished.
    pub bounds: Vec<Bound>,
}

/// Returns the directory of the campaigns.
pub fn directory(out: &Path) -> PathBuf {
    out.join("campaigns")
}

/// Saves the state of a hunt from time to time.
pub(crate) struct Keeper {
    path: PathBuf,
    identity: Identity,
    build: String,
    world: World,
    part: Part,
    words: Vec<String>,
    clock: Clock,
    /// When this run of the command began, and the duration of earlier ones.
    began: Instant,
    before: Duration,
    /// When it was last saved, and how long that took.
    last: Instant,
    took: Duration,
    /// True if the user was warned that it cannot be saved.
    has_warned: bool,
}

/// Minimum time between two saves. A hunt that is killed loses no more than that, unless saving takes long.
const EVERY: Duration = Duration::from_secs(2);
/// Saving takes at most one part in this many of the time.
const SHARE: u32 = 40;

impl Keeper {
    /// Returns the keeper of a campaign that begins now.
    pub(crate) fn new(hunt: &Hunt<'_>, identity: Identity, build: &str, world: World, clock: Clock) -> Self {
        let part = hunt.budget.part;
        let name = identity.program.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let path = directory(hunt.out).join(format!("{name}-{:016x}.rhc", identity.number(part)));
        let (words, began) = (hunt.words.clone(), hunt.began);
        let (before, last, took) = (Duration::ZERO, clock.now(), Duration::ZERO);
        let build = build.to_owned();
        Self { path, identity, build, world, part, words, clock, began, before, last, took, has_warned: false }
    }

    /// Adds a library that an execution has loaded.
    pub(crate) fn add_library(&mut self, path: &Path) {
        self.world.add_library(path);
    }

    /// Returns the time that the campaign took so far.
    pub(crate) fn elapsed(&self) -> Duration {
        self.before + self.clock.since(self.began)
    }

    /// Opens the file of this campaign; the state of its search follows.
    pub(crate) fn open(&mut self) -> Result<(Kept, BufReader<File>), Error> {
        let program = self.identity.program.clone();
        let Some((kept, state)) = self.find()? else {
            return Err(Error::NoSuchCampaign { program, path: self.path.clone() });
        };
        if kept.build != self.build {
            return Err(Error::CampaignRebuilt(program));
        }
        if let Some(what) = self.world.change_since(&kept.world) {
            return Err(Error::WorldChanged { program, what });
        }
        self.before = kept.elapsed;
        self.tidy();
        Ok((kept, state))
    }

    /// Returns the file of this campaign. Earlier versions named it differently, so the contents of other files count
    /// too.
    fn find(&self) -> Result<Option<(Kept, BufReader<File>)>, Error> {
        if self.path.exists() {
            return read(&self.path).map(Some);
        }
        let Some(others) = self.path.parent().and_then(Path::parent).map(all) else { return Ok(None) };
        let others = others.unwrap_or_default().into_iter().rev();
        let is_it = |kept: &Kept| kept.identity == self.identity && kept.part == self.part.to_string();
        Ok(others.filter_map(|path| read(&path).ok()).find(|(kept, _)| is_it(kept)))
    }

    /// Removes the files of a run that was killed while it saved.
    fn tidy(&self) {
        let (Some(directory), Some(stem)) = (self.path.parent(), self.path.file_stem()) else { return };
        let stem = stem.to_string_lossy();
        for path in std::fs::read_dir(directory).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path())) {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if name.trim_start_matches('.').starts_with(&*stem) && name.ends_with(UNFINISHED) {
                // Best effort: a file that stays does no harm.
                let _ = std::fs::remove_file(&path);
            }
        }
    }

    /// Returns when the next save is due.
    pub(crate) fn due(&self) -> Instant {
        self.last + EVERY.max(self.took * SHARE)
    }

    /// Saves the campaign. If this fails, returns the reason the first time; the hunt continues.
    pub(crate) fn save(
        &mut self,
        campaign: &Campaign<'_>,
        summary: &Summary,
        coverage: Coverage,
        reported: &Reported,
    ) -> Option<Error> {
        self.last = self.clock.now();
        let result = self.write(campaign, summary, coverage, reported);
        self.took = self.clock.since(self.last);
        self.last = self.clock.now();
        let error = result.err()?;
        (!std::mem::replace(&mut self.has_warned, true)).then_some(error)
    }

    fn write(
        &self,
        campaign: &Campaign<'_>,
        summary: &Summary,
        coverage: Coverage,
        reported: &Reported,
    ) -> Result<(), Error> {
        let Claimed { claims, sites, places, common } = claimed(summary);
        let kept = Kept {
            version: VERSION,
            identity: self.identity.clone(),
            build: self.build.clone(),
            world: self.world.clone(),
            part: self.part.to_string(),
            words: self.words.clone(),
            elapsed: self.elapsed(),
            findings: reported.findings.clone(),
            unconfirmed: reported.unconfirmed.clone(),
            bounds: reported.bounds.clone(),
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
        let mut file = files::unfinished(&self.path, UNFINISHED)?;
        let put = |file: &mut File| -> std::io::Result<()> {
            let mut out = BufWriter::new(&mut *file);
            out.write_all(&first_line(&kept)?)?;
            campaign.save(&mut out)?;
            out.flush()?;
            drop(out);
            // It gets its name only when it is completely on disk, so that even a power failure leaves no partial file.
            file.sync_data()
        };
        put(file.as_file_mut()).map_err(Error::file("write", &self.path))?;
        files::finish(file, &self.path)
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

/// The start of a line, followed by the digest of the rest.
const CHECKSUM: &str = "{\"checksum\":\"";

fn first_line(kept: &Kept) -> serde_json::Result<Vec<u8>> {
    let json = serde_json::to_vec(kept)?;
    let rest = json.strip_prefix(b"{").unwrap_or(&json);
    let start = format!("{CHECKSUM}{}\",", digest::sha256(rest));
    Ok([start.as_bytes(), rest, b"\n"].concat())
}

/// Returns true if the first line of a file is intact.
fn is_whole(line: &[u8]) -> bool {
    let Some(rest) = line.strip_prefix(CHECKSUM.as_bytes()) else { return false };
    let (Some(sum), Some(content)) = (rest.get(..64), rest.get(66..)) else { return false };
    digest::sha256(content.strip_suffix(b"\n").unwrap_or(content)).as_bytes() == sum
}

/// Reads a file up to the state of the search.
///
/// # Errors
/// If it cannot be read, or was written by another version.
pub fn read(path: &Path) -> Result<(Kept, BufReader<File>), Error> {
    let mut file = BufReader::new(files::open(path).map_err(Error::file("read", path))?);
    let mut line = Vec::new();
    (&mut file).take(MOST).read_until(b'\n', &mut line).map_err(Error::file("read", path))?;
    let version = |value: &serde_json::Value| value.get("version").and_then(serde_json::Value::as_u64);
    let damaged = |source| Error::Damaged { path: path.to_path_buf(), what: "campaign", source };
    let value: serde_json::Value = serde_json::from_slice(&line).map_err(damaged)?;
    if version(&value).is_some_and(|version| version != u64::from(VERSION)) {
        return Err(Error::CampaignVersion(path.to_path_buf()));
    }
    if !is_whole(&line) {
        return Err(damaged(serde::de::Error::custom("its checksum is another one")));
    }
    Ok((serde_json::from_value(value).map_err(damaged)?, file))
}

/// Returns the campaigns in a directory, the most recently saved one last.
///
/// # Errors
/// If there is no directory of campaigns.
pub fn all(out: &Path) -> Result<Vec<PathBuf>, Error> {
    files::check_out(out)?;
    let directory = directory(out);
    let entries = std::fs::read_dir(&directory)
        .map_err(|source| Error::NoCampaigns { out: out.to_path_buf(), source })?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "rhc"));
    let mut paths: Vec<_> = entries.map(|path| (path.metadata().and_then(|of| of.modified()).ok(), path)).collect();
    paths.sort();
    Ok(paths.into_iter().map(|(_, path)| path).collect())
}

/// Returns the words of a command line after `hunt`, without `--resume`.
#[must_use]
pub fn words(line: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut options = true;
    line.into_iter()
        .skip(2)
        .filter(|word| {
            options &= word != "--";
            !(options && word == "--resume")
        })
        .collect()
}

/// Returns the words of the last campaign, followed by `more`, which override them.
///
/// # Errors
/// If the campaign does not exist or cannot be read.
pub fn recall(out: &Path, more: Vec<String>) -> Result<Vec<String>, Error> {
    let last = all(out)?.pop().ok_or_else(|| Error::NoLastCampaign(out.to_path_buf()))?;
    let (kept, _) = read(&last)?;
    let end = kept.words.iter().position(|word| word == "--").unwrap_or(kept.words.len());
    let (options, arguments) = kept.words.split_at(end);
    let all = options.iter().cloned().chain(["--resume".to_owned()]).chain(more);
    Ok(all.chain(arguments.iter().cloned()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keeper_of(out: &Path, options: &[&str]) -> Keeper {
        let subject = Subject {
            path: "/bin/program".into(),
            arguments: vec!["1".to_owned()],
            input: None,
            client: None,
            libraries: None,
        };
        let identity = Identity::new(&subject, options.iter().map(|&option| option.to_owned()).collect());
        let path = directory(out).join(format!("program-{:016x}.rhc", identity.number(Part::WHOLE)));
        let now = Instant::now();
        Keeper {
            path,
            identity,
            build: "build".to_owned(),
            world: World::default(),
            part: Part::WHOLE,
            words: Vec::new(),
            clock: Clock::new(move || now),
            began: now,
            before: Duration::ZERO,
            last: now,
            took: Duration::ZERO,
            has_warned: false,
        }
    }

    fn kept(keeper: &Keeper, version: u32) -> String {
        let kept = Kept {
            version,
            identity: keeper.identity.clone(),
            build: keeper.build.clone(),
            world: World::default(),
            part: keeper.part.to_string(),
            words: Vec::new(),
            elapsed: Duration::from_secs(3),
            findings: Vec::new(),
            unconfirmed: Vec::new(),
            bounds: Vec::new(),
            coverage: Coverage::default(),
            claims: Vec::new(),
            sites: Vec::new(),
            places: Vec::new(),
            common: 0,
        };
        let line = String::from_utf8(first_line(&kept).expect("it can be written")).expect("text");
        line + "state"
    }

    #[test]
    fn a_campaign_is_found_under_the_name_that_an_earlier_version_gave_it() {
        let out = tempfile::tempdir().expect("a directory");
        let mut keeper = keeper_of(out.path(), &["--bound 2"]);
        assert!(matches!(keeper.open(), Err(Error::NoSuchCampaign { .. })));
        std::fs::create_dir_all(directory(out.path())).expect("a directory");
        let old = directory(out.path()).join("program-0123456789abcdef.rhc");
        std::fs::write(&old, kept(&keeper, VERSION)).expect("a file");
        keeper.open().expect("it is the same campaign");
        assert_eq!(keeper.elapsed(), Duration::from_secs(3));
        let mut other = keeper_of(out.path(), &["--bound 3"]);
        assert!(matches!(other.open(), Err(Error::NoSuchCampaign { .. })), "other options are another campaign");
        std::fs::write(&keeper.path, kept(&keeper, VERSION + 1)).expect("a file");
        assert!(matches!(keeper.open(), Err(Error::CampaignVersion(_))), "another version is refused");
    }

    #[test]
    fn no_byte_of_the_first_line_can_change_unnoticed() {
        let out = tempfile::tempdir().expect("a directory");
        let keeper = keeper_of(out.path(), &["--bound 2"]);
        let (path, text) = (out.path().join("campaign.rhc"), kept(&keeper, VERSION).into_bytes());
        std::fs::write(&path, &text).expect("a file");
        read(&path).expect("it is whole");
        let line = text.iter().position(|&byte| byte == b'\n').expect("a line");
        for at in 0..line {
            let mut changed = text.clone();
            changed[at] ^= 1;
            std::fs::write(&path, changed).expect("a file");
            assert!(read(&path).is_err(), "byte {at} of {line}");
        }
    }

    #[test]
    fn names_depend_on_everything_that_tells_campaigns_apart() {
        let out = Path::new("out");
        let number = |options: &[&str]| keeper_of(out, options).identity.number(Part::WHOLE);
        assert_eq!(number(&["--bound 2"]), number(&["--bound 2"]));
        assert_ne!(number(&["--bound 2"]), number(&["--bound 3"]));
        let part = "1/2".parse().expect("a part");
        assert_ne!(keeper_of(out, &[]).identity.number(part), number(&[]));
    }

    #[test]
    fn the_words_of_a_line_lose_only_the_wish_to_resume() {
        let line = ["racehunter", "hunt", "--resume", "--bound", "3", "a.c", "--", "--resume"];
        let words = words(line.map(str::to_owned));
        assert_eq!(words, ["--bound", "3", "a.c", "--", "--resume"]);
    }
}
