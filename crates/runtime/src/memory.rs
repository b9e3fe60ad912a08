//! The allocator's functions: allocated memory has no history, and freeing memory is its last write ([`afterlife`]).

use crate::clock::{self, DETECTS};
use crate::shadow::{self, Access};
use crate::sync::{EINVAL, ENOMEM, interpose, objects};
use crate::thread::{CURRENT, LIVE, current};
use crate::{
    afterlife, annotations, escapes, hooks, log, outcome, plain, schedule, server, signals, sys, track, values,
};
use racehunter_abi::control::{FLAG_ALLOCATIONS, FLAG_SELECTIVE};
use racehunter_abi::{Kind, Record};

unsafe extern "C" {
    fn __libc_malloc(size: usize) -> *mut u8;
    fn __libc_calloc(count: usize, size: usize) -> *mut u8;
    fn __libc_realloc(block: *mut u8, size: usize) -> *mut u8;
    fn __libc_memalign(align: usize, size: usize) -> *mut u8;
    fn __libc_free(block: *mut u8);
    fn malloc_usable_size(block: *const u8) -> usize;
}

const PAGE: usize = 4096;

interpose! {
    malloc => allocate, "rsi";
    __interceptor_malloc => allocate, "rsi";
    calloc => allocate_zeroed, "rdx";
    __interceptor_calloc => allocate_zeroed, "rdx";
    realloc => reallocate, "rdx";
    __interceptor_realloc => reallocate, "rdx";
    memalign => allocate_aligned, "rdx";
    __interceptor_memalign => allocate_aligned, "rdx";
    aligned_alloc => allocate_aligned, "rdx";
    posix_memalign => allocate_posix, "rcx";
    __interceptor_posix_memalign => allocate_posix, "rcx";
    valloc => allocate_pages, "rsi";
    pvalloc => allocate_whole_pages, "rsi";
    free => release, "rsi";
    __interceptor_free => release, "rsi";
    free_sized => release, "rsi";
    free_aligned_sized => release, "rsi";
}

// C++'s `delete`, for the place of the call. Weak: the program may define its own, and the forms that it lacks call those that
// it has. The program may also define its own `free`. `new` is in `new.c`.
core::arch::global_asm!(
    ".macro rh_delete name, to",
    ".weak \\name",
    ".type \\name,@function",
    "\\name:",
    "jmp \\to",
    ".endm",
    ".weak _ZdlPv",
    ".type _ZdlPv,@function",
    "_ZdlPv:",
    "jmp free",
    "rh_delete _Znam, _Znwm",
    "rh_delete _ZdaPv, _ZdlPv",
    "rh_delete _ZdlPvm, _ZdlPv",
    "rh_delete _ZdaPvm, _ZdaPv",
    ".purgem rh_delete",
);

unsafe extern "C" {
    static rh_new_caller: usize;
}

/// Returns where the program requests memory: `operator new` is part of the runtime.
unsafe fn asks_at(code: usize) -> usize {
    if plain::is_own_code(code) { rh_new_caller } else { code }
}

/// Notes the write of an allocated block by the allocating function: the C standard allows it to be visible, so accesses of
/// other threads must be ordered after it. Nothing needs to be recorded while there is one thread.
pub(crate) unsafe fn is_written(block: usize, size: usize, code: usize) {
    const MOST: usize = 64 << 10;
    if detects() && LIVE.get() > 1 && annotations::looks_at(current()) {
        hooks::wrote(block, size.min(MOST), code);
        // The program's own first write is more informative, and replaces it.
        clock::tick();
    }
}

unsafe fn begins(block: *mut u8, size: usize, code: usize) -> *mut u8 {
    let code = asks_at(code);
    if !block.is_null() {
        if DETECTS.get() {
            // All of it, because `free` checks all of it too.
            shadow::clear(block as usize, malloc_usable_size(block));
        }
        if !schedule::running() {
            return block;
        }
        schedule::spin::moves_on();
        signals::reentry::enters_library(code);
        is_written(block as usize, size, code);
        let (wanted, watched) = (schedule::flags() & FLAG_ALLOCATIONS != 0, server::watches(block as usize, size));
        // For a call from a library, such as `operator new`, the place is where the program called the library.
        let code = if in_program(code) || !wanted && !watched { code } else { caller_of(code) };
        let is_tracked = track::begins(block as usize, size, code);
        // If the plan tracks few variables, few blocks matter.
        if watched || wanted && (is_tracked || schedule::flags() & FLAG_SELECTIVE == 0) {
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

/// Logs that the C library reads memory, for recordings: what the thread does next may depend on it.
pub(crate) unsafe fn log_taken(block: usize, size: usize) {
    if schedule::running() && schedule::flags() & FLAG_ALLOCATIONS != 0 {
        let (index, thread) = (schedule::now(), CURRENT.get());
        let (object, extra) = (block as u64, size as u64);
        log::put(Record { index, object, extra, thread, kind: Kind::Taken, ..Record::default() });
    }
}

/// Logs the end of a watched block.
unsafe fn log_free(block: usize, size: usize, code: usize) {
    if schedule::running() && server::watches(block, size) {
        let t = current();
        (*t).code = if in_program(code) { code } else { caller_of(code) };
        log::put(Record {
            index: schedule::now(),
            code: log::relative(code),
            object: block as u64,
            extra: size as u64,
            thread: CURRENT.get(),
            stack: log::stack_of(t),
            kind: Kind::Free,
            ..Record::default()
        });
    }
}

/// Returns where the program called the library that called this runtime and will return to `code`.
unsafe fn caller_of(code: usize) -> usize {
    // The frames of the runtime come first on the stack, and may contain copies of the address.
    const OWN: usize = 512;
    let here = sys::stack_pointer() & !7;
    let frames = (here..here + OWN).step_by(8);
    let returns = frames.map(|at| at as *const usize).rfind(|&at| *at == code);
    returns.map_or(0, |at| outcome::innermost_call(at as usize + 8))
}

/// Returns whether that is code of the executable.
pub(crate) fn in_program(code: usize) -> bool {
    let (start, end) = server::executable();
    (start..end).contains(&code)
}

/// Returns the end of a block as an access. A library that frees on its own behalf (the count of an exception, say) orders
/// that in ways that are not seen, so it does not count; nor does a free that the program asks not to check.
pub(crate) unsafe fn last_access(code: usize) -> Option<Access> {
    let counts = in_program(code) && annotations::looks_at(current());
    counts.then_some(Access { kind: Kind::Free, code, site: core::ptr::null_mut() })
}

/// Returns whether the end of blocks is recorded now.
pub(crate) fn detects() -> bool {
    DETECTS.get() && schedule::running()
}

unsafe extern "C" fn allocate(size: usize, code: usize) -> *mut u8 {
    begins(__libc_malloc(size), size, code)
}

unsafe extern "C" fn allocate_zeroed(count: usize, size: usize, code: usize) -> *mut u8 {
    begins(__libc_calloc(count, size), count.wrapping_mul(size), code)
}

/// A block that moves is a new one, and the old one ends. To the detector, a block that stays in place is a new one too.
unsafe extern "C" fn reallocate(block: *mut u8, size: usize, code: usize) -> *mut u8 {
    if block.is_null() {
        return allocate(size, code);
    }
    values::settle();
    if afterlife::freed_again(block as usize, code) {
        return allocate(size, code);
    }
    if size == 0 {
        release(block, code);
        return core::ptr::null_mut();
    }
    // The allocator moves larger blocks if necessary, because it can do that without copying them.
    const MOVED_HERE: usize = 64 << 10;
    /// Smaller blocks are moved even if they fit: a pointer to the old place is invalid.
    const ALWAYS_MOVED: usize = 4 << 10;
    let old = malloc_usable_size(block);
    log_taken(block as usize, old.min(size));
    let moves = old <= ALWAYS_MOVED || size > old || size < old / 2;
    if detects() && moves && old.max(size) <= MOVED_HERE && old != 0 {
        let new = allocate(size, code);
        if !new.is_null() {
            core::ptr::copy_nonoverlapping(block, new, old.min(size));
            release(block, code);
        }
        return new;
    }
    objects::forget_range(block as usize, old);
    track::ends(block as usize, old);
    if detects() {
        escapes::stays();
        if let Some(access) = last_access(code) {
            shadow::check(block as usize, old, access);
        }
        shadow::clear(block as usize, old);
    }
    begins(__libc_realloc(block, size), size, code)
}

unsafe extern "C" fn allocate_aligned(align: usize, size: usize, code: usize) -> *mut u8 {
    begins(__libc_memalign(align, size), size, code)
}

unsafe extern "C" fn allocate_posix(out: *mut *mut u8, align: usize, size: usize, code: usize) -> i32 {
    if !align.is_power_of_two() || align < size_of::<usize>() {
        return EINVAL;
    }
    let block = begins(__libc_memalign(align, size), size, code);
    if block.is_null() {
        return ENOMEM;
    }
    *out = block;
    hooks::wrote(out as usize, size_of::<usize>(), code);
    0
}

unsafe extern "C" fn allocate_pages(size: usize, code: usize) -> *mut u8 {
    begins(__libc_memalign(PAGE, size), size, code)
}

unsafe extern "C" fn allocate_whole_pages(size: usize, code: usize) -> *mut u8 {
    allocate_pages((size + PAGE - 1) & !(PAGE - 1), code)
}

unsafe extern "C" fn release(block: *mut u8, code: usize) {
    values::settle();
    if block.is_null() {
        return;
    }
    if afterlife::freed_again(block as usize, code) {
        log_free(block as usize, 1, code);
        return;
    }
    // The C library reports blocks that were never allocated.
    let size = if (block as usize).is_multiple_of(16) { malloc_usable_size(block) } else { 0 };
    objects::forget_range(block as usize, size);
    track::ends(block as usize, size);
    if schedule::running() {
        signals::reentry::enters_library(code);
        escapes::freed();
    }
    if detects() && size != 0 {
        log_free(block as usize, size, code);
        afterlife::free(block as usize, size, code, last_access(code).as_ref());
    } else {
        __libc_free(block);
    }
}
