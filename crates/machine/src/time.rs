//! Virtual time: advances only when the schedule says so, or when the program reads a clock.

/// Nanoseconds of a second.
pub const SECOND: u64 = 1_000_000_000;

/// The time at which the realtime clock starts in every execution: later than the time stamps of existing files.
const REALTIME_BASE: u64 = 2_000_000_000 * SECOND;
/// The time at which the other clocks start.
const UPTIME_BASE: u64 = 100_000 * SECOND;
/// The duration of reading a clock, so that polling a clock makes progress.
const LOOK: u64 = 1_000;

/// A point of virtual time, in nanoseconds since the start of the execution, up to which a thread waits; or never.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(transparent)]
pub struct Deadline(u64);

impl Deadline {
    /// The deadline of waits without one.
    pub const NEVER: Self = Self(u64::MAX);

    /// Returns this point of time. The last expressible value means "never", so the one before it is used instead.
    #[inline]
    #[must_use]
    pub const fn at(nanoseconds: u64) -> Self {
        Self(if nanoseconds == u64::MAX { u64::MAX - 1 } else { nanoseconds })
    }

    /// Returns true if there is no deadline.
    #[inline]
    #[must_use]
    pub const fn is_never(self) -> bool {
        self.0 == u64::MAX
    }

    /// Returns the nanoseconds; `u64::MAX` for never. This is the logged form.
    #[inline]
    #[must_use]
    pub const fn nanoseconds(self) -> u64 {
        self.0
    }
}

/// `struct timespec`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timespec(pub [i64; 2]);

impl Timespec {
    /// From nanoseconds.
    #[must_use]
    pub const fn from_nanoseconds(nanoseconds: u64) -> Self {
        Self([(nanoseconds / SECOND) as i64, (nanoseconds % SECOND) as i64])
    }

    /// Returns true if its fraction is valid, as POSIX requires of absolute times.
    #[must_use]
    pub const fn has_fraction(self) -> bool {
        0 <= self.0[1] && self.0[1] < SECOND as i64
    }

    /// Returns true if the kernel accepts it.
    #[must_use]
    pub const fn is_valid(self) -> bool {
        self.0[0] >= 0 && self.has_fraction()
    }

    /// Returns the nanoseconds, as far as they can be represented; times before the epoch count as the epoch.
    #[must_use]
    pub const fn nanoseconds(self) -> u64 {
        let [seconds, nanoseconds] = self.0;
        if seconds < 0 { 0 } else { (seconds as u64).saturating_mul(SECOND).saturating_add(nanoseconds as u64) }
    }
}

/// A clock of the system, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct Clock(pub i32);

impl Clock {
    /// `CLOCK_REALTIME`
    pub const REALTIME: Self = Self(0);
    /// `CLOCK_MONOTONIC`
    pub const MONOTONIC: Self = Self(1);
    /// `CLOCK_PROCESS_CPUTIME_ID`
    pub const PROCESS_CPU: Self = Self(2);
    /// `CLOCK_THREAD_CPUTIME_ID`
    pub const THREAD_CPU: Self = Self(3);
    const REALTIME_COARSE: Self = Self(5);
    const REALTIME_ALARM: Self = Self(8);

    /// Returns true if there is such a clock. Negative numbers are clocks of other processes and threads; those of
    /// files, which are among them, do not exist here.
    #[must_use]
    pub const fn exists(self) -> bool {
        const LAST: i32 = 11;
        const UNUSED: i32 = 10;
        const OF_FILE: i32 = 3;
        self.0 <= LAST && self.0 != UNUSED && (self.0 >= 0 || self.0 & OF_FILE != OF_FILE)
    }

    /// Returns true if a thread can sleep on it: the raw clock and the two coarse ones can only be read.
    #[must_use]
    pub const fn can_sleep(self) -> bool {
        !matches!(self.0, 4..=6)
    }

    /// Returns true if timed lock operations accept it.
    #[must_use]
    pub const fn times_locks(self) -> bool {
        matches!(self, Self::REALTIME | Self::MONOTONIC)
    }

    /// Returns what it shows at the start of the execution.
    const fn base(self) -> u64 {
        match self {
            Self::REALTIME | Self::REALTIME_COARSE | Self::REALTIME_ALARM => REALTIME_BASE,
            _ => UPTIME_BASE,
        }
    }

    /// Converts a time that it shows, in nanoseconds, to virtual time.
    #[must_use]
    pub const fn deadline(self, shown: u64) -> Deadline {
        Deadline::at(shown.saturating_sub(self.base()))
    }
}

/// The clock of an execution.
#[derive(Clone, Copy, Debug)]
pub struct VirtualTime {
    /// Nanoseconds since the execution began.
    now: u64,
    /// How much of this time the processor was busy: reading a clock takes time, and waiting takes none.
    used: u64,
    /// Number of waits since time last advanced whose deadlines had already passed when they began.
    in_vain: u32,
}

impl VirtualTime {
    /// The start of an execution.
    pub const START: Self = Self { now: 0, used: 0, in_vain: 0 };

    /// Nanoseconds since the execution began.
    #[inline]
    #[must_use]
    pub const fn now(&self) -> u64 {
        self.now
    }

    /// Returns the nanoseconds for which the processor was busy.
    #[must_use]
    pub const fn used(&self) -> u64 {
        self.used
    }

    /// Returns what a clock shows.
    #[must_use]
    pub const fn shown(&self, clock: Clock) -> u64 {
        clock.base() + self.now
    }

    /// Reads a clock. Returns how long that takes.
    pub const fn look(&mut self) -> u64 {
        self.now += LOOK;
        self.used += LOOK;
        LOOK
    }

    /// Advances to the deadline of a wait whose thread was chosen.
    pub fn reach(&mut self, deadline: Deadline) {
        if !deadline.is_never() && deadline.0 > self.now {
            self.now = deadline.0;
            self.in_vain = 0;
        }
    }

    /// Returns the deadline of a wait that begins now. A deadline that has passed ends the wait as soon as possible.
    /// This takes time, more with every such wait, so that a loop of such waits makes progress while others sleep.
    pub fn not_before_now(&mut self, deadline: Deadline) -> Deadline {
        const MOST: u32 = 24;
        if deadline.0 > self.now {
            return deadline;
        }
        self.now += LOOK << self.in_vain;
        self.in_vain = (self.in_vain + 1).min(MOST);
        Deadline(self.now)
    }

    /// Nanoseconds until the deadline.
    #[must_use]
    pub const fn until(&self, deadline: Deadline) -> u64 {
        deadline.0.saturating_sub(self.now)
    }

    /// Nanoseconds since that time.
    #[must_use]
    pub const fn since(&self, moment: Deadline) -> u64 {
        self.now.saturating_sub(moment.0)
    }

    /// Returns the point of time this many nanoseconds from now.
    #[must_use]
    pub const fn after(&self, nanoseconds: u64) -> Deadline {
        Deadline::at(self.now.saturating_add(nanoseconds))
    }
}

#[cfg(test)]
mod tests;
