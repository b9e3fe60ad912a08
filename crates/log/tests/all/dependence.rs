//! The dependence of operations, and the past of an execution.

use proptest::prelude::*;
use racehunter_log::*;

fn access(mode: AccessMode, address: u64, size: u64) -> Event {
    Event::Access(Access { mode, address: Address(address), size, is_excused: false })
}

fn write(address: u64) -> Event {
    access(AccessMode::Write, address, 4)
}

fn read(address: u64) -> Event {
    access(AccessMode::Read, address, 4)
}

fn lock(lock: u64) -> Event {
    Event::Acquire { lock: Address(lock), mode: LockMode::Mutex, attempt: Attempt::Blocking }
}

fn records(events: &[(u32, Event)]) -> Vec<Record> {
    // A place for each thread and kind of operation, as in a program.
    let place = |thread: u32, event: &Event| {
        let name = format!("{event:?}");
        let word = name.bytes().take(12).fold(u64::from(thread), |sum, byte| sum * 31 + u64::from(byte));
        CodeAddress(word)
    };
    (1..)
        .zip(events)
        .map(|(number, &(thread, event))| {
            let position = Position {
                number: EventNumber(number),
                thread: ThreadId(thread),
                code: place(thread, &event),
                ..Position::default()
            };
            event.record(position)
        })
        .collect()
}

fn past(events: &[(u32, Event)]) -> u128 {
    let mut past = Past::default();
    for entry in entries(&records(events)) {
        past.note(entry, &Footprint::of(entry, false));
    }
    past.number()
}

#[test]
fn only_the_order_of_conflicting_operations_counts() {
    assert_eq!(past(&[(0, write(8)), (1, write(16))]), past(&[(1, write(16)), (0, write(8))]));
    assert_eq!(past(&[(0, read(8)), (1, read(8))]), past(&[(1, read(8)), (0, read(8))]));
    assert_ne!(past(&[(0, write(8)), (1, read(8))]), past(&[(1, read(8)), (0, write(8))]));
    assert_ne!(past(&[(0, write(8)), (1, write(8))]), past(&[(1, write(8)), (0, write(8))]));
    assert_ne!(past(&[(0, lock(64)), (1, lock(64))]), past(&[(1, lock(64)), (0, lock(64))]));
    let io = Event::Io { file: 1, channel: Address(0), is_done: true };
    assert_ne!(past(&[(0, io), (1, write(8))]), past(&[(1, write(8)), (0, io)]));
    let end = Event::End { is_final: false };
    assert_ne!(past(&[(0, end), (1, write(8))]), past(&[(1, write(8)), (0, end)]));
    assert_eq!(past(&[(0, Event::Yield), (1, write(8))]), past(&[(1, write(8)), (0, Event::Yield)]));
    // Two readers between two writers, in either order; but not after them.
    let with = |first: u32, second: u32| past(&[(0, write(8)), (first, read(8)), (second, read(8)), (3, write(8))]);
    assert_eq!(with(1, 2), with(2, 1));
    assert_ne!(with(1, 2), past(&[(0, write(8)), (1, read(8)), (3, write(8)), (2, read(8))]));
}

#[test]
fn a_history_covers_events_up_to_one_and_knows_the_live_threads() {
    let create = Event::Create { child: ThreadId(1), start: CodeAddress(0), is_timer: false };
    let log = records(&[(0, create), (1, write(8)), (1, Event::Exit), (0, write(8))]);
    let mut history = History::new(&log);
    let beginning = history.before(EventNumber(1));
    assert_eq!(history.live().collect::<Vec<_>>(), [ThreadId(0)]);
    let created = history.before(EventNumber(2));
    assert_ne!(beginning, created);
    assert_eq!(history.live().collect::<Vec<_>>(), [ThreadId(0), ThreadId(1)]);
    history.before(EventNumber(4));
    assert_eq!(history.live().collect::<Vec<_>>(), [ThreadId(0)]);
}

#[test]
fn an_event_that_happens_because_time_passes_conflicts_with_all() {
    let on = Blockage { wait: Wait::Condition, object: 64, owner: None };
    let timed = |events: &[(u32, Event)]| History::new(&records(events)).before(EventNumber::NEVER);
    let wait_end = Event::WaitEnd { condition: Address(64), mutex: Address(72), reason: WaitEndReason::TimedOut };
    let suspended = (1, Event::Suspended { on });
    let first = timed(&[suspended, (1, wait_end), (0, write(8))]);
    let second = timed(&[suspended, (0, write(8)), (1, wait_end)]);
    assert_ne!(first, second);
    // A signal has woken the thread, so only operations on the condition variable and the mutex matter.
    let woken = (1, Event::Woken);
    assert_eq!(
        timed(&[suspended, woken, (1, wait_end), (0, write(8))]),
        timed(&[suspended, woken, (0, write(8)), (1, wait_end)])
    );
}

/// An operation of a small machine: memory, locks, threads.
fn operation() -> impl Strategy<Value = Event> {
    let modes = vec![AccessMode::Read, AccessMode::Write, AccessMode::AtomicUpdate];
    let wide = vec![AccessMode::ReadRange, AccessMode::WriteRange, AccessMode::Free];
    prop_oneof![
        (prop::sample::select(modes), 0_u64..40, 1_u64..9).prop_map(|(mode, at, size)| access(mode, at, size)),
        (prop::sample::select(wide), 0_u64..40, 0_u64..30).prop_map(|(mode, at, size)| access(mode, at, size)),
        (0_u64..5).prop_map(|at| lock(8 * at)),
        (0_u64..5).prop_map(|at| Event::Release { lock: Address(8 * at), is_rwlock: false, is_refused: false }),
        (0_u64..5, 0_u64..5).prop_map(|(condition, mutex)| Event::Wait {
            condition: Address(8 * condition),
            mutex: Address(8 * mutex),
            is_repeated: false
        }),
        (1_u32..4).prop_map(|target| Event::Join { target: ThreadId(target), outcome: JoinOutcome::Joined }),
        Just(Event::Yield),
    ]
}

/// Returns the words that an operation touches, in the simplest way: byte by byte.
fn touched(event: &Event) -> Vec<(u64, bool)> {
    match event {
        Event::Access(access) => {
            (0..access.size.max(1)).map(|byte| ((access.address.0 + byte) / 8, access.mode.writes())).collect()
        }
        Event::Wait { condition, mutex, .. } => vec![(condition.0 / 8, true), (mutex.0 / 8, true)],
        Event::Join { target, .. } => vec![(1000 + u64::from(target.0), true)],
        Event::Acquire { lock, .. } | Event::Release { lock, .. } => vec![(lock.0 / 8, true)],
        _ => Vec::new(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn operations_conflict_when_they_touch_the_same_word_and_one_changes_it(a in operation(), b in operation()) {
        let both = [(0, a), (1, b)];
        let log = records(&both);
        let [one, other] = [0, 1].map(|at: usize| Footprint::of(Entry::of(&log[at]), false));
        let meet = touched(&a).iter().any(|x| touched(&b).iter().any(|y| x.0 == y.0 && (x.1 || y.1)));
        prop_assert_eq!(one.conflicts(&other), meet);
        prop_assert_eq!(other.conflicts(&one), meet);
        // The past agrees: it changes exactly when the two conflict.
        prop_assert_eq!(past(&both) != past(&[(1, b), (0, a)]), meet);
        let mut changed = one.clone();
        changed.change_all();
        prop_assert!(!one.conflicts(&other) || changed.conflicts(&other));
    }

    /// Any sequence of swaps of independent neighbours keeps the past.
    #[test]
    fn independent_neighbours_can_be_exchanged(
        events in prop::collection::vec((0_u32..3, operation()), 1..12),
        exchanges in prop::collection::vec(any::<prop::sample::Index>(), 0..40),
    ) {
        let mut moved = events.clone();
        for exchange in exchanges {
            let at = exchange.index(moved.len());
            let Some(&[a, b]) = moved.get(at..at + 2).map(|pair| <&[_; 2]>::try_from(pair).unwrap()) else { continue };
            let log = records(&[a, b]);
            let [one, other] = [0, 1].map(|at: usize| Footprint::of(Entry::of(&log[at]), false));
            if a.0 != b.0 && !one.conflicts(&other) {
                moved.swap(at, at + 1);
            }
        }
        prop_assert_eq!(past(&events), past(&moved));
    }
}

#[test]
fn accesses_overlap_when_they_have_a_byte_in_common() {
    let at = |address, size| Access { mode: AccessMode::Write, address: Address(address), size, is_excused: false };
    assert!(at(100, 4).overlaps(&at(103, 1)) && at(103, 1).overlaps(&at(100, 4)));
    assert!(!at(100, 4).overlaps(&at(104, 4)) && !at(104, 4).overlaps(&at(100, 4)));
    assert!(at(90, 11).overlaps(&at(100, 4)) && !at(90, 11).overlaps(&at(101, 4)));
    assert!(at(100, 0).overlaps(&at(100, 4)), "an access covers at least one byte");
}
