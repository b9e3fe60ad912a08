//! Random tiny programs. Most follow a discipline for each variable, so that many have no race, and break it here and
//! there, so that programs with and without a race look alike.

mod endings;
mod flags;
mod gates;

use crate::publication::publication;
use crate::random::flags::TESTS;
use crate::source::{Address, Given, Lock, Number, Object, Source, Statement, VALUE};

/// Random numbers from a seed.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        let mut random = Self(seed.wrapping_mul(2).wrapping_add(0x9e37_79b9_7f4a_7c15) | 1);
        for _ in 0..8 {
            random.next();
        }
        random
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11
    }

    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    pub fn one_in(&mut self, number: usize) -> bool {
        self.below(number) == 0
    }
}

/// What threads of a function are given.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Argument {
    Nothing,
    Number,
    Element,
    Node,
    Block,
}

/// How a variable is protected.
#[derive(Clone, Copy)]
enum Discipline {
    Locked(Lock),
    ReadWrite,
    Updated,
    ReadOnly,
}

struct Generator<'r> {
    random: &'r mut Random,
    disciplines: [Discipline; 3],
    /// One access in this many breaks the discipline.
    careless: usize,
}

const FIRST: Lock = Lock::Mutex(Address::Variable(Object::First, 0));
const SECOND: Lock = Lock::Mutex(Address::Variable(Object::Second, 0));
/// Functions: `main`, two thread entries, and one that others call.
const HELPER: usize = 3;

/// The seeds that leave this remainder lead to programs with exceptions, and with functions for the end of the program.
pub const ENDINGS: u64 = 9;
/// The number of remainders.
pub const KINDS: u64 = 12;

/// Returns a random program.
pub fn program(seed: u64) -> Source {
    let mut random = Random::new(seed);
    match seed % KINDS {
        3 | 7 | 11 => return publication(&mut random),
        5 => return flags::program(&mut random),
        ENDINGS => return endings::program(&mut random),
        _ => {}
    }
    let mut discipline = || match random.below(6) {
        0 | 1 => Discipline::Locked(FIRST),
        2 => Discipline::Locked(if random.one_in(2) { SECOND } else { Lock::Atomic }),
        3 => Discipline::ReadWrite,
        4 => Discipline::Updated,
        _ => Discipline::ReadOnly,
    };
    let disciplines = [discipline(), discipline(), discipline()];
    let careless = [2, 4, 10][random.below(3)];
    Generator { random: &mut random, disciplines, careless }.program()
}

impl Generator<'_> {
    fn program(&mut self) -> Source {
        let kind = |generator: &mut Self| {
            [Argument::Nothing, Argument::Number, Argument::Element, Argument::Node, Argument::Block]
                [generator.random.below(5)]
        };
        let arguments = [kind(self), kind(self)];
        let mut bodies = arguments.map(|argument| {
            let mut body = Vec::new();
            for _ in 0..1 + self.random.below(2) {
                self.action(argument, &mut body);
            }
            body
        });
        // A thread that creates a thread.
        if self.random.one_in(5) {
            let given = self.given(arguments[1], Number::Constant(0), &mut bodies[0]);
            bodies[0].push(Statement::Create(Number::Constant(0), 2, given));
            if self.random.one_in(2) {
                self.action(arguments[0], &mut bodies[0]);
            }
            if !self.random.one_in(3) {
                bodies[0].push(Statement::Join(Number::Constant(0)));
            }
        }
        let mut main = self.main(arguments);
        let helper = self.helper();
        if self.random.one_in(4) {
            self.gate(&mut main, &mut bodies);
        }
        let [one, other] = bodies;
        Source { functions: vec![main, one, other, helper] }
    }

    fn main(&mut self, arguments: [Argument; 2]) -> Vec<Statement> {
        let mut body = Vec::new();
        if self.random.one_in(2) {
            self.plain(&mut body);
        }
        if self.random.one_in(4) {
            body.extend([Statement::Point(Address::Variable(Object::Y, 0)), Statement::Publish]);
        }
        let waits = !self.random.one_in(5);
        if self.random.one_in(2) {
            // A thread group, and a loop that joins it.
            let number = Number::Register(2);
            let mut inside = Vec::new();
            let given = self.given(arguments[0], number, &mut inside);
            let handle = if self.random.one_in(12) { Number::Constant(0) } else { number };
            inside.push(Statement::Create(handle, 1, given));
            match self.random.below(8) {
                0 => self.action(Argument::Nothing, &mut inside),
                1 => inside.extend(self.access(Address::Element(number))),
                2 => {
                    let access = self.access(Address::Element(number));
                    inside.splice(0..0, access);
                }
                _ => {}
            }
            body.push(match self.random.below(12) {
                // Three threads, and one-bit numbers; or a loop that is entered in its middle.
                0 => {
                    let inside = inside.iter().map(narrowed).collect();
                    Statement::Repeat(2, 3, inside)
                }
                1 => Statement::Tangle(2, 2, inside, Vec::new()),
                2 => Statement::Tangle(1, 2, vec![Statement::Repeat(2, 1, inside)], Vec::new()),
                3 => Statement::Repeat(2, 1, vec![Statement::Tangle(1, 2, Vec::new(), inside)]),
                _ => Statement::Repeat(2, 2, inside),
            });
            if self.random.one_in(2) {
                self.action(Argument::Nothing, &mut body);
            }
            if waits {
                let times = if self.random.one_in(8) { 1 } else { 2 };
                body.push(Statement::Repeat(1, times, vec![Statement::Join(Number::Register(1))]));
            }
        } else {
            let both = self.random.one_in(2);
            let second = 1 + self.random.below(2);
            for (index, function) in [1, second].into_iter().enumerate().take(1 + usize::from(both)) {
                let number = Number::Constant(index as i64);
                let given = self.given(arguments[function - 1], number, &mut body);
                body.push(Statement::Create(number, function, given));
                // One after the other.
                if index == 0 && self.random.one_in(6) {
                    body.push(Statement::Join(number));
                }
            }
            if self.random.one_in(2) {
                self.action(Argument::Nothing, &mut body);
            }
            let joined = body.iter().any(|statement| matches!(statement, Statement::Join(_)));
            for index in i64::from(joined)..1 + i64::from(both) {
                if waits || self.random.one_in(2) {
                    body.push(Statement::Join(Number::Constant(index)));
                }
            }
        }
        if self.random.one_in(2) {
            self.plain(&mut body);
        }
        body
    }

    /// Returns what a thread is given, after the statements that prepare it.
    fn given(&mut self, argument: Argument, number: Number, body: &mut Vec<Statement>) -> Given {
        // Now and then all threads get the same.
        let number = if self.random.one_in(8) { Number::Constant(0) } else { number };
        match argument {
            Argument::Nothing => Given::Null,
            Argument::Number => Given::Number(number),
            Argument::Element => Given::Address(Address::Element(number)),
            Argument::Node => Given::Address(Address::Node(number, 0)),
            Argument::Block => {
                body.push(Statement::Allocate);
                if self.random.one_in(2) {
                    body.push(Statement::Write(Address::Pointer(0), Number::Constant(1)));
                }
                Given::Address(Address::Pointer(0))
            }
        }
    }

    /// Writes accesses where no other thread should be.
    fn plain(&mut self, body: &mut Vec<Statement>) {
        let variable = self.variable().0;
        body.push(match self.random.below(3) {
            0 => Statement::Write(variable, Number::Constant(1)),
            1 => Statement::Read(0, variable),
            _ => Statement::Write(Address::Element(Number::Constant(self.random.below(3) as i64)), Number::Constant(1)),
        });
    }

    /// Returns a number for an element or a lock.
    fn index(&mut self, argument: Argument) -> Number {
        match self.random.below(3) {
            0 if argument == Argument::Number => Number::Argument,
            0 | 1 => Number::Constant(self.random.below(2) as i64),
            _ => Number::Register(1),
        }
    }

    fn variable(&mut self) -> (Address, Discipline) {
        match self.random.below(3) {
            0 => (Address::Variable(Object::X, 0), self.disciplines[0]),
            1 => (Address::Variable(Object::Y, 0), self.disciplines[1]),
            _ => (Address::Variable(Object::Array, 16), self.disciplines[2]),
        }
    }

    fn access(&mut self, address: Address) -> Vec<Statement> {
        match self.random.below(4) {
            0 => vec![Statement::Read(0, address)],
            1 => vec![Statement::Read(0, address), Statement::Write(address, Number::Register(0))],
            _ => vec![Statement::Write(address, Number::Constant(self.random.below(2) as i64))],
        }
    }

    /// Writes accesses that mostly follow the discipline.
    fn disciplined(&mut self, body: &mut Vec<Statement>) {
        let (address, discipline) = self.variable();
        if self.random.one_in(self.careless) {
            let access = self.access(address);
            body.extend(access);
            return;
        }
        match discipline {
            Discipline::Locked(lock) => {
                let access = self.access(address);
                body.push(Statement::Lock(lock));
                body.extend(access);
                body.push(Statement::Unlock(lock));
            }
            Discipline::ReadWrite if self.random.one_in(2) => {
                // A thread that reads should not write.
                let access =
                    if self.random.one_in(4) { self.access(address) } else { vec![Statement::Read(0, address)] };
                body.push(Statement::Lock(Lock::Read));
                body.extend(access);
                body.push(Statement::Unlock(Lock::Read));
            }
            Discipline::ReadWrite => {
                let access = self.access(address);
                body.push(Statement::Lock(Lock::Write));
                body.extend(access);
                body.push(Statement::Unlock(Lock::Write));
            }
            Discipline::Updated => body.push(Statement::Increment(address)),
            Discipline::ReadOnly => body.push(Statement::Read(0, address)),
        }
    }

    /// Writes an action of a thread.
    fn action(&mut self, argument: Argument, body: &mut Vec<Statement>) {
        if argument != Argument::Nothing && !self.random.one_in(3) {
            return self.with_argument(argument, body);
        }
        let locked = |mut inside: Vec<Statement>, lock: Lock| {
            inside.insert(0, Statement::Lock(lock));
            inside.push(Statement::Unlock(lock));
            inside
        };
        match self.random.below(24) {
            // A private lock: on the stack, of the thread, just allocated, or the one that the thread was given.
            15 | 16 => {
                let lock = match self.random.below(5) {
                    0 => Address::Stack(0),
                    1 => Address::Variable(Object::Own, 0),
                    2 => {
                        body.push(Statement::Allocate);
                        Address::Pointer(0)
                    }
                    3 if argument == Argument::Node => Address::Argument(0),
                    _ => Address::LockOf(self.index(argument)),
                };
                let address = match self.random.below(4) {
                    0 => Address::Stack(VALUE),
                    1 => Address::Variable(Object::Own, VALUE),
                    2 => self.variable().0,
                    _ => Address::Element(self.index(argument)),
                };
                let access = self.access(address);
                body.extend(locked(access, Lock::Mutex(lock)));
            }
            // A lock by an index, and usually an element by the same index.
            17 | 18 => {
                body.push(Statement::Set(1, if self.random.one_in(2) { Number::Input } else { self.index(argument) }));
                let number = Number::Register(1);
                let element = if self.random.one_in(5) { self.index(argument) } else { number };
                let mut inside = self.access(Address::Element(element));
                if self.random.one_in(6) {
                    inside.insert(0, Statement::Set(1, self.index(argument)));
                }
                body.push(Statement::Lock(Lock::Mutex(Address::LockOf(number))));
                body.extend(inside);
                body.push(Statement::Unlock(Lock::Mutex(Address::LockOf(number))));
            }
            // A pointer passes through a pipe.
            19 if self.random.one_in(2) => {
                let target = match self.random.below(3) {
                    0 => Address::Variable(Object::First, 0),
                    1 => Address::Variable(Object::X, 0),
                    _ => Address::Element(Number::Constant(1)),
                };
                body.extend([Statement::Point(target), Statement::Send]);
            }
            19 => {
                let received = if self.random.one_in(2) { Statement::Receive } else { Statement::ReceiveNumber };
                if self.random.one_in(2) {
                    body.push(Statement::Lock(FIRST));
                    body.push(received);
                    body.push(Statement::Unlock(Lock::Mutex(Address::Pointer(0))));
                    let access = self.access(Address::Variable(Object::X, 0));
                    body.extend(access);
                } else {
                    body.push(received);
                    let access = self.access(Address::Pointer(0));
                    body.extend(access);
                }
            }
            // A value that was known under a lock, before and after a wait that may end spuriously.
            20 => {
                let flag = Address::Variable(Object::Y, 0);
                let access = self.access(Address::Variable(Object::X, 0));
                let mut inside = vec![Statement::Read(1, flag), Statement::Await(Address::Variable(Object::First, 0))];
                if self.random.one_in(2) {
                    inside.push(Statement::Read(1, flag));
                }
                inside.push(Statement::If(Number::Register(1), 1, access.clone(), Vec::new()));
                body.extend(locked(inside, FIRST));
                if self.random.one_in(3) {
                    body.extend(access);
                }
            }
            // Numbers from a counter that may wrap around.
            21 => {
                body.push(if self.random.one_in(2) {
                    Statement::NarrowTicket(1)
                } else {
                    Statement::Ticket(1, Address::Variable(Object::Y, 0))
                });
                let access = self.access(Address::Element(Number::Register(1)));
                body.push(Statement::Below(Number::Register(1), Number::Constant(4), access, Vec::new()));
            }
            // A lock that is taken in one half of a loop with two entries, and released in the other.
            22 => {
                let mut inside = Vec::new();
                self.disciplined(&mut inside);
                let mut other = Vec::new();
                if self.random.one_in(2) {
                    self.disciplined(&mut other);
                }
                body.push(Statement::Tangle(1, 2, inside, other));
            }
            // Locked if an input says so, and accessed if it is locked.
            0 => {
                let (address, _) = self.variable();
                let locked = Number::Register(1);
                let lock = vec![Statement::Lock(FIRST), Statement::Set(1, Number::Constant(1))];
                let when = i64::from(!self.random.one_in(6));
                let access = self.access(address);
                body.push(Statement::Set(1, Number::Constant(0)));
                body.push(Statement::If(Number::Input, 0, lock, Vec::new()));
                body.push(Statement::If(locked, when, access, Vec::new()));
                body.push(Statement::If(locked, 1, vec![Statement::Unlock(FIRST)], Vec::new()));
            }
            1 => {
                let mut inside = self.access(Address::Variable(Object::X, 0));
                inside.push(Statement::Unlock(FIRST));
                let first = Address::Variable(Object::First, 0);
                if self.random.one_in(3) {
                    let otherwise =
                        if self.random.one_in(3) { self.access(Address::Variable(Object::X, 0)) } else { Vec::new() };
                    body.push(Statement::Ask(first, inside, otherwise));
                } else {
                    let test = TESTS[self.random.below(TESTS.len())];
                    body.push(Statement::Try(first, test, inside));
                }
            }
            // A flag under a lock.
            2 => {
                let flag = Address::Variable(Object::Y, 0);
                if self.random.one_in(2) {
                    let access = self.access(Address::Variable(Object::X, 0));
                    body.extend(access);
                    body.extend(locked(vec![Statement::Write(flag, Number::Constant(1))], FIRST));
                } else {
                    body.extend(locked(vec![Statement::Read(1, flag)], FIRST));
                    let access = self.access(Address::Variable(Object::X, 0));
                    body.push(Statement::If(Number::Register(1), 1, access, Vec::new()));
                }
            }
            // Memory that is allocated here, and published.
            3 => {
                body.push(Statement::Allocate);
                body.push(Statement::Write(Address::Pointer(8), Number::Constant(1)));
                if self.random.one_in(2) {
                    body.extend(locked(vec![Statement::Publish], FIRST));
                    if self.random.one_in(3) {
                        body.push(Statement::Write(Address::Pointer(8), Number::Constant(0)));
                    }
                } else if self.random.one_in(2) {
                    body.push(Statement::Free);
                }
            }
            // Memory that some thread has published.
            4 => {
                let mut inside = vec![Statement::Load];
                let access = self.access(Address::Pointer(0));
                if self.random.one_in(3) {
                    body.extend(locked(inside, FIRST));
                    body.push(Statement::IfPointer(access));
                } else {
                    inside.push(Statement::IfPointer(access));
                    body.extend(locked(inside, FIRST));
                }
            }
            5 => {
                let given = if self.random.one_in(2) {
                    Given::Address(Address::Variable(Object::X, 0))
                } else {
                    Given::Address(Address::Element(Number::Constant(self.random.below(3) as i64)))
                };
                body.push(Statement::Call(HELPER, given));
            }
            6 => {
                let mut inside = Vec::new();
                self.disciplined(&mut inside);
                body.push(Statement::Repeat(1, 2, inside));
            }
            7 => {
                let number = Number::Constant(self.random.below(2) as i64);
                let access = self.access(Address::Node(number, VALUE));
                body.extend(locked(access, Lock::Mutex(Address::Node(number, 0))));
            }
            8 if self.random.one_in(2) => {
                let access = self.access(Address::Variable(Object::X, 0));
                body.extend(access);
                body.push(Statement::Post);
            }
            8 => {
                body.push(Statement::Wait);
                let access = self.access(Address::Variable(Object::X, 0));
                body.extend(access);
            }
            // Some elements, by constants or by a bound in memory.
            9 => {
                let begin = Number::Constant(self.random.below(3) as i64);
                let end = if self.random.one_in(2) {
                    body.push(Statement::Read(2, Address::Variable(Object::Y, 0)));
                    Number::Register(2)
                } else {
                    Number::Constant(2 + self.random.below(3) as i64)
                };
                let inside = self.access(Address::Element(Number::Register(1)));
                body.push(Statement::Range(1, begin, end, inside));
            }
            // An element on one side of a bound.
            10 => {
                body.push(Statement::Set(1, Number::Input));
                let bound = Number::Constant(self.random.below(3) as i64);
                let access = self.access(Address::Element(Number::Register(1)));
                let (yes, no) = if self.random.one_in(2) { (access, Vec::new()) } else { (Vec::new(), access) };
                body.push(Statement::Below(Number::Register(1), bound, yes, no));
            }
            // Count one more finished thread.
            11 if self.random.one_in(2) => {
                let access = self.access(Address::Variable(Object::X, 0));
                body.extend(access);
                let adds = vec![Statement::Increment(Address::Variable(Object::Y, 0))];
                body.extend(if self.random.one_in(4) { adds } else { locked(adds, FIRST) });
            }
            // Wait until this many threads have finished.
            11 => {
                let most = Number::Constant(1 + self.random.below(3) as i64);
                let access = self.access(Address::Variable(Object::X, 0));
                let below = Statement::Below(Number::Register(1), most, Vec::new(), access);
                body.extend(locked(vec![Statement::Read(1, Address::Variable(Object::Y, 0)), below], FIRST));
            }
            _ => self.disciplined(body),
        }
    }

    fn with_argument(&mut self, argument: Argument, body: &mut Vec<Statement>) {
        match argument {
            Argument::Nothing => {}
            // A share of the array, usually the thread's own.
            Argument::Number if self.random.one_in(2) => {
                let begin = Number::Twice(0);
                let end = Number::Twice(if self.random.one_in(4) { 3 } else { 2 });
                let inside = self.access(Address::Element(Number::Register(1)));
                let inside = if self.random.one_in(4) {
                    vec![Statement::Below(Number::Register(1), Number::Constant(4), inside, Vec::new())]
                } else {
                    inside
                };
                body.push(Statement::Range(1, begin, end, inside));
            }
            Argument::Number => {
                let access = self.access(Address::Element(Number::Argument));
                body.extend(access);
                if self.random.one_in(4) {
                    let access = self.access(Address::Element(Number::Next));
                    body.extend(access);
                }
            }
            Argument::Element | Argument::Block => {
                let access = self.access(Address::Argument(0));
                body.extend(access);
                if argument == Argument::Block && self.random.one_in(4) {
                    body.extend([Statement::Point(Address::Argument(0)), Statement::Free]);
                }
            }
            Argument::Node => {
                let access = self.access(Address::Argument(VALUE));
                let is_careless = self.random.one_in(self.careless);
                if !is_careless {
                    body.push(Statement::Lock(Lock::Mutex(Address::Argument(0))));
                }
                body.extend(access);
                if !is_careless {
                    body.push(Statement::Unlock(Lock::Mutex(Address::Argument(0))));
                }
            }
        }
    }

    fn helper(&mut self) -> Vec<Statement> {
        let lock = if self.random.one_in(4) { SECOND } else { FIRST };
        let mut body = vec![Statement::Lock(lock)];
        let access = self.access(Address::Argument(0));
        body.extend(access);
        body.push(Statement::Unlock(lock));
        body
    }
}

/// Returns the statement with the iteration number reduced to one bit.
fn narrowed(statement: &Statement) -> Statement {
    let number = |number: Number| if number == Number::Register(2) { Number::Narrow } else { number };
    let address = |address: Address| match address {
        Address::Element(index) => Address::Element(number(index)),
        Address::Node(index, offset) => Address::Node(number(index), offset),
        other => other,
    };
    match statement.clone() {
        Statement::Create(handle, function, given) => {
            let given = match given {
                Given::Number(index) => Given::Number(number(index)),
                Given::Address(at) => Given::Address(address(at)),
                Given::Null => Given::Null,
            };
            Statement::Create(handle, function, given)
        }
        Statement::Write(at, value) => Statement::Write(address(at), value),
        Statement::Read(register, at) => Statement::Read(register, address(at)),
        other => other,
    }
}
