//! Neither side is trusted: workers that hand in what they should not, and coordinators that announce what they should not.
//!
//! The impostors here use the code of real workers and coordinators to talk to the server, and say something else.

use super::{DEPENDS, EXHAUSTIVE, SLOW_SUMS, essence};
use racehunter_e2e::nats::{Server, end};
use racehunter_e2e::processes::eventually;
use racehunter_e2e::{Hunted, Started, Workshop, racehunter, run};
use racehunter_fleet::{Access, Engine, NatsBoard, NatsDesk};
use racehunter_hunter::fleet::{
    Announcement, Board as _, Desk as _, FileRef, Lease, Part, PartResult, Reference, Role, Status,
};
use rustix::process::Signal;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

fn engine(server: &Server) -> Engine {
    let (patience, lease) = (Duration::from_secs(30), Duration::from_secs(30));
    let url = server.url();
    Engine::connect(Access { url, credentials: None, authorities: None, certificate: None, patience, lease }).unwrap()
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
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

/// A hunt that waits for workers, and what it must come to.
struct Waiting {
    workshop: Workshop,
    program: PathBuf,
    one: Hunted,
    hunt: Started,
    name: String,
}

impl Waiting {
    fn new(server: &Server) -> Self {
        Self::of(server, DEPENDS)
    }

    fn of(server: &Server, source: &str) -> Self {
        let (workshop, program) = Workshop::with_program(source);
        let one = Workshop::new().hunt(&program, &EXHAUSTIVE).expect(0);
        let hunt = Started::new(&mut workshop.hunt_command(&program, &Self::options(&server.url())));
        let mut name = String::new();
        eventually("no hunt", || {
            let hunts = server.hunts();
            let hunt = hunts.iter().find(|hunt| hunt["status"]["state"] == "exploring");
            name = hunt.and_then(|hunt| hunt["hunt"].as_str()).unwrap_or_default().to_owned();
            !name.is_empty()
        });
        Self { workshop, program, one, hunt, name }
    }

    fn options(url: &str) -> Vec<&str> {
        [&EXHAUSTIVE[..], &["--engine", url, "--part-runs", "16"]].concat()
    }

    /// With a good worker, it comes to what one machine comes to. Returns the workers that were shut out, and why.
    fn finish(self, server: &Server) -> BTreeMap<String, String> {
        let good = server.worker("good", &[]);
        let hunted = Hunted::new(self.hunt.finish()).expect(0);
        assert_eq!(essence(&hunted), essence(&self.one));
        let hunts = server.hunts();
        let line = hunts.iter().find(|hunt| hunt["hunt"] == *self.name).unwrap();
        end(vec![good]);
        let shut_out = line["status"]["shut_out"].as_object().unwrap();
        shut_out.iter().map(|(name, why)| (name.clone(), why.as_str().unwrap().to_owned())).collect()
    }
}

/// Takes a part as a worker of this name would.
fn take(server: &Server, worker: &str) -> Box<dyn Lease> {
    let mut desk = NatsDesk::new(engine(server), worker.to_owned());
    let mut taken = None;
    eventually("no part", || {
        let hunts = desk.hunts().unwrap();
        taken = hunts.first().and_then(|hunt| desk.take(&hunt.hunt, Duration::from_secs(1)).unwrap());
        taken.is_some()
    });
    taken.unwrap()
}

/// Returns a result for a part, as it should be except for its state.
fn result(part: &[u8], worker: &str) -> PartResult {
    let Part { number, program, .. } = Part::decode(part).unwrap();
    let (part, worker) = (sha256(part), worker.to_owned());
    PartResult { number, part, program, worker, restarted: false, elapsed_us: 1, state: vec![1, 2, 3] }
}

#[test]
fn a_worker_that_returns_garbage_is_shut_out_and_named() {
    let server = Server::new();
    let waiting = Waiting::new(&server);
    let subject = format!("racehunter.{}.result", waiting.name);
    for (worker, payload) in [("evil", &b"\0nothing that makes sense"[..]), ("empty", b"")] {
        publish(&server, &format!("{subject}.{worker}"), payload);
        waiting.hunt.wait_until_it_says(&format!("worker `{worker}` is shut out"));
    }
    // The name of an object that does not exist would make the coordinator look for it.
    publish(&server, &format!("{subject}.vague"), &[&[1][..], "7".repeat(64).as_bytes()].concat());
    waiting.hunt.wait_until_it_says("worker `vague` is shut out");
    let hand_in = |worker: &str, change: &dyn Fn(&mut PartResult)| {
        let lease = take(&server, worker);
        let mut result = result(lease.part(), worker);
        change(&mut result);
        lease.hand_in(&result.encode()).unwrap();
        waiting.hunt.wait_until_it_says(&format!("worker `{worker}` is shut out"));
    };
    hand_in("other-program", &|result| result.program = "0".repeat(64));
    hand_in("other-name", &|result| result.worker = "good".to_owned());
    hand_in("damaged", &|_| {});
    let shut_out = waiting.finish(&server);
    let reason = |worker: &str| shut_out.get(worker).map(String::as_str);
    assert_eq!(shut_out.len(), 6, "{shut_out:?}");
    assert_eq!(reason("evil"), Some("it returned bytes that are no result"));
    assert_eq!(reason("other-program"), Some("it ran a program with another hash"));
    assert_eq!(reason("other-name"), Some("it returned a result in another worker's name"));
    assert_eq!(reason("damaged"), Some("it returned a state that is damaged"));
}

/// What a worker did before it was shut out is not relied on either.
#[test]
fn the_parts_of_a_worker_that_is_shut_out_later_are_done_again() {
    let server = Server::new();
    let waiting = Waiting::of(&server, SLOW_SUMS);
    let two_faced = server.worker("two-faced", &[]);
    eventually("no part is done", || server.hunts().iter().any(|hunt| hunt["status"]["parts_done"].as_u64() > Some(0)));
    two_faced.signal(Signal::STOP);
    let subject = format!("racehunter.{}.result.two-faced", waiting.name);
    publish(&server, &subject, b"\0nothing that makes sense");
    waiting.hunt.wait_until_it_says("worker `two-faced` is shut out");
    end(vec![two_faced]);
    let hunts = server.hunts();
    assert!(hunts[0]["status"]["epoch"].as_u64() > Some(0), "the search does not start again: {hunts:?}");
    let good = server.worker("good", &[]);
    let Waiting { hunt, one, .. } = waiting;
    let many = Hunted::new(hunt.finish()).expect(0);
    // What was done before counts as executions that were made, and for nothing else.
    let (ids, executions, claim, complete, bounds) = essence(&many);
    let (own_ids, least, own_claim, own_complete, own_bounds) = essence(&one);
    assert_eq!((ids, claim, complete), (own_ids, own_claim, own_complete));
    assert!(executions >= least, "{executions} of {least}");
    assert_eq!(bounds.last(), own_bounds.last());
    end(vec![good]);
}

/// A coordinator that is resumed reads what others have written meanwhile.
#[test]
fn garbage_among_the_results_is_named_when_a_hunt_is_resumed() {
    let server = Server::new();
    let mut waiting = Waiting::new(&server);
    waiting.hunt.signal(Signal::KILL);
    publish(&server, &format!("racehunter.{}.result.evil", waiting.name), b"\0nothing that makes sense");
    let url = server.url();
    let options = [Waiting::options(&url), vec!["--resume"]].concat();
    waiting.hunt = Started::new(&mut waiting.workshop.hunt_command(&waiting.program, &options));
    waiting.hunt.wait_until_it_says("worker `evil` is shut out");
    assert_eq!(waiting.finish(&server).len(), 1);
}

#[test]
fn a_hunt_whose_announcement_is_damaged_cannot_be_resumed() {
    let server = Server::new();
    let waiting = Waiting::new(&server);
    waiting.hunt.signal(Signal::KILL);
    publish(&server, &format!("$KV.racehunter.hunt.{}", waiting.name), b"{\"hunt\": 7}");
    let url = server.url();
    let options = [Waiting::options(&url), vec!["--resume"]].concat();
    let mut again = waiting.workshop.hunt_command(&waiting.program, &options);
    run(&mut again).expect(2).says("no unfinished hunt");
    // Others are not disturbed by it.
    assert_eq!(run(&mut racehunter(["status", "--engine", &url])).expect(0).stdout, "no hunts\n0 workers\n");
}

/// Announces a hunt of `program` as the coordinator of another machine would. The file is stored under the digest of `said`.
fn announce(server: &Server, program: &Path, said: &[u8], change: &dyn Fn(&mut Announcement)) -> NatsBoard {
    let file = FileRef {
        name: "program".to_owned(),
        role: Role::Program,
        digest: sha256(said),
        size: said.len() as u64,
        path: program.to_path_buf(),
    };
    let mut announcement = Announcement {
        hunt: String::new(),
        identity: format!("{:0>16}", std::process::id()),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        owner: "eve@elsewhere".to_owned(),
        name: "program".to_owned(),
        words: vec!["--analysis=context-bound".to_owned()],
        arguments: Vec::new(),
        files: vec![file],
        libraries: BTreeMap::new(),
        environment: BTreeMap::new(),
        reference: Reference::default(),
        part_runs: 16,
    };
    change(&mut announcement);
    let mut board = NatsBoard::new(engine(server));
    board.open(&announcement, &mut |file| fs::read(&file.path), false).unwrap();
    board.publish(&Status { state: "exploring".to_owned(), ..Status::default() }).unwrap();
    board
}

/// What a worker says about a hunt that was announced by an impostor.
fn refused(program: &Path, said: &[u8], change: &dyn Fn(&mut Announcement), words: &str) {
    let server = Server::new();
    let _board = announce(&server, program, said, change);
    let mut worker = server.worker("w", &["--until-idle", "1s"]);
    worker.wait_until_it_says(words);
    assert!(worker.is_running(), "other hunts may be in order");
    let ended = worker.finish().expect(0).says("eve@elsewhere");
    assert!(!ended.stderr.contains("joins hunt"), "{}", ended.stderr);
    let workers = server.workers();
    assert!(workers[0]["refused"].to_string().contains(words), "{workers:?}");
}

/// The recorded identities are changed, as if the coordinator were another kind of machine.
#[test]
fn a_worker_refuses_hunts_of_machines_that_are_different() {
    let (_workshop, program) = Workshop::with_program(DEPENDS);
    let bytes = fs::read(&program).unwrap();
    let other_version = |announcement: &mut Announcement| announcement.version = "0.0.1".to_owned();
    refused(&program, &bytes, &other_version, "it was started by RaceHunter 0.0.1");
    let other_library = |announcement: &mut Announcement| {
        announcement.libraries.insert("libc.so.6".to_owned(), "0123456789abcdef".to_owned());
    };
    refused(&program, &bytes, &other_library, "its library `libc.so.6` is another one here");
    // Code that depends on the processor makes other events, or ends differently.
    let other_processor = |announcement: &mut Announcement| {
        announcement.reference =
            Reference { events: 4_711, threads: 3, outcome: "Exited(0)".to_owned(), output: sha256(b"") };
    };
    refused(&program, &bytes, &other_processor, "the program behaves differently here: 4711 events there");
}

#[test]
fn a_worker_refuses_programs_that_cannot_be_run_here() {
    let (workshop, program) = Workshop::with_program(DEPENDS);
    let mut foreign = fs::read(&program).unwrap();
    // The processor that an executable is for: 64-bit ARM.
    foreign[18..20].copy_from_slice(&183_u16.to_le_bytes());
    let path = workshop.path("foreign");
    fs::write(&path, &foreign).unwrap();
    refused(&path, &foreign, &|_| {}, "its program cannot be run here");
    let text = workshop.write("text", "no program");
    refused(&text, b"no program", &|_| {}, "its program cannot be run here");
}

#[test]
fn a_worker_refuses_announcements_that_make_no_sense() {
    let (_workshop, program) = Workshop::with_program(DEPENDS);
    let bytes = fs::read(&program).unwrap();
    refused(&program, b"what it should be", &|_| {}, "is damaged: its SHA-256 is not");
    let elsewhere = |announcement: &mut Announcement| announcement.files[0].name = "../program".to_owned();
    refused(&program, &bytes, &elsewhere, "`../program` is no file name");
    let nothing = |announcement: &mut Announcement| announcement.files.clear();
    refused(&program, &bytes, &nothing, "it names 0 programs");
    let command = |announcement: &mut Announcement| announcement.words = vec!["--no-such-option".to_owned()];
    refused(&program, &bytes, &command, "its announcement is damaged");
}
