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

/// The time of one hunt.
pub(crate) struct Pace {
    clock: Clock,
    began: Instant,
    time: Option<Duration>,
    stop: StopSign,
    /// Time spent on explaining, and the number of bugs explained.
    spent: Duration,
    explained: u32,
}

impl Pace {
    /// Returns the time of a hunt that began then, with its limit.
    pub(crate) fn new(clock: Clock, began: Instant, time: Option<Duration>, stop: StopSign) -> Self {
        let pace = Self { clock, began, time, stop, spent: Duration::ZERO, explained: 0 };
        pace.stop.set_deadline(pace.deadline());
        pace
    }

    /// Returns when exploring ends.
    fn deadline(&self) -> Option<Instant> {
        self.time.map(|time| self.began + time)
    }

    /// Returns when everything ends. The time left after that is for saving.
    fn end(&self) -> Option<Instant> {
        self.time.map(|time| self.began + time + GRACE.max(time / 10) / 2)
    }

    /// Returns true if it is time to stop exploring; `waiting` is the number of bugs that wait to be explained.
    pub(crate) fn is_over(&self, waiting: usize) -> bool {
        let (Some(time), Some(deadline)) = (self.time, self.deadline()) else { return false };
        let usual = self.spent.checked_div(self.explained).unwrap_or_default();
        let reserve = usual.saturating_mul(u32::try_from(waiting).unwrap_or(u32::MAX)).min(time / 4);
        self.clock.now() + reserve >= deadline
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
    fn without_a_limit_nothing_depends_on_the_clock() {
        let (clock, now, began) = clock();
        let mut pace = Pace::new(clock, began, None, StopSign::default());
        pace.explain(9, |patience| assert_eq!(patience, PATIENCE));
        after(&now, Duration::from_secs(1_000_000));
        assert!(pace.explains_now() && !pace.is_over(99) && !pace.is_at_its_end());
    }
}
