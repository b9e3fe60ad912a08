//! Prediction on generated traces: bytes per event, happens-before, and all stages.
//!
//! The traces are those of a program with eight threads that mostly work on memory of their own, take turns at locked
//! memory, sometimes two locks deep, read a table that nobody writes, and now and then forget a lock.

use super::Effort;
use crate::measure::{median, own_cpu};
use crate::programs::Programs;
use crate::table::{Goal, Row, Value, thousands};
use anyhow::Result;
use racehunter_predict::{Index, Options, Policy, Report, happens_before, predict};
use racehunter_trace::{Event, NO_OBJECT, Op, Subject, Trace, TraceBuilder, file, text};
use std::collections::VecDeque;

/// All of them.
pub fn rows(_: &Programs, effort: Effort) -> Result<Vec<Row>> {
    let trace = generate(effort.size(1_000_000), 8, 1)?;
    let events = trace.len() as f64;
    let mut rows = vec![bytes(&trace)?];

    let index = Index::new(&trace)?;
    let linear = timed(effort.repeats, || happens_before(&index).len());
    rows.push(Row {
        goal: Some((Goal::AtLeast(Value::PerSecond(40e6)), events / linear)),
        ..Row::new("happens-before, events", Value::PerSecond(events / linear))
    });

    rows.push(stages(&trace, effort, |seconds| {
        (Value::PerSecond(events / seconds), (Goal::AtLeast(Value::PerSecond(2e6)), events / seconds))
    })?);
    let long = generate(effort.size(10_000_000), 8, 1)?;
    let once = Effort { repeats: 1, ..effort };
    rows.push(stages(&long, once, |seconds| (Value::Seconds(seconds), (Goal::AtMost(Value::Seconds(8.0)), seconds)))?);
    Ok(rows)
}

fn bytes(trace: &Trace) -> Result<Row> {
    let (mut binary, mut lines) = (Vec::new(), Vec::new());
    file::write(trace, &mut binary)?;
    text::write(trace, &mut lines)?;
    let [ours, peer] = [&binary, &lines].map(|bytes| bytes.len() as f64 / trace.len() as f64);
    Ok(Row {
        peer: Some(Value::Bytes(peer)),
        ratio: Some(ours / peer),
        goal: Some((Goal::AtMost(Value::Bytes(3.5)), ours)),
        notes: vec!["the peer is the .std text form".to_owned()],
        ..Row::new("trace file, per event", Value::Bytes(ours))
    })
}

/// From a trace in memory to its predictions, with one worker.
fn stages(trace: &Trace, effort: Effort, figure: impl Fn(f64) -> (Value, (Goal, f64))) -> Result<Row> {
    let options = Options { policy: Policy::M2, ..Options::default() };
    let mut report = Report::default();
    Index::new(trace)?;
    let seconds = timed(effort.repeats, || {
        // The trace was taken once before.
        if let Ok(index) = Index::new(trace) {
            report = predict(&index, &options, &|| false);
        }
        report.predictions.len()
    });
    let (ours, goal) = figure(seconds);
    let name = format!("predict, all stages, {} events", thousands(trace.len() as u64));
    let note = format!("{} predictions after {} questions", report.predictions.len(), report.questions);
    Ok(Row { goal: Some(goal), notes: vec![note], ..Row::new(name, ours) })
}

/// Median of the processor time of something.
fn timed(repeats: usize, mut work: impl FnMut() -> usize) -> f64 {
    let times: Vec<f64> = (0..repeats.max(1))
        .map(|_| {
            let begin = own_cpu();
            std::hint::black_box(work());
            own_cpu() - begin
        })
        .collect();
    median(&times)
}

/// A trace of about so many events.
fn generate(events: u64, threads: usize, seed: u64) -> Result<Trace> {
    let mut generator = Generator { builder: TraceBuilder::new(), state: seed | 1, owner: vec![None; LOCKS] };
    for thread in 0..threads {
        generator.builder.thread(&format!("T{thread}"))?;
    }
    for child in 1..threads {
        generator.push(0, Op::Fork, child, 1)?;
    }
    let mut plans: Vec<VecDeque<(Op, usize, usize)>> = vec![VecDeque::new(); threads];
    let mut left = events;
    while left > 0 || plans.iter().any(|plan| !plan.is_empty()) {
        let thread = generator.below(threads);
        for _ in 0..1 + generator.below(60) {
            if plans[thread].is_empty() && left > 0 {
                plans[thread] = generator.plan(thread);
            }
            let Some(&(op, object, site)) = plans[thread].front() else { break };
            match op {
                Op::Acquire if generator.owner[object].is_some() => break,
                Op::Acquire => generator.owner[object] = Some(thread),
                Op::Release => generator.owner[object] = None,
                _ => {}
            }
            plans[thread].pop_front();
            generator.push(thread, op, object, site)?;
            left = left.saturating_sub(1);
        }
    }
    for child in 1..threads {
        generator.push(0, Op::Join, child, 2)?;
    }
    Ok(generator.builder.finish_sorted())
}

const LOCKS: usize = 12;

struct Generator {
    builder: TraceBuilder,
    state: u64,
    owner: Vec<Option<usize>>,
}

impl Generator {
    fn below(&mut self, end: usize) -> usize {
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.state >> 33) % end as u64) as usize
    }

    fn access(&mut self, location: usize, site: usize) -> (Op, usize, usize) {
        if self.below(3) == 0 { (Op::Write, location, site) } else { (Op::Read, location, site + 50) }
    }

    /// What a thread does next.
    fn plan(&mut self, thread: usize) -> VecDeque<(Op, usize, usize)> {
        let mut plan = VecDeque::new();
        match self.below(1000) {
            0..550 => {
                for _ in 0..1 + self.below(8) {
                    let (location, site) = (100_000 + thread * 4096 + self.below(2000), 100 + self.below(40));
                    plan.push_back(self.access(location, site));
                }
            }
            550..750 => {
                let (lock, site) = (self.below(LOCKS), self.below(20));
                let inner = (self.below(4) == 0 && lock + 1 < LOCKS).then_some(lock + 1);
                plan.push_back((Op::Acquire, lock, 200 + site));
                plan.extend(inner.map(|inner| (Op::Acquire, inner, 220 + site)));
                for _ in 0..1 + self.below(6) {
                    let of = inner.filter(|_| self.below(2) == 0).unwrap_or(lock);
                    let location = of * 4096 + self.below(4096);
                    plan.push_back(self.access(location, 300 + site));
                }
                if self.below(8) == 0 {
                    plan.push_back(self.unprotected());
                }
                plan.extend(inner.map(|inner| (Op::Release, inner, 240 + site)));
                plan.push_back((Op::Release, lock, 260 + site));
            }
            750..960 => {
                for _ in 0..1 + self.below(4) {
                    plan.push_back((Op::Read, 60_000 + self.below(500), 400 + self.below(30)));
                }
            }
            _ => plan.push_back(self.unprotected()),
        }
        plan
    }

    fn unprotected(&mut self) -> (Op, usize, usize) {
        let (location, site) = (70_000 + self.below(20_000), 1000 + 100 * self.below(300));
        self.access(location, site)
    }

    fn push(&mut self, thread: usize, op: Op, object: usize, site: usize) -> Result<()> {
        let object = match op.subject() {
            Subject::Nothing => NO_OBJECT,
            Subject::Thread => object as u32,
            subject => self.builder.object(subject, &format!("V{object}"))?,
        };
        let site = self.builder.site(&site.to_string())?;
        self.builder.push(Event { thread: thread as u16, op, part: false, chose: false, object, site })?;
        Ok(())
    }
}
