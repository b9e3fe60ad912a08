//! Programs whose exit status or output depends on the schedule.

use crate::Culprit;
use crate::place::{Places, operation_name};
use crate::steps::Done;
use racehunter_explore::{Bug, Escape, Execution, Outcome};
use racehunter_finding::{Finding, Kind, Site};
use racehunter_log::{CodeAddress, Entry};
use racehunter_report::messages;
use racehunter_symbols::source::is_source;
use std::collections::HashMap;
use std::path::Path;

/// What a test does where it says that it fails, in JSON and reports.
const FAILS: &str = "fail";
/// What test frameworks write after the place of a failure: GoogleTest, Catch2, doctest.
const WORDS: [&str; 3] = [": Failure", ": FAILED", ": ERROR:"];
/// What GoogleTest writes at the end of a test that fails.
const ENDS: &str = "[  FAILED  ]";
/// Maximum number of entries that are searched for a place, counted from the end.
const SEARCHED: usize = 2_000;

/// Describes a program whose status or output depends on the schedule: the last place seen stands for its end.
pub(crate) fn describe(places: &Places<'_>, kind: Kind, finding: &mut Finding) -> Option<Culprit> {
    finding.kind = kind;
    finding.message = match (kind, &places.execution.outcome) {
        (Kind::ExitStatus, Outcome::Exited(status)) if client_failed(places.execution) => {
            messages::client_failed(*status)
        }
        (Kind::ExitStatus, Outcome::Exited(_)) if places.execution.missing_panic().is_some() => {
            messages::missing_panic()
        }
        (Kind::ExitStatus, Outcome::Exited(status)) => messages::exit_status(*status, false),
        _ => messages::output(),
    };
    if kind == Kind::ExitStatus
        && !client_failed(places.execution)
        && let Some((file, line)) = (places.execution.missing_panic())
            .or_else(|| failing_place(&String::from_utf8_lossy(&places.execution.output)))
    {
        finding.sites.push(site_at(places, &file, line));
        return None;
    }
    let operations =
        || places.execution.entries().rev().filter(|entry| entry.is_operation() && entry.code().is_known());
    let last = operations().take(SEARCHED).map(|entry| places.site(entry, "exit", 0)).find(|site| site.line > 0);
    let last = last.or_else(|| operations().next().map(|entry| places.site(entry, "exit", 0)));
    finding.sites.extend(last.map(|last| Site { value: None, ..last }));
    None
}

/// Returns the place of a failure as test frameworks write it: `queue_test.cpp:44: Failure`.
fn failing_place(output: &str) -> Option<(String, u32)> {
    output.lines().find_map(|line| {
        let (file, rest) =
            WORDS.iter().find_map(|word| line.split_once(word)).map(|(place, _)| place.rsplit_once(':'))??;
        let (file, line) = (file.trim_start(), rest.parse().ok().filter(|line| *line > 0)?);
        is_source(Path::new(file)).then(|| (file.to_owned(), line))
    })
}

/// Returns a line of the program that an execution has reached; with its thread and stack, if the log has them.
fn site_at(places: &Places<'_>, file: &str, line: u32) -> Site {
    let name = |file: &str| file.rsplit('/').next().unwrap_or_default().to_owned();
    let operations = places.execution.entries().rev().filter(|entry| entry.is_operation() && entry.code().is_known());
    let found = operations.take(SEARCHED).find_map(|entry| {
        let (frames, _) = places.stack(entry);
        let at = frames.iter().position(|frame| frame.line == line && name(&frame.file) == name(file))?;
        let mut site = places.site(entry, FAILS, 0);
        site.stack = frames.into_iter().skip(at).collect();
        Some(site)
    });
    let mut site = found.unwrap_or_else(|| places.bare(CodeAddress::UNKNOWN));
    let frame = site.stack.first();
    site.function = frame.map_or_else(String::new, |frame| frame.function.clone());
    site.file = frame.map_or_else(|| file.to_owned(), |frame| frame.file.clone());
    (site.line, site.column) = (line, 0);
    site.access = FAILS.to_owned();
    (site.value, site.event) = (None, 0);
    site.locks = Vec::new();
    site
}

/// Returns the places of the steps that the cause of a wrong status or output names. They say more than the place where
/// the program ends.
pub(crate) fn sites_of_cause(places: &Places<'_>, finding: &Finding, cited: &[usize], steps: &[Done]) -> Vec<Site> {
    if !matches!(finding.kind, Kind::ExitStatus | Kind::Output) {
        return Vec::new();
    }
    let site = |&step: &usize| {
        let entry = Entry::of(&places.execution.records[steps[step].at]);
        let event = entry.event();
        let size = entry.access().map_or(0, |access| u32::try_from(access.size).unwrap_or(u32::MAX));
        places.site(entry, operation_name(&event), size)
    };
    cited.iter().map(site).filter(|site| site.line > 0).collect()
}

/// Puts the places of the cause behind the place where a test fails, or in front of the place where the program ends.
pub(crate) fn name_cause(causing: Vec<Site>, finding: &mut Finding) {
    if causing.is_empty() {
        return;
    }
    finding.sites.retain(|site| site.access == FAILS);
    finding.sites.extend(causing);
}

/// Returns true if the status of an execution is that of the program's client.
fn client_failed(execution: &Execution) -> bool {
    execution.escapes().iter().any(|&(what, _, status)| what == Escape::Client && status != 0)
}

/// Describes how the end of an execution differs from that without preemptions.
pub(crate) fn compare(execution: &Execution, reference: &Execution, bug: &Bug, finding: &mut Finding) {
    if let (Outcome::Exited(status), Outcome::Exited(other)) = (&execution.outcome, &reference.outcome)
        && status != other
    {
        if !client_failed(execution) {
            finding.message = messages::exit_status(*status, true);
        }
        finding.notes.push(messages::other_status(*other));
    }
    if let Bug::ExitStatus(_) = bug {
        let lines = failing_lines(&execution.output, &reference.output);
        finding.notes.extend(lines.into_iter().map(|line| messages::wrote(&line)));
        return;
    }
    let [here, there] = [execution, reference].map(|of| String::from_utf8_lossy(&of.output).into_owned());
    let (mut here, mut there) = (here.lines(), there.lines());
    loop {
        let lines = (here.next(), there.next());
        match lines {
            (None, None) => break,
            (ours, theirs) if ours != theirs => {
                finding.notes.push(messages::other_output(ours, theirs));
                break;
            }
            _ => {}
        }
    }
}

/// Returns what a program that failed wrote and the execution without preemptions did not: there a test says what failed.
/// If that is nothing, returns the end of the output. Headings of a test framework before the failure, its summary after the test,
/// and lines without a letter or digit say nothing new.
fn failing_lines(output: &[u8], reference: &[u8]) -> Vec<String> {
    const LINES: usize = 8;
    const LETTERS: usize = 200;
    let [output, reference] = [output, reference].map(String::from_utf8_lossy);
    let mut expected: HashMap<&str, usize> = HashMap::new();
    for line in reference.lines() {
        *expected.entry(line.trim_end()).or_default() += 1;
    }
    let lines = || output.lines().map(str::trim_end).filter(|line| line.contains(char::is_alphanumeric));
    let mut shown: Vec<&str> = Vec::new();
    for line in lines() {
        match expected.get_mut(line) {
            Some(count @ 1..) => *count -= 1,
            _ => shown.push(line),
        }
    }
    if let Some(first) = shown.iter().position(|line| failing_place(line).is_some()) {
        shown.drain(..first);
        let last = shown.iter().position(|line| line.starts_with(ENDS));
        shown.truncate(last.map_or(shown.len(), |last| last + 1));
    }
    shown.truncate(LINES);
    if shown.is_empty() {
        shown = lines().rev().take(LINES).collect();
        shown.reverse();
    }
    shown.into_iter().map(|line| line.chars().take(LETTERS).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_the_failing_execution_wrote_is_shown() {
        let passing = b"[ RUN ] A\n[ OK ] A\n[ RUN ] B\n[ OK ] B\n2 passed\n";
        let failing = b"[ RUN ] A\n[ OK ] A\n[ RUN ] B\nb.cpp:7: Failure\n\n[ FAILED ] B\n1 passed\n";
        assert_eq!(failing_lines(failing, passing), ["b.cpp:7: Failure", "[ FAILED ] B", "1 passed"]);
    }

    #[test]
    fn what_frameworks_write_around_a_failure_is_left_out() {
        let failing = b"Running main()\n[ RUN      ] A.b\nb.cpp:7: Failure\nExpected: 1\n[  FAILED  ] A.b (0 ms)\n\n1 FAILED TEST\n";
        assert_eq!(failing_lines(failing, b""), ["b.cpp:7: Failure", "Expected: 1", "[  FAILED  ] A.b (0 ms)"]);
        let failing =
            b"~~~~\nqueue is a Catch v2 host application.\n----\nadding\n....\nb.cpp:7: FAILED:\n  CHECK( n == 2 )\n";
        assert_eq!(failing_lines(failing, b""), ["b.cpp:7: FAILED:", "  CHECK( n == 2 )"]);
    }

    #[test]
    fn a_line_that_is_written_once_more_is_news() {
        assert_eq!(failing_lines(b"lost\nlost\n", b"lost\n"), ["lost"]);
    }

    #[test]
    fn the_end_of_the_output_stands_in_for_a_difference() {
        let lines: String = (0..20).map(|line| format!("{line}\n")).collect();
        let shown = failing_lines(lines.as_bytes(), lines.as_bytes());
        assert_eq!(shown, (12..20).map(|line| line.to_string()).collect::<Vec<_>>());
    }

    #[test]
    fn frameworks_write_where_a_test_fails() {
        let place = |text: &str| failing_place(text).map(|(file, line)| format!("{file} {line}"));
        assert_eq!(place("x\n../a/b_test.cpp:44: Failure\nc.cpp:1: Failure").as_deref(), Some("../a/b_test.cpp 44"));
        assert_eq!(place("  b.cpp:7: FAILED:\n").as_deref(), Some("b.cpp 7"));
        assert_eq!(place("b.cpp:7: ERROR: CHECK( a ) is NOT correct!").as_deref(), Some("b.cpp 7"));
        assert_eq!(place("queue: Failure\nb.log:7: Failure\nb.cpp:0: Failure\n[  FAILED  ] A.b (0 ms)"), None);
    }

    #[test]
    fn long_lines_and_many_lines_are_cut() {
        let lines = format!("{}\n", "x".repeat(1_000)).repeat(30);
        let shown = failing_lines(lines.as_bytes(), b"");
        assert!(shown.len() == 8 && shown.iter().all(|line| line.len() == 200));
    }
}
