//! Memory whose lifetime has ended: freed blocks, and the stacks of ended threads.
//!
//! Its shadow is marked ([`shadow::end`]), so that every access to it comes here, by any thread and in any order. Freed blocks
//! stay in a *quarantine* before the allocator gets them back, oldest first, so that memory used too late has not yet been
//! reused. The mark is removed when a block leaves the quarantine: what happens to the memory then (it may be returned to the
//! system, and mapped again for anything) is not known here.

use crate::clock::DETECTS;
use crate::shadow::{self, Access, SITE, Slot, bytes_of, code_of};
use crate::thread::{CURRENT, Thread, thread};
use crate::{Global, escapes, kernel, reports, server, sys};
use racehunter_abi::{Kind, ThreadId};
use racehunter_machine::memory::Quarantine;

unsafe extern "C" {
    fn __libc_free(block: *mut u8);
}

/// A freed block, and the thread that freed it.
#[derive(Clone, Copy)]
struct Freed {
    block: usize,
    size: usize,
    code: usize,
    thread: ThreadId,
}

/// Maximum number of blocks in quarantine.
const BLOCKS: usize = 1024;
/// Blocks of this size and above only keep their addresses: the system gets their pages back at once.
const LARGE: usize = Quarantine::<Freed, BLOCKS>::LARGE;

/// Blocks of this size and above have their own mapping, which becomes inaccessible when they are freed.
const HUGE: usize = 64 << 20;
const PROT_NONE: usize = 0;
const PROT_READ_WRITE: usize = 3;

/// Sets the protection of the whole pages of a block.
unsafe fn protect(block: usize, size: usize, protection: usize) {
    const MPROTECT: usize = 10;
    let (first, last) = ((block + 4095) & !4095, (block + size) & !4095);
    sys::call(MPROTECT, first, last - first, protection, 0);
}

/// The index of a block here identifies how its lifetime ended.
static QUARANTINE: Global<Quarantine<Freed, BLOCKS>> =
    Global::new(Quarantine::new(Freed { block: 0, size: 0, code: 0, thread: ThreadId::MAIN }));

/// Bit of how memory ended: it belonged to a thread, whose number is the rest.
const OF_THREAD: u64 = 1 << 32;

/// Returns the freed block, if this address is the start of a block in quarantine.
unsafe fn freed(block: usize) -> Option<*const Freed> {
    if (*QUARANTINE.ptr()).is_empty() {
        return None;
    }
    let how = shadow::ended(block)?;
    let entry = (*QUARANTINE.ptr()).at(how as usize) as *const Freed;
    (how & OF_THREAD == 0 && (*entry).block == block).then_some(entry)
}

/// Returns whether the block is in quarantine; if so, reports a double free.
pub(crate) unsafe fn freed_again(block: usize, code: usize) -> bool {
    let Some(entry) = freed(block) else { return false };
    let first = reports::First {
        thread: (*entry).thread,
        code: (*entry).code,
        kind: Kind::Free,
        size: 0,
        extra: (*entry).size as u64,
    };
    reports::pair(&first, block as u64, 0, &Access { kind: Kind::Free, code, site: core::ptr::null_mut() });
    true
}

/// Takes a block that the program has freed. `access`, if given, is checked as a write to the block.
pub(crate) unsafe fn free(block: usize, size: usize, code: usize, access: Option<&Access>) {
    while (*QUARANTINE.ptr()).is_full_for(size) {
        let_go();
    }
    let place = (*QUARANTINE.ptr()).add(Freed { block, size, code, thread: CURRENT.get() }, size) as u64;
    if size < LARGE {
        return shadow::end(block, size, access, place);
    }
    let (first, last) = ((block + 4095) & !4095, (block + size) & !4095);
    sys::discard(first, last - first);
    if size < HUGE {
        return shadow::end(block, size, access, place);
    }
    // Marking memory that was never touched would take several times its size.
    shadow::end(block, first - block, access, place);
    shadow::end(last, block + size - last, access, place);
    shadow::each_used(first, last - first, |start, len| shadow::end(start, len, access, place));
    protect(block, size, PROT_NONE);
}

/// Returns the oldest block to the allocator.
unsafe fn let_go() {
    let Some(Freed { block, size, .. }) = (*QUARANTINE.ptr()).take_oldest(|freed| freed.size) else { return };
    escapes::let_go();
    shadow::forget(block, size);
    if size >= HUGE {
        protect(block, size, PROT_READ_WRITE);
    }
    __libc_free(block as *mut u8);
}

/// Returns all blocks to the allocator at the end of an iteration of an in-process loop.
pub(crate) unsafe fn empty_quarantine() {
    while !(*QUARANTINE.ptr()).is_empty() {
        let_go();
    }
}

/// Reports an access to ended memory. `last` is the last access of the thread that owned it, if there is one.
#[cold]
pub(crate) unsafe fn used(address: usize, how: u64, last: Slot, me: Slot, access: &Access) {
    let first = if how & OF_THREAD == 0 {
        let Freed { size, code, thread, .. } = *(*QUARANTINE.ptr()).at(how as usize);
        reports::First { thread, code, kind: Kind::Free, size: 0, extra: size as u64 }
    } else {
        let owner = thread(ThreadId((how & !OF_THREAD) as u32));
        let start = if (*owner).number == ThreadId::MAIN { server::main_function() } else { (*owner).start };
        let code = if last == 0 { start + 1 } else { code_of(last) };
        let size = bytes_of(last).count_ones() as u8;
        reports::First { thread: (*owner).number, code, kind: Kind::Exit, size, extra: 0 }
    };
    if first.thread != CURRENT.get() {
        reports::shared(address, (me & SITE) as usize);
    }
    let byte = (address & !3) as u64 + u64::from(bytes_of(me).trailing_zeros());
    reports::pair(&first, byte, bytes_of(me).count_ones() as u8, access);
}

/// Checks the memory of a synchronisation object that is used. If its lifetime has ended, reports that and returns true.
pub(crate) unsafe fn object_used(at: usize, kind: Kind, code: usize) -> bool {
    if !DETECTS.get() {
        return false;
    }
    let Some(how) = shadow::ended(at) else { return false };
    const WORD: Slot = 0xf << shadow::SITE_BITS;
    used(at, how, 0, WORD | SITE, &Access { kind, code, site: core::ptr::null_mut() });
    true
}

/// How much of a stack is always checked, and how large an untouched gap ends the check.
const MOST: usize = 64 << 10;
const GAP: usize = 1 << 10;
/// How much of a stack ends with its thread even if the thread is not known to have used it.
const LEAST: usize = 4 << 10;

/// The frame that called `main`: what is below belongs to `main`.
#[unsafe(link_section = ".data.racehunter")]
static MAIN_TOP: Global<usize> = Global::new(0);

/// Notes that `main` is about to be called by a function whose stack ends here.
pub(crate) fn begin_main(top: usize) {
    MAIN_TOP.set(top & !15);
}

/// Returns the possible range of the stack of `main`, below its caller.
pub(crate) fn stack_of_main() -> core::ops::Range<usize> {
    const LARGEST: usize = 64 << 20;
    MAIN_TOP.get().saturating_sub(LARGEST)..MAIN_TOP.get()
}

/// Ends the lifetime of the stack and the thread-local variables of a thread. The `last` thread of the process continues with
/// what `exit` calls, below its current position, and keeps its thread-local variables until then.
pub(crate) unsafe fn end_thread(t: *mut Thread, last: bool) {
    if !DETECTS.get() || (*t).foreign_stack {
        return;
    }
    let (storage, how) = (server::thread_storage().size + server::thread_storage().align, of_thread(t));
    let tops = if (*t).number == ThreadId::MAIN { [MAIN_TOP.get(), (*t).fs & !3] } else { [(*t).fs & !3, 0] };
    if last {
        let here = &raw const how as usize;
        let top = if (*t).number == ThreadId::MAIN { tops[0] } else { tops[0] - storage };
        if here < top && top - here < MOST {
            shadow::end_used(here..top, here + GAP, GAP, top, ((*t).number, how));
        }
        return;
    }
    let top = tops[0];
    (*t).ended_to = top;
    (*t).ended_from = end_stack(t, top);
    if tops[1] != 0 {
        let variables = tops[1] - storage..tops[1];
        shadow::end_used(variables.clone(), variables.start + GAP, GAP, variables.start, ((*t).number, how));
    }
}

unsafe fn of_thread(t: *const Thread) -> u64 {
    OF_THREAD | u64::from((*t).number)
}

/// Marks what the thread has used of its stack below `top`; returns the lowest address.
unsafe fn end_stack(t: *mut Thread, top: usize) -> usize {
    let bottom = if server::runs_loops() { deepest_again(t, top) } else { deepest(t, top) };
    // Below a large variable there may be nothing for long.
    let lowest = if bottom < top - MOST { bottom + GAP } else { lowest_frame(t, bottom, top) };
    let own = if (*t).number == ThreadId::MAIN {
        LEAST
    } else {
        LEAST + server::thread_storage().size + server::thread_storage().align
    };
    shadow::end_used(bottom..top, lowest, GAP, lowest.min(top - own).max(bottom), ((*t).number, of_thread(t)))
}

/// What is known of the depth of a stack that the executions of an in-process loop use one after the other.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Depth {
    top: usize,
    deepest: usize,
    /// Pages that the kernel had given out when the stack was as deep as this.
    faults: u64,
}

/// As [`deepest`], but asks only if the kernel has given out a page since it was asked last: a stack cannot have become
/// deeper otherwise.
unsafe fn deepest_again(t: *mut Thread, top: usize) -> usize {
    let faults = sys::page_faults();
    let known = (*t).depth;
    if known.top == top && known.faults == faults && !kernel::in_use() {
        return known.deepest;
    }
    let deepest = deepest(t, top);
    (*t).depth = Depth { top, deepest, faults };
    deepest
}

/// How far down a stack was used, by pages: the kernel knows which of them there are. It is looked for below what is marked in
/// any case, and not beyond the stack.
unsafe fn deepest(t: *const Thread, top: usize) -> usize {
    const MINCORE: usize = 27;
    const PAGE: usize = 4096;
    /// For a stack of the usual size.
    const PAGES: usize = 2048;
    let from = (top - MOST) & !(PAGE - 1);
    let mut there = [0_u8; PAGES];
    let mut first_of = |start: usize, count: usize| {
        let known = sys::call(MINCORE, start, count * PAGE, there.as_mut_ptr() as usize, 0) == 0;
        known.then(|| there[..count].iter().position(|&there| there & 1 != 0).map(|first| start + first * PAGE))
    };
    if (*t).number != ThreadId::MAIN {
        // The block of a stack has the thread's own data above `top`, and a guard page at its end.
        let end = (top.saturating_sub((*t).stack_size) + 3 * PAGE) & !(PAGE - 1);
        if end >= from {
            return top - MOST.min((*t).stack_size);
        }
        let start = end.max(from - PAGES * PAGE);
        return first_of(start, (from - start) / PAGE).flatten().unwrap_or(top - MOST);
    }
    // The stack of `main` is contiguous, and as long as it was ever needed.
    let (mut page, mut count) = (from, PAGES);
    while count > 0 {
        match first_of(page - count * PAGE, count) {
            Some(Some(first)) => page = first,
            Some(None) => break,
            None => count /= 4,
        }
    }
    if page == from { top - MOST } else { page }
}

/// Ends the lifetime of `main`'s variables, because `main` has returned while there are other threads. Until [`leave_main`],
/// nothing else may use the memory. Returns where the stack can continue, below it.
pub(crate) unsafe fn end_main() -> usize {
    /// Half of the stack that the system provides.
    const HALF: usize = 4 << 20;
    let (t, top) = (thread(ThreadId::MAIN), MAIN_TOP.get());
    if DETECTS.get() {
        (*t).ended_to = top;
        (*t).ended_from = end_stack(t, top);
        if top - (*t).ended_from > HALF {
            leave_main();
        }
    }
    if (*t).ended_to == 0 { top } else { (*t).ended_from }
}

/// Allows the memory of `main`'s variables to be used for other things.
pub(crate) unsafe fn leave_main() {
    begin_thread(thread(ThreadId::MAIN));
}

/// Returns the lowest frame of an instrumented function that the thread ever had, from the shadow call stack: beyond its end
/// are the calls that have returned.
unsafe fn lowest_frame(t: *mut Thread, from: usize, to: usize) -> usize {
    let mut lowest = to;
    let mut frame = (*t).stack;
    while (from..lowest).contains(&((*frame).slot as usize)) {
        lowest = (*frame).slot as usize;
        frame = frame.add(1);
    }
    lowest
}

/// Begins a new lifetime of the memory of a thread.
pub(crate) unsafe fn begin_thread(t: *mut Thread) {
    if (*t).ended_to != 0 {
        shadow::forget((*t).ended_from, (*t).ended_to - (*t).ended_from);
        (*t).ended_to = 0;
    }
}
