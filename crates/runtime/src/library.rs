//! Memory that the C library's string functions access on behalf of instrumented code.

use crate::hooks::announced;
use racehunter_abi::Kind;

unsafe extern "C" {
    fn strlen(text: *const u8) -> usize;
    fn strnlen(text: *const u8, most: usize) -> usize;
}

/// The functions, in the order that the instrumentation numbers them.
const STRLEN: u32 = 0;
const STRCPY: u32 = 1;
const STRNCPY: u32 = 2;
const STRCAT: u32 = 3;
const STRCMP: u32 = 4;
const STRNCMP: u32 = 5;
const STRCHR: u32 = 6;
const STRRCHR: u32 = 7;
const STRDUP: u32 = 8;
const MEMCMP: u32 = 9;
const MEMCHR: u32 = 10;
const ATOI: u32 = 11;
const STRNCAT: u32 = 12;

/// Handles a call that is about to happen: `a` and `b` are its pointers, `n` its length. For a search, `b` is the
/// character.
pub(crate) unsafe extern "C" fn string_call(
    a: *const u8,
    b: *const u8,
    n: usize,
    site: *mut u8,
    which: u32,
    code: usize,
    frame: usize,
) {
    let reads = |text: *const u8, len: usize| {
        if len > 0 {
            announced(text as usize, len, site, Kind::ReadRange, code, frame);
        }
    };
    let writes = |text: *const u8, len: usize| {
        if len > 0 {
            announced(text as usize, len, site, Kind::WriteRange, code, frame);
        }
    };
    if a.is_null() {
        // It prints as "(null)", or the call itself crashes.
        return;
    }
    match which {
        STRLEN | STRRCHR | STRDUP => reads(a, strlen(a) + 1),
        STRCHR => reads(a, first_of(a, b as u8, strlen(a) + 1)),
        STRCPY => {
            let len = strlen(b) + 1;
            reads(b, len);
            writes(a, len);
        }
        STRNCPY => {
            let len = strnlen(b, n);
            reads(b, (len + 1).min(n));
            writes(a, n);
        }
        STRCAT => {
            let (old, len) = (strlen(a), strlen(b) + 1);
            reads(b, len);
            reads(a, old + 1);
            writes(a.add(old), len);
        }
        STRNCAT => {
            let (old, len) = (strlen(a), strnlen(b, n));
            reads(b, (len + 1).min(n));
            reads(a, old + 1);
            writes(a.add(old), len + 1);
        }
        ATOI => reads(a, number(a)),
        STRCMP | STRNCMP => {
            let most = if which == STRNCMP { n } else { usize::MAX };
            let len = difference(a, b, most, true);
            reads(a, len);
            reads(b, len);
        }
        MEMCMP => {
            let len = difference(a, b, n, false);
            reads(a, len);
            reads(b, len);
        }
        MEMCHR => reads(a, first_of(a, b as u8, n)),
        _ => {}
    }
}

/// Returns the number of bytes up to and including the first that equals this one.
unsafe fn first_of(text: *const u8, wanted: u8, most: usize) -> usize {
    (0..most).find(|&i| *text.add(i) == wanted).map_or(most, |i| i + 1)
}

/// Returns the number of bytes of a decimal number with what precedes it, plus one.
unsafe fn number(text: *const u8) -> usize {
    let mut at = 0;
    while matches!(*text.add(at), b' ' | b'\t'..=b'\r') {
        at += 1;
    }
    if matches!(*text.add(at), b'+' | b'-') {
        at += 1;
    }
    while (*text.add(at)).is_ascii_digit() {
        at += 1;
    }
    at + 1
}

/// Returns the number of bytes up to and including the first that differs, or ends the strings.
unsafe fn difference(a: *const u8, b: *const u8, most: usize, strings: bool) -> usize {
    let mut i = 0;
    while i < most {
        if *a.add(i) != *b.add(i) || (strings && *a.add(i) == 0) {
            return i + 1;
        }
        i += 1;
    }
    i
}
