//! Saved campaigns, from which a hunt resumes: any bytes are refused, or are a state that can be summarised and saved
//! again.
//!
//! The input selects a campaign, how far it has got, and what to change in its state: two bytes for the position, one
//! for the bits. The checksum is corrected, because it would keep the fuzzer out.
#![no_main]

#[path = "shared/campaigns.rs"]
mod campaigns;

use campaigns::{campaign, damage, executor};
use libfuzzer_sys::fuzz_target;
use racehunter_explore::{Progress, Stop};

fuzz_target!(|bytes: &[u8]| {
    let [which, steps, edits @ ..] = bytes else { return };
    let mut executor = executor();
    let mut silent = |_: Progress| ();
    let mut hunt = campaign(*which, 200, &mut silent);
    for _ in 0..steps % 8 {
        hunt.advance(&mut executor, &mut || false);
    }
    let mut state = Vec::new();
    hunt.save(&mut state).expect("memory takes it");
    damage(&mut state, edits);
    let mut silent = |_: Progress| ();
    let mut hunt = campaign(*which, 200, &mut silent);
    if hunt.resume(&mut &state[..], &mut executor).is_ok() {
        std::hint::black_box(hunt.summary(Stop::Asked));
        hunt.save(&mut Vec::new()).expect("memory takes it");
    }
});
