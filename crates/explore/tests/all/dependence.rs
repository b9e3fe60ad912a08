//! The past of a prefix against all schedules of small programs, connected by swapping independent neighbours.

use racehunter_explore::model::{ModelExecutor, Path, Program, Shape, schedules};
use racehunter_explore::{Execution, Plan, Switch};
use racehunter_log::{AccessMode, CodeAddress, Entry, Event, EventNumber, History, ThreadId};
use std::collections::{HashMap, HashSet};

/// Returns the execution in which threads perform events in this order.
fn execution(executor: &mut ModelExecutor, order: &[u32]) -> Execution {
    let (mut switches, mut from) = (Vec::new(), 0);
    for (at, &to) in order.iter().enumerate() {
        if to != from {
            switches.push(Switch {
                at: EventNumber(at as u64 + 1),
                to: ThreadId(to),
                from: ThreadId(from),
                code: CodeAddress::UNKNOWN,
            });
        }
        from = to;
    }
    executor.run_one(&Plan::replay(switches))
}

/// Returns whether the order of two events matters, in the simplest terms.
fn depend(a: Entry<'_>, b: Entry<'_>) -> bool {
    let about = |event: &Event| match *event {
        Event::Wait { condition, mutex, .. } | Event::WaitEnd { condition, mutex, .. } => vec![condition, mutex],
        _ => event.variable().into_iter().collect(),
    };
    let only_reads = |event: &Event| {
        matches!(event.access().map(|access| access.mode), Some(AccessMode::Read | AccessMode::AtomicRead))
    };
    let (one, other) = (a.event(), b.event());
    let same =
        about(&one).iter().any(|object| about(&other).contains(object)) && !(only_reads(&one) && only_reads(&other));
    // Creating or joining a thread is ordered with the end of that thread; and threads are numbered in the order of creation.
    let target = |entry: Entry<'_>| match entry.event() {
        Event::Create { child, .. } => Some(child),
        Event::Join { target, .. } => Some(target),
        Event::Exit => Some(entry.thread()),
        _ => None,
    };
    let creates = |event: &Event| matches!(event, Event::Create { .. });
    let family = target(a).is_some() && target(a) == target(b) || creates(&one) && creates(&other);
    // Coarser than memory requires: schedulers depend on the order of yields.
    let coarse = |event: &Event| matches!(event, Event::Yield | Event::Sleep | Event::Kill { .. });
    a.thread() == b.thread() || same || family || coarse(&one) || coarse(&other)
}

fn root(parents: &mut [usize], mut of: usize) -> usize {
    while parents[of] != of {
        parents[of] = parents[parents[of]];
        of = parents[of];
    }
    of
}

#[test]
fn equal_pasts_differ_only_in_the_order_of_independent_neighbours() {
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
            sums.push(History::new(&execution.records).before(EventNumber::NEVER));
            let events: Vec<Entry<'_>> = execution.entries().filter(|entry| entry.is_operation()).collect();
            assert_eq!(events.len(), path.order.len());
            for at in 1..events.len() {
                if depend(events[at - 1], events[at]) {
                    continue;
                }
                let mut exchanged = path.order.clone();
                exchanged.swap(at - 1, at);
                // The program ends with `main`: events that have not happened by then do not happen.
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
                // Equivalent schedules end in the same way.
                assert!(!together || all[a].outcome == all[b].outcome && all[a].bugs == all[b].bugs, "seed {seed}");
            }
        }
    }
    assert!(programs > 100 && merged > 1000 && apart > 1000, "{programs} {merged} {apart}");
}
