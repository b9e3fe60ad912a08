//! Known findings: each `[[suppress]]` of `racehunter.toml` names one, or describes several.

use crate::settings::SettingsError;
use crate::{Error, files, sources};
use racehunter_finding::{Finding, Kind, Site};
use serde::Deserialize;
use std::cell::Cell;
use std::path::Path;

/// Findings that are reported but do not count.
#[derive(Clone, Debug, Default)]
pub struct Suppressions(Vec<Suppression>);

/// One suppression: by an id, or by all of the other fields.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Suppression {
    id: Option<String>,
    /// The file in which a finding with this id was: ids depend on file names but not on directories.
    at: Option<String>,
    kind: Option<Kind>,
    /// Pattern for the function of one of the places.
    function: Option<String>,
    /// Pattern for the file of the same place.
    file: Option<String>,
    reason: String,
    /// True if it matched a finding.
    #[serde(skip)]
    is_used: Cell<bool>,
}

impl Suppressions {
    /// Reads `[[suppress]]` of a file.
    ///
    /// # Errors
    /// If it cannot be understood.
    pub fn parse(file: &str, value: toml::Value) -> Result<Self, Error> {
        let all = value.try_into::<Vec<Suppression>>();
        let all = all.map_err(|source| Error::SuppressionForm { file: file.to_owned(), source })?;
        for one in &all {
            one.check(file)?;
        }
        Ok(Self(all))
    }

    /// Reads a file that contains only `[[suppress]]`.
    ///
    /// # Errors
    /// If it cannot be understood.
    pub fn read(file: &str, text: &str) -> Result<Self, Error> {
        let form = |source| Error::SuppressionForm { file: file.to_owned(), source };
        let mut table: toml::Table = toml::from_str(text).map_err(form)?;
        let all = table.remove("suppress").map_or_else(|| Ok(Self::default()), |value| Self::parse(file, value))?;
        match table.keys().next() {
            None => Ok(all),
            Some(other) => Err(Error::Suppression {
                message: format!("`{file}`: `{other}` is not a suppression"),
                help: "this file has nothing but [[suppress]]; settings go to racehunter.toml",
            }),
        }
    }

    /// Adds other suppressions.
    #[must_use]
    pub fn and(mut self, others: Self) -> Self {
        self.0.extend(others.0);
        self
    }

    /// Returns true if there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns how many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Marks a finding as suppressed, with the reason, if it is a known one.
    pub fn apply(&self, finding: &mut Finding) {
        let known = self.0.iter().find(|known| known.covers(finding));
        finding.suppressed = known.map(|known| {
            known.is_used.set(true);
            known.reason.clone()
        });
    }

    /// Returns descriptions of the suppressions that matched no finding.
    pub fn unused(&self) -> impl Iterator<Item = String> {
        self.0.iter().filter(|one| !one.is_used.get()).map(|one| {
            let part = |name: &str, value: Option<&str>| value.map(|value| format!("{name} = \"{value}\""));
            let parts = [
                part("id", one.id.as_deref()),
                part("kind", one.kind.map(Kind::name)),
                part("function", one.function.as_deref()),
                part("file", one.file.as_deref()),
            ];
            parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
        })
    }
}

/// Returns the contents of a baseline file, or the first line of a new one.
///
/// # Errors
/// If it cannot be read, or is not text.
pub fn baseline(path: &Path) -> Result<String, Error> {
    if !path.exists() {
        return Ok("# Findings of RaceHunter that do not count. `racehunter suppress` adds to this file.\n".to_owned());
    }
    let bytes = files::read(path).map_err(Error::file("read", path))?;
    Ok(String::from_utf8(bytes).map_err(|source| SettingsError::NotText(path.display().to_string(), source))?)
}

/// Writes a baseline file. Its old contents may have been anything, and the next command must be able to read the new
/// ones.
///
/// # Errors
/// If the next command could not read it, or it cannot be written.
pub fn write_baseline(path: &Path, text: &str) -> Result<(), Error> {
    Suppressions::read(&path.display().to_string(), text)?;
    files::write(path, text.as_bytes())
}

impl Suppression {
    fn check(&self, file: &str) -> Result<(), Error> {
        let advise = |message: String, help: &'static str| Error::Suppression { message, help };
        let described = self.function.is_some() || self.file.is_some();
        let what = match (&self.id, described) {
            (Some(id), _) if id.len() != 8 || !id.bytes().all(|letter| letter.is_ascii_hexdigit()) => {
                return Err(advise(
                    format!("`{file}`: `{id}` is not the id of a finding"),
                    "an id has eight digits, as it is printed after `racehunter replay`",
                ));
            }
            (Some(id), _) if described || self.kind.is_some() => {
                return Err(advise(
                    format!("`{file}`: the suppression of `{id}` has more than an id"),
                    "an id is enough; leave out `kind`, `function` and `file`",
                ));
            }
            (Some(id), _) => format!("the suppression of `{id}`"),
            (None, false) => {
                return Err(advise(
                    format!("`{file}`: a suppression does not say what it is about"),
                    "give an `id`, or a pattern for a `function` or a `file`; a `kind` alone would hide too much",
                ));
            }
            (None, true) => "a suppression".to_owned(),
        };
        if self.reason.trim().is_empty() {
            return Err(advise(
                format!("`{file}`: {what} has no reason"),
                "say why the finding does not matter: it is reported along with it",
            ));
        }
        Ok(())
    }

    fn covers(&self, finding: &Finding) -> bool {
        match &self.id {
            Some(id) => *id == finding.id && self.at.as_deref().is_none_or(|at| may_be_at(at, finding)),
            None => {
                self.kind.is_none_or(|kind| kind == finding.kind)
                    && finding.sites.iter().any(|site| self.covers_at(site))
            }
        }
    }

    fn covers_at(&self, site: &Site) -> bool {
        // Names of C++ functions include their parameters.
        let function = site.function.split('(').next().unwrap_or_default();
        let name = site.file.rsplit('/').next().unwrap_or_default();
        let fits_function = |pattern: &String| matches(pattern, function);
        let fits_file =
            |pattern: &String| matches(pattern, &site.file) || !pattern.contains('/') && matches(pattern, name);
        self.function.as_ref().is_none_or(fits_function) && self.file.as_ref().is_none_or(fits_file)
    }
}

/// Returns true if a finding may be in this file. The start of a path depends on where a program was built.
fn may_be_at(file: &str, finding: &Finding) -> bool {
    let Some(site) = finding.sites.first() else { return true };
    [file, &site.file].iter().any(|path| Path::new(path).is_absolute()) || sources::may_be_same(file, &site.file)
}

/// Returns the text of a suppression of one finding.
#[must_use]
pub fn entry(finding: &Finding, reason: &str) -> String {
    let place = finding.sites.first().map_or_else(String::new, |site| format!(" at {}:{}", site.file, site.line));
    let about = racehunter_report::clean(&format!("{}: {}{place}", finding.kind.name(), finding.message));
    let text = |text: &str| toml::Value::String(racehunter_report::clean(text)).to_string();
    let file = finding.sites.first().map(|site| site.file.as_str()).filter(|file| !file.is_empty());
    let at = file.map_or_else(String::new, |file| format!("at = {}\n", text(file)));
    format!("\n# {about}\n[[suppress]]\nid = {}\n{at}reason = {}\n", text(&finding.id), text(reason))
}

/// Returns true if a text matches a pattern: `*` stands for anything, `?` for one character.
fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let (mut at, mut in_text) = (0, 0);
    // The last star, and the first character after what it stands for.
    let mut star = None;
    while in_text < text.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, in_text));
                at += 1;
            }
            Some(&letter) if letter == '?' || letter == text[in_text] => {
                at += 1;
                in_text += 1;
            }
            _ => match star {
                Some((last, first)) => {
                    star = Some((last, first + 1));
                    (at, in_text) = (last + 1, first + 1);
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|letter| *letter == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns an error with its causes.
    fn chain(error: &dyn std::error::Error) -> String {
        let causes = error.source().map_or_else(String::new, |cause| format!(": {}", chain(cause)));
        format!("{error}{causes}")
    }

    #[test]
    fn patterns() {
        for (pattern, text) in [
            ("stats_add", "stats_add"),
            ("stats_*", "stats_add"),
            ("*", ""),
            ("*.c", "src/a.c"),
            ("src/*/a.c", "src/b/c/a.c"),
            ("a?c", "abc"),
            ("*ab*ab", "abxababab"),
        ] {
            assert!(matches(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in
            [("stats", "stats_add"), ("stats_?", "stats_"), ("*.c", "a.cc"), ("", "a"), ("a*b", "ba")]
        {
            assert!(!matches(pattern, text), "{pattern} {text}");
        }
    }

    fn parse(text: &str) -> Result<Suppressions, Error> {
        let mut table: toml::Table = toml::from_str(text).expect("TOML");
        Suppressions::parse("racehunter.toml", table.remove("suppress").expect("suppressions"))
    }

    fn finding(kind: &str, places: &[(&str, &str)]) -> Finding {
        let site = |(file, function): &(&str, &str)| {
            serde_json::json!({ "file": file, "line": 1, "column": 1, "function": function, "thread": "main",
                "entry": "main", "access": "read", "size": 4, "locks": [], "stack": [] })
        };
        let sites: Vec<_> = places.iter().map(site).collect();
        serde_json::from_value(serde_json::json!({ "id": "7f3a0c11", "kind": kind, "message": "", "sites": sites,
            "replayed": [5, 5], "confirmed": true, "execution": 1, "preemptions": 0,
            "schedule": { "switches": [] }, "steps": [], "object": null, "notes": [] }))
        .expect("a finding")
    }

    #[test]
    fn what_a_suppression_covers() {
        let covers = |text: &str, finding: &Finding| {
            let mut finding = finding.clone();
            parse(&format!("[[suppress]]\nreason = 'known'\n{text}")).expect("good").apply(&mut finding);
            finding.suppressed.is_some()
        };
        let race = finding("data-race", &[("src/queue.c", "push"), ("src/stats.c", "Stats::add(int)")]);
        for covered in [
            "id = '7f3a0c11'",
            "kind = 'data-race'\nfunction = 'Stats::*'",
            "function = 'Stats::add'",
            "file = 'stats.c'",
            "file = 'src/*'",
            "function = 'Stats::add'\nfile = 'src/stats.c'",
        ] {
            assert!(covers(covered, &race), "{covered}");
        }
        for other in [
            "id = '7f3a0c12'",
            "kind = 'deadlock'\nfunction = 'Stats::*'",
            "function = 'add'",
            "file = 'tats.c'",
            // Each place is matched separately.
            "function = 'push'\nfile = 'src/stats.c'",
        ] {
            assert!(!covers(other, &race), "{other}");
        }
    }

    #[test]
    fn what_is_written_into_a_file_is_read_again() {
        let mut race = finding("data-race", &[("src/queue.c", "push")]);
        race.message = "data race on `q`\n[[suppress]]".to_owned();
        let text = entry(&race, "known: \"benign\"\nsince 2019");
        let read = Suppressions::read("baseline.toml", &text).expect("good");
        assert_eq!(read.len(), 1);
        read.apply(&mut race);
        assert_eq!(race.suppressed.as_deref(), Some("known: \"benign\" since 2019"));
        assert!(Suppressions::read("baseline.toml", "").expect("nothing").is_empty());
        let wrong = Suppressions::read("baseline.toml", "bound = 3");
        assert!(wrong.is_err_and(|error| error.to_string().contains("`bound` is not a suppression")));
    }

    #[test]
    fn mistakes_are_told() {
        let told = |text: &str, part: &str| {
            let result = parse(&format!("[[suppress]]\n{text}"));
            assert!(result.is_err_and(|error| chain(&error).contains(part)), "{text} should say {part}");
        };
        told("id = '7f3a0c11'", "has a `reason`");
        told("id = '7f3a0c11'\nreason = ' '", "has no reason");
        told("id = '7f3a'\nreason = 'known'", "is not the id of a finding");
        told("kind = 'data-race'\nreason = 'known'", "does not say what it is about");
        told("kind = 'race'\nfunction = 'a'\nreason = 'known'", "unknown variant `race`");
        told("id = '7f3a0c11'\nfile = 'a.c'\nreason = 'known'", "has more than an id");
        told("function = 'a'\nline = 3\nreason = 'known'", "has a `reason`");
    }
}
