//! Helpers for tests that RaceHunter hunts. They are optional: `cargo racehunter test` works on unchanged crates.
//!
//! [`check`] runs a short test many times in one process, which is faster than one process per execution. [`nondet`]
//! explores both outcomes of a choice. In a program that RaceHunter has not built, or does not control, `check(f)` is
//! `f()` and `nondet()` is `false`, so the same test is also an ordinary one.
//!
//! ```no_run
//! #[test]
//! fn both_arrive() {
//!     racehunter::check(|| {
//!         let count = std::sync::atomic::AtomicU32::new(0);
//!         std::thread::scope(|scope| {
//!             for _ in 0..2 {
//!                 scope.spawn(|| count.fetch_add(1, std::sync::atomic::Ordering::Relaxed));
//!             }
//!         });
//!         assert_eq!(count.into_inner(), 2);
//!     });
//! }
//! ```
//!
//! This crate has no dependencies, and knows RaceHunter only by the names of three functions that its runtime exports.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

unsafe extern "C" {
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
}

/// Returns the address of a function of the runtime, if the program is linked with it.
fn find(name: &CStr) -> Option<*mut c_void> {
    // SAFETY: a null handle means the default search order on Linux; the name is a C string.
    let symbol = unsafe { dlsym(std::ptr::null_mut(), name.as_ptr()) };
    (!symbol.is_null()).then_some(symbol)
}

/// Returns true if RaceHunter controls the threads of this process.
#[must_use]
pub fn is_hunting() -> bool {
    find(c"racehunter_on_start").is_some() && std::env::var_os("RACEHUNTER_SERVER").is_some()
}

/// Runs `test` in this process once for every execution that RaceHunter wants. Without RaceHunter, runs it once.
///
/// When `test` returns, every thread that it created must have ended, and nothing outside the test may have changed:
/// only the schedule differs from one execution to the next. A panic ends the loop, as it ends any test.
pub fn check(mut test: impl FnMut()) {
    let (Some(start), Some(restart)) = (find(c"racehunter_on_start"), find(c"racehunter_on_restart")) else {
        return test();
    };
    // SAFETY: the runtime defines them with these types, see its header.
    let start: extern "C" fn() = unsafe { std::mem::transmute(start) };
    // SAFETY: as above.
    let restart: extern "C" fn() -> c_int = unsafe { std::mem::transmute(restart) };
    loop {
        // A token that the last execution has left would end a wait of this one: `thread::scope` parks, for example.
        thread::current().unpark();
        thread::park();
        start();
        test();
        if restart() == 0 {
            return;
        }
    }
}

/// Returns either value: RaceHunter explores both, like choices of the schedule. Without RaceHunter, returns `false`.
#[must_use]
pub fn nondet() -> bool {
    if !is_hunting() {
        return false;
    }
    let chosen = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| chosen.store(true, Ordering::SeqCst));
        chosen.load(Ordering::SeqCst)
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn without_racehunter_a_check_is_a_call() {
        let mut calls = 0;
        super::check(|| calls += 1);
        assert_eq!(calls, 1);
        assert!(!super::nondet());
        assert!(!super::is_hunting());
    }
}
