//! The tests of a suite, one line each.

use std::time::Duration;

use crate::junit::{Ending, Test};
use crate::text::{clean, count, pad};

/// Returns a test, with its findings. `width` is that of the longest name.
#[must_use]
pub fn line(test: &Test, width: usize) -> String {
    let word = match test.ending {
        Ending::Passed => "PASS",
        Ending::Failed(_) => "FAIL",
        Ending::Error(_) => "UNCLEAR",
        Ending::Skipped(_) => "SKIP",
    };
    let mut out = format!("{word:>8} [{:>6.1}s] {}", test.elapsed.as_secs_f64(), pad(&clean(&test.name), width));
    match &test.ending {
        Ending::Passed => {}
        Ending::Failed(findings) => {
            out += &format!("  {}", count(findings.len() as u64, "finding"));
            for line in findings.iter().flat_map(|finding| finding.lines()) {
                out += &format!("\n{:20}{}", "", clean(line));
            }
        }
        Ending::Error(why) | Ending::Skipped(why) => out += &format!("  {}", clean(why)),
    }
    out.truncate(out.trim_end().len());
    out + "\n"
}

/// Returns how many tests ended in which way.
#[must_use]
pub fn summary(tests: &[Test], elapsed: Duration) -> String {
    let number = |is: fn(&Ending) -> bool| tests.iter().filter(|test| is(&test.ending)).count();
    let parts = [
        (number(|ending| *ending == Ending::Passed), "passed"),
        (number(|ending| matches!(ending, Ending::Failed(_))), "failed"),
        (number(|ending| matches!(ending, Ending::Error(_))), "unclear"),
        (number(|ending| matches!(ending, Ending::Skipped(_))), "skipped"),
    ];
    let parts: Vec<String> =
        parts.iter().filter(|(number, _)| *number > 0).map(|(number, word)| format!("{number} {word}")).collect();
    let tests = count(tests.len() as u64, "test");
    format!(" Summary [{:>6.1}s] {tests}: {}\n", elapsed.as_secs_f64(), parts.join(", "))
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn lines_say_how_tests_ended() {
        let test = |name: &str, ending: Ending| Test {
            suite: String::new(),
            name: name.to_owned(),
            elapsed: Duration::from_millis(250),
            ending,
        };
        let passed = test("Queue.Pops", Ending::Passed);
        let failed = test("Q.B", Ending::Failed(vec!["a.c:3: data-race: m [7f3a]\n  cause: c".to_owned()]));
        let skipped = test("Q.C", Ending::Skipped("it creates no thread".to_owned()));
        assert_eq!(line(&passed, 10), "    PASS [   0.2s] Queue.Pops\n");
        assert_eq!(
            line(&failed, 10),
            "    FAIL [   0.2s] Q.B         1 finding\n                    a.c:3: data-race: m [7f3a]\n                      cause: c\n"
        );
        assert_eq!(line(&skipped, 10), "    SKIP [   0.2s] Q.C         it creates no thread\n");
        let all = summary(&[passed, failed, skipped], Duration::from_secs(2));
        assert_eq!(all, " Summary [   2.0s] 3 tests: 1 passed, 1 failed, 1 skipped\n");
    }
}
