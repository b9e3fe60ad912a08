//! Measures how long an execution takes, whatever else the machine does.
//!
//! A computing program is charged for the processor time that it gets, a waiting one for real time. Beside other work, the same
//! execution therefore reaches the same limit, only later.

use std::fs;
use std::time::{Duration, Instant};

/// Follows one execution.
pub(crate) struct Stopwatch {
    charged: Duration,
    last: Instant,
    /// The process examined last, and its processor time then.
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

    /// Charges for what happened since the last call. Without a process, real time counts. Returns the sum.
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
    /// `USER_HZ` has this value on all supported systems.
    const TICK: Duration = Duration::from_millis(10);
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name of the program is in parentheses, and may contain some itself.
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
    fn waiting_is_charged_in_real_time_and_computing_in_processor_time() {
        assert!(charged("read line").as_millis() >= 200);
        let busy = charged("while :; do :; done");
        assert!(busy.as_millis() <= 450, "{busy:?}");
    }

    #[test]
    fn a_missing_process_is_charged_in_real_time() {
        let mut watch = Stopwatch::start();
        std::thread::sleep(Duration::from_millis(30));
        assert!(watch.charge(None).as_millis() >= 30);
    }
}
