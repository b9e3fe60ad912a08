//! All threads of an execution, each with its frames.

use crate::code::{Code, Place};
use crate::frame::{Frame, Lost};
use crate::routine::{Action, Called};
use crate::set::{Decided, Read, Set};
use racehunter_ir::Module;
use racehunter_trace::recording::{Knowledge, Needs, Step};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// Follows the threads of an execution. See the crate documentation.
pub struct Follower {
    code: Code,
    threads: Vec<Thread>,
    /// The position of each thread, by its number, and the thread that was used last, which is usually used again.
    places: FxHashMap<u32, usize>,
    last: Option<(u32, usize)>,
    /// Unknown code may run anywhere.
    opaque: bool,
}

/// Maximum number of events of a read that is followed: a write has as many dependences for each of its events.
const MOST_EVENTS: u8 = 16;

#[derive(Default)]
struct Thread {
    frames: Vec<Frame>,
    /// Values of ended frames, by routine, for reuse in the same thread; as many as existed at once. Values are
    /// computed before they are used, so their old contents matter only if the thread is lost: then they decide like
    /// all others.
    spare: Vec<Vec<Vec<Set>>>,
    /// Reads that have decided, and which of them since the last event.
    decided: Decided,
    /// It has taken a branch since then.
    chose: bool,
    /// It was lost, and has frames that are unknown: they can read memory without an event.
    lost: bool,
    /// How many of its frames can do that too.
    leaking: usize,
}

impl Follower {
    /// Creates a follower for a program: its modules, in link order.
    #[must_use]
    pub fn new(modules: Vec<Module>) -> Self {
        Self { code: Code::new(modules), threads: Vec::new(), places: FxHashMap::default(), last: None, opaque: false }
    }

    /// Returns the code, and a thread.
    fn thread(&mut self, number: u32) -> (&Code, &mut Thread) {
        let at = match self.last {
            Some((last, at)) if last == number => at,
            _ => {
                let next = self.threads.len();
                let at = *self.places.entry(number).or_insert(next);
                if at == next {
                    self.threads.push(Thread::default());
                }
                self.last = Some((number, at));
                at
            }
        };
        (&self.code, &mut self.threads[at])
    }
}

impl Thread {
    fn enter(&mut self, code: &Code, place: Place, returns_here: bool) {
        let routine = code.routine(place);
        let spare = self.spare.get_mut(routine.number).and_then(Vec::pop);
        let mut values = spare.unwrap_or_else(|| vec![Set::Empty; routine.values()]);
        let parameters = &mut values[routine.steps.len()..];
        parameters.fill(Set::Empty);
        let mut has_caller = false;
        if let Some(caller) = self.frames.last_mut().filter(|caller| caller.followed) {
            match caller.go_to_call(place, routine, returns_here, &mut self.decided) {
                Ok(true) => {
                    for (number, &argument) in caller.arguments().iter().enumerate() {
                        let argument = caller.held(argument);
                        match parameters.get_mut(number) {
                            Some(parameter) => *parameter = argument.clone(),
                            // A parameter without a name is read from memory.
                            None => argument.decide(&mut self.decided),
                        }
                    }
                    has_caller = true;
                }
                Ok(false) => {}
                Err(Lost) => self.lose(),
            }
        }
        let followed = !routine.opaque;
        self.leaking += usize::from(routine.leaks);
        if !followed {
            parameters.iter_mut().for_each(|parameter| std::mem::take(parameter).decide(&mut self.decided));
        }
        let routine = Rc::clone(routine);
        self.frames.push(Frame { place, routine, at: 0, values, read: Set::Empty, wrote: false, has_caller, followed });
    }

    fn leave(&mut self, code: &Code, place: Place, at: u32) -> Result<(), Lost> {
        let Some(frame) = self.frames.last_mut().filter(|frame| frame.place == place) else { return Err(Lost) };
        if frame.followed {
            frame.go_to(at, &mut self.decided)?;
        }
        let routine = Rc::clone(&frame.routine);
        let (is_return, result) = match routine.steps[at as usize].action {
            Action::Return(value) if frame.followed => (true, frame.held(value).clone()),
            Action::Return(_) => (true, Set::Empty),
            Action::End(operands) if frame.followed => {
                frame.decide_all(operands, &mut self.decided);
                (false, Set::Empty)
            }
            _ => (false, Set::Empty),
        };
        let has_caller = frame.has_caller;
        self.leaking -= usize::from(routine.leaks);
        if let Some(gone) = self.frames.pop() {
            if self.spare.len() <= routine.number {
                self.spare.resize_with(routine.number + 1, Vec::new);
            }
            self.spare[routine.number].push(gone.values);
        }
        if !has_caller {
            result.decide(&mut self.decided);
        }
        match self.frames.last_mut().filter(|_| has_caller) {
            Some(caller) if is_return => {
                let routine = Rc::clone(&caller.routine);
                caller.go_past_call(&routine, result)
            }
            // An exception propagates until a frame receives it; frames that do not receive it end without a record.
            Some(caller) => caller.unwind(code).and_then(|received| if received { Ok(()) } else { Err(Lost) }),
            None if is_return => Ok(()),
            None => Err(Lost),
        }
    }

    /// Advances to a site in the current function of the thread. Returns the frame, unless it is not followed, and
    /// where decisions go.
    fn go_to(&mut self, code: &Code, site: u32) -> Result<Option<(&mut Frame, &mut Decided)>, Lost> {
        let (place, at) = code.site(site).ok_or(Lost)?;
        let frame = self.frames.last_mut().filter(|frame| frame.place == place).ok_or(Lost)?;
        if !frame.followed {
            return Ok(None);
        }
        frame.go_to(at.ok_or(Lost)?, &mut self.decided)?;
        Ok(Some((frame, &mut self.decided)))
    }

    fn branch(&mut self, code: &Code, site: u32, value: u64) -> Result<(), Lost> {
        self.chose = true;
        let Some((frame, decided)) = self.go_to(code, site)? else { return Ok(()) };
        frame.branch(code, value, decided)
    }

    fn call(&mut self, code: &Code, site: u32) -> Result<(), Lost> {
        let Some((frame, decided)) = self.go_to(code, site)? else { return Ok(()) };
        match frame.action()? {
            Action::Call { callee, .. } if callee.is_own() => {}
            Action::Call { operands, .. } => frame.decide_all(operands, decided),
            _ => return Err(Lost),
        }
        Ok(())
    }

    /// Handles the values of an access.
    fn access(&mut self, code: &Code, step: Step, needs: &mut Needs) -> Result<(), Lost> {
        let Some(site) = step.site else { return Ok(()) };
        let hides = self.lost || self.leaking > 0;
        let Some((frame, decided)) = self.go_to(code, site)? else { return Ok(()) };
        let written = match frame.action()? {
            Action::Read { address, .. } => {
                frame.decide(address, decided);
                return Ok(());
            }
            Action::Write { value, address } | Action::Update { address, value, .. } => {
                frame.decide(address, decided);
                frame.held(value)
            }
            Action::CompareExchange { address, expected, new } => {
                frame.decide(address, decided);
                frame.decide(expected, decided);
                frame.held(new)
            }
            action => {
                frame.decide_all(action.operands().ok_or(Lost)?, decided);
                frame.wrote |= step.writes;
                &frame.read
            }
        };
        if hides || !step.writes {
            written.decide(decided);
        }
        needs.values.extend(written.reads(decided).map(|read| (read.first, read.count.into())));
        Ok(())
    }

    /// Handles a read, with this many events.
    fn read(&mut self, code: &Code, step: Step, first: u32, count: u32) {
        let Self { frames, decided, .. } = self;
        let small = u8::try_from(count).ok().filter(|count| (1..=MOST_EVENTS).contains(count));
        let frame = frames.last_mut().filter(|frame| frame.follows(code, step));
        match small.zip(frame) {
            Some((count, frame)) => {
                frame.read = std::mem::take(&mut frame.read).and(&Set::of(Read { first, count }), decided);
            }
            None => decided.new.push((first, count)),
        }
    }

    /// Loses the thread: whatever its frames hold may decide from now on.
    fn lose(&mut self) {
        (self.lost, self.leaking) = (true, 0);
        for frame in self.frames.drain(..) {
            frame.values.iter().chain([&frame.read]).for_each(|set| set.decide(&mut self.decided));
        }
        self.chose = true;
    }
}

impl Frame {
    /// Returns true if the value that an instruction reads is followed.
    fn follows(&self, code: &Code, step: Step) -> bool {
        let is_here = self.followed && step.site.and_then(|site| code.site(site)) == Some((self.place, Some(self.at)));
        is_here
            && match self.action() {
                Ok(Action::Read { bytes, .. }) => !step.writes && step.bytes == Some(bytes.into()),
                Ok(Action::Update { bytes, .. }) => step.writes && step.bytes == Some(bytes.into()),
                // It flows into what it writes next.
                Ok(Action::Call { callee, .. }) => callee == Called::Copies,
                _ => false,
            }
    }
}

impl Knowledge for Follower {
    fn enter(&mut self, thread: u32, site: u32, returns_here: bool) {
        let opaque = self.opaque;
        let (code, thread) = self.thread(thread);
        match code.site(site) {
            Some((place, None)) if !opaque => thread.enter(code, place, returns_here),
            _ => thread.lose(),
        }
    }

    fn leave(&mut self, thread: u32, site: u32) {
        let opaque = self.opaque;
        let (code, thread) = self.thread(thread);
        let result = match code.site(site) {
            Some((place, Some(at))) if !opaque => thread.leave(code, place, at),
            _ => Err(Lost),
        };
        if result.is_err() {
            thread.lose();
        }
    }

    fn branch(&mut self, thread: u32, site: u32, value: u64) {
        let (code, thread) = self.thread(thread);
        if thread.branch(code, site, value).is_err() {
            thread.lose();
        }
    }

    fn call(&mut self, thread: u32, site: u32) {
        let (code, thread) = self.thread(thread);
        if thread.call(code, site).is_err() {
            thread.lose();
        }
    }

    fn before(&mut self, thread: u32, step: Step, needs: &mut Needs) {
        needs.values.clear();
        let (code, thread) = self.thread(thread);
        if thread.access(code, step, needs).is_err() {
            needs.values.clear();
            thread.lose();
        }
        needs.decisions.clear();
        std::mem::swap(&mut needs.decisions, &mut thread.decided.new);
        needs.chose = std::mem::take(&mut thread.chose);
    }

    fn after(&mut self, thread: u32, step: Step, first: u32, count: u32) {
        if !step.reads {
            return;
        }
        let opaque = self.opaque;
        let (code, thread) = self.thread(thread);
        if opaque {
            thread.decided.new.push((first, count));
        } else {
            thread.read(code, step, first, count);
        }
    }

    fn interrupts(&mut self) {
        self.opaque = true;
        self.threads.iter_mut().for_each(Thread::lose);
    }
}
