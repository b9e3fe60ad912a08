//! Encodes events as records, for executors that write logs themselves, and for tests.

use crate::access::{Access, AccessMode, RaceAccess, RaceSide};
use crate::event::Event;
use crate::operands::{
    Attempt, Blockage, JoinOutcome, LockMode, OncePhase, SemaphoreAttempt, SignalWaitPhase, WaitEndReason,
};
use racehunter_abi::control::{ALLOCATED_STACK, EXCUSED, VALUE_AFTER, VALUE_BEFORE};
use racehunter_abi::detail::{
    JOIN_REFUSED, JOIN_TRIED, ONCE_BEGINS, ONCE_DONE, ONCE_FOUND, SEMAPHORE_INSPECTED, SIGNAL_WAIT_BEGINS,
    SIGNAL_WAIT_ENDED, SIGNAL_WAIT_TAKEN, SUCCEEDED, UNLOCK_REFUSED, WAIT_CANCELLED, WAIT_SIGNALLED, WAIT_SPURIOUS,
    WAIT_TIMED_OUT,
};
use racehunter_abi::{CodeAddress, EventNumber, Kind, Record, SiteId, ThreadId};

/// The fields of an entry besides its event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// The event number.
    pub number: EventNumber,
    /// The thread.
    pub thread: ThreadId,
    /// The place in the code.
    pub code: CodeAddress,
    /// The instrumented instruction, if there is one.
    pub site: Option<SiteId>,
    /// The offset of the call stack, 0 for none.
    pub stack: u32,
}

const fn kind_of_access(mode: AccessMode) -> Kind {
    match mode {
        AccessMode::Read => Kind::Read,
        AccessMode::Write => Kind::Write,
        AccessMode::AtomicRead => Kind::AtomicRead,
        AccessMode::AtomicWrite => Kind::AtomicWrite,
        AccessMode::AtomicUpdate => Kind::AtomicUpdate,
        AccessMode::ReadRange => Kind::ReadRange,
        AccessMode::WriteRange => Kind::WriteRange,
        AccessMode::Free => Kind::Free,
    }
}

fn plus_one(thread: Option<ThreadId>) -> u64 {
    thread.map_or(0, |thread| u64::from(thread.0) + 1)
}

/// The fields of a record that depend on its kind.
struct Fields {
    kind: Kind,
    object: u64,
    extra: u64,
    size: u8,
    detail: u8,
}

impl Fields {
    const fn of(kind: Kind) -> Self {
        Self { kind, object: 0, extra: 0, size: 0, detail: 0 }
    }

    const fn about(kind: Kind, object: u64) -> Self {
        Self { object, ..Self::of(kind) }
    }

    fn detail(self, detail: impl Into<u8>) -> Self {
        Self { detail: detail.into(), ..self }
    }

    fn access(access: Access) -> Self {
        let Access { mode, address, size, is_excused } = access;
        let is_range = mode.is_range() || mode == AccessMode::Free;
        Self {
            kind: kind_of_access(mode),
            object: address.0,
            extra: if is_range { size } else { 0 },
            size: size.min(255) as u8,
            detail: if is_excused { EXCUSED } else { 0 },
        }
    }

    fn acquire(lock: u64, mode: LockMode, attempt: Attempt) -> Self {
        let kind = match (mode, attempt) {
            (LockMode::Mutex, Attempt::Blocking) => Kind::Lock,
            (LockMode::Read, Attempt::Blocking) => Kind::ReadLock,
            (LockMode::Write, Attempt::Blocking) => Kind::WriteLock,
            (LockMode::Mutex, _) => Kind::TryLock,
            (LockMode::Read, _) => Kind::TryReadLock,
            (LockMode::Write, _) => Kind::TryWriteLock,
        };
        Self::about(kind, lock).detail(attempt.succeeds())
    }

    fn blockage(kind: Kind, on: Blockage) -> Self {
        Self { extra: plus_one(on.owner), ..Self::about(kind, on.object) }.detail(on.wait as u8)
    }

    fn race(kind: Kind, side: RaceSide) -> Self {
        let accessed = match side.access {
            RaceAccess::Access(mode) => kind_of_access(mode),
            RaceAccess::ThreadEnd => Kind::Exit,
            RaceAccess::Unknown => Kind::None,
        };
        Self { kind, object: side.address.0, extra: side.block_size, size: side.size, detail: accessed as u8 }
    }

    fn of_event(event: Event) -> Self {
        match event {
            Event::Access(access) => Self::access(access),
            Event::Fence { annotation } => Self::about(Kind::Fence, annotation.0),
            Event::Create { child, start, is_timer } => {
                Self { extra: start.0, ..Self::about(Kind::Create, child.0.into()) }.detail(is_timer)
            }
            Event::Join { target, outcome } => {
                let extra = match outcome {
                    JoinOutcome::Joined => 0,
                    JoinOutcome::Tried => JOIN_TRIED,
                    JoinOutcome::Refused => JOIN_REFUSED,
                };
                Self { extra, ..Self::about(Kind::Join, target.0.into()) }
            }
            Event::Exit => Self::of(Kind::Exit),
            Event::Detach { target } => Self::about(Kind::Detach, target.0.into()),
            Event::Acquire { lock, mode, attempt } => Self::acquire(lock.0, mode, attempt),
            Event::Release { lock, is_rwlock, is_refused } => {
                let kind = if is_rwlock { Kind::RwUnlock } else { Kind::Unlock };
                Self { detail: if is_refused { UNLOCK_REFUSED } else { 0 }, ..Self::about(kind, lock.0) }
            }
            Event::Wait { condition, mutex, is_repeated } => {
                Self { extra: mutex.0, ..Self::about(Kind::Wait, condition.0) }.detail(is_repeated)
            }
            Event::WaitEnd { condition, mutex, reason } => {
                let detail = match reason {
                    WaitEndReason::Signalled => WAIT_SIGNALLED,
                    WaitEndReason::TimedOut => WAIT_TIMED_OUT,
                    WaitEndReason::Spurious => WAIT_SPURIOUS,
                    WaitEndReason::Cancelled => WAIT_CANCELLED,
                };
                Self { extra: mutex.0, detail, ..Self::about(Kind::WaitEnd, condition.0) }
            }
            Event::Signal { condition } => Self::about(Kind::Signal, condition.0),
            Event::Broadcast { condition } => Self::about(Kind::Broadcast, condition.0),
            Event::SemaphoreWait { semaphore, attempt } => match attempt {
                SemaphoreAttempt::Blocking => Self::about(Kind::SemWait, semaphore.0),
                SemaphoreAttempt::Failed => Self::about(Kind::SemTryWait, semaphore.0),
                SemaphoreAttempt::Succeeded => Self::about(Kind::SemTryWait, semaphore.0).detail(SUCCEEDED),
                SemaphoreAttempt::Inspected => Self::about(Kind::SemTryWait, semaphore.0).detail(SEMAPHORE_INSPECTED),
            },
            Event::SemaphorePost { semaphore } => Self::about(Kind::SemPost, semaphore.0),
            Event::BarrierArrive { barrier } => Self::about(Kind::BarrierWait, barrier.0),
            Event::BarrierPass { barrier } => Self::about(Kind::BarrierPass, barrier.0),
            Event::Once { object, phase } => {
                let detail = match phase {
                    OncePhase::Found => ONCE_FOUND,
                    OncePhase::Begins => ONCE_BEGINS,
                    OncePhase::Done => ONCE_DONE,
                };
                Self::about(Kind::Once, object.0).detail(detail)
            }
            Event::FutexWait { futex, is_repeated } => Self::about(Kind::FutexWait, futex.0).detail(is_repeated),
            Event::FutexWake { futex } => Self::about(Kind::FutexWake, futex.0),
            Event::Yield => Self::of(Kind::Yield),
            Event::Sleep => Self::of(Kind::Sleep),
            Event::Lifetime { object, is_destroyed } => Self::about(Kind::Lifetime, object.0).detail(is_destroyed),
            Event::Io { file, channel, is_done } => {
                Self { extra: channel.0, ..Self::about(Kind::Io, file) }.detail(is_done)
            }
            Event::Kill { signal, receiver } => Self { extra: plus_one(receiver), ..Self::about(Kind::Kill, signal) },
            Event::Cancel { target, is_test } => Self::about(Kind::Cancel, target.0.into()).detail(is_test),
            Event::SignalWait { signal, phase } => {
                let detail = match phase {
                    SignalWaitPhase::Begins => SIGNAL_WAIT_BEGINS,
                    SignalWaitPhase::Taken => SIGNAL_WAIT_TAKEN,
                    SignalWaitPhase::Ended => SIGNAL_WAIT_ENDED,
                };
                Self::about(Kind::SignalWait, signal).detail(detail)
            }
            Event::Timer { timer, nanoseconds, is_expired } => {
                Self { extra: nanoseconds, ..Self::about(Kind::Timer, timer.0.into()) }.detail(is_expired)
            }
            Event::Other => Self::about(Kind::Other, 0),
            Event::SignalSetup { signal } => Self::about(Kind::SignalSetup, signal),
            Event::End { is_final } => Self::of(Kind::End).detail(is_final),
            Event::State { touched, cell, is_change } => {
                Self { extra: touched.pack(), ..Self::about(Kind::State, cell.into()) }.detail(is_change)
            }
            _ => Self::of_note(event),
        }
    }

    /// Encodes events that are not operations.
    fn of_note(event: Event) -> Self {
        match event {
            Event::Blocked { on, may_wake } => Self { size: may_wake.into(), ..Self::blockage(Kind::Blocked, on) },
            Event::Suspended { on } => Self::blockage(Kind::Suspended, on),
            Event::Woken => Self::of(Kind::Woken),
            Event::BlockedSet(set) => Self { extra: set.members, ..Self::about(Kind::BlockedSet, set.first.0.into()) },
            Event::WokenSet(set) => Self { extra: set.members, ..Self::about(Kind::WokenSet, set.first.0.into()) },
            Event::Switch { to, cause, is_exhausted } => {
                Self { size: is_exhausted.into(), ..Self::about(Kind::Switch, to.0.into()) }.detail(cause as u8)
            }
            Event::Deadline { time } => Self::about(Kind::Deadline, time),
            Event::RaceFirst(side) => Self::race(Kind::RaceFirst, side),
            Event::RaceSecond(side) => Self::race(Kind::RaceSecond, side),
            Event::Shared => Self::of(Kind::Shared),
            Event::Allocated { block, size, is_stack } => {
                let detail = if is_stack { ALLOCATED_STACK } else { 0 };
                Self { extra: size, detail, ..Self::about(Kind::Allocated, block.0) }
            }
            Event::Taken { block, size } => Self { extra: size, ..Self::about(Kind::Taken, block.0) },
            Event::Mapped { block, size } => Self { extra: size, ..Self::about(Kind::Mapped, block.0) },
            Event::ThreadState { on } => {
                on.map_or_else(|| Self::of(Kind::ThreadState), |on| Self::blockage(Kind::ThreadState, on))
            }
            Event::Misuse { what, object, other } => {
                Self { extra: plus_one(other), ..Self::about(Kind::Misuse, object) }.detail(what as u8)
            }
            Event::Handler { signal, is_entry } => Self::about(Kind::Handler, signal).detail(!is_entry),
            Event::Escape { what, object } => Self::about(Kind::Escape, object).detail(what as u8),
            Event::Cancelled => Self::of(Kind::Cancelled),
            Event::Annotated => Self::of(Kind::Annotated),
            Event::Value { before, after, size } => {
                let known = |value: Option<u64>, bit: u8| if value.is_some() { bit } else { 0 };
                Self {
                    kind: Kind::Value,
                    object: before.unwrap_or(0),
                    extra: after.unwrap_or(0),
                    size,
                    detail: known(before, VALUE_BEFORE) | known(after, VALUE_AFTER),
                }
            }
            Event::Initialised { object } => Self::about(Kind::Initialised, object.0),
            Event::Found { object } => Self::about(Kind::Found, object.0),
            Event::BlockBegin => Self::of(Kind::Began),
            Event::BlockEnd => Self::of(Kind::Ended),
            Event::Enter { returns_here } => Self::of(Kind::Entered).detail(returns_here),
            Event::Leave => Self::of(Kind::Left),
            Event::Branch { value } => Self::about(Kind::Branched, value),
            Event::Call { callee } => Self::about(Kind::Called, callee.0),
            Event::Counted { accesses } => Self::about(Kind::Counted, accesses),
            Event::Passed { accesses } => Self::about(Kind::Passed, accesses),
            Event::Numbered { path } => Self::about(Kind::Numbered, path.0),
            Event::Panic { printed_as } => Self::about(Kind::Panic, printed_as),
            Event::Named { name } => {
                let [mut first, mut second] = [[0; 8]; 2];
                first.copy_from_slice(&name[..8]);
                second.copy_from_slice(&name[8..]);
                Self { extra: u64::from_le_bytes(second), ..Self::about(Kind::Named, u64::from_le_bytes(first)) }
            }
            // Operations are encoded elsewhere.
            _ => Self::of(Kind::None),
        }
    }
}

impl Event {
    /// Returns the record that decodes to this event. Sizes of more than 255 bytes need a range access
    /// ([`AccessMode::is_range`]).
    #[must_use]
    pub fn record(self, at: Position) -> Record {
        let Fields { kind, object, extra, size, detail } = Fields::of_event(self);
        Record {
            index: at.number,
            code: at.code,
            object,
            extra,
            thread: at.thread,
            stack: at.stack,
            site: at.site.map_or(0, SiteId::logged),
            kind,
            size,
            detail,
            reserved: 0,
        }
    }
}
