//! Streamed logs: the controller takes records from a ring while the execution writes them, so that a log of any length needs
//! little memory. The execution waits if the controller is slower.

#![deny(unsafe_op_in_unsafe_fn)]

use crate::{Global, server, sys};
use core::sync::atomic::{AtomicU64, Ordering};
use racehunter_abi::control::{LOG_RECORDS, RING_PIECE};

#[derive(Clone, Copy)]
struct Ring {
    /// Number of records in the ring, 0 if the log is not streamed.
    records: usize,
    /// Number of records in the pieces that are complete.
    complete: u64,
}

#[unsafe(link_section = ".data.racehunter")]
static RING: Global<Ring> = Global::new(Ring { records: 0, complete: 0 });

/// Limit of one wait for the controller. A wake-up that comes too early, or never, changes nothing.
const PATIENCE: u64 = 100_000_000;

/// Starts a log. Returns whether it is streamed.
pub(super) unsafe fn begin() -> bool {
    // SAFETY: the region is mapped.
    let records = unsafe { (*server::header()).ring } as usize;
    let records = records.min(LOG_RECORDS) / RING_PIECE * RING_PIECE;
    RING.set(Ring { records, complete: 0 });
    records != 0
}

/// Returns whether the log is streamed.
#[inline]
pub(super) fn is_on() -> bool {
    RING.get().records != 0
}

/// Returns the number of records so far, if the current piece has this many.
pub(super) fn position(in_piece: usize) -> u64 {
    RING.get().complete + in_piece as u64
}

/// Publishes that there are this many records.
pub(super) unsafe fn publish(count: u64) {
    // SAFETY: the region is mapped, and the controller uses the field in the same way.
    unsafe {
        let produced = AtomicU64::from_ptr(&raw mut (*server::header()).produced);
        produced.store(count, Ordering::Release);
        sys::futex_wake_shared(produced.as_ptr().cast());
    }
}

/// Publishes a complete piece, and waits until there is room for another one. Returns where that begins in the ring.
pub(super) unsafe fn next_piece() -> usize {
    let mut ring = RING.get();
    ring.complete += RING_PIECE as u64;
    let (records, complete) = (ring.records, ring.complete);
    RING.set(ring);
    // SAFETY: as above.
    unsafe {
        publish(complete);
        let consumed = AtomicU64::from_ptr(&raw mut (*server::header()).consumed);
        loop {
            let taken = consumed.load(Ordering::Acquire);
            if complete + RING_PIECE as u64 <= taken.saturating_add(records as u64) {
                break;
            }
            sys::futex_wait_shared(consumed.as_ptr().cast(), taken as u32, PATIENCE);
        }
    }
    (complete % records as u64) as usize
}
