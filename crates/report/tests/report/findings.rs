//! One finding of each kind, as RaceHunter creates them.

use racehunter_finding::{
    Assumption, Coverage, Finding, Frame, Gap, Kind, Object, Site, Step, Thread, Uncontrolled, Value, Waiting,
};
use racehunter_report::messages;

pub fn frame(function: &str, file: &str, line: u32, column: u32) -> Frame {
    Frame { function: function.to_owned(), file: file.to_owned(), line, column }
}

pub fn site(access: &str, thread: &str, entry: &str, stack: &[Frame]) -> Site {
    let place = &stack[0];
    Site {
        file: place.file.clone(),
        line: place.line,
        column: place.column,
        function: place.function.clone(),
        thread: thread.to_owned(),
        entry: entry.to_owned(),
        access: access.to_owned(),
        size: 0,
        locks: Vec::new(),
        stack: stack.to_vec(),
        waits_for: None,
        event: 0,
        value: None,
    }
}

pub fn step(thread: u32, what: &str, file: &str, line: u32) -> Step {
    let path = if thread == 0 { "main".to_owned() } else { format!("main/{thread}") };
    let (what, file) = (what.to_owned(), file.to_owned());
    Step {
        thread,
        path,
        what,
        file,
        line,
        preempted: false,
        culprit: false,
        event: 0,
        value: None,
        number: 0,
        matters: false,
    }
}

pub fn preempted(step: Step) -> Step {
    Step { preempted: true, ..step }
}

pub fn culprit(step: Step) -> Step {
    Step { culprit: true, ..step }
}

fn value(before: &str, after: Option<&str>) -> Option<Value> {
    Some(Value { before: Some(before.to_owned()), after: after.map(str::to_owned) })
}

pub fn valued(step: Step, before: &str, after: Option<&str>) -> Step {
    Step { value: value(before, after), ..step }
}

pub fn threads(entries: &[&str]) -> Vec<Thread> {
    let path = |number: usize| if number == 0 { "main".to_owned() } else { format!("main/{number}") };
    entries
        .iter()
        .enumerate()
        .map(|(number, entry)| Thread { path: path(number), entry: (*entry).to_owned() })
        .collect()
}

pub fn finding(kind: Kind, message: String, sites: Vec<Site>) -> Finding {
    Finding {
        id: "7f3a0c11".to_owned(),
        kind,
        message,
        sites,
        replayed: [5, 5],
        confirmed: true,
        execution: 131,
        preemptions: 1,
        ..Finding::new(kind)
    }
}

pub fn data_race() -> Finding {
    let (queue, drain) = ("src/queue.c", "src/drain.c");
    let stack = [frame("queue_push", queue, 9, 11), frame("worker", "src/main.c", 60, 5)];
    let write = Site { size: 4, value: value("0", Some("1")), ..site("write", "main/1", "worker", &stack) };
    let stack = [frame("drain", drain, 5, 15)];
    let read = Site { size: 4, locks: vec!["q->mu".to_owned()], ..site("read", "main/2", "drain", &stack) };
    Finding {
        object: Some(Object {
            name: "q->count".to_owned(),
            size: 64,
            region: "heap".to_owned(),
            allocated: vec![frame("queue_new", queue, 4, 12), frame("main", "src/main.c", 71, 23)],
            element: None,
        }),
        threads: threads(&["main", "worker", "drain"]),
        steps: vec![
            step(0, "create T1, T2", "src/main.c", 74),
            valued(step(1, "read  q->count", queue, 9), "0", None),
            preempted(step(2, "lock q->mu", drain, 4)),
            valued(step(2, "read q->count", drain, 5), "0", None),
            culprit(valued(step(1, "write q->count", queue, 9), "0", Some("1"))),
        ],
        ..finding(Kind::DataRace, messages::data_race("q->count"), vec![write, read])
    }
}

pub fn deadlock() -> Finding {
    let file = "src/queue.c";
    let waiting = |thread: &str, object: &str, holding: &str, owner: &str| Site {
        locks: vec![holding.to_owned()],
        waits_for: Some(Waiting { object: object.to_owned(), owner: Some(owner.to_owned()) }),
        ..site("lock", thread, "mover", &[frame("transfer", file, 15, 5), frame("mover", "src/main.c", 12, 3)])
    };
    let join = Site {
        waits_for: Some(Waiting { object: "thread T1".to_owned(), owner: Some("main/1".to_owned()) }),
        ..site("join", "main", "main", &[frame("main", "src/main.c", 80, 3)])
    };
    Finding {
        threads: threads(&["main", "mover", "mover"]),
        steps: vec![
            step(0, "create T1", "src/main.c", 78),
            step(0, "create T2", "src/main.c", 79),
            step(1, "lock a.mu", file, 14),
            preempted(step(2, "lock b.mu", file, 14)),
            culprit(step(2, "wait for a.mu", file, 15)),
            culprit(step(1, "wait for b.mu", file, 15)),
        ],
        ..finding(
            Kind::Deadlock,
            messages::deadlock(3, true),
            vec![waiting("main/1", "b.mu", "a.mu", "main/2"), waiting("main/2", "a.mu", "b.mu", "main/1"), join],
        )
    }
}

pub fn assertion() -> Finding {
    let stack = [frame("check", "src/queue.c", 21, 5), frame("main", "src/main.c", 91, 3)];
    let mut steps = vec![step(0, "create T1", "src/queue.c", 1), step(0, "create T2", "src/queue.c", 2)];
    steps.extend((0..120).map(|line| step(1, "write q->items[i]", "src/queue.c", 8 + line % 2)));
    steps.push(preempted(step(2, "read  q->count", "src/queue.c", 9)));
    steps.push(step(2, "write q->count", "src/queue.c", 9));
    steps.push(preempted(step(1, "write q->count", "src/queue.c", 9)));
    steps.extend((0..40).map(|_| step(1, "read  q->items[i]", "src/queue.c", 8)));
    steps.push(step(0, "join T1", "src/queue.c", 10));
    steps.push(step(0, "join T2", "src/queue.c", 10));
    steps.push(culprit(step(0, "assert q->count == 2", "src/queue.c", 21)));
    Finding {
        preemptions: 2,
        threads: threads(&["main", "worker", "worker"]),
        steps,
        notes: vec!["the assertion holds in 118 of 131 executions".to_owned()],
        ..finding(Kind::Assertion, messages::assertion("q->count == 2"), vec![site("assert", "main", "main", &stack)])
    }
}

pub fn crash() -> Finding {
    let stack: Vec<Frame> = (0..15).map(|depth| frame("walk", "src/gone.c", 10 + depth, 7)).collect();
    Finding {
        replayed: [3, 5],
        confirmed: false,
        steps: vec![
            step(1, "write list", "", 0),
            preempted(step(0, "read  list->head", "", 0)),
            culprit(step(0, "read  list->head->next", "src/gone.c", 10)),
        ],
        ..finding(Kind::Crash, messages::crash(11, Some(8)), vec![site("read", "main", "main", &stack)])
    }
}

pub fn use_after_free() -> Finding {
    let free = site("free", "main/1", "cleaner", &[frame("cleaner", "", 0, 0)]);
    let stack = [frame("check", "src/queue.c", 22, 118)];
    let read = Site { size: 8, ..site("read", "main/2", "checker", &stack) };
    let object = Object {
        name: "*q->first".to_owned(),
        size: 24,
        region: "heap".to_owned(),
        allocated: Vec::new(),
        element: None,
    };
    Finding {
        object: Some(object),
        preemptions: 0,
        ..finding(Kind::UseAfterFree, messages::use_after_free("*q->first"), vec![read, free])
    }
}

/// Returns findings of every shape, by name.
pub fn all() -> Vec<(&'static str, Finding)> {
    vec![
        ("data-race", data_race()),
        ("deadlock", deadlock()),
        ("assertion", assertion()),
        ("crash", crash()),
        ("use-after-free", use_after_free()),
    ]
}

pub fn coverage() -> Coverage {
    Coverage {
        executions: 312,
        diverged: 0,
        timed_out: 0,
        completed: 312,
        unclear: Vec::new(),
        complete: true,
        guarantee: "all schedules with <= 2 preemptions over 14 points".to_owned(),
        chance: None,
        assumes: vec![
            Assumption::ThisInput,
            Assumption::SequentialConsistency,
            Assumption::SharedPoints { stable_for: Some(298) },
        ],
        missed: vec!["6 of 41 access sites never executed".to_owned()],
        points: 14,
        threads: 3,
        events: 52,
        left_out: 0,
        finished: true,
        uncontrolled: Vec::new(),
        figures: None,
    }
}

/// Returns one of each kind.
pub fn uncontrolled() -> Vec<Uncontrolled> {
    let about = |what: &str, detail: &str, line: u32| Uncontrolled {
        what: Gap::named(what),
        detail: detail.to_owned(),
        file: if line == 0 { String::new() } else { "src/server.c".to_owned() },
        line,
        executions: 1 + u64::from(line),
    };
    vec![
        about("fork", "", 40),
        about("spawn", "", 41),
        about("exec", "", 42),
        about("blocked", "", 43),
        about("busy", "", 44),
        about("input", "file descriptor 3", 45),
        about("signal", "SIGTERM", 46),
        about("threads", "", 0),
        about("uninstrumented", "pump", 48),
        about("unmodelled", "system call 289", 49),
        about("hidden-state", "`strtok`", 50),
        about("unseen-memory", "`sscanf`", 51),
        about("kernel-state", "`open`", 52),
        about("random", "`getrandom`", 53),
        about("alias", "", 54),
        about("library", "`frobnicate` in libfrob.so", 55),
        about("assembler", "`xaddl`", 56),
        about("no-instrumentation", "`peek`", 57),
        about("system-call", "system call 318", 58),
        about("hidden-state", "`strtok`", 59),
    ]
}
