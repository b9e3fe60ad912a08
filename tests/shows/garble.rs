//! `cargo xtask chaos --garble [SEEDS]`: a program that overwrites the memory it shares with the controller.
//!
//! Whatever it writes there, nothing is claimed about it, no other process is killed, and the hunt ends. The hunts run
//! in their own process namespace, together with a bystander: otherwise a mistake could kill everything that this user
//! runs.

use racehunter_e2e::{Ended, Hunted, Workshop, run};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Default number of seeds.
const SEEDS: u64 = 1_000;
/// Ways to overwrite it: everything, a few words that may not matter, and the number of a foreign process.
const WAYS: [(&str, Expected); 6] = [
    ("the same byte everywhere", Expected::Lost),
    ("random bytes everywhere", Expected::Lost),
    ("one byte in fifty", Expected::Lost),
    ("zeros everywhere", Expected::Lost),
    ("a few words anywhere", Expected::Anything),
    ("a foreign process, and hangs", Expected::Stopped),
];

/// The expected result of a hunt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected {
    /// All executions are lost.
    Lost,
    /// What was overwritten may not have mattered.
    Anything,
    /// All executions use up their time.
    Stopped,
}

/// Returns a command in a new process namespace, in which nothing else can be killed. Without permission to create one,
/// the show does not run.
fn namespace() -> Command {
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--pid", "--fork", "--mount-proc", "--kill-child"]);
    command
}

/// Returns true if such namespaces can be created here.
pub fn is_possible() -> bool {
    namespace().arg("true").stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// Starts itself in a namespace.
pub fn show(words: &[&str]) -> Result<bool, String> {
    let seeds = match words {
        [] => SEEDS,
        [number] => number.parse().map_err(|_| format!("--garble takes a number, not {number}"))?,
        _ => return Err("usage: cargo xtask chaos --garble [SEEDS]".to_owned()),
    };
    if !is_possible() {
        println!("no process namespaces here: not shown");
        return Ok(true);
    }
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let status = namespace().arg(own).args(["garble-hunts", &seeds.to_string()]).status();
    Ok(status.map_err(|error| error.to_string())?.success())
}

/// Runs the hunts themselves. Call this only in a separate namespace.
pub fn hunts(seeds: &str) -> Result<bool, String> {
    if std::process::id() > 100 {
        return Err("this is not a process namespace of its own".to_owned());
    }
    let seeds: u64 = seeds.parse().map_err(|_| "a number of seeds".to_owned())?;
    let (workshop, program) = Workshop::with_program(include_str!("../programs/garble.c"));
    let mut bystander = bystander()?;
    let mut wrong = 0;
    let mut counts = [[0_u64; 3]; WAYS.len()];
    for seed in 1..=seeds {
        let way = (seed % WAYS.len() as u64) as usize;
        let ended = hunt(&workshop, &program, seed, way);
        if bystander.try_wait().map_err(|error| error.to_string())?.is_some() {
            return Err(format!("seed {seed}: the bystander was killed"));
        }
        if let Err(what) = judge(&ended, WAYS[way].1) {
            println!("seed {seed}, {}: {what}\n{}{}", WAYS[way].0, ended.stdout, ended.stderr);
            wrong += 1;
        }
        let index = match ended.status {
            Some(1) => 0,
            Some(3) => 1,
            _ => 2,
        };
        counts[way][index] += 1;
    }
    for ((name, _), [found, unclear, other]) in WAYS.iter().zip(counts) {
        println!("{name}: {found} with findings, {unclear} unclear, {other} others");
    }
    println!("{seeds} hunts, {wrong} of them wrong; the bystander is alive");
    bystander.kill().and_then(|()| bystander.wait()).map_err(|error| error.to_string())?;
    Ok(wrong == 0)
}

fn bystander() -> Result<Child, String> {
    Command::new("sleep").arg("100000").spawn().map_err(|error| error.to_string())
}

fn hunt(workshop: &Workshop, program: &Path, seed: u64, way: usize) -> Ended {
    let options = ["--analysis", "random", "--runs", "6", "--timeout", "200ms", "--memory", "300", "--jobs", "2"];
    let mut command = workshop.hunt_command(program, &options);
    run(command.args(["--", &seed.to_string(), &way.to_string()]))
}

fn judge(ended: &Ended, expected: Expected) -> Result<(), String> {
    if ended.stderr.contains("panicked") || !matches!(ended.status, Some(0 | 1 | 3)) {
        return Err(format!("it ended with {:?}", ended.status));
    }
    let hunted = Hunted::new(ended.clone());
    let summary = hunted.summary();
    let unclear = summary.unclear.join("; ");
    let is_right = match expected {
        Expected::Lost => ended.status == Some(3) && unclear.contains("it has overwritten what it shares"),
        Expected::Stopped => ended.status == Some(3) && unclear.contains("stopped after 200ms"),
        Expected::Anything => true,
    };
    let claims = summary.complete || summary.guarantee.contains("all ");
    if !is_right || claims && expected != Expected::Anything {
        return Err(format!("it says {:?}, {unclear}", summary.guarantee));
    }
    Ok(())
}
