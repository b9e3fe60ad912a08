//! Atomic operations on objects wider than any instruction, for which compilers call libatomic.
//!
//! libatomic keeps such an object consistent by its own lock, which the detector does not know. Only one thread of the
//! program runs at a time here, so the operations need no lock: they are announced with their memory orders, and then
//! carried out.

use crate::atomics::{atomic_load, atomic_store, atomic_update, compare_exchange_if};
use crate::hooks::announced;
use crate::tsan::{NO_FRAME, site_of};
use crate::{Global, free};
use core::arch::naked_asm;
use racehunter_abi::Kind;

/// Operations carry their size in one byte. A larger object is announced by its first bytes, and copied whole.
const LARGEST: usize = 255;

fn info(size: usize, order: u32) -> u32 {
    size.min(LARGEST) as u32 | order << 8
}

/// The caller's own copies of the value are ordinary memory.
unsafe fn plain(address: *const u8, size: usize, kind: Kind, code: usize) {
    announced(address as usize, size, site_of(code), kind, code, NO_FRAME);
}

unsafe extern "C" fn load(size: usize, at: *const u8, into: *mut u8, order: u32) {
    let code = CODE.get();
    plain(into, size, Kind::WriteRange, code);
    atomic_load(at as usize, site_of(code), info(size, order), code, NO_FRAME);
    exclusively(|| into.copy_from(at, size));
}

unsafe extern "C" fn store(size: usize, at: *mut u8, from: *const u8, order: u32) {
    let code = CODE.get();
    plain(from, size, Kind::ReadRange, code);
    atomic_store(at as usize, site_of(code), info(size, order), code, NO_FRAME);
    exclusively(|| at.copy_from(from, size));
}

unsafe extern "C" fn exchange(size: usize, at: *mut u8, from: *const u8, into: *mut u8, order: u32) {
    let code = CODE.get();
    plain(from, size, Kind::ReadRange, code);
    plain(into, size, Kind::WriteRange, code);
    atomic_update(at as usize, site_of(code), info(size, order), code, NO_FRAME);
    exclusively(|| {
        // The two copies may overlap completely.
        for byte in 0..size {
            let new = *from.add(byte);
            *into.add(byte) = *at.add(byte);
            *at.add(byte) = new;
        }
    });
}

unsafe extern "C" fn compare_exchange(
    size: usize,
    at: *mut u8,
    expected: *mut u8,
    new: *const u8,
    success: u32,
    failure: u32,
) -> bool {
    let code = CODE.get();
    plain(expected, size, Kind::ReadRange, code);
    plain(new, size, Kind::ReadRange, code);
    let is_equal = || (0..size).all(|byte| *at.add(byte) == *expected.add(byte));
    let info = info(size, success) | failure << 16;
    compare_exchange_if(at as usize, site_of(code), info, is_equal, code, NO_FRAME);
    let mut succeeds = false;
    exclusively(|| {
        succeeds = is_equal();
        if succeeds {
            at.copy_from(new, size);
        } else {
            expected.copy_from(at, size);
        }
    });
    succeeds
}

/// Free-running threads need mutual exclusion.
unsafe fn exclusively(operation: impl FnOnce()) {
    use core::sync::atomic::{AtomicBool, Ordering};
    #[unsafe(link_section = ".data.racehunter")]
    static TAKEN: AtomicBool = AtomicBool::new(false);
    if !free::is_on() {
        return operation();
    }
    while TAKEN.swap(true, Ordering::Acquire) {
        core::hint::spin_loop();
    }
    operation();
    TAKEN.store(false, Ordering::Release);
}

/// The place of the call: the widest operation has no register left for it.
#[unsafe(link_section = ".data.racehunter")]
static CODE: Global<usize> = Global::new(0);

macro_rules! export {
    ($($name:ident => $operation:path;)*) => { $(
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name() {
            naked_asm!("mov r11, [rsp]", "mov [rip + {}], r11", "jmp {}", sym CODE, sym $operation)
        }
    )* };
}

export! {
    __atomic_load => load;
    __atomic_store => store;
    __atomic_exchange => exchange;
    __atomic_compare_exchange => compare_exchange;
}
