//! Cancellation.
//!
//! A cancelled thread leaves by the C library's own `pthread_exit`, which runs cleanup handlers and destructors. It must not
//! begin inside the runtime: a model that finds its thread cancelled notes that ([`act`]) and returns, and the wrapper that the
//! program called jumps there (`interpose_cancellable!`). A thread with asynchronous cancellation also leaves when it is next
//! switched to, wherever it is.

use crate::schedule::{EndsBy, now, point, stop_awaiting, wake};
use crate::sync::{EINVAL, ESRCH, handles, interpose_cancellable};
use crate::thread::{CURRENT, State, Thread, any_by_handle, current};
use crate::{Global, free, log, schedule, server};
use racehunter_abi::{Escape, Kind, Record, UNMODELLED_CANCELLATION, UNMODELLED_FUNCTION, Wait, detail};

interpose_cancellable! {
    pthread_cancel => cancel, "rsi";
    pthread_testcancel => test, "rdi";
    pthread_setcancelstate => set_state, "rdx";
    pthread_setcanceltype => set_type, "rdx";
}

/// Tells the wrapper of a cancellation point that the thread leaves.
pub(crate) static CANCELLED: Global<u8> = Global::new(0);

unsafe extern "C" {
    fn pthread_exit(value: usize) -> !;
}

const RESULT: usize = usize::MAX;

/// Returns whether the thread has to leave at its next cancellation point.
unsafe fn is_due(t: *const Thread) -> bool {
    (*t).cancellation.is_due()
}

/// Returns whether the current wait of the thread ends because it is cancelled.
pub(crate) unsafe fn ends_wait(t: *const Thread) -> bool {
    (*t).cancellation.ends((*t).ends_by)
}

/// Makes the running thread leave when the model returns.
pub(crate) unsafe fn act() {
    begin_exit(current());
    CANCELLED.set(1);
}

/// A cancellation point. Returns whether the running thread leaves here.
pub(crate) unsafe fn acts() -> bool {
    let due = is_due(current());
    if due {
        act();
    }
    due
}

core::arch::global_asm!(".weak __rh_cancels");

/// Returns whether the program cancels threads at all.
fn is_used() -> bool {
    let mark: usize;
    // SAFETY: reads an entry of the table of addresses, which is zero if there is no such symbol.
    unsafe {
        core::arch::asm!("mov {}, qword ptr [rip + __rh_cancels@GOTPCREL]", out(reg) mark, options(nostack, readonly));
    }
    mark != 0
}

/// Returns whether threads are scheduled here. Without a controller they always are.
fn is_at_work() -> bool {
    (schedule::running() || !server::has_controller()) && !free::is_on()
}

/// A cancellation point that is not otherwise a scheduling point. Returns whether the running thread leaves here.
pub(crate) unsafe fn acts_at(code: usize) -> bool {
    if !is_used() || !is_at_work() {
        return false;
    }
    test(code);
    CANCELLED.get() != 0
}

/// Notes a stream function, or one that uses them. Whether it reaches a cancellation point depends on its buffer: the schedule
/// explores both orders of this place and of a request, and the thread stays, which is noted.
pub(crate) unsafe fn note_at(code: usize) {
    if !is_used() || !is_at_work() || (*current()).cancellation.is_disabled() {
        return;
    }
    look(code);
    if is_due(current()) {
        let what = UNMODELLED_FUNCTION + UNMODELLED_CANCELLATION;
        log::escape(Escape::Unmodelled, code, what as usize, 0);
    }
}

/// Runs work that is a cancellation point only if a program calls it by its name.
pub(crate) unsafe fn without(work: impl FnOnce() -> isize) -> isize {
    let t = current();
    let is_disabled = (*t).cancellation.set_disabled(true);
    let result = work();
    (*t).cancellation.set_disabled(is_disabled);
    result
}

/// Starts the end of the thread, which is not cancelled again.
unsafe fn begin_exit(t: *mut Thread) {
    (*t).cancellation.exit();
    log::put(Record {
        index: now(),
        code: log::relative((*t).code),
        object: u64::from((*t).number),
        thread: CURRENT.get(),
        kind: Kind::Cancelled,
        ..Record::default()
    });
}

/// Makes a thread that can be cancelled anywhere leave from where it is.
pub(super) unsafe fn act_asynchronously(t: *mut Thread) {
    if (*t).cancellation.is_due_anywhere() {
        if (*t).pending != Wait::Nothing {
            stop_awaiting(t);
        }
        (*t).ends_by = EndsBy::NOTHING;
        begin_exit(t);
        pthread_exit(RESULT);
    }
}

unsafe extern "C" fn cancel(handle: usize, code: usize) -> i32 {
    let Some(t) = any_by_handle(handle) else { return ESRCH };
    let n = point(code);
    log::event(Kind::Cancel, n, (*t).number.index(), 0, 0);
    handles::uses(t);
    if (*t).joined {
        return ESRCH;
    }
    if (*t).state == State::Done {
        return 0;
    }
    (*t).cancellation.request();
    if t == current() {
        if (*t).cancellation.is_asynchronous() {
            acts();
        }
    } else if matches!((*t).state, State::Blocked | State::Suspended)
        && (ends_wait(t) || (*t).cancellation.is_due_anywhere())
    {
        wake(t);
    }
    0
}

unsafe extern "C" fn test(code: usize) {
    if !(*current()).cancellation.is_disabled() {
        look(code);
        acts();
    }
}

/// The order of this place and of a request matters.
unsafe fn look(code: usize) {
    let n = point(code);
    log::event(Kind::Cancel, n, CURRENT.get().index(), 0, detail::CANCEL_TESTED);
}

unsafe extern "C" fn set_state(state: i32, old: *mut i32, _code: usize) -> i32 {
    if !(0..=1).contains(&state) {
        return EINVAL;
    }
    let t = current();
    let was_disabled = (*t).cancellation.set_disabled(state == 1);
    if !old.is_null() {
        *old = i32::from(was_disabled);
    }
    if (*t).cancellation.is_asynchronous() {
        acts();
    }
    0
}

unsafe extern "C" fn set_type(kind: i32, old: *mut i32, _code: usize) -> i32 {
    if !(0..=1).contains(&kind) {
        return EINVAL;
    }
    let t = current();
    let was_asynchronous = (*t).cancellation.set_asynchronous(kind == 1);
    if !old.is_null() {
        *old = i32::from(was_asynchronous);
    }
    if kind == 1 {
        acts();
    }
    0
}

/// Notes that a thread exits on its own, and is not cancelled meanwhile.
pub(crate) unsafe fn exits(t: *mut Thread) {
    (*t).cancellation.exit();
}
