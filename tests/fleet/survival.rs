//! Workers, coordinators and the server die in the middle of a hunt, and what the server has kept is damaged.

use super::{EXHAUSTIVE, SLOW_SUMS, essence};
use racehunter_e2e::nats::{Server, end};
use racehunter_e2e::processes::eventually;
use racehunter_e2e::{Hunted, Started, Workshop};
use rustix::process::Signal;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, thread};

/// A hunt that is under way, and what it must come to.
struct Victim {
    workshop: Workshop,
    program: PathBuf,
    options: Vec<String>,
    one: Hunted,
    hunt: Started,
}

impl Victim {
    fn new(server: &Server) -> Self {
        // Long enough that the hunt is not over before everything has died once, also if the machine is slow to say how far it is.
        let slower = SLOW_SUMS.replace("{0, 10 * 1000 * 1000}", "{0, 15 * 1000 * 1000}");
        assert_ne!(slower, SLOW_SUMS);
        let (workshop, program) = Workshop::with_program(&slower);
        let one = Workshop::new().hunt(&program, &[&EXHAUSTIVE[..], &["--jobs", "8"]].concat()).expect(0);
        let url = server.url();
        let more = ["--engine", &url, "--part-runs", "12", "--engine-lease", "1s", "--jobs", "1"];
        let options: Vec<String> = EXHAUSTIVE.iter().chain(&more).map(|&word| word.to_owned()).collect();
        let hunt = Started::new(&mut command(&workshop, &program, &options, false));
        Self { workshop, program, options, one, hunt }
    }

    /// Waits until parts are being explored. Fails if the hunt is over already.
    fn wait_until_it_works(&mut self, server: &Server) {
        let all = self.one.summary().executions;
        let before = executions(server);
        eventually("the hunt does not move on", || {
            assert!(self.hunt.is_running(), "the hunt was over before something was killed");
            let hunts = server.hunts();
            let Some(hunt) = hunts.first() else { return false };
            let done = hunt["status"]["executions"].as_u64().unwrap_or_default();
            assert!(done < all, "the hunt is over");
            hunt["status"]["state"] == "exploring" && hunt["parts_running"].as_u64() > Some(0) && done >= before
        });
    }

    fn kill_and_resume(&mut self) {
        self.hunt.signal(Signal::KILL);
        self.resume();
    }

    fn resume(&mut self) {
        let mut again = command(&self.workshop, &self.program, &self.options, true);
        // The one before is reaped.
        self.hunt = Started::new(&mut again);
    }

    fn expect_as_on_one_machine(self) {
        let many = Hunted::new(self.hunt.finish()).expect(0);
        assert_eq!(essence(&many), essence(&self.one), "{}", many.ended.stderr);
    }
}

fn command(workshop: &Workshop, program: &Path, options: &[String], resume: bool) -> std::process::Command {
    let mut words: Vec<&str> = options.iter().map(String::as_str).collect();
    words.extend(resume.then_some("--resume"));
    workshop.hunt_command(program, &words)
}

fn executions(server: &Server) -> u64 {
    let hunts = server.hunts();
    hunts.first().and_then(|hunt| hunt["status"]["executions"].as_u64()).unwrap_or_default()
}

/// Numbers below a bound.
struct Random(u64);

impl Random {
    fn draw(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }
}

/// What dies.
#[derive(Clone, Copy, Debug)]
enum Kill {
    Worker,
    Coordinator,
    Server,
}

/// Kills these one after the other, each while parts are being explored, and hunts to the end.
fn survive(kills: &[Kill], seed: u64) {
    let mut server = Server::new();
    let mut random = Random(seed);
    let mut victim = Victim::new(&server);
    let mut workers: Vec<Started> = vec![server.worker("w0", &[]), server.worker("w1", &[])];
    for (number, kill) in kills.iter().enumerate() {
        victim.wait_until_it_works(&server);
        thread::sleep(Duration::from_millis(random.draw(200)));
        assert!(victim.hunt.is_running(), "the hunt was over before kill {number}");
        match kill {
            Kill::Worker => {
                let killed = workers.swap_remove(usize::try_from(random.draw(2)).unwrap());
                killed.signal(Signal::KILL);
                drop(killed);
                workers.push(server.worker(&format!("w{}", number + 2), &[]));
            }
            Kill::Coordinator => victim.kill_and_resume(),
            Kill::Server => {
                server.kill();
                thread::sleep(Duration::from_millis(random.draw(300)));
                server.start();
            }
        }
    }
    victim.expect_as_on_one_machine();
    end(workers);
}

#[test]
fn whatever_dies_nothing_is_lost_or_counted_twice() {
    survive(&[Kill::Worker, Kill::Server, Kill::Coordinator], 1);
}

/// The server's files are damaged while it is down: it loses results that it had. What depends on them is done again.
#[test]
fn results_that_the_server_has_lost_are_made_again() {
    let mut server = Server::new();
    let mut victim = Victim::new(&server);
    let workers = vec![server.worker("w0", &[]), server.worker("w1", &[])];
    eventually("no results", || server.hunts().iter().any(|hunt| hunt["status"]["parts_done"].as_u64() > Some(8)));
    victim.wait_until_it_works(&server);
    victim.hunt.signal(Signal::KILL);
    server.kill();
    let mut blocks = Vec::new();
    files(&server.directory.join("store"), &mut blocks);
    blocks.retain(|path| {
        path.to_string_lossy().contains("racehunter-results") && path.extension().is_some_and(|name| name == "blk")
    });
    assert!(!blocks.is_empty(), "the server keeps its messages elsewhere");
    for block in blocks {
        let mut bytes = fs::read(&block).unwrap();
        let middle = bytes.len() / 2;
        assert!(middle > 0);
        bytes[middle..middle + 64].iter_mut().for_each(|byte| *byte ^= 0x55);
        fs::write(&block, bytes).unwrap();
    }
    server.start();
    victim.resume();
    victim.expect_as_on_one_machine();
    end(workers);
}

fn files(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap().filter_map(Result::ok) {
        if entry.path().is_dir() { files(&entry.path(), found) } else { found.push(entry.path()) }
    }
}

mod slow {
    use super::*;

    #[test]
    fn fifty_kills_at_random_moments() {
        for seed in 0..10 {
            let mut random = Random(1_000 + seed);
            let kills: Vec<Kill> = (0..5)
                .map(|_| [Kill::Worker, Kill::Coordinator, Kill::Server][usize::try_from(random.draw(3)).unwrap()])
                .collect();
            survive(&kills, 100 + seed);
        }
    }
}
