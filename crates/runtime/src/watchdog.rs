//! The watchdog: a thread that blocks or spins outside the runtime's knowledge must not hold up the others.
//!
//! A kernel timer interrupts the execution every [`TICK`]. If nothing was counted since the last ticks, and the running
//! thread hangs in a system call or uses processor time, its turn is taken away, inside the signal frame: it becomes
//! suspended ([`Wait::Outside`]) like a sleeping thread. It gets another turn when no other thread can continue, or
//! after [`PATIENCE`] events; then it returns from the handler and continues where it was.
//!
//! The schedule then depends on wall-clock time, so every such place is logged as an [`Escape`]. The switch itself is
//! logged without a place: a replay follows it when the thread reaches its next event, even if it is quicker.
//!
//! # When the turn can be taken away
//!
//! This happens only while the thread runs code of the program or of a library, never inside the runtime, whose
//! structures may be half changed. The runtime's code lies between two symbols of the linker. The C library functions
//! that it calls are leaves (`memset`), recognised by their return address, or neither block nor take long
//! (`pthread_create`).

use crate::schedule::{self, decide_and_switch, now};
use crate::thread::{Awaits, CURRENT, State, Thread, current, make_unready, next_ticket, ready_count, thread, threads};
use crate::{Global, fiber, hold, kernel, log, outcome, sys};
use racehunter_abi::{Cause, Escape, EventNumber, Kind, ThreadId, Wait};
use racehunter_machine::Deadline;

/// Milliseconds between two checks.
const TICK: u64 = 50;
/// Number of consecutive checks that find the thread blocked.
const BLOCKED_LOOKS: u32 = 2;
/// Milliseconds of processor time without an event; and the limit if a thread is held, for which the running one may
/// spin.
const BUSY: u64 = 1000;
const BUSY_FOR_ANOTHER: u64 = 250;
/// Number of events of others after which a thread that was left is tried again.
const PATIENCE: u64 = 100_000;

/// The C library reserves this signal (to cancel threads, which the runtime does without it), so a program can
/// neither use nor block it.
const SIGNAL: usize = 32;

/// The result of the last check.
struct Watch {
    events: EventNumber,
    thread: ThreadId,
    blocked: u32,
    /// Processor time, in milliseconds, at the last check, and at the first that saw this number of events.
    cpu: u64,
    since: u64,
    /// Number of threads that were left and have not continued since.
    outside: u32,
    places: [(Escape, usize); PLACES],
    place_count: usize,
}

/// Maximum number of places that one execution reports.
const PLACES: usize = 16;

#[unsafe(link_section = ".data.racehunter")]
static WATCH: Global<Watch> = Global::new(Watch {
    events: EventNumber::START,
    thread: ThreadId::MAIN,
    blocked: 0,
    cpu: 0,
    since: 0,
    outside: 0,
    places: [(Escape::None, 0); PLACES],
    place_count: 0,
});

unsafe extern "C" {
    // The bounds of the runtime's own code: see `cargo xtask build`.
    static rh_text_begin: u8;
    static rh_text_end: u8;
}

/// Installs the handler. Forked processes inherit it.
pub(crate) unsafe fn init() {
    const SIGINFO: usize = 4;
    const RESTART: usize = 0x1000_0000;
    // The handler may continue as another fiber, which must be watched too.
    const NOT_BLOCKED_MEANWHILE: usize = 0x4000_0000;
    outcome::set_action(SIGNAL, on_tick as *const () as usize, SIGINFO | RESTART | NOT_BLOCKED_MEANWHILE);
}

/// Sets the timer of this process. Processes that it forks, and programs that it executes, have none.
pub(crate) unsafe fn start() {
    const MONOTONIC: usize = 1;
    let mut event = [0_u64; 8];
    // `struct sigevent`: a value, then the number of the signal and the kind of notification, 0 for a signal.
    event[1] = SIGNAL as u64;
    let mut timer = 0_i32;
    if sys::call(sys::TIMER_CREATE, MONOTONIC, &raw const event as usize, &raw mut timer as usize, 0) == 0 {
        let period = [0, TICK * 1_000_000];
        let times = [period, period];
        sys::call(sys::TIMER_SETTIME, timer as usize, 0, &raw const times as usize, 0);
        TIMER.set(timer);
    }
}

/// The timer of this process.
#[unsafe(link_section = ".data.racehunter")]
static TIMER: Global<i32> = Global::new(-1);

/// Deletes the timer of this process.
pub(crate) unsafe fn stop() {
    const TIMER_DELETE: usize = 226;
    if TIMER.get() >= 0 {
        sys::call(TIMER_DELETE, TIMER.get() as usize, 0, 0, 0);
        TIMER.set(-1);
    }
}

/// Starts an execution.
pub(crate) unsafe fn begin() {
    let watch = WATCH.ptr();
    (*watch).outside = 0;
    (*watch).place_count = 0;
    // A number that no event has: the first check only begins to count.
    (*watch).events = EventNumber::NEVER;
}

/// Returns a thread that was left long before event `n`.
pub(crate) unsafe fn overdue(n: EventNumber) -> Option<ThreadId> {
    if (*WATCH.ptr()).outside == 0 {
        return None;
    }
    left().filter(|&number| matches!((*thread(number)).awaits, Awaits::Since(left) if n >= left + PATIENCE))
}

/// Returns the thread that was left first among those that have not continued since.
pub(crate) unsafe fn left() -> Option<ThreadId> {
    if (*WATCH.ptr()).outside == 0 {
        return None;
    }
    let is_left = |&number: &ThreadId| is_outside(thread(number));
    threads().filter(is_left).min_by_key(|&number| (*thread(number)).ticket)
}

pub(crate) unsafe fn is_outside(t: *const Thread) -> bool {
    (*t).state == State::Suspended && (*t).pending == Wait::Outside
}

/// The state of the thread when the signal came: registers from `ucontext_t.uc_mcontext`.
struct Interrupted {
    rip: usize,
    rsp: usize,
    rax: isize,
}

impl Interrupted {
    unsafe fn new(context: *const usize) -> Self {
        let register = |number: usize| *context.add(5 + number);
        Self { rip: register(16), rsp: register(15), rax: register(13) as isize }
    }

    /// Returns whether it was inside the runtime, or in a function that the runtime called.
    unsafe fn in_runtime(&self) -> bool {
        let runtime = &raw const rh_text_begin as usize..&raw const rh_text_end as usize;
        let caller = *(self.rsp as *const usize);
        runtime.contains(&self.rip)
            || !outcome::in_executable(self.rip) && runtime.contains(&caller) && caller != fiber::start_returns_to()
    }

    /// Returns whether the signal has interrupted a system call, which is about to be repeated or to return `EINTR`.
    unsafe fn in_system_call(&self) -> bool {
        (self.rip as *const u16).read_unaligned() == SYSCALL || self.returns_interrupted()
    }

    /// Returns whether the interrupted system call is about to return `EINTR`: the kernel does not repeat it.
    unsafe fn returns_interrupted(&self) -> bool {
        const EINTR: isize = -4;
        self.rax == EINTR && ((self.rip - 2) as *const u16).read_unaligned() == SYSCALL
    }

    /// Repeats that call, because only the runtime has interrupted it. A call with a time limit waits for the remaining
    /// time.
    unsafe fn make_again(&self, context: *mut usize) {
        const RAX: usize = 5 + 13;
        const RIP: usize = 5 + 16;
        let is_another = kernel::in_use() && fiber::fs_base() != (*current()).fs;
        if !self.returns_interrupted() || is_another {
            return;
        }
        let Some(call) = number_before(self.rip - 2, context) else { return };
        let register = |number: usize| context.add(5 + number);
        let [r8, r10, rdi, rsi, rdx] = [0, 2, 8, 9, 12].map(register);
        const ABSOLUTE: usize = 1;
        match call {
            SEMOP | MSGSND | MSGRCV | PAUSE => {}
            // The kernel has stored the remaining time there.
            SELECT | PSELECT6 | PPOLL => {}
            POLL => wait_for_the_rest(self, rdx),
            EPOLL_WAIT | EPOLL_PWAIT => wait_for_the_rest(self, r10),
            NANOSLEEP => wait_for_what_is_left(self, rdi),
            CLOCK_NANOSLEEP if *rsi & ABSOLUTE != 0 => {}
            CLOCK_NANOSLEEP | RT_SIGTIMEDWAIT => wait_for_what_is_left(self, rdx),
            // Only a timed wait comes here: the kernel repeats the others itself.
            FUTEX if *rsi & 0x7f == 0 => wait_for_what_is_left(self, r10),
            FUTEX => {}
            IO_GETEVENTS => wait_for_what_is_left(self, r8),
            SEMTIMEDOP | EPOLL_PWAIT2 => wait_for_what_is_left(self, r10),
            _ => return,
        }
        *context.add(RAX) = call as usize;
        *context.add(RIP) = self.rip - 2;
    }
}

/// An interrupted system call with a time limit: where it is, and until when it waits.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Interruption {
    rip: usize,
    rsp: usize,
    until: u64,
    /// The time argument in milliseconds, as the call was interrupted.
    left: i32,
    /// Or a `struct timespec` that the call reads instead.
    time: [u64; 2],
}

impl Interruption {
    pub(crate) const NONE: Self = Self { rip: 0, rsp: 0, until: 0, left: 0, time: [0; 2] };
}

const SECOND: u64 = 1_000_000_000;
const MILLISECOND: u64 = 1_000_000;

/// Sets an argument in milliseconds to the remaining time.
unsafe fn wait_for_the_rest(at: &Interrupted, argument: *mut usize) {
    let milliseconds = *argument as i32;
    if milliseconds <= 0 {
        return;
    }
    let last = &raw mut (*current()).interruption;
    let now = sys::monotonic();
    if ((*last).rip, (*last).rsp, (*last).left) != (at.rip, at.rsp, milliseconds) || (*last).until < now {
        // It began a moment ago.
        let until = now + milliseconds as u64 * MILLISECOND;
        *last = Interruption { rip: at.rip, rsp: at.rsp, until, left: milliseconds, time: [0; 2] };
        return;
    }
    (*last).left = (((*last).until - now) / MILLISECOND) as i32;
    *argument = (*last).left as usize;
}

/// Sets an argument that points to a `struct timespec` to the remaining time.
unsafe fn wait_for_what_is_left(at: &Interrupted, argument: *mut usize) {
    let last = &raw mut (*current()).interruption;
    let own = &raw mut (*last).time as usize;
    let now = sys::monotonic();
    if *argument == 0 {
        return;
    }
    if *argument != own {
        let [seconds, nanoseconds] = (*argument as *const [u64; 2]).read_unaligned();
        let until = now.saturating_add(seconds.saturating_mul(SECOND)).saturating_add(nanoseconds);
        *last = Interruption { rip: at.rip, rsp: at.rsp, until, left: 0, time: [0; 2] };
        *argument = own;
    }
    let left = (*last).until.saturating_sub(now);
    (*last).time = [left / SECOND, left % SECOND];
}

/// Returns the number of the system call that the instruction there makes. By now the register has its result. Code that
/// makes calls loads the number just before, with at most a few loads of arguments in between.
unsafe fn number_before(instruction: usize, context: *const usize) -> Option<u32> {
    /// Number of bytes of code that are examined.
    const LOADED_BEFORE: usize = 48;
    /// More than there are.
    const SYSTEM_CALLS: u64 = 512;
    const RBP: usize = 5 + 10;
    let code = |back: usize| (instruction - back) as *const u8;
    let plausible = |number: u64| (number < SYSTEM_CALLS).then_some(number as u32);
    let frame = *context.add(RBP);
    (4..=LOADED_BEFORE).find_map(|back| {
        let at = code(back);
        // Never beyond the instruction itself, nor from memory outside the function.
        let number = match (*at, *at.add(1), *at.add(2)) {
            // mov eax, number
            (0xb8, ..) if back >= 5 => u64::from(at.add(1).cast::<u32>().read_unaligned()),
            // mov rax, number
            (0x48, 0xc7, 0xc0) if back >= 7 => u64::from(at.add(3).cast::<u32>().read_unaligned()),
            // mov rax, [rbp - distance]
            (0x48, 0x8b, 0x45) if *at.add(3) as i8 <= -8 && frame != 0 => {
                (frame.wrapping_add_signed(isize::from(*at.add(3) as i8)) as *const u64).read_unaligned()
            }
            (0x48, 0x8b, 0x85) if back >= 7 && frame != 0 => {
                let distance = at.add(3).cast::<i32>().read_unaligned();
                if !(-4096..=-8).contains(&distance) {
                    return None;
                }
                (frame.wrapping_add_signed(distance as isize) as *const u64).read_unaligned()
            }
            _ => return None,
        };
        plausible(number)
    })
}

/// The instruction.
const SYSCALL: u16 = 0x050f;

// Calls that wait, and return `EINTR` whatever the handler's flags are.
const POLL: u32 = 7;
const NANOSLEEP: u32 = 35;
const FUTEX: u32 = 202;
const CLOCK_NANOSLEEP: u32 = 230;
const SELECT: u32 = 23;
const PAUSE: u32 = 34;
const SEMOP: u32 = 65;
const MSGSND: u32 = 69;
const MSGRCV: u32 = 70;
const RT_SIGTIMEDWAIT: u32 = 128;
const IO_GETEVENTS: u32 = 208;
const SEMTIMEDOP: u32 = 220;
const EPOLL_WAIT: u32 = 232;
const PSELECT6: u32 = 270;
const PPOLL: u32 = 271;
const EPOLL_PWAIT: u32 = 281;
const EPOLL_PWAIT2: u32 = 441;

unsafe extern "C" fn on_tick(_signal: i32, _info: *const usize, context: *mut usize) {
    let interrupted = Interrupted::new(context);
    look(&interrupted);
    interrupted.make_again(context);
}

/// Checks the running thread, which was interrupted there.
unsafe fn look(interrupted: &Interrupted) {
    if !schedule::running() {
        return;
    }
    if kernel::in_use() && fiber::fs_base() != (*current()).fs {
        kernel::send(current(), SIGNAL);
        return;
    }
    let watch = WATCH.ptr();
    let cpu = cpu_time();
    if ((*watch).events, (*watch).thread) != (now(), CURRENT.get()) || interrupted.in_runtime() {
        look_anew(cpu);
        return;
    }
    let idle = cpu - (*watch).cpu < TICK / 2;
    (*watch).cpu = cpu;
    (*watch).blocked = if idle && interrupted.in_system_call() { (*watch).blocked + 1 } else { 0 };
    let (what, milliseconds) = if (*watch).blocked >= BLOCKED_LOOKS {
        (Escape::Blocked, u64::from((*watch).blocked) * TICK)
    } else if cpu - (*watch).since >= if hold::is_holding() { BUSY_FOR_ANOTHER } else { BUSY } {
        (Escape::Busy, cpu - (*watch).since)
    } else {
        return;
    };
    if others_can_go_on() || hold::abandon() {
        tell(what, outcome::place(interrupted.rip, interrupted.rsp), milliseconds);
        give_way();
        look_anew(cpu_time());
    }
}

unsafe fn look_anew(cpu: u64) {
    let watch = WATCH.ptr();
    (*watch).events = now();
    (*watch).thread = CURRENT.get();
    (*watch).blocked = 0;
    (*watch).cpu = cpu;
    (*watch).since = cpu;
}

/// Returns the processor time of the process in milliseconds.
unsafe fn cpu_time() -> u64 {
    const PROCESS: usize = 2;
    let mut time = [0_u64; 2];
    sys::call(sys::CLOCK_GETTIME, PROCESS, &raw mut time as usize, 0, 0);
    time[0] * 1000 + time[1] / 1_000_000
}

unsafe fn others_can_go_on() -> bool {
    ready_count() > 1 || threads().any(|number| (*thread(number)).state == State::Suspended)
}

/// Logs an escape at a place, each once.
unsafe fn tell(what: Escape, code: usize, milliseconds: u64) {
    let watch = WATCH.ptr();
    let known = (*watch).place_count;
    if known < PLACES && !(&raw const (*watch).places).as_ref().is_some_and(|all| all[..known].contains(&(what, code)))
    {
        (*watch).places[known] = (what, code);
        (*watch).place_count = known + 1;
        log::escape(what, code, 0, milliseconds);
    }
}

/// Lets other threads continue. Returns when the running thread gets another turn.
unsafe fn give_way() {
    let t = current();
    let code = (*t).code;
    let watch = WATCH.ptr();
    (*watch).outside += 1;
    (*t).code = 0;
    (*t).pending = Wait::Outside;
    (*t).object = 0;
    (*t).awaits = Awaits::Since(now());
    (*t).ticket = next_ticket();
    (*t).deadline = Deadline::NEVER;
    make_unready(t, State::Suspended);
    schedule::log_state(t, Kind::Suspended, now().next());
    decide_and_switch(now().next(), false, Cause::Watchdog);
    (*t).pending = Wait::Nothing;
    (*t).timed_out = false;
    (*t).code = code;
    (*watch).outside -= 1;
}
