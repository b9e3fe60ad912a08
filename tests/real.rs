//! Widely used libraries, and a server, under control: every execution prints what the plain build prints, nothing is
//! reported, and a planted bug is found. `cargo xtask real` shows the same with more executions.

use racehunter_e2e::run;
use std::process::Command;

/// Runs a few executions: most of the time goes into compiling. `planted` is the report of the planted bug.
#[track_caller]
fn check(name: &str, planted: &str) {
    let mut shows = Command::new(env!("CARGO_BIN_EXE_racehunter-shows"));
    let shown = run(shows.args(["real", "--runs", "6", name])).expect(0).stdout;
    let row = shown.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("no row\n{shown}"));
    let columns: Vec<&str> = row.split("  ").map(str::trim).filter(|column| !column.is_empty()).collect();
    let [_, threads, _, executions, _, output, reported, _, found] = columns[..] else { panic!("{shown}") };
    assert!(threads.parse().is_ok_and(|threads: u32| threads > 1), "it has only one thread\n{shown}");
    assert_eq!((executions, output, reported), ("6", "the same", "nothing"), "{shown}");
    assert!(found.starts_with(planted), "{planted} was planted, {found} was found\n{shown}");
}

#[test]
fn xz() {
    check("xz", "data-race at block_encoder.c:");
}

#[test]
fn server() {
    check("server", "data-race at epoll_server.c:");
}

/// Large programs, which take long to compile. `cargo xtask test --all` runs them.
mod slow {
    use super::check;

    #[test]
    fn sqlite3() {
        check("sqlite3", "data-race at sqlite3.c:");
    }

    #[test]
    fn zstd() {
        check("zstd", "data-race at pool.c:");
    }
}
