//! What can be wrong with a file that should contain modules.

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
        /// Why.
        source: io::Error,
    },
    /// The file is no ELF file, or a broken one.
    #[error("{path} is not an object file that can be read: {reason}")]
    Object {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The program was not compiled with the plugin.
    #[error("{path} has no {} section: it was not compiled by RaceHunter, or it was removed", crate::SECTION)]
    NoSection {
        /// The file.
        path: PathBuf,
    },
    /// Numbers of sites do not tell which instruction is meant.
    #[error("{path} numbers its sites in another way: it was built by an earlier version of RaceHunter")]
    Numbers {
        /// The file.
        path: PathBuf,
    },
    /// Something that is no module.
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
        /// The version that it has.
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
