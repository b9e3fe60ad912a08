//! What a call of the kernel's `futex` asks for.

use crate::Clock;

/// How the time-out of a wait is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FutexTimeout {
    /// As a duration.
    Duration,
    /// As a time of a clock.
    Until(Clock),
}

/// Which waits and wakes of one address meet. The kernel keeps the two apart: a private wake does not reach a shared wait, nor a
/// shared wake a private one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum FutexScope {
    /// With `FUTEX_PRIVATE_FLAG`.
    Private,
    /// Without it.
    Shared,
}

impl FutexScope {
    /// From the second argument of the call.
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
    /// No bits, so that nothing could ever be woken.
    Invalid,
    /// One that is not modelled: with priority inheritance, or with a second operation that the kernel makes.
    Unmodelled,
    /// One that the kernel does not have either.
    Unknown,
}

impl FutexOperation {
    /// From the second and the last argument of the call.
    #[must_use]
    pub const fn decode(operation: usize, last: u32) -> Self {
        const COMMAND: usize = 0x7f;
        const REALTIME: usize = 256;
        let clock = if operation & REALTIME != 0 { Clock::REALTIME } else { Clock::MONOTONIC };
        match operation & COMMAND {
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

/// What is wrong with the address of a futex.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FutexAddress {
    /// Nothing.
    Valid,
    /// It is not that of a word.
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
        /// What the operation is does not depend on its scope, and the other way round.
        #[test]
        fn operation_and_scope_are_independent(operation in 0_usize..1024, last in any::<u32>()) {
            let (private, shared) = (operation | PRIVATE, operation & !PRIVATE);
            prop_assert_eq!(FutexOperation::decode(private, last), FutexOperation::decode(shared, last));
            prop_assert_eq!(FutexScope::decode(private), FutexScope::Private);
            prop_assert_eq!(FutexScope::decode(shared), FutexScope::Shared);
        }
    }
}
