//! Queues, semaphores and memory that processes share by a key or a name.
//!
//! They outlive the process that creates them, and would reach the next execution. An execution that is about to create
//! or open one restarts, with private ones from the [start](super::early).

use super::early;
use crate::io::finish;
use crate::sync::{interpose, real};
use crate::{server, sys};

const SHMGET: usize = 29;
const SEMGET: usize = 64;
const MSGGET: usize = 68;
const UNSHARE: usize = 272;
const NEW_IPC: usize = 0x0800_0000;

interpose! {
    msgget => get_queue, "rdx";
    semget => get_semaphores, "rcx";
    shmget => get_memory, "rcx";
    mq_open => open_queue, "r8";
}

/// Announces that something is about to be created or opened that outlives the process.
unsafe fn announce() {
    if server::has_controller() && !server::shares_files() && early::remember_ipc() {
        server::begin_earlier();
    }
}

/// Starts an execution with private objects. It has the privileges for that.
pub(super) unsafe fn begin_early() {
    sys::call(UNSHARE, NEW_IPC, 0, 0, 0);
}

unsafe extern "C" fn get_queue(key: i32, flags: i32, _code: usize) -> i32 {
    announce();
    finish(sys::call(MSGGET, key as usize, flags as usize, 0, 0)) as i32
}

unsafe extern "C" fn get_semaphores(key: i32, count: i32, flags: i32, _code: usize) -> i32 {
    announce();
    finish(sys::call(SEMGET, key as usize, count as usize, flags as usize, 0)) as i32
}

unsafe extern "C" fn get_memory(key: i32, size: usize, flags: i32, _code: usize) -> i32 {
    announce();
    finish(sys::call(SHMGET, key as usize, size, flags as usize, 0)) as i32
}

unsafe extern "C" fn open_queue(name: usize, flags: i32, mode: u32, attributes: usize, _code: usize) -> i32 {
    announce();
    let open: extern "C" fn(usize, i32, u32, usize) -> i32 = core::mem::transmute(real::next(c"mq_open"));
    open(name, flags, mode, attributes)
}
