//! `cargo xtask probes`: programs for which the right answer is known, and whether every answer about them is true.
//!
//! The programs are those below `probes/`, and those of a directory that `--dir` or `RACEHUNTER_PROBES` names, whose
//! truths are in `probes/external.toml`. Probes run one after the other, unless `--jobs` says otherwise: two hunts
//! that share a machine disturb each other's clocks. `--busy N` disturbs them on purpose.

use crate::table::{Align, Table, time};
use racehunter_e2e::answers::{Answer, Outcome, judge};
use racehunter_e2e::probes::{self, Asked, Ban, Form, Probe, Truth, Want};
use racehunter_e2e::{Workshop, processes, racehunter};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::Read;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

/// Executions of a hunt: the default limit.
const RUNS: &str = "2000";
/// Time of a hunt.
const HUNT_TIME: &str = "10s";
/// Time of a scan. A longer scan would not learn more.
const SCAN_TIME: &str = "5s";
/// A command that exceeds its limit by this much counts as hanging.
const PATIENCE: Duration = Duration::from_secs(60);
/// The variable that marks everything that runs below a probe.
const MARK: &str = "RACEHUNTER_PROBE";

/// The request.
#[derive(Default)]
struct Request {
    names: Vec<String>,
    directory: Option<PathBuf>,
    jobs: usize,
    busy: usize,
    time: Option<String>,
    results: Option<PathBuf>,
    /// Also ask `scan --approx over` about the programs that have a race.
    cross: bool,
    list: bool,
}

/// An answer, or why there is none.
enum Done {
    Judged(Outcome, Box<Answer>),
    Skipped(String),
}

/// The result of one probe.
struct Row {
    done: Done,
    took: Duration,
    line: String,
}

/// Runs all probes whose name contains one of these words; returns true if no answer was wrong.
pub fn show(words: &[&str]) -> Result<bool, String> {
    let request = request(words)?;
    let mut all = probes::probes()?;
    if let Some(directory) = &request.directory {
        // Commands run in separate directories.
        let directory = directory.canonicalize().map_err(|error| format!("{}: {error}", directory.display()))?;
        let (external, strangers) = probes::external(&directory)?;
        for stranger in strangers {
            println!("not in probes/external.toml: {stranger}");
        }
        all.extend(external);
    }
    if request.cross {
        let crossed: Vec<Probe> = all.iter().filter_map(cross).collect();
        all.extend(crossed);
    }
    let chosen = |probe: &Probe| request.names.is_empty() || request.names.iter().any(|name| probe.name.contains(name));
    all.retain(chosen);
    if all.is_empty() {
        return Err(format!("no probe has {:?} in its name", request.names));
    }
    if request.list {
        for probe in &all {
            println!("{:<44} {:<5} {}", probe.name, probe.asked.word(), truth(probe));
        }
        return Ok(true);
    }
    let began = Instant::now();
    let stop = AtomicBool::new(false);
    let rows = thread::scope(|scope| {
        for _ in 0..request.busy {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let rows = ask_all(&all, &request);
        stop.store(true, Ordering::Relaxed);
        rows
    });
    summarise(&all, &rows, began.elapsed());
    if let Some(file) = &request.results {
        let text = results(&all, &rows);
        std::fs::write(file, text).map_err(|error| format!("{}: {error}", file.display()))?;
    }
    Ok(!rows.iter().any(|row| matches!(row.done, Done::Judged(Outcome::Wrong(_), _))))
}

fn request(words: &[&str]) -> Result<Request, String> {
    let mut request = Request { jobs: 1, ..Request::default() };
    request.directory = std::env::var_os("RACEHUNTER_PROBES").map(PathBuf::from);
    let mut words = words.iter();
    while let Some(&word) = words.next() {
        let mut value = || words.next().map(|word| (*word).to_owned()).ok_or(format!("{word} needs a value"));
        let number = |value: String| value.parse::<usize>().map_err(|_| format!("{value} is no number"));
        match word {
            "--dir" => request.directory = Some(PathBuf::from(value()?)),
            "--jobs" => request.jobs = number(value()?)?.max(1),
            "--busy" => request.busy = number(value()?)?,
            "--time" => request.time = Some(value()?),
            "--results" => request.results = Some(PathBuf::from(value()?)),
            "--cross" => request.cross = true,
            "--list" => request.list = true,
            option if option.starts_with('-') => return Err(format!("there is no option {option}")),
            name => request.names.push(name.to_owned()),
        }
    }
    Ok(request)
}

/// Returns the scan of a hunted program with a race: it takes little time if nothing is executed.
fn cross(probe: &Probe) -> Option<Probe> {
    let races = matches!(&probe.truth, Truth::Bug(kinds) if kinds.contains("data-race"));
    (probe.asked == Asked::Hunt && races && probe.cross && probe.with.is_empty()).then(|| Probe {
        name: format!("{} (cross)", probe.name),
        class: "cross".to_owned(),
        asked: Asked::Scan,
        options: vec!["--approx".to_owned(), "over".to_owned()],
        args: Vec::new(),
        must_not: BTreeSet::new(),
        want: Want::NoClaim,
        ..probe.clone()
    })
}

fn ask_all(all: &[Probe], request: &Request) -> Vec<Row> {
    let cage = Cage::find();
    let (next, (sender, receiver)) = (AtomicUsize::new(0), mpsc::channel());
    let mut rows: BTreeMap<usize, Row> = BTreeMap::new();
    thread::scope(|scope| {
        for _ in 0..request.jobs {
            let (next, sender, cage) = (&next, sender.clone(), &cage);
            scope.spawn(move || {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(probe) = all.get(number) else { return };
                    if sender.send((number, ask(probe, number, request, cage))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        for (number, row) in receiver {
            let (word, detail) = match &row.done {
                Done::Judged(Outcome::Wrong(what), _) => ("WRONG", what.join("; ")),
                Done::Judged(outcome, _) => (outcome.word(), String::new()),
                Done::Skipped(why) => ("skipped", why.clone()),
            };
            println!("{:>7}  {word:<8}  {:<44}  {detail}", time(row.took), all[number].name);
            rows.insert(number, row);
        }
    });
    rows.into_values().collect()
}

/// A process namespace, for programs that would harm others.
struct Cage(Option<Vec<&'static str>>);

impl Cage {
    /// Returns the first permitted way to create one.
    fn find() -> Self {
        const WAYS: [&[&str]; 2] = [
            &["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"],
            &["unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc", "--kill-child"],
        ];
        let works = |way: &&&[&str]| {
            let mut command = Command::new(way[0]);
            command.args(&way[1..]).arg("true").stdout(Stdio::null()).stderr(Stdio::null());
            command.status().is_ok_and(|status| status.success())
        };
        Self(WAYS.iter().find(works).map(|way| way.to_vec()))
    }

    fn around(&self, command: &Command) -> Option<Command> {
        let way = self.0.as_ref()?;
        let mut caged = Command::new(way[0]);
        // The first process of a namespace ignores most signals, so the command must not be that one.
        caged.args(&way[1..]).args(["sh", "-c", "\"$@\"; exit $?", "sh"]);
        caged.arg(command.get_program()).args(command.get_args());
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => caged.env(name, value),
                None => caged.env_remove(name),
            };
        }
        caged.current_dir(command.get_current_dir()?);
        Some(caged)
    }
}

/// Asks with defaults first, and if that gives no answer, with the analysis that claims most: it finishes where others
/// run out of executions.
fn ask(probe: &Probe, number: usize, request: &Request, cage: &Cage) -> Row {
    let row = ask_once(probe, number, request, cage);
    let open = matches!(row.done, Done::Judged(Outcome::NoClaim, _)) && probe.truth != Truth::Any;
    let chosen = probe.options.iter().any(|word| word == "--analysis" || word == "--free-running");
    if probe.asked != Asked::Hunt || !open || chosen {
        return row;
    }
    let mut bounded = probe.clone();
    bounded.options.extend(["--analysis", "context-bound"].map(str::to_owned));
    let mut second = ask_once(&bounded, number, request, cage);
    second.took += row.took;
    second
}

fn ask_once(probe: &Probe, number: usize, request: &Request, cage: &Cage) -> Row {
    let began = Instant::now();
    let workshop = Workshop::new();
    let row = |done, line| Row { done, took: began.elapsed(), line };
    let (mut command, line) = match command(probe, request, &workshop) {
        Ok(ready) => ready,
        Err(why) => return row(Done::Skipped(why), String::new()),
    };
    let mark = format!("{}-{number}", std::process::id());
    command.env(MARK, &mark);
    if probe.isolate {
        match cage.around(&command) {
            Some(caged) => command = caged,
            None => return row(Done::Skipped("dangerous, and `unshare` is not permitted".to_owned()), line),
        }
    }
    let answer = run(&mut command, &mark);
    row(Done::Judged(judge(probe, &answer), Box::new(answer)), line)
}

/// Returns the command that asks about a probe, and how a user would type it.
fn command(probe: &Probe, request: &Request, workshop: &Workshop) -> Result<(Command, String), String> {
    let mut flags = probe.flags.clone();
    let directory = workshop.path("").to_string_lossy().trim_end_matches('/').to_owned();
    for foreign in &probe.with {
        let stem = foreign.file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let (product, how): (PathBuf, &[&str]) = match foreign.form {
            Form::Object => (workshop.path(&format!("{stem}.o")), &["-c"]),
            Form::Shared | Form::Loaded => (workshop.path(&format!("{stem}.so")), &["-shared"]),
        };
        let mut gcc = Command::new("gcc");
        gcc.args(["-O0", "-fPIC", "-w"]).args(how).arg(&foreign.file).arg("-o").arg(&product);
        if !gcc.status().is_ok_and(|status| status.success()) {
            return Err(format!("gcc cannot build {}", foreign.file.display()));
        }
        if foreign.form != Form::Loaded {
            flags.push(product.to_string_lossy().into_owned());
        }
    }
    let mut words = vec![probe.asked.word().to_owned()];
    let has = |option: &str| probe.options.iter().any(|word| word == option);
    let own_time = if probe.asked == Asked::Hunt { HUNT_TIME } else { SCAN_TIME };
    if probe.asked == Asked::Hunt && !has("--runs") {
        words.extend(["--runs", RUNS].map(str::to_owned));
    }
    if !has("--time") {
        words.extend(["--time".to_owned(), request.time.clone().unwrap_or_else(|| own_time.to_owned())]);
    }
    words.extend(probe.options.iter().cloned());
    if !flags.is_empty() {
        words.push(format!("--cflags={}", flags.join(" ")));
    }
    words.push(probe.source.to_string_lossy().into_owned());
    if !probe.args.is_empty() {
        words.push("--".to_owned());
        words.extend(probe.args.iter().map(|word| word.replace("{dir}", &directory)));
    }
    let quoted = |word: &String| if word.contains(' ') { format!("'{word}'") } else { word.clone() };
    let line = format!("racehunter {}", words.iter().map(quoted).collect::<Vec<_>>().join(" "));
    let mut all = words.clone();
    all.splice(1..1, ["--message-format", "json", "--quiet", "--out"].map(str::to_owned));
    all.insert(5, workshop.out().to_string_lossy().into_owned());
    let mut command = racehunter(all);
    // Files that programs write into their working directory are then discarded.
    command.current_dir(workshop.path(""));
    Ok((command, line))
}

/// Runs a command to its end, or kills it.
fn run(command: &mut Command, mark: &str) -> Answer {
    // A program that signals its process group must not reach this one, which a PID namespace does not prevent.
    command.process_group(0);
    let spawned = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = match spawned {
        Ok(child) => child,
        Err(error) => return Answer { stderr: error.to_string(), ..Answer::default() },
    };
    let (stdout, stderr) = (Mutex::new(Vec::new()), Mutex::new(Vec::new()));
    let (mut pipe, mut other) = (child.stdout.take(), child.stderr.take());
    let (ending, left) = thread::scope(|scope| {
        scope.spawn(|| drain(pipe.as_mut(), &stdout));
        scope.spawn(|| drain(other.as_mut(), &stderr));
        let ending = wait(&mut child);
        // Leftover processes may hold its pipes, which would then never end.
        let left = left_behind(mark);
        processes::end(&left);
        (ending, left)
    });
    let text = |bytes: Mutex<Vec<u8>>| String::from_utf8_lossy(&bytes.into_inner().unwrap_or_default()).into_owned();
    let mut answer = Answer::read(ending.flatten(), &text(stdout), text(stderr));
    answer.hung = ending.is_none();
    // A killed process cannot clean up.
    answer.left = if answer.hung { 0 } else { left.len() };
    answer
}

fn drain(pipe: Option<&mut impl Read>, into: &Mutex<Vec<u8>>) {
    let (Some(pipe), mut some) = (pipe, [0; 1 << 14]) else { return };
    while let Ok(count @ 1..) = pipe.read(&mut some) {
        if let Ok(mut bytes) = into.lock() {
            bytes.extend_from_slice(&some[..count]);
        }
    }
}

/// Returns the exit code, or nothing if it had to be killed.
fn wait(child: &mut Child) -> Option<Option<i32>> {
    let began = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status.code()),
            Ok(None) if began.elapsed() < PATIENCE => thread::sleep(Duration::from_millis(5)),
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                return None;
            }
        }
    }
}

/// Returns the processes that still run a while after the command has ended.
fn left_behind(mark: &str) -> Vec<u32> {
    let mut left = Vec::new();
    for _ in 0..40 {
        left = processes::marked(MARK, mark);
        if left.is_empty() {
            break;
        }
        thread::sleep(Duration::from_millis(50));
    }
    left
}

fn truth(probe: &Probe) -> String {
    match &probe.truth {
        Truth::Clean => "clean".to_owned(),
        Truth::Any => "any".to_owned(),
        Truth::Bug(_) => probe.kinds().join(" "),
    }
}

/// Number of each outcome in a class.
#[derive(Clone, Copy, Default)]
struct Count {
    probes: usize,
    found: usize,
    bug_silent: usize,
    bug_wrong: usize,
    proved: usize,
    silent: usize,
    clean_wrong: usize,
    any: usize,
    any_wrong: usize,
    skipped: usize,
}

impl Count {
    fn add(&mut self, probe: &Probe, row: &Row) {
        self.probes += 1;
        let Done::Judged(outcome, _) = &row.done else {
            self.skipped += 1;
            return;
        };
        let counter = match (&probe.truth, outcome) {
            (Truth::Any, Outcome::Wrong(_)) => &mut self.any_wrong,
            (Truth::Any, _) => &mut self.any,
            (Truth::Bug(_), Outcome::Wrong(_)) => &mut self.bug_wrong,
            (Truth::Bug(_), Outcome::Found) => &mut self.found,
            (Truth::Bug(_), _) => &mut self.bug_silent,
            (Truth::Clean, Outcome::Wrong(_)) => &mut self.clean_wrong,
            (Truth::Clean, Outcome::Proved) => &mut self.proved,
            (Truth::Clean, _) => &mut self.silent,
        };
        *counter += 1;
    }
}

fn summarise(all: &[Probe], rows: &[Row], took: Duration) {
    let mut classes: BTreeMap<&str, Count> = BTreeMap::new();
    let mut total = Count::default();
    for (probe, row) in all.iter().zip(rows) {
        classes.entry(&probe.class).or_default().add(probe, row);
        total.add(probe, row);
    }
    let wrong = total.bug_wrong + total.clean_wrong + total.any_wrong;
    let right = Align::Right;
    let table = Table::new([
        ("class", 7, Align::Left),
        ("probes", 0, right),
        ("bug: found", 0, right),
        ("no claim", 0, right),
        ("WRONG", 0, right),
        ("correct: proved", 0, right),
        ("no claim", 0, right),
        ("WRONG", 0, right),
        ("other: fine", 0, right),
        ("WRONG", 0, right),
        ("skipped", 0, right),
    ]);
    println!("\n{}", table.heading());
    for (class, count) in classes.into_iter().chain([("all", total)]) {
        let Count { probes, found, bug_silent, bug_wrong, proved, silent, clean_wrong, any, any_wrong, skipped } =
            count;
        let numbers = [probes, found, bug_silent, bug_wrong, proved, silent, clean_wrong, any, any_wrong, skipped];
        let mut cells = vec![class.to_owned()];
        cells.extend(numbers.iter().map(usize::to_string));
        if let Ok(cells) = cells.try_into() {
            println!("{}", table.row(cells));
        }
    }
    let better = |(probe, row): &(&Probe, &Row)| {
        let Done::Judged(outcome, _) = &row.done else { return false };
        matches!((probe.want, outcome), (Want::Found, Outcome::NoClaim)) && matches!(probe.truth, Truth::Bug(_))
    };
    let missed: Vec<&str> = all.iter().zip(rows).filter(better).map(|(probe, _)| probe.name.as_str()).collect();
    if !missed.is_empty() {
        println!("\nmissed, and not claimed to be absent: {}", missed.join(", "));
    }
    for (probe, row) in all.iter().zip(rows) {
        let Done::Judged(Outcome::Wrong(what), answer) = &row.done else { continue };
        println!("\n{}: {}", probe.name, what.join("; "));
        println!("    truth:  {}{}", truth(probe), banned(probe));
        println!("    {}", row.line);
        println!("    answer: {}", answer.line());
    }
    println!("\n{} probes, {wrong} wrong, {} skipped, in {}", total.probes, total.skipped, time(took));
}

fn banned(probe: &Probe) -> &'static str {
    let ban = |ban| probe.must_not.contains(&ban);
    match (ban(Ban::Proved), ban(Ban::ExitZero)) {
        (true, true) => "; never proved, never exit 0",
        (true, false) => "; never proved",
        (false, true) => "; never exit 0",
        (false, false) => "",
    }
}

/// Returns one line for each probe, for comparison with another build.
fn results(all: &[Probe], rows: &[Row]) -> String {
    let mut text = String::new();
    for (probe, row) in all.iter().zip(rows) {
        let (word, detail) = match &row.done {
            Done::Judged(outcome, answer) => (outcome.word(), answer.line()),
            Done::Skipped(why) => ("skipped", why.clone()),
        };
        let detail = detail.replace(['\t', '\n'], " ");
        let _ = writeln!(text, "{}\t{}\t{}\t{word}\t{detail}", probe.name, probe.asked.word(), truth(probe));
    }
    text
}
