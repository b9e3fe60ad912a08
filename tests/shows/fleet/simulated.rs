//! Many simulated workers at one server: the messages of a hunt without its executions.
//!
//! Each worker is a connection of its own, and talks to the server as `racehunter worker` does, through the same code. In place of
//! exploring, it waits. The coordinator offers parts and takes results, and does not look into them.

use crate::long::ticks_of;
use crate::table::{Align, Table};
use racehunter_e2e::nats::Server;
use racehunter_fleet::{Access, Engine, NatsBoard, NatsDesk};
use racehunter_hunter::fleet::{Announcement, Board as _, Desk as _, EngineError, Reference, Status, WorkerStatus};
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

/// Bytes of a part, and of a result.
const SIZES: [usize; 2] = [4_096, 16_384];
/// As in `racehunter worker`.
const LOOK: Duration = Duration::from_millis(500);
const REPORT: Duration = Duration::from_secs(5);
/// As in the coordinator.
const PARTS_PER_WORKER: usize = 4;

/// How long a worker has each part.
#[derive(Clone, Copy)]
struct Pace {
    name: &'static str,
    part: Duration,
    for_: Duration,
}

/// What came of it.
struct Measured {
    parts: u64,
    time: Duration,
    server_cpu: Duration,
    memory_kib: u64,
    disk: u64,
    take: Vec<Duration>,
    hand_in: Vec<Duration>,
}

/// Prints the table.
pub fn show(workers: usize, is_quick: bool) -> Result<(), String> {
    allow_many_files();
    let seconds = |number: u64| Duration::from_secs(if is_quick { 3 } else { number });
    let paces = [
        Pace { name: "4 s", part: seconds(4) / if is_quick { 4 } else { 1 }, for_: seconds(40) },
        Pace { name: "none", part: Duration::ZERO, for_: seconds(20) },
    ];
    println!("{workers} simulated workers at one server\n");
    let table = Table::new([
        ("time of a part", 0, Align::Left),
        ("parts/s", 8, Align::Right),
        ("server CPU", 0, Align::Right),
        ("CPU/part", 9, Align::Right),
        ("memory", 8, Align::Right),
        ("disk", 8, Align::Right),
        ("take, median", 0, Align::Right),
        ("99 %", 9, Align::Right),
        ("hand in, median", 0, Align::Right),
        ("99 %", 9, Align::Right),
    ]);
    println!("{}", table.heading());
    for pace in paces {
        let mut measured = measure(workers, pace).map_err(|error| error.to_string())?;
        let seconds = measured.time.as_secs_f64();
        let milliseconds = |time: Duration| format!("{:.2} ms", time.as_secs_f64() * 1e3);
        let [take, hand_in] = [&mut measured.take, &mut measured.hand_in].map(|times| {
            times.sort_unstable();
            [50, 99].map(|percent| times.get(times.len() * percent / 100).copied().unwrap_or_default())
        });
        println!(
            "{}",
            table.row([
                pace.name.to_owned(),
                format!("{:.0}", measured.parts as f64 / seconds),
                format!("{:.0} %", 100.0 * measured.server_cpu.as_secs_f64() / seconds),
                milliseconds(measured.server_cpu / u32::try_from(measured.parts.max(1)).unwrap_or(u32::MAX)),
                format!("{} MB", measured.memory_kib / 1000),
                format!("{} MB", measured.disk / 1_000_000),
                milliseconds(take[0]),
                milliseconds(take[1]),
                milliseconds(hand_in[0]),
                milliseconds(hand_in[1]),
            ])
        );
    }
    Ok(())
}

/// Each connection is a file.
fn allow_many_files() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    // If it is not allowed, connecting fails and says so.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}

/// What the threads of all workers share.
struct Fleet {
    runtime: Arc<Runtime>,
    url: String,
    pace: Pace,
    /// Workers that are connected.
    here: AtomicUsize,
    is_over: AtomicBool,
    times: Mutex<(Vec<Duration>, Vec<Duration>)>,
}

impl Fleet {
    fn engine(&self) -> Result<Engine, EngineError> {
        let (url, patience, lease) = (self.url.clone(), Duration::from_secs(60), Duration::from_secs(30));
        let access = Access { url, credentials: None, authorities: None, certificate: None, patience, lease };
        Engine::connect_on(Arc::clone(&self.runtime), access)
    }
}

fn measure(workers: usize, pace: Pace) -> Result<Measured, EngineError> {
    let server = Server::new();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_all().build();
    let runtime = runtime.map_err(|error| EngineError::Other(error.to_string()))?;
    let fleet = Fleet {
        runtime: Arc::new(runtime),
        url: server.url(),
        pace,
        here: AtomicUsize::new(0),
        is_over: AtomicBool::new(false),
        times: Mutex::default(),
    };
    thread::scope(|scope| {
        for number in 0..workers {
            let fleet = &fleet;
            let thread = thread::Builder::new().stack_size(512 << 10);
            let spawned = thread.spawn_scoped(scope, move || {
                if let Err(error) = work(fleet, number) {
                    eprintln!("worker {number}: {error}");
                }
            });
            spawned.map_err(|error| EngineError::Other(error.to_string()))?;
        }
        let measured = coordinate(&fleet, &server, workers);
        fleet.is_over.store(true, Ordering::Relaxed);
        measured
    })
}

/// A worker: what `racehunter worker` tells the engine, and nothing between taking a part and handing it in but time.
fn work(fleet: &Fleet, number: usize) -> Result<(), EngineError> {
    let name = format!("w{number}");
    let mut desk = NatsDesk::new(fleet.engine()?, name.clone());
    fleet.here.fetch_add(1, Ordering::Relaxed);
    let result = vec![7; SIZES[1]];
    let (mut hunts, mut looked, mut reported) = (Vec::new(), None::<Instant>, None::<Instant>);
    let mut times = (Vec::new(), Vec::new());
    while !fleet.is_over.load(Ordering::Relaxed) {
        if reported.is_none_or(|last| last.elapsed() >= REPORT) {
            desk.report(&WorkerStatus { worker: name.clone(), ..WorkerStatus::default() })?;
            reported = Some(Instant::now());
        }
        if looked.is_none_or(|last| last.elapsed() >= LOOK) {
            hunts = desk.hunts()?;
            looked = Some(Instant::now());
        }
        let Some(hunt) = hunts.first() else {
            thread::sleep(LOOK);
            continue;
        };
        let began = Instant::now();
        let Some(lease) = desk.take(&hunt.hunt, LOOK)? else { continue };
        times.0.push(began.elapsed());
        // Not all at the same moment.
        let late = if times.0.len() == 1 { fleet.pace.part * (number as u32 % 64) / 64 } else { fleet.pace.part };
        thread::sleep(late);
        let began = Instant::now();
        lease.hand_in(&result)?;
        times.1.push(began.elapsed());
    }
    if let Ok(mut all) = fleet.times.lock() {
        all.0.append(&mut times.0);
        all.1.append(&mut times.1);
    }
    Ok(())
}

fn coordinate(fleet: &Fleet, server: &Server, workers: usize) -> Result<Measured, EngineError> {
    let mut board = NatsBoard::new(fleet.engine()?);
    while fleet.here.load(Ordering::Relaxed) < workers {
        thread::sleep(Duration::from_millis(50));
    }
    board.open(&announcement(), &mut |_| Ok(Vec::new()), false)?;
    let exploring = Status { state: "exploring".to_owned(), ..Status::default() };
    board.publish(&exploring)?;
    let part = vec![3; SIZES[0]];
    let mut offered = 0;
    while offered < (workers * PARTS_PER_WORKER) as u64 {
        board.offer(offered, &part)?;
        offered += 1;
    }
    // Until all of them work.
    let mut done = 0;
    while done < workers as u64 {
        if board.next(LOOK)?.is_some() {
            done += 1;
            board.offer(offered, &part)?;
            offered += 1;
        }
    }
    let cpu = || server.process().map(|process| ticks_of(&format!("/proc/{process}/stat"), 2)).unwrap_or_default();
    let (began, before, mut told) = (Instant::now(), cpu(), Instant::now());
    let mut parts = 0;
    while began.elapsed() < fleet.pace.for_ {
        if told.elapsed() >= Duration::from_secs(1) {
            board.publish(&exploring)?;
            told = Instant::now();
        }
        if board.next(LOOK)?.is_some() {
            parts += 1;
            board.offer(offered, &part)?;
            offered += 1;
        }
    }
    let (time, server_cpu) = (began.elapsed(), cpu().saturating_sub(before));
    let memory_kib = server.process().map(peak_memory).unwrap_or_default();
    let disk = size_of(&server.directory.join("store"));
    fleet.is_over.store(true, Ordering::Relaxed);
    // Those that wait for a part or have one end with it.
    thread::sleep(fleet.pace.part.max(LOOK) + LOOK);
    let (take, hand_in) = fleet.times.lock().map(|mut times| std::mem::take(&mut *times)).unwrap_or_default();
    Ok(Measured { parts, time, server_cpu, memory_kib, disk, take, hand_in })
}

fn announcement() -> Announcement {
    Announcement {
        hunt: String::new(),
        identity: "0123456789abcdef".to_owned(),
        version: "simulated".to_owned(),
        owner: "bench".to_owned(),
        name: "nothing".to_owned(),
        words: Vec::new(),
        arguments: Vec::new(),
        files: Vec::new(),
        libraries: std::collections::BTreeMap::new(),
        environment: std::collections::BTreeMap::new(),
        reference: Reference::default(),
        part_runs: 1,
    }
}

/// Returns the peak memory of a process in KiB.
fn peak_memory(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse().unwrap_or_default()
}

fn size_of(path: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(path) else { return fs::metadata(path).map_or(0, |of| of.len()) };
    entries.filter_map(|entry| Some(size_of(&entry.ok()?.path()))).sum()
}
