//! `cargo xtask bench sctbench --dir DIR [--runs N] [--time T] [NAME...]`: tables 1 and 2 of the 2025 paper on the
//! programs of SCTBench, from which the paper's own tests were taken.
//!
//! DIR is `benchmarks` of a copy of SCTBench, which is not part of this project. The programs are those of its
//! `buggy.txt` that consist of one or two files; the others (servers, PARSEC, SPLASH-2, a browser's engine) have
//! their own build systems, and are named. Besides races, any other confirmed failure counts: an assertion, a crash,
//! a deadlock.

use crate::tables::{Test, compare};
use std::fs;
use std::path::{Path, PathBuf};

/// Source files of programs that are not named after them.
const ELSEWHERE: [(&str, &str, &[&str]); 2] = [
    ("safestack bug1", "safestack/SafeStack.cpp", &[]),
    (
        "conc-bugs stringbuffer-jdk1.4",
        "conc-bugs/stringbuffer-jdk1.4/main.cpp",
        &["conc-bugs/stringbuffer-jdk1.4/stringbuffer.cpp"],
    ),
];

/// The programs are from a time when compilers were less strict.
const C: [&str; 7] = [
    "-w",
    "-std=gnu89",
    "-Wno-return-mismatch",
    "-Wno-implicit-function-declaration",
    "-Wno-int-conversion",
    "-Wno-incompatible-function-pointer-types",
    "-Wno-incompatible-pointer-types",
];
const CXX: [&str; 3] = ["-w", "-std=gnu++11", "-fpermissive"];

/// Number of threads, for programs that ask for it.
const THREADS: &str = "2";

/// Prints the tables; returns true if everything could be measured.
pub fn show(words: &[&str]) -> Result<bool, String> {
    let (mut directory, mut runs, mut limit, mut names) = (None, "100000000", "20s", Vec::new());
    let mut words = words.iter().copied();
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or_else(|| format!("{word} needs a value"));
        match word {
            "--dir" => directory = Some(PathBuf::from(value()?)),
            "--runs" => runs = value()?,
            "--time" => limit = value()?,
            option if option.starts_with('-') => return Err(format!("there is no option {option}")),
            name => names.push(name),
        }
    }
    let directory = directory.ok_or("--dir: where is `benchmarks` of SCTBench?")?;
    let list = directory.join("buggy.txt");
    let list = fs::read_to_string(&list).map_err(|error| format!("cannot read {}: {error}", list.display()))?;
    let (tests, others) = tests(&directory, &list);
    let wanted = |test: &Test| names.is_empty() || names.iter().any(|name| test.name.contains(name));
    let tests: Vec<Test> = tests.into_iter().filter(wanted).collect();
    if tests.is_empty() {
        return Err(format!("no program of {} has {names:?} in its name", directory.display()));
    }
    let well = compare(&tests, runs, limit);
    if names.is_empty() {
        println!("\nwith build systems of their own, and so not tried: {}", others.join(", "));
    }
    Ok(well)
}

/// Returns the programs of the list that are one file, and the names of the others.
fn tests(directory: &Path, list: &str) -> (Vec<Test>, Vec<String>) {
    let (mut tests, mut others) = (Vec::new(), Vec::new());
    for line in list.lines().filter(|line| !line.starts_with('#')) {
        let mut words = line.split_whitespace();
        let (Some(suite), Some(name)) = (words.next(), words.next()) else { continue };
        let full = format!("{suite} {name}");
        let elsewhere = ELSEWHERE.iter().find(|(known, ..)| *known == full);
        let others_of = elsewhere.map_or(&[][..], |(_, _, others)| others);
        let elsewhere = elsewhere.map(|(_, path, _)| directory.join(path));
        let named = ["c", "cpp"].map(|end| directory.join(suite).join(format!("{name}.{end}")));
        let Some(source) = elsewhere.into_iter().chain(named).find(|path| path.is_file()) else {
            others.push(full);
            continue;
        };
        let first = fs::read(&source).unwrap_or_default();
        let first = String::from_utf8_lossy(&first).lines().next().unwrap_or_default().to_owned();
        let is_cxx = source.extension().is_some_and(|end| end == "cpp");
        let options: &[&str] = if is_cxx { &CXX } else { &C };
        let mut flags: Vec<String> = options.iter().map(|&option| option.to_owned()).collect();
        flags.extend(others_of.iter().map(|path| directory.join(path).display().to_string()));
        tests.push(Test { name: full, source, flags, arguments: arguments(&first), any_failure: true });
    }
    (tests, others)
}

/// Returns the arguments that the first line of a program asks for.
fn arguments(first: &str) -> Vec<String> {
    let asked = first.split_once("args:").map_or("", |(_, rest)| rest);
    asked
        .split_whitespace()
        .map(|word| word.replace("{NUMTHREADS}", THREADS).replace("{OUTFILE}", "output.txt"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::tests as all;
    use super::*;

    #[test]
    fn the_first_line_of_a_program_gives_its_arguments() {
        assert_eq!(arguments("//args:-n 32 -h {NUMTHREADS} -v"), ["-n", "32", "-h", "2", "-v"]);
        assert!(arguments("#include <stdio.h>").is_empty());
    }

    #[test]
    fn programs_that_are_one_file_are_found_by_their_names() {
        let directory = std::env::temp_dir().join(format!("racehunter-sctbench-{}", std::process::id()));
        fs::create_dir_all(directory.join("suite")).unwrap();
        fs::write(directory.join("suite/one.c"), "//args:7\nint main(void) { return 0; }\n").unwrap();
        let (tests, others) = all(&directory, "suite one 3 8\n#suite two 1 1\nsuite three 2 2\n");
        fs::remove_dir_all(&directory).unwrap();
        assert_eq!(tests.iter().map(|test| &*test.name).collect::<Vec<_>>(), ["suite one"]);
        assert_eq!(tests[0].arguments, ["7"]);
        assert_eq!(others, ["suite three"]);
    }
}
