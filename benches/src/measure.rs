//! Times and statistics over them. All times are in seconds.

use anyhow::{Context as _, Result, bail};
use std::io::{self, Read as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// The cost of a native run.
pub struct Run {
    /// Processor time of the program and all its children, user and system.
    pub cpu: f64,
    /// Peak memory in bytes.
    pub memory: f64,
    /// Its standard output.
    pub output: String,
    /// Its status, as the system reports it.
    status: i32,
}

/// Runs a program to its end, without address randomisation: otherwise ThreadSanitizer does not always find room for
/// its shadow.
pub fn native(command: &mut Command) -> Result<Run> {
    // SAFETY: between fork and exec only one system call is made.
    unsafe {
        command.pre_exec(|| {
            libc::personality(libc::ADDR_NO_RANDOMIZE as libc::c_ulong);
            Ok(())
        })
    };
    let run = child(command)?;
    if run.status != 0 {
        bail!("{command:?} failed (wait status {})", run.status);
    }
    Ok(run)
}

/// Runs a program to its end, whatever its status.
pub fn child(command: &mut Command) -> Result<Run> {
    let mut child = command.stdout(Stdio::piped()).spawn().with_context(|| format!("cannot run {command:?}"))?;
    let mut output = String::new();
    let (mut memory, done) = (0.0, AtomicBool::new(false));
    let mut status = 0;
    // SAFETY: all numbers, for which zero is valid.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    let pid = child.id();
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                memory = most_memory(pid).unwrap_or(memory);
                thread::sleep(Duration::from_millis(5));
            }
        });
        let result = child.stdout.as_mut().map_or(Ok(0), |stdout| stdout.read_to_string(&mut output));
        // SAFETY: waits for a child of our own that nothing else waits for; both places are valid.
        while unsafe { libc::wait4(pid as i32, &mut status, 0, &mut usage) } < 0 {
            let error = io::Error::last_os_error();
            if error.kind() != io::ErrorKind::Interrupted {
                done.store(true, Ordering::Relaxed);
                return Err(error).with_context(|| format!("cannot wait for {command:?}"));
            }
        }
        done.store(true, Ordering::Relaxed);
        result.map(drop).context("cannot read what it writes")
    })?;
    Ok(Run { cpu: processor_time(&usage), memory, output, status })
}

/// Returns the peak memory of a process so far, in bytes. The system's figure at its end would include what this
/// process had when it started it.
fn most_memory(pid: u32) -> Option<f64> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().trim_end_matches(" kB").parse::<f64>().ok()? * 1024.0)
}

/// Keeps all threads of a program on the processor on which it starts.
pub fn on_one_processor(command: &mut Command) -> &mut Command {
    // SAFETY: between fork and exec only system calls are made; the set is all numbers, for which zero is valid, and the
    // processor is one that it has room for.
    unsafe {
        command.pre_exec(|| {
            let mut one: libc::cpu_set_t = std::mem::zeroed();
            libc::CPU_SET(libc::sched_getcpu().max(0) as usize, &mut one);
            match libc::sched_setaffinity(0, size_of_val(&one), &one) {
                0 => Ok(()),
                _ => Err(io::Error::last_os_error()),
            }
        })
    }
}

/// Returns the resident memory of this process, in bytes.
pub fn resident() -> Result<f64> {
    let text = std::fs::read_to_string("/proc/self/statm").context("cannot read /proc/self/statm")?;
    let pages: f64 = text.split(' ').nth(1).and_then(|pages| pages.parse().ok()).context("no number of pages")?;
    Ok(pages * 4096.0)
}

/// Returns the processor time of this process so far.
pub fn own_cpu() -> f64 {
    usage_of(libc::RUSAGE_SELF)
}

/// Returns the processor time so far of this process and of all its descendants that have ended and were waited for.
pub fn tree_cpu() -> f64 {
    usage_of(libc::RUSAGE_SELF) + usage_of(libc::RUSAGE_CHILDREN)
}

fn usage_of(whose: i32) -> f64 {
    // SAFETY: all numbers, for which zero is valid.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: writes to a place of our own.
    unsafe { libc::getrusage(whose, &mut usage) };
    processor_time(&usage)
}

fn processor_time(usage: &libc::rusage) -> f64 {
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

/// Returns the median; for an even number the mean of the two in the middle. There must be at least one value.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[middle] } else { (sorted[middle - 1] + sorted[middle]) / 2.0 }
}

/// Measures several things in turn, so that other load on the machine affects all of them alike, and returns the median
/// of each.
pub fn medians<const N: usize>(repeats: usize, mut measures: [&mut dyn FnMut() -> Result<f64>; N]) -> Result<[f64; N]> {
    let mut series = [const { Vec::new() }; N];
    for _ in 0..repeats.max(1) {
        for (measure, values) in measures.iter_mut().zip(&mut series) {
            values.push(measure()?);
        }
    }
    Ok(series.map(|values| median(&values)))
}

/// Returns the cost of one more item: the difference between many and few, which leaves out everything that is done
/// once.
pub fn per_item([few, many]: [u64; 2], mut cost: impl FnMut(u64) -> Result<f64>) -> Result<f64> {
    let (small, large) = (cost(few)?, cost(many)?);
    Ok((large - small) / (many - few) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!(median(&[3.0]), 3.0);
        assert_eq!(median(&[9.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[9.0, 1.0, 2.0, 4.0]), 3.0);
    }

    #[test]
    fn medians_measure_in_turn() {
        let order = std::cell::RefCell::new(Vec::new());
        let mut first = || {
            order.borrow_mut().push('a');
            Ok(order.borrow().len() as f64)
        };
        let mut second = || {
            order.borrow_mut().push('b');
            Ok(-1.0)
        };
        let [a, b] = medians(3, [&mut first, &mut second]).unwrap();
        assert_eq!((a, b), (3.0, -1.0));
        assert_eq!(order.borrow().iter().collect::<String>(), "ababab");
    }

    #[test]
    fn an_item_costs_what_it_adds() {
        assert_eq!(per_item([10, 110], |items| Ok(7.0 + 2.0 * items as f64)).unwrap(), 2.0);
    }

    #[test]
    fn time_of_a_child_is_counted() {
        let run = native(Command::new("sh").args(["-c", "echo hello"])).unwrap();
        assert_eq!(run.output, "hello\n");
        assert!(native(Command::new("sh").args(["-c", "exit 3"])).is_err());
    }
}
