use super::*;
use proptest::collection::vec;
use proptest::prelude::*;
use std::vec;
use std::vec::Vec;

impl Memory for Vec<u64> {
    fn contents(&self, address: usize, _size: usize) -> u64 {
        self[address]
    }
}

fn access(code: usize, address: usize) -> Access {
    Access { code, address, size: 4 }
}

/// A thread all of whose events are reported.
struct Reported {
    spin: Spin,
    now: u64,
    memory: Vec<u64>,
}

impl Reported {
    fn new() -> Self {
        Self { spin: Spin::NEW, now: 0, memory: vec![0; 64] }
    }

    /// Returns true if it was there before in this state.
    fn reach(&mut self, code: usize, address: usize, state: usize) -> bool {
        self.spin.reports_next(EventNumber(self.now));
        let repeats =
            self.spin.comes(&access(code, address), EventNumber(self.now), &self.memory, || Snapshot::of(&[state + 1]));
        self.spin.reported_next(EventNumber(self.now));
        self.now += 1;
        repeats
    }

    /// Performs an event that is not reported.
    fn hide(&mut self) {
        self.now += 1;
    }
}

#[test]
fn no_state_is_the_same_as_no_state() {
    assert!(!Snapshot::NONE.is_same(&Snapshot::NONE));
    assert!(!Snapshot::of(&[]).is_same(&Snapshot::of(&[])));
}

#[test]
fn equal_words_are_the_same_state() {
    assert!(Snapshot::of(&[1, 2, 3]).is_same(&Snapshot::of(&[1, 2, 3])));
    assert!(Snapshot::of(&[1, 2, 3]).with(7).is_same(&Snapshot::of(&[1, 2, 3]).with(7)));
    assert!(!Snapshot::of(&[1, 2, 3]).with(7).is_same(&Snapshot::of(&[1, 2, 3]).with(6)));
}

#[test]
fn a_deeper_stack_is_another_state() {
    assert!(!Snapshot::of(&[0, 0]).is_same(&Snapshot::of(&[0, 0, 0])));
}

#[test]
fn words_far_down_the_stack_count() {
    let mut deep = [7; FIRST * 3];
    let before = Snapshot::of(&deep);
    deep[FIRST * 2] = 8;
    assert!(!before.is_same(&Snapshot::of(&deep)));
    deep[FIRST * 2] = 7;
    assert!(before.is_same(&Snapshot::of(&deep)));
}

#[test]
fn the_order_of_words_far_down_counts() {
    let mut deep = [0; FIRST + 2];
    (deep[FIRST], deep[FIRST + 1]) = (1, 2);
    let before = Snapshot::of(&deep);
    deep.swap(FIRST, FIRST + 1);
    assert!(!before.is_same(&Snapshot::of(&deep)));
}

#[test]
fn a_loop_of_one_access_is_found_in_its_third_iteration() {
    let mut thread = Reported::new();
    assert!(!thread.reach(0x10, 3, 0) && !thread.reach(0x10, 3, 0));
    assert!(thread.reach(0x10, 3, 0));
}

#[test]
fn a_loop_that_counts_is_not() {
    let mut thread = Reported::new();
    assert!((0..200).all(|count| !thread.reach(0x10, 3, count)));
}

#[test]
fn a_loop_whose_memory_changes_is_not() {
    let mut thread = Reported::new();
    for count in 0..200 {
        assert!(!thread.reach(0x10, 3, 0));
        thread.memory[3] = count + 1;
    }
}

#[test]
fn a_loop_that_undoes_what_it_does_is_one_all_the_same() {
    // It changes something and then restores it, which no other thread can notice.
    let mut thread = Reported::new();
    let found = (0..20).any(|_| {
        let first = thread.reach(0x10, 3, 0);
        thread.memory[3] = 1;
        let second = thread.reach(0x20, 3, 0);
        thread.memory[3] = 0;
        first || second
    });
    assert!(found);
}

#[test]
fn a_loop_over_two_places_is_found() {
    let mut thread = Reported::new();
    assert!((0..10).any(|_| thread.reach(0x10, 3, 0) | thread.reach(0x20, 4, 0)));
}

#[test]
fn a_loop_over_too_many_places_is_not() {
    let mut thread = Reported::new();
    let found = (0..100).any(|_| (0..=PLACES).any(|place| thread.reach(0x10 + place, place, 0)));
    assert!(!found);
}

#[test]
fn a_loop_over_as_many_places_as_there_are_is() {
    let mut thread = Reported::new();
    let found = (0..100).any(|_| (0..PLACES).any(|place| thread.reach(0x10 + place, place, 0)));
    assert!(found);
}

#[test]
fn a_loop_that_begins_late_is_found() {
    let mut thread = Reported::new();
    (0..500).for_each(|count| {
        thread.reach(0x1000 + count, count % 64, count);
    });
    assert!((0..200).any(|_| thread.reach(0x10, 3, 0) | thread.reach(0x20, 4, 0)));
}

#[test]
fn what_may_not_repeat_ends_a_loop() {
    let mut thread = Reported::new();
    assert!((0..200).all(|_| {
        thread.spin.moves_on();
        !thread.reach(0x10, 3, 0)
    }));
}

#[test]
fn events_that_were_not_reported_could_be_anything() {
    let mut thread = Reported::new();
    assert!((0..200).all(|_| {
        thread.hide();
        !thread.reach(0x10, 3, 0)
    }));
}

#[test]
fn but_then_all_are_asked_for() {
    let mut thread = Reported::new();
    for _ in 0..3 {
        thread.hide();
        thread.reach(0x10, 3, 0);
    }
    assert!(thread.spin.is_watched(EventNumber(thread.now)));
}

#[test]
fn an_access_of_odd_size_is_more_than_can_be_compared() {
    let mut thread = Reported::new();
    for _ in 0..10 {
        assert!(!thread.reach(0x10, 3, 0));
        thread.spin.note(5, 16, &thread.memory);
    }
}

#[test]
fn events_of_others_do_not_count() {
    let mut thread = Reported::new();
    let found = (0..3).any(|_| {
        thread.spin.others_went_on(5);
        thread.now += 5;
        thread.reach(0x10, 3, 0)
    });
    assert!(found);
}

#[test]
fn a_thread_that_only_looks_is_not_busy() {
    let mut thread = Reported::new();
    thread.spin = Spin::watched_from(EventNumber(0));
    (0..2).for_each(|_| {
        thread.reach(0x10, 3, 0);
    });
    assert!(!thread.spin.is_busy(&thread.memory));
}

#[test]
fn one_that_changes_something_is() {
    let mut thread = Reported::new();
    thread.spin = Spin::watched_from(EventNumber(0));
    thread.reach(0x10, 3, 0);
    thread.memory[3] = 1;
    assert!(thread.spin.is_busy(&thread.memory));
}

#[test]
fn it_stays_busy_when_the_anchor_moves() {
    let mut thread = Reported::new();
    thread.spin = Spin::watched_from(EventNumber(0));
    thread.reach(0x10, 3, 0);
    thread.memory[3] = 1;
    (0..9).for_each(|count| {
        thread.reach(0x20 + count, 4, count);
    });
    assert!(thread.spin.is_busy(&thread.memory));
}

#[test]
fn one_that_did_something_else_is_busy() {
    let mut thread = Reported::new();
    thread.spin = Spin::watched_from(EventNumber(0));
    thread.spin.moves_on();
    assert!(thread.spin.is_busy(&thread.memory));
}

#[test]
fn a_change_of_what_was_read_ends_the_wait() {
    let mut thread = Reported::new();
    while !thread.reach(0x10, 3, 0) {}
    assert!(!thread.spin.is_changed(&thread.memory));
    thread.memory[4] = 1;
    assert!(!thread.spin.is_changed(&thread.memory));
    thread.memory[3] = 1;
    assert!(thread.spin.is_changed(&thread.memory));
}

#[test]
fn a_thread_is_watched_for_a_while() {
    let spin = Spin::watched_from(EventNumber(10));
    assert!(spin.is_watched(EventNumber(10)) && spin.is_watched(EventNumber(spin.watched_until() - EventNumber(1))));
    assert!(!spin.is_watched(spin.watched_until()));
    assert!(
        !Spin::anew(EventNumber(10)).is_watched(EventNumber(10))
            && Spin::anew(EventNumber(10)).is_current(EventNumber(10))
    );
}

#[test]
fn it_is_watched_no_longer_once_it_is_known_to_be_busy() {
    let mut thread = Reported::new();
    thread.spin = Spin::watched_from(EventNumber(0));
    thread.reach(0x10, 3, 0);
    thread.spin.stop_watching_busy();
    assert!(thread.spin.is_watched(EventNumber(1)));
    thread.spin.moves_on();
    thread.spin.stop_watching_busy();
    assert!(!thread.spin.is_watched(EventNumber(1)));
    assert!(thread.spin.is_busy(&thread.memory));
}

/// Being busy before does not end a watch that began because the thread seems to repeat itself.
#[test]
fn only_a_watch_for_that_reason_ends() {
    let mut spin = Spin { busy: true, watched_until: EventNumber(9), ..Spin::NEW };
    spin.stop_watching_busy();
    assert!(spin.is_watched(EventNumber(8)));
}

#[test]
fn counted_events_are_reported_after_they_were_counted() {
    let mut spin = Spin::anew(EventNumber(10));
    spin.reports_counted(EventNumber(11));
    spin.reported_counted(EventNumber(11));
    assert!(!spin.unseen && spin.is_current(EventNumber(11)));
    spin.reports_counted(EventNumber(13));
    assert!(spin.unseen);
}

/// A thread as a state machine: each state makes one access, may write there, and continues depending on what it has
/// read.
#[derive(Clone, Debug)]
struct Machine {
    states: Vec<(usize, Option<u64>, [usize; 2])>,
}

const STATES: usize = 8;

fn machine() -> impl Strategy<Value = Machine> {
    let state = (0_usize..6, prop_oneof![3 => Just(None), 1 => (0_u64..2).prop_map(Some)], [0..STATES, 0..STATES]);
    vec(state, STATES).prop_map(|states| Machine { states })
}

impl Machine {
    /// Makes one access, and returns the next state.
    fn step(&self, state: usize, memory: &mut [u64]) -> usize {
        let (address, writes, next) = self.states[state];
        let read = memory[address];
        if let Some(value) = writes {
            memory[address] = value;
        }
        next[read as usize & 1]
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// Soundness: a thread that is reported to wait returns to the same state, with all memory unchanged.
    #[test]
    fn who_is_said_to_wait_does_nothing_else(machine in machine(), start in vec(0_u64..2, 6)) {
        let mut thread = Reported::new();
        thread.memory[..6].copy_from_slice(&start);
        let mut state = 0;
        for _ in 0..300 {
            // The machine's state stands for its registers; the access alone does not distinguish states.
            let (address, _, _) = machine.states[state];
            if thread.reach(0x100 + state % 3, address, state) {
                let (mut memory, mut at) = (thread.memory.clone(), state);
                let comes_back = (0..=STATES * 64).any(|_| {
                    at = machine.step(at, &mut memory);
                    at == state && memory == thread.memory
                });
                prop_assert!(comes_back);
                return Ok(());
            }
            state = machine.step(state, &mut thread.memory);
        }
    }

    /// Completeness: a thread that only reads, in few places, is found to wait.
    #[test]
    fn who_only_reads_is_found_to_wait(machine in machine(), start in vec(0_u64..2, 6)) {
        let states = machine.states.into_iter().map(|(address, _, next)| (address, None, next)).collect();
        let machine = Machine { states };
        let mut thread = Reported::new();
        thread.memory[..6].copy_from_slice(&start);
        let mut state = 0;
        let found = (0..300).any(|_| {
            let (address, _, _) = machine.states[state];
            let found = thread.reach(0x100 + state, address, state);
            state = machine.step(state, &mut thread.memory);
            found
        });
        prop_assert!(found);
    }

    /// Snapshots are equal exactly if their words are.
    #[test]
    fn snapshots_compare_words(words in vec(0_usize..3, 1..120), at in 0_usize..120, other in 0_usize..3) {
        let before = Snapshot::of(&words);
        let mut changed = words.clone();
        let at = at % words.len();
        changed[at] = other;
        prop_assert_eq!(before.is_same(&Snapshot::of(&changed)), words == changed);
    }
}
