//! A program that ends badly in a different way in every schedule: the campaign counts correctly, loses no finding, and
//! leaves nothing running. `cargo xtask chaos` shows the same with more executions.

use racehunter_e2e::run;
use std::process::Command;

/// Returns the output of a successful `cargo xtask chaos` with these arguments.
fn shown(words: &[&str]) -> String {
    run(Command::new(env!("CARGO_BIN_EXE_racehunter-shows")).arg("chaos").args(words)).expect(0).stdout
}

/// Returns the columns of a row, separated by at least two spaces.
fn columns(line: &str) -> Vec<&str> {
    line.split("  ").map(str::trim).filter(|column| !column.is_empty()).collect()
}

#[test]
fn every_kind_of_end_is_counted_and_every_bug_found() {
    let shown = shown(&["--runs", "200"]);
    let table = shown.split("\n\n").next().unwrap_or_default();
    let rows: Vec<Vec<&str>> = table.lines().skip(2).map(columns).collect();
    assert_eq!(rows.len(), 16, "a row for each act\n{shown}");
    let number = |column: &str| column.parse::<u64>().unwrap_or_else(|_| panic!("no number: {column}\n{shown}"));
    let (mut noted, mut counted) = (0, 0);
    for row in &rows {
        let times = number(row[1]);
        assert!(times > 0, "the program never {}\n{shown}", row[0]);
        noted += times;
        counted += row.get(3).map_or(0, |column| number(column));
    }
    assert_eq!(noted, counted, "{shown}");
    // Executions that examine a bug are noted and counted too.
    assert!((200..250).contains(&counted), "{shown}");
    for line in ["bugs: assertion, crash, data race, deadlock\n", "processes left running: 0\n"] {
        assert!(shown.contains(line), "{line}{shown}");
    }
    let hunt = shown.lines().find(|line| line.starts_with("a hunt of 200 executions, exit code Some(1)"));
    let confirmed = hunt.and_then(|line| line.rsplit_once("confirmed: ")).map(|(_, kinds)| kinds);
    assert_eq!(confirmed, Some("assertion, crash, data-race, deadlock, exit-status"), "{shown}");
}

/// A program that overwrites the memory it shares with the controller is not believed, and no other process is killed.
/// `cargo xtask chaos --garble` shows the same with a thousand seeds.
#[test]
fn results_in_overwritten_memory_are_not_believed() {
    let shown = shown(&["--garble", "12"]);
    if shown.contains("no process namespaces here") {
        return;
    }
    // Six ways, twice each; only a few words may be overwritten without consequences.
    let unclear = shown.lines().filter(|line| line.ends_with(": 0 with findings, 2 unclear, 0 others"));
    assert_eq!(unclear.count(), 5, "{shown}");
    assert!(shown.contains("12 hunts, 0 of them wrong; the bystander is alive"), "{shown}");
}
