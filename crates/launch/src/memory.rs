//! Measures the memory of an execution.
//!
//! Only the program's own memory counts: not memory that it shares with others (files, the control region), and not the
//! shadow, which takes four times what the program touches. The kernel reports the sum of program and shadow cheaply.
//! Separating them requires a walk over the mappings, which is made only when necessary: the shadow never shrinks, so
//! an earlier value remains a lower bound.

use std::fs;
use std::ops::Range;

/// Measures one execution repeatedly.
#[derive(Default)]
pub(crate) struct Gauge {
    /// Size of the shadow when it was last measured.
    shadow_kib: u64,
}

impl Gauge {
    /// Returns whether the program takes more than the limit, or leaves almost no memory to the rest of the system.
    pub(crate) fn exceeds(&mut self, pid: u32, limit_kib: u64, shadow: &Range<u64>) -> bool {
        /// A smaller program is not the cause of a memory shortage.
        const LARGE: u64 = 1 << 20;
        let all = private_kib(pid);
        if all.saturating_sub(self.shadow_kib) > limit_kib {
            self.shadow_kib = resident_kib(pid, shadow);
            if all.saturating_sub(self.shadow_kib) > limit_kib {
                return true;
            }
        }
        all > LARGE && is_scarce()
    }
}

/// Returns the private anonymous resident memory.
fn private_kib(pid: u32) -> u64 {
    let statm = fs::read_to_string(format!("/proc/{pid}/statm")).unwrap_or_default();
    let mut pages = statm.split_ascii_whitespace().skip(1).filter_map(|pages| pages.parse::<u64>().ok());
    let (resident, shared) = (pages.next().unwrap_or(0), pages.next().unwrap_or(0));
    resident.saturating_sub(shared) * 4
}

/// Returns the resident memory in an address range.
fn resident_kib(pid: u32, range: &Range<u64>) -> u64 {
    let smaps = fs::read_to_string(format!("/proc/{pid}/smaps")).unwrap_or_default();
    let mut inside = false;
    let mut sum = 0;
    for line in smaps.lines() {
        if let Some(kib) = line.strip_prefix("Rss:") {
            sum += if inside { kib_of(kib) } else { 0 };
        } else if let Some(start) = line.split_once('-').and_then(|(start, _)| u64::from_str_radix(start, 16).ok()) {
            inside = range.contains(&start);
        }
    }
    sum
}

/// Returns whether the machine has hardly any memory left.
fn is_scarce() -> bool {
    const ONE_IN: u64 = 32;
    let meminfo = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let field = |name: &str| meminfo.lines().find_map(|line| line.strip_prefix(name)).map(kib_of);
    match (field("MemTotal:"), field("MemAvailable:")) {
        (Some(total), Some(available)) => available < total / ONE_IN,
        _ => false,
    }
}

/// ` 123 kB`
fn kib_of(text: &str) -> u64 {
    text.split_ascii_whitespace().next().and_then(|number| number.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resident_memory_is_counted_by_address_range() {
        let block = vec![1_u8; 64 << 20];
        let (start, end) = (block.as_ptr() as u64, block.as_ptr() as u64 + block.len() as u64);
        let pid = std::process::id();
        let whole = private_kib(pid);
        assert!(whole >= 64 << 10);
        // The allocator's header precedes the block, in the same mapping.
        let inside = resident_kib(pid, &(start - 4096..end));
        assert!(inside >= 64 << 10 && inside <= whole, "{inside} of {whole}");
        assert!(Gauge::default().exceeds(pid, 1 << 10, &(0..0)));
        assert!(!Gauge::default().exceeds(pid, 1 << 40, &(0..0)));
        assert!(!Gauge::default().exceeds(pid, whole - (32 << 10), &(start - 4096..end)));
        drop(block);
    }
}
