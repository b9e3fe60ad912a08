//! From the log of an execution to a trace, and from a reordering of the trace back to a schedule.
//!
//! Events of the execution become events of the trace. One that is several events of the trace has all but the first
//! marked as [parts](Event::part), so the events of the trace that are not parts are those of the execution, and a
//! schedule over the one is a schedule over the other ([`Recording::schedule`]). A log need not have every event: what
//! is missing between two events of a thread is counted, and goes along with the later one.
//!
//! * **Memory.** Accesses overlap in any way, but locations of a trace are equal or different. So memory is cut wherever
//!   any access begins or ends, and an access to several pieces is several events. Memory that was freed and is used
//!   again is other memory: in another order the allocator would have given out another address. So are memory that is mapped
//!   again, and the stack of a thread.
//! * **Locks.** What does not change who has a lock is no operation on it: a program may release what it does not hold, and
//!   get an error. A lock whose holder is over, and that another thread gets, is another lock from then on, which threads
//!   get after the end of the other, in the order of the log.
//! * **Conditions.** A wait is the release of the mutex and the begin of the wait, in one operation. That a signal ended
//!   it shows in the log only by the acquisition of the mutex that follows: the wake-up is made up then, as a part of
//!   the wait.
//! * **Barriers.** That a thread has passed one shows only by what it does next: the departure is made up then, as a part
//!   of the arrival.
//! * **Annotations.** Accesses that race detectors are told not to look at are atomic: such do not race with each other.
//!   What annotations pass on is passed on in the order of the log.
//! * **Blocks** that the program marks as meant to be atomic are marked, as parts of what their thread did before.
//! * **The rest.** What the predictor has no finer model of (once-only initialisation, futexes, input and output,
//!   signals) is [`Op::Order`]: it stays in order with all else on the same object.
//!
//! With [`Knowledge`] of the program's code, events also say which reads they depend on.
//!
//! A log is looked at twice, because what is cut where is known at its end: [`Survey`], then [`Converter`]. Both take it
//! in pieces, so that it need not be in memory at once; what they hold grows with the memory that the program touches,
//! not with its events. [`Recording::of`] does both for a log that is in memory.

mod convert;
mod depend;
mod locks;
mod schedule;
mod survey;

pub use convert::{Converter, Names, PlainNames, Sink};
pub use depend::{Knowledge, Needs, Step};
pub use schedule::Schedule;
pub use survey::{Layout, Survey};

use crate::{Error, Event, Op, Trace, TraceBuilder, Via};
use racehunter_log::Record;

/// A trace, with what it takes to turn a reordering of it into a schedule.
#[derive(Clone, Debug)]
pub struct Recording {
    /// The trace.
    pub trace: Trace,
    /// For each event how many events of its thread, directly before it, the log does not have. Empty when it has all.
    skipped: Vec<u32>,
}

impl Recording {
    /// The trace of an execution, from its log.
    ///
    /// # Errors
    /// When the log is not one, or there is more than a trace can hold.
    pub fn of(records: &[Record]) -> Result<Self, Error> {
        let mut survey = Survey::default();
        survey.add(records);
        let sink = Columns { builder: TraceBuilder::new(), skipped: Vec::new() };
        let mut converter = Converter::new(survey.finish(), &PlainNames, sink)?;
        converter.add(records)?;
        let Columns { builder, mut skipped } = converter.finish();
        if skipped.iter().all(|&count| count == 0) {
            skipped = Vec::new();
        }
        Ok(Self { trace: builder.finish(), skipped })
    }

    /// A trace whose events are all those of the execution.
    #[must_use]
    pub fn whole(trace: Trace) -> Self {
        Self { trace, skipped: Vec::new() }
    }

    fn skipped(&self, event: crate::EventId) -> u64 {
        self.skipped.get(event as usize).copied().unwrap_or(0).into()
    }
}

/// A trace in memory, and what is missing in it.
struct Columns {
    builder: TraceBuilder,
    skipped: Vec<u32>,
}

impl Sink for Columns {
    fn thread(&mut self, name: String) -> Result<(), Error> {
        self.builder.add_thread(name).map(drop)
    }

    fn object(&mut self, object: crate::Object) -> Result<(), Error> {
        self.builder.add_object(object).map(drop)
    }

    fn site(&mut self, name: String) -> Result<(), Error> {
        self.builder.add_site(name).map(drop)
    }

    fn event(&mut self, event: Event, skipped: u64, _reads: &[(u32, Via)]) -> Result<(), Error> {
        self.skipped.push(u32::try_from(skipped).map_err(|_| Error::TooMany("events"))?);
        self.builder.push(event).map(drop)
    }
}

/// After these a thread may be suspended although it goes on next.
fn may_suspend(op: Op) -> bool {
    !op.is_access() && !op.acquires() && !op.releases() && !matches!(op, Op::Begin | Op::End)
}

/// The code address in the name of a site that a recording gave it.
#[must_use]
pub fn code_of(site: &str) -> Option<u64> {
    let address = site.rsplit_once('@').map_or(site, |(_, address)| address);
    u64::from_str_radix(address.strip_prefix("0x")?, 16).ok()
}
