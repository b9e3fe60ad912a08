//! What a program asks and sets about its threads: names, stacks, affinity, priorities.
//!
//! The C library asks the kernel about these by the kernel's number of the thread. A thread that is a fiber has none: the
//! kernel thread that it was harvested from is over. For the time of the call it has that of the process.

use crate::sync::real;
use crate::thread::{any_by_handle, thread};
use crate::{Global, kernel, log, schedule, sys};
use racehunter_event::control::FLAG_STACKS;
use racehunter_event::{Kind, Record};

/// Where the C library keeps the kernel's number of a thread, from its handle; 0 when that is not known.
unsafe fn offset() -> usize {
    const GET_TID_ADDRESS: usize = 40;
    static OFFSET: Global<usize> = Global::new(0);
    if OFFSET.get() == 0 {
        let mut address = 0_usize;
        let result = sys::call(sys::PRCTL, GET_TID_ADDRESS, &raw mut address as usize, 0, 0);
        if result == 0 && address != 0 {
            OFFSET.set(address.wrapping_sub((*thread(0)).handle));
        }
    }
    OFFSET.get()
}

/// Makes a call about a thread.
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

macro_rules! about {
    ($($name:ident($($argument:ident),*) = $real:ident;)*) => { $(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(handle: usize, $($argument: usize),*) -> i32 {
            about(handle, || {
                let real: about!(@type $($argument)*) = core::mem::transmute(real::$real());
                real(handle, $($argument),*)
            })
        }
    )* };
    (@type $a:ident) => { extern "C" fn(usize, usize) -> i32 };
    (@type $a:ident $b:ident) => { extern "C" fn(usize, usize, usize) -> i32 };
}

about! {
    pthread_getattr_np(attributes) = get_attributes;
    pthread_getaffinity_np(size, set) = get_affinity;
    pthread_setaffinity_np(size, set) = set_affinity;
    pthread_getschedparam(policy, parameters) = get_priority;
    pthread_setschedparam(policy, parameters) = set_priority;
    pthread_getname_np(name, size) = get_name;
    pthread_getcpuclockid(clock) = get_clock;
}

/// The C library takes names of up to 15 bytes.
#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_setname_np(handle: usize, name: usize) -> i32 {
    let result = about(handle, || {
        let real: extern "C" fn(usize, usize) -> i32 = core::mem::transmute(real::set_name());
        real(handle, name)
    });
    let Some(t) = any_by_handle(handle).filter(|_| result == 0) else { return result };
    if schedule::running() && schedule::flags() & FLAG_STACKS != 0 {
        let mut words = [0_u64; 2];
        let mut at = 0;
        while at < 15 && *((name + at) as *const u8) != 0 {
            words[at / 8] |= u64::from(*((name + at) as *const u8)) << (8 * (at % 8));
            at += 1;
        }
        let [object, extra] = words;
        log::put(Record {
            index: schedule::now(),
            object,
            extra,
            thread: (*t).number,
            kind: Kind::Named,
            ..Record::default()
        });
    }
    result
}
