//! Sets of reads.
//!
//! These operations run for every instruction of an execution, so small sets, which are almost all, are plain values.

use std::rc::Rc;

/// Maximum number of reads in a set.
const MOST: usize = 24;

/// One execution of a load: a number of events of its thread, starting with the first one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Read {
    pub(crate) first: u32,
    pub(crate) count: u8,
}

/// The reads that a value depends on. Those that have decided may be missing. (With C layout, the data after the tag is
/// aligned and copied at once.)
#[derive(Clone, Debug, Default)]
#[repr(u32)]
pub(crate) enum Set {
    #[default]
    Empty,
    One {
        count: u8,
        first: u32,
    },
    Two {
        counts: [u8; 2],
        firsts: [u32; 2],
    },
    /// Boxed twice, so that a set is no larger than two words.
    Many(Rc<Vec<Read>>),
}

/// The reads of a thread that have decided, that is, have influenced what it did: later uses of them add nothing.
#[derive(Default)]
pub(crate) struct Decided {
    /// The new ones: the first event of each, and the number of its events.
    pub(crate) new: Vec<(u32, u32)>,
    /// All reads that were ever in a set and have decided, by their first event: one bit each.
    known: Vec<u64>,
    /// Scratch space for unions.
    union: Vec<Read>,
}

impl Decided {
    fn contains(&self, read: Read) -> bool {
        let word = self.known.get(read.first as usize / 64);
        word.is_some_and(|word| word >> (read.first % 64) & 1 == 1)
    }

    fn insert(&mut self, read: Read) {
        let at = read.first as usize / 64;
        if self.known.len() <= at {
            self.known.resize(at + 1, 0);
        }
        self.known[at] |= 1 << (read.first % 64);
        self.new.push((read.first, read.count.into()));
    }
}

impl Set {
    /// Returns a set of one read, which has at least one event.
    pub(crate) fn of(Read { first, count }: Read) -> Self {
        Self::One { first, count }
    }

    fn len(&self) -> usize {
        match self {
            Self::Empty => 0,
            Self::One { .. } => 1,
            Self::Two { .. } => 2,
            Self::Many(reads) => reads.len(),
        }
    }

    fn get(&self, at: usize) -> Option<Read> {
        match self {
            Self::Empty => None,
            &Self::One { first, count } => (at == 0).then_some(Read { first, count }),
            Self::Two { firsts, counts } => firsts.get(at).map(|&first| Read { first, count: counts[at] }),
            Self::Many(reads) => reads.get(at).copied(),
        }
    }

    fn all(&self) -> impl Iterator<Item = Read> {
        (0..self.len()).map_while(|at| self.get(at))
    }

    /// Returns the reads that have not decided yet.
    pub(crate) fn reads(&self, decided: &Decided) -> impl Iterator<Item = Read> {
        self.all().filter(|&read| !decided.contains(read))
    }

    fn from_slice(reads: &[Read]) -> Self {
        match *reads {
            [] => Self::Empty,
            [read] => Self::of(read),
            [one, other] => Self::Two { firsts: [one.first, other.first], counts: [one.count, other.count] },
            _ => Self::Many(Rc::new(reads.to_vec())),
        }
    }

    /// Returns the union with another set. If it has too many reads, they all decide, and it is empty.
    pub(crate) fn and(self, other: &Self, decided: &mut Decided) -> Self {
        match (&self, other) {
            (_, Self::Empty) => return self,
            (Self::Empty, _) => return other.clone(),
            (Self::One { first: one, .. }, Self::One { first: same, .. }) if one == same => return self,
            (Self::Many(one), Self::Many(same)) if Rc::ptr_eq(one, same) => return self,
            _ => {}
        }
        let mut union = std::mem::take(&mut decided.union);
        union.clear();
        union.extend(self.reads(decided));
        let own = union.len();
        for read in other.reads(decided) {
            if !union[..own].contains(&read) {
                union.push(read);
            }
        }
        let set = if union.len() == own && own == self.len() {
            self
        } else if union.len() <= MOST {
            Self::from_slice(&union)
        } else {
            union.iter().for_each(|&read| decided.insert(read));
            Self::Empty
        };
        decided.union = union;
        set
    }

    /// Makes all reads of the set decide.
    pub(crate) fn decide(&self, decided: &mut Decided) {
        for read in self.all() {
            if !decided.contains(read) {
                decided.insert(read);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Decided, MOST, Read, Set};

    fn set(firsts: std::ops::Range<u32>, decided: &mut Decided) -> Set {
        firsts.fold(Set::Empty, |set, first| set.and(&Set::of(Read { first, count: 1 }), decided))
    }

    fn firsts(set: &Set, decided: &Decided) -> Vec<u32> {
        set.reads(decided).map(|read| read.first).collect()
    }

    #[test]
    fn unions_of_all_sizes_have_each_read_once() {
        let mut decided = Decided::default();
        for (one, other) in [(0..1, 0..1), (0..1, 1..2), (0..2, 1..3), (0..5, 3..9), (0..9, 2..4)] {
            let both: Vec<u32> = (0..one.end.max(other.end)).collect();
            let union = set(one, &mut decided).and(&set(other, &mut decided), &mut decided);
            assert_eq!(firsts(&union, &decided), both);
        }
        assert!(decided.new.is_empty());
        assert_eq!(size_of::<Set>(), 16);
    }

    #[test]
    fn what_has_decided_is_in_no_set_and_given_out_once() {
        let mut decided = Decided::default();
        let (all, some) = (set(0..4, &mut decided), set(1..3, &mut decided));
        some.decide(&mut decided);
        assert_eq!(decided.new, [(1, 1), (2, 1)]);
        assert_eq!(firsts(&all, &decided), [0, 3]);
        assert_eq!(firsts(&all.clone().and(&some, &mut decided), &decided), [0, 3]);
        all.decide(&mut decided);
        assert_eq!(decided.new, [(1, 1), (2, 1), (0, 1), (3, 1)]);
    }

    #[test]
    fn too_many_reads_decide() {
        let mut decided = Decided::default();
        let most = set(0..MOST as u32, &mut decided);
        assert_eq!(firsts(&most, &decided).len(), MOST);
        let more = most.and(&set(100..101, &mut decided), &mut decided);
        assert!(matches!(more, Set::Empty));
        assert_eq!(decided.new.len(), MOST + 1);
    }
}
