//! Reads-from guidance: executions in which reads see writes that they have not seen yet.
//!
//! After D. Wolff and others, "Greybox Fuzzing for Concurrency Testing" (2024): what an execution does depends on which write
//! each read sees, so that is what executions should differ in. There constraints are mutated at random. Here, since the log
//! tells what a read could see, each possibility that was not seen is tried once: first for single reads, then for two reads
//! of one thread together, which is where most invariants break. After that constraints are drawn at random.
//!
//! A target is up to three [`ReadConstraint`]es; how they come true is left to the walk. None is owed: what was possible by the log may
//! not be possible.

mod saved;

use racehunter_explore::{
    Analysis, Execution, GatedPlace, Loader, MOST_CONSTRAINTS, MOST_RIVALS, Outcome, Part, Plan, ReadConstraint, Saver,
    Share, Style, Tail, Unusable, Variables, path_priority,
};
use racehunter_log::AccessMode;
use saved::{load_constraint, load_map, load_wanted, save_constraint, save_map, save_wanted};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::hash::{BuildHasher as _, BuildHasherDefault};

/// The analysis.
pub struct ReadsFrom {
    seed: u64,
    alone: bool,
    part: Part,
    next: u64,
    /// Targets that are on their way.
    waiting: u64,
    /// Number of the first target after the last one that was not drawn at random.
    guided: u64,
    /// What is known of each read that could see something else.
    reads: BTreeMap<Read, Known>,
    /// Reads of each thread, by its path, in the order in which they were first made.
    threads: BTreeMap<u64, Vec<Read>>,
    /// Reads that could see something new since the last look.
    grown: BTreeSet<Read>,
    /// Executions that others have run.
    overheard: u64,
    /// Pairs of reads of one thread with what they saw, as hashes.
    seen_together: HashSet<u64>,
    /// ReadConstraints that wait to be tried, the most promising first.
    queues: [VecDeque<Vec<(Read, u64)>>; QUEUES],
    /// What was ever in a queue, as hashes.
    queued: HashSet<u64>,
}

/// A read of one thread: its path, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Read {
    path: u64,
    code: u64,
}

#[derive(Clone, Debug, Default)]
struct Known {
    gate: u64,
    /// The memory that it reads first; 0 when that is not always the same.
    object: u64,
    /// Writes of others to the same memory: where, and their gates.
    writes: BTreeMap<u64, u64>,
    /// The writes that it has seen, by where they are; [`BEFORE_ALL`] for none.
    seen: BTreeSet<u64>,
    /// What the thread had read before, and seen, the last time: it may take that to come here. Updates are left out.
    context: Vec<(Read, u64)>,
    /// It changes what it reads: a counter, more often than a condition.
    updates: bool,
    /// How often a walk tried to have it see a write.
    tries: BTreeMap<u64, u32>,
    /// Most such reads in an execution.
    most: u32,
}

impl Known {
    /// What it could see.
    fn possible(&self) -> impl Iterator<Item = u64> {
        self.writes.keys().copied().take(MOST_WRITES).chain([BEFORE_ALL])
    }

    /// It has not seen this, and that need not be impossible.
    fn is_open(&self, write: u64) -> bool {
        !self.seen.contains(&write) && self.tries.get(&write).is_none_or(|&tries| tries < TRIES)
    }
}

/// What a read sees that comes before all writes of other threads.
const BEFORE_ALL: u64 = 0;

/// One walk.
#[derive(Clone, Debug)]
pub struct Target {
    number: u64,
    constraints: Vec<ReadConstraint>,
}

/// Targets that are handed out at once, at most, so that what is learnt decides what comes next.
const AHEAD: u64 = 4;
/// The same later on: batches should be filled.
const FAR_AHEAD: u64 = 24;
/// Targets at the beginning that are not drawn at random as long as others are on their way.
const EARLY: u64 = 20;
/// Queues: single reads that see what none there has seen in any thread, and pairs of such; then those that are new in one
/// thread alone.
const SINGLES: usize = 0;
const PAIRS: usize = 1;
const OTHER_SINGLES: usize = 2;
const OTHER_PAIRS: usize = 3;
const QUEUES: usize = 4;
/// Failed attempts after which a constraint counts as impossible.
const TRIES: u32 = 4;
/// Pairs that are looked through for one that is worth more than the others.
const LOOKED_THROUGH: usize = 1000;
/// Executions that come before those of others, up to this number, and how much more they are worth. The very first show
/// many bugs at once, and others lose nothing by waiting for so few.
const PREFERRED: [(u64, u32); 2] = [(16, 50), (200, 6)];
/// Reads of one thread that are paired, and writes that each of them can see, at most.
const MOST_READS: usize = 40;
const MOST_WRITES: usize = 6;
/// Longest log that is analysed, in records.
const LONGEST: usize = 200_000;
/// What is remembered, at most.
const MOST_KNOWN: usize = 20_000;
const MOST_QUEUED: usize = 200_000;
/// Of the walks at random, one in this many has no constraints.
const FREE: u64 = 3;

type Hash = BuildHasherDefault<std::collections::hash_map::DefaultHasher>;

fn hash(what: impl std::hash::Hash) -> u64 {
    Hash::default().hash_one(what)
}

impl ReadsFrom {
    /// An analysis whose walks all derive from one seed.
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
            seen_together: HashSet::new(),
            queues: Default::default(),
            queued: HashSet::new(),
        }
    }

    /// An analysis that begins with what others run.
    #[must_use]
    pub fn after_others(seed: u64) -> Self {
        Self { alone: false, ..Self::new(seed) }
    }

    /// Takes in an execution, of this analysis or another one.
    fn learn(&mut self, execution: &Execution) {
        if execution.threads < 2
            || execution.records.len() > LONGEST
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

    /// What each read saw, thread by thread; the first time that a thread was there.
    fn look(&mut self, execution: &Execution) -> Vec<Vec<(Read, u64)>> {
        let mut variables = Variables::default();
        let mut gates: HashMap<u32, (u32, u64)> = HashMap::new();
        let mut memory: HashMap<u64, Memory> = HashMap::new();
        let mut seen: BTreeMap<u64, Vec<(Read, u64)>> = BTreeMap::new();
        // How often, and from where first.
        let mut counts: HashMap<Read, (u32, u64)> = HashMap::new();
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
    fn note_reads<'a>(&mut self, memory: impl Iterator<Item = &'a Memory>, counts: &HashMap<Read, (u32, u64)>) {
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

    /// Puts pairs of reads that could see something together which they have not into the queues.
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

    /// The next targets, up to this many on their way.
    fn targets(&mut self) -> Vec<Target> {
        let mut targets = Vec::new();
        while self.waiting < if self.next < EARLY { AHEAD } else { FAR_AHEAD } {
            let number = self.next;
            let constraints = match self.draw() {
                Some(constraints) => {
                    self.guided = number + 1;
                    constraints
                }
                // What is on its way may tell what to constraint for.
                None if number < EARLY && self.waiting > 0 => break,
                None => self.draw_at_random(number),
            };
            self.next += 1;
            self.waiting += 1;
            targets.push(Target { number, constraints });
        }
        // The last one is run first.
        targets.reverse();
        targets
    }

    /// The constraints that come next, if there are any that were not tried.
    fn draw(&mut self) -> Option<Vec<ReadConstraint>> {
        while let Some(mut wanted) = self.most_promising() {
            // It may have come by itself meanwhile.
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

    /// What is new in any thread comes before what is new in one, and single reads before pairs; of the pairs, those with one
    /// that failed alone, because it may take both.
    fn most_promising(&mut self) -> Option<Vec<(Read, u64)>> {
        let [single, pairs, rest @ ..] = &mut self.queues;
        let reads = &self.reads;
        let open = |(read, write): &(Read, u64)| reads.get(read).is_some_and(|known| known.is_open(*write));
        let promising = || {
            let position = pairs.iter().take(LOOKED_THROUGH).position(|pair| pair.iter().any(open))?;
            pairs.remove(position)
        };
        let next = single.pop_front().or_else(promising);
        next.or_else(|| rest[0].pop_front()).or_else(|| self.queues.iter_mut().find_map(VecDeque::pop_front))
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

/// What happened to one address in an execution.
#[derive(Default)]
struct Memory {
    /// The thread that wrote last, and where.
    last: Option<(u32, u64)>,
    /// Who read it, with the gates, and whether that was an update.
    reads: BTreeMap<Read, (u64, bool)>,
    /// Writes, by path and place, with the gates.
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
        // The first walk tells what there is to constraint for.
        if self.alone { vec![Target { number: 0, constraints: Vec::new() }] } else { Vec::new() }
    }

    /// What was not seen is worth more than what others try; but there can be any amount of it.
    fn weight(&self) -> u32 {
        // They end about in the order of their numbers.
        let is_guided =
            self.next.saturating_sub(self.waiting) < self.guided || self.queues.iter().any(|queue| !queue.is_empty());
        let preference = PREFERRED.iter().find(|(most, _)| is_guided && self.next < *most);
        preference.map_or(1, |(_, worth)| *worth)
    }

    fn plan(&self, target: &Target) -> Plan {
        let tail = Tail::Walk { style: Style::Guided, seed: self.walk_seed(target.number) };
        Plan { tail, constraints: target.constraints.clone(), ..Plan::default() }
    }

    fn new_targets(&mut self, _target: &Target, execution: &Execution) -> Vec<Target> {
        self.learn(execution);
        self.waiting = self.waiting.saturating_sub(1);
        self.targets()
    }

    fn other_targets(&mut self, execution: &Execution) -> Vec<Target> {
        self.overheard += 1;
        // Executions of one program are much alike: fewer and fewer are worth the time.
        if self.overheard.is_power_of_two() {
            self.learn(execution);
        }
        self.targets()
    }

    /// Each part tries constraints of its own.
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
