//! Decodes records to events: the only place that gives the fields of a record their meaning.
//!
//! Every record decodes. If a byte is not valid for its kind, the event has the default that its documentation names; a
//! record of no known kind is [`Event::Unknown`].

use crate::access::{Access, AccessMode, RaceAccess, RaceSide};
use crate::entry::Entry;
use crate::event::Event;
use crate::operands::{
    Attempt, Blockage, JoinOutcome, LockMode, OncePhase, SemaphoreAttempt, SignalWaitPhase, ThreadSet, WaitEndReason,
};
use racehunter_abi::control::{ALLOCATED_STACK, EXCUSED, VALUE_AFTER, VALUE_BEFORE};
use racehunter_abi::detail::{
    CANCEL_TESTED, CREATE_TIMER, HANDLER_BEGINS, JOIN_TRIED, LIFETIME_DESTROYED, ONCE_BEGINS, ONCE_DONE,
    SEMAPHORE_INSPECTED, SIGNAL_WAIT_BEGINS, SIGNAL_WAIT_TAKEN, SUCCEEDED, TIMER_EXPIRED, UNLOCK_REFUSED,
    WAIT_CANCELLED, WAIT_REPEATED, WAIT_SIGNALLED, WAIT_SPURIOUS,
};
use racehunter_abi::{Address, Cause, CodeAddress, Escape, Kind, Misuse, Record, ThreadId, ThreadPath, Touched, Wait};

/// Decodes a thread number plus 1, where 0 means none.
fn other_thread(number: u64) -> Option<ThreadId> {
    number.checked_sub(1).and_then(|number| u32::try_from(number).ok()).map(ThreadId)
}

const fn access_mode(kind: Kind) -> Option<AccessMode> {
    Some(match kind {
        Kind::Read => AccessMode::Read,
        Kind::Write => AccessMode::Write,
        Kind::AtomicRead => AccessMode::AtomicRead,
        Kind::AtomicWrite => AccessMode::AtomicWrite,
        Kind::AtomicUpdate => AccessMode::AtomicUpdate,
        Kind::ReadRange => AccessMode::ReadRange,
        Kind::WriteRange => AccessMode::WriteRange,
        Kind::Free => AccessMode::Free,
        _ => return None,
    })
}

fn race_side(record: &Record) -> RaceSide {
    let kind = Kind::from_byte(record.detail).unwrap_or_default();
    let access = match access_mode(kind) {
        Some(mode) => RaceAccess::Access(mode),
        None if kind == Kind::Exit => RaceAccess::ThreadEnd,
        None => RaceAccess::Unknown,
    };
    RaceSide { access, address: Address(record.object), size: record.size, block_size: record.extra }
}

fn blockage(record: &Record) -> Blockage {
    let wait = Wait::from_byte(record.detail).unwrap_or_default();
    Blockage { wait, object: record.object, owner: other_thread(record.extra) }
}

impl Entry<'_> {
    #[inline]
    pub(crate) fn decode_access(self) -> Access {
        let record = self.0;
        let mode = access_mode(record.kind).unwrap_or(AccessMode::Free);
        let size = match mode {
            AccessMode::ReadRange | AccessMode::WriteRange | AccessMode::Free => record.extra,
            _ => u64::from(record.size),
        };
        // The `detail` of an atomic access is its memory order, which the controller does not need: executions are
        // sequentially consistent.
        let is_plain = !matches!(mode, AccessMode::Free) && !mode.is_atomic();
        Access { mode, address: Address(record.object), size, is_excused: is_plain && record.detail == EXCUSED }
    }

    /// Returns what happened.
    #[must_use]
    #[inline]
    pub fn event(self) -> Event {
        let record = self.0;
        if record.kind.is_access() {
            return Event::Access(self.decode_access());
        }
        self.decode_rest()
    }

    fn decode_rest(self) -> Event {
        let record = self.0;
        let object = Address(record.object);
        let extra = Address(record.extra);
        let thread = ThreadId(record.object as u32);
        let tried = if record.detail == SUCCEEDED { Attempt::Succeeded } else { Attempt::Failed };
        let acquire = |mode, attempt| Event::Acquire { lock: object, mode, attempt };
        match record.kind {
            Kind::None => Event::Unknown,
            Kind::Read
            | Kind::Write
            | Kind::AtomicRead
            | Kind::AtomicWrite
            | Kind::AtomicUpdate
            | Kind::ReadRange
            | Kind::WriteRange
            | Kind::Free => Event::Access(self.decode_access()),
            Kind::Fence => Event::Fence { annotation: object },
            Kind::Create => Event::Create {
                child: thread,
                start: CodeAddress(record.extra),
                is_timer: record.detail == CREATE_TIMER,
            },
            Kind::Join => {
                let outcome = match record.extra {
                    0 => JoinOutcome::Joined,
                    JOIN_TRIED => JoinOutcome::Tried,
                    _ => JoinOutcome::Refused,
                };
                Event::Join { target: thread, outcome }
            }
            Kind::Exit => Event::Exit,
            Kind::Detach => Event::Detach { target: thread },
            Kind::Lock => acquire(LockMode::Mutex, Attempt::Blocking),
            Kind::ReadLock => acquire(LockMode::Read, Attempt::Blocking),
            Kind::WriteLock => acquire(LockMode::Write, Attempt::Blocking),
            Kind::TryLock => acquire(LockMode::Mutex, tried),
            Kind::TryReadLock => acquire(LockMode::Read, tried),
            Kind::TryWriteLock => acquire(LockMode::Write, tried),
            Kind::Unlock | Kind::RwUnlock => Event::Release {
                lock: object,
                is_rwlock: record.kind == Kind::RwUnlock,
                is_refused: record.detail == UNLOCK_REFUSED,
            },
            Kind::Wait => Event::Wait { condition: object, mutex: extra, is_repeated: record.detail == WAIT_REPEATED },
            Kind::WaitEnd => {
                let reason = match record.detail {
                    WAIT_SIGNALLED => WaitEndReason::Signalled,
                    WAIT_SPURIOUS => WaitEndReason::Spurious,
                    WAIT_CANCELLED => WaitEndReason::Cancelled,
                    _ => WaitEndReason::TimedOut,
                };
                Event::WaitEnd { condition: object, mutex: extra, reason }
            }
            Kind::Signal => Event::Signal { condition: object },
            Kind::Broadcast => Event::Broadcast { condition: object },
            Kind::SemWait => Event::SemaphoreWait { semaphore: object, attempt: SemaphoreAttempt::Blocking },
            Kind::SemTryWait => {
                let attempt = match record.detail {
                    SUCCEEDED => SemaphoreAttempt::Succeeded,
                    SEMAPHORE_INSPECTED => SemaphoreAttempt::Inspected,
                    _ => SemaphoreAttempt::Failed,
                };
                Event::SemaphoreWait { semaphore: object, attempt }
            }
            Kind::SemPost => Event::SemaphorePost { semaphore: object },
            Kind::BarrierWait => Event::BarrierArrive { barrier: object },
            Kind::BarrierPass => Event::BarrierPass { barrier: object },
            Kind::Once => {
                let phase = match record.detail {
                    ONCE_BEGINS => OncePhase::Begins,
                    ONCE_DONE => OncePhase::Done,
                    _ => OncePhase::Found,
                };
                Event::Once { object, phase }
            }
            Kind::FutexWait => Event::FutexWait { futex: object, is_repeated: record.detail == WAIT_REPEATED },
            Kind::FutexWake => Event::FutexWake { futex: object },
            Kind::Yield => Event::Yield,
            Kind::Sleep => Event::Sleep,
            Kind::Lifetime => Event::Lifetime { object, is_destroyed: record.detail == LIFETIME_DESTROYED },
            Kind::Io => Event::Io { file: record.object, channel: extra, is_done: record.detail == 1 },
            Kind::Kill => Event::Kill { signal: record.object, receiver: other_thread(record.extra) },
            Kind::Cancel => Event::Cancel { target: thread, is_test: record.detail == CANCEL_TESTED },
            Kind::SignalWait => {
                let phase = match record.detail {
                    SIGNAL_WAIT_BEGINS => SignalWaitPhase::Begins,
                    SIGNAL_WAIT_TAKEN => SignalWaitPhase::Taken,
                    _ => SignalWaitPhase::Ended,
                };
                Event::SignalWait { signal: record.object, phase }
            }
            Kind::Timer => {
                Event::Timer { timer: thread, nanoseconds: record.extra, is_expired: record.detail == TIMER_EXPIRED }
            }
            Kind::Other => Event::Other,
            Kind::SignalSetup => Event::SignalSetup { signal: record.object },
            Kind::End => Event::End { is_final: record.detail != 0 },
            Kind::State => Event::State {
                touched: Touched::unpack(record.extra),
                cell: record.object as u16,
                is_change: record.detail == 1,
            },

            Kind::Blocked => Event::Blocked { on: blockage(record), may_wake: record.size != 0 },
            Kind::Suspended => Event::Suspended { on: blockage(record) },
            Kind::Woken => Event::Woken,
            Kind::BlockedSet => Event::BlockedSet(ThreadSet { first: thread, members: record.extra }),
            Kind::WokenSet => Event::WokenSet(ThreadSet { first: thread, members: record.extra }),
            Kind::Switch => {
                let cause = Cause::from_byte(record.detail).unwrap_or_default();
                Event::Switch { to: thread, cause, is_exhausted: record.size != 0 }
            }
            Kind::Deadline => Event::Deadline { time: record.object },

            Kind::RaceFirst => Event::RaceFirst(race_side(record)),
            Kind::RaceSecond => Event::RaceSecond(race_side(record)),
            Kind::Shared => Event::Shared,
            Kind::Allocated => {
                Event::Allocated { block: object, size: record.extra, is_stack: record.detail == ALLOCATED_STACK }
            }
            Kind::Taken => Event::Taken { block: object, size: record.extra },
            Kind::Mapped => Event::Mapped { block: object, size: record.extra },
            Kind::ThreadState => Event::ThreadState { on: (record.detail != 0).then(|| blockage(record)) },
            Kind::Misuse => Event::Misuse {
                what: Misuse::from_byte(record.detail).unwrap_or_default(),
                object: record.object,
                other: other_thread(record.extra),
            },
            Kind::Handler => Event::Handler { signal: record.object, is_entry: record.detail == HANDLER_BEGINS },
            Kind::Escape => {
                Event::Escape { what: Escape::from_byte(record.detail).unwrap_or_default(), object: record.object }
            }
            Kind::Cancelled => Event::Cancelled,
            Kind::Annotated => Event::Annotated,
            Kind::Value => Event::Value {
                before: (record.detail & VALUE_BEFORE != 0).then_some(record.object),
                after: (record.detail & VALUE_AFTER != 0).then_some(record.extra),
                size: record.size.min(8),
            },
            Kind::Initialised => Event::Initialised { object },
            Kind::Found => Event::Found { object },
            Kind::Began => Event::BlockBegin,
            Kind::Ended => Event::BlockEnd,
            Kind::Entered => Event::Enter { returns_here: record.detail == 1 },
            Kind::Left => Event::Leave,
            Kind::Branched => Event::Branch { value: record.object },
            Kind::Called => Event::Call { callee: CodeAddress(record.object) },
            Kind::Counted => Event::Counted { accesses: record.object },
            Kind::Passed => Event::Passed { accesses: record.object },
            Kind::Numbered => Event::Numbered { path: ThreadPath(record.object) },
            Kind::Panic => Event::Panic { printed_as: record.object },
            Kind::Named => {
                let mut name = [0; 16];
                name[..8].copy_from_slice(&record.object.to_le_bytes());
                name[8..].copy_from_slice(&record.extra.to_le_bytes());
                Event::Named { name }
            }
        }
    }
}
