//! Numbers that the program gives its threads (`racehunter.h`).
//!
//! By default a thread is identified by its place in the family tree, which no schedule changes as long as every thread
//! creates its children in the same order. A program that hands work to any free thread of a pool can number its
//! threads instead.

#![deny(unsafe_op_in_unsafe_fn)]

use crate::thread::{CURRENT, current};
use crate::{log, schedule};
use racehunter_abi::{Kind, Record, path_of_id};

/// Identifies the running thread by this number, in any execution.
#[unsafe(no_mangle)]
unsafe extern "C" fn racehunter_thread_id(id: u64) {
    if !schedule::running() {
        return;
    }
    let path = path_of_id(id);
    let (index, thread) = (schedule::now(), CURRENT.get());
    // SAFETY: the running thread has an entry, and only this thread enters the runtime.
    unsafe {
        (*current()).path = path;
        log::put(Record { index, object: path, thread, kind: Kind::Numbered, ..Record::default() });
    }
}
