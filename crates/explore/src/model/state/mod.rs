//! A program in the middle of an execution: what each thread can do, and the effect of doing it.

//! This file contains the state and its queries. Changes are in [`perform`] (operations), [`conditions`] (which waiter a signal
//! wakes), [`handlers`] (signal handlers) and [`loops`] (waiting loops).

mod conditions;
mod handlers;
mod loops;
mod perform;

use super::clocks::Clocks;
use super::program::{Op, Program, REGISTERS, Value};
use crate::{Outcome, Wait};
use racehunter_abi::{MAIN_PATH, path_of};
use racehunter_log::{
    Access, AccessMode, Address, Blockage, CodeAddress, Event, EventNumber, Position, Record, SiteId, ThreadId,
};
use racehunter_walk::Next;

/// Whether a thread can run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    Ready,
    /// Can continue by a time-out at this time.
    Suspended(u64, Wait),
    Blocked(Wait),
    Over,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// At the operation of its position.
    Running,
    /// Inside a wait that is not signalled.
    Waiting { condition: usize, mutex: usize, ticket: u64 },
    /// Inside a wait that has timed out.
    TimedOut { condition: usize, mutex: usize },
    /// Inside a wait that ends spuriously.
    Woken { condition: usize, mutex: usize },
    /// At a lock that has timed out.
    LockTimedOut,
    /// At the end of a wait: about to take the mutex again.
    Relocking { mutex: usize },
}

/// An operation that a thread has made, or is about to make.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operation {
    pub at: Position,
    pub event: Event,
}

impl Operation {
    pub fn record(&self) -> Record {
        self.event.record(self.at)
    }

    pub fn thread(&self) -> u32 {
        self.at.thread.0
    }

    pub fn code(&self) -> u64 {
        self.at.code.0
    }

    /// Returns the site as numbered in plans and flags; 0 for none.
    pub fn site(&self) -> u32 {
        self.at.site.map_or(0, SiteId::logged)
    }

    /// Returns the address that it accesses, 0 for none.
    pub fn object(&self) -> u64 {
        self.event.variable().map_or(0, |object| object.0)
    }

    pub fn is_plain_access(&self) -> bool {
        self.event.access().is_some_and(|access| !access.mode.is_atomic())
    }
}

#[derive(Clone, Debug)]
struct Thread {
    body: usize,
    position: usize,
    registers: [i64; REGISTERS],
    children: Vec<u32>,
    phase: Phase,
    /// The end of its sleep, or of its wait at the latest.
    deadline: Option<u64>,
    /// It has reached its next operation; see [`State::lazy`].
    arrived: bool,
    over: bool,
    /// Where it is, or was last.
    code: u64,
    /// The accesses it has reached since it last did anything else, and what it has accessed meanwhile.
    visits: Vec<Visit>,
    touched: Vec<(usize, i64)>,
    /// Where it last began to wait, and since when, after a spurious wake-up, it has only read.
    waited: (usize, [i64; REGISTERS]),
    woken: Option<u64>,
    /// It was sent the signal, and has not yet run the handler.
    pending: bool,
    /// Where it continues after its handler.
    interrupted: Option<Interrupted>,
    /// It has returned to an earlier state, and continues when one of these variables has another value.
    awaits: Option<Vec<(usize, i64)>>,
}

/// What a thread was about to do when a handler interrupted it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Interrupted {
    body: usize,
    position: usize,
    registers: [i64; REGISTERS],
    code: u64,
}

/// The number of the signal.
const SIGNAL: u64 = 10;

/// A thread was about to make an access.
#[derive(Clone, Debug)]
struct Visit {
    position: usize,
    registers: [i64; REGISTERS],
    /// What it had accessed before.
    touched: usize,
}

/// The state of a program between two events.
#[derive(Clone, Debug)]
pub(super) struct State<'a> {
    program: &'a Program,
    threads: Vec<Thread>,
    variables: Vec<i64>,
    owners: Vec<Option<u32>>,
    semaphores: Vec<i64>,
    time: u64,
    tickets: u64,
    /// Number of events so far.
    pub events: u64,
    pub clocks: Clocks,
    /// How the program ended, if it has.
    pub outcome: Option<Outcome>,
    /// A thread that was just created, yielded or slept counts as able to run until it reaches an operation that it cannot
    /// perform. The real runtime cannot know better.
    pub lazy: bool,
    /// A thread that iterates in a loop and changes nothing is blocked until another one changes what it reads.
    pub spins_are_waits: bool,
    /// Wake-ups are choices: a wait may end without a signal, and a signal may wake any waiter.
    pub chooses_wakeups: bool,
    /// Signals that any earlier waiter may take: condition variables and tickets, the oldest first.
    permits: Vec<(usize, u64)>,
    /// Starts and ends of handlers that are not in the log yet.
    pub notes: Vec<Record>,
    /// The last event belongs to a handler.
    pub in_handler: bool,
}

const OBJECTS: usize = 16;
const VARIABLES: u64 = 0x10_0000;
const MUTEXES: u64 = 0x20_0000;
const CONDITIONS: u64 = 0x30_0000;
const SEMAPHORES: u64 = 0x40_0000;

impl<'a> State<'a> {
    /// Creates the program before its first event.
    pub fn new(program: &'a Program, lazy: bool) -> Self {
        let mut state = Self {
            program,
            threads: Vec::new(),
            variables: vec![0; OBJECTS],
            owners: vec![None; OBJECTS],
            semaphores: vec![0; OBJECTS],
            time: 0,
            tickets: 0,
            events: 0,
            clocks: Clocks::default(),
            outcome: None,
            lazy,
            spins_are_waits: true,
            chooses_wakeups: false,
            permits: Vec::new(),
            notes: Vec::new(),
            in_handler: false,
        };
        let first = if program.bare { program.bodies.len() } else { 1 };
        for body in 0..first {
            state.start(body);
        }
        for thread in 0..first as u32 {
            state.run_local(thread);
        }
        state
    }

    fn start(&mut self, body: usize) -> u32 {
        let number = self.threads.len() as u32;
        self.threads.push(Thread {
            body,
            position: 0,
            registers: [0; REGISTERS],
            children: Vec::new(),
            phase: Phase::Running,
            deadline: None,
            arrived: !self.lazy || number == 0,
            over: false,
            code: self.program.code(body, 0),
            visits: Vec::new(),
            touched: Vec::new(),
            waited: (0, [0; REGISTERS]),
            woken: None,
            pending: false,
            interrupted: None,
            awaits: None,
        });
        number
    }

    /// Returns the output of the program at its end: its variables, and the position and registers of each thread.
    pub fn output(&self) -> Vec<u8> {
        let threads: Vec<_> =
            self.threads.iter().map(|thread| (thread.body, thread.position, thread.registers)).collect();
        format!("{:?} {threads:?}", self.variables).into_bytes()
    }

    /// Returns a key of the state: everything that the continuations depend on.
    pub fn key(&self) -> String {
        let all = self.threads.iter().filter_map(|thread| match thread.phase {
            Phase::Waiting { ticket, .. } => Some(ticket),
            _ => None,
        });
        let mut tickets: Vec<u64> = all.chain(self.permits.iter().map(|&(_, ticket)| ticket)).collect();
        tickets.sort_unstable();
        // Only the order of tickets matters.
        let rank = |ticket: u64| tickets.binary_search(&ticket).unwrap_or(0) as u64;
        let thread = |thread: &Thread| {
            let Thread { body, position, registers, children, phase, deadline, arrived, over, .. } = thread.clone();
            let signals = (thread.pending, thread.interrupted);
            let phase = match phase {
                Phase::Waiting { condition, mutex, ticket } => {
                    Phase::Waiting { condition, mutex, ticket: rank(ticket) }
                }
                phase => phase,
            };
            (body, position, registers, children, phase, deadline, arrived, over, signals)
        };
        let threads: Vec<_> = self.threads.iter().map(thread).collect();
        let permits: Vec<_> = self.permits.iter().map(|&(on, ticket)| (on, rank(ticket))).collect();
        let rest = (&self.variables, &self.owners, &self.semaphores, self.time);
        format!("{threads:?} {permits:?} {rest:?}")
    }

    /// Returns the number of threads that exist or existed.
    pub fn threads(&self) -> u32 {
        self.threads.len() as u32
    }

    fn thread(&self, number: u32) -> &Thread {
        &self.threads[number as usize]
    }

    fn thread_mut(&mut self, number: u32) -> &mut Thread {
        &mut self.threads[number as usize]
    }

    fn next_op(&self, number: u32) -> Option<&'a Op> {
        let thread = self.thread(number);
        self.program.bodies[thread.body].get(thread.position)
    }

    /// Returns where a thread is.
    pub fn code(&self, number: u32) -> u64 {
        self.thread(number).code
    }

    /// Returns whether the next operation of a thread can be completed, or else what it waits for.
    fn completable(&self, number: u32) -> Result<(), Wait> {
        let check = |ok: bool, wait: Wait| if ok { Ok(()) } else { Err(wait) };
        let thread = self.thread(number);
        if self.takes_signal(number) {
            return Ok(());
        }
        if thread.awaits.as_ref().is_some_and(|awaited| self.has_still(awaited)) {
            return Err(Wait::Change);
        }
        match (thread.phase, self.next_op(number)) {
            (Phase::Waiting { condition, ticket, .. }, _) => {
                check(self.permit(condition, ticket).is_some(), Wait::Condition)
            }
            (Phase::TimedOut { .. } | Phase::Woken { .. } | Phase::LockTimedOut, _) => Ok(()),
            (Phase::Relocking { mutex }, _) => check(self.owners[mutex].is_none(), Wait::Mutex),
            (Phase::Running, Some(Op::Lock(mutex) | Op::TimedLock(mutex, ..))) => {
                check(self.owners[*mutex].is_none(), Wait::Mutex)
            }
            (Phase::Running, Some(Op::SemWait(semaphore))) => check(self.semaphores[*semaphore] > 0, Wait::Semaphore),
            (Phase::Running, Some(Op::Join(child))) => {
                check(thread.children.get(*child).is_none_or(|&child| self.thread(child).over), Wait::Join)
            }
            (Phase::Running, _) => Ok(()),
        }
    }

    /// Returns the status of a thread for the scheduler.
    pub fn status(&self, number: u32) -> Status {
        let thread = self.thread(number);
        let completable = self.completable(number);
        let lock_timeout = match (self.next_op(number), completable) {
            (Some(Op::TimedLock(_, ticks, _)), Err(_)) => Some(self.time + ticks),
            _ => None,
        };
        match (thread.over, thread.phase, thread.deadline) {
            (true, ..) => Status::Over,
            (_, Phase::Waiting { .. }, Some(deadline)) if completable.is_err() => {
                Status::Suspended(deadline, Wait::Condition)
            }
            (_, Phase::Running, Some(deadline)) if self.lazy || completable.is_ok() || lock_timeout.is_some() => {
                Status::Suspended(deadline, Wait::Sleep)
            }
            _ if !thread.arrived => Status::Ready,
            (_, Phase::Running, None) if lock_timeout.is_some() => {
                Status::Suspended(lock_timeout.unwrap_or(self.time), Wait::Mutex)
            }
            _ => completable.map_or_else(Status::Blocked, |()| Status::Ready),
        }
    }

    /// Returns the next operation of a thread, if it is an access.
    pub fn next_access(&self, number: u32) -> Option<Operation> {
        let thread = self.thread(number);
        if thread.phase != Phase::Running {
            return None;
        }
        let (mode, variable) = match self.next_op(number)? {
            Op::Read(variable, _) => (AccessMode::Read, *variable),
            Op::Write(variable, _) => (AccessMode::Write, *variable),
            Op::AtomicRead(variable, _) => (AccessMode::AtomicRead, *variable),
            Op::AtomicWrite(variable, _) => (AccessMode::AtomicWrite, *variable),
            Op::AtomicAdd(variable, ..) => (AccessMode::AtomicUpdate, *variable),
            _ => return None,
        };
        let at = Position {
            number: EventNumber(self.events + 1),
            thread: ThreadId(number),
            code: CodeAddress(self.code(number)),
            site: self.program.site(thread.body, thread.position).checked_sub(1).map(SiteId),
            stack: 0,
        };
        let address = Address(address(VARIABLES, variable));
        Some(Operation { at, event: Event::Access(Access { mode, address, size: 8, is_excused: false }) })
    }

    /// Returns the identity of a thread, which does not depend on the schedule.
    pub fn path(&self, number: u32) -> u64 {
        if self.program.bare {
            // All threads exist from the start, as if `main` had created them.
            return if number == 0 { MAIN_PATH } else { path_of(MAIN_PATH, number) };
        }
        let parent = (0..self.threads()).find_map(|parent| {
            let sibling = self.thread(parent).children.iter().position(|&child| child == number)?;
            Some((parent, sibling as u32 + 1))
        });
        parent.map_or(MAIN_PATH, |(parent, sibling)| path_of(self.path(parent), sibling))
    }

    /// Returns the next operation of a thread, as a walk sees it.
    pub fn next(&self, number: u32) -> Next {
        let (object, changes) = match (self.thread(number).phase, self.next_op(number)) {
            (Phase::Running, Some(Op::Read(variable, _) | Op::AtomicRead(variable, _))) => {
                (address(VARIABLES, *variable), false)
            }
            (
                Phase::Running,
                Some(Op::Write(variable, _) | Op::AtomicWrite(variable, _) | Op::AtomicAdd(variable, ..)),
            ) => (address(VARIABLES, *variable), true),
            (
                Phase::Running,
                Some(Op::Lock(mutex) | Op::Unlock(mutex) | Op::TryLock(mutex, _) | Op::TimedLock(mutex, ..)),
            )
            | (Phase::Running, Some(Op::Wait(_, mutex) | Op::TimedWait(_, mutex, ..))) => {
                (address(MUTEXES, *mutex), true)
            }
            (Phase::Relocking { mutex }, _) => (address(MUTEXES, mutex), true),
            (Phase::Running, Some(Op::SemWait(semaphore) | Op::SemPost(semaphore))) => {
                (address(SEMAPHORES, *semaphore), true)
            }
            (Phase::Running, Some(Op::Signal(condition) | Op::Broadcast(condition))) => {
                (address(CONDITIONS, *condition), true)
            }
            _ => (0, false),
        };
        Next { thread: number, path: self.path(number), object, changes, chosen: false, code: self.code(number) }
    }

    /// Returns what a thread waits for, for the log.
    pub fn awaited(&self, number: u32, wait: Wait) -> Blockage {
        let (object, owner) = self.awaited_object(number);
        Blockage { wait, object, owner: owner.map(ThreadId) }
    }

    /// Returns the object that a thread waits for, and its owner.
    fn awaited_object(&self, number: u32) -> (u64, Option<u32>) {
        let thread = self.thread(number);
        let mutex = |mutex: usize| (address(MUTEXES, mutex), self.owners[mutex]);
        if let Some(&(variable, _)) = thread.awaits.as_ref().and_then(|awaited| awaited.first()) {
            return (address(VARIABLES, variable), None);
        }
        match (thread.phase, self.next_op(number)) {
            (Phase::Waiting { condition, .. }, _) => (address(CONDITIONS, condition), None),
            (Phase::Relocking { mutex: held }, _) => mutex(held),
            (Phase::Running, Some(Op::Lock(held) | Op::TimedLock(held, ..))) => mutex(*held),
            (Phase::Running, Some(Op::SemWait(semaphore))) => (address(SEMAPHORES, *semaphore), None),
            (Phase::Running, Some(Op::Join(child))) => {
                thread.children.get(*child).map_or((0, None), |&child| (u64::from(child), Some(child)))
            }
            (Phase::Running | Phase::TimedOut { .. } | Phase::Woken { .. } | Phase::LockTimedOut, _) => (0, None),
        }
    }

    /// Moves a chosen thread to its next operation, by a time-out if necessary.
    pub fn arrive(&mut self, number: u32) {
        if let (true, Phase::Waiting { condition, mutex, .. }) = (self.may_wake(number), self.thread(number).phase) {
            self.thread_mut(number).phase = Phase::Woken { condition, mutex };
        }
        if let Status::Suspended(deadline, wait) = self.status(number) {
            self.time = self.time.max(deadline);
            let thread = self.thread_mut(number);
            thread.deadline = None;
            if let Phase::Waiting { condition, mutex, .. } = thread.phase {
                thread.phase = Phase::TimedOut { condition, mutex };
            } else if wait == Wait::Mutex {
                thread.phase = Phase::LockTimedOut;
            }
        }
        self.thread_mut(number).arrived = true;
        self.deliver(number);
        if !self.lazy && matches!(self.status(number), Status::Suspended(..)) {
            // It slept, and has now reached a lock that it can only time out of.
            self.arrive(number);
        }
    }

    /// Returns whether a decision is due before the next event of a thread, given which accesses are points, by their sites and
    /// variables.
    pub fn at_point(&self, number: u32, is_point: impl Fn(u32, u64) -> bool) -> bool {
        let thread = self.thread(number);
        match (thread.phase, self.next_op(number)) {
            (Phase::Running, Some(op)) if op.is_plain_access() => {
                is_point(self.program.site(thread.body, thread.position), self.next(number).object)
            }
            _ => true,
        }
    }

    fn value(&self, number: u32, value: Value) -> i64 {
        let registers = &self.thread(number).registers;
        match value {
            Value::Const(value) => value,
            Value::Reg(register) => registers[register],
            Value::RegPlus(register, value) => registers[register].wrapping_add(value),
        }
    }

    fn set(&mut self, number: u32, register: usize, value: i64) {
        self.thread_mut(number).registers[register] = value;
    }
}

fn address(kind: u64, number: usize) -> u64 {
    kind + number as u64 * 8
}
