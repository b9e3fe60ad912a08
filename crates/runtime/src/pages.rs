//! Large pages for what a program has in memory before `main`.
//!
//! A fork copies the page tables of the process: with a gigabyte in pages of 4 KiB that takes longer than most
//! executions. So before the first fork the server has the kernel put together what is dense and large, once.

use crate::world::copies;
use crate::world::paths::{HERE, OPENAT};
use crate::{arena, sys};

const LARGE_PAGE: usize = 2 << 20;
const PAGE: usize = 4096;
/// Mappings that are worth it, and those that are only reserved.
const SMALLEST: usize = 16 << 20;
const LARGEST: usize = 1 << 36;

/// Asks the kernel to use large pages wherever three quarters of one are already in memory.
pub(crate) unsafe fn gather() {
    const OPEN: usize = 2;
    let maps = sys::call(OPEN, c"/proc/self/maps".as_ptr() as usize, 0, 0, 0);
    if maps < 0 {
        return;
    }
    let mut text = [0_u8; PAGE];
    let mut held = 0;
    loop {
        let free = text.as_mut_ptr().add(held) as usize;
        let got = sys::call(sys::READ, maps as usize, free, text.len() - held, 0);
        if got <= 0 {
            break;
        }
        held += got as usize;
        // Whole lines are dealt with, the rest waits for more.
        let mut from = 0;
        while let Some(end) = text[from..held].iter().position(|&byte| byte == b'\n') {
            if let Some((start, len)) = anonymous(&text[from..from + end]) {
                gather_mapping(start, len);
            }
            from += end + 1;
        }
        text.copy_within(from..held, 0);
        held -= from;
    }
    sys::call(sys::CLOSE, maps as usize, 0, 0, 0);
}

/// The mapping of a line, when it is private memory of the program: `start-end rw-p offset device 0 [heap]`.
fn anonymous(line: &[u8]) -> Option<(usize, usize)> {
    let mut fields = line.split(|&byte| byte == b' ').filter(|field| !field.is_empty());
    let range = fields.next()?;
    let dash = range.iter().position(|&byte| byte == b'-')?;
    let (start, end) = (hexadecimal(&range[..dash])?, hexadecimal(&range[dash + 1..])?);
    let is_private = fields.next()? == b"rw-p";
    let has_no_file = fields.nth(2)? == b"0" && matches!(fields.next(), None | Some(b"[heap]"));
    let fits = (SMALLEST..=LARGEST).contains(&(end - start)) && !arena::is_own(start);
    (is_private && has_no_file && fits).then_some((start, end - start))
}

fn hexadecimal(digits: &[u8]) -> Option<usize> {
    digits.iter().try_fold(0, |value, &digit| Some(value << 4 | (digit as char).to_digit(16)? as usize))
}

unsafe fn gather_mapping(start: usize, len: usize) {
    let end = (start + len) & !(LARGE_PAGE - 1);
    let mut at = (start + LARGE_PAGE - 1) & !(LARGE_PAGE - 1);
    while at < end {
        let mut last = at;
        while last < end && is_dense(last) {
            last += LARGE_PAGE;
        }
        if last > at {
            const COLLAPSE: usize = 25;
            // Kernels that do not know it refuse, and all stays as it is.
            sys::call(sys::MADVISE, at, last - at, COLLAPSE, 0);
        }
        at = last + LARGE_PAGE;
    }
}

/// Whether most of the pages that would form a large one are in memory.
unsafe fn is_dense(at: usize) -> bool {
    const MINCORE: usize = 27;
    let mut present = [0_u8; LARGE_PAGE / PAGE];
    sys::call(MINCORE, at, LARGE_PAGE, present.as_mut_ptr() as usize, 0) == 0
        && present.iter().filter(|&&page| page & 1 != 0).count() * 4 >= present.len() * 3
}

/// Makes copies of this process inherit the page tables of code and constants. A fork leaves them out for mappings that can be
/// read from their file again, so one byte of each such mapping is overwritten with itself, through a file that ignores write
/// protection.
pub(crate) unsafe fn keep_files() {
    const PREAD64: usize = 17;
    const PWRITE64: usize = 18;
    const READ_WRITE: usize = 2;
    let memory = sys::call(OPENAT, HERE as isize as usize, c"/proc/self/mem".as_ptr() as usize, READ_WRITE, 0);
    if memory < 0 {
        return;
    }
    copies::each_mapping(|line| {
        let (start, _, rights) = copies::mapping(line);
        let mut byte = 0_u8;
        let at = &raw mut byte as usize;
        if rights.starts_with(b"r-")
            && rights.get(3) == Some(&b'p')
            && line.contains(&b'/')
            && sys::call(PREAD64, memory as usize, at, 1, start) == 1
        {
            sys::call(PWRITE64, memory as usize, at, 1, start);
        }
        true
    });
    sys::call(sys::CLOSE, memory as usize, 0, 0, 0);
}
