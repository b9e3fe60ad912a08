//! What ends the certainty that the running thread continues: operations that the walk has to know of before it can say so.
//!
//! These are at few places and few addresses, each of which has a mark in a small table. Others may share the entry, for which the
//! walk is then asked in vain.

use super::{WALK, flags};
use crate::{Global, log, swift, track};
use racehunter_abi::control::FLAG_SELECTIVE;
use racehunter_walk::Next;

/// Number of entries. A power of two; `fast` has the same number.
pub(crate) const ENTRIES: usize = 1024;
/// Maximum number of entries that are marked anew for each choice.
const MOST: usize = 32;

/// Number of marks of each entry.
#[unsafe(link_section = ".data.racehunter")]
static MARKS: Global<[u8; ENTRIES]> = Global::new([0; ENTRIES]);
/// Where it is.
#[unsafe(link_section = ".data.racehunter")]
pub(crate) static RH_MINDED: Global<*const u8> = Global::new(MARKS.ptr() as *const u8);
/// Entries that are marked for the current choice.
#[unsafe(link_section = ".data.racehunter")]
static CHOICE: Global<List> = Global::new(List { entries: [0; MOST], count: 0 });
/// Whether anything was marked for the whole execution.
#[unsafe(link_section = ".data.racehunter")]
static HAS_PLAN: Global<bool> = Global::new(false);
/// Whether accesses of the chosen variables are minded, too many for the table.
#[unsafe(link_section = ".data.racehunter")]
static BLOCKS: Global<bool> = Global::new(false);
/// Whether every tracked access that the walk has to know of is minded.
#[unsafe(link_section = ".data.racehunter")]
static KNOWS_TRACKED: Global<bool> = Global::new(false);

#[derive(Clone, Copy)]
struct List {
    entries: [u16; MOST],
    count: usize,
}

const fn of_object(object: usize) -> usize {
    object >> 2 & (ENTRIES - 1)
}

const fn of_code(code: u64) -> usize {
    (code ^ code >> 10) as usize & (ENTRIES - 1)
}

/// Begins a walk: minds what its constraints are about.
pub(super) unsafe fn begin() {
    if HAS_PLAN.get() || (*CHOICE.ptr()).count > 0 {
        (*MARKS.ptr()).fill(0);
    }
    (*CHOICE.ptr()).count = 0;
    HAS_PLAN.set(false);
    BLOCKS.set(false);
    KNOWS_TRACKED.set(false);
}

/// Minds operations for the whole execution: at these places, and of this object.
pub(super) unsafe fn constraint(codes: impl Iterator<Item = u64>, object: u64) {
    HAS_PLAN.set(true);
    swift::minds_places();
    let objects = (object != 0).then_some(of_object(object as usize));
    for entry in codes.map(of_code).chain(objects) {
        let mark = &mut (*MARKS.ptr())[entry];
        *mark = mark.saturating_add(1);
    }
}

/// Minds what may change the choice of the running thread. Returns false if that is too much.
pub(super) unsafe fn choice(running: u32, candidates: impl Iterator<Item = Next> + Clone) -> bool {
    forget_choice();
    let walk = WALK.ptr();
    let counts = (*walk).counts_accesses(candidates.clone());
    let has_objects = (*walk).minds_objects();
    let mut others = candidates.filter(|next| has_objects && next.thread != running && next.object != 0);
    others.all(|next| mark(next.object as usize)) && tracked(counts)
}

/// The same if no other thread can run.
pub(super) unsafe fn alone() -> bool {
    forget_choice();
    tracked(true)
}

/// Minds accesses of the variables that the walk counts, if they count.
unsafe fn tracked(counts: bool) -> bool {
    let is_counting = (*WALK.ptr()).is_counting();
    BLOCKS.set(is_counting && counts && track::has_blocks());
    KNOWS_TRACKED.set(track::has_constraints() || is_counting && !counts);
    let mut fixed = track::fixed().filter(|_| is_counting && counts);
    flags() & FLAG_SELECTIVE == 0 && fixed.all(|object| mark(object))
}

/// Returns false if there is no room.
unsafe fn mark(object: usize) -> bool {
    let (list, entry) = (CHOICE.ptr(), of_object(object));
    let mark = &mut (*MARKS.ptr())[entry];
    let has_room = (*list).count < MOST && *mark < u8::MAX;
    if has_room {
        *mark += 1;
        (*list).entries[(*list).count] = entry as u16;
        (*list).count += 1;
    }
    has_room
}

unsafe fn forget_choice() {
    let list = CHOICE.ptr();
    for &entry in &(&(*list).entries)[..(*list).count] {
        (*MARKS.ptr())[usize::from(entry)] -= 1;
    }
    (*list).count = 0;
}

/// Returns whether the walk may mind an operation.
#[inline(always)]
pub(super) unsafe fn may_mind(code: usize, object: usize) -> bool {
    let marks = MARKS.ptr();
    (*marks)[of_object(object)] != 0
        || HAS_PLAN.get() && (*marks)[of_code(log::relative(code).0)] != 0
        || BLOCKS.get() && track::has(object)
}

/// Returns whether the walk may mind what is at this place, whatever it touches.
pub(crate) unsafe fn may_mind_code(code: usize) -> bool {
    HAS_PLAN.get() && (*MARKS.ptr())[of_code(log::relative(code).0)] != 0
}

/// Returns whether the table has all tracked accesses that the walk must be told of.
pub(crate) fn knows_tracked() -> bool {
    KNOWS_TRACKED.get()
}
