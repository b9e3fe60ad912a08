//! Modules, their functions and variables.

use std::fmt;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::instruction::{BlockId, Instruction, InstructionId, Operand, Type};

/// Identity of a module: a hash of its contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct ModuleId(pub u64);

impl fmt::Display for ModuleId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:016x}", self.0)
    }
}

/// Position in [`Module::files`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FileId(pub u32);

/// Position in [`Module::locations`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LocationId(pub u32);

/// Position in [`Module::declarations`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct DeclarationId(pub u32);

/// Position in [`Module::symbols`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SymbolId(pub u32);

/// The code of one source file.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Module {
    /// Hash of the rest. Not stored, because it follows from the content.
    #[serde(skip)]
    pub id: ModuleId,
    /// Path of the source, as given to the compiler.
    pub source: String,
    /// Paths of the files of locations.
    pub files: Vec<String>,
    /// Names of the functions of locations, as in the source.
    pub names: Vec<String>,
    /// Places of instructions.
    pub locations: Vec<Location>,
    /// Variables as the source declares them.
    pub declarations: Vec<Declaration>,
    /// Functions, variables and aliases, including those of other modules.
    pub symbols: Vec<Symbol>,
    /// The functions that this module defines.
    pub functions: Vec<Function>,
    /// The number of site numbers.
    pub site_count: u32,
    /// The map from site numbers to instructions.
    #[serde(skip)]
    pub index: SiteIndex,
}

/// For each site its function and instruction; built when a module is read, empty before.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct SiteIndex(Vec<Option<(u32, Option<InstructionId>)>>);

/// A place in the source.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Location {
    /// The file.
    pub file: FileId,
    /// Line, from 1; 0 for an instruction that the compiler generated.
    pub line: u32,
    /// Column, from 1; 0 if unknown.
    pub column: u32,
    /// Function of the source that contains the line: position in [`Module::names`].
    pub function: u32,
    /// Where that function was inlined.
    pub inlined_at: Option<LocationId>,
}

/// The visibility of a symbol in other modules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Linkage {
    /// Visible by its name.
    External,
    /// Visible by its name, but another definition may replace it.
    Weak,
    /// Not visible.
    Internal,
}

/// A function, variable or alias.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Symbol {
    /// Name for the linker.
    pub name: String,
    /// Its visibility.
    pub linkage: Linkage,
    /// What it is.
    pub kind: SymbolKind,
}

/// What a symbol is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SymbolKind {
    /// A function.
    Function {
        /// True if this module defines it.
        defined: bool,
        /// Its attributes.
        attributes: Attributes,
    },
    /// A variable.
    Variable {
        /// True if this module defines it.
        defined: bool,
        /// Size.
        bytes: u64,
        /// True if it never changes.
        constant: bool,
        /// True if each thread has its own.
        thread_local: bool,
        /// The pointers in its initialiser.
        pointers: Vec<InitialPointer>,
        /// The nonzero integers in its initialiser; none if its initial value is not known exactly.
        numbers: Option<Vec<InitialNumber>>,
        /// Its declaration in the source.
        declaration: Option<DeclarationId>,
    },
    /// Another name for a symbol, plus an offset in bytes.
    Alias {
        /// The symbol, if it is a simple one.
        target: Option<SymbolId>,
        /// Offset.
        offset: i64,
    },
}

/// Attributes of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Attributes {
    /// It does not return.
    pub no_return: bool,
    /// It does not throw.
    pub no_unwind: bool,
    /// It may return more than once, as `setjmp` does.
    pub returns_twice: bool,
    /// Its plain accesses are reported.
    pub sanitized: bool,
    /// It takes a variable number of arguments.
    pub variadic: bool,
    /// One of its parameters points to a copy that the call makes, or it makes such copies for variable arguments.
    pub by_value: bool,
}

/// A pointer in the initialiser of a variable: a function table, a list, a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InitialPointer {
    /// Its offset in the variable.
    pub at: u64,
    /// The symbol that it points to.
    pub symbol: SymbolId,
    /// The offset from the symbol in bytes.
    pub offset: i64,
}

/// An integer in the initialiser of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InitialNumber {
    /// Its offset in the variable.
    pub at: u64,
    /// Size.
    pub bytes: u64,
    /// Its value, sign-extended.
    pub value: i64,
}

/// A variable as the source declares it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Declaration {
    /// Name.
    pub name: String,
    /// Name of its type, or of the type it points to; empty if the type has no name.
    pub type_name: String,
    /// File, if it is known.
    pub file: Option<FileId>,
    /// Line, 0 when it is not known.
    pub line: u32,
}

/// A local variable, and a value that it has.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LocalVariable {
    /// The variable.
    pub declaration: DeclarationId,
    /// The value.
    pub value: Operand,
    /// True if the value is the variable's address.
    pub is_address: bool,
}

/// A function with its code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Function {
    /// Its symbol.
    pub symbol: SymbolId,
    /// Types of its parameters.
    pub parameters: Vec<Type>,
    /// Type of its result.
    pub returns: Type,
    /// Site number of its entry, if it is announced to the runtime.
    pub entry_site: Option<u32>,
    /// Its place in the source.
    pub location: Option<LocationId>,
    /// First instruction of each block, in order.
    pub blocks: Vec<InstructionId>,
    /// All instructions, block by block.
    pub instructions: Vec<Instruction>,
    /// Names of values.
    pub variables: Vec<LocalVariable>,
}

/// The instruction of a site number.
#[derive(Clone, Copy, Debug)]
pub struct Site<'a> {
    /// The function.
    pub function: &'a Function,
    /// The instruction; none for the entry of the function.
    pub instruction: Option<(InstructionId, &'a Instruction)>,
    /// Its place in the source.
    pub location: Option<LocationId>,
}

impl Module {
    /// Returns the instruction of a site number of this module.
    #[must_use]
    pub fn site(&self, number: u32) -> Option<Site<'_>> {
        let (function, instruction) = (*self.index.0.get(number as usize)?)?;
        let function = self.functions.get(function as usize)?;
        let instruction = match instruction {
            Some(id) => Some((id, function.instructions.get(id.0 as usize)?)),
            None => None,
        };
        let location = instruction.map_or(function.location, |(_, instruction)| instruction.location);
        Some(Site { function, instruction, location })
    }

    /// Returns a place in the source, and the places where its function was inlined, innermost first.
    pub fn locations(&self, innermost: LocationId) -> impl Iterator<Item = &Location> {
        let at = |id: LocationId| self.locations.get(id.0 as usize);
        std::iter::successors(at(innermost), move |location| at(location.inlined_at?))
    }

    /// Returns the path of a file.
    #[must_use]
    pub fn file(&self, file: FileId) -> &str {
        self.files.get(file.0 as usize).map_or("", String::as_str)
    }

    /// Returns the name of the function that a location belongs to, as the source has it.
    #[must_use]
    pub fn location_function(&self, location: &Location) -> &str {
        self.names.get(location.function as usize).map_or("", String::as_str)
    }

    /// Returns a declaration.
    #[must_use]
    pub fn declaration(&self, declaration: DeclarationId) -> Option<&Declaration> {
        self.declarations.get(declaration.0 as usize)
    }

    /// Returns a symbol.
    #[must_use]
    pub fn symbol(&self, symbol: SymbolId) -> Option<&Symbol> {
        self.symbols.get(symbol.0 as usize)
    }

    /// Returns the name of a function for the linker.
    #[must_use]
    pub fn function_name(&self, function: &Function) -> &str {
        self.symbol(function.symbol).map_or("", |symbol| symbol.name.as_str())
    }

    /// Finds the instruction of each site.
    pub(crate) fn index_sites(&mut self) {
        let mut sites = vec![None; self.site_count as usize];
        let mut set = |number: Option<u32>, place| {
            if let Some(entry) = number.and_then(|number| sites.get_mut(number as usize)) {
                *entry = Some(place);
            }
        };
        for (index, function) in self.functions.iter().enumerate() {
            set(function.entry_site, (index as u32, None));
            for (position, instruction) in function.instructions.iter().enumerate() {
                set(instruction.site, (index as u32, Some(InstructionId(position as u32))));
            }
        }
        self.index = SiteIndex(sites);
    }
}

impl Function {
    /// Returns the instructions of a block; empty if there is no such block.
    #[must_use]
    pub fn block(&self, block: BlockId) -> &[Instruction] {
        self.instructions.get(self.block_range(block)).unwrap_or_default()
    }

    /// Returns an instruction of this function.
    ///
    /// # Panics
    ///
    /// If the function has no such instruction; [`crate::decode_all`] accepts no module with an invalid one.
    #[must_use]
    pub fn instruction(&self, id: InstructionId) -> &Instruction {
        &self.instructions[id.0 as usize]
    }

    /// Returns the block of an instruction.
    #[must_use]
    pub fn block_of(&self, instruction: InstructionId) -> Option<BlockId> {
        let exists = (instruction.0 as usize) < self.instructions.len();
        let after = self.blocks.partition_point(|&first| first <= instruction);
        exists.then(|| after.checked_sub(1).map(|index| BlockId(index as u32))).flatten()
    }

    fn block_range(&self, block: BlockId) -> Range<usize> {
        let first = |index: usize| self.blocks.get(index).map(|first| first.0 as usize);
        let end = self.instructions.len();
        let start = first(block.0 as usize).unwrap_or(end);
        start..first(block.0 as usize + 1).unwrap_or(end)
    }
}
