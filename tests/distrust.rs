//! The files of a project, and the output of its program, are not trusted: files of other users are not used, nothing
//! is written through links, and no text of the program controls a terminal.

use racehunter_e2e::workshop::{RACE, text};
use racehunter_e2e::{Ended, Hunted, Started, Workshop, racehunter, run, tool};
use rustix::process::Signal;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, chown, symlink};
use std::path::Path;
use std::process::Command;

/// Runs a command in the directory of a workshop, which has the default paths.
#[track_caller]
fn inside(workshop: &Workshop, words: &[&str]) -> Ended {
    workshop.run(Command::new(tool::path()).args(words))
}

/// Gives a file to another user. Only the administrator can.
fn give_away(path: &Path) -> bool {
    chown(path, Some(12345), None).is_ok() && fs::metadata(path).is_ok_and(|found| found.uid() == 12345)
}

#[test]
fn settings_of_another_user_are_not_read() {
    let (workshop, _) = Workshop::with_program(RACE);
    let settings = workshop.write("racehunter.toml", "this is no setting");
    let hunt = ["hunt", "--quiet", "--runs", "3", "program"];
    inside(&workshop, &hunt).expect(2).says("cannot be understood");
    if give_away(&settings) {
        inside(&workshop, &hunt).expect(1).says("belongs to another user, and is not read");
        // A file that is named explicitly is used.
        let mut named = Command::new(tool::path());
        named.args(hunt).env("RACEHUNTER_CONFIG", &settings);
        workshop.run(&mut named).expect(2).says("cannot be understood");
    }
}

#[test]
fn findings_of_another_user_are_not_used() {
    let (workshop, _) = Workshop::with_program(RACE);
    inside(&workshop, &["hunt", "--quiet", "--runs", "3", "program"]).expect(1);
    inside(&workshop, &["report", "--message-format", "short"]).expect(0);
    if give_away(&workshop.path(".racehunter")) {
        for words in [&["hunt", "--quiet", "program"][..], &["report"], &["replay", "0"]] {
            inside(&workshop, words).expect(2).says("`.racehunter` belongs to another user, and is not used");
        }
    }
}

#[test]
fn nothing_is_written_through_links() {
    let (workshop, program) = Workshop::with_program(RACE);
    fs::create_dir_all(workshop.path("elsewhere")).expect("a directory");
    // The directory itself, and one in it.
    symlink("elsewhere", workshop.path(".racehunter")).expect("a link");
    inside(&workshop, &["hunt", "--quiet", "--runs", "3", "program"]).expect(2).says("is a symbolic link");
    fs::create_dir_all(workshop.out()).expect("a directory");
    for name in ["findings", "campaigns"] {
        symlink("../elsewhere", workshop.out().join(name)).expect("a link");
    }
    let hunted = workshop.hunt(&program, &["--runs", "3"]).expect(1);
    hunted.ended.clone().says("findings cannot be kept").says("the campaign cannot be kept");
    assert_eq!(fs::read_dir(workshop.path("elsewhere")).expect("a directory").count(), 0);
    // A page that the user named.
    let (other, program) = Workshop::with_program(RACE);
    let _ = other.hunt(&program, &["--runs", "3"]).expect(1);
    let victim = other.write("victim", "precious");
    symlink(&victim, other.path("page.html")).expect("a link");
    let page = ["report", "--html", "-o", "page.html", "out"];
    inside(&other, &page).expect(2).says("is a symbolic link");
    assert_eq!(fs::read_to_string(victim).expect("a file"), "precious");
}

#[test]
fn a_finding_that_cannot_be_stored_is_still_reported() {
    let (workshop, program) = Workshop::with_program(RACE);
    // The directory cannot be created.
    workshop.write("out/findings", "a file");
    let hunted = workshop.hunt(&program, &["--runs", "3"]).expect(1);
    assert!(!hunted.findings.is_empty() && hunted.summary().findings > 0);
    hunted.ended.clone().says("findings cannot be kept");
    assert!(hunted.findings[0].notes.iter().any(|note| note.contains("could not be kept")), "{:?}", hunted.findings);
}

#[test]
fn damaged_findings_are_left_out_of_a_report() {
    let (workshop, program) = Workshop::with_program(RACE);
    let hunted = workshop.hunt(&program, &["--runs", "3"]).expect(1);
    let id = &hunted.findings[0].id;
    let whole = fs::read_to_string(workshop.out().join(format!("findings/{id}.json"))).expect("a finding");
    workshop.write("out/findings/00000001.json", &whole[..whole.len() / 2]);
    workshop.write("out/findings/00000002.json", "");
    // With this name, it could be written to another place.
    workshop.write("out/findings/00000003.json", &whole.replace(id.as_str(), "../../../victim"));
    workshop.write("out/campaigns/other-0000000000000001.rhc", "{}\nnothing");
    symlink("/dev/zero", workshop.out().join("findings/00000004.json")).expect("a link");
    workshop.shell("mkfifo out/findings/00000005.json out/campaigns/pipe-1.rhc");
    let report = || racehunter(["report", "--message-format", "short", "--out"]);
    let ended = run(report().arg(workshop.out())).expect(0).says("it is left out");
    assert!(ended.stdout.contains(id.as_str()), "{}{}", ended.stdout, ended.stderr);
    assert!(!ended.stdout.contains("victim"), "{}", ended.stdout);
    let page = workshop.path("page.html");
    run(racehunter(["report", "--html", "-o", &text(&page), "--out"]).arg(workshop.out())).expect(0);
    assert!(fs::read_to_string(page).expect("a page").contains(id.as_str()));
}

/// Runs a hunt in every format for people and services, and the page. Returns their output.
#[track_caller]
fn all_formats(workshop: &Workshop, program: &Path) -> Vec<(&'static str, String)> {
    let mut texts = Vec::new();
    for format in ["human", "short", "github", "sarif"] {
        let mut command = racehunter(["hunt", "--quiet", "--runs", "5", "--message-format", format, "--out"]);
        let ended = run(command.arg(workshop.out()).arg(program)).expect(1);
        texts.push((format, ended.stdout + &ended.stderr));
    }
    let page = workshop.path("page.html");
    run(racehunter(["report", "--html", "-o", &text(&page), "--out"]).arg(workshop.out())).expect(0);
    texts.push(("html", fs::read_to_string(page).expect("a page")));
    texts
}

#[test]
fn a_file_that_is_not_a_source_is_not_quoted() {
    let secret = Workshop::new();
    let passwords = secret.write("passwords", &"root:secret-of-root:0\n".repeat(60));
    let line = format!("#line 3 \"{}\"\n    shared++;", text(&passwords));
    let (workshop, program) = Workshop::with_program(&RACE.replace("    shared++;", &line));
    for (format, text) in all_formats(&workshop, &program) {
        assert!(!text.contains("secret-of-root"), "{format}: {text}");
        assert!(text.contains("passwords"), "the place is missing: {format}: {text}");
    }
}

#[test]
fn control_characters_of_the_program_are_escaped() {
    let evil = "\\033[31mred\\a \u{202e}desrever\u{2066}";
    let line = "#line 8 \"e\\033[2J\u{202e}vil.c\"\n    shared++;";
    let source = RACE
        .replace("    shared++;", line)
        .replace("#include <stddef.h>", "#include <stddef.h>\n#include <stdio.h>")
        .replace("return 0;", &format!("fputs(\"{evil}\\n\", stderr); return 3;"));
    let (workshop, program) = Workshop::with_program(&source);
    for (format, text) in all_formats(&workshop, &program) {
        let bad = text
            .chars()
            .find(|&letter| letter.is_control() && letter != '\n' || ('\u{202a}'..='\u{2069}').contains(&letter));
        assert_eq!(bad, None, "{format}: {text:?}");
        assert!(text.contains("vil.c"), "{format}: {text}");
    }
}

#[test]
fn races_on_one_line_are_distinguished_by_their_variables() {
    let source = RACE.replace("int shared;", "int shared, other;").replace("shared++;", "shared++; other++;");
    let (workshop, program) = Workshop::with_program(&source);
    let hunted = workshop.hunt(&program, &["--runs", "20"]).expect(1);
    let mut found: Vec<_> = hunted.findings.iter().map(|finding| (finding.message.as_str(), &finding.id)).collect();
    found.sort_unstable();
    let [(first, one), (second, two)] = found[..] else { panic!("{found:?}") };
    assert_eq!((first, second), ("data race on `other`", "data race on `shared`"));
    assert_ne!(one, two);
    let _ = workshop.replay(one).expect(0);
    let _ = workshop.replay(two).expect(0);
}

#[test]
fn a_replay_that_is_interrupted_says_nothing_about_the_finding() {
    let (workshop, program) = Workshop::with_program(RACE);
    let hunted = workshop.hunt(&program, &["--runs", "3"]).expect(1);
    let id = &hunted.findings[0].id;
    let mut command =
        racehunter(["replay", id, "--times", "1000000", "--verbose", "--message-format", "json", "--out"]);
    let replay = Started::new(command.arg(workshop.out()));
    replay.wait_until_it_says("it showed");
    replay.signal(Signal::INT);
    let ended = replay.finish().expect(130).says("interrupted after");
    assert_eq!(ended.stdout, "");
}

/// A program that aborts only in the execution of this number, if files are shared.
fn failing_once(number: u32) -> String {
    format!(
        r#"
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static void *work(void *name) {{
    int file = open(name, O_CREAT | O_WRONLY | O_APPEND, 0600);
    if (file < 0 || write(file, "x", 1) != 1)
        exit(4);
    if (lseek(file, 0, SEEK_END) == {number})
        abort();
    return NULL;
}}

int main(int count, char **words) {{
    pthread_t thread;
    pthread_create(&thread, NULL, work, words[count - 1]);
    pthread_join(thread, NULL);
    return 0;
}}
"#
    )
}

#[test]
fn a_failure_seen_once_is_reported_as_inconclusive() {
    // The first execution checks whether there is anything to explore; later ones belong to the analysis.
    for (number, unconfirmed, why) in [(1, 0, "the first execution"), (5, 1, "1 failure was seen")] {
        let (workshop, program) = Workshop::with_program(&failing_once(number));
        let mut command =
            workshop.hunt_command(&program, &["--analysis", "random", "--runs", "9", "--jobs", "1", "--shared-files"]);
        let hunted = Hunted::new(run(command.arg("--").arg(workshop.path("count")))).expect(3);
        let summary = hunted.summary();
        assert_eq!((summary.findings, summary.unconfirmed), (0, unconfirmed), "{number}: {:?}", hunted.overview());
        assert!(hunted.findings.iter().all(|finding| !finding.confirmed) && !summary.complete);
        assert!(summary.unclear.iter().any(|line| line.contains(why)), "{:?}", summary.unclear);
    }
}
