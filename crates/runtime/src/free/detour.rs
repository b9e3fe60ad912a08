//! Bypasses the models.
//!
//! Every C library function that has a model is a symbol of the executable. In a free-running process, each of them
//! gets a jump to the C library's own function at its start. This is done only in the process that was just forked, so
//! executions under control are not affected.

use crate::{server, sys};
use core::arch::global_asm;
use core::ffi::{CStr, c_char};

/// Where calls of one of the runtime's functions go.
pub(super) enum To {
    /// To the definition after the runtime's, if there is one.
    Next,
    /// To another function of the runtime.
    Here(usize),
    /// They stay.
    Stay,
}

/// Size of a near jump, and of a far one.
const NEAR: usize = 5;
const FAR: usize = 16;
/// Functions that can be redirected.
const MOST: usize = 1024;

unsafe extern "C" {
    // The bounds of the runtime's own code: see `cargo xtask build`.
    static rh_text_begin: u8;
    static rh_text_end: u8;
    static mut rh_detours: [[u8; FAR]; MOST];
    fn dlsym(handle: *mut u8, name: *const c_char) -> *mut u8;
}

// Room for the far jumps, within reach of all near ones.
global_asm!(
    ".text",
    ".balign {far}",
    ".globl rh_detours",
    ".hidden rh_detours",
    "rh_detours:",
    ".skip {far} * {most}",
    far = const FAR,
    most = const MOST,
);

/// An entry of the symbol table.
#[repr(C)]
struct Symbol {
    name: u32,
    info: u8,
    other: u8,
    section: u16,
    value: usize,
    size: usize,
}

/// What the dynamic linker knows about the executable.
struct Names {
    bias: usize,
    symbols: *const Symbol,
    strings: *const c_char,
    count: usize,
}

/// Redirects every function of the runtime that replaces one of the C library. Returns false, without redirecting any,
/// if that is not possible.
pub(super) unsafe fn install(choose: impl Fn(&CStr) -> To) -> bool {
    const EXECUTABLE: usize = 5;
    const MPROTECT: usize = 10;
    let Some(names) = find_names() else { return false };
    let (begin, end) = (&raw const rh_text_begin as usize, &raw const rh_text_end as usize);
    let (first, len) = (begin & !0xfff, ((end + 0xfff) & !0xfff) - (begin & !0xfff));
    if sys::call(MPROTECT, first, len, EXECUTABLE | 2, 0) != 0 {
        return false;
    }
    let mut detours = Detours { entries: [(0, 0); MOST], count: 0 };
    let mut fits = true;
    for i in 1..names.count {
        let symbol = names.symbols.add(i);
        let entry = names.bias + (*symbol).value;
        if (*symbol).section == 0 || !is_function((*symbol).info) || !(begin..end).contains(&entry) {
            continue;
        }
        let name = CStr::from_ptr(names.strings.add((*symbol).name as usize));
        let target = match choose(name) {
            To::Next => next(name.as_ptr()),
            To::Here(target) => target,
            To::Stay => continue,
        };
        fits &= target == 0 || detours.add(entry, target);
    }
    if fits {
        detours.write();
    }
    sys::call(MPROTECT, first, len, EXECUTABLE, 0);
    fits
}

/// Returns the definition after the runtime's, or 0.
pub(super) unsafe fn next(name: *const c_char) -> usize {
    const RTLD_NEXT: *mut u8 = usize::MAX as *mut u8;
    dlsym(RTLD_NEXT, name) as usize
}

const fn is_function(info: u8) -> bool {
    const FUNCTION: u8 = 2;
    info & 0xf == FUNCTION
}

struct Detours {
    /// From where to where.
    entries: [(usize, usize); MOST],
    count: usize,
}

impl Detours {
    /// Returns false if there is no room for the jump. If a function has several names, the first counts.
    fn add(&mut self, entry: usize, target: usize) -> bool {
        let known = &self.entries[..self.count];
        if known.iter().any(|&(other, _)| other == entry) {
            return true;
        }
        if self.count == MOST || known.iter().any(|&(other, _)| other.abs_diff(entry) < NEAR) {
            return false;
        }
        self.entries[self.count] = (entry, target);
        self.count += 1;
        true
    }

    unsafe fn write(&self) {
        for (i, &(entry, target)) in self.entries[..self.count].iter().enumerate() {
            // jmp [rip + 0], and the address.
            let far = (&raw mut rh_detours as *mut [u8; FAR]).add(i) as *mut u8;
            core::ptr::copy_nonoverlapping([0xff, 0x25, 0, 0, 0, 0].as_ptr(), far, 6);
            (far.add(6) as *mut usize).write_unaligned(target);
            let distance = (far as usize).wrapping_sub(entry + NEAR) as u32;
            *(entry as *mut u8) = 0xe9;
            ((entry + 1) as *mut u32).write_unaligned(distance);
        }
    }
}

/// Finds the executable's dynamic symbols.
unsafe fn find_names() -> Option<Names> {
    const PT_DYNAMIC: u32 = 2;
    const ET_DYN: u16 = 3;
    const STRINGS: usize = 5;
    const SYMBOLS: usize = 6;
    const GNU_HASH: usize = 0x6fff_fef5;
    let base = server::executable().0;
    let (headers, count) = (*((base + 32) as *const usize), usize::from(*((base + 56) as *const u16)));
    let bias = if *((base + 16) as *const u16) == ET_DYN { base } else { 0 };
    let is_dynamic = |header: &usize| *(*header as *const u32) == PT_DYNAMIC;
    let header = (0..count).map(|i| base + headers + 56 * i).find(is_dynamic)?;
    let mut entry = (bias + *((header + 16) as *const usize)) as *const [usize; 2];
    let (mut symbols, mut strings, mut hash) = (0, 0, 0);
    while (*entry)[0] != 0 {
        let [tag, value] = *entry;
        // The dynamic linker may have added the load address already.
        let address = if value < bias { value + bias } else { value };
        match tag {
            SYMBOLS => symbols = address,
            STRINGS => strings = address,
            GNU_HASH => hash = address,
            _ => {}
        }
        entry = entry.add(1);
    }
    if symbols == 0 || strings == 0 || hash == 0 {
        return None;
    }
    let (symbols, strings) = (symbols as *const Symbol, strings as *const c_char);
    Some(Names { bias, symbols, strings, count: symbol_count(hash as *const u32) })
}

/// Returns the number of symbols, which the table does not contain: one more than the last index of the last chain.
unsafe fn symbol_count(hash: *const u32) -> usize {
    let (buckets, first, bloom) = (*hash as usize, *hash.add(1) as usize, *hash.add(2) as usize);
    let bucket = hash.add(4 + bloom * 2);
    let chains = bucket.add(buckets);
    let last = (0..buckets).map(|i| *bucket.add(i) as usize).max().unwrap_or(0);
    if last < first {
        return first;
    }
    let end = (last..).find(|&i| *chains.add(i - first) & 1 != 0);
    end.unwrap_or(last) + 1
}
