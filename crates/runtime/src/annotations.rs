//! Annotations for race detectors: ThreadSanitizer's interface for custom synchronisation, and the older dynamic
//! annotations. Programs and libraries that support ThreadSanitizer use it in every build that declares itself as
//! one, and RaceHunter's builds do.
//!
//! Only what concerns happens-before has an effect: edges, and accesses that must not be checked. The waiting itself
//! is done by the program's own code, which is under control like any other.

use crate::clock::{self, acquire, release};
use crate::sync::objects::{self, Object};
use crate::thread::{CURRENT, Thread, current};
use crate::{Global, arena, escapes, free, log, schedule, server};
use core::ffi::{c_char, c_int, c_long, c_uint, c_void};
use racehunter_abi::control::{EXCUSED, NOTE_ANNOTATED};
use racehunter_abi::{Kind, Record, Wait};

unsafe fn object(at: usize) -> *mut Object {
    tell();
    objects::get(Wait::Mutex, at)
}

/// Records that the log does not contain everything that threads do to each other: annotations are not events.
pub(crate) unsafe fn tell() {
    let slot = server::slot();
    if (*slot).notes & NOTE_ANNOTATED == 0 {
        (*slot).notes |= NOTE_ANNOTATED;
        let (index, thread) = (schedule::now(), CURRENT.get());
        log::put(Record { index, thread, kind: Kind::Annotated, ..Record::default() });
    }
}

/// Returns whether the accesses of a thread are checked.
pub(crate) unsafe fn looks_at(t: *const Thread) -> bool {
    (*t).ignores == 0
}

/// Returns the log detail of an access to a byte: whether the program excused it from checks.
pub(crate) unsafe fn mark(byte: usize) -> u8 {
    if is_excused(byte) { EXCUSED } else { 0 }
}

/// Returns whether an access of the running thread to a byte is not a race, whatever others do.
pub(crate) unsafe fn is_excused(byte: usize) -> bool {
    !looks_at(current()) || is_benign(byte)
}

unsafe fn ignore(more: i32) {
    if more > 0 {
        escapes::excused();
    }
    let t = current();
    (*t).ignores = (*t).ignores.saturating_add_signed(more);
    clock::load_epoch();
}

/// Makes the synchronisation of the running thread stop counting, or count again.
unsafe fn ignore_order(more: i32) {
    tell();
    let t = current();
    (*t).ignores_order = (*t).ignores_order.saturating_add_signed(more);
}

/// Memory with intended races.
#[repr(C)]
struct Benign {
    next: *const Benign,
    from: usize,
    to: usize,
}

#[unsafe(link_section = ".data.racehunter")]
static BENIGN: Global<*const Benign> = Global::new(core::ptr::null());

/// Returns whether the program has declared races on this byte benign.
pub(crate) unsafe fn is_benign(byte: usize) -> bool {
    let mut at = BENIGN.get();
    while !at.is_null() {
        if ((*at).from..(*at).to).contains(&byte) {
            return true;
        }
        at = (*at).next;
    }
    false
}

unsafe fn add_benign(from: usize, size: usize) {
    if is_benign(from) && is_benign(from + size.max(1) - 1) {
        return;
    }
    tell();
    let benign = arena::take_lasting(size_of::<Benign>()) as *mut Benign;
    *benign = Benign { next: BENIGN.get(), from, to: from + size };
    BENIGN.set(benign);
}

/// Excuses the streams that the C++ standard lets threads share without order, like those of the C library. Their code
/// is compiled with the program, where it looks like any other.
pub(crate) unsafe fn excuse_standard_streams() {
    /// Size of the largest of them in bytes.
    const SIZE: usize = 280;
    let streams = &raw const rh_standard_streams;
    for stream in (0..8).map(|index| *streams.add(index)).filter(|&stream| stream != 0) {
        let benign = arena::take_lasting(size_of::<Benign>()) as *mut Benign;
        *benign = Benign { next: BENIGN.get(), from: stream, to: stream + SIZE };
        BENIGN.set(benign);
        free::excuse(stream, SIZE);
    }
}

unsafe extern "C" {
    static rh_standard_streams: usize;
}

// Weak: most programs have none of them.
core::arch::global_asm!(
    ".pushsection .data.rel.rh_streams,\"aw\",@progbits",
    ".p2align 3",
    "rh_standard_streams:",
    ".irp name, _ZSt3cin, _ZSt4cout, _ZSt4cerr, _ZSt4clog, _ZSt4wcin, _ZSt5wcout, _ZSt5wcerr, _ZSt5wclog",
    ".weak \\name",
    ".quad \\name",
    ".endr",
    ".popsection",
);

macro_rules! annotation {
    ($($name:ident($($argument:ident: $type:ty),*) $body:block)*) => { $(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($argument: $type),*) $body
    )* };
}

annotation! {
    __tsan_acquire(at: usize) { acquired(at); }
    __tsan_release(at: usize) { released(at); }

    __tsan_mutex_create(_at: usize, _flags: c_uint) {}
    __tsan_mutex_destroy(at: usize, _flags: c_uint) { forget(at); }
    __tsan_mutex_pre_lock(_at: usize, _flags: c_uint) { ignore(1); }
    __tsan_mutex_post_lock(at: usize, flags: c_uint, _recursion: c_int) {
        ignore(-1);
        if flags & TRY_LOCK_FAILED == 0 {
            taken(at, flags & READ_LOCK == 0);
        }
    }
    __tsan_mutex_post_unlock(_at: usize, _flags: c_uint) { ignore(-1); }
    __tsan_mutex_pre_signal(_at: usize, _flags: c_uint) { ignore(1); }
    __tsan_mutex_post_signal(_at: usize, _flags: c_uint) { ignore(-1); }
    __tsan_mutex_pre_divert(_at: usize, _flags: c_uint) { ignore(-1); }
    __tsan_mutex_post_divert(_at: usize, _flags: c_uint) { ignore(1); }
    __tsan_ignore_thread_begin() { ignore(1); }
    __tsan_ignore_thread_end() { ignore(-1); }
    __tsan_flush_memory() {}

    __tsan_destroy_fiber(_fiber: *mut c_void) {}
    __tsan_switch_to_fiber(_fiber: *mut c_void, _flags: c_uint) {}
    __tsan_set_fiber_name(_fiber: *mut c_void, _name: *const c_char) {}

    AnnotateHappensBefore(_file: *const c_char, _line: c_int, at: usize) { released(at); }
    AnnotateHappensAfter(_file: *const c_char, _line: c_int, at: usize) { acquired(at); }
    WTFAnnotateHappensBefore(_file: *const c_char, _line: c_int, at: usize) { released(at); }
    WTFAnnotateHappensAfter(_file: *const c_char, _line: c_int, at: usize) { acquired(at); }
    AnnotateCondVarSignal(_file: *const c_char, _line: c_int, _at: usize) {}
    AnnotateCondVarSignalAll(_file: *const c_char, _line: c_int, _at: usize) {}
    AnnotateCondVarWait(_file: *const c_char, _line: c_int, _at: usize, _lock: usize) {}
    AnnotateMutexIsNotPHB(_file: *const c_char, _line: c_int, _at: usize) {}
    AnnotateMutexIsUsedAsCondVar(_file: *const c_char, _line: c_int, _at: usize) {}
    AnnotateRWLockCreate(_file: *const c_char, _line: c_int, _at: usize) {}
    AnnotateRWLockCreateStatic(_file: *const c_char, _line: c_int, _at: usize) {}
    AnnotateRWLockDestroy(_file: *const c_char, _line: c_int, at: usize) { forget(at); }
    AnnotateRWLockAcquired(_file: *const c_char, _line: c_int, at: usize, writes: c_long) { taken(at, writes != 0); }
    AnnotateRWLockReleased(_file: *const c_char, _line: c_int, at: usize, writes: c_long) { given(at, writes != 0); }
    AnnotateIgnoreReadsBegin(_file: *const c_char, _line: c_int) { ignore(1); }
    AnnotateIgnoreReadsEnd(_file: *const c_char, _line: c_int) { ignore(-1); }
    AnnotateIgnoreWritesBegin(_file: *const c_char, _line: c_int) { ignore(1); }
    AnnotateIgnoreWritesEnd(_file: *const c_char, _line: c_int) { ignore(-1); }
    AnnotateIgnoreSyncBegin(_file: *const c_char, _line: c_int) { ignore_order(1); }
    AnnotateIgnoreSyncEnd(_file: *const c_char, _line: c_int) { ignore_order(-1); }
    AnnotateBenignRace(_file: *const c_char, _line: c_int, at: usize, _why: *const c_char) { add_benign(at, 1); }
    AnnotateBenignRaceSized(_file: *const c_char, _line: c_int, at: usize, size: c_long, _why: *const c_char) {
        add_benign(at, size as usize);
    }
    WTFAnnotateBenignRaceSized(_file: *const c_char, _line: c_int, at: usize, size: c_long, _why: *const c_char) {
        add_benign(at, size as usize);
    }
    AnnotatePublishMemoryRange(_file: *const c_char, _line: c_int, _at: usize, _size: usize) {}
    AnnotateUnpublishMemoryRange(_file: *const c_char, _line: c_int, _at: usize, _size: usize) {}
    AnnotateNewMemory(_file: *const c_char, _line: c_int, at: usize, size: usize) {
        tell();
        crate::shadow::clear(at, size);
    }
    AnnotateMemoryIsInitialized(_file: *const c_char, _line: c_int, _at: usize, _size: usize) {}
    AnnotateMemoryIsUninitialized(_file: *const c_char, _line: c_int, _at: usize, _size: usize) {}
    AnnotatePCQCreate(_file: *const c_char, _line: c_int, _queue: usize) {}
    AnnotatePCQDestroy(_file: *const c_char, _line: c_int, _queue: usize) {}
    AnnotatePCQPut(_file: *const c_char, _line: c_int, _queue: usize) {}
    AnnotatePCQGet(_file: *const c_char, _line: c_int, _queue: usize) {}
    AnnotateExpectRace(_file: *const c_char, _line: c_int, _at: usize, _why: *const c_char) {}
    AnnotateTraceMemory(_file: *const c_char, _line: c_int, _at: usize) {}
    AnnotateThreadName(_file: *const c_char, _line: c_int, _name: *const c_char) {}
    AnnotateEnableRaceDetection(_file: *const c_char, _line: c_int, _enable: c_int) {}
    AnnotateFlushState(_file: *const c_char, _line: c_int) {}
    AnnotateNoOp(_file: *const c_char, _line: c_int, _at: usize) {}
}

/// Flags of ThreadSanitizer's interface for mutexes.
const READ_LOCK: c_uint = 1 << 3;
const TRY_LOCK_FAILED: c_uint = 1 << 5;

/// The program unlocks its own mutex. Returns how often it was held, which matters only with the corresponding flag.
#[unsafe(no_mangle)]
unsafe extern "C" fn __tsan_mutex_pre_unlock(at: usize, flags: c_uint) -> c_int {
    given(at, flags & READ_LOCK == 0);
    ignore(1);
    1
}

unsafe fn forget(at: usize) {
    tell();
    objects::forget(at);
}

/// The effect of an annotation depends on when it comes, so it is an event.
unsafe fn happens(at: usize) -> *mut Object {
    let n = schedule::point(0);
    log::event(Kind::Fence, n, at, 0, 0);
    object(at)
}

pub(crate) unsafe fn acquired(at: usize) {
    acquire(&(*happens(at)).clock);
}

pub(crate) unsafe fn released(at: usize) {
    release(&mut (*happens(at)).clock);
}

/// A counter is decremented: acquire and release at once, so that the last thread is ordered after all others.
pub(crate) unsafe fn counted(at: usize) {
    let o = happens(at);
    acquire(&(*o).clock);
    release(&mut (*o).clock);
}

pub(crate) unsafe fn taken(at: usize, writes: bool) {
    let o = happens(at);
    acquire(&(*o).clock);
    if writes {
        acquire(&(*o).shared_clock);
    }
}

pub(crate) unsafe fn given(at: usize, writes: bool) {
    let o = happens(at);
    release(if writes { &mut (*o).clock } else { &mut (*o).shared_clock });
}

/// Contexts that the program itself switches between are not threads here: everything a thread does is in order, in
/// whichever context.
#[unsafe(no_mangle)]
unsafe extern "C" fn __tsan_get_current_fiber() -> *mut c_void {
    current().cast()
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __tsan_create_fiber(_flags: c_uint) -> *mut c_void {
    current().cast()
}
