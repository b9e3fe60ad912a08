//! The code of a program, as in its section: any bytes are an error, or modules that can be written again and linked.
#![no_main]

use libfuzzer_sys::fuzz_target;
use racehunter_ir::{decode_all, encode};
use racehunter_scan::Program;

fuzz_target!(|bytes: &[u8]| {
    let Ok(modules) = decode_all(bytes) else { return };
    for module in &modules {
        let again = decode_all(&encode(module).bytes).expect("what was decoded can be encoded");
        assert_eq!(again, std::slice::from_ref(module), "a module that was encoded is another one");
    }
    std::hint::black_box(racehunter_flow::Follower::new(modules.clone()));
    std::hint::black_box(Program::link(modules));
});
