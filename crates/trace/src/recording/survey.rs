//! The first pass over a log: which threads there are, and which memory is touched.

use racehunter_log::{Event, FamilyTree, Record, ThreadId, entries};

/// What must be known about a whole log before it can be converted.
pub struct Survey {
    /// Where accesses begin (+1) and end (-1), by address; entries for one address are added up later.
    edges: Vec<(u64, i64)>,
    /// The number of entries that were already added up.
    settled: usize,
    /// The number of threads, and which thread created which.
    threads: usize,
    family: FamilyTree,
}

impl Default for Survey {
    fn default() -> Self {
        Self { edges: Vec::new(), settled: 0, threads: 1, family: FamilyTree::default() }
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
                Event::Access(access) => {
                    let (begin, end) = access.range();
                    self.edges.extend([(begin, 1), (end, -1)]);
                    // A loop touches the same memory repeatedly.
                    if self.edges.len() > 2 * self.settled + (1 << 16) {
                        self.settle();
                    }
                }
                _ => {}
            }
        }
    }

    fn know(&mut self, thread: ThreadId) {
        self.threads = self.threads.max((thread.index() + 1).min(1 << 16));
    }

    fn settle(&mut self) {
        self.edges.sort_unstable();
        self.edges.dedup_by(|next, first| {
            let same = next.0 == first.0;
            if same {
                first.1 = first.1.saturating_add(next.1);
            }
            same
        });
        self.settled = self.edges.len();
    }

    /// Returns the result.
    #[must_use]
    pub fn finish(mut self) -> Layout {
        self.settle();
        let mut open = 0_i64;
        let mut covered = 0;
        let mut cuts = Vec::with_capacity(self.edges.len());
        let mut numbers = Vec::with_capacity(self.edges.len());
        for (address, change) in self.edges {
            open = open.saturating_add(change);
            cuts.push(address);
            numbers.push((open > 0).then_some(covered));
            covered += u32::from(open > 0);
        }
        let name = |number: u32| self.family.name(ThreadId(number)).unwrap_or_else(|| format!("T{number}"));
        Layout { cuts, numbers, threads: (0..self.threads as u32).map(name).collect() }
    }
}

/// The threads of a log, and how memory is cut.
pub struct Layout {
    /// The start of each piece, ascending.
    pub(super) cuts: Vec<u64>,
    /// The initial object of each piece; nothing between accesses.
    pub(super) numbers: Vec<Option<u32>>,
    /// Names of the threads: their paths in the family tree.
    pub(super) threads: Vec<String>,
}

impl Layout {
    /// Returns true if any access touches a piece.
    pub(super) fn is_touched(&self, piece: usize) -> bool {
        self.numbers.get(piece).is_some_and(Option::is_some)
    }

    /// Returns the pieces of a range, all of whose ends are cuts.
    pub(super) fn pieces(&self, (begin, end): (u64, u64)) -> std::ops::Range<usize> {
        let first = self.cuts.partition_point(|&cut| cut < begin);
        let mut last = first;
        while self.cuts.get(last).is_some_and(|&cut| cut < end) {
            last += 1;
        }
        first..last
    }
}
