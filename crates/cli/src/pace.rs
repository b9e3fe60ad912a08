//! How the time of a hunt is divided between exploring and explaining what was found.
//!
//! Without `--time` there is nothing to divide: every bug is explained when it is found, and nothing depends on the clock.

use racehunter_explain::PATIENCE;
use racehunter_launch::StopSign;
use std::time::{Duration, Instant};

/// Time that explaining a bug takes at most, where time is limited.
const LONGEST: Duration = Duration::from_secs(10);
/// Less is not worth the beginning.
const SHORTEST: Duration = Duration::from_millis(50);
/// A hunt may take this much longer than it was asked to.
const GRACE: Duration = Duration::from_secs(1);

/// The time of one hunt.
pub struct Pace {
    began: Instant,
    time: Option<Duration>,
    stop: StopSign,
    /// Time that was spent on explaining, and for how many bugs.
    spent: Duration,
    explained: u32,
}

impl Pace {
    /// A hunt that began then, and may take so long.
    pub fn new(began: Instant, time: Option<Duration>, stop: StopSign) -> Self {
        let pace = Self { began, time, stop, spent: Duration::ZERO, explained: 0 };
        pace.stop.set_deadline(pace.deadline());
        pace
    }

    /// When exploring ends.
    fn deadline(&self) -> Option<Instant> {
        self.time.map(|time| self.began + time)
    }

    /// When everything ends. What is left of the time after that is for writing things down.
    fn end(&self) -> Option<Instant> {
        self.time.map(|time| self.began + time + GRACE.max(time / 10) / 2)
    }

    /// Whether it is time to stop exploring; `waiting` is the number of bugs that wait to be explained.
    pub fn is_over(&self, waiting: usize) -> bool {
        let (Some(time), Some(deadline)) = (self.time, self.deadline()) else { return false };
        let usual = self.spent.checked_div(self.explained).unwrap_or_default();
        let reserve = usual.saturating_mul(u32::try_from(waiting).unwrap_or(u32::MAX)).min(time / 4);
        Instant::now() + reserve >= deadline
    }

    /// Whether a bug is explained now, and not later: explaining takes at most half of the time that has passed.
    pub fn explains_now(&self) -> bool {
        self.time.is_none() || self.explained == 0 || self.spent < self.began.elapsed() / 2
    }

    /// Time to spend on a simple schedule for the next bug; `waiting` is the number of bugs after it.
    fn patience(&self, waiting: usize) -> Duration {
        let (Some(time), Some(deadline)) = (self.time, self.deadline()) else { return PATIENCE };
        let left = deadline.saturating_duration_since(Instant::now());
        let share = left / u32::try_from(waiting + 1).unwrap_or(u32::MAX);
        (time / 10).min(LONGEST).min(share.max(SHORTEST))
    }

    /// Whether there is no time for even one more replay.
    pub fn is_at_its_end(&self) -> bool {
        self.end().is_some_and(|end| Instant::now() >= end)
    }

    /// Explains a bug: the work is given the time that it has.
    pub fn explain<T>(&mut self, waiting: usize, work: impl FnOnce(Duration) -> T) -> T {
        let began = Instant::now();
        self.stop.set_deadline(self.end());
        let result = work(self.patience(waiting));
        self.stop.set_deadline(self.deadline());
        self.spent += began.elapsed();
        self.explained += 1;
        result
    }
}
