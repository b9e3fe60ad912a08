//! Where results go.

use crate::arguments::Output;
use racehunter_hunter::{files, shell};
use racehunter_report::Reporter;
use std::io::{IsTerminal as _, Stdout, Write, stdout};
use std::path::Path;

/// Returns a reporter that writes to standard output.
pub fn reporter(output: Output) -> Reporter<Stdout> {
    reporter_to(stdout(), output)
}

/// Returns a reporter that writes elsewhere.
pub fn reporter_to<W: Write>(out: W, output: Output) -> Reporter<W> {
    let asked = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let columns = || terminal_size::terminal_size_of(stdout()).map(|(width, _)| usize::from(width.0));
    let width = asked.or_else(columns).unwrap_or(100);
    let root = std::env::current_dir().unwrap_or_default();
    let color = output.color.resolve(stdout().is_terminal());
    Reporter::new(out, output.message_format).color(color).width(width).source_root(root)
}

/// Returns the options that `racehunter replay` needs to find the findings in a directory.
pub fn replay_options(out: &Path) -> String {
    match out == Path::new(files::DEFAULT_OUT) {
        true => String::new(),
        false => format!(" --out {}", shell::quote(&out.to_string_lossy())),
    }
}
