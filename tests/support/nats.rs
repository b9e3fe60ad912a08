//! A NATS server for hunts on many machines, on the loopback interface.

use crate::processes::eventually;
use crate::tool::{Started, racehunter, run};
use crate::workshop::Workshop;
use rustix::process::Signal;
use serde_json::Value;
use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// A NATS server of one test alone.
pub struct Server {
    /// Its port.
    pub port: u16,
    /// Its files: configuration, log and store.
    pub directory: PathBuf,
    extra: String,
    child: Option<Child>,
    _workshop: Workshop,
}

impl Default for Server {
    fn default() -> Self {
        Self::new()
    }
}

impl Server {
    /// Starts one that keeps what it is given.
    #[must_use]
    pub fn new() -> Self {
        Self::with("")
    }

    /// Starts one with further lines of configuration. They replace the storage if they mention it.
    #[must_use]
    pub fn with(extra: &str) -> Self {
        let workshop = Workshop::new();
        // The port is free now, and is unlikely to be taken in the next moment.
        let port = TcpListener::bind("127.0.0.1:0").expect("a free port").local_addr().expect("an address").port();
        let directory = workshop.path("server");
        fs::create_dir_all(&directory).expect("a directory");
        let mut server = Self { port, directory, extra: extra.to_owned(), child: None, _workshop: workshop };
        server.start();
        server
    }

    /// Starts it, and waits until it listens.
    pub fn start(&mut self) {
        let Self { port, directory, extra, .. } = self;
        let storage = if extra.contains("jetstream") {
            String::new()
        } else {
            format!("jetstream {{ store_dir: \"{}\" }}", directory.join("store").display())
        };
        let config = directory.join("server.conf");
        fs::write(&config, format!("listen: \"127.0.0.1:{port}\"\n{storage}\n{extra}\n")).expect("a file");
        let log = fs::File::create(directory.join("server.log")).expect("a file");
        let mut command = Command::new("nats-server");
        command.arg("-c").arg(&config).stdout(Stdio::null()).stderr(log);
        self.child = Some(command.spawn().expect("nats-server is installed: run `cargo xtask test`"));
        let port = self.port;
        eventually("the server does not listen", || TcpStream::connect(("127.0.0.1", port)).is_ok());
    }

    /// Kills it, as a power failure of its machine would.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// Returns its process, if it runs.
    #[must_use]
    pub fn process(&self) -> Option<u32> {
        self.child.as_ref().map(Child::id)
    }

    /// Returns its address.
    #[must_use]
    pub fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    /// Starts a worker that makes one execution at a time.
    #[track_caller]
    #[must_use]
    pub fn worker(&self, name: &str, options: &[&str]) -> Started {
        Started::new(racehunter(["worker", "--engine", &self.url(), "--name", name, "--jobs", "1"]).args(options))
    }

    /// Returns the lines of `status --message-format json`.
    #[track_caller]
    #[must_use]
    pub fn status(&self) -> Vec<Value> {
        let words = ["status", "--engine", &self.url(), "--message-format", "json"];
        let ended = run(&mut racehunter(words)).expect(0);
        ended.stdout.lines().map(|line| serde_json::from_str(line).expect("it is JSON")).collect()
    }

    /// Returns the lines about hunts.
    #[track_caller]
    #[must_use]
    pub fn hunts(&self) -> Vec<Value> {
        self.status().into_iter().filter(|line| line["reason"] == "fleet-hunt").collect()
    }

    /// Returns the lines about workers.
    #[track_caller]
    #[must_use]
    pub fn workers(&self) -> Vec<Value> {
        self.status().into_iter().filter(|line| line["reason"] == "fleet-worker").collect()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Kills workers when a test ends.
pub fn end(workers: Vec<Started>) {
    for worker in workers {
        worker.signal(Signal::KILL);
    }
}
