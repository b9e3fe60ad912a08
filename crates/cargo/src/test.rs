//! `cargo racehunter test` and `cargo racehunter run`.

use crate::arguments;
use crate::build::{self, Built};
use crate::harness::{self, Choice, Test};
use crate::hunts::{self, Hunted, Verdict};
use crate::junit;
use crate::output::{Voice, count};
use anyhow::{Context as _, Result, bail};
use clap::ArgMatches;
use racehunter_finding::Finding;
use racehunter_report::{ColorChoice, Format, Reporter};
use serde_json::{Value, json};
use std::fs;
use std::io::{IsTerminal as _, Write as _, stdout};
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Instant;

/// Hunts all selected tests.
pub fn run(matches: &ArgMatches) -> Result<u8> {
    let began = Instant::now();
    let voice = Voice::of(matches);
    let choice = Choice::of(matches)?;
    let built = build::build(matches, true, voice)?;
    let mut tests = Vec::new();
    for program in built.programs.iter().filter(|program| program.is_test) {
        if program.kind == "proc-macro" {
            voice.say(
                "Left out",
                &format!("the tests of {}: procedural macros run inside of the compiler", program.package),
            );
            continue;
        }
        tests.extend(harness::tests(program, &choice)?);
    }
    if matches.get_flag("list") {
        tests.iter().for_each(|test| println!("{}", test.title()));
        return Ok(0);
    }
    let jobs = matches.get_one::<usize>("jobs").copied();
    let jobs = jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from)).max(1);
    // A single test gets all processors. The findings do not depend on this.
    let each = (jobs / tests.len().clamp(1, jobs)).to_string();
    let mut options = arguments::for_hunt(matches);
    options.extend(["--jobs".to_owned(), each]);
    voice.say("Hunting", &format!("in {}, {jobs} at a time", count(tests.len() as u64, "test")));
    let format: Format = matches
        .get_one::<String>("message-format")
        .map_or("human", String::as_str)
        .parse()
        .map_err(anyhow::Error::msg)?;
    let mut teller = Teller { format, built: &built, results: Vec::new() };
    hunt_all(&tests, jobs, &options, &built, |number, hunted| teller.tell(&tests[number], hunted))?;
    teller.summary(began)?;
    if let Some(file) = matches.get_one::<PathBuf>("junit") {
        let text = junit::document(&tests, &teller.results);
        fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))?;
    }
    Ok(teller.code())
}

/// Hunts one program of a crate.
pub fn run_program(matches: &ArgMatches) -> Result<u8> {
    let built = build::build(matches, false, Voice::of(matches))?;
    let program = match built.programs.as_slice() {
        [only] => only,
        [] => bail!(
            "this crate has no program; name an example with --example, or hunt in the tests: cargo racehunter test"
        ),
        several => {
            let names: Vec<&str> = several.iter().map(|program| program.name.as_str()).collect();
            bail!("which program? --bin or --example, one of: {}", names.join(", "));
        }
    };
    let mut command = Command::new(crate::racehunter());
    command.arg("hunt").args(arguments::for_hunt(matches)).arg("--out").arg(&built.out);
    if let Some(jobs) = matches.get_one::<usize>("jobs") {
        command.args(["--jobs", &jobs.to_string()]);
    }
    if let Some(format) = matches.get_one::<String>("message-format") {
        command.args(["--message-format", format]);
    }
    if matches.get_flag("quiet") {
        command.arg("--quiet");
    }
    command.arg(&program.path).arg("--").args(matches.get_many::<String>("arguments").into_iter().flatten());
    let status = command.status().context("cannot run `racehunter`")?;
    Ok(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(crate::ERROR))
}

/// Hunts several tests at a time, and reports each as soon as it is done.
fn hunt_all(
    tests: &[Test],
    jobs: usize,
    options: &[String],
    built: &Built,
    mut tell: impl FnMut(usize, Hunted) -> Result<()>,
) -> Result<()> {
    let next = AtomicUsize::new(0);
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..jobs.min(tests.len()) {
            let (sender, next) = (sender.clone(), &next);
            scope.spawn(move || {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(test) = tests.get(number) else { break };
                    if sender.send((number, hunts::hunt(test, options, &built.out))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        for (number, hunted) in receiver {
            // If a result cannot be reported, the other workers stop too.
            if let Err(error) = hunted.and_then(|hunted| tell(number, hunted)) {
                next.store(tests.len(), Ordering::Relaxed);
                return Err(error);
            }
        }
        Ok(())
    })
}

/// Reports results as they arrive.
struct Teller<'b> {
    format: Format,
    built: &'b Built,
    /// The title and the result of each test.
    results: Vec<(String, Hunted)>,
}

impl Teller<'_> {
    fn tell(&mut self, test: &Test, hunted: Hunted) -> Result<()> {
        let title = test.title();
        let mut out = stdout().lock();
        if self.format == Format::Json {
            for line in &hunted.lines {
                let mut line = line.clone();
                line["test"] = Value::from(title.clone());
                writeln!(out, "{line}")?;
            }
            writeln!(out, "{}", test_line(&title, &hunted))?;
        } else {
            writeln!(out, "{:>12} {title} {}", word(&hunted.verdict), extent(&hunted))?;
            if let Verdict::Failed(said) = &hunted.verdict {
                said.lines().for_each(|line| drop(writeln!(out, "{:>12} {}", "", racehunter_report::clean(line))));
            }
            drop(out);
            self.tell_findings(&hunted)?;
        }
        self.results.push((title, hunted));
        Ok(())
    }

    /// Prints the reports of the findings, as `racehunter hunt` would.
    fn tell_findings(&self, hunted: &Hunted) -> Result<()> {
        let color = ColorChoice::Auto.resolve(stdout().is_terminal());
        let asked = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
        let terminal = || terminal_size::terminal_size_of(stdout()).map(|(width, _)| usize::from(width.0));
        let width = asked.or_else(terminal).unwrap_or(100);
        let root = self.built.root.clone();
        let mut reporter = Reporter::new(stdout(), self.format).color(color).width(width).source_root(root);
        for id in &hunted.findings {
            reporter.finding(&self.load(id)?)?;
        }
        Ok(())
    }

    fn load(&self, id: &str) -> Result<Finding> {
        let path = self.built.out.join("findings").join(format!("{id}.json"));
        let text = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let mut stored: Value = serde_json::from_slice(&text)?;
        serde_json::from_value(stored["finding"].take()).with_context(|| format!("{} is not a finding", path.display()))
    }

    fn number(&self, is: impl Fn(&Verdict) -> bool) -> u64 {
        self.results.iter().filter(|(_, hunted)| is(&hunted.verdict)).count() as u64
    }

    /// Returns how many tests had each result, in the order of the words.
    fn numbers(&self) -> Vec<(&'static str, u64)> {
        let words = ["proved", "clean", "found", "skipped", "failed", "unclear", "error"];
        words.map(|word| (word, self.number(|verdict| verdict.word() == word))).to_vec()
    }

    fn summary(&self, began: Instant) -> Result<()> {
        let numbers = self.numbers();
        let executions: u64 = self.results.iter().map(|(_, hunted)| hunted.executions).sum();
        let findings: u64 = self.results.iter().map(|(_, hunted)| hunted.findings.len() as u64).sum();
        let elapsed = began.elapsed();
        let mut out = stdout().lock();
        if self.format == Format::Json {
            let mut line = json!({
                "reason": "tests",
                "tests": self.results.len(),
                "findings": findings,
                "executions": executions,
                "elapsed_ms": u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX),
            });
            numbers.iter().for_each(|&(word, number)| line[word] = Value::from(number));
            writeln!(out, "{line}")?;
            return Ok(());
        }
        let parts: Vec<String> = numbers
            .iter()
            .filter(|&&(_, number)| number > 0)
            .map(|&(word, number)| match word {
                "found" => format!("{number} with {}", count(findings, "finding")),
                "skipped" => format!("{number} skipped (no threads of their own)"),
                word => format!("{number} {word}"),
            })
            .collect();
        let tests = count(self.results.len() as u64, "test");
        let seconds = elapsed.as_secs_f64();
        if self.results.is_empty() {
            writeln!(out, "{:>12} no test has such a name", "Summary")?;
            return Ok(());
        }
        writeln!(
            out,
            "{:>12} [{seconds:.1}s] {tests}: {}; {}",
            "Summary",
            parts.join(", "),
            count(executions, "execution")
        )?;
        let ids: Vec<&str> =
            self.results.iter().flat_map(|(_, hunted)| hunted.findings.iter().map(String::as_str)).collect();
        if let Some(id) = ids.first() {
            writeln!(out, "{:>12} cargo racehunter replay {id}", "Replay")?;
        }
        Ok(())
    }

    /// Returns the exit code, with the same meaning as that of one hunt.
    fn code(&self) -> u8 {
        let any = |words: &[&str]| self.results.iter().any(|(_, hunted)| words.contains(&hunted.verdict.word()));
        match () {
            () if any(&["found", "failed"]) => 1,
            () if any(&["error"]) => crate::ERROR,
            () if any(&["unclear"]) => 3,
            () if any(&["proved", "clean"]) => 0,
            () => 4,
        }
    }
}

fn word(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Found | Verdict::Failed(_) | Verdict::Trouble(_) => verdict.word().to_uppercase(),
        other => other.word().to_owned(),
    }
}

/// Returns the text after a test's name.
fn extent(hunted: &Hunted) -> String {
    let seconds = hunted.elapsed.as_secs_f64();
    let run = || format!("{}, {}", count(hunted.executions, "execution"), count(hunted.threads, "thread"));
    match &hunted.verdict {
        Verdict::Skipped => "(no threads of its own)".to_owned(),
        Verdict::Failed(_) => "(in its only schedule: it makes no thread)".to_owned(),
        Verdict::Proved(what) => format!("({what}; {}) [{seconds:.1}s]", run()),
        Verdict::Unclear(why) | Verdict::Trouble(why) => format!("({why}) [{seconds:.1}s]"),
        Verdict::Clean if !hunted.unseen.is_empty() => {
            format!("({}; not seen: {}) [{seconds:.1}s]", run(), hunted.unseen.join(", "))
        }
        Verdict::Clean | Verdict::Found => format!("({}) [{seconds:.1}s]", run()),
    }
}

fn test_line(title: &str, hunted: &Hunted) -> Value {
    let detail = match &hunted.verdict {
        Verdict::Proved(text) | Verdict::Failed(text) | Verdict::Unclear(text) | Verdict::Trouble(text) => {
            text.as_str()
        }
        Verdict::Clean | Verdict::Found | Verdict::Skipped => "",
    };
    json!({
        "reason": "test",
        "test": title,
        "verdict": hunted.verdict.word(),
        "detail": detail,
        "findings": hunted.findings,
        "executions": hunted.executions,
        "threads": hunted.threads,
        "elapsed_ms": u64::try_from(hunted.elapsed.as_millis()).unwrap_or(u64::MAX),
    })
}
