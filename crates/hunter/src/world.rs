//! What an execution depends on besides the program and its arguments: environment, standard input, libraries, working
//! directory.
//!
//! A claim is about one input. A campaign that is resumed or divided must find the same world each time; otherwise its
//! results are not about one program. A finding shows again only in the world in which it was found. Files that the
//! program opens are not compared. If they matter, this usually shows in the end and the output of the first execution;
//! the claim lists the rest as an assumption.

use crate::{digest, files};
use racehunter_explore::Execution;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// Variables that differ between sessions, terminals and jobs of the same user. They count only if the program contains
/// their name.
const OF_SESSIONS: [&str; 18] = [
    "_",
    "COLORTERM",
    "COLUMNS",
    "DISPLAY",
    "HOSTNAME",
    "INVOCATION_ID",
    "JOURNAL_STREAM",
    "LINES",
    "LS_COLORS",
    "OLDPWD",
    "PWD",
    "SHLVL",
    "STY",
    "TERM",
    "TMUX",
    "TMUX_PANE",
    "WINDOWID",
    "XAUTHORITY",
];

/// Prefixes of further ones.
const BEGINNINGS: [&str; 14] = [
    "ACTIONS_",
    "BUILDKITE_",
    "CARGO_",
    "CI_",
    "CIRCLE_",
    "DBUS_",
    "GITHUB_",
    "GITLAB_",
    "JENKINS_",
    "RACEHUNTER_",
    "RUNNER_",
    "SSH_",
    "TERM_",
    "XDG_",
];

/// What a program inherits from the command.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// Variables of the environment.
    pub environment: Vec<(OsString, OsString)>,
    /// The working directory.
    pub directory: PathBuf,
}

/// The world of a campaign.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct World {
    /// Digest of the program: a build id can be given to any program.
    program: String,
    /// Digests of the environment variables. Values can be secret, so they are not stored.
    environment: BTreeMap<String, String>,
    /// Digest of the standard input, if it is a file.
    input: Option<String>,
    /// The identities of the libraries, by path.
    libraries: BTreeMap<PathBuf, String>,
    /// The working directory.
    directory: PathBuf,
    /// Digest of the end and the output of the first execution; absent if threads ran freely.
    first: Option<String>,
}

impl World {
    /// Captures the world before a campaign begins or resumes.
    pub(crate) fn new(surroundings: &Surroundings, program: &Path, input: Option<&Path>) -> Self {
        let Surroundings { environment, directory } = surroundings;
        let program = files::read(program).unwrap_or_default();
        let counts = |name: &OsStr| !is_of_session(&name.to_string_lossy()) || contains(&program, name.as_bytes());
        let of =
            |(name, value): &(OsString, OsString)| (name.to_string_lossy().into_owned(), short(&[value.as_bytes()]));
        Self {
            program: digest::sha256(&program),
            environment: environment.iter().filter(|(name, _)| counts(name)).map(of).collect(),
            input: input.and_then(digest_of),
            libraries: BTreeMap::new(),
            directory: directory.clone(),
            first: None,
        }
    }

    /// Adds a library that is part of the program.
    pub(crate) fn add_library(&mut self, path: &Path) {
        if !self.libraries.contains_key(path)
            && let Ok(library) = racehunter_symbols::inspect(path)
        {
            self.libraries.insert(path.to_path_buf(), library.identity);
        }
    }

    /// Notes the result of the first execution.
    pub(crate) fn set_first(&mut self, first: &Execution) {
        let outcome = format!("{:?}", first.outcome);
        let numbers = [first.events, u64::from(first.threads)].map(u64::to_le_bytes);
        self.first = Some(short(&[outcome.as_bytes(), &numbers[0], &numbers[1], &first.output]));
    }

    /// Returns true if this file is the program.
    pub(crate) fn is_of(&self, program: &Path) -> bool {
        digest_of(program).is_some_and(|digest| digest == self.program)
    }

    /// Returns true if this file is the input.
    pub(crate) fn has_input(&self, input: &Path) -> bool {
        self.input.is_none() || digest_of(input) == self.input
    }

    /// Returns what has changed since a campaign began that is now resumed.
    pub(crate) fn change_since(&self, then: &Self) -> Option<String> {
        if self.directory != then.directory {
            return Some(format!("it ran in `{}`", then.directory.display()));
        }
        // Libraries that were loaded later may not be known this early.
        let rebuilt = then.libraries.iter().find(|(path, identity)| {
            racehunter_symbols::inspect(path).map(|library| library.identity).ok().as_ref() != Some(identity)
        });
        if let Some((path, _)) = rebuilt {
            return Some(format!("`{}` has changed", path.display()));
        }
        self.difference(then)
    }

    /// Returns what differs between the worlds of two parts. They may have run on different machines, in different
    /// directories.
    pub(crate) fn difference(&self, other: &Self) -> Option<String> {
        if self.program != other.program {
            return Some("the program differs, though its build id is the same".to_owned());
        }
        let names = self.environment.keys().chain(other.environment.keys());
        let mut differing = names.filter(|&name| self.environment.get(name) != other.environment.get(name));
        if let Some(name) = differing.next() {
            return Some(format!("the variable `{name}` of the environment differs"));
        }
        if self.input != other.input {
            return Some("the contents of the input differ".to_owned());
        }
        let named = |world: &Self| -> BTreeMap<OsString, String> {
            let of = |(path, identity): (&PathBuf, &String)| Some((path.file_name()?.to_owned(), identity.clone()));
            world.libraries.iter().filter_map(of).collect()
        };
        let theirs = named(other);
        let differs = |(name, identity): &(OsString, String)| theirs.get(name).is_some_and(|other| other != identity);
        if let Some((name, _)) = named(self).into_iter().find(differs) {
            return Some(format!("the library `{}` differs", name.display()));
        }
        match (&self.first, &other.first) {
            (Some(one), Some(other)) if one != other => {
                Some("its first execution differs, as if a file that it reads did".to_owned())
            }
            _ => None,
        }
    }
}

/// Variables that the C library reads, which are named in no program; prefixes end in `_`. Those that only say where libraries are do
/// not matter: the libraries themselves are compared.
const OF_C_LIBRARY: [&str; 6] = ["GLIBC_TUNABLES", "LANG", "LANGUAGE", "LC_", "MALLOC_", "TZ"];

/// Returns the variables of the environment that a program may read, because its files name them or the C library reads them,
/// with digests of their values. Others on the engine can read these, so a digest has only 16 bits: too few to
/// find a secret by.
pub(crate) fn readable_variables<'a>(
    surroundings: &Surroundings,
    files: impl Iterator<Item = &'a Path>,
) -> BTreeMap<String, String> {
    let files: Vec<Vec<u8>> = files.filter_map(|file| files::read(file).ok()).collect();
    let is_of_library =
        |name: &str| OF_C_LIBRARY.iter().any(|known| name == *known || known.ends_with('_') && name.starts_with(known));
    let counts = |name: &OsStr| {
        let named = || files.iter().any(|file| contains(file, name.as_bytes()));
        !name.is_empty() && (is_of_library(&name.to_string_lossy()) || named())
    };
    let of = |(name, value): &(OsString, OsString)| {
        (
            name.to_string_lossy().into_owned(),
            format!("{:04x}", digest::number([value.as_bytes()].into_iter()) & 0xffff),
        )
    };
    surroundings.environment.iter().filter(|(name, _)| counts(name)).map(of).collect()
}

fn digest_of(file: &Path) -> Option<String> {
    files::read(file).ok().map(|content| digest::sha256(&content))
}

fn is_of_session(name: &str) -> bool {
    OF_SESSIONS.contains(&name) || BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    memchr::memmem::find(bytes, part).is_some()
}

fn short(parts: &[&[u8]]) -> String {
    format!("{:016x}", digest::number(parts.iter().copied()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn world(variables: &[(&str, &str)], program: &Path) -> World {
        let environment = variables.iter().map(|&(name, value)| (name.into(), value.into())).collect();
        World::new(&Surroundings { environment, directory: PathBuf::new() }, program, None)
    }

    #[test]
    fn a_variable_that_the_program_may_read_counts() {
        let directory = tempfile::tempdir().expect("a directory");
        let program = directory.path().join("program");
        std::fs::write(&program, b"...GITHUB_RUN_ID\0...").expect("a file");
        let of = |variables: &[(&str, &str)]| world(variables, &program);
        let difference = of(&[("LIMIT", "1")]).difference(&of(&[("LIMIT", "2")]));
        assert_eq!(difference.as_deref(), Some("the variable `LIMIT` of the environment differs"));
        assert!(of(&[("LIMIT", "1")]).difference(&of(&[])).is_some(), "one that is gone differs too");
        assert_eq!(of(&[("SHLVL", "1")]).difference(&of(&[("SHLVL", "2")])), None);
        assert_eq!(of(&[("GITHUB_JOB", "1")]).difference(&of(&[("GITHUB_JOB", "2")])), None);
        assert!(of(&[("GITHUB_RUN_ID", "1")]).difference(&of(&[("GITHUB_RUN_ID", "2")])).is_some());
    }

    #[test]
    fn variables_that_a_program_names_and_those_of_the_c_library_can_be_read() {
        let directory = tempfile::tempdir().expect("a directory");
        let program = directory.path().join("program");
        std::fs::write(&program, b"...LENIENT\0...").expect("a file");
        let of = |variables: &[(&str, &str)]| {
            let environment = variables.iter().map(|&(name, value)| (name.into(), value.into())).collect();
            let surroundings = Surroundings { environment, directory: PathBuf::new() };
            readable_variables(&surroundings, [program.as_path()].into_iter())
        };
        let all = of(&[("LENIENT", "1"), ("LC_ALL", "C"), ("TZ", "UTC"), ("TZDIR", "x"), ("SECRET", "a")]);
        assert_eq!(all.keys().collect::<Vec<_>>(), ["LC_ALL", "LENIENT", "TZ"]);
        assert_ne!(of(&[("LENIENT", "1")]), of(&[("LENIENT", "2")]));
        assert!(all.values().all(|digest| digest.len() == 4), "{all:?}");
    }

    #[test]
    fn input_and_libraries_are_compared_by_content() {
        let directory = tempfile::tempdir().expect("a directory");
        let (input, library) = (directory.path().join("input"), directory.path().join("lib.so"));
        let now = |content: &str, code: &str| {
            std::fs::write(&input, content).expect("a file");
            std::fs::write(&library, code).expect("a file");
            let mut world = World::new(&Surroundings::default(), Path::new("/bin/sh"), Some(&input));
            world.add_library(&library);
            world
        };
        let then = now("1", "code");
        assert_eq!(now("1", "code").change_since(&then), None);
        assert!(now("2", "code").change_since(&then).is_some_and(|what| what.contains("input")));
        assert!(now("1", "other").change_since(&then).is_some_and(|what| what.contains("lib.so` has changed")));
        assert!(now("1", "other").difference(&then).is_some_and(|what| what.contains("lib.so` differs")));
    }
}
