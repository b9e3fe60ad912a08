//! Locks of streams: `flockfile` and its relatives.
//!
//! Every stream has a recursive lock, which the C library's functions take for themselves while they run. Nothing can
//! happen in between, so only what the program locks needs a model. The C library's own lock is never held here: another
//! thread that wants it would stop them all. Instead, while a stream is locked by a thread, the functions for it make
//! others wait first.

use super::objects::{self, Lock, Object};
use super::{interpose, real};
use crate::schedule::{acquire_point, point, refresh};
use crate::thread::{CURRENT, current, hold, unhold};
use crate::{Global, clock, log};
use core::ffi::CStr;
use racehunter_event::{Kind, Wait};

interpose! {
    flockfile => lock, "rsi";
    ftrylockfile => try_lock, "rsi";
    funlockfile => unlock, "rsi";
}

/// Streams that are locked. The functions below ask nothing else as long as it is 0.
#[unsafe(link_section = ".data.racehunter")]
static LOCKED: Global<u32> = Global::new(0);

unsafe fn object(at: usize) -> *mut Object {
    objects::get(Wait::Mutex, at)
}

unsafe fn take(at: usize) {
    const RECURSIVE: u32 = 1;
    let o = object(at);
    if (*o).owner == CURRENT.get() + 1 {
        (*o).count += 1;
        return;
    }
    (*o).owner = CURRENT.get() + 1;
    (*o).count = 1;
    (*o).value = RECURSIVE;
    (*o).lock = Lock::File;
    LOCKED.set(LOCKED.get() + 1);
    hold(current(), at);
    clock::acquire(&(*o).clock);
    refresh(Wait::Mutex, at);
}

unsafe extern "C" fn lock(at: usize, code: usize) {
    let n = acquire_point(code, Wait::Mutex, at, None);
    take(at);
    log::event(Kind::Lock, n, at, 0, 1);
}

unsafe extern "C" fn try_lock(at: usize, code: usize) -> i32 {
    let n = point(code);
    let free = super::mutex::available(at, current());
    if free {
        take(at);
    }
    log::event(Kind::TryLock, n, at, 0, u8::from(free));
    i32::from(!free)
}

unsafe extern "C" fn unlock(at: usize, code: usize) {
    let n = point(code);
    let o = object(at);
    log::event(Kind::Unlock, n, at, 0, 0);
    if (*o).owner != CURRENT.get() + 1 {
        return;
    }
    (*o).count -= 1;
    if (*o).count == 0 {
        (*o).owner = 0;
        LOCKED.set(LOCKED.get() - 1);
        unhold(current(), at);
        clock::release(&mut (*o).clock);
        refresh(Wait::Mutex, at);
    }
}

/// Forgets the locks of the last iteration of an in-process loop.
pub(crate) fn reset() {
    LOCKED.set(0);
}

/// A function of the C library is about to use the stream: waits until no other thread has it locked.
unsafe extern "C" fn enter(at: usize, code: usize) {
    if !super::mutex::available(at, current()) && (*object(at)).owner != CURRENT.get() + 1 {
        let n = acquire_point(code, Wait::Mutex, at, None);
        clock::acquire(&(*object(at)).clock);
        log::event(Kind::TryLock, n, at, 0, 0);
    }
}

/// The C library's function of this name.
unsafe extern "C" fn find(name: *const core::ffi::c_char) -> usize {
    real::next(CStr::from_ptr(name))
}

// Each stands before the C library's function and has all registers as that one should find them: arguments may be in any,
// and their number in al.
core::arch::global_asm!(
    ".macro rh_stream name, argument, stream",
    ".globl \\name",
    ".type \\name,@function",
    "\\name:",
    "cmp dword ptr [rip + {locked}], 0",
    "jne 3f",
    "2: cmp qword ptr [rip + rh_stream_\\name], 0",
    "je 4f",
    "jmp [rip + rh_stream_\\name]",
    "3: call rh_stream_save",
    "mov rsi, [rsp + 200]",
    ".ifb \\stream",
    "mov rdi, [rsp + \\argument * 8]",
    ".else",
    "mov rdi, [rip + \\stream@GOTPCREL]",
    "mov rdi, [rdi]",
    ".endif",
    "call {enter}",
    "call rh_stream_restore",
    "jmp 2b",
    "4: call rh_stream_save",
    "lea rdi, [rip + rh_stream_name_\\name]",
    "call {find}",
    "mov [rip + rh_stream_\\name], rax",
    "call rh_stream_restore",
    "jmp 2b",
    ".size \\name, . - \\name",
    ".pushsection .rodata.rh_streams, \"a\"",
    "rh_stream_name_\\name: .asciz \"\\name\"",
    ".popsection",
    ".local rh_stream_\\name",
    ".comm rh_stream_\\name, 8, 8",
    ".endm",
    // Puts 192 bytes of registers on the stack of the caller, which keeps it aligned: with the caller's own return
    // address that makes 200.
    "rh_stream_save:",
    "pop r11",
    "sub rsp, 200",
    "mov [rsp], rdi",
    "mov [rsp + 8], rsi",
    "mov [rsp + 16], rdx",
    "mov [rsp + 24], rcx",
    "mov [rsp + 32], r8",
    "mov [rsp + 40], r9",
    "mov [rsp + 48], rax",
    "movups [rsp + 64], xmm0",
    "movups [rsp + 80], xmm1",
    "movups [rsp + 96], xmm2",
    "movups [rsp + 112], xmm3",
    "movups [rsp + 128], xmm4",
    "movups [rsp + 144], xmm5",
    "movups [rsp + 160], xmm6",
    "movups [rsp + 176], xmm7",
    "jmp r11",
    "rh_stream_restore:",
    "pop r11",
    "mov rdi, [rsp]",
    "mov rsi, [rsp + 8]",
    "mov rdx, [rsp + 16]",
    "mov rcx, [rsp + 24]",
    "mov r8, [rsp + 32]",
    "mov r9, [rsp + 40]",
    "mov rax, [rsp + 48]",
    "movups xmm0, [rsp + 64]",
    "movups xmm1, [rsp + 80]",
    "movups xmm2, [rsp + 96]",
    "movups xmm3, [rsp + 112]",
    "movups xmm4, [rsp + 128]",
    "movups xmm5, [rsp + 144]",
    "movups xmm6, [rsp + 160]",
    "movups xmm7, [rsp + 176]",
    "add rsp, 200",
    "jmp r11",
    // The stream is the first argument,
    "rh_stream fprintf, 0",
    "rh_stream vfprintf, 0",
    "rh_stream __fprintf_chk, 0",
    "rh_stream __vfprintf_chk, 0",
    "rh_stream fgetc, 0",
    "rh_stream getc, 0",
    "rh_stream fscanf, 0",
    "rh_stream __isoc99_fscanf, 0",
    // the second,
    "rh_stream fputs, 1",
    "rh_stream fputc, 1",
    "rh_stream putc, 1",
    "rh_stream ungetc, 1",
    // the third,
    "rh_stream fgets, 2",
    "rh_stream getline, 2",
    // the fourth,
    "rh_stream fwrite, 3",
    "rh_stream fread, 3",
    "rh_stream getdelim, 3",
    // or one that need not be named.
    "rh_stream printf, 0, stdout",
    "rh_stream vprintf, 0, stdout",
    "rh_stream __printf_chk, 0, stdout",
    "rh_stream __vprintf_chk, 0, stdout",
    "rh_stream puts, 0, stdout",
    "rh_stream putchar, 0, stdout",
    "rh_stream perror, 0, stderr",
    "rh_stream getchar, 0, stdin",
    "rh_stream scanf, 0, stdin",
    "rh_stream __isoc99_scanf, 0, stdin",
    ".purgem rh_stream",
    locked = sym LOCKED,
    enter = sym enter,
    find = sym find,
);
