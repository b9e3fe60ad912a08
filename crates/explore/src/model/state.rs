//! A program in the middle of an execution: who can do what, and what happens when they do.

use super::clocks::{Carrier, Clocks};
use super::program::{Op, Program, REGISTERS, Value};
use crate::{Kind, Outcome, Record, Wait};
use racehunter_event::{MAIN_PATH, path_of};
use racehunter_walk::Next;

/// Whether a thread can run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    Ready,
    /// By a time-out at this time.
    Suspended(u64, Wait),
    Blocked(Wait),
    Over,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// At the operation that its position says.
    Running,
    /// Inside a wait that is not signalled.
    Waiting { condition: usize, mutex: usize, ticket: u64 },
    /// Inside a wait whose time is over.
    TimedOut { condition: usize, mutex: usize },
    /// Inside a wait that ends without a reason.
    Woken { condition: usize, mutex: usize },
    /// At a lock whose time is over.
    LockTimedOut,
    /// At the end of a wait: about to take the mutex again.
    Relocking { mutex: usize },
}

#[derive(Clone, Debug)]
struct Thread {
    body: usize,
    position: usize,
    registers: [i64; REGISTERS],
    children: Vec<u32>,
    phase: Phase,
    /// Until when it sleeps, or waits at most.
    deadline: Option<u64>,
    /// It has been seen to stand before its next operation; see [`State::lazy`].
    arrived: bool,
    over: bool,
    /// Where it is, or was last.
    code: u64,
    /// The accesses that it has come to since it did anything else, and what it has accessed on the way.
    visits: Vec<Visit>,
    touched: Vec<(usize, i64)>,
    /// Where it began to wait last, and since when it goes on by a spurious wake-up without having done anything but look.
    waited: (usize, [i64; REGISTERS]),
    woken: Option<u64>,
    /// It was sent the signal, and has not run the handler for it.
    pending: bool,
    /// Where it goes on after the handler that it runs.
    interrupted: Option<Interrupted>,
    /// It is where it was before, and goes on when one of these variables has another value.
    awaits: Option<Vec<(usize, i64)>>,
}

/// What a thread was about to do when it was interrupted by a handler.
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
    /// What it has accessed before.
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
    /// Events that have happened.
    pub events: u64,
    pub clocks: Clocks,
    /// How the program ended, once it has.
    pub outcome: Option<Outcome>,
    /// A thread that was just created, yielded or slept counts as able to run until it was seen to stand before an
    /// operation that it cannot perform. The real runtime cannot know better.
    pub lazy: bool,
    /// A thread that goes round in a loop, and changes nothing, is blocked until another one changes what it reads.
    pub spins_are_waits: bool,
    /// Wake-ups are choices: a wait may end without a signal, and a signal may wake any waiter.
    pub chooses_wakeups: bool,
    /// Signals that one of those may take who waited before: condition variables and tickets, the oldest first.
    permits: Vec<(usize, u64)>,
    /// Beginnings and ends of handlers that are not in the log yet.
    pub notes: Vec<Record>,
    /// The last event was one of a handler.
    pub in_handler: bool,
}

const OBJECTS: usize = 16;
const VARIABLES: u64 = 0x10_0000;
const MUTEXES: u64 = 0x20_0000;
const CONDITIONS: u64 = 0x30_0000;
const SEMAPHORES: u64 = 0x40_0000;

impl<'a> State<'a> {
    /// The program before its first event.
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

    /// What the program would write at its end: its variables, and for each thread where it is and its registers.
    pub fn output(&self) -> Vec<u8> {
        let threads: Vec<_> =
            self.threads.iter().map(|thread| (thread.body, thread.position, thread.registers)).collect();
        format!("{:?} {threads:?}", self.variables).into_bytes()
    }

    /// What tells this moment from others: everything that matters for what is ahead.
    pub fn key(&self) -> String {
        let all = self.threads.iter().filter_map(|thread| match thread.phase {
            Phase::Waiting { ticket, .. } => Some(ticket),
            _ => None,
        });
        let mut tickets: Vec<u64> = all.chain(self.permits.iter().map(|&(_, ticket)| ticket)).collect();
        tickets.sort_unstable();
        // Of tickets only the order matters.
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

    /// Threads that exist or existed.
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

    /// Where a thread stands.
    pub fn code(&self, number: u32) -> u64 {
        self.thread(number).code
    }

    /// Whether the next operation of a thread can be completed; else what it waits for.
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

    /// Whether a thread runs the handler before anything else.
    fn takes_signal(&self, number: u32) -> bool {
        let thread = self.thread(number);
        thread.pending && thread.interrupted.is_none() && thread.phase == Phase::Running && !thread.over
    }

    /// A thread is chosen, or has left a handler: if it was sent the signal, it goes on with the handler.
    fn deliver(&mut self, number: u32) {
        if !self.takes_signal(number) {
            return;
        }
        let Some(handler) = self.program.handler else { return };
        let at = self.thread(number);
        let interrupted = Interrupted { body: at.body, position: at.position, registers: at.registers, code: at.code };
        let thread = self.thread_mut(number);
        thread.pending = false;
        thread.interrupted = Some(interrupted);
        (thread.body, thread.position, thread.registers) = (handler, 0, [0; REGISTERS]);
        thread.visits.clear();
        thread.touched.clear();
        (thread.awaits, thread.woken) = (None, None);
        self.clocks.acquire(number, Carrier::Signal(number));
        self.note_handler(number, 0);
        self.run_local(number);
    }

    /// The handler that a thread runs is over.
    fn leave_handler(&mut self, number: u32) {
        let Some(back) = self.thread_mut(number).interrupted.take() else { return };
        let thread = self.thread_mut(number);
        (thread.body, thread.position, thread.registers) = (back.body, back.position, back.registers);
        thread.code = back.code;
        thread.visits.clear();
        thread.touched.clear();
        self.note_handler(number, 1);
        self.deliver(number);
    }

    fn note_handler(&mut self, thread: u32, detail: u8) {
        let (index, kind) = (self.events, Kind::Handler);
        self.notes.push(Record { index, object: SIGNAL, thread, kind, detail, ..Record::default() });
    }

    /// What the scheduler takes a thread for.
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

    /// The access that a thread makes next, if it is one.
    pub fn next_access(&self, number: u32) -> Option<Record> {
        let thread = self.thread(number);
        if thread.phase != Phase::Running {
            return None;
        }
        let (kind, variable) = match self.next_op(number)? {
            Op::Read(variable, _) => (Kind::Read, *variable),
            Op::Write(variable, _) => (Kind::Write, *variable),
            Op::AtomicRead(variable, _) => (Kind::AtomicRead, *variable),
            Op::AtomicWrite(variable, _) => (Kind::AtomicWrite, *variable),
            Op::AtomicAdd(variable, ..) => (Kind::AtomicUpdate, *variable),
            _ => return None,
        };
        Some(Record {
            index: self.events + 1,
            code: self.code(number),
            object: address(VARIABLES, variable),
            thread: number,
            site: self.program.site(thread.body, thread.position),
            kind,
            size: 8,
            ..Record::default()
        })
    }

    /// Identity of a thread that does not depend on the schedule.
    pub fn path(&self, number: u32) -> u64 {
        if self.program.bare {
            // All threads are there from the start, as if `main` had made them.
            return if number == 0 { MAIN_PATH } else { path_of(MAIN_PATH, number) };
        }
        let parent = (0..self.threads()).find_map(|parent| {
            let sibling = self.thread(parent).children.iter().position(|&child| child == number)?;
            Some((parent, sibling as u32 + 1))
        });
        parent.map_or(MAIN_PATH, |(parent, sibling)| path_of(self.path(parent), sibling))
    }

    /// The next operation of a thread, as a walk sees it.
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

    /// The object that a thread waits for and the number + 1 of its owner, for the log.
    pub fn awaited(&self, number: u32) -> (u64, u64) {
        let thread = self.thread(number);
        let mutex =
            |mutex: usize| (address(MUTEXES, mutex), self.owners[mutex].map_or(0, |owner| u64::from(owner) + 1));
        if let Some(&(variable, _)) = thread.awaits.as_ref().and_then(|awaited| awaited.first()) {
            return (address(VARIABLES, variable), 0);
        }
        match (thread.phase, self.next_op(number)) {
            (Phase::Waiting { condition, .. }, _) => (address(CONDITIONS, condition), 0),
            (Phase::Relocking { mutex: held }, _) => mutex(held),
            (Phase::Running, Some(Op::Lock(held) | Op::TimedLock(held, ..))) => mutex(*held),
            (Phase::Running, Some(Op::SemWait(semaphore))) => (address(SEMAPHORES, *semaphore), 0),
            (Phase::Running, Some(Op::Join(child))) => {
                thread.children.get(*child).map_or((0, 0), |&child| (u64::from(child), u64::from(child) + 1))
            }
            (Phase::Running | Phase::TimedOut { .. } | Phase::Woken { .. } | Phase::LockTimedOut, _) => (0, 0),
        }
    }

    /// The thread was chosen: it is seen to stand before its next operation, after a time-out if need be.
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
            // It slept, and now stands before a lock that it can only time out of.
            self.arrive(number);
        }
    }

    /// Whether a decision is due before the next event of a thread, given which accesses are points, by their sites and variables.
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

    /// The next event of a thread happens; it must be possible. Returns its record.
    pub fn perform(&mut self, number: u32) -> Record {
        self.arrive(number);
        self.events += 1;
        // Others may have changed it since the thread came here.
        if let Some(access) = self.next_access(number) {
            let variable = ((access.object - VARIABLES) / 8) as usize;
            let value = self.variables[variable];
            if let Some(last) = self.thread_mut(number).touched.last_mut() {
                *last = (variable, value);
            }
        }
        let at = self.thread(number);
        let (body, position) = (at.body, at.position);
        let code = self.program.code(body, position);
        let in_handler = at.interrupted.is_some();
        let mut record = Record { index: self.events, code, thread: number, ..Record::default() };
        match at.phase {
            Phase::Running => self.operate(number, &mut record),
            Phase::Waiting { condition, mutex, ticket } => {
                record.kind = Kind::WaitEnd;
                (record.object, record.extra) = (address(CONDITIONS, condition), address(MUTEXES, mutex));
                if let Some(permit) = self.permit(condition, ticket) {
                    self.permits.remove(permit);
                }
                let thread = self.thread_mut(number);
                thread.phase = Phase::Relocking { mutex };
                thread.deadline = None;
            }
            Phase::Woken { condition, mutex } => {
                (record.kind, record.detail) = (Kind::WaitEnd, 2);
                (record.object, record.extra) = (address(CONDITIONS, condition), address(MUTEXES, mutex));
                let now = self.events;
                let thread = self.thread_mut(number);
                (thread.phase, thread.woken) = (Phase::Relocking { mutex }, Some(now));
            }
            Phase::TimedOut { condition, mutex } => {
                (record.kind, record.detail) = (Kind::WaitEnd, 1);
                (record.object, record.extra) = (address(CONDITIONS, condition), address(MUTEXES, mutex));
                if let Some(Op::TimedWait(.., register)) = self.next_op(number) {
                    self.set(number, *register, 1);
                }
                self.thread_mut(number).phase = Phase::Relocking { mutex };
            }
            Phase::LockTimedOut => {
                record.kind = Kind::TryLock;
                if let Some(Op::TimedLock(mutex, _, register)) = self.next_op(number) {
                    record.object = address(MUTEXES, *mutex);
                    self.set(number, *register, 0);
                }
                let thread = self.thread_mut(number);
                thread.phase = Phase::Running;
                thread.position += 1;
            }
            Phase::Relocking { mutex } => {
                (record.kind, record.object, record.detail) = (Kind::Lock, address(MUTEXES, mutex), 1);
                self.lock(number, mutex);
                let thread = self.thread_mut(number);
                thread.phase = Phase::Running;
                thread.position += 1;
            }
        }
        if record.kind.is_atomic() {
            self.clocks.acquire(number, Carrier::Object(record.object));
        }
        if record.kind.is_access() {
            self.clocks.access(record);
        }
        if record.kind.is_atomic() && record.kind.is_write() {
            self.clocks.release(number, Carrier::Object(record.object));
        }
        self.in_handler = in_handler;
        self.retrace(number, &record);
        if self.outcome.is_none() && !self.thread(number).over {
            self.run_local(number);
            // Who sends the signal to itself gets it at once, and who has waited for a condition variable after that.
            self.deliver(number);
            self.look_back(number);
        }
        record
    }

    fn has_still(&self, values: &[(usize, i64)]) -> bool {
        values.iter().all(|&(variable, value)| self.variables[variable] == value)
    }

    /// Whether all threads that are not over are blocked, and some of them in loops.
    pub fn spins_for_ever(&self) -> bool {
        (0..self.threads()).any(|thread| self.status(thread) == Status::Blocked(Wait::Change))
    }

    /// Which signal a waiter may take.
    fn permit(&self, condition: usize, ticket: u64) -> Option<usize> {
        self.permits.iter().position(|&(on, after)| on == condition && after > ticket)
    }

    /// Whether a thread waits on a condition variable, and may stop without a reason.
    pub fn may_wake(&self, number: u32) -> bool {
        self.chooses_wakeups && self.status(number) == Status::Blocked(Wait::Condition)
    }

    /// A signal for one of those who wait, if there is more than one who could take it.
    fn grant(&mut self, condition: usize) -> bool {
        let tickets: Vec<u64> = self
            .threads
            .iter()
            .filter_map(|thread| match thread.phase {
                Phase::Waiting { condition: on, ticket, .. } if on == condition => Some(ticket),
                _ => None,
            })
            .collect();
        let Some(&first) = tickets.iter().min() else { return false };
        let granted = self.permits.iter().filter(|&&(on, after)| on == condition && after > first).count();
        if !self.chooses_wakeups || tickets.len() == 1 && granted == 0 {
            return false;
        }
        if tickets.len() > granted {
            self.tickets += 1;
            self.permits.push((condition, self.tickets));
        }
        true
    }

    /// Whether a thread waits again as if it had not been woken up: it was, without a reason, and nobody has done anything since
    /// but this thread, which has only looked.
    fn waits_again(&mut self, number: u32) -> bool {
        let thread = self.thread(number);
        let (place, woken) = ((thread.position, thread.registers), thread.woken);
        let again = woken.is_some_and(|woken| woken + 1 == self.events) && thread.waited == place;
        let thread = self.thread_mut(number);
        (thread.waited, thread.woken) = (place, None);
        again
    }

    /// Takes note of what a thread has just done.
    fn retrace(&mut self, number: u32, record: &Record) {
        let looks = matches!(record.kind, Kind::Lock | Kind::Read | Kind::AtomicRead);
        let thread = self.thread_mut(number);
        if record.kind != Kind::WaitEnd {
            // One event after the other.
            thread.woken = thread.woken.filter(|woken| looks && woken + 1 == record.index).map(|woken| woken + 1);
        }
        self.thread_mut(number).awaits = None;
        if !record.kind.is_access() && !matches!(record.kind, Kind::Yield | Kind::Sleep) {
            let thread = self.thread_mut(number);
            thread.visits.clear();
            thread.touched.clear();
        }
    }

    /// Whether a thread is about to make an access that it was about to make before, in the same state.
    fn look_back(&mut self, number: u32) {
        let Some(access) = self.next_access(number).filter(|_| self.spins_are_waits) else { return };
        let thread = self.thread(number);
        let (position, registers) = (thread.position, thread.registers);
        let is_here = |visit: &&Visit| visit.position == position && visit.registers == registers;
        if let Some(visit) = thread.visits.iter().rev().find(is_here) {
            // What was there before the first access since.
            let mut awaited: Vec<(usize, i64)> = Vec::new();
            for &(variable, value) in &thread.touched[visit.touched..] {
                if awaited.iter().all(|&(known, _)| known != variable) {
                    awaited.push((variable, value));
                }
            }
            if self.has_still(&awaited) {
                self.thread_mut(number).awaits = Some(awaited);
            }
        }
        let variable = ((access.object - VARIABLES) / 8) as usize;
        let value = self.variables[variable];
        let thread = self.thread_mut(number);
        let touched = thread.touched.len();
        thread.visits.push(Visit { position, registers, touched });
        thread.touched.push((variable, value));
    }

    fn lock(&mut self, number: u32, mutex: usize) {
        self.owners[mutex] = Some(number);
        self.clocks.acquire(number, Carrier::Object(address(MUTEXES, mutex)));
    }

    fn unlock(&mut self, number: u32, mutex: usize) {
        self.owners[mutex] = None;
        self.clocks.release(number, Carrier::Object(address(MUTEXES, mutex)));
    }

    /// The operation at the thread's position, which is an event, or the end of its body.
    fn operate(&mut self, number: u32, record: &mut Record) {
        let Some(op) = self.next_op(number) else {
            record.kind = Kind::Exit;
            self.end(number);
            return;
        };
        let (body, position) = (self.thread(number).body, self.thread(number).position);
        let mut moves_on = true;
        match *op {
            Op::Read(variable, register) | Op::AtomicRead(variable, register) => {
                record.kind = if op.is_plain_access() { Kind::Read } else { Kind::AtomicRead };
                record.object = address(VARIABLES, variable);
                self.set(number, register, self.variables[variable]);
            }
            Op::Write(variable, value) | Op::AtomicWrite(variable, value) => {
                record.kind = if op.is_plain_access() { Kind::Write } else { Kind::AtomicWrite };
                record.object = address(VARIABLES, variable);
                self.variables[variable] = self.value(number, value);
            }
            Op::AtomicAdd(variable, value, register) => {
                (record.kind, record.object) = (Kind::AtomicUpdate, address(VARIABLES, variable));
                self.set(number, register, self.variables[variable]);
                self.variables[variable] = self.variables[variable].wrapping_add(value);
            }
            Op::Lock(mutex) => {
                (record.kind, record.object, record.detail) = (Kind::Lock, address(MUTEXES, mutex), 1);
                self.lock(number, mutex);
            }
            Op::Unlock(mutex) => {
                (record.kind, record.object) = (Kind::Unlock, address(MUTEXES, mutex));
                self.unlock(number, mutex);
            }
            Op::TryLock(mutex, register) | Op::TimedLock(mutex, _, register) => {
                let free = self.owners[mutex].is_none();
                (record.kind, record.object, record.detail) = (Kind::TryLock, address(MUTEXES, mutex), u8::from(free));
                if free {
                    self.lock(number, mutex);
                }
                self.set(number, register, i64::from(free));
            }
            Op::Wait(condition, mutex) | Op::TimedWait(condition, mutex, ..) => {
                record.kind = Kind::Wait;
                record.detail = u8::from(self.waits_again(number));
                (record.object, record.extra) = (address(CONDITIONS, condition), address(MUTEXES, mutex));
                self.unlock(number, mutex);
                self.tickets += 1;
                let ticket = self.tickets;
                let deadline = if let Op::TimedWait(_, _, ticks, register) = *op {
                    self.set(number, register, 0);
                    Some(self.time + ticks)
                } else {
                    None
                };
                let thread = self.thread_mut(number);
                thread.phase = Phase::Waiting { condition, mutex, ticket };
                thread.deadline = deadline;
                moves_on = false;
            }
            Op::Signal(condition) => {
                (record.kind, record.object) = (Kind::Signal, address(CONDITIONS, condition));
                if !self.grant(condition) {
                    self.wake(condition);
                }
            }
            Op::Broadcast(condition) => {
                (record.kind, record.object) = (Kind::Broadcast, address(CONDITIONS, condition));
                self.permits.retain(|&(on, _)| on != condition);
                while self.wake(condition) {}
            }
            Op::SemWait(semaphore) => {
                (record.kind, record.object) = (Kind::SemWait, address(SEMAPHORES, semaphore));
                self.semaphores[semaphore] -= 1;
                self.clocks.acquire(number, Carrier::Object(record.object));
            }
            Op::SemPost(semaphore) => {
                (record.kind, record.object) = (Kind::SemPost, address(SEMAPHORES, semaphore));
                self.semaphores[semaphore] += 1;
                self.clocks.release(number, Carrier::Object(record.object));
            }
            Op::Create(body) => {
                let child = self.start(body);
                (record.kind, record.object) = (Kind::Create, u64::from(child));
                self.thread_mut(number).children.push(child);
                self.clocks.create(number, child);
                self.run_local(child);
            }
            Op::Join(child) => {
                let child = self.thread(number).children.get(child).copied().unwrap_or(number);
                (record.kind, record.object) = (Kind::Join, u64::from(child));
                self.clocks.acquire(number, Carrier::End(child));
            }
            Op::Kill(to) => {
                (record.kind, record.object, record.extra) = (Kind::Kill, SIGNAL, u64::from(to) + 1);
                if to < self.threads() && !self.thread(to).over {
                    self.clocks.release(number, Carrier::Signal(to));
                    self.thread_mut(to).pending = true;
                }
            }
            Op::Yield => {
                record.kind = Kind::Yield;
                self.thread_mut(number).arrived = !self.lazy;
            }
            Op::Sleep(ticks) => {
                record.kind = Kind::Sleep;
                let (deadline, arrived) = (self.time + ticks, !self.lazy);
                let thread = self.thread_mut(number);
                thread.deadline = Some(deadline);
                thread.arrived = arrived;
            }
            Op::Set(..) | Op::JumpIf(..) | Op::Assert(..) | Op::Crash(_) => {}
        }
        if record.kind.is_access() {
            record.size = 4;
            record.site = self.program.site(body, position);
        }
        if moves_on {
            self.thread_mut(number).position += 1;
        }
    }

    /// Wakes the thread that has waited longest on a condition variable, if there is one.
    fn wake(&mut self, condition: usize) -> bool {
        let waiting = |thread: &&mut Thread| match thread.phase {
            Phase::Waiting { condition: on, ticket, .. } if on == condition => Some(ticket),
            _ => None,
        };
        let longest = self.threads.iter_mut().filter(|thread| waiting(thread).is_some()).min_by_key(waiting);
        let Some(thread) = longest else { return false };
        if let Phase::Waiting { mutex, .. } = thread.phase {
            thread.phase = Phase::Relocking { mutex };
            thread.deadline = None;
        }
        true
    }

    fn end(&mut self, number: u32) {
        self.thread_mut(number).over = true;
        self.clocks.release(number, Carrier::End(number));
        let program_over = if self.program.bare { self.threads.iter().all(|thread| thread.over) } else { number == 0 };
        if program_over {
            self.outcome = Some(Outcome::Exited(0));
        }
    }

    /// Local operations up to the next event. They happen together with the event before them.
    fn run_local(&mut self, number: u32) {
        while let Some(op) = self.next_op(number).filter(|op| op.is_local()) {
            let thread = self.thread(number);
            let (body, position) = (thread.body, thread.position);
            let mut next = position + 1;
            match *op {
                Op::Set(register, value) => {
                    let value = self.value(number, value);
                    self.set(number, register, value);
                }
                Op::JumpIf(register, value, to) if thread.registers[register] == value => next = to,
                Op::Assert(register, value) if thread.registers[register] != value => {
                    self.outcome = Some(Outcome::Asserted {
                        message: format!("r{register} == {value}"),
                        file: "model".to_owned(),
                        line: self.program.site(body, position),
                    });
                }
                Op::Crash(signal) => self.outcome = Some(Outcome::Crashed { signal, fault: 0 }),
                _ => {}
            }
            if self.outcome.is_some() {
                break;
            }
            self.thread_mut(number).position = next;
        }
        let thread = self.thread(number);
        let code = self.program.code(thread.body, thread.position);
        self.thread_mut(number).code = code;
        if self.outcome.is_none() && self.next_op(number).is_none() && self.thread(number).interrupted.is_some() {
            self.leave_handler(number);
        }
        if self.program.bare && self.next_op(number).is_none() && !self.thread(number).over {
            self.end(number);
        }
    }
}

fn address(kind: u64, number: usize) -> u64 {
    kind + number as u64 * 8
}
