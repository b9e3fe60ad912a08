//! Errors of files that should contain modules.

use std::io;
use std::path::PathBuf;

/// Why no module could be read.
#[derive(Debug, thiserror::Error)]
pub enum IrError {
    /// The file cannot be read.
    #[error("cannot read {path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// The file is not an ELF file, or is damaged.
    #[error("{path} is not an object file that can be read: {reason}")]
    Object {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// The program was not compiled with the plugin.
    #[error("{path} has no {} section: it was not compiled by RaceHunter, or it was removed", crate::SECTION)]
    NoSection {
        /// The file.
        path: PathBuf,
    },
    /// Site numbers do not identify instructions.
    #[error("{path} numbers its sites in another way: it was built by an earlier version of RaceHunter")]
    Numbers {
        /// The file.
        path: PathBuf,
    },
    /// Something other than a module.
    #[error("byte {offset} of the section: expected a module, found something else")]
    NoModule {
        /// Where in the section.
        offset: usize,
    },
    /// A module that ends before it should.
    #[error("byte {offset} of the section: the module is cut off")]
    Truncated {
        /// Where in the section.
        offset: usize,
    },
    /// A module of another version of RaceHunter.
    #[error("byte {offset} of the section: format version {found}, expected {}; compile again", crate::FORMAT_VERSION)]
    Version {
        /// Where in the section.
        offset: usize,
        /// Its version.
        found: u32,
    },
    /// A module that was changed after it was written.
    #[error("byte {offset} of the section: the module is damaged ({reason})")]
    Damaged {
        /// Where in the section.
        offset: usize,
        /// What was noticed.
        reason: String,
    },
}
