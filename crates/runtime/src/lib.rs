//! The part of RaceHunter that lives inside the program under test.
//!
//! It is linked into the executable, in front of the C library, and carries out plans: it counts events, knows which threads can
//! run, switches between them, logs what the plan asks for, runs the happens-before detector, and reports how the execution
//! ended. It decides nothing that the plan does not prescribe, and formats nothing: the controller does.
//!
//! Where to start reading: [`server`] (how an execution begins), [`schedule`] (events and decisions), [`hooks`] (the entry points
//! of instrumented code), [`sync`] (the model of each primitive), [`shadow`] (the detector).
//!
//! # Why the unsafe code here is sound
//!
//! All threads of the program are fibers on one kernel thread ([`fiber`]), or kernel threads of which one has the turn
//! ([`kernel`]), so at any time one of them runs, and it runs either the program or the runtime. The globals of the runtime are
//! therefore never accessed concurrently; a signal handler that enters the runtime ends the process. A fiber switch happens only
//! inside [`schedule::decide_and_switch`], and no reference into runtime state is held across it: raw pointers are used
//! throughout, and read again after every switch.
//!
//! The exception is a free-running process ([`free`]): several threads enter the runtime there at once, but only that module,
//! whose state is atomic or belongs to one thread.
//!
//! # Rules
//!
//! No allocator, no thread-local storage, no libc calls on the path of an event (system calls are made directly), and `errno` is
//! touched only where the modelled function sets it. `cargo xtask test` checks the undefined symbols of the archive against
//! `allowed-symbols.txt`.
#![no_std]
#![allow(clippy::missing_safety_doc)]

mod afterlife;
mod annotations;
mod arena;
mod atomics;
mod blocks;
mod bytes;
mod calls;
mod clock;
mod constructors;
mod debug;
mod endings;
mod escapes;
mod fast;
mod fiber;
mod float;
mod free;
mod hold;
mod hooks;
mod identity;
mod in_process;
mod io;
mod kernel;
mod libatomic;
mod library;
mod log;
mod mappings;
mod memory;
mod modules;
mod outcome;
mod pages;
mod plain;
mod raw;
mod reach;
mod reports;
mod rust;
mod sanitizer;
mod schedule;
mod scopes;
mod server;
mod shadow;
mod signals;
mod sites;
mod start;
mod storage;
mod swift;
mod sync;
mod sys;
mod thread;
mod time;
mod timers;
mod track;
mod tsan;
mod values;
mod watchdog;
mod world;

use core::cell::UnsafeCell;

/// A global of the runtime.
///
/// The small globals are placed together (`.data.racehunter`): a child of the fork server copies every page that it writes to, so
/// fewer pages are better.
#[repr(transparent)]
pub(crate) struct Global<T>(UnsafeCell<T>);

// SAFETY: the runtime is never entered by two threads at once, see the crate documentation.
unsafe impl<T> Sync for Global<T> {}

impl<T> Global<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self(UnsafeCell::new(value))
    }

    #[inline(always)]
    pub(crate) const fn ptr(&self) -> *mut T {
        self.0.get()
    }
}

impl<T: Copy> Global<T> {
    #[inline(always)]
    pub(crate) fn get(&self) -> T {
        // SAFETY: no concurrent access, see the crate documentation.
        unsafe { *self.0.get() }
    }

    #[inline(always)]
    pub(crate) fn set(&self, value: T) {
        // SAFETY: as above.
        unsafe { *self.0.get() = value }
    }
}

#[panic_handler]
fn panic(info: &core::panic::PanicInfo) -> ! {
    let line = info.location().map_or(0, core::panic::Location::line);
    let file = info.location().map_or("", core::panic::Location::file);
    sys::complain(&["racehunter: internal error in the runtime, ", file, ":"], Some(u64::from(line)));
    sys::exit_group(99)
}
