//! The descriptions of C library functions, compared with the models that the runtime has of the same functions.
//!
//! Both were written independently. A description that leaves out an access leads to wrong proofs, so it must have at least the
//! accesses of the model.

use racehunter_scan::models::{Allocate, Arguments, MemoryEffect, Model, Models, Semaphore, Wait};
use racehunter_sight::models::{ALL, Direction, Length, Part, Place, Touch, parts};

/// What a description says about one argument.
struct Said {
    is_read: bool,
    is_written: bool,
    /// The argument with the number of bytes, if there is one.
    length: Option<usize>,
}

fn said(model: &Model, argument: usize) -> Said {
    let none = Said { is_read: false, is_written: false, length: None };
    let reads = |list: &[usize]| Said { is_read: list.contains(&argument), ..none };
    let whole = |is_it: bool| Said { is_read: is_it, is_written: is_it, length: None };
    match model {
        Model::Access(effect) => of_effect(effect, argument),
        Model::Allocate(Allocate { into, copies, reads, .. }) => Said {
            is_read: reads.contains(&argument) || *copies == Some(argument),
            is_written: *into == Some(argument),
            length: None,
        },
        Model::Wait(Wait { uses, reads: list, lock }) => {
            Said { is_read: uses.contains(&argument) || *lock == argument || list.contains(&argument), ..none }
        }
        Model::Semaphore(Semaphore { reads: list, .. }) => reads(list),
        Model::Release(release) => whole(release.pointer == argument),
        // What is given to these functions besides their objects is read.
        Model::Lock(_) | Model::Unlock(_) | Model::Barrier(_) => Said { is_read: true, ..none },
        Model::Create(create) => Said { is_read: true, is_written: create.handle == Some(argument), length: None },
        Model::Join(_) => Said { is_read: argument >= 2, is_written: argument == 1, length: None },
        Model::Key(key) => Said { is_written: key.key == argument, ..none },
        _ => none,
    }
}

fn of_effect(effect: &MemoryEffect, argument: usize) -> Said {
    let is_whole = effect.whole.contains(&argument);
    let is_format = effect.format == Some(argument);
    Said {
        is_read: effect.reads.contains(argument)
            || effect.reads_from.is_some_and(|first| argument >= first)
            || effect.uses.contains(&argument)
            || is_format
            || is_whole,
        is_written: effect.writes_argument(argument) || is_whole,
        length: effect.length.filter(|_| effect.reads != Arguments::default() || effect.writes != Arguments::default()),
    }
}

/// Returns what is wrong with a description, judging by one access of the model.
fn fault(model: &Model, touch: &Touch<'_>) -> Option<String> {
    let (argument, is_stream) = match touch.place {
        Place::Argument(argument) => (usize::from(argument), false),
        Place::Stream(argument) => (usize::from(argument), true),
        // The library's own lock protects what is `Locked`.
        Place::Hidden(_) if touch.direction == Direction::Locked => return None,
        // What changes the environment has no description, and so rules out a proof.
        Place::Hidden("environment") if touch.direction == Direction::Read => return None,
        Place::Hidden(name) => return Some(format!("hidden state `{name}`")),
        // What the description says about an argument holds for all memory that can be reached from it; what a result points
        // to, and the standard streams, have no description.
        Place::Behind(_) | Place::Result | Place::Variable(_) => return None,
    };
    let said = said(model, argument);
    let (reads, writes) = match touch.direction {
        Direction::Read => (true, false),
        Direction::Write => (false, true),
        Direction::Modify => (true, true),
        Direction::Locked => (false, false),
    };
    // A stream synchronises itself; it must only not be closed meanwhile.
    if is_stream {
        return (!said.is_read).then(|| format!("does not use stream {argument}"));
    }
    // A write races with whatever a read races with.
    if reads && !said.is_read && !said.is_written {
        return Some(format!("does not read argument {argument}"));
    }
    if writes && !said.is_written {
        return Some(format!("does not write argument {argument}"));
    }
    // A length in bytes is given by the same argument, or not at all.
    match (said.length, touch.length) {
        (None, _) => None,
        (Some(length), Length::Product(by, None, 1) | Length::ResultUpTo(by)) if usize::from(by) == length => None,
        (Some(_), Length::Result(None, 1) | Length::UpToResult(1, _)) => None,
        // At most as many bytes as are asked for.
        (Some(_), Length::Bytes(1)) => None,
        (Some(length), _) => Some(format!("the length of argument {argument} is not that of argument {length}")),
    }
}

#[test]
fn nothing_that_changes_the_environment_is_described() {
    let models = Models::default();
    for name in ["setenv", "putenv", "unsetenv", "clearenv", "setlocale", "tzset"] {
        assert_eq!(models.of(name), None, "{name}");
    }
}

#[test]
fn descriptions_have_all_accesses_of_the_models() {
    let models = Models::default();
    let mut faults = Vec::new();
    let mut compared = 0;
    for (names, text) in ALL {
        for name in names.split_ascii_whitespace() {
            let Some(model) = models.of(name) else { continue };
            compared += 1;
            for part in parts(text) {
                if let Part::Touch(touch) = part
                    && let Some(fault) = fault(&model, &touch)
                {
                    faults.push(format!("{name} ({text}): {fault}"));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(compared > 250, "only {compared} functions were compared");
}
