//! The time, from a clock that the caller passes in.

use std::sync::Arc;
use std::time::{Duration, Instant};

/// A source of the time. The command passes in the system's clock; tests pass in one that they set.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> Instant + Send + Sync>);

impl Clock {
    /// Returns a clock that calls this function.
    pub fn new(now: impl Fn() -> Instant + Send + Sync + 'static) -> Self {
        Self(Arc::new(now))
    }

    /// Returns the time now.
    #[must_use]
    pub fn now(&self) -> Instant {
        (self.0)()
    }

    /// Returns the time since then.
    #[must_use]
    pub fn since(&self, then: Instant) -> Duration {
        self.now().saturating_duration_since(then)
    }

    /// Returns the time until then; zero if it has passed.
    #[must_use]
    pub fn until(&self, then: Instant) -> Duration {
        then.saturating_duration_since(self.now())
    }
}

impl std::fmt::Debug for Clock {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Clock")
    }
}
