//! ThreadSanitizer, with the compiler that RaceHunter uses, or with gcc if that one has no runtime for it.

use crate::tables::Report;
use racehunter_e2e::workshop::text;
use racehunter_e2e::{Workshop, racehunter, run};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// Number of runs of a program; the one that reports most counts.
const RUNS: u32 = 3;
/// Time limit in seconds: some programs wait for ever when they fail.
const LIMIT: &str = "10";

/// Returns what ThreadSanitizer reports about a program, and the mean duration of a run.
pub fn report(source: &Path, flags: &[String], arguments: &[String], workshop: &Workshop) -> Report {
    let program = workshop.path("program.tsan");
    let mut trouble = String::new();
    let built = compilers(source).iter().any(|compiler| {
        let mut compile = Command::new(compiler);
        compile.args(["-fsanitize=thread", "-O0", "-g", "-pthread"]).args(flags).arg(source).arg("-o").arg(&program);
        let ended = run(&mut compile);
        trouble += &ended.stderr;
        ended.status == Some(0)
    });
    if !built {
        return Report { trouble: Some(trouble), ..Report::default() };
    }
    let mut best = Report::default();
    let mut took = Duration::ZERO;
    for _ in 0..RUNS {
        // Without address randomisation: otherwise ThreadSanitizer does not always find room for its shadow.
        let mut command = Command::new("setarch");
        command.args(["--addr-no-randomize", "timeout", LIMIT]).arg(&program).args(arguments);
        let began = Instant::now();
        let ended = workshop.run(&mut command);
        took += began.elapsed();
        if ended.stderr.contains("FATAL: ThreadSanitizer") {
            return Report { trouble: Some(ended.stderr), ..Report::default() };
        }
        let races = races(&ended.stderr, source);
        if races.len() > best.races.len() {
            best.races = races;
        }
        best.asserts |= ended.stderr.contains(": Assertion `");
    }
    Report { took: took / RUNS, ..best }
}

/// Returns the compilers for the language of a file: the one beneath `racehunter cc` first.
fn compilers(source: &Path) -> Vec<PathBuf> {
    let version = run(&mut racehunter(["cc", "--version"])).stdout;
    let directory = version.lines().find_map(|line| line.strip_prefix("InstalledDir: ")).unwrap_or_default();
    let is_cxx = source.extension().is_some_and(|extension| extension == "cpp");
    let (ours, other) = if is_cxx { ("clang++", "g++") } else { ("clang", "gcc") };
    vec![Path::new(directory).join(ours), PathBuf::from(other)]
}

/// Returns the races, by the source lines of their two accesses.
fn races(log: &str, source: &Path) -> BTreeSet<BTreeSet<u32>> {
    let file = text(source);
    let reports = log.split("WARNING: ThreadSanitizer: ").skip(1).filter(|report| report.starts_with("data race "));
    // A file may claim that its lines are those of another one.
    let line = |stack: &str| line_in(stack, &file).or_else(|| innermost(stack));
    reports.map(|report| report.split("\n\n").take(2).filter_map(line).collect()).collect()
}

/// Returns the innermost line of a stack, in any file.
fn innermost(stack: &str) -> Option<u32> {
    let frames = stack.lines().map(str::trim).filter(|line| line.starts_with('#'));
    let line_of = |word: &str| word.split(':').nth(1)?.parse().ok();
    frames.flat_map(str::split_whitespace).find_map(line_of)
}

/// Returns the innermost line of a stack that is in the file.
fn line_in(stack: &str, file: &str) -> Option<u32> {
    stack.lines().find_map(|line| {
        let place = line.split_once(file)?.1.strip_prefix(':')?;
        place.split(|letter: char| !letter.is_ascii_digit()).next()?.parse().ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_where_a_file_names_another_one() {
        let log = "WARNING: ThreadSanitizer: data race (pid=1)\n  Read of size 4 at 0x1 by thread T3:\n    #0 pthread_create <null> \
                   (r3+0x1)\n    #1 check /tmp/other.c:78:13 (r3+0x2)\n\n  Previous write of size 4 at 0x1 by thread T1:\n    \
                   #0 set /tmp/other.c:71:7 (r3+0x3)\n\n  Location is global\n";
        assert_eq!(races(log, Path::new("/tmp/this.c")), BTreeSet::from([BTreeSet::from([71, 78])]));
    }

    #[test]
    fn both_lines_of_each_race_are_read() {
        let log = "\
WARNING: ThreadSanitizer: data race (pid=7)
  Write of size 4 at 0x1 by thread T2:
    #0 put /library/atomic.h:9:2 (p+0x1)
    #1 second /home/me/p.c:6:3 (p+0x2)

  Previous write of size 4 at 0x1 by thread T1:
    #0 first /home/me/p.c:5:3 (p+0x3)

  Location is global 'x' of size 4 at 0x1 (p+0x4)

SUMMARY: ThreadSanitizer: data race /home/me/p.c:6:3 in second
WARNING: ThreadSanitizer: heap-use-after-free (pid=7)
  Write of size 4 at 0x1 by thread T2:
    #0 third /home/me/p.c:8:3 (p+0x1)
";
        assert_eq!(races(log, Path::new("/home/me/p.c")), BTreeSet::from([BTreeSet::from([5, 6])]));
    }
}
