//! What coordinator and workers read from the engine of a hunt on many machines: any bytes are refused, or are a message that survives
//! encoding; a state that a worker hands in is refused and changes nothing, or is taken.
//!
//! The first byte selects: messages, or a state. For a state the second byte selects the technique, and the rest what to change in a
//! valid one: two bytes for the position, one for the bits. The checksum is corrected, because it would keep the fuzzer out.
#![no_main]

#[path = "shared/campaigns.rs"]
mod campaigns;

use campaigns::{campaign, damage, executor};
use libfuzzer_sys::fuzz_target;
use racehunter_explore::{Progress, Share, Stop};
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
    let mut executor = executor();
    let mut silent = |_: Progress| ();
    let mut hunt = campaign(which, 200, &mut silent);
    if !hunt.lends() {
        return;
    }
    for _ in 0..3 {
        hunt.advance(&mut executor, &mut || false);
    }
    let state = hunt.lend(Share { number: 7, of: 2, most: 100 }).expect("memory takes it");
    let mut silent = |_: Progress| ();
    let mut part = campaign(which, 9, &mut silent);
    part.borrow(&state).expect("it was just written");
    while part.advance(&mut executor, &mut || false).is_none() {}
    let mut state = Vec::new();
    part.save(&mut state).expect("memory takes it");
    damage(&mut state, edits);
    let mut silent = |_: Progress| ();
    let scratch = campaign(which, 200, &mut silent);
    if hunt.take_back((7, 9), scratch, (&state, false), &mut executor).is_ok() {
        if hunt.settle(&mut || false).is_none() {
            hunt.lend(Share { number: 8, of: 1, most: 100 }).expect("memory takes it");
        }
        std::hint::black_box(hunt.summary(Stop::Asked));
    }
}
