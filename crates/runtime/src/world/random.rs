//! Random numbers, the same in every execution.
//!
//! Each thread has its own sequence, so that its numbers do not depend on other threads. With the same numbers a plan
//! can be followed; but a claim about this sequence would say nothing about others, so nothing is proved about a
//! program that draws numbers, see [`crate::reach`].

use crate::io::touch;
use crate::sync::interpose;
use crate::thread::{CURRENT, current};
use crate::{Global, rust, server, sys};
use racehunter_abi::Kind;
use racehunter_abi::control::MAX_THREADS;

interpose! {
    getrandom => fill_some, "rcx";
    getentropy => fill_all, "rdx";
    arc4random => draw, "rdi";
    arc4random_buf => fill_buffer, "rdx";
    arc4random_uniform => draw_below, "rsi";
}

// A program that is linked with a static C++ library has its own.
core::arch::global_asm!(
    ".weak _ZNSt13random_device9_M_getvalEv",
    ".type _ZNSt13random_device9_M_getvalEv,@function",
    "_ZNSt13random_device9_M_getvalEv:",
    "mov rsi, [rsp]",
    "jmp {}",
    ".size _ZNSt13random_device9_M_getvalEv, . - _ZNSt13random_device9_M_getvalEv",
    sym draw_for,
);

/// How many numbers each thread has drawn.
static DRAWN: Global<[u32; MAX_THREADS]> = Global::new([0; MAX_THREADS]);

/// Resets the sequences between iterations of an in-process loop.
pub(crate) unsafe fn reset() {
    (*DRAWN.ptr()).fill(0);
    rust::reset();
}

/// Returns any number.
pub(crate) unsafe fn any() -> u64 {
    const GETRANDOM: usize = 318;
    let mut number = 0_u64;
    sys::call(GETRANDOM, &raw mut number as usize, size_of::<u64>(), 0, 0);
    number
}

/// Returns the next number of the running thread; any number for a program that runs without a controller.
pub(crate) unsafe fn next() -> u64 {
    if !server::has_controller() {
        return any();
    }
    let drawn = &mut (*DRAWN.ptr())[CURRENT.get().index() % MAX_THREADS];
    *drawn += 1;
    let mixed = ((*current()).path ^ u64::from(*drawn)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

unsafe extern "C" fn fill_buffer(buffer: *mut u8, len: usize, code: usize) {
    touch(buffer as usize, len as isize, Kind::WriteRange, code);
    fill(buffer, len);
}

/// Fills memory with numbers of the running thread.
pub(crate) unsafe fn fill(buffer: *mut u8, len: usize) {
    for at in (0..len).step_by(size_of::<u64>()) {
        let bytes = next().to_le_bytes();
        core::ptr::copy_nonoverlapping(bytes.as_ptr(), buffer.add(at), (len - at).min(bytes.len()));
    }
}

unsafe extern "C" fn fill_some(buffer: *mut u8, len: usize, _flags: u32, code: usize) -> isize {
    rust::draws();
    fill_buffer(buffer, len, code);
    len as isize
}

unsafe extern "C" fn fill_all(buffer: *mut u8, len: usize, code: usize) -> i32 {
    const MOST: usize = 256;
    const EIO: i32 = 5;
    if len > MOST {
        return crate::sync::fail(EIO);
    }
    fill_buffer(buffer, len, code);
    0
}

unsafe extern "C" fn draw(_code: usize) -> u32 {
    next() as u32
}

unsafe extern "C" fn draw_for(_device: usize, _code: usize) -> u32 {
    next() as u32
}

unsafe extern "C" fn draw_below(bound: u32, _code: usize) -> u32 {
    if bound == 0 { 0 } else { (next() % u64::from(bound)) as u32 }
}
