//! The first pass over a log: which threads there are, and which memory is touched.

use racehunter_event::{Kind, Record};

/// What must be known of a whole log before it can be converted.
pub struct Survey {
    /// Where accesses begin (+1) and end (-1), by address; several entries for one address may wait to be added up.
    edges: Vec<(u64, i64)>,
    /// Entries that were added up already.
    settled: usize,
    threads: Vec<Option<String>>,
    /// Threads that each thread has made.
    children: Vec<u32>,
}

impl Default for Survey {
    fn default() -> Self {
        Self { edges: Vec::new(), settled: 0, threads: vec![Some("main".to_owned())], children: vec![0] }
    }
}

impl Survey {
    /// Reads the next records of the log.
    pub fn add(&mut self, records: &[Record]) {
        for record in records.iter().filter(|record| record.kind.is_event()) {
            self.know(record.thread.into());
            match record.kind {
                Kind::Create => self.create(record),
                Kind::Join => self.know(record.object),
                kind if kind.is_access() => {
                    let (begin, end) = range(record);
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

    fn know(&mut self, thread: u64) {
        let count = usize::try_from(thread).unwrap_or(usize::MAX).saturating_add(1).min(1 << 16);
        if self.threads.len() < count {
            self.threads.resize(count, None);
            self.children.resize(count, 0);
        }
    }

    fn create(&mut self, record: &Record) {
        self.know(record.object);
        let parent = record.thread as usize;
        let (Some(children), Some(Some(path))) = (self.children.get_mut(parent), self.threads.get(parent)) else {
            return;
        };
        *children += 1;
        let path = format!("{path}/{children}");
        if let Some(child) = self.threads.get_mut(record.object as usize) {
            child.get_or_insert(path);
        }
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

    /// What was found out.
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
        let name = |(number, path): (usize, Option<String>)| path.unwrap_or_else(|| format!("T{number}"));
        Layout { cuts, numbers, threads: self.threads.into_iter().enumerate().map(name).collect() }
    }
}

/// Which threads there are, and how memory is cut.
pub struct Layout {
    /// Where pieces begin, ascending.
    pub(super) cuts: Vec<u64>,
    /// The object that each piece is at first; nothing for what lies between accesses.
    pub(super) numbers: Vec<Option<u32>>,
    /// Names of the threads: their paths in the family tree.
    pub(super) threads: Vec<String>,
}

impl Layout {
    /// Whether any access touches a piece.
    pub(super) fn is_touched(&self, piece: usize) -> bool {
        self.numbers.get(piece).is_some_and(Option::is_some)
    }

    /// The pieces of a range, all of whose ends are cuts.
    pub(super) fn pieces(&self, (begin, end): (u64, u64)) -> std::ops::Range<usize> {
        let first = self.cuts.partition_point(|&cut| cut < begin);
        let mut last = first;
        while self.cuts.get(last).is_some_and(|&cut| cut < end) {
            last += 1;
        }
        first..last
    }
}

/// The memory that an event touches: first address and first address after it.
pub(super) fn range(record: &Record) -> (u64, u64) {
    let length = match record.kind {
        Kind::ReadRange | Kind::WriteRange | Kind::Free => record.extra,
        _ => record.size.into(),
    };
    (record.object, record.object.saturating_add(length.max(1)))
}
