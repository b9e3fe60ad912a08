//! `mmap` and similar functions: newly mapped memory has no access history, and unmapping is the last use.
//!
//! The C library's own calls (for blocks, and for the stacks of threads) do not come here.
//!
//! Mappings are also state that threads share: whether a call succeeds can depend on what another thread has unmapped, so each of
//! them is a point ([`cells::touch_settings`]). The exception is a mapping at a place that the kernel chooses: no other thread
//! knows the place before.

use crate::io::channels;
use crate::memory::{detects, last_access, log_taken};
use crate::shadow::{self, Access};
use crate::sync::{fail, interpose, objects};
use crate::thread::CURRENT;
use crate::world::{cells, copies, files};
use crate::{Global, log, outcome, reach, schedule, server, sys, tsan, values};
use racehunter_abi::control::FLAG_ALLOCATIONS;
use racehunter_abi::{Escape, Kind, Record};
use racehunter_machine::memory::Ranges;

pub(crate) const MREMAP: usize = 25;
pub(crate) const MPROTECT: usize = 10;
/// A larger area ends without a check. Only cells with memory are examined, but the kernel must be asked which these are.
const CHECKED: usize = 1 << 30;
/// A larger area is discarded without a check: the check is an access, which gives memory to all its cells.
const DISCARDED: usize = 1 << 20;

interpose! {
    munmap => unmap, "rdx";
    mremap => remap, "r9";
    mprotect => protect, "rcx";
    madvise => advise, "rcx";
    mlock => lock, "rdx";
    mlock2 => lock_with, "rcx";
    mlockall => lock_all, "rsi";
}

crate::io::interpose_six! {
    mmap => map_at_caller;
    mmap64 => map_at_caller;
}

unsafe extern "C" fn map_at_caller(
    at: usize,
    len: usize,
    protection: usize,
    flags: usize,
    fd: i32,
    offset: usize,
) -> usize {
    map([at, len, protection, flags, fd as usize, offset], crate::io::code_of_six())
}

/// The detector tells addresses apart by their low 44 bits. Each sixteenth of what these can select belongs to the memory that
/// was mapped there first: its high bits plus one, or 0. The executable, the heap, libraries and stacks have theirs from the
/// start.
#[unsafe(link_section = ".data.racehunter")]
static ZONES: Global<[u8; 16]> = Global::new([0, 0, 0, 0, 0, 6, 6, 0, 0, 0, 0, 0, 0, 0, 8, 8]);
const ZONE_BITS: u32 = 40;

/// Returns the zones of a range, with what would own them.
fn zones(at: usize, len: usize) -> impl Iterator<Item = (usize, u8)> {
    (at >> ZONE_BITS..=(at + len.max(1) - 1) >> ZONE_BITS).map(|zone| (zone % 16, (zone / 16) as u8 + 1))
}

/// Notes where the executable is.
pub(crate) unsafe fn init() {
    take_zones(server::executable().0, 1);
}

/// Returns whether the detector can tell a range from all other memory.
unsafe fn is_distinct(at: usize, len: usize) -> bool {
    zones(at, len).all(|(zone, owner)| [0, owner].contains(&(*ZONES.ptr())[zone]))
}

/// Takes possession of the zones of mapped memory. If it cannot be told from other memory, the execution ends: whatever the
/// detector said about it could be wrong.
unsafe fn take_zones(at: usize, len: usize) {
    if schedule::running() && !is_distinct(at, len) {
        outcome::end_unmodelled(
            c"it maps memory at an address that agrees with that of other memory in its low 44 bits",
        );
    }
    zones(at, len).for_each(|(zone, owner)| (*ZONES.ptr())[zone] = owner);
}

/// Maps memory for a call at `code`.
pub(crate) unsafe fn map([hint, len, protection, flags, fd, offset]: [usize; 6], code: usize) -> usize {
    // The kernel need not follow a hint.
    let is_demand = flags & (FIXED | FIXED_IF_FREE) != 0;
    let at = if is_demand || is_distinct(hint, len) { hint } else { 0 };
    if flags & ANONYMOUS == 0 {
        files::looked_up(fd as i32, code);
    }
    if at != 0 {
        // Whether the place is free, or what is there, depends on other threads.
        cells::touch_settings(code);
    }
    let mapped = sys::call6(sys::MMAP, at, len, protection, flags, fd, offset);
    if mapped < 0 {
        return fail(-mapped as i32) as usize;
    }
    if flags & FIXED != 0 {
        // The previous mapping there has ended.
        ends(mapped as usize, len, sys::MMAP, code);
    }
    begins(mapped as usize, len);
    if flags & ANONYMOUS == 0 {
        files::mapped(fd as i32);
    }
    if flags & SHARED != 0 {
        note_shared(mapped as usize, len);
    }
    if flags & SHARED != 0 && flags & ANONYMOUS == 0 {
        is_shared(fd, protection & WRITABLE != 0, code);
    }
    mapped as usize
}

const SHARED: usize = 1;
const FIXED: usize = 0x10;
const FIXED_IF_FREE: usize = 0x10_0000;
const ANONYMOUS: usize = 0x20;
const WRITABLE: usize = 2;

/// Memory that processes share with their children.
static SHARED_MEMORY: Global<Ranges<32>> = Global::new(Ranges::NONE);

unsafe fn note_shared(start: usize, len: usize) {
    (*SHARED_MEMORY.ptr()).add(start, len);
}

/// Returns whether memory may be shared with other processes.
pub(crate) unsafe fn is_shared_memory(address: usize) -> bool {
    (*SHARED_MEMORY.ptr()).contains(address)
}

/// Files mapped as shared memory, each by its identity in the file system.
const FILES: usize = 64;
static MAPPED: Global<[u64; FILES]> = Global::new([0; FILES]);

/// Notes a file that is mapped so that writing to the memory changes it. The detector identifies memory by its address, and
/// executions begin with the contents of files: a file must neither be mapped twice nor outlive the execution.
unsafe fn is_shared(fd: usize, is_writable: bool, code: usize) {
    const FSTAT: usize = 5;
    let mut status = [0_u64; 18];
    if !schedule::running() || sys::call(FSTAT, fd, status.as_mut_ptr() as usize, 0, 0) != 0 {
        return;
    }
    let [device, node, links, ..] = status;
    let key = channels::key(&[device, node]);
    let known = &mut *MAPPED.ptr();
    let place = known.iter().position(|&other| other == key || other == 0);
    let is_twice = place.is_none_or(|place| known[place] == key);
    if let Some(place) = place {
        known[place] = key;
    }
    if is_twice || links > 0 && is_writable {
        log::escape(Escape::Alias, code, 0, 0);
    }
}

/// Starts memory without a history.
unsafe fn begins(at: usize, len: usize) {
    let whole = len.next_multiple_of(PAGE);
    take_zones(at, whole);
    objects::forget_range(at, whole);
    clear(at, whole);
    if schedule::flags() & FLAG_ALLOCATIONS != 0 {
        let (index, thread) = (schedule::now(), CURRENT.get());
        let (object, extra) = (at as u64, len as u64);
        log::put(Record { index, object, extra, thread, kind: Kind::Mapped, ..Record::default() });
    }
}

pub(crate) unsafe extern "C" fn unmap(at: usize, len: usize, code: usize) -> i32 {
    values::settle();
    cells::touch_settings(code);
    let result = sys::call(sys::MUNMAP, at, len, 0, 0);
    if result < 0 {
        return fail(-result as i32);
    }
    ends(at, len, sys::MUNMAP, code);
    0
}

/// Notes the last use of memory by a system call.
unsafe fn ends(at: usize, len: usize, call: usize, code: usize) {
    let whole = len.next_multiple_of(PAGE);
    objects::forget_range(at, whole);
    if detects() && len <= CHECKED && are_pages(at, whole) {
        if let Some(access) = last_access(code) {
            shadow::each_used(at, whole, |at, len| shadow::check(at, len, access));
        }
    } else {
        is_not_seen(call, code);
    }
    clear(at, whole);
}

const PAGE: usize = 4096;

/// Returns whether a range consists of whole pages, as the kernel maps them.
fn are_pages(at: usize, len: usize) -> bool {
    at.is_multiple_of(PAGE) && len.is_multiple_of(PAGE)
}

unsafe fn clear(at: usize, len: usize) {
    if are_pages(at, len) { shadow::clear_pages(at, len) } else { shadow::clear(at, len) }
}

/// Notes that the effects of a system call on memory that others may use are not checked.
unsafe fn is_not_seen(call: usize, code: usize) {
    if schedule::running() && reach::others_are_there() {
        log::escape(Escape::SystemCall, code, call, 0);
    }
}

/// Moved memory is new at its destination, and its old place is used for the last time; memory that stays keeps its history.
pub(crate) unsafe extern "C" fn remap(
    at: usize,
    old_len: usize,
    new_len: usize,
    flags: usize,
    to: usize,
    code: usize,
) -> usize {
    values::settle();
    cells::touch_settings(code);
    let mapped = sys::call6(MREMAP, at, old_len, new_len, flags, to, 0);
    if mapped < 0 {
        return fail(-mapped as i32) as usize;
    }
    if old_len == 0 {
        // The same memory has a second address.
        log::escape(Escape::Alias, code, 0, 0);
    }
    // The kernel maps whole pages.
    let [old_len, new_len] = [old_len, new_len].map(|len| len.next_multiple_of(PAGE));
    let (now, kept) = (mapped as usize, if mapped as usize == at { old_len.min(new_len) } else { 0 });
    if kept == 0 {
        log_taken(at, old_len.min(new_len));
    }
    ends(at + kept, old_len - kept, MREMAP, code);
    begins(now + kept, new_len - kept);
    now
}

/// From here on an access to the memory may end the program, which no detector knows.
pub(crate) unsafe extern "C" fn protect(at: usize, len: usize, protection: usize, code: usize) -> i32 {
    values::settle();
    cells::touch_settings(code);
    // Memory that no thread has used can be protected: a guard page, before anything is placed next to it. The kernel protects
    // whole pages.
    let whole = len.next_multiple_of(PAGE);
    if !detects() || len > CHECKED || !are_pages(at, whole) || !shadow::is_untouched(at, whole) {
        is_not_seen(MPROTECT, code);
    }
    let result = sys::call(MPROTECT, at, len, protection, 0);
    if result < 0 { fail(-result as i32) } else { 0 }
}

/// Some advice discards the contents, which counts as a write.
pub(crate) unsafe extern "C" fn advise(at: usize, len: usize, advice: usize, code: usize) -> i32 {
    const DISCARDS: [usize; 3] = [4, 8, 9];
    const DIFFERS_IN_COPIES: [usize; 2] = [10, 18];
    if DIFFERS_IN_COPIES.contains(&advice) {
        copies::ask();
    }
    values::settle();
    cells::touch_settings(code);
    let result = sys::call(sys::MADVISE, at, len, advice, 0);
    if result < 0 {
        return fail(-result as i32);
    }
    if DISCARDS.contains(&advice) {
        if detects() && len <= DISCARDED {
            // It is a separate access for atomic ones.
            let site = tsan::site_of(code);
            shadow::check(at, len, Access { kind: Kind::AtomicWrite, code, site });
        } else {
            is_not_seen(sys::MADVISE, code);
        }
    }
    0
}

// Locked memory is not locked in copies of the process.

unsafe fn lock_by(number: usize, [a, b, c]: [usize; 3], code: usize) -> i32 {
    copies::ask();
    cells::touch_settings(code);
    let result = sys::call(number, a, b, c, 0);
    if result < 0 { fail(-result as i32) } else { 0 }
}

unsafe extern "C" fn lock(at: usize, len: usize, code: usize) -> i32 {
    const MLOCK: usize = 149;
    lock_by(MLOCK, [at, len, 0], code)
}

unsafe extern "C" fn lock_with(at: usize, len: usize, flags: u32, code: usize) -> i32 {
    const MLOCK2: usize = 325;
    lock_by(MLOCK2, [at, len, flags as usize], code)
}

unsafe extern "C" fn lock_all(flags: i32, code: usize) -> i32 {
    const MLOCKALL: usize = 151;
    // The runtime reserves much memory, and uses little of it.
    const WHEN_USED: usize = 4;
    let is_valid = (1..8).contains(&flags);
    lock_by(MLOCKALL, [if is_valid { flags as usize | WHEN_USED } else { flags as usize }, 0, 0], code)
}
