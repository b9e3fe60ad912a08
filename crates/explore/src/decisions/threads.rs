//! Which threads can run, as far as the log has told.

use racehunter_log::{ThreadId, ThreadSet};

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Status {
    Ready,
    Suspended,
    /// As `Blocked`, but a spurious wake-up is a choice.
    Waiting,
    Blocked,
    Over,
}

/// Which threads can run. A bit per thread, so that a change costs nothing and a walk is in order.
#[derive(Default)]
pub(super) struct Threads {
    pub(super) status: Vec<Status>,
    /// Until when those wait that wait for time; what is there for others means nothing.
    deadlines: Vec<u64>,
    ready: Vec<u64>,
    /// Those that are not ready, but can be chosen.
    suspended: Vec<u64>,
    ready_count: usize,
    pub(super) suspended_count: usize,
}

impl Threads {
    pub(super) fn status(&self, thread: ThreadId) -> Status {
        self.status.get(thread.index()).copied().unwrap_or(Status::Over)
    }

    pub(super) fn is_ready(&self, thread: ThreadId) -> bool {
        self.status(thread) == Status::Ready
    }

    pub(super) fn is_possible(&self, thread: ThreadId) -> bool {
        matches!(self.status(thread), Status::Ready | Status::Suspended | Status::Waiting)
    }

    pub(super) fn set_deadline(&mut self, thread: ThreadId, deadline: u64) {
        let index = thread.index();
        if index >= self.deadlines.len() {
            self.deadlines.resize(index + 1, 0);
        }
        self.deadlines[index] = deadline;
    }

    /// Of those that wait for time, the one whose time comes first.
    pub(super) fn first_in_time(&self) -> Option<ThreadId> {
        let late = (0..).zip(&self.status).filter(|(_, status)| **status == Status::Suspended);
        let deadline = |thread: ThreadId| self.deadlines.get(thread.index()).copied().unwrap_or(0);
        late.map(|(thread, _)| ThreadId(thread))
            .map(|thread| (deadline(thread), thread))
            .min()
            .map(|(_, thread)| thread)
    }

    pub(super) fn possible_count(&self) -> usize {
        self.ready_count + self.suspended_count
    }

    pub(super) fn ready_besides(&self, thread: ThreadId) -> bool {
        self.ready_count > usize::from(self.is_ready(thread))
    }

    pub(super) fn set_all(&mut self, threads: ThreadSet, status: Status) {
        for thread in threads.iter() {
            self.set(thread, status);
        }
    }

    pub(super) fn set(&mut self, thread: ThreadId, status: Status) {
        let index = thread.index();
        if index >= self.status.len() {
            self.status.resize(index + 1, Status::Over);
            self.ready.resize(index / 64 + 1, 0);
            self.suspended.resize(index / 64 + 1, 0);
        }
        let bit = 1 << (index % 64);
        match std::mem::replace(&mut self.status[index], status) {
            Status::Ready => {
                self.ready[index / 64] &= !bit;
                self.ready_count -= 1;
            }
            Status::Suspended | Status::Waiting => {
                self.suspended[index / 64] &= !bit;
                self.suspended_count -= 1;
            }
            Status::Blocked | Status::Over => {}
        }
        match status {
            Status::Ready => {
                self.ready[index / 64] |= bit;
                self.ready_count += 1;
            }
            Status::Suspended | Status::Waiting => {
                self.suspended[index / 64] |= bit;
                self.suspended_count += 1;
            }
            Status::Blocked | Status::Over => {}
        }
    }

    pub(super) fn possible(&self) -> impl Iterator<Item = ThreadId> + '_ {
        self.ready.iter().zip(&self.suspended).enumerate().flat_map(|(word, (ready, suspended))| {
            let mut bits = ready | suspended;
            std::iter::from_fn(move || {
                let bit = (bits != 0).then(|| bits.trailing_zeros())?;
                bits &= bits - 1;
                Some(ThreadId(word as u32 * 64 + bit))
            })
        })
    }
}
