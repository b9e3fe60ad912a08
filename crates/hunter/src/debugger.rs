//! `racehunter replay ID --gdb`: the program under gdb, while it follows the schedule of a finding.
//!
//! gdb starts the program. Its runtime finds the plan in the memory that gdb inherits from this process, and follows
//! it. A file beside the findings has what gdb needs to know about the finding; the commands are in `commands.py`.

use crate::shell::quote;
use crate::{Error, Stored, files};
use racehunter_explain::plan_of;
use racehunter_finding::{Finding, ScheduledSwitch};
use racehunter_launch::{Backend, Shared, debug};
use racehunter_report::cleaned;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, ExitStatus};

const COMMANDS: &str = include_str!("commands.py");

/// What the commands know about a finding.
#[derive(Serialize)]
struct Session<'a> {
    message: String,
    /// The functions in which threads start, in order of creation.
    threads: Vec<&'a str>,
    /// Event, the thread that is switched away from, the thread that continues.
    switches: Vec<(u64, u32, u32)>,
    /// An early event of each thread, and the thread.
    first_steps: Vec<(u64, u32)>,
    /// Event, operation and place. Memory is freed after the event of that number.
    racing: Vec<(u64, String, Option<String>)>,
    /// What threads wait for at the end.
    waits: Vec<String>,
}

impl<'a> Session<'a> {
    fn new(finding: &'a Finding) -> Self {
        let switch = |&ScheduledSwitch { at, to, from, .. }: &ScheduledSwitch| (at, from, to);
        let mut switches: Vec<_> = finding.schedule.switches.iter().map(switch).collect();
        // A thread that is chosen while it runs simply continues.
        switches.retain(|(_, from, to)| from != to);
        // The schedule has no switches that follow from it, and long interleavings have no early steps.
        let steps = finding.steps.iter().filter(|step| step.event > 0).map(|step| (step.thread, step.event));
        let mut first: BTreeMap<u32, u64> = BTreeMap::new();
        for (thread, event) in switches.iter().map(|&(at, _, to)| (to, at)).chain(steps) {
            let known = first.entry(thread).or_insert(event);
            *known = event.min(*known);
        }
        let first_steps = first.into_iter().map(|(thread, event)| (event, thread)).collect();
        let sites = finding.sites.iter().map(|site| {
            let what = if site.access.is_empty() { "takes part" } else { &site.access };
            let place = (site.access == "free" && site.line > 0).then(|| format!("{}:{}", site.file, site.line));
            (site.event, format!("{what} in {}", site.function), place)
        });
        // Findings of other kinds show at the end, which is a separate place.
        let is_event = |(event, ..): &(u64, String, _)| *event > 0 && finding.kind.is_about_memory();
        let mut racing: Vec<_> = sites.filter(is_event).collect();
        racing.sort();
        racing.dedup_by_key(|(event, ..)| *event);
        // The names that the report and the commands use.
        let name = |path: &str| match finding.threads.iter().position(|thread| thread.path == path) {
            Some(0) => "main".to_owned(),
            Some(number) => format!("T{number} {}", finding.threads[number].entry).trim_end().to_owned(),
            None => path.to_owned(),
        };
        let waits = finding.sites.iter().filter_map(|site| {
            let waiting = site.waits_for.as_ref()?;
            let owner = waiting.owner.as_deref().filter(|_| site.access != "join");
            let held = owner.map_or_else(String::new, |owner| format!(", held by {}", name(owner)));
            let (thread, object) = (name(&site.thread), &waiting.object);
            Some(format!("{thread} waits for {object}{held}, at {}:{}", site.file, site.line))
        });
        let waits = waits.collect();
        let threads = finding.threads.iter().map(|thread| thread.entry.as_str()).collect();
        let message = format!("{}: {}", finding.kind.name(), finding.message);
        Self { message, threads, switches, first_steps, racing, waits }
    }
}

/// How the program is run under gdb.
pub struct Debugging<'a> {
    /// Directory of the findings.
    pub out: &'a Path,
    /// How the threads of the program run.
    pub backend: Backend,
    /// What the execution shares with the rest of the machine.
    pub shared: Shared,
    /// Iterations of an in-process loop before the one that is replayed.
    pub preparatory: u32,
    /// Arguments of gdb.
    pub arguments: &'a [String],
}

/// Starts gdb and waits for its end. `finding` is as the last replay showed it.
///
/// # Errors
/// If gdb cannot be started, or a file that it needs cannot be written.
pub fn debug_replay(stored: &Stored, finding: &Finding, how: &Debugging<'_>) -> Result<ExitStatus, Error> {
    let directory = how.out.join("gdb");
    files::check_out(how.out)?;
    files::directory(&directory)?;
    let directory = directory.canonicalize().map_err(Error::file("write to", &directory))?;
    let (script, session) = (directory.join("commands.py"), directory.join(format!("{}.json", finding.id)));
    files::write(&script, COMMANDS.as_bytes())?;
    // It is printed to a terminal.
    let finding = &cleaned(finding);
    files::write(&session, &serde_json::to_vec_pretty(&Session::new(finding))?)?;
    let mut words: Vec<String> = stored.arguments.iter().map(|word| quote(word)).collect();
    let input = stored.input.as_deref().unwrap_or(Path::new("/dev/null"));
    words.push(format!("< {}", quote(&input.to_string_lossy())));
    let mut gdb = Command::new("gdb");
    gdb.env("RACEHUNTER_GDB_SESSION", &session)
        .args(["-q", "-ex"])
        .arg(format!("set args {}", words.join(" ")))
        .arg("-x")
        .arg(&script)
        .args(how.arguments)
        .arg(&stored.program);
    let shared = Shared { output: stored.checks_output, ..how.shared };
    debug(&plan_of(&finding.schedule), how.backend, (shared, how.preparatory), stored.client.as_deref(), &mut gdb)
        .map_err(Error::Debugger)
}
