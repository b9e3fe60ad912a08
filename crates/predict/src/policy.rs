//! What a reordering must preserve: the only thing in which M2, SeqCheck and ReConP differ.
//!
//! A read must see its old write once its thread continues to the read's *boundary*, the first place where another
//! value could change what the thread does. It also must if its value *flows* into a write that another such read sees.
//!
//! | policy | boundary of a read | values that flow into a write |
//! |---|---|---|
//! | M2 | the next event | - |
//! | SeqCheck | the next place where the thread decides something, if any | all earlier reads of the thread |
//! | NRE (ReConP) | the first decision that this read takes part in, if any | the reads that the write depends on |
//!
//! [`Via::Decision`] describes decisions: branches, but also addresses of reads and of writes, locks that are taken,
//! and so on. The published definition of necessary reads leaves out the addresses of reads; a thread may then fault in
//! the reordering before it reaches the predicted race. Published SeqCheck considers only branches, and is wrong if
//! addresses depend on reads; this one also stops at every other decision that the trace has.
//!
//! Branches and dependences that the trace does not contain are assumed to exist: without branches SeqCheck equals M2,
//! without dependences NRE equals SeqCheck. On every trace, each policy therefore permits everything that the one above
//! it does.

use crate::index::{Index, NONE};
use racehunter_trace::{EventId, Via};

/// Which reorderings are allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Policy {
    /// Every read but the last of a thread sees its old write.
    M2,
    /// Reads may see other writes where no decision follows.
    SeqCheck,
    /// Reads may see other writes where they take part in no decision.
    Nre,
    /// As published, SeqCheck considers only branches. It is wrong about programs whose addresses depend on what they
    /// read, and here only for comparison.
    PublishedSeqCheck,
}

impl Policy {
    /// All sound policies, the most permissive last.
    pub const ALL: [Self; 3] = [Self::M2, Self::SeqCheck, Self::Nre];

    /// Returns its name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::M2 => "m2",
            Self::SeqCheck => "seqcheck",
            Self::Nre => "nre",
            Self::PublishedSeqCheck => "published-seqcheck",
        }
    }
}

/// What a policy demands of the reads of one trace.
#[derive(Clone, Debug)]
pub struct Demands {
    boundary: Boundary,
    flow: Flow,
}

#[derive(Clone, Debug)]
enum Boundary {
    /// The position after the read.
    Next,
    /// A position for each event, [`NONE`] for never.
    Table(Vec<u32>),
}

/// The reads whose values flow into a write.
#[derive(Clone, Debug)]
pub(crate) enum Flow {
    /// Only a read that is the write itself.
    Own,
    /// Also all earlier reads of the thread.
    Earlier,
    /// Also these: for each event the start of its reads in a list.
    Table(Vec<u32>, Vec<EventId>),
}

impl Demands {
    /// Returns the demands of a policy, given what the trace contains.
    #[must_use]
    pub fn new(policy: Policy, index: &Index<'_>) -> Self {
        let trace = index.trace;
        match policy {
            Policy::Nre if trace.dependences().is_some() => Self::nre(index),
            Policy::Nre | Policy::SeqCheck if trace.has_branches() => Self::seqcheck(index, true),
            Policy::PublishedSeqCheck if trace.has_branches() => Self::published_seqcheck(index),
            _ => Self { boundary: Boundary::Next, flow: Flow::Own },
        }
    }

    /// Returns the demands of SeqCheck as published, where only branches count. It can be wrong about programs whose
    /// addresses depend on what they read.
    #[must_use]
    pub fn published_seqcheck(index: &Index<'_>) -> Self {
        Self::seqcheck(index, false)
    }

    fn seqcheck(index: &Index<'_>, all_decisions: bool) -> Self {
        let trace = index.trace;
        let mut decides: Vec<bool> = (0..trace.len() as EventId).map(|event| trace.follows_choice(event)).collect();
        for (event, reads) in trace.dependences().into_iter().flat_map(|dependences| dependences.iter()) {
            decides[event as usize] |= all_decisions && reads.iter().any(|entry| entry.via == Via::Decision);
        }
        let mut boundary = vec![NONE; trace.len()];
        for events in &index.events {
            let mut next = NONE;
            for (position, &event) in events.iter().enumerate().rev() {
                boundary[event as usize] = next;
                if decides[event as usize] {
                    next = position as u32;
                }
            }
        }
        Self { boundary: Boundary::Table(boundary), flow: Flow::Earlier }
    }

    fn nre(index: &Index<'_>) -> Self {
        let trace = index.trace;
        let mut boundary = vec![NONE; trace.len()];
        let mut starts = Vec::with_capacity(trace.len() + 1);
        let mut reads = Vec::new();
        let mut dependences = trace.dependences().into_iter().flat_map(|dependences| dependences.iter()).peekable();
        for event in 0..trace.len() as EventId {
            starts.push(reads.len() as u32);
            let Some((_, entries)) = dependences.next_if(|&(of, _)| of == event) else { continue };
            for entry in entries {
                match entry.via {
                    Via::Decision => {
                        let first = &mut boundary[entry.read as usize];
                        *first = (*first).min(index.position[event as usize]);
                    }
                    Via::Value => reads.push(entry.read),
                }
            }
        }
        starts.push(reads.len() as u32);
        Self { boundary: Boundary::Table(boundary), flow: Flow::Table(starts, reads) }
    }

    /// Returns the position in its thread from which on a read must see its old write, [`NONE`] for never.
    pub(crate) fn boundary(&self, index: &Index<'_>, read: EventId) -> u32 {
        self.boundary_at(index.position[read as usize], read)
    }

    /// As `boundary`, for a read whose position is known.
    pub(crate) fn boundary_at(&self, position: u32, read: EventId) -> u32 {
        match &self.boundary {
            Boundary::Next => position + 1,
            Boundary::Table(table) => table[read as usize],
        }
    }

    /// Returns the earlier reads of its thread that must see their old writes for an event to happen as it did: those
    /// whose boundary it comes after, and those that flow into it. For necessary consistent reads, this is the set
    /// `NRE(e)`.
    #[must_use]
    pub fn necessary_for(&self, index: &Index<'_>, event: EventId) -> Vec<EventId> {
        let (thread, position) = index.place(event);
        let earlier = index.events[thread][..position as usize].iter().copied();
        let flows = |read: &EventId| match &self.flow {
            Flow::Own => false,
            Flow::Earlier => index.trace.op(event).writes(),
            Flow::Table(..) => self.known_flow(event).contains(read),
        };
        earlier
            .filter(|&read| index.trace.op(read).reads())
            .filter(|read| self.boundary(index, *read) <= position || flows(read))
            .collect()
    }

    /// Returns true if the boundary of every read is the next event.
    pub(crate) fn is_strict(&self) -> bool {
        matches!(self.boundary, Boundary::Next)
    }

    pub(crate) fn flow(&self) -> &Flow {
        &self.flow
    }

    /// Returns the earlier reads that the trace says flow into a write.
    pub(crate) fn known_flow(&self, write: EventId) -> &[EventId] {
        match &self.flow {
            Flow::Table(starts, reads) => &reads[starts[write as usize] as usize..starts[write as usize + 1] as usize],
            Flow::Own | Flow::Earlier => &[],
        }
    }
}
