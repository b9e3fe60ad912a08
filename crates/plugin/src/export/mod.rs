//! Exports the module, as it is before hooks are inserted, with the numbers that the plan gave.

mod constants;
mod debug;
mod instructions;

use racehunter_ir as ir;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::kinds::Kinds;
use crate::llvm::{Block, FUNCTION, Module, Type, Value, llvm};
use crate::plan::{Plan, is_elsewhere};
use crate::sys::core::*;
use crate::sys::{LLVMLinkage, LLVMTypeKind, LLVMValueKind as Kind};

/// Returns the module as data.
pub fn export(module: Module, kinds: &Kinds, plan: &Plan) -> ir::Module {
    let mut exporter = Exporter {
        module,
        kinds,
        plan,
        result: ir::Module { source: module.source(), site_count: plan.site_count, ..ir::Module::default() },
        symbols: FxHashMap::default(),
        debug: debug::Interned::default(),
    };
    exporter.everything();
    exporter.result
}

struct Exporter<'a> {
    module: Module,
    kinds: &'a Kinds,
    plan: &'a Plan,
    result: ir::Module,
    symbols: FxHashMap<Value, ir::SymbolId>,
    debug: debug::Interned,
}

/// What the operands of a function refer to.
struct Body {
    instructions: FxHashMap<Value, u32>,
    blocks: FxHashMap<Block, u32>,
    parameters: FxHashMap<Value, u32>,
}

impl Exporter<'_> {
    fn everything(&mut self) {
        if self.module.has_assembler() {
            self.mark(ir::MODULE_ASSEMBLER);
        }
        let mut placed = self.module.globals().chain(self.module.functions());
        if placed.any(|global| is_entry_section(&global.section())) {
            self.mark(ir::ENTRY_SECTION);
        }
        for global in self.module.globals() {
            let symbol = self.symbol(global);
            self.variable_details(global, symbol);
        }
        for alias in self.module.aliases() {
            let symbol = self.symbol(alias);
            let target = self.constant(Value(llvm!(LLVMAliasGetAliasee(alias.0))));
            if let (ir::Operand::Symbol(target, offset), Some(entry)) =
                (target, self.result.symbols.get_mut(symbol.0 as usize))
            {
                entry.kind = ir::SymbolKind::Alias { target: Some(target), offset };
            }
        }
        for function in self.module.functions() {
            if function.is_declaration() || is_elsewhere(function) {
                // Unused globals carry no information; used ones get their symbol from their user.
                continue;
            }
            let exported = self.function(function);
            self.result.functions.push(exported);
        }
    }

    /// Adds a symbol that stands for a property of the whole module.
    fn mark(&mut self, name: &str) {
        let kind = ir::SymbolKind::Alias { target: None, offset: 0 };
        self.result.symbols.push(ir::Symbol { name: name.to_owned(), linkage: ir::Linkage::Internal, kind });
    }

    /// Returns the symbol of a function, variable, alias or ifunc.
    fn symbol(&mut self, value: Value) -> ir::SymbolId {
        if let Some(&known) = self.symbols.get(&value) {
            return known;
        }
        let kind = match value.kind() {
            Kind::LLVMFunctionValueKind => self.function_kind(value),
            Kind::LLVMGlobalVariableValueKind => ir::SymbolKind::Variable {
                defined: !value.is_declaration(),
                bytes: self.module.store_size(Type(llvm!(LLVMGlobalGetValueType(value.0)))),
                // Another module may change what is constant only in this one.
                constant: llvm!(LLVMIsGlobalConstant(value.0)) != 0 && !value.is_declaration(),
                thread_local: llvm!(LLVMIsThreadLocal(value.0)) != 0,
                pointers: Vec::new(),
                numbers: None,
                declaration: None,
            },
            _ => ir::SymbolKind::Alias { target: None, offset: 0 },
        };
        let id = ir::SymbolId(self.result.symbols.len() as u32);
        self.result.symbols.push(ir::Symbol { name: value.name(), linkage: linkage(value), kind });
        self.symbols.insert(value, id);
        id
    }

    fn function_kind(&self, function: Value) -> ir::SymbolKind {
        let has = |kind| function.has_attribute(FUNCTION, kind);
        let ty = llvm!(LLVMGlobalGetValueType(function.0));
        let attributes = ir::Attributes {
            no_return: has(self.kinds.no_return),
            no_unwind: has(self.kinds.no_unwind),
            returns_twice: has(self.kinds.returns_twice),
            sanitized: has(self.kinds.sanitize_thread) && !has(self.kinds.disable_instrumentation),
            variadic: llvm!(LLVMIsFunctionVarArg(ty)) != 0,
            by_value: (0..llvm!(LLVMCountParams(function.0)))
                .any(|index| function.has_attribute(index + 1, self.kinds.by_value))
                || self.passes_structures(function),
        };
        ir::SymbolKind::Function { defined: !function.is_declaration(), attributes }
    }

    /// Returns true if a call in the function passes a structure by value among variable arguments, which no parameter
    /// shows.
    fn passes_structures(&self, function: Value) -> bool {
        let calls =
            function.blocks().flat_map(|block| block.instructions()).filter(|instruction| instruction.is_call());
        calls.into_iter().any(|call| {
            let ty = llvm!(LLVMGetCalledFunctionType(call.0));
            let fixed = llvm!(LLVMCountParamTypes(ty));
            llvm!(LLVMIsFunctionVarArg(ty)) != 0
                && (fixed..call.argument_count())
                    .any(|argument| call.call_attribute(argument + 1, self.kinds.by_value).is_some())
        })
    }

    fn variable_details(&mut self, global: Value, symbol: ir::SymbolId) {
        let mut found = Vec::new();
        let mut found_numbers = None;
        if let Some(initialiser) = Value::new(llvm!(LLVMGetInitializer(global.0))) {
            self.initial_pointers(initialiser, 0, &mut found);
            let mut all = Vec::new();
            found_numbers = self.initial_numbers(initialiser, 0, &mut all).then_some(all);
        }
        let found_declaration = self.global_declaration(global);
        if let Some(ir::Symbol { kind: ir::SymbolKind::Variable { pointers, numbers, declaration, .. }, .. }) =
            self.result.symbols.get_mut(symbol.0 as usize)
        {
            *pointers = found;
            *numbers = found_numbers;
            *declaration = found_declaration;
        }
    }

    fn function(&mut self, function: Value) -> ir::Function {
        let symbol = self.symbol(function);
        let mut body = Body {
            instructions: FxHashMap::default(),
            blocks: FxHashMap::default(),
            parameters: function.parameters().enumerate().map(|(index, value)| (value, index as u32)).collect(),
        };
        let mut blocks = Vec::new();
        let mut order = Vec::new();
        for block in function.blocks() {
            body.blocks.insert(block, blocks.len() as u32);
            blocks.push(ir::InstructionId(order.len() as u32));
            for instruction in block.instructions() {
                body.instructions.insert(instruction, order.len() as u32);
                order.push(instruction);
            }
        }
        let instructions = order.iter().map(|&instruction| self.instruction(instruction, &body)).collect();
        let returns = Type(llvm!(LLVMGetReturnType(LLVMGlobalGetValueType(function.0))));
        ir::Function {
            symbol,
            parameters: function.parameters().map(|parameter| self.ty(parameter.ty())).collect(),
            returns: self.ty(returns),
            entry_site: self.plan.site(function),
            location: self.function_location(function),
            blocks,
            instructions,
            variables: self.variables(function, &body),
        }
    }

    fn variables(&mut self, function: Value, body: &Body) -> Vec<ir::LocalVariable> {
        let mut seen = FxHashSet::default();
        let mut variables = Vec::new();
        for named in debug::named_values(function) {
            let value = self.operand(named.value, body);
            let is_known = matches!(value, ir::Operand::Instruction(_) | ir::Operand::Parameter(_));
            let declaration = self.declaration(named.variable);
            let variable = ir::LocalVariable { declaration, value, is_address: named.is_address };
            if is_known && seen.insert(variable.clone()) {
                variables.push(variable);
            }
        }
        variables
    }

    fn ty(&self, ty: Type) -> ir::Type {
        match ty.kind() {
            LLVMTypeKind::LLVMVoidTypeKind => ir::Type::Void,
            LLVMTypeKind::LLVMIntegerTypeKind => ir::Type::Integer(ty.integer_bits()),
            LLVMTypeKind::LLVMPointerTypeKind => ir::Type::Pointer,
            LLVMTypeKind::LLVMHalfTypeKind | LLVMTypeKind::LLVMBFloatTypeKind => ir::Type::Float(16),
            LLVMTypeKind::LLVMFloatTypeKind => ir::Type::Float(32),
            LLVMTypeKind::LLVMDoubleTypeKind => ir::Type::Float(64),
            LLVMTypeKind::LLVMX86_FP80TypeKind => ir::Type::Float(80),
            LLVMTypeKind::LLVMFP128TypeKind => ir::Type::Float(128),
            LLVMTypeKind::LLVMStructTypeKind | LLVMTypeKind::LLVMArrayTypeKind | LLVMTypeKind::LLVMVectorTypeKind => {
                ir::Type::Aggregate(self.module.store_size(ty))
            }
            _ => ir::Type::Other,
        }
    }
}

/// Returns true if the loader runs the contents of a section, before or after `main`.
fn is_entry_section(section: &str) -> bool {
    const LISTS: [&str; 5] = [".preinit_array", ".init_array", ".fini_array", ".ctors", ".dtors"];
    matches!(section, ".init" | ".fini") || LISTS.iter().any(|list| section.starts_with(list))
}

fn linkage(value: Value) -> ir::Linkage {
    use LLVMLinkage::{LLVMExternalLinkage, LLVMInternalLinkage, LLVMPrivateLinkage};
    match llvm!(LLVMGetLinkage(value.0)) {
        LLVMExternalLinkage => ir::Linkage::External,
        LLVMInternalLinkage | LLVMPrivateLinkage => ir::Linkage::Internal,
        _ => ir::Linkage::Weak,
    }
}
