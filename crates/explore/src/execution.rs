//! The result of running a plan.

use crate::{Panic, Plan, Switch};
use racehunter_log::{
    Address, Blockage, CodeAddress, Entry, Escape, Event, EventNumber, Misuse, RaceAccess, RaceSide, Record, ThreadId,
    Wait, entries,
};

/// One execution: its log and how it ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Execution {
    /// Points, decisions and observations, in order.
    pub records: Vec<Record>,
    /// Call stacks and locks that the records refer to (`Record::stack`). At each offset: the number of frames, the number
    /// of locks, the frames (code addresses, innermost first), the locks (addresses).
    pub stacks: Vec<u64>,
    /// How it ended.
    pub outcome: Outcome,
    /// Number of events.
    pub events: u64,
    /// Number of threads that existed.
    pub threads: u32,
    /// Something in the execution was not under control, or the log is incomplete: it supports findings, but no claim of
    /// completeness.
    pub partial: bool,
    /// The standard output and error of the program, as far as they were kept.
    pub output: Vec<u8>,
}

/// How an execution ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The program exited with this status.
    Exited(i32),
    /// No thread could run. The log ends with one [`Event::ThreadState`] per thread.
    Deadlock,
    /// A fatal signal.
    Crashed {
        /// Its number.
        signal: u32,
        /// The address that faulted, if any.
        fault: u64,
    },
    /// A failed assertion.
    Asserted {
        /// The asserted expression.
        message: String,
        /// Its file.
        file: String,
        /// Its line.
        line: u32,
    },
    /// The plan could not be followed from this event on.
    Diverged(EventNumber),
    /// Stopped by this limit on events, time or memory.
    Limit(String),
    /// The process was killed from outside, or ended without the runtime's knowledge.
    Lost(String),
}

impl Outcome {
    /// The limit of an execution that was stopped, or not started, because time is up or the user interrupted the hunt. It
    /// says nothing about the program.
    pub const STOPPED: &str = "interruption";
}

/// A data race of an execution, or a use of memory after its lifetime.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Race {
    /// The first byte common to both accesses.
    pub address: Address,
    /// The access that came first in this execution.
    pub first: RacingAccess,
    /// The access that came second.
    pub second: RacingAccess,
}

/// One side of a [`Race`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RacingAccess {
    /// The thread.
    pub thread: ThreadId,
    /// The place in the code.
    pub code: CodeAddress,
    /// The kind of access.
    pub access: RaceAccess,
    /// Bytes.
    pub size: u8,
}

/// The end of the line that replaces the omitted start of the output.
pub const LEFT_OUT: &[u8] = b" bytes left out]";

/// A bug that an execution showed, before symbolisation: equal bugs are one finding.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Bug {
    /// A data race between two places in the code (the lower address first), one of which may be a `free`; or a use of
    /// memory after its lifetime.
    Race(CodeAddress, CodeAddress),
    /// Memory freed at two places in the code (the lower address first).
    DoubleFree(CodeAddress, CodeAddress),
    /// Invalid use of a lock or thread, at a place.
    Misuse(Misuse, CodeAddress),
    /// A deadlock: the place at which each thread waits, sorted.
    Deadlock(Vec<CodeAddress>),
    /// A failed assertion.
    Assertion(String, String, u32),
    /// A fatal signal at a place.
    Crash(u32, CodeAddress),
    /// A Rust panic that ended the program, at a line of a file.
    Panic(String, u32),
    /// The program ends with this status, which is a failure or differs from the status without preemptions.
    ExitStatus(i32),
    /// The output has this hash, and differs from the output without preemptions.
    Output(u64),
}

impl Execution {
    /// Returns the last event.
    #[must_use]
    pub const fn last_event(&self) -> EventNumber {
        EventNumber(self.events)
    }

    /// Iterates over the log.
    pub fn entries(&self) -> impl DoubleEndedIterator<Item = Entry<'_>> + ExactSizeIterator + Clone {
        entries(&self.records)
    }

    /// Returns the first entry other than an access that satisfies the predicate.
    fn find(&self, is_it: impl Fn(Entry<'_>, &Event) -> bool) -> Option<Entry<'_>> {
        // Most entries of a log are accesses.
        self.entries().filter(|entry| !entry.is_access()).find(|&entry| is_it(entry, &entry.event()))
    }

    /// Copies the records of what the runtime noticed. They are few, and looked at for several reasons.
    #[must_use]
    pub fn report_records(&self) -> Vec<Record> {
        self.records.iter().filter(|record| Entry::of(record).is_report()).copied().collect()
    }

    /// Returns what the runtime noticed, see [`Entry::is_report`].
    pub fn reports(&self) -> impl Iterator<Item = Entry<'_>> {
        self.entries().filter(|entry| entry.is_report())
    }

    /// Returns whether the log leaves out accesses: see [`Plan::brief`].
    #[must_use]
    pub fn is_outline(&self) -> bool {
        // The last record of such a log says so too.
        self.entries().rev().any(Entry::leaves_out)
    }

    /// Returns how many records the log has, and would have for accesses that it leaves out.
    #[must_use]
    pub fn whole_length(&self) -> usize {
        let left_out = self.entries().filter(|entry| entry.leaves_out()).map(|entry| match entry.event() {
            Event::Passed { accesses } => usize::try_from(accesses).unwrap_or(usize::MAX),
            _ => 0,
        });
        left_out.fold(self.records.len(), usize::saturating_add)
    }

    /// Creates an execution about which nothing is known.
    #[must_use]
    pub fn lost(why: String) -> Self {
        let outcome = Outcome::Lost(why);
        Self {
            records: Vec::new(),
            stacks: Vec::new(),
            outcome,
            events: 0,
            threads: 0,
            partial: true,
            output: Vec::new(),
        }
    }

    /// Returns whether the campaign ended before the execution did: see [`Outcome::STOPPED`].
    #[must_use]
    pub fn was_stopped(&self) -> bool {
        matches!(&self.outcome, Outcome::Limit(what) if what == Outcome::STOPPED)
    }

    /// Returns the schedule of the execution: its switches.
    #[must_use]
    pub fn switches(&self) -> Vec<Switch> {
        self.entries()
            .filter(|entry| entry.is_switch())
            .filter_map(|entry| match entry.event() {
                Event::Switch { to, .. } => {
                    Some(Switch { at: entry.number(), to, from: entry.thread(), code: entry.code() })
                }
                _ => None,
            })
            .collect()
    }

    /// Returns the plan that repeats this execution from its first event to its last. Unlike [`Plan::replay`] it leaves
    /// nothing to a strategy: where there was no switch, there must be none.
    #[must_use]
    pub fn repeat(&self) -> Plan {
        let (switches, tail_from) = (self.switches(), self.last_event().next());
        Plan { switches, tail_from, spurious: self.chose_wakeups(), ..Plan::default() }
    }

    /// As [`Execution::repeat`], but if the execution did not end on its own, only up to the bug.
    #[must_use]
    pub fn repeat_to(&self, bug: &Bug) -> Plan {
        let last = self.last_event_of(bug).filter(|_| matches!(self.outcome, Outcome::Limit(_)));
        let Some(last) = last else { return self.repeat() };
        let repeat = self.repeat();
        let switches = repeat.switches.into_iter().filter(|switch| switch.at <= last).collect();
        Plan { switches, tail_from: last.next(), max_events: last.next().0, ..repeat }
    }

    /// Returns the event at which a bug shows, unless the bug is how the execution ended.
    fn last_event_of(&self, bug: &Bug) -> Option<EventNumber> {
        let pair = |first: CodeAddress, second: CodeAddress| {
            let is_it = |[(a, _), (b, _)]: &[(Entry<'_>, RaceSide); 2]| {
                let (a, b) = (a.code(), b.code());
                (a.min(b), a.max(b)) == (first, second)
            };
            self.race_entries().find(is_it).map(|[_, (later, _)]| later.number())
        };
        match *bug {
            Bug::Race(first, second) | Bug::DoubleFree(first, second) => pair(first, second),
            Bug::Misuse(_, code) => {
                let is_it =
                    |entry: Entry<'_>, event: &Event| entry.code() == code && matches!(event, Event::Misuse { .. });
                self.find(is_it).map(Entry::number)
            }
            Bug::Deadlock(_)
            | Bug::Assertion(..)
            | Bug::Crash(..)
            | Bug::Panic(..)
            | Bug::ExitStatus(_)
            | Bug::Output(_) => None,
        }
    }

    /// Returns whether threads affected each other in ways that are not in the log, see [`Event::Annotated`].
    #[must_use]
    pub fn is_annotated(&self) -> bool {
        self.find(|_, event| *event == Event::Annotated).is_some()
    }

    /// Returns the event at which a thread waits again after a spurious wake-up, as if it had not woken up. Everything
    /// reachable from there is also reachable without the wake-up, and at no greater cost.
    #[must_use]
    pub fn waits_again(&self) -> Option<EventNumber> {
        let is_repeated = |event: &Event| {
            matches!(event, Event::Wait { is_repeated: true, .. } | Event::FutexWait { is_repeated: true, .. })
        };
        self.find(|_, event| is_repeated(event)).map(Entry::number)
    }

    /// Returns whether a loop was seen to wait for another thread.
    #[must_use]
    pub fn has_waiting_loop(&self) -> bool {
        self.find(|_, event| matches!(event, Event::Blocked { on, .. } if on.wait == Wait::Change)).is_some()
    }

    /// Returns whether some wake-up was a choice. If none was, it does not matter whether wake-ups were enabled.
    #[must_use]
    pub fn chose_wakeups(&self) -> bool {
        self.find(|_, event| matches!(event, Event::Blocked { may_wake: true, .. })).is_some()
    }

    /// Returns the callers of the function in which an entry's event happened, innermost first; empty if no stack was
    /// recorded.
    #[must_use]
    pub fn callers(&self, entry: Entry<'_>) -> &[u64] {
        let at = entry.stack();
        if at == 0 {
            return &[];
        }
        let frames = self.stacks.get(at).map_or(0, |&frames| frames as usize);
        // The first frame is the event itself.
        self.stacks.get(at + 3..at + 2 + frames).unwrap_or_default()
    }

    /// Returns the data races that the detector saw.
    #[must_use]
    pub fn races(&self) -> Vec<Race> {
        races_among(&self.report_records())
    }

    /// Returns the pairs of entries that report races: the earlier access, then the later one.
    pub fn race_entries(&self) -> impl Iterator<Item = [(Entry<'_>, RaceSide); 2]> {
        race_entries_among(&self.records)
    }

    /// Returns what was not under control: kind, place and object, each once.
    #[must_use]
    pub fn escapes(&self) -> Vec<(Escape, CodeAddress, u64)> {
        escapes_among(&self.report_records())
    }

    /// Returns a hash of the output that is stable across runs.
    #[must_use]
    pub fn output_hash(&self) -> u64 {
        let step = |hash: u64, &byte: &u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        self.output.iter().fold(0xcbf2_9ce4_8422_2325, step)
    }

    /// Returns how the execution differs from the one without preemptions, if both exited.
    #[must_use]
    pub fn difference(&self, reference: &Self) -> Option<Bug> {
        match (&self.outcome, &reference.outcome) {
            (Outcome::Exited(status), Outcome::Exited(other)) if status != other => Some(Bug::ExitStatus(*status)),
            (Outcome::Exited(_), Outcome::Exited(_)) if self.output != reference.output => {
                Some(Bug::Output(self.output_hash()))
            }
            _ => None,
        }
    }

    /// Returns whether only the end of the output was kept.
    #[must_use]
    pub fn is_output_cut(&self) -> bool {
        let first = self.output.split(|&byte| byte == b'\n').next().unwrap_or_default();
        first.starts_with(b"[") && first.ends_with(LEFT_OUT)
    }

    /// Returns the bug of an execution that exited with a failure status. A panic that is also seen in executions that pass
    /// fails nothing by itself, so another one is to blame, if there is any.
    #[must_use]
    pub fn failure(&self, status: i32, is_harmless: impl Fn(&Panic) -> bool) -> Bug {
        let mut panics = self.panics();
        let first = panics.iter().position(|panic| !is_harmless(panic)).or(panics.len().checked_sub(1));
        let first = first.map(|first| panics.swap_remove(first));
        first.map_or(Bug::ExitStatus(status), |panic| Bug::Panic(panic.file, panic.line))
    }

    /// Returns whether the execution showed a bug.
    #[must_use]
    pub fn shows(&self, bug: &Bug) -> bool {
        match (bug, &self.outcome) {
            (_, Outcome::Diverged(_)) => false,
            (Bug::ExitStatus(status), outcome) => *outcome == Outcome::Exited(*status),
            (Bug::Panic(file, line), _) => self.panics().iter().any(|panic| panic.is_at(file, *line)),
            (Bug::Output(hash), outcome) => matches!(outcome, Outcome::Exited(_)) && self.output_hash() == *hash,
            _ => self.bugs().contains(bug),
        }
    }

    /// Returns the threads at the end of a failed execution, and what each waits for.
    pub fn thread_states(&self) -> impl Iterator<Item = (Entry<'_>, Option<Blockage>)> {
        self.reports().filter_map(|entry| match entry.event() {
            Event::ThreadState { on } => Some((entry, on)),
            _ => None,
        })
    }

    /// Returns the bugs that the execution shows, each once.
    #[must_use]
    pub fn bugs(&self) -> Vec<Bug> {
        self.bugs_among(&self.report_records())
    }

    /// The same, given [`Execution::report_records`].
    #[must_use]
    pub fn bugs_among(&self, reports: &[Record]) -> Vec<Bug> {
        let mut bugs: Vec<Bug> = races_among(reports)
            .iter()
            .map(|race| {
                let (a, b) = (race.first.code, race.second.code);
                let freed_twice = race.first.access.is_free() && race.second.access.is_free();
                let bug = if freed_twice { Bug::DoubleFree } else { Bug::Race };
                bug(a.min(b), a.max(b))
            })
            .collect();
        bugs.extend(entries(reports).filter_map(|entry| match entry.event() {
            Event::Misuse { what, .. } => Some(Bug::Misuse(what, entry.code())),
            _ => None,
        }));
        match &self.outcome {
            Outcome::Deadlock => {
                let waiting = self.thread_states().filter(|(_, on)| on.is_some());
                let mut places: Vec<CodeAddress> = waiting.map(|(entry, _)| entry.code()).collect();
                places.sort_unstable();
                bugs.push(Bug::Deadlock(places));
            }
            Outcome::Crashed { signal, .. } => {
                let place = self.thread_states().next().map_or(CodeAddress::UNKNOWN, |(entry, _)| entry.code());
                bugs.push(Bug::Crash(*signal, place));
            }
            Outcome::Asserted { message, file, line } => {
                bugs.push(Bug::Assertion(message.clone(), file.clone(), *line));
            }
            Outcome::Exited(_) | Outcome::Diverged(_) | Outcome::Limit(_) | Outcome::Lost(_) => {}
        }
        bugs.sort();
        bugs.dedup();
        bugs
    }
}

fn races_among(reports: &[Record]) -> Vec<Race> {
    let access = |(entry, side): (Entry<'_>, RaceSide)| RacingAccess {
        thread: entry.thread(),
        code: entry.code(),
        access: side.access,
        size: side.size,
    };
    race_entries_among(reports)
        .map(|[first, second]| Race { address: second.1.address, first: access(first), second: access(second) })
        .collect()
}

fn race_entries_among(records: &[Record]) -> impl Iterator<Item = [(Entry<'_>, RaceSide); 2]> {
    records.windows(2).filter_map(|pair| {
        let [first, second] = [Entry::of(&pair[0]), Entry::of(&pair[1])];
        match (first.race_side(), second.race_side()) {
            (Some(Event::RaceFirst(earlier)), Some(Event::RaceSecond(later))) => {
                Some([(first, earlier), (second, later)])
            }
            _ => None,
        }
    })
}

/// [`Execution::escapes`], given [`Execution::report_records`].
pub(crate) fn escapes_among(reports: &[Record]) -> Vec<(Escape, CodeAddress, u64)> {
    let escape = |entry: Entry<'_>| match entry.event() {
        Event::Escape { what, object } => Some((what, entry.code(), object)),
        _ => None,
    };
    let mut escapes: Vec<_> = entries(reports).filter_map(escape).collect();
    escapes.sort_unstable();
    escapes.dedup();
    escapes
}
