//! The code of a program, with indices for repeated look-ups.

use crate::routine::Routine;
use racehunter_ir::{
    Function, Instruction, InstructionId, Linkage, Module, Operand, Operation, Symbol, SymbolId, SymbolKind,
};
use rustc_hash::FxHashMap;
use std::cell::{Cell, OnceCell};
use std::rc::Rc;

/// A function: its module and its position there.
pub(crate) type Place = (u32, u32);

/// A program.
pub(crate) struct Code {
    modules: Vec<Module>,
    /// For each site its function, and its instruction unless it is the entry.
    sites: Vec<Option<(Place, Option<u32>)>>,
    /// Facts about each function, by module.
    known: Vec<Vec<Known>>,
    /// The callee for each symbol, by module.
    callees: Vec<Vec<Callee>>,
    /// Functions that were entered, by module, and their number.
    routines: Vec<Vec<OnceCell<Rc<Routine>>>>,
    entered: Cell<usize>,
}

/// Facts about a function besides its instructions.
#[derive(Clone, Default)]
pub(crate) struct Known {
    /// It can resume at an earlier point, as with `setjmp`: it is not followed.
    pub(crate) opaque: bool,
    /// It reads its own memory without an event, and that memory is written in ways that are not followed.
    leaks: bool,
    /// It calls nothing and touches no memory that others see: it has no frame on the shadow call stack.
    quiet: bool,
    /// Locals that are only written and read, and only here, by instruction.
    simple: Vec<u32>,
}

/// The callee of a call.
pub(crate) enum Callee {
    /// One of these functions of the program, all of which are announced.
    Own(Vec<Place>),
    /// Not a function: it only informs the compiler.
    Compiler,
    /// A function that only computes something from its arguments.
    Computes,
    /// A function that copies memory.
    Copies,
    /// Any other function: outside the program, not announced, or unknown.
    Other,
}

impl Code {
    pub(crate) fn new(modules: Vec<Module>) -> Self {
        let mut code = Self {
            sites: Vec::new(),
            known: Vec::new(),
            callees: Vec::new(),
            routines: Vec::new(),
            entered: Cell::new(0),
            modules: Vec::new(),
        };
        // The definitions of each name, both those visible to other modules and the internal ones, by module.
        let mut defined: FxHashMap<(Option<u32>, &str), Vec<Place>> = FxHashMap::default();
        let all = (0..).zip(&modules).flat_map(|(number, module)| {
            let symbols = module.functions.iter().filter_map(|function| module.symbol(function.symbol));
            symbols.map(move |symbol| (key(number, symbol), reads_by_events(symbol)))
        });
        let mut own: FxHashMap<(Option<u32>, &str), bool> = FxHashMap::default();
        all.for_each(|(key, reads_by_events)| *own.entry(key).or_insert(true) &= reads_by_events);
        for (number, module) in (0..).zip(&modules) {
            let first = code.sites.len();
            code.sites.resize(first + module.site_count as usize, None);
            for (position, function) in (0..).zip(&module.functions) {
                let place = (number, position);
                let instructions = (0..).zip(&function.instructions);
                let numbered = instructions.filter_map(|(id, instruction)| Some((instruction.site?, Some(id))));
                for (site, instruction) in numbered.chain(function.entry_site.map(|site| (site, None))) {
                    if let Some(entry) = code.sites.get_mut(first + site as usize) {
                        *entry = Some((place, instruction));
                    }
                }
                if let Some(symbol) = module.symbol(function.symbol) {
                    defined.entry(key(number, symbol)).or_default().push(place);
                }
            }
            code.routines.push(module.functions.iter().map(|_| OnceCell::new()).collect());
            let is_own = |symbol: &Symbol| own.get(&key(number, symbol)).copied().unwrap_or(false);
            let known = |function| Known::of(module, function, &is_own);
            code.known.push(module.functions.iter().map(known).collect());
        }
        let is_announced =
            |&(module, position): &Place| modules[module as usize].functions[position as usize].entry_site.is_some();
        let callee = |number, symbol| match defined.get(&key(number, symbol)) {
            _ if matches!(symbol.kind, SymbolKind::Alias { .. }) => Callee::Other,
            Some(places) if places.iter().all(is_announced) => Callee::Own(places.clone()),
            _ => Callee::named(&symbol.name),
        };
        code.callees = (0..)
            .zip(&modules)
            .map(|(number, module)| module.symbols.iter().map(|symbol| callee(number, symbol)).collect())
            .collect();
        code.modules = modules;
        code
    }

    /// Returns where a site is: its function, and its instruction unless it is the entry.
    pub(crate) fn site(&self, site: u32) -> Option<(Place, Option<u32>)> {
        *self.sites.get(site as usize)?
    }

    pub(crate) fn function(&self, place: Place) -> &Function {
        &self.modules[place.0 as usize].functions[place.1 as usize]
    }

    /// Returns a function in the form in which it is followed.
    pub(crate) fn routine(&self, place: Place) -> &Rc<Routine> {
        self.routines[place.0 as usize][place.1 as usize].get_or_init(|| {
            let number = self.entered.get();
            self.entered.set(number + 1);
            Rc::new(Routine::new(self, place, number))
        })
    }

    pub(crate) fn known(&self, place: Place) -> &Known {
        &self.known[place.0 as usize][place.1 as usize]
    }

    /// Returns the callee of a call in a function.
    pub(crate) fn callee(&self, place: Place, call: &Instruction) -> &Callee {
        match call.operands.first() {
            Some(&Operand::Symbol(SymbolId(symbol), 0)) => {
                self.callees[place.0 as usize].get(symbol as usize).unwrap_or(&Callee::Other)
            }
            _ => &Callee::Other,
        }
    }
}

impl Callee {
    /// Returns a function that is not part of the program, or not announced.
    fn named(name: &str) -> Self {
        if tells_the_compiler(name) {
            Self::Compiler
        } else if computes(name) {
            Self::Computes
        } else if name.starts_with("llvm.memcpy.") || name.starts_with("llvm.memmove.") {
            Self::Copies
        } else {
            Self::Other
        }
    }
}

/// Returns true if a function reads what its parameters point to by events. A copy that a call makes is read without.
fn reads_by_events(symbol: &Symbol) -> bool {
    matches!(symbol.kind, SymbolKind::Function { attributes, .. } if !attributes.by_value && !attributes.variadic)
}

/// Returns the key of a symbol in the whole program.
fn key(module: u32, symbol: &Symbol) -> (Option<u32>, &str) {
    ((symbol.linkage == Linkage::Internal).then_some(module), &symbol.name)
}

impl Known {
    /// `is_own` says which functions are those of the program that read what their parameters point to by events.
    fn of(module: &Module, function: &Function, is_own: &dyn Fn(&Symbol) -> bool) -> Self {
        let mut simple: Vec<u32> = Vec::new();
        let mut others: Vec<u32> = Vec::new();
        for (user, instruction) in (0..).zip(&function.instructions) {
            if matches!(instruction.operation, Operation::Local { .. }) {
                simple.push(user);
            }
            for (at, operand) in instruction.operands.iter().enumerate() {
                let harmless = match instruction.operation {
                    Operation::Load { .. } | Operation::Compare(_) => true,
                    Operation::Store { .. } => at == 1,
                    // Uses of the new address are handled where they happen.
                    Operation::Offset { .. } | Operation::Cast(_) => at == 0,
                    Operation::Call => tells_the_compiler(called(module, instruction)),
                    _ => false,
                };
                if let Some(local) = local_of(function, operand).filter(|_| !harmless) {
                    others.push(local);
                }
            }
        }
        simple.retain(|local| !others.contains(local));
        let leaks = |instruction: &Instruction| match (&instruction.operation, &instruction.operands[..]) {
            (Operation::Load { order, .. }, [address]) if instruction.site.is_none() => {
                match base_of(function, address) {
                    Operand::Instruction(base) => simple.binary_search(&base.0).is_err(),
                    Operand::Parameter(_) => true,
                    // Constants, unless the fence is only for signal handlers.
                    _ => order.is_some(),
                }
            }
            // The callee reads the local, or a copy of it.
            (Operation::Call | Operation::Invoke { .. }, [callee, arguments @ ..]) => {
                let is_local = |argument: &Operand| local_of(function, argument).is_some();
                let symbol = match callee {
                    &Operand::Symbol(symbol, 0) => module.symbol(symbol),
                    _ => None,
                };
                let has_events = |symbol: &Symbol| tells_the_compiler(&symbol.name) || is_own(symbol);
                !symbol.is_some_and(has_events) && arguments.iter().any(is_local)
            }
            _ => false,
        };
        Self {
            opaque: function.instructions.iter().any(|instruction| returns_twice(module, instruction)),
            leaks: function.instructions.iter().any(leaks),
            quiet: !function.instructions.iter().any(|instruction| has_to_tell(module, instruction)),
            simple,
        }
    }

    /// Returns true if it has no frame on the shadow call stack.
    pub(crate) fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Returns true if its activations can read memory, without an event, that others of the thread write.
    pub(crate) fn leaks(&self) -> bool {
        self.leaks || self.opaque
    }

    /// Returns true if a local is only written and read, and only here.
    pub(crate) fn is_simple(&self, local: u32) -> bool {
        self.simple.binary_search(&local).is_ok()
    }
}

/// Returns the name of the called function, if it has one.
fn called<'a>(module: &'a Module, call: &Instruction) -> &'a str {
    match call.operands.first() {
        Some(&Operand::Symbol(symbol, 0)) => module.symbol(symbol).map_or("", |symbol| &symbol.name),
        _ => "",
    }
}

/// Returns true if calling a function of this name only informs the compiler.
fn tells_the_compiler(name: &str) -> bool {
    const PREFIXES: [&str; 6] = [
        "llvm.lifetime.",
        "llvm.dbg.",
        "llvm.assume",
        "llvm.invariant.",
        "llvm.donothing",
        "llvm.experimental.noalias",
    ];
    PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// Returns true if a function of this name only computes something from its arguments.
fn computes(name: &str) -> bool {
    const NAMES: [&str; 31] = [
        "smax",
        "smin",
        "umax",
        "umin",
        "abs",
        "ctpop",
        "ctlz",
        "cttz",
        "bswap",
        "bitreverse",
        "fshl",
        "fshr",
        "sadd",
        "uadd",
        "ssub",
        "usub",
        "smul",
        "umul",
        "fabs",
        "sqrt",
        "fma",
        "fmuladd",
        "floor",
        "ceil",
        "trunc",
        "rint",
        "round",
        "copysign",
        "expect",
        "minnum",
        "maxnum",
    ];
    name.strip_prefix("llvm.").and_then(|name| name.split('.').next()).is_some_and(|name| NAMES.contains(&name))
}

/// Returns true if an instruction is an event, or calls a function.
fn has_to_tell(module: &Module, instruction: &Instruction) -> bool {
    match instruction.operation {
        Operation::Call | Operation::Invoke { .. } => {
            instruction.site.is_some() || !called(module, instruction).starts_with("llvm.")
        }
        Operation::Branch | Operation::Switch | Operation::Return | Operation::Resume => false,
        _ => instruction.site.is_some(),
    }
}

fn returns_twice(module: &Module, instruction: &Instruction) -> bool {
    let Some(&Operand::Symbol(symbol, _)) = instruction.operands.first() else { return false };
    let kind = module.symbol(symbol).map(|symbol| &symbol.kind);
    matches!(kind, Some(SymbolKind::Function { attributes, .. }) if attributes.returns_twice)
}

/// Returns what an address was computed from, as long as only offsets were added.
pub(crate) fn base_of<'a>(function: &'a Function, mut address: &'a Operand) -> &'a Operand {
    // Long enough for every real chain; the bound guards against cycles in unreachable code.
    for _ in 0..64 {
        let Operand::Instruction(InstructionId(id)) = *address else { break };
        let Some(instruction) = function.instructions.get(id as usize) else { break };
        match (&instruction.operation, instruction.operands.first()) {
            (Operation::Offset { .. } | Operation::Cast(_), Some(base)) => address = base,
            _ => break,
        }
    }
    address
}

/// Returns the local that an address lies in.
pub(crate) fn local_of(function: &Function, address: &Operand) -> Option<u32> {
    let Operand::Instruction(InstructionId(id)) = *base_of(function, address) else { return None };
    matches!(function.instructions.get(id as usize)?.operation, Operation::Local { .. }).then_some(id)
}
