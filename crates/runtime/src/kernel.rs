//! Threads as kernel threads: each thread of the program has its own, and all but one of them wait.
//!
//! A thread still starts as a fiber ([`crate::fiber`]): a context that can be resumed. At its first turn a kernel thread
//! is created that resumes that context, with the thread's own stack and fs base. From then on a switch is a *hand-over*:
//! save the own context, wake the next kernel thread, wait until the turn comes back.
//!
//! A waiting kernel thread uses only registers. Its stack belongs to the saved context, which [`crate::fiber::rewind`] may
//! replace meanwhile.
//!
//! A forked process has only one kernel thread. It has the contexts of the others in its memory, so they get new kernel
//! threads when their turn comes: pools, snapshots and threads of static constructors work as with fibers.

use crate::thread::{Thread, current};
use crate::{Global, fiber, outcome, sys};
use core::arch::global_asm;
use core::mem::offset_of;
use racehunter_abi::control::OUTCOME_TOO_MANY_THREADS;

/// The kernel thread of a thread.
#[repr(C)]
pub(crate) struct Beneath {
    /// A futex: 1 if it is this thread's turn.
    turn: u32,
    /// Its number in the kernel.
    tid: u32,
    /// The process in which it was created, as a number of [`PROCESS`].
    process: u32,
    /// `stack_t`: the stack of its handlers of fatal signals.
    alternate: [usize; 3],
}

/// 0 while threads are fibers. Otherwise counts the processes along the chain of forks: kernel threads of an earlier
/// one do not exist in this one.
#[unsafe(link_section = ".data.racehunter")]
static PROCESS: Global<u32> = Global::new(0);
/// Number of kernel threads of this process.
#[unsafe(link_section = ".data.racehunter")]
static MADE: Global<u32> = Global::new(1);
/// The offset from the fs base at which the C library keeps the kernel's number of a thread; 0 if unknown.
#[unsafe(link_section = ".data.racehunter")]
static TID_OFFSET: Global<usize> = Global::new(0);

global_asm!(
    r#"
    .text
    .p2align 4
    .type rh_hand_over,@function
rh_hand_over:                       # rdi = own thread, rsi = the thread whose turn it is
    .cfi_startproc                  # debuggers want to see the stacks of those who wait
    push rbp
    push rbx
    push r12
    push r13
    push r14
    push r15
    sub rsp, 8
    .cfi_def_cfa rsp, 64
    .cfi_offset rbp, -16
    .cfi_offset rbx, -24
    .cfi_offset r12, -32
    .cfi_offset r13, -40
    .cfi_offset r14, -48
    .cfi_offset r15, -56
    stmxcsr [rsp]
    fnstcw [rsp + 4]
    mov [rdi + {rsp_at}], rsp
    mov r12, rdi
    mov dword ptr [rsi + {turn}], 1
    lea rdi, [rsi + {turn}]
    mov eax, {futex}
    mov esi, {wake}
    mov edx, 1
    syscall
rh_await_turn:                      # r12 = own thread
    cmp dword ptr [r12 + {turn}], 0
    jne 1f
    lea rdi, [r12 + {turn}]
    mov eax, {futex}
    mov esi, {wait}
    xor edx, edx
    xor r10d, r10d
    syscall
    jmp rh_await_turn
1:  mov dword ptr [r12 + {turn}], 0
    mov rsp, [r12 + {rsp_at}]
    fldcw [rsp + 4]
    ldmxcsr [rsp]
    add rsp, 8
    pop r15
    pop r14
    pop r13
    pop r12
    pop rbx
    pop rbp
    .cfi_def_cfa rsp, 8
    ret
    .cfi_endproc
    .size rh_hand_over, . - rh_hand_over

    .type rh_adopt,@function
rh_adopt:                           # rdi = thread, rsi = flags of clone, rdx = where the C library keeps the number
    push r12
    mov r12, rdi
    mov r10, rdx
    mov rdi, rsi
    mov rsi, [r12 + {rsp_at}]
    lea rdx, [r12 + {tid}]
    mov r8, [r12 + {fs}]
    mov eax, {clone}
    syscall
    test eax, eax
    jz 1f
    pop r12
    ret
1:  mov eax, {sigaltstack}          # the new kernel thread
    lea rdi, [r12 + {alternate}]
    xor esi, esi
    syscall
    jmp rh_await_turn
    .size rh_adopt, . - rh_adopt
    "#,
    rsp_at = const offset_of!(Thread, rsp),
    fs = const offset_of!(Thread, fs),
    turn = const offset_of!(Thread, kernel) + offset_of!(Beneath, turn),
    tid = const offset_of!(Thread, kernel) + offset_of!(Beneath, tid),
    alternate = const offset_of!(Thread, kernel) + offset_of!(Beneath, alternate),
    futex = const sys::FUTEX,
    wait = const sys::FUTEX_WAIT_PRIVATE,
    wake = const sys::FUTEX_WAKE_PRIVATE,
    clone = const sys::CLONE,
    sigaltstack = const sys::SIGALTSTACK,
);

unsafe extern "C" {
    fn rh_hand_over(own: *mut Thread, next: *mut Thread);
    fn rh_adopt(t: *mut Thread, flags: usize, library_tid: usize) -> i32;
}

/// Returns whether every thread has its own kernel thread.
#[inline(always)]
pub(crate) fn in_use() -> bool {
    PROCESS.get() != 0
}

/// Makes threads kernel threads from here on. The process was just forked, so the running one is its only one.
pub(crate) unsafe fn begin() {
    const GET_TID_ADDRESS: usize = 40;
    let mut address = 0_usize;
    // After a fork the C library has the kernel clear this word at the end of the thread: it is where the number is kept.
    let result = sys::call(sys::PRCTL, GET_TID_ADDRESS, &raw mut address as usize, 0, 0);
    TID_OFFSET.set(if result == 0 && address != 0 { address.wrapping_sub(fiber::fs_base()) } else { 0 });
    PROCESS.set(1);
    settle();
}

/// Called in a process that was just forked: the running kernel thread is its only one.
pub(crate) unsafe fn forked() {
    if in_use() {
        PROCESS.set(PROCESS.get() + 1);
        settle();
    }
}

unsafe fn settle() {
    MADE.set(1);
    let own = &raw mut (*current()).kernel;
    (*own).process = PROCESS.get();
    (*own).turn = 0;
    (*own).tid = id();
}

/// Returns the kernel's number of the running kernel thread.
pub(crate) unsafe fn id() -> u32 {
    sys::call(sys::GETTID, 0, 0, 0, 0) as u32
}

/// Returns the number of kernel threads that the runtime knows.
pub(crate) fn known() -> u32 {
    MADE.get()
}

/// Sends a signal to the kernel thread of `t`.
pub(crate) unsafe fn send(t: *const Thread, signal: usize) {
    if (*t).kernel.process == PROCESS.get() {
        let pid = sys::call(sys::GETPID, 0, 0, 0, 0) as usize;
        sys::call(sys::TGKILL, pid, (*t).kernel.tid as usize, signal, 0);
    }
}

/// Gives the turn to `next`. Returns when it comes back.
pub(crate) unsafe fn hand_over(from: *mut Thread, next: *mut Thread) {
    if (*next).kernel.process != PROCESS.get() {
        adopt(next);
    }
    rh_hand_over(from, next);
}

/// Creates a kernel thread that resumes the saved context of `t` when it gets the turn.
unsafe fn adopt(t: *mut Thread) {
    const THREAD: usize = 0x100 | 0x200 | 0x400 | 0x800 | 0x1_0000 | 0x4_0000;
    const SET_TLS_AND_TID: usize = 0x8_0000 | 0x10_0000;
    const SET_LIBRARY_TID: usize = 0x100_0000;
    const ALTERNATE_STACK: usize = 64 << 10;
    let kernel = &raw mut (*t).kernel;
    if (*kernel).alternate[0] == 0 {
        (*kernel).alternate = [sys::reserve(0, ALTERNATE_STACK) as usize, 0, ALTERNATE_STACK];
    }
    (*kernel).turn = 0;
    let (flags, library_tid) = match TID_OFFSET.get() {
        0 => (THREAD | SET_TLS_AND_TID, 0),
        offset => (THREAD | SET_TLS_AND_TID | SET_LIBRARY_TID, (*t).fs.wrapping_add(offset)),
    };
    if rh_adopt(t, flags, library_tid) < 0 {
        outcome::finish(OUTCOME_TOO_MANY_THREADS);
    }
    (*kernel).process = PROCESS.get();
    MADE.set(MADE.get() + 1);
}
