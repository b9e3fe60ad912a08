use super::*;
use proptest::collection::vec;
use proptest::prelude::*;
use std::vec;
use std::vec::Vec;

const THREADS: usize = 4;

/// The clocks of some threads.
struct Threads(Vec<(Vec<u32>, Vec<u32>)>);

impl Threads {
    /// `main`, and entries for threads that do not exist yet.
    fn new() -> Self {
        let mut all = vec![(vec![0; THREADS], vec![0; THREADS]); THREADS];
        all[0].0[0] = ClockValue::FIRST.0;
        all[0].1[0] = u32::MAX;
        Self(all)
    }

    fn of(&mut self, number: usize) -> ThreadClocks<'_> {
        let (clock, family) = &mut self.0[number];
        ThreadClocks { thread: ThreadId(number as u32), clock, family }
    }

    fn pair(&mut self, one: usize, other: usize) -> (ThreadClocks<'_>, ThreadClocks<'_>) {
        let [(clock, family), (clock_2, family_2)] = self.0.get_disjoint_mut([one, other]).expect("two threads");
        (
            ThreadClocks { thread: ThreadId(one as u32), clock, family },
            ThreadClocks { thread: ThreadId(other as u32), clock: clock_2, family: family_2 },
        )
    }

    fn create(&mut self, creator: usize, child: usize) {
        let (mut creator, mut child) = self.pair(creator, child);
        creator.create(&mut child);
    }

    fn join(&mut self, joiner: usize, ended: usize) {
        let (mut joiner, ended) = self.pair(joiner, ended);
        joiner.join_thread(&ended);
    }
}

#[test]
fn a_release_advances_the_clock() {
    let mut all = Threads::new();
    let before = all.of(0).own();
    all.of(0).release(&mut [0; THREADS]);
    assert_eq!(all.of(0).own(), ClockValue(before.0 + ClockValue::STEP));
}

#[test]
fn an_acquire_does_not() {
    let mut all = Threads::new();
    let before = all.of(0).own();
    all.of(0).acquire(&[0, 7, 0, 0]);
    assert_eq!(all.of(0).own(), before);
    assert_eq!(all.of(0).clock, [before.0, 7, 0, 0]);
}

#[test]
fn what_comes_after_a_release_is_not_released() {
    let mut all = Threads::new();
    all.create(0, 1);
    let mut carried = [0; THREADS];
    let before = all.of(0).own();
    all.of(0).release(&mut carried);
    let after = all.of(0).own();
    all.of(1).acquire(&carried);
    assert!(all.of(1).knows(ThreadId(0), before));
    assert!(!all.of(1).knows(ThreadId(0), after));
}

#[test]
fn a_short_clock_says_nothing_about_later_threads() {
    let mut all = Threads::new();
    all.of(0).acquire(&[0, 9]);
    assert_eq!(all.of(0).clock[1..], [9, 0, 0]);
}

#[test]
fn a_child_knows_what_its_creator_did() {
    let mut all = Threads::new();
    let before = all.of(0).own();
    all.create(0, 1);
    let after = all.of(0).own();
    assert!(all.of(1).knows(ThreadId(0), before) && all.of(1).knows_as_family(ThreadId(0), before));
    assert!(!all.of(1).knows(ThreadId(0), after) && !all.of(1).knows_as_family(ThreadId(0), after));
}

#[test]
fn a_joiner_knows_all_of_the_ended_thread() {
    let mut all = Threads::new();
    all.create(0, 1);
    let last = all.of(1).own();
    assert!(!all.of(0).knows(ThreadId(1), last) && !all.of(0).knows_as_family(ThreadId(1), last));
    all.join(0, 1);
    assert!(all.of(0).knows(ThreadId(1), last) && all.of(0).knows_as_family(ThreadId(1), last));
}

#[test]
fn a_lock_does_not_count_for_the_family() {
    let mut all = Threads::new();
    all.create(0, 1);
    let mut carried = [0; THREADS];
    let last = all.of(1).own();
    all.of(1).release(&mut carried);
    all.of(0).acquire(&carried);
    assert!(all.of(0).knows(ThreadId(1), last) && !all.of(0).knows_as_family(ThreadId(1), last));
}

#[test]
fn a_thread_knows_itself() {
    let mut all = Threads::new();
    all.create(0, 1);
    for number in 0..2 {
        let own = all.of(number).own();
        assert!(all.of(number).knows(ThreadId(number as u32), own));
        assert!(all.of(number).knows_as_family(ThreadId(number as u32), own));
    }
}

#[test]
fn siblings_do_not_know_each_other() {
    let mut all = Threads::new();
    all.create(0, 1);
    all.create(0, 2);
    let first = all.of(1).own();
    assert!(!all.of(2).knows(ThreadId(1), first));
}

#[test]
fn a_thread_number_that_is_used_again_goes_on() {
    let mut all = Threads::new();
    all.create(0, 1);
    let last = all.of(1).own();
    all.create(0, 1);
    let again = all.of(1).own();
    assert!(again > last && !all.of(0).knows(ThreadId(1), again));
}

#[test]
fn handlers_have_odd_clocks() {
    let mut all = Threads::new();
    let before = all.of(0).own();
    all.of(0).enter_handler();
    let inside = all.of(0).own();
    all.of(0).leave_handler();
    let after = all.of(0).own();
    assert!(before < inside && inside < after);
    assert_eq!((before.0 % 2, inside.0 % 2, after.0 % 2), (0, 1, 0));
}

#[test]
fn after_a_handler_a_threads_own_past_is_checked() {
    let mut all = Threads::new();
    let before = all.of(0).own();
    all.of(0).enter_handler();
    assert!(!all.of(0).knows_as_family(ThreadId(0), before));
}

#[test]
fn a_thread_that_is_created_in_a_handler_is_not_in_one() {
    let mut all = Threads::new();
    all.of(0).enter_handler();
    all.create(0, 1);
    assert_eq!(all.of(1).own().0 % 2, 0);
}

#[test]
fn a_clock_that_is_used_up_stays() {
    assert_eq!(ClockValue::LAST.advanced(), ClockValue::LAST);
    assert_eq!(ClockValue::LAST.in_handler(), ClockValue::LAST);
    assert!(ClockValue::LAST.out_of_handler() <= ClockValue::LAST);
}

#[test]
fn the_last_step_is_taken() {
    assert_eq!(ClockValue(ClockValue::LAST.0 - ClockValue::STEP).advanced(), ClockValue::LAST);
}

#[test]
fn after_settling_main_knows_everything() {
    let mut all = Threads::new();
    all.create(0, 1);
    all.create(1, 2);
    let owns: Vec<_> = (0..3).map(|number| all.of(number).own()).collect();
    all.of(0).settle(owns.iter().copied());
    for (number, &own) in owns.iter().enumerate() {
        assert!(all.of(0).knows(ThreadId(number as u32), own));
        assert!(all.of(0).knows_as_family(ThreadId(number as u32), own));
    }
    assert!(all.of(0).own() > owns[0]);
}

proptest! {
    #[test]
    fn join_is_the_least_upper_bound(a in vec(0_u32..9, THREADS), b in vec(0_u32..9, THREADS)) {
        let mut joined = a.clone();
        join(&mut joined, &b);
        let expected: Vec<u32> = a.iter().zip(&b).map(|(a, b)| *a.max(b)).collect();
        prop_assert_eq!(joined, expected);
    }

    #[test]
    fn join_is_commutative(a in vec(any::<u32>(), THREADS), b in vec(any::<u32>(), THREADS)) {
        let (mut one, mut other) = (a.clone(), b.clone());
        join(&mut one, &b);
        join(&mut other, &a);
        prop_assert_eq!(one, other);
    }

    #[test]
    fn join_is_idempotent(a in vec(any::<u32>(), THREADS), b in vec(any::<u32>(), THREADS)) {
        let mut once = a;
        join(&mut once, &b);
        let mut twice = once.clone();
        join(&mut twice, &b);
        prop_assert_eq!(once, twice);
    }

    #[test]
    fn advancing_never_goes_back_and_keeps_the_parity(value in 0..=ClockValue::LAST.0) {
        let next = ClockValue(value).advanced();
        prop_assert!(next.0 >= value && next <= ClockValue::LAST);
        prop_assert_eq!(next.0 % 2, value % 2);
    }

    #[test]
    fn a_handlers_clock_differs_from_those_around_it(value in 1..ClockValue::LAST.0 / 2 - 4) {
        let outside = ClockValue(value * 2);
        let inside = outside.in_handler();
        let after = inside.out_of_handler();
        prop_assert!(outside < inside && inside < after);
        prop_assert_eq!((inside.0 % 2, after.0 % 2), (1, 0));
    }
}

/// What a thread does, in a random program.
#[derive(Clone, Copy, Debug)]
enum Step {
    Access,
    Acquire(usize),
    Release(usize),
    /// Replaces what the object carries.
    Store(usize),
    Create,
    Join(usize),
}

const OBJECTS: usize = 3;

fn step() -> impl Strategy<Value = (usize, Step)> {
    let what = prop_oneof![
        4 => Just(Step::Access),
        2 => (0..OBJECTS).prop_map(Step::Acquire),
        2 => (0..OBJECTS).prop_map(Step::Release),
        1 => (0..OBJECTS).prop_map(Step::Store),
        2 => Just(Step::Create),
        1 => (0..THREADS).prop_map(Step::Join),
    ];
    (0..THREADS, what)
}

/// Sets of accesses, one bit each: the definition of happens-before, executed.
#[derive(Clone, Copy, Default)]
struct Known {
    all: u128,
    family: u128,
    own: u128,
    is_alive: bool,
    was_created: bool,
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// A thread's clock knows an access exactly if the access happens before the thread's next step, and its family
    /// clock exactly if creation and joining order it.
    #[test]
    fn clocks_are_happens_before(steps in vec(step(), 1..100)) {
        let mut threads = Threads::new();
        let mut known = [Known::default(); THREADS];
        (known[0].is_alive, known[0].was_created) = (true, true);
        let mut carried = [([0; THREADS], 0_u128); OBJECTS];
        let mut accesses = Vec::new();
        let mut next = 1;
        for (thread, step) in steps {
            if !known[thread].is_alive {
                continue;
            }
            match step {
                Step::Access => {
                    let bit = 1 << accesses.len();
                    accesses.push((thread, threads.of(thread).own()));
                    known[thread].all |= bit;
                    known[thread].own |= bit;
                }
                Step::Acquire(object) => {
                    threads.of(thread).acquire(&carried[object].0);
                    known[thread].all |= carried[object].1;
                }
                Step::Release(object) => {
                    threads.of(thread).release(&mut carried[object].0);
                    carried[object].1 |= known[thread].all;
                }
                Step::Store(object) => {
                    carried[object] = ([0; THREADS], 0);
                    threads.of(thread).release(&mut carried[object].0);
                    carried[object].1 = known[thread].all;
                }
                Step::Create if next < THREADS => {
                    threads.create(thread, next);
                    let Known { all, family, own, .. } = known[thread];
                    known[next] = Known { all, family: family | own, own: 0, is_alive: true, was_created: true };
                    next += 1;
                }
                Step::Create => {}
                Step::Join(ended) => if ended != thread && known[ended].was_created && ended != 0 {
                    known[ended].is_alive = false;
                    threads.join(thread, ended);
                    known[thread].all |= known[ended].all;
                    known[thread].family |= known[ended].family | known[ended].own;
                }
            }
            for (number, known) in known.iter().enumerate().filter(|(_, known)| known.is_alive) {
                for (at, &(by, value)) in accesses.iter().enumerate() {
                    let clocks = threads.of(number);
                    prop_assert_eq!(clocks.knows(ThreadId(by as u32), value), known.all >> at & 1 != 0);
                    let family = (known.family | known.own) >> at & 1 != 0;
                    prop_assert_eq!(clocks.knows_as_family(ThreadId(by as u32), value), family);
                }
            }
        }
    }
}
