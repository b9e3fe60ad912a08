//! The sentence that describes each kind of bug.
//!
//! Code that creates a [`Finding`](racehunter_finding::Finding) takes its `message` from here. Formats add details that
//! the finding has elsewhere (size, region, place of allocation).

use crate::text::count;
use racehunter_finding::Gap;

/// Explains the numbers that stand for addresses.
#[must_use]
pub fn numbered_addresses() -> String {
    "#1, #2, ...: addresses on the heap or on a stack, numbered as they turn up".to_owned()
}

/// Two accesses without order to the same memory.
#[must_use]
pub fn data_race(name: &str) -> String {
    format!("data race on `{name}`")
}

/// A file descriptor that one thread closes without knowing whether another one still uses it.
#[must_use]
pub fn descriptor_race(descriptor: i32, name: &str) -> String {
    format!("file descriptor {descriptor}, `{name}`, is closed by one thread and used by another, without order")
}

/// Memory that one thread accesses while or after another frees it.
#[must_use]
pub fn use_after_free(name: &str) -> String {
    format!("`{name}` is used by one thread and freed by another, without order")
}

/// A synchronisation object that one thread destroys without knowing whether another one still uses it.
#[must_use]
pub fn use_and_destroy(name: &str) -> String {
    format!("`{name}` is used by one thread and destroyed by another, without order")
}

/// Memory that is accessed after it was freed.
#[must_use]
pub fn used_after_free(name: &str) -> String {
    format!("`{name}` is used after it was freed")
}

/// Memory that is accessed after the end of the thread whose local variable it was.
#[must_use]
pub fn used_after_thread(name: &str) -> String {
    format!("`{name}` is used, which is on the stack of a thread that is over")
}

/// A local variable of `main` that is used after the end of `main`.
#[must_use]
pub fn used_after_main(name: &str) -> String {
    format!("`{name}` is used, which is on the stack of `main`, after the end of `main`")
}

/// Memory that is freed twice.
#[must_use]
pub fn double_free(name: &str) -> String {
    format!("`{name}` is freed twice")
}

/// Threads that wait for ever; `all` is true if these are all threads.
#[must_use]
pub fn deadlock(threads: usize, all: bool) -> String {
    match (threads, all) {
        (1, true) => "no thread can go on: one waits for ever".to_owned(),
        (_, true) => format!("no thread can go on: {threads} wait for ever"),
        (1, false) => "one thread waits for ever".to_owned(),
        (_, false) => format!("{threads} threads wait for ever"),
    }
}

/// A place whose line is not known.
#[must_use]
pub fn nearest_line(file: &str, line: u32, function: &str) -> String {
    format!("the compiler gives no line for this place in `{function}`; {file}:{line} is the nearest one")
}

/// A failed assertion.
#[must_use]
pub fn assertion(expression: &str) -> String {
    if expression.is_empty() { "assertion failed".to_owned() } else { format!("assertion `{expression}` failed") }
}

/// A panic of a Rust program.
#[must_use]
pub fn panic(message: &str) -> String {
    if message.is_empty() { "panic".to_owned() } else { format!("panic: {message}") }
}

/// An exit status that is a failure, or that differs from the one without preemptions.
#[must_use]
pub fn exit_status(status: i32, depends: bool) -> String {
    let depends = if depends { ", which depends on the schedule" } else { "" };
    format!("the program ends with status {status}{depends}")
}

/// A client of the program that failed.
#[must_use]
pub fn client_failed(status: i32) -> String {
    format!("the client fails with status {status}")
}

/// A status that does not depend on the schedule, as far as the executions so far show.
#[must_use]
pub fn every_schedule(status: i32, executions: u64) -> String {
    format!("every schedule ends with status {status}: {executions} of {executions} executions")
}

/// A line of the program's last output.
#[must_use]
pub fn wrote(line: &str) -> String {
    format!("it wrote: {line}")
}

/// A source file that is newer than the program.
#[must_use]
pub fn newer_source(file: &str) -> String {
    format!("`{file}` was changed after the program was built: what is shown of it may not be what was run")
}

/// A source file that has changed since the finding was made.
#[must_use]
pub fn changed_source(file: &str) -> String {
    format!("`{file}` has changed since this was found: what is shown of it may not be what was run")
}

/// A finding that could not be stored.
#[must_use]
pub fn not_kept(id: &str) -> String {
    format!("it could not be kept, so `racehunter replay {id}` will not find it")
}

/// A bug that there was no time to replay.
#[must_use]
pub fn not_replayed() -> String {
    "seen once; there was no time to replay it".to_owned()
}

/// A test that ended without the panic that it expects.
#[must_use]
pub fn missing_panic() -> String {
    "the test did not panic, as it should".to_owned()
}

/// A finding in a long execution, late in the time of a hunt.
#[must_use]
pub fn only_the_end() -> String {
    "there was no time to tell all steps of this long execution: these are the last ones".to_owned()
}

/// A race that was shown rather than inferred, because the program has synchronisation that is not seen.
#[must_use]
pub fn both_stood() -> String {
    "both threads stood right before these accesses at the same time".to_owned()
}

/// A race of two threads that stood before their accesses in one execution only.
#[must_use]
pub fn met_once() -> String {
    "both threads stood before conflicting accesses at the same time in one execution, and in none of those that repeated it"
        .to_owned()
}

/// A race that the known synchronisation does not rule out; other synchronisation may.
#[must_use]
pub fn never_met() -> String {
    "no known synchronisation orders the accesses, but the program also does what is not seen or controlled (see the \
     summary), and the accesses were never about to happen at the same time"
        .to_owned()
}

/// A bug that files of other executions may have caused.
#[must_use]
pub fn left_files() -> String {
    "the program looks at files that it also changes, and executions could not be given views of their own: another one may \
     have left what makes this one fail"
        .to_owned()
}

/// The same for variables that earlier iterations of an in-process loop have left.
#[must_use]
pub fn left_by_iterations() -> String {
    "the test ran before in this process, without preemptions like here, and did not fail: something that it changes is not reset, \
     such as a variable, or a thread-local variable of the thread that runs the loop; that alone may make it fail"
        .to_owned()
}

/// The same for ports.
#[must_use]
pub fn left_ports() -> String {
    "the program binds ports, and they are not private to this execution, or not known to the programs that it starts: that \
     alone may make it fail"
        .to_owned()
}

/// The same for addresses outside the private network.
#[must_use]
pub fn left_network() -> String {
    "the program connects to a port that it has not bound, and has a network of its own, where nothing else is: that alone may \
     make it fail; `--shared-network` switches that off"
        .to_owned()
}

/// The same for FIFOs that the program did not create.
#[must_use]
pub fn shared_fifos() -> String {
    "the program opens a FIFO that exists outside of it, and other executions may have it open at the same time: that alone may make \
     it fail"
        .to_owned()
}

/// The same for kernel messages about the whole machine.
#[must_use]
pub fn kernel_messages() -> String {
    "the program asks the kernel for messages (inotify, fanotify, netlink), which may be about what others do: that alone may make \
     it fail"
        .to_owned()
}

/// The same for keys of thread-specific data, of which the runtime has one.
#[must_use]
pub fn no_key_left() -> String {
    "the program has run out of keys for thread-specific data, of which RaceHunter itself takes one: that alone may make it fail"
        .to_owned()
}

/// The same for locks in memory that the program shares with a child.
#[must_use]
pub fn other_processes() -> String {
    "the program shares a lock or barrier with a process that it has forked, and what each does to it the other does not see: that \
     alone may make it fail"
        .to_owned()
}

/// The same for files with several names, which overlays do not show as one file.
#[must_use]
pub fn several_names() -> String {
    "the program changes a file that has several names, or moves one to another directory; in a private view of files that may \
     fail where it does not otherwise: `--shared-files` switches that off"
        .to_owned()
}

/// What is missing from a hunt that the user interrupted.
#[must_use]
pub fn interrupted() -> String {
    "interrupted before the end".to_owned()
}

/// A part that a merge does not have.
#[must_use]
pub fn missing_part(number: u32, of: u32) -> String {
    format!("part {number} of {of} is not here")
}

/// A remark about one part of a divided campaign.
#[must_use]
pub fn of_part(number: u32, of: u32, line: &str) -> String {
    format!("part {number} of {of}: {line}")
}

/// Parts that switched threads at different points.
#[must_use]
pub fn different_points() -> String {
    "not all parts know the same points, so what they cover does not fit together".to_owned()
}

/// A reason why a replay may not show a finding.
#[must_use]
pub fn other_world(what: &str) -> String {
    format!("it was found under other conditions: {what}")
}

/// A claim, and the number of points that it covers.
#[must_use]
pub fn claim_over(words: &str, points: u64) -> String {
    format!("{words} over {}", count(points, "point"))
}

/// The absence of a claim.
#[must_use]
pub fn no_claim() -> String {
    "some schedules; no claim about the others".to_owned()
}

/// A race that no execution has shown.
#[must_use]
pub fn predicted_race(name: &str) -> String {
    format!("predicted data race on `{name}`")
}

/// A deadlock that no execution has shown.
#[must_use]
pub fn predicted_deadlock(locks: &[&str]) -> String {
    let locks: Vec<String> = locks.iter().map(|lock| format!("`{lock}`")).collect();
    format!("predicted deadlock on {}", locks.join(" and "))
}

/// An access within an atomic block that no execution has shown.
#[must_use]
pub fn predicted_access(name: &str) -> String {
    format!("predicted access to `{name}` within an atomic block")
}

/// The message of a prediction that the program has shown.
#[must_use]
pub fn no_longer_predicted(message: &str) -> String {
    message.replacen("predicted ", "", 1)
}

/// The evidence for a prediction.
#[must_use]
pub fn reordering(events: usize) -> String {
    format!("a reordering of {events} events of the trace leads to it")
}

/// Why a block counts as broken.
#[must_use]
pub fn broken_block() -> String {
    "an order of whole blocks does not explain what these accesses see".to_owned()
}

/// Why a prediction was not shown, for people.
#[must_use]
pub fn tried(reason: &str) -> String {
    format!("tried on the program: {reason}")
}

/// A bug that no replay can repeat.
#[must_use]
pub fn seen_freely() -> String {
    "seen in an execution that ran freely; no schedule under control has shown it".to_owned()
}

/// A race of which only one side was seen, together with the effect of the other.
#[must_use]
pub fn changed_by_a_stranger() -> String {
    "the value changed while the thread stood before this access; who did that is not instrumented: compile it with \
     `racehunter cc` to see where"
        .to_owned()
}

/// The exit status without preemptions.
#[must_use]
pub fn other_status(status: i32) -> String {
    format!("without a preemption it ends with status {status}")
}

/// Output that depends on the schedule.
#[must_use]
pub fn output() -> String {
    "what the program writes depends on the schedule".to_owned()
}

/// The first line of output that differs from the output without preemptions.
#[must_use]
pub fn other_output(line: Option<&str>, other: Option<&str>) -> String {
    let quote = |line: Option<&str>| line.map_or_else(|| "nothing".to_owned(), |line| format!("`{}`", line.trim_end()));
    format!("it writes {} where it writes {} without a preemption", quote(line), quote(other))
}

/// A fatal signal, and the address that could not be accessed.
#[must_use]
pub fn crash(signal: u32, fault: Option<u64>) -> String {
    let signal = match (signal_name(signal), signal_meaning(signal)) {
        (Some(name), Some(meaning)) => format!("{name} ({meaning})"),
        (Some(name), None) => name.to_owned(),
        (None, _) => format!("signal {signal}"),
    };
    match fault {
        // The first page is never mapped: this is a field of an object at the null pointer.
        Some(0) => format!("killed by {signal}, null pointer"),
        Some(address @ 1..4096) => format!("killed by {signal}, null pointer + {address}"),
        Some(address) => format!("killed by {signal} at address {address:#x}"),
        None => format!("killed by {signal}"),
    }
}

/// Something that is not under control, and what that means; with the place if it is known.
#[must_use]
pub fn uncontrolled(what: &Gap, detail: &str, place: Option<&str>) -> String {
    let about = if detail.is_empty() { String::new() } else { format!(" ({detail})") };
    let at = place.map_or_else(String::new, |place| format!(" at {place}"));
    match what {
        Gap::Fork => format!("`fork`{at}: the child process is not under control"),
        Gap::Spawn => format!("another program is started{at}: it is not under control"),
        Gap::Client => format!("the client is started{at}: it is not under control"),
        Gap::Exec => format!("`exec`{at}: the program that takes over is not under control"),
        Gap::Blocked => format!("a call blocks{at}: what it waits for is not known, others go on meanwhile"),
        Gap::Busy => format!("long work, or waiting, in code without instrumentation{at}: others go on meanwhile"),
        Gap::Input => format!("input{about}{at}: when it comes is not under control"),
        Gap::Signal => format!("signal from outside{about}{at}: when it comes is not under control"),
        Gap::SignalReceiver => {
            format!("{detail} is sent to the process{at}: which of its threads takes it is not explored")
        }
        Gap::Threads => {
            "there are threads that were not made by `pthread_create`: they are not under control".to_owned()
        }
        Gap::Uninstrumented => {
            format!("thread{about} started{at}: its code has no instrumentation, its accesses are not seen")
        }
        Gap::HiddenState => format!("{detail}{at}: it uses state that other threads change, and that is not seen"),
        Gap::UnseenMemory => format!("{detail}{at}: what it does to memory of the program is not seen"),
        Gap::OwnStack => {
            "a thread runs on a stack that the program provides: what else happens to that memory is not seen"
                .to_owned()
        }
        Gap::KernelState => format!("{detail}{at}: it uses state of the kernel that is not seen"),
        Gap::Random => {
            format!("{}{at}: its result differs from execution to execution", or_else(detail, "a source of chance"))
        }
        Gap::Alias => {
            format!("{}{at}: memory that is there at two addresses is not seen as one", or_else(detail, "a mapping"))
        }
        Gap::Library => format!("{detail}{at}: its code has no instrumentation, its accesses are not seen"),
        Gap::Assembler => format!("inline assembler{about}{at}: what it does is not seen"),
        Gap::NoInstrumentation => {
            format!("{detail}{at}: its instrumentation is switched off, its accesses are not seen")
        }
        Gap::SystemCall => format!("{detail}{at}: what it does is not seen"),
        Gap::ReturnedLocal => {
            format!(
                "a local variable of another thread is used{at}, although its function or block may have ended: what \
                 its memory is then used for is not seen"
            )
        }
        _ => format!("{}{at}: there is no model of it", or_else(detail, what.name())),
    }
}

/// Something that is not seen, in a few words without a place.
#[must_use]
pub fn unseen(what: &Gap, detail: &str) -> String {
    match what {
        Gap::HiddenState => format!("{detail} (hidden state)"),
        Gap::UnseenMemory => format!("memory of {detail}"),
        Gap::OwnStack => "memory of a stack that the program provides".to_owned(),
        Gap::KernelState if detail.is_empty() => "files that executions leave to each other".to_owned(),
        Gap::KernelState if detail == "links" => "files with several names".to_owned(),
        Gap::KernelState if detail == "fifos" => "FIFOs that executions share".to_owned(),
        Gap::KernelState if detail == "messages" => "messages of the kernel (inotify, netlink)".to_owned(),
        Gap::KernelState if detail == "keys" => "more keys for thread-specific data than there are".to_owned(),
        Gap::KernelState if detail == "processes" => "locks that other processes have too".to_owned(),
        Gap::KernelState if detail == "network" => "ports outside of the private network".to_owned(),
        Gap::KernelState if detail == "ports" => "ports that executions share".to_owned(),
        Gap::KernelState => format!("{detail} (state of the kernel)"),
        Gap::Random => format!("{} (differs from execution to execution)", or_else(detail, "a source of chance")),
        Gap::Alias => format!("{} (memory at two addresses)", or_else(detail, "a mapping")),
        Gap::SignalReceiver => format!("which thread takes {detail}"),
        Gap::Assembler if detail.is_empty() => "inline assembler".to_owned(),
        Gap::Assembler => format!("inline assembler {detail}"),
        Gap::NoInstrumentation => format!("{detail} (instrumentation switched off)"),
        Gap::ReturnedLocal => {
            "use of another thread's local variable after its function or block may have ended".to_owned()
        }
        _ => detail.to_owned(),
    }
}

fn or_else<'a>(text: &'a str, other: &'a str) -> &'a str {
    if text.is_empty() { other } else { text }
}

/// The name of a signal on Linux.
#[must_use]
pub const fn signal_name(signal: u32) -> Option<&'static str> {
    Some(match signal {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        5 => "SIGTRAP",
        6 => "SIGABRT",
        7 => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL",
        10 => "SIGUSR1",
        11 => "SIGSEGV",
        12 => "SIGUSR2",
        13 => "SIGPIPE",
        14 => "SIGALRM",
        15 => "SIGTERM",
        24 => "SIGXCPU",
        25 => "SIGXFSZ",
        31 => "SIGSYS",
        _ => return None,
    })
}

const fn signal_meaning(signal: u32) -> Option<&'static str> {
    Some(match signal {
        4 => "illegal instruction",
        5 => "trap",
        6 => "abort",
        7 => "bad memory access",
        8 => "arithmetic error",
        11 => "invalid memory access",
        13 => "write to a closed pipe",
        31 => "forbidden system call",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crashes_say_where() {
        assert_eq!(crash(11, Some(0)), "killed by SIGSEGV (invalid memory access), null pointer");
        assert_eq!(crash(11, Some(16)), "killed by SIGSEGV (invalid memory access), null pointer + 16");
        assert_eq!(crash(11, Some(0xdead_beef)), "killed by SIGSEGV (invalid memory access) at address 0xdeadbeef");
        assert_eq!(crash(6, None), "killed by SIGABRT (abort)");
        assert_eq!(crash(64, None), "killed by signal 64");
    }

    #[test]
    fn counts_read_well() {
        assert_eq!(deadlock(1, true), "no thread can go on: one waits for ever");
        assert_eq!(deadlock(2, true), "no thread can go on: 2 wait for ever");
        assert_eq!(deadlock(2, false), "2 threads wait for ever");
        assert_eq!(assertion(""), "assertion failed");
    }
}
