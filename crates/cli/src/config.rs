//! `racehunter.toml` and the environment: which options they can set. The rest is in `racehunter_hunter::settings`.

use crate::arguments::Arguments;
use anyhow::Result;
use clap::{ArgAction, CommandFactory as _};
pub use racehunter_hunter::settings::BASELINE;
use racehunter_hunter::settings::{Known, Settings, Takes, VARIABLE};
use std::ffi::OsString;

/// Commands whose options can be set.
const COMMANDS: [&str; 9] = ["hunt", "replay", "list", "suppress", "bundle", "report", "merge", "record", "predict"];

/// Finds and reads the settings of the project in this directory.
pub fn load() -> Result<Settings> {
    let here = std::env::current_dir().ok();
    let warn = |warning: String| eprintln!("warning: {warning}");
    Ok(Settings::load(std::env::var_os(VARIABLE), here.as_deref(), &known(), &warn)?)
}

/// Returns the command line with the options from the file and the environment in front of its own.
pub fn complete(settings: &Settings, words: Vec<OsString>) -> Result<Vec<OsString>> {
    Ok(settings.complete(words, &known(), &|name| std::env::var(name).ok())?)
}

/// Returns the options that can be set.
fn known() -> Vec<Known> {
    let line = Arguments::command();
    COMMANDS.iter().map(|&name| (name, line.find_subcommand(name).map(options).unwrap_or_default())).collect()
}

/// Returns the options of a command by their long names, and whether they take a value.
fn options(command: &clap::Command) -> Vec<(String, Takes)> {
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
    listed.filter_map(|argument| Some((argument.get_long()?.to_owned(), takes(argument)))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_take_what_the_line_takes() {
        let known = known();
        let takes = |command: &str, name: &str| {
            let (_, options) = known.iter().find(|(known, _)| *known == command).expect("a command");
            options.iter().find(|(known, _)| known == name).map(|(_, takes)| *takes)
        };
        assert_eq!(takes("hunt", "stop-on-first"), Some(Takes::Nothing));
        assert_eq!(takes("hunt", "reduction"), Some(Takes::Maybe));
        assert_eq!(takes("hunt", "bound"), Some(Takes::Value));
        assert_eq!(takes("hunt", "resume"), None);
        assert_eq!(takes("replay", "bound"), None);
        assert!(known.iter().all(|(_, options)| !options.is_empty()));
    }

    #[test]
    fn the_line_has_no_contradictions() {
        Arguments::command().debug_assert();
    }
}
