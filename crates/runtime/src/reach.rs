//! Code that the program reaches and that is not seen.
//!
//! The compiler plugin inserts a hook before each call that could be such code, which comes here the first time; if the call
//! does not affect the claim, it comes again. Effects between threads do not count while there is one thread: it is ordered with
//! everything that other threads did before, or will do.

use crate::schedule;
use crate::signals::cancel;
use crate::thread::{LIVE, current};
use crate::world::{cells, copies, files};
use crate::{Global, free, log, modules, outcome, server};
use core::ffi::{CStr, c_char};
use racehunter_abi::{Escape, Touched};
use racehunter_sight::{ADDRESS_TAKEN, Effect, MARK};

unsafe extern "C" {
    // The linker places the descriptions of all modules of the executable side by side, and defines their bounds.
    static __start_rh_unseen: u8;
    static __stop_rh_unseen: u8;
}

/// Ensures that there is a first description.
#[used]
#[unsafe(link_section = "rh_unseen")]
static NOTHING: [u8; 2] = [0; 2];

/// Added to the description of a call whose result varies from execution to execution.
pub(crate) const VARIES: usize = 1 << 62;

/// Maximum number of remembered functions that were called by their addresses and hide nothing.
const REMEMBERED: usize = 64;
#[unsafe(link_section = ".data.racehunter")]
static HARMLESS: Global<[usize; REMEMBERED]> = Global::new([0; REMEMBERED]);
/// Functions that were reported in this execution.
#[unsafe(link_section = ".data.racehunter")]
static TOLD: Global<[(usize, usize); REMEMBERED]> = Global::new([(0, 0); REMEMBERED]);

/// Returns whether there are other threads to interfere with.
pub(crate) unsafe fn others_are_there() -> bool {
    LIVE.get() > 1 || !(*current()).handler.is_null()
}

pub(crate) unsafe fn is_marked(function: usize) -> bool {
    function != 0 && (function as *const u64).read_unaligned() == MARK
}

/// Returns the position of a description in the section of the executable; those of libraries have their addresses.
unsafe fn place_of(description: *const u8) -> usize {
    let (start, end) = (&raw const __start_rh_unseen as usize, &raw const __stop_rh_unseen as usize);
    let address = description as usize;
    if (start..end).contains(&address) { address - start } else { address }
}

/// Handles a call, or assembler, with a description, before it happens. The relevant arguments are passed along.
pub(crate) unsafe extern "C" fn reached(
    description: *const u8,
    gate: *mut u8,
    function: usize,
    first: usize,
    second: usize,
    code: usize,
) {
    if *gate != 0 || free::is_on() || !schedule::running() {
        return;
    }
    if is_marked(function) {
        *gate = 1;
        return;
    }
    let Some(effect) = Effect::from_byte(*description) else { return };
    let object = place_of(description);
    if effect == Effect::Random {
        copies::ask();
    }
    if effect.is_about_files() {
        let name = CStr::from_ptr(description.add(1) as *const c_char).to_bytes();
        if matches!(name, b"dprintf" | b"vdprintf" | b"__dprintf_chk" | b"__vdprintf_chk") {
            cancel::note_at(code);
        }
        let call = files::Call { effect, name, arguments: [first, second], place: (code, object) };
        files::used(&call);
    } else if effect.is_about_descriptors() {
        files::touch_descriptor(first as i32, effect == Effect::DescriptorChange, code);
    } else if effect.is_modelled() {
        let cell = match effect {
            Effect::ProcessState => cells::TREE,
            Effect::Setting => cells::SETTINGS,
            _ if server::checks_output() => cells::OUTPUT,
            _ => return,
        };
        let mut touched = Touched::default();
        touched.add(cell, true);
        cells::touch(touched, code);
    } else if effect.counts_alone() || first == ADDRESS_TAKEN || others_are_there() {
        *gate = 1;
        log::escape(Escape::Unseen, code, object, 0);
    }
}

/// Handles a call of a function by its address that is not marked as instrumented.
pub(crate) unsafe extern "C" fn reached_through(function: usize, code: usize) {
    if free::is_on() || !schedule::running() || !others_are_there() {
        return;
    }
    let slot = function >> 4 & (REMEMBERED - 1);
    let (harmless, told) = (&mut (*HARMLESS.ptr())[slot], &mut (*TOLD.ptr())[slot]);
    if *harmless == function || *told == (function, code) {
        return;
    }
    if hides_nothing(function) {
        *harmless = function;
        return;
    }
    *told = (function, code);
    log::escape(Escape::Foreign, code, log::relative(function).0 as usize, 0);
}

/// Handles a function of the program that others call later: the first function of a thread, a signal handler. Also called when
/// the runtime is about to call it: code that runs before `main` may have passed it. It need not be instrumented.
pub(crate) unsafe fn handed(function: usize, code: usize) {
    if free::is_on() || !schedule::running() || !outcome::in_executable(function) {
        return;
    }
    note_replaced();
    if is_unseen(function) {
        log::escape(Escape::Foreign, code, log::relative(function).0 as usize, 0);
    }
}

unsafe extern "C" {
    static rh_text_begin: u8;
    static rh_text_end: u8;
}

/// Maximum number of uninstrumented functions named that replaced those of instrumented objects at link time.
const REPLACED: usize = 16;
#[unsafe(link_section = ".data.racehunter")]
static REPLACED_BY: Global<[usize; REPLACED]> = Global::new([0; REPLACED]);
/// Whether an execution has logged them.
#[unsafe(link_section = ".data.racehunter")]
static REPLACED_LOGGED: Global<bool> = Global::new(false);

/// Called by a constructor of each instrumented object, with its functions that the linker could replace. Calls of them in the
/// object look like calls of the object's own functions.
#[unsafe(no_mangle)]
unsafe extern "C" fn __rh_register_replaceable(functions: *const usize, count: usize) {
    // A replacement by the runtime is a model of the function.
    let runtime = &raw const rh_text_begin as usize..&raw const rh_text_end as usize;
    let known = &mut *REPLACED_BY.ptr();
    for at in 0..count {
        let function = *functions.add(at);
        if function == 0 || is_marked(function) || runtime.contains(&function) || known.contains(&function) {
            continue;
        }
        if let Some(free) = known.iter_mut().find(|free| **free == 0) {
            *free = function;
        }
    }
}

/// Notes replaced functions, which may matter now that there is another thread.
pub(crate) unsafe fn note_replaced() {
    if (*REPLACED_BY.ptr())[0] == 0 || REPLACED_LOGGED.get() || free::is_on() || !schedule::running() {
        return;
    }
    REPLACED_LOGGED.set(true);
    for &function in (*REPLACED_BY.ptr()).iter().filter(|&&function| function != 0 && !hides_nothing(function)) {
        log::escape(Escape::Foreign, function + 1, log::relative(function).0 as usize, 0);
    }
}

/// Returns whether the effects of a function of the executable are unknown.
pub(crate) unsafe fn is_unseen(function: usize) -> bool {
    !is_marked(function) && !hides_nothing(function)
}

/// Returns whether the function was reviewed, by the name that the dynamic linker knows.
unsafe fn hides_nothing(function: usize) -> bool {
    let Some(origin) = modules::origin(function) else { return false };
    if origin.symbol.is_null() || origin.address != function {
        return false;
    }
    let name = CStr::from_ptr(origin.symbol).to_str().unwrap_or("");
    let known = racehunter_sight::of(name);
    known.effect == Effect::None && known.touches.is_empty()
}
