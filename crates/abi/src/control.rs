//! The memory that the controller and one fork server share.
//!
//! The region is one memory file. It starts with a [`Header`]; the four areas that follow are at fixed offsets. The controller
//! fills [`Slot`]s with plans, sends their number through the request pipe, and reads the results when the server answers.
//! Executions run one after the other, each appending to the log and stack areas, so the areas need no headers of their own: a
//! slot says where its part starts.

mod codes;

pub use codes::*;

use crate::Switch;

/// File descriptor on which the server waits for requests (one little-endian `u32`: number of slots to run).
pub const REQUEST_FD: i32 = 198;
/// File descriptor on which the server answers (one `u32`: number of slots run).
pub const ANSWER_FD: i32 = 199;
/// File descriptor of the memory file.
pub const REGION_FD: i32 = 197;
/// Environment variable with the command to start when the program listens.
pub const CLIENT_VARIABLE: &str = "RACEHUNTER_CLIENT";
/// Environment variable that tells the runtime to become a fork server; its value is the format version.
pub const SERVER_VARIABLE: &str = "RACEHUNTER_SERVER";

/// First word of the region.
pub const MAGIC: u64 = u64::from_le_bytes(*b"RcHuntr1");

/// Maximum number of plans per request.
pub const SLOTS: usize = 256;
/// Maximum number of threads of one execution.
pub const MAX_THREADS: usize = 4096;
/// Maximum length of an assertion message.
pub const MESSAGE: usize = 256;

/// Offset of the slots.
pub const SLOTS_OFFSET: usize = 4096;
/// Offset of the table of [`Library`]s.
pub const LIBRARIES_OFFSET: usize = SLOTS_OFFSET + 1024 * 1024;
/// Maximum number of its entries.
pub const LIBRARIES: usize = 256;
/// Maximum length of a library path, including the terminating zero.
pub const LIBRARY_PATH: usize = 504;
/// Offset of the forced switches of all plans.
pub const SWITCHES_OFFSET: usize = LIBRARIES_OFFSET + LIBRARIES * size_of::<Library>();
/// Number of [`Switch`]es in that area.
pub const SWITCHES: usize = 1 << 24;
/// Offset of the site flags: one byte per instrumented instruction, see [`SITE_POINT`].
pub const SITES_OFFSET: usize = SWITCHES_OFFSET + SWITCHES * size_of::<Switch>();
/// Maximum number of sites.
pub const SITES: usize = 1 << 24;
/// Offset of the sites that selective plans observe, an array of `u32`: numbers as in [`crate::Record::site`].
pub const SELECTED_OFFSET: usize = SITES_OFFSET + SITES;
/// Number of them, for all plans together.
pub const SELECTED: usize = 1 << 20;
/// Offset of the call stacks, an array of `u64`.
pub const STACKS_OFFSET: usize = SELECTED_OFFSET + SELECTED * 4;
/// Number of words in it.
pub const STACK_WORDS: usize = 1 << 25;
/// Offset of the log, an array of [`crate::Record`]s.
pub const LOG_OFFSET: usize = STACKS_OFFSET + STACK_WORDS * 8;
/// Number of records in it.
pub const LOG_RECORDS: usize = 1 << 27;
/// Number of records in the ring of a streamed log, which is at the start of the log area.
pub const RING_RECORDS: usize = 1 << 18;
/// Number of records after which the runtime says that there are more. A ring consists of whole pieces.
pub const RING_PIECE: usize = 1 << 14;
/// Size of the region. It is sparse: only what is used takes memory.
pub const REGION_SIZE: usize = LOG_OFFSET + LOG_RECORDS * size_of::<crate::Record>();

/// Bit of a site's flag byte: the scheduler may switch before this access, and it is logged.
pub const SITE_POINT: u8 = 1;
/// Bit of a site's flag byte: it is a point even if the compiler marked it [`SITE_QUIET`].
pub const SITE_LOUD: u8 = 4;
/// Bit of a site's flag byte, set by the compiler: library code that is not itself under test, such as Rust's standard library.
/// Its accesses and synchronisation count, but no thread is preempted there.
pub const SITE_QUIET: u8 = 8;
/// Bit of a site's flag byte, set by the compiler: a region, a run of accesses that are skipped together, begins here.
pub const SITE_HEAD: u8 = 0x20;
/// Bit of the flag byte of a region's first site: its accesses are counted but not checked. Instrumented code tests it as the
/// sign of the byte.
pub const SITE_CLEAR: u8 = 0x80;

/// Bit of [`Header::shared`]: executions change the real files, rather than their own view of them.
pub const SHARED_FILES: u32 = 1;
/// Bit of [`Header::shared`]: executions bind ports of the machine, rather than of their own network.
pub const SHARED_NETWORK: u32 = 2;
/// Bit of [`Header::shared`]: the output of executions is compared, so printing is a scheduling point.
pub const CHECKED_OUTPUT: u32 = 4;

/// The first page of the region.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Header {
    /// [`MAGIC`], written by the controller.
    pub magic: u64,
    /// [`crate::FORMAT_VERSION`] of the controller.
    pub version: u32,
    /// [`crate::FORMAT_VERSION`] of the runtime; 0 until the server is ready.
    pub runtime_version: u32,
    /// Load address of the executable.
    pub executable: u64,
    /// Number of instrumented instructions ([`SITE_POINT`] flags) in all modules.
    pub sites: u32,
    /// Incremented by the controller when the site flags change; the server copies them before the next execution.
    pub sites_epoch: u32,
    /// Number of threads to keep ready before forking.
    pub pool: u32,
    /// 1 if the program calls the in-process loop of `racehunter.h`; set by the runtime.
    pub loops: u32,
    /// Number of preparatory iterations of an in-process loop, set by the controller.
    pub preparatory: u32,
    /// Process id of the running execution, 0 for none.
    pub child: u32,
    /// Index of the running slot.
    pub running: u32,
    /// Number of slots of the unanswered request, 0 for none.
    pub requested: u32,
    /// The next slot of the request to run.
    pub next: u32,
    /// Set by the runtime if it cannot work; a [`Trouble`] code.
    pub trouble: u32,
    /// Number of log records used in this request.
    pub log_used: u64,
    /// Number of words used in the stack area. Offset 0 is never used, so that 0 can mean "no stack".
    pub stack_used: u64,
    /// Number of [`Library`] entries in use.
    pub libraries: u32,
    /// How threads of the program are implemented, one of the `BACKEND_` constants; set by the controller.
    pub backend: u32,
    /// First address of the detector's shadow memory, set by the runtime.
    pub shadow: u64,
    /// Size of the shadow memory in bytes.
    pub shadow_size: u64,
    /// What executions share with the rest of the system, [`SHARED_FILES`] and [`SHARED_NETWORK`], and [`CHECKED_OUTPUT`]; set by
    /// the controller.
    pub shared: u32,
    /// 1: executions leave the namespaces of the server as soon as they begin, because they could not later; set by the runtime.
    pub leaves_early: u32,
    /// Number + 1 of the slot whose execution has created its first thread; set by the runtime. Before that the program is
    /// starting, which has its own limits.
    pub begun: u32,
    /// Number of records in the ring through which the log is streamed, at most [`RING_RECORDS`], or 0 if the log stays in place;
    /// set by the controller.
    pub ring: u32,
    /// Number of records that the execution has put into the ring so far; set by the runtime.
    pub produced: u64,
    /// Number of records that the controller has taken from the ring.
    pub consumed: u64,
    /// Number + 1 of the preparatory iteration in which the last process is or has ended, 0 for none; set by the runtime.
    pub preparing: u32,
    /// 1: an in-process loop ends after its first iteration that counts; set by the controller.
    pub once: u32,
    /// 1 if there are threads outside of the in-process loop, or a second loop; set by the runtime, and by the controller once it
    /// knows.
    pub outside: u32,
}

/// An instrumented library that an execution loaded after the server was started.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Library {
    /// Load address.
    pub base: u64,
    /// Its file, zero-terminated.
    pub path: [u8; LIBRARY_PATH],
}

/// Why a runtime gives up before the first execution.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// All is well.
    None = 0,
    /// Controller and runtime have different [`crate::FORMAT_VERSION`]s.
    Version = 1,
    /// The address space for shadow memory is not free.
    Shadow = 2,
    /// A thread could not be created.
    Threads = 3,
    /// The control region could not be mapped.
    Region = 4,
}

/// One plan and its result.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Slot {
    /// First forced switch, an index into the switch area.
    pub switches: u32,
    /// Number of forced switches.
    pub switch_count: u32,
    /// First event for which the tail strategy decides. Before it every decision is in the plan.
    pub tail_from: u64,
    /// First event whose plain accesses are points and logged. Before it they are only counted, since no analysis needs them.
    pub log_from: u64,
    /// One of the `TAIL_` constants.
    pub tail: u32,
    /// One of the `OBSERVE_` constants.
    pub observe: u32,
    /// Seed of the strategy's random choices.
    pub seed: u64,
    /// For `TAIL_PCT`: number of choices in an execution, and number of priority changes + 1. For `TAIL_PCT_VARIABLES`: number of
    /// accesses of the tracked variables, and the same.
    pub length: u64,
    /// See `length`.
    pub depth: u32,
    /// Maximum number of threads, including `main`; creating another stops the execution.
    pub max_threads: u32,
    /// The variables of `TAIL_PCT_VARIABLES` and `TAIL_UNIFORM`.
    pub tracked: [Tracked; MOST_TRACKED],
    /// For `TAIL_UNIFORM`: threads, by [`crate::path_of`], and how often each of them and its descendants access the variables,
    /// up to the first path that is 0.
    pub weights: [Weight; MOST_WEIGHTS],
    /// For `TAIL_GUIDED`: reads and the writes that they should see, up to the first reader that is 0.
    pub constraints: [ReadConstraint; MOST_CONSTRAINTS],
    /// With `FLAG_SELECTIVE`: the first site that the plan observes, an index into the area of selected sites.
    pub selected: u32,
    /// Number of selected sites.
    pub selected_count: u32,
    /// For `TAIL_ORDER`: number of priority changes so far, and their threads.
    pub changed_count: u32,
    /// See `changed_count`.
    pub changed: [u32; MOST_CHANGED],
    /// Not used; zero. A plan has no padding, so that it can be compared byte by byte.
    pub reserved: u32,
    /// Number of consecutive events after which a thread must give way, 0 = never.
    pub fair_limit: u64,
    /// Number of events after which the execution is stopped, 0 = never.
    pub max_events: u64,
    /// Memory whose accesses, allocation and locks are logged with stacks: first address, 0 = none.
    pub watch: u64,
    /// Number of bytes of watched memory.
    pub watch_size: u64,
    /// Take a snapshot before this event and run the next `snapshot_slots` slots from it; 0 = none. This slot's own execution
    /// ends there.
    pub snapshot_at: u64,
    /// Maximum time for which a thread is held: in events of others, or in nanoseconds with `FLAG_FREE`.
    pub patience: u64,
    /// Hold a thread at one in this many accesses, on average, drawn by `seed`; 0 = none.
    pub sample: u64,
    /// Accesses to hold a thread at, until another one is about to make a conflicting one; see [`Hold`].
    pub holds: [Hold; 2],
    /// Number of slots that continue from the snapshot.
    pub snapshot_slots: u32,
    /// Bits of `FLAG_`.
    pub flags: u32,
    /// Identifies this version of the plan: part of the [`Slot::seal_of`] its result.
    pub nonce: u64,

    // The controller writes what comes before, and nothing changes it; what follows is the result.
    /// One of the `STATE_` constants: how far the slot got.
    pub state: u32,
    /// One of the `OUTCOME_` constants.
    pub outcome: u32,
    /// Wait status of the process, from `waitpid`. Not set inside an in-process loop.
    pub status: i32,
    /// Signal number of a crash.
    pub signal: u32,
    /// Address that faulted.
    pub fault: u64,
    /// Number of events.
    pub events: u64,
    /// Number of switches.
    pub switch_total: u64,
    /// First log record.
    pub log: u64,
    /// Number of log records.
    pub log_count: u64,
    /// Number of threads that existed, including `main`.
    pub threads: u32,
    /// Thread that was running at the end.
    pub current: u32,
    /// Bits of `NOTE_`.
    pub notes: u32,
    /// Line of a failed assertion.
    pub line: u32,
    /// For `OUTCOME_DIVERGED`: the event at which the plan could not be followed.
    pub diverged_at: u64,
    /// Number of data races seen, including those that were not logged because they repeat.
    pub races: u64,
    /// With `FLAG_FREE`: wall-clock time of the execution, in nanoseconds.
    pub elapsed: u64,
    /// Processor time of the execution in microseconds (user + system); 0 inside an in-process loop.
    pub cpu_us: u64,
    /// Peak memory of the process, in KiB.
    pub max_rss_kib: u64,
    /// Where the output of the execution starts in the output file.
    pub output: u64,
    /// Text of a failed assertion, zero-terminated.
    pub message: [u8; MESSAGE],
    /// File of a failed assertion, zero-terminated.
    pub file: [u8; MESSAGE],
    /// The [`Checksum`] of the log.
    pub checksum: u64,
    /// The [`Slot::seal_of`] when the runtime wrote the result.
    pub seal: u64,
    /// The [`Slot::end_seal_of`] when the server noted how the process ended.
    pub end_seal: u64,
}

/// Multiplier of all checksums: odd, with bits in all positions.
const MIX: u64 = 0x9e37_79b9_7f4a_7c15;

/// Size of a plan, the part of a [`Slot`] that the controller writes.
pub const PLAN_BYTES: usize = core::mem::offset_of!(Slot, state);

impl Slot {
    /// Creates a slot without a plan or a result: all zero.
    #[must_use]
    pub const fn empty() -> Self {
        const NO_CONSTRAINT: ReadConstraint =
            ReadConstraint { reader: 0, read: [0; 2], object: 0, skip: 0, write: 0, rivals: [[0; 2]; MOST_RIVALS] };
        Self {
            switches: 0,
            switch_count: 0,
            tail_from: 0,
            log_from: 0,
            tail: TAIL_MIN_SWITCHES,
            observe: OBSERVE_POINTS,
            seed: 0,
            length: 0,
            depth: 0,
            max_threads: 0,
            tracked: [Tracked { object: 0, allocated_at: 0 }; MOST_TRACKED],
            weights: [Weight { path: 0, accesses: 0 }; MOST_WEIGHTS],
            constraints: [NO_CONSTRAINT; MOST_CONSTRAINTS],
            selected: 0,
            selected_count: 0,
            changed_count: 0,
            changed: [0; MOST_CHANGED],
            reserved: 0,
            fair_limit: 0,
            max_events: 0,
            watch: 0,
            watch_size: 0,
            snapshot_at: 0,
            patience: 0,
            sample: 0,
            holds: [Hold::NONE; 2],
            snapshot_slots: 0,
            flags: 0,
            nonce: 0,
            state: STATE_EMPTY,
            outcome: OUTCOME_UNKNOWN,
            status: 0,
            signal: 0,
            fault: 0,
            events: 0,
            switch_total: 0,
            log: 0,
            log_count: 0,
            threads: 0,
            current: 0,
            notes: 0,
            line: 0,
            diverged_at: 0,
            races: 0,
            elapsed: 0,
            cpu_us: 0,
            max_rss_kib: 0,
            output: 0,
            message: [0; MESSAGE],
            file: [0; MESSAGE],
            checksum: 0,
            seal: 0,
            end_seal: 0,
        }
    }

    /// Returns a checksum of the result. A program that overwrites the result would have to guess it.
    #[must_use]
    pub fn seal_of(&self) -> u64 {
        let numbers = [
            self.nonce,
            u64::from(self.outcome),
            u64::from(self.signal),
            self.fault,
            self.events,
            self.switch_total,
            self.log,
            self.log_count,
            u64::from(self.threads),
            u64::from(self.current),
            u64::from(self.notes),
            u64::from(self.line),
            self.diverged_at,
            self.checksum,
        ];
        let text = |text: &[u8; MESSAGE]| text.iter().fold(0, |sum, &byte| mix(sum, u64::from(byte)));
        // Most executions have no text.
        let texts = if self.outcome == OUTCOME_ASSERTION { [text(&self.message), text(&self.file)] } else { [0, 0] };
        numbers.iter().chain(&texts).fold(MIX, |sum, &number| mix(sum, number))
    }

    /// Returns a checksum of how the process ended.
    #[must_use]
    pub fn end_seal_of(&self) -> u64 {
        [self.nonce, u64::from(self.status.cast_unsigned())].iter().fold(!MIX, |sum, &number| mix(sum, number))
    }
}

const fn mix(sum: u64, number: u64) -> u64 {
    (sum.rotate_left(25) ^ number).wrapping_mul(MIX)
}

/// A running checksum of a log: the runtime computes it while logging, and the controller compares it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checksum(pub u64);

impl Checksum {
    /// Adds a record. Values are left out, because they are filled in later.
    #[inline]
    #[must_use]
    pub fn with(self, record: &crate::Record) -> Self {
        if matches!(record.kind, crate::Kind::Value) {
            return self;
        }
        let small = u64::from(record.thread.0) | u64::from(record.stack) << 32;
        let bytes = [record.kind as u8, record.size, record.detail, record.reserved];
        let last = u64::from(record.site) | u64::from(u32::from_le_bytes(bytes)) << 32;
        // The products are independent of each other, so the processor computes them in parallel.
        let sum = record.index.0.wrapping_mul(MIX)
            ^ record.code.0.wrapping_mul(MIX.rotate_left(9))
            ^ record.object.wrapping_mul(MIX.rotate_left(21) | 1)
            ^ record.extra.wrapping_mul(MIX.rotate_left(33) | 1)
            ^ small.wrapping_mul(MIX.rotate_left(45) | 1)
            ^ last.wrapping_mul(MIX.rotate_left(57) | 1);
        Self(mix(self.0, sum))
    }
}

/// Describes one access of an execution, so that another execution can recognise it: the instruction, the thread, the callers,
/// and its number among the accesses that match.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Hold {
    /// Code address as in [`crate::Record::code`], 0 for none.
    pub code: u64,
    /// [`crate::path_of`] the thread, 0 for any.
    pub path: u64,
    /// Number of innermost callers that are compared, and [`crate::callers_hash`] of them.
    pub depth: u64,
    /// See `depth`.
    pub callers: u64,
    /// The number of the access among those of the thread that match, from 1.
    pub nth: u64,
}

impl Hold {
    /// None.
    pub const NONE: Self = Self { code: 0, path: 0, depth: 0, callers: 0, nth: 0 };
}

/// A variable whose accesses are counted: one of the two fields is not 0.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Tracked {
    /// As in [`crate::Record::variable`].
    pub object: u64,
    /// Or all blocks allocated by the call here (code address as in [`crate::Record::code`]).
    pub allocated_at: u64,
}

/// Number of accesses of the tracked variables by a thread.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Weight {
    /// [`crate::path_of`] the thread.
    pub path: u64,
    /// Accesses by it and its descendants.
    pub accesses: u64,
}

/// A read, and the write that it should see. Code addresses are as in [`crate::Record::code`]; a *gate* is the start of the
/// outermost critical section around an access, or the access itself.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct ReadConstraint {
    /// [`crate::path_of`] the thread that reads.
    pub reader: u64,
    /// The place of the read, and its gate.
    pub read: [u64; 2],
    /// The memory, 0 for any.
    pub object: u64,
    /// Number of earlier executions of this read to skip.
    pub skip: u64,
    /// The place of the write; 0: before all writes of other threads.
    pub write: u64,
    /// Other writes to the same memory, and their gates, up to the first 0.
    pub rivals: [[u64; 2]; MOST_RIVALS],
}

/// Maximum number of read constraints.
pub const MOST_CONSTRAINTS: usize = 3;
/// Maximum number of writes that can violate a constraint.
pub const MOST_RIVALS: usize = 4;
/// Maximum number of threads with a [`Weight`].
pub const MOST_WEIGHTS: usize = 64;
/// Maximum number of variables tracked at once.
pub const MOST_TRACKED: usize = 4;
/// Maximum number of changes of a priority order.
pub const MOST_CHANGED: usize = 6;

const _: () = assert!(SLOTS * size_of::<Slot>() <= LIBRARIES_OFFSET - SLOTS_OFFSET);
/// A plan has no padding: its size is the sum of its words.
const _: () = assert!(
    PLAN_BYTES
        == 10 * size_of::<u32>()
            + MOST_CHANGED * size_of::<u32>()
            + 2 * size_of::<u32>()
            + 12 * size_of::<u64>()
            + MOST_TRACKED * size_of::<Tracked>()
            + MOST_WEIGHTS * size_of::<Weight>()
            + MOST_CONSTRAINTS * size_of::<ReadConstraint>()
            + 2 * size_of::<Hold>()
);
