//! Free-running threads, identified by the thread control blocks of the C library.

use super::{calls, is_watching, put};
use crate::sync::real;
use crate::{Global, fiber, log, server};
use core::arch::naked_asm;
use core::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use racehunter_abi::control::MAX_THREADS;
use racehunter_abi::{Kind, MAIN_PATH, Record, ThreadId, path_of, path_of_id};
use racehunter_walk::Sampler;

/// What is known about a thread. Its creator writes it before the thread starts; then only the thread uses it.
pub(super) struct Thread {
    pub number: ThreadId,
    /// Its identity, which is the same in any execution.
    pub path: AtomicU64,
    children: AtomicU32,
    /// How many of its accesses match each of those that the plan describes.
    pub described: [AtomicU64; 2],
    /// How many of its annotations turn off the checking of its accesses.
    pub ignores: AtomicU32,
    start: AtomicUsize,
    argument: AtomicUsize,
    /// Selects the sampled accesses. Only this thread uses it.
    pub sampler: Global<Sampler>,
    pub memory: calls::Memory,
    pub stored: calls::Stored,
}

static THREADS: [Thread; MAX_THREADS] = {
    let mut threads = [const {
        Thread {
            number: ThreadId::MAIN,
            path: AtomicU64::new(0),
            children: AtomicU32::new(0),
            described: [const { AtomicU64::new(0) }; 2],
            ignores: AtomicU32::new(0),
            start: AtomicUsize::new(0),
            argument: AtomicUsize::new(0),
            sampler: Global::new(Sampler::NONE),
            memory: calls::Memory::new(),
            stored: [const { AtomicU32::new(0) }; _],
        }
    }; MAX_THREADS];
    let mut i = 0;
    while i < MAX_THREADS {
        threads[i].number = ThreadId(i as u32);
        i += 1;
    }
    threads
};
static COUNT: AtomicU32 = AtomicU32::new(0);

/// Control blocks and the numbers + 1 of their threads. A reused block belongs to the latest thread.
static BLOCKS: [AtomicUsize; PLACES] = [const { AtomicUsize::new(0) }; PLACES];
static NUMBERS: [AtomicU32; PLACES] = [const { AtomicU32::new(0) }; PLACES];
const PLACES: usize = 2 * MAX_THREADS;

/// Starts with only the main thread.
pub(super) unsafe fn begin() {
    COUNT.store(1, Ordering::Relaxed);
    (*server::slot()).threads = 1;
    THREADS[0].introduce(MAIN_PATH);
    register(ThreadId::MAIN);
}

impl Thread {
    /// Sets its identity and its own random state.
    unsafe fn introduce(&self, path: u64) {
        let slot = server::slot();
        self.path.store(path, Ordering::Relaxed);
        self.sampler.set(Sampler::new((*slot).seed ^ path, (*slot).sample));
    }
}

/// Returns whether there was ever more than one thread.
pub(super) fn are_several() -> bool {
    COUNT.load(Ordering::Relaxed) > 1
}

/// Returns the index of a control block in the table.
fn place(block: usize) -> Option<usize> {
    let first = (block >> 6).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 51;
    let places = (0..PLACES).map(|step| (first + step) % PLACES);
    places.into_iter().find(|&at| {
        let found = BLOCKS[at].load(Ordering::Relaxed);
        found == block
            || found == 0 && {
                let taken = BLOCKS[at].compare_exchange(0, block, Ordering::Relaxed, Ordering::Relaxed);
                taken.is_ok_and(|_| true) || taken == Err(block)
            }
    })
}

unsafe fn register(number: ThreadId) {
    THREADS[number.index()].memory.find();
    if let Some(at) = place(fiber::fs_base()) {
        NUMBERS[at].store(number.0 + 1, Ordering::Relaxed);
    }
}

/// Returns the running thread. One that was not created by `pthread_create` becomes known now, as a child of `main`.
/// `None` if there are too many.
pub(super) unsafe fn own() -> Option<&'static Thread> {
    let at = place(fiber::fs_base())?;
    if let Some(number) = NUMBERS[at].load(Ordering::Relaxed).checked_sub(1) {
        return Some(&THREADS[number as usize]);
    }
    let thread = make(&THREADS[0], 0, 0)?;
    register(thread.number);
    Some(thread)
}

unsafe fn make(parent: &Thread, start: usize, argument: usize) -> Option<&'static Thread> {
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let thread = THREADS.get(number as usize)?;
    let nth = parent.children.fetch_add(1, Ordering::Relaxed) + 1;
    thread.introduce(path_of(parent.path.load(Ordering::Relaxed), nth));
    AtomicU32::from_ptr(&raw mut (*server::slot()).threads).fetch_max(number + 1, Ordering::Relaxed);
    thread.start.store(start, Ordering::Relaxed);
    thread.argument.store(argument, Ordering::Relaxed);
    put(&[Record {
        object: u64::from(number),
        extra: log::relative(start).0,
        thread: parent.number,
        kind: Kind::Create,
        ..Record::default()
    }]);
    Some(thread)
}

/// `racehunter_thread_id`
pub(super) unsafe extern "C" fn number(id: u64) {
    let Some(own) = own().filter(|_| is_watching()) else { return };
    let path = path_of_id(id);
    own.path.store(path, Ordering::Relaxed);
    put(&[Record { object: path, thread: own.number, kind: Kind::Numbered, ..Record::default() }]);
}

/// `pthread_create`
pub(super) unsafe extern "C" fn create(
    handle: *mut usize,
    attributes: *const u8,
    start: usize,
    argument: usize,
) -> i32 {
    let real: extern "C" fn(*mut usize, *const u8, usize, usize) -> i32 = core::mem::transmute(real::create());
    let known = if is_watching() { own().and_then(|parent| make(parent, start, argument)) } else { None };
    match known {
        Some(thread) => real(handle, attributes, first_steps as *const () as usize, thread.number.index()),
        None => real(handle, attributes, start, argument),
    }
}

/// `pthread_join`
pub(super) unsafe extern "C" fn join(handle: usize, result: *mut usize) -> i32 {
    // The handle is the address of the control block, which may be reused once the thread is joined.
    let joined = place(handle).and_then(|at| NUMBERS[at].load(Ordering::Relaxed).checked_sub(1));
    let real: extern "C" fn(usize, *mut usize) -> i32 = core::mem::transmute(super::real_join());
    let error = real(handle, result);
    if error == 0
        && is_watching()
        && let (Some(thread), Some(own)) = (joined, own())
    {
        put(&[Record {
            object: u64::from(thread),
            thread: own.number,
            kind: Kind::Join,
            detail: 1,
            ..Record::default()
        }]);
    }
    error
}

/// `thrd_create`: the C library's own would bypass this module. The function returns an `int`, which [`join_c11`]
/// takes from a register whose upper half is meaningless.
pub(super) unsafe extern "C" fn create_c11(handle: *mut usize, start: usize, argument: usize) -> i32 {
    result(create(handle, core::ptr::null(), start, argument))
}

/// `thrd_join`
pub(super) unsafe extern "C" fn join_c11(handle: usize, value: *mut i32) -> i32 {
    let mut word = 0_usize;
    let error = join(handle, &raw mut word);
    if error == 0 && !value.is_null() {
        *value = word as i32;
    }
    result(error)
}

const fn result(error: i32) -> i32 {
    const ERROR: i32 = 2;
    if error == 0 { 0 } else { ERROR }
}

/// The start routine and argument of a new thread.
#[repr(C)]
struct Start {
    function: usize,
    argument: usize,
}

unsafe extern "C" fn takes_over(number: usize) -> Start {
    let thread = &THREADS[number];
    register(ThreadId(number as u32));
    Start { function: thread.start.load(Ordering::Relaxed), argument: thread.argument.load(Ordering::Relaxed) }
}

/// The entry point of a thread. For unwinders, there is no frame below that of the program's function.
#[unsafe(naked)]
unsafe extern "C" fn first_steps() {
    naked_asm!("sub rsp, 8", "call {}", "add rsp, 8", "mov rdi, rdx", "jmp rax", sym takes_over)
}
