//! The end of memory's lifetime: cells are marked, so that every later access is noticed ([`crate::afterlife`]).

use super::{Access, Cell, ENDED, LIST, MASK, Slot, cell_of, check_cell, clock_of, empty, site_index, thread_of};
use crate::atomics;
use crate::clock::RH_FAMILY;
use racehunter_abi::ThreadId;

/// Checks the end of memory's lifetime as a write to it, and marks it: from here on every access to it is too late. `how` it
/// ended is for [`afterlife`]; without an access it is not checked.
pub(crate) unsafe fn end(address: usize, size: usize, access: Option<&Access>, how: u64) {
    atomics::forget_last_load();
    let site = access.map_or(0, |access| site_index(access) as u64);
    let family = RH_FAMILY.get();
    let is_past = |slot: Slot| clock_of(slot) <= *family.add(thread_of(slot).index());
    for at in (address..address + size).step_by(4) {
        let cell = cell_of(at);
        if let Some(access) = access
            && ((*cell).read >= LIST || !is_past((*cell).write) || !is_past((*cell).read))
        {
            check_cell(at, MASK, site, access);
        }
        empty(cell);
        (*cell).read = ENDED | how;
    }
}

/// Marks the memory that a thread has used from the end of the range downwards, at most to its start. It has used some of it down
/// to `down_to` at least; below that, `gap` untouched bytes are taken to be the end. Returns the lowest marked address. The thread's
/// own last access stays. Memory above `certain` has ended in any case: the address of a variable can be passed on before any access
/// to it is known.
pub(crate) unsafe fn end_used(
    range: core::ops::Range<usize>,
    down_to: usize,
    gap: usize,
    certain: usize,
    (thread, how): (ThreadId, u64),
) -> usize {
    let mark = Cell { write: 0, read: ENDED | how };
    let end_cell = |cell: *mut Cell| {
        let own = |slot: Slot| slot < LIST && slot != 0 && thread_of(slot) == thread;
        let last = [(*cell).write, (*cell).read].into_iter().find(|&slot| own(slot)).unwrap_or(0);
        empty(cell);
        *cell = Cell { write: last, ..mark };
    };
    let (mut at, mut lowest, mut end) = (range.end, range.end, down_to - gap);
    // What is certain is marked on the way, whether it was used or not. Most of it was not.
    let in_any_case = if certain < range.end { certain.max(range.start) & !3 } else { range.end };
    while at >= in_any_case + 4 {
        if at & (PAGE_OF_CELLS - 1) == 0 || at == range.end {
            make_writable(cell_of(at - 4));
        }
        if at - in_any_case >= 4 * TOGETHER && at & (4 * TOGETHER - 1) == 0 {
            let first = cell_of(at - 4 * TOGETHER);
            if are_empty(first) {
                (0..TOGETHER).for_each(|number| (*first.add(number)).read = mark.read);
                at -= 4 * TOGETHER;
                continue;
            }
        }
        let is_searched = at > end;
        at -= 4;
        let cell = cell_of(at);
        if (*cell).is_empty() {
            *cell = mark;
        } else if is_searched {
            end_cell(cell);
            lowest = at;
            end = end.min(at - gap);
        }
    }
    while at > range.start.max(end) {
        at -= 4;
        let cell = cell_of(at);
        if !(*cell).is_empty() {
            end_cell(cell);
            lowest = at;
            end = end.min(at - gap);
        }
    }
    if lowest < range.end || certain < range.end {
        // Memory in between without a recorded access has ended too: a variable whose address the thread has only passed on.
        let used = if lowest < range.end { lowest - gap } else { lowest };
        lowest = range.start.max(used.min(certain));
        for at in (lowest..in_any_case).step_by(4) {
            let cell = cell_of(at);
            if (*cell).is_empty() {
                *cell = mark;
            }
        }
    }
    lowest
}

/// Number of cells that are compared at once, and bytes of the program's memory whose cells fill a page.
const TOGETHER: usize = 16;
const PAGE_OF_CELLS: usize = 4096 / size_of::<Cell>() * 4;

/// Returns whether a few cells, from this one on, record nothing.
#[inline(always)]
unsafe fn are_empty(first: *const Cell) -> bool {
    (0..TOGETHER).fold(0, |all, number| all | (*first.add(number)).write | (*first.add(number)).read) == 0
}

/// Has the kernel provide the page of a cell for writing at once. If it were read first, there would be a second page fault.
#[inline(always)]
unsafe fn make_writable(cell: *mut Cell) {
    core::arch::asm!("lock or qword ptr [{}], 0", in(reg) cell, options(nostack));
}

/// Returns how the lifetime of the memory at this address ended, if it did.
pub(crate) unsafe fn ended(address: usize) -> Option<u64> {
    let read = (*cell_of(address)).read;
    (read >= ENDED).then_some(read & !ENDED)
}
