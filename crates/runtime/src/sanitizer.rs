//! The rest of the sanitizers' runtime interfaces, so that everything that links with `-fsanitize=thread` links here.
//!
//! Functions about memory or synchronisation have their meaning. Queries for reports find none: the controller makes them.
//! Functions that programs may define themselves (`__tsan_default_options`, `__tsan_on_report`...) are not here.

use crate::hooks::announced;
use crate::sync::futex;
use crate::thread::current;
use crate::tsan::{NO_FRAME, site_of};
use crate::{Global, annotations, log};
use core::arch::global_asm;
use core::ffi::{CStr, c_char, c_int, c_uint, c_void};
use racehunter_abi::Kind;

unsafe extern "C" {
    fn malloc_usable_size(block: *const u8) -> usize;
    fn memmove(to: *mut u8, from: *const u8, len: usize) -> *mut u8;
}

unsafe fn access(at: usize, size: usize, kind: Kind, code: usize) {
    if size > 0 {
        announced(at, size, site_of(code), kind, code, NO_FRAME);
    }
}

macro_rules! accesses {
    ($($name:ident $size:literal $kind:expr;)*) => { $(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(at: usize, code: usize) {
            access(at, $size, $kind, code);
        }
    )* };
}

// The place is passed as an argument.
accesses! {
    __tsan_read1_pc 1 Kind::Read;
    __tsan_read2_pc 2 Kind::Read;
    __tsan_read4_pc 4 Kind::Read;
    __tsan_read8_pc 8 Kind::Read;
    __tsan_read16_pc 16 Kind::ReadRange;
    __tsan_write1_pc 1 Kind::Write;
    __tsan_write2_pc 2 Kind::Write;
    __tsan_write4_pc 4 Kind::Write;
    __tsan_write8_pc 8 Kind::Write;
    __tsan_write16_pc 16 Kind::WriteRange;
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __tsan_read_range_pc(at: usize, size: usize, code: usize) {
    access(at, size, Kind::ReadRange, code);
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __tsan_write_range_pc(at: usize, size: usize, code: usize) {
    access(at, size, Kind::WriteRange, code);
}

/// An object of a library, which has an address and no size.
#[unsafe(no_mangle)]
unsafe extern "C" fn __tsan_external_read(at: usize, code: usize, _tag: usize) {
    access(at, 1, Kind::Read, code);
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __tsan_external_write(at: usize, code: usize, _tag: usize) {
    access(at, 1, Kind::Write, code);
}

macro_rules! unaligned {
    ($($load:ident $store:ident $type:ty;)*) => { $(
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $load() {
            unsafe extern "C" fn load(at: *const $type, code: usize) -> $type {
                access(at as usize, size_of::<$type>(), Kind::Read, code);
                at.read_unaligned()
            }
            core::arch::naked_asm!("mov rsi, [rsp]", "jmp {}", sym load)
        }
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $store() {
            unsafe extern "C" fn store(at: *mut $type, value: $type, code: usize) {
                access(at as usize, size_of::<$type>(), Kind::Write, code);
                at.write_unaligned(value);
            }
            core::arch::naked_asm!("mov rdx, [rsp]", "jmp {}", sym store)
        }
    )* };
}

unaligned! {
    __sanitizer_unaligned_load16 __sanitizer_unaligned_store16 u16;
    __sanitizer_unaligned_load32 __sanitizer_unaligned_store32 u32;
    __sanitizer_unaligned_load64 __sanitizer_unaligned_store64 u64;
}

macro_rules! without_effect {
    ($($name:ident($($argument:ident: $type:ty),*) $(-> $result:ty = $value:expr)?;)*) => { $(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($argument: $type),*) $(-> $result)? { $($value)? }
    )* };
}

without_effect! {
    __tsan_check_no_mutexes_held();
    __tsan_on_thread_idle();
    __tsan_resume();
    __tsan_external_register_header(_tag: usize, _text: *const c_char);
    __tsan_external_assign_tag(_at: usize, _tag: usize);
    __tsan_external_register_tag(_name: *const c_char) -> usize = next_tag();
    __tsan_get_current_report() -> usize = 0;
    __tsan_get_report_data() -> c_int = 0;
    __tsan_get_report_tag() -> c_int = 0;
    __tsan_get_report_stack() -> c_int = 0;
    __tsan_get_report_mop() -> c_int = 0;
    __tsan_get_report_loc() -> c_int = 0;
    __tsan_get_report_loc_object_type() -> c_int = 0;
    __tsan_get_report_mutex() -> c_int = 0;
    __tsan_get_report_thread() -> c_int = 0;
    __tsan_get_report_unique_tid() -> c_int = 0;
    __tsan_get_alloc_stack() -> c_int = 0;
    __tsan_locate_address() -> *const c_char = c"".as_ptr();
    RunningOnValgrind() -> c_int = 0;
    AnnotateFlushExpectedRaces(_file: *const c_char, _line: c_int);
    __sanitizer_acquire_crash_state() -> c_int = 0;
    __sanitizer_get_module_and_offset_for_pc() -> c_int = 0;
    __sanitizer_install_malloc_and_free_hooks() -> c_int = 0;
    __sanitizer_print_stack_trace();
    __sanitizer_purge_allocator();
    __sanitizer_report_error_summary();
    __sanitizer_sandbox_on_notify();
    __sanitizer_set_death_callback();
    __sanitizer_set_report_fd();
    __sanitizer_set_report_path();
    __sanitizer_get_report_path() -> *const c_char = c"".as_ptr();
    __sanitizer_dump_coverage();
    __sanitizer_dump_trace_pc_guard_coverage();
    __sanitizer_get_current_allocated_bytes() -> usize = 0;
    __sanitizer_get_estimated_allocated_size(size: usize) -> usize = size;
    __sanitizer_get_free_bytes() -> usize = 0;
    __sanitizer_get_heap_size() -> usize = 0;
    __sanitizer_get_unmapped_bytes() -> usize = 0;
    __sanitizer_get_allocated_begin(block: *const c_void) -> *const c_void = block;
    __sanitizer_get_allocated_size(block: *const u8) -> usize = malloc_usable_size(block);
    __sanitizer_get_allocated_size_fast(block: *const u8) -> usize = malloc_usable_size(block);
    __sanitizer_get_ownership(block: *const c_void) -> c_int = (!block.is_null()).into();
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __sanitizer_symbolize_pc(_code: usize, _format: *const c_char, text: *mut u8, room: usize) {
    if room > 0 {
        *text = 0;
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __sanitizer_symbolize_global(_at: usize, _format: *const c_char, text: *mut u8, room: usize) {
    if room > 0 {
        *text = 0;
    }
}

#[unsafe(link_section = ".data.racehunter")]
static TAGS: Global<usize> = Global::new(1);

fn next_tag() -> usize {
    TAGS.set(TAGS.get() + 1);
    TAGS.get()
}

// The interface for Java virtual machines: memory that they manage, and locks.

without_effect! {
    __tsan_java_init(_heap: usize, _size: usize);
    __tsan_java_fini() -> c_int = 0;
    __tsan_java_find(_from: *mut usize, _to: usize) -> usize = 0;
    __tsan_java_finalize() -> () = crate::clock::acquire_everything();
    __tsan_java_free(_at: usize, _size: usize);
    __tsan_java_mutex_lock(at: usize) -> () = lock_again(at, 1);
    __tsan_java_mutex_unlock(at: usize) -> () = unlock_once(at);
    __tsan_java_mutex_read_lock(at: usize) -> () = annotations::taken(at, false);
    __tsan_java_mutex_read_unlock(at: usize) -> () = annotations::given(at, false);
    __tsan_java_acquire(at: usize) -> () = annotations::acquired(at);
    __tsan_java_release(at: usize) -> () = annotations::released(at);
    __tsan_java_release_store(at: usize) -> () = annotations::released(at);
    __tsan_java_mutex_lock_rec(at: usize, count: c_int) -> () = lock_again(at, count);
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __tsan_java_mutex_unlock_rec(at: usize) -> c_int {
    let count = held(at);
    let times = *count;
    *count = 0;
    annotations::given(at, true);
    times
}

/// Held locks of such a machine, and how often each is held.
const HELD: usize = 16;
#[unsafe(link_section = ".data.racehunter")]
static LOCKS: Global<[(usize, c_int); HELD]> = Global::new([(0, 0); HELD]);

unsafe fn held(at: usize) -> *mut c_int {
    let locks = &mut *LOCKS.ptr();
    let found = locks.iter().position(|lock| lock.0 == at).or_else(|| locks.iter().position(|lock| lock.1 == 0));
    let lock = &mut locks[found.unwrap_or(HELD - 1)];
    if lock.0 != at {
        *lock = (at, 0);
    }
    &raw mut lock.1
}

unsafe fn lock_again(at: usize, times: c_int) {
    *held(at) += times;
    annotations::taken(at, true);
}

unsafe fn unlock_once(at: usize) {
    let count = held(at);
    *count -= 1;
    if *count <= 0 {
        *count = 0;
        annotations::given(at, true);
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __tsan_java_alloc(at: usize, size: usize) {
    crate::shadow::clear(at, size);
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __tsan_java_move(_from: usize, to: usize, size: usize) {
    crate::shadow::clear(to, size);
}

// A barrier that orders threads in time but not by happens-before: for tests of detectors.

/// The low bits of a barrier: the number of threads. The others count arrivals.
///
/// All of it fits into four bytes, which newer versions of the interface reserve for it.
const THREAD_BITS: u32 = 10;
const ARRIVAL: u32 = 1 << THREAD_BITS;

/// Returns how many times a barrier was full.
fn round(barrier: u32) -> u32 {
    (barrier >> THREAD_BITS) / (barrier & (ARRIVAL - 1)).max(1)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __tsan_testonly_barrier_init(barrier: *mut u32, needed: c_uint) {
    *barrier = needed & (ARRIVAL - 1);
}

#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn __tsan_testonly_barrier_wait() {
    core::arch::naked_asm!("mov rsi, [rsp]", "jmp {}", sym meet)
}

unsafe extern "C" fn meet(barrier: *mut u32, code: usize) {
    const WAIT: usize = 0;
    const WAKE: usize = 1;
    let began = round(*barrier);
    *barrier = (*barrier).wrapping_add(ARRIVAL);
    (*current()).ignores_order += 1;
    if round(*barrier) != began {
        futex::operate(barrier as usize, WAKE, usize::MAX >> 33, 0, 0, 0, code);
    }
    loop {
        let seen = barrier.read_volatile();
        if round(seen) != began {
            break;
        }
        futex::operate(barrier as usize, WAIT, seen as usize, 0, 0, 0, code);
    }
    (*current()).ignores_order -= 1;
}

/// Returns how many instrumented functions the running thread is in.
#[unsafe(no_mangle)]
unsafe extern "C" fn __tsan_testonly_shadow_stack_current_size() -> usize {
    let mut frames = 0;
    log::frames_of(current(), |_| {
        frames += 1;
        true
    });
    frames
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __sanitizer_internal_memmove(to: *mut u8, from: *const u8, len: usize) -> *mut u8 {
    memmove(to, from, len)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __sanitizer_internal_memcpy(to: *mut u8, from: *const u8, len: usize) -> *mut u8 {
    memmove(to, from, len)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __sanitizer_internal_memset(to: *mut u8, byte: c_int, len: usize) -> *mut u8 {
    core::ptr::write_bytes(to, byte as u8, len);
    to
}

/// Queries of dynamic annotations about the detector.
#[unsafe(no_mangle)]
unsafe extern "C" fn ThreadSanitizerQuery(question: *const c_char) -> *const c_char {
    if CStr::from_ptr(question) == c"pure_happens_before" { c"1".as_ptr() } else { c"0".as_ptr() }
}

// Hooks around system calls that the program makes itself.
global_asm!(
    ".irp name,\
    accept, accept4, access, acct, add_key, adjtimex, alarm, bdflush, bind, brk, capget, capset, chdir, chmod,\
    chown, chroot, clock_adjtime, clock_getres, clock_gettime, clock_nanosleep, clock_settime, close, connect,\
    copy_file_range, creat, delete_module, dup, dup2, dup3, epoll_create, epoll_create1, epoll_ctl, epoll_pwait,\
    epoll_pwait2, epoll_wait, eventfd, eventfd2, exit, exit_group, faccessat, fchdir, fchmod, fchmodat, fchmodat2,\
    fchown, fchownat, fcntl, fcntl64, fdatasync, fgetxattr, flistxattr, flock, fork, fremovexattr, fsetxattr, fstat,\
    fstat64, fstatat64, fstatfs, fstatfs64, fsync, ftruncate, futex, futimesat, get_mempolicy, get_robust_list,\
    getcpu, getcwd, getdents, getdents64, getegid, geteuid, getgid, getgroups, gethostname, getitimer, getpeername,\
    getpgid, getpgrp, getpid, getppid, getpriority, getrandom, getresgid, getresuid, getrlimit, getrusage, getsid,\
    getsockname, getsockopt, gettid, gettimeofday, getuid, getxattr, init_module, inotify_add_watch, inotify_init,\
    inotify_init1, inotify_rm_watch, io_cancel, io_destroy, io_getevents, io_setup, io_submit, ioctl, ioperm,\
    ioprio_get, ioprio_set, ipc, kexec_load, keyctl, kill, lchown, lgetxattr, link, linkat, listen, listxattr,\
    llistxattr, llseek, lookup_dcookie, lremovexattr, lseek, lsetxattr, lstat, lstat64, madvise, mbind,\
    migrate_pages, mincore, mkdir, mkdirat, mknod, mknodat, mlock, mlockall, mmap_pgoff, mount, move_pages,\
    mprotect, mq_getsetattr, mq_notify, mq_open, mq_timedreceive, mq_timedsend, mq_unlink, mremap, msgctl, msgget,\
    msgrcv, msgsnd, msync, munlock, munlockall, munmap, name_to_handle_at, nanosleep, newfstat, newfstatat,\
    newlstat, newstat, newuname, ni_syscall, nice, old_getrlimit, old_mmap, old_readdir, old_select, oldumount,\
    olduname, open, open_by_handle_at, openat, openat2, pause, pciconfig_iobase, pciconfig_read, pciconfig_write,\
    perf_event_open, personality, pipe, pipe2, pivot_root, poll, ppoll, pread64, preadv, prlimit64,\
    process_vm_readv, process_vm_writev, pselect6, ptrace, pwrite64, pwritev, quotactl, read, readlink, readlinkat,\
    readv, reboot, recv, recvfrom, recvmmsg, recvmsg, remap_file_pages, removexattr, rename, renameat, request_key,\
    restart_syscall, rmdir, rt_sigaction, rt_sigpending, rt_sigprocmask, rt_sigqueueinfo, rt_sigtimedwait,\
    rt_tgsigqueueinfo, sched_get_priority_max, sched_get_priority_min, sched_getaffinity, sched_getparam,\
    sched_getscheduler, sched_rr_get_interval, sched_setaffinity, sched_setparam, sched_setscheduler, sched_yield,\
    select, semctl, semget, semop, semtimedop, send, sendfile, sendfile64, sendmmsg, sendmsg, sendto, set_mempolicy,\
    set_robust_list, set_tid_address, setdomainname, setfsgid, setfsuid, setgid, setgroups, sethostname, setitimer,\
    setns, setpgid, setpriority, setregid, setresgid, setresuid, setreuid, setrlimit, setsid, setsockopt,\
    settimeofday, setuid, setxattr, sgetmask, shmat, shmctl, shmdt, shmget, shutdown, sigaction, sigaltstack,\
    signal, signalfd, signalfd4, sigpending, sigprocmask, socket, socketcall, socketpair, splice, spu_create,\
    spu_run, ssetmask, stat, stat64, statfs, statfs64, stime, swapoff, swapon, symlink, symlinkat, sync, syncfs,\
    sysctl, sysfs, sysinfo, syslog, tee, tgkill, time, timer_create, timer_delete, timer_getoverrun, timer_gettime,\
    timer_settime, timerfd_create, timerfd_gettime, timerfd_settime, times, tkill, truncate, umask, umount, uname,\
    unlink, unlinkat, unshare, uselib, ustat, utime, utimensat, utimes, vfork, vhangup, vmsplice, wait4, waitid,\
    waitpid, write, writev",
    ".globl __sanitizer_syscall_pre_impl_\\name",
    ".type __sanitizer_syscall_pre_impl_\\name, @function",
    "__sanitizer_syscall_pre_impl_\\name:",
    ".globl __sanitizer_syscall_post_impl_\\name",
    ".type __sanitizer_syscall_post_impl_\\name, @function",
    "__sanitizer_syscall_post_impl_\\name:",
    ".endr",
    "ret",
);

// The names under which an interceptor is called when the program defines a function with the intercepted name. Those of
// modelled functions are next to their models; these lead to the C library.
global_asm!(
    ".irp name, fopen, fileno, open, memcpy, memmove, memset, strlen",
    ".globl __interceptor_\\name",
    ".type __interceptor_\\name, @function",
    "__interceptor_\\name:",
    "lea rax, [rip + 2f]",
    "jmp rh_call_next",
    ".pushsection .rodata.rh_next,\"a\",@progbits",
    "2: .asciz \"\\name\"",
    ".popsection",
    ".endr",
    "rh_call_next:",
    "push rdi",
    "push rsi",
    "push rdx",
    "push rcx",
    "push r8",
    "mov rdi, rax",
    "call {next}",
    "pop r8",
    "pop rcx",
    "pop rdx",
    "pop rsi",
    "pop rdi",
    "jmp rax",
    next = sym next,
);

unsafe extern "C" fn next(name: *const c_char) -> usize {
    crate::sync::real::next_by_pointer(name)
}
