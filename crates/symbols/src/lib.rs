//! From addresses to the user's source.
//!
//! [`Symbols`] answers what the program itself cannot say about a log of addresses: which function and line a code
//! address belongs to ([`Symbols::frames`]), which variable or field lies at a data address
//! ([`Symbols::data_symbol`]), and how the source spells the memory that an access touches ([`Symbols::expression`]).
//! [`inspect()`] checks a file before it runs and says in words why it cannot be hunted; [`instrumentation()`] says
//! which parts of it are seen.
//!
//! The crate reads only ELF and DWARF: it knows no events, no processes and no findings beyond the plain [`Frame`]
//! type. Debug information is input and may be damaged or missing; answers are then less detailed, but nothing panics.
//! Start at [`Symbols`]; [`source`] can be read on its own.
#![forbid(unsafe_code)]

mod demangle;
mod forms;
mod image;
mod inspect;
mod instrumentation;
mod names;
mod paths;
mod scopes;
pub mod source;
mod symbols;
mod types;
mod variables;

pub use demangle::demangle;
pub use forms::{Form, Part};
pub use inspect::{Binary, Kind, inspect};
pub use instrumentation::{Instrumentation, instrumentation};
pub use names::shortened;
pub use racehunter_finding::Frame;
pub use racehunter_sight::Effect;
pub use symbols::{DataSymbol, Symbols, is_own, is_rust_library, own_frame};

use std::path::PathBuf;

/// Why a file could not be used.
#[derive(Debug, thiserror::Error)]
pub enum SymbolsError {
    /// The file could not be read.
    #[error("cannot read `{}`: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
    /// It looks like a program but its structure is damaged.
    #[error("`{}` is damaged: {reason}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
}
