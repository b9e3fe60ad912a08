//! `printf`, `scanf` and similar functions, by the rules of [`racehunter_machine::format`].

use super::{Call, strlen, strnlen, wide_len};
use crate::log;
use core::ffi::CStr;
use racehunter_abi::{Escape, UNMODELLED_FORMAT, UNMODELLED_FUNCTION};
use racehunter_machine::format::{self, Print, Scan, Scanned, VaList};

/// The arguments after a format.
enum Arguments<'a> {
    /// Arguments of the call, from a position on.
    Listed(&'a Call, u8),
    /// A `va_list`.
    Passed(VaList),
}

impl Arguments<'_> {
    unsafe fn passed(list: usize) -> Self {
        let word = |at: usize| *((list + at) as *const u32);
        let pointer = |at: usize| *((list + at) as *const usize);
        Self::Passed(VaList { general: word(0), float: word(4), overflow: pointer(8), registers: pointer(16) })
    }
}

impl format::Arguments for Arguments<'_> {
    fn next(&mut self) -> usize {
        match self {
            Self::Listed(call, at) => {
                *at += 1;
                // SAFETY: the plugin passes the arguments of the call with their number.
                unsafe { call.argument(*at - 1) }
            }
            // SAFETY: the program passes as many arguments as the format requires, or the call itself would read too
            // far.
            Self::Passed(list) => unsafe { *(list.next_address() as *const usize) },
        }
    }

    fn skip_float(&mut self, is_long: bool) {
        match self {
            Self::Listed(_, at) => *at += 1,
            Self::Passed(list) => list.skip_float(is_long),
        }
    }
}

impl Call {
    /// Handles a routine for formats. Returns whether the name is one.
    pub(super) unsafe fn formats(&self, name: &str, format: u8) -> bool {
        let is_passed = name.starts_with('v');
        let text = self.argument(format);
        if !matches!(name, "printf" | "vprintf" | "scanf" | "vscanf") || text == 0 {
            return matches!(name, "printf" | "vprintf" | "scanf" | "vscanf");
        }
        let arguments = match (is_passed, self.argument(format.wrapping_add(1))) {
            (true, 0) => return true,
            (true, list) => Arguments::passed(list),
            _ => Arguments::Listed(self, format + 1),
        };
        if name.ends_with("printf") {
            if !self.has_returned {
                let format = CStr::from_ptr(text as *const _).to_bytes();
                self.reads(text, format.len() + 1);
                self.prints(format, arguments);
            }
        } else {
            self.scans(CStr::from_ptr(text as *const _).to_bytes(), arguments);
        }
        true
    }

    /// Notes a part of the format that is not followed.
    unsafe fn is_not_followed(&self) {
        log::escape(Escape::Unmodelled, self.code, (UNMODELLED_FUNCTION + UNMODELLED_FORMAT) as usize, 0);
    }

    unsafe fn prints(&self, text: &[u8], mut arguments: Arguments<'_>) {
        format::print(text, &mut arguments, |effect| match effect {
            Print::Text { at, precision, is_wide } => self.reads(at, printed_len(at, precision, is_wide)),
            Print::Count { at, size } => self.writes(at, size),
            Print::Unknown => self.is_not_followed(),
        });
    }

    unsafe fn scans(&self, text: &[u8], mut arguments: Arguments<'_>) {
        let result = self.has_returned.then_some(self.result);
        format::scan(text, result, &mut arguments, |effect| match effect {
            Scan::Approach(at) => self.approach(at, true),
            Scan::Write(at, Scanned::Bytes(size)) => self.writes(at, size),
            Scan::Write(at, Scanned::Text) => self.writes(at, strlen(at as *const u8) + 1),
            Scan::Write(at, Scanned::WideText) => self.writes(at, (wide_len(at, usize::MAX) + 1) * 4),
            Scan::Unknown => self.is_not_followed(),
        });
    }
}

/// Returns the number of bytes that printing a string reads.
unsafe fn printed_len(text: usize, precision: Option<usize>, is_wide: bool) -> usize {
    match precision {
        // The length depends on the encoding of the characters.
        Some(most) if is_wide => wide_len(text, most.min(1)) * 4,
        Some(most) => (strnlen(text as *const u8, most) + 1).min(most),
        None if is_wide => (wide_len(text, usize::MAX) + 1) * 4,
        None => strlen(text as *const u8) + 1,
    }
}
