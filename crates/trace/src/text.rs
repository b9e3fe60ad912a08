//! The `.std` text form: one event per line, as the trace analysers of the field read and write it.
//!
//! ```text
//! T0|w(V0)|12
//! T0|acq(L0)|13
//! T0|fork(T1)|14
//! T1|r(V0)|20
//! ```
//!
//! A line has a thread, an operation with its object, and a location, which RaceHunter calls a site. Besides `r`, `w`,
//! `acq`, `rel`, `fork`, `join`, `begin` and `end` there are the words of [`Op::word`]. A `+` before the word marks a
//! part of the previous operation (see [`Event::part`]). A `?` before everything marks an event before which its thread
//! took a branch (see [`Event::chose`]), as if `br` came before it. Empty lines and lines that begin with `#` are
//! ignored.
//!
//! # Dependences
//!
//! Other tools have only these three fields. A fourth field lists the earlier reads of its thread on which an event
//! depends:
//!
//! ```text
//! T2|r(x)|18
//! T2|br|20|decision(18)
//! T2|r(y)|21
//! T2|w(p)|22|value(21) decision(18~1)
//! ```
//!
//! `18` is the latest earlier read of this thread at site 18, `18~1` the one before it, and so on. A single such field
//! means that the trace has dependences: events without the field have none. A single `br` or `?` means that it has
//! branches. The lines `#! dependences` and `#! branches` are for traces in which they were recorded but do not occur.
//!
//! Characters that would be misunderstood within a name are written as `%` and two hexadecimal digits.

use crate::{Dependence, Error, Event, EventId, NO_OBJECT, Op, Subject, Trace, TraceBuilder, Via};
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{BufRead, Write};

/// Reads a trace.
///
/// # Errors
/// If the input cannot be read, or a line is not an event.
pub fn read(mut input: impl BufRead) -> Result<Trace, Error> {
    let mut parser = Parser { builder: TraceBuilder::new(), reads: FxHashMap::default() };
    let mut bytes = Vec::new();
    for number in 1.. {
        bytes.clear();
        if input.read_until(b'\n', &mut bytes)? == 0 {
            break;
        }
        let text = std::str::from_utf8(&bytes).map_err(|_| "not UTF-8".to_owned());
        text.and_then(|line| parser.line(line.trim())).map_err(|reason| Error::Text { line: number, reason })?;
    }
    Ok(parser.builder.finish_sorted())
}

struct Parser {
    builder: TraceBuilder,
    /// Reads of a thread at a site, in order, to which dependences refer.
    reads: FxHashMap<(u16, u32), Vec<EventId>>,
}

impl Parser {
    fn line(&mut self, line: &str) -> Result<(), String> {
        if line == "#! branches" {
            self.builder.set_branches();
        }
        if line == "#! dependences" {
            self.builder.set_dependences();
        }
        if line.is_empty() || line.starts_with('#') {
            return Ok(());
        }
        let fields: Vec<&str> = line.split('|').collect();
        let (thread, operation, site, dependences) = match fields[..] {
            [thread, operation, site] => (thread, operation, site, ""),
            [thread, operation, site, dependences] => (thread, operation, site, dependences),
            _ => return Err(format!("expected `THREAD|OPERATION(OBJECT)|SITE`, found `{}`", shortened(line))),
        };
        let too_many = |error: Error| error.to_string();
        let thread = self.builder.thread(&decoded(thread)).map_err(too_many)?;
        let (word, argument) = match operation.split_once('(') {
            Some((word, rest)) => {
                let argument =
                    rest.strip_suffix(')').ok_or_else(|| format!("`{}` has no `)`", shortened(operation)))?;
                (word, Some(argument))
            }
            None => (operation, None),
        };
        let (word, chose) = word.strip_prefix('?').map_or((word, false), |word| (word, true));
        let (word, part) = word.strip_prefix('+').map_or((word, false), |word| (word, true));
        let op = match word {
            "branch" => Op::Branch,
            "req" => Op::Local,
            word => Op::from_word(word).ok_or_else(|| format!("unknown operation `{}`", shortened(word)))?,
        };
        let object = match (op.subject(), argument) {
            (Subject::Nothing, _) => NO_OBJECT,
            (_, None | Some("")) => return Err(format!("`{word}` needs an object")),
            (Subject::Thread, Some(name)) => self.builder.thread(&decoded(name)).map_err(too_many)?.into(),
            (subject, Some(name)) => self.builder.object(subject, &decoded(name)).map_err(too_many)?,
        };
        let site = self.builder.site(&decoded(site)).map_err(too_many)?;
        let event = self.builder.push(Event { thread, op, part, chose, object, site }).map_err(too_many)?;
        if op == Op::Branch || chose {
            self.builder.set_branches();
        }
        for dependence in self.dependences(thread, dependences)? {
            self.builder.depend(dependence);
        }
        if op.reads() {
            self.reads.entry((thread, site)).or_default().push(event);
        }
        Ok(())
    }

    fn dependences(&mut self, thread: u16, field: &str) -> Result<Vec<Dependence>, String> {
        let mut found = Vec::new();
        for group in field.split_whitespace() {
            let (word, reads) = group
                .strip_suffix(')')
                .and_then(|group| group.split_once('('))
                .ok_or_else(|| format!("expected `value(SITES)` or `decision(SITES)`, found `{}`", shortened(group)))?;
            let via = match word {
                "value" => Via::Value,
                "decision" => Via::Decision,
                _ => return Err(format!("expected `value` or `decision`, found `{}`", shortened(word))),
            };
            for reference in reads.split(',') {
                let (site, back) = match reference.split_once('~') {
                    Some((site, back)) => {
                        (site, back.parse().map_err(|_| format!("`{}` is no number", shortened(back)))?)
                    }
                    None => (reference, 0_usize),
                };
                let number = self.builder.site(&decoded(site)).map_err(|error| error.to_string())?;
                let read = self
                    .reads
                    .get(&(thread, number))
                    .and_then(|reads| reads.len().checked_sub(back)?.checked_sub(1).map(|at| reads[at]))
                    .ok_or_else(|| format!("this thread has no earlier read `{}`", shortened(reference)))?;
                found.push(Dependence { read, via });
            }
        }
        Ok(found)
    }
}

/// Writes a trace, so that reading it gives the same one.
///
/// # Errors
/// If the output cannot be written.
pub fn write(trace: &Trace, mut out: impl Write) -> Result<(), Error> {
    let mut line = String::new();
    if trace.has_branches() {
        line.push_str("#! branches\n");
    }
    if trace.dependences().is_some() {
        line.push_str("#! dependences\n");
    }
    let mut dependences = trace.dependences().into_iter().flat_map(|dependences| dependences.iter()).peekable();
    // How many reads a thread has had at a site, and the number of each read among these: only for reads that are
    // referred to.
    let mut counts: FxHashMap<(u16, u32), usize> = FxHashMap::default();
    let mut ranks: FxHashMap<EventId, usize> = FxHashMap::default();
    for dependence in trace.dependences().into_iter().flat_map(|all| all.iter()).flat_map(|(_, reads)| reads) {
        ranks.insert(dependence.read, 0);
    }
    for (id, event) in (0..).zip(trace.events()) {
        line.push_str(&encoded(&trace.threads()[usize::from(event.thread)]));
        line.push('|');
        if event.chose {
            line.push('?');
        }
        if event.part {
            line.push('+');
        }
        line.push_str(event.op.word());
        let name = match event.op.subject() {
            Subject::Nothing => None,
            Subject::Thread => Some(&trace.threads()[event.object as usize]),
            _ => Some(&trace.objects()[event.object as usize].name),
        };
        if let Some(name) = name {
            let _ = write!(line, "({})", encoded(name));
        }
        let _ = write!(line, "|{}", encoded(&trace.sites()[event.site as usize]));
        if let Some((_, reads)) = dependences.next_if(|(of, _)| *of == id) {
            let mut separator = '|';
            for dependence in reads {
                let word = match dependence.via {
                    Via::Value => "value",
                    Via::Decision => "decision",
                };
                let site = trace.site(dependence.read);
                let back = counts[&(event.thread, site)] - ranks[&dependence.read];
                let _ = write!(line, "{separator}{word}({}", encoded(&trace.sites()[site as usize]));
                if back > 0 {
                    let _ = write!(line, "~{back}");
                }
                line.push(')');
                separator = ' ';
            }
        }
        if event.op.reads() && !ranks.is_empty() {
            let count = counts.entry((event.thread, event.site)).or_default();
            *count += 1;
            if let Some(rank) = ranks.get_mut(&id) {
                *rank = *count;
            }
        }
        line.push('\n');
        if line.len() > 1 << 16 {
            out.write_all(line.as_bytes())?;
            line.clear();
        }
    }
    out.write_all(line.as_bytes())?;
    Ok(out.flush()?)
}

/// Returns a piece of the input for a message.
fn shortened(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(40) {
        Some((at, _)) => format!("{}...", &text[..at]).into(),
        None => text.into(),
    }
}

fn is_special(byte: u8) -> bool {
    matches!(byte, b'|' | b'(' | b')' | b',' | b'~' | b'%' | b'#' | b'+') || byte <= b' ' || byte == 0x7f
}

fn encoded(name: &str) -> Cow<'_, str> {
    if !name.is_empty() && !name.bytes().any(is_special) {
        return name.into();
    }
    let mut text = String::with_capacity(name.len() + 8);
    for character in name.chars() {
        match u8::try_from(character) {
            Ok(byte) if is_special(byte) => {
                let _ = write!(text, "%{byte:02x}");
            }
            _ => text.push(character),
        }
    }
    // A name must be visible: the empty name is `%`, which no other name becomes.
    if text.is_empty() { "%".into() } else { text.into() }
}

fn decoded(text: &str) -> Cow<'_, str> {
    let text = text.trim();
    if !text.contains('%') {
        return text.into();
    }
    if text == "%" {
        return "".into();
    }
    let mut name = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        name.push_str(&rest[..at]);
        let code = rest.get(at + 1..at + 3).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match code.filter(u8::is_ascii) {
            Some(byte) => {
                name.push(char::from(byte));
                rest = &rest[at + 3..];
            }
            None => {
                name.push('%');
                rest = &rest[at + 1..];
            }
        }
    }
    name.push_str(rest);
    name.into()
}
