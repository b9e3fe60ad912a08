//! Where the program uses `std::thread`, and which threads share an exception.
//!
//! Starting, joining and detaching a thread are functions of the C++ library, which call those of POSIX. A report
//! should name the program's place, one frame up. These functions are therefore intercepted: their caller is noted,
//! and the library's own take over.
//!
//! The symbols are weak. A program that is linked with the library's archive has them already.

use super::real;
use crate::{Global, annotations, hooks, schedule, server};
use core::arch::global_asm;

/// The program's call that the library is executing, if any.
static CALLER: Global<usize> = Global::new(0);

/// The place of a call: where the program called the C++ library, if `code` is in there.
pub(super) fn place(code: usize) -> usize {
    let caller = CALLER.get();
    CALLER.set(0);
    let (start, end) = server::executable();
    if caller == 0 || (start..end).contains(&code) { code } else { caller }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn rh_cxx_start(caller: usize, thread: usize) -> usize {
    CALLER.set(caller);
    hooks::wrote(thread, size_of::<usize>(), caller);
    real::cxx_start()
}

#[unsafe(no_mangle)]
unsafe extern "C" fn rh_cxx_join(caller: usize, thread: usize) -> usize {
    CALLER.set(caller);
    hooks::wrote(thread, size_of::<usize>(), caller);
    real::cxx_join()
}

#[unsafe(no_mangle)]
unsafe extern "C" fn rh_cxx_detach(caller: usize, thread: usize) -> usize {
    CALLER.set(caller);
    hooks::wrote(thread, size_of::<usize>(), caller);
    real::cxx_detach()
}

/// A reference to an exception is dropped. The library counts references, and the thread that drops the last one
/// destroys the exception: everything that was done through the others comes before that.
unsafe fn gives_up(exception: usize) {
    if exception != 0 && schedule::running() {
        annotations::counted(exception);
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn rh_exception_release(_caller: usize, pointer: *const usize) -> usize {
    gives_up(*pointer);
    real::exception_release()
}

#[unsafe(no_mangle)]
unsafe extern "C" fn rh_exception_destroy(_caller: usize, pointer: *const usize) -> usize {
    gives_up(*pointer);
    real::exception_destroy()
}

#[unsafe(no_mangle)]
unsafe extern "C" fn rh_exception_destroy_base(_caller: usize, pointer: *const usize) -> usize {
    gives_up(*pointer);
    real::exception_destroy_base()
}

#[unsafe(no_mangle)]
unsafe extern "C" fn rh_exception_assign(_caller: usize, pointer: *const usize) -> usize {
    gives_up(*pointer);
    real::exception_assign()
}

/// The start of what the library keeps about an exception that is being handled.
#[repr(C)]
struct Handled {
    /// The exception that this one refers to, if it does.
    primary: usize,
    unused: [usize; 9],
    /// Its lowest bit: it refers to another one.
    class: u64,
    unwinder: [u64; 3],
}

#[unsafe(no_mangle)]
unsafe extern "C" fn rh_end_catch() -> usize {
    static GLOBALS: Global<usize> = Global::new(0);
    if GLOBALS.get() == 0 {
        GLOBALS.set(real::next(c"__cxa_get_globals"));
    }
    let globals: extern "C" fn() -> *const *const Handled = core::mem::transmute(GLOBALS.get());
    let handled = *globals();
    if !handled.is_null() {
        let stands_for_other = (*handled).class & 1 != 0;
        gives_up(if stands_for_other { (*handled).primary } else { handled.add(1) as usize });
    }
    real::end_catch()
}

// They may throw, so they are transparent to the unwinder: a call that leaves all parameters as they are, then a jump.
macro_rules! pass_through {
    ($($symbol:literal => $note:literal;)*) => { $(
        global_asm!(
            concat!(".weak ", $symbol),
            concat!(".type ", $symbol, ",@function"),
            // A pointer to a member function is one only if its address is even.
            ".p2align 4",
            concat!($symbol, ":"),
            ".cfi_startproc",
            "push rdi", "push rsi", "push rdx",
            ".cfi_adjust_cfa_offset 24",
            // The object of the thread, which all of them change.
            "mov rsi, rdi",
            "mov rdi, [rsp + 24]",
            concat!("call ", $note),
            "pop rdx", "pop rsi", "pop rdi",
            ".cfi_adjust_cfa_offset -24",
            "jmp rax",
            ".cfi_endproc",
            concat!(".size ", $symbol, ", . - ", $symbol),
        );
    )* };
}

pass_through! {
    "_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE" => "rh_cxx_start";
    "_ZNSt6thread4joinEv" => "rh_cxx_join";
    "_ZNSt6thread6detachEv" => "rh_cxx_detach";
    "_ZNSt15__exception_ptr13exception_ptr10_M_releaseEv" => "rh_exception_release";
    "_ZNSt15__exception_ptr13exception_ptrD1Ev" => "rh_exception_destroy";
    "_ZNSt15__exception_ptr13exception_ptrD2Ev" => "rh_exception_destroy_base";
    "_ZNSt15__exception_ptr13exception_ptraSERKS0_" => "rh_exception_assign";
    "__cxa_end_catch" => "rh_end_catch";
}

const _: () = {
    assert!(core::mem::offset_of!(Handled, class) == 80);
    assert!(size_of::<Handled>() == 112);
};
