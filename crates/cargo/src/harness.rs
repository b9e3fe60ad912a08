//! The tests of a program, as its harness lists them, and the user's selection.

use crate::build::Program;
use crate::wrapper::HARNESS;
use anyhow::{Context as _, Result, bail};
use clap::ArgMatches;
use object::{Object as _, ObjectSymbol as _};
use std::fs;
use std::process::{Command, Stdio};

/// One test.
#[derive(Clone, Debug)]
pub struct Test {
    /// The program that has it.
    pub program: Program,
    /// Its name; `None` for a program with its own harness, which is one test.
    pub name: Option<String>,
    /// It runs only on demand.
    pub ignored: bool,
}

impl Test {
    /// Returns its name for the user.
    pub fn title(&self) -> String {
        match &self.name {
            Some(name) => format!("{} {name}", self.program.title()),
            None => self.program.title(),
        }
    }

    /// Returns the arguments that make the harness run only this test, and print its output at once.
    pub fn arguments(&self) -> Vec<String> {
        let Some(name) = &self.name else { return Vec::new() };
        let words = [name.as_str(), "--exact", "--test-threads=1", "--nocapture"];
        let ignored = self.ignored.then_some("--include-ignored");
        words.into_iter().chain(ignored).map(str::to_owned).collect()
    }
}

/// The user's selection of tests, as Rust's harness understands it.
#[derive(Debug, Default)]
pub struct Choice {
    filters: Vec<String>,
    skip: Vec<String>,
    exact: bool,
    ignored: Ignored,
}

/// What to do with tests that are marked as ignored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Ignored {
    /// Leave them out.
    #[default]
    Out,
    /// Treat them like others.
    In,
    /// Take only them.
    Only,
}

impl Choice {
    /// Reads the selection from the command line.
    pub fn of(matches: &ArgMatches) -> Result<Self> {
        let mut choice = Self::default();
        choice.filters.extend(matches.get_one::<String>("filter").cloned());
        let mut words = matches.get_many::<String>("harness").into_iter().flatten();
        while let Some(word) = words.next() {
            match word.as_str() {
                "--exact" => choice.exact = true,
                "--ignored" => choice.ignored = Ignored::Only,
                "--include-ignored" => choice.ignored = Ignored::In,
                "--skip" => choice.skip.push(words.next().context("--skip needs a name")?.clone()),
                // This is always the case here.
                "--nocapture" | "--no-capture" | "--test-threads=1" => {}
                option if option.starts_with('-') => {
                    bail!(
                        "`{option}` is not passed on to tests; what can follow `--`: filters, --exact, --skip, --ignored, --include-ignored"
                    )
                }
                filter => choice.filters.push(filter.to_owned()),
            }
        }
        Ok(choice)
    }

    fn takes(&self, name: &str, ignored: bool) -> bool {
        let fits = |pattern: &String| if self.exact { name == pattern } else { name.contains(pattern.as_str()) };
        let by_mark = match self.ignored {
            Ignored::Out => !ignored,
            Ignored::In => true,
            Ignored::Only => ignored,
        };
        by_mark && (self.filters.is_empty() || self.filters.iter().any(fits)) && !self.skip.iter().any(fits)
    }
}

/// Returns the selected tests of a program.
pub fn tests(program: &Program, choice: &Choice) -> Result<Vec<Test>> {
    if !has_usual_harness(program)? {
        let test = Test { program: program.clone(), name: None, ignored: false };
        return Ok(if choice.takes(&test.title(), false) { vec![test] } else { Vec::new() });
    }
    let all = list(program, &[])?;
    let ignored = list(program, &["--ignored"])?;
    let tests = all.into_iter().map(|name| {
        let ignored = ignored.contains(&name);
        Test { program: program.clone(), name: Some(name), ignored }
    });
    Ok(tests.filter(|test| choice.takes(test.name.as_deref().unwrap_or_default(), test.ignored)).collect())
}

/// Returns true if a program has Rust's test harness: it is then linked with this symbol.
fn has_usual_harness(program: &Program) -> Result<bool> {
    let data = fs::read(&program.path).with_context(|| format!("cannot read {}", program.path.display()))?;
    let file = object::File::parse(&*data).with_context(|| format!("{} is not a program", program.path.display()))?;
    Ok(file.symbols().any(|symbol| symbol.name() == Ok(HARNESS) && !symbol.is_undefined()))
}

fn list(program: &Program, options: &[&str]) -> Result<Vec<String>> {
    let mut command = Command::new(&program.path);
    command.args(["--list", "--format", "terse"]).args(options).current_dir(&program.directory).stdin(Stdio::null());
    let output = command.output().with_context(|| format!("cannot run {}", program.path.display()))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("{} does not name its tests: {}", program.path.display(), said.trim());
    }
    Ok(names(&String::from_utf8_lossy(&output.stdout)))
}

/// Returns the tests in a list; benchmarks are left out.
fn names(list: &str) -> Vec<String> {
    list.lines().filter_map(|line| Some(line.strip_suffix(": test")?.to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_list_of_a_harness() {
        assert_eq!(names("tests::a: test\nspeed: benchmark\nb::c: test\n"), ["tests::a", "b::c"]);
    }

    #[test]
    fn chooses_as_the_harness_does() {
        let choice = |line: &str| {
            let words = ["cargo-racehunter", "test"].into_iter().chain(line.split_whitespace());
            let matches = crate::arguments::command().get_matches_from(words);
            Choice::of(matches.subcommand().unwrap().1)
        };
        let all = choice("").unwrap();
        assert!(all.takes("a", false) && !all.takes("a", true));
        let pop = choice("pop -- --skip slow").unwrap();
        assert!(pop.takes("queue::pop", false) && !pop.takes("queue::pop_slow", false) && !pop.takes("push", false));
        let exact = choice("-- --exact pop --include-ignored").unwrap();
        assert!(exact.takes("pop", true) && !exact.takes("pop_all", false));
        let ignored = choice("-- --ignored").unwrap();
        assert!(ignored.takes("a", true) && !ignored.takes("a", false));
        assert!(choice("-- --format=json").unwrap_err().to_string().contains("--format=json"));
    }
}
