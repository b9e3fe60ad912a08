//! Descriptions of functions for `racehunter scan`: any file is an error or a valid description.
#![no_main]

use libfuzzer_sys::fuzz_target;
use racehunter_scan::Models;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let mut models = Models::default();
    if models.extend(text).is_ok() {
        for name in ["pthread_mutex_lock", "f", "g"] {
            models.of(name);
        }
    }
});
