//! Rust panics, parsed from the standard error of a program that failed.

use crate::{Execution, Outcome};

/// The panic that made a program fail.
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
}

/// Maximum number of message lines kept: an assertion about two values has three.
const LINES: usize = 4;
/// The message of a thread that unwrapped the result of a panicked thread.
const SECOND_HAND: &str = "Any { .. }";

impl Execution {
    /// Returns the panic that made the program fail, if its output mentions one. Many programs expect panics, so those of a
    /// successful execution do not count. Of several panics the last one counts, unless it only reports another.
    #[must_use]
    pub fn panic(&self) -> Option<Panic> {
        const ABORT: u32 = 6;
        match self.outcome {
            Outcome::Exited(status) if status != 0 => {}
            // With `panic = "abort"`.
            Outcome::Crashed { signal: ABORT, .. } => {}
            _ => return None,
        }
        let mut panics = panics(&String::from_utf8_lossy(&self.output));
        let own = panics.iter().rposition(|panic| !panic.message.ends_with(SECOND_HAND));
        own.or(panics.len().checked_sub(1)).map(|index| panics.swap_remove(index))
    }
}

/// Returns all panics in the output of a program.
fn panics(output: &str) -> Vec<Panic> {
    const MARK: &str = " panicked at ";
    let lines: Vec<&str> = output.lines().collect();
    let begins = |line: &str| line.contains("thread '") && line.contains(MARK);
    let mut panics = Vec::new();
    for (number, line) in lines.iter().enumerate().filter(|(_, line)| begins(line)) {
        let Some((_, place)) = line.rsplit_once(MARK) else { continue };
        let Some((file, row, column)) = place_of(place) else { continue };
        let message: Vec<&str> = lines[number + 1..]
            .iter()
            .map(|line| line.trim())
            .take_while(|line| !line.is_empty() && !line.starts_with("note: run with") && !begins(line))
            // The test harness prints this about the test.
            .take_while(|&line| line != "FAILED" && line != "ok")
            .take(LINES)
            .collect();
        panics.push(Panic { file: file.to_owned(), line: row, column, message: message.join("; ") });
    }
    panics
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

    fn execution(status: i32, output: &str) -> Execution {
        let outcome = Outcome::Exited(status);
        Execution { outcome, output: output.as_bytes().to_vec(), ..Execution::lost(String::new()) }
    }

    const ASSERTION: &str = "running 1 test\ntest lost ... thread 'main' (7) panicked at src/lib.rs:18:5:\nassertion `left == \
                             right` failed\n  left: 1\n right: 2\nnote: run with `RUST_BACKTRACE=1` ...\nFAILED\n";

    #[test]
    fn a_panic_has_its_place_and_its_message() {
        let panic = execution(101, ASSERTION).panic().unwrap();
        assert_eq!((panic.file.as_str(), panic.line, panic.column), ("src/lib.rs", 18, 5));
        assert_eq!(panic.message, "assertion `left == right` failed; left: 1; right: 2");
    }

    #[test]
    fn panics_of_a_successful_program_do_not_count() {
        assert_eq!(execution(0, ASSERTION).panic(), None);
        assert_eq!(execution(1, "error: no such file\n").panic(), None);
    }

    #[test]
    fn a_panic_that_reports_another_is_skipped() {
        let output = "thread '<unnamed>' (9) panicked at src/lib.rs:7:9:\nlost\n\nthread 'main' (8) panicked at \
                      src/lib.rs:12:14:\ncalled `Result::unwrap()` on an `Err` value: Any { .. }\nFAILED\n";
        assert_eq!(execution(101, output).panic().map(|panic| panic.line), Some(7));
    }

    #[test]
    fn of_several_panics_the_last_one_counts() {
        let output =
            "thread 'main' panicked at a.rs:1:1:\nexpected\n\nthread 'main' panicked at a.rs:2:1:\nnot expected\n";
        assert_eq!(execution(101, output).panic().map(|panic| panic.line), Some(2));
        assert!(execution(101, "thread 'a' panicked at nowhere\n").panic().is_none());
    }
}
