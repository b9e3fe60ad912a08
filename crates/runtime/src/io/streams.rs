//! Streams of the C library on pipes, sockets and terminals.
//!
//! The stream functions of the C library make their own system calls, which are not seen. Input is therefore taken from
//! the stream's buffer here, and before the buffer is filled the thread waits until there is something to fill it with.
//! Output is left to the C library: the thread waits until there is room, and afterwards the waiting threads are
//! updated. Only output larger than the buffer of a pipe can then still block.
//!
//! Streams on files go straight to the C library.

use super::channels::{self, Descriptor};
use super::{POLLIN, POLLOUT, PollFd, Request, Watch, changed, log_event, never_waits};
use crate::Global;
use crate::schedule::point;
use crate::signals::reentry;
use crate::sync::{files, interpose, real};
use core::ffi::{CStr, c_char};
use racehunter_abi::{File, FileOperation};

interpose! {
    fgetc => get_character, "rsi";
    getc => get_character, "rsi";
    _IO_getc => get_character, "rsi";
    fgetc_unlocked => get_character, "rsi";
    getc_unlocked => get_character, "rsi";
    __uflow => get_character, "rsi";
    getchar => get_from_input, "rdi";
    getchar_unlocked => get_from_input, "rdi";
    fgets => get_line, "rcx";
    fgets_unlocked => get_line, "rcx";
    __fgets_chk => get_line_checked, "r8";
    fread => get_items, "r8";
    fread_unlocked => get_items, "r8";
    __fread_chk => get_items_checked, "r9";
    getdelim => get_up_to, "r8";
    __getdelim => get_up_to, "r8";
    getline => get_whole_line, "rcx";
    fclose => close_at, "rsi";
}

/// The start of the C library's `FILE`, whose layout is compiled into programs.
#[repr(C)]
struct Stream {
    flags: i32,
    read_next: *mut u8,
    read_end: *mut u8,
    unused: [usize; 11],
    descriptor: i32,
}

const END_OF_FILE: i32 = -1;

unsafe fn on_channel(stream: *mut Stream) -> Option<Descriptor> {
    channels::of((*stream).descriptor)
}

/// Returns the value of a variable of the C library such as `stdin`.
unsafe fn standard(name: &CStr) -> *mut Stream {
    *(real::next(name) as *const *mut Stream)
}

unsafe fn request(d: Descriptor, operation: FileOperation, code: usize) -> Request {
    Request { d, operation, code, waits: !never_waits(d.fd), deadline: None, cancels: false }
}

/// Ensures that the buffer is not empty. Returns false at the end of the input.
unsafe fn fill(stream: *mut Stream, d: Descriptor, code: usize) -> bool {
    if (*stream).read_next < (*stream).read_end {
        channels::learn(d.channel);
        return true;
    }
    let underflow: extern "C" fn(*mut Stream) -> i32 = core::mem::transmute(real::underflow());
    let result = request(d, FileOperation::Read, code).perform_when_ready(POLLIN, || underflow(stream) as isize + 1);
    if result < 0 {
        crate::sync::fail(-result as i32);
    }
    result > 0
}

/// Takes at most this many bytes from the buffer, up to and including the wanted one.
unsafe fn take(stream: *mut Stream, to: *mut u8, most: usize, last: Option<u8>) -> (usize, bool) {
    let there = (*stream).read_end.offset_from((*stream).read_next) as usize;
    let bytes = core::slice::from_raw_parts((*stream).read_next, there.min(most));
    let found = last.and_then(|last| bytes.iter().position(|&byte| byte == last));
    let len = found.map_or(bytes.len(), |at| at + 1);
    core::ptr::copy_nonoverlapping(bytes.as_ptr(), to, len);
    (*stream).read_next = (*stream).read_next.add(len);
    (len, found.is_some())
}

unsafe extern "C" fn get_character(stream: *mut Stream, code: usize) -> i32 {
    files::enter(stream as usize, code);
    if let Some(d) = on_channel(stream)
        && !fill(stream, d, code)
    {
        return END_OF_FILE;
    }
    let get: extern "C" fn(*mut Stream) -> i32 = core::mem::transmute(real::get_character());
    get(stream)
}

unsafe extern "C" fn get_from_input(code: usize) -> i32 {
    get_character(standard(c"stdin"), code)
}

unsafe extern "C" fn get_line(to: *mut u8, room: i32, stream: *mut Stream, code: usize) -> *mut u8 {
    files::enter(stream as usize, code);
    let Some(d) = on_channel(stream).filter(|_| room > 1) else {
        let get: extern "C" fn(*mut u8, i32, *mut Stream) -> *mut u8 = core::mem::transmute(real::get_line());
        return get(to, room, stream);
    };
    let (most, mut len, mut whole) = (room as usize - 1, 0, false);
    while len < most && !whole && fill(stream, d, code) {
        let (taken, found) = take(stream, to.add(len), most - len, Some(b'\n'));
        len += taken;
        whole = found;
    }
    if len == 0 {
        return core::ptr::null_mut();
    }
    *to.add(len) = 0;
    to
}

unsafe extern "C" fn get_line_checked(
    to: *mut u8,
    _size: usize,
    room: i32,
    stream: *mut Stream,
    code: usize,
) -> *mut u8 {
    get_line(to, room, stream, code)
}

unsafe extern "C" fn get_items(to: *mut u8, size: usize, count: usize, stream: *mut Stream, code: usize) -> usize {
    files::enter(stream as usize, code);
    let total = size.saturating_mul(count);
    let Some(d) = on_channel(stream).filter(|_| total > 0) else {
        let get: extern "C" fn(*mut u8, usize, usize, *mut Stream) -> usize = core::mem::transmute(real::get_items());
        return get(to, size, count, stream);
    };
    let mut len = 0;
    while len < total && fill(stream, d, code) {
        len += take(stream, to.add(len), total - len, None).0;
    }
    len / size
}

unsafe extern "C" fn get_items_checked(
    to: *mut u8,
    _room: usize,
    size: usize,
    count: usize,
    stream: *mut Stream,
    code: usize,
) -> usize {
    get_items(to, size, count, stream, code)
}

unsafe extern "C" fn get_whole_line(to: *mut *mut u8, room: *mut usize, stream: *mut Stream, code: usize) -> isize {
    get_up_to(to, room, i32::from(b'\n'), stream, code)
}

unsafe extern "C" {
    /// The runtime's own function, which informs the detector.
    fn realloc(block: *mut u8, size: usize) -> *mut u8;
}

unsafe extern "C" fn get_up_to(
    to: *mut *mut u8,
    room: *mut usize,
    last: i32,
    stream: *mut Stream,
    code: usize,
) -> isize {
    const CHUNK: usize = 120;
    files::enter(stream as usize, code);
    let Some(d) = on_channel(stream) else {
        type Get = extern "C" fn(*mut *mut u8, *mut usize, i32, *mut Stream) -> isize;
        let get: Get = core::mem::transmute(real::get_up_to());
        return get(to, room, last, stream);
    };
    let (mut len, mut whole) = (0, false);
    while !whole && fill(stream, d, code) {
        if (*to).is_null() || len + 1 >= *room {
            let size = CHUNK.max(2 * len);
            let grown = realloc(*to, size);
            if grown.is_null() {
                return -1;
            }
            *to = grown;
            *room = size;
        }
        let (taken, found) = take(stream, (*to).add(len), *room - len - 1, Some(last as u8));
        len += taken;
        whole = found;
    }
    if len == 0 {
        return -1;
    }
    *(*to).add(len) = 0;
    len as isize
}

pub(super) unsafe extern "C" fn close_at(stream: *mut u8, code: usize) -> i32 {
    let stream = stream as *mut Stream;
    let close: extern "C" fn(*mut Stream) -> i32 = core::mem::transmute(real::close_stream());
    let fd = (*stream).descriptor;
    let Some(d) = on_channel(stream) else {
        channels::forget(fd);
        return close(stream);
    };
    let n = point(code);
    channels::tell(d.channel);
    let result = close(stream);
    channels::forget(fd);
    log_event(n, File { descriptor: fd, kind: d.kind, operation: FileOperation::Close }, d.channel, result >= 0);
    changed(d.channel);
    result
}

/// How an interposed function of the C library continues.
#[repr(C)]
struct Onward {
    /// The function.
    function: usize,
    /// Whether something has to be done after it.
    after: usize,
}

/// The return address of the function's caller, and the channel that it writes to. No switch happens in between.
#[unsafe(link_section = ".data.racehunter")]
static RETURN: Global<usize> = Global::new(0);
#[unsafe(link_section = ".data.racehunter")]
static CHANNEL: Global<usize> = Global::new(0);

/// Stands for standard output or input, or all streams.
const STANDARD: usize = usize::MAX;
const ALL: usize = 0;

unsafe fn resolve(found: *mut usize, name: *const c_char) -> usize {
    if *found == 0 {
        *found = real::next(CStr::from_ptr(name));
    }
    *found
}

/// Prepares for a function that writes to a stream.
unsafe extern "C" fn before_output(stream: usize, found: *mut usize, name: *const c_char, code: usize) -> Onward {
    let function = resolve(found, name);
    reentry::enters_library(code);
    let stream = if stream == STANDARD { standard(c"stdout") } else { stream as *mut Stream };
    if stream as usize == ALL {
        CHANNEL.set(channels::ALL);
        return Onward { function, after: usize::from(super::anybody_waits()) };
    }
    files::enter(stream as usize, code);
    let Some(d) = on_channel(stream) else { return Onward { function, after: 0 } };
    let request = request(d, FileOperation::Write, code);
    let mut entry = PollFd { fd: d.fd, events: POLLOUT, revents: 0 };
    let mut watch = Watch::on(&raw mut entry, &d);
    watch.doubtful = false;
    if let Ok(n) = request.begin(&raw mut watch) {
        channels::tell(d.channel);
        request.log(n, true);
    }
    CHANNEL.set(d.channel);
    Onward { function, after: 1 }
}

unsafe extern "C" fn after_output() {
    changed(CHANNEL.get());
}

/// Prepares for a function that reads any amount from a stream: only the first piece of it can be waited for.
unsafe extern "C" fn before_input(stream: usize, found: *mut usize, name: *const c_char, code: usize) -> Onward {
    reentry::enters_library(code);
    let stream = if stream == STANDARD { standard(c"stdin") } else { stream as *mut Stream };
    files::enter(stream as usize, code);
    if let Some(d) = on_channel(stream) {
        fill(stream, d, code);
    }
    Onward { function: resolve(found, name), after: 0 }
}

// Most of these functions take any number of arguments, in registers and on the stack. They are left in place: only the
// return address is replaced if something has to be done afterwards.
core::arch::global_asm!(
    r#"
    .macro rh_stream name, stream, before
    .weak \name
    .type \name,@function
\name:
    push rdi
    push rsi
    push rdx
    push rcx
    push r8
    push r9
    push rax
    sub rsp, 128
    movaps [rsp], xmm0
    movaps [rsp + 16], xmm1
    movaps [rsp + 32], xmm2
    movaps [rsp + 48], xmm3
    movaps [rsp + 64], xmm4
    movaps [rsp + 80], xmm5
    movaps [rsp + 96], xmm6
    movaps [rsp + 112], xmm7
    mov rdi, \stream
    lea rsi, [rip + 8f]
    lea rdx, [rip + 9f]
    mov rcx, [rsp + 184]
    call \before
    mov r11, rax
    mov r10, rdx
    movaps xmm0, [rsp]
    movaps xmm1, [rsp + 16]
    movaps xmm2, [rsp + 32]
    movaps xmm3, [rsp + 48]
    movaps xmm4, [rsp + 64]
    movaps xmm5, [rsp + 80]
    movaps xmm6, [rsp + 96]
    movaps xmm7, [rsp + 112]
    add rsp, 128
    pop rax
    pop r9
    pop r8
    pop rcx
    pop rdx
    pop rsi
    pop rdi
    test r10, r10
    jnz 7f
    jmp r11
7:  pop qword ptr [rip + {back}]
    call r11
    push qword ptr [rip + {back}]
    push rax
    call {after}
    pop rax
    ret
    .size \name, . - \name
    .pushsection .rodata.rh_names,"a",@progbits
9:  .asciz "\name"
    .popsection
    .pushsection .data.rh_found,"aw",@progbits
    .p2align 3
8:  .quad 0
    .popsection
    .endm

    .macro rh_output stream, names:vararg
    .irp name, \names
    rh_stream \name, \stream, {before_output}
    .endr
    .endm

    rh_output rdi, fprintf, vfprintf, __fprintf_chk, __vfprintf_chk, fflush, fflush_unlocked, __overflow
    rh_output rsi, fputs, fputs_unlocked, fputc, putc, _IO_putc, fputc_unlocked, putc_unlocked
    rh_output rcx, fwrite, fwrite_unlocked
    rh_output -1, printf, vprintf, __printf_chk, __vprintf_chk, puts, putchar, putchar_unlocked
    .purgem rh_output

    .macro rh_input stream, names:vararg
    .irp name, \names
    rh_stream \name, \stream, {before_input}
    .endr
    .endm

    rh_input rdi, fscanf, vfscanf, __isoc99_fscanf, __isoc99_vfscanf
    rh_input -1, scanf, vscanf, __isoc99_scanf, __isoc99_vscanf
    .purgem rh_input
    .purgem rh_stream
    "#,
    back = sym RETURN,
    after = sym after_output,
    before_output = sym before_output,
    before_input = sym before_input,
);
