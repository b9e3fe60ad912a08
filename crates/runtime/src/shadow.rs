//! The happens-before detector (FastTrack), on shadow memory.
//!
//! Every 4 bytes of the program's memory have a [`Cell`] of 16 bytes: the last write and the last read. Each is one word
//! ([`Slot`]) that has, from the top: the thread's clock (24 bits), its number (12), whether the access was atomic (1), which
//! of the 4 bytes it touched (4), and the site (23), from which the code address follows ([`code_of`]).
//!
//! Two slots are not always enough. If single bytes are accessed separately, the cell gets two slots for each byte
//! ([`bytes`]). For concurrent readers, or atomics mixed with plain accesses, it gets a list that holds every access that no
//! later one covers ([`Entry`]). Nothing is ever lost. In both cases the read slot says where to find it, and has a clock that
//! no thread has. The read slot of memory after its lifetime has such a clock too ([`ENDED`]). No fast path applies to any of
//! these.

mod bytes;
mod ended;

pub(crate) use ended::{end, end_used, ended};

use crate::clock::{DETECTS, RH_DETECT, RH_EPOCH, RH_FAMILY};
use crate::thread::{CURRENT, current};
use crate::{Global, afterlife, atomics, hooks, modules, reports, sites, sys};
use racehunter_abi::{Kind, ThreadId};
use racehunter_machine::ClockValue;

/// Shadow of 4 bytes.
#[repr(C)]
#[derive(Clone, Copy)]
struct Cell {
    write: Slot,
    read: Slot,
}

impl Cell {
    /// Returns whether it records nothing.
    #[inline(always)]
    const fn is_empty(&self) -> bool {
        self.write == 0 && self.read == 0
    }
}

/// One access, see the module's documentation. 0 means none.
pub(crate) type Slot = u64;

#[repr(C)]
struct Entry {
    slot: Slot,
    is_write: bool,
    next: *mut Entry,
}

pub(crate) const SITE_BITS: u32 = 23;
pub(crate) const SITE: u64 = (1 << SITE_BITS) - 1;
const MASK_SHIFT: u32 = SITE_BITS;
const MASK: u64 = 0xf << MASK_SHIFT;
pub(crate) const ATOMIC: u64 = 1 << 27;
const THREAD_SHIFT: u32 = 28;
const CLOCK_SHIFT: u32 = 40;
/// The highest clock marks a list; the rest of the slot is the number of its first entry.
const LIST: u64 = !0 << CLOCK_SHIFT;
/// The same with one more bit marks slots per byte; the rest is the number of the [`bytes::Bytes`].
const BYTES: u64 = !0 << (CLOCK_SHIFT - 1);
/// The same with yet one more bit marks memory after its lifetime; the rest says how it ended ([`afterlife`]).
const ENDED: u64 = !0 << (CLOCK_SHIFT - 2);
/// The last clock value of threads. A clock that reaches it no longer advances, which hides races but invents none.
pub(crate) const LAST_CLOCK: u32 = 0xff_fffe;

/// Returns the part of a slot that is the same for everything that a thread does between two releases.
pub(crate) const fn epoch(clock: ClockValue, thread: ThreadId) -> u64 {
    (clock.0 as u64) << CLOCK_SHIFT | (thread.0 as u64) << THREAD_SHIFT
}

/// Added to the scaled low 44 bits of an address.
#[unsafe(no_mangle)]
#[unsafe(link_section = ".data.racehunter")]
pub(crate) static RH_SHADOW: Global<usize> = Global::new(BASE);
const BASE: usize = 0x1000_0000_0000;
const SIZE: usize = 0x4000_0000_0000;
/// Bits of an address that select its shadow. The executable, the heap, libraries and stacks differ in them.
const ADDRESS_BITS: u32 = 44;

/// The code address of every noted site.
#[unsafe(no_mangle)]
#[unsafe(link_section = ".data.racehunter")]
pub(crate) static RH_CODES: Global<*mut usize> = Global::new(core::ptr::null_mut());

/// Memory for the entries of lists. Cells outlive an iteration of an in-process loop, and so must these.
#[unsafe(link_section = ".data.racehunter")]
static LISTS: Global<*mut Entry> = Global::new(core::ptr::null_mut());
#[unsafe(link_section = ".data.racehunter")]
static LISTS_USED: Global<usize> = Global::new(0);
const LISTS_SIZE: usize = 1 << 36;

/// Free entries.
#[unsafe(link_section = ".data.racehunter")]
static SPARE: Global<*mut Entry> = Global::new(core::ptr::null_mut());

/// An access to check.
#[derive(Clone, Copy)]
pub(crate) struct Access {
    pub kind: Kind,
    pub code: usize,
    /// The site's flag byte, or null.
    pub site: *mut u8,
}

/// Returns the first address of the cells and their size in bytes.
pub(crate) const fn extent() -> (usize, usize) {
    (BASE, SIZE)
}

pub(crate) unsafe fn init() -> bool {
    RH_CODES.set(sys::reserve(0, size_of::<usize>() << SITE_BITS) as *mut usize);
    LISTS.set(sys::reserve(0, LISTS_SIZE) as *mut Entry);
    bytes::init() && !LISTS.get().is_null() && !RH_CODES.get().is_null() && !sys::reserve(BASE, SIZE).is_null()
}

#[inline(always)]
fn cell_of(address: usize) -> *mut Cell {
    (BASE + ((address << (64 - ADDRESS_BITS)) >> (64 - ADDRESS_BITS - 2) & !15)) as *mut Cell
}

#[inline(always)]
pub(crate) const fn thread_of(slot: Slot) -> ThreadId {
    ThreadId((slot >> THREAD_SHIFT) as u32 & 0xfff)
}

#[inline(always)]
const fn clock_of(slot: Slot) -> u32 {
    (slot >> CLOCK_SHIFT) as u32
}

#[inline(always)]
pub(crate) const fn bytes_of(slot: Slot) -> u64 {
    (slot & MASK) >> MASK_SHIFT
}

/// Returns whether the access happened before everything that the running thread does now.
#[inline(always)]
unsafe fn is_ordered(slot: Slot) -> bool {
    clock_of(slot) <= *(*current()).clock.add(thread_of(slot).index())
}

/// Places without a site, such as calls of `free`, get one of the last numbers, by a hash of their address.
const PSEUDO_SITES: usize = 1 << 12;
const FIRST_PSEUDO_SITE: usize = (1 << SITE_BITS) - PSEUDO_SITES;

#[inline(always)]
unsafe fn site_index(access: &Access) -> usize {
    // Sites of the executable are contiguous, far from everything else that could be a site.
    let offset = (access.site as usize).wrapping_sub(modules::RH_SITES.get() as usize);
    if offset < FIRST_PSEUDO_SITE {
        if *RH_CODES.get().add(offset) != access.code || *access.site & (sites::NOTED | hooks::SITE_LOOK) == 0 {
            sites::note(offset, access.code);
        }
        return offset;
    }
    unusual_site_index(access)
}

#[cold]
unsafe fn unusual_site_index(access: &Access) -> usize {
    let number = modules::site_number(access.site) as usize;
    let index = if number != 0 && number <= FIRST_PSEUDO_SITE {
        number - 1
    } else {
        let mut probe = access.code.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 52;
        for _ in 0..16 {
            let known = *RH_CODES.get().add(FIRST_PSEUDO_SITE + probe);
            if known == 0 || known == access.code {
                break;
            }
            probe = (probe + 1) % PSEUDO_SITES;
        }
        FIRST_PSEUDO_SITE + probe
    };
    *RH_CODES.get().add(index) = access.code;
    index
}

pub(crate) unsafe fn code_of(slot: Slot) -> usize {
    *RH_CODES.get().add((slot & SITE) as usize)
}

/// Checks and notes an access of `size` bytes.
pub(crate) unsafe fn check(address: usize, size: usize, access: Access) {
    if RH_DETECT.get() == 0 || size == 0 {
        return;
    }
    let site = site_index(&access) as u64;
    let end = address + size;
    let mut at = address;
    while at < end {
        if at & 3 == 0 && !access.kind.is_atomic() {
            let me = RH_EPOCH.get() | MASK | site;
            at += 4 * note_whole(cell_of(at), (end - at) / 4, me, access.kind.is_write());
            if at == end {
                return;
            }
        }
        let in_cell = (end - at).min(4 - (at & 3));
        let mask = ((1_u64 << in_cell) - 1) << (at & 3) << MASK_SHIFT;
        let me = RH_EPOCH.get() | mask | site;
        if access.kind.is_atomic() || !note_part(cell_of(at), me, access.kind.is_write()) {
            check_cell(at, mask, site, &access);
        }
        at += in_cell;
    }
}

/// The fast path of the hooks, for ranges: notes a plain access to whole cells, as long as they have only this
/// thread's own history. Returns the number of cells.
unsafe fn note_whole(first: *mut Cell, count: usize, me: Slot, is_write: bool) -> usize {
    let family = RH_FAMILY.get();
    let is_past = |slot: Slot| clock_of(slot) <= *family.add(thread_of(slot).index());
    for number in 0..count {
        let cell = first.add(number);
        let (write, read) = ((*cell).write, (*cell).read);
        if is_same(write, me) || (!is_write && is_same(read, me)) {
            continue;
        }
        if (BYTES..ENDED).contains(&read) && bytes::note_all(cell, me, is_write) {
            continue;
        }
        if read >= LIST || !is_past(write) || !is_past(read) {
            return number;
        }
        if is_write {
            *cell = Cell { write: me, read: 0 };
        } else {
            (*cell).read = me;
        }
    }
    count
}

/// The same for a part of a cell. Returns false if the fast path does not apply.
#[inline(always)]
unsafe fn note_part(cell: *mut Cell, me: Slot, is_write: bool) -> bool {
    let (write, read) = ((*cell).write, (*cell).read);
    if is_same(write, me) || (!is_write && is_same(read, me)) {
        return true;
    }
    if (BYTES..ENDED).contains(&read) {
        return bytes::note_some(cell, me, is_write);
    }
    let family = RH_FAMILY.get();
    let is_past = |slot: Slot| clock_of(slot) <= *family.add(thread_of(slot).index());
    let replaced = if is_write { write | read } else { read };
    if read >= LIST || !is_past(write) || !is_past(read) || replaced & MASK & !me != 0 {
        return false;
    }
    if is_write {
        *cell = Cell { write: me, read: 0 };
    } else {
        (*cell).read = me;
    }
    true
}

unsafe fn check_cell(address: usize, mask: u64, site: u64, access: &Access) {
    let cell = cell_of(address);
    let is_write = access.kind.is_write();
    let me = RH_EPOCH.get() | mask | site | if access.kind.is_atomic() { ATOMIC } else { 0 };
    if is_same((*cell).write, me) || (!is_write && is_same((*cell).read, me)) {
        return;
    }
    if (*cell).read >= ENDED {
        afterlife::used(address, (*cell).read & !ENDED, (*cell).write, me, access);
        return;
    }
    if (*cell).read >= BYTES {
        if bytes::check(cell, address, me, is_write, access) {
            return;
        }
        bytes::to_list(cell);
    }
    look(address, (*cell).write, true, me, is_write, access);
    if (*cell).read >= LIST {
        if !check_list(cell, address, me, is_write, access) {
            return;
        }
    } else {
        look(address, (*cell).read, false, me, is_write, access);
    }
    note(cell, me, is_write);
}

/// Returns whether the slot of a byte can be reused for this access without losing anything.
unsafe fn replaceable(me: Slot, old: Slot) -> bool {
    old == 0 || ((me & ATOMIC == 0 || old & ATOMIC != 0) && is_ordered(old) && !of_handler(me, old))
}

/// Returns whether one of the two accesses is made by a signal handler and the other by the code of the same thread: both must
/// be recorded, since their order is not fixed.
#[inline(always)]
fn of_handler(me: Slot, old: Slot) -> bool {
    thread_of(old) == thread_of(me) && (clock_of(old) ^ clock_of(me)) & 1 != 0
}

/// The same bytes in the same epoch.
const fn is_same(a: Slot, b: Slot) -> bool {
    (a ^ b) >> SITE_BITS == 0
}

/// Compares an earlier access with this one.
#[inline(always)]
unsafe fn look(address: usize, slot: Slot, was_write: bool, me: Slot, is_write: bool, access: &Access) {
    if slot & me & MASK != 0 && (is_write || was_write) {
        if thread_of(slot) == CURRENT.get() {
            // A thread and its signal handlers share memory, but do not race.
            if of_handler(me, slot) {
                reports::shared(address, (slot & SITE) as usize);
                reports::shared(address, (me & SITE) as usize);
            }
            return;
        }
        if clock_of(slot) > *(*current()).family.add(thread_of(slot).index()) {
            reports::shared(address, (slot & SITE) as usize);
            reports::shared(address, (me & SITE) as usize);
        }
        if me & slot & ATOMIC == 0 && !is_ordered(slot) {
            reports::race(address, slot, was_write, me, access);
        }
    }
}

/// Compares all accesses of the list with this one, and removes those that it covers. Returns false if the list already has
/// this access.
unsafe fn check_list(cell: *mut Cell, address: usize, me: Slot, is_write: bool, access: &Access) -> bool {
    let mut first = list((*cell).read);
    let mut link = &raw mut first;
    let mut known = false;
    while !(*link).is_null() {
        let entry = *link;
        let Entry { slot, is_write: was_write, next } = *entry;
        if was_write == is_write && is_same(slot, me) {
            // Everything after it was compared when it was inserted.
            known = true;
            break;
        }
        look(address, slot, was_write, me, is_write, access);
        if covers(me, is_write, slot, was_write) {
            *link = next;
            (*entry).next = SPARE.get();
            SPARE.set(entry);
        } else {
            link = &raw mut (*entry).next;
        }
    }
    (*cell).read = if first.is_null() { 0 } else { head(first) };
    !known
}

/// Returns whether a later access by the running thread makes the old one unnecessary: every access that races with the old
/// one also races with the new one.
#[inline(always)]
unsafe fn covers(me: Slot, is_write: bool, old: Slot, was_write: bool) -> bool {
    old == 0 || (old & MASK & !me == 0 && (is_write || !was_write) && replaceable(me, old))
}

/// Stores the access, keeping every earlier one that it does not cover.
unsafe fn note(cell: *mut Cell, me: Slot, is_write: bool) {
    let is_list = (*cell).read >= LIST;
    let apart = |old: Slot| old & MASK & !me != 0 && (me & ATOMIC == 0 || old & ATOMIC != 0) && is_ordered(old);
    if !is_list && (apart((*cell).read) || (is_write && apart((*cell).write))) {
        // The recorded access concerns other bytes.
        bytes::split(cell);
        if !bytes::note(cell, me, is_write) {
            bytes::to_list(cell);
            note(cell, me, is_write);
        }
        return;
    }
    if is_write {
        if !covers(me, true, (*cell).write, true) {
            push(cell, (*cell).write, true);
        } else if !is_list && covers(me, true, (*cell).read, false) {
            (*cell).read = 0;
        }
        (*cell).write = me;
    } else if !is_list && covers(me, false, (*cell).read, false) {
        (*cell).read = me;
    } else {
        push(cell, me, false);
    }
}

unsafe fn list(head: Slot) -> *mut Entry {
    LISTS.get().add((head & !LIST) as usize)
}

unsafe fn head(entry: *mut Entry) -> Slot {
    LIST | entry.offset_from(LISTS.get()) as u64
}

/// Adds an access to the cell's list, which begins with the single read if there was none.
unsafe fn push(cell: *mut Cell, slot: Slot, is_write: bool) {
    let mut next = core::ptr::null_mut();
    if (*cell).read >= LIST {
        next = list((*cell).read);
    } else if (*cell).read != 0 {
        next = new_entry((*cell).read, false, next);
    }
    (*cell).read = head(new_entry(slot, is_write, next));
}

unsafe fn new_entry(slot: Slot, is_write: bool, next: *mut Entry) -> *mut Entry {
    let mut entry = SPARE.get();
    if entry.is_null() {
        entry = LISTS.get().add(LISTS_USED.get());
        LISTS_USED.set(LISTS_USED.get() + 1);
        assert!(LISTS_USED.get() * size_of::<Entry>() < LISTS_SIZE);
    } else {
        SPARE.set((*entry).next);
    }
    *entry = Entry { slot, is_write, next };
    entry
}

/// Returns whether another thread has used some of this memory without being ordered before what the running thread does now.
pub(crate) unsafe fn is_used_beside(address: usize, size: usize) -> bool {
    if !DETECTS.get() {
        return false;
    }
    let is_beside = |slot: Slot| slot != 0 && thread_of(slot) != CURRENT.get() && !is_ordered(slot);
    (address & !3..address + size).step_by(4).any(|at| {
        let Cell { write, read } = *cell_of(at);
        is_beside(write)
            || match read {
                ENDED.. => false,
                BYTES.. => bytes::any(read, is_beside),
                LIST.. => {
                    let mut entry = list(read);
                    while !entry.is_null() && !is_beside((*entry).slot) {
                        entry = (*entry).next;
                    }
                    !entry.is_null()
                }
                _ => is_beside(read),
            }
    })
}

/// Clears the history of the cell, and frees the memory for it.
unsafe fn empty(cell: *mut Cell) {
    let tag = (*cell).read;
    *cell = Cell { write: 0, read: 0 };
    if (BYTES..ENDED).contains(&tag) {
        bytes::give_back(bytes::at(tag));
    } else if (LIST..BYTES).contains(&tag) {
        let first = list(tag);
        let mut last = first;
        while !(*last).next.is_null() {
            last = (*last).next;
        }
        (*last).next = SPARE.get();
        SPARE.set(first);
    }
}

/// Begins a new lifetime of memory: its history does not count.
pub(crate) unsafe fn clear(address: usize, len: usize) {
    if DETECTS.get() && len != 0 {
        forget(address, len);
    }
}

/// Returns whether the cells of this memory, which is whole pages, record no access.
pub(crate) unsafe fn is_untouched(address: usize, len: usize) -> bool {
    let mut is_untouched = true;
    each_used(address, len, |start, len| {
        let (first, count) = (cell_of(start) as *const u64, len / 4 * size_of::<Cell>() / size_of::<u64>());
        is_untouched &= (0..count).all(|word| *first.add(word) == 0);
    });
    is_untouched
}

/// Visits the parts of this memory, which is whole pages, whose cells may record something: others have no memory yet, and
/// would get some if they were read.
pub(crate) unsafe fn each_used(address: usize, len: usize, mut part: impl FnMut(usize, usize)) {
    const MINCORE: usize = 27;
    const PAGE: usize = 4096;
    /// Number of bytes of the program's memory per page of cells.
    const SHARE: usize = PAGE / size_of::<Cell>() * 4;
    const MOST: usize = 4096;
    let mut at = address;
    while at < address + len {
        let pages = (address + len - at).div_ceil(SHARE).min(MOST);
        let mut there = [1_u8; MOST];
        sys::call(MINCORE, cell_of(at) as usize, pages * PAGE, there.as_mut_ptr() as usize, 0);
        for page in (0..pages).filter(|&page| there[page] & 1 != 0) {
            let start = at + page * SHARE;
            part(start, SHARE.min(address + len - start));
        }
        at += pages * SHARE;
    }
}

/// Clears the cells of memory that is whole pages, and frees their pages.
pub(crate) unsafe fn clear_pages(address: usize, len: usize) {
    atomics::forget_last_load();
    if DETECTS.get() && len != 0 {
        sys::discard(cell_of(address) as usize, len / 4 * size_of::<Cell>());
    }
}

/// Clears the cells of this memory.
pub(crate) unsafe fn forget(address: usize, len: usize) {
    atomics::forget_last_load();
    let start = cell_of(address) as usize;
    let end = start + ((address & 3) + len).div_ceil(4) * size_of::<Cell>();
    const LARGE: usize = 64 << 10;
    if end - start < LARGE {
        core::ptr::write_bytes(start as *mut u8, 0, end - start);
        return;
    }
    let (first_page, last_page) = ((start + 4095) & !4095, end & !4095);
    core::ptr::write_bytes(start as *mut u8, 0, first_page - start);
    sys::discard(first_page, last_page - first_page);
    core::ptr::write_bytes(last_page as *mut u8, 0, end - last_page);
}
