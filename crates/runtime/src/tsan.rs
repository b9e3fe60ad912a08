//! The interface of ThreadSanitizer's own instrumentation, for objects compiled by `gcc` or `clang` with
//! `-fsanitize=thread`. Sites are known by code address only.

use crate::atomics::{atomic_load, atomic_store, atomic_update, compare_exchange_of, fence};
use crate::hooks::announced;
use crate::modules::{PLAIN_SITE_COUNT, PLAIN_SITES};
use crate::thread::{__rh_stack, Frame};
use crate::{Global, free, server};
use core::arch::{global_asm, naked_asm};
use racehunter_abi::Kind;

/// Frame pointers are unknown in code from other compilers.
pub(crate) const NO_FRAME: usize = 0;

#[unsafe(link_section = ".data.racehunter")]
static INITIALISED: Global<bool> = Global::new(false);

/// Called by a constructor of every object that was compiled with `-fsanitize=thread`, and before all others.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn __tsan_init() {
    if !INITIALISED.get() {
        INITIALISED.set(true);
        server::early_init();
    }
}

/// The flag byte of a place in the code.
pub(crate) fn site_of(code: usize) -> *mut u8 {
    let hash = code.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 48;
    (PLAIN_SITES.ptr() as *mut u8).wrapping_add(hash % PLAIN_SITE_COUNT)
}

// The plain hooks expect the flag byte in rsi; the caller's code address stays on the stack for them.
macro_rules! plain {
    ($($names:literal => $hook:literal;)*) => { $(
        global_asm!(
            concat!(".globl ", $names), concat!(".type ", $names, ",@function"),
            concat!($names, ":"),
            "mov rsi, [rsp]",
            "mov rax, 0x9E3779B97F4A7C15",
            "imul rsi, rax",
            "shr rsi, 48",
            "lea rax, [rip + {sites}]",
            "add rsi, rax",
            concat!("jmp ", $hook),
            sites = sym PLAIN_SITES,
        );
    )* };
}

plain! {
    "__tsan_read1" => "__rh_read1"; "__tsan_read2" => "__rh_read2";
    "__tsan_read4" => "__rh_read4"; "__tsan_read8" => "__rh_read8";
    "__tsan_write1" => "__rh_write1"; "__tsan_write2" => "__rh_write2";
    "__tsan_write4" => "__rh_write4"; "__tsan_write8" => "__rh_write8";
    "__tsan_unaligned_read2" => "__rh_read2"; "__tsan_unaligned_read4" => "__rh_read4";
    "__tsan_unaligned_read8" => "__rh_read8";
    "__tsan_unaligned_write2" => "__rh_write2"; "__tsan_unaligned_write4" => "__rh_write4";
    "__tsan_unaligned_write8" => "__rh_write8";
    "__tsan_volatile_read1" => "__rh_read1"; "__tsan_volatile_read2" => "__rh_read2";
    "__tsan_volatile_read4" => "__rh_read4"; "__tsan_volatile_read8" => "__rh_read8";
    "__tsan_volatile_write1" => "__rh_write1"; "__tsan_volatile_write2" => "__rh_write2";
    "__tsan_volatile_write4" => "__rh_write4"; "__tsan_volatile_write8" => "__rh_write8";
    "__tsan_vptr_read" => "__rh_read8";
}

macro_rules! forward {
    ($($name:ident => $target:path, $register:literal;)*) => { $(
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name() {
            naked_asm!(concat!("mov ", $register, ", [rsp]"), "jmp {}", sym $target)
        }
    )* };
}

forward! {
    __tsan_read16 => read16, "rsi";
    __tsan_write16 => write16, "rsi";
    __tsan_unaligned_read16 => read16, "rsi";
    __tsan_unaligned_write16 => write16, "rsi";
    __tsan_volatile_read16 => read16, "rsi";
    __tsan_volatile_write16 => write16, "rsi";
    __tsan_read_range => read_range, "rdx";
    __tsan_write_range => write_range, "rdx";
    __tsan_read_write1 => read_write::<1>, "rsi";
    __tsan_read_write2 => read_write::<2>, "rsi";
    __tsan_read_write4 => read_write::<4>, "rsi";
    __tsan_read_write8 => read_write::<8>, "rsi";
    __tsan_read_write16 => read_write::<16>, "rsi";
    __tsan_unaligned_read_write2 => read_write::<2>, "rsi";
    __tsan_unaligned_read_write4 => read_write::<4>, "rsi";
    __tsan_unaligned_read_write8 => read_write::<8>, "rsi";
    __tsan_unaligned_read_write16 => read_write::<16>, "rsi";
    __tsan_vptr_update => vptr_update, "rdx";
    __tsan_memcpy => copy, "rcx";
    __tsan_memmove => copy, "rcx";
    __tsan_memset => fill, "rcx";
    __tsan_atomic_thread_fence => thread_fence, "rsi";
}

unsafe fn access(address: usize, size: usize, site: *mut u8, kind: Kind, code: usize) {
    announced(address, size, site, kind, code, NO_FRAME);
}

unsafe extern "C" fn read16(address: usize, code: usize) {
    access(address, 16, site_of(code), Kind::ReadRange, code);
}

unsafe extern "C" fn write16(address: usize, code: usize) {
    access(address, 16, site_of(code), Kind::WriteRange, code);
}

unsafe extern "C" fn read_write<const SIZE: usize>(address: usize, code: usize) {
    access(address, SIZE, site_of(code), Kind::Read, code);
    access(address, SIZE, site_of(code), Kind::Write, code);
}

unsafe extern "C" fn read_range(address: usize, len: usize, code: usize) {
    access(address, len, site_of(code), Kind::ReadRange, code);
}

unsafe extern "C" fn write_range(address: usize, len: usize, code: usize) {
    access(address, len, site_of(code), Kind::WriteRange, code);
}

unsafe extern "C" fn vptr_update(address: usize, new: usize, code: usize) {
    let kind = if *(address as *const usize) == new { Kind::Read } else { Kind::Write };
    access(address, 8, site_of(code), kind, code);
}

unsafe extern "C" {
    fn memmove(to: *mut u8, from: *const u8, len: usize) -> *mut u8;
    fn memset(to: *mut u8, value: i32, len: usize) -> *mut u8;
}

unsafe extern "C" fn copy(to: *mut u8, from: *const u8, len: usize, code: usize) -> *mut u8 {
    if len > 0 {
        access(from as usize, len, site_of(code), Kind::ReadRange, code);
        access(to as usize, len, site_of(code), Kind::WriteRange, code);
    }
    memmove(to, from, len)
}

unsafe extern "C" fn fill(to: *mut u8, value: i32, len: usize, code: usize) -> *mut u8 {
    if len > 0 {
        access(to as usize, len, site_of(code), Kind::WriteRange, code);
    }
    memset(to, value, len)
}

unsafe extern "C" fn thread_fence(order: u32, code: usize) {
    fence(core::ptr::null_mut(), order, code);
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __tsan_atomic_signal_fence(_order: u32) {}

/// The slot of the return address is not passed: take it from the caller's frame, see [`Frame::slot`].
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn __tsan_func_entry(_code: usize) {
    naked_asm!("mov rsi, rsp", "jmp {}", sym enter)
}

unsafe extern "C" fn enter(code: usize, rsp: *const usize) {
    if free::is_on() {
        // Frames and atomic operations of this interface support one thread at a time.
        free::refuse(c"a part of it was compiled with -fsanitize=thread, and not by racehunter cc");
    }
    // The function's own return address is above; it is the first word that holds it.
    const SEARCHED: usize = 512;
    // Virtual machines enter their own functions, whose addresses are not those of code.
    const FIRST_OF_KERNEL: usize = 1 << 47;
    let searched = if code < FIRST_OF_KERNEL { SEARCHED } else { 0 };
    let slot = (1..searched).map(|i| rsp.add(i)).find(|&slot| *slot == code).unwrap_or(core::ptr::null());
    let frame = __rh_stack.get();
    *frame = Frame { code, slot };
    __rh_stack.set(frame.add(1));
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __tsan_func_exit() {
    __rh_stack.set(__rh_stack.get().sub(1));
}

/// Atomic operations are performed here, not by the caller.
macro_rules! atomics {
    ($($size:literal $type:ty, $load:ident $store:ident $exchange:ident $add:ident $sub:ident $and:ident $or:ident
        $xor:ident $nand:ident $strong:ident $weak:ident $val:ident;)*) => { $(
        atomics!(@export $load (at: *mut $type, order: u32) -> $type {
            let code = CODE.get();
            atomic_load(at as usize, site_of(code), $size | order << 8, code, NO_FRAME);
            at.read()
        });
        atomics!(@export $store (at: *mut $type, value: $type, order: u32) -> () {
            let code = CODE.get();
            atomic_store(at as usize, site_of(code), $size | order << 8, code, NO_FRAME);
            at.write(value);
        });
        atomics!(@update $exchange $type, $size, |_old, value| value);
        atomics!(@update $add $type, $size, |old, value| old.wrapping_add(value));
        atomics!(@update $sub $type, $size, |old, value| old.wrapping_sub(value));
        atomics!(@update $and $type, $size, |old, value| old & value);
        atomics!(@update $or $type, $size, |old, value| old | value);
        atomics!(@update $xor $type, $size, |old, value| old ^ value);
        atomics!(@update $nand $type, $size, |old, value| !(old & value));
        atomics!(@export $val (at: *mut $type, expected: $type, new: $type, order: u32, other: u32) -> $type {
            let code = CODE.get();
            let info = $size | order << 8 | other << 16;
            compare_exchange_of(at as usize, site_of(code), info, u128::from(expected), code, NO_FRAME);
            let found = at.read();
            if found == expected {
                at.write(new);
            }
            found
        });
        atomics!(@exchange $strong $type, $size);
        atomics!(@exchange $weak $type, $size);
    )* };
    (@update $name:ident $type:ty, $size:literal, $operation:expr) => {
        atomics!(@export $name (at: *mut $type, value: $type, order: u32) -> $type {
            let code = CODE.get();
            atomic_update(at as usize, site_of(code), $size | order << 8, code, NO_FRAME);
            let old = at.read();
            let operation: fn($type, $type) -> $type = $operation;
            at.write(operation(old, value));
            old
        });
    };
    (@exchange $name:ident $type:ty, $size:literal) => {
        atomics!(@export $name (at: *mut $type, expected: *mut $type, new: $type, order: u32, other: u32) -> i32 {
            let code = CODE.get();
            let info = $size | order << 8 | other << 16;
            compare_exchange_of(at as usize, site_of(code), info, u128::from(expected.read()), code, NO_FRAME);
            let found = at.read();
            if found == expected.read() {
                at.write(new);
                1
            } else {
                expected.write(found);
                0
            }
        });
    };
    (@export $name:ident ($($argument:ident: $type:ty),*) -> $result:ty $body:block) => {
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name() {
            unsafe extern "C" fn operation($($argument: $type),*) -> $result $body
            naked_asm!("mov r11, [rsp]", "mov [rip + {}], r11", "jmp {}", sym CODE, sym operation)
        }
    };
}

/// The place of the call: the wide operations have no register left for it.
#[unsafe(link_section = ".data.racehunter")]
static CODE: Global<usize> = Global::new(0);

atomics! {
    1 u8, __tsan_atomic8_load __tsan_atomic8_store __tsan_atomic8_exchange __tsan_atomic8_fetch_add
        __tsan_atomic8_fetch_sub __tsan_atomic8_fetch_and __tsan_atomic8_fetch_or __tsan_atomic8_fetch_xor
        __tsan_atomic8_fetch_nand __tsan_atomic8_compare_exchange_strong __tsan_atomic8_compare_exchange_weak
        __tsan_atomic8_compare_exchange_val;
    2 u16, __tsan_atomic16_load __tsan_atomic16_store __tsan_atomic16_exchange __tsan_atomic16_fetch_add
        __tsan_atomic16_fetch_sub __tsan_atomic16_fetch_and __tsan_atomic16_fetch_or __tsan_atomic16_fetch_xor
        __tsan_atomic16_fetch_nand __tsan_atomic16_compare_exchange_strong __tsan_atomic16_compare_exchange_weak
        __tsan_atomic16_compare_exchange_val;
    4 u32, __tsan_atomic32_load __tsan_atomic32_store __tsan_atomic32_exchange __tsan_atomic32_fetch_add
        __tsan_atomic32_fetch_sub __tsan_atomic32_fetch_and __tsan_atomic32_fetch_or __tsan_atomic32_fetch_xor
        __tsan_atomic32_fetch_nand __tsan_atomic32_compare_exchange_strong __tsan_atomic32_compare_exchange_weak
        __tsan_atomic32_compare_exchange_val;
    8 u64, __tsan_atomic64_load __tsan_atomic64_store __tsan_atomic64_exchange __tsan_atomic64_fetch_add
        __tsan_atomic64_fetch_sub __tsan_atomic64_fetch_and __tsan_atomic64_fetch_or __tsan_atomic64_fetch_xor
        __tsan_atomic64_fetch_nand __tsan_atomic64_compare_exchange_strong __tsan_atomic64_compare_exchange_weak
        __tsan_atomic64_compare_exchange_val;
    16 u128, __tsan_atomic128_load __tsan_atomic128_store __tsan_atomic128_exchange __tsan_atomic128_fetch_add
        __tsan_atomic128_fetch_sub __tsan_atomic128_fetch_and __tsan_atomic128_fetch_or __tsan_atomic128_fetch_xor
        __tsan_atomic128_fetch_nand __tsan_atomic128_compare_exchange_strong __tsan_atomic128_compare_exchange_weak
        __tsan_atomic128_compare_exchange_val;
}
