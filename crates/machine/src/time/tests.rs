use super::*;
use proptest::prelude::*;

fn at(now: u64) -> VirtualTime {
    let mut time = VirtualTime::START;
    time.reach(Deadline::at(now));
    time
}

#[test]
fn never_is_later_than_every_time() {
    assert!(Deadline::at(u64::MAX) < Deadline::NEVER);
    assert!(!Deadline::at(u64::MAX).is_never());
    assert!(Deadline::NEVER.is_never());
}

#[test]
fn timespec_of_a_second_and_a_half() {
    assert_eq!(Timespec::from_nanoseconds(SECOND + SECOND / 2), Timespec([1, 500_000_000]));
}

#[test]
fn a_negative_time_is_the_epoch() {
    assert_eq!(Timespec([-1, 999_999_999]).nanoseconds(), 0);
}

#[test]
fn a_time_too_large_to_count_is_the_largest() {
    assert_eq!(Timespec([i64::MAX, 999_999_999]).nanoseconds(), u64::MAX);
}

#[test]
fn the_kernel_refuses_negative_seconds() {
    assert!(!Timespec([-1, 0]).is_valid());
    assert!(Timespec([-1, 0]).has_fraction());
}

#[test]
fn the_kernel_refuses_a_whole_second_of_nanoseconds() {
    assert!(!Timespec([0, SECOND as i64]).is_valid());
    assert!(Timespec([0, SECOND as i64 - 1]).is_valid());
}

#[test]
fn the_kernel_refuses_negative_nanoseconds() {
    assert!(!Timespec([1, -1]).is_valid());
}

#[test]
fn clocks_that_exist() {
    for number in [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, -2, -6] {
        assert!(Clock(number).exists(), "{number}");
    }
}

#[test]
fn clocks_that_do_not() {
    for number in [10, 12, 13, i32::MAX] {
        assert!(!Clock(number).exists(), "{number}");
    }
}

#[test]
fn clocks_of_files_do_not_exist() {
    assert!(!Clock(-1).exists() && !Clock(-5).exists());
}

#[test]
fn clocks_that_can_only_be_read() {
    let sleepless: std::vec::Vec<i32> = (0..12).filter(|&number| !Clock(number).can_sleep()).collect();
    assert_eq!(sleepless, [4, 5, 6]);
}

#[test]
fn locks_wait_by_two_clocks_only() {
    assert!(Clock::REALTIME.times_locks() && Clock::MONOTONIC.times_locks());
    assert!((2..12).all(|number| !Clock(number).times_locks()));
}

#[test]
fn realtime_clocks_start_in_the_future_of_all_files() {
    let shown = |clock| VirtualTime::START.shown(clock);
    assert_eq!(shown(Clock::REALTIME), 2_000_000_000 * SECOND);
    assert_eq!(shown(Clock(5)), shown(Clock::REALTIME));
    assert_eq!(shown(Clock(8)), shown(Clock::REALTIME));
}

#[test]
fn other_clocks_show_an_uptime() {
    assert_eq!(VirtualTime::START.shown(Clock::MONOTONIC), 100_000 * SECOND);
    assert_eq!(VirtualTime::START.shown(Clock(7)), 100_000 * SECOND);
}

#[test]
fn a_time_that_a_clock_shows_is_the_same_moment_as_virtual_time() {
    let time = at(12_345);
    for clock in [Clock::REALTIME, Clock::MONOTONIC, Clock(5), Clock(7)] {
        assert_eq!(clock.deadline(time.shown(clock)), Deadline::at(12_345));
    }
}

#[test]
fn a_time_before_the_execution_is_its_start() {
    assert_eq!(Clock::REALTIME.deadline(17), Deadline::at(0));
}

#[test]
fn looking_takes_time_of_the_processor() {
    let mut time = at(5);
    assert_eq!(time.look(), 1000);
    assert_eq!((time.now(), time.used()), (1005, 1000));
}

#[test]
fn sleeping_takes_no_time_of_the_processor() {
    assert_eq!(at(SECOND).used(), 0);
}

#[test]
fn time_does_not_go_back() {
    let mut time = at(100);
    time.reach(Deadline::at(50));
    assert_eq!(time.now(), 100);
}

#[test]
fn never_is_not_reached() {
    let mut time = at(100);
    time.reach(Deadline::NEVER);
    assert_eq!(time.now(), 100);
}

#[test]
fn a_deadline_in_the_future_stays() {
    let mut time = at(100);
    assert_eq!(time.not_before_now(Deadline::at(101)), Deadline::at(101));
    assert_eq!(time.now(), 100);
}

#[test]
fn deadlines_that_have_passed_take_longer_and_longer() {
    let mut time = at(0);
    let steps: [u64; 4] = core::array::from_fn(|_| {
        let before = time.now();
        time.not_before_now(Deadline::at(0)).nanoseconds() - before
    });
    assert_eq!(steps, [1000, 2000, 4000, 8000]);
}

#[test]
fn they_take_less_than_a_minute_however_many_there_are() {
    let mut time = at(0);
    for _ in 0..200 {
        let before = time.now();
        time.not_before_now(Deadline::at(0));
        assert!(time.now() - before < 60 * SECOND);
    }
}

#[test]
fn they_are_short_again_once_time_has_passed() {
    let mut time = at(0);
    time.not_before_now(Deadline::at(0));
    time.not_before_now(Deadline::at(0));
    let now = time.now();
    time.reach(Deadline::at(now + 1));
    assert_eq!(time.not_before_now(Deadline::at(0)).nanoseconds(), now + 1 + 1000);
}

#[test]
fn a_wait_for_ever_stays_one() {
    assert!(at(7).not_before_now(Deadline::NEVER).is_never());
}

#[test]
fn a_duration_without_end_is_still_a_time_out() {
    assert!(!at(7).after(u64::MAX).is_never());
}

proptest! {
    #[test]
    fn nanoseconds_survive_a_timespec(nanoseconds in any::<u64>()) {
        let time = Timespec::from_nanoseconds(nanoseconds);
        prop_assert!(time.is_valid());
        prop_assert_eq!(time.nanoseconds(), nanoseconds);
    }

    #[test]
    fn valid_times_are_counted_exactly(seconds in 0_i64..1 << 33, part in 0_i64..SECOND as i64) {
        let time = Timespec([seconds, part]);
        prop_assert!(time.is_valid());
        prop_assert_eq!(u128::from(time.nanoseconds()), seconds as u128 * u128::from(SECOND) + part as u128);
    }

    #[test]
    fn until_and_after_are_inverse(now in 0..1_u64 << 60, duration in 0..1_u64 << 60) {
        let time = at(now);
        prop_assert_eq!(time.until(time.after(duration)), duration);
        prop_assert_eq!(time.since(time.after(duration)), 0);
    }

    #[test]
    fn since_counts_from_a_moment_in_the_past(now in 0..1_u64 << 60, ago in 0..1_u64 << 60) {
        let moment = Deadline::at(now.saturating_sub(ago));
        prop_assert_eq!(at(now).since(moment), now.min(ago));
        prop_assert_eq!(at(now).until(moment), 0);
    }

    #[test]
    fn every_wait_ends_at_its_deadline_or_at_once(now in 0..1_u64 << 40, deadline in 0..1_u64 << 41) {
        let mut time = at(now);
        let ends = time.not_before_now(Deadline::at(deadline));
        prop_assert!(ends.nanoseconds() >= time.now());
        prop_assert!(ends.nanoseconds() == deadline || deadline <= now && ends.nanoseconds() == time.now());
    }

    /// Time never goes back, and the processor is never busy for longer than time has passed.
    #[test]
    fn goes_forward(steps in proptest::collection::vec((0_u32..3, 0..1_u64 << 30), 0..50)) {
        let mut time = VirtualTime::START;
        for (what, value) in steps {
            let before = time.now();
            match what {
                0 => { time.look(); }
                1 => time.reach(Deadline::at(value)),
                _ => { time.not_before_now(Deadline::at(value)); }
            }
            prop_assert!(time.now() >= before && time.used() <= time.now());
        }
    }
}
