//! Tells executors when to stop, whatever is running.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// Says when to stop executions instead of waiting for them: because the user interrupts, or because time is up. Clones
/// share their state.
#[derive(Clone, Debug, Default)]
pub struct StopSign {
    interrupted: Arc<AtomicBool>,
    deadline: Arc<Mutex<Option<Instant>>>,
}

impl StopSign {
    /// Creates a sign that is up as soon as the flag is set.
    #[must_use]
    pub fn new(interrupted: Arc<AtomicBool>) -> Self {
        Self { interrupted, deadline: Arc::default() }
    }

    /// Sets the time from which on it is up; before, only the flag counts.
    pub fn set_deadline(&self, deadline: Option<Instant>) {
        *self.deadline.lock().unwrap_or_else(PoisonError::into_inner) = deadline;
    }

    /// Returns whether to stop now.
    #[must_use]
    pub fn is_up(&self) -> bool {
        let deadline = *self.deadline.lock().unwrap_or_else(PoisonError::into_inner);
        self.interrupted.load(Ordering::Relaxed) || deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}
