//! Running processes.

use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

const TICK: Duration = Duration::from_millis(10);
/// Number of ticks after which waiting is pointless.
const PATIENCE: u32 = 3000;

/// Returns the numbers of all processes.
fn all() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").expect("/proc can be read");
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
}

/// Returns the processes whose program is this file, even if it was deleted. Zombies have no program.
#[must_use]
pub fn running(program: &Path) -> Vec<u32> {
    all()
        .filter(|number| {
            fs::read_link(format!("/proc/{number}/exe"))
                .is_ok_and(|exe| exe.to_string_lossy().trim_end_matches(" (deleted)") == program.to_string_lossy())
        })
        .collect()
}

/// Returns the processes that were started with this variable in their environment, whatever program they run now.
#[must_use]
pub fn marked(variable: &str, value: &str) -> Vec<u32> {
    let mark = format!("{variable}={value}");
    let has_mark = |number: &u32| {
        fs::read(format!("/proc/{number}/environ"))
            .is_ok_and(|variables| variables.split(|&byte| byte == 0).any(|entry| entry == mark.as_bytes()))
    };
    all().filter(has_mark).collect()
}

/// Kills processes.
pub fn end(numbers: &[u32]) {
    for pid in numbers.iter().filter_map(|number| Pid::from_raw(i32::try_from(*number).ok()?)) {
        // An error means that it has already ended.
        let _ = kill_process(pid, Signal::KILL);
    }
}

/// Waits until a condition holds; the message is for the case that it never does.
#[track_caller]
pub fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    for _ in 0..PATIENCE {
        if holds() {
            return;
        }
        thread::sleep(TICK);
    }
    panic!("{what}");
}

/// Fails if processes of this program remain, and kills them.
#[track_caller]
pub fn expect_none(program: &Path) {
    // The kernel takes a moment to end a killed process.
    for _ in 0..PATIENCE {
        if running(program).is_empty() {
            return;
        }
        thread::sleep(TICK);
    }
    let left = running(program);
    end(&left);
    panic!("processes of {} are left: {left:?}", program.display());
}
