//! Functions that run when the program ends: those of `atexit`, and the destructors of global objects.
//!
//! Instrumented ones are seen like all other code. An object file compiled without instrumentation registers its own, usually
//! before `main`. They matter if they run while the program has other threads.

use crate::sync::{interpose, real};
use crate::{Global, free, outcome, reach, schedule};

interpose! {
    __cxa_atexit => register, "rcx";
}

unsafe extern "C" {
    // The linker defines these bounds of the executable's array of functions that run at the end.
    static __fini_array_start: [usize; 0];
    static __fini_array_end: [usize; 0];
}

const MOST: usize = 64;
/// Uninstrumented functions that run at the end; if there are more, the first ones.
static UNSEEN: Global<[usize; MOST]> = Global::new([0; MOST]);

/// Whether the program has registered a function.
static REGISTERED: Global<bool> = Global::new(false);

/// Returns whether code of the program runs at the end.
pub(crate) unsafe fn are_there() -> bool {
    REGISTERED.get() || of_executable().next().is_some()
}

unsafe extern "C" fn register(function: usize, argument: usize, library: usize, _code: usize) -> i32 {
    if reach::is_marked(function) || outcome::in_executable(function) {
        REGISTERED.set(true);
    }
    if !reach::is_marked(function) {
        let known = &mut *UNSEEN.ptr();
        if let Some(free) = known.iter_mut().find(|known| matches!(**known, 0) || **known == function) {
            *free = function;
        }
    }
    let register: extern "C" fn(usize, usize, usize) -> i32 = core::mem::transmute(real::at_exit());
    register(function, argument, library)
}

/// Returns the functions of the executable's array, from the last that runs to the first. The first belongs to the runtime, the
/// next to the C compiler, which touches nothing of the program.
unsafe fn of_executable() -> impl Iterator<Item = usize> {
    const NOT_THE_PROGRAMS: usize = 2;
    let (start, end) = (&raw const __fini_array_start as *const usize, &raw const __fini_array_end as *const usize);
    (NOT_THE_PROGRAMS..end.offset_from(start).max(0) as usize).map(move |index| *start.add(index))
}

/// Notes that the program ends while there are other threads.
pub(crate) unsafe fn begin(code: usize) {
    if free::is_on() || !schedule::running() {
        return;
    }
    let registered = (*UNSEEN.ptr()).iter().copied().take_while(|&function| function != 0);
    registered.chain(of_executable()).for_each(|function| reach::handed(function, code));
}
