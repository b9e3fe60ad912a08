//! Campaigns on a small program, and damage to their states.

use racehunter_analyses::{Options, Technique};
use racehunter_explore::model::{ModelExecutor, Op, Program, Value};
use racehunter_explore::{Budget, Campaign, Watcher};

/// Two threads that add to a variable, with a lock around the read only.
pub fn executor() -> ModelExecutor {
    let add = vec![Op::Lock(0), Op::Read(0, 0), Op::Unlock(0), Op::Write(0, Value::RegPlus(0, 1))];
    ModelExecutor::new(Program::fork_join(vec![add; 2], vec![Op::Read(0, 0), Op::Assert(0, 2)]))
}

/// Returns a campaign of the technique with this number, with at most this many executions.
pub fn campaign(which: u8, runs: u64, watcher: &mut dyn Watcher) -> Campaign<'_> {
    let technique = Technique::NAMES[usize::from(which) % Technique::NAMES.len()].1;
    let budget = Budget { runs: Some(runs), max_events: 1_000, ..Budget::default() };
    Campaign::new(technique.portfolio(&Options::default()), budget, watcher)
}

/// Changes a state as the input says, two bytes for the position and one for the bits, and corrects its checksum.
pub fn damage(state: &mut [u8], edits: &[u8]) {
    let content = state.len() - 4;
    for edit in edits.chunks_exact(3) {
        let at = usize::from(u16::from_le_bytes([edit[0], edit[1]])) % content;
        state[at] ^= edit[2];
    }
    let sum = crc32fast::hash(&state[..content]);
    state[content..].copy_from_slice(&sum.to_le_bytes());
}
