//! The coordinator's side.

use crate::engine::{Engine, REQUEST, Trouble, WORKERS, news, parts, results, stream, workers};
use async_nats::jetstream::Message;
use async_nats::jetstream::consumer::{AckPolicy, DeliverPolicy, PullConsumer, pull};
use async_nats::jetstream::context::PublishAckFuture;
use async_nats::jetstream::stream::RetentionPolicy;
use futures_util::StreamExt as _;
use racehunter_hunter::fleet::{Announcement, Board, Delivered, End, EngineError, FileRef, Opened, Queue, Status};
use std::collections::VecDeque;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The hunt of a coordinator, at the engine.
pub struct NatsBoard {
    engine: Engine,
    /// Its name; empty before it is open.
    hunt: String,
    announcement: Option<Announcement>,
    /// The consumer of its results.
    consumer: Option<PullConsumer>,
    /// The result that is read next, as the stream numbers them.
    next: u64,
    /// Results that have arrived.
    arrived: VecDeque<(u64, Delivered)>,
    /// Time within which the server should answer a request for results.
    answer: Duration,
    /// Parts that were sent, and the answer of the server that is still to come.
    offered: Vec<(Vec<u8>, Option<PublishAckFuture>)>,
    status: Status,
}

/// Results that are read at once.
const BATCH: usize = 64;
/// Time that a server needs to answer a request for results, unless it is slow. Some versions (2.9) do not always say that a
/// request has ended. Longer waits would hold up all workers, which need the parts that follow from the results.
const ANSWER: Duration = Duration::from_millis(700);

impl NatsBoard {
    /// The side of a coordinator.
    #[must_use]
    pub fn new(engine: Engine) -> Self {
        let status = Status::default();
        let (hunt, announcement, arrived) = (String::new(), None, VecDeque::new());
        let (consumer, next, answer, offered) = (None, 1, ANSWER, Vec::new());
        Self { engine, hunt, announcement, consumer, next, arrived, answer, offered, status }
    }

    /// The hunt to continue: the latest one of those with this identity.
    fn unfinished(&self, identity: &str) -> Result<Option<Announcement>, EngineError> {
        let mut hunts = self.engine.index()?;
        hunts.retain(|hunt| hunt.split('-').next() == Some(identity));
        hunts.sort();
        let Some(hunt) = hunts.pop() else { return Ok(None) };
        let bytes = self.engine.get(&format!("hunt.{hunt}"))?;
        Ok(bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
    }

    /// Publishes the announcement.
    fn announce(&self) -> Result<(), EngineError> {
        let bytes = serde_json::to_vec(&self.announcement).map_err(|error| EngineError::Other(error.to_string()))?;
        self.engine.put(&format!("hunt.{}", self.hunt), &bytes)?;
        self.engine.change_index(|hunts| {
            if !hunts.contains(&self.hunt) {
                hunts.push(self.hunt.clone());
            }
        })
    }

    fn create_streams(&self) -> Result<(), EngineError> {
        let (hunt, jetstream) = (&self.hunt, &self.engine.jetstream);
        let queue = stream(parts(hunt), format!("racehunter.{hunt}.part"), RetentionPolicy::WorkQueue);
        let log = stream(results(hunt), format!("racehunter.{hunt}.result.*"), RetentionPolicy::Limits);
        let lease = self.engine.access.lease;
        self.engine.persist(|| async {
            let queue = jetstream.get_or_create_stream(queue.clone()).await?;
            queue.get_or_create_consumer("workers", workers(lease)).await?;
            jetstream.get_or_create_stream(log.clone()).await?;
            Ok(())
        })
    }

    /// Waits until the server has all parts that were offered, and sends those again that it has not.
    fn flush(&mut self) -> Result<(), EngineError> {
        let subject = format!("racehunter.{}.part", self.hunt);
        let mut is_late = false;
        for (message, sent) in std::mem::take(&mut self.offered) {
            // Once it was waited for one answer for long enough, the others are there or do not come.
            let patience = if is_late { Duration::ZERO } else { REQUEST };
            let has_it = sent.is_some_and(|sent| {
                let answer = async { tokio::time::timeout(patience, sent.into_future()).await };
                self.engine.runtime.block_on(answer).is_ok_and(|answer| answer.is_ok())
            });
            if !has_it {
                is_late = true;
                // It may have it nevertheless. A part that is done twice counts once.
                self.engine.persist(|| async {
                    self.engine.jetstream.publish(subject.clone(), message.clone().into()).await?.await?;
                    Ok(())
                })?;
            }
        }
        Ok(())
    }

    /// If the server has results that it does not deliver, its file of them is damaged, and it would not deliver new ones in that
    /// file either. Deletes the log then. The parts that have no result are offered again in any case.
    fn drop_unreadable_results(&self) -> Result<(), EngineError> {
        let (jetstream, name) = (&self.engine.jetstream, results(&self.hunt));
        self.engine.persist(|| async {
            let Ok(log) = jetstream.get_stream(&name).await else { return Ok(()) };
            if log.cached_info().state.last_sequence >= self.next {
                jetstream.delete_stream(&name).await?;
            }
            Ok(())
        })
    }

    fn fill(&mut self, patience: Duration) -> Result<(), Trouble> {
        let Self { engine, hunt, consumer, next, answer, .. } = self;
        let (arrived, is_answered) = engine.wait_for(patience, async {
            if consumer.is_none() {
                let stream = engine.jetstream.get_stream(results(hunt)).await?;
                let config = pull::Config {
                    deliver_policy: DeliverPolicy::ByStartSequence { start_sequence: *next },
                    ack_policy: AckPolicy::None,
                    inactive_threshold: Duration::from_secs(60),
                    ..pull::Config::default()
                };
                *consumer = Some(stream.create_consumer(config).await?);
            }
            let Some(consumer) = consumer else { return Ok((Vec::new(), true)) };
            // All that are there; if there are none, the next one.
            let mut messages = consumer.fetch().max_messages(BATCH).messages().await?;
            let mut arrived = Vec::new();
            let mut is_answered = read(&mut messages, *answer, &mut arrived).await?;
            if is_answered && arrived.is_empty() {
                let mut messages = consumer.batch().max_messages(1).expires(patience).messages().await?;
                is_answered = read(&mut messages, patience + *answer, &mut arrived).await?;
            }
            Ok::<_, Trouble>((arrived, is_answered))
        })?;
        // Another consumer begins after the last result that has arrived, so nothing is lost.
        self.answer = if is_answered { ANSWER } else { (self.answer * 2).min(REQUEST) };
        if !is_answered {
            self.consumer = None;
        }
        for (number, worker, payload) in arrived {
            if number < self.next {
                continue;
            }
            self.next = number + 1;
            // A message without content is one that the coordinator cannot read.
            let bytes = self.engine.unwrap(&payload)?.unwrap_or_default();
            self.arrived.push_back((number, Delivered { bytes, worker }));
        }
        Ok(())
    }
}

/// Reads messages until the server says that there are no more. Returns false if it says nothing for too long.
async fn read(
    messages: &mut pull::Batch,
    patience: Duration,
    arrived: &mut Vec<(u64, String, Vec<u8>)>,
) -> Result<bool, Trouble> {
    loop {
        match tokio::time::timeout(patience, messages.next()).await {
            Ok(Some(message)) => arrived.push(received(&message?)?),
            Ok(None) => return Ok(true),
            Err(_) => return Ok(false),
        }
    }
}

/// The number of a message in its stream, the worker that its subject names, and its payload.
fn received(message: &Message) -> Result<(u64, String, Vec<u8>), Trouble> {
    let worker = message.subject.rsplit('.').next().unwrap_or_default().to_owned();
    Ok((message.info()?.stream_sequence, worker, message.payload.to_vec()))
}

impl Board for NatsBoard {
    fn open(
        &mut self,
        announcement: &Announcement,
        read: &mut dyn FnMut(&FileRef) -> std::io::Result<Vec<u8>>,
        resume: bool,
    ) -> Result<Opened, EngineError> {
        if resume {
            let known = self.unfinished(&announcement.identity)?.ok_or(EngineError::NoSuchHunt)?;
            self.hunt.clone_from(&known.hunt);
            self.announcement = Some(known.clone());
            self.create_streams()?;
            let name = results(&self.hunt);
            let jetstream = &self.engine.jetstream;
            let count = self
                .engine
                .persist(|| async { Ok(jetstream.get_stream(&name).await?.cached_info().state.messages) })?;
            return Ok(Opened { part_runs: known.part_runs, results: count });
        }
        for file in &announcement.files {
            let bytes = read(file).map_err(|error| EngineError::Other(format!("`{}`: {error}", file.name)))?;
            self.engine.keep(&file.digest, &bytes)?;
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        // Names sort by time.
        self.hunt = format!("{}-{:012x}", announcement.identity, now.as_millis());
        self.create_streams()?;
        let announcement = Announcement { hunt: self.hunt.clone(), ..announcement.clone() };
        let part_runs = announcement.part_runs;
        self.announcement = Some(announcement);
        self.announce()?;
        Ok(Opened { part_runs, results: 0 })
    }

    fn offer(&mut self, _number: u64, part: &[u8]) -> Result<(), EngineError> {
        let message = self.engine.wrap(part)?;
        let subject = format!("racehunter.{}.part", self.hunt);
        // The server's answer is awaited later: a coordinator with many workers would otherwise wait for it most of the time.
        let sent = self.engine.wait_for(Duration::ZERO, async {
            Ok(self.engine.jetstream.publish(subject, message.clone().into()).await?)
        });
        self.offered.push((message, sent.ok()));
        if self.offered.len() >= BATCH { self.flush() } else { Ok(()) }
    }

    fn withdraw(&mut self) -> Result<(), EngineError> {
        self.flush()?;
        let name = parts(&self.hunt);
        self.engine.persist(|| async {
            self.engine.jetstream.get_stream(&name).await?.purge().await?;
            Ok(())
        })
    }

    fn next(&mut self, patience: Duration) -> Result<Option<Delivered>, EngineError> {
        if self.arrived.is_empty() {
            self.flush()?;
        }
        if self.arrived.is_empty() && self.fill(patience).is_err() {
            // The server may be away. It is asked again until it answers; then from where we were.
            self.consumer = None;
            let name = results(&self.hunt);
            self.engine.persist(|| async { Ok(self.engine.jetstream.get_stream(&name).await.map(drop)?) })?;
        }
        Ok(self.arrived.pop_front().map(|(_, delivered)| delivered))
    }

    fn queue(&mut self) -> Result<Queue, EngineError> {
        self.flush()?;
        let name = parts(&self.hunt);
        self.engine.persist(|| async {
            let stream = self.engine.jetstream.get_stream_no_info(&name).await?;
            let consumer: PullConsumer = stream.get_consumer(WORKERS).await?;
            let info = consumer.cached_info();
            let (taken, idle) = (info.num_ack_pending as u64, info.num_waiting as u64);
            Ok(Queue { waiting: info.num_pending, taken, idle })
        })
    }

    fn restore(&mut self) -> Result<(), EngineError> {
        self.drop_unreadable_results()?;
        self.consumer = None;
        self.next = 1;
        self.arrived.clear();
        self.offered.clear();
        self.create_streams()?;
        self.announce()
    }

    fn publish(&mut self, status: &Status) -> Result<(), EngineError> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        self.status = Status { at: now.as_secs(), ..status.clone() };
        let bytes = serde_json::to_vec(&self.status).map_err(|error| EngineError::Other(error.to_string()))?;
        self.engine.put(&format!("status.{}", self.hunt), &bytes)?;
        // Workers that have a part hear it at once. It does not matter if a message is lost: the next one says the same.
        let subject = news(&self.hunt);
        let client = self.engine.jetstream.client();
        let _ = self.engine.wait_for(Duration::ZERO, async { Ok(client.publish(subject, bytes.into()).await?) });
        Ok(())
    }

    fn close(&mut self, end: End) -> Result<(), EngineError> {
        if self.hunt.is_empty() {
            // It ended before there was anything for others to do.
            return Ok(());
        }
        let state = match end {
            End::Finished => "finished",
            End::Paused => "paused",
        };
        self.publish(&Status { state: state.to_owned(), parts_lent: 0, ..self.status.clone() })?;
        if end == End::Finished { self.engine.clear(&self.hunt) } else { Ok(()) }
    }
}
