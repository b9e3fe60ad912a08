//! Saved campaigns, from which a hunt resumes: any bytes are refused, or are a state that can be summarised and saved
//! again.
//!
//! The input selects a campaign, how far it has got, and what to change in its state: two bytes for the position, one
//! for the bits. The checksum is corrected, because it would keep the fuzzer out.
#![no_main]

use libfuzzer_sys::fuzz_target;
use racehunter_analyses::{Options, Technique};
use racehunter_explore::model::{ModelExecutor, Op, Program, Value};
use racehunter_explore::{Budget, Campaign, Progress, Stop};

fuzz_target!(|bytes: &[u8]| {
    let [which, steps, edits @ ..] = bytes else { return };
    let technique = Technique::NAMES[usize::from(*which) % Technique::NAMES.len()].1;
    let add = vec![Op::Lock(0), Op::Read(0, 0), Op::Unlock(0), Op::Write(0, Value::RegPlus(0, 1))];
    let program = Program::fork_join(vec![add; 2], vec![Op::Read(0, 0), Op::Assert(0, 2)]);
    let mut executor = ModelExecutor::new(program);
    let budget = Budget { runs: Some(200), max_events: 1_000, ..Budget::default() };
    let mut progress = |_: Progress| ();
    let mut campaign = Campaign::new(technique.portfolio(&Options::default()), budget, &mut progress);
    for _ in 0..steps % 8 {
        campaign.advance(&mut executor, &mut || false);
    }
    let mut state = Vec::new();
    campaign.save(&mut state).expect("memory takes it");
    let content = state.len() - 4;
    for edit in edits.chunks_exact(3) {
        let at = usize::from(u16::from_le_bytes([edit[0], edit[1]])) % content;
        state[at] ^= edit[2];
    }
    let sum = crc32fast::hash(&state[..content]);
    state[content..].copy_from_slice(&sum.to_le_bytes());
    let mut progress = |_: Progress| ();
    let mut campaign = Campaign::new(technique.portfolio(&Options::default()), budget, &mut progress);
    if campaign.resume(&mut &state[..], &mut executor).is_ok() {
        std::hint::black_box(campaign.summary(Stop::Asked));
        campaign.save(&mut Vec::new()).expect("memory takes it");
    }
});
