//! `cargo racehunter` on unchanged crates, with the stable toolchain.

use racehunter_e2e::tool::{self, Ended};
use racehunter_e2e::workshop::Workshop;
use serde_json::Value;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Once;

/// A crate in its own directory.
pub(crate) struct Crate {
    pub(crate) workshop: Workshop,
}

/// Builds the instrumented standard library once, and keeps it.
pub(crate) fn sysroots() -> PathBuf {
    static MADE: Once = Once::new();
    let directory = tool::root().join("target/sysroots");
    MADE.call_once(|| {
        tool::run(command().args(["setup", "--sysroot-dir"]).arg(&directory)).expect(0);
    });
    directory
}

pub(crate) fn command() -> Command {
    let mut command = Command::new(tool::path().with_file_name("cargo-racehunter"));
    // Cargo's variables for the tests of this crate must not apply to that one.
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("CARGO_")) {
        command.env_remove(name);
    }
    command.env_remove("RUSTFLAGS").env("COLUMNS", "80").arg("racehunter");
    command
}

impl Crate {
    pub(crate) fn new(source: &str) -> Self {
        let workshop = Workshop::new();
        workshop.write("Cargo.toml", "[package]\nname = \"program\"\nversion = \"0.1.0\"\nedition = \"2024\"\n");
        workshop.write("src/lib.rs", source);
        Self { workshop }
    }

    #[track_caller]
    pub(crate) fn run(&self, words: &[&str]) -> Ended {
        self.workshop.run(command().args(words).env("RACEHUNTER_SYSROOTS", sysroots()))
    }

    /// Runs `cargo racehunter test` with JSON output.
    #[track_caller]
    pub(crate) fn test(&self, words: &[&str], status: i32) -> Tested {
        let ended = self.run(&[&["test", "--message-format", "json", "--quiet"], words].concat()).expect(status);
        Tested { lines: ended.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect() }
    }
}

/// The output of `cargo racehunter test`.
pub(crate) struct Tested {
    lines: Vec<Value>,
}

impl Tested {
    #[track_caller]
    pub(crate) fn line(&self, reason: &str, test: &str) -> &Value {
        let title = format!("program {test}");
        let is_it = |line: &&Value| line["reason"] == reason && line["test"] == title.as_str();
        self.lines.iter().find(is_it).unwrap_or_else(|| panic!("no {reason} of {test} in {:#?}", self.lines))
    }

    #[track_caller]
    pub(crate) fn verdict(&self, test: &str) -> &str {
        self.line("test", test)["verdict"].as_str().expect("a word")
    }

    pub(crate) fn findings(&self, test: &str) -> impl Iterator<Item = &Value> {
        let title = format!("program {test}");
        self.all("finding").filter(move |line| line["test"] == title.as_str())
    }

    fn all(&self, reason: &str) -> impl Iterator<Item = &Value> {
        self.lines.iter().filter(move |line| line["reason"] == reason)
    }
}

#[test]
fn every_kind_of_test_result_is_reported() {
    let program = Crate::new(include_str!("programs/rust/outcomes.rs"));
    let junit = program.workshop.path("junit.xml");
    let tested = program.test(&["--runs", "200", "--junit", junit.to_str().expect("plain")], 1);
    let found = |test: &str| {
        assert_eq!(tested.verdict(test), "found");
        let finding = tested.line("finding", test);
        assert_eq!((&finding["confirmed"], &finding["replayed"]), (&Value::from(true), &serde_json::json!([5, 5])));
        (finding["kind"].as_str().expect("a word"), finding)
    };
    let (kind, panic) = found("loses_an_update");
    assert_eq!(kind, "assertion");
    let message = panic["message"].as_str().expect("text");
    assert_eq!(message, "panic: assertion `left == right` failed: an update was lost; left: 1; right: 2");
    assert_eq!((&panic["sites"][0]["line"], &panic["preemptions"]), (&Value::from(19), &Value::from(1)));
    let (kind, panic) = found("panics_in_another_thread");
    assert_eq!((kind, &panic["sites"][0]["line"]), ("assertion", &Value::from(61)));
    assert_eq!(panic["sites"][0]["thread"], "main/1");
    let (kind, race) = found("races");
    assert_eq!((kind, race["object"]["name"].as_str()), ("data-race", Some("program::SHARED")));
    assert_eq!(found("locks_in_both_orders").0, "deadlock");
    for test in ["keeps_updates", "should_panic", "catches_a_panic"] {
        assert!(["clean", "proved"].contains(&tested.verdict(test)), "{test} is {}", tested.verdict(test));
    }
    assert_eq!(tested.verdict("has_no_threads"), "skipped");
    assert_eq!(tested.verdict("has_no_threads_and_fails"), "failed");
    let summary = tested.all("tests").next().expect("a summary");
    assert_eq!((&summary["tests"], &summary["failed"], &summary["skipped"]), (&9.into(), &1.into(), &1.into()));

    let text = std::fs::read_to_string(junit).expect("a file");
    assert!(text.contains(r#"<testsuite name="program" tests="9" failures="5" errors="0">"#), "{text}");

    let id = tested.line("finding", "races")["id"].as_str().expect("an id");
    let replayed = program.run(&["replay", id]).expect(0);
    assert!(replayed.stdout.contains("program::SHARED"), "{}", replayed.stdout);
    let reported = program.run(&["report", "--message-format", "short"]).expect(0);
    assert!(reported.stdout.contains("src/lib.rs:61:"), "{}", reported.stdout);
}

#[test]
fn tests_are_chosen_as_cargo_chooses_them() {
    let program = Crate::new(include_str!("programs/rust/outcomes.rs"));
    let list = |words: &[&str]| program.run(&[&["test", "--list", "--quiet"], words].concat()).expect(0).stdout;
    assert_eq!(list(&["has_no"]), "program has_no_threads\nprogram has_no_threads_and_fails\n");
    assert_eq!(list(&["--", "--exact", "has_no_threads"]), "program has_no_threads\n");
    assert_eq!(list(&["--", "--ignored"]), "program is_ignored\n");
    assert_eq!(list(&["has_no", "--", "--skip", "fails"]), "program has_no_threads\n");
    let tested = program.test(&["--runs", "20", "is_", "--", "--ignored"], 0);
    assert!(["clean", "proved"].contains(&tested.verdict("is_ignored")));
    let ended = program.run(&["test", "there_is_no_such_test"]).expect(4);
    assert!(ended.stdout.contains("no test has such a name"), "{}", ended.stdout);
    // A crate without threads has nothing to explore.
    program.test(&["--", "--exact", "has_no_threads"], 4);
}

/// Every synchronisation primitive of the standard library, used correctly.
fn check_correct_programs(options: &[&str]) {
    let program = Crate::new(include_str!("programs/rust/clean.rs"));
    let tested = program.test(options, 0);
    let found: Vec<&Value> = tested.all("finding").collect();
    assert!(found.is_empty(), "{found:#?}");
    assert_eq!(tested.all("test").count(), 22);
    for test in tested.all("test") {
        assert!(test["verdict"] == "clean" || test["verdict"] == "proved", "{test}");
    }
}

#[test]
fn correct_programs_are_clean() {
    check_correct_programs(&["--runs", "20"]);
}

/// `cargo xtask test --all` runs these.
mod slow {
    #[test]
    fn correct_programs_are_clean_in_many_schedules() {
        super::check_correct_programs(&["--runs", "60"]);
    }

    #[test]
    fn correct_optimised_programs_are_clean() {
        super::check_correct_programs(&["--runs", "60", "--release"]);
    }
}

/// A thread that only reads repeatedly is blocked until the value changes: there are few schedules, and none runs to a
/// limit.
#[test]
fn waiting_loops_are_explored_completely() {
    let program = Crate::new(include_str!("programs/rust/spins.rs"));
    let tested = program.test(&["--analysis", "context-bound", "--bound", "1", "--time", "100s"], 0);
    for test in ["in_a_loop_of_its_own", "in_a_function", "by_an_exchange_that_fails"] {
        assert_eq!(tested.verdict(test), "proved", "{test}");
    }
}

#[test]
fn bugs_of_each_kind_are_found_minimised_and_replayed() {
    let program = Crate::new(include_str!("programs/rust/racy.rs"));
    let kinds = [
        ("static_mut", "data-race", 0),
        ("relaxed_publication", "data-race", 1),
        ("freed_node", "use-after-free", 1),
        ("missed_wake_up", "deadlock", 1),
        ("two_locks", "deadlock", 1),
        ("order_of_atomics", "assertion", 1),
        ("check_then_act", "assertion", 1),
    ];
    let tested = program.test(&["--runs", "200"], 1);
    for (test, kind, preemptions) in kinds {
        assert_eq!(tested.verdict(test), "found", "{}", tested.line("test", test));
        let finding = tested.line("finding", test);
        assert_eq!(finding["kind"], kind, "{test}");
        assert_eq!(finding["preemptions"], preemptions, "{test}");
    }
    for finding in tested.all("finding") {
        assert_eq!((&finding["confirmed"], &finding["replayed"]), (&true.into(), &serde_json::json!([5, 5])));
    }
}

/// Waits on a `Condvar` can also wake up spuriously, as its documentation says.
#[test]
fn a_wait_may_wake_up_spuriously() {
    let waits = |word: &str| {
        format!(
            r#"
#[test]
fn waits() {{
    use std::sync::{{Condvar, Mutex}};
    let (ready, changed) = (Mutex::new(false), Condvar::new());
    std::thread::scope(|scope| {{
        scope.spawn(|| {{
            *ready.lock().unwrap() = true;
            changed.notify_one();
        }});
        let mut guard = ready.lock().unwrap();
        {word} !*guard {{
            guard = changed.wait(guard).unwrap();
        }}
        assert!(*guard, "it is not ready");
    }});
}}
"#
        )
    };
    let tested = Crate::new(&waits("if")).test(&["--analysis", "context-bound", "--runs", "600"], 1);
    assert!(tested.all("finding").any(|finding| finding["kind"] == "assertion"));
    let tested = Crate::new(&waits("while")).test(&["--analysis", "context-bound", "--runs", "600"], 0);
    assert!(["clean", "proved"].contains(&tested.verdict("waits")));
}

/// Bugs in optimised code are found too, if the optimiser leaves them in.
#[test]
fn bugs_are_found_in_optimised_programs() {
    let program = Crate::new(include_str!("programs/rust/racy.rs"));
    let tested =
        program.test(&["--runs", "200", "--release", "--", "relaxed_publication", "freed_node", "two_locks"], 1);
    for test in ["relaxed_publication", "freed_node", "two_locks"] {
        assert_eq!(tested.verdict(test), "found", "{test}");
    }
}

/// The same finding in the report for people.
#[test]
fn a_report_is_in_the_terms_of_the_crate() {
    let program = Crate::new(include_str!("programs/rust/racy.rs"));
    let ended = program.run(&["test", "--quiet", "--runs", "200", "order_of_atomics"]).expect(1);
    let has = |text: &str| assert!(ended.stdout.contains(text), "no `{text}` in\n{}", ended.stdout);
    has("FOUND program order_of_atomics (");
    has("error[assertion]: panic: the second before the first");
    has("assert!(first.load(Ordering::SeqCst) <= seen,");
    has("panics here, main thread");
    has("T1 order_of_atomics::{closure}");
    has("panic :");
    assert!(!ended.stdout.contains("/rustc/"), "frames of the library in\n{}", ended.stdout);
    let deadlock = program.run(&["test", "--quiet", "--runs", "200", "two_locks"]).expect(1).stdout;
    assert!(deadlock.contains("main thread waits for `*locks"), "{deadlock}");
}

#[test]
fn a_program_and_its_children_are_hunted() {
    let program = Crate::new("");
    let main = r#"
        use std::process::Command;
        fn main() {
            let arguments: Vec<String> = std::env::args().skip(1).collect();
            let thread = std::thread::spawn(|| Command::new("echo").arg("child").output().unwrap());
            let output = thread.join().unwrap();
            assert_eq!((arguments.join(" ").as_str(), output.stdout.as_slice()), ("one two", &b"child\n"[..]));
        }"#;
    program.workshop.write("src/main.rs", main);
    let ended =
        program.run(&["run", "--quiet", "--runs", "20", "--message-format", "json", "--", "one", "two"]).expect(0);
    assert!(!ended.stdout.contains(r#""reason":"finding""#), "{}", ended.stdout);
}

#[test]
fn a_test_can_have_many_executions_in_one_process() {
    let companion = tool::root().join("crates/companion");
    let program = Crate::new(include_str!("programs/rust/companion.rs"));
    let dependency =
        format!("[dev-dependencies]\nracehunter = {{ package = \"racehunter-companion\", path = {companion:?} }}\n");
    let manifest = std::fs::read_to_string(program.workshop.path("Cargo.toml")).expect("a file");
    program.workshop.write("Cargo.toml", &(manifest + &dependency));
    let tested = program.test(&["--runs", "200"], 1);
    assert_eq!(tested.verdict("loses_an_update"), "found");
    assert_eq!(tested.line("finding", "loses_an_update")["kind"], "assertion");
    assert!(["clean", "proved"].contains(&tested.verdict("keeps_updates")));
    assert_eq!(tested.line("summary", "panics_in_some_schedules")["complete"], false);
    assert_eq!(tested.verdict("chooses"), "found");
    // A server that has not seen the loop yet must not take the plan for what comes before it.
    let tested = program.test(&["--runs", "60", "--jobs", "2", "races"], 1);
    assert_eq!(tested.verdict("races"), "found");
    assert_eq!(tested.line("summary", "races")["diverged"], 0);
}

/// The runtime catches what the standard library would report itself, where it happens; the harness has no terminal.
#[test]
fn a_stack_overflow_is_a_crash_where_it_happens() {
    let source = "#[test]\nfn descends() {\n    fn depth(above: &[u8; 4096]) -> u8 {\n        \
                  let here = std::hint::black_box([above[0]; 4096]);\n        depth(&here) + here[1]\n    }\n    \
                  std::thread::spawn(|| depth(&[0; 4096])).join().unwrap();\n}\n\n\
                  #[test]\nfn has_no_terminal() {\n    std::thread::spawn(|| ()).join().unwrap();\n    \
                  assert!(std::env::var_os(\"TERM\").is_none());\n    assert!(std::env::var_os(\"HOME\").is_some());\n}\n";
    let program = Crate::new(source);
    let tested = program.test(&["--runs", "20"], 1);
    let finding = tested.line("finding", "descends");
    assert_eq!(finding["kind"], "crash");
    let text = finding.to_string();
    assert!(text.contains("SIGSEGV") && text.contains("src/lib.rs"), "{text}");
    assert!(["clean", "proved"].contains(&tested.verdict("has_no_terminal")));
}

#[test]
fn unsupported_crates_are_refused_in_one_line() {
    let program = Crate::new("#[test]\nfn nothing() {}\n");
    let refused = |words: &[&str], why: &str| {
        let ended = program.run(&[&["test", "--quiet"], words].concat()).expect(2).says(why);
        assert_eq!(ended.stderr.lines().filter(|line| line.starts_with("error: ")).count(), 1, "{}", ended.stderr);
    };
    refused(&["--target", "x86_64-unknown-linux-musl"], "only x86_64-unknown-linux-gnu can");
    refused(&["--target", "thumbv7em-none-eabi"], "thumbv7em-none-eabi");
    refused(&["--", "--format=json"], "`--format=json` is not passed on");
    refused(&["--manifest-path", "nowhere/Cargo.toml"], "nowhere");
    let mut without_clang = command();
    without_clang.args(["test", "--quiet"]).env("RACEHUNTER_LIB", program.workshop.path("nothing"));
    without_clang.env("RUSTC", program.workshop.path("rustc"));
    let rustc = "#!/bin/sh\ncase \"$1\" in -vV) printf 'release: 1.60.0\\nhost: x86_64-unknown-linux-gnu\\nLLVM version: 14.0.0\\n';; \
                 *) echo /;; esac\n";
    let path = program.workshop.write("rustc", rustc);
    std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .expect("permissions can be set");
    program
        .workshop
        .run(&mut without_clang)
        .expect(2)
        .says("rustc 1.60.0 uses LLVM 14, and there are plugins for LLVM");
}

/// The crate of the demonstration: nothing in it, the harness or the standard library weakens the claim.
#[test]
fn a_corrected_crate_is_proved() {
    let program = Crate::new("");
    let manifest = tool::root().join("targets/rust/ring/Cargo.toml");
    let place = |name: &str| program.workshop.path(name).to_str().expect("plain").to_owned();
    let (manifest, build, out) = (manifest.to_str().expect("plain"), place("build"), place("out"));
    let crate_of = ["--manifest-path", manifest, "--target-dir", &build, "--out", &out, "--locked"];
    let verdict = |options: &[&str], status: i32| {
        let tested = program.test(&[&crate_of[..], options].concat(), status);
        let title = "ring tests::items_come_out_as_they_went_in";
        let line = tested.lines.iter().find(|line| line["reason"] == "test" && line["test"] == title);
        line.expect("the test")["verdict"].clone()
    };
    assert_eq!(verdict(&["--runs", "100", "--stop-on-first"], 1), "found");
    assert_eq!(verdict(&["--features", "fixed", "--analysis", "context-bound", "--bound", "1"], 0), "proved");
}
