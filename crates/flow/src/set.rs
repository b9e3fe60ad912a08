//! Sets of reads.

use std::cell::Cell;
use std::rc::Rc;

/// One execution of a load: so many events of its thread, from the first one on.
#[derive(Debug)]
pub(crate) struct Read {
    pub(crate) first: u32,
    pub(crate) count: u32,
    /// It has had a say in what its thread did: nothing that is found out about it later adds to that.
    decided: Cell<bool>,
}

/// The reads that a value is made of. Those that have decided need not be in it.
#[derive(Clone, Debug, Default)]
pub(crate) enum Set {
    #[default]
    Empty,
    One(Rc<Read>),
    Many(Rc<[Rc<Read>]>),
}

/// Reads that have decided: the first event of each, and how many it has.
pub(crate) type Decided = Vec<(u32, u32)>;

/// Reads in one set, at most.
const MOST: usize = 24;

impl Set {
    pub(crate) fn of(first: u32, count: u32) -> Self {
        Self::One(Rc::new(Read { first, count, decided: Cell::new(false) }))
    }

    /// The reads that have not decided yet.
    pub(crate) fn reads(&self) -> impl Iterator<Item = &Rc<Read>> {
        let all = match self {
            Self::Empty => &[],
            Self::One(read) => std::slice::from_ref(read),
            Self::Many(reads) => &reads[..],
        };
        all.iter().filter(|read| !read.decided.get())
    }

    /// The union with another set. When it has too many reads, they are given out as such that decide, and it is empty.
    pub(crate) fn and(self, other: &Self, decided: &mut Decided) -> Self {
        match (&self, other) {
            (_, Self::Empty) => return self,
            (Self::Empty, _) => return other.clone(),
            (Self::One(one), Self::One(same)) if Rc::ptr_eq(one, same) => return self,
            (Self::Many(one), Self::Many(same)) if Rc::ptr_eq(one, same) => return self,
            _ => {}
        }
        let mut reads: Vec<Rc<Read>> = self.reads().cloned().collect();
        for read in other.reads() {
            if !reads.iter().any(|known| Rc::ptr_eq(known, read)) {
                reads.push(read.clone());
            }
        }
        match reads.len() {
            0 => Self::Empty,
            1 => Self::One(reads.swap_remove(0)),
            2..=MOST => Self::Many(reads.into()),
            _ => {
                Self::Many(reads.into()).decide(decided);
                Self::Empty
            }
        }
    }

    /// All reads of the set have decided; those that had not before are given out.
    pub(crate) fn decide(&self, decided: &mut Decided) {
        for read in self.reads() {
            decided.push((read.first, read.count));
            read.decided.set(true);
        }
    }
}
