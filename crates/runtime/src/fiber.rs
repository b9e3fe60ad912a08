//! Threads as fibers: every thread of the program runs on one kernel thread.
//!
//! *Harvesting*: a thread is made by the C library's own `pthread_create`, so that its thread control block,
//! thread-local storage and stack are real. Its first act ([`begin`]) is to save its context and end only the kernel
//! thread underneath. From then on it is a fiber: a stack pointer and an fs base that [`rh_fiber_switch`] can go to,
//! or that [`crate::kernel`] can give a new kernel thread to.

use crate::schedule::now;
use crate::thread::{__rh_stack, COUNT, CURRENT, Thread, prepare, thread};
use crate::{Global, clock, float, kernel, signals, storage, sync, sys};
use core::arch::global_asm;
use core::mem::offset_of;
use core::sync::atomic::{AtomicU32, Ordering};
use racehunter_abi::ThreadId;

/// What is needed to reuse a fiber in an in-process loop: the stack below the trampoline's frame, as it was when the
/// fiber was parked.
#[repr(C)]
pub(crate) struct Parked {
    rsp: usize,
    len: usize,
    words: [usize; PARKED_WORDS],
}

/// Words from the parked stack pointer to the trampoline's return address, with room to spare.
const PARKED_WORDS: usize = 64;

global_asm!(
    r#"
    .text
    .p2align 4
    .type rh_fiber_switch,@function
rh_fiber_switch:                    # rdi = where to save the stack pointer, rsi = new stack pointer, rdx = new fs base
    push rbp
    push rbx
    push r12
    push r13
    push r14
    push r15
    sub rsp, 8
    stmxcsr [rsp]
    fnstcw [rsp + 4]
    mov [rdi], rsp
    cmp byte ptr [rip + {fsgsbase}], 0
    je 2f
    wrfsbase rdx
    mov rsp, rsi
1:  fldcw [rsp + 4]
    ldmxcsr [rsp]
    add rsp, 8
    pop r15
    pop r14
    pop r13
    pop r12
    pop rbx
    pop rbp
    ret
2:  mov rsp, rsi                    # no FSGSBASE: arch_prctl(ARCH_SET_FS)
    mov rsi, rdx
    mov edi, {set_fs}
    mov eax, {arch_prctl}
    syscall
    jmp 1b
    .size rh_fiber_switch, . - rh_fiber_switch

    .type rh_park,@function
rh_park:                            # rdi = thread: save the context, end the kernel thread, come back as a fiber
    push rbp
    push rbx
    push r12
    push r13
    push r14
    push r15
    sub rsp, 8
    stmxcsr [rsp]
    fnstcw [rsp + 4]
    mov [rdi + {rsp_at}], rsp
    mov r12, rdi
    mov eax, {set_tid_address}      # the kernel must not clear the real tid field at exit
    lea rdi, [rip + rh_no_tid]
    syscall
    mov eax, {sigprocmask}          # no signal may come here from now on, for its frame would be on the
    mov edi, {set_mask}             # stack of a fiber that runs already
    lea rsi, [rip + rh_all_signals]
    xor edx, edx
    mov r10d, 8
    syscall
    mov dword ptr [r12 + {harvested}], 1
    mov eax, {futex}
    lea rdi, [r12 + {harvested}]
    mov esi, {wake}
    mov edx, 1
    syscall
    mov eax, {exit}                 # this kernel thread only
    xor edi, edi
    syscall
    ud2
    .size rh_park, . - rh_park

    .globl rh_trampoline
    .type rh_trampoline,@function
rh_trampoline:                      # start routine; has unwind information, since pthread_exit unwinds through it
    .cfi_startproc
    push rbx
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset rbx, 0
    mov rbx, rdi
    mov [rbx + {result}], rsp       # end of what a fiber needs to be used again, see `harvest`
    call {begin}
    mov rdi, [rbx + {argument}]
    call [rbx + {start}]
rh_start_returns:
    mov [rbx + {result}], rax
    pop rbx
    .cfi_adjust_cfa_offset -8
    ret
    .cfi_endproc
    .size rh_trampoline, . - rh_trampoline
    .section .rodata
    .p2align 3
rh_all_signals:
    .quad -1
    .text
    .local rh_no_tid
    .comm rh_no_tid, 8, 8
    "#,
    fsgsbase = sym FSGSBASE,
    arch_prctl = const sys::ARCH_PRCTL,
    set_fs = const sys::SET_FS,
    set_tid_address = const sys::SET_TID_ADDRESS,
    sigprocmask = const sys::SIGPROCMASK,
    set_mask = const sys::SET_MASK,
    futex = const sys::FUTEX,
    wake = const sys::FUTEX_WAKE_PRIVATE,
    exit = const sys::EXIT,
    rsp_at = const offset_of!(Thread, rsp),
    harvested = const offset_of!(Thread, harvested),
    argument = const offset_of!(Thread, argument),
    start = const offset_of!(Thread, start),
    result = const offset_of!(Thread, result),
    begin = sym begin,
);

unsafe extern "C" {
    fn pthread_attr_getstacksize(attributes: *const u8, size: *mut usize) -> i32;
    fn rh_fiber_switch(save: *mut usize, rsp: usize, fs: usize);
    fn rh_park(t: *mut Thread);
    fn rh_trampoline(t: *mut Thread) -> usize;
    fn rh_start_returns();
}

/// Returns the address to which the start routine of a thread returns.
pub(crate) fn start_returns_to() -> usize {
    rh_start_returns as *const () as usize
}

/// Whether user code may set the fs base itself.
#[unsafe(link_section = ".data.racehunter")]
static FSGSBASE: Global<u8> = Global::new(0);

/// Reads the fs base: the C library keeps it at offset 0 of the thread control block.
pub(crate) fn fs_base() -> usize {
    let base;
    // SAFETY: the first word of the thread control block points to itself.
    unsafe { core::arch::asm!("mov {}, fs:0", out(reg) base, options(nostack, readonly)) };
    base
}

/// Detects what the processor and kernel support, and makes the main thread a fiber.
pub(crate) unsafe fn init(auxiliary_hwcap2: usize) {
    const HWCAP2_FSGSBASE: usize = 2;
    FSGSBASE.set(u8::from(auxiliary_hwcap2 & HWCAP2_FSGSBASE != 0));
    (*thread(ThreadId::MAIN)).fs = fs_base();
    (*thread(ThreadId::MAIN)).handle = fs_base();
}

/// Continues with thread `to`. Returns when something switches back.
pub(crate) unsafe fn switch_to(to: ThreadId) {
    let from = thread(CURRENT.get());
    let next = thread(to);
    (*from).stack_top = __rh_stack.get();
    CURRENT.set(to);
    __rh_stack.set((*next).stack_top);
    clock::load_epoch();
    if kernel::in_use() {
        kernel::hand_over(from, next);
    } else {
        let exceptions = float::exceptions();
        rh_fiber_switch(&raw mut (*from).rsp, (*next).rsp, (*next).fs);
        float::set_exceptions(exceptions);
    }
}

/// First act of a thread of the program: on its own kernel thread up to `rh_park`, as a fiber after it.
unsafe extern "C" fn begin(t: *mut Thread) {
    (*t).fs = fs_base();
    rh_park(t);
    if !kernel::in_use() {
        float::set_exceptions((*t).exceptions);
    }
    sync::keys::arm(t);
    // It may have been sent a signal before its first turn.
    signals::deliver();
}

/// Makes a thread entry into a fiber that will call its `start` when it is first switched to. Returns an errno.
pub(crate) unsafe fn harvest(t: *mut Thread, attributes: *const u8) -> i32 {
    (*t).harvested = 0;
    (*t).stack_size = stack_size(attributes);
    let create: extern "C" fn(*mut usize, *const u8, usize, *mut Thread) -> i32 =
        core::mem::transmute(sync::real::create());
    let error = create(&raw mut (*t).handle, attributes, rh_trampoline as *const () as usize, t);
    if error != 0 {
        return error;
    }
    let harvested = AtomicU32::from_ptr(&raw mut (*t).harvested);
    while harvested.load(Ordering::Acquire) == 0 {
        sys::futex_wait(harvested.as_ptr(), 0);
    }
    let parked = &raw mut (*t).fiber;
    (*parked).rsp = (*t).rsp;
    // Up to and including the trampoline's saved register and return address; the rest belongs to the C library.
    (*parked).len = ((*t).result - (*t).rsp) / 8 + 2;
    assert!((*parked).len <= PARKED_WORDS);
    core::ptr::copy_nonoverlapping((*t).rsp as *const usize, &raw mut (*parked).words as *mut usize, (*parked).len);
    0
}

/// A thread starts with the floating-point environment of its creator.
pub(crate) unsafe fn inherit(t: *mut Thread) {
    if !kernel::in_use() {
        // Where `rh_park` has saved them.
        float::save_modes((*t).rsp as *mut [u32; 2]);
        (*t).exceptions = float::exceptions();
    }
}

/// Returns the stack size of a thread with these attributes, including what the C library keeps there.
unsafe fn stack_size(attributes: *const u8) -> usize {
    const PRLIMIT: usize = 302;
    const STACK: usize = 3;
    /// If there is no limit.
    const USUAL: u64 = 2 << 20;
    let mut size = 0;
    if !attributes.is_null() && pthread_attr_getstacksize(attributes, &mut size) == 0 {
        return size;
    }
    let mut limits = [0_u64; 2];
    sys::call(PRLIMIT, 0, STACK, 0, limits.as_mut_ptr() as usize);
    if limits[0] > 1 << 40 { USUAL as usize } else { limits[0] as usize }
}

/// Resets a fiber whose thread has ended to the state in which it was harvested.
pub(crate) unsafe fn rewind(t: *mut Thread) {
    let parked = &raw const (*t).fiber;
    if (*t).rsp == (*parked).rsp {
        return;
    }
    (*t).rsp = (*parked).rsp;
    core::ptr::copy_nonoverlapping(&raw const (*parked).words as *const usize, (*t).rsp as *mut usize, (*parked).len);
    (*(*t).stack).code = 0;
    storage::reset((*t).fs);
}

/// Returns whether a thread that is not running has ever had a turn.
pub(crate) unsafe fn was_left(t: *const Thread) -> bool {
    (*t).rsp != (*t).fiber.rsp
}

/// Whether creating a thread runs code of the program, which has its own allocator.
#[unsafe(link_section = ".data.racehunter")]
static RUNS_PROGRAM: Global<bool> = Global::new(false);

/// Harvests threads 1 to `count` ahead of time, so that creating them later costs next to nothing. Their numbers are
/// those of the first threads of an execution. Does nothing if that would take events out of executions.
pub(crate) unsafe fn fill_pool(count: u32) -> bool {
    // Threads of static constructors are already in use.
    for number in (COUNT.get()..=count).map(ThreadId) {
        let t = thread(number);
        if !(*t).from_pool && !RUNS_PROGRAM.get() {
            let before = now();
            prepare(number);
            if harvest(t, core::ptr::null()) != 0 {
                return false;
            }
            RUNS_PROGRAM.set(now() != before);
            (*t).from_pool = !RUNS_PROGRAM.get();
        }
    }
    true
}
