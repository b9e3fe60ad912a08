//! Logs of executions, to which a program under test can write anything: any content is read to its end.
#![no_main]

use libfuzzer_sys::fuzz_target;
use racehunter_abi::{Kind, Record};
use racehunter_explore::{Execution, LastVariables, Outcome, conflicts, decisions, reported_sites, shared_sites};
use racehunter_log::{CodeAddress, EventNumber, History, ThreadId};
use racehunter_predict::{Index, Options, predict};
use racehunter_trace::recording::Recording;
use std::hint::black_box;

/// Bytes for a record, mostly small numbers.
const LENGTH: usize = 12;

fuzz_target!(|bytes: &[u8]| {
    let mut index = 0_u64;
    let records: Vec<Record> = bytes
        .chunks_exact(LENGTH)
        .filter_map(|word| {
            index = index.wrapping_add(u64::from(word[0] % 4)).wrapping_sub(u64::from(word[0] == 255));
            let wide = |byte: u8| if byte == 255 { u64::MAX } else { byte.into() };
            let record = Record {
                index: EventNumber(index),
                code: CodeAddress(word[1].into()),
                object: wide(word[2]) << (word[3] % 64),
                // Accesses without end take their time: few of them will do.
                extra: if word[3] == 255 { wide(word[4]) } else { word[4].into() },
                thread: ThreadId(if word[5] == 255 { u32::MAX } else { (word[5] % 40).into() }),
                stack: word[6].into(),
                site: word[7].into(),
                kind: Kind::from_byte(word[8])?,
                size: word[9],
                detail: word[10],
                reserved: 0,
            };
            record.is_plausible().then_some(record)
        })
        .collect();
    let stacks = bytes.iter().map(|&byte| byte.into()).collect();
    let outcome = if bytes.len() % 2 == 0 { Outcome::Deadlock } else { Outcome::Exited(0) };
    let execution =
        Execution { records, stacks, outcome, events: index, threads: 8, partial: false, output: Vec::new() };
    let mut all = decisions(&execution);
    while all.next().is_some() {
        all.others().count();
        all.ready().count();
    }
    black_box((execution.bugs(), execution.repeat()));
    black_box((shared_sites(&execution), reported_sites(&execution), conflicts(&execution)));
    LastVariables::new(&execution).before(EventNumber::NEVER, ThreadId(1));
    History::new(&execution.records).before(EventNumber::NEVER);
    if execution.records.len() < 200
        && let Ok(recording) = Recording::of(&execution.records)
        && let Ok(index) = Index::new(&recording.trace)
    {
        for prediction in predict(&index, &Options { attempts: 3, ..Options::default() }, &|| false).predictions {
            black_box(recording.schedule(prediction.witness.events(), &prediction.events));
        }
    }
});
