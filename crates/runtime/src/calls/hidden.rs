//! Objects that represent state inside the C library. The detector knows only memory, so each has a byte, and a symbol
//! for reports.

use core::arch::global_asm;
use core::ffi::c_char;
use racehunter_sight::models::HIDDEN;

/// Distance between them, so that they are in separate cells.
const STRIDE: usize = 16;

macro_rules! objects {
    ($($name:literal,)*) => {
        global_asm!(
            ".pushsection .data.rh_hidden,\"aw\",@progbits",
            ".p2align 4",
            "rh_hidden:",
            $(concat!(
                ".type \"", $name, " (C library)\",@object\n",
                ".size \"", $name, " (C library)\", 1\n",
                "\"", $name, " (C library)\":\n",
                ".zero 16",
            ),)*
            ".popsection",
        );
    };
}

unsafe extern "C" {
    fn dlsym(handle: *mut u8, name: *const c_char) -> *mut u8;
    static rh_hidden: u8;
}

racehunter_sight::hidden_state!(objects);

/// Returns the address of the byte that represents a state.
pub(crate) fn address(name: &str) -> Option<usize> {
    let at = HIDDEN.iter().position(|known| *known == name)?;
    Some(&raw const rh_hidden as usize + at * STRIDE)
}

/// Returns the address of a variable of the C library, as the program sees it, or zero.
pub(crate) unsafe fn variable(name: &str) -> usize {
    const LONGEST: usize = 32;
    const DEFAULT: *mut u8 = core::ptr::null_mut();
    let mut text = [0_u8; LONGEST];
    if name.len() >= LONGEST {
        return 0;
    }
    text[..name.len()].copy_from_slice(name.as_bytes());
    dlsym(DEFAULT, text.as_ptr() as *const c_char) as usize
}
