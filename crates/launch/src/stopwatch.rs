//! How long an execution takes, whatever else the machine does.
//!
//! A program that computes is charged for the processor time that it gets, one that waits for the time that passes. So the same
//! execution comes to the same limit beside other work, only later.

use std::fs;
use std::time::{Duration, Instant};

/// Follows one execution.
pub(crate) struct Stopwatch {
    charged: Duration,
    last: Instant,
    /// The process that was looked at last, and its processor time then.
    process: Option<(u32, Duration)>,
}

/// What the kernel says about a process.
struct Usage {
    processor: Duration,
    is_runnable: bool,
}

impl Stopwatch {
    pub(crate) fn start() -> Self {
        Self { charged: Duration::ZERO, last: Instant::now(), process: None }
    }

    /// Charges for what happened since the last look; nothing is known where there is no process. Returns the sum.
    pub(crate) fn charge(&mut self, process: Option<u32>) -> Duration {
        let passed = self.last.elapsed();
        self.last += passed;
        let usage = process.and_then(|pid| Some((pid, usage(pid)?)));
        self.charged += match (&usage, self.process) {
            (Some((pid, now)), Some((before, then))) if *pid == before => match now.processor.saturating_sub(then) {
                Duration::ZERO if now.is_runnable => Duration::ZERO,
                Duration::ZERO => passed,
                used => used,
            },
            (Some((_, now)), _) if now.is_runnable => now.processor.min(passed),
            _ => passed,
        };
        self.process = usage.map(|(pid, now)| (pid, now.processor));
        self.charged
    }
}

fn usage(pid: u32) -> Option<Usage> {
    /// `USER_HZ` is this on all systems that there are.
    const TICK: Duration = Duration::from_millis(10);
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name of the program is in parentheses, and may have some itself.
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace();
    let is_runnable = fields.next()? == "R";
    let mut times = fields.skip(10).filter_map(|field| field.parse::<u32>().ok());
    Some(Usage { processor: TICK * (times.next()?.saturating_add(times.next()?)), is_runnable })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    fn charged(program: &str) -> Duration {
        let mut child = Command::new("sh")
            .args(["-c", program])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .expect("there is a shell");
        let mut watch = Stopwatch::start();
        let began = Instant::now();
        let mut sum = Duration::ZERO;
        while began.elapsed() < Duration::from_millis(300) {
            std::thread::sleep(Duration::from_millis(20));
            sum = watch.charge(Some(child.id()));
        }
        child.kill().expect("ours");
        child.wait().expect("ours");
        sum
    }

    #[test]
    fn waiting_counts_in_full_and_computing_by_the_processor() {
        assert!(charged("read line").as_millis() >= 200);
        let busy = charged("while :; do :; done");
        assert!(busy.as_millis() <= 450, "{busy:?}");
    }

    #[test]
    fn what_is_not_there_counts_by_the_clock() {
        let mut watch = Stopwatch::start();
        std::thread::sleep(Duration::from_millis(30));
        assert!(watch.charge(None).as_millis() >= 30);
    }
}
