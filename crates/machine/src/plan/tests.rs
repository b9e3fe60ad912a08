use super::*;
use proptest::collection::vec;
use proptest::prelude::*;
use std::vec::Vec;

const HERE: Standing = Standing { thread: ThreadId(1), code: CodeAddress(0x40) };

const fn switch(at: u64) -> Switch {
    Switch { at: EventNumber(at), to: ThreadId(0), from: ThreadId(1), code: CodeAddress(0x40) }
}

#[test]
fn a_switch_is_about_a_thread_at_a_place() {
    assert!(HERE.is_meant(&switch(5)));
    assert!(!HERE.is_meant(&Switch { from: ThreadId(2), ..switch(5) }));
    assert!(!HERE.is_meant(&Switch { code: CodeAddress(0x44), ..switch(5) }));
}

#[test]
fn a_switch_without_a_place_is_about_any() {
    assert!(HERE.is_meant(&Switch { code: CodeAddress(0), ..switch(5) }));
    assert!(!HERE.is_meant(&Switch { code: CodeAddress(0), from: ThreadId(2), ..switch(5) }));
}

#[test]
fn nothing_is_due_without_switches() {
    let mut none = Switches::NONE;
    assert!(!none.is_due(EventNumber(u64::MAX)) && none.take_due(EventNumber(u64::MAX)).is_none());
    assert_eq!(none.next_at(), None);
}

#[test]
fn a_switch_is_due_at_its_event_and_not_before() {
    let all = [switch(5)];
    let switches = Switches::new(&all);
    assert!(!switches.is_due(EventNumber(4)) && switches.is_due(EventNumber(5)));
}

#[test]
fn a_switch_that_was_missed_is_still_due() {
    let all = [switch(5)];
    assert_eq!(Switches::new(&all).take_due(EventNumber(9)), Some(&all[0]));
}

#[test]
fn taking_one_leaves_the_next() {
    let all = [switch(5), switch(7)];
    let mut switches = Switches::new(&all);
    assert_eq!(switches.take_due(EventNumber(5)), Some(&all[0]));
    assert_eq!(switches.take_due(EventNumber(5)), None);
    assert_eq!(switches.next_at(), Some(EventNumber(7)));
}

#[test]
fn two_for_one_event() {
    let all = [switch(5), switch(5)];
    let mut switches = Switches::new(&all);
    switches.take_due(EventNumber(5));
    assert!(switches.speaks_of(EventNumber(5), || HERE));
}

#[test]
fn a_plan_speaks_of_the_event_of_its_next_switch_only() {
    let all = [switch(5), switch(6)];
    let switches = Switches::new(&all);
    assert!(
        switches.speaks_of(EventNumber(5), || HERE)
            && !switches.speaks_of(EventNumber(6), || HERE)
            && !switches.speaks_of(EventNumber(4), || HERE)
    );
}

#[test]
fn a_plan_does_not_speak_of_another_place() {
    let all = [switch(5)];
    let switches = Switches::new(&all);
    assert!(!switches.speaks_of(EventNumber(5), || Standing { code: CodeAddress(0x50), ..HERE }));
    assert!(!switches.speaks_of(EventNumber(5), || Standing { thread: ThreadId(3), ..HERE }));
}

#[test]
fn where_the_thread_stands_is_asked_only_if_it_matters() {
    let all = [switch(5)];
    assert!(!Switches::new(&all).speaks_of(EventNumber(4), || unreachable!()));
    assert!(!Switches::new(&all).speaks_of_code(EventNumber(4), || unreachable!()));
}

#[test]
fn a_yield_is_recognised_by_its_code() {
    let all = [switch(5)];
    let switches = Switches::new(&all);
    assert!(
        switches.speaks_of_code(EventNumber(5), || CodeAddress(0x40))
            && !switches.speaks_of_code(EventNumber(5), || CodeAddress(0x44))
    );
}

#[test]
fn a_waiting_thread_is_recognised_by_its_number() {
    let all = [switch(5)];
    let switches = Switches::new(&all);
    assert!(switches.speaks_of_thread(EventNumber(5), ThreadId(1)));
    assert!(
        !switches.speaks_of_thread(EventNumber(5), ThreadId(2))
            && !switches.speaks_of_thread(EventNumber(6), ThreadId(1))
    );
}

#[test]
fn a_snapshot_skips_what_was_made() {
    let all = [switch(3), switch(5), switch(7)];
    let mut switches = Switches::new(&all);
    switches.skip_before(EventNumber(5));
    assert_eq!(switches.next_at(), Some(EventNumber(5)));
}

#[test]
fn dropping_them_leaves_none() {
    let all = [switch(3)];
    let mut switches = Switches::new(&all);
    switches.drop_all();
    assert_eq!(switches.next(), None);
}

#[test]
fn without_anything_to_attend_to_the_horizon_is_far() {
    assert!(Horizon::after(EventNumber(7)).event() > EventNumber(1 << 50));
}

#[test]
fn the_earliest_event_is_the_horizon() {
    assert_eq!(
        Horizon::after(EventNumber(7)).due(EventNumber(30)).due(EventNumber(20)).due(EventNumber(40)).event(),
        EventNumber(20)
    );
}

#[test]
fn an_event_that_was_missed_is_attended_to_at_once() {
    assert_eq!(Horizon::after(EventNumber(7)).due(EventNumber(3)).event(), EventNumber(8));
}

#[test]
fn an_event_that_has_happened_is_not() {
    assert_eq!(Horizon::after(EventNumber(7)).once(EventNumber(3)).due(EventNumber(30)).event(), EventNumber(30));
    assert_eq!(Horizon::after(EventNumber(7)).once(EventNumber(7)).due(EventNumber(30)).event(), EventNumber(30));
}

#[test]
fn the_next_event_can_be_the_horizon() {
    assert_eq!(Horizon::after(EventNumber(7)).once(EventNumber(8)).event(), EventNumber(8));
}

#[test]
fn no_limit() {
    assert_eq!(limit(0, Some(EventNumber(5)), true), FAR);
    assert_eq!(limit(0, None, true), FAR);
}

#[test]
fn events_before_the_first_thread_do_not_count() {
    assert_eq!(limit(100, Some(EventNumber(5)), false), EventNumber(105));
}

#[test]
fn before_the_first_thread_there_is_a_limit_only_if_all_is_logged() {
    assert_eq!(limit(100, None, true), EventNumber(100));
    assert_eq!(limit(100, None, false), FAR);
}

#[test]
fn a_limit_is_no_overflow() {
    assert_eq!(limit(u64::MAX, Some(EventNumber(5)), true), EventNumber(u64::MAX));
}

fn turn(length: u64) -> Turn {
    let mut turn = Turn::ENDLESS;
    turn.set_length(length);
    turn.begin(EventNumber(100));
    turn
}

#[test]
fn a_turn_without_length_does_not_end() {
    assert!(!turn(0).has_ended(EventNumber(u64::MAX)));
    assert_eq!(turn(0).end(), None);
}

#[test]
fn a_turn_ends_after_its_length() {
    assert!(!turn(10).has_ended(EventNumber(109)) && turn(10).has_ended(EventNumber(110)));
}

#[test]
fn alone_one_turn_follows_another() {
    let mut turn = turn(10);
    assert_eq!(turn.review(EventNumber(110), false, true), TurnEnd::Alone);
    assert_eq!((turn.began(), turn.end()), (EventNumber(110), Some(EventNumber(120))));
}

#[test]
fn a_strict_turn_is_over() {
    assert_eq!(turn(10).review(EventNumber(110), true, true), TurnEnd::Over);
}

#[test]
fn otherwise_the_thread_is_watched_first() {
    let mut turn = turn(10);
    assert_eq!(turn.review(EventNumber(110), true, false), TurnEnd::Watch);
    turn.watch_until(EventNumber(150));
    assert!(!turn.has_ended(EventNumber(149)) && turn.has_ended(EventNumber(150)));
    assert_eq!(turn.review(EventNumber(150), true, false), TurnEnd::IfBusy);
    assert_eq!(turn.end(), Some(EventNumber(160)));
}

#[test]
fn a_busy_thread_is_watched_again_in_its_next_turn() {
    let mut turn = turn(10);
    turn.review(EventNumber(110), true, false);
    turn.review(EventNumber(150), true, false);
    assert_eq!(turn.review(EventNumber(160), true, false), TurnEnd::Watch);
}

#[test]
fn there_are_only_so_many_turns_in_a_row() {
    assert_eq!(turn(10).review(EventNumber(100 + 319), true, false), TurnEnd::Watch);
    assert_eq!(turn(10).review(EventNumber(100 + 320), true, false), TurnEnd::Over);
}

#[test]
fn a_new_turn_is_not_watched() {
    let mut turn = turn(10);
    turn.review(EventNumber(110), true, false);
    turn.begin(EventNumber(120));
    assert_eq!(turn.review(EventNumber(130), true, false), TurnEnd::Watch);
}

#[test]
fn turns_of_the_only_thread_follow_each_other_from_the_start() {
    assert_eq!(turn(10).began_alone(EventNumber(37)), EventNumber(30));
    assert_eq!(turn(10).began_alone(EventNumber(40)), EventNumber(40));
    assert_eq!(turn(0).began_alone(EventNumber(37)), EventNumber(0));
}

proptest! {
    /// Taking what is due, event by event, makes each switch once, in order, at its event.
    #[test]
    fn each_switch_is_made_once(mut events in vec(1_u64..60, 0..20)) {
        events.sort_unstable();
        let all: Vec<Switch> = events.iter().copied().map(switch).collect();
        let mut switches = Switches::new(&all);
        let mut made = Vec::new();
        for n in 1..60 {
            while let Some(switch) = switches.take_due(EventNumber(n)) {
                prop_assert_eq!(switch.at, EventNumber(n));
                made.push(switch.at.0);
            }
            prop_assert!(!switches.is_due(EventNumber(n)));
        }
        prop_assert_eq!(made, events);
    }

    #[test]
    fn skipping_is_taking_all_before(mut events in vec(1_u64..60, 0..20), n in 0_u64..70) {
        events.sort_unstable();
        let all: Vec<Switch> = events.iter().copied().map(switch).collect();
        let mut switches = Switches::new(&all);
        switches.skip_before(EventNumber(n));
        let expected = events.iter().copied().find(|&at| at >= n).map(EventNumber);
        prop_assert_eq!(switches.next_at(), expected);
    }

    /// No event that needs attention is skipped, and the horizon is never in the past.
    #[test]
    fn no_event_is_passed_by(now in 0_u64..100, due in vec(0_u64..200, 0..6), once in vec(0_u64..200, 0..6)) {
        let horizon = Horizon::after(EventNumber(now));
        let horizon = due.iter().fold(horizon, |horizon, &at| horizon.due(EventNumber(at)));
        let EventNumber(event) = once.iter().fold(horizon, |horizon, &at| horizon.once(EventNumber(at))).event();
        prop_assert!(event > now);
        prop_assert!(due.iter().all(|&at| event <= at.max(now + 1)));
        prop_assert!(once.iter().all(|&at| at <= now || event <= at));
        let is_asked_for = due.iter().chain(&once).any(|&at| at == event || at <= now && event == now + 1);
        prop_assert!(is_asked_for || event == now + FAR.0 / 2);
    }

    #[test]
    fn a_turn_alone_began_less_than_a_turn_ago(length in 1_u64..100, now in 0_u64..10_000) {
        let EventNumber(began) = turn(length).began_alone(EventNumber(now));
        prop_assert!(began <= now && now - began < length && began.is_multiple_of(length));
    }
}
