//! Large pages for memory that a program uses before `main`.
//!
//! A fork copies the page tables of the process: with a gigabyte in pages of 4 KiB that takes longer than most executions.
//! Before the first fork the server therefore has the kernel merge dense areas into large pages, once.

#![deny(unsafe_op_in_unsafe_fn)]

use crate::world::copies;
use crate::world::paths::{HERE, OPENAT};
use crate::{arena, sys};
use racehunter_machine::text::Mapping;

const LARGE_PAGE: usize = 2 << 20;
const PAGE: usize = 4096;
/// The size from which on mappings are worth it, and from which on they are only reservations.
const SMALLEST: usize = 16 << 20;
const LARGEST: usize = 1 << 36;

/// Asks the kernel to use large pages wherever three quarters of one are already in memory.
pub(crate) unsafe fn gather() {
    // SAFETY: no other thread runs before `main`, so the mappings stay what they are.
    unsafe {
        copies::each_mapping(|line| {
            if let Some(mapping) = Mapping::read(line).filter(is_worth_it) {
                gather_mapping(mapping.start, mapping.end - mapping.start);
            }
            true
        });
    }
}

/// Returns whether a mapping is private memory of the program, of a size for which large pages are worthwhile.
fn is_worth_it(mapping: &Mapping<'_>) -> bool {
    let size = mapping.end - mapping.start;
    mapping.is_anonymous() && (SMALLEST..=LARGEST).contains(&size) && !arena::is_own(mapping.start)
}

unsafe fn gather_mapping(start: usize, len: usize) {
    let end = (start + len) & !(LARGE_PAGE - 1);
    let mut at = (start + LARGE_PAGE - 1) & !(LARGE_PAGE - 1);
    while at < end {
        let mut last = at;
        // SAFETY: the caller guarantees that all of it is mapped.
        while last < end && unsafe { is_dense(last) } {
            last += LARGE_PAGE;
        }
        if last > at {
            const COLLAPSE: usize = 25;
            // Older kernels refuse, and nothing changes. SAFETY: changes no contents.
            unsafe { sys::call(sys::MADVISE, at, last - at, COLLAPSE, 0) };
        }
        at = last + LARGE_PAGE;
    }
}

/// Returns whether most of the pages that would form a large one are in memory.
unsafe fn is_dense(at: usize) -> bool {
    const MINCORE: usize = 27;
    let mut present = [0_u8; LARGE_PAGE / PAGE];
    // SAFETY: the kernel writes a byte for each page of a large one.
    let error = unsafe { sys::call(MINCORE, at, LARGE_PAGE, present.as_mut_ptr() as usize, 0) };
    error == 0 && present.iter().filter(|&&page| page & 1 != 0).count() * 4 >= present.len() * 3
}

/// Makes copies of this process inherit the page tables of code and constants. A fork omits them for mappings that can be read
/// from their file again, so one byte of each such mapping is overwritten with itself, through a file that ignores write
/// protection.
pub(crate) unsafe fn keep_files() {
    const PREAD64: usize = 17;
    const PWRITE64: usize = 18;
    const READ_WRITE: usize = 2;
    let path = c"/proc/self/mem".as_ptr() as usize;
    // SAFETY: the path ends with a zero byte.
    let memory = unsafe { sys::call(OPENAT, HERE as isize as usize, path, READ_WRITE, 0) };
    if memory < 0 {
        return;
    }
    // SAFETY: each byte is overwritten with itself, and no other thread runs before `main`.
    unsafe {
        copies::each_mapping(|line| {
            let mut byte = 0_u8;
            let at = &raw mut byte as usize;
            if let Some(mapping) = Mapping::read(line).filter(Mapping::is_constant_file)
                && sys::call(PREAD64, memory as usize, at, 1, mapping.start) == 1
            {
                sys::call(PWRITE64, memory as usize, at, 1, mapping.start);
            }
            true
        });
        sys::call(sys::CLOSE, memory as usize, 0, 0, 0);
    }
}
