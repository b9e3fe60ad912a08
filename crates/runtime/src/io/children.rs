//! Child processes: created, replaced, and waited for.
//!
//! A child is not part of the execution. It runs on its own, without a plan, and whatever it shares with the program
//! can change at any time: the execution continues, but is noted as not wholly under control. Waiting for a child is
//! like waiting for input from outside.

use super::{EINTR, Probe, Watch, channels, descriptors, finish, log_event, until};
use crate::schedule::{End, point};
use crate::signals::cancel;
use crate::sync::{interpose, interpose_cancellable, real};
use crate::world::{files, network};
use crate::{Global, free, log, outcome, server, sys};
use core::ffi::{CStr, c_char};
use racehunter_abi::control::OUTCOME_TOO_MANY_OBJECTS;
use racehunter_abi::{Escape, File, FileKind, FileOperation, Wait};

const WAITID: usize = 247;
const SETSID: usize = 112;
const CHDIR: usize = 80;
const NO_WAIT: i32 = 1;
const EXITED: i32 = 4;
const LEAVE: i32 = 0x0100_0000;

interpose_cancellable! {
    pclose => close_process, "rsi";
    wait => wait_any, "rsi";
    waitpid => wait_process, "rcx";
    wait3 => wait_usage, "rcx";
    wait4 => wait_process_usage, "r8";
    waitid => wait_id, "r8";
    system => run_command, "rsi";
}

interpose! {
    fork => fork_process, "rdi";
    vfork => fork_process, "rdi";
    daemon => become_daemon, "rdx";
    popen => open_process, "rdx";
    posix_spawn_file_actions_adddup2 => hand_down, "rcx";
}

super::interpose_six! {
    posix_spawn => spawn;
    posix_spawnp => spawn_by_name;
}

unsafe extern "C" {
    static environ: *const *const c_char;
    fn __register_atfork(
        prepare: Option<unsafe extern "C" fn()>,
        parent: Option<unsafe extern "C" fn()>,
        child: Option<unsafe extern "C" fn()>,
        object: *mut u8,
    ) -> i32;
}

/// Makes every process that the C library forks leave the execution before the handlers of the program and of libraries run in it:
/// they run in the order of their registration, so this one has to be the first.
pub(crate) unsafe fn watch_forks() {
    __register_atfork(None, None, Some(leave_execution), core::ptr::null_mut());
}

/// Called in a new process, which is not part of the execution.
unsafe extern "C" fn leave_execution() {
    if !free::is_on() {
        network::enter();
        server::leave();
    }
}

/// Also `vfork`: the child may do anything with a copy, and it cannot notice that the parent did not wait.
unsafe extern "C" fn fork_process(code: usize) -> i32 {
    let fork: extern "C" fn() -> i32 = core::mem::transmute(real::fork());
    files::before_child();
    crate::sync::shared::before_fork();
    let pid = fork();
    if pid > 0 {
        channels::share_all();
        log::escape(Escape::Fork, code, 0, 0);
    }
    pid
}

unsafe extern "C" fn become_daemon(stay: i32, keep: i32, code: usize) -> i32 {
    let pid = fork_process(code);
    if pid != 0 {
        if pid > 0 {
            outcome::end_process(0, code);
        }
        return -1;
    }
    sys::call(SETSID, 0, 0, 0, 0);
    if stay == 0 {
        sys::call(CHDIR, c"/".as_ptr() as usize, 0, 0, 0);
    }
    if keep == 0 {
        descriptors::silence();
    }
    0
}

type Spawn = extern "C" fn(usize, usize, usize, usize, usize, usize) -> i32;

unsafe extern "C" fn spawn(pid: usize, path: usize, actions: usize, attributes: usize, argv: usize, env: usize) -> i32 {
    spawned(super::code_of_six());
    let spawn: Spawn = core::mem::transmute(real::spawn());
    spawn(pid, path, actions, attributes, argv, env)
}

unsafe extern "C" fn spawn_by_name(
    pid: usize,
    name: usize,
    actions: usize,
    attributes: usize,
    argv: usize,
    env: usize,
) -> i32 {
    spawned(super::code_of_six());
    let spawn: Spawn = core::mem::transmute(real::spawn_by_name());
    spawn(pid, name, actions, attributes, argv, env)
}

/// Notes that another program is about to be started.
unsafe fn spawned(code: usize) {
    files::before_child();
    network::before_program();
    channels::share_inherited();
    log::escape(Escape::Spawn, code, 0, 0);
}

/// The children that a thread waits for.
#[derive(Clone, Copy)]
pub(crate) struct Wanted {
    /// As for `waitid`.
    kind: usize,
    id: usize,
    options: i32,
}

/// The position of the process in `siginfo_t`.
const PID: usize = 4;

const ALL: usize = 0;
const PROCESS: usize = 1;
const GROUP: usize = 2;

/// Returns whether a wait for these children would return.
pub(super) unsafe fn has_changed(wanted: Wanted) -> bool {
    let mut info = [0_i32; 32];
    let options = (wanted.options | NO_WAIT | LEAVE) as usize;
    sys::call6(WAITID, wanted.kind, wanted.id, info.as_mut_ptr() as usize, options, 0, 0) < 0 || info[PID] != 0
}

/// Waits for a child as for input from outside. `attempt` returns 0 if none has changed.
unsafe fn wait_for(wanted: Wanted, code: usize, mut attempt: impl FnMut() -> isize) -> isize {
    let file = File { descriptor: -1, kind: FileKind::Other, operation: FileOperation::Child };
    if cancel::acts_at(code) {
        return -(EINTR as isize);
    }
    if wanted.options & NO_WAIT != 0 {
        let n = point(code);
        let result = attempt();
        log_event(n, file, 0, result > 0);
        return result;
    }
    loop {
        let mut watch = Watch::new(Probe::Child(wanted), 0);
        watch.outside = true;
        watch.lazy = true;
        let (n, end) = until(code, Wait::Child, 0, &raw mut watch, None);
        if end == End::Cancelled {
            cancel::act();
        }
        let result = if end == End::Done { attempt() } else { -(EINTR as isize) };
        log_event(n, file, 0, result > 0);
        if result != 0 {
            return result;
        }
    }
}

unsafe extern "C" fn wait_any(status: usize, code: usize) -> i32 {
    wait_process_usage(-1, status, 0, 0, code)
}

unsafe extern "C" fn wait_process(pid: i32, status: usize, options: i32, code: usize) -> i32 {
    wait_process_usage(pid, status, options, 0, code)
}

unsafe extern "C" fn wait_usage(status: usize, options: i32, usage: usize, code: usize) -> i32 {
    wait_process_usage(-1, status, options, usage, code)
}

unsafe extern "C" fn wait_process_usage(pid: i32, status: usize, options: i32, usage: usize, code: usize) -> i32 {
    let (kind, id) = match pid {
        -1 => (ALL, 0),
        1.. => (PROCESS, pid as usize),
        _ => (GROUP, pid.unsigned_abs() as usize),
    };
    let wanted = Wanted { kind, id, options: options | EXITED };
    let options = (options | NO_WAIT) as usize;
    finish(wait_for(wanted, code, || sys::call(sys::WAIT4, pid as isize as usize, status, options, usage))) as i32
}

unsafe extern "C" fn wait_id(kind: usize, id: usize, info: *mut i32, options: i32, code: usize) -> i32 {
    let mut place = [0_i32; 32];
    let at = if info.is_null() { place.as_mut_ptr() } else { info };
    let wanted = Wanted { kind: kind as u32 as usize, id: id as u32 as usize, options };
    let result = wait_for(wanted, code, || {
        *at.add(PID) = 0;
        let result = sys::call6(WAITID, wanted.kind, wanted.id, at as usize, (options | NO_WAIT) as usize, 0, 0);
        if result < 0 { result } else { isize::from(*at.add(PID) != 0) }
    });
    finish(result.min(0)) as i32
}

/// Starts a command by the shell. `copy` is a descriptor and its number in the child.
unsafe fn start_shell(command: *const c_char, copy: Option<(i32, i32)>) -> Result<i32, i32> {
    const SHELL: &CStr = c"/bin/sh";
    let argv = [c"sh".as_ptr(), c"-c".as_ptr(), command, core::ptr::null()];
    let mut pid = 0_i32;
    // `posix_spawn_file_actions_t`, with room to spare.
    let mut actions = [0_u64; 32];
    let at = actions.as_mut_ptr() as usize;
    let init: extern "C" fn(usize) -> i32 = core::mem::transmute(real::spawn_actions_init());
    let add: extern "C" fn(usize, i32, i32) -> i32 = core::mem::transmute(real::spawn_actions_copy());
    let destroy: extern "C" fn(usize) -> i32 = core::mem::transmute(real::spawn_actions_destroy());
    let spawn: Spawn = core::mem::transmute(real::spawn());
    init(at);
    if let Some((from, to)) = copy {
        add(at, from, to);
    }
    let pid_at = &raw mut pid as usize;
    let error = spawn(pid_at, SHELL.as_ptr() as usize, at, 0, argv.as_ptr() as usize, environ as usize);
    destroy(at);
    if error == 0 { Ok(pid) } else { Err(error) }
}

unsafe extern "C" fn run_command(command: *const c_char, code: usize) -> i32 {
    const NO_SHELL: i32 = 127 << 8;
    if command.is_null() {
        return 1;
    }
    spawned(code);
    let Ok(pid) = start_shell(command, None) else { return NO_SHELL };
    let mut status = 0_i32;
    let result = wait_process(pid, &raw mut status as usize, 0, code);
    if result < 0 { -1 } else { status }
}

/// Gives the child a copy of a descriptor, even of one that is closed for other programs.
unsafe extern "C" fn hand_down(actions: *mut u8, fd: i32, copy: i32, _code: usize) -> i32 {
    if let Some(d) = channels::of(fd) {
        channels::set_outside(d.channel);
    }
    let add: extern "C" fn(*mut u8, i32, i32) -> i32 = core::mem::transmute(real::spawn_actions_copy());
    add(actions, fd, copy)
}

/// Streams of `popen`, and their processes.
const MOST: usize = 64;
static PROCESSES: Global<[(usize, i32); MOST]> = Global::new([(0, 0); MOST]);

unsafe fn process_of(stream: usize) -> Option<*mut (usize, i32)> {
    (*PROCESSES.ptr()).iter_mut().find(|entry| entry.0 == stream).map(core::ptr::from_mut)
}

unsafe extern "C" fn open_process(command: *const c_char, mode: *const c_char, code: usize) -> usize {
    const EINVAL: i32 = 22;
    const CLOSE_ON_EXEC: i32 = 0o2_000_000;
    const SET_DESCRIPTOR_FLAGS: usize = 2;
    let mode = CStr::from_ptr(mode).to_bytes();
    let reads = mode.contains(&b'r');
    let fail = |error: i32| {
        crate::sync::fail(error);
        0
    };
    if reads == mode.contains(&b'w') {
        return fail(EINVAL);
    }
    let Some(entry) = process_of(0) else { outcome::finish(OUTCOME_TOO_MANY_OBJECTS) };
    let mut ends = [0_i32; 2];
    if descriptors::make_pipe_with(&raw mut ends, CLOSE_ON_EXEC, code) < 0 {
        return 0;
    }
    let (ours, theirs) = if reads { (ends[0], ends[1]) } else { (ends[1], ends[0]) };
    if let Some(d) = channels::of(ours) {
        channels::set_outside(d.channel);
    }
    spawned(code);
    let started = start_shell(command, Some((theirs, i32::from(reads))));
    sys::call(sys::CLOSE, theirs as usize, 0, 0, 0);
    channels::forget(theirs);
    let Ok(pid) = started else {
        sys::call(sys::CLOSE, ours as usize, 0, 0, 0);
        channels::forget(ours);
        return fail(started.err().unwrap_or(EINVAL));
    };
    if !mode.contains(&b'e') {
        sys::call(sys::FCNTL, ours as usize, SET_DESCRIPTOR_FLAGS, 0, 0);
    }
    let open: extern "C" fn(i32, *const c_char) -> usize = core::mem::transmute(real::open_stream());
    let stream = open(ours, if reads { c"r".as_ptr() } else { c"w".as_ptr() });
    if stream != 0 {
        *entry = (stream, pid);
    }
    stream
}

unsafe extern "C" fn close_process(stream: usize, code: usize) -> i32 {
    let Some(entry) = process_of(stream).filter(|_| stream != 0) else {
        let close: extern "C" fn(usize) -> i32 = core::mem::transmute(real::close_process());
        return close(stream);
    };
    let pid = (*entry).1;
    *entry = (0, 0);
    super::streams::close_at(stream as *mut u8, code);
    let mut status = 0_i32;
    let result = wait_process(pid, &raw mut status as usize, 0, code);
    if result < 0 { -1 } else { status }
}

/// Notes that the program is about to become another one.
unsafe extern "C" fn before_exec(code: usize) {
    log::escape(Escape::Exec, code, 0, 0);
    outcome::before_exec();
}

/// The return address if that fails.
#[unsafe(link_section = ".data.racehunter")]
static RETURN: Global<usize> = Global::new(0);

// Some of these functions take arguments from the stack, so they are called without moving anything: their return
// address is replaced, in case they return at all.
core::arch::global_asm!(
    r#"
    .macro rh_exec name, real
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
    mov rdi, [rsp + 56]
    mov [rip + {code}], rdi
    call {before}
    lea rdi, [rip + 9f]
    call rh_exec_real
    mov r11, rax
    pop rax
    pop r9
    pop r8
    pop rcx
    pop rdx
    pop rsi
    pop rdi
    add rsp, 8
    call r11
    sub rsp, 8
    push rax
    call {after}
    pop rax
    mov r11, [rip + {code}]
    mov [rsp], r11
    ret
9:  .asciz "\name"
    .size \name, . - \name
    .endm
    rh_exec execl
    rh_exec execle
    rh_exec execlp
    rh_exec execv
    rh_exec execve
    rh_exec execvp
    rh_exec execvpe
    rh_exec fexecve
    .purgem rh_exec
    "#,
    code = sym RETURN,
    before = sym before_exec,
    after = sym after_exec,
);

unsafe extern "C" fn after_exec() {
    outcome::after_exec();
}

#[unsafe(no_mangle)]
unsafe extern "C" fn rh_exec_real(name: *const c_char) -> usize {
    real::next_by_pointer(name)
}
