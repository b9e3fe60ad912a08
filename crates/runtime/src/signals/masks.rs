//! The signal masks of threads.

use super::{actions, bit, deliver, send};
use crate::log;
use crate::schedule::point;
use crate::sync::{EINVAL, ENOMEM, fail, interpose};
use crate::thread::{Thread, current};
use racehunter_abi::Kind;
use racehunter_machine::SignalSet;

interpose! {
    sigprocmask => set_mask_errno, "rcx";
    pthread_sigmask => set_mask, "rcx";
    sighold => hold, "rsi";
    sigrelse => release, "rsi";
    sigblock => block_word, "rsi";
    sigsetmask => set_word, "rsi";
    siggetmask => get_word, "rdi";
    sigpending => get_pending, "rsi";
    sigaltstack => set_stack, "rdx";
}

/// Sets the mask of a thread. Signals to the process that it would have taken go to others now.
pub(super) unsafe fn set(t: *mut Thread, mask: u64) {
    let SignalSet(mask) = SignalSet(mask).as_mask();
    let blocks = mask & !(*t).signal_mask;
    (*t).signal_mask = mask;
    if blocks & (*t).signals != 0 {
        send::give_back(t, blocks);
    }
}

unsafe extern "C" fn set_mask(how: i32, new: *const u64, old: *mut u64, code: usize) -> i32 {
    let known = (*current()).signal_mask;
    if !new.is_null() {
        let Some(SignalSet(mask)) = SignalSet(known).changed(how, SignalSet(*new)) else { return EINVAL };
        let n = point(code);
        log::event(Kind::SignalSetup, n, 0, mask, 0);
        actions::watch(mask);
        set(current(), mask);
    }
    if !old.is_null() {
        *old = known;
    }
    deliver();
    0
}

const BLOCK: i32 = 0;
const UNBLOCK: i32 = 1;
const SET: i32 = 2;

unsafe fn change_one(how: i32, signal: u32, code: usize) -> i32 {
    if !(1..=64).contains(&signal) || SignalSet::RESERVED.contains(signal) {
        return fail(EINVAL);
    }
    set_mask(how, &bit(signal), core::ptr::null_mut(), code)
}

/// `sighold`, of System V.
pub(super) unsafe extern "C" fn hold(signal: u32, code: usize) -> i32 {
    change_one(BLOCK, signal, code)
}

/// `sigrelse`, of System V.
pub(super) unsafe extern "C" fn release(signal: u32, code: usize) -> i32 {
    change_one(UNBLOCK, signal, code)
}

/// Changes the mask in BSD form: a word for the first 32 signals. Returns the previous one.
unsafe fn change_word(how: i32, mask: u32, code: usize) -> u32 {
    let mut before = 0;
    set_mask(how, &u64::from(mask), &raw mut before, code);
    before as u32
}

unsafe extern "C" fn block_word(mask: u32, code: usize) -> u32 {
    change_word(BLOCK, mask, code)
}

unsafe extern "C" fn set_word(mask: u32, code: usize) -> u32 {
    change_word(SET, mask, code)
}

unsafe extern "C" fn get_word(code: usize) -> u32 {
    change_word(BLOCK, 0, code)
}

unsafe extern "C" fn set_mask_errno(how: i32, new: *const u64, old: *mut u64, code: usize) -> i32 {
    match set_mask(how, new, old, code) {
        0 => 0,
        error => fail(error),
    }
}

unsafe extern "C" fn get_pending(set: *mut u64, code: usize) -> i32 {
    let n = point(code);
    log::event(Kind::SignalSetup, n, 0, 0, 0);
    let t = current();
    *set = send::pending(t) & (*t).signal_mask;
    0
}

/// `stack_t`
#[repr(C)]
struct Stack {
    address: usize,
    flags: i32,
    size: usize,
}

/// The kernel has one alternate stack, which belongs to the runtime. That of a thread is used when it handles a fault.
unsafe extern "C" fn set_stack(new: *const Stack, old: *mut Stack, _code: usize) -> i32 {
    const DISABLED: i32 = 2;
    const LEAST: usize = 2048;
    let t = current();
    let [address, size] = (*t).alternate_stack;
    if !new.is_null() {
        let wanted = &*new;
        const ON_STACK: i32 = 1;
        const DISARMED_BY_HANDLERS: i32 = i32::MIN;
        if !matches!(wanted.flags & !DISARMED_BY_HANDLERS, 0 | ON_STACK | DISABLED) {
            return fail(EINVAL);
        }
        if wanted.flags & DISABLED != 0 {
            (*t).alternate_stack = [0; 2];
        } else if wanted.size < LEAST {
            return fail(ENOMEM);
        } else {
            (*t).alternate_stack = [wanted.address, wanted.size];
        }
    }
    if !old.is_null() {
        *old = Stack { address, flags: if size == 0 { DISABLED } else { 0 }, size };
    }
    0
}
