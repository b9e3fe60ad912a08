//! Programs with some synchronisation removed.

/// A program without one piece of its synchronisation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mutant {
    /// What was removed.
    pub what: String,
    /// The remaining program.
    pub text: String,
}

const LOCKS: [&str; 5] =
    ["pthread_mutex_lock(", "pthread_spin_lock(", "pthread_rwlock_wrlock(", "pthread_rwlock_rdlock(", "mtx_lock("];
const UNLOCKS: [&str; 4] = ["pthread_mutex_unlock(", "pthread_spin_unlock(", "pthread_rwlock_unlock(", "mtx_unlock("];
const JOINS: [&str; 2] = ["pthread_join(", "thrd_join("];

/// Returns all mutants that result from removing one locked section of one lock (the call that takes it, and the calls
/// that release it until it is taken again), or one join. Calls are found where they are separate statements.
#[must_use]
pub fn mutants(text: &str) -> Vec<Mutant> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        if let Some(call) = statement(line, &LOCKS) {
            let later = lines.iter().enumerate().skip(at + 1);
            let calls = later.map_while(|(below, line)| match statement(line, &LOCKS) {
                Some(next) if next.argument == call.argument => None,
                _ => Some(statement(line, &UNLOCKS).map(|given| (below, given))),
            });
            let own = calls.flatten().filter(|(_, given)| given.argument == call.argument);
            let ends: Vec<usize> = own.map(|(below, _)| below).collect();
            if !ends.is_empty() {
                found.push(without(&lines, at, &ends, call.whole));
            }
        } else if let Some(call) = statement(line, &JOINS) {
            found.push(without(&lines, at, &[], call.whole));
        }
    }
    found
}

/// A call that is a statement.
#[derive(Clone, Copy)]
struct Call<'a> {
    whole: &'a str,
    argument: &'a str,
}

fn statement<'a>(line: &'a str, names: &[&str]) -> Option<Call<'a>> {
    let whole = line.trim();
    let name = names.iter().find(|name| whole.starts_with(**name))?;
    let arguments = whole[name.len()..].strip_suffix(");")?;
    // Nothing else is on the line.
    (!arguments.contains(';')).then_some(Call { whole, argument: arguments })
}

fn without(lines: &[&str], at: usize, ends: &[usize], what: &str) -> Mutant {
    let is_gone = |line: usize| line == at || ends.contains(&line);
    // An empty statement: it may be the whole body of an `if` or a loop.
    let text = lines.iter().enumerate().map(|(number, line)| if is_gone(number) { ";" } else { *line });
    let text: Vec<&str> = text.collect();
    Mutant { what: format!("{what} of line {}", at + 1), text: text.join("\n") + "\n" }
}
