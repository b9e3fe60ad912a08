//! Pairs of conflicting accesses, described so that other executions can recognise them.
//!
//! After E. A. Gerlits, "RaceHunter: dynamic detection of data races by provoking conflicting accesses", 2023: definitions 8
//! (identity of a thread), 10 (conflict), 11 (descriptor), 12 (target), and algorithm 2 (the shortest descriptor).
//!
//! A held thread meets any conflicting access, so one target per conflicting access suffices, rather than one per pair: of two
//! places in the code, the first access of one is paired with the first of the other, the second with the second, and so on.

use crate::Execution;
use racehunter_log::{
    Access, AccessMode, Address, CodeAddress, Entry, Event, FamilyTree, ForkJoin, ThreadId, ThreadPath,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// One access of an execution, described by the minimum that distinguishes it from all others.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Descriptor {
    /// The instruction.
    pub code: CodeAddress,
    /// The thread, if others execute the instruction too.
    pub path: Option<ThreadPath>,
    /// The innermost callers, as many as distinguish the access from others of the thread at this instruction.
    pub callers: Vec<u64>,
    /// The number of the access among those of the thread that match, from 1.
    pub nth: u64,
}

/// Two conflicting accesses: by different threads to the same memory, at least one a write, not both atomic.
pub type Pair = [Descriptor; 2];

/// A target: two conflicting accesses, and hints about how likely they are to meet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The accesses.
    pub pair: Pair,
    /// Whether they are the first accesses of their places, threads and call stacks.
    pub is_first: bool,
    /// Whether both threads held a common lock. They can still meet: in another execution one of them may come without it.
    pub guarded: bool,
}

impl Conflict {
    /// Returns the pair without the numbers of its accesses, which is the same for all accesses of a loop.
    #[must_use]
    pub fn places(&self) -> Pair {
        self.pair.each_ref().map(|descriptor| Descriptor { nth: 0, ..descriptor.clone() })
    }

    /// Returns the larger of the two access numbers.
    #[must_use]
    pub fn nth(&self) -> u64 {
        self.pair.iter().map(|descriptor| descriptor.nth).max().unwrap_or(0)
    }

    /// The order of targets: the first accesses of every two places, then those without a common lock.
    fn rank(&self) -> (bool, bool, u64, &Pair) {
        (!self.is_first, self.guarded, self.nth(), &self.pair)
    }
}

/// The conflicts of an execution.
#[derive(Clone, Debug, Default)]
pub struct Conflicts {
    /// The targets, the most promising first.
    pub targets: Vec<Conflict>,
    /// Number of conflicting pairs by the paper's definition, including those ordered by the creation or joining of threads.
    pub pairs: u64,
    /// Number of targets after this portion.
    pub left_out: u64,
}

/// Which targets are described. The first accesses of every two places always are. There can be millions of others, and each
/// takes an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Portion {
    /// Number of others to skip.
    pub from: u64,
    /// Maximum number of others to describe.
    pub most: u64,
}

impl Portion {
    /// The first portion.
    pub const FIRST: Self = Self { from: 0, most: 1 << 17 };

    /// Returns the portion after this one.
    #[must_use]
    pub const fn next(self) -> Self {
        Self { from: self.from.saturating_add(self.most), ..self }
    }
}

impl Default for Portion {
    fn default() -> Self {
        Self::FIRST
    }
}

/// An access, by its position in the log.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Position(usize);

/// A distinct call stack.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct StackId(u32);

/// A distinct lockset; 0 is the empty one.
#[derive(Clone, Copy, PartialEq, Eq)]
struct LocksetId(u32);

/// A distinct class.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct ClassId(usize);

/// Accesses of one thread at one place in the code with one call stack. They differ only in the memory they access.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Class {
    thread: ThreadId,
    code: CodeAddress,
    stack: StackId,
    writes: bool,
    atomic: bool,
}

/// The accesses of a class to eight bytes.
struct Touch {
    class: ClassId,
    mask: u8,
    /// The thread's knowledge of thread creations at the time.
    epoch: u32,
    /// The accesses, in order.
    records: Vec<Position>,
    /// Number of accesses that begin in these eight bytes.
    begin: u64,
    /// Conflicting classes that came later.
    partners: Vec<Partner>,
}

struct Partner {
    class: ClassId,
    /// Number of its accesses that have a target with one of the touch.
    count: usize,
    /// The last of them.
    last: Position,
}

/// Returns the pairs of conflicting accesses of an execution. For every two places in the code, with their call stacks and
/// threads, the first accesses to common memory stand for all.
///
/// Takes time in proportion to the log and to the pairs. Accesses ordered by the creation or joining of threads can never meet,
/// and are left out.
#[must_use]
pub fn conflicts(execution: &Execution) -> Vec<Pair> {
    let firsts = all_conflicts(execution).targets.into_iter().filter(|conflict| conflict.is_first);
    let mut pairs: Vec<Pair> = firsts.map(|conflict| conflict.pair).collect();
    pairs.sort();
    pairs.dedup();
    pairs
}

/// Returns a target for every conflicting access, up to the size of the first portion.
#[must_use]
pub fn all_conflicts(execution: &Execution) -> Conflicts {
    conflicts_of(execution, Portion::FIRST)
}

/// Returns the targets of one portion.
#[must_use]
pub fn conflicts_of(execution: &Execution, portion: Portion) -> Conflicts {
    let mut scan = Scan { portion, ..Scan::default() };
    for (position, entry) in execution.entries().enumerate() {
        match entry.event() {
            Event::Access(access) if access.mode != AccessMode::Free && entry.code().is_known() => {
                scan.access(execution, Position(position), entry, access);
            }
            event => {
                scan.order.note(entry.thread(), &event);
                scan.locks.note(entry.thread(), &event);
                scan.family.note_event(entry.thread(), &event);
            }
        }
    }
    scan.pair_the_rest();
    let describe = Describe::new(&scan);
    let targets = scan.found.iter().map(|&([a, b], is_first)| Conflict {
        pair: [describe.access(a), describe.access(b)],
        is_first,
        guarded: describe.share_a_lock(a, b),
    });
    let mut targets: Vec<Conflict> = targets.collect();
    targets.sort_by(|a, b| a.rank().cmp(&b.rank()));
    let mut known = FxHashSet::default();
    targets.retain(|target| known.insert(target.pair.clone()));
    Conflicts { targets, pairs: scan.pairs, left_out: scan.further.saturating_sub(portion.next().from) }
}

/// The locks that threads hold.
#[derive(Default)]
struct Locks {
    held: FxHashMap<ThreadId, Vec<Address>>,
    sets: Vec<Vec<Address>>,
    numbers: FxHashMap<Vec<Address>, LocksetId>,
}

impl Locks {
    fn note(&mut self, thread: ThreadId, event: &Event) {
        if let Some(lock) = event.acquired() {
            self.take(thread, lock);
        } else if let Some(lock) = event.released() {
            self.give_back(thread, lock);
        }
    }

    fn take(&mut self, thread: ThreadId, lock: Address) {
        let held = self.held.entry(thread).or_default();
        held.push(lock);
        held.sort_unstable();
    }

    fn give_back(&mut self, thread: ThreadId, lock: Address) {
        let held = self.held.entry(thread).or_default();
        if let Some(at) = held.iter().position(|&held| held == lock) {
            held.remove(at);
        }
    }

    /// Returns the locks that a thread holds.
    fn of(&mut self, thread: ThreadId) -> LocksetId {
        let Some(held) = self.held.get(&thread).filter(|held| !held.is_empty()) else { return LocksetId(0) };
        if let Some(&number) = self.numbers.get(held) {
            return number;
        }
        self.sets.push(held.clone());
        let number = LocksetId(self.sets.len() as u32);
        self.numbers.insert(held.clone(), number);
        number
    }

    fn have_in_common(&self, a: LocksetId, b: LocksetId) -> bool {
        let set = |LocksetId(number)| number.checked_sub(1).map_or(&[][..], |at| &self.sets[at as usize]);
        set(a).iter().any(|lock| set(b).contains(lock))
    }
}

#[derive(Default)]
struct Scan {
    portion: Portion,
    order: ForkJoin,
    family: FamilyTree,
    locks: Locks,
    stacks: Vec<Vec<u64>>,
    stack_numbers: FxHashMap<Vec<u64>, StackId>,
    classes: Vec<Class>,
    class_numbers: FxHashMap<Class, ClassId>,
    memory: FxHashMap<u64, Vec<Touch>>,
    known: FxHashSet<[ClassId; 2]>,
    /// Accesses that have a target with a later one of this class.
    covered: FxHashSet<(Position, ClassId)>,
    /// Two accesses, and whether they are the first of their classes.
    found: Vec<([Position; 2], bool)>,
    /// Number of pairs that are not the first, in any portion.
    further: u64,
    pairs: u64,
    /// All accesses, in order.
    accesses: Vec<(Position, ClassId, LocksetId)>,
}

impl Scan {
    fn stack(&self, stack: StackId) -> &[u64] {
        &self.stacks[stack.0 as usize]
    }

    fn class(&mut self, execution: &Execution, entry: Entry<'_>, mode: AccessMode) -> ClassId {
        let callers = execution.callers(entry);
        let next = StackId(self.stacks.len() as u32);
        let stack = match self.stack_numbers.get(callers) {
            Some(&stack) => stack,
            None => {
                self.stack_numbers.insert(callers.to_vec(), next);
                self.stacks.push(callers.to_vec());
                next
            }
        };
        let class = Class {
            thread: entry.thread(),
            code: entry.code(),
            stack,
            writes: mode.writes(),
            atomic: mode.is_atomic(),
        };
        let next = ClassId(self.classes.len());
        let number = *self.class_numbers.entry(class).or_insert(next);
        if number == next {
            self.classes.push(class);
        }
        number
    }

    fn access(&mut self, execution: &Execution, position: Position, entry: Entry<'_>, access: Access) {
        let class = self.class(execution, entry, access.mode);
        let locks = self.locks.of(entry.thread());
        self.accesses.push((position, class, locks));
        let own = self.classes[class.0];
        let epoch = self.order.epoch(own.thread);
        // Classes with which this access has a target.
        let mut partners: Vec<ClassId> = Vec::new();
        for (nth, (granule, mask)) in access.granules().enumerate() {
            let touches = self.memory.entry(granule).or_default();
            let mut known = None;
            for (index, touch) in touches.iter_mut().enumerate() {
                if (touch.class, touch.epoch, touch.mask) == (class, epoch, mask) {
                    known = Some(index);
                }
                let other = self.classes[touch.class.0];
                let conflict = other.thread != own.thread
                    && touch.mask & mask != 0
                    && (own.writes || other.writes)
                    && !(own.atomic && other.atomic);
                if !conflict {
                    continue;
                }
                // Each pair counts once, where the memory common to both begins.
                self.pairs += if nth == 0 { touch.records.len() as u64 } else { touch.begin };
                let is_apart = touch.epoch <= self.order.known(own.thread, other.thread);
                if is_apart {
                    continue;
                }
                let partner = touch.partner(class);
                touch.partners[partner].last = position;
                if partners.contains(&touch.class) {
                    continue;
                }
                partners.push(touch.class);
                let is_first = self.known.insert([touch.class.min(class), touch.class.max(class)]);
                let with = touch.records[touch.partners[partner].count.min(touch.records.len() - 1)];
                touch.partners[partner].count += 1;
                self.covered.insert((with, class));
                note(&mut self.found, &mut self.further, self.portion, [with, position], is_first);
            }
            let known = known.unwrap_or_else(|| {
                touches.push(Touch { class, mask, epoch, records: Vec::new(), begin: 0, partners: Vec::new() });
                touches.len() - 1
            });
            touches[known].records.push(position);
            touches[known].begin += u64::from(nth == 0);
        }
    }

    /// Pairs accesses that have fewer later counterparts: their partner is the last of those.
    fn pair_the_rest(&mut self) {
        for touch in self.memory.values().flatten() {
            for partner in &touch.partners {
                let rest = touch.records.iter().skip(partner.count).take_while(|&&record| record < partner.last);
                for &record in rest {
                    if !self.covered.insert((record, partner.class)) {
                        continue;
                    }
                    note(&mut self.found, &mut self.further, self.portion, [record, partner.last], false);
                }
            }
        }
    }
}

/// Adds two accesses if they belong to the portion.
fn note(
    found: &mut Vec<([Position; 2], bool)>,
    further: &mut u64,
    portion: Portion,
    pair: [Position; 2],
    is_first: bool,
) {
    if is_first || (portion.from..portion.next().from).contains(further) {
        found.push((pair, is_first));
    }
    *further += u64::from(!is_first);
}

impl Touch {
    /// Returns the index of a partner, adding it if necessary.
    fn partner(&mut self, class: ClassId) -> usize {
        self.partners.iter().position(|partner| partner.class == class).unwrap_or_else(|| {
            self.partners.push(Partner { class, count: 0, last: Position::default() });
            self.partners.len() - 1
        })
    }
}

/// Computes descriptors.
struct Describe<'s> {
    scan: &'s Scan,
    /// Class, lockset, and number among the accesses that match its description, for each access.
    wanted: FxHashMap<Position, (ClassId, LocksetId, u64)>,
    /// The threads that execute each instruction.
    threads: FxHashMap<CodeAddress, FxHashSet<ThreadId>>,
    /// Number of callers in the description of an access, by thread, instruction and stack.
    depths: FxHashMap<(ThreadId, CodeAddress, StackId), usize>,
}

impl<'s> Describe<'s> {
    fn new(scan: &'s Scan) -> Self {
        let wanted: FxHashSet<Position> = scan.found.iter().flat_map(|(pair, _)| *pair).collect();
        let is_wanted = |&&(record, ..): &&(Position, ClassId, LocksetId)| wanted.contains(&record);
        let codes: FxHashSet<CodeAddress> =
            scan.accesses.iter().filter(is_wanted).map(|&(_, class, _)| scan.classes[class.0].code).collect();
        let mut threads: FxHashMap<CodeAddress, FxHashSet<ThreadId>> = FxHashMap::default();
        let mut stacks: FxHashMap<(ThreadId, CodeAddress), Vec<StackId>> = FxHashMap::default();
        for class in scan.classes.iter().filter(|class| codes.contains(&class.code)) {
            threads.entry(class.code).or_default().insert(class.thread);
            let stacks = stacks.entry((class.thread, class.code)).or_default();
            if !stacks.contains(&class.stack) {
                stacks.push(class.stack);
            }
        }
        let mut depths = FxHashMap::default();
        for (&(thread, code), stacks) in &stacks {
            for &stack in stacks {
                depths.insert((thread, code, stack), depth(scan, stack, stacks));
            }
        }
        let mut describe = Self { scan, wanted: FxHashMap::default(), threads, depths };
        describe.count(&wanted, &stacks);
        describe
    }

    /// Numbers the wanted accesses among those of the same thread that match their descriptions.
    fn count(&mut self, wanted: &FxHashSet<Position>, stacks: &FxHashMap<(ThreadId, CodeAddress), Vec<StackId>>) {
        // The number so far for each description, by thread, instruction and stack; and the descriptions that an access matches.
        let mut counts: FxHashMap<(ThreadId, CodeAddress, StackId), u64> = FxHashMap::default();
        let mut fitting: FxHashMap<(ThreadId, CodeAddress, StackId), Vec<StackId>> = FxHashMap::default();
        for &(record, number, locks) in &self.scan.accesses {
            let class = self.scan.classes[number.0];
            let Some(stacks) = stacks.get(&(class.thread, class.code)) else { continue };
            let key = (class.thread, class.code, class.stack);
            let fits = fitting.entry(key).or_insert_with(|| {
                let of = |stack: StackId| self.scan.stack(stack);
                let fits = |other: StackId| {
                    let depth = self.depths[&(class.thread, class.code, other)];
                    of(class.stack).get(..depth) == of(other).get(..depth)
                };
                stacks.iter().copied().filter(|&other| fits(other)).collect()
            });
            for &other in &*fits {
                *counts.entry((class.thread, class.code, other)).or_default() += 1;
            }
            if wanted.contains(&record) {
                self.wanted.insert(record, (number, locks, counts[&key]));
            }
        }
    }

    fn access(&self, record: Position) -> Descriptor {
        let (number, _, nth) = self.wanted[&record];
        let class = self.scan.classes[number.0];
        let depth = self.depths[&(class.thread, class.code, class.stack)];
        Descriptor {
            code: class.code,
            path: (self.threads[&class.code].len() > 1).then(|| self.scan.family.path(class.thread)),
            callers: self.scan.stack(class.stack)[..depth].to_vec(),
            nth,
        }
    }

    fn share_a_lock(&self, a: Position, b: Position) -> bool {
        self.scan.locks.have_in_common(self.wanted[&a].1, self.wanted[&b].1)
    }
}

/// Returns how many callers distinguish a stack from all others.
fn depth(scan: &Scan, stack: StackId, all: &[StackId]) -> usize {
    let own = scan.stack(stack);
    let differs = |other: StackId, depth: usize| scan.stack(other).get(..depth) != Some(&own[..depth]);
    let others = || all.iter().copied().filter(|&other| other != stack);
    (0..own.len()).find(|&depth| others().all(|other| differs(other, depth))).unwrap_or(own.len())
}
