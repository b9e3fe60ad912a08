//! Turns a prediction into a plan that carries it out.

use racehunter_explore::{Bug, Plan};
use racehunter_log::{CodeAddress, EventNumber};
use racehunter_predict::{Kind, Prediction};
use racehunter_trace::EventId;
use racehunter_trace::recording::{Recording, Schedule, code_of};

/// Returns the plans, with their schedules, that follow the witness of a prediction and then trigger it. They force
/// every switch before that: a program that does not follow has diverged.
///
/// Two accesses race in either order, but a detector remembers only one of several accesses of a thread to the same
/// memory. There is therefore a plan for each order, and one of them succeeding is enough.
#[must_use]
pub fn witness(recording: &Recording, prediction: &Prediction) -> Vec<(Plan, Schedule)> {
    let orders = match (prediction.kind, &prediction.events[..]) {
        (Kind::Race, &[first, second]) => vec![vec![first, second], vec![second, first]],
        // The atomic block continues, and its atomicity is violated.
        (Kind::Atomicity, &[_, _, second]) => vec![vec![second]],
        // Threads about to acquire each other's locks deadlock without further switches.
        _ => vec![Vec::new()],
    };
    let plan = |then: Vec<EventId>| {
        let schedule = recording.schedule(prediction.witness.events(), &then);
        let switches = schedule.switches.clone();
        (Plan { switches, tail_from: EventNumber(schedule.events).next(), ..Plan::default() }, schedule)
    };
    orders.into_iter().map(plan).collect()
}

/// Returns whether a bug that an execution showed is the predicted one.
#[must_use]
pub fn is_predicted(recording: &Recording, prediction: &Prediction, bug: &Bug) -> bool {
    let Some(mut codes) = codes(recording, prediction) else { return false };
    codes.sort_unstable();
    match (prediction.kind, bug) {
        (Kind::Race, Bug::Race(first, second) | Bug::DoubleFree(first, second)) => codes == [first.0, second.0],
        (Kind::Deadlock, Bug::Deadlock(places)) => codes.iter().all(|code| places.contains(&CodeAddress(*code))),
        _ => false,
    }
}

/// Returns the places in the code of the predicted events, if RaceHunter recorded the trace.
#[must_use]
pub fn codes(recording: &Recording, prediction: &Prediction) -> Option<Vec<u64>> {
    let trace = &recording.trace;
    prediction.events.iter().map(|&event| code_of(&trace.sites()[trace.site(event) as usize])).collect()
}
