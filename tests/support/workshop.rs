//! A directory for one test.

use crate::results::Hunted;
use crate::tool::{self, Ended, racehunter, run};
use racehunter_launch::{Limits, Processes, Program};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// Two threads that race.
pub const RACE: &str = r"
#include <pthread.h>
#include <stddef.h>

int shared;

static void *work(void *unused) {
    shared++;
    return unused;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, work, NULL);
    pthread_create(&second, NULL, work, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
";

/// Starts a program under control, for executions that a test plans itself.
#[track_caller]
#[must_use]
pub fn start(program: &Path, jobs: usize) -> Processes {
    let path = program.to_owned();
    let program = Program { path, arguments: Vec::new(), input: None, client: None, libraries: None };
    Processes::start(program, Limits::default(), jobs).expect("the program starts")
}

/// A directory for one test: sources, programs, findings. It is removed with the test.
pub struct Workshop {
    directory: TempDir,
    /// The same path without symbolic links, as `/proc` shows it.
    path: PathBuf,
}

impl Default for Workshop {
    fn default() -> Self {
        let directory = TempDir::new().expect("a temporary directory can be made");
        let path = directory.path().canonicalize().expect("the directory exists");
        Self { directory, path }
    }
}

impl Workshop {
    /// Returns an empty one.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates one with a program compiled from this C source; returns the program too.
    #[track_caller]
    #[must_use]
    pub fn with_program(source: &str) -> (Self, PathBuf) {
        let workshop = Self::new();
        let source = workshop.write("program.c", source);
        let program = workshop.path("program");
        workshop.cc(["-O1", "-pthread", "-Wall", &text(&source), "-o", &text(&program)]).expect(0);
        (workshop, program)
    }

    /// Returns the path of something in it.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        debug_assert!(self.directory.path().exists());
        self.path.join(name)
    }

    /// Writes a file, and the directories on the way to it.
    #[track_caller]
    pub fn write(&self, name: &str, content: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap_or(&path)).expect("a directory can be made");
        fs::write(&path, content).expect("a file can be written");
        path
    }

    /// Returns the directory of the findings.
    #[must_use]
    pub fn out(&self) -> PathBuf {
        self.path("out")
    }

    /// Returns the programs that hunts of source files have built.
    #[track_caller]
    #[must_use]
    pub fn built(&self) -> PathBuf {
        let entries = fs::read_dir(self.out().join("build")).expect("a hunt has built something");
        let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        let (Some(only), true) = (paths.pop(), paths.is_empty()) else { panic!("not exactly one program was built") };
        only
    }

    /// Returns the command for a hunt with `--message-format json` at the root of the project.
    #[must_use]
    pub fn hunt_command(&self, target: &Path, options: &[&str]) -> Command {
        let mut command = racehunter(["hunt", "--message-format", "json", "--out"]);
        command.arg(self.out()).args(["--quiet"]).args(options).arg(target);
        command
    }

    /// Hunts with `--message-format json` at the root of the project.
    #[track_caller]
    #[must_use]
    pub fn hunt(&self, target: &Path, options: &[&str]) -> Hunted {
        Hunted::new(run(&mut self.hunt_command(target, options)))
    }

    /// Runs `racehunter merge` on directories of this workshop, with `--message-format json`; the findings go to its
    /// own.
    #[track_caller]
    #[must_use]
    pub fn merge(&self, directories: &[&str], options: &[&str]) -> Hunted {
        let mut command = racehunter(["merge", "--message-format", "json", "--out"]);
        command.arg(self.out()).args(options).args(directories.iter().map(|name| self.path(name)));
        Hunted::new(run(&mut command))
    }

    /// Runs `racehunter replay` with the findings of this workshop.
    #[track_caller]
    #[must_use]
    pub fn replay(&self, id: &str) -> Ended {
        run(racehunter(["replay", id, "--message-format", "json", "--out"]).arg(self.out()))
    }

    /// Runs `racehunter cc` in this directory.
    #[track_caller]
    #[must_use]
    pub fn cc<'a>(&self, words: impl IntoIterator<Item = &'a str>) -> Ended {
        self.run(Command::new(tool::path()).arg("cc").args(words))
    }

    /// Returns a command that runs another one with a filter that refuses a system call, as containers have.
    #[track_caller]
    #[must_use]
    pub fn refusing(&self, call: &str, command: &Command) -> Command {
        self.write("refuse.c", REFUSE);
        self.shell(&format!("gcc -DCALL={call} refuse.c -o refuse"));
        let mut refused = Command::new(self.path("refuse"));
        refused.arg(command.get_program()).args(command.get_args());
        refused
    }

    /// Runs another command in this directory.
    #[track_caller]
    pub fn run(&self, command: &mut Command) -> Ended {
        run(command.current_dir(&self.path))
    }

    /// Runs a shell command in this directory, with `bin/racehunter` on the path; it must succeed.
    #[track_caller]
    pub fn shell(&self, line: &str) -> Ended {
        let bin = tool::path().parent().map(Path::to_path_buf).unwrap_or_default();
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths(std::iter::once(bin).chain(std::env::split_paths(&path)));
        let mut shell = Command::new("sh");
        shell.args(["-euc", line]).env("PATH", path.expect("directories without a colon"));
        self.run(&mut shell).expect(0)
    }
}

/// Returns a path as an argument.
#[must_use]
pub fn text(path: &Path) -> String {
    path.to_str().expect("temporary directories have plain names").to_owned()
}

/// Runs a command that may not make the system call `CALL`.
const REFUSE: &str = "
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int count, char **words) {
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, CALL, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof rules / sizeof *rules, rules};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (count < 2 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) return 1;
    execv(words[1], words + 1);
    return 1;
}
";
