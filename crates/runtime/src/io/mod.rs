//! Input and output that may block, and child processes.
//!
//! All threads share one kernel thread, so no call may block in the kernel while another thread could continue. Every operation
//! that can block first waits, as a fiber, until the kernel says that it would not block ([`until`]); then it is made. What a
//! thread waits for is a [`Watch`] on its own stack, and probing it is a system call that returns at once.
//!
//! As long as no other process has the other end, only operations of the program's own threads change what such a watch sees.
//! After each of them the threads that wait for the same channel are checked again ([`changed`]), so the set of ready threads is
//! exact at every decision. Input from *outside* (another process) is noticed only when nothing else can continue, which keeps
//! executions the same from run to run; only then does real time pass ([`nothing_is_ready`]).
//!
//! A [`client`] named by the user is such an outside process.
//!
//! [`channels`] knows what descriptors refer to. [`transfer`], [`sockets`], [`multiplex`], [`locks`] and [`streams`] are
//! functions of the C library, [`descriptors`] those that create and close descriptors, [`children`] those that create processes
//! and wait for them.

pub(crate) mod channels;
pub(crate) mod children;
pub(crate) mod client;
pub(crate) mod descriptors;
mod elsewhere;
pub(crate) mod locks;
pub(crate) mod multiplex;
mod opening;
pub(crate) mod sockets;
pub(crate) mod streams;
pub(crate) mod transfer;

use crate::schedule::{self, End, EndsBy, Waiting, acquire, point};
use crate::signals::cancel;
use crate::sync::{fail, shared};
use crate::thread::{Awaits, COUNT, CURRENT, State, Thread, current, every_thread, next_suspended, thread, threads};
use crate::{Global, clock, hooks, log, memory, signals, sys, tsan};
use channels::{ALL, Descriptor};
use racehunter_abi::{Escape, EventNumber, File, FileKind, FileOperation, Kind, Wait};
use racehunter_machine::Deadline;

pub(crate) const EINTR: i32 = 4;
pub(crate) const EBADF: i32 = 9;
pub(crate) const EAGAIN: i32 = 11;
pub(crate) const POLLIN: i16 = 1;
pub(crate) const POLLOUT: i16 = 4;

const POLL: usize = 7;
const NANOSLEEP: usize = 35;

/// `struct pollfd`
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct PollFd {
    pub fd: i32,
    pub events: i16,
    pub revents: i16,
}

/// How to find out whether a thread can continue, without blocking and without changing anything.
#[derive(Clone, Copy)]
pub(crate) enum Probe {
    /// One of these descriptors is ready.
    Poll(*mut PollFd, usize),
    /// The same for `select`.
    Select(*const multiplex::Sets),
    /// A file can be locked.
    Lock(locks::Wanted),
    /// A child process has changed its state.
    Child(children::Wanted),
    /// Another process or thread has opened a FIFO for writing that was opened for reading.
    Writer(*mut PollFd),
    /// There is no way to find out; another attempt is worthwhile after each operation on the channel.
    Attempt,
}

/// The address of a waiting thread's [`Watch`], which is on its stack.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct WatchAddress(usize);

/// What a thread waits for. It is on the stack of that thread.
pub(crate) struct Watch {
    probe: Probe,
    /// The channel, or [`ALL`] for more than one.
    channel: usize,
    /// The call waits for any of several descriptors.
    several: bool,
    /// The call is a cancellation point.
    cancels: bool,
    /// Something outside the process can end the wait.
    outside: bool,
    /// It ends only when nothing else can continue: input from outside comes at an arbitrary time.
    lazy: bool,
    /// The kernel may let the operation succeed although it reports the descriptor as not ready: small writes to a pipe or socket
    /// that is nearly full.
    doubtful: bool,
    /// One attempt has to be made whatever the probe says.
    forced: bool,
    /// That attempt was made, and nothing has changed since.
    tried: bool,
}

impl Watch {
    pub(crate) const fn new(probe: Probe, channel: usize) -> Self {
        Self {
            probe,
            channel,
            several: false,
            cancels: true,
            outside: false,
            lazy: false,
            doubtful: false,
            forced: false,
            tried: false,
        }
    }

    /// Creates a watch on one descriptor.
    pub(crate) unsafe fn on(entry: *mut PollFd, d: &Descriptor) -> Self {
        let mut watch = Self::new(Probe::Poll(entry, 1), d.channel);
        let input = (*entry).events & POLLIN != 0;
        watch.outside = channels::is_outside(d.channel);
        watch.lazy = input && channels::is_unexpected(d.channel);
        watch.doubtful = !input;
        watch
    }
}

/// Returns whether something outside the process can end the wait.
unsafe fn can_end_outside(watch: *const Watch) -> bool {
    let held_here = matches!((*watch).probe, Probe::Lock(_)) && locks::is_held_here((*watch).channel);
    !held_here && ((*watch).outside || channels::is_outside((*watch).channel))
}

/// Number of threads that wait for files or children.
#[unsafe(link_section = ".data.racehunter")]
static WAITING: Global<u32> = Global::new(0);

/// Resets the module between iterations of an in-process loop.
pub(crate) unsafe fn reset() {
    WAITING.set(0);
    channels::reset();
}

/// Resets the module in a newly forked process: no thread waits, and everything open is also open in the old one.
pub(crate) unsafe fn leave() {
    WAITING.set(0);
    client::leave();
    channels::share_all();
}

/// Returns whether a thread is about to operate on a file or child.
pub(crate) fn anybody_waits() -> bool {
    WAITING.get() > 0
}

unsafe fn watch_of(t: *const Thread) -> *mut Watch {
    match (*t).awaits {
        Awaits::Files(WatchAddress(watch)) => watch as *mut Watch,
        _ => unreachable!(),
    }
}

unsafe fn probe(watch: *const Watch) -> bool {
    match (*watch).probe {
        Probe::Poll(fds, count) => sys::call(POLL, fds as usize, count, 0, 0) != 0,
        Probe::Select(sets) => multiplex::select_now(sets),
        Probe::Lock(wanted) => locks::is_free(wanted),
        Probe::Child(wanted) => children::has_changed(wanted),
        Probe::Writer(entry) => descriptors::has_writer(entry),
        Probe::Attempt => false,
    }
}

/// Returns whether the wait of a thread for a file or child has ended.
pub(crate) unsafe fn available(t: *const Thread) -> bool {
    let watch = watch_of(t);
    (*watch).forced || (!(*watch).lazy && probe(watch))
}

/// Waits until the watch of the running thread says that it can continue, and counts the event.
pub(crate) unsafe fn until(
    code: usize,
    wait: Wait,
    object: usize,
    watch: *mut Watch,
    deadline: Option<Deadline>,
) -> (EventNumber, End) {
    if (*watch).lazy && client::is_there() && client::settles(|| probe(watch).then_some(())).is_some() {
        // A request that has already arrived, or is on its way together with others, is served together with them.
        (*watch).lazy = false;
    }
    WAITING.set(WAITING.get() + 1);
    (*current()).awaits = Awaits::Files(WatchAddress(watch as usize));
    // Handlers that restart other calls do not restart those that wait for several descriptors.
    let signals = if (*watch).several { EndsBy::ANY_SIGNAL } else { EndsBy::SIGNAL };
    let ends_by = if (*watch).cancels { signals.or(EndsBy::CANCEL) } else { signals };
    let result = acquire(code, Waiting { wait, object, deadline, ends_by });
    WAITING.set(WAITING.get().saturating_sub(1));
    (*watch).forced = false;
    result
}

/// An operation on a descriptor.
pub(crate) struct Request {
    pub d: Descriptor,
    pub operation: FileOperation,
    pub code: usize,
    /// Whether the program is prepared to wait, and for how long.
    pub waits: bool,
    pub deadline: Option<Deadline>,
    /// Whether the call is a cancellation point.
    pub cancels: bool,
}

impl Request {
    pub(crate) fn file(&self) -> File {
        File { descriptor: self.d.fd, kind: self.d.kind, operation: self.operation }
    }

    /// Performs the event that precedes an attempt, and waits if the program is prepared to. An error is the number that the
    /// caller gets.
    pub(crate) unsafe fn begin(&self, watch: *mut Watch) -> Result<EventNumber, i32> {
        if self.cancels && cancel::acts_at(self.code) {
            return Err(EINTR);
        }
        if !self.waits {
            return Ok(point(self.code));
        }
        (*watch).cancels = self.cancels;
        let (n, end) = until(self.code, Wait::File, self.file().pack() as usize, watch, self.deadline);
        let error = match end {
            End::Done => return Ok(n),
            End::TimedOut => EAGAIN,
            End::Interrupted => EINTR,
            End::Cancelled => {
                cancel::act();
                EINTR
            }
        };
        self.log(n, false);
        Err(error)
    }

    pub(crate) unsafe fn log(&self, n: EventNumber, done: bool) {
        log_event(n, self.file(), self.d.channel, done);
    }

    /// Completes the operation: passes on the happens-before edge, and updates the waiting threads.
    pub(crate) unsafe fn end(&self, n: EventNumber, result: isize) {
        self.log(n, result >= 0);
        let learns = match self.operation {
            FileOperation::Read | FileOperation::Accept | FileOperation::Lock => result != -(EAGAIN as isize),
            // The other end is closed: that carries its past.
            _ => result < 0 && result != -(EAGAIN as isize),
        };
        if learns {
            sockets::learn(&self.d);
        }
        if result >= 0 {
            changed(self.d.channel);
        }
    }

    /// Makes an attempt at output. If nothing can read at the other end any more, the kernel sends a signal that would kill the
    /// process; the program's action for it is taken as for any other signal that it sends to itself.
    unsafe fn with_pipe_signal<R>(&self, attempt: impl FnOnce() -> R) -> R {
        const PROCMASK: usize = 14;
        const TIMEDWAIT: usize = 128;
        const BLOCK: usize = 0;
        const SET: usize = 2;
        const SIGPIPE: i32 = 13;
        const SIZE: usize = size_of::<u64>();
        if self.operation != FileOperation::Write || !matches!(self.d.kind, FileKind::Pipe | FileKind::Socket) {
            return attempt();
        }
        let (signal, mut before, at_once) = (1_u64 << (SIGPIPE - 1), 0_u64, [0_u64; 2]);
        let (set, old) = (&raw const signal as usize, &raw mut before as usize);
        sys::call(PROCMASK, BLOCK, set, old, SIZE);
        let result = attempt();
        let came = sys::call(TIMEDWAIT, set, 0, at_once.as_ptr() as usize, SIZE) == SIGPIPE as isize;
        sys::call(PROCMASK, SET, old, 0, SIZE);
        if came {
            signals::send::to_self(SIGPIPE, self.code);
        }
        result
    }

    /// Performs the operation as soon as it is possible, or as soon as the kernel refuses it.
    pub(crate) unsafe fn perform(&self, events: i16, attempt: impl FnMut() -> isize) -> isize {
        self.perform_with(events, true, attempt)
    }

    /// The same for an attempt that must not be made in vain.
    pub(crate) unsafe fn perform_when_ready(&self, events: i16, attempt: impl FnMut() -> isize) -> isize {
        self.perform_with(events, false, attempt)
    }

    unsafe fn perform_with(&self, events: i16, may_try: bool, mut attempt: impl FnMut() -> isize) -> isize {
        const WOULD_WAIT: isize = -(EAGAIN as isize);
        descriptors::used(self.d.fd, self.code);
        let mut entry = PollFd { fd: self.d.fd, events, revents: 0 };
        let mut watch = Watch::on(&raw mut entry, &self.d);
        loop {
            // The kernel refuses some calls at once, and others return nothing: on the wrong kind of socket, with a length of
            // zero. Polling the descriptor does not show that.
            let tries = may_try && self.waits && !watch.lazy && !probe(&raw const watch);
            let early = if tries { without_waiting(self.d.fd, &mut attempt) } else { WOULD_WAIT };
            watch.forced = early != WOULD_WAIT;
            let n = match self.begin(&raw mut watch) {
                Ok(n) => n,
                Err(error) => return -(error as isize),
            };
            if self.operation != FileOperation::Read && self.operation != FileOperation::Accept {
                sockets::tell(&self.d);
            }
            // Input that has just arrived from outside exists only once.
            let has_come = early > 0 || early == 0 && self.operation == FileOperation::Accept;
            let mut result = match early {
                _ if has_come => early,
                WOULD_WAIT => self.with_pipe_signal(&mut attempt),
                // Another thread may have changed what the kernel refused.
                _ => without_waiting(self.d.fd, &mut attempt),
            };
            if result == WOULD_WAIT && self.waits && sockets::is_shut_for_input(&self.d) && events & POLLIN != 0 {
                // The kernel returns that only to a thread that was prepared to wait.
                result = 0;
            }
            self.end(n, result);
            if result != WOULD_WAIT || !self.waits {
                return result;
            }
        }
    }
}

pub(crate) unsafe fn log_event(n: EventNumber, file: File, channel: usize, done: bool) {
    log::event(Kind::Io, n, file.pack() as usize, channel as u64, u8::from(done));
}

/// No program has memory there: the kernel refuses such an address, where a model would read it.
pub(crate) const fn is_in_first_page(address: usize) -> bool {
    address < 4096
}

/// Converts a result of the kernel to that of the C library.
pub(crate) unsafe fn finish(result: isize) -> isize {
    if result < 0 { fail(-result as i32) as isize } else { result }
}

/// Returns whether calls on the descriptor never wait.
pub(crate) unsafe fn never_waits(fd: i32) -> bool {
    const GET_FLAGS: usize = 3;
    let flags = sys::call(sys::FCNTL, fd as usize, GET_FLAGS, 0, 0);
    flags >= 0 && flags as usize & NONBLOCK != 0
}

const NONBLOCK: usize = 0o4000;

/// Makes a call on a descriptor that normally waits, without waiting.
pub(crate) unsafe fn without_waiting(fd: i32, call: impl FnOnce() -> isize) -> isize {
    const GET_FLAGS: usize = 3;
    const SET_FLAGS: usize = 4;
    let flags = sys::call(sys::FCNTL, fd as usize, GET_FLAGS, 0, 0);
    if flags < 0 || flags as usize & NONBLOCK != 0 {
        return call();
    }
    sys::call(sys::FCNTL, fd as usize, SET_FLAGS, flags as usize | NONBLOCK, 0);
    let result = call();
    sys::call(sys::FCNTL, fd as usize, SET_FLAGS, flags as usize, 0);
    result
}

fn waits_here(t: *const Thread) -> bool {
    // SAFETY: `t` is an entry of the table of threads.
    unsafe { matches!((*t).pending, Wait::File | Wait::Child) }
}

/// Returns the threads that are about to operate on a file or child, except the running one.
unsafe fn waiting() -> impl Iterator<Item = *mut Thread> {
    threads().filter(|&number| number != CURRENT.get()).map(|number| thread(number)).filter(|&t| waits_here(t))
}

unsafe fn is_stopped(t: *const Thread) -> bool {
    matches!((*t).state, State::Blocked | State::Suspended)
}

/// Updates the threads that are about to use a channel, after an operation on it.
pub(crate) unsafe fn changed(channel: usize) {
    if WAITING.get() == 0 {
        return;
    }
    for t in waiting().filter(|&t| (*t).pending == Wait::File) {
        let watch = watch_of(t);
        if channel == ALL || (*watch).channel == channel || (*watch).channel == ALL {
            (*watch).tried = false;
            // Operations of this process are not unexpected.
            (*watch).lazy &= channel != ALL && channels::is_unexpected(channel);
            if matches!((*watch).probe, Probe::Attempt) && is_stopped(t) {
                (*watch).forced = true;
            }
            schedule::review(t);
        }
    }
}

/// How long to wait for input from outside before virtual time passes or a deadlock is certain.
const MOMENT: u64 = 20_000_000;

/// Called when no thread can continue. Checks whether one can after all, and waits for the outside world if necessary. Returns
/// whether a thread is ready now.
pub(crate) unsafe fn nothing_is_ready() -> bool {
    if WAITING.get() == 0 && !waits_here(current()) {
        return false;
    }
    let stopped = || every_thread().filter(|&t| waits_here(t) && is_stopped(t));
    // Internal operations of the C library (a stream that was flushed) were not seen.
    for t in stopped() {
        if available(t) {
            schedule::wake(t);
            return true;
        }
    }
    if let Some(t) = stopped().find(|&t| can_be_forced(watch_of(t))) {
        force(t);
        return true;
    }
    let timed = next_suspended().is_some();
    let outside = stopped().any(|t| can_end_outside(watch_of(t)));
    // The kernel delivers data over the loopback device at once, but does not guarantee it.
    let delayed = stopped().any(|t| channels::is_delayed((*watch_of(t)).channel));
    if !outside && (timed || !delayed) {
        return false;
    }
    let patience = if outside && !timed { u64::MAX } else { MOMENT };
    let look = || stopped().find(|&t| arrives(t)).or_else(|| shared::arrived()).is_some();
    let came = wait_for(patience, || if look() { Some(true) } else { client::is_gone().then_some(false) });
    // Data that it sent just before its end comes first.
    let came = came == Some(true) || came == Some(false) && look();
    if !came {
        client::nothing_is_ready(timed);
    } else if client::is_there() {
        // Requests that are on their way together are served together, so that the schedule decides in which order.
        client::settles(|| None::<()>);
        stopped().for_each(|t| _ = arrives(t));
    }
    came
}

unsafe fn can_be_forced(watch: *const Watch) -> bool {
    (*watch).doubtful && !(*watch).tried
}

unsafe fn force(t: *mut Thread) {
    let watch = watch_of(t);
    (*watch).forced = true;
    (*watch).tried = true;
    schedule::wake(t);
}

/// Polls the outside world until something is found, or for this many nanoseconds.
unsafe fn wait_for<T>(patience: u64, mut look: impl FnMut() -> Option<T>) -> Option<T> {
    const FIRST: u64 = 20_000;
    const LONGEST: u64 = 2_000_000;
    let (mut pause, mut waited) = (FIRST, 0_u64);
    loop {
        if let Some(found) = look() {
            return Some(found);
        }
        if waited >= patience {
            return None;
        }
        let duration = [0_i64, pause as i64];
        sys::call(NANOSLEEP, duration.as_ptr() as usize, 0, 0, 0);
        waited += pause;
        pause = (pause * 2).min(LONGEST);
    }
}

/// Makes a stopped thread ready if what it waits for has arrived. Returns whether it has.
unsafe fn arrives(t: *mut Thread) -> bool {
    let watch = watch_of(t);
    if matches!((*watch).probe, Probe::Attempt) {
        let pause = [0_i64, 1_000_000];
        sys::call(NANOSLEEP, pause.as_ptr() as usize, 0, 0, 0);
        (*watch).forced = true;
    } else if !probe(watch) {
        return false;
    }
    (*watch).lazy = false;
    if can_end_outside(watch) {
        note_input(t);
    }
    schedule::wake(t);
    true
}

/// Notes, once per descriptor, that the execution depends on the world outside.
unsafe fn note_input(t: *const Thread) {
    if (*t).pending == Wait::File
        && let Some(file) = File::unpack((*t).object as u64)
        && channels::report(file.descriptor)
    {
        log::escape(Escape::Input, (*t).code, file.descriptor as usize, 0);
    }
}

/// Called when the plan continues a waiting thread: waits for the input that came from outside when the plan was made. Returns
/// whether the thread is ready now.
pub(crate) unsafe fn bring(t: *mut Thread) -> bool {
    if !waits_here(t) || !is_stopped(t) {
        return false;
    }
    let watch = watch_of(t);
    if available(t) {
        schedule::wake(t);
        return true;
    }
    if can_be_forced(watch) {
        force(t);
        return true;
    }
    let outside = can_end_outside(watch);
    let patience = if outside { u64::MAX } else { MOMENT };
    let look = || if arrives(t) { Some(true) } else { client::is_gone().then_some(false) };
    (outside || channels::is_delayed((*watch).channel)) && wait_for(patience, look) == Some(true)
}

/// Called when the plan continues a thread with a timed wait. Returns whether what it waits for came from outside, so that there
/// is no time-out.
pub(crate) unsafe fn comes_in_time(t: *mut Thread) -> bool {
    waits_here(t) && can_end_outside(watch_of(t)) && wait_for(MOMENT, || arrives(t).then_some(())).is_some()
}

/// Releases the clock of the running thread to the other end.
pub(crate) unsafe fn release(object: usize) {
    clock::release(&mut (*crate::sync::objects::get(Wait::File, object)).clock);
}

/// Orders the running thread after what was released.
pub(crate) unsafe fn learn(object: usize) {
    clock::acquire(&(*crate::sync::objects::get(Wait::File, object)).clock);
}

/// Checks memory of the program that the kernel reads or writes: an access like any other, at the place of the call. Libraries
/// order theirs in ways that are not seen.
pub(crate) unsafe fn touch(address: usize, len: isize, kind: Kind, code: usize) {
    /// Larger transfers are not checked further: that would cost many times as much as the call.
    const MOST: isize = 4096;
    if len > 0 && COUNT.get() > 0 && memory::in_program(code) {
        hooks::access(address, len.min(MOST) as usize, tsan::site_of(code), kind, code);
    }
}

/// A special descriptor number, for records about several descriptors.
pub(crate) const fn several(descriptor: i32, operation: FileOperation) -> File {
    File { descriptor, kind: FileKind::Several, operation }
}

/// Like `interpose_cancellable!`, for functions whose parameters take all registers: [`code_of_six`] finds the code
/// address.
macro_rules! interpose_six {
    ($($name:ident => $model:path;)*) => { $(
        core::arch::global_asm!(
            concat!(".globl ", stringify!($name)),
            concat!(".type ", stringify!($name), ",@function"),
            concat!(stringify!($name), ":"),
            ".cfi_startproc",
            "mov r11, [rsp]",
            "mov [rip + {code}], r11",
            "sub rsp, 8",
            ".cfi_adjust_cfa_offset 8",
            "call {model}",
            "add rsp, 8",
            ".cfi_adjust_cfa_offset -8",
            "cmp byte ptr [rip + {cancelled}], 0",
            "jne 2f",
            "ret",
            "2: mov byte ptr [rip + {cancelled}], 0",
            "mov rdi, -1",
            "jmp pthread_exit",
            ".cfi_endproc",
            concat!(".size ", stringify!($name), ", . - ", stringify!($name)),
            code = sym crate::io::CODE,
            model = sym $model,
            cancelled = sym crate::signals::cancel::CANCELLED,
        );
    )* };
}
pub(crate) use interpose_six;

#[unsafe(link_section = ".data.racehunter")]
pub(crate) static CODE: Global<usize> = Global::new(0);

/// Returns where the function that has just begun was called.
pub(crate) fn code_of_six() -> usize {
    CODE.get()
}
