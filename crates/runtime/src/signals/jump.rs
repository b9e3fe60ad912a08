//! `setjmp` and `longjmp`: a jump out of a handler restores the mask.
//!
//! The C library saves and restores the kernel's mask, which is meaningless here. The program's own mask goes into an
//! unused part of the buffer for the kernel's mask.

use super::{leave_handlers, masks};
use crate::sync::real;
use crate::thread::current;
use core::arch::global_asm;

/// `struct __jmp_buf_tag`
#[repr(C)]
struct Buffer {
    registers: [usize; 8],
    mask_was_saved: i32,
    kernel_mask: u64,
    mask: u64,
    mark: u64,
}

/// The index of the stack pointer among the registers.
const STACK_POINTER: usize = 6;
const MARK: u64 = u64::from_le_bytes(*b"RhMask.1");

#[unsafe(no_mangle)]
unsafe extern "C" fn rh_set_jump(buffer: *mut Buffer, saves_mask: i32) -> usize {
    if saves_mask != 0 {
        (*buffer).mask = (*current()).signal_mask;
        (*buffer).mark = MARK;
    }
    real::set_jump()
}

#[unsafe(no_mangle)]
unsafe extern "C" fn rh_long_jump(buffer: *const Buffer) -> usize {
    let t = current();
    leave_handlers(t, unmangled((*buffer).registers[STACK_POINTER]));
    if (*buffer).mask_was_saved != 0 && (*buffer).mark == MARK {
        masks::set(t, (*buffer).mask);
    }
    real::long_jump()
}

/// Reverses the C library's pointer encryption: see its `PTR_MANGLE`.
unsafe fn unmangled(pointer: usize) -> usize {
    let guard: usize;
    core::arch::asm!("mov {}, fs:0x30", out(reg) guard, options(nostack, readonly));
    pointer.rotate_right(17) ^ guard
}

// Both are transparent: they jump to the C library's function with everything unchanged.
global_asm!(
    r#"
    .globl setjmp
    .type setjmp,@function
setjmp:
    mov esi, 1
    .globl __sigsetjmp
    .type __sigsetjmp,@function
__sigsetjmp:
    .cfi_startproc
    push rdi
    .cfi_adjust_cfa_offset 8
    push rsi
    .cfi_adjust_cfa_offset 8
    sub rsp, 8
    .cfi_adjust_cfa_offset 8
    call rh_set_jump
    add rsp, 8
    .cfi_adjust_cfa_offset -8
    pop rsi
    .cfi_adjust_cfa_offset -8
    pop rdi
    .cfi_adjust_cfa_offset -8
    jmp rax
    .cfi_endproc
    .size __sigsetjmp, . - __sigsetjmp
    .size setjmp, . - setjmp

    .globl siglongjmp
    .globl longjmp
    .globl _longjmp
    .globl __longjmp_chk
    .type siglongjmp,@function
    .type longjmp,@function
    .type _longjmp,@function
    .type __longjmp_chk,@function
siglongjmp:
longjmp:
_longjmp:
__longjmp_chk:
    .cfi_startproc
    push rdi
    .cfi_adjust_cfa_offset 8
    push rsi
    .cfi_adjust_cfa_offset 8
    sub rsp, 8
    .cfi_adjust_cfa_offset 8
    call rh_long_jump
    add rsp, 8
    .cfi_adjust_cfa_offset -8
    pop rsi
    .cfi_adjust_cfa_offset -8
    pop rdi
    .cfi_adjust_cfa_offset -8
    jmp rax
    .cfi_endproc
    .size siglongjmp, . - siglongjmp
    "#
);
