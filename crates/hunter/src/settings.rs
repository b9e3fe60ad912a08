//! The settings of a project: `racehunter.toml` and the environment hold options that would otherwise be typed each
//! time.
//!
//! Both are turned into words of the command line, in front of those that were typed. Flags therefore override the
//! environment, the environment overrides the file, and everything is checked in one place. The caller says which
//! options there are ([`Known`]), and passes in the environment.

use crate::{Error, Suppressions, files};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The name of the file, which is in the working directory or above.
const NAME: &str = "racehunter.toml";
/// The file beside it with the suppressed findings: `racehunter suppress` adds to it.
pub const BASELINE: &str = "racehunter-baseline.toml";
/// The environment variable that names another file, or none when it is empty.
pub const VARIABLE: &str = "RACEHUNTER_CONFIG";
/// The prefix of every variable that stands for an option.
const PREFIX: &str = "RACEHUNTER_";

/// Whether an option takes a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// It is a flag.
    Nothing,
    /// It may have one.
    Maybe,
    /// It has one.
    Value,
}

/// A command and its options that can be set, by their long names.
pub type Known = (&'static str, Vec<(String, Takes)>);

/// Why settings cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// The file is not TOML.
    #[error("`{0}` cannot be understood")]
    Form(String, #[source] toml::de::Error),
    /// The file is not text.
    #[error("`{0}` is not text")]
    NotText(String, #[source] std::string::FromUtf8Error),
    /// A command is not a table.
    #[error("`{0}`: `{1}` is a table: [{1}]")]
    NotATable(String, &'static str),
    /// A flag with another value.
    #[error("{0} is true or false")]
    NotAFlag(String),
    /// A value of another type.
    #[error("{0} is text or a number")]
    NotAValue(String),
    /// A name that is no option of the command.
    #[error("`{file}`: `{name}` is not an option of `racehunter {command}`")]
    NotAnOption {
        /// The file.
        file: String,
        /// The name.
        name: String,
        /// The command.
        command: &'static str,
    },
    /// A name that is no option of any command.
    #[error("`{file}`: there is no option `{name}`")]
    NoOption {
        /// The file.
        file: String,
        /// The name.
        name: String,
        /// The commands.
        commands: String,
    },
}

impl SettingsError {
    /// Returns what to do about it, if there is any advice.
    pub(crate) fn help(&self) -> Option<String> {
        match self {
            Self::NotAnOption { command: "hunt", .. } => {
                Some("`racehunter hunt --help-all` has all of them".to_owned())
            }
            Self::NotAnOption { command, .. } => Some(format!("`racehunter {command} --help` has all of them")),
            Self::NoOption { commands, .. } => {
                Some(format!("options have the names that they have after `--`; tables are {commands}"))
            }
            _ => None,
        }
    }
}

/// The contents of the file.
#[derive(Debug, Default)]
pub struct Settings {
    path: PathBuf,
    /// Options for every command that has them, by their long names.
    everywhere: toml::Table,
    /// Options of one command.
    commands: BTreeMap<&'static str, toml::Table>,
    /// Suppressed findings.
    pub suppressions: Suppressions,
}

impl Settings {
    /// Finds and reads the file and the baseline. Without a file, all options have their defaults.
    ///
    /// `named` is the value of [`VARIABLE`]. `warn` gets a warning about each file that belongs to another user, which is
    /// not read unless the user has named it.
    ///
    /// # Errors
    /// If a file cannot be read or understood.
    pub fn load(
        named: Option<OsString>,
        here: Option<&Path>,
        known: &[Known],
        warn: &dyn Fn(String),
    ) -> Result<Self, Error> {
        if named.as_ref().is_some_and(|name| name.is_empty()) {
            return Ok(Self::default());
        }
        let beside = |name: &str| here.and_then(|directory| find(directory, name));
        let path = named.as_ref().map(PathBuf::from).or_else(|| beside(NAME));
        let mut settings = match path.as_deref().map(|path| trusted(path, named.is_some(), warn)) {
            Some(Some(text)) => Self::parse(path.clone().unwrap_or_default(), &text?, known)?,
            Some(None) | None => Self::default(),
        };
        let baseline = match &named {
            Some(_) => path.map(|path| path.with_file_name(BASELINE)).filter(|path| path.is_file()),
            None => beside(BASELINE),
        };
        if let Some(baseline) = baseline
            && let Some(text) = trusted(&baseline, named.is_some(), warn)
        {
            let suppressed = Suppressions::read(&baseline.display().to_string(), &text?)?;
            settings.suppressions = settings.suppressions.and(suppressed);
        }
        Ok(settings)
    }

    fn parse(path: PathBuf, text: &str, known: &[Known]) -> Result<Self, Error> {
        let name = path.display().to_string();
        let mut table: toml::Table =
            toml::from_str(text).map_err(|source| SettingsError::Form(name.clone(), source))?;
        let suppressions = match table.remove("suppress") {
            Some(value) => Suppressions::parse(&name, value)?,
            None => Suppressions::default(),
        };
        let mut commands = BTreeMap::new();
        for &(command, _) in known {
            match table.remove(command) {
                Some(toml::Value::Table(options)) => drop(commands.insert(command, options)),
                Some(_) => return Err(SettingsError::NotATable(name, command).into()),
                None => {}
            }
        }
        Ok(Self { path, everywhere: table, commands, suppressions })
    }

    /// Describes the settings in a few words.
    #[must_use]
    pub fn describe(&self) -> String {
        if self.path.as_os_str().is_empty() {
            return format!("no {NAME} here or above");
        }
        let number = self.suppressions.len();
        format!("{} ({number} {})", self.path.display(), if number == 1 { "suppression" } else { "suppressions" })
    }

    /// Returns the command line with the options from the file and the environment in front of its own.
    ///
    /// # Errors
    /// If a setting is not an option, or has a value that the option cannot have.
    pub fn complete(
        &self,
        words: Vec<OsString>,
        known: &[Known],
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Vec<OsString>, Error> {
        self.check(known)?;
        let command = words.get(1).and_then(|word| word.to_str());
        let Some((command, options)) = known.iter().find(|(name, _)| Some(*name) == command) else { return Ok(words) };
        let mut added: Vec<OsString> = Vec::new();
        for (name, takes) in options {
            let own = self.commands.get(command).and_then(|table| table.get(name));
            let in_file = own.or_else(|| self.everywhere.get(name)).map(|value| (text(value), None));
            let variable = format!("{PREFIX}{}", name.to_uppercase().replace('-', "_"));
            let in_environment = environment(&variable).map(|value| (Some(value), Some(variable)));
            let Some((value, variable)) = in_environment.or(in_file) else { continue };
            let place = variable.unwrap_or_else(|| format!("`{}`: `{name}`", self.path.display()));
            match (takes, value.as_deref()) {
                (Takes::Nothing | Takes::Maybe, Some("true" | "1")) => added.push(format!("--{name}").into()),
                (Takes::Nothing | Takes::Maybe, Some("false" | "0" | "")) => {}
                (Takes::Value | Takes::Maybe, Some(value)) => added.push(format!("--{name}={value}").into()),
                (Takes::Nothing, _) => return Err(SettingsError::NotAFlag(place).into()),
                (Takes::Value | Takes::Maybe, None) => return Err(SettingsError::NotAValue(place).into()),
            }
        }
        let rest = words.iter().skip(2).cloned();
        Ok(words.iter().take(2).cloned().chain(added).chain(rest).collect())
    }

    /// Refuses names that are not options: such a mistake would otherwise go unnoticed.
    fn check(&self, known: &[Known]) -> Result<(), SettingsError> {
        let file = self.path.display().to_string();
        for (command, options) in known {
            let is_known = |key: &str| options.iter().any(|(name, _)| name == key);
            let mut names = self.commands.get(command).into_iter().flat_map(toml::Table::keys);
            if let Some(name) = names.find(|key| !is_known(key)) {
                return Err(SettingsError::NotAnOption { file, name: name.clone(), command });
            }
        }
        let is_known = |key: &str| known.iter().flat_map(|(_, options)| options).any(|(name, _)| name == key);
        match self.everywhere.keys().find(|key| !is_known(key)) {
            Some(name) => {
                let commands = known.iter().map(|(command, _)| *command).collect::<Vec<_>>().join(", ");
                Err(SettingsError::NoOption { file, name: name.clone(), commands })
            }
            None => Ok(()),
        }
    }
}

/// Returns the text of a settings file. `None` if the file belongs to another user, unless the user has named it
/// explicitly.
fn trusted(path: &Path, is_named: bool, warn: &dyn Fn(String)) -> Option<Result<String, Error>> {
    let name = path.display();
    if !is_named && !std::fs::metadata(path).is_ok_and(|found| files::is_own(&found)) {
        warn(format!("`{name}` belongs to another user, and is not read; set {VARIABLE}={name} to use it"));
        return None;
    }
    let text = files::read(path).map_err(Error::file("read", path));
    Some(text.and_then(|text| {
        Ok(String::from_utf8(text).map_err(|source| SettingsError::NotText(name.to_string(), source))?)
    }))
}

fn find(directory: &Path, name: &str) -> Option<PathBuf> {
    directory.ancestors().map(|directory| directory.join(name)).find(|path| path.is_file())
}

fn text(value: &toml::Value) -> Option<String> {
    match value {
        toml::Value::String(text) => Some(text.clone()),
        toml::Value::Integer(number) => Some(number.to_string()),
        toml::Value::Float(number) => Some(number.to_string()),
        toml::Value::Boolean(flag) => Some(flag.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known() -> Vec<Known> {
        let options = |list: &[(&str, Takes)]| list.iter().map(|&(name, takes)| (name.to_owned(), takes)).collect();
        let hunt = [
            ("bound", Takes::Value),
            ("stop-on-first", Takes::Nothing),
            ("reduction", Takes::Maybe),
            ("time", Takes::Value),
            ("out", Takes::Value),
            ("color", Takes::Value),
        ];
        vec![("hunt", options(&hunt)), ("replay", options(&[("out", Takes::Value), ("color", Takes::Value)]))]
    }

    fn complete(text: &str, environment: &[(&str, &str)], line: &str) -> Result<Vec<String>, Error> {
        let words = line.split(' ').map(OsString::from).collect();
        let look =
            |name: &str| environment.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        let settings = Settings::parse(PathBuf::from(NAME), text, &known())?;
        let words = settings.complete(words, &known(), &look)?;
        Ok(words.into_iter().map(|word| word.into_string().expect("text")).collect())
    }

    /// Any file is either settings or an error.
    #[test]
    fn no_file_makes_it_panic() {
        let good = "time = \"5s\"\n[hunt]\nbound = 5\nstop-on-first = true\n[[suppress]]\nid = \"7f3a0c11\"\n\
                    reason = \"known\"\n[[suppress]]\nkind = \"data-race\"\nfunction = \"f*\"\nreason = \"so\"\n";
        assert!(complete(good, &[], "racehunter hunt a.c").is_ok());
        let mut random = 1_u64;
        let mut below = |limit: usize| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) as usize % limit
        };
        let mut refused = 0;
        for _ in 0..500 {
            let mut bytes = good.as_bytes().to_vec();
            for _ in 0..1 + below(3) {
                match below(3) {
                    0 => drop(bytes.remove(below(bytes.len()))),
                    1 => bytes.insert(below(bytes.len()), b"[]\"=.{}\n0-x*"[below(12)]),
                    _ => bytes.truncate(1 + below(bytes.len())),
                }
            }
            refused += u32::from(complete(&String::from_utf8_lossy(&bytes), &[], "racehunter hunt a.c").is_err());
        }
        assert!((100..500).contains(&refused), "{refused}");
    }

    #[test]
    fn the_environment_counts_more_than_the_file_and_both_come_before_the_line() {
        let file = "[hunt]\nbound = 5\ntime = '9s'\nstop-on-first = true\n";
        let environment = [("RACEHUNTER_BOUND", "4"), ("RACEHUNTER_STOP_ON_FIRST", "false")];
        let words = complete(file, &environment, "racehunter hunt --bound 3 a.c").expect("good settings");
        assert_eq!(words, ["racehunter", "hunt", "--bound=4", "--time=9s", "--bound", "3", "a.c"]);
        let words = complete(file, &[], "racehunter hunt a.c").expect("good settings");
        assert_eq!(words, ["racehunter", "hunt", "--bound=5", "--stop-on-first", "--time=9s", "a.c"]);
    }

    #[test]
    fn what_may_have_a_value_need_not_have_one() {
        let reduction = |value: &str| {
            let words = complete(&format!("reduction = {value}"), &[], "racehunter hunt a.c").expect("good settings");
            words[2..words.len() - 1].to_vec()
        };
        assert_eq!(reduction("true"), ["--reduction"]);
        assert_eq!(reduction("false"), [""; 0]);
        assert_eq!(reduction("'dynamic'"), ["--reduction=dynamic"]);
    }

    #[test]
    fn settings_for_all_commands_reach_those_that_have_them() {
        let file = "out = 'kept'\ncolor = 'never'\nbound = 1\n[hunt]\nout = 'hunted'\n";
        let words = complete(file, &[], "racehunter hunt a.c").expect("good");
        assert!(words.contains(&"--out=hunted".to_owned()) && words.contains(&"--bound=1".to_owned()), "{words:?}");
        let words = complete(file, &[], "racehunter replay 7f3a").expect("good");
        assert!(words.contains(&"--out=kept".to_owned()) && !words.iter().any(|word| word.contains("bound")));
        assert_eq!(complete(file, &[], "racehunter doctor").expect("good"), ["racehunter", "doctor"]);
        assert_eq!(complete(file, &[], "racehunter cc -c a.c").expect("good").len(), 4);
    }

    #[test]
    fn mistakes_are_reported() {
        let reported = |text: &str, part: &str| {
            let result = complete(text, &[], "racehunter hunt a.c");
            assert!(result.is_err_and(|error| error.chain().contains(part)), "{text} should say {part}");
        };
        reported("[hunt]\nbond = 3", "`bond` is not an option of `racehunter hunt`");
        reported("bond = 3", "there is no option `bond`");
        reported("[hunt]\nstop-on-first = 'yes'", "is true or false");
        reported("[hunt]\nbound = [1]", "is text or a number");
        reported("hunt = 1", "is a table");
        reported("[hunt", "cannot be understood");
    }
}
