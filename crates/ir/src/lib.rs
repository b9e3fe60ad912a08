//! The program's own code, as it was instrumented.
//!
//! The compiler plugin exports each module that it instruments as a [`Module`]: functions in SSA form, global variables
//! with the pointers and numbers in their initialisers, debug locations, names. The module is stored, compressed, in a
//! section of the object file. Linkers concatenate the sections, so an executable contains the code of the whole
//! program; [`read_program`] splits it into modules again.
//!
//! The hooks of the runtime report *site numbers*; [`Module::site`] leads from such a number to the instruction. This
//! is exactly the code that ran, so the answer does not depend on debug information, which is ambiguous after
//! optimisation.
//!
//! This crate knows nothing about LLVM, which only the plugin uses, nor about executions. Its input is a file that
//! anyone may have changed: everything is checked when it is read, including every index, and a damaged section is an
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

/// Name of the section that contains modules.
pub const SECTION: &str = ".rh_ir";

/// Name of a symbol that represents assembler outside functions.
pub const MODULE_ASSEMBLER: &str = "llvm.module.asm";

/// Name of a symbol that marks a module with data in a section that the loader runs, such as `.init_array`.
pub const ENTRY_SECTION: &str = "racehunter.entry.section";
