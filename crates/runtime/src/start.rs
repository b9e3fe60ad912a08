//! The start of a program: what it does before it creates its first thread.
//!
//! The start is the same in every execution. If it is long, as in the harness of Rust's tests, one process that has reached its
//! first thread stays there, and executions are copies of it. The server continues that process whenever there is a slot to run,
//! and the process stops itself at a plan that does not suit it. A plan suits if the start would have been the same under it: the
//! plan decides nothing before the first thread.

use crate::server::Status;
use crate::thread::{COUNT, CURRENT, LIVE};
use crate::world::{copies, view};
use crate::{Global, log, pages, schedule, server, sys, track, watchdog};
use racehunter_abi::control::{
    BACKEND_FIBERS, FLAG_ALLOCATIONS, FLAG_BRIEF, FLAG_DEBUG, FLAG_FREE, FLAG_SELECTIVE, FLAG_SPURIOUS, FLAG_STACKS,
    FLAG_VALUES, Header, NOTE_ANNOTATED, OBSERVE_POINTS, SLOTS, STACK_WORDS, Slot,
};
use racehunter_abi::{EventNumber, Kind, Record};

/// A shorter start is not worth keeping.
const WORTH: EventNumber = EventNumber(2000);
/// Limits on the output (bytes), the log (records) and the stacks (words) of a start.
const MOST_OUTPUT: usize = 1 << 16;
const MOST_RECORDS: usize = 1 << 14;
const MOST_WORDS: usize = 1 << 17;
/// Logged in addition, whatever the plan says, because a later plan may want it.
const MORE: u32 = FLAG_ALLOCATIONS;
/// [`Record::reserved`] of a freed block. Such records never reach the controller.
const FREED: u8 = 1;

/// The communication between the server and its executions.
struct Shared {
    /// Whether the process that was to stay has run slots in copies.
    served: bool,
    /// Whether it has stopped and waits for more slots.
    waits: bool,
    /// Whether the start is too short, or cannot be kept.
    useless: bool,
}

#[unsafe(link_section = ".data.racehunter")]
static SHARED: Global<*mut Shared> = Global::new(core::ptr::null_mut());
/// Whether this process is to stay when it reaches its first thread.
#[unsafe(link_section = ".data.racehunter")]
static STAYS: Global<bool> = Global::new(false);

/// What identifies an open file.
type Identity = [u64; 2];
/// Descriptors that must still refer to the same files.
const FILES: [i32; 2] = [1, 2];

/// Effects of the start that a copy of the memory does not include.
struct Kept {
    files: [Identity; FILES.len()],
    /// The settings of all plans.
    settings: [u32; 4],
    needs: u32,
    output: *mut u8,
    output_size: usize,
    records: *mut Record,
    record_count: usize,
    /// The words of the stacks of these records, and their position.
    stacks: *mut u64,
    stacks_from: usize,
    stacks_size: usize,
    /// Bits of `NOTE_` of the log, and of the slot.
    notes: [u32; 2],
    input: isize,
}

static KEPT: Global<Kept> = Global::new(Kept {
    files: [[0; 2]; FILES.len()],
    settings: [0; 4],
    needs: 0,
    output: core::ptr::null_mut(),
    output_size: 0,
    records: core::ptr::null_mut(),
    record_count: 0,
    stacks: core::ptr::null_mut(),
    stacks_from: 0,
    stacks_size: 0,
    notes: [0; 2],
    input: -1,
});

/// Prepares the server.
pub(crate) unsafe fn prepare() {
    SHARED.set(sys::reserve_shared(size_of::<Shared>()) as *mut Shared);
}

/// Returns whether an address is in the memory that the server and its executions share.
pub(crate) fn is_own_memory(address: usize) -> bool {
    let shared = SHARED.get() as usize;
    shared != 0 && (shared..shared + size_of::<Shared>()).contains(&address)
}

/// The process that stays, 0 for none.
#[unsafe(link_section = ".data.racehunter")]
static KEEPER: Global<i32> = Global::new(0);

/// Called when the server is about to fork a process for a slot.
pub(crate) unsafe fn expect(slot: *const Slot) {
    let Some(shared) = SHARED.get().as_mut() else { return };
    STAYS.set(KEEPER.get() == 0 && !shared.useless && is_ordinary(slot) && is_usual(&*server::header()));
    if STAYS.get() {
        (shared.served, shared.waits) = (false, false);
    }
}

/// Waits until a process that the server has forked has ended or stays. Returns how it ended, unless that says nothing about an
/// execution.
pub(crate) unsafe fn follow(pid: i32) -> Option<Status> {
    loop {
        let status = server::wait_for(pid, STAYS.get());
        if status.has_ended() {
            let has_served = STAYS.get() && (*SHARED.get()).served;
            if KEEPER.get() == pid {
                KEEPER.set(0);
            }
            return (!has_served || !status.is_success()).then_some(status);
        }
        if (*SHARED.get()).waits {
            KEEPER.set(pid);
            return None;
        }
        // The program has stopped itself, which must not be undone here.
    }
}

/// Continues the process that stays, if there is one: it runs slots as long as they suit it. Returns whether it has run any.
pub(crate) unsafe fn run_some() -> bool {
    const SIGCONT: usize = 18;
    let (keeper, header) = (KEEPER.get(), server::header());
    if keeper == 0 {
        return false;
    }
    let next = (*header).next;
    STAYS.set(true);
    (*SHARED.get()).waits = false;
    sys::call(sys::KILL, keeper as usize, SIGCONT, 0, 0);
    let ended = follow(keeper);
    STAYS.set(false);
    (*header).child = 0;
    if let Some(status) = ended {
        // It was killed, and its copy with it.
        (*SHARED.get()).useless = true;
        status.note();
    }
    (*header).next != next
}

/// Returns whether this process is to stay when it reaches its first thread.
pub(crate) fn may_stay() -> bool {
    STAYS.get()
}

/// Starts an execution in a process that may stay.
pub(crate) unsafe fn begin() {
    if STAYS.get() {
        let kept = KEPT.ptr();
        (*kept).files = FILES.map(|fd| identity(fd));
        (*kept).settings = settings(&*server::header());
        (*kept).needs = needs(server::slot());
        (*kept).stacks_from = (*server::header()).stack_used as usize;
    }
}

/// Called in a process that an execution forked and that is not one itself.
pub(crate) fn leave() {
    STAYS.set(false);
}

/// Returns `FLAG_` bits besides those of the plan.
pub(crate) fn more_flags() -> u32 {
    if STAYS.get() { MORE } else { 0 }
}

/// A block was freed.
#[inline(always)]
pub(crate) unsafe fn freed(start: usize, room: usize) {
    if STAYS.get() {
        let (object, extra, thread) = (start as u64, room as u64, CURRENT.get());
        log::put(Record { object, extra, thread, kind: Kind::Free, reserved: FREED, ..Record::default() });
    }
}

/// Returns whether a record belongs in the log of the current slot.
unsafe fn is_wanted(record: &Record) -> bool {
    let slot = server::slot();
    match record.kind {
        Kind::Free => record.reserved != FREED,
        Kind::Allocated | Kind::Mapped | Kind::Taken => (*slot).flags & FLAG_ALLOCATIONS != 0,
        Kind::Read | Kind::Write if record.site != 0 => !server::is_hushed() || record.index.0 >= (*slot).log_from,
        _ => true,
    }
}

/// Reduces the log to what the plan asks for, when the execution has ended or cannot be copied.
pub(crate) unsafe fn is_over() {
    if !STAYS.get() {
        return;
    }
    STAYS.set(false);
    (*SHARED.get()).useless = true;
    server::hush();
    log::retain(|record| is_wanted(record));
    schedule::observes_as_planned();
}

fn settings(header: &Header) -> [u32; 4] {
    [header.sites_epoch, header.pool, header.backend, header.shared]
}

/// Executions are separate processes with fibers, in the namespaces of the server.
fn is_usual(header: &Header) -> bool {
    header.loops == 0 && header.leaves_early == 0 && header.backend == BACKEND_FIBERS
}

/// Returns whether a plan asks for nothing that changes how a process begins.
unsafe fn is_ordinary(slot: *const Slot) -> bool {
    let special = FLAG_DEBUG | FLAG_FREE | FLAG_SELECTIVE | FLAG_STACKS | FLAG_VALUES;
    (*slot).observe == OBSERVE_POINTS
        && (*slot).flags & special == 0
        && (*slot).watch_size == 0
        && (*slot).sample == 0
        && (*slot).holds.iter().all(|hold| hold.code == 0)
}

/// Returns the flags of a plan that the start depends on.
unsafe fn needs(slot: *const Slot) -> u32 {
    (*slot).flags & !(FLAG_SPURIOUS | FLAG_BRIEF | MORE)
}

/// Returns whether the start would have been the same under a plan.
unsafe fn suits(slot: *const Slot) -> bool {
    let (kept, header) = (KEPT.ptr(), &*server::header());
    is_usual(header)
        && is_ordinary(slot)
        && settings(header) == (*kept).settings
        && needs(slot) == (*kept).needs
        && schedule::decides_nothing_before(slot)
}

/// Called when the program is about to create its first thread. Returns only in executions.
pub(crate) unsafe fn reached() {
    if !STAYS.get() {
        return;
    }
    if schedule::now() < WORTH || !is_possible() || !suits(server::slot()) || !keep() {
        return is_over();
    }
    STAYS.set(false);
    watchdog::stop();
    pages::keep_files();
    (*SHARED.get()).served = true;
    serve();
    restore();
}

/// Returns whether copies of this process would share nothing, and no decision was made yet.
unsafe fn is_possible() -> bool {
    COUNT.get() == 1
        && LIVE.get() == 1
        && schedule::has_decided_nothing()
        && log::notes() & !NOTE_ANNOTATED == 0
        && !view::is_active()
        && !copies::have_something()
        && FILES.iter().zip((*KEPT.ptr()).files).all(|(&fd, file)| identity(fd) == file)
}

/// Saves the output and the log of the start. Returns false if that is not possible.
unsafe fn keep() -> bool {
    const PREAD64: usize = 17;
    let kept = KEPT.ptr();
    let (output, records) = ((*server::slot()).output, log::records());
    (*kept).output_size = server::output_position().saturating_sub(output) as usize;
    (*kept).record_count = records.len();
    (*kept).stacks_size = ((*server::header()).stack_used as usize).saturating_sub((*kept).stacks_from);
    (*kept).notes = [log::notes(), (*server::slot()).notes];
    (*kept).input = server::input_position();
    if (*kept).output_size > MOST_OUTPUT || records.len() > MOST_RECORDS || (*kept).stacks_size > MOST_WORDS {
        return false;
    }
    let room = sys::reserve(0, MOST_OUTPUT + MOST_RECORDS * size_of::<Record>() + MOST_WORDS * size_of::<u64>());
    if room.is_null() {
        return false;
    }
    (*kept).output = room;
    (*kept).records = room.add(MOST_OUTPUT) as *mut Record;
    (*kept).stacks = (*kept).records.add(MOST_RECORDS) as *mut u64;
    core::ptr::copy_nonoverlapping(records.as_ptr(), (*kept).records, records.len());
    let stacks = server::stack_area().add((*kept).stacks_from);
    core::ptr::copy_nonoverlapping(stacks, (*kept).stacks, (*kept).stacks_size);
    let read = sys::call(PREAD64, 1, room as usize, (*kept).output_size, output as usize);
    read == (*kept).output_size as isize
}

/// Runs slots, each in a copy of this process. Returns only in the copies.
unsafe fn serve() {
    let kept = KEPT.ptr();
    let header = server::header();
    // The first slot is the one that this process was forked for.
    server::take_back();
    loop {
        let next = (*header).next;
        if !server::has_slot(next) || !suits(server::slot_at(next)) {
            if is_outdated() {
                sys::exit_group(0);
            }
            stop();
            continue;
        }
        (*server::slot_at(next)).output = server::output_position();
        sys::call(sys::WRITE, 1, (*kept).output as usize, (*kept).output_size, 0);
        server::set_input((*kept).input);
        if server::run_in_copy(next) {
            return;
        }
        server::asks_again(next);
    }
}

/// Returns whether another process should replace this one.
unsafe fn is_outdated() -> bool {
    let (kept, header) = (KEPT.ptr(), &*server::header());
    let slot = server::slot_at(header.next.min(SLOTS as u32 - 1));
    !is_usual(header)
        || settings(header) != (*kept).settings
        || server::has_slot(header.next) && is_ordinary(slot) && needs(slot) != (*kept).needs
}

/// Stops until the server continues this process.
unsafe fn stop() {
    const SIGSTOP: usize = 19;
    (*SHARED.get()).waits = true;
    sys::call(sys::KILL, sys::call(sys::GETPID, 0, 0, 0, 0) as usize, SIGSTOP, 0, 0);
}

/// Continues in a copy as if the start had run under the plan of its slot.
unsafe fn restore() {
    let kept = KEPT.ptr();
    let records = core::slice::from_raw_parts((*kept).records, (*kept).record_count);
    let [of_log, of_slot] = (*kept).notes;
    (*server::slot()).notes |= of_slot;
    server::hush();
    let stacks_at = put_stacks();
    let place =
        |stack: u32| if stack == 0 { 0 } else { stacks_at.map_or(0, |at| stack - (*kept).stacks_from as u32 + at) };
    let placed = |record: &Record| Record { stack: place(record.stack), ..*record };
    log::begin_with(records.iter().filter(|record| is_wanted(record)).map(placed), of_log);
    track::begin();
    schedule::goes_on();
    for record in records {
        match record.kind {
            Kind::Allocated => _ = track::begins(record.object as usize, record.extra as usize, record.code.0 as usize),
            Kind::Free if record.reserved == FREED => track::ends(record.object as usize, record.extra as usize),
            kind if kind.is_event() && track::has_constraints() && is_wanted(record) => schedule::performed(record),
            _ => {}
        }
    }
}

/// Appends the stacks of the start to those of earlier executions, if the plan wants any. Returns their position.
unsafe fn put_stacks() -> Option<u32> {
    let (kept, header) = (KEPT.ptr(), server::header());
    let at = (*header).stack_used as usize;
    let is_wanted = (*server::slot()).flags & FLAG_ALLOCATIONS != 0 && at + (*kept).stacks_size <= STACK_WORDS;
    is_wanted.then(|| {
        core::ptr::copy_nonoverlapping((*kept).stacks, server::stack_area().add(at), (*kept).stacks_size);
        (*header).stack_used = (at + (*kept).stacks_size) as u64;
        at as u32
    })
}

unsafe fn identity(fd: i32) -> Identity {
    const FSTAT: usize = 5;
    // `struct stat` begins with the device and the inode.
    let mut status = [0_u64; 18];
    if sys::call(FSTAT, fd as usize, status.as_mut_ptr() as usize, 0, 0) == 0 { [status[0], status[1]] } else { [0; 2] }
}
