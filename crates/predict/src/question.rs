//! Questions about a trace, and their answers.

use racehunter_trace::EventId;

/// Asks whether a reordering of the trace ends like this.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// Events of different threads that are all about to happen at the end: none has happened, and each is the next of
    /// its thread.
    pub next: Vec<EventId>,
    /// Events of other threads that have happened.
    pub done: Vec<EventId>,
    /// Pairs of events that happen, in this order.
    pub before: Vec<(EventId, EventId)>,
}

impl Question {
    /// Asks whether these events can be about to happen together.
    #[must_use]
    pub fn together(next: Vec<EventId>) -> Self {
        Self { next, done: Vec::new(), before: Vec::new() }
    }

    /// Returns all events that it names.
    pub(crate) fn events(&self) -> impl Iterator<Item = EventId> + '_ {
        let pairs = self.before.iter().flat_map(|&(first, second)| [first, second]);
        self.next.iter().chain(&self.done).copied().chain(pairs)
    }
}

/// A reordering: a prefix of the trace as it was, then these events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    /// The number of events at the start of the trace that happen as they did.
    pub frozen: u32,
    /// The events after that.
    pub tail: Tail,
}

/// A sequence of events, as runs of consecutive events of the trace, which are usually long.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tail {
    /// First event and length of each run.
    runs: Vec<(EventId, u32)>,
    len: usize,
}

impl Tail {
    /// Returns the events, in order.
    pub fn iter(&self) -> impl Iterator<Item = EventId> + '_ {
        self.runs.iter().flat_map(|&(first, length)| first..first + length)
    }

    /// Returns the number of events.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns true if there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl FromIterator<EventId> for Tail {
    fn from_iter<I: IntoIterator<Item = EventId>>(events: I) -> Self {
        let mut tail = Self::default();
        for event in events {
            tail.len += 1;
            match tail.runs.last_mut() {
                Some((first, length)) if first.checked_add(*length) == Some(event) => *length += 1,
                _ => tail.runs.push((event, 1)),
            }
        }
        tail.runs.shrink_to_fit();
        tail
    }
}

impl Witness {
    /// Returns all its events, in order.
    pub fn events(&self) -> impl Iterator<Item = EventId> + '_ {
        (0..self.frozen).chain(self.tail.iter())
    }

    /// Returns the number of events.
    #[must_use]
    pub fn len(&self) -> usize {
        self.frozen as usize + self.tail.len()
    }

    /// Returns true if nothing has to happen.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
