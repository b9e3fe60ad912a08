//! Reads-from guidance: executions in which reads see writes that they have not seen yet.
//!
//! After D. Wolff and others, "Greybox Fuzzing for Concurrency Testing" (2024): the behaviour of an execution depends on which
//! write each read sees, so executions should differ in that. The paper mutates constraints at random. Here the log shows which
//! writes a read could see, so each unseen possibility is tried once: first for single reads, then for two reads of one thread
//! together, where most invariants break. After that constraints are drawn at random.
//!
//! A target consists of up to three [`ReadConstraint`]s. The walk tries to satisfy them, but nothing guarantees that they can be
//! satisfied.

mod saved;

use racehunter_explore::{
    Analysis, Execution, GatedPlace, Loader, MOST_CONSTRAINTS, MOST_RIVALS, Outcome, Part, Plan, ReadConstraint, Saver,
    Share, Style, Tail, Unusable, Variables, path_priority,
};
use racehunter_log::AccessMode;
use rustc_hash::{FxHashMap, FxHashSet};
use saved::{load_constraint, load_map, load_wanted, save_constraint, save_map, save_wanted};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::hash::{BuildHasher as _, BuildHasherDefault};

/// The analysis.
pub struct ReadsFrom {
    seed: u64,
    alone: bool,
    part: Part,
    next: u64,
    /// Number of targets handed out and not finished.
    waiting: u64,
    /// One more than the number of the last target not drawn at random.
    guided: u64,
    /// What is known about each read that could see another write.
    reads: BTreeMap<Read, Known>,
    /// The reads of each thread, by its path, in the order in which they were first made.
    threads: BTreeMap<u64, Vec<Read>>,
    /// Reads that could see something new since the last check.
    grown: BTreeSet<Read>,
    /// Number of executions that other analyses ran.
    overheard: u64,
    /// The last log was too long to learn from, or would have been if it had left out nothing.
    too_long: bool,
    /// Pairs of reads of one thread with what they saw, as hashes.
    seen_together: FxHashSet<u64>,
    /// ReadConstraints that wait to be tried, the most promising first.
    queues: [VecDeque<Vec<(Read, u64)>>; QUEUES],
    /// Leading pairs of the queue [`PAIRS`] that are known not to be open. They stay so: nothing is tried less often, or seen
    /// no more.
    closed: usize,
    /// What was ever in a queue, as hashes.
    queued: FxHashSet<u64>,
}

/// A read of one thread: the thread's path, and the place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Read {
    path: u64,
    code: u64,
}

#[derive(Clone, Debug, Default)]
struct Known {
    gate: u64,
    /// The memory that it reads first; 0 if that varies.
    object: u64,
    /// Writes of other threads to the same memory: their places and gates.
    writes: BTreeMap<u64, u64>,
    /// The places of the writes that it has seen; [`BEFORE_ALL`] for none.
    seen: BTreeSet<u64>,
    /// What the thread had read before, and seen, the last time: reaching this read may depend on it. Updates are left out.
    context: Vec<(Read, u64)>,
    /// It also changes what it reads: more likely a counter than a condition.
    updates: bool,
    /// How often a walk tried to make it see a write.
    tries: BTreeMap<u64, u32>,
    /// Maximum number of such reads in an execution.
    most: u32,
}

impl Known {
    /// Returns the writes that it could see.
    fn possible(&self) -> impl Iterator<Item = u64> {
        self.writes.keys().copied().take(MOST_WRITES).chain([BEFORE_ALL])
    }

    /// Returns whether it has not seen this write and may still be able to.
    fn is_open(&self, write: u64) -> bool {
        !self.seen.contains(&write) && self.tries.get(&write).is_none_or(|&tries| tries < TRIES)
    }
}

/// What a read sees that precedes all writes of other threads.
const BEFORE_ALL: u64 = 0;

/// One walk.
#[derive(Clone, Debug)]
pub struct Target {
    number: u64,
    constraints: Vec<ReadConstraint>,
}

/// Maximum number of targets handed out at once early on, so that each result can influence the next targets.
const AHEAD: u64 = 4;
/// The same later on, when filling batches matters more.
const FAR_AHEAD: u64 = 24;
/// Until this many targets, none is drawn at random while others are running.
const EARLY: u64 = 20;
/// Queues: single reads that would see what no thread has seen at that place, and pairs of them; then those that are new only for
/// one thread.
const SINGLES: usize = 0;
const PAIRS: usize = 1;
const OTHER_SINGLES: usize = 2;
const OTHER_PAIRS: usize = 3;
const QUEUES: usize = 4;
/// Failed attempts after which a constraint counts as impossible.
const TRIES: u32 = 4;
/// Number of queued pairs among which to look for the most promising.
const LOOKED_THROUGH: usize = 1000;
/// While the number of targets is below the first number, the weight is the second. The first executions reveal many bugs, and
/// the other analyses lose little by waiting for them.
const PREFERRED: [(u64, u32); 2] = [(16, 50), (200, 6)];
/// Maximum number of reads of one thread that are paired, and of writes that each of them can see.
const MOST_READS: usize = 40;
const MOST_WRITES: usize = 6;
/// Maximum length of a log to analyse, in records.
const LONGEST: usize = 200_000;
/// Limits on what is remembered.
const MOST_KNOWN: usize = 20_000;
const MOST_QUEUED: usize = 200_000;
/// One in this many random targets has no constraints.
const FREE: u64 = 3;

type Hash = BuildHasherDefault<std::collections::hash_map::DefaultHasher>;

fn hash(what: impl std::hash::Hash) -> u64 {
    Hash::default().hash_one(what)
}

impl ReadsFrom {
    /// Creates an analysis whose walks all derive from one seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self {
            seed,
            alone: true,
            part: Part::WHOLE,
            next: 0,
            waiting: 0,
            guided: 0,
            reads: BTreeMap::new(),
            threads: BTreeMap::new(),
            grown: BTreeSet::new(),
            overheard: 0,
            too_long: false,
            seen_together: FxHashSet::default(),
            queues: Default::default(),
            closed: 0,
            queued: FxHashSet::default(),
        }
    }

    /// Creates an analysis that starts from the executions of other analyses.
    #[must_use]
    pub fn after_others(seed: u64) -> Self {
        Self { alone: false, ..Self::new(seed) }
    }

    /// Takes in an execution of this analysis or another one.
    fn learn(&mut self, execution: &Execution) {
        // A brief log tells how long it would have been too.
        self.too_long = execution.whole_length() > LONGEST;
        if execution.threads < 2
            || self.too_long
            || execution.is_outline()
            || matches!(execution.outcome, Outcome::Diverged(_) | Outcome::Lost(_))
        {
            return;
        }
        for reads in &self.look(execution) {
            self.note_pairs(reads);
        }
        let grown = std::mem::take(&mut self.grown);
        for &read in &grown {
            let Some(known) = self.reads.get(&read) else { continue };
            for write in known.possible().filter(|write| !known.seen.contains(write)) {
                let new_anywhere = self.queued.insert(hash((read.code, write, "anywhere")));
                if self.queued.insert(hash((read, write))) {
                    self.queues[if new_anywhere { SINGLES } else { OTHER_SINGLES }].push_back(vec![(read, write)]);
                }
            }
        }
        let threads: BTreeSet<u64> = grown.iter().map(|read| read.path).collect();
        threads.into_iter().for_each(|thread| self.queue_pairs(thread));
    }

    /// Returns for each thread what each of its reads saw the first time it was made.
    fn look(&mut self, execution: &Execution) -> Vec<Vec<(Read, u64)>> {
        let mut variables = Variables::default();
        let mut gates: FxHashMap<u32, (u32, u64)> = FxHashMap::default();
        let mut memory: FxHashMap<u64, Memory> = FxHashMap::default();
        let mut seen: BTreeMap<u64, Vec<(Read, u64)>> = BTreeMap::new();
        // How often, and from where first.
        let mut counts: FxHashMap<Read, (u32, u64)> = FxHashMap::default();
        for entry in execution.entries() {
            let _ = variables.note(execution, entry);
            let (thread, code) = (entry.thread().0, entry.code().0);
            let gate = gates.entry(thread).or_default();
            let event = entry.event();
            if event.acquired().is_some() {
                if gate.0 == 0 {
                    gate.1 = code;
                }
                gate.0 += 1;
            } else if event.released().is_some() {
                gate.0 = gate.0.saturating_sub(1);
            }
            let Some(access) = event.access().filter(|_| code != 0) else { continue };
            let (mode, address) = (access.mode, access.address.0);
            let place = GatedPlace { code, gate: if gate.0 == 0 { code } else { gate.1 } };
            let memory = memory.entry(address).or_default();
            let read = Read { path: variables.path(entry.thread()).0, code };
            if mode.reads() && !mode.is_range() {
                let (count, _) = counts.entry(read).or_insert((0, address));
                *count += 1;
                memory.reads.insert(read, (place.gate, mode == AccessMode::AtomicUpdate));
                if *count == 1 && !memory.is_own(thread) {
                    let write = memory.last.map_or(BEFORE_ALL, |(_, write)| write);
                    seen.entry(read.path).or_default().push((read, write));
                }
            }
            if mode.writes() && mode != AccessMode::Free {
                memory.last = Some((thread, code));
                memory.writes.insert((read.path, code), place.gate);
            }
        }
        self.note_reads(memory.values(), &counts);
        for &(read, write) in seen.values().flatten() {
            if let Some(known) = self.reads.get_mut(&read) {
                known.seen.insert(write);
            }
        }
        let known = |(read, _): &(Read, u64)| self.reads.contains_key(read);
        let seen = seen.into_values().map(|reads| reads.into_iter().filter(known).collect());
        seen.filter(|reads: &Vec<_>| !reads.is_empty()).collect()
    }

    /// Which reads could see which writes.
    fn note_reads<'a>(&mut self, memory: impl Iterator<Item = &'a Memory>, counts: &FxHashMap<Read, (u32, u64)>) {
        for Memory { reads, writes, .. } in memory {
            for (&read, &(gate, updates)) in reads {
                let others = writes.iter().filter(|((path, _), _)| *path != read.path);
                let mut others = others.map(|(&(_, code), &gate)| (code, gate)).peekable();
                if others.peek().is_none() || self.reads.len() >= MOST_KNOWN && !self.reads.contains_key(&read) {
                    continue;
                }
                let first = counts.get(&read).map_or(0, |&(_, first)| first);
                let fresh = Known { object: first, ..Known::default() };
                let known = self.reads.entry(read).or_insert(fresh);
                if known.object != first {
                    known.object = 0;
                }
                let before = known.writes.len();
                known.gate = gate;
                known.updates = updates;
                known.writes.extend(others);
                if known.writes.len() > before {
                    self.grown.insert(read);
                }
                known.most = known.most.max(counts.get(&read).map_or(1, |&(count, _)| count));
            }
        }
    }

    fn note_pairs(&mut self, reads: &[(Read, u64)]) {
        let Some(&(Read { path, .. }, _)) = reads.first() else { return };
        let order = self.threads.entry(path).or_default();
        for (read, _) in reads {
            if order.len() < MOST_READS && !order.contains(read) {
                order.push(*read);
            }
        }
        let mut decisive: Vec<(Read, u64)> = Vec::new();
        for (read, write) in reads {
            if let Some(known) = self.reads.get_mut(read) {
                known.context = decisive[decisive.len().saturating_sub(MOST_CONSTRAINTS - 1)..].to_vec();
                if !known.updates {
                    decisive.push((*read, *write));
                }
            }
        }
        for (number, first) in reads.iter().enumerate().take(MOST_READS) {
            self.seen_together.extend(reads[number + 1..].iter().take(MOST_READS).map(|second| hash((first, second))));
        }
    }

    /// Queues pairs of reads that could together see something they have not.
    fn queue_pairs(&mut self, thread: u64) {
        let Some(reads) = self.threads.get(&thread) else { return };
        for (number, first) in reads.iter().enumerate() {
            for second in &reads[number + 1..] {
                let (Some(a), Some(b)) = (self.reads.get(first), self.reads.get(second)) else { continue };
                for one in a.possible() {
                    for other in b.possible() {
                        let pair = ((first, one), (second, other));
                        if self.queued.len() >= MOST_QUEUED || self.seen_together.contains(&hash(pair)) {
                            continue;
                        }
                        let anywhere = hash((first.code, one, second.code, other, "anywhere"));
                        if self.queued.insert(hash(pair)) {
                            let queue = if self.queued.insert(anywhere) { PAIRS } else { OTHER_PAIRS };
                            self.queues[queue].push_back(vec![(*first, one), (*second, other)]);
                        }
                    }
                }
            }
        }
    }

    /// Returns the next targets, up to the number that may run at once.
    fn targets(&mut self) -> Vec<Target> {
        let mut targets = Vec::new();
        while self.waiting < if self.next < EARLY { AHEAD } else { FAR_AHEAD } {
            let number = self.next;
            let constraints = match self.draw() {
                Some(constraints) => {
                    self.guided = number + 1;
                    constraints
                }
                // The running targets may show what to constrain.
                None if number < EARLY && self.waiting > 0 => break,
                None => self.draw_at_random(number),
            };
            self.next += 1;
            self.waiting += 1;
            targets.push(Target { number, constraints });
        }
        // The campaign runs the last one first.
        targets.reverse();
        targets
    }

    /// Returns the next untried constraints, if there are any.
    fn draw(&mut self) -> Option<Vec<ReadConstraint>> {
        while let Some(mut wanted) = self.most_promising() {
            // Another execution may have shown it meanwhile.
            let is_seen = match wanted[..] {
                [(read, write)] => self.reads.get(&read).is_some_and(|known| known.seen.contains(&write)),
                [first, second] => self.seen_together.contains(&hash((first, second))),
                _ => false,
            };
            if is_seen || !self.part.owns(hash(&wanted)) {
                continue;
            }
            for &(read, write) in &wanted {
                if let Some(known) = self.reads.get_mut(&read) {
                    *known.tries.entry(write).or_default() += 1;
                }
            }
            if let [(read, _)] = wanted[..] {
                wanted.extend(self.reads.get(&read).into_iter().flat_map(|known| known.context.iter().copied()));
            }
            return Some(wanted.iter().map(|&(read, write)| self.constraint(read, write, 0)).collect());
        }
        None
    }

    /// Takes what is new for all threads before what is new for one, and single reads before pairs; among pairs, one whose parts
    /// failed alone, because it may take both.
    fn most_promising(&mut self) -> Option<Vec<(Read, u64)>> {
        let single = self.queues[SINGLES].pop_front();
        let next = single.or_else(|| self.open_pair()).or_else(|| self.queues[OTHER_SINGLES].pop_front());
        next.or_else(|| {
            let first = self.queues.iter().position(|queue| !queue.is_empty())?;
            if first == PAIRS {
                self.closed = self.closed.saturating_sub(1);
            }
            self.queues[first].pop_front()
        })
    }

    /// The first of the pairs with a read that could see something alone, and has not.
    fn open_pair(&mut self) -> Option<Vec<(Read, u64)>> {
        let (reads, pairs) = (&self.reads, &mut self.queues[PAIRS]);
        let open = |(read, write): &(Read, u64)| reads.get(read).is_some_and(|known| known.is_open(*write));
        let end = pairs.len().min(LOOKED_THROUGH);
        let position = (self.closed..end).find(|&at| pairs[at].iter().any(open));
        self.closed = position.unwrap_or(end.max(self.closed));
        pairs.remove(position?)
    }

    fn draw_at_random(&self, number: u64) -> Vec<ReadConstraint> {
        let mut random = self.walk_seed(number);
        let mut below = |limit: u64| {
            random = random.rotate_left(32).wrapping_mul(0xD6E8_FEB8_6659_FD93) ^ 0x5851_F42D_4C95_7F2D;
            path_priority(random, 1) % limit.max(1)
        };
        if self.reads.is_empty() || below(FREE) == 0 {
            return Vec::new();
        }
        let count = 1 + below(MOST_CONSTRAINTS as u64);
        let mut constraints = Vec::new();
        for _ in 0..count {
            let Some((&read, known)) = self.reads.iter().nth(below(self.reads.len() as u64) as usize) else { break };
            let write = below(known.writes.len() as u64 + 1);
            let write = known.writes.keys().nth(write as usize).copied().unwrap_or(BEFORE_ALL);
            let skip = if below(2) == 0 { 0 } else { below(u64::from(known.most.min(16))) as u32 };
            constraints.push(self.constraint(read, write, skip));
        }
        constraints
    }

    fn constraint(&self, read: Read, write: u64, skip: u32) -> ReadConstraint {
        let Some(known) = self.reads.get(&read) else { return ReadConstraint::default() };
        let mut rivals = [GatedPlace::default(); MOST_RIVALS];
        let others = known.writes.iter().filter(|(code, _)| **code != write);
        for (rival, (&code, &gate)) in rivals.iter_mut().zip(others) {
            *rival = GatedPlace { code, gate };
        }
        let object = if skip == 0 { known.object } else { 0 };
        let Read { path: reader, code } = read;
        ReadConstraint { reader, read: GatedPlace { code, gate: known.gate }, object, skip, write, rivals }
    }

    fn walk_seed(&self, number: u64) -> u64 {
        let number = number.wrapping_mul(u64::from(self.part.of())).wrapping_add(u64::from(self.part.number() - 1));
        self.seed.wrapping_add(number.wrapping_mul(0xD134_2543_DE82_EF95))
    }
}

/// What happened at one address in an execution.
#[derive(Default)]
struct Memory {
    /// The thread that wrote last, and the place.
    last: Option<(u32, u64)>,
    /// The reads, with their gates, and whether each was an update.
    reads: BTreeMap<Read, (u64, bool)>,
    /// The writes, by thread path and place, with their gates.
    writes: BTreeMap<(u64, u64), u64>,
}

impl Memory {
    fn is_own(&self, thread: u32) -> bool {
        self.last.is_some_and(|(last, _)| last == thread)
    }
}

impl Analysis for ReadsFrom {
    type Target = Target;

    fn initial_targets(&mut self) -> Vec<Target> {
        self.waiting = u64::from(self.alone);
        self.next = self.waiting;
        // The first walk shows what can be constrained.
        if self.alone { vec![Target { number: 0, constraints: Vec::new() }] } else { Vec::new() }
    }

    /// Unseen possibilities are worth more than what other analyses try, but their number is unlimited.
    fn weight(&self) -> u32 {
        // Targets end roughly in the order of their numbers.
        let is_guided =
            self.next.saturating_sub(self.waiting) < self.guided || self.queues.iter().any(|queue| !queue.is_empty());
        let preference = PREFERRED.iter().find(|(most, _)| is_guided && self.next < *most);
        preference.map_or(1, |(_, worth)| *worth)
    }

    fn plan(&self, target: &Target) -> Plan {
        let tail = Tail::Walk { style: Style::Guided, seed: self.walk_seed(target.number) };
        Plan { tail, constraints: target.constraints.clone(), brief: self.too_long, ..Plan::default() }
    }

    fn new_targets(&mut self, _target: &Target, execution: &Execution) -> Vec<Target> {
        self.learn(execution);
        self.waiting = self.waiting.saturating_sub(1);
        self.targets()
    }

    fn other_targets(&mut self, execution: &Execution) -> Vec<Target> {
        self.overheard += 1;
        // Executions of one program resemble each other, so logs are analysed less and less often.
        if self.overheard.is_power_of_two() {
            self.learn(execution);
        }
        self.targets()
    }

    fn reads_other_log(&self, after: u64) -> bool {
        !self.too_long && (self.overheard + after + 1).is_power_of_two()
    }

    /// Each part tries its own constraints.
    fn split(&mut self, part: Part) -> bool {
        self.part = part;
        true
    }

    fn lends(&self) -> bool {
        true
    }

    /// A search of its own, with other random choices than all others. It learns from the executions of its part.
    fn lend(&mut self, _: &mut Vec<Target>, share: Share) -> Option<(Self, Vec<Target>)> {
        let mut part = if self.alone { Self::new(self.seed) } else { Self::after_others(self.seed) };
        let mut targets = part.initial_targets();
        let first = share.first_number();
        targets.iter_mut().for_each(|target| target.number += first);
        part.next += first;
        Some((part, targets))
    }

    const SAVES: bool = true;

    fn save(&self, targets: &mut dyn Iterator<Item = &Target>, out: &mut Saver<'_>) {
        [self.next, self.guided, self.overheard].into_iter().for_each(|number| out.number(number));
        out.number(self.too_long);
        out.count(self.reads.len());
        for (read, known) in &self.reads {
            save_wanted(out, &[(*read, known.gate)]);
            out.number(known.object);
            out.number(known.most);
            out.number(known.updates);
            save_map(out, &known.writes);
            save_map(out, &known.tries);
            out.numbers(known.seen.iter().copied());
            save_wanted(out, &known.context);
        }
        out.count(self.threads.len());
        for reads in self.threads.values() {
            save_wanted(out, &reads.iter().map(|&read| (read, 0)).collect::<Vec<_>>());
        }
        for set in [&self.seen_together, &self.queued] {
            let sorted: BTreeSet<u64> = set.iter().copied().collect();
            out.numbers(sorted.into_iter());
        }
        for queue in &self.queues {
            out.count(queue.len());
            queue.iter().for_each(|wanted| save_wanted(out, wanted));
        }
        let targets: Vec<&Target> = targets.collect();
        out.count(targets.len());
        for Target { number, constraints } in targets {
            out.number(*number);
            out.count(constraints.len());
            constraints.iter().for_each(|constraint| save_constraint(out, constraint));
        }
    }

    fn load(&mut self, input: &mut Loader<'_>) -> Result<Vec<Target>, Unusable> {
        (self.next, self.guided, self.overheard) = (input.number()?, input.number()?, input.number()?);
        self.too_long = input.flag()?;
        for _ in 0..input.number()? {
            let [(read, gate)] = load_wanted(input)?[..] else { return Err(Unusable::Damaged) };
            let (object, most, updates) = (input.number()?, input.small()?, input.flag()?);
            let (writes, tries) = (load_map(input)?, load_map(input)?);
            let (seen, context) = (input.numbers()?.into_iter().collect(), load_wanted(input)?);
            self.reads.insert(read, Known { gate, object, writes, seen, context, updates, tries, most });
        }
        for _ in 0..input.number()? {
            let reads: Vec<Read> = load_wanted(input)?.into_iter().map(|(read, _)| read).collect();
            let first = reads.first().ok_or(Unusable::Damaged)?;
            self.threads.insert(first.path, reads);
        }
        self.seen_together = input.numbers()?.into_iter().collect();
        self.queued = input.numbers()?.into_iter().collect();
        for queue in &mut self.queues {
            for _ in 0..input.number()? {
                queue.push_back(load_wanted(input)?);
            }
        }
        let mut targets = Vec::new();
        for _ in 0..input.number()? {
            let number = input.number()?;
            let constraints = (0..input.number()?).map(|_| load_constraint(input)).collect::<Result<_, _>>()?;
            targets.push(Target { number, constraints });
        }
        self.waiting = targets.len() as u64;
        Ok(targets)
    }
}
