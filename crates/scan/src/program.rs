//! The modules of a program, linked.

use crate::index::{IndexVec, ids};
use racehunter_ir as ir;
use rustc_hash::{FxHashMap, FxHashSet};

/// A function that the program defines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FunctionId(pub u32);

/// A variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VariableId(pub u32);

ids!(FunctionId, VariableId);

/// Size of an entry in the list of functions that run before `main`.
const CONSTRUCTOR_BYTES: u64 = 24;

/// What a symbol stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entity {
    /// A function of the program.
    Function(FunctionId),
    /// A function that is not part of the program.
    Outside(String),
    /// A variable.
    Variable(VariableId),
}

/// A variable and where its description is.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Position of the module that describes it best: the one that defines it, if there is one.
    pub module: usize,
    /// Its symbol in that module.
    pub symbol: ir::SymbolId,
}

/// A place in the source.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourceLocation {
    /// File.
    pub file: String,
    /// Line.
    pub line: u32,
    /// Column.
    pub column: u32,
    /// Function, as the source names it.
    pub function: String,
}

/// A whole program.
#[derive(Clone, Debug)]
pub struct Program {
    /// The modules.
    pub modules: Vec<ir::Module>,
    functions: IndexVec<FunctionId, (usize, usize)>,
    variables: IndexVec<VariableId, Variable>,
    entities: Vec<Vec<(Entity, i64)>>,
}

impl Program {
    /// Links modules: symbols of the same name are the same, unless they are internal.
    pub fn link(modules: Vec<ir::Module>) -> Self {
        let mut program = Self {
            functions: IndexVec::default(),
            variables: IndexVec::default(),
            entities: Vec::new(),
            modules: Vec::new(),
        };
        let mut named: FxHashMap<String, Entity> = FxHashMap::default();
        // Definitions first: they win over declarations, strong ones over weak ones.
        for weak in [false, true] {
            for (index, module) in modules.iter().enumerate() {
                for (position, function) in module.functions.iter().enumerate() {
                    let Some(symbol) = module.symbol(function.symbol) else { continue };
                    if symbol.linkage == ir::Linkage::Internal || (symbol.linkage == ir::Linkage::Weak) != weak {
                        continue;
                    }
                    named
                        .entry(symbol.name.clone())
                        .or_insert_with(|| Entity::Function(program.functions.push((index, position))));
                }
                for (position, symbol) in module.symbols.iter().enumerate() {
                    let ir::SymbolKind::Variable { defined: true, .. } = symbol.kind else { continue };
                    if symbol.linkage == ir::Linkage::Internal || (symbol.linkage == ir::Linkage::Weak) != weak {
                        continue;
                    }
                    let symbol_id = ir::SymbolId(position as u32);
                    named
                        .entry(symbol.name.clone())
                        .or_insert_with(|| program.variable(&symbol.name, index, symbol_id));
                }
            }
        }
        for (index, module) in modules.iter().enumerate() {
            let table = program.table(index, module, &mut named);
            program.entities.push(table);
        }
        program.modules = modules;
        program.resolve_aliases();
        program
    }

    /// Resolves aliases, which a module may use before the one that defines them was linked.
    fn resolve_aliases(&mut self) {
        let mut aliases: FxHashMap<&str, (Entity, i64)> = FxHashMap::default();
        for (module, table) in self.modules.iter().zip(&self.entities) {
            for (symbol, entity) in module.symbols.iter().zip(table) {
                let is_alias = matches!(symbol.kind, ir::SymbolKind::Alias { .. });
                if is_alias && symbol.linkage != ir::Linkage::Internal {
                    aliases.insert(&symbol.name, entity.clone());
                }
            }
        }
        if aliases.is_empty() {
            return;
        }
        for (module, table) in self.modules.iter().zip(&mut self.entities) {
            for (symbol, entity) in module.symbols.iter().zip(table) {
                let is_declared = match symbol.kind {
                    ir::SymbolKind::Function { defined, .. } | ir::SymbolKind::Variable { defined, .. } => !defined,
                    ir::SymbolKind::Alias { .. } => false,
                };
                if let Some(target) = aliases.get(symbol.name.as_str()).filter(|_| is_declared) {
                    *entity = target.clone();
                }
            }
        }
    }

    /// Returns the names of the variables that the program uses but does not define.
    pub fn variables_elsewhere(&self) -> impl Iterator<Item = &str> {
        let symbols = || self.modules.iter().flat_map(|module| &module.symbols);
        let is_here = |symbol: &&ir::Symbol| match symbol.kind {
            ir::SymbolKind::Variable { defined, .. } => defined,
            ir::SymbolKind::Alias { .. } => true,
            ir::SymbolKind::Function { .. } => false,
        };
        let here: FxHashSet<&str> = symbols().filter(is_here).map(|symbol| symbol.name.as_str()).collect();
        let variables = symbols().filter(|symbol| matches!(symbol.kind, ir::SymbolKind::Variable { .. }));
        variables.map(|symbol| symbol.name.as_str()).filter(move |name| !here.contains(name))
    }

    fn variable(&mut self, name: &str, module: usize, symbol: ir::SymbolId) -> Entity {
        Entity::Variable(self.variables.push(Variable { name: name.to_owned(), module, symbol }))
    }

    /// Returns the entity of each symbol of a module.
    fn table(
        &mut self,
        index: usize,
        module: &ir::Module,
        named: &mut FxHashMap<String, Entity>,
    ) -> Vec<(Entity, i64)> {
        let bodies: FxHashMap<ir::SymbolId, usize> =
            module.functions.iter().enumerate().map(|(position, function)| (function.symbol, position)).collect();
        let mut table: Vec<(Entity, i64)> = Vec::new();
        for (position, symbol) in module.symbols.iter().enumerate() {
            let id = ir::SymbolId(position as u32);
            let internal = symbol.linkage == ir::Linkage::Internal;
            let entity = match &symbol.kind {
                ir::SymbolKind::Function { .. } => match bodies.get(&id) {
                    Some(&body) if internal => Entity::Function(self.functions.push((index, body))),
                    _ => named.get(&symbol.name).cloned().unwrap_or_else(|| Entity::Outside(symbol.name.clone())),
                },
                ir::SymbolKind::Variable { .. } if internal => self.variable(&symbol.name, index, id),
                ir::SymbolKind::Variable { .. } => match named.get(&symbol.name) {
                    Some(known) => known.clone(),
                    None => {
                        let entity = self.variable(&symbol.name, index, id);
                        named.insert(symbol.name.clone(), entity.clone());
                        entity
                    }
                },
                // Resolved below; a broken alias is an unknown function.
                ir::SymbolKind::Alias { .. } => Entity::Outside(symbol.name.clone()),
            };
            table.push((entity, 0));
        }
        for position in 0..module.symbols.len() {
            let (mut at, mut offset) = (position, 0i64);
            for _ in 0..8 {
                let ir::SymbolKind::Alias { target: Some(target), offset: more } = module.symbols[at].kind else {
                    break;
                };
                at = target.0 as usize;
                offset = offset.wrapping_add(more);
            }
            if at != position {
                table[position] = (table[at].0.clone(), offset);
                let symbol = &module.symbols[position];
                if symbol.linkage != ir::Linkage::Internal {
                    named.entry(symbol.name.clone()).or_insert_with(|| table[at].0.clone());
                }
            }
        }
        table
    }

    /// Returns the entity of a symbol of a module, and an offset in bytes.
    pub fn entity(&self, module: usize, symbol: ir::SymbolId) -> &(Entity, i64) {
        &self.entities[module][symbol.0 as usize]
    }

    /// Returns a function, and the position of its module.
    pub fn function(&self, function: FunctionId) -> (&ir::Function, usize) {
        let (module, position) = self.functions[function];
        (&self.modules[module].functions[position], module)
    }

    /// Returns all functions.
    pub fn functions(&self) -> impl Iterator<Item = FunctionId> + use<> {
        self.functions.ids()
    }

    /// Returns the linker name of a function.
    pub fn function_name(&self, function: FunctionId) -> &str {
        let (code, module) = self.function(function);
        self.modules[module].function_name(code)
    }

    /// Returns a variable.
    pub fn variable_of(&self, variable: VariableId) -> &Variable {
        &self.variables[variable]
    }

    /// Returns all variables.
    pub fn variables(&self) -> impl Iterator<Item = VariableId> + use<> {
        self.variables.ids()
    }

    /// Returns the symbol kind of a variable.
    pub fn variable_kind(&self, variable: VariableId) -> &ir::SymbolKind {
        let described = self.variable_of(variable);
        &self.modules[described.module].symbols[described.symbol.0 as usize].kind
    }

    /// Returns whether a variable is constant, and whether it is thread-local.
    pub fn variable_flags(&self, variable: VariableId) -> (bool, bool) {
        match *self.variable_kind(variable) {
            ir::SymbolKind::Variable { constant, thread_local, .. } => (constant, thread_local),
            _ => (false, false),
        }
    }

    /// Returns the functions that run before `main`, in order; nothing if the order is unknown, or if some run after
    /// it. Functions of the same priority run in the order of the modules, which is the link order.
    pub fn constructors(&self) -> Option<Vec<FunctionId>> {
        let named = |name: &'static str| {
            self.modules.iter().enumerate().filter_map(move |(index, module)| {
                module.symbols.iter().find(|symbol| symbol.name == name).map(|symbol| (index, symbol))
            })
        };
        // The loader also runs the contents of its own sections, in an order that is not known here.
        if named("llvm.global_dtors").next().is_some() || self.has_symbol(ir::ENTRY_SECTION) {
            return None;
        }
        let mut found: Vec<(i64, usize, u64, FunctionId)> = Vec::new();
        for (module, list) in named("llvm.global_ctors") {
            let ir::SymbolKind::Variable { pointers, numbers: Some(numbers), .. } = &list.kind else { return None };
            for pointer in pointers {
                // A priority, the function, and data for the linker only.
                if pointer.at % CONSTRUCTOR_BYTES != 8 {
                    continue;
                }
                let Entity::Function(function) = self.entity(module, pointer.symbol).0 else { return None };
                let priority =
                    numbers.iter().find(|number| number.at == pointer.at - 8).map_or(0, |number| number.value);
                found.push((priority, module, pointer.at, function));
            }
        }
        found.sort_unstable();
        Some(found.into_iter().map(|(.., function)| function).collect())
    }

    /// Returns functions of the program that the compiler may call implicitly: it turns intrinsics (`llvm.memcpy`,
    /// `llvm.floor`), and arithmetic that the processor lacks, into calls of library functions.
    pub fn called_by_the_compiler(&self) -> impl Iterator<Item = &str> {
        let intrinsics: FxHashSet<&str> = (self.modules.iter().flat_map(|module| &module.symbols))
            .filter_map(|symbol| symbol.name.strip_prefix("llvm.")?.split('.').next())
            .collect();
        let names = self.functions().filter(|&function| !self.is_internal(function));
        names.map(|function| self.function_name(function)).filter(move |name| is_called_for(name, &intrinsics))
    }

    /// Returns functions of the program that replace the allocator. Libraries call them wherever they allocate: `new[]` calls the
    /// program's `new`, and `strdup` its `malloc`.
    pub fn called_by_libraries(&self) -> impl Iterator<Item = &str> {
        let names = self.functions().filter(|&function| !self.is_internal(function));
        names.map(|function| self.function_name(function)).filter(|name| is_allocator(name))
    }

    /// Returns a function of the program that the C++ library calls to print the exception that ends the program: an overridden
    /// `std::exception::what` that does more than return an address.
    pub fn describes_exceptions(&self) -> Option<&str> {
        let overrides = |name: &str| name.starts_with("_ZNK") && name.ends_with("4whatEv");
        let acts = |&function: &FunctionId| {
            let code = self.function(function).0;
            code.instructions.iter().any(|instruction| is_action(code, instruction))
        };
        let throws = self.has_symbol("__cxa_throw");
        let mut own = self.functions().filter(|&function| overrides(self.function_name(function)));
        own.find(acts).filter(|_| throws).map(|function| self.function_name(function))
    }

    fn is_internal(&self, function: FunctionId) -> bool {
        let (code, module) = self.function(function);
        self.modules[module].symbol(code.symbol).is_some_and(|symbol| symbol.linkage == ir::Linkage::Internal)
    }

    /// Returns true if a module has a symbol of this name.
    pub fn has_symbol(&self, name: &str) -> bool {
        self.modules.iter().any(|module| module.symbols.iter().any(|symbol| symbol.name == name))
    }

    /// Returns a function of this name that is visible to the linker.
    pub fn find(&self, name: &str) -> Option<FunctionId> {
        self.functions().find(|&function| self.function_name(function) == name)
    }

    /// Returns the number by which executions know an instruction: modules are numbered one after the other.
    pub fn site(&self, function: FunctionId, instruction: u32) -> Option<u32> {
        let (code, module) = self.function(function);
        let site = code.instructions.get(instruction as usize)?.site?;
        self.modules[..module].iter().try_fold(site, |site, earlier| site.checked_add(earlier.site_count))
    }

    /// Returns the place of an instruction in the source.
    pub fn place(&self, function: FunctionId, instruction: u32) -> SourceLocation {
        let (code, module) = self.function(function);
        let module = &self.modules[module];
        let at = code.instructions.get(instruction as usize).and_then(|found| found.location).or(code.location);
        match at.and_then(|id| module.locations.get(id.0 as usize)) {
            Some(location) => SourceLocation {
                file: module.file(location.file).to_owned(),
                line: location.line,
                column: location.column,
                function: module.location_function(location).to_owned(),
            },
            None => SourceLocation {
                file: module.source.clone(),
                line: 0,
                column: 0,
                function: module.function_name(code).to_owned(),
            },
        }
    }
}

/// Returns true if one of these intrinsics, or arithmetic, may become a call of this function.
fn is_called_for(name: &str, intrinsics: &FxHashSet<&str>) -> bool {
    /// Functions whose intrinsics have other names.
    const OTHERS: [(&str, &str); 5] =
        [("fmax", "maxnum"), ("fmin", "minnum"), ("fma", "fmuladd"), ("sincos", "sin"), ("sincos", "cos")];
    /// Types in the names of functions that compute with wide integers and floating-point numbers, such as `__divti3`.
    const TYPES: [&str; 11] = ["si", "di", "ti", "hf", "sf", "df", "xf", "tf", "sc", "dc", "xc"];
    if let Some(rest) = name.strip_prefix("__") {
        let stem = rest.trim_end_matches(|letter: char| letter.is_ascii_digit());
        return rest.starts_with("atomic_")
            || rest.starts_with("sync_")
            || (!rest.contains('_') && TYPES.iter().any(|ty| stem.ends_with(ty)));
    }
    // Functions for `float` and `long double` have an additional letter.
    let plain = name.strip_suffix(['f', 'l']).unwrap_or(name);
    [name, plain].iter().any(|name| {
        // A remainder is an instruction.
        *name == "fmod"
            || intrinsics.contains(name)
            || OTHERS.iter().any(|(function, intrinsic)| function == name && intrinsics.contains(intrinsic))
    })
}

impl std::fmt::Display for SourceLocation {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}:{}", self.file, self.line)
    }
}

/// Returns true if an instruction calls something, writes memory, or reads any but that which a parameter leads to directly.
fn is_action(code: &ir::Function, instruction: &ir::Instruction) -> bool {
    use ir::Operation::{Call, CompareExchange, Fence, Invoke, Load, Store, Update};
    match instruction.operation {
        Call | Invoke { .. } | Store { .. } | Update { .. } | CompareExchange { .. } | Fence { .. } => true,
        Load { .. } => match instruction.operands[..] {
            [ir::Operand::Parameter(_)] => false,
            [ir::Operand::Instruction(address)] => {
                let address = &code.instructions[address.0 as usize];
                let is_member = matches!(address.operation, ir::Operation::Offset { .. } | ir::Operation::Cast(_));
                !is_member || !matches!(address.operands.first(), Some(ir::Operand::Parameter(_)))
            }
            _ => true,
        },
        _ => false,
    }
}

/// Returns true if a function of this name, defined by a program, takes the place of one of the allocator.
fn is_allocator(name: &str) -> bool {
    const NAMES: [&str; 11] = [
        "malloc",
        "free",
        "calloc",
        "realloc",
        "reallocarray",
        "memalign",
        "aligned_alloc",
        "posix_memalign",
        "valloc",
        "pvalloc",
        "malloc_usable_size",
    ];
    // `operator new`, `new[]`, `delete` and `delete[]`, each with its forms; not the placement forms, which headers define.
    const OPERATORS: [&str; 4] = ["_Znwm", "_Znam", "_ZdlPv", "_ZdaPv"];
    const PLACEMENT: [&str; 4] = ["_ZnwmPv", "_ZnamPv", "_ZdlPvS_", "_ZdaPvS_"];
    NAMES.contains(&name) || OPERATORS.iter().any(|operator| name.starts_with(operator)) && !PLACEMENT.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_that_intrinsics_become_are_known() {
        let intrinsics = FxHashSet::from_iter(["memcpy", "floor", "maxnum"]);
        for name in ["memcpy", "floor", "floorf", "fmaxl", "fmod", "__divti3", "__udivmodti4", "__atomic_load_8"] {
            assert!(is_called_for(name, &intrinsics), "{name}");
        }
        for name in ["memset", "main", "log", "ceil", "__VERIFIER_error", "__wrap", "__assert_fail"] {
            assert!(!is_called_for(name, &intrinsics), "{name}");
        }
    }
}
