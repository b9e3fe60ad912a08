//! From a prediction to a plan that carries it out.

use racehunter_explore::{Bug, Plan};
use racehunter_log::{CodeAddress, EventNumber};
use racehunter_predict::{Kind, Prediction};
use racehunter_trace::EventId;
use racehunter_trace::recording::{Recording, Schedule, code_of};

/// The plans that follow the witness of a prediction and then do what it leads to, with their schedules. Nothing before
/// that is left open: a program that does not follow has diverged.
///
/// Two accesses that race do so in either order, but a detector can remember only one of several accesses of a thread to
/// the same memory, so there is a plan for each order, and one of them is enough.
#[must_use]
pub fn witness(recording: &Recording, prediction: &Prediction) -> Vec<(Plan, Schedule)> {
    let orders = match (prediction.kind, &prediction.events[..]) {
        (Kind::Race, &[first, second]) => vec![vec![first, second], vec![second, first]],
        // The block goes on, and it is broken.
        (Kind::Atomicity, &[_, _, second]) => vec![vec![second]],
        // Those who are about to acquire locks of each other come to it by themselves.
        _ => vec![Vec::new()],
    };
    let plan = |then: Vec<EventId>| {
        let schedule = recording.schedule(prediction.witness.events(), &then);
        let switches = schedule.switches.clone();
        (Plan { switches, tail_from: EventNumber(schedule.events).next(), ..Plan::default() }, schedule)
    };
    orders.into_iter().map(plan).collect()
}

/// Whether a bug that an execution showed is what was predicted.
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

/// The places in the code of the events that make a prediction up, when its trace was recorded by us.
#[must_use]
pub fn codes(recording: &Recording, prediction: &Prediction) -> Option<Vec<u64>> {
    let trace = &recording.trace;
    prediction.events.iter().map(|&event| code_of(&trace.sites()[trace.site(event) as usize])).collect()
}
