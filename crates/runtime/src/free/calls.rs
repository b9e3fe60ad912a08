//! Call stacks of free-running threads, by their frame pointers, because there is only one shadow call stack.
//!
//! Instrumented functions keep frame pointers (`racehunter cc` ensures that), and hooks get the frame pointer of their
//! caller. A stack is followed as long as it leads from one place of the executable to another. Beyond functions of the
//! C library, the meaning of the register is unknown.

use super::threads::Thread;
use crate::{fiber, log, server};
use core::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use racehunter_abi::callers_hash;
use racehunter_abi::control::{Hold, STACK_WORDS};

/// Maximum number of stored frames of a stack.
const MOST: usize = 32;

/// The memory of a thread's stack.
pub(super) struct Memory {
    low: AtomicUsize,
    high: AtomicUsize,
}

/// The stacks that a thread stored last, so that none is stored twice.
pub(super) type Stored = [AtomicU32; STORED];
const STORED: usize = 16;

unsafe extern "C" {
    fn pthread_getattr_np(thread: usize, attributes: *mut u8) -> i32;
    fn pthread_attr_getstack(attributes: *const u8, low: *mut usize, size: *mut usize) -> i32;
    fn pthread_attr_destroy(attributes: *mut u8) -> i32;
}

impl Memory {
    pub const fn new() -> Self {
        Self { low: AtomicUsize::new(0), high: AtomicUsize::new(0) }
    }

    /// Looks up the memory of the running thread's stack.
    pub unsafe fn find(&self) {
        let mut attributes = [0_u64; 16];
        let attributes = attributes.as_mut_ptr().cast::<u8>();
        // Its handle is the address of its control block.
        if pthread_getattr_np(fiber::fs_base(), attributes) != 0 {
            return;
        }
        let (mut low, mut size) = (0, 0);
        if pthread_attr_getstack(attributes, &mut low, &mut size) == 0 {
            self.low.store(low, Ordering::Relaxed);
            self.high.store(low + size, Ordering::Relaxed);
        }
        pthread_attr_destroy(attributes);
    }

    /// Returns whether two words at an address are within the stack.
    fn has(&self, address: usize) -> bool {
        let (low, high) = (self.low.load(Ordering::Relaxed), self.high.load(Ordering::Relaxed));
        address.is_multiple_of(8) && address >= low && address + 16 <= high
    }
}

/// Returns where the running functions of a thread were called, innermost first.
unsafe fn callers(own: &Thread, mut frame: usize) -> impl Iterator<Item = u64> {
    let (start, end) = server::executable();
    core::iter::from_fn(move || {
        // SAFETY: within the thread's own stack.
        let [next, code] = if own.memory.has(frame) { unsafe { *(frame as *const [usize; 2]) } } else { return None };
        // Later calls are at lower addresses.
        frame = if next > frame { next } else { 0 };
        (start..end).contains(&code).then(|| log::relative(code).0)
    })
}

/// Returns whether a function has these innermost callers.
pub(super) unsafe fn called_from(own: &Thread, frame: usize, hold: &Hold) -> bool {
    if hold.depth == 0 {
        return true;
    }
    let mut count = 0;
    let counted = callers(own, frame).take(hold.depth as usize).inspect(|_| count += 1);
    let hash = callers_hash(counted);
    count == hold.depth && hash == hold.callers
}

/// Stores the call stack of the running thread, as [`log::stack_of`] does. Returns 0 if there is no room.
pub(super) unsafe fn stack(own: &Thread, code: usize, frame: usize) -> u32 {
    // Locks are not known here.
    let mut words = [0; 2 + MOST];
    let mut count = 2;
    for (word, caller) in words[2..].iter_mut().zip([log::relative(code).0].into_iter().chain(callers(own, frame))) {
        *word = caller;
        count += 1;
    }
    words[0] = count as u64 - 2;
    let words = &words[..count];
    let hash = words.iter().fold(0, |hash: u64, word| (hash ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let stored = &own.stored[(hash >> 60) as usize % STORED];
    let known = stored.load(Ordering::Relaxed);
    if known != 0 && core::slice::from_raw_parts(server::stack_area().add(known as usize), count) == words {
        return known;
    }
    let used = AtomicU64::from_ptr(&raw mut (*server::header()).stack_used);
    let at = used.fetch_add(count as u64, Ordering::Relaxed) as usize;
    if at + count > STACK_WORDS {
        used.fetch_sub(count as u64, Ordering::Relaxed);
        return 0;
    }
    core::ptr::copy_nonoverlapping(words.as_ptr(), server::stack_area().add(at), count);
    stored.store(at as u32, Ordering::Relaxed);
    at as u32
}
