//! What was not under control, in the terms of the source.

use racehunter_explore::Escaped;
use racehunter_finding::{Gap, Uncontrolled};
use racehunter_log::{
    Escape, TRACES_OF_FIFOS, TRACES_OF_KERNEL, TRACES_OF_KEYS, TRACES_OF_LINKS, TRACES_OF_NETWORK, TRACES_OF_PORTS,
    TRACES_OF_PROCESSES, UNMODELLED, UNMODELLED_FUNCTION,
};
use racehunter_report::messages;
use racehunter_sight::Effect;
use racehunter_symbols::{Symbols, demangle, own_frame};

/// Translates what a campaign saw. Entries that look the same in the source become one.
#[must_use]
pub fn uncontrolled(symbols: &Symbols, escaped: &[Escaped]) -> Vec<Uncontrolled> {
    let mut all: Vec<Uncontrolled> = Vec::new();
    for new in escaped.iter().filter_map(|escaped| translate(symbols, escaped)) {
        let same = |known: &&mut Uncontrolled| {
            (&known.what, &known.detail, &known.file, known.line) == (&new.what, &new.detail, &new.file, new.line)
        };
        match all.iter_mut().find(same) {
            Some(known) => known.executions = known.executions.max(new.executions),
            None => all.push(new),
        }
    }
    all
}

fn translate(symbols: &Symbols, escaped: &Escaped) -> Option<Uncontrolled> {
    let frames = if escaped.code.is_known() { symbols.frames(escaped.code.0) } else { Vec::new() };
    let frame = own_frame(&frames).and_then(|own| frames.get(own));
    Some(Uncontrolled {
        what: gap(symbols, escaped)?,
        detail: detail(symbols, escaped),
        file: frame.map_or_else(String::new, |frame| frame.file.clone()),
        line: frame.map_or(0, |frame| frame.line),
        executions: escaped.executions,
    })
}

/// Returns the kind of gap; `None` for something that a claim only assumes.
fn gap(symbols: &Symbols, escaped: &Escaped) -> Option<Gap> {
    Some(match escaped.what {
        Escape::Unseen if escaped.object & VARIES != 0 => Gap::Random,
        Escape::Unseen => {
            let (effect, _) = described(symbols, escaped).unwrap_or((Effect::Unknown, String::new()));
            Gap::named(effect.name())
        }
        Escape::Foreign => Gap::Library,
        Escape::SystemCall => Gap::SystemCall,
        Escape::Alias => Gap::Alias,
        Escape::OwnStack => Gap::OwnStack,
        Escape::Returned => Gap::ReturnedLocal,
        Escape::Traces => Gap::KernelState,
        Escape::Taker => Gap::SignalReceiver,
        Escape::Freed
        | Escape::Clock
        | Escape::Reused
        | Escape::TimedWait
        | Escape::SmallStack
        | Escape::Whole
        | Escape::Keys
        | Escape::Descriptors
        | Escape::Stays
        | Escape::ReadsAgain
        | Escape::FutexWait
        | Escape::WeakExchange
        | Escape::Excused
        | Escape::Iteration
        | Escape::OwnSequence
        | Escape::LetGo => return None,
        Escape::Fork => Gap::Fork,
        Escape::Spawn => Gap::Spawn,
        Escape::Exec => Gap::Exec,
        Escape::Client => Gap::Client,
        Escape::Blocked => Gap::Blocked,
        Escape::Busy => Gap::Busy,
        Escape::Input => Gap::Input,
        Escape::Signal => Gap::Signal,
        Escape::Threads => Gap::Threads,
        Escape::Uninstrumented => Gap::Uninstrumented,
        Escape::Unmodelled => Gap::Unmodelled,
        Escape::None => Gap::named("unknown"),
    })
}

/// Returns true if threads may order each other through what escaped, so that the detector reports ordered accesses as
/// a race.
pub(crate) fn may_synchronise(symbols: &Symbols, what: Escape, object: u64) -> bool {
    match what {
        what if what.is_assumption() => false,
        Escape::None | Escape::Fork | Escape::Exec | Escape::Returned | Escape::OwnStack | Escape::Taker => false,
        Escape::Unmodelled => racehunter_log::may_order(object),
        // Files with different contents each time, such as random numbers.
        Escape::Unseen if object & VARIES != 0 => false,
        // Functions of the C library that only touch memory, or state of their own, order no threads.
        Escape::Unseen => !matches!(
            symbols.unseen(object & !VARIES).and_then(|(effect, _)| Effect::from_byte(effect)),
            Some(Effect::None | Effect::HiddenState | Effect::Memory | Effect::Random)
        ),
        _ => true,
    }
}

/// Set in the description of a call whose result differs from execution to execution, whatever its other effects.
const VARIES: u64 = 1 << 62;

/// Returns the effect and the name of a call that is not seen.
fn described(symbols: &Symbols, escaped: &Escaped) -> Option<(Effect, String)> {
    let (effect, name) = symbols.unseen(escaped.object & !VARIES)?;
    Some((Effect::from_byte(effect)?, name))
}

fn detail(symbols: &Symbols, escaped: &Escaped) -> String {
    match escaped.what {
        Escape::Unseen => match described(symbols, escaped) {
            Some((Effect::Unknown, name)) => match symbols.library_of(&name) {
                Some(library) => format!("`{}` in {library}", demangle(&name)),
                None => format!("`{}`", demangle(&name)),
            },
            Some((Effect::Assembler | Effect::Random, name)) if name.is_empty() => String::new(),
            Some((_, name)) => format!("`{}`", demangle(&name)),
            None => String::new(),
        },
        Escape::Foreign => {
            let frames = symbols.frames(escaped.object + 1);
            let name = frames.first().map_or("??", |frame| frame.function.as_str());
            match symbols.library_at(escaped.object) {
                Some(library) if name.starts_with("??") => format!("a function in {library}"),
                Some(library) => format!("`{name}` in {library}"),
                None if name.starts_with("??") => "a function".to_owned(),
                None => format!("`{name}`"),
            }
        }
        Escape::Traces if escaped.object == TRACES_OF_PORTS => "ports".to_owned(),
        Escape::Traces if escaped.object == TRACES_OF_LINKS => "links".to_owned(),
        Escape::Traces if escaped.object == TRACES_OF_NETWORK => "network".to_owned(),
        Escape::Traces if escaped.object == TRACES_OF_PROCESSES => "processes".to_owned(),
        Escape::Traces if escaped.object == TRACES_OF_FIFOS => "fifos".to_owned(),
        Escape::Traces if escaped.object == TRACES_OF_KERNEL => "messages".to_owned(),
        Escape::Traces if escaped.object == TRACES_OF_KEYS => "keys".to_owned(),
        Escape::SystemCall => format!("system call {}", escaped.object),
        Escape::Input => format!("file descriptor {}", escaped.object),
        Escape::Signal | Escape::Taker => {
            let name = u32::try_from(escaped.object).ok().and_then(messages::signal_name);
            name.map_or_else(|| format!("signal {}", escaped.object), str::to_owned)
        }
        // Symbols are looked up by return addresses; this is the address of the function itself.
        Escape::Uninstrumented => symbols.frames(escaped.object + 1).first().map_or_else(String::new, |frame| {
            if frame.function.starts_with("??") { String::new() } else { frame.function.clone() }
        }),
        Escape::Unmodelled => {
            let number =
                escaped.object.checked_sub(UNMODELLED_FUNCTION).and_then(|number| usize::try_from(number).ok());
            let function = number.and_then(|number| UNMODELLED.get(number));
            function.map_or_else(|| format!("system call {}", escaped.object), |name| format!("`{name}`"))
        }
        _ => String::new(),
    }
}
