//! Messages of any size: small ones as they are, large ones as a reference to an object.

use crate::engine::{Engine, Trouble};
use async_nats::jetstream::object_store::GetErrorKind;
use racehunter_hunter::fleet::EngineError;
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;

/// The content follows.
const INLINE: u8 = 0;
/// The name of an object follows, which has the content.
const STORED: u8 = 1;

/// The SHA-256, in hexadecimal.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

impl Engine {
    /// Stores bytes under their digest. What is there already is not sent again.
    pub(crate) fn keep(&self, name: &str, bytes: &[u8]) -> Result<(), EngineError> {
        self.persist(|| async {
            let size = bytes.len();
            if self.files.info(name).await.is_ok_and(|info| info.size == size && !info.deleted) {
                return Ok(());
            }
            let mut reader = bytes;
            Ok(self.files.put(name, &mut reader).await.map(drop)?)
        })
    }

    /// Reads a limited number of bytes that were stored under their digest. `None` if they are not there, or something else is.
    pub(crate) fn recall(&self, digest: &str, most: usize) -> Result<Option<Vec<u8>>, EngineError> {
        let bytes = self.persist(|| async { read(self, digest, most).await })?;
        Ok(bytes.filter(|bytes| sha256(bytes) == digest))
    }

    /// The message that carries some content.
    pub(crate) fn wrap(&self, content: &[u8]) -> Result<Vec<u8>, EngineError> {
        if content.len() < self.most {
            return Ok([&[INLINE], content].concat());
        }
        let digest = sha256(content);
        self.keep(&digest, content)?;
        Ok([&[STORED], digest.as_bytes()].concat())
    }

    /// The content of a message. `None` if it has none; the sender is not trusted.
    pub(crate) fn unwrap(&self, message: &[u8]) -> Result<Option<Vec<u8>>, EngineError> {
        match message.split_first() {
            Some((&INLINE, content)) => Ok(Some(content.to_vec())),
            Some((&STORED, digest)) => match std::str::from_utf8(digest).ok().filter(|digest| digest.len() == 64) {
                Some(digest) => self.recall(digest, LARGEST_MESSAGE),
                None => Ok(None),
            },
            _ => Ok(None),
        }
    }
}

/// Bytes of a file, at most.
pub(crate) const LARGEST_FILE: usize = 4 << 30;
/// Bytes of a part or a result, at most.
const LARGEST_MESSAGE: usize = 256 << 20;

async fn read(engine: &Engine, name: &str, most: usize) -> Result<Option<Vec<u8>>, Trouble> {
    use tokio::io::AsyncReadExt as _;
    let mut object = match engine.files.get(name).await {
        Ok(object) => object,
        // Asking again does not help.
        Err(error) if error.kind() == GetErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    if object.info().size > most {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    object.read_to_end(&mut bytes).await?;
    Ok(Some(bytes))
}
