//! Where executions come from: the fork server that runs just before `main`.
//!
//! The server waits for requests, forks a child for every slot, and waits for it. A child returns from
//! [`run_main`]'s loop into the program's `main`. Without a controller the program simply runs, under the runtime's
//! default schedule.

mod children;
mod observation;
mod region;

pub(crate) use children::{Status, asks_again, fan_out, has_slot, run_in_copy, take_back, wait_for};
pub(crate) use observation::{has_begun, hush, is_hushed, observes, records, speak, stop_observing, watches};
pub(crate) use region::{
    header, is_own_memory, is_selective, library, log_area, selected_sites, site_flags, slot, slot_at, stack_area,
    switch_area,
};

use crate::sync::{keys, real};
use crate::thread::{
    __rh_stack, COUNT, CURRENT, INTERNAL, LIVE, State, make_ready, make_unready, prepare, thread, threads,
};
use crate::{
    Global, afterlife, annotations, clock, constructors, fiber, free, io, kernel, log, mappings, modules, outcome,
    pages, rust, schedule, shadow, sites, start, sys, time, timers, watchdog,
    world::{copies, early, view},
};
use core::ffi::c_char;
use racehunter_abi::control::{
    ANSWER_FD, BACKEND_THREADS, CHECKED_OUTPUT, FLAG_DEBUG, FLAG_DETECT, FLAG_FREE, FLAG_SELECTIVE, FLAG_VALUES,
    Header, LOG_RECORDS, MAGIC, OBSERVE_POINTS, REGION_FD, REGION_SIZE, REQUEST_FD, SHARED_FILES, SHARED_NETWORK,
    SLOTS, STATE_NO_ROOM, STATE_RUNNING, Slot, Trouble,
};
use racehunter_abi::{FORMAT_VERSION, ThreadId};
use racehunter_machine::ClockValue;
use region::{REGION, SLOT};

unsafe extern "C" {
    static __executable_start: u8;
    static etext: u8;
    fn _Fork() -> i32;
    fn getauxval(kind: usize) -> usize;
}

/// Marks an executable as RaceHunter's for the controller: an ELF note with the sizes of its name and of its content,
/// its type, the zero-terminated name, and the content.
#[used]
#[unsafe(link_section = ".note.racehunter")]
static NOTE: [u32; 6] = [5, 4, 1, u32::from_le_bytes(*b"RcHn"), 0, FORMAT_VERSION];

#[unsafe(link_section = ".data.racehunter")]
static FLAGS_EPOCH: Global<u32> = Global::new(0);
/// Whether this process may accept requests itself.
#[unsafe(link_section = ".data.racehunter")]
static ACCEPTS: Global<bool> = Global::new(true);
/// Maximum number of threads kept ready, whatever the region says.
const MOST_READY: u32 = 256;

type Main = unsafe extern "C" fn(i32, *const *const c_char, *const *const c_char) -> i32;
#[unsafe(link_section = ".data.racehunter")]
static MAIN: Global<Option<Main>> = Global::new(None);

/// Initial values of the executable's thread-local variables.
#[derive(Clone, Copy)]
pub(crate) struct ThreadStorage {
    pub start: usize,
    pub file_size: usize,
    pub size: usize,
    pub align: usize,
}

#[unsafe(link_section = ".data.racehunter")]
static STORAGE: Global<ThreadStorage> = Global::new(ThreadStorage { start: 0, file_size: 0, size: 0, align: 1 });

pub(crate) fn thread_storage() -> ThreadStorage {
    STORAGE.get()
}

/// Returns the start and end of the executable's code.
pub(crate) fn executable() -> (usize, usize) {
    (&raw const __executable_start as usize, &raw const etext as usize)
}

/// Registers the main thread. The first thing that happens in the process.
pub(crate) unsafe fn early_init() {
    const HWCAP2: usize = 26;
    let main = prepare(ThreadId::MAIN);
    COUNT.set(1);
    LIVE.set(1);
    make_ready(main);
    *(*main).clock = ClockValue::FIRST.0;
    *(*main).family = u32::MAX;
    __rh_stack.set((*main).stack);
    clock::load_epoch();
    fiber::init(getauxval(HWCAP2));
    schedule::begin_without_plan();
}

/// The program's `main`.
pub(crate) fn main_function() -> usize {
    MAIN.get().map_or(0, |main| main as usize)
}

/// Becomes the fork server if there is a controller. Returns in the executions.
pub(crate) unsafe fn take_control() {
    keys::init();
    find_thread_storage();
    annotations::excuse_standard_streams();
    if wants_server() {
        outcome::init();
        mappings::init();
        outcome::watch_ends();
        watchdog::init();
        crate::plain::watch_libraries();
        serve();
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __libc_start_main(
    main: Main,
    argc: i32,
    argv: *const *const c_char,
    init: usize,
    fini: usize,
    rtld_fini: usize,
    stack_end: usize,
) -> i32 {
    MAIN.set(Some(main));
    crate::tsan::__tsan_init();
    type Start = unsafe extern "C" fn(Main, i32, *const *const c_char, usize, usize, usize, usize) -> i32;
    let start: Start = core::mem::transmute(real::start_main());
    start(run_main, argc, argv, init, fini, rtld_fini, stack_end)
}

unsafe extern "C" fn run_main(argc: i32, argv: *const *const c_char, environment: *const *const c_char) -> i32 {
    constructors::is_over();
    if !has_controller() {
        take_control();
    }
    if has_controller() {
        rust::leave_terminal(environment.cast_mut());
    }
    match MAIN.get() {
        Some(main) => {
            let top: usize;
            core::arch::asm!("mov {}, rsp", out(reg) top, options(nomem, nostack));
            afterlife::begin_main(top);
            // Not kept on the stack: a thread that still uses the ended frame of `main` would overwrite it.
            outcome::STATUS.set(main(argc, argv, environment));
            if outcome::cuts_off() {
                end_of_main(afterlife::end_main());
                afterlife::leave_main();
            }
            outcome::STATUS.get()
        }
        None => 127,
    }
}

unsafe extern "C" fn before_end() {
    outcome::before_end(0);
}

/// Others run first, while this thread waits below what `main` left on the stack: handlers of signals that it gets
/// meanwhile must not use that memory.
#[unsafe(naked)]
unsafe extern "C" fn end_of_main(below: usize) {
    core::arch::naked_asm!(
        "push rbp",
        "mov rbp, rsp",
        "lea rsp, [rdi - 4096]",
        "and rsp, -16",
        "call {before_end}",
        "leave",
        "ret",
        before_end = sym before_end,
    )
}

unsafe fn wants_server() -> bool {
    constructors::has_variable(constructors::SERVER) && connect()
}

/// Maps the control region and greets the controller. Returns whether there is one.
unsafe fn connect() -> bool {
    let region = sys::map_shared(REGION_FD, REGION_SIZE);
    if region.is_null() || (*(region as *const Header)).magic != MAGIC {
        return false;
    }
    REGION.set(region);
    const GETPGID: usize = 121;
    let controller = sys::call(sys::GETPPID, 0, 0, 0, 0);
    CONTROLLER.set([controller as i32, sys::call(GETPGID, controller as usize, 0, 0, 0) as i32]);
    let header = header();
    let trouble = if (*header).version != FORMAT_VERSION {
        Trouble::Version
    } else if !shadow::init() {
        Trouble::Shadow
    } else {
        Trouble::None
    };
    (*header).trouble = trouble as u32;
    let (shadow, shadow_size) = shadow::extent();
    (*header).shadow = shadow as u64;
    (*header).shadow_size = shadow_size as u64;
    (*header).executable = executable().0 as u64;
    (*header).sites = modules::site_count();
    (*header).runtime_version = FORMAT_VERSION;
    if trouble != Trouble::None {
        answer(0);
        sys::exit_group(0);
    }
    true
}

unsafe fn answer(count: u32) {
    sys::call(sys::WRITE, ANSWER_FD as usize, &raw const count as usize, 4, 0);
}

/// Waits for the next request and prepares for it. Returns false if the controller is gone.
unsafe fn accept() -> bool {
    let mut requested = 0_u32;
    if sys::call(sys::READ, REQUEST_FD as usize, &raw mut requested as usize, 4, 0) != 4 {
        return false;
    }
    let header = header();
    (*header).requested = requested.min(SLOTS as u32);
    (*header).next = 0;
    (*header).log_used = 0;
    (*header).stack_used = 1;
    load_flags();
    true
}

/// Loads the site flags if the controller has changed them.
unsafe fn load_flags() {
    let epoch = (*header()).sites_epoch;
    if FLAGS_EPOCH.get() != epoch {
        FLAGS_EPOCH.set(epoch);
        modules::load_flags();
    }
}

unsafe fn answer_request() {
    let header = header();
    let ran = (*header).next.min((*header).requested);
    (*header).requested = 0;
    answer(ran);
}

/// Serves requests. Returns in the child that runs an execution; the server itself ends with its controller.
unsafe fn serve() {
    if copies::have_something() {
        constructors::begin_before_main();
    }
    pages::gather();
    early::prepare();
    start::prepare();
    sites::prepare();
    answer(0);
    let header = header();
    let input = input_position();
    loop {
        // A child that runs an in-process loop accepts requests itself; the slots that it leaves are run here.
        if (*header).requested == 0 && !accept() {
            sys::exit_group(0);
        }
        load_flags();
        if !fiber::fill_pool((*header).pool.min(MOST_READY)) {
            (*header).trouble = Trouble::Threads as u32;
            answer_request();
            continue;
        }
        while (*header).next < (*header).requested {
            let next = (*header).next;
            if next >= SLOTS as u32 {
                // An execution has overwritten shared data, so continuing is pointless.
                sys::exit_group(1);
            }
            if !has_room() {
                (next..(*header).requested).for_each(|i| (*slot_at(i)).state = STATE_NO_ROOM);
                break;
            }
            if start::run_some() {
                continue;
            }
            (*slot_at(next)).output = output_position();
            set_input(input);
            enter_slot(next);
            start::expect(slot_at(next));
            sites::learn();
            let began = sys::monotonic();
            let pid = _Fork();
            if pid == 0 {
                become_execution();
                return;
            }
            (*header).child = pid as u32;
            let status = start::follow(pid);
            (*header).child = 0;
            let Some(status) = status else { continue };
            status.note();
            if asks_again(next) {
                continue;
            }
            if (*slot_at(next)).flags & FLAG_FREE != 0 {
                free::ended(sys::monotonic() - began);
            }
        }
        if (*header).requested != 0 {
            answer_request();
        }
    }
}

/// Returns where the program writes next.
pub(crate) unsafe fn output_position() -> u64 {
    const SEEK_CUR: usize = 1;
    sys::call(sys::LSEEK, 1, 0, SEEK_CUR, 0) as u64
}

/// Returns how far standard input was read; negative if that cannot be determined.
pub(crate) unsafe fn input_position() -> isize {
    const SEEK_CUR: usize = 1;
    sys::call(sys::LSEEK, 0, 0, SEEK_CUR, 0)
}

/// Processes share the position of a file: every execution must start at the same one.
pub(crate) unsafe fn set_input(position: isize) {
    if position >= 0 {
        sys::call(sys::LSEEK, 0, position as usize, 0, 0);
    }
}

/// Marks the slot as begun, whatever happens to the process.
unsafe fn enter_slot(index: u32) {
    SLOT.set(index);
    let header = header();
    (*header).running = index;
    (*header).next = index + 1;
    (*header).preparing = 0;
    (*slot_at(index)).state = STATE_RUNNING;
}

/// Returns whether another execution of ordinary length fits into the log.
unsafe fn has_room() -> bool {
    let used = (*header()).log_used as usize;
    used == 0 || used < LOG_RECORDS / 2
}

/// First steps of a child: it must not outlive the server, and can be killed with all its own children.
unsafe fn become_execution() {
    const SET_PARENT_DEATH_SIGNAL: usize = 1;
    const SIGKILL: usize = 9;
    sys::call(sys::PRCTL, SET_PARENT_DEATH_SIGNAL, SIGKILL, 0, 0);
    let debugged = (*slot()).flags & FLAG_DEBUG != 0;
    if !debugged {
        // A debugger's terminal belongs to the group that it knows.
        sys::call(sys::SETPGID, 0, 0, 0, 0);
    }
    if (*slot()).flags & FLAG_FREE != 0 {
        [REQUEST_FD, ANSWER_FD, REGION_FD].iter().for_each(|&fd| _ = sys::call(sys::CLOSE, fd as usize, 0, 0, 0));
        return free::begin();
    }
    if (*header()).backend == BACKEND_THREADS || (*header()).leaves_early == 1 {
        view::begin_early((*header()).leaves_early == 1);
    }
    if (*header()).backend == BACKEND_THREADS {
        kernel::begin();
    }
    if !debugged {
        watchdog::start();
    }
    let loops = (*header()).loops != 0;
    ACCEPTS.set(loops);
    for fd in [REQUEST_FD, ANSWER_FD, REGION_FD] {
        if loops {
            const SET_FLAGS: usize = 2;
            const CLOSE_ON_EXEC: usize = 1;
            sys::call(sys::FCNTL, fd as usize, SET_FLAGS, CLOSE_ON_EXEC, 0);
        } else {
            sys::call(sys::CLOSE, fd as usize, 0, 0, 0);
        }
    }
    begin_slot();
    if loops {
        schedule::leave_open();
    }
}

/// Starts the execution of the current slot.
unsafe fn begin_slot() {
    let slot = slot();
    let detect = (*slot).flags & FLAG_DETECT != 0;
    clock::detect(detect);
    time::reset();
    watchdog::begin();
    log::begin();
    observation::begin();
    start::begin();
    if !start::may_stay() {
        hush();
    }
    schedule::begin();
}

/// The process that started the server, and its group.
#[unsafe(link_section = ".data.racehunter")]
static CONTROLLER: Global<[i32; 2]> = Global::new([0; 2]);

/// Returns whether a signal to this process, or with a negative number to this group, would reach the controller.
pub(crate) fn is_controller(id: i32) -> bool {
    let [process, group] = CONTROLLER.get();
    process > 0 && (id == process || group > 1 && id == -group)
}

/// Returns whether this process runs executions for a controller.
pub(crate) fn has_controller() -> bool {
    !REGION.get().is_null()
}

/// Returns whether this execution can afford system calls at its end: an execution of an in-process loop takes no
/// longer than one system call, unless it logs everything.
pub(crate) unsafe fn is_worth_a_look() -> bool {
    (*header()).loops == 0 || (*slot()).observe != OBSERVE_POINTS
}

/// Returns whether the user wants executions to change the real files.
pub(crate) unsafe fn shares_files() -> bool {
    (*header()).shared & SHARED_FILES != 0
}

/// Returns whether the user wants executions to bind ports of the machine.
pub(crate) unsafe fn shares_network() -> bool {
    (*header()).shared & SHARED_NETWORK != 0
}

/// Returns whether the output of executions is compared.
pub(crate) unsafe fn checks_output() -> bool {
    (*header()).shared & CHECKED_OUTPUT != 0
}

/// Returns whether many executions run in this process.
pub(crate) unsafe fn runs_loops() -> bool {
    (*header()).loops != 0
}

/// Restarts this execution, which has changed nothing yet: executions must leave the namespaces before they have
/// threads, and cover directories before they read them. Returns if it cannot.
pub(crate) unsafe fn begin_earlier() {
    let header = header();
    if (*slot()).flags & FLAG_DEBUG == 0 && (*header).loops == 0 {
        (*header).leaves_early = 1;
        (*slot()).notes = 0;
        (*slot()).state = STATE_NO_ROOM;
        sys::exit_group(0);
    }
}

/// For in-process loops: restarts the slot that this process was forked for.
pub(crate) unsafe fn begin_again() {
    begin_output();
    begin_slot();
}

/// For in-process loops: returns whether this process can continue with another slot, of this request or of the next
/// one. A plan that watches or logs more changes the process permanently, so the slot after it needs another process.
pub(crate) unsafe fn has_next() -> bool {
    let plain = |slot: *const Slot| {
        let special = (*slot).flags & (FLAG_VALUES | FLAG_SELECTIVE) != 0;
        (*slot).observe == OBSERVE_POINTS && (*slot).watch_size == 0 && !special
    };
    if !plain(slot()) || !has_room() {
        return false;
    }
    let header = header();
    if (*header).next >= (*header).requested {
        if !ACCEPTS.get() {
            return false;
        }
        answer_request();
        if !accept() {
            sys::exit_group(0);
        }
    }
    plain(slot_at((*header).next))
}

/// For in-process loops: continues with the slot that [`has_next`] has found.
pub(crate) unsafe fn begin_next() {
    enter_slot((*header()).next);
    begin_output();
    begin_slot();
}

/// Leaves out what came before an iteration of an in-process loop, if the output of executions is compared.
unsafe fn begin_output() {
    if checks_output() {
        (*slot()).output = output_position();
    }
}

#[unsafe(link_section = ".data.racehunter")]
static HAS_LEFT: Global<bool> = Global::new(false);

/// Returns whether the program has forked this process.
pub(crate) fn has_left() -> bool {
    HAS_LEFT.get()
}

/// Called in a process that the program has forked: it is on its own, with only the thread that forked.
pub(crate) unsafe fn leave() {
    HAS_LEFT.set(true);
    kernel::forked();
    start::leave();
    schedule::end();
    log::stop();
    if !REGION.get().is_null() {
        // It has nothing to do with the communication between controller and execution.
        sys::call(sys::MUNMAP, REGION.get() as usize, REGION_SIZE, 0, 0);
        if ACCEPTS.get() {
            ACCEPTS.set(false);
            for fd in [REQUEST_FD, ANSWER_FD, REGION_FD] {
                sys::call(sys::CLOSE, fd as usize, 0, 0, 0);
            }
        }
    }
    REGION.set(core::ptr::null_mut());
    clock::detect(false);
    for number in threads().filter(|&number| number != CURRENT.get()) {
        make_unready(thread(number), State::Done);
    }
    LIVE.set(1);
    INTERNAL.set(0);
    timers::reset();
    io::leave();
    schedule::begin_without_plan();
}

/// Finds the executable's `PT_TLS` segment.
unsafe fn find_thread_storage() {
    const PT_TLS: u32 = 7;
    const ET_DYN: u16 = 3;
    let base = executable().0;
    let at = |offset: usize| (base + offset) as *const u64;
    let (headers, count) = (*at(32) as usize, *(at(56) as *const u16) as usize);
    let bias = if *(at(16) as *const u16) == ET_DYN { base } else { 0 };
    for i in 0..count {
        let entry = headers + 56 * i;
        if *(at(entry) as *const u32) == PT_TLS {
            STORAGE.set(ThreadStorage {
                start: bias + *at(entry + 16) as usize,
                file_size: *at(entry + 32) as usize,
                size: *at(entry + 40) as usize,
                align: (*at(entry + 48) as usize).max(1),
            });
        }
    }
}
