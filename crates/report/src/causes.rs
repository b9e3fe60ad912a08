//! The sentence that says how a bug came about.
//!
//! Each sentence states what an execution did, and in which order; the crate `explain` checks that it did.

use crate::text::count;

/// A thread of a cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// `T1`
    pub thread: String,
    /// The lock that the previous thread in the cycle waits for.
    pub holds: Option<String>,
    /// What it waits for, in words.
    pub waits_for: String,
}

/// Maximum number of threads of a cycle that a message names.
const LINKS: usize = 4;

/// Each thread waits for the next one.
#[must_use]
pub fn cycle(links: &[Link]) -> String {
    let link = |Link { thread, holds, waits_for }: &Link| match holds {
        Some(lock) => format!("{thread} holds `{lock}`, waits for {waits_for}"),
        None => format!("{thread} waits for {waits_for}"),
    };
    let named = if links.len() > LINKS { LINKS - 1 } else { links.len() };
    let mut parts: Vec<String> = links[..named].iter().map(link).collect();
    if links.len() > named {
        parts.push(format!("and so on, {} in a cycle", count(links.len() as u64, "thread")));
    }
    parts.join("; ")
}

/// Two threads hold no common lock; each comes with its locks.
#[must_use]
pub fn no_common_lock(first: (&str, &[String]), second: (&str, &[String])) -> String {
    let list = |locks: &[String]| locks.iter().map(|lock| format!("`{lock}`")).collect::<Vec<_>>().join(", ");
    match (first, second) {
        ((a, []), (b, [])) => {
            format!("neither {a} nor {b} holds a lock here, and nothing else orders the two accesses")
        }
        ((a, locks), (b, [])) | ((b, []), (a, locks)) => {
            format!("{a} holds {}, but {b} holds no lock, and nothing else orders the two accesses", list(locks))
        }
        ((a, ours), (b, theirs)) => format!(
            "{a} holds {} and {b} holds {}: different locks do not keep the two accesses apart",
            list(ours),
            list(theirs)
        ),
    }
}

/// An atomic access and a plain one.
#[must_use]
pub fn half_atomic(atomic: &str, access: &str, plain: &str, other: &str) -> String {
    format!("{atomic}'s {access} is atomic, but {plain}'s {other} is not, and nothing else orders the two accesses")
}

/// Memory is freed, and used or freed again: thread, access and step of both sides, the earlier first.
#[must_use]
pub fn freed_in_order(earlier: &(String, String, u64), later: &(String, String, u64)) -> String {
    let verb = |access: &str| match access {
        "free" => "frees it".to_owned(),
        "read" => "reads it".to_owned(),
        "write" => "writes to it".to_owned(),
        other => format!("uses it ({other})"),
    };
    let ((a, first, m), (b, second, n)) = (earlier, later);
    let again = if first == "free" && second == "free" { " again" } else { "" };
    let order = if first == "free" { "" } else { "; nothing makes the second wait for the first" };
    format!("{a} {} (step {m}), then {b} {}{again} (step {n}){order}", verb(first), verb(second))
}

/// A condition variable is signalled before a thread waits on it. Threads come with their steps.
#[must_use]
pub fn early_signal(does: &str, condition: &str, (by, m): &(String, u64), (of, n): &(String, u64)) -> String {
    format!("{by} {does} `{condition}` (step {m}) before {of} waits on it (step {n}), and no thread does so afterwards")
}

/// The last signal wakes another thread. Threads come with their steps, also the one that still waits, if it is known that
/// the signal was for that one.
#[must_use]
pub fn taken_signal(
    condition: &str,
    (by, m): &(String, u64),
    (woken, n): &(String, u64),
    waits: Option<&(String, u64)>,
) -> String {
    let waits = waits
        .map_or_else(String::new, |(thread, step)| format!(", not {thread}, which has waited on it since step {step}"));
    format!(
        "{by} signals `{condition}` (step {m}) and wakes {woken} (step {n}){waits}; no thread signals it afterwards"
    )
}

/// A thread waits while it holds a lock that another one needs.
#[must_use]
pub fn waits_holding(thread: &str, object: &str, lock: &str, other: &str) -> String {
    format!("{thread} waits for `{object}` while it holds `{lock}`, for which {other} waits")
}

/// A condition variable was never signalled.
#[must_use]
pub fn never_signalled(thread: &str, condition: &str) -> String {
    format!("{thread} waits on `{condition}`, which no thread has signalled")
}

/// A thread waits for memory that another thread changed last; that one waits too. `back` is the step at which the first
/// thread changed what the other one waits for.
#[must_use]
pub fn changed_last(waiter: &str, (other, m): &(String, u64), back: Option<u64>) -> String {
    let one = format!("{waiter} waits for what {other} changed last (step {m})");
    match back {
        Some(n) => format!("{one}, and {other} waits for what {waiter} changed last (step {n})"),
        None => format!("{one}, and {other} waits for ever, too"),
    }
}

/// A write between two accesses of another thread.
#[derive(Clone, Debug)]
pub struct Meets {
    /// The memory.
    pub name: String,
    /// The thread that writes, and its step.
    pub by: (String, u64),
    /// The other thread.
    pub of: String,
    /// Its earlier access, and the step.
    pub first: (&'static str, u64),
    /// Its later access.
    pub last: (&'static str, u64),
}

/// A write comes between two accesses.
#[must_use]
pub fn between(Meets { name, by, of, first, last }: &Meets) -> String {
    let next = if first.0 == last.0 { "next " } else { "" };
    format!(
        "{} writes `{name}` (step {}) between {of}'s {} of it (step {}) and {of}'s {next}{} (step {})",
        by.0, by.1, first.0, first.1, last.0, last.1
    )
}

/// A value comes from another thread: the thread that wrote it, its step, and whether it was preempted after that.
#[must_use]
pub fn last_written(name: &str, value: &str, ((by, step), is_preempted): (&(String, u64), bool), read: u64) -> String {
    let after = if is_preempted { " and was preempted after that" } else { "" };
    format!("`{name}` is {value} (step {read}), because {by} has written it (step {step}){after}")
}

/// What a thread read before it failed, and which thread had written that: the rest of a sentence that begins with
/// [`last_written`].
#[must_use]
pub fn continued(of: &str, (name, value): (&str, &str), read: u64, (by, written): (&str, u64)) -> String {
    format!("; {of} continued after it read `{name}` = {value} (step {read}), which {by} had written (step {written})")
}

/// A thread reads what another one has written while it was preempted, after its step `after`. Threads come with their steps.
#[must_use]
pub fn changed_while_away(name: &str, (by, m): &(String, u64), after: u64, (of, n): &(String, u64)) -> String {
    format!(
        "while {of} is preempted after step {after}, {by} writes `{name}` (step {m}), which {of} then reads (step {n})"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycles_read_well() {
        let link = |thread: &str, holds: Option<&str>, waits_for: &str| Link {
            thread: thread.to_owned(),
            holds: holds.map(str::to_owned),
            waits_for: waits_for.to_owned(),
        };
        let two = [link("main", Some("a"), "the end of T1"), link("T1", None, "`a`")];
        assert_eq!(cycle(&two), "main holds `a`, waits for the end of T1; T1 waits for `a`");
        let five = vec![link("T1", Some("a"), "`b`"); 5];
        assert_eq!(cycle(&five).matches("T1 holds").count(), 3);
        assert!(cycle(&five).ends_with("and so on, 5 threads in a cycle"));
    }

    #[test]
    fn causes_read_well() {
        let [none, some, other] = [vec![], vec!["a".to_owned()], vec!["b".to_owned()]];
        let locks = |first: &[String], second: &[String]| no_common_lock(("T1", first), ("T2", second));
        assert_eq!(
            locks(&none, &none),
            "neither T1 nor T2 holds a lock here, and nothing else orders the two accesses"
        );
        assert!(locks(&none, &some).starts_with("T2 holds `a`, but T1 holds no lock"));
        assert!(locks(&some, &other).starts_with("T1 holds `a` and T2 holds `b`: different locks"));
        let side = |thread: &str, access: &str, step| (thread.to_owned(), access.to_owned(), step);
        assert_eq!(
            freed_in_order(&side("T1", "free", 3), &side("T2", "read", 5)),
            "T1 frees it (step 3), then T2 reads it (step 5)"
        );
        assert_eq!(
            freed_in_order(&side("T1", "free", 3), &side("T2", "free", 5)),
            "T1 frees it (step 3), then T2 frees it again (step 5)"
        );
        let steps = [("T1", 6), ("T2", 8), ("main", 2)].map(|(thread, step)| (thread.to_owned(), step));
        assert_eq!(
            taken_signal("idle", &steps[0], &steps[1], Some(&steps[2])),
            "T1 signals `idle` (step 6) and wakes T2 (step 8), not main, which has waited on it since step 2; no thread signals it \
             afterwards"
        );
        let by = ("T1".to_owned(), 6);
        assert_eq!(
            last_written("n", "35", (&by, true), 10),
            "`n` is 35 (step 10), because T1 has written it (step 6) and was preempted after that"
        );
        let by_other = ("T1".to_owned(), 6);
        assert_eq!(
            changed_while_away("slots[0]", &by_other, 3, &("main".to_owned(), 9)),
            "while main is preempted after step 3, T1 writes `slots[0]` (step 6), which main then reads (step 9)"
        );
        assert_eq!(
            continued("main", ("q->first", "null"), 45, ("T1", 40)),
            "; main continued after it read `q->first` = null (step 45), which T1 had written (step 40)"
        );
        let meets = Meets {
            name: "n".to_owned(),
            by: ("T2".to_owned(), 4),
            of: "T1".to_owned(),
            first: ("read", 2),
            last: ("write", 6),
        };
        assert_eq!(between(&meets), "T2 writes `n` (step 4) between T1's read of it (step 2) and T1's write (step 6)");
    }
}
