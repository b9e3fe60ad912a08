//! Records and events: encoding and decoding are inverse, and any log can be read.

use proptest::prelude::*;
use racehunter_abi::Kind;
use racehunter_log::*;

fn address() -> impl Strategy<Value = Address> {
    any::<u64>().prop_map(Address)
}

fn thread() -> impl Strategy<Value = ThreadId> {
    any::<u32>().prop_map(ThreadId)
}

fn other_thread() -> impl Strategy<Value = Option<ThreadId>> {
    prop::option::of(thread())
}

/// Every value of a one-byte enumeration.
fn byte<T: std::fmt::Debug>(from: fn(u8) -> Option<T>) -> impl Strategy<Value = T> {
    any::<u8>().prop_filter_map("not one of these", from)
}

fn access() -> impl Strategy<Value = Access> {
    use AccessMode::{AtomicRead, AtomicUpdate, AtomicWrite, Free, Read, ReadRange, Write, WriteRange};
    let simple = prop::sample::select(vec![Read, Write, AtomicRead, AtomicWrite, AtomicUpdate]);
    let simple = (simple, 0_u64..=255);
    let wide = (prop::sample::select(vec![ReadRange, WriteRange, Free]), any::<u64>());
    let which = prop_oneof![simple, wide];
    (which, address(), any::<bool>()).prop_map(|((mode, size), address, excused)| {
        let is_excused = excused && !mode.is_atomic() && mode != Free;
        Access { mode, address, size, is_excused }
    })
}

fn blockage() -> impl Strategy<Value = Blockage> {
    let wait = byte(Wait::from_byte).prop_filter("it waits", |&wait| wait != Wait::Nothing);
    (wait, any::<u64>(), other_thread()).prop_map(|(wait, object, owner)| Blockage { wait, object, owner })
}

fn race_side() -> impl Strategy<Value = RaceSide> {
    let accessed = prop_oneof![
        access().prop_map(|access| RaceAccess::Access(access.mode)),
        Just(RaceAccess::ThreadEnd),
        Just(RaceAccess::Unknown)
    ];
    (accessed, address(), any::<u8>(), any::<u64>()).prop_map(|(access, address, size, block_size)| RaceSide {
        access,
        address,
        size,
        block_size,
    })
}

fn threads() -> impl Strategy<Value = ThreadSet> {
    (thread(), any::<u64>()).prop_map(|(first, members)| ThreadSet { first, members })
}

fn synchronisation() -> impl Strategy<Value = Event> {
    let mode = prop::sample::select(vec![LockMode::Mutex, LockMode::Read, LockMode::Write]);
    let attempt = prop::sample::select(vec![Attempt::Blocking, Attempt::Succeeded, Attempt::Failed]);
    let reason = prop::sample::select(vec![
        WaitEndReason::Signalled,
        WaitEndReason::TimedOut,
        WaitEndReason::Spurious,
        WaitEndReason::Cancelled,
    ]);
    let decrement = prop::sample::select(vec![
        SemaphoreAttempt::Blocking,
        SemaphoreAttempt::Succeeded,
        SemaphoreAttempt::Failed,
        SemaphoreAttempt::Inspected,
    ]);
    let phase = prop::sample::select(vec![OncePhase::Found, OncePhase::Begins, OncePhase::Done]);
    prop_oneof![
        (address(), mode, attempt).prop_map(|(lock, mode, attempt)| Event::Acquire { lock, mode, attempt }),
        (address(), any::<bool>(), any::<bool>()).prop_map(|(lock, is_rwlock, is_refused)| Event::Release {
            lock,
            is_rwlock,
            is_refused
        }),
        (address(), address(), any::<bool>()).prop_map(|(condition, mutex, is_repeated)| Event::Wait {
            condition,
            mutex,
            is_repeated
        }),
        (address(), address(), reason).prop_map(|(condition, mutex, reason)| Event::WaitEnd {
            condition,
            mutex,
            reason
        }),
        address().prop_map(|condition| Event::Signal { condition }),
        address().prop_map(|condition| Event::Broadcast { condition }),
        (address(), decrement).prop_map(|(semaphore, attempt)| Event::SemaphoreWait { semaphore, attempt }),
        address().prop_map(|semaphore| Event::SemaphorePost { semaphore }),
        address().prop_map(|barrier| Event::BarrierArrive { barrier }),
        address().prop_map(|barrier| Event::BarrierPass { barrier }),
        (address(), phase).prop_map(|(object, phase)| Event::Once { object, phase }),
        (address(), any::<bool>()).prop_map(|(futex, is_repeated)| Event::FutexWait { futex, is_repeated }),
        address().prop_map(|futex| Event::FutexWake { futex }),
        (address(), any::<bool>()).prop_map(|(object, is_destroyed)| Event::Lifetime { object, is_destroyed }),
    ]
}

fn operation() -> impl Strategy<Value = Event> {
    let outcome = prop::sample::select(vec![JoinOutcome::Joined, JoinOutcome::Tried, JoinOutcome::Refused]);
    let phase = prop::sample::select(vec![SignalWaitPhase::Begins, SignalWaitPhase::Taken, SignalWaitPhase::Ended]);
    prop_oneof![
        access().prop_map(Event::Access),
        synchronisation(),
        address().prop_map(|annotation| Event::Fence { annotation }),
        (thread(), any::<u64>(), any::<bool>()).prop_map(|(child, start, is_timer)| Event::Create {
            child,
            start: CodeAddress(start),
            is_timer
        }),
        (thread(), outcome).prop_map(|(target, outcome)| Event::Join { target, outcome }),
        thread().prop_map(|target| Event::Detach { target }),
        (any::<u64>(), address(), any::<bool>()).prop_map(|(file, channel, is_done)| Event::Io {
            file,
            channel,
            is_done
        }),
        (any::<u64>(), other_thread()).prop_map(|(signal, receiver)| Event::Kill { signal, receiver }),
        (thread(), any::<bool>()).prop_map(|(target, is_test)| Event::Cancel { target, is_test }),
        (any::<u64>(), phase).prop_map(|(signal, phase)| Event::SignalWait { signal, phase }),
        (thread(), any::<u64>(), any::<bool>()).prop_map(|(timer, nanoseconds, is_expired)| Event::Timer {
            timer,
            nanoseconds,
            is_expired
        }),
        any::<u64>().prop_map(|signal| Event::SignalSetup { signal }),
        Just(Event::Other),
        any::<bool>().prop_map(|is_final| Event::End { is_final }),
        (any::<u64>(), any::<u16>(), any::<bool>()).prop_map(|(touched, cell, is_change)| Event::State {
            touched: Touched::unpack(touched),
            cell,
            is_change
        }),
        prop::sample::select(vec![Event::Exit, Event::Yield, Event::Sleep]),
    ]
}

fn note() -> impl Strategy<Value = Event> {
    let value = (prop::option::of(any::<u64>()), prop::option::of(any::<u64>()), 0_u8..=8);
    let scheduling = prop_oneof![
        (blockage(), any::<bool>()).prop_map(|(on, may_wake)| Event::Blocked { on, may_wake }),
        blockage().prop_map(|on| Event::Suspended { on }),
        threads().prop_map(Event::BlockedSet),
        threads().prop_map(Event::WokenSet),
        (thread(), byte(Cause::from_byte), any::<bool>()).prop_map(|(to, cause, is_exhausted)| Event::Switch {
            to,
            cause,
            is_exhausted
        }),
        any::<u64>().prop_map(|time| Event::Deadline { time }),
    ];
    let seen = prop_oneof![
        race_side().prop_map(Event::RaceFirst),
        race_side().prop_map(Event::RaceSecond),
        (address(), any::<u64>(), any::<bool>()).prop_map(|(block, size, is_stack)| Event::Allocated {
            block,
            size,
            is_stack
        }),
        (address(), any::<u64>()).prop_map(|(block, size)| Event::Mapped { block, size }),
        (address(), any::<u64>()).prop_map(|(block, size)| Event::Taken { block, size }),
        prop::option::of(blockage()).prop_map(|on| Event::ThreadState { on }),
        (byte(Misuse::from_byte), any::<u64>(), other_thread()).prop_map(|(what, object, other)| Event::Misuse {
            what,
            object,
            other
        }),
        (any::<u64>(), any::<bool>()).prop_map(|(signal, is_entry)| Event::Handler { signal, is_entry }),
        (byte(Escape::from_byte), any::<u64>()).prop_map(|(what, object)| Event::Escape { what, object }),
        value.prop_map(|(before, after, size)| Event::Value { before, after, size }),
        address().prop_map(|object| Event::Initialised { object }),
        address().prop_map(|object| Event::Found { object }),
    ];
    let code = prop_oneof![
        any::<bool>().prop_map(|returns_here| Event::Enter { returns_here }),
        any::<u64>().prop_map(|value| Event::Branch { value }),
        any::<u64>().prop_map(|callee| Event::Call { callee: CodeAddress(callee) }),
        any::<u64>().prop_map(|accesses| Event::Counted { accesses }),
        any::<u64>().prop_map(|accesses| Event::Passed { accesses }),
        any::<u64>().prop_map(|path| Event::Numbered { path: ThreadPath(path) }),
        any::<[u8; 16]>().prop_map(|name| Event::Named { name }),
        any::<u64>().prop_map(|printed_as| Event::Panic { printed_as }),
        prop::sample::select(vec![
            Event::Woken,
            Event::Shared,
            Event::Cancelled,
            Event::Annotated,
            Event::BlockBegin,
            Event::BlockEnd,
            Event::Leave,
            Event::Unknown,
        ]),
    ];
    prop_oneof![scheduling, seen, code]
}

fn position() -> impl Strategy<Value = Position> {
    (any::<u64>(), any::<u32>(), any::<u64>(), prop::option::of(0..u32::MAX), any::<u32>()).prop_map(
        |(number, thread, code, site, stack)| Position {
            number: EventNumber(number),
            thread: ThreadId(thread),
            code: CodeAddress(code),
            site: site.map(SiteId),
            stack,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn encoding_and_decoding_are_inverse(is_operation in any::<bool>(), a in operation(), b in note(), at in position()) {
        let event = if is_operation { a } else { b };
        let record = event.record(at);
        let entry = Entry::of(&record);
        prop_assert_eq!(entry.event(), event);
        prop_assert_eq!(entry.is_operation(), is_operation);
        prop_assert_eq!(entry.access(), event.access().copied());
        prop_assert_eq!(entry.variable(), event.variable());
        let seen = Position {
            number: entry.number(),
            thread: entry.thread(),
            code: entry.code(),
            site: entry.site(),
            stack: entry.stack() as u32,
        };
        prop_assert_eq!(seen, at);
    }

    /// A program under test can overwrite its log: any bytes decode, and the result is stable.
    #[test]
    fn any_record_decodes(
        kind in 0_u8..=110,
        words in any::<[u64; 4]>(),
        halves in any::<[u32; 3]>(),
        bytes in any::<[u8; 3]>(),
    ) {
        let kind = Kind::from_byte(kind).unwrap_or_default();
        let [index, code, object, extra] = words;
        let [thread, stack, site] = halves;
        let [size, detail, reserved] = bytes;
        let record = Record { index: EventNumber(index), code: CodeAddress(code), object, extra, thread: ThreadId(thread), stack, site, kind, size, detail, reserved };
        let entry = Entry::of(&record);
        let event = entry.event();
        prop_assert_eq!(event == Event::Unknown, kind == Kind::None);
        prop_assert_eq!(entry.variable(), event.variable());
        let _ = (Footprint::of(entry, false), event.file(), event.acquired(), event.released());
        // Invalid fields are dropped; everything valid survives.
        let is_lossy = matches!(event, Event::Blocked { .. } | Event::Suspended { .. } | Event::ThreadState { .. });
        if !is_lossy {
            let again = event.record(Position { thread: ThreadId(thread), ..Position::default() });
            prop_assert_eq!(Entry::of(&again).event(), event);
        }
    }
}

#[test]
fn every_kind_is_one_event_or_a_variant_of_one() {
    let mut seen = std::collections::BTreeMap::new();
    for kind in (0..=u8::MAX).filter_map(Kind::from_byte) {
        let record = Record { kind, ..Record::default() };
        let encoded = Entry::of(&record).event().record(Position::default());
        assert_eq!(encoded.kind, kind, "the kind does not survive");
        assert!(seen.insert(kind as u8, encoded.kind).is_none());
    }
    assert!(seen.len() > 60);
}
