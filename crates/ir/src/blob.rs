//! Modules as bytes: self-delimiting, so that linkers can concatenate them.
//!
//! A blob is a header, the compressed module, and zeroes up to the alignment:
//!
//! | bytes | |
//! |---|---|
//! | 4 | `RHIR` |
//! | 4 | format version |
//! | 8 | identity: hash of the module's uncompressed bytes |
//! | 4 | length of the uncompressed bytes |
//! | 4 | length of the compressed bytes |
//!
//! All numbers are little-endian.

use miniz_oxide::deflate::compress_to_vec;
use miniz_oxide::inflate::decompress_to_vec_with_limit;

use crate::check::check;
use crate::module::{Module, ModuleId};
use crate::relative::{to_absolute, to_relative};
use crate::{FORMAT_VERSION, IrError};

/// Alignment of a blob in its section, and of its length.
pub const ALIGNMENT: usize = 8;

const MAGIC: [u8; 4] = *b"RHIR";
const HEADER: usize = 24;
/// Maximum ratio of the compression: a header that promises more is damaged, and must not make the reader reserve that
/// much memory.
const MAX_EXPANSION: usize = 1040;
/// Level of the compression: the usual compromise.
const LEVEL: u8 = 6;

/// An encoded module, ready for its section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Encoded {
    /// Its identity, which follows from the content.
    pub id: ModuleId,
    /// Header, content and padding.
    pub bytes: Vec<u8>,
}

/// Turns a module into bytes.
///
/// # Panics
///
/// Never on a module that fits into memory: its types have a form in bytes whatever their values are.
#[must_use]
pub fn encode(module: &Module) -> Encoded {
    let mut relative = module.clone();
    to_relative(&mut relative);
    let raw = postcard::to_stdvec(&relative).expect("every module can be written to memory");
    let stored = compress_to_vec(&raw, LEVEL);
    let id = ModuleId(content_hash(&raw));
    let mut bytes = Vec::with_capacity(HEADER + stored.len() + ALIGNMENT);
    bytes.extend(MAGIC);
    bytes.extend(FORMAT_VERSION.to_le_bytes());
    bytes.extend(id.0.to_le_bytes());
    bytes.extend((raw.len() as u32).to_le_bytes());
    bytes.extend((stored.len() as u32).to_le_bytes());
    bytes.extend(stored);
    bytes.resize(bytes.len().next_multiple_of(ALIGNMENT), 0);
    Encoded { id, bytes }
}

/// Reads all modules of a section.
///
/// # Errors
///
/// If [`encode`] did not produce these bytes, or they were changed since.
pub fn decode_all(section: &[u8]) -> Result<Vec<Module>, IrError> {
    let mut modules = Vec::new();
    let mut offset = 0;
    while let Some(padding) = section[offset..].iter().position(|&byte| byte != 0) {
        offset += padding;
        let (module, length) = decode(&section[offset..], offset)?;
        modules.push(module);
        offset += length;
    }
    Ok(modules)
}

/// Reads one module; also returns how many bytes it took.
fn decode(bytes: &[u8], offset: usize) -> Result<(Module, usize), IrError> {
    let truncated = IrError::Truncated { offset };
    let damaged = |reason: String| IrError::Damaged { offset, reason };
    if !bytes.starts_with(&MAGIC[..bytes.len().min(MAGIC.len())]) {
        return Err(IrError::NoModule { offset });
    }
    let Some(header) = bytes.first_chunk::<HEADER>() else { return Err(truncated) };
    let version = u32_at(header, 4);
    if version != FORMAT_VERSION {
        return Err(IrError::Version { offset, found: version });
    }
    let id = u64::from(u32_at(header, 8)) | u64::from(u32_at(header, 12)) << 32;
    let (raw_length, stored_length) = (u32_at(header, 16) as usize, u32_at(header, 20) as usize);
    let Some(stored) = bytes.get(HEADER..HEADER + stored_length) else { return Err(truncated) };
    if raw_length > stored_length.saturating_mul(MAX_EXPANSION) {
        return Err(damaged(format!("{stored_length} bytes cannot hold {raw_length}")));
    }
    let raw = decompress_to_vec_with_limit(stored, raw_length).map_err(|error| damaged(error.to_string()))?;
    if raw.len() != raw_length || content_hash(&raw) != id {
        return Err(damaged("its hash does not fit its content".to_owned()));
    }
    let mut module: Module = postcard::from_bytes(&raw).map_err(|error| damaged(error.to_string()))?;
    if module.site_count as usize > raw_length {
        return Err(damaged(format!("{} sites in {raw_length} bytes", module.site_count)));
    }
    to_absolute(&mut module);
    check(&module).map_err(damaged)?;
    module.id = ModuleId(id);
    module.index_sites();
    Ok((module, HEADER + stored_length))
}

fn u32_at(header: &[u8; HEADER], at: usize) -> u32 {
    u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]])
}

/// Returns a 64-bit FNV-1a hash: small, the same everywhere, and good enough to distinguish modules and to notice
/// damage.
fn content_hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
