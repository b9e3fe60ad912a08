//! The allocator's functions: memory that starts a new life has no history, and memory that ends its life is written
//! for the last time ([`afterlife`]).

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

// C++'s `delete`, for the place that it is called from. Weak: the program may have its own, and the forms that it does not
// have go to those that it has. The program may also have its own `free`. `new` is in `new.c`.
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

/// Where the program asks for memory: `operator new` is a part of the runtime.
unsafe fn asks_at(code: usize) -> usize {
    if plain::is_own_code(code) { rh_new_caller } else { code }
}

/// The function that makes a block writes to it: by the C standard it may do so visibly, and accesses of other threads must be
/// ordered after it. Nothing needs to be recorded while there is one thread.
pub(crate) unsafe fn is_written(block: usize, size: usize, code: usize) {
    const MOST: usize = 64 << 10;
    if detects() && LIVE.get() > 1 && annotations::looks_at(current()) {
        hooks::wrote(block, size.min(MOST), code);
        // The first write of the program itself says more, and replaces it.
        clock::tick();
    }
}

unsafe fn begins(block: *mut u8, size: usize, code: usize) -> *mut u8 {
    let code = asks_at(code);
    if !block.is_null() {
        if DETECTS.get() {
            // All of it: `free` checks all of it too.
            shadow::clear(block as usize, malloc_usable_size(block));
        }
        if !schedule::running() {
            return block;
        }
        schedule::spin::moves_on();
        signals::reentry::enters_library(code);
        is_written(block as usize, size, code);
        let (wanted, watched) = (schedule::flags() & FLAG_ALLOCATIONS != 0, server::watches(block as usize, size));
        // A call from a library, such as that of `operator new`, is where the program has called the library.
        let code = if in_program(code) || !wanted && !watched { code } else { caller_of(code) };
        let is_tracked = track::begins(block as usize, size, code);
        // Where few variables are of interest, so are few blocks.
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

/// Logs the end of a block that is watched.
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

/// A library has called a function of this runtime, and is to return to `code`: where the program called the library.
unsafe fn caller_of(code: usize) -> usize {
    // The frames of the runtime come first on the stack, and may have copies of the address.
    const OWN: usize = 512;
    let here = sys::stack_pointer() & !7;
    let frames = (here..here + OWN).step_by(8);
    let returns = frames.map(|at| at as *const usize).rfind(|&at| *at == code);
    returns.map_or(0, |at| outcome::innermost_call(at as usize + 8))
}

/// Whether that is code of the executable.
pub(crate) fn in_program(code: usize) -> bool {
    let (start, end) = server::executable();
    (start..end).contains(&code)
}

/// The end of a block, as an access. A library that frees on its own behalf (the count of an exception, say) orders
/// that in ways that are not seen, so it does not count; nor does one that the program asks not to check.
pub(crate) unsafe fn last_access(code: usize) -> Option<Access> {
    let counts = in_program(code) && annotations::looks_at(current());
    counts.then_some(Access { kind: Kind::Free, code, site: core::ptr::null_mut() })
}

/// Whether blocks that end now are watched over.
pub(crate) fn detects() -> bool {
    DETECTS.get() && schedule::running()
}

unsafe extern "C" fn allocate(size: usize, code: usize) -> *mut u8 {
    begins(__libc_malloc(size), size, code)
}

unsafe extern "C" fn allocate_zeroed(count: usize, size: usize, code: usize) -> *mut u8 {
    begins(__libc_calloc(count, size), count.wrapping_mul(size), code)
}

/// A block that moves is a new one, and the old one ends. To the detector, a block that stays in place is a new one
/// too.
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
    // Larger blocks are moved by the allocator, if they must: it can do that without copying them.
    const MOVED_HERE: usize = 64 << 10;
    /// Moved even if they fit: a pointer to the old place is invalid.
    const ALWAYS_MOVED: usize = 4 << 10;
    let old = malloc_usable_size(block);
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
    // The C library complains about what was never allocated.
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
