//! What to run.

use crate::{Pair, ReadConstraint, Style, Switch, TURN, Tracked};
use racehunter_log::{Address, EventNumber, ThreadPath};

/// One schedule to run, as data. See the event crate for the numbering of events.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Plan {
    /// Forced decisions, in ascending order of `at`.
    pub switches: Vec<Switch>,
    /// First event for which [`Plan::tail`] decides. Before it, a decision that is not among the switches (a thread
    /// that blocks, say) means that the execution has diverged.
    pub tail_from: EventNumber,
    /// First event from which on plain accesses are needed in the log. Those before it need not be there: all that is decided
    /// before is in the plan, and executions before this one have shown what else there was to choose.
    pub log_from: EventNumber,
    /// Whether the log may leave out accesses: of those at each place in the code, only the first is needed. The others are counted, see
    /// [`racehunter_log::Event::Passed`]. What the runtime notices is logged in any case.
    pub brief: bool,
    /// Who runs once the forced decisions are used up.
    pub tail: Tail,
    /// Events in a row after which a thread must give way to the next one, if there is one; `None`: never.
    pub fair_limit: Option<u64>,
    /// Whether wake-ups are choices: a wait on a condition variable may end without a signal, and a signal may wake any
    /// waiter, not only the one that has waited longest.
    pub spurious: bool,
    /// What is logged, and so what is a point.
    pub observe: Observe,
    /// Whether the happens-before detector runs.
    pub detect_races: bool,
    /// Whether what it infers is a race. Without that it reports only which memory is shared and which was used after its end, and
    /// a race is a pair of accesses that [`Plan::provoke`] or [`Plan::sample`] makes meet.
    pub infer_races: bool,
    /// Take call stacks at every logged event, and log every access to this memory (address, bytes) with its stack.
    /// For reports only: it is slow.
    pub explain: Option<(Address, u64)>,
    /// Take call stacks at every point.
    pub stacks: bool,
    /// Of plain accesses care only for those of [`Plan::track`] at these sites (as in [`crate::Record::site`]), whatever
    /// the executor's flags say: only they are logged, and no races are looked for. Points are they, synchronisation,
    /// and whatever event comes next. All others are counted as always, so the schedule means what it means to any other
    /// plan. Such an execution takes little longer than the program alone.
    pub select: Option<Vec<u32>>,
    /// The variables of [`Style::PctVariables`] and [`Style::Uniform`].
    pub track: Vec<Tracked>,
    /// For [`Style::Uniform`]: threads by their paths, and how many accesses of the variables they and the threads that they
    /// create make.
    pub weights: Vec<(ThreadPath, u64)>,
    /// For [`Style::Guided`]: reads, and the writes that they should see.
    pub constraints: Vec<ReadConstraint>,
    /// Log what is allocated, so that the log can be read with [`crate::Variables`].
    pub allocations: bool,
    /// Hold a thread that comes to one of these accesses until another thread is about to make a conflicting one, or no
    /// other thread can run. A pair that meets is a race, and logged as one.
    pub provoke: Option<Box<Pair>>,
    /// Events of other threads after which a held thread goes on, though others could too: they may only wait for it. Not for
    /// executions that run freely.
    pub patience: u64,
    /// Hold threads at accesses that are drawn at random, in the same way.
    pub sample: Option<Sample>,
    /// Let the threads run freely: in parallel, as the system has them run. Nothing is decided, and a thread that is held waits
    /// for a time that the executor knows from executions that observed everything. An executor that has no threads to
    /// let run may follow the rest of the plan under control.
    pub free: bool,
    /// Stop after this many events.
    pub max_events: u64,
    /// Stop when the program creates more threads than this.
    pub max_threads: u32,
}

/// Which accesses are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sample {
    /// Seed of the draws.
    pub seed: u64,
    /// One of this many, on average.
    pub every: u64,
}

/// Strategy for the part of an execution that the plan leaves open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tail {
    /// Stay with the running thread; when it cannot go on, take the next enabled one in order of creation.
    MinSwitches,
    /// Choose among the enabled threads at every point.
    Walk {
        /// How.
        style: Style,
        /// Seed of the choices.
        seed: u64,
    },
}

impl Tail {
    /// The walk that gives every enabled thread the same chance.
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
    /// Every event, and the way that each thread takes through the code: branches, entries and exits of functions.
    Code,
}

/// Events of others for which a thread is held, where nothing is known of how long executions are.
pub const PATIENCE: u64 = 200_000;

/// Events in a row that any plan lets a thread have while others wait, unless the user says otherwise.
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
    /// The plan of an execution that runs freely, and logs every access.
    #[must_use]
    pub fn monitored() -> Self {
        Self { free: true, observe: Observe::Everything, detect_races: false, ..Self::default() }
    }

    /// The plan that repeats an execution: every switch forced, to the end.
    #[must_use]
    pub fn replay(switches: Vec<Switch>) -> Self {
        // Not one later: the last thread that was chosen may turn out to be blocked, which is how a deadlock can end.
        let tail_from = switches.last().map_or(EventNumber::START, |switch| switch.at);
        // What it repeats may have let a thread run for long.
        Self { switches, tail_from, fair_limit: Some(LONGEST_TURN), ..Self::default() }
    }
}
