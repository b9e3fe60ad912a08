//! Functions that are called once (`pthread_once`): the call has ended when any call for the same variable returns.

use super::SyncEvent;
use crate::models::Model;
use crate::pointer::InstanceId;
use crate::solver::Solver;
use racehunter_ir::Instruction;

impl Solver<'_, '_> {
    /// Returns the event that has happened when a call returns: its argument has been called, by any thread.
    pub(crate) fn once(&self, id: InstanceId, at: u32, call: &Instruction) -> Option<SyncEvent> {
        let instance = &self.points_to.instances[id];
        let mut names = instance.outside.get(&at)?.iter();
        let name = names.next().filter(|_| names.next().is_none())?;
        let Some(Model::Call(call_back)) = self.points_to.models.of(name) else { return None };
        let control = call.operands.get(call_back.once? + 1)?;
        self.key(&self.points_to.operand(id, control)).map(SyncEvent::Once)
    }
}
