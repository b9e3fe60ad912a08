//! Rust panics, parsed from the standard error of a program that failed.

use crate::{Execution, Outcome};
use racehunter_log::{Event, ThreadId};

/// A panic of a program that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Panic {
    /// The source file of the call that panicked.
    pub file: String,
    /// Its line.
    pub line: u32,
    /// Its column.
    pub column: u32,
    /// The message, its lines joined.
    pub message: String,
    /// The name of the thread, as in the message.
    pub thread: String,
    /// The number of the thread in the message, as in [`Event::Panic`]; 0 if it has none.
    pub number: u64,
}

/// Maximum number of message lines kept: an assertion about two values has three.
const LINES: usize = 4;

impl Panic {
    /// Returns whether the thread only passes on the panic of another thread, whose result it unwrapped.
    fn is_second_hand(&self) -> bool {
        self.message.ends_with("Any { .. }") || self.message == "a scoped thread panicked"
    }

    fn is_of_thread(&self, other: &Self) -> bool {
        (self.number, &self.thread) == (other.number, &other.thread)
    }

    /// Returns whether it happened at a line of a file.
    #[must_use]
    pub fn is_at(&self, file: &str, line: u32) -> bool {
        (self.file.as_str(), self.line) == (file, line)
    }
}

/// What shows where a panic went.
#[derive(Clone, Copy)]
enum Trace {
    /// A thread that has this number in messages unwinds.
    Unwinds(u64),
    /// A thread has the result of another one.
    Joins(ThreadId),
}

impl Execution {
    /// Returns the panics that can have made the program fail, in their order; the first one is the cause of the others as far
    /// as the execution shows. Unwinding affects other threads in many ways: it drops senders and poisons locks.
    ///
    /// Many programs expect panics. Those of a successful execution do not count. A thread has only one panic that it does not
    /// catch, the last one. A panic that another thread learned of by `join`, and survived, does not count either.
    #[must_use]
    pub fn panics(&self) -> Vec<Panic> {
        const ABORT: u32 = 6;
        match self.outcome {
            Outcome::Exited(status) if status != 0 && self.missing_panic().is_none() => {}
            // With `panic = "abort"`, or with a panic during another one.
            Outcome::Crashed { signal: ABORT, .. } => {}
            _ => return Vec::new(),
        }
        let printed = self.printed_panics();
        let mut last: Vec<&Panic> = Vec::new();
        for panic in &printed {
            last.retain(|before| !before.is_of_thread(panic));
            last.push(panic);
        }
        let traces = self.traces();
        let (passed_on, own): (Vec<&Panic>, Vec<&Panic>) = last.iter().partition(|panic| panic.is_second_hand());
        let Some((failing, before)) = own.split_last() else { return passed_on.into_iter().cloned().collect() };
        let counting = before.iter().filter(|panic| !was_expected(panic, &own, &traces));
        counting.chain([failing]).map(|&panic| panic.clone()).collect()
    }

    /// Returns the place of a test that passed, but should have panicked: its harness says so. Panics that it has caught are not to
    /// blame.
    #[must_use]
    pub fn missing_panic(&self) -> Option<(String, u32)> {
        const MARK: &str = "note: test did not panic as expected at ";
        let output = String::from_utf8_lossy(&self.output);
        let place = output.lines().find_map(|line| line.trim().strip_prefix(MARK))?;
        let (rest, _) = place.rsplit_once(':')?;
        let (file, line) = rest.rsplit_once(':')?;
        Some((file.to_owned(), line.parse().ok()?))
    }

    /// Returns all panics whose messages the program has printed.
    #[must_use]
    pub fn printed_panics(&self) -> Vec<Panic> {
        printed(&String::from_utf8_lossy(&self.output))
    }

    fn traces(&self) -> Vec<(ThreadId, Trace)> {
        let trace = |event: Event| match event {
            Event::Panic { printed_as } => Some(Trace::Unwinds(printed_as)),
            Event::Join { target, .. } => Some(Trace::Joins(target)),
            _ => None,
        };
        let entries = self.entries().filter(|entry| !entry.is_access());
        let mut traces: Vec<_> = entries.filter_map(|entry| Some((entry.thread(), trace(entry.event())?))).collect();
        // What is joined after the last panic has nothing to do with how it came about.
        let last = traces.iter().rposition(|(_, trace)| matches!(trace, Trace::Unwinds(_)));
        traces.truncate(last.map_or(0, |last| last + 1));
        traces
    }
}

/// Returns whether a thread has joined the one that panicked, and did not pass the panic on.
fn was_expected(panic: &Panic, own: &[&Panic], traces: &[(ThreadId, Trace)]) -> bool {
    let is_it = |trace: &&(ThreadId, Trace)| matches!(trace.1, Trace::Unwinds(number) if number == panic.number);
    let Some(&(thread, _)) = traces.iter().rev().find(is_it) else { return false };
    let joins = traces.iter().enumerate().filter_map(|(at, &(by, trace))| match trace {
        Trace::Joins(target) if target == thread => Some((at, by)),
        _ => None,
    });
    let mut goes_on = joins.map(|(at, by)| {
        let next = traces[at + 1..].iter().find(|(thread, _)| *thread == by);
        match next {
            // It passes the panic on, unless it has one of its own.
            Some(&(_, Trace::Unwinds(number))) => own.iter().any(|panic| panic.number == number),
            _ => true,
        }
    });
    goes_on.any(|goes_on| goes_on)
}

/// Returns all panics in the output of a program.
fn printed(output: &str) -> Vec<Panic> {
    const MARK: &str = " panicked at ";
    const THREAD: &str = "thread '";
    if !output.contains(MARK) {
        return Vec::new();
    }
    let lines: Vec<&str> = output.lines().collect();
    let begins = |line: &str| line.contains(THREAD) && line.contains(MARK);
    let mut panics = Vec::new();
    for (number, line) in lines.iter().enumerate().filter(|(_, line)| begins(line)) {
        let Some((who, place)) = line.rsplit_once(MARK) else { continue };
        let Some((file, row, column)) = place_of(place) else { continue };
        let (thread, number_of) = thread_of(who.split_once(THREAD).map_or("", |(_, thread)| thread));
        let message: Vec<&str> = lines[number + 1..]
            .iter()
            .map(|line| line.trim())
            .take_while(|line| !line.is_empty() && !line.starts_with("note: run with") && !begins(line))
            // The test harness prints this about the test.
            .take_while(|&line| line != "FAILED" && line != "ok" && line != "stack backtrace:")
            .take(LINES)
            .collect();
        panics.push(Panic {
            file: file.to_owned(),
            line: row,
            column,
            message: message.join("; "),
            thread: thread.to_owned(),
            number: number_of,
        });
    }
    panics
}

/// `main' (7)`, or `main'` before Rust 1.91
fn thread_of(text: &str) -> (&str, u64) {
    let Some((name, number)) = text.rsplit_once('\'') else { return (text, 0) };
    let number = number.trim().strip_prefix('(').and_then(|number| number.strip_suffix(')'));
    (name, number.and_then(|number| number.parse().ok()).unwrap_or(0))
}

/// `src/lib.rs:18:5:`
fn place_of(text: &str) -> Option<(&str, u32, u32)> {
    let (rest, column) = text.trim().strip_suffix(':')?.rsplit_once(':')?;
    let (file, line) = rest.rsplit_once(':')?;
    Some((file, line.parse().ok()?, column.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Bug;
    use racehunter_log::{CodeAddress, EventNumber, JoinOutcome, Position};

    fn execution(status: i32, output: &str) -> Execution {
        let outcome = Outcome::Exited(status);
        Execution { outcome, output: output.as_bytes().to_vec(), ..Execution::lost(String::new()) }
    }

    const ASSERTION: &str = "running 1 test\ntest lost ... thread 'main' (7) panicked at src/lib.rs:18:5:\nassertion `left == \
                             right` failed\n  left: 1\n right: 2\nnote: run with `RUST_BACKTRACE=1` ...\nFAILED\n";

    #[test]
    fn a_panic_has_its_place_and_its_message() {
        let panic = execution(101, ASSERTION).panics().remove(0);
        assert_eq!((panic.file.as_str(), panic.line, panic.column), ("src/lib.rs", 18, 5));
        assert_eq!(panic.message, "assertion `left == right` failed; left: 1; right: 2");
    }

    #[test]
    fn panics_of_a_successful_program_do_not_count() {
        assert_eq!(execution(0, ASSERTION).panics(), []);
        assert_eq!(execution(1, "error: no such file\n").panics(), []);
    }

    #[test]
    fn a_caught_panic_is_not_to_blame_for_one_that_is_missing() {
        let caught = "thread '<unnamed>' (9) panicked at src/lib.rs:7:9:\ncaught\n";
        assert_eq!(lines(&execution(101, caught)), [7]);
        let output = format!(
            "{caught}FAILED\n\nfailures:\n\n---- tests::lacks stdout ----\n\
                              note: test did not panic as expected at src/lib.rs:20:8\n"
        );
        assert_eq!(lines(&execution(101, &output)), [] as [u32; 0]);
        assert_eq!(execution(101, &output).missing_panic(), Some(("src/lib.rs".to_owned(), 20)));
    }

    #[test]
    fn a_panic_that_reports_another_is_skipped() {
        let output = "thread '<unnamed>' (9) panicked at src/lib.rs:7:9:\nlost\n\nthread 'main' (8) panicked at \
                      src/lib.rs:12:14:\ncalled `Result::unwrap()` on an `Err` value: Any { .. }\nFAILED\n";
        assert_eq!(lines(&execution(101, output)), [7]);
    }

    fn lines(execution: &Execution) -> Vec<u32> {
        execution.panics().iter().map(|panic| panic.line).collect()
    }

    #[test]
    fn of_several_panics_of_a_thread_the_last_one_counts() {
        let output =
            "thread 'main' panicked at a.rs:1:1:\nexpected\n\nthread 'main' panicked at a.rs:2:1:\nnot expected\n";
        assert_eq!(lines(&execution(101, output)), [2]);
        assert_eq!(lines(&execution(101, "thread 'a' panicked at nowhere\n")), []);
    }

    const TWO: &str =
        "thread 'w' (8) panicked at a.rs:1:1:\nroot\n\nthread 'main' (7) panicked at a.rs:2:1:\nRecvError\n";

    /// An execution of a thread 1, which is number 8 in messages, and of `main`, which is number 7.
    fn with(output: &str, traces: &[(u32, Event)]) -> Execution {
        let record = |&(thread, event): &(u32, Event)| {
            event.record(Position {
                number: EventNumber(1),
                thread: ThreadId(thread),
                code: CodeAddress::UNKNOWN,
                site: None,
                stack: 0,
            })
        };
        Execution { records: traces.iter().map(record).collect(), ..execution(101, output) }
    }

    const ROOT: (u32, Event) = (1, Event::Panic { printed_as: 8 });
    const JOIN: (u32, Event) = (0, Event::Join { target: ThreadId(1), outcome: JoinOutcome::Joined });
    const MAIN: (u32, Event) = (0, Event::Panic { printed_as: 7 });

    #[test]
    fn of_several_threads_the_first_one_counts_before_the_others() {
        assert_eq!(lines(&execution(101, TWO)), [1, 2]);
        assert_eq!(lines(&with(TWO, &[ROOT, MAIN, JOIN])), [1, 2]);
    }

    #[test]
    fn a_panic_that_the_program_learned_of_and_survived_does_not_count() {
        assert_eq!(lines(&with(TWO, &[ROOT, JOIN, MAIN])), [2]);
        let passed_on = TWO.replace("RecvError", "called `Result::unwrap()` on an `Err` value: Any { .. }");
        assert_eq!(lines(&with(&passed_on, &[ROOT, JOIN, MAIN])), [1]);
        // With `resume_unwind` there is no second message.
        assert_eq!(lines(&with(TWO.split("\n\n").next().unwrap_or_default(), &[ROOT, JOIN, MAIN])), [1]);
    }

    #[test]
    fn a_panic_that_is_also_seen_in_successful_executions_is_not_to_blame() {
        let bug = |harmless: &[u32]| execution(101, TWO).failure(101, |panic| harmless.contains(&panic.line));
        assert_eq!(bug(&[]), Bug::Panic("a.rs".to_owned(), 1));
        assert_eq!(bug(&[1]), Bug::Panic("a.rs".to_owned(), 2));
        assert_eq!(bug(&[1, 2]), Bug::Panic("a.rs".to_owned(), 2));
    }
}
