//! The connection, and what both sides do with it.

use async_nats::jetstream::context::RequestErrorKind;
use async_nats::jetstream::stream::{self, DiscardPolicy, RetentionPolicy, StorageType};
use async_nats::jetstream::{Context, consumer, kv, object_store};
use async_nats::{ConnectErrorKind, ServerAddr};
use racehunter_hunter::fleet::EngineError;
use std::error::Error as StdError;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

/// How to get in.
#[derive(Clone, Debug)]
pub struct Access {
    /// The address: `nats://host:4222`, or `tls://` for an encrypted connection.
    pub url: String,
    /// A file with the credentials that the server's administrator has issued.
    pub credentials: Option<PathBuf>,
    /// A file with the certificates of authorities, besides those of the system.
    pub authorities: Option<PathBuf>,
    /// The certificate and the key of this client, where the server asks for one.
    pub certificate: Option<(PathBuf, PathBuf)>,
    /// How long the server may be away before the work is given up.
    pub patience: Duration,
    /// How long a part stays with a worker that gives no sign of life.
    pub lease: Duration,
}

impl Access {
    /// Returns the address as messages may show it: without a password.
    #[must_use]
    pub fn shown(&self) -> String {
        match (self.url.split_once("://"), self.url.rsplit_once('@')) {
            (Some((scheme, _)), Some((_, host))) => format!("{scheme}://{host}"),
            _ => self.url.clone(),
        }
    }
}

/// A connection.
#[derive(Clone)]
pub struct Engine {
    pub(crate) runtime: Arc<Runtime>,
    pub(crate) jetstream: Context,
    pub(crate) access: Access,
    pub(crate) store: kv::Store,
    pub(crate) files: object_store::ObjectStore,
    /// Bytes of a message, at most.
    pub(crate) most: usize,
}

/// An error of the client, whatever kind it is.
pub(crate) type Trouble = Box<dyn StdError + Send + Sync>;

const BUCKET: &str = "racehunter";
const FILES: &str = "racehunter-files";
/// Time for one request.
pub(crate) const REQUEST: Duration = Duration::from_secs(5);
/// Time that a server may need to start.
const STARTING: Duration = Duration::from_secs(5);
/// Time between two attempts.
const PAUSES: [Duration; 3] = [Duration::from_millis(100), Duration::from_millis(400), Duration::from_secs(1)];
/// Room in a message for what is not its content.
const HEADROOM: usize = 4096;

impl Engine {
    /// Connects, and checks that the server can keep what a hunt needs.
    ///
    /// # Errors
    /// If it cannot be reached, does not let us in, or has no JetStream.
    pub fn connect(access: Access) -> Result<Self, EngineError> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.map_err(|error| EngineError::Other(error.to_string()))?;
        Self::connect_on(Arc::new(runtime), access)
    }

    /// The same on a runtime that several connections share.
    ///
    /// # Errors
    /// If it cannot be reached, does not let us in, or has no JetStream.
    pub fn connect_on(runtime: Arc<Runtime>, access: Access) -> Result<Self, EngineError> {
        let (jetstream, store, files) = runtime.block_on(async {
            let until = Instant::now() + access.patience.min(STARTING);
            loop {
                match open(&access).await {
                    // Perhaps the server is just being started, as by `docker compose up`.
                    Err(EngineError::Unreachable { .. }) if Instant::now() < until => {
                        tokio::time::sleep(PAUSES[0]).await;
                    }
                    opened => return opened,
                }
            }
        })?;
        let payload = jetstream.client().server_info().max_payload;
        let most = payload.saturating_sub(HEADROOM).max(HEADROOM);
        Ok(Self { runtime, jetstream, access, store, files, most })
    }

    /// Does something, again and again while the server is away.
    pub(crate) fn persist<T, F>(&self, attempt: impl Fn() -> F) -> Result<T, EngineError>
    where
        F: Future<Output = Result<T, Trouble>>,
    {
        let until = Instant::now() + self.access.patience;
        self.runtime.block_on(async {
            for number in 0.. {
                let error = match tokio::time::timeout(REQUEST * 4, attempt()).await {
                    Ok(Ok(value)) => return Ok(value),
                    Ok(Err(error)) => chain(&*error),
                    Err(_) => "it does not answer".to_owned(),
                };
                if is_full(&error) {
                    return Err(EngineError::Full(error));
                }
                if Instant::now() >= until {
                    return Err(EngineError::Unreachable { url: self.access.shown(), why: error });
                }
                tokio::time::sleep(PAUSES[number.min(PAUSES.len() - 1)]).await;
            }
            unreachable!("the attempts end by a return")
        })
    }

    /// Waits for something that may never come: a server that dies does not say so.
    pub(crate) fn wait_for<T>(
        &self,
        patience: Duration,
        attempt: impl Future<Output = Result<T, Trouble>>,
    ) -> Result<T, Trouble> {
        let late = |_| Trouble::from("it does not answer");
        self.runtime.block_on(async { tokio::time::timeout(patience + REQUEST, attempt).await.map_err(late)? })
    }

    /// The value of a key.
    pub(crate) fn get(&self, key: &str) -> Result<Option<Vec<u8>>, EngineError> {
        self.persist(|| async { Ok(self.store.get(key).await?.map(|bytes| bytes.to_vec())) })
    }

    /// Sets the value of a key.
    pub(crate) fn put(&self, key: &str, value: &[u8]) -> Result<(), EngineError> {
        self.persist(|| async { Ok(self.store.put(key, value.to_vec().into()).await.map(drop)?) })
    }

    /// The hunts that are not over.
    pub(crate) fn index(&self) -> Result<Vec<String>, EngineError> {
        let index = self.get(INDEX)?;
        Ok(index.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default())
    }

    /// Changes the list of hunts. Others may do so at the same time.
    pub(crate) fn change_index(&self, change: impl Fn(&mut Vec<String>)) -> Result<(), EngineError> {
        self.persist(|| async {
            let entry = self.store.entry(INDEX).await?;
            let old = entry.as_ref().and_then(|entry| serde_json::from_slice(&entry.value).ok());
            let mut hunts: Vec<String> = old.unwrap_or_default();
            change(&mut hunts);
            let value = serde_json::to_vec(&hunts)?;
            let revision = entry.map_or(0, |entry| entry.revision);
            Ok(self.store.update(INDEX, value.into(), revision).await.map(drop)?)
        })
    }

    /// Deletes everything of a hunt except its status.
    pub(crate) fn clear(&self, hunt: &str) -> Result<(), EngineError> {
        self.change_index(|hunts| hunts.retain(|other| other != hunt))?;
        for stream in [parts(hunt), results(hunt)] {
            self.persist(|| async {
                match self.jetstream.delete_stream(&stream).await {
                    Err(error) if !chain(&error).contains("not found") => Err(error.into()),
                    _ => Ok(()),
                }
            })?;
        }
        Ok(())
    }
}

/// The key of the list of hunts.
const INDEX: &str = "index";

pub(crate) fn parts(hunt: &str) -> String {
    format!("racehunter-parts-{hunt}")
}

pub(crate) fn results(hunt: &str) -> String {
    format!("racehunter-results-{hunt}")
}

/// The subject on which the coordinator says how far a hunt is. No stream keeps it.
pub(crate) fn news(hunt: &str) -> String {
    format!("racehunter.{hunt}.status")
}

/// The name of the consumer that all workers share.
pub(crate) const WORKERS: &str = "workers";

/// The configuration of a stream.
pub(crate) fn stream(name: String, subject: String, retention: RetentionPolicy) -> stream::Config {
    stream::Config { name, subjects: vec![subject], retention, storage: StorageType::File, ..stream::Config::default() }
}

/// The configuration of the consumer that all workers share.
pub(crate) fn workers(lease: Duration) -> consumer::pull::Config {
    consumer::pull::Config {
        durable_name: Some(WORKERS.to_owned()),
        ack_policy: consumer::AckPolicy::Explicit,
        ack_wait: lease,
        // As many workers as one likes may wait, and have a part.
        max_waiting: 100_000,
        max_ack_pending: 100_000,
        ..consumer::pull::Config::default()
    }
}

async fn open(access: &Access) -> Result<(Context, kv::Store, object_store::ObjectStore), EngineError> {
    let url = access.shown();
    let mut options = async_nats::ConnectOptions::new().name("racehunter").connection_timeout(REQUEST);
    options = options.require_tls(access.url.starts_with("tls://"));
    if let Some(file) = &access.credentials {
        let read = std::fs::read_to_string(file).and_then(|text| match nkey(&text) {
            Some(seed) => Ok(options.nkey(seed)),
            None => options.credentials(&text),
        });
        let why = |error: std::io::Error| format!("`{}` cannot be used: {error}", file.display());
        options = read.map_err(|error| EngineError::Refused { url: url.clone(), why: why(error) })?;
    }
    if let Some(file) = &access.authorities {
        options = options.add_root_certificates(file.clone());
    }
    if let Some((certificate, key)) = &access.certificate {
        options = options.add_client_certificate(certificate.clone(), key.clone());
    }
    let address: ServerAddr = access
        .url
        .parse()
        .map_err(|error: std::io::Error| EngineError::Unreachable { url: url.clone(), why: error.to_string() })?;
    if let (Some(user), Some(password)) = (address.username(), address.password()) {
        options = options.user_and_password(user.to_owned(), password.to_owned());
    }
    let client = options.connect(address).await.map_err(|error| match error.kind() {
        ConnectErrorKind::Authentication | ConnectErrorKind::AuthorizationViolation => {
            EngineError::Refused { url: url.clone(), why: chain(&error) }
        }
        _ if is_about_tls(&error) => EngineError::Insecure { url: url.clone(), why: chain(&error) },
        _ => EngineError::Unreachable { url: url.clone(), why: chain(&error) },
    })?;
    let mut jetstream = async_nats::jetstream::new(client);
    jetstream.set_timeout(REQUEST);
    // Not by `query_account`: it does not understand the answer of servers before 2.10.
    let account: Result<serde_json::Value, _> = jetstream.request("INFO", &()).await;
    match account {
        Ok(account) if account.get("error").is_none() => {}
        Ok(_) => return Err(EngineError::NoStorage { url }),
        Err(error) if error.kind() == RequestErrorKind::NoResponders => return Err(EngineError::NoStorage { url }),
        Err(error) => return Err(EngineError::Other(chain(&error))),
    }
    let trouble = |error: Trouble| match chain(&*error) {
        why if is_full(&why) => EngineError::Full(why),
        why if why.contains("permissions") || why.contains("Permissions") => {
            EngineError::Refused { url: url.clone(), why }
        }
        why => EngineError::Other(why),
    };
    let store = match jetstream.get_key_value(BUCKET).await {
        Ok(store) => store,
        Err(_) => {
            // Not by `create_key_value`, which does not understand servers before 2.10 either. This is the stream that it makes.
            let config = stream::Config {
                max_messages_per_subject: 1,
                allow_rollup: true,
                deny_delete: true,
                allow_direct: true,
                discard: DiscardPolicy::New,
                num_replicas: 1,
                ..stream(format!("KV_{BUCKET}"), format!("$KV.{BUCKET}.>"), RetentionPolicy::Limits)
            };
            jetstream.get_or_create_stream(config).await.map_err(|error| trouble(error.into()))?;
            jetstream.get_key_value(BUCKET).await.map_err(|error| trouble(error.into()))?
        }
    };
    let files = match jetstream.get_object_store(FILES).await {
        Ok(files) => files,
        Err(_) => {
            let config = object_store::Config { bucket: FILES.to_owned(), ..object_store::Config::default() };
            jetstream.create_object_store(config).await.map_err(|error| trouble(error.into()))?
        }
    };
    Ok((jetstream, store, files))
}

/// Returns the seed of an nkey, if the file has nothing but that and comments.
fn nkey(text: &str) -> Option<String> {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    match (lines.next(), lines.next()) {
        (Some(seed), None) if seed.starts_with("SU") => Some(seed.to_owned()),
        _ => None,
    }
}

/// Returns true if it is the encryption that failed. The client does not always say so by the kind of its error.
fn is_about_tls(error: &async_nats::ConnectError) -> bool {
    let why = chain(error).to_lowercase();
    error.kind() == ConnectErrorKind::Tls
        || ["certificate", "tls", "handshake", "corrupt message"].iter().any(|word| why.contains(word))
}

/// Returns true if the server has said that it has no room.
fn is_full(why: &str) -> bool {
    let why = why.to_lowercase();
    [
        "resource limits exceeded",
        "insufficient resources",
        "insufficient storage",
        "maximum bytes exceeded",
        "no space left",
    ]
    .iter()
    .any(|words| why.contains(words))
}

/// An error with its causes.
pub(crate) fn chain(error: &(dyn StdError + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let words = error.to_string();
        if !text.contains(&words) {
            text.push_str(": ");
            text.push_str(&words);
        }
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_show_no_password() {
        let access = |url: &str| Access {
            url: url.to_owned(),
            credentials: None,
            authorities: None,
            certificate: None,
            patience: REQUEST,
            lease: REQUEST,
        };
        assert_eq!(access("nats://ada:secret@host:4222").shown(), "nats://host:4222");
        assert_eq!(access("nats://host:4222").shown(), "nats://host:4222");
    }

    #[test]
    fn a_file_with_a_seed_is_told_from_credentials() {
        assert_eq!(nkey("# mine\nSUABC\n\n").as_deref(), Some("SUABC"));
        assert_eq!(nkey("-----BEGIN NATS USER JWT-----\nSUABC\n"), None);
        assert_eq!(nkey("SAABC"), None, "the seed of an account");
        assert_eq!(nkey(""), None);
    }

    #[test]
    fn a_full_server_is_recognised() {
        assert!(is_full("JetStream error: resource limits exceeded for account (code 400, error code 10002)"));
        assert!(is_full("insufficient resources, code: 503"));
        assert!(!is_full("timed out: didn't receive ack in time"));
    }
}
