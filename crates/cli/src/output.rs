//! Where results go.

use crate::arguments::MessageFormat;
use racehunter_hunter::{files, shell};
use racehunter_report::{ColorChoice, Reporter};
use std::io::{IsTerminal as _, Stdout, Write, stdout};
use std::path::Path;

/// Returns a reporter that writes to standard output.
pub fn reporter(format: MessageFormat, color: ColorChoice) -> Reporter<Stdout> {
    reporter_to(stdout(), format, color)
}

/// Returns a reporter that writes elsewhere.
pub fn reporter_to<W: Write>(out: W, format: MessageFormat, color: ColorChoice) -> Reporter<W> {
    let asked = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let width = asked.or_else(columns).unwrap_or(100);
    let root = std::env::current_dir().unwrap_or_default();
    let color = color.resolve(stdout().is_terminal());
    Reporter::new(out, format.into()).color(color).width(width).source_root(root)
}

/// Returns the options that `racehunter replay` needs to find the findings in a directory.
pub fn replay_options(out: &Path) -> String {
    match out == Path::new(files::DEFAULT_OUT) {
        true => String::new(),
        false => format!(" --out {}", shell::quote(&out.to_string_lossy())),
    }
}

/// Returns the width of the terminal, if standard output is one.
fn columns() -> Option<usize> {
    terminal_size::terminal_size_of(stdout()).map(|(width, _)| usize::from(width.0))
}
