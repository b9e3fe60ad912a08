//! The names of threads in a report: `T1 worker`.

use racehunter_finding::Finding;
use racehunter_symbols::shortened;

use crate::text::{clean, width, within};

/// The threads of a finding by number of creation, and their names.
pub(crate) struct Threads {
    /// Number, path and entry function.
    known: Vec<(u32, String, String)>,
}

impl Threads {
    pub(crate) fn of(finding: &Finding) -> Self {
        let mut threads = Self { known: Vec::new() };
        for (number, thread) in (0..).zip(&finding.threads) {
            threads.add(Some(number), &thread.path, &thread.entry);
        }
        for step in &finding.steps {
            threads.add(Some(step.thread), &step.path, "");
        }
        for site in &finding.sites {
            threads.add(None, &site.thread, &site.entry);
        }
        threads.known.sort();
        threads
    }

    fn add(&mut self, number: Option<u32>, path: &str, entry: &str) {
        if let Some((_, _, known)) = self.known.iter_mut().find(|(_, known, _)| known == path) {
            if known.is_empty() {
                known.push_str(&clean(&shortened(entry)));
            }
            return;
        }
        let number = number.unwrap_or_else(|| self.guess(path));
        self.known.push((number, path.to_owned(), clean(&shortened(entry))));
    }

    /// Guesses the number of a thread that is known only by its path: most programs create all their threads in `main`.
    fn guess(&self, path: &str) -> u32 {
        let is_free = |number: &u32| self.known.iter().all(|(used, _, _)| used != number);
        let by_path = match path.split_once('/') {
            None => Some(0),
            Some((_, child)) => child.parse().ok(),
        };
        by_path.filter(is_free).or_else(|| (1..).find(is_free)).unwrap_or(0)
    }

    fn find(&self, path: &str) -> Option<(u32, &str)> {
        self.known.iter().find(|(_, known, _)| known == path).map(|(number, _, entry)| (*number, entry.as_str()))
    }

    /// Returns the number of a thread.
    pub(crate) fn number(&self, path: &str) -> Option<u32> {
        self.find(path).map(|(number, _)| number)
    }

    /// In a sentence: ``thread T1 `worker` ``, `main thread`.
    pub(crate) fn sentence(&self, path: &str) -> String {
        match self.find(path) {
            Some((0, _)) => "main thread".to_owned(),
            Some((number, "")) => format!("thread T{number}"),
            Some((number, entry)) => format!("thread T{number} `{entry}`"),
            None => format!("thread {}", clean(path)),
        }
    }

    /// As [`Self::heading`], without the outer parts of a qualified name if it is too long: `T1 TestBody::{lambda}`.
    pub(crate) fn heading_within(&self, number: u32, columns: usize) -> String {
        let heading = self.heading(number);
        match heading.split_once(' ') {
            Some((thread, entry)) => format!("{thread} {}", within(entry, columns.saturating_sub(width(thread) + 1))),
            None => heading,
        }
    }

    /// Above a column: `T1 worker`, `main`.
    pub(crate) fn heading(&self, number: u32) -> String {
        let entry = self.known.iter().find(|(known, _, _)| *known == number).map_or("", |(_, _, entry)| entry);
        match (number, entry) {
            (0, _) => "main".to_owned(),
            (_, "") => format!("T{number}"),
            _ => format!("T{number} {entry}"),
        }
    }
}
