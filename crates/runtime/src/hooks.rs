//! The entry points of instrumented code.
//!
//! Hooks are called before the access or operation that they announce, with LLVM's `preserve_most` convention: the
//! caller expects every general register but r11 to survive, so a hook costs it no spills. The fast paths of plain
//! accesses are therefore assembly, in [`crate::fast`]. Everything else saves the registers and continues in Rust.

use crate::modules::{self, site_number};
use crate::schedule::{self, RH_BUDGET, access_point, attention, spin};
use crate::shadow::{self, Access};
use crate::thread::{__rh_stack, CURRENT, current};
use crate::{
    Global, annotations, atomics, escapes, free, hold, log, memory, scopes, server, swift, track, tsan, values,
};
use core::arch::global_asm;
use racehunter_abi::control::{FLAG_STACKS, SITE_POINT};
use racehunter_abi::{EventNumber, Kind, Record};

/// Bit of a site's flag byte, in this process only: every access is checked, for watched memory and for held threads.
pub(crate) const SITE_WATCHED: u8 = 2;

/// Bits of a site's flag byte for which the fast paths do not apply.
pub(crate) const SITE_LOOK: u8 = 0x1f;

/// Non-zero if branches, calls and function entries are recorded too.
#[unsafe(no_mangle)]
#[unsafe(link_section = ".data.racehunter")]
pub(crate) static __rh_tracing: Global<u8> = Global::new(0);

// Saves what `preserve_most` callers keep in registers, and calls a Rust function with the caller's code address in
// `register`. r11 may carry a value in. A seventh argument, on the stack, is the caller's frame pointer. All
// registers are then on the stack, just below the frame of the caller: together they are the thread's own state, see
// `schedule::spin`.
macro_rules! save_and_call {
    ($name:literal, $register:literal, $prepare:literal, $target:path) => {
        global_asm!(
            concat!(".globl ", $name), concat!(".type ", $name, ",@function"),
            ".p2align 4",
            concat!($name, ":"),
            ".cfi_startproc",
            "push rax", "push rcx", "push rdx", "push rsi", "push rdi", "push r8", "push r9", "push r10",
            "push rbx", "push r12", "push r13", "push r14", "push r15",
            "push r15",                     // for the alignment
            "push rbp",
            ".cfi_adjust_cfa_offset 120",
            "mov [rip + {caller}], rsp",
            $prepare,
            concat!("mov ", $register, ", [rsp + 120]"),
            "call {target}",
            "cmp byte ptr [rip + {wipes}], 0",
            "jne 2f",
            "1: add rsp, 56",
            "pop r10", "pop r9", "pop r8", "pop rdi", "pop rsi", "pop rdx", "pop rcx", "pop rax",
            ".cfi_adjust_cfa_offset -120",
            "ret",
            ".cfi_adjust_cfa_offset 120",
            "2: lea rdi, [rsp - {below}]",
            "mov ecx, {below} / 8",
            "xor eax, eax",
            "rep stosq",
            "jmp 1b",
            ".cfi_endproc",
            concat!(".size ", $name, ", . - ", $name),
            caller = sym spin::RH_CALLER,
            wipes = sym spin::RH_WIPES,
            below = const spin::WIPED,
            target = sym $target,
        );
    };
}

save_and_call!("rh_access_slow", "rcx", "mov edx, r11d\nmov r8, rbp", access_at_site);
save_and_call!("rh_access_counted", "rcx", "mov edx, r11d", access_counted);
save_and_call!("__rh_read_range", "rcx", "mov r8, rbp", read_range);
save_and_call!("__rh_write_range", "rcx", "mov r8, rbp", write_range);
save_and_call!("rh_atomic_load_anew", "rcx", "mov r8, rbp", atomics::atomic_load);
save_and_call!("__rh_atomic_store", "rcx", "mov r8, rbp", atomics::atomic_store);
save_and_call!("__rh_atomic_rmw", "rcx", "mov r8, rbp", atomics::atomic_update);
save_and_call!("__rh_cmpxchg", "r8", "mov r9, rbp", atomics::compare_exchange);
save_and_call!("__rh_cmpxchg16", "r9", "", atomics::compare_exchange_wide);
save_and_call!("__rh_fence", "rdx", "", atomics::fence);
save_and_call!("__rh_vptr_update", "rcx", "mov r8, rbp", vptr_update);
save_and_call!("__rh_lib_string", "r9", "", crate::library::string_call);
save_and_call!("__rh_lib_before", "rcx", "mov r8, rbp", crate::calls::before);
save_and_call!("__rh_lib_after", "r8", "", crate::calls::after);
save_and_call!("__rh_branch", "rdx", "", branched);
save_and_call!("__rh_enter", "rsi", "", entered);
save_and_call!("__rh_leave", "rsi", "", left);
save_and_call!("__rh_round", "rdi", "", round);
save_and_call!("__rh_call", "rdx", "", called);
save_and_call!("__rh_wrote", "rdx", "", has_written);
save_and_call!("__rh_scope_begin", "rdx", "", scopes::begin);
save_and_call!("__rh_scope_end", "rdx", "", scopes::end);
save_and_call!("__rh_reached", "r9", "", crate::reach::reached);
save_and_call!("__rh_reached_through", "rsi", "", crate::reach::reached_through);

const fn kind_of(info: u32) -> Kind {
    if info >> 8 == 2 { Kind::Write } else { Kind::Read }
}

/// Handles a plain access whose site has a flag.
unsafe extern "C" fn access_at_site(address: usize, site: *mut u8, info: u32, code: usize, frame: usize) {
    if server::records() && schedule::continues() {
        return record(address, site, info, code);
    }
    announced(address, (info & 0xff) as usize, site, kind_of(info), code, frame);
}

/// Counts and logs a plain access in a recording where nothing else can happen. Most events of a recording come here.
#[inline(always)]
unsafe fn record(address: usize, site: *mut u8, info: u32, code: usize) {
    RH_BUDGET.set(RH_BUDGET.get() - 1);
    (*current()).code = code;
    log::put_in_recording(Record {
        index: schedule::now(),
        code: log::relative(code),
        object: address as u64,
        extra: u64::from(info & 0xff),
        thread: CURRENT.get(),
        site: site_number(site),
        kind: kind_of(info),
        size: info as u8,
        detail: annotations::mark(address),
        ..Record::default()
    });
}

/// Handles a plain access that is already counted, but needs a decision or a check.
unsafe extern "C" fn access_counted(address: usize, site: *mut u8, info: u32, code: usize) {
    if RH_BUDGET.get() == 0 {
        pause(address, (info & 0xff) as usize, site, kind_of(info), code);
    }
    shadow::check(address, (info & 0xff) as usize, Access { kind: kind_of(info), code, site });
}

/// Handles a plain access of a function that has a frame pointer.
#[inline(always)]
pub(crate) unsafe fn announced(address: usize, size: usize, site: *mut u8, kind: Kind, code: usize, frame: usize) {
    if free::is_on() {
        return free::access(address, size, kind, site, code, frame);
    }
    access(address, size, site, kind, code);
}

/// Handles any plain access: counts it, decides if it is a point, logs, checks.
pub(crate) unsafe fn access(address: usize, size: usize, site: *mut u8, kind: Kind, code: usize) {
    approach(address, size, site, kind, code);
    shadow::check(address, size, Access { kind, code, site });
}

/// The same without the check: what the running thread does to the memory is known only afterwards.
pub(crate) unsafe fn approach(address: usize, size: usize, site: *mut u8, kind: Kind, code: usize) {
    values::settle();
    let flags = if site.is_null() { SITE_POINT } else { *site };
    if flags & SITE_POINT != 0 && (!server::is_selective() || track::has(address)) {
        escapes::touches(address, code);
        let n = access_point(code, address, size, kind, site);
        log_access(n, address, size, site, kind, annotations::mark(address), code);
    } else {
        if hold::is_active() && !server::is_selective() {
            (*current()).code = code;
            hold::before(address, size, kind, site_number(site), code, false);
        }
        RH_BUDGET.set(RH_BUDGET.get() - 1);
        if RH_BUDGET.get() == 0 {
            pause(address, size, site, kind, code);
        }
        if flags & SITE_WATCHED != 0 && server::watches(address, size) {
            log_access(schedule::now(), address, size, site, kind, 0, code);
        }
    }
}

/// Handles an access that is not a point, is already counted, and has used up the budget.
unsafe fn pause(address: usize, size: usize, site: *const u8, kind: Kind, code: usize) {
    let was_hushed = server::is_hushed();
    spin::looks(address, size, code);
    let n = attention(code);
    // Accesses may have become points while others ran: then this one is announced as one.
    if was_hushed && !server::is_hushed() && !site.is_null() && *site & SITE_POINT != 0 {
        log_access(n, address, size, site, kind, annotations::mark(address), code);
    }
}

pub(crate) unsafe fn log_access(
    index: EventNumber,
    address: usize,
    size: usize,
    site: *const u8,
    kind: Kind,
    detail: u8,
    code: usize,
) {
    if !schedule::running() || log::leaves_out(kind, address) {
        return;
    }
    let t = current();
    (*t).code = code;
    if log::brief::passes(index, code) {
        if track::is_active() {
            let (code, object, extra) = (log::relative(code), address as u64, size as u64);
            track::note(&Record { index, code, object, extra, thread: CURRENT.get(), kind, ..Record::default() });
        }
        if !kind.is_atomic() {
            swift::allow(index, site.cast_mut(), code);
        }
        return;
    }
    let stacks = schedule::flags() & FLAG_STACKS != 0;
    let record = Record {
        index,
        code: log::relative(code),
        object: address as u64,
        extra: size as u64,
        thread: CURRENT.get(),
        stack: if stacks { log::stack_of(t) } else { 0 },
        site: site_number(site),
        kind,
        size: size.min(255) as u8,
        detail,
        ..Record::default()
    };
    log::put(record);
    if stacks {
        values::note(&record);
    }
}

/// Records that a function with a model has just written to its caller's memory, at `code`. The write is part of the
/// function's event, not a separate one.
pub(crate) unsafe fn wrote(address: usize, size: usize, code: usize) {
    // Libraries order their accesses in ways that are not seen.
    if memory::in_program(code) || modules::has_code(code) {
        has_written(address, size, code);
    }
}

/// The same for any function that instrumented code has called.
unsafe extern "C" fn has_written(address: usize, size: usize, code: usize) {
    if size == 0 || !schedule::running() || free::is_on() {
        return;
    }
    let kind = if size <= 8 { Kind::Write } else { Kind::WriteRange };
    happened(address, size, tsan::site_of(code), kind, code);
}

/// Records an access to memory that is part of an event announced before.
pub(crate) unsafe fn happened(address: usize, size: usize, site: *mut u8, kind: Kind, code: usize) {
    if server::watches(address, size) {
        log_access(schedule::now(), address, size, site, kind, 0, code);
    }
    shadow::check(address, size, Access { kind, code, site });
}

unsafe extern "C" fn read_range(address: usize, len: usize, site: *mut u8, code: usize, frame: usize) {
    if len > 0 {
        announced(address, len, site, Kind::ReadRange, code, frame);
    }
}

unsafe extern "C" fn write_range(address: usize, len: usize, site: *mut u8, code: usize, frame: usize) {
    if len > 0 {
        announced(address, len, site, Kind::WriteRange, code, frame);
    }
}

/// Setting a vtable pointer to its current value, as destructors of base classes do, is not a write.
unsafe extern "C" fn vptr_update(address: usize, site: *mut u8, new: usize, code: usize, frame: usize) {
    let kind = if *(address as *const usize) == new { Kind::Read } else { Kind::Write };
    announced(address, 8, site, kind, code, frame);
}

/// Handles a loop without accesses whose iterations have used up the budget.
unsafe extern "C" fn round(code: usize) {
    schedule::passed_round();
    spin::goes_round();
    attention(code);
}

// Branches, calls, entries and exits: instrumented code announces them while `__rh_tracing` is set.

unsafe extern "C" fn branched(site: *mut u8, value: u64, _code: usize) {
    passed(Kind::Branched, site, value, 0);
}

unsafe extern "C" fn called(site: *mut u8, callee: u64, _code: usize) {
    passed(Kind::Called, site, callee, 0);
}

unsafe extern "C" fn entered(site: *mut u8, _code: usize) {
    let t = current();
    let top = __rh_stack.get();
    let caller = if top > (*t).stack { (*top.sub(1)).code } else { 0 };
    let (start, end) = server::executable();
    passed(Kind::Entered, site, 0, (start..end).contains(&caller).into());
}

unsafe extern "C" fn left(site: *mut u8, _code: usize) {
    passed(Kind::Left, site, 0, 0);
}

/// Notes that the running thread has reached a place in the code that is not an event.
unsafe fn passed(kind: Kind, site: *mut u8, object: u64, detail: u8) {
    let (index, thread) = (schedule::now(), CURRENT.get());
    let record = Record { index, object, thread, site: site_number(site), kind, detail, ..Record::default() };
    if server::records() {
        log::put_in_recording(record);
    } else {
        log::put(record);
    }
}
