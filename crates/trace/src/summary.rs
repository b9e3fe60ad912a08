//! The contents of a trace, in numbers.

use crate::{Op, Subject, Trace};

/// The contents of a trace, in numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// All events.
    pub events: u64,
    /// Events of each operation, by its number.
    pub by_op: [u64; Op::ALL.len()],
    /// Events of each thread, with its name, by number.
    pub by_thread: Vec<(String, u64)>,
    /// Objects of each kind, by its number.
    pub objects: [u64; Subject::ALL.len()],
    /// Locations that at least two threads touch, one of them writing.
    pub shared: u64,
    /// Sites.
    pub sites: u64,
    /// True if branches were recorded.
    pub branches: bool,
    /// True if dependences were recorded.
    pub dependences: bool,
}

impl Summary {
    /// Counts the contents of a trace.
    #[must_use]
    pub fn of(trace: &Trace) -> Self {
        let mut summary = Self {
            events: trace.len() as u64,
            by_thread: trace.threads().iter().map(|name| (name.clone(), 0)).collect(),
            sites: trace.sites().len() as u64,
            branches: trace.has_branches(),
            dependences: trace.dependences().is_some(),
            ..Self::default()
        };
        for object in trace.objects() {
            summary.objects[object.subject as usize] += 1;
        }
        // Per location: the only thread so far (or that there are several), and whether any thread writes.
        const NOBODY: u32 = u32::MAX;
        const SEVERAL: u32 = u32::MAX - 1;
        let mut users = vec![(NOBODY, false); trace.objects().len()];
        for event in trace.events() {
            summary.by_op[event.op as usize] += 1;
            summary.by_thread[usize::from(event.thread)].1 += 1;
            if event.op.is_access() {
                let (user, written) = &mut users[event.object as usize];
                let thread = u32::from(event.thread);
                *user = if *user == NOBODY || *user == thread { thread } else { SEVERAL };
                *written |= event.op.writes();
            }
        }
        summary.shared = users.iter().filter(|(user, written)| *user == SEVERAL && *written).count() as u64;
        summary
    }

    /// Returns the number of objects of a kind.
    #[must_use]
    pub fn objects_of(&self, subject: Subject) -> u64 {
        self.objects[subject as usize]
    }
}
