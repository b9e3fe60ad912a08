//! User mistakes. Each message says what is wrong and what to do; exit codes are as documented.

use racehunter_e2e::workshop::{RACE, text};
use racehunter_e2e::{Ended, Workshop, racehunter, run};
use std::path::Path;
use std::process::Command;

fn hunt(workshop: &Workshop, target: &Path) -> Ended {
    run(racehunter(["hunt", "--out"]).arg(workshop.out()).arg(target))
}

/// Expects one message, without a backtrace of the tool.
#[track_caller]
fn expect_error(ended: Ended, text: &str) -> Ended {
    let ended = ended.expect(2).says("error: ").says(text);
    assert!(!ended.stderr.contains("panicked") && ended.stdout.is_empty(), "{}{}", ended.stdout, ended.stderr);
    ended
}

#[test]
fn an_uninstrumented_program_gets_help() {
    let workshop = Workshop::new();
    workshop.write("race.c", RACE);
    workshop.shell("gcc -pthread race.c -o race");
    let ended = expect_error(hunt(&workshop, &workshop.path("race")), "is not instrumented");
    ended.says(r#"= help: rebuild with `CC="racehunter cc"`"#);
}

#[test]
fn a_missing_file_is_named() {
    let workshop = Workshop::new();
    expect_error(hunt(&workshop, &workshop.path("nowhere")), "nowhere` does not exist");
    expect_error(hunt(&workshop, &workshop.path("nowhere.c")), "nowhere.c` does not exist");
}

#[test]
fn a_directory_is_refused() {
    let workshop = Workshop::new();
    expect_error(hunt(&workshop, &workshop.path("")), "is a directory");
}

#[test]
fn a_syntax_error_is_shown_with_its_place() {
    let workshop = Workshop::new();
    let source = workshop.write("broken.c", "int main(void) { return 0 }\n");
    let ended = expect_error(hunt(&workshop, &source), "broken.c` does not compile");
    ended.says("broken.c:1:26: error: expected ';'");
}

#[test]
fn a_statically_linked_program_is_refused() {
    let workshop = Workshop::new();
    let source = workshop.write("race.c", RACE);
    workshop.shell("gcc -static -pthread race.c -o race");
    expect_error(hunt(&workshop, &workshop.path("race")), "statically linked").says("= help: ");
    let linked = workshop.cc(["-static", "-pthread", &text(&source), "-o", "other"]);
    assert_ne!(linked.status, Some(0));
    linked.says("-static: a statically linked C library cannot be controlled");
}

#[test]
fn an_object_file_is_refused() {
    let workshop = Workshop::new();
    let source = workshop.write("race.c", RACE);
    workshop.cc(["-c", &text(&source), "-o", "race.o"]).expect(0);
    let ended = expect_error(hunt(&workshop, &workshop.path("race.o")), "is an object file, not a program");
    ended.says("= help: link it with `racehunter cc` first");
}

#[test]
fn a_shared_library_is_refused() {
    let workshop = Workshop::new();
    let source = workshop.write("race.c", RACE);
    workshop.cc(["-shared", "-fPIC", &text(&source), "-o", "race.so"]).expect(0);
    expect_error(hunt(&workshop, &workshop.path("race.so")), "is a shared library, not a program");
}

#[test]
fn a_script_is_refused() {
    let workshop = Workshop::new();
    let script = workshop.write("race.sh", "#!/bin/sh\nexec ./race\n");
    expect_error(hunt(&workshop, &script), "is not a Linux program").says("= help: give the program itself");
}

#[test]
fn empty_and_damaged_files_are_refused() {
    let workshop = Workshop::new();
    let empty = workshop.write("empty", "");
    expect_error(hunt(&workshop, &empty), "is not a Linux program");
    workshop.write("race.c", RACE);
    workshop.shell("racehunter-cc -pthread race.c -o race && head -c 5000 race > half");
    expect_error(hunt(&workshop, &workshop.path("half")), "half");
}

#[test]
fn a_program_without_its_arguments_gets_help() {
    let (workshop, program) = Workshop::with_program(
        r#"
#include <pthread.h>
#include <stdio.h>

static void *work(void *unused) { return unused; }

int main(int count, char **words) {
    if (count < 2) {
        fprintf(stderr, "usage: %s SIZE\n", words[0]);
        return 64;
    }
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
    return 0;
}
"#,
    );
    let ended = hunt(&workshop, &program).expect(4).says("ended with status 64 before it created a thread");
    ended.says("usage: ").says("= help: its arguments go after `--`: racehunter hunt").says(" -- ARGUMENTS");
    let hunt = run(workshop.hunt_command(&program, &["--runs", "10"]).args(["--", "4"]));
    hunt.expect(0);
}

#[test]
fn a_program_without_threads_has_nothing_to_explore() {
    let (workshop, program) = Workshop::with_program("int main(void) { return 0; }\n");
    hunt(&workshop, &program).expect(4).says("without creating a thread: there is nothing to explore");
}

#[test]
fn command_line_mistakes_are_usage_errors() {
    for words in [
        &["hunt"][..],
        &["hunt", "--analysis", "magic", "race.c"],
        &["hunt", "--bound", "many", "race.c"],
        &["hunt", "--time", "soon", "race.c"],
        &["hunt", "--bogus", "race.c"],
        &["hunt", "race.c", "other.c"],
        &["fish"],
        &["replay"],
        &[],
    ] {
        let ended = run(&mut racehunter(words)).expect(2);
        assert!(!ended.stderr.is_empty() && ended.stdout.is_empty(), "{words:?}: {}{}", ended.stdout, ended.stderr);
    }
    run(&mut racehunter(["hunt", "--analysis", "magic", "race.c"])).says("context-bound");
    let ended = run(racehunter(["hunt", "--cflags", "-O2"]).arg(racehunter_e2e::tool::path()));
    expect_error(ended, "--cflags is for source files");
}

#[test]
fn help_names_the_exit_codes() {
    let ended = run(&mut racehunter(["hunt", "--help-all"])).expect(0);
    assert!(ended.stdout.contains("Exit codes: 0 nothing found, 1 findings, 2 usage"), "{}", ended.stdout);
}

#[test]
fn missing_findings_are_named() {
    let (workshop, program) = Workshop::with_program(RACE);
    expect_error(workshop.replay("7f3a"), "there are no findings in");
    let hunted = workshop.hunt(&program, &["--runs", "20"]).expect(1);
    expect_error(workshop.replay("zzzz"), "there is no finding `zzzz`");
    let id = &hunted.findings[0].id;
    workshop.replay(&id[..id.len() - 1]).expect(0);
    let path = workshop.out().join(format!("findings/{id}.json"));
    std::fs::write(&path, "{}").expect("written");
    expect_error(workshop.replay(id), "is not a finding");
}

#[test]
fn a_rebuilt_program_is_not_replayed() {
    let (workshop, program) = Workshop::with_program(RACE);
    let hunted = workshop.hunt(&program, &["--runs", "20"]).expect(1);
    let id = &hunted.findings[0].id;
    let source = workshop.write("program.c", &RACE.replace("shared++", "shared--"));
    workshop.cc(["-O1", "-pthread", &text(&source), "-o", &text(&program)]).expect(0);
    let ended = expect_error(workshop.replay(id), "is not the program in which");
    ended.says("= help: it was rebuilt since; hunt it again");
}

#[test]
fn an_incomplete_hunt_fails_when_completeness_is_required() {
    let workshop = Workshop::new();
    let options = ["--analysis", "context-bound", "--bound", "2", "--runs", "5", "--require-complete"];
    let _ = workshop.hunt(Path::new("targets/data-race/lost_update.fixed.c"), &options).expect(3);
}

#[test]
fn findings_are_written_in_the_formats_of_other_tools() {
    let (workshop, program) = Workshop::with_program(RACE);
    for (format, line) in [("short", ": error: data race on `"), ("github", "::error file=")] {
        let options = ["hunt", "--runs", "20", "--message-format", format, "--out"];
        let ended = run(racehunter(options).arg(workshop.out()).arg(&program)).expect(1);
        assert!(ended.stdout.lines().any(|text| text.contains(line)), "{}", ended.stdout);
    }
}

#[test]
fn doctor_finds_nothing_wrong_with_this_installation() {
    let ended = run(&mut racehunter(["doctor"])).expect(0);
    assert!(ended.stdout.lines().any(|line| line == "ready"), "{}", ended.stdout);
}

#[test]
fn doctor_says_what_is_missing() {
    let workshop = Workshop::new();
    let tool = racehunter_e2e::tool::path();
    // A copy without the libraries beside it.
    let copy = workshop.path("bin/racehunter");
    workshop.write("bin/empty", "");
    std::fs::copy(&tool, &copy).expect("copied");
    let ended = workshop.run(Command::new(&copy).arg("doctor")).expect(2);
    assert!(ended.stdout.contains("not ready: ") && ended.stdout.contains("reinstall"), "{}", ended.stdout);
}

#[test]
fn doctor_lists_which_functions_are_instrumented() {
    let workshop = Workshop::new();
    workshop.write(
        "program.c",
        "void other(int *); int shared;\n\
         __attribute__((no_sanitize(\"thread\"))) void blind(void) { shared = 2; }\n\
         int main(int count, char **words) { if (count > 5) { other(&shared); blind(); } return 0; }\n",
    );
    workshop.write("other.c", "void other(int *shared) { *shared = 1; }\n");
    // An object of another compiler.
    let _ = workshop.shell("gcc -g -c other.c -o other.o").expect(0);
    let _ = workshop.cc(["program.c", "other.o", "-o", "program"]).expect(0);
    let doctor = || workshop.run(racehunter(["doctor", "program"]).current_dir(workshop.path("")));
    let output = doctor().expect(0).stdout;
    let line = |text: &str| output.lines().any(|line| line.contains(text));
    assert!(line("not seen  other (other.c): compiled without instrumentation"), "{output}");
    assert!(line("blind (instrumentation switched off)"), "{output}");
    assert!(line("seen      2 functions"), "{output}");
    // Once RaceHunter has compiled everything, no such line is left.
    let _ = workshop.cc(["program.c", "other.c", "-o", "program"]).expect(0);
    let output = doctor().expect(0).stdout;
    assert!(
        !output.contains("compiled without instrumentation") && output.contains("seen      3 functions"),
        "{output}"
    );
    // A stripped file does not say, so nothing is claimed about it.
    let _ = workshop.shell("strip program").expect(0);
    let output = doctor().expect(0).stdout;
    assert!(output.contains("seen      unknown: the program has no symbol table"), "{output}");
    let _ = workshop.run(racehunter(["doctor", "other.c"]).current_dir(workshop.path(""))).expect(2);
}
