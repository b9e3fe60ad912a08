//! What coordinator and workers read from the engine of a hunt on many machines: any bytes are refused, or are a message that survives
//! encoding; a state that a worker hands in is refused and changes nothing, or is taken.
//!
//! The first byte selects: messages, or a state. For a state the second byte selects the technique, and the rest what to change in a
//! valid one: two bytes for the position, one for the bits. The checksum is corrected, because it would keep the fuzzer out.
#![no_main]

use libfuzzer_sys::fuzz_target;
use racehunter_analyses::{Options, Technique};
use racehunter_explore::model::{ModelExecutor, Op, Program, Value};
use racehunter_explore::{Budget, Campaign, Progress, Share, Stop};
use racehunter_hunter::fleet::{Announcement, Part, PartResult, Status, WorkerStatus};

fuzz_target!(|bytes: &[u8]| {
    match bytes {
        [0, rest @ ..] => {
            if let Some(part) = Part::decode(rest) {
                assert_eq!(Part::decode(&part.encode()), Some(part));
            }
            if let Some(result) = PartResult::decode(rest) {
                assert_eq!(PartResult::decode(&result.encode()), Some(result));
            }
            let _ = serde_json::from_slice::<Status>(rest);
            let _ = serde_json::from_slice::<WorkerStatus>(rest);
            if let Ok(announcement) = serde_json::from_slice::<Announcement>(rest) {
                let _ = announcement.check("0.2.0", &[]);
            }
        }
        [_, which, edits @ ..] => state(*which, edits),
        _ => {}
    }
});

fn state(which: u8, edits: &[u8]) {
    let technique = Technique::NAMES[usize::from(which) % Technique::NAMES.len()].1;
    let add = vec![Op::Lock(0), Op::Read(0, 0), Op::Unlock(0), Op::Write(0, Value::RegPlus(0, 1))];
    let program = Program::fork_join(vec![add; 2], vec![Op::Read(0, 0), Op::Assert(0, 2)]);
    let mut executor = ModelExecutor::new(program);
    let budget = Budget { runs: Some(200), max_events: 1_000, ..Budget::default() };
    let mut progress = |_: Progress| ();
    let mut campaign = Campaign::new(technique.portfolio(&Options::default()), budget, &mut progress);
    if !campaign.lends() {
        return;
    }
    for _ in 0..3 {
        campaign.advance(&mut executor, &mut || false);
    }
    let state = campaign.lend(Share { number: 7, of: 2, most: 100 }).expect("memory takes it");
    let mut silent = |_: Progress| ();
    let few = Budget { runs: Some(9), ..budget };
    let mut part = Campaign::new(technique.portfolio(&Options::default()), few, &mut silent);
    part.borrow(&state).expect("it was just written");
    while part.advance(&mut executor, &mut || false).is_none() {}
    let mut state = Vec::new();
    part.save(&mut state).expect("memory takes it");
    let content = state.len() - 4;
    for edit in edits.chunks_exact(3) {
        let at = usize::from(u16::from_le_bytes([edit[0], edit[1]])) % content;
        state[at] ^= edit[2];
    }
    let sum = crc32fast::hash(&state[..content]);
    state[content..].copy_from_slice(&sum.to_le_bytes());
    let mut silent = |_: Progress| ();
    let scratch = Campaign::new(technique.portfolio(&Options::default()), budget, &mut silent);
    if campaign.take_back((7, 9), scratch, (&state, false), &mut executor).is_ok() {
        if campaign.settle(&mut || false).is_none() {
            campaign.lend(Share { number: 8, of: 1, most: 100 }).expect("memory takes it");
        }
        std::hint::black_box(campaign.summary(Stop::Asked));
    }
}
