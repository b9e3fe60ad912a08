//! The end of a thread, seen through thread-specific data.
//!
//! The C library runs C++ thread-local destructors, then the destructors of keys, in rounds, and then dismantles the thread. A
//! key of the runtime, whose destructor re-arms itself until the last round, shows when all code of the program has ended; the
//! thread then stops being scheduled, and the C library's own last steps never happen.

use super::{interpose, real, threads};
use crate::thread::{Thread, thread};
use crate::world::cells;
use crate::{Global, log, reach, schedule, server};
use racehunter_abi::{Escape, TRACES_OF_KEYS, ThreadId};

interpose! {
    pthread_setspecific => set, "rdx";
    tss_set => set_c11, "rdx";
    pthread_key_create => create, "rdx";
    __pthread_key_create => create, "rdx";
    pthread_key_delete => delete, "rsi";
    tss_create => create_c11, "rdx";
    tss_delete => delete_c11, "rsi";
}

#[unsafe(link_section = ".data.racehunter")]
static KEY: Global<u32> = Global::new(0);
/// `PTHREAD_DESTRUCTOR_ITERATIONS`
const LAST_ROUND: u32 = 4;
/// `PTHREAD_KEYS_MAX`
const KEYS: usize = 1024;

/// The destructors of the program's keys, 0 for those without one.
static DESTRUCTORS: Global<[usize; KEYS]> = Global::new([0; KEYS]);
/// One more than the largest key that ever had a destructor.
#[unsafe(link_section = ".data.racehunter")]
static KEYS_END: Global<usize> = Global::new(0);

unsafe fn note(key: u32, destructor: usize) {
    if let Some(known) = (*DESTRUCTORS.ptr()).get_mut(key as usize) {
        *known = destructor;
        if destructor != 0 {
            KEYS_END.set(KEYS_END.get().max(key as usize + 1));
        }
    }
}

/// The keys that have a destructor, with it.
unsafe fn destructors() -> impl Iterator<Item = (u32, usize)> {
    let known = &(&*DESTRUCTORS.ptr())[..KEYS_END.get()];
    (0..).zip(known.iter().copied()).filter(|&(_, destructor)| destructor != 0)
}

unsafe extern "C" fn create(key: *mut u32, destructor: usize, code: usize) -> i32 {
    let create: extern "C" fn(*mut u32, usize) -> i32 = core::mem::transmute(real::key_create());
    create_by(create, key, destructor, code)
}

unsafe extern "C" fn create_c11(key: *mut u32, destructor: usize, code: usize) -> i32 {
    let create: extern "C" fn(*mut u32, usize) -> i32 = core::mem::transmute(real::c11_key_create());
    create_by(create, key, destructor, code)
}

/// The number of a key, and whether one is left, depends on the order of the threads that create keys.
unsafe fn create_by(
    create: extern "C" fn(*mut u32, usize) -> i32,
    key: *mut u32,
    destructor: usize,
    code: usize,
) -> i32 {
    cells::touch_settings(code);
    let error = create(key, destructor);
    if error == 0 {
        note(*key, destructor);
    } else if schedule::running() {
        log::escape(Escape::Traces, code, TRACES_OF_KEYS as usize, 0);
    }
    error
}

unsafe extern "C" fn set(key: u32, value: usize, code: usize) -> i32 {
    let set: extern "C" fn(u32, usize) -> i32 = core::mem::transmute(real::set_specific());
    let error = set(key, value);
    let destructor = (*DESTRUCTORS.ptr()).get(key as usize).copied().unwrap_or(0);
    if error == 0 && value != 0 && destructor != 0 {
        reach::handed(destructor, code);
    }
    error
}

unsafe extern "C" fn set_c11(key: u32, value: usize, code: usize) -> i32 {
    // `thrd_error`
    const ERROR: i32 = 2;
    if set(key, value, code) == 0 { 0 } else { ERROR }
}

unsafe extern "C" fn delete(key: u32, _code: usize) -> i32 {
    note(key, 0);
    let delete: extern "C" fn(u32) -> i32 = core::mem::transmute(real::key_delete());
    delete(key)
}

unsafe extern "C" fn delete_c11(key: u32, code: usize) {
    delete(key, code);
}

#[unsafe(link_section = ".data.racehunter")]
static HAS_KEY: Global<bool> = Global::new(false);

/// Creates the key, before any thread is created: by a constructor, or by `main`.
pub(crate) unsafe fn init() {
    if HAS_KEY.get() {
        return;
    }
    HAS_KEY.set(true);
    let create: extern "C" fn(*mut u32, usize) -> i32 = core::mem::transmute(real::key_create());
    assert!(create(KEY.ptr(), destructor as *const () as usize) == 0);
    // Every execution whose threads end, or that calls `exit`, needs these. To look them up takes longer than to create a thread.
    real::get_specific();
    real::exit();
    arm(thread(ThreadId::MAIN));
}

/// Makes the end of the running thread noticed from now on.
pub(crate) unsafe fn arm(t: *mut Thread) {
    let set: extern "C" fn(u32, *mut Thread) -> i32 = core::mem::transmute(real::set_specific());
    set(KEY.get(), t);
}

/// Makes the end of the running thread unnoticed.
pub(crate) unsafe fn disarm() {
    arm(core::ptr::null_mut());
}

unsafe extern "C" fn destructor(t: *mut Thread) {
    (*t).destructor_round += 1;
    if (*t).destructor_round == 1 {
        // It is about to end; a request to cancel it comes too late.
        (*t).cancellation.exit();
        look_at_destructors(t);
    }
    if (*t).destructor_round < LAST_ROUND {
        arm(t);
    } else {
        finish_last_round();
        threads::end(t);
    }
}

/// Checks the destructors that are about to run for the first time.
unsafe fn look_at_destructors(t: *const Thread) {
    let get: extern "C" fn(u32) -> usize = core::mem::transmute(real::get_specific());
    let place = if (*t).number == ThreadId::MAIN { server::main_function() } else { (*t).start } + 1;
    for (key, destructor) in destructors() {
        if get(key) != 0 {
            reach::handed(destructor, place);
        }
    }
}

/// Runs the program's destructors of the last round. The runtime's key is older than the program's, so in each round its
/// destructor is called before theirs. In the last round nothing after them would notice the end of the thread, so they are
/// called from here.
unsafe fn finish_last_round() {
    let get: extern "C" fn(u32) -> usize = core::mem::transmute(real::get_specific());
    let set: extern "C" fn(u32, usize) -> i32 = core::mem::transmute(real::set_specific());
    // A destructor may make another key, which comes after this one or not at all.
    let mut key = KEY.get() + 1;
    while (key as usize) < KEYS_END.get() {
        let destructor = (*DESTRUCTORS.ptr())[key as usize];
        let value = if destructor == 0 { 0 } else { get(key) };
        if value != 0 {
            set(key, 0);
            let destructor: extern "C" fn(usize) = core::mem::transmute(destructor);
            destructor(value);
        }
        key += 1;
    }
}
