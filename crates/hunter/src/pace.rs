//! Divides the time of a hunt between exploring and explaining.
//!
//! Without `--time` there is nothing to divide: every bug is explained when it is found, and nothing depends on the clock.

use crate::Clock;
use racehunter_explain::PATIENCE;
use racehunter_launch::StopSign;
use std::time::{Duration, Instant};

/// Maximum time for explaining a bug, if time is limited.
const LONGEST: Duration = Duration::from_secs(10);
/// Minimum time for explaining a bug; less is not worth starting.
const SHORTEST: Duration = Duration::from_millis(50);
/// A hunt may take this much longer than its limit.
const GRACE: Duration = Duration::from_secs(1);

/// What learning from a record of a log is assumed to take, until it is known.
const PER_RECORD: Duration = Duration::from_nanos(500);
/// Learning that takes no longer than this is never refused.
const BRIEFLY: Duration = Duration::from_millis(100);

/// The time of one hunt.
pub(crate) struct Pace {
    clock: Clock,
    began: Instant,
    time: Option<Duration>,
    stop: StopSign,
    /// Time spent on explaining, and the number of bugs explained.
    spent: Duration,
    explained: u32,
    /// What learning from a record takes.
    per_record: Duration,
    /// When learning from the last execution began, and its number of records.
    learning: Option<(Instant, u32)>,
}

impl Pace {
    /// Returns the time of a hunt that began then, with its limit.
    pub(crate) fn new(clock: Clock, began: Instant, time: Option<Duration>, stop: StopSign) -> Self {
        let pace = Self {
            clock,
            began,
            time,
            stop,
            spent: Duration::ZERO,
            explained: 0,
            per_record: PER_RECORD,
            learning: None,
        };
        pace.stop.set_deadline(pace.deadline());
        pace
    }

    /// Returns when exploring ends.
    fn deadline(&self) -> Option<Instant> {
        self.time.map(|time| self.began + time)
    }

    /// Returns when everything ends. The time left after that is for saving.
    pub(crate) fn end(&self) -> Option<Instant> {
        self.time.map(|time| self.began + time + GRACE.max(time / 10) / 2)
    }

    /// Returns true if it is time to stop exploring; `waiting` is the number of bugs that wait to be explained.
    pub(crate) fn is_over(&self, waiting: usize) -> bool {
        let (Some(time), Some(deadline)) = (self.time, self.deadline()) else { return false };
        let usual = self.spent.checked_div(self.explained).unwrap_or_default();
        let reserve = usual.saturating_mul(u32::try_from(waiting).unwrap_or(u32::MAX)).min(time / 4);
        self.clock.now() + reserve >= deadline
    }

    /// Returns true if there is time to learn from an execution with this many records, as far as that can be told from those before.
    pub(crate) fn has_time_for(&mut self, records: usize) -> bool {
        let Some(deadline) = self.deadline() else { return true };
        let records = u32::try_from(records).unwrap_or(u32::MAX);
        let takes = self.per_record.saturating_mul(records);
        self.learning = Some((self.clock.now(), records));
        takes <= BRIEFLY || takes <= self.clock.until(deadline)
    }

    /// Notes that the execution of the last [`Pace::has_time_for`] was taken in.
    pub(crate) fn learnt(&mut self) {
        /// Logs with fewer records do not show what a record takes.
        const MANY: u32 = 20_000;
        if let Some((began, records)) = self.learning.take().filter(|(_, records)| *records >= MANY) {
            let took = self.clock.since(began) / records;
            // Analyses take turns, and one may take longer than another.
            self.per_record = took.max((self.per_record * 3 + took) / 4);
        }
    }

    /// Returns true if a bug is to be explained now rather than later: explaining takes at most half of the elapsed
    /// time.
    pub(crate) fn explains_now(&self) -> bool {
        self.time.is_none() || self.explained == 0 || self.spent < self.clock.since(self.began) / 2
    }

    /// Returns the time to spend on minimising the next bug; `waiting` is the number of bugs after it.
    fn patience(&self, waiting: usize) -> Duration {
        let (Some(time), Some(deadline)) = (self.time, self.deadline()) else { return PATIENCE };
        let left = self.clock.until(deadline);
        let share = left / u32::try_from(waiting + 1).unwrap_or(u32::MAX);
        (time / 10).min(LONGEST).min(share.max(SHORTEST))
    }

    /// Returns true if there is not enough time for another replay.
    pub(crate) fn is_at_its_end(&self) -> bool {
        self.end().is_some_and(|end| self.clock.now() >= end)
    }

    /// Explains a bug within the time that is available.
    pub(crate) fn explain<T>(&mut self, waiting: usize, work: impl FnOnce(Duration) -> T) -> T {
        let began = self.clock.now();
        self.stop.set_deadline(self.end());
        let result = work(self.patience(waiting));
        self.stop.set_deadline(self.deadline());
        self.spent += self.clock.since(began);
        self.explained += 1;
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    /// Returns a clock that stands still until it is set.
    fn clock() -> (Clock, Arc<Mutex<Instant>>, Instant) {
        let began = Instant::now();
        let now = Arc::new(Mutex::new(began));
        let hands = Arc::clone(&now);
        (Clock::new(move || *hands.lock().expect("the lock is not poisoned")), now, began)
    }

    fn after(now: &Mutex<Instant>, time: Duration) {
        *now.lock().expect("the lock is not poisoned") += time;
    }

    #[test]
    fn explaining_gets_half_of_the_time_that_has_passed() {
        let (clock, now, began) = clock();
        let mut pace = Pace::new(clock, began, Some(Duration::from_secs(60)), StopSign::default());
        assert!(pace.explains_now(), "the first bug is explained at once");
        after(&now, Duration::from_secs(2));
        pace.explain(0, |patience| {
            assert_eq!(patience, Duration::from_secs(6), "a tenth of the time");
            after(&now, Duration::from_secs(4));
        });
        assert!(!pace.explains_now(), "4 of 6 seconds");
        after(&now, Duration::from_secs(3));
        assert!(pace.explains_now(), "4 of 9 seconds");
    }

    #[test]
    fn exploring_ends_early_enough_to_explain_what_waits() {
        let (clock, now, began) = clock();
        let mut pace = Pace::new(clock, began, Some(Duration::from_secs(60)), StopSign::default());
        pace.explain(0, |_| after(&now, Duration::from_secs(5)));
        after(&now, Duration::from_secs(48));
        assert!(!pace.is_over(1), "53 + 5 of 60 seconds");
        assert!(pace.is_over(2), "53 + 10 of 60 seconds");
        assert!(!pace.is_at_its_end());
        after(&now, Duration::from_secs(10));
        assert!(pace.is_over(0) && pace.is_at_its_end(), "63 of 60 seconds, and 3 more at most");
    }

    #[test]
    fn learning_from_a_log_must_fit_into_the_time_that_is_left() {
        let (clock, now, began) = clock();
        let mut pace = Pace::new(clock, began, Some(Duration::from_secs(5)), StopSign::default());
        assert!(pace.has_time_for(8_000_000), "half a second for a million records, until more is known");
        after(&now, Duration::from_secs(2));
        pace.learnt();
        assert!(!pace.has_time_for(20_000_000), "3 seconds are left, and it would take 8");
        assert!(pace.has_time_for(6_000_000));
        after(&now, Duration::from_secs(3));
        pace.learnt();
        assert!(!pace.has_time_for(1_000_000) && pace.has_time_for(100_000), "little is always learnt from");
    }

    #[test]
    fn without_a_limit_nothing_depends_on_the_clock() {
        let (clock, now, began) = clock();
        let mut pace = Pace::new(clock, began, None, StopSign::default());
        pace.explain(9, |patience| assert_eq!(patience, PATIENCE));
        after(&now, Duration::from_secs(1_000_000));
        assert!(pace.explains_now() && !pace.is_over(99) && !pace.is_at_its_end());
    }
}
