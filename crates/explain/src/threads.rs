//! Names of threads: the path in the family tree, and the name that the program gave the thread, or the function in
//! which it started.

use crate::place::is_in_program;
use racehunter_explore::Execution;
use racehunter_log::{Event, FamilyTree, ThreadId};
use racehunter_symbols::Symbols;

/// The threads of one execution, by number.
pub(crate) struct Threads {
    known: Vec<Thread>,
}

struct Thread {
    path: String,
    entry: String,
}

impl Threads {
    pub(crate) fn of(execution: &Execution, symbols: &Symbols) -> Self {
        let main = Thread { path: "main".to_owned(), entry: "main".to_owned() };
        let mut threads = Self { known: vec![main] };
        let mut family = FamilyTree::default();
        for entry in execution.entries() {
            let event = entry.event();
            let Event::Create { child, start, is_timer } = event else { continue };
            family.note_event(entry.thread(), &event);
            let Some(path) = family.name(child) else { continue };
            // Symbols are looked up by return addresses, so ask for the address after the first instruction.
            let start = symbols.frames(start.0 + 1).pop();
            let nameless = || if is_timer { "timer".to_owned() } else { String::new() };
            let entry = start.filter(is_in_program).map_or_else(nameless, |frame| short_name(&frame.function));
            threads.known.push(Thread { path, entry });
        }
        threads.name_by_stacks(execution, symbols);
        for entry in execution.entries().filter(|entry| entry.thread() != ThreadId::MAIN) {
            let Event::Named { name } = entry.event() else { continue };
            if let (Some(thread), Some(name)) = (threads.known.get_mut(entry.thread().index()), given_name(&name)) {
                thread.entry = name;
            }
        }
        threads
    }

    /// Names threads that a library started by the outermost function of the program that they ran.
    fn name_by_stacks(&mut self, execution: &Execution, symbols: &Symbols) {
        for entry in execution.entries().filter(|entry| entry.stack() != 0) {
            let Some(thread) = self.known.get_mut(entry.thread().index()) else { continue };
            if !thread.entry.is_empty() {
                continue;
            }
            let at = entry.stack();
            let count = execution.stacks.get(at).copied().unwrap_or(0) as usize;
            let codes = execution.stacks.get(at + 2..at + 2 + count).unwrap_or(&[]);
            let mut frames = codes.iter().rev().flat_map(|&code| symbols.frames(code).into_iter().rev());
            if let Some(frame) = frames.find(is_in_program) {
                thread.entry = short_name(&frame.function);
            }
        }
    }

    /// Returns how many there are.
    pub(crate) const fn number(&self) -> usize {
        self.known.len()
    }

    /// Returns all of them, for the finding.
    pub(crate) fn all(&self) -> Vec<racehunter_finding::Thread> {
        let plain =
            |thread: &Thread| racehunter_finding::Thread { path: thread.path.clone(), entry: thread.entry.clone() };
        self.known.iter().map(plain).collect()
    }

    /// `main/1/2`
    pub(crate) fn path(&self, number: ThreadId) -> String {
        self.known.get(number.index()).map_or_else(|| format!("thread {number}"), |thread| thread.path.clone())
    }

    /// Returns the name that it was given, otherwise the function in which it started; empty if unknown.
    pub(crate) fn entry(&self, number: ThreadId) -> String {
        self.known.get(number.index()).map_or_else(String::new, |thread| thread.entry.clone())
    }

    /// Returns `T1`, which is enough where the columns of a table have names.
    pub(crate) fn short(number: ThreadId) -> String {
        if number == ThreadId::MAIN { "main".to_owned() } else { format!("T{number}") }
    }

    /// `T1 worker`
    pub(crate) fn label(&self, number: ThreadId) -> String {
        match (number, self.entry(number)) {
            (ThreadId::MAIN, _) => "main".to_owned(),
            (_, entry) if entry.is_empty() => format!("T{number}"),
            (_, entry) => format!("T{number} `{entry}`"),
        }
    }
}

/// Returns the name that the program has given to a thread, if it can be read.
fn given_name(bytes: &[u8; 16]) -> Option<String> {
    let name = bytes.split(|&byte| byte == 0).next().unwrap_or_default();
    let text = String::from_utf8_lossy(name);
    let is_readable = !text.is_empty() && !text.chars().any(char::is_control);
    is_readable.then(|| text.into_owned())
}

/// Returns a function without its parameters. A lambda inside it is named as such.
fn short_name(function: &str) -> String {
    // In Rust, `queue::tests::pops::{closure#0}::{closure#1}`: the function that contains the closure says most.
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
        assert_eq!(given_name(b"worker-12\0\0\0\0\0\0\0").as_deref(), Some("worker-12"));
        assert_eq!(given_name(&[0; 16]), None);
        assert_eq!(given_name(b"a\x1b[2J\0\0\0\0\0\0\0\0\0\0\0"), None);
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
