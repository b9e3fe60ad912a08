//! Timers in virtual time: when they expire, how often they did, and how programs write their settings.

use crate::{Clock, Deadline, SECOND, Timespec, VirtualTime};

/// When a timer expires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timer {
    /// The next expiry; never if it is not set.
    pub deadline: Deadline,
    /// Nanoseconds from one expiration to the next, 0 if there is only one.
    pub interval: u64,
}

impl Timer {
    /// A timer that is not set.
    pub const STOPPED: Self = Self { deadline: Deadline::NEVER, interval: 0 };

    /// Returns the nanoseconds until it expires, at least 1; 0 if it is not set.
    #[must_use]
    pub fn left(&self, time: &VirtualTime) -> u64 {
        if self.deadline.is_never() { 0 } else { time.until(self.deadline).max(1) }
    }

    /// Lets it expire, possibly late. Returns how many further expirations it has missed.
    pub fn expire(&mut self, time: &VirtualTime) -> u64 {
        let missed = time.since(self.deadline).checked_div(self.interval);
        self.deadline = match missed {
            Some(missed) if !self.deadline.is_never() => {
                let periods = missed.saturating_add(1).saturating_mul(self.interval);
                Deadline::at(self.deadline.nanoseconds().saturating_add(periods))
            }
            _ => Deadline::NEVER,
        };
        missed.unwrap_or(0)
    }
}

/// A setting as the program writes it (`struct itimerspec`, `struct itimerval`), in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimerSetting {
    /// From one expiration to the next.
    pub interval: u64,
    /// Until the first one; 0 stops the timer.
    pub first: u64,
}

impl TimerSetting {
    /// Stops a timer.
    pub const STOPPED: Self = Self { interval: 0, first: 0 };

    /// Parses seconds and a part of a second in units of `unit` nanoseconds; returns nothing if the part is invalid.
    #[must_use]
    pub fn read([interval, first]: [[i64; 2]; 2], unit: u64) -> Option<Self> {
        let nanoseconds = |[seconds, part]: [i64; 2]| {
            let valid = seconds >= 0 && part >= 0 && (part as u64) < SECOND / unit;
            valid.then(|| (seconds as u64).saturating_mul(SECOND).saturating_add(part as u64 * unit))
        };
        Some(Self { interval: nanoseconds(interval)?, first: nanoseconds(first)? })
    }

    /// Returns the setting that a timer has.
    #[must_use]
    pub fn of(timer: &Timer, time: &VirtualTime) -> Self {
        Self { interval: timer.interval, first: timer.left(time) }
    }

    /// The inverse of [`Self::read`]. Parts are rounded up, so that a timer that is set never seems to be stopped.
    #[must_use]
    pub fn write(&self, unit: u64) -> [[i64; 2]; 2] {
        [self.interval, self.first].map(|nanoseconds| {
            let Timespec([seconds, part]) = Timespec::from_nanoseconds(nanoseconds.div_ceil(unit).saturating_mul(unit));
            [seconds, part / unit as i64]
        })
    }

    /// Returns when a timer with this setting first expires: this long from now, or when a clock shows it. Also returns
    /// how many of its expirations have already passed.
    #[must_use]
    pub fn start(&self, time: &VirtualTime, clock: Option<Clock>) -> (Deadline, u64) {
        match (self.first, clock) {
            (0, _) => (Deadline::NEVER, 0),
            (first, None) => (time.after(first), 0),
            (first, Some(clock)) => {
                let over = time.shown(clock).saturating_sub(first);
                let owed = over.checked_div(self.interval).unwrap_or(0);
                (clock.deadline(first + owed * self.interval), owed)
            }
        }
    }
}

/// Returns the result of `alarm` for the remaining nanoseconds: rounded, but never 0 while the alarm is set.
#[must_use]
pub const fn seconds_left(nanoseconds: u64) -> u64 {
    let rounded = nanoseconds.saturating_add(SECOND / 2) / SECOND;
    if rounded == 0 && nanoseconds > 0 { 1 } else { rounded }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(now: u64) -> VirtualTime {
        let mut time = VirtualTime::START;
        time.reach(Deadline::at(now));
        time
    }

    fn timer(deadline: u64, interval: u64) -> Timer {
        Timer { deadline: Deadline::at(deadline), interval }
    }

    #[test]
    fn a_stopped_timer_has_nothing_left() {
        assert_eq!(Timer::STOPPED.left(&at(5)), 0);
    }

    #[test]
    fn a_timer_that_is_due_has_something_left() {
        assert_eq!(timer(5, 0).left(&at(5)), 1);
        assert_eq!(timer(5, 0).left(&at(50)), 1);
    }

    #[test]
    fn left_is_the_time_until_it_expires() {
        assert_eq!(timer(50, 0).left(&at(8)), 42);
    }

    #[test]
    fn one_that_expires_once_stops() {
        let mut timer = timer(5, 0);
        assert_eq!(timer.expire(&at(5)), 0);
        assert_eq!(timer, Timer::STOPPED);
    }

    #[test]
    fn a_periodic_one_goes_on() {
        let mut timer = timer(5, 10);
        assert_eq!(timer.expire(&at(5)), 0);
        assert_eq!(timer.deadline, Deadline::at(15));
    }

    #[test]
    fn expirations_that_come_too_late_are_missed() {
        let mut timer = timer(5, 10);
        assert_eq!(timer.expire(&at(34)), 2);
        assert_eq!(timer.deadline, Deadline::at(35));
    }

    #[test]
    fn the_period_that_has_just_passed_is_missed_too() {
        let mut timer = timer(5, 10);
        assert_eq!(timer.expire(&at(35)), 3);
        assert_eq!(timer.deadline, Deadline::at(45));
    }

    #[test]
    fn a_stopped_timer_with_an_interval_does_not_expire_again() {
        let mut timer = Timer { deadline: Deadline::NEVER, interval: 10 };
        timer.expire(&at(35));
        assert!(timer.deadline.is_never());
    }

    #[test]
    fn a_period_without_end_is_no_overflow() {
        let mut timer = timer(5, u64::MAX);
        timer.expire(&at(5));
        assert!(timer.deadline > Deadline::at(1 << 60) && !timer.deadline.is_never());
    }

    #[test]
    fn settings_in_microseconds() {
        let setting = TimerSetting::read([[1, 250_000], [0, 1]], 1000);
        assert_eq!(setting, Some(TimerSetting { interval: SECOND + SECOND / 4, first: 1000 }));
    }

    #[test]
    fn a_million_microseconds_are_no_part() {
        assert_eq!(TimerSetting::read([[0, 0], [0, 1_000_000]], 1000), None);
        assert!(TimerSetting::read([[0, 0], [0, 1_000_000]], 1).is_some());
    }

    #[test]
    fn negative_settings_are_refused() {
        for bad in [[[-1, 0], [0, 0]], [[0, -1], [0, 0]], [[0, 0], [-1, 0]], [[0, 0], [0, -1]]] {
            assert_eq!(TimerSetting::read(bad, 1), None);
        }
    }

    #[test]
    fn a_little_time_is_not_written_as_none() {
        assert_eq!(TimerSetting { interval: 0, first: 1 }.write(1000), [[0, 0], [0, 1]]);
    }

    #[test]
    fn rounding_up_carries_into_the_seconds() {
        assert_eq!(TimerSetting { interval: 0, first: SECOND - 1 }.write(1000), [[0, 0], [1, 0]]);
    }

    #[test]
    fn zero_stops_a_timer() {
        let setting = TimerSetting { interval: 7, first: 0 };
        assert_eq!(setting.start(&at(5), None), (Deadline::NEVER, 0));
        assert_eq!(setting.start(&at(5), Some(Clock::REALTIME)), (Deadline::NEVER, 0));
    }

    #[test]
    fn relative_and_absolute_settings() {
        let time = at(5);
        let relative = TimerSetting { interval: 0, first: 10 };
        assert_eq!(relative.start(&time, None), (Deadline::at(15), 0));
        let absolute = TimerSetting { interval: 0, first: time.shown(Clock::MONOTONIC) + 10 };
        assert_eq!(absolute.start(&time, Some(Clock::MONOTONIC)), (Deadline::at(15), 0));
    }

    #[test]
    fn an_absolute_time_in_the_past_is_a_deadline_all_the_same() {
        let setting = TimerSetting { interval: 0, first: 1 };
        assert_eq!(setting.start(&at(5), Some(Clock::REALTIME)), (Deadline::at(0), 0));
    }

    #[test]
    fn expirations_that_were_over_are_owed() {
        let time = at(100);
        let setting = TimerSetting { interval: 30, first: time.shown(Clock::MONOTONIC) - 70 };
        assert_eq!(setting.start(&time, Some(Clock::MONOTONIC)), (Deadline::at(90), 2));
    }

    #[test]
    fn what_is_left_of_an_alarm_is_rounded() {
        assert_eq!([0, 1, SECOND / 2, SECOND * 3 / 2 - 1, SECOND * 3 / 2].map(seconds_left), [0, 1, 1, 1, 2]);
    }

    proptest! {
        #[test]
        fn settings_survive(interval in (0_i64..1 << 30, 0_i64..1_000_000), first in (0_i64..1 << 30, 0_i64..1_000_000)) {
            let words = [[interval.0, interval.1], [first.0, first.1]];
            let setting = TimerSetting::read(words, 1000).expect("valid");
            prop_assert_eq!(setting.write(1000), words);
        }

        /// A timer that was set too late owes what it would have missed.
        #[test]
        fn owed_and_missed_are_the_same(start in 100_u64..1000, interval in 1_u64..50, late in 0_u64..100) {
            let time = at(start + late);
            let setting = TimerSetting { interval, first: at(start).shown(Clock::MONOTONIC) };
            let (deadline, owed) = setting.start(&time, Some(Clock::MONOTONIC));
            let mut set_late = Timer { deadline, interval };
            let mut set_before = timer(start, interval);
            let missed = set_before.expire(&time);
            prop_assert_eq!(set_late.expire(&time) + owed, missed);
            prop_assert_eq!(set_late, set_before);
        }

        /// Counting expirations one by one gives the same.
        #[test]
        fn missed_expirations_by_counting(start in 0_u64..1000, interval in 1_u64..50, late in 0_u64..1000) {
            let now = start + late;
            let (mut next, mut passed) = (start, 0);
            while next <= now {
                next += interval;
                passed += 1;
            }
            let mut timer = timer(start, interval);
            prop_assert_eq!(timer.expire(&at(now)), passed - 1);
            prop_assert_eq!(timer.deadline, Deadline::at(next));
        }
    }
}
