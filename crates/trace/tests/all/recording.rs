//! Logs of executions become traces.

use racehunter_abi::control::EXCUSED;
use racehunter_abi::{Kind, Record};
use racehunter_log::{CodeAddress, EventNumber, ThreadId};
use racehunter_trace::recording::{Converter, PlainNames, Recording, Survey, code_of};
use racehunter_trace::{Error, Op, Trace, file, text};

fn record(index: u64, thread: u32, kind: Kind, object: u64, size: u8) -> Record {
    Record {
        index: EventNumber(index),
        thread: ThreadId(thread),
        kind,
        object,
        size,
        code: CodeAddress(0x100 + index),
        ..Record::default()
    }
}

fn trace(records: &[Record]) -> Trace {
    Recording::of(records).unwrap().trace
}

fn text_of(records: &[Record]) -> String {
    let mut bytes = Vec::new();
    text::write(&trace(records), &mut bytes).unwrap();
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
        "main|fork(main/1)|0x101\n\
         main|w(0x1000)|0x102\n\
         main|%w(0x1004)|0x102\n\
         main|%w(0x1006)|0x102\n\
         main/1|r(0x1004)|0x103\n\
         main/1|au(0x2000)|0x104\n"
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
    assert_eq!(
        text_of(&log),
        "main|w(0x1000)|0x101\nmain|w(0x1000)|0x102\nmain|+w(0x1008)|0x102\nT1|w(0x1000'1)|0x103\n"
    );
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
    let trace = trace(&log);
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

/// Returns the thread of each event of the schedule that a reordering stands for.
fn schedule(recording: &Recording, reordering: impl IntoIterator<Item = u32>) -> Vec<u32> {
    recording.schedule(reordering, &[]).threads()
}

#[test]
fn reorderings_are_schedules_of_whole_operations() {
    let log = [
        record(1, 0, Kind::Create, 1, 0),
        record(2, 0, Kind::Write, 0x1000, 8),
        record(3, 1, Kind::Write, 0x1004, 2),
        record(4, 1, Kind::Yield, 0, 0),
    ];
    let recording = Recording::of(&log).unwrap();
    assert_eq!(schedule(&recording, 0..recording.trace.len() as u32), [0, 0, 1, 1]);
    // The second thread first, and then all three parts of the first one's access, or not all of them.
    assert_eq!(schedule(&recording, [0, 4, 1, 2, 3]), [0, 1, 0]);
    assert_eq!(schedule(&recording, [0, 1, 2]), [0]);
    assert_eq!(schedule(&recording, [0, 1, 2, 4]), [0, 1]);
    assert_eq!(recording.schedule([0, 4], &[1]).threads(), [0, 1, 0]);
}

#[test]
fn what_is_missing_goes_along_with_what_follows() {
    // Thread 0 performs events 2 and 3, thread 1 events 5 and 6, without a record.
    let log = [
        record(1, 0, Kind::Create, 1, 0),
        record(4, 0, Kind::Write, 0x1000, 4),
        record(5, 0, Kind::Switch, 1, 0),
        record(7, 1, Kind::Write, 0x1000, 4),
        record(8, 1, Kind::Switch, 0, 0),
        record(9, 0, Kind::Write, 0x1000, 4),
    ];
    let recording = Recording::of(&log).unwrap();
    assert_eq!(schedule(&recording, 0..4), [0, 0, 0, 0, 1, 1, 1, 0, 0]);
    let other = recording.schedule([0, 2, 1], &[3]);
    assert_eq!(other.threads(), [0, 1, 1, 1, 0, 0, 0, 0, 0]);
    let decisions: Vec<_> = other.switches.iter().map(|switch| (switch.at.0, switch.from.0, switch.to.0)).collect();
    assert_eq!(decisions, [(2, 0, 1), (5, 1, 0)]);
    assert_eq!([1, 2, 4, 5, 9].map(|n| other.event_at(n)), [0, 2, 2, 1, 3].map(Some));
    assert_eq!(other.event_at(10), None);
}

#[test]
fn threads_are_numbered_in_the_order_in_which_they_are_made() {
    let log = [
        record(1, 0, Kind::Create, 1, 0),
        record(2, 0, Kind::Create, 2, 0),
        record(3, 1, Kind::Create, 3, 0),
        record(4, 2, Kind::Create, 4, 0),
        record(5, 3, Kind::Yield, 0, 0),
        record(6, 4, Kind::Write, 0x1000, 4),
    ];
    let recording = Recording::of(&log).unwrap();
    assert_eq!(recording.trace.threads(), ["main", "main/1", "main/2", "main/1/1", "main/2/1"]);
    // The last thread of the trace comes first now, and is number 3.
    assert_eq!(schedule(&recording, [0, 1, 3, 5, 2, 4]), [0, 0, 2, 3, 1, 4]);
}

#[test]
fn a_wake_up_comes_after_its_signal() {
    let log = [
        record(1, 0, Kind::Create, 1, 0),
        record(2, 0, Kind::Lock, 0x10, 0),
        Record { extra: 0x10, ..record(3, 0, Kind::Wait, 0x20, 0) },
        record(4, 1, Kind::Signal, 0x20, 0),
        // The log has no record of the wake-up.
        record(5, 0, Kind::Lock, 0x10, 0),
    ];
    assert_eq!(
        text_of(&log),
        "main|fork(main/1)|0x101\nmain|acq(0x10)|0x102\nmain|rel(0x10)|0x103\nmain|+wait(0x20)|0x103\n\
         main/1|signal(0x20)|0x104\nmain|+wake(0x20)|0x103\nmain|acq(0x10)|0x105\n"
    );
    // The added event is not an event of the execution.
    let recording = Recording::of(&log).unwrap();
    assert_eq!(schedule(&recording, 0..7), [0, 0, 0, 1, 0]);
}

#[test]
fn locks_are_what_changes_who_has_them() {
    let log = [
        record(1, 0, Kind::Create, 1, 0),
        // An error of the program, which does not hold it.
        record(2, 0, Kind::Unlock, 0x10, 0),
        record(3, 1, Kind::Lock, 0x10, 0),
        record(4, 1, Kind::Exit, 0, 0),
        // No thread has released it: it may be robust.
        record(5, 0, Kind::Lock, 0x10, 0),
        record(6, 0, Kind::Unlock, 0x10, 0),
        record(7, 0, Kind::ReadLock, 0x20, 0),
        record(8, 0, Kind::ReadLock, 0x20, 0),
        record(9, 0, Kind::RwUnlock, 0x20, 0),
        record(10, 0, Kind::RwUnlock, 0x20, 0),
        record(11, 0, Kind::RwUnlock, 0x20, 0),
    ];
    let trace = trace(&log);
    let events: Vec<(Op, u32)> = trace.events().map(|event| (event.op, event.object)).collect();
    let none = u32::MAX;
    assert_eq!(
        events[1..],
        [
            (Op::Local, none),
            (Op::Acquire, 0),
            (Op::Local, none),
            (Op::Order, 1),
            (Op::Order, 1),
            (Op::Acquire, 2),
            (Op::Release, 2),
            (Op::AcquireShared, 3),
            (Op::AcquireShared, 3),
            (Op::ReleaseShared, 3),
            (Op::ReleaseShared, 3),
            (Op::Local, none),
        ]
    );
}

#[test]
fn passing_a_barrier_comes_after_all_arrivals() {
    let log = [
        record(1, 0, Kind::Create, 1, 0),
        record(2, 0, Kind::BarrierWait, 0x10, 0),
        record(3, 1, Kind::BarrierWait, 0x10, 0),
        record(4, 1, Kind::Write, 0x1000, 4),
        record(5, 0, Kind::Write, 0x1000, 4),
    ];
    assert_eq!(
        text_of(&log),
        "main|fork(main/1)|0x101\nmain|arrive(0x10)|0x102\nmain/1|arrive(0x10)|0x103\nmain/1|+depart(0x10)|0x103\n\
         main/1|w(0x1000)|0x104\nmain|+depart(0x10)|0x102\nmain|w(0x1000)|0x105\n"
    );
    // A thread that has arrived but not left yet has arrived.
    let recording = Recording::of(&log).unwrap();
    assert_eq!(schedule(&recording, [0, 1, 2, 3]), [0, 0, 1]);
}

#[test]
fn logs_out_of_order_are_refused() {
    let log = [record(1, 0, Kind::Lock, 0x10, 0), record(1, 0, Kind::Unlock, 0x10, 0)];
    assert!(matches!(Recording::of(&log), Err(Error::Disordered(1))));
}

#[test]
fn what_happens_within_an_operation_comes_before_it() {
    // The C library allocates while it opens a file, by a function of the program that takes a lock.
    let log = [
        record(1, 0, Kind::Create, 1, 0),
        record(3, 0, Kind::Lock, 0x10, 0),
        record(4, 0, Kind::Unlock, 0x10, 0),
        record(2, 0, Kind::Io, 5, 0),
        record(5, 1, Kind::Write, 0x1000, 4),
    ];
    assert_eq!(
        text_of(&log),
        "main|fork(main/1)|0x101\nmain|acq(0x10)|0x103\nmain|rel(0x10)|0x104\nmain|+order(0x0)|0x102\nmain/1|w(0x1000)|0x105\n"
    );
    // The program counts it where it began.
    assert_eq!(schedule(&Recording::of(&log).unwrap(), [0, 1, 2, 3, 4]), [0, 0, 0, 0, 1]);
    // No thread can have done events that are not missing.
    let twice = [&log[..4], &log[3..]].concat();
    assert!(matches!(Recording::of(&twice), Err(Error::Disordered(2))));
}

#[test]
fn a_lock_that_a_thread_keeps_to_its_end_comes_after_it() {
    let log = [
        record(1, 0, Kind::Create, 1, 0),
        record(2, 0, Kind::Create, 2, 0),
        record(3, 1, Kind::Lock, 0x10, 0),
        record(4, 1, Kind::Exit, 0, 0),
        record(5, 0, Kind::Lock, 0x10, 0),
        record(6, 0, Kind::Unlock, 0x10, 0),
        record(7, 2, Kind::Lock, 0x10, 0),
    ];
    assert_eq!(
        text_of(&log),
        "main|fork(main/1)|0x101\nmain|fork(main/2)|0x102\nmain/1|acq(0x10)|0x103\nmain/1|local|0x104\n\
         main/1|+order(0x10)|0x104\nmain|order(0x10)|0x105\nmain|+acq(0x10)|0x105\nmain|rel(0x10)|0x106\n\
         main/2|order(0x10)|0x107\nmain/2|+acq(0x10)|0x107\n"
    );
    // Another lock than that of the first thread.
    let trace = trace(&log);
    assert_ne!(trace.object(2), trace.object(6));
    assert_eq!(trace.object(6), trace.object(9));
}

#[test]
fn memory_that_is_given_out_again_is_other_memory() {
    let memory = |index, kind, size| Record { extra: size, ..record(index, 0, kind, 0x1000, 0) };
    for kind in [Kind::Allocated, Kind::Mapped] {
        let log = [
            record(1, 0, Kind::Create, 1, 0),
            memory(1, kind, 64),
            record(2, 0, Kind::Write, 0x1010, 4),
            record(3, 1, Kind::Write, 0x1040, 4),
            memory(3, kind, 64),
            record(4, 1, Kind::Write, 0x1010, 4),
            record(5, 1, Kind::Write, 0x1040, 4),
        ];
        let objects: Vec<u32> = trace(&log).events().skip(1).map(|event| event.object).collect();
        assert_ne!(objects[0], objects[2], "{kind:?}");
        // Behind the block.
        assert_eq!(objects[1], objects[3], "{kind:?}");
    }
}

#[test]
fn what_is_told_to_detectors_is_in_the_trace() {
    let excused = |index, thread, kind| Record { detail: EXCUSED, ..record(index, thread, kind, 0x1000, 4) };
    let log = [
        record(1, 0, Kind::Create, 1, 0),
        excused(2, 0, Kind::Write),
        excused(3, 1, Kind::Read),
        record(4, 1, Kind::Fence, 0x20, 0),
        record(5, 1, Kind::Fence, 0, 0),
        // It has waited for an initialisation, which is not an event.
        Record { index: EventNumber(5), ..record(0, 1, Kind::Found, 0x30, 0) },
    ];
    let told = text_of(&log);
    assert!(told.starts_with("main|fork(main/1)|0x101\nmain|aw(0x1000)|0x102\nmain/1|ar(0x1000)|0x103\n"), "{told}");
    assert!(told.contains("main/1|order(0x20)|0x104\nmain/1|local|0x105\nmain/1|+order(0x30)"), "{told}");
}

#[test]
fn a_log_can_be_written_piece_by_piece() {
    let mut log = vec![record(1, 0, Kind::Create, 1, 0)];
    for index in 2..200_u64 {
        log.push(record(index, (index / 7 % 2) as u32, Kind::Write, 0x1000 + index % 13 * 3, (1 + index % 8) as u8));
    }
    let mut survey = Survey::default();
    log.chunks(9).for_each(|chunk| survey.add(chunk));
    let writer = file::Writer::new(Vec::new(), false, false).unwrap();
    let mut converter = Converter::new(survey.finish(), &PlainNames, writer).unwrap();
    log.chunks(11).for_each(|chunk| converter.add(chunk).unwrap());
    let bytes = converter.finish().finish().unwrap();
    assert_eq!(file::Reader::new(&bytes[..]).unwrap().read().unwrap(), trace(&log));
    // Events that are missing from the log still count, so that numbers stay the same.
    log.remove(100);
    let mut survey = Survey::default();
    survey.add(&log);
    let writer = file::Writer::new(Vec::new(), false, false).unwrap();
    let mut converter = Converter::new(survey.finish(), &PlainNames, writer).unwrap();
    converter.add(&log).unwrap();
    let bytes = converter.finish().finish().unwrap();
    let trace = file::Reader::new(&bytes[..]).unwrap().read().unwrap();
    assert_eq!(trace.events().filter(|event| !event.part).count(), 199);
    assert_eq!(trace.events().filter(|event| event.op == Op::Local).count(), 1);
}

#[test]
fn names_of_sites_tell_the_code() {
    assert_eq!(code_of("0x1f"), Some(0x1f));
    assert_eq!(code_of("a@b.c:1:2@0x1f"), Some(0x1f));
    assert_eq!(code_of("a.c:1:2"), None);
}

#[test]
fn blocks_are_marked_and_joins_are_told_apart() {
    let mark = |thread, kind| Record { index: EventNumber(2), thread, kind, ..Record::default() };
    let log = [
        record(1, 0, Kind::Create, 1, 0),
        record(2, 1, Kind::Switch, 0, 0),
        mark(ThreadId(1), Kind::Began),
        record(2, 1, Kind::Write, 0x1000, 8),
        mark(ThreadId(1), Kind::Ended),
        record(3, 0, Kind::Switch, 0, 0),
        // It would not have waited for ever; then it tries again, which is a mistake.
        Record { extra: 1, detail: 1, ..record(3, 0, Kind::Join, 1, 0) },
        Record { extra: 2, ..record(4, 0, Kind::Join, 1, 0) },
    ];
    assert_eq!(
        text_of(&log),
        "main|fork(main/1)|0x101\n\
         main/1|+begin|0x0\n\
         main/1|w(0x1000)|0x102\n\
         main/1|+end|0x0\n\
         main|tjoin(main/1)|0x103\n\
         main|local|0x104\n"
    );
    // A thread cannot be suspended at a mark.
    let recording = Recording::of(&log).unwrap();
    let switches = recording.schedule([0, 1, 2, 3], &[]).switches;
    assert_eq!(switches.iter().map(|switch| (switch.at.0, switch.to.0)).collect::<Vec<_>>(), [(2, 1)]);
}
