//! Creation, end and joining of threads.

use super::{
    EAGAIN, EBUSY, EDEADLK, EINVAL, ESRCH, ETIMEDOUT, attributes, cxx, handles, interpose, interpose_cancellable, keys,
    misuse, real,
};
use crate::fiber;
use crate::schedule::{
    End, EndsBy, Waiting, acquire, decide_and_switch, idle_point, max_threads, now, point, refresh, yield_after,
};
use crate::signals::{cancel, send};
use crate::thread::{
    COUNT, CURRENT, INTERNAL, LIVE, State, Thread, any_by_handle, by_handle, current, every_thread, make_ready,
    make_unready, prepare, thread,
};
use crate::{
    afterlife, clock, constructors, escapes, hooks, in_process, log, outcome, reach, rust, schedule, swift, time,
};
use core::arch::global_asm;
use racehunter_abi::control::{ALLOCATED_STACK, FLAG_ALLOCATIONS, OUTCOME_TOO_MANY_THREADS};
use racehunter_abi::{Cause, Kind, Misuse, Record, ThreadId, Wait, detail, path_of};
use racehunter_machine::{Deadline, Owner};

interpose! {
    pthread_create => create, "r8";
    __interceptor_pthread_create => create, "r8";
    pthread_tryjoin_np => try_join, "rdx";
    pthread_detach => detach, "rsi";
    __interceptor_pthread_detach => detach, "rsi";
}

interpose_cancellable! {
    pthread_join => join, "rdx";
    __interceptor_pthread_join => join, "rdx";
    pthread_timedjoin_np => timed_join, "rcx";
    pthread_clockjoin_np => clock_join, "r8";
    sched_yield => yield_now, "rdi";
    pthread_yield => yield_now, "rdi";
}

unsafe extern "C" {
    fn pthread_attr_getdetachstate(attributes: *const u8, state: *mut i32) -> i32;
    fn pthread_attr_getstacksize(attributes: *const u8, size: *mut usize) -> i32;
    fn pthread_attr_setstacksize(attributes: *mut u8, size: usize) -> i32;
    fn pthread_attr_getsigmask_np(attributes: *const u8, mask: *mut u64) -> i32;
    fn pthread_attr_getstack(attributes: *const u8, address: *mut usize, size: *mut usize) -> i32;
}

/// Default stack size in bytes.
const DEFAULT_STACK: usize = 8 << 20;

/// Returns whether the attributes ask for a stack that a thread created ahead of time does not have.
unsafe fn special(attributes: *const u8) -> bool {
    let mut size = 0;
    pthread_attr_getstacksize(attributes, &mut size);
    size > DEFAULT_STACK || has_stack(attributes)
}

/// Bytes of `pthread_attr_t`.
const ATTRIBUTES: usize = 56;

/// Returns whether the attributes ask for a stack that is smaller than those of other threads.
unsafe fn is_small(attributes: *const u8) -> bool {
    stack_size(attributes).is_some_and(|size| size < DEFAULT_STACK)
}

unsafe fn stack_size(attributes: *const u8) -> Option<usize> {
    let mut size = 0;
    (pthread_attr_getstacksize(attributes, &mut size) == 0).then_some(size)
}

/// Returns the signal mask in the attributes.
unsafe fn mask_of(attributes: *const u8) -> Option<u64> {
    // `sigset_t` has room for more signals than there are.
    let mut mask = [0_u64; 16];
    let is_set = !attributes.is_null() && pthread_attr_getsigmask_np(attributes, mask.as_mut_ptr()) == 0;
    is_set.then_some(mask[0])
}

/// Returns whether the program provides a stack for the thread.
unsafe fn has_stack(attributes: *const u8) -> bool {
    let (mut address, mut size) = (0, 0);
    pthread_attr_getstack(attributes, &mut address, &mut size);
    // Without one the attributes have none: address 0 minus the size.
    address.wrapping_add(size) != 0
}

/// Creates a thread that is not ready yet. An error is that of `pthread_create`.
pub(crate) unsafe fn make(attributes: *const u8, start: usize, argument: usize) -> Result<*mut Thread, i32> {
    in_process::creates_thread();
    let number = ThreadId(COUNT.get());
    if number.0 >= max_threads() {
        outcome::finish(OUTCOME_TOO_MANY_THREADS);
    }
    let t = thread(number);
    constructors::before_main();
    keys::init();
    let ordinary = attributes.is_null() || !special(attributes);
    // Instrumented code needs more room than the program knows of, and threads created ahead of time have it.
    let mut larger = [0_u8; 64];
    let mut wanted = None;
    let attributes = if ordinary && !attributes.is_null() && is_small(attributes) {
        escapes::small_stack();
        wanted = stack_size(attributes);
        core::ptr::copy_nonoverlapping(attributes, larger.as_mut_ptr(), ATTRIBUTES);
        pthread_attr_setstacksize(larger.as_mut_ptr(), DEFAULT_STACK);
        larger.as_ptr()
    } else {
        attributes
    };
    prepare(number);
    // The calls below may allocate, by code of the program in which others get their turn: the number is reserved.
    COUNT.set(number.0 + 1);
    swift::has_new_thread();
    afterlife::begin_thread(t);
    (*t).foreign_stack = !attributes.is_null() && has_stack(attributes);
    if (*t).foreign_stack {
        escapes::own_stack();
    }
    if (*t).from_pool && ordinary {
        fiber::rewind(t);
    } else {
        let error = fiber::harvest(t, attributes);
        if error != 0 {
            if COUNT.get() == number.0 + 1 {
                COUNT.set(number.0);
            }
            return Err(EAGAIN);
        }
        (*t).from_pool = ordinary;
    }
    fiber::inherit(t);
    handles::begin(t);
    attributes::inherit(number, wanted);
    (*t).start = start;
    (*t).argument = argument;
    (*t).parent = CURRENT.get();
    (*t).path = 0;
    (*t).described = [0; 2];
    LIVE.set(LIVE.get() + 1);
    schedule::draws_anew();
    clock::inherit(t);
    reach::note_replaced();
    Ok(t)
}

pub(super) unsafe extern "C" fn create(
    handle: *mut usize,
    attributes: *const u8,
    start: usize,
    argument: usize,
    code: usize,
) -> i32 {
    if rust::refuses_thread() {
        return EAGAIN;
    }
    let code = cxx::place(code);
    reach::handed(start, code);
    schedule::starts();
    let n = point(code);
    let t = match make(attributes, start, argument) {
        Ok(t) => t,
        Err(error) => return error,
    };
    escapes::created();
    // The C library allocates for a new thread. If the program has its own allocator, these allocations are events,
    // which come before the thread exists.
    let n = if now() == n { n } else { point(code) };
    let mut detached = 0;
    if !attributes.is_null() {
        pthread_attr_getdetachstate(attributes, &mut detached);
    }
    (*current()).children += 1;
    (*t).path = path_of((*current()).path, (*current()).children);
    (*t).created_at = code;
    (*t).detached = detached != 0;
    (*t).signal_mask = mask_of(attributes).unwrap_or((*current()).signal_mask);
    // Allocations of the C library may have been noted meanwhile.
    (*current()).code = code;
    log::event(Kind::Create, n, (*t).number.index(), log::relative(start).0, 0);
    log_stack(t);
    make_ready(t);
    *handle = (*t).handle;
    hooks::wrote(handle as usize, size_of::<usize>(), code);
    // A thread that creates threads without end would create all possible threads before the first of them runs.
    if (*current()).children.is_multiple_of(MANY_CHILDREN) {
        yield_now(code);
    }
    0
}

/// After this many creations, a thread gives way to the threads it has created.
const MANY_CHILDREN: u32 = 32;

/// Logs where the stack of a thread is, if memory blocks have to be distinguished.
unsafe fn log_stack(t: *const Thread) {
    if schedule::flags() & FLAG_ALLOCATIONS != 0 && !(*t).foreign_stack {
        log::put(Record {
            index: now(),
            object: ((*t).fs - DEFAULT_STACK) as u64,
            extra: DEFAULT_STACK as u64,
            thread: (*t).number,
            kind: Kind::Allocated,
            detail: ALLOCATED_STACK,
            ..Record::default()
        });
    }
}

/// Handles a join or detach of a thread that does not allow it, or does not exist.
unsafe fn not_joinable(handle: usize, kind: Kind, code: usize) -> i32 {
    let Some(t) = any_by_handle(handle) else { return ESRCH };
    let number = (*t).number.index();
    let what = match (kind, (*t).joined) {
        (Kind::Detach, _) => Misuse::DetachTwice,
        (_, true) => Misuse::JoinTwice,
        (_, false) => Misuse::JoinDetached,
    };
    let n = point(code);
    log::event(kind, n, number, detail::JOIN_REFUSED, 0);
    misuse::report(what, number, Owner::NONE);
    if (*t).joined { ESRCH } else { EINVAL }
}

/// How long a thread waits for the end of another.
#[derive(Clone, Copy)]
enum Patience {
    ForEver,
    Until(Deadline),
    None,
}

unsafe fn join_with(handle: usize, result: *mut usize, patience: Patience, code: usize) -> i32 {
    let code = cxx::place(code);
    let Some(t) = by_handle(handle) else { return not_joinable(handle, Kind::Join, code) };
    if (*t).detached {
        return not_joinable(handle, Kind::Join, code);
    }
    if t == current() {
        return EDEADLK;
    }
    let number = (*t).number.index();
    // Only a call that could wait is a cancellation point.
    let (deadline, how, ends_by) = match patience {
        Patience::ForEver => (None, 0, EndsBy::CANCEL),
        Patience::Until(deadline) => (Some(deadline), detail::JOIN_TRIED, EndsBy::CANCEL),
        Patience::None => (Some(Deadline::at(0)), detail::JOIN_TRIED, EndsBy::NOTHING),
    };
    let (n, end) = acquire(code, Waiting { wait: Wait::Join, object: number, deadline, ends_by });
    match end {
        End::Done => {}
        End::Cancelled => {
            cancel::act();
            return 0;
        }
        End::TimedOut | End::Interrupted => {
            log::event(Kind::Join, n, number, detail::JOIN_REFUSED, 0);
            return if matches!(patience, Patience::None) { EBUSY } else { ETIMEDOUT };
        }
    }
    if (*t).joined {
        log::event(Kind::Join, n, number, detail::JOIN_REFUSED, 0);
        misuse::report(Misuse::JoinTwice, number, Owner::NONE);
        return EINVAL;
    }
    if (*t).detached {
        // It was detached while this thread waited for it.
        log::event(Kind::Join, n, number, detail::JOIN_REFUSED, 0);
        misuse::report(Misuse::JoinDetached, number, Owner::NONE);
        return EINVAL;
    }
    clock::join_thread(t);
    (*t).joined = true;
    log::event(Kind::Join, n, number, how, detail::SUCCEEDED);
    handles::end(t);
    if !result.is_null() {
        *result = (*t).result;
        hooks::wrote(result as usize, size_of::<usize>(), code);
    }
    0
}

pub(super) unsafe extern "C" fn join(handle: usize, result: *mut usize, code: usize) -> i32 {
    join_with(handle, result, Patience::ForEver, code)
}

unsafe extern "C" fn timed_join(handle: usize, result: *mut usize, until: *const [i64; 2], code: usize) -> i32 {
    join_with(handle, result, Patience::Until(time::deadline(time::REALTIME, until)), code)
}

unsafe extern "C" fn clock_join(
    handle: usize,
    result: *mut usize,
    clock: i32,
    until: *const [i64; 2],
    code: usize,
) -> i32 {
    join_with(handle, result, Patience::Until(time::deadline(clock, until)), code)
}

unsafe extern "C" fn try_join(handle: usize, result: *mut usize, code: usize) -> i32 {
    join_with(handle, result, Patience::None, code)
}

pub(super) unsafe extern "C" fn detach(handle: usize, code: usize) -> i32 {
    let Some(t) = by_handle(handle) else { return not_joinable(handle, Kind::Detach, code) };
    if (*t).detached {
        return not_joinable(handle, Kind::Detach, code);
    }
    let n = point(cxx::place(code));
    (*t).detached = true;
    log::event(Kind::Detach, n, (*t).number.index(), 0, 0);
    handles::detach(t);
    0
}

pub(crate) unsafe extern "C" fn yield_now(code: usize) -> i32 {
    let n = idle_point(code);
    log::event(Kind::Yield, n, 0, 0, 0);
    yield_after();
    0
}

/// Ends a thread, after its destructors. Does not return.
pub(crate) unsafe fn end(t: *mut Thread) {
    if (*t).number != ThreadId::MAIN {
        escapes::look_at(t);
    }
    let n = point(0);
    if !(*t).held.is_empty() {
        super::abandon_locks(t);
    }
    log::event(Kind::Exit, n, 0, 0, 0);
    if (*t).detached {
        handles::end(t);
    }
    afterlife::end_thread(t, LIVE.get() - 1 == INTERNAL.get() - u32::from((*t).internal));
    LIVE.set(LIVE.get() - 1);
    INTERNAL.set(INTERNAL.get() - u32::from((*t).internal));
    make_unready(t, State::Done);
    send::thread_ends(t);
    refresh(Wait::Join, (*t).number.index());
    if LIVE.get() == INTERNAL.get() {
        // The last thread of a process whose main thread has left by `pthread_exit`: what `exit` calls comes after all
        // others.
        every_thread().filter(|&other| other != t).for_each(|other| clock::join_thread(other));
        (*t).state = State::Ready;
        outcome::end_program(0, 0);
    }
    decide_and_switch(now().next(), false, Cause::Exit);
    unreachable!();
}

#[unsafe(no_mangle)]
unsafe extern "C" fn rh_thread_result(value: usize) {
    (*current()).result = value;
    cancel::exits(current());
}

#[unsafe(no_mangle)]
unsafe extern "C" fn rh_real_exit() -> usize {
    real::exit_thread()
}

// Unwinds the caller's frames, so it must be transparent to the unwinder: remember the result, then jump.
global_asm!(
    r#"
    .globl pthread_exit
    .type pthread_exit,@function
pthread_exit:
    .cfi_startproc
    push rdi
    .cfi_adjust_cfa_offset 8
    call rh_thread_result
    call rh_real_exit
    pop rdi
    .cfi_adjust_cfa_offset -8
    jmp rax
    .cfi_endproc
    .size pthread_exit, . - pthread_exit
    "#
);
