//! Trace files: any bytes are an error or a trace, and a trace can be written again, read and predicted from.
#![no_main]

use libfuzzer_sys::fuzz_target;
use racehunter_predict::{Index, Options, predict};
use racehunter_trace::{Trace, file, text};
use std::hint::black_box;

fuzz_target!(|bytes: &[u8]| {
    for trace in [read(bytes), text::read(bytes).ok()].into_iter().flatten() {
        let mut again = Vec::new();
        file::write(&trace, &mut again).expect("memory takes it");
        assert_eq!(read(&again).as_ref(), Some(&trace), "a trace that was written is another one");
        if trace.len() < 200
            && let Ok(index) = Index::new(&trace)
        {
            // The validator checks each witness; it must not be wrong.
            black_box(predict(&index, &Options { attempts: 3, ..Options::default() }, &|| false));
        }
    }
});

/// The trace in a file. Checksums would keep the fuzzer out, so they are made right first.
fn read(bytes: &[u8]) -> Option<Trace> {
    let mut bytes = bytes.to_vec();
    file::mend_checksums(&mut bytes);
    file::Reader::new(&bytes[..]).ok()?.read().ok()
}
