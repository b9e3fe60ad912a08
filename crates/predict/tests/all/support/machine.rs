//! Random tiny programs in the IR, and an interpreter that runs them by a schedule: branches, phis, pointers that may
//! be null, divisions, calls, recursion, locals, locks.

use super::Random;
use racehunter_abi::{CodeAddress, EventNumber, ThreadId};
use racehunter_abi::{Kind, Record};
use racehunter_ir::{
    Attributes, BinaryOperator, BlockId, Function, Instruction, InstructionId, Linkage, Module, Operand, Operation,
    Order, Predicate, Symbol, SymbolId, SymbolKind, Type, UpdateOperator,
};

/// Variables of 8 bytes; the last one is a pointer.
const VARIABLES: u32 = 4;
const POINTER: u32 = VARIABLES - 1;
const LOCKS: i64 = 2;
const LOCK: SymbolId = SymbolId(VARIABLES);
const UNLOCK: SymbolId = SymbolId(VARIABLES + 1);
/// Functions follow: helper, recursion, then one for each thread.
const HELPER: u32 = VARIABLES + 2;
const RECURSION: u32 = VARIABLES + 3;
const INTEGER: Type = Type::Integer(64);

fn address(variable: u32) -> i64 {
    0x1000 + 8 * i64::from(variable)
}

/// Writes one function.
struct Writer<'r> {
    random: &'r mut Random,
    sites: &'r mut u32,
    function: Function,
    /// Values that are available at the next instruction.
    values: Vec<Operand>,
}

impl<'r> Writer<'r> {
    fn new(random: &'r mut Random, sites: &'r mut u32, symbol: u32, parameters: u32) -> Self {
        let entry_site = Some(*sites);
        *sites += 1;
        let function = Function {
            symbol: SymbolId(symbol),
            parameters: vec![INTEGER; parameters as usize],
            returns: INTEGER,
            entry_site,
            location: None,
            blocks: vec![InstructionId(0)],
            instructions: Vec::new(),
            variables: Vec::new(),
        };
        Self { random, sites, function, values: (0..parameters).map(Operand::Parameter).collect() }
    }

    fn put(&mut self, operation: Operation, ty: Type, operands: Vec<Operand>, has_site: bool) -> Operand {
        let site = has_site.then_some(*self.sites);
        *self.sites += u32::from(has_site);
        let id = InstructionId(self.function.instructions.len() as u32);
        self.function.instructions.push(Instruction { operation, ty, operands, location: None, site });
        Operand::Instruction(id)
    }

    fn load(&mut self, address: Operand, has_site: bool) -> Operand {
        self.put(Operation::Load { bytes: 8, order: None, volatile: false }, INTEGER, vec![address], has_site)
    }

    fn store(&mut self, value: Operand, address: Operand, has_site: bool) {
        let operation = Operation::Store { bytes: 8, order: None, volatile: false };
        self.put(operation, Type::Void, vec![value, address], has_site);
    }

    /// Returns the next blocks, in the order in which they are started.
    fn next_block(&self, ahead: u32) -> Operand {
        Operand::Block(BlockId(self.function.blocks.len() as u32 + ahead))
    }

    fn begin_block(&mut self) {
        self.function.blocks.push(InstructionId(self.function.instructions.len() as u32));
    }

    fn this_block(&self) -> Operand {
        Operand::Block(BlockId(self.function.blocks.len() as u32 - 1))
    }

    fn variable(&mut self) -> Operand {
        Operand::Symbol(SymbolId(self.random.below(POINTER as usize) as u32), 0)
    }

    fn value(&mut self) -> Operand {
        if self.values.is_empty() || self.random.one_in(4) {
            Operand::Integer(self.random.below(3) as i64)
        } else {
            let at = self.random.below(self.values.len());
            self.values[at].clone()
        }
    }

    fn statement(&mut self, depth: u32) {
        let choice = self.random.below(if depth == 0 { 22 } else { 12 });
        match choice {
            0..=2 => {
                let variable = self.variable();
                let value = self.load(variable, true);
                self.values.push(value);
            }
            3 | 4 => {
                let (value, variable) = (self.value(), self.variable());
                self.store(value, variable, true);
            }
            5 => {
                let (one, other) = (self.value(), self.value());
                let value = self.put(Operation::Binary(BinaryOperator::Add), INTEGER, vec![one, other], false);
                self.values.push(value);
            }
            6 => {
                let operands = vec![self.value(), self.value(), self.value()];
                let value = self.put(Operation::Select, INTEGER, operands, false);
                self.values.push(value);
            }
            7 => {
                let address = self.load(Operand::Symbol(SymbolId(POINTER), 0), true);
                if self.random.one_in(2) {
                    let value = self.load(address, true);
                    self.values.push(value);
                } else {
                    let value = self.value();
                    self.store(value, address, true);
                }
            }
            8 => {
                let variable = self.variable();
                self.store(variable, Operand::Symbol(SymbolId(POINTER), 0), true);
            }
            9 => {
                let divisor = self.value();
                let operands = vec![Operand::Integer(6), divisor];
                let value = self.put(Operation::Binary(BinaryOperator::Divide), INTEGER, operands, false);
                self.values.push(value);
            }
            10 => {
                let local = self.put(Operation::Local { bytes: 8 }, Type::Pointer, vec![Operand::Integer(1)], false);
                let value = self.value();
                self.store(value, local.clone(), false);
                if self.random.one_in(2) {
                    let variable = self.variable();
                    let value = self.load(variable, true);
                    self.store(value, local.clone(), false);
                }
                let value = self.load(local, false);
                self.values.push(value);
            }
            11 => {
                let (variable, value) = (self.variable(), self.value());
                let (operator, order) = (UpdateOperator::Add, Order::SequentiallyConsistent);
                let operation = Operation::Update { operator, bytes: 8, order };
                let value = self.put(operation, INTEGER, vec![variable, value], true);
                self.values.push(value);
            }
            12..=14 => self.diamond(),
            15 | 16 => {
                let (callee, argument) = if self.random.one_in(2) {
                    (HELPER, self.value())
                } else {
                    (RECURSION, Operand::Integer(self.random.below(3) as i64))
                };
                let value =
                    self.put(Operation::Call, INTEGER, vec![Operand::Symbol(SymbolId(callee), 0), argument], false);
                self.values.push(value);
            }
            17 => self.switch(),
            _ => {
                let lock = Operand::Integer(self.random.below(LOCKS as usize) as i64);
                self.put(Operation::Call, Type::Void, vec![Operand::Symbol(LOCK, 0), lock.clone()], true);
                for _ in 0..1 + self.random.below(2) {
                    self.statement(depth + 1);
                }
                self.put(Operation::Call, Type::Void, vec![Operand::Symbol(UNLOCK, 0), lock], true);
            }
        }
    }

    /// Writes a condition with one or two sides, and a phi where they meet.
    fn diamond(&mut self) {
        let (value, constant) = (self.value(), Operand::Integer(self.random.below(2) as i64));
        let equal = self.put(Operation::Compare(Predicate::Equal), Type::Integer(1), vec![value, constant], false);
        let [yes, no, after] = [0, 1, 2].map(|ahead| self.next_block(ahead));
        self.put(Operation::Branch, Type::Void, vec![equal, yes, no], true);
        let known = self.values.len();
        let mut ways = Vec::new();
        for _ in 0..2 {
            self.begin_block();
            if self.random.one_in(2) {
                self.statement(1);
            }
            ways.extend([self.value(), self.this_block()]);
            self.put(Operation::Jump, Type::Void, vec![after.clone()], false);
            self.values.truncate(known);
        }
        self.begin_block();
        let value = self.put(Operation::Phi, INTEGER, ways, false);
        self.values.push(value);
    }

    /// Writes a choice of three, without a phi.
    fn switch(&mut self) {
        let value = self.value();
        let [default, zero, one, after] = [0, 1, 2, 3].map(|ahead| self.next_block(ahead));
        let operands = vec![value, default, Operand::Integer(0), zero, Operand::Integer(1), one];
        self.put(Operation::Switch, Type::Void, operands, true);
        let known = self.values.len();
        for _ in 0..3 {
            self.begin_block();
            if self.random.one_in(2) {
                self.statement(1);
            }
            self.put(Operation::Jump, Type::Void, vec![after.clone()], false);
            self.values.truncate(known);
        }
        self.begin_block();
    }

    fn finish(mut self, result: Operand) -> Function {
        self.put(Operation::Return, Type::Void, vec![result], true);
        self.function
    }
}

/// Returns a random program: a module with two functions that others call, and one for each thread.
pub fn program(random: &mut Random, threads: u32, statements: usize) -> Module {
    let mut sites = 0;
    let mut functions = Vec::new();

    let mut helper = Writer::new(random, &mut sites, HELPER, 1);
    let variable = helper.variable();
    let value = helper.load(variable, true);
    let sum = helper.put(Operation::Binary(BinaryOperator::Add), INTEGER, vec![value, Operand::Parameter(0)], false);
    let result = if helper.random.one_in(2) { sum } else { Operand::Parameter(0) };
    functions.push(helper.finish(result));

    // rec(n) = n == 0 ? variable : rec(n - 1) + variable
    let mut recursion = Writer::new(random, &mut sites, RECURSION, 1);
    let variable = recursion.variable();
    let own = recursion.load(variable, true);
    let [below, after] = [0, 1].map(|ahead| recursion.next_block(ahead));
    recursion.put(Operation::Branch, Type::Void, vec![Operand::Parameter(0), below, after.clone()], true);
    recursion.begin_block();
    let operands = vec![Operand::Parameter(0), Operand::Integer(-1)];
    let less = recursion.put(Operation::Binary(BinaryOperator::Add), INTEGER, operands, false);
    let call = vec![Operand::Symbol(SymbolId(RECURSION), 0), less];
    let rest = recursion.put(Operation::Call, INTEGER, call, false);
    let keeps = recursion.random.one_in(2);
    let sum = recursion.put(Operation::Binary(BinaryOperator::Add), INTEGER, vec![rest.clone(), own.clone()], false);
    let from = recursion.this_block();
    recursion.put(Operation::Jump, Type::Void, vec![after], false);
    recursion.begin_block();
    let way = if keeps { sum } else { rest };
    let ways = vec![own, Operand::Block(BlockId(0)), way, from];
    let result = recursion.put(Operation::Phi, INTEGER, ways, false);
    functions.push(recursion.finish(result));

    for thread in 0..threads {
        let mut writer = Writer::new(random, &mut sites, RECURSION + 1 + thread, 0);
        for _ in 0..statements {
            writer.statement(0);
        }
        functions.push(writer.finish(Operand::Integer(0)));
    }
    let symbol = |name: String, kind| Symbol { name, linkage: Linkage::External, kind };
    let variable = |defined| SymbolKind::Variable {
        defined,
        bytes: 8,
        constant: false,
        thread_local: false,
        pointers: Vec::new(),
        numbers: Some(Vec::new()),
        declaration: None,
    };
    let function = |defined| SymbolKind::Function { defined, attributes: Attributes::default() };
    let mut symbols: Vec<Symbol> = (0..VARIABLES).map(|number| symbol(format!("x{number}"), variable(true))).collect();
    symbols.extend(["lock", "unlock"].map(|name| symbol(name.to_owned(), function(false))));
    symbols.extend((0..threads + 2).map(|number| symbol(format!("f{number}"), function(true))));
    Module { symbols, functions, site_count: sites, ..Module::default() }
}

/// What a thread is about to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// An access or an operation on a lock.
    Event { kind: Kind, object: u64, code: u64 },
    /// It faults.
    Fault,
    /// Nothing.
    Over,
}

#[derive(Clone)]
struct Frame {
    function: usize,
    at: usize,
    values: Vec<i64>,
    parameters: Vec<i64>,
    /// Contents of locals, by instruction.
    locals: Vec<i64>,
}

/// A running program.
pub struct Machine<'m> {
    module: &'m Module,
    memory: Vec<i64>,
    holders: Vec<Option<usize>>,
    threads: Vec<Vec<Frame>>,
    /// The log of all that happened.
    pub log: Vec<Record>,
    events: u64,
}

impl<'m> Machine<'m> {
    pub fn new(module: &'m Module, threads: usize) -> Self {
        let mut machine = Self {
            module,
            memory: vec![0; VARIABLES as usize],
            holders: vec![None; LOCKS as usize],
            threads: vec![Vec::new(); threads],
            log: Vec::new(),
            events: 0,
        };
        for thread in 0..threads {
            machine.enter(thread, thread + 2, Vec::new());
            machine.go_on(thread);
        }
        machine
    }

    fn note(&mut self, thread: usize, kind: Kind, site: u32, object: u64) {
        let index = self.events;
        self.log.push(Record {
            index: EventNumber(index),
            object,
            thread: ThreadId(thread as u32),
            site: site + 1,
            kind,
            ..Record::default()
        });
    }

    fn enter(&mut self, thread: usize, function: usize, parameters: Vec<i64>) {
        let length = self.module.functions[function].instructions.len();
        let (values, locals) = (vec![0; length], vec![0; length]);
        self.threads[thread].push(Frame { function, at: 0, values, parameters, locals });
        self.note(thread, Kind::Entered, self.module.functions[function].entry_site.unwrap(), 0);
        self.log.last_mut().unwrap().detail = u8::from(self.threads[thread].len() > 1);
    }

    fn value(&self, thread: usize, operand: &Operand) -> i64 {
        let frame = self.threads[thread].last().unwrap();
        match *operand {
            Operand::Instruction(id) => frame.values[id.0 as usize],
            Operand::Parameter(number) => frame.parameters[number as usize],
            Operand::Integer(value) => value,
            Operand::Symbol(symbol, _) => address(symbol.0),
            _ => panic!("no value: {operand:?}"),
        }
    }

    fn instruction(&self, thread: usize) -> Option<&'m Instruction> {
        let frame = self.threads[thread].last()?;
        Some(&self.module.functions[frame.function].instructions[frame.at])
    }

    /// Returns what a thread that has run as far as it can is about to do.
    pub fn next(&self, thread: usize) -> Next {
        let Some(instruction) = self.instruction(thread) else { return Next::Over };
        let frame = self.threads[thread].last().unwrap();
        let code = 0x10_0000 + (frame.function as u64) * 0x1000 + frame.at as u64;
        let at = |kind, operand: &Operand| {
            let object = self.value(thread, operand);
            let exists = (0..VARIABLES).any(|variable| address(variable) == object);
            if exists { Next::Event { kind, object: object as u64, code } } else { Next::Fault }
        };
        match instruction.operation {
            Operation::Load { .. } => at(Kind::Read, &instruction.operands[0]),
            Operation::Store { .. } => at(Kind::Write, &instruction.operands[1]),
            Operation::Update { .. } => at(Kind::AtomicUpdate, &instruction.operands[0]),
            Operation::Call => {
                let kind = if instruction.operands[0] == Operand::Symbol(LOCK, 0) { Kind::Lock } else { Kind::Unlock };
                Next::Event { kind, object: 0x2000 + self.value(thread, &instruction.operands[1]) as u64, code }
            }
            _ => Next::Fault,
        }
    }

    /// Returns true if a thread can do what it is about to do.
    pub fn is_able(&self, thread: usize) -> bool {
        match self.next(thread) {
            Next::Event { kind: Kind::Lock, object, .. } => self.holders[(object - 0x2000) as usize].is_none(),
            Next::Event { .. } => true,
            Next::Fault | Next::Over => false,
        }
    }

    /// Lets a thread do what it is about to do, and run up to its next event.
    pub fn perform(&mut self, thread: usize) {
        let Next::Event { kind, object, code } = self.next(thread) else { panic!("nothing to do") };
        let instruction = self.instruction(thread).unwrap();
        self.events += 1;
        let access = !matches!(kind, Kind::Lock | Kind::Unlock);
        let site = if access { instruction.site.unwrap() + 1 } else { 0 };
        let (index, size) = (self.events, if access { 8 } else { 0 });
        self.log.push(Record {
            index: EventNumber(index),
            code: CodeAddress(code),
            object,
            thread: ThreadId(thread as u32),
            site,
            kind,
            size,
            ..Record::default()
        });
        let slot = ((object - 0x1000) / 8) as usize;
        let mut result = 0;
        match kind {
            Kind::Lock => self.holders[(object - 0x2000) as usize] = Some(thread),
            Kind::Unlock => self.holders[(object - 0x2000) as usize] = None,
            Kind::Read => result = self.memory[slot],
            Kind::Write => self.memory[slot] = self.value(thread, &instruction.operands[0]),
            _ => {
                result = self.memory[slot];
                self.memory[slot] = result.wrapping_add(self.value(thread, &instruction.operands[1]));
            }
        }
        self.finish(thread, result);
        self.go_on(thread);
    }

    fn finish(&mut self, thread: usize, result: i64) {
        let frame = self.threads[thread].last_mut().unwrap();
        frame.values[frame.at] = result;
        frame.at += 1;
    }

    /// Executes everything that is not an event.
    fn go_on(&mut self, thread: usize) {
        while let Some(instruction) = self.instruction(thread) {
            let operands = &instruction.operands[..];
            let value = |machine: &Self, at: usize| machine.value(thread, &operands[at]);
            let local = |machine: &Self, operand: &Operand| match *operand {
                Operand::Instruction(id) => {
                    let frame = machine.threads[thread].last().unwrap();
                    let local = &machine.module.functions[frame.function].instructions[id.0 as usize];
                    matches!(local.operation, Operation::Local { .. }).then_some(id.0 as usize)
                }
                _ => None,
            };
            let frame = self.threads[thread].last().unwrap();
            match &instruction.operation {
                Operation::Load { .. } if instruction.site.is_none() => {
                    let content = frame.locals[local(self, &operands[0]).unwrap()];
                    self.finish(thread, content);
                }
                Operation::Store { .. } if instruction.site.is_none() => {
                    let (slot, content) = (local(self, &operands[1]).unwrap(), value(self, 0));
                    self.threads[thread].last_mut().unwrap().locals[slot] = content;
                    self.finish(thread, 0);
                }
                Operation::Load { .. } | Operation::Store { .. } | Operation::Update { .. } => return,
                Operation::Binary(BinaryOperator::Divide) => {
                    if value(self, 1) == 0 {
                        return;
                    }
                    self.finish(thread, value(self, 0).wrapping_div(value(self, 1)));
                }
                Operation::Binary(_) => self.finish(thread, value(self, 0).wrapping_add(value(self, 1))),
                Operation::Compare(_) => self.finish(thread, i64::from(value(self, 0) == value(self, 1))),
                Operation::Select => {
                    self.finish(thread, if value(self, 0) == 0 { value(self, 2) } else { value(self, 1) });
                }
                Operation::Local { .. } => self.finish(thread, 0x3000),
                Operation::Jump => self.jump(thread, &operands[0]),
                Operation::Branch => {
                    let chosen = value(self, 0);
                    self.note(thread, Kind::Branched, instruction.site.unwrap(), chosen as u64);
                    self.jump(thread, &operands[if chosen == 0 { 2 } else { 1 }]);
                }
                Operation::Switch => {
                    let chosen = value(self, 0);
                    self.note(thread, Kind::Branched, instruction.site.unwrap(), chosen as u64);
                    let case = operands[2..].chunks(2).find(|case| case[0] == Operand::Integer(chosen));
                    self.jump(thread, case.map_or(&operands[1], |case| &case[1]));
                }
                Operation::Return => {
                    let result = value(self, 0);
                    self.note(thread, Kind::Left, instruction.site.unwrap(), 0);
                    self.threads[thread].pop();
                    if !self.threads[thread].is_empty() {
                        self.finish(thread, result);
                    }
                }
                Operation::Call => match operands[0] {
                    Operand::Symbol(SymbolId(symbol), _) if symbol >= HELPER => {
                        let argument = value(self, 1);
                        self.enter(thread, (symbol - HELPER) as usize, vec![argument]);
                    }
                    _ => {
                        let noted = self.log.last().is_some_and(|last| {
                            (last.kind, last.thread, last.site)
                                == (Kind::Called, ThreadId(thread as u32), instruction.site.unwrap() + 1)
                        });
                        if !noted {
                            self.note(thread, Kind::Called, instruction.site.unwrap(), 0);
                        }
                        return;
                    }
                },
                other => panic!("cannot run {other:?}"),
            }
        }
    }

    fn jump(&mut self, thread: usize, to: &Operand) {
        let &Operand::Block(to) = to else { panic!("no block") };
        let frame = self.threads[thread].last().unwrap();
        let function = &self.module.functions[frame.function];
        let from = Operand::Block(function.block_of(InstructionId(frame.at as u32)).unwrap());
        let first = function.blocks[to.0 as usize].0 as usize;
        let phis = function.instructions[first..].iter().take_while(|phi| matches!(phi.operation, Operation::Phi));
        let taken = |phi: &Instruction| phi.operands.chunks(2).find(|way| way[1] == from).unwrap()[0].clone();
        let values: Vec<i64> = phis.map(|phi| self.value(thread, &taken(phi))).collect();
        let frame = self.threads[thread].last_mut().unwrap();
        frame.values[first..first + values.len()].copy_from_slice(&values);
        frame.at = first + values.len();
    }
}

/// Returns the code of a program, for messages.
pub fn shown(module: &Module) -> String {
    let operand = |operand: &Operand| match *operand {
        Operand::Instruction(id) => format!("%{}", id.0),
        Operand::Parameter(number) => format!("a{number}"),
        Operand::Integer(value) => value.to_string(),
        Operand::Symbol(symbol, _) => module.symbols[symbol.0 as usize].name.clone(),
        Operand::Block(block) => format!("@{}", block.0),
        ref other => format!("{other:?}"),
    };
    let mut text = String::new();
    for function in &module.functions {
        text += &format!("{}:\n", module.symbols[function.symbol.0 as usize].name);
        for (number, instruction) in (0..).zip(&function.instructions) {
            if let Some(block) = function.blocks.iter().position(|first| first.0 == number) {
                text += &format!("@{block}\n");
            }
            let operands: Vec<String> = instruction.operands.iter().map(operand).collect();
            let name = format!("{:?}", instruction.operation);
            let name = name.split([' ', '(']).next().unwrap_or_default();
            text += &format!("  %{number} = {name} {}\n", operands.join(", "));
        }
    }
    text
}
