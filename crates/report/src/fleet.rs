//! Hunts on many machines: what workers say, and the table of `status`.

use crate::clean;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// A hunt in the table.
#[derive(Clone, Debug, Default)]
pub struct HuntLine {
    /// Its name at the engine.
    pub hunt: String,
    /// Its program.
    pub name: String,
    /// Who started it.
    pub owner: String,
    /// `exploring`, `finished` or `paused`.
    pub state: String,
    /// Seconds since its coordinator was last heard of.
    pub silent_s: u64,
    /// Parts that are done.
    pub done: u64,
    /// Parts that workers have.
    pub running: u64,
    /// Parts that wait for a worker.
    pub waiting: u64,
    /// Targets that wait at the coordinator.
    pub targets: u64,
    /// Executions so far.
    pub executions: u64,
    /// Executions per second, on average.
    pub rate: f64,
    /// Findings so far.
    pub findings: u64,
    /// Workers that are shut out, and why.
    pub shut_out: BTreeMap<String, String>,
}

/// A worker in the table.
#[derive(Clone, Debug, Default)]
pub struct WorkerLine {
    /// Its name.
    pub worker: String,
    /// The hunt that it worked for last.
    pub hunt: Option<String>,
    /// Parts that it has handed in.
    pub parts: u64,
    /// Executions of these parts.
    pub executions: u64,
    /// Seconds since it was last heard of.
    pub silent_s: u64,
    /// Hunts that it has refused, and why.
    pub refused: BTreeMap<String, String>,
}

/// Seconds of silence after which a worker or coordinator counts as gone.
const GONE: u64 = 15;

/// A worker begins.
#[must_use]
pub fn worker_begins(name: &str, engine: &str, only: &[String]) -> String {
    let runs = match only {
        [] => "runs programs of everybody who uses this engine; --only-hash limits that".to_owned(),
        only => format!("runs only programs whose SHA-256 begins with {}", only.join(" or ")),
    };
    format!("worker {name} at {}: {runs}", clean(engine))
}

/// A worker joins a hunt.
#[must_use]
pub fn joins(hunt: &str, name: &str, owner: &str, program: &str) -> String {
    let short = program.get(..12).unwrap_or(program);
    format!("joins hunt {}: `{}` (SHA-256 {short}...) of {}", clean(hunt), clean(name), clean(owner))
}

/// A worker does not join a hunt.
#[must_use]
pub fn refuses(hunt: &str, name: &str, owner: &str, why: &str) -> String {
    format!("warning: takes no part in hunt {} (`{}` of {}): {}", clean(hunt), clean(name), clean(owner), clean(why))
}

/// The table of hunts and workers.
#[must_use]
pub fn status(hunts: &[HuntLine], workers: &[WorkerLine]) -> String {
    let mut text = String::new();
    if hunts.is_empty() {
        text += "no hunts\n";
    }
    for hunt in hunts {
        let (name, owner) = (clean(&hunt.name), clean(&hunt.owner));
        let gone = if hunt.silent_s > GONE {
            format!(", its coordinator was last heard of {} s ago", hunt.silent_s)
        } else {
            String::new()
        };
        let _ = writeln!(text, "{}  {name} of {owner}: {}{gone}", clean(&hunt.hunt), clean(&hunt.state));
        let HuntLine { done, running, waiting, targets, executions, rate, findings, .. } = hunt;
        let _ = writeln!(
            text,
            "    parts       {done} done, {running} running, {waiting} waiting; {targets} targets not lent yet"
        );
        let _ = writeln!(text, "    executions  {executions}, {rate:.0} per second");
        let _ = writeln!(text, "    findings    {findings}");
        for (worker, why) in &hunt.shut_out {
            let _ = writeln!(text, "    shut out    {}: {}", clean(worker), clean(why));
        }
    }
    let here = workers.iter().filter(|worker| worker.silent_s <= GONE).count();
    let _ = writeln!(text, "{here} {}", if here == 1 { "worker" } else { "workers" });
    for worker in workers.iter().filter(|worker| worker.silent_s <= GONE) {
        let hunt = worker.hunt.as_deref().map(clean);
        let hunt = hunt.as_deref().unwrap_or("no hunt yet");
        let _ = writeln!(
            text,
            "    {}  {hunt}: {} parts, {} executions",
            clean(&worker.worker),
            worker.parts,
            worker.executions
        );
        for (hunt, why) in &worker.refused {
            let _ = writeln!(text, "        takes no part in {}: {}", clean(hunt), clean(why));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_names_hunts_and_workers() {
        let hunt = HuntLine {
            hunt: "0123-4567".into(),
            name: "queue".into(),
            owner: "ada@host".into(),
            state: "exploring".into(),
            done: 12,
            running: 4,
            waiting: 20,
            targets: 300,
            executions: 48_000,
            rate: 1234.4,
            findings: 1,
            shut_out: [("w9".to_owned(), "it returned bytes that are no result".to_owned())].into(),
            ..HuntLine::default()
        };
        let worker =
            WorkerLine { worker: "w1".into(), hunt: Some("0123-4567".into()), parts: 3, ..WorkerLine::default() };
        let gone = WorkerLine { worker: "w2".into(), silent_s: 100, ..WorkerLine::default() };
        insta::assert_snapshot!(status(&[hunt], &[worker, gone]), @r"
        0123-4567  queue of ada@host: exploring
            parts       12 done, 4 running, 20 waiting; 300 targets not lent yet
            executions  48000, 1234 per second
            findings    1
            shut out    w9: it returned bytes that are no result
        1 worker
            w1  0123-4567: 3 parts, 0 executions
        ");
        assert_eq!(status(&[], &[]), "no hunts\n0 workers\n");
    }
}
