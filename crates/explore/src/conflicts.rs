//! Pairs of accesses that conflict, described so that they can be met again in other executions.
//!
//! After E. A. Gerlits, "RaceHunter: dynamic detection of data races by provoking conflicting accesses", 2023: definitions
//! 8 (identity of a thread), 10 (conflict), 11 (descriptor), 12 (target), and algorithm 2 (the shortest descriptor).

use crate::points::{Families, bytes};
use crate::{Execution, Kind, Record};
use racehunter_event::{MAIN_PATH, path_of};
use rustc_hash::{FxHashMap, FxHashSet};

/// One access of an execution, described by as little as tells it from all others.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Descriptor {
    /// The instruction.
    pub code: u64,
    /// The thread (`racehunter_event::path_of`), when others execute the instruction too.
    pub path: Option<u64>,
    /// Innermost callers, as many as it takes to tell the access from others of the thread at this instruction.
    pub callers: Vec<u64>,
    /// Which of the accesses that fit, from 1.
    pub nth: u64,
}

/// Two accesses that conflict: by different threads to the same memory, one of them writing, not both atomic.
pub type Pair = [Descriptor; 2];

/// Callers in a descriptor, at most: what the runtime can compare.
const CALLERS: usize = racehunter_event::control::HOLD_CALLERS;

/// Accesses at one place of the code with one call stack by one thread: what they touch differs, what they are not.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Class {
    thread: u32,
    code: u64,
    /// Index into the distinct stacks.
    stack: u32,
    writes: bool,
    atomic: bool,
}

/// What a class did with eight bytes, the first time it did.
struct Touch {
    class: usize,
    mask: u8,
    /// Position of the record.
    record: usize,
    /// What the thread knew of the creation of threads then.
    epoch: u32,
}

/// The pairs of conflicting accesses of an execution. For every two places in the code, with their call stacks and
/// threads, the first accesses to common memory stand for all.
///
/// Takes time in proportion to the log and to the pairs. What creation and joining of threads order can never meet, and
/// is left out.
#[must_use]
pub fn conflicts(execution: &Execution) -> Vec<Pair> {
    let mut scan = Scan::default();
    for (position, record) in execution.records.iter().enumerate() {
        scan.families.note(record);
        if record.kind == Kind::Create {
            scan.create(record);
        } else if record.kind.is_access() && record.kind != Kind::Free && record.code != 0 {
            scan.access(execution, position, record);
        }
    }
    let describe = Describe::new(&scan);
    let mut pairs: Vec<Pair> = scan.pairs.iter().map(|&[a, b]| [describe.access(a), describe.access(b)]).collect();
    pairs.sort();
    pairs.dedup();
    pairs
}

#[derive(Default)]
struct Scan {
    families: Families,
    paths: Vec<u64>,
    children: Vec<u32>,
    stacks: Vec<Vec<u64>>,
    stack_numbers: FxHashMap<Vec<u64>, u32>,
    classes: Vec<Class>,
    class_numbers: FxHashMap<Class, usize>,
    memory: FxHashMap<u64, Vec<Touch>>,
    known: FxHashSet<[usize; 2]>,
    pairs: Vec<[usize; 2]>,
    /// All accesses, in order: record position and class.
    accesses: Vec<(usize, usize)>,
}

impl Scan {
    fn path(&self, thread: u32) -> u64 {
        self.paths.get(thread as usize).copied().unwrap_or(if thread == 0 { MAIN_PATH } else { 0 })
    }

    fn create(&mut self, record: &Record) {
        let (parent, child) = (record.thread as usize, record.object as usize);
        let most = parent.max(child) + 1;
        if self.paths.len() < most {
            self.paths.resize(most, MAIN_PATH);
            self.children.resize(most, 0);
        }
        self.children[parent] += 1;
        self.paths[child] = path_of(self.paths[parent], self.children[parent]);
    }

    fn class(&mut self, execution: &Execution, record: &Record) -> usize {
        let callers = execution.callers(record);
        let next = self.stacks.len() as u32;
        let stack = match self.stack_numbers.get(callers) {
            Some(&stack) => stack,
            None => {
                self.stack_numbers.insert(callers.to_vec(), next);
                self.stacks.push(callers.to_vec());
                next
            }
        };
        let class = Class {
            thread: record.thread,
            code: record.code,
            stack,
            writes: record.kind.is_write(),
            atomic: record.kind.is_atomic(),
        };
        let next = self.classes.len();
        let number = *self.class_numbers.entry(class).or_insert(next);
        if number == next {
            self.classes.push(class);
        }
        number
    }

    fn access(&mut self, execution: &Execution, position: usize, record: &Record) {
        let class = self.class(execution, record);
        self.accesses.push((position, class));
        let own = self.classes[class];
        let epoch = self.families.entry(own.thread, own.thread).max(1);
        for (granule, mask) in bytes(record) {
            let touches = self.memory.entry(granule).or_default();
            let mut fresh = mask;
            for touch in touches.iter() {
                let other = self.classes[touch.class];
                if touch.class == class && touch.epoch == epoch {
                    fresh &= !touch.mask;
                } else if other.thread != own.thread
                    && touch.mask & mask != 0
                    && (own.writes || other.writes)
                    && !(own.atomic && other.atomic)
                    && touch.epoch > self.families.entry(own.thread, other.thread)
                    && self.known.insert([touch.class.min(class), touch.class.max(class)])
                {
                    self.pairs.push([touch.record, position]);
                }
            }
            if fresh != 0 {
                touches.push(Touch { class, mask, record: position, epoch });
            }
        }
    }
}

/// Finds descriptors.
struct Describe<'s> {
    scan: &'s Scan,
    /// Class of each access, by record.
    class_of: FxHashMap<usize, usize>,
    /// Threads that execute an instruction.
    threads: FxHashMap<u64, FxHashSet<u32>>,
    /// Distinct stacks with which a thread executes an instruction.
    stacks: FxHashMap<(u32, u64), FxHashSet<u32>>,
    /// Accesses of a thread at an instruction, in order.
    order: FxHashMap<(u32, u64), Vec<(usize, u32)>>,
}

impl<'s> Describe<'s> {
    fn new(scan: &'s Scan) -> Self {
        let mut describe = Self {
            scan,
            class_of: FxHashMap::default(),
            threads: FxHashMap::default(),
            stacks: FxHashMap::default(),
            order: FxHashMap::default(),
        };
        let wanted: FxHashSet<usize> = scan.pairs.iter().flatten().copied().collect();
        let codes: FxHashSet<u64> = scan
            .accesses
            .iter()
            .filter(|(record, _)| wanted.contains(record))
            .map(|&(_, class)| scan.classes[class].code)
            .collect();
        for &(record, number) in &scan.accesses {
            let class = scan.classes[number];
            if !codes.contains(&class.code) {
                continue;
            }
            if wanted.contains(&record) {
                describe.class_of.insert(record, number);
            }
            let key = (class.thread, class.code);
            describe.threads.entry(class.code).or_default().insert(class.thread);
            describe.stacks.entry(key).or_default().insert(class.stack);
            describe.order.entry(key).or_default().push((record, class.stack));
        }
        describe
    }

    fn access(&self, record: usize) -> Descriptor {
        let class = self.scan.classes[self.class_of[&record]];
        let key = (class.thread, class.code);
        let own = &self.scan.stacks[class.stack as usize];
        let top = |stack: u32, length: usize| {
            let stack = &self.scan.stacks[stack as usize];
            &stack[..length.min(stack.len())]
        };
        let others = || self.stacks[&key].iter().filter(|&&stack| stack != class.stack);
        let most = own.len().min(CALLERS);
        let length = (0..most)
            .find(|&length| others().all(|&stack| top(stack, length) != &own[..length]))
            .unwrap_or(if others().next().is_none() { 0 } else { most });
        let fits = |stack: u32| top(stack, length) == &own[..length];
        let before = self.order[&key].iter().take_while(|&&(at, _)| at < record).filter(|&&(_, stack)| fits(stack));
        Descriptor {
            code: class.code,
            path: (self.threads[&class.code].len() > 1).then(|| self.scan.path(class.thread)),
            callers: own[..length].to_vec(),
            nth: before.count() as u64 + 1,
        }
    }
}
