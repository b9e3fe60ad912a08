//! All threads of an execution, each with its frames.

use crate::code::{Callee, Code, Place};
use crate::frame::{Frame, Lost};
use crate::set::{Decided, Set};
use racehunter_ir::{Instruction, Module, Operation};
use racehunter_trace::recording::{Knowledge, Needs, Step};
use rustc_hash::FxHashMap;

/// Goes along with the threads of an execution. See the crate documentation.
pub struct Follower {
    code: Code,
    threads: FxHashMap<u32, Thread>,
    /// Something may run anywhere that the code does not tell.
    opaque: bool,
}

/// Events of a read that is followed, at most: a write has as many for each of its own.
const MOST_EVENTS: u32 = 16;

#[derive(Default)]
struct Thread {
    frames: Vec<Frame>,
    /// Values of frames that are gone, for the next ones of the same thread; as many as there were at once. Values are made
    /// before they are used, so what is in them matters only when the thread is lost: then they decide like all others.
    spare: FxHashMap<Place, Vec<Vec<Set>>>,
    /// Reads that have decided since the last event.
    decided: Decided,
    /// It has chosen where to go on since then.
    chose: bool,
    /// It was lost, and has frames that are not there: they can read memory without an event.
    lost: bool,
    /// How many of its frames can do that, too.
    leaking: usize,
}

impl Follower {
    /// For a program: its modules, in the order in which they were linked.
    #[must_use]
    pub fn new(modules: Vec<Module>) -> Self {
        Self { code: Code::new(modules), threads: FxHashMap::default(), opaque: false }
    }

    fn enter(&mut self, thread: u32, place: Place, returns_here: bool) {
        let Self { code, threads, .. } = self;
        let thread = threads.entry(thread).or_default();
        let mut parameters = Vec::new();
        let mut has_caller = false;
        if let Some(caller) = thread.frames.last_mut().filter(|caller| caller.followed) {
            match caller.go_to_call(code, place, returns_here, &mut thread.decided) {
                Ok(true) => {
                    let call = &caller.function(code).instructions[caller.at as usize];
                    parameters = call.operands[1..].iter().map(|operand| caller.set(code, operand)).collect();
                    // What does not have a name there is taken from memory.
                    let known = code.function(place).parameters.len().min(parameters.len());
                    parameters.drain(known..).for_each(|surplus| surplus.decide(&mut thread.decided));
                    has_caller = true;
                }
                Ok(false) => {}
                Err(Lost) => thread.lose(),
            }
        }
        let followed = !code.known(place).opaque;
        thread.leaking += usize::from(code.known(place).leaks());
        if !followed {
            parameters.drain(..).for_each(|parameter| parameter.decide(&mut thread.decided));
        }
        let values = thread.spare.get_mut(&place).and_then(Vec::pop);
        let values = values.unwrap_or_else(|| vec![Set::Empty; code.function(place).instructions.len()]);
        thread.frames.push(Frame { place, at: 0, values, parameters, read: Set::Empty, has_caller, followed });
    }

    fn leave(&mut self, thread: u32, place: Place, at: u32) -> Result<(), Lost> {
        let Self { code, threads, .. } = self;
        let thread = threads.entry(thread).or_default();
        let Some(frame) = thread.frames.last_mut().filter(|frame| frame.place == place) else { return Err(Lost) };
        if frame.followed {
            frame.go_to(code, at, &mut thread.decided)?;
        }
        let last = &code.function(place).instructions[at as usize];
        let result =
            last.operands.first().filter(|_| frame.followed).map_or(Set::Empty, |operand| frame.set(code, operand));
        let is_return = matches!(last.operation, Operation::Return);
        let has_caller = frame.has_caller;
        thread.leaking -= usize::from(code.known(place).leaks());
        if let Some(gone) = thread.frames.pop() {
            thread.spare.entry(place).or_default().push(gone.values);
        }
        if !is_return || !has_caller {
            result.decide(&mut thread.decided);
        }
        match thread.frames.last_mut().filter(|_| has_caller) {
            Some(caller) if is_return => caller.go_past_call(code, result),
            // An exception goes on until somebody receives it; whoever does not is gone without a word.
            Some(caller) => caller.unwind(code).and_then(|received| if received { Ok(()) } else { Err(Lost) }),
            None if is_return => Ok(()),
            None => Err(Lost),
        }
    }

    /// Goes on to an instruction of the function that the thread is in.
    fn go_to(&mut self, thread: u32, site: u32) -> Result<(), Lost> {
        let (place, at) = self.code.site(site).ok_or(Lost)?;
        let thread = self.threads.entry(thread).or_default();
        let frame = thread.frames.last_mut().filter(|frame| frame.place == place && frame.followed).ok_or(Lost)?;
        frame.go_to(&self.code, at.ok_or(Lost)?, &mut thread.decided)
    }

    fn branch(&mut self, thread: u32, site: u32, value: u64) -> Result<(), Lost> {
        self.threads.entry(thread).or_default().chose = true;
        if self.is_opaque(thread, site) {
            return Ok(());
        }
        self.go_to(thread, site)?;
        let state = self.threads.entry(thread).or_default();
        let frame = state.frames.last_mut().ok_or(Lost)?;
        frame.branch(&self.code, value, &mut state.decided)
    }

    fn call(&mut self, thread: u32, site: u32) -> Result<(), Lost> {
        if self.is_opaque(thread, site) {
            return Ok(());
        }
        self.go_to(thread, site)?;
        let state = self.threads.entry(thread).or_default();
        let frame = state.frames.last_mut().ok_or(Lost)?;
        let call = &frame.function(&self.code).instructions[frame.at as usize];
        if !matches!(self.code.callee(frame.place, call), Callee::Own(_)) {
            for operand in &call.operands {
                frame.decide(&self.code, operand, &mut state.decided);
            }
        }
        Ok(())
    }

    /// Whether a site is in the function that the thread is in, and that is not followed.
    fn is_opaque(&self, thread: u32, site: u32) -> bool {
        let frame = self.threads.get(&thread).and_then(|thread| thread.frames.last());
        frame
            .is_some_and(|frame| !frame.followed && self.code.site(site).is_some_and(|(place, _)| place == frame.place))
    }

    /// What the instruction that an access came from does with values.
    fn access(&mut self, thread: u32, step: Step, needs: &mut Needs) -> Result<(), Lost> {
        let Some(site) = step.site else { return Ok(()) };
        if self.is_opaque(thread, site) {
            return Ok(());
        }
        self.go_to(thread, site)?;
        let code = &self.code;
        let state = self.threads.entry(thread).or_default();
        let hides = state.lost || state.leaking > 0;
        let frame = state.frames.last_mut().ok_or(Lost)?;
        let instruction = &frame.function(code).instructions[frame.at as usize];
        let written = match (&instruction.operation, &instruction.operands[..]) {
            (Operation::Load { .. }, [address]) => {
                frame.decide(code, address, &mut state.decided);
                Set::Empty
            }
            (Operation::Store { .. }, [value, address]) | (Operation::Update { .. }, [address, value]) => {
                frame.decide(code, address, &mut state.decided);
                frame.set(code, value)
            }
            (Operation::CompareExchange { .. }, [address, expected, new]) => {
                frame.decide(code, address, &mut state.decided);
                frame.decide(code, expected, &mut state.decided);
                frame.set(code, new)
            }
            (_, operands) => {
                operands.iter().for_each(|operand| frame.decide(code, operand, &mut state.decided));
                frame.read.clone()
            }
        };
        if hides || !step.writes {
            written.decide(&mut state.decided);
        }
        needs.values.extend(written.reads().map(|read| (read.first, read.count)));
        Ok(())
    }

    /// Whether what an instruction reads is followed.
    fn follows(&self, thread: u32, step: Step) -> bool {
        let here = || {
            let frame = self.threads.get(&thread)?.frames.last().filter(|frame| frame.followed)?;
            let place = self.code.site(step.site?)?;
            let instruction: &Instruction = frame.function(&self.code).instructions.get(frame.at as usize)?;
            (place == (frame.place, Some(frame.at))).then_some((frame.place, instruction))
        };
        let Some((place, instruction)) = here().filter(|_| !self.opaque) else { return false };
        match instruction.operation {
            Operation::Load { bytes, .. } => !step.writes && step.bytes == Some(bytes),
            Operation::Update { bytes, .. } => step.writes && step.bytes == Some(bytes),
            // Into what it writes next.
            Operation::Call => matches!(self.code.callee(place, instruction), Callee::Copies),
            _ => false,
        }
    }
}

impl Knowledge for Follower {
    fn enter(&mut self, thread: u32, site: u32, returns_here: bool) {
        match self.code.site(site) {
            Some((place, None)) if !self.opaque => self.enter(thread, place, returns_here),
            _ => self.lose(thread),
        }
    }

    fn leave(&mut self, thread: u32, site: u32) {
        let result = match self.code.site(site) {
            Some((place, Some(at))) if !self.opaque => self.leave(thread, place, at),
            _ => Err(Lost),
        };
        if result.is_err() {
            self.lose(thread);
        }
    }

    fn branch(&mut self, thread: u32, site: u32, value: u64) {
        if self.branch(thread, site, value).is_err() {
            self.lose(thread);
        }
    }

    fn call(&mut self, thread: u32, site: u32) {
        if self.call(thread, site).is_err() {
            self.lose(thread);
        }
    }

    fn before(&mut self, thread: u32, step: Step) -> Needs {
        let mut needs = Needs::default();
        if self.access(thread, step, &mut needs).is_err() {
            needs.values.clear();
            self.lose(thread);
        }
        let state = self.threads.entry(thread).or_default();
        needs.decisions = std::mem::take(&mut state.decided);
        needs.chose = std::mem::take(&mut state.chose);
        needs
    }

    fn after(&mut self, thread: u32, step: Step, first: u32, count: u32) {
        if !step.reads {
            return;
        }
        let read = Set::of(first, count);
        let followed = count <= MOST_EVENTS && self.follows(thread, step);
        let state = self.threads.entry(thread).or_default();
        match state.frames.last_mut() {
            Some(frame) if followed => frame.read = std::mem::take(&mut frame.read).and(&read, &mut state.decided),
            _ => read.decide(&mut state.decided),
        }
    }

    fn interrupts(&mut self) {
        self.opaque = true;
        self.threads.values_mut().for_each(Thread::lose);
    }
}

impl Follower {
    fn lose(&mut self, thread: u32) {
        self.threads.entry(thread).or_default().lose();
    }
}

impl Thread {
    /// What the frames hold may do anything from now on.
    fn lose(&mut self) {
        (self.lost, self.leaking) = (true, 0);
        for frame in self.frames.drain(..) {
            let held = frame.values.iter().chain(&frame.parameters).chain([&frame.read]);
            held.for_each(|set| set.decide(&mut self.decided));
        }
        self.chose = true;
    }
}
