//! The operations of the kernel's `futex` call.

use crate::Clock;

/// The form of a wait's time-out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FutexTimeout {
    /// As a duration.
    Duration,
    /// As a time of a clock.
    Until(Clock),
}

/// Which waits and wakes of one address meet. The kernel keeps the two apart: a private wake does not reach a shared
/// wait, nor a shared wake a private one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum FutexScope {
    /// With `FUTEX_PRIVATE_FLAG`.
    Private,
    /// Without it.
    Shared,
}

impl FutexScope {
    /// Decodes the second argument of the call.
    #[must_use]
    pub const fn decode(operation: usize) -> Self {
        const PRIVATE: usize = 128;
        if operation & PRIVATE != 0 { Self::Private } else { Self::Shared }
    }
}

/// An operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FutexOperation {
    /// Wait for a wake that has one of the bits.
    Wait {
        /// Those bits.
        bits: u32,
        /// How a time-out is given, if there is one.
        timeout: FutexTimeout,
    },
    /// Wake threads that wait for one of the bits.
    Wake {
        /// Those bits.
        bits: u32,
    },
    /// Wake some threads, and let others wait for another futex.
    Requeue {
        /// Only if the futex has this value.
        expected: Option<u32>,
    },
    /// There are no bits, so that nothing could ever be woken.
    Invalid,
    /// An operation without a model: with priority inheritance, or with a second operation in the kernel.
    Unmodelled,
    /// An operation that the kernel does not have either.
    Unknown,
}

/// Returns how many threads a wake reaches at most. The kernel counts a thread after it has woken it, so a count of zero or
/// below wakes one.
#[must_use]
pub const fn futex_wake_count(given: i32) -> usize {
    if given < 1 { 1 } else { given as usize }
}

impl FutexOperation {
    /// Decodes the second and the last argument of the call.
    #[must_use]
    pub const fn decode(operation: usize, last: u32) -> Self {
        const PRIVATE: usize = 128;
        const REALTIME: usize = 256;
        let command = operation & !(PRIVATE | REALTIME);
        let is_realtime = operation & REALTIME != 0;
        // The kernel accepts the flag only for waits until a time. Other waits have a duration.
        if is_realtime && !matches!(command, 9 | 11 | 13) {
            return Self::Unknown;
        }
        let clock = if is_realtime { Clock::REALTIME } else { Clock::MONOTONIC };
        match command {
            9 | 10 if last == 0 => Self::Invalid,
            0 => Self::Wait { bits: u32::MAX, timeout: FutexTimeout::Duration },
            9 => Self::Wait { bits: last, timeout: FutexTimeout::Until(clock) },
            1 => Self::Wake { bits: u32::MAX },
            10 => Self::Wake { bits: last },
            3 => Self::Requeue { expected: None },
            4 => Self::Requeue { expected: Some(last) },
            2 | 5..=8 | 11..=13 => Self::Unmodelled,
            _ => Self::Unknown,
        }
    }
}

/// The validity of a futex address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FutexAddress {
    /// Nothing.
    Valid,
    /// It is not aligned to a word.
    Unaligned,
    /// Nothing is ever mapped there.
    Unmapped,
}

impl FutexAddress {
    /// Checks an address.
    #[must_use]
    pub const fn of(address: usize) -> Self {
        const FIRST_PAGE: usize = 4096;
        if !address.is_multiple_of(4) {
            Self::Unaligned
        } else if address < FIRST_PAGE {
            Self::Unmapped
        } else {
            Self::Valid
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PRIVATE: usize = 128;

    #[test]
    fn a_plain_wait_is_for_any_wake_and_has_a_duration() {
        let expected = FutexOperation::Wait { bits: u32::MAX, timeout: FutexTimeout::Duration };
        assert_eq!(FutexOperation::decode(0, 0), expected);
        assert_eq!(FutexOperation::decode(PRIVATE, 7), expected);
    }

    #[test]
    fn a_wait_with_bits_has_a_time() {
        let wait = |clock| FutexOperation::Wait { bits: 6, timeout: FutexTimeout::Until(clock) };
        assert_eq!(FutexOperation::decode(9 | PRIVATE, 6), wait(Clock::MONOTONIC));
        assert_eq!(FutexOperation::decode(9 | PRIVATE | 256, 6), wait(Clock::REALTIME));
    }

    #[test]
    fn wakes() {
        assert_eq!(FutexOperation::decode(1, 0), FutexOperation::Wake { bits: u32::MAX });
        assert_eq!(FutexOperation::decode(10, 2), FutexOperation::Wake { bits: 2 });
    }

    #[test]
    fn a_wake_reaches_at_least_one_thread() {
        assert_eq!(futex_wake_count(0), 1);
        assert_eq!(futex_wake_count(-1), 1);
        assert_eq!(futex_wake_count(1), 1);
        assert_eq!(futex_wake_count(i32::MAX), i32::MAX as usize);
    }

    #[test]
    fn only_waits_until_a_time_may_name_the_clock() {
        let refused = [0, 1, 3, 4, 5, 10].map(|command| FutexOperation::decode(command | 256, 1));
        assert_eq!(refused, [FutexOperation::Unknown; 6]);
    }

    #[test]
    fn flags_that_the_kernel_does_not_have_are_refused() {
        assert_eq!(FutexOperation::decode(1 | 512, 0), FutexOperation::Unknown);
    }

    #[test]
    fn without_bits_nothing_could_be_woken() {
        assert_eq!(FutexOperation::decode(9, 0), FutexOperation::Invalid);
        assert_eq!(FutexOperation::decode(10 | PRIVATE, 0), FutexOperation::Invalid);
    }

    #[test]
    fn requeues() {
        assert_eq!(FutexOperation::decode(3, 5), FutexOperation::Requeue { expected: None });
        assert_eq!(FutexOperation::decode(4, 5), FutexOperation::Requeue { expected: Some(5) });
    }

    #[test]
    fn operations_with_priorities_are_not_modelled() {
        assert!(
            [2, 5, 6, 7, 8, 11, 12, 13]
                .iter()
                .all(|&command| { FutexOperation::decode(command, 1) == FutexOperation::Unmodelled })
        );
        assert_eq!(FutexOperation::decode(99, 1), FutexOperation::Unknown);
    }

    #[test]
    fn addresses() {
        assert_eq!(FutexAddress::of(8192), FutexAddress::Valid);
        assert_eq!(FutexAddress::of(8193), FutexAddress::Unaligned);
        assert_eq!(FutexAddress::of(2), FutexAddress::Unaligned);
        assert_eq!(FutexAddress::of(0), FutexAddress::Unmapped);
        assert_eq!(FutexAddress::of(4092), FutexAddress::Unmapped);
    }

    proptest! {
        /// The operation does not depend on its scope, nor the scope on the operation.
        #[test]
        fn operation_and_scope_are_independent(operation in 0_usize..1024, last in any::<u32>()) {
            let (private, shared) = (operation | PRIVATE, operation & !PRIVATE);
            prop_assert_eq!(FutexOperation::decode(private, last), FutexOperation::decode(shared, last));
            prop_assert_eq!(FutexScope::decode(private), FutexScope::Private);
            prop_assert_eq!(FutexScope::decode(shared), FutexScope::Shared);
        }
    }
}
