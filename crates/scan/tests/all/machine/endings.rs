//! Exceptions, and what the main thread runs before and after `main`.

use super::{Frame, Machine, State};
use racehunter_ir::Operation;

impl Machine<'_> {
    /// Lets the main thread call what comes next; returns false if there is nothing.
    pub(super) fn go_to_later(&self, state: &mut State, thread: usize) -> bool {
        if thread == 0 && std::mem::take(&mut state.is_early) {
            state.threads[0].frames = self.thread(0, 0).frames;
            return true;
        }
        let next = if thread == 0 { state.later.pop() } else { None };
        let Some((function, argument)) = next else { return false };
        state.threads[thread].frames = self.thread(function, argument).frames;
        true
    }

    /// Returns the instruction where an exception continues in the innermost function, and whether a handler stops it.
    fn pad(&self, frame: &Frame) -> Option<(usize, bool)> {
        let code = self.code(frame.function);
        let Operation::Invoke { unwind, .. } = code.instructions[frame.at].operation else { return None };
        let first = code.blocks[unwind.0 as usize].0 as usize;
        Some((first, !code.instructions[first].operands.is_empty()))
    }

    pub(super) fn is_caught(&self, state: &State, thread: usize) -> bool {
        state.threads[thread].frames.iter().any(|frame| self.pad(frame).is_some_and(|(_, stops)| stops))
    }

    /// Leaves functions up to the next pad.
    pub(super) fn unwind(&self, state: &mut State, thread: usize) {
        let ends = state.threads[thread].ends;
        while let Some(frame) = state.threads[thread].frames.last() {
            if let Some((at, stops)) = self.pad(frame)
                && !(ends && stops)
            {
                state.threads[thread].frames.last_mut().unwrap().at = at;
                return;
            }
            state.threads[thread].frames.pop();
        }
    }
}
