//! How the steps of an interleaving relate: the object of each step, which locks are held, and which step unblocks
//! another thread. This is derived from the words of the steps, so it also works for stored findings of earlier
//! versions.

use racehunter_finding::Step;

/// The class of a step, for its colour and for filters.
pub(crate) const CLASSES: [&str; 6] = ["read", "write", "lock", "unlock", "wait", "other"];

/// Prefixes of steps, longer ones before their own prefixes; if `true`, an object's name follows.
const WORDS: [(&str, &str, bool); 19] = [
    ("read-lock ", "lock", true),
    ("read ", "read", true),
    ("write ", "write", true),
    ("update ", "write", true),
    ("free", "write", false),
    ("lock ", "lock", true),
    ("unlock ", "unlock", true),
    ("wait on ", "wait", true),
    ("waits for the end of ", "wait", false),
    ("waits for ", "wait", true),
    ("wait ", "wait", false),
    ("woken from wait on ", "other", true),
    ("spurious wake-up of wait on ", "other", true),
    ("time-out of wait on ", "other", true),
    ("signal ", "other", true),
    ("broadcast ", "other", true),
    ("decrement ", "other", true),
    ("increment ", "other", true),
    ("arrive at ", "other", true),
];

/// Returns what a step is, and the object that it is about.
fn parse(step: &Step) -> (&'static str, Option<&str>) {
    let words = step.what.trim().trim_start_matches("atomic ").trim_start_matches("fail to ");
    let Some((begin, class, names)) = WORDS.iter().find(|(begin, ..)| words.starts_with(begin)) else {
        return ("other", None);
    };
    let rest = words[begin.len()..].trim();
    let is_size = is_size(rest) || rest.starts_with("a ");
    (class, (*names && !rest.is_empty() && !is_size).then_some(rest))
}

/// Returns true for the words that stand for memory without a name.
fn is_size(words: &str) -> bool {
    words.ends_with(" bytes") || words == "1 byte"
}

/// Returns true if a step accesses memory for which the source has no name, such as that of an object which a compiler
/// initialises.
pub(crate) fn is_unnamed(step: &Step) -> bool {
    let words = step.what.trim();
    ["read ", "write "].iter().any(|access| words.strip_prefix(access).is_some_and(is_size))
}

/// Returns one of [`CLASSES`].
pub(crate) fn class(step: &Step) -> &'static str {
    parse(step).0
}

/// Returns the variable, lock or condition that a step is about.
pub(crate) fn object(step: &Step) -> Option<&str> {
    parse(step).1
}

/// A lock that a thread holds from one step to another.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Held<'a> {
    pub(crate) thread: u32,
    pub(crate) lock: &'a str,
    pub(crate) from: usize,
    pub(crate) to: usize,
}

/// Returns which locks are held when. Where steps are left out, a lock without a visible release may have been
/// released.
pub(crate) fn held<'a>(steps: &'a [Step]) -> Vec<Held<'a>> {
    let (mut open, mut done): (Vec<Held<'a>>, Vec<Held<'a>>) = (Vec::new(), Vec::new());
    let mut close = |open: &mut Vec<Held<'a>>, at: usize, to: usize| done.push(Held { to, ..open.remove(at) });
    for (number, step) in steps.iter().enumerate() {
        let is_tried = step.what.trim_start().starts_with("fail to ");
        let mine = |open: &[Held<'a>], lock: Option<&str>| {
            open.iter().rposition(|held| held.thread == step.thread && lock.is_none_or(|lock| held.lock == lock))
        };
        match parse(step) {
            ("lock", Some(lock)) if !is_tried => {
                open.push(Held { thread: step.thread, lock, from: number, to: number })
            }
            ("unlock", lock @ Some(_)) => {
                if let Some(at) = mine(&open, lock) {
                    close(&mut open, at, number);
                }
            }
            // A wait on a condition variable releases its mutex, usually the one that was taken last.
            ("wait", Some(_)) if step.what.starts_with("wait on ") => {
                if let Some(at) = mine(&open, None) {
                    close(&mut open, at, number);
                }
            }
            _ => {}
        }
        let is_gap = steps.get(number + 1).is_some_and(|next| next.number > step.number + 1);
        if is_gap {
            // A thread that still holds its lock when the steps resume releases it in a later step.
            let released = |held: &Held<'a>| {
                let later = &steps[number + 1..];
                later
                    .iter()
                    .find(|step| step.thread == held.thread && object(step) == Some(held.lock))
                    .is_some_and(|step| class(step) == "unlock")
            };
            for at in (0..open.len()).rev() {
                if !released(&open[at]) {
                    close(&mut open, at, number);
                }
            }
        }
    }
    let last = steps.len().saturating_sub(1);
    while !open.is_empty() {
        close(&mut open, 0, last);
    }
    done.retain(|held| held.to > held.from);
    done.sort_by_key(|held| (held.from, held.to));
    done
}

/// Returns pairs of steps: the first lets the thread of the second continue or start.
pub(crate) fn wakeups(steps: &[Step]) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    for (number, step) in steps.iter().enumerate() {
        let words = step.what.trim();
        if let Some(name) = words.strip_prefix("create T") {
            let digits: String = name.chars().take_while(char::is_ascii_digit).collect();
            let first = digits.parse().ok().and_then(|thread: u32| steps.iter().position(|step| step.thread == thread));
            pairs.extend(first.filter(|&first| first > number).map(|first| (number, first)));
        } else if let Some(condition) = words.strip_prefix("woken from wait on ") {
            let signals = |step: &Step| {
                let words = step.what.trim();
                let signalled = words.strip_prefix("signal ").or_else(|| words.strip_prefix("broadcast "));
                signalled == Some(condition)
            };
            pairs.extend(steps[..number].iter().rposition(signals).map(|from| (from, number)));
        } else if let (true, Some(semaphore)) = (words.starts_with("decrement "), object(step)) {
            // Only a thread that waited for it was unblocked.
            let before = steps[..number].iter().rposition(|earlier| earlier.thread == step.thread);
            let waited =
                before.filter(|&before| class(&steps[before]) == "wait" && object(&steps[before]) == Some(semaphore));
            let posts = |earlier: &Step| earlier.what.trim().strip_prefix("increment ") == Some(semaphore);
            let from = waited.and_then(|waited| steps[waited..number].iter().rposition(posts).map(|at| waited + at));
            pairs.extend(from.map(|from| (from, number)));
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(lines: &[(u32, &str)]) -> Vec<Step> {
        let step = |(number, &(thread, what)): (usize, &(u32, &str))| Step {
            thread,
            what: what.to_owned(),
            number: number as u64 + 1,
            ..Step::default()
        };
        lines.iter().enumerate().map(step).collect()
    }

    #[test]
    fn steps_are_about_objects() {
        let seen = |what: &str| {
            let step = &steps(&[(0, what)])[0];
            (class(step), object(step).map(str::to_owned))
        };
        assert_eq!(seen("read q->count"), ("read", Some("q->count".to_owned())));
        assert_eq!(seen("atomic update noise"), ("write", Some("noise".to_owned())));
        assert_eq!(seen("read 4 bytes"), ("read", None));
        assert_eq!(seen("fail to lock m"), ("lock", Some("m".to_owned())));
        assert_eq!(seen("waits for the end of T1"), ("wait", None));
        assert_eq!(seen("wait on a futex"), ("wait", None));
        assert_eq!(seen("create T1 `work`"), ("other", None));
    }

    #[test]
    fn locks_are_held_from_step_to_step() {
        let steps =
            steps(&[(1, "lock a"), (1, "lock b"), (2, "read x"), (1, "unlock b"), (1, "wait on c"), (2, "lock a")]);
        let seen: Vec<_> =
            held(&steps).iter().map(|held| (held.thread, held.lock.to_owned(), held.from, held.to)).collect();
        assert_eq!(seen, [(1, "a".to_owned(), 0, 4), (1, "b".to_owned(), 1, 3)]);
    }

    /// Claims nothing about steps that are left out.
    #[test]
    fn a_gap_ends_what_is_not_seen_to_go_on() {
        let mut steps =
            steps(&[(1, "lock a"), (1, "lock b"), (1, "read x"), (1, "unlock a"), (1, "lock b"), (1, "end")]);
        steps[3..].iter_mut().for_each(|step| step.number += 10);
        let seen: Vec<_> = held(&steps).iter().map(|held| (held.lock.to_owned(), held.from, held.to)).collect();
        assert_eq!(seen, [("a".to_owned(), 0, 3), ("b".to_owned(), 1, 2), ("b".to_owned(), 4, 5)]);
    }

    #[test]
    fn one_step_lets_another_thread_continue() {
        let steps = steps(&[
            (0, "create T1 `work`"),
            (1, "wait on ready"),
            (0, "signal other"),
            (0, "signal ready"),
            (1, "woken from wait on ready"),
            (1, "spurious wake-up of wait on ready"),
        ]);
        assert_eq!(wakeups(&steps), [(0, 1), (3, 4)]);
    }
}
