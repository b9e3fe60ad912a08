//! Hunts on many machines: a real `nats-server` on the loopback interface, coordinators and workers as processes.

use racehunter_e2e::processes::eventually;
use racehunter_e2e::{Ended, Hunted, Started, Workshop, racehunter, root, run};
use rustix::process::Signal;
use serde_json::Value;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use std::{fs, thread};

/// A NATS server of this test alone.
struct Server {
    port: u16,
    directory: PathBuf,
    extra: String,
    child: Option<Child>,
    _workshop: Workshop,
}

impl Server {
    fn new() -> Self {
        Self::with("")
    }

    /// With further lines of configuration.
    fn with(extra: &str) -> Self {
        let workshop = Workshop::new();
        // The port is free now, and is unlikely to be taken in the next moment.
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let directory = workshop.path("server");
        fs::create_dir_all(&directory).unwrap();
        let mut server = Self { port, directory, extra: extra.to_owned(), child: None, _workshop: workshop };
        server.start();
        server
    }

    fn start(&mut self) {
        let Self { port, directory, extra, .. } = self;
        let storage = if extra.contains("jetstream") {
            String::new()
        } else {
            format!("jetstream {{ store_dir: \"{}\" }}", directory.join("store").display())
        };
        let config = directory.join("server.conf");
        fs::write(&config, format!("listen: \"127.0.0.1:{port}\"\n{storage}\n{extra}\n")).unwrap();
        let mut command = Command::new("nats-server");
        command.arg("-c").arg(&config).stdout(Stdio::null()).stderr(Stdio::null());
        self.child = Some(command.spawn().expect("nats-server is installed: run `cargo xtask test`"));
        let port = self.port;
        eventually("the server does not listen", || TcpStream::connect(("127.0.0.1", port)).is_ok());
    }

    /// Kills it, as a power failure of its machine would.
    fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    fn worker(&self, name: &str, options: &[&str]) -> Started {
        Started::new(racehunter(["worker", "--engine", &self.url(), "--name", name, "--jobs", "1"]).args(options))
    }

    /// The lines of `status --message-format json`.
    fn status(&self) -> Vec<Value> {
        let words = ["status", "--engine", &self.url(), "--message-format", "json"];
        let ended = run(&mut racehunter(words)).expect(0);
        ended.stdout.lines().map(|line| serde_json::from_str(line).expect("it is JSON")).collect()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Kills workers when the test ends.
fn end(workers: Vec<Started>) {
    for worker in workers {
        worker.signal(Signal::KILL);
    }
}

/// Findings, executions, claim, whether it is complete, and the stages: bound, executions, and whether it is complete.
type Essence = (Vec<String>, u64, String, bool, Vec<(u32, u64, bool)>);

/// What must be the same on one machine and on many.
fn essence(hunted: &Hunted) -> Essence {
    let mut ids: Vec<String> = hunted.findings.iter().map(|finding| finding.id.clone()).collect();
    ids.sort();
    let summary = hunted.summary();
    let bounds = hunted.bounds.iter().map(|bound| (bound.bound, bound.executions, bound.complete)).collect();
    (ids, summary.executions, summary.guarantee.clone(), summary.complete, bounds)
}

fn target(name: &str) -> PathBuf {
    root().join("targets").join(name)
}

const EXHAUSTIVE: [&str; 4] = ["--analysis", "context-bound", "--bound", "2"];

/// Hunts a program on one machine and with workers.
fn compare(server: &Server, program: &Path, options: &[&str], part_runs: &str) -> Hunted {
    let one = Workshop::new().hunt(program, options);
    let url = server.url();
    let fleet = [options, &["--engine", &url, "--part-runs", part_runs, "--engine-lease", "2s"]].concat();
    let many = Workshop::new().hunt(program, &fleet);
    assert_eq!(essence(&many), essence(&one), "{}: {}", program.display(), many.ended.stderr);
    assert_eq!(many.ended.status, one.ended.status);
    many
}

#[test]
fn many_machines_come_to_what_one_comes_to() {
    let server = Server::new();
    let workers: Vec<Started> = ["a", "b"].iter().map(|name| server.worker(name, &[])).collect();
    for name in ["assertion/bank_transfer.fixed.cpp", "assertion/bank_transfer.cpp", "data-race/lost_update.c"] {
        compare(&server, &target(name), &EXHAUSTIVE, "16");
    }
    let lines = server.status();
    let of_type = |kind: &str| lines.iter().filter(|line| line["reason"] == kind).count();
    assert!(of_type("fleet-hunt") >= 1, "{lines:?}");
    assert_eq!(of_type("fleet-worker"), 2, "{lines:?}");
    let hunt = lines.iter().find(|line| line["reason"] == "fleet-hunt").unwrap();
    assert_eq!(hunt["status"]["state"], "finished");
    assert!(hunt["status"]["parts_done"].as_u64() > Some(1), "{hunt}");
    let ended = run(&mut racehunter(["status", "--engine", &server.url()])).expect(0);
    assert!(ended.stdout.contains(": finished") && ended.stdout.contains("2 workers"), "{}", ended.stdout);
    end(workers);
}

/// Executions that are counted from one seed are divided without loss.
#[test]
fn walks_use_up_their_budget_exactly() {
    let server = Server::new();
    let workers: Vec<Started> = ["a", "b"].iter().map(|name| server.worker(name, &[])).collect();
    let url = server.url();
    for analysis in ["auto", "pct", "random"] {
        let options = ["--analysis", analysis, "--runs", "300", "--engine", &url, "--part-runs", "40"];
        let hunted = Workshop::new().hunt(&target("data-race/lost_update.c"), &options).expect(1);
        assert!(hunted.summary().executions <= 300, "{analysis}");
        assert!(analysis == "auto" || hunted.summary().executions == 300, "{analysis}: {:?}", hunted.summary());
        assert!(hunted.findings.iter().all(|finding| finding.confirmed), "{analysis}");
    }
    end(workers);
}

/// Three threads, and more than a thousand schedules with two preemptions.
const SUMS: &str = r#"
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

atomic_int sum;

static void *add(void *unused) {
    for (int i = 0; i < 5; i++)
        atomic_fetch_add(&sum, 1);
    return unused;
}

int main(void) {
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, add, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
"#;

/// Kills workers, coordinators and the server, and hunts to the end.
fn survive(server: &mut Server, kills: u64, seed: u64) {
    let (workshop, program) = Workshop::with_program(SUMS);
    let one = Workshop::new().hunt(&program, &EXHAUSTIVE).expect(0);
    let url = server.url();
    let options = [&EXHAUSTIVE[..], &["--engine", &url, "--part-runs", "12", "--engine-lease", "1s"]].concat();
    let resumed = [&options[..], &["--resume"]].concat();
    let mut random = seed;
    let mut draw = |below: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % below
    };
    let command = |options: &[&str]| workshop.hunt_command(&program, options);
    let mut hunt = Started::new(&mut command(&options));
    let mut workers: Vec<Started> = vec![server.worker("w0", &[]), server.worker("w1", &[])];
    // Until the hunt has a name there is nothing to resume.
    eventually("no hunt", || server.status().iter().any(|line| line["reason"] == "fleet-hunt"));
    for kill in 0..kills {
        thread::sleep(Duration::from_millis(draw(300)));
        match draw(3) {
            0 => {
                let victim = workers.swap_remove(usize::try_from(draw(2)).unwrap());
                victim.signal(Signal::KILL);
                drop(victim);
                workers.push(server.worker(&format!("w{}", kill + 2), &[]));
            }
            1 => {
                hunt.signal(Signal::KILL);
                drop(hunt);
                hunt = Started::new(&mut command(&resumed));
            }
            _ => {
                server.kill();
                thread::sleep(Duration::from_millis(draw(300)));
                server.start();
            }
        }
    }
    let many = Hunted::new(hunt.finish());
    if many.ended.status == Some(2) {
        // It had ended before the last coordinator was killed, and there is nothing to resume.
        many.ended.says("no unfinished hunt");
    } else {
        assert_eq!(essence(&many.expect(0)), essence(&one));
    }
    end(workers);
}

#[test]
fn whatever_dies_nothing_is_lost_or_counted_twice() {
    survive(&mut Server::new(), 4, 1);
}

mod slow {
    use super::*;

    #[test]
    fn fifty_kills_at_random_moments() {
        for seed in 0..10 {
            survive(&mut Server::new(), 5, 100 + seed);
        }
    }

    #[test]
    fn twenty_targets_with_one_two_and_four_workers() {
        let programs = [
            "assertion/bank_transfer.cpp",
            "assertion/bank_transfer.fixed.cpp",
            "data-race/lost_update.c",
            "data-race/lost_update.fixed.c",
        ];
        for count in [1, 2, 4] {
            let server = Server::new();
            let workers: Vec<Started> = (0..count).map(|name| server.worker(&format!("w{name}"), &[])).collect();
            for name in programs.iter().map(|name| target(name)).chain(more_targets(16)) {
                compare(&server, &name, &EXHAUSTIVE, "20");
            }
            end(workers);
        }
    }

    /// Targets in the order of their names, without those above.
    fn more_targets(count: usize) -> Vec<PathBuf> {
        let mut names: Vec<PathBuf> = ["assertion", "data-race", "deadlock"]
            .iter()
            .flat_map(|kind| fs::read_dir(target(kind)).unwrap())
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "c"))
            .collect();
        names.sort();
        names.into_iter().step_by(5).take(count).collect()
    }
}

fn hunt_at(url: &str, options: &[&str]) -> Ended {
    let program = target("assertion/bank_transfer.fixed.cpp");
    let words = [&EXHAUSTIVE[..], &["--engine", url], options].concat();
    Workshop::new().hunt(&program, &words).ended
}

#[test]
fn an_engine_that_cannot_be_used_is_named() {
    let unused = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let url = format!("nats://127.0.0.1:{unused}");
    hunt_at(&url, &[]).expect(2).says("cannot reach the engine").says("nats-server -js");
    run(&mut racehunter(["worker", "--engine", &url])).expect(2).says("cannot reach the engine");
    run(&mut racehunter(["status", "--engine", &url])).expect(2).says("cannot reach the engine");
    let plain = Server::with("# no jetstream\n");
    hunt_at(&plain.url(), &[]).expect(2).says("has no JetStream").says("nats-server -js -sd");
    let closed = Server::with("authorization { user: ada, password: secret }");
    hunt_at(&closed.url(), &[]).expect(2).says("refuses these credentials").says("--engine-creds");
    let open = format!("nats://ada:secret@127.0.0.1:{}", closed.port);
    let ended = run(&mut racehunter(["status", "--engine", &open])).expect(0);
    assert_eq!(ended.stdout, "no hunts\n0 workers\n");
    hunt_at(&open, &["--resume"]).expect(2).says("no unfinished hunt");
}

#[test]
fn an_analysis_that_cannot_be_lent_is_refused() {
    let server = Server::new();
    let program = target("data-race/lost_update.c");
    let url = server.url();
    for options in [&["--analysis", "thread-bound"][..], &["--analysis", "dfs", "--reduction=dynamic"]] {
        let words = [options, &["--engine", &url]].concat();
        Workshop::new().hunt(&program, &words).expect(2).ended.says("cannot be done on other machines");
    }
}

/// A program whose threads do more when a variable of the environment says so.
const DEPENDS: &str = r#"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

atomic_int sum;

static void *add(void *unused) {
    for (int i = 0; i < (getenv("MORE_STEPS") ? 7 : 6); i++)
        atomic_fetch_add(&sum, 1);
    return unused;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, add, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
"#;

#[test]
fn a_worker_refuses_what_behaves_differently_and_what_it_is_not_to_run() {
    let server = Server::new();
    let (workshop, program) = Workshop::with_program(DEPENDS);
    let url = server.url();
    let options = [&EXHAUSTIVE[..], &["--engine", &url, "--part-runs", "16"]].concat();
    let hunt = Started::new(&mut workshop.hunt_command(&program, &options));
    let words = ["worker", "--engine", &url, "--name"];
    let other = Started::new(racehunter(words).arg("other").env("MORE_STEPS", "1"));
    other.wait_until_it_says("the program behaves differently here");
    let picky = Started::new(racehunter(words).args(["picky", "--only-hash", "0123456789abcdef"]));
    picky.wait_until_it_says("not one of those that --only-hash names");
    let good = Started::new(racehunter(words).arg("good"));
    good.wait_until_it_says("joins hunt");
    let hunted = Hunted::new(hunt.finish()).expect(0);
    let one = Workshop::new().hunt(&program, &EXHAUSTIVE).expect(0);
    assert_eq!(essence(&hunted), essence(&one));
    end(vec![other, picky, good]);
}

/// Publishes a message as any client of the server can.
fn publish(server: &Server, subject: &str, payload: &[u8]) {
    let mut socket = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
    let head = format!("CONNECT {{\"verbose\":false}}\r\nPUB {subject} {}\r\n", payload.len());
    socket.write_all(&[head.as_bytes(), payload, b"\r\nPING\r\n"].concat()).unwrap();
    // The answer comes after the message was taken.
    let mut answer = String::new();
    let mut buffer = [0; 4096];
    while !answer.contains("PONG") {
        let count = socket.read(&mut buffer).unwrap();
        assert!(count > 0, "the server has closed the connection: {answer}");
        answer.push_str(&String::from_utf8_lossy(&buffer[..count]));
    }
}

#[test]
fn a_worker_that_returns_garbage_is_shut_out_and_named() {
    let server = Server::new();
    let (workshop, program) = Workshop::with_program(DEPENDS);
    let one = Workshop::new().hunt(&program, &EXHAUSTIVE).expect(0);
    let url = server.url();
    let options = [&EXHAUSTIVE[..], &["--engine", &url, "--part-runs", "16"]].concat();
    let hunt = Started::new(&mut workshop.hunt_command(&program, &options));
    let mut name = String::new();
    eventually("no hunt", || {
        let lines = server.status();
        let line = lines.iter().find(|line| line["reason"] == "fleet-hunt" && line["status"]["state"] == "exploring");
        name = line.and_then(|line| line["hunt"].as_str()).unwrap_or_default().to_owned();
        !name.is_empty()
    });
    publish(&server, &format!("racehunter.{name}.result.evil"), b"\0nothing that makes sense");
    hunt.wait_until_it_says("worker `evil` is shut out");
    publish(&server, &format!("racehunter.{name}.result.empty"), b"");
    hunt.wait_until_it_says("worker `empty` is shut out");
    let good = server.worker("good", &[]);
    let hunted = Hunted::new(hunt.finish()).expect(0);
    assert_eq!(essence(&hunted), essence(&one));
    let lines = server.status();
    let line = lines.iter().find(|line| line["reason"] == "fleet-hunt").unwrap();
    assert_eq!(line["status"]["shut_out"].as_object().map(serde_json::Map::len), Some(2), "{line}");
    end(vec![good]);
}
