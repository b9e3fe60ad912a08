//! The floating-point environment, which every thread has to itself.
//!
//! The switch itself saves and restores rounding modes and masks, and the exceptions that SSE has raised. It only
//! reads the exceptions that x87 instructions have raised: few programs use them, and setting them is slow.

use core::arch::asm;

/// The bits of the status word that say what was raised.
const RAISED: u16 = 0xff;

/// What x87 instructions of the running thread have raised.
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
    // SAFETY: 28 bytes are what the instruction stores, and what is loaded differs in the exceptions alone.
    unsafe {
        asm!("fnstenv [{}]", in(reg) environment.as_mut_ptr(), options(nostack));
        environment[STATUS] = environment[STATUS] & !RAISED | raised;
        asm!("fldenv [{}]", in(reg) environment.as_ptr(), options(nostack));
    }
}

/// MXCSR, and the control word of x87: rounding, precision, and what is masked.
pub(crate) fn modes() -> [u32; 2] {
    let mut modes = [0_u32; 2];
    // SAFETY: both instructions store a register, of four and of two bytes.
    unsafe {
        asm!("stmxcsr [{0}]", "fnstcw [{0} + 4]", in(reg) modes.as_mut_ptr(), options(nostack, preserves_flags));
    }
    modes
}
