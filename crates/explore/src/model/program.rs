//! Programs of the model.

/// A value that an operation uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// A number.
    Const(i64),
    /// A register of the thread.
    Reg(usize),
    /// A register of the thread plus a number.
    RegPlus(usize, i64),
}

/// Registers of a thread.
pub(super) const REGISTERS: usize = 4;

/// One operation of a thread. Shared objects are numbered from 0 per kind; registers belong to the thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Op {
    /// Plain read of a variable into a register.
    Read(usize, usize),
    /// Plain write of a variable.
    Write(usize, Value),
    /// Atomic load of a variable into a register. Atomics are sequentially consistent.
    AtomicRead(usize, usize),
    /// Atomic store.
    AtomicWrite(usize, Value),
    /// Atomic addition; the old value goes to the register.
    AtomicAdd(usize, i64, usize),
    /// Lock a mutex.
    Lock(usize),
    /// Unlock a mutex.
    Unlock(usize),
    /// Lock a mutex if it is free; 1 or 0 goes to the register.
    TryLock(usize, usize),
    /// Lock a mutex within a number of ticks; 1 or 0 goes to the register.
    TimedLock(usize, u64, usize),
    /// Wait on a condition variable (first) with a mutex (second).
    Wait(usize, usize),
    /// Wait for at most a number of ticks; 1 goes to the register on a time-out, else 0.
    TimedWait(usize, usize, u64, usize),
    /// Wake the thread that has waited longest.
    Signal(usize),
    /// Wake all threads that wait.
    Broadcast(usize),
    /// Decrement a semaphore once it is positive. Semaphores start at 0.
    SemWait(usize),
    /// Increment a semaphore.
    SemPost(usize),
    /// Start a thread with this body.
    Create(usize),
    /// Wait for the end of the n-th thread that this thread started.
    Join(usize),
    /// Send the signal to a thread, by its number: the thread runs the handler before anything else.
    Kill(u32),
    /// Yield.
    Yield,
    /// Sleep for a number of ticks.
    Sleep(u64),
    /// Local: set a register.
    Set(usize, Value),
    /// Local: go to this operation if the register has this value. Loops must contain an event.
    JumpIf(usize, i64, usize),
    /// Local: fail unless the register has this value.
    Assert(usize, i64),
    /// Local: crash with this signal.
    Crash(u32),
}

impl Op {
    /// Returns whether it is not an event.
    pub(super) const fn is_local(&self) -> bool {
        matches!(self, Self::Set(..) | Self::JumpIf(..) | Self::Assert(..) | Self::Crash(_))
    }

    /// Returns whether it is a plain access, which is a point only if the executor says so.
    pub(super) const fn is_plain_access(&self) -> bool {
        matches!(self, Self::Read(..) | Self::Write(..))
    }
}

/// The operations of a thread.
pub type Body = Vec<Op>;

/// A program: the bodies of its threads. The first one is `main`, and the program ends with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// The bodies.
    pub bodies: Vec<Body>,
    /// All bodies start together, thread `n` with body `n`. Starting and ending are not events, and the program ends with the
    /// last of them. Papers draw programs this way.
    pub bare: bool,
    /// The body that is not a thread but the handler of the signal: see [`Op::Kill`]. A thread that runs it gets the signal again
    /// only after its end, and one that waits on a condition variable gets it after the wait.
    pub handler: Option<usize>,
}

impl Program {
    /// A program with `main` and further bodies.
    #[must_use]
    pub fn new(bodies: Vec<Body>) -> Self {
        Self { bodies, bare: false, handler: None }
    }

    /// A program whose threads all exist from the start; see [`Program::bare`].
    #[must_use]
    pub fn bare(bodies: Vec<Body>) -> Self {
        Self { bodies, bare: true, handler: None }
    }

    /// `main` starts these bodies, joins them, and continues with `then`.
    #[must_use]
    pub fn fork_join(bodies: Vec<Body>, then: Body) -> Self {
        let mut main: Body = (1..=bodies.len()).map(Op::Create).collect();
        main.extend((0..bodies.len()).map(Op::Join));
        // Jumps of `then` are relative to its own start.
        let start = main.len();
        main.extend(then.into_iter().map(|op| match op {
            Op::JumpIf(register, value, to) => Op::JumpIf(register, value, to + start),
            op => op,
        }));
        Self::new(std::iter::once(main).chain(bodies).collect())
    }

    /// Returns the number of an operation, from 1: the `Record::site` of its accesses.
    #[must_use]
    pub fn site(&self, body: usize, position: usize) -> u32 {
        // Every body has one more place than operations: its end.
        let before: usize = self.bodies[..body].iter().map(|body| body.len() + 1).sum();
        (before + position + 1) as u32
    }

    /// Returns the code address of an operation.
    #[must_use]
    pub fn code(&self, body: usize, position: usize) -> u64 {
        0x1000 + u64::from(self.site(body, position))
    }

    /// Returns the sites of all plain accesses.
    #[must_use]
    pub fn access_sites(&self) -> Vec<u32> {
        let mut sites = Vec::new();
        for (number, body) in self.bodies.iter().enumerate() {
            for (position, op) in body.iter().enumerate() {
                if op.is_plain_access() {
                    sites.push(self.site(number, position));
                }
            }
        }
        sites
    }
}
