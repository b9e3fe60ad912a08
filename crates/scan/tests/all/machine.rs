//! Runs tiny programs in all schedules and with all inputs, and checks whether two threads ever stand before
//! conflicting accesses. If all of a program's atomic operations are sequentially consistent, it has a race if and only
//! if that happens. Otherwise [`crate::clocks`] also judge each access.

mod endings;
mod order;

use crate::clocks::Clocks;
use crate::lower::{BLOCK, OUTSIDE};
use crate::source::{EARLY, Object};
use racehunter_ir::{
    BinaryOperator, BlockId, CastOperator, Function, Instruction, InstructionId, Module, Operand, Operation, Order,
    Predicate, SymbolId, Type, UpdateOperator,
};
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;

/// The truth about a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Truth {
    /// There is a race.
    Race,
    /// There is none.
    None,
    /// Some execution is undefined, so nothing need be true.
    Undefined,
    /// There are too many executions.
    TooLarge,
}

/// Possible values of inputs; programs compare them with 0 and 1.
const INPUTS: [i64; 3] = [0, 1, 2];
/// Distance between objects.
const APART: i64 = 1 << 16;
/// Distance between the threads' own copies of an object.
const OWN: i64 = 1 << 10;
/// Numbers of allocated objects.
const MADE: i64 = 1000;

#[derive(Clone, PartialEq, Eq, Hash)]
struct Frame {
    function: usize,
    at: usize,
    values: Vec<i64>,
    argument: i64,
}

#[derive(Clone, PartialEq, Eq, Hash, Default)]
struct Thread {
    frames: Vec<Frame>,
    joined: bool,
    made: i64,
    /// True if it has released a lock to wait on a condition.
    waits: bool,
    /// True if it is being ended, so that no handler stops it.
    ends: bool,
}

#[derive(Clone, PartialEq, Eq, Hash)]
enum Holder {
    Writer(usize),
    Readers(u32),
}

#[derive(Clone, PartialEq, Eq, Hash, Default)]
struct State {
    memory: BTreeMap<i64, i64>,
    /// Sizes of allocated objects that are not freed.
    live: BTreeMap<i64, u64>,
    locks: BTreeMap<i64, Holder>,
    tokens: i64,
    pipe: Vec<i64>,
    threads: Vec<Thread>,
    /// True as long as `main` has not begun.
    is_early: bool,
    /// The functions for the end of the program, and what they are given.
    later: Vec<(usize, i64)>,
    /// What happens before what, if the program has weaker atomic operations.
    clocks: Option<Clocks>,
}

/// The semaphore and the pipe, as locks: no object has these addresses.
const TOKENS: i64 = 2;
const PIPE: i64 = 3;

/// What a thread is about to do.
enum Next<'m> {
    Access { address: i64, bytes: i64, write: bool, atomic: bool },
    Call(&'m str, Vec<i64>),
    Fence(Order),
    Over,
    Undefined,
}

const BIT: Type = Type::Integer(1);

/// The atomic section as a lock: no object has this address.
const SECTION: i64 = 1;

/// Examines all executions, up to a number of states.
pub fn truth(module: &Module, most: usize) -> Truth {
    let machine = Machine { module };
    let mut seen: FxHashSet<State> = FxHashSet::default();
    let mut undefined = false;
    let instructions = || module.functions.iter().flat_map(|function| &function.instructions);
    let clocks = instructions().any(|instruction| is_weak(&instruction.operation)).then(Clocks::default);
    let is_early = module.functions.len() > EARLY;
    let root = if is_early { EARLY } else { 0 };
    let mut first = State { threads: vec![machine.thread(root, 0)], is_early, clocks, ..State::default() };
    machine.settle(&mut first, 0);
    let mut work = vec![first];
    while let Some(state) = work.pop() {
        if seen.contains(&state) {
            continue;
        }
        if seen.len() >= most {
            return Truth::TooLarge;
        }
        let next: Vec<Next<'_>> = (0..state.threads.len()).map(|thread| machine.next(&state, thread)).collect();
        if (0..next.len()).any(|first| (0..first).any(|second| is_race(&next[first], &next[second]))) {
            return Truth::Race;
        }
        // The end of `main` ends the program.
        if !matches!(next[0], Next::Over) {
            for (thread, next) in next.iter().enumerate() {
                match next {
                    Next::Undefined => undefined = true,
                    Next::Over => {}
                    next => {
                        let known = work.len();
                        undefined |= !machine.step(&state, thread, next, &mut work);
                        let operation = &machine.instruction(&state, thread).unwrap().operation;
                        if work[known..].iter_mut().any(|after| after.order(&state, thread, next, operation)) {
                            return Truth::Race;
                        }
                    }
                }
            }
        }
        seen.insert(state);
    }
    if undefined { Truth::Undefined } else { Truth::None }
}

/// Returns true for atomic operations that need not be sequentially consistent.
fn is_weak(operation: &Operation) -> bool {
    let order = match *operation {
        Operation::Load { order, .. } | Operation::Store { order, .. } => order,
        Operation::Update { order, .. } => Some(order),
        Operation::Fence(_) | Operation::CompareExchange { .. } => return true,
        _ => None,
    };
    order.is_some_and(|order| order != Order::SequentiallyConsistent)
}

fn is_race(first: &Next<'_>, second: &Next<'_>) -> bool {
    let range = |next: &Next<'_>| match *next {
        Next::Access { address, bytes, write, atomic } => Some((address, address + bytes, write, atomic)),
        Next::Call("free", ref arguments) if arguments[0] != 0 => {
            Some((arguments[0], arguments[0] + BLOCK as i64, true, false))
        }
        _ => None,
    };
    let (Some(first), Some(second)) = (range(first), range(second)) else { return false };
    first.0 < second.1 && second.0 < first.1 && (first.2 || second.2) && !(first.3 && second.3)
}

struct Machine<'m> {
    module: &'m Module,
}

impl<'m> Machine<'m> {
    fn thread(&self, function: usize, argument: i64) -> Thread {
        let frame = Frame { function, at: 0, values: vec![0; self.code(function).instructions.len()], argument };
        Thread { frames: vec![frame], ..Thread::default() }
    }

    fn code(&self, function: usize) -> &'m Function {
        &self.module.functions[function]
    }

    fn instruction(&self, state: &State, thread: usize) -> Option<&'m Instruction> {
        let frame = state.threads[thread].frames.last()?;
        Some(&self.code(frame.function).instructions[frame.at])
    }

    fn value(&self, state: &State, thread: usize, operand: &Operand) -> i64 {
        let frame = state.threads[thread].frames.last().unwrap();
        match *operand {
            Operand::Instruction(InstructionId(at)) => frame.values[at as usize],
            Operand::Parameter(_) => frame.argument,
            Operand::Integer(value) => value,
            Operand::Null => 0,
            Operand::Symbol(SymbolId(symbol), offset) => {
                let own = Object::ALL.get(symbol as usize).is_some_and(|object| object.is_own());
                let thread = if own { thread as i64 } else { 0 };
                (i64::from(symbol) + 1) * APART + thread * OWN + offset
            }
            ref other => panic!("no value: {other:?}"),
        }
    }

    fn is_valid(&self, state: &State, address: i64) -> bool {
        let object = address.div_euclid(APART);
        let is_own =
            usize::try_from(object - 1).ok().and_then(|index| Object::ALL.get(index)).is_some_and(|o| o.is_own());
        let address = if is_own { object * APART + address.rem_euclid(OWN) } else { address };
        let bytes = match usize::try_from(object - 1).ok().and_then(|index| Object::ALL.get(index)) {
            Some(object) => object.bytes(),
            None => state.live.get(&(object * APART)).copied().unwrap_or(0),
        };
        (address.rem_euclid(APART) as u64) + 8 <= bytes && address.rem_euclid(8) == 0
    }

    fn next(&self, state: &State, thread: usize) -> Next<'m> {
        let Some(instruction) = self.instruction(state, thread) else { return Next::Over };
        let access = |operand: usize, write, atomic| {
            let address = self.value(state, thread, &instruction.operands[operand]);
            if self.is_valid(state, address) {
                Next::Access { address, bytes: 8, write, atomic }
            } else {
                Next::Undefined
            }
        };
        match instruction.operation {
            Operation::Load { order, .. } => access(0, false, order.is_some()),
            Operation::Store { order, .. } => access(1, true, order.is_some()),
            Operation::Fence(order) => Next::Fence(order),
            Operation::Update { .. } | Operation::CompareExchange { .. } => access(0, true, true),
            Operation::Call | Operation::Invoke { .. } => {
                let Operand::Symbol(SymbolId(symbol), _) = instruction.operands[0] else { return Next::Undefined };
                let name = OUTSIDE[symbol as usize - Object::ALL.len()];
                let arguments = &instruction.operands[1..];
                Next::Call(name, arguments.iter().map(|operand| self.argument(state, thread, operand)).collect())
            }
            _ => Next::Undefined,
        }
    }

    /// Returns an argument; a function is represented by its number.
    fn argument(&self, state: &State, thread: usize, operand: &Operand) -> i64 {
        match self.defined(operand) {
            Some(function) => function as i64,
            None => self.value(state, thread, operand),
        }
    }

    fn defined(&self, operand: &Operand) -> Option<usize> {
        match operand {
            Operand::Symbol(symbol, _) => self.module.functions.iter().position(|known| known.symbol == *symbol),
            _ => None,
        }
    }

    /// Collects all states that can follow when a thread continues; returns false if that is undefined.
    fn step(&self, state: &State, thread: usize, next: &Next<'_>, work: &mut Vec<State>) -> bool {
        let instruction = self.instruction(state, thread).unwrap();
        let mut after = state.clone();
        let go_on = |mut after: State, result: i64, work: &mut Vec<State>| {
            finish(&mut after, thread, result);
            self.settle(&mut after, thread);
            work.push(after);
            true
        };
        let (name, arguments) = match next {
            Next::Call(name, arguments) => (*name, arguments),
            Next::Access { address, .. } => {
                let old = state.memory.get(address).copied().unwrap_or(0);
                let value = |operand: usize| self.value(state, thread, &instruction.operands[operand]);
                match instruction.operation {
                    Operation::Store { .. } => after.memory.insert(*address, value(0)),
                    // A narrow counter wraps around after two.
                    Operation::Update { operator: UpdateOperator::Exchange, .. } => {
                        after.memory.insert(*address, value(1))
                    }
                    Operation::Update { bytes: 1, .. } => after.memory.insert(*address, (old + value(1)) & 1),
                    Operation::Update { .. } => after.memory.insert(*address, old + value(1)),
                    Operation::CompareExchange { .. } => {
                        let is_equal = old == value(1);
                        if is_equal {
                            after.memory.insert(*address, value(2));
                        }
                        return go_on(after, i64::from(is_equal), work);
                    }
                    _ => None,
                };
                return go_on(after, old, work);
            }
            Next::Fence(_) => return go_on(after, 0, work),
            Next::Over | Next::Undefined => return false,
        };
        let first = arguments.first().copied().unwrap_or(SECTION);
        match name {
            "pthread_create" => {
                if !self.is_valid(state, first) {
                    return false;
                }
                after.memory.insert(first, state.threads.len() as i64);
                after.threads.push(self.thread(arguments[2] as usize, arguments[3]));
                let new = after.threads.len() - 1;
                self.settle(&mut after, new);
                go_on(after, 0, work)
            }
            "pthread_join" => {
                // Handles of threads are not 0.
                let Some(other) = usize::try_from(first).ok().filter(|&other| other > 0) else { return false };
                match state.threads.get(other) {
                    Some(child) if child.joined => false,
                    Some(child) if child.frames.is_empty() => {
                        after.threads[other].joined = true;
                        go_on(after, 0, work)
                    }
                    Some(_) => true,
                    None => false,
                }
            }
            "pthread_mutex_lock" | "pthread_rwlock_wrlock" | "__VERIFIER_atomic_begin" => {
                match state.locks.get(&first) {
                    // Locking it twice is undefined, but waiting for it is not.
                    Some(Holder::Writer(owner)) if *owner == thread => false,
                    Some(_) => true,
                    None => {
                        after.locks.insert(first, Holder::Writer(thread));
                        go_on(after, 0, work)
                    }
                }
            }
            // If the program checks the result, the attempt may fail.
            "mtx_lock" => match state.locks.get(&first) {
                Some(Holder::Writer(owner)) if *owner == thread => false,
                Some(_) => go_on(after, 1, work),
                None => {
                    go_on(after.clone(), 1, work);
                    after.locks.insert(first, Holder::Writer(thread));
                    go_on(after, 0, work)
                }
            },
            "pthread_mutex_trylock" if state.locks.contains_key(&first) => go_on(after, 16, work),
            "pthread_mutex_trylock" => {
                after.locks.insert(first, Holder::Writer(thread));
                go_on(after, 0, work)
            }
            "pthread_rwlock_rdlock" => match state.locks.get(&first) {
                Some(Holder::Writer(_)) => true,
                Some(Holder::Readers(count)) => {
                    after.locks.insert(first, Holder::Readers(count + 1));
                    go_on(after, 0, work)
                }
                None => {
                    after.locks.insert(first, Holder::Readers(1));
                    go_on(after, 0, work)
                }
            },
            "pthread_mutex_unlock" | "pthread_rwlock_unlock" | "__VERIFIER_atomic_end" => {
                match state.locks.get(&first) {
                    Some(Holder::Readers(count)) if *count > 1 => {
                        after.locks.insert(first, Holder::Readers(count - 1));
                    }
                    Some(Holder::Writer(owner)) if *owner != thread => return false,
                    Some(_) => {
                        after.locks.remove(&first);
                    }
                    None => return false,
                }
                go_on(after, 0, work)
            }
            "__VERIFIER_nondet_long" => {
                for input in INPUTS {
                    go_on(after.clone(), input, work);
                }
                true
            }
            "malloc" => {
                let address = make(&mut after, thread, BLOCK);
                go_on(after, address, work)
            }
            "free" => {
                if first != 0 && after.live.remove(&first).is_none() {
                    return false;
                }
                go_on(after, 0, work)
            }
            "write" => {
                after.pipe.push(state.memory.get(&arguments[1]).copied().unwrap_or(0));
                go_on(after, 8, work)
            }
            "read" if state.pipe.is_empty() => true,
            "read" => {
                let value = after.pipe.remove(0);
                after.memory.insert(arguments[1], value);
                go_on(after, 8, work)
            }
            "pthread_cond_wait" => match (state.threads[thread].waits, state.locks.get(&arguments[1])) {
                (false, Some(Holder::Writer(owner))) if *owner == thread => {
                    after.locks.remove(&arguments[1]);
                    after.threads[thread].waits = true;
                    work.push(after);
                    true
                }
                (false, _) => false,
                // A wake-up without a request.
                (true, None) => {
                    after.locks.insert(arguments[1], Holder::Writer(thread));
                    after.threads[thread].waits = false;
                    go_on(after, 0, work)
                }
                (true, _) => true,
            },
            "__cxa_begin_catch" | "__cxa_end_catch" => go_on(after, 0, work),
            "__cxa_atexit" => {
                after.later.push((first as usize, arguments[1]));
                go_on(after, 0, work)
            }
            "exit" if thread != 0 => false,
            "exit" => {
                after.threads[0].frames.clear();
                self.go_to_later(&mut after, 0);
                self.settle(&mut after, 0);
                work.push(after);
                true
            }
            // An exception that is not caught ends the program.
            "__cxa_throw" if !self.is_caught(state, thread) => true,
            "__cxa_throw" | "pthread_exit" => {
                after.threads[thread].ends = name == "pthread_exit";
                self.unwind(&mut after, thread);
                self.settle(&mut after, thread);
                work.push(after);
                true
            }
            "sem_post" => {
                after.tokens += 1;
                go_on(after, 0, work)
            }
            "sem_wait" if state.tokens == 0 => true,
            "sem_wait" => {
                after.tokens -= 1;
                go_on(after, 0, work)
            }
            other => panic!("`{other}` cannot be run"),
        }
    }

    /// Executes everything that no other thread can notice.
    fn settle(&self, state: &mut State, thread: usize) {
        while let Some(instruction) = self.instruction(state, thread) {
            let value = |state: &State, at: usize| self.value(state, thread, &instruction.operands[at]);
            let result = match &instruction.operation {
                Operation::Call | Operation::Invoke { .. } => match self.defined(&instruction.operands[0]) {
                    Some(function) => {
                        let entered = self.thread(function, value(state, 1));
                        state.threads[thread].frames.extend(entered.frames);
                        continue;
                    }
                    None => return,
                },
                Operation::Load { .. }
                | Operation::Store { .. }
                | Operation::Update { .. }
                | Operation::CompareExchange { .. }
                | Operation::Fence(_) => return,
                // Whether a compare-exchange has taken place stands for its result.
                Operation::Extract(_) => value(state, 0),
                Operation::Cast(CastOperator::Truncate) => value(state, 0) & 1,
                Operation::Local { bytes } => make(state, thread, *bytes),
                Operation::Offset { constant, scales } => {
                    let scaled = (1..).zip(scales).map(|(at, scale)| value(state, at).wrapping_mul(*scale as i64));
                    let base = value(state, 0).wrapping_add(*constant);
                    scaled.fold(base, i64::wrapping_add)
                }
                Operation::Cast(CastOperator::ZeroExtend) => {
                    let is_truth = self.is_truth(state, thread, &instruction.operands[0]);
                    if is_truth { value(state, 0) & 1 } else { value(state, 0) }
                }
                Operation::Cast(_) => value(state, 0),
                Operation::Binary(_) if instruction.ty == BIT => (value(state, 0) + value(state, 1)) & 1,
                Operation::Binary(BinaryOperator::Multiply) => value(state, 0).wrapping_mul(value(state, 1)),
                Operation::Binary(_) => value(state, 0).wrapping_add(value(state, 1)),
                Operation::Compare(Predicate::Equal) if self.is_truth(state, thread, &instruction.operands[0]) => {
                    i64::from((value(state, 0) ^ value(state, 1)) & 1 == 0)
                }
                Operation::Compare(Predicate::Equal) => i64::from(value(state, 0) == value(state, 1)),
                Operation::Compare(predicate) => {
                    let (left, right) = (value(state, 0), value(state, 1));
                    i64::from(match predicate {
                        Predicate::NotEqual => left != right,
                        Predicate::Greater => left > right,
                        Predicate::GreaterEqual => left >= right,
                        _ => left < right,
                    })
                }
                Operation::Jump => {
                    self.jump(state, thread, &instruction.operands[0]);
                    continue;
                }
                Operation::Branch => {
                    let to = if value(state, 0) == 0 { 2 } else { 1 };
                    self.jump(state, thread, &instruction.operands[to]);
                    continue;
                }
                Operation::Return => {
                    state.threads[thread].frames.pop();
                    if state.threads[thread].frames.is_empty() {
                        if !self.go_to_later(state, thread) {
                            return;
                        }
                        continue;
                    }
                    0
                }
                Operation::LandingPad => 0,
                Operation::Resume => {
                    state.threads[thread].frames.pop();
                    self.unwind(state, thread);
                    continue;
                }
                other => panic!("{other:?} cannot be run"),
            };
            finish(state, thread, result);
        }
    }

    /// Returns true if a value has one bit.
    fn is_truth(&self, state: &State, thread: usize, operand: &Operand) -> bool {
        let code = state.threads[thread].frames.last().map(|frame| self.code(frame.function));
        matches!((operand, code), (Operand::Instruction(at), Some(code)) if code.instruction(*at).ty == BIT)
    }

    fn jump(&self, state: &mut State, thread: usize, to: &Operand) {
        let &Operand::Block(BlockId(to)) = to else { panic!("no block") };
        let frame = state.threads[thread].frames.last().unwrap();
        let code = self.code(frame.function);
        let from = Operand::Block(code.block_of(InstructionId(frame.at as u32)).unwrap());
        let first = code.blocks[to as usize].0 as usize;
        let phis = code.instructions[first..].iter().take_while(|phi| phi.operation == Operation::Phi);
        let taken = |phi: &'m Instruction| &phi.operands.chunks(2).find(|way| way[1] == from).unwrap()[0];
        let values: Vec<i64> = phis.map(|phi| self.value(state, thread, taken(phi))).collect();
        let frame = state.threads[thread].frames.last_mut().unwrap();
        frame.values[first..first + values.len()].copy_from_slice(&values);
        frame.at = first + values.len();
    }
}

fn finish(state: &mut State, thread: usize, result: i64) {
    let frame = state.threads[thread].frames.last_mut().unwrap();
    frame.values[frame.at] = result;
    frame.at += 1;
}

/// Returns unused memory. Its number does not depend on other threads.
fn make(state: &mut State, thread: usize, bytes: u64) -> i64 {
    let made = &mut state.threads[thread].made;
    *made += 1;
    let address = (MADE + thread as i64 * 50 + *made) * APART;
    state.live.insert(address, bytes);
    address
}
