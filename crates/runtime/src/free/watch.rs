//! Waits for a partner in real time.
//!
//! An uninstrumented partner does not call the runtime. But its write is visible: the value differs after the wait (J.
//! Erickson, M. Musuvathi, S. Burckhardt, K. Olynyk, "Effective Data-Race Detection for the Kernel", 2010). Code that
//! writes memory which a thread is about to access plainly, without synchronising, races with it.

use super::{annotations, calls, put, threads};
use crate::{Global, log, server, sys};
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use racehunter_abi::control::Hold;
use racehunter_abi::{CodeAddress, Kind, Record, ThreadId};

/// An access that is about to happen.
#[derive(Clone, Copy)]
pub(super) struct Access {
    pub thread: ThreadId,
    pub code: usize,
    /// The frame pointer of the function that makes it.
    pub frame: usize,
    pub address: usize,
    pub size: usize,
    pub kind: Kind,
    pub site: u32,
}

/// The plan, written before there is a second thread.
struct Plan {
    holds: [Hold; 2],
    /// Nanoseconds for which a thread waits.
    patience: u64,
}

static PLAN: Global<Plan> = Global::new(Plan { holds: [Hold::NONE; 2], patience: 0 });
/// Whether the pair of the plan has met.
static MET_ONCE: AtomicBool = AtomicBool::new(false);

/// The state of the single watchpoint; a futex.
static STATE: AtomicU32 = AtomicU32::new(FREE);
/// No thread waits.
const FREE: u32 = 0;
/// A thread is about to wait; the watched access changes.
const CHANGING: u32 = 1;
/// A thread waits.
const SET: u32 = 2;
/// A partner has come.
const MET: u32 = 3;

/// The watched access, and its call stack. Only the thread that changed [`STATE`] to [`CHANGING`] may change it.
static WATCHED: Global<(Access, u32)> = Global::new((
    Access { thread: ThreadId::MAIN, code: 0, frame: 0, address: 0, size: 0, kind: Kind::None, site: 0 },
    0,
));
/// A copy of its address, for a quick check.
static ADDRESS: AtomicUsize = AtomicUsize::new(0);
static SIZE: AtomicUsize = AtomicUsize::new(0);

pub(super) unsafe fn begin() {
    let slot = server::slot();
    *PLAN.ptr() = Plan { holds: (*slot).holds, patience: (*slot).patience };
}

/// Handles an access that the running thread is about to make.
pub(super) unsafe fn before(own: &threads::Thread, access: &Access) {
    if STATE.load(Ordering::Acquire) == SET
        && overlap(access, ADDRESS.load(Ordering::Relaxed), SIZE.load(Ordering::Relaxed))
    {
        meet(own, access);
    }
    if described(own, access) || (*own.sampler.ptr()).draws() {
        hold(own, access);
    }
}

fn overlap(access: &Access, address: usize, size: usize) -> bool {
    access.address < address + size && address < access.address + access.size
}

fn conflict(a: &Access, b: &Access) -> bool {
    a.thread != b.thread
        && (a.kind.is_write() || b.kind.is_write())
        && !(a.kind.is_atomic() && b.kind.is_atomic())
        && overlap(a, b.address, b.size)
}

/// Returns the record of one of two racing accesses.
fn side(access: &Access, stack: u32, address: usize, kind: Kind) -> Record {
    Record {
        code: if access.code == 0 { CodeAddress::UNKNOWN } else { log::relative(access.code) },
        object: address as u64,
        thread: access.thread,
        stack,
        site: access.site,
        kind,
        size: access.size.min(255) as u8,
        detail: access.kind as u8,
        ..Record::default()
    }
}

/// Checks whether another thread waits for this access. If so, both are about to happen at this moment.
unsafe fn meet(own: &threads::Thread, access: &Access) {
    if STATE.compare_exchange(SET, CHANGING, Ordering::Acquire, Ordering::Relaxed).is_err() {
        return;
    }
    let (watched, stack) = *WATCHED.ptr();
    if !conflict(&watched, access) {
        STATE.store(SET, Ordering::Release);
        return;
    }
    let common = watched.address.max(access.address);
    let here = calls::stack(own, access.code, access.frame);
    put(&[side(&watched, stack, common, Kind::RaceFirst), side(access, here, common, Kind::RaceSecond)]);
    MET_ONCE.store(true, Ordering::Relaxed);
    STATE.store(MET, Ordering::Release);
    sys::futex_wake(STATE.as_ptr());
}

/// Waits for a partner at this access, unless another thread already waits somewhere.
unsafe fn hold(own: &threads::Thread, access: &Access) {
    if STATE.compare_exchange(FREE, CHANGING, Ordering::Acquire, Ordering::Relaxed).is_err() {
        return;
    }
    let stack = calls::stack(own, access.code, access.frame);
    *WATCHED.ptr() = (*access, stack);
    ADDRESS.store(access.address, Ordering::Relaxed);
    SIZE.store(access.size, Ordering::Relaxed);
    STATE.store(SET, Ordering::Release);
    let value = sys::peek(access.address, access.size);
    let until = sys::monotonic() + (*PLAN.ptr()).patience;
    let met = loop {
        let left = until.saturating_sub(sys::monotonic());
        match STATE.load(Ordering::Acquire) {
            MET => break true,
            SET if left == 0 => {
                if STATE.compare_exchange(SET, CHANGING, Ordering::Acquire, Ordering::Relaxed).is_ok() {
                    break false;
                }
            }
            SET => sys::futex_wait_for(STATE.as_ptr(), SET, left),
            // Another thread is reading it.
            _ => core::hint::spin_loop(),
        }
    };
    if !met && has_changed(access, value) {
        let stranger = Access { thread: access.thread, code: 0, kind: Kind::Write, site: 0, ..*access };
        let first = side(access, stack, access.address, Kind::RaceFirst);
        put(&[first, side(&stranger, 0, access.address, Kind::RaceSecond)]);
    }
    STATE.store(FREE, Ordering::Release);
}

/// Returns whether uninstrumented code has changed what a plain access is about to use. Always false if some accesses
/// are excluded from checking: those do not call the runtime either.
unsafe fn has_changed(access: &Access, value: Option<u64>) -> bool {
    let changed = || value.zip(sys::peek(access.address, access.size)).is_some_and(|(then, now)| then != now);
    !access.kind.is_atomic() && !annotations::hide_accesses() && changed()
}

/// Returns whether the plan describes this access.
unsafe fn described(own: &threads::Thread, access: &Access) -> bool {
    let plan = PLAN.ptr();
    if MET_ONCE.load(Ordering::Relaxed) {
        return false;
    }
    let code = log::relative(access.code);
    let mut found = false;
    // Each thread counts only its own accesses.
    for (hold, seen) in (*plan).holds.iter().zip(&own.described) {
        if hold.code == code.0
            && (hold.path == 0 || hold.path == own.path.load(Ordering::Relaxed))
            && calls::called_from(own, access.frame, hold)
        {
            found |= seen.fetch_add(1, Ordering::Relaxed) + 1 == hold.nth;
        }
    }
    found
}
