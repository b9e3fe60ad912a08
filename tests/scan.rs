//! `racehunter scan`: verdicts about programs for each thing that it understands, each with a race and without; and no
//! program below `targets/` that has a race is ever called free of them.

use libtest_mimic::{Arguments, Trial};
use racehunter_e2e::annotations::{Target, targets};
use racehunter_e2e::{Workshop, tool};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

fn main() -> ExitCode {
    if let Err(what) = tool::find() {
        eprintln!("{what}");
        return ExitCode::FAILURE;
    }
    let mut trials: Vec<Trial> = programs()
        .into_iter()
        .map(|program| {
            let name = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
            Trial::test(format!("program/{name}"), move || {
                check(&program);
                Ok(())
            })
        })
        .collect();
    trials.extend(targets().into_iter().map(|target| {
        let name = target.path.trim_start_matches("targets/").to_owned();
        Trial::test(format!("target/{name}"), move || {
            never_wrong(&target);
            Ok(())
        })
    }));
    trials.push(Trial::test("contract", || {
        contract();
        Ok(())
    }));
    trials.push(Trial::test("several_sources", || {
        several_sources();
        Ok(())
    }));
    trials.push(Trial::test("models", || {
        models();
        Ok(())
    }));
    trials.push(Trial::test("figures", || {
        figures();
        Ok(())
    }));
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// The programs, which say in their first line what is expected.
fn programs() -> Vec<PathBuf> {
    let directory = tool::root().join("tests/programs/scan");
    let entries = std::fs::read_dir(&directory).expect("the programs are there");
    let mut all: Vec<PathBuf> = entries.map(|entry| entry.expect("can be read").path()).collect();
    all.sort();
    assert!(all.len() > 40);
    all
}

/// What a scan says: the last line of JSON.
fn verdict(workshop: &Workshop, files: &[&Path], options: &[&str]) -> Value {
    let out = workshop.out().display().to_string();
    let mut words: Vec<String> = ["scan", "--message-format", "json", "--out", &out].map(str::to_owned).to_vec();
    words.extend(options.iter().map(|&option| option.to_owned()));
    words.extend(files.iter().map(|file| file.display().to_string()));
    let ended = workshop.run(&mut tool::racehunter(&words));
    let last =
        ended.stdout.lines().rfind(|line| line.starts_with('{')).unwrap_or_else(|| panic!("{ended:?}")).to_owned();
    let verdict: Value = serde_json::from_str(&last).expect("JSON");
    assert_eq!(verdict["reason"], "verdict", "{last}");
    let expected = i32::from(verdict["verdict"] == "race");
    ended.expect(expected);
    verdict
}

fn check(program: &Path) {
    let text = std::fs::read_to_string(program).expect("can be read");
    let expected = text.lines().next().and_then(|line| line.strip_prefix("// verdict: ")).expect("the first line says");
    let mut words = expected.split(' ');
    let (word, tier) = (words.next().unwrap_or_default(), words.next());
    let workshop = Workshop::new();
    let said = verdict(&workshop, &[program], &["--time", "20s"]);
    assert_eq!(said["verdict"], word, "{said}");
    if let Some(tier) = tier {
        assert_eq!(said["tier"], tier, "{said}");
    }
    // What the code alone says is never the opposite.
    let alone = verdict(&workshop, &[program], &["--approx", "over"]);
    if word == "race" {
        assert_eq!(alone["verdict"], "unknown", "{alone}");
        assert!(alone["candidates"].as_u64() > Some(0) || alone["gaps"].as_u64() > Some(0), "{alone}");
    }
}

fn never_wrong(target: &Target) {
    let workshop = Workshop::new();
    let path = tool::root().join(&target.path);
    let options = target.options();
    let said = verdict(&workshop, &[&path], &[&["--approx", "over"], &options[..]].concat());
    if target.bug.as_ref().is_some_and(|bug| !bug.marked("data-race").is_empty()) {
        assert_eq!(said["verdict"], "unknown", "{} has a race: {said}", target.path);
    }
}

const RACE: &str = "#include <pthread.h>\nint x;\nvoid *f(void *a) { x++; return 0; }\nint main(void) { pthread_t t; \
    pthread_create(&t, 0, f, 0); x++; pthread_join(t, 0); return 0; }\n";

/// What scripts depend on.
fn contract() {
    let (workshop, source) = Workshop::with_program(RACE);
    let out = workshop.out().display().to_string();
    let path = source.display().to_string();
    let words = ["scan", "--svcomp", "--out", &out, &path];
    let ended = workshop.run(&mut tool::racehunter(words)).expect(1);
    assert_eq!(ended.stdout.lines().last(), Some("FALSE(no-data-race)"));
    let words = ["scan", "--svcomp", "--approx", "over", "--out", &out, &path];
    let ended = workshop.run(&mut tool::racehunter(words)).expect(0);
    assert_eq!(ended.stdout.lines().last(), Some("UNKNOWN"));
    let words = ["scan", "--require-complete", "--approx", "over", "--out", &out, &path];
    workshop.run(&mut tool::racehunter(words)).expect(3);
    let free = workshop.write("free.c", &RACE.replace("x++; pthread_join", "pthread_join"));
    let free = free.display().to_string();
    let words = ["scan", "--svcomp", "--out", &out, &free];
    let ended = workshop.run(&mut tool::racehunter(words)).expect(0);
    assert_eq!(ended.stdout.lines().last(), Some("TRUE"));
    // The race is kept, and shows again.
    let words = ["scan", "--message-format", "json", "--out", &out, &path];
    let ended = workshop.run(&mut tool::racehunter(words)).expect(1);
    let finding = ended.stdout.lines().find(|line| line.contains("\"finding\"")).expect("the race is told").to_owned();
    let finding: Value = serde_json::from_str(&finding).expect("JSON");
    workshop.replay(finding["id"].as_str().expect("it has an id")).expect(0);
}

/// The threads are in one file and the variable in another.
fn several_sources() {
    let (workshop, _) = Workshop::with_program(RACE);
    let one =
        workshop.write("one.c", &RACE.replace("int x;", "extern int x; void add(void);").replace("{ x++;", "{ add();"));
    let two = workshop.write("two.c", "int x;\nvoid add(void) { x++; }\n");
    let said = verdict(&workshop, &[&one, &two], &[]);
    assert_eq!(said["verdict"], "race", "{said}");
    let alone = verdict(&workshop, &[&one], &["--approx", "over"]);
    assert!(alone["why"].as_str().is_some_and(|why| why.contains("add")), "{alone}");
}

/// Functions that the user describes.
fn models() {
    let source =
        RACE.replace("int x;", "int x; void my_lock(int); void my_unlock(int *);").replace("x++;", "my_lock(0); x++;");
    let workshop = Workshop::new();
    // It is compiled, but cannot be linked.
    let source = workshop.write("outside.c", &source);
    let said = verdict(&workshop, &[&source], &["--approx", "over"]);
    assert!(said["why"].as_str().is_some_and(|why| why.contains("my_lock")), "{said}");
    let text = workshop.write("text.toml", "[access]\nmy_lock = {}\n").display().to_string();
    let said = verdict(&workshop, &[&source], &["--approx", "over", "--models", &text]);
    assert_eq!((said["gaps"].as_u64(), said["candidates"].as_u64() > Some(0)), (Some(0), true), "{said}");
    let text = workshop.write("wrong.toml", "[lock]\nmy_lock = { look = 0 }\n").display().to_string();
    let path = source.display().to_string();
    let ended = workshop.run(&mut tool::racehunter(["scan", "--models", &text, &path])).expect(2);
    assert!(ended.stderr.contains("look"), "{ended:?}");
}

/// The programs of the paper's figures: what each backend says, and whether it suspects anything; what executions say.
fn figures() {
    let workshop = Workshop::new();
    for (figure, suspected_by, proved_by, shown) in [
        ("3", &["value", "alias"][..], None, "race"),
        ("4a", &["value", "alias", "syntactic"], None, "race"),
        ("4b", &["alias", "syntactic"], Some("value"), "unknown"),
        ("5", &["value", "alias", "syntactic"], None, "race"),
    ] {
        let program = tool::root().join(format!("tests/programs/scan/figure_{figure}.c"));
        for backend in ["value", "alias", "syntactic"] {
            let said = verdict(&workshop, &[&program], &["--approx", "over", "--backend", backend]);
            let expected = if proved_by == Some(backend) { "race-free" } else { "unknown" };
            assert_eq!(said["verdict"], expected, "figure {figure}, {backend}: {said}");
            let suspects = said["candidates"].as_u64() > Some(0);
            assert_eq!(suspects, suspected_by.contains(&backend), "figure {figure}, {backend}: {said}");
        }
        let said = verdict(&workshop, &[&program], &["--approx", "under", "--time", "10s"]);
        assert_eq!(said["verdict"], shown, "figure {figure}: {said}");
    }
}
