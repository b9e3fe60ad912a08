//! Beginnings of executions are told apart by what depends on what: against all schedules of small programs, connected by
//! exchanging neighbours that are independent.

use racehunter_explore::model::{ModelExecutor, Path, Program, Shape, schedules};
use racehunter_explore::{Causes, Execution, Kind, Plan, Record, Switch};
use std::collections::{HashMap, HashSet};

/// The execution in which threads perform events in this order.
fn execution(executor: &mut ModelExecutor, order: &[u32]) -> Execution {
    let (mut switches, mut from) = (Vec::new(), 0);
    for (at, &to) in order.iter().enumerate() {
        if to != from {
            switches.push(Switch { at: at as u64 + 1, to, from, code: 0 });
        }
        from = to;
    }
    executor.run_one(&Plan::replay(switches))
}

/// Whether it matters which of two events comes first, said in the simplest words.
fn depend(a: &Record, b: &Record) -> bool {
    let about = |record: &Record| match record.kind {
        Kind::Create | Kind::Join | Kind::Exit => Vec::new(),
        Kind::Wait => vec![record.object, record.extra],
        _ => vec![record.object],
    };
    let only_reads = |record: &Record| matches!(record.kind, Kind::Read | Kind::AtomicRead);
    let same = about(a).iter().any(|object| about(b).contains(object)) && !(only_reads(a) && only_reads(b));
    let family = |a: &Record, b: &Record| {
        let child = a.object == u64::from(b.thread);
        matches!(a.kind, Kind::Create | Kind::Join) && child
    };
    // More than needs to be: what can fail, or end a wait, is ordered whatever it is about.
    let coarse = |record: &Record| matches!(record.kind, Kind::TryLock | Kind::WaitEnd);
    a.thread == b.thread || same || family(a, b) || family(b, a) || coarse(a) && coarse(b)
}

fn root(parents: &mut [usize], mut of: usize) -> usize {
    while parents[of] != of {
        parents[of] = parents[parents[of]];
        of = parents[of];
    }
    of
}

#[test]
fn the_same_number_means_the_same_up_to_independent_neighbours() {
    let (mut programs, mut merged, mut apart) = (0, 0, 0);
    for seed in 0..400 {
        let shape = Shape { threads: 2, statements: 2, timing: false, signals: false };
        let program = Program::random(seed, shape);
        let points: HashSet<u32> = program.access_sites().into_iter().collect();
        let Some(all) = schedules(&program, &points, 200) else { continue };
        programs += 1;
        let mut executor = ModelExecutor::new(program);
        executor.add_all_points();
        let numbers: HashMap<&[u32], usize> = all.iter().map(|path: &Path| path.order.as_slice()).zip(0..).collect();
        let mut parents: Vec<usize> = (0..all.len()).collect();
        let mut sums = Vec::new();
        for (number, path) in all.iter().enumerate() {
            let execution = execution(&mut executor, &path.order);
            sums.push(Causes::new(&execution).before(u64::MAX));
            let events: Vec<&Record> = execution.records.iter().filter(|record| record.kind.is_event()).collect();
            assert_eq!(events.len(), path.order.len());
            for at in 1..events.len() {
                if depend(events[at - 1], events[at]) {
                    continue;
                }
                let mut exchanged = path.order.clone();
                exchanged.swap(at - 1, at);
                // The end of `main` is the end of all: what has not happened by then does not happen.
                let Some(&other) = numbers.get(exchanged.as_slice()) else { continue };
                let (a, b) = (root(&mut parents, number), root(&mut parents, other));
                parents[a] = b;
            }
        }
        for a in 0..all.len() {
            for b in 0..a {
                let together = root(&mut parents, a) == root(&mut parents, b);
                assert_eq!(together, sums[a] == sums[b], "seed {seed}: {:?} and {:?}", all[a].order, all[b].order);
                *(if together { &mut merged } else { &mut apart }) += 1;
                // And what is the same ends in the same way.
                assert!(!together || all[a].outcome == all[b].outcome && all[a].bugs == all[b].bugs, "seed {seed}");
            }
        }
    }
    assert!(programs > 100 && merged > 1000 && apart > 1000, "{programs} {merged} {apart}");
}
