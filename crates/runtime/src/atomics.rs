//! Hooks of atomic operations and fences: their effects on memory and on happens-before.

use crate::clock::{self, RH_DETECT};
use crate::hooks::log_access;
use crate::modules::is_quiet;
use crate::schedule::{HORIZON, RH_BUDGET, access_point, attention, idle_point, now, spin};
use crate::shadow::{self, Access};
use crate::sync::objects;
use crate::thread::{CURRENT, current};
use crate::{Global, escapes, free, log, rust, server};
use core::arch::global_asm;
use core::mem::offset_of;
use racehunter_abi::{Escape, EventNumber, Kind, UNMODELLED_FUNCTION, UNMODELLED_SEQUENCE};
use racehunter_machine::sync::Releasers;

const fn acquires(order: u32) -> bool {
    matches!(order, 1 | 2 | 4 | 5)
}

const fn releases(order: u32) -> bool {
    matches!(order, 3..=5)
}

/// Applies the effects of an atomic operation, which is already counted, on memory and on happens-before.
unsafe fn atomic_access(
    (n, is_point): (EventNumber, bool),
    address: usize,
    size: usize,
    site: *mut u8,
    kind: Kind,
    order: u32,
    code: usize,
) {
    if is_point || server::observes() || server::watches(address, size) {
        log_access(n, address, size, site, kind, order as u8, code);
    }
    // Before the check: what an acquire learns from the value that it reads happened before the access itself.
    if kind != Kind::AtomicWrite {
        take_in(address, order);
    }
    shadow::check(address, size, Access { kind, code, site });
    if kind != Kind::AtomicRead {
        pass_on(address, order, kind == Kind::AtomicUpdate, code);
    }
}

/// Returns the number of an atomic access that is about to happen, and whether it is a point. In trusted code, a read
/// is a point only if the thread comes from other code: the value may change just before. All others are like accesses
/// that are not points: counted, without a decision.
unsafe fn turn(address: usize, size: usize, site: *mut u8, kind: Kind, code: usize) -> (EventNumber, bool) {
    let is_quiet = is_quiet(site);
    let is_point = !is_quiet || kind != Kind::AtomicRead || !(*current()).in_whole;
    (*current()).in_whole = is_quiet;
    if is_point {
        escapes::touches(address, code);
        return (access_point(code, address, size, kind, site), true);
    }
    rust::meets();
    RH_BUDGET.set(RH_BUDGET.get() - 1);
    if RH_BUDGET.get() == 0 {
        spin::looks(address, size, code);
        return (attention(code), false);
    }
    (now(), false)
}

pub(crate) unsafe extern "C" fn atomic_load(address: usize, site: *mut u8, info: u32, code: usize, frame: usize) {
    if free::is_on() {
        return free::access(address, (info & 0xff) as usize, Kind::AtomicRead, site, code, frame);
    }
    let size = (info & 0xff) as usize;
    let (n, is_point) = turn(address, size, site, Kind::AtomicRead, code);
    atomic_access((n, is_point), address, size, site, Kind::AtomicRead, info >> 8 & 0xff, code);
    if !is_point && !site.is_null() && !server::observes() && !server::watches(address, size) {
        RH_LOADED.set(Loaded { address, site, at: n, epoch: clock::RH_EPOCH.get() });
    }
}

/// The last load, if it was only counted. If the next event is the same load, by the same thread, it changes nothing: the value
/// orders nothing that it did not order before, and the detector knows it. Loops that wait for a lock consist of such loads.
#[repr(C)]
#[derive(Clone, Copy)]
struct Loaded {
    address: usize,
    site: *mut u8,
    /// The number of its last event.
    at: EventNumber,
    /// The epoch of the thread.
    epoch: u64,
}

#[unsafe(link_section = ".data.racehunter")]
static RH_LOADED: Global<Loaded> =
    Global::new(Loaded { address: 0, site: core::ptr::null_mut(), at: EventNumber::START, epoch: 0 });

/// The history of some memory has changed without an event.
#[inline(always)]
pub(crate) fn forget_last_load() {
    RH_LOADED.set(Loaded { site: core::ptr::null_mut(), ..RH_LOADED.get() });
}

// rdi = address, rsi = site. An event that needs attention is always announced.
global_asm!(
    ".globl __rh_atomic_load",
    ".type __rh_atomic_load,@function",
    ".p2align 4",
    "__rh_atomic_load:",
    "cmp rdi, [rip + {loaded} + {address}]",
    "jne 1f",
    "cmp rsi, [rip + {loaded} + {site}]",
    "jne 1f",
    "mov r11, [rip + {horizon}]",
    "sub r11, [rip + {budget}]",
    "cmp r11, [rip + {loaded} + {at}]",
    "jne 1f",
    "mov r11, [rip + {epoch}]",
    "cmp r11, [rip + {loaded} + {of}]",
    "jne 1f",
    "cmp qword ptr [rip + {budget}], 1",
    "jbe 1f",
    "dec qword ptr [rip + {budget}]",
    "inc qword ptr [rip + {loaded} + {at}]",
    "ret",
    "1: jmp rh_atomic_load_anew",
    ".size __rh_atomic_load, . - __rh_atomic_load",
    loaded = sym RH_LOADED,
    horizon = sym HORIZON,
    budget = sym RH_BUDGET,
    epoch = sym clock::RH_EPOCH,
    address = const offset_of!(Loaded, address),
    site = const offset_of!(Loaded, site),
    at = const offset_of!(Loaded, at),
    of = const offset_of!(Loaded, epoch),
);

/// Acquires what the store that a load reads has released.
unsafe fn take_in(address: usize, order: u32) {
    if !clock::DETECTS.get() {
        return;
    }
    let object = objects::existing_atomic(address);
    if object.is_null() {
        return;
    }
    if acquires(order) {
        clock::acquire(&(*object).clock);
    } else {
        clock::acquire_at_fence(&(*object).clock);
    }
}

pub(crate) unsafe extern "C" fn atomic_store(address: usize, site: *mut u8, info: u32, code: usize, frame: usize) {
    if free::is_on() {
        return free::access(address, (info & 0xff) as usize, Kind::AtomicWrite, site, code, frame);
    }
    let turn = turn(address, (info & 0xff) as usize, site, Kind::AtomicWrite, code);
    atomic_access(turn, address, (info & 0xff) as usize, site, Kind::AtomicWrite, info >> 8 & 0xff, code);
}

/// Returns whether a plain store of the running thread continues a sequence: the thread has released to it. What other threads
/// have released to it is no longer passed on then. A sequence has only one clock for all of them, so this is noted, and
/// nothing is claimed.
unsafe fn continues_by_store(releasers: &Releasers, code: usize) -> bool {
    let thread = CURRENT.get();
    let continues = releasers.are_continued_by(thread);
    if continues {
        escapes::own_sequence();
    }
    if continues && releasers.are_others_than(thread) {
        log::escape(Escape::Unmodelled, code, (UNMODELLED_FUNCTION + UNMODELLED_SEQUENCE) as usize, 0);
    }
    continues
}

/// Releases what a store, or the write half of an update, passes on to its readers. An update continues the release
/// sequence of the value that it replaces, and so does a store of a thread that has released to it.
unsafe fn pass_on(address: usize, order: u32, update: bool, code: usize) {
    if RH_DETECT.get() == 0 {
        return;
    }
    let thread = CURRENT.get();
    if releases(order) {
        let object = objects::atomic(address);
        if update {
            clock::release(&mut (*object).clock);
        } else {
            clock::release_anew(&mut (*object).clock);
            (*object).releasers.clear();
        }
        (*object).releasers.add(thread);
    } else if !(*current()).release_fence.is_null() {
        let object = objects::atomic(address);
        let continues = update || continues_by_store(&(*object).releasers, code);
        clock::release_from_fence(&mut (*object).clock, continues);
        if !continues {
            (*object).releasers.clear();
        }
        (*object).releasers.add(thread);
    } else if !update {
        let object = objects::existing_atomic(address);
        if !object.is_null() && !continues_by_store(&(*object).releasers, code) {
            clock::clear(&mut (*object).clock);
            (*object).releasers.clear();
        }
    }
}

pub(crate) unsafe extern "C" fn atomic_update(address: usize, site: *mut u8, info: u32, code: usize, frame: usize) {
    if free::is_on() {
        return free::access(address, (info & 0xff) as usize, Kind::AtomicUpdate, site, code, frame);
    }
    let turn = turn(address, (info & 0xff) as usize, site, Kind::AtomicUpdate, code);
    atomic_access(turn, address, (info & 0xff) as usize, site, Kind::AtomicUpdate, info >> 8 & 0xff, code);
}

/// A compare-exchange of up to eight bytes.
pub(crate) unsafe extern "C" fn compare_exchange(
    address: usize,
    site: *mut u8,
    info: u32,
    expected: u64,
    code: usize,
    frame: usize,
) {
    compare_exchange_of(address, site, info, u128::from(expected), code, frame);
}

/// A compare-exchange of sixteen bytes: the expected value comes in two halves.
pub(crate) unsafe extern "C" fn compare_exchange_wide(
    address: usize,
    site: *mut u8,
    info: u32,
    low: u64,
    high: u64,
    code: usize,
    frame: usize,
) {
    compare_exchange_of(address, site, info, u128::from(high) << 64 | u128::from(low), code, frame);
}

/// A compare-exchange of up to sixteen bytes. All of them are compared.
pub(crate) unsafe fn compare_exchange_of(
    address: usize,
    site: *mut u8,
    info: u32,
    expected: u128,
    code: usize,
    frame: usize,
) {
    let size = (info & 0xff) as usize;
    let bits = if size >= 16 { u128::MAX } else { (1 << (size * 8)) - 1 };
    let is_equal = || {
        let found = match size {
            1 => u128::from(*(address as *const u8)),
            2 => u128::from(*(address as *const u16)),
            4 => u128::from(*(address as *const u32)),
            8 => u128::from(*(address as *const u64)),
            _ => (address as *const u128).read_unaligned(),
        };
        found == expected & bits
    };
    compare_exchange_if(address, site, info, is_equal, code, frame);
}

/// A compare-exchange of any size. Whether it succeeds decides which of its two memory orders applies.
pub(crate) unsafe fn compare_exchange_if(
    address: usize,
    site: *mut u8,
    info: u32,
    succeeds: impl Fn() -> bool,
    code: usize,
    frame: usize,
) {
    /// The mark of the compiler plugin.
    const WEAK: u32 = 1 << 24;
    let size = (info & 0xff) as usize;
    if free::is_on() {
        return free::access(address, size, Kind::AtomicUpdate, site, code, frame);
    }
    if info & WEAK != 0 {
        escapes::weak_exchange();
    }
    // Decide first: the value at the time of the operation counts.
    let turn = turn(address, size, site, Kind::AtomicUpdate, code);
    let (kind, order) =
        if succeeds() { (Kind::AtomicUpdate, info >> 8 & 0xff) } else { (Kind::AtomicRead, info >> 16 & 0xff) };
    atomic_access(turn, address, size, site, kind, order, code);
}

pub(crate) unsafe extern "C" fn fence(_site: *mut u8, order: u32, code: usize) {
    if free::is_on() {
        return;
    }
    let n = idle_point(code);
    log::event(Kind::Fence, n, 0, 0, order as u8);
    clock::fence(acquires(order), releases(order));
}
