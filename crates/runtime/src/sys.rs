//! System calls, made directly: the C library's own functions are interposed by this runtime, and set `errno`.

#![deny(unsafe_op_in_unsafe_fn)]

use core::arch::asm;

pub(crate) const READ: usize = 0;
pub(crate) const WRITE: usize = 1;
pub(crate) const LSEEK: usize = 8;
pub(crate) const MMAP: usize = 9;
pub(crate) const MUNMAP: usize = 11;
pub(crate) const MADVISE: usize = 28;
pub(crate) const SIGACTION: usize = 13;
pub(crate) const SIGPROCMASK: usize = 14;
pub(crate) const SIGRETURN: usize = 15;
pub(crate) const GETPID: usize = 39;
pub(crate) const KILL: usize = 62;
pub(crate) const WAIT4: usize = 61;
pub(crate) const SETPGID: usize = 109;
pub(crate) const GETPPID: usize = 110;
pub(crate) const WAITID: usize = 247;
pub(crate) const SIGALTSTACK: usize = 131;
pub(crate) const PRCTL: usize = 157;
pub(crate) const FUTEX: usize = 202;
/// Operations of a futex that only this process uses.
pub(crate) const FUTEX_WAIT_PRIVATE: usize = 128;
pub(crate) const FUTEX_WAKE_PRIVATE: usize = 129;
pub(crate) const CLOCK_GETTIME: usize = 228;
pub(crate) const EXIT_GROUP: usize = 231;
pub(crate) const CLOSE: usize = 3;
pub(crate) const FCNTL: usize = 72;
pub(crate) const ARCH_PRCTL: usize = 158;
pub(crate) const CLONE: usize = 56;
/// Ends one kernel thread.
pub(crate) const EXIT: usize = 60;
pub(crate) const SET_TID_ADDRESS: usize = 218;
/// `SIG_SETMASK`
pub(crate) const SET_MASK: usize = 2;
/// `ARCH_SET_FS`
pub(crate) const SET_FS: usize = 0x1002;
pub(crate) const TGKILL: usize = 234;
pub(crate) const TIMER_CREATE: usize = 222;
pub(crate) const TIMER_SETTIME: usize = 223;
pub(crate) const GETTID: usize = 186;
pub(crate) const PROCESS_VM_READV: usize = 310;

/// Makes any system call; the result is negative on error.
///
/// # Safety
///
/// The caller must want the effects of the call on memory and the process.
#[inline(always)]
pub(crate) unsafe fn call6(n: usize, a: usize, b: usize, c: usize, d: usize, e: usize, f: usize) -> isize {
    let result: isize;
    // SAFETY: the kernel changes no other registers; the rest is up to the caller.
    unsafe {
        asm!("syscall", inlateout("rax") n as isize => result, in("rdi") a, in("rsi") b, in("rdx") c, in("r10") d,
             in("r8") e, in("r9") f, out("rcx") _, out("r11") _, options(nostack));
    }
    result
}

/// A system call with up to four arguments.
#[inline(always)]
pub(crate) unsafe fn call(n: usize, a: usize, b: usize, c: usize, d: usize) -> isize {
    // SAFETY: guaranteed by the caller.
    unsafe { call6(n, a, b, c, d, 0, 0) }
}

/// Reserves private, zeroed memory that costs nothing until it is touched; null on failure.
pub(crate) unsafe fn reserve(at: usize, len: usize) -> *mut u8 {
    const READ_WRITE: usize = 3;
    const PRIVATE_ANONYMOUS_NORESERVE: usize = 0x4022;
    const FIXED_NOREPLACE: usize = 0x10_0000;
    let fixed = if at == 0 { 0 } else { FIXED_NOREPLACE };
    // SAFETY: a new mapping, which replaces no other one.
    let got = unsafe { call6(MMAP, at, len, READ_WRITE, PRIVATE_ANONYMOUS_NORESERVE | fixed, usize::MAX, 0) };
    if got < 0 || (at != 0 && got as usize != at) { core::ptr::null_mut() } else { got as *mut u8 }
}

/// Reserves zeroed memory that this process shares with its children; null on failure.
pub(crate) unsafe fn reserve_shared(len: usize) -> *mut u8 {
    const READ_WRITE: usize = 3;
    const SHARED_ANONYMOUS: usize = 0x21;
    // SAFETY: a new mapping.
    let got = unsafe { call6(MMAP, 0, len, READ_WRITE, SHARED_ANONYMOUS, usize::MAX, 0) };
    if got < 0 { core::ptr::null_mut() } else { got as *mut u8 }
}

/// A shared mapping of a file; null on failure.
pub(crate) unsafe fn map_shared(fd: i32, len: usize) -> *mut u8 {
    // SAFETY: a new mapping.
    let got = unsafe { call6(MMAP, 0, len, 3, 1, fd as usize, 0) };
    if got < 0 { core::ptr::null_mut() } else { got as *mut u8 }
}

/// Returns whole pages to the system; they then read as zero.
pub(crate) unsafe fn discard(at: usize, len: usize) {
    // SAFETY: the caller no longer needs the contents of these pages.
    unsafe { call(MADVISE, at, len, 4, 0) };
}

/// How many pages the kernel has given to the running kernel thread.
pub(crate) unsafe fn page_faults() -> u64 {
    const GETRUSAGE: usize = 98;
    const OF_THREAD: usize = 1;
    const MINOR: usize = 8;
    const MAJOR: usize = 9;
    let mut usage = [0_u64; 18];
    // SAFETY: as long as `struct rusage`.
    unsafe { call(GETRUSAGE, OF_THREAD, usage.as_mut_ptr() as usize, 0, 0) };
    usage[MINOR] + usage[MAJOR]
}

/// Asks the kernel to map the pages between two addresses for writing. Older kernels cannot do this.
pub(crate) unsafe fn prepare(from: usize, to: usize) {
    const POPULATE_WRITE: usize = 23;
    let first = (from + 4095) & !4095;
    if first < to {
        // SAFETY: changes no contents.
        unsafe { call(MADVISE, first, to - first, POPULATE_WRITE, 0) };
    }
}

/// Returns monotonic time in nanoseconds.
pub(crate) unsafe fn monotonic() -> u64 {
    const MONOTONIC: usize = 1;
    let mut time = [0_u64; 2];
    // SAFETY: the kernel writes the two words of `time`.
    unsafe { call(CLOCK_GETTIME, MONOTONIC, time.as_mut_ptr() as usize, 0, 0) };
    time[0] * 1_000_000_000 + time[1]
}

/// Waits for ever. Only a fatal signal ends that.
pub(crate) fn stand_still() -> ! {
    const PAUSE: usize = 34;
    loop {
        // SAFETY: the call touches no memory.
        unsafe { call(PAUSE, 0, 0, 0, 0) };
    }
}

pub(crate) fn exit_group(code: i32) -> ! {
    loop {
        // SAFETY: ends the process.
        unsafe { call(EXIT_GROUP, code as usize, 0, 0, 0) };
    }
}

/// Writes parts and a number to standard error: only for errors that cannot be reported otherwise.
pub(crate) fn complain(parts: &[&str], number: Option<u64>) {
    // SAFETY: the buffers are valid for the length given.
    unsafe {
        for part in parts {
            call(WRITE, 2, part.as_ptr() as usize, part.len(), 0);
        }
        let mut digits = [b'\n'; 21];
        let mut at = 20;
        if let Some(mut n) = number {
            loop {
                at -= 1;
                digits[at] = b'0' + (n % 10) as u8;
                n /= 10;
                if n == 0 {
                    break;
                }
            }
        }
        call(WRITE, 2, digits.as_ptr().add(at) as usize, 21 - at, 0);
    }
}

/// Returns the bytes at an address, at most 8, the rest 0; `None` if they cannot be read. The kernel makes the attempt.
pub(crate) unsafe fn peek(address: usize, size: usize) -> Option<u64> {
    let mut value = 0_u64;
    let size = size.min(size_of::<u64>());
    let (to, from) = ([&raw mut value as usize, size], [address, size]);
    // SAFETY: the kernel writes to `value`, no more than its size, and reports if it cannot read.
    let read = unsafe {
        let process = call(GETPID, 0, 0, 0, 0) as usize;
        call6(PROCESS_VM_READV, process, to.as_ptr() as usize, 1, from.as_ptr() as usize, 1, 0)
    };
    (read == size as isize).then_some(value)
}

pub(crate) unsafe fn futex_wait(word: *const u32, value: u32) {
    // SAFETY: the kernel only reads the word.
    unsafe { call(FUTEX, word as usize, FUTEX_WAIT_PRIVATE, value as usize, 0) };
}

/// Like [`futex_wait`], with a limit in nanoseconds.
pub(crate) unsafe fn futex_wait_for(word: *const u32, value: u32, nanoseconds: u64) {
    let time = [nanoseconds / 1_000_000_000, nanoseconds % 1_000_000_000];
    // SAFETY: the kernel only reads the word and the time.
    unsafe { call(FUTEX, word as usize, FUTEX_WAIT_PRIVATE, value as usize, time.as_ptr() as usize) };
}

/// Wakes one thread that waits for the word to change.
pub(crate) unsafe fn futex_wake(word: *const u32) {
    // SAFETY: the kernel uses the address of the word, not its contents.
    unsafe { call(FUTEX, word as usize, FUTEX_WAKE_PRIVATE, 1, 0) };
}

/// Like [`futex_wait_for`], for a word that several processes share.
pub(crate) unsafe fn futex_wait_shared(word: *const u32, value: u32, nanoseconds: u64) {
    const WAIT: usize = 0;
    let time = [nanoseconds / 1_000_000_000, nanoseconds % 1_000_000_000];
    // SAFETY: the kernel only reads the word and the time.
    unsafe { call(FUTEX, word as usize, WAIT, value as usize, time.as_ptr() as usize) };
}

/// Like [`futex_wake`], for a word that several processes share.
pub(crate) unsafe fn futex_wake_shared(word: *const u32) {
    const WAKE: usize = 1;
    // SAFETY: the kernel uses the address of the word, not its contents.
    unsafe { call(FUTEX, word as usize, WAKE, 1, 0) };
}

/// Returns the caller's stack pointer.
#[inline(always)]
pub(crate) fn stack_pointer() -> usize {
    let pointer;
    // SAFETY: reads a register.
    unsafe { asm!("mov {}, rsp", out(reg) pointer, options(nomem, nostack, preserves_flags)) };
    pointer
}
