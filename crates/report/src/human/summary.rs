//! The summary of a campaign.

use std::collections::BTreeSet;
use std::time::Duration;

use anstyle::Style;
use racehunter_finding::{Coverage, Kind};

use crate::Told;
use crate::color::{ERROR, FRAME, GOOD, WARNING, paint};
use crate::short::{extent, found, is_proof, meaning, not_seen, sentence, unclear};
use crate::text::{clean, count, wrap};

/// Column at which the text of each part starts.
const INDENT: usize = 12;

/// Returns where to read more about what was found.
pub(crate) fn lessons(kinds: &BTreeSet<Kind>, columns: usize) -> String {
    if kinds.is_empty() {
        return String::new();
    }
    let commands: Vec<String> = kinds.iter().map(|kind| format!("racehunter explain {}", kind.name())).collect();
    part("Explain", FRAME, &commands.join("; "), columns)
}

/// Returns the summary: what was found, and what that does and does not mean.
pub(crate) fn summary(coverage: &Coverage, told: Told, elapsed: Duration, columns: usize) -> String {
    let style = match told.findings {
        0 if is_proof(coverage, told) => GOOD,
        0 => WARNING,
        _ => ERROR,
    };
    let meaning = meaning(coverage, told).map_or_else(String::new, |meaning| format!("; {meaning}"));
    let mut out = format!("   {} [{}] {}{meaning}\n", paint(style, "Summary"), time(elapsed), found(told));
    let part = |name, style, text: &str| part(name, style, text, columns);
    if let Some(why) = unclear(coverage) {
        out += &part("Unclear", WARNING, &why);
    }
    if is_proof(coverage, told) {
        out += &part("Proved", GOOD, &extent(coverage));
    } else {
        let unseen = not_seen(coverage).map_or_else(String::new, |unseen| format!("; {unseen}"));
        out += &part("Explored", WARNING, &format!("{}{unseen}", extent(coverage)));
    }
    if let Some(chance) = &coverage.chance {
        out += &part("Chance", FRAME, &clean(chance));
    }
    if !coverage.assumes.is_empty() {
        let assumes: Vec<String> = coverage.assumes.iter().map(ToString::to_string).collect();
        out += &part("Assumes", FRAME, &clean(&assumes.join("; ")));
    }
    let mut missed: Vec<String> = coverage.missed.iter().map(|line| clean(line)).collect();
    missed.push(format!("{} diverged, {} timed out", coverage.diverged, coverage.timed_out));
    out += &part("Missed", FRAME, &missed.join("; "));
    let outside = coverage.uncontrolled.iter().filter(|what| !what.what.is_unseen());
    for (number, what) in outside.enumerate() {
        let name = if number == 0 { "Outside" } else { "" };
        out += &part(name, WARNING, &format!("{} ({})", sentence(what), count(what.executions, "execution")));
    }
    out
}

fn part(name: &str, style: Style, text: &str, columns: usize) -> String {
    let mut out = String::new();
    for (number, line) in wrap(text, columns.saturating_sub(INDENT)).iter().enumerate() {
        match number {
            0 => out += &format!("   {}{line}\n", paint(style, format_args!("{name:<9}"))),
            _ => out += &format!("{}{line}\n", " ".repeat(INDENT)),
        }
    }
    out
}

fn time(elapsed: Duration) -> String {
    match elapsed.as_secs() {
        0..60 => format!("{:.1}s", elapsed.as_secs_f64()),
        seconds @ 60..3600 => format!("{}m {:02}s", seconds / 60, seconds % 60),
        seconds => format!("{}h {:02}m", seconds / 3600, seconds / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_read_well() {
        assert_eq!(time(Duration::from_millis(840)), "0.8s");
        assert_eq!(time(Duration::from_secs(125)), "2m 05s");
        assert_eq!(time(Duration::from_secs(7265)), "2h 01m");
    }
}
