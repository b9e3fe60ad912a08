//! Scripts for `script.c`: the operations of its threads.

use std::fmt;
use std::str::FromStr;

/// An operation: a letter and three numbers, see `script.c`.
pub type Operation = [u8; 4];

/// The operations of each thread; the first is the main thread.
#[derive(Clone, PartialEq, Eq)]
pub struct Script(pub Vec<Vec<Operation>>);

impl Script {
    /// The file that the program reads.
    pub fn file(&self) -> Vec<u8> {
        let mut bytes = vec![self.0.len() as u8];
        bytes.extend(self.0.iter().map(|thread| thread.len() as u8));
        bytes.extend(self.0.iter().flatten().flatten());
        bytes
    }

    /// Returns the smaller scripts to try first when this one fails: large parts left out, then small ones.
    pub fn smaller(&self) -> impl Iterator<Item = Self> {
        let longest = self.0.iter().map(Vec::len).max().unwrap_or(0);
        let sizes = std::iter::successors(Some(longest), |size| (*size > 1).then_some(size / 2));
        sizes.flat_map(move |size| {
            (0..self.0.len()).flat_map(move |thread| {
                (0..self.0[thread].len()).step_by(size.max(1)).map(move |first| {
                    let mut script = self.clone();
                    let end = (first + size.max(1)).min(script.0[thread].len());
                    script.0[thread].drain(first..end);
                    script
                })
            })
        })
    }
}

const ORDERS: [&str; 6] = ["relaxed", "consume", "acquire", "release", "acq_rel", "seq_cst"];

impl FromStr for Script {
    type Err = String;

    /// Parses the `Display` format of [`Script`], without the names of the threads.
    fn from_str(text: &str) -> Result<Self, String> {
        let operation = |word: &str| read_operation(word).ok_or_else(|| format!("`{word}` is not an operation"));
        let thread = |line: &str| line.split_whitespace().map(operation).collect();
        Ok(Self(text.lines().map(thread).collect::<Result<_, _>>()?))
    }
}

fn read_operation(word: &str) -> Option<Operation> {
    let what = *word.as_bytes().first()?;
    let rest = word.get(1..)?;
    let order = |name: &str| Some(ORDERS.iter().position(|&order| order == name)? as u8);
    if what == b'f' {
        return Some([what, order(rest.strip_prefix(':')?)?, 0, 0]);
    }
    let Some((size, place)) = rest.split_once('@') else {
        let number = rest.trim_end_matches('?');
        return Some([what, number.parse().ok()?, u8::from(number != rest), 0]);
    };
    let size: u8 = size.parse().ok()?;
    let end = place.find([':', '/']).unwrap_or(place.len());
    let (place, detail) = place.split_at(end);
    let (region, offset) = place.split_once('.')?;
    let at = region.parse::<u8>().ok()? << 4 | offset.parse::<u8>().ok()?;
    Some(match (what, detail.get(1..)) {
        (b'r' | b'w', Some(which)) => [what, at, size, which.parse().ok()?],
        (b'l' | b'a' | b'u' | b'x', Some(name)) => [what, at, order(name)? << 4 | size, 0],
        _ => [what, at, size, 0],
    })
}

impl fmt::Display for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (thread, operations) in self.0.iter().enumerate() {
            write!(f, "  thread {thread}:")?;
            for &[what, a, b, c] in operations {
                let letter = char::from(what);
                let (region, offset, size) = (a >> 4, a & 15, b & 15);
                match what {
                    b'r' | b'w' => write!(f, " {letter}{size}@{region}.{offset}/{c}")?,
                    b'c' | b'C' | b's' => write!(f, " {letter}{size}@{region}.{offset}")?,
                    b'l' | b'a' | b'u' | b'x' => {
                        write!(f, " {letter}{size}@{region}.{offset}:{}", ORDERS[usize::from(b >> 4)])?;
                    }
                    b'f' => write!(f, " f:{}", ORDERS[usize::from(a)])?,
                    _ => write!(f, " {letter}{a}{}", if b != 0 { "?" } else { "" })?,
                }
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

/// splitmix64.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

/// Generates scripts with different habits: some are careful, and race rarely or never; some use few bytes, some hardly
/// any locks.
struct Writer<'a> {
    random: &'a mut Random,
    /// Number of bytes of a region that are used.
    width: usize,
    sizes: &'static [u8],
    /// Size of the atomics in either half of a region.
    atomic_sizes: [u8; 2],
    /// How often each kind of step is taken.
    weights: [usize; STEPS],
    /// One in this many accesses is made without the lock; 0: none.
    slips: usize,
    /// One in this many steps with a block comes too late; 0: none.
    late: usize,
}

const STEPS: usize = 8;
/// Steps that race easily.
const RACY: [bool; STEPS] = [false, true, false, true, false, true, true, true];
/// The mutex that guards the blocks in careful scripts. The other two guard one half of the array each.
const BLOCK_MUTEX: u8 = 2;

/// Returns a script that depends only on the seed.
pub fn random_script(random: &mut Random) -> Script {
    let width = random.pick(&[2, 4, 8, 16]);
    let sizes: &[&[u8]] = &[&[1], &[4], &[8], &[1, 2], &[4, 8], &[1, 2, 4, 8], &[1, 4]];
    let sizes = random.pick(sizes);
    let atomic_sizes = [random.pick(&[1, 2, 4, 8]), random.pick(&[1, 2, 4, 8])];
    let weights = std::array::from_fn(|step| random.pick(if RACY[step] { &[0, 0, 0, 1, 4] } else { &[0, 2, 8, 16] }));
    let slips = random.pick(&[0, 0, 2, 20, 200]);
    let late = random.pick(&[0, 0, 0, 3, 12]);
    let count = 2 + random.below(4);
    let length = 1 + random.below(16);
    let mut writer = Writer { random, width, sizes, atomic_sizes, weights, slips, late };
    let mut threads: Vec<Vec<Operation>> = (0..count).map(|_| writer.thread(length)).collect();
    for thread in (1..count).rev() {
        // Usually the main thread creates the others, and joins them.
        let parent = if writer.random.one_in(4) { writer.random.below(thread) } else { 0 };
        let at = writer.random.below(threads[parent].len() / 2 + 1);
        threads[parent].insert(at, [b'+', thread as u8, 0, 0]);
        if !writer.random.one_in(10) {
            let waits = if writer.random.one_in(4) { writer.random.below(count) } else { parent };
            threads[waits].push([b'-', thread as u8, 0, 0]);
            let more = writer.thread(2);
            threads[waits].extend(more);
        }
    }
    Script(threads)
}

impl Writer<'_> {
    fn thread(&mut self, length: usize) -> Vec<Operation> {
        let mut operations = Vec::new();
        for _ in 0..length {
            self.step(&mut operations);
        }
        operations.truncate(200);
        operations
    }

    fn step(&mut self, into: &mut Vec<Operation>) {
        let total: usize = self.weights.iter().sum();
        let mut at = if total == 0 { 0 } else { self.random.below(total) };
        let chosen = self.weights.iter().position(|&weight| {
            let here = at < weight;
            at = at.saturating_sub(weight);
            here
        });
        match chosen {
            Some(1) => into.push(self.atomic(0)),
            Some(2) => into.push(self.fence()),
            Some(3) => self.semaphore(into),
            Some(4) => self.block(into),
            Some(5) => self.message(into),
            Some(6) => self.meeting(into),
            Some(7) => into.push(self.access(0)),
            _ => self.guarded(into),
        }
    }

    /// A plain access to a region.
    fn access(&mut self, region: u8) -> Operation {
        if self.random.one_in(5) {
            let size = 3 + self.random.below(10);
            let offset = self.random.below(17 - size) as u8;
            return [self.random.pick(b"ccCs"), region << 4 | offset, size as u8, 0];
        }
        let size = self.random.pick(self.sizes);
        let slots = self.width.max(size.into()) - usize::from(size) + 1;
        let mut offset = self.random.below(slots) as u8;
        if !self.random.one_in(4) {
            offset -= offset % size;
        }
        let which = self.random.below(2) as u8;
        [self.random.pick(b"rrw"), region << 4 | offset, size, which]
    }

    fn atomic(&mut self, region: u8) -> Operation {
        let what = self.random.pick(b"lalaux");
        let order = match what {
            b'l' => self.random.pick(&[0, 2, 2, 5]),
            b'a' => self.random.pick(&[0, 3, 3, 5]),
            _ => self.random.pick(&[0, 2, 3, 4, 5]),
        };
        self.atomic_with(what, order, region)
    }

    fn atomic_with(&mut self, what: u8, order: u8, region: u8) -> Operation {
        let half = self.random.below(if self.width > 8 { 2 } else { 1 });
        let size = self.atomic_sizes[half];
        let slots = (self.width.min(8) / usize::from(size)).max(1);
        let offset = half as u8 * 8 + self.random.below(slots) as u8 * size;
        [what, region << 4 | offset, order << 4 | size, 0]
    }

    fn fence(&mut self) -> Operation {
        [b'f', self.random.pick(&[2, 3, 4, 5]), 0, 0]
    }

    fn slip(&mut self) -> bool {
        self.slips != 0 && self.random.one_in(self.slips)
    }

    /// Accesses under a lock, or without it.
    fn guarded(&mut self, into: &mut Vec<Operation>) {
        let accesses: Vec<Operation> = (0..=self.random.below(3)).map(|_| self.access(0)).collect();
        if self.slip() {
            into.extend(accesses);
            return;
        }
        let only_reads = accesses.iter().all(|operation| matches!(operation[0], b'r' | b'c'));
        let attempt = u8::from(self.random.one_in(8));
        // Scripts with small atomics use mutexes, others reader-writer locks; occasionally one takes the wrong lock.
        let rwlock = if self.random.one_in(12) { self.random.one_in(2) } else { self.atomic_sizes[0] > 2 };
        let (lock, unlock) = match (rwlock, only_reads) {
            (true, true) => (b'R', b'Y'),
            (true, false) => (b'X', b'Y'),
            (false, _) if attempt == 1 => (b'T', b'U'),
            (false, _) => (b'L', b'U'),
        };
        into.push([lock, 0, if rwlock { attempt } else { 0 }, 0]);
        into.extend(accesses);
        if !rwlock && self.random.one_in(16) {
            into.push([b'W', 0, 0, 0]);
        }
        into.push([unlock, 0, 0, 0]);
        if self.random.one_in(10) {
            into.push([b'N', 0, 0, 0]);
        }
    }

    fn semaphore(&mut self, into: &mut Vec<Operation>) {
        let number = self.random.below(2) as u8;
        let what = self.random.pick(b"PPqqQ");
        let access = self.access(0);
        if what == b'P' {
            into.extend([access, [what, number, 0, 0]]);
        } else {
            into.extend([[what, number, 0, 0], access]);
        }
    }

    /// An operation on a block, usually under its mutex.
    fn block(&mut self, into: &mut Vec<Operation>) {
        let block = self.random.below(2) as u8;
        if self.late != 0 && self.random.one_in(self.late) {
            into.push(match self.random.below(6) {
                0..=2 => self.access(block + 3),
                3 => self.atomic(block + 3),
                _ => [b'D', block, 0, 0],
            });
            return;
        }
        let operation = match self.random.below(9) {
            8 => [b'Z', 0, 0, 0],
            0..=2 => [b'm', block, self.random.below(8) as u8, 0],
            3..=4 => [b'F', block, 0, 0],
            5..=6 => self.access(block + 1),
            _ => self.atomic(block + 1),
        };
        if self.slip() {
            into.push(operation);
        } else {
            into.extend([[b'L', BLOCK_MUTEX, 0, 0], operation, [b'U', BLOCK_MUTEX, 0, 0]]);
        }
    }

    /// One side of a message: accesses, and an atomic that announces them.
    fn message(&mut self, into: &mut Vec<Operation>) {
        let access = self.access(0);
        match self.random.below(6) {
            0 => into.extend([access, self.atomic_with(b'a', 3, 0)]),
            1 => into.extend([access, [b'f', 3, 0, 0], self.atomic_with(b'a', 0, 0)]),
            2 => into.extend([access, self.atomic_with(b'u', 4, 0)]),
            3 => into.extend([self.atomic_with(b'l', 2, 0), access]),
            4 => into.extend([self.atomic_with(b'l', 0, 0), [b'f', 2, 0, 0], access]),
            _ => into.extend([self.atomic_with(b'x', 4, 0), access]),
        }
    }

    fn meeting(&mut self, into: &mut Vec<Operation>) {
        let (before, after) = (self.access(0), self.access(0));
        into.extend([before, [b'B', 0, 0, 0], after]);
    }
}
