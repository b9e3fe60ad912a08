//! Operations: what happens when a thread continues.

use super::{CONDITIONS, MUTEXES, Operation, Phase, SEMAPHORES, SIGNAL, State, VARIABLES, address};
use crate::Outcome;
use crate::model::clocks::Carrier;
use crate::model::program::Op;
use racehunter_log::{
    Access, AccessMode, Address, Attempt, CodeAddress, Event, EventNumber, JoinOutcome, LockMode, Position,
    SemaphoreAttempt, SiteId, ThreadId, WaitEndReason,
};

fn access(mode: AccessMode, variable: usize) -> Event {
    let address = Address(address(VARIABLES, variable));
    Event::Access(Access { mode, address, size: 4, is_excused: false })
}

fn acquire(mutex: usize, attempt: Attempt) -> Event {
    Event::Acquire { lock: Address(address(MUTEXES, mutex)), mode: LockMode::Mutex, attempt }
}

impl State<'_> {
    /// Performs the next event of a thread, which must be possible, and returns it.
    pub fn perform(&mut self, number: u32) -> Operation {
        self.arrive(number);
        self.events += 1;
        // Others may have changed it since the thread came here.
        if let Some(access) = self.next_access(number) {
            let variable = ((access.object() - VARIABLES) / 8) as usize;
            let value = self.variables[variable];
            if let Some(last) = self.thread_mut(number).touched.last_mut() {
                *last = (variable, value);
            }
        }
        let at = self.thread(number);
        let body = at.body;
        let place = at.position;
        let code = self.program.code(body, place);
        let in_handler = at.interrupted.is_some();
        let mut position = Position {
            number: EventNumber(self.events),
            thread: ThreadId(number),
            code: CodeAddress(code),
            ..Position::default()
        };
        let wait_end = |condition: usize, mutex: usize, reason: WaitEndReason| Event::WaitEnd {
            condition: Address(address(CONDITIONS, condition)),
            mutex: Address(address(MUTEXES, mutex)),
            reason,
        };
        let event = match at.phase {
            Phase::Running => {
                let event = self.operate(number);
                if event.access().is_some() {
                    position.site = self.program.site(body, place).checked_sub(1).map(SiteId);
                }
                event
            }
            Phase::Waiting { condition, mutex, ticket } => {
                if let Some(permit) = self.permit(condition, ticket) {
                    self.permits.remove(permit);
                }
                let thread = self.thread_mut(number);
                thread.phase = Phase::Relocking { mutex };
                thread.deadline = None;
                wait_end(condition, mutex, WaitEndReason::Signalled)
            }
            Phase::Woken { condition, mutex } => {
                let now = self.events;
                let thread = self.thread_mut(number);
                thread.phase = Phase::Relocking { mutex };
                thread.woken = Some(now);
                wait_end(condition, mutex, WaitEndReason::Spurious)
            }
            Phase::TimedOut { condition, mutex } => {
                if let Some(Op::TimedWait(.., register)) = self.next_op(number) {
                    self.set(number, *register, 1);
                }
                self.thread_mut(number).phase = Phase::Relocking { mutex };
                wait_end(condition, mutex, WaitEndReason::TimedOut)
            }
            Phase::LockTimedOut => {
                let mut mutex = 0;
                if let Some(Op::TimedLock(timed, _, register)) = self.next_op(number) {
                    mutex = *timed;
                    self.set(number, *register, 0);
                }
                let thread = self.thread_mut(number);
                thread.phase = Phase::Running;
                thread.position += 1;
                acquire(mutex, Attempt::Failed)
            }
            Phase::Relocking { mutex } => {
                self.lock(number, mutex);
                let thread = self.thread_mut(number);
                thread.phase = Phase::Running;
                thread.position += 1;
                acquire(mutex, Attempt::Blocking)
            }
        };
        let operation = Operation { at: position, event };
        if let Event::Access(Access { mode, address, .. }) = event {
            let carrier = Carrier::Object(address.0);
            if mode.is_atomic() {
                self.clocks.acquire(number, carrier);
            }
            self.clocks.access(operation);
            if mode.is_atomic() && mode.writes() {
                self.clocks.release(number, carrier);
            }
        }
        self.in_handler = in_handler;
        self.retrace(number, &operation);
        if self.outcome.is_none() && !self.thread(number).over {
            self.run_local(number);
            // A thread that sends the signal to itself gets it at once; one that waits on a condition variable gets it after the
            // wait.
            self.deliver(number);
            self.look_back(number);
        }
        operation
    }

    fn lock(&mut self, number: u32, mutex: usize) {
        self.owners[mutex] = Some(number);
        self.clocks.acquire(number, Carrier::Object(address(MUTEXES, mutex)));
    }

    fn unlock(&mut self, number: u32, mutex: usize) {
        self.owners[mutex] = None;
        self.clocks.release(number, Carrier::Object(address(MUTEXES, mutex)));
    }

    /// Performs the operation at the thread's position, which is an event, or the end of its body.
    fn operate(&mut self, number: u32) -> Event {
        let Some(op) = self.next_op(number) else {
            self.end(number);
            return Event::Exit;
        };
        let mut moves_on = true;
        let event = match *op {
            Op::Read(variable, register) | Op::AtomicRead(variable, register) => {
                self.set(number, register, self.variables[variable]);
                access(if op.is_plain_access() { AccessMode::Read } else { AccessMode::AtomicRead }, variable)
            }
            Op::Write(variable, value) | Op::AtomicWrite(variable, value) => {
                self.variables[variable] = self.value(number, value);
                access(if op.is_plain_access() { AccessMode::Write } else { AccessMode::AtomicWrite }, variable)
            }
            Op::AtomicAdd(variable, value, register) => {
                self.set(number, register, self.variables[variable]);
                self.variables[variable] = self.variables[variable].wrapping_add(value);
                access(AccessMode::AtomicUpdate, variable)
            }
            Op::Lock(mutex) => {
                self.lock(number, mutex);
                acquire(mutex, Attempt::Blocking)
            }
            Op::Unlock(mutex) => {
                self.unlock(number, mutex);
                Event::Release { lock: Address(address(MUTEXES, mutex)), is_rwlock: false, is_refused: false }
            }
            Op::TryLock(mutex, register) | Op::TimedLock(mutex, _, register) => {
                let free = self.owners[mutex].is_none();
                if free {
                    self.lock(number, mutex);
                }
                self.set(number, register, i64::from(free));
                acquire(mutex, if free { Attempt::Succeeded } else { Attempt::Failed })
            }
            Op::Wait(condition, mutex) | Op::TimedWait(condition, mutex, ..) => {
                let is_repeated = self.waits_again(number);
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
                Event::Wait {
                    condition: Address(address(CONDITIONS, condition)),
                    mutex: Address(address(MUTEXES, mutex)),
                    is_repeated,
                }
            }
            Op::Signal(condition) => {
                if !self.grant(condition) {
                    self.wake(condition);
                }
                Event::Signal { condition: Address(address(CONDITIONS, condition)) }
            }
            Op::Broadcast(condition) => {
                self.permits.retain(|&(on, _)| on != condition);
                while self.wake(condition) {}
                Event::Broadcast { condition: Address(address(CONDITIONS, condition)) }
            }
            Op::SemWait(semaphore) => {
                let object = address(SEMAPHORES, semaphore);
                self.semaphores[semaphore] -= 1;
                self.clocks.acquire(number, Carrier::Object(object));
                Event::SemaphoreWait { semaphore: Address(object), attempt: SemaphoreAttempt::Blocking }
            }
            Op::SemPost(semaphore) => {
                let object = address(SEMAPHORES, semaphore);
                self.semaphores[semaphore] += 1;
                self.clocks.release(number, Carrier::Object(object));
                Event::SemaphorePost { semaphore: Address(object) }
            }
            Op::Create(body) => {
                let child = self.start(body);
                self.thread_mut(number).children.push(child);
                self.clocks.create(number, child);
                self.run_local(child);
                Event::Create { child: ThreadId(child), start: CodeAddress::default(), is_timer: false }
            }
            Op::Join(child) => {
                let child = self.thread(number).children.get(child).copied().unwrap_or(number);
                self.clocks.acquire(number, Carrier::End(child));
                Event::Join { target: ThreadId(child), outcome: JoinOutcome::Joined }
            }
            Op::Kill(to) => {
                if to < self.threads() && !self.thread(to).over {
                    self.clocks.release(number, Carrier::Signal(to));
                    self.thread_mut(to).pending = true;
                }
                Event::Kill { signal: SIGNAL, receiver: Some(ThreadId(to)) }
            }
            Op::Yield => {
                self.thread_mut(number).arrived = !self.lazy;
                Event::Yield
            }
            Op::Sleep(ticks) => {
                let (deadline, arrived) = (self.time + ticks, !self.lazy);
                let thread = self.thread_mut(number);
                thread.deadline = Some(deadline);
                thread.arrived = arrived;
                Event::Sleep
            }
            Op::Set(..) | Op::JumpIf(..) | Op::Assert(..) | Op::Crash(_) => Event::Unknown,
        };
        if moves_on {
            self.thread_mut(number).position += 1;
        }
        event
    }

    fn end(&mut self, number: u32) {
        self.thread_mut(number).over = true;
        self.clocks.release(number, Carrier::End(number));
        let program_over = if self.program.bare { self.threads.iter().all(|thread| thread.over) } else { number == 0 };
        if program_over {
            self.outcome = Some(Outcome::Exited(0));
        }
    }

    /// Performs local operations up to the next event. They belong to the event before them.
    pub(super) fn run_local(&mut self, number: u32) {
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
