//! Random programs.

use super::program::{Body, Op, Program, Value};

/// The size and variety of random programs.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Maximum number of threads besides `main` (at least 2 are made).
    pub threads: usize,
    /// Maximum number of statements per thread. A statement is one to six operations.
    pub statements: usize,
    /// Include yields, sleeps and timed waits.
    pub timing: bool,
    /// Include a signal handler, and threads that send the signal.
    pub signals: bool,
}

impl Program {
    /// Returns the random program with this number.
    #[must_use]
    pub fn random(seed: u64, shape: Shape) -> Self {
        let mut dice = Dice(seed);
        let threads = 2 + dice.roll(shape.threads.max(2) - 1);
        let bodies: Vec<Body> = (0..threads).map(|_| dice.body(shape)).collect();
        let mut then = vec![Op::Read(0, 0)];
        if dice.roll(2) == 0 {
            then.push(Op::Assert(0, dice.roll(3) as i64));
        }
        let mut program = Self::fork_join(bodies, then);
        if dice.roll(4) == 0 {
            // Let `main` do something while the others run.
            let statement = dice.statement(shape.timing, threads);
            program.bodies[0].splice(threads..threads, statement);
        }
        if shape.signals {
            program.add_handler(&mut dice);
        }
        if dice.roll(4) == 0 {
            program.forget_join(&mut dice);
        }
        program
    }

    /// Makes `main` end without joining one of the threads, which then ends with the program, wherever it is.
    fn forget_join(&mut self, dice: &mut Dice) {
        let main = &mut self.bodies[0];
        let joins: Vec<usize> = (0..main.len()).filter(|&at| matches!(main[at], Op::Join(_))).collect();
        let forgotten = joins[dice.roll(joins.len())];
        main.remove(forgotten);
        for op in main {
            if let Op::JumpIf(_, _, to) = op
                && *to > forgotten
            {
                *to -= 1;
            }
        }
    }

    /// Adds a handler, and a few operations anywhere in the threads that send its signal to any of them.
    fn add_handler(&mut self, dice: &mut Dice) {
        let threads = self.bodies.len();
        for _ in 0..1 + dice.roll(2) {
            let from = dice.roll(threads);
            // Only to threads that certainly exist: `main` sends after creating all, others to those created before.
            let to = dice.roll(if from == 0 { threads } else { from + 1 }) as u32;
            let body = &mut self.bodies[from];
            let at = if from == 0 { threads - 1 } else { dice.roll(2) * body.len() };
            body.insert(at, Op::Kill(to));
            let moved = |to: usize| if to > at || to == at && at > 0 { to + 1 } else { to };
            for op in &mut *body {
                if let Op::JumpIf(register, value, to) = *op {
                    *op = Op::JumpIf(register, value, moved(to));
                }
            }
        }
        // A handler that interrupts a thread waiting for a lock must begin with an operation that can complete.
        let begins = Op::AtomicRead(1, 3);
        let mut rest = dice.statement(false, 1);
        // A handler that waits would never be woken.
        while rest.iter().any(|op| matches!(op, Op::Wait(..) | Op::SemWait(_))) {
            rest = dice.statement(false, 1);
        }
        self.handler = Some(self.bodies.len());
        self.bodies.push(std::iter::once(begins).chain(rest).collect());
    }
}

impl Program {
    /// Returns the random program with this number, whose threads also wait for a variable in loops: spinning, yielding, or by
    /// plain reads.
    #[must_use]
    pub fn random_with_loops(seed: u64, shape: Shape) -> Self {
        let mut program = Self::random(seed, shape);
        let mut dice = Dice(!seed);
        let waits = 1 + dice.roll(program.bodies.len() - 1);
        for (number, body) in program.bodies.iter_mut().enumerate().skip(1) {
            if number == waits || dice.roll(4) == 0 {
                let wait = match dice.roll(3) {
                    0 => vec![Op::AtomicRead(1, 3), Op::JumpIf(3, 0, 0)],
                    1 => vec![Op::Yield, Op::AtomicRead(1, 3), Op::JumpIf(3, 0, 0)],
                    _ => vec![Op::Read(1, 3), Op::JumpIf(3, 0, 0)],
                };
                let moved = wait.len();
                let rest = std::mem::replace(body, wait);
                body.extend(rest.into_iter().map(|op| match op {
                    Op::JumpIf(register, value, to) => Op::JumpIf(register, value, to + moved),
                    op => op,
                }));
            } else {
                body.push(Op::AtomicWrite(1, Value::Const(1)));
            }
        }
        program
    }
}

impl Program {
    /// Returns the random program with this number, some of whose threads wait on a condition variable, in a loop or not, for
    /// what the others do and signal.
    #[must_use]
    pub fn random_with_waits(seed: u64, shape: Shape) -> Self {
        let mut program = Self::random(seed, shape);
        let mut dice = Dice(!seed);
        let waits = 1 + dice.roll(program.bodies.len() - 1);
        for (number, body) in program.bodies.iter_mut().enumerate().skip(1) {
            if number == waits || dice.roll(3) == 0 {
                let again = if dice.roll(3) == 0 { Op::Set(3, Value::Const(0)) } else { Op::JumpIf(3, 0, 1) };
                let wait =
                    vec![Op::Lock(0), Op::AtomicRead(1, 3), Op::JumpIf(3, 1, 5), Op::Wait(0, 0), again, Op::Unlock(0)];
                let moved = wait.len();
                let rest = std::mem::replace(body, wait);
                body.extend(rest.into_iter().map(|op| match op {
                    Op::JumpIf(register, value, to) => Op::JumpIf(register, value, to + moved),
                    op => op,
                }));
            } else {
                let wake = if dice.roll(2) == 0 { Op::Signal(0) } else { Op::Broadcast(0) };
                body.extend([Op::Lock(0), Op::AtomicWrite(1, Value::Const(1)), wake, Op::Unlock(0)]);
            }
        }
        program
    }
}

/// A source of small random numbers.
struct Dice(u64);

impl Dice {
    /// Returns a number below `sides`.
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) % sides.max(1) as u64) as usize
    }

    fn body(&mut self, shape: Shape) -> Body {
        let mut body = Body::new();
        for _ in 0..1 + self.roll(shape.statements) {
            let statement = self.statement(shape.timing, body.len());
            body.extend(statement);
        }
        body
    }

    /// Returns a few related operations that start at this position.
    fn statement(&mut self, timing: bool, start: usize) -> Body {
        let variable = self.roll(2);
        let mutex = self.roll(2);
        let plain = match self.roll(4) {
            0 => vec![Op::Read(variable, 0), Op::Write(variable, Value::RegPlus(0, 1))],
            1 => vec![Op::Write(variable, Value::Const(1))],
            2 => vec![Op::Read(variable, 1)],
            _ => vec![Op::AtomicAdd(variable, 1, 1)],
        };
        let locked = |inside: Body| {
            let mut body = vec![Op::Lock(mutex)];
            body.extend(inside);
            body.push(Op::Unlock(mutex));
            body
        };
        match self.roll(if timing { 16 } else { 11 }) {
            0..=2 => plain,
            3 | 4 => locked(plain),
            5 => locked(vec![Op::Lock(1 - mutex), Op::Unlock(1 - mutex)]),
            6 => {
                let mut body = vec![Op::TryLock(mutex, 2), Op::JumpIf(2, 0, start + 4)];
                body.extend([Op::Write(variable, Value::Const(2)), Op::Unlock(mutex)]);
                body
            }
            7 => locked(vec![Op::AtomicRead(1, 3), Op::JumpIf(3, 1, start + 4), Op::Wait(0, mutex)]),
            8 => vec![
                Op::AtomicWrite(1, Value::Const(1)),
                if self.roll(2) == 0 { Op::Signal(0) } else { Op::Broadcast(0) },
            ],
            9 => vec![if self.roll(3) == 0 { Op::SemWait(0) } else { Op::SemPost(0) }],
            10 => vec![Op::Read(variable, 0), Op::JumpIf(0, 0, start + 3), Op::Write(1 - variable, Value::Const(1))],
            11 => vec![Op::Yield],
            12 => vec![Op::Sleep(1 + self.roll(3) as u64)],
            13 => locked(vec![Op::TimedWait(0, mutex, 5, 2)]),
            14 => vec![Op::Yield, Op::Write(variable, Value::Const(3))],
            _ => vec![Op::TimedLock(mutex, 5, 2), Op::JumpIf(2, 0, start + 3), Op::Unlock(mutex)],
        }
    }
}
