//! Synthetic traces of a program whose threads mostly work on private memory, take turns at locked memory, sometimes
//! two locks deep, read a table that no thread writes, and now and then forget a lock.

use anyhow::Result;
use racehunter_trace::{Event, NO_OBJECT, Op, Subject, Trace, TraceBuilder};
use std::collections::VecDeque;

/// The parameters of a trace.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Approximate number of events.
    pub events: u64,
    /// Threads.
    pub threads: usize,
    /// Locks.
    pub locks: usize,
}

impl Shape {
    /// Generates the trace, which is always the same.
    pub fn generate(self) -> Result<Trace> {
        generate(self)
    }
}

fn generate(Shape { events, threads, locks }: Shape) -> Result<Trace> {
    let mut generator = Generator { builder: TraceBuilder::new(), state: 1, owner: vec![None; locks] };
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

/// The first address of the memory that locks protect.
const LOCKED: usize = 1_000_000;

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

    /// Returns what a thread does next.
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
                let (lock, site) = (self.below(self.owner.len()), self.below(20));
                let inner = (self.below(4) == 0 && lock + 1 < self.owner.len()).then_some(lock + 1);
                plan.push_back((Op::Acquire, lock, 200 + site));
                plan.extend(inner.map(|inner| (Op::Acquire, inner, 220 + site)));
                for _ in 0..1 + self.below(6) {
                    let of = inner.filter(|_| self.below(2) == 0).unwrap_or(lock);
                    let location = LOCKED + of * 4096 + self.below(4096);
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
