//! Prediction on generated traces: bytes per event, happens-before, and all stages.

use super::Effort;
use crate::measure::{median, own_cpu};
use crate::programs::Programs;
use crate::table::{Goal, Row, Value, thousands};
use crate::traces::{Family, Shape};
use anyhow::Result;
use racehunter_predict::{Index, Options, Policy, Report, happens_before, predict};
use racehunter_trace::{Trace, file, text};

/// Measures all of them.
pub fn rows(_: &Programs, effort: Effort) -> Result<Vec<Row>> {
    let trace =
        Shape { family: Family::Disciplined, events: effort.size(1_000_000), threads: 8, locks: 12 }.generate()?;
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
    let long =
        Shape { family: Family::Disciplined, events: effort.size(10_000_000), threads: 8, locks: 12 }.generate()?;
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

/// Measures the way from a trace in memory to its predictions, with one worker.
fn stages(trace: &Trace, effort: Effort, figure: impl Fn(f64) -> (Value, (Goal, f64))) -> Result<Row> {
    let options = Options { policy: Policy::M2, ..Options::default() };
    let mut report = Report::default();
    Index::new(trace)?;
    let seconds = timed(effort.repeats, || {
        // The trace was accepted once before.
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

/// Returns the median processor time of some work.
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
