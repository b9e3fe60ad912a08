//! The points-to analysis: inclusion-based, flow-insensitive, with an instance of a function for each call site that leads to it,
//! and of a thread for each place that creates it.
//!
//! Locals, heap blocks, locks and threads of different instances are therefore distinct by construction: a wrapper of
//! `malloc` allocates different memory for each of its callers. If that becomes too expensive, the program is analysed
//! again with one instance of each function per thread.
//!
//! The sets only grow, and every instruction is visited again when an operand has grown, so at the end they contain
//! every target that an execution can have. Start at [`PointsTo`], then [`transfer`].

pub mod address;
pub mod backend;
mod calls;
pub mod escape;
mod exceptions;
pub mod exits;
mod exposed;
pub mod fresh;
mod memory;
mod numbers;
mod transfer;
mod unify;
mod users;

use crate::cfg::blocks::Blocks;
use crate::cfg::unwinding::Unwinding;
use crate::domain::congruence::Congruence;
use crate::index::{IndexVec, ids};
use crate::models::Models;
use crate::pointer::address::{Addresses, Base, BaseId, Origin};
use crate::program::{Entity, FunctionId, Program};
use exits::Exits;
use memory::Slots;
use racehunter_ir::{Function, Instruction, Operand, SymbolKind};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use users::Users;

/// Maximum number of instances, before each function is analysed once per thread.
const MAX_INSTANCES: usize = 4000;
const MAX_INSTRUCTIONS: usize = 400_000;
/// Maximum number of instruction visits before the analysis gives up.
const MAX_STEPS: u64 = 100_000_000;
/// Stands for the copy of an argument, which no instruction makes.
const COPY: u32 = u32::MAX;
/// If nothing else terminates, a pointer with more targets than this can point anywhere. In large programs most
/// pointers are like this, and following them reveals nothing.
const MOST_TARGETS: usize = 8;
/// If the memory of a base has pointers at more offsets than this, later ones may be anywhere in it.
const MOST_CELLS: usize = 512;
/// A larger program is analysed only in this way.
const LARGE: usize = 100_000;
/// Variables of the C library that point to otherwise unreachable memory.
pub(crate) const STREAMS: [&str; 3] = ["stdin", "stdout", "stderr"];
/// Size of a pointer on the plugin's targets.
const POINTER: u64 = 8;

/// A function, called from one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct InstanceId(pub u32);

/// One place that creates threads, and the function that they run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ThreadId(pub u32);

ids!(InstanceId, ThreadId);

/// A function, called from one place.
#[derive(Clone, Debug)]
pub struct Instance {
    /// The function.
    pub function: FunctionId,
    /// The thread that it runs in.
    pub thread: ThreadId,
    /// The first caller and its instruction; none for the entry function of a thread.
    pub caller: Option<(InstanceId, u32)>,
    /// True if it is called from more than one place, or recursively.
    pub shared: bool,
    /// The targets of its calls.
    pub callees: BTreeMap<u32, BTreeSet<InstanceId>>,
    /// Functions outside the program that it calls.
    pub outside: BTreeMap<u32, BTreeSet<String>>,
    /// Threads that its calls create.
    pub creates: BTreeMap<u32, BTreeSet<ThreadId>>,
    parameters: Vec<Addresses>,
    values: Vec<Addresses>,
    result: Addresses,
    callers: BTreeSet<ProgramPoint>,
}

/// An instruction of an instance.
type ProgramPoint = (InstanceId, u32);

/// A thread, or all threads that one place creates.
#[derive(Clone, Debug)]
pub struct Thread {
    /// The instance of its entry function.
    pub root: InstanceId,
    /// Where it is created; none for the main thread.
    pub creator: Option<(InstanceId, u32)>,
    /// True if it creates threads like itself.
    pub recursive: bool,
}

/// The precision of the analysis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// An instance of a function for each call site, unless there are too many.
    Instances,
    /// One instance of a function in each thread.
    Functions,
    /// The same, and pointers in memory or passed to functions are not followed.
    Names,
}

/// The points-to sets of values in instances of functions.
pub struct PointsTo<'a> {
    /// The program.
    pub program: &'a Program,
    /// Models of functions outside it.
    pub models: &'a Models,
    /// All instances.
    pub instances: IndexVec<InstanceId, Instance>,
    /// All threads; the first is the main thread.
    pub threads: IndexVec<ThreadId, Thread>,
    /// All bases.
    pub bases: IndexVec<BaseId, Base>,
    /// Control flow of the functions.
    pub blocks: IndexVec<FunctionId, Blocks>,
    /// The instances that run before `main`, in this order.
    pub before_main: Vec<InstanceId>,
    /// The functions that run when the program ends.
    pub exits: Exits,
    /// Memory that was passed to created threads.
    pub passed: Addresses,
    /// The base of file descriptors.
    pub descriptors: BaseId,
    /// True if functions are analysed only once per thread.
    pub merged: bool,
    /// Where exceptions lead.
    pub unwinding: Unwinding,
    precision: Precision,
    /// With more targets than this, a pointer can point anywhere.
    most_targets: usize,
    base_ids: FxHashMap<Base, BaseId>,
    memory: FxHashMap<BaseId, Slots>,
    readers: FxHashMap<BaseId, FxHashSet<ProgramPoint>>,
    contexts: FxHashMap<(InstanceId, u32, FunctionId), InstanceId>,
    joiners: BTreeSet<ProgramPoint>,
    /// By thread and destructor: the exceptions that it destroys.
    destructors: BTreeMap<(ThreadId, BaseId), Addresses>,
    /// The ends of handlers.
    catchers: BTreeSet<ProgramPoint>,
    /// Instructions that turn numbers into pointers.
    from_numbers: FxHashSet<ProgramPoint>,
    /// Instructions whose operands have grown, or that were never visited.
    work: BTreeSet<ProgramPoint>,
    /// By function: the users of its instructions' results and of its parameters.
    users: FxHashMap<FunctionId, Rc<Users>>,
    instructions: usize,
    steps: u64,
    exhausted: bool,
}

/// The main thread.
pub const MAIN: ThreadId = ThreadId(0);

impl<'a> PointsTo<'a> {
    /// Follows all pointers from the function in which the program starts.
    pub fn solve(program: &'a Program, models: &'a Models, main: FunctionId, precision: Precision) -> Self {
        let size: usize = program.functions().map(|function| program.function(function).0.instructions.len()).sum();
        let merged = if precision == Precision::Names { Precision::Names } else { Precision::Functions };
        let tries = [(precision, usize::MAX), (merged, usize::MAX), (merged, MOST_TARGETS)];
        let first = if size > LARGE && merged == Precision::Functions { 2 } else { 0 };
        let mut found = Self::attempt(program, models, main, tries[first]);
        for &next in &tries[first + 1..] {
            if found.exhausted && next != (found.precision, found.most_targets) {
                found = Self::attempt(program, models, main, next);
            }
        }
        found
    }

    /// The analysis for the largest programs: a pointer with more than this many targets can point anywhere.
    pub fn coarse(program: &'a Program, models: &'a Models, main: FunctionId, most_targets: usize) -> Self {
        Self::attempt(program, models, main, (Precision::Functions, most_targets))
    }

    fn attempt(
        program: &'a Program,
        models: &'a Models,
        main: FunctionId,
        (precision, most_targets): (Precision, usize),
    ) -> Self {
        let merged = precision != Precision::Instances;
        let mut this = Self {
            program,
            models,
            instances: IndexVec::default(),
            threads: IndexVec::from_iter([Thread { root: InstanceId(0), creator: None, recursive: false }]),
            bases: IndexVec::default(),
            blocks: program.functions().map(|function| Blocks::of(program.function(function).0)).collect(),
            before_main: Vec::new(),
            exits: Exits::default(),
            passed: Addresses::default(),
            descriptors: BaseId(0),
            merged,
            unwinding: Unwinding::default(),
            precision,
            most_targets,
            base_ids: FxHashMap::default(),
            memory: FxHashMap::default(),
            readers: FxHashMap::default(),
            contexts: FxHashMap::default(),
            joiners: BTreeSet::new(),
            destructors: BTreeMap::new(),
            catchers: BTreeSet::new(),
            from_numbers: FxHashSet::default(),
            work: BTreeSet::new(),
            users: FxHashMap::default(),
            instructions: 0,
            steps: 0,
            exhausted: false,
        };
        this.descriptors = this.base(Base::Descriptors);
        this.initialise();
        let root = this.instance(main, MAIN, None);
        let earlier = program.constructors().unwrap_or_default();
        this.before_main = earlier.into_iter().map(|function| this.instance(function, MAIN, None)).collect();
        // The arguments of the program, and what they point to.
        let environment = this.base(Base::Environment);
        let everything = Addresses::one(environment, Congruence::ANY);
        this.put(environment, Congruence::ANY, &everything, None);
        for parameter in &mut this.instances[root].parameters {
            parameter.add_all(&everything);
        }
        this.settle();
        while !this.exhausted && this.find_numbers() {
            this.settle();
        }
        this.unwinding = Unwinding::of(&this);
        this.order_exits();
        this
    }

    /// Visits instructions until nothing changes.
    fn settle(&mut self) {
        loop {
            while let Some((id, at)) = self.work.pop_first() {
                self.visit(id, at);
                if self.exhausted {
                    return;
                }
            }
            // A last pass over everything: a missed dependence would lead to a false proof.
            let mut changed = false;
            // New instances are in the worklist.
            for id in self.instances.ids() {
                for at in 0..self.instances[id].values.len() {
                    changed |= self.visit(id, at as u32);
                }
            }
            if self.exhausted || (!changed && self.work.is_empty()) {
                return;
            }
        }
    }

    fn users(&mut self, function: FunctionId) -> Rc<Users> {
        let program = self.program;
        Rc::clone(self.users.entry(function).or_insert_with(|| Rc::new(Users::of(program.function(function).0))))
    }

    /// Handles a parameter whose set has grown.
    fn parameter_changed(&mut self, id: InstanceId, index: usize) {
        let users = self.users(self.instances[id].function);
        self.work.extend(users.of_parameters[index].iter().map(|&at| (id, at)));
    }

    /// Adds the pointers in the initialisers of variables.
    fn initialise(&mut self) {
        for variable in self.program.variables() {
            let described = self.program.variable_of(variable);
            let module = described.module;
            let kind = &self.program.modules[module].symbols[described.symbol.0 as usize].kind;
            let SymbolKind::Variable { pointers, defined, .. } = kind else { continue };
            let base = self.base(Base::Variable(variable));
            if !defined {
                let content = match STREAMS.contains(&described.name.as_str()) {
                    true => Addresses::one(self.base(Base::Outside(described.name.clone())), Congruence::exact(0)),
                    false => self.unknown(Origin::Variable(described.name.clone())),
                };
                self.put(base, Congruence::ANY, &content, None);
            }
            for pointer in pointers {
                let (entity, further) = self.program.entity(module, pointer.symbol).clone();
                let target = self.entity_base(&entity);
                let to = Addresses::one(target, Congruence::exact(pointer.offset.wrapping_add(further)));
                self.put(base, Congruence::exact(pointer.at as i64), &to, None);
            }
        }
    }

    /// Returns the id of a base.
    pub fn base(&mut self, base: Base) -> BaseId {
        let bases = &mut self.bases;
        *self.base_ids.entry(base).or_insert_with_key(|base| bases.push(base.clone()))
    }

    /// Returns true if the analysis gave up: the sets are then incomplete.
    pub fn is_given_up(&self) -> bool {
        self.exhausted
    }

    /// Returns the id of a base, if anything points to it.
    pub fn find_base(&self, base: &Base) -> Option<BaseId> {
        self.base_ids.get(base).copied()
    }

    /// Returns the base with an id.
    pub fn describe(&self, base: BaseId) -> &Base {
        &self.bases[base]
    }

    fn entity_base(&mut self, entity: &Entity) -> BaseId {
        self.base(match entity {
            Entity::Function(function) => Base::Function(*function),
            Entity::Outside(name) => Base::Outside(name.clone()),
            Entity::Variable(variable) => Base::Variable(*variable),
        })
    }

    fn unknown(&mut self, origin: Origin) -> Addresses {
        Addresses::one(self.base(Base::Unknown(origin)), Congruence::ANY)
    }

    /// Returns where a pointer with too many targets leads.
    fn too_many(&mut self) -> BaseId {
        self.base(Base::Unknown(Origin::TooMany))
    }

    fn instance(&mut self, function: FunctionId, thread: ThreadId, caller: Option<(InstanceId, u32)>) -> InstanceId {
        let (code, _) = self.program.function(function);
        let id = InstanceId(self.instances.len() as u32);
        self.instructions += code.instructions.len();
        self.exhausted |=
            !self.merged && (self.instances.len() > MAX_INSTANCES || self.instructions > MAX_INSTRUCTIONS);
        self.instances.push(Instance {
            function,
            thread,
            caller,
            shared: false,
            callees: BTreeMap::new(),
            outside: BTreeMap::new(),
            creates: BTreeMap::new(),
            parameters: vec![Addresses::default(); code.parameters.len()],
            values: vec![Addresses::default(); code.instructions.len()],
            result: Addresses::default(),
            callers: BTreeSet::new(),
        });
        self.work.extend((0..code.instructions.len() as u32).map(|at| (id, at)));
        id
    }

    /// Returns the instance that a call leads to.
    fn callee(&mut self, caller: InstanceId, at: u32, function: FunctionId) -> InstanceId {
        if let Some(&known) = self.contexts.get(&(caller, at, function)) {
            return known;
        }
        let thread = self.instances[caller].thread;
        let known = if self.merged {
            self.instances
                .entries()
                .find(|(_, other)| other.function == function && other.thread == thread)
                .map(|(id, _)| id)
        } else {
            // A recursive function has one instance for all activations.
            std::iter::successors(Some(caller), |id| self.instances[*id].caller.map(|(outer, _)| outer))
                .find(|id| self.instances[*id].function == function)
        };
        let id = match known {
            Some(known) => {
                self.instances[known].shared = true;
                known
            }
            None => self.instance(function, thread, Some((caller, at))),
        };
        self.contexts.insert((caller, at, function), id);
        self.instances[id].callers.insert((caller, at));
        self.instances[caller].callees.entry(at).or_default().insert(id);
        id
    }

    /// Returns the code of an instance.
    pub fn code(&self, id: InstanceId) -> &'a Function {
        self.program.function(self.instances[id].function).0
    }

    /// Returns an instruction of an instance.
    pub fn instruction(&self, id: InstanceId, at: u32) -> &'a Instruction {
        &self.code(id).instructions[at as usize]
    }

    /// Returns the control flow of an instance.
    pub fn blocks_of(&self, id: InstanceId) -> &Blocks {
        &self.blocks[self.instances[id].function]
    }

    /// Returns the entry function of a thread.
    pub fn function_of(&self, thread: ThreadId) -> FunctionId {
        self.instances[self.threads[thread].root].function
    }

    fn put(&mut self, base: BaseId, at: Congruence, content: &Addresses, writer: Option<(InstanceId, u32)>) {
        let (too_many, most) = (self.too_many(), self.most_targets);
        let cells = self.memory.entry(base).or_default();
        let is_full = most < usize::MAX && cells.len() > MOST_CELLS && !cells.contains(at);
        let cell = cells.at(if is_full { Congruence::ANY } else { at });
        cell.writers.extend(writer);
        if grow(most, too_many, &mut cell.content, content)
            && let Some(readers) = self.readers.get(&base)
        {
            self.work.extend(readers.iter().copied());
        }
    }

    /// Returns the possible contents of memory, and the effort of the look-up.
    fn get(&self, addresses: &Addresses, bytes: u64) -> (Addresses, u64) {
        let (mut content, mut looked_at) = (Addresses::default(), addresses.0.len() as u64);
        for (base, offset) in addresses.iter() {
            if self.describe(base).is_unknown() {
                content.add(base, Congruence::ANY);
            }
            let Some(cells) = self.memory.get(&base) else { continue };
            looked_at += cells.searched(offset) as u64;
            for cell in cells.overlapping(offset, bytes) {
                looked_at += cell.content.0.len() as u64;
                content.add_all(&cell.content);
            }
        }
        (content, looked_at)
    }

    /// Returns true if a pointer can point anywhere. Using it is a gap, so nothing needs to be followed through it.
    fn is_anywhere(&self, addresses: &Addresses) -> bool {
        addresses.0.len() > self.most_targets
    }

    /// Returns the writers of pointers to an address.
    pub fn writers(&self, base: BaseId, offset: Congruence) -> BTreeSet<(InstanceId, u32)> {
        let touched = self.memory.get(&base).into_iter().flat_map(|cells| cells.overlapping(offset, POINTER));
        touched.flat_map(|cell| cell.writers.iter().copied()).collect()
    }

    /// Returns everything that the memory of a base points to.
    pub fn contents(&self, base: BaseId) -> impl Iterator<Item = BaseId> + '_ {
        self.memory.get(&base).into_iter().flat_map(Slots::iter).flat_map(|(_, cell)| cell.content.0.keys().copied())
    }

    /// Returns the callers of an instance.
    pub fn callers(&self, id: InstanceId) -> impl Iterator<Item = InstanceId> + '_ {
        self.instances[id].callers.iter().map(|(caller, _)| *caller)
    }

    /// Returns the calls of an instance: callers and their instructions.
    pub fn calls(&self, id: InstanceId) -> impl Iterator<Item = (InstanceId, u32)> + '_ {
        self.instances[id].callers.iter().copied()
    }

    /// Returns what an instance returns.
    pub fn result(&self, id: InstanceId) -> &Addresses {
        &self.instances[id].result
    }

    /// Returns what the result of an instruction can point to.
    fn values_of(&self, id: InstanceId, at: u32) -> &Addresses {
        &self.instances[id].values[at as usize]
    }

    /// Returns what an operand can point to.
    pub fn operand(&self, instance: InstanceId, operand: &Operand) -> Addresses {
        let described = &self.instances[instance];
        let module = self.program.function(described.function).1;
        let base_of = |entity: &Entity| {
            let base = match entity {
                Entity::Function(function) => Base::Function(*function),
                Entity::Outside(name) => Base::Outside(name.clone()),
                Entity::Variable(variable) => Base::Variable(*variable),
            };
            self.base_ids.get(&base).copied()
        };
        match operand {
            Operand::Instruction(id) => described.values[id.0 as usize].clone(),
            Operand::Parameter(index) => described.parameters[*index as usize].clone(),
            Operand::Symbol(symbol, offset) => {
                let (entity, further) = self.program.entity(module, *symbol);
                let offset = Congruence::exact(offset.wrapping_add(*further));
                base_of(entity).map_or_else(Addresses::default, |base| Addresses::one(base, offset))
            }
            Operand::Constant(symbols) => {
                let mut all = Addresses::default();
                for &symbol in symbols {
                    if let Some(base) = base_of(&self.program.entity(module, symbol).0) {
                        all.add(base, Congruence::ANY);
                    }
                }
                all
            }
            _ => Addresses::default(),
        }
    }

    /// Creates bases for the symbols of an operand.
    fn declare(&mut self, instance: InstanceId, operand: &Operand) {
        let module = self.program.function(self.instances[instance].function).1;
        let symbols = match operand {
            Operand::Symbol(symbol, _) => std::slice::from_ref(symbol),
            Operand::Constant(symbols) => symbols,
            _ => return,
        };
        for &symbol in symbols {
            let entity = self.program.entity(module, symbol).0.clone();
            self.entity_base(&entity);
        }
    }

    /// Returns true if a function is called at most once in this instance, and in only one thread.
    pub fn is_once(&self, id: InstanceId) -> bool {
        let instance = &self.instances[id];
        if instance.shared {
            return false;
        }
        let thread = &self.threads[instance.thread];
        let from = match (instance.caller, thread.creator) {
            (Some(caller), _) => caller,
            (None, Some(_)) if thread.recursive => return false,
            (None, Some(creator)) => creator,
            (None, None) => return true,
        };
        self.is_place_once(from.0, from.1)
    }

    /// Returns true if an instruction is executed at most once in all of the program's threads.
    pub fn is_place_once(&self, id: InstanceId, at: u32) -> bool {
        let function = self.instances[id].function;
        !self.blocks[function].repeats(at) && self.is_once(id)
    }

    /// Returns true if a base stands for only one piece of memory.
    pub fn is_strong(&self, base: BaseId) -> bool {
        match *self.describe(base) {
            Base::Variable(variable) => !self.program.variable_flags(variable).1,
            Base::Local(_, COPY) => false,
            Base::Local(id, at) | Base::Heap(id, at) => self.is_place_once(id, at),
            _ => false,
        }
    }
}

/// Adds targets to a pointer, up to the limit at which it can point anywhere; returns true if any is new.
fn grow(most: usize, too_many: BaseId, known: &mut Addresses, more: &Addresses) -> bool {
    if known.0.len() > most {
        return false;
    }
    let changed = known.add_all(more);
    if known.0.len() > most {
        known.add(too_many, Congruence::ANY);
    }
    changed
}
