//! Widely used libraries, and a server, under control: every execution writes what the plain build writes, nothing is
//! reported, and a planted bug is found. `cargo xtask real` shows the same with more executions.

use racehunter_e2e::run;
use std::process::Command;

/// A few executions: most of the time goes into compiling.
#[track_caller]
fn expect_control(name: &str) {
    let shows = env!("CARGO_BIN_EXE_racehunter-shows");
    let ended = run(Command::new(shows).args(["real", "--runs", "6", name]));
    assert_eq!(ended.status, Some(0), "{}{}", ended.stdout, ended.stderr);
}

#[test]
fn sqlite3() {
    expect_control("sqlite3");
}

#[test]
fn zstd() {
    expect_control("zstd");
}

#[test]
fn xz() {
    expect_control("xz");
}

#[test]
fn server() {
    expect_control("server");
}
