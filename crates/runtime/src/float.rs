//! The floating-point environment, of which every thread has its own.
//!
//! The context switch itself saves and restores rounding modes and masks, and the exceptions raised by SSE. It only
//! reads the exceptions raised by x87 instructions: few programs use them, and setting them is slow.

use core::arch::asm;

/// The bits of the status word for raised exceptions.
const RAISED: u16 = 0xff;

/// Returns the exceptions raised by x87 instructions of the running thread.
#[inline]
pub(crate) fn exceptions() -> u16 {
    let status: u16;
    // SAFETY: reads a register.
    unsafe { asm!("fnstsw ax", out("ax") status, options(nomem, nostack, preserves_flags)) };
    status & RAISED
}

/// Raises these exceptions, and no others.
#[inline]
pub(crate) fn set_exceptions(raised: u16) {
    if exceptions() != raised {
        replace_exceptions(raised);
    }
}

#[cold]
fn replace_exceptions(raised: u16) {
    const STATUS: usize = 2;
    let mut environment = [0_u16; 14];
    // SAFETY: the instruction stores 28 bytes, and the loaded state differs only in the exceptions.
    unsafe {
        asm!("fnstenv [{}]", in(reg) environment.as_mut_ptr(), options(nostack));
        environment[STATUS] = environment[STATUS] & !RAISED | raised;
        asm!("fldenv [{}]", in(reg) environment.as_ptr(), options(nostack));
    }
}

/// Stores MXCSR and the x87 control word: rounding, precision, and masks.
pub(crate) unsafe fn save_modes(to: *mut [u32; 2]) {
    // The control word has two bytes.
    *to = [0; 2];
    // Both instructions store a register, of four and of two bytes. To read them back as one word would take longer than to create
    // the thread otherwise does.
    asm!("stmxcsr [{0}]", "fnstcw [{0} + 4]", in(reg) to, options(nostack, preserves_flags));
}

/// Returns MXCSR, and the x87 status and control words: modes, and the exceptions raised so far.
pub(crate) fn modes() -> u64 {
    let (mut vector, mut status, mut control) = (0_u32, 0_u16, 0_u16);
    // SAFETY: the instructions store four bytes, and two each.
    unsafe {
        asm!(
            "stmxcsr [{0}]",
            "fnstsw [{1}]",
            "fnstcw [{2}]",
            in(reg) &raw mut vector,
            in(reg) &raw mut status,
            in(reg) &raw mut control,
            options(nostack, preserves_flags)
        );
    }
    u64::from(vector) | u64::from(status) << 32 | u64::from(control) << 48
}
