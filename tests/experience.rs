//! From a finding to something that others can act on: logs for services, the page, gdb, settings and suppressions.
//!
//! One program is compiled and hunted once; all tests read the result, and write elsewhere.

use racehunter_e2e::{Ended, Hunted, Workshop, racehunter, root, schema};
use serde_json::Value;
use std::sync::LazyLock;

const QUEUE: &str = r"#include <pthread.h>
#include <stdlib.h>

struct queue {
    pthread_mutex_t lock;
    int count;
};
static struct queue *q;

static void *worker(void *unused) {
    q->count += 1;
    return unused;
}

static void *drain(void *unused) {
    pthread_mutex_lock(&q->lock);
    int seen = q->count;
    q->count = seen - 1;
    pthread_mutex_unlock(&q->lock);
    return unused;
}

int main(void) {
    pthread_t first, second;
    q = calloc(1, sizeof *q);
    pthread_mutex_init(&q->lock, NULL);
    pthread_create(&first, NULL, worker, NULL);
    pthread_create(&second, NULL, drain, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    free(q);
    return 0;
}
";

/// A directory with the program, and the stored results of its hunt.
struct Kept {
    workshop: Workshop,
    /// The output of the hunt, as SARIF.
    log: Value,
    /// The finding at the line of `worker` and the first line of `drain` that touches the memory.
    id: String,
}

static HUNTED: LazyLock<Kept> = LazyLock::new(|| {
    let workshop = Workshop::new();
    workshop.write("queue.c", QUEUE);
    workshop.cc(["-g", "-O0", "-pthread", "queue.c", "-o", "queue"]).expect(0);
    let hunt =
        ["hunt", "--quiet", "--analysis", "context-bound", "--bound", "1", "--message-format", "sarif", "./queue"];
    let ended = workshop.run(&mut racehunter(hunt)).expect(1);
    let log: Value = serde_json::from_str(&ended.stdout).expect("the output is one JSON document");
    let id = &log["runs"][0]["results"][0]["partialFingerprints"]["racehunter/v1"];
    let id = id.as_str().expect("a fingerprint").to_owned();
    Kept { workshop, log, id }
});

/// Runs the command in the directory of the program.
#[track_caller]
fn there(words: &[&str]) -> Ended {
    HUNTED.workshop.run(&mut racehunter(words))
}

#[test]
fn sarif_has_a_flow_for_each_thread_and_relative_paths() {
    let run = &HUNTED.log["runs"][0];
    let result = &run["results"][0];
    assert_eq!(result["ruleId"], "data-race");
    assert_eq!(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], "queue.c");
    let flows = result["codeFlows"][0]["threadFlows"].as_array().expect("flows");
    assert_eq!(flows.len(), 3, "main and two threads");
    let text = HUNTED.log.to_string();
    assert!(!text.contains(HUNTED.workshop.path("").to_str().expect("text")), "the log contains an absolute path");
    assert!(!text.contains("0x"), "no addresses");
    assert_eq!(run["invocations"][0]["executionSuccessful"], true);
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn json_lines_of_every_command_match_the_schema() {
    let json = ["--message-format", "json"];
    let hunt = ["hunt", "--quiet", "--runs", "40", "./queue", "--out", "other"];
    let predict = ["predict", "./queue", "--out", "other"];
    let commands: [&[&str]; 3] = [&hunt, &["replay", HUNTED.id.as_str()], &predict];
    for command in commands {
        let ended = there(&[command, &json].concat());
        assert!(!ended.stdout.is_empty(), "{}", ended.stderr);
        schema::check(&lines(&ended.stdout));
    }
}

/// The snapshot of the reports with something of every kind, and changes that make a line of it invalid.
#[test]
fn json_lines_of_every_kind_match_the_schema() {
    let snapshot = "crates/report/tests/report/snapshots/report__contracts__json_lines_of_everything.snap";
    let text = std::fs::read_to_string(root().join(snapshot)).expect("the snapshot");
    let lines = lines(text.splitn(3, "---\n").nth(2).expect("what comes after the heading"));
    schema::check(&lines);
    // The schema requires each promised field, and rejects a wrong type.
    let schema = schema::schema();
    let mut wrong = Vec::new();
    for line in [&lines[0], lines.last().expect("a summary")] {
        let definition = &schema["$defs"][line["reason"].as_str().expect("a reason")];
        for field in definition["required"].as_array().expect("fields") {
            let mut without = line.clone();
            without.as_object_mut().expect("an object").remove(field.as_str().expect("a name"));
            wrong.push((format!("{field} is not missed"), without));
        }
        // It describes each field that is written.
        for field in line.as_object().expect("an object").keys() {
            assert!(definition["properties"][field].is_object(), "{field} is not in the schema");
        }
    }
    for (field, value) in [("/sites/0/line", "9"), ("/kind", "data race")] {
        let mut line = lines[0].clone();
        *line.pointer_mut(field).expect("a field") = value.into();
        wrong.push((format!("{field} may be anything"), line));
    }
    let (names, wrong): (Vec<String>, Vec<Value>) = wrong.into_iter().unzip();
    for (name, problem) in names.iter().zip(schema::problems(&wrong)) {
        assert!(!problem.is_empty(), "{name}");
    }
}

#[test]
fn the_page_shows_the_findings_and_the_coverage() {
    let page = HUNTED.workshop.path("report.html");
    let ended = there(&["report", "--html", "-o", page.to_str().expect("text")]).expect(0);
    assert_eq!(ended.stdout, "");
    let html = std::fs::read_to_string(&page).expect("it was written");
    for part in [
        "q-&gt;count += 1;",
        "class=\"here\"",
        "<svg",
        &format!("racehunter replay {}", HUNTED.id),
        "allocated at queue.c:25",
        "holding <code>q-&gt;lock</code>",
        "all schedules with &lt;= 1 preemption",
        "./queue</pre>",
    ] {
        assert!(html.contains(part), "`{part}` is not on the page");
    }
    // The drawing marks both accesses, not only the later one.
    let section = html.split("<section class=\"finding\"").nth(1).expect("a finding");
    assert_eq!(section.matches("class=\"ring\"").count(), 2);

    let ended = there(&["report", "--message-format", "short"]).expect(0);
    assert!(ended.stdout.contains(&HUNTED.id) && ended.stdout.contains("summary: "), "{}", ended.stdout);
    there(&["report", "--html"]).expect(2).says("a page needs a file");
    there(&["report", "nowhere"]).expect(2).says("there is nothing to report in `nowhere`");
}

#[test]
fn gdb_stops_at_both_racing_accesses_under_the_schedule() {
    let script = "racehunter where\nracehunter racing\necho first-stack\\n\nbt\nprint q->count\nnext\n\
                  racehunter racing\necho second-stack\\n\nbt\ninfo threads\necho the-end\\n\ncontinue\n";
    let path = HUNTED.workshop.write("both.gdb", script);
    let ended = there(&["replay", HUNTED.id.as_str(), "--gdb", "--", "-batch", "-x", path.to_str().expect("text")]);
    let (out, said) = (&ended.stdout, &ended.stderr);
    let part = |from: &str, to: &str| {
        let begin = out.find(from).unwrap_or_else(|| panic!("no `{from}` in\n{out}\n{said}"));
        let rest = &out[begin..];
        rest[..rest.find(to).unwrap_or(rest.len())].to_owned()
    };
    // Each access in its thread, stopped just before it happens, in the order of the schedule.
    let lines: Vec<&str> = out.lines().filter(|line| line.starts_with("event ") && line.contains(": ")).collect();
    assert_eq!(lines.len(), 2, "{out}\n{said}");
    let (first, second) = (part("first-stack", "second-stack"), part("second-stack", "the-end"));
    let of = |text: &str| if text.contains("worker (") { "worker" } else { "drain" };
    assert_ne!(of(first.lines().nth(1).expect("a frame")), of(second.lines().nth(1).expect("a frame")), "{out}");
    assert!(first.contains("$1 = "), "variables can be looked at: {first}");
    // gdb sees the threads, and they stay where they are.
    assert!(second.matches("LWP").count() >= 2, "{second}");
    // They have the names of the report.
    assert!(second.contains("\"T1 worker\"") && second.contains("\"main\""), "{second}");
    assert!(out.contains("exited normally"), "{out}\n{said}");
}

#[test]
fn gdb_steps_from_switch_to_switch() {
    let path =
        HUNTED.workshop.write("switches.gdb", "racehunter next-switch\nracehunter next-switch\npython\ntry: gdb.execute('run')\nexcept gdb.error as error: print(error)\nend\nracehunter goto 1\n");
    let ended = there(&["replay", HUNTED.id.as_str(), "--gdb", "--", "-batch", "-x", path.to_str().expect("text")]);
    let switched: Vec<&str> = ended.stdout.lines().filter(|line| line.contains(": switched from ")).collect();
    assert_eq!(switched.len(), 2, "{}\n{}", ended.stdout, ended.stderr);
    assert!(switched[0].contains("from main to T"), "{}", switched[0]);
    assert!(ended.stdout.contains("The schedule is followed once"), "{}", ended.stdout);
    assert!(ended.stderr.contains("The execution is beyond that"), "{}", ended.stderr);
}

const CROSSED: &str = r"#include <pthread.h>
static pthread_mutex_t from = PTHREAD_MUTEX_INITIALIZER, into = PTHREAD_MUTEX_INITIALIZER;
static int moved;
static void *move_back(void *unused) {
    pthread_mutex_lock(&into);
    pthread_mutex_lock(&from);
    moved--;
    pthread_mutex_unlock(&from);
    pthread_mutex_unlock(&into);
    return unused;
}
int main(void) {
    pthread_t worker;
    pthread_create(&worker, NULL, move_back, NULL);
    pthread_mutex_lock(&from);
    pthread_mutex_lock(&into);
    moved++;
    pthread_mutex_unlock(&into);
    pthread_mutex_unlock(&from);
    pthread_join(worker, NULL);
    return 0;
}
";

#[test]
fn gdb_stops_in_the_deadlock_with_all_threads_in_place() {
    let workshop = Workshop::new();
    workshop.write("crossed.c", CROSSED);
    let script = "racehunter racing\necho stacks\\n\nthread apply all bt\necho places\\n\n\
                  racehunter threads\nprint from.__data.__lock\nracehunter racing\n";
    workshop.write("deadlock.gdb", script);
    for level in ["-O0", "-O2"] {
        workshop.cc(["-g", level, "-pthread", "crossed.c", "-o", "crossed"]).expect(0);
        let hunt = ["hunt", "-q", "--stop-on-first", "--message-format", "json", "./crossed"];
        let hunted = Hunted::new(workshop.run(&mut racehunter(hunt))).expect(1);
        let replay = ["replay", &hunted.findings[0].id, "--gdb", "--", "-batch", "-x", "deadlock.gdb"];
        let ended = workshop.run(&mut racehunter(replay));
        let out = &ended.stdout;
        for part in [
            "the execution ends here: deadlock: main holds `from`, waits for `into`",
            "  T1 move_back waits for from, held by main, at crossed.c:6",
            "  main waits for into, held by T1 move_back, at crossed.c:16",
        ] {
            assert!(out.contains(part), "no `{part}` at {level} in\n{out}\n{}", ended.stderr);
        }
        let (_, rest) = out.split_once("stacks\n").expect("stacks");
        let (stacks, rest) = rest.split_once("places\n").expect("places");
        // Each thread is where it waits, with no frames of the runtime in between.
        assert!(stacks.contains("crossed.c:6") && stacks.contains("crossed.c:16"), "{stacks}");
        assert!(!stacks.contains("racehunter_rt"), "{stacks}");
        assert_eq!(
            rest.lines().filter(|line| line.contains("thread ") && line.contains("crossed.c:")).count(),
            2,
            "{rest}"
        );
        // Threads have the names of the report, also those at which nothing has stopped.
        assert!(rest.contains(" main (gdb: thread") && rest.contains(" T1 move_back (gdb: thread"), "{rest}");
        assert!(rest.contains("$1 = "), "variables can be looked at: {rest}");
        assert!(rest.contains("The program has ended."), "{rest}\n{}", ended.stderr);
    }
}

/// gdb stops at both accesses in optimised code, too.
#[test]
fn gdb_finds_racing_accesses_in_optimised_code() {
    let workshop = Workshop::new();
    workshop.write("queue.c", QUEUE);
    workshop.cc(["-g", "-O2", "-pthread", "queue.c", "-o", "queue"]).expect(0);
    let hunt = ["hunt", "-q", "--stop-on-first", "--message-format", "json", "./queue"];
    let hunted = Hunted::new(workshop.run(&mut racehunter(hunt))).expect(1);
    workshop.write("both.gdb", "racehunter racing\nbt\nracehunter racing\nbt\n");
    let replay = ["replay", &hunted.findings[0].id, "--gdb", "--", "-batch", "-x", "both.gdb"];
    let ended = workshop.run(&mut racehunter(replay));
    let stops: Vec<&str> = ended.stdout.lines().filter(|line| line.starts_with("event ")).collect();
    assert_eq!(stops.len(), 2, "{}\n{}", ended.stdout, ended.stderr);
    let place = |stop: &str| ended.stdout.split_once(stop).and_then(|(_, rest)| rest.lines().nth(1).map(str::to_owned));
    let lines: Vec<u32> = hunted.findings[0].sites.iter().map(|site| site.line).collect();
    for stop in stops {
        let frame = place(stop).expect("a frame");
        assert!(lines.iter().any(|line| frame.contains(&format!("queue.c:{line}"))), "{frame} is not one of {lines:?}");
    }
}

/// Progress messages go to standard error, and only on request.
#[test]
fn progress_goes_to_standard_error_on_request() {
    let hunt = |options: &[&str]| {
        let words = [&["hunt", "--analysis", "context-bound", "--bound", "1", "--out", "told"], options, &["./queue"]];
        there(&words.concat()).expect(1)
    };
    let (plain, quiet, verbose) = (hunt(&[]), hunt(&["-q"]), hunt(&["-v"]));
    assert_eq!(quiet.stderr, "");
    // A CI log gets a line only every few seconds, and no control characters.
    assert!(!plain.stderr.contains('\r') && !plain.stderr.contains('\u{1b}'), "{:?}", plain.stderr);
    for part in [
        "     Program ",
        "     Hunting analysis context-bound, bound 1, seed 1",
        "       Bound 0 ",
        "       Found ",
        "        Kept ",
    ] {
        assert!(verbose.stderr.contains(part), "no `{part}` in\n{}", verbose.stderr);
    }
    let findings = |ended: &Ended| ended.stdout.split("   Summary").next().map(str::to_owned);
    assert_eq!(findings(&plain), findings(&verbose));
    assert_eq!(findings(&plain), findings(&quiet));
    there(&["hunt", "-q", "-v", "./queue"]).expect(2).says("cannot be used with");
}

/// All other commands that do something report it on request, and only on standard error.
#[test]
fn every_command_reports_its_progress_on_request() {
    let id = HUNTED.id.as_str();
    let cases: [(&[&str], &[&str]); 6] = [
        (&["replay", id], &["     Program ", "    Schedule ", "    Replayed 5 of 5: it showed"]),
        (&["report", "-o", "said.txt"], &["        Read "]),
        (&["record", "-o", "said.rht", "./queue"], &["    Executed ", "   Following "]),
        (
            &["predict", "--out", "said", "./queue"],
            &["    Executed ", "  Predicting from ", "   Predicted ", "       Tried prediction 1 of "],
        ),
        (&["scan", "--out", "said", "--time", "2s", "queue.c"], &["     Reading 1 module", "        Read "]),
        (&["merge", ".racehunter", "--out", "merged"], &["        Part 1 of 1 ", "        Kept "]),
    ];
    for (words, parts) in cases {
        let [plain, quiet, verbose] =
            ["--message-format=human", "-q", "-v"].map(|option| there(&[words, &[option]].concat()));
        assert_eq!((quiet.stderr.as_str(), quiet.status), ("", plain.status), "{words:?}");
        assert_eq!(plain.status, verbose.status, "{words:?}");
        for part in parts {
            assert!(verbose.stderr.contains(part), "{words:?}: no `{part}` in\n{}", verbose.stderr);
            assert!(!plain.stderr.contains(part), "{words:?}\n{}", plain.stderr);
        }
        // The last lines contain the time.
        let results = |ended: &Ended| {
            let lines =
                ended.stdout.lines().take_while(|line| !line.contains("Summary [") && !line.contains("Verdict "));
            lines.map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(results(&plain), results(&verbose), "{words:?}");
        assert_eq!(results(&plain), results(&quiet), "{words:?}");
        there(&[words, &["-q", "-v"]].concat()).expect(2).says("cannot be used with");
    }
}

/// On a terminal: a bar, colours, and the width of the terminal.
#[test]
fn a_terminal_gets_a_bar_and_colours() {
    let tool = racehunter_e2e::tool::path();
    let on_terminal = |before: &str, options: &str| {
        let command = format!("{before} {} hunt --runs 300 --out seen {options} ./queue", tool.display());
        let mut script = std::process::Command::new("script");
        script.args(["-qec", &format!("stty rows 40 cols 70; {command}"), "/dev/null"]).env("TERM", "xterm");
        for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS"] {
            script.env_remove(name);
        }
        HUNTED.workshop.run(&mut script).stdout
    };
    let shown = on_terminal("", "");
    assert!(shown.contains("Hunting [") && shown.contains("\u{1b}[1m\u{1b}[91merror[data-race]"), "{shown}");
    for (before, options) in [("NO_COLOR=1", ""), ("CLICOLOR=0", ""), ("TERM=dumb", ""), ("", "--color never")] {
        let shown = on_terminal(before, &format!("-q {options}"));
        assert!(shown.contains("error[data-race]") && !shown.contains('\u{1b}'), "{before} {options}: {shown:?}");
        let assumes = shown.lines().find(|line| line.starts_with("   Assumes")).expect("a summary");
        assert!(assumes.trim_end().len() <= 70, "{assumes}");
    }
    // Elsewhere there are colours only on request.
    let words = ["report"];
    for (name, value, is_coloured) in
        [("CLICOLOR_FORCE", "1", true), ("CLICOLOR", "1", false), ("NO_COLOR", "1", false)]
    {
        let ended = HUNTED.workshop.run(racehunter(words).env(name, value)).expect(0);
        assert_eq!(ended.stdout.contains('\u{1b}'), is_coloured, "{name}={value}");
    }
    assert!(there(&["report", "--color", "always"]).expect(0).stdout.contains('\u{1b}'));
}

#[test]
fn suppressions_describe_several_findings() {
    let workshop = Workshop::new();
    std::fs::copy(HUNTED.workshop.path("queue"), workshop.path("queue")).expect("copied");
    let hunt = |suppression: &str, status: i32| {
        workshop.write("racehunter.toml", &format!("[[suppress]]\nreason = \"known\"\n{suppression}\n"));
        let words = ["hunt", "-v", "--analysis", "context-bound", "--bound", "1", "./queue"];
        workshop.run(&mut racehunter(words)).expect(status)
    };
    let ended = hunt("kind = \"data-race\"\nfunction = \"work*\"", 0);
    assert!(ended.stdout.contains("no finding, 2 suppressed"), "{}", ended.stdout);
    let ended = hunt("kind = \"deadlock\"\nfile = \"queue.c\"", 1);
    assert!(!ended.stdout.contains("suppressed"), "{}", ended.stdout);
    ended.says("of kind = \"deadlock\", file = \"queue.c\": nothing was found that it is about");
}

#[test]
fn suppressed_findings_are_shown_but_do_not_count() {
    let workshop = Workshop::new();
    std::fs::copy(HUNTED.workshop.path("queue"), workshop.path("queue")).expect("copied");
    let log = &HUNTED.log["runs"][0]["results"];
    let ids: Vec<&str> = log
        .as_array()
        .expect("results")
        .iter()
        .filter_map(|result| result["partialFingerprints"]["racehunter/v1"].as_str())
        .collect();
    assert!(ids.len() > 1, "{ids:?}");
    let suppress = |ids: &[&str]| -> String {
        ids.iter().map(|id| format!("[[suppress]]\nid = \"{id}\"\nreason = \"a counter for people\"\n")).collect()
    };
    workshop.write(
        "racehunter.toml",
        &format!("[hunt]\nquiet = true\nanalysis = \"context-bound\"\nbound = 1\n{}", suppress(&ids)),
    );
    let ended = workshop.run(&mut racehunter(["hunt", "./queue"])).expect(0);
    assert!(ended.stdout.contains("suppressed[data-race]") && ended.stdout.contains("a counter for people"));
    assert!(ended.stdout.contains(&format!("no finding, {} suppressed", ids.len())), "{}", ended.stdout);
    assert!(!ended.stdout.contains("Proved"), "a hunt with findings claims a proof: {}", ended.stdout);
    // The remaining findings count, and the first of them ends the hunt.
    workshop.write("racehunter.toml", &suppress(&ids[..1]));
    let hunt = ["hunt", "-q", "--stop-on-first", "--analysis", "context-bound", "--bound", "1", "./queue"];
    let ended = workshop.run(&mut racehunter(hunt)).expect(1);
    assert!(ended.stdout.contains("1 finding, 1 suppressed"), "{}", ended.stdout);
    // A mistake is reported, and nothing is hunted.
    workshop.write("racehunter.toml", "[hunt]\nbond = 1\n");
    let ended = workshop.run(&mut racehunter(["hunt", "./queue"])).expect(2);
    assert!(ended.stdout.is_empty());
    let _ = ended.says("`bond` is not an option of `racehunter hunt`");
}

/// 0 if it showed every time, 1 if it did not, 2 if that cannot be known.
#[test]
fn the_exit_code_of_a_replay_says_whether_the_finding_showed() {
    let source = r#"#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int count, careless;
static void *worker(void *unused) {
    if (!careless) pthread_mutex_lock(&lock);
    count++;
    if (!careless) pthread_mutex_unlock(&lock);
    return unused;
}
int main(void) {
    pthread_t first, second;
    careless = access("careless", F_OK) == 0;
    pthread_create(&first, NULL, worker, NULL);
    pthread_create(&second, NULL, worker, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
"#;
    let workshop = Workshop::new();
    workshop.write("count.c", source);
    let switch = workshop.write("careless", "");
    let build = || drop(workshop.cc(["-g", "-pthread", "count.c", "-o", "count"]).expect(0));
    build();
    let hunt = ["hunt", "-q", "--stop-on-first", "--message-format", "json", "./count"];
    let id = Hunted::new(workshop.run(&mut racehunter(hunt))).expect(1).findings[0].id.clone();
    let replay = || workshop.run(&mut racehunter(["replay", &id]));
    assert!(replay().expect(0).stdout.contains("replayed 5/5"));
    std::fs::remove_file(switch).expect("it was there");
    let ended = replay().expect(1);
    assert!(ended.stdout.contains("warning[data-race]") && ended.stdout.contains("replayed 0/5"), "{}", ended.stdout);
    workshop.write("count.c", &source.replace("count++", "count += 2"));
    build();
    let _ = replay().expect(2).says("is not the program in which");
    let _ = workshop.run(&mut racehunter(["replay", "00000000"])).expect(2).says("there is no finding `00000000`");
}

#[test]
fn settings_come_from_the_environment_too() {
    let ended = HUNTED
        .workshop
        .run(racehunter(["replay", HUNTED.id.as_str()]).env("RACEHUNTER_MESSAGE_FORMAT", "short"))
        .expect(0);
    assert_eq!(ended.stdout.lines().count(), 1, "{}", ended.stdout);
    let words = ["replay", HUNTED.id.as_str(), "--message-format", "json"];
    let ended = HUNTED.workshop.run(racehunter(words).env("RACEHUNTER_MESSAGE_FORMAT", "short")).expect(0);
    assert!(ended.stdout.starts_with('{'), "options must override the environment: {}", ended.stdout);
}

#[test]
fn every_kind_can_be_explained() {
    let list = there(&["explain"]).expect(0).stdout;
    for line in list.lines() {
        let kind = line.split(' ').next().expect("a name");
        let page = there(&["explain", kind]).expect(0).stdout;
        assert!(page.starts_with(kind) && page.contains("What usually helps:"), "{page}");
    }
    assert_eq!(list.lines().count(), 11);
    let _ = there(&["explain", "error[deadlock]"]).expect(0);
    let _ = there(&["explain", "race"]).expect(2).says("the kinds are data-race");
}

#[test]
fn help_fits_eighty_columns_and_names_every_exit_code() {
    let first = there(&["--help"]).expect(0).stdout;
    let (_, rest) = first.split_once("Commands:\n").expect("commands");
    let (commands, _) = rest.split_once("\n\n").expect("an end");
    let names = commands.lines().filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    let names: Vec<&str> = names.filter(|name| !["", "cc", "c++", "help"].contains(name)).collect();
    assert_eq!(names.len(), 18, "{names:?}");
    let mut pages = vec![first.clone()];
    for name in names {
        pages.push(there(&[name, "-h"]).expect(0).stdout);
        pages.push(there(&[name, "--help"]).expect(0).stdout);
    }
    for line in pages.iter().flat_map(|page| page.lines()) {
        assert!(line.chars().count() <= 80, "{line}");
    }
    for code in ["0 nothing found", "1 findings", "2 usage", "3 unclear", "4 nothing to explore"] {
        assert!(first.contains(code), "{first}");
    }
    for heading in ["Search:", "Limits:", "Program:", "Results:", "Long hunts:"] {
        assert!(pages[1].contains(heading), "{}", pages[1]);
    }
}

#[test]
fn completions_and_manual_know_all_commands() {
    for shell in ["bash", "zsh", "fish"] {
        let script = there(&["completions", shell]).expect(0).stdout;
        for word in ["hunt", "replay", "message-format", "completions"] {
            assert!(script.contains(word), "{shell} does not know {word}");
        }
    }
    HUNTED.workshop.shell("racehunter completions bash > bash.sh && bash -n bash.sh");
    HUNTED.workshop.shell("racehunter man pages");
    for page in ["racehunter.1", "racehunter-hunt.1", "racehunter-replay.1", "racehunter-report.1"] {
        let text = std::fs::read_to_string(HUNTED.workshop.path("pages").join(page)).expect("a page");
        assert!(text.contains(".SH NAME"), "{page}");
    }
}
