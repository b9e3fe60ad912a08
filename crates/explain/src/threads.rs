//! Names of threads: the path in the family tree, and the name that the program has given to a thread, or the function that it started with.

use crate::place::is_in_program;
use racehunter_explore::{Execution, Kind};
use racehunter_symbols::Symbols;

/// The threads of one execution, by number.
pub(crate) struct Threads {
    known: Vec<Thread>,
}

struct Thread {
    path: String,
    entry: String,
    children: u32,
}

impl Threads {
    pub(crate) fn of(execution: &Execution, symbols: &Symbols) -> Self {
        let main = Thread { path: "main".to_owned(), entry: "main".to_owned(), children: 0 };
        let mut threads = Self { known: vec![main] };
        for record in execution.records.iter().filter(|record| record.kind == Kind::Create) {
            let Some(parent) = threads.known.get_mut(record.thread as usize) else { continue };
            parent.children += 1;
            let path = format!("{}/{}", parent.path, parent.children);
            // The address of a function is where its first instruction is; symbols are asked for return addresses.
            let start = symbols.frames(record.extra + 1).pop();
            let is_timer = record.detail == 1;
            let nameless = || if is_timer { "timer".to_owned() } else { String::new() };
            let entry = start.filter(is_in_program).map_or_else(nameless, |frame| short_name(&frame.function));
            threads.known.push(Thread { path, entry, children: 0 });
        }
        threads.name_by_stacks(execution, symbols);
        for record in execution.records.iter().filter(|record| record.kind == Kind::Named) {
            if let Some(thread) = threads.known.get_mut(record.thread as usize).filter(|_| record.thread != 0) {
                thread.entry =
                    given_name(record.object, record.extra).unwrap_or_else(|| std::mem::take(&mut thread.entry));
            }
        }
        threads
    }

    /// Threads that were started through a library are named by the outermost function of the program that they ran.
    fn name_by_stacks(&mut self, execution: &Execution, symbols: &Symbols) {
        for record in execution.records.iter().filter(|record| record.stack != 0) {
            let Some(thread) = self.known.get_mut(record.thread as usize) else { continue };
            if !thread.entry.is_empty() {
                continue;
            }
            let at = record.stack as usize;
            let count = execution.stacks.get(at).copied().unwrap_or(0) as usize;
            let codes = execution.stacks.get(at + 2..at + 2 + count).unwrap_or(&[]);
            let mut frames = codes.iter().rev().flat_map(|&code| symbols.frames(code).into_iter().rev());
            if let Some(frame) = frames.find(is_in_program) {
                thread.entry = short_name(&frame.function);
            }
        }
    }

    /// All of them, for the finding.
    pub(crate) fn all(&self) -> Vec<racehunter_finding::Thread> {
        let plain =
            |thread: &Thread| racehunter_finding::Thread { path: thread.path.clone(), entry: thread.entry.clone() };
        self.known.iter().map(plain).collect()
    }

    /// `main/1/2`
    pub(crate) fn path(&self, number: u32) -> String {
        self.known.get(number as usize).map_or_else(|| format!("thread {number}"), |thread| thread.path.clone())
    }

    /// The name that it was given, else the function that it started with, empty when unknown.
    pub(crate) fn entry(&self, number: u32) -> String {
        self.known.get(number as usize).map_or_else(String::new, |thread| thread.entry.clone())
    }

    /// `T1`: enough where the columns of a table have names.
    pub(crate) fn short(number: u32) -> String {
        if number == 0 { "main".to_owned() } else { format!("T{number}") }
    }

    /// `T1 worker`
    pub(crate) fn label(&self, number: u32) -> String {
        match (number, self.entry(number)) {
            (0, _) => "main".to_owned(),
            (_, entry) if entry.is_empty() => format!("T{number}"),
            (_, entry) => format!("T{number} `{entry}`"),
        }
    }
}

/// A name in two words, if it has one that can be read.
fn given_name(first: u64, second: u64) -> Option<String> {
    let bytes = [first.to_le_bytes(), second.to_le_bytes()].concat();
    let name = bytes.split(|&byte| byte == 0).next().unwrap_or_default();
    let text = String::from_utf8_lossy(name);
    let is_readable = !text.is_empty() && !text.chars().any(char::is_control);
    is_readable.then(|| text.into_owned())
}

/// A function without its parameters. What is inside of it, such as a lambda, is told.
fn short_name(function: &str) -> String {
    // `queue::tests::pops::{closure#0}::{closure#1}`, in Rust: the function that has the closure says most.
    if let Some((outer, _)) = function.split_once("::{closure") {
        let name = outer.rsplit("::").next().unwrap_or(outer);
        return format!("{name}::{{closure}}");
    }
    let name = function.split('(').next().unwrap_or(function);
    let is_inside = function[name.len()..].contains("{lambda");
    if is_inside { format!("{name}::{{lambda}}") } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::{given_name, short_name};

    #[test]
    fn names_that_were_given_are_read() {
        let word = |text: &[u8; 8]| u64::from_le_bytes(*text);
        assert_eq!(given_name(word(b"worker-1"), word(b"2\0\0\0\0\0\0\0")).as_deref(), Some("worker-12"));
        assert_eq!(given_name(0, 0), None);
        assert_eq!(given_name(word(b"a\x1b[2J\0\0\0"), 0), None);
    }

    #[test]
    fn names_without_parameters() {
        assert_eq!(short_name("worker"), "worker");
        assert_eq!(short_name("Pool::work(int)"), "Pool::work");
        assert_eq!(short_name("main::{lambda}"), "main::{lambda}");
        assert_eq!(short_name("queue::tests::pops::{closure#0}::{closure#1}"), "pops::{closure}");
        assert_eq!(short_name("Pool::Pool(int)::{lambda()#1}::operator()() const"), "Pool::Pool::{lambda}");
    }
}
