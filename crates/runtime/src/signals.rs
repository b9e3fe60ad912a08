//! Signals and cancellation: what reaches a thread from outside its own code.

use crate::schedule::BY_CANCEL;
use crate::thread::{Thread, current};

/// Whether a signal waits for the thread that it does not block.
pub(crate) unsafe fn deliverable(t: *const Thread) -> bool {
    (*t).signals & !(*t).signal_mask != 0
}

/// Whether the current wait of the thread ends because it was cancelled.
pub(crate) unsafe fn cancelled(t: *const Thread) -> bool {
    (*t).ends_by & BY_CANCEL != 0 && (*t).cancel_requested && !(*t).cancel_disabled
}

/// Runs the handlers of the signals that wait for the running thread.
pub(crate) unsafe fn deliver() {
    if deliverable(current()) {
        (*current()).signals &= (*current()).signal_mask;
    }
}
