//! Calls of `std::thread`, and threads that share an exception.
//!
//! Starting, joining and detaching a thread are functions of the C++ library, which call those of POSIX. A report should
//! name the program's place, one frame up. These functions are therefore intercepted: their caller is noted, and the
//! library's own take over.
//!
//! The symbols are weak. A program that is linked with the library's archive already has them.

use super::real;
use crate::atomics::atomic_update;
use crate::thread::CURRENT;
use crate::tsan::{NO_FRAME, site_of};
use crate::{Global, annotations, hooks, schedule, server};
use core::arch::global_asm;
use racehunter_abi::control::MAX_THREADS;

/// The program's call that the library is executing, if any.
static CALLER: Global<usize> = Global::new(0);

/// Returns the place of a call: where the program called the C++ library, if `code` is inside it.
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

/// Notes that a reference to an exception is dropped. The library counts references, and the thread that drops the last one
/// destroys the exception: everything done through the others comes before that.
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

/// The start of the library's data about an exception that is being handled.
#[repr(C)]
struct Handled {
    /// The exception that this one refers to, if it does.
    primary: usize,
    unused: [usize; 9],
    /// Its lowest bit: whether it refers to another one.
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

/// What `set_value_at_thread_exit` and related functions leave to the end of the thread: an element in the library's list,
/// which refers weakly to the shared state.
#[repr(C)]
struct MakeReady {
    next: usize,
    callback: unsafe extern "C" fn(*const MakeReady),
    state: *const SharedState,
    owners: *const Owners,
}

#[repr(C)]
struct SharedState {
    functions: usize,
    result: usize,
    /// The word that threads wait for.
    status: u32,
}

/// The counts of a shared pointer.
#[repr(C)]
struct Owners {
    functions: usize,
    uses: u32,
}

/// The library's callback, which is the same for all.
static MAKE_READY: Global<usize> = Global::new(0);
/// Where each thread last requested it.
static ASKED_AT: Global<[usize; MAX_THREADS]> = Global::new([0; MAX_THREADS]);

/// The library makes a future ready when the thread ends, by an atomic store in its own code. The store is announced here,
/// so that it is a point, and orders what came before it with threads that see it.
unsafe extern "C" fn ready_at_exit(element: *mut MakeReady, caller: usize) {
    let register: extern "C" fn(*mut MakeReady) = core::mem::transmute(real::make_ready());
    register(element);
    MAKE_READY.set((*element).callback as usize);
    (*element).callback = becomes_ready;
    (*ASKED_AT.ptr())[CURRENT.get().index()] = caller;
}

unsafe extern "C" fn becomes_ready(element: *const MakeReady) {
    const RELEASE: u32 = 3;
    let MakeReady { state, owners, .. } = *element;
    if schedule::running() && !owners.is_null() && (*owners).uses != 0 {
        let (status, code) = (&raw const (*state).status as usize, (*ASKED_AT.ptr())[CURRENT.get().index()]);
        atomic_update(status, site_of(code), 4 | RELEASE << 8, code, NO_FRAME);
    }
    let real: unsafe extern "C" fn(*const MakeReady) = core::mem::transmute(MAKE_READY.get());
    real(element);
}

global_asm!(
    ".weak _ZNSt13__future_base13_State_baseV211_Make_ready6_M_setEv",
    ".type _ZNSt13__future_base13_State_baseV211_Make_ready6_M_setEv,@function",
    "_ZNSt13__future_base13_State_baseV211_Make_ready6_M_setEv:",
    "mov rsi, [rsp]",
    "jmp {}",
    ".size _ZNSt13__future_base13_State_baseV211_Make_ready6_M_setEv, . - _ZNSt13__future_base13_State_baseV211_Make_ready6_M_setEv",
    sym ready_at_exit,
);

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
    assert!(core::mem::offset_of!(SharedState, status) == 16);
    assert!(core::mem::offset_of!(MakeReady, state) == 16);
    assert!(core::mem::offset_of!(Owners, uses) == 8);
};
