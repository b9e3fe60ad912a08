//! What is still running.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

/// Processes whose program is this file, also after it was deleted. Zombies have no program any more.
#[must_use]
pub fn running(program: &Path) -> Vec<u32> {
    let entries = fs::read_dir("/proc").expect("/proc can be read");
    let numbers = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    numbers
        .filter(|number: &u32| {
            fs::read_link(format!("/proc/{number}/exe"))
                .is_ok_and(|exe| exe.to_string_lossy().trim_end_matches(" (deleted)") == program.to_string_lossy())
        })
        .collect()
}

/// Waits until a condition holds; the message is for when it never does.
#[track_caller]
pub fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    for _ in 0..2000 {
        if holds() {
            return;
        }
        thread::sleep(Duration::from_millis(10));
    }
    panic!("{what}");
}

/// Fails when processes of this program stay.
#[track_caller]
pub fn expect_none(program: &Path) {
    // The kernel takes a moment to end a process that was killed.
    let name = program.display();
    eventually(&format!("processes of {name} are left"), || running(program).is_empty());
}
