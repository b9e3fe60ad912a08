//! The threads of the program, as the scheduler sees them.

use crate::{Global, arena, schedule, scopes, sys};
use racehunter_abi::{MAIN_PATH, Wait, control::MAX_THREADS};
use racehunter_machine::memory::Block;
use racehunter_machine::ready::{Place, ReadySet, cyclic_after, earliest};
use racehunter_machine::scope::{EndedScope, InUse};
use racehunter_machine::sync::{FutexScope, Round, Ticket};
use racehunter_machine::wait::{Cancellation, EndsBy};
use racehunter_machine::{Deadline, EventNumber, HeldLocks, ThreadId};

/// The state of a thread.
#[repr(u8)]
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum State {
    /// The entry is not in use.
    #[default]
    Free,
    /// It can perform its next operation.
    Ready,
    /// It waits for its `pending` object.
    Blocked,
    /// Like `Blocked`, but it can continue by a time-out at `deadline`.
    Suspended,
    /// It has ended.
    Done,
}

/// What a wait is for, beyond its object. Zeroed memory means nothing further.
#[repr(u32)]
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Awaits {
    #[default]
    Nothing = 0,
    /// On a condition variable, with this mutex.
    Mutex(usize),
    /// It was woken from a condition variable, and waits for the mutex alone.
    MutexAlone,
    /// On a futex, for a wake with one of these bits and the same scope.
    Futex { bits: u32, scope: FutexScope },
    /// For the end of a round of a barrier.
    Round(Round),
    /// The round has ended. Other threads of the round may destroy and free the barrier before this thread continues.
    RoundEnded,
    /// For one of these signals: bit `number - 1`.
    Signals(u64),
    /// For files.
    Files(crate::io::WatchAddress),
    /// Outside the runtime's control, since this event.
    Since(EventNumber),
}

impl Awaits {
    /// Returns the awaited signals.
    pub(crate) const fn signals(self) -> u64 {
        if let Self::Signals(signals) = self { signals } else { 0 }
    }

    /// Returns whether such a wake of its futex ends the wait.
    pub(crate) fn is_woken_by(self, with: u32, by: FutexScope) -> bool {
        matches!(self, Self::Futex { bits, scope } if bits & with != 0 && scope == by)
    }
}

/// One frame of the shadow call stack; written by instrumented code, so the layout is part of the hook interface.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Frame {
    /// Return address of the function: a place in its caller.
    pub code: usize,
    /// The position of that return address on the real stack. A frame whose slot no longer holds it was left by `longjmp`.
    pub slot: *const usize,
}

/// A thread. The first fields and `kernel` are used by assembly in [`crate::fiber`] and [`crate::kernel`].
#[repr(C)]
pub(crate) struct Thread {
    pub rsp: usize,
    pub fs: usize,
    /// Set, and woken as a futex, once the kernel thread has given up its context.
    pub harvested: u32,
    pub number: ThreadId,
    pub start: usize,
    pub argument: usize,
    pub result: usize,

    /// Floating-point exceptions that its creator had raised, see [`crate::float`].
    pub exceptions: u16,
    pub state: State,
    pub pending: Wait,
    pub timed_out: bool,
    /// What else can end the current wait.
    pub ends_by: EndsBy,
    /// A signal handler ran during the current wait, and ends it.
    pub interrupted: bool,
    /// It ends it even if what the thread waits for is there by now.
    pub broken_off: bool,
    /// That handler was installed to restart calls.
    pub restarts: bool,
    /// The current wait ends spuriously.
    pub for_nothing: bool,
    /// Whether it is to be cancelled.
    pub cancellation: Cancellation,
    /// Not a thread of the program, but of a timer.
    pub internal: bool,
    /// A waiter on a condition variable or futex that was chosen by a signal or wake.
    pub signalled: bool,
    pub detached: bool,
    pub joined: bool,
    pub from_pool: bool,
    /// How many of its annotations turn off the checking of its accesses.
    pub ignores: u32,
    /// Its last atomic access was in library code that is not under test.
    pub in_whole: bool,
    /// Not zero while its synchronisation does not count for the detector.
    pub ignores_order: u32,
    /// Its place in the list of ready threads.
    pub ready_at: Place,
    pub parent: ThreadId,
    /// Its identity, which does not depend on the schedule ([`racehunter_abi::path_of`]), and how many threads it has
    /// created.
    pub path: u64,
    pub children: u32,
    /// How many of its accesses match each of those that the plan describes, see [`crate::hold`].
    pub described: [u64; 2],
    /// A system call of it that the watchdog has interrupted.
    pub interruption: crate::watchdog::Interruption,
    /// Object of `pending`.
    pub object: usize,
    /// Further details of the current wait.
    pub awaits: Awaits,
    pub deadline: Deadline,
    /// Nanoseconds of processor time, see [`crate::time`].
    pub used: u64,
    /// Signals that were sent to it and are not delivered yet, and those that it blocks: bit `number - 1`.
    pub signals: u64,
    pub signal_mask: u64,
    /// The handler that it runs, if any.
    pub handler: *const crate::signals::Running,
    /// The alternate stack from `sigaltstack`: address and size.
    pub alternate_stack: [usize; 2],
    /// Order of arrival in a queue of waiters.
    pub ticket: Ticket,
    /// The `pthread_t` of the program.
    pub handle: usize,
    /// The place of the thread: return address of the hook or library call it is in.
    pub code: usize,
    /// The object of its next operation, 0 if unknown, and whether the operation changes it.
    pub next_object: usize,
    pub next_changes: bool,
    /// Where `pthread_create` was called.
    pub created_at: usize,
    pub stack: *mut Frame,
    pub stack_top: *mut Frame,
    /// Its local variables whose lifetimes have ended.
    pub scopes: *mut EndedScope,
    pub scopes_in_use: InUse,
    /// A range of its stack that contains everything that others have used of it.
    pub used_by_others: Block,
    /// Vector clock.
    pub clock: *mut u32,
    /// The part of it that results from creation and joining of threads alone.
    pub family: *mut u32,
    /// Clock as of the last release fence, or null.
    pub release_fence: *mut u32,
    /// What relaxed loads have seen and an acquire fence will acquire, or null.
    pub acquire_fence: *mut u32,
    pub clock_entries: u32,
    pub destructor_round: u32,
    /// The locks that it holds.
    pub held: HeldLocks,

    pub fiber: crate::fiber::Parked,
    pub kernel: crate::kernel::Beneath,

    /// The program provided its stack, and may reuse that memory when the thread has ended.
    pub foreign_stack: bool,
    /// Memory of the thread that was marked at its end, see [`crate::afterlife`]; `ended_to` is 0 if no memory was marked.
    pub ended_from: usize,
    pub ended_to: usize,
    /// The size of its stack, with what the C library keeps there; 0 for `main`.
    pub stack_size: usize,
    pub depth: crate::afterlife::Depth,
    /// Whether it iterates in a loop that waits for something.
    pub spin: schedule::spin::Spin,
    /// Its last wait on a condition variable, if those may end spuriously.
    pub wakeup: schedule::spin::Wakeup,
}

impl Thread {
    /// Returns whether it runs no instrumented function.
    pub(crate) unsafe fn stack_is_empty(&self) -> bool {
        let top = if self.number == CURRENT.get() { __rh_stack.get() } else { self.stack_top };
        top <= self.stack
    }
}

static THREADS: Global<[core::mem::MaybeUninit<Thread>; MAX_THREADS]> =
    Global::new([const { core::mem::MaybeUninit::zeroed() }; MAX_THREADS]);
/// Number of the running thread.
#[unsafe(link_section = ".data.racehunter")]
pub(crate) static CURRENT: Global<ThreadId> = Global::new(ThreadId::MAIN);
/// Number of threads ever created in this execution.
#[unsafe(link_section = ".data.racehunter")]
pub(crate) static COUNT: Global<u32> = Global::new(0);
/// Number of threads that have not ended.
#[unsafe(link_section = ".data.racehunter")]
pub(crate) static LIVE: Global<u32> = Global::new(0);
/// Those of them that belong to the runtime.
#[unsafe(link_section = ".data.racehunter")]
pub(crate) static INTERNAL: Global<u32> = Global::new(0);
/// Threads that can run.
static READY: Global<ReadySet<MAX_THREADS>> = Global::new(ReadySet::EMPTY);
/// Threads that can continue by a time-out.
#[unsafe(link_section = ".data.racehunter")]
pub(crate) static SUSPENDED: Global<u32> = Global::new(0);
#[unsafe(link_section = ".data.racehunter")]
static TICKET: Global<u64> = Global::new(0);

/// Next free frame of the running thread's shadow call stack.
#[unsafe(no_mangle)]
#[unsafe(link_section = ".data.racehunter")]
pub(crate) static __rh_stack: Global<*mut Frame> = Global::new(core::ptr::null_mut());

/// As many frames as a stack of the default size can have: a frame takes at least 16 bytes of it.
const SHADOW_STACK: usize = 8 << 20;

#[inline(always)]
pub(crate) unsafe fn thread(number: ThreadId) -> *mut Thread {
    (THREADS.ptr() as *mut Thread).add(number.index())
}

/// Returns the threads ever created in this execution.
pub(crate) fn threads() -> impl DoubleEndedIterator<Item = ThreadId> + Clone {
    (0..COUNT.get()).map(ThreadId)
}

/// Returns the entries of the same threads.
pub(crate) unsafe fn every_thread() -> impl DoubleEndedIterator<Item = *mut Thread> + Clone {
    threads().map(|number| thread(number))
}

/// Returns the number of the running thread.
#[inline(always)]
pub(crate) fn me() -> ThreadId {
    CURRENT.get()
}

#[inline(always)]
pub(crate) unsafe fn current() -> *mut Thread {
    thread(CURRENT.get())
}

/// Prepares the entry of a new thread. It is not ready yet.
pub(crate) unsafe fn prepare(number: ThreadId) -> *mut Thread {
    let t = thread(number);
    (*t).number = number;
    if (*t).stack.is_null() {
        (*t).stack = sys::reserve(0, SHADOW_STACK + scopes::SIZE) as *mut Frame;
        assert!(!(*t).stack.is_null());
        (*t).scopes = (*t).stack.byte_add(SHADOW_STACK).cast();
    }
    (*t).release_fence = core::ptr::null_mut();
    (*t).acquire_fence = core::ptr::null_mut();
    if number.index() >= CLOCK_ENTRIES.get() {
        CLOCK_ENTRIES.set((number.index() + 1).next_power_of_two());
        threads().for_each(|other| lengthen_clocks(thread(other)));
    }
    lengthen_clocks(t);
    (*t).stack_top = (*t).stack;
    (*t).scopes_in_use = InUse::default();
    (*t).used_by_others = Block::default();
    (*t).state = State::Free;
    (*t).pending = Wait::Nothing;
    (*t).timed_out = false;
    (*t).signalled = false;
    (*t).ends_by = EndsBy::NOTHING;
    (*t).interrupted = false;
    (*t).broken_off = false;
    (*t).for_nothing = false;
    (*t).cancellation = Cancellation::NEW;
    (*t).internal = false;
    (*t).signals = 0;
    (*t).used = 0;
    (*t).signal_mask = 0;
    (*t).handler = core::ptr::null();
    (*t).alternate_stack = [0; 2];
    (*t).detached = false;
    (*t).joined = false;
    (*t).destructor_round = 0;
    (*t).ignores = 0;
    (*t).in_whole = false;
    (*t).ignores_order = 0;
    (*t).held.clear();
    (*t).path = MAIN_PATH;
    (*t).children = 0;
    (*t).code = 0;
    (*t).next_object = 0;
    (*t).result = 0;
    (*t).spin = schedule::spin::Spin::NEW;
    (*t).interruption = crate::watchdog::Interruption::NONE;
    (*t).wakeup = schedule::spin::Wakeup::NEW;
    t
}

/// Number of entries of every thread's clocks: at least the number of threads, a power of two.
#[unsafe(link_section = ".data.racehunter")]
static CLOCK_ENTRIES: Global<usize> = Global::new(32);

/// Makes room for an entry of every thread; the existing entries stay.
unsafe fn lengthen_clocks(t: *mut Thread) {
    let (old, entries) = ((*t).clock_entries as usize, CLOCK_ENTRIES.get());
    if old < entries {
        let memory = arena::take_lasting(entries * 8) as *mut u32;
        for (clock, new) in [(&raw mut (*t).clock, memory), (&raw mut (*t).family, memory.add(entries))] {
            if old > 0 {
                core::ptr::copy_nonoverlapping(*clock, new, old);
            }
            *clock = new;
        }
        for fence in [&raw mut (*t).release_fence, &raw mut (*t).acquire_fence] {
            if !(*fence).is_null() {
                let new = arena::take(entries * size_of::<u32>()) as *mut u32;
                core::ptr::copy_nonoverlapping(*fence, new, old);
                *fence = new;
            }
        }
        (*t).clock_entries = entries as u32;
    }
}

pub(crate) unsafe fn make_ready(t: *mut Thread) {
    debug_assert!((*t).state != State::Ready);
    count_suspended((*t).state, State::Ready);
    (*t).state = State::Ready;
    (*t).ready_at = (*READY.ptr()).add((*t).number);
    schedule::open();
}

pub(crate) unsafe fn make_unready(t: *mut Thread, state: State) {
    if (*t).state == State::Ready {
        let place = (*t).ready_at;
        let moved = (*READY.ptr()).remove(place);
        (*thread(moved)).ready_at = place;
        schedule::open();
    }
    count_suspended((*t).state, state);
    (*t).state = state;
}

fn count_suspended(before: State, after: State) {
    let one = |state: State| u32::from(state == State::Suspended);
    if one(after) > one(before) {
        schedule::draws_anew();
    }
    SUSPENDED.set(SUSPENDED.get() + one(after) - one(before));
}

/// Returns how many threads can run.
#[inline]
pub(crate) fn ready_count() -> u32 {
    // SAFETY: a plain read of a global, see the crate documentation.
    unsafe { (*READY.ptr()).count() }
}

/// Returns the `n`-th ready thread in an arbitrary, but deterministic order.
pub(crate) unsafe fn ready_thread(n: u32) -> ThreadId {
    (*READY.ptr()).get(Place(n))
}

/// Returns the ready thread after the given one in cyclic order of creation.
pub(crate) unsafe fn next_ready(after: ThreadId) -> Option<ThreadId> {
    if ready_count() == 0 {
        return None;
    }
    let is_ready = |thread: &ThreadId| (*self::thread(*thread)).state == State::Ready;
    cyclic_after(after, COUNT.get()).find(is_ready)
}

/// Returns the suspended thread with the earliest deadline. Those without one, see [`crate::watchdog`], are not included.
pub(crate) unsafe fn next_suspended() -> Option<ThreadId> {
    let waits_for_time =
        |n: &ThreadId| (*thread(*n)).state == State::Suspended && (*thread(*n)).pending != Wait::Outside;
    earliest(threads().filter(waits_for_time).map(|n| (n, (*thread(n)).deadline)))
}

pub(crate) fn next_ticket() -> Ticket {
    TICKET.set(TICKET.get() + 1);
    Ticket(TICKET.get())
}

/// Forgets all threads but `main`, for the next iteration of an in-process loop.
pub(crate) unsafe fn reset() {
    for n in threads().skip(1) {
        (*thread(n)).state = State::Free;
    }
    COUNT.set(1);
    LIVE.set(1);
    INTERNAL.set(0);
    (*READY.ptr()).clear();
    SUSPENDED.set(0);
    TICKET.set(0);
    let main = thread(ThreadId::MAIN);
    (*main).state = State::Free;
    (*main).pending = Wait::Nothing;
    (*main).held.clear();
    (*main).children = 0;
    (*main).signals = 0;
    // Their memory belongs to the execution that has ended.
    (*main).release_fence = core::ptr::null_mut();
    (*main).acquire_fence = core::ptr::null_mut();
    (*main).spin = schedule::spin::Spin::NEW;
    (*main).wakeup = schedule::spin::Wakeup::NEW;
    make_ready(main);
}

/// Returns the thread with this `pthread_t`, if the program may still use it. A handle is reused after a join, so the
/// youngest wins.
pub(crate) unsafe fn by_handle(handle: usize) -> Option<*mut Thread> {
    every_thread().rev().find(|&t| (*t).handle == handle && (*t).state != State::Free && !(*t).joined)
}

/// Returns the last thread with this `pthread_t`, even if it has ended.
pub(crate) unsafe fn any_by_handle(handle: usize) -> Option<*mut Thread> {
    every_thread().rev().find(|&t| (*t).handle == handle && (*t).state != State::Free)
}

/// Notes that the thread has taken a lock, at its current place.
#[inline]
pub(crate) unsafe fn hold(t: *mut Thread, lock: usize) {
    let code = (*t).code;
    (*t).held.add(lock, code);
}

/// Notes that the thread has released a lock.
#[inline]
pub(crate) unsafe fn unhold(t: *mut Thread, lock: usize) {
    (*t).held.remove(lock);
}

/// Returns whether the thread holds the lock; `None` if unknown.
pub(crate) unsafe fn holds(t: *const Thread, lock: usize) -> Option<bool> {
    (*t).held.holds(lock)
}

/// Creates a zeroed clock for a fence of this thread. It lives as long as the execution, and becomes longer with the thread's own.
pub(crate) unsafe fn new_clock(t: *const Thread) -> *mut u32 {
    arena::take((*t).clock_entries as usize * size_of::<u32>()) as *mut u32
}
