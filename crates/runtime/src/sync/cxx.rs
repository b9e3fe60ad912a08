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
use core::sync::atomic::{AtomicU32, Ordering};
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
    status: AtomicU32,
}

/// The counts of a shared pointer. All owners together hold one of the weak references.
#[repr(C)]
struct Owners {
    functions: *const OwnersTable,
    uses: AtomicU32,
    weak: AtomicU32,
}

/// The virtual functions of [`Owners`].
#[repr(C)]
struct OwnersTable {
    destructors: [usize; 2],
    dispose: unsafe extern "C" fn(*const Owners),
    destroy: unsafe extern "C" fn(*const Owners),
}

/// Codes of memory orders, as the compiler passes them.
const RELAXED: u32 = 0;
const RELEASE: u32 = 3;
const ACQUIRE_RELEASE: u32 = 4;

/// Announces an atomic update of `word` by the library, which the program requested at `code`.
unsafe fn library_updates(word: *const AtomicU32, order: u32, code: usize) {
    atomic_update(word as usize, site_of(code), 4 | order << 8, code, NO_FRAME);
}

impl Owners {
    /// Adds an owner if the object still has one. Returns whether it did.
    unsafe fn join(&self, code: usize) -> bool {
        library_updates(&raw const self.uses, RELAXED, code);
        self.uses.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |uses| (uses != 0).then_some(uses + 1)).is_ok()
    }

    /// Stops being an owner. The last one disposes of the object, and of the counts if there are no weak references to them.
    unsafe fn leave(&self, code: usize) {
        library_updates(&raw const self.uses, ACQUIRE_RELEASE, code);
        if self.uses.fetch_sub(1, Ordering::AcqRel) == 1 {
            ((*self.functions).dispose)(self);
            library_updates(&raw const self.weak, ACQUIRE_RELEASE, code);
            if self.weak.fetch_sub(1, Ordering::AcqRel) == 1 {
                ((*self.functions).destroy)(self);
            }
        }
    }
}

/// The library's callback, which is the same for all.
static MAKE_READY: Global<usize> = Global::new(0);
/// Where each thread last requested it.
static ASKED_AT: Global<[usize; MAX_THREADS]> = Global::new([0; MAX_THREADS]);

/// The library makes a future ready when the thread ends, by an atomic store in its own code. [`becomes_ready`] announces the
/// store, so that it is a point, and orders what came before it with threads that see it.
unsafe extern "C" fn ready_at_exit(element: *mut MakeReady, caller: usize) {
    let register: extern "C" fn(*mut MakeReady) = core::mem::transmute(real::make_ready());
    register(element);
    MAKE_READY.set((*element).callback as usize);
    (*element).callback = becomes_ready;
    (*ASKED_AT.ptr())[CURRENT.get().index()] = caller;
}

/// Runs the library's callback as an owner of the shared state. The callback therefore never drops the last reference: that
/// is done here, where what other owners did before is ordered with the destruction.
unsafe extern "C" fn becomes_ready(element: *const MakeReady) {
    let make_ready: unsafe extern "C" fn(*const MakeReady) = core::mem::transmute(MAKE_READY.get());
    let MakeReady { state, owners, .. } = *element;
    if !schedule::running() || owners.is_null() {
        return make_ready(element);
    }
    let code = (*ASKED_AT.ptr())[CURRENT.get().index()];
    if (*owners).join(code) {
        library_updates(&raw const (*state).status, RELEASE, code);
        make_ready(element);
        (*owners).leave(code);
    } else {
        // Only its weak reference is left to drop.
        library_updates(&raw const (*owners).weak, ACQUIRE_RELEASE, code);
        make_ready(element);
    }
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
    assert!(core::mem::offset_of!(Owners, weak) == 12);
};
