//! The effect of calls on pointers: calls of the program's functions, and of functions outside it.

use super::memory::Slots;
use super::{COPY, InstanceId, POINTER, PointsTo, Precision, Thread, ThreadId, grow};
use crate::domain::congruence::Congruence;
use crate::models::{Model, THROW, streams};
use crate::pointer::address::{Addresses, Base, Origin};
use crate::program::FunctionId;
use racehunter_ir::{Instruction, Operand, Symbol, SymbolKind, Type};

/// Maximum number of pointers that copies add to an object one by one.
const MOST_COPIED: usize = 512;

impl PointsTo<'_> {
    pub(super) fn call(&mut self, id: InstanceId, at: u32, call: &Instruction) -> Addresses {
        let Some(callee) = call.operands.first() else { return Addresses::default() };
        if let Operand::Assembler { memory } = callee {
            return if *memory || call.ty == Type::Pointer {
                self.unknown(Origin::Assembler)
            } else {
                Addresses::default()
            };
        }
        let mut result = Addresses::default();
        for (base, _) in self.operand(id, callee).iter() {
            match self.describe(base).clone() {
                Base::Function(function) if self.is_standard_stream(id, call, function) == Some(true) => {
                    let name = streams::standard(self.program.function_name(function)).unwrap_or_default();
                    self.instances[id].outside.entry(at).or_default().insert(name.clone());
                    let value = self.outside(id, at, call, &name);
                    result.add_all(&value);
                }
                // The stream is not known yet.
                Base::Function(function) if self.is_standard_stream(id, call, function).is_none() => {}
                Base::Function(function) => {
                    let next = self.callee(id, at, function);
                    if self.exhausted {
                        return result;
                    }
                    self.pass(id, next, &call.operands[1..]);
                    result.add_all(&self.instances[next].result);
                }
                Base::Outside(name) => {
                    self.instances[id].outside.entry(at).or_default().insert(name.clone());
                    let value = self.outside(id, at, call, &name);
                    result.add_all(&value);
                }
                // Other calls are gaps, which the solver reports.
                _ => {}
            }
        }
        result
    }

    /// Returns true if a call of a function is for a standard stream, and for nothing else; nothing as long as it is for
    /// no stream at all. A stream that is added later makes it a call of the function too.
    fn is_standard_stream(&self, id: InstanceId, call: &Instruction, function: FunctionId) -> Option<bool> {
        if streams::standard(self.program.function_name(function)).is_none() {
            return Some(false);
        }
        let streams = call.operands.get(1).map(|stream| self.operand(id, stream)).unwrap_or_default();
        let is_standard = |(base, _)| match *self.describe(base) {
            Base::Variable(variable) => {
                let is_elsewhere =
                    matches!(self.program.variable_kind(variable), SymbolKind::Variable { defined: false, .. });
                is_elsewhere && streams::STREAMS.contains(&self.program.variable_of(variable).name.as_str())
            }
            _ => false,
        };
        (!streams.is_empty()).then(|| streams.iter().all(is_standard))
    }

    /// Returns true if calls of an instance copy the memory behind some arguments.
    pub fn gets_copies(&self, id: InstanceId) -> bool {
        let (code, module) = self.program.function(self.instances[id].function);
        let attributes = |symbol: &Symbol| match symbol.kind {
            SymbolKind::Function { attributes, .. } => Some(attributes),
            _ => None,
        };
        let Some(own) = self.program.modules[module].symbol(code.symbol).and_then(attributes) else { return false };
        // Only its callers know which of its variable arguments are copies.
        let mut all = self.program.modules.iter().flat_map(|module| &module.symbols);
        own.by_value || own.variadic && all.any(|symbol| attributes(symbol).is_some_and(|of| of.by_value))
    }

    fn is_variadic(&self, id: InstanceId) -> bool {
        let (code, module) = self.program.function(self.instances[id].function);
        self.program.modules[module]
            .symbol(code.symbol)
            .is_some_and(|symbol| matches!(symbol.kind, SymbolKind::Function { attributes, .. } if attributes.variadic))
    }

    /// Passes arguments to the parameters of a function.
    fn pass(&mut self, caller: InstanceId, callee: InstanceId, arguments: &[Operand]) {
        if self.precision == Precision::Names {
            return;
        }
        let copies = self.gets_copies(callee);
        let fixed = self.instances[callee].parameters.len();
        if arguments.len() > fixed && self.is_variadic(callee) {
            let others = self.base(Base::Variadic(callee));
            for argument in &arguments[fixed..] {
                let value = self.operand(caller, argument);
                self.put(others, Congruence::ANY, &value, None);
            }
        }
        for (index, argument) in arguments.iter().enumerate() {
            let mut value = self.operand(caller, argument);
            // A copy counts as its original, and as something else too: a lock in it is neither.
            if copies && !value.is_empty() {
                value.add(self.base(Base::Local(callee, COPY)), Congruence::exact(0));
            }
            let too_many = self.too_many();
            if let Some(parameter) = self.instances[callee].parameters.get_mut(index)
                && grow(self.most_targets, too_many, parameter, &value)
            {
                self.parameter_changed(callee, index);
            }
        }
    }

    fn outside(&mut self, id: InstanceId, at: u32, call: &Instruction, name: &str) -> Addresses {
        let argument = |this: &Self, index: usize| {
            call.operands.get(index + 1).map_or_else(Addresses::default, |operand| this.operand(id, operand))
        };
        match self.models.of(name) {
            Some(Model::Create(create)) => {
                let (entry, passed) = (argument(self, create.entry), argument(self, create.argument));
                self.passed.add_all(&passed);
                let mut result = Addresses::default();
                for (base, _) in entry.iter() {
                    let Base::Function(function) = *self.describe(base) else { continue };
                    let thread = self.created(id, at, function);
                    let handle = self.base(Base::Handle(thread));
                    match create.handle {
                        Some(index) => {
                            let cell = argument(self, index);
                            self.write(id, at, &cell, &Addresses::one(handle, Congruence::exact(0)));
                        }
                        None => {
                            result.add(handle, Congruence::exact(0));
                        }
                    }
                    let root = self.threads[thread].root;
                    if self.precision != Precision::Names
                        && let Some(parameter) = self.instances[root].parameters.first_mut()
                        && parameter.add_all(&passed)
                    {
                        self.parameter_changed(root, 0);
                    }
                }
                result
            }
            Some(Model::Allocate(allocate)) => {
                let heap = self.base(Base::Heap(id, at));
                let new = Addresses::one(heap, Congruence::exact(0));
                if let Some(old) = allocate.copies {
                    let old = argument(self, old);
                    let content = self.read(id, at, &old.map(|_| Congruence::ANY), POINTER);
                    self.write(id, at, &new.map(|_| Congruence::ANY), &content);
                }
                match allocate.into {
                    Some(into) => {
                        let cell = argument(self, into);
                        self.write(id, at, &cell, &new);
                        Addresses::default()
                    }
                    None => new,
                }
            }
            Some(Model::Access(access)) => {
                self.expose_by_call(id, at, call, &access);
                if access.copies {
                    let (to, from) = access.copied();
                    let (to, from) = (argument(self, to), argument(self, from));
                    self.copy(id, at, &to, &from);
                } else if !access.numbers {
                    // It may be filled with pointers: with those that were let out, or others that the library has.
                    let unknown = match access.data {
                        true => self.exposed(id, at),
                        false => self.unknown(Origin::Stored(name.to_owned())),
                    };
                    for index in (0..call.operands.len()).filter(|&index| access.writes_argument(index)) {
                        let cells = argument(self, index).map(|_| Congruence::ANY);
                        self.write(id, at, &cells, &unknown);
                    }
                }
                if let Some([cell, target]) = access.points {
                    let target = argument(self, target).map(|_| Congruence::ANY);
                    let cell = argument(self, cell);
                    self.write(id, at, &cell, &target);
                }
                if access.environment {
                    return Addresses::one(self.base(Base::Environment), Congruence::ANY);
                }
                if access.handle {
                    return Addresses::one(self.base(Base::Outside(name.to_owned())), Congruence::exact(0));
                }
                // A function that searches returns its argument with an offset; one that fills returns it unchanged.
                let Some(index) = access.returns else {
                    return if call.ty == Type::Pointer {
                        self.unknown(Origin::Returned(name.to_owned()))
                    } else {
                        Addresses::default()
                    };
                };
                let is_search = access.reads.contains(index) && !access.writes.contains(index);
                argument(self, index).map(|offset| if is_search { Congruence::ANY } else { offset })
            }
            Some(Model::Call(call_back)) => {
                for (base, _) in argument(self, call_back.entry).iter() {
                    if let Base::Function(function) = *self.describe(base) {
                        self.callee(id, at, function);
                    }
                }
                Addresses::default()
            }
            Some(Model::Join(join)) => {
                self.joiners.insert((id, at));
                let mut left = Addresses::default();
                for (base, _) in argument(self, join.handle).iter() {
                    match *self.describe(base) {
                        Base::Handle(thread) => {
                            let root = self.threads[thread].root;
                            left.add_all(&self.instances[root].result);
                        }
                        _ => {
                            left.add_all(&self.unknown(Origin::Joined));
                        }
                    }
                }
                let cell = argument(self, 1);
                self.write(id, at, &cell, &left);
                Addresses::default()
            }
            Some(Model::Variadic) => {
                let others = self.base(Base::Variadic(id));
                let list = argument(self, 0).map(|_| Congruence::ANY);
                self.write(id, at, &list, &Addresses::one(others, Congruence::ANY));
                Addresses::default()
            }
            Some(Model::Keep(keep)) => {
                let kept = self.base(Base::Kept(self.instances[id].thread));
                let value = argument(self, keep.value);
                self.write(id, at, &Addresses::one(kept, Congruence::ANY), &value);
                Addresses::default()
            }
            Some(Model::Recall) => {
                let kept = self.base(Base::Kept(self.instances[id].thread));
                self.read(id, at, &Addresses::one(kept, Congruence::ANY), POINTER)
            }
            Some(Model::AtExit(model)) => {
                self.at_exit(id, at, call, &model);
                Addresses::default()
            }
            Some(Model::Throw) => {
                if name == THROW {
                    self.throw(id, at, call);
                }
                Addresses::default()
            }
            Some(Model::Caught) => self.caught(id, at, call),
            Some(Model::EndOfCatch) => {
                self.end_of_catch(id, at);
                Addresses::default()
            }
            Some(Model::Leave) => {
                let root = self.threads[self.instances[id].thread].root;
                let value = argument(self, 0);
                self.add_result(root, &value);
                Addresses::default()
            }
            Some(Model::Input) | None if matches!(call.ty, Type::Pointer | Type::Aggregate(_) | Type::Other) => {
                self.unknown(Origin::Returned(name.to_owned()))
            }
            _ => Addresses::default(),
        }
    }

    /// Returns the thread that a call creates.
    fn created(&mut self, creator: InstanceId, at: u32, function: FunctionId) -> ThreadId {
        let known = self.instances[creator]
            .creates
            .get(&at)
            .and_then(|list| list.iter().copied().find(|thread| self.function_of(*thread) == function));
        if let Some(known) = known {
            return known;
        }
        // A thread that creates threads like itself stands for all of them.
        let mut ancestor = Some(self.instances[creator].thread);
        let mut id = None;
        while let Some(thread) = ancestor {
            let described = &self.threads[thread];
            if self.function_of(thread) == function && described.creator.is_some() {
                id = Some(thread);
                break;
            }
            ancestor = described.creator.map(|(instance, _)| self.instances[instance].thread);
        }
        let id = match id {
            Some(thread) => {
                self.threads[thread].recursive = true;
                thread
            }
            None => {
                let thread = ThreadId(self.threads.len() as u32);
                let root = InstanceId(self.instances.len() as u32);
                self.threads.push(Thread { root, creator: Some((creator, at)), recursive: false });
                self.instance(function, thread, None);
                thread
            }
        };
        self.instances[creator].creates.entry(at).or_default().insert(id);
        id
    }

    fn copy(&mut self, id: InstanceId, at: u32, to: &Addresses, from: &Addresses) {
        if self.is_anywhere(to) || self.is_anywhere(from) {
            let unknown = self.unknown(Origin::TooMany);
            return self.write(id, at, &to.map(|_| Congruence::ANY), &unknown);
        }
        self.read(id, at, from, POINTER);
        for (source, begin) in from.iter() {
            let cells: Vec<(Congruence, Addresses)> = (self.memory.get(&source).into_iter().flat_map(Slots::iter))
                .map(|(offset, cell)| (offset, cell.content.clone()))
                .collect();
            self.steps += (cells.len() * to.0.len()) as u64;
            for (offset, content) in cells {
                for (base, target) in to.iter() {
                    let moved = match (begin.only(), target.only(), offset.only()) {
                        // Moves within an object take effect when the copy is visited again.
                        (Some(begin), Some(target), _) if base == source => {
                            offset.plus_multiples(target.abs_diff(begin))
                        }
                        (Some(begin), Some(target), Some(offset)) => {
                            Congruence::exact(target.wrapping_add(offset).wrapping_sub(begin))
                        }
                        _ => Congruence::ANY,
                    };
                    // Objects that are copied to each other with an offset would grow without end.
                    let is_full =
                        self.memory.get(&base).is_some_and(|cells| cells.len() > MOST_COPIED && !cells.contains(moved));
                    let moved = if is_full { Congruence::ANY } else { moved };
                    self.put(base, moved, &content, Some((id, at)));
                }
            }
        }
    }
}
