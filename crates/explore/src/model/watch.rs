//! Watchpoints in the model; the runtime has a module for the same purpose.

use super::state::Operation;
use crate::{Descriptor, Plan};
use racehunter_log::AccessMode;
use racehunter_walk::Sampler;

/// The held thread, and where it is held.
#[derive(Default)]
pub(super) struct Watch {
    descriptors: Vec<Descriptor>,
    /// Number of matching accesses of each thread.
    seen: Vec<[u64; 2]>,
    patience: u64,
    sampler: Sampler,
    /// The access at which a thread is held.
    held: Option<Operation>,
    /// The event before which it continues, whatever others do.
    until: u64,
    /// Threads whose next access was considered.
    looked_at: Vec<u32>,
}

impl Watch {
    pub fn new(plan: &Plan) -> Self {
        let descriptors = plan.provoke.as_deref().map(|pair| pair.to_vec()).unwrap_or_default();
        let sampler = plan.sample.map_or(Sampler::NONE, |sample| Sampler::new(sample.seed, sample.every));
        Self { descriptors, sampler, patience: plan.patience, ..Self::default() }
    }

    pub fn is_active(&self) -> bool {
        !self.descriptors.is_empty() || self.sampler.is_active()
    }

    pub fn holds(&self, thread: u32) -> bool {
        self.held.is_some_and(|held| held.thread() == thread)
    }

    /// Returns the held access, if the access about to happen conflicts with it. It is then no longer held.
    pub fn meets(&mut self, next: &Operation) -> Option<Operation> {
        let held = self.held.filter(|held| {
            let modes = held.event.access().zip(next.event.access()).map(|(held, next)| (held.mode, next.mode));
            let conflict = |(held, next): (AccessMode, AccessMode)| {
                (held.writes() || next.writes()) && !(held.is_atomic() && next.is_atomic())
            };
            held.thread() != next.thread() && held.object() == next.object() && modes.is_some_and(conflict)
        })?;
        // The pair has met: nothing more is provoked, but further accesses may be sampled.
        self.held = None;
        self.descriptors.clear();
        Some(held)
    }

    /// Returns whether the thread is held before this access. Each access is considered once.
    pub fn hold(&mut self, access: &Operation, path: u64, events: u64) -> bool {
        if self.looked_at.contains(&access.thread()) {
            return false;
        }
        self.looked_at.push(access.thread());
        let drawn = self.sampler.draws();
        let thread = access.at.thread.index();
        if self.seen.len() <= thread {
            self.seen.resize(thread + 1, [0; 2]);
        }
        let mut wanted = drawn;
        for (descriptor, seen) in self.descriptors.iter().zip(&mut self.seen[thread]) {
            if descriptor.code == access.at.code && descriptor.path.is_none_or(|wanted| wanted.0 == path) {
                *seen += 1;
                wanted |= *seen == descriptor.nth;
            }
        }
        wanted &= self.held.is_none();
        if wanted {
            self.held = Some(*access);
            self.until = events.saturating_add(self.patience).saturating_add(1);
        }
        wanted
    }

    /// The plan chooses a thread. If it is held, no partner came in the repeated execution either.
    pub fn let_go(&mut self, thread: u32) -> bool {
        let is_held = self.holds(thread);
        if is_held {
            self.held = None;
        }
        is_held
    }

    /// Returns the thread that continues before event `n` because the others have used up their events.
    pub fn expires(&mut self, n: u64) -> Option<u32> {
        self.held.take_if(|_| n >= self.until).map(|held| held.thread())
    }

    /// Returns the held thread, because no other thread can run.
    pub fn give_up(&mut self) -> Option<u32> {
        self.held.take().map(|held| held.thread())
    }

    pub fn performed(&mut self, thread: u32) {
        self.looked_at.retain(|&other| other != thread);
    }
}
