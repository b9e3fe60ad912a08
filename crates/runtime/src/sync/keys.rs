//! The end of a thread, seen through thread-specific data.
//!
//! The C library runs C++ thread-local destructors, then the destructors of keys, in rounds, and then dismantles the
//! thread. A key of the runtime, whose destructor re-arms itself until the last round, shows when everything of the
//! program has ended; the thread then stops being scheduled, and the C library's own last steps never happen.

use super::{real, threads};
use crate::thread::{Thread, thread};
use crate::{Global, server};

#[unsafe(link_section = ".data.racehunter")]
static KEY: Global<u32> = Global::new(0);
/// `PTHREAD_DESTRUCTOR_ITERATIONS`
const LAST_ROUND: u32 = 4;

#[unsafe(link_section = ".data.racehunter")]
static HAS_KEY: Global<bool> = Global::new(false);

/// Makes the key, before any thread is created: by a constructor, or by `main`.
pub(crate) unsafe fn init() {
    if HAS_KEY.get() {
        return;
    }
    HAS_KEY.set(true);
    let create: extern "C" fn(*mut u32, usize) -> i32 = core::mem::transmute(real::key_create());
    assert!(create(KEY.ptr(), destructor as *const () as usize) == 0);
    arm(thread(0));
}

/// From now on the end of the thread that runs is noticed.
pub(crate) unsafe fn arm(t: *mut Thread) {
    let set: extern "C" fn(u32, *mut Thread) -> i32 = core::mem::transmute(real::set_specific());
    set(KEY.get(), t);
}

/// The end of the thread that runs is its own business.
pub(crate) unsafe fn disarm() {
    arm(core::ptr::null_mut());
}

unsafe extern "C" fn destructor(t: *mut Thread) {
    (*t).destructor_round += 1;
    if (*t).destructor_round < LAST_ROUND {
        arm(t);
    } else {
        threads::end(t);
    }
}

/// Gives the executable's own thread-local variables of a used fiber their initial values again.
pub(crate) unsafe fn reset_storage(fs: usize) {
    let image = server::thread_storage();
    if image.size == 0 {
        return;
    }
    let size = (image.size + image.align - 1) & !(image.align - 1);
    let block = (fs - size) as *mut u8;
    core::ptr::copy_nonoverlapping(image.start as *const u8, block, image.file_size);
    core::ptr::write_bytes(block.add(image.file_size), 0, image.size - image.file_size);
}
