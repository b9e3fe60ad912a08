//! The program's own code, in the form in which it was instrumented.
//!
//! The compiler plugin exports each module that it instruments as a [`Module`]: functions in SSA form, global variables
//! with the pointers and numbers in their initialisers, debug locations, names. The module travels in a section of the object file,
//! compressed, and whoever has the executable has the code of the whole program: linkers concatenate the sections, and
//! [`read_program`] takes them apart again.
//!
//! The hooks of the runtime report *site numbers*; [`Module::site`] leads from such a number to the instruction. What is
//! here is exactly what ran, so the answer does not depend on debug information, which is ambiguous after optimisation.
//!
//! This crate knows nothing of LLVM, which only the plugin uses, and nothing of executions. Its input is a file that
//! anyone may have changed: everything is checked when it is read, every index included, and a damaged section is an
//! error that says where, never a panic.
//!
//! Start reading at [`Module`], then [`Operation`].
#![forbid(unsafe_code)]

mod blob;
mod check;
mod error;
mod instruction;
mod module;
mod program;
mod relative;

pub use blob::{ALIGNMENT, Encoded, decode_all, encode};
pub use error::IrError;
pub use instruction::{
    BinaryOperator, BlockId, CastOperator, Instruction, InstructionId, Operand, Operation, Order, Predicate, Type,
    UpdateOperator,
};
pub use module::{
    Attributes, Declaration, DeclarationId, FileId, Function, InitialNumber, InitialPointer, Linkage, LocalVariable,
    Location, LocationId, Module, ModuleId, Site, SiteIndex, Symbol, SymbolId, SymbolKind,
};
pub use program::{read_numbered_program, read_program, read_section};

/// Version of the format. A reader refuses any other.
pub const FORMAT_VERSION: u32 = 3;

/// Name of the section that modules travel in.
pub const SECTION: &str = ".rh_ir";

/// Name of a symbol that represents assembler outside functions.
pub const MODULE_ASSEMBLER: &str = "llvm.module.asm";

/// Name of a symbol that says that the module puts something into a section whose content the loader runs, such as `.init_array`.
pub const ENTRY_SECTION: &str = "racehunter.entry.section";
