//! Choices of a walk that are known in advance: the running thread is chosen again at the next points. The walk learns of them
//! when it has to choose.

use super::{PLAN, RH_STAYS, WALK, close, minds, now, spin};
use crate::{Global, swift};
use racehunter_abi::EventNumber;

/// Number of further choices at which the running thread is certainly chosen again, while [`RH_STAYS`] is set; [`UNCOUNTED`] if the
/// walk does not count choices.
#[unsafe(link_section = ".data.racehunter")]
static CERTAIN: Global<u64> = Global::new(UNCOUNTED);
/// Its value when the walk made its last choice, and whether the walk would have drawn a number before each, for something rare.
#[unsafe(link_section = ".data.racehunter")]
static CERTAIN_AT_FIRST: Global<u64> = Global::new(UNCOUNTED);
#[unsafe(link_section = ".data.racehunter")]
static DRAWS: Global<bool> = Global::new(false);
const UNCOUNTED: u64 = u64::MAX;

/// The same for a walk that counts its choices: only at this many points. `draws`: it would draw a number before each.
pub(super) fn close_for(choices: u64, draws: bool) {
    // No execution makes more of them.
    let choices = choices.min(UNCOUNTED - 1);
    CERTAIN.set(choices);
    CERTAIN_AT_FIRST.set(choices);
    DRAWS.set(draws);
    close();
}

/// Tells the walk about the certain choices since its last one.
pub(super) unsafe fn make_up() {
    if CERTAIN_AT_FIRST.get() != UNCOUNTED {
        (*WALK.ptr()).make_up_for(CERTAIN_AT_FIRST.get() - CERTAIN.get(), DRAWS.get());
        uncounted();
    }
}

pub(super) fn uncounted() {
    CERTAIN.set(UNCOUNTED);
    CERTAIN_AT_FIRST.set(UNCOUNTED);
}

/// Returns whether the running thread is certainly chosen at the next point, for this operation, and counts that choice.
#[inline(always)]
pub(super) unsafe fn is_chosen_again(code: usize, object: usize) -> bool {
    swift::end();
    let (plan, certain, next) = (PLAN.ptr(), CERTAIN.get(), now().next());
    if certain == UNCOUNTED || (*plan).decided == next {
        return true;
    }
    if certain == 0 || minds::may_mind(code, object) {
        return false;
    }
    CERTAIN.set(certain - 1);
    (*plan).decided = next;
    true
}

/// Returns the number of points that follow at which it is certain that the running thread continues, and no thread waits for what it
/// does there.
pub(crate) unsafe fn certain_points() -> u64 {
    if RH_STAYS.get() && !spin::is_awaited() { CERTAIN.get() } else { 0 }
}

/// Notes that the running thread has passed this many of them, the last of which is event `last`.
pub(crate) unsafe fn passed_certain(points: u64, last: EventNumber) {
    if CERTAIN.get() != UNCOUNTED {
        CERTAIN.set(CERTAIN.get() - points);
        (*PLAN.ptr()).decided = last;
    }
}
