//! What was not under control, in the terms of the source.

use racehunter_explore::{Escape, Escaped, UNMODELLED, UNMODELLED_FUNCTION};
use racehunter_finding::Uncontrolled;
use racehunter_report::messages;
use racehunter_symbols::{Symbols, own_frame};

/// Translates what a campaign saw. What looks the same in the source becomes one.
#[must_use]
pub fn uncontrolled(symbols: &Symbols, escaped: &[Escaped]) -> Vec<Uncontrolled> {
    let mut all: Vec<Uncontrolled> = Vec::new();
    for escaped in escaped {
        let new = translate(symbols, escaped);
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

fn translate(symbols: &Symbols, escaped: &Escaped) -> Uncontrolled {
    let frames = if escaped.code == 0 { Vec::new() } else { symbols.frames(escaped.code) };
    let frame = own_frame(&frames).and_then(|own| frames.get(own));
    Uncontrolled {
        what: name(escaped.what).to_owned(),
        detail: detail(symbols, escaped),
        file: frame.map_or_else(String::new, |frame| frame.file.clone()),
        line: frame.map_or(0, |frame| frame.line),
        executions: escaped.executions,
    }
}

/// The name in JSON.
fn name(what: Escape) -> &'static str {
    match what {
        Escape::Fork => "fork",
        Escape::Spawn => "spawn",
        Escape::Exec => "exec",
        Escape::Blocked => "blocked",
        Escape::Busy => "busy",
        Escape::Input => "input",
        Escape::Signal => "signal",
        Escape::Threads => "threads",
        Escape::Uninstrumented => "uninstrumented",
        Escape::Unmodelled => "unmodelled",
        Escape::None => "unknown",
    }
}

fn detail(symbols: &Symbols, escaped: &Escaped) -> String {
    match escaped.what {
        Escape::Input => format!("file descriptor {}", escaped.object),
        Escape::Signal => {
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
