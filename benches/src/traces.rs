//! Synthetic traces, written as they are generated, so that their length is not limited by memory. Each family is a way
//! of using locks; in all of them, threads mostly work on private memory, read a table that no thread writes, and now
//! and then forget a lock.

use anyhow::{Context as _, Result};
use racehunter_trace::recording::Sink as _;
use racehunter_trace::{Event, NO_OBJECT, Object, Op, Subject, Trace, file};
use std::collections::{HashMap, VecDeque};
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

/// How threads use locks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Each lock has its own memory.
    Disciplined,
    /// Memory that a thread writes within a critical section, others access after one of the same lock.
    Reversed,
    /// Threads go along a list, and take the lock of each node before they release that of the previous one.
    HandOverHand,
    /// Up to four locks deep.
    Nested,
    /// One thread writes data and then, under a lock, a flag; another one sees the flag under the lock, and reads.
    Published,
}

impl Family {
    /// All families.
    pub const ALL: [Self; 5] = [Self::Disciplined, Self::Reversed, Self::HandOverHand, Self::Nested, Self::Published];

    /// Returns its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Disciplined => "disc",
            Self::Reversed => "rev",
            Self::HandOverHand => "hand",
            Self::Nested => "nest",
            Self::Published => "pub",
        }
    }
}

/// The parameters of a trace.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// How threads use locks.
    pub family: Family,
    /// Approximate number of events.
    pub events: u64,
    /// Threads.
    pub threads: usize,
    /// Locks.
    pub locks: usize,
}

impl Shape {
    /// Returns the trace.
    pub fn generate(self) -> Result<Trace> {
        let directory = tempfile::tempdir()?;
        let path = directory.path().join("trace.rht");
        self.write(&path)?;
        Ok(file::Reader::open(&path)?.read()?)
    }

    /// Writes the trace, which is always the same. Returns its number of events.
    pub fn write(self, path: &Path) -> Result<u64> {
        let out = File::create(path).with_context(|| format!("cannot create {}", path.display()))?;
        let writer = file::Writer::new(BufWriter::with_capacity(1 << 20, out), false, false)?;
        let mut generator = Generator {
            writer,
            objects: HashMap::new(),
            sites: HashMap::new(),
            family: self.family,
            state: 1,
            owner: vec![None; self.locks],
        };
        generator.run(self)?;
        let events = generator.writer.events();
        generator.writer.finish()?;
        Ok(events)
    }
}

/// The first numbers of locations: private, read by all, unprotected, protected by locks, data, flags.
const PRIVATE: usize = 100_000;
const TABLE: usize = 60_000;
const UNPROTECTED: usize = 70_000;
const LOCKED: usize = 1_000_000;
const DATA: usize = 10_000_000;
const FLAGS: usize = 20_000_000;

/// An operation, the number of its object, and that of its site.
type Step = (Op, usize, usize);

struct Generator {
    writer: file::Writer<BufWriter<File>>,
    objects: HashMap<(Subject, usize), u32>,
    sites: HashMap<usize, u32>,
    family: Family,
    state: u64,
    owner: Vec<Option<usize>>,
}

impl Generator {
    fn run(&mut self, Shape { events, threads, .. }: Shape) -> Result<()> {
        for thread in 0..threads {
            self.writer.thread(format!("T{thread}"))?;
        }
        for child in 1..threads {
            self.push(0, (Op::Fork, child, 1))?;
        }
        // RAPID's sync-reversal engine numbers threads twice: as they are first mentioned, and as they first act. It mixes
        // up the threads of a trace in which these orders differ.
        for thread in 1..threads {
            self.push(thread, (Op::Read, PRIVATE + thread * 4096, 100))?;
        }
        let mut plans: Vec<VecDeque<Step>> = vec![VecDeque::new(); threads];
        let mut left = events;
        while left > 0 || plans.iter().any(|plan| !plan.is_empty()) {
            let thread = self.below(threads);
            for _ in 0..1 + self.below(60) {
                if plans[thread].is_empty() && left > 0 {
                    plans[thread] = self.plan(thread);
                }
                let Some(&(op, object, site)) = plans[thread].front() else { break };
                match op {
                    Op::Acquire if self.owner[object].is_some() => break,
                    Op::Acquire => self.owner[object] = Some(thread),
                    Op::Release => self.owner[object] = None,
                    _ => {}
                }
                plans[thread].pop_front();
                self.push(thread, (op, object, site))?;
                left = left.saturating_sub(1);
            }
        }
        for child in 1..threads {
            self.push(0, (Op::Join, child, 2))?;
        }
        Ok(())
    }

    fn below(&mut self, end: usize) -> usize {
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.state >> 33) % end as u64) as usize
    }

    fn access(&mut self, location: usize, site: usize) -> Step {
        if self.below(3) == 0 { (Op::Write, location, site) } else { (Op::Read, location, site + 50) }
    }

    /// Returns what a thread does next.
    fn plan(&mut self, thread: usize) -> VecDeque<Step> {
        let mut plan = VecDeque::new();
        match self.below(1000) {
            0..550 => {
                for _ in 0..1 + self.below(8) {
                    let (location, site) = (PRIVATE + thread * 4096 + self.below(2000), 100 + self.below(40));
                    plan.push_back(self.access(location, site));
                }
            }
            550..750 => match self.family {
                Family::Disciplined => self.disciplined(&mut plan),
                Family::Reversed => self.reversed(&mut plan),
                Family::HandOverHand => self.hand_over_hand(&mut plan),
                Family::Nested => self.nested(&mut plan),
                Family::Published => self.published(&mut plan),
            },
            750..960 => {
                for _ in 0..1 + self.below(4) {
                    plan.push_back((Op::Read, TABLE + self.below(500), 400 + self.below(30)));
                }
            }
            _ => plan.push_back(self.unprotected()),
        }
        plan
    }

    /// Adds accesses to the memory of a lock.
    fn accesses(&mut self, plan: &mut VecDeque<Step>, lock: usize, site: usize, most: usize) {
        for _ in 0..1 + self.below(most) {
            let location = LOCKED + lock * 4096 + self.below(4096);
            plan.push_back(self.access(location, 300 + site));
        }
    }

    fn disciplined(&mut self, plan: &mut VecDeque<Step>) {
        let (lock, site) = (self.below(self.owner.len()), self.below(20));
        let inner = (self.below(4) == 0 && lock + 1 < self.owner.len()).then_some(lock + 1);
        plan.push_back((Op::Acquire, lock, 200 + site));
        plan.extend(inner.map(|inner| (Op::Acquire, inner, 220 + site)));
        for _ in 0..1 + self.below(6) {
            let of = inner.filter(|_| self.below(2) == 0).unwrap_or(lock);
            self.accesses(plan, of, site, 1);
        }
        if self.below(8) == 0 {
            plan.push_back(self.unprotected());
        }
        plan.extend(inner.map(|inner| (Op::Release, inner, 240 + site)));
        plan.push_back((Op::Release, lock, 260 + site));
    }

    fn reversed(&mut self, plan: &mut VecDeque<Step>) {
        let (lock, site, slot) = (self.below(self.owner.len()), self.below(20), self.below(2000));
        plan.push_back((Op::Acquire, lock, 200 + site));
        self.accesses(plan, lock, site, 4);
        let data = DATA + lock * 4096 + slot;
        if self.below(2) == 0 {
            plan.push_back((Op::Write, data, 2000 + slot));
            plan.push_back((Op::Release, lock, 260 + site));
        } else {
            plan.push_back((Op::Release, lock, 260 + site));
            let step = self.access(data, 5000 + slot);
            plan.push_back(step);
        }
    }

    fn hand_over_hand(&mut self, plan: &mut VecDeque<Step>) {
        let (last, site) = (self.owner.len() - 1, self.below(20));
        let first = self.below(last);
        let until = (first + 1 + self.below(5)).min(last);
        plan.push_back((Op::Acquire, first, 200 + site));
        for node in first..until {
            self.accesses(plan, node, site, 3);
            plan.push_back((Op::Acquire, node + 1, 220 + site));
            plan.push_back((Op::Release, node, 240 + site));
            if self.below(30) == 0 {
                // It still uses the node that it has left.
                let (location, site) = (LOCKED + node * 4096 + self.below(4096), 6000 + self.below(300));
                plan.push_back(self.access(location, site));
            }
        }
        self.accesses(plan, until, site, 3);
        plan.push_back((Op::Release, until, 260 + site));
    }

    fn nested(&mut self, plan: &mut VecDeque<Step>) {
        let site = self.below(20);
        let mut held = Vec::new();
        let mut lock = self.below(self.owner.len());
        for _ in 0..1 + self.below(4) {
            plan.push_back((Op::Acquire, lock, 200 + site));
            held.push(lock);
            self.accesses(plan, lock, site, 3);
            if self.below(12) == 0 {
                plan.push_back(self.unprotected());
            }
            lock += 1 + self.below(3);
            if lock >= self.owner.len() {
                break;
            }
        }
        while let Some(lock) = held.pop() {
            plan.push_back((Op::Release, lock, 260 + site));
        }
    }

    fn published(&mut self, plan: &mut VecDeque<Step>) {
        let (lock, site, slot) = (self.below(self.owner.len()), self.below(20), self.below(2000));
        let (data, flag) = (DATA + lock * 4096 + slot, FLAGS + lock * 4096 + slot);
        let writes = self.below(2) == 0;
        if writes {
            plan.push_back((Op::Write, data, 2000 + slot));
        }
        plan.push_back((Op::Acquire, lock, 200 + site));
        plan.push_back(if writes { (Op::Write, flag, 320 + site) } else { (Op::Read, flag, 340 + site) });
        plan.push_back((Op::Release, lock, 260 + site));
        if !writes {
            plan.push_back((Op::Read, data, 5000 + slot));
        }
    }

    fn unprotected(&mut self) -> Step {
        let (location, site) = (UNPROTECTED + self.below(20_000), 10_000 + 100 * self.below(300));
        self.access(location, site)
    }

    fn push(&mut self, thread: usize, (op, object, site): Step) -> Result<()> {
        let object = match op.subject() {
            Subject::Nothing => NO_OBJECT,
            Subject::Thread => object as u32,
            subject => {
                let next = self.objects.len() as u32;
                let number = *self.objects.entry((subject, object)).or_insert(next);
                if number == next {
                    self.writer.object(Object { subject, name: format!("V{object}") })?;
                }
                number
            }
        };
        let next = self.sites.len() as u32;
        let number = *self.sites.entry(site).or_insert(next);
        if number == next {
            self.writer.site(site.to_string())?;
        }
        let event = Event { thread: thread as u16, op, part: false, chose: false, object, site: number };
        Ok(self.writer.push(event, &[])?)
    }
}
