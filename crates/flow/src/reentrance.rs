//! Which functions can be entered again before they are done.
//!
//! Directly, by calls in a circle; or through code that is not known, which can call whatever function it was ever given
//! the address of. Library functions that call nobody back are known by their names.

use racehunter_ir::{Module, Operand, Operation, SymbolKind};
use rustc_hash::{FxHashMap, FxHashSet};

/// A function: its module and its position there.
pub(crate) type Place = (usize, usize);

/// Who calls whom.
pub(crate) struct Calls {
    /// The definitions of each name that other modules see, and of those that they do not, by module.
    defined: FxHashMap<(Option<usize>, String), Vec<Place>>,
    /// Functions whose address is used for anything but a direct call.
    pub(crate) exposed: FxHashSet<Place>,
    calls: FxHashMap<Place, Vec<Place>>,
    /// Functions that call code which is not known.
    unknown: FxHashSet<Place>,
}

impl Calls {
    pub(crate) fn of(modules: &[Module]) -> Self {
        let mut calls = Self {
            defined: FxHashMap::default(),
            exposed: FxHashSet::default(),
            calls: FxHashMap::default(),
            unknown: FxHashSet::default(),
        };
        for (number, module) in modules.iter().enumerate() {
            for (position, function) in module.functions.iter().enumerate() {
                let key = calls.key(modules, number, function.symbol.0);
                calls.defined.entry(key).or_default().push((number, position));
            }
        }
        for (number, module) in modules.iter().enumerate() {
            for symbol in &module.symbols {
                let pointers = match &symbol.kind {
                    SymbolKind::Variable { pointers, .. } => pointers.iter().map(|pointer| pointer.symbol).collect(),
                    SymbolKind::Alias { target, .. } => target.iter().copied().collect(),
                    SymbolKind::Function { .. } => Vec::new(),
                };
                for target in pointers {
                    calls.expose(modules, number, target.0);
                }
            }
            for (position, function) in module.functions.iter().enumerate() {
                for instruction in &function.instructions {
                    let is_call = matches!(instruction.operation, Operation::Call | Operation::Invoke { .. });
                    for (at, operand) in instruction.operands.iter().enumerate() {
                        match operand {
                            Operand::Symbol(symbol, 0) if is_call && at == 0 => {
                                calls.call(modules, (number, position), symbol.0);
                            }
                            Operand::Symbol(symbol, _) => calls.expose(modules, number, symbol.0),
                            Operand::Constant(symbols) => {
                                symbols.iter().for_each(|symbol| calls.expose(modules, number, symbol.0));
                            }
                            _ if is_call && at == 0 => {
                                calls.unknown.insert((number, position));
                            }
                            _ => {}
                        }
                    }
                }
            }
        }
        calls
    }

    fn key(&self, modules: &[Module], module: usize, symbol: u32) -> (Option<usize>, String) {
        let symbol = &modules[module].symbols[symbol as usize];
        let own = symbol.linkage == racehunter_ir::Linkage::Internal;
        (own.then_some(module), symbol.name.clone())
    }

    /// The definitions that a symbol can stand for; none when it is not of the program.
    pub(crate) fn callees(&self, modules: &[Module], module: usize, symbol: u32) -> &[Place] {
        self.defined.get(&self.key(modules, module, symbol)).map_or(&[], Vec::as_slice)
    }

    fn expose(&mut self, modules: &[Module], module: usize, symbol: u32) {
        let places = self.callees(modules, module, symbol).to_vec();
        self.exposed.extend(places);
    }

    fn call(&mut self, modules: &[Module], from: Place, symbol: u32) {
        let callees = self.callees(modules, from.0, symbol).to_vec();
        if callees.is_empty() && !calls_nobody_back(&modules[from.0].symbols[symbol as usize].name) {
            self.unknown.insert(from);
        }
        self.calls.entry(from).or_default().extend(callees);
    }

    /// The functions that can be entered again before they are done.
    pub(crate) fn reentrant(&self, modules: &[Module]) -> FxHashSet<Place> {
        let all = modules.iter().enumerate();
        let all = all.flat_map(|(number, module)| (0..module.functions.len()).map(move |position| (number, position)));
        let from_outside = self.reached(self.exposed.iter().copied());
        all.filter(|&place| {
            let below = self.reached(self.calls.get(&place).into_iter().flatten().copied());
            let leaves = self.unknown.contains(&place) || below.iter().any(|callee| self.unknown.contains(callee));
            below.contains(&place) || leaves && from_outside.contains(&place)
        })
        .collect()
    }

    fn reached(&self, from: impl Iterator<Item = Place>) -> FxHashSet<Place> {
        let mut reached = FxHashSet::default();
        let mut waiting: Vec<Place> = from.collect();
        while let Some(place) = waiting.pop() {
            if reached.insert(place) {
                waiting.extend(self.calls.get(&place).into_iter().flatten());
            }
        }
        reached
    }
}

/// Functions outside of the program that do not call into it, in the thread that calls them.
fn calls_nobody_back(name: &str) -> bool {
    const PREFIXES: [&str; 10] = [
        "llvm.",
        "pthread_mutex_",
        "pthread_rwlock_",
        "pthread_cond_",
        "pthread_barrier_",
        "pthread_spin_",
        "sem_",
        "mem",
        "str",
        "__atomic_",
    ];
    const NAMES: [&str; 31] = [
        "pthread_create",
        "pthread_join",
        "pthread_detach",
        "pthread_self",
        "pthread_equal",
        "malloc",
        "calloc",
        "realloc",
        "free",
        "printf",
        "puts",
        "putchar",
        "fprintf",
        "snprintf",
        "sprintf",
        "fputs",
        "fputc",
        "fflush",
        "abort",
        "__assert_fail",
        "usleep",
        "sleep",
        "nanosleep",
        "sched_yield",
        "rand",
        "time",
        "clock_gettime",
        "read",
        "write",
        "_Znwm",
        "_ZdlPv",
    ];
    PREFIXES.iter().any(|prefix| name.starts_with(prefix)) || NAMES.contains(&name)
}
