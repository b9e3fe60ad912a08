//! The whole of `predict` against brute force: races, deadlocks, broken blocks.

use crate::support::oracle::{Oracle, Rules};
use crate::support::{Random, Shape, shown, trace};
use racehunter_predict::{
    Checker, Each, Effort, Index, Kind, Options, Policy, Question, Witness, happens_before, predict, validate,
};
use racehunter_trace::{EventId, Op, Subject, Trace, text};
use std::collections::BTreeSet;
use std::fmt::Write as _;

fn traces() -> u64 {
    std::env::var("RACEHUNTER_ORACLE_TRACES").ok().and_then(|number| number.parse().ok()).unwrap_or(100)
}

fn everything(policy: Policy, workers: usize) -> Options {
    Options { policy, effort: Effort::exhaustive(), attempts: usize::MAX, each: Each::Pair, workers }
}

fn shapes() -> impl Iterator<Item = Shape> {
    [(2, 14), (3, 13), (4, 12)].into_iter().flat_map(|(threads, events)| {
        (0..8).map(move |bits| {
            let [plain, dependences, locking] = [1, 2, 4].map(|bit| bits & bit != 0);
            Shape { threads, events, plain, dependences, locking }
        })
    })
}

fn for_each(mut test: impl FnMut(&str, &Trace, &Index<'_>)) {
    for shape in shapes() {
        for seed in 0..traces() {
            let trace = trace(&mut Random::new(seed), shape);
            let index = Index::new(&trace).unwrap();
            test(&format!("{shape:?}, seed {seed}\n{}", shown(&trace)), &trace, &index);
        }
    }
}

#[test]
fn races_are_all_races() {
    for_each(|name, trace, index| {
        for policy in Policy::ALL {
            let races = Oracle::new(trace).races(&Rules::new(trace, policy));
            let report = predict(index, &everything(policy, 1), &|| false);
            let predicted: BTreeSet<_> = report
                .predictions
                .iter()
                .filter(|prediction| prediction.kind == Kind::Race)
                .map(|prediction| (prediction.events[0], prediction.events[1]))
                .collect();
            assert_eq!(predicted, races, "{policy:?} {name}");
            assert_eq!(report.unfinished, []);
        }
    });
}

#[test]
fn deadlocks_are_all_deadlocks() {
    let mut total = [0; 5];
    let mut joins = 0;
    for_each(|name, trace, index| {
        for policy in Policy::ALL {
            let deadlocks = Oracle::new(trace).deadlocks(&Rules::new(trace, policy));
            let report = predict(index, &everything(policy, 1), &|| false);
            let predicted: BTreeSet<Vec<EventId>> = report
                .predictions
                .iter()
                .filter(|prediction| prediction.kind == Kind::Deadlock)
                .map(|prediction| {
                    let mut events = prediction.events.clone();
                    events.sort_unstable();
                    events
                })
                .collect();
            assert_eq!(predicted, deadlocks, "{policy:?} {name}");
            for deadlock in deadlocks {
                total[deadlock.len()] += 1;
                joins += usize::from(deadlock.iter().any(|&event| trace.op(event) == Op::Join));
            }
        }
    });
    assert!(total[2] > 0 && joins > 0, "{total:?}, {joins} with joins");
}

/// Philosophers who eat one after the other, several times, taking the fork on their left first; with `first_right`
/// the first one takes the other fork first.
fn philosophers(count: usize, rounds: usize, first_right: bool) -> Trace {
    let mut text = String::new();
    for (round, seat) in (0..rounds).flat_map(|round| (0..count).map(move |seat| (round, seat))) {
        let mut forks = [seat, (seat + 1) % count];
        if first_right && seat == 0 {
            forks.reverse();
        }
        let [one, other] = forks;
        let _ = writeln!(text, "T{seat}|acq(fork{one})|take\nT{seat}|acq(fork{other})|want{round}");
        let _ = writeln!(text, "T{seat}|rel(fork{other})|give\nT{seat}|rel(fork{one})|give");
    }
    text::read(text.as_bytes()).unwrap()
}

#[test]
fn long_cycles_of_locks_are_deadlocks() {
    let deadlocks = |trace: &Trace| {
        let report = predict(&Index::new(trace).unwrap(), &Options::default(), &|| false);
        let sizes = report.predictions.iter().map(|prediction| prediction.events.len());
        (sizes.collect::<Vec<_>>(), report.unfinished.len())
    };
    for count in [2, 5, 10, 16] {
        assert_eq!(deadlocks(&philosophers(count, 1, false)), (vec![count], 0));
        assert_eq!(deadlocks(&philosophers(count, 1, true)), (Vec::new(), 0));
    }
    // All rounds are equivalent.
    let (sizes, _) = deadlocks(&philosophers(10, 2, false));
    assert!(!sizes.is_empty() && sizes.iter().all(|&size| size == 10), "{sizes:?}");
}

/// Every thread takes any two of many locks, in both orders: there are more cycles than can be examined, and the result
/// says so.
#[test]
fn searches_for_cycles_come_to_an_end() {
    let mut text = String::new();
    for (one, other) in
        (0..12).flat_map(|one| (0..12).map(move |other| (one, other))).filter(|(one, other)| one != other)
    {
        let thread = (one * 5 + other) % 12;
        let _ = writeln!(text, "T{thread}|acq(L{one})|0\nT{thread}|acq(L{other})|{one}.{other}");
        let _ = writeln!(text, "T{thread}|rel(L{other})|0\nT{thread}|rel(L{one})|0");
    }
    let trace = text::read(text.as_bytes()).unwrap();
    let report = predict(&Index::new(&trace).unwrap(), &Options { attempts: 1, ..Options::default() }, &|| false);
    assert!(!report.unfinished.is_empty() && report.predictions.len() > 1_000, "{}", report.predictions.len());
}

#[test]
fn broken_blocks_are_all_that_can_break() {
    let mut total = 0;
    for_each(|name, trace, index| {
        let triples = triples(trace);
        if triples.is_empty() || triples.len() > 64 {
            return;
        }
        for policy in Policy::ALL {
            let broken = Oracle::new(trace).between(&Rules::new(trace, policy), &triples);
            let report = predict(index, &everything(policy, 1), &|| false);
            let predicted: BTreeSet<[EventId; 3]> = report
                .predictions
                .iter()
                .filter(|prediction| prediction.kind == Kind::Atomicity)
                .map(|prediction| [prediction.events[0], prediction.events[1], prediction.events[2]])
                .collect();
            assert_eq!(predicted, broken, "{policy:?} {name}");
            total += broken.len();
        }
    });
    assert!(total > 0);
}

/// Returns two consecutive accesses of a block to a location, and one of another thread, of the four kinds that no
/// order of blocks explains.
fn triples(trace: &Trace) -> Vec<[EventId; 3]> {
    let mut triples = Vec::new();
    let len = trace.len() as EventId;
    let mut in_block = vec![None; trace.threads().len()];
    let mut blocks = Vec::new();
    for (id, event) in (0..).zip(trace.events()) {
        let block = &mut in_block[usize::from(event.thread)];
        match event.op {
            Op::Begin => *block = Some(id),
            Op::End => *block = None,
            _ => {}
        }
        blocks.push(*block);
    }
    for first in 0..len {
        let a = trace.event(first);
        let mut later = (first + 1..len).filter(|&second| {
            let b = trace.event(second);
            b.thread == a.thread && b.op.is_access() && b.object == a.object
        });
        let Some(second) = later.next() else { continue };
        if !a.op.is_access() || blocks[first as usize].is_none() || blocks[first as usize] != blocks[second as usize] {
            continue;
        }
        let b = trace.event(second);
        for other in 0..len {
            let c = trace.event(other);
            if c.thread == a.thread || !c.op.is_access() || c.object != a.object {
                continue;
            }
            // An update is both; any interpretation of it that breaks the block counts.
            let kinds = |op: Op| [(op.reads(), 'r'), (op.writes(), 'w')].into_iter().filter(|(is, _)| *is);
            let broken = kinds(a.op).any(|(_, x)| {
                kinds(c.op).any(|(_, y)| {
                    kinds(b.op).any(|(_, z)| ["rwr", "wwr", "wrw", "rww"].contains(&&*format!("{x}{y}{z}")))
                })
            });
            if broken {
                triples.push([first, other, second]);
            }
        }
    }
    triples
}

#[test]
fn what_the_trace_shows_is_predicted() {
    let mut total = 0;
    for_each(|name, trace, index| {
        let races = Oracle::new(trace).races(&Rules::new(trace, Policy::M2));
        for (first, second) in happens_before(index) {
            assert!(races.contains(&(first, second)), "({first}, {second}) {name}");
            total += 1;
        }
    });
    assert!(total > 0);
}

/// `happens_before` agrees with its definition, pair by pair.
#[test]
fn what_the_trace_shows_is_by_definition() {
    let mut total = 0;
    for_each(|name, trace, index| {
        let mut found = happens_before(index);
        found.sort_unstable();
        found.dedup();
        assert_eq!(found, unordered(trace), "{name}");
        total += found.len();
    });
    assert!(total > 0);
}

/// Returns each access with the last conflicting one of each kind and other thread before it, unless that happens
/// before it. By plain reachability.
fn unordered(trace: &Trace) -> Vec<(EventId, EventId)> {
    let len = trace.len();
    let ids = || 0..len as EventId;
    let outermost = outermost(trace);
    // True if an event is ordered before a later one, leaving reads aside.
    let hands_over = |first: EventId, second: EventId| {
        let (a, b) = (trace.event(first), trace.event(second));
        let same = a.op.subject() == b.op.subject() && a.object == b.object;
        if a.thread == b.thread {
            return true;
        }
        match (a.op, b.op) {
            (Op::Fork, _) if a.object == u32::from(b.thread) => true,
            (_, Op::Join | Op::TryJoin) if b.object == u32::from(a.thread) => true,
            _ if !same || !outermost[first as usize] || !outermost[second as usize] => false,
            (a, Op::TryFailed) => a.acquires(),
            (a, b) if a.releases() && b.acquires() => a == Op::Release || b.excludes(),
            (Op::Arrive, Op::Arrive | Op::Depart) => true,
            (a, b) => a.subject() == Subject::Order && b.subject() == Subject::Order,
        }
    };
    let mut before = vec![vec![false; len]; len];
    let mut races = Vec::new();
    let mut written = std::collections::BTreeMap::new();
    for event in ids() {
        let follow = |before: &mut Vec<Vec<bool>>, other: EventId| {
            let known = before[other as usize].clone();
            before[event as usize].iter_mut().zip(known).for_each(|(now, known)| *now |= known);
            before[event as usize][other as usize] = true;
        };
        (0..event).filter(|&other| hands_over(other, event)).for_each(|other| follow(&mut before, other));
        let now = trace.event(event);
        if !now.op.is_access() {
            continue;
        }
        for thread in (0..trace.threads().len() as u16).filter(|&thread| thread != now.thread) {
            // An update is a read and a write.
            for (writes, atomic) in [(false, false), (false, true), (true, false), (true, true)] {
                if !(writes || now.op.writes()) || (atomic && now.op.is_atomic()) {
                    continue;
                }
                let last = (0..event).rev().find(|&other| {
                    let other = trace.event(other);
                    let is_kind = if writes { other.op.writes() } else { other.op.reads() };
                    (other.thread, other.object) == (thread, now.object) && is_kind && other.op.is_atomic() == atomic
                });
                if let Some(last) = last.filter(|&last| !before[event as usize][last as usize]) {
                    races.push((last, event));
                }
            }
        }
        if now.op.reads()
            && let Some(&write) = written.get(&now.object)
        {
            follow(&mut before, write);
        }
        if now.op.writes() {
            written.insert(now.object, event);
        }
    }
    races.sort_unstable();
    races.dedup();
    races
}

/// Returns for each event whether it is more than the inner part of a recursive lock.
fn outermost(trace: &Trace) -> Vec<bool> {
    let mut depth = std::collections::BTreeMap::new();
    trace
        .events()
        .map(|event| {
            let depth: &mut u32 = depth.entry((event.thread, event.op.subject(), event.object)).or_default();
            if event.op.acquires() {
                *depth += 1;
                return *depth == 1;
            }
            *depth -= u32::from(event.op.releases());
            !event.op.releases() || *depth == 0
        })
        .collect()
}

#[test]
fn workers_do_not_change_the_result() {
    for_each(|name, _, index| {
        let one = predict(index, &everything(Policy::Nre, 1), &|| false);
        let three = predict(index, &everything(Policy::Nre, 3), &|| false);
        assert_eq!(one, three, "{name}");
    });
}

#[test]
fn stopping_leaves_cases_unfinished() {
    for_each(|_, _, index| {
        let report = predict(index, &everything(Policy::Nre, 1), &|| true);
        assert_eq!((report.predictions.len(), report.unfinished.len()), (0, report.cases));
    });
}

/// The end of the frozen part makes no difference to validity.
#[test]
fn frozen_parts_are_a_shorthand() {
    let mut random = Random::new(5);
    for_each(|name, _, index| {
        for policy in Policy::ALL {
            let checker = Checker::new(index, policy);
            for prediction in predict(index, &everything(policy, 1), &|| false).predictions {
                let (question, witness) = (&prediction.question, &prediction.witness);
                let mut tail: Vec<EventId> = witness.events().collect();
                // The result is sometimes valid and sometimes not.
                if random.one_in(2) && tail.len() > 1 {
                    let at = random.below(tail.len() - 1);
                    tail.swap(at, at + 1);
                }
                let common = (0..).zip(&tail).take_while(|&(number, &event)| number == event).count();
                let judge = |frozen: usize| {
                    let witness = Witness { frozen: frozen as u32, tail: tail[frozen..].iter().copied().collect() };
                    validate(index, checker.demands(), question, &witness)
                };
                let verdict = judge(0);
                for frozen in 1..=common {
                    assert_eq!(judge(frozen).is_ok(), verdict.is_ok(), "{question:?} {tail:?} {name}");
                }
            }
        }
    });
}

/// For any change to a witness, the validator accepts it exactly if it is a correct reordering.
#[test]
fn changed_witnesses_are_judged_like_by_brute_force() {
    let (mut valid, mut invalid) = (0, BTreeSet::new());
    let mut random = Random::new(7);
    for_each(|name, trace, index| {
        let policy = Policy::ALL[random.below(3)];
        let rules = Rules::new(trace, policy);
        let oracle = Oracle::new(trace);
        let checker = Checker::new(index, policy);
        // The trace itself is a reordering, too.
        let whole = (Vec::new(), (0..trace.len() as EventId).collect::<Vec<_>>());
        let predictions = predict(index, &everything(policy, 1), &|| false).predictions;
        let witnesses = predictions
            .into_iter()
            .filter(|prediction| prediction.kind != Kind::Atomicity)
            .map(|prediction| (prediction.question.next, prediction.witness.events().collect()));
        for (next, original) in witnesses.chain([whole]) {
            for _ in 0..6 {
                let mut tail: Vec<EventId> = original.clone();
                for _ in 0..1 + random.below(2) {
                    mutate(&mut random, &mut tail, trace.len());
                }
                let expected = oracle.accepts(&rules, &next, &tail);
                let witness = Witness { frozen: 0, tail: tail.into_iter().collect() };
                let verdict = validate(index, checker.demands(), &Question::together(next.clone()), &witness);
                assert_eq!(verdict.is_ok(), expected, "{policy:?} {next:?} {witness:?} {verdict:?} {name}");
                match verdict {
                    Ok(()) => valid += 1,
                    Err(rule) => {
                        // The rule alone, without the event.
                        invalid.extend(format!("{rule:?}").split('(').next().map(str::to_owned));
                    }
                }
            }
        }
    });
    assert!(valid > 0);
    let rules = ["Lock", "NotOver", "NotStarted", "Order", "Question", "Read", "Turn", "Unknown"];
    assert_eq!(invalid, rules.map(str::to_owned).into(), "every rule is broken by some");
}

fn mutate(random: &mut Random, tail: &mut Vec<EventId>, events: usize) {
    if tail.is_empty() {
        tail.push(random.below(events) as EventId);
        return;
    }
    let at = random.below(tail.len());
    match random.below(5) {
        0 => drop(tail.remove(at)),
        1 => tail.insert(at, random.below(events + 1) as EventId),
        2 => tail.push(random.below(events) as EventId),
        3 => tail.truncate(at),
        _ => {
            let event = tail.remove(at);
            let to = random.below(tail.len() + 1);
            tail.insert(to, event);
        }
    }
}
