//! The workers' side.

use crate::engine::{Engine, Trouble, WORKERS, chain, news, parts};
use crate::payload::LARGEST_FILE;
use async_nats::jetstream::consumer::{PullConsumer, pull};
use async_nats::jetstream::{AckKind, Message, message::Acker};
use futures_util::StreamExt as _;
use racehunter_hunter::fleet::{Announcement, Call, Desk, EngineError, FileRef, Lease, Status, WorkerStatus};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use tokio::task::JoinHandle;

/// A worker, at the engine.
pub struct NatsDesk {
    engine: Engine,
    /// Its name.
    worker: String,
    /// Announcements by the name of the hunt. They never change.
    known: BTreeMap<String, Announcement>,
    consumers: BTreeMap<String, PullConsumer>,
    listeners: BTreeMap<String, Listener>,
}

impl NatsDesk {
    /// The side of a worker with this name.
    #[must_use]
    pub fn new(engine: Engine, worker: String) -> Self {
        let (known, consumers, listeners) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        Self { engine, worker, known, consumers, listeners }
    }

    fn announcement(&mut self, hunt: &str) -> Result<Option<Announcement>, EngineError> {
        if let Some(known) = self.known.get(hunt) {
            return Ok(Some(known.clone()));
        }
        let bytes = self.engine.get(&format!("hunt.{hunt}"))?;
        let announcement: Option<Announcement> = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let announcement = announcement.filter(|announcement| announcement.hunt == hunt);
        if let Some(announcement) = &announcement {
            self.known.insert(hunt.to_owned(), announcement.clone());
        }
        Ok(announcement)
    }

    fn status(&self, hunt: &str) -> Result<Option<Status>, EngineError> {
        let bytes = self.engine.get(&format!("status.{hunt}"))?;
        Ok(bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
    }

    fn pull(&mut self, hunt: &str, patience: Duration) -> Result<Option<Message>, Trouble> {
        let Self { engine, consumers, .. } = self;
        engine.wait_for(patience, async {
            if !consumers.contains_key(hunt) {
                let stream = engine.jetstream.get_stream(parts(hunt)).await?;
                let consumer = stream.get_consumer::<pull::Config>(WORKERS).await?;
                consumers.insert(hunt.to_owned(), consumer);
            }
            let Some(consumer) = consumers.get(hunt) else { return Ok(None) };
            let mut messages = consumer.batch().max_messages(1).expires(patience).messages().await?;
            messages.next().await.transpose()
        })
    }
}

impl Desk for NatsDesk {
    fn hunts(&mut self) -> Result<Vec<Announcement>, EngineError> {
        let mut hunts = Vec::new();
        let index = self.engine.index()?;
        self.known.retain(|hunt, _| index.contains(hunt));
        self.consumers.retain(|hunt, _| index.contains(hunt));
        self.listeners.retain(|hunt, _| index.contains(hunt));
        for hunt in index {
            let status = self.status(&hunt)?;
            let is_open =
                status.is_none_or(|status| status.state == "exploring" && !status.shut_out.contains_key(&self.worker));
            if is_open {
                hunts.extend(self.announcement(&hunt)?);
            }
        }
        Ok(hunts)
    }

    fn fetch(&mut self, file: &FileRef, path: &Path) -> Result<(), EngineError> {
        let damaged = || EngineError::Damaged { name: file.name.clone(), digest: file.digest.clone() };
        let bytes = self.engine.recall(&file.digest, LARGEST_FILE)?.ok_or_else(damaged)?;
        let trouble = |error: std::io::Error| EngineError::Other(format!("cannot write `{}`: {error}", path.display()));
        std::fs::write(path, bytes).map_err(trouble)
    }

    fn take(&mut self, hunt: &str, patience: Duration) -> Result<Option<Box<dyn Lease>>, EngineError> {
        let message = match self.pull(hunt, patience) {
            Ok(message) => message,
            Err(error) => {
                self.consumers.remove(hunt);
                // The hunt may be over, or the server away.
                if !chain(&*error).contains("not found") {
                    self.engine.index()?;
                }
                return Ok(None);
            }
        };
        let Some(message) = message else { return Ok(None) };
        let (message, acker) = message.split();
        let Some(part) = self.engine.unwrap(&message.payload)? else {
            return Ok(None);
        };
        let Self { engine, listeners, worker, .. } = self;
        let listener = listeners.entry(hunt.to_owned()).or_insert_with(|| Listener::new(engine, hunt));
        let subject = format!("racehunter.{hunt}.result.{worker}");
        let lease = NatsLease::new(engine.clone(), subject, part, acker, Arc::clone(&listener.news));
        Ok(Some(Box::new(lease)))
    }

    fn report(&mut self, status: &WorkerStatus) -> Result<(), EngineError> {
        let bytes = serde_json::to_vec(status).map_err(|error| EngineError::Other(error.to_string()))?;
        self.engine.put(&format!("worker.{}", self.worker), &bytes)
    }
}

/// What is known about a hunt.
#[derive(Default)]
struct News {
    epoch: AtomicU64,
    is_over: AtomicBool,
    recalls: AtomicU64,
}

impl News {
    fn note(&self, status: &[u8]) {
        let Ok(status) = serde_json::from_slice::<Status>(status) else { return };
        self.epoch.store(status.epoch, Ordering::Relaxed);
        self.is_over.store(status.state != "exploring", Ordering::Relaxed);
        self.recalls.store(status.recalls, Ordering::Relaxed);
    }
}

/// Listens to what the coordinator of a hunt says, until it is dropped.
struct Listener {
    news: Arc<News>,
    task: JoinHandle<()>,
}

/// Time without news after which a worker looks for itself. Coordinators say something every second.
const SILENCE: Duration = Duration::from_secs(5);

impl Listener {
    fn new(engine: &Engine, hunt: &str) -> Self {
        let known = Arc::new(News::default());
        let (client, store) = (engine.jetstream.client().clone(), engine.store.clone());
        let (subject, key, news) = (news(hunt), format!("status.{hunt}"), Arc::clone(&known));
        let task = engine.runtime.spawn(async move {
            let Ok(mut messages) = client.subscribe(subject).await else { return };
            loop {
                match tokio::time::timeout(SILENCE, messages.next()).await {
                    Ok(Some(message)) => news.note(&message.payload),
                    // The connection is closed.
                    Ok(None) => return,
                    Err(_) => {
                        if let Ok(Some(status)) = store.get(key.as_str()).await {
                            news.note(&status);
                        }
                    }
                }
            }
        });
        Self { news: known, task }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// A part that a worker has.
struct NatsLease {
    engine: Engine,
    /// Where the result goes.
    subject: String,
    part: Vec<u8>,
    acker: Arc<Acker>,
    news: Arc<News>,
    /// How often parts had been called back when it was taken.
    recalls: u64,
    renewal: JoinHandle<()>,
}

impl NatsLease {
    fn new(engine: Engine, subject: String, part: Vec<u8>, acker: Acker, news: Arc<News>) -> Self {
        let acker = Arc::new(acker);
        let renewal = renew(&engine, Arc::clone(&acker));
        let recalls = news.recalls.load(Ordering::Relaxed);
        Self { engine, subject, part, acker, news, recalls, renewal }
    }
}

/// Renews a lease until it is dropped.
fn renew(engine: &Engine, acker: Arc<Acker>) -> JoinHandle<()> {
    let every = engine.access.lease / 3;
    engine.runtime.spawn(async move {
        loop {
            tokio::time::sleep(every).await;
            // If the server is away, another worker may get the part. That does no harm.
            let _ = acker.ack_with(AckKind::Progress).await;
        }
    })
}

impl Lease for NatsLease {
    fn part(&self) -> &[u8] {
        &self.part
    }

    fn call(&self, epoch: u64) -> Call {
        if self.news.is_over.load(Ordering::Relaxed) {
            Call::GiveBack
        } else if self.news.epoch.load(Ordering::Relaxed) > epoch {
            Call::Discard
        } else if self.news.recalls.load(Ordering::Relaxed) != self.recalls {
            Call::HandIn
        } else {
            Call::Explore
        }
    }

    fn hand_in(self: Box<Self>, result: &[u8]) -> Result<(), EngineError> {
        let message = self.engine.wrap(result)?;
        let gone = self.engine.persist(|| async {
            let sent = self.engine.jetstream.publish(self.subject.clone(), message.clone().into()).await;
            match async { sent?.await }.await {
                Ok(_) => Ok(false),
                // The hunt is over, and its streams are deleted.
                Err(error) if is_gone(&error) && self.engine.store.get("index").await.is_ok() => Ok(true),
                Err(error) => Err(error.into()),
            }
        })?;
        if !gone {
            // The engine has the result. If it does not hear that the part is done, the part is done once more, and not counted.
            let _ = self.engine.wait_for(Duration::ZERO, self.acker.ack());
        }
        Ok(())
    }

    fn give_back(self: Box<Self>) {
        // If the engine does not hear it, the lease runs out.
        let _ = self.engine.wait_for(Duration::ZERO, self.acker.ack_with(AckKind::Nak(None)));
    }

    fn discard(self: Box<Self>) {
        let _ = self.engine.wait_for(Duration::ZERO, self.acker.ack_with(AckKind::Term));
    }
}

fn is_gone(error: &async_nats::jetstream::context::PublishError) -> bool {
    error.kind() == async_nats::jetstream::context::PublishErrorKind::StreamNotFound
}

impl Drop for NatsLease {
    fn drop(&mut self) {
        self.renewal.abort();
    }
}
