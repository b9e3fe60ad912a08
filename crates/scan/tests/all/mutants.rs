//! Removes something from a proved program: without a lock, or without a join, the proof may stand only if it is still
//! true.

use crate::lower::lower;
use crate::machine::{Truth, truth};
use crate::random::program;
use crate::source::{Lock, Source, Statement};
use crate::truth::{MOST, programs, report};
use racehunter_scan::Models;
use racehunter_scan::pointer::backend::{Alias, Backend, Value};

/// Returns all programs that result from removing one thing: a lock with the end of its section, or one join.
fn mutants(source: &Source) -> Vec<Source> {
    let mut found = Vec::new();
    for function in 0..source.functions.len() {
        for what in 0.. {
            let mut mutant = source.clone();
            let mut left = what;
            mutant.functions[function] = without(&source.functions[function], &mut left);
            if mutant == *source {
                break;
            }
            found.push(mutant);
        }
    }
    found
}

/// Returns the statements without the removable one of this number.
fn without(body: &[Statement], number: &mut usize) -> Vec<Statement> {
    let mut kept = Vec::new();
    let mut gone: Option<Lock> = None;
    for statement in body {
        let candidate = matches!(statement, Statement::Lock(_) | Statement::Join(_));
        if candidate && *number == 0 {
            *number = usize::MAX;
            if let Statement::Lock(lock) = statement {
                gone = Some(*lock);
            }
            continue;
        }
        if candidate && *number != usize::MAX {
            *number -= 1;
        }
        if let Statement::Unlock(lock) = statement
            && gone == Some(*lock)
        {
            gone = None;
            continue;
        }
        kept.push(match statement {
            Statement::If(value, constant, yes, no) => {
                let yes = without(yes, number);
                Statement::If(*value, *constant, yes, without(no, number))
            }
            Statement::IfPointer(body) => Statement::IfPointer(without(body, number)),
            Statement::UnlessPointer(body) => Statement::UnlessPointer(without(body, number)),
            Statement::Repeat(register, times, body) => Statement::Repeat(*register, *times, without(body, number)),
            Statement::Range(register, begin, end, body) => {
                Statement::Range(*register, *begin, *end, without(body, number))
            }
            Statement::Below(value, end, yes, no) => {
                let yes = without(yes, number);
                Statement::Below(*value, *end, yes, without(no, number))
            }
            Statement::Try(lock, test, body) => Statement::Try(*lock, *test, without(body, number)),
            Statement::Exchange { order, value, test, flipped, body } => {
                let body = without(body, number);
                Statement::Exchange { order: *order, value: *value, test: *test, flipped: *flipped, body }
            }
            Statement::Down { register, from, above, predicate, before, body } => {
                let body = without(body, number);
                Statement::Down {
                    register: *register,
                    from: *from,
                    above: *above,
                    predicate: *predicate,
                    before: *before,
                    body,
                }
            }
            Statement::Catch(body, handler) => {
                let body = without(body, number);
                Statement::Catch(body, without(handler, number))
            }
            Statement::Scoped(lock, body) => Statement::Scoped(*lock, without(body, number)),
            Statement::Ask(lock, body, otherwise) => {
                let body = without(body, number);
                Statement::Ask(*lock, body, without(otherwise, number))
            }
            other => other.clone(),
        });
    }
    kept
}

#[test]
fn proofs_do_not_survive_what_makes_them_false() {
    let models = Models::default();
    let backends: [&dyn Backend; 2] = [&Value, &Alias];
    let (mut fallen, mut standing) = (0, 0);
    for seed in 0..programs() / 3 {
        let source = program(seed);
        for backend in backends {
            if !report(&source, backend, &models).is_race_free() {
                continue;
            }
            for mutant in mutants(&source) {
                let still = report(&mutant, backend, &models).is_race_free();
                let truth = if still { truth(&lower(&mutant), MOST) } else { Truth::TooLarge };
                assert!(truth != Truth::Race, "program {seed}, {}: proved, and has a race:\n{mutant}", backend.name());
                *if still { &mut standing } else { &mut fallen } += 1;
            }
        }
    }
    println!("{fallen} proofs fell with a lock or a wait, {standing} did not need it");
    assert!(fallen > 0 && standing > 0, "{fallen} {standing}");
}
