//! The fast paths of plain accesses, in assembly because they may use hardly any register (see [`crate::hooks`]): count the
//! event, and note it in the shadow if only the running thread has touched the memory so far. Everything else continues in
//! Rust, from the start: what a fast path noted before it gave up is correct.

use crate::clock::{RH_DETECT, RH_EPOCH, RH_FAMILY};
use crate::modules::RH_SITES;
use crate::schedule::minds::{ENTRIES, RH_MINDED};
use crate::schedule::{RH_BUDGET, RH_STAYS};
use crate::shadow::RH_SHADOW;
use crate::swift::{RH_STACKS_BYTES, RH_STACKS_FROM, RH_SWIFT, RH_SWIFT_AT};
use crate::track::{__rh_look_bytes, __rh_look_from, RH_LEFT, RH_MARKS, RH_UNMARKED};
use core::arch::global_asm;

// rdi = address, rsi = site. `info` for the slow paths: size | kind << 8.
//
// The cell is at ((address << 20) >> 18 & -16) + base; it gets into r11, and the slot for this access into rax. The fast path
// applies if the cell has no access of another thread, and this access covers those of this thread.
macro_rules! plain_hook {
    ($name:literal, $size:literal, $kind:literal, $slot:expr, $body:expr) => {
        global_asm!(
            concat!(".globl ", $name), concat!(".type ", $name, ",@function"),
            ".p2align 5",
            concat!($name, ":"),
            "test byte ptr [rsi], 0x1f",    // any flag that asks for a closer look
            "jnz 8f",
            "14: dec qword ptr [rip + {budget}]",
            "je 7f",
            "cmp byte ptr [rip + {detect}], 0",
            "je 6f",
            "push rax",
            $slot,
            $body,
            "9: pop rdx",
            "pop rcx",
            "10: pop rax",
            "6: ret",
            "5: pop rdx",
            "pop rcx",
            "11: pop rax",
            concat!("7: mov r11d, ", $size, " | (", $kind, " << 8)"),
            "jmp rh_access_counted",
            "8: cmp qword ptr [rip + {swift}], 1",   // a point at which nothing happens?
            "jbe 13f",
            "mov r11b, [rsi]",
            "and r11b, 0x1f",
            "cmp r11b, 0x11",
            "jne 13f",
            "mov r11, rdi",
            "sub r11, [rip + {stacks_from}]",
            "cmp r11, [rip + {stacks_bytes}]",
            "jb 13f",
            "mov r11d, edi",                         // an object that the walk minds?
            "shr r11d, 2",
            "and r11d, {entries} - 1",
            "add r11, [rip + {minded}]",
            "cmp byte ptr [r11], 0",
            "jne 13f",
            "mov r11, [rip + {budget}]",
            "cmp r11, 1",
            "je 13f",
            "mov [rip + {swift_at}], r11",
            "dec qword ptr [rip + {swift}]",
            "jmp 14b",
            "13: mov r11, rdi",
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
            swift = sym RH_SWIFT,
            swift_at = sym RH_SWIFT_AT,
            minded = sym RH_MINDED,
            entries = const ENTRIES,
            stacks_from = sym RH_STACKS_FROM,
            stacks_bytes = sym RH_STACKS_BYTES,
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

// Puts the rest of the slot into rax, which has the bytes. Sites of shared libraries have other numbers. Uses rcx.
macro_rules! slot {
    () => {
        "mov rcx, rsi
         sub rcx, [rip + {sites}]
         cmp rcx, 0x7ff000
         jae 5f
         or rax, rcx
         or rax, [rip + {epoch}]\n"
    };
}

// An access to a whole number of cells, with all their bytes. `$known` recognises a repeated access of the thread in the same
// epoch, with one more register than the caller provides.
macro_rules! whole {
    ($known:expr) => {
        concat!(
            "mov rax, rdi
             shl rax, 20
             shr rax, 18
             test al, 15
             jnz 11f
             add rax, [rip + {shadow}]\n",
            $known,
            "push rcx
             push rdx
             mov r11, rax
             mov eax, 0x7800000\n",
            slot!()
        )
    };
}

// Returns if the slot in r11 belongs to this thread, in this epoch, with all bytes.
macro_rules! is_known {
    () => {
        "xor r11, [rip + {epoch}]
         shr r11, 23
         cmp r11, 15
         je 10f\n"
    };
}

macro_rules! read_known {
    () => {
        concat!("mov r11, [rax + 8]\n", is_known!(), "mov r11, [rax]\n", is_known!())
    };
}

macro_rules! write_known {
    () => {
        concat!("mov r11, [rax]\n", is_known!())
    };
}

// Two cells. Memory that is only accessed in this way has the same content in both, so one comparison is enough.
macro_rules! read_two_known {
    () => {
        concat!(
            "mov r11, [rax + 8]
             cmp r11, [rax + 24]
             jne 12f\n",
            is_known!(),
            "12: mov r11, [rax]
             cmp r11, [rax + 16]
             jne 12f\n",
            is_known!(),
            "12:\n"
        )
    };
}

macro_rules! write_two_known {
    () => {
        concat!(
            "mov r11, [rax]
             cmp r11, [rax + 16]
             jne 12f\n",
            is_known!(),
            "12:\n"
        )
    };
}

// Part of a cell. It may not cross into the next one.
macro_rules! part {
    ($bytes:literal) => {
        concat!(
            "push rcx
             push rdx
             mov r11, rdi
             shl r11, 20
             shr r11, 18
             mov ecx, edi
             and ecx, 3
             mov eax, ",
            $bytes,
            "
             shl eax, cl
             cmp eax, 15
             ja 5f
             shl eax, 23
             and r11, -16
             add r11, [rip + {shadow}]\n",
            slot!()
        )
    };
}

// The slow path notes the code address of the site the first time.
macro_rules! note_code {
    () => {
        "test byte ptr [rsi], 0x40
         jz 5f"
    };
}

// Continues only if the access in the slot is this thread's own or, by creation and joining of threads alone, precedes
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

// Continues only if the slot is not a list. Uses rcx.
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
        concat!(known_past!("0"), no_list!("8"), known_past!("8"), "mov [r11 + 8], rax\n", note_code!())
    };
}

macro_rules! write_whole {
    () => {
        concat!(
            known_past!("0"),
            no_list!("8"),
            known_past!("8"),
            "mov qword ptr [r11 + 8], 0
             mov [r11], rax\n",
            note_code!()
        )
    };
}

// Two cells that are accessed whole, and have the same content.
macro_rules! read_two {
    () => {
        concat!(
            are_alike!(),
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
            are_alike!(),
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

macro_rules! are_alike {
    () => {
        "mov rcx, [r11]
         cmp rcx, [r11 + 16]
         jne 5f
         mov rdx, [r11 + 8]
         cmp rdx, [r11 + 24]
         jne 5f\n"
    };
}

// Continues only if the bytes in the slot are all among those of this access. Uses rcx and rdx.
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

// Part of a cell with slots for each byte: sets r11 to the address of the first of its write slots. Uses rcx and rdx.
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
plain_hook!("__rh_read4", "4", "1", whole!(read_known!()), read_whole!());
plain_hook!("__rh_read8", "8", "1", whole!(read_two_known!()), read_two!());
plain_hook!("__rh_write1", "1", "2", part!("1"), write_part!(write_first_byte!()));
plain_hook!("__rh_write2", "2", "2", part!("3"), write_part!(write_first_byte!(), write_second_byte!()));
plain_hook!("__rh_write4", "4", "2", whole!(write_known!()), write_whole!());
plain_hook!("__rh_write8", "8", "2", whole!(write_two_known!()), write_two!());
global_asm!(".globl __rh_vptr_read", "__rh_vptr_read:", "jmp __rh_read8");
