//! Debug information: locations with the calls that were inlined, and names of variables.

use std::ffi::c_void;

use racehunter_ir as ir;
use rustc_hash::FxHashMap;

use super::Exporter;
use crate::llvm::{Metadata, Value, llvm, metadata_kind};
use crate::sys::core::*;
use crate::sys::debuginfo::*;
use crate::sys::prelude::*;

/// Objects that already have a number.
#[derive(Default)]
pub struct Interned {
    locations: FxHashMap<Metadata, ir::LocationId>,
    /// Inlined function and file of a scope.
    scopes: FxHashMap<Metadata, (ir::FileId, u32)>,
    declarations: FxHashMap<Metadata, ir::DeclarationId>,
    files: FxHashMap<String, ir::FileId>,
    names: FxHashMap<String, u32>,
}

/// A value that debug information names.
pub struct NamedValue {
    /// The value.
    pub value: Value,
    /// The variable.
    pub variable: Metadata,
    /// Whether the value is the variable's address.
    pub is_address: bool,
}

/// Returns all such values of a function.
pub fn named_values(function: Value) -> Vec<NamedValue> {
    extern "C" fn visit(
        context: *mut c_void,
        _instruction: LLVMValueRef,
        value: LLVMValueRef,
        variable: LLVMMetadataRef,
        is_address: bool,
    ) {
        // SAFETY: `context` is the vector below, which lives until the visit is over.
        let found = unsafe { &mut *context.cast::<Vec<NamedValue>>() };
        if let (Some(value), Some(variable)) = (Value::new(value), Metadata::new(variable)) {
            found.push(NamedValue { value, variable, is_address });
        }
    }
    let mut found: Vec<NamedValue> = Vec::new();
    function.each_variable((&raw mut found).cast(), visit);
    found
}

impl Exporter<'_> {
    /// Returns the number of a location.
    pub fn location(&mut self, location: Metadata) -> ir::LocationId {
        // Outer locations get their numbers before inner ones; this is a loop because chains can be long.
        let mut chain = vec![location];
        while let Some(outer) = chain.last().and_then(|inner| inner.inlined_at()) {
            if self.debug.locations.contains_key(&outer) {
                break;
            }
            chain.push(outer);
        }
        while let Some(inner) = chain.pop() {
            if !self.debug.locations.contains_key(&inner) {
                let inlined_at = inner.inlined_at().and_then(|outer| self.debug.locations.get(&outer).copied());
                let (file, function) = self.scope(inner.scope());
                let (line, column) = (inner.line(), inner.column());
                let id = self.add_location(ir::Location { file, line, column, function, inlined_at });
                self.debug.locations.insert(inner, id);
            }
        }
        self.debug.locations[&location]
    }

    /// Returns where the source defines a function.
    pub fn function_location(&mut self, function: Value) -> Option<ir::LocationId> {
        let subprogram = function.subprogram()?;
        let (file, name) = self.scope(subprogram);
        let line = subprogram.subprogram_line();
        Some(self.add_location(ir::Location { file, line, column: 0, function: name, inlined_at: None }))
    }

    fn add_location(&mut self, location: ir::Location) -> ir::LocationId {
        let id = ir::LocationId(self.result.locations.len() as u32);
        self.result.locations.push(location);
        id
    }

    /// File and function of a scope.
    fn scope(&mut self, scope: Metadata) -> (ir::FileId, u32) {
        if let Some(&known) = self.debug.scopes.get(&scope) {
            return known;
        }
        let file = self.file(scope.scope_file().unwrap_or_default());
        let name = scope.scope_function(true);
        let names = &mut self.result.names;
        let function = *self.debug.names.entry(name).or_insert_with_key(|name| {
            names.push(name.clone());
            names.len() as u32 - 1
        });
        self.debug.scopes.insert(scope, (file, function));
        (file, function)
    }

    fn file(&mut self, (directory, name): (String, String)) -> ir::FileId {
        let is_whole = directory.is_empty() || name.starts_with('/');
        let path = if is_whole { name } else { format!("{directory}/{name}") };
        let files = &mut self.result.files;
        *self.debug.files.entry(path).or_insert_with_key(|path| {
            files.push(path.clone());
            ir::FileId(files.len() as u32 - 1)
        })
    }

    /// Returns the number of a variable as the source declares it.
    pub fn declaration(&mut self, variable: Metadata) -> ir::DeclarationId {
        if let Some(&known) = self.debug.declarations.get(&variable) {
            return known;
        }
        let declaration = ir::Declaration {
            name: variable.variable_name(),
            type_name: variable.variable_type(),
            file: variable.variable_file().map(|path| self.file(path)),
            line: variable.variable_line(),
        };
        let id = ir::DeclarationId(self.result.declarations.len() as u32);
        self.result.declarations.push(declaration);
        self.debug.declarations.insert(variable, id);
        id
    }

    /// Returns the declaration of a global variable.
    pub fn global_declaration(&mut self, global: Value) -> Option<ir::DeclarationId> {
        let debug_kind = metadata_kind(self.module.context(), "dbg");
        let mut count = 0;
        let entries = llvm!(LLVMGlobalCopyAllMetadata(global.0, &mut count));
        let expression = (0..count as u32)
            .find(|&index| llvm!(LLVMValueMetadataEntriesGetKind(entries, index)) == debug_kind)
            .map(|index| llvm!(LLVMValueMetadataEntriesGetMetadata(entries, index)));
        llvm!(LLVMDisposeValueMetadataEntries(entries));
        let variable = llvm!(LLVMDIGlobalVariableExpressionGetVariable(expression?));
        Metadata::new(variable).map(|variable| self.declaration(variable))
    }
}
