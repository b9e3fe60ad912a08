//! Plans: which schedule to run, and what to observe.

use crate::{Pair, ReadConstraint, Style, Switch, TURN, Tracked};
use racehunter_log::{Address, EventNumber, ThreadPath};

/// One schedule to run, as data. The event crate defines the numbering of events.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Plan {
    /// Forced decisions, in ascending order of `at`.
    pub switches: Vec<Switch>,
    /// The first event for which [`Plan::tail`] decides. Before it, a decision that is not among the switches (a thread blocks,
    /// say) means that the execution has diverged.
    pub tail_from: EventNumber,
    /// The first event from which on the log must contain plain accesses. Earlier ones may be omitted: the plan contains all
    /// decisions before, and earlier executions have shown the alternatives.
    pub log_from: EventNumber,
    /// Whether the log may leave out accesses: of those at each place in the code, only the first is needed. The others are counted, see
    /// [`racehunter_log::Event::Passed`]. What the runtime notices is logged in any case.
    pub brief: bool,
    /// The strategy once the forced decisions are used up.
    pub tail: Tail,
    /// Number of consecutive events after which a thread must give way to the next one, if there is one; `None`: never.
    pub fair_limit: Option<u64>,
    /// Whether wake-ups are choices: a wait on a condition variable may end without a signal, and a signal may wake any waiter,
    /// not only the one that has waited longest.
    pub spurious: bool,
    /// What is logged, and so what is a point.
    pub observe: Observe,
    /// Whether the happens-before detector runs.
    pub detect_races: bool,
    /// Whether races are inferred. If not, the detector reports only shared memory and uses of memory after its lifetime, and a
    /// race is a pair of accesses that [`Plan::provoke`] or [`Plan::sample`] makes meet.
    pub infer_races: bool,
    /// Record call stacks at every logged event, and log every access to this memory (address, bytes) with its stack. For reports
    /// only: it is slow.
    pub explain: Option<(Address, u64)>,
    /// Record call stacks at every point.
    pub stacks: bool,
    /// Observe only the plain accesses to [`Plan::track`] at these sites (as in [`crate::Record::site`]), whatever the executor's
    /// flags say: only they are logged, and no races are detected. The points are these accesses, synchronisation, and the event
    /// after each of them. All other events are counted as usual, so the schedule means the same as in any other plan. Such an
    /// execution takes little longer than the program alone.
    pub select: Option<Vec<u32>>,
    /// The variables of [`Style::PctVariables`] and [`Style::Uniform`].
    pub track: Vec<Tracked>,
    /// For [`Style::Uniform`]: thread paths, and how often each thread and its descendants access the variables.
    pub weights: Vec<(ThreadPath, u64)>,
    /// For [`Style::Guided`]: reads, and the writes that they should see.
    pub constraints: Vec<ReadConstraint>,
    /// Log allocations, so that the log can be read with [`crate::Variables`].
    pub allocations: bool,
    /// Hold a thread that reaches one of these accesses until another thread is about to make a conflicting one, or no other
    /// thread can run. A pair that meets is a race, and logged as one.
    pub provoke: Option<Box<Pair>>,
    /// Number of events of other threads after which a held thread continues although others could run: they may be waiting for
    /// it. Not for executions that run freely.
    pub patience: u64,
    /// Hold threads at randomly chosen accesses, in the same way.
    pub sample: Option<Sample>,
    /// Let the threads run freely, in parallel, as the system schedules them. Nothing is decided, and a thread is held for a time
    /// that the executor knows from executions that observed everything. An executor without real threads may follow the rest of
    /// the plan under control.
    pub free: bool,
    /// Stop after this many events.
    pub max_events: u64,
    /// Stop when the program creates more threads than this.
    pub max_threads: u32,
}

/// Which accesses are sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sample {
    /// The random seed.
    pub seed: u64,
    /// One in this many accesses, on average.
    pub every: u64,
}

/// The strategy for the part of an execution that the plan leaves open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tail {
    /// Stay with the running thread; if it cannot continue, take the next enabled one in order of creation.
    MinSwitches,
    /// Choose among the enabled threads at every point.
    Walk {
        /// The kind of walk.
        style: Style,
        /// The random seed.
        seed: u64,
    },
}

impl Tail {
    /// The walk that chooses every enabled thread with the same probability.
    #[must_use]
    pub const fn random(seed: u64) -> Self {
        Self::Walk { style: Style::Even, seed }
    }
}

/// What is a point of an execution: where a decision can be made, and what is logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Observe {
    /// Synchronisation, atomics, and the accesses that the executor's site flags select.
    Points,
    /// Every event.
    Everything,
    /// Every event and the control flow of each thread: branches, entries and exits of functions.
    Code,
}

/// Number of events for which a thread is held if the length of executions is unknown.
pub const PATIENCE: u64 = 200_000;

/// Maximum number of consecutive events of a thread while others wait, in any plan, unless the user says otherwise.
pub(crate) const LONGEST_TURN: u64 = 2_000_000;

impl Default for Plan {
    fn default() -> Self {
        Self {
            switches: Vec::new(),
            tail_from: EventNumber::START,
            log_from: EventNumber::START,
            brief: false,
            tail: Tail::MinSwitches,
            fair_limit: Some(TURN),
            spurious: false,
            observe: Observe::Points,
            detect_races: true,
            infer_races: true,
            explain: None,
            stacks: false,
            select: None,
            track: Vec::new(),
            weights: Vec::new(),
            constraints: Vec::new(),
            allocations: false,
            provoke: None,
            patience: PATIENCE,
            sample: None,
            free: false,
            max_events: 4_000_000_000,
            max_threads: u32::MAX,
        }
    }
}

impl Plan {
    /// The plan of a free-running execution that logs every access.
    #[must_use]
    pub fn monitored() -> Self {
        Self { free: true, observe: Observe::Everything, detect_races: false, ..Self::default() }
    }

    /// The plan that repeats an execution: every switch forced, to the end.
    #[must_use]
    pub fn replay(switches: Vec<Switch>) -> Self {
        // Not one later: the last chosen thread may turn out to be blocked, which is how a deadlock can end.
        let tail_from = switches.last().map_or(EventNumber::START, |switch| switch.at);
        // The repeated execution may have let a thread run for long.
        Self { switches, tail_from, fair_limit: Some(LONGEST_TURN), ..Self::default() }
    }
}
