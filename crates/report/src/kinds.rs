//! What each kind of finding means, how it comes about, and the usual repair.
//!
//! `racehunter explain KIND` prints these texts, and SARIF contains them as rules.

use racehunter_finding::Kind;

/// An explanation of one kind of finding, for people who see it for the first time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lesson {
    /// The kind.
    pub kind: Kind,
    /// A title of a few words.
    pub title: &'static str,
    /// What it means.
    pub meaning: &'static str,
    /// The shortest program fragment that has it.
    pub example: &'static str,
    /// The usual repair.
    pub repair: &'static str,
}

/// Returns the explanation of a kind.
#[must_use]
pub const fn lesson(kind: Kind) -> Lesson {
    let (title, meaning, example, repair) = match kind {
        Kind::DataRace => DATA_RACE,
        Kind::UseAfterFree => USE_AFTER_FREE,
        Kind::DoubleFree => DOUBLE_FREE,
        Kind::Misuse => MISUSE,
        Kind::Deadlock => DEADLOCK,
        Kind::LostWakeup => LOST_WAKEUP,
        Kind::Assertion => ASSERTION,
        Kind::Crash => CRASH,
        Kind::Atomicity => ATOMICITY,
        Kind::ExitStatus => EXIT_STATUS,
        Kind::Output => OUTPUT,
    };
    Lesson { kind, title, meaning, example, repair }
}

type Parts = (&'static str, &'static str, &'static str, &'static str);

const DATA_RACE: Parts = (
    "unordered accesses to the same memory",
    "Two threads access the same memory, at least one of them writes, at least one access is not atomic, and no lock, \
     join or other synchronisation puts one before the other. In C and C++ the program then has no defined meaning: the \
     compiler may have assumed that it does not happen. A race that does no harm with one compiler can with the next.",
    "int count;
void *worker(void *unused) { count += 1; return NULL; }   // in two threads",
    "Protect all accesses to the memory by the same lock. Or make the variable atomic (`_Atomic int`, \
     `std::atomic<int>`), if each access is independent. The report names the locks that each side held: often a lock was \
     forgotten on one path, or the two sides use different locks.",
);

const USE_AFTER_FREE: Parts = (
    "memory is used after its end",
    "A thread uses memory that was freed, or that was on the stack of a thread that has ended; or nothing orders the use \
     and the `free`, so that another schedule frees the memory first.",
    "struct job *job = malloc(sizeof *job);
pthread_create(&thread, NULL, run, job);
free(job);                                // run() may not have read it yet",
    "Let the thread that uses the memory last free it, or wait for the others (`pthread_join`) before it is freed. If \
     it is not known which thread is last, count references atomically.",
);

const DOUBLE_FREE: Parts = (
    "memory is freed twice",
    "Two threads free the same block: each concluded that it has to free it.",
    "if (--object->references == 0)            // two threads can both see 0
    free(object);",
    "Decide which thread frees it by one atomic operation: decrement and test atomically, or remove the pointer by an \
     atomic exchange before freeing it.",
);

const MISUSE: Parts = (
    "a lock or thread is used incorrectly",
    "A mutex is unlocked by a thread that does not hold it, destroyed while it is held, or held by a thread that ends; a \
     thread is joined twice, or joined after it was detached. POSIX does not say what happens then.",
    "pthread_mutex_destroy(&lock);             // another thread is still inside",
    "Unlock in the function that locks, on every path. Destroy a lock only after all threads that use it were joined.",
);

const DEADLOCK: Parts = (
    "threads wait for each other for ever",
    "Threads wait in a cycle, each for something that the next one holds, or wait for something that no thread will ever \
     do. The report shows what each of them waits for, and what it holds.",
    "// thread 1                               // thread 2
lock(&a); lock(&b);                       lock(&b); lock(&a);",
    "Give locks an order, and take them only in that order (`std::scoped_lock` takes several without a deadlock). Do not \
     wait for a thread, or call unknown code, while holding a lock.",
);

const LOST_WAKEUP: Parts = (
    "a signal came before the wait",
    "A thread waits on a condition variable that was signalled before it began to wait. Condition variables remember \
     nothing: the signal is lost, and the thread waits for ever.",
    "if (!ready)                               // tested without the lock:
    pthread_cond_wait(&changed, &lock);   // the signal can come before this",
    "Test the condition in a loop while holding the lock (`while (!ready) pthread_cond_wait(...)`), and change it only \
     while holding the same lock. Signal after the change.",
);

const ASSERTION: Parts = (
    "an assertion fails under some schedule",
    "`assert` failed. It holds under other schedules, or it would have failed at once: the interleaving in the report is \
     one that violates it. There need not be a data race: another thread can run between two steps that are each under a \
     lock.",
    "lock(&a); from -= 10; unlock(&a);         // a thread that reads here
lock(&b); into += 10; unlock(&b);         // sees 10 too little",
    "Look at the preemption in the report: the code before and after it was meant to be one step. Make it one, by holding \
     the lock throughout.",
);

const CRASH: Parts = (
    "the program is killed by a signal",
    "A bad memory access, `abort`, an uncaught C++ exception or an arithmetic error, under this schedule. Usually a \
     thread reads what another has not yet written, or has already removed.",
    "if (shared)                               // still set here,
    use(shared->field);                   // another thread has cleared it",
    "Copy what is needed out of shared memory once, under the lock, and continue with the copy; or hold the lock for both \
     the test and the use.",
);

const ATOMICITY: Parts = (
    "a block that is meant to be atomic is interrupted",
    "Another thread accesses memory between two steps of a block that was meant to be atomic, in a way that no order of \
     whole blocks explains.",
    "lock(&m); int old = n; unlock(&m);
lock(&m); n = old + 1; unlock(&m);        // loses what others did",
    "Hold the lock from the first step to the last.",
);

const EXIT_STATUS: Parts = (
    "the program exits with a failing status",
    "The program exits with a status other than 0, as a failing test does: in this schedule, or in all of them, as the \
     finding says. `--allow-exit-status=LIST` names statuses that are not failures. Under `--check-output`, a status that \
     differs from the one without preemptions counts too.",
    "return queue.is_empty ? 0 : 1;            // before or after the consumer?",
    "Wait for everything that the result depends on before computing it.",
);

const OUTPUT: Parts = (
    "the output depends on the schedule",
    "Under `--check-output`: the output differs from the one without preemptions. That is fine for a log, but wrong for \
     a result.",
    "printf(\"%d\\n\", total);                    // while others still add to it",
    "Let one thread write, in an order that does not depend on which thread was first; or omit `--check-output`.",
);

#[cfg(test)]
mod tests {
    use super::lesson;
    use racehunter_finding::Kind;
    use std::collections::HashSet;

    #[test]
    fn every_kind_has_a_lesson_of_its_own() {
        let titles: HashSet<_> = Kind::ALL.into_iter().map(|kind| lesson(kind).title).collect();
        assert_eq!(titles.len(), Kind::ALL.len());
        for kind in Kind::ALL {
            let lesson = lesson(kind);
            assert_eq!(lesson.kind, kind);
            for text in [lesson.meaning, lesson.example, lesson.repair] {
                assert!(!text.contains("  ") || text == lesson.example, "{text}");
            }
        }
    }
}
