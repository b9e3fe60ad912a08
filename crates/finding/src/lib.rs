//! The data that users get: [`Finding`]s and [`Coverage`].
//!
//! Plain, serialisable data, stable from version to version: these types are written to `.racehunter/` and read back by
//! `racehunter replay`, and the JSON output is made from them. This crate does not know how findings arise. Start at
//! [`Finding`].
#![forbid(unsafe_code)]

mod assumption;
mod coverage;
mod fingerprint;
mod gap;
mod unclear;

pub use assumption::Assumption;
pub use coverage::{Coverage, Figures, Uncontrolled};
pub use fingerprint::fingerprint;
pub use gap::Gap;
pub use unclear::{Failure, Limit, Unclear, Unfinished};

use serde::{Deserialize, Serialize};

/// A bug, with everything needed to understand and replay it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// Short identity, the same in every run that finds the same bug: see [`fingerprint()`].
    pub id: String,
    /// What kind of bug.
    pub kind: Kind,
    /// One sentence, in the user's terms.
    pub message: String,
    /// The places in the program that take part, the most informative first: both accesses of a race, the place where
    /// each thread of a deadlock waits, the failed assertion.
    pub sites: Vec<Site>,
    /// How often the schedule was replayed, and how often it showed the bug: `[shown, tried]`.
    pub replayed: [u32; 2],
    /// True if every replay showed it.
    pub confirmed: bool,
    /// The execution of the campaign that showed it first, counted from 1; 0 if none did.
    pub execution: u64,
    /// Preemptions of the (minimised) schedule.
    pub preemptions: u32,
    /// The schedule that shows it.
    pub schedule: Schedule,
    /// What happened, step by step, in the last replay.
    pub steps: Vec<Step>,
    /// The memory or object involved.
    pub object: Option<Object>,
    /// The threads of that execution in order of creation: `threads[0]` is `main`, `threads[1]` is shown as `T1`. May
    /// be empty; threads are then named by what sites and steps say.
    #[serde(default)]
    pub threads: Vec<Thread>,
    /// Further remarks, one line each.
    pub notes: Vec<String>,
    /// A race: in every replay that confirmed it, both threads stood right before their accesses at the same time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub met: bool,
    /// Why the user suppresses it, if so: it is reported, and does not count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suppressed: Option<String>,
    /// How it came about, in one sentence, as far as the replayed execution shows that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// The numbers of the steps that the cause names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cause_steps: Vec<u64>,
    /// The id of an earlier finding with the same cause, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant_of: Option<String>,
}

impl Finding {
    /// Returns a finding of this kind, about which nothing else is known yet.
    #[must_use]
    pub fn new(kind: Kind) -> Self {
        Self {
            id: String::new(),
            kind,
            message: String::new(),
            sites: Vec::new(),
            replayed: [0, 0],
            confirmed: false,
            execution: 0,
            preemptions: 0,
            schedule: Schedule::default(),
            steps: Vec::new(),
            object: None,
            threads: Vec::new(),
            notes: Vec::new(),
            met: false,
            suppressed: None,
            cause: None,
            cause_steps: Vec::new(),
            variant_of: None,
        }
    }

    /// Returns true if an execution showed it. What is only suspected, from the code, has no schedule and cannot be
    /// replayed.
    #[must_use]
    pub const fn was_executed(&self) -> bool {
        self.execution > 0 || self.replayed[1] > 0
    }

    /// Removes the cause, which holds only if replays show the finding.
    pub fn forget_cause(&mut self) {
        self.cause = None;
        self.cause_steps.clear();
    }

    /// Returns true if it counts: for the exit code, and as an error.
    #[must_use]
    pub const fn counts(&self) -> bool {
        self.confirmed && self.suppressed.is_none()
    }
}

/// The kind of a bug, as named in JSON and in reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Two accesses to the same memory, at least one a write, not ordered.
    DataRace,
    /// Threads wait for each other.
    Deadlock,
    /// A failed assertion.
    Assertion,
    /// A fatal signal.
    Crash,
    /// Access to freed memory.
    UseAfterFree,
    /// Memory freed twice.
    DoubleFree,
    /// A lock or thread was used as it must not be: unlocked by another thread, destroyed while held, held at the end.
    Misuse,
    /// A thread waits for a wake-up that came too early.
    LostWakeup,
    /// An intended unit of accesses was interrupted.
    Atomicity,
    /// The exit status depends on the schedule.
    ExitStatus,
    /// The output depends on the schedule.
    Output,
}

impl Kind {
    /// All kinds, in the order of the documentation.
    pub const ALL: [Self; 11] = [
        Self::DataRace,
        Self::UseAfterFree,
        Self::DoubleFree,
        Self::Misuse,
        Self::Deadlock,
        Self::LostWakeup,
        Self::Assertion,
        Self::Crash,
        Self::Atomicity,
        Self::ExitStatus,
        Self::Output,
    ];

    /// Returns true if it is about memory accesses, each of which is a separate event.
    #[must_use]
    pub const fn is_about_memory(self) -> bool {
        matches!(self, Self::DataRace | Self::UseAfterFree | Self::DoubleFree | Self::Atomicity)
    }

    /// Returns the name in JSON and in `error[...]`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::DataRace => "data-race",
            Self::Deadlock => "deadlock",
            Self::Assertion => "assertion",
            Self::Crash => "crash",
            Self::UseAfterFree => "use-after-free",
            Self::DoubleFree => "double-free",
            Self::Misuse => "misuse",
            Self::LostWakeup => "lost-wakeup",
            Self::Atomicity => "atomicity",
            Self::ExitStatus => "exit-status",
            Self::Output => "output",
        }
    }
}

/// One place of the program in a finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Site {
    /// Source file as the compiler named it, empty if there is no debug information.
    pub file: String,
    /// Line, 0 when unknown.
    pub line: u32,
    /// Column, 0 when unknown.
    pub column: u32,
    /// Function, demangled.
    pub function: String,
    /// The thread, named by its path in the family tree: `main`, `main/1`, `main/1/2`.
    pub thread: String,
    /// The function in which the thread started.
    pub entry: String,
    /// What it does there: `read`, `write`, `atomic-write`, `lock`, `wait`, ...
    pub access: String,
    /// Bytes accessed, 0 when it is not an access.
    pub size: u32,
    /// Names of the locks held.
    pub locks: Vec<String>,
    /// Call stack, innermost first, starting with this place itself.
    pub stack: Vec<Frame>,
    /// What the thread waits for here, if it waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits_for: Option<Waiting>,
    /// Number of its event in the replayed execution, 0 when unknown.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub event: u64,
    /// The value read or written, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
}

/// The contents of the accessed memory, as the source would write them: `3`, `'x'`, `null`, `&table[2]`. Addresses
/// without a name are numbered: `#1`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Value {
    /// Before the access: what a read sees, what a write replaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// After a write.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// What a thread waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiting {
    /// Name of the lock, condition variable, thread, ...
    pub object: String,
    /// Path of the thread that would have to act: the owner of a lock, the thread to be joined.
    pub owner: Option<String>,
}

/// A thread of the execution that a finding shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thread {
    /// Path in the family tree: `main`, `main/1`, `main/1/2`.
    pub path: String,
    /// The function in which it started, empty if unknown.
    pub entry: String,
}

/// One frame of a call stack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frame {
    /// Function, demangled.
    pub function: String,
    /// Source file, empty when unknown.
    pub file: String,
    /// Line, 0 when unknown.
    pub line: u32,
    /// Column, 0 when unknown.
    pub column: u32,
}

/// The memory or synchronisation object that a finding is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Object {
    /// Its name in the source, or a description.
    pub name: String,
    /// Size in bytes, 0 when unknown.
    pub size: u64,
    /// `global`, `heap`, `stack`, `thread-local` or `unknown`.
    pub region: String,
    /// Where heap memory was allocated, innermost frame first.
    pub allocated: Vec<Frame>,
    /// The index of its element in a block of equal elements, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub element: Option<u64>,
}

/// The decisions that show a finding: enough to replay it on the same binary and input.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Schedule {
    /// Every switch of the execution, in order.
    pub switches: Vec<ScheduledSwitch>,
    /// True if wake-ups of condition variables are among the choices.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub spurious: bool,
    /// The number of events after which the execution is stopped, if it does not end on its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_after: Option<u64>,
    /// Accesses at which a thread is held until another one is about to make a conflicting access; none, or two.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub held: Vec<Held>,
    /// The maximum number of other threads' events for which it is held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patience: Option<u64>,
}

/// An access of a [`Schedule`]; its fields mean the same as those of a descriptor in the explore crate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Held {
    /// The instruction.
    pub code: u64,
    /// The thread, if others execute the instruction too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<u64>,
    /// Innermost callers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub callers: Vec<u64>,
    /// Which of the thread's matching accesses it is, from 1.
    pub nth: u64,
}

/// One switch of a [`Schedule`]; its fields mean the same as those of `Switch` in the abi crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScheduledSwitch {
    /// Event before which it happens.
    pub at: u64,
    /// Thread that continues.
    pub to: u32,
    /// Thread that was running.
    pub from: u32,
    /// Where that thread stood, 0 when unknown.
    pub code: u64,
}

/// One line of the interleaving in a report.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// Column: index into the threads of the finding in order of creation, 0 is `main`.
    pub thread: u32,
    /// The thread's path.
    pub path: String,
    /// What it did, e.g. `read  q->count`.
    pub what: String,
    /// Source file.
    pub file: String,
    /// Line, 0 when unknown.
    pub line: u32,
    /// The thread was preempted after the previous step.
    pub preempted: bool,
    /// The bug shows at this step.
    pub culprit: bool,
    /// Number of its event in the replayed execution, 0 when unknown.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub event: u64,
    /// The value read or written, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// Its number in the whole interleaving, from 1; a finding may keep only some of the steps. 0 if unknown.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub number: u64,
    /// The step is needed to understand the bug.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub matters: bool,
}
