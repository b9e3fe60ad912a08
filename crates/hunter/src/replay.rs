//! Replaying a finding.

use crate::world::{Surroundings, World};
use crate::{Error, Event, Hunter, Observer, Stored, blocks, sources};
use racehunter_explain::plan_of;
use racehunter_explore::Plan;
use racehunter_finding::{Finding, Kind};

/// The results of replays.
#[derive(Debug)]
pub struct Replayed {
    /// The finding as the last replay showed it, or as it was stored.
    pub finding: Finding,
    /// The number of replays that showed it, and of all replays.
    pub shown: [u32; 2],
    /// True if the user interrupted the replays.
    pub interrupted: bool,
}

impl Hunter {
    /// Replays the schedule of a finding, as often as asked.
    ///
    /// # Errors
    /// If this is not the program in which it was found, or nothing can be executed.
    pub fn replay(&mut self, stored: &Stored, times: u32, observer: &mut dyn Observer) -> Result<Replayed, Error> {
        let plan = self.prepare_replay(stored, observer)?;
        let mut shown = 0;
        let mut last = None;
        for number in 1..=times {
            observer.notice(Event::Replaying { number, of: times });
            let again = self.replay_once(stored, &plan)?;
            if self.is_interrupted() {
                let finding = last.unwrap_or_else(|| stored.finding.clone());
                return Ok(Replayed { finding, shown: [shown, number - 1], interrupted: true });
            }
            observer.notice(Event::Replayed { number, of: times, shown: again.is_some() });
            shown += u32::from(again.is_some());
            last = again.or(last);
        }
        let mut finding = last.unwrap_or_else(|| stored.finding.clone());
        finding.replayed = [shown, times];
        finding.confirmed = shown == times;
        // The user has asked for it.
        finding.suppressed = None;
        Ok(Replayed { finding, shown: [shown, times], interrupted: false })
    }

    /// Returns what has changed since the finding was made, if it matters to the program: this may be why a replay does
    /// not show it.
    #[must_use]
    pub fn differs_from(&self, stored: &Stored, surroundings: &Surroundings) -> Option<String> {
        self.world(surroundings).difference(stored.world.as_ref()?)
    }

    /// Replays a finding once for a debugger, which needs the event numbers that the replay reveals.
    ///
    /// # Errors
    /// As [`Hunter::replay`], and if the finding does not show.
    pub fn replay_for_debugger(&mut self, stored: &Stored, observer: &mut dyn Observer) -> Result<Finding, Error> {
        let plan = self.prepare_replay(stored, observer)?;
        let again = self.replay_once(stored, &plan)?;
        again.ok_or_else(|| Error::NotShown(stored.finding.id.clone()))
    }

    fn prepare_replay(&mut self, stored: &Stored, observer: &mut dyn Observer) -> Result<Plan, Error> {
        let is_other = |world: &World| !world.is_of(&self.subject.path);
        if self.identity() != stored.identity || stored.world.as_ref().is_some_and(is_other) {
            let (program, id) = (stored.program.clone(), stored.finding.id.clone());
            return Err(Error::FindingRebuilt { program, id });
        }
        let plan = plan_of(&stored.finding.schedule);
        self.introduce(observer);
        let last = plan.switches.last().map_or(0, |last| last.at.0);
        observer.notice(Event::Schedule { decisions: plan.switches.len() as u64, last });
        // The report shows shared accesses, as in the hunt.
        self.find_points(plan.clone())?;
        let _ = self.look_at_preparation(&Plan::default())?;
        Ok(plan)
    }

    fn replay_once(&mut self, stored: &Stored, plan: &Plan) -> Result<Option<Finding>, Error> {
        if stored.finding.kind == Kind::Atomicity {
            let execution = blocks::run(&mut self.processes, &stored.finding)?;
            let shown = execution.is_some_and(|execution| blocks::shows(&execution, &stored.finding));
            return Ok(shown.then(|| stored.finding.clone()));
        }
        let has_sources = sources::changed(stored).is_empty();
        let (explainer, processes) = self.explainer();
        Ok(explainer.again(processes, plan, &stored.finding, has_sources)?)
    }
}
