//! From a tiny program to the form that the analysis gets: SSA, as after `mem2reg`.

mod exceptions;
mod exchange;
mod tangle;

use crate::source::{Address, EARLY, Given, LOCK, Lock, NODE, Number, Object, REGISTERS, Source, Statement};
use racehunter_ir::{
    Attributes, BinaryOperator, BlockId, CastOperator, Function, Instruction, InstructionId, Linkage, Module, Operand,
    Operation, Order, Predicate, Symbol, SymbolId, SymbolKind, Type, UpdateOperator,
};

/// Functions outside the program, in the order of their symbols.
pub const OUTSIDE: [&str; 25] = [
    "pthread_create",
    "pthread_join",
    "pthread_mutex_lock",
    "pthread_mutex_unlock",
    "pthread_mutex_trylock",
    "pthread_rwlock_rdlock",
    "pthread_rwlock_wrlock",
    "pthread_rwlock_unlock",
    "__VERIFIER_atomic_begin",
    "__VERIFIER_atomic_end",
    "__VERIFIER_nondet_long",
    "malloc",
    "free",
    "sem_post",
    "sem_wait",
    "read",
    "write",
    "pthread_cond_wait",
    "mtx_lock",
    "__cxa_throw",
    "__cxa_begin_catch",
    "__cxa_end_catch",
    "__cxa_atexit",
    "exit",
    "pthread_exit",
];

const INTEGER: Type = Type::Integer(64);
/// Maximum number of thread handles of one function.
pub const HANDLES: u64 = 3;
pub const BLOCK: u64 = 16;

fn symbol_of(object: Object) -> SymbolId {
    SymbolId(Object::ALL.iter().position(|known| *known == object).unwrap() as u32)
}

fn outside(name: &str) -> Operand {
    let position = OUTSIDE.iter().position(|known| *known == name).unwrap();
    Operand::Symbol(SymbolId((Object::ALL.len() + position) as u32), 0)
}

fn function_symbol(number: usize) -> SymbolId {
    SymbolId((Object::ALL.len() + OUTSIDE.len() + number) as u32)
}

/// Returns the module of a program.
pub fn lower(source: &Source) -> Module {
    let symbol = |name: String, kind| Symbol { name, linkage: Linkage::External, kind };
    let variable = |object: &Object| SymbolKind::Variable {
        defined: true,
        bytes: object.bytes(),
        constant: false,
        thread_local: object.is_own(),
        pointers: Vec::new(),
        // All of them are initially zero.
        numbers: Some(Vec::new()),
        declaration: None,
    };
    let function = |defined| SymbolKind::Function { defined, attributes: Attributes::default() };
    let mut symbols: Vec<Symbol> =
        Object::ALL.iter().map(|object| symbol(object.name().to_owned(), variable(object))).collect();
    symbols.extend(OUTSIDE.map(|name| symbol(name.to_owned(), function(false))));
    let name = |number: usize| if number == 0 { "main".to_owned() } else { format!("f{number}") };
    symbols.extend((0..source.functions.len()).map(|number| symbol(name(number), function(true))));
    symbols.extend((source.functions.len() > EARLY).then(exceptions::early));
    let functions =
        source.functions.iter().enumerate().map(|(number, body)| Lowering::function(number, body)).collect();
    Module { symbols, functions, ..Module::default() }
}

/// Values of the registers at a point.
#[derive(Clone, PartialEq)]
struct Registers {
    numbers: [Operand; REGISTERS],
    pointer: Operand,
    narrow: Operand,
}

struct Lowering {
    instructions: Vec<Instruction>,
    /// First instruction of each block, in order.
    blocks: Vec<InstructionId>,
    /// The block of each label.
    labels: Vec<Option<BlockId>>,
    registers: Registers,
    handles: Operand,
    stack: Operand,
    slot: Operand,
    /// Where an exception leads.
    pads: Vec<Label>,
}

#[derive(Clone, Copy)]
struct Label(usize);

/// How a loop counts.
#[derive(Clone, Copy)]
struct Turn {
    step: i64,
    predicate: Predicate,
    /// The body gets the number before the counter.
    before: bool,
}

impl Lowering {
    fn function(number: usize, body: &[Statement]) -> Function {
        let registers = Registers {
            numbers: [const { Operand::Integer(0) }; REGISTERS],
            pointer: Operand::Null,
            narrow: Operand::Integer(0),
        };
        let mut lowering = Self {
            instructions: Vec::new(),
            blocks: vec![InstructionId(0)],
            labels: Vec::new(),
            registers,
            handles: Operand::Null,
            stack: Operand::Null,
            slot: Operand::Null,
            pads: Vec::new(),
        };
        let local = Operation::Local { bytes: 8 * HANDLES };
        lowering.handles = lowering.put(local, Type::Pointer, vec![Operand::Integer(1)]);
        lowering.stack =
            lowering.put(Operation::Local { bytes: NODE as u64 }, Type::Pointer, vec![Operand::Integer(1)]);
        lowering.slot = lowering.put(Operation::Local { bytes: 8 }, Type::Pointer, vec![Operand::Integer(1)]);
        lowering.body(body);
        lowering.put(Operation::Return, Type::Void, vec![Operand::Integer(0)]);
        // Labels become blocks.
        for instruction in &mut lowering.instructions {
            if let Operation::Invoke { normal, unwind } = &mut instruction.operation {
                for way in [normal, unwind] {
                    *way = lowering.labels[way.0 as usize].expect("every label is set");
                }
            }
            for operand in &mut instruction.operands {
                if let Operand::Block(BlockId(label)) = operand {
                    *operand = Operand::Block(lowering.labels[*label as usize].expect("every label is set"));
                }
            }
        }
        Function {
            symbol: function_symbol(number),
            parameters: vec![Type::Pointer],
            returns: INTEGER,
            entry_site: None,
            location: None,
            blocks: lowering.blocks,
            instructions: lowering.instructions,
            variables: Vec::new(),
        }
    }

    fn put(&mut self, operation: Operation, ty: Type, operands: Vec<Operand>) -> Operand {
        let id = InstructionId(self.instructions.len() as u32);
        self.instructions.push(Instruction { operation, ty, operands, location: None, site: None });
        Operand::Instruction(id)
    }

    fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() - 1)
    }

    fn begin(&mut self, label: Label) {
        self.blocks.push(InstructionId(self.instructions.len() as u32));
        self.labels[label.0] = Some(BlockId(self.blocks.len() as u32 - 1));
    }

    /// Returns a label of the current block.
    fn here(&mut self) -> Label {
        let label = self.label();
        self.labels[label.0] = Some(BlockId(self.blocks.len() as u32 - 1));
        label
    }

    fn jump(&mut self, to: Label) {
        self.put(Operation::Jump, Type::Void, vec![block(to)]);
    }

    fn call(&mut self, name: &str, ty: Type, arguments: Vec<Operand>) -> Operand {
        self.put(Operation::Call, ty, [vec![outside(name)], arguments].concat())
    }

    fn number(&mut self, number: Number) -> Operand {
        match number {
            Number::Constant(value) => Operand::Integer(value),
            Number::Register(register) => self.registers.numbers[register].clone(),
            Number::Argument => {
                self.put(Operation::Cast(CastOperator::PointerToInteger), INTEGER, vec![Operand::Parameter(0)])
            }
            Number::Next => {
                let number = self.number(Number::Argument);
                let operands = vec![number, Operand::Integer(1)];
                self.put(Operation::Binary(BinaryOperator::Add), INTEGER, operands)
            }
            Number::Twice(more) => {
                let number = self.number(Number::Argument);
                let twice =
                    self.put(Operation::Binary(BinaryOperator::Multiply), INTEGER, vec![number, Operand::Integer(2)]);
                self.put(Operation::Binary(BinaryOperator::Add), INTEGER, vec![twice, Operand::Integer(more)])
            }
            Number::Narrow => match self.registers.narrow.clone() {
                round @ Operand::Instruction(_) => {
                    self.put(Operation::Cast(CastOperator::ZeroExtend), INTEGER, vec![round])
                }
                other => other,
            },
            Number::Input => self.call("__VERIFIER_nondet_long", INTEGER, Vec::new()),
        }
    }

    fn indexed(&mut self, base: Operand, number: Number, scale: i64, offset: i64) -> Operand {
        let index = self.number(number);
        let operation = Operation::Offset { constant: offset, scales: vec![scale as u64] };
        self.put(operation, Type::Pointer, vec![base, index])
    }

    fn address(&mut self, address: Address) -> Operand {
        let behind = |lowering: &mut Self, base: Operand, offset: i64| match offset {
            0 => base,
            constant => lowering.put(Operation::Offset { constant, scales: Vec::new() }, Type::Pointer, vec![base]),
        };
        match address {
            Address::Variable(object, offset) => Operand::Symbol(symbol_of(object), offset),
            Address::Element(number) => self.indexed(Operand::Symbol(symbol_of(Object::Array), 0), number, 8, 0),
            Address::Node(number, offset) => {
                self.indexed(Operand::Symbol(symbol_of(Object::Nodes), 0), number, NODE, offset)
            }
            Address::Argument(offset) => behind(self, Operand::Parameter(0), offset),
            Address::Pointer(offset) => behind(self, self.registers.pointer.clone(), offset),
            Address::Handle(number) => self.indexed(self.handles.clone(), number, 8, 0),
            Address::Stack(offset) => behind(self, self.stack.clone(), offset),
            Address::LockOf(number) => self.indexed(Operand::Symbol(symbol_of(Object::Locks), 0), number, LOCK, 0),
        }
    }

    fn given(&mut self, given: Given) -> Operand {
        match given {
            Given::Null => Operand::Null,
            Given::Number(number) => {
                let value = self.number(number);
                self.put(Operation::Cast(CastOperator::IntegerToPointer), Type::Pointer, vec![value])
            }
            Given::Address(address) => self.address(address),
        }
    }

    fn lock(&mut self, lock: Lock, names: [&str; 4]) {
        let rw = Operand::Symbol(symbol_of(Object::Readers), 0);
        let (name, arguments) = match lock {
            Lock::Mutex(address) => (names[0], vec![self.address(address)]),
            Lock::Read => (names[1], vec![rw]),
            Lock::Write => (names[2], vec![rw]),
            Lock::Atomic => (names[3], Vec::new()),
        };
        self.call(name, Type::Integer(32), arguments);
    }

    fn body(&mut self, body: &[Statement]) {
        for statement in body {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &Statement) {
        let load = |ty| (Operation::Load { bytes: 8, order: None, volatile: false }, ty);
        let store = || Operation::Store { bytes: 8, order: None, volatile: false };
        match statement {
            Statement::Set(register, number) => self.registers.numbers[*register] = self.number(*number),
            Statement::Read(register, address) => {
                let address = self.address(*address);
                let (operation, ty) = load(INTEGER);
                self.registers.numbers[*register] = self.put(operation, ty, vec![address]);
            }
            Statement::Write(address, number) => {
                let (number, address) = (self.number(*number), self.address(*address));
                self.put(store(), Type::Void, vec![number, address]);
            }
            Statement::Increment(address) => {
                let address = self.address(*address);
                let (operator, order) = (UpdateOperator::Add, Order::SequentiallyConsistent);
                let operation = Operation::Update { operator, bytes: 8, order };
                self.put(operation, INTEGER, vec![address, Operand::Integer(1)]);
            }
            Statement::Point(address) => self.registers.pointer = self.address(*address),
            Statement::Load => {
                let (operation, ty) = load(Type::Pointer);
                let global = Operand::Symbol(symbol_of(Object::Pointer), 0);
                self.registers.pointer = self.put(operation, ty, vec![global]);
            }
            Statement::Publish => {
                let global = Operand::Symbol(symbol_of(Object::Pointer), 0);
                self.put(store(), Type::Void, vec![self.registers.pointer.clone(), global]);
            }
            Statement::Allocate => {
                let bytes = Operand::Integer(BLOCK as i64);
                self.registers.pointer = self.call("malloc", Type::Pointer, vec![bytes]);
            }
            Statement::Free => {
                let pointer = self.registers.pointer.clone();
                self.call("free", Type::Void, vec![pointer]);
            }
            Statement::Lock(lock) => {
                let names =
                    ["pthread_mutex_lock", "pthread_rwlock_rdlock", "pthread_rwlock_wrlock", "__VERIFIER_atomic_begin"];
                self.lock(*lock, names);
            }
            Statement::Unlock(lock) => {
                let names =
                    ["pthread_mutex_unlock", "pthread_rwlock_unlock", "pthread_rwlock_unlock", "__VERIFIER_atomic_end"];
                self.lock(*lock, names);
            }
            Statement::Try(lock, test, body) => {
                let lock = self.address(*lock);
                let result = self.call("pthread_mutex_trylock", Type::Integer(32), vec![lock]);
                let (left, right) = self.tested(result, *test);
                self.branch(Predicate::Equal, left, right, body, &[]);
            }
            Statement::Ask(lock, body, otherwise) => {
                let lock = self.address(*lock);
                let result = self.call("mtx_lock", Type::Integer(32), vec![lock]);
                self.branch(Predicate::Equal, result, Operand::Integer(0), body, otherwise);
            }
            Statement::If(number, value, yes, no) => {
                let number = self.number(*number);
                self.branch(Predicate::Equal, number, Operand::Integer(*value), yes, no);
            }
            Statement::IfPointer(body) => {
                let pointer = self.registers.pointer.clone();
                self.branch(Predicate::Equal, pointer, Operand::Null, &[], body);
            }
            Statement::UnlessPointer(body) => {
                let pointer = self.registers.pointer.clone();
                self.branch(Predicate::Equal, pointer, Operand::Null, body, &[]);
            }
            Statement::AtomicStore(object, order) => {
                let operands = vec![self.registers.pointer.clone(), Operand::Symbol(symbol_of(*object), 0)];
                let operation = Operation::Store { bytes: 8, order: Some(*order), volatile: false };
                self.put(operation, Type::Void, operands);
            }
            Statement::AtomicLoad(object, order) => {
                let operation = Operation::Load { bytes: 8, order: Some(*order), volatile: false };
                let address = Operand::Symbol(symbol_of(*object), 0);
                self.registers.pointer = self.put(operation, Type::Pointer, vec![address]);
            }
            Statement::AtomicExchange(object, order) => {
                let operands = vec![Operand::Symbol(symbol_of(*object), 0), self.registers.pointer.clone()];
                let operation = Operation::Update { operator: UpdateOperator::Exchange, bytes: 8, order: *order };
                self.registers.pointer = self.put(operation, Type::Pointer, operands);
            }
            Statement::Fence(order) => {
                self.put(Operation::Fence(*order), Type::Void, Vec::new());
            }
            Statement::Repeat(register, times, body) => {
                self.repeat(*register, Operand::Integer(0), Operand::Integer(*times), body);
            }
            Statement::Range(register, begin, end, body) => {
                let (begin, end) = (self.number(*begin), self.number(*end));
                self.repeat(*register, begin, end, body);
            }
            Statement::Below(number, end, yes, no) => {
                let (number, end) = (self.number(*number), self.number(*end));
                self.branch(Predicate::Less, number, end, yes, no);
            }
            Statement::Create(handle, function, given) => {
                let handle = self.address(Address::Handle(*handle));
                let given = self.given(*given);
                let entry = Operand::Symbol(function_symbol(*function), 0);
                self.call("pthread_create", Type::Integer(32), vec![handle, Operand::Null, entry, given]);
            }
            Statement::Join(handle) => {
                let handle = self.address(Address::Handle(*handle));
                let (operation, ty) = load(INTEGER);
                let handle = self.put(operation, ty, vec![handle]);
                self.call("pthread_join", Type::Integer(32), vec![handle, Operand::Null]);
            }
            Statement::Call(function, given) => {
                let given = self.given(*given);
                self.invoke(vec![Operand::Symbol(function_symbol(*function), 0), given]);
            }
            Statement::Send => {
                let (pointer, slot) = (self.registers.pointer.clone(), self.slot.clone());
                self.put(store(), Type::Void, vec![pointer, slot.clone()]);
                self.call("write", INTEGER, vec![Operand::Integer(1), slot, Operand::Integer(8)]);
            }
            Statement::Receive | Statement::ReceiveNumber => {
                let slot = self.slot.clone();
                self.call("read", INTEGER, vec![Operand::Integer(0), slot.clone(), Operand::Integer(8)]);
                let is_number = *statement == Statement::ReceiveNumber;
                let (operation, ty) = load(if is_number { INTEGER } else { Type::Pointer });
                let mut value = self.put(operation, ty, vec![slot]);
                if is_number {
                    value = self.put(Operation::Cast(CastOperator::IntegerToPointer), Type::Pointer, vec![value]);
                }
                self.registers.pointer = value;
            }
            Statement::Tangle(register, times, one, other) => self.tangle(*register, *times, one, other),
            Statement::Await(lock) => {
                let lock = self.address(*lock);
                let condition = Operand::Symbol(symbol_of(Object::Condition), 0);
                self.call("pthread_cond_wait", Type::Integer(32), vec![condition, lock]);
            }
            Statement::Ticket(register, address) => {
                let address = self.address(*address);
                let (operator, order) = (UpdateOperator::Add, Order::SequentiallyConsistent);
                let operation = Operation::Update { operator, bytes: 8, order };
                self.registers.numbers[*register] = self.put(operation, INTEGER, vec![address, Operand::Integer(1)]);
            }
            Statement::NarrowTicket(register) => {
                let address = Operand::Symbol(symbol_of(Object::Narrow), 0);
                let (operator, order) = (UpdateOperator::Add, Order::SequentiallyConsistent);
                let operation = Operation::Update { operator, bytes: 1, order };
                let taken = self.put(operation, Type::Integer(8), vec![address, Operand::Integer(1)]);
                self.registers.numbers[*register] =
                    self.put(Operation::Cast(CastOperator::ZeroExtend), INTEGER, vec![taken]);
            }
            Statement::Post | Statement::Wait => {
                let name = if *statement == Statement::Post { "sem_post" } else { "sem_wait" };
                self.call(name, Type::Integer(32), vec![Operand::Symbol(symbol_of(Object::Semaphore), 0)]);
            }
            Statement::Exchange { order, value, test, flipped, body } => {
                let (left, right) = self.exchange(*order, *value, *test);
                let (yes, no): (&[_], &[_]) = if *flipped { (&[], body) } else { (body, &[]) };
                self.branch(Predicate::Equal, left, right, yes, no);
            }
            Statement::AtExit(..)
            | Statement::Exit
            | Statement::Leave
            | Statement::Throw
            | Statement::Catch(..)
            | Statement::Scoped(..) => self.exceptional(statement),
            Statement::Clear(order) => {
                let operation = Operation::Store { bytes: 8, order: Some(*order), volatile: false };
                let flag = Operand::Symbol(symbol_of(Object::Flag), 0);
                self.put(operation, Type::Void, vec![Operand::Integer(0), flag]);
            }
            Statement::Down { register, from, above, predicate, before, body } => {
                let from = self.number(*from);
                let turn = Turn { step: -1, predicate: *predicate, before: *before };
                self.turn(*register, from, Operand::Integer(*above), turn, body);
            }
        }
    }

    /// Writes two sides, one if a comparison holds, and phis where they meet.
    fn branch(&mut self, predicate: Predicate, left: Operand, right: Operand, yes: &[Statement], no: &[Statement]) {
        let (one, other, after) = (self.label(), self.label(), self.label());
        // A truth value is a condition by itself.
        let is_truth =
            matches!(left, Operand::Instruction(at) if self.instructions[at.0 as usize].ty == Type::Integer(1));
        let (holds, ways) = match right {
            Operand::Integer(0) if is_truth => (left, [other, one]),
            Operand::Integer(_) if is_truth => (left, [one, other]),
            right => (self.put(Operation::Compare(predicate), Type::Integer(1), vec![left, right]), [one, other]),
        };
        self.put(Operation::Branch, Type::Void, vec![holds, block(ways[0]), block(ways[1])]);
        let before = self.registers.clone();
        self.begin(one);
        self.body(yes);
        let left = (std::mem::replace(&mut self.registers, before), self.here());
        self.jump(after);
        self.begin(other);
        self.body(no);
        let right = (self.registers.clone(), self.here());
        self.jump(after);
        self.begin(after);
        self.meet(left, right);
    }

    /// Writes phis where two ways meet.
    fn meet(&mut self, left: (Registers, Label), right: (Registers, Label)) {
        self.registers = right.0.clone();
        for register in 0..REGISTERS {
            let (one, other) = (&left.0.numbers[register], &right.0.numbers[register]);
            if one != other {
                let ways = vec![one.clone(), block(left.1), other.clone(), block(right.1)];
                self.registers.numbers[register] = self.put(Operation::Phi, INTEGER, ways);
            }
        }
        if left.0.pointer != right.0.pointer {
            let ways = vec![left.0.pointer, block(left.1), right.0.pointer.clone(), block(right.1)];
            self.registers.pointer = self.put(Operation::Phi, Type::Pointer, ways);
        }
    }

    /// Writes a loop that counts up a register.
    fn repeat(&mut self, register: usize, begin: Operand, end: Operand, body: &[Statement]) {
        self.turn(register, begin, end, Turn { step: 1, predicate: Predicate::Less, before: false }, body);
    }

    /// Writes a loop that counts; the other registers have phis, whether they need them or not.
    fn turn(&mut self, register: usize, begin: Operand, end: Operand, turn: Turn, body: &[Statement]) {
        self.registers.numbers[register] = begin;
        let (header, inside, after, from) = (self.label(), self.label(), self.label(), self.here());
        self.jump(header);
        self.begin(header);
        let first = self.instructions.len();
        for number in 0..REGISTERS {
            let way = vec![self.registers.numbers[number].clone(), block(from)];
            self.registers.numbers[number] = self.put(Operation::Phi, INTEGER, way);
        }
        let way = vec![self.registers.pointer.clone(), block(from)];
        self.registers.pointer = self.put(Operation::Phi, Type::Pointer, way);
        let outer = self.registers.narrow.clone();
        let round = self.put(Operation::Phi, Type::Integer(1), vec![Operand::Integer(0), block(from)]);
        self.registers.narrow = round.clone();
        let phis = Registers { narrow: outer, ..self.registers.clone() };
        let counter = phis.numbers[register].clone();
        let operands = vec![counter.clone(), end];
        let goes_on = self.put(Operation::Compare(turn.predicate), Type::Integer(1), operands);
        self.put(Operation::Branch, Type::Void, vec![goes_on, block(inside), block(after)]);
        self.begin(inside);
        if turn.before {
            let before = vec![counter.clone(), Operand::Integer(-1)];
            self.registers.numbers[register] = self.put(Operation::Binary(BinaryOperator::Add), INTEGER, before);
        }
        self.body(body);
        let next =
            self.put(Operation::Binary(BinaryOperator::Add), INTEGER, vec![counter, Operand::Integer(turn.step)]);
        self.registers.numbers[register] = next;
        let round =
            self.put(Operation::Binary(BinaryOperator::Add), Type::Integer(1), vec![round, Operand::Integer(1)]);
        let back = self.here();
        let Registers { numbers, pointer, .. } = &self.registers;
        let values: Vec<Operand> = numbers.iter().chain([pointer, &round]).cloned().collect();
        for (at, value) in (first..).zip(values) {
            self.instructions[at].operands.extend([value, block(back)]);
        }
        self.jump(header);
        self.begin(after);
        self.registers = phis;
    }

    /// Writes phis for all registers, with one predecessor so far; returns where they begin.
    fn phis(&mut self, values: &Registers, from: Label) -> usize {
        let first = self.instructions.len();
        for number in 0..REGISTERS {
            let way = vec![values.numbers[number].clone(), block(from)];
            self.registers.numbers[number] = self.put(Operation::Phi, INTEGER, way);
        }
        let way = vec![values.pointer.clone(), block(from)];
        self.registers.pointer = self.put(Operation::Phi, Type::Pointer, way);
        self.registers.narrow = Operand::Integer(0);
        first
    }

    fn more_ways(&mut self, first: usize, values: &Registers, from: Label) {
        let values = values.numbers.iter().chain([&values.pointer]).cloned();
        for (at, value) in (first..).zip(values) {
            self.instructions[at].operands.extend([value, block(from)]);
        }
    }
}

fn block(label: Label) -> Operand {
    Operand::Block(BlockId(label.0 as u32))
}
