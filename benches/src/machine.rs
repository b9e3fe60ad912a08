//! The machine of the measurements.

use std::fs;

/// Returns the load average, as the kernel writes it.
pub fn load() -> String {
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    load.split_ascii_whitespace().take(3).collect::<Vec<_>>().join(" ")
}

/// Returns the number of usable processors.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Returns one line about the machine; `before` is the load at the start of the measurement.
pub fn heading(before: &str) -> String {
    let facts = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = facts.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": ").map(|(_, name)| name));
    let cores = cores();
    format!("{}, {cores} cores, load average {before} before, {} after", model.unwrap_or("unknown processor"), load())
}
