//! Programs whose exit status or output depends on the schedule.

use crate::Culprit;
use crate::place::Places;
use racehunter_explore::{Bug, Escape, Execution, Outcome};
use racehunter_finding::{Finding, Kind, Site};
use racehunter_report::messages;
use std::collections::HashMap;

/// Describes a program whose status or output depends on the schedule: the last place seen stands for its end.
pub(crate) fn describe(places: &Places<'_>, kind: Kind, finding: &mut Finding) -> Option<Culprit> {
    finding.kind = kind;
    finding.message = match (kind, &places.execution.outcome) {
        (Kind::ExitStatus, Outcome::Exited(status)) if client_failed(places.execution) => {
            messages::client_failed(*status)
        }
        (Kind::ExitStatus, Outcome::Exited(status)) => messages::exit_status(*status, false),
        _ => messages::output(),
    };
    let mut operations = places.execution.entries().filter(|entry| entry.is_operation() && entry.code().is_known());
    if let Some(last) = operations.next_back() {
        finding.sites.push(Site { value: None, ..places.site(last, "exit", 0) });
    }
    None
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
/// If that is nothing, returns the end of the output.
fn failing_lines(output: &[u8], reference: &[u8]) -> Vec<String> {
    const LINES: usize = 8;
    const LETTERS: usize = 200;
    let [output, reference] = [output, reference].map(String::from_utf8_lossy);
    let mut expected: HashMap<&str, usize> = HashMap::new();
    for line in reference.lines() {
        *expected.entry(line.trim_end()).or_default() += 1;
    }
    let lines = || output.lines().map(str::trim_end).filter(|line| !line.trim().is_empty());
    let mut shown: Vec<&str> = Vec::new();
    for line in lines() {
        match expected.get_mut(line) {
            Some(count @ 1..) => *count -= 1,
            _ => shown.push(line),
        }
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
    fn long_lines_and_many_lines_are_cut() {
        let lines = format!("{}\n", "x".repeat(1_000)).repeat(30);
        let shown = failing_lines(lines.as_bytes(), b"");
        assert!(shown.len() == 8 && shown.iter().all(|line| line.len() == 200));
    }
}
