//! Signal handlers: a thread with a pending signal runs its handler before anything else.

use super::{Interrupted, Phase, REGISTERS, SIGNAL, State};
use crate::model::clocks::Carrier;
use racehunter_log::{Event, EventNumber, Position, ThreadId};

impl State<'_> {
    /// Returns whether a thread runs the handler next.
    pub(super) fn takes_signal(&self, number: u32) -> bool {
        let thread = self.thread(number);
        thread.pending && thread.interrupted.is_none() && thread.phase == Phase::Running && !thread.over
    }

    /// Starts the handler of a thread that was chosen or has left a handler, if its signal is pending.
    pub(super) fn deliver(&mut self, number: u32) {
        if !self.takes_signal(number) {
            return;
        }
        let Some(handler) = self.program.handler else { return };
        let at = self.thread(number);
        let interrupted = Interrupted { body: at.body, position: at.position, registers: at.registers, code: at.code };
        let thread = self.thread_mut(number);
        thread.pending = false;
        thread.interrupted = Some(interrupted);
        thread.body = handler;
        thread.position = 0;
        thread.registers = [0; REGISTERS];
        thread.visits.clear();
        thread.touched.clear();
        thread.awaits = None;
        thread.woken = None;
        self.clocks.acquire(number, Carrier::Signal(number));
        self.note_handler(number, true);
        self.run_local(number);
    }

    /// Ends the handler that a thread runs.
    pub(super) fn leave_handler(&mut self, number: u32) {
        let Some(back) = self.thread_mut(number).interrupted.take() else { return };
        let thread = self.thread_mut(number);
        thread.body = back.body;
        thread.position = back.position;
        thread.registers = back.registers;
        thread.code = back.code;
        thread.visits.clear();
        thread.touched.clear();
        self.note_handler(number, false);
        self.deliver(number);
    }

    fn note_handler(&mut self, thread: u32, is_entry: bool) {
        let at = Position { number: EventNumber(self.events), thread: ThreadId(thread), ..Position::default() };
        self.notes.push(Event::Handler { signal: SIGNAL, is_entry }.record(at));
    }
}
