//! Read constraints: which write a read should see.
//!
//! A walk with constraints holds back threads that would violate one: the reader until the write has happened, and then the
//! threads that would overwrite it. A thread inside a critical section keeps others out of it, so threads are held back before
//! the section, at its *gate*. A constraint is dropped when no other thread can run, or when it takes too long.

use crate::Next;

/// Maximum number of read constraints of one walk.
pub const MOST_CONSTRAINTS: usize = 3;
/// Maximum number of writes that can violate a constraint.
pub const MOST_RIVALS: usize = 4;
/// Number of choices at which a thread may be held back; a choice after a thread gave way counts `IMPATIENCE` times.
const PATIENCE: u32 = 20_000;
const IMPATIENCE: u32 = 500;

/// A place in the code, and the start of the outermost critical section around it; the place itself outside of critical sections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, PartialOrd, Ord)]
pub struct GatedPlace {
    /// Code address of the access.
    pub code: u64,
    /// Code address of the first acquisition.
    pub gate: u64,
}

/// A read, and the write that it should see.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct ReadConstraint {
    /// Path of the thread that reads.
    pub reader: u64,
    /// The place of the read.
    pub read: GatedPlace,
    /// The memory that is read, 0 for any.
    pub object: u64,
    /// Number of earlier executions of this read to skip.
    pub skip: u32,
    /// The place of the write; 0: the read should precede all writes of other threads.
    pub write: u64,
    /// Other writes to the same memory, up to the first code that is 0. There may be more: if the memory is known, all writes to
    /// it are rivals.
    pub rivals: [GatedPlace; MOST_RIVALS],
}

/// An event that has happened.
#[derive(Clone, Copy, Debug)]
pub struct Done {
    /// Path of the thread.
    pub path: u64,
    /// The place in the code.
    pub code: u64,
    /// The memory or object.
    pub object: u64,
    /// Whether it changed the memory or object.
    pub changes: bool,
}

#[derive(Clone, Copy)]
struct Open {
    constraint: ReadConstraint,
    /// The latest write is the one that should be seen.
    armed: bool,
    /// The reader is held back as soon as it has made its other constrained reads, rather than just before this read: what it
    /// does in between may prevent the write.
    early: bool,
    over: bool,
}

/// The constraints of a walk, and their progress.
#[derive(Clone, Copy)]
pub(crate) struct ReadConstraints {
    open: [Open; MOST_CONSTRAINTS],
    count: usize,
    patience: u32,
    /// A thread that has made all its constrained reads: the others now run first, so that it continues with outdated values.
    stale: Option<u64>,
}

impl ReadConstraint {
    /// Returns the places in the code that it is about, without those that are unknown.
    pub fn codes(&self) -> impl Iterator<Item = u64> + '_ {
        let rivals = self.rivals.iter().take_while(|rival| rival.code != 0);
        let gated = core::iter::once(&self.read).chain(rivals).flat_map(|place| [place.code, place.gate]);
        gated.chain([self.write]).filter(|&code| code != 0)
    }

    fn is_about(&self, object: u64) -> bool {
        self.object == 0 || self.object == object
    }

    /// Returns whether the read is outside of critical sections.
    fn is_open(&self) -> bool {
        self.read.gate == self.read.code
    }

    /// Returns whether this is another write to the memory than the one that should be seen, or a known one that `fits`.
    fn is_rival(&self, code: u64, object: u64, changes: bool, fits: impl Fn(&GatedPlace) -> bool) -> bool {
        changes && object != 0 && object == self.object && code != self.write
            || self.rivals.iter().take_while(|rival| rival.code != 0).any(fits)
    }
}

impl Open {
    /// Returns whether the thread should not continue yet.
    fn holds_back(&self, next: &Next) -> bool {
        let Self { constraint, armed, over, .. } = self;
        if *over || constraint.skip > 0 || next.code == 0 {
            false
        } else if next.path == constraint.reader {
            !armed && self.is_at(&constraint.read, next)
        } else {
            *armed && constraint.is_rival(next.code, next.object, next.changes, |rival| self.is_at(rival, next))
        }
    }

    fn is_at(&self, place: &GatedPlace, next: &Next) -> bool {
        next.code == place.code && self.constraint.is_about(next.object)
            || next.code == place.gate && place.gate != place.code
    }

    /// Returns whether this event is the constrained read, after the right write and outside of critical sections.
    fn is_satisfied_by(&self, done: &Done) -> bool {
        let Self { constraint, armed, over, .. } = self;
        let is_it = (constraint.reader, constraint.read.code, constraint.skip) == (done.path, done.code, 0)
            && constraint.is_about(done.object);
        is_it && *armed && !over && constraint.is_open()
    }

    fn performed(&mut self, Done { path, code, object, changes }: Done) {
        if !self.constraint.is_about(object) {
            return;
        }
        let Self { constraint, armed, over, .. } = self;
        let own = path == constraint.reader;
        if code == constraint.write && !own {
            *armed = true;
        } else if constraint.is_rival(code, object, changes, |rival| rival.code == code) {
            *armed = false;
            // The initial value does not come back.
            *over |= constraint.write == 0;
        }
        if own && code == constraint.read.code {
            *over |= constraint.skip == 0;
            constraint.skip = constraint.skip.saturating_sub(1);
        }
    }
}

impl ReadConstraints {
    pub(crate) const NONE: Self = {
        let nowhere = GatedPlace { code: 0, gate: 0 };
        let constraint =
            ReadConstraint { reader: 0, read: nowhere, skip: 0, write: 0, rivals: [nowhere; MOST_RIVALS], object: 0 };
        Self {
            open: [Open { constraint, armed: false, early: false, over: true }; MOST_CONSTRAINTS],
            count: 0,
            patience: PATIENCE,
            stale: None,
        }
    };

    pub(crate) fn add(&mut self, constraint: ReadConstraint) {
        if let Some(open) = self.open.get_mut(self.count) {
            *open = Open { constraint, armed: constraint.write == 0, early: true, over: false };
            self.count += 1;
        }
    }

    pub(crate) fn hold_back(&self, next: &Next) -> bool {
        self.holds_back_anywhere(next.path) || self.open[..self.count].iter().any(|open| open.holds_back(next))
    }

    /// Returns whether the thread is held back wherever it is.
    pub(crate) fn holds_back_anywhere(&self, path: u64) -> bool {
        self.stale == Some(path) || self.holds_early(path)
    }

    /// Returns whether there are any that are neither satisfied nor given up.
    pub(crate) fn are_open(&self) -> bool {
        self.stale.is_some() || self.open[..self.count].iter().any(|open| !open.over)
    }

    /// Returns whether an operation is one of those that they are about: it may change their progress, or be held back.
    pub(crate) fn mind(&self, code: u64, object: u64) -> bool {
        self.open[..self.count].iter().filter(|open| !open.over).any(|open| {
            object != 0 && object == open.constraint.object || open.constraint.codes().any(|place| place == code)
        })
    }

    /// Returns the number of times that threads may be held back before the constraints are dropped.
    pub(crate) const fn patience_left(&self) -> u64 {
        self.patience.saturating_sub(1) as u64
    }

    /// Returns whether a thread has only one more constrained read to make, of a write that has not happened yet.
    fn holds_early(&self, path: u64) -> bool {
        let mut own = self.open[..self.count].iter().filter(|open| open.constraint.reader == path);
        let mut open = own.clone().filter(|open| !open.over);
        match (open.next(), open.next()) {
            // Inside a critical section it would keep others out.
            (Some(last), None) if last.early && !last.armed => {
                own.clone().count() > 1 && own.all(|open| open.constraint.is_open())
            }
            _ => false,
        }
    }

    /// Notes that a thread was held back.
    pub(crate) fn waited(&mut self) {
        self.lose_patience(1);
    }

    pub(crate) fn lose_patience(&mut self, by: u32) {
        self.patience = self.patience.saturating_sub(by);
        if self.patience == 0 {
            self.count = 0;
            self.stale = None;
        }
    }

    /// Notes that a thread gave way; it may wait for one that is held back.
    pub(crate) fn gives_way(&mut self) {
        self.lose_patience(IMPATIENCE);
        self.open.iter_mut().for_each(|open| open.early = false);
        self.stale = None;
    }

    /// Lets the thread continue although a constraint holds it back.
    pub(crate) fn give_up(&mut self, next: &Next) {
        if self.stale == Some(next.path) {
            self.stale = None;
            return;
        }
        if self.holds_early(next.path) {
            let own = self.open.iter_mut().filter(|open| open.constraint.reader == next.path);
            own.for_each(|open| open.early = false);
            return;
        }
        for open in &mut self.open[..self.count] {
            open.over |= open.holds_back(next);
        }
    }

    pub(crate) fn performed(&mut self, done: Done) {
        let open = &mut self.open[..self.count];
        let came_true = open.iter().any(|open| open.is_satisfied_by(&done));
        open.iter_mut().for_each(|open| open.performed(done));
        let mut own = open.iter().filter(|open| open.constraint.reader == done.path);
        if came_true && own.all(|open| open.over) {
            self.stale = Some(done.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const READER: u64 = 3;
    const WRITER: u64 = 5;

    fn next(path: u64, code: u64, object: u64) -> Next {
        Next { thread: path as u32, path, object, changes: false, chosen: false, code }
    }

    fn done(path: u64, code: u64, object: u64) -> Done {
        Done { path, code, object, changes: path == WRITER }
    }

    /// A read at 10, behind a gate at 9; the write is at 20, another one at 30, behind a gate at 29.
    fn constraints(write: u64, object: u64, skip: u32) -> ReadConstraints {
        let place = |code| GatedPlace { code, gate: code - 1 };
        let mut rivals = [GatedPlace::default(); MOST_RIVALS];
        rivals[0] = place(30);
        if write == 0 {
            rivals[1] = place(20);
        }
        let mut constraints = ReadConstraints::NONE;
        constraints.add(ReadConstraint { reader: READER, read: place(10), object, skip, write, rivals });
        constraints
    }

    #[test]
    fn the_reader_waits_for_the_write_and_rivals_for_the_reader() {
        let mut constraints = constraints(20, 0, 0);
        for code in [9, 10] {
            assert!(constraints.hold_back(&next(READER, code, 64)));
            assert!(!constraints.hold_back(&next(WRITER, code, 64)), "the constraint concerns one reader");
        }
        assert!(!constraints.hold_back(&next(WRITER, 30, 64)), "there is nothing to overwrite");
        constraints.performed(done(WRITER, 20, 64));
        assert!(!constraints.hold_back(&next(READER, 10, 64)));
        assert!(constraints.hold_back(&next(WRITER, 29, 8)) && constraints.hold_back(&next(WRITER, 30, 64)));
        constraints.performed(done(READER, 10, 64));
        assert!(!constraints.hold_back(&next(WRITER, 30, 64)), "the constraint is satisfied");
    }

    #[test]
    fn before_all_writes_means_before_any() {
        let mut constraints = constraints(0, 0, 0);
        assert!(!constraints.hold_back(&next(READER, 10, 64)));
        assert!(constraints.hold_back(&next(WRITER, 20, 64)) && constraints.hold_back(&next(WRITER, 30, 64)));
        constraints.performed(done(WRITER, 30, 64));
        assert!(!constraints.hold_back(&next(WRITER, 20, 64)) && !constraints.hold_back(&next(READER, 10, 64)));
    }

    #[test]
    fn other_memory_and_earlier_reads_do_not_count() {
        let mut elsewhere = constraints(20, 64, 0);
        assert!(elsewhere.hold_back(&next(READER, 10, 64)) && !elsewhere.hold_back(&next(READER, 10, 72)));
        elsewhere.performed(done(WRITER, 20, 72));
        assert!(elsewhere.hold_back(&next(READER, 10, 64)));
        elsewhere.performed(done(WRITER, 20, 64));
        let unknown = Next { changes: true, ..next(WRITER, 40, 64) };
        assert!(elsewhere.hold_back(&unknown), "any write to the memory is a rival");
        assert!(!elsewhere.hold_back(&Next { object: 72, ..unknown }));
        let mut later = constraints(20, 0, 1);
        assert!(!later.hold_back(&next(READER, 10, 64)));
        later.performed(done(READER, 10, 64));
        assert!(later.hold_back(&next(READER, 10, 64)));
    }

    /// Reads at 10, before all writes, and at 12, of the write at 20; outside of critical sections.
    fn two_constraints() -> ReadConstraints {
        let place = |code| GatedPlace { code, gate: code };
        let mut rivals = [GatedPlace::default(); MOST_RIVALS];
        rivals[0] = place(20);
        let mut constraints = ReadConstraints::NONE;
        let first = ReadConstraint { reader: READER, read: place(10), object: 64, skip: 0, write: 0, rivals };
        constraints.add(first);
        constraints.add(ReadConstraint {
            read: place(12),
            object: 72,
            write: 20,
            rivals: [GatedPlace::default(); MOST_RIVALS],
            ..first
        });
        constraints
    }

    #[test]
    fn a_reader_with_one_constraint_left_waits_for_the_write_at_once() {
        let mut constraints = two_constraints();
        assert!(!constraints.hold_back(&next(READER, 11, 80)));
        constraints.performed(done(READER, 10, 64));
        assert!(constraints.hold_back(&next(READER, 11, 80)), "its next operations may prevent the write");
        let mut given_up = constraints;
        given_up.give_up(&next(READER, 11, 80));
        assert!(!given_up.hold_back(&next(READER, 11, 80)) && given_up.hold_back(&next(READER, 12, 72)));
        constraints.performed(done(WRITER, 20, 72));
        assert!(!constraints.hold_back(&next(READER, 11, 80)) && !constraints.hold_back(&next(READER, 12, 72)));
    }

    #[test]
    fn a_reader_whose_constraints_are_satisfied_runs_last() {
        let mut constraints = two_constraints();
        let any = next(READER, 99, 8);
        constraints.performed(done(READER, 10, 64));
        constraints.performed(done(WRITER, 20, 72));
        assert!(!constraints.hold_back(&any));
        constraints.performed(done(READER, 12, 72));
        assert!(constraints.hold_back(&any) && !constraints.hold_back(&next(WRITER, 99, 8)));
        constraints.give_up(&any);
        assert!(!constraints.hold_back(&any), "no other thread can run");
        let mut in_vain = two_constraints();
        in_vain.performed(done(WRITER, 20, 64));
        in_vain.performed(done(READER, 10, 64));
        in_vain.performed(done(READER, 12, 72));
        assert!(!in_vain.hold_back(&any), "its constraint is not satisfied");
    }

    #[test]
    fn constraints_are_dropped_when_no_other_thread_can_run_or_it_takes_too_long() {
        let held = next(READER, 10, 64);
        let mut given_up = constraints(20, 0, 0);
        given_up.give_up(&held);
        assert!(!given_up.hold_back(&held));
        let mut tired = constraints(20, 0, 0);
        for _ in 0..PATIENCE / IMPATIENCE {
            assert!(tired.hold_back(&held));
            tired.gives_way();
        }
        assert!(!tired.hold_back(&held));
    }
}
