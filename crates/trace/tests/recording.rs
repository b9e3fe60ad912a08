//! Logs of executions become traces.

use racehunter_event::{Kind, Record};
use racehunter_trace::{Error, Op, recording, text};

fn record(index: u64, thread: u32, kind: Kind, object: u64, size: u8) -> Record {
    Record { index, thread, kind, object, size, code: 0x100 + index, ..Record::default() }
}

fn text_of(records: &[Record]) -> String {
    let mut bytes = Vec::new();
    text::write(&recording::trace(records).unwrap(), &mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

#[test]
fn overlapping_accesses_share_pieces() {
    let log = [
        record(1, 0, Kind::Create, 1, 0),
        record(2, 0, Kind::Write, 0x1000, 8),
        record(2, 1, Kind::Switch, 0, 0),
        record(3, 1, Kind::Read, 0x1004, 2),
        record(4, 1, Kind::AtomicUpdate, 0x2000, 4),
    ];
    assert_eq!(
        text_of(&log),
        "T0|fork(T1)|0x101\n\
         T0|w(0x1000)|0x102\n\
         T0|%w(0x1004)|0x102\n\
         T0|%w(0x1006)|0x102\n\
         T1|r(0x1004)|0x103\n\
         T1|au(0x2000)|0x104\n"
            .replace('%', "+")
    );
}

#[test]
fn freed_memory_is_other_memory() {
    let log = [
        record(1, 0, Kind::Write, 0x1000, 8),
        Record { extra: 16, ..record(2, 0, Kind::Free, 0x1000, 0) },
        record(3, 1, Kind::Write, 0x1000, 8),
    ];
    assert_eq!(text_of(&log), "T0|w(0x1000)|0x101\nT0|w(0x1000)|0x102\nT0|+w(0x1008)|0x102\nT1|w(0x1000'1)|0x103\n");
}

#[test]
fn synchronisation_has_its_words() {
    let log = [
        record(1, 0, Kind::Lock, 0x10, 0),
        Record { extra: 0x10, ..record(2, 0, Kind::Wait, 0x20, 0) },
        record(3, 1, Kind::Signal, 0x20, 0),
        record(4, 0, Kind::WaitEnd, 0x20, 0),
        record(5, 0, Kind::Lock, 0x10, 0),
        record(6, 1, Kind::TryLock, 0x10, 0),
        record(7, 1, Kind::ReadLock, 0x30, 0),
        record(8, 1, Kind::RwUnlock, 0x30, 0),
        record(9, 1, Kind::WriteLock, 0x30, 0),
        record(10, 1, Kind::RwUnlock, 0x30, 0),
        record(11, 1, Kind::Yield, 0, 0),
        Record { extra: 7, ..record(12, 1, Kind::Io, 3, 0) },
    ];
    let trace = recording::trace(&log).unwrap();
    let ops: Vec<Op> = trace.events().map(|event| event.op).collect();
    assert_eq!(
        ops,
        [
            Op::Acquire,
            Op::Release,
            Op::Wait,
            Op::Signal,
            Op::Wake,
            Op::Acquire,
            Op::TryFailed,
            Op::AcquireShared,
            Op::ReleaseShared,
            Op::Acquire,
            Op::Release,
            Op::Local,
            Op::Order,
        ]
    );
    let wholes = trace.events().filter(|event| !event.part).count();
    assert_eq!(wholes, log.len());
}

#[test]
fn logs_with_gaps_are_refused() {
    let log = [record(1, 0, Kind::Lock, 0x10, 0), record(3, 0, Kind::Unlock, 0x10, 0)];
    assert!(matches!(recording::trace(&log), Err(Error::Unobserved(2))));
}

#[test]
fn reorderings_are_schedules_of_whole_operations() {
    let log = [
        record(1, 0, Kind::Create, 1, 0),
        record(2, 0, Kind::Write, 0x1000, 8),
        record(3, 1, Kind::Write, 0x1004, 2),
        record(4, 1, Kind::Yield, 0, 0),
    ];
    let trace = recording::trace(&log).unwrap();
    assert_eq!(recording::schedule(&trace, 0..trace.len() as u32), [0, 0, 1, 1]);
    // The second thread first, and then all three parts of the first one's access, or not all of them.
    assert_eq!(recording::schedule(&trace, [0, 4, 1, 2, 3]), [0, 1, 0]);
    assert_eq!(recording::schedule(&trace, [0, 1, 2]), [0]);
    assert_eq!(recording::schedule(&trace, [0, 1, 2, 4]), [0, 1]);
}
