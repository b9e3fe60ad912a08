//! Conflicting accesses and their descriptors, against the paper's definitions in their simplest form.

use proptest::prelude::*;
use racehunter_abi::{Kind, Record};
use racehunter_explore::{Conflict, Descriptor, Execution, Outcome, Portion, all_conflicts, conflicts, conflicts_of};
use racehunter_log::{CodeAddress, ThreadId, ThreadPath};

/// An access: thread, place, callers, address, size and kind.
type Access<'a> = (u32, u64, &'a [u64], u64, u8, Kind);

/// An execution of threads that `main` created.
struct Log {
    execution: Execution,
}

impl Log {
    fn new(threads: u32) -> Self {
        let execution = Execution {
            records: Vec::new(),
            stacks: vec![0],
            outcome: Outcome::Exited(0),
            events: 0,
            threads: threads + 1,
            partial: false,
            output: Vec::new(),
        };
        let mut log = Self { execution };
        for thread in 1..=threads {
            log.put(Record { object: u64::from(thread), kind: Kind::Create, ..Record::default() });
        }
        log
    }

    fn put(&mut self, record: Record) {
        self.execution.records.push(record);
    }

    fn access(&mut self, (thread, code, callers, object, size, kind): Access<'_>) {
        let stacks = &mut self.execution.stacks;
        let stack = stacks.len() as u32;
        stacks.extend([callers.len() as u64 + 1, 0, code]);
        stacks.extend(callers);
        self.put(Record {
            code: CodeAddress(code),
            object,
            extra: size.into(),
            thread: ThreadId(thread),
            stack,
            kind,
            size,
            ..Record::default()
        });
    }

    fn lock(&mut self, thread: u32, kind: Kind, object: u64) {
        self.put(Record { object, thread: ThreadId(thread), kind, ..Record::default() });
    }

    fn targets(&self) -> Vec<Conflict> {
        all_conflicts(&self.execution).targets
    }
}

/// Definition 10.
fn conflict(a: &Record, b: &Record) -> bool {
    let overlap = a.object == b.object
        || a.object < b.object && b.object < a.object + u64::from(a.size)
        || b.object < a.object && a.object < b.object + u64::from(b.size);
    a.thread != b.thread
        && overlap
        && (a.kind.is_write() || b.kind.is_write())
        && !(a.kind.is_atomic() && b.kind.is_atomic())
}

/// Returns the accesses that match a descriptor in the paper's words: the thread, the instruction, the top of the stack, and
/// the number among those.
fn described(execution: &Execution, wanted: &Descriptor, paths: &[u64]) -> Vec<usize> {
    let mut seen = vec![0; paths.len()];
    let mut found = Vec::new();
    for (at, record) in execution.records.iter().enumerate().filter(|(_, record)| record.kind.is_access()) {
        let callers = execution.callers(racehunter_log::Entry::of(record));
        if record.code == wanted.code
            && wanted.path.is_none_or(|path| path == ThreadPath(paths[record.thread.index()]))
            && callers.starts_with(&wanted.callers)
        {
            seen[record.thread.index()] += 1;
            if seen[record.thread.index()] == wanted.nth {
                found.push(at);
            }
        }
    }
    found
}

fn paths(threads: u32) -> Vec<u64> {
    let main = racehunter_abi::MAIN_PATH;
    std::iter::once(main).chain((1..=threads).map(|number| racehunter_abi::path_of(main, number))).collect()
}

const KINDS: [Kind; 4] = [Kind::Read, Kind::Write, Kind::AtomicRead, Kind::AtomicWrite];

proptest! {
    #[test]
    fn pairs_match_the_definition_of_a_conflict(
        accesses in prop::collection::vec((1..4_u32, 1..4_u64, 0..3_usize, 0..24_u64, 0..4_u32, 0..4_usize), 0..40)
    ) {
        let stacks: [&[u64]; 3] = [&[], &[7], &[7, 8]];
        let mut log = Log::new(3);
        for (thread, code, stack, address, size, kind) in accesses {
            // A place in the code always makes the same kind of access.
            let kind = KINDS[(kind + code as usize) % 4];
            log.access((thread, code, stacks[stack], 64 + address, 1 << size, kind));
        }
        let found = all_conflicts(&log.execution);
        let is_access = |(_, record): &(usize, &Record)| record.kind.is_access();
        let records: Vec<(usize, &Record)> = log.execution.records.iter().enumerate().filter(is_access).collect();
        let mut pairs = 0;
        let mut conflicting = std::collections::BTreeSet::new();
        for (i, (at, a)) in records.iter().enumerate() {
            for (other, b) in &records[..i] {
                if conflict(a, b) {
                    pairs += 1;
                    conflicting.extend([*at, *other]);
                }
            }
        }
        prop_assert_eq!(found.pairs, pairs, "each pair must be counted once");
        // Every descriptor matches one access, and every conflicting access has one.
        let mut targets = std::collections::BTreeSet::new();
        for target in &found.targets {
            let both = target.pair.each_ref().map(|access| described(&log.execution, access, &paths(3)));
            let [[first], [second]] = [&both[0][..], &both[1][..]] else { panic!("one each: {both:?} {target:?}") };
            let records = &log.execution.records;
            prop_assert!(conflict(&records[*first], &records[*second]), "{target:?}");
            targets.extend([*first, *second]);
        }
        prop_assert_eq!(targets, conflicting);
        let firsts = found.targets.iter().filter(|target| target.is_first).count();
        prop_assert_eq!(conflicts(&log.execution).len(), firsts);
        // The portions together are the whole, and each states how many are left.
        let (mut portion, mut together) = (Portion { from: 0, most: 3 }, std::collections::BTreeSet::new());
        loop {
            let part = conflicts_of(&log.execution, portion);
            prop_assert_eq!(part.targets.iter().filter(|target| target.is_first).count(), firsts);
            prop_assert!(part.targets.len() <= firsts + 3);
            together.extend(part.targets.into_iter().map(|target| target.pair));
            if part.left_out == 0 {
                break;
            }
            portion = portion.next();
        }
        prop_assert_eq!(together, found.targets.into_iter().map(|target| target.pair).collect());
    }
}

#[test]
fn descriptors_are_as_short_as_can_be() {
    let mut log = Log::new(2);
    // The sixth caller distinguishes two paths to the same place.
    let (one, other): (&[u64], &[u64]) = (&[1, 2, 3, 4, 5, 6], &[1, 2, 3, 4, 5, 7]);
    log.access((1, 10, one, 64, 4, Kind::Write));
    log.access((1, 10, other, 64, 4, Kind::Write));
    log.access((1, 10, one, 64, 4, Kind::Write));
    log.access((2, 20, &[9], 64, 4, Kind::Write));
    let targets = log.targets();
    let of = |code: u64| {
        targets.iter().flat_map(|target| &target.pair).filter(move |access| access.code == CodeAddress(code))
    };
    assert!(of(20).all(|access| access.callers.is_empty() && access.nth == 1 && access.path.is_none()), "{targets:?}");
    assert!(of(10).all(|access| access.callers.len() == 6 && access.path.is_none()), "{targets:?}");
    let numbers: std::collections::BTreeSet<(u64, u64)> =
        of(10).map(|access| (access.callers[5], access.nth)).collect();
    assert_eq!(numbers, [(6, 1), (6, 2), (7, 1)].into());
    // The thread matters once others execute the instruction too.
    log.access((2, 10, one, 64, 4, Kind::Write));
    let targets = log.targets();
    let all_named = targets
        .iter()
        .flat_map(|target| &target.pair)
        .all(|access| access.path.is_some() == (access.code == CodeAddress(10)));
    assert!(all_named, "{targets:?}");
}

#[test]
fn a_number_of_the_program_takes_the_place_of_the_family() {
    let mut log = Log::new(2);
    let path = racehunter_abi::path_of_id(77);
    log.put(Record { object: path, thread: ThreadId(1), kind: Kind::Numbered, ..Record::default() });
    log.access((1, 10, &[], 64, 4, Kind::Write));
    log.access((2, 10, &[], 64, 4, Kind::Write));
    let [target] = &log.targets()[..] else { panic!("one pair") };
    assert_eq!(
        target.pair.each_ref().map(|access| access.path),
        [Some(ThreadPath(path)), Some(ThreadPath(paths(2)[2]))]
    );
}

#[test]
fn pairs_with_a_common_lock_come_last_but_are_not_left_out() {
    let mut log = Log::new(2);
    for thread in [1, 2] {
        for (code, locks) in [(10, true), (20, false)] {
            if locks {
                log.lock(thread, Kind::Lock, 1);
            }
            log.access((thread, code, &[], 64 + code, 4, Kind::Write));
            if locks {
                log.lock(thread, Kind::Unlock, 1);
            }
        }
    }
    let targets = log.targets();
    let order: Vec<(u64, bool)> = targets.iter().map(|target| (target.pair[0].code.0, target.guarded)).collect();
    assert_eq!(order, [(20, false), (10, true)]);
}
