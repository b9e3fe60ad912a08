//! ThreadSanitizer's own tests, by both tools: `cargo xtask bench tsan --dir DIR [--time T] [NAME...]`.
//!
//! DIR is `test/tsan` of a copy of LLVM's compiler-rt, which is not part of this project. Only tests that are one file,
//! built by one line, count; a detector is expected to report what ThreadSanitizer reports. Some of the suite does not
//! concern RaceHunter (options, suppressions, the text of reports): such programs only have to build and run.

use crate::table::{Align, Table};
use racehunter_e2e::workshop::text;
use racehunter_e2e::{Workshop, racehunter, run};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Number of runs with ThreadSanitizer; the first one that reports something counts.
const RUNS: u32 = 3;

/// One test of the suite.
#[derive(Debug, PartialEq, Eq)]
struct Test {
    file: PathBuf,
    is_cxx: bool,
    flags: Vec<String>,
    expects: Expected,
}

/// What the comments of a test expect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected {
    Race,
    /// A report of another kind.
    Other,
    Nothing,
}

/// The result of a tool for a test.
#[derive(Default)]
struct Answer {
    is_built: bool,
    kinds: BTreeSet<String>,
}

impl Answer {
    fn races(&self) -> bool {
        // One tool calls it a race if one thread frees memory that another uses, or destroys a lock that another holds;
        // the other tool has separate names for these.
        self.kinds.iter().any(|kind| ["race", "use-after-free", "misuse"].iter().any(|known| kind.contains(known)))
    }

    fn cell(&self) -> String {
        match (self.is_built, self.kinds.is_empty()) {
            (false, _) => "not built".to_owned(),
            (true, true) => "-".to_owned(),
            _ => self.kinds.iter().cloned().collect::<Vec<_>>().join(", "),
        }
    }
}

/// Runs the suite; returns true if RaceHunter finds all races that ThreadSanitizer does, reports nothing falsely, and
/// links.
pub fn show(words: &[&str]) -> Result<bool, String> {
    let (mut directory, mut time, mut names) = (None, "5s", Vec::new());
    let mut words = words.iter();
    while let Some(&word) = words.next() {
        match word {
            "--dir" => directory = words.next().copied(),
            "--time" => time = words.next().copied().ok_or("--time needs a time")?,
            _ => names.push(word),
        }
    }
    let directory = Path::new(directory.ok_or("--dir: where is compiler-rt's test/tsan?")?);
    let tests = find(directory)?;
    let chosen: Vec<&Test> = tests
        .iter()
        .filter(|test| names.is_empty() || names.iter().any(|name| text(&test.file).contains(name)))
        .collect();
    let table = Table::new([
        ("test", 40, Align::Left),
        ("expected", 8, Align::Left),
        ("ThreadSanitizer", 32, Align::Left),
        ("RaceHunter", 24, Align::Left),
        ("", 0, Align::Left),
    ]);
    println!("{}", table.heading());
    let mut counts = Counts::default();
    for test in chosen {
        let workshop = Workshop::new();
        let theirs = thread_sanitizer(test, directory, &workshop);
        let ours = hunt(test, directory, time, &workshop);
        let remark = counts.add(test, &theirs, &ours);
        let name = test.file.strip_prefix(directory).unwrap_or(&test.file).display().to_string();
        let expected = format!("{:?}", test.expects).to_lowercase();
        println!("{}", table.row([name, expected, theirs.cell(), ours.cell(), remark.to_owned()]));
    }
    println!("\n{counts}");
    Ok(counts.is_well())
}

#[derive(Default)]
struct Counts {
    tests: u32,
    theirs: u32,
    ours: u32,
    missed: Vec<String>,
    more: Vec<String>,
    falsely: Vec<String>,
    unbuilt: Vec<String>,
}

impl Counts {
    fn add(&mut self, test: &Test, theirs: &Answer, ours: &Answer) -> &'static str {
        let name = test.file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if !theirs.is_built && !ours.is_built {
            return "with neither";
        }
        self.tests += 1;
        if !ours.is_built {
            self.unbuilt.push(name);
            return "not linked";
        }
        let is_racy = theirs.races();
        self.theirs += u32::from(is_racy);
        self.ours += u32::from(is_racy && ours.races());
        match (is_racy, ours.races()) {
            (true, false) => {
                self.missed.push(name);
                "missed"
            }
            (false, true) if test.expects == Expected::Nothing => {
                self.falsely.push(name);
                "to be examined"
            }
            (false, true) => {
                self.more.push(name);
                "more"
            }
            _ => "",
        }
    }

    fn is_well(&self) -> bool {
        self.missed.is_empty() && self.falsely.is_empty() && self.unbuilt.is_empty()
    }
}

impl std::fmt::Display for Counts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let list = |names: &[String]| if names.is_empty() { "none".to_owned() } else { names.join(" ") };
        writeln!(f, "{} programs", self.tests)?;
        writeln!(f, "races by ThreadSanitizer: {}; of these by RaceHunter: {}", self.theirs, self.ours)?;
        writeln!(f, "missed: {}", list(&self.missed))?;
        writeln!(f, "expected, and by RaceHunter alone: {}", list(&self.more))?;
        writeln!(f, "not expected: {}", list(&self.falsely))?;
        write!(f, "not linked: {}", list(&self.unbuilt))
    }
}

fn find(directory: &Path) -> Result<Vec<Test>, String> {
    let mut tests = Vec::new();
    for part in ["", "Linux", "libcxx"] {
        let Ok(entries) = std::fs::read_dir(directory.join(part)) else { continue };
        let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        files.sort();
        for file in files {
            let is_source = file.extension().is_some_and(|end| ["c", "cc", "cpp"].iter().any(|known| end == *known));
            let source = if is_source { std::fs::read(&file).unwrap_or_default() } else { Vec::new() };
            tests.extend(parse(&file, &String::from_utf8_lossy(&source)));
        }
    }
    if tests.is_empty() { Err(format!("there are no tests in {}", directory.display())) } else { Ok(tests) }
}

/// Returns a test that is one program, built by one line.
fn parse(file: &Path, source: &str) -> Option<Test> {
    let runs = || source.lines().filter_map(|line| line.split_once("RUN:")).map(|(_, run)| run.trim());
    let mut builds = runs().filter(|run| run.contains("%clang"));
    let (build, None) = (builds.next()?, builds.next()) else { return None };
    let is_unsupported = |line: &str| line.contains("UNSUPPORTED:") && line.contains("linux");
    if source.lines().any(is_unsupported) {
        return None;
    }
    let (is_cxx, rest) = match build.split_once("%clangxx_tsan ") {
        Some((_, rest)) => (true, rest),
        None => (false, build.split_once("%clang_tsan ")?.1),
    };
    let (flags, rest) = rest.split_once("-o %t")?;
    if flags.contains("%t") || flags.contains("-S ") || build.contains("blacklist") || rest.starts_with('.') {
        return None;
    }
    let flags = flags.split_whitespace().filter(|flag| !flag.starts_with('%')).map(str::to_owned).collect();
    let expected = |what: &str| {
        source.lines().any(|line| line.contains("CHECK") && !line.contains("-NOT:") && line.contains(what))
    };
    let expects = match () {
        () if expected("ThreadSanitizer: data race") => Expected::Race,
        () if expected("WARNING: ThreadSanitizer") => Expected::Other,
        () => Expected::Nothing,
    };
    Some(Test { file: file.to_owned(), is_cxx, flags, expects })
}

fn build(mut compiler: Command, test: &Test, directory: &Path, program: &Path) -> bool {
    compiler.args(["-g", "-w", "-pthread", "-I"]).arg(directory).arg("-I").arg(directory.join(".."));
    compiler.args(&test.flags).arg(&test.file).arg("-o").arg(program).args(["-ldl", "-lm"]);
    run(&mut compiler).status == Some(0)
}

fn thread_sanitizer(test: &Test, directory: &Path, workshop: &Workshop) -> Answer {
    let program = workshop.path("tsan");
    let version = run(&mut racehunter(["cc", "--version"])).stdout;
    let installed = version.lines().find_map(|line| line.strip_prefix("InstalledDir: ")).unwrap_or_default();
    let mut compiler = Command::new(Path::new(installed).join(if test.is_cxx { "clang++" } else { "clang" }));
    compiler.arg("-fsanitize=thread");
    let mut answer = Answer { is_built: build(compiler, test, directory, &program), ..Answer::default() };
    for _ in 0..if answer.is_built { RUNS } else { 0 } {
        // Without address randomisation: otherwise ThreadSanitizer does not always find room for its shadow.
        let mut command = Command::new("setarch");
        command.args(["--addr-no-randomize", "timeout", "10"]).arg(&program);
        let ended = workshop.run(&mut command);
        let output = ended.stderr + &ended.stdout;
        let reports = output.split("WARNING: ThreadSanitizer: ").skip(1);
        answer.kinds.extend(reports.map(|report| report.split([' ', '\n']).take(2).collect::<Vec<_>>().join(" ")));
        if !answer.kinds.is_empty() {
            break;
        }
    }
    answer
}

fn hunt(test: &Test, directory: &Path, time: &str, workshop: &Workshop) -> Answer {
    let program = workshop.path("hunted");
    let compiler = racehunter([if test.is_cxx { "c++" } else { "cc" }]);
    if !build(compiler, test, directory, &program) {
        return Answer::default();
    }
    let hunted = workshop.hunt(&program, &["--time", time]);
    let confirmed = hunted.findings.iter().filter(|finding| finding.confirmed);
    Answer { is_built: true, kinds: confirmed.map(|finding| finding.kind.clone()).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_tests_are_read() {
        let source = "// RUN: %clangxx_tsan -O1 %s -o %t && %deflake %run %t | FileCheck %s\n\
                      // CHECK: WARNING: ThreadSanitizer: data race\n";
        let test = parse(Path::new("a.cpp"), source).expect("a test");
        assert_eq!((test.is_cxx, test.flags, test.expects), (true, vec!["-O1".to_owned()], Expected::Race));
        let clean = "// RUN: %clang_tsan %s -o %t && %run %t\n// CHECK-NOT: WARNING: ThreadSanitizer: data race\n";
        let test = parse(Path::new("a.c"), clean).expect("a test");
        assert_eq!((test.is_cxx, test.flags, test.expects), (false, Vec::<String>::new(), Expected::Nothing));
        let library = "// RUN: %clangxx_tsan %s -o %t.so\n";
        assert_eq!(parse(Path::new("a.cpp"), library), None);
        let twice = "// RUN: %clang_tsan %s -o %t\n// RUN: %clang_tsan -DX %s -o %t\n";
        assert_eq!(parse(Path::new("a.c"), twice), None);
    }
}
