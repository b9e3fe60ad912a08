//! From the log of an execution to a trace, and from a reordering of the trace back to a schedule.
//!
//! Events of the execution become events of the trace. If one becomes several events of the trace, all but the first
//! are marked as [parts](Event::part). The other events of the trace are therefore those of the execution, and a
//! schedule over one is a schedule over the other ([`Recording::schedule`]). A log need not contain every event: what
//! is missing between two events of a thread is counted, and moves with the later one.
//!
//! * **Memory.** Accesses can overlap in any way, but locations of a trace are equal or different. So memory is cut
//!   wherever an access begins or ends, and an access to several pieces is several events. Memory that was freed and is
//!   used again is different memory: in another order the allocator would have returned another address. The same holds
//!   for memory that is mapped again, and for the stack of a thread.
//! * **Locks.** A call that does not change the owner of a lock is not an operation on it: a program may release a lock
//!   that it does not hold, and get an error. If another thread acquires a lock whose holder has ended, it counts as a
//!   different lock from then on, which threads acquire after the end of the holder, in the order of the log.
//! * **Conditions.** A wait is the release of the mutex and the start of the wait, in one operation. That a signal
//!   ended it shows in the log only by the acquisition of the mutex that follows: the wake-up is added then, as a part
//!   of the wait.
//! * **Barriers.** A thread's departure from a barrier shows only by what it does next: it is added then, as a part
//!   of the arrival.
//! * **Annotations.** Accesses that annotations hide from race detectors are atomic, so they do not race with each
//!   other. Annotations that pass on an order do so in the order of the log.
//! * **Blocks** that the program marks as meant to be atomic are marked, as parts of what their thread did before.
//! * **The rest.** Operations that the predictor does not model (once-only initialisation, futexes, input and output,
//!   signals) are [`Op::Order`]: they keep their order with everything else on the same object.
//!
//! With [`Knowledge`] of the program's code, events also say which reads they depend on.
//!
//! A log is read twice, because only its end shows how memory must be cut: by [`Survey`], then by [`Converter`]. Both
//! take it in pieces, so that it need not be in memory at once; their memory use grows with the memory that the program
//! touches, not with its events. In between, [`LogWriter`] and [`LogReader`] keep it in a file. [`Recording::of`] does both for a log in memory.

mod convert;
mod depend;
mod locks;
mod schedule;
mod stored;
mod survey;

pub use convert::{Converter, Names, PlainNames, Sink};
pub use depend::{Knowledge, Needs, Step};
pub use schedule::Schedule;
pub use stored::{LogReader, LogWriter};
pub use survey::{Layout, Survey};

use crate::{Error, Event, Op, Trace, TraceBuilder, Via};
use racehunter_log::Record;

/// A trace, with what it takes to turn a reordering of it into a schedule.
#[derive(Clone, Debug)]
pub struct Recording {
    /// The trace.
    pub trace: Trace,
    /// For each event, the number of events of its thread directly before it that the log does not have. Empty if it
    /// has all.
    skipped: Vec<u32>,
}

impl Recording {
    /// Returns the trace of an execution, from its log.
    ///
    /// # Errors
    /// If the log is invalid, or there is more than a trace can hold.
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

    /// Returns a trace that contains all events of the execution.
    #[must_use]
    pub fn whole(trace: Trace) -> Self {
        Self { trace, skipped: Vec::new() }
    }

    fn skipped(&self, event: crate::EventId) -> u64 {
        self.skipped.get(event as usize).copied().unwrap_or(0).into()
    }
}

/// A trace in memory, and what is missing from it.
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

/// Returns true for operations after which a thread may be suspended although it continues next.
fn may_suspend(op: Op) -> bool {
    !op.is_access() && !op.acquires() && !op.releases() && !matches!(op, Op::Begin | Op::End)
}

/// Returns the code address in a site name that a recording created.
#[must_use]
pub fn code_of(site: &str) -> Option<u64> {
    let address = site.rsplit_once('@').map_or(site, |(_, address)| address);
    u64::from_str_radix(address.strip_prefix("0x")?, 16).ok()
}
