//! `racehunter.toml` and the environment: options that would otherwise be typed each time. Both are turned into words
//! of the command line, in front of those that were typed. Flags therefore override the environment, the environment
//! overrides the file, and everything is checked in one place.

use crate::exit::advise;
use anyhow::{Context as _, Result};
use clap::ArgAction;
use racehunter_hunter::{Suppressions, files};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The name of the file, which is in the working directory or above.
const NAME: &str = "racehunter.toml";
/// The file beside it with the suppressed findings: `racehunter suppress` adds to it.
pub const BASELINE: &str = "racehunter-baseline.toml";
/// Names another file, or none when it is empty.
const VARIABLE: &str = "RACEHUNTER_CONFIG";
/// The prefix of every variable that stands for an option.
const PREFIX: &str = "RACEHUNTER_";
/// Commands whose options can be set.
const COMMANDS: [&str; 9] = ["hunt", "replay", "list", "suppress", "bundle", "report", "merge", "record", "predict"];

/// The contents of the file.
#[derive(Debug, Default)]
pub struct Config {
    path: PathBuf,
    /// Options for every command that has them, by their long names.
    everywhere: toml::Table,
    /// Options of one command.
    commands: BTreeMap<String, toml::Table>,
    /// Suppressed findings.
    pub suppressions: Suppressions,
}

impl Config {
    /// Finds and reads the file and the baseline. Without a file, all options have their defaults.
    pub fn load() -> Result<Self> {
        let named = std::env::var_os(VARIABLE);
        if named.as_ref().is_some_and(|name| name.is_empty()) {
            return Ok(Self::default());
        }
        let here = std::env::current_dir().ok();
        let beside = |name: &str| here.as_deref().and_then(|directory| find(directory, name));
        let path = named.as_ref().map(PathBuf::from).or_else(|| beside(NAME));
        let mut config = match path.as_deref().map(|path| trusted(path, named.is_some())) {
            Some(Some(text)) => Self::parse(path.clone().unwrap_or_default(), &text?)?,
            Some(None) | None => Self::default(),
        };
        let baseline = match &named {
            Some(_) => path.map(|path| path.with_file_name(BASELINE)).filter(|path| path.is_file()),
            None => beside(BASELINE),
        };
        if let Some(baseline) = baseline
            && let Some(text) = trusted(&baseline, named.is_some())
        {
            let known = Suppressions::read(&baseline.display().to_string(), &text?)?;
            config.suppressions = config.suppressions.and(known);
        }
        Ok(config)
    }

    fn parse(path: PathBuf, text: &str) -> Result<Self> {
        let name = path.display().to_string();
        let mut table: toml::Table = toml::from_str(text).with_context(|| format!("`{name}` cannot be understood"))?;
        let suppressions = match table.remove("suppress") {
            Some(value) => Suppressions::parse(&name, value)?,
            None => Suppressions::default(),
        };
        let mut commands = BTreeMap::new();
        for command in COMMANDS {
            match table.remove(command) {
                Some(toml::Value::Table(options)) => drop(commands.insert(command.to_owned(), options)),
                Some(_) => anyhow::bail!("`{name}`: `{command}` is a table: [{command}]"),
                None => {}
            }
        }
        Ok(Self { path, everywhere: table, commands, suppressions })
    }

    /// Describes the settings in a few words.
    pub fn describe(&self) -> String {
        if self.path.as_os_str().is_empty() {
            return format!("no {NAME} here or above");
        }
        let number = self.suppressions.len();
        format!("{} ({number} {})", self.path.display(), if number == 1 { "suppression" } else { "suppressions" })
    }

    /// Returns the command line with the options from the file and the environment in front of its own.
    pub fn complete(&self, words: Vec<OsString>, line: &clap::Command) -> Result<Vec<OsString>> {
        self.complete_from(words, line, &|name| std::env::var(name).ok())
    }

    fn complete_from(
        &self,
        words: Vec<OsString>,
        line: &clap::Command,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Vec<OsString>> {
        self.check(line)?;
        let command = words.get(1).and_then(|word| word.to_str()).and_then(|name| line.find_subcommand(name));
        let Some(command) = command.filter(|command| COMMANDS.contains(&command.get_name())) else { return Ok(words) };
        let mut added: Vec<OsString> = Vec::new();
        for (name, takes) in options(command) {
            let own = self.commands.get(command.get_name()).and_then(|table| table.get(&name));
            let in_file = own.or_else(|| self.everywhere.get(&name)).map(|value| (text(value), None));
            let variable = format!("{PREFIX}{}", name.to_uppercase().replace('-', "_"));
            let in_environment = environment(&variable).map(|value| (Some(value), Some(variable)));
            let Some((value, variable)) = in_environment.or(in_file) else { continue };
            let place = variable.unwrap_or_else(|| format!("`{}`: `{name}`", self.path.display()));
            match (takes, value.as_deref()) {
                (Takes::Nothing | Takes::Maybe, Some("true" | "1")) => added.push(format!("--{name}").into()),
                (Takes::Nothing | Takes::Maybe, Some("false" | "0" | "")) => {}
                (Takes::Value | Takes::Maybe, Some(value)) => added.push(format!("--{name}={value}").into()),
                (Takes::Nothing, _) => anyhow::bail!("{place} is true or false"),
                (Takes::Value | Takes::Maybe, None) => anyhow::bail!("{place} is text or a number"),
            }
        }
        let rest = words.iter().skip(2).cloned();
        Ok(words.iter().take(2).cloned().chain(added).chain(rest).collect())
    }

    /// Refuses names that are not options: such a mistake would otherwise go unnoticed.
    fn check(&self, line: &clap::Command) -> Result<()> {
        let name = self.path.display();
        for (command, table) in &self.commands {
            let known: Vec<String> =
                line.find_subcommand(command).map(options).into_iter().flatten().map(|(name, _)| name).collect();
            if let Some(wrong) = table.keys().find(|key| !known.contains(key)) {
                return Err(advise(
                    format!("`{name}`: `{wrong}` is not an option of `racehunter {command}`"),
                    format!(
                        "`racehunter {command} {}` has all of them",
                        if command == "hunt" { "--help-all" } else { "--help" }
                    ),
                ));
            }
        }
        let all: Vec<String> = COMMANDS
            .iter()
            .filter_map(|command| line.find_subcommand(command))
            .flat_map(options)
            .map(|(name, _)| name)
            .collect();
        match self.everywhere.keys().find(|key| !all.contains(key)) {
            Some(wrong) => Err(advise(
                format!("`{name}`: there is no option `{wrong}`"),
                format!("options have the names that they have after `--`; tables are {}", COMMANDS.join(", ")),
            )),
            None => Ok(()),
        }
    }
}

/// Returns the text of a settings file. `None` if the file belongs to another user, unless the user has named it
/// explicitly.
fn trusted(path: &Path, is_named: bool) -> Option<Result<String>> {
    let name = path.display();
    if !is_named && !std::fs::metadata(path).is_ok_and(|found| files::is_own(&found)) {
        eprintln!("warning: `{name}` belongs to another user, and is not read; set {VARIABLE}={name} to use it");
        return None;
    }
    let text = files::read(path).with_context(|| format!("cannot read `{name}`"));
    Some(text.and_then(|text| String::from_utf8(text).with_context(|| format!("`{name}` is not text"))))
}

fn find(directory: &Path, name: &str) -> Option<PathBuf> {
    directory.ancestors().map(|directory| directory.join(name)).find(|path| path.is_file())
}

/// Whether an option takes a value.
enum Takes {
    Nothing,
    Maybe,
    Value,
}

/// Returns the options of a command by their long names, and whether they take a value.
fn options(command: &clap::Command) -> impl Iterator<Item = (String, Takes)> {
    let takes = |argument: &clap::Arg| match argument.get_action() {
        ArgAction::Set | ArgAction::Append
            if argument.get_num_args().is_some_and(|number| number.min_values() == 0) =>
        {
            Takes::Maybe
        }
        ArgAction::Set | ArgAction::Append => Takes::Value,
        _ => Takes::Nothing,
    };
    // Resuming is not a setting.
    let listed = command.get_arguments().filter(|argument| argument.get_id() != "resume");
    listed.filter_map(move |argument| Some((argument.get_long()?.to_owned(), takes(argument))))
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
    use crate::arguments::{Arguments, Command};
    use clap::{CommandFactory as _, Parser as _};
    use racehunter_analyses::Reduction;

    fn parse(text: &str) -> Result<Config> {
        Config::parse(PathBuf::from("racehunter.toml"), text)
    }

    fn complete(text: &str, environment: &[(&str, &str)], line: &str) -> Result<Vec<String>> {
        let words = line.split(' ').map(OsString::from).collect();
        let look =
            |name: &str| environment.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        let words = parse(text)?.complete_from(words, &Arguments::command(), &look)?;
        Ok(words.into_iter().map(|word| word.into_string().expect("text")).collect())
    }

    /// Returns the arguments of a hunt as they finally apply.
    fn hunt(text: &str, environment: &[(&str, &str)], line: &str) -> crate::arguments::Hunt {
        let words = complete(text, environment, line).expect("good settings");
        match Arguments::try_parse_from(words).expect("a good line").command {
            Command::Hunt(arguments) => *arguments,
            _ => panic!("a hunt"),
        }
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
    fn flags_count_more_than_the_environment_and_that_more_than_the_file() {
        let file = "[hunt]\nbound = 5\ndepth = 7\nseed = 9\nstop-on-first = true\n";
        let environment = [("RACEHUNTER_BOUND", "4"), ("RACEHUNTER_DEPTH", "6"), ("RACEHUNTER_STOP_ON_FIRST", "false")];
        let arguments = hunt(file, &environment, "racehunter hunt --bound 3 a.c -- --bound 1");
        assert_eq!((arguments.bound, arguments.depth, arguments.seed), (3, 6, 9));
        assert!(!arguments.stop_on_first);
        assert_eq!(arguments.arguments, ["--bound", "1"]);
        assert!(hunt(file, &[], "racehunter hunt a.c").stop_on_first);
    }

    #[test]
    fn what_may_have_a_value_need_not_have_one() {
        let reduction = |value: &str| hunt(&format!("reduction = {value}"), &[], "racehunter hunt a.c").reduction;
        let [on, off, named] = ["true", "false", "'dynamic'"].map(reduction);
        assert_eq!((on, off), (Some(Reduction::Caching), None));
        assert_eq!(named, Some(Reduction::Dynamic));
        assert_eq!(hunt("", &[], "racehunter hunt --reduction a.c").reduction, Some(Reduction::Caching));
    }

    #[test]
    fn settings_for_all_commands_reach_those_that_have_them() {
        let file = "out = 'kept'\ncolor = 'never'\nbound = 1\n[hunt]\nout = 'hunted'\n";
        assert_eq!(hunt(file, &[], "racehunter hunt a.c").out, PathBuf::from("hunted"));
        let words = complete(file, &[], "racehunter replay 7f3a").expect("good");
        assert!(words.contains(&"--out=kept".to_owned()) && !words.iter().any(|word| word.contains("bound")));
        assert_eq!(complete(file, &[], "racehunter doctor").expect("good"), ["racehunter", "doctor"]);
        assert_eq!(complete(file, &[], "racehunter cc -c a.c").expect("good").len(), 4);
    }

    #[test]
    fn mistakes_are_told() {
        let told = |text: &str, part: &str| {
            let result = complete(text, &[], "racehunter hunt a.c");
            assert!(result.is_err_and(|error| format!("{error:#}").contains(part)), "{text} should say {part}");
        };
        told("[hunt]\nbond = 3", "`bond` is not an option of `racehunter hunt`");
        told("bond = 3", "there is no option `bond`");
        told("[hunt]\nstop-on-first = 'yes'", "is true or false");
        told("[hunt]\nbound = [1]", "is text or a number");
        told("hunt = 1", "is a table");
        told("[hunt", "cannot be understood");
    }

    #[test]
    fn the_line_has_no_contradictions() {
        Arguments::command().debug_assert();
    }
}
