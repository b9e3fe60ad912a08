use super::*;

fn ready(threads: &[u32]) -> impl Iterator<Item = Next> + Clone + use<> {
    let mut all = [Next::unknown(0, 0); 8];
    for (next, &thread) in all.iter_mut().zip(threads) {
        next.thread = thread;
        next.path = u64::from(2 * thread + 1);
    }
    let count = threads.len();
    (0..count).map(move |i| all[i])
}

#[test]
fn nothing_is_chosen_without_candidates() {
    for style in [Style::Even, Style::Pct { depth: 3, length: 10 }, Style::Pos] {
        let mut walk = Walk::<8>::new();
        walk.begin(style, 1);
        assert_eq!(walk.choose(0, ready(&[])), None);
    }
}

#[test]
fn without_changes_the_highest_priority_stays() {
    for seed in 0..100 {
        let mut walk = Walk::<8>::new();
        walk.begin(Style::Pct { depth: 1, length: 10 }, seed);
        let first = walk.choose(0, ready(&[0, 1, 2]));
        for _ in 0..20 {
            assert_eq!(walk.choose(0, ready(&[2, 1, 0])), first);
        }
    }
}

#[test]
fn a_change_lowers_the_running_thread_below_all_others() {
    for seed in 0..100 {
        let mut walk = Walk::<8>::new();
        walk.begin(Style::Pct { depth: 2, length: 5 }, seed);
        let mut running = walk.choose(0, ready(&[0, 1])).unwrap();
        let mut seen = [running, running];
        for _ in 1..6 {
            running = walk.choose(running, ready(&[0, 1])).unwrap();
            seen[1] = running;
        }
        // The change is among the first five choices; it may be the first, before any thread ran.
        assert!(seen[0] != seen[1] || walk.changes[0] == 1, "{seed}");
    }
}

#[test]
fn a_thread_that_gives_way_is_chosen_last_in_every_style() {
    for style in [Style::Pct { depth: 3, length: 100 }, Style::Pos] {
        let mut walk = Walk::<8>::new();
        walk.begin(style, 5);
        walk.gives_way(1);
        walk.gives_way(2);
        assert_eq!(walk.choose(2, ready(&[1, 2])), Some(1));
        assert_eq!(walk.choose(2, ready(&[0, 2])), Some(0));
    }
}

#[test]
fn equal_seeds_give_equal_walks_and_begin_forgets_everything() {
    for style in [Style::Even, Style::Pct { depth: 4, length: 20 }, Style::Pos] {
        let mut used = Walk::<8>::new();
        used.begin(style, 99);
        for _ in 0..50 {
            let _ = used.choose(0, ready(&[0, 1, 2, 3]));
        }
        let mut fresh = Walk::<8>::new();
        used.begin(style, 7);
        fresh.begin(style, 7);
        for _ in 0..50 {
            assert_eq!(used.choose(1, ready(&[0, 1, 2, 3])), fresh.choose(1, ready(&[0, 1, 2, 3])));
        }
    }
}

#[test]
fn priorities_change_only_at_accesses_of_the_chosen_variables() {
    for seed in 0..100 {
        let mut walk = Walk::<8>::new();
        walk.begin(Style::PctVariables { depth: 2, length: 4 }, seed);
        let first = walk.choose(0, ready(&[0, 1])).unwrap();
        for _ in 0..50 {
            assert_eq!(walk.choose(first, ready(&[0, 1])), Some(first), "a choice changes nothing");
        }
        let mut changed_at = 0;
        for access in 1..=4 {
            walk.accessed(first);
            if changed_at == 0 && walk.choose(first, ready(&[0, 1])) != Some(first) {
                changed_at = access;
            }
        }
        assert_eq!(changed_at, walk.changes[0]);
    }
}

#[test]
fn an_order_depends_only_on_the_seed_and_the_changes() {
    let none = [0; MOST_CHANGED];
    let mut orders = [0; 6];
    for seed in 0..6000 {
        let mut walk = Walk::<8>::new();
        walk.begin(Style::Order { changed: none, count: 0 }, seed);
        let first = walk.choose(0, ready(&[2, 0, 1])).unwrap();
        let rest: [u32; 2] = [(first + 1) % 3, (first + 2) % 3];
        let second = walk.choose(0, ready(&rest)).unwrap();
        orders[(first * 2 + u32::from(second == rest[0])) as usize] += 1;
        let expected = [0, 1, 2].into_iter().max_by_key(|&thread| path_priority(seed, 2 * thread + 1));
        assert_eq!(Some(u64::from(first)), expected);
        // The first thread gets another place.
        let mut changed = none;
        changed[0] = first;
        walk.begin(Style::Order { changed, count: 1 }, seed);
        let stays = part_priority(seed, 0) > path_priority(seed, u64::from(2 * second + 1));
        assert_eq!(walk.choose(0, ready(&[0, 1, 2])), Some(if stays { first } else { second }));
    }
    // All six are equally likely: 1000 each, with a standard deviation of 29.
    assert!(orders.iter().all(|&count| (880..1120).contains(&count)), "{orders:?}");
}

#[test]
fn in_an_order_only_repeated_yields_move_a_thread_to_the_end() {
    let mut walk = Walk::<8>::new();
    walk.begin(Style::Order { changed: [0; MOST_CHANGED], count: 0 }, 1);
    let first = walk.choose(0, ready(&[0, 1])).unwrap();
    for _ in 0..PATIENCE_WITH_YIELDS {
        walk.yields(first);
        assert_eq!(walk.choose(0, ready(&[0, 1])), Some(first));
    }
    walk.yields(first);
    assert_eq!(walk.choose(0, ready(&[0, 1])), Some(1 - first));
}

#[test]
fn when_a_thread_gives_way_another_one_is_drawn() {
    let mut walk = Walk::<8>::new();
    walk.begin(Style::Uniform, 1);
    walk.weigh(1, 1_000_000);
    walk.weigh(3, 1);
    let at = |thread: u32, chosen| Next { chosen, ..ready(&[thread]).next().unwrap() };
    // Thread 0 is drawn for the next access, but does not reach it: it waits for thread 1, which has to wait.
    assert_eq!(walk.choose(0, [at(0, true), at(1, true)].into_iter()), Some(0));
    let spins = || [at(1, true), at(2, false)].into_iter();
    assert_eq!(walk.choose(2, spins()), Some(2));
    walk.yields(2);
    assert!((0..100).any(|_| walk.choose(2, spins()) == Some(1)));
}

#[test]
fn partial_order_sampling_redraws_priorities_of_conflicting_operations() {
    let writes = |thread| Next { thread, path: 0, object: 64, changes: true, chosen: false, code: 0 };
    let elsewhere = Next { thread: 2, path: 0, object: 128, changes: true, chosen: false, code: 0 };
    for seed in 0..50 {
        let mut walk = Walk::<8>::new();
        walk.begin(Style::Pos, seed);
        let candidates = [writes(0), writes(1), elsewhere];
        let chosen = walk.choose(0, candidates.into_iter()).unwrap() as usize;
        let drawn = |thread: usize| walk.priorities[thread] != 0;
        match chosen {
            2 => assert!(drawn(0) && drawn(1) && !drawn(2)),
            _ => assert!(!drawn(0) && !drawn(1) && drawn(2)),
        }
    }
}
