//! The first pass over a log: which threads there are, and which memory is touched.

use racehunter_log::{Event, FamilyTree, Record, ThreadId, descriptor_at, entries};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::Cell;

/// Bytes of memory that one [`Page`] describes.
const PAGE: u64 = 4096;
/// Words of a page's bit sets.
const WORDS: usize = PAGE as usize / 64;

/// What must be known about a whole log before it can be converted.
pub struct Survey {
    /// Memory in which accesses begin or end, by the number of the page.
    pages: FxHashMap<u64, usize>,
    marks: Vec<Marks>,
    /// The page of the last access: most accesses are near each other.
    last: (u64, usize),
    /// Accesses to more than a page: only their ends are marked.
    long: FxHashSet<(u64, u64)>,
    /// The number of threads, and which thread created which.
    threads: usize,
    family: FamilyTree,
}

/// A bit for each byte of a page.
type Bits = [u64; WORDS];

/// Where accesses to a page begin and end, and which bytes they touch.
struct Marks {
    page: u64,
    cuts: Bits,
    touched: Bits,
}

impl Default for Survey {
    fn default() -> Self {
        Self {
            pages: FxHashMap::default(),
            marks: Vec::new(),
            last: (u64::MAX, 0),
            long: FxHashSet::default(),
            threads: 1,
            family: FamilyTree::default(),
        }
    }
}

impl Survey {
    /// Reads the next records of the log.
    pub fn add(&mut self, records: &[Record]) {
        for entry in entries(records).filter(|entry| entry.is_operation()) {
            self.know(entry.thread());
            match entry.event() {
                event @ Event::Create { child, .. } => {
                    self.know(child);
                    self.family.note_event(entry.thread(), &event);
                }
                Event::Join { target, .. } => self.know(target),
                // Numbers of descriptors are no memory.
                Event::Access(access) if descriptor_at(access.address.0).is_some() => {}
                Event::Access(access) => self.touch(access.range()),
                _ => {}
            }
        }
    }

    fn know(&mut self, thread: ThreadId) {
        self.threads = self.threads.max((thread.index() + 1).min(1 << 16));
    }

    fn touch(&mut self, (begin, end): (u64, u64)) {
        if begin >= end {
            return;
        }
        let first = self.page_of(begin);
        set(&mut first.cuts, begin % PAGE, 1);
        let is_long = end - begin > PAGE;
        if begin / PAGE == end / PAGE {
            set(&mut first.touched, begin % PAGE, end - begin);
            set(&mut first.cuts, end % PAGE, 1);
            return;
        }
        if !is_long {
            set(&mut first.touched, begin % PAGE, PAGE - begin % PAGE);
        }
        let second = self.page_of(end);
        set(&mut second.cuts, end % PAGE, 1);
        if is_long {
            self.long.insert((begin, end));
        } else {
            set(&mut second.touched, 0, end % PAGE);
        }
    }

    fn page_of(&mut self, address: u64) -> &mut Marks {
        let page = address / PAGE;
        if self.last.0 != page {
            let next = self.marks.len();
            let at = *self.pages.entry(page).or_insert(next);
            if at == next {
                self.marks.push(Marks { page, cuts: [0; WORDS], touched: [0; WORDS] });
            }
            self.last = (page, at);
        }
        &mut self.marks[self.last.1]
    }

    /// Returns the result.
    #[must_use]
    pub fn finish(mut self) -> Layout {
        self.marks.sort_unstable_by_key(|marks| marks.page);
        let mut long: Vec<(u64, u64)> = self.long.into_iter().collect();
        long.sort_unstable();
        let mut long = long.into_iter().peekable();
        let mut covered_to = 0;
        let (mut pieces, mut locations) = (0, 0);
        let mut pages = Vec::with_capacity(self.marks.len());
        for marks in self.marks {
            let mut page = Page { number: marks.page, cuts: Ranked::new(pieces), touched: Ranked::new(locations) };
            for (word, &bits) in marks.cuts.iter().enumerate() {
                let mut touched = bits & marks.touched[word];
                let mut left = bits & !touched;
                while left != 0 {
                    let address = marks.page * PAGE + word as u64 * 64 + u64::from(left.trailing_zeros());
                    while let Some((_, end)) = long.next_if(|&(begin, _)| begin <= address) {
                        covered_to = covered_to.max(end);
                    }
                    touched |= if address < covered_to { left & left.wrapping_neg() } else { 0 };
                    left &= left - 1;
                }
                page.cuts.set(word, bits);
                page.touched.set(word, touched);
            }
            pieces = page.cuts.end();
            locations = page.touched.end();
            pages.push(page);
        }
        let name = |number: u32| self.family.name(ThreadId(number)).unwrap_or_else(|| format!("T{number}"));
        Layout { pages, pieces, last: Cell::new(0), threads: (0..self.threads as u32).map(name).collect() }
    }
}

/// Sets bits of a page from one on.
fn set(bits: &mut Bits, from: u64, count: u64) {
    let (mut at, end) = (from as usize, (from + count) as usize);
    while at < end {
        let (word, bit) = (at / 64, at % 64);
        let count = (64 - bit).min(end - at);
        bits[word] |= (u64::MAX >> (64 - count)) << bit;
        at += count;
    }
}

/// A bit set that knows how many bits are set before each word.
struct Ranked {
    bits: Bits,
    first: u32,
    before: [u16; WORDS],
    count: u16,
}

impl Ranked {
    fn new(first: u32) -> Self {
        Self { bits: [0; WORDS], first, before: [0; WORDS], count: 0 }
    }

    /// Sets the next word.
    fn set(&mut self, word: usize, bits: u64) {
        self.bits[word] = bits;
        self.before[word] = self.count;
        self.count += bits.count_ones() as u16;
    }

    /// Returns the number of bits up to the end of this set, with those of the sets before.
    fn end(&self) -> u32 {
        self.first + u32::from(self.count)
    }

    /// Returns the number of bits before one.
    fn rank(&self, bit: u64) -> u32 {
        let (word, bit) = (bit as usize / 64, bit % 64);
        self.first + u32::from(self.before[word]) + (self.bits[word] & !(u64::MAX << bit)).count_ones()
    }

    fn has(&self, bit: u64) -> bool {
        self.bits[bit as usize / 64] >> (bit % 64) & 1 == 1
    }

    /// Returns the first bit from one on.
    fn next(&self, bit: u64) -> Option<u64> {
        let first = self.bits[bit as usize / 64] & (u64::MAX << (bit % 64));
        let rest = self.bits[bit as usize / 64 + 1..].iter().copied();
        let found = std::iter::once(first).chain(rest).zip(bit / 64..).find(|&(bits, _)| bits != 0);
        found.map(|(bits, word)| word * 64 + u64::from(bits.trailing_zeros()))
    }
}

/// A page of memory that is cut.
struct Page {
    number: u64,
    /// Where pieces begin.
    cuts: Ranked,
    /// The pieces among them that accesses touch.
    touched: Ranked,
}

/// The threads of a log, and how memory is cut.
pub struct Layout {
    /// The pages with cuts, ascending.
    pages: Vec<Page>,
    /// The number of pieces.
    pieces: u32,
    /// The page that was looked up last.
    last: Cell<usize>,
    /// Names of the threads: their paths in the family tree.
    pub(super) threads: Vec<String>,
}

/// Memory between two cuts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    /// Its number, in the order of addresses.
    pub(super) number: u32,
    /// Its initial object, if any access touches it.
    pub(super) object: Option<u32>,
    /// Where it begins.
    pub(super) begin: u64,
}

impl Layout {
    /// Returns the number of pieces.
    pub(super) fn len(&self) -> usize {
        self.pieces as usize
    }

    /// Returns the start of a walk over the pieces that begin in a range, see [`Layout::next`].
    pub(super) fn pieces(&self, (begin, end): (u64, u64)) -> Pieces {
        Pieces { page: self.page_from(begin / PAGE), next: begin, end }
    }

    /// Returns the next piece, in the order of addresses.
    pub(super) fn next(&self, pieces: &mut Pieces) -> Option<Piece> {
        while pieces.next < pieces.end
            && let Some(page) = self.pages.get(pieces.page)
        {
            let base = page.number * PAGE;
            let from = pieces.next.saturating_sub(base);
            if let Some(bit) = (from < PAGE).then(|| page.cuts.next(from)).flatten() {
                let begin = base + bit;
                pieces.next = begin.saturating_add(1);
                let object = page.touched.has(bit).then(|| page.touched.rank(bit));
                return (begin < pieces.end).then(|| Piece { number: page.cuts.rank(bit), object, begin });
            }
            pieces.page += 1;
        }
        None
    }

    /// Returns where the piece after the one that begins there begins.
    pub(super) fn end_of(&self, begin: u64) -> u64 {
        let mut rest = self.pieces((begin.saturating_add(1), u64::MAX));
        self.next(&mut rest).map_or(begin, |piece| piece.begin)
    }

    /// Returns the index of the first page with at least this number.
    fn page_from(&self, number: u64) -> usize {
        let last = self.last.get();
        if self.pages.get(last).is_some_and(|page| page.number == number) {
            return last;
        }
        let at = self.pages.partition_point(|page| page.number < number);
        self.last.set(at);
        at
    }
}

/// A walk over pieces of memory.
#[derive(Clone, Copy)]
pub(super) struct Pieces {
    page: usize,
    next: u64,
    end: u64,
}

#[cfg(test)]
mod tests {
    use super::{PAGE, Survey};
    use std::collections::BTreeSet;

    /// Cuts memory in the obvious way, and compares.
    fn compare(accesses: &[(u64, u64)]) {
        let mut survey = Survey::default();
        accesses.iter().for_each(|&range| survey.touch(range));
        let layout = survey.finish();
        let cuts: BTreeSet<u64> = accesses.iter().flat_map(|&(begin, end)| [begin, end]).collect();
        let is_touched = |at: u64| accesses.iter().any(|&(begin, end)| (begin..end).contains(&at));
        let mut objects = 0;
        let all = cuts.iter().zip(0..).map(|(&begin, number)| {
            let object = is_touched(begin).then(|| {
                objects += 1;
                objects - 1
            });
            (number, object, begin)
        });
        let all: Vec<(u32, Option<u32>, u64)> = all.collect();
        let found = |range: (u64, u64)| {
            let mut pieces = layout.pieces(range);
            let next = || layout.next(&mut pieces).map(|piece| (piece.number, piece.object, piece.begin));
            std::iter::from_fn(next).collect::<Vec<_>>()
        };
        assert_eq!(found((0, u64::MAX)), all, "{accesses:?}");
        assert_eq!(layout.len(), all.len());
        let ends = accesses.iter().copied().chain(accesses.windows(2).map(|pair| (pair[0].0 + 1, pair[1].1 + 3)));
        for (begin, end) in ends {
            let expected: Vec<_> = all.iter().copied().filter(|piece| (begin..end).contains(&piece.2)).collect();
            assert_eq!(found((begin, end)), expected, "{begin}..{end} of {accesses:?}");
        }
        for pair in all.windows(2) {
            assert_eq!(layout.end_of(pair[0].2), pair[1].2);
        }
    }

    #[test]
    fn pages_are_cut_like_lists() {
        compare(&[]);
        compare(&[(PAGE - 4, PAGE)]);
        compare(&[(PAGE - 4, PAGE + 4), (PAGE, PAGE + 8), (PAGE - 4, PAGE - 2)]);
        compare(&[(8, 8 + 3 * PAGE), (PAGE, PAGE + 4), (5 * PAGE, 5 * PAGE + 1)]);
        let mut state = 1_u64;
        let mut below = |end: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % end
        };
        for _ in 0..300 {
            let accesses: Vec<(u64, u64)> = (0..1 + below(30))
                .map(|_| {
                    let begin = below(6) * PAGE + below(2) * (PAGE - 20) + below(40);
                    let length = if below(8) == 0 { 1 + below(3 * PAGE) } else { 1 + below(16) };
                    (begin, begin + length)
                })
                .collect();
            compare(&accesses);
        }
    }
}
