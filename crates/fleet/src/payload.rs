//! Messages of any size: small ones as they are, large ones as a reference to an object.

use crate::engine::{Engine, Trouble};
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

    /// Reads what was stored under its digest. `None` if that is something else now.
    pub(crate) fn recall(&self, name: &str, digest: &str) -> Result<Option<Vec<u8>>, EngineError> {
        let bytes = self.persist(|| async { read(self, name).await })?;
        Ok(Some(bytes).filter(|bytes| sha256(bytes) == digest))
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
                Some(digest) => self.recall(digest, digest),
                None => Ok(None),
            },
            _ => Ok(None),
        }
    }
}

/// Bytes of an object, at most.
const MOST: usize = 4 << 30;

async fn read(engine: &Engine, name: &str) -> Result<Vec<u8>, Trouble> {
    use tokio::io::AsyncReadExt as _;
    let mut object = engine.files.get(name).await?;
    if object.info().size > MOST {
        return Err("an object is too large".into());
    }
    let mut bytes = Vec::new();
    object.read_to_end(&mut bytes).await?;
    Ok(bytes)
}
