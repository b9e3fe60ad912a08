//! The output of executions.
//!
//! Standard output and error go to one memory file, one execution after the other. A program can write any amount, as to any
//! other file: only the end of its output is kept, and the memory of the rest is released while it runs.

use racehunter_explore::LEFT_OUT;
use std::fs::File;
use std::io::{self, Seek, SeekFrom};
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::fs::FileExt;
use std::time::Duration;

/// Maximum amount that should be written between two checks.
const BETWEEN: u64 = 16 << 20;
/// Minimum time between two checks.
const SHORTEST: Duration = Duration::from_millis(1);
const PAGE: u64 = 4096;

/// The output file of one server.
pub(crate) struct Output {
    file: File,
    /// Number of bytes kept per execution.
    keep: u64,
    /// Where the output of each execution of this request starts, as far as seen.
    begins: Vec<u64>,
    /// Everything before this was kept or released.
    given_back: u64,
    /// The end of the file at the last check.
    seen: u64,
    /// Whether it grows fast.
    hurries: bool,
}

impl Output {
    pub(crate) fn new(keep: u64) -> io::Result<Self> {
        // SAFETY: a plain system call that creates a new file.
        let file = unsafe {
            let fd = libc::memfd_create(c"output".as_ptr(), libc::MFD_CLOEXEC);
            if fd < 0 {
                return Err(io::Error::last_os_error());
            }
            File::from_raw_fd(fd)
        };
        Ok(Self { file, keep, begins: Vec::new(), given_back: 0, seen: 0, hurries: false })
    }

    /// Returns the same file, for the program.
    pub(crate) fn file(&self) -> io::Result<File> {
        self.file.try_clone()
    }

    /// Starts a request, and drops the output of the last one.
    pub(crate) fn begin(&mut self) {
        (self.given_back, self.seen, self.hurries) = (0, 0, false);
        self.begins.clear();
        // Best effort: at worst some old output follows the new one.
        let _ = self.file.set_len(0);
        let _ = self.file.seek(SeekFrom::Start(0));
    }

    /// Returns where the program writes next.
    pub(crate) fn position(&self) -> u64 {
        (&self.file).stream_position().unwrap_or(0)
    }

    /// Returns how long to wait until the next check.
    pub(crate) fn tick(&self, usual: Duration) -> Duration {
        if self.hurries { SHORTEST } else { usual }
    }

    /// Releases memory while the execution in slot `running` runs. `begin` gives the start of a slot's output, and is not
    /// trusted.
    pub(crate) fn follow(&mut self, running: usize, begin: impl Fn(usize) -> u64) {
        let end = self.position();
        self.hurries = end.saturating_sub(self.seen) > BETWEEN;
        self.seen = end;
        if end <= self.given_back + self.keep {
            return;
        }
        while self.begins.len() <= running {
            let least = self.begins.last().copied().unwrap_or(0);
            self.begins.push(begin(self.begins.len()).clamp(least, end.max(least)));
        }
        for slot in 0..=running {
            let next = if slot < running { self.begins[slot + 1] } else { end };
            let (from, to) = (self.begins[slot].max(self.given_back), next.saturating_sub(self.keep));
            if to > from {
                self.give_back(from, to);
            }
        }
        // Nothing more of this execution will be released.
        let done = end.saturating_sub(self.keep) / PAGE * PAGE;
        self.given_back = self.begins[running].max(done).min(end);
    }

    fn give_back(&self, from: u64, to: u64) {
        let (from, to) = (from.div_ceil(PAGE) * PAGE, to / PAGE * PAGE);
        if from < to {
            let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
            // SAFETY: the file is ours. Best effort: memory that is not released is only wasted.
            unsafe { libc::fallocate(self.file.as_raw_fd(), mode, from as i64, (to - from) as i64) };
        }
    }

    /// Returns the output between two positions, or its end if it is long.
    pub(crate) fn read(&self, from: u64, to: u64) -> Vec<u8> {
        if from >= to {
            return Vec::new();
        }
        let to = to.min(self.file.metadata().map_or(0, |file| file.len()));
        let written = to.saturating_sub(from);
        let mut bytes = Vec::new();
        if written > self.keep {
            bytes.extend_from_slice(format!("[{}", written - self.keep).as_bytes());
            bytes.extend_from_slice(LEFT_OUT);
            bytes.push(b'\n');
        }
        let kept = written.min(self.keep);
        let start = bytes.len();
        bytes.resize(start + kept as usize, 0);
        match self.file.read_exact_at(&mut bytes[start..], to - kept) {
            Ok(()) => bytes,
            Err(_) => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    #[test]
    fn only_the_end_of_long_output_is_kept_in_memory() {
        let mut output = Output::new(8192).expect("memory");
        output.begin();
        let mut program = output.file().expect("a file");
        let begins = [0_u64, 6, 1_000_006];
        program.write_all(b"first\n").expect("room");
        program.write_all(&vec![b'2'; 1_000_000]).expect("room");
        output.follow(1, |slot| begins[slot]);
        for _ in 0..100 {
            program.write_all(&[b'3'; 100_000]).expect("room");
            output.follow(2, |slot| begins[slot]);
        }
        let end = output.position();
        assert_eq!(output.read(0, 6), b"first\n");
        let second = String::from_utf8(output.read(6, begins[2])).expect("text");
        assert_eq!(second, format!("[991808 bytes left out]\n{}", "2".repeat(8192)));
        let third = String::from_utf8(output.read(begins[2], end)).expect("text");
        assert_eq!(third, format!("[9991808 bytes left out]\n{}", "3".repeat(8192)));
        use std::os::unix::fs::MetadataExt as _;
        let taken = output.file.metadata().expect("known").blocks() * 512;
        assert!(taken < 64 << 10, "{taken} bytes");
    }

    #[test]
    fn positions_from_the_program_are_not_trusted() {
        let mut output = Output::new(100).expect("memory");
        output.begin();
        output.file().expect("a file").write_all(&[b'x'; 50_000]).expect("room");
        for wrong in [u64::MAX, 1 << 40, 49_999] {
            output.follow(3, |_| wrong);
            assert!(output.read(0, u64::MAX).len() <= 150);
            assert!(output.read(wrong, 10).is_empty());
        }
    }
}
