//! `cargo racehunter` on tests whose threads panic.

use crate::crates::{Crate, Tested};
use serde_json::Value;

/// Returns the only finding of a test, its kind, and the panic in its message.
#[track_caller]
fn found<'a>(tested: &'a Tested, test: &str) -> (&'a Value, &'a str, &'a str) {
    assert_eq!(tested.verdict(test), "found", "{test}");
    let findings: Vec<&Value> = tested.findings(test).collect();
    let [finding] = findings[..] else { panic!("not one finding of {test}: {findings:#?}") };
    assert_eq!((&finding["confirmed"], &finding["replayed"]), (&Value::from(true), &serde_json::json!([5, 5])));
    let text = |name: &str| finding[name].as_str().expect("text");
    (finding, text("kind"), text("message"))
}

/// What follows from a panic in other threads is part of its report.
#[test]
fn the_first_of_several_panics_is_reported() {
    let program = Crate::new(include_str!("programs/rust/panics.rs"));
    let follow = ["drops_the_sender", "drops_the_receiver", "poisons_a_lock"];
    let others = ["fails_after_an_expected_panic", "does_not_look_at_a_thread"];
    let words = [&["--runs", "150", "--", "--skip", "panics_"][..]].concat();
    let tested = program.test(&words, 1);
    let notes = |finding: &Value| finding["notes"].to_string();
    for test in follow {
        let (finding, kind, message) = found(&tested, test);
        assert!(kind == "assertion" && message.contains("root"), "{test}: {kind}: {message}");
        let steps = finding["steps"].as_array().expect("steps");
        assert!(steps.iter().any(|step| step["what"] == "panic"), "{test}: {steps:#?}");
    }
    let (finding, ..) = found(&tested, follow[0]);
    assert!(
        notes(finding).contains("after that, the main thread panicked at src/lib.rs:21: called"),
        "{}",
        notes(finding)
    );
    let (finding, _, message) = found(&tested, others[0]);
    assert!(message.contains("its own"), "{message}");
    assert!(!notes(finding).contains("panicked"), "{}", notes(finding));
    let (finding, kind, message) = found(&tested, "lacks_its_panic");
    assert_eq!((kind, message), ("exit-status", "the test did not panic, as it should"));
    assert_eq!(finding["sites"][0]["file"], "src/lib.rs");
    assert!(["clean", "proved"].contains(&tested.verdict(others[1])), "{}", tested.verdict(others[1]));
}

/// The standard library prints a backtrace of a panic during another one, which took longer than the hunt had.
#[test]
fn panics_that_end_the_program_are_found_and_replayed() {
    let program = Crate::new(include_str!("programs/rust/panics.rs"));
    let tested = program.test(&["--runs", "30", "--time", "60s", "panics_"], 1);
    let said = [
        ("panics_while_it_unwinds", "in a destructor"),
        ("panics_in_a_function_that_cannot_unwind", "too late"),
        ("panics_in_such_a_function_while_it_unwinds", "too late"),
        ("panics_at_the_end_of_a_thread", "in a destructor"),
    ];
    for (test, note) in said {
        let (finding, kind, message) = found(&tested, test);
        assert_eq!(kind, "crash", "{test}: {message}");
        let notes = finding["notes"].to_string();
        assert!(notes.contains(note), "{test}: {notes}");
    }
}
