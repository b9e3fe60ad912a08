//! Inspects a program before it runs.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use object::elf;
use object::read::elf::{Dyn as _, ElfFile64, ProgramHeader as _};
use object::{Endianness, Object as _, ObjectSection as _};

use crate::SymbolsError;

/// Sections that only RaceHunter's compiler wrapper and runtime create. Any of them is proof enough.
const MARKS: [&str; 3] = [".note.racehunter", "rh_sites", ".rh_ir"];

/// The result of [`inspect()`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binary {
    /// The file.
    pub path: PathBuf,
    /// Its kind: whether it can be hunted, or why not.
    pub kind: Kind,
    /// It has DWARF line information.
    pub debug_info: bool,
    /// Its build id, or a hash of the file if it has none; the same for the same binary.
    pub identity: String,
}

/// The kinds of files that users give us.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A program that was compiled for RaceHunter.
    Instrumented,
    /// A program that was not.
    Uninstrumented,
    /// A statically linked program: the runtime cannot replace the C library's functions.
    Static,
    /// An object file, not yet linked.
    Object,
    /// A shared library.
    Library,
    /// A program for another machine, named in words.
    Foreign(String),
    /// Not an ELF file: a script, a source file, ...
    NotElf,
}

impl Binary {
    /// Returns true if it can be run under control.
    #[must_use]
    pub fn is_huntable(&self) -> bool {
        self.kind == Kind::Instrumented
    }

    /// Returns what the user can do about it, if anything.
    #[must_use]
    pub fn help(&self) -> Option<&'static str> {
        match self.kind {
            Kind::Instrumented => {
                (!self.debug_info).then_some("compile with `-g` to see source lines instead of function names")
            }
            Kind::Uninstrumented => {
                Some("rebuild with `CC=\"racehunter cc\"`, or let `racehunter hunt file.c` compile it")
            }
            Kind::Static => Some("link it dynamically: leave out `-static` and `-static-pie`"),
            Kind::Object => Some("link it with `racehunter cc` first"),
            Kind::Library => Some("hunt a program that uses it"),
            Kind::Foreign(_) => Some("build it for 64-bit x86 (x86-64) Linux"),
            Kind::NotElf => Some("give the program itself, or a `.c`, `.cc` or `.cpp` file to compile"),
        }
    }
}

/// Describes the file in one line.
impl fmt::Display for Binary {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match &self.kind {
            Kind::Instrumented => write!(out, "`{path}` is instrumented"),
            Kind::Uninstrumented => write!(out, "`{path}` is not instrumented (no RaceHunter section)"),
            Kind::Static => write!(out, "`{path}` is statically linked, so its threads cannot be controlled"),
            Kind::Object => write!(out, "`{path}` is an object file, not a program"),
            Kind::Library => write!(out, "`{path}` is a shared library, not a program"),
            Kind::Foreign(machine) => write!(out, "`{path}` is a program for {machine}"),
            Kind::NotElf => write!(out, "`{path}` is not a Linux program (no ELF file)"),
        }
    }
}

/// Inspects the file without running it.
///
/// # Errors
/// If it cannot be read, or if it starts like a program but is damaged. Everything else, such as a script or a
/// program for another machine, is a [`Kind`].
pub fn inspect(path: &Path) -> Result<Binary, SymbolsError> {
    inspect_content(path, &read(path)?)
}

/// As [`inspect()`], for a file that was already read.
pub(crate) fn inspect_content(path: &Path, data: &[u8]) -> Result<Binary, SymbolsError> {
    // Only on demand: large programs take longer to hash than to run.
    let hash = || hexadecimal(&content_hash(data).to_be_bytes());
    let other = |kind: Kind| Binary { path: path.to_path_buf(), kind, debug_info: false, identity: hash() };
    if !data.starts_with(&elf::ELFMAG) {
        return Ok(other(Kind::NotElf));
    }
    if let Some(machine) = foreign_machine(data) {
        return Ok(other(Kind::Foreign(machine)));
    }
    let damaged = |error: object::Error| SymbolsError::Damaged { path: path.to_path_buf(), reason: error.to_string() };
    let file = ElfFile64::<Endianness>::parse(data).map_err(damaged)?;
    Ok(Binary {
        path: path.to_path_buf(),
        kind: kind(&file),
        debug_info: file.section_by_name(".debug_line").is_some_and(|section| section.size() > 0),
        identity: file.build_id().ok().flatten().map_or_else(hash, hexadecimal),
    })
}

/// Reads a whole file. Mapping it would be cheaper, but is not safe if the file is rebuilt in the meantime.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, SymbolsError> {
    fs::read(path).map_err(|source| SymbolsError::Read { path: path.to_path_buf(), source })
}

fn kind(file: &ElfFile64<'_, Endianness>) -> Kind {
    let endian = file.endian();
    let header = file.elf_header();
    let headers = || file.elf_program_headers().iter();
    let has_interpreter = headers().any(|segment| segment.p_type(endian) == elf::PT_INTERP);
    let instrumented = MARKS.iter().any(|mark| file.section_by_name(mark).is_some());
    match header.e_type.get(endian) {
        elf::ET_REL => Kind::Object,
        elf::ET_DYN if !has_interpreter && !says_program(file) => Kind::Library,
        // Checked first: instrumenting a static program would not help.
        elf::ET_DYN | elf::ET_EXEC if !has_interpreter => Kind::Static,
        elf::ET_DYN | elf::ET_EXEC if !instrumented => Kind::Uninstrumented,
        elf::ET_DYN | elf::ET_EXEC => Kind::Instrumented,
        _ => Kind::NotElf,
    }
}

/// Returns true for a static position-independent program, which only a flag distinguishes from a library.
fn says_program(file: &ElfFile64<'_, Endianness>) -> bool {
    let endian = file.endian();
    file.elf_program_headers()
        .iter()
        .filter_map(|segment| segment.dynamic(endian, file.data()).ok().flatten())
        .flatten()
        .any(|entry| {
            entry.d_tag(endian) == u64::from(elf::DT_FLAGS_1) && entry.d_val(endian) & u64::from(elf::DF_1_PIE) != 0
        })
}

/// Returns the machine of an ELF header, if it is not the supported one.
fn foreign_machine(data: &[u8]) -> Option<String> {
    let bits = data.get(4).copied().unwrap_or(0);
    let machine = u16::from_le_bytes([*data.get(18)?, *data.get(19)?]);
    let name = match machine {
        elf::EM_X86_64 if bits == elf::ELFCLASS64 => return None,
        elf::EM_X86_64 => "x32 (x86-64 with 32-bit pointers)",
        elf::EM_386 => "32-bit x86",
        elf::EM_AARCH64 => "64-bit ARM",
        elf::EM_ARM => "32-bit ARM",
        elf::EM_RISCV => "RISC-V",
        other => return Some(format!("another machine (ELF machine {other})")),
    };
    Some(name.to_owned())
}

/// Returns an FNV-1a hash: no protection against malice, but enough to distinguish builds.
fn content_hash(data: &[u8]) -> u64 {
    data.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
