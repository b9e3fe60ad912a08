//! Executables: any file has symbols or not.
#![no_main]

use libfuzzer_sys::fuzz_target;
use racehunter_symbols::Symbols;
use std::hint::black_box;

fuzz_target!(|bytes: &[u8]| {
    let path = std::env::temp_dir().join(format!("racehunter-fuzz-{}", std::process::id()));
    if std::fs::write(&path, bytes).is_err() {
        return;
    }
    let _ = racehunter_ir::read_program(&path);
    if let Ok(symbols) = Symbols::load(&path) {
        for address in (0..0x6000).step_by(0x71) {
            for frame in symbols.frames(address) {
                black_box((symbols.element_size(&frame, "p->next"), symbols.form_of(&frame, "p->next", 8)));
            }
            black_box((symbols.data_symbol_of(address, 4), symbols.thread_local_of(address % 64, 4)));
        }
    }
});
