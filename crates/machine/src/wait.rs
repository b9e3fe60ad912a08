//! How waits end, and the cancellation of threads.

/// What can end a wait besides its condition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct EndsBy(u8);

impl EndsBy {
    /// Nothing else.
    pub const NOTHING: Self = Self(0);
    /// A signal handler, unless it was installed with `SA_RESTART`.
    pub const SIGNAL: Self = Self(1);
    /// Cancellation: the wait is a cancellation point.
    pub const CANCEL: Self = Self(2);
    /// Any signal handler, even one installed with `SA_RESTART`: sleeps, `poll` and similar calls, waits for signals.
    pub const ANY_SIGNAL: Self = Self(4 | 1);

    /// Returns the union.
    #[inline]
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns true if a handler that has run ends it.
    #[must_use]
    pub const fn by_handler(self, restarts: bool) -> bool {
        self.0 & Self::SIGNAL.0 != 0 && (!restarts || self.0 & Self::ANY_SIGNAL.0 == Self::ANY_SIGNAL.0)
    }

    /// Returns true if cancellation ends it.
    #[inline]
    #[must_use]
    pub const fn by_cancellation(self) -> bool {
        self.0 & Self::CANCEL.0 != 0
    }
}

/// How a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Its condition holds.
    Done,
    /// By its time-out.
    TimedOut,
    /// By a signal handler, or spuriously.
    Interrupted,
    /// The thread is cancelled.
    Cancelled,
}

impl End {
    /// Returns how the wait of a continuing thread ended. If several reasons hold, the time-out counts, because the
    /// schedule has chosen it; then a handler that has broken the wait off; then the condition; then cancellation.
    #[inline]
    #[must_use]
    pub fn of(
        timed_out: bool,
        broken_off: bool,
        is_available: impl FnOnce() -> bool,
        is_cancelled: impl FnOnce() -> bool,
    ) -> Self {
        if timed_out {
            Self::TimedOut
        } else if broken_off {
            Self::Interrupted
        } else if is_available() {
            Self::Done
        } else if is_cancelled() {
            Self::Cancelled
        } else {
            Self::Interrupted
        }
    }
}

/// The cancellation state of a thread. Zeroed memory means: no request, cancellation enabled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Cancellation {
    is_requested: bool,
    is_disabled: bool,
    is_asynchronous: bool,
}

impl Cancellation {
    /// The state of a new thread.
    pub const NEW: Self = Self { is_requested: false, is_disabled: false, is_asynchronous: false };

    /// Notes a call of `pthread_cancel`.
    pub const fn request(&mut self) {
        self.is_requested = true;
    }

    /// Returns true if it has to leave at its next cancellation point.
    #[inline]
    #[must_use]
    pub const fn is_due(self) -> bool {
        self.is_requested && !self.is_disabled
    }

    /// Returns true if it has to leave wherever it is.
    #[inline]
    #[must_use]
    pub const fn is_due_anywhere(self) -> bool {
        self.is_asynchronous && self.is_due()
    }

    /// Returns true if cancellation ends its wait.
    #[inline]
    #[must_use]
    pub const fn ends(self, wait: EndsBy) -> bool {
        wait.by_cancellation() && self.is_due()
    }

    /// Returns true if it is disabled.
    #[must_use]
    pub const fn is_disabled(self) -> bool {
        self.is_disabled
    }

    /// Returns true if it is asynchronous.
    #[must_use]
    pub const fn is_asynchronous(self) -> bool {
        self.is_asynchronous
    }

    /// `pthread_setcancelstate`. Returns the old state.
    pub const fn set_disabled(&mut self, is_disabled: bool) -> bool {
        core::mem::replace(&mut self.is_disabled, is_disabled)
    }

    /// `pthread_setcanceltype`. Returns the old type.
    pub const fn set_asynchronous(&mut self, is_asynchronous: bool) -> bool {
        core::mem::replace(&mut self.is_asynchronous, is_asynchronous)
    }

    /// Notes that the thread ends, and is not cancelled again.
    pub const fn exit(&mut self) {
        self.is_requested = false;
        self.is_disabled = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn most_waits_end_by_nothing_else() {
        assert!(!EndsBy::NOTHING.by_handler(false) && !EndsBy::NOTHING.by_cancellation());
    }

    #[test]
    fn a_handler_that_restarts_does_not_end_a_system_call() {
        assert!(EndsBy::SIGNAL.by_handler(false) && !EndsBy::SIGNAL.by_handler(true));
    }

    #[test]
    fn but_it_ends_a_sleep() {
        assert!(EndsBy::ANY_SIGNAL.by_handler(false) && EndsBy::ANY_SIGNAL.by_handler(true));
    }

    #[test]
    fn a_cancellation_point_is_not_interrupted_by_that_alone() {
        assert!(EndsBy::CANCEL.by_cancellation() && !EndsBy::CANCEL.by_handler(false));
    }

    #[test]
    fn both() {
        let both = EndsBy::SIGNAL.or(EndsBy::CANCEL);
        assert!(both.by_cancellation() && both.by_handler(false) && !both.by_handler(true));
    }

    #[test]
    fn reasons_in_their_order() {
        assert_eq!(End::of(true, true, || true, || true), End::TimedOut);
        assert_eq!(End::of(false, true, || true, || true), End::Interrupted);
        assert_eq!(End::of(false, false, || true, || true), End::Done);
        assert_eq!(End::of(false, false, || false, || true), End::Cancelled);
        assert_eq!(End::of(false, false, || false, || false), End::Interrupted);
    }

    #[test]
    fn nothing_is_asked_after_a_time_out() {
        assert_eq!(End::of(true, false, || unreachable!(), || unreachable!()), End::TimedOut);
    }

    #[test]
    fn a_new_thread_is_not_cancelled() {
        assert!(!Cancellation::NEW.is_due() && !Cancellation::default().is_due_anywhere());
    }

    #[test]
    fn a_request_takes_effect_at_a_cancellation_point() {
        let mut thread = Cancellation::NEW;
        thread.request();
        assert!(thread.is_due() && thread.ends(EndsBy::CANCEL) && !thread.ends(EndsBy::ANY_SIGNAL));
        assert!(!thread.is_due_anywhere());
    }

    #[test]
    fn a_disabled_request_waits() {
        let mut thread = Cancellation::NEW;
        assert!(!thread.set_disabled(true));
        thread.request();
        assert!(!thread.is_due() && !thread.ends(EndsBy::CANCEL));
        assert!(thread.set_disabled(false));
        assert!(thread.is_due());
    }

    #[test]
    fn asynchronous_cancellation_takes_effect_anywhere() {
        let mut thread = Cancellation::NEW;
        thread.request();
        assert!(!thread.set_asynchronous(true));
        assert!(thread.is_due_anywhere());
        thread.set_disabled(true);
        assert!(!thread.is_due_anywhere() && thread.is_asynchronous());
    }

    #[test]
    fn a_thread_that_ends_is_not_cancelled_again() {
        let mut thread = Cancellation::NEW;
        thread.request();
        thread.exit();
        thread.request();
        assert!(!thread.is_due() && thread.is_disabled());
    }

    proptest! {
        /// A thread is cancelled exactly if it was requested, has not ended, and does not refuse.
        #[test]
        fn due_by_definition(steps in proptest::collection::vec(0_u32..5, 0..20)) {
            let mut thread = Cancellation::NEW;
            let (mut requested, mut disabled, mut asynchronous) = (false, false, false);
            for step in steps {
                match step {
                    0 => { thread.request(); requested = true; }
                    1 => { thread.set_disabled(true); disabled = true; }
                    2 => { thread.set_disabled(false); disabled = false; }
                    3 => { thread.set_asynchronous(!asynchronous); asynchronous = !asynchronous; }
                    _ => { thread.exit(); (requested, disabled) = (false, true); }
                }
                prop_assert_eq!(thread.is_due(), requested && !disabled);
                prop_assert_eq!(thread.is_due_anywhere(), requested && !disabled && asynchronous);
            }
        }
    }
}
