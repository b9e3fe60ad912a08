//! System calls that the program makes itself, by `syscall`, and C library functions without a model.
//!
//! Calls with a model are passed to it. Calls without one that could block, order threads, or create threads are noted: nothing
//! is claimed about such a program.

use crate::io::{descriptors, transfer};
use crate::signals::{cancel, send};
use crate::sync::{fail, futex, interpose, real, threads};
use crate::world::{copies, files};
use crate::{Global, log, mappings, outcome, reach, schedule, sys, time};
use core::ffi::c_char;
use racehunter_abi::{Escape, UNMODELLED_BUFFER, UNMODELLED_FUNCTION};

const READ: usize = 0;
const WRITE: usize = 1;
const SCHED_YIELD: usize = 24;
const NANOSLEEP: usize = 35;
const GETTID: usize = 186;
const TKILL: usize = 200;

/// Calls that go to the kernel and are noted: `poll`, `ioctl`, the positioned and scattered `read` and `write`, `select`,
/// `pause`, sockets, `clone` to `execve`, `exit`, `wait4`, message queues, `semop`, `flock`, timers, `epoll`, `waitid`,
/// `splice`, `signalfd`, asynchronous input and output, `futex_waitv`.
#[rustfmt::skip]
const NOTED: [usize; 55] = [
    7, 16, 17, 18, 19, 20, 23, 34, 37, 38, 40, 42, 43, 44, 45, 46, 47, 56, 57, 58, 59, 60, 61, 65, 69, 70, 73, 128, 206, 208,
    209, 220, 222, 223, 230, 232, 242, 243, 247, 270, 271, 275, 281, 282, 283, 288, 289, 290, 295, 296, 322, 425, 426, 435, 449,
];

/// Calls that hide nothing: user ids, `sched_getaffinity`, `membarrier`.
const HARMLESS: [usize; 6] = [102, 104, 107, 108, 204, 324];
/// Calls whose result varies from execution to execution: `getpid`, `getppid`, `getcpu`, `getrandom`.
const VARYING: [usize; 4] = [39, 110, 309, 318];

/// Calls that change files, and which of their arguments are paths: `open`, `truncate`, `rename`, `mkdir`, `rmdir`, `creat`,
/// `link`, `unlink`, `symlink`, `openat`, `mkdirat`, `unlinkat`, `renameat`, `linkat`, `symlinkat`, `renameat2`.
const CHANGES: [(usize, Option<usize>, Option<usize>); 16] = [
    (2, Some(0), None),
    (76, Some(0), None),
    (82, Some(0), Some(1)),
    (83, Some(0), None),
    (84, Some(0), None),
    (85, Some(0), None),
    (86, Some(0), Some(1)),
    (87, Some(0), None),
    (88, Some(1), None),
    (257, Some(1), None),
    (258, Some(1), None),
    (263, Some(1), None),
    (264, Some(1), Some(3)),
    (265, Some(1), Some(3)),
    (266, Some(2), None),
    (316, Some(1), Some(3)),
];

#[unsafe(link_section = ".data.racehunter")]
static CODE: Global<usize> = Global::new(0);

/// The variadic function has no register left for the code address.
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn syscall() {
    core::arch::naked_asm!("mov r11, [rsp]", "mov [rip + {}], r11", "jmp {}", sym CODE, sym call)
}

unsafe extern "C" fn call(n: usize, a: usize, b: usize, c: usize, d: usize, e: usize, f: usize) -> isize {
    let code = CODE.get();
    match n {
        sys::FUTEX => futex::operate(a, b, c, d, e, f, code) as isize,
        READ => cancel::without(|| transfer::read_bytes(a as i32, b, c, code)),
        WRITE => cancel::without(|| transfer::write_bytes(a as i32, b, c, code)),
        sys::CLOSE => cancel::without(|| descriptors::close_one(a as i32, code) as isize),
        SCHED_YIELD => threads::yield_now(code) as isize,
        NANOSLEEP => cancel::without(|| time::nano_sleep(a as *const [i64; 2], b as *mut [i64; 2], code) as isize),
        sys::CLOCK_GETTIME => time::get_clock(a as i32, b as *mut [i64; 2], code) as isize,
        sys::MMAP => mappings::map([a, b, c, d, e, f], code) as isize,
        sys::MUNMAP => mappings::unmap(a, b, code) as isize,
        mappings::MREMAP => mappings::remap(a, b, c, d, e, code) as isize,
        mappings::MPROTECT => mappings::protect(a, b, c, code) as isize,
        sys::MADVISE => mappings::advise(a, b, c, code) as isize,
        sys::EXIT_GROUP => outcome::end_process(a as i32, code),
        GETTID => futex::thread_id(),
        sys::TGKILL => send::to_thread_id(a as i32, b as i32, c as i32, code) as isize,
        TKILL => send::to_thread_id(0, a as i32, b as i32, code) as isize,
        sys::KILL => send::to_process_id(a as i32, b as i32, code) as isize,
        _ => {
            if NOTED.binary_search(&n).is_ok() {
                log::escape(Escape::Unmodelled, code, n, 0);
            } else if VARYING.contains(&n) || !HARMLESS.contains(&n) && reach::others_are_there() {
                log::escape(Escape::SystemCall, code, n, 0);
            }
            if let Some(&(_, first, second)) = CHANGES.iter().find(|(number, ..)| *number == n)
                && schedule::running()
            {
                let arguments = [a, b, c, d];
                for path in [first, second].into_iter().flatten().map(|at| arguments[at]).filter(|&path| path != 0) {
                    files::changes(path as *const c_char);
                }
            }
            if !HARMLESS.contains(&n) {
                copies::ask();
            }
            let result = sys::call6(n, a, b, c, d, e, f);
            if result < 0 { fail(-result as i32) as isize } else { result }
        }
    }
}

// Functions that are noted, and otherwise unchanged. Their number is their position in `UNMODELLED`.
core::arch::global_asm!(
    r#"
    .macro rh_noted number, name
    .weak \name
    .type \name,@function
\name:
    push rdi
    push rsi
    push rdx
    push rcx
    push r8
    push r9
    push rax
    lea rdi, [rip + 9f]
    mov esi, \number
    mov rdx, [rsp + 56]
    call {note}
    mov r11, rax
    pop rax
    pop r9
    pop r8
    pop rcx
    pop rdx
    pop rsi
    pop rdi
    jmp r11
9:  .asciz "\name"
    .size \name, . - \name
    .endm
    rh_noted 0, aio_read
    rh_noted 1, aio_write
    rh_noted 2, lio_listio
    rh_noted 3, aio_suspend
    rh_noted 4, swapcontext
    rh_noted 5, setcontext
    rh_noted 6, preadv2
    rh_noted 7, pwritev2
    rh_noted 8, semop
    rh_noted 9, semtimedop
    rh_noted 10, msgsnd
    rh_noted 11, msgrcv
    rh_noted 12, mq_send
    rh_noted 13, mq_receive
    rh_noted 14, mq_timedsend
    rh_noted 15, mq_timedreceive
    rh_noted 18, open_memstream
    rh_noted 19, open_wmemstream
    rh_noted 20, fmemopen
    rh_noted 23, clone
    rh_noted 24, forkpty
    rh_noted 29, pthread_attr_setaffinity_np
    rh_noted 30, pthread_attr_setguardsize
    rh_noted 31, pthread_setattr_default_np
    .purgem rh_noted
    "#,
    note = sym note,
);

unsafe extern "C" fn note(name: *const c_char, number: usize, code: usize) -> usize {
    log::escape(Escape::Unmodelled, code, UNMODELLED_FUNCTION as usize + number, 0);
    real::next_by_pointer(name)
}

interpose! {
    setvbuf => set_buffer_and_mode, "r8";
    setbuf => set_buffer, "rdx";
    setbuffer => set_sized_buffer, "rcx";
}

/// Notes a buffer to which the C library writes later, whenever the stream is used.
unsafe fn note_buffer(buffer: usize, code: usize) {
    if buffer != 0 {
        log::escape(Escape::Unmodelled, code, (UNMODELLED_FUNCTION + UNMODELLED_BUFFER) as usize, 0);
    }
}

unsafe extern "C" fn set_buffer_and_mode(stream: usize, buffer: usize, mode: i32, size: usize, code: usize) -> i32 {
    note_buffer(buffer, code);
    let set: extern "C" fn(usize, usize, i32, usize) -> i32 = core::mem::transmute(real::set_buffer_and_mode());
    set(stream, buffer, mode, size)
}

unsafe extern "C" fn set_buffer(stream: usize, buffer: usize, code: usize) {
    note_buffer(buffer, code);
    let set: extern "C" fn(usize, usize) = core::mem::transmute(real::set_buffer());
    set(stream, buffer);
}

unsafe extern "C" fn set_sized_buffer(stream: usize, buffer: usize, size: usize, code: usize) {
    note_buffer(buffer, code);
    let set: extern "C" fn(usize, usize, usize) = core::mem::transmute(real::set_sized_buffer());
    set(stream, buffer, size);
}
