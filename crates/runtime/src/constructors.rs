//! Programs that do something before `main`: static constructors that create threads, or end the program.
//!
//! Executions begin just before `main`, so that constructors run once for all of them. If that would leave out something to
//! explore, the process restarts the same program, with executions that begin before all constructors.

use crate::io::children;
use crate::world::copies;
use crate::{Global, server, sys};
use core::ffi::{CStr, c_char};

/// The arguments of the program.
#[unsafe(link_section = ".data.racehunter")]
static ARGUMENTS: Global<*const *const c_char> = Global::new(core::ptr::null());
/// The environment with which it was started.
#[unsafe(link_section = ".data.racehunter")]
static ENVIRONMENT: Global<*const *const c_char> = Global::new(core::ptr::null());
/// Whether `main` was about to be called, or executions begin before that.
#[unsafe(link_section = ".data.racehunter")]
static IS_READY: Global<bool> = Global::new(false);

/// Whether `main` was called.
#[unsafe(link_section = ".data.racehunter")]
static IS_PAST: Global<bool> = Global::new(false);

/// Set for a program that has to be under control before its static constructors.
const EARLY: &CStr = c"RACEHUNTER_EARLY";
/// Set by the controller.
pub(crate) const SERVER: &CStr = c"RACEHUNTER_SERVER";

/// Runs before all constructors, including those of libraries. If executions begin here, each of them runs the constructors.
unsafe extern "C" fn before_constructors(_argc: i32, argv: *const *const c_char, environment: *const *const c_char) {
    copies::begin();
    crate::tsan::__tsan_init();
    ARGUMENTS.set(argv);
    ENVIRONMENT.set(environment);
    children::watch_forks();
    if has_variable(EARLY) {
        IS_READY.set(true);
        server::take_control();
    }
}

/// Returns whether the process was started with an environment variable. The C library does not know before its own
/// constructors.
pub(crate) unsafe fn has_variable(name: &CStr) -> bool {
    value_of(name).is_some()
}

/// Returns whether a string is one of those that the process was started with.
pub(crate) unsafe fn has_string(text: *const u8) -> bool {
    variables().any(|variable| variable.cast() == text)
}

/// Returns the value of an environment variable.
pub(crate) unsafe fn value_of(name: &CStr) -> Option<*const c_char> {
    let name = name.to_bytes();
    let named = |variable: &*const c_char| {
        let text = CStr::from_ptr(*variable).to_bytes();
        text.starts_with(name) && text.get(name.len()) == Some(&b'=')
    };
    variables().find(named).map(|variable| variable.add(name.len() + 1))
}

pub(crate) unsafe fn variables() -> impl Iterator<Item = *const c_char> {
    let all = ENVIRONMENT.get();
    (0..)
        .map_while(move |i| if all.is_null() { None } else { Some(*all.add(i)).filter(|variable| !variable.is_null()) })
}

#[used]
#[unsafe(link_section = ".preinit_array")]
static BEFORE_CONSTRUCTORS: unsafe extern "C" fn(i32, *const *const c_char, *const *const c_char) = before_constructors;

/// Called when a static constructor creates a thread, changes a file, opens something, or ends the program. The server has to
/// begin before that: restarts the program with executions that begin before all constructors.
pub(crate) unsafe fn before_main() {
    if !IS_READY.get() && !server::has_controller() {
        begin_before_main();
    }
}

/// Restarts the program with executions that begin before all constructors. Returns if that did not help before, or is not
/// possible.
pub(crate) unsafe fn begin_before_main() {
    const EXECVE: usize = 59;
    if has_variable(EARLY) || !has_variable(SERVER) {
        return;
    }
    let count = variables().count();
    let changed = sys::reserve(0, (count + 2) * size_of::<usize>()) as *mut *const c_char;
    if !changed.is_null() {
        core::ptr::copy_nonoverlapping(ENVIRONMENT.get(), changed, count);
        *changed.add(count) = c"RACEHUNTER_EARLY=1".as_ptr();
        sys::call(EXECVE, c"/proc/self/exe".as_ptr() as usize, ARGUMENTS.get() as usize, changed as usize, 0);
    }
    // It cannot be restarted, so constructors are not under control.
    IS_READY.set(true);
}

/// Notes that `main` is about to be called.
pub(crate) fn is_over() {
    IS_READY.set(true);
    IS_PAST.set(true);
}

/// Returns whether `main` was called.
pub(crate) fn is_past() -> bool {
    IS_PAST.get()
}
