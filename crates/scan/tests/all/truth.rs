//! What the analysis proves about random programs is true: no schedule and no input shows a race.
//!
//! `RACEHUNTER_ORACLE_PROGRAMS` sets the number of programs.

use crate::lower::lower;
use crate::machine::{Truth, truth};
use crate::random::{ENDINGS, KINDS, program};
use crate::source::{Address, Given, Number, Object, Source, Statement};
use racehunter_scan::pointer::backend::{Alias, Backend, Coarse, Syntactic, Value};
use racehunter_scan::{Models, Program, Report, analyse};

pub fn programs() -> u64 {
    std::env::var("RACEHUNTER_ORACLE_PROGRAMS").ok().and_then(|number| number.parse().ok()).unwrap_or(USUAL)
}

/// The number of programs in CI.
const USUAL: u64 = 600;

/// Maximum number of states of a program.
pub const MOST: usize = 20_000;

/// Returns the analysis of a program.
pub fn report(source: &Source, backend: &dyn Backend, models: &Models) -> Report {
    analyse(&Program::link(vec![lower(source)]), models, backend)
}

/// The truth about the programs, and how much of it was proved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Tally {
    free: u64,
    racy: u64,
    /// Undefined, or too large to decide.
    open: u64,
    /// Programs without a race that each backend proved.
    by_value: u64,
    by_alias: u64,
    by_coarse: u64,
    /// Proofs that needed tier B.
    by_paths: u64,
}

/// The proofs for the first [`USUAL`] programs. An analysis that proves less has lost precision; one that proves more
/// has gained some: then change the numbers.
const EXPECTED: Tally =
    Tally { free: 371, racy: 155, open: 74, by_value: 287, by_alias: 224, by_coarse: 233, by_paths: 50 };

#[test]
fn what_is_proved_is_true() {
    let models = Models::default();
    let mut tally = Tally::default();
    for seed in 0..programs() {
        let source = program(seed);
        let truth = truth(&lower(&source), MOST);
        match truth {
            Truth::Race => tally.racy += 1,
            Truth::None => tally.free += 1,
            Truth::Undefined | Truth::TooLarge => tally.open += 1,
        }
        let report_of = |backend: &dyn Backend| report(&source, backend, &models);
        let Tally { by_value, by_alias, by_coarse, by_paths, .. } = &mut tally;
        let counts: [(&dyn Backend, &mut u64); 3] = [(&Value, by_value), (&Alias, by_alias), (&Coarse(1), by_coarse)];
        for (backend, proved) in counts {
            let report = report_of(backend);
            assert!(
                truth != Truth::Race || !report.is_race_free(),
                "program {seed} has a race, but {} calls it race-free:\n{source}",
                backend.name()
            );
            if truth == Truth::None && report.is_race_free() {
                *proved += 1;
                *by_paths += u64::from(report.by_paths);
            }
        }
        assert!(!report_of(&Syntactic).is_race_free(), "program {seed} is proved by names alone");
        if seed + 1 == USUAL {
            assert_eq!(tally, EXPECTED);
        }
    }
    println!("{tally:?}");
}

/// The same for programs that throw, and that end in other ways than by the end of `main` alone.
#[test]
fn what_is_proved_about_endings_is_true() {
    let models = Models::default();
    let backends: [&dyn Backend; 3] = [&Value, &Alias, &Coarse(1)];
    let (mut free, mut racy, mut proved) = (0, 0, 0);
    for number in 0..programs() {
        let seed = number * KINDS + ENDINGS;
        let source = program(seed);
        let truth = truth(&lower(&source), MOST);
        free += u64::from(truth == Truth::None);
        racy += u64::from(truth == Truth::Race);
        for (position, backend) in backends.into_iter().enumerate() {
            let is_proved = report(&source, backend, &models).is_race_free();
            assert!(
                truth != Truth::Race || !is_proved,
                "program {seed} has a race, but {} calls it race-free:\n{source}",
                backend.name()
            );
            proved += u64::from(position == 0 && is_proved && truth == Truth::None);
        }
        if number + 1 == USUAL {
            assert_eq!((free, racy, proved), ENDINGS_EXPECTED);
        }
    }
    println!("{free} without a race, {proved} of them proved, and {racy} with one");
}

/// Programs of the first [`USUAL`] without a race and with one, and how many are proved.
const ENDINGS_EXPECTED: (u64, u64, u64) = (102, 103, 80);

/// Returns a program with two threads that a loop creates, each with its number, and what they do.
fn crew(body: Vec<Statement>) -> Source {
    let number = Number::Register(2);
    let create = vec![Statement::Create(number, 1, Given::Number(number))];
    let join = vec![Statement::Join(Number::Register(1))];
    Source { functions: vec![vec![Statement::Repeat(2, 2, create), Statement::Repeat(1, 2, join)], body] }
}

#[test]
fn threads_of_a_group_have_their_own_elements() {
    let own = Statement::Write(Address::Element(Number::Argument), Number::Constant(1));
    let next = Statement::Read(0, Address::Element(Number::Next));
    for (body, expected) in [(vec![own.clone()], Truth::None), (vec![own, next], Truth::Race)] {
        let source = crew(body);
        assert_eq!(truth(&lower(&source), MOST), expected);
        let report = report(&source, &Value, &Models::default());
        assert_eq!(report.is_race_free(), expected == Truth::None, "{:?}\n{source}", report.pairs);
    }
}

/// A function gets three addresses, and another thread touches what the last of them points to.
#[test]
fn what_is_cut_off_is_not_forgotten() {
    let last = Address::Variable(Object::Array, 16);
    let addresses = [Address::Variable(Object::X, 0), Address::Variable(Object::Y, 0), last];
    let calls = addresses.map(|address| Statement::Call(2, Given::Address(address))).to_vec();
    let first = Number::Constant(0);
    let write = Statement::Write(last, Number::Constant(1));
    let main = vec![Statement::Create(first, 1, Given::Null), write, Statement::Join(first)];
    let helper = vec![Statement::Write(Address::Argument(0), Number::Constant(1))];
    let source = Source { functions: vec![main, calls, helper] };
    assert_eq!(truth(&lower(&source), MOST), Truth::Race);
    for most in [0, 1, 2] {
        assert!(!report(&source, &Coarse(most), &Models::default()).is_race_free(), "{most}");
    }
}
