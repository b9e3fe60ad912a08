//! What is going on at an engine.

use crate::engine::{Engine, WORKERS, parts};
use async_nats::jetstream::consumer::{PullConsumer, pull};
use futures_util::{StreamExt as _, TryStreamExt as _};
use racehunter_hunter::fleet::{Announcement, EngineError, Status, WorkerStatus};
use racehunter_report::fleet::{HuntLine, WorkerLine};
use serde::Serialize;
use std::time::Duration;

/// Everything that is known.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Survey {
    /// The hunts, the latest last.
    pub hunts: Vec<HuntSurvey>,
    /// The workers.
    pub workers: Vec<WorkerStatus>,
}

/// A hunt.
#[derive(Clone, Debug, Serialize)]
pub struct HuntSurvey {
    /// Its name at the engine.
    pub hunt: String,
    /// Its program.
    pub name: String,
    /// Who started it.
    pub owner: String,
    /// SHA-256 of the program.
    pub program: String,
    /// How far it is.
    pub status: Status,
    /// Parts that no worker has yet.
    pub parts_waiting: u64,
    /// Parts that workers have.
    pub parts_running: u64,
}

impl Survey {
    /// Returns the hunts and the workers as lines of a table. `now` is the time in seconds since 1970.
    #[must_use]
    pub fn lines(&self, now: u64) -> (Vec<HuntLine>, Vec<WorkerLine>) {
        let hunts = self.hunts.iter().map(|hunt| hunt_line(hunt, now)).collect();
        (hunts, self.workers.iter().map(|worker| worker_line(worker, now)).collect())
    }

    /// Returns one line of JSON for each hunt, then one for each worker.
    #[must_use]
    pub fn json_lines(&self) -> Vec<String> {
        #[derive(Serialize)]
        #[serde(tag = "reason", rename_all = "kebab-case")]
        enum Line<'a> {
            FleetHunt(&'a HuntSurvey),
            FleetWorker(&'a WorkerStatus),
        }
        let hunts = self.hunts.iter().map(Line::FleetHunt);
        let lines = hunts.chain(self.workers.iter().map(Line::FleetWorker));
        lines.map(|line| serde_json::to_string(&line).unwrap_or_default()).collect()
    }
}

impl Engine {
    /// Looks at everything.
    ///
    /// # Errors
    /// If the engine fails.
    pub fn survey(&self) -> Result<Survey, EngineError> {
        let mut survey = Survey::default();
        for key in self.keys()? {
            if let Some(hunt) = key.strip_prefix("hunt.") {
                survey.hunts.extend(self.hunt_survey(hunt)?);
            } else if key.starts_with("worker.") {
                let status = self.get(&key)?.and_then(|bytes| serde_json::from_slice::<WorkerStatus>(&bytes).ok());
                survey.workers.extend(status);
            }
        }
        survey.hunts.sort_by(|a, b| a.hunt.rsplit('-').next().cmp(&b.hunt.rsplit('-').next()));
        survey.workers.sort_by(|a, b| a.worker.cmp(&b.worker));
        Ok(survey)
    }

    /// Deletes a hunt, with everything that the engine has of it. Its workers stop.
    ///
    /// # Errors
    /// If the engine fails.
    pub fn delete(&self, hunt: &str) -> Result<(), EngineError> {
        self.clear(hunt)?;
        for key in [format!("hunt.{hunt}"), format!("status.{hunt}")] {
            self.persist(|| async { Ok(self.store.purge(&key).await?) })?;
        }
        Ok(())
    }

    fn keys(&self) -> Result<Vec<String>, EngineError> {
        self.persist(|| async { Ok(self.store.keys().await?.boxed().try_collect().await?) })
    }

    fn hunt_survey(&self, hunt: &str) -> Result<Option<HuntSurvey>, EngineError> {
        let announcement = self.get(&format!("hunt.{hunt}"))?;
        let announcement: Option<Announcement> = announcement.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let Some(announcement) = announcement else { return Ok(None) };
        let status = self.get(&format!("status.{hunt}"))?.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let queue = self.wait_for(Duration::ZERO, async {
            let stream = self.jetstream.get_stream(parts(hunt)).await?;
            let consumer: PullConsumer = stream.get_consumer::<pull::Config>(WORKERS).await?;
            let info = consumer.cached_info();
            Ok((info.num_pending, info.num_ack_pending as u64))
        });
        // A hunt that is over has no queue.
        let (parts_waiting, parts_running) = queue.unwrap_or_default();
        let program = announcement.program().map(|file| file.digest.clone()).unwrap_or_default();
        Ok(Some(HuntSurvey {
            hunt: hunt.to_owned(),
            name: announcement.name,
            owner: announcement.owner,
            program,
            status: status.unwrap_or_default(),
            parts_waiting,
            parts_running,
        }))
    }
}

fn hunt_line(hunt: &HuntSurvey, now: u64) -> HuntLine {
    let status = &hunt.status;
    HuntLine {
        hunt: hunt.hunt.clone(),
        name: hunt.name.clone(),
        owner: hunt.owner.clone(),
        state: status.state.clone(),
        silent_s: if status.state == "exploring" { now.saturating_sub(status.at) } else { 0 },
        done: status.parts_done,
        running: hunt.parts_running,
        waiting: hunt.parts_waiting,
        targets: status.waiting,
        executions: status.executions,
        rate: if status.elapsed_s > 0.0 { status.executions as f64 / status.elapsed_s } else { 0.0 },
        findings: status.findings,
        shut_out: status.shut_out.clone(),
    }
}

fn worker_line(worker: &WorkerStatus, now: u64) -> WorkerLine {
    WorkerLine {
        worker: worker.worker.clone(),
        hunt: worker.hunt.clone(),
        parts: worker.parts,
        executions: worker.executions,
        silent_s: now.saturating_sub(worker.at),
        refused: worker.refused.clone(),
    }
}
