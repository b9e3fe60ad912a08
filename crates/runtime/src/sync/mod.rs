//! Models of the synchronisation primitives: one file each.
//!
//! Objects are identified by their address and live in a table of the runtime ([`objects`]); the program's own memory
//! for them is read only to find out how they were initialised. Every model has the same shape: announce the
//! operation by [`crate::schedule::point`] or [`crate::schedule::acquire_point`], change the object, record
//! happens-before edges by [`crate::clock`], log, and [`crate::schedule::refresh`] the threads that wait for it.

mod attributes;
pub(crate) mod barrier;
pub(crate) mod c11;
pub(crate) mod condition;
mod cxx;
pub(crate) mod files;
pub(crate) mod futex;
pub(crate) mod handles;
pub(crate) mod keys;
pub(crate) mod misuse;
pub(crate) mod mutex;
pub(crate) mod named;
pub(crate) mod objects;
pub(crate) mod once;
pub(crate) mod real;
pub(crate) mod rwlock;
pub(crate) mod semaphore;
pub(crate) mod shared;
pub(crate) mod threads;

use crate::thread::{COUNT, State, Thread, thread, threads};
use racehunter_abi::Wait;
use racehunter_machine::sync::{self as machine, LockForm, Mode, has_cycle};
use racehunter_machine::{Clock, Held, Owner, ThreadId, Timespec};

pub(crate) const EPERM: i32 = 1;
pub(crate) const ESRCH: i32 = 3;
pub(crate) const EINTR: i32 = 4;
pub(crate) const EAGAIN: i32 = 11;
pub(crate) const ENOMEM: i32 = 12;
pub(crate) const EFAULT: i32 = 14;
pub(crate) const EBUSY: i32 = 16;
pub(crate) const EINVAL: i32 = 22;
pub(crate) const EDEADLK: i32 = 35;
pub(crate) const ETIMEDOUT: i32 = 110;
pub(crate) const ENOENT: i32 = 2;
pub(crate) const EEXIST: i32 = 17;
pub(crate) const ENAMETOOLONG: i32 = 36;
pub(crate) const EOVERFLOW: i32 = 75;
pub(crate) const EOPNOTSUPP: i32 = 95;
pub(crate) const EOWNERDEAD: i32 = 130;
pub(crate) const ENOTRECOVERABLE: i32 = 131;

/// Exports a C function whose model also needs the caller's code address: it is passed in the register of the next
/// parameter.
macro_rules! interpose {
    ($($name:ident => $model:path, $register:literal;)*) => { $(
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name() {
            core::arch::naked_asm!(concat!("mov ", $register, ", [rsp]"), "jmp {}", sym $model)
        }
    )* };
}
pub(crate) use interpose;

/// Like [`interpose!`], for cancellation points. A thread whose model has noted that it is cancelled here
/// ([`crate::signals::cancel::act`]) leaves by `pthread_exit`, as if the caller had called it, so that the unwinder sees only
/// frames of the program.
///
/// The registers that the caller wants back are below its frame meanwhile. The others, whose values mean nothing to it, are
/// the same after every call: see [`crate::schedule::spin`].
macro_rules! interpose_cancellable {
    ($($name:ident => $model:path, $register:literal;)*) => { $(
        core::arch::global_asm!(
            concat!(".globl ", stringify!($name)),
            concat!(".type ", stringify!($name), ",@function"),
            concat!(stringify!($name), ":"),
            ".cfi_startproc",
            concat!("mov ", $register, ", [rsp]"),
            "push rbx", "push rbp", "push r12", "push r13", "push r14", "push r15",
            "push r15",                     // for the alignment
            ".cfi_adjust_cfa_offset {saved}",
            "mov [rip + {caller}], rsp",
            "call {model}",
            "add rsp, {saved}",
            ".cfi_adjust_cfa_offset -{saved}",
            "xor ecx, ecx", "xor edx, edx", "xor esi, esi", "xor edi, edi",
            "xor r8d, r8d", "xor r9d, r9d", "xor r10d, r10d",
            "cmp byte ptr [rip + {cancelled}], 0",
            "jne 2f",
            "ret",
            "2: mov byte ptr [rip + {cancelled}], 0",
            "mov rdi, -1",
            "jmp pthread_exit",
            ".cfi_endproc",
            concat!(".size ", stringify!($name), ", . - ", stringify!($name)),
            saved = const crate::schedule::spin::AT_CALL,
            model = sym $model,
            caller = sym crate::schedule::spin::RH_CALLER,
            cancelled = sym crate::signals::cancel::CANCELLED,
        );
    )* };
}
pub(crate) use interpose_cancellable;

/// Returns whether the pending operation of a thread can be performed now.
pub(crate) unsafe fn available(t: *mut Thread) -> bool {
    let at = (*t).object;
    match (*t).pending {
        Wait::Nothing => true,
        Wait::Mutex => mutex::available(at, t),
        Wait::ReadLock => rwlock::available(at, Mode::Read),
        Wait::WriteLock => rwlock::available(at, Mode::Write),
        Wait::Semaphore => semaphore::available(at),
        Wait::Join => (*thread(ThreadId(at as u32))).state == State::Done,
        Wait::Once => once::available(at),
        Wait::Barrier => barrier::available(at, t),
        Wait::Condition => condition::available(t),
        Wait::Futex => (*t).signalled,
        Wait::Signal => crate::signals::awaited(t) != 0,
        Wait::File | Wait::Child => crate::io::available(t),
        Wait::Change => crate::schedule::spin::available(t),
        Wait::Sleep | Wait::Outside | Wait::Timer | Wait::Partner => false,
    }
}

/// Returns the owner of the awaited object, if there is one.
pub(crate) unsafe fn owner(wait: Wait, at: usize) -> Owner {
    match wait {
        Wait::Mutex | Wait::ReadLock | Wait::WriteLock | Wait::Once => (*objects::get(wait, at)).state.owner(),
        Wait::Join => Owner::of(ThreadId(at as u32)),
        _ => Owner::NONE,
    }
}

/// Returns whether threads wait for locks of each other, without a time-out.
pub(crate) unsafe fn holds_a_cycle() -> bool {
    has_cycle(COUNT.get(), |number| {
        let t = thread(number);
        let waits = (*t).state == State::Blocked && matches!((*t).pending, Wait::Mutex | Wait::WriteLock);
        if waits { owner((*t).pending, (*t).object).thread() } else { None }
    })
}

/// Called when no thread can continue. Releases threads that wait for a lock whose memory the program has overwritten, as
/// some kinds of locks in the C library would. Returns whether there was one.
pub(crate) unsafe fn lets_overwritten_go() -> bool {
    let mut any = false;
    for number in threads() {
        let t = thread(number);
        let (wait, at) = ((*t).pending, (*t).object);
        let looks_free = match wait {
            Wait::Mutex => mutex::looks_free(at),
            Wait::ReadLock | Wait::WriteLock => rwlock::looks_free(at),
            _ => false,
        };
        if looks_free && matches!((*t).state, State::Blocked | State::Suspended) {
            misuse::begins_again(wait, at);
            any = true;
        }
    }
    any
}

/// Returns whether an absolute time is valid.
pub(crate) unsafe fn is_time(until: *const [i64; 2]) -> bool {
    Timespec(*until).has_fraction()
}

/// Returns whether timed operations support the clock.
pub(crate) const fn is_clock(clock: i32) -> bool {
    Clock(clock).times_locks()
}

/// Handles the locks that the running thread, which has ended, still holds.
pub(crate) unsafe fn abandon_locks(t: *mut Thread) {
    for i in (0..(*t).held.named().len()).rev() {
        let Some(Held { lock: at, code }) = (*t).held.get(i) else { continue };
        match (*objects::get(Wait::Mutex, at)).state {
            machine::State::Mutex(mutex) if mutex.form() == LockForm::Mutex => mutex::abandon(at, code),
            machine::State::Rwlock(_) => misuse::end_holding(at, code),
            _ => {}
        }
    }
}

unsafe extern "C" {
    pub(crate) fn __errno_location() -> *mut i32;
}

/// Sets `errno` and returns -1.
pub(crate) unsafe fn fail(error: i32) -> i32 {
    *__errno_location() = error;
    -1
}
