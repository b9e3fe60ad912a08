//! What can be asked of a trace, and the answer.

use racehunter_trace::EventId;

/// Is there a reordering of the trace that ends like this?
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// Events of different threads that are all about to happen when it ends: none has happened, each is the next of its
    /// thread.
    pub next: Vec<EventId>,
    /// Events of other threads that have happened.
    pub done: Vec<EventId>,
    /// Pairs of events that happen, in this order.
    pub before: Vec<(EventId, EventId)>,
}

impl Question {
    /// Can these events be about to happen together?
    #[must_use]
    pub fn together(next: Vec<EventId>) -> Self {
        Self { next, done: Vec::new(), before: Vec::new() }
    }

    /// All events that are named.
    pub(crate) fn events(&self) -> impl Iterator<Item = EventId> + '_ {
        let pairs = self.before.iter().flat_map(|&(first, second)| [first, second]);
        self.next.iter().chain(&self.done).copied().chain(pairs)
    }
}

/// A reordering: the beginning of the trace as it was, then these events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    /// How many events at the beginning of the trace happen as they did.
    pub frozen: u32,
    /// What happens then.
    pub tail: Vec<EventId>,
}

impl Witness {
    /// All its events, in order.
    pub fn events(&self) -> impl Iterator<Item = EventId> + '_ {
        (0..self.frozen).chain(self.tail.iter().copied())
    }

    /// Number of events.
    #[must_use]
    pub fn len(&self) -> usize {
        self.frozen as usize + self.tail.len()
    }

    /// True when nothing has to happen.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
