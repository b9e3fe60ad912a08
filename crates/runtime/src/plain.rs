//! Calls of the C library made by uninstrumented libraries.
//!
//! The memory accesses of such a library are not seen. But its calls of `memcpy` and similar functions can be: the
//! pointers through which a library calls them are redirected to stubs, which announce the call by its model and then
//! make it. Code that does not go through these pointers pays nothing: neither the program's own calls, nor calls
//! inside the C library. The reported place is the last call made by instrumented code.
//!
//! The redirection happens once, before the first execution, for the libraries loaded at that time.

use crate::modules::Object;
use crate::sync::real;
use crate::thread::{__rh_stack, current};
use crate::{Global, calls, free, modules, schedule, sys, tsan};
use core::arch::global_asm;
use core::ffi::{CStr, c_char, c_int};
use racehunter_sight::models;

/// The functions. All have at most six arguments, which are numbers or pointers.
const FUNCTIONS: [&CStr; 24] = [
    c"memcpy",
    c"memmove",
    c"memset",
    c"memcmp",
    c"memchr",
    c"mempcpy",
    c"bcmp",
    c"strlen",
    c"strnlen",
    c"strcpy",
    c"stpcpy",
    c"strncpy",
    c"strcat",
    c"strncat",
    c"strcmp",
    c"strncmp",
    c"strcasecmp",
    c"strncasecmp",
    c"strchr",
    c"strrchr",
    c"strdup",
    c"wmemcpy",
    c"wmemset",
    c"wcslen",
];

/// Their addresses in the C library.
static REAL: Global<[usize; FUNCTIONS.len()]> = Global::new([0; FUNCTIONS.len()]);
/// Their models, as zero-terminated text.
const MODEL: usize = 32;
static MODELS: Global<[[u8; MODEL]; FUNCTIONS.len()]> = Global::new([[0; MODEL]; FUNCTIONS.len()]);

// One stub of 16 bytes for each, then their common code. The arguments are put where a model expects them.
global_asm!(
    ".p2align 4",
    "rh_plain_stubs:",
    ".set index, 0",
    ".rept 24",
    ".p2align 4",
    "push index",
    "jmp rh_plain_call",
    ".set index, index + 1",
    ".endr",
    ".type rh_plain_call, @function",
    "rh_plain_call:",
    "push rbp",
    "mov rbp, rsp",
    "sub rsp, 72",
    "mov qword ptr [rsp], 6",
    "mov [rsp + 8], rdi",
    "mov [rsp + 16], rsi",
    "mov [rsp + 24], rdx",
    "mov [rsp + 32], rcx",
    "mov [rsp + 40], r8",
    "mov [rsp + 48], r9",
    "mov rdi, [rbp + 8]",
    "mov rsi, rsp",
    "lea rdx, [rbp + 16]",
    "call {begins}",
    "mov rdi, [rsp + 8]",
    "mov rsi, [rsp + 16]",
    "mov rdx, [rsp + 24]",
    "mov rcx, [rsp + 32]",
    "mov r8, [rsp + 40]",
    "mov r9, [rsp + 48]",
    "call rax",
    "mov [rsp + 56], rax",
    "mov rdi, [rbp + 8]",
    "mov rsi, rsp",
    "lea rdx, [rbp + 16]",
    "mov rcx, rax",
    "call {ends}",
    "mov rax, [rsp + 56]",
    "leave",
    "lea rsp, [rsp + 8]",
    "ret",
    begins = sym begins,
    ends = sym ends,
);

unsafe extern "C" {
    static rh_plain_stubs: [[u8; 16]; FUNCTIONS.len()];
    static rh_text_begin: u8;
    static rh_text_end: u8;
}

unsafe extern "C" fn begins(index: usize, arguments: *const usize, returns_to: *const usize) -> usize {
    if let Some(code) = place(returns_to) {
        let model = &raw const (*MODELS.ptr())[index] as *const c_char;
        calls::before(model, arguments, tsan::site_of(code), code, tsan::NO_FRAME);
    }
    (*REAL.ptr())[index]
}

unsafe extern "C" fn ends(index: usize, arguments: *const usize, returns_to: *const usize, result: isize) {
    if let Some(code) = place(returns_to) {
        let model = &raw const (*MODELS.ptr())[index] as *const c_char;
        calls::after(model, arguments, tsan::site_of(code), result, code);
    }
}

/// Returns whether that is code of the runtime.
pub(crate) fn is_own_code(code: usize) -> bool {
    (&raw const rh_text_begin as usize..&raw const rh_text_end as usize).contains(&code)
}

/// The start and end of the executable's code.
static CODE: Global<(usize, usize)> = Global::new((0, 0));

/// Returns the last call made by instrumented code: the lowest return address on the stack that leads there.
unsafe fn place(returns_to: *const usize) -> Option<usize> {
    const WORDS: usize = 4096;
    if !schedule::running() || free::is_on() {
        return None;
    }
    let top = __rh_stack.get();
    if top <= (*current()).stack {
        return None;
    }
    let slot = (*top.sub(1)).slot;
    let words = (slot as usize).checked_sub(returns_to as usize)? / size_of::<usize>();
    if words > WORDS {
        return None;
    }
    // The stack can contain any number: it must be known to be a code address before it is used.
    const LONGEST_CALL: usize = 7;
    let (begin, end) = CODE.get();
    let code = begin + LONGEST_CALL..end;
    let is_call = |code: usize| {
        let before = |bytes: usize| *((code - bytes) as *const u8);
        before(5) == 0xe8 || (2..=LONGEST_CALL).any(|bytes| before(bytes) == 0xff && before(bytes - 1) >> 3 & 7 == 2)
    };
    (0..words).map(|at| *returns_to.add(at)).find(|&word| code.contains(&word) && !is_own_code(word) && is_call(word))
}

/// Redirects the pointers of all loaded libraries.
pub(crate) unsafe fn watch_libraries() {
    for (index, name) in FUNCTIONS.iter().enumerate() {
        let Some(model) = name.to_str().ok().and_then(models::of).filter(|model| model.len() < MODEL) else { return };
        (&mut (*MODELS.ptr()))[index][..model.len()].copy_from_slice(model.as_bytes());
        (*REAL.ptr())[index] = real::next(name);
    }
    modules::visit_objects(visit);
}

/// Parts of the C library, and the libraries beneath it, are not redirected. The first object is the executable.
unsafe fn is_own(object: *const Object) -> bool {
    const OWN: [&[u8]; 10] = [
        b"libc.so",
        b"libc-",
        b"ld-",
        b"ld.so",
        b"libm.so",
        b"libpthread",
        b"libdl.",
        b"librt.",
        b"libgcc_s",
        b"linux-",
    ];
    let path = CStr::from_ptr((*object).name).to_bytes();
    let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or(path);
    name.is_empty() || OWN.iter().any(|own| name.starts_with(own))
}

unsafe extern "C" fn visit(object: *const Object, _size: usize, _data: *mut u8) -> c_int {
    const LOADED: u32 = 1;
    const DYNAMIC: u32 = 2;
    const EXECUTABLE: u32 = 1;
    let segments = core::slice::from_raw_parts((*object).segments, (*object).count.into());
    if CODE.get() == (0, 0)
        && let Some(code) = segments.iter().find(|part| part.kind == LOADED && part.flags & EXECUTABLE != 0)
    {
        let begin = (*object).base + code.address;
        CODE.set((begin, begin + code.memory_size));
    }
    if is_own(object) || modules::is_instrumented((*object).base) {
        return 0;
    }
    for segment in segments {
        if segment.kind == DYNAMIC {
            turn((*object).base, ((*object).base + segment.address) as *const [usize; 2]);
        }
    }
    0
}

unsafe fn turn(base: usize, mut entry: *const [usize; 2]) {
    const STRINGS: usize = 5;
    const SYMBOLS: usize = 6;
    const TABLE: usize = 7;
    const TABLE_SIZE: usize = 8;
    const CALLS_SIZE: usize = 2;
    const CALLS: usize = 23;
    let (mut strings, mut symbols, mut tables) = (0, 0, [(0, 0); 2]);
    while (*entry)[0] != 0 {
        let [tag, value] = *entry;
        match tag {
            STRINGS => strings = value,
            SYMBOLS => symbols = value,
            TABLE => tables[0].0 = value,
            TABLE_SIZE => tables[0].1 = value,
            CALLS => tables[1].0 = value,
            CALLS_SIZE => tables[1].1 = value,
            _ => {}
        }
        entry = entry.add(1);
    }
    // Without relocated addresses this is not an ordinary library.
    if strings < base || symbols < base {
        return;
    }
    for (table, size) in tables.into_iter().filter(|(table, _)| *table >= base) {
        for at in 0..size / 24 {
            let [offset, info, _] = *((table + at * 24) as *const [usize; 3]);
            const POINTER: usize = 6;
            const SLOT: usize = 7;
            if matches!(info & 0xffff_ffff, POINTER | SLOT) {
                let name = strings + *((symbols + (info >> 32) * 24) as *const u32) as usize;
                point(base + offset, CStr::from_ptr(name as *const c_char));
            }
        }
    }
}

/// Redirects the pointer to the stub of a function, if it has one.
unsafe fn point(slot: usize, name: &CStr) {
    const MPROTECT: usize = 10;
    const READ_WRITE: usize = 3;
    const PAGE: usize = 4096;
    let Some(index) = FUNCTIONS.iter().position(|known| *known == name) else { return };
    let (begin, end) = CODE.get();
    if (begin..end).contains(&*(slot as *const usize)) {
        // The program defines a function of this name, which the library is meant to call.
        return;
    }
    if sys::call(MPROTECT, slot & !(PAGE - 1), PAGE, READ_WRITE, 0) == 0 {
        *(slot as *mut usize) = &raw const rh_plain_stubs[index] as usize;
    }
}
