//! C11's `<threads.h>`: the C library's own versions call its POSIX functions directly, bypassing the runtime's.
//!
//! The types are those of POSIX underneath, and so are the models. Only results and the few functions without a POSIX
//! twin are translated.

use super::{EAGAIN, EBUSY, ENOMEM, ETIMEDOUT, condition, interpose, interpose_cancellable, mutex, threads};
use crate::time;
use core::arch::global_asm;

interpose! {
    thrd_create => create, "rcx";
    thrd_detach => detach, "rsi";
    mtx_init => mutex_init, "rdx";
    mtx_destroy => mutex_destroy, "rsi";
    mtx_lock => mutex_lock, "rsi";
    mtx_trylock => mutex_try_lock, "rsi";
    mtx_timedlock => mutex_timed_lock, "rdx";
    mtx_unlock => mutex_unlock, "rsi";
    cnd_init => condition_init, "rsi";
    cnd_destroy => condition_destroy, "rsi";
    cnd_signal => condition_signal, "rsi";
    cnd_broadcast => condition_broadcast, "rsi";
}

interpose_cancellable! {
    thrd_join => join, "rdx";
    thrd_sleep => sleep, "rdx";
    thrd_yield => yield_now, "rdi";
    cnd_wait => condition_wait, "rdx";
    cnd_timedwait => condition_timed_wait, "rcx";
}

// `call_once` is `pthread_once`; the end of a thread differs only in the type of its result.
global_asm!(
    ".globl call_once",
    ".type call_once,@function",
    "call_once:",
    "jmp pthread_once",
    ".globl thrd_exit",
    ".type thrd_exit,@function",
    "thrd_exit:",
    "movsxd rdi, edi",
    "jmp pthread_exit",
);

const SUCCESS: i32 = 0;
const BUSY: i32 = 1;
const ERROR: i32 = 2;
const NO_MEMORY: i32 = 3;
const TIMED_OUT: i32 = 4;

const fn result(error: i32) -> i32 {
    match error {
        0 => SUCCESS,
        EBUSY => BUSY,
        ENOMEM | EAGAIN => NO_MEMORY,
        ETIMEDOUT => TIMED_OUT,
        _ => ERROR,
    }
}

// A C11 start function returns an `int` in a register whose upper half is meaningless; that is harmless, since `join`
// takes the lower half only.
unsafe extern "C" fn create(handle: *mut usize, start: usize, argument: usize, code: usize) -> i32 {
    result(threads::create(handle, core::ptr::null(), start, argument, code))
}

unsafe extern "C" fn join(handle: usize, value: *mut i32, code: usize) -> i32 {
    let mut word = 0_usize;
    let error = threads::join(handle, &raw mut word, code);
    if error == 0 && !value.is_null() {
        *value = word as i32;
    }
    result(error)
}

unsafe extern "C" fn detach(handle: usize, code: usize) -> i32 {
    result(threads::detach(handle, code))
}

unsafe extern "C" fn yield_now(code: usize) -> i32 {
    threads::yield_now(code)
}

unsafe extern "C" fn sleep(duration: *const [i64; 2], left: *mut [i64; 2], code: usize) -> i32 {
    const INVALID: i32 = -2;
    if time::is_valid(duration) { time::nano_sleep(duration, left, code) } else { INVALID }
}

unsafe extern "C" fn mutex_init(at: usize, kind: i32, code: usize) -> i32 {
    const RECURSIVE: i32 = 1;
    let error = mutex::init(at, core::ptr::null(), code);
    mutex::set_type(at, kind & RECURSIVE);
    result(error)
}

unsafe extern "C" fn mutex_destroy(at: usize, code: usize) {
    mutex::destroy(at, code);
}

unsafe extern "C" fn mutex_lock(at: usize, code: usize) -> i32 {
    result(mutex::lock(at, code))
}

unsafe extern "C" fn mutex_try_lock(at: usize, code: usize) -> i32 {
    result(mutex::try_lock(at, code))
}

unsafe extern "C" fn mutex_timed_lock(at: usize, until: *const [i64; 2], code: usize) -> i32 {
    result(mutex::timed_lock(at, until, code))
}

unsafe extern "C" fn mutex_unlock(at: usize, code: usize) -> i32 {
    result(mutex::unlock(at, code))
}

unsafe extern "C" fn condition_init(at: usize, code: usize) -> i32 {
    result(condition::init(at, core::ptr::null(), code))
}

unsafe extern "C" fn condition_destroy(at: usize, code: usize) {
    condition::destroy(at, code);
}

unsafe extern "C" fn condition_wait(at: usize, mutex: usize, code: usize) -> i32 {
    result(condition::wait(at, mutex, code))
}

unsafe extern "C" fn condition_timed_wait(at: usize, mutex: usize, until: *const [i64; 2], code: usize) -> i32 {
    result(condition::timed_wait(at, mutex, until, code))
}

unsafe extern "C" fn condition_signal(at: usize, code: usize) -> i32 {
    result(condition::signal(at, code))
}

unsafe extern "C" fn condition_broadcast(at: usize, code: usize) -> i32 {
    result(condition::broadcast(at, code))
}
