//! Small random traces, and all their correct reorderings by brute force.

pub mod machine;
pub mod oracle;
pub mod peers;

use racehunter_trace::{Dependence, Event, EventId, NO_OBJECT, Op, Subject, Trace, TraceBuilder, Via};

/// Random numbers from a seed.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        let mut random = Self(seed.wrapping_mul(2).wrapping_add(0x9e37_79b9_7f4a_7c15) | 1);
        for _ in 0..8 {
            random.next();
        }
        random
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11
    }

    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    pub fn one_in(&mut self, number: usize) -> bool {
        self.below(number) == 0
    }
}

/// The shape of random traces.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub threads: usize,
    pub events: usize,
    /// Only plain reads and writes, locks, forks, joins and branches.
    pub plain: bool,
    pub dependences: bool,
    /// Mostly locks.
    pub locking: bool,
}

/// Returns a random trace that can have happened. Every event has its own site.
pub fn trace(random: &mut Random, shape: Shape) -> Trace {
    Generator {
        forks: random.one_in(2),
        locations: 1 + random.below(3),
        locks: if shape.locking { 2 + random.below(2) } else { 1 + random.below(2) },
        started: vec![false; shape.threads],
        joined: vec![false; shape.threads],
        held: vec![Vec::new(); shape.threads],
        waiting: vec![None; shape.threads],
        reads: vec![Vec::new(); shape.threads],
        blocks: vec![0; shape.threads],
        builder: TraceBuilder::new(),
        random,
        shape,
    }
    .run()
}

struct Generator<'r> {
    random: &'r mut Random,
    shape: Shape,
    forks: bool,
    locations: usize,
    locks: usize,
    started: Vec<bool>,
    joined: Vec<bool>,
    /// Locks of each thread, and whether they are shared.
    held: Vec<Vec<(usize, bool)>>,
    /// What a thread must do next.
    waiting: Vec<Option<(Op, usize)>>,
    reads: Vec<Vec<EventId>>,
    blocks: Vec<u32>,
    builder: TraceBuilder,
}

impl Generator<'_> {
    fn run(mut self) -> Trace {
        for thread in 0..self.shape.threads {
            self.builder.thread(&format!("T{thread}")).unwrap();
            self.started[thread] = thread == 0 || !self.forks;
        }
        self.builder.set_branches();
        if self.shape.dependences {
            self.builder.set_dependences();
        }
        let mut attempts = 0;
        while self.builder.so_far().len() < self.shape.events && attempts < 1_000 {
            attempts += 1;
            let thread = self.random.below(self.shape.threads);
            if self.started[thread] && !self.joined[thread] {
                self.event(thread);
            }
        }
        self.builder.finish()
    }

    fn event(&mut self, thread: usize) {
        if let Some((op, number)) = self.waiting[thread].take() {
            return self.push(thread, op, number);
        }
        let location = self.random.below(self.locations);
        let lock = self.random.below(self.locks);
        let choices = if self.shape.plain { 20 } else { 35 };
        let choice = if self.shape.locking && !self.random.one_in(4) {
            11 + self.random.below(6)
        } else {
            self.random.below(choices)
        };
        match choice {
            0..6 => self.push(thread, Op::Read, location),
            6..11 => self.push(thread, Op::Write, location),
            11..14 if self.is_free(lock, false) => {
                self.held[thread].push((lock, false));
                let tries = self.random.one_in(5);
                self.push(thread, if tries { Op::TryAcquire } else { Op::Acquire }, lock);
            }
            14..17 => self.release(thread),
            17 => self.push(thread, Op::Branch, 0),
            18 | 19 if self.forks && thread == 0 && self.shape.threads > 1 => {
                let child = 1 + self.random.below(self.shape.threads - 1);
                if !self.started[child] {
                    self.started[child] = true;
                    self.push(thread, Op::Fork, child);
                } else if !self.joined[child] && self.held[child].is_empty() && self.random.one_in(2) {
                    self.joined[child] = true;
                    let tries = self.random.one_in(5);
                    self.push(thread, if tries { Op::TryJoin } else { Op::Join }, child);
                }
            }
            20 => self.push(thread, Op::AtomicRead, location),
            21 => self.push(thread, Op::AtomicWrite, location),
            22 | 23 => self.push(thread, Op::Update, location),
            24 if self.is_free(lock, true) && !self.held[thread].contains(&(lock, true)) => {
                self.held[thread].push((lock, true));
                let tries = self.random.one_in(5);
                self.push(thread, if tries { Op::TryAcquireShared } else { Op::AcquireShared }, lock);
            }
            25 if !self.is_free(lock, false) => self.push(thread, Op::TryFailed, lock),
            26 if self.held[thread].contains(&(lock, false)) => {
                // Recursive, and released at once.
                self.push(thread, Op::Acquire, lock);
                self.waiting[thread] = Some((Op::Release, lock));
            }
            27 | 31 => self.push(thread, Op::Order, 0),
            28 | 32..35 => {
                self.push(thread, Op::Arrive, 0);
                self.waiting[thread] = Some((Op::Depart, 0));
            }
            29 | 30 => {
                let op = if self.blocks[thread] == 0 { Op::Begin } else { Op::End };
                self.blocks[thread] ^= 1;
                self.push(thread, op, 0);
            }
            _ => {}
        }
    }

    fn is_free(&self, lock: usize, shared: bool) -> bool {
        !self.held.iter().flatten().any(|&(held, with_others)| held == lock && !(shared && with_others))
    }

    fn release(&mut self, thread: usize) {
        if self.held[thread].is_empty() {
            return;
        }
        // Mostly the last one.
        let at = if self.random.one_in(4) {
            self.random.below(self.held[thread].len())
        } else {
            self.held[thread].len() - 1
        };
        let (lock, shared) = self.held[thread].remove(at);
        self.push(thread, if shared { Op::ReleaseShared } else { Op::Release }, lock);
    }

    fn push(&mut self, thread: usize, op: Op, number: usize) {
        let object = match op.subject() {
            Subject::Nothing => NO_OBJECT,
            Subject::Thread => number as u32,
            subject => self.builder.object(subject, &number.to_string()).unwrap(),
        };
        let id = self.builder.so_far().len();
        let site = self.builder.site(&id.to_string()).unwrap();
        let chose = self.random.one_in(12);
        let event = Event { thread: thread as u16, op, part: false, chose, object, site };
        let id = self.builder.push(event).unwrap();
        if self.shape.dependences {
            let reads = self.reads[thread].clone();
            for read in reads {
                if op.writes() && self.random.one_in(3) {
                    self.builder.depend(Dependence { read, via: Via::Value });
                }
                let decides = if op == Op::Branch { 2 } else { 8 };
                if self.random.one_in(decides) {
                    self.builder.depend(Dependence { read, via: Via::Decision });
                }
            }
        }
        if op.reads() {
            self.reads[thread].push(id);
        }
    }
}

/// Returns the events of a trace as text, for messages.
pub fn shown(trace: &Trace) -> String {
    let mut bytes = Vec::new();
    racehunter_trace::text::write(trace, &mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

/// Returns the pairs of accesses that conflict.
pub fn conflicts(trace: &Trace) -> Vec<(EventId, EventId)> {
    let len = trace.len() as EventId;
    (0..len)
        .flat_map(|second| (0..second).map(move |first| (first, second)))
        .filter(|&(first, second)| conflict(trace, first, second))
        .collect()
}

pub fn conflict(trace: &Trace, first: EventId, second: EventId) -> bool {
    let (a, b) = (trace.event(first), trace.event(second));
    a.thread != b.thread
        && a.op.is_access()
        && b.op.is_access()
        && a.object == b.object
        && (a.op.writes() || b.op.writes())
        && !(a.op.is_atomic() && b.op.is_atomic())
}
