//! The way in from instrumented code.
//!
//! Hooks are called before the access or operation that they announce, with LLVM's `preserve_most` convention: the
//! caller expects every general register but r11 to survive, so a hook costs it no spills. The fast paths of plain
//! accesses are therefore assembly: count the event, and note it in the shadow if only the running thread has touched
//! the memory so far. Everything else saves the registers and continues in Rust.

use crate::clock::{RH_DETECT, RH_EPOCH, RH_FAMILY};
use crate::modules::{self, RH_SITES, site_number};
use crate::schedule::{self, RH_BUDGET, RH_STAYS, access_point, attention, spin};
use crate::shadow::{self, Access, RH_SHADOW};
use crate::thread::{__rh_stack, CURRENT, current};
use crate::track::{self, __rh_look_bytes, __rh_look_from, RH_LEFT, RH_MARKS, RH_UNMARKED};
use crate::{Global, annotations, atomics, escapes, free, hold, log, memory, server, tsan, values};
use core::arch::global_asm;
use racehunter_abi::control::{FLAG_STACKS, SITE_POINT};
use racehunter_abi::{Kind, Record};

/// Bit of a site's flag byte, in this process only: every access is checked, for watched memory and for held threads.
pub(crate) const SITE_WATCHED: u8 = 2;

/// Bits of a site's flag byte that ask for a closer look: the fast paths do not apply.
pub(crate) const SITE_LOOK: u8 = 0x1f;

/// Non-zero when branches, calls and function entries are recorded too.
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
save_and_call!("__rh_atomic_load", "rcx", "mov r8, rbp", atomics::atomic_load);
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
save_and_call!("__rh_reached", "r9", "", crate::reach::reached);
save_and_call!("__rh_reached_through", "rsi", "", crate::reach::reached_through);

// rdi = address, rsi = site. `info` for the slow paths: size | kind << 8.
//
// The cell is at ((address << 20) >> 18 & -16) + base; rax is the slot for this access. The fast path applies if the
// cell has no access of another thread, and this access covers those of this thread.
macro_rules! plain_hook {
    ($name:literal, $size:literal, $kind:literal, $slot:expr, $body:expr) => {
        global_asm!(
            concat!(".globl ", $name), concat!(".type ", $name, ",@function"),
            ".p2align 5",
            concat!($name, ":"),
            "test byte ptr [rsi], 0x1f",    // any flag that asks for a closer look
            "jnz 8f",
            "dec qword ptr [rip + {budget}]",
            "je 7f",
            "cmp byte ptr [rip + {detect}], 0",
            "je 6f",
            "push rax",
            "push rcx",
            "push rdx",
            "mov r11, rdi",
            "shl r11, 20",
            "shr r11, 18",
            "mov rcx, rsi",
            "sub rcx, [rip + {sites}]",
            concat!("cmp rcx, ", 0x7f_f000),
            "jae 5f",                       // a site of a shared library
            $slot,
            "and r11, -16",
            "or rax, rcx",
            "add r11, [rip + {shadow}]",
            "or rax, [rip + {epoch}]",
            $body,
            "9: pop rdx",
            "pop rcx",
            "pop rax",
            "6: ret",
            "5: pop rdx",
            "pop rcx",
            "pop rax",
            concat!("7: mov r11d, ", $size, " | (", $kind, " << 8)"),
            "jmp rh_access_counted",
            "8: mov r11, rdi",
            "sub r11, [rip + {look_from}]",
            "cmp r11, [rip + {look_bytes}]",
            "jae 3f",
            "cmp qword ptr [rip + {marks}], 0",
            "je 2f",
            "mov r11, rdi",
            "shl r11, 20",
            "shr r11, 20",
            "add r11, [rip + {marks}]",
            "cmp byte ptr [r11], 0",
            "je 4f",
            "cmp byte ptr [rip + {stays}], 0",   // a variable of the plan: it is enough to count, unless something is to
            "je 2f",                             // be decided
            "cmp qword ptr [rip + {left}], 1",
            "jbe 2f",
            "cmp qword ptr [rip + {budget}], 1",
            "je 2f",
            "dec qword ptr [rip + {left}]",
            "dec qword ptr [rip + {budget}]",
            "ret",
            "4: cmp byte ptr [rip + {unmarked}], 0",
            "je 3f",
            concat!("2: mov r11d, ", $size, " | (", $kind, " << 8)"),
            "jmp rh_access_slow",
            "3: dec qword ptr [rip + {budget}]", // another variable than those that the plan is about
            "je 7b",
            "ret",
            concat!(".size ", $name, ", . - ", $name),
            budget = sym RH_BUDGET,
            look_from = sym __rh_look_from,
            marks = sym RH_MARKS,
            left = sym RH_LEFT,
            unmarked = sym RH_UNMARKED,
            stays = sym RH_STAYS,
            look_bytes = sym __rh_look_bytes,
            detect = sym RH_DETECT,
            shadow = sym RH_SHADOW,
            sites = sym RH_SITES,
            epoch = sym RH_EPOCH,
            family = sym RH_FAMILY,
        );
    };
}

// The slot of an access to a whole number of cells: all bytes. Otherwise it may not cross into the next cell.
macro_rules! whole {
    () => {
        "test dil, 3
         jnz 5f
         mov eax, 0x7800000"
    };
}

macro_rules! part {
    ($bytes:literal) => {
        concat!(
            "mov ecx, edi
             and ecx, 3
             mov eax, ",
            $bytes,
            "
             shl eax, cl
             cmp eax, 15
             ja 5f
             shl eax, 23
             mov rcx, rsi
             sub rcx, [rip + {sites}]"
        )
    };
}

// The code address of the site is noted the first time, by the slow path.
macro_rules! note_code {
    () => {
        "test byte ptr [rsi], 0x40
         jz 5f"
    };
}

// Goes on only when the access in the slot is this thread's own or, by creation and joining of threads alone, before
// everything that it does: see the family clock in `clock`. Uses rcx and rdx.
macro_rules! known_past {
    ($slot:expr) => {
        concat!(
            "mov rcx, [r11 + ",
            $slot,
            "]
             push r8
             shr rcx, 28
             mov r8, [rip + {family}]
             mov edx, ecx
             and edx, 0xfff
             shr rcx, 12
             cmp ecx, [r8 + rdx * 4]
             pop r8
             ja 5f\n"
        )
    };
}

// A list needs a closer look. Uses rcx.
macro_rules! no_list {
    ($slot:expr) => {
        concat!(
            "mov rcx, [r11 + ",
            $slot,
            "]
             shr rcx, 40
             cmp ecx, 0xffffff
             je 5f\n"
        )
    };
}

// One cell that is accessed whole.
macro_rules! read_whole {
    () => {
        concat!(
            "mov rcx, [r11]
             xor rcx, rax
             shr rcx, 23
             jz 9f
             mov rcx, [r11 + 8]
             xor rcx, rax
             shr rcx, 23
             jz 9f\n",
            known_past!("0"),
            no_list!("8"),
            known_past!("8"),
            "mov [r11 + 8], rax\n",
            note_code!()
        )
    };
}

macro_rules! write_whole {
    () => {
        concat!(
            "mov rcx, [r11]
             xor rcx, rax
             shr rcx, 23
             jz 9f\n",
            known_past!("0"),
            no_list!("8"),
            known_past!("8"),
            "mov qword ptr [r11 + 8], 0
             mov [r11], rax\n",
            note_code!()
        )
    };
}

// Two cells that are accessed whole. Memory that is only ever accessed in this way has the same content in both, and
// one comparison is enough.
macro_rules! read_two {
    () => {
        concat!(
            "mov rcx, [r11]
             cmp rcx, [r11 + 16]
             jne 5f
             mov rdx, [r11 + 8]
             cmp rdx, [r11 + 24]
             jne 5f
             xor rcx, rax
             shr rcx, 23
             jz 9f
             xor rdx, rax
             shr rdx, 23
             jz 9f\n",
            known_past!("0"),
            no_list!("8"),
            known_past!("8"),
            "mov [r11 + 8], rax
             mov [r11 + 24], rax\n",
            note_code!()
        )
    };
}

macro_rules! write_two {
    () => {
        concat!(
            "mov rcx, [r11]
             cmp rcx, [r11 + 16]
             jne 5f
             mov rdx, [r11 + 8]
             cmp rdx, [r11 + 24]
             jne 5f
             xor rcx, rax
             shr rcx, 23
             jz 9f\n",
            known_past!("0"),
            no_list!("8"),
            known_past!("8"),
            "mov qword ptr [r11 + 8], 0
             mov qword ptr [r11 + 24], 0
             mov [r11], rax
             mov [r11 + 16], rax\n",
            note_code!()
        )
    };
}

// Goes on only when the bytes in the slot are all among those of this access. Uses rcx and rdx.
macro_rules! covered {
    ($slot:expr) => {
        concat!(
            "mov ecx, [r11 + ",
            $slot,
            "]
             mov edx, eax
             not edx
             and edx, ecx
             test edx, 0x7800000
             jnz 5f\n"
        )
    };
}

// Part of a cell with slots for each byte: makes r11 the address of the first of its write slots. Uses rcx and rdx.
macro_rules! to_bytes {
    () => {
        "mov rcx, [r11 + 8]
         mov rdx, rcx
         shr rdx, 38
         cmp edx, 0x3fffffe
         jne 5f
         shl rcx, 25
         shr rcx, 19
         add rcx, [rip + RH_BYTES]
         mov edx, edi
         and edx, 3
         lea r11, [rcx + rdx * 8]\n"
    };
}

// The slots of one byte. As `shadow::note_byte`.
macro_rules! read_byte {
    ($write:literal, $read:literal, $next:literal) => {
        concat!(
            "mov rcx, [r11 + ",
            $write,
            "]
             xor rcx, rax
             shr rcx, 27
             jz ",
            $next,
            "f
             mov rcx, [r11 + ",
            $read,
            "]
             xor rcx, rax
             shr rcx, 27
             jz ",
            $next,
            "f\n",
            known_past!($write),
            known_past!($read),
            "mov [r11 + ",
            $read,
            "], rax\n",
            note_code!(),
            "\n",
            $next,
            ":\n"
        )
    };
}

macro_rules! write_byte {
    ($write:literal, $read:literal, $next:literal) => {
        concat!(
            "mov rcx, [r11 + ",
            $write,
            "]
             xor rcx, rax
             shr rcx, 27
             jz ",
            $next,
            "f\n",
            known_past!($write),
            known_past!($read),
            "mov [r11 + ",
            $write,
            "], rax
             mov qword ptr [r11 + ",
            $read,
            "], 0\n",
            note_code!(),
            "\n",
            $next,
            ":\n"
        )
    };
}

// Continues at 20 if the cell has more than two slots. Uses rcx.
macro_rules! two_slots {
    () => {
        "mov rcx, [r11 + 8]
         shr rcx, 40
         cmp ecx, 0xffffff
         je 20f\n"
    };
}

// Part of a cell: in the same epoch the same site may add bytes to its slot.
macro_rules! read_part {
    ($($bytes:expr),*) => {
        concat!(
            "mov rcx, [r11]
             xor rcx, rax
             shr rcx, 23
             jz 9f\n",
            two_slots!(),
            known_past!("0"),
            "mov rcx, [r11 + 8]
             xor rcx, rax
             test rcx, 0xfffffffff87fffff
             jz 4f\n",
            known_past!("8"),
            covered!("8"),
            "mov [r11 + 8], rax\n",
            note_code!(),
            "\njmp 9f
          4: or [r11 + 8], rax
             jmp 9f
         20:\n",
            to_bytes!(),
            $($bytes),*
        )
    };
}

macro_rules! write_part {
    ($($bytes:expr),*) => {
        concat!(
            "mov rcx, [r11]
             xor rcx, rax
             shr rcx, 23
             jz 9f\n",
            two_slots!(),
            known_past!("8"),
            "mov rcx, [r11]
             xor rcx, rax
             test rcx, 0xfffffffff87fffff
             jz 4f\n",
            known_past!("0"),
            covered!("0"),
            covered!("8"),
            "mov qword ptr [r11 + 8], 0
             mov [r11], rax\n",
            note_code!(),
            "\njmp 9f
          4: or [r11], rax
             jmp 9f
         20:\n",
            to_bytes!(),
            $($bytes),*
        )
    };
}

macro_rules! read_first_byte {
    () => {
        read_byte!("0", "32", "21")
    };
}

macro_rules! read_second_byte {
    () => {
        read_byte!("8", "40", "22")
    };
}

macro_rules! write_first_byte {
    () => {
        write_byte!("0", "32", "21")
    };
}

macro_rules! write_second_byte {
    () => {
        write_byte!("8", "40", "22")
    };
}

plain_hook!("__rh_read1", "1", "1", part!("1"), read_part!(read_first_byte!()));
plain_hook!("__rh_read2", "2", "1", part!("3"), read_part!(read_first_byte!(), read_second_byte!()));
plain_hook!("__rh_read4", "4", "1", whole!(), read_whole!());
plain_hook!("__rh_read8", "8", "1", whole!(), read_two!());
plain_hook!("__rh_write1", "1", "2", part!("1"), write_part!(write_first_byte!()));
plain_hook!("__rh_write2", "2", "2", part!("3"), write_part!(write_first_byte!(), write_second_byte!()));
plain_hook!("__rh_write4", "4", "2", whole!(), write_whole!());
plain_hook!("__rh_write8", "8", "2", whole!(), write_two!());
global_asm!(".globl __rh_vptr_read", "__rh_vptr_read:", "jmp __rh_read8");

const fn kind_of(info: u32) -> Kind {
    if info >> 8 == 2 { Kind::Write } else { Kind::Read }
}

/// A plain access whose site has a flag.
unsafe extern "C" fn access_at_site(address: usize, site: *mut u8, info: u32, code: usize, frame: usize) {
    announced(address, (info & 0xff) as usize, site, kind_of(info), code, frame);
}

/// A plain access that is counted already, but needs a decision or a closer look.
unsafe extern "C" fn access_counted(address: usize, site: *mut u8, info: u32, code: usize) {
    if RH_BUDGET.get() == 0 {
        pause(address, (info & 0xff) as usize, site, kind_of(info), code);
    }
    shadow::check_plain(address, (info & 0xff) as usize, Access { kind: kind_of(info), code, site });
}

/// A plain access of a function that has a frame pointer.
#[inline(always)]
pub(crate) unsafe fn announced(address: usize, size: usize, site: *mut u8, kind: Kind, code: usize, frame: usize) {
    if free::is_on() {
        return free::access(address, size, kind, site, code, frame);
    }
    access(address, size, site, kind, code);
}

/// Any plain access: counts it, decides if it is a point, logs, checks.
pub(crate) unsafe fn access(address: usize, size: usize, site: *mut u8, kind: Kind, code: usize) {
    approach(address, size, site, kind, code);
    shadow::check(address, size, Access { kind, code, site });
}

/// The same without the check: only afterwards is it known what the running thread does to the memory.
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

/// An access that is not a point, and is already counted, has used up the budget.
unsafe fn pause(address: usize, size: usize, site: *const u8, kind: Kind, code: usize) {
    let was_hushed = server::is_hushed();
    spin::looks(address, size, code);
    let n = attention(code);
    // Accesses may have become points while others ran: then this one is made among points.
    if was_hushed && !server::is_hushed() && !site.is_null() && *site & SITE_POINT != 0 {
        log_access(n, address, size, site, kind, annotations::mark(address), code);
    }
}

pub(crate) unsafe fn log_access(
    index: u64,
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

/// A function with a model has just written to its caller's memory, at `code`. The detector records it; it is part of
/// the function's event, not a separate one.
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

/// Something has happened to memory as part of an event that was announced before.
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

/// Setting a vtable pointer to what it is already, as destructors of base classes do, is not a write.
unsafe extern "C" fn vptr_update(address: usize, site: *mut u8, new: usize, code: usize, frame: usize) {
    let kind = if *(address as *const usize) == new { Kind::Read } else { Kind::Write };
    announced(address, 8, site, kind, code, frame);
}

/// The iterations of a loop without accesses have used up the budget.
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

/// The running thread has reached a place in the code that is not an event.
unsafe fn passed(kind: Kind, site: *mut u8, object: u64, detail: u8) {
    let (index, thread) = (schedule::now(), CURRENT.get());
    log::put(Record { index, object, thread, site: site_number(site), kind, detail, ..Record::default() });
}
