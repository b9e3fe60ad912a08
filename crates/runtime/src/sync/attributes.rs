//! What a program asks and sets about its threads: names, stacks, affinity, priorities.
//!
//! The C library asks the kernel about these by the kernel's number of the thread. A thread that is a fiber has none: the
//! kernel thread that it was harvested from is over. For the time of the call it has that of the process.

use crate::sync::real;
use crate::thread::{any_by_handle, thread};
use crate::{Global, kernel, sys};

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
    pthread_setname_np(name) = set_name;
    pthread_getcpuclockid(clock) = get_clock;
}
