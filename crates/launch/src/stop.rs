//! When to stop, whatever is running.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// Says when executions are to be stopped instead of waited for: because the user wants to end, or because there is no time
/// left. Those that share one see the same.
#[derive(Clone, Debug, Default)]
pub struct StopSign {
    interrupted: Arc<AtomicBool>,
    deadline: Arc<Mutex<Option<Instant>>>,
}

impl StopSign {
    /// One that is up as soon as the flag is set.
    #[must_use]
    pub fn new(interrupted: Arc<AtomicBool>) -> Self {
        Self { interrupted, deadline: Arc::default() }
    }

    /// From this moment on it is up; before, the flag alone counts.
    pub fn set_deadline(&self, deadline: Option<Instant>) {
        *self.deadline.lock().unwrap_or_else(PoisonError::into_inner) = deadline;
    }

    /// Whether to stop now.
    #[must_use]
    pub fn is_up(&self) -> bool {
        let deadline = *self.deadline.lock().unwrap_or_else(PoisonError::into_inner);
        self.interrupted.load(Ordering::Relaxed) || deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}
