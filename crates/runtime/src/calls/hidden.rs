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
        const NAMES: &[&str] = &[$($name,)*];
    };
}

unsafe extern "C" {
    fn dlsym(handle: *mut u8, name: *const c_char) -> *mut u8;
    static rh_hidden: u8;
}

objects! {
    "asctime",
    "crypt",
    "ctermid",
    "drand48",
    "ecvt",
    "environment",
    "ether_aton",
    "ether_ntoa",
    "getdate",
    "getfsent",
    "getgrent",
    "getgrnam",
    "gethostbyname",
    "gethostent",
    "getlogin",
    "getmntent",
    "getnetbyname",
    "getnetent",
    "getopt",
    "getpass",
    "getprotobyname",
    "getprotoent",
    "getpwent",
    "getpwnam",
    "getservbyname",
    "getservent",
    "getttyent",
    "getusershell",
    "getutent",
    "hsearch",
    "l64a",
    "locale",
    "localeconv",
    "mblen",
    "mbrlen",
    "mbrtowc",
    "mbtowc",
    "ptsname",
    "random",
    "strtok",
    "syslog",
    "timezone",
    "tm",
    "tmpnam",
    "ttyname",
    "wcrtomb",
    "wctomb",
}

const _: () = assert!(are_the_same(), "the names of hidden state differ from those of the models");

const fn are_the_same() -> bool {
    let mut at = 0;
    while at < NAMES.len() && at < HIDDEN.len() {
        let (a, b) = (NAMES[at].as_bytes(), HIDDEN[at].as_bytes());
        let mut byte = 0;
        while byte < a.len() && byte < b.len() && a[byte] == b[byte] {
            byte += 1;
        }
        if byte != a.len() || byte != b.len() {
            return false;
        }
        at += 1;
    }
    NAMES.len() == HIDDEN.len()
}

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
