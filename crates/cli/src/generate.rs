//! `racehunter completions` and `racehunter man`, generated from the same description as the help.

use crate::arguments::Arguments;
use crate::exit::Exit;
use anyhow::{Context as _, Result};
use clap::CommandFactory as _;
use clap_complete::Shell;
use std::io::{Write as _, stdout};
use std::path::Path;

/// Writes the completions of a shell to standard output.
pub fn completions(shell: Shell) -> Result<Exit> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "racehunter", &mut text);
    stdout().write_all(&text).context("cannot write the completions")?;
    Ok(Exit::Clean)
}

/// Writes the manual: a page per command into a directory, or the first page to standard output.
pub fn manual(directory: Option<&Path>) -> Result<Exit> {
    let command = Arguments::command();
    match directory {
        Some(directory) => {
            let cannot = || format!("cannot write to `{}`", directory.display());
            std::fs::create_dir_all(directory).with_context(cannot)?;
            clap_mangen::generate_to(command, directory).with_context(cannot)?;
        }
        None => clap_mangen::Man::new(command).render(&mut stdout()).context("cannot write the manual")?,
    }
    Ok(Exit::Clean)
}
