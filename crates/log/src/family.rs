//! The family tree of threads: names that are the same in every schedule, and the order given by creation and joining.

use crate::clock::VectorClock;
use crate::entry::Entry;
use crate::event::Event;
use crate::operands::JoinOutcome;
use racehunter_abi::{ThreadId, ThreadPath, path_of};

/// Maximum number of threads considered: a program that overwrites its log can invent any number.
const MOST_THREADS: usize = 1 << 16;

/// The family tree of threads, from a log.
#[derive(Clone, Debug, Default)]
pub struct FamilyTree {
    paths: Vec<ThreadPath>,
    children: Vec<u32>,
    /// The parent of each thread, and its number among its siblings, from 1.
    origins: Vec<Option<(ThreadId, u32)>>,
}

impl FamilyTree {
    /// Takes in the next entry of the log.
    pub fn note(&mut self, entry: Entry<'_>) {
        if !entry.is_access() {
            self.note_event(entry.thread(), &entry.event());
        }
    }

    /// The same for an entry that is already decoded.
    pub fn note_event(&mut self, thread: ThreadId, event: &Event) {
        match *event {
            Event::Create { child, .. } => self.create(thread, child),
            Event::Numbered { path } if self.make_room(thread) => self.paths[thread.index()] = path,
            _ => {}
        }
    }

    fn make_room(&mut self, thread: ThreadId) -> bool {
        let count = thread.index() + 1;
        if self.paths.len() < count && count <= MOST_THREADS {
            self.paths.resize(count, ThreadPath::MAIN);
            self.children.resize(count, 0);
            self.origins.resize(count, None);
        }
        count <= MOST_THREADS
    }

    fn create(&mut self, parent: ThreadId, child: ThreadId) {
        if !self.make_room(parent) || !self.make_room(child) {
            return;
        }
        self.children[parent.index()] += 1;
        let sibling = self.children[parent.index()];
        self.paths[child.index()] = ThreadPath(path_of(self.paths[parent.index()].0, sibling));
        self.origins[child.index()].get_or_insert((parent, sibling));
    }

    /// Returns the identity of a thread, which does not depend on the schedule; 0 for an unknown thread.
    #[must_use]
    pub fn path(&self, thread: ThreadId) -> ThreadPath {
        let unknown = if thread == ThreadId::MAIN { ThreadPath::MAIN } else { ThreadPath(0) };
        self.paths.get(thread.index()).copied().unwrap_or(unknown)
    }

    /// Returns the path as text: `main/1/2` is the second child of the first child of `main`. `None` for a thread whose
    /// creation is not known.
    #[must_use]
    pub fn name(&self, thread: ThreadId) -> Option<String> {
        let mut siblings = Vec::new();
        let mut at = thread;
        while at != ThreadId::MAIN {
            let (parent, sibling) = self.origins.get(at.index()).copied().flatten()?;
            // Threads have larger numbers than their parents, unless the log is damaged.
            if parent >= at {
                return None;
            }
            siblings.push(sibling);
            at = parent;
        }
        Some(siblings.iter().rev().fold("main".to_owned(), |name, sibling| format!("{name}/{sibling}")))
    }
}

/// The order given by the creation and joining of threads in every schedule. The count of a thread in its own clock is the
/// number of threads that it has created, plus 1.
#[derive(Clone, Debug, Default)]
pub struct ForkJoin {
    clocks: Vec<VectorClock>,
    /// Threads that were created and not joined, besides the first.
    running: Vec<ThreadId>,
}

impl ForkJoin {
    /// Takes in the next entry of the log.
    pub fn note(&mut self, thread: ThreadId, event: &Event) {
        match *event {
            Event::Create { child, .. } => {
                let known = self.clock(thread).clone();
                self.make_room(child);
                self.clocks[child.index()] = known;
                self.running.push(child);
                self.clock(thread).increment(thread);
            }
            Event::Join { target, outcome } if outcome != JoinOutcome::Refused => {
                self.running.retain(|&running| running != target);
                let known = self.clock(target).clone();
                self.clock(thread).join(&known);
            }
            _ => {}
        }
    }

    fn make_room(&mut self, thread: ThreadId) {
        if self.clocks.len() <= thread.index() {
            self.clocks.resize(thread.index() + 1, VectorClock::default());
        }
    }

    fn clock(&mut self, thread: ThreadId) -> &mut VectorClock {
        self.make_room(thread);
        let clock = &mut self.clocks[thread.index()];
        // A count of 0 means that nothing is known about a thread, so its own count starts at 1.
        clock.raise(thread, 1);
        clock
    }

    /// Returns what one thread knows about another, as an epoch of the latter.
    #[must_use]
    pub fn known(&self, of: ThreadId, about: ThreadId) -> u32 {
        self.clocks.get(of.index()).map_or(0, |clock| clock.get(about))
    }

    /// Returns the current epoch of a thread.
    #[must_use]
    pub fn epoch(&self, thread: ThreadId) -> u32 {
        self.known(thread, thread).max(1)
    }

    /// Returns whether everything from now on is ordered after what a thread did in an epoch.
    #[must_use]
    pub fn is_past(&self, thread: ThreadId, epoch: u32) -> bool {
        let knows = |of: ThreadId| of != thread && self.known(of, thread) >= epoch;
        knows(ThreadId::MAIN) && self.running.iter().all(|&of| knows(of))
    }
}
