//! Following a plan: its switches, which events need attention, and the length of turns.

use crate::{CodeAddress, EventNumber, ThreadId};
use racehunter_abi::Switch;

/// An event that no execution reaches.
pub const FAR: EventNumber = EventNumber(1 << 60);

/// The position of a thread before an event: what a [`Switch`] is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// The thread.
    pub thread: ThreadId,
    /// Code address of its next operation, relative to the executable.
    pub code: CodeAddress,
}

impl Standing {
    /// Returns true if a switch means this position. One without a code address means any position of the thread.
    #[must_use]
    pub const fn is_meant(self, switch: &Switch) -> bool {
        switch.from.0 == self.thread.0 && (!switch.code.is_known() || switch.code.0 == self.code.0)
    }
}

/// The switches of a plan that are still to be made, in the order of their events.
#[derive(Clone, Copy, Debug)]
pub struct Switches<'a>(&'a [Switch]);

impl<'a> Switches<'a> {
    /// No switches.
    pub const NONE: Self = Self(&[]);

    /// Returns all switches of a plan.
    #[must_use]
    pub const fn new(switches: &'a [Switch]) -> Self {
        Self(switches)
    }

    /// Returns the next switch.
    #[inline]
    #[must_use]
    pub const fn next(&self) -> Option<&'a Switch> {
        self.0.first()
    }

    /// Returns the event before which the next switch is due.
    #[inline]
    #[must_use]
    pub fn next_at(&self) -> Option<EventNumber> {
        self.next().map(|switch| switch.at)
    }

    /// Returns true if a switch is due before event `n`, or overdue.
    #[inline]
    #[must_use]
    pub fn is_due(&self, n: EventNumber) -> bool {
        self.next_at().is_some_and(|at| at <= n)
    }

    /// Takes the switch that is due before event `n`, or overdue.
    pub fn take_due(&mut self, n: EventNumber) -> Option<&'a Switch> {
        let (first, rest) = self.0.split_first()?;
        if first.at > n {
            return None;
        }
        self.0 = rest;
        Some(first)
    }

    /// Returns true if the plan says that a thread at this position does not perform event `n`. It may say so more than
    /// once: the execution that it repeats may have held the thread that was chosen first.
    #[must_use]
    pub fn speaks_of(&self, n: EventNumber, standing: impl FnOnce() -> Standing) -> bool {
        self.next().is_some_and(|next| next.at == n && standing().is_meant(next))
    }

    /// Returns true if a switch is made at event `n` from code at this address, by any thread.
    #[must_use]
    pub fn speaks_of_code(&self, n: EventNumber, code: impl FnOnce() -> CodeAddress) -> bool {
        self.next().is_some_and(|next| next.at == n && (!next.code.is_known() || next.code == code()))
    }

    /// Returns true if a switch is made at event `n` from a thread, at any position.
    #[must_use]
    pub fn speaks_of_thread(&self, n: EventNumber, thread: ThreadId) -> bool {
        self.next().is_some_and(|next| next.at == n && next.from == thread)
    }

    /// Skips the switches before event `n`, which were already made.
    pub fn skip_before(&mut self, n: EventNumber) {
        let made = self.0.iter().take_while(|switch| switch.at < n).count();
        self.0 = &self.0[made..];
    }

    /// Drops all remaining switches.
    pub fn drop_all(&mut self) {
        self.0 = &[];
    }
}

/// The next event that needs attention, while it is being computed. Events before it are only counted.
#[derive(Clone, Copy, Debug)]
pub struct Horizon {
    now: EventNumber,
    at: EventNumber,
}

impl Horizon {
    /// Starts after event `now`, if nothing needs attention.
    #[inline]
    #[must_use]
    pub const fn after(now: EventNumber) -> Self {
        Self { now, at: EventNumber(now.0 + FAR.0 / 2) }
    }

    /// Notes that event `at` needs attention, even if it is overdue.
    #[inline]
    #[must_use]
    pub fn due(self, at: EventNumber) -> Self {
        Self { at: self.at.min(at), ..self }
    }

    /// Notes that event `at` needs attention, unless it has already happened.
    #[inline]
    #[must_use]
    pub fn once(self, at: EventNumber) -> Self {
        if at > self.now { self.due(at) } else { self }
    }

    /// Returns that event, which is at least the next one.
    #[inline]
    #[must_use]
    pub fn event(self) -> EventNumber {
        self.at.max(self.now.next())
    }
}

/// Returns the first event that an execution must not reach. Of `most` events (0 means any number), those before the
/// first thread is created do not count: they are the same in every schedule, and may take any time. If they are
/// logged, the execution gets no further than the limit.
#[must_use]
pub const fn limit(most: u64, started_at: Option<EventNumber>, is_observed: bool) -> EventNumber {
    match (most, started_at) {
        (0, _) => FAR,
        (most, Some(started_at)) => EventNumber(most.saturating_add(started_at.0)),
        (most, None) if is_observed => EventNumber(most),
        (_, None) => FAR,
    }
}

/// What happens after the end of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TurnEnd {
    /// No other thread can run, so this one gets another turn.
    Alone,
    /// It is over: others run first.
    Over,
    /// The thread is to be watched for a while, to find out whether it only waits: [`Turn::watch_until`].
    Watch,
    /// It was watched. It gets another turn if it was busy.
    IfBusy,
}

/// The turn of the running thread: the events that it performs in a row.
#[derive(Clone, Copy, Debug)]
pub struct Turn {
    /// Number of events of a turn; 0 for any number.
    length: u64,
    began: EventNumber,
    /// The first event at which the turn may be too long.
    ends: EventNumber,
    is_watched: bool,
}

impl Turn {
    /// Maximum number of turns in a row.
    const MOST: u64 = 32;

    /// A turn without an end.
    pub const ENDLESS: Self =
        Self { length: 0, began: EventNumber::START, ends: EventNumber::START, is_watched: false };

    /// Sets the length of turns, from the next one on.
    pub const fn set_length(&mut self, length: u64) {
        self.length = length;
    }

    /// Returns the length of turns; 0 for any length.
    #[must_use]
    pub const fn length(&self) -> u64 {
        self.length
    }

    /// Returns the event with which it began.
    #[must_use]
    pub const fn began(&self) -> EventNumber {
        self.began
    }

    /// Starts a turn with event `n`.
    #[inline]
    pub const fn begin(&mut self, n: EventNumber) {
        self.began = n;
        self.ends = EventNumber(n.0 + self.length);
        self.is_watched = false;
    }

    /// Returns the event that ends it, if one does.
    #[inline]
    #[must_use]
    pub const fn end(&self) -> Option<EventNumber> {
        if self.length == 0 { None } else { Some(self.ends) }
    }

    /// Returns true if it has ended before event `n`.
    #[inline]
    #[must_use]
    pub fn has_ended(&self, n: EventNumber) -> bool {
        self.end().is_some_and(|end| n >= end)
    }

    /// Returns where the current turn of the only thread began, which gets one turn after another, when `now` events
    /// have happened.
    #[must_use]
    pub const fn began_alone(&self, now: EventNumber) -> EventNumber {
        match now.0.checked_rem(self.length) {
            Some(into) => EventNumber(now.0 - into),
            None => EventNumber::START,
        }
    }

    /// Decides what happens after a turn that ended before event `n`. A strict turn is over whatever the thread does.
    pub const fn review(&mut self, n: EventNumber, others: bool, is_strict: bool) -> TurnEnd {
        if !others {
            self.begin(n);
            return TurnEnd::Alone;
        }
        if is_strict || n.0 >= self.began.0 + Self::MOST * self.length {
            return TurnEnd::Over;
        }
        if !self.is_watched {
            self.is_watched = true;
            return TurnEnd::Watch;
        }
        self.is_watched = false;
        self.ends = EventNumber(n.0 + self.length);
        TurnEnd::IfBusy
    }

    /// Watches the thread until this event.
    pub const fn watch_until(&mut self, n: EventNumber) {
        self.ends = n;
    }
}

#[cfg(test)]
mod tests;
