//! Checks a module that comes from outside: afterwards every index in it is valid.

use crate::instruction::{Operand, Operation};
use crate::module::{DeclarationId, Function, Module, SymbolId, SymbolKind};

/// Returns an error that says what is wrong with the module.
pub fn check(module: &Module) -> Result<(), String> {
    let checker = Checker { module };
    for (index, location) in module.locations.iter().enumerate() {
        checker.file(location.file.0)?;
        within("name of a location", location.function, module.names.len())?;
        // Chains of inlined functions end because each link leads further back.
        if let Some(outer) = location.inlined_at {
            within("location that a location is inlined at", outer.0, index)?;
        }
    }
    for file in module.declarations.iter().filter_map(|declaration| declaration.file) {
        checker.file(file.0)?;
    }
    for symbol in &module.symbols {
        checker.symbol_kind(&symbol.kind)?;
    }
    let mut seen = vec![false; module.site_count as usize];
    for function in &module.functions {
        checker.function(function, &mut seen)?;
    }
    Ok(())
}

struct Checker<'a> {
    module: &'a Module,
}

impl Checker<'_> {
    fn symbol_kind(&self, kind: &SymbolKind) -> Result<(), String> {
        match kind {
            SymbolKind::Variable { pointers, declaration, .. } => {
                for pointer in pointers {
                    self.symbol(pointer.symbol)?;
                }
                declaration.map_or(Ok(()), |declaration| self.declaration(declaration))
            }
            SymbolKind::Alias { target: Some(target), .. } => self.symbol(*target),
            SymbolKind::Alias { target: None, .. } | SymbolKind::Function { .. } => Ok(()),
        }
    }

    fn function(&self, function: &Function, seen: &mut [bool]) -> Result<(), String> {
        self.symbol(function.symbol)?;
        if let Some(location) = function.location {
            within("location", location.0, self.module.locations.len())?;
        }
        if function.blocks.first().is_some_and(|first| first.0 != 0) || !function.blocks.is_sorted() {
            return Err("blocks that are out of order".to_owned());
        }
        for first in &function.blocks {
            within("first instruction of a block", first.0, function.instructions.len())?;
        }
        claim(function.entry_site, seen)?;
        for instruction in &function.instructions {
            claim(instruction.site, seen)?;
            if let Some(location) = instruction.location {
                within("location", location.0, self.module.locations.len())?;
            }
            for operand in &instruction.operands {
                self.operand(function, operand)?;
            }
            match &instruction.operation {
                Operation::Invoke { normal, unwind } => {
                    within("block", normal.0, function.blocks.len())?;
                    within("block", unwind.0, function.blocks.len())?;
                }
                Operation::Offset { scales, .. } if scales.len() + 1 != instruction.operands.len() => {
                    return Err("an offset without an index for each scale".to_owned());
                }
                _ => {}
            }
        }
        for variable in &function.variables {
            self.declaration(variable.declaration)?;
            self.operand(function, &variable.value)?;
        }
        Ok(())
    }

    fn operand(&self, function: &Function, operand: &Operand) -> Result<(), String> {
        match operand {
            Operand::Instruction(id) => within("instruction", id.0, function.instructions.len()),
            Operand::Parameter(index) => within("parameter", *index, function.parameters.len()),
            Operand::Block(block) => within("block", block.0, function.blocks.len()),
            Operand::Symbol(symbol, _) => self.symbol(*symbol),
            Operand::Constant(symbols) => symbols.iter().try_for_each(|&symbol| self.symbol(symbol)),
            Operand::Integer(_) | Operand::Null | Operand::Undefined | Operand::Assembler { .. } => Ok(()),
        }
    }

    fn symbol(&self, symbol: SymbolId) -> Result<(), String> {
        within("symbol", symbol.0, self.module.symbols.len())
    }

    fn file(&self, file: u32) -> Result<(), String> {
        within("file", file, self.module.files.len())
    }

    fn declaration(&self, declaration: DeclarationId) -> Result<(), String> {
        within("declaration", declaration.0, self.module.declarations.len())
    }
}

fn within(what: &str, index: u32, length: usize) -> Result<(), String> {
    if (index as usize) < length { Ok(()) } else { Err(format!("{what} {index}, but there are only {length}")) }
}

/// Claims a site number, which belongs to one instruction.
fn claim(site: Option<u32>, seen: &mut [bool]) -> Result<(), String> {
    let Some(site) = site else { return Ok(()) };
    within("site", site, seen.len())?;
    match std::mem::replace(&mut seen[site as usize], true) {
        true => Err(format!("site {site} twice")),
        false => Ok(()),
    }
}
