//! The futex operations that the C++ library and custom locks use.

use super::{EAGAIN, EFAULT, EINTR, EINVAL, ETIMEDOUT, fail, objects};
use crate::schedule::{self, End, EndsBy, Waiting, point, refresh, spin, wait_until};
use crate::thread::{Awaits, CURRENT, State, Thread, current, every_thread, next_ticket};
use crate::{afterlife, clock, escapes, kernel, log, memory, outcome, sys, time};
use racehunter_abi::{Cause, Kind, Wait, detail};
use racehunter_machine::Deadline;
use racehunter_machine::sync::{FutexAddress, FutexOperation, FutexScope, FutexTimeout, futex_wake_count};

const ENOSYS: i32 = 38;

/// `syscall(SYS_futex, word, operation, value, timeout or count, second word, last)`
pub(crate) unsafe fn operate(a: usize, b: usize, c: usize, d: usize, e: usize, f: usize, code: usize) -> i32 {
    let operation = FutexOperation::decode(b, f as u32);
    let scope = FutexScope::decode(b);
    let is_wait = matches!(operation, FutexOperation::Wait { .. });
    let counts_are_negative = matches!(operation, FutexOperation::Requeue { .. }) && ((c as i32) < 0 || (d as i32) < 0);
    if operation == FutexOperation::Unknown {
        return fail(ENOSYS);
    }
    let address = FutexAddress::of(a);
    if address == FutexAddress::Unaligned
        || operation == FutexOperation::Invalid
        || counts_are_negative
        || is_wait && d != 0 && !time::is_valid(d as *const [i64; 2])
    {
        return fail(EINVAL);
    }
    if address == FutexAddress::Unmapped {
        return fail(EFAULT);
    }
    match operation {
        FutexOperation::Wait { bits, timeout } => {
            let timeout = |given: *const [i64; 2]| match timeout {
                FutexTimeout::Duration => time::after(given),
                FutexTimeout::Until(clock) => time::deadline(clock.0, given),
            };
            wait(a, c as u32, Awaits::Futex { bits, scope }, (d != 0).then(|| timeout(d as *const [i64; 2])), code)
        }
        FutexOperation::Wake { bits } => wake(a, futex_wake_count(c as i32), bits, scope, code),
        FutexOperation::Requeue { expected: Some(value) } if *(a as *const u32) != value => fail(EAGAIN),
        FutexOperation::Requeue { .. } => requeue(a, c as u32 as usize, e, d as u32 as usize, scope, code),
        // The program could not be blamed for its reaction to an error.
        FutexOperation::Unmodelled => outcome::end_unmodelled(c"it uses a futex operation that has no model"),
        FutexOperation::Invalid | FutexOperation::Unknown => fail(ENOSYS),
    }
}

/// A fiber has no kernel thread; this number is still unique among the process's threads.
pub(crate) unsafe fn thread_id() -> isize {
    if kernel::in_use() {
        return kernel::id() as isize;
    }
    sys::call(sys::GETPID, 0, 0, 0, 0) + CURRENT.get().0 as isize
}

#[unsafe(no_mangle)]
unsafe extern "C" fn gettid() -> i32 {
    thread_id() as i32
}

unsafe fn wait(at: usize, value: u32, awaits: Awaits, deadline: Option<Deadline>, code: usize) -> i32 {
    loop {
        // The kernel restarts the call after a handler that was installed to restart, unless it has a time limit.
        if let Some(result) = wait_once(at, value, awaits, deadline, code) {
            return result;
        }
    }
}

/// Returns `None` if the call has to be restarted.
unsafe fn wait_once(at: usize, value: u32, awaits: Awaits, deadline: Option<Deadline>, code: usize) -> Option<i32> {
    const NO_MUTEX: usize = 0;
    let chooses = schedule::chooses_wakeups();
    let (again, before) = (chooses && spin::waits_again(at, NO_MUTEX, code), schedule::switches());
    let n = point(code);
    if memory::in_program(code) {
        afterlife::object_used(at, Kind::FutexWait, code);
    }
    if *(at as *const u32) != value {
        log::event(Kind::FutexWait, n, at, 0, detail::FUTEX_CHANGED);
        return Some(fail(EAGAIN));
    }
    // Others may have run first.
    let again = again && schedule::switches() == before;
    log::event(Kind::FutexWait, n, at, 0, if again { detail::WAIT_REPEATED } else { 0 });
    if deadline.is_some() || !chooses {
        escapes::futex_wait();
    }
    let t = current();
    (*t).signalled = false;
    (*t).awaits = awaits;
    (*t).ticket = next_ticket();
    let waiting = Waiting { wait: Wait::Futex, object: at, deadline, ends_by: EndsBy::ANY_SIGNAL };
    match wait_until(waiting, Cause::Blocked) {
        End::TimedOut => return Some(fail(ETIMEDOUT)),
        // A spurious wake-up.
        End::Interrupted if (*t).for_nothing => {
            spin::woken_for_nothing(schedule::switches());
            return Some(0);
        }
        End::Interrupted if (*t).restarts && deadline.is_none() => return None,
        End::Interrupted | End::Cancelled => return Some(fail(EINTR)),
        End::Done => {}
    }
    clock::acquire(&(*objects::get(Wait::Futex, at)).clock);
    Some(0)
}

unsafe fn waiter(at: usize, bits: u32, scope: FutexScope) -> Option<*mut Thread> {
    every_thread()
        .filter(|&t| {
            (*t).pending == Wait::Futex
                && (*t).object == at
                && (*t).awaits.is_woken_by(bits, scope)
                && !(*t).signalled
                && matches!((*t).state, State::Blocked | State::Suspended | State::Ready)
        })
        .min_by_key(|&t| (*t).ticket)
}

unsafe fn wake_some(at: usize, count: usize, bits: u32, scope: FutexScope) -> usize {
    let mut woken = 0;
    if objects::has_waiters(Wait::Futex, at) {
        while woken < count {
            let Some(t) = waiter(at, bits, scope) else { break };
            (*t).signalled = true;
            refresh(Wait::Futex, at);
            woken += 1;
        }
    }
    woken
}

unsafe fn wake(at: usize, count: usize, bits: u32, scope: FutexScope, code: usize) -> i32 {
    let n = point(code);
    clock::release(&mut (*objects::get(Wait::Futex, at)).clock);
    log::event(Kind::FutexWake, n, at, 0, 0);
    wake_some(at, count, bits, scope) as i32
}

unsafe fn requeue(at: usize, wake_count: usize, to: usize, move_count: usize, scope: FutexScope, code: usize) -> i32 {
    let n = point(code);
    clock::release(&mut (*objects::get(Wait::Futex, at)).clock);
    clock::release(&mut (*objects::get(Wait::Futex, to)).clock);
    log::event(Kind::FutexWake, n, at, to as u64, 0);
    let woken = wake_some(at, wake_count, u32::MAX, scope);
    let mut moved = 0;
    while moved < move_count {
        let Some(t) = waiter(at, u32::MAX, scope) else { break };
        objects::remove_waiter(Wait::Futex, at);
        objects::add_waiter(Wait::Futex, to);
        (*t).object = to;
        moved += 1;
    }
    (woken + moved) as i32
}
