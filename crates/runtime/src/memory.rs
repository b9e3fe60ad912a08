//! The allocator's functions: memory that begins a new life has no past, and memory that ends one is written.

use crate::clock::RH_DETECT;
use crate::shadow::{self, Access};
use crate::sync::{ENOMEM, interpose, objects};
use crate::thread::{CURRENT, current};
use crate::{log, schedule, server};
use racehunter_event::{Kind, Record};

unsafe extern "C" {
    fn __libc_malloc(size: usize) -> *mut u8;
    fn __libc_calloc(count: usize, size: usize) -> *mut u8;
    fn __libc_realloc(block: *mut u8, size: usize) -> *mut u8;
    fn __libc_memalign(align: usize, size: usize) -> *mut u8;
    fn __libc_free(block: *mut u8);
    fn malloc_usable_size(block: *const u8) -> usize;
}

interpose! {
    malloc => allocate, "rsi";
    calloc => allocate_zeroed, "rdx";
    realloc => reallocate, "rdx";
    memalign => allocate_aligned, "rdx";
    aligned_alloc => allocate_aligned, "rdx";
    posix_memalign => allocate_posix, "rcx";
    free => release, "rsi";
}

// C++'s `delete`, for the place that it is called from. Weak: the program may have its own.
core::arch::global_asm!(
    ".macro rh_delete name",
    ".weak \\name",
    ".type \\name,@function",
    "\\name:",
    "mov rsi, [rsp]",
    "jmp {release}",
    ".endm",
    "rh_delete _ZdlPv",
    "rh_delete _ZdaPv",
    "rh_delete _ZdlPvm",
    "rh_delete _ZdaPvm",
    ".purgem rh_delete",
    release = sym release,
);

unsafe fn begins(block: *mut u8, size: usize, code: usize) -> *mut u8 {
    if !block.is_null() {
        if RH_DETECT.get() != 0 {
            // All of it, as in `ends`: behind the size that the program asks for, the end of an earlier block is noted.
            shadow::clear(block as usize, malloc_usable_size(block));
        }
        if schedule::running() && server::watches(block as usize, size) {
            let t = current();
            (*t).code = code;
            log::put(Record {
                index: schedule::now(),
                code: log::relative(code),
                object: block as u64,
                extra: size as u64,
                thread: CURRENT.get(),
                stack: log::stack_of(t),
                kind: Kind::Allocated,
                ..Record::default()
            });
        }
    }
    block
}

unsafe fn ends(block: *mut u8, code: usize) {
    let size = malloc_usable_size(block);
    objects::forget_range(block as usize, size);
    // A library that frees on its own account (the count of an exception, say) orders that in ways that are not seen.
    let (start, end) = server::executable();
    if RH_DETECT.get() != 0 && schedule::running() && (start..end).contains(&code) {
        // Beyond the size that the program asked for nothing was accessed, so checking it does no harm.
        shadow::check(block as usize, size, Access { kind: Kind::Free, code, site: core::ptr::null_mut() });
    }
}

unsafe extern "C" fn allocate(size: usize, code: usize) -> *mut u8 {
    begins(__libc_malloc(size), size, code)
}

unsafe extern "C" fn allocate_zeroed(count: usize, size: usize, code: usize) -> *mut u8 {
    begins(__libc_calloc(count, size), count.wrapping_mul(size), code)
}

unsafe extern "C" fn reallocate(block: *mut u8, size: usize, code: usize) -> *mut u8 {
    if block.is_null() {
        return allocate(size, code);
    }
    ends(block, code);
    begins(__libc_realloc(block, size), size, code)
}

unsafe extern "C" fn allocate_aligned(align: usize, size: usize, code: usize) -> *mut u8 {
    begins(__libc_memalign(align, size), size, code)
}

unsafe extern "C" fn allocate_posix(out: *mut *mut u8, align: usize, size: usize, code: usize) -> i32 {
    let block = begins(__libc_memalign(align, size), size, code);
    if block.is_null() {
        return ENOMEM;
    }
    *out = block;
    0
}

unsafe extern "C" fn release(block: *mut u8, code: usize) {
    if !block.is_null() {
        ends(block, code);
        __libc_free(block);
    }
}
