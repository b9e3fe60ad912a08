//! Hooks of atomic operations and fences: what they do to memory, and to what threads know of each other.

use crate::clock::{self, RH_DETECT};
use crate::hooks::log_access;
use crate::schedule::{access_point, idle_point};
use crate::shadow::{self, Access};
use crate::sync::objects;
use crate::thread::current;
use crate::{free, log};
use racehunter_event::Kind;

const fn acquires(order: u32) -> bool {
    matches!(order, 1 | 2 | 4 | 5)
}

const fn releases(order: u32) -> bool {
    matches!(order, 3..=5)
}

/// What an atomic operation does to memory, and to what the threads know of each other. It is counted already.
unsafe fn atomic_access(n: u64, address: usize, size: usize, site: *mut u8, kind: Kind, order: u32, code: usize) {
    log_access(n, address, size, site, kind, order as u8, code);
    // Before the check: what an acquire learns from the value that it reads happened before the access itself.
    if kind != Kind::AtomicWrite {
        take_in(address, order);
    }
    shadow::check(address, size, Access { kind, code, site });
    if kind != Kind::AtomicRead {
        pass_on(address, order, kind == Kind::AtomicUpdate);
    }
}

pub(crate) unsafe extern "C" fn atomic_load(address: usize, site: *mut u8, info: u32, code: usize, frame: usize) {
    if free::is_on() {
        return free::access(address, (info & 0xff) as usize, Kind::AtomicRead, site, code, frame);
    }
    let n = access_point(code, address, (info & 0xff) as usize, Kind::AtomicRead, site);
    atomic_access(n, address, (info & 0xff) as usize, site, Kind::AtomicRead, info >> 8 & 0xff, code);
}

/// What a load learns from the store that it reads.
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
    let n = access_point(code, address, (info & 0xff) as usize, Kind::AtomicWrite, site);
    atomic_access(n, address, (info & 0xff) as usize, site, Kind::AtomicWrite, info >> 8 & 0xff, code);
}

/// What a store, or the write half of an update, passes on to those who read it. An update continues the release
/// sequence of what it replaces.
unsafe fn pass_on(address: usize, order: u32, update: bool) {
    if RH_DETECT.get() == 0 {
        return;
    }
    if releases(order) {
        let object = objects::atomic(address);
        if update {
            clock::release(&mut (*object).clock);
        } else {
            clock::release_anew(&mut (*object).clock);
        }
    } else if !(*current()).release_fence.is_null() {
        clock::release_from_fence(&mut (*objects::atomic(address)).clock, update);
    } else if !update {
        let object = objects::existing_atomic(address);
        if !object.is_null() {
            clock::clear(&mut (*object).clock);
        }
    }
}

pub(crate) unsafe extern "C" fn atomic_update(address: usize, site: *mut u8, info: u32, code: usize, frame: usize) {
    if free::is_on() {
        return free::access(address, (info & 0xff) as usize, Kind::AtomicUpdate, site, code, frame);
    }
    let n = access_point(code, address, (info & 0xff) as usize, Kind::AtomicUpdate, site);
    atomic_access(n, address, (info & 0xff) as usize, site, Kind::AtomicUpdate, info >> 8 & 0xff, code);
}

pub(crate) unsafe extern "C" fn compare_exchange(
    address: usize,
    site: *mut u8,
    info: u32,
    expected: u64,
    code: usize,
    frame: usize,
) {
    let size = (info & 0xff) as usize;
    if free::is_on() {
        return free::access(address, size, Kind::AtomicUpdate, site, code, frame);
    }
    // Decide first: what the memory holds when the operation happens is what counts.
    let n = access_point(code, address, size, Kind::AtomicUpdate, site);
    let found = match size {
        1 => u64::from(*(address as *const u8)),
        2 => u64::from(*(address as *const u16)),
        4 => u64::from(*(address as *const u32)),
        _ => *(address as *const u64),
    };
    let bits = if size >= 8 { u64::MAX } else { (1 << (size * 8)) - 1 };
    let succeeds = found == expected & bits;
    let kind = if succeeds { Kind::AtomicUpdate } else { Kind::AtomicRead };
    let order = if succeeds { info >> 8 & 0xff } else { info >> 16 & 0xff };
    atomic_access(n, address, size, site, kind, order, code);
}

pub(crate) unsafe extern "C" fn fence(_site: *mut u8, order: u32, code: usize) {
    if free::is_on() {
        return;
    }
    let n = idle_point(code);
    log::event(Kind::Fence, n, 0, 0, order as u8);
    clock::fence(acquires(order), releases(order));
}
