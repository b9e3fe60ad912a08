//! Free running: real threads in parallel, without serialisation, for programs that cannot be serialised.
//!
//! After E. A. Gerlits, "RaceHunter: dynamic detection of data races by provoking conflicting accesses", 2023,
//! algorithms 1, 3 and 4. An execution is either *monitored*, which logs every access, or *provoked*: the first thread
//! that reaches one of the two accesses of the plan waits there, for a time that the controller measured on a monitored
//! execution. If another thread is about to make a conflicting access to the same memory meanwhile, that is a race:
//! both threads are at their accesses at the same time. Instead of the plan's accesses, some can be sampled at random,
//! as in DataCollider and KCSAN.
//!
//! Such a process bypasses everything that makes executions controllable ([`detour`]): it uses the C library's own
//! functions, and time is real. Only the state in this module is used, and everything that several threads use is
//! atomic.

mod annotations;
pub(crate) use annotations::excuse;
mod calls;
mod detour;
mod threads;
mod watch;

use crate::sync::{keys, real};
use crate::thread::{__rh_stack, Frame};
use crate::{Global, log, modules, outcome, schedule, server, sys};
use core::ffi::CStr;
use core::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering};
use detour::To;
use racehunter_abi::control::{
    LOG_RECORDS, NOTE_LOG_FULL, NOTE_UNCONTROLLED, OBSERVE_ALL, OUTCOME_NOT_FREE, SITE_POINT, STATE_DONE,
};
use racehunter_abi::{EventNumber, Kind, Record};

/// Whether this process runs freely. Set before there is a second thread.
#[unsafe(link_section = ".data.racehunter")]
static ON: Global<bool> = Global::new(false);
/// What is done about accesses, one of the constants below. A child of this process finds this memory zeroed, because
/// it is not part of the execution.
#[unsafe(link_section = ".data.racehunter")]
static TASK: Global<*const AtomicU8> = Global::new(core::ptr::null());
const NOTHING: u8 = 0;
const MONITOR: u8 = 1;
const PROVOKE: u8 = 2;

/// The position to which the shadow call stack is reset.
#[unsafe(link_section = ".data.racehunter")]
static STACK: Global<*mut Frame> = Global::new(core::ptr::null_mut());
/// The C library's own `pthread_join`.
static JOIN: AtomicUsize = AtomicUsize::new(0);

/// Maximum number of records of a monitored execution. Later accesses have no pairs.
const MONITORED: u64 = 4_000_000;

/// Returns whether this process runs freely.
#[inline(always)]
pub(crate) fn is_on() -> bool {
    ON.get()
}

fn task() -> u8 {
    // SAFETY: a byte that exists as long as the process.
    unsafe { (*TASK.get()).load(Ordering::Relaxed) }
}

fn is_watching() -> bool {
    task() != NOTHING
}

fn real_join() -> usize {
    JOIN.load(Ordering::Relaxed)
}

/// Turns this process, which was just forked for a slot, into a free-running one.
pub(crate) unsafe fn begin() {
    const SHADOW_STACK: usize = 1 << 30;
    let slot = server::slot();
    (*slot).log = (*server::header()).log_used;
    (*slot).log_count = 0;
    (*slot).notes |= NOTE_UNCONTROLLED;
    if crate::thread::COUNT.get() > 1 {
        refuse(c"it has threads before main begins");
    }
    let memory = sys::reserve(0, 4096);
    let stack = sys::reserve(0, SHADOW_STACK) as *mut Frame;
    JOIN.store(detour::next(c"pthread_join".as_ptr()), Ordering::Relaxed);
    // Looked up now, because several threads may need it at once later.
    real::create();
    if memory.is_null() || stack.is_null() || !detour::install(place) {
        refuse(c"the code of the runtime cannot be changed");
    }
    const WIPE_ON_FORK: usize = 18;
    sys::call(sys::MADVISE, memory as usize, 4096, WIPE_ON_FORK, 0);
    schedule::end();
    keys::disarm();
    outcome::leave_signals();
    STACK.set(stack);
    __rh_stack.set(stack);
    let monitors = (*slot).observe == OBSERVE_ALL;
    *memory = if monitors { MONITOR } else { PROVOKE };
    TASK.set(memory as *const AtomicU8);
    modules::flag_all(SITE_POINT);
    watch::begin();
    threads::begin();
    ON.set(true);
}

/// Returns where calls of a runtime function go.
fn place(name: &CStr) -> To {
    match name.to_bytes() {
        b"pthread_create" => To::Here(threads::create as *const () as usize),
        b"pthread_join" => To::Here(threads::join as *const () as usize),
        b"thrd_create" => To::Here(threads::create_c11 as *const () as usize),
        b"thrd_join" => To::Here(threads::join_c11 as *const () as usize),
        b"racehunter_on_start" | b"racehunter_on_restart" | b"racehunter_atomic_begin" | b"racehunter_atomic_end" => {
            To::Here(nothing as *const () as usize)
        }
        b"racehunter_thread_id" => To::Here(threads::number as *const () as usize),
        // The stricter of two functions that are one here.
        b"__libc_start_main" | b"__longjmp_chk" => To::Stay,
        name => annotations::place(name).unwrap_or(To::Next),
    }
}

unsafe extern "C" fn nothing() -> usize {
    0
}

/// Ends the execution, with the reason why it could not run.
pub(crate) unsafe fn refuse(why: &CStr) -> ! {
    let slot = server::slot();
    let text = why.to_bytes_with_nul();
    core::ptr::copy_nonoverlapping(text.as_ptr(), &raw mut (*slot).message as *mut u8, text.len());
    (*slot).outcome = OUTCOME_NOT_FREE;
    (*slot).state = STATE_DONE;
    sys::exit_group(0)
}

/// Handles an access that is about to happen. `frame`: the frame pointer of the function that makes it.
#[cold]
pub(crate) unsafe fn access(address: usize, size: usize, kind: Kind, site: *const u8, code: usize, frame: usize) {
    // Functions pop their frames, but not in the order in which other threads pushed theirs: without this the stack
    // would grow without end.
    __rh_stack.set(STACK.get());
    let task = task();
    if task == NOTHING {
        return;
    }
    let Some(own) = threads::own() else { return };
    // Accesses of a single thread are ordered with everything.
    if !threads::are_several() || own.ignores.load(Ordering::Relaxed) > 0 || annotations::is_benign(address) {
        return;
    }
    let (thread, site) = (own.number, modules::site_number(site));
    let access = watch::Access { thread, code, frame, address, size, kind, site };
    if task == MONITOR {
        put(&[Record {
            code: log::relative(code),
            object: address as u64,
            extra: size as u64,
            thread,
            stack: calls::stack(own, code, frame),
            site,
            kind,
            size: size.min(255) as u8,
            ..Record::default()
        }]);
    } else {
        watch::before(own, &access);
    }
}

/// Appends consecutive records, numbered by their position in the log.
unsafe fn put(records: &[Record]) {
    let slot = server::slot();
    let count = AtomicU64::from_ptr(&raw mut (*slot).log_count);
    let wanted = records.len() as u64;
    let first = count.fetch_add(wanted, Ordering::Relaxed);
    if first + wanted > MONITORED || (*slot).log + first + wanted > LOG_RECORDS as u64 {
        count.fetch_sub(wanted, Ordering::Relaxed);
        (*slot).notes |= NOTE_LOG_FULL;
        return;
    }
    for (i, record) in records.iter().enumerate() {
        let at = server::log_area().add(((*slot).log + first) as usize + i);
        // The process may end at any moment: an incomplete record does not count.
        *at = Record { index: EventNumber(first + i as u64 + 1), kind: Kind::None, ..*record };
        AtomicU8::from_ptr(&raw mut (*at).kind as *mut u8).store(record.kind as u8, Ordering::Release);
    }
}

/// Called in the server after a free-running process has ended: completes its log.
pub(crate) unsafe fn ended(elapsed: u64) {
    let (slot, header) = (server::slot(), server::header());
    (*slot).elapsed = elapsed;
    (*slot).log_count = (*slot).log_count.min(MONITORED);
    (*slot).events = (*slot).log_count;
    (*header).log_used = (*slot).log + (*slot).log_count;
}
