//! Runs every command in the documents.
//!
//! A block of `sh` is run line by line, in a copy of the project in `docs/example`. A block of `console` is run too, and
//! must print what is below it. Other blocks are not commands. With `RACEHUNTER_BLESS=1` the text below a command in a
//! `console` block is replaced by its output.

use racehunter_e2e::{Ended, Workshop, racehunter, root};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

/// The commands of each document that find something and exit with 1. All others find nothing, because the program is
/// correct, or because the document has suppressed the finding.
const FINDS: [(&str, &[&str]); 3] = [
    (
        "README.md",
        &[
            "racehunter hunt --stop-on-first targets/assertion/bank_transfer.cpp",
            "racehunter hunt queue_test.c",
            "racehunter hunt queue_test.c --cflags \"-O2 -Iinclude\" -- --size 4",
            "racehunter hunt ./queue_test -- --size 4",
            "racehunter scan queue_test.c",
            "racehunter predict ./queue_test",
        ],
    ),
    (
        "docs/guide.md",
        &[
            "racehunter hunt queue_test.c",
            "racehunter hunt queue_test.cpp --cflags \"-O2 -std=c++20 -Iinclude\" -- --size 4",
            "racehunter hunt ./queue_test -- --size 4",
            "racehunter hunt ./queue_test",
            "racehunter hunt --quiet --stop-on-first targets/deadlock/abba.c",
            "racehunter test ./queue_test --runs 100 --junit results.xml",
            "RACEHUNTER_MESSAGE_FORMAT=short racehunter hunt ./queue_test",
            "racehunter predict queue_test.rht",
        ],
    ),
    ("docs/servers.md", &["racehunter hunt ./server --with ./client.sh --runs 100"]),
];

/// A block of a document: its language, and its lines from the first one on.
struct Block {
    language: String,
    first: usize,
    lines: Vec<String>,
}

fn blocks(text: &str) -> Vec<Block> {
    let (mut blocks, mut open): (Vec<Block>, bool) = (Vec::new(), false);
    for (number, line) in text.lines().enumerate() {
        match line.strip_prefix("```") {
            Some(_) if open => open = false,
            Some(language) => {
                open = true;
                blocks.push(Block { language: language.to_owned(), first: number + 1, lines: Vec::new() });
            }
            None if open => blocks.last_mut().expect("one is open").lines.push(line.to_owned()),
            None => {}
        }
    }
    blocks
}

/// Copies the example, with the programs below `targets/` where the documents expect them.
fn project() -> Workshop {
    let workshop = Workshop::new();
    for entry in fs::read_dir(root().join("docs/example")).expect("the example") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().and_then(|name| name.to_str()).expect("a name").to_owned();
        let copy = workshop.write(&name, &fs::read_to_string(&path).expect("a file"));
        let mode = fs::metadata(&path).expect("a file").permissions().mode();
        fs::set_permissions(copy, fs::Permissions::from_mode(mode)).expect("permissions can be set");
    }
    std::os::unix::fs::symlink(root().join("targets"), workshop.path("targets")).expect("a link");
    workshop
}

/// Runs one line as a user would type it. Hunts are short: other tests check that they find something.
#[track_caller]
fn typed(workshop: &Workshop, line: &str, short: bool) -> Ended {
    let mut command = racehunter([""; 0]);
    let bin = Path::new(command.get_program()).parent().expect("a directory").to_path_buf();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(bin).chain(std::env::split_paths(&path))).expect("a path");
    command = Command::new("sh");
    command.args(["-uc", line]).env("PATH", path).env("COLUMNS", "100").env("NO_COLOR", "1");
    if short {
        command.env("RACEHUNTER_RUNS", "60");
    }
    workshop.run(&mut command)
}

/// Returns the commands of a document that find something.
fn finds(name: &str) -> &'static [&'static str] {
    FINDS.iter().find(|(document, _)| *document == name).map_or(&[], |(_, commands)| commands)
}

fn without_comment(line: &str) -> &str {
    line.split(" #").next().unwrap_or(line).trim()
}

/// Checks the exit code of a command: 1 if it is one of those that find something, otherwise 0.
#[track_caller]
fn check(name: &str, line: &str, ended: &Ended) {
    let expected = i32::from(finds(name).contains(&without_comment(line)));
    let Ended { status, stdout, stderr } = ended;
    assert_eq!(*status, Some(expected), "`{line}` ends with the wrong status\n{stdout}{stderr}");
    assert!(!stderr.contains("panicked"), "{stderr}");
}

/// Replaces what varies from run to run.
fn stable(text: &str) -> String {
    let line = |line: &str| match line.split_once("Summary [") {
        Some((before, after)) => {
            format!("{before}Summary [TIME]{}", after.split_once(']').map_or("", |(_, rest)| rest))
        }
        None => line.trim_end().to_owned(),
    };
    text.trim_end().lines().map(line).collect::<Vec<_>>().join("\n")
}

/// Runs all commands of a document, in order, in one directory. Returns how many there were.
fn run_document(name: &str) -> usize {
    let path = root().join(name);
    let text = fs::read_to_string(&path).expect("a document");
    let workshop = project();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let (mut count, mut ran) = (0, BTreeSet::new());
    // From the end, so that line numbers stay valid when text is replaced.
    let (mut replaced, blocks) = (Vec::new(), blocks(&text));
    for block in &blocks {
        match block.language.as_str() {
            "sh" => {
                let whole = block.lines.join("\n").replace("\\\n", " ");
                for line in whole.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
                    // CI runs the commands that build the tool itself.
                    if line.starts_with("cargo ") {
                        continue;
                    }
                    check(name, line, &typed(&workshop, line, true));
                    ran.insert(without_comment(line).to_owned());
                    count += 1;
                }
            }
            "console" => {
                let (command, output) = block.lines.split_first().expect("a command");
                let command = command.strip_prefix("$ ").expect("a command begins with `$ `");
                let ended = typed(&workshop, command, false);
                check(name, command, &ended);
                ran.insert(without_comment(command).to_owned());
                count += 1;
                if std::env::var_os("RACEHUNTER_BLESS").is_some() {
                    replaced
                        .push((block.first + 1..block.first + block.lines.len(), ended.stdout.trim_end().to_owned()));
                    continue;
                }
                assert_eq!(stable(&output.join("\n")), stable(&ended.stdout), "{name}: what `{command}` writes");
            }
            _ => {}
        }
    }
    for command in finds(name) {
        assert!(ran.contains(*command), "{name} has no command `{command}`, which finds something");
    }
    if !replaced.is_empty() {
        for (range, output) in replaced.into_iter().rev() {
            lines.splice(range, output.lines().map(|line| line.trim_end().to_owned()));
        }
        fs::write(path, lines.join("\n") + "\n").expect("written");
    }
    count
}

#[test]
fn every_command_of_the_readme_works() {
    assert!(run_document("README.md") >= 6);
}

#[test]
fn every_command_of_the_guide_works() {
    assert!(run_document("docs/guide.md") >= 25);
}

#[test]
fn every_command_of_the_server_and_build_system_pages_works() {
    assert!(run_document("docs/servers.md") >= 2);
    assert!(run_document("docs/build-systems.md") >= 2);
    // The page must show the file that was run.
    let page = fs::read_to_string(root().join("docs/servers.md")).expect("a document");
    let client = fs::read_to_string(root().join("docs/example/client.sh")).expect("a script");
    assert!(blocks(&page).iter().any(|block| block.language == "bash" && block.lines.join("\n") + "\n" == client));
}

#[test]
fn every_line_with_racehunter_is_in_a_block_that_is_run() {
    for name in ["README.md", "docs/guide.md", "docs/servers.md"] {
        for block in blocks(&fs::read_to_string(root().join(name)).expect("a document")) {
            let runs = ["sh", "console"].contains(&block.language.as_str());
            let other = ["c", "json", "toml", "yaml"].contains(&block.language.as_str());
            let commands = block.lines.iter().filter(|line| line.starts_with("racehunter "));
            assert!(runs || other || commands.count() == 0, "{name}:{} is not run", block.first);
        }
    }
}
