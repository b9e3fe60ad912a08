//! A program that ends in another bad way in every schedule: the campaign counts right, loses no finding, and leaves
//! nothing running. `cargo xtask chaos` shows the same with more executions.

use racehunter_e2e::run;
use std::process::Command;

#[test]
fn whatever_the_program_does_is_counted() {
    let shows = env!("CARGO_BIN_EXE_racehunter-shows");
    run(Command::new(shows).args(["chaos", "--runs", "300"])).expect(0);
}

/// A program that overwrites what it shares with the controller is not believed, and nothing else is killed.
/// `cargo xtask chaos --garble` shows the same with a thousand seeds.
#[test]
fn what_is_overwritten_is_not_believed() {
    let shows = env!("CARGO_BIN_EXE_racehunter-shows");
    run(Command::new(shows).args(["chaos", "--garble", "12"])).expect(0);
}
