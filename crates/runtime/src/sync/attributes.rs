//! Attributes of threads that a program reads and sets: names, stacks, processors, priorities.
//!
//! The kernel keeps these for each of its threads, and a fiber has no kernel thread. They are therefore kept here: a thread reads
//! what was set for it, without any other effect. Threads inherit from their creator.

use super::{EINVAL, EPERM, fail, handles, interpose, real};
use crate::signals::send::process_id;
use crate::thread::{COUNT, CURRENT, State, any_by_handle, current, thread};
use crate::world::{cells, copies};
use crate::{Global, kernel, log, schedule, sys};
use core::ffi::CStr;
use racehunter_abi::control::{FLAG_STACKS, MAX_THREADS};
use racehunter_abi::{Kind, Record, ThreadId, Touched};

/// The attributes of a thread.
#[derive(Clone, Copy)]
struct Kept {
    name: Option<[u8; NAME]>,
    /// Bit per processor.
    processors: Option<[u64; PROCESSORS / 64]>,
    nice: Option<i32>,
    /// Policy and priority.
    policy: Option<[i32; 2]>,
    /// The requested stack size, if the stack is larger.
    stack: Option<usize>,
}

const NAME: usize = 16;
const PROCESSORS: usize = 1024;

static KEPT: Global<[Kept; MAX_THREADS]> =
    Global::new([Kept { name: None, processors: None, nice: None, policy: None, stack: None }; MAX_THREADS]);

unsafe fn kept(number: ThreadId) -> &'static mut Kept {
    &mut (*KEPT.ptr())[number.index() % MAX_THREADS]
}

/// Sets the attributes of a new thread. `stack` is the requested stack size, if it got a larger one.
pub(super) unsafe fn inherit(number: ThreadId, stack: Option<usize>) {
    *kept(number) = Kept { stack, ..*kept(CURRENT.get()) };
}

/// The thread that a call concerns.
#[derive(Clone, Copy)]
enum Whom {
    Fiber(ThreadId),
    /// A kernel thread, in this process or elsewhere.
    Other,
}

fn is_kept() -> bool {
    !kernel::in_use()
}

/// Returns a thread by its number from `gettid`; 0 is the running one.
unsafe fn by_number(id: i32, code: usize) -> Whom {
    let number = if id == 0 { CURRENT.get() } else { ThreadId(id.wrapping_sub(process_id()) as u32) };
    let is_there = number.0 < COUNT.get() && !matches!((*thread(number)).state, State::Free | State::Done);
    if is_there { known(number, code) } else { Whom::Other }
}

unsafe fn by_handle(handle: usize, code: usize) -> Whom {
    let Some(t) = any_by_handle(handle) else { return Whom::Other };
    let whom = known((*t).number, code);
    if schedule::running() && t != current() {
        schedule::point(code);
        handles::uses(t);
    }
    whom
}

/// Returns a thread of the program. If threads are kernel threads the kernel keeps the attributes, and the access is still a
/// point.
unsafe fn known(number: ThreadId, code: usize) -> Whom {
    match (schedule::running(), is_kept()) {
        (true, true) => return Whom::Fiber(number),
        (true, false) => touch(number, true, code),
        (false, _) => {}
    }
    Whom::Other
}

/// What threads read about each other depends on the schedule.
unsafe fn touch(number: ThreadId, changes: bool, code: usize) {
    const ATTRIBUTES: u64 = 0xa77_1b07e5;
    let mut touched = Touched::default();
    touched.add(cells::of(ATTRIBUTES ^ u64::from(number)), changes);
    cells::touch(touched, code);
}

interpose! {
    pthread_getname_np => name_of, "rcx";
    pthread_setname_np => set_name, "rdx";
    pthread_getaffinity_np => processors_of, "rcx";
    pthread_setaffinity_np => set_processors, "rcx";
    pthread_getschedparam => policy_of, "rcx";
    pthread_setschedparam => set_policy, "rcx";
    pthread_setschedprio => set_priority, "rdx";
    pthread_getattr_np => attributes_of, "rdx";
    pthread_getcpuclockid => clock_of, "rdx";
    sched_getaffinity => processors_by_number, "rcx";
    sched_setaffinity => set_processors_by_number, "rcx";
    sched_getscheduler => policy_by_number, "rsi";
    sched_setscheduler => set_policy_by_number, "rcx";
    sched_getparam => priority_by_number, "rdx";
    sched_setparam => set_priority_by_number, "rdx";
    getpriority => nice_by_number, "rdx";
    setpriority => set_nice_by_number, "rcx";
    nice => add_to_nice, "rsi";
    prctl => control_process, "r9";
}

/// Converts the result of a system call for the functions named after it.
unsafe fn finish(result: isize) -> i32 {
    if result < 0 { fail(-result as i32) } else { result as i32 }
}

unsafe extern "C" {
    fn pthread_attr_getstack(attributes: *const u8, address: *mut usize, size: *mut usize) -> i32;
    fn pthread_attr_setstack(attributes: *mut u8, address: usize, size: usize) -> i32;
}

unsafe extern "C" fn name_of(handle: usize, to: *mut u8, size: usize, code: usize) -> i32 {
    const ERANGE: i32 = 34;
    let Whom::Fiber(number) = by_handle(handle, code) else {
        let real: extern "C" fn(usize, *mut u8, usize) -> i32 = core::mem::transmute(real::get_name());
        return real(handle, to, size);
    };
    if size < NAME {
        return ERANGE;
    }
    touch(number, false, code);
    let name = kept(number).name.unwrap_or_else(|| name_of_process());
    to.copy_from_nonoverlapping(name.as_ptr(), NAME);
    0
}

unsafe fn name_of_process() -> [u8; NAME] {
    const GET_NAME: usize = 16;
    let mut name = [0; NAME];
    sys::call(sys::PRCTL, GET_NAME, name.as_mut_ptr() as usize, 0, 0);
    name
}

unsafe extern "C" fn set_name(handle: usize, name: *const core::ffi::c_char, code: usize) -> i32 {
    const ERANGE: i32 = 34;
    let Whom::Fiber(number) = by_handle(handle, code) else {
        let real: extern "C" fn(usize, *const core::ffi::c_char) -> i32 = core::mem::transmute(real::set_name());
        return real(handle, name);
    };
    let text = CStr::from_ptr(name).to_bytes_with_nul();
    if text.len() > NAME {
        return ERANGE;
    }
    let mut whole = [0; NAME];
    whole[..text.len()].copy_from_slice(text);
    put_name(number, whole, code);
    0
}

unsafe fn put_name(number: ThreadId, name: [u8; NAME], code: usize) {
    touch(number, true, code);
    kept(number).name = Some(name);
    if schedule::flags() & FLAG_STACKS != 0 {
        let word = |at: usize| u64::from_le_bytes(core::array::from_fn(|byte| name[at + byte]));
        let (index, object, extra) = (schedule::now(), word(0), word(8));
        log::put(Record { index, object, extra, thread: number, kind: Kind::Named, ..Record::default() });
    }
}

/// `prctl`: the name belongs to the thread, and most other settings to the process.
unsafe extern "C" fn control_process(option: i32, a: usize, b: usize, c: usize, d: usize, code: usize) -> i32 {
    const SET_NAME: i32 = 15;
    const GET_NAME: i32 = 16;
    match (option, by_number(0, code)) {
        (SET_NAME, Whom::Fiber(number)) => {
            let mut name = [0; NAME];
            let text = CStr::from_ptr(a as *const core::ffi::c_char).to_bytes();
            let len = text.len().min(NAME - 1);
            name[..len].copy_from_slice(&text[..len]);
            put_name(number, name, code);
            0
        }
        (GET_NAME, Whom::Fiber(number)) => name_of((*thread(number)).handle, a as *mut u8, NAME, code),
        _ => {
            // Not all of it is the same in copies of the process.
            copies::ask();
            finish(sys::call6(sys::PRCTL, option as usize, a, b, c, d, 0))
        }
    }
}

type Processors = [u64; PROCESSORS / 64];

/// Returns the processors that the process may use.
unsafe fn all_processors() -> Processors {
    let mut all = [0; PROCESSORS / 64];
    sys::call(GET_AFFINITY, 0, size_of::<Processors>(), all.as_mut_ptr() as usize, 0);
    all
}

const GET_AFFINITY: usize = 204;
const SET_AFFINITY: usize = 203;

unsafe fn get_processors(number: ThreadId, size: usize, to: *mut u8, code: usize) -> i32 {
    touch(number, false, code);
    let set = kept(number).processors.unwrap_or(all_processors());
    if size.is_multiple_of(8) && size > 0 && set.iter().skip(size / 8).all(|&word| word == 0) {
        to.write_bytes(0, size);
        to.copy_from_nonoverlapping(set.as_ptr() as *const u8, size.min(size_of::<Processors>()));
        return 0;
    }
    EINVAL
}

unsafe fn put_processors(number: ThreadId, size: usize, from: *const u8, code: usize) -> i32 {
    let mut set: Processors = [0; PROCESSORS / 64];
    (set.as_mut_ptr() as *mut u8).copy_from_nonoverlapping(from, size.min(size_of::<Processors>()));
    set.iter_mut().zip(all_processors()).for_each(|(word, all)| *word &= all);
    if set.iter().all(|&word| word == 0) {
        return EINVAL;
    }
    touch(number, true, code);
    kept(number).processors = Some(set);
    0
}

unsafe extern "C" fn processors_of(handle: usize, size: usize, to: *mut u8, code: usize) -> i32 {
    let Whom::Fiber(number) = by_handle(handle, code) else {
        let real: extern "C" fn(usize, usize, *mut u8) -> i32 = core::mem::transmute(real::get_affinity());
        return real(handle, size, to);
    };
    get_processors(number, size, to, code)
}

unsafe extern "C" fn set_processors(handle: usize, size: usize, from: *const u8, code: usize) -> i32 {
    let Whom::Fiber(number) = by_handle(handle, code) else {
        let real: extern "C" fn(usize, usize, *const u8) -> i32 = core::mem::transmute(real::set_affinity());
        return real(handle, size, from);
    };
    put_processors(number, size, from, code)
}

unsafe extern "C" fn processors_by_number(id: i32, size: usize, to: *mut u8, code: usize) -> i32 {
    match by_number(id, code) {
        Whom::Fiber(number) => finish(-get_processors(number, size, to, code) as isize),
        Whom::Other => {
            let result = sys::call(GET_AFFINITY, id as usize, size, to as usize, 0);
            if let Ok(bytes) = usize::try_from(result) {
                // The kernel writes what it has, and returns its size.
                to.add(bytes).write_bytes(0, size - bytes);
            }
            finish(result.min(0))
        }
    }
}

unsafe extern "C" fn set_processors_by_number(id: i32, size: usize, from: *const u8, code: usize) -> i32 {
    finish(match by_number(id, code) {
        Whom::Fiber(number) => -put_processors(number, size, from, code) as isize,
        Whom::Other => sys::call(SET_AFFINITY, id as usize, size, from as usize, 0),
    })
}

const OTHER: i32 = 0;
/// `SCHED_FIFO` and `SCHED_RR`.
const REAL_TIME: core::ops::RangeInclusive<i32> = 1..=2;

unsafe fn is_privileged() -> bool {
    const GETEUID: usize = 107;
    sys::call(GETEUID, 0, 0, 0, 0) == 0
}

unsafe fn get_policy(number: ThreadId, code: usize) -> [i32; 2] {
    touch(number, false, code);
    kept(number).policy.unwrap_or([OTHER, 0])
}

/// Returns an error number.
unsafe fn put_policy(number: ThreadId, policy: i32, priority: i32, code: usize) -> i32 {
    const RESET_ON_FORK: i32 = 0x4000_0000;
    const IDLE: i32 = 5;
    let policy = policy & !RESET_ON_FORK;
    let is_known = if REAL_TIME.contains(&policy) { (1..=99).contains(&priority) } else { priority == 0 };
    if !(0..=IDLE).contains(&policy) || !is_known {
        return EINVAL;
    }
    if REAL_TIME.contains(&policy) && !is_privileged() {
        return EPERM;
    }
    touch(number, true, code);
    kept(number).policy = Some([policy, priority]);
    0
}

unsafe extern "C" fn policy_of(handle: usize, policy: *mut i32, priority: *mut i32, code: usize) -> i32 {
    let Whom::Fiber(number) = by_handle(handle, code) else {
        let real: extern "C" fn(usize, *mut i32, *mut i32) -> i32 = core::mem::transmute(real::get_priority());
        return real(handle, policy, priority);
    };
    [*policy, *priority] = get_policy(number, code);
    0
}

unsafe extern "C" fn set_policy(handle: usize, policy: i32, priority: *const i32, code: usize) -> i32 {
    let Whom::Fiber(number) = by_handle(handle, code) else {
        let real: extern "C" fn(usize, i32, *const i32) -> i32 = core::mem::transmute(real::set_priority());
        return real(handle, policy, priority);
    };
    put_policy(number, policy, *priority, code)
}

unsafe extern "C" fn set_priority(handle: usize, priority: i32, code: usize) -> i32 {
    let Whom::Fiber(number) = by_handle(handle, code) else {
        let real: extern "C" fn(usize, i32) -> i32 = core::mem::transmute(real::next(c"pthread_setschedprio"));
        return real(handle, priority);
    };
    let [policy, _] = get_policy(number, code);
    put_policy(number, policy, priority, code)
}

unsafe extern "C" fn policy_by_number(id: i32, code: usize) -> i32 {
    const GET_SCHEDULER: usize = 145;
    match by_number(id, code) {
        Whom::Fiber(number) => get_policy(number, code)[0],
        Whom::Other => finish(sys::call(GET_SCHEDULER, id as usize, 0, 0, 0)),
    }
}

unsafe extern "C" fn set_policy_by_number(id: i32, policy: i32, priority: *const i32, code: usize) -> i32 {
    const SET_SCHEDULER: usize = 144;
    finish(match by_number(id, code) {
        Whom::Fiber(number) => -put_policy(number, policy, *priority, code) as isize,
        Whom::Other => sys::call(SET_SCHEDULER, id as usize, policy as usize, priority as usize, 0),
    })
}

unsafe extern "C" fn priority_by_number(id: i32, priority: *mut i32, code: usize) -> i32 {
    const GET_PARAMETERS: usize = 143;
    match by_number(id, code) {
        Whom::Fiber(number) => {
            [_, *priority] = get_policy(number, code);
            0
        }
        Whom::Other => finish(sys::call(GET_PARAMETERS, id as usize, priority as usize, 0, 0)),
    }
}

unsafe extern "C" fn set_priority_by_number(id: i32, priority: *const i32, code: usize) -> i32 {
    const SET_PARAMETERS: usize = 142;
    finish(match by_number(id, code) {
        Whom::Fiber(number) => {
            let [policy, _] = get_policy(number, code);
            -put_policy(number, policy, *priority, code) as isize
        }
        Whom::Other => sys::call(SET_PARAMETERS, id as usize, priority as usize, 0, 0),
    })
}

/// `PRIO_PROCESS`; on Linux that is a thread.
const THREAD: i32 = 0;

unsafe fn get_nice(number: ThreadId, code: usize) -> i32 {
    touch(number, false, code);
    kept(number).nice.unwrap_or(nice_of(THREAD, 0) as i32)
}

/// Returns the kernel's value, which it reports as 20 minus the value.
unsafe fn nice_of(which: i32, who: i32) -> isize {
    const GET_PRIORITY: usize = 140;
    let result = sys::call(GET_PRIORITY, which as usize, who as usize, 0, 0);
    if result < 0 { result } else { 20 - result }
}

/// Returns an error number.
unsafe fn put_nice(number: ThreadId, nice: i32, code: usize) -> i32 {
    const EACCES: i32 = 13;
    let nice = nice.clamp(-20, 19);
    if nice < get_nice(number, code) && !is_privileged() {
        return EACCES;
    }
    touch(number, true, code);
    kept(number).nice = Some(nice);
    0
}

unsafe extern "C" fn nice_by_number(which: i32, who: i32, code: usize) -> i32 {
    if which == THREAD
        && let Whom::Fiber(number) = by_number(who, code)
    {
        return get_nice(number, code);
    }
    const GET_PRIORITY: usize = 140;
    let result = sys::call(GET_PRIORITY, which as usize, who as usize, 0, 0);
    if result < 0 { fail(-result as i32) } else { 20 - result as i32 }
}

unsafe extern "C" fn set_nice_by_number(which: i32, who: i32, nice: i32, code: usize) -> i32 {
    const SET_PRIORITY: usize = 141;
    if which == THREAD
        && let Whom::Fiber(number) = by_number(who, code)
    {
        return finish(-put_nice(number, nice, code) as isize);
    }
    finish(sys::call(SET_PRIORITY, which as usize, who as usize, nice as usize, 0))
}

unsafe extern "C" fn add_to_nice(by: i32, code: usize) -> i32 {
    let old = nice_by_number(THREAD, 0, code);
    match set_nice_by_number(THREAD, 0, old.saturating_add(by), code) {
        0 => nice_by_number(THREAD, 0, code),
        _ => fail(EPERM),
    }
}

/// Returns the offset from a thread's handle at which the C library keeps the kernel's number; 0 if unknown.
unsafe fn offset() -> usize {
    const GET_TID_ADDRESS: usize = 40;
    static OFFSET: Global<usize> = Global::new(0);
    if OFFSET.get() == 0 {
        let mut address = 0_usize;
        let result = sys::call(sys::PRCTL, GET_TID_ADDRESS, &raw mut address as usize, 0, 0);
        if result == 0 && address != 0 {
            OFFSET.set(address.wrapping_sub((*thread(ThreadId::MAIN)).handle));
        }
    }
    OFFSET.get()
}

/// Makes a C library call about a thread. The call queries the kernel by the kernel's number of the thread, but the kernel thread
/// from which a fiber was harvested has ended: during the call the thread has the number of the process.
unsafe fn about(handle: usize, call: impl FnOnce() -> i32) -> i32 {
    if kernel::in_use() || any_by_handle(handle).is_none() {
        return call();
    }
    let offset = offset();
    if offset == 0 {
        return call();
    }
    let number = handle.wrapping_add(offset) as *mut i32;
    let own = number.read();
    number.write(sys::call(sys::GETTID, 0, 0, 0, 0) as i32);
    let result = call();
    number.write(own);
    result
}

unsafe extern "C" fn attributes_of(handle: usize, attributes: *mut u8, code: usize) -> i32 {
    by_handle(handle, code);
    let error = about(handle, || {
        let real: extern "C" fn(usize, *mut u8) -> i32 = core::mem::transmute(real::get_attributes());
        real(handle, attributes)
    });
    if error == 0
        && is_kept()
        && schedule::running()
        && let Some(t) = any_by_handle(handle)
        && let Some(stack) = kept((*t).number).stack
    {
        // The part that the thread starts with.
        let (mut address, mut size) = (0, 0);
        pthread_attr_getstack(attributes, &mut address, &mut size);
        pthread_attr_setstack(attributes, address + size - stack.min(size), stack.min(size));
    }
    error
}

unsafe extern "C" fn clock_of(handle: usize, clock: usize, code: usize) -> i32 {
    by_handle(handle, code);
    about(handle, || {
        let real: extern "C" fn(usize, usize) -> i32 = core::mem::transmute(real::get_clock());
        real(handle, clock)
    })
}
