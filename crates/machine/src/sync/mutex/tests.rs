use super::*;
use proptest::collection::vec;
use proptest::prelude::*;

const A: ThreadId = ThreadId(0);
const B: ThreadId = ThreadId(1);
const ROBUST: MutexKind = MutexKind(16);
const SHARED: MutexKind = MutexKind(128);

fn mutex(kind: MutexKind) -> Mutex {
    let mut mutex = Mutex::default();
    mutex.set_kind(kind);
    mutex
}

fn held(kind: MutexKind) -> Mutex {
    let mut mutex = mutex(kind);
    assert_eq!(mutex.take(A, LockForm::Mutex), Taken::Newly);
    mutex
}

/// Returns a mutex whose owner has ended, and whose next owner has been notified.
fn inherited() -> Mutex {
    let mut mutex = held(ROBUST);
    mutex.abandon();
    mutex.release();
    assert_eq!(mutex.take(B, LockForm::Mutex), Taken::FromDead);
    mutex
}

#[test]
fn a_static_initialiser_makes_a_normal_one() {
    assert_eq!(MutexKind::from_word(0), MutexKind::NORMAL);
    assert_eq!(Mutex::default().kind(), MutexKind::NORMAL);
}

#[test]
fn types_of_the_word() {
    assert!(MutexKind::from_word(1).is_recursive());
    assert!(MutexKind::from_word(2).is_error_checking());
    assert_eq!(MutexKind::from_word(3), MutexKind::ADAPTIVE);
}

#[test]
fn bits_for_elision_do_not_matter() {
    assert_eq!(MutexKind::from_word(0x100), MutexKind::NORMAL);
    assert!(MutexKind::from_word(0x201).is_recursive());
}

#[test]
fn a_robust_word_is_not_understood_across_processes() {
    let kind = MutexKind::from_word(128 | 16);
    assert!(kind.is_robust() && !kind.is_shared());
}

#[test]
fn nor_is_one_with_priorities() {
    let kind = MutexKind::from_word(128 | 32 | 1);
    assert!(!kind.is_robust() && !kind.is_shared() && kind.is_recursive());
}

#[test]
fn words_with_the_number_of_an_owner() {
    assert!([16, 32, 64, 16 | 128].iter().all(|&word| MutexKind::has_owner(word)));
    assert!([0, 1, 2, 3, 128, 0x100].iter().all(|&word| !MutexKind::has_owner(word)));
}

#[test]
fn a_shared_one() {
    assert!(MutexKind::from_word(128).is_shared() && !MutexKind::from_word(128).is_plain());
}

#[test]
fn garbage_is_what_no_initialiser_leaves() {
    assert!(MutexKind::is_garbage(0x400) && MutexKind::is_garbage(u32::MAX));
    assert!(!MutexKind::is_garbage(0x3ff));
}

#[test]
fn only_normal_ones_may_be_misused_without_an_error() {
    assert!(!MutexKind::NORMAL.is_checked() && !MutexKind::ADAPTIVE.is_checked() && !SHARED.is_checked());
    assert!(MutexKind::RECURSIVE.is_checked() && MutexKind::ERROR_CHECK.is_checked() && ROBUST.is_checked());
}

#[test]
fn plain_ones_have_no_further_bits() {
    assert!(MutexKind::NORMAL.is_plain() && MutexKind::ADAPTIVE.is_plain());
    assert!(!MutexKind::RECURSIVE.is_plain() && !ROBUST.is_plain());
}

#[test]
fn a_free_one_is_for_anybody() {
    assert!(Mutex::default().is_available(A) && Mutex::default().is_available(B));
}

#[test]
fn a_held_one_is_not_available() {
    let mutex = held(MutexKind::NORMAL);
    assert!(!mutex.is_available(A) && !mutex.is_available(B));
}

#[test]
fn a_held_recursive_one_is_for_its_owner() {
    let mutex = held(MutexKind::RECURSIVE);
    assert!(mutex.is_available(A) && !mutex.is_available(B));
}

#[test]
fn an_error_checking_one_refuses_its_owner() {
    let mutex = held(MutexKind::ERROR_CHECK);
    assert!(mutex.refuses_again(A, MutexKind::ERROR_CHECK));
    assert!(!mutex.refuses_again(B, MutexKind::ERROR_CHECK));
    assert!(!mutex.refuses_again(A, MutexKind::NORMAL));
}

#[test]
fn taking_it_makes_an_owner() {
    let mutex = held(MutexKind::NORMAL);
    assert!(mutex.owner().is(A));
    assert_eq!((mutex.depth(), mutex.form()), (1, LockForm::Mutex));
}

#[test]
fn taking_it_again_goes_deeper() {
    let mut mutex = held(MutexKind::RECURSIVE);
    assert_eq!(mutex.take(A, LockForm::Mutex), Taken::Again);
    assert_eq!(mutex.depth(), 2);
}

#[test]
fn there_is_a_deepest() {
    let mut mutex = held(MutexKind::RECURSIVE);
    mutex.restore_depth(u32::MAX);
    assert_eq!(mutex.take(A, LockForm::Mutex), Taken::TooDeep);
    assert_eq!(mutex.depth(), u32::MAX);
}

#[test]
fn the_last_unlock_leaves_it_to_be_released() {
    let mut mutex = held(MutexKind::RECURSIVE);
    mutex.take(A, LockForm::Mutex);
    assert_eq!(mutex.unlock(), Unlocked::Still);
    assert!(mutex.owner().is(A));
    assert_eq!(mutex.unlock(), Unlocked::Last);
    assert_eq!(mutex.release(), (Owner::of(A), 1));
    assert!(mutex.is_available(B));
}

#[test]
fn a_wait_gives_up_a_recursive_one_only_once() {
    let mut mutex = held(MutexKind::RECURSIVE);
    mutex.take(A, LockForm::Mutex);
    assert_eq!(mutex.give_up(), Unlocked::Still);
    assert!(!mutex.is_available(B));
    assert_eq!(mutex.give_up(), Unlocked::Last);
}

#[test]
fn a_wait_does_not_lose_an_inconsistent_one() {
    let mut mutex = inherited();
    assert_eq!(mutex.give_up(), Unlocked::Last);
    assert_eq!(mutex.health(), Health::Inconsistent);
}

#[test]
fn after_a_wait_it_is_held_as_often_as_before() {
    let mut mutex = held(MutexKind::RECURSIVE);
    let (_, depth) = mutex.release();
    mutex.take(A, LockForm::Mutex);
    mutex.restore_depth(depth);
    assert_eq!(mutex.depth(), 1);
}

#[test]
fn the_next_owner_is_notified_of_a_dead_one() {
    let mutex = inherited();
    assert!(mutex.owner().is(B));
    assert_eq!(mutex.health(), Health::Inconsistent);
}

#[test]
fn the_state_can_be_declared_consistent() {
    let mut mutex = inherited();
    assert!(mutex.make_consistent(B, ROBUST));
    assert_eq!(mutex.health(), Health::Sound);
    assert_eq!(mutex.unlock(), Unlocked::Last);
    mutex.release();
    assert_eq!(mutex.take(A, LockForm::Mutex), Taken::Newly);
}

#[test]
fn only_by_its_owner() {
    let mut mutex = inherited();
    assert!(!mutex.make_consistent(A, ROBUST));
    assert_eq!(mutex.health(), Health::Inconsistent);
}

#[test]
fn only_if_it_is_robust() {
    assert!(!inherited().make_consistent(B, MutexKind::NORMAL));
}

#[test]
fn only_if_it_is_inconsistent() {
    let mut mutex = held(ROBUST);
    assert!(!mutex.make_consistent(A, ROBUST));
}

#[test]
fn without_that_it_is_lost() {
    let mut mutex = inherited();
    mutex.unlock();
    mutex.release();
    assert_eq!(mutex.take(A, LockForm::Mutex), Taken::Lost);
    assert!(mutex.owner().is_none());
}

#[test]
fn a_lost_one_does_not_wait_for_other_processes() {
    let mut mutex = inherited();
    mutex.unlock();
    mutex.release();
    mutex.set_kind(SHARED);
    assert!(!mutex.needs_word(A));
}

#[test]
fn a_shared_one_is_taken_by_its_word() {
    let mut mutex = mutex(SHARED);
    assert!(mutex.needs_word(A));
    mutex.take(A, LockForm::Mutex);
    assert!(!mutex.needs_word(A) && mutex.needs_word(B));
}

#[test]
fn one_of_this_process_needs_no_word() {
    assert!(!Mutex::default().needs_word(A));
}

#[test]
fn mutexes_of_this_process_have_a_word_of_their_own() {
    assert!(held(MutexKind::NORMAL).has_own_word());
    assert!(!held(SHARED).has_own_word());
    let mut spin = Mutex::default();
    spin.take(A, LockForm::Spin);
    assert!(!spin.has_own_word());
}

#[test]
fn a_thread_that_was_kept_out_is_excused_until_the_next_owner() {
    let mut mutex = Mutex::default();
    mutex.excuse(Owner::of(A));
    assert!(mutex.excuses(A) && !mutex.excuses(B));
    mutex.take(B, LockForm::Mutex);
    assert!(!mutex.excuses(A));
}

#[test]
fn no_thread_is_excused_at_first() {
    assert!(!Mutex::default().excuses(A));
}

proptest! {
    /// Any word is understood in the same way again.
    #[test]
    fn kinds_are_stable(word in any::<u32>()) {
        let kind = MutexKind::from_word(word);
        prop_assert_eq!(MutexKind::from_word(kind.0), kind);
        prop_assert!(!(kind.is_recursive() && kind.is_error_checking()));
        prop_assert!(!(kind.is_shared() && kind.is_robust()));
    }

    /// Compared with a model: an owner and a number.
    #[test]
    fn is_an_owner_and_a_depth(kind in 0_u32..4, steps in vec((0_u32..3, any::<bool>()), 0..100)) {
        let kind = MutexKind::from_word(kind);
        let (mut mutex, mut model) = (mutex(kind), None);
        for (thread, locks) in steps {
            let is_free = model.is_none() || kind.is_recursive() && model.is_some_and(|(owner, _)| owner == thread);
            prop_assert_eq!(mutex.is_available(ThreadId(thread)), is_free);
            if locks && is_free {
                let taken = mutex.take(ThreadId(thread), LockForm::Mutex);
                let depth = model.map_or(1, |(_, depth)| depth + 1);
                prop_assert_eq!(taken, if depth == 1 { Taken::Newly } else { Taken::Again });
                model = Some((thread, depth));
            } else if let Some((owner, depth)) = model.filter(|&(owner, _)| !locks && owner == thread) {
                if mutex.unlock() == Unlocked::Last {
                    prop_assert_eq!(mutex.release(), (Owner::of(ThreadId(owner)), 1));
                }
                model = (depth > 1).then_some((owner, depth - 1));
            }
            prop_assert_eq!(mutex.owner().thread(), model.map(|(owner, _)| ThreadId(owner)));
            prop_assert_eq!(mutex.depth(), model.map_or(0, |(_, depth)| depth));
        }
    }

    /// A robust mutex whose owners end at any time: it is lost exactly if a notified owner unlocks it without having
    /// made it consistent.
    #[test]
    fn robust_ones_are_lost_only_by_neglect(steps in vec(0_u32..4, 0..60)) {
        let (mut mutex, mut health, mut is_held) = (mutex(ROBUST), Health::Sound, false);
        for step in steps {
            match step {
                0 if !is_held => {
                    let taken = mutex.take(A, LockForm::Mutex);
                    let expected = match health {
                        Health::Lost => Taken::Lost,
                        Health::Abandoned => Taken::FromDead,
                        Health::Sound | Health::Inconsistent => Taken::Newly,
                    };
                    prop_assert_eq!(taken, expected);
                    is_held = taken != Taken::Lost;
                    health = if health == Health::Abandoned { Health::Inconsistent } else { health };
                }
                1 if is_held => {
                    mutex.unlock();
                    mutex.release();
                    is_held = false;
                    health = if health == Health::Inconsistent { Health::Lost } else { health };
                }
                2 if is_held => {
                    mutex.abandon();
                    mutex.release();
                    is_held = false;
                    health = Health::Abandoned;
                }
                3 => {
                    let may = is_held && health == Health::Inconsistent;
                    prop_assert_eq!(mutex.make_consistent(A, ROBUST), may);
                    health = if may { Health::Sound } else { health };
                }
                _ => {}
            }
            prop_assert_eq!(mutex.health(), health);
        }
    }
}
