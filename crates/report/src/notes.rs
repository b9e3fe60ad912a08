//! Notes on standard error: progress, notes for `--verbose`, and warnings.

use crate::text::count;
use crate::{Bound, clean};
use racehunter_finding::{Figures, Finding};
use std::fmt::Display;
use std::path::Path;
use std::time::Duration;

/// A note: a word, and more about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// One word.
    pub word: &'static str,
    /// More about it.
    pub text: String,
}

impl Display for Note {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{:>12} {}", self.word, self.text)
    }
}

fn note(word: &'static str, text: String) -> Note {
    Note { word, text }
}

/// The program that is run.
#[must_use]
pub fn program(path: &Path) -> Note {
    note("Program", path.display().to_string())
}

/// The figures of a monitored execution.
#[must_use]
pub fn monitored(figures: &Figures) -> Note {
    note("Monitored", format!("{} accesses in {} threads", figures.accesses, figures.threads))
}

/// How schedules are chosen, and the limits of an execution.
#[must_use]
pub fn searching(analysis: &str, bound: u32, seed: u64, jobs: usize, (time, mib): (Duration, u64)) -> Note {
    let time = humantime::format_duration(time);
    note(
        "Hunting",
        format!("analysis {analysis}, bound {bound}, seed {seed}; {jobs} at a time, each up to {time} and {mib} MiB"),
    )
}

/// A stage is finished.
#[must_use]
pub fn stage(bound: &Bound) -> Note {
    let end = if bound.complete { "finished" } else { "left" };
    note("Bound", format!("{} {end} after {} executions", bound.bound, bound.executions))
}

/// New points were found.
#[must_use]
pub fn points(added: usize) -> Note {
    note("Points", format!("{added} more places where threads can be switched"))
}

/// A finding.
#[must_use]
pub fn found(finding: &Finding) -> Note {
    let Finding { id, execution, replayed: [again, tried], steps, .. } = finding;
    note("Found", format!("{id} in execution {execution}, replayed {again}/{tried}, {} steps", steps.len()))
}

/// The figures of the paper on watchpoints.
#[must_use]
pub fn figures(figures: &Figures) -> Note {
    let Figures { threads, accesses, calls, conflicting_pairs, targets, trace_bits, trace_bytes, .. } = figures;
    let ms = |us: u64| us as f64 / 1000.0;
    note(
        "Figures",
        format!(
            "{threads} threads, {accesses} accesses, {calls} calls, {conflicting_pairs} conflicting pairs, {targets} \
             targets; trace {trace_bits} bits by estimate, {trace_bytes} bytes measured; memory {} KiB; plain {:.1} ms, \
             verified {:.1} ms",
            figures.memory_kib,
            ms(figures.plain_us),
            ms(figures.verified_us),
        ),
    )
}

/// Where findings and the state of a hunt are.
#[must_use]
pub fn kept(out: &Path) -> Note {
    note("Kept", format!("findings and the state of the hunt in {}", out.display()))
}

/// Where the findings of a merge are.
#[must_use]
pub fn kept_findings(findings: usize, out: &Path) -> Note {
    note("Kept", format!("{} in `{}`", count(findings as u64, "finding"), out.display()))
}

/// A part of a merge.
#[must_use]
pub fn part(number: u32, of: u32, directory: &Path, executions: u64, findings: usize) -> Note {
    let (executions, findings) = (count(executions, "execution"), count(findings as u64, "finding"));
    note("Part", format!("{number} of {of} in `{}`: {executions}, {findings}", directory.display()))
}

/// A suppression that matched no finding.
#[must_use]
pub fn unused_suppression(what: &str) -> Note {
    note("Suppression", format!("of {what}: nothing was found that it is about"))
}

/// The schedule that is replayed.
#[must_use]
pub fn schedule(decisions: u64, last: u64) -> Note {
    note("Schedule", format!("{}, the last one at event {last}", count(decisions, "decision")))
}

/// A replay begins.
#[must_use]
pub fn replaying(number: u32, of: u32) -> Note {
    note("Replaying", format!("{number} of {of}"))
}

/// A replay is done.
#[must_use]
pub fn replayed(number: u32, of: u32, shown: bool) -> Note {
    note("Replayed", format!("{number} of {of}: {}", if shown { "it showed" } else { "it did not show" }))
}

/// The user has ended the replays.
#[must_use]
pub fn interrupted_replays([shown, done]: [u32; 2], times: u32) -> String {
    format!("interrupted after {done} of {times} replays; {shown} showed the finding")
}

/// An execution was recorded.
#[must_use]
pub fn recorded(events: u64, threads: u32) -> Note {
    note("Executed", format!("{} of {}", count(events, "event"), count(threads.into(), "thread")))
}

/// The code is followed along a recording, or the reason why not.
#[must_use]
pub fn following(result: Result<(), &dyn Display>) -> Note {
    let text = match result {
        Ok(()) => "the code of the program, for branches and dependences".to_owned(),
        Err(reason) => format!("nothing: {reason}"),
    };
    note("Following", text)
}

/// How far predicting from a long trace has got.
#[must_use]
pub fn segment(before: u64, of: u64) -> Note {
    note("Predicting", format!("event {before} of {of}"))
}

/// Predicting begins.
#[must_use]
pub fn predicting(events: usize, policy: &str) -> Note {
    note("Predicting", format!("from {}, {policy}", count(events as u64, "event")))
}

/// The progress of predicting.
#[must_use]
pub fn cases(number: u64) -> Note {
    note("Predicting", format!("{} looked at", count(number, "case")))
}

/// Predicting is done.
#[must_use]
pub fn predicted(predictions: usize, cases: usize, questions: usize) -> Note {
    let [predictions, cases, questions] = [(predictions, "prediction"), (cases, "case"), (questions, "question")]
        .map(|(number, noun)| count(number as u64, noun));
    note("Predicted", format!("{predictions} from {cases} with {questions}"))
}

/// A prediction is tried.
#[must_use]
pub fn trying(number: usize, of: usize) -> Note {
    note("Trying", format!("prediction {number} of {of}"))
}

/// A prediction was tried: the ids of the findings that it led to, or why it was not shown.
#[must_use]
pub fn tried(number: usize, of: usize, result: Result<&[&str], &dyn Display>) -> Note {
    let verdict = match result {
        Ok([]) => "shown, and reported before".to_owned(),
        Ok(ids) => format!("shown, {}", ids.join(", ")),
        Err(reason) => format!("not shown: {reason}"),
    };
    note("Tried", format!("prediction {number} of {of}: {verdict}"))
}

/// A scan has read the program.
#[must_use]
pub fn reading(modules: u64, backend: &str) -> Note {
    note("Reading", format!("{}, pointers by {backend}", count(modules, "module")))
}

/// A scan has analysed the program.
#[must_use]
pub fn analysed(report: &racehunter_scan::Report, elapsed: Duration) -> Note {
    let [pairs, gaps] = [report.pairs.len(), report.gaps.len()].map(|number| number as u64);
    let threads = count(report.threads as u64, "kind") + " of threads";
    let (pairs, gaps, took) = (count(pairs, "pair"), count(gaps, "gap"), elapsed.as_secs_f64());
    note("Read", format!("{threads}, {pairs} that may race, {gaps} in the model, {took:.1}s"))
}

/// The progress of the executions of a scan.
#[must_use]
pub fn executing(total: u64) -> Note {
    note("Executing", format!("{}, no race yet", count(total, "execution")))
}

/// A scan has executed the program for a while.
#[must_use]
pub fn executed(executions: u64, inputs: &str, race: bool) -> Note {
    let with = if inputs.is_empty() { String::new() } else { format!(" with inputs {inputs}") };
    let what = if race { "a race" } else { "no race" };
    note("Executed", format!("{}{with}: {what}", count(executions, "time")))
}

/// What a report is made from.
#[must_use]
pub fn read(findings: usize, campaigns: usize, out: &Path) -> Note {
    let (findings, campaigns) = (count(findings as u64, "finding"), count(campaigns as u64, "campaign"));
    note("Read", format!("{findings} and {campaigns} in `{}`", out.display()))
}

/// A file was written.
#[must_use]
pub fn wrote(path: &Path, bytes: usize) -> Note {
    note("Wrote", format!("`{}`, {} kB", path.display(), bytes.div_ceil(1000)))
}

/// Several campaigns have no common summary.
#[must_use]
pub fn several_campaigns(number: usize, out: &Path) -> String {
    format!("there are {number} campaigns in `{}`; --html has what each covered", out.display())
}

/// Findings cannot be stored.
#[must_use]
pub fn findings_not_kept(why: &str) -> String {
    format!("findings cannot be kept: {why}")
}

/// A finding cannot be stored.
#[must_use]
pub fn finding_not_kept(id: &str, why: &str) -> String {
    format!("`{id}` cannot be kept: {why}")
}

/// The state of a hunt cannot be stored.
#[must_use]
pub fn campaign_not_kept(why: &str) -> String {
    format!("the campaign cannot be kept, so it cannot be resumed: {why}")
}

/// A worker has returned something that is no result.
#[must_use]
pub fn worker_shut_out(worker: &str, why: &str) -> String {
    format!("worker `{}` is shut out, and what it did is done again: {}", clean(worker), clean(why))
}

/// A finding of a resumed campaign cannot be read again.
#[must_use]
pub fn finding_lost(id: &str, why: &str) -> String {
    format!("finding `{id}` of this campaign cannot be reported again: {why}")
}

/// A file is left out of a report.
#[must_use]
pub fn left_out(why: &str) -> String {
    format!("{}; it is left out", clean(why))
}

/// A signal has ended the hunt.
#[must_use]
pub fn interrupted() -> String {
    "the hunt was interrupted".to_owned()
}

/// The hunt is incomplete under `--require-complete`.
#[must_use]
pub fn not_complete() -> String {
    "not everything was explored, which --require-complete asks for".to_owned()
}

/// A finding belongs to an earlier build of the program.
#[must_use]
pub fn earlier_build(program: &Path) -> String {
    format!("found in an earlier build of `{}`", program.display())
}

/// A finding was written to a file of this size.
#[must_use]
pub fn bundled(path: &Path, bytes: usize) -> String {
    let (name, kilobytes) = (path.display(), bytes.div_ceil(1000));
    format!("wrote {name} ({kilobytes} kB); elsewhere: racehunter replay {name}")
}

/// An error: the message, then its causes, then what to do.
#[must_use]
pub fn error(message: &str, causes: &[String], help: Option<&str>) -> String {
    // It may quote output of the program.
    let clean = |text: &str| text.lines().map(clean).collect::<Vec<_>>().join("\n");
    let mut text = format!("error: {}\n", clean(message));
    for cause in causes {
        text += &format!("  = because: {}\n", clean(cause));
    }
    text + &help.map_or_else(String::new, |help| format!("  = help: {}\n", clean(help)))
}

/// The program has ended without creating a thread: the message, and what to do if it has failed. If it had a client,
/// either may have failed.
#[must_use]
pub fn nothing(name: &str, status: i32, last_line: &str, has_client: bool) -> (String, Option<String>) {
    let said = last_words(last_line);
    match (status, has_client) {
        (0, _) => {
            (format!("`{name}` ran to its end without creating a thread: there is nothing to explore{said}"), None)
        }
        (_, false) => (
            format!("`{name}` ended with status {status} before it created a thread{said}"),
            Some(format!("its arguments go after `--`: racehunter hunt {name} -- ARGUMENTS")),
        ),
        (_, true) => (
            format!("`{name}`, or its client, ended with status {status} before the program created a thread{said}"),
            Some("a client starts when the program listens; `sh` runs its command in this directory".to_owned()),
        ),
    }
}

fn last_words(last_line: &str) -> String {
    let last = clean(last_line);
    if last.is_empty() { String::new() } else { format!("; its last output: {last}") }
}

/// The progress of a hunt: its rate, waiting targets, an estimate of the rest, and the findings.
#[must_use]
pub fn progress(rate: f64, waiting: usize, remaining: Option<u64>, left: Option<Duration>, findings: usize) -> String {
    // The stage may be over while other analyses use what is left of the budget.
    let remaining = remaining.filter(|&remaining| remaining > 0);
    let remaining = remaining.map_or_else(String::new, |remaining| to_go(remaining, rate));
    let left = left.map_or_else(String::new, |left| format!(", {} left", brief(left.as_secs())));
    format!("runs, {rate:.0}/s, {waiting} waiting{remaining}{left}, {}", count(findings as u64, "finding"))
}

/// An estimate of what is left of the current stage.
fn to_go(remaining: u64, rate: f64) -> String {
    let seconds = (remaining as f64 / rate.max(1e-6)).min(1e9) as u64;
    format!(", about {remaining} to go ({})", brief(seconds))
}

/// A short form of a time.
fn brief(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds}s"),
        60..7200 => format!("{}m", seconds / 60),
        7200..172_800 => format!("{}h", seconds / 3600),
        _ => format!("{}d", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_reads_well() {
        assert_eq!(to_go(300, 100.0), ", about 300 to go (3s)");
        assert_eq!(to_go(600_000, 100.0), ", about 600000 to go (100m)");
        assert_eq!(to_go(u64::MAX, 0.0), ", about 18446744073709551615 to go (11574d)");
        let text = progress(12.4, 3, Some(24), Some(Duration::from_secs(90)), 1);
        assert_eq!(text, "runs, 12/s, 3 waiting, about 24 to go (1s), 1m left, 1 finding");
        assert_eq!(progress(12.4, 3, Some(0), None, 0), "runs, 12/s, 3 waiting, 0 findings");
    }
}
