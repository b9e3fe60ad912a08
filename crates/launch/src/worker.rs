//! One fork server.

use crate::memory::Gauge;
use crate::output::Output;
use crate::region::Region;
use crate::stop::StopSign;
use crate::stopwatch::Stopwatch;
use crate::{family, orphans, scarcity};
use racehunter_abi::FORMAT_VERSION;
use racehunter_abi::control::{ANSWER_FD, CLIENT_VARIABLE, Header, REGION_FD, REQUEST_FD, SERVER_VARIABLE, Trouble};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::ops::Range;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// What to run.
#[derive(Clone, Debug)]
pub struct Program {
    /// The executable.
    pub path: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// A file for its standard input; without one, its input is empty.
    pub input: Option<PathBuf>,
    /// A shell command that is started when the program listens.
    pub client: Option<String>,
    /// Directories in which its libraries are looked for first, with colons between them, if they are others than usual.
    pub libraries: Option<OsString>,
}

/// The limits of one execution.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Processor time, and real time while it waits.
    pub time: Duration,
    /// Resident memory of the program itself in KiB: without shared memory, and without the detector's shadow.
    pub memory_kib: u64,
    /// Number of bytes of output kept per execution, from its end. It can write any amount.
    pub output: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { time: Duration::from_secs(10), memory_kib: 4 << 20, output: 1 << 20 }
    }
}

/// A part of the target's address space that comes from a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// Where the file starts in memory.
    pub base: u64,
    /// Where its code ends.
    pub end: u64,
    /// The file.
    pub path: PathBuf,
}

/// Why a program cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// The system refused.
    #[error("cannot start `{program}`: {source}")]
    Start {
        /// What was to be started.
        program: String,
        /// Why it was not.
        source: io::Error,
    },
    /// It ended before `main`.
    #[error("`{program}` ended before `main` ({status}){output}")]
    BeforeMain {
        /// What was started.
        program: String,
        /// How it ended.
        status: String,
        /// What it wrote, if anything.
        output: String,
    },
    /// It did not reach `main` in time.
    #[error("`{program}` did not reach `main` within {seconds} s: a static constructor may be waiting for something")]
    Silent {
        /// What was started.
        program: String,
        /// How long the controller waited.
        seconds: u64,
    },
    /// The runtime in the program cannot work.
    #[error("{0}")]
    Trouble(String),
    /// The schedule has too many switches.
    #[error("a schedule of {0} switches is too long to be followed")]
    PlanTooLong(usize),
    /// The server died repeatedly.
    #[error("`{0}` kills its own fork server: the process that started it was ended {1} times")]
    Dies(String, u32),
}

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// This many slots were run.
    Ran(u32),
    /// The server is gone.
    Died,
    /// The server was killed, because the shared memory is inconsistent.
    Damaged,
    /// The server was killed, because time is up.
    Interrupted,
}

/// Executions stopped by a limit: slot and limit.
pub(crate) type Stopped = Vec<(u32, &'static str)>;

/// A running fork server.
pub(crate) struct Worker {
    pub(crate) region: Region,
    child: Child,
    requests: File,
    answers: File,
    output: Output,
    limits: Limits,
    /// The server has ended, and was waited for: its number may belong to another process by now.
    ended: bool,
    /// An execution has changed files.
    pub(crate) changes_files: bool,
}

/// Rust programs would look up symbols for every panic, which takes longer than everything else in an execution; and their
/// behaviour must not depend on the environment of the hunt.
pub(crate) const NO_BACKTRACES: [(&str, &str); 2] = [("RUST_BACKTRACE", "0"), ("RUST_LIB_BACKTRACE", "0")];

/// How often a running execution is checked.
const TICK: Duration = Duration::from_millis(20);
/// One in this number of checks covers everything that the program could have overwritten.
const LOOKS: u32 = 5;
/// Maximum time for a program to reach `main`.
const PATIENCE: Duration = Duration::from_secs(20);
/// How many times as long as an execution the program may take before it creates its first thread.
const START: u32 = 3;
/// Maximum time for a killed execution to disappear, and for a server to get from one execution to the next.
const GRACE: Duration = Duration::from_secs(3);

impl Worker {
    /// Starts the program up to `main`.
    pub(crate) fn start(program: &Program, limits: Limits, stop: &StopSign) -> Result<Self, LaunchError> {
        let name = program.path.display().to_string();
        let failed = |source: io::Error| match scarcity::of_start(&source) {
            Some(why) => LaunchError::Trouble(format!("cannot start `{name}`: {why}")),
            None => LaunchError::Start { program: name.clone(), source },
        };
        let region = Region::new().map_err(failed)?;
        let (request_read, request_write) = pipe().map_err(failed)?;
        let (answer_read, answer_write) = pipe().map_err(failed)?;
        let output = Output::new(limits.output).map_err(failed)?;
        let input = match &program.input {
            Some(path) => Stdio::from(File::open(path).map_err(failed)?),
            None => Stdio::null(),
        };
        let inherited =
            [(region.fd(), REGION_FD), (request_read.as_raw_fd(), REQUEST_FD), (answer_write.as_raw_fd(), ANSWER_FD)];
        let mut command = Command::new(&program.path);
        command
            .args(&program.arguments)
            .env(SERVER_VARIABLE, FORMAT_VERSION.to_string())
            // Otherwise every child would look up the same symbols again.
            .env("LD_BIND_NOW", "1")
            .envs(NO_BACKTRACES)
            .env_remove(CLIENT_VARIABLE)
            .envs(client_variable(program.client.as_deref()))
            .envs(program.libraries.as_ref().map(|path| ("LD_LIBRARY_PATH", path)))
            .stdin(input)
            .stdout(output.file().map_err(failed)?)
            .stderr(output.file().map_err(failed)?);
        let parent = std::process::id();
        // SAFETY: between fork and exec only async-signal-safe calls are made.
        unsafe { command.pre_exec(move || before_exec(parent, inherited)) };
        let child = orphans::spawn(&mut command).map_err(failed)?;
        drop((request_read, answer_write));
        let (requests, answers) = (request_write.into(), answer_read.into());
        let mut worker = Self { region, child, requests, answers, output, limits, ended: false, changes_files: false };
        worker.greet(&name, stop)?;
        worker.region.remember_server();
        Ok(worker)
    }

    fn greet(&mut self, name: &str, stop: &StopSign) -> Result<(), LaunchError> {
        let began = Instant::now();
        while !poll(&self.answers, TICK) {
            if began.elapsed() > PATIENCE || stop.is_up() {
                self.kill();
                let seconds = began.elapsed().as_secs();
                return Err(LaunchError::Silent { program: name.to_owned(), seconds });
            }
            self.wake();
        }
        if self.read_answer().is_none() {
            let status = match self.child.wait() {
                Ok(status) => match status.signal() {
                    Some(signal) => format!("killed by signal {signal}"),
                    None => format!("status {}", status.code().unwrap_or(-1)),
                },
                Err(error) => error.to_string(),
            };
            self.ended = true;
            orphans::forget(self.child.id());
            let output = self.output.read(0, self.output.position());
            let output = if output.is_empty() {
                String::new()
            } else {
                format!("; it wrote: {}", String::from_utf8_lossy(&output).trim())
            };
            return Err(LaunchError::BeforeMain { program: name.to_owned(), status, output });
        }
        let header = self.region.read_header();
        let trouble = match header.trouble {
            code if code == Trouble::None as u32 => return Ok(()),
            code if code == Trouble::Version as u32 => format!(
                "`{name}` was built by another version of RaceHunter (format {}, this is {FORMAT_VERSION}): build it again",
                header.runtime_version
            ),
            code if code == Trouble::Shadow as u32 => {
                format!("`{name}`: no room for shadow memory in its address space; {}", scarcity::of_shadow())
            }
            _ => format!("`{name}`: the runtime cannot start (trouble {})", header.trouble),
        };
        Err(LaunchError::Trouble(trouble))
    }

    /// Returns the next answer; `None` if the server has ended, or the answer is invalid.
    fn read_answer(&mut self) -> Option<u32> {
        let mut bytes = [0; 4];
        // The server writes the answer as a whole, so a shorter one comes from elsewhere and is not waited for.
        let read = self.answers.read(&mut bytes).ok()?;
        (read == 4).then(|| u32::from_le_bytes(bytes))
    }

    /// Sends a request for the first `count` slots.
    pub(crate) fn request(&mut self, count: u32) -> bool {
        self.output.begin();
        self.requests.write_all(&count.to_le_bytes()).is_ok()
    }

    /// Returns whether the server was killed.
    pub(crate) fn has_ended(&self) -> bool {
        self.ended
    }

    /// Continues the server, which the program may have stopped and which would then never answer.
    fn wake(&self) {
        // SAFETY: signals a child of this process that was not waited for, so the number is still its own.
        unsafe { libc::kill(self.child.id() as i32, libc::SIGCONT) };
    }

    /// Waits for the answer to a request of `count` slots, and stops executions that exceed their limits.
    pub(crate) fn wait(&mut self, count: u32, stopped: &mut Stopped, stop: &StopSign) -> Answer {
        let mut running = u32::MAX;
        let mut watch = Stopwatch::start();
        let mut begun = false;
        let mut killed: Option<Instant> = None;
        let mut gauge = Gauge::default();
        let mut ticks = 0_u32;
        loop {
            if poll(&self.answers, self.output.tick(TICK)) {
                return match self.read_answer() {
                    Some(ran) if ran <= count => Answer::Ran(ran),
                    Some(_) => self.give_up(Answer::Damaged),
                    None => self.give_up(Answer::Died),
                };
            }
            if stop.is_up() {
                return self.give_up(Answer::Interrupted);
            }
            let header = self.region.read_header();
            ticks += 1;
            // The second check takes a while. Without it, the controller would wait for a server whose request was overwritten.
            if header.running >= count
                || header.requested > count
                || header.next > count
                || ticks.is_multiple_of(LOOKS) && !self.region.is_intact()
            {
                return self.give_up(Answer::Damaged);
            }
            self.output.follow(header.running as usize, |slot| self.region.output_of(slot));
            if header.running != running {
                running = header.running;
                gauge = Gauge::default();
                (watch, begun, killed) = (Stopwatch::start(), false, None);
                continue;
            }
            self.wake();
            if killed.is_some_and(|killed| killed.elapsed() > GRACE) {
                return self.give_up(Answer::Died);
            }
            let server = self.child.id();
            let child = Some(header.child).filter(|&child| family::descends(child, server));
            if !begun && header.begun == running + 1 {
                (watch, begun) = (Stopwatch::start(), true);
            }
            let most = if begun { self.limits.time } else { START * self.limits.time };
            let limit = if watch.charge(child) > most {
                "time"
            } else if child.is_some_and(|child| gauge.exceeds(child, self.limits.memory_kib, &shadow(&header))) {
                "memory"
            } else {
                continue;
            };
            if killed.is_some() {
                continue;
            }
            stopped.push((running, limit));
            killed = Some(Instant::now());
            match child {
                Some(child) => family::end(child, server),
                // The number was overwritten, or no execution is running at the moment.
                None => family::end_descendants(server),
            }
        }
    }

    fn give_up(&mut self, why: Answer) -> Answer {
        self.kill();
        why
    }

    /// Returns the output of an execution between two positions.
    pub(crate) fn read_output(&self, from: u64, to: u64) -> Vec<u8> {
        self.output.read(from, to)
    }

    /// Returns the current end of the output.
    pub(crate) fn output_end(&mut self) -> u64 {
        self.output.position()
    }

    /// Returns the files that are mapped as code in the target.
    pub(crate) fn mappings(&self) -> Vec<Mapping> {
        let maps = std::fs::read_to_string(format!("/proc/{}/maps", self.child.id())).unwrap_or_default();
        parse_mappings(&maps)
    }

    /// Kills the server and everything that belongs to it.
    pub(crate) fn kill(&mut self) {
        if std::mem::replace(&mut self.ended, true) {
            return;
        }
        let server = self.child.id();
        family::end_descendants(server);
        // SAFETY: the server is a child of this process that was not waited for, and has led its group since before it ran this
        // program.
        unsafe { libc::kill(-(server as i32), libc::SIGKILL) };
        let _ = self.child.kill();
        let _ = self.child.wait();
        orphans::forget(server);
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Returns the variable through which the runtime gets the client.
pub(crate) fn client_variable(client: Option<&str>) -> Option<(&'static str, &str)> {
    client.map(|client| (CLIENT_VARIABLE, client))
}

/// Parses lines of `start-end perms offset dev inode path`, by address.
fn parse_mappings(maps: &str) -> Vec<Mapping> {
    let mut mappings = Vec::new();
    // The mapping of the start of a file comes first. Linkers may leave gaps between the others that the file does not have, so
    // the position of the code in the file does not show where the file starts in memory.
    let mut begun: Option<(&str, u64)> = None;
    for line in maps.lines() {
        let Some(((start, end), permissions, offset, path)) = parse_mapping(line) else { continue };
        if offset == 0 {
            begun = Some((path, start));
        }
        if permissions.contains('x') && path.starts_with('/') {
            let base = begun.filter(|(beginning, _)| *beginning == path).map(|(_, base)| base);
            let base = base.unwrap_or_else(|| start.saturating_sub(offset));
            mappings.push(Mapping { base, end, path: PathBuf::from(path) });
        }
    }
    mappings
}

fn parse_mapping(line: &str) -> Option<((u64, u64), &str, u64, &str)> {
    // The path is the rest of the line: it may contain spaces.
    let mut fields = line.splitn(6, ' ');
    let (start, end) = fields.next()?.split_once('-')?;
    let permissions = fields.next()?;
    let number = |text: &str| u64::from_str_radix(text, 16).ok();
    let offset = number(fields.next()?)?;
    let path = fields.nth(2)?.trim_start();
    let path = path.strip_suffix(" (deleted)").unwrap_or(path);
    Some(((number(start)?, number(end)?), permissions, offset, path))
}

/// Runs in the new process: moves file descriptors into place, disables address randomisation, and ties its life to the
/// controller.
fn before_exec(parent: u32, inherited: [(i32, i32); 3]) -> io::Result<()> {
    inherit(inherited)?;
    // SAFETY: async-signal-safe system calls only.
    unsafe {
        libc::setpgid(0, 0);
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        if libc::getppid() as u32 != parent {
            return Err(io::Error::from_raw_os_error(libc::ESRCH));
        }
        // If this is forbidden, addresses differ between servers, which replay tolerates.
        libc::personality(0x0004_0000);
        let no_core = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        libc::setrlimit(libc::RLIMIT_CORE, &no_core);
        // If memory runs out nevertheless, an execution should be killed, not its controller.
        let first = libc::open(c"/proc/self/oom_score_adj".as_ptr(), libc::O_WRONLY);
        if first >= 0 {
            libc::write(first, c"1000".as_ptr().cast(), 4);
            libc::close(first);
        }
    }
    Ok(())
}

/// Runs in the new process: puts file descriptors where the runtime expects them. The duplicates survive `exec`.
pub(crate) fn inherit(inherited: [(i32, i32); 3]) -> io::Result<()> {
    // SAFETY: async-signal-safe system calls only.
    unsafe {
        // First out of the way of the final numbers, then into place.
        let mut copies = [0; 3];
        for (copy, (fd, _)) in copies.iter_mut().zip(inherited) {
            *copy = libc::fcntl(fd, libc::F_DUPFD, 220);
            if *copy < 0 {
                return Err(io::Error::last_os_error());
            }
        }
        for (copy, (_, place)) in copies.iter().zip(inherited) {
            if libc::dup2(*copy, place) < 0 {
                return Err(io::Error::last_os_error());
            }
            libc::close(*copy);
        }
    }
    Ok(())
}

pub(crate) fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut fds = [0; 2];
    // SAFETY: the array has room for both; the descriptors are new and ours.
    unsafe {
        if libc::pipe2(fds.as_mut_ptr(), libc::O_CLOEXEC) < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok((OwnedFd::from_raw_fd(fds[0]), OwnedFd::from_raw_fd(fds[1])))
    }
}

/// Returns whether there is something to read, or the other end is closed.
fn poll(file: &File, timeout: Duration) -> bool {
    let mut entry = libc::pollfd { fd: file.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: one valid entry.
    unsafe { libc::poll(&mut entry, 1, timeout.as_millis() as i32) > 0 }
}

fn shadow(header: &Header) -> Range<u64> {
    header.shadow..header.shadow.saturating_add(header.shadow_size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_start_of_a_file_is_found_despite_gaps_of_the_linker() {
        let maps = "7ffff7400000-7ffff7537000 r--p 00000000 fe:00 42 /lib/libcounter.so\n\
                    7ffff7537000-7ffff7683000 r-xp 00136000 fe:00 42 /lib/libcounter.so\n\
                    7ffff7683000-7ffff7685000 rw-p 00281000 fe:00 42 /lib/libcounter.so\n\
                    7ffff7800000-7ffff7801000 r-xp 00003000 fe:00 43 /lib/other.so\n\
                    7ffff7fc3000-7ffff7fc5000 r-xp 00000000 00:00 0 [vdso]\n";
        let mappings = parse_mappings(maps);
        let found: Vec<(u64, &str)> =
            mappings.iter().map(|mapping| (mapping.base, mapping.path.to_str().expect("plain"))).collect();
        assert_eq!(found, [(0x7fff_f740_0000, "/lib/libcounter.so"), (0x7fff_f77f_d000, "/lib/other.so")]);
    }
}
