//! Annotations of the program about its own accesses: those that must not be checked, and intended races.
//!
//! The other annotations of [`crate::annotations`] have no effect here: happens-before edges mean nothing if two
//! accesses are seen to meet.

use super::detour::To;
use super::threads::own;
use core::ffi::{c_char, c_int, c_long};
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Returns where calls of an annotation go; `None` for other functions.
pub(super) fn place(name: &[u8]) -> Option<To> {
    let function = match name {
        b"AnnotateIgnoreReadsBegin"
        | b"AnnotateIgnoreWritesBegin"
        | b"__tsan_ignore_thread_begin"
        | b"__tsan_mutex_pre_lock"
        | b"__tsan_mutex_pre_unlock"
        | b"__tsan_mutex_pre_signal"
        | b"__tsan_mutex_post_divert" => ignore::<true> as *const () as usize,
        b"AnnotateIgnoreReadsEnd"
        | b"AnnotateIgnoreWritesEnd"
        | b"__tsan_ignore_thread_end"
        | b"__tsan_mutex_post_lock"
        | b"__tsan_mutex_post_unlock"
        | b"__tsan_mutex_post_signal"
        | b"__tsan_mutex_pre_divert" => ignore::<false> as *const () as usize,
        b"AnnotateBenignRace" => benign_byte as *const () as usize,
        b"AnnotateBenignRaceSized" | b"WTFAnnotateBenignRaceSized" => benign as *const () as usize,
        b"__tsan_acquire" | b"__tsan_release" => super::nothing as *const () as usize,
        _ if name.starts_with(b"Annotate")
            || name.starts_with(b"WTFAnnotate")
            || name.starts_with(b"__tsan_mutex_") =>
        {
            super::nothing as *const () as usize
        }
        _ => return None,
    };
    Some(To::Here(function))
}

unsafe extern "C" fn ignore<const BEGIN: bool>() -> usize {
    HIDDEN.store(true, Ordering::Relaxed);
    if let Some(own) = own() {
        let now = own.ignores.load(Ordering::Relaxed);
        own.ignores.store(if BEGIN { now + 1 } else { now.saturating_sub(1) }, Ordering::Relaxed);
    }
    1
}

/// Whether any thread excluded accesses from checking.
static HIDDEN: AtomicBool = AtomicBool::new(false);

/// Returns whether some accesses were excluded from checking so far.
pub(super) fn hide_accesses() -> bool {
    HIDDEN.load(Ordering::Relaxed)
}

/// The first address, and the end.
static BENIGN: [[AtomicUsize; 2]; MOST] = [const { [const { AtomicUsize::new(0) }; 2] }; MOST];
static COUNT: AtomicUsize = AtomicUsize::new(0);
/// Maximum number of memory areas that annotations can name; others are checked as usual.
const MOST: usize = 256;

unsafe extern "C" fn benign(_file: *const c_char, _line: c_int, at: usize, size: c_long) {
    excuse(at, size as usize);
}

/// Declares races on this memory benign.
pub(crate) fn excuse(at: usize, size: usize) {
    if let Some([from, to]) = BENIGN.get(COUNT.fetch_add(1, Ordering::Relaxed)) {
        from.store(at, Ordering::Relaxed);
        to.store(at + size, Ordering::Relaxed);
    }
}

unsafe extern "C" fn benign_byte(file: *const c_char, line: c_int, at: usize) {
    benign(file, line, at, 1);
}

/// Returns whether races on this byte are benign.
pub(super) fn is_benign(byte: usize) -> bool {
    let known = &BENIGN[..COUNT.load(Ordering::Relaxed).min(MOST)];
    known.iter().any(|[from, to]| (from.load(Ordering::Relaxed)..to.load(Ordering::Relaxed)).contains(&byte))
}
