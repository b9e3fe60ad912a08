//! Faults that the program handles itself.
//!
//! The kernel delivers a fault on the runtime's alternate stack, which all threads share, so the handler does not run
//! there. Instead the frame that the kernel has made is copied to the stack of the thread, and the thread continues
//! with [`rh_fault`], which calls the handler and then returns from the copy as the kernel's own return would.

use super::actions::{self, ON_STACK};
use super::send::BY_THREAD;
use super::{CONTEXT_MASK, SIGABRT, bit, deliver, run};
use crate::thread::current;
use crate::{outcome, sys};
use core::arch::global_asm;

global_asm!(
    r#"
    .local rh_fault
    .type rh_fault,@function
rh_fault:                           # rdi = signal, rsi = siginfo_t, rdx = ucontext_t; rsp = the copied frame
    sub rsp, 8
    call {handle}
    add rsp, 16
    mov eax, {sigreturn}
    syscall
    ud2
    .size rh_fault, . - rh_fault
    "#,
    handle = sym handle,
    sigreturn = const sys::SIGRETURN,
);

unsafe extern "C" {
    fn rh_fault();
}

/// What the kernel puts on the stack: a return address, the context, the signal information.
#[repr(C)]
struct Frame {
    return_to: usize,
    context: [usize; CONTEXT],
    info: [u32; 32],
}

const CONTEXT: usize = 38;
const RDI: usize = 5 + 8;
const RSI: usize = 5 + 9;
const RDX: usize = 5 + 12;
pub(crate) const RSP: usize = 5 + 15;
pub(crate) const RIP: usize = 5 + 16;
const FLAGS: usize = 5 + 17;
const FLOATING_POINT: usize = 5 + 23;
const CODE: usize = 2;

/// Makes the thread continue in the program's handler of the fault. Returns false if there is none. Called in the
/// kernel's frame.
pub(crate) unsafe fn begin(signal: u32, info: *const u32, context: *mut usize) -> bool {
    let t = current();
    let action = actions::of(signal);
    if !action.has_handler() || (*t).signal_mask & bit(signal) != 0 {
        return false;
    }
    const RED_ZONE: usize = 128;
    let rsp = *context.add(RSP);
    let [alternate, size] = (*t).alternate_stack;
    let on_alternate = (alternate..alternate + size).contains(&rsp);
    let mut at = rsp - RED_ZONE;
    if action.flags & ON_STACK != 0 && size != 0 && !on_alternate {
        at = alternate + size;
    } else if is_overflow(signal, info, rsp) {
        return false;
    }
    // The vector registers, of the size that the kernel reports.
    const LEGACY_SIZE: usize = 512;
    const MAGIC: (usize, u32) = (464 / 4, 0x4650_5853);
    let floating_point = *context.add(FLOATING_POINT) as *const u32;
    if !floating_point.is_null() {
        let extended = *floating_point.add(MAGIC.0) == MAGIC.1;
        let size = if extended { *floating_point.add(MAGIC.0 + 1) as usize } else { LEGACY_SIZE };
        at = (at - size) & !63;
        core::ptr::copy_nonoverlapping(floating_point.cast::<u8>(), at as *mut u8, size);
    }
    let vectors = at;
    // Aligned as after a call.
    let frame = (((at - size_of::<Frame>()) & !15) - 8) as *mut Frame;
    (*frame).return_to = 0;
    core::ptr::copy_nonoverlapping(context, &raw mut (*frame).context as *mut usize, CONTEXT);
    core::ptr::copy_nonoverlapping(info, &raw mut (*frame).info as *mut u32, 32);
    if !floating_point.is_null() {
        (*frame).context[FLOATING_POINT] = vectors;
    }
    const DIRECTION: usize = 0x400;
    *context.add(RSP) = frame as usize;
    *context.add(RIP) = rh_fault as *const () as usize;
    *context.add(RDI) = signal as usize;
    *context.add(RSI) = &raw mut (*frame).info as usize;
    *context.add(RDX) = &raw mut (*frame).context as usize;
    *context.add(FLAGS) &= !DIRECTION;
    true
}

/// Returns whether the stack is used up, and has no room for a frame.
unsafe fn is_overflow(signal: u32, info: *const u32, rsp: usize) -> bool {
    const SIGSEGV: u32 = 11;
    const NEAR: usize = 64 << 10;
    let address = *info.add(4).cast::<usize>();
    signal == SIGSEGV && address < rsp + NEAR && address + NEAR > rsp
}

/// Runs in the thread itself, on its own stack.
unsafe extern "C" fn handle(signal: u32, info: *mut u32, context: *mut u64) {
    let kernel_mask = *context.add(CONTEXT_MASK);
    run(current(), (signal, true), info.cast(), context, !0);
    *context.add(CONTEXT_MASK) = kernel_mask;
    if signal == SIGABRT && *info.add(CODE) as i32 == BY_THREAD {
        // `abort` inside the C library: returning from the handler does not help.
        outcome::die(SIGABRT, 0);
    }
    deliver();
}
