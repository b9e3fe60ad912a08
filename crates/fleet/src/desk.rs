//! The workers' side.

use crate::engine::{Engine, Trouble, WORKERS, chain, parts};
use async_nats::jetstream::consumer::{PullConsumer, pull};
use async_nats::jetstream::{AckKind, Message, message::Acker};
use futures_util::StreamExt as _;
use racehunter_hunter::fleet::{Announcement, Desk, EngineError, FileRef, Lease, Status, WorkerStatus};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::task::JoinHandle;

/// A worker, at the engine.
pub struct NatsDesk {
    engine: Engine,
    /// Its name.
    worker: String,
    /// Announcements by the name of the hunt. They never change.
    known: BTreeMap<String, Announcement>,
    consumers: BTreeMap<String, PullConsumer>,
}

impl NatsDesk {
    /// The side of a worker with this name.
    #[must_use]
    pub fn new(engine: Engine, worker: String) -> Self {
        Self { engine, worker, known: BTreeMap::new(), consumers: BTreeMap::new() }
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
        let bytes = self.engine.recall(&file.digest, &file.digest)?.ok_or_else(damaged)?;
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
        Ok(Some(Box::new(NatsLease::new(self.engine.clone(), hunt, &self.worker, part, acker))))
    }

    fn report(&mut self, status: &WorkerStatus) -> Result<(), EngineError> {
        let bytes = serde_json::to_vec(status).map_err(|error| EngineError::Other(error.to_string()))?;
        self.engine.put(&format!("worker.{}", self.worker), &bytes)
    }
}

/// A part that a worker has.
struct NatsLease {
    engine: Engine,
    /// Where the result goes.
    subject: String,
    part: Vec<u8>,
    acker: Arc<Acker>,
    /// What is known about the hunt.
    epoch: Arc<AtomicU64>,
    over: Arc<AtomicBool>,
    renewal: JoinHandle<()>,
}

impl NatsLease {
    fn new(engine: Engine, hunt: &str, worker: &str, part: Vec<u8>, acker: Acker) -> Self {
        let acker = Arc::new(acker);
        let (epoch, over) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
        let renewal = renew(&engine, hunt, Arc::clone(&acker), Arc::clone(&epoch), Arc::clone(&over));
        let subject = format!("racehunter.{hunt}.result.{worker}");
        Self { engine, subject, part, acker, epoch, over, renewal }
    }
}

/// Renews a lease, and checks whether the part is still needed.
fn renew(
    engine: &Engine,
    hunt: &str,
    acker: Arc<Acker>,
    epoch: Arc<AtomicU64>,
    over: Arc<AtomicBool>,
) -> JoinHandle<()> {
    let (store, key) = (engine.store.clone(), format!("status.{hunt}"));
    let every = engine.access.lease / 3;
    engine.runtime.spawn(async move {
        let mut renewed = Instant::now();
        loop {
            tokio::time::sleep(every.min(Duration::from_millis(500))).await;
            if renewed.elapsed() >= every {
                // If the server is away, another worker may get the part. That does no harm.
                let _ = acker.ack_with(AckKind::Progress).await;
                renewed = Instant::now();
            }
            if let Ok(Some(bytes)) = store.get(key.as_str()).await
                && let Ok(status) = serde_json::from_slice::<Status>(&bytes)
            {
                epoch.store(status.epoch, Ordering::Relaxed);
                over.store(status.state != "exploring", Ordering::Relaxed);
            }
        }
    })
}

impl Lease for NatsLease {
    fn part(&self) -> &[u8] {
        &self.part
    }

    fn is_void(&self, epoch: u64) -> bool {
        self.over.load(Ordering::Relaxed) || self.epoch.load(Ordering::Relaxed) > epoch
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
}

fn is_gone(error: &async_nats::jetstream::context::PublishError) -> bool {
    error.kind() == async_nats::jetstream::context::PublishErrorKind::StreamNotFound
}

impl Drop for NatsLease {
    fn drop(&mut self) {
        self.renewal.abort();
    }
}
