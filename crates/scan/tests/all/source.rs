//! Tiny programs with threads: generated, changed and printed.

use racehunter_ir::{Order, Predicate};
use std::fmt::{self, Display, Formatter, Write as _};

/// An object that all threads can reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Object {
    X,
    Y,
    /// Four numbers.
    Array,
    /// A pointer.
    Pointer,
    First,
    Second,
    /// Two structures, each of a lock and a number.
    Nodes,
    Readers,
    Semaphore,
    /// A lock and a number for each thread.
    Own,
    /// Four locks.
    Locks,
    Condition,
    /// A counter that soon wraps around.
    Narrow,
    /// Two pointers that are only accessed atomically.
    Box,
    Other,
    /// A number that is only accessed atomically.
    Flag,
}

impl Object {
    pub const ALL: [Self; 16] = [
        Self::X,
        Self::Y,
        Self::Array,
        Self::Pointer,
        Self::First,
        Self::Second,
        Self::Nodes,
        Self::Readers,
        Self::Semaphore,
        Self::Own,
        Self::Locks,
        Self::Condition,
        Self::Narrow,
        Self::Box,
        Self::Other,
        Self::Flag,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Self::X => "x",
            Self::Y => "y",
            Self::Array => "a",
            Self::Pointer => "p",
            Self::First => "m",
            Self::Second => "n",
            Self::Nodes => "nodes",
            Self::Readers => "rw",
            Self::Semaphore => "s",
            Self::Own => "own",
            Self::Locks => "locks",
            Self::Condition => "c",
            Self::Narrow => "narrow",
            Self::Box => "box",
            Self::Other => "other",
            Self::Flag => "flag",
        }
    }

    pub const fn bytes(self) -> u64 {
        match self {
            Self::X | Self::Y | Self::Pointer | Self::Narrow | Self::Box | Self::Other | Self::Flag => 8,
            Self::Array => 8 * ELEMENTS,
            Self::First | Self::Second => 40,
            Self::Nodes => 2 * NODE as u64,
            Self::Readers => 56,
            Self::Semaphore => 32,
            Self::Own => NODE as u64,
            Self::Locks => LOCK as u64 * ELEMENTS,
            Self::Condition => 48,
        }
    }

    /// Returns true if each thread has its own.
    pub const fn is_own(self) -> bool {
        matches!(self, Self::Own)
    }
}

pub const ELEMENTS: u64 = 4;
/// Size of a node, and the offset of its number.
pub const NODE: i64 = 48;
pub const VALUE: i64 = 40;
/// Bytes of a lock.
pub const LOCK: i64 = 40;
/// Registers of a function for numbers; there is also one for a pointer, and the argument.
pub const REGISTERS: usize = 3;

/// A number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    Constant(i64),
    Register(usize),
    Argument,
    /// The argument plus one.
    Next,
    /// Twice the argument plus a constant.
    Twice(i64),
    Input,
    /// The iteration of the innermost loop, as a one-bit number.
    Narrow,
}

/// An address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Address {
    Variable(Object, i64),
    Element(Number),
    Node(Number, i64),
    Argument(i64),
    Pointer(i64),
    Handle(Number),
    /// In memory on the stack of the function: a lock and a number.
    Stack(i64),
    /// One of the locks.
    LockOf(Number),
}

/// What a thread or a function is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Given {
    Null,
    Number(Number),
    Address(Address),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lock {
    Mutex(Address),
    Read,
    Write,
    Atomic,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Statement {
    Set(usize, Number),
    Read(usize, Address),
    Write(Address, Number),
    /// Adds one atomically.
    Increment(Address),
    /// Sets the pointer register to an address.
    Point(Address),
    /// Loads the pointer register from `p`.
    Load,
    /// Publishes the pointer.
    Publish,
    Allocate,
    Free,
    Lock(Lock),
    Unlock(Lock),
    /// Runs a body with the lock, if it can be taken.
    Try(Address, Test, Vec<Statement>),
    /// Runs one body with a lock, and another one if taking it has failed.
    Ask(Address, Vec<Statement>, Vec<Statement>),
    If(Number, i64, Vec<Statement>, Vec<Statement>),
    /// If the pointer is not null.
    IfPointer(Vec<Statement>),
    /// If the pointer is null.
    UnlessPointer(Vec<Statement>),
    /// Stores the pointer atomically, loads it, or exchanges it.
    AtomicStore(Object, Order),
    AtomicLoad(Object, Order),
    AtomicExchange(Object, Order),
    Fence(Order),
    Repeat(usize, i64, Vec<Statement>),
    /// Runs a body for a register from one number up to another.
    Range(usize, Number, Number, Vec<Statement>),
    /// Takes one side if a number is less than another.
    Below(Number, Number, Vec<Statement>, Vec<Statement>),
    /// Handle, function and argument.
    Create(Number, usize, Given),
    Join(Number),
    Call(usize, Given),
    /// Sends the pointer through a pipe, and receives one from there, as a pointer or as a number.
    Send,
    Receive,
    ReceiveNumber,
    /// A loop that can be entered in its middle: a register, the number of iterations, and its two halves.
    Tangle(usize, i64, Vec<Statement>, Vec<Statement>),
    /// Releases a lock, waits on a condition or not at all, and takes the lock again.
    Await(Address),
    /// A number from a counter, which is increased atomically.
    Ticket(usize, Address),
    /// The same, from the counter that soon wraps around.
    NarrowTicket(usize),
    Post,
    Wait,
    /// Puts a number into the flag, and runs a body if that has found zero (or one, if it is flipped).
    Exchange {
        order: Order,
        value: i64,
        test: Test,
        flipped: bool,
        body: Vec<Statement>,
    },
    /// Registers a function for the end of the program, with what it is given.
    AtExit(usize, Given),
    /// Ends the program.
    Exit,
    /// Ends the thread.
    Leave,
    Throw,
    /// Runs a body, and another one if it throws.
    Catch(Vec<Statement>, Vec<Statement>),
    /// Runs a body with a lock, which an exception releases.
    Scoped(Lock, Vec<Statement>),
    /// Stores zero in the flag.
    Clear(Order),
    /// Runs a body for a register from one number down, while it is above another.
    Down {
        register: usize,
        from: Number,
        above: i64,
        predicate: Predicate,
        /// The body gets the number before the counter.
        before: bool,
        body: Vec<Statement>,
    },
}

/// How a program finds out what an exchange has found, or whether a lock was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Test {
    /// It compares the value with zero.
    Zero,
    /// It takes the value for a truth value.
    Truth,
    /// The same, negated.
    Inverted,
    /// The same, as a number again.
    Extended,
    /// By a compare-exchange.
    Swapped,
    /// By a compare-exchange whose failure is asked for.
    NotSwapped,
}

/// The function that runs before `main`, if there is one.
pub const EARLY: usize = 6;

/// Function 0 is `main`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    pub functions: Vec<Vec<Statement>>,
}

impl Display for Number {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Constant(value) => write!(out, "{value}"),
            Self::Register(number) => write!(out, "r{number}"),
            Self::Argument => write!(out, "(long)arg"),
            Self::Next => write!(out, "(long)arg + 1"),
            Self::Twice(more) => write!(out, "(long)arg * 2 + {more}"),
            Self::Input => write!(out, "input()"),
            Self::Narrow => write!(out, "round & 1"),
        }
    }
}

impl Display for Address {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Variable(object, 0) => write!(out, "&{}", object.name()),
            Self::Variable(object, offset) => write!(out, "&{} + {offset}", object.name()),
            Self::Element(number) => write!(out, "&a[{number}]"),
            Self::Node(number, offset) => write!(out, "&nodes[{number}] + {offset}"),
            Self::Argument(offset) => write!(out, "arg + {offset}"),
            Self::Pointer(offset) => write!(out, "q + {offset}"),
            Self::Handle(number) => write!(out, "&handles[{number}]"),
            Self::Stack(offset) => write!(out, "&local + {offset}"),
            Self::LockOf(number) => write!(out, "&locks[{number}]"),
        }
    }
}

impl Display for Source {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        for (number, body) in self.functions.iter().enumerate() {
            writeln!(out, "f{number}(arg) {{\n{}}}", block(body, 1))?;
        }
        Ok(())
    }
}

fn block(body: &[Statement], depth: usize) -> String {
    let mut text = String::new();
    let indent = "  ".repeat(depth);
    for statement in body {
        let line = match statement {
            Statement::If(number, value, yes, no) => {
                let (yes, no) = (block(yes, depth + 1), block(no, depth + 1));
                format!("if ({number} == {value}) {{\n{yes}{indent}}} else {{\n{no}{indent}}}")
            }
            Statement::IfPointer(body) => format!("if (q) {{\n{}{indent}}}", block(body, depth + 1)),
            Statement::UnlessPointer(body) => format!("if (!q) {{\n{}{indent}}}", block(body, depth + 1)),
            Statement::Repeat(register, times, body) => {
                format!("for r{register} < {times} {{\n{}{indent}}}", block(body, depth + 1))
            }
            Statement::Range(register, begin, end, body) => {
                format!("for {begin} <= r{register} < {end} {{\n{}{indent}}}", block(body, depth + 1))
            }
            Statement::Tangle(register, times, one, other) => {
                let (one, other) = (block(one, depth + 1), block(other, depth + 1));
                format!("tangle r{register} < {times} {{\n{one}{indent}}} middle {{\n{other}{indent}}}")
            }
            Statement::Below(number, end, yes, no) => {
                let (yes, no) = (block(yes, depth + 1), block(no, depth + 1));
                format!("if ({number} < {end}) {{\n{yes}{indent}}} else {{\n{no}{indent}}}")
            }
            Statement::Ask(lock, body, otherwise) => {
                let otherwise = block(otherwise, depth + 1);
                format!("if (!lock({lock})) {{\n{}{indent}}} else {{\n{otherwise}{indent}}}", block(body, depth + 1))
            }
            Statement::Exchange { order, value, test, flipped, body } => {
                let not = if *flipped { "" } else { "!" };
                let inside = block(body, depth + 1);
                format!("if ({not}exchange(flag, {value}, {order:?}) by {test:?}) {{\n{inside}{indent}}}")
            }
            Statement::Down { register, from, above, predicate, before, body } => {
                let less = if *before { ", less one" } else { "" };
                let inside = block(body, depth + 1);
                format!("for r{register} from {from} while {predicate:?} {above}{less} {{\n{inside}{indent}}}")
            }
            Statement::Catch(body, handler) => {
                let handler = block(handler, depth + 1);
                format!("try {{\n{}{indent}}} catch {{\n{handler}{indent}}}", block(body, depth + 1))
            }
            Statement::Scoped(lock, body) => format!("with {lock:?} {{\n{}{indent}}}", block(body, depth + 1)),
            Statement::Try(lock, test, body) => {
                format!("if (!trylock({lock}) by {test:?}) {{\n{}{indent}}}", block(body, depth + 1))
            }
            Statement::Write(address, number) => format!("*({address}) = {number}"),
            Statement::Read(register, address) => format!("r{register} = *({address})"),
            other => format!("{other:?}"),
        };
        let _ = writeln!(text, "{indent}{line};");
    }
    text
}
